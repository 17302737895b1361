/* What a running grid is made of.
 *
 *   module     a parsed PTX file                      lives until emu_module_close
 *   kernel     its lowered instructions (read-only while running)
 *   launch     one grid of a kernel                   lives during emu_launch
 *   cluster    the blocks that run together           one for each host thread, used over and over
 *   block      one CTA: shared memory, barriers
 *   warp       32 lanes: registers, program counters
 *
 * Every register of a kernel owns a row of its warp's row file, found by a byte offset:
 *
 *   .pred            4 bytes   bit l = lane l
 *   up to 32 bits  128 bytes   uint32_t[32]; 16-bit values zero-extended, f16x2 as packed
 *   64 bits        256 bytes   uint64_t[32]
 *
 * Immediates, special registers and addresses of symbols are rows too (filled before the block
 * starts), so a handler is one loop over 32 lanes and never asks what kind of operand it has. */
#pragma once

#include "emulator_options.h"
#include "instruction.h"
#include "memory.h"

#include "common/base/chip.h"

/* ---- Vector clocks --------------------------------------------------------------------------------
 * An agent is a warp (its index) or something asynchronous (emu_agent() of checks/vector_clock.h). Each
 * access carries its agent's stamp; it happened before what agent w does now iff stamp <= w's
 * clock.seen[agent]. fenced[] is the part of seen[] that has passed a fence.proxy.async.
 *
 * An arrival by some lanes of a warp (at an mbarrier, say) makes known only those lanes' accesses:
 *
 *   stamps of agent a   1 ........ all[a] ........ seen[a] ........
 *   known of            every lane | lanes[a] only | no lane */
struct emu_vector_clock {
    uint32_t seen[EMU_MAX_AGENTS], fenced[EMU_MAX_AGENTS];
    uint32_t all[EMU_MAX_AGENTS];   /* <= seen[] */
    uint32_t lanes[EMU_MAX_AGENTS]; /* a mask; 0 where all[] = seen[] */
    bool waited;                    /* griddepcontrol.wait was run (checks/overlap.c) */
    uint32_t met;       /* ranks of the cluster that are known to have started: a mask */
    uint32_t meetings;  /* of the cluster, up to which fenced mbarriers are known */
    uint32_t published; /* checks/global.h: of the fence.sc that came before */
};

/* ---- Counters -----------------------------------------------------------------------------------
 * One line per instruction; each host thread has its own array, summed after the launch. */
struct emu_count {
    uint64_t executed;  /* by warps, guard false or not */
    uint64_t lanes_off; /* 32 * executed - lanes that ran */
    uint64_t wavefronts, wavefronts_ideal;
    uint64_t sectors, sectors_ideal;
    uint64_t bytes;  /* moved by active lanes, or by the asynchronous operation */
    uint64_t splits; /* branches: executions that divided the lanes; barriers: arrivals; */
                     /* .shared::cluster: accesses to the block's own memory */
};

/* ---- Running --------------------------------------------------------------------------------- */

/* Tokens of waits that launch/ uses; the tokens of barriers are their generations. */
enum { EMU_TOKEN_CONVERGE = 0x7fff0001, EMU_TOKEN_POLL = 0x7fff0002 };

struct
    emu_bytes; /* memory that kernels use; never completed, so that nothing adds to its address */

struct emu_group { /* lanes of a warp at one place */
    uint32_t pc, mask;
    bool waiting;   /* its instruction returned EMU_WAIT */
    bool retry;     /* and may be tried again in this turn of the warp */
    uint64_t token; /* what that instruction left to find again */
};

struct emu_passed {              /* the last wait for an mbarrier that was over */
    const struct emu_inst *inst; /* NULL: none */
    uint32_t mbarrier, parity;
};

struct emu_warp {
    unsigned char *rows; /* the row file; 64-byte aligned */
    struct emu_block *block;
    struct emu_count *count;      /* of the host thread, by pc */
    struct emu_pattern **pattern; /* by pc: what the last execution's addresses were like */
    uint32_t index;               /* in the block */
    uint32_t agent;               /* among those of the cluster */
    uint32_t live;                /* lanes that exist and have not exited */
    uint32_t absent;              /* lanes that the block never had: results unused */
    uint32_t carry;               /* CC.CF of each lane: instructions/arithmetic/carry.c */
    bool resumed;                 /* the running instruction was left with EMU_WAIT before */
    bool progressed;
    bool begun; /* constants are in the row file; later blocks find registers as they were left */
    uint32_t spins;     /* branches taken since the lanes diverged */
    uint32_t limit;     /* rank at which the running group may meet another */
    uint32_t early;     /* lanes that must run griddepcontrol.wait before they use global memory */
    bool tainted;       /* some register holds uninitialised bytes (checks/taint.c) */
    uint8_t taint_from; /* what tainted last: of checks/taint.c */
    uint32_t *taint, taint_pc, pending_taint[8];
    int n_groups; /* sorted by pc; masks disjoint, their union is live */
    struct emu_group group[EMU_LANES], *now;
    uint64_t token;                  /* now->token, for the handler */
    uint64_t effects, local_effects; /* stores and the like; stores to local memory */
    uint32_t published;              /* checks/global.h */
    const struct emu_issue
        *issue;              /* its accesses are those of this operation: checks/race.h; or NULL */
    struct emu_looks *looks; /* instructions/poll.c's own; NULL: has not polled */
    struct emu_stack *stack; /* instructions/function.c's own, by lane; NULL: has not called */
    struct emu_bytes *local_memory; /* local_bytes per lane, lane after lane; by reach.h alone */
    uint16_t *local_written; /* by lane and 16 bytes of local memory, a bit each; NULL: not kept */
    uint32_t n_registers;    /* setmaxnreg's account, per thread */
    uint32_t n_setmaxnreg;   /* how many it ran */
    const struct emu_inst *setmaxnreg;              /* the last; NULL: none */
    uint32_t arrived, unwaited, cluster_generation; /* barrier.cluster: instructions/cluster.c */
    struct emu_passed passed;
    struct emu_vector_clock clock;
    /* checks/vector_clock.c's own: [l][m] is the stamp up to which lane l has met lane m by a __syncwarp() of some lanes;
     * NULL: there was none. */
    uint32_t (*lanes_met)[EMU_LANES];
};

struct emu_barrier {
    uint32_t arrived, expected; /* threads; expected 0: all that live */
    uint32_t generation;
    const struct emu_inst *first; /* the first arrival, for mismatch reports; NULL: none */
    uint32_t came;                /* warps of which some lanes have arrived: a mask */
    uint32_t votes, votes_done;   /* bar.red: threads that said yes; of the last generation */
    bool all, all_done;           /* did all of them? */
    struct emu_vector_clock clock, done; /* gathered so far; of the last complete generation */
};

struct emu_visit { /* the last access of an agent to another block's memory */
    uint32_t stamp;
    struct emu_warp *warp;
    const struct emu_inst *inst;
};

struct emu_block {
    const struct emu_launch_state *launch;
    struct emu_cluster *cluster;
    uint32_t rank; /* in the cluster */
    const struct emu_kernel *kernel;
    uint32_t id[3];
    uint64_t linear; /* index of the block in the grid */
    int n_warps;
    uint32_t n_threads, n_live;
    struct emu_warp *warp;
    /* By address: the system's, then from shared_base on static and dynamic variables; by reach.h alone. */
    struct emu_bytes *shared_memory;
    uint32_t shared_base,
        shared_bytes;          /* the address at which the block's own begins; at which it ends */
    struct emu_shadow *shadow; /* checks/race.c's own; NULL when checks are off */
    struct emu_barrier barrier[EMU_BARRIERS];
    uint32_t free_registers; /* setmaxnreg's pool */
    bool took_unwritten;     /* its shared memory got a value of global memory that nothing wrote */
    uint64_t ticks;          /* instructions run: what clock reads */
    void *async; /* instructions/async.h's own: pending TMA operations, mbarrier clocks */
    struct emu_visit *visit; /* by agent; NULL: alone in its cluster */
    struct emu_vector_clock
        end; /* vector clock of the threads that have exited; not kept if alone */
};

struct emu_cluster {
    uint32_t n; /* blocks, most often 1 */
    struct emu_block *block[EMU_MAX_CLUSTER];
    uint32_t n_live; /* threads */
    bool stopped;
    uint32_t phases;                     /* of mbarriers that have ended */
    uint64_t linear;                     /* its place in the grid */
    uint32_t epoch, *known;              /* checks/global.h; NULL: it has acquired nothing */
    struct emu_agents *agents;           /* checks/vector_clock.c's own; NULL when checks are off */
    uint32_t arrived, generation;        /* barrier.cluster */
    uint32_t meetings;                   /* complete generations, of all clusters so far */
    struct emu_vector_clock clock, done; /* gathered so far; of the last complete generation */
};

/* One grid. Shared by the host threads; only `next_cluster` and the reports (locked) change. */
struct emu_launch_state {
    const struct emu_kernel *kernel;
    const struct emu_options *options;
    struct emu_memory *memory;
    const struct chip *chip;
    struct emu_reports *reports;
    uint32_t grid[3], block[3], cluster[3];
    bool explicit_cluster;              /* even if of one block */
    uint32_t shared_base, shared_bytes; /* where it begins; how much a block has from there on */
    uint64_t unwritten; /* what memory holds that was never written: 8 bytes, repeated */
    bool overlaps;      /* the launch before it */
    bool partial;       /* some clusters are checked, others not */
    struct emu_bytes *param_memory;  /* by reach.h alone */
    uint64_t param;                  /* its address, as kernels see it */
    uint64_t workspace;              /* of grid.sync(): its size and its barrier */
    const struct emu_events *events; /* NULL: no views */
    struct emu_limits *limits;       /* launch/limits.h */
    struct emu_sync *sync;           /* checks/global.c's own; NULL when checks are off */
};

/* Hooks for views: traces, watchpoints, the bank map. */
struct emu_events {
    void *user;
    void (*before)(void *user, struct emu_warp *w, const struct emu_inst *i, uint32_t mask);
    void (*after)(void *user, struct emu_warp *w, const struct emu_inst *i, uint32_t mask);
    void (*access)(void *user, struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                   enum emu_space space, const uint64_t addr[32], unsigned bytes,
                   enum emu_access what);
    /* cp.async: where it writes, which wavefront serves each lane's k-th word, and how few it could be */
    void (*copied)(void *user, struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                   const uint32_t shared[32], unsigned bytes, uint8_t (*served)[4], uint32_t ideal);
    /* wgmma and TMA: 16 bytes of an operand ("A", "B") or a box, of which row, in which wavefront */
    void (*piece)(void *user, struct emu_warp *w, const struct emu_inst *i, const char *of,
                  uint32_t row, uint32_t shared, uint32_t wavefront);
};

/* Do these bytes lie in the block's own shared memory? */
static inline bool emu_shared_holds(const struct emu_block *b, uint32_t address, uint32_t bytes) {
    return address >= b->shared_base && address <= b->shared_bytes &&
           b->shared_bytes - address >= bytes;
}

/* ---- Small helpers --------------------------------------------------------------------------- */

static inline uint32_t *emu_row32(const struct emu_warp *w, uint32_t row) {
    return (uint32_t *)(void *)(w->rows + row);
}
static inline float *emu_rowf(const struct emu_warp *w, uint32_t row) {
    return (float *)(void *)(w->rows + row);
}
static inline uint64_t *emu_row64(const struct emu_warp *w, uint32_t row) {
    return (uint64_t *)(void *)(w->rows + row);
}
static inline uint32_t *emu_mask(const struct emu_warp *w, uint32_t row) {
    return (uint32_t *)(void *)(w->rows + row);
}
/* The address of a place in b's shared memory for other blocks of the cluster: what mapa returns. */
static inline uint64_t emu_cluster_address(const struct emu_block *b, uint32_t offset) {
    return EMU_CLUSTER_WINDOW + (uint64_t)b->rank * EMU_WINDOW_BYTES + offset;
}

#define EMU_EACH_LANE(l, mask)                                                                     \
    for (uint32_t l##_left = (mask), l;                                                            \
         l##_left && (l = (uint32_t)__builtin_ctz(l##_left), l##_left &= l##_left - 1, true);)
