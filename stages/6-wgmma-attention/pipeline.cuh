/* The rings between the producer and the consumers. Included by kernel.cu after its constants. */
#pragma once

// mbarriers. full: TMA has written; empty: every consumer has read, TMA may overwrite.
static __shared__ uint64_t q_full[ROW_GROUPS], q_empty[ROW_GROUPS];
static __shared__ uint64_t k_full[RING], k_empty[RING], v_full[RING], v_empty[RING];
static __shared__ uint64_t next_full[2], next_empty[2];
static __shared__ int next_smem[2]; // which tile comes after this one, two deep

static __device__ __forceinline__ void wait(const uint64_t *barrier, uint32_t parity) {
    while (!mbarrier_try_wait_parity(shared_address(barrier), parity)) {
    }
}
static __device__ __forceinline__ void arrive(const uint64_t *barrier) {
    mbarrier_arrive(shared_address(barrier));
}

// A place in a ring of K or V. Barriers start in phase 0: a consumer's first wait is for parity 0,
// a producer's for the phase before, parity 1, which counts as over.
struct ring {
    uint32_t stage, parity;
};
static __device__ __forceinline__ void advance(struct ring &r, uint32_t by) {
    r.stage += by;
    if (r.stage >= RING) r.stage -= RING, r.parity ^= 1;
}

// One thread. Consumers arrive by warps: a warp that has waited knows of its own quarter only.
static __device__ void init_barriers() {
    for (int g = 0; g < ROW_GROUPS; g++) {
        mbarrier_init(shared_address(&q_full[g]), 1);
        mbarrier_init(shared_address(&q_empty[g]), 4 * KEY_GROUPS); // warps
    }
    for (int s = 0; s < RING; s++) {
        mbarrier_init(shared_address(&k_full[s]), 1);
        mbarrier_init(shared_address(&v_full[s]), 1);
        mbarrier_init(shared_address(&k_empty[s]), 4 * ROW_GROUPS);
        mbarrier_init(shared_address(&v_empty[s]), 4 * ROW_GROUPS);
    }
    for (int s = 0; s < 2; s++) {
        mbarrier_init(shared_address(&next_full[s]), 1);
        mbarrier_init(shared_address(&next_empty[s]), 4 * WARPGROUPS);
    }
    fence_mbarrier_init(); // TMA is to see the barriers
}
