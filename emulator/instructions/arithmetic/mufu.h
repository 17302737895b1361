/* Special functions as both front ends have them: PTX (real.c) and SASS (sass/float.c). */
#pragma once

#include <stdint.h>
#include <string.h>

/* 2^x, correctly rounded but for about one argument in 10^5: x = n + f, |f| <= 1/2, and 2^f by
 * its Taylor series in double up to f^10 (remainder below 2^-38). The exponent is added in
 * double, so that results in fp32's subnormal range round once. */
static inline double exp2_double(double x) {
    x = x > 1024 ? 1024 : x < -1022 ? -1022 : x; /* both far outside fp32; a NaN stays */
    double shifted = x + 0x1.8p52;
    int64_t n;
    memcpy(&n, &shifted, 8);
    double f = x - (shifted - 0x1.8p52), p = 7.054911620801123e-9;
    p = __builtin_fma(p, f, 1.0178086009239699e-7);
    p = __builtin_fma(p, f, 1.3215486790144309e-6);
    p = __builtin_fma(p, f, 1.5252733804059841e-5);
    p = __builtin_fma(p, f, 1.5403530393381608e-4);
    p = __builtin_fma(p, f, 1.3333558146428443e-3);
    p = __builtin_fma(p, f, 9.618129107628477e-3);
    p = __builtin_fma(p, f, 5.5504108664821580e-2);
    p = __builtin_fma(p, f, 2.4022650695910072e-1);
    p = __builtin_fma(p, f, 6.9314718055994531e-1);
    p = __builtin_fma(p, f, 1.0);
    int64_t bits;
    memcpy(&bits, &p, 8);
    bits += (int64_t)((uint64_t)n << 52);
    memcpy(&p, &bits, 8);
    return p;
}
/* An fp64 operation that is invalid, as infinity - infinity, gives this NaN, whose sign differs between processors. */
static inline double invalid_f64(double result, double a, double b, double c) {
    return result != result && a == a && b == b && c == c ? -__builtin_nan("") : result;
}
static inline float exp2_f32(float x) {
    double y = exp2_double(x);
    return x != x ? x : (float)y;
}
