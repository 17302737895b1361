/* draw SEED [full] IMAGE...: the cases of a lab, as JSON; full: the time is that of a problem that fills a GPU. Each kind of case is there in every draw; its
 * shape, heads and input come from the seed. What distinguishes the plain case: every product of
 * tensor cores must reach O, since there is no tail and no mask. */
#include "cases.h"
#include "trial.h"

#include "common/base/chip.h"
#include "common/base/reason.h"
#include "common/harness/input.h"
#include "common/harness/stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <string.h>

struct case_dice {
    uint64_t seed, n;
};

/* A number from low to high. */
static int between(struct case_dice *d, int low, int high) {
    return low + (int)(input_random(d->seed, 0x1ab5, d->n++) % (uint64_t)(high - low + 1));
}

static const char *one_of(struct case_dice *d, const char *const *word, int n) {
    return word[between(d, 0, n - 1)];
}

/* What is special about a case; the rest is drawn. */
static const struct kind {
    const char *name, *input;
    enum { SAME, RAGGED, DIAGONAL, BEYOND, LONGER, LATE, FEW } lengths;
    int mask; /* enum mask */
    bool grouped, strided;
    float scale; /* 0: the default */
} kinds[] = {
    {"plain", "normal", SAME, MASK_NONE, false, false, 0},
    {"ragged", "normal", RAGGED, MASK_NONE, false, true, 0},
    {"causal", "normal", DIAGONAL, MASK_CAUSAL_BOTTOM_RIGHT, false, true, 0},
    {"gqa", "normal", RAGGED, MASK_CAUSAL_TOP_LEFT, true, true, 0},
    {"outlier", "outlier", SAME, MASK_NONE, true, true, 0},
    {"ascending", "ascending", LONGER, MASK_NONE, false, false, 0},
    /* rows so far apart that the maximum of another one leaves nothing */
    {"far", "normal3", LONGER, MASK_NONE, false, false, 4},
    {"hidden", NULL, LATE, MASK_CAUSAL_BOTTOM_RIGHT, false, false, 0},
    {"few", NULL, FEW, MASK_NONE, false, true, 0},
    /* scores so far below zero that 2^score is 0: a maximum may begin at -infinity only */
    {"beyond", "negative", BEYOND, MASK_CAUSAL_TOP_LEFT, false, true, 2},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* Rows that are shorter than an image's: an odd multiple of 8, which only stages that take every multiple support. */
static void draw_head_dim(struct case_dice *d, struct attention *a) {
    struct attention shorter = *a;
    shorter.head_dim = 8 + 16 * between(d, 0, a->head_dim / 16 - 1);
    if (!attention_complete(&shorter) && !stage_supports(&shorter, chip_find("h200")))
        a->head_dim = shorter.head_dim;
}

static void draw_lengths(struct case_dice *d, const struct kind *k, struct attention *a) {
    switch (k->lengths) {
    case SAME: /* whole tiles of every stage */
        a->seqlen_q = 128 * between(d, 1, 2);
        a->seqlen_k = 128 * between(d, 1, 3);
        return;
    case RAGGED:
        a->seqlen_q = between(d, 65, 230);
        a->seqlen_k = between(d, 260, 380);   /* three tiles of every stage at least, */
        a->seqlen_k += a->seqlen_k % 64 == 0; /* the last of them not whole */
        return;
    case DIAGONAL:
        /* Aligned at the bottom right, the diagonal crosses the second of three or four tiles of 128 keys. Of the last
         * tile that 64 or 192 rows see, they see one key. */
        a->seqlen_q = between(d, 193, 230);
        a->seqlen_k = a->seqlen_q + 65 + 128 * between(d, 0, 1);
        return;
    case BEYOND: /* more rows than keys: aligned at the top left, the last rows see every key and none beyond */
        a->seqlen_k = 16 * between(d, 9, 11) + 64 * between(d, 0, 1); /* a tail of 16, 32 or 48 */
        a->seqlen_q = a->seqlen_k + between(d, 5, 80);
        return;
    case LONGER: /* five tiles of 128 keys: a ring of two stages is in its first phase again */
        a->seqlen_q = between(d, 20, 100);
        a->seqlen_k = between(d, 520, 600);
        return;
    case LATE: /* more rows than keys: the first see nothing, a whole tile of 192 rows of them */
        a->seqlen_k = between(d, 20, 120);
        a->seqlen_q = a->seqlen_k + between(d, 193, 250);
        return;
    case FEW:
        a->seqlen_q = between(d, 1, 15);
        a->seqlen_k = between(d, 1, 40);
        draw_head_dim(d, a);
    }
}

static json_t *stride_json(const struct tensor_stride *s) {
    return json_pack("[I, I, I]", (json_int_t)s->batch, (json_int_t)s->head, (json_int_t)s->row);
}

/* How many bytes behind a multiple of 128 Q, K, V, O and LSE begin: 16 to 112, as vectors and TMA allow. */
static json_t *draw_offsets(struct case_dice *d) {
    json_t *all = json_array();
    for (int t = 0; t < 5; t++) json_array_append_new(all, json_integer(16 * between(d, 1, 7)));
    return all;
}

static json_t *draw(struct case_dice *d, const struct kind *k, const char *image) {
    static const char *const others[] = {"descending", "negative", "identity", "index", "normal3"};
    struct attention a = {.batch = between(d, 1, 2), .kv_heads = between(d, 1, 2)};
    /* else strides from batch to batch and from head to head might not be seen */
    if (k->lengths == RAGGED) {
        a.batch = 2;
        if (k->grouped) a.kv_heads = 2;
    }
    a.head_dim = atoi(image + 1);
    a.heads = a.kv_heads * (k->grouped ? between(d, 2, 3) : 1);
    a.mask = (enum mask)k->mask;
    a.scale = k->scale;
    if (a.batch * a.heads == 1) a.batch = 2; /* more than the first head, always */
    draw_lengths(d, k, &a);
    if (k->strided) attention_draw_strides(&a, input_random(d->seed, 0x1ab7, d->n++));
    const char *input = k->input ? k->input : one_of(d, others, 5);
    uint64_t seed = input_random(d->seed, 0x1ab6, d->n++) >> 16;
    return json_pack(
        "{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:I, s:o, s:o, s:o, s:o, s:o}",
        "kind", k->name, "image", image, "input", input, "batch", a.batch, "heads", a.heads,
        "kv_heads", a.kv_heads, "seqlen_q", a.seqlen_q, "seqlen_k", a.seqlen_k, "head_dim",
        a.head_dim, "mask", (int)a.mask, "scale", (double)a.scale, "seed", (json_int_t)seed,
        "q_stride", stride_json(&a.q_stride), "k_stride", stride_json(&a.k_stride), "v_stride",
        stride_json(&a.v_stride), "o_stride", stride_json(&a.o_stride), "offsets", draw_offsets(d));
}

static json_t *timed(struct case_dice *d, const char *image) {
    const int seqlen = 1024 + 128 * between(d, 0, 8);
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:I}", "kind", "timed",
                     "image", image, "input", "normal", "batch", 2, "heads", 16, "kv_heads", 16,
                     "seqlen_q", seqlen, "seqlen_k", seqlen, "head_dim", atoi(image + 1), "mask",
                     MASK_NONE, "seed", (json_int_t)(input_random(d->seed, 0x1ab6, d->n++) >> 16));
}

/* For the predictor: 8 CTAs or fewer, which it simulates one by one. */
static json_t *clocked(struct case_dice *d, const char *image) {
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:I}", "kind", "clocked",
                     "image", image, "input", "normal", "batch", 1, "heads", 2, "kv_heads", 2,
                     "seqlen_q", 64 * between(d, 3, 4), "seqlen_k", 128 * between(d, 4, 6),
                     "head_dim", atoi(image + 1), "mask", MASK_NONE, "seed",
                     (json_int_t)(input_random(d->seed, 0x1ab6, d->n++) >> 16));
}

/* For an exam: the problem whose time is graded, predicted and measured, and launched once as a whole. Of these sizes stage 4
 * takes its large tiles, which its image is for. */
static void draw_full(struct case_dice *d, const char *image, json_t *all) {
    static const char *const kinds_of_it[] = {"timed", "large", "clocked"};
    const int seqlen = between(d, 900, 1150), heads = 4 * between(d, 3, 5),
              group = 1 << between(d, 0, 2);
    const int mask = between(d, 0, 1) ? MASK_CAUSAL_BOTTOM_RIGHT : MASK_NONE;
    for (int i = 0; i < 3; i++)
        json_array_append_new(
            all, json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:I}", "kind",
                           kinds_of_it[i], "image", image, "input", "normal", "batch", 1, "heads",
                           heads, "kv_heads", heads / group, "seqlen_q", seqlen, "seqlen_k", seqlen,
                           "head_dim", atoi(image + 1), "mask", mask, "seed",
                           (json_int_t)(input_random(d->seed, 0x1ab6, d->n++) >> 16)));
}

const char *trial_draw(int argc, char **argv) {
    const bool full = argc > 1 && !strcmp(argv[1], "full");
    argv += full, argc -= full;
    if (argc < 2) return reason_as(STATUS_USAGE, "draw SEED [full] IMAGE...");
    struct case_dice d = {.seed = strtoull(argv[-full], NULL, 10)};
    json_t *all = json_array();
    /* the plain, timed and clocked case are the first image's */
    for (int k = 0; k < N_KINDS; k++) {
        const char *image = argv[1 + (k ? between(&d, 0, argc - 2) : 0)];
        json_array_append_new(all, draw(&d, &kinds[k], image));
    }
    if (full) {
        draw_full(&d, argv[1], all);
    } else {
        json_array_append_new(all, timed(&d, argv[1]));
        json_array_append_new(all, clocked(&d, argv[1]));
    }
    int failed = json_dumpf(all, stdout, JSON_INDENT(1));
    json_decref(all);
    return failed || fflush(stdout) ? reason_as(STATUS_FILE, "cases: %s", strerror(errno)) : NULL;
}

static struct tensor_stride stride_of(const json_t *t, const char *name) {
    const json_t *s = json_object_get(t, name);
    return (struct tensor_stride){.batch = json_integer_value(json_array_get(s, 0)),
                                  .head = json_integer_value(json_array_get(s, 1)),
                                  .row = json_integer_value(json_array_get(s, 2))};
}

const char *case_problem(const json_t *t, struct attention *out) {
    *out = (struct attention){.batch = trial_int(t, "batch"),
                              .heads = trial_int(t, "heads"),
                              .kv_heads = trial_int(t, "kv_heads"),
                              .seqlen_q = trial_int(t, "seqlen_q"),
                              .seqlen_k = trial_int(t, "seqlen_k"),
                              .head_dim = trial_int(t, "head_dim"),
                              .mask = (enum mask)trial_int(t, "mask"),
                              .scale = (float)json_number_value(json_object_get(t, "scale")),
                              .q_stride = stride_of(t, "q_stride"),
                              .k_stride = stride_of(t, "k_stride"),
                              .v_stride = stride_of(t, "v_stride"),
                              .o_stride = stride_of(t, "o_stride")};
    return attention_complete(out);
}
