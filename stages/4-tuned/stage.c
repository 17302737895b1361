/* Stage 4 on the host: what it supports, how the keys are split, one launch or two. */
#include "common/base/reason.h"
#include "common/harness/stage.h"
#include "steps.h"
#include "tile.h"

#include <stdio.h>
#include <string.h>

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

static int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }

/* With one query and KV heads that several heads share, those heads are the rows of one head: they
 * read the same K and V, and a bottom-right mask hides none of it. */
static struct attention heads_as_rows(const struct attention *a) {
    struct attention p = *a;
    if (a->seqlen_q != 1 || a->heads == a->kv_heads || a->mask == MASK_CAUSAL_TOP_LEFT) return p;
    p.heads = a->kv_heads;
    p.seqlen_q = a->heads / a->kv_heads;
    p.mask = MASK_NONE;
    p.q_stride.row = a->q_stride.head, p.q_stride.head *= p.seqlen_q;
    p.o_stride.row = a->o_stride.head, p.o_stride.head *= p.seqlen_q;
    return p;
}

static int64_t n_q_tiles(const struct attention *a, struct tile tile) {
    return ceil_div(a->seqlen_q, tile.bq);
}

/* Tiles of keys that the last row of one tile of queries can see. */
static int64_t n_kv_tiles(const struct attention *a, struct tile tile, int64_t q_tile) {
    int64_t kv_end = a->seqlen_k;
    if (a->mask != MASK_NONE) kv_end = min(kv_end, (q_tile + 1) * tile.bq + attention_diagonal(a));
    return kv_end > 0 ? ceil_div(kv_end, tile.bkv) : 0;
}

static int64_t heads_of_all(const struct attention *a) { return a->batch * (int64_t)a->heads; }

static int64_t n_ctas(const struct attention *a, struct tile tile) {
    return heads_of_all(a) * n_q_tiles(a, tile);
}

/* What runs: a tile, and over how many CTAs the keys of its queries are split. */
struct choice {
    enum size size;
    struct tile tile;
    int n_splits;
};

/* The rule. As long as large tiles cover two thirds of the SMs, their reuse of K and V wins. With
 * fewer, or where a small one has all queries of a head, small ones do: more CTAs, whose warps share
 * the keys among them. If even those leave half of the SMs idle, the keys are split over CTAs as
 * well, as long as each group of warps keeps MIN_TILES: a second launch must pay. */
enum { MIN_TILES = 4, LONG_SHARE = 4096 /* keys */ };

/* grid.z */
enum { MAX_SECTIONS = 65535 };

/* Rows of queries of the SM that has most. At head_dim 256 an SM holds two large tiles of 64 rows or
 * a wide one of 128, which reads less of shared memory: it is taken unless rounding up to 128 rows
 * gives an SM more of them. */
static int64_t most_rows(const struct attention *a, struct tile tile, const struct chip *chip) {
    return ceil_div(n_ctas(a, tile), chip->n_sms) * tile.bq;
}

/* Without a mask, large tiles that need a second round for an eighth of the seats or less: small ones
 * spread better. */
static bool nearly_empty_round(const struct attention *a, struct tile tile,
                               const struct chip *chip) {
    const int64_t seats = (int64_t)chip->n_sms * tile.ctas, over = n_ctas(a, tile) - seats;
    return a->mask == MASK_NONE && a->head_dim <= 128 && over > 0 && over <= seats / 8;
}

static enum size choose_size(const struct attention *a, const struct chip *chip) {
#ifdef SWEEP_BQ
    return SWEEP_GROUPS > 1 ? SMALL : LARGE;
#endif
    const struct tile large = tile_of(a->head_dim, LARGE), wide = tile_of(a->head_dim, WIDE);
    if (a->seqlen_q <= tile_of(a->head_dim, SMALL).bq) return SMALL;
    if (nearly_empty_round(a, large, chip)) return SMALL;
    if (3 * n_ctas(a, large) < 2 * chip->n_sms) return SMALL;
    if (a->head_dim == 256 && most_rows(a, wide, chip) <= most_rows(a, large, chip)) return WIDE;
    return LARGE;
}

static struct choice choice_of(enum size size, const struct attention *a) {
    return (struct choice){.size = size, .tile = tile_of(a->head_dim, size), .n_splits = 1};
}

static struct choice choose(const struct attention *a, const struct chip *chip) {
    struct choice c = choice_of(choose_size(a, chip), a);
    if (c.size != SMALL) return c;
    const int64_t tiles = n_kv_tiles(a, c.tile, n_q_tiles(a, c.tile) - 1);
    const int64_t seats = (int64_t)chip->n_sms * c.tile.ctas / n_ctas(a, c.tile); /* two an SM */
    const int64_t n = min(chip->n_sms / n_ctas(a, c.tile), tiles / (c.tile.groups * MIN_TILES));
    if (tiles * c.tile.bkv >= seats * LONG_SHARE) return c.n_splits = (int)max(1, seats), c;
    if (n > 1) c.n_splits = (int)n;
    return c;
}

/* The same for the image that --image names, whose tile may be another one. */
static struct choice choose_for(const char *image, const struct attention *a,
                                const struct chip *chip) {
    const struct choice c = choose(a, chip);
    if (!*image) return c;
    enum size size = strstr(image, "-small") ? SMALL : LARGE;
    if (a->head_dim == 256 && strstr(image, "-wide")) size = WIDE;
    return size == c.size ? c : choice_of(size, a);
}

static const char *supports(const struct attention *a, const struct chip *chip) {
    const int d = a->head_dim;
    if (d != 32 && d != 64 && d != 96 && d != 128 && d != 256)
        return reason("stage 4 takes head_dim 32, 64, 96, 128 or 256, not %d", d);
    if (chip->cc < 80)
        return reason(
            "stage 4 needs mma.sync m16n8k16 and cp.async, which %s (sm_%d) does not have",
            chip->board, chip->cc);
    if (n_ctas(a, tile_of(d, LARGE)) > INT32_MAX)
        return reason("stage 4 takes up to 2^31 - 1 tiles of queries (grid.x)");
    return NULL;
}

static int64_t n_rows(const struct attention *a) { return heads_of_all(a) * a->seqlen_q; }

static size_t workspace_bytes(const struct attention *a, const struct chip *chip) {
    if (n_rows(a) == 0) return 0;
    const struct attention rows = heads_as_rows(a);
    const struct choice c = choose(&rows, chip);
    return c.n_splits == 1 ? 0
                           : (size_t)(c.n_splits * n_rows(a) * (a->head_dim + 1)) * sizeof(float);
}

/* Heads whose causal tiles run together: as many as have their K and V in half of L2, and divide all
 * heads into equal sections. */
static int64_t section_heads(const struct attention *a, const struct chip *chip) {
    const int64_t heads = heads_of_all(a);
    const double kv_bytes = 4.0 * a->seqlen_k * a->head_dim * a->kv_heads / max(1, a->heads);
    for (int64_t n = 1; n <= MAX_SECTIONS && n <= heads; n++)
        if (heads % n == 0 && (double)(heads / n) * kv_bytes <= (double)chip->l2_bytes / 2)
            return heads / n;
    return max(1, heads);
}

/* On Hopper a launch of small tiles starts while the one ahead of it still runs: kernel.cu waits for
 * its end. Not after `combine`, which lets nothing start early. A sweep may run Ada's images. */
static bool overlaps_previous(const struct choice *c, const struct chip *chip) {
#ifdef SWEEP_BQ
    return false;
#endif
    return c->size == SMALL && c->n_splits == 1 && chip->cc == 90;
}

static const char *plan(const struct attention *asked, struct device *d,
                        const struct stage_tensors *t, struct stage_plan *out) {
    if (step_of(out->image)) return step_plan(asked, t, out);
    const struct attention rows = heads_as_rows(asked), *a = &rows;
    const struct chip *chip = &device_info(d)->chip;
    const struct choice c = choose_for(out->image, a, chip);
    const struct attention_args args = stage_args(a, t);
    const int64_t section = section_heads(a, chip);
    const int64_t inner = a->mask != MASK_NONE ? section : n_q_tiles(a, c.tile);
    const int64_t n_sections = a->mask != MASK_NONE ? max(1, heads_of_all(a) / section) : 1;
    struct split_args split = {.n_splits = c.n_splits,
                               .inner = divisor_of((uint32_t)max(1, min(inner, INT32_MAX))),
                               .heads = divisor_of((uint32_t)a->heads),
                               .group = divisor_of((uint32_t)(a->heads / a->kv_heads)),
                               .shares = divisor_of((uint32_t)(c.n_splits * c.tile.groups))};
    if (c.n_splits > 1) {
        split.o = (float *)t->workspace;
        split.lse = split.o + c.n_splits * n_rows(a) * a->head_dim;
    }
    *out = (struct stage_plan){.n_launches = c.n_splits > 1 ? 2 : 1,
                               .is_other_kernel = c.size != choose(a, chip).size};
    static const char *const suffix[] = {[LARGE] = "", [SMALL] = "-small", [WIDE] = "-wide"};
    snprintf(out->image, sizeof out->image, "d%d%s", a->head_dim, suffix[c.size]);
    out->launch[0] = (struct device_launch){
        .kernel = "attention",
        .grid = {(unsigned)(n_ctas(a, c.tile) / n_sections), (unsigned)c.n_splits,
                 (unsigned)n_sections},
        .block = {32u * (unsigned)(c.tile.warps * c.tile.groups), 1, 1},
        .overlaps_previous = overlaps_previous(&c, chip),
        .shared_bytes = (unsigned)tile_shared_bytes(c.tile, a->head_dim),
    };
    out->launch[1] = (struct device_launch){
        .kernel = "combine",
        .grid = {(unsigned)ceil_div(n_rows(a), COMBINE_THREADS / 32), 1, 1},
        .block = {COMBINE_THREADS, 1, 1},
    };
    for (int i = 0; i < out->n_launches; i++) {
        device_launch_arg(&out->launch[i], &args, sizeof args);
        device_launch_arg(&out->launch[i], &split, sizeof split);
    }
    return NULL;
}

/* mma.sync m16n8k16 in one tile: 2 products * (BQ / 16) * (BKV / 8) * (DIM / 16). */
static double tensor_instructions(const struct attention *asked, const struct chip *chip) {
    const struct attention rows = heads_as_rows(asked), *a = &rows;
    const struct tile tile = choose(a, chip).tile;
    double tiles = 0;
    for (int64_t i = 0; i < n_q_tiles(a, tile); i++) tiles += (double)n_kv_tiles(a, tile, i);
    return a->batch * (double)a->heads * tiles * 2 * (tile.bq / 16) * (tile.bkv / 8) *
           (a->head_dim / 16);
}

const struct stage stage = {
    .name = STAGE_FOLDER,
    .previous = STAGE_PREVIOUS,
    .row_error_limit = 1e-3,
    .max_registers = 255,
    .takes_bf16 = true,
    .tensor_family = "HMMA",
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .plan = plan,
    .tensor_instructions = tensor_instructions,
    .tensor_redone = 0.01, /* S of tiles in which P grows too far; normal inputs: below 1e-4 */
};
