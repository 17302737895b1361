#include "counters.h"

#include "common/device/device_ops.h"
#include "emulator/sass/work.h"
#include "expression.h"
#include "gpu_counts.h"
#include "groups_folder.h"
#include "occupancy.h"
#include "common/base/reason.h"
#include "common/base/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the emulator says, by the prefix of the names. */
enum { COUNTED, PREDICTOR, SASS, SPACES };
static const struct {
    const char *prefix, *who, *absent;
} spaces[SPACES] = {
    [COUNTED] = {"emu.", "the emulator does not count", "this emulator does not count"},
    [PREDICTOR] = {"predictor.", "the predictor does not say", "this emulator has no predictor"},
    [SASS] = {"sass.", "the emulator of SASS does not count", "this emulator executes no SASS"},
};
struct space {
    bool wanted;         /* some formula names it */
    char refused[256];   /* not "": why there is nothing */
    enum status failure; /* what it then is: STATUS_UNSUPPORTED if none is to be had here */
    struct counters counters;
};

/* One call of counters_collect(). */
struct collection {
    struct device *device;
    struct device_image *image;
    const struct device_launch *launches;
    int n_launches;
    const char *place;       /* "GH100", "emulator": which line of a group counts */
    struct gpu_counts *gpu;  /* NULL: none, and `refused` says why */
    counters_metric *metric; /* the value of CUPTI's metric, or NULL: `refused` */
    void *metric_arg;
    counters_visit *visit; /* asks for a metric */
    void *visit_arg;
    char refused[256]; /* why */
    struct space space[SPACES];
    char validated[192]; /* of what was looked up for the value at work */
    char failed[256];    /* why the first value that could have been had was not */
    struct occupancy occupancy;
    char no_occupancy[256]; /* not "": why */
    int threads;
    struct group *group; /* the one at work */
    int first;           /* of its values in out->counter */
    struct counters *out;
};

/* ---- What names in a formula stand for */

static const char *read_launch(struct collection *c) {
    const struct device_launch *l = device_main_launch(c->launches, c->n_launches);
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

static const char no_launches[] = "the launches of a program are several, each with SMs of its own";

static const char *launch_value(const struct collection *c, const char *name, double *value) {
    const struct occupancy *o = &c->occupancy;
    const bool sms = c->device && c->n_launches;
    const struct {
        const char *name;
        double value;
        const char *unknown;
    } facts[] = {{"registers", o->registers, c->no_occupancy},
                 {"shared_bytes", o->shared_bytes, c->no_occupancy},
                 {"blocks_per_sm", o->blocks_per_sm, c->no_occupancy},
                 {"occupancy_pct", o->pct, c->no_occupancy},
                 {"warps", o->warps, c->no_occupancy},
                 {"threads", c->threads, c->no_occupancy},
                 {"sms", sms ? device_info(c->device)->chip.n_sms : 0, sms ? "" : no_launches},
                 {"busy_sms", sms ? device_busy_sms(c->device, c->launches, c->n_launches) : 0,
                  sms ? "" : no_launches}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (!strcmp(facts[i].name, name)) {
            *value = facts[i].value;
            return *facts[i].unknown ? facts[i].unknown : NULL;
        }
    return reason("there is no launch.%s", name);
}

static const struct counter *find(const struct counter *all, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (!strcmp(all[i].name, name)) return &all[i];
    return NULL;
}

static const char *counter_value(struct collection *c, const struct counter *of, double *value) {
    if (*of->reason) return of->reason;
    if (*of->validated) /* a value that a predicted one went into is predicted */
        memcpy(c->validated, of->validated, sizeof c->validated);
    *value = of->value;
    return NULL;
}

/* Of which of the emulator's spaces the name is; SPACES: of none. */
static int space_of(const char *name) {
    int i = 0;
    while (i < SPACES && strncmp(name, spaces[i].prefix, strlen(spaces[i].prefix))) i++;
    return i;
}

/* NULL: there is none. */
static const struct counter *find_named(const struct collection *c, const char *name) {
    const int s = space_of(name);
    const struct counters *in = s < SPACES ? &c->space[s].counters : c->out;
    const int first = s < SPACES ? 0 : c->first; /* of the group's own */
    return find(in->counter + first, in->n - first,
                s < SPACES ? name + strlen(spaces[s].prefix) : name);
}

static const char *lookup(void *arg, const char *name, double *value) {
    struct collection *c = arg;
    const int s = space_of(name);
    if (!strncmp(name, "launch.", 7)) return launch_value(c, name + 7, value);
    if (s < SPACES && *c->space[s].refused)
        return reason_as(c->space[s].failure, "%s", c->space[s].refused);
    if (strstr(name, "__")) return c->metric ? c->metric(c->metric_arg, name, value) : c->refused;
    const struct counter *found = find_named(c, name);
    if (found) return counter_value(c, found, value);
    if (s == SPACES) return reason("there is no %s", name);
    return reason("%s %s", spaces[s].who, name + strlen(spaces[s].prefix));
}

/* A plain name has its own source; a formula makes a model of whatever is in it. */
static enum counter_source source_of(const struct collection *c, const char *formula) {
    if (!expression_is_name(formula)) return SOURCE_MODEL;
    if (!strcmp(formula, "launch.registers") || !strcmp(formula, "launch.shared_bytes"))
        return SOURCE_PTXAS;
    if (!strncmp(formula, "launch.", 7)) return SOURCE_MODEL;
    if (strstr(formula, "__"))
        return !strcmp(formula, "gpu__time_duration.sum") ? SOURCE_EVENT : SOURCE_CUPTI;
    const struct counter *found = find_named(c, formula);
    return found ? found->source : SOURCE_MODEL;
}

/* ---- One group */

static const char *want(void *arg, const char *name) {
    struct collection *c = arg;
    bool metric = strstr(name, "__") != NULL;
    const int s = space_of(name);
    if (s < SPACES) c->space[s].wanted = true;
    if (s == SASS) c->space[COUNTED].wanted = true; /* says how much work it is */
    return metric && c->visit ? c->visit(c->visit_arg, name) : NULL;
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
        struct expression_choice from;
        expression_chosen(origin->formula, lookup, c, &from);
        if (from.lacks) snprintf(counter->note, sizeof counter->note, "%s", from.lacks);
        snprintf(counter->metric, sizeof counter->metric, "%s", from.text);
        counter->source = source_of(c, from.text);
        *c->validated = 0;
        why = expression_evaluate(from.text, lookup, c, &counter->value);
        if (!why) memcpy(counter->validated, c->validated, sizeof counter->validated);
    }
    if (!why) return;
    if (!*c->failed && origin && *origin->formula) snprintf(c->failed, sizeof c->failed, "%s", why);
    counter->value = 0;
    snprintf(counter->reason, sizeof counter->reason, "%s", why);
}

/* Asks for what the group's formulas need. */
static const char *want_group(struct collection *c) {
    const char *why = NULL;
    for (int i = 0; i < c->group->n && !why; i++) {
        const struct group_origin *origin = group_origin(&c->group->value[i], c->place);
        if (origin) why = expression_names(origin->formula, want, c);
    }
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

static const char *gpu_metric(void *arg, const char *name, double *value) {
    return gpu_counts_value(arg, name, value);
}
static const char *gpu_want(void *arg, const char *name) { return gpu_counts_want(arg, name); }

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
        c->metric_arg = c->visit_arg = c->gpu;
        c->metric = c->gpu ? gpu_metric : NULL;
        c->visit = c->gpu ? gpu_want : NULL;
    }
    if (why) snprintf(c->refused, sizeof c->refused, "%s", why);
    why = read_launch(c);
    if (why && reason_status(why, STATUS_COUNTERS) != STATUS_COUNTERS) return why;
    if (why) snprintf(c->no_occupancy, sizeof c->no_occupancy, "%s", why);
    return NULL;
}

/* Too much work to be executed again, instruction by instruction: the reason. It depends on the launches
 * only, not on the host, so that what is counted is the same on all. */
static const char *takes_long(const struct counters *counted) {
    const struct counter *instructions = find(counted->counter, counted->n, "instructions");
    const struct counter *flop = find(counted->counter, counted->n, "tensor_flop");
    double work = instructions ? instructions->value : 0;
    if (flop) work += flop->value / SASS_FLOP_WORK;
    if (work <= SASS_LARGE_WORK) return NULL;
    return reason_as(STATUS_UNSUPPORTED,
                     "no counts of SASS: so large a launch takes long (%.2g instructions, most "
                     "are %g): count a smaller one",
                     work, (double)SASS_LARGE_WORK);
}

/* Runs the emulator for what the groups ask of it. Counts that are wrong, or that failed, are an
 * error and not n/a. */
static const char *emulate(struct collection *c) {
    const struct device_ops *ops = c->device->ops;
    const char *(*const runs[SPACES])(struct device * d, struct device_image * image,
                                      const struct device_launch *launches, int n,
                                      struct counters *out) = {
        [COUNTED] = ops->counters, [PREDICTOR] = ops->predict, [SASS] = ops->sass};
    for (int s = 0; s < SPACES; s++) {
        struct space *space = &c->space[s];
        if (!space->wanted) continue;
        const char *why = s == SASS ? takes_long(&c->space[COUNTED].counters) : NULL;
        if (!why)
            why = runs[s]
                      ? runs[s](c->device, c->image, c->launches, c->n_launches, &space->counters)
                      : spaces[s].absent;
        if (why && s == COUNTED && reason_status(why, STATUS_COUNTERS) != STATUS_COUNTERS)
            return why;
        if (!why) continue;
        space->failure = reason_status(why, STATUS_UNSUPPORTED);
        snprintf(space->refused, sizeof space->refused, "%s", why);
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

void counters_prepare(struct device *d) { gpu_counts_prepare(d); }

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
    if (!why) why = for_each_group(&c, groups, want_group);
    if (!why && device_info(d)->is_emulator) why = emulate(&c);
    if (!why && c.gpu) gpu_counts_collect(c.gpu);
    if (!why) why = for_each_group(&c, groups, evaluate_group);
    if (!why && *c.failed) { /* an error only if nothing else came of it */
        bool any = false;
        for (int i = 0; i < out->n; i++) any |= !*out->counter[i].reason;
        if (!any) why = reason_as(STATUS_COUNTERS, "%s", c.failed);
    }
    gpu_counts_close(c.gpu);
    for (int i = 0; i < SPACES; i++) counters_free(&c.space[i].counters);
    free(c.group);
    if (why) counters_free(out);
    return why;
}

static const char *evaluate_all(struct collection *c, const struct occupancy *occupancy,
                                const char *no_occupancy, const char *groups) {
    *c->out = (struct counters){0};
    if (no_occupancy)
        snprintf(c->no_occupancy, sizeof c->no_occupancy, "%s", no_occupancy);
    else
        c->occupancy = *occupancy;
    const char *why = counters_check(groups);
    if (why) return why;
    c->group = heap_take(sizeof *c->group);
    why = for_each_group(c, groups, evaluate_group);
    free(c->group);
    if (why) counters_free(c->out);
    return why;
}

static void fill_space(struct space *s, const struct counters *counters, const char *lacks) {
    if (lacks)
        snprintf(s->refused, sizeof s->refused, "%s", lacks);
    else
        s->counters = *counters;
}

const char *counters_emulated(const struct counters_known *k, int threads, const char *groups,
                              struct counters *out) {
    struct collection c = {.place = "emulator", .threads = threads, .out = out};
    fill_space(&c.space[COUNTED], k->counted, NULL);
    fill_space(&c.space[SASS], k->sass, k->no_sass);
    fill_space(&c.space[PREDICTOR], k->predicted, k->no_prediction);
    return evaluate_all(&c, k->occupancy, k->no_occupancy, groups);
}

const char *counters_measured(const char *place, counters_metric *metric, void *arg,
                              const struct occupancy *occupancy, const char *no_occupancy,
                              int threads, const char *groups, struct counters *out) {
    struct collection c = {
        .place = place, .metric = metric, .metric_arg = arg, .threads = threads, .out = out};
    for (int i = 0; i < SPACES; i++)
        snprintf(c.space[i].refused, sizeof c.space[i].refused, "this is a GPU");
    return evaluate_all(&c, occupancy, no_occupancy, groups);
}

const char *counters_metrics(const char *place, const char *groups, counters_visit *visit,
                             void *arg) {
    struct collection c = {.place = place, .visit = visit, .visit_arg = arg};
    const char *why = counters_check(groups);
    if (why) return why;
    c.group = heap_take(sizeof *c.group);
    why = for_each_group(&c, groups, want_group);
    free(c.group);
    return why;
}
