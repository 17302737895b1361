/* source_collect() on a GPU: counts by instruction, and the line that each instruction comes
 * from. */
#include "source.h"

#include "device_ops.h"
#include "gpu_counts.h"

#include <stdlib.h>

/* "" and 0 where the compiler noted no line. */
static void find_line(const struct cupti *cupti, const void *cubin, size_t cubin_bytes,
                      const struct sass_record *r, struct source_line *out) {
    CUpti_GetSassToSourceCorrelationParams ask = {
        .size = CUpti_GetSassToSourceCorrelationParamsSize,
        .cubin = cubin,
        .cubinSize = cubin_bytes,
        .functionName = r->function,
        .pcOffset = r->pc,
    };
    if (cupti->cuptiGetSassToSourceCorrelation(&ask) != CUPTI_SUCCESS) return;
    if (ask.fileName)
        snprintf(out->file, sizeof out->file, "%s%s%s", ask.dirName ? ask.dirName : "",
                 ask.dirName && *ask.dirName ? "/" : "", ask.fileName);
    out->line = (int)ask.lineNumber;
    free(ask.fileName);
    free(ask.dirName);
}

static const char *attribute(const struct gpu_counts *g, const struct sass *s, const void *cubin,
                             size_t cubin_bytes, struct source *out) {
    const char *why = NULL;
    for (int i = 0; i < s->n && !why; i++) {
        const double *v = s->record[i].value;
        struct source_line l = {
            .executed = v[SASS_EXECUTED],
            .threads = v[SASS_THREADS],
            .wavefronts = v[SASS_WAVEFRONTS],
            .wavefronts_ideal = v[SASS_WAVEFRONTS_IDEAL],
            .sectors = v[SASS_SECTORS],
            .sectors_ideal = v[SASS_SECTORS_IDEAL],
            .splits = v[SASS_DIVERGENT],
        };
        find_line(gpu_counts_cupti(g), cubin, cubin_bytes, &s->record[i], &l);
        why = source_add(out, &l);
    }
    return why;
}

const char *source_collect(struct device *d, struct device_image *image,
                           const struct device_launch *launches, int n, struct source *out) {
    struct gpu_counts *g = NULL;
    const struct sass *s;
    size_t bytes;
    const char *why;
    *out = (struct source){0};
    if (device_info(d)->is_emulator) {
        why = d->ops->source ? d->ops->source(d, image, launches, n, out)
                             : "this emulator does not count by line";
    } else {
        const void *cubin = device_cuda_cubin(d, image, &bytes);
        why = gpu_counts_open(d, image, launches, n, &g);
        if (!why) why = gpu_counts_sass(g, &s);
        if (!why) why = attribute(g, s, cubin, bytes, out);
        gpu_counts_close(g);
    }
    if (why)
        source_free(out);
    else
        source_sort(out);
    return why;
}
