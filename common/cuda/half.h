/* IEEE binary16 on the host: conversions, each correctly rounded (to nearest, ties to even).
 *
 *   bit   15   14..10     9..0
 *        sign  exponent  mantissa     largest finite 65504, smallest normal 2^-14, smallest 2^-24
 *
 * Each is one instruction: F16C, which -march=x86-64-v3 promises, or fcvt of aarch64. */
#pragma once

#include "attention_args.h"
#include "vector.h"

#include <stdbool.h>
#include <string.h>

#define HALF_MAX        65504.0
#define HALF_MIN_NORMAL 0x1p-14

/* Exact; a NaN stays one. */
static inline float half_to_float(half h) { return float_of_half(h); }

static inline half half_from_float(float x) { return half_of_float(x); }

/* Double to float by round-to-odd, which keeps what a second rounding must know: an even float that is
 * not exact takes a step towards x. No branch: it would go either way. */
static inline float float_round_to_odd(double x) {
    float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    const double back = f;
    const int up = (back < x) - (back > x); /* 0 for a NaN */
    const int away = (int32_t)bits < 0 ? -up : up;
    bits += (uint32_t)(away & -(int)(~bits & 1));
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Rounds once. */
static inline half half_from_double(double x) { return half_from_float(float_round_to_odd(x)); }

static inline bool half_is_finite(half h) { return (h & 0x7c00) != 0x7c00; }
static inline bool half_is_nan(half h) { return (h & 0x7fff) > 0x7c00; }
