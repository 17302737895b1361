/* PM sampling: what the whole GPU did, every few microseconds, while launches ran back to back.
 *
 *   timeline_collect - timeline_write - timeline_free */
#pragma once

#include "common/device/device.h"

/* One sample: percentages of all SMs' peak, averaged over `interval` microseconds. */
struct timeline_sample {
    double us;         /* its middle; 0 is the begin of the first with work in it */
    double sm_pct;     /* cycles in which an SM had a warp */
    double tensor_pct; /* cycles in which its tensor pipe worked */
    double mufu_pct;   /* issue rate of its special-function pipe: the exponentials of softmax */
};

struct timeline {
    int n;
    struct timeline_sample *sample;
    int n_runs; /* how often the launches ran */
    double interval_us;
};

/* Runs the launches up to n_runs times, fewer if they take long, without a pause and samples
 * meanwhile. Idle samples before the first and after the last with work are left out. What was lost
 * (overflow) is a reason: run less, or sample less often. */
const char *timeline_collect(struct device *d, struct device_image *image,
                             const struct device_launch *launches, int n, int n_runs,
                             double interval_us, struct timeline *out);

/* A table for gnuplot and people: `#` lines that say what it is, then us, sm_pct, tensor_pct,
 * mufu_pct, one line a sample. The reason if the file cannot be written; none is left then. */
const char *timeline_write(const struct timeline *t, const char *title, const char *path);
void timeline_free(struct timeline *t);
