#include "predictor.h"

#include "common/base/heap.h"
#include "common/base/interrupt.h"
#include "common/base/plain.h"
#include "common/base/program.h"
#include "common/base/reason.h"
#include "device_ops.h"
#include "emulator/sass/listing.h"
#include "emulator/sass/undo.h"
#include "source.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *read_chip(struct predictor *c, const struct chip *chip) {
    c->mhz = device_emu_options.clock_mhz > 0 ? device_emu_options.clock_mhz : chip->clock_mhz;
    predictor_chip_validated(chip->name, c->validated, sizeof c->validated);
    return predictor_chip_find(chip->name, &c->chip);
}

const char *predictor_open(struct predictor *c, struct device *d, const char *dir,
                           const char *name) {
    char path[PATH_MAX], cache[PATH_MAX];
    *c = (struct predictor){.device = d, .memory = device_emu_memory(d)};
    const char *why = read_chip(c, &d->info.chip);
    if (why) return why;
    snprintf(path, sizeof path, "%s/%s.%s.cubin", dir, name, c->chip.is_ada ? "sm_89" : "sm_90a");
    if (access(path, R_OK))
        return reason_as(STATUS_COUNTERS, "the predictor reads SASS, and %s: %s", path,
                         strerror(errno));
    snprintf(cache, sizeof cache, "%s/sass", program_folder());
    why = sass_open(path, cache, &c->module);
    return why ? reason_as(STATUS_COUNTERS, "%s", why) : NULL;
}

const char *predictor_open_module(struct predictor *c, const struct chip *chip,
                                  struct emu_memory *m, struct sass_module *module) {
    *c = (struct predictor){.memory = m, .module = module};
    const char *why = read_chip(c, chip);
    size_t n = strlen(c->validated);
    char others[96];
    if (predictor_chip_kind(chip->name, "programs", others, sizeof others))
        snprintf(c->validated, sizeof c->validated, "%s: %s", chip->name, others);
    else if (!strstr(c->validated, "not validated"))
        snprintf(c->validated + n, sizeof c->validated - n, "; this kernel was not among them");
    return why;
}

void predictor_close(struct predictor *c) {
    sass_close(c->module);
    c->module = NULL;
}

/* ---- One launch -------------------------------------------------------------------------------- */

struct predictor_progress {
    const char *kernel;
    struct timespec begin;
    double next_s;
    bool terminal, shown;
};

static double seconds_since(const struct timespec *begin) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) + 1e-9 * (double)(now.tv_nsec - begin->tv_nsec);
}

static void say_progress(void *user, double share) {
    enum { EVERY_S = 10 };
    struct predictor_progress *p = user;
    double elapsed_s = seconds_since(&p->begin);
    char left[48] = "";
    int length;
    if (elapsed_s < p->next_s || (!p->terminal && !device_emu_options.progress)) return;
    const char *name = plain_name(p->kernel, &length);
    if (share > 0) snprintf(left, sizeof left, ", %.0f s left", elapsed_s * (1 - share) / share);
    fprintf(stderr, "%s%s: %.*s: predicting, %.0f %% after %.0f s%s%s", p->terminal ? "\r" : "",
            program_invocation_short_name, length, name, 100 * share, elapsed_s, left,
            p->terminal ? "\033[K" : "\n");
    p->shown = true;
    p->next_s = elapsed_s + (p->terminal ? 0.5 : EVERY_S);
}

static bool has_to_end(void *user) {
    (void)user;
    return interrupt_signal() != 0;
}

const char *predictor_grid(struct predictor *c, const char *kernel, const struct emu_grid *launch,
                           const struct predictor_options *asked, struct prediction *out) {
    enum { PATIENCE_S = 2 };
    struct predictor_progress progress = {
        .kernel = kernel, .next_s = PATIENCE_S, .terminal = isatty(STDERR_FILENO)};
    struct predictor_options o = asked ? *asked : (struct predictor_options){0};
    struct sass_grid *g;
    const struct sass_kernel *k = sass_find(c->module, kernel);
    if (!k) return reason_as(STATUS_COUNTERS, "no kernel '%s' in the cubin", kernel);
    const char *why = sass_grid_open(c->memory, k, launch, &g);
    if (why) return reason_as(STATUS_COUNTERS, "the predictor: %s", why);
    g->unwritten = emu_draw_unwritten(device_emu_options.draw);
    g->unknown_data = o.unknown_data;
    clock_gettime(CLOCK_MONOTONIC, &progress.begin);
    o.limit = c->limit_s * PREDICTOR_WORK_A_SECOND;
    o.mhz = c->mhz;
    o.progress = say_progress;
    o.progress_user = &progress;
    o.stop = has_to_end;
    if (c->keeps_memory) g->undo = sass_undo_open();
    if (c->find) why = sass_grid_variables(g, c->find_user, c->find);
    if (!why) why = predict_launch(&c->chip, g, &o, out);
    sass_undo_close(g->undo);
    if (progress.shown && progress.terminal) fputs("\r\033[K", stderr);
    sass_grid_close(g);
    return why ? reason_as(STATUS_COUNTERS, "the predictor: %s", why) : NULL;
}

const char *predictor_launch(struct predictor *c, const struct device_launch *l,
                             const struct predictor_options *asked, struct prediction *out) {
    const struct emu_grid launch = device_emu_grid(l->on_gpu ? l->on_gpu : l);
    return predictor_grid(c, l->kernel, &launch, asked, out);
}

/* ---- Launches as values ------------------------------------------------------------------------ */

struct totals {
    double elapsed, boost, longest, active, issues, warps, issue_pct, tensor_pct, done;
    double stall[PREDICTOR_REASONS];
};

static void add(struct totals *t, const struct prediction *p, int times) {
    double issues = times * p->instructions, active = times * p->active;
    t->elapsed += times * p->elapsed;
    t->boost += times * p->boost;
    t->longest = fmax(t->longest, p->elapsed);
    t->active += active;
    t->issues += issues;
    t->warps += active * p->warps;
    t->issue_pct += active * p->issue_active_pct;
    t->tensor_pct += active * p->tensor_active_pct;
    t->done = fmin(t->done, p->done);
    for (int r = 0; r < PREDICTOR_REASONS; r++) t->stall[r] += issues * p->stall[r];
}

__attribute__((format(printf, 5, 6))) static void put(struct counters *out, const char *validated,
                                                      double value, const char *unit,
                                                      const char *format, ...) {
    struct counter *c = &out->counter[out->n++];
    va_list args;
    *c = (struct counter){.value = value, .source = SOURCE_MODEL};
    va_start(args, format);
    vsnprintf(c->name, sizeof c->name, format, args);
    va_end(args);
    snprintf(c->unit, sizeof c->unit, "%s", unit);
    snprintf(c->validated, sizeof c->validated, "%s", validated);
}

void predictor_values(const struct predictor *c, const struct prediction *const *p,
                      const int *times, int n, struct counters *out) {
    enum { N_VALUES = 19 + PREDICTOR_REASONS }; /* with those of predictor_counters() */
    struct totals t = {.done = 1};
    for (int i = 0; i < n; i++) add(&t, p[i], times ? times[i] : 1);
    char v[sizeof c->validated + 64];
    snprintf(v, sizeof v, "%s", c->validated);
    if (t.done < 1)
        snprintf(v, sizeof v, "%s; extrapolated from %.2g %%", c->validated, 100 * t.done);
    out->counter = heap_grown(out->counter, (size_t)(out->n + N_VALUES) * sizeof *out->counter);
    put(out, v, t.longest, "cycles", "cycles_elapsed");
    put(out, v, t.active, "cycles", "cycles_active");
    put(out, v, t.boost / c->mhz, "us", "duration_us");
    put(out, "", c->mhz * t.elapsed / t.boost, "MHz", "mhz");
    put(out, "", t.issues / SM_SMSPS / c->chip.sms, "cycles", "issue_bound");
    put(out, v, t.issue_pct / t.active, "%", "issue_active_pct");
    put(out, v, t.tensor_pct / t.active, "%", "tensor_active_pct");
    put(out, v, t.tensor_pct / t.elapsed, "%", "tensor_elapsed_pct");
    put(out, v, 100 * t.warps / t.active / c->chip.sm_warps, "%", "occupancy_pct");
    put(out, v, t.warps / t.active, "warps", "warps");
    for (int r = 0; r < PREDICTOR_REASONS; r++)
        put(out, v, t.stall[r] / t.issues, "warps/issue", "stall.%s", predictor_reason_name[r]);
    struct counter *gmma = &out->counter[out->n - PREDICTOR_REASONS + PREDICTOR_GMMA];
    snprintf(gmma->reason, sizeof gmma->reason,
             "the predictor does not tell this wait from math_pipe and barrier");
}

/* What stands beside the emulator's counts: not if it is of larger launches. */
static void put_bound(const struct predictor *c, const struct device_launch *launches,
                      const struct prediction *p, int n, struct counters *out) {
    double issues = 0, elapsed = 0;
    bool same = true;
    for (int i = 0; i < n; i++) {
        issues += p[i].instructions;
        elapsed += p[i].elapsed;
        same &= !launches[i].on_gpu;
    }
    put(out, "", issues / SM_SMSPS / c->chip.sms, "cycles", "bound.issue");
    put(out, out->counter[0].validated, elapsed, "cycles", "bound.cycles");
    for (int i = out->n - 2; i < out->n && !same; i++)
        snprintf(out->counter[i].reason, sizeof out->counter[i].reason,
                 "the predictor covers a larger launch than is counted");
}

const char *predictor_counters(struct predictor *c, const struct device_launch *launches, int n,
                               struct counters *out) {
    struct prediction *p = heap_zeroed((size_t)n, sizeof *p);
    const struct prediction **at = heap_zeroed((size_t)n, sizeof *at);
    const char *why = NULL;
    for (int i = 0; i < n && !why; i++) {
        why = predictor_launch(c, &launches[i], NULL, &p[i]);
        at[i] = &p[i];
    }
    if (!why) predictor_values(c, at, NULL, n, out);
    if (!why) put_bound(c, launches, p, n, out);
    for (int i = 0; i < n; i++) prediction_close(&p[i]);
    free(at);
    free(p);
    return why;
}

/* ---- Launches by line -------------------------------------------------------------------------- */

_Static_assert((int)PREDICTOR_REASONS <= (int)SOURCE_REASONS, "each reason has a place in a line");

void predictor_source_begin(const struct predictor *c, struct source *out) {
    source_forget(out, SOURCE_PTX, SOURCE_ISSUE); /* what is issued is SASS */
    out->reason = predictor_reason_name;
    out->n_reasons = PREDICTOR_REASONS;
    snprintf(out->about, sizeof out->about, "%s", c->validated);
}

void predictor_source_add(const struct predictor *c, const char *kernel, const struct prediction *p,
                          int n_sms, struct source *out) {
    const struct sass_kernel *k = sass_find(c->module, kernel);
    for (int i = 0; k && i < k->n_inst; i++) {
        const struct sass_origin *o = &k->origin[i];
        struct source_counts s = {0};
        struct source_frame frame[SASS_FRAMES];
        for (int r = 0; r < PREDICTOR_REASONS; r++) s.cycles[r] = p->by_inst[i][r];
        s.busy[SOURCE_ISSUE] = s.cycles[PREDICTOR_SELECTED] / SM_SMSPS / n_sms;
        if (!source_cycles(&s)) continue;
        for (int f = 0; f < o->n_frames; f++)
            frame[f] = (struct source_frame){o->frame[f].file, o->frame[f].line};
        source_add(out, SOURCE_SASS, (int)k->inst[i].pc, k->text[i], frame, o->n_frames, &s);
    }
    out->elapsed += p->elapsed - c->chip.launch_overhead;
}

const char *predictor_source(struct predictor *c, const struct device_launch *launches, int n,
                             struct source *out) {
    const char *why = NULL;
    predictor_source_begin(c, out);
    for (int i = 0; i < n && !why; i++) {
        struct prediction p;
        why = predictor_launch(c, &launches[i], NULL, &p);
        if (why) break;
        predictor_source_add(c, launches[i].kernel, &p, device_busy_sms(c->device, launches, n),
                             out);
        prediction_close(&p);
    }
    source_lines(out);
    return why;
}
