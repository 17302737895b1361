/* The inside of the emulator: what parser, core, checks and instruction handlers share.
 *
 *   module     a parsed PTX file                      lives until emu_module_close
 *   kernel     its lowered instructions (read-only while running)
 *   launch     one grid of a kernel                   lives during emu_launch
 *   cluster    the blocks that run together           one for each host thread, used over and over
 *   block      one CTA: shared memory, barriers
 *   warp       32 lanes: registers, program counters
 *
 * Every PTX register owns a row of its warp's row file, found by a byte offset:
 *
 *   .pred            4 bytes   bit l = lane l
 *   up to 32 bits  128 bytes   uint32_t[32]; 16-bit values zero-extended, f16x2 as packed
 *   64 bits        256 bytes   uint64_t[32]
 *
 * Immediates, special registers and addresses of symbols are rows too (filled before the block
 * starts), so a handler is one loop over 32 lanes and never asks what kind of operand it has. */
#pragma once

#include "inst.h"

#include <stdio.h>

/* ---- Who saw what: vector clocks ----------------------------------------------------------------
 * An agent is a warp (its index) or something asynchronous (emu_agent()). Each access carries its
 * agent's stamp; it happened before what agent w does now iff stamp <= w's clock.seen[agent].
 * fenced[] is the part of seen[] that has passed a fence.proxy.async. */
struct emu_clock {
    uint32_t seen[EMU_MAX_AGENTS], fenced[EMU_MAX_AGENTS];
    uint32_t all[EMU_MAX_AGENTS];   /* up to here what every lane of the warp did; beyond, up to */
    uint32_t lanes[EMU_MAX_AGENTS]; /* seen[], what these lanes did: one arrived, the others not */
    bool waited;                    /* griddepcontrol.wait was run (overlap.c) */
    uint32_t met; /* ranks of the cluster that are known to have started (cluster.c) */
};

enum emu_agent_kind {
    EMU_AGENT_CP_ASYNC,
    EMU_AGENT_TMA_LOAD,
    EMU_AGENT_TMA_STORE,
    EMU_AGENT_WGMMA,
    EMU_AGENT_PEER_COPY
};

/* The agent of this kind and key (warp, mbarrier address, warpgroup), made on first use. */
unsigned emu_agent(struct emu_block *b, enum emu_agent_kind kind, uint32_t key);
/* A new stamp for the agent's next operation, issued by w. */
uint32_t emu_agent_issue(struct emu_block *b, unsigned agent);
/* The agent's operation with this stamp is complete for whoever acquires (or owns) the clock. */
void emu_agent_done(struct emu_clock *c, unsigned agent, uint32_t stamp);

/* c learns what the lanes in `mask` have done so far, and with them the whole warp up to its last
 * synchronisation of all lanes. */
void emu_release(struct emu_warp *w, uint32_t mask, struct emu_clock *c);
void emu_acquire(struct emu_warp *w, uint32_t mask, const struct emu_clock *c);
/* A phase is over: done = c, and c is empty again. */
void emu_clock_pass(const struct emu_block *b, struct emu_clock *done, struct emu_clock *c);
void emu_clock_clear(const struct emu_block *b, struct emu_clock *c);
void emu_proxy_fence(struct emu_warp *w); /* fence.proxy.async */

/* ---- Memory -------------------------------------------------------------------------------------
 * Lane l of `mask` touches bytes [addr[l], addr[l] + bytes), bytes = 1, 2, 4, 8 or 16. Checks
 * bounds and alignment, records the access for the race check, counts wavefronts or sectors,
 * tells the event seam. Returns the lanes that may go on; the others have been reported. */
/* EMU_STRONG is added for volatile, relaxed, acquire and release: those do not race with each
 * other. */
enum emu_access { EMU_READ = 1, EMU_WRITE = 2, EMU_ATOM = 3, EMU_STRONG = 4 };

uint32_t emu_shared_access(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                           const uint32_t addr[32], unsigned bytes, enum emu_access what);
/* The same for the memory of a block that w may visit. */
uint32_t emu_block_access(struct emu_warp *w, struct emu_block *b, const struct emu_inst *i,
                          uint32_t mask, const uint32_t addr[32], unsigned bytes,
                          enum emu_access what);
uint32_t emu_global_access(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                           const uint64_t addr[32], unsigned bytes, enum emu_access what);

/* An operation that runs on behind its instruction. */
struct emu_issue {
    unsigned agent;
    uint32_t stamp;
    uint32_t lanes; /* that issue it; EMU_FULL: the warp as a whole */
    enum emu_access what;
    bool async_proxy; /* TMA and wgmma: must not read what generic writes left unfenced */
};
/* The same check for what `op`, which w issues now, does to block b's memory until it is complete:
 * bounds, and races against all that w, and its lanes, have not seen. False: out of bounds. */
bool emu_shared_async(struct emu_warp *w, struct emu_block *b, const struct emu_inst *i,
                      const struct emu_issue *op, uint32_t addr, uint32_t bytes);

/* ---- Other blocks of the cluster (cluster.c) ------------------------------------------------- */

/* The block behind a shared address of any form, and the offset in it; NULL (reported): none. */
struct emu_block *emu_peer(struct emu_warp *w, const struct emu_inst *i, uint64_t address,
                           uint32_t *offset);
/* May w use b's memory now, as `agent` at `stamp`? Notes it for the check at b's end. */
bool emu_visit(struct emu_warp *w, const struct emu_inst *i, struct emu_block *b, unsigned agent,
               uint32_t stamp);
/* As emu_shared_access() for addresses of any block; `at`: where the lanes' bytes are. */
uint32_t emu_cluster_access(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                            const uint64_t addr[32], unsigned bytes, enum emu_access what,
                            unsigned char *at[32]);

/* Host memory behind [addr, addr + bytes) of global memory; NULL (nothing reported) if not all
 * allocated. */
void *emu_global(struct emu_warp *w, uint64_t addr, uint64_t bytes);

/* A copy that lane `lane` issues will read or write global memory there: is it too early
 * (overlap.c)? */
void emu_global_touch(struct emu_warp *w, const struct emu_inst *i, uint32_t lane, uint64_t addr,
                      enum emu_access what);

/* ---- Reports ------------------------------------------------------------------------------------
 * Each is a failed check, kept once for (kind, instruction, other instruction). */
/* clang-format off */
enum emu_report_kind {
    EMU_BAD_GLOBAL, EMU_BAD_SHARED, EMU_BAD_LOCAL, EMU_MISALIGNED, EMU_RACE, EMU_UNINITIALISED,
    EMU_DIVERGENT, EMU_BARRIER_MISMATCH, EMU_DEADLOCK, EMU_PROXY, EMU_IN_FLIGHT, EMU_BAD_MBARRIER,
    EMU_BAD_TENSOR_MAP, EMU_BAD_WGMMA, EMU_TRAP, EMU_BAD_OPERAND, EMU_TOO_EARLY,
    EMU_BAD_CLUSTER
};
/* clang-format on */
/* `other`: the second instruction concerned, or NULL. */
void emu_report(enum emu_report_kind kind, const struct emu_warp *w, const struct emu_inst *i,
                const struct emu_inst *other, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Reports it if a .sync.aligned instruction runs without all live lanes of the warp. */
void emu_aligned(const struct emu_warp *w, const struct emu_inst *i, uint32_t mask);

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

struct emu_group { /* lanes of a warp at one place */
    uint32_t pc, mask;
    bool waiting;   /* its instruction returned EMU_WAIT */
    bool retry;     /* and may be tried again in this turn of the warp */
    uint64_t token; /* what that instruction left to find again */
};

struct emu_warp {
    unsigned char *rows; /* the row file; 64-byte aligned */
    struct emu_block *block;
    struct emu_count *count; /* of the host thread, by pc */
    struct emu_pattern *
        *pattern;   /* access.c's, by pc: what the last execution's addresses were like */
    uint32_t index; /* in the block */
    uint32_t agent; /* among those of the cluster */
    uint32_t live;  /* lanes that exist and have not exited */
    bool resumed;   /* the running instruction was left with EMU_WAIT before */
    bool progressed;
    bool begun; /* constants are in the row file; later blocks find registers as they were left */
    uint32_t spins; /* branches taken while diverged */
    uint32_t limit; /* rank at which the running group stops to look around */
    uint32_t early; /* lanes that must run griddepcontrol.wait before they use global memory */
    bool tainted;   /* some register holds uninitialised bytes (taint.c) */
    uint32_t *taint, taint_pc, pending_taint[8];
    int n_groups; /* sorted by pc; masks disjoint, their union is live */
    struct emu_group group[EMU_LANES], *now;
    uint64_t token;                                 /* now->token, for the handler */
    unsigned char *local;                           /* local_bytes per lane, lane after lane */
    uint32_t n_registers;                           /* setmaxnreg's account, per thread */
    uint32_t arrived, unwaited, cluster_generation; /* barrier.cluster: cluster.c */
    struct emu_clock clock;
};

struct emu_barrier {
    uint32_t arrived, expected; /* threads; expected 0: all that live */
    uint32_t generation;
    const struct emu_inst *first; /* who came first, for mismatch reports; NULL: nobody yet */
    uint32_t votes, votes_done;   /* bar.red: threads that said yes; of the last generation */
    bool all, all_done;           /* did all of them? */
    struct emu_clock clock, done; /* gathered so far; of the last complete generation */
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
    unsigned char *shared; /* shared_bytes long: static, then dynamic */
    uint32_t shared_bytes;
    struct emu_shadow *shadow; /* race.c's own; NULL when checks are off */
    struct emu_barrier barrier[EMU_BARRIERS];
    uint32_t free_registers;     /* setmaxnreg's pool */
    uint64_t ticks;              /* instructions run: what clock reads */
    struct emu_allocation *near; /* the one that was used last */
    void *async;                 /* async.c's own: pending TMA operations, mbarrier clocks */
    struct emu_visit *visit;     /* by agent; NULL: alone in its cluster */
    struct emu_clock end;        /* what the threads that have exited knew; not kept if alone */
};

struct emu_cluster {
    uint32_t n; /* blocks, most often 1 */
    struct emu_block *block[EMU_MAX_CLUSTER];
    uint32_t n_live; /* threads */
    bool stopped;
    struct emu_agents *agents;    /* clock.c's own; NULL when checks are off */
    uint32_t arrived, generation; /* barrier.cluster */
    struct emu_clock clock, done; /* gathered so far; of the last complete generation */
};

/* One grid. Shared by the host threads; only `next_cluster` and the reports (locked) change. */
struct emu_launch_state {
    const struct emu_kernel *kernel;
    const struct emu_options *options;
    struct emu_memory *memory;
    const struct chip *chip;
    struct emu_reports *reports;
    uint32_t grid[3], block[3], cluster[3];
    bool explicit_cluster; /* even if of one block */
    uint32_t shared_bytes;
    bool overlaps;                   /* the launch before it */
    unsigned char *param;            /* in global memory */
    const struct emu_events *events; /* NULL: nobody listens */
};

/* The event seam: traces, watchpoints, the bank map are clients. */
struct emu_events {
    void *user;
    void (*before)(void *user, struct emu_warp *w, const struct emu_inst *i, uint32_t mask);
    void (*after)(void *user, struct emu_warp *w, const struct emu_inst *i, uint32_t mask);
    void (*access)(void *user, struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                   enum emu_space space, const uint64_t addr[32], unsigned bytes,
                   enum emu_access what);
};

/* async.c: late completion. A block's pending operations are kept there and completed by the waits;
 * with options->async_early they complete when issued. */
/* A kernel is complete: wraps the handlers that touch registers of wgmma. False: no memory. */
bool emu_wgmma_prepare(struct emu_kernel *k, void *(*alloc)(void *user, size_t bytes), void *user);
void emu_async_begin(struct emu_block *b); /* a block starts */
bool emu_async_flush(
    struct emu_block *b); /* no warp can run: complete something; false: nothing left */
void emu_async_end(struct emu_block *b);  /* all warps have exited: complete or report the rest */
void emu_async_free(struct emu_block *b); /* the host thread is done with this block structure */
void emu_async_print(struct emu_block *b,
                     FILE *out); /* mbarriers and pending operations: deadlock */

/* ---- For selectors --------------------------------------------------------------------------- */

unsigned emu_type_bytes(enum emu_type t);
/* Does the opcode have this modifier ("ftz", "shared::cta")? */
bool emu_has(const struct emu_inst *i, const char *modifier);

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
/* How other blocks of the cluster call a place in b's shared memory: what mapa gives. */
static inline uint64_t emu_cluster_address(const struct emu_block *b, uint32_t offset) {
    return EMU_CLUSTER_WINDOW + (uint64_t)b->rank * EMU_WINDOW_BYTES + offset;
}

/* The addresses of an EMU_OP_ADDRESS operand. Shared ones as offsets into the block's memory. */
void emu_addresses(const struct emu_warp *w, const struct emu_operand *op, uint64_t out[32]);

#define EMU_EACH_LANE(l, mask)                                                                     \
    for (uint32_t l##_left = (mask), l;                                                            \
         l##_left && (l = (uint32_t)__builtin_ctz(l##_left), l##_left &= l##_left - 1, true);)
