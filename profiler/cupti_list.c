#include "cupti_list.h"

#include "metrics.h"
#include "sass.h"
#include "common/base/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cupti_list_open(void) {
    const struct cupti *cupti;
    return cupti_open(&cupti);
}

const char *cupti_list_path(void) {
    const struct cupti *cupti;
    return cupti_open(&cupti) ? "" : cupti->path;
}

uint32_t cupti_list_version(void) {
    const struct cupti *cupti;
    return cupti_open(&cupti) ? 0 : cupti->version;
}

const char *cupti_list_passes(const char *chip, const char *const *names, int n, int *n_passes) {
    const struct cupti *cupti;
    const char *why = cupti_open(&cupti), **range = heap_zeroed((size_t)n + 1, sizeof *range);
    struct metrics m = {0};
    int n_range = 0;
    uint64_t id;
    *n_passes = 0;
    for (int i = 0; i < n; i++)
        if (strchr(names[i], '.')) range[n_range++] = names[i];
    /* Even with no metric: SASS metrics can be listed without a driver once a host object was
     * made. */
    if (!why)
        why =
            metrics_open(&m, cupti, CUPTI_PROFILER_TYPE_RANGE_PROFILER, chip, NULL, range, n_range);
    if (!why) *n_passes = m.n_passes;
    for (int i = 0; i < n && !why; i++)
        if (!strchr(names[i], '.')) {
            char name[128];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(names[i], "@"), names[i]);
            why = sass_metric_id(cupti, chip, name, &id);
        }
    metrics_close(&m);
    free(range);
    return why;
}
