/* Stage 4 on the host: what it supports, how the keys are split, one launch or two. */
#include "reason.h"
#include "stage.h"
#include "tile.h"

#include <stdio.h>

enum { MAX_SPLITS = 32 };

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

static int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t n_q_tiles(const struct attention *a) {
    return ceil_div(a->seqlen_q, tile_of(a->head_dim).bq);
}

/* Tiles of keys that the last row of one tile of queries can see. */
static int64_t n_kv_tiles(const struct attention *a, int64_t q_tile) {
    const struct tile tile = tile_of(a->head_dim);
    int64_t kv_end = a->seqlen_k;
    if (a->mask != MASK_NONE) kv_end = min(kv_end, (q_tile + 1) * tile.bq + attention_diagonal(a));
    return kv_end > 0 ? ceil_div(kv_end, tile.bkv) : 0;
}

/* The rule: as long as all CTAs fit on the chip at once, more of them with fewer keys each finish earlier;
 * but one tile of keys cannot be split. */
static int n_splits(const struct attention *a, const struct chip *chip) {
    const int64_t ctas = a->batch * a->heads * n_q_tiles(a);
    const int64_t tiles = n_kv_tiles(a, n_q_tiles(a) - 1);
    const int64_t n = min(min(chip->n_sms * tile_of(a->head_dim).ctas / ctas, tiles), MAX_SPLITS);
    return n > 1 ? (int)n : 1;
}

static const char *supports(const struct attention *a, const struct chip *chip) {
    const int d = a->head_dim;
    if (d != 32 && d != 64 && d != 96 && d != 128 && d != 256)
        return reason("stage 4 takes head_dim 32, 64, 96, 128 or 256, not %d", d);
    if (chip->cc < 80)
        return reason("stage 4 needs mma.sync m16n8k16 and cp.async, which %s (sm_%d) does not have",
                      chip->board, chip->cc);
    if (a->batch * (int64_t)a->heads * n_q_tiles(a) > INT32_MAX)
        return reason("stage 4 takes up to 2^31 - 1 tiles of queries (grid.x)");
    return NULL;
}

static size_t workspace_bytes(const struct attention *a, const struct chip *chip) {
    const int64_t n_rows = a->batch * (int64_t)a->heads * a->seqlen_q;
    if (n_rows == 0 || n_splits(a, chip) == 1) return 0;
    return (size_t)(n_splits(a, chip) * n_rows * (a->head_dim + 1)) * sizeof(float);
}

static const char *plan(const struct attention *a, struct device *d, const struct stage_tensors *t,
                        struct stage_plan *out) {
    const struct tile tile = tile_of(a->head_dim);
    const struct attention_args args = stage_args(a, t);
    const int64_t n_rows = a->batch * (int64_t)a->heads * a->seqlen_q;
    struct split_args split = {.n_splits = n_splits(a, &device_info(d)->chip)};
    if (split.n_splits > 1) {
        split.o = (float *)t->workspace;
        split.lse = split.o + split.n_splits * n_rows * a->head_dim;
    }
    *out = (struct stage_plan){.n_launches = split.n_splits > 1 ? 2 : 1};
    snprintf(out->image, sizeof out->image, "d%d", a->head_dim);
    out->launch[0] = (struct device_launch){
        .kernel = "attention",
        .grid = {(unsigned)(a->batch * a->heads * n_q_tiles(a)), (unsigned)split.n_splits, 1},
        .block = {32u * (unsigned)tile.warps, 1, 1},
        .shared_bytes = (unsigned)tile_shared_bytes(tile, a->head_dim),
    };
    out->launch[1] = (struct device_launch){
        .kernel = "combine",
        .grid = {(unsigned)ceil_div(n_rows, COMBINE_THREADS / 32), 1, 1},
        .block = {COMBINE_THREADS, 1, 1},
    };
    for (int i = 0; i < out->n_launches; i++) {
        device_launch_arg(&out->launch[i], &args, sizeof args);
        device_launch_arg(&out->launch[i], &split, sizeof split);
    }
    return NULL;
}

/* mma.sync m16n8k16 in one tile: M16 * (BKV / 8) * (DIM / 16) a warp for each of the two products. */
static double tensor_instructions(const struct attention *a, const struct chip *chip) {
    (void)chip;
    const struct tile tile = tile_of(a->head_dim);
    double tiles = 0;
    for (int64_t i = 0; i < n_q_tiles(a); i++) tiles += (double)n_kv_tiles(a, i);
    return a->batch * (double)a->heads * tiles * 2 * (tile.bq / 16) * (tile.bkv / 8) *
           (a->head_dim / 16);
}

const struct stage stage = {
    .number = 4,
    .name = "4-tuned",
    .row_error_limit = 1e-3,
    .max_registers = 255,
    .tensor_family = "HMMA",
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .plan = plan,
    .tensor_instructions = tensor_instructions,
};
