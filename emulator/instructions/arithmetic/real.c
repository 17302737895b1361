/* fp32 and fp64 arithmetic. Rounding modes are the host's; -ffp-contract=off
 * keeps a*b+c two roundings where PTX says mul and add. */
#include "emulator/instructions/handlers.h"
#include "emulator/instructions/lanes.h"
#include "modes.h"
#include "mufu.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

/* A NaN that arithmetic gives is always this one. */
static inline float number(float x) { return x != x ? bits_float(0x7fffffff) : x; }

/* -0 < +0 for min and max; a NaN loses against a number, two give the canonical one. */
static inline float max_f32(float a, float b) {
    float m = a > b || b != b ? a : b;
    m = a == b ? bits_float(float_bits(a) & float_bits(b)) : m;
    return m != m ? bits_float(0x7fffffff) : m;
}
static inline float min_f32(float a, float b) {
    float m = a < b || b != b ? a : b;
    m = a == b ? bits_float(float_bits(a) | float_bits(b)) : m;
    return m != m ? bits_float(0x7fffffff) : m;
}
static inline float nan_or(float a, float b, float m) {
    return a != a || b != b ? bits_float(0x7fffffff) : m;
}

static BINARY(add_f32, float, number(a[l] + b[l]));
static BINARY(sub_f32, float, number(a[l] - b[l]));
static BINARY(mul_f32, float, number(a[l] * b[l]));
static TERNARY(fma_f32, float, number(__builtin_fmaf(a[l], b[l], c[l])));
static BINARY(div_f32, float, number(a[l] / b[l]));
static UNARY(rcp_f32, float, number(1.0f / a[l]));
static UNARY(sqrt_f32, float, number(__builtin_sqrtf(a[l])));
static UNARY(rsqrt_f32, float, number((float)(1.0 / sqrt((double)a[l]))));
static BINARY(hmax_f32, float, max_f32(a[l], b[l]));
static BINARY(hmin_f32, float, min_f32(a[l], b[l]));
static BINARY(nanmax_f32, float, nan_or(a[l], b[l], max_f32(a[l], b[l])));
static BINARY(nanmin_f32, float, nan_or(a[l], b[l], min_f32(a[l], b[l])));
static UNARY(abs_f32, uint32_t, a[l] & 0x7fffffff);
static UNARY(neg_f32, uint32_t, a[l] ^ 0x80000000);
static BINARY(copysign_f32, uint32_t, (a[l] & 0x80000000) | (b[l] & 0x7fffffff));
static UNARY(sin_f32, float, number((float)sin((double)a[l])));
static UNARY(cos_f32, float, number((float)cos((double)a[l])));
static UNARY(lg2_f32, float, number((float)log2((double)a[l])));
static UNARY(tanh_f32, float, number((float)tanh((double)a[l])));

static BINARY(add_f64, double, invalid_f64(a[l] + b[l], a[l], b[l], 0));
static BINARY(sub_f64, double, invalid_f64(a[l] - b[l], a[l], b[l], 0));
static BINARY(mul_f64, double, invalid_f64(a[l] * b[l], a[l], b[l], 0));
static TERNARY(fma_f64, double, invalid_f64(__builtin_fma(a[l], b[l], c[l]), a[l], b[l], c[l]));
static BINARY(div_f64, double, invalid_f64(a[l] / b[l], a[l], b[l], 0));
static UNARY(rcp_f64, double, 1.0 / a[l]);
static UNARY(sqrt_f64, double, invalid_f64(__builtin_sqrt(a[l]), a[l], 0, 0));
static UNARY(rsqrt_f64, double, invalid_f64(1.0 / sqrt(a[l]), a[l], 0, 0));
static BINARY(max_f64, double, fmax(a[l], b[l]));
static BINARY(min_f64, double, fmin(a[l], b[l]));
static UNARY(abs_f64, uint64_t, a[l] & INT64_MAX);
static UNARY(neg_f64, uint64_t, a[l] ^ (uint64_t)INT64_MIN);
static BINARY(copysign_f64, uint64_t, (a[l] & (uint64_t)INT64_MIN) | (b[l] & INT64_MAX));

static UNARY(ex2_f32, float, exp2_f32(a[l]));
static UNARY(ex2_ftz_f32, float, flush(exp2_f32(a[l])));
static UNARY(lg2_ftz_f32, float, number((float)log2((double)flush(a[l]))));
static UNARY(rsqrt_ftz_f32, float, number((float)(1.0 / sqrt((double)flush(a[l])))));
static UNARY(sin_ftz_f32, float, number(flush((float)sin((double)flush(a[l])))));
static UNARY(cos_ftz_f32, float, number((float)cos((double)flush(a[l]))));

/* ---- Modes ----------------------------------------------------------------------------------- */

static BINARY(add_ftz_f32, float, number(add_ftz(a[l], b[l])));
static BINARY(sub_ftz_f32, float, number(add_ftz(a[l], -b[l])));
static BINARY(mul_ftz_f32, float, number(mul_ftz(a[l], b[l])));
static TERNARY(fma_ftz_f32, float, number(fma_ftz(a[l], b[l], c[l])));
static BINARY(div_ftz_f32, float, number(div_ftz(a[l], b[l])));
static UNARY(rcp_ftz_f32, float, number(div_ftz(1, a[l])));
static UNARY(sqrt_ftz_f32, float, number(__builtin_sqrtf(flush(a[l]))));
static BINARY(max_ftz_f32, float, max_f32(flush(a[l]), flush(b[l])));
static BINARY(min_ftz_f32, float, min_f32(flush(a[l]), flush(b[l])));
static BINARY(nanmax_ftz_f32, float, nan_or(a[l], b[l], max_f32(flush(a[l]), flush(b[l]))));
static BINARY(nanmin_ftz_f32, float, nan_or(a[l], b[l], min_f32(flush(a[l]), flush(b[l]))));

static const struct {
    emu_handler *usual, *ftz;
} flushing[] = {
    {add_f32, add_ftz_f32},       {sub_f32, sub_ftz_f32},       {mul_f32, mul_ftz_f32},
    {fma_f32, fma_ftz_f32},       {div_f32, div_ftz_f32},       {rcp_f32, rcp_ftz_f32},
    {sqrt_f32, sqrt_ftz_f32},     {hmax_f32, max_ftz_f32},      {hmin_f32, min_ftz_f32},
    {nanmax_f32, nanmax_ftz_f32}, {nanmin_f32, nanmin_ftz_f32},
};
static emu_handler *flushing_of(emu_handler *h) {
    for (size_t n = 0; n < sizeof flushing / sizeof *flushing; n++)
        if (flushing[n].usual == h) return flushing[n].ftz;
    return h;
}

/* With the host's rounding mode aux[0]; aux[1]: .sat. */
static enum emu_step with_mode(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    fesetround(i->aux[0]);
    enum emu_step step = i->inner(w, i, mask);
    fesetround(FE_TONEAREST);
    if (i->aux[1]) { /* .sat: [0, 1], NaN gives 0 */
        float *d = ROW(float, 0);
        EACH(d[l] > 0 ? (d[l] < 1 ? d[l] : 1) : 0);
    }
    return step;
}

/* The approximations, which work in double, have their .ftz here; the others, in the table of Modes. */
static const struct {
    const char *head;
    emu_handler *f32, *f64, *ftz;
} table[] = {
    {"add", add_f32, add_f64, NULL},
    {"sub", sub_f32, sub_f64, NULL},
    {"mul", mul_f32, mul_f64, NULL},
    {"fma", fma_f32, fma_f64, NULL},
    {"mad", fma_f32, fma_f64, NULL},
    {"div", div_f32, div_f64, NULL},
    {"rcp", rcp_f32, rcp_f64, NULL},
    {"sqrt", sqrt_f32, sqrt_f64, NULL},
    {"max", hmax_f32, max_f64, NULL},
    {"min", hmin_f32, min_f64, NULL},
    {"abs", abs_f32, abs_f64, NULL},
    {"neg", neg_f32, neg_f64, NULL},
    {"copysign", copysign_f32, copysign_f64, NULL},
    {"rsqrt", rsqrt_f32, rsqrt_f64, rsqrt_ftz_f32},
    {"sin", sin_f32, NULL, sin_ftz_f32},
    {"cos", cos_f32, NULL, cos_ftz_f32},
    {"lg2", lg2_f32, NULL, lg2_ftz_f32},
    {"ex2", ex2_f32, NULL, ex2_ftz_f32},
    {"tanh", tanh_f32, NULL, tanh_f32},
};

emu_handler *emu_select_real(struct emu_inst *i, const char **why) {
    (void)why;
    emu_handler *h = NULL, *own_ftz = NULL;
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        size_t n = strlen(table[t].head);
        if (strncmp(i->opcode, table[t].head, n) || i->opcode[n] != '.') continue;
        h = i->type[0] == EMU_F64 ? table[t].f64 : table[t].f32;
        own_ftz = i->type[0] == EMU_F64 ? NULL : table[t].ftz;
    }
    if (h == hmax_f32 && emu_has(i, "NaN")) h = nanmax_f32;
    if (h == hmin_f32 && emu_has(i, "NaN")) h = nanmin_f32;
    if (!h) return NULL;
    bool ftz = emu_has(i, "ftz"), sat = emu_has(i, "sat");
    if (own_ftz) return ftz ? own_ftz : h;
    if (ftz) h = flushing_of(h);
    const int rounding = emu_has(i, "rz")   ? FE_TOWARDZERO
                         : emu_has(i, "rm") ? FE_DOWNWARD
                         : emu_has(i, "rp") ? FE_UPWARD
                                            : FE_TONEAREST;
    if (rounding == FE_TONEAREST && !sat) return h;
    i->inner = h;
    i->aux[0] = rounding;
    i->aux[1] = sat;
    return with_mode;
}

/* testp.{finite,infinite,number,notanumber,normal,subnormal}.f32 */
enum emu_step emu_testp(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t m = 0;
    for (int l = 0; l < EMU_LANES; l++) {
        int c = fpclassify(ROW(float, 1)[l]);
        bool yes = emu_has(i, "finite")       ? c != FP_NAN && c != FP_INFINITE
                   : emu_has(i, "infinite")   ? c == FP_INFINITE
                   : emu_has(i, "number")     ? c != FP_NAN
                   : emu_has(i, "notanumber") ? c == FP_NAN
                   : emu_has(i, "normal")     ? c == FP_NORMAL
                                              : c == FP_SUBNORMAL;
        m |= (uint32_t)yes << l;
    }
    write_pred(w, i->row[0], mask, m);
    return EMU_NEXT;
}
