#include "timing.h"

#include "common/base/interrupt.h"
#include "profiler/nvtx.h"
#include "common/base/reason.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Idle boards need about this long to raise their clocks; a hasty caller (min_time_s) gets less. */
static const double warm_up_s = 0.2;

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, int n, double q) {
    double at = q * (n - 1);
    int below = (int)at;
    int above = below + 1 < n ? below + 1 : below;
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

void timing_statistics(double *sample, int n, struct timing *out) {
    out->n_kept = n < PREDICTOR_KEPT ? n : PREDICTOR_KEPT;
    memcpy(out->kept_us, sample, (size_t)out->n_kept * sizeof *sample);
    qsort(sample, (size_t)n, sizeof *sample, ascending);
    out->n = n;
    out->min_us = sample[0];
    out->median_us = quantile(sample, n, 0.5);
    out->iqr_us = quantile(sample, n, 0.75) - quantile(sample, n, 0.25);
}

/* Opens a graph that lasts a sample. How many runs that takes is measured in the graph itself: a
 * single run is mostly the replay's own start-up. */
static const char *open_sample(struct device *d, struct device_image *image,
                               const struct device_launch *launches, int n, int *repeats,
                               struct device_graph **g) {
    enum { TRIES = 4 };
    *repeats = 1;
    for (int i = 0; i < TRIES; i++) {
        double us = 0;
        const char *why = device_graph_open(d, image, launches, n, *repeats, false, g);
        for (int r = 0; r < 2 && !why; r++) why = device_graph_time(*g, false, &us);
        if (why) return why;
        if (us >= TIMING_SAMPLE_US || *repeats == TIMING_MAX_REPEATS || i + 1 == TRIES) break;
        device_graph_close(*g);
        *g = NULL;
        *repeats =
            (int)fmin(ceil(*repeats * (TIMING_SAMPLE_US / fmax(us, 0.5))), TIMING_MAX_REPEATS);
    }
    return NULL;
}

/* At least twice: the first replay uploads the graph. */
static const char *warm_up(struct device_graph *g, double enough_s) {
    double us, start = seconds_now();
    const char *why = NULL;
    for (int n = 0; !why && !interrupt_signal() && (n < 2 || seconds_now() - start < enough_s); n++)
        why = device_graph_time(g, false, &us);
    return why;
}

static void rest(int ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

/* A mean of all samples or of none. */
static void add_sm_clock(struct device_graph *g, int n, struct timing *out) {
    double mhz;
    const char *why = device_graph_sm_clock_mhz(g, &mhz);
    if (why && !*out->no_clock) snprintf(out->no_clock, sizeof out->no_clock, "%s", why);
    out->clock_mhz = *out->no_clock ? 0 : out->clock_mhz + (mhz - out->clock_mhz) / (n + 1);
}

static const char *take_samples(struct device_graph *g, double min_time_s, int max_samples,
                                double *sample, struct timing *out) {
    enum { MIN_SAMPLES = 5 };
    const bool rested = out->rest_ms != PREDICTOR_LOADED;
    int n = 0;
    for (double measured_s = 0; n < max_samples; n++) {
        if (!rested && n >= MIN_SAMPLES && measured_s >= min_time_s) break;
        if (n && interrupt_signal()) break;
        if (rested) rest(out->rest_ms);
        const char *why = device_graph_time(g, out->cold, &sample[n]);
        if (why) return why;
        add_sm_clock(g, n, out);
        measured_s += 1e-6 * sample[n];
        sample[n] /= out->launches_per_sample;
    }
    out->interrupted = interrupt_signal() != 0;
    timing_statistics(sample, n, out);
    return NULL;
}

const char *timing_measure(struct device *d, struct device_image *image,
                           const struct device_launch *launches, int n, bool cold, int rest_ms,
                           double min_time_s, int max_samples, struct timing *out) {
    const bool rested = rest_ms != PREDICTOR_LOADED;
    struct device_graph *g = NULL;
    double *sample = NULL;
    int repeats = 1;
    *out = (struct timing){.cold = cold, .rest_ms = rest_ms};
    const char *why = NULL;
    if (!(sample = malloc((size_t)max_samples * sizeof *sample))) {
        why = reason("out of memory for %d samples", max_samples);
        goto done;
    }
    why = cold || rested ? device_graph_open(d, image, launches, n, 1, cold, &g)
                         : open_sample(d, image, launches, n, &repeats, &g);
    if (why) goto done;
    out->launches_per_sample = repeats;
    nvtx_begin(NVTX_WARMUP);
    why = warm_up(g, rested ? 0 : fmin(warm_up_s, min_time_s));
    nvtx_end();
    if (why) goto done;
    out->clock_mhz_before = device_clock_mhz(d);
    nvtx_begin(NVTX_TIME);
    why = take_samples(g, min_time_s, max_samples, sample, out);
    nvtx_end();
    out->clock_mhz_after = device_clock_mhz(d);
done:
    device_graph_close(g);
    free(sample);
    return why;
}
