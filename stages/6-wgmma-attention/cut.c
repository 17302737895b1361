#include "cut.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double max(double a, double b) { return a > b ? a : b; }

/* ---- The problem in tiles ------------------------------------------------------------------- */

/* Rows of one head, or of packed heads. */
static int64_t rows_of(const struct attention *a, int pack) {
    return (int64_t)a->seqlen_q * packed_rows(pack);
}

static int64_t tiles_per_head(const struct attention *a, int shape, int pack) {
    return ceil_div(rows_of(a, pack), tile_of(a->head_dim, shape).bq);
}

int64_t cut_tiles(const struct attention *a, int shape, int pack) {
    return (int64_t)a->batch * (a->heads / pack) * tiles_per_head(a, shape, pack);
}

int64_t cut_full_tiles(const struct attention *a, int shape, int pack) {
    const int64_t warpgroups = ceil_div(rows_of(a, pack), 64);
    return warpgroups * 64 / tile_of(a->head_dim, shape).bq;
}

int64_t cut_blocks(const struct attention *a, const struct cut *c, int64_t q) {
    const struct tile t = tile_of(a->head_dim, c->shape);
    int64_t rows = rows_of(a, c->pack), keys = a->seqlen_k;
    if (a->mask != MASK_NONE) { /* from the last row upwards */
        int64_t end = ceil_div(rows, 64) * 64 - q * t.bq;
        int64_t visible = end / packed_rows(c->pack) + attention_diagonal(a);
        if (visible < keys) keys = visible;
    }
    return keys > 0 ? ceil_div(keys, t.bkv) : 1;
}

static size_t slots(const struct attention *a, const struct cut *c) {
    return (size_t)c->n_cut * (size_t)c->parts * (size_t)tile_of(a->head_dim, c->shape).bq;
}
size_t cut_part_o_bytes(const struct attention *a, const struct cut *c) {
    return slots(a, c) * (size_t)a->head_dim * sizeof(float);
}
size_t cut_part_ml_bytes(const struct attention *a, const struct cut *c) {
    return slots(a, c) * 2 * sizeof(float);
}

/* More rounds of tiles than that are not looked at one by one. */
enum { MAX_ROUNDS = 24 };

/* ---- What it takes -------------------------------------------------------------------------- */

/* What was fitted to an H200, and is as good on an H100: notes/choice.md. */
static const struct speed {
    double clock, dram; /* shares of the chip's boost clock, and of what its memory can transfer */
    double l2_clk;      /* bytes a clock of one SM */
    double l2_from;     /* from this share of L2's size on, some of what is read comes from DRAM, */
    double l2_width;    /* and this much further on all of it */
    double softmax_clk; /* of one warpgroup and one key, while no other warpgroup is there */
    double part_us;     /* of the second launch */
    double part_gbs;    /* at which parts are written and read */
    double crowd;       /* with so many CTAs an SM, all that fit on one are there: together() */
    double crowd_us;    /* CTAs that compute for so long crowd half as much */
    double
        no_turns; /* so much less of the tensor cores in d64-wide-causal, compiled without turns */
    double hot;   /* slower by this share where all SMs compute for long: power */
    double hot_wide;     /* and by this one in wide tiles without a mask */
    double split_clk[4]; /* adding up what clusters of 1, 2, 4, 8 CTAs have found */
} speed = {
    .clock = 0.9046,
    .dram = 1.013,
    .l2_clk = 45.25,
    .l2_from = 0.323,
    .l2_width = 0.5879,
    .softmax_clk = 8.257,
    .part_us = 2.136,
    .part_gbs = 5144,
    .crowd = 0.7503,
    .crowd_us = 55.82,
    .no_turns = 0.04672,
    .hot = 0.1581,
    .hot_wide = 0.199,
    .split_clk = {0, 546.8, 1604, 3108},
};

static const struct shape_speed {
    double start_us;     /* of a launch among others, its first loads, its end */
    double tile_clk;     /* around the KV tiles of a tile of O, however few rows it has */
    double full_clk;     /* more where all of its rows are there, less where some are */
    double tensor_share; /* of the tensor cores' peak, with all warpgroups at work */
    double cta_us;       /* more for a launch, for each CTA that it starts */
    double row_us;       /* and for each row that its last CTAs write, all at once */
    double mask_clk;     /* more for a causal KV tile that not all rows see the whole of */
    double pack_clk;     /* more for a tile each time that a query's rows double */
    double block_clk;    /* around the products of a KV tile */
    double rows_dram;    /* DRAM takes so much longer for a byte of Q and O than of K and V */
} shape_speed[][3] = {
    /* [shape][head_dim 64, 128, 256] */
    [SHAPE_LONG] =
        {
            {.start_us = 1.817,
             .tile_clk = 12.53,
             .full_clk = 3093,
             .tensor_share = 0.7724,
             .cta_us = 0.00428,
             .row_us = 1.114e-05,
             .mask_clk = 25.44,
             .pack_clk = 97.41,
             .block_clk = 34.17,
             .rows_dram = 0.8295},
            {.start_us = 1.628,
             .tile_clk = 1231,
             .full_clk = 2326,
             .tensor_share = 0.9755,
             .cta_us = 0.001497,
             .row_us = 2.365e-05,
             .mask_clk = 577.7,
             .pack_clk = 1.748,
             .block_clk = 308.9,
             .rows_dram = 0.8981},
            {.start_us = 1.297,
             .tile_clk = 1213,
             .full_clk = 3098,
             .tensor_share = 0.9713,
             .cta_us = 0.008712,
             .row_us = 1.81e-05,
             .mask_clk = 239.7,
             .pack_clk = 85.75,
             .block_clk = 252.2,
             .rows_dram = 1.054},
        },
    [SHAPE_SHORT] =
        {
            {0},
            {.start_us = 2.141,
             .tile_clk = 402,
             .full_clk = 2253,
             .tensor_share = 0.8635,
             .cta_us = 0.005127,
             .row_us = 2.005e-05,
             .mask_clk = 221.5,
             .pack_clk = 89.82,
             .block_clk = 28.79,
             .rows_dram = 0.449},
        },
    [SHAPE_SPLIT] =
        {
            {.start_us = 0.8173,
             .tile_clk = 3163,
             .full_clk = 601.2,
             .tensor_share = 0.4419,
             .cta_us = 0.002626,
             .row_us = 7.004e-06,
             .mask_clk = 368,
             .pack_clk = 27.1,
             .block_clk = 60,
             .rows_dram = 5.164},
            {.start_us = 0.6833,
             .tile_clk = 3251,
             .full_clk = 1949,
             .tensor_share = 1.012,
             .cta_us = 0.006655,
             .row_us = 3.937e-05,
             .mask_clk = 310.5,
             .pack_clk = 14.04,
             .block_clk = 60,
             .rows_dram = 4.618},
            {.start_us = 0.8069,
             .tile_clk = 4502,
             .full_clk = 2086,
             .tensor_share = 0.647,
             .cta_us = 0.009939,
             .row_us = 0.0001127,
             .mask_clk = 31.27,
             .pack_clk = 2.936,
             .block_clk = 85.44,
             .rows_dram = 2.11},
        },
    [SHAPE_MANY] =
        {
            {.start_us = 1.35,
             .tile_clk = 1131,
             .full_clk = 1187,
             .tensor_share = 0.6128,
             .cta_us = 0.003137,
             .row_us = 1.827e-05,
             .mask_clk = 336.3,
             .pack_clk = 1.892,
             .block_clk = 182.9,
             .rows_dram = 0.8729},
            {.start_us = 0.5148,
             .tile_clk = 2934,
             .full_clk = 142.2,
             .tensor_share = 0.5975,
             .cta_us = 0.004238,
             .row_us = 6.506e-07,
             .mask_clk = 375.8,
             .pack_clk = 0.512,
             .block_clk = 157.6,
             .rows_dram = 1.04},
        },
    [SHAPE_WIDE] =
        {
            {.start_us = 1.655,
             .tile_clk = 997.3,
             .full_clk = 2113,
             .tensor_share = 0.7713,
             .cta_us = 0.002771,
             .row_us = 1.407e-05,
             .mask_clk = 4.962,
             .pack_clk = 60.45,
             .block_clk = 130.2,
             .rows_dram = 0.3447},
            {.start_us = 1.931,
             .tile_clk = 71.4,
             .full_clk = 2568,
             .tensor_share = 0.8974,
             .cta_us = 0.01034,
             .row_us = 3.05e-05,
             .mask_clk = 754.3,
             .pack_clk = 20.59,
             .block_clk = 275.5,
             .rows_dram = 0.842},
        },
};
static const struct shape_speed *speed_of(const struct attention *a, int shape) {
    return &shape_speed[shape][a->head_dim == 64 ? 0 : a->head_dim == 128 ? 1 : 2];
}

/* CTAs on an SM that compute at the same time. A launch's CTAs are placed while those of the one
 * before still run, so they crowd on the SMs that have room, even where there are few. The longer
 * they compute, the less they crowd. `alone_clk` is what a KV tile takes while no other CTA is there. */
static double together(const struct attention *a, const struct chip *chip, const struct cut *c,
                       double alone_clk) {
    const int most = tile_of(a->head_dim, c->shape).ctas;
    const double ctas = (double)cut_tiles(a, c->shape, c->pack) / chip->n_sms;
    const double spread = ctas < 1 ? 1 : ctas < most ? ctas : most;
    const double crowded = 1 + (most - 1) * (ctas < speed.crowd ? ctas / speed.crowd : 1);
    const int64_t blocks = cut_blocks(a, c, tiles_per_head(a, c->shape, c->pack) / 2);
    const double us = (double)blocks * alone_clk / (speed.clock * chip->clock_mhz);
    const double long_ago = us / speed.crowd_us;
    return spread + max(crowded - spread, 0) / (1 + long_ago * long_ago);
}

/* Clocks of a KV tile: of all `groups` warpgroups with rows in it. Either they fill the tensor
 * cores in turns, or one alone is not faster, or K and V do not come faster out of L2. */
static double block_clk(const struct attention *a, const struct chip *chip, const struct cut *c,
                        int groups) {
    const struct tile t = tile_of(a->head_dim, c->shape);
    const double tensor = 4.0 * 64 * t.bkv * a->head_dim / 4096;
    const double alone = tensor + speed.softmax_clk * t.bkv + speed_of(a, c->shape)->block_clk;
    const double ctas = together(a, chip, c, alone);
    const double l2 = 4.0 * t.bkv * a->head_dim * t.key_groups * ctas / speed.l2_clk;
    double turns = groups * ctas * tensor / speed_of(a, c->shape)->tensor_share;
    if (c->shape == SHAPE_WIDE && a->head_dim == 64 && a->mask != MASK_NONE)
        turns *= 1 + speed.no_turns;
    return max(max(turns, alone), l2);
}

/* CTAs, each of which takes the next tile when it is free: when the last one is done. */
struct crew {
    int n;
    double *busy_until; /* a heap: the first is the least */
    double work, end;
};

static void take(struct crew *c, double clk) {
    double t = c->busy_until[0] + clk;
    int i = 0;
    for (int child; (child = 2 * i + 1) < c->n; i = child) {
        if (child + 1 < c->n && c->busy_until[child + 1] < c->busy_until[child]) child++;
        if (c->busy_until[child] >= t) break;
        c->busy_until[i] = c->busy_until[child];
    }
    c->busy_until[i] = t;
    c->work += clk;
    c->end = max(c->end, t);
}

/* `n` equal tiles. Of very many, only the sum matters. */
static void take_all(struct crew *c, int64_t n, double clk) {
    if (c->busy_until)
        while (n-- > 0) take(c, clk);
    else {
        c->work += (double)n * clk;
        c->end = c->work / c->n + clk / 2;
    }
}

/* us of a launch whose CTAs compute for `us` and whose bytes take `dram_us`. Both count where they
 * are near each other. When the first CTA has nothing left to do, DRAM has still to bring what the
 * others' last tiles read. */
static double with_dram(const struct crew *c, double us, double dram_us) {
    if (!c->busy_until) return cbrt(pow(us, 3) + pow(dram_us, 3));
    const double before = us * c->busy_until[0] / c->end, after = us - before;
    const double share = c->busy_until[0] * c->n / c->work;
    return cbrt(pow(before, 3) + pow(share * dram_us, 3)) +
           cbrt(pow(after, 3) + pow((1 - share) * dram_us, 3));
}

/* Clocks of tile q of a head, or of a part of it. */
static double tile_clk(const struct attention *a, const struct chip *chip, const struct cut *c,
                       int64_t q, int parts) {
    const struct tile t = tile_of(a->head_dim, c->shape);
    const bool causal = a->mask != MASK_NONE;
    int64_t rows = rows_of(a, c->pack) - q * t.bq, blocks = cut_blocks(a, c, q);
    int groups = t.warpgroups, shares = parts * c->split * t.key_groups;
    if (!causal && t.key_groups == 1 && rows < t.bq) groups = (int)ceil_div(rows, 64);
    double full = t.bq > 64 ? (double)groups / t.warpgroups : rows < 64 ? (double)rows / 64 : 1;
    if (t.bq == 64) full *= full; /* the more rows, the more warps wait for each other's */
    const struct shape_speed *s = speed_of(a, c->shape);
    double masked = 1 + 64.0 / packed_rows(c->pack) / t.bkv; /* so many, on average: the diagonal */
    if (masked > (double)blocks) masked = (double)blocks;
    return s->tile_clk + s->full_clk * full + (causal ? s->mask_clk * masked : 0) +
           s->pack_clk * log2(packed_rows(c->pack)) +
           (double)ceil_div(blocks, shares) * block_clk(a, chip, c, groups) +
           speed.split_clk[c->split < 2   ? 0
                           : c->split < 4 ? 1
                           : c->split < 8 ? 2
                                          : 3];
}

/* How often a launch reads K and V where L2 does not keep them. Without a mask, tiles with warpgroups
 * that have no rows come after all others (schedule.cuh), and read the keys of every head again. */
static int key_reads(const struct attention *a, const struct cut *c) {
    const int64_t n = tiles_per_head(a, c->shape, c->pack);
    return a->mask == MASK_NONE && n > 1 && cut_full_tiles(a, c->shape, c->pack) < n ? 2 : 1;
}

/* What DRAM takes for all that is read and written: nothing where it stays in L2 from one launch to
 * the next. */
static double dram_us(const struct attention *a, const struct chip *chip, const struct cut *c) {
    const double rows = 4.0 * a->batch * a->head_dim * a->heads * (double)a->seqlen_q;
    const double keys = 4.0 * a->batch * a->head_dim * a->kv_heads * (double)a->seqlen_k;
    double missing = ((rows + keys) / chip->l2_bytes - speed.l2_from) / speed.l2_width;
    missing = missing < 0 ? 0 : missing > 1 ? 1 : missing;
    return missing * (keys * key_reads(a, c) + rows * speed_of(a, c->shape)->rows_dram) /
           (speed.dram * chip->dram_gb_per_s) * 1e-3;
}

/* CTAs of the launch: stage.c. */
static int64_t n_ctas(const struct attention *a, const struct chip *chip, const struct cut *c) {
    int64_t tiles = cut_tiles(a, c->shape, c->pack) + (int64_t)c->n_cut * (c->parts - 1);
    int64_t at_once = (int64_t)chip->n_sms * tile_of(a->head_dim, c->shape).ctas;
    return c->shape == SHAPE_SPLIT ? tiles * c->split : tiles < at_once ? tiles : at_once;
}

static void estimate(const struct attention *a, const struct chip *chip, struct cut *c) {
    const struct tile t = tile_of(a->head_dim, c->shape);
    const int64_t heads = (int64_t)a->batch * (a->heads / c->pack);
    const int64_t per_head = tiles_per_head(a, c->shape, c->pack);
    /* Clusters of more than 2 do not fill the chip, for a cluster lies within a GPC. */
    const int n_sms = chip->n_sms - (c->split > 2 ? chip->n_sms / 8 : 0);
    struct crew crew = {.n = n_sms * t.ctas / c->split};
    if (heads * per_head <= MAX_ROUNDS * (int64_t)chip->n_sms)
        crew.busy_until = calloc((size_t)crew.n, sizeof(double));
    const bool causal = a->mask != MASK_NONE;
    int64_t whole_first = causal ? 0 : heads * per_head - c->n_cut, n_cut = c->n_cut;
    for (int64_t q = 0; q < per_head; q++) { /* as they are handed out */
        int64_t n = heads, whole = causal ? 0 : n < whole_first ? n : whole_first;
        int64_t in_parts = n - whole < n_cut ? n - whole : n_cut;
        whole_first -= whole, n_cut -= in_parts;
        take_all(&crew, whole, tile_clk(a, chip, c, q, 1));
        if (in_parts) take_all(&crew, in_parts * c->parts, tile_clk(a, chip, c, q, c->parts));
        take_all(&crew, n - whole - in_parts, tile_clk(a, chip, c, q, 1));
    }
    c->fill = crew.work / (crew.end * crew.n);
    double us = crew.end / (speed.clock * chip->clock_mhz);
    const double hot = c->shape == SHAPE_WIDE && !causal ? speed.hot_wide : speed.hot;
    us *= 1 + hot * c->fill * us / (us + 50);
    us = with_dram(&crew, us, dram_us(a, chip, c));
    const struct shape_speed *s = speed_of(a, c->shape);
    const double at_once = (double)crew.n / cut_tiles(a, c->shape, c->pack);
    const double rows = (double)a->batch * a->heads * a->seqlen_q * (at_once < 1 ? at_once : 1);
    c->us = us + s->start_us + s->cta_us * (double)n_ctas(a, chip, c) + s->row_us * rows;
    if (c->n_cut)
        c->us += speed.part_us + 2 * (double)cut_part_o_bytes(a, c) / speed.part_gbs * 1e-3;
    free(crew.busy_until);
}

/* ---- What there is to choose from ----------------------------------------------------------- */

struct list {
    const struct attention *a;
    const struct chip *chip;
    struct cut *cut;
    int n;
};

static void add(struct list *l, struct cut c) {
    if (l->n == MAX_CUTS) return;
    estimate(l->a, l->chip, &c);
    l->cut[l->n++] = c;
}

/* Clusters, while every warpgroup has keys to look at; the largest only if all run at once. */
static void add_split(struct list *l, int pack) {
    const int64_t keys = MIN_GROUP_KEYS * tile_of(l->a->head_dim, SHAPE_SPLIT).key_groups;
    const int64_t tiles = cut_tiles(l->a, SHAPE_SPLIT, pack);
    for (int n = 1; n <= MAX_SPLIT && (n == 1 || n * keys <= l->a->seqlen_k); n *= 2)
        if (n < MAX_SPLIT || tiles * n <= l->chip->n_sms)
            add(l, (struct cut){SHAPE_SPLIT, pack, n, 0, 1, 0, 0});
}

/* The last tiles in parts, those that do not fill a round, or causal the longest. */
static void add_parts(struct list *l, int shape, int pack) {
    static const int few[] = {2, 3, 4, 6, 8};
    struct cut c = {shape, pack, 1, 0, 1, 0, 0};
    int64_t tiles = cut_tiles(l->a, shape, pack), n_sms = l->chip->n_sms;
    int64_t per_head = tiles_per_head(l->a, shape, pack), heads = tiles / per_head;
    if (tiles > MAX_ROUNDS * n_sms) return;
    for (int i = 0; i < 5; i++) {
        const int parts = few[i];
        if (cut_blocks(l->a, &c, 0) < parts) break;
        if (l->a->mask == MASK_NONE) {
            c = (struct cut){shape, pack, 1, (int)(tiles % n_sms), parts, 0, 0};
            if (c.n_cut) add(l, c);
            continue;
        }
        for (int quarter = 1; quarter <= 4; quarter++) {
            int64_t q = ceil_div(per_head * quarter, 4);
            if (quarter > 1 && q == ceil_div(per_head * (quarter - 1), 4)) continue;
            if (q * heads * parts > 4 * n_sms) continue;
            add(l, (struct cut){shape, pack, 1, (int)(q * heads), parts, 0, 0});
        }
    }
}

static int faster(const void *a, const void *b) {
    double x = ((const struct cut *)a)->us, y = ((const struct cut *)b)->us;
    return (x > y) - (x < y);
}

int cuts_of(const struct attention *a, const struct chip *chip, struct cut out[MAX_CUTS]) {
    struct list l = {a, chip, out, 0};
    int group = a->heads / a->kv_heads;
    bool can_pack = group > 1 && group <= 64 && rows_of(a, group) < 1 << 30 &&
                    cut_tiles(a, SHAPE_SPLIT, group) <= INT_MAX / 2;
    for (int pack = 1; pack <= group; pack += group - 1) {
        add(&l, (struct cut){SHAPE_LONG, pack, 1, 0, 1, 0, 0});
        if (a->head_dim == 128) add(&l, (struct cut){SHAPE_SHORT, pack, 1, 0, 1, 0, 0});
        for (int shape = SHAPE_MANY; shape <= SHAPE_WIDE && a->head_dim <= 128; shape++)
            add(&l, (struct cut){shape, pack, 1, 0, 1, 0, 0});
        add_split(&l, pack);
        add_parts(&l, SHAPE_LONG, pack);
        if (a->head_dim == 128) add_parts(&l, SHAPE_SHORT, pack);
        if (!can_pack) break;
    }
    qsort(out, (size_t)l.n, sizeof *out, faster);
    return l.n;
}

/* ---- Images --------------------------------------------------------------------------------- */

void cut_image(const struct attention *a, const struct cut *c, char *out, size_t bytes) {
    static const char *const suffix[] = {"", "-short", "-split", "-many", "-wide"};
    snprintf(out, bytes, "d%d%s%s%s", a->head_dim, suffix[c->shape], c->n_cut ? "-parts" : "",
             a->mask == MASK_NONE ? "" : "-causal");
}

bool cut_for_image(const struct attention *a, const struct chip *chip, const char *image,
                   struct cut *out) {
    struct cut cut[MAX_CUTS];
    char name[48];
    int n = cuts_of(a, chip, cut);
    for (int i = 0; i < n; i++) {
        cut_image(a, &cut[i], name, sizeof name);
        if (!strcmp(name, image)) return *out = cut[i], true;
    }
    return false;
}
