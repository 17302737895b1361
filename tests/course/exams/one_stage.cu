#include "common/cuda/ptx_sm90.cuh"

// One warpgroup, one stage, 64 x 64 of C.
extern "C" __constant__ int launch[4] = {64, 64, 128, 0};

extern "C" __global__ void gemm(const __grid_constant__ CUtensorMap a_map,
                                const __grid_constant__ CUtensorMap b_map, float *c, int m, int n,
                                int k, int ldc) {
    __shared__ __align__(1024) unsigned char a[64 * 128], b[64 * 128];
    __shared__ uint64_t full;
    const int tid = threadIdx.x, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    const uint32_t bar = smem_address(&full);
    float d[8][4];
    if (tid == 0) {
        mbarrier_init(bar, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    const struct gmma_desc at = {.start = 0,
                                 .leading_bytes = 16,
                                 .stride_bytes = 1024,
                                 .base_offset = 0,
                                 .swizzle = GMMA_SWIZZLE_128};
    const uint64_t a_desc = gmma_desc_advance(gmma_desc_encode(at), smem_address(a)),
                   b_desc = gmma_desc_advance(gmma_desc_encode(at), smem_address(b));
    for (int k0 = 0, parity = 0; k0 < k; k0 += 64, parity ^= 1) {
        if (tid == 0) {
            mbarrier_arrive_expect_tx(bar, 2 * 64 * 128);
            tma_load_4d(smem_address(a), &a_map, bar, k0, row0, 0, 0);
            tma_load_4d(smem_address(b), &b_map, bar, k0, col0, 0, 0);
        }
        while (!mbarrier_try_wait_parity(bar, parity)) {
        }
        registers_fence(d);
        wgmma_fence();
        for (int i = 0; i < 4; i++)
            wgmma_m64k16_ss<64>(d, gmma_desc_advance(a_desc, 32 * i),
                                gmma_desc_advance(b_desc, 32 * i), k0 + i > 0);
        wgmma_commit_group();
        wgmma_wait_group<0>();
        registers_fence(d);
        __syncthreads();
    }
    for (int e = 0; e < 32; e++) {
        const int row = row0 + tid / 32 * 16 + tid % 32 / 4 + e % 4 / 2 * 8,
                  col = col0 + e / 4 * 8 + tid % 4 * 2 + e % 2;
        if (row < m && col < n) c[(int64_t)row * ldc + col] = d[e / 4][e % 4];
    }
}
