#include "gpu.h"

#include "common/base/heap.h"
#include "common/base/reason.h"
#include "common/device/device_ops.h"
#include "profiler/counters.h"
#include "profiler/launches.h"
#include "profiler/range.h"

#include <cupti_driver_cbid.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_METRICS = 256 };

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

/* Of a kernel: value[n_counted][n_metrics], and for each of its launches which row of that holds for it; -1: it was not
 * counted. */
struct gpu_kernel {
    double *value;
    int n_counted, *row;
};
static const struct sums unknown = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};

static struct {
    pthread_mutex_t lock; /* from the beginning of a launch to its end */
    const struct cupti *cupti;
    const char *chip; /* "GH100" */
    CUcontext context;
    struct metrics m;
    struct range_replay *replay;
    bool ended; /* something failed: nothing is counted any more */
    int n;      /* metrics: those of `basic`, weights, those of the groups */
    char name[MOST_METRICS][128];
    char refused[MOST_METRICS][160]; /* not "": why there is none */
    int column[MOST_METRICS];        /* of m's values */
} gpu = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

/* ---- Which metrics ----------------------------------------------------------------------------- */

static int find(const char *metric) {
    for (int i = 0; i < gpu.n; i++)
        if (!strcmp(gpu.name[i], metric)) return i;
    return -1;
}

static const char *want(void *unused, const char *metric) {
    (void)unused;
    if (!strchr(metric, '.') || find(metric) >= 0) return NULL;
    if (gpu.n == MOST_METRICS) return reason("more than %d metrics at once", MOST_METRICS);
    snprintf(gpu.name[gpu.n++], sizeof *gpu.name, "%s", metric);
    return NULL;
}

/* Those that the chip has, at once; if it has not all, one by one. */
static const char *choose(const uint8_t *availability) {
    const char *names[MOST_METRICS];
    int n = 0;
    for (int i = 0; i < gpu.n; i++) names[i] = gpu.name[i];
    const CUpti_ProfilerType range = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    for (int i = 0; i < gpu.n; i++) gpu.column[i] = i;
    if (!metrics_open(&gpu.m, gpu.cupti, range, gpu.chip, availability, names, gpu.n)) return NULL;
    for (int i = 0; i < gpu.n; i++) {
        struct metrics one;
        const char *name = gpu.name[i],
                   *why = metrics_open(&one, gpu.cupti, range, gpu.chip, availability, &name, 1);
        snprintf(gpu.refused[i], sizeof *gpu.refused, "%s", why ? why : "");
        gpu.column[i] = n;
        if (why) continue;
        names[n++] = name;
        metrics_close(&one);
    }
    return metrics_open(&gpu.m, gpu.cupti, range, gpu.chip, availability, names, n);
}

/* The driver's own functions; the program has loaded it. */
static void *driver(const char *name) {
    static void *library;
    if (!library && !(library = dlopen("libcuda.so.1", RTLD_NOW))) heap_dlerror();
    void *f = library ? dlsym(library, name) : NULL;
    if (library && !f) heap_dlerror();
    return f;
}

/* The record names GPU 0: another one's counts are not its own. */
static const char *check_device(void) {
    CUresult (*ask)(CUdevice *);
    CUdevice device = 0;
    void *f = driver("cuCtxGetDevice");
    memcpy(&ask, &f, sizeof f);
    if (!ask || ask(&device) || !device) return NULL;
    return reason(
        "the program runs on GPU %d, and only launches of GPU 0 are counted: choose which "
        "that is with CUDA_VISIBLE_DEVICES",
        device);
}

static const char *open_counts(const struct settings *s, CUcontext context) {
    const uint8_t *availability = NULL;
    const char *why = check_device();
    if (!why) why = cupti_start(gpu.cupti);
    if (!why) why = cupti_supports(gpu.cupti, 0, CUPTI_PROFILER_RANGE_PROFILING);
    if (!why) why = cupti_chip(gpu.cupti, 0, &gpu.chip);
    if (!why) why = range_availability(gpu.cupti, context, &availability);
    for (int i = 0; i < N_BASIC; i++) want(NULL, basic[i]);
    for (int i = 0; i < LAUNCHES_WEIGHTS; i++) want(NULL, launches_weight_metric[i]);
    const char *groups = s->counters ? s->counters : s->json_path ? SESSION_GROUPS : NULL;
    if (!why && groups) why = counters_metrics(gpu.chip, groups, want, NULL);
    if (!why) why = choose(availability);
    if (!why) why = range_replay_open(&gpu.m, context, &gpu.replay);
    gpu.context = context;
    return why;
}

/* ---- A launch ---------------------------------------------------------------------------------- */

struct shape {
    CUfunction function;
    CUstream stream;
    unsigned grid[3], block[3], cluster[3], shared_bytes;
    void *const *argument; /* NULL: they are not given one by one */
};

/* The parameters of cuLaunchKernel and of cuLaunchCooperativeKernel begin so. */
struct plain_parameters {
    CUfunction function;
    unsigned grid[3], block[3], shared_bytes;
    CUstream stream;
    void **argument;
};
struct ex_parameters {
    const CUlaunchConfig *config;
    CUfunction function;
    void **argument;
};

static struct shape shape_of(CUpti_CallbackId id, const void *parameters) {
    struct shape s = {0};
    if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx ||
        id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz) {
        const struct ex_parameters *p = parameters;
        const CUlaunchConfig *c = p->config;
        s = (struct shape){.function = p->function,
                           .stream = c->hStream,
                           .grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
                           .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
                           .shared_bytes = c->sharedMemBytes,
                           .argument = p->argument};
        for (unsigned i = 0; i < c->numAttrs; i++)
            if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
                memcpy(s.cluster, &c->attrs[i].value.clusterDim, sizeof s.cluster);
        return s;
    }
    const struct plain_parameters *p = parameters;
    s.function = p->function;
    s.stream = p->stream;
    s.shared_bytes = p->shared_bytes;
    s.argument = p->argument;
    memcpy(s.grid, p->grid, sizeof s.grid);
    memcpy(s.block, p->block, sizeof s.block);
    return s;
}

static bool is_captured(CUstream stream) {
    CUresult (*ask)(CUstream, CUstreamCaptureStatus *);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    void *f = driver("cuStreamIsCapturing");
    memcpy(&ask, &f, sizeof f);
    return ask && !ask(stream, &status) && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* A program's functions may be handles of kernels of a library: then what that is as a function, else NULL. */
static CUfunction as_function(CUfunction function) {
    CUresult (*convert)(CUfunction *, CUkernel);
    CUfunction other = NULL;
    void *f = driver("cuKernelGetFunction");
    memcpy(&convert, &f, sizeof f);
    return convert && !convert(&other, (CUkernel)function) ? other : NULL;
}

/* -1: nobody says. */
static int attribute(CUfunction_attribute which, CUfunction function) {
    CUresult (*ask)(int *, CUfunction_attribute, CUfunction);
    void *f = driver("cuFuncGetAttribute");
    memcpy(&ask, &f, sizeof f);
    int value = -1;
    CUfunction other;
    if (ask && !ask(&value, which, function)) return value;
    if (ask && (other = as_function(function)) && !ask(&value, which, other)) return value;
    return -1;
}

/* The bytes of argument i; 0: there is none, or nobody says. */
static size_t argument_bytes(CUfunction function, size_t i) {
    CUresult (*ask)(CUfunction, size_t, size_t *, size_t *);
    void *f = driver("cuFuncGetParamInfo");
    memcpy(&ask, &f, sizeof f);
    size_t offset, bytes = 0;
    return ask && !ask(function, i, &offset, &bytes) ? bytes : 0;
}

/* Equal launches have equal keys; 0: nobody says what the arguments are, and it is like no other. */
static uint64_t key_of(const struct shape *s) {
    CUfunction function = s->function;
    if (!argument_bytes(function, 0)) function = as_function(function);
    if (!s->argument || !function || !argument_bytes(function, 0)) return 0;
    uint64_t key = repeat_key(1, s->grid, sizeof s->grid);
    key = repeat_key(key, s->block, sizeof s->block);
    key = repeat_key(key, s->cluster, sizeof s->cluster);
    key = repeat_key(key, &s->shared_bytes, sizeof s->shared_bytes);
    size_t bytes;
    for (size_t i = 0; (bytes = argument_bytes(function, i)); i++)
        key = repeat_key(key, s->argument[i], bytes);
    return key;
}

static struct kernel *kernel_of(struct session *s, const char *symbol, CUfunction function) {
    struct kernel **last = &s->kernels;
    for (; *last; last = &(*last)->next)
        if (!strcmp((*last)->name, symbol)) return *last;
    struct kernel *k = heap_zeroed(1, sizeof *k);
    k->gpu = heap_zeroed(1, sizeof *k->gpu);
    k->name = heap_text(symbol);
    k->shown = session_shown_name(symbol);
    k->n_registers = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, function);
    int bytes = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
    k->static_shared = bytes < 0 ? 0 : bytes;
    return *last = k;
}

/* An earlier one that this is like, if so many of them were counted that this need not be (--repeats). */
static const struct launch *like(const struct session *s, const struct kernel *k,
                                 const struct launch *l) {
    int n = 0, most = s->settings.repeats > 1 ? s->settings.repeats : 1;
    for (int i = 0; l->key && i < k->n_launches - 1; i++) {
        const struct launch *x = &k->launch[i];
        n += x->seconds > 0 && x->key == l->key;
        if (n == most) return x;
    }
    return NULL;
}

static void end_counting(const char *why) {
    session_no_counts(why);
    gpu.ended = true;
}

static double value_of(const double *values, int i) {
    return *gpu.refused[i] ? NAN : values[gpu.column[i]];
}

static void keep(struct kernel *k, struct launch *l, const double *values) {
    struct gpu_kernel *g = k->gpu;
    g->value = heap_grown(g->value, (size_t)(g->n_counted + 1) * (size_t)gpu.m.n * sizeof *values);
    memcpy(g->value + (size_t)g->n_counted * (size_t)gpu.m.n, values,
           (size_t)gpu.m.n * sizeof *values);
    g->row[l - k->launch] = g->n_counted++;
    double sectors = value_of(values, SECTORS_LD) + value_of(values, SECTORS_ST),
           wavefronts = value_of(values, WAVEFRONTS);
    l->sums = (struct sums){.executed = value_of(values, EXECUTED),
                            .threads = value_of(values, THREADS),
                            .sectors = sectors,
                            .sectors_ideal = sectors, /* the hardware does not say */
                            .wavefronts = wavefronts,
                            .wavefronts_ideal = wavefronts - value_of(values, CONFLICTS),
                            .tensor = value_of(values, HMMA) - value_of(values, HFMA2)};
    l->seconds = 1e-9 * value_of(values, DURATION_NS);
    l->cycles = value_of(values, CYCLES);
}

/* Its row of the table: nothing of it is known yet. */
static struct launch *add_launch(struct session *s, struct kernel *k, const struct shape *shape) {
    struct gpu_kernel *g = k->gpu;
    struct launch *l = session_add_launch(k);
    if (!l) heap_exhausted();
    memcpy(l->grid, shape->grid, sizeof l->grid);
    memcpy(l->block, shape->block, sizeof l->block);
    memcpy(l->cluster, shape->cluster, sizeof l->cluster);
    l->shared_bytes = shape->shared_bytes;
    l->key = s->settings.puts_off ? key_of(shape) : 0;
    l->sums = unknown;
    l->seconds = l->cycles = NAN;
    g->row = heap_grown(g->row, (size_t)k->n_launches * sizeof *g->row);
    g->row[k->n_launches - 1] = -1;
    s->n_launches++;
    return l;
}

static void leave_out(struct session *s, const char *what) {
    session_say("%s", what);
    s->uncounted = what;
}

/* Is this launch to be counted? Then everything is ready for it. */
static bool begin_launch(struct session *s, const CUpti_CallbackData *d,
                         const struct shape *shape) {
    const char *why = NULL;
    const struct launch *before;
    if (!gpu.replay && !gpu.ended && (why = open_counts(&s->settings, d->context)))
        end_counting(why);
    struct kernel *k = kernel_of(s, d->symbolName, shape->function);
    struct launch *l = add_launch(s, k, shape);
    if (gpu.ended) return false;
    if (d->context != gpu.context) {
        leave_out(s, "launches in other contexts than the first are not counted");
        return false;
    }
    if ((before = like(s, k, l))) {
        l->sums = before->sums;
        k->gpu->row[l - k->launch] = k->gpu->row[before - k->launch];
        s->n_skipped++;
        return false;
    }
    if ((why = range_replay_begin(gpu.replay))) end_counting(why);
    return !why;
}

static void end_launch(const struct session *s, const CUpti_CallbackData *d) {
    double values[MOST_METRICS];
    const char *why = range_replay_end(gpu.replay, values);
    struct kernel *k = s->kernels;
    while (strcmp(k->name, d->symbolName)) k = k->next;
    if (why)
        end_counting(why);
    else
        keep(k, &k->launch[k->n_launches - 1], values);
}

static void on_call(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                    const void *data) {
    static _Thread_local bool counted;
    const CUpti_CallbackData *d = data;
    (void)unused;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) { /* there is a context, and no kernel yet */
        cupti_start(gpu.cupti);               /* if it fails here it says so at a launch */
        return;
    }
    if (id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch ||
        id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz) {
        struct session *s = d->callbackSite == CUPTI_API_ENTER ? session_lock() : NULL;
        if (s) leave_out(s, "launches of graphs run, and are not counted");
        if (s) session_unlock();
        return;
    }
    if (d->callbackSite == CUPTI_API_ENTER) {
        const struct shape shape = shape_of(id, d->functionParams);
        counted = false;
        if (is_captured(shape.stream) || !d->symbolName) return;
        pthread_mutex_lock(&gpu.lock);
        struct session *s = session_lock();
        counted = s && begin_launch(s, d, &shape);
        if (s) session_unlock();
        if (!counted) pthread_mutex_unlock(&gpu.lock);
    } else if (counted) {
        counted = false;
        struct session *s = session_lock();
        if (s) end_launch(s, d);
        if (s) session_unlock();
        pthread_mutex_unlock(&gpu.lock);
    }
}

/* ---- The beginning ----------------------------------------------------------------------------- */

static const char *listen(void) {
    static const CUpti_CallbackId calls[] = {
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
        CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
    };
    CUpti_SubscriberHandle subscriber;
    const char *why = cupti_open(&gpu.cupti);
    if (!why)
        why = refusal(gpu.cupti->cuptiSubscribe(&subscriber, on_call, NULL), "cuptiSubscribe");
    if (!why)
        why = refusal(gpu.cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                                     CUPTI_CBID_RESOURCE_CONTEXT_CREATED),
                      "cuptiEnableCallback");
    for (size_t i = 0; !why && i < sizeof calls / sizeof *calls; i++)
        why = refusal(
            gpu.cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, calls[i]),
            "cuptiEnableCallback");
    return why;
}

/* The driver calls it by this name, once; what it returns means nothing. */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void) {
    const char *why = session_on_gpu();
    if (!why) why = listen();
    if (why) end_counting(why);
    return 1;
}

/* ---- What was counted -------------------------------------------------------------------------- */

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

void gpu_how(char *out, size_t bytes) {
    if (gpu.replay)
        snprintf(out, bytes, "counted by CUPTI in %d pass%s each%s", gpu.m.n_passes,
                 gpu.m.n_passes == 1 ? "" : "es", gpu.ended ? ", not all" : "");
    else
        snprintf(out, bytes, "not counted");
}
