/* fp32 arithmetic and conversions, to the bit as the PTX side has them (real.c, convert.c). */
#include "sass_exec.h"

#include "emulator/instructions/lanes.h"
#include "emulator/instructions/mufu.h"

#include <immintrin.h>
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

/* As mul and sub with a rounding each, which is what PTX says where ptxas has fused them. */
enum sass_go sass_ffma_apart(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    EACH(number(F(0) * F(1) + F(2)));
    return SASS_GO_NEXT;
}

/* The same with a rounding mode or .FTZ (imm: MXCSR) or .SAT (mode); mode2: which. */
enum sass_go sass_float_mode(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    static sass_handler *const which[] = {sass_fadd, sass_fmul, sass_ffma};
    unsigned before = _mm_getcsr();
    _mm_setcsr(x->imm);
    enum sass_go go = which[x->mode2](w, x, mask);
    _mm_setcsr(before);
    if (x->mode) { /* [0, 1], a NaN gives 0 */
        DEST;
        EACH(d[l] > 0 ? (d[l] < 1 ? d[l] : 1) : 0);
    }
    return go;
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

enum sass_go sass_fmnmx(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    DEST;
    PIN(0);
    if (p0 == 0)
        EACH(largest(F(0), F(1)));
    else if (p0 == EMU_FULL)
        EACH(smallest(F(0), F(1)));
    else
        EACH(p0 >> l & 1 ? smallest(F(0), F(1)) : largest(F(0), F(1)));
    return SASS_GO_NEXT;
}

/* mode: 1 less, 2 equal, 4 greater, 8 unordered; 16 or instead of and; 32 flush subnormals */
enum sass_go sass_fsetp(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    PIN(0);
    uint32_t less = 0, equal = 0, greater = 0;
    bool ftz = x->mode & 32;
    for (int l = 0; l < SASS_LANES; l++) {
        float a = ftz ? flush(F(0)) : F(0), b = ftz ? flush(F(1)) : F(1);
        less |= (uint32_t)(a < b) << l;
        equal |= (uint32_t)(a == b) << l;
        greater |= (uint32_t)(a > b) << l;
    }
    uint32_t r = (x->mode & 1 ? less : 0) | (x->mode & 2 ? equal : 0) |
                 (x->mode & 4 ? greater : 0) | (x->mode & 8 ? ~(less | equal | greater) : 0);
    uint32_t first = x->mode & 16 ? r | p0 : r & p0, second = x->mode & 16 ? ~r | p0 : ~r & p0;
    sass_write_pred(w, x->pd, mask, first);
    sass_write_pred(w, x->pe, mask, second);
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

static inline uint32_t half_or_nan(uint32_t bits) {
    return (bits & 0x7fff) > 0x7c00 ? 0x7fff : bits;
}

/* {a, b} rounded to nearest halves, a the upper one */
enum sass_go sass_f2fp(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    uint32_t *d = sass_row(w, x->d);
    for (int first = 0; first < SASS_LANES; first += 8) {
        __m256 a, b;
        float high[8], low[8];
        uint16_t h[8], o[8];
        for (int l = first; l < first + 8; l++) high[l - first] = F(0), low[l - first] = F(1);
        a = _mm256_loadu_ps(high), b = _mm256_loadu_ps(low);
        _mm_storeu_si128((__m128i *)(void *)h, _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
        _mm_storeu_si128((__m128i *)(void *)o, _mm256_cvtps_ph(b, _MM_FROUND_TO_NEAREST_INT));
        for (int l = first; l < first + 8; l++)
            if (mask >> l & 1) d[l] = half_or_nan(o[l - first]) | half_or_nan(h[l - first]) << 16;
    }
    return SASS_GO_NEXT;
}

/* fp32 of a + a half of b; mode: the upper one */
enum sass_go sass_hadd2_f32(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    const uint32_t *s1 = sass_row(w, x->s[1].row);
    DEST;
    float h[SASS_LANES];
    for (int first = 0; first < SASS_LANES; first += 8) {
        uint16_t bits[8];
        for (int l = 0; l < 8; l++) bits[l] = (uint16_t)(s1[first + l] >> (x->mode ? 16 : 0));
        _mm256_storeu_ps(h + first,
                         _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)bits)));
    }
    EACH(number(F(0) + h[l]));
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

enum sass_go sass_lg2(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    DEST;
    EACH(number((float)log2((double)flush(F(0)))));
    return SASS_GO_NEXT;
}

/* ---- Integers -------------------------------------------------------------------------------- */

enum { I2F_S32, I2F_U32, I2F_U64 };

/* mode: from what; imm: MXCSR */
enum sass_go sass_i2f(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const uint32_t *s = sass_row(w, x->s[0].row);
    DEST;
    for (int l = 0; l < SASS_LANES; l++) {
        volatile unsigned before = _mm_getcsr();
        float f;
        uint64_t wide = s[l] | (x->mode == I2F_U64 ? (uint64_t)s[l + 32] << 32 : 0);
        if (!(mask >> l & 1)) continue;
        _mm_setcsr(x->imm);
        if (x->mode == I2F_S32) {
            f = _mm_cvtss_f32(_mm_cvtsi32_ss(_mm_setzero_ps(), (int)s[l]));
        } else if (wide >> 63) { /* the conversion is of signed numbers: halve, keep what is lost */
            f = _mm_cvtss_f32(
                _mm_cvtsi64_ss(_mm_setzero_ps(), (long long)(wide >> 1 | (wide & 1))));
            f *= 2;
        } else {
            f = _mm_cvtss_f32(_mm_cvtsi64_ss(_mm_setzero_ps(), (long long)wide));
        }
        d[l] = f;
        _mm_setcsr(before);
    }
    return SASS_GO_NEXT;
}

/* to u32, or (mode) u64, towards zero, clamped */
enum sass_go sass_f2i(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    uint32_t *d = sass_row(w, x->d);
    for (int l = 0; l < SASS_LANES; l++) {
        float v = F(0);
        uint64_t r = 0;
        if (v > 0) r = v >= 0x1p64f ? UINT64_MAX : (uint64_t)v;
        if (!x->mode && r > UINT32_MAX) r = UINT32_MAX;
        if (!(mask >> l & 1)) continue;
        d[l] = (uint32_t)r;
        if (x->mode) d[l + 32] = (uint32_t)(r >> 32);
    }
    return SASS_GO_NEXT;
}
