/* Division by a number that the host knows, as one product: a CTA's first act is to find its tile,
 * and five divisions one after the other would be a quarter of a microsecond. */
#pragma once

#include <stdint.h>

#ifdef __CUDACC__
#define DIVISOR_FN static __host__ __device__ __forceinline__
#else
#define DIVISOR_FN static inline
#endif

/* multiplier = ceil(2^shift / d), shift = 31 + ceil(log2(d)). It exceeds
 * 2^shift / d by less than 1, so x * multiplier exceeds x * 2^shift / d
 * by less than x < 2^31 <= 2^shift / d: never a whole quotient. */
struct divisor {
    uint32_t d, multiplier, shift;
};

/* 1 <= d <= 2^31 */
static inline struct divisor divisor_of(uint32_t d) {
    struct divisor by = {d, 0, 31};
    while (1ull << (by.shift - 31) < d) by.shift++;
    by.multiplier = (uint32_t)(((1ull << by.shift) + d - 1) / d);
    return by;
}

/* x / by.d for x < 2^31 */
DIVISOR_FN uint32_t divided(uint32_t x, struct divisor by) {
    return (uint32_t)((uint64_t)x * by.multiplier >> by.shift);
}
