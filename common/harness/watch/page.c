/* Puts the data into the page. Text from files and the command line is escaped, so that no source line can end the
 * script that holds it. */
#include "record.h"

#include "common/base/heap.h"
#include "common/base/path.h"
#include "common/base/program.h"
#include "common/base/reason.h"
#include "emulator/sass/listing.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char marker[] = "/*DATA*/null";

/* A JSON string without the characters that HTML knows. */
static void put_text(FILE *f, const char *text, size_t n) {
    fputc('"', f);
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c == 0x7f)
            fprintf(f, "\\u%04x", c);
        else
            fputc(c, f);
    }
    fputc('"', f);
}

static void put_named(FILE *f, const char *name, const char *text) {
    fprintf(f, "\"%s\":", name);
    put_text(f, text, strlen(text));
    fprintf(f, ",\n");
}

/* ---- Source ------------------------------------------------------------------------------------- */

enum { MOST_FILES = 24, MOST_FILE_BYTES = 200000 };
struct files {
    const char *name[MOST_FILES];
    int n;
};

/* -1: one file too many. */
static int file_number(struct files *f, const char *name) {
    for (int i = 0; i < f->n; i++)
        if (!strcmp(f->name[i], name)) return i;
    if (f->n == MOST_FILES) return -1;
    f->name[f->n] = name;
    return f->n++;
}

/* "place": for each instruction [file, line, file, line ...], innermost first. */
static void put_places(FILE *f, const struct sass_kernel *k, struct files *files) {
    fprintf(f, "\"place\":[");
    for (int i = 0; i < k->n_inst; i++) {
        const struct sass_origin *o = &k->origin[i];
        const char *comma = "";
        fprintf(f, "%s[", i ? "," : "");
        for (int j = 0; j < o->n_frames; j++) {
            const int number = file_number(files, o->frame[j].file);
            if (number >= 0) fprintf(f, "%s%d,%d", comma, number, o->frame[j].line), comma = ",";
        }
        fprintf(f, "]");
    }
    fprintf(f, "],\n");
}

/* Without the folders above the repository. */
static const char *short_name(const char *path) {
    static const char *const top[] = {"/my-labs/", "/stages/", "/examples/", "/common/"};
    for (size_t i = 0; i < sizeof top / sizeof *top; i++) {
        const char *at = strstr(path, top[i]);
        if (at) return at + 1;
    }
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void put_lines(FILE *f, const char *path) {
    FILE *in = path_open_source(path);
    char *line = NULL;
    size_t room = 0, all = 0;
    ssize_t n;
    const char *comma = "";
    fprintf(f, "[");
    while (in && all < MOST_FILE_BYTES && (n = getline(&line, &room, in)) >= 0) {
        all += (size_t)n;
        fprintf(f, "%s", comma);
        put_text(f, line, (size_t)n - (n && line[n - 1] == '\n'));
        comma = ",";
    }
    fprintf(f, "]");
    free(line);
    if (in) fclose(in);
}

/* Only files of this project or of the user: a toolkit's header explains nothing here. */
static void put_files(FILE *f, const struct files *files) {
    fprintf(f, "\"files\":[");
    for (int i = 0; i < files->n; i++) {
        fprintf(f, "%s{", i ? ",\n" : "");
        put_named(f, "name", short_name(files->name[i]));
        fprintf(f, "\"lines\":");
        if (strstr(files->name[i], "/include/c") || strstr(files->name[i], "/targets/"))
            fprintf(f, "[]");
        else
            put_lines(f, files->name[i]);
        fprintf(f, "}");
    }
    fprintf(f, "],\n");
}

/* ---- The rest ----------------------------------------------------------------------------------- */

static void put_sass(FILE *f, const struct sass_kernel *k) {
    fprintf(f, "\"sass\":[");
    for (int i = 0; i < k->n_inst; i++) {
        fprintf(f, "%s", i ? "," : "");
        put_text(f, k->text[i], strlen(k->text[i]));
    }
    fprintf(f, "],\n");
}

/* "registers": for each instruction [first written, how many, first read, how many, first read ...] */
static void put_registers(FILE *f, const struct sass_kernel *k) {
    fprintf(f, "\"registers\":[");
    for (int i = 0; i < k->n_inst; i++) {
        const struct sass_inst *x = &k->inst[i];
        fprintf(f, "%s[%d,%d", i ? "," : "", x->dst.first, x->dst.n);
        for (int j = 0; j < SASS_SOURCES; j++)
            if (x->src[j].n) fprintf(f, ",%d,%d", x->src[j].first, x->src[j].n);
        fprintf(f, "]");
    }
    fprintf(f, "],\n");
}

/* "kinds": the number of each kind of operation that the page tells apart */
static void put_kinds(FILE *f) {
    static const struct {
        const char *name;
        int number;
    } kinds[] = {{"LDS", SASS_LDS},
                 {"STS", SASS_STS},
                 {"LDSM", SASS_LDSM},
                 {"STSM", SASS_STSM},
                 {"LDG", SASS_LDG},
                 {"STG", SASS_STG},
                 {"LDGSTS", SASS_LDGSTS},
                 {"TMA_LOAD", SASS_TMA_LOAD},
                 {"TMA_STORE", SASS_TMA_STORE},
                 {"HGMMA", SASS_HGMMA_OPERANDS},
                 {"WAITED", WATCH_WAITED}};
    fprintf(f, "\"kinds\":{");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        fprintf(f, "%s\"%s\":%d", i ? "," : "", kinds[i].name, kinds[i].number);
    fprintf(f, "},\n");
}

static void put_warps(FILE *f, const struct watch *w) {
    const char *comma = "";
    fprintf(f, "\"warps\":[");
    for (int i = 0; i < SASS_MAX_WARPS; i++) {
        const struct watch_warp *x = &w->warp[i];
        if (!x->n_issues) continue;
        fprintf(f, "%s{\"warp\":%d,\"role\":\"%s\",\"issues\":[%.*s]}", comma, i,
                x->loads        ? "loads"
                : x->multiplies ? "products"
                                : "other work",
                (int)x->issues.n, x->issues.at);
        comma = ",\n";
    }
    fprintf(f, "],\n");
}

static void put_tensors(FILE *f, const struct watch *w) {
    fprintf(f, "\"tensors\":[");
    for (int i = 0; i < w->n_tensors; i++) {
        const struct watch_tensor *t = &w->tensor[i];
        fprintf(f, "%s{\"name\":\"%s\",\"row\":%u,\"rows\":%u,\"element\":%d}", i ? "," : "",
                t->name, t->row, t->rows, t->element_bytes);
    }
    fprintf(f, "],\n");
}

static void put_reals(FILE *f, const char *name, const double *x, int n) {
    fprintf(f, "\"%s\":[", name);
    for (int i = 0; i < n; i++)
        if (isfinite(x[i]))
            fprintf(f, "%s%.4g", i ? "," : "", x[i]);
        else
            fprintf(f, "%s\"%s\"", i ? "," : "", isnan(x[i]) ? "NaN" : x[i] < 0 ? "-inf" : "inf");
    fprintf(f, "]");
}

static void put_answer(FILE *f, const struct watch_answer *a) {
    if (!a) {
        fprintf(f, "\"wrong\":null,\n");
        return;
    }
    fprintf(f, "\"wrong\":{");
    put_named(f, "what", a->what);
    fprintf(f, "\"first\":%lld,\"n\":%d,\"dim\":%d,\n", (long long)a->first, a->n, a->dim);
    put_reals(f, "expected", a->expected, a->n * a->dim);
    fprintf(f, ",\n");
    put_reals(f, "got", a->got, a->n * a->dim);
    fprintf(f, "},\n");
}

static void put_list(FILE *f, const char *name, const struct watch_text *t) {
    fprintf(f, "\"%s\":[%.*s],\n", name, (int)t->n, t->n ? t->at : "");
}

static void put_data(FILE *f, struct watch *w, const char *title, double mhz, const char *validated,
                     const struct watch_answer *answer) {
    struct files files = {0};
    watch_pipe_end(w);
    fprintf(f, "{");
    put_named(f, "title", title);
    put_named(f, "kernel", w->kernel->name);
    put_named(f, "validated", validated);
    put_named(f, "stopped", w->stopped ? w->stopped : "");
    fprintf(f, "\"mhz\":%.0f,\"shown\":%llu,\"whole\":%llu,\n", mhz, (unsigned long long)w->end,
            (unsigned long long)w->whole + 1);
    fprintf(f, "\"reasons\":[");
    for (int i = 0; i < PREDICTOR_REASONS; i++)
        fprintf(f, "%s\"%s\"", i ? "," : "", predictor_reason_name[i]);
    fprintf(f, "],\n");
    put_kinds(f);
    put_sass(f, w->kernel);
    put_registers(f, w->kernel);
    put_places(f, w->kernel, &files);
    put_files(f, &files);
    put_tensors(f, w);
    put_answer(f, answer);
    put_list(f, "footprints", &w->footprints.all);
    put_list(f, "operations", &w->operations);
    put_list(f, "barriers", &w->barriers);
    put_list(f, "pipe", &w->pipe);
    put_warps(f, w);
    fprintf(f, "\"version\":1}");
}

static const char *read_page(char **text) {
    char path[PATH_MAX];
    size_t room = 0;
    *text = NULL;
    if (!program_find("watch/page.html", path, sizeof path))
        return reason_as(STATUS_FILE, "there is no build/watch/page.html: run make watch-page");
    FILE *f = path_open(path);
    if (!f || getdelim(text, &room, 0, f) < 0 || !strstr(*text, marker)) {
        free(*text);
        *text = NULL;
    }
    if (f) fclose(f);
    return *text ? NULL : reason_as(STATUS_FILE, "%s is no page: run make -B watch-page", path);
}

const char *watch_write(struct watch *w, const char *title, double mhz, const char *validated,
                        const struct watch_answer *answer, const char *path) {
    char *page;
    const char *why = read_page(&page);
    if (why) return why;
    FILE *f = fopen(path, "w");
    char *at = strstr(page, marker);
    bool failed = !f;
    if (f) {
        fwrite(page, 1, (size_t)(at - page), f);
        put_data(f, w, title, mhz, validated, answer);
        fputs(at + strlen(marker), f);
        failed = ferror(f);
        failed |= fclose(f) != 0;
    }
    if (failed) {
        why = reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
        if (f) unlink(path);
    }
    free(page);
    return why;
}

struct watch *watch_open(const struct sass_kernel *k, const struct watch_tensor *t, int n_tensors,
                         size_t limit) {
    struct watch *w = heap_zeroed(1, sizeof *w);
    w->kernel = k;
    w->limit = limit ? limit : WATCH_BYTES;
    w->n_tensors = n_tensors < WATCH_TENSORS ? n_tensors : WATCH_TENSORS;
    for (int i = 0; i < w->n_tensors; i++) w->tensor[i] = t[i];
    return w;
}

void watch_stopped(struct watch *w, const char *why) {
    free(w->stopped);
    w->stopped = heap_text(why);
}

bool watch_is_empty(const struct watch *w) { return !w->end; }

void watch_close(struct watch *w) {
    if (!w) return;
    free(w->stopped);
    for (int i = 0; i < SASS_MAX_WARPS; i++) free(w->warp[i].issues.at);
    free(w->operations.at);
    free(w->barriers.at);
    free(w->pipe.at);
    free(w->footprints.all.at);
    free(w->footprints.entry);
    free(w);
}
