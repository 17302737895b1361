/* Tile constants of stage 3, for kernel.cu (where DIM is the image's) and for stage.c. */
#pragma once

#include "common/cuda/constant_function.h"

struct tile {
    int bq;     /* query rows of a CTA */
    int bkv;    /* keys of a tile */
    int warps;  /* each owns a stripe of bq / warps = 16 rows */
    int stages; /* K and V buffers: one is computed, the other filled */
    int pad;    /* elements added to every shared row, so that rows start in different banks */
    int ctas;   /* for which an SM of 228 KB has shared memory; registers must not allow fewer */
};

CONSTANT_FUNCTION struct tile tile_of(int dim) {
    const struct tile tile = {64, 64, 4, 2, 8, dim <= 64 ? 4 : 2};
    return tile;
}

/* k_smem, v_smem (fp16), s_smem, alpha_smem (fp32); q_smem and p_smem lie inside s_smem */
CONSTANT_FUNCTION int tile_shared_bytes(struct tile t, int dim) {
    return 2 * t.stages * t.bkv * (dim + t.pad) * 2 + t.bq * (t.bkv + t.pad) * 4 + t.bq * 4;
}
