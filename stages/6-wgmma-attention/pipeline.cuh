/* The rings between the producer and the consumers. Included after DIM, RING, ROW_GROUPS and
 * KEY_GROUPS are known.
 *
 * Needs KEY_GROUPS, RING, ROW_GROUPS, TILE from kernel.cu. */
#pragma once

// mbarriers. full: TMA has written; empty: every consumer has read, TMA may overwrite.
constexpr int Q_STAGES = TILE.q_stages; // tiles of O whose Q may be there at once
static __shared__ uint64_t q_full[Q_STAGES * ROW_GROUPS], q_empty[Q_STAGES * ROW_GROUPS];
static __shared__ uint64_t k_full[RING], k_empty[RING], v_full[RING], v_empty[RING];

static __device__ __forceinline__ void wait(const uint64_t *barrier, uint32_t parity) {
    while (!mbarrier_try_wait_parity(smem_address(barrier), parity)) {
    }
}
static __device__ __forceinline__ void arrive(const uint64_t *barrier) {
    mbarrier_arrive(smem_address(barrier));
}

// A ring of K or V, and where in it a thread is. Barriers start in phase 0.
// BEGIN SOLUTION lab-6
// So a consumer's first wait is for parity 0, a producer's for the phase before, parity 1, which
// counts as over.
// END SOLUTION
struct ring {
    uint32_t smem;          // [RING][KV_BYTES]
    uint64_t *full, *empty; // [RING]
    uint32_t stage, parity;
};
static __device__ __forceinline__ void advance(struct ring &r, uint32_t by) {
    r.stage += by;
    if (r.stage >= RING) r.stage -= RING, r.parity ^= 1;
}

// Consumers: this stage is written by TMA.
static __device__ __forceinline__ void wait_full(const struct ring &r) {
    wait(&r.full[r.stage], r.parity);
}
// Consumers: this warp's quarter of the products has read this stage, and goes on to the next one.
static __device__ __forceinline__ void release(struct ring &r) {
    // BEGIN SOLUTION lab-6: say so, once for the warp, and go on by KEY_GROUPS stages
    if (threadIdx.x % 32 == 0) arrive(&r.empty[r.stage]);
    advance(r, KEY_GROUPS);
    // END SOLUTION
}

// Where Q of a CTA's tile of O number `round` lies, and its phase there.
static __device__ __forceinline__ int q_slot(uint32_t round, int row_group) {
    return round % Q_STAGES * ROW_GROUPS + row_group;
}
static __device__ __forceinline__ uint32_t q_parity(uint32_t round) { return round / Q_STAGES & 1; }

// Consumers: this warp's products of a tile of O have read q_smem.
static __device__ __forceinline__ void release_q(int slot) {
    if (threadIdx.x % 32 == 0) arrive(&q_empty[slot]);
}

// One thread.
// BEGIN SOLUTION lab-6
// Consumers arrive by warps: a warp that has waited knows of its own quarter only.
// END SOLUTION
static __device__ void init_rings() {
    for (int g = 0; g < Q_STAGES * ROW_GROUPS; g++) {
        mbarrier_init(smem_address(&q_full[g]), 1);
        mbarrier_init(smem_address(&q_empty[g]), 4 * KEY_GROUPS); // warps
    }
    for (int s = 0; s < RING; s++) {
        // BEGIN SOLUTION lab-6: full and empty of K and V: how many arrivals end a phase of each?
        mbarrier_init(smem_address(&k_full[s]), 1);
        mbarrier_init(smem_address(&v_full[s]), 1);
        mbarrier_init(smem_address(&k_empty[s]), 4 * ROW_GROUPS);
        mbarrier_init(smem_address(&v_empty[s]), 4 * ROW_GROUPS);
        // END SOLUTION
    }
}
