// Six kernels in one image for test_hot_lines.sh, chosen by seqlen_k - 4096; each has a line that is known to be
// hot, marked HOT and the resource that it keeps busy, and colder ones of other resources beside it.
// Launched as stage 1 is: 128 threads, dynamic shared memory, at least 64 rows of 64 elements in q.
#include "common/cuda/attention_args.h"
#include "common/cuda/ptx.cuh"

extern "C" __global__ void __launch_bounds__(128)
    attention(const __grid_constant__ struct attention_args args) {
    extern __shared__ uint32_t smem[];            // 1024 words of it
    const uint32_t *q = (const uint32_t *)args.q; // 2048 words
    const uint32_t *k = (const uint32_t *)args.k; // 131072 and more
    const uint32_t tid = threadIdx.x;
    float x[8], d[4][4] = {};
    uint32_t sum = 0, at = tid / 32;
    for (int i = 0; i < 8; i++) {
        x[i] = __uint_as_float(0x3f000000 + tid + i); // 0.5 and a little
        smem[tid + 128 * i] = q[tid + 128 * i];
    }
    __syncthreads(); // smem is written
    switch (args.seqlen_k - 4096) {
    case 1: {
        const uint32_t a[4] = {tid, tid, tid, tid};
        for (int n = 0; n < 300; n++) {
            x[0] = ex2(x[0]);
            for (int i = 0; i < 4; i++) mma_m16n8k16(d[i], a, tid, tid); // HOT tensor
        }
        break;
    }
    case 2:
        for (int n = 0; n < 300; n++) {
            sum += smem[(tid + n) % 1024];
            for (int i = 0; i < 8; i++) x[i] = ex2(x[i]); // HOT mufu
        }
        break;
    case 3:
        for (int n = 0; n < 100; n++) {
            sum += smem[(tid + n) % 1024];
#pragma unroll
            for (int i = 0; i < 128; i++)
                x[i % 8] = fmaf(x[i % 8], 0.5f, x[(i + 1) % 8]); // HOT fma
        }
        break;
    case 4:
#pragma unroll 4
        for (uint32_t n = 0; n < 200; n++) {
            sum += smem[(tid + n) % 1024];
            at += smem[(32 * tid + n) % 1024]; // HOT shared
            x[0] = fmaf(x[0], 0.5f, 1.0f);
        }
        break;
    case 5:
#pragma unroll 8
        for (uint32_t n = 0; n < 400; n++) {
            at += k[(8 * tid + 1024 * n) % 131072]; // HOT global
            sum += smem[(tid + n) % 1024];
        }
        break;
    case 6:
        for (int n = 0; n < 100; n++) {
            at = q[at % 2048] + tid / 32; // HOT time
            for (int i = 0; i < 8; i++) x[i] = fmaf(x[i], 0.5f, 1.0f);
        }
        break;
    }
    for (int i = 0; i < 8; i++) sum += __float_as_uint(x[i]) + __float_as_uint(d[i / 4][i % 4]);
    for (int i = 0; i < 8; i++) sum += __float_as_uint(d[2 + i / 4][i % 4]);
    ((uint32_t *)args.o)[2048 * blockIdx.x + tid] = sum + at;
}
