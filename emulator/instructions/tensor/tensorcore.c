#include "tensorcore.h"

#include "common/base/heap.h"
#include "common/cuda/vector.h"

#include <math.h>
#include <string.h>

enum { NAN_F32 = 0x7fffffff, NAN_F16 = 0x7fff, ZERO_EXPONENT = -4096 };

/* sign, exponent and mantissa bits of the operand types */
static const struct {
    int e, m;
    bool has_inf; /* e4m3 has one NaN and no infinity */
} format[] = {[TENSOR_F16] = {5, 10, true},
              [TENSOR_BF16] = {8, 7, true},
              [TENSOR_TF32] = {8, 10, true},
              [TENSOR_E4M3] = {4, 3, false},
              [TENSOR_E5M2] = {5, 2, true}};

struct tensor_rule tensor_rule(int cc, enum tensor_type type, bool is_wgmma, bool exact) {
    bool is_fp8 = type == TENSOR_E4M3 || type == TENSOR_E5M2;
    struct tensor_rule r = {.fraction_bits = cc >= 90 ? 25 : cc >= 75 ? 24 : 23, .sum_bits = 23};
    r.terms = cc >= 90 ? 16 : cc >= 75 ? 8 : 4;
    if (type == TENSOR_TF32) r.terms /= 2;
    if (is_fp8 && (is_wgmma || cc == 89)) {
        r.fraction_bits = r.sum_bits = 13;
        r.terms = is_wgmma ? 32 : 16;
    }
    r.by_f16 = is_fp8 && !is_wgmma && cc >= 90 && !exact;
    if (exact) r.fraction_bits = 0, r.terms = TENSOR_MAX_K, r.sum_bits = 23;
    return r;
}

/* ---- One number: magnitude * 2^(exponent - mantissa bits) ---- */

struct number {
    bool negative, is_nan, is_inf;
    uint32_t magnitude;
    int exponent;
};

static struct number decode(uint32_t bits, int e, int m, bool has_inf) {
    int field = (int)(bits >> m & ((1u << e) - 1)), top = (1 << e) - 1;
    uint32_t fraction = bits & ((1u << m) - 1);
    struct number x = {.negative = bits >> (e + m) & 1};
    if (field == top && has_inf) x.is_inf = !fraction, x.is_nan = fraction != 0;
    if (!has_inf && field == top && fraction == (1u << m) - 1) x.is_nan = true;
    x.magnitude = fraction | (field ? 1u << m : 0);
    x.exponent = (field ? field : 1) - ((1 << (e - 1)) - 1);
    return x;
}

static struct number decode_operand(uint32_t bits, enum tensor_type t) {
    if (t == TENSOR_TF32) bits >>= 13; /* the lowest 13 bits do not reach the multiplier */
    struct number x = decode(bits, format[t].e, format[t].m, format[t].has_inf);
    if (!x.magnitude) x.exponent = ZERO_EXPONENT; /* products with a zero have no say in e_max */
    return x;
}

/* value = sum * 2^exponent with |sum| < 2^36, cut off to `bits` bits behind the leading one. */
static uint32_t to_f32(int64_t sum, int exponent, int bits) {
    uint32_t sign = sum < 0 ? 0x80000000u : 0;
    uint64_t magnitude = (uint64_t)(sum < 0 ? -sum : sum);
    if (!magnitude) return 0;
    int lead = 63 - __builtin_clzll(magnitude), e = lead + exponent, drop = lead - bits;
    if (e < -126) drop += -126 - e;
    if (drop > 63) return sign;
    if (drop > 0) magnitude = magnitude >> drop << drop;
    double v = ldexp((double)magnitude, exponent); /* exact: at most 36 bits */
    float f = (float)v;                            /* exact, or overflow to infinity */
    uint32_t out;
    memcpy(&out, &f, 4);
    return out | sign;
}

/* double to fp16 bits, to nearest, ties to even */
static uint32_t to_f16(double v) {
    uint32_t sign = signbit(v) ? 0x8000 : 0;
    v = fabs(v);
    if (isnan(v)) return NAN_F16;
    if (v == 0) return sign;
    if (v >= 65520) return sign | 0x7c00;
    int e;
    frexp(v, &e); /* v < 2^e */
    int unit = e - 11 < -24 ? -24 : e - 11;
    uint32_t n = (uint32_t)nearbyint(ldexp(v, -unit));
    return sign | (n + (uint32_t)((unit + 24) << 10));
}

static int32_t integer(uint32_t bits, enum tensor_type t) {
    return t == TENSOR_S8 ? (int8_t)bits : (int32_t)(bits & 0xff);
}

static bool is_integer(enum tensor_type t) { return t == TENSOR_S8 || t == TENSOR_U8; }

static uint32_t integer_dot(const struct tensor_product *p, const uint32_t *a, const uint32_t *b,
                            int b_stride, uint32_t c) {
    int64_t sum = (int32_t)c;
    for (int k = 0; k < p->k; k++)
        sum += integer(a[k], p->a_type) * integer(b[k * b_stride], p->b_type);
    if (p->saturate) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)sum;
}

/* The special values of one step: true, and *out is the result, if it is not finite. */
static bool special(const struct number *x, const struct number *y, int n, struct number c,
                    bool f16, uint32_t *out) {
    bool nan = c.is_nan, plus = c.is_inf && !c.negative, minus = c.is_inf && c.negative;
    for (int k = 0; k < n; k++) {
        bool inf = x[k].is_inf || y[k].is_inf, negative = x[k].negative != y[k].negative;
        nan |= x[k].is_nan || y[k].is_nan || (x[k].is_inf && !y[k].magnitude) ||
               (y[k].is_inf && !x[k].magnitude);
        plus |= inf && !negative;
        minus |= inf && negative;
    }
    if (!nan && !plus && !minus) return false;
    nan |= plus && minus;
    *out = nan   ? (f16 ? NAN_F16 : NAN_F32)
           : f16 ? (plus ? 0x7c00 : 0xfc00)
                 : (plus ? 0x7f800000 : 0xff800000);
    return true;
}

/* One step of at most rule.terms products. */
static uint32_t step(const struct tensor_product *p, const struct number *x, const struct number *y,
                     int n, uint32_t c_bits) {
    bool f16_c = p->f16_sum && !p->f32_c;
    int f = p->rule.fraction_bits, c_m = f16_c ? 10 : 23;
    int product_m = format[p->a_type].m + format[p->b_type].m;
    struct number c = f16_c ? decode(c_bits, 5, 10, true) : decode(c_bits, 8, 23, true);
    uint32_t out;
    if (special(x, y, n, c, p->f16_sum, &out)) return out;
    if (!f) {
        double sum = ldexp(c.negative ? -(double)c.magnitude : c.magnitude, c.exponent - c_m);
        for (int k = 0; k < n; k++)
            sum += ldexp((double)x[k].magnitude * y[k].magnitude *
                             (x[k].negative != y[k].negative ? -1 : 1),
                         x[k].exponent + y[k].exponent - product_m);
        float rounded = (float)sum;
        memcpy(&out, &rounded, 4);
        return p->f16_sum ? to_f16(sum) : out;
    }
    int e_max = c.exponent;
    for (int k = 0; k < n; k++)
        if (x[k].exponent + y[k].exponent > e_max) e_max = x[k].exponent + y[k].exponent;
    int64_t sum = 0;
    for (int k = -1; k < n; k++) {
        uint64_t magnitude = k < 0 ? c.magnitude : (uint64_t)x[k].magnitude * y[k].magnitude;
        int e = k < 0 ? c.exponent : x[k].exponent + y[k].exponent, m = k < 0 ? c_m : product_m;
        bool negative = k < 0 ? c.negative : x[k].negative != y[k].negative;
        int left = f - m - (e_max - e);
        magnitude = left >= 0 ? magnitude << left : -left > 63 ? 0 : magnitude >> -left;
        sum += negative ? -(int64_t)magnitude : (int64_t)magnitude;
    }
    return p->f16_sum ? to_f16(ldexp((double)sum, e_max - f))
                      : to_f32(sum, e_max - f, p->rule.sum_bits);
}

/* fp8 to fp16, exact */
static uint32_t widen(uint32_t bits, enum tensor_type t) {
    struct number x = decode(bits, format[t].e, format[t].m, format[t].has_inf);
    uint32_t sign = x.negative ? 0x8000 : 0;
    if (x.is_nan) return NAN_F16;
    if (x.is_inf) return sign | 0x7c00;
    return sign | to_f16(ldexp(x.magnitude, x.exponent - format[t].m));
}

/* fp32 sum as the scalar units form it */
static uint32_t add_f32(uint32_t a, uint32_t b) {
    float x, y;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    x += y;
    memcpy(&a, &x, 4);
    return isnan(x) ? NAN_F32 : a;
}

static int widened_place(int k) { return (k % 4 / 2) * (TENSOR_MAX_K / 2) + k / 4 * 2 + k % 2; }

static struct tensor_product widened_product(const struct tensor_product *p) {
    struct tensor_product wide = *p;
    wide.a_type = wide.b_type = TENSOR_F16;
    wide.rule = tensor_rule(90, TENSOR_F16, false, false);
    return wide;
}

uint32_t tensor_dot(const struct tensor_product *p, const uint32_t *a, const uint32_t *b,
                    int b_stride, uint32_t c) {
    if (p->rule.by_f16) {
        uint32_t wide_a[TENSOR_MAX_K], wide_b[TENSOR_MAX_K];
        struct tensor_product wide = widened_product(p);
        for (int k = 0; k < p->k; k++) {
            wide_a[widened_place(k)] = widen(a[k], p->a_type);
            wide_b[widened_place(k)] = widen(b[k * b_stride], p->b_type);
        }
        return add_f32(c, tensor_dot(&wide, wide_a, wide_b, 1, 0));
    }
    if (is_integer(p->a_type)) return integer_dot(p, a, b, b_stride, c);
    struct number x[TENSOR_MAX_K], y[TENSOR_MAX_K];
    for (int k = 0; k < p->k; k++) {
        x[k] = decode_operand(a[k], p->a_type);
        y[k] = decode_operand(b[k * b_stride], p->b_type);
    }
    struct tensor_product one = *p;
    for (int k = 0; k < p->k; k += p->rule.terms, one.f32_c = false) {
        int n = p->k - k < p->rule.terms ? p->k - k : p->rule.terms;
        c = step(&one, x + k, y + k, n, c);
    }
    return c;
}

/* ---- The same, eight columns at a time ---- */

/* Operands taken apart. Significands are signed and fit 16 bits; those of A have zeros above, so
 * that one madd multiplies them with those of B. */
struct plane {
    _Alignas(32) int32_t significand[TENSOR_MAX_K * TENSOR_MAX_N];
    _Alignas(32) int32_t exponent[TENSOR_MAX_K * TENSOR_MAX_N];
};

/* Takes 8 elements apart, significands shifted by `left`. True if one is not finite. */
static bool split8(struct plane *p, int at, const uint32_t *bits, enum tensor_type t, int left,
                   int mask) {
    int e = format[t].e, m = format[t].m;
    v8i x;
    memcpy(&x, bits, 32);
    if (t == TENSOR_TF32) x = x >> 13;
    v8i field = x >> m & ((1 << e) - 1), fraction = x & ((1 << m) - 1), normal = field != 0;
    v8i magnitude = (fraction | (normal & (1 << m))) << left;
    v8i exponent = select8(normal, field, all8(1)) - ((1 << (e - 1)) - 1);
    exponent += (magnitude == 0) & ZERO_EXPONENT;
    v8i sign = -(x >> (e + m) & 1), significand = ((magnitude ^ sign) - sign) & mask;
    memcpy(p->significand + at, &significand, 32);
    memcpy(p->exponent + at, &exponent, 32);
    v8i wild = field == (1 << e) - 1;
    if (!format[t].has_inf) wild &= fraction == (1 << m) - 1;
    return any8(wild);
}

/* Halves of a sum, times 2^scale, cut off to fp32. False: some lane needs the slow way. */
static bool finish4(v4i low, v4i high, v4i scale, int bits, uint32_t *d) {
    v4d sum = __builtin_convertvector(low, v4d) + __builtin_convertvector(high, v4d);
    v4l power = (__builtin_convertvector(scale, v4l) + 1023) << 52;
    v4d v = sum * (v4d)power;
    v4l raw = (v4l)v & ~(((int64_t)1 << (52 - bits)) - 1), size = raw & INT64_MAX;
    const int64_t smallest = (1023ll - 126) << 52, end = (1023ll + 128) << 52;
    v4l odd = (size >= end) | ((size < smallest) & (size != 0));
    if (any8((v8i)odd)) return false;
    v4f f = __builtin_convertvector((v4d)raw, v4f);
    memcpy(d, &f, 16);
    return true;
}

/* The term k of one row and 8 columns, cut off and signed. */
static inline v8i term8(const struct plane *a, int a_at, const struct plane *b, int b_at,
                        v8i e_max) {
    v8i factor = *(const v8i *)(const void *)(b->significand + b_at);
    v8i exponent = *(const v8i *)(const void *)(b->exponent + b_at) + a->exponent[a_at];
    v8i product = multiply8(factor, all8(a->significand[a_at]));
    return sign8(shift8(abs8(product), e_max - exponent), product);
}

static inline v8i top8(const struct plane *a, int a_at, const struct plane *b, int b_at,
                       v8i e_max) {
    return max8(e_max, *(const v8i *)(const void *)(b->exponent + b_at) + a->exponent[a_at]);
}

/* One row, 8 columns, one step of n terms (even) with fp32 sums; the planes start at the first
 * term. */
static bool step8(const struct tensor_rule *r, const struct plane *a, int a_at,
                  const struct plane *b, int b_at, int stride, int n, const uint32_t *c,
                  uint32_t *d) {
    v8i c_bits, e_max, e_odd, sum, sum_odd = {0};
    memcpy(&c_bits, c, 32);
    v8i field = c_bits >> 23 & 255, normal = field != 0;
    if (any8(field == 255)) return false;
    v8i c_exponent = select8(normal, field, all8(1)) - 127;
    e_max = e_odd = c_exponent;
    for (int k = 0; k < n; k += 2) {
        e_max = top8(a, a_at + k, b, b_at + k * stride, e_max);
        e_odd = top8(a, a_at + k + 1, b, b_at + (k + 1) * stride, e_odd);
    }
    e_max = max8(e_max, e_odd);
    int c_left = r->fraction_bits - 23;
    v8i magnitude = (c_bits & 0x7fffff) | (normal & 0x800000), c_sign = c_bits >> 31;
    magnitude = c_left >= 0 ? magnitude << c_left : magnitude;
    magnitude = shift8(magnitude, e_max - c_exponent + (c_left < 0 ? -c_left : 0));
    sum = (magnitude ^ c_sign) - c_sign;
    for (int k = 0; k < n; k += 2) {
        sum += term8(a, a_at + k, b, b_at + k * stride, e_max);
        sum_odd += term8(a, a_at + k + 1, b, b_at + (k + 1) * stride, e_max);
    }
    v8i scale = e_max - r->fraction_bits;
    v4i half[3][2];
    memcpy(half[0], &sum, 32);
    memcpy(half[1], &sum_odd, 32);
    memcpy(half[2], &scale, 32);
    return finish4(half[0][0], half[1][0], half[2][0], r->sum_bits, d) &&
           finish4(half[0][1], half[1][1], half[2][1], r->sum_bits, d + 4);
}

static __attribute__((cold, noinline)) void slow8(const struct tensor_product *p, const uint32_t *a,
                                                  const uint32_t *b, const uint32_t *c,
                                                  uint32_t *d) {
    bool is_f32 = !is_integer(p->a_type) && !p->f16_sum;
    for (int j = 0; j < 8; j++) /* what is NaN stays it: wrong kernels go on with it for long */
        d[j] = is_f32 && (c[j] & INT32_MAX) > 0x7f800000 ? NAN_F32
                                                         : tensor_dot(p, a, b + j, p->n, c[j]);
}

/* Both operands'. */
struct planes {
    struct plane a, b;
};

void tensor_mma(const struct tensor_product *p, const uint32_t *a, const uint32_t *b,
                const uint32_t *c, uint32_t *d) {
    static _Thread_local struct planes thread_planes;
    struct planes *planes = heap_of_thread(&thread_planes);
    bool a_wild[TENSOR_MAX_M] = {false}, b_wild[TENSOR_MAX_N / 8] = {false};
    int n = p->n, k = p->k, terms = p->rule.terms < k ? p->rule.terms : k;
    bool fast = !is_integer(p->a_type) && !p->f16_sum && !p->rule.by_f16 && p->rule.fraction_bits &&
                k % 8 == 0;
    if (fast) { /* the two shifts together: a product stands F places behind the point */
        int m = format[p->a_type].m, left = p->rule.fraction_bits - m - format[p->b_type].m;
        int a_left = left < 14 - m ? left : 14 - m, b_left = left - a_left;
        for (int i = 0; i < p->m; i++)
            for (int j = i * k; j < i * k + k; j += 8)
                a_wild[i] |= split8(&planes->a, j, a + j, p->a_type, a_left, 0xffff);
        for (int i = 0; i < k; i++)
            for (int j = 0; j < n; j += 8)
                b_wild[j / 8] |=
                    split8(&planes->b, i * n + j, b + i * n + j, p->b_type, b_left, -1);
    }
    for (int row = 0; row < p->m; row++)
        for (int col = 0; col < n; col += 8) {
            const uint32_t *from = c + row * n + col;
            uint32_t sum[8];
            bool done = fast && !a_wild[row] && !b_wild[col / 8];
            memcpy(sum, from, sizeof sum);
            for (int k0 = 0; done && k0 < k; k0 += terms)
                done = step8(&p->rule, &planes->a, row * k + k0, &planes->b, k0 * n + col, n, terms,
                             sum, sum);
            if (!done) slow8(p, a + row * k, b + col, from, sum);
            memcpy(d + row * n + col, sum, sizeof sum);
        }
}
