/* Integer and bit instructions. 16-bit values live zero-extended in 32-bit lanes. */
#include "bits.h"
#include "emulator/instructions/handlers.h"
#include "emulator/instructions/lanes.h"

#include <string.h>

/* ---- Handlers by operation and type ---------------------------------------------------------- */

#define s16(x) ((int32_t)(int16_t)(x))
#define ARITHMETIC(T, t)                                                                           \
    static BINARY(add_##t, T, a[l] + b[l]);                                                        \
    static BINARY(sub_##t, T, a[l] - b[l]);                                                        \
    static BINARY(mul_##t, T, a[l] * b[l]);                                                        \
    static TERNARY(mad_##t, T, a[l] * b[l] + c[l]);                                                \
    static BINARY(and_##t, T, a[l] & b[l]);                                                        \
    static BINARY(or_##t, T, a[l] | b[l]);                                                         \
    static BINARY(xor_##t, T, a[l] ^ b[l]);                                                        \
    static UNARY(not_##t, T, ~a[l]);                                                               \
    static UNARY(neg_##t, T, -a[l]);                                                               \
    static UNARY(cnot_##t, T, a[l] == 0)
ARITHMETIC(uint32_t, u32);
ARITHMETIC(uint64_t, u64);

#define ORDERED(T, t)                                                                              \
    static BINARY(min_##t, T, a[l] < b[l] ? a[l] : b[l]);                                          \
    static BINARY(max_##t, T, a[l] > b[l] ? a[l] : b[l])
ORDERED(int32_t, s32);
ORDERED(uint32_t, u32);
ORDERED(int64_t, s64);
ORDERED(uint64_t, u64);

static UNARY(abs_s32, uint32_t, (int32_t)a[l] < 0 ? -a[l] : a[l]);
static UNARY(abs_s64, uint64_t, (int64_t)a[l] < 0 ? -a[l] : a[l]);

static BINARY(add_u16, uint32_t, (a[l] + b[l]) & 0xffff);
static BINARY(sub_u16, uint32_t, (a[l] - b[l]) & 0xffff);
static BINARY(mul_u16, uint32_t, (a[l] * b[l]) & 0xffff);
static TERNARY(mad_u16, uint32_t, (a[l] * b[l] + c[l]) & 0xffff);
static UNARY(not_u16, uint32_t, ~a[l] & 0xffff);
static UNARY(neg_u16, uint32_t, -a[l] & 0xffff);
static UNARY(abs_s16, uint32_t, (s16(a[l]) < 0 ? -a[l] : a[l]) & 0xffff);
static BINARY(min_s16, uint32_t, s16(a[l]) < s16(b[l]) ? a[l] : b[l]);
static BINARY(max_s16, uint32_t, s16(a[l]) > s16(b[l]) ? a[l] : b[l]);

static BINARY(mulhi_u32, uint32_t, (uint32_t)((uint64_t)a[l] * b[l] >> 32));
static BINARY(mulhi_s32, int32_t, (int32_t)((int64_t)a[l] * b[l] >> 32));
static BINARY(mulhi_u64, uint64_t, (uint64_t)((unsigned __int128)a[l] * b[l] >> 64));
static BINARY(mulhi_s64, int64_t, (int64_t)((__int128)a[l] * b[l] >> 64));
static TERNARY(madhi_u32, uint32_t, (uint32_t)((uint64_t)a[l] * b[l] >> 32) + c[l]);
static TERNARY(madhi_s32, int32_t,
               (int32_t)((uint32_t)((int64_t)a[l] * b[l] >> 32) + (uint32_t)c[l]));
static BINARY(mulhi_u16, uint32_t, a[l] * b[l] >> 16);
static BINARY(mulhi_s16, uint32_t, (uint32_t)(s16(a[l]) * s16(b[l])) >> 16);
static TERNARY(madhi_u16, uint32_t, ((a[l] * b[l] >> 16) + c[l]) & 0xffff);
static TERNARY(madhi_s16, uint32_t, (((uint32_t)(s16(a[l]) * s16(b[l])) >> 16) + c[l]) & 0xffff);
static TERNARY(madhi_u64, uint64_t, (uint64_t)((unsigned __int128)a[l] * b[l] >> 64) + c[l]);
static TERNARY(madhi_s64, uint64_t,
               (uint64_t)((__int128)(int64_t)a[l] * (int64_t)b[l] >> 64) + c[l]);
static TERNARY(sad_u32, uint32_t, c[l] + (a[l] > b[l] ? a[l] - b[l] : b[l] - a[l]));
static TERNARY(sad_s32, int32_t,
               (int32_t)((uint32_t)c[l] + (a[l] > b[l] ? (uint32_t)a[l] - (uint32_t)b[l]
                                                       : (uint32_t)b[l] - (uint32_t)a[l])));

/* Division by zero gives all ones, and the lowest number over -1 itself, as on a GPU. */
static int64_t div_signed(int64_t a, int64_t b) {
    return b == 0 ? -1 : b == -1 ? (int64_t) - (uint64_t)a : a / b;
}
static int64_t rem_signed(int64_t a, int64_t b) { return b == 0 ? a : b == -1 ? 0 : a % b; }
#define s24(x) ((int32_t)((uint32_t)(x) << 8) >> 8)
static BINARY(mul24_u32, uint32_t, (a[l] & 0xffffff) * (b[l] & 0xffffff));
static BINARY(mul24_s32, uint32_t, (uint32_t)s24(a[l]) * (uint32_t)s24(b[l]));
static TERNARY(mad24_u32, uint32_t, (a[l] & 0xffffff) * (b[l] & 0xffffff) + c[l]);
static TERNARY(mad24_s32, uint32_t, (uint32_t)s24(a[l]) * (uint32_t)s24(b[l]) + c[l]);
static BINARY(div_u32, uint32_t, b[l] ? a[l] / b[l] : EMU_FULL);
static BINARY(div_s32, int32_t, (int32_t)div_signed(a[l], b[l]));
static BINARY(div_u64, uint64_t, b[l] ? a[l] / b[l] : UINT64_MAX);
static BINARY(div_s64, int64_t, div_signed(a[l], b[l]));
static BINARY(rem_u32, uint32_t, b[l] ? a[l] % b[l] : a[l]);
static BINARY(rem_s32, int32_t, (int32_t)rem_signed(a[l], b[l]));
static BINARY(rem_u64, uint64_t, b[l] ? a[l] % b[l] : a[l]);
static BINARY(rem_s64, int64_t, rem_signed(a[l], b[l]));
static BINARY(div_u16, uint32_t, b[l] ? a[l] / b[l] : 0xffff);
static BINARY(rem_u16, uint32_t, b[l] ? a[l] % b[l] : a[l]);
static BINARY(div_s16, uint32_t, (uint32_t)div_signed(s16(a[l]), s16(b[l])) & 0xffff);
static BINARY(rem_s16, uint32_t, (uint32_t)rem_signed(s16(a[l]), s16(b[l])) & 0xffff);

/* mul.wide, mad.wide: the destination has twice the width. */
#define WIDE(name, D, T, expr)                                                                     \
    static enum emu_step name(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {       \
        D *d = ROW(D, 0);                                                                          \
        const T *a = ROW(T, 1), *b = ROW(T, 2);                                                    \
        EACH(expr);                                                                                \
        return EMU_NEXT;                                                                           \
    }
WIDE(mulwide_s32, int64_t, int32_t, (int64_t)a[l] * b[l])
WIDE(mulwide_u32, uint64_t, uint32_t, (uint64_t)a[l] * b[l])
WIDE(mulwide_s16, int32_t, uint32_t, s16(a[l]) * s16(b[l]))
#define MADWIDE(name, D, T, expr)                                                                  \
    static enum emu_step name(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {       \
        D *d = ROW(D, 0);                                                                          \
        const T *a = ROW(T, 1), *b = ROW(T, 2);                                                    \
        const D *c = ROW(D, 3);                                                                    \
        EACH(expr);                                                                                \
        return EMU_NEXT;                                                                           \
    }
MADWIDE(madwide_s32, uint64_t, int32_t, (uint64_t)((int64_t)a[l] * b[l]) + c[l])
MADWIDE(madwide_u32, uint64_t, uint32_t, (uint64_t)a[l] * b[l] + c[l])
MADWIDE(madwide_s16, uint32_t, uint32_t, (uint32_t)(s16(a[l]) * s16(b[l])) + c[l])

/* Shift counts are 32-bit and saturate at the width. */
#define SHIFT(name, T, expr)                                                                       \
    static enum emu_step name(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {       \
        T *d = ROW(T, 0);                                                                          \
        const T *a = ROW(T, 1);                                                                    \
        const uint32_t *n = ROW(uint32_t, 2);                                                      \
        EACH(expr);                                                                                \
        return EMU_NEXT;                                                                           \
    }
SHIFT(shl_32, uint32_t, n[l] > 31 ? 0 : a[l] << (n[l] & 31))
SHIFT(shl_64, uint64_t, n[l] > 63 ? 0 : a[l] << (n[l] & 63))
SHIFT(shl_16, uint32_t, n[l] > 15 ? 0 : a[l] << (n[l] & 15) & 0xffff)
SHIFT(shr_u32, uint32_t, n[l] > 31 ? 0 : a[l] >> (n[l] & 31))
SHIFT(shr_s32, int32_t, a[l] >> (n[l] > 31 ? 31 : n[l]))
SHIFT(shr_u64, uint64_t, n[l] > 63 ? 0 : a[l] >> (n[l] & 63))
SHIFT(shr_s64, int64_t, a[l] >> (n[l] > 63 ? 63 : n[l]))
SHIFT(shr_u16, uint32_t, n[l] > 15 ? 0 : a[l] >> (n[l] & 15))
SHIFT(shr_s16, uint32_t, (uint32_t)(s16(a[l]) >> (n[l] > 15 ? 15 : n[l])) & 0xffff)

/* ---- Selectors ------------------------------------------------------------------------------- */

enum { T32U, T32S, T64U, T64S, T16U, T16S, T_COUNT };

static int integer_kind(const struct emu_inst *i) {
    switch (i->type[i->n_types - 1]) {
    case EMU_B32:
    case EMU_U32:
        return T32U;
    case EMU_S32:
        return T32S;
    case EMU_B64:
    case EMU_U64:
        return T64U;
    case EMU_S64:
        return T64S;
    case EMU_B16:
    case EMU_U16:
        return T16U;
    case EMU_S16:
        return T16S;
    default:
        return -1;
    }
}

/* Which way round the handlers below are listed: unsigned and signed 32, 64, 16. */
static const struct {
    const char *head;
    emu_handler *handler[T_COUNT];
} table[] = {
    {"add", {add_u32, add_u32, add_u64, add_u64, add_u16, add_u16}},
    {"sub", {sub_u32, sub_u32, sub_u64, sub_u64, sub_u16, sub_u16}},
    {"mul.lo", {mul_u32, mul_u32, mul_u64, mul_u64, mul_u16, mul_u16}},
    {"mul24.lo", {mul24_u32, mul24_s32}},
    {"mul.hi", {mulhi_u32, mulhi_s32, mulhi_u64, mulhi_s64, mulhi_u16, mulhi_s16}},
    {"mul.wide", {mulwide_u32, mulwide_s32, NULL, NULL, mul_u32, mulwide_s16}},
    {"mad.lo", {mad_u32, mad_u32, mad_u64, mad_u64, mad_u16, mad_u16}},
    {"mad24.lo", {mad24_u32, mad24_s32}},
    {"mad.hi", {madhi_u32, madhi_s32, madhi_u64, madhi_s64, madhi_u16, madhi_s16}},
    {"mad.wide", {madwide_u32, madwide_s32, NULL, NULL, mad_u32, madwide_s16}},
    {"sad", {sad_u32, sad_s32}},
    {"div", {div_u32, div_s32, div_u64, div_s64, div_u16, div_s16}},
    {"rem", {rem_u32, rem_s32, rem_u64, rem_s64, rem_u16, rem_s16}},
    {"min", {min_u32, min_s32, min_u64, min_s64, min_u32, min_s16}},
    {"max", {max_u32, max_s32, max_u64, max_s64, max_u32, max_s16}},
    {"abs", {NULL, abs_s32, NULL, abs_s64, NULL, abs_s16}},
    {"neg", {neg_u32, neg_u32, neg_u64, neg_u64, neg_u16, neg_u16}},
    {"and", {and_u32, and_u32, and_u64, and_u64, and_u32, and_u32}},
    {"or", {or_u32, or_u32, or_u64, or_u64, or_u32, or_u32}},
    {"xor", {xor_u32, xor_u32, xor_u64, xor_u64, xor_u32, xor_u32}},
    {"not", {not_u32, not_u32, not_u64, not_u64, not_u16, not_u16}},
    {"cnot", {cnot_u32, cnot_u32, cnot_u64, cnot_u64, cnot_u32, cnot_u32}},
    {"shl", {shl_32, shl_32, shl_64, shl_64, shl_16, shl_16}},
    {"shr", {shr_u32, shr_s32, shr_u64, shr_s64, shr_u16, shr_s16}},
};

emu_handler *emu_select_integer(struct emu_inst *i, const char **why) {
    (void)why;
    int kind = integer_kind(i);
    for (size_t t = 0; t < sizeof table / sizeof *table && kind >= 0; t++) {
        size_t n = strlen(table[t].head);
        if (!strncmp(i->opcode, table[t].head, n) && i->opcode[n] == '.')
            return table[t].handler[kind];
    }
    return NULL;
}

/* ---- Bits ------------------------------------------------------------------------------------ */

static uint64_t bfe(uint64_t a, uint32_t pos, uint32_t len, int width, bool is_signed) {
    pos &= 0xff, len &= 0xff;
    uint32_t msb = (uint32_t)width - 1;
    uint32_t sign_at = pos + len - 1 < msb ? pos + len - 1 : msb;
    uint64_t sign = !is_signed || len == 0 ? 0 : a >> sign_at & 1;
    uint64_t d = sign ? UINT64_MAX : 0;
    for (uint32_t k = 0; k < len && k <= msb; k++) {
        uint64_t bit = pos + k <= msb ? a >> (pos + k) & 1 : sign;
        d = (d & ~((uint64_t)1 << k)) | bit << k;
    }
    return d;
}

static uint64_t bfi(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, uint32_t width) {
    pos &= 0xff, len &= 0xff;
    if (pos >= width || len == 0) return b;
    uint64_t field = (len >= 64 ? UINT64_MAX : ((uint64_t)1 << len) - 1) << pos;
    return (b & ~field) | ((a << pos) & field);
}

enum emu_step emu_bfe(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const uint32_t *pos = ROW(uint32_t, 2), *len = ROW(uint32_t, 3);
    enum emu_type t = i->type[0];
    bool is_signed = t == EMU_S32 || t == EMU_S64;
    EMU_EACH_LANE(l, mask) {
        if (t == EMU_U64 || t == EMU_S64)
            ROW(uint64_t, 0)[l] = bfe(ROW(uint64_t, 1)[l], pos[l], len[l], 64, is_signed);
        else
            ROW(uint32_t, 0)[l] = (uint32_t)bfe(ROW(uint32_t, 1)[l], pos[l], len[l], 32, is_signed);
    }
    return EMU_NEXT;
}

enum emu_step emu_bfi(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const uint32_t *pos = ROW(uint32_t, 3), *len = ROW(uint32_t, 4);
    EMU_EACH_LANE(l, mask) {
        if (i->type[0] == EMU_B64)
            ROW(uint64_t, 0)[l] = bfi(ROW(uint64_t, 1)[l], ROW(uint64_t, 2)[l], pos[l], len[l], 64);
        else
            ROW(uint32_t, 0)
        [l] = (uint32_t)bfi(ROW(uint32_t, 1)[l], ROW(uint32_t, 2)[l], pos[l], len[l], 32);
    }
    return EMU_NEXT;
}

enum emu_step emu_bmsk(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const bool wraps = emu_has(i, "wrap");
    const uint32_t *a = ROW(uint32_t, 1), *b = ROW(uint32_t, 2);
    uint32_t *d = ROW(uint32_t, 0);
    EACH(ones_from(width_of(a[l], wraps), width_of(b[l], wraps)));
    return EMU_NEXT;
}

enum emu_step emu_szext(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const bool wraps = emu_has(i, "wrap"), is_signed = emu_has(i, "s32");
    const uint32_t *a = ROW(uint32_t, 1), *b = ROW(uint32_t, 2);
    uint32_t *d = ROW(uint32_t, 0);
    EACH(extended(a[l], width_of(b[l], wraps), is_signed));
    return EMU_NEXT;
}

enum emu_step emu_cvt_pack(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const bool bytes = emu_has(i, "b32"), is_signed = emu_has(i, "s16") || emu_has(i, "s8");
    const int32_t *a = ROW(int32_t, 1), *b = ROW(int32_t, 2);
    const uint32_t *c = bytes ? ROW(uint32_t, 3) : NULL;
    uint32_t *d = ROW(uint32_t, 0);
    EACH(packed(a[l], b[l], c ? c[l] : 0, bytes ? 8 : 16, is_signed));
    return EMU_NEXT;
}

static enum emu_step permute(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t *d = ROW(uint32_t, 0);
    const uint32_t *a = ROW(uint32_t, 1), *b = ROW(uint32_t, 2), *c = ROW(uint32_t, 3);
    EACH(permuted(a[l], b[l], c[l], i->aux[0]));
    return EMU_NEXT;
}
emu_handler *emu_select_prmt(struct emu_inst *i, const char **why) {
    static const char *const names[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    (void)why;
    for (int m = 0; m < 6; m++)
        if (emu_has(i, names[m])) i->aux[0] = m + 1;
    return permute;
}

static TERNARY(shf_l_wrap, uint32_t,
               (uint32_t)(((uint64_t)b[l] << 32 | a[l]) << (c[l] & 31) >> 32));
static TERNARY(shf_r_wrap, uint32_t, (uint32_t)(((uint64_t)b[l] << 32 | a[l]) >> (c[l] & 31)));
static TERNARY(shf_l_clamp, uint32_t,
               c[l] >= 32 ? a[l] : (uint32_t)(((uint64_t)b[l] << 32 | a[l]) << (c[l] & 31) >> 32));
static TERNARY(shf_r_clamp, uint32_t,
               c[l] >= 32 ? b[l] : (uint32_t)(((uint64_t)b[l] << 32 | a[l]) >> (c[l] & 31)));
emu_handler *emu_select_shf(struct emu_inst *i, const char **why) {
    (void)why;
    bool left = emu_has(i, "l"), wrap = emu_has(i, "wrap");
    return left ? (wrap ? shf_l_wrap : shf_l_clamp) : (wrap ? shf_r_wrap : shf_r_clamp);
}

enum emu_step emu_lop3(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t table_bits = (uint32_t)i->op[4].imm;
    uint32_t *d = ROW(uint32_t, 0);
    const uint32_t *a = ROW(uint32_t, 1), *b = ROW(uint32_t, 2), *c = ROW(uint32_t, 3);
    for (int l = 0; l < EMU_LANES; l++) {
        uint32_t r = 0;
        for (int k = 0; k < 8; k++)
            if (table_bits >> k & 1)
                r |= (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) & (k & 1 ? c[l] : ~c[l]);
        if (mask >> l & 1) d[l] = r;
    }
    return EMU_NEXT;
}

static uint32_t bfind(uint64_t a, int width, bool is_signed) {
    if (is_signed && a >> (width - 1) & 1) a = ~a;
    if (width == 32) a &= EMU_FULL;
    return a ? 63 - (uint32_t)__builtin_clzll(a) : EMU_FULL;
}
static uint32_t reverse(uint32_t a) {
    uint32_t d = 0;
    for (int k = 0; k < 32; k++) d |= (a >> k & 1) << (31 - k);
    return d;
}
/* popc, clz, brev, bfind, fns of 32 and 64 bits: rare, so one lane at a time. */
enum emu_step emu_bits(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    bool wide = emu_type_bytes((enum emu_type)i->type[0]) == 8,
         is_signed = i->type[0] == EMU_S32 || i->type[0] == EMU_S64;
    EMU_EACH_LANE(l, mask) {
        uint64_t a = wide ? ROW(uint64_t, 1)[l] : ROW(uint32_t, 1)[l];
        int width = wide ? 64 : 32;
        uint32_t r = 0;
        switch (i->opcode[0] == 'b' ? i->opcode[1] : i->opcode[0]) {
        case 'p':
            r = (uint32_t)__builtin_popcountll(a);
            break;
        case 'c':
            r = a ? (uint32_t)(__builtin_clzll(a) - (64 - width)) : (uint32_t)width;
            break;
        case 'f':
            r = bfind(a, width, is_signed);
            if (emu_has(i, "shiftamt") && r != EMU_FULL) r = (uint32_t)width - 1 - r;
            break;
        default:
            if (wide) {
                ROW(uint64_t, 0)
                [l] = (uint64_t)reverse((uint32_t)a) << 32 | reverse((uint32_t)(a >> 32));
                continue;
            }
            r = reverse((uint32_t)a);
        }
        ROW(uint32_t, 0)[l] = r;
    }
    return EMU_NEXT;
}

/* dp4a: a dot product of four bytes. */
enum emu_step emu_dp4a(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    bool sa = i->type[0] == EMU_S32, sb = i->type[1] == EMU_S32;
    EMU_EACH_LANE(l, mask) {
        uint32_t a = ROW(uint32_t, 1)[l], b = ROW(uint32_t, 2)[l];
        int64_t sum = 0;
        for (int k = 0; k < 4; k++) {
            int32_t x = (int32_t)(a >> 8 * k & 0xff), y = (int32_t)(b >> 8 * k & 0xff);
            if (sa) x = (int8_t)x;
            if (sb) y = (int8_t)y;
            sum += x * y;
        }
        ROW(uint32_t, 0)[l] = ROW(uint32_t, 3)[l] + (uint32_t)sum;
    }
    return EMU_NEXT;
}

/* dp2a: of the halves of a and two bytes of b, the low or the high ones. */
enum emu_step emu_dp2a(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    bool sa = i->type[0] == EMU_S32, sb = i->type[1] == EMU_S32;
    int first = emu_has(i, "hi") ? 16 : 0;
    EMU_EACH_LANE(l, mask) {
        uint32_t a = ROW(uint32_t, 1)[l], b = ROW(uint32_t, 2)[l] >> first;
        int64_t sum = 0;
        for (int k = 0; k < 2; k++) {
            int64_t x = a >> 16 * k & 0xffff, y = b >> 8 * k & 0xff;
            if (sa) x = (int16_t)x;
            if (sb) y = (int8_t)y;
            sum += x * y;
        }
        ROW(uint32_t, 0)[l] = ROW(uint32_t, 3)[l] + (uint32_t)sum;
    }
    return EMU_NEXT;
}

/* ---- Pairs of 16-bit integers ---- */

#define HALVES(a, b, T, op)                                                                        \
    ((uint32_t)(uint16_t)op((T)(a), (T)(b)) |                                                      \
     (uint32_t)(uint16_t)op((T)((a) >> 16), (T)((b) >> 16)) << 16)
#define LESSER(x, y)  ((x) < (y) ? (x) : (y))
#define GREATER(x, y) ((x) > (y) ? (x) : (y))
#define SUM(x, y)     ((x) + (y))

static BINARY(min_u16x2, uint32_t, HALVES(a[l], b[l], uint16_t, LESSER));
static BINARY(max_u16x2, uint32_t, HALVES(a[l], b[l], uint16_t, GREATER));
static BINARY(min_s16x2, uint32_t, HALVES(a[l], b[l], int16_t, LESSER));
static BINARY(max_s16x2, uint32_t, HALVES(a[l], b[l], int16_t, GREATER));
static BINARY(add_16x2, uint32_t, HALVES(a[l], b[l], uint16_t, SUM));

emu_handler *emu_select_pair(struct emu_inst *i, const char **why) {
    bool is_signed = strstr(i->opcode, ".s16x2") != NULL;
    (void)why;
    if (!strncmp(i->opcode, "add", 3)) return add_16x2;
    if (!strncmp(i->opcode, "min", 3)) return is_signed ? min_s16x2 : min_u16x2;
    return is_signed ? max_s16x2 : max_u16x2;
}
