/* The rungs in steps/: their tiles, for kernels and steps.c, and on the host their plans. */
#pragma once

#include "tile.h"

enum { STEP_PAD = 8 }; /* elements added to every shared row up to step 2; step 3 permutes chunks */

/* Up to step 3 a warp has 16 rows, as in stage 3; then 32. Up to step 5 it holds S of a whole tile,
 * for which at head_dim 128 registers beside O have room for 32 keys; then 64 again. */
CONSTANT_FUNCTION struct tile step_tile(int step, int dim) {
    /*                          bq bkv  w  g  s  q ctas */
    const struct tile rows16 = {64, 64, 4, 1, 2, 1, dim == 64 ? 3 : 2};
    const struct tile rows32 = {128, dim == 64 ? 64 : 32, 4, 1, 2, dim == 64, 2};
    return step < 4 ? rows16 : step < 6 ? rows32 : tile_of(dim, LARGE);
}

#ifndef __CUDACC__
#include "common/harness/stage.h"

/* The rung that an image is of: 1 for d64-1-registers; 0: of none. */
int step_of(const char *image);

/* As stage.plan, for an image of a rung: out->image. */
const char *step_plan(const struct attention *a, const struct stage_tensors *t,
                      struct stage_plan *out);
#endif
