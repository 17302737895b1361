/* What tensor cores multiply in place of their operands, to see by value whether an answer depends on their
 * products. Each change is an exact one: sums, roundings and branches are those of a run whose inputs were changed.
 *
 *     EMU_SPOIL_DOUBLED      2 a for each element a of A
 *     EMU_SPOIL_BELOW_ZERO   2 x for each x < 0 of A and B
 *     EMU_SPOIL_DRAWN        2 x, -x, -2 x or 4 x for each x < 0 of A and B: drawn by the first bits of its mantissa */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum emu_spoilt { EMU_SPOIL_NOTHING, EMU_SPOIL_DOUBLED, EMU_SPOIL_BELOW_ZERO, EMU_SPOIL_DRAWN };

struct emu_spoil {
    enum emu_spoilt how;
    uint64_t seed; /* of EMU_SPOIL_DRAWN */
};

/* 2 x of a number with so many bits of mantissa and in all; infinities, NaNs, and what would become one, stay. */
static inline uint32_t emu_spoil_twice(uint32_t x, int mantissa, int bits) {
    const uint32_t sign = 1u << (bits - 1), size = x & (sign - 1), one = 1u << mantissa;
    if (size < one) return (x & sign) | size << 1; /* a subnormal one */
    return size + 2 * one >= sign ? x : x + one;
}

/* An element of A or B, as its bits. */
static inline uint32_t emu_spoil_element(const struct emu_spoil *s, uint32_t x, bool is_a,
                                         int mantissa, int bits) {
    const uint32_t sign = 1u << (bits - 1), size = x & (sign - 1);
    if (s->how == EMU_SPOIL_DOUBLED) return is_a ? emu_spoil_twice(x, mantissa, bits) : x;
    if (!(x & sign) || !size || s->how == EMU_SPOIL_NOTHING) return x;
    uint32_t twice = emu_spoil_twice(x, mantissa, bits);
    if (s->how == EMU_SPOIL_BELOW_ZERO) return twice;
    switch (s->seed >> 2 * (x >> (mantissa - 3) & 7) & 3) {
    case 0:
        return twice;
    case 1:
        return x & ~sign;
    case 2:
        return twice & ~sign;
    default:
        return emu_spoil_twice(twice, mantissa, bits);
    }
}

static inline uint16_t emu_spoil_half(const struct emu_spoil *s, uint16_t x, bool is_a) {
    return (uint16_t)emu_spoil_element(s, x, is_a, 10, 16);
}
