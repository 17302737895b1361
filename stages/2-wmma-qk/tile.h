/* Tile constants of stage 2, for kernel.cu (where DIM is the image's) and for stage.c. */
#pragma once

#include "common/cuda/constant_function.h"

#ifndef PADDING /* -DPADDING=0 makes the image that shows what the padding is for */
#define PADDING 8
#endif

struct tile {
    int bq;    /* query rows of a CTA */
    int bkv;   /* keys of a tile */
    int warps; /* each owns a stripe of bq / warps = 16 rows */
    int pad;   /* elements added to every shared row, so that rows start in different banks */
};

CONSTANT_FUNCTION struct tile tile_of(int dim) {
    const struct tile tile = {64, 64, 4, PADDING};
    (void)dim; /* one tile for all */
    return tile;
}

/* q_smem, k_smem, v_smem (fp16), s_smem (fp32) */
CONSTANT_FUNCTION int tile_shared_bytes(struct tile t, int dim) {
    return (t.bq + 2 * t.bkv) * (dim + t.pad) * 2 + t.bq * (t.bkv + t.pad) * 4;
}
