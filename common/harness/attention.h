/* One attention problem, said once.
 *
 *   S = scale * Q K^T,  masked;   P = softmax(S) by rows;   O = P V;   LSE = log(sum(exp(S)))
 *
 * Q and O are (batch, heads, seqlen_q, head_dim), K and V (batch, kv_heads, seqlen_k,
 * head_dim), all of one 16-bit type. A fully masked row gives O = 0 and LSE = -inf, exactly. */
#pragma once

#include "common/cuda/attention_args.h"
#include "common/cuda/dtype.h"

#include <stddef.h>

enum mask { MASK_NONE, MASK_CAUSAL_BOTTOM_RIGHT, MASK_CAUSAL_TOP_LEFT };

struct attention {
    int batch, heads, kv_heads; /* heads % kv_heads == 0: one KV head serves heads / kv_heads */
    int seqlen_q, seqlen_k, head_dim;
    enum mask mask;
    enum dtype dtype; /* of Q, K, V and O; sums, P before it is rounded, and LSE are fp32 */
    float scale;      /* multiplies Q K^T; 0 stands for 1/sqrt(head_dim) */
    struct tensor_stride q_stride, k_stride, v_stride, o_stride; /* all zero: contiguous */
};

/* The mission shape: batch 1, 8 heads, 512 queries and keys, head_dim 64, no mask. */
struct attention attention_default(void);

/* Fills in what was left to default (scale, strides), then checks the rules that no stage can lift.
 * Returns NULL, or the broken rule. Zero-sized problems are legal. */
const char *attention_complete(struct attention *a);

/* Draws how Q, K, V and O lie in memory, each otherwise: heads within rows or rows within heads, with
 * gaps of its own size behind rows and heads. For a problem whose strides are left to default. */
void attention_draw_strides(struct attention *a, uint64_t seed);

/* Key j is visible to row i iff j <= i + attention_diagonal(a); seqlen_k when there is no mask. */
int64_t attention_diagonal(const struct attention *a);

/* How many (i, j) pairs of one head are visible. */
double attention_visible_pairs(const struct attention *a);

/* 4 * B * H * Sq * Sk * D; a square causal problem counts half of that (the convention of the
 * FlashAttention papers), any other causal one 4 * D for each visible pair. */
double attention_flops(const struct attention *a);

/* Elements from the first to one past the last that the tensor touches; 0 if it is empty. */
size_t attention_q_elements(const struct attention *a);
size_t attention_k_elements(const struct attention *a);
size_t attention_v_elements(const struct attention *a);
size_t attention_o_elements(const struct attention *a);
size_t attention_lse_elements(const struct attention *a);

/* "B1 H8 S512 D64", "B2 H32/8 Sq1 Sk4096 D128 causal bf16"; fp16 is not said. Returns `out`. */
const char *attention_describe(const struct attention *a, char *out, size_t out_bytes);
