/* Lane loops: how a handler computes one row. */
#pragma once

#include "emulator/core/state.h"

#include <string.h>

#define ROW(T, n) ((T *)(void *)(w->rows + i->row[n]))

/* d[l] = expr for the lanes in mask. Rows are either the same or disjoint, so the loop is a
 * vector loop; the masked one computes all lanes and keeps the others. */
#define EACH(expr)                                                                                 \
    do {                                                                                           \
        if (__builtin_expect((mask | w->absent) == EMU_FULL, 1)) {                                 \
            _Pragma("GCC ivdep") for (int l = 0; l < EMU_LANES; l++) d[l] = (expr);                \
        } else {                                                                                   \
            _Pragma("GCC ivdep") for (int l = 0; l < EMU_LANES; l++) d[l] =                        \
                mask >> l & 1 ? (expr) : d[l];                                                     \
        }                                                                                          \
    } while (0)

#define UNARY(name, T, expr)                                                                       \
    enum emu_step name(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {              \
        T *d = ROW(T, 0);                                                                          \
        const T *a = ROW(T, 1);                                                                    \
        EACH(expr);                                                                                \
        return EMU_NEXT;                                                                           \
    }
#define BINARY(name, T, expr)                                                                      \
    enum emu_step name(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {              \
        T *d = ROW(T, 0);                                                                          \
        const T *a = ROW(T, 1), *b = ROW(T, 2);                                                    \
        EACH(expr);                                                                                \
        return EMU_NEXT;                                                                           \
    }
#define TERNARY(name, T, expr)                                                                     \
    enum emu_step name(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {              \
        T *d = ROW(T, 0);                                                                          \
        const T *a = ROW(T, 1), *b = ROW(T, 2), *c = ROW(T, 3);                                    \
        EACH(expr);                                                                                \
        return EMU_NEXT;                                                                           \
    }

static inline uint32_t float_bits(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
static inline float bits_float(uint32_t u) {
    float f;
    memcpy(&f, &u, 4);
    return f;
}

/* .ftz: a subnormal number becomes 0 of its sign. */
static inline float flush(float f) {
    uint32_t u = float_bits(f);
    return u & 0x7f800000 ? f : bits_float(u & 0x80000000);
}

/* The same of fp16 or bf16, as bits. */
static inline uint32_t flush_small(uint32_t x, bool is_bf16) {
    return x & (is_bf16 ? 0x7f80 : 0x7c00) ? x : x & 0x8000;
}

/* Writes the lanes in mask of predicate `row`. */
static inline void write_pred(struct emu_warp *w, uint32_t row, uint32_t mask, uint32_t value) {
    uint32_t *p = emu_mask(w, row);
    *p = (*p & ~mask) | (value & mask);
}

/* The value of predicate operand o: a register, perhaps negated, or a number. */
static inline uint32_t read_pred(const struct emu_warp *w, const struct emu_operand *o) {
    if (o->kind == EMU_OP_IMM) return o->imm ? EMU_FULL : 0;
    return *emu_mask(w, o->row) ^ (o->negated ? EMU_FULL : 0);
}
