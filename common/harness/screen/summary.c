#include "summary.h"

#include "common/base/path.h"
#include "common/base/program.h"
#include "emulator/predictor/predictor_chip.h"
#include "profiler/stall_words.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* NaN: it is not there. */
static double value(const struct counters *c, const char *name) {
    const struct counter *x = counters_find(c, name);
    return x ? x->value : NAN;
}

/* ---- Time ---------------------------------------------------------------------------------------------- */

bool summary_predicted(struct screen *s, const struct counters *c, const struct chip *chip) {
    const struct counter *cycles = counters_find(c, "cycles_elapsed");
    const double us = value(c, "duration_us"), mhz = value(c, "mean_clock_mhz");
    char count[32], within[128], stages[160];
    if (!cycles || !*cycles->validated || !(us > 0)) return false;
    /* of several launches the cycles are the longest one's, and the time is the sum */
    const double sum = us * mhz > 1.001 * cycles->value ? us * mhz : cycles->value;
    predictor_chip_validated(chip->name, stages, sizeof stages);
    if (!strcmp(cycles->validated, stages) ||
        !predictor_chip_kind(chip->name, "cycles of programs", within, sizeof within))
        predictor_chip_kind(chip->name, "cycles", within, sizeof within);
    const char *about = strstr(cycles->validated, "; ");
    screen_say(s, 0, SCREEN_PLAIN, "time",
               "Predicted %.4g us for one launch alone: %s cycles at %.0f MHz. %s%s%s.", us,
               screen_count(sum, count), mhz,
               *within ? within : "No prediction for this chip was validated", about ? "; " : "",
               about ? about + 2 : "");
    return true;
}

void summary_kind(struct screen *s, const struct counters *c, const struct chip *chip,
                  const char *kind) {
    char within[128];
    int i = 0;
    while (i < c->n && !*c->counter[i].validated) i++;
    if (i == c->n) return;
    predictor_chip_kind(chip->name, kind, within, sizeof within);
    screen_say(s, 0, SCREEN_PLAIN, "predicted", "The %s: %s.", kind,
               *within ? within : "no prediction for this chip was validated");
}

/* FLOP a clock and SM that this chip's tensor cores reached under load (make ceilings); else the data sheet's. */
static double reached(const struct chip *chip, bool *measured) {
    char file[64], path[PATH_MAX], line[256];
    double per_clock = 0;
    snprintf(file, sizeof file, "chips/ceilings/%.32s.txt", chip->name);
    FILE *f = program_find(file, path, sizeof path) ? path_open(path) : NULL;
    while (f && fgets(line, sizeof line, f)) /* "WGMMA" flop 821.6 TFLOPS 1523 653 4087.7 ... */
        if (!strncmp(line, "\"WGMMA\" ", 8))
            if (sscanf(line + 8, "%*s %*f %*s %*f %*f %lf", &per_clock) != 1) per_clock = 0;
    if (f) fclose(f);
    *measured = per_clock > 0;
    return *measured ? per_clock : chip->tensor_flop_per_clk;
}

void summary_rate(struct screen *s, double flop, double cycles, double us,
                  const struct chip *chip) {
    bool measured;
    const double most = reached(chip, &measured) * chip->n_sms;
    if (!(us > 0) || !(flop > 0)) return;
    if (cycles > 0 && most > 0)
        screen_say(s, 0, SCREEN_PLAIN, "rate",
                   "%.4g TFLOPS, %.1f %% of what %s tensor cores reach at the same clock.",
                   flop / us * 1e-6, 100 * flop / cycles / most,
                   measured ? "this board's" : "the data sheet's");
    else
        screen_say(s, 0, SCREEN_PLAIN, "rate", "%.4g TFLOPS.", flop / us * 1e-6);
}

/* ---- Meters -------------------------------------------------------------------------------------------- */

static void meter_tensor(struct screen *s, const struct counters *c) {
    const double pct = value(c, "tensor_active_pct"), n = value(c, "tensor_instructions");
    const double hgmma = value(c, "hgmma_instructions");
    if (isnan(pct)) return;
    if (n == 0)
        screen_meter(s, SCREEN_PLAIN, "tensor pipe", pct, "No tensor instruction.");
    else
        screen_meter(s, SCREEN_PLAIN, "tensor pipe", pct, "of an SM's busy cycles%s",
                     isnan(n)    ? "."
                     : hgmma > 0 ? ", WGMMA."
                                 : ", HMMA.");
}

static void meter_conflicts(struct screen *s, const struct counters *c) {
    const double pct = value(c, "bank_conflict_pct");
    if (value(c, "shared_wavefronts") == 0)
        screen_meter(s, SCREEN_PLAIN, "bank conflicts", 0, "No access to shared memory.");
    if (isnan(pct)) return;
    screen_meter(s, pct < 5 ? SCREEN_PLAIN : SCREEN_WARN, "bank conflicts", pct, "%s",
                 pct > 0 ? "of shared memory wavefronts." : "None in shared memory.");
}

static void meter_occupancy(struct screen *s, const struct counters *c, const struct chip *chip) {
    const double most = value(c, "occupancy_theoretical_pct"),
                 is = value(c, "occupancy_achieved_pct");
    const double warps = chip->max_warps_per_sm / 100.0;
    if (isnan(is) && isnan(most)) return;
    if (isnan(is))
        screen_meter(s, SCREEN_PLAIN, "occupancy", most, "%.0f of %d warps fit.", most * warps,
                     chip->max_warps_per_sm);
    else if (isnan(most))
        screen_meter(s, SCREEN_PLAIN, "occupancy", is, "%.1f of %d warps.", is * warps,
                     chip->max_warps_per_sm);
    else
        screen_meter(s, SCREEN_PLAIN, "occupancy", is, "%.1f of %d warps; %.0f fit.", is * warps,
                     chip->max_warps_per_sm, most * warps);
}

void summary_meters(struct screen *s, const struct counters *c, const struct chip *chip) {
    meter_tensor(s, c);
    meter_conflicts(s, c);
    meter_occupancy(s, c, chip);
}

/* ---- Where warps spend their time ------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b) {
    const double x = (*(const struct counter *const *)a)->value,
                 y = (*(const struct counter *const *)b)->value;
    return (x < y) - (x > y);
}

void summary_stalls(struct screen *s, const struct counters *c) {
    enum { MOST = 32, SHOWN = 3 };
    const struct counter *state[MOST];
    char text[512] = "";
    double sum = 0;
    int n = 0;
    for (int i = 0; i < c->n && n < MOST; i++)
        if (!strncmp(c->counter[i].name, "stall_", 6) && !*c->counter[i].reason)
            sum += (state[n++] = &c->counter[i])->value;
    if (!(sum > 0)) return;
    qsort(state, (size_t)n, sizeof *state, by_value);
    for (int i = 0; i < n && i < SHOWN && state[i]->value > sum / 100; i++) {
        const size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%.0f %% %s", i ? "; " : "",
                 100 * state[i]->value / sum, stall_words(state[i]->name));
    }
    screen_say(s, 0, SCREEN_PLAIN, "warps", "%s.", text);
}

/* ---- What is missing --------------------------------------------------------------------------------------- */

void summary_missing(struct screen *s, const struct counters *c, const char *all) {
    const struct counter *first = NULL; /* best one that a formula was there for */
    int n = 0;
    for (int i = 0; i < c->n; i++) {
        const struct counter *x = &c->counter[i];
        if (!*x->reason) continue;
        n++;
        if (!first || (*x->metric && !*first->metric)) first = x;
    }
    if (n && *first->metric)
        screen_say(s, 2, SCREEN_PLAIN, "n/a", "%d of %d values; %s: %.200s.", n, c->n, first->name,
                   first->reason);
    else if (n)
        screen_say(s, 4, SCREEN_PLAIN, "n/a", "%d of %d values; %s says which and why.", n, c->n,
                   all);
}
