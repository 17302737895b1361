/* Conversions between whole numbers and fp16, fp32, fp64. */
#include "exec.h"

#include "common/cuda/half.h"
#include "emulator/instructions/lanes.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static double fp64_of(const struct sass_warp *w, const struct sass_source *s, int l) {
    const uint32_t *low = sass_row(w, s->row), *high = low + SASS_LANES;
    const uint64_t bits = low[l] | (uint64_t)((high[l] & s->keep) ^ s->flip) << 32;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* The source in double, which holds all of them; bytes: place of an fp16 in its register, in bits */
static double real_of(const struct sass_warp *w, const struct sass_exec *x, int from, int l) {
    const struct sass_source *s = &x->s[0];
    if (from == SASS_TO_F64) return fp64_of(w, s, l);
    const uint32_t bits = (sass_row(w, s->row)[l] >> x->bytes & s->keep) ^ s->flip;
    return from == SASS_TO_F16 ? (double)half_to_float((half)bits) : (double)bits_float(bits);
}

static uint32_t bf16_bits(float f) {
    uint32_t u = float_bits(f);
    return f != f ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

static void put_real(struct sass_warp *w, const struct sass_exec *x, int to, int l, double v) {
    uint32_t *d = sass_row(w, x->d);
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    d[l] = to == SASS_TO_F64   ? (uint32_t)bits
           : to == SASS_TO_F16 ? v != v ? 0x7fff : half_from_double(v)
           : v != v ? 0x7fffffff
                               : float_bits((float)v);
    if (to == SASS_TO_F64) d[l + SASS_LANES] = (uint32_t)(bits >> 32);
}

/* ---- From whole numbers ---------------------------------------------------------------------- */

/* mode: to what; mode2: bytes, plus 16 if signed; bytes: place of the byte, in bits */
static __attribute__((noinline)) void from_whole(struct sass_warp *w, const struct sass_exec *x,
                                                 uint32_t mask) {
    const uint32_t *s = sass_row(w, x->s[0].row), bytes = x->mode2 & 15, unused = 64 - 8 * bytes;
    EMU_EACH_LANE(l, mask) {
        uint64_t v = s[l] >> x->bytes | (bytes == 8 ? (uint64_t)s[l + SASS_LANES] << 32 : 0);
        v <<= unused;
        const int64_t with_sign = (int64_t)v >> unused;
        const bool is_signed = x->mode2 & 16;
        v >>= unused;
        if (x->mode == SASS_TO_F32) /* rounded once */
            sass_row(w, x->d)[l] = float_bits(is_signed ? (float)with_sign : (float)v);
        else
            put_real(w, x, x->mode, (int)l, is_signed ? (double)with_sign : (double)v);
    }
}

/* imm: the rounding */
enum sass_go sass_i2f(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    if (x->imm != FE_TONEAREST) fesetround((int)x->imm);
    from_whole(w, x, mask);
    if (x->imm != FE_TONEAREST) fesetround(FE_TONEAREST);
    return SASS_GO_NEXT;
}

/* ---- To whole numbers ------------------------------------------------------------------------ */

static double whole(double v, int how) {
    return how == SASS_TRUNC   ? trunc(v)
           : how == SASS_FLOOR ? floor(v)
           : how == SASS_CEIL  ? ceil(v)
                               : nearbyint(v);
}

/* mode: from and to what; mode2: how it is rounded */
enum sass_go sass_frnd(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    EMU_EACH_LANE(l, mask)
    put_real(w, x, x->mode, (int)l, whole(real_of(w, x, x->mode, (int)l), x->mode2));
    return SASS_GO_NEXT;
}

/* Clamped; a NaN to 0, of 64 bits to the most negative one. */
static uint64_t clamped(double v, int type) {
    const bool is_signed = type == SASS_S32 || type == SASS_S64,
               wide = type == SASS_U64 || type == SASS_S64;
    const uint64_t most = is_signed ? (wide ? INT64_MAX : INT32_MAX)
                          : wide    ? UINT64_MAX
                                    : UINT32_MAX;
    const uint64_t size = fabs(v) >= 0x1p64 ? UINT64_MAX : (uint64_t)fabs(v);
    if (v > 0) return size > most ? most : size;
    return v < 0 && is_signed ? 0 - (size > most + 1 ? most + 1 : size) : 0;
}

/* mode: to which type; mode2: how it is rounded; imm: from what */
enum sass_go sass_f2i(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const bool wide = x->mode == SASS_U64 || x->mode == SASS_S64;
    uint32_t *d = sass_row(w, x->d);
    EMU_EACH_LANE(l, mask) {
        const double v = whole(real_of(w, x, (int)x->imm, (int)l), x->mode2);
        const uint64_t r = v == v ? clamped(v, x->mode) : 0;
        d[l] = (uint32_t)r;
        if (wide) d[l + SASS_LANES] = (uint32_t)(r >> 32);
    }
    return SASS_GO_NEXT;
}

/* ---- Between floats -------------------------------------------------------------------------- */

static __attribute__((noinline)) void between(struct sass_warp *w, const struct sass_exec *x,
                                              uint32_t mask) {
    EMU_EACH_LANE(l, mask) {
        const double v = real_of(w, x, x->mode2, (int)l);
        if (x->mode == SASS_TO_BF16)
            sass_row(w, x->d)[l] = bf16_bits((float)v);
        else
            put_real(w, x, x->mode, (int)l, v);
    }
}

/* mode: to what; mode2: from what; imm: the rounding */
enum sass_go sass_f2f(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    if (x->imm != FE_TONEAREST) fesetround((int)x->imm);
    between(w, x, mask);
    if (x->imm != FE_TONEAREST) fesetround(FE_TONEAREST);
    return SASS_GO_NEXT;
}
