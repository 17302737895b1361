/* fp32 with .ftz, as both front ends have it: PTX (real.c) and SASS (sass/float.c). Operands that are subnormal count
 * as 0. A result becomes 0 if it is smaller than the least normal number once it is rounded to 24 bits, whatever its
 * exponent: 2^-126 - 2^-152 is rounded to 2^-126, which stays. To see that, the operation is repeated with all numbers
 * 2^64 times as large, where nothing is subnormal. Where this overflows, the result itself is far from subnormal. */
#pragma once

#include "emulator/instructions/lanes.h"

#include <math.h>

static inline float flush_result(float result, float enlarged) {
    return fabsf(enlarged) < 0x1p-62f ? copysignf(0, enlarged) : result;
}
/* A sum that is subnormal is exact. */
static inline float add_ftz(float a, float b) { return flush(flush(a) + flush(b)); }
static inline float mul_ftz(float a, float b) {
    a = flush(a), b = flush(b);
    return flush_result(a * b, a * 0x1p64f * b);
}
static inline float fma_ftz(float a, float b, float c) {
    a = flush(a), b = flush(b), c = flush(c);
    return flush_result(__builtin_fmaf(a, b, c), __builtin_fmaf(a * 0x1p64f, b, c * 0x1p64f));
}
static inline float div_ftz(float a, float b) {
    a = flush(a), b = flush(b);
    return flush_result(a / b, a * 0x1p64f / b);
}
