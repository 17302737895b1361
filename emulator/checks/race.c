/* Shared-memory races by happens-before (clocks: vector_clock.c). For every 4-byte cell the shadow of a
 * block keeps the last write and, in a plane of its own for every agent, that agent's last read:
 *
 *   bit  63..40   39..30   29..12   11..6   5          4        3..0
 *        stamp    agent    pc       lane    volatile   strong   bytes of the cell
 *
 * (lane 63: more than one.) An access is ordered after another iff the other's stamp <= seen[its
 * agent]; two of one warp are ordered if one lane made both or the warp has synchronised in
 * between. */
#include "race.h"

#include "vector_clock.h"
#include "taint.h"

#include "emulator/core/failed_check.h"
#include "emulator/core/reach.h"
#include "common/base/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MBARRIER = 0x80 }; /* in `initialised`: the cell is of a living mbarrier */
enum { PAGE = 64 };       /* cells for which one number says whether reads may matter */
enum { VOLATILE = 0x20, STRONG = 0x10, MAX_PC = (1 << 18) - 1 };

struct emu_shadow {
    uint32_t n_cells;
    uint64_t *write;
    uint64_t *read[EMU_MAX_AGENTS];        /* NULL: has never read */
    uint32_t *newest_read[EMU_MAX_AGENTS]; /* for each page: its newest stamp among read[] */
    uint32_t n_readers, reader[EMU_MAX_AGENTS];
    uint8_t *initialised; /* bytes of each cell that were ever written in this block */
};

static uint32_t stamp_of(uint64_t cell) { return (uint32_t)(cell >> 40); }
static uint32_t agent_of(uint64_t cell) { return (uint32_t)(cell >> 30) & 0x3ff; }
static uint32_t pc_of(uint64_t cell) { return (uint32_t)(cell >> 12) & MAX_PC; }
static uint32_t lane_of(uint64_t cell) { return (uint32_t)(cell >> 6) & 63; }

static uint64_t cell_for(uint32_t stamp, uint32_t agent, uint32_t pc, uint32_t lane, uint32_t low) {
    return (uint64_t)stamp << 40 | (uint64_t)agent << 30 |
           (uint64_t)(pc < MAX_PC ? pc : MAX_PC) << 12 | lane << 6 | low;
}

/* ---- Life ------------------------------------------------------------------------------------ */

struct emu_shadow *emu_shadow_open(uint32_t shared_bytes) {
    struct emu_shadow *s = heap_zeroed(1, sizeof *s);
    s->n_cells = shared_bytes / 4 + 4;
    s->write = heap_zeroed(s->n_cells, sizeof *s->write);
    s->initialised = heap_zeroed(s->n_cells, 1);
    return s;
}

void emu_shadow_close(struct emu_shadow *s) {
    for (int a = 0; a < EMU_MAX_AGENTS; a++) free(s->read[a]), free(s->newest_read[a]);
    free(s->write);
    free(s->initialised);
    free(s);
}

static uint64_t *reads_of(struct emu_shadow *s, uint32_t agent) {
    if (s->read[agent]) return s->read[agent];
    s->read[agent] = heap_zeroed(s->n_cells, sizeof **s->read);
    s->newest_read[agent] = heap_zeroed(s->n_cells / PAGE + 1, sizeof **s->newest_read);
    s->reader[s->n_readers++] = agent;
    return s->read[agent];
}

void emu_shadow_begin(struct emu_shadow *s) { memset(s->initialised, 0, s->n_cells); }

void emu_shadow_forget(struct emu_shadow *s) {
    memset(s->write, 0, s->n_cells * sizeof *s->write);
    for (uint32_t r = 0; r < s->n_readers; r++) {
        memset(s->read[s->reader[r]], 0, s->n_cells * sizeof **s->read);
        memset(s->newest_read[s->reader[r]], 0, (s->n_cells / PAGE + 1) * sizeof **s->newest_read);
    }
}

/* ---- Pages ----------------------------------------------------------------------------------- */

/* `agent` reads some cells among first..last. */
static inline void pages_read(struct emu_shadow *s, uint32_t agent, uint32_t stamp, uint32_t first,
                              uint32_t last) {
    uint32_t *newest = s->newest_read[agent];
    for (uint32_t page = first / PAGE; page <= last / PAGE; page++)
        if (newest[page] < stamp) newest[page] = stamp;
}

/* The agents that read some page of cells first..last later than c has seen of them. A write to the cells is
 * ordered after the reads of all others. */
static inline uint32_t pages_readers(const struct emu_shadow *s, const struct emu_vector_clock *c,
                                     uint32_t first, uint32_t last, uint32_t *readers) {
    uint32_t n = 0;
    for (uint32_t r = 0; r < s->n_readers; r++) {
        uint32_t a = s->reader[r], page = first / PAGE;
        while (page <= last / PAGE && s->newest_read[a][page] <= c->all[a]) page++;
        readers[n] = a;
        n += page <= last / PAGE;
    }
    return n;
}

/* ---- Reports --------------------------------------------------------------------------------- */

static const struct emu_inst *inst_at(const struct emu_block *b, uint64_t cell) {
    uint32_t pc = pc_of(cell);
    return pc < (uint32_t)b->kernel->n_inst ? &b->kernel->inst[pc] : NULL;
}

/* A store of some lanes: the address of the first, and how the others' lie to it. */
struct store {
    const struct emu_pattern *pattern;
    uint32_t first;
};

/* Does the store write to cell `at` what is there already? Then order does not matter. */
static bool changes_nothing(const struct emu_warp *w, const struct emu_block *b,
                            const struct emu_inst *i, uint32_t at, const struct store *s) {
    if (!s || strncmp(i->opcode, "st.", 3) || i->op[1].kind != EMU_OP_GROUP) return false;
    unsigned bytes = (unsigned)i->aux[0];
    EMU_EACH_LANE(l, s->pattern->mask) {
        uint32_t address = s->first + (uint32_t)s->pattern->delta[l];
        for (int k = 0; k < i->vec; k++, address += bytes) {
            if (address / 4 > at || (address + bytes - 1) / 4 < at) continue;
            uint32_t row = i->op[1].rows[k];
            uint64_t value = i->op[1].wide ? emu_row64(w, row)[l] : emu_row32(w, row)[l];
            struct emu_place was = emu_reach(emu_room_shared(b), address, bytes, EMU_READ);
            if (!was.byte || memcmp(was.byte, &value, bytes)) return false;
        }
    }
    return true;
}

/* `b`: whose shared memory; `s` if it is one */
static __attribute__((cold, noinline)) void race(struct emu_warp *w, struct emu_block *b,
                                                 const struct emu_inst *i, uint32_t self,
                                                 uint32_t at, uint64_t other, bool writes,
                                                 bool other_wrote, const struct store *s) {
    bool benign = writes && other_wrote && changes_nothing(w, b, i, at, s);
    const char *does = benign ? "writes the same value to" : writes ? "writes" : "reads";
    enum emu_report_kind kind = benign ? EMU_NOTE : EMU_RACE;
    char me[64], them[64], where[32] = "", wait[96] = "";
    uint32_t a = agent_of(other);
    bool is_warp = emu_agent_is_warp(b, a);
    emu_agent_name(b, self, me, sizeof me);
    if (b == w->block && w->passed.inst && emu_agent_is_load_of(b, a, w->passed.mbarrier))
        snprintf(wait, sizeof wait,
                 " (the last wait of the warp for that mbarrier, at line %d, asked for parity %u)",
                 emu_line_of(&b->kernel->origin[w->passed.inst->pc]), w->passed.parity);
    if (b != w->block) snprintf(where, sizeof where, " of rank %u", b->rank);
    if (a == self && is_warp) {
        emu_report(
            kind, w, i, inst_at(b, other),
            "a lane %s shared 0x%x%s, which another lane of the warp %s: %s orders the two%s", does,
            at * 4, where, other_wrote ? "wrote" : "read", emu_barrier_of_lanes(w),
            other & VOLATILE ? ", and volatile orders no lanes" : "");
        return;
    }
    emu_report(kind, w, i, inst_at(b, other),
               "%s %s shared 0x%x%s, which %s %s: nothing orders the two%s", me, does, at * 4,
               where, emu_agent_name(b, a, them, sizeof them),
               other_wrote ? (is_warp ? "wrote" : "writes") : (is_warp ? "read" : "reads"), wait);
}

static __attribute__((cold, noinline)) void
mbarrier_written(struct emu_warp *w, const struct emu_inst *i, uint32_t at) {
    if (i->class != EMU_MBARRIER)
        emu_report(
            EMU_BAD_MBARRIER, w, i, NULL,
            "shared 0x%x is of an mbarrier: only its own instructions may write there before "
            "mbarrier.inval",
            at * 4);
}

/* ---- Accesses -------------------------------------------------------------------------------- */

/* Do two accesses of one warp without synchronisation surely come from different lanes? */
static inline bool lanes_differ(uint32_t lane, uint32_t bytes, uint64_t other) {
    uint32_t there = lane_of(other);
    if (lane != EMU_MANY_LANES && there != EMU_MANY_LANES) return lane != there;
    if (lane == EMU_MANY_LANES && there == EMU_MANY_LANES) return false;
    return lane == EMU_MANY_LANES ? (other & 15) == 15 : bytes == 15;
}

/* Is what another agent did at `other` not known to the clock? */
static inline bool unseen(const struct emu_vector_clock *c, uint64_t other) {
    uint32_t a = agent_of(other), stamp = stamp_of(other), lane = lane_of(other);
    if (__builtin_expect(stamp <= c->all[a], 1)) return false;
    if (stamp > c->seen[a]) return true;
    if (lane != EMU_MANY_LANES) return !(c->lanes[a] >> lane & 1);
    return !(c->lanes[a] & (c->lanes[a] - 1)); /* several did it, and at most one has arrived */
}

/* Has the lane, or some of those that touch cell k of p, met by __syncwarp() those that made `other`? */
static __attribute__((cold, noinline)) bool
lanes_met(const struct emu_warp *w, const struct emu_pattern *p, int k, uint64_t other) {
    if (p->cell_lane[k] != EMU_MANY_LANES)
        return emu_lanes_met(w, p->cell_lane[k], lane_of(other), stamp_of(other));
    EMU_EACH_LANE(l, p->mask) {
        int32_t from = p->delta[l] + (int32_t)p->key, at = 4 * p->cell[k];
        if (from < at + 4 && from + p->bytes > at &&
            emu_lanes_met(w, l, lane_of(other), stamp_of(other)))
            return true;
    }
    return false;
}

/* Is `other` unordered with what the warp does now to cell k of p? */
static inline bool unordered(const struct emu_warp *w, const struct emu_pattern *p, int k,
                             uint64_t other) {
    const struct emu_vector_clock *c = &w->clock;
    if (!(other & p->cell_bytes[k])) return false;
    if (agent_of(other) != w->agent) return unseen(c, other);
    return stamp_of(other) > c->all[w->agent] &&
           lanes_differ(p->cell_lane[k], p->cell_bytes[k], other) &&
           !(w->lanes_met && lanes_met(w, p, k, other));
}

/* Strong accesses do not race, unless one is of .cta scope and they come from two blocks; but volatile ones by the lanes
 * of one warp to many words are sums that count on lanes in step. */
static bool both_strong(const struct emu_warp *w, const struct emu_block *b,
                        const struct emu_inst *i, uint32_t strong, uint64_t other) {
    if (!(strong & other & STRONG)) return false;
    const struct emu_inst *there = inst_at(b, other);
    if (i->class == EMU_MBARRIER) return true; /* of whatever scope */
    if (emu_has(i, "cta") || (there && emu_has(there, "cta")))
        return emu_agent_rank(b, agent_of(other)) == w->block->rank;
    return !(strong & other & VOLATILE) || agent_of(other) != w->agent;
}

/* Words of `i`: one that all lanes share may be a flag. */
static uint32_t strength(const struct emu_inst *i, const struct emu_pattern *p,
                         enum emu_access what) {
    if (!(what & EMU_STRONG) && what != EMU_ATOM) return 0;
    return p->max > p->min && emu_has(i, "volatile") ? STRONG | VOLATILE : STRONG;
}

/* The cells of p, from cell `base` on, are read. */
static void read_cells(struct emu_warp *w, struct emu_block *b, const struct emu_inst *i,
                       const struct emu_pattern *p, uint32_t first, uint32_t strong) {
    struct emu_shadow *s = b->shadow;
    const struct emu_vector_clock *c = &w->clock;
    uint32_t self = w->agent, stamp = c->seen[self], base = (first - p->key) / 4, bare = 0;
    uint64_t *mine = s->read[self],
             known = 0; /* agent and stamp of a write that the whole warp has seen */
    const uint64_t *writes = s->write;
    const uint64_t this = cell_for(stamp, self, i->pc, 0, strong);
    for (int k = 0; k < p->n_cells; k++) {
        uint32_t at = base + (uint32_t)p->cell[k], bytes = p->cell_bytes[k], lane = p->cell_lane[k];
        uint64_t write = writes[at], before = mine[at];
        bare |= bytes & ~s->initialised[at];
        if (write >> 30 != known) {
            if (stamp_of(write) <= c->all[agent_of(write)])
                known = write >> 30;
            else if (unordered(w, p, k, write) && !both_strong(w, b, i, strong, write))
                race(w, b, i, self, at, write, false, true, NULL);
        }
        if (stamp_of(before) == stamp && lane_of(before) != lane)
            lane = EMU_MANY_LANES, bytes |= before & 15;
        mine[at] = this | lane << 6 | bytes;
    }
    if (__builtin_expect(bare, 0)) emu_uninitialised(w, i, p, first, s->initialised);
}

/* Several lanes of the warp store whole words here. If several have read it since they last synchronised, one's store may
 * come before another's read: the lost sums of a histogram. */
static __attribute__((cold, noinline)) void many_store(struct emu_warp *w, struct emu_block *b,
                                                       const struct emu_inst *i, uint32_t at,
                                                       uint32_t strong, const struct store *store) {
    const uint64_t *mine = b->shadow->read[w->agent];
    if (i->class != EMU_ST_SHARED || i->aux[0] < 4 || !mine) return;
    const uint64_t read = mine[at];
    if (lane_of(read) != EMU_MANY_LANES || stamp_of(read) <= w->clock.all[w->agent]) return;
    if (emu_lanes_met(w, EMU_MANY_LANES, EMU_MANY_LANES, stamp_of(read))) return;
    if (!both_strong(w, b, i, strong, read) && !changes_nothing(w, b, i, at, store))
        race(w, b, i, w->agent, at, read, true, false, NULL);
}

/* The cells of p are written; n_readers: of pages_readers(). */
static void write_cells(struct emu_warp *w, struct emu_block *b, const struct emu_inst *i,
                        const struct emu_pattern *p, uint32_t first, uint32_t strong,
                        const uint32_t *reader, uint32_t n_readers) {
    struct emu_shadow *s = b->shadow;
    const struct emu_vector_clock *c = &w->clock;
    const struct store store = {p, first};
    uint32_t self = w->agent, stamp = c->seen[self], base = (first - p->key) / 4;
    uint64_t *writes = s->write, known = 0; /* as in read_cells() */
    const uint64_t this = cell_for(stamp, self, i->pc, 0, strong);
    for (int k = 0; k < p->n_cells; k++) {
        uint32_t at = base + (uint32_t)p->cell[k], bytes = p->cell_bytes[k], lane = p->cell_lane[k];
        uint32_t all = bytes;
        uint64_t write = writes[at];
        if (write >> 30 != known) {
            if (stamp_of(write) <= c->all[agent_of(write)])
                known = write >> 30;
            else if (unordered(w, p, k, write) && !both_strong(w, b, i, strong, write))
                race(w, b, i, self, at, write, true, true, &store);
        }
        for (uint32_t r = 0; r < n_readers; r++) {
            uint64_t read = s->read[reader[r]][at];
            if (__builtin_expect(unordered(w, p, k, read) && !both_strong(w, b, i, strong, read),
                                 0))
                race(w, b, i, self, at, read, true, false, NULL);
        }
        if (__builtin_expect(lane == EMU_MANY_LANES, 0)) many_store(w, b, i, at, strong, &store);
        if (write >> 30 == this >> 30) {
            if (lane_of(write) != lane) lane = EMU_MANY_LANES;
            all |= write & 15;
        }
        writes[at] = this | lane << 6 | all;
        if (__builtin_expect(s->initialised[at] & MBARRIER, 0)) mbarrier_written(w, i, at);
        s->initialised[at] |= (uint8_t)bytes;
    }
    if (__builtin_expect(w->tainted, 0)) emu_taint_store(w, i, p, first, s->initialised);
}

/* A strong access may pass on what came before it, and learn what others have passed on. */
static void flag(struct emu_warp *w, const struct emu_block *b, const struct emu_inst *i,
                 uint32_t mask, enum emu_access what) {
    bool far = b != w->block, both = emu_has(i, "acq_rel");
    if (far && emu_has(i, "cta")) return;
    if (what & EMU_WRITE) emu_flag_write(w, mask, both || emu_has(i, "release"), far);
    if (what & EMU_READ) emu_flag_read(w, mask, both || emu_has(i, "acquire"), far);
}

void emu_shadow_access(struct emu_warp *w, struct emu_block *b, const struct emu_inst *i,
                       const struct emu_pattern *p, uint32_t first, enum emu_access what) {
    struct emu_shadow *s = b->shadow;
    uint32_t strong = strength(i, p, what), from = (first + (uint32_t)p->min) / 4;
    uint32_t to = (first + (uint32_t)p->max + p->bytes - 1) / 4;
    if (__builtin_expect(strong && i->class != EMU_MBARRIER, 0)) flag(w, b, i, p->mask, what);
    if (what & EMU_WRITE) {
        uint32_t reader[EMU_MAX_AGENTS], n = pages_readers(s, &w->clock, from, to, reader);
        write_cells(w, b, i, p, first, strong, reader, n);
        return;
    }
    reads_of(s, w->agent);
    pages_read(s, w->agent, w->clock.seen[w->agent], from, to);
    read_cells(w, b, i, p, first, strong);
}

void emu_shadow_unwrite(struct emu_shadow *s, uint32_t addr) {
    s->initialised[addr / 4] &= (uint8_t) ~(1u << addr % 4);
}

bool emu_shadow_lacks(const struct emu_shadow *s, uint32_t addr, uint32_t bytes) {
    uint8_t written = 15;
    for (uint32_t at = addr / 4; at < (addr + bytes + 3) / 4; at++) written &= s->initialised[at];
    return written != 15;
}

void emu_shadow_strong(struct emu_block *b, uint32_t addr, uint32_t bytes) {
    for (uint32_t at = addr / 4; b->shadow && at < (addr + bytes) / 4; at++)
        b->shadow->write[at] |= STRONG;
}

void emu_shadow_mbarrier(struct emu_block *b, uint32_t addr, bool lives) {
    for (uint32_t at = addr / 4; b->shadow && at < addr / 4 + 2; at++)
        b->shadow->initialised[at] =
            (uint8_t)((b->shadow->initialised[at] & ~MBARRIER) | (lives ? MBARRIER : 0));
}

/* ---- Asynchronous operations ----------------------------------------------------------------- */

static bool reduces(const struct emu_inst *i) {
    return !strncmp(i->opcode, "red.", 4) || !strncmp(i->opcode, "cp.reduce", 9);
}

/* Does the operation meet what `other` says, and is that neither known to its warp nor, if it is
 * the warp's own, of the lanes that issue it or synchronised with them? */
static bool meets(const struct emu_warp *w, const struct emu_block *b, const struct emu_inst *i,
                  const struct emu_issue *op, uint64_t other) {
    uint32_t agent = agent_of(other), lane = lane_of(other);
    bool own = agent == w->agent;
    if (own ? stamp_of(other) <= w->clock.all[agent] : !unseen(&w->clock, other)) return false;
    if (own && (lane == EMU_MANY_LANES ? op->lanes & (op->lanes - 1) : op->lanes >> lane & 1))
        return false;
    if (own) EMU_EACH_LANE(l, op->lanes)
    if (emu_lanes_met(w, l, lane, stamp_of(other))) return false;
    if (agent == op->agent && stamp_of(other) == op->stamp) return false; /* itself */
    const struct emu_inst *there = inst_at(b, other); /* rarely asked: it compares texts */
    return !(there && reduces(i) && reduces(there));
}

/* Which bytes of the word `at` are among the `bytes` from `addr` on, a bit for each. */
static uint32_t bytes_in_word(uint32_t at, uint32_t addr, uint32_t bytes) {
    uint32_t from = addr > at * 4 ? addr - at * 4 : 0;
    uint32_t to = addr + bytes < at * 4 + 4 ? addr + bytes - at * 4 : 4;
    return ((1u << to) - 1) & ~((1u << from) - 1);
}

bool emu_shared_async(struct emu_warp *w, struct emu_block *b, const struct emu_inst *i,
                      const struct emu_issue *op, uint32_t addr, uint32_t bytes) {
    struct emu_shadow *s = b->shadow;
    unsigned agent = op->agent;
    enum emu_access what = op->what;
    if (!emu_shared_holds(b, addr, bytes)) {
        emu_report(EMU_BAD_SHARED, w, i, NULL,
                   "%u bytes at shared address 0x%x, but the block has 0x%x to 0x%x", bytes, addr,
                   b->shared_base, b->shared_bytes);
        return false;
    }
    const struct emu_events *e = b->launch->events;
    bool own = b == w->block;
    if (e && e->access)
        e->access(e->user, w, i, 1, own ? EMU_SHARED : EMU_CLUSTER,
                  (uint64_t[32]){own ? addr : emu_cluster_address(b, addr)}, bytes, what);
    if (!s || !bytes) return true;
    uint32_t first = addr / 4, last = (addr + bytes - 1) / 4;
    uint32_t reader[EMU_MAX_AGENTS], n_readers = 0;
    uint64_t *reads = NULL, known = 0; /* the write of a cell before this one, if it was in order */
    if (what == EMU_READ) {
        reads = reads_of(s, agent);
        pages_read(s, agent, op->stamp, first, last);
    } else {
        n_readers = pages_readers(s, &w->clock, first, last, reader);
    }
    bool words = addr % 4 == 0 && bytes % 4 == 0;
    for (uint32_t at = first; at <= last; at++) {
        uint64_t write = s->write[at];
        uint32_t a = agent_of(write), which = words ? 15 : bytes_in_word(at, addr, bytes);
        bool touches = write & which;
        if (write == known)
            ;
        else if (touches && meets(w, b, i, op, write))
            race(w, b, i, agent, at, write, what == EMU_WRITE, true, NULL);
        else if (touches && op->async_proxy && a != agent && stamp_of(write) > w->clock.fenced[a] &&
                 stamp_of(write) > emu_agents_base(b))
            emu_report(
                EMU_PROXY, w, i, inst_at(b, write),
                "shared 0x%x was written by ordinary stores: fence.proxy.async must come between",
                at * 4);
        else if (words)
            known = write;
        if (what == EMU_READ) {
            reads[at] = cell_for(op->stamp, agent, i->pc, EMU_MANY_LANES, which);
            continue;
        }
        for (uint32_t k = 0; k < n_readers; k++) {
            uint64_t read = s->read[reader[k]][at];
            if (read & which && meets(w, b, i, op, read))
                race(w, b, i, agent, at, read, true, false, NULL);
        }
        s->write[at] = cell_for(op->stamp, agent, i->pc, EMU_MANY_LANES, which);
        s->initialised[at] |= (uint8_t)which;
    }
    return true;
}
