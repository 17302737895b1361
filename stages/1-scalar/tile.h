/* Tile constants of stage 1, for kernel.cu (where DIM is the image's) and for stage.c. */
#pragma once

#define BQ    64 /* query rows of a CTA */
#define WARPS 4  /* each owns a stripe of BQ / WARPS = 16 rows */
#define PAD   8  /* elements added to every shared row, so that rows start in different banks */

/* Keys of a tile: half as many at head_dim 256, so that all arrays fit the 99 KB of an Ada SM. */
#define BKV_OF(dim) ((dim) <= 128 ? 64 : 32)

/* q_smem, k_smem, v_smem (fp16), s_smem (fp32) */
#define SHARED_BYTES(dim)                                                                          \
    ((BQ + 2 * BKV_OF(dim)) * ((dim) + PAD) * 2 + BQ * (BKV_OF(dim) + PAD) * 4)
