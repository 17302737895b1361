/* CUPTI's host side: which metrics a chip has, in how many passes they can be collected, and what
 * a counter image says. Needs no GPU and no driver, only the library. */
#pragma once

#include "cupti.h"

struct metrics {
    const struct cupti *cupti;
    CUpti_Profiler_Host_Object *host;
    int n;
    const char **name; /* [n]: the caller's strings */
    uint8_t *config;   /* what the target side is configured with */
    size_t config_bytes;
    int n_passes;
};

/* Configures the n metrics of a chip ("GH100"; n = 0 only asks whether CUPTI knows it).
 * `availability`: the device's counter image, NULL for what the chip can do in general. The reason
 * names the first metric that the chip does not have. */
const char *metrics_open(struct metrics *m, const struct cupti *cupti, CUpti_ProfilerType type,
                         const char *chip, const uint8_t *availability, const char *const *names,
                         int n);

/* values[n] of one range (or sample) of a counter image. */
const char *metrics_evaluate(const struct metrics *m, const uint8_t *image, size_t image_bytes,
                             int range, double *values);
void metrics_close(struct metrics *m);
