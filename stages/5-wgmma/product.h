/* One product on its way: what it is of, what came out, how long it took. product.c and product_screen.c
 * alone know it. */
#pragma once

#include "experiment.h"
#include "common/base/table.h"

struct product {
    const struct experiment *experiment;
    const struct options *options;
    struct device *device;
    struct matrices matrices;
    float *c;       /* (64, n) */
    bool *is_wrong; /* (64, n) */
    struct verdict verdict;
    const char *objection;      /* of the emulator's checker, or NULL */
    struct cycles alone, apart; /* n = 0: not measured */
    double tflops;
    char no_time[160]; /* why; "": it was, or was not asked for */
    struct counters counters;
    struct table table;
    json_t *record;
};

/* The screen (common/harness/screen/screen.h). */
void product_screen(const struct product *r);
