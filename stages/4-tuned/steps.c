/* The rungs of stage 4 on the host: one launch each, of the tile that steps.h gives it. */
#include "steps.h"

#include "common/harness/one_launch.h"
#include "common/base/reason.h"

#include <stdio.h>
#include <string.h>

int step_of(const char *image) {
    int dim, step;
    return sscanf(image, "d%d-%d-", &dim, &step) == 2 ? step : 0;
}

/* Up to step 4 a CTA finds its head and rows in blockIdx.x and .y, from then on both in .x. */
const char *step_plan(const struct attention *a, const struct stage_tensors *t,
                      struct stage_plan *out) {
    const int step = step_of(out->image), dim = a->head_dim, pad = step < 3 ? STEP_PAD : 0;
    const struct tile tile = step_tile(step, dim);
    const struct one_launch l = {tile.bq, tile.bkv, 32 * tile.warps,
                                 tile_shared_bytes(tile, dim + pad)};
    char image[sizeof out->image];
    snprintf(image, sizeof image, "%s", out->image);
    if (dim != 64 && dim != 128)
        return reason_as(STATUS_UNSUPPORTED, "the steps take head_dim 64 and 128, not %d", dim);
    const char *why = step < 5 ? one_launch_supports(a, &l) : NULL;
    if (why) return reason_as(STATUS_UNSUPPORTED, "%s", why);
    one_launch_plan(a, t, dim, &l, out);
    snprintf(out->image, sizeof out->image, "d%d%s", dim, strchr(image, '-'));
    out->is_other_kernel = true;
    unsigned *grid = out->launch[0].grid;
    if (step >= 5) grid[0] *= grid[1], grid[1] = 1;
    return NULL;
}
