#include "random_problems.h"

#include "bench.h"
#include "run.h"
#include "input.h"
#include "common/base/interrupt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SWEEP_STREAM = 0x5eed };

/* Numbers below n, drawn in order for one problem. */
struct problem_dice {
    uint64_t seed, problem, drawn;
};

static int dice_below(struct problem_dice *d, int n) {
    uint64_t index = d->problem << 16 | d->drawn++;
    return (int)(input_random(d->seed, SWEEP_STREAM, index) % (uint64_t)n);
}

/* Half of the lengths lie at the edges of tiles, where tails begin. */
static int draw_seqlen(struct problem_dice *d, int longest) {
    static const int edges[] = {16, 32, 64, 96, 128, 192, 256, 384, 512};
    int n = dice_below(d, 2)
                ? edges[dice_below(d, 9)] * (1 + dice_below(d, 2)) + dice_below(d, 3) - 1
            : dice_below(d, 2) ? 1 + dice_below(d, 80)
                               : 1 + dice_below(d, longest);
    return n > longest ? 1 + n % longest : n;
}

/* Contiguous, (batch, seqlen, heads, head_dim) in memory, or rows with a gap after each. */
static struct tensor_stride draw_stride(struct problem_dice *d, int heads, int seqlen,
                                        int head_dim) {
    int64_t gap = 8 * (1 + dice_below(d, 4)), row = head_dim + gap;
    switch (dice_below(d, 4)) {
    case 0:
        return (struct tensor_stride){.batch = (int64_t)seqlen * heads * head_dim,
                                      .head = head_dim,
                                      .row = (int64_t)heads * head_dim};
    case 1:
        return (struct tensor_stride){
            .batch = heads * (seqlen * row + gap), .head = seqlen * row + gap, .row = row};
    default:
        return (struct tensor_stride){0};
    }
}

static void draw_problem(struct problem_dice *d, int longest, struct attention *a,
                         const char **input) {
    static const int dims[] = {64, 128, 32, 96, 256, 8, 24, 40, 72, 80, 160, 192};
    static const enum mask masks[] = {MASK_NONE, MASK_CAUSAL_BOTTOM_RIGHT, MASK_CAUSAL_TOP_LEFT};
    int n_inputs = 0;
    while (input_name(n_inputs)) n_inputs++;
    *a = (struct attention){.batch = 1 + dice_below(d, 3), .kv_heads = 1 + dice_below(d, 3)};
    a->heads = a->kv_heads * (1 + dice_below(d, 4));
    a->head_dim = dims[dice_below(d, 12)];
    a->seqlen_q = draw_seqlen(d, longest);
    a->seqlen_k = dice_below(d, 3) ? draw_seqlen(d, longest) : a->seqlen_q;
    a->mask = masks[dice_below(d, 3)];
    if (!dice_below(d, 5)) a->scale = 0.01f * (float)(1 + dice_below(d, 40));
    if (!dice_below(d, 40)) a->seqlen_k = 0;
    if (!dice_below(d, 80)) a->seqlen_q = 0;
    a->q_stride = draw_stride(d, a->heads, a->seqlen_q, a->head_dim);
    a->k_stride = draw_stride(d, a->kv_heads, a->seqlen_k, a->head_dim);
    a->v_stride = draw_stride(d, a->kv_heads, a->seqlen_k, a->head_dim);
    a->o_stride = draw_stride(d, a->heads, a->seqlen_q, a->head_dim);
    *input = input_name(dice_below(d, n_inputs));
}

/* Draws again until the stage takes the problem. False: it takes none. */
static bool draw_supported(uint64_t seed, int i, enum dtype dtype, const struct chip *chip,
                           int longest, struct attention *a, const char **input) {
    for (int attempt = 0; attempt < 1000; attempt++) {
        struct problem_dice dice = {
            .seed = seed, .problem = (uint64_t)i, .drawn = 64u * (unsigned)attempt};
        draw_problem(&dice, longest, a, input);
        a->dtype = dtype;
        if (!attention_complete(a) && !stage_supports(a, chip)) return true;
    }
    return false;
}

static const char *check_one(struct device *d, const struct attention *a, const char *input,
                             int choice, uint64_t seed, double work, struct check_result *result) {
    struct inputs in;
    struct bench bench;
    const char *why = inputs_make(a, input, seed, &in);
    if (why) return why;
    if (!(why = bench_open(d, a, &in, NULL, choice, &bench))) {
        why = bench_check(&bench, &in, !strcmp(input, "outlier"), work, seed, NULL, NULL, result);
        bench_close(&bench);
    }
    inputs_free(&in);
    return why;
}

/* --choice N: the i-th problem takes any of its first N + 1 choices. */
static int choice_of(const struct attention *a, const struct device_info *info, int n, int i) {
    enum { MAX = 64 };
    static struct stage_choice choice[MAX];
    if (!n || !stage.choices || !attention_o_elements(a)) return 0;
    int there = stage.choices(a, &info->chip, choice, MAX);
    return i % (n + 1 < there ? n + 1 : there);
}

static void describe(const struct attention *a, char *out, size_t bytes) {
    attention_describe(a, out, bytes);
    size_t n = strlen(out);
    snprintf(out + n, bytes - n, " scale %g, row strides %lld %lld %lld %lld", a->scale,
             (long long)a->q_stride.row, (long long)a->k_stride.row, (long long)a->v_stride.row,
             (long long)a->o_stride.row);
}

/* How a sweep went. */
struct tally {
    int n, n_wrong;
    double worst_row_error; /* of the right ones */
};

static enum status finish(const struct options *o, const struct device_info *info,
                          const struct tally *t, int argc, char **argv) {
    if (!o->quiet)
        printf(
            "sweep: stage %s on %s, seed %llu: %d problems, %d right, %d wrong; worst row %.2e\n",
            stage.name, info->name, (unsigned long long)o->seed, t->n, t->n - t->n_wrong,
            t->n_wrong, t->worst_row_error);
    json_t *record = record_new(argc, argv);
    record_set(record, "stage", json_string(stage.name));
    record_set(record, "device", record_device(info, 0, 0));
    record_set(record, "sweep",
               json_pack("{s:i, s:i, s:I, s:f}", "problems", t->n, "right", t->n - t->n_wrong,
                         "seed", (json_int_t)o->seed, "worst_row_error", t->worst_row_error));
    return run_record(o, record);
}

/* Draws and checks problem i. */
static const char *sweep_one(const struct options *o, struct device *d, int i, struct tally *t) {
    bool emulated = device_info(d)->is_emulator; /* smaller problems there */
    struct attention a;
    struct check_result result;
    const char *input;
    char text[256];
    if (!draw_supported(o->seed, i, o->problem.dtype, &device_info(d)->chip, emulated ? 160 : 1100,
                        &a, &input))
        return reason_as(STATUS_UNSUPPORTED, "this stage took none of 1000 random problems");
    describe(&a, text, sizeof text);
    const char *why = check_one(d, &a, input, choice_of(&a, device_info(d), o->choice, i),
                                o->seed + (uint64_t)i, emulated ? 0x1p22 : 0x1p23, &result);
    if (why)
        return reason_as(reason_status(why, STATUS_DEVICE), "problem %d, %s, %s: %s", i, text,
                         input, why);
    t->n++;
    t->n_wrong += !result.passed;
    if (!result.passed) printf("problem %d, %s, %s: %s\n", i, text, input, result.why);
    if (result.passed) t->worst_row_error = fmax(t->worst_row_error, result.row_error);
    return NULL;
}

enum status random_problems(const struct options *o, int argc, char **argv) {
    struct device *d;
    struct tally t = {0};
    bool progress = !o->quiet && isatty(STDERR_FILENO);
    const char *why = run_device(o, &d);
    for (int i = 0; i < o->sweep_random && !why && !interrupt_signal(); i++) {
        why = sweep_one(o, d, i, &t);
        if (progress) fprintf(stderr, "\r%d of %d, %d wrong ", t.n, o->sweep_random, t.n_wrong);
    }
    if (progress && d) fputc('\n', stderr);
    enum status stored = why ? STATUS_RIGHT : finish(o, device_info(d), &t, argc, argv);
    device_close(d);
    if (t.n_wrong && !why)
        why = reason_as(STATUS_WRONG, "%d of %d random problems answered wrongly", t.n_wrong, t.n);
    return why ? run_failed(why, STATUS_DEVICE) : stored;
}
