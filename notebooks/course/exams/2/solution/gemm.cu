/* Exam 2, solved: C = A B^T in fp32, A (m, k) and B (n, k) in fp16, by TMA and WGMMA. A block computes 128 x 256 of C: two
 * warpgroups 64 x 256 each, and one more warp asks for the tiles.
 *
 *                        BN = 256                 k is walked in tiles of 64, which lie in a ring of 4 stages:
 *              +--------------------------+
 *   BM = 128   |       warpgroup 0        |         producer   0 1 2 3 | 4  | 5  | 6        waits at empty
 *              +--------------------------+         products           | 0  | 1  | 2        wait at full
 *              |       warpgroup 1        |
 *              +--------------------------+       While tile t is multiplied, tile t - 1 is given back.
 *
 * Shared memory: STAGES times A (BM, BK), then B (BN, BK), fp16, rows of 128 bytes in TMA's 128-byte swizzle. */
#include "common/cuda/ptx_sm90.cuh"

constexpr int BM = 128, BN = 256, BK = 64, STAGES = 4, CONSUMERS = 256, THREADS = CONSUMERS + 32;
constexpr int A_BYTES = BM * BK * 2, STAGE_BYTES = A_BYTES + BN * BK * 2;

// A stage begins at a multiple of 1024 bytes, as the swizzle wants; dynamic shared memory need not.
extern "C" __constant__ int launch[4] = {BM, BN, THREADS, STAGES *STAGE_BYTES + 1024};

static __device__ void wait(uint64_t *barrier, int parity) {
    while (!mbarrier_try_wait_parity(smem_address(barrier), parity)) {
    }
}

// Rows of 128 bytes, 8 of which are 1024 bytes.
static __device__ uint64_t descriptor(uint32_t smem) {
    return gmma_desc_encode({.start = smem,
                             .leading_bytes = 16,
                             .stride_bytes = 1024,
                             .base_offset = 0,
                             .swizzle = GMMA_SWIZZLE_128});
}

extern "C" __global__ void __launch_bounds__(THREADS)
    gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
         float *c, int m, int n, int k, int ldc) {
    extern __shared__ unsigned char dynamic[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const uint32_t ring = (smem_address(dynamic) + 1023) / 1024 * 1024;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, n_tiles = (k + BK - 1) / BK;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN; // of this block in C

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            mbarrier_init(smem_address(&full[s]),
                          1); // the producer, and the bytes that it announces
            mbarrier_init(smem_address(&empty[s]), CONSUMERS / 32); // a lane of each warp
        }
        fence_mbarrier_init();
    }
    __syncthreads(); // all see the barriers

    if (warp == CONSUMERS / 32) {
        if (lane == 0)
            for (int t = 0; t < n_tiles; t++) {
                const int s = t % STAGES;
                const uint32_t stage = ring + s * STAGE_BYTES, barrier = smem_address(&full[s]);
                wait(&empty[s],
                     (t / STAGES + 1) % 2); // parity 1 at first: a fresh barrier lets it pass
                mbarrier_arrive_expect_tx(barrier, STAGE_BYTES);
                tma_load_4d(stage, &a_map, barrier, t * BK, row0, 0, 0);
                tma_load_4d(stage + A_BYTES, &b_map, barrier, t * BK, col0, 0, 0);
            }
        return;
    }

    float d[BN / 8][4]; // written by the first product
    const int warpgroup = warp / 4;
    const uint64_t a_desc = descriptor(ring + warpgroup * 64 * BK * 2),
                   b_desc = descriptor(ring + A_BYTES);
    for (int t = 0; t < n_tiles; t++) {
        const int s = t % STAGES;
        wait(&full[s], t / STAGES % 2);
        registers_fence(d);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < BK / 16; i++) // 16 columns are 32 bytes
            wgmma_m64k16_ss<BN>(d, gmma_desc_advance(a_desc, s * STAGE_BYTES + 32 * i),
                                gmma_desc_advance(b_desc, s * STAGE_BYTES + 32 * i), t + i > 0);
        wgmma_commit_group();
        wgmma_wait_group<1>(); // the products of tile t - 1 have read it
        if (t > 0 && lane == 0) mbarrier_arrive(smem_address(&empty[(t - 1) % STAGES]));
    }
    wgmma_wait_group<0>();
    registers_fence(d);

    // A lane holds rows lane / 4 and + 8 of its warp's 16, columns lane % 4 * 2 and + 1 of each 8.
#pragma unroll
    for (int e = 0; e < BN / 8 * 4; e++) {
        const int row = row0 + warp * 16 + lane / 4 + e % 4 / 2 * 8,
                  col = col0 + e / 4 * 8 + lane % 4 * 2 + e % 2;
        if (row < m && col < n) c[(int64_t)row * ldc + col] = d[e / 4][e % 4];
    }
}
