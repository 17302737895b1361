/* What a tensor core computes, bit for bit.
 *
 * A dot product of k terms and an accumulator c is not a chain of fused multiply-adds. The hardware
 *
 *   1. forms the exact products a_i * b_i; their exponent is e(a_i) + e(b_i), not normalised
 *   2. takes e_max, the largest exponent of c and all products that are not zero
 *   3. cuts every term off (towards zero) below 2^(e_max - F)
 *   4. adds what is left exactly, and cuts the sum off to fp32 (rounds to nearest for fp16)
 *
 *      e_max                     e_max - F
 *        |                           |
 *   c    1.0110010...                |        F = 25 on Hopper, all k16 terms and c at once;
 *   p0     1.01101110001...          |xxxx    F = 24 on Ampere and Ada, k16 as two chained halves
 *   p1              1.1110011010001..|xxxxxxxxxxx  <- never seen
 *
 * Sources: MMA-Sim (arXiv 2511.10909), Hawkeye (MLSys 2026); checked here against recordings of an
 * H200 (tests/golden). Integer types are exact. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum tensor_type {
    TENSOR_F16,
    TENSOR_BF16,
    TENSOR_TF32,
    TENSOR_E4M3,
    TENSOR_E5M2,
    TENSOR_S8,
    TENSOR_U8
};

struct tensor_rule {
    int fraction_bits; /* F; 0: --mma-exact, one rounding to nearest */
    int terms;         /* products added at once; longer dot products are chained */
    int sum_bits;      /* of the fp32 result's mantissa that survive: 23; 13 for fp8 */
    bool by_f16; /* fp8 is widened: elements k % 4 < 2 and k % 4 >= 2 as two fp16 products without
                          c, which is added at the end (mma.sync on Hopper) */
};

/* cc = 10 * major + minor. */
struct tensor_rule tensor_rule(int cc, enum tensor_type type, bool is_wgmma, bool exact);

enum { TENSOR_MAX_M = 64, TENSOR_MAX_N = 256, TENSOR_MAX_K = 32 };

/* D = A * B + C on matrices of raw element bits, one per uint32_t: a[m][k], b[k][n], c and
 * d[m][n], rows without gaps. n is a multiple of 8, k of rule.terms. c and d may be the same; the
 * type of both is fp32, fp16 (f16_sum) or, with integer operands, s32 (saturate: clamp the sum). */
struct tensor_product {
    struct tensor_rule rule;
    enum tensor_type a_type, b_type;
    bool f16_sum, saturate;
    bool f32_c; /* C is fp32 although the sum is fp16 (wmma) */
    int m, n, k;
};
void tensor_mma(const struct tensor_product *p, const uint32_t *a, const uint32_t *b,
                const uint32_t *c, uint32_t *d);

/* One element of the same, term by term and without vectors: the definition that tensor_mma is
 * tested against, and what it falls back on for infinities, NaNs and results beyond fp32's normal
 * range. */
uint32_t tensor_dot(const struct tensor_product *p, const uint32_t *a, const uint32_t *b,
                    int b_stride, uint32_t c);
