/* fp32 and fp16 arithmetic, to the bit as the PTX side has them (real.c, convert.c). */
#include "exec.h"

#include "emulator/instructions/lanes.h"
#include "emulator/instructions/arithmetic/modes.h"
#include "emulator/instructions/arithmetic/mufu.h"

#include "common/cuda/half.h"

#include <fenv.h>
#include <math.h>

#define SOURCE(n)                                                                                  \
    const uint32_t *s##n = sass_row(w, x->s[n].row), k##n = x->s[n].keep, f##n = x->s[n].flip
#define F(n)   bits_float((s##n[l] & k##n) ^ f##n)
#define DEST   float *d = (float *)(void *)sass_row(w, x->d)
#define PIN(n) const uint32_t p##n = sass_pred_value(w, x->pin[n])

/* A NaN that arithmetic gives is always this one. */
static inline float number(float v) { return v != v ? bits_float(0x7fffffff) : v; }

enum sass_go sass_fadd(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    DEST;
    EACH(number(F(0) + F(1)));
    return SASS_GO_NEXT;
}

enum sass_go sass_fmul(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    DEST;
    EACH(number(F(0) * F(1)));
    return SASS_GO_NEXT;
}

enum sass_go sass_ffma(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    EACH(number(__builtin_fmaf(F(0), F(1), F(2))));
    return SASS_GO_NEXT;
}

/* A mul and a sub that round separately, as PTX has them where ptxas made one FFMA (SASS_UNFUSE=1). */
enum sass_go sass_ffma_apart(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    EACH(number(F(0) * F(1) + F(2)));
    return SASS_GO_NEXT;
}

enum sass_go sass_fadd_ftz(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    DEST;
    EACH(number(add_ftz(F(0), F(1))));
    return SASS_GO_NEXT;
}

enum sass_go sass_fmul_ftz(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    DEST;
    EACH(number(mul_ftz(F(0), F(1))));
    return SASS_GO_NEXT;
}

enum sass_go sass_ffma_ftz(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    EACH(number(fma_ftz(F(0), F(1), F(2))));
    return SASS_GO_NEXT;
}

/* One of the above with a rounding mode (imm: fesetround's) or .SAT (mode); mode2: which. */
enum sass_go sass_float_mode(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    static sass_handler *const which[] = {sass_fadd,     sass_fmul,     sass_ffma,
                                          sass_fadd_ftz, sass_fmul_ftz, sass_ffma_ftz};
    fesetround((int)x->imm);
    enum sass_go go = which[x->mode2](w, x, mask);
    fesetround(FE_TONEAREST);
    if (x->mode) { /* [0, 1], a NaN gives 0 */
        DEST;
        EACH(d[l] > 0 ? (d[l] < 1 ? d[l] : 1) : 0);
    }
    return go;
}

/* A product times 2^mode2, rounded once; mode: subnormal numbers are 0. */
enum sass_go sass_fmul_scaled(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const double scale = ldexp(1, (int8_t)x->mode2);
    SOURCE(0);
    SOURCE(1);
    DEST;
    if (x->mode)
        EACH(number(flush((float)((double)flush(F(0)) * flush(F(1)) * scale))));
    else
        EACH(number((float)((double)F(0) * F(1) * scale)));
    return SASS_GO_NEXT;
}

/* -0 < +0; a NaN loses against a number, two give the canonical one. */
static inline float largest(float a, float b) {
    float m = a > b || b != b ? a : b;
    m = a == b ? bits_float(float_bits(a) & float_bits(b)) : m;
    return number(m);
}
static inline float smallest(float a, float b) {
    float m = a < b || b != b ? a : b;
    m = a == b ? bits_float(float_bits(a) | float_bits(b)) : m;
    return number(m);
}

/* mode: subnormal operands are 0. */
enum sass_go sass_fmnmx(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    DEST;
    PIN(0);
    if (x->mode)
        EACH(p0 >> l & 1 ? smallest(flush(F(0)), flush(F(1))) : largest(flush(F(0)), flush(F(1))));
    else if (p0 == 0)
        EACH(largest(F(0), F(1)));
    else if (p0 == EMU_FULL)
        EACH(smallest(F(0), F(1)));
    else
        EACH(p0 >> l & 1 ? smallest(F(0), F(1)) : largest(F(0), F(1)));
    return SASS_GO_NEXT;
}

/* As FMNMX, but a NaN wins against a number. */
enum sass_go sass_fmnmx_nan(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    DEST;
    PIN(0);
    EMU_EACH_LANE(l, mask) {
        const float a = x->mode ? flush(F(0)) : F(0), b = x->mode ? flush(F(1)) : F(1);
        const float m = p0 >> l & 1 ? smallest(a, b) : largest(a, b);
        d[l] = number(isnan(a) || isnan(b) ? NAN : m);
    }
    return SASS_GO_NEXT;
}

static uint32_t compared(struct sass_warp *w, const struct sass_exec *x) {
    SOURCE(0);
    SOURCE(1);
    uint32_t less = 0, equal = 0, greater = 0;
    bool ftz = x->mode & FSETP_FTZ;
    for (int l = 0; l < SASS_LANES; l++) {
        float a = ftz ? flush(F(0)) : F(0), b = ftz ? flush(F(1)) : F(1);
        less |= (uint32_t)(a < b) << l;
        equal |= (uint32_t)(a == b) << l;
        greater |= (uint32_t)(a > b) << l;
    }
    return (x->mode & FSETP_LESS ? less : 0) | (x->mode & FSETP_EQUAL ? equal : 0) |
           (x->mode & FSETP_GREATER ? greater : 0) |
           (x->mode & FSETP_UNORDERED ? ~(less | equal | greater) : 0);
}

/* mode2: 1.0 where it holds, else all bits; 0 where it does not */
enum sass_go sass_fset(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    PIN(0);
    const uint32_t r = sass_combined(x->mode, compared(w, x), p0);
    uint32_t *d = sass_row(w, x->d);
    EMU_EACH_LANE(l, mask) d[l] = r >> l & 1 ? (x->mode2 ? 0x3f800000 : EMU_FULL) : 0;
    return SASS_GO_NEXT;
}

enum sass_go sass_fsetp(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    PIN(0);
    const uint32_t r = compared(w, x);
    sass_write_pred(w, x->pd, mask, sass_combined(x->mode, r, p0));
    sass_write_pred(w, x->pe, mask, sass_combined(x->mode, ~r, p0));
    return SASS_GO_NEXT;
}

enum sass_go sass_fsel(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    uint32_t *d = sass_row(w, x->d);
    PIN(0);
    EACH(p0 >> l & 1 ? (s0[l] & k0) ^ f0 : (s1[l] & k1) ^ f1);
    return SASS_GO_NEXT;
}

static inline uint32_t bf16_bits(float f) {
    uint32_t u = float_bits(f);
    return f != f ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16;
}
static inline uint32_t half_or_nan(uint32_t bits) {
    return (bits & 0x7fff) > 0x7c00 ? 0x7fff : bits;
}

/* {a, b} rounded to nearest halves, a the upper one; mode: to bf16 */
enum sass_go sass_f2fp(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    uint32_t *d = sass_row(w, x->d);
    if (x->mode) {
        EACH(bf16_bits(F(1)) | bf16_bits(F(0)) << 16);
        return SASS_GO_NEXT;
    }
    for (int first = 0; first < SASS_LANES; first += 8) {
        v8f high, low;
        for (int l = first; l < first + 8; l++) high[l - first] = F(0), low[l - first] = F(1);
        const v8h h = halves8(high), o = halves8(low);
        for (int l = first; l < first + 8; l++)
            if (mask >> l & 1) d[l] = half_or_nan(o[l - first]) | half_or_nan(h[l - first]) << 16;
    }
    return SASS_GO_NEXT;
}

static inline float half_of(uint32_t bits, bool is_bf16) {
    return is_bf16 ? bits_float(bits << 16) : half_to_float((half)bits);
}
static inline uint32_t half_bits(float f, bool is_bf16) {
    return is_bf16 ? bf16_bits(f) : half_or_nan(half_from_float(f));
}

/* Two halves a lane: mode 0 a + b, 1 a * b, 2 a * b + c; mode2: bf16; imm: which halves of each source. */
enum sass_go sass_pairs(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t *d = sass_row(w, x->d);
    EMU_EACH_LANE(l, mask) {
        float v[3][2];
        for (int n = 0; n < 3; n++) {
            uint32_t bits = (sass_row(w, x->s[n].row)[l] & x->s[n].keep) ^ x->s[n].flip;
            uint32_t which = x->imm >> 2 * n & 3;
            v[n][0] = half_of(which == 2 ? bits >> 16 : bits & 0xffff, x->mode2);
            v[n][1] = half_of(which == 1 ? bits & 0xffff : bits >> 16, x->mode2);
        }
        uint32_t r[2];
        for (int h = 0; h < 2; h++)
            r[h] = half_bits(x->mode == HALF_ADD   ? v[0][h] + v[1][h]
                             : x->mode == HALF_MUL ? v[0][h] * v[1][h]
                                                   : __builtin_fmaf(v[0][h], v[1][h], v[2][h]),
                             x->mode2);
        d[l] = r[0] | r[1] << 16;
    }
    return SASS_GO_NEXT;
}

/* Half h (0, 1) of source n, as imm chooses. */
static float half_at(const struct sass_warp *w, const struct sass_exec *x, int n, int h,
                     uint32_t l) {
    const uint32_t bits = (sass_row(w, x->s[n].row)[l] & x->s[n].keep) ^ x->s[n].flip,
                   which = x->imm >> 2 * n & 3;
    const bool upper = which == 2 || (which == 0 && h);
    return half_of(upper ? bits >> 16 : bits & 0xffff, x->mode2);
}

/* HMNMX2: as FMNMX, each half */
enum sass_go sass_hmnmx2(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t *d = sass_row(w, x->d);
    PIN(0);
    EMU_EACH_LANE(l, mask) {
        uint32_t r[2];
        for (int h = 0; h < 2; h++) {
            const float a = half_at(w, x, 0, h, l), b = half_at(w, x, 1, h, l);
            r[h] = half_bits(p0 >> l & 1 ? smallest(a, b) : largest(a, b), x->mode2);
        }
        d[l] = r[0] | r[1] << 16;
    }
    return SASS_GO_NEXT;
}

/* The lanes whose half h compares so. */
static uint32_t halves_compare(const struct sass_warp *w, const struct sass_exec *x, int h) {
    uint32_t r = 0;
    for (uint32_t l = 0; l < SASS_LANES; l++) {
        const float a = half_at(w, x, 0, h, l), b = half_at(w, x, 1, h, l);
        const int is = a < b    ? FSETP_LESS
                       : a == b ? FSETP_EQUAL
                       : a > b  ? FSETP_GREATER
                                : FSETP_UNORDERED;
        r |= (uint32_t)((x->mode & is) != 0) << l;
    }
    return r;
}

/* HSETP2: pd of the lower halves, pe of the upper ones */
enum sass_go sass_hsetp2(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    PIN(0);
    const uint32_t low = halves_compare(w, x, 0), high = halves_compare(w, x, 1);
    sass_write_pred(w, x->pd, mask, sass_combined(x->mode, low, p0));
    sass_write_pred(w, x->pe, mask, sass_combined(x->mode, high, p0));
    return SASS_GO_NEXT;
}

/* HSET2: all ones, or (offset: .BF) 1.0, where it is true */
enum sass_go sass_hset2(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t *d = sass_row(w, x->d);
    PIN(0);
    const uint32_t low = sass_combined(x->mode, halves_compare(w, x, 0), p0),
                   high = sass_combined(x->mode, halves_compare(w, x, 1), p0),
                   yes = !x->offset ? 0xffff
                         : x->mode2 ? 0x3f80
                                    : 0x3c00;
    EACH((low >> l & 1 ? yes : 0) | (high >> l & 1 ? yes << 16 : 0));
    return SASS_GO_NEXT;
}

/* fp32 of a + a half of b; mode: the upper one */
enum sass_go sass_hadd2_f32(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    DEST;
    float h[SASS_LANES];
    for (int first = 0; first < SASS_LANES; first += 8) {
        v8h bits;
        for (int l = 0; l < 8; l++)
            bits[l] = (uint16_t)(((s1[first + l] & k1) ^ f1) >> (x->mode ? 16 : 0));
        const v8f wide = floats8(bits);
        memcpy(h + first, &wide, sizeof wide);
    }
    EACH(number(F(0) + h[l]));
    return SASS_GO_NEXT;
}

/* FCHK: is a / b too far from 1, or not a number, for the short way of a division? A branch uses the result. */
enum sass_go sass_fchk(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    uint32_t far = 0;
    for (int l = 0; l < SASS_LANES; l++) {
        int a = (int)(((s0[l] & k0) ^ f0) >> 23 & 255), b = (int)(((s1[l] & k1) ^ f1) >> 23 & 255);
        bool plain = a > 23 && a < 255 && b > 0 && b < 253 && a - b > -126 && a - b < 127;
        far |= (uint32_t)!plain << l;
    }
    sass_write_pred(w, x->pd, mask, far);
    return SASS_GO_NEXT;
}

/* MUFU flushes subnormal operands and results: ptxas scales where the PTX does not say .ftz. */
enum sass_go sass_ex2(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    DEST;
    EACH(flush(exp2_f32(F(0))));
    return SASS_GO_NEXT;
}

enum sass_go sass_rcp(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    DEST;
    EACH(number(flush(1.0f / flush(F(0)))));
    return SASS_GO_NEXT;
}

enum sass_go sass_rsq(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    DEST;
    EACH(number(flush(1.0f / sqrtf(flush(F(0))))));
    return SASS_GO_NEXT;
}

enum sass_go sass_sin(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    DEST;
    EACH(number(sinf(F(0))));
    return SASS_GO_NEXT;
}

enum sass_go sass_cos(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    DEST;
    EACH(number(cosf(F(0))));
    return SASS_GO_NEXT;
}

enum sass_go sass_tanh(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    DEST;
    EACH(number(tanhf(F(0))));
    return SASS_GO_NEXT;
}

enum sass_go sass_sqrt(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    DEST;
    EACH(number(sqrtf(flush(F(0)))));
    return SASS_GO_NEXT;
}

enum sass_go sass_lg2(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    DEST;
    EACH(number((float)log2((double)flush(F(0)))));
    return SASS_GO_NEXT;
}
