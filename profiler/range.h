/* CUPTI's range profiler: what one body launches is replayed until every pass that the metrics
 * need has seen it. Each kernel is a range of its own, from its first cycle to its last: what lies
 * between two launches is in none. (A range between two marks of the host's is 10 times as long as
 * a small kernel.) */
#pragma once

#include "metrics.h"

/* Launches the work and waits for it; must do the same each time. */
typedef const char *range_body(void *arg);

/* The device's counter availability image, which metrics_open() wants on a real device: asked for once
 * (it takes 0.13 s), and kept. */
const char *range_availability(const struct cupti *cupti, CUcontext context, const uint8_t **image);

/* NULL if the range profiler can be had on this context, now and by this user. */
const char *range_permission(const struct cupti *cupti, CUcontext context);

/* Runs `body`, which launches n_launches kernels, n_runs times for each pass, and evaluates the
 * metrics of each kernel, medians of the runs: values[n_launches][m->n]. (The first run of a pass
 * finds colder caches than those behind it.) A silent loss (a pass or a range that was dropped) is a
 * reason too. */
const char *range_collect(const struct metrics *m, CUcontext context, range_body *body, void *arg,
                          int n_launches, int n_runs, double *values);

/* The same of launches that a program makes itself: CUPTI runs the kernel that is launched between begin and end as often
 * as the metrics need passes, and puts memory back in between. One at a time. */
struct range_replay;
const char *range_replay_open(const struct metrics *m, CUcontext context,
                              struct range_replay **out);
const char *range_replay_begin(struct range_replay *r);
/* values[m->n] */
const char *range_replay_end(struct range_replay *r, double *values);
void range_replay_close(struct range_replay *r);
