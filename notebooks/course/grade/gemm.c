/* The subject of a trial, its cases and its judgement, for the exams on GEMM: C (m, n) = A (m, k) B (n, k)^T.
 * build/trial-exams has both: image gemm-1 is given addresses, gemm-2 tensor maps. */
#include "trial.h"

#include "common/base/heap.h"
#include "common/base/program.h"
#include "common/base/reason.h"
#include "common/cuda/half.h"
#include "common/harness/check.h"
#include "common/harness/input.h"
#include "common/harness/timing.h"
#include "notebooks/course/exams/gemm_args.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GAP = 0x7fff }; /* behind the rows of A and B: a NaN */

/* ---- draw SEED IMAGE ---- */

struct gemm_dice {
    uint64_t seed, n;
};

static int between(struct gemm_dice *d, int least, int most) {
    return least + (int)(input_random(d->seed, 0x1ab5, d->n++) % (uint64_t)(most - least + 1));
}

/* Sizes are least + a drawn number of units; `gaps`: rows lie further apart than they are long. "product" has whole tiles,
 * by which products are counted. */
static const struct kind {
    const char *name;
    struct {
        int least, unit, most;
    } m, n, k;
    bool gaps;
    const char *input;
} kinds[] = {{"product", {256, 256, 1}, {256, 256, 1}, {128, 64, 2}, false, "normal"},
             {"small", {1, 1, 40}, {1, 1, 40}, {8, 8, 6}, false, "normal"},
             {"rows", {129, 1, 126}, {128, 128, 1}, {64, 64, 2}, false, "normal"},
             {"columns", {128, 128, 1}, {129, 1, 126}, {64, 64, 2}, false, "normal3"},
             {"depth", {64, 64, 1}, {64, 64, 1}, {72, 16, 8}, false, "normal"},
             {"ragged", {65, 1, 200}, {65, 1, 200}, {40, 8, 20}, true, "normal"},
             {"strides", {64, 64, 2}, {64, 64, 2}, {64, 64, 2}, true, "uniform"},
             {"deep", {17, 1, 60}, {17, 1, 60}, {904, 8, 25}, false, "normal"},
             {"one row", {1, 1, 0}, {65, 1, 200}, {72, 8, 12}, true, "normal"},
             {"one column", {65, 1, 200}, {1, 1, 0}, {72, 8, 12}, true, "normal"},
             {"outliers", {65, 1, 100}, {65, 1, 100}, {72, 8, 12}, true, "outlier"},
             {"places", {65, 1, 100}, {65, 1, 100}, {72, 8, 12}, false, "identity"}};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static int whole(int n, int unit) { return (n + unit - 1) / unit * unit; }

static json_t *a_case(struct gemm_dice *d, const char *kind, const char *image, int m, int n, int k,
                      bool gaps, const char *input) {
    int ld[3], offset[3];
    for (int i = 0; i < 3; i++) {
        ld[i] = (i < 2 ? k : whole(n, 8)) + (gaps ? 8 * between(d, 1, 5) : 0);
        offset[i] = 16 * between(d, 0, 7);
    }
    const uint64_t seed = input_random(d->seed, 0x1ab6, d->n++) >> 16;
    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:[i,i,i], s:s, s:I}", "kind", kind,
                     "image", image, "m", m, "n", n, "k", k, "lda", ld[0], "ldb", ld[1], "ldc",
                     ld[2], "offsets", offset[0], offset[1], offset[2], "input", input, "seed",
                     (json_int_t)seed);
}

const char *trial_draw(int argc, char **argv) {
    if (argc != 2) return reason_as(STATUS_USAGE, "draw SEED IMAGE");
    struct gemm_dice d = {.seed = strtoull(argv[0], NULL, 10)};
    json_t *all = json_array();
    for (const struct kind *k = kinds; k < kinds + N_KINDS; k++) {
        const int m = k->m.least + k->m.unit * between(&d, 0, k->m.most),
                  n = k->n.least + k->n.unit * between(&d, 0, k->n.most),
                  depth = k->k.least + k->k.unit * between(&d, 0, k->k.most);
        json_array_append_new(all, a_case(&d, k->name, argv[1], m, n, depth, k->gaps, k->input));
    }
    const int depth = 64 * between(&d, 6, 10);
    json_array_append_new(all, a_case(&d, "timed", argv[1], 1024, 2048, depth, false, "normal"));
    json_array_append_new(all, a_case(&d, "large", argv[1], 1024, 2048, depth, false, "normal"));
    json_array_append_new(all, a_case(&d, "clocked", argv[1], 1024, 2048, depth, false, "normal"));
    int failed = json_dumpf(all, stdout, JSON_INDENT(1));
    json_decref(all);
    return failed || fflush(stdout) ? reason_as(STATUS_FILE, "cases: %s", strerror(errno)) : NULL;
}

/* ---- A and B on the host ---- */

struct gemm {
    int m, n, k, lda, ldb, ldc;
    half *x[2];    /* A (m, k) and B (n, k) */
    size_t n_x[2]; /* their elements, from the first to the last of a row */
};

static const char *gemm_make(const json_t *t, uint64_t seed, struct gemm *out) {
    *out = (struct gemm){.m = trial_int(t, "m"),
                         .n = trial_int(t, "n"),
                         .k = trial_int(t, "k"),
                         .lda = trial_int(t, "lda"),
                         .ldb = trial_int(t, "ldb"),
                         .ldc = trial_int(t, "ldc")};
    out->n_x[0] = (size_t)(out->m - 1) * (size_t)out->lda + (size_t)out->k;
    out->n_x[1] = (size_t)(out->n - 1) * (size_t)out->ldb + (size_t)out->k;
    for (int i = 0; i < 2; i++) {
        out->x[i] = heap_take(out->n_x[i] * sizeof(half));
        for (size_t e = 0; e < out->n_x[i]; e++) out->x[i][e] = GAP;
    }
    half *nothing = heap_take((size_t)out->n * (size_t)out->k * sizeof(half)); /* V */
    const char *why = input_fill(trial_text(t, "input"), seed,
                                 &(struct attention){.batch = 1,
                                                     .heads = 1,
                                                     .kv_heads = 1,
                                                     .seqlen_q = out->m,
                                                     .seqlen_k = out->n,
                                                     .head_dim = out->k,
                                                     .q_stride.row = out->lda,
                                                     .k_stride.row = out->ldb,
                                                     .v_stride.row = out->k},
                                 out->x[0], out->x[1], nothing);
    free(nothing);
    return why;
}

static void gemm_free(struct gemm *g) {
    free(g->x[0]);
    free(g->x[1]);
}

/* ---- The subject ---- */

struct gemm_own {
    struct gemm gemm;
    half *now[2];               /* what A and B are on the device */
    device_ptr whole[3], at[3]; /* the allocations of A, B and C; where these begin in them */
    struct device_launch launch;
};

static const char *place(struct gemm_own *own, struct device *d, const json_t *t) {
    const size_t bytes[3] = {own->gemm.n_x[0] * sizeof(half), own->gemm.n_x[1] * sizeof(half),
                             (size_t)own->gemm.m * (size_t)own->gemm.ldc * sizeof(float)};
    for (size_t i = 0; i < 3; i++) {
        const size_t offset =
            (size_t)json_integer_value(json_array_get(json_object_get(t, "offsets"), i));
        const char *why = device_alloc(d, bytes[i] + offset, &own->whole[i]);
        if (why) return why;
        own->at[i] = own->whole[i] + offset;
    }
    return NULL;
}

/* Boxes of 64 columns and the rows that a block has of C. */
static const char *map(struct gemm_own *own, struct device *d, int i, int rows) {
    _Alignas(64) unsigned char bytes[128];
    const struct gemm *g = &own->gemm;
    const struct device_tensor_map m = {
        .base = own->at[i],
        .rank = 4,
        .extent = {(uint64_t)g->k, (uint64_t)(i ? g->n : g->m), 1, 1},
        .stride = {0, 2u * (uint64_t)(i ? g->ldb : g->lda), 16, 16},
        .box = {64, (uint32_t)rows, 1, 1},
        .swizzle_bytes = 128};
    const char *why = device_tensor_map(d, &m, bytes);
    if (!why) device_launch_arg(&own->launch, bytes, sizeof bytes);
    return why;
}

/* The launch that the file asks for: its constant `launch`. */
static const char *plan(struct gemm_own *own, struct device *d, struct device_image *image,
                        bool maps) {
    const struct gemm *g = &own->gemm;
    int32_t asked[4];
    device_ptr p;
    size_t bytes;
    const char *why = device_variable(d, image, "launch", &p, &bytes);
    if (why || bytes != sizeof asked)
        return reason_as(STATUS_UNSUPPORTED,
                         "there is no `extern \"C\" __constant__ int launch[4]`");
    if ((why = device_copy_out(d, asked, p, sizeof asked))) return why;
    const int rows = asked[GEMM_ROWS], columns = asked[GEMM_COLUMNS], threads = asked[GEMM_THREADS],
              most = maps ? 256 : 1024;
    if (rows < 1 || columns < 1 || rows > most || columns > most || threads < 32 ||
        threads > 1024 || threads % 32 || asked[GEMM_SHARED] < 0)
        return reason_as(STATUS_UNSUPPORTED,
                         "launch is {%d, %d, %d, %d}: rows and columns are 1 to %d, threads a "
                         "multiple of 32 up to 1024, bytes not negative",
                         rows, columns, threads, asked[GEMM_SHARED], most);
    own->launch = (struct device_launch){.kernel = "gemm",
                                         .grid = {(unsigned)((g->n + columns - 1) / columns),
                                                  (unsigned)((g->m + rows - 1) / rows), 1},
                                         .block = {(unsigned)threads, 1, 1},
                                         .shared_bytes = (unsigned)asked[GEMM_SHARED]};
    if (!maps) {
        const struct gemm_args args = {(const half *)(uintptr_t)own->at[0],
                                       (const half *)(uintptr_t)own->at[1],
                                       (float *)(uintptr_t)own->at[2],
                                       g->m,
                                       g->n,
                                       g->k,
                                       g->lda,
                                       g->ldb,
                                       g->ldc};
        device_launch_arg(&own->launch, &args, sizeof args);
        return NULL;
    }
    if ((why = map(own, d, 0, rows)) || (why = map(own, d, 1, columns))) return why;
    device_launch_arg(&own->launch, &own->at[2], sizeof own->at[2]);
    const int *const ints[] = {&g->m, &g->n, &g->k, &g->ldc};
    for (int i = 0; i < 4; i++) device_launch_arg(&own->launch, ints[i], sizeof(int));
    return NULL;
}

static bool takes_maps(const json_t *t) { return !strcmp(trial_text(t, "image"), "gemm-2"); }

const char *subject_open(const json_t *t, struct device *d, struct subject *out) {
    struct gemm_own *own = heap_line(sizeof *own); /* launches lie at multiples of 64 */
    char images[PATH_MAX];
    *out = (struct subject){.device = d, .own = own};
    snprintf(images, sizeof images, "%s/images/exams", program_folder());
    const char *why = gemm_make(t, trial_seed(t), &own->gemm);
    if (!why) why = place(own, d, t);
    if (!why) why = subject_inputs(out, NULL);
    if (!why) why = device_load(d, images, trial_text(t, "image"), &out->image);
    if (!why) why = plan(own, d, out->image, takes_maps(t));
    out->launch = &own->launch;
    out->n_launches = 1;
    out->out_bytes = (size_t)own->gemm.m * (size_t)own->gemm.ldc * sizeof(float);
    return why;
}

void subject_close(struct subject *s) {
    struct gemm_own *own = s->own;
    if (!own) return;
    if (s->image) device_unload(s->device, s->image);
    for (int i = 0; i < 3; i++) device_free(s->device, own->whole[i]);
    for (int i = 0; i < 2; i++) free(own->now[i]);
    gemm_free(&own->gemm);
    free(own);
}

const char *subject_poison(struct subject *s) {
    return device_fill(s->device, ((struct gemm_own *)s->own)->at[2], CHECK_POISON_WORD,
                       s->out_bytes);
}

const char *subject_fetch(struct subject *s, void *outputs) {
    return device_copy_out(s->device, outputs, ((struct gemm_own *)s->own)->at[2], s->out_bytes);
}

/* Which of the two a kernel takes for its first operand does not matter: doubled, either doubles C. */
const char *subject_inputs(struct subject *s, const struct changed_inputs *c) {
    struct gemm_own *own = s->own;
    const char *why = NULL;
    for (int i = 0; i < 2 && !why; i++) {
        const size_t n = own->gemm.n_x[i];
        if (!own->now[i]) own->now[i] = heap_take(n * sizeof(half));
        for (size_t e = 0; e < n; e++) {
            const half x = own->gemm.x[i][e];
            own->now[i][e] = c && c->instead ? emu_spoil_half(c->spoil, x, i == 0) : x;
        }
        why = device_copy_in(s->device, own->at[i], own->now[i], n * sizeof(half));
    }
    return why;
}

const char *subject_changed(struct subject *s, json_t *names) {
    const struct gemm_own *own = s->own;
    for (int i = 0; i < 2; i++) {
        const size_t bytes = own->gemm.n_x[i] * sizeof(half);
        void *copy = heap_take(bytes);
        const char *why = device_copy_out(s->device, copy, own->at[i], bytes);
        bool differs = !why && memcmp(copy, own->now[i], bytes);
        free(copy);
        if (why) return why;
        if (differs) json_array_append_new(names, json_stringn(&"ab"[i], 1));
    }
    return NULL;
}

/* By turns with the product of the next seed's A and B, which comes last and leaves its C in the same place. */
const char *subject_time(struct subject *s, const json_t *t, double *us, double *iqr_us) {
    struct gemm_own *own = s->own, *other = heap_line(sizeof *other);
    struct timing timing = {0};
    struct device_launch *both = heap_line(2 * sizeof *both);
    const char *why = gemm_make(t, trial_seed(t) + 1, &other->gemm);
    for (int i = 0; i < 2 && !why; i++) {
        const size_t bytes = other->gemm.n_x[i] * sizeof(half);
        if (!(why = device_alloc(s->device, bytes, &other->whole[i])))
            why = device_copy_in(s->device, other->whole[i], other->gemm.x[i], bytes);
        other->at[i] = other->whole[i];
    }
    other->at[2] = own->at[2];
    if (!why) why = plan(other, s->device, s->image, takes_maps(t));
    both[0] = own->launch, both[1] = other->launch;
    if (!why)
        why = timing_measure(s->device, s->image, both, 2, false, PREDICTOR_LOADED, 0.25, 200,
                             &timing);
    *us = timing.median_us / 2;
    *iqr_us = timing.iqr_us / 2;
    for (int i = 0; i < 2; i++) device_free(s->device, other->whole[i]);
    gemm_free(&other->gemm);
    free(other);
    free(both);
    return why;
}

/* ---- judge CASES INDEX OUT ---- */

/* Element (row, col) in double. Whatever a kernel adds in which order, it does so by tensor cores, 8 products or more at
 * a time. Each such sum cuts 17 terms at 2^-25 of the largest and its result at 2^-23 (MMA-Sim, arXiv 2511.10909; see
 * stages/5-wgmma/experiment.h), and none is larger than the sum of all |products|. */
static double exact(const struct gemm *g, int row, int col, double *bound) {
    double sum = 0, size = 0;
    for (int i = 0; i < g->k; i++) {
        const double p = (double)half_to_float(g->x[0][(size_t)row * (size_t)g->lda + (size_t)i]) *
                         (double)half_to_float(g->x[1][(size_t)col * (size_t)g->ldb + (size_t)i]);
        sum += p;
        size += fabs(p);
    }
    *bound = (g->k + 7) / 8 * (17 * 0x1p-25 + 0x1p-23) * size;
    return sum;
}

static bool is_poison(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits == CHECK_POISON_WORD;
}

/* Every step-th row from `first` on. in_parts: what is not written is not judged, but something has to be. */
static void judge(const struct gemm *g, const float *c, int first, int step, bool in_parts,
                  char *why, size_t bytes) {
    size_t n_wrong = 0, n_judged = 0;
    for (int row = first; row < g->m; row += step)
        for (int col = 0; col < g->ldc; col++) {
            const float got = c[(size_t)row * (size_t)g->ldc + (size_t)col];
            double bound, wanted;
            if (is_poison(got) && (in_parts || col >= g->n)) continue;
            if (col >= g->n) {
                snprintf(why, bytes, "it writes to row %d behind column %d, the last", row,
                         g->n - 1);
                return;
            }
            n_judged++;
            wanted = exact(g, row, col, &bound);
            if (fabs(got - wanted) <= bound || n_wrong++) continue;
            snprintf(why, bytes, "C[%d][%d] is %.6g, not %.6g", row, col, (double)got, wanted);
        }
    if (n_wrong)
        snprintf(why + strlen(why), bytes - strlen(why), "; %zu of %zu elements are wrong", n_wrong,
                 n_judged);
    else if (!n_judged)
        snprintf(why, bytes, "nothing is written");
}

const char *trial_judge(int argc, char **argv) {
    static const char *const names[] = {"out0", "out1", "out2"};
    struct gemm g = {0};
    json_t *t = NULL;
    char path[PATH_MAX], wrong[160] = "";
    if (argc != 3) return reason_as(STATUS_USAGE, "judge CASES INDEX OUT");
    const char *why = trial_case(argv[0], argv[1], &t);
    const bool clocked = !strcmp(trial_text(t, "kind"), "clocked"), /* the predictor runs parts */
        is_large = clocked || !strcmp(trial_text(t, "kind"), "timed") ||
                   !strcmp(trial_text(t, "kind"), "large");
    const int first = is_large ? (int)(trial_seed(t) % 16) : 0, step = is_large ? 16 : 1;
    for (int i = 0; i < 3 && !why && !*wrong; i++) {
        const bool is_timed = i == 2; /* what timed launches left is of the next seed */
        snprintf(path, sizeof path, "%s/%s.bin", argv[2], names[i]);
        if (is_timed && access(path, R_OK)) break;
        gemm_free(&g);
        if ((why = gemm_make(t, trial_seed(t) + is_timed, &g))) break;
        const size_t n_bytes = (size_t)g.m * (size_t)g.ldc * sizeof(float);
        float *c = heap_take(n_bytes);
        if (!(why = trial_get(argv[2], names[i], c, n_bytes)))
            judge(&g, c, first, step, clocked, wrong, sizeof wrong);
        free(c);
    }
    if (!why) {
        json_t *said = json_pack("{s:b, s:s}", "passed", !*wrong, "why", wrong);
        json_dumpf(said, stdout, JSON_COMPACT);
        json_decref(said);
    }
    gemm_free(&g);
    json_decref(t);
    return why;
}
