/* One PTX instruction = one tiny function, named after the instruction. Why an instruction is used
 * is said where it is used, in the stages. */
#pragma once

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
