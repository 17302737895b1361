/* Stage 6 on the host: which image, four tensor maps, one launch. */
#include "common/base/reason.h"
#include "common/harness/stage.h"

#include "maps.h"
#include "steps.h"
#include "tile.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* seqlen_q up to which `short` is taken where there is one. */
enum { SHORT_ROWS = 1536 };

/* Clusters of MAX_SPLIT CTAs that are placed while the launch before still runs crowd into some
 * GPCs, whose bandwidth then limits them; with so few keys that does not matter. */
enum { CROWDED_KEYS = 4096 };

/* How a problem is cut: rows of `pack` heads share tiles, `split` CTAs share a tile's keys. */
struct cut {
    int shape, pack, split;
};

/* What there is to schedule: rows of all heads in tiles of BQ. */
static int64_t n_tiles(const struct attention *a, int shape, int pack) {
    int64_t rows = (int64_t)a->seqlen_q * pack;
    return (int64_t)a->batch * (a->heads / pack) * ceil_div(rows, tile_of(a->head_dim, shape).bq);
}

/* The heads of a GQA group read the same K and V. Where few queries leave tiles empty, the group's
 * rows share tiles: as many tiles fewer read those keys. */
static int pack_of(const struct attention *a, int shape) {
    int group = a->heads / a->kv_heads;
    bool can = group <= 64 && 64 % group == 0 && (int64_t)a->seqlen_q * group < 1 << 30;
    return can && n_tiles(a, shape, group) < n_tiles(a, shape, 1) ? group : 1;
}

/* CTAs of a cluster: as many as run at once, one an SM, while every warpgroup has keys to look at.
 * Clusters of more than 2 do not fill the chip, for a cluster lies within a GPC: an eighth is kept.
 * */
static int split_of(const struct attention *a, const struct chip *chip, int64_t tiles) {
    int64_t keys = MIN_GROUP_KEYS * tile_of(a->head_dim, SHAPE_SPLIT).key_groups;
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
    int pack = pack_of(a, SHAPE_SPLIT);
    int64_t tiles = n_tiles(a, SHAPE_SPLIT, pack);
    if (tiles <= chip->n_sms) return (struct cut){SHAPE_SPLIT, pack, split_of(a, chip, tiles)};
    bool is_short = a->head_dim == 128 && a->seqlen_q <= SHORT_ROWS;
    int shape = is_short ? SHAPE_SHORT : SHAPE_LONG;
    return (struct cut){shape, pack_of(a, shape), 1};
}

/* The same for the image that --image names; a problem that it is not for is refused. */
static const char *cut_for(const char *image, const struct attention *a, const struct chip *chip,
                           struct cut *out) {
    *out = cut_of(a, chip);
    if (!*image) return NULL;
    bool is_causal = strstr(image, "-causal");
    if (atoi(image + 1) != a->head_dim)
        return reason_as(STATUS_USAGE, "image %s is not for head_dim %d", image, a->head_dim);
    if (!step_of(image) && is_causal != (a->mask != MASK_NONE))
        return reason_as(STATUS_USAGE, "image %s is for problems %s a mask", image,
                         is_causal ? "with" : "without");
    int shape = strstr(image, "-split")   ? SHAPE_SPLIT
                : strstr(image, "-short") ? SHAPE_SHORT
                                          : SHAPE_LONG;
    if (shape != out->shape) *out = (struct cut){shape, pack_of(a, shape), 1};
    if (step_of(image)) *out = (struct cut){SHAPE_LONG, 1, 1};
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
    int64_t full = (int64_t)a->seqlen_q * cut->pack / tile_of(a->head_dim, cut->shape).bq;
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
    const char *why = map_packed_rows(d, t->q, &a->q_stride, a, cut->pack, maps[0]);
    if (!why) why = map_kv(d, t, a, tile_of(a->head_dim, cut->shape).bkv, maps + 1);
    if (!why) why = map_packed_rows(d, t->o, &a->o_stride, a, cut->pack, maps[3]);
    return why;
}

/* A CTA for every tile, or as many as run at once; split: a cluster for every tile. */
static struct device_launch launch_of(const struct attention *a, const struct chip *chip,
                                      const struct cut *cut) {
    int64_t tiles = n_tiles(a, cut->shape, cut->pack);
    const struct tile tile = tile_of(a->head_dim, cut->shape);
    bool is_split = cut->shape == SHAPE_SPLIT;
    return (struct device_launch){
        .kernel = "attention",
        .grid = {is_split              ? tiles * cut->split
                 : tiles < chip->n_sms ? tiles
                                       : chip->n_sms,
                 1, 1},
        .block = {tile.threads, 1, 1},
        .cluster = {cut->split, 1, 1},
        .overlaps_previous = cut->split < MAX_SPLIT || a->seqlen_k <= CROWDED_KEYS,
        .shared_bytes = tile_shared_bytes(tile, a->head_dim),
    };
}

static const char *plan(const struct attention *a, struct device *d, const struct stage_tensors *t,
                        struct stage_plan *out) {
    const struct chip *chip = &device_info(d)->chip;
    struct cut cut;
    const char *why = cut_for(out->image, a, chip, &cut);
    if (why) return why;
    const char *const suffix[] = {"", "-short", "-split"};
    struct attention_args args = stage_args(a, t);
    struct schedule schedule = schedule_of(a, &cut);
    schedule.counter = (uint32_t *)t->workspace;
    /* Every launch leaves the counter at 0 for the next. */
    if ((why = device_fill(d, t->workspace, 0, sizeof(uint32_t)))) return why;
    if (step_of(out->image)) return plan_step(a, d, t, &schedule, out);
    *out =
        (struct stage_plan){.n_launches = 1, .is_other_kernel = cut.shape != cut_of(a, chip).shape};
    snprintf(out->image, sizeof out->image, "d%d%s%s", a->head_dim, suffix[cut.shape],
             args.causal ? "-causal" : "");
    struct device_launch *l = &out->launch[0];
    *l = launch_of(a, chip, &cut);
    unsigned char maps[4][128];
    why = make_maps(a, d, t, &cut, maps);
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
    const struct tile tile = tile_of(a->head_dim, cut.shape);
    const int groups = tile.key_groups * cut.split; /* they have equal shares */
    int64_t rows = (int64_t)a->seqlen_q * cut.pack;
    int64_t end = ceil_div(rows, 64) * 64; /* warpgroups without rows: schedule.cuh */
    int64_t first = a->mask == MASK_NONE ? 0 : end - ceil_div(rows, tile.bq) * tile.bq;
    double n_blocks = 0;
    for (int64_t row0 = first; row0 < end; row0 += 64) {
        int64_t kv_end = a->seqlen_k, visible = (row0 + 64) / cut.pack + attention_diagonal(a);
        if (a->mask != MASK_NONE && visible < kv_end) kv_end = visible;
        n_blocks += (kv_end > 0 ? ceil_div(kv_end, (int64_t)tile.bkv * groups) : 1) * groups;
    }
    return n_blocks * a->batch * (a->heads / cut.pack) * 4 * (a->head_dim / 16 + tile.bkv / 16);
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
