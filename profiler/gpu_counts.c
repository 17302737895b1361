#include "gpu_counts.h"

#include "launches.h"
#include "common/device/device_ops.h"
#include "nvtx.h"
#include "range.h"
#include "common/base/reason.h"
#include "common/base/heap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_WANTED = 256 };

struct wanted {
    char metric[128];
    bool done;
    double value;
    char refused[256]; /* not "": no value, and why */
};

struct gpu_counts {
    struct device *device;
    struct device_image *image;
    const struct device_launch *launches;
    int n_launches;
    const struct cupti *cupti;
    CUcontext context;
    const char *chip;
    const uint8_t *availability;
    struct sass sass;
    int n;
    struct wanted wanted[MAX_WANTED];
};

static bool is_sass(const char *metric) { return !strchr(metric, '.'); }

/* One run of all launches: what CUPTI replays. */
static const char *run(void *arg) {
    struct gpu_counts *g = arg;
    const char *why = NULL;
    for (int i = 0; !why && i < g->n_launches; i++)
        why = device_launch(g->device, g->image, &g->launches[i]);
    return why ? why : device_sync(g->device);
}

enum { DEVICE_INDEX = 0 }; /* device_cuda.c takes the first */

static const char *start(struct gpu_counts *g) {
    const char *why = cupti_open(&g->cupti);
    if (!why) why = cupti_start(g->cupti);
    if (!why) why = cupti_supports(g->cupti, DEVICE_INDEX, CUPTI_PROFILER_RANGE_PROFILING);
    if (!why) why = cupti_chip(g->cupti, DEVICE_INDEX, &g->chip);
    if (!why) why = range_availability(g->cupti, g->context, &g->availability);
    return why;
}

void gpu_counts_prepare(struct device *d) {
    struct gpu_counts g = {.device = d, .context = device_cuda_context(d)};
    start(&g); /* why it cannot, gpu_counts_open() says */
}

const char *gpu_counts_open(struct device *d, struct device_image *image,
                            const struct device_launch *launches, int n, struct gpu_counts **out) {
    struct gpu_counts *g = *out = heap_zeroed(1, sizeof *g);
    g->device = d;
    g->image = image;
    g->launches = launches;
    g->n_launches = n;
    g->context = device_cuda_context(d);
    const char *why = start(g);
    if (why) {
        gpu_counts_close(g);
        *out = NULL;
    }
    return why;
}

const char *gpu_counts_permission(struct device *d) {
    struct gpu_counts g = {.device = d, .context = device_cuda_context(d)};
    const char *why = start(&g);
    return why ? why : range_permission(g.cupti, g.context);
}

void gpu_counts_close(struct gpu_counts *g) {
    if (!g) return;
    sass_free(&g->sass);
    free(g);
}

const char *gpu_counts_chip(const struct gpu_counts *g) { return g->chip; }

static struct wanted *find(const struct gpu_counts *g, const char *metric) {
    for (int i = 0; i < g->n; i++)
        if (!strcmp(g->wanted[i].metric, metric)) return (struct wanted *)&g->wanted[i];
    return NULL;
}

const char *gpu_counts_want(struct gpu_counts *g, const char *metric) {
    if (find(g, metric)) return NULL;
    if (g->n == MAX_WANTED) return reason("more than %d metrics at once", MAX_WANTED);
    struct wanted *w = &g->wanted[g->n++];
    *w = (struct wanted){0};
    snprintf(w->metric, sizeof w->metric, "%s", metric);
    return NULL;
}

static void refuse(struct wanted *w, const char *why) {
    snprintf(w->refused, sizeof w->refused, "%s", why);
    w->done = true;
}

static const char *open_range(const struct gpu_counts *g, const char *const *names, int n,
                              struct metrics *m) {
    return metrics_open(m, g->cupti, CUPTI_PROFILER_TYPE_RANGE_PROFILER, g->chip, g->availability,
                        names, n);
}

/* The metrics of the range profiler that are wanted. */
static int choose(struct gpu_counts *g, const char **names, struct wanted **of) {
    int n = 0;
    for (int i = 0; i < g->n; i++) {
        if (g->wanted[i].done || is_sass(g->wanted[i].metric)) continue;
        of[n] = &g->wanted[i];
        names[n++] = g->wanted[i].metric;
    }
    return n;
}

/* Those of them that this chip has: the range profiler takes all it is given or none. */
static int choose_known(const struct gpu_counts *g, int n, const char **names, struct wanted **of) {
    int kept = 0;
    for (int i = 0; i < n; i++) {
        struct metrics m;
        const char *why = open_range(g, &names[i], 1, &m);
        if (why) {
            refuse(of[i], why);
            continue;
        }
        metrics_close(&m);
        of[kept] = of[i];
        names[kept++] = names[i];
    }
    return kept;
}

/* How often a pass runs all launches: a median of few is enough where one takes long. */
static const char *choose_runs(struct gpu_counts *g, int *n_runs) {
    enum { RUNS = 10, PASS_NS = 4000000 };
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    const char *why = run(g);
    clock_gettime(CLOCK_MONOTONIC, &to);
    int64_t ns = (to.tv_sec - from.tv_sec) * 1000000000ll + to.tv_nsec - from.tv_nsec;
    *n_runs = ns > PASS_NS ? 1 : ns < PASS_NS / RUNS ? RUNS : (int)(PASS_NS / ns);
    return why;
}

/* values[n_launches][m->n], of its metrics. */
static const char *measure(struct gpu_counts *g, const struct metrics *m, double *values) {
    int n_runs;
    const char *why = choose_runs(g, &n_runs);
    return why ? why : range_collect(m, g->context, run, g, g->n_launches, n_runs, values);
}

static int n_weights(const struct gpu_counts *g) {
    return g->n_launches > 1 ? LAUNCHES_WEIGHTS : 0;
}

/* Of several launches, behind the n metrics, with what weighs them. */
static const char *open_weighted(const struct gpu_counts *g, const char **names, int n,
                                 struct metrics *m) {
    for (int i = 0; i < n_weights(g); i++) names[n + i] = launches_weight_metric[i];
    return open_range(g, names, n + n_weights(g), m);
}

static void collect_range(struct gpu_counts *g) {
    const char *names[MAX_WANTED + LAUNCHES_WEIGHTS];
    struct wanted *of[MAX_WANTED];
    struct metrics m;
    int n = choose(g, names, of);
    if (!n) return;
    const char *why = open_weighted(g, names, n, &m);
    if (why && (n = choose_known(g, n, names, of))) why = open_weighted(g, names, n, &m);
    if (!n) return;
    const int stride = n + n_weights(g);
    double *values = heap_zeroed((size_t)g->n_launches * (size_t)stride, sizeof *values);
    if (!why) {
        why = measure(g, &m, values);
        metrics_close(&m);
    }
    for (int i = 0; i < n; i++) {
        double value;
        const char *wrong = why;
        if (!wrong)
            wrong =
                launches_combine(names[i], values + i, values + n, stride, g->n_launches, &value);
        if (!wrong && !isfinite(value))
            wrong = "CUPTI has no finite value for it: nothing of the kind happened";
        if (wrong) {
            refuse(of[i], wrong);
        } else {
            of[i]->value = value;
            of[i]->done = true;
        }
    }
    free(values);
}

/* "METRIC", or "METRIC@KIND": of the instructions of one kind; without, *kind is SASS_KINDS. */
static const char *parse_sass(const char *wanted, int *metric, int *kind) {
    const char *at = strchr(wanted, '@');
    size_t length = at ? (size_t)(at - wanted) : strlen(wanted);
    *metric = 0;
    *kind = at ? 0 : SASS_KINDS;
    while (*metric < SASS_N && (strlen(sass_metric[*metric]) != length ||
                                strncmp(sass_metric[*metric], wanted, length)))
        ++*metric;
    while (*kind < SASS_KINDS && strcmp(sass_kind[*kind], at + 1)) ++*kind;
    if (*metric == SASS_N || (at && *kind == SASS_KINDS))
        return reason("%s is none of the counts by instruction that are made (sass.h)", wanted);
    return NULL;
}

static double sum(const struct sass *s, int metric, int kind) {
    double total = 0;
    for (int i = 0; i < s->n; i++)
        if (kind == SASS_KINDS || s->record[i].kind == (enum sass_kind)kind)
            total += s->record[i].value[metric];
    return total;
}

const char *gpu_counts_sass(struct gpu_counts *g, unsigned wanted, const struct sass **out) {
    *out = &g->sass;
    return sass_collect(g->cupti, g->context, DEVICE_INDEX, g->chip, wanted, run, g, &g->sass);
}

const char *gpu_counts_stalls(const struct gpu_counts *g, struct stalls *out) {
    *out = (struct stalls){0};
    const char *why = cupti_supports(g->cupti, DEVICE_INDEX, CUPTI_PROFILER_PC_SAMPLING);
    return why ? why : stalls_begin(g->cupti, g->context, out);
}

const struct cupti *gpu_counts_cupti(const struct gpu_counts *g) { return g->cupti; }

static void collect_sass(struct gpu_counts *g) {
    const struct sass *s;
    unsigned wanted = 0;
    int metric, kind;
    for (int i = 0; i < g->n; i++) {
        struct wanted *w = &g->wanted[i];
        const char *why = is_sass(w->metric) ? parse_sass(w->metric, &metric, &kind) : NULL;
        if (why) refuse(w, why);
        if (!w->done && is_sass(w->metric)) wanted |= sass_bits(metric, kind);
    }
    const char *why = wanted ? gpu_counts_sass(g, wanted, &s) : NULL;
    for (int i = 0; wanted && i < g->n; i++) {
        struct wanted *w = &g->wanted[i];
        if (w->done || !is_sass(w->metric)) continue;
        if (why) {
            refuse(w, why);
            continue;
        }
        parse_sass(w->metric, &metric, &kind);
        if (s->absent >> metric & 1) {
            refuse(w, reason("%s has no SASS metric %s", g->chip, sass_metric[metric]));
            continue;
        }
        w->value = sum(s, metric, kind);
        w->done = true;
    }
}

void gpu_counts_collect(struct gpu_counts *g) {
    nvtx_begin(NVTX_COUNT);
    collect_range(g);
    collect_sass(g);
    nvtx_end();
}

const char *gpu_counts_value(const struct gpu_counts *g, const char *metric, double *value) {
    const struct wanted *w = find(g, metric);
    if (!w || !w->done) return reason("%s was not collected", metric);
    if (*w->refused) return w->refused;
    *value = w->value;
    return NULL;
}
