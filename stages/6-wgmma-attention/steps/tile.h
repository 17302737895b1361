/* The tiles of the rungs, for steps/N-*.cu and for steps.c. */
#pragma once

#include "stages/6-wgmma-attention/tile.h"

/* Rungs 1 to 3 have one warpgroup; from rung 4 on the tile is that of kernel.cu. */
CONSTANT_FUNCTION struct tile step_tile_of(int dim, int step) {
    const struct tile alone = {1, 1, 64, 128, 128, 0, 0, 1, 1, 1},
                      ring = {1, 1, 64, 128, 160, 0, 0, 1, 1, 2};
    return step < 3 ? alone : step == 3 ? ring : tile_of(dim, SHAPE_LONG);
}

/* 1024 to align, Q, K, V; rungs 1 and 2 have one buffer for K and V, not a ring of STAGES; from
 * rung 10 on O and, at head_dim 64, ones */
CONSTANT_FUNCTION int step_shared_bytes(int dim, int step) {
    const struct tile t = step_tile_of(dim, step);
    const int stages = step < 3 ? 1 : STAGES;
    return step < 10 ? 1024 + 2 * dim * (t.bq + 2 * stages * t.bkv) : tile_shared_bytes(t, dim);
}
