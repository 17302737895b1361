/* One PTX instruction = one tiny function, named after the instruction. Why an instruction is used
 * is said where it is used, in the stages. */
#pragma once

#include <stdint.h>

/* The 16-bit type of Q, K, V, P and O: fp16, or bf16 in an image that is compiled with -DBF16, where `half`
 * only stands for 16 bits. */
#ifdef BF16
#define F16 "bf16"
constexpr uint32_t F16_ONE = 0x3F80, F16_256 = 0x4380; // 1 and 2^8
#else
#define F16 "f16"
constexpr uint32_t F16_ONE = 0x3C00, F16_256 = 0x5C00;
#endif

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
constexpr float LN_2 = 0.69314718f; /* log(x) = log2(x) * LN_2 */

/* The 32-bit address by which instructions name shared memory. */
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

/* Four 8x8 matrices of 16-bit elements from shared memory; lane i names row i % 8 of matrix i / 8, 16 bytes.
 * r[j] is elements 2 (i % 4) and 2 (i % 4) + 1 of row i / 4 of matrix j; with .trans, of
 * column i / 4. */
static __device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], uint32_t smem) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(smem)
                 : "memory");
}
static __device__ __forceinline__ void ldmatrix_x4_trans(uint32_t (&r)[4], uint32_t smem) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(smem)
                 : "memory");
}

/* d += a b: a 16x16 and b 16x8 of the 16-bit type, d 16x8 fp32; layouts: stages/4-tuned/kernel.cu. */
static __device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4],
                                                    uint32_t b0, uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." F16 "." F16 ".f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* Two floats to the 16-bit type, to nearest; lo in the low half. */
static __device__ __forceinline__ uint32_t cvt_f16x2(float lo, float hi) {
    uint32_t r;
    asm("cvt.rn." F16 "x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
    return r;
}

/* Waits until n_threads threads, whole warps, have come
 * to barrier `id` of the CTA (0: __syncthreads). */
static __device__ __forceinline__ void bar_sync(int id, int n_threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n_threads) : "memory");
}

/* Two floats to 8 neighbouring bytes, which nvcc does not always see to be aligned. */
static __device__ __forceinline__ void st_shared_v2(void *smem, float a, float b) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(smem_address(smem)), "f"(a), "f"(b)
                 : "memory");
}
