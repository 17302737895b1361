/* cvt: between all types. The frequent ones have lane loops; the rest goes by way of double or
 * int64. */
#include "emulator/instructions/handlers.h"
#include "emulator/instructions/lanes.h"

#include "common/cuda/half.h"

#include <fenv.h>
#include <math.h>

/* Every conversion gives the same NaN: 0x7fffffff, 0x7fff. */
static inline float canonical(float x) { return x != x ? bits_float(0x7fffffff) : x; }

/* ---- The frequent ones ----------------------------------------------------------------------- */

static enum emu_step f32_from_f16(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    float *d = ROW(float, 0);
    const uint32_t *a = ROW(uint32_t, 1);
    if (mask != EMU_FULL) {
        EMU_EACH_LANE(l, mask) d[l] = canonical(half_to_float((half)a[l]));
        return EMU_NEXT;
    }
    v8i any_nan = {0};
    for (int l = 0; l < EMU_LANES; l += 8) {
        v8f x = floats8(narrow8(load8(a + l)));
        any_nan |= x != x;
        memcpy(d + l, &x, sizeof x);
    }
    if (any8(any_nan)) EMU_EACH_LANE(l, mask) d[l] = canonical(d[l]);
    return EMU_NEXT;
}

static inline v8i halves_of(const float *a) {
    v8f x = (v8f)load8(a);
    return select8(x != x, all8(0x7fff), widen8(halves8(x)));
}
static enum emu_step f16_from_f32(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t *d = ROW(uint32_t, 0);
    const float *a = ROW(float, 1);
    _Alignas(32) uint32_t r[EMU_LANES];
    for (int l = 0; l < EMU_LANES; l += 8) store8(r + l, halves_of(a + l));
    EACH(r[l]);
    return EMU_NEXT;
}
/* cvt.rn.f16x2.f32 d, a, b: a becomes the upper half */
static enum emu_step f16x2_from_f32(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t *d = ROW(uint32_t, 0);
    const float *a = ROW(float, 1), *b = ROW(float, 2);
    _Alignas(32) uint32_t r[EMU_LANES];
    for (int l = 0; l < EMU_LANES; l += 8) store8(r + l, halves_of(a + l) << 16 | halves_of(b + l));
    EACH(r[l]);
    return EMU_NEXT;
}

static uint32_t bf16_rn(float f) {
    uint32_t u = float_bits(f);
    return f != f ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16;
}
static BINARY(bf16x2_from_f32, uint32_t,
              bf16_rn(bits_float(a[l])) << 16 | bf16_rn(bits_float(b[l])));
static UNARY(f32_from_bf16, uint32_t, a[l] << 16);
static UNARY(bf16_from_f32, uint32_t, bf16_rn(bits_float(a[l])));

#define CONVERT(name, D, T, expr)                                                                  \
    static enum emu_step name(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {       \
        D *d = ROW(D, 0);                                                                          \
        const T *a = ROW(T, 1);                                                                    \
        EACH(expr);                                                                                \
        return EMU_NEXT;                                                                           \
    }
CONVERT(s64_from_s32, int64_t, int32_t, a[l]);
CONVERT(u64_from_u32, uint64_t, uint32_t, a[l]);
CONVERT(u32_from_u64, uint32_t, uint64_t, (uint32_t)a[l]);
CONVERT(f32_from_s32, float, int32_t, (float)a[l]);

/* ---- The rest -------------------------------------------------------------------------------- */

enum { RN, RZ, RM, RP, RNA };
enum { SAT = 1, SATFINITE };

static bool is_real(enum emu_type t) {
    return t == EMU_F16 || t == EMU_BF16 || t == EMU_F32 || t == EMU_F64 || t == EMU_TF32;
}
static bool is_signed(enum emu_type t) {
    return t == EMU_S8 || t == EMU_S16 || t == EMU_S32 || t == EMU_S64;
}

/* e4m3 (bias 7, no infinity, 0x7f is NaN) and e5m2 (bias 15, IEEE). */
static float fp8_to_float(uint32_t b, bool e5m2) {
    if (e5m2) return half_to_float((half)(b << 8));
    uint32_t e = b >> 3 & 15, m = b & 7;
    float v = (b & 0x7f) == 0x7f ? NAN
              : e                ? ldexpf(1 + (float)m / 8, (int)e - 7)
                                 : ldexpf((float)m, -9);
    return b & 0x80 ? -v : v;
}
static uint32_t fp8_from_float(float f, bool e5m2) { /* satfinite, to nearest even */
    uint32_t sign = float_bits(f) >> 24 & 0x80;
    if (f != f) return 0x7f;
    float a = fabsf(f), max = e5m2 ? 57344.0f : 448.0f;
    if (a >= max) return sign | (e5m2 ? 0x7b : 0x7e);
    int bits = e5m2 ? 2 : 3, e_min = e5m2 ? -14 : -6, e = a > 0 ? ilogbf(a) : e_min;
    if (e < e_min) e = e_min;
    float scaled = nearbyintf(ldexpf(a, bits - e)); /* mantissa with its leading one */
    uint32_t m = (uint32_t)scaled, biased = (uint32_t)(e - e_min + 1);
    if (m < 1u << bits) return sign | m; /* subnormal */
    return sign | (((biased - 1) << bits) + m);
}

static double read_real(const struct emu_warp *w, const struct emu_inst *i, uint32_t l,
                        enum emu_type t) {
    switch (t) {
    case EMU_F16:
        return half_to_float((half)ROW(uint32_t, 1)[l]);
    case EMU_BF16:
        return bits_float(ROW(uint32_t, 1)[l] << 16);
    case EMU_F64:
        return ROW(double, 1)[l];
    default:
        return ROW(float, 1)[l];
    }
}

static int64_t read_integer(const struct emu_warp *w, const struct emu_inst *i, uint32_t l,
                            enum emu_type t) {
    int64_t x = i->op[1].wide ? (int64_t)ROW(uint64_t, 1)[l] : ROW(uint32_t, 1)[l];
    switch (t) {
    case EMU_S8:
        return (int8_t)x;
    case EMU_U8:
    case EMU_B8:
        return (uint8_t)x;
    case EMU_S16:
        return (int16_t)x;
    case EMU_U16:
    case EMU_B16:
        return (uint16_t)x;
    case EMU_S32:
        return (int32_t)x;
    case EMU_U32:
    case EMU_B32:
        return (uint32_t)x;
    default:
        return x;
    }
}

static double to_integral(double x, int rounding) {
    switch (rounding) {
    case RZ:
        return trunc(x);
    case RM:
        return floor(x);
    case RP:
        return ceil(x);
    default:
        return nearbyint(x);
    }
}

/* Out of range goes to the nearest end, NaN to 0 (64-bit: 2^63), as PTX says for cvt from
 * floats. */
static uint64_t saturate_real(double x, enum emu_type t) {
    unsigned bits = 8 * emu_type_bytes(t);
    if (x != x) return bits == 64 ? (uint64_t)INT64_MIN : 0;
    double top = ldexp(1, (int)bits - is_signed(t)), low = is_signed(t) ? -top : 0;
    if (x >= top)
        return is_signed(t) ? ((uint64_t)1 << (bits - 1)) - 1
               : bits == 64 ? UINT64_MAX
                            : ((uint64_t)1 << bits) - 1;
    if (x <= low) return is_signed(t) ? (uint64_t)1 << (bits - 1) : 0;
    return is_signed(t) || x < 0x1p63 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static uint64_t saturate_integer(int64_t x, bool from_signed, enum emu_type t) {
    unsigned bits = 8 * emu_type_bytes(t);
    int64_t top = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - is_signed(t))) - 1;
    if (!from_signed && x < 0) return (uint64_t)(t == EMU_U64 ? x : top);
    if (x > top && t != EMU_U64) return (uint64_t)top;
    int64_t low = is_signed(t) ? (bits == 64 ? INT64_MIN : -top - 1) : 0;
    return (uint64_t)(x < low ? low : x);
}

/* Rounds f to 23 - `drop` bits of mantissa. */
static float round_mantissa(float f, int drop, int rounding) {
    uint32_t u = float_bits(f), low = (1u << drop) - 1, cut = u & ~low;
    if (f != f || (u & low) == 0) return f;
    bool away = rounding == RP ? !(u >> 31) : rounding == RM ? u >> 31 : false;
    if (rounding == RNA) away = (u & low) >= 1u << (drop - 1);
    if (rounding == RN)
        away = (u & low) > 1u << (drop - 1) || ((u & low) == 1u << (drop - 1) && (cut >> drop & 1));
    return bits_float(cut + (away ? low + 1 : 0));
}

static const int host_mode[] = {/* RNA: nearest, as cvt to fp32 and fp16 has no .rna */
                                [RN] = FE_TONEAREST,
                                [RZ] = FE_TOWARDZERO,
                                [RM] = FE_DOWNWARD,
                                [RP] = FE_UPWARD,
                                [RNA] = FE_TONEAREST};

static float real_to_f32(double x, int rounding) {
    volatile double from = x; /* the conversion stays between the two calls */
    fesetround(host_mode[rounding]);
    volatile float f = (float)from;
    fesetround(FE_TONEAREST);
    return f;
}

/* To the half on the wanted side of the nearest one. */
static uint32_t real_to_f16(double x, int rounding) {
    if (x != x) return 0x7fff;
    half h = half_from_double(x);
    const double back = half_to_float(h);
    const bool negative = h >> 15, down = rounding == RM || (rounding == RZ && !negative),
               up = rounding == RP || (rounding == RZ && negative);
    if (down && back > x) return negative ? h + 1u : h - 1u;
    if (up && back < x) return negative ? h - 1u : h + 1u;
    return h;
}

/* .sat: to [0, 1], NaN to 0. .relu: negative to 0. .satfinite: to the finite numbers of type t. */
static double limit(const struct emu_inst *i, enum emu_type t, double x) {
    if (i->aux[1] == SAT) return x > 0 ? x < 1 ? x : 1 : 0;
    if (i->aux[2] && x <= 0) return 0;
    if (i->aux[1] != SATFINITE || x != x) return x;
    double max = t == EMU_F16 ? HALF_MAX : 0x1.fep127;
    return x > max ? max : x < -max ? -max : x;
}

static void write_real(struct emu_warp *w, const struct emu_inst *i, uint32_t l, double x) {
    int rounding = i->aux[0];
    x = limit(i, (enum emu_type)i->type[0], x);
    switch ((enum emu_type)i->type[0]) {
    case EMU_F64:
        ROW(double, 0)[l] = x;
        break;
    case EMU_F16:
        ROW(uint32_t, 0)[l] = real_to_f16(x, rounding);
        break;
    case EMU_BF16:
        ROW(uint32_t, 0)
        [l] = x != x ? 0x7fff : float_bits(round_mantissa((float)x, 16, rounding)) >> 16;
        break;
    case EMU_TF32:
        ROW(uint32_t, 0)
        [l] = x == x            ? float_bits(round_mantissa((float)x, 13, rounding))
              : rounding == RNA ? 0x7fffffff
                                : 0x7fffe000;
        break;
    default:
        ROW(float, 0)[l] = canonical(real_to_f32(x, rounding));
        if (i->aux[3]) ROW(float, 0)[l] = flush(ROW(float, 0)[l]);
        break;
    }
}

/* Register d's lane takes the lowest bytes of r as a number of type `to`, extended to its width. */
static void write_integer(struct emu_warp *w, const struct emu_inst *i, uint32_t l, uint64_t r,
                          enum emu_type to) {
    int unused = 64 - 8 * (int)emu_type_bytes(to);
    r = is_signed(to) ? (uint64_t)((int64_t)(r << unused) >> unused) : r << unused >> unused;
    if (i->op[0].wide)
        ROW(uint64_t, 0)[l] = r;
    else
        ROW(uint32_t, 0)[l] = (uint32_t)r & (i->op[0].bytes == 2 ? 0xffff : EMU_FULL);
}

static enum emu_step cvt_general(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    enum emu_type to = (enum emu_type)i->type[0], from = (enum emu_type)i->type[1];
    bool ftz = i->aux[3], integral = i->aux[4];
    EMU_EACH_LANE(l, mask) {
        if (is_real(from)) {
            double x = read_real(w, i, l, from);
            if (ftz && from == EMU_F32) x = flush((float)x);
            if (is_real(to)) {
                write_real(w, i, l, integral ? to_integral(x, i->aux[0]) : x);
                continue;
            }
            write_integer(w, i, l, saturate_real(to_integral(x, i->aux[0]), to), to);
            continue;
        }
        int64_t n = read_integer(w, i, l, from);
        if (is_real(to)) {
            if (to == EMU_F32 && i->aux[0] == RN)
                ROW(float, 0)[l] = from == EMU_U64 ? (float)(uint64_t)n : (float)n;
            else
                write_real(w, i, l, from == EMU_U64 ? (double)(uint64_t)n : (double)n);
            continue;
        }
        write_integer(
            w, i, l, i->aux[1] == SAT ? saturate_integer(n, is_signed(from), to) : (uint64_t)n, to);
    }
    return EMU_NEXT;
}

/* cvt.rn.satfinite.e4m3x2.f32 d, a, b and cvt.rn.f16x2.e4m3x2 d, a */
static enum emu_step cvt_fp8(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    enum emu_type to = (enum emu_type)i->type[0], from = (enum emu_type)i->type[1];
    EMU_EACH_LANE(l, mask) {
        uint32_t a = ROW(uint32_t, 1)[l];
        if (to == EMU_F16X2) {
            bool e5 = from == EMU_E5M2X2;
            double lo = limit(i, EMU_F16, fp8_to_float(a & 0xff, e5));
            double hi = limit(i, EMU_F16, fp8_to_float(a >> 8 & 0xff, e5));
            ROW(uint32_t, 0)[l] = real_to_f16(lo, RN) | real_to_f16(hi, RN) << 16;
        } else {
            bool e5 = to == EMU_E5M2X2;
            float hi = from == EMU_F32 ? bits_float(a) : half_to_float((half)(a >> 16));
            float lo = from == EMU_F32 ? bits_float(ROW(uint32_t, 2)[l]) : half_to_float((half)a);
            if (i->aux[2]) hi = hi <= 0 ? 0 : hi, lo = lo <= 0 ? 0 : lo;
            ROW(uint32_t, 0)[l] = fp8_from_float(hi, e5) << 8 | fp8_from_float(lo, e5);
        }
    }
    return EMU_NEXT;
}

/* Pairs by other rounding than RN, or with relu or satfinite. */
static enum emu_step cvt_pair(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    EMU_EACH_LANE(l, mask) {
        uint32_t r = 0;
        for (int k = 0; k < 2; k++) {
            bool f16 = i->type[0] == EMU_F16X2;
            float f = (float)limit(i, f16 ? EMU_F16 : EMU_BF16, ROW(float, 1 + k)[l]);
            uint32_t b = f16      ? real_to_f16((double)f, i->aux[0])
                         : f != f ? 0x7fff
                                  : float_bits(round_mantissa(f, 16, i->aux[0])) >> 16;
            r |= b << (k ? 0 : 16);
        }
        ROW(uint32_t, 0)[l] = r;
    }
    return EMU_NEXT;
}

/* A register may be wider than the type, not narrower. */
static bool holds(const struct emu_operand *op, enum emu_type t) {
    return op->kind == EMU_OP_ROW && (op->wide || emu_type_bytes(t) < 8);
}

emu_handler *emu_select_cvt(struct emu_inst *i, const char **why) {
    enum emu_type to = (enum emu_type)i->type[0], from = (enum emu_type)i->type[1];
    int rounding = emu_has(i, "rz") || emu_has(i, "rzi")   ? RZ
                   : emu_has(i, "rm") || emu_has(i, "rmi") ? RM
                   : emu_has(i, "rp") || emu_has(i, "rpi") ? RP
                   : emu_has(i, "rna")                     ? RNA
                                                           : RN;
    bool integral =
        emu_has(i, "rni") || emu_has(i, "rzi") || emu_has(i, "rmi") || emu_has(i, "rpi");
    int sat = emu_has(i, "sat") ? SAT : emu_has(i, "satfinite") ? SATFINITE : 0;
    bool relu = emu_has(i, "relu"), ftz = emu_has(i, "ftz");
    i->aux[0] = rounding, i->aux[1] = sat, i->aux[2] = relu, i->aux[3] = ftz, i->aux[4] = integral;
    bool plain = rounding == RN && !sat && !relu && !integral;
    *why = "this conversion is not supported";
    if (i->n_types != 2) return NULL;
    if ((i->op[0].row != EMU_SINK && !holds(&i->op[0], to)) || !holds(&i->op[1], from)) {
        *why = "an operand is narrower than its type";
        return NULL;
    }
    if (to == EMU_E4M3X2 || to == EMU_E5M2X2 || from == EMU_E4M3X2 || from == EMU_E5M2X2)
        return cvt_fp8;
    if (to == EMU_F16X2 && from == EMU_F32 && i->n_ops == 3)
        return plain ? f16x2_from_f32 : cvt_pair;
    if (to == EMU_BF16X2 && from == EMU_F32 && i->n_ops == 3)
        return plain ? bf16x2_from_f32 : cvt_pair;
    if (i->n_ops != 2 || to == EMU_F16X2 || to == EMU_BF16X2) return NULL;
    if (sat == SATFINITE && to != EMU_F16 && to != EMU_BF16) return NULL; /* tf32: after Hopper */
    bool narrow = !i->op[0].wide && !i->op[1].wide;
    if (plain && narrow && to == EMU_F32 && from == EMU_F16) return f32_from_f16;
    if (plain && narrow && to == EMU_F16 && from == EMU_F32) return f16_from_f32;
    if (plain && narrow && to == EMU_F32 && from == EMU_BF16) return f32_from_bf16;
    if (plain && narrow && to == EMU_BF16 && from == EMU_F32) return bf16_from_f32;
    if (plain && narrow && to == EMU_F32 && from == EMU_S32) return f32_from_s32;
    if (plain && to == EMU_S64 && from == EMU_S32 && !i->op[1].wide) return s64_from_s32;
    if (plain && to == EMU_U64 && from == EMU_U32 && !i->op[1].wide) return u64_from_u32;
    bool from64 = from == EMU_U64 || from == EMU_S64, to32 = to == EMU_U32 || to == EMU_S32;
    if (plain && from64 && to32 && !i->op[0].wide) return u32_from_u64;
    return cvt_general;
}
