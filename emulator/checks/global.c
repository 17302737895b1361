/* Races in global memory: line.h has what is kept of it. */
#include "global.h"

#include "vector_clock.h"
#include "line.h"
#include "race.h"
#include "taint.h"

#include "emulator/core/failed_check.h"
#include "common/base/heap.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const uint64_t EPOCH_BITS = (uint64_t)ACCESS_LAST_EPOCH << 20;
enum { N_LOCKS = 1024, N_LISTS = 1024, MOST_ENTRIES = 1 << 22 };

struct emu_cells { /* of an allocation: its lines, and its words */
    struct line line;
};

/* A word that was written after a fence, and what a strong read of it acquires. */
struct told {
    struct told *next;
    uint64_t address;
    uint32_t n, capacity;
    struct {
        uint32_t cluster, epoch;
    } * of;
};

struct emu_sync {
    uint64_t n_clusters;
    atomic_bool gave_up; /* more than can be kept: clusters are not checked */
    atomic_uint n_told;
    pthread_mutex_t lock; /* of what follows */
    struct told *list[N_LISTS];
    uint64_t n_entries;
};

static atomic_flag locks[N_LOCKS];
static void take(uint64_t address) {
    while (atomic_flag_test_and_set_explicit(&locks[address >> 8 & (N_LOCKS - 1)],
                                             memory_order_acquire))
        continue;
}
static void leave(uint64_t address) {
    atomic_flag_clear_explicit(&locks[address >> 8 & (N_LOCKS - 1)], memory_order_release);
}

/* ---- Clusters that synchronise --------------------------------------------------------------- */

struct emu_sync *emu_sync_open(uint64_t n_clusters) {
    struct emu_sync *s = heap_zeroed(1, sizeof *s);
    s->n_clusters = n_clusters;
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void emu_sync_close(struct emu_sync *s) {
    if (!s) return;
    for (int l = 0; l < N_LISTS; l++)
        for (struct told *t = s->list[l], *next; t; t = next) {
            next = t->next;
            free(t->of);
            free(t);
        }
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* What w has done so far is published by its next strong writes. */
static void publish(struct emu_warp *w) {
    struct emu_cluster *c = w->block->cluster;
    if (!c->agents) return;
    emu_vector_clock_fence(w);
    w->published = c->epoch + 1; /* 0: no fence yet */
    if (c->epoch < ACCESS_LAST_EPOCH) c->epoch++;
}

void emu_global_fence(struct emu_warp *w, bool sc) {
    const struct emu_sync *s = w->block->launch->sync;
    uint32_t *known = w->block->cluster->known;
    publish(w);
    if (sc) w->clock.published = w->published;
    for (uint64_t k = 0; known && k < s->n_clusters; k++)
        if (known[k] < known[s->n_clusters + k]) known[k] = known[s->n_clusters + k];
}

static struct told *find(struct emu_sync *s, uint64_t address) {
    struct told *t = s->list[address / 4 % N_LISTS];
    while (t && t->address != address) t = t->next;
    return t;
}

static void tell(struct emu_sync *s, struct told *t, uint32_t cluster, uint32_t epoch) {
    uint32_t n = 0;
    while (n < t->n && t->of[n].cluster != cluster) n++;
    if (n == t->n) {
        if (++s->n_entries > MOST_ENTRIES) {
            atomic_store(&s->gave_up, true);
            return;
        }
        if (t->n == t->capacity) {
            t->capacity = t->capacity ? 2 * t->capacity : 4;
            t->of = heap_grown(t->of, t->capacity * sizeof *t->of);
        }
        t->of[t->n].cluster = cluster;
        t->of[t->n++].epoch = 0;
    }
    if (t->of[n].epoch < epoch) t->of[n].epoch = epoch;
}

/* The epoch of the last fence of w; or of a fence.sc of a warp that w has synchronised with since: fences.sc of two
 * blocks are in order even if another thread raises the flag between them. */
static uint32_t published_by(const struct emu_warp *w) {
    return w->published > w->clock.published ? w->published : w->clock.published;
}

/* w writes the word strongly: this publishes the accesses before that fence, and what it had acquired. */
static void release(struct emu_warp *w, uint64_t address) {
    struct emu_sync *s = w->block->launch->sync;
    struct emu_cluster *c = w->block->cluster;
    pthread_mutex_lock(&s->lock);
    struct told *t = find(s, address);
    if (!t) {
        t = heap_zeroed(1, sizeof *t);
        t->address = address;
        t->next = s->list[address / 4 % N_LISTS];
        s->list[address / 4 % N_LISTS] = t;
        atomic_fetch_add(&s->n_told, 1);
    }
    tell(s, t, (uint32_t)c->linear, published_by(w));
    for (uint64_t k = 0; c->known && k < s->n_clusters; k++)
        if (c->known[k]) tell(s, t, (uint32_t)k, c->known[k]);
    pthread_mutex_unlock(&s->lock);
}

/* How a strong read of a word counts, and the part of emu_cluster.known that it fills: it acquires, or the next fence
 * does so for it, or so but by an atomic that counts (a ticket). */
enum reading { ACQUIRES, RELAXED, COUNTS, N_READINGS };

static enum reading reading_of(const struct emu_inst *i) {
    if (emu_has(i, "acquire") || emu_has(i, "acq_rel")) return ACQUIRES;
    return emu_has(i, "add") || emu_has(i, "inc") || emu_has(i, "dec") ? COUNTS : RELAXED;
}

static uint32_t *known_by(const struct emu_warp *w, enum reading how, uint32_t cluster) {
    return &w->block->cluster->known[how * w->block->launch->sync->n_clusters + cluster];
}

static void know(const struct emu_warp *w, enum reading how, uint32_t cluster, uint32_t epoch) {
    uint32_t *known = known_by(w, how, cluster);
    if (*known < epoch) *known = epoch;
}

static void acquire(struct emu_warp *w, uint64_t address, enum reading how) {
    struct emu_sync *s = w->block->launch->sync;
    struct emu_cluster *c = w->block->cluster;
    pthread_mutex_lock(&s->lock);
    const struct told *t = find(s, address);
    if (t && !c->known) c->known = heap_zeroed(N_READINGS * s->n_clusters, sizeof *c->known);
    for (uint32_t n = 0; t && n < t->n; n++) {
        know(w, how == COUNTS ? RELAXED : how, t->of[n].cluster, t->of[n].epoch);
        if (how == COUNTS) know(w, COUNTS, t->of[n].cluster, t->of[n].epoch);
        if (t->of[n].cluster == c->linear) emu_vector_clock_meet(w); /* another warp of its own */
    }
    pthread_mutex_unlock(&s->lock);
}

/* ---- Races ----------------------------------------------------------------------------------- */

/* One asynchronous operation does not race with itself. */
static bool itself(const struct emu_warp *w, struct access mine, struct access other) {
    uint32_t agent = access_agent(mine);
    return agent == access_agent(other) && agent != w->agent &&
           access_stamp(mine) == access_stamp(other);
}

/* Is `other`, of this launch, unordered with what w does now, as `mine`? */
static bool unordered(const struct emu_warp *w, struct access mine, struct access other) {
    const struct emu_cluster *c = w->block->cluster;
    if ((mine.who ^ other.who) >> 52 || !(mine.who & other.who & 15)) return false;
    bool far = access_cluster(mine) != access_cluster(other);
    bool strong = mine.who & other.who & ACCESS_STRONG;
    if (far && w->block->launch->partial) return false; /* others' synchronisation is unknown */
    if (strong && !(far && (mine.who | other.who) & ACCESS_IN_BLOCK)) return false;
    if (far) return !c->known || c->known[access_cluster(other)] <= access_epoch(other);
    uint32_t a = access_agent(other), stamp = access_stamp(other), lane = access_lane(other);
    if (stamp <= w->clock.all[a] || itself(w, mine, other)) return false;
    if (a == w->agent)
        return lane != ACCESS_LANES_MANY && access_lane(mine) != ACCESS_LANES_MANY &&
               lane != access_lane(mine) && !emu_lanes_met(w, access_lane(mine), lane, stamp);
    if (stamp > w->clock.seen[a]) return true;
    return lane != ACCESS_LANES_MANY && !(w->clock.lanes[a] >> lane & 1);
}

/* It is not known whether an atomic's result ends the loop. */
static bool may_poll(const struct emu_inst *i) {
    return i->class == EMU_ATOMIC ? i->in_loop : i->polls;
}

/* Volatile accesses do not race, for PTX. But they order nothing, which is worth a note, unless one polls: the word may be
 * a flag. Of lanes of one warp nothing is said: what a lock orders among them is not followed. */
static bool only_volatile(const struct emu_warp *w, const struct emu_inst *i, struct access mine,
                          struct access other, enum emu_access what, bool other_wrote) {
    const struct emu_kernel *k = w->block->kernel;
    bool same_warp =
        access_cluster(mine) == access_cluster(other) && access_agent(mine) == access_agent(other);
    if (!(mine.who & other.who & ACCESS_STRONG) || same_warp ||
        access_pc(other) >= (uint32_t)k->n_inst)
        return false;
    const struct emu_inst *there = &k->inst[access_pc(other)];
    if (!emu_has(i, "volatile") && !emu_has(there, "volatile")) return false;
    const bool polls = what & EMU_READ && may_poll(i),
               other_polls = (!other_wrote || there->class == EMU_ATOMIC) && may_poll(there);
    mine.who &= ~(uint64_t)ACCESS_STRONG;
    return !polls && !other_polls && unordered(w, mine, other);
}

/* Does the store write what is there already? Then order does not matter. */
static bool changes_nothing(const struct emu_warp *w, const struct emu_inst *i, uint32_t lane,
                            uint64_t address) {
    if (strncmp(i->opcode, "st.", 3) || i->op[1].kind != EMU_OP_GROUP) return false;
    unsigned bytes = (unsigned)i->aux[0];
    for (int k = 0; k < i->vec; k++) {
        uint32_t row = i->op[1].rows[k];
        uint64_t value = i->op[1].wide ? emu_row64(w, row)[lane] : emu_row32(w, row)[lane];
        uint64_t at = address + (unsigned)k * bytes;
        struct emu_room room = emu_room_global(w->block->launch->memory, at);
        struct emu_place was = emu_reach(room, at, bytes, EMU_READ);
        if (!was.byte || memcmp(was.byte, &value, bytes)) return false;
    }
    return true;
}

/* Has its cluster read a flag behind that access so, with no fence since? */
static bool has_read(const struct emu_warp *w, enum reading how, struct access other) {
    return w->block->cluster->known &&
           *known_by(w, how, access_cluster(other)) > access_epoch(other);
}

static __attribute__((cold, noinline)) void race(struct emu_warp *w, const struct emu_inst *i,
                                                 uint32_t lane, uint64_t address,
                                                 struct access mine, struct access other,
                                                 bool writes, bool other_wrote) {
    const struct emu_kernel *k = w->block->kernel;
    const struct emu_inst *there =
        access_pc(other) < (uint32_t)k->n_inst ? &k->inst[access_pc(other)] : NULL;
    bool far = access_cluster(mine) != access_cluster(other),
         same = access_agent(other) == w->agent && !far;
    bool same_value = writes && other_wrote && changes_nothing(w, i, lane, address);
    bool ticket = far && has_read(w, COUNTS, other);
    bool strong =
        mine.who & other.who & ACCESS_STRONG && !(far && (mine.who | other.who) & ACCESS_IN_BLOCK);
    bool benign = same_value || ticket || strong;
    if (strong && same_value) return;
    char them[64] = "another block", why[96] = "nothing orders the two";
    if (same)
        strcpy(them, "another lane of the warp"),
            snprintf(why, sizeof why, "%s orders the two", emu_barrier_of_lanes(w));
    else if (!far)
        emu_agent_name(w->block, access_agent(other), them, sizeof them);
    else if (ticket)
        strcpy(why, "an atomic that counts came between, but no fence is behind it");
    else if (has_read(w, RELAXED, other))
        strcpy(why, "the flag between them was read, but no fence is behind that read");
    else
        strcpy(why, "no fence and flag order the two");
    emu_report(benign ? EMU_NOTE : EMU_RACE, w, i, there,
               "lane %u %s global 0x%llx, which %s %s: %s%s", lane,
               same_value ? "writes the same value to"
               : writes   ? "writes"
                          : "reads",
               (unsigned long long)address, them, other_wrote ? "wrote" : "read", why,
               strong ? ", and volatile orders nothing" : "");
}

/* What this launch has written must not be read by ld.nc, whatever orders the two. */
static bool stale(const struct emu_inst *i, struct access mine, struct access write) {
    return i->read_only_path && access_launch(mine) == access_launch(write);
}

static __attribute__((cold, noinline)) void report_stale(struct emu_warp *w,
                                                         const struct emu_inst *i, uint32_t lane,
                                                         uint64_t address, struct access write) {
    const struct emu_kernel *k = w->block->kernel;
    emu_report(EMU_STALE, w, i,
               access_pc(write) < (uint32_t)k->n_inst ? &k->inst[access_pc(write)] : NULL,
               "lane %u reads global 0x%llx, which this launch wrote, through the read-only path "
               "(__ldg() or const __restrict__): it may get what was there before",
               lane, (unsigned long long)address);
}

/* Its lines, and behind them its words, which most allocations never need. */
static size_t lines_of(const struct emu_allocation *a) {
    return (size_t)((a->end + LINE_BYTES - 1) / LINE_BYTES - a->base / LINE_BYTES);
}

static struct emu_cells *cells_of(struct emu_allocation *a) {
    struct emu_cells *cells = __atomic_load_n(&a->cells, __ATOMIC_ACQUIRE), *none = NULL;
    if (cells) return cells;
    size_t bytes = lines_of(a) * (sizeof *cells + LINE_WORDS * sizeof(struct word));
    cells = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
    if (cells == MAP_FAILED) heap_exhausted();
    if (__atomic_compare_exchange_n(&a->cells, &none, cells, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        a->cells_bytes = bytes;
        return cells;
    }
    munmap(cells, bytes);
    return none;
}

/* `other`, a stretch, is surely ordered with what w does now to some of its words: if not, see each. */
static bool ordered(const struct emu_warp *w, struct access mine, struct access other) {
    const struct emu_cluster *c = w->block->cluster;
    if (access_launch(mine) != access_launch(other)) return true;
    bool far = access_cluster(mine) != access_cluster(other);
    bool strong = mine.who & other.who & ACCESS_STRONG;
    if (far && w->block->launch->partial) return true;
    if (strong && !(far && (mine.who | other.who) & ACCESS_IN_BLOCK)) return true;
    if (far) return c->known && c->known[access_cluster(other)] > access_epoch(other);
    uint32_t a = access_agent(other), stamp = access_stamp(other);
    if (stamp <= w->clock.all[a] || itself(w, mine, other)) return true;
    if (a == w->agent) return stretch_same_lanes(mine, other);
    return stamp <= w->clock.seen[a] && w->clock.lanes[a] == EMU_FULL;
}

/* Has the cluster of `mine` made, at the same epoch, an access `before` that is weak or of block scope, while `mine` is
 * not? What orders the one orders the other, so the weaker one must be remembered: `mine` would hide it. */
static bool hides(struct access mine, struct access before) {
    return mine.who & ACCESS_STRONG && !(mine.who & ACCESS_IN_BLOCK) &&
           (before.who & (ACCESS_STRONG | ACCESS_IN_BLOCK)) != ACCESS_STRONG &&
           !((mine.who ^ before.who) >> 24) && access_epoch(mine) == access_epoch(before);
}

/* `mine`, as it replaces `before`. If it would hide it, other clusters see the place and strength of `before`. */
static struct access in_place_of(struct access before, struct access mine) {
    const uint64_t pc = (uint64_t)0x3ffff << 6;
    if (!hides(mine, before) || !(mine.who & before.who & 15)) return mine;
    mine.who = (mine.who & ~pc) | (before.who & pc) | ACCESS_IN_BLOCK;
    return mine;
}

/* w's lanes touch words [from, to), one after the other. False: to be done word by word. */
static bool touch_stretch(const struct emu_warp *w, const struct emu_inst *i, struct line *l,
                          unsigned from, unsigned to, struct access mine, enum emu_access what) {
    uint32_t now = access_launch(mine);
    bool writes = what & EMU_WRITE, keep = false, replace = false;
    if (l->by_word == now || (mine.who & ACCESS_STRONG && emu_has(i, "volatile"))) return false;
    if (l->by_word) *l = (struct line){.by_word = 0};
    for (int n = 0; n < 2; n++)
        if (stretch_meets(&l->write, n, from, to) &&
            (!ordered(w, mine, l->write.of[n]) || stale(i, mine, l->write.of[n]) ||
             (writes && hides(mine, l->write.of[n]))))
            return false;
    struct access as_writer = {mine.who & ~(uint64_t)ACCESS_STRONG, mine.when};
    for (int n = 0; n < 2; n++) {
        struct access read = l->read.of[n];
        if (!stretch_meets(&l->read, n, from, to)) continue;
        if (writes ? !ordered(w, mine, read) : hides(mine, read)) return false;
        bool far = access_cluster(read) != access_cluster(mine);
        bool kept = access_launch(read) == now && far && !ordered(w, as_writer, read);
        keep |= kept, replace |= !kept; /* one reader is kept: as in touch() */
    }
    if (writes) return stretch_put(&l->write, from, to, mine);
    return keep ? !replace : stretch_put(&l->read, from, to, mine);
}

static void touch(struct emu_warp *w, const struct emu_inst *i, struct word *cell, uint32_t lane,
                  uint64_t address, struct access mine, enum emu_access what) {
    bool writes = what & EMU_WRITE;
    uint64_t now = mine.who >> 52;
    if (unordered(w, mine, cell->write) || only_volatile(w, i, mine, cell->write, what, true))
        race(w, i, lane, address, mine, cell->write, writes, true);
    if (stale(i, mine, cell->write) && mine.who & cell->write.who & 15)
        report_stale(w, i, lane, address, cell->write);
    if (!writes) { /* one reader is kept: another cluster's rather than its own */
        struct access as_writer = {mine.who & ~(uint64_t)ACCESS_STRONG, mine.when};
        bool far = access_cluster(cell->read) != access_cluster(mine);
        if (cell->read.who >> 52 != now || !far || !unordered(w, as_writer, cell->read))
            cell->read = in_place_of(cell->read, mine);
        return;
    }
    if (cell->read.who >> 52 == now &&
        (unordered(w, mine, cell->read) || only_volatile(w, i, mine, cell->read, what, false)))
        race(w, i, lane, address, mine, cell->read, true, false);
    cell->write = in_place_of(cell->write, mine);
}

/* ---- Unwritten bytes ------------------------------------------------------------------------- */

static uint32_t bytes_of_cell(uint64_t address, unsigned bytes) {
    return bytes >= 4 ? 15u : ((1u << bytes) - 1) << (address & 3);
}

static void mark(struct emu_allocation *a, uint64_t address, unsigned bytes) {
    uint8_t *at = a->written + (address / 4 - a->base / 4);
    if (bytes < 4)
        __atomic_fetch_or(at, (uint8_t)bytes_of_cell(address, bytes), __ATOMIC_RELAXED);
    else
        memset(at, 15, bytes / 4);
}

static bool missing(const struct emu_allocation *a, uint64_t address, unsigned bytes) {
    const uint8_t *at = a->written + (address / 4 - a->base / 4);
    uint32_t which = bytes_of_cell(address, bytes), lacks = 0;
    for (unsigned k = 0; k < (bytes + 3) / 4; k++) lacks |= which & ~at[k];
    return lacks;
}

/* What the lanes of an access touch, if each begins where the one before it ends, in whole words; or if all lanes
 * touch the same. */
struct global_run {
    uint64_t address, bytes; /* 0 bytes: it is not so */
    unsigned lane;
    bool one; /* address for all lanes */
};
static struct global_run run_of(uint32_t mask, const uint64_t addr[32], unsigned bytes) {
    unsigned first = (unsigned)__builtin_ctz(mask), n = (unsigned)__builtin_popcount(mask);
    uint32_t lanes = mask >> first;
    uint64_t steps = 0, differ = 0, begin = addr[first] - (uint64_t)first * bytes;
    for (unsigned l = 0; l < EMU_LANES; l++) {
        uint64_t active = -(uint64_t)(mask >> l & 1);
        differ |= (addr[l] ^ addr[first]) & active;
        steps |= (addr[l] ^ (begin + (uint64_t)l * bytes)) & active;
    }
    if (!differ) return (struct global_run){.one = true};
    if (steps || lanes & (lanes + 1) || bytes > 16 || (addr[first] | (uint64_t)n * bytes) & 3)
        return (struct global_run){0};
    return (struct global_run){addr[first], (uint64_t)n * bytes, first, false};
}

static void check_written(struct emu_warp *w, const struct emu_inst *i, struct emu_allocation *a,
                          uint32_t mask, const uint64_t addr[32], unsigned bytes,
                          struct global_run run, enum emu_access what) {
    uint32_t bare = 0;
    if (run.bytes) {
        uint8_t *at = a->written + (run.address / 4 - a->base / 4), all = 15;
        if (what & EMU_READ)
            for (uint64_t k = 0; k < run.bytes / 4; k++) all &= at[k];
        if (what & EMU_WRITE && all == 15) memset(at, 15, run.bytes / 4);
        if (all == 15) return;
    }
    uint32_t lanes = run.one ? mask & -mask : mask;
    if (what & EMU_READ) EMU_EACH_LANE(l, lanes) bare |= (uint32_t)missing(a, addr[l], bytes) << l;
    if (what & EMU_WRITE) EMU_EACH_LANE(l, lanes) mark(a, addr[l], bytes);
    if (bare) bare = run.one ? mask : bare;
    if (__builtin_expect(!bare, 1)) return;
    if (what & EMU_WRITE) {
        if (emu_has(i, "exch")) return; /* what was there is most often of no interest */
        uint32_t l = (uint32_t)__builtin_ctz(bare);
        emu_report(EMU_UNINITIALISED_GLOBAL, w, i, NULL,
                   "lane %u: an atomic of global 0x%llx, which nothing wrote since cudaMalloc", l,
                   (unsigned long long)addr[l]);
        return;
    }
    unsigned one = bytes / i->vec;
    uint16_t bits[8][EMU_LANES] = {0};
    EMU_EACH_LANE(l, bare)
    for (unsigned k = 0; k < i->vec && k < 8; k++)
        for (unsigned b = 0; b < one; b++)
            bits[k][l] |= (uint16_t)(missing(a, addr[l] + k * one + b, 1) << b);
    emu_uninitialised_global(w, i, (const uint16_t(*)[EMU_LANES])bits, one);
}

bool emu_global_is_watched(const struct emu_block *b, uint64_t global) {
    const struct emu_allocation *a = b->shadow ? emu_memory_find(b->launch->memory, global) : NULL;
    return a && a->written;
}

void emu_global_copied(struct emu_block *b, uint32_t shared, uint64_t global, uint32_t bytes) {
    const struct emu_allocation *a = emu_memory_find(b->launch->memory, global);
    if (!b->shadow || !a || !a->written || bytes > a->end - global) return;
    for (uint32_t k = 0; k < bytes; k++)
        if (missing(a, global + k, 1))
            emu_shadow_unwrite(b->shadow, shared + k), b->took_unwritten = true;
}

/* ---- Accesses -------------------------------------------------------------------------------- */

/* Reading these bytes of a word changes nothing: it was not written in this launch, and the reader that is kept stays,
 * as in touch(). (Words know of this launch only if their line keeps them singly.) Looked at without its lock, since
 * many read what few write: what is missed is seen by the next. */
__attribute__((no_sanitize_thread)) static bool
read_before(const struct emu_warp *w, const struct word *cell, struct access mine, uint32_t which) {
    uint32_t now = access_launch(mine);
    struct access read = cell->read;
    if (access_launch(read) != now || access_launch(cell->write) == now || ~read.who & which)
        return false;
    if (access_cluster(read) != access_cluster(mine)) return !w->block->cluster->known;
    return read.when >> 6 == mine.when >> 6 && access_lane(read) == ACCESS_LANES_MANY;
}

/* Several lanes store this word in one instruction. If several have read it since they last synchronised, one's store may
 * come before another's read: a lost sum. */
static __attribute__((noinline)) void many_store(struct emu_warp *w, const struct emu_inst *i,
                                                 const struct word *cell, uint32_t lane,
                                                 uint64_t address, struct access mine) {
    struct access read = cell->read;
    if (strncmp(i->opcode, "st.", 3) || (mine.who & 15) != 15 || (read.who & 15) != 15) return;
    if (access_launch(read) != access_launch(mine) ||
        access_cluster(read) != access_cluster(mine) || access_agent(read) != w->agent ||
        access_lane(read) != ACCESS_LANES_MANY || access_stamp(read) <= w->clock.all[w->agent] ||
        mine.who & read.who & ACCESS_STRONG)
        return;
    if (emu_lanes_met(w, EMU_MANY_LANES, EMU_MANY_LANES, access_stamp(read))) return;
    if (!changes_nothing(w, i, lane, address)) race(w, i, lane, address, mine, read, true, false);
}

/* Lanes one by one, and all their words. one: the lane stands for others at its address. */
static void touch_words(struct emu_warp *w, const struct emu_inst *i, struct emu_allocation *a,
                        uint32_t mask, const uint64_t addr[32], unsigned bytes, bool one,
                        struct access mine, enum emu_access what) {
    struct emu_cells *cells = cells_of(a);
    struct word *words = (struct word *)(void *)(cells + lines_of(a));
    uint64_t locked = UINT64_MAX, lines = a->base / LINE_BYTES;
    EMU_EACH_LANE(l, mask) {
        uint64_t first = addr[l] & ~(uint64_t)3;
        for (uint64_t at = first; at < addr[l] + bytes; at += 4) {
            struct line *line = &cells[at / LINE_BYTES - lines].line;
            struct word *of_line = words + (at / LINE_BYTES - lines) * LINE_WORDS;
            if (what == EMU_READ &&
                read_before(w, of_line + at / 4 % LINE_WORDS, mine, bytes_of_cell(addr[l], bytes)))
                continue;
            if (at >> 8 != locked) {
                if (locked != UINT64_MAX) leave(locked << 8);
                take(at);
                locked = at >> 8;
            }
            if (line->by_word != access_launch(mine))
                line_spread(line, of_line, access_launch(mine));
            struct word *cell = of_line + at / 4 % LINE_WORDS;
            struct access here = mine;
            uint32_t which = bytes_of_cell(addr[l], bytes);
            here.who |= which;
            here.when |= l;
            /* stores of one instruction do not race with each other */
            struct access *before = what & EMU_WRITE ? &cell->write : &cell->read;
            if (before->who >> 4 == here.who >> 4 && before->when >> 6 == here.when >> 6) {
                before->who |= which;
                if (access_lane(*before) != l) {
                    before->when |= ACCESS_LANES_MANY;
                    if (what == EMU_WRITE) many_store(w, i, cell, l, addr[l], here);
                }
            } else {
                if (one && what == EMU_WRITE) many_store(w, i, cell, l, addr[l], here);
                touch(w, i, cell, l, addr[l], here, what);
            }
            if (one && before->who >> 4 == here.who >> 4 && before->when >> 6 == here.when >> 6)
                before->when |= ACCESS_LANES_MANY;
        }
    }
    if (locked != UINT64_MAX) leave(locked << 8);
}

/* Line by line; a line that is not so simple, word by word. */
static void touch_run(struct emu_warp *w, const struct emu_inst *i, struct emu_allocation *a,
                      struct global_run run, const uint64_t addr[32], unsigned bytes,
                      struct access mine, enum emu_access what) {
    struct emu_cells *cells = cells_of(a);
    uint64_t end = run.address + run.bytes, next;
    for (uint64_t at = run.address; at < end; at = next) {
        uint64_t line = at / LINE_BYTES, begin = line * LINE_BYTES;
        unsigned lane = run.lane + (unsigned)((at - run.address) / bytes);
        next = begin + LINE_BYTES < end ? begin + LINE_BYTES : end;
        unsigned from = (unsigned)(at - begin) / 4, to = (unsigned)(next - begin) / 4;
        take(at);
        bool done = touch_stretch(w, i, &cells[line - a->base / LINE_BYTES].line, from, to,
                                  stretch_access(mine, lane, from, bytes), what);
        leave(at);
        if (done) continue;
        unsigned n = (unsigned)(next - at) / bytes;
        uint32_t lanes = (n < 32 ? (1u << n) - 1 : EMU_FULL) << lane;
        touch_words(w, i, a, lanes, addr, bytes, false, mine, what);
    }
}

/* Without strength, lane and bytes. */
static struct access access_of(const struct emu_warp *w, const struct emu_inst *i,
                               const struct emu_issue *by) {
    const struct emu_cluster *c = w->block->cluster;
    return (struct access){
        .who = (uint64_t)emu_memory_launch(w->block->launch->memory) << 52 | c->linear << 24 |
               (uint64_t)(i->pc < 0x3ffff ? i->pc : 0x3ffff) << 6,
        .when = (uint64_t)by->stamp << 40 | (uint64_t)c->epoch << 20 | (uint64_t)by->agent << 6};
}

static void check_races(struct emu_warp *w, const struct emu_inst *i, struct emu_allocation *a,
                        uint32_t mask, const uint64_t addr[32], unsigned bytes,
                        struct global_run run, enum emu_access what) {
    struct emu_sync *s = w->block->launch->sync;
    bool strong = what & EMU_STRONG || what == EMU_ATOM;
    if (!s || atomic_load_explicit(&s->gave_up, memory_order_relaxed)) return;
    bool in_block = strong && emu_has(i, "cta");
    if (strong) { /* for warps of the block it is a flag as one in shared memory */
        bool both = emu_has(i, "acq_rel");
        if (what & EMU_WRITE) emu_flag_write(w, mask, both || emu_has(i, "release"), false);
        if (what & EMU_READ) emu_flag_read(w, mask, both || emu_has(i, "acquire"), false);
    }
    if (strong && !in_block) {
        if (what & EMU_WRITE && (emu_has(i, "release") || emu_has(i, "acq_rel"))) publish(w);
        if (what & EMU_WRITE && published_by(w)) EMU_EACH_LANE(l, mask) release(w, addr[l]);
    }
    const struct emu_issue own = {.agent = w->agent, .stamp = w->clock.seen[w->agent]};
    struct access mine = access_of(w, i, w->issue ? w->issue : &own);
    bool near = in_block || (strong && emu_has(i, "cluster"));
    mine.who |= (strong ? ACCESS_STRONG : 0u) | (near ? ACCESS_IN_BLOCK : 0u);
    if (run.bytes)
        touch_run(w, i, a, run, addr, bytes, mine, what);
    else
        touch_words(w, i, a, run.one ? mask & -mask : mask, addr, bytes,
                    run.one && mask & (mask - 1), mine, what);
}

void emu_global_check(struct emu_warp *w, const struct emu_inst *i, struct emu_allocation *a,
                      uint32_t mask, const uint64_t addr[32], unsigned bytes,
                      enum emu_access what) {
    struct global_run run = run_of(mask, addr, bytes);
    if (a->written) check_written(w, i, a, mask, addr, bytes, run, what);
    if (__builtin_expect(w->tainted && what & EMU_WRITE, 0))
        emu_taint_store_global(w, i, a, mask, addr, bytes);
    check_races(w, i, a, mask, addr, bytes, run, what);
}

/* The bytes of [address, end) in the word at `at`. */
static uint32_t bytes_in_word(uint64_t at, uint64_t address, uint64_t end) {
    uint32_t from = address > at ? (uint32_t)(address - at) : 0,
             to = end < at + 4 ? (uint32_t)(end - at) : 4;
    return ((1u << to) - 1) & ~((1u << from) - 1);
}

/* TMA reads what ordinary stores of its cluster wrote: have they passed a fence.proxy.async? */
static void check_proxy(struct emu_warp *w, const struct emu_inst *i, struct access mine,
                        struct access write, uint64_t address) {
    const struct emu_kernel *k = w->block->kernel;
    uint32_t a = access_agent(write);
    if (access_launch(write) != access_launch(mine) ||
        access_cluster(write) != access_cluster(mine))
        return;
    if (!emu_agent_is_warp(w->block, a) ||
        emu_proxy_fenced_global(w->block, a, access_stamp(write)))
        return;
    emu_report(EMU_PROXY, w, i,
               access_pc(write) < (uint32_t)k->n_inst ? &k->inst[access_pc(write)] : NULL,
               "global 0x%llx was written by ordinary stores: fence.proxy.async must come between",
               (unsigned long long)address);
}

/* The same of words [from, to) of a line. */
static void check_proxies(struct emu_warp *w, const struct emu_inst *i, struct access mine,
                          const struct line *l, const struct word *words, unsigned from,
                          unsigned to, uint64_t address) {
    bool by_word = l->by_word == access_launch(mine);
    for (int n = 0; !by_word && n < 2; n++)
        if (stretch_meets(&l->write, n, from, to)) check_proxy(w, i, mine, l->write.of[n], address);
    for (unsigned k = from; by_word && k < to; k++)
        check_proxy(w, i, mine, words[k].write, address + 4 * (k - from));
}

void emu_global_async(struct emu_warp *w, const struct emu_inst *i, const struct emu_issue *op,
                      uint64_t address, uint64_t bytes) {
    struct emu_sync *s = w->block->launch->sync;
    if (!s || !bytes || atomic_load_explicit(&s->gave_up, memory_order_relaxed)) return;
    struct emu_allocation *a = emu_memory_find(w->block->launch->memory, address);
    if (!a || a->end - address < bytes) return; /* reported when it is done */
    struct emu_cells *cells = cells_of(a);
    struct word *words = (struct word *)(void *)(cells + lines_of(a));
    struct access mine = access_of(w, i, op);
    const uint64_t end = address + bytes, lines = a->base / LINE_BYTES;
    const uint32_t lane =
        op->lanes & (op->lanes - 1) ? ACCESS_LANES_MANY : (uint32_t)__builtin_ctz(op->lanes);
    if (op->what == EMU_ATOM) mine.who |= ACCESS_STRONG;
    if (op->what & EMU_WRITE && !w->block->launch->options->async_early)
        mine.when |= EPOCH_BITS; /* no release tells of it before it is complete */
    for (uint64_t at = address & ~(uint64_t)3, next; at < end; at = next) {
        uint64_t begin = at / LINE_BYTES * LINE_BYTES;
        next = begin + LINE_BYTES < end ? begin + LINE_BYTES : end;
        struct line *line = &cells[at / LINE_BYTES - lines].line;
        struct word *of_line = words + (at / LINE_BYTES - lines) * LINE_WORDS;
        const struct access whole = {mine.who | 15, mine.when | ACCESS_LANES_MANY};
        take(at);
        if (op->async_proxy && op->what == EMU_READ)
            check_proxies(w, i, mine, line, of_line, (unsigned)(at - begin) / 4,
                          (unsigned)(next - begin + 3) / 4, at);
        if ((at < address || next % 4) ||
            !touch_stretch(w, i, line, (unsigned)(at - begin) / 4, (unsigned)(next - begin) / 4,
                           whole, op->what)) {
            if (line->by_word != access_launch(mine))
                line_spread(line, of_line, access_launch(mine));
            for (uint64_t word = at; word < next; word += 4) {
                struct access here = {mine.who | bytes_in_word(word, address, end),
                                      mine.when | lane};
                touch(w, i, of_line + word / 4 % LINE_WORDS, op->lanes & (op->lanes - 1) ? 0 : lane,
                      word, here, op->what);
            }
        }
        leave(at);
    }
}

static void complete_write(const struct emu_warp *w, struct access *write, unsigned agent,
                           uint32_t stamp) {
    const struct emu_cluster *c = w->block->cluster;
    if (access_launch(*write) == (emu_memory_launch(w->block->launch->memory) & 0xfff) &&
        access_cluster(*write) == c->linear && access_agent(*write) == agent &&
        access_stamp(*write) == stamp)
        write->when = (write->when & ~EPOCH_BITS) | (uint64_t)c->epoch << 20;
}

void emu_global_done(struct emu_warp *w, unsigned agent, uint32_t stamp, uint64_t address,
                     uint64_t bytes) {
    struct emu_allocation *a = emu_memory_find(w->block->launch->memory, address);
    if (!w->block->launch->sync || !bytes || !a || a->end - address < bytes) return;
    struct emu_cells *cells = cells_of(a);
    struct word *words = (struct word *)(void *)(cells + lines_of(a));
    const uint64_t first = a->base / LINE_BYTES, last = (address + bytes - 1) / LINE_BYTES;
    for (uint64_t at = address / LINE_BYTES; at <= last; at++) {
        struct line *line = &cells[at - first].line;
        take(at * LINE_BYTES);
        for (int n = 0; n < 2; n++) complete_write(w, &line->write.of[n], agent, stamp);
        for (unsigned k = 0; line->by_word && k < LINE_WORDS; k++)
            complete_write(w, &words[(at - first) * LINE_WORDS + k].write, agent, stamp);
        leave(at * LINE_BYTES);
    }
}

void emu_global_written(struct emu_allocation *a, uint32_t mask, const uint64_t addr[32],
                        unsigned bytes) {
    if (a->written) EMU_EACH_LANE(l, mask) mark(a, addr[l], bytes);
}

void emu_global_saw(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                    const struct emu_place at[32]) {
    const struct emu_sync *s = w->block->launch->sync;
    if (!s || atomic_load_explicit(&s->gave_up, memory_order_relaxed) || emu_has(i, "cta") ||
        !atomic_load_explicit(&s->n_told, memory_order_relaxed))
        return;
    const struct emu_memory *m = w->block->launch->memory;
    EMU_EACH_LANE(l, mask) acquire(w, emu_memory_address(m, at[l].byte), reading_of(i));
}

void emu_global_print_writer(const struct emu_warp *w, const struct emu_inst *own, uint64_t address,
                             FILE *out) {
    const struct emu_launch_state *l = w->block->launch;
    const struct emu_kernel *k = w->block->kernel;
    struct emu_allocation *a = emu_memory_find(l->memory, address);
    if (!l->sync || l->partial || !a) return; /* writes were not all kept */
    const struct emu_cells *cells = cells_of(a);
    const struct word *words = (const struct word *)(const void *)(cells + lines_of(a));
    const uint64_t line = address / LINE_BYTES - a->base / LINE_BYTES;
    const unsigned word = (unsigned)(address % LINE_BYTES) / 4;
    const uint32_t now = emu_memory_launch(l->memory) & 0xfff;
    take(address);
    const struct line *of = &cells[line].line;
    const struct access write = of->by_word == now ? words[line * LINE_WORDS + word].write
                                                   : of->write.of[word >= of->write.split];
    leave(address);
    if (access_launch(write) != now)
        fprintf(out, "; this launch has not written it");
    else if (access_pc(write) < (uint32_t)k->n_inst && access_pc(write) != own->pc)
        fprintf(out, "; %s %u wrote it last, at line %d",
                w->block->cluster->n > 1 ? "cluster" : "block", access_cluster(write),
                emu_line_of(&k->origin[access_pc(write)]));
}
