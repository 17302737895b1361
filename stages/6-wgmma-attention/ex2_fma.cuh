/* 2^x without the MUFU: an experiment (README), off unless EXP_FMA is set.
 *
 * x is clamped to [-112, 16] by way of y = (x + 112) / 128 in [0, 1], for which the multiply-add
 * saturates for free, and cut into a whole number and a rest in [-1/2, 1/2]. 2^rest is a polynomial
 * of degree 3 with relative error 7.5e-5, where rounding P to fp16 costs up to 4.9e-4; the whole
 * number is added to its exponent. 7 FMA-pipe operations and a shift-add for one of the MUFU.
 *
 * Needs nothing from other files. */
#pragma once

static __device__ __forceinline__ float ex2_fma(float x) {
    const float round =
        12582912; // 1.5 * 2^23: adding it rounds to a whole number, kept in the low bits
    float y = __saturatef(fmaf(x, 1.0f / 128, 0.875f));
    float whole = fmaf(y, 128, round - 112);
    float rest = fmaf(y, 128, (round - 112) - whole);
    float p = fmaf(rest, 0.05517167f, 0.24261112f);
    p = fmaf(p, rest, 0.69326099f);
    p = fmaf(p, rest, 0.99992807f);
    return __uint_as_float(__float_as_uint(p) + (__float_as_uint(whole) << 23));
}
