#include "emu_clock.h"

#include "common/base/heap.h"
#include "common/base/interrupt.h"
#include "common/base/program.h"
#include "common/base/reason.h"
#include "device_ops.h"
#include "emulator/sass/sass_listing.h"
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

const char *emu_clock_open(struct emu_clock *c, struct device *d, const char *dir,
                           const char *name) {
    const char *chip = d->info.chip.name;
    char path[PATH_MAX], cache[PATH_MAX];
    *c = (struct emu_clock){.device = d};
    c->mhz =
        device_emu_options.clock_mhz > 0 ? device_emu_options.clock_mhz : d->info.chip.clock_mhz;
    timing_chip_validated(chip, c->validated, sizeof c->validated);
    const char *why = timing_chip_find(chip, &c->chip);
    if (why) return why;
    snprintf(path, sizeof path, "%s/%s.sm_90a.cubin", dir, name);
    if (access(path, R_OK))
        return reason_as(STATUS_COUNTERS, "the clock reads SASS, and %s: %s", path,
                         strerror(errno));
    snprintf(cache, sizeof cache, "%s/sass", program_folder());
    why = sass_open(path, cache, &c->module);
    return why ? reason_as(STATUS_COUNTERS, "%s", why) : NULL;
}

void emu_clock_close(struct emu_clock *c) {
    sass_close(c->module);
    c->module = NULL;
}

/* ---- One launch -------------------------------------------------------------------------------- */

struct progress {
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
    struct progress *p = user;
    double elapsed_s = seconds_since(&p->begin);
    char left[48] = "";
    if (elapsed_s < p->next_s || (!p->terminal && !device_emu_options.progress)) return;
    if (share > 0) snprintf(left, sizeof left, ", %.0f s left", elapsed_s * (1 - share) / share);
    fprintf(stderr, "%s%s: %s: clock, %.0f %% after %.0f s%s%s", p->terminal ? "\r" : "",
            program_invocation_short_name, p->kernel, 100 * share, elapsed_s, left,
            p->terminal ? "\033[K" : "\n");
    p->shown = true;
    p->next_s = elapsed_s + (p->terminal ? 0.5 : EVERY_S);
}

static bool interrupted(void *user) {
    (void)user;
    return interrupt_signal() != 0;
}

const char *emu_clock_launch(struct emu_clock *c, const struct device_launch *l,
                             const struct timing_options *asked, struct timing_prediction *out) {
    enum { PATIENCE_S = 2 };
    struct progress progress = {
        .kernel = l->kernel, .next_s = PATIENCE_S, .terminal = isatty(STDERR_FILENO)};
    struct timing_options o = asked ? *asked : (struct timing_options){0};
    const struct emu_grid launch = device_emu_grid(l);
    struct sass_grid *g;
    const struct sass_kernel *k = sass_find(c->module, l->kernel);
    if (!k) return reason_as(STATUS_COUNTERS, "no kernel '%s' in the cubin", l->kernel);
    const char *why = sass_grid_open(device_emu_memory(c->device), k, &launch, &g);
    if (why) return reason_as(STATUS_COUNTERS, "the clock: %s", why);
    clock_gettime(CLOCK_MONOTONIC, &progress.begin);
    o.mhz = c->mhz;
    o.progress = say_progress;
    o.progress_user = &progress;
    o.stop = interrupted;
    why = timing_predict(&c->chip, g, &o, out);
    if (progress.shown && progress.terminal) fputs("\r\033[K", stderr);
    sass_grid_close(g);
    return why ? reason_as(STATUS_COUNTERS, "the clock: %s", why) : NULL;
}

/* ---- Launches as values ------------------------------------------------------------------------ */

struct totals {
    double elapsed, longest, active, issues, warps, issue_pct, tensor_pct, done;
    double stall[TIMING_REASONS];
};

static void add(struct totals *t, const struct timing_prediction *p) {
    double issues = p->instructions;
    t->elapsed += p->elapsed;
    t->longest = fmax(t->longest, p->elapsed);
    t->active += p->active;
    t->issues += issues;
    t->warps += p->active * p->warps;
    t->issue_pct += p->active * p->issue_active_pct;
    t->tensor_pct += p->active * p->tensor_active_pct;
    t->done = fmin(t->done, p->done);
    for (int r = 0; r < TIMING_REASONS; r++) t->stall[r] += issues * p->stall[r];
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

const char *emu_clock_counters(struct emu_clock *c, const struct device_launch *launches, int n,
                               struct counters *out) {
    enum { N_VALUES = 16 + TIMING_REASONS };
    struct totals t = {.done = 1};
    for (int i = 0; i < n; i++) {
        struct timing_prediction p;
        const char *why = emu_clock_launch(c, &launches[i], NULL, &p);
        if (why) return why;
        add(&t, &p);
        timing_prediction_close(&p);
    }
    char v[sizeof c->validated + 64];
    snprintf(v, sizeof v, "%s", c->validated);
    if (t.done < 1)
        snprintf(v, sizeof v, "%s; extrapolated from %.2g %%", c->validated, 100 * t.done);
    out->counter = heap_grown(out->counter, (size_t)(out->n + N_VALUES) * sizeof *out->counter);
    put(out, v, t.longest, "cycles", "cycles_elapsed");
    put(out, v, t.active, "cycles", "cycles_active");
    put(out, v, t.elapsed / c->mhz, "us", "duration_us");
    put(out, "", c->mhz, "MHz", "mhz");
    put(out, v, t.issue_pct / t.active, "%", "issue_active_pct");
    put(out, v, t.tensor_pct / t.active, "%", "tensor_active_pct");
    put(out, v, t.tensor_pct / t.elapsed, "%", "tensor_elapsed_pct");
    put(out, v, 100 * t.warps / t.active / c->chip.sm_warps, "%", "occupancy_pct");
    put(out, v, t.warps / t.active, "warps", "warps");
    for (int r = 0; r < TIMING_REASONS; r++)
        put(out, v, t.stall[r] / t.issues, "warps/issue", "stall.%s", timing_reason_name[r]);
    return NULL;
}

/* ---- Launches by line -------------------------------------------------------------------------- */

_Static_assert((int)TIMING_REASONS <= (int)SOURCE_REASONS, "each reason has a place in a line");

static void add_lines(const struct sass_kernel *k, const struct timing_prediction *p,
                      double launch_overhead, int n_sms, struct source *out) {
    for (int i = 0; i < k->n_inst; i++) {
        const struct sass_origin *o = &k->origin[i];
        struct source_counts c = {0};
        struct source_frame frame[SASS_FRAMES];
        for (int r = 0; r < TIMING_REASONS; r++) c.cycles[r] = p->by_inst[i][r];
        c.busy[SOURCE_ISSUE] = c.cycles[TIMING_SELECTED] / SM_SMSPS / n_sms;
        if (!source_cycles(&c)) continue;
        for (int f = 0; f < o->n_frames; f++)
            frame[f] = (struct source_frame){o->frame[f].file, o->frame[f].line};
        source_add(out, SOURCE_SASS, (int)k->inst[i].pc, k->text[i], frame, o->n_frames, &c);
    }
    out->elapsed += p->elapsed - launch_overhead;
}

const char *emu_clock_source(struct emu_clock *c, const struct device_launch *launches, int n,
                             struct source *out) {
    const char *why = NULL;
    source_forget(out, SOURCE_PTX, SOURCE_ISSUE); /* what is issued is SASS */
    out->reason = timing_reason_name;
    snprintf(out->about, sizeof out->about, "%s", c->validated);
    for (int i = 0; i < n && !why; i++) {
        struct timing_prediction p;
        why = emu_clock_launch(c, &launches[i], NULL, &p);
        if (why) break;
        add_lines(sass_find(c->module, launches[i].kernel), &p, c->chip.launch_overhead,
                  device_busy_sms(c->device, launches, n), out);
        timing_prediction_close(&p);
    }
    source_lines(out);
    return why;
}
