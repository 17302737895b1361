/* Vector clocks: what each agent of a cluster (a warp or an asynchronous operation) has synchronised with. */
#pragma once

#include "emulator/core/state.h"

enum emu_agent_kind {
    EMU_AGENT_CP_ASYNC,
    EMU_AGENT_TMA_LOAD,
    EMU_AGENT_TMA_STORE, /* reads shared memory */
    EMU_AGENT_WGMMA,
    EMU_AGENT_PEER_COPY,
    EMU_AGENT_TMA_WRITE, /* what a TMA store does to global memory */
    EMU_AGENT_ARRIVAL    /* at mbarriers of other blocks, by warp: of any scope */
};

/* The agent of this kind and key (warp, mbarrier address, warpgroup), made on first use. */
unsigned emu_agent(struct emu_block *b, enum emu_agent_kind kind, uint32_t key);
/* A new stamp for the agent's next operation, issued by w. */
uint32_t emu_agent_issue(struct emu_block *b, unsigned agent);
/* The agent's operation with this stamp is complete for any warp that acquires (or owns) the vector clock. */
void emu_agent_done(struct emu_vector_clock *c, unsigned agent, uint32_t stamp);

/* c learns what the lanes in `mask` have done so far, and with them the whole warp up to its last
 * synchronisation of all lanes. */
void emu_release(struct emu_warp *w, uint32_t mask, struct emu_vector_clock *c);
void emu_acquire(struct emu_warp *w, uint32_t mask, const struct emu_vector_clock *c);
/* c learns which of the async proxy's accesses to shared memory are complete, as w knows by having waited for them. */
void emu_release_async(struct emu_warp *w, struct emu_vector_clock *c);
/* w learns which arrivals from other blocks c knows of, and nothing else: a relaxed wait. */
void emu_acquire_arrivals(struct emu_warp *w, const struct emu_vector_clock *c);
/* A fence makes relaxed arrivals behind it releases of what came before it, and acquires what relaxed waits before it
 * have met. far: its scope includes the cluster; else only arrivals and waits within the block count. */
void emu_fence_scope(struct emu_warp *w, uint32_t mask, bool far);
void emu_release_relaxed(struct emu_warp *w, uint32_t mask, struct emu_vector_clock *c, bool far);
void emu_acquire_relaxed(struct emu_warp *w, const struct emu_vector_clock *c, bool far);
/* Strong accesses of shared memory are flags: a write releases and a read acquires, by themselves or through fences
 * around them. The flags of a cluster share one vector clock, which may miss a race, but never reports a false one. */
void emu_flag_write(struct emu_warp *w, uint32_t mask, bool releases, bool far);
void emu_flag_read(struct emu_warp *w, uint32_t mask, bool acquires, bool far);
/* A phase is over: done = c, and c is empty again. */
void emu_vector_clock_pass(const struct emu_block *b, struct emu_vector_clock *done,
                           struct emu_vector_clock *c);
void emu_vector_clock_clear(const struct emu_block *b, struct emu_vector_clock *c);
void emu_proxy_fence(struct emu_warp *w); /* fence.proxy.async, of shared memory */
void emu_proxy_fence_global(
    struct emu_warp *w); /* the same of global memory: what any warp fences counts for all */
/* Has agent a's access to global memory with this stamp passed such a fence? */
bool emu_proxy_fenced_global(const struct emu_block *b, uint32_t a, uint32_t stamp);
void emu_vector_clock_fence(struct emu_warp *w); /* what comes later has a stamp of its own */
/* w knows what the warps of its cluster have done, but for what came after their last stamps. */
void emu_vector_clock_meet(struct emu_warp *w);

/* ---- The agents of a cluster ----------------------------------------------------------------- */

struct emu_agents *emu_agents_open(void);
/* The last cluster has used up the stamps: every file that keeps vector clocks of its own must clear them before
 * the next cluster begins. */
bool emu_agents_spent(const struct emu_cluster *c);
void emu_agents_begin(struct emu_cluster *c); /* a cluster starts */
/* __syncwarp() of the lanes in `mask`. */
void emu_lanes_synchronised(struct emu_warp *w, uint32_t mask);
/* Has lane a synchronised, itself or through others, with what lane b did up to the stamp? EMU_MANY_LANES for either:
 * has it with any. This may miss a race, but never reports a false one. */
bool emu_lanes_met(const struct emu_warp *w, uint32_t a, uint32_t b, uint32_t stamp);
uint32_t emu_agents_count(const struct emu_block *b);
uint32_t emu_agents_base(const struct emu_block *b); /* stamps up to it are of earlier clusters */
uint32_t emu_agent_rank(const struct emu_block *b, uint32_t a);
bool emu_agent_is_warp(const struct emu_block *b, uint32_t a);
/* Is it the TMA loads of the mbarrier at this address of its own block? */
bool emu_agent_is_load_of(const struct emu_block *b, uint32_t a, uint32_t mbarrier);
/* What would order lanes of one warp: other warps of the block may have a part in it, too. */
static inline const char *emu_barrier_of_lanes(const struct emu_warp *w) {
    return w->block->n_warps > 1 ? "neither __syncthreads() nor __syncwarp()" : "no __syncwarp()";
}
const char *emu_agent_name(const struct emu_block *b, uint32_t a, char *out, size_t n);
