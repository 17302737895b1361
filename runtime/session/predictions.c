#include "predictions.h"

#include "compiled.h"

#include "common/base/heap.h"
#include "common/base/reason.h"
#include "common/device/predictor.h"
#include "common/device/source.h"
#include "common/harness/watch/watch.h"
#include "profiler/counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most that predictions take, unless told: of a program all, of which one takes half of what is left at most, so that
 * something is left for others; of one kernel's launch. Seconds of a core, counted as work (PREDICTOR_WORK_A_SECOND),
 * so that a busy host predicts the same. */
enum { PROGRAM_S = 20, KERNEL_S = 60 };
#define OPEN_S 0.5 /* that a kernel's machine code counts for */
/* Launches of a program with more work than this have 8 SMs simulated for all: some seconds at most. */
enum { PROGRAM_WORK = 16000000 };

struct launch_prediction {
    struct prediction_shape shape;
    bool is_there;
    struct prediction p;
};

struct kernel_predictions {
    struct predictor predictor;
    bool is_open;
    char *why; /* not NULL: the first reason for which a launch was not predicted */
    int n;
    struct launch_prediction *at;
};

static const char *open_predictor(const struct session *s, struct kernel *k,
                                  struct kernel_predictions *c) {
    struct predictor_chip measured;
    struct sass_module *module;
    const char *why = predictor_chip_find(s->info.chip.name, &measured); /* before any work */
    if (!why) why = compiled_open(s, k, &module);
    if (!why) why = predictor_open_module(&c->predictor, &s->info.chip, s->memory, module);
    c->is_open = !why;
    c->predictor.keeps_memory = true;
    c->predictor.find = compiled_variable;
    c->predictor.find_user = k->image;
    return why;
}

/* ---- Predictions ----------------------------------------------------------------------------- */

static const char *switched_off(const struct settings *o) {
    if (o->no_predict) return "--no-predict";
    if (o->emulator.without) return "with --without the PTX runs without that line, not the SASS";
    if (o->emulator.sample_blocks) return "with --sample-blocks most blocks do not run";
    if (o->quiet && !o->json_path && !o->source && !o->watch_page) return "--quiet";
    return NULL;
}

static double budget_s(const struct session *s) {
    double asked = s->settings.predict_budget_s;
    return asked > 0 ? asked : s->is_alone ? KERNEL_S : PROGRAM_S;
}

/* --cache as-run of a program: each allocation has its own distance. */
static bool asks_each(const struct session *s) {
    return !s->is_alone && s->settings.cache == SETTINGS_AS_RUN;
}

/* Launches of the process before the present one. */
static int launches_before(const struct session *s) { return s->n_launches - 1; }

static double distance(void *user, uint64_t begin) {
    const struct session *s = user;
    return l2_distance(&s->l2, begin);
}

static double copied(void *user, uint64_t begin) {
    const struct session *s = user;
    return l2_copied(&s->l2, begin);
}

/* Managed and mapped memory that no launch has touched yet comes from the host, page by page. */
static const char *comes_from_host(const struct session *s, const struct prediction *p) {
    for (int i = 0; asks_each(s) && i < p->n_ranges; i++)
        if (emu_memory_is_shared(s->memory, p->range[i].begin) &&
            isinf(l2_distance(&s->l2, p->range[i].begin)))
            return reason_as(STATUS_COUNTERS,
                             "the predictor: managed or mapped memory has to come from the host "
                             "first, which it does not model (--cache warm: it is there)");
    return NULL;
}

/* What L2 has after a launch like this one. */
static void note_touched(struct session *s, const struct launch_prediction *at) {
    const struct prediction *p = &at->p;
    double all = 0;
    l2_turn(&s->l2);
    for (int i = 0; i < p->n_ranges; i++) all += p->range[i].bytes;
    for (int i = 0; i < p->n_ranges; i++)
        l2_touch(&s->l2, p->range[i].begin, p->range[i].bytes, all);
    s->l2.copied = 0;
}

/* Does L2 hold about as much of what the launch touches as it did then? */
static bool finds_alike(const struct session *s, const struct launch_prediction *at) {
    const double l2 = (double)s->info.chip.l2_bytes, most = 2 * l2, alike = 0.1 * l2;
    for (int i = 0; asks_each(s) && i < at->p.n_ranges; i++) {
        double now = fmin(most, l2_distance(&s->l2, at->p.range[i].begin));
        if (fabs(now - fmin(most, at->shape.distance[i])) > alike) return false;
        if (fabs(l2_copied(&s->l2, at->p.range[i].begin) - at->shape.copied[i]) > alike)
            return false;
        if (at->shape.copied[i] > 0 &&
            fabs(fmin(most, l2_filled(&s->l2)) - at->shape.filled) > alike)
            return false;
    }
    return true;
}

static bool depends_on_data(const struct kernel *k) {
    const struct sass_kernel *code = sass_find(k->predictions->predictor.module, k->name);
    return code && sass_depends_on_data(code);
}

void predictions_changed(struct session *s, uint64_t begin, const void *old, const void *new,
                         size_t bytes) {
    bool differs = !old, compared = differs;
    for (struct kernel *k = s->kernels; k; k = k->next)
        for (int n = 0; n < predictions_count(k); n++) {
            struct launch_prediction *at = &k->predictions->at[n];
            for (int i = 0; i < at->p.n_ranges; i++) {
                if (at->p.range[i].begin != begin) continue;
                if (!compared) differs = memcmp(old, new, bytes) != 0, compared = true;
                at->shape.is_changed |= differs;
            }
        }
}

/* The launch that was too long to run and whose data this one read; -1: there is none. */
static int reads_stale(const struct session *s, const struct prediction *p) {
    for (int i = 0; i < p->n_ranges; i++) {
        const int launch =
            p->range[i].is_read ? stale_at(&s->stale, s->memory, p->range[i].begin) : -1;
        if (launch >= 0) return launch;
    }
    return -1;
}

/* Its arguments point to data of a launch that was too long to run. If it reads that data, a kernel whose way depends on data
 * has no prediction, and others are predicted as with any data. */
static const char *without_data(struct session *s, const struct kernel *k, const struct emu_grid *g,
                                struct predictor_options o, const char *why, struct prediction *p) {
    struct predictor *c = &k->predictions->predictor;
    int launch = why ? stale_of(&s->stale, s->memory, g) : reads_stale(s, p);
    if (launch < 0) return why;
    if (!why) prediction_close(p);
    if (depends_on_data(k))
        return reason_as(STATUS_COUNTERS,
                         "the predictor: what it does depends on data of launch %d, which was too "
                         "long to run here (--max-instructions)",
                         launch);
    if (why) return why;
    o.unknown_data = true;
    why = predictor_grid(c, k->name, g, &o, p);
    s->predict_s += p->work / PREDICTOR_WORK_A_SECOND;
    return why;
}

static const char *predict(struct session *s, struct kernel *k, const struct emu_grid *g,
                           struct launch_prediction *out) {
    struct kernel_predictions *c = k->predictions;
    const double budget = budget_s(s);
    if (s->settings.predict_only) s->predict_s = 0; /* for each */
    const char *why = switched_off(&s->settings);
    if (!why && !c->is_open && c->why) why = c->why; /* it was tried */
    if (!why && s->predict_s + (c->is_open ? 0 : OPEN_S) >= budget)
        why = reason("the %g s of --predict-budget are over", budget);
    if (!why && !c->is_open) {
        s->predict_s += OPEN_S;
        why = open_predictor(s, k, c);
    }
    if (why) return why;
    const double limit_s =
        (budget - s->predict_s) / (s->is_alone || s->settings.predict_only ? 1 : 2);
    const struct predictor_options o = {.budget = s->is_alone ? 0 : PROGRAM_WORK,
                                        .cache = (enum predictor_cache)out->shape.cache,
                                        .is_first = out->shape.is_first,
                                        .prints_first = asks_each(s) && !s->has_printed,
                                        .distance = asks_each(s) ? distance : NULL,
                                        .copied = asks_each(s) ? copied : NULL,
                                        .filled = l2_filled(&s->l2),
                                        .user = s};
    c->predictor.limit_s = limit_s;
    why = predictor_grid(&c->predictor, k->name, g, &o, &out->p);
    s->predict_s += out->p.work / PREDICTOR_WORK_A_SECOND;
    if (out->shape.is_unknown) why = without_data(s, k, g, o, why, &out->p);
    if (!why) why = comes_from_host(s, &out->p);
    out->is_there = !why;
    out->shape.prints_first = out->p.prints && o.prints_first;
    s->has_printed |= out->p.prints;
    out->shape.filled = fmin(2 * (double)s->info.chip.l2_bytes, l2_filled(&s->l2));
    for (int i = 0; i < out->p.n_ranges; i++) {
        out->shape.distance[i] = l2_distance(&s->l2, out->p.range[i].begin);
        out->shape.copied[i] = l2_copied(&s->l2, out->p.range[i].begin);
    }
    return why;
}

/* The page of --watch-page: the first launch that is meant is predicted once more, with all that its first block does. */
static const char *write_page(const struct session *s, const struct kernel *k,
                              const struct emu_grid *g) {
    struct predictor *c = &k->predictions->predictor;
    struct prediction p;
    char title[512];
    const struct sass_kernel *code = sass_find(c->module, k->name);
    if (!code) return "its machine code was not found";
    struct watch *w = watch_open(code, NULL, 0, 0);
    const struct predictor_options o = watch_options(w);
    const char *why = predictor_grid(c, k->name, g, &o, &p);
    if (!why) {
        prediction_close(&p);
        snprintf(title, sizeof title, "%s, %u x %u x %u blocks of %u x %u x %u threads", k->shown,
                 g->grid[0], g->grid[1], g->grid[2], g->block[0], g->block[1], g->block[2]);
        why = watch_write(w, title, c->mhz, c->validated, NULL, s->settings.watch_page);
    }
    watch_close(w);
    return why;
}

static void watch(struct session *s, const struct kernel *k, const struct emu_grid *g,
                  const char *unpredicted) {
    if (!s->settings.watch_page || s->watched || !settings_means(&s->settings, k->shown)) return;
    const char *why = unpredicted ? unpredicted : write_page(s, k, g);
    free(s->unwatched);
    s->unwatched = why ? heap_text(why) : NULL;
    s->watched = !why;
}

/* Of the launch that comes next. */
static int cache_of(const struct session *s) {
    if (s->settings.cache == SETTINGS_WARM) return PREDICTOR_WARM;
    if (s->settings.cache == SETTINGS_COLD) return PREDICTOR_COLD;
    bool flushed = s->set_bytes && s->set_bytes >= (uint64_t)s->info.chip.l2_bytes;
    return flushed ? PREDICTOR_FLUSHED : PREDICTOR_WARM;
}

static uint64_t hash_arguments(const struct emu_grid *g) {
    uint64_t key = 0;
    for (int a = 0; a < g->n_args; a++) key = repeat_key(key, g->arg[a], g->arg_bytes[a]);
    return key;
}

static bool is_like(const struct prediction_shape *a, const struct emu_grid *g, int cache,
                    uint64_t arguments, bool is_unknown) {
    return !a->is_first && !a->prints_first && a->cache == cache && a->is_unknown == is_unknown &&
           a->arguments == arguments && !memcmp(a->grid, g->grid, sizeof a->grid) &&
           !memcmp(a->block, g->block, sizeof a->block) &&
           !memcmp(a->cluster, g->cluster, sizeof a->cluster) && a->shared_bytes == g->shared_bytes;
}

int predictions_make(struct session *s, struct kernel *k, const struct emu_grid *g) {
    if (!k->predictions) k->predictions = heap_zeroed(1, sizeof *k->predictions);
    struct kernel_predictions *c = k->predictions;
    const int cache = cache_of(s);
    const uint64_t arguments = s->settings.predict_only ? hash_arguments(g) : 0;
    const bool is_unknown = stale_of(&s->stale, s->memory, g) >= 0;
    s->set_bytes = 0;
    for (int i = 0; i < c->n; i++)
        if (is_like(&c->at[i].shape, g, cache, arguments, is_unknown) &&
            finds_alike(s, &c->at[i]) && !(c->at[i].shape.is_changed && depends_on_data(k))) {
            note_touched(s, &c->at[i]);
            return i;
        }
    c->at = heap_grown(c->at, (size_t)(c->n + 1) * sizeof *c->at);
    struct launch_prediction *at = &c->at[c->n];
    *at = (struct launch_prediction){.shape = {
                                         .shared_bytes = g->shared_bytes,
                                         .cache = cache,
                                         .arguments = arguments,
                                         .is_unknown = is_unknown,
                                         .is_first = asks_each(s) && !launches_before(s),
                                     }};
    memcpy(at->shape.grid, g->grid, sizeof at->shape.grid);
    memcpy(at->shape.block, g->block, sizeof at->shape.block);
    memcpy(at->shape.cluster, g->cluster, sizeof at->shape.cluster);
    const char *why = predict(s, k, g, at);
    if (why && !c->why) c->why = heap_text(why);
    note_touched(s, at);
    watch(s, k, g, why);
    return c->n++;
}

double predictions_instructions(const struct kernel *k, int number) {
    const struct launch_prediction *at = &k->predictions->at[number];
    return at->is_there ? at->p.instructions : 0;
}

bool predictions_unknown(struct session *s, const struct kernel *k, int number, int launch) {
    const struct launch_prediction *at = &k->predictions->at[number];
    bool writes = false;
    if (!at->is_there || at->p.done < 1) return false; /* it may write later */
    for (int i = 0; i < at->p.n_ranges; i++) {
        if (!at->p.range[i].is_written) continue;
        stale_add(&s->stale, s->memory, at->p.range[i].begin, launch);
        writes = true;
    }
    return writes;
}

int predictions_count(const struct kernel *k) { return k->predictions ? k->predictions->n : 0; }

int predictions_launches(const struct kernel *k, int number) {
    int n = 0;
    for (int l = 0; l < k->n_launches; l++) n += k->launch[l].predicted == number;
    return n;
}

const struct prediction_shape *prediction_shape(const struct kernel *k, int number) {
    return &k->predictions->at[number].shape;
}

const char *prediction_cache(const struct prediction_shape *s) {
    static const char *const names[] = {
        [PREDICTOR_WARM] = "warm", [PREDICTOR_COLD] = "cold", [PREDICTOR_FLUSHED] = "flushed"};
    return names[s->cache];
}

const char *predictions_missing(const struct kernel *k) {
    return k->predictions ? k->predictions->why : NULL;
}

void predictions_failed(struct kernel *k) {
    struct kernel_predictions *c = k->predictions;
    if (!c || !c->why) return;
    free(c->why);
    c->why = heap_text(SESSION_FAILED);
}

/* ---- As counters ----------------------------------------------------------------------------- */

const char *predictions_values(const struct kernel *k, int number, struct counters *out) {
    const struct kernel_predictions *c = k->predictions;
    const struct prediction *p[c ? c->n + 1 : 1];
    int times[c ? c->n + 1 : 1], n = 0;
    for (int i = 0; c && i < c->n; i++) {
        if (!c->at[i].is_there || (number >= 0 && i != number)) continue;
        p[n] = &c->at[i].p;
        times[n++] = number >= 0 ? 1 : predictions_launches(k, i);
    }
    if (n) predictor_values(&c->predictor, p, times, n, out);
    return n ? NULL : c && c->why ? c->why : "nothing was predicted";
}

const char *predictions_named(const struct kernel *k, int number, struct counters *out) {
    static const char *const groups = "CYCLES,TENSOR,OCCUPANCY,STALL";
    struct counters values = {0}, all;
    int n = 0;
    *out = (struct counters){0};
    const char *why = predictions_values(k, number, &values);
    if (!why)
        why = counters_emulated(&(struct counters_known){.counted = &(struct counters){0},
                                                         .no_sass = "nobody asks",
                                                         .predicted = &values,
                                                         .no_occupancy = "nobody asks"},
                                0, groups, &all);
    counters_free(&values);
    if (why) return why;
    for (int i = 0; i < all.n; i++)
        if (!*all.counter[i].reason) all.counter[n++] = all.counter[i];
    all.n = n;
    *out = all;
    return NULL;
}

void predictions_source(const struct session *s, const struct kernel *k, struct source *out) {
    const struct kernel_predictions *c = k->predictions;
    bool any = false;
    for (int i = 0; c && i < c->n; i++) any |= c->at[i].is_there;
    if (!any) {
        snprintf(out->about, sizeof out->about, "n/a: %s", c && c->why ? c->why : "no prediction");
        return;
    }
    predictor_source_begin(&c->predictor, out);
    for (int i = 0; i < c->n; i++)
        if (c->at[i].is_there)
            predictor_source_add(&c->predictor, k->name, &c->at[i].p, s->info.chip.n_sms, out);
    source_lines(out);
}
