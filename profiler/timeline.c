#include "timeline.h"

#include "common/device/device_ops.h"
#include "gpu_counts.h"
#include "metrics.h"
#include "common/base/reason.h"
#include "common/base/heap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HARDWARE_BUFFER_BYTES = 64 << 20, MAX_SAMPLES = 50000, DEVICE_INDEX = 0 };

/* Runs are left out beyond this many samples: 10,000 are decoded on an H200, 25,000 are not. */
enum { SAMPLES_WANTED = 10000 };

/* Three that fit into the one pass that sampling sees, on GA10x, AD10x and GH100. */
static const char *const metrics[] = {
    "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed",
};
enum { N_METRICS = sizeof metrics / sizeof *metrics };

struct sampler {
    struct metrics m; /* its config image must live as long as sampling runs */
    CUpti_PmSampling_Object *object;
    uint8_t *image;
    size_t image_bytes;
    uint8_t *availability;

    struct device *device;
    struct device_image *kernels;
    const struct device_launch *launches;
    int n_launches, n_runs;
};

static const char *get_availability(struct sampler *s, const struct cupti *cupti) {
    CUPTI_PARAMS(CUpti_PmSampling_GetCounterAvailability, get, .deviceIndex = DEVICE_INDEX);
    const char *why = CUPTI_CALL(cupti, cuptiPmSamplingGetCounterAvailability, &get);
    if (why) return why;
    s->availability = get.pCounterAvailabilityImage =
        heap_zeroed(1, get.counterAvailabilityImageSize);
    return CUPTI_CALL(cupti, cuptiPmSamplingGetCounterAvailability, &get);
}

static const char *make_image(struct sampler *s) {
    const struct cupti *cupti = s->m.cupti;
    CUPTI_PARAMS(CUpti_PmSampling_GetCounterDataSize, size, .pPmSamplingObject = s->object,
                 .pMetricNames = s->m.name, .numMetrics = (size_t)s->m.n,
                 .maxSamples = MAX_SAMPLES);
    const char *why = CUPTI_CALL(cupti, cuptiPmSamplingGetCounterDataSize, &size);
    if (why) return why;
    s->image_bytes = size.counterDataSize;
    s->image = heap_zeroed(1, s->image_bytes);
    CUPTI_PARAMS(CUpti_PmSampling_CounterDataImage_Initialize, initialize,
                 .pPmSamplingObject = s->object, .counterDataSize = s->image_bytes,
                 .pCounterData = s->image);
    return CUPTI_CALL(cupti, cuptiPmSamplingCounterDataImageInitialize, &initialize);
}

static const char *configure(struct sampler *s, int interval_ns) {
    CUPTI_PARAMS(CUpti_PmSampling_SetConfig, set, .pPmSamplingObject = s->object,
                 .configSize = s->m.config_bytes, .pConfig = s->m.config,
                 .hardwareBufferSize = HARDWARE_BUFFER_BYTES,
                 .samplingInterval = (uint64_t)interval_ns,
                 .triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL,
                 .hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST);
    return CUPTI_CALL(s->m.cupti, cuptiPmSamplingSetConfig, &set);
}

static const char *run(const struct sampler *s, int n_runs) {
    const char *why = NULL;
    for (int r = 0; r < n_runs && !why; r++)
        for (int i = 0; i < s->n_launches && !why; i++)
            why = device_launch(s->device, s->kernels, &s->launches[i]);
    return why ? why : device_sync(s->device);
}

static double microseconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* As many of the n_runs as give SAMPLES_WANTED, by the time that one takes; at least one. */
static const char *limit_runs(struct sampler *s, double interval_us) {
    const char *why = run(s, 1); /* the first one may wait for the kernel to be loaded */
    double begin = microseconds_now();
    if (!why) why = run(s, 1);
    double n = SAMPLES_WANTED * interval_us / (microseconds_now() - begin);
    if (n < s->n_runs) s->n_runs = n < 1 ? 1 : (int)n;
    return why;
}

static const char *sample(struct sampler *s) {
    const struct cupti *cupti = s->m.cupti;
    CUPTI_PARAMS(CUpti_PmSampling_Start, start, .pPmSamplingObject = s->object);
    CUPTI_PARAMS(CUpti_PmSampling_Stop, stop, .pPmSamplingObject = s->object);
    const char *why = CUPTI_CALL(cupti, cuptiPmSamplingStart, &start);
    if (why) return why;
    why = run(s, s->n_runs);
    const char *stopped = CUPTI_CALL(cupti, cuptiPmSamplingStop, &stop);
    if (!why) why = stopped;
    if (why) return why;
    CUPTI_PARAMS(CUpti_PmSampling_DecodeData, decode, .pPmSamplingObject = s->object,
                 .pCounterDataImage = s->image, .counterDataImageSize = s->image_bytes);
    if ((why = CUPTI_CALL(cupti, cuptiPmSamplingDecodeData, &decode))) return why;
    if (decode.overflow) return "the sampling buffer overflowed: run less or sample less often";
    if (decode.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL)
        return reason("more than %d samples: run less or sample less often", MAX_SAMPLES);
    return NULL;
}

static const char *evaluate_one(const struct sampler *s, int i, struct timeline_sample *out) {
    double value[N_METRICS];
    CUPTI_PARAMS(CUpti_PmSampling_CounterData_GetSampleInfo, when, .pPmSamplingObject = s->object,
                 .pCounterDataImage = s->image, .counterDataImageSize = s->image_bytes,
                 .sampleIndex = (size_t)i);
    const char *why = CUPTI_CALL(s->m.cupti, cuptiPmSamplingCounterDataGetSampleInfo, &when);
    if (!why) why = metrics_evaluate(&s->m, s->image, s->image_bytes, i, value);
    if (why) return why;
    *out = (struct timeline_sample){
        .us = 0.5e-3 * ((double)when.startTimestamp + (double)when.endTimestamp),
        .sm_pct = value[0],
        .tensor_pct = value[1],
        .mufu_pct = value[2],
    };
    return NULL;
}

/* Keeps the samples from the first to the last with work, counted from the first. */
static void trim(struct timeline *t) {
    int first = 0, last = t->n - 1;
    while (first <= last && t->sample[first].sm_pct == 0) first++;
    while (last > first && t->sample[last].sm_pct == 0) last--;
    t->n = last - first + 1;
    memmove(t->sample, t->sample + first, (size_t)t->n * sizeof *t->sample);
    for (int i = t->n - 1; i >= 0; i--) t->sample[i].us += 0.5 * t->interval_us - t->sample[0].us;
}

static const char *evaluate(const struct sampler *s, struct timeline *out) {
    CUPTI_PARAMS(CUpti_PmSampling_GetCounterDataInfo, info, .pCounterDataImage = s->image,
                 .counterDataImageSize = s->image_bytes);
    const char *why = CUPTI_CALL(s->m.cupti, cuptiPmSamplingGetCounterDataInfo, &info);
    if (why) return why;
    out->n = (int)info.numCompletedSamples;
    out->sample = heap_zeroed(info.numCompletedSamples + 1, sizeof *out->sample);
    for (int i = 0; i < out->n && !why; i++) why = evaluate_one(s, i, &out->sample[i]);
    if (why) return why;
    trim(out);
    return out->n ? NULL : "no sample fell into the run: run more often or sample more often";
}

static const char *open_sampler(struct sampler *s, const struct cupti *cupti, const char *chip,
                                double interval_us) {
    const char *why = get_availability(s, cupti);
    if (!why)
        why = metrics_open(&s->m, cupti, CUPTI_PROFILER_TYPE_PM_SAMPLING, chip, s->availability,
                           metrics, N_METRICS);
    if (why) return why;
    if (s->m.n_passes != 1)
        return reason("sampling sees the run once, and on %s its metrics need %d passes", chip,
                      s->m.n_passes);
    CUPTI_PARAMS(CUpti_PmSampling_Enable, enable, .deviceIndex = DEVICE_INDEX);
    if ((why = CUPTI_CALL(cupti, cuptiPmSamplingEnable, &enable))) return why;
    s->object = enable.pPmSamplingObject;
    if ((why = configure(s, (int)(1e3 * interval_us)))) return why;
    return make_image(s);
}

static void close_sampler(struct sampler *s) {
    CUPTI_PARAMS(CUpti_PmSampling_Disable, disable, .pPmSamplingObject = s->object);
    if (s->object) s->m.cupti->cuptiPmSamplingDisable(&disable);
    metrics_close(&s->m);
    free(s->image);
    free(s->availability);
}

const char *timeline_collect(struct device *d, struct device_image *image,
                             const struct device_launch *launches, int n, int n_runs,
                             double interval_us, struct timeline *out) {
    struct sampler s = {
        .device = d, .kernels = image, .launches = launches, .n_launches = n, .n_runs = n_runs};
    struct gpu_counts *g;
    *out = (struct timeline){.interval_us = interval_us};
    if (device_info(d)->is_emulator) return "the emulator has no time of its own, so no timeline";
    const char *why = gpu_counts_open(d, image, launches, n, &g);
    if (why) return why;
    /* Before sampling is opened: its first sample would reach back to here. */
    why = limit_runs(&s, interval_us);
    if (!why) why = open_sampler(&s, gpu_counts_cupti(g), gpu_counts_chip(g), interval_us);
    if (!why) why = sample(&s);
    out->n_runs = s.n_runs;
    if (!why) why = evaluate(&s, out);
    close_sampler(&s);
    gpu_counts_close(g);
    if (why) timeline_free(out);
    return why;
}

const char *timeline_write(const struct timeline *t, const char *title, const char *path) {
    FILE *f = fopen(path, "w");
    if (!f) return reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
    fprintf(f, "# %s\n# %d runs, sampled every %g us; percent of all SMs\n", title, t->n_runs,
            t->interval_us);
    for (int k = 0; k < N_METRICS; k++) fprintf(f, "# column %d: %s\n", k + 2, metrics[k]);
    fprintf(f, "us\tsm_pct\ttensor_pct\tmufu_pct\n");
    for (int i = 0; i < t->n; i++) {
        const struct timeline_sample *s = &t->sample[i];
        fprintf(f, "%.3f\t%.3f\t%.3f\t%.3f\n", s->us, s->sm_pct, s->tensor_pct, s->mufu_pct);
    }
    bool failed = ferror(f);
    if (!fclose(f) && !failed) return NULL;
    const char *why = reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
    struct stat there;
    if (!lstat(path, &there) && S_ISREG(there.st_mode)) unlink(path); /* no device */
    return why;
}

void timeline_free(struct timeline *t) {
    free(t->sample);
    *t = (struct timeline){0};
}
