#include "gpu_metrics.h"

#include "common/base/heap.h"
#include "common/base/reason.h"
#include "profiler/counters.h"
#include "profiler/launches.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the table of launches is made of. */
enum {
    EXECUTED,
    THREADS,
    SECTORS_LD,
    SECTORS_ST,
    WAVEFRONTS,
    CONFLICTS,
    HMMA,
    HFMA2, /* of those: no work of the tensor cores */
    DURATION_NS,
    CYCLES,
    N_BASIC
};
static const char *const basic[N_BASIC] = {
    [EXECUTED] = "smsp__inst_executed.sum",
    [THREADS] = "smsp__thread_inst_executed.sum",
    [SECTORS_LD] = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    [SECTORS_ST] = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    [WAVEFRONTS] = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    [CONFLICTS] = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    [HMMA] = "sm__inst_executed_pipe_tensor_op_hmma.sum",
    [HFMA2] = "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum",
    [DURATION_NS] = "gpu__time_duration.sum",
    [CYCLES] = "sm__cycles_elapsed.max",
};

static struct {
    const char *chip; /* "GH100" */
    struct metrics m;
    int n; /* metrics: those of `basic`, weights, those of the groups */
    char name[GPU_MOST_METRICS][128];
    char refused[GPU_MOST_METRICS][160]; /* not "": why there is none */
    int column[GPU_MOST_METRICS];        /* of m's values */
} gpu;

/* ---- Which metrics ----------------------------------------------------------------------------- */

static int find(const char *metric) {
    for (int i = 0; i < gpu.n; i++)
        if (!strcmp(gpu.name[i], metric)) return i;
    return -1;
}

static const char *want(void *unused, const char *metric) {
    (void)unused;
    if (!strchr(metric, '.') || find(metric) >= 0) return NULL;
    if (gpu.n == GPU_MOST_METRICS) return reason("more than %d metrics at once", GPU_MOST_METRICS);
    snprintf(gpu.name[gpu.n++], sizeof *gpu.name, "%s", metric);
    return NULL;
}

/* Those that the chip has, at once; if it has not all, one by one. */
static const char *choose(const struct cupti *cupti, const uint8_t *availability) {
    const char *names[GPU_MOST_METRICS];
    int n = 0;
    for (int i = 0; i < gpu.n; i++) names[i] = gpu.name[i];
    const CUpti_ProfilerType range = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    for (int i = 0; i < gpu.n; i++) gpu.column[i] = i;
    if (!metrics_open(&gpu.m, cupti, range, gpu.chip, availability, names, gpu.n)) return NULL;
    for (int i = 0; i < gpu.n; i++) {
        struct metrics one;
        const char *name = gpu.name[i],
                   *why = metrics_open(&one, cupti, range, gpu.chip, availability, &name, 1);
        snprintf(gpu.refused[i], sizeof *gpu.refused, "%s", why ? why : "");
        gpu.column[i] = n;
        if (why) continue;
        names[n++] = name;
        metrics_close(&one);
    }
    return metrics_open(&gpu.m, cupti, range, gpu.chip, availability, names, n);
}

const char *gpu_metrics_open(const struct cupti *cupti, const char *chip, const char *groups,
                             const uint8_t *availability, const struct metrics **out) {
    const char *why = NULL;
    gpu.chip = chip;
    for (int i = 0; i < N_BASIC; i++) want(NULL, basic[i]);
    for (int i = 0; i < LAUNCHES_WEIGHTS; i++) want(NULL, launches_weight_metric[i]);
    if (groups) why = counters_metrics(chip, groups, want, NULL);
    if (!why) why = choose(cupti, availability);
    *out = &gpu.m;
    return why;
}

/* ---- Their values ------------------------------------------------------------------------------ */

static double value_of(const double *values, int i) {
    return *gpu.refused[i] ? NAN : values[gpu.column[i]];
}

void gpu_metrics_keep(struct kernel *k, struct launch *l, const double *values) {
    struct gpu_kernel *g = k->gpu;
    g->value = heap_grown(g->value, (size_t)(g->n_counted + 1) * (size_t)gpu.m.n * sizeof *values);
    memcpy(g->value + (size_t)g->n_counted * (size_t)gpu.m.n, values,
           (size_t)gpu.m.n * sizeof *values);
    g->row[l - k->launch] = g->n_counted++;
    double sectors = value_of(values, SECTORS_LD) + value_of(values, SECTORS_ST),
           wavefronts = value_of(values, WAVEFRONTS);
    l->sums = (struct session_sums){.executed = value_of(values, EXECUTED),
                                    .threads = value_of(values, THREADS),
                                    .sectors = sectors,
                                    .sectors_ideal = sectors, /* the hardware does not say */
                                    .wavefronts = wavefronts,
                                    .wavefronts_ideal = wavefronts - value_of(values, CONFLICTS),
                                    .tensor = value_of(values, HMMA) - value_of(values, HFMA2)};
    l->seconds = 1e-9 * value_of(values, DURATION_NS);
    l->cycles = value_of(values, CYCLES);
}

/* Of all launches of a kernel, if they were counted, or like one that was. */
static const char *metric_value(void *arg, const char *metric, double *value) {
    enum { ROW = 1 + LAUNCHES_WEIGHTS }; /* of a launch: the value, and what weighs it */
    const struct kernel *k = *(const struct kernel **)arg;
    const struct gpu_kernel *g = k->gpu;
    const int i = find(metric);
    int n_missed = 0;
    if (!strchr(metric, '.'))
        return "it is counted by instruction, of stages only: build/stage-N --counters";
    if (i < 0) return reason("%s was not collected", metric);
    if (*gpu.refused[i]) return gpu.refused[i];
    for (int n = 0; n < k->n_launches; n++) n_missed += g->row[n] < 0;
    if (n_missed) return reason("%d of its %d launches were not counted", n_missed, k->n_launches);
    int of[ROW] = {i};
    for (int w = 0; w < LAUNCHES_WEIGHTS; w++) of[1 + w] = find(launches_weight_metric[w]);
    double *all = heap_zeroed((size_t)k->n_launches * ROW, sizeof *all);
    for (int n = 0; n < k->n_launches; n++)
        for (int c = 0; c < ROW; c++)
            all[n * ROW + c] = value_of(g->value + (size_t)g->row[n] * (size_t)gpu.m.n, of[c]);
    const char *why = launches_combine(metric, all, all + 1, ROW, k->n_launches, value);
    free(all);
    if (!why && !isfinite(*value))
        why = "CUPTI has no finite value for it, or for what weighs its launches: nothing of the "
              "kind happened";
    return why;
}

const char *gpu_counters(const struct session *s, const struct kernel *k, const char *groups,
                         struct counters *out) {
    struct occupancy occupancy;
    const struct launch *l = &k->launch[k->n_launches - 1];
    int threads = (int)(l->block[0] * l->block[1] * l->block[2]);
    const char *unknown = "the driver does not say how many registers the kernel takes";
    if (k->n_registers >= 0)
        unknown = session_occupancy(s, k, threads, (int)l->shared_bytes, &occupancy);
    return counters_measured(gpu.chip ? gpu.chip : s->info.chip.family, metric_value, &k,
                             &occupancy, unknown, threads, groups, out);
}
