#include "attribution.h"

#include "common/base/heap.h"
#include "common/device/device_ops.h"
#include "gpu_counts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- Collecting: on a GPU the counts of each instruction, and the line that it comes from ------ */

/* "" and 0 where the compiler noted no line. */
static void find_line(const struct cupti *cupti, const void *cubin, size_t cubin_bytes,
                      const struct sass_record *r, char file[PATH_MAX], int *line) {
    CUpti_GetSassToSourceCorrelationParams ask = {
        .size = CUpti_GetSassToSourceCorrelationParamsSize,
        .cubin = cubin,
        .cubinSize = cubin_bytes,
        .functionName = r->function,
        .pcOffset = r->pc,
    };
    CUptiResult result = cupti->cuptiGetSassToSourceCorrelation(&ask);
    if (result == CUPTI_ERROR_OUT_OF_MEMORY) heap_exhausted();
    if (result != CUPTI_SUCCESS) return; /* a line that the compiler noted nowhere */
    if (ask.fileName)
        snprintf(file, PATH_MAX, "%s%s%s", ask.dirName ? ask.dirName : "",
                 ask.dirName && *ask.dirName ? "/" : "", ask.fileName);
    *line = (int)ask.lineNumber;
    free(ask.fileName);
    free(ask.dirName);
}

/* CUPTI knows the innermost line only: no tree. */
static void attribute(const struct gpu_counts *g, const struct sass *s, const void *cubin,
                      size_t cubin_bytes, int n_sms, struct source *out) {
    for (int i = 0; i < s->n; i++) {
        const double *v = s->record[i].value;
        char file[PATH_MAX] = "";
        struct source_frame at = {.file = file};
        struct source_counts c = {
            .executed = v[SASS_EXECUTED],
            .threads = v[SASS_THREADS],
            .wavefronts = v[SASS_WAVEFRONTS],
            .wavefronts_ideal = v[SASS_WAVEFRONTS_IDEAL],
            .sectors = v[SASS_SECTORS],
            .sectors_ideal = v[SASS_SECTORS_IDEAL],
            .splits = v[SASS_DIVERGENT],
        };
        c.busy[SOURCE_SHARED] = c.wavefronts / n_sms;
        c.busy[SOURCE_GLOBAL] = 32 * c.sectors / SOURCE_L2_BYTES_PER_CLK / n_sms;
        c.busy[SOURCE_ISSUE] = c.executed / SOURCE_ISSUE_PER_CLK / n_sms;
        find_line(gpu_counts_cupti(g), cubin, cubin_bytes, &s->record[i], file, &at.line);
        source_add(out, SOURCE_SASS, (int)s->record[i].pc, "", &at, 1, &c);
    }
    source_lines(out);
}

const char *attribution_collect(struct device *d, struct device_image *image,
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
        if (!why) attribute(g, s, cubin, bytes, device_busy_sms(d, launches, n), out);
        gpu_counts_close(g);
    }
    if (why) source_free(out);
    return why;
}

/* ---- What they say ---------------------------------------------------------------------------- */

int attribution_limit(const struct source *s) {
    const double full = 0.5; /* of the predicted cycles: with less, waiting decides */
    const double near = 0.9; /* every instruction is issued: a unit as busy as that is the reason */
    int most = 0;
    for (int r = 1; r < SOURCE_RESOURCES; r++)
        if (s->total.busy[r] * (r == SOURCE_ISSUE ? near : 1) > s->total.busy[most]) most = r;
    return s->elapsed > 0 && s->total.busy[most] < full * s->elapsed ? ATTRIBUTION_TIME : most;
}

double attribution_share(const struct source *s, const struct source_counts *c, int limit) {
    bool time = limit == ATTRIBUTION_TIME;
    double all = time ? source_cycles(&s->total) : s->total.busy[limit];
    return all > 0 ? (time ? source_cycles(c) : c->busy[limit]) / all : 0;
}

void attribution_hot(const struct source *s, int limit, int n, int *line) {
    for (int i = 0; i < n; i++) {
        line[i] = -1;
        double most = 0;
        for (int l = 0; l < s->n_lines; l++) {
            double share = attribution_share(s, &s->line[l].own, limit);
            bool had = false;
            for (int k = 0; k < i; k++) had |= line[k] == l;
            if (!had && share > most) most = share, line[i] = l;
        }
    }
}

bool attribution_value(const struct source *s, const struct source_counts *c, int i,
                       struct attribution_value *out) {
    const struct attribution_value count[] = {
        {"instructions", "warp instructions", c->executed},
        {"threads", "thread instructions", c->threads},
        {"shared_wavefronts", "wavefronts", c->wavefronts},
        {"shared_wavefronts_ideal", "wavefronts", c->wavefronts_ideal},
        {"global_sectors", "sectors", c->sectors},
        {"global_sectors_ideal", "sectors", c->sectors_ideal},
        {"divided_warps", "branches", c->splits},
    };
    const int n = sizeof count / sizeof *count;
    *out = i < n ? count[i] : (struct attribution_value){.unit = "cycles of an SM"};
    if ((i -= n) < 0) return true;
    if (i < SOURCE_RESOURCES) {
        snprintf(out->name, sizeof out->name, "busy.%s", source_resource_name[i]);
        out->value = c->busy[i];
        return true;
    }
    i -= SOURCE_RESOURCES;
    if (i >= SOURCE_REASONS || !s->reason) return false;
    if (s->reason[i]) snprintf(out->name, sizeof out->name, "cycles.%s", s->reason[i]);
    out->unit = "cycles of warps";
    out->value = c->cycles[i];
    return true;
}
