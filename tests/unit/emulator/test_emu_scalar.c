/* Scalar forms of the emulator against C: every form on random and awkward operands, in full
 * warps and in a half-full one. */
#include "emu.h"
#include "common/cuda/half.h"
#include "tests/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1024 };

static const uint32_t awkward[] = {
    0,          1,          2,          31,         32,         33,         0x7fffffff, 0x80000000,
    0xffffffff, 0xfffffffe, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001,
    0x00800000, 0x807fffff, 0x7f7fffff, 0x3f000000, 0x42000000, 0xc2fc0000, 0x43160000, 0x00007c00,
    0x3c003c00, 0xfbff7bff, 0x00010001, 0x80008000, 0xffff,     0x10000,    0x8000,     0x55555555};

static uint32_t bits(uint64_t n) { /* a fixed sequence */
    n = (n + 1) * 0x9e3779b97f4a7c15u;
    n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9u;
    n = (n ^ n >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(n >> 32);
}
static uint32_t operand(int which, int i) {
    enum { A = sizeof awkward / sizeof *awkward };
    if (i < A * 8) return awkward[(uint32_t)(i * (which + 1) + i / A * which) % A];
    return bits((uint64_t)which * N + (uint64_t)i) >> (i % 5 == 0 ? bits((uint64_t)i) % 32 : 0);
}
static float f(uint32_t u) {
    float x;
    memcpy(&x, &u, 4);
    return x;
}
static uint32_t u(float x) {
    uint32_t b;
    memcpy(&b, &x, 4);
    return b;
}
static uint64_t wide(uint32_t a, uint32_t b) { return (uint64_t)b << 32 | a; }

/* One form: an instruction on a = %r1, b = %r2, c = %r3 (as floats %f1.., as 64 bits %rd11 =
 * b:a, %rd12 = c:b) with its result in %r9 (%f9, or %rd9 if `is_wide`), and the same in C. */
struct form {
    const char *text;
    uint64_t (*c)(uint32_t a, uint32_t b, uint32_t c);
    bool is_wide;
    double tolerance; /* relative, of a float result; 0: every bit, though NaNs are alike */
};

#define F(name, expr)                                                                              \
    static uint64_t name(uint32_t a, uint32_t b, uint32_t c) {                                     \
        (void)a, (void)b, (void)c;                                                                 \
        return (uint64_t)(expr);                                                                   \
    }
#define S(x)   ((int32_t)(x))
#define S64(x) ((int64_t)(x))
F(add_s32, (uint32_t)(a + b))
F(sub_s32, (uint32_t)(a - b))
F(mul_lo, (uint32_t)(a *b))
F(mul_hi_s, (uint32_t)((int64_t)S(a) * S(b) >> 32))
F(mul_hi_u, (uint32_t)((uint64_t)a *b >> 32))
F(mul_wide_s, (int64_t)S(a) * S(b))
F(mul_wide_u, (uint64_t)a *b)
F(mad_lo, (uint32_t)(a *b + c))
F(mad_wide_s, (uint64_t)((int64_t)S(a) * S(b)) + wide(b, c))
F(min_s, (uint32_t)(S(a) < S(b) ? a : b))
F(max_u, a > b ? a : b)
F(abs_s, (uint32_t)(S(a) < 0 ? -a : a))
F(neg_s, (uint32_t)-a)
F(and_b, a &b)
F(xor_b, a ^ b)
F(not_b, (uint32_t)~a)
F(shl_b, b > 31 ? 0 : (uint32_t)(a << b))
F(shr_s, (uint32_t)(S(a) >> (b > 31 ? 31 : b)))
F(shr_u, b > 31 ? 0 : a >> b)
F(shl_64, b > 63 ? 0 : wide(a, b) << b)
F(shr_64, (uint64_t)(S64(wide(a, b)) >> (c > 63 ? 63 : c)))
F(add_64, wide(a, b) + wide(b, c))
F(mul_64, wide(a, b) * wide(b, c))
F(shf_l, (uint32_t)(wide(a, b) << (c & 31) >> 32))
F(shf_r, (uint32_t)(wide(a, b) >> (c & 31)))
F(div_u, b ? a / b : 0xffffffff)
F(rem_s, (uint32_t)(b == 0 ? S(a) : b == 0xffffffff ? 0 : S(a) % S(b)))
F(popc, (uint32_t)__builtin_popcount(a))
F(clz, a ? (uint32_t)__builtin_clz(a) : 32)
F(brev, ({
      uint32_t r = 0;
      for (int k = 0; k < 32; k++) r |= (a >> k & 1) << (31 - k);
      r;
  }))
F(bfind_u, a ? 31 - (uint32_t)__builtin_clz(a) : 0xffffffff)
F(bfe_u, ({
      uint32_t p = b & 255, n = c & 255;
      p > 31 || !n ? 0 : a >> p & (n > 31 ? 0xffffffff : (1u << n) - 1);
  }))
F(bfe_s, ({
      uint32_t p = b & 255, n = c & 255, top = p + n - 1 > 31 ? 31 : p + n - 1,
               s = n ? a >> top & 1 : 0, r = 0;
      for (uint32_t k = 0; k < 32; k++) r |= (k < n && p + k < 32 ? a >> (p + k) & 1 : s) << k;
      r;
  }))
F(prmt, ({
      uint64_t w = wide(a, b);
      uint32_t r = 0;
      for (int k = 0; k < 4; k++) {
          uint32_t s = c >> 4 * k & 15, y = (uint32_t)(w >> 8 * (s & 7)) & 255;
          r |= (s & 8 ? (y >> 7) * 255 : y) << 8 * k;
      }
      r;
  }))
F(lop3, (uint32_t)((a & b) | (~a & c))) /* 0xca: a ? b : c */
F(selp, S(a) < S(b) ? a : b)
F(slct, S(c) >= 0 ? a : b)
F(sad, (uint32_t)(c + (S(a) > S(b) ? a - b : b - a)))
F(dp4a, ({
      int32_t s = 0;
      for (int k = 0; k < 4; k++) s += (int8_t)(a >> 8 * k) * (int8_t)(b >> 8 * k);
      (uint32_t)(c + (uint32_t)s);
  }))
F(dp2a_lo,
  (uint32_t)(c + (uint32_t)((int16_t)a * (int8_t)b + (int16_t)(a >> 16) * (int8_t)(b >> 8))))
F(dp2a_hi, (uint32_t)(c + (a & 0xffff) * (b >> 16 & 0xff) + (a >> 16) * (b >> 24)))
F(pack16, ({
      int32_t x = (int32_t)a, y = (int32_t)b;
      x = x > 32767 ? 32767 : x < -32768 ? -32768 : x;
      y = y > 32767 ? 32767 : y < -32768 ? -32768 : y;
      (uint32_t) x << 16 | (uint16_t)y;
  }))
F(pack8, ({
      int32_t x = (int32_t)a, y = (int32_t)b;
      x = x > 255 ? 255 : x < 0 ? 0 : x;
      y = y > 255 ? 255 : y < 0 ? 0 : y;
      c << 16 | (uint32_t)x << 8 | (uint32_t)y;
  }))
F(szext_, (b & 31) ? (uint32_t)((int32_t)(a << (32 - (b & 31))) >> (32 - (b & 31))) : 0)
F(fadd_, u(f(a) + f(b)))
F(fmul_, u(f(a) * f(b)))
F(ffma_, u(fmaf(f(a), f(b), f(c))))
F(fdiv_, u(f(a) / f(b)))
F(fsqrt_, u(sqrtf(f(a))))
F(frcp_, u(1 / f(a)))
F(frsqrt_, u((float)(1 / sqrt((double)f(a)))))
F(fmax_, isnan(f(a)) ? b : isnan(f(b)) ? a : f(a) == f(b) ? a & b : f(a) > f(b) ? a : b)
F(fmin_, isnan(f(a)) ? b : isnan(f(b)) ? a : f(a) == f(b) ? a | b : f(a) < f(b) ? a : b)
F(fabs_, a & 0x7fffffff)
F(fneg, a ^ 0x80000000)
F(fcopysign, (a & 0x80000000) | (b & 0x7fffffff))
F(fsat, ({
      float x = f(a) + f(b);
      u(x > 0 ? x < 1 ? x : 1 : 0);
  }))
F(fex2, u((float)exp2((double)f(a))))
F(flg2, u((float)log2((double)f(a))))
F(fsin, u((float)sin((double)f(a))))
F(ftanh, u((float)tanh((double)f(a))))
static float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
/* Tiny is what rounds below 2^-126 with any exponent; 2^-126 * (1 - 2^-24) would round up to it. */
static float flushed_product(float x, float y) {
    double exact = (double)x * (double)y;
    return fabs(exact) < 0x1p-126 * (1 - 0x1p-25) ? (float)copysign(0, exact) : (float)exact;
}
F(ftz, u(flushed(flushed(f(a)) + flushed(f(b)))))
F(sub_ftz, u(flushed(flushed(f(a)) - flushed(f(b)))))
F(mul_ftz, u(flushed_product(flushed(f(a)), flushed(f(b)))))
F(fma_ftz, u(flushed(fmaf(flushed(f(a)), flushed(f(b)), flushed(f(c))))))
/* Of normal numbers, where nothing is to be flushed but results. */
#define NORMAL(x) f(((x)&0x80ffffff) + 0x1f800000)
F(mul_normal, u(flushed_product(NORMAL(a), NORMAL(b))))
F(mul_edge, u(flushed_product(f(a >> 9 & 1 ? 0x3f7fffff : 0x3f800001), 0x1p-126f)))
F(setp_lt, f(a) < f(b))
F(setp_geu, !(f(a) < f(b)))
F(setp_nan, isnan(f(a)) || isnan(f(b)))
F(setp_and, S(a) < S(b) && c % 2)
F(cvt_s32, ({
      double x = trunc((double)f(a));
      isnan(f(a))          ? 0
      : x >= 2147483647.0  ? 0x7fffffff
      : x <= -2147483648.0 ? 0x80000000
                           : (uint32_t)(int32_t)x;
  }))
F(cvt_rni, ({
      float x = f(a);
      uint32_t r = u(rintf(x));
      isnan(x) ? 0x7fffffff : r;
  }))
F(cvt_f32_s, u((float)S(a)))
F(cvt_f32_u, u((float)a))
F(cvt_f32_h, u(half_to_float((half)a)))
F(cvt_h, half_from_float(f(a)))
F(cvt_h2, (uint32_t)half_from_float(f(a)) << 16 | half_from_float(f(b)))
F(cvt_bf, isnan(f(a)) ? 0x7fff : (a + 0x7fff + (a >> 16 & 1)) >> 16)
F(cvt_s8, (uint32_t)(int32_t)(int8_t)a)
F(cvt_u16, a & 0xffff)
F(cvt_s64, (uint64_t)(int64_t)S(a))
F(hadd2, (uint32_t)half_from_float(half_to_float((half)(a >> 16)) + half_to_float((half)(b >> 16)))
                 << 16 |
             half_from_float(half_to_float((half)a) + half_to_float((half)b)))
F(hfma2, (uint32_t)half_from_double((double)half_to_float((half)(a >> 16)) *
                                        (double)half_to_float((half)(b >> 16)) +
                                    (double)half_to_float((half)(c >> 16)))
                 << 16 |
             half_from_double((double)half_to_float((half)a) * (double)half_to_float((half)b) +
                              (double)half_to_float((half)c)))
F(bfma2, ({
      uint32_t r = 0;
      for (int k = 0; k < 2; k++) {
          float x = f(a >> 16 * k << 16), y = f(b >> 16 * k << 16), z = f(c >> 16 * k << 16);
          double e = fma((double)x, (double)y, (double)z);
          float g = (float)e;
          uint32_t q = u(g);
          r |= (isnan(g) ? 0x7fff : (q + 0x7fff + (q >> 16 & 1)) >> 16) << 16 * k;
      }
      r;
  }))
F(pack, (a & 0xffff) | b << 16)
F(sub_64, wide(a, b) - wide(b, c))
F(mul_hi_s64, (uint64_t)((__int128)S64(wide(a, b)) * S64(wide(b, c)) >> 64))
F(mul_hi_u64, (uint64_t)((unsigned __int128)wide(a, b) * wide(b, c) >> 64))
F(min_s64, S64(wide(a, b)) < S64(wide(b, c)) ? wide(a, b) : wide(b, c))
F(max_u64, wide(a, b) > wide(b, c) ? wide(a, b) : wide(b, c))
F(abs_s64, S64(wide(a, b)) < 0 ? -wide(a, b) : wide(a, b))
F(setp_u64, wide(a, b) < wide(b, c))
F(setp_s64, S64(wide(a, b)) >= S64(wide(b, c)))
F(mad_hi_u, (uint32_t)(((uint64_t)a * b >> 32) + c))
F(mad_hi_s, (uint32_t)((int64_t)S(a) * S(b) >> 32) + c)
F(sad_u, (uint32_t)(c + (a > b ? a - b : b - a)))
F(mul24, (uint32_t)((a & 0xffffff) * (b & 0xffffff)))
F(cvt_s8_f, (uint32_t)(int32_t)(int8_t)(isnan(f(a))   ? 0
                                        : f(a) < -128 ? -128
                                        : f(a) > 127  ? 127
                                                      : truncf(f(a))))
F(cvt_s8_high, (uint32_t)cvt_s8_f(a, b, c) >> 8 & 0xff)
F(cvt_s16, (uint32_t)(int32_t)(int16_t)a)
F(cvt_ftz, ({
      float x = (float)(a * 0x1p-158);
      u(fabsf(x) < 0x1p-126f ? 0 : x);
  }))
F(cvt_h_finite, isnan(f(a))            ? 0x7fff
                : fabsf(f(a)) >= 65504 ? (a >> 16 & 0x8000) | 0x7bff
                                       : half_from_float(f(a)))
F(cvt_h2_finite, (uint32_t)cvt_h_finite(a, b, c) << 16 | (uint32_t)cvt_h_finite(b, b, c))
F(no_sign, 0)
F(add_16, (a + b) & 0xffff)
F(sub_16, (a - b) & 0xffff)
F(mul_16, ((a & 0xffff) * (b & 0xffff)) & 0xffff)
F(mad_16, ((a & 0xffff) * (b & 0xffff) + c) & 0xffff)
F(neg_16, (uint32_t)-a & 0xffff)
F(not_16, ~a & 0xffff)
F(abs_16, (uint32_t)abs((int16_t)a) & 0xffff)
F(min_16, ((int16_t)a < (int16_t)b ? a : b) & 0xffff)
F(setp_16, (int16_t)a < (int16_t)b)
F(setp_16_imm, (int16_t)a == -1)
F(selp_16_imm, S(a) < S(b) ? 0x7fff : 0)
F(or_16_imm, 0x7fff)
F(mul_wide_16_imm, (uint32_t)((a & 0xffff) * 0xffffu))
F(mad_wide_16_imm, (uint32_t)((int16_t)a * -2 - 70000))
F(setp_h, half_to_float((half)a) < half_to_float((half)b))
F(setp_ftz, ({ /* subnormal numbers are alike */
               float x = fabsf(f(a)) < 0x1p-126f ? 0 : f(a), y = fabsf(f(b)) < 0x1p-126f ? 0 : f(b);
               x <= y;
  }))
F(slct_ftz, f(c) >= 0 || fabsf(f(c)) < 0x1p-126f ? a : b)
F(hmul_ftz, ({ /* of the lower halves */
               float x = half_to_float((half)a), y = half_to_float((half)b);
               half h = half_from_float((fabsf(x) < 0x1p-14f ? copysignf(0, x) : x) *
                                        (fabsf(y) < 0x1p-14f ? copysignf(0, y) : y));
               (h & 0x7c00) ? h : h & 0x8000;
  }))
F(setp_bf, f(a << 16) <= f(b << 16))
F(setp_num, !isnan(f(a)) && !isnan(f(b)))
F(set_u, S(a) < S(b) ? 0xffffffff : 0)
F(set_f, u(S(a) < S(b) ? 1.0f : 0.0f))
F(testp_normal, isnormal(f(a)))
F(testp_subnormal, fpclassify(f(a)) == FP_SUBNORMAL)
F(testp_notanumber, isnan(f(a)))
F(nan_min, isnan(f(a)) || isnan(f(b)) ? 0x7fffffff : f(a) == f(b) ? a | b : f(a) < f(b) ? a : b)
F(fcos, u((float)cos((double)f(a))))
#define D64(expr)                                                                                  \
    ({                                                                                             \
        double x = S(a), y = b, z = c;                                                             \
        (void)y, (void)z;                                                                          \
        double r_ = (expr);                                                                        \
        uint64_t bits_;                                                                            \
        memcpy(&bits_, &r_, 8);                                                                    \
        bits_;                                                                                     \
    })
F(dadd, D64(x + y))
F(dmul, D64(x *y))
F(dfma, D64(fma(x, y, z)))
F(ddiv, D64(x / (y + 1)))
F(dsqrt, D64(sqrt(fabs(x))))
F(dmax, D64(fmax(x, y)))
F(dneg, D64(-x))
F(dlt, S(a) < (double)b)
F(drsqrt, D64(1 / sqrt(fabs(x) + 1)))
typedef unsigned __int128 u128;
F(add_halves, wide(a, b) + wide(b, c))
F(sub_halves, wide(a, b) - wide(b, c))
F(carries_32, ((u128)a + b + ((u128)(b + (uint64_t)c) << 32)) >> 64)
F(borrows_32, (uint32_t)(((u128)wide(a, b) - wide(b, c)) >> 64))
F(mad_64, (uint64_t)a *b + wide(c, a))
F(mad_64_s, (uint64_t)((int64_t)S(a) * S(b)) + wide(c, a))
/* the product's upper half minus 1, and a carry unless that half is 0; that and 1 less the half */
F(mad_hi_carry, (uint64_t)a *b >> 32 ? 1 : 0)
F(add_128, (((u128)wide(a, b) + wide(b, c)) >> 64) + wide(a, b) + wide(b, c))
F(sub_128, wide(a, b) - wide(b, c) - (wide(a, b) < wide(b, c)))
F(mad_128, ((u128)wide(a, b) * wide(b, c) + wide(b, c)) >> 64)
F(mad_128_s, (u128)((__int128)S64(wide(a, b)) * S64(wide(b, c)) + (__int128)(u128)wide(b, c)) >> 64)

static const struct form forms[] = {
    {"add.s32 %r9, %r1, %r2;", add_s32, 0, 0},
    {"sub.u32 %r9, %r1, %r2;", sub_s32, 0, 0},
    {"mul.lo.s32 %r9, %r1, %r2;", mul_lo, 0, 0},
    {"mul.hi.s32 %r9, %r1, %r2;", mul_hi_s, 0, 0},
    {"mul.hi.u32 %r9, %r1, %r2;", mul_hi_u, 0, 0},
    {"mul.wide.s32 %rd9, %r1, %r2;", mul_wide_s, 1, 0},
    {"mul.wide.u32 %rd9, %r1, %r2;", mul_wide_u, 1, 0},
    {"mad.lo.s32 %r9, %r1, %r2, %r3;", mad_lo, 0, 0},
    {"mad.wide.s32 %rd9, %r1, %r2, %rd12;", mad_wide_s, 1, 0},
    {"add.cc.u32 %r7, %r1, %r2; addc.u32 %r8, %r2, %r3; mov.b64 %rd9, {%r7, %r8};", add_halves, 1,
     0},
    {"sub.cc.s32 %r7, %r1, %r2; subc.s32 %r8, %r2, %r3; mov.b64 %rd9, {%r7, %r8};", sub_halves, 1,
     0},
    {"add.cc.u32 %r7, %r1, %r2; addc.cc.u32 %r8, %r2, %r3; addc.u32 %r9, 0, 0;", carries_32, 0, 0},
    {"sub.cc.u32 %r7, %r1, %r2; subc.cc.u32 %r8, %r2, %r3; subc.u32 %r9, 0, 0;", borrows_32, 0, 0},
    {"mad.lo.cc.u32 %r7, %r1, %r2, %r3; madc.hi.u32 %r8, %r1, %r2, %r1; mov.b64 %rd9, {%r7, %r8};",
     mad_64, 1, 0},
    {"mad.lo.cc.s32 %r7, %r1, %r2, %r3; madc.hi.s32 %r8, %r1, %r2, %r1; mov.b64 %rd9, {%r7, %r8};",
     mad_64_s, 1, 0},
    {"mad.hi.cc.u32 %r7, %r1, %r2, -1; mul.hi.u32 %r8, %r1, %r2; addc.u32 %r9, %r7, 1; sub.u32 "
     "%r9, %r9, %r8;",
     mad_hi_carry, 0, 0},
    {"add.cc.u64 %rd8, %rd11, %rd12; addc.u64 %rd9, %rd11, %rd12;", add_128, 1, 0},
    {"sub.cc.s64 %rd8, %rd11, %rd12; subc.s64 %rd9, %rd11, %rd12;", sub_128, 1, 0},
    {"mad.lo.cc.u64 %rd8, %rd11, %rd12, %rd12; madc.hi.u64 %rd9, %rd11, %rd12, 0;", mad_128, 1, 0},
    {"mad.lo.cc.s64 %rd8, %rd11, %rd12, %rd12; madc.hi.cc.s64 %rd9, %rd11, %rd12, 0;", mad_128_s, 1,
     0},
    {"min.s32 %r9, %r1, %r2;", min_s, 0, 0},
    {"max.u32 %r9, %r1, %r2;", max_u, 0, 0},
    {"abs.s32 %r9, %r1;", abs_s, 0, 0},
    {"neg.s32 %r9, %r1;", neg_s, 0, 0},
    {"and.b32 %r9, %r1, %r2;", and_b, 0, 0},
    {"xor.b32 %r9, %r1, %r2;", xor_b, 0, 0},
    {"not.b32 %r9, %r1;", not_b, 0, 0},
    {"shl.b32 %r9, %r1, %r2;", shl_b, 0, 0},
    {"shr.s32 %r9, %r1, %r2;", shr_s, 0, 0},
    {"shr.u32 %r9, %r1, %r2;", shr_u, 0, 0},
    {"shl.b64 %rd9, %rd11, %r2;", shl_64, 1, 0},
    {"shr.s64 %rd9, %rd11, %r3;", shr_64, 1, 0},
    {"add.s64 %rd9, %rd11, %rd12;", add_64, 1, 0},
    {"mul.lo.s64 %rd9, %rd11, %rd12;", mul_64, 1, 0},
    {"shf.l.wrap.b32 %r9, %r1, %r2, %r3;", shf_l, 0, 0},
    {"shf.r.wrap.b32 %r9, %r1, %r2, %r3;", shf_r, 0, 0},
    {"div.u32 %r9, %r1, %r2;", div_u, 0, 0},
    {"rem.s32 %r9, %r1, %r2;", rem_s, 0, 0},
    {"popc.b32 %r9, %r1;", popc, 0, 0},
    {"clz.b32 %r9, %r1;", clz, 0, 0},
    {"brev.b32 %r9, %r1;", brev, 0, 0},
    {"bfind.u32 %r9, %r1;", bfind_u, 0, 0},
    {"bfe.u32 %r9, %r1, %r2, %r3;", bfe_u, 0, 0},
    {"bfe.s32 %r9, %r1, %r2, %r3;", bfe_s, 0, 0},
    {"prmt.b32 %r9, %r1, %r2, %r3;", prmt, 0, 0},
    {"lop3.b32 %r9, %r1, %r2, %r3, 0xca;", lop3, 0, 0},
    {"setp.lt.s32 %p1, %r1, %r2; selp.b32 %r9, %r1, %r2, %p1;", selp, 0, 0},
    {"slct.u32.s32 %r9, %r1, %r2, %r3;", slct, 0, 0},
    {"sad.s32 %r9, %r1, %r2, %r3;", sad, 0, 0},
    {"dp4a.s32.s32 %r9, %r1, %r2, %r3;", dp4a, 0, 0},
    {"dp2a.lo.s32.s32 %r9, %r1, %r2, %r3;", dp2a_lo, 0, 0},
    {"dp2a.hi.u32.u32 %r9, %r1, %r2, %r3;", dp2a_hi, 0, 0},
    {"cvt.pack.sat.s16.s32 %r9, %r1, %r2;", pack16, 0, 0},
    {"cvt.pack.sat.u8.s32.b32 %r9, %r1, %r2, %r3;", pack8, 0, 0},
    {"szext.wrap.s32 %r9, %r1, %r2;", szext_, 0, 0},
    {"add.f32 %f9, %f1, %f2;", fadd_, 0, 0},
    {"mul.rn.f32 %f9, %f1, %f2;", fmul_, 0, 0},
    {"fma.rn.f32 %f9, %f1, %f2, %f3;", ffma_, 0, 0},
    {"mad.f32 %f9, %f1, %f2, %f3;", ffma_, 0, 0},
    {"div.rn.f32 %f9, %f1, %f2;", fdiv_, 0, 0},
    {"sqrt.rn.f32 %f9, %f1;", fsqrt_, 0, 0},
    {"rcp.rn.f32 %f9, %f1;", frcp_, 0, 0},
    {"rsqrt.approx.f32 %f9, %f1;", frsqrt_, 0, 0x1p-22},
    {"max.f32 %f9, %f1, %f2;", fmax_, 0, 0},
    {"min.f32 %f9, %f1, %f2;", fmin_, 0, 0},
    {"abs.f32 %f9, %f1;", fabs_, 0, 0},
    {"neg.f32 %f9, %f1;", fneg, 0, 0},
    {"copysign.f32 %f9, %f1, %f2;", fcopysign, 0, 0},
    {"add.sat.f32 %f9, %f1, %f2;", fsat, 0, 0},
    {"ex2.approx.f32 %f9, %f1;", fex2, 0, 0x1p-22},
    {"lg2.approx.f32 %f9, %f1;", flg2, 0, 0x1p-22},
    {"sin.approx.f32 %f9, %f1;", fsin, 0, 0x1p-20},
    {"tanh.approx.f32 %f9, %f1;", ftanh, 0, 0x1p-11},
    {"add.ftz.f32 %f9, %f1, %f2;", ftz, 0, 0},
    {"sub.ftz.f32 %f9, %f1, %f2;", sub_ftz, 0, 0},
    {"mul.ftz.f32 %f9, %f1, %f2;", mul_ftz, 0, 0},
    {"fma.rn.ftz.f32 %f9, %f1, %f2, %f3;", fma_ftz, 0, 0},
    {"and.b32 %r1, %r1, 0x80ffffff; add.u32 %r1, %r1, 0x1f800000; and.b32 %r2, %r2, 0x80ffffff; "
     "add.u32 %r2, %r2, 0x1f800000; mov.b32 %f1, %r1; mov.b32 %f2, %r2; mul.ftz.f32 %f9, %f1, %f2;",
     mul_normal, 0, 0},
    {"bfe.u32 %r1, %r1, 9, 1; setp.ne.u32 %p1, %r1, 0; selp.b32 %r1, 0x3f7fffff, 0x3f800001, %p1; "
     "mov.b32 %f1, %r1; mul.ftz.f32 %f9, %f1, 0f00800000;",
     mul_edge, 0, 0},
    {"setp.lt.f32 %p1, %f1, %f2; selp.b32 %r9, 1, 0, %p1;", setp_lt, 0, 0},
    {"setp.geu.f32 %p1, %f1, %f2; selp.b32 %r9, 1, 0, %p1;", setp_geu, 0, 0},
    {"setp.nan.f32 %p1, %f1, %f2; selp.b32 %r9, 1, 0, %p1;", setp_nan, 0, 0},
    {"and.b32 %r4, %r3, 1; setp.ne.u32 %p2, %r4, 0; setp.lt.and.s32 %p1|%p3, %r1, %r2, %p2; "
     "selp.b32 %r9, 1, 0, %p1;",
     setp_and, 0, 0},
    {"cvt.rzi.s32.f32 %r9, %f1;", cvt_s32, 0, 0},
    {"cvt.rni.f32.f32 %f9, %f1;", cvt_rni, 0, 0},
    {"cvt.rn.f32.s32 %f9, %r1;", cvt_f32_s, 0, 0},
    {"cvt.rn.f32.u32 %f9, %r1;", cvt_f32_u, 0, 0},
    {"cvt.f32.f16 %f9, %h1;", cvt_f32_h, 0, 0},
    {"cvt.rn.f16.f32 %h9, %f1; cvt.u32.u16 %r9, %h9;", cvt_h, 0, 0},
    {"cvt.rn.f16x2.f32 %r9, %f1, %f2;", cvt_h2, 0, 0},
    {"cvt.rn.bf16.f32 %h9, %f1; cvt.u32.u16 %r9, %h9;", cvt_bf, 0, 0},
    {"cvt.s32.s8 %r9, %r1;", cvt_s8, 0, 0},
    {"cvt.u32.u16 %r9, %h1;", cvt_u16, 0, 0},
    {"cvt.s64.s32 %rd9, %r1;", cvt_s64, 1, 0},
    {"add.f16x2 %r9, %r1, %r2;", hadd2, 0, 0},
    {"fma.rn.f16x2 %r9, %r1, %r2, %r3;", hfma2, 0, 0},
    {"fma.rn.bf16x2 %r9, %r1, %r2, %r3;", bfma2, 0, 0x1p-7},
    {"sub.s64 %rd9, %rd11, %rd12;", sub_64, 1, 0},
    {"mul.hi.s64 %rd9, %rd11, %rd12;", mul_hi_s64, 1, 0},
    {"mul.hi.u64 %rd9, %rd11, %rd12;", mul_hi_u64, 1, 0},
    {"min.s64 %rd9, %rd11, %rd12;", min_s64, 1, 0},
    {"max.u64 %rd9, %rd11, %rd12;", max_u64, 1, 0},
    {"abs.s64 %rd9, %rd11;", abs_s64, 1, 0},
    {"setp.lt.u64 %p1, %rd11, %rd12; selp.b32 %r9, 1, 0, %p1;", setp_u64, 0, 0},
    {"setp.ge.s64 %p1, %rd11, %rd12; selp.b32 %r9, 1, 0, %p1;", setp_s64, 0, 0},
    {"mad.hi.u32 %r9, %r1, %r2, %r3;", mad_hi_u, 0, 0},
    {"mad.hi.s32 %r9, %r1, %r2, %r3;", mad_hi_s, 0, 0},
    {"sad.u32 %r9, %r1, %r2, %r3;", sad_u, 0, 0},
    {"mul24.lo.u32 %r9, %r1, %r2;", mul24, 0, 0},
    {"cvt.u16.u32 %h2, %r2; cvt.u16.u32 %h3, %r3; add.u16 %h9, %h1, %h2; cvt.u32.u16 %r9, %h9;",
     add_16, 0, 0},
    {"cvt.u16.u32 %h2, %r2; cvt.u16.u32 %h3, %r3; sub.s16 %h9, %h1, %h2; cvt.u32.u16 %r9, %h9;",
     sub_16, 0, 0},
    {"cvt.u16.u32 %h2, %r2; cvt.u16.u32 %h3, %r3; mul.lo.u16 %h9, %h1, %h2; cvt.u32.u16 %r9, %h9;",
     mul_16, 0, 0},
    {"cvt.u16.u32 %h2, %r2; cvt.u16.u32 %h3, %r3; mad.lo.u16 %h9, %h1, %h2, %h3; cvt.u32.u16 %r9, "
     "%h9;",
     mad_16, 0, 0},
    {"cvt.u16.u32 %h2, %r2; cvt.u16.u32 %h3, %r3; neg.s16 %h9, %h1; cvt.u32.u16 %r9, %h9;", neg_16,
     0, 0},
    {"cvt.u16.u32 %h2, %r2; cvt.u16.u32 %h3, %r3; not.b16 %h9, %h1; cvt.u32.u16 %r9, %h9;", not_16,
     0, 0},
    {"cvt.u16.u32 %h2, %r2; cvt.u16.u32 %h3, %r3; abs.s16 %h9, %h1; cvt.u32.u16 %r9, %h9;", abs_16,
     0, 0},
    {"cvt.u16.u32 %h2, %r2; cvt.u16.u32 %h3, %r3; min.s16 %h9, %h1, %h2; cvt.u32.u16 %r9, %h9;",
     min_16, 0, 0},
    {"cvt.u16.u32 %h2, %r2; cvt.u16.u32 %h3, %r3; setp.lt.s16 %p1, %h1, %h2; selp.b32 %r9, 1, 0, "
     "%p1;",
     setp_16, 0, 0},
    {"setp.le.ftz.f32 %p1, %f1, %f2; selp.b32 %r9, 1, 0, %p1;", setp_ftz, 0, 0},
    {"slct.ftz.b32.f32 %r9, %r1, %r2, %f3;", slct_ftz, 0, 0},
    {"cvt.u16.u32 %h2, %r2; mul.ftz.f16 %h9, %h1, %h2; cvt.u32.u16 %r9, %h9;", hmul_ftz, 0, 0},
    {"cvt.rzi.s8.f32 %r9, %f1;", cvt_s8_f, 0, 0},
    {"cvt.rzi.s8.f32 %h9, %f1; shr.u16 %h9, %h9, 8; cvt.u32.u16 %r9, %h9;", cvt_s8_high, 0, 0},
    {"cvt.s16.s32 %r9, %r1;", cvt_s16, 0, 0},
    {"cvt.rn.f64.u32 %d1, %r1; mul.f64 %d1, %d1, 0d3610000000000000; cvt.rn.ftz.f32.f64 %f9, %d1;",
     cvt_ftz, 0, 0},
    {"cvt.rn.satfinite.f16.f32 %h9, %f1; cvt.u32.u16 %r9, %h9;", cvt_h_finite, 0, 0},
    {"cvt.rn.satfinite.f16x2.f32 %r9, %f1, %f2;", cvt_h2_finite, 0, 0},
    {"cvt.rn.satfinite.relu.e5m2x2.f32 %h9, %f1, %f2; cvt.u32.u16 %r9, %h9; and.b32 %r9, %r9, "
     "0x8080;",
     no_sign, 0, 0},
    {"cvt.rn.relu.f16x2.e4m3x2 %r9, %h1; and.b32 %r9, %r9, 0x80008000;", no_sign, 0, 0},
    {"setp.eq.s16 %p1, %h1, -1; selp.b32 %r9, 1, 0, %p1;", setp_16_imm, 0, 0},
    {"setp.lt.s32 %p1, %r1, %r2; selp.b16 %h9, -2, 1, %p1; shr.u16 %h9, %h9, 1; cvt.u32.u16 "
     "%r9, %h9;",
     selp_16_imm, 0, 0},
    {"mov.u16 %h2, -1; or.b16 %h9, %h1, %h2; shr.u16 %h9, %h9, 1; cvt.u32.u16 %r9, %h9;", or_16_imm,
     0, 0},
    {"mul.wide.u16 %r9, %h1, -1;", mul_wide_16_imm, 0, 0},
    {"mad.wide.s16 %r9, %h1, -2, -70000;", mad_wide_16_imm, 0, 0},
    {"cvt.u16.u32 %h2, %r2; cvt.u16.u32 %h3, %r3; setp.lt.f16 %p1, %h1, %h2; selp.b32 %r9, 1, 0, "
     "%p1;",
     setp_h, 0, 0},
    {"cvt.u16.u32 %h2, %r2; cvt.u16.u32 %h3, %r3; setp.le.bf16 %p1, %h1, %h2; selp.b32 %r9, 1, 0, "
     "%p1;",
     setp_bf, 0, 0},
    {"setp.num.f32 %p1, %f1, %f2; selp.b32 %r9, 1, 0, %p1;", setp_num, 0, 0},
    {"set.lt.u32.s32 %r9, %r1, %r2;", set_u, 0, 0},
    {"set.lt.f32.s32 %f9, %r1, %r2;", set_f, 0, 0},
    {"testp.normal.f32 %p1, %f1; selp.b32 %r9, 1, 0, %p1;", testp_normal, 0, 0},
    {"testp.subnormal.f32 %p1, %f1; selp.b32 %r9, 1, 0, %p1;", testp_subnormal, 0, 0},
    {"testp.notanumber.f32 %p1, %f1; selp.b32 %r9, 1, 0, %p1;", testp_notanumber, 0, 0},
    {"min.NaN.f32 %f9, %f1, %f2;", nan_min, 0, 0},
    {"cos.approx.f32 %f9, %f1;", fcos, 0, 0x1p-20},
    {"cvt.rn.f64.s32 %d1, %r1; cvt.rn.f64.u32 %d2, %r2; cvt.rn.f64.u32 %d3, %r3; add.rn.f64 %d4, "
     "%d1, %d2; mov.b64 %rd9, %d4;",
     dadd, 1, 0},
    {"cvt.rn.f64.s32 %d1, %r1; cvt.rn.f64.u32 %d2, %r2; cvt.rn.f64.u32 %d3, %r3; mul.rn.f64 %d4, "
     "%d1, %d2; mov.b64 %rd9, %d4;",
     dmul, 1, 0},
    {"cvt.rn.f64.s32 %d1, %r1; cvt.rn.f64.u32 %d2, %r2; cvt.rn.f64.u32 %d3, %r3; fma.rn.f64 %d4, "
     "%d1, %d2, %d3; mov.b64 %rd9, %d4;",
     dfma, 1, 0},
    {"cvt.rn.f64.s32 %d1, %r1; cvt.rn.f64.u32 %d2, %r2; cvt.rn.f64.u32 %d3, %r3; add.f64 %d2, %d2, "
     "0d3FF0000000000000; div.rn.f64 %d4, %d1, %d2; mov.b64 %rd9, %d4;",
     ddiv, 1, 0},
    {"cvt.rn.f64.s32 %d1, %r1; cvt.rn.f64.u32 %d2, %r2; cvt.rn.f64.u32 %d3, %r3; abs.f64 %d1, %d1; "
     "sqrt.rn.f64 %d4, %d1; mov.b64 %rd9, %d4;",
     dsqrt, 1, 0},
    {"cvt.rn.f64.s32 %d1, %r1; abs.f64 %d1, %d1; add.f64 %d1, %d1, 0d3ff0000000000000; "
     "rsqrt.approx.ftz.f64 %d4, %d1; mov.b64 %rd9, %d4;",
     drsqrt, 1, 0},
    {"cvt.rn.f64.s32 %d1, %r1; cvt.rn.f64.u32 %d2, %r2; cvt.rn.f64.u32 %d3, %r3; max.f64 %d4, %d1, "
     "%d2; mov.b64 %rd9, %d4;",
     dmax, 1, 0},
    {"cvt.rn.f64.s32 %d1, %r1; cvt.rn.f64.u32 %d2, %r2; cvt.rn.f64.u32 %d3, %r3; neg.f64 %d4, %d1; "
     "mov.b64 %rd9, %d4;",
     dneg, 1, 0},
    {"cvt.rn.f64.s32 %d1, %r1; cvt.rn.f64.u32 %d2, %r2; cvt.rn.f64.u32 %d3, %r3; setp.lt.f64 %p1, "
     "%d1, %d2; selp.b32 %r9, 1, 0, %p1;",
     dlt, 0, 0},
    {"{.reg .b16 lo,hi; mov.b32 {lo,hi},%r1; mov.b32 {hi,_},%r2; mov.b32 %r9,{lo,hi};}", pack, 0,
     0},
};

static bool is_nan(const char *text, uint32_t v) {
    if (strstr(text, "f16x2") || strstr(text, "bf16") || strstr(text, "f16.f32")) return false;
    return (v & 0x7fffffff) > 0x7f800000 && strstr(text, "%f9");
}
/* Halves: NaN payloads may differ. */
static bool halves_agree(uint32_t x, uint32_t y) {
    for (int k = 0; k < 2; k++) {
        uint32_t p = x >> 16 * k & 0x7fff, q = y >> 16 * k & 0x7fff;
        if ((x ^ y) >> 16 * k & 0xffff && !(p > 0x7c00 && q > 0x7c00)) return false;
    }
    return true;
}

/* The reference rounds twice, so the last bit may differ. */
static bool bf16s_agree(uint32_t x, uint32_t y) {
    for (int k = 0; k < 2; k++) {
        int p = (int)(x >> 16 * k & 0xffff), q = (int)(y >> 16 * k & 0xffff);
        bool nans = (p & 0x7fff) > 0x7f80 && (q & 0x7fff) > 0x7f80;
        if (abs(p - q) > 1 && !nans) return false;
    }
    return true;
}

static bool agree(const struct form *form, uint64_t got, uint64_t expected) {
    if (got == expected || form->is_wide) return got == expected;
    uint32_t x = (uint32_t)got, y = (uint32_t)expected;
    if (is_nan(form->text, x) && is_nan(form->text, y)) return true;
    if (strstr(form->text, "f16") && !strstr(form->text, "bf16")) return halves_agree(x, y);
    if (strstr(form->text, "bf16")) return bf16s_agree(x, y);
    if (form->tolerance == 0) return false;
    double a = (double)f(x), b = (double)f(y);
    return fabs(a - b) <= form->tolerance * fabs(b) || fabs(a - b) < 0x1p-126 || fabs(b) > 1e6;
}

static void run_form(struct emu_test *t, const struct form *form, unsigned threads) {
    static uint32_t a[N], b[N], c[N];
    static uint64_t d[N];
    char body[2048];
    snprintf(body, sizeof body,
             "mov.u32 %%r10, %%ctaid.x; mad.lo.s32 %%r10, %%r10, %u, %%r0; mul.wide.u32 %%rd10, "
             "%%r10, 4;\n"
             "add.s64 %%rd20, %%rd0, %%rd10; add.s64 %%rd21, %%rd1, %%rd10; add.s64 %%rd22, %%rd2, "
             "%%rd10;\n"
             "shl.b64 %%rd10, %%rd10, 1; add.s64 %%rd23, %%rd3, %%rd10;\n"
             "ld.global.u32 %%r1, [%%rd20]; ld.global.u32 %%r2, [%%rd21]; ld.global.u32 %%r3, "
             "[%%rd22];\n"
             "mov.b32 %%f1, %%r1; mov.b32 %%f2, %%r2; mov.b32 %%f3, %%r3; cvt.u16.u32 %%h1, %%r1;\n"
             "mov.b64 %%rd11, {%%r1,%%r2}; mov.b64 %%rd12, {%%r2,%%r3};\n%s\n%s\n",
             threads, form->text,
             form->is_wide                ? "st.global.u64 [%rd23], %rd9;"
             : strstr(form->text, "%f9,") ? "st.global.f32 [%rd23], %f9;"
                                          : "st.global.u32 [%rd23], %r9;");
    for (int i = 0; i < N; i++)
        a[i] = operand(0, i), b[i] = operand(1, i), c[i] = operand(2, i), d[i] = 0;
    const char *why =
        emu_test_run(t, emu_test_kernel(4, "", body), "test", N / threads, threads, 0, 4,
                     (void *[]){a, b, c, d}, (size_t[]){sizeof a, sizeof b, sizeof c, sizeof d});
    if (why) fail_msg("%s: %s", form->text, why);
    if (emu_result_reports(t->result)) fail_msg("%s", emu_result_report(t->result, 0));
    for (int i = 0; i < N; i++) {
        uint64_t expected = form->c(a[i], b[i], c[i]);
        if (!agree(form, d[i], expected))
            fail_msg("%s: a 0x%08x b 0x%08x c 0x%08x gives 0x%" PRIx64 ", not 0x%" PRIx64,
                     form->text, a[i], b[i], c[i], d[i], expected);
    }
}

static void test_forms(void **state) {
    struct emu_test t;
    (void)state;
    emu_test_open(&t);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        run_form(&t, &forms[i], 128);
        run_form(&t, &forms[i], 16); /* half a warp: the masked path */
    }
    emu_test_close(&t);
}

/* Runs a body with one buffer of 64 words, in one warp, and compares. */
static void one_warp(const char *declarations, const char *body, const uint32_t *expected, int n) {
    struct emu_test t;
    uint32_t out[64] = {0};
    char text[4096];
    emu_test_open(&t);
    snprintf(text, sizeof text, "mul.wide.u32 %%rd50, %%r0, 4; add.s64 %%rd51, %%rd0, %%rd50;\n%s",
             body);
    assert_fine(emu_test_run(&t, emu_test_kernel(1, declarations, text), "test", 1, 32, 0, 1,
                             (void *[]){out}, (size_t[]){sizeof out}));
    if (emu_result_reports(t.result)) fail_msg("%s", emu_result_report(t.result, 0));
    for (int i = 0; i < n; i++)
        if (out[i] != expected[i])
            fail_msg("%s: lane %d has %u, not %u", body, i, out[i], expected[i]);
    emu_test_close(&t);
}

static void test_across_lanes(void **state) {
    uint32_t e[32];
    (void)state;
    for (uint32_t l = 0; l < 32; l++) e[l] = (l ^ 5) * 3;
    one_warp("",
             "mul.lo.s32 %r1, %r0, 3; shfl.sync.bfly.b32 %r2, %r1, 5, 31, -1; st.global.u32 "
             "[%rd51], %r2;",
             e, 32);
    for (uint32_t l = 0; l < 32; l++) e[l] = l + 2 < 32 ? l + 2 : l + 100;
    one_warp("",
             "shfl.sync.down.b32 %r2|%p1, %r0, 2, 31, -1; @!%p1 add.s32 %r2, %r0, 100; "
             "st.global.u32 [%rd51], %r2;",
             e, 32);
    for (uint32_t l = 0; l < 32; l++) e[l] = l % 8 >= 1 ? l - 1 : l;
    one_warp("", "shfl.sync.up.b32 %r2, %r0, 1, 6144, -1; st.global.u32 [%rd51], %r2;", e,
             32); /* width 8 */
    for (uint32_t l = 0; l < 32; l++) e[l] = 0x55555555;
    one_warp("",
             "and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; vote.sync.ballot.b32 %r2, %p1, -1; "
             "st.global.u32 [%rd51], %r2;",
             e, 32);
    for (uint32_t l = 0; l < 32; l++) e[l] = 0x11111111u << l % 4;
    one_warp("",
             "and.b32 %r1, %r0, 3; match.any.sync.b32 %r2, %r1, -1; st.global.u32 [%rd51], %r2;", e,
             32);
    for (uint32_t l = 0; l < 32; l++) e[l] = 496;
    one_warp("", "redux.sync.add.u32 %r2, %r0, -1; st.global.u32 [%rd51], %r2;", e, 32);
    /* two teams at once, each with its own members */
    static const char halves[] = "and.b32 %r1, %r0, 1; mul.lo.u32 %r3, %r1, 0x55555555;\n"
                                 "add.u32 %r3, %r3, 0x55555555; setp.lt.u32 %p1, %r0, 9;\n";
    static const struct {
        const char *text;
        uint32_t even, odd;
    } teams[] = {{"vote.sync.ballot.b32 %r2, %p1, %r3;", 0x155, 0xaa},
                 {"match.any.sync.b32 %r2, %r1, %r3;", 0x55555555, 0xaaaaaaaa},
                 {"redux.sync.add.u32 %r2, %r0, %r3;", 240, 256},
                 {"elect.sync %r2|%p2, %r3;", 0, 1}};
    for (size_t k = 0; k < sizeof teams / sizeof *teams; k++) {
        char body[512];
        snprintf(body, sizeof body, "%s%s st.global.u32 [%%rd51], %%r2;", halves, teams[k].text);
        for (uint32_t l = 0; l < 32; l++) e[l] = l % 2 ? teams[k].odd : teams[k].even;
        one_warp("", body, e, 32);
    }
    for (uint32_t l = 0; l < 32; l++) e[l] = l == 0;
    one_warp("", "elect.sync _|%p1, -1; selp.b32 %r2, 1, 0, %p1; st.global.u32 [%rd51], %r2;", e,
             32);
}

/* Diverged lanes meet again: a loop of lane-dependent length, a switch, an early exit. */
static void test_divergence(void **state) {
    uint32_t e[32];
    (void)state;
    for (uint32_t l = 0; l < 32; l++) e[l] = l * (l + 1) / 2 + 0x100;
    one_warp("",
             "mov.u32 %r1, 0; mov.u32 %r2, 0;\n"
             "LOOP: add.s32 %r1, %r1, %r2; add.s32 %r2, %r2, 1; setp.le.u32 %p1, %r2, %r0; @%p1 "
             "bra LOOP;\n"
             "activemask.b32 %r3; setp.eq.u32 %p2, %r3, -1; @%p2 add.s32 %r1, %r1, 256;\n"
             "st.global.u32 [%rd51], %r1;",
             e, 32);
    for (uint32_t l = 0; l < 32; l++) e[l] = l % 4 == 3 ? 99 : l % 4 * 10 + 7;
    one_warp(
        "",
        "and.b32 %r1, %r0, 3;\nTABLE: .branchtargets A, B, C, D;\nbrx.idx %r1, TABLE;\n"
        "C: mov.u32 %r2, 20; bra JOIN;\nD: mov.u32 %r2, 99; st.global.u32 [%rd51], %r2; exit;\n"
        "A: mov.u32 %r2, 0; bra JOIN;\nB: mov.u32 %r2, 10;\n"
        "JOIN: bar.warp.sync 0x77777777; add.s32 %r2, %r2, 7; st.global.u32 [%rd51], %r2;",
        e, 32);
}

static void test_memory(void **state) {
    uint32_t e[64];
    (void)state;
    for (uint32_t l = 0; l < 32; l++) e[l] = l * 7 + 1;
    /* local memory, generic addresses, vectors, volatile */
    one_warp(".local .align 16 .b8 stack[64]; .shared .align 16 .b8 tile[512];",
             "mov.u64 %rd1, stack; cvta.local.u64 %rd2, %rd1;\n"
             "mul.lo.s32 %r1, %r0, 7; add.s32 %r2, %r1, 1;\n"
             "st.local.v2.u32 [%rd1+8], {%r1, %r2}; ld.v2.u32 {%r3, %r4}, [%rd2+8];\n"
             "mov.u32 %r5, tile; shl.b32 %r6, %r0, 4; add.s32 %r5, %r5, %r6;\n"
             "st.shared.v4.u32 [%r5], {%r3, %r4, %r3, %r4}; bar.sync 0;\n"
             "cvt.u64.u32 %rd3, %r5; cvta.shared.u64 %rd3, %rd3; ld.volatile.u32 %r7, [%rd3+4];\n"
             "st.global.u32 [%rd51], %r7;",
             e, 32);
    /* bytes and sign */
    for (uint32_t l = 0; l < 32; l++) e[l] = (uint32_t)(int32_t)(int8_t)(l * 9);
    one_warp(".shared .align 16 .b8 tile[64];",
             "mov.u32 %r5, tile; add.s32 %r5, %r5, %r0; mul.lo.s32 %r1, %r0, 9; st.shared.u8 "
             "[%r5], %r1;\n"
             "bar.warp.sync -1; ld.shared.s8 %r2, [%r5]; st.global.u32 [%rd51], %r2;",
             e, 32);
    /* atomics: all lanes add to one word, then exchange by compare and swap */
    for (uint32_t l = 0; l < 32; l++) e[l] = 496;
    one_warp(".shared .align 4 .u32 sum;",
             "mov.u32 %r5, sum; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [%r5], 0; bar.sync 0;\n"
             "atom.shared.add.u32 %r1, [%r5], %r0; bar.sync 0; ld.shared.u32 %r2, [%r5]; "
             "st.global.u32 [%rd51], %r2;",
             e, 32);
    /* vectors: every element is an atomic of its own, and what was there comes back */
    one_warp("",
             "mov.f32 %f1, 0f3F800000; cvt.rn.f32.u32 %f2, %r0;\n"
             "red.global.add.v2.f32 [%rd0+8], {%f1, %f2};",
             (const uint32_t[]){0, 0, 0x42000000, 0x43f80000}, 4); /* 32, 496 */
    one_warp("",
             "mov.b32 %r1, 0x40003c00; mov.b32 %r2, 0x44004200;\n"
             "setp.eq.u32 %p1, %r0, 0; @!%p1 bra done;\n"
             "atom.global.gpu.relaxed.add.noftz.v2.f16x2 {%r3, %r4}, [%rd0], {%r1, %r2};\n"
             "atom.global.add.noftz.v2.f16x2 {%r3, %r4}, [%rd0], {%r1, %r2};\n"
             "st.global.v2.b32 [%rd0+8], {%r3, %r4}; done:",
             (const uint32_t[]){0x44004000, 0x48004600, 0x40003c00, 0x44004200}, 4); /* 2 4 6 8 */
    one_warp("",
             "mov.b16 %h1, 0x3c00; mov.b16 %h2, 0xbc00; mov.b16 %h3, 0x4000;\n"
             "red.global.max.noftz.v4.f16 [%rd0], {%h1, %h2, %h3, %h1};\n"
             "red.global.min.noftz.v4.f16 [%rd0+8], {%h1, %h2, %h3, %h1};",
             (const uint32_t[]){0x00003c00, 0x3c004000, 0xbc000000, 0}, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms), cmocka_unit_test(test_across_lanes),
        cmocka_unit_test(test_divergence), cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
