#include "predictor_chip.h"

#include "common/base/path.h"
#include "common/base/program.h"
#include "common/base/reason.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t at;
    bool is_hopper;
} params[] = {
#define PARAM(name)        {#name, offsetof(struct predictor_chip, name), false},
#define PARAM_HOPPER(name) {#name, offsetof(struct predictor_chip, name), true},
#include "predictor_chip.def"
#undef PARAM
};
enum { N_PARAMS = sizeof params / sizeof *params };

static int find(const char *name, size_t length) {
    for (int i = 0; i < N_PARAMS; i++)
        if (strlen(params[i].name) == length && !memcmp(params[i].name, name, length)) return i;
    return -1;
}

static double *field(struct predictor_chip *c, int i) {
    return (double *)((char *)c + params[i].at);
}

static bool number(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return end != text && (!*end || strchr(" \t\n", *end)) && isfinite(*out) && *out >= 0;
}

static const char *read_line(char *line, const char *path, int n, struct predictor_chip *c,
                             bool *seen) {
    char *mark = strchr(line, '#');
    if (mark) *mark = 0;
    char *name = line + strspn(line, " \t\n");
    if (!*name) return NULL;
    size_t length = strcspn(name, " \t\n");
    char *value = name + length + strspn(name + length, " \t\n");
    int i = find(name, length);
    if (i < 0)
        return reason_as(STATUS_FILE, "%s:%d: no parameter is called '%.*s'", path, n, (int)length,
                         name);
    if (seen[i])
        return reason_as(STATUS_FILE, "%s:%d: '%s' is there twice", path, n, params[i].name);
    if (!number(value, field(c, i)))
        return reason_as(STATUS_FILE, "%s:%d: '%s' needs a number, 0 or more", path, n,
                         params[i].name);
    seen[i] = true;
    return NULL;
}

const char *predictor_chip_read(const char *path, struct predictor_chip *out) {
    bool seen[N_PARAMS] = {false};
    char line[512];
    const char *why = NULL;
    FILE *f = path_open(path);
    if (!f) return reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
    for (int n = 1; !why && fgets(line, sizeof line, f); n++)
        why = read_line(line, path, n, out, seen);
    fclose(f);
    out->is_ada = true;
    for (int i = 0; i < N_PARAMS; i++) out->is_ada &= !params[i].is_hopper || !seen[i];
    for (int i = 0; i < N_PARAMS && !why; i++) {
        const bool needed = !out->is_ada || !params[i].is_hopper;
        if (!seen[i]) *field(out, i) = 0;
        if (!seen[i] && needed)
            why = reason_as(STATUS_FILE, "%s: '%s' is missing", path, params[i].name);
    }
    return why;
}

const char *predictor_chip_find(const char *name, struct predictor_chip *out) {
    char file[64], path[PATH_MAX];
    snprintf(file, sizeof file, "chips/%.32s.txt", name);
    if (program_find(file, path, sizeof path)) return predictor_chip_read(path, out);
    return reason_as(
        STATUS_UNSUPPORTED,
        "no measured chip file %s: make calibrate measures a GPU, --chip h200 is known", file);
}

static FILE *open_validation(const char *name) {
    char file[64], path[PATH_MAX];
    snprintf(file, sizeof file, "records/validation/%.32s.txt", name);
    return program_find(file, path, sizeof path) ? path_open(path) : NULL;
}

bool predictor_chip_kind(const char *name, const char *kind, char *out, size_t out_bytes) {
    char line[128];
    const size_t n = strlen(kind);
    FILE *f = open_validation(name);
    *out = 0;
    while (f && !*out && fgets(line, sizeof line, f)) {
        if (strncmp(line, kind, n) || strncmp(line + n, ": ", 2)) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(out, out_bytes, "%s", line + n + 2);
    }
    if (f) fclose(f);
    return *out != 0;
}

bool predictor_chip_interval(const char *name, double tensor_pct, double issue_pct,
                             struct predictor_interval *out) {
    char text[128], kind[32];
    const char *family = isnan(tensor_pct) || isnan(issue_pct) ? "all"
                         : tensor_pct >= 40                    ? "tensor"
                         : issue_pct >= 60                     ? "issue"
                                                               : "latency";
    *out = (struct predictor_interval){0};
    snprintf(out->family, sizeof out->family, "%s", family);
    snprintf(kind, sizeof kind, "interval %s", family);
    return predictor_chip_kind(name, kind, text, sizeof text) &&
           sscanf(text, "80 %% %lf to %lf, 95 %% %lf to %lf of the prediction, %d", &out->low80,
                  &out->high80, &out->low95, &out->high95, &out->n_cases) == 5;
}

void predictor_chip_validated(const char *name, char *out, size_t out_bytes) {
    char line[96] = "";
    FILE *f = open_validation(name);
    if (f && fgets(line, sizeof line, f)) line[strcspn(line, "\n")] = 0;
    if (f) fclose(f);
    snprintf(out, out_bytes, "%s: %s", name, *line ? line : "not validated");
}

const char *predictor_chip_set(struct predictor_chip *c, const char *assignment) {
    size_t length = strcspn(assignment, "=");
    int i = find(assignment, length);
    if (i < 0 || !assignment[length] || !number(assignment + length + 1, field(c, i)))
        return reason_as(STATUS_USAGE, "'%s': expected NAME=NUMBER with a name of chips/*.txt",
                         assignment);
    return NULL;
}
