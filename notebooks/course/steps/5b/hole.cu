// Step 5b: which fence orders what. A warpgroup multiplies two tiles, one after the other, out of the same place in shared memory.
#include "common/cuda/ptx_sm90.cuh"

constexpr int CHUNKS = 256; // of 16 bytes in a tile: A (64, 16), then B (64, 16), 2048 bytes each

extern "C" __global__ void __launch_bounds__(128) multiply(const uint4 *tiles, float *sums) {
    static __shared__ __align__(128) uint4 tile[CHUNKS];
    const int tid = threadIdx.x;
    const uint64_t a_desc = gmma_desc_encode({smem_address(tile), 1024, 128, 0, GMMA_SWIZZLE_NONE});
    const uint64_t b_desc = gmma_desc_advance(a_desc, 2048);
    float d[8][4] = {}; // 32 registers of the accumulator, set to zero by ordinary instructions
    registers_fence(d); // no instruction: it keeps the compiler from doing that later
    for (int n = 0; n < 2; n++) {
        for (int i = tid; i < CHUNKS; i += 128)
            tile[i] = tiles[CHUNKS * n + i]; // ordinary stores, a share for each thread
        // BEGIN SOLUTION: what must stand between these stores, the product, and the next stores?
        fence_proxy_async();
        __syncthreads();
        wgmma_fence();
        wgmma_m64k16_ss<64>(d, a_desc, b_desc, 1);
        wgmma_commit_group();
        wgmma_wait_group<0>();
        __syncthreads();
        // END SOLUTION
    }
    for (int i = 0; i < 32; i++)
        sums[32 * tid + i] = d[i / 4][i % 4]; // ordinary instructions read d
}

// ANSWER = None  (to the question: a number)
