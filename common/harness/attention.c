#include "attention.h"

#include "input.h"
#include "common/base/reason.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

struct attention attention_default(void) {
    return (struct attention){
        .batch = 1, .heads = 8, .kv_heads = 8, .seqlen_q = 512, .seqlen_k = 512, .head_dim = 64};
}

static bool stride_is_unset(const struct tensor_stride *s) {
    return s->batch == 0 && s->head == 0 && s->row == 0;
}

static struct tensor_stride stride_contiguous(int heads, int seqlen, int head_dim) {
    return (struct tensor_stride){.batch = (int64_t)heads * seqlen * head_dim,
                                  .head = (int64_t)seqlen * head_dim,
                                  .row = head_dim};
}

static size_t elements(const struct tensor_stride *s, int batch, int heads, int seqlen,
                       int head_dim) {
    if (batch == 0 || heads == 0 || seqlen == 0) return 0;
    return (batch - 1) * s->batch + (heads - 1) * s->head + (seqlen - 1) * s->row + head_dim;
}

static const char *check_stride(const char *tensor, const struct tensor_stride *s, int batch,
                                int heads, int seqlen, int head_dim) {
    if (s->batch < 0 || s->head < 0 || s->row < 0)
        return reason("%s has a negative stride; strides run forward", tensor);
    if (s->batch % 8 || s->head % 8 || s->row % 8)
        return reason(
            "%s has a stride that is not a multiple of 8; rows are read 16 bytes at a time",
            tensor);
    double span =
        (double)batch * s->batch + (double)heads * s->head + (double)seqlen * s->row + head_dim;
    if (span > 0x1p40)
        return reason("%s spans %.3g elements; a tensor may span 2^40", tensor, span);
    return NULL;
}

void attention_draw_strides(struct attention *a, uint64_t seed) {
    struct tensor_stride *const of[4] = {&a->q_stride, &a->k_stride, &a->v_stride, &a->o_stride};
    const uint64_t first = input_random(seed, 0x57d1, 0) % 4;
    for (uint64_t t = 0; t < 4; t++) {
        const int heads = t % 3 ? a->kv_heads : a->heads;
        const int64_t seqlen = t % 3 ? a->seqlen_k : a->seqlen_q;
        const uint64_t random = input_random(seed, 0x57d1, 1 + t);
        /* each of the four has another remainder modulo 32 elements, so no two gaps are the same */
        const int64_t gap = 8 * (1 + (int64_t)((first + t) % 4)) + 32 * (int64_t)(random >> 8 & 1);
        const int64_t least = a->head_dim + gap, behind = 8 * (1 + (int64_t)(random >> 16 & 7));
        if (random & 1)
            *of[t] = (struct tensor_stride){
                .head = least, .row = heads * least, .batch = seqlen * heads * least + behind};
        else
            *of[t] = (struct tensor_stride){.row = least,
                                            .head = seqlen * least + behind,
                                            .batch = heads * (seqlen * least + behind) + behind};
    }
}

/* No two elements of O may share an address: by stride, each step clears what is inside. */
static bool stride_overlaps(const struct tensor_stride *s, int batch, int heads, int seqlen,
                            int head_dim) {
    int64_t stride[3] = {s->row, s->head, s->batch};
    int64_t extent[3] = {seqlen, heads, batch};
    int64_t span = head_dim;
    for (int taken = 0; taken < 3; taken++) {
        int best = -1;
        for (int i = 0; i < 3; i++)
            if (extent[i] > 1 && (best < 0 || stride[i] < stride[best])) best = i;
        if (best < 0) return false;
        if (stride[best] < span) return true;
        span += (extent[best] - 1) * stride[best];
        extent[best] = 1;
    }
    return false;
}

const char *attention_complete(struct attention *a) {
    if (a->batch < 0 || a->seqlen_q < 0 || a->seqlen_k < 0)
        return "batch and sequence lengths must be 0 or more";
    if (a->seqlen_q > 1 << 30 || a->seqlen_k > 1 << 30)
        return "sequence lengths may be up to 2^30: kernels add tiles to them in 32 bits";
    if (a->heads < 1 || a->kv_heads < 1) return "heads and kv-heads must be 1 or more";
    if (a->heads % a->kv_heads)
        return reason(
            "%d heads cannot share %d KV heads evenly: heads must be a multiple of kv-heads",
            a->heads, a->kv_heads);
    if (a->head_dim < 8 || a->head_dim % 8)
        return reason("head_dim %d is not a multiple of 8, and rows are read 16 bytes at a time",
                      a->head_dim);
    if (!isfinite(a->scale) || a->scale < 0)
        return reason("scale %g: it must be positive (0 stands for 1/sqrt(head_dim))", a->scale);
    if ((int64_t)a->batch * a->heads > INT32_MAX)
        return reason("batch * heads is %lld; a grid holds 2^31 - 1 blocks",
                      (long long)a->batch * a->heads);
    /* of one batch at least, and of one row: strides are worked out for empty tensors, too */
    double largest =
        fmax(a->batch, 1) * a->heads * fmax(fmax(a->seqlen_q, a->seqlen_k), 1) * a->head_dim;
    if (largest > 0x1p40) return reason("a tensor of %.3g elements; at most 2^40", largest);

    if (a->scale == 0) a->scale = (float)(1 / sqrt(a->head_dim));
    struct tensor_stride q = stride_contiguous(a->heads, a->seqlen_q, a->head_dim);
    struct tensor_stride kv = stride_contiguous(a->kv_heads, a->seqlen_k, a->head_dim);
    if (stride_is_unset(&a->q_stride)) a->q_stride = q;
    if (stride_is_unset(&a->k_stride)) a->k_stride = kv;
    if (stride_is_unset(&a->v_stride)) a->v_stride = kv;
    if (stride_is_unset(&a->o_stride)) a->o_stride = q;

    const char *why = check_stride("Q", &a->q_stride, a->batch, a->heads, a->seqlen_q, a->head_dim);
    if (!why)
        why = check_stride("K", &a->k_stride, a->batch, a->kv_heads, a->seqlen_k, a->head_dim);
    if (!why)
        why = check_stride("V", &a->v_stride, a->batch, a->kv_heads, a->seqlen_k, a->head_dim);
    if (!why) why = check_stride("O", &a->o_stride, a->batch, a->heads, a->seqlen_q, a->head_dim);
    if (!why && attention_o_elements(a) > 0 &&
        stride_overlaps(&a->o_stride, a->batch, a->heads, a->seqlen_q, a->head_dim))
        why = "the strides of O let two of its rows overlap";
    return why;
}

int64_t attention_diagonal(const struct attention *a) {
    switch (a->mask) {
    case MASK_CAUSAL_BOTTOM_RIGHT:
        return (int64_t)a->seqlen_k - a->seqlen_q;
    case MASK_CAUSAL_TOP_LEFT:
        return 0;
    case MASK_NONE:
        break;
    }
    return a->seqlen_k;
}

static int64_t clamp(int64_t x, int64_t low, int64_t high) {
    return x < low ? low : x > high ? high : x;
}

/* Row i sees i + diagonal + 1 keys, cut to 0 ... seqlen_k: nothing, then a ramp, then all. */
double attention_visible_pairs(const struct attention *a) {
    if (a->mask == MASK_NONE) return (double)a->seqlen_q * a->seqlen_k;
    int64_t diagonal = attention_diagonal(a);
    int64_t ramp = clamp(-diagonal, 0, a->seqlen_q); /* first row that sees a key */
    int64_t full =
        clamp(a->seqlen_k - 1 - diagonal, ramp, a->seqlen_q);   /* first that sees them all */
    double first = ramp + diagonal + 1, last = full + diagonal; /* keys seen along the ramp */
    return (full - ramp) * (first + last) / 2 + (double)(a->seqlen_q - full) * a->seqlen_k;
}

double attention_flops(const struct attention *a) {
    double pairs = (double)a->seqlen_q * a->seqlen_k;
    if (a->mask != MASK_NONE)
        pairs = a->seqlen_q == a->seqlen_k ? pairs / 2 : attention_visible_pairs(a);
    return 4.0 * a->batch * a->heads * pairs * a->head_dim;
}

size_t attention_q_elements(const struct attention *a) {
    return elements(&a->q_stride, a->batch, a->heads, a->seqlen_q, a->head_dim);
}

size_t attention_k_elements(const struct attention *a) {
    return elements(&a->k_stride, a->batch, a->kv_heads, a->seqlen_k, a->head_dim);
}

size_t attention_v_elements(const struct attention *a) {
    return elements(&a->v_stride, a->batch, a->kv_heads, a->seqlen_k, a->head_dim);
}

size_t attention_o_elements(const struct attention *a) {
    return elements(&a->o_stride, a->batch, a->heads, a->seqlen_q, a->head_dim);
}

size_t attention_lse_elements(const struct attention *a) {
    return (size_t)a->batch * a->heads * a->seqlen_q;
}

const char *attention_describe(const struct attention *a, char *out, size_t out_bytes) {
    char heads[32], seqlen[40];
    snprintf(heads, sizeof heads, a->heads == a->kv_heads ? "%d" : "%d/%d", a->heads, a->kv_heads);
    if (a->seqlen_q == a->seqlen_k)
        snprintf(seqlen, sizeof seqlen, "S%d", a->seqlen_q);
    else
        snprintf(seqlen, sizeof seqlen, "Sq%d Sk%d", a->seqlen_q, a->seqlen_k);
    static const char *const mask[] = {"", " causal", " causal top-left"};
    snprintf(out, out_bytes, "B%d H%s %s D%d%s%s", a->batch, heads, seqlen, a->head_dim,
             mask[a->mask], a->dtype == DTYPE_FP16 ? "" : " bf16");
    return out;
}
