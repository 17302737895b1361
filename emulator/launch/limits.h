/* Ends a launch early (signals, --timeout, --max-instructions), and shows how far it is.
 *
 * A second thread looks every 0.1 s whether a signal came (interrupt.h) or the time is over, and
 * prints the progress of launches over 2 s. Blocks ask between the turns of their warps; where there is no second thread,
 * they look themselves. */
#pragma once

#include "emulator/core/state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum emu_end { EMU_GOES_ON, EMU_INTERRUPTED, EMU_TIME_OVER, EMU_INSTRUCTIONS_OVER };

struct emu_limits {
    const struct emu_options *options;
    const char *kernel;
    _Atomic uint64_t *next_cluster; /* of n_clusters: the next one to be begun */
    uint64_t n_clusters;
    int n_threads;          /* each has one cluster under way */
    _Atomic uint64_t n_ran; /* warp instructions; counted if there is a limit */
    _Atomic int end;        /* enum emu_end */
    atomic_bool said;       /* the report was made */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    struct timespec begin;
    bool is_over, watches;
};

/* options, kernel, next_cluster, n_clusters and n_threads are set. */
void emu_limits_begin(struct emu_limits *l);
void emu_limits_end(struct emu_limits *l);

/* How many of `wanted` instructions a warp may run now: 0 ends the launch. */
uint32_t emu_limits_quantum(struct emu_limits *l, uint32_t wanted);
static inline void emu_limits_ran(struct emu_limits *l, uint64_t n) {
    if (l->options->max_instructions) atomic_fetch_add(&l->n_ran, n);
}

/* stuck.c: reports of clusters that do not end by themselves. */
void emu_report_deadlock(struct emu_cluster *c);
void emu_report_endless(struct emu_cluster *c, struct emu_limits *l);
