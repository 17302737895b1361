/* CUPTI's range profiler: everything that one body launches is one range, replayed until every
 * pass that the metrics need has seen it.
 *
 * A body of one launch is counted from the kernel's first cycle to its last (an automatic range).
 * One of several is counted from a mark before the first to a mark after the last (a user range):
 * the gaps between launches are in it, and the host's part of starting and ending, tens of
 * microseconds that metrics "of elapsed" see. */
#pragma once

#include "metrics.h"

/* Launches the work and waits for it; must do the same each time. */
typedef const char *range_body(void *arg);

/* The device's counter availability image (free() it), which metrics_open() wants on a real
 * device. */
const char *range_availability(const struct cupti *cupti, CUcontext context, uint8_t **image);

/* NULL if the range profiler can be had on this context, now and by this user. */
const char *range_permission(const struct cupti *cupti, CUcontext context);

/* Runs `body`, which launches n_launches kernels, once for each pass, and evaluates the metrics:
 * values[m->n]. `name` is the range's. A silent loss (a pass or a range that was dropped) is a
 * reason too. */
const char *range_collect(const struct metrics *m, CUcontext context, const char *name,
                          range_body *body, void *arg, int n_launches, double *values);
