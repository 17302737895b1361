/* --tune N: of the N ways that a stage's model expects to be fastest, the one that is. Each is timed on
 * the GPU at hand in the way in which the run will be timed, so this finds what the model does not know. */
#pragma once

#include "bench.h"
#include "options.h"

struct tuned {
    int n;                             /* ways that were timed; 0: none, --tune was not asked for */
    int fastest;                       /* which of them it is */
    struct stage_choice way[TUNE_MAX]; /* the best expected first */
    double us[TUNE_MAX];               /* the lesser of two medians */
};

/* Times the first o->tune ways of the stage for an open bench, and leaves it with the fastest. NULL, or why
 * not: STATUS_USAGE where there is one way only, STATUS_NOTHING on the emulator, which measures no time. */
const char *tune(struct bench *b, const struct options *o, struct tuned *out);
