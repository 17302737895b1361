/* Tiles of stage 4, for kernel.cu (where DIM and SIZE are the image's) and for stage.c. */
#pragma once

#include "common/cuda/constant_function.h"
#include "common/cuda/divisor.h"

struct tile {
    int bq;     /* query rows of a CTA */
    int bkv;    /* keys of a tile */
    int warps;  /* of a group; each owns a stripe of bq / warps = 16 or 32 rows */
    int groups; /* of warps in a CTA: all have the same queries, each its own share of the keys */
    int stages; /* K and V buffers of a group: one is computed, the others are filled; 1: K is
                   filled while V is read, and V, which lies where Q was, while K is */
    int q_in_registers; /* else Q fragments are read from shared memory again for each tile */
    int ctas;           /* on an SM, for which registers must suffice */
};

/* The tile of a head_dim. Large: as many queries for each load of K and V as registers can hold.
 * Small: for problems with too few large tiles. Wide, head_dim 256 only: twice the rows of a large
 * one, for problems that fill the SMs with them. See stage.c. Chosen by `make stage-4 sweep` on an
 * H200 (records/runs/h200-stage-4.jsonl) among the tiles that fit the 99 KB that a CTA can have
 * on Ada and do not spill. TFLOPS there; B2 H16 S4096, small tiles B1 H8 S512:
 *
 *             none  causal   faster in the sweep
 *   d32        272     265   none: 3 stages, 274
 *   d64        372     335
 *   d96        359     333
 *   d128       400     369
 *   d256       304     285   128x64, 8 warps, 313 and 300: 192 KB; of 64x32, two stages
 *   wide256    320     286   later, B2 H16 S2048: 64x32 has 299 and 271 there (notes/tiles.md)
 *   small32     61      31
 *   small64     94      46
 *   small96     89      46   4 groups, 96 and 52: 103 KB
 *   small128   116      58   4 groups, 129 and 64: 137 KB
 *   small256   121      60   32x32, 129 and 65: 145 KB
 *
 * So one tile serves both masks, and all chips. No Ada board was measured: what fits there, and how
 * many CTAs an SM holds, is arithmetic (README). */
enum size { LARGE, SMALL, WIDE };

CONSTANT_FUNCTION struct tile tile_of(int dim, enum size size) {
#ifdef SWEEP_BQ /* a tile to try, from the compiler's command line: see `sweep` */
    (void)dim, (void)size;
    const struct tile swept = {SWEEP_BQ,     SWEEP_BKV, SWEEP_WARPS, SWEEP_GROUPS,
                               SWEEP_STAGES, SWEEP_Q,   SWEEP_CTAS};
    return swept;
#else
    /*                       bq bkv  w  g  s  q ctas    shared bytes */
    const struct tile d32 = {128, 64, 4, 1, 2, 1, 3};     /* 24576 */
    const struct tile d64 = {128, 64, 4, 1, 2, 1, 2};     /* 49152 */
    const struct tile d96 = {128, 64, 4, 1, 2, 0, 2};     /* 73728 */
    const struct tile d128 = {128, 64, 4, 1, 2, 0, 2};    /* 98304 */
    const struct tile d256 = {64, 64, 4, 1, 1, 1, 2};     /* 65536 */
    const struct tile small32 = {32, 64, 2, 4, 2, 1, 2};  /* 68608 */
    const struct tile small64 = {32, 32, 2, 4, 2, 1, 2};  /* 70656 */
    const struct tile small96 = {32, 32, 2, 2, 2, 1, 2};  /* 55808 */
    const struct tile small128 = {32, 32, 2, 2, 2, 1, 2}; /* 74240 */
    const struct tile small256 = {32, 16, 2, 2, 2, 0, 2}; /* 82432 */
    const struct tile wide256 = {128, 64, 8, 1, 1, 1, 1}; /* 98304 */
    if (size == WIDE) return wide256;
    if (size == SMALL)
        return dim == 32    ? small32
               : dim == 64  ? small64
               : dim == 96  ? small96
               : dim == 128 ? small128
                            : small256;
    return dim == 32 ? d32 : dim == 64 ? d64 : dim == 96 ? d96 : dim == 128 ? d128 : d256;
#endif
}

/* q_smem; for each group and stage k_smem and v_smem, with one stage k_smem alone; with several
 * groups, each row's reference and sum, fp32 */
CONSTANT_FUNCTION int tile_shared_bytes(struct tile t, int dim) {
    if (t.stages == 1) return (t.bq + t.bkv) * dim * 2;
    return (t.bq + 2 * t.groups * t.stages * t.bkv) * dim * 2 +
           (t.groups > 1 ? t.groups * t.bq * 8 : 0);
}

/* The keys of a row of tiles are shared out over n_splits CTAs (blockIdx.y). If that is more than
 * one, each leaves its O and LSE here, and a second kernel, `combine`, weighs them together. */
struct split_args {
    float *o;   /* (n_splits, batch, heads, seqlen_q, head_dim) */
    float *lse; /* (n_splits, batch, heads, seqlen_q), base 2 */
    int n_splits;
    struct divisor inner; /* of blockIdx.x: tiles of a head; with a mask, heads of a section */
    struct divisor heads, group; /* heads of a batch; those that share a KV head */
    struct divisor shares;       /* of the keys: n_splits * tile.groups */
};

enum { COMBINE_THREADS = 128 }; /* a warp a row */
