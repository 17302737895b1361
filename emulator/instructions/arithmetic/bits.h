/* Fields of bits and bytes as both front ends have them: PTX (integer.c) and SASS (sass/int.c). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Four bytes of a and b by a selector. mode 0: four bits of it for each byte, of which the highest means its sign; 1 to 6: f4e,
 * b4e, rc8, ecl, ecr, rc16, where two bits choose among four selectors (PTX ISA, prmt). */
static inline uint32_t permuted(uint32_t a, uint32_t b, uint32_t selector, int mode) {
    static const uint16_t modes[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
        {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
        {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t d = 0;
    if (mode) selector = modes[mode - 1][selector & 3];
    for (int k = 0; k < 4; k++) {
        const uint32_t s = selector >> 4 * k & 15;
        uint32_t byte = (uint32_t)(bytes >> 8 * (s & 7)) & 0xff;
        if (s & 8) byte = byte & 0x80 ? 0xff : 0;
        d |= byte << 8 * k;
    }
    return d;
}

/* A number of bits: its last five bits, or 32 at most. */
static inline uint32_t width_of(uint32_t n, bool wraps) { return wraps ? n & 31 : n < 32 ? n : 32; }

static inline uint32_t ones(uint32_t n) { return (uint32_t)(((uint64_t)1 << n) - 1); }

/* n ones from a bit on. */
static inline uint32_t ones_from(uint32_t bit, uint32_t n) {
    return (uint32_t)((uint64_t)ones(n) << bit);
}

/* The last n bits of a, as a number with or without a sign. */
static inline uint32_t extended(uint32_t a, uint32_t n, bool is_signed) {
    return is_signed && n && a >> (n - 1) & 1 ? a | ~ones(n) : a & ones(n);
}

/* The nearest number of 8 or 16 bits. */
static inline int32_t narrowed(int32_t v, int bits, bool is_signed) {
    const int32_t most = (1 << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
    return v < least ? least : v > most ? most : v;
}

/* a above b, each narrowed, and above both what is left of c. */
static inline uint32_t packed(int32_t a, int32_t b, uint32_t c, int bits, bool is_signed) {
    const uint32_t field = ones((uint32_t)bits);
    return (uint32_t)((uint64_t)c << 2 * bits) |
           ((uint32_t)narrowed(a, bits, is_signed) & field) << bits |
           ((uint32_t)narrowed(b, bits, is_signed) & field);
}
