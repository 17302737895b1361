// Step 4b: the layout of mma.sync. One warp computes 16 x 8 scores: q is [16][16], k is [8 keys][16], s is [16][8].
#include "common/cuda/ptx.cuh"

#include <cuda_fp16.h>

static __device__ uint32_t pair(const half *m, int row, int col) {
    return *(const uint32_t *)&m[row * 16 + col];
}

extern "C" __global__ void scores(const half *q, const half *k, float *s) {
    const int lane = threadIdx.x;
    uint32_t a[4] = {}, b[2] = {};
    float c[4] = {};
    // BEGIN SOLUTION: load a and b, multiply with mma_m16n8k16(c, a, b[0], b[1]), store c
    const int row = lane / 4, col = lane % 4 * 2;
    for (int i = 0; i < 4; i++) a[i] = pair(q, row + i % 2 * 8, col + i / 2 * 8);
    for (int i = 0; i < 2; i++) b[i] = pair(k, row, col + i * 8);
    mma_m16n8k16(c, a, b[0], b[1]);
    for (int i = 0; i < 4; i++) s[(row + i / 2 * 8) * 8 + col + i % 2] = c[i];
    // END SOLUTION
}

// ANSWER = None  (to the question: a number)
