#include "raw.h"

#include "runtime/session/compiled.h"
#include "runtime/session/predictions.h"

#include "common/base/heap.h"
#include "common/base/reason.h"
#include "common/device/emu_counters.h"
#include "profiler/attribution.h"
#include "profiler/counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "sgemm" of "sgemm<(int)32>" */
static bool is_called(const char *symbol, const char *name) {
    char *shown = session_shown_name(symbol);
    size_t length = strlen(name);
    bool is =
        shown && (!strcmp(shown, name) || (!strncmp(shown, name, length) && shown[length] == '<'));
    is |= !strcmp(symbol, name);
    free(shown);
    return is;
}

const char *raw_find(const struct emu_module *m, const char *name, const char **out) {
    char all[512] = "", meant[512] = "";
    int n_meant = 0;
    const char *symbol;
    for (int i = 0; (symbol = emu_module_kernel_name(m, i)); i++) {
        char *shown = session_shown_name(symbol);
        bool is = is_called(symbol, name);
        char *list = is ? meant : all;
        size_t n = strlen(list);
        snprintf(list + n, sizeof all - n, "%s%s", n ? ", " : "", shown ? shown : symbol);
        free(shown);
        if (is) *out = symbol, n_meant++;
    }
    if (n_meant == 1) return NULL;
    if (n_meant)
        return reason_as(STATUS_USAGE, "several kernels are called %.64s: %.300s", name, meant);
    return reason_as(STATUS_USAGE, "no kernel %.64s; there %s %.300s", name, *all ? "are" : "is",
                     *all ? all : "none");
}

const char *raw_open(const void *data, size_t bytes, const char *name, struct kernel **out) {
    struct session *s = session_lock();
    struct fatbin_ptx ptx = {0};
    const char *symbol = NULL, *why;
    if (!s) return "the emulator cannot be opened";
    unsigned char *copy = malloc(bytes + 1); /* it stays: names and PTX point into it */
    if (!copy) {
        session_unlock();
        return reason_as(STATUS_DEVICE, "no memory for a kernel");
    }
    memcpy(copy, data, bytes);
    copy[bytes] = 0;
    if (!fatbin_find(copy, bytes, &s->info.chip, &ptx)) {
        ptx.text = (const char *)copy;
        ptx.bytes = bytes;
    }
    struct image *i = session_add_image(s, &ptx);
    why = i ? session_load(s, i) : reason_as(STATUS_DEVICE, "no memory for a kernel");
    if (why && i) why = reason_as(STATUS_UNSUPPORTED, "%s", why);
    if (!why) why = raw_find(i->module, name, &symbol);
    *out = why ? NULL : session_kernel(s, i, symbol);
    if (!why && !*out) why = reason_as(STATUS_DEVICE, "no memory for a kernel");
    session_unlock();
    return why;
}

const char *raw_check(const struct emu_kernel *code, const char *shown, const struct raw_arg *arg,
                      int n) {
    int wanted = emu_kernel_params(code);
    if (n != wanted)
        return reason_as(STATUS_USAGE, "%s takes %d argument%s, %d %s given", shown, wanted,
                         wanted == 1 ? "" : "s", n, n == 1 ? "is" : "are");
    for (int a = 0; a < n; a++) {
        size_t bytes = emu_kernel_param_bytes(code, a), mine = arg[a].is_array ? 8 : arg[a].bytes;
        if (bytes != mine)
            return reason_as(STATUS_USAGE, "argument %d of %s has %zu bytes, %s has %zu", a + 1,
                             shown, bytes, arg[a].is_array ? "an array's address" : "what is given",
                             mine);
        char kind = emu_kernel_param_kind(code, a), given = arg[a].is_array ? 'u' : arg[a].kind;
        if (kind && given && kind != given)
            return reason_as(STATUS_USAGE, "argument %d of %s is %s, %s", a + 1, shown,
                             kind == 'f' ? "a real number" : "a whole number or an address",
                             arg[a].is_array ? "and an array is given"
                             : kind == 'f'   ? "and a whole one is given"
                                             : "and a real one is given");
    }
    return NULL;
}

const char *raw_fault(enum fault f, const char *shown, const char *because) {
    if (f != FAULT_NONE && *because)
        return reason_as(f == FAULT_MEMORY ? STATUS_DEVICE : STATUS_USAGE,
                         "%s cannot be launched: %s", shown, because);
    switch (f) {
    case FAULT_NONE:
        return NULL;
    case FAULT_CONFIG:
        return reason_as(STATUS_USAGE, "%s: no device takes this grid and block", shown);
    case FAULT_MEMORY:
        return reason_as(STATUS_DEVICE, "%s cannot be launched: no memory or no registers for it",
                         shown);
    case FAULT_VALUE:
        return reason_as(STATUS_USAGE,
                         "%s cannot be launched like this: see its shared memory, "
                         "registers, clusters and launch bounds",
                         shown);
    default:
        return NULL; /* a failed check: it was reported */
    }
}

const char *raw_launch(struct kernel *k, const struct emu_grid *config, const struct raw_arg *arg,
                       int n) {
    struct session *s = session_lock();
    uint64_t device[EMU_MAX_ARGS] = {0};
    void *args[EMU_MAX_ARGS];
    const char *why =
        n > EMU_MAX_ARGS ? "too many arguments" : raw_check(k->code, k->shown, arg, n);
    if (!why && emu_kernel_refused(k->code))
        why = reason_as(STATUS_UNSUPPORTED, "%s", emu_kernel_refused(k->code));
    for (int a = 0; a < n && !why; a++) {
        args[a] = arg[a].is_array ? (void *)&device[a] : arg[a].at;
        if (!arg[a].is_array) continue;
        why = emu_memory_alloc(s->memory, arg[a].bytes, &device[a]);
        if (!why && arg[a].bytes)
            memcpy(emu_memory_at(s->memory, device[a], arg[a].bytes), arg[a].at, arg[a].bytes);
    }
    struct emu_grid g = *config;
    if (!why && g.shared_bytes > (unsigned)session_dynamic_shared(k))
        k->max_dynamic_shared = (int)g.shared_bytes; /* asked for, as a host program would */
    s->is_alone = true;
    s->predict_s = 0; /* its budget is that of a launch */
    if (!why) {
        const enum fault fault = session_launch(s, k, &g, args);
        why = raw_fault(fault, k->shown, s->unlaunched);
    }
    for (int a = 0; a < n && n <= EMU_MAX_ARGS; a++) {
        if (!device[a]) continue;
        if (arg[a].bytes)
            memcpy(arg[a].at, emu_memory_at(s->memory, device[a], arg[a].bytes), arg[a].bytes);
        emu_memory_free(s->memory, device[a]);
    }
    session_unlock();
    return why;
}

/* ---- For attnlab/__init__.py: strings live until the same call is made again --------------------------- */

#define EXPORT __attribute__((visibility("default")))

/* Options of build/run, one a line, before the first kernel is opened. */
EXPORT const char *attnlab_options(const char *lines);
EXPORT const char *attnlab_options(const char *lines) {
    struct settings s;
    heap_setenv("ATTNLAB_RUN", lines);
    const char *why = settings_from_environment(&s);
    if (!why) session_lock() ? session_unlock() : (void)(why = "the emulator cannot be opened");
    unsetenv("ATTNLAB_RUN"); /* not for programs that are started from here */
    return why;
}

EXPORT const char *attnlab_open(const void *image, size_t bytes, const char *name, void **out);
EXPORT const char *attnlab_open(const void *image, size_t bytes, const char *name, void **out) {
    return raw_open(image, bytes, name, (struct kernel **)(void *)out);
}

/* Its name in the image. */
EXPORT const char *attnlab_symbol(void *kernel);
EXPORT const char *attnlab_symbol(void *kernel) { return ((struct kernel *)kernel)->name; }

/* How many parameters it has; `bytes`, unless it is NULL, gets the size of each. */
EXPORT int attnlab_params(void *kernel, size_t *bytes);
EXPORT int attnlab_params(void *kernel, size_t *bytes) {
    const struct emu_kernel *code = ((struct kernel *)kernel)->code;
    int n = emu_kernel_params(code);
    for (int i = 0; i < n && bytes; i++) bytes[i] = emu_kernel_param_bytes(code, i);
    return n;
}

/* The compute capability that the emulator stands for: 10 * major + minor. */
EXPORT int attnlab_capability(void);
EXPORT int attnlab_capability(void) {
    struct session *s = session_lock();
    int cc = s ? s->info.chip.cc : 0;
    session_unlock();
    return cc;
}

/* what: 1 an array; of values 'f', 'u', 0. */
static struct raw_arg argument(void *at, size_t bytes, int what) {
    return (struct raw_arg){at, bytes, what == 1, what == 1 ? 0 : (char)what};
}

/* Whether these are its arguments, wherever it is launched. */
EXPORT const char *attnlab_check(void *kernel, int n, const int *is_array, const size_t *bytes);
EXPORT const char *attnlab_check(void *kernel, int n, const int *is_array, const size_t *bytes) {
    struct raw_arg arg[EMU_MAX_ARGS];
    if (n > EMU_MAX_ARGS) return "too many arguments";
    for (int a = 0; a < n; a++) arg[a] = argument(NULL, bytes[a], is_array[a]);
    const struct kernel *k = kernel;
    return raw_check(k->code, k->shown, arg, n);
}

/* grid, block, cluster: 3 numbers each; one `is_array`, address and size for each argument. */
EXPORT const char *attnlab_launch(void *kernel, const unsigned *extents, unsigned shared_bytes,
                                  int n, const int *is_array, void *const *at, const size_t *bytes);
EXPORT const char *attnlab_launch(void *kernel, const unsigned *extents, unsigned shared_bytes,
                                  int n, const int *is_array, void *const *at,
                                  const size_t *bytes) {
    struct emu_grid g = {.shared_bytes = shared_bytes};
    struct raw_arg arg[EMU_MAX_ARGS];
    if (n > EMU_MAX_ARGS) return "too many arguments";
    memcpy(g.grid, extents, sizeof g.grid);
    memcpy(g.block, extents + 3, sizeof g.block);
    memcpy(g.cluster, extents + 6, sizeof g.cluster);
    for (int a = 0; a < n; a++) arg[a] = argument(at[a], bytes[a], is_array[a]);
    return raw_launch(kernel, &g, arg, n);
}

static char *text;
static size_t text_bytes;
static FILE *begin_text(void) {
    free(text);
    text = NULL;
    return open_memstream(&text, &text_bytes);
}

static void write_values(const struct counters *c, FILE *out) {
    for (int i = 0; i < c->n; i++)
        if (!*c->counter[i].reason)
            fprintf(out, "%s\t%.17g\t%s\t%s\n", c->counter[i].name, c->counter[i].value,
                    c->counter[i].unit, counter_source_name(c->counter[i].source));
}

/* What stands beside predicted values: "1980 MHz; h200: ...", or why there are none. */
EXPORT const char *attnlab_prediction(void *kernel);
EXPORT const char *attnlab_prediction(void *kernel) {
    struct kernel *k = kernel;
    struct counters c = {0};
    FILE *out = begin_text();
    session_lock();
    const char *why = predictions_named(k, -1, &c);
    if (out && why) fprintf(out, "n/a: %s", why);
    for (int i = 0; out && i < c.n; i++)
        if (!strcmp(c.counter[i].name, "cycles_elapsed"))
            fprintf(out, "%s", c.counter[i].validated);
    counters_free(&c);
    if (out) fclose(out);
    session_unlock();
    return text;
}

/* "name value unit source" lines, of all launches of the kernel; `groups` NULL: all raw counts, and what
 * the predictor says. */
EXPORT const char *attnlab_counters(void *kernel, const char *groups);
EXPORT const char *attnlab_counters(void *kernel, const char *groups) {
    struct kernel *k = kernel;
    struct session *s = session_lock();
    struct counters raw = {0}, c = {0}, sass = {0}, predicted = {0}, named = {0};
    struct occupancy o;
    FILE *out = begin_text();
    const struct launch *l = k->n_launches ? &k->launch[k->n_launches - 1] : NULL;
    if (out && l && !emu_counters_of(k->result, &s->info.chip, &raw)) {
        int threads = (int)(l->block[0] * l->block[1] * l->block[2]);
        const struct counters_known known = {
            .counted = &raw,
            .sass = &sass,
            .no_sass = compiled_values(k, &sass),
            .predicted = &predicted,
            .no_prediction = predictions_values(k, -1, &predicted),
            .occupancy = &o,
            .no_occupancy = session_kernel_occupancy(s, k, threads, (int)l->shared_bytes, &o)};
        bool grouped = groups && !counters_emulated(&known, threads, groups, &c);
        if (!groups) predictions_named(k, -1, &named);
        write_values(grouped ? &c : &raw, out);
        write_values(&named, out);
    }
    counters_free(&raw);
    counters_free(&sass);
    counters_free(&predicted);
    counters_free(&named);
    counters_free(&c);
    if (out) fclose(out);
    session_unlock();
    return text;
}

EXPORT const char *attnlab_source(void *kernel);
EXPORT const char *attnlab_source(void *kernel) {
    struct kernel *k = kernel;
    struct source source = {0};
    FILE *out = begin_text();
    const struct session *s = session_lock();
    if (out) {
        emu_source_of(k->result, &s->info.chip, s->info.chip.n_sms, &source);
        predictions_source(s, k, &source);
        attribution_print(&source, 0, out);
    }
    source_free(&source);
    if (out) fclose(out);
    session_unlock();
    return text;
}

/* The failed checks, each ended by a byte 1. */
EXPORT const char *attnlab_reports(void *kernel);
EXPORT const char *attnlab_reports(void *kernel) {
    struct kernel *k = kernel;
    FILE *out = begin_text();
    for (int r = 0; out && r < emu_result_reports(k->result); r++)
        fprintf(out, "%s\001", emu_result_report(k->result, r));
    if (out) fclose(out);
    return text;
}
