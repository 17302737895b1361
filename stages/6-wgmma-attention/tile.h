/* Tile constants of stage 6, for kernel.cu (where DIM and SHAPE are the image's) and for stage.c.
 *
 *   head_dim             64            128               256
 *   shape           long   split   long short split  long split
 *   warpgroups         3       2      3     2     2     2     1    64 rows each; producer: one more
 *   key groups         1       2      1     1     2     1     1    that share rows, not keys
 *   BQ               192      64    192   128    64   128    64    query rows of a CTA
 *   BKV              128     128     80   128    64    64    64    keys of a tile
 *
 * `long` is the fastest per row. `short` loses less where seqlen_q is not
 * many tiles. `split` is for problems that do not fill the chip: a cluster
 * of CTAs has 64 rows, each of its warpgroups a share of the keys. */
#pragma once

#include "divisor.h"

#define SHAPE_LONG  0
#define SHAPE_SHORT 1
#define SHAPE_SPLIT 2

#define SHORT_ROWS 1536 /* seqlen_q up to which `short` is taken where there is one */

/* Split: CTAs that share keys, and for how many keys one is worth its while. */
#define MAX_SPLIT      8
#define MIN_GROUP_KEYS 128

/* Clusters of MAX_SPLIT CTAs that are placed while the launch before still runs crowd into some
 * GPCs, whose bandwidth then limits them; with so few keys that does not matter. */
#define CROWDED_KEYS 4096

#define HAS_SHAPE(dim, shape) ((shape) != SHAPE_SHORT || (dim) == 128)
#define WARPGROUPS_OF(dim, shape)                                                                  \
    ((dim) == 256 ? (shape) == SHAPE_SPLIT ? 1 : 2 : (shape) == SHAPE_LONG ? 3 : 2)
#define KEY_GROUPS_OF(dim, shape) ((shape) == SHAPE_SPLIT ? WARPGROUPS_OF(dim, shape) : 1)
#define BQ_OF(dim, shape)         (64 * WARPGROUPS_OF(dim, shape) / KEY_GROUPS_OF(dim, shape))
#define BKV_OF(dim, shape)                                                                         \
    ((dim) == 64              ? 128                                                                \
     : (dim) == 256           ? 64                                                                 \
     : (shape) == SHAPE_LONG  ? 80                                                                 \
     : (shape) == SHAPE_SHORT ? 128                                                                \
                              : 64)
/* The producer is a warpgroup, so that setmaxnreg can take its registers; split: a warp. */
#define THREADS_OF(dim, shape)                                                                     \
    (128 * WARPGROUPS_OF(dim, shape) + ((shape) == SHAPE_SPLIT ? 32 : 128))
#define STAGES 2 /* KV tiles in flight for each key group */

/* At head_dim 64 the tensor cores also add up the rows of P: a product with a page of ones. */
#define ONES_OF(dim, shape) ((dim) == 64 && (shape) != SHAPE_SPLIT)

/* Switches of the experiments in `images`. */
#ifndef TAKE_TURNS
#define TAKE_TURNS 1 /* 0: warpgroups issue products whenever they can */
#endif
#ifndef EXP_FMA
#define EXP_FMA 0 /* 4: every 4th exponential on the FMA pipes (ex2_fma.cuh); even */
#endif

/* The output tile has shared memory of its own, but at head_dim 256 takes that of Q; split shapes
 * exchange results where Q and K were (combine.cuh). */
#define O_IN_Q_OF(dim, shape) ((dim) == 256 || (shape) == SHAPE_SPLIT)

#define Q_BYTES_OF(dim, shape) (2 * BQ_OF(dim, shape) * (dim))
#define KV_BYTES_OF(dim, shape)                                                                    \
    (2 * KEY_GROUPS_OF(dim, shape) * STAGES * BKV_OF(dim, shape) * (dim))
#define O_BYTES_OF(dim, shape)    (O_IN_Q_OF(dim, shape) ? 0 : Q_BYTES_OF(dim, shape))
#define ONES_BYTES_OF(dim, shape) (ONES_OF(dim, shape) ? 128 * BKV_OF(dim, shape) : 0)

/* 1024 to align, Q, K, V, O, ones */
#define SHARED_BYTES(dim, shape)                                                                   \
    (1024 + Q_BYTES_OF(dim, shape) + 2 * KV_BYTES_OF(dim, shape) + O_BYTES_OF(dim, shape) +        \
     ONES_BYTES_OF(dim, shape))

/* What there is to do, in tiles of BQ rows of one head; packed heads, 2^pack of a GQA group, count
 * as one: its row r is query r >> pack of head r % 2^pack. */
struct schedule {
    int32_t n_tiles;
    int32_t heads_per_section;    /* batch-heads whose tiles are handed out together */
    int32_t n_full;               /* tiles of whole BQ rows */
    struct divisor full_per_head; /* of those, if not 0 */
    struct divisor section_tiles; /* heads_per_section * tiles of a head */
    struct divisor section_heads; /* heads_per_section */
    struct divisor heads, group;  /* heads of a batch; those that share a KV head */
    int32_t pack;                 /* log2 of the heads packed */
    int32_t split;                /* log2 of the CTAs that share a tile: a cluster */
    uint32_t *counter; /* 0 before and after a launch: tiles handed out beyond the first */
};
