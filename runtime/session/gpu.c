#include "gpu.h"

#include "gpu_launch.h"
#include "gpu_metrics.h"

#include "common/base/heap.h"
#include "common/base/reason.h"
#include "common/device/cuda_driver.h"
#include "profiler/range.h"

#include <cupti_driver_cbid.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct session_sums unknown = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};

static struct {
    pthread_mutex_t lock; /* from the beginning of a launch to its end */
    const struct cupti *cupti;
    CUcontext context;
    const struct metrics *m;
    struct range_replay *replay;
    bool ended; /* something failed: nothing is counted any more */
} gpu = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

/* The record names GPU 0: another one's counts are not its own. */
static const char *check_device(void) {
    int device = gpu_launch_device();
    if (device <= 0) return NULL;
    return reason(
        "the program runs on GPU %d, and only launches of GPU 0 are counted: choose which "
        "that is with CUDA_VISIBLE_DEVICES",
        device);
}

static const char *open_counts(const struct settings *s, CUcontext context) {
    const uint8_t *availability = NULL;
    const char *chip, *groups = s->counters ? s->counters : s->json_path ? SESSION_GROUPS : NULL;
    const char *why = check_device();
    if (!why) why = cupti_start(gpu.cupti);
    if (!why) why = cupti_supports(gpu.cupti, 0, CUPTI_PROFILER_RANGE_PROFILING);
    if (!why) why = cupti_chip(gpu.cupti, 0, &chip);
    if (!why) why = range_availability(gpu.cupti, context, &availability);
    if (!why) why = gpu_metrics_open(gpu.cupti, chip, groups, availability, &gpu.m);
    if (!why) why = range_replay_open(gpu.m, context, &gpu.replay);
    gpu.context = context;
    return why;
}

/* ---- A launch ---------------------------------------------------------------------------------- */

/* Another module's kernel of the same name is another one. */
static struct kernel *kernel_of(struct session *s, const char *symbol, CUfunction function) {
    struct kernel **last = &s->kernels;
    for (; *last; last = &(*last)->next)
        if ((*last)->gpu->function == function && !strcmp((*last)->name, symbol)) return *last;
    struct kernel *k = heap_zeroed(1, sizeof *k);
    k->gpu = heap_zeroed(1, sizeof *k->gpu);
    k->gpu->function = function;
    k->name = heap_text(symbol);
    k->shown = session_shown_name(symbol);
    k->n_registers = gpu_launch_attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, function);
    int bytes = gpu_launch_attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
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

/* Its row of the table: nothing of it is known yet. */
static struct launch *add_launch(struct session *s, struct kernel *k,
                                 const struct gpu_launch *shape) {
    struct gpu_kernel *g = k->gpu;
    struct launch *l = session_add_launch(k);
    if (!l) heap_exhausted();
    memcpy(l->grid, shape->grid, sizeof l->grid);
    memcpy(l->block, shape->block, sizeof l->block);
    memcpy(l->cluster, shape->cluster, sizeof l->cluster);
    l->shared_bytes = shape->shared_bytes;
    l->key = s->settings.puts_off ? gpu_launch_key(shape) : 0;
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

/* This thread's launch, from its beginning to its end. */
static _Thread_local struct {
    struct kernel *kernel; /* NULL: there is none */
    int row;
    bool counted;
} current;

/* Is this launch to be counted? Then everything is ready for it. */
static bool begin_launch(struct session *s, const CUpti_CallbackData *d,
                         const struct gpu_launch *shape) {
    const char *why = NULL;
    const struct launch *before;
    if (!gpu.replay && !gpu.ended && (why = open_counts(&s->settings, d->context)))
        end_counting(why);
    struct kernel *k = kernel_of(s, d->symbolName, shape->function);
    if (!session_chooses(s, k)) return false;
    struct launch *l = add_launch(s, k, shape);
    current.kernel = k;
    current.row = k->n_launches - 1;
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

/* It was none: the driver refused it. */
static void drop_launch(struct session *s, struct kernel *k, int row) {
    if (row != k->n_launches - 1) return; /* another thread's came after it */
    k->n_launches--;
    s->n_launches--;
}

static void end_launch(struct session *s, CUresult result) {
    double values[GPU_MOST_METRICS];
    struct kernel *k = current.kernel;
    const char *why = current.counted ? range_replay_end(gpu.replay, values) : NULL;
    if (result && !cuda_is_kernel_fault(result)) {
        drop_launch(s, k, current.row);
        return;
    }
    if (!current.counted) return;
    if (!why && result) why = "a kernel failed, and nothing is counted from then on";
    if (why)
        end_counting(why);
    else
        gpu_metrics_keep(k, &k->launch[current.row], values);
}

static void on_call(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                    const void *data) {
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
        const struct gpu_launch shape = gpu_launch_of(id, d->functionParams);
        current.kernel = NULL;
        if (gpu_launch_is_captured(shape.stream) || !d->symbolName) return;
        pthread_mutex_lock(&gpu.lock);
        struct session *s = session_lock();
        current.counted = s && begin_launch(s, d, &shape);
        if (s) session_unlock();
        if (!current.counted) pthread_mutex_unlock(&gpu.lock);
    } else if (current.kernel) {
        struct session *s = session_lock();
        if (s) end_launch(s, *(const CUresult *)d->functionReturnValue);
        if (s) session_unlock();
        if (current.counted) pthread_mutex_unlock(&gpu.lock);
        current.kernel = NULL;
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

void gpu_how(char *out, size_t bytes) {
    if (gpu.replay)
        snprintf(out, bytes, "counted by CUPTI in %d pass%s each%s", gpu.m->n_passes,
                 gpu.m->n_passes == 1 ? "" : "es", gpu.ended ? ", not all" : "");
    else
        snprintf(out, bytes, "not counted");
}
