/* Stage 2 on the host: what it supports, and one launch. */
#include "common/base/reason.h"
#include "common/harness/stage.h"
#include "tile.h"

#include <stdio.h>

static const char *supports(const struct attention *a, const struct chip *chip) {
    (void)chip;
    if (a->head_dim != 64 && a->head_dim != 128)
        return reason("stage 2 takes head_dim 64 and 128, not %d (stage 1 takes any multiple of 8 "
                      "up to 256)",
                      a->head_dim);
    if (a->seqlen_q > 65535 * BQ)
        return reason("stage 2 takes seqlen_q up to %d (grid.y), not %d", 65535 * BQ, a->seqlen_q);
    return NULL;
}

static const char *plan(const struct attention *a, struct device *d, const struct stage_tensors *t,
                        struct stage_plan *out) {
    (void)d;
    struct attention_args args = stage_args(a, t);
    *out = (struct stage_plan){.n_launches = 1};
    snprintf(out->image, sizeof out->image, "d%d", a->head_dim);
    struct device_launch *l = &out->launch[0];
    *l = (struct device_launch){
        .kernel = "attention",
        .grid = {a->batch * a->heads, (a->seqlen_q + BQ - 1) / BQ, 1},
        .block = {32 * WARPS, 1, 1},
        .shared_bytes = SHARED_BYTES(a->head_dim),
    };
    device_launch_arg(l, &args, sizeof args);
    return NULL;
}

/* A tile of S is (BQ / 16) (BKV / 16) (head_dim / 16) WMMA products of 16 x 16 x 16, and each of
 * them is 2 HMMA instructions of 16 x 8 x 16. Tiles are counted as the kernel walks: those that the
 * last row of a CTA can see. */
static double tensor_instructions(const struct attention *a, const struct chip *chip) {
    (void)chip;
    double n_tiles = 0;
    for (int64_t q0 = 0; q0 < a->seqlen_q; q0 += BQ) {
        int64_t kv_end = a->seqlen_k, visible = q0 + BQ + attention_diagonal(a);
        if (a->mask != MASK_NONE && visible < kv_end) kv_end = visible;
        if (kv_end > 0) n_tiles += (kv_end + BKV - 1) / BKV;
    }
    return n_tiles * a->batch * a->heads * (BQ / 16) * (BKV / 16) * (a->head_dim / 16.0) * 2;
}

const struct stage stage = {
    .name = STAGE_FOLDER,
    .previous = STAGE_PREVIOUS,
    .row_error_limit = 5e-4, /* P stays in fp32 */
    .max_registers = 168,    /* 3 CTAs on an SM */
    .tensor_family = "HMMA",
    .supports = supports,
    .plan = plan,
    .tensor_instructions = tensor_instructions,
};
