/* Stage 6 on the host: which image, four tensor maps, one launch. */
#include "common/base/reason.h"

#include "naive.h"
#include "common/harness/stage.h"
#include "tile.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* How a problem is cut: rows of `pack` heads share tiles, `split` CTAs share a tile's keys. */
struct cut {
    int shape, pack, split;
};

/* What there is to schedule: rows of all heads in tiles of BQ. */
static int64_t n_tiles(const struct attention *a, int shape, int pack) {
    int64_t rows = (int64_t)a->seqlen_q * pack;
    return (int64_t)a->batch * (a->heads / pack) * ceil_div(rows, BQ_OF(a->head_dim, shape));
}

/* The heads of a GQA group read the same K and V. Where few queries leave tiles empty, the group's
 * rows share tiles: as many tiles fewer read those keys. */
static int pack_of(const struct attention *a, int shape) {
    int group = a->heads / a->kv_heads;
    bool can = group <= 64 && 64 % group == 0 && (int64_t)a->seqlen_q * group < 1 << 30;
    return can && n_tiles(a, shape, group) < n_tiles(a, shape, 1) ? group : 1;
}

/* CTAs of a cluster: as many as run at once, one an SM, while every warpgroup has keys to look at.
 * Clusters of more than 2 do not fill the chip, for
 * a cluster lies within a GPC: an eighth is kept. */
static int split_of(const struct attention *a, const struct chip *chip, int64_t tiles) {
    int64_t keys = MIN_GROUP_KEYS * KEY_GROUPS_OF(a->head_dim, SHAPE_SPLIT);
    int n = 1;
    while (2 * n <= MAX_SPLIT && 2 * n * keys <= a->seqlen_k &&
           2 * n * tiles <= chip->n_sms - (n > 1 ? chip->n_sms / 8 : 0))
        n *= 2;
    return n;
}

/* Where the 64-row tiles all run at once, splitting keys brings more
 * SMs and warpgroups to work, each for less time. Below some rows,
 * 128-row tiles leave less of the last one empty than 192-row tiles. */
static struct cut cut_of(const struct attention *a, const struct chip *chip) {
    int dim = a->head_dim, pack = pack_of(a, SHAPE_SPLIT);
    int64_t tiles = n_tiles(a, SHAPE_SPLIT, pack);
    if (HAS_SHAPE(dim, SHAPE_SPLIT) && tiles <= chip->n_sms)
        return (struct cut){SHAPE_SPLIT, pack, split_of(a, chip, tiles)};
    bool is_short = HAS_SHAPE(dim, SHAPE_SHORT) && a->seqlen_q <= SHORT_ROWS;
    int shape = is_short ? SHAPE_SHORT : SHAPE_LONG;
    return (struct cut){shape, pack_of(a, shape), 1};
}

/* The same for the image that --image names; a problem that it is not for is refused. */
static const char *cut_for(const char *image, const struct attention *a, const struct chip *chip,
                           struct cut *out) {
    *out = cut_of(a, chip);
    if (!*image) return NULL;
    bool is_causal = strstr(image, "-causal"), is_naive = strstr(image, "-naive");
    if (atoi(image + 1) != a->head_dim)
        return reason_as(STATUS_USAGE, "image %s is not for head_dim %d", image, a->head_dim);
    if (!is_naive && is_causal != (a->mask != MASK_NONE))
        return reason_as(STATUS_USAGE, "image %s is for problems %s a mask", image,
                         is_causal ? "with" : "without");
    int shape = strstr(image, "-split")   ? SHAPE_SPLIT
                : strstr(image, "-short") ? SHAPE_SHORT
                                          : SHAPE_LONG;
    if (shape != out->shape) *out = (struct cut){shape, pack_of(a, shape), 1};
    return NULL;
}

static const char *map_rule(const char *name, const struct tensor_stride *s) {
    if (s->batch % 8 || s->head % 8)
        return reason("stage 6 takes head and batch strides that are multiples of 8 elements (TMA "
                      "counts in 16 bytes), not %s's %lld and %lld",
                      name, (long long)s->head, (long long)s->batch);
    return NULL;
}

static const char *supports(const struct attention *a, const struct chip *chip) {
    const char *why = NULL;
    if (chip->cc / 10 != 9)
        return reason("stage 6 takes Hopper (compute capability 9.0: WGMMA, TMA), not %s",
                      chip->board);
    if (a->head_dim != 64 && a->head_dim != 128 && a->head_dim != 256)
        return reason("stage 6 takes head_dim 64, 128 and 256, not %d", a->head_dim);
    if (n_tiles(a, SHAPE_SPLIT, 1) > INT_MAX / 2)
        return reason("stage 6 takes up to 2^30 tiles of 64 rows, not %lld",
                      (long long)n_tiles(a, SHAPE_SPLIT, 1));
    if (!why) why = map_rule("Q", &a->q_stride);
    if (!why) why = map_rule("K", &a->k_stride);
    if (!why) why = map_rule("V", &a->v_stride);
    if (!why) why = map_rule("O", &a->o_stride);
    return why;
}

/* One page of 64 elements by `rows` of K or V; what a box reaches beyond a head's last row is zero,
 * not the next head: that is why the map has 4 dimensions. */
static const char *make_map(struct device *d, device_ptr base, const struct tensor_stride *s,
                            const struct attention *a, int heads, int seqlen, int rows, void *map) {
    struct device_tensor_map m = {
        .base = base,
        .rank = 4,
        .extent = {a->head_dim, seqlen, heads, a->batch},
        .stride = {2, 2 * s->row, 2 * s->head, 2 * s->batch},
        .box = {64, rows, 1, 1},
        .swizzle_bytes = 128,
    };
    return device_tensor_map(d, &m, map);
}

/* The same for 64 rows of Q or O: of `pack` heads, as many queries each. */
static const char *make_packed_map(struct device *d, device_ptr base, const struct tensor_stride *s,
                                   const struct attention *a, int pack, void *map) {
    struct device_tensor_map m = {
        .base = base,
        .rank = 5,
        .extent = {a->head_dim, pack, a->seqlen_q, a->heads / pack, a->batch},
        .stride = {2, 2 * s->head, 2 * s->row, 2 * s->head * pack, 2 * s->batch},
        .box = {64, pack, 64 / pack, 1, 1},
        .swizzle_bytes = 128,
    };
    return device_tensor_map(d, &m, map);
}

static size_t workspace_bytes(const struct attention *a, const struct chip *chip) {
    (void)a, (void)chip;
    return sizeof(uint32_t); /* schedule.counter */
}

/* Causal tiles are handed out longest first, but only among as many heads as have their K and V
 * (shared by a GQA group) in 32 MB of L2 at once; of 8 to 42 MB that was the fastest on an H200,
 * and powers of two were faster than numbers in between. */
static int64_t heads_per_section(const struct attention *a, int pack) {
    double kv_bytes = 4.0 * a->seqlen_k * a->head_dim * a->kv_heads / a->heads * pack;
    int64_t n = 1, n_heads = (int64_t)a->batch * a->heads / pack;
    while (2 * n <= n_heads && 2 * n * kv_bytes <= 32 << 20) n *= 2;
    return n;
}

static int log_2(int n) { return n < 2 ? 0 : 1 + log_2(n / 2); }

static struct schedule schedule_of(const struct attention *a, const struct cut *cut) {
    int64_t tiles = n_tiles(a, cut->shape, cut->pack), section = heads_per_section(a, cut->pack);
    int heads = a->heads / cut->pack;
    int64_t per_head = tiles / ((int64_t)a->batch * heads);
    int64_t full = (int64_t)a->seqlen_q * cut->pack / BQ_OF(a->head_dim, cut->shape);
    return (struct schedule){
        .n_tiles = (int32_t)tiles,
        .heads_per_section = (int32_t)section,
        .n_full = (int32_t)(full * a->batch * heads),
        .full_per_head = divisor_of((uint32_t)(full ? full : 1)),
        .section_tiles = divisor_of((uint32_t)(section * per_head)),
        .section_heads = divisor_of((uint32_t)section),
        .heads = divisor_of((uint32_t)heads),
        .group = divisor_of((uint32_t)(heads / a->kv_heads)),
        .pack = log_2(cut->pack),
        .split = log_2(cut->split),
    };
}

static const char *make_maps(const struct attention *a, struct device *d,
                             const struct stage_tensors *t, const struct cut *cut,
                             unsigned char maps[4][128]) {
    const int bkv = BKV_OF(a->head_dim, cut->shape);
    const char *why = make_packed_map(d, t->q, &a->q_stride, a, cut->pack, maps[0]);
    if (!why) why = make_packed_map(d, t->o, &a->o_stride, a, cut->pack, maps[3]);
    if (why) return why;
    if (a->seqlen_k ==
        0) { /* an empty tensor has no map; all keys are masked, so Q's rows will do */
        why = make_map(d, t->q, &a->q_stride, a, a->heads, a->seqlen_q, bkv, maps[1]);
        memcpy(maps[2], maps[1], 128);
        return why;
    }
    why = make_map(d, t->k, &a->k_stride, a, a->kv_heads, a->seqlen_k, bkv, maps[1]);
    if (!why) why = make_map(d, t->v, &a->v_stride, a, a->kv_heads, a->seqlen_k, bkv, maps[2]);
    return why;
}

/* naive.cu: a CTA for every 64 rows, no maps, no schedule. */
static const char *plan_naive(const struct attention *a, const struct stage_tensors *t,
                              struct stage_plan *out) {
    struct attention_args args = stage_args(a, t);
    int64_t n_q_tiles = ceil_div(a->seqlen_q, NAIVE_BQ);
    out->n_launches = 1;
    out->is_other_kernel = true;
    out->launch[0] = (struct device_launch){
        .kernel = "attention",
        .grid = {(unsigned)(n_q_tiles * a->batch * a->heads), 1, 1},
        .block = {NAIVE_THREADS, 1, 1},
        .shared_bytes = NAIVE_SHARED_BYTES(a->head_dim),
    };
    device_launch_arg(&out->launch[0], &args, sizeof args);
    return NULL;
}

/* A CTA for every tile, or as many as run at once; split: a cluster for every tile. */
static struct device_launch launch_of(const struct attention *a, const struct chip *chip,
                                      const struct cut *cut) {
    int64_t tiles = n_tiles(a, cut->shape, cut->pack);
    bool is_split = cut->shape == SHAPE_SPLIT;
    return (struct device_launch){
        .kernel = "attention",
        .grid = {is_split              ? tiles * cut->split
                 : tiles < chip->n_sms ? tiles
                                       : chip->n_sms,
                 1, 1},
        .block = {THREADS_OF(a->head_dim, cut->shape), 1, 1},
        .cluster = {cut->split, 1, 1},
        .overlaps_previous = cut->split < MAX_SPLIT || a->seqlen_k <= CROWDED_KEYS,
        .shared_bytes = SHARED_BYTES(a->head_dim, cut->shape),
    };
}

static const char *plan(const struct attention *a, struct device *d, const struct stage_tensors *t,
                        struct stage_plan *out) {
    const struct chip *chip = &device_info(d)->chip;
    struct cut cut;
    const char *why = cut_for(out->image, a, chip, &cut);
    if (why) return why;
    if (strstr(out->image, "-naive")) return plan_naive(a, t, out);
    const char *const suffix[] = {"", "-short", "-split"};
    struct attention_args args = stage_args(a, t);
    struct schedule schedule = schedule_of(a, &cut);
    schedule.counter = (uint32_t *)t->workspace;
    *out =
        (struct stage_plan){.n_launches = 1, .is_other_kernel = cut.shape != cut_of(a, chip).shape};
    snprintf(out->image, sizeof out->image, "d%d%s%s", a->head_dim, suffix[cut.shape],
             args.causal ? "-causal" : "");
    struct device_launch *l = &out->launch[0];
    *l = launch_of(a, chip, &cut);
    unsigned char maps[4][128];
    why = make_maps(a, d, t, &cut, maps);
    /* Every launch leaves the counter at 0 for the next. */
    if (!why) why = device_fill(d, t->workspace, 0, sizeof(uint32_t));
    if (why) return why;
    device_launch_arg(l, &args, sizeof args);
    device_launch_arg(l, &schedule, sizeof schedule);
    for (int i = 0; i < 4; i++) device_launch_arg(l, maps[i], sizeof maps[i]);
    return NULL;
}

/* WGMMA instructions as warps issue them: 4 for each product of 64 rows. A tile of S is
 * head_dim / 16 products, its share of O is BKV / 16. Counted as the kernel walks. */
static double tensor_instructions(const struct attention *a, const struct chip *chip) {
    const struct cut cut = cut_of(a, chip);
    const int dim = a->head_dim, bq = BQ_OF(dim, cut.shape), bkv = BKV_OF(dim, cut.shape);
    const int groups = KEY_GROUPS_OF(dim, cut.shape) * cut.split; /* they have equal shares */
    int64_t rows = (int64_t)a->seqlen_q * cut.pack;
    int64_t end = ceil_div(rows, 64) * 64; /* warpgroups without rows: schedule.cuh */
    int64_t first = a->mask == MASK_NONE ? 0 : end - ceil_div(rows, bq) * bq;
    double n_blocks = 0;
    for (int64_t row0 = first; row0 < end; row0 += 64) {
        int64_t kv_end = a->seqlen_k, visible = (row0 + 64) / cut.pack + attention_diagonal(a);
        if (a->mask != MASK_NONE && visible < kv_end) kv_end = visible;
        n_blocks += (kv_end > 0 ? ceil_div(kv_end, (int64_t)bkv * groups) : 1) * groups;
    }
    return n_blocks * a->batch * (a->heads / cut.pack) * 4 * (dim / 16 + bkv / 16);
}

const struct stage stage = {
    .name = STAGE_FOLDER,
    .previous = STAGE_PREVIOUS,
    .row_error_limit = 1e-3,
    .max_registers = 232, /* d256-split; others 168 at launch, then setmaxnreg */
    .tensor_family = "HGMMA",
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .plan = plan,
    .tensor_instructions = tensor_instructions,
};
