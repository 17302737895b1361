/* Stage 1 on the host: what it supports, and one launch. */
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
    if (a->head_dim % 8 != 0 || a->head_dim > 256)
        return reason("stage 1 takes head_dim 8, 16 ... 256 (multiples of 8), not %d", a->head_dim);
    return one_launch_supports(a, &l);
}

static const char *plan(const struct attention *a, struct device *d, const struct stage_tensors *t,
                        struct stage_plan *out) {
    const int dim = a->head_dim <= 64 ? 64 : a->head_dim <= 128 ? 128 : 256;
    const struct one_launch l = launch_of(dim);
    (void)d;
    one_launch_plan(a, t, dim, &l, out);
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
