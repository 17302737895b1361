/* Tile constants of stage 1, for kernel.cu (where DIM is the image's) and for stage.c. */
#pragma once

#include "common/cuda/constant_function.h"

struct tile {
    int bq;    /* query rows of a CTA */
    int bkv;   /* keys of a tile */
    int warps; /* each owns a stripe of bq / warps = 16 rows */
    int pad;   /* elements added to every shared row, so that rows start in different banks */
};

/* Half as many keys at head_dim 256, so that all arrays fit the 99 KB of an Ada SM. */
CONSTANT_FUNCTION struct tile tile_of(int dim) {
    const struct tile tile = {64, dim <= 128 ? 64 : 32, 4, 8};
    return tile;
}

/* q_smem, k_smem, v_smem (fp16), s_smem (fp32) */
CONSTANT_FUNCTION int tile_shared_bytes(struct tile t, int dim) {
    return (t.bq + 2 * t.bkv) * (dim + t.pad) * 2 + t.bq * (t.bkv + t.pad) * 4;
}
