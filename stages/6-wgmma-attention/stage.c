/* Stage 6 on the host: which image, four tensor maps, one launch. */
#include "common/base/reason.h"
#include "common/harness/stage.h"

#include "cut.h"
#include "maps.h"
#include "schedule.h"
#include "steps.h"
#include "tile.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Clusters of 4 or more CTAs that are placed while the launch before still runs crowd into some
 * GPCs, whose bandwidth then limits them; with so few keys that does not matter. */
enum { CROWDED_SPLIT = 4, CROWDED_KEYS = 4096 };

/* The fastest way there is (cut.h), or one that was asked for: the `choice`-th, the one of --image.
 * An image that is not for this problem is refused. */
static const char *choose(const struct attention *a, const struct chip *chip,
                          const struct stage_plan *asked, struct cut *out) {
    struct cut cut[MAX_CUTS];
    const int n = cuts_of(a, chip, cut);
    const char *image = asked->image;
    if (asked->choice >= n)
        return reason_as(STATUS_USAGE, "there are %d choices, 0 to %d: --explain", n, n - 1);
    *out = cut[asked->choice];
    if (!*image) return NULL;
    bool is_causal = strstr(image, "-causal");
    if (atoi(image + 1) != a->head_dim)
        return reason_as(STATUS_USAGE, "image %s is not for head_dim %d", image, a->head_dim);
    if (step_of(image)) {
        *out = (struct cut){.shape = SHAPE_LONG, .pack = 1, .split = 1, .parts = 1};
        return NULL;
    }
    if (is_causal != (a->mask != MASK_NONE))
        return reason_as(STATUS_USAGE, "image %s is for problems %s a mask", image,
                         is_causal ? "with" : "without");
    /* of an experiment, or of parts where no tile is cut: the tiles of d64, or of d128-short */
    char without[48];
    snprintf(without, sizeof without, "d%d%s%s", a->head_dim,
             strstr(image, "-short") ? "-short" : "", is_causal ? "-causal" : "");
    if (!cut_for_image(a, chip, image, out) && !cut_for_image(a, chip, without, out))
        return reason_as(STATUS_USAGE, "image %s is not for this problem", image);
    return NULL;
}

static int choices(const struct attention *a, const struct chip *chip, struct stage_choice *out,
                   int n_max) {
    struct cut cut[MAX_CUTS];
    const int n = cuts_of(a, chip, cut);
    for (int i = 0; i < n && i < n_max; i++) {
        const struct cut *c = &cut[i];
        const struct tile t = tile_of(a->head_dim, c->shape);
        out[i].us = c->us, out[i].fill = c->fill;
        cut_image(a, c, out[i].image, sizeof out[i].image);
        int used =
            snprintf(out[i].text, sizeof out[i].text, "%lld tiles of %d rows, KV tiles of %d keys",
                     (long long)cut_tiles(a, c->shape, c->pack), t.bq, t.bkv);
        char *more = out[i].text + used;
        size_t bytes = sizeof out[i].text - (size_t)used;
        if (c->n_cut)
            used += snprintf(more, bytes, ", %d of them in %d parts", c->n_cut, c->parts);
        else if (c->shape == SHAPE_SPLIT)
            used += snprintf(more, bytes, ", keys over %d warpgroups of %d CTA%s",
                             c->split * t.key_groups, c->split, c->split > 1 ? "s" : "");
        if (c->pack > 1)
            snprintf(out[i].text + used, sizeof out[i].text - (size_t)used,
                     ", %d heads share tiles", c->pack);
    }
    return n < n_max ? n : n_max;
}

static const char *supports(const struct attention *a, const struct chip *chip) {
    const char *why = NULL;
    if (chip->cc / 10 != 9)
        return reason(
            "stage 6 takes Hopper (compute capability 9.0: WGMMA, TMA), not %s: stages 1 to 4 "
            "run there, and --device emu --chip h200 emulates a Hopper",
            chip->board);
    if (a->head_dim != 64 && a->head_dim != 128 && a->head_dim != 256)
        return reason("stage 6 takes head_dim 64, 128 and 256, not %d", a->head_dim);
    if (cut_tiles(a, SHAPE_SPLIT, 1) > INT_MAX / 2)
        return reason("stage 6 takes up to 2^30 tiles of 64 rows, not %lld",
                      (long long)cut_tiles(a, SHAPE_SPLIT, 1));
    if (!why) why = map_rule("Q", &a->q_stride);
    if (!why) why = map_rule("K", &a->k_stride);
    if (!why) why = map_rule("V", &a->v_stride);
    if (!why) why = map_rule("O", &a->o_stride);
    return why;
}

/* Of the workspace: schedule.counter, then what parts find. */
enum { PART_O = 256 };

static size_t workspace_bytes(const struct attention *a, const struct chip *chip) {
    struct cut cut[MAX_CUTS];
    size_t most = 0; /* whatever is chosen */
    for (int i = cuts_of(a, chip, cut) - 1; i >= 0; i--) {
        size_t bytes = cut_part_o_bytes(a, &cut[i]) + cut_part_ml_bytes(a, &cut[i]);
        if (bytes > most) most = bytes;
    }
    return PART_O + most;
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
                                      const struct cut *cut, int64_t n_tiles) {
    const struct tile tile = tile_of(a->head_dim, cut->shape);
    const int64_t at_once = (int64_t)chip->n_sms * tile.ctas;
    bool is_split = cut->shape == SHAPE_SPLIT;
    return (struct device_launch){
        .kernel = "attention",
        .grid = {is_split            ? n_tiles * cut->split
                 : n_tiles < at_once ? n_tiles
                                     : at_once,
                 1, 1},
        .block = {tile.threads, 1, 1},
        .cluster = {cut->split, 1, 1},
        .overlaps_previous = cut->split < CROWDED_SPLIT || a->seqlen_k <= CROWDED_KEYS,
        .shared_bytes = tile_shared_bytes(tile, a->head_dim),
    };
}

/* parts.cuh: 64 rows by 32 columns a CTA */
static struct device_launch add_parts_of(const struct attention *a, const struct cut *cut) {
    const struct tile tile = tile_of(a->head_dim, cut->shape);
    return (struct device_launch){
        .kernel = "add_parts",
        .grid = {cut->n_cut * tile.bq / 64, a->head_dim / 32, 1},
        .block = {128, 1, 1},
        .overlaps_previous = true,
    };
}

static const char *plan(const struct attention *a, struct device *d, const struct stage_tensors *t,
                        struct stage_plan *out) {
    const struct chip *chip = &device_info(d)->chip;
    struct cut cut;
    const char *why = choose(a, chip, out, &cut);
    if (why) return why;
    struct attention_args args = stage_args(a, t);
    struct schedule schedule = schedule_of(a, chip, &cut);
    schedule.counter = (uint32_t *)t->workspace;
    schedule.part_o = (void *)(t->workspace + PART_O);
    schedule.part_ml = (void *)(t->workspace + PART_O + cut_part_o_bytes(a, &cut));
    /* Every launch leaves the counter at 0 for the next. */
    if ((why = device_fill(d, t->workspace, 0, sizeof(uint32_t)))) return why;
    if (step_of(out->image)) return plan_step(a, d, t, &schedule, out);
    *out = (struct stage_plan){.n_launches = cut.n_cut ? 2 : 1,
                               .is_other_kernel = out->choice || *out->image};
    cut_image(a, &cut, out->image, sizeof out->image);
    out->launch[0] = launch_of(a, chip, &cut, schedule.n_tiles);
    out->launch[1] = add_parts_of(a, &cut);
    unsigned char maps[4][128];
    why = make_maps(a, d, t, &cut, maps);
    if (why) return why;
    for (int i = 0; i < out->n_launches; i++) {
        device_launch_arg(&out->launch[i], &args, sizeof args);
        device_launch_arg(&out->launch[i], &schedule, sizeof schedule);
    }
    for (int i = 0; i < 4; i++) device_launch_arg(&out->launch[0], maps[i], sizeof maps[i]);
    return NULL;
}

/* KV tiles that 64 rows of a tile look at, of which they see `visible`, or of all parts of it. */
static int64_t blocks_of(int64_t visible, int64_t n_blocks, int parts) {
    int64_t share = ceil_div(n_blocks, parts), n = 0;
    for (int64_t first = 0; first < parts * share; first += share) {
        int64_t part = n_blocks - first < share ? n_blocks - first : share;
        int64_t seen = visible - first > 1 ? visible - first : 1;
        if (part < 1) part = 1;
        n += seen < part ? seen : part;
    }
    return n;
}

/* WGMMA instructions as warps issue them: 4 for each product of 64 rows. A tile of S is
 * head_dim / 16 products, its share of O is BKV / 16. Counted as the kernel walks. */
static double tensor_instructions(const struct attention *a, const struct chip *chip) {
    struct cut cuts[MAX_CUTS];
    cuts_of(a, chip, cuts);
    const struct cut *cut = &cuts[0];
    const struct tile tile = tile_of(a->head_dim, cut->shape);
    const int groups = tile.key_groups * cut->split; /* they have equal shares */
    const bool causal = a->mask != MASK_NONE;
    int64_t heads = (int64_t)a->batch * (a->heads / cut->pack);
    const int of_query = packed_rows(cut->pack);
    int64_t rows = (int64_t)a->seqlen_q * of_query, per_head = ceil_div(rows, tile.bq);
    int64_t end = ceil_div(rows, 64) * 64; /* warpgroups without rows: schedule.cuh */
    int64_t left = cut->n_cut;             /* causal the first tiles are cut, else the last */
    double n_blocks = 0;
    for (int64_t i = 0; i < per_head; i++) {
        int64_t q = causal ? i : per_head - 1 - i, n_cut = left < heads ? left : heads;
        int64_t row0 = causal ? end - (q + 1) * tile.bq : q * tile.bq;
        left -= n_cut;
        for (int64_t row = row0; row < row0 + tile.bq && row < end; row += 64) {
            int64_t seen = a->seqlen_k, visible = (row + 64) / of_query + attention_diagonal(a);
            if (causal && visible < seen) seen = visible;
            int64_t blocks = seen > 0 ? ceil_div(seen, (int64_t)tile.bkv * groups) : 1;
            n_blocks += (double)(heads - n_cut) * (double)blocks * groups;
            if (n_cut)
                n_blocks +=
                    (double)n_cut * (double)blocks_of(blocks, cut_blocks(a, cut, q), cut->parts);
        }
    }
    return n_blocks * 4 * (a->head_dim / 16 + tile.bkv / 16);
}

const struct stage stage = {
    .name = STAGE_FOLDER,
    .previous = STAGE_PREVIOUS,
    .row_error_limit = 1e-3,
    .max_registers = 232, /* d256-split; others 168 at launch, then setmaxnreg */
    .takes_bf16 = true,
    .tensor_family = "HGMMA",
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .plan = plan,
    .choices = choices,
    .tensor_instructions = tensor_instructions,
};
