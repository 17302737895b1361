/* What is counted of each launch on a GPU, and what came of it: the table's own metrics, those of the groups. */
#pragma once

#include "session.h"

#include "profiler/metrics.h"

#include <cuda.h>

enum { GPU_MOST_METRICS = 256 };

/* Of a kernel: value[n_counted][n_metrics], and for each of its launches which row of that holds for it; -1: it was not
 * counted. */
struct gpu_kernel {
    CUfunction function; /* as the program launches it */
    double *value;
    int n_counted, *row;
};

/* Those of `groups` (NULL: of the table only) that the chip has; `out` is configured for all of them. */
const char *gpu_metrics_open(const struct cupti *cupti, const char *chip, const char *groups,
                             const uint8_t *availability, const struct metrics **out);
/* A launch of k was counted: values[n_metrics]. */
void gpu_metrics_keep(struct kernel *k, struct launch *l, const double *values);
