/* Tile constants of stage 4, for kernel.cu (where DIM is the image's) and for stage.c. */
#pragma once

#ifdef __cplusplus
#define TILE_FUNCTION constexpr
#else
#define TILE_FUNCTION static inline
#endif

struct tile {
    int bq;     /* query rows of a CTA */
    int bkv;    /* keys of a tile */
    int warps;  /* each owns a stripe of bq / warps = 16 or 32 rows */
    int stages; /* tiles of K and V that are in shared memory at once: one is read, the others come */
    int q_in_registers; /* else Q fragments are read from shared memory again for each tile */
    int ctas;           /* on an SM, so that registers suffice: 65536 / (32 * warps * ctas) each */
};

TILE_FUNCTION struct tile tile_of(int dim) {
#ifdef SWEEP_BQ /* a tile to try, from the compiler's command line*/
    (void)dim;
    const struct tile swept = {SWEEP_BQ,     SWEEP_BKV, SWEEP_WARPS,
                               SWEEP_STAGES, SWEEP_Q,   SWEEP_CTAS};
    return swept;
#else
    /*                         bq  bkv warps stages q ctas     shared bytes */
    const struct tile d32 = {128, 128, 4, 2, 1, 2};  /* 40960 */
    const struct tile d64 = {128, 64, 4, 2, 1, 2};   /* 49152 */
    const struct tile d96 = {128, 64, 4, 2, 0, 2};   /* 73728 */
    const struct tile d128 = {128, 32, 4, 2, 0, 2};  /* 65536 */
    const struct tile d256 = {64, 32, 4, 2, 0, 2};   /* 98304 */
    return dim == 32 ? d32 : dim == 64 ? d64 : dim == 96 ? d96 : dim == 128 ? d128 : d256;
#endif
}

/* q_smem, and stages times k_smem and v_smem */
TILE_FUNCTION int tile_shared_bytes(struct tile t, int dim) {
    return (t.bq + 2 * t.stages * t.bkv) * dim * 2;
}

/* The keys of one row of tiles are split over n_splits CTAs (blockIdx.y). If that is more than one, each
 * leaves its O and its log2 of sums here, and the kernel `combine` weighs them together. */
struct split_args {
    float *o;     /* (n_splits, batch * heads, seqlen_q, head_dim) */
    float *lse;   /* (n_splits, batch * heads, seqlen_q), base 2 */
    int n_splits;
};

enum { COMBINE_THREADS = 128 }; /* a warp a row */
