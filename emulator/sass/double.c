/* fp64 arithmetic. A number is in two registers, the lower half in the first; signs are those of the upper one. */
#include "exec.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static double value(const struct sass_warp *w, const struct sass_source *s, int l) {
    const uint32_t *low = sass_row(w, s->row), *high = low + SASS_LANES;
    const uint64_t bits = low[l] | (uint64_t)((high[l] & s->keep) ^ s->flip) << 32;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static void put(struct sass_warp *w, uint32_t row, int l, double v) {
    uint32_t *d = sass_row(w, row);
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    d[l] = (uint32_t)bits;
    d[l + SASS_LANES] = (uint32_t)(bits >> 32);
}

static __attribute__((noinline)) void compute(struct sass_warp *w, const struct sass_exec *x,
                                              uint32_t mask) {
    for (int l = 0; l < SASS_LANES; l++) {
        const double a = value(w, &x->s[0], l), b = value(w, &x->s[1], l);
        if (!(mask >> l & 1)) continue;
        put(w, x->d, l,
            x->mode == FP64_ADD   ? a + b
            : x->mode == FP64_MUL ? a * b
                                  : fma(a, b, value(w, &x->s[2], l)));
    }
}

/* DADD, DMUL, DFMA; imm: the rounding */
enum sass_go sass_fp64(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    if (x->imm != FE_TONEAREST) fesetround((int)x->imm);
    compute(w, x, mask);
    if (x->imm != FE_TONEAREST) fesetround(FE_TONEAREST);
    return SASS_GO_NEXT;
}

/* As FSETP. */
enum sass_go sass_dsetp(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const uint32_t p0 = sass_pred_value(w, x->pin[0]);
    uint32_t r = 0;
    for (int l = 0; l < SASS_LANES; l++) {
        const double a = value(w, &x->s[0], l), b = value(w, &x->s[1], l);
        const int is = a < b    ? FSETP_LESS
                       : a == b ? FSETP_EQUAL
                       : a > b  ? FSETP_GREATER
                                : FSETP_UNORDERED;
        r |= (uint32_t)((x->mode & is) != 0) << l;
    }
    sass_write_pred(w, x->pd, mask, sass_combined(x->mode, r, p0));
    sass_write_pred(w, x->pe, mask, sass_combined(x->mode, ~r, p0));
    return SASS_GO_NEXT;
}

/* DSETP.MIN, .MAX: pd: the first operand is it; pe: both are no numbers. A number beats a NaN; -0 is below 0. */
enum sass_go sass_dsetp_least(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t first = 0, none = 0;
    for (int l = 0; l < SASS_LANES; l++) {
        const double a = value(w, &x->s[0], l), b = value(w, &x->s[1], l);
        const bool below = a < b || (a == b && signbit(a)),
                   above = a > b || (a == b && !signbit(a));
        first |= (uint32_t)((x->mode == FP64_MIN ? below : above) || b != b) << l;
        none |= (uint32_t)(a != a && b != b) << l;
    }
    sass_write_pred(w, x->pd, mask, first);
    sass_write_pred(w, x->pe, mask, none);
    return SASS_GO_NEXT;
}

/* MUFU.RCP64H, .RSQ64H: upper halves, from which Newton steps go on. mode: of the root */
enum sass_go sass_seed64(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const struct sass_source *s = &x->s[0];
    const uint32_t *high = sass_row(w, s->row);
    uint32_t *d = sass_row(w, x->d);
    EMU_EACH_LANE(l, mask) {
        uint64_t bits = (uint64_t)((high[l] & s->keep) ^ s->flip) << 32;
        double v;
        memcpy(&v, &bits, sizeof v);
        v = x->mode ? 1 / sqrt(v) : 1 / v;
        memcpy(&bits, &v, sizeof bits);
        d[l] = (uint32_t)(bits >> 32);
    }
    return SASS_GO_NEXT;
}
