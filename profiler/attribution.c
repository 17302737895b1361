#include "attribution.h"

#include "common/base/heap.h"
#include "common/base/program.h"
#include "common/device/device_ops.h"
#include "common/base/reason.h"
#include "gpu_counts.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- Collecting: on a GPU the counts of each instruction, and the line that it comes from ------ */

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
    CUptiResult result = cupti->cuptiGetSassToSourceCorrelation(&ask);
    if (result == CUPTI_ERROR_OUT_OF_MEMORY) heap_exhausted();
    if (result != CUPTI_SUCCESS) return; /* a line that the compiler noted nowhere */
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
        if (!why) why = attribute(g, s, cubin, bytes, out);
        gpu_counts_close(g);
    }
    if (why)
        source_free(out);
    else
        source_sort(out);
    return why;
}

/* ---- Printing -------------------------------------------------------------------------------- */

/* "1234", "123.4k", "12.35M"; "" for 0. */
static const char *count(double value, char out[16]) {
    static const char units[] = " kMGT";
    int unit = 0;
    while (value >= 99999.5 && unit < 4) value /= 1000, unit++;
    if (value == 0)
        *out = 0;
    else if (unit == 0)
        snprintf(out, 16, "%.0f", value);
    else
        snprintf(out, 16, "%.*f%c",
                 value < 99.995   ? 2
                 : value < 999.95 ? 1
                                  : 0,
                 value, units[unit]);
    return out;
}

/* The share of wavefronts or sectors that the ideal would not have had; "" if there is none. */
static const char *excess(double actual, double ideal, char out[16]) {
    if (actual > ideal)
        snprintf(out, 16, "+%.0f%%", 100 * (actual - ideal) / actual);
    else
        *out = 0;
    return out;
}

static void print_row(const struct source_line *l, int number, const char *text, FILE *out) {
    static const struct source_line none;
    char executed[16], lanes[16] = "", waves[16], waves_more[16], sectors[16], sectors_more[16],
                       splits[16];
    if (!l) l = &none;
    if (l->executed) snprintf(lanes, sizeof lanes, "%.1f", l->threads / l->executed);
    fprintf(out, "%8s %5s %8s %5s %8s %5s %7s |%4d  %s\n", count(l->executed, executed), lanes,
            count(l->wavefronts, waves), excess(l->wavefronts, l->wavefronts_ideal, waves_more),
            count(l->sectors, sectors), excess(l->sectors, l->sectors_ideal, sectors_more),
            count(l->splits, splits), number, text);
}

/* Opens the longest tail of `path` that exists below the folder above the program's (a tree may
 * have moved since it was compiled), else `path` as it is. *shown: what to call it. */
static const char *open_source(const char *path, const char **shown, FILE **out) {
    char here[PATH_MAX], moved[PATH_MAX];
    snprintf(here, sizeof here, "%s", program_folder());
    const char *root = dirname(here);
    for (const char *tail = path; tail; tail = strchr(tail, '/')) {
        tail += *tail == '/';
        *shown = tail;
        if (snprintf(moved, sizeof moved, "%s/%s", root, tail) >= (int)sizeof moved) continue;
        if ((*out = fopen(moved, "r"))) return NULL;
        if (errno != ENOENT && errno != ENOTDIR)
            return reason_as(STATUS_FILE, "%s: %s", moved, strerror(errno));
    }
    *shown = path;
    if ((*out = fopen(path, "r")) || errno == ENOENT || errno == ENOTDIR) return NULL;
    return reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
}

/* l[n]: the lines of one file. */
static const char *print_file(const struct source_line *l, int n, bool whole, FILE *out) {
    const char *shown;
    FILE *f;
    const char *why = open_source(l->file, &shown, &f);
    if (why) return why;
    char text[1024];
    int number = 0, next = 0;
    fputc('\n', out);
    fputs(shown, out);
    fprintf(out, "\n%8s %5s %8s %5s %8s %5s %7s |\n", "warp", "", "shared", "", "global", "",
            "divided");
    fprintf(out, "%8s %5s %8s %5s %8s %5s %7s |line\n", "inst", "lanes", "wavefr.", "more",
            "sectors", "more", "warps");
    while (f && fgets(text, sizeof text, f)) {
        number++;
        text[strcspn(text, "\n")] = 0;
        const struct source_line *found = next < n && l[next].line == number ? &l[next++] : NULL;
        if (found || whole) print_row(found, number, text, out);
    }
    if (f && ferror(f)) why = reason_as(STATUS_FILE, "%s: %s", l->file, strerror(errno));
    for (; next < n && !why; next++)
        print_row(&l[next], l[next].line, "(the source is not here)", out);
    if (f) fclose(f);
    return why;
}

const char *attribution_print(const struct source *s, const char *whole, FILE *out) {
    const char *why = NULL;
    for (int pass = 0; pass < 2; pass++) /* the file that matters first */
        for (int i = 0, n; i < s->n && !why; i += n) {
            n = 1;
            while (i + n < s->n && !strcmp(s->line[i].file, s->line[i + n].file)) n++;
            bool is_whole = strstr(s->line[i].file, whole) != NULL;
            if (is_whole == (pass == 0)) why = print_file(&s->line[i], n, is_whole, out);
        }
    if (s->unattributed > 0 && !why) {
        char text[16];
        fprintf(out, "\n%s warp instructions belong to no source line\n",
                count(s->unattributed, text));
    }
    return why;
}
