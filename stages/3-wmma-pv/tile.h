/* Tile constants of stage 3, for kernel.cu (where DIM is the image's) and for stage.c. */
#pragma once

#define BQ     64 /* query rows of a CTA */
#define BKV    64 /* keys of a tile */
#define WARPS  4  /* each owns a stripe of BQ / WARPS = 16 rows */
#define STAGES 2  /* K and V buffers: one is computed, the other filled */
#define PAD    8  /* elements added to every shared row, so that rows start in different banks */

/* CTAs for which an SM of 228 KB has shared memory; registers must not allow fewer. */
#define CTAS_OF(dim) ((dim) <= 64 ? 4 : 2)

/* k_smem, v_smem (fp16), s_smem, alpha_smem (fp32); q_smem and p_smem lie inside s_smem */
#define SHARED_BYTES(dim) (2 * STAGES * BKV * ((dim) + PAD) * 2 + BQ * (BKV + PAD) * 4 + BQ * 4)
