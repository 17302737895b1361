#include "counters.h"

#include "common/device/device_ops.h"
#include "expression.h"
#include "gpu_counts.h"
#include "groups_folder.h"
#include "occupancy.h"
#include "common/base/reason.h"
#include "common/base/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One call of counters_collect(). */
struct collection {
    struct device *device;
    struct device_image *image;
    const struct device_launch *launches;
    int n_launches;
    const char *place;      /* "GH100", "emulator": which line of a group counts */
    struct gpu_counts *gpu; /* NULL: none, and `refused` says why */
    struct counters emulated, clock, sass;
    bool wants_counts, wants_clock, wants_sass; /* of the emulator: some formula names them */
    char refused[256];                          /* why there are no counts at all */
    char no_clock[256];                         /* not "": why the emulator's clock says nothing */
    char no_sass[256];                          /* not "": why it did not execute SASS */
    char validated[192];                        /* of what was looked up for the value at work */
    char failed[256]; /* why the first value that could have been had was not */
    struct occupancy occupancy;
    char no_occupancy[256]; /* not "": why */
    int threads;
    struct group *group; /* the one at work */
    int first;           /* of its values in out->counter */
    struct counters *out;
};

/* ---- What names in a formula stand for */

/* The launch with the most shared memory: where there are several, the others prepare or finish. */
static const struct device_launch *main_launch(const struct collection *c) {
    const struct device_launch *most = c->launches;
    for (int i = 1; i < c->n_launches; i++)
        if (c->launches[i].shared_bytes > most->shared_bytes) most = &c->launches[i];
    return most;
}

static const char *read_launch(struct collection *c) {
    const struct device_launch *l = main_launch(c);
    struct device_kernel_info kernel;
    const char *why = device_kernel_info(c->device, c->image, l->kernel, &kernel);
    if (why) return why;
    c->threads = (int)(l->block[0] * l->block[1] * l->block[2]);
    if (kernel.n_registers < 0)
        return reason("nobody here knows how many registers %s takes: no cubin was compiled for %s",
                      l->kernel, device_info(c->device)->chip.name);
    return occupancy_of(&device_info(c->device)->chip, kernel.n_registers, kernel.static_shared,
                        (int)l->shared_bytes, c->threads, &c->occupancy);
}

static const char *launch_value(const struct collection *c, const char *name, double *value) {
    const struct occupancy *o = &c->occupancy;
    const struct {
        const char *name;
        double value;
    } facts[] = {{"registers", o->registers},
                 {"shared_bytes", o->shared_bytes},
                 {"blocks_per_sm", o->blocks_per_sm},
                 {"occupancy_pct", o->pct},
                 {"warps", o->warps},
                 {"threads", c->threads}};
    if (*c->no_occupancy) return c->no_occupancy;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (!strcmp(facts[i].name, name)) {
            *value = facts[i].value;
            return NULL;
        }
    return reason("there is no launch.%s", name);
}

static const struct counter *find(const struct counter *all, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (!strcmp(all[i].name, name)) return &all[i];
    return NULL;
}

static const char *counter_value(const struct counter *c, const char *name, double *value) {
    if (!c) return reason("there is no %s", name);
    if (*c->reason) return c->reason;
    *value = c->value;
    return NULL;
}

/* A value that a predicted one went into is predicted. */
static const char *predicted_value(struct collection *c, const struct counter *of, const char *name,
                                   double *value) {
    if (of && *of->validated) memcpy(c->validated, of->validated, sizeof c->validated);
    return counter_value(of, name, value);
}

static const char *lookup(void *arg, const char *name, double *value) {
    struct collection *c = arg;
    if (!strncmp(name, "launch.", 7)) return launch_value(c, name + 7, value);
    if (!strncmp(name, "emu.", 4)) {
        if (*c->refused) return c->refused;
        const struct counter *found = find(c->emulated.counter, c->emulated.n, name + 4);
        return found ? counter_value(found, name, value)
                     : reason("the emulator does not count %s", name + 4);
    }
    if (!strncmp(name, "clock.", 6)) {
        if (*c->no_clock) return c->no_clock;
        const struct counter *found = find(c->clock.counter, c->clock.n, name + 6);
        return found ? predicted_value(c, found, name, value)
                     : reason("the clock does not say %s", name + 6);
    }
    if (!strncmp(name, "sass.", 5)) {
        if (*c->no_sass) return c->no_sass;
        const struct counter *found = find(c->sass.counter, c->sass.n, name + 5);
        return found ? counter_value(found, name, value)
                     : reason("of SASS %s is not counted", name + 5);
    }
    if (strstr(name, "__")) return c->gpu ? gpu_counts_value(c->gpu, name, value) : c->refused;
    return predicted_value(c, find(c->out->counter + c->first, c->out->n - c->first, name), name,
                           value);
}

/* A plain name has its own source; a formula makes a model of whatever is in it. */
static enum counter_source source_of(const struct collection *c, const char *formula) {
    if (!expression_is_name(formula)) return SOURCE_MODEL;
    if (!strcmp(formula, "launch.registers") || !strcmp(formula, "launch.shared_bytes"))
        return SOURCE_PTXAS;
    if (!strncmp(formula, "launch.", 7)) return SOURCE_MODEL;
    if (strstr(formula, "__"))
        return !strcmp(formula, "gpu__time_duration.sum") ? SOURCE_EVENT : SOURCE_CUPTI;
    const struct counter *found =
        !strncmp(formula, "emu.", 4) ? find(c->emulated.counter, c->emulated.n, formula + 4)
        : !strncmp(formula, "sass.", 5)
            ? find(c->sass.counter, c->sass.n, formula + 5)
            : find(c->out->counter + c->first, c->out->n - c->first, formula);
    return found ? found->source : SOURCE_MODEL;
}

/* ---- One group */

static const char *want(void *arg, const char *name) {
    struct collection *c = arg;
    bool metric = strstr(name, "__") != NULL;
    c->wants_counts |= !strncmp(name, "emu.", 4);
    c->wants_clock |= !strncmp(name, "clock.", 6);
    c->wants_sass |= !strncmp(name, "sass.", 5);
    return metric && c->gpu ? gpu_counts_want(c->gpu, name) : NULL;
}

static void evaluate(struct collection *c, const struct group_value *v, struct counter *counter) {
    const struct group_origin *origin = group_origin(v, c->place);
    const char *why = NULL;
    snprintf(counter->group, sizeof counter->group, "%s", c->group->name);
    snprintf(counter->name, sizeof counter->name, "%s", v->name);
    snprintf(counter->unit, sizeof counter->unit, "%s", v->unit);
    if (!origin) {
        why = reason("%s.txt has no line for %s: add one", c->group->name, c->place);
    } else if (!*origin->formula) {
        why = origin->reason;
    } else {
        snprintf(counter->metric, sizeof counter->metric, "%s", origin->formula);
        counter->source = source_of(c, origin->formula);
        *c->validated = 0;
        why = expression_evaluate(origin->formula, lookup, c, &counter->value);
        if (!why) memcpy(counter->validated, c->validated, sizeof counter->validated);
    }
    if (!why) return;
    if (!*c->failed && origin && *origin->formula) snprintf(c->failed, sizeof c->failed, "%s", why);
    counter->value = 0;
    snprintf(counter->reason, sizeof counter->reason, "%s", why);
}

/* Asks the hardware for what the group's formulas need. */
static const char *collect_group(struct collection *c) {
    const char *why = NULL;
    for (int i = 0; i < c->group->n && !why; i++) {
        const struct group_origin *origin = group_origin(&c->group->value[i], c->place);
        if (origin) why = expression_names(origin->formula, want, c);
    }
    if (!why && c->gpu) gpu_counts_collect(c->gpu);
    return why;
}

/* Calculates the group's values from what was collected. */
static const char *evaluate_group(struct collection *c) {
    struct counters *out = c->out;
    out->counter = heap_grown(out->counter, (size_t)(out->n + c->group->n) * sizeof *out->counter);
    memset(out->counter + out->n, 0, (size_t)c->group->n * sizeof *out->counter);
    c->first = out->n;
    for (int i = 0; i < c->group->n; i++) {
        evaluate(c, &c->group->value[i], &out->counter[out->n]);
        out->n++; /* the next value's formula may use this one */
    }
    return NULL;
}

static const char *for_each_group(struct collection *c, const char *groups,
                                  const char *(*act)(struct collection *c)) {
    char *names = heap_text(groups);
    const char *why = NULL;
    for (char *save, *name = strtok_r(names, ",", &save); name && !why;
         name = strtok_r(NULL, ",", &save)) {
        why = group_read(name, c->group);
        if (!why) why = act(c);
    }
    free(names);
    return why;
}

/* ---- All groups */

/* A run of the emulator's that was wrong, or that failed, is an error and not n/a. */
static const char *open_counts(struct collection *c) {
    const struct device_info *info = device_info(c->device);
    const char *why;
    if (info->is_emulator) {
        c->place = "emulator";
        why = NULL;
    } else {
        why = gpu_counts_open(c->device, c->image, c->launches, c->n_launches, &c->gpu);
        c->place = c->gpu ? gpu_counts_chip(c->gpu) : info->chip.family;
    }
    if (why) snprintf(c->refused, sizeof c->refused, "%s", why);
    why = read_launch(c);
    if (why && reason_status(why, STATUS_COUNTERS) != STATUS_COUNTERS) return why;
    if (why) snprintf(c->no_occupancy, sizeof c->no_occupancy, "%s", why);
    return NULL;
}

/* Runs the emulator for what the groups ask of it. Counts that are wrong, or that failed, are an
 * error and not n/a. */
static const char *emulate(struct collection *c) {
    const struct device_ops *ops = c->device->ops;
    const char *why;
    if (c->wants_counts) {
        why = ops->counters
                  ? ops->counters(c->device, c->image, c->launches, c->n_launches, &c->emulated)
                  : "this emulator does not count";
        if (why && reason_status(why, STATUS_COUNTERS) != STATUS_COUNTERS) return why;
        if (why) snprintf(c->refused, sizeof c->refused, "%s", why);
    }
    if (c->wants_clock) {
        why = ops->clock ? ops->clock(c->device, c->image, c->launches, c->n_launches, &c->clock)
                         : "this emulator has no clock";
        if (why) snprintf(c->no_clock, sizeof c->no_clock, "%s", why);
    }
    if (c->wants_sass) {
        why = ops->sass ? ops->sass(c->device, c->image, c->launches, c->n_launches, &c->sass)
                        : "this emulator executes no SASS";
        if (why) snprintf(c->no_sass, sizeof c->no_sass, "%s", why);
    }
    return NULL;
}

/* Every group named exists and parses, or nothing is run. */
const char *counters_check(const char *groups) {
    char *names = heap_text(groups);
    struct group *group = heap_take(sizeof *group);
    const char *why = NULL;
    int n = 0;
    for (char *save, *name = strtok_r(names, ",", &save); name && !why;
         name = strtok_r(NULL, ",", &save), n++)
        why = group_read(name, group);
    free(group);
    free(names);
    return why || n ? why : reason_as(STATUS_USAGE, "no counter group is named");
}

const char *counters_collect(struct device *d, struct device_image *image,
                             const struct device_launch *launches, int n, const char *groups,
                             struct counters *out) {
    struct collection c = {
        .device = d, .image = image, .launches = launches, .n_launches = n, .out = out};
    *out = (struct counters){0};
    if (n < 1) return "there is nothing to count: an empty problem launches no kernel";
    const char *why = counters_check(groups);
    if (why) return why;
    c.group = heap_take(sizeof *c.group);
    why = open_counts(&c);
    if (!why) why = for_each_group(&c, groups, collect_group);
    if (!why && device_info(d)->is_emulator) why = emulate(&c);
    if (!why && c.gpu) gpu_counts_finish(c.gpu);
    if (!why) why = for_each_group(&c, groups, evaluate_group);
    if (!why && *c.failed) { /* an error only if nothing else came of it */
        bool any = false;
        for (int i = 0; i < out->n; i++) any |= !*out->counter[i].reason;
        if (!any) why = reason_as(STATUS_COUNTERS, "%s", c.failed);
    }
    gpu_counts_close(c.gpu);
    counters_free(&c.emulated);
    counters_free(&c.clock);
    counters_free(&c.sass);
    free(c.group);
    if (why) counters_free(out);
    return why;
}

const char *counters_emulated(const struct counters *counts, const struct occupancy *occupancy,
                              const char *no_occupancy, const struct counters *clock,
                              const char *no_clock, int threads, const char *groups,
                              struct counters *out) {
    struct collection c = {.place = "emulator",
                           .emulated = *counts,
                           .no_sass = "SASS is executed of stages only, so far",
                           .threads = threads,
                           .out = out};
    *out = (struct counters){0};
    if (no_occupancy)
        snprintf(c.no_occupancy, sizeof c.no_occupancy, "%s", no_occupancy);
    else
        c.occupancy = *occupancy;
    if (no_clock)
        snprintf(c.no_clock, sizeof c.no_clock, "%s", no_clock);
    else
        c.clock = *clock;
    const char *why = counters_check(groups);
    if (why) return why;
    c.group = malloc(sizeof *c.group);
    why = c.group ? for_each_group(&c, groups, evaluate_group) : "no memory for counters";
    free(c.group);
    if (why) counters_free(out);
    return why;
}
