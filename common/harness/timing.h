/* Time of the launches of one plan, by CUDA events.
 *
 *   | warm-up, by time | sample | sample | ...
 *
 * A sample is one replay of a graph of back-to-back launches that lasts at least TIMING_SAMPLE_US,
 * divided by their number. Cold: the L2 is overwritten before each, and a sample is one launch.
 * Burst: no warm-up, and a sample is one launch, some time after the last: what a board does before
 * its power limit lowers the clock. */
#pragma once

#include "common/device/device.h"

enum {
    TIMING_SAMPLE_US = 1000,
    TIMING_MAX_REPEATS = 1000,
    PREDICTOR_LOADED = -1,
    PREDICTOR_KEPT = 1000
};

struct timing {
    int n;                            /* samples */
    double median_us, iqr_us, min_us; /* of one run of all launches of the plan */
    int n_kept;                       /* the first of the samples, as they were taken */
    double kept_us[PREDICTOR_KEPT];
    int launches_per_sample;               /* runs of the plan in one sample */
    bool cold, interrupted;                /* interrupted: fewer samples than asked for */
    int rest_ms;                           /* before each sample; PREDICTOR_LOADED: none */
    double clock_mhz;                      /* mean of the samples, counted on the SMs; 0: unknown */
    char no_clock[256];                    /* why; "" */
    int clock_mhz_before, clock_mhz_after; /* SM clock around the samples; 0: unknown */
};

/* Samples until both min_time_s has been measured and 5 samples are in, or max_samples are; always
 * max_samples where rest_ms is not PREDICTOR_LOADED. NULL, or why there is no time. */
const char *timing_measure(struct device *d, struct device_image *image,
                           const struct device_launch *launches, int n, bool cold, int rest_ms,
                           double min_time_s, int max_samples, struct timing *out);

/* Median, interquartile range (linear between neighbours) and minimum; sorts `sample`, after the
 * first PREDICTOR_KEPT were kept; n >= 1. */
void timing_statistics(double *sample, int n, struct timing *out);
