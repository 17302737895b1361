/* The subject of a trial, its cases and its judgement, for stage 5: one product of matrices by WGMMA,
 * C (64, N) = A (64, K) B (N, K)^T, in every form of the instruction. */
#include "trial.h"

#include "common/base/heap.h"
#include "common/base/reason.h"
#include "common/harness/check.h"
#include "common/harness/input.h"
#include "common/harness/stage.h"
#include "stages/5-wgmma/experiment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct experiment experiment_of(const json_t *t, char input[16]) {
    snprintf(input, 16, "%s", trial_text(t, "input"));
    return (struct experiment){.n = trial_int(t, "n"),
                               .k_steps = trial_int(t, "k_steps"),
                               .swizzle = trial_int(t, "swizzle"),
                               .a_m_major = trial_int(t, "a_m_major"),
                               .b_n_major = trial_int(t, "b_n_major"),
                               .a_in_registers = trial_int(t, "a_in_registers"),
                               .input = input,
                               .seed = trial_seed(t)};
}

/* ---- draw SEED IMAGE... ---- */

struct product_dice {
    uint64_t seed, n;
};

static int below(struct product_dice *d, int n) {
    return (int)(input_random(d->seed, 0x1ab5, d->n++) % (uint64_t)n);
}

/* Form 0 to 5 of the instruction: A from shared memory, K-major or M-major, or from registers; B. */
static json_t *draw(struct product_dice *d, const char *image, int form) {
    static const char *const inputs[] = {"normal", "outlier", "uniform", "ascending"};
    static const int swizzles[] = {128, 64, 32, 0};
    const int k_steps = 1 + below(d, MAX_K_STEPS), swizzle = swizzles[below(d, 4)];
    const char *input = inputs[below(d, 4)];
    const uint64_t seed = input_random(d->seed, 0x1ab6, d->n++) >> 16;
    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:s, s:I}", "kind", "product",
                     "image", image, "n", atoi(image + 1), "k_steps", k_steps, "swizzle", swizzle,
                     "a_m_major", form / 2 == 1, "b_n_major", form % 2, "a_in_registers",
                     form / 2 == 2, "input", input, "seed", (json_int_t)seed);
}

const char *trial_draw(int argc, char **argv) {
    if (argc < 2) return reason_as(STATUS_USAGE, "draw SEED IMAGE...");
    struct product_dice d = {.seed = strtoull(argv[0], NULL, 10)};
    json_t *all = json_array();
    int first = below(&d, argc - 1);
    for (int c = 0; c < 12; c++) /* each form twice, and each image */
        json_array_append_new(all, draw(&d, argv[1 + (first + c) % (argc - 1)], c % 6));
    int failed = json_dumpf(all, stdout, JSON_INDENT(1));
    json_decref(all);
    return failed || fflush(stdout) ? reason_as(STATUS_FILE, "cases: %s", strerror(errno)) : NULL;
}

/* ---- The subject ---- */

struct product_own {
    struct experiment experiment;
    char input[16];
    struct matrices matrices;
    struct placed placed;
    struct device_launch launch;
    half *tiles, *a; /* what they are on the device */
};

const char *subject_open(const json_t *t, struct device *d, struct subject *out) {
    struct product_own *own = heap_line(sizeof *own); /* launches lie at multiples of 64 */
    *out = (struct subject){.device = d, .own = own};
    own->experiment = experiment_of(t, own->input);
    const struct experiment *e = &own->experiment;
    const char *why = matrices_make(e, &own->matrices);
    if (!why) why = placed_make(d, e, &own->matrices, 0, &own->placed);
    if (!why) why = subject_inputs(out, NULL);
    if (!why)
        why = device_load(d, stage_image_folder(stage.name), trial_text(t, "image"), &out->image);
    if (why) return why;
    own->launch = (struct device_launch){
        .grid = {1, 1, 1}, .block = {128, 1, 1}, .shared_bytes = own->matrices.args.tile_bytes};
    snprintf(own->launch.kernel, sizeof own->launch.kernel, "multiply_%s_%c_%c",
             e->a_in_registers ? "regs" : "smem", e->a_m_major ? 'm' : 'k',
             e->b_n_major ? 'n' : 'k');
    device_launch_arg(&own->launch, &own->placed.args, sizeof own->placed.args);
    out->launch = &own->launch;
    out->n_launches = 1;
    out->out_bytes = sizeof(float) * WGMMA_M * (size_t)e->n;
    return NULL;
}

void subject_close(struct subject *s) {
    struct product_own *own = s->own;
    if (!own) return;
    if (s->image) device_unload(s->device, s->image);
    placed_free(s->device, &own->placed);
    matrices_free(&own->matrices);
    free(own->tiles);
    free(own->a);
    free(own);
}

const char *subject_poison(struct subject *s) {
    return device_fill(s->device, ((struct product_own *)s->own)->placed.c, CHECK_POISON_WORD,
                       s->out_bytes);
}

const char *subject_fetch(struct subject *s, void *outputs) {
    return device_copy_out(s->device, outputs, ((struct product_own *)s->own)->placed.c,
                           s->out_bytes);
}

static size_t a_bytes(const struct product_own *own) {
    return sizeof(half) * WGMMA_M * WGMMA_K * (size_t)own->experiment.k_steps;
}

/* A lies in front of B. */
static void change(const struct changed_inputs *c, half *x, size_t n, size_t n_a) {
    for (size_t e = 0; e < n && c && c->instead; e++)
        x[e] = emu_spoil_half(c->spoil, x[e], e < n_a);
}

const char *subject_inputs(struct subject *s, const struct changed_inputs *c) {
    struct product_own *own = s->own;
    const struct matrices *m = &own->matrices;
    const size_t n_a = a_bytes(own) / sizeof(half), tile_bytes = m->args.tile_bytes;
    if (!own->tiles) own->tiles = heap_take(tile_bytes);
    if (!own->a) own->a = heap_take(a_bytes(own));
    memcpy(own->tiles, m->tiles, tile_bytes);
    memcpy(own->a, m->a, a_bytes(own));
    change(c, own->tiles, tile_bytes / sizeof(half), m->b_tile / sizeof(half));
    change(c, own->a, n_a, n_a);
    const char *why = device_copy_in(s->device, own->placed.tiles, own->tiles, tile_bytes);
    return why ? why : device_copy_in(s->device, own->placed.a, own->a, a_bytes(own));
}

const char *subject_changed(struct subject *s, json_t *names) {
    const struct product_own *own = s->own;
    const struct {
        const char *name;
        device_ptr at;
        const void *before;
        size_t bytes;
    } input[2] = {{"tiles", own->placed.tiles, own->tiles, own->matrices.args.tile_bytes},
                  {"a", own->placed.a, own->a, a_bytes(own)}};
    for (int i = 0; i < 2; i++) {
        void *copy = malloc(input[i].bytes);
        const char *why =
            copy ? device_copy_out(s->device, copy, input[i].at, input[i].bytes) : "out of memory";
        bool changed = !why && memcmp(copy, input[i].before, input[i].bytes);
        free(copy);
        if (why) return why;
        if (changed) json_array_append_new(names, json_string(input[i].name));
    }
    return NULL;
}

const char *subject_time(struct subject *s, const json_t *t, double *us, double *iqr_us) {
    (void)s, (void)t, (void)us, (void)iqr_us;
    return reason_as(STATUS_UNSUPPORTED, "one product is too short to be timed");
}

/* ---- judge CASES INDEX OUT ---- */

const char *trial_judge(int argc, char **argv) {
    struct matrices m = {0};
    struct verdict verdict;
    json_t *t = NULL;
    char input[16], why_wrong[128] = "";
    if (argc != 3) return reason_as(STATUS_USAGE, "judge CASES INDEX OUT");
    const char *why = trial_case(argv[0], argv[1], &t);
    struct experiment e = experiment_of(t, input);
    const size_t n = (size_t)WGMMA_M * (size_t)e.n;
    float *c[2] = {malloc(n * sizeof(float)), malloc(n * sizeof(float))};
    bool *is_wrong = malloc(n);
    if (!why && !(c[0] && c[1] && is_wrong)) why = "out of memory";
    if (!why) why = trial_get(argv[2], "out0", c[0], n * sizeof(float));
    if (!why) why = trial_get(argv[2], "out1", c[1], n * sizeof(float));
    if (!why) why = matrices_make(&e, &m);
    if (!why) {
        judge(&e, &m, c[0], is_wrong, &verdict);
        if (verdict.n_wrong)
            snprintf(why_wrong, sizeof why_wrong, "%d of %d elements of C are wrong",
                     verdict.n_wrong, verdict.n_elements);
        else if (memcmp(c[0], c[1], n * sizeof(float)))
            snprintf(why_wrong, sizeof why_wrong, "two runs differ");
        json_t *said = json_pack("{s:b, s:s}", "passed", !*why_wrong, "why", why_wrong);
        json_dumpf(said, stdout, JSON_COMPACT);
        json_decref(said);
    }
    free(c[0]);
    free(c[1]);
    free(is_wrong);
    matrices_free(&m);
    json_decref(t);
    return why;
}
