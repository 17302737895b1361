/* What every attention kernel receives, by value. Host C and CUDA C both include this file.
 *
 * Coordinates: b = batch, h = query head, i = query row, j = key row, d = element of a row.
 * Elements of one row (d) are contiguous in all four tensors; the other strides are in elements. */
#pragma once

#include <stdint.h>

#ifdef __CUDACC__
#include <cuda_fp16.h>
#else
typedef uint16_t half; /* the bits of an fp16 or a bf16 (dtype.h) */
#endif

struct tensor_stride {
    int64_t batch; /* elements from one batch to the next */
    int64_t head;  /* from one head to the next */
    int64_t row;   /* from one sequence position to the next; a multiple of 8 */
};

struct attention_args {
    const half *q; /* (batch, heads, seqlen_q, head_dim) */
    const half *k; /* (batch, kv_heads, seqlen_k, head_dim) */
    const half *v; /* (batch, kv_heads, seqlen_k, head_dim) */
    half *o;       /* (batch, heads, seqlen_q, head_dim) */
    float *lse;    /* (batch, heads, seqlen_q), contiguous; natural log */
    struct tensor_stride q_stride, k_stride, v_stride, o_stride;
    int32_t batch, heads, kv_heads; /* query head h reads KV head h / (heads / kv_heads) */
    int32_t seqlen_q, seqlen_k, head_dim;
    int32_t causal;   /* 0: every key is visible */
    int32_t diagonal; /* causal: key j is visible to row i iff j <= i + diagonal */
    float scale_log2; /* scale * log2(e): softmax(scale * s) is 2^(scale_log2 * (s - max)) / sum */
};
