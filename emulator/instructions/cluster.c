/* Clusters: blocks that run together and reach each other's shared memory.
 *
 *   0x00000000   offset                                       this block
 *   0x01000000   EMU_SHARED_WINDOW + offset                   the same, generic
 *   0x20000000   EMU_CLUSTER_WINDOW + (rank << 24) + offset   block `rank`, generic or not (mapa)
 *
 * A block's memory lives from its first instruction to the exit of its last thread. A warp of another block
 * that touches it must have synchronised with the block since it began (clock.met), and the block must not be
 * able to end before it has synchronised with the access (clock `end`). Violations of both are found whatever
 * the order of the run. */
#include "cluster.h"

#include "access.h"
#include "async.h"
#include "flow.h"
#include "handlers.h"

#include "emulator/checks/vector_clock.h"
#include "emulator/core/failed_check.h"

#include <stdio.h>
#include <string.h>

/* The block behind a shared address of any form, and the offset in it; NULL: none. */
static struct emu_block *owner(const struct emu_warp *w, uint64_t address, uint32_t *offset) {
    const struct emu_cluster *c = w->block->cluster;
    uint64_t rank = (address - EMU_CLUSTER_WINDOW) / EMU_WINDOW_BYTES;
    *offset = (uint32_t)address % EMU_WINDOW_BYTES;
    if (address < EMU_SHARED_WINDOW + EMU_WINDOW_BYTES) return w->block;
    return address >= EMU_CLUSTER_WINDOW && rank < c->n ? c->block[rank] : NULL;
}

/* ---- Another block's memory ------------------------------------------------------------------ */

bool emu_visit(struct emu_warp *w, const struct emu_inst *i, struct emu_block *b, unsigned agent,
               uint32_t stamp) {
    if (b == w->block) return true;
    if (!b->n_live) {
        emu_report(EMU_BAD_CLUSTER, w, i, NULL,
                   "the shared memory of rank %u is gone: the block has ended", b->rank);
        return false;
    }
    if (!b->shadow) return true;
    if (!(w->clock.met >> b->rank & 1))
        emu_report(EMU_BAD_CLUSTER, w, i, NULL,
                   "rank %u may not have started: synchronise with it before its shared memory is "
                   "used",
                   b->rank);
    b->visit[agent] = (struct emu_visit){stamp, w, i};
    return true;
}

/* The block's last thread has exited. */
static void check_visits(struct emu_block *b) {
    for (uint32_t a = 0; b->shadow && a < emu_agents_count(b); a++) {
        const struct emu_visit *v = &b->visit[a];
        if (v->stamp > emu_agents_base(b) && v->stamp > b->end.seen[a])
            emu_report(EMU_BAD_CLUSTER, v->warp, v->inst, NULL,
                       "rank %u may have ended before this access to its shared memory: nothing "
                       "makes it wait (barrier.cluster before its exit would)",
                       b->rank);
    }
}

struct emu_block *emu_peer(struct emu_warp *w, const struct emu_inst *i, uint64_t address,
                           uint32_t *offset) {
    struct emu_block *b = owner(w, address, offset);
    if (!b)
        emu_report(EMU_BAD_SHARED, w, i, NULL,
                   "0x%llx is in the shared memory of no block of the cluster",
                   (unsigned long long)address);
    return b;
}

uint32_t emu_cluster_access(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                            const uint64_t addr[32], unsigned bytes, enum emu_access what,
                            struct emu_place at[32]) {
    uint32_t ok = 0, offset[EMU_LANES];
    while (mask) {
        uint32_t first = (uint32_t)__builtin_ctz(mask), here = 0;
        struct emu_block *b = emu_peer(w, i, addr[first], &offset[first]);
        EMU_EACH_LANE(l, mask)
        if (owner(w, addr[l], &offset[l]) == b) here |= 1u << l;
        mask &= ~here;
        if (!b || !emu_visit(w, i, b, w->agent, w->clock.seen[w->agent])) continue;
        if (b == w->block && i->class != EMU_ATOMIC) w->count[i->pc].splits++;
        here = emu_block_access(w, b, i, here, offset, bytes, what);
        EMU_EACH_LANE(l, here) at[l] = emu_reach(emu_room_shared(b), offset[l], bytes, what);
        ok |= here;
    }
    return ok;
}

/* ---- barrier.cluster ----------------------------------------------------------------------------
 * All threads of the cluster that have not exited arrive, then wait: w->arrived has the lanes of
 * a warp that have arrived at the barrier's present generation, w->unwaited those that must wait
 * before they arrive again. */

static void complete(struct emu_cluster *c) {
    if (!c->arrived || c->arrived < c->n_live) return;
    emu_vector_clock_pass(c->block[0], &c->done, &c->clock);
    c->arrived = 0;
    c->generation++;
    c->meetings++;
}

/* Lanes of w that have arrived and whose generation is not complete. */
static uint32_t arrived(const struct emu_warp *w) {
    return w->cluster_generation == w->block->cluster->generation ? w->arrived : 0;
}

enum emu_step emu_cluster_arrive(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    struct emu_cluster *c = w->block->cluster;
    if (emu_has(i, "aligned")) emu_aligned(w, i, mask);
    if (w->unwaited & mask)
        emu_report(EMU_BARRIER_MISMATCH, w, i, NULL,
                   "lanes %08x arrive again without barrier.cluster.wait", w->unwaited & mask);
    if (emu_has(i, "relaxed"))
        emu_release_relaxed(w, mask, &c->clock, true);
    else
        emu_release(w, mask, &c->clock);
    emu_mbarriers_meet(w, mask);
    w->count[i->pc].splits++;
    w->arrived = arrived(w) | mask;
    w->unwaited |= mask;
    w->cluster_generation = c->generation;
    c->arrived += (uint32_t)__builtin_popcount(mask);
    complete(c);
    return EMU_NEXT;
}

enum emu_step emu_cluster_wait(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    struct emu_cluster *c = w->block->cluster;
    if (!w->resumed && emu_has(i, "aligned")) emu_aligned(w, i, mask);
    if (!w->resumed && mask & ~w->unwaited)
        emu_report(EMU_BARRIER_MISMATCH, w, i, NULL,
                   "lanes %08x wait without barrier.cluster.arrive", mask & ~w->unwaited);
    if (arrived(w) & mask) return EMU_WAIT;
    w->unwaited &= ~mask;
    emu_acquire(w, mask, &c->done);
    w->clock.meetings = c->meetings;
    w->clock.met = (uint32_t)((1ull << c->n) - 1); /* even if the others' arrivals were relaxed */
    return EMU_NEXT;
}

void emu_cluster_exit(struct emu_warp *w, uint32_t mask) {
    struct emu_block *b = w->block;
    struct emu_cluster *c = b->cluster;
    c->arrived -= (uint32_t)__builtin_popcount(arrived(w) & mask);
    w->arrived &= ~mask;
    c->n_live -= (uint32_t)__builtin_popcount(mask);
    complete(c);
    if (c->n == 1) return;
    emu_release(w, mask, &b->end);
    if (!b->n_live) check_visits(b);
}

void emu_cluster_print(const struct emu_cluster *c, FILE *out) {
    const char *comma = ", not: ";
    if (!c->arrived) return;
    fprintf(out, "  barrier.cluster: %u of %u threads have arrived", c->arrived, c->n_live);
    for (uint32_t r = 0; r < c->n; r++) {
        uint32_t missing = 0;
        for (int n = 0; n < c->block[r]->n_warps; n++)
            missing |=
                (uint32_t)((c->block[r]->warp[n].live & ~arrived(&c->block[r]->warp[n])) != 0) << n;
        if (!missing) continue;
        fprintf(out, "%sof rank %u ", comma, r);
        emu_warps_print(c->block[r], missing, out);
        comma = ", ";
    }
    fputc('\n', out);
}

/* ---- Addresses ------------------------------------------------------------------------------- */

/* mapa d, a, rank: the place of this block's a in block `rank` */
enum emu_step emu_mapa(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const uint32_t *rank = emu_row32(w, i->op[2].row), n = w->block->cluster->n;
    EMU_EACH_LANE(l, mask) {
        uint64_t address =
            i->op[1].wide ? emu_row64(w, i->op[1].row)[l] : emu_row32(w, i->op[1].row)[l];
        uint32_t offset;
        if (!emu_peer(w, i, address, &offset)) continue;
        if (rank[l] >= n)
            emu_report(EMU_BAD_OPERAND, w, i, NULL, "rank %u of a cluster of %u", rank[l], n);
        if (rank[l] != w->block->rank) /* its own: as it is */
            address = emu_cluster_address(w->block->cluster->block[rank[l] % n], offset);
        if (i->op[0].wide)
            emu_row64(w, i->op[0].row)[l] = address;
        else
            emu_row32(w, i->op[0].row)[l] = (uint32_t)address;
    }
    return EMU_NEXT;
}

enum emu_step emu_getctarank(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    EMU_EACH_LANE(l, mask) {
        uint64_t address =
            i->op[1].wide ? emu_row64(w, i->op[1].row)[l] : emu_row32(w, i->op[1].row)[l];
        uint32_t offset;
        const struct emu_block *b = emu_peer(w, i, address, &offset);
        emu_row32(w, i->op[0].row)[l] = b ? b->rank : UINT32_MAX;
    }
    return EMU_NEXT;
}
