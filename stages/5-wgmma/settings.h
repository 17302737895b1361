/* The command line of stage 5. */
#pragma once

#include "experiment.h"

struct settings {
    struct experiment e;
    enum device_kind device;
    const char *chip, *counters, *json_path; /* NULL: default, none, none */
    int jobs;                                /* the emulator's host threads; 0: one for each core */
    bool csv, quiet, explain, sweep, no_time, help;
};

/* NULL, or what is wrong with the command line (STATUS_USAGE). */
const char *settings_read(int argc, char **argv, struct settings *out);
void settings_help(FILE *f);
