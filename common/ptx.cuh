/* One PTX instruction = one tiny function, named after the instruction. Why an instruction is used
 * is said where it is used, in the stages. */
#pragma once

#include <stdint.h>

/* 2^x, relative error 2^-22, one MUFU operation; 2^-inf = +0. */
static __device__ __forceinline__ float ex2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* log2(x), absolute error 2^-22 near 1, relative elsewhere; log2(0) = -inf. */
static __device__ __forceinline__ float lg2(float x) {
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

static __device__ __forceinline__ uint32_t smem_address(const void *smem) {
    return (uint32_t)__cvta_generic_to_shared(smem);
}

/* Starts a copy of 16 bytes from global to shared memory, past the registers and L1; the last
 * 16 - n_bytes of them are zeros and are not read. */
static __device__ __forceinline__ void cp_async_16(void *smem, const void *gmem, int n_bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(smem_address(smem)),
                 "l"(gmem), "r"(n_bytes)
                 : "memory");
}

/* Closes a group: all copies that this thread started since the last one. */
static __device__ __forceinline__ void cp_async_commit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits until at most n of this thread's groups are still under way. */
template <int n> static __device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}
