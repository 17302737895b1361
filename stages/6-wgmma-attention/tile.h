/* Tiles of stage 6, for kernel.cu (where DIM and SHAPE are the image's) and for stage.c. */
#pragma once

#include "common/cuda/constant_function.h"
#include "common/cuda/divisor.h"

/* Long is the fastest per row. Short, which head_dim 128 has, loses less where seqlen_q is not many
 * tiles. In both the warpgroups of a CTA have 64 query rows each and all of the keys. Split is for
 * problems that do not fill the chip: a cluster of CTAs has 64 query rows, the same for all of its
 * warpgroups, and each of these has a share of the keys. Many, several small CTAs on an SM, is for
 * short sequences: while one waits for its first keys or writes O, another computes. Wide has as many
 * rows (head_dim 64) or keys (128) as registers allow: for a head of 256 rows, or where the KV tiles
 * of other shapes leave more of the last one empty. */
enum { SHAPE_LONG, SHAPE_SHORT, SHAPE_SPLIT, SHAPE_MANY, SHAPE_WIDE };

enum { STAGES = 2 }; /* KV tiles of a ring, in the rungs */

struct tile {
    int warpgroups; /* that compute; the producer is one more, or in split shapes one warp more */
    int key_groups; /* split: warpgroups, each with keys of its own; else 1, which has them all */
    int bq;         /* query rows of a CTA, 64 * warpgroups / key_groups */
    int bkv;        /* keys of a KV tile */
    int threads;    /* of a CTA, the producer's included */
    int ones;       /* the tensor cores also add up the rows of P: ones.cuh */
    int o_smem;     /* O leaves by way of shared memory, else straight from registers */
    int ctas;       /* on an SM at once */
    int q_stages;   /* tiles of O whose Q may be there at once */
    int stages;     /* KV tiles of a ring, for each key group */
};

CONSTANT_FUNCTION struct tile tile_of(int dim, int shape) {
    /*                          wgs kgs  bq bkv thr. ones o ctas q kv            shared bytes */
    const struct tile d64 = {3, 1, 192, 128, 512, 1, 1, 1, 1, 2};        /* 132096 */
    const struct tile d128 = {3, 1, 192, 80, 512, 0, 1, 1, 1, 2};        /* 181248 */
    const struct tile d256 = {2, 1, 128, 64, 384, 0, 0, 1, 1, 2};        /* 197632 */
    const struct tile d64_many = {2, 1, 128, 48, 384, 1, 1, 2, 2, 4};    /* 105472 */
    const struct tile d128_many = {1, 1, 64, 32, 160, 0, 0, 3, 1, 3};    /*  66560 */
    const struct tile d128_short = {2, 1, 128, 128, 384, 0, 1, 1, 2, 2}; /* 230400 */
    const struct tile d64_wide = {4, 1, 256, 64, 640, 1, 1, 1, 2, 4};    /* 173056 */
    const struct tile d128_wide = {2, 1, 128, 176, 384, 0, 0, 1, 1, 2};  /* 214016 */
    const struct tile d64_split = {2, 2, 64, 128, 288, 0, 0, 1, 1, 2};   /* 140288 */
    const struct tile d128_split = {2, 2, 64, 64, 288, 0, 0, 1, 1, 2};   /* 148480 */
    const struct tile d256_split = {1, 1, 64, 64, 160, 0, 0, 1, 1, 2};   /* 164864 */
    if (shape == SHAPE_SPLIT) return dim == 64 ? d64_split : dim == 128 ? d128_split : d256_split;
    if (shape == SHAPE_MANY) return dim == 64 ? d64_many : d128_many;
    if (shape == SHAPE_WIDE && dim < 256) return dim == 64 ? d64_wide : d128_wide;
    if (shape == SHAPE_SHORT && dim == 128) return d128_short;
    return dim == 64 ? d64 : dim == 128 ? d128 : d256;
}

/* Bytes of all stages of Q, of O, of all stages of K, and of all of V. */
CONSTANT_FUNCTION int tile_q_bytes(struct tile t, int dim) { return 2 * t.q_stages * t.bq * dim; }
CONSTANT_FUNCTION int tile_o_bytes(struct tile t, int dim) { return t.o_smem * 2 * t.bq * dim; }
CONSTANT_FUNCTION int tile_kv_bytes(struct tile t, int dim) {
    return 2 * t.key_groups * t.stages * t.bkv * dim;
}

/* 1024 to align, Q, K, V, O, ones */
CONSTANT_FUNCTION int tile_shared_bytes(struct tile t, int dim) {
    return 1024 + tile_q_bytes(t, dim) + 2 * tile_kv_bytes(t, dim) + tile_o_bytes(t, dim) +
           t.ones * 128 * t.bkv;
}

/* Split: how many CTAs may share a tile's keys, and for how many keys a key group pays. */
enum { MAX_SPLIT = 8, MIN_GROUP_KEYS = 128 };

/* Switches of the experiments in `images`. */
#ifndef TAKE_TURNS
#define TAKE_TURNS 1 /* 0: warpgroups issue products whenever they can */
#endif
#ifndef EXP_FMA
#define EXP_FMA 0 /* 4: every 4th exponential on the FMA pipes (ex2_fma.cuh); even */
#endif

#ifndef CUT_TILES
#define CUT_TILES 0 /* 1: the keys of some tiles are cut in parts (parts.cuh) */
#endif

/* Heads of a GQA group that are packed share tiles: of each query a tile has so many rows, a power of
 * two, of which the last ones may be of no head. */
CONSTANT_FUNCTION int packed_rows(int heads) {
    return heads < 2 ? 1 : 2 * packed_rows((heads + 1) / 2);
}

/* What there is to do, in tiles of BQ rows of one head; packed heads, a GQA group, count as one: its
 * row r is query r >> pack of the group's head r % 2^pack, if there is such a head. */
struct schedule {
    int32_t n_tiles;              /* parts count as tiles */
    uint32_t last_section;        /* number of the last section of batch-heads */
    int32_t n_full;               /* tiles in which every warpgroup has rows */
    struct divisor full_per_head; /* of those, if not 0 */
    struct divisor section_tiles; /* tiles of a section; the last one may have more, or fewer */
    struct divisor section_heads; /* batch-heads whose tiles are handed out together */
    struct divisor heads, group;  /* heads of a batch; those that share a KV head */
    int32_t pack;                 /* log2 of packed_rows(): rows of a query */
    int32_t n_packed;             /* heads packed; 1: none */
    int32_t split;                /* log2 of the CTAs that share a tile: a cluster */
    int32_t n_cut;                /* tiles that are cut in parts */
    struct divisor parts;         /* parts of each of them */
    void *part_o, *part_ml;       /* what the parts found: parts.cuh */
    uint32_t *counter; /* 0 before and after a launch: tiles handed out beyond the first */
};
