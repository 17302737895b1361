/* The values of CUPTI's metrics for one set of launches on a GPU: the half of counters_collect()
 * that needs the hardware. */
#pragma once

#include "common/device/device.h"
#include "sass.h"
#include "stalls.h"

struct gpu_counts;

/* NULL if this user may count on this GPU now; else the reason. Counts nothing. */
const char *gpu_counts_permission(struct device *d);

/* Does now, perhaps in a thread, what the first gpu_counts_open() of a process does: 0.2 s. Nothing else may
 * use the device or CUPTI meanwhile. */
void gpu_counts_prepare(struct device *d);
/* Starts CUPTI on the device's context. `launches` must outlive it. */
const char *gpu_counts_open(struct device *d, struct device_image *image,
                            const struct device_launch *launches, int n, struct gpu_counts **out);
void gpu_counts_close(struct gpu_counts *g);

/* CUPTI's name of the chip: "GH100". */
const char *gpu_counts_chip(const struct gpu_counts *g);

/* Asks for a metric: by the range profiler ("sm__cycles_active.avg"), or counted by instruction
 * and summed ("smsp__sass_inst_executed"). */
const char *gpu_counts_want(struct gpu_counts *g, const char *metric);

/* Runs the launches as often as the range profiler needs for all that was wanted, and once more for
 * what is counted by instruction. That comes last of all: it patches the code, and on an H200 a range
 * profiled later in the process can come back undecodable (code 999). Once for one gpu_counts. */
void gpu_counts_collect(struct gpu_counts *g);

/* Only the counts by instruction, from one run; `wanted` as in sass.h. */
const char *gpu_counts_sass(struct gpu_counts *g, unsigned wanted, const struct sass **out);
/* Begins to sample where warps wait (stalls.h). Before the counts by instruction. */
const char *gpu_counts_stalls(const struct gpu_counts *g, struct stalls *out);

const struct cupti *gpu_counts_cupti(const struct gpu_counts *g);

/* The collected value, or the reason why there is none. */
const char *gpu_counts_value(const struct gpu_counts *g, const char *metric, double *value);
