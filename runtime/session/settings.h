/* What build/run was told, and how it reaches the library in the program that it starts: the same
 * words in the environment variable ATTNLAB_RUN, one a line. */
#pragma once

#include "common/device/device.h"
#include "emulator/emulator.h"

#include <stdio.h>

enum { SETTINGS_MAX_ARGS = 64 };
/* --predict-only: a launch of more warp instructions does not run, if --max-instructions does not say. */
enum { SETTINGS_PREDICT_ONLY_RUN = 200000000 };
enum settings_cache { SETTINGS_AS_RUN, SETTINGS_WARM, SETTINGS_COLD };

struct settings {
    enum device_kind device;
    const char *chip; /* "h200" */
    struct emu_options emulator;
    bool source;       /* print counts beside source lines */
    bool every_launch; /* print a row for each launch */
    bool puts_off;     /* what was done `repeats` times, until it is read: repeat.h */
    int repeats;
    bool no_predict;           /* predict nothing */
    int predict_only;          /* end the program when so many launches are predicted; 0: never */
    double predict_budget_s;   /* work of predictions, in seconds of a core; 0: predictions.c's */
    enum settings_cache cache; /* of predicted launches */
    bool csv, quiet, help, version;
    bool list_counters;      /* print the groups and stop */
    const char *kernel_name; /* print kernels that this regular expression matches; NULL: all */
    int launch_skip,
        launch_count;     /* count launches [skip, skip + count) only; count 0: to the end */
    const char *counters; /* group names, or NULL: the table only */
    const char *json_path;
    const char *watch_page; /* where common/harness/watch's page goes, or NULL */
    /* one kernel without a program of its own (kernel.h) */
    const char *kernel;
    unsigned grid[3], block[3], cluster[3], shared_bytes;
    int n_args, n_expected;
    const char *arg[SETTINGS_MAX_ARGS], *expected[SETTINGS_MAX_ARGS];
    double tolerance;
    int n_words; /* of argv that were options: what follows is the program */
};

/* Reads options up to the first word that is none. */
const char *settings_read(int argc, char **argv, struct settings *out);
void settings_help(FILE *f, const char *program);

/* Does --kernel-name mean this kernel, or is it not given? */
bool settings_means(const struct settings *s, const char *shown);

/* argv[1..n_words] <-> $ATTNLAB_RUN */
const char *settings_to_environment(const struct settings *s, char **argv);
const char *settings_from_environment(struct settings *out);

/* With --csv: what the program prints goes to stderr, and stdout has the table alone. Before the program
 * starts; and, in it, where the table goes. */
void settings_keep_stdout(void);
FILE *settings_csv(void);
