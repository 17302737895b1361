/* The command line of a stage (--help prints it), read once into one struct.
 *
 *   build/stage-3 --seqlen 4096 --causal --counters TENSOR --json results/run.jsonl */
#pragma once

#include "attention.h"
#include "common/device/device.h"
#include "emulator/emulator.h"
#include "option_row.h"

#include <stdio.h>

enum { TUNE_MAX = 32 };

struct options {
    struct attention problem; /* completed, unless it comes from files */
    const char *input;        /* name of the made inputs */
    uint64_t seed;
    const char *q_path, *k_path, *v_path; /* all three or none: .npy files in */
    const char *out_path, *lse_path;      /* .npy files out, or NULL */

    enum device_kind device;
    const char *chip; /* NULL: the default */

    struct emu_options emulator; /* how it runs; its seed is `seed` */
    bool emulator_asked;         /* by an option that no GPU can follow */

    const char *counters;   /* group names; COUNTERS_DEFAULT or "none" */
    bool counters_asked;    /* by name: not to have them is an error then */
    bool check, time, cold; /* cold: L2 flushed before each sample */
    int rest_ms;            /* >= 0: rest so long before each sample of one launch */
    double min_time_s;      /* sample at least this long ... */
    int max_samples;        /* ... or this often */
    int strides;            /* > 0: how tensors lie in memory is drawn by it */
    int sweep_random;       /* > 0: check so many random shapes instead */
    int repeat_check;       /* > 0: so many runs, all bitwise equal */
    const char *image; /* a name from the stage's file `images`, or NULL: what the stage plans */
    int choice;        /* which of the stage's choices, 0 is the best */
    int tune;          /* > 0: time so many of them on the GPU, and take the fastest */
    bool explain;      /* print them instead */
    bool strict;       /* a failed gate or a missing counter is a failed run */
    bool fallback;     /* run the stage before when this one cannot or its gates fail */

    bool turns;     /* time once for each line on stdin instead */
    bool source;    /* print counts beside the kernel's lines instead */
    bool ptx, sass; /* and below each line its instructions */
    bool whatif;    /* predict with each limit taken away, and who waits for whom, instead */
    const char *timeline_path; /* write what the GPU did over time there instead, or NULL */
    const char *watch_page;    /* write watch/watch.h's page there instead, or NULL */

    bool csv, quiet, all;              /* all: every value in a table, not one screen */
    const char *json_path;             /* append the record here, or NULL */
    bool help, version, list_counters; /* print and stop */
};

#define COUNTERS_DEFAULT   "TENSOR,SHARED,OCCUPANCY,MEMORY"
#define COUNTERS_GPU       COUNTERS_DEFAULT ",STALL"
#define COUNTERS_PREDICTED COUNTERS_DEFAULT ",CYCLES,STALL" /* where the chip was measured */

/* NULL, or what is wrong with the command line (STATUS_USAGE). `own`: options of a stage that has a
 * problem of its own, in place of attention's; NULL for all others. */
const char *options_read(int argc, char **argv, const struct option_table *own,
                         struct options *out);
void options_help(FILE *f, const char *program, const struct option_table *own);
