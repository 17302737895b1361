/* Stage 2 on the host: what it supports, and one launch. */
#include "common/harness/one_launch.h"
#include "common/base/reason.h"
#include "tile.h"

static struct one_launch launch_of(int dim) {
    const struct tile t = tile_of(dim);
    return (struct one_launch){t.bq, t.bkv, 32 * t.warps, tile_shared_bytes(t, dim)};
}

static const char *supports(const struct attention *a, const struct chip *chip) {
    const struct one_launch l = launch_of(a->head_dim);
    (void)chip;
    if (a->head_dim != 64 && a->head_dim != 128)
        return reason("stage 2 takes head_dim 64 and 128, not %d (stage 1 takes any multiple of 8 "
                      "up to 256)",
                      a->head_dim);
    return one_launch_supports(a, &l);
}

static const char *plan(const struct attention *a, struct device *d, const struct stage_tensors *t,
                        struct stage_plan *out) {
    const struct one_launch l = launch_of(a->head_dim);
    (void)d;
    one_launch_plan(a, t, a->head_dim, &l, out);
    return NULL;
}

/* A tile of S is (BQ / 16) (BKV / 16) (head_dim / 16) WMMA products of 16 x 16 x 16, and each of
 * them is 2 HMMA instructions of 16 x 8 x 16. */
static double tensor_instructions(const struct attention *a, const struct chip *chip) {
    const struct one_launch l = launch_of(a->head_dim);
    (void)chip;
    return one_launch_tiles(a, &l) * (l.bq / 16) * (l.bkv / 16) * (a->head_dim / 16.0) * 2;
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
