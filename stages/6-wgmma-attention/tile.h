/* Tile constants of stage 6, for kernel.cu (where DIM and SHAPE are the image's) and for stage.c.
 *
 *   head_dim             64            128                 256
 *   shape           long   split   long short split   long
 *   warpgroups         3       2      3     2     2      2    each owns 64 rows; one more loads
 *   key groups         1       2      1     1     2      1    split: warpgroups share rows, not keys
 *   BQ               192      64    192   128    64    128    query rows of a CTA
 *   BKV              128     128     80   128    64     64    keys of a tile
 *
 * `long` is the fastest per row. `short` loses less where seqlen_q is not many tiles. `split` gives 64
 * rows to a CTA and half of the keys to each of its warpgroups, for problems that do not fill the chip. */
#pragma once

#include "divisor.h"

#define SHAPE_LONG  0
#define SHAPE_SHORT 1
#define SHAPE_SPLIT 2

#define SHORT_ROWS 1536 /* seqlen_q up to which `short` is taken where there is one */

#define HAS_SHAPE(dim, shape)                                                                      \
    ((shape) == SHAPE_LONG || (dim) == 128 || ((dim) == 64 && (shape) == SHAPE_SPLIT))
#define WARPGROUPS_OF(dim, shape) ((dim) <= 128 && (shape) == SHAPE_LONG ? 3 : 2)
#define KEY_GROUPS_OF(shape)      ((shape) == SHAPE_SPLIT ? 2 : 1)
#define BQ_OF(dim, shape)         (64 * WARPGROUPS_OF(dim, shape) / KEY_GROUPS_OF(shape))
#define BKV_OF(dim, shape)                                                                         \
    ((dim) == 64              ? 128                                                                \
     : (dim) == 256           ? 64                                                                 \
     : (shape) == SHAPE_LONG  ? 80                                                                 \
     : (shape) == SHAPE_SHORT ? 128                                                                \
                              : 64)
#define THREADS_OF(dim, shape) (128 * (WARPGROUPS_OF(dim, shape) + 1))
#define STAGES                 2 /* KV tiles in flight for each key group */

/* At head_dim 64 the tensor cores also add up the rows of P: a product with a page of ones. */
#define ONES_OF(dim) ((dim) == 64)

/* Switches of the experiments in `images`. */
#ifndef TAKE_TURNS
#define TAKE_TURNS 1 /* 0: warpgroups issue products whenever they can */
#endif
#ifndef EXP_FMA
#define EXP_FMA 0 /* 4: every 4th exponential on the FMA pipes (ex2_fma.cuh); even */
#endif

/* At head_dim 256 the output tile has no shared memory of its own: it takes that of Q. */
#define O_IN_Q_OF(dim) ((dim) == 256)

/* Split: floats that a thread leaves for the other key group: maxima, row sums, half of its O. */
#define PARTIAL_FLOATS(dim) (4 + (dim) / 4)

#define Q_BYTES_OF(dim, shape)    (2 * BQ_OF(dim, shape) * (dim))
#define KV_BYTES_OF(dim, shape)   (2 * KEY_GROUPS_OF(shape) * STAGES * BKV_OF(dim, shape) * (dim))
#define ONES_BYTES_OF(dim, shape) (ONES_OF(dim) ? 128 * BKV_OF(dim, shape) : 0)

/* 1024 to align, Q, K, V, O, ones, partial results */
#define SHARED_BYTES(dim, shape)                                                                   \
    (1024 + (O_IN_Q_OF(dim) ? 1 : 2) * Q_BYTES_OF(dim, shape) + 2 * KV_BYTES_OF(dim, shape) +      \
     ONES_BYTES_OF(dim, shape) + ((shape) == SHAPE_SPLIT ? 2 * PARTIAL_FLOATS(dim) * 128 * 4 : 0))

/* What there is to do, in tiles of BQ rows of one head. */
struct schedule {
    int32_t n_tiles;
    int32_t heads_per_section;    /* batch-heads whose tiles are handed out together */
    int32_t n_full;               /* tiles of whole BQ rows */
    struct divisor full_per_head; /* seqlen_q / BQ, if not 0 */
    struct divisor section_tiles; /* heads_per_section * tiles of a head */
    struct divisor section_heads; /* heads_per_section */
    struct divisor heads, group;  /* args.heads; heads / kv_heads */
    uint32_t *counter; /* 0 before and after a launch: tiles handed out beyond the first */
};
