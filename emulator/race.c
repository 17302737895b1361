/* Shared-memory races by happens-before.
 *
 * An agent is a warp or something asynchronous. Each has a clock: seen[a] says up to which stamp of agent a
 * it has synchronised with; seen[self] is the stamp of what it does now, and grows with each release. For every
 * 4-byte cell the shadow keeps the last write and, in a plane of its own for every agent, that agent's last
 * read:
 *
 *   bit  63..40   39..32   31..16   15..8   7..4     3..0
 *        stamp    agent    pc       lane    strong   bytes of the cell
 *
 * (lane 255: more than one.) An access is ordered after another iff the other's stamp <= seen[its agent]; two
 * of one warp are ordered if one lane made both or the warp has synchronised in between. Stamps go on from
 * block to block, so that what a block left in the shadow is old for the next. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { MANY_LANES = 255, STRONG = 0x10, STAMP_LIMIT = (1 << 24) - (1 << 20) };

struct agent {
    enum emu_agent_kind kind;
    uint32_t key, stamp;
};

struct emu_shadow {
    uint32_t n_cells;
    uint32_t base; /* stamps of earlier blocks are not above it */
    uint64_t *write;
    uint64_t *read[EMU_MAX_AGENTS]; /* NULL: has not read yet */
    uint8_t *initialised;           /* bytes of each cell that were ever written in this block */
    uint32_t n_agents;              /* warps first */
    struct agent agent[EMU_MAX_AGENTS];
};

static uint32_t stamp_of(uint64_t cell) { return (uint32_t)(cell >> 40); }
static uint32_t agent_of(uint64_t cell) { return (uint32_t)(cell >> 32) & 0xff; }
static uint32_t pc_of(uint64_t cell) { return (uint32_t)(cell >> 16) & 0xffff; }
static uint32_t lane_of(uint64_t cell) { return (uint32_t)(cell >> 8) & 0xff; }

static uint64_t cell_for(uint32_t stamp, uint32_t agent, uint32_t pc, uint32_t lane, uint32_t low) {
    return (uint64_t)stamp << 40 | (uint64_t)agent << 32 |
           (uint64_t)(pc < 0xffff ? pc : 0xffff) << 16 | lane << 8 | low;
}

/* ---- Life ---------------------------------------------------------------------------------------------- */

struct emu_shadow *emu_shadow_open(uint32_t shared_bytes) {
    struct emu_shadow *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->n_cells = shared_bytes / 4 + 4;
    s->write = calloc(s->n_cells, sizeof *s->write);
    s->initialised = calloc(s->n_cells, 1);
    if (s->write && s->initialised) return s;
    emu_shadow_close(s);
    return NULL;
}

void emu_shadow_close(struct emu_shadow *s) {
    for (int a = 0; a < EMU_MAX_AGENTS; a++) free(s->read[a]);
    free(s->write);
    free(s->initialised);
    free(s);
}

static uint64_t *reads_of(struct emu_shadow *s, uint32_t agent) {
    if (!s->read[agent]) s->read[agent] = calloc(s->n_cells, sizeof **s->read);
    return s->read[agent];
}

void emu_shadow_reset(struct emu_block *b) {
    struct emu_shadow *s = b->shadow;
    for (uint32_t a = 0; a < s->n_agents; a++)
        if (s->agent[a].stamp > s->base) s->base = s->agent[a].stamp;
    for (int n = 0; n < b->n_warps; n++) {
        uint32_t last = s->agent[n].stamp;
        if (last > s->base) s->base = last;
    }
    if (s->base > STAMP_LIMIT) {
        memset(s->write, 0, s->n_cells * sizeof *s->write);
        for (int a = 0; a < EMU_MAX_AGENTS; a++)
            if (s->read[a]) memset(s->read[a], 0, s->n_cells * sizeof **s->read);
        s->base = 0;
    }
    memset(s->initialised, 0, s->n_cells);
    s->n_agents = (uint32_t)b->n_warps;
    for (int a = 0; a < EMU_MAX_AGENTS; a++) s->agent[a].stamp = s->base;
    for (int n = 0; n < b->n_warps; n++) {
        struct emu_clock *c = &b->warp[n].clock;
        for (int a = 0; a < EMU_MAX_AGENTS; a++) c->seen[a] = c->fenced[a] = s->base;
        emu_tick(&b->warp[n]);
    }
}

/* ---- Clocks --------------------------------------------------------------------------------------------- */

void emu_tick(struct emu_warp *w) {
    uint32_t stamp = ++w->clock.seen[w->index];
    if (w->block->shadow) w->block->shadow->agent[w->index].stamp = stamp;
}

static void join(struct emu_clock *into, const struct emu_clock *from) {
    for (int a = 0; a < EMU_MAX_AGENTS; a++) {
        into->seen[a] = into->seen[a] > from->seen[a] ? into->seen[a] : from->seen[a];
        into->fenced[a] = into->fenced[a] > from->fenced[a] ? into->fenced[a] : from->fenced[a];
    }
    into->waited |= from->waited;
}

void emu_release(struct emu_warp *w, struct emu_clock *c) {
    if (!w->block->shadow) return;
    join(c, &w->clock);
    emu_tick(w);
}

void emu_acquire(struct emu_warp *w, const struct emu_clock *c) {
    if (!w->block->shadow) return;
    uint32_t own = w->clock.seen[w->index];
    join(&w->clock, c);
    w->clock.seen[w->index] = own;
    emu_overlap_sync(w);
}

void emu_proxy_fence(struct emu_warp *w) {
    struct emu_clock *c = &w->clock;
    for (int a = 0; a < EMU_MAX_AGENTS; a++)
        c->fenced[a] = c->fenced[a] > c->seen[a] ? c->fenced[a] : c->seen[a];
    if (w->block->shadow) emu_tick(w); /* later writes are not covered */
}

unsigned emu_agent(struct emu_block *b, enum emu_agent_kind kind, uint32_t key) {
    struct emu_shadow *s = b->shadow;
    if (!s) return 0;
    for (uint32_t a = (uint32_t)b->n_warps; a < s->n_agents; a++)
        if (s->agent[a].kind == kind && s->agent[a].key == key) return a;
    if (s->n_agents == EMU_MAX_AGENTS) return EMU_MAX_AGENTS - 1; /* shared by what comes last */
    s->agent[s->n_agents].kind = kind;
    s->agent[s->n_agents].key = key;
    return s->n_agents++;
}

uint32_t emu_agent_issue(struct emu_block *b, unsigned agent) {
    return b->shadow ? ++b->shadow->agent[agent].stamp : 0;
}

void emu_agent_done(struct emu_clock *c, unsigned agent, uint32_t stamp) {
    if (c->seen[agent] < stamp) c->seen[agent] = stamp;
    if (c->fenced[agent] < stamp) c->fenced[agent] = stamp;
}

/* ---- Reports --------------------------------------------------------------------------------------------- */

static const char *agent_name(const struct emu_block *b, uint32_t a, char *out, size_t n) {
    static const char *const kinds[] = {"cp.async of warp", "the TMA load of mbarrier",
                                        "the TMA store of warp", "wgmma of warp"};
    const struct agent *agent = &b->shadow->agent[a];
    if (a < (uint32_t)b->n_warps)
        snprintf(out, n, "warp %u", a);
    else
        snprintf(out, n, agent->kind == EMU_AGENT_TMA_LOAD ? "%s 0x%x" : "%s %u",
                 kinds[agent->kind], agent->key);
    return out;
}

static const struct emu_inst *inst_at(const struct emu_block *b, uint64_t cell) {
    uint32_t pc = pc_of(cell);
    return pc < (uint32_t)b->kernel->n_inst ? &b->kernel->inst[pc] : NULL;
}

static __attribute__((cold, noinline)) void race(struct emu_warp *w, const struct emu_inst *i,
                                                 uint32_t self, uint32_t at, uint64_t other,
                                                 bool writes, bool other_wrote) {
    struct emu_block *b = w->block;
    char me[64], them[64];
    uint32_t a = agent_of(other);
    agent_name(b, self, me, sizeof me);
    if (a == self && a < (uint32_t)b->n_warps) {
        emu_report(EMU_RACE, w, i, inst_at(b, other),
                   "a lane %s shared 0x%x, which another lane of the warp %s: no __syncwarp() "
                   "orders the two",
                   writes ? "writes" : "reads", at * 4, other_wrote ? "wrote" : "read");
        return;
    }
    emu_report(EMU_RACE, w, i, inst_at(b, other),
               "%s %s shared 0x%x, which %s %s: nothing orders the two", me,
               writes ? "writes" : "reads", at * 4, agent_name(b, a, them, sizeof them),
               other_wrote ? (a < (uint32_t)b->n_warps ? "wrote" : "writes")
                           : (a < (uint32_t)b->n_warps ? "read" : "reads"));
}

/* ---- Accesses --------------------------------------------------------------------------------------------- */

/* Do two accesses of one warp without synchronisation surely come from different lanes? */
static inline bool lanes_differ(uint32_t lane, uint32_t bytes, uint64_t other) {
    uint32_t there = lane_of(other);
    if (lane != MANY_LANES && there != MANY_LANES) return lane != there;
    if (lane == MANY_LANES && there == MANY_LANES) return false;
    return lane == MANY_LANES ? (other & 15) == 15 : bytes == 15;
}

/* Is `other` unordered with what agent self (clock c) does now? Both touch some byte of the cell. */
static inline bool unordered(const struct emu_clock *c, uint32_t self, uint32_t lane,
                             uint32_t bytes, uint64_t other) {
    uint32_t a = agent_of(other), stamp = stamp_of(other);
    if (!(other & bytes)) return false;
    if (a != self) return stamp > c->seen[a];
    return stamp == c->seen[a] && lanes_differ(lane, bytes, other);
}

static inline void read_cell(struct emu_warp *w, const struct emu_inst *i, uint64_t *mine,
                             uint32_t at, uint32_t bytes, uint32_t lane, uint32_t strong) {
    struct emu_shadow *s = w->block->shadow;
    const struct emu_clock *c = &w->clock;
    uint64_t write = s->write[at];
    uint32_t stamp = c->seen[w->index];
    if (__builtin_expect(unordered(c, w->index, lane, bytes, write) && !(strong & write & STRONG),
                         0))
        race(w, i, w->index, at, write, false, true);
    uint64_t before = mine[at];
    if (stamp_of(before) == stamp && lane_of(before) != lane)
        lane = MANY_LANES, bytes |= before & 15;
    mine[at] = cell_for(stamp, w->index, i->pc, lane, bytes | strong);
}

static inline void write_cell(struct emu_warp *w, const struct emu_inst *i, uint32_t at,
                              uint32_t bytes, uint32_t lane, uint32_t strong) {
    struct emu_shadow *s = w->block->shadow;
    const struct emu_clock *c = &w->clock;
    uint64_t write = s->write[at];
    uint32_t stamp = c->seen[w->index];
    if (__builtin_expect(unordered(c, w->index, lane, bytes, write) && !(strong & write & STRONG),
                         0))
        race(w, i, w->index, at, write, true, true);
    for (uint32_t a = 0; a < s->n_agents; a++) {
        if (!s->read[a]) continue;
        uint64_t read = s->read[a][at];
        if (__builtin_expect(unordered(c, w->index, lane, bytes, read) && !(strong & read & STRONG),
                             0))
            race(w, i, w->index, at, read, true, false);
    }
    uint32_t all = bytes;
    if (stamp_of(write) == stamp && agent_of(write) == w->index) {
        if (lane_of(write) != lane) lane = MANY_LANES;
        all |= write & 15;
    }
    s->write[at] = cell_for(stamp, w->index, i->pc, lane, all | strong);
    s->initialised[at] |= (uint8_t)bytes;
}

void emu_shadow_access(struct emu_warp *w, const struct emu_inst *i, const struct emu_pattern *p,
                       uint32_t first, enum emu_access what) {
    struct emu_shadow *s = w->block->shadow;
    uint32_t base = (first - p->key) / 4,
             strong = what & EMU_STRONG || what == EMU_ATOM ? STRONG : 0;
    if (what & EMU_WRITE) {
        for (int k = 0; k < p->n_cells; k++)
            write_cell(w, i, base + (uint32_t)p->cell[k], p->cell_bytes[k], p->cell_lane[k],
                       strong);
        return;
    }
    uint64_t *mine = reads_of(s, w->index);
    if (!mine) return;
    uint32_t bare = 0;
    for (int k = 0; k < p->n_cells; k++) {
        uint32_t at = base + (uint32_t)p->cell[k];
        bare |= p->cell_bytes[k] & ~s->initialised[at];
        read_cell(w, i, mine, at, p->cell_bytes[k], p->cell_lane[k], strong);
    }
    if (__builtin_expect(bare, 0)) emu_uninitialised(w, i, p, first, s->initialised);
}

/* ---- Asynchronous operations --------------------------------------------------------------------------------- */

bool emu_shared_async(struct emu_warp *w, const struct emu_inst *i, unsigned agent, uint32_t stamp,
                      uint32_t addr, uint32_t bytes, enum emu_access what, bool async_proxy) {
    struct emu_block *b = w->block;
    struct emu_shadow *s = b->shadow;
    if (addr > b->shared_bytes || b->shared_bytes - addr < bytes) {
        emu_report(EMU_BAD_SHARED, w, i, NULL,
                   "%u bytes at shared address 0x%x, but the block has 0x%x", bytes, addr,
                   b->shared_bytes);
        return false;
    }
    const struct emu_events *e = b->launch->events;
    if (e && e->access) e->access(e->user, w, i, 1, EMU_SHARED, (uint64_t[32]){addr}, bytes, what);
    uint64_t *reads = s && what == EMU_READ ? reads_of(s, agent) : NULL;
    for (uint32_t at = addr / 4; s && at < (addr + bytes + 3) / 4; at++) {
        uint64_t write = s->write[at];
        uint32_t a = agent_of(write), from = addr > at * 4 ? addr - at * 4 : 0,
                 to = addr + bytes < at * 4 + 4 ? addr + bytes - at * 4 : 4;
        uint32_t which = ((1u << to) - 1) & ~((1u << from) - 1);
        bool touches = write & which;
        /* the issuing warp's own earlier accesses are ordered; the agent's own operations are its business */
        if (touches && a != w->index && a != agent && stamp_of(write) > w->clock.seen[a])
            race(w, i, agent, at, write, what == EMU_WRITE, true);
        else if (touches && what == EMU_READ && async_proxy && a != agent &&
                 stamp_of(write) > w->clock.fenced[a] && stamp_of(write) > s->base)
            emu_report(
                EMU_PROXY, w, i, inst_at(b, write),
                "shared 0x%x was written by ordinary stores: fence.proxy.async must come between",
                at * 4);
        if (what == EMU_READ) {
            if (reads) reads[at] = cell_for(stamp, agent, i->pc, MANY_LANES, which);
            continue;
        }
        for (uint32_t r = 0; r < s->n_agents; r++) {
            uint64_t read = s->read[r] ? s->read[r][at] : 0;
            if (r != w->index && r != agent && read & which && stamp_of(read) > w->clock.seen[r])
                race(w, i, agent, at, read, true, false);
        }
        s->write[at] = cell_for(stamp, agent, i->pc, MANY_LANES, which);
        s->initialised[at] |= (uint8_t)which;
    }
    return true;
}
