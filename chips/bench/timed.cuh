/* Shared by the compiled microbenchmarks that build/calibrate runs. Each kernel is
 *
 *     kernel(uint64_t *out, char *data, int a, int b, int c, int d)
 *
 * and leaves up to 16 numbers per CTA at out + 16 blockIdx.x; chips/calibrate.c says what a to d
 * are, launches, and takes medians. */
#pragma once

#include "common/cuda/ptx.cuh"
#include "common/cuda/ptx_sm90.cuh"

#include <stdint.h>

#define BENCH     extern "C" __global__ void
#define ARGUMENTS uint64_t *out, char *data, int a, int b, int c, int d
#define PTX       static __device__ __forceinline__

PTX uint64_t cycles() {
    uint64_t t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
    return t;
}

PTX uint64_t nanoseconds() {
    uint64_t t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    return t;
}

PTX uint32_t sm_number() {
    uint32_t n;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(n));
    return n;
}

PTX void wait_for(uint32_t barrier, uint32_t parity) {
    while (!mbarrier_try_wait_parity(barrier, parity))
        ;
}
