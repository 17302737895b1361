/* The host threads of a launch. Each runs one cluster of blocks after the other; where a cluster
 * sleeps until the memory changes that it polls, others are begun beside it, as many as fit the
 * chip. */
#pragma once

#include "limits.h"

#include "emulator/core/state.h"

#include <pthread.h>
#include <stdatomic.h>

struct emu_work {
    struct emu_launch_state launch;
    _Atomic uint64_t next_cluster;
    uint64_t n_clusters, n_sampled; /* of the grid; that run: no more, and spread evenly */
    uint64_t first;                 /* the first of those n_clusters */
    uint64_t n_checked;             /* of those, spread evenly: launch.partial if not all */
    struct emu_count *count;        /* n_inst: the sums */
    struct emu_limits limits;
    /* threads.c's own: */
    atomic_bool stop;
    uint64_t most_resident;
    _Atomic uint64_t n_resident; /* clusters under way */
    pthread_mutex_t lock;        /* of what follows, and of count */
    uint64_t round;              /* grows when anything moves */
    int n_threads, n_still;      /* that run; for which nothing has moved in this round */
};

/* launch, n_clusters, n_sampled, count and limits are set. */
void emu_work_run(struct emu_work *work);
/* sum[n] += times * part[n] */
void emu_count_add(struct emu_count *sum, const struct emu_count *part, int n, uint64_t times);
