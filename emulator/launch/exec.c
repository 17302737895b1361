/* Runs the warps of one cluster of blocks, which is most often one block. A warp is a
 * coroutine: it runs until none of its lane groups can go on. Its groups (lanes at one pc) are
 * run lowest rank first and joined when they meet, which brings diverged lanes together where
 * their paths join. */
#include "blocks.h"

#include "emulator/checks/taint.h"
#include "emulator/instructions/async.h"
#include "emulator/instructions/poll.h"
#include "limits.h"

#include <string.h>

enum { QUANTUM = 1 << 18, SPIN_LIMIT = 1 << 20 };

/* ---- Lane groups ----------------------------------------------------------------------------- */

static void merge_groups(struct emu_warp *w) {
    for (int a = 0; a < w->n_groups; a++) {
        for (int b = a + 1; b < w->n_groups;) {
            struct emu_group *x = &w->group[a], *y = &w->group[b];
            bool both_run = !x->waiting && !y->waiting;
            bool both_converge = x->waiting && y->waiting && x->token == EMU_TOKEN_CONVERGE &&
                                 y->token == EMU_TOKEN_CONVERGE;
            if (x->pc == y->pc && (both_run || both_converge)) {
                x->mask |= y->mask;
                x->retry |= y->retry || both_converge;
                *y = w->group[--w->n_groups];
            } else {
                b++;
            }
        }
    }
}

/* Must all lanes of a warp run it together? */
static bool is_aligned(const struct emu_inst *i) {
    bool block_barrier = !strncmp(i->opcode, "bar.", 4) && strncmp(i->opcode, "bar.warp", 8) != 0;
    return block_barrier || emu_has(i, "aligned");
}

/* The group to run next: the lowest rank of those that can. After very long spinning the highest,
 * for one instruction: lanes may spin on what lanes behind the loop will do (those that poll memory
 * sleep instead). Not past where the lanes of a warp meet: most long loops of some lanes only work.
 */
static struct emu_group *pick(struct emu_warp *w, const uint32_t *rank) {
    struct emu_group *lowest = NULL, *highest = NULL;
    bool last = w->spins > SPIN_LIMIT;
    if (last) w->spins = 0;
    for (int g = 0; g < w->n_groups; g++) {
        struct emu_group *x = &w->group[g];
        if (x->waiting && !x->retry) continue;
        if (!lowest || rank[x->pc] < rank[lowest->pc]) lowest = x;
        if (!last || is_aligned(&w->block->kernel->inst[x->pc])) continue;
        if (!highest || rank[x->pc] > rank[highest->pc]) highest = x;
    }
    return highest ? highest : lowest;
}

/* The lowest rank at which another group stands that could be met. */
static uint32_t meeting_rank(const struct emu_warp *w, const struct emu_group *now,
                             const uint32_t *rank) {
    uint32_t lowest = UINT32_MAX;
    for (int g = 0; g < w->n_groups; g++) {
        const struct emu_group *x = &w->group[g];
        if (x != now && !x->waiting && rank[x->pc] < lowest) lowest = rank[x->pc];
    }
    return lowest;
}

/* ---- Instructions ---------------------------------------------------------------------------- */

/* Runs group `now` until it waits, exits, meets another group's rank or has used up *budget. An
 * instruction that all 32 lanes run for the first time takes the short way: it is counted by one
 * addition. */
static inline __attribute__((always_inline)) void run_group(struct emu_warp *w,
                                                            const uint32_t *rank, uint32_t *budget,
                                                            const struct emu_events *events,
                                                            bool careful) {
    const struct emu_inst *const code = w->block->kernel->inst;
    struct emu_group *g = w->now;
    const struct emu_inst *i = code + g->pc;
    struct emu_count *c = w->count + g->pc;
    uint32_t left = *budget;
    w->limit = w->n_groups > 1 ? meeting_rank(w, g, rank) : UINT32_MAX;
    w->resumed = g->waiting;
    w->token = g->token;
    g->waiting = g->retry = false;
    uint32_t whole = w->resumed ? 0 : EMU_FULL; /* the mask that takes the short way */
    while (left) {
        uint32_t mask = g->mask & (*emu_mask(w, i->guard) ^ i->guard_xor);
        left--;
        if (careful && w->tainted && !w->resumed) emu_taint_step(w, i, mask, g->mask);
        if (__builtin_expect(mask == whole, 1)) {
            c->executed++;
        } else if (!w->resumed) {
            c->executed++;
            c->lanes_off += EMU_LANES - (uint32_t)__builtin_popcount(mask);
            if (!mask) goto next;
        }
        if (events && events->before) events->before(events->user, w, i, mask);
        enum emu_step step = i->run(w, i, mask);
        if (events && events->after && step != EMU_WAIT) events->after(events->user, w, i, mask);
        if (__builtin_expect(step != EMU_NEXT, 0)) {
            if (step == EMU_WAIT) {
                *g = (struct emu_group){(uint32_t)(i - code), g->mask, true, false, w->token};
                w->progressed |= !w->resumed; /* arriving is progress, polling again is not */
                *budget = left;
                return;
            }
            w->progressed = true;
            w->resumed = false;
            if (step == EMU_STOP) w->block->cluster->stopped = true;
            w->spins += w->n_groups > 1;
            /* g may have moved: all pcs are set. The one that is left may wait, and is resumed then. */
            if (step == EMU_STOP || w->n_groups != 1 || w->group->waiting) {
                *budget = left;
                return;
            }
            g = w->now = w->group;
            w->limit = UINT32_MAX;
            whole = EMU_FULL;
            i = code + g->pc;
            c = w->count + g->pc;
            continue;
        }
        if (whole != EMU_FULL) w->resumed = false, whole = EMU_FULL;
    next:
        i++, c++;
        if (__builtin_expect(w->limit != UINT32_MAX, 0)) {
            if (w->limit == 0 && w->tainted) emu_taint_load(w, i - 1);
            if (rank[i - code] >= w->limit) break;
        }
    }
    w->progressed = true;
    g->pc = (uint32_t)(i - code);
    *budget = left;
}

static void run_plain(struct emu_warp *w, const uint32_t *rank, uint32_t *budget) {
    run_group(w, rank, budget, NULL, false);
}
static void run_carefully(struct emu_warp *w, const uint32_t *rank, uint32_t *budget) {
    run_group(w, rank, budget, w->block->launch->events, true);
}

/* Runs a warp until no group can go on or the quantum is over. */
static void run_warp(struct emu_warp *w, uint32_t wanted) {
    struct emu_block *b = w->block;
    const uint32_t *rank = b->kernel->rank;
    struct emu_limits *limits = b->launch->limits;
    const uint32_t quantum = emu_limits_quantum(limits, wanted);
    uint32_t budget = quantum;
    if (!quantum) {
        if (!b->cluster->stopped) emu_report_endless(b->cluster, limits);
        b->cluster->stopped = true;
        return;
    }
    for (int g = 0; g < w->n_groups; g++) w->group[g].retry = true;
    while (w->n_groups && budget && !b->cluster->stopped) {
        if (w->n_groups > 1) merge_groups(w);
        if (w->n_groups == 1) w->spins = 0;
        w->now = pick(w, rank);
        if (!w->now) break;
        if (b->launch->events || w->tainted)
            run_carefully(w, rank, &budget);
        else
            run_plain(w, rank, &budget);
    }
    b->ticks += quantum - budget;
    emu_limits_ran(limits, quantum - budget);
}

/* ---- Clusters -------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* No warp can run: what is under way comes to its end. */
static bool flush(struct emu_cluster *c) {
    for (uint32_t r = 0; r < c->n; r++)
        if (emu_async_flush(c->block[r])) return true;
    return false;
}

/* Round robin: each warp runs until it waits. Random: warps and quanta are drawn. Adversarial:
 * the last warp that can run is run as far as it goes, so that others lag behind as far as
 * synchronisation lets them. */
static bool run_round(struct emu_cluster *c, uint64_t *random) {
    enum emu_schedule schedule = c->block[0]->launch->options->schedule;
    int in_block = c->block[0]->n_warps, n_warps = (int)c->n * in_block;
    bool progressed = false;
    for (int n = 0; n < n_warps && c->n_live && !c->stopped; n++) {
        uint64_t r = schedule == EMU_RANDOM ? next_random(random) : 0;
        int pick_warp = schedule == EMU_RANDOM        ? (int)(r % (uint64_t)n_warps)
                        : schedule == EMU_ADVERSARIAL ? n_warps - 1 - n
                                                      : n;
        struct emu_warp *w = &c->block[pick_warp / in_block]->warp[pick_warp % in_block];
        w->progressed = false;
        run_warp(w, schedule == EMU_RANDOM ? 1 + (uint32_t)(r >> 40) % 3000 : QUANTUM);
        progressed |= w->progressed;
        if (schedule == EMU_ADVERSARIAL && w->progressed) break; /* the favourite again */
    }
    if (progressed || schedule != EMU_RANDOM) return progressed;
    for (int n = 0; n < n_warps && !progressed && c->n_live; n++) { /* warps that were not drawn */
        struct emu_warp *w = &c->block[n / in_block]->warp[n % in_block];
        w->progressed = false;
        run_warp(w, QUANTUM);
        progressed = w->progressed;
    }
    return progressed;
}

static uint64_t ticks(const struct emu_cluster *c) {
    uint64_t sum = 0;
    for (uint32_t r = 0; r < c->n; r++) sum += c->block[r]->ticks;
    return sum;
}

enum emu_ran emu_run_cluster(struct emu_cluster *c, uint64_t turn, uint64_t *random) {
    const uint64_t end = ticks(c) + turn;
    bool moved = false;
    while (c->n_live && !c->stopped) {
        if (ticks(c) >= end) return EMU_PAUSES;
        if (run_round(c, random) || (c->n_live && !c->stopped && flush(c))) {
            moved = true;
        } else if (c->n_live && !c->stopped) {
            if (emu_poll_sleepers(c).n) return moved ? EMU_RAN : EMU_SLEEPS;
            emu_report_deadlock(c);
        }
    }
    return EMU_ENDED;
}
