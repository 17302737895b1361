/* Stage 1 on the host: what it supports, and one launch. */
#include "common/base/reason.h"
#include "common/harness/stage.h"
#include "tile.h"

#include <stdio.h>

static const char *supports(const struct attention *a, const struct chip *chip) {
    (void)chip;
    if (a->head_dim % 8 != 0 || a->head_dim > 256)
        return reason("stage 1 takes head_dim 8, 16 ... 256 (multiples of 8), not %d", a->head_dim);
    if (a->seqlen_q > 65535 * BQ)
        return reason("stage 1 takes seqlen_q up to %d (grid.y), not %d", 65535 * BQ, a->seqlen_q);
    return NULL;
}

static const char *plan(const struct attention *a, struct device *d, const struct stage_tensors *t,
                        struct stage_plan *out) {
    (void)d;
    int dim = a->head_dim <= 64 ? 64 : a->head_dim <= 128 ? 128 : 256;
    struct attention_args args = stage_args(a, t);
    *out = (struct stage_plan){.n_launches = 1};
    snprintf(out->image, sizeof out->image, "d%d", dim);
    struct device_launch *l = &out->launch[0];
    *l = (struct device_launch){
        .kernel = "attention",
        .grid = {a->batch * a->heads, (a->seqlen_q + BQ - 1) / BQ, 1},
        .block = {32 * WARPS, 1, 1},
        .shared_bytes = SHARED_BYTES(dim),
    };
    device_launch_arg(l, &args, sizeof args);
    return NULL;
}

const struct stage stage = {
    .name = STAGE_FOLDER,
    .previous = STAGE_PREVIOUS,
    .row_error_limit = 5e-4, /* P stays in fp32 */
    .max_registers = 232,    /* at head_dim 256; at 64 it is 160 */
    .supports = supports,
    .plan = plan,
};
