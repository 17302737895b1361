// mbarrier_try_wait_parity that stops the kernel where the parity is neither 0 nor 1. cuda.py includes it before a file with
// ptx_sm90.cuh; the instruction takes the last bit, so a wrong number would pass unseen.
#pragma once
#include "common/cuda/ptx_sm90.cuh"

static __device__ __forceinline__ bool checked_try_wait_parity(uint32_t barrier, uint32_t parity) {
    if (parity > 1) __trap();
    return mbarrier_try_wait_parity(barrier, parity);
}

#define mbarrier_try_wait_parity checked_try_wait_parity
