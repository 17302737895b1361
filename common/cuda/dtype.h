/* The 16-bit types of Q, K, V and O on the host. `half` holds the bits of either.
 *
 *   fp16   1 sign, 5 exponent, 10 mantissa bits (half.h)
 *   bf16   1 sign, 8 exponent,  7 mantissa bits: the upper half of an fp32
 *
 * Each conversion rounds once, to nearest, ties to even. */
#pragma once

#include "half.h"

enum dtype { DTYPE_FP16, DTYPE_BF16 };

/* "fp16" or "bf16". */
static inline const char *dtype_name(enum dtype t) { return t == DTYPE_BF16 ? "bf16" : "fp16"; }

/* Exact. */
static inline float dtype_to_float(enum dtype t, half h) {
    if (t == DTYPE_FP16) return half_to_float(h);
    uint32_t bits = (uint32_t)h << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline half dtype_from_float(enum dtype t, float x) {
    if (t == DTYPE_FP16) return half_from_float(x);
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (x != x) return (half)(bits >> 16 | 0x40); /* a quiet NaN */
    return (half)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline half dtype_from_double(enum dtype t, double x) {
    return t == DTYPE_FP16 ? half_from_double(x) : dtype_from_float(t, float_round_to_odd(x));
}

static inline bool dtype_is_finite(enum dtype t, half h) {
    const int exponent = t == DTYPE_BF16 ? 0x7f80 : 0x7c00;
    return (h & exponent) != exponent;
}

/* The smallest normal number. */
static inline double dtype_min_normal(enum dtype t) {
    return t == DTYPE_BF16 ? 0x1p-126 : HALF_MIN_NORMAL;
}

/* The largest relative error of rounding a normal number. */
static inline double dtype_unit_roundoff(enum dtype t) {
    return t == DTYPE_BF16 ? 0x1p-8 : 0x1p-11;
}
