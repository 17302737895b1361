#include "tune.h"

#include "common/base/interrupt.h"
#include "common/base/reason.h"
#include "timing.h"

/* A way is timed for at most so long, twice. */
static const double tune_s = 0.05;

static const char *time_way(struct bench *b, const struct options *o, double *us) {
    struct timing t;
    const double min_time_s = o->min_time_s < tune_s ? o->min_time_s : tune_s;
    const char *why = timing_measure(b->device, b->image, b->plan.launch, b->plan.n_launches,
                                     o->cold, o->rest_ms, min_time_s, o->max_samples, &t);
    if (!why && (!*us || t.median_us < *us)) *us = t.median_us;
    return why;
}

const char *tune(struct bench *b, const struct options *o, struct tuned *out) {
    const struct device_info *info = device_info(b->device);
    *out = (struct tuned){0};
    if (!stage.choices)
        return reason_as(STATUS_USAGE, "stage %s has one way only: leave out --tune", stage.name);
    if (info->is_emulator)
        return reason_as(STATUS_NOTHING, "--tune times launches on a GPU, and the emulator "
                                         "measures no time: --explain prints what is expected");
    if (!b->plan.n_launches) return NULL;
    out->n = stage.choices(&b->problem, &info->chip, out->way, o->tune);
    /* The second time in the opposite order: a board slows down as it gets warm. */
    const char *why = NULL;
    for (int turn = 0; turn < 2 * out->n && !why && !interrupt_signal(); turn++) {
        const int i = turn < out->n ? turn : 2 * out->n - 1 - turn;
        if (!(why = bench_take(b, i))) why = time_way(b, o, &out->us[i]);
    }
    if (interrupt_signal()) out->n = 0; /* some were not timed */
    for (int i = 1; i < out->n; i++)
        if (out->us[i] < out->us[out->fastest]) out->fastest = i;
    return why ? why : bench_take(b, out->fastest);
}
