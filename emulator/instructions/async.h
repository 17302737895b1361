/* Operations that run on after their instruction: cp.async, TMA, wgmma, and the mbarriers that
 * count them.
 *
 * Each completes at the last moment that the program allows, so that a missing wait reads poison:
 *
 *   cp.async     cp.async.wait_group or wait_all of the lane
 *                (cp.async.mbarrier.arrive: when no warp can run)
 *   TMA load     when no warp can run: all wait, and this is what they wait for
 *   TMA store    cp.async.bulk.wait_group.read reads shared memory, wait_group (or the end) writes
 *   wgmma        wgmma.wait_group of the warp
 *
 * Destinations hold 0xFF bytes (a NaN in every floating-point type) from issue to completion. With
 * --early everything completes when issued. */
#pragma once

#include "tensormap.h"

#include "emulator/core/state.h"

#include <stdio.h>

/* ---- mbarriers ----------------------------------------------------------------------------------
 * The object is a real 64-bit word in shared memory:
 *
 *   63 62 | 61    | 60 .. 40           | 39 .. 20        | 19 .. 0
 *   0  1  | phase | tx-count, signed   | expected count  | pending count
 *
 * What the checks need beside it: */
struct emu_mbarrier {
    struct emu_block *block;
    uint32_t addr;
    uint32_t in_flight;      /* asynchronous operations issued for it and not complete */
    uint64_t bytes_expected; /* announced in this phase */
    bool valid;
    const struct emu_inst *init, *arrival[EMU_MAX_WARPS]; /* the last of each warp */
    uint32_t came[EMU_MAX_CLUSTER],
        ever[EMU_MAX_CLUSTER]; /* by rank, warps that arrived in this phase, in any: masks */
    const struct emu_inst *far_arrival[EMU_MAX_CLUSTER]; /* the last of each rank but its own */
    uint32_t init_agent, init_stamp, init_lane;          /* whose write initialised it */
    bool init_fenced;      /* by fence.mbarrier_init: for TMA, and for the cluster once */
    uint32_t init_meeting; /* that barrier.cluster is complete (its number; 0: none yet) */
    struct emu_vector_clock clock, done; /* gathered in this phase; of the phase before */
    struct emu_vector_clock far,
        far_done; /* the same from other blocks, for waits at cluster scope */
};

/* The barrier at `addr` of block b, or NULL (reported) if none was initialised there. */
struct emu_mbarrier *emu_mbarrier_at(struct emu_warp *w, struct emu_block *b,
                                     const struct emu_inst *i, uint32_t addr);
void emu_mbarrier_arrive(struct emu_warp *w, const struct emu_inst *i, struct emu_mbarrier *m,
                         uint32_t count);
/* Adds to tx-count: bytes announced (positive) or arrived (negative). */
void emu_mbarrier_tx(struct emu_warp *w, const struct emu_inst *i, struct emu_mbarrier *m,
                     int64_t bytes);
/* One more arrival is expected in this phase: cp.async.mbarrier.arrive without .noinc. */
void emu_mbarrier_pend(struct emu_mbarrier *m);

/* What a waiting mbarrier.try_wait or test_wait waits for: for deadlocks. */
void emu_mbarrier_wait_print(const struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                             FILE *out);
/* Those that these lanes initialised and fenced are known to all that pass the barrier.cluster at which the
 * lanes arrive now. */
void emu_mbarriers_meet(struct emu_warp *w, uint32_t mask);

/* ---- Pending operations --------------------------------------------------------------------- */

/* One cp.async of a warp: all its lanes. */
struct emu_copy {
    const struct emu_inst *inst;
    uint32_t mask; /* lanes that have not waited for their bytes yet */
    bool landed;   /* --early: the bytes are there */
    uint32_t stamp, bytes;
    uint64_t order;            /* among all that this block issued */
    uint32_t group[EMU_LANES]; /* which of the lane's groups it belongs to */
    uint32_t shared[EMU_LANES], source_bytes[EMU_LANES]; /* the rest is filled with zeros */
    uint64_t global[EMU_LANES];
    const struct emu_allocation *near; /* that most lanes read from */
};

enum emu_pending_kind {
    EMU_PENDING_ARRIVE,      /* cp.async.mbarrier.arrive: after this lane's copies */
    EMU_PENDING_LOAD,        /* TMA to shared */
    EMU_PENDING_STORE,       /* TMA to global; shared memory not read yet */
    EMU_PENDING_STORE_WRITE, /* the same, its data in `data` */
    EMU_PENDING_PEER,        /* from a block to one of its cluster, whose mbarrier it is */
};

struct emu_pending {
    enum emu_pending_kind kind;
    struct emu_warp *warp;
    const struct emu_inst *inst;
    uint32_t lane, group;         /* the lane that issued it, and which of the lane's groups */
    unsigned agent, global_agent; /* of a store, the agent that writes global memory */
    uint32_t stamp, global_stamp;
    uint64_t order;
    uint32_t shared, bytes; /* bytes: moved */
    uint32_t shared_bytes;  /* occupied: more if rows are narrower than the swizzle */
    uint64_t global;
    struct emu_mbarrier *mbarrier;
    bool is_tensor;
    enum emu_type reduced; /* what a reduction's elements are; EMU_NONE: a copy */
    struct tensormap map;
    int32_t coordinate[5];
    unsigned char *data;
    uint64_t
        value[2]; /* EMU_PENDING_PEER: what st.async and red.async bring; else the bytes come */
    const struct emu_block *source; /* from this block's shared memory; NULL: there are none */
    uint32_t source_at;
};

/* Queue it, poison what it will write, or run it at once with --early. */
void emu_copy_add(struct emu_warp *w, const struct emu_copy *c);
/* The store p of w, or the reduction, has written global memory, and w knows. */
void emu_store_written(struct emu_warp *w, const struct emu_pending *p);
void emu_pending_add(struct emu_block *b, const struct emu_pending *p);

/* The lanes' cp.async of all but the last `keep` groups; with `all` also those not committed. */
void emu_copy_wait(struct emu_warp *w, uint32_t mask, uint32_t keep, bool all);
/* The same for bulk stores. read_only: shared memory has been read; the global side may wait. */
void emu_store_wait(struct emu_warp *w, uint32_t mask, uint32_t keep, bool read_only);

/* ---- A warp's own part ---------------------------------------------------------------------- */

struct emu_wgmma; /* wgmma.h's own: the warp's products in flight */

struct emu_warp_async {
    uint32_t copy_groups[EMU_LANES], store_groups[EMU_LANES]; /* committed so far */
    struct emu_copy *copy;
    uint32_t n_copies, copy_capacity;
    struct emu_wgmma *wgmma;
};
struct emu_warp_async *emu_warp_async(struct emu_warp *w);

struct emu_async {
    struct emu_pending *pending; /* n_pending of them, oldest first; what has gone leaves room */
    uint32_t n_pending;
    struct emu_pending *room; /* before them in this array, which is capacity long */
    uint32_t capacity;
    uint64_t issued; /* for `order` */
    struct emu_mbarrier **mbarrier;
    uint32_t n_mbarriers, n_made; /* in this block; of earlier blocks, to be used again */
    struct emu_warp_async warp[EMU_MAX_WARPS];
};
static inline struct emu_async *emu_async(struct emu_block *b) { return b->async; }

/* ---- A block's part: kept from block to block, and completed by the waits -------------------- */

void emu_async_begin(struct emu_block *b); /* a block starts */
/* No warp can run: completes operations until a phase of an mbarrier ends, which is what warps can
 * see; false: nothing is left. */
bool emu_async_flush(struct emu_block *b);
/* All warps have exited: completes or reports the rest. */
void emu_async_end(struct emu_block *b);
void emu_async_forget(struct emu_block *b); /* the clocks of its mbarriers */
void emu_async_free(struct emu_block *b);   /* the host thread is done with this block structure */
/* mbarriers and pending operations: for deadlocks. */
void emu_async_print(struct emu_block *b, FILE *out);

/* The offset in shared memory behind an address operand's value, generic or not; no block has memory
 * where values of over 32 bits lead to. */
static inline uint32_t emu_shared_offset(uint64_t address) {
    if (address - EMU_SHARED_WINDOW < EMU_WINDOW_BYTES) address -= EMU_SHARED_WINDOW;
    return address >> 32 ? UINT32_MAX - 15 : (uint32_t)address;
}
