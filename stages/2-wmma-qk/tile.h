/* Tile constants of stage 2, for kernel.cu (where DIM is the image's) and for stage.c. */
#pragma once

#define BQ    64 /* query rows of a CTA */
#define BKV   64 /* keys of a tile */
#define WARPS 4  /* each owns a stripe of BQ / WARPS = 16 rows */
#ifndef PAD      /* -DPAD=0 makes the image that shows what the padding is for */
#define PAD 8    /* elements added to every shared row, so that rows start in different banks */
#endif

/* q_smem, k_smem, v_smem (fp16), s_smem (fp32) */
#define SHARED_BYTES(dim) ((BQ + 2 * BKV) * ((dim) + PAD) * 2 + BQ * (BKV + PAD) * 4)
