/* What a stage prints: one screen. Right? How fast? What limits it, and what next? */
#include "common/harness/report.h"

#include "beside.h"
#include "screen.h"
#include "summary.h"

#include <math.h>
#include <string.h>

struct gate_facts report_facts(const struct report *r) {
    return (struct gate_facts){&stage,   &r->problem, &r->device->chip,
                               &r->plan, r->kernel,   &r->counters};
}

static void say_title(struct screen *s, const struct report *r, const char *problem) {
    const struct options *o = r->options;
    const struct device_info *d = r->device;
    char inputs[96] = "inputs from files";
    if (!o->q_path)
        snprintf(inputs, sizeof inputs, "%.64s inputs, seed %llu", o->input,
                 (unsigned long long)o->seed);
    screen_title(s, "stage %s: %s, %s", stage.name, problem, inputs);
    if (d->is_emulator)
        screen_say(s, 0, SCREEN_PLAIN, "device", "The emulator stands for one %s.", d->chip.board);
    else
        screen_say(s, 0, SCREEN_PLAIN, "device", "%s%s%s, CUDA %s.", d->name,
                   *d->driver ? ", driver " : "", d->driver, d->toolkit);
}

static void say_verdict(struct screen *s, const struct report *r) {
    const struct check_result *c = &r->check;
    if (!r->checked) {
        screen_say(s, 0, SCREEN_WARN, "verdict", "NOT CHECKED%s.",
                   r->interrupted ? ": it was interrupted" : ", as --no-check says");
        return;
    }
    if (!c->passed)
        screen_say(s, 0, SCREEN_BAD, "verdict", "WRONG: %s.", c->why);
    else if (c->row_error > 0)
        screen_say(s, 0, SCREEN_GOOD, "verdict",
                   "RIGHT, %.1f times below the limit: the worst of %lld rows is off by %.1e.",
                   c->row_error_limit / c->row_error, (long long)c->rows_checked, c->row_error);
    else
        screen_say(s, 0, SCREEN_GOOD, "verdict", "RIGHT: %lld rows, no error.",
                   (long long)c->rows_checked);
}

static void say_measured(struct screen *s, const struct report *r) {
    const struct timing *t = &r->timing;
    char how[64], clock[64] = "";
    if (t->rest_ms >= 0)
        snprintf(how, sizeof how, "one launch after %d ms of rest", t->rest_ms);
    else
        snprintf(how, sizeof how, "launches back to back");
    if (t->clock_mhz > 0) snprintf(clock, sizeof clock, " at %.0f MHz", t->clock_mhz);
    if (r->tuned.n)
        screen_say(s, 1, SCREEN_PLAIN, "tuned", "%s is the fastest of %d ways that were timed%s.",
                   r->plan.image, r->tuned.n,
                   r->tuned.fastest ? "; the model expected another" : ", as the model expected");
    screen_say(s, 0, SCREEN_PLAIN, "time",
               "Measured %.4g us, %s%s, %s L2: the median of %d samples; half of them lie within "
               "%.2g us.",
               t->median_us, how, clock, t->cold ? "cold" : "warm", t->n, t->iqr_us);
    summary_rate(s, attention_flops(&r->problem), t->median_us * t->clock_mhz, t->median_us,
                 &r->device->chip);
}

static void say_time(struct screen *s, const struct report *r) {
    const struct counter *us = counters_find(&r->counters, "duration_us"),
                         *mhz = counters_find(&r->counters, "mean_clock_mhz");
    if (r->checked && !r->check.passed) {
        screen_say(s, 0, SCREEN_PLAIN, "time", "Not taken: the answer is wrong.");
    } else if (r->timed) {
        say_measured(s, r);
    } else if (r->device->is_emulator && summary_predicted(s, &r->counters, &r->device->chip)) {
        summary_rate(s, attention_flops(&r->problem), mhz ? us->value * mhz->value : 0, us->value,
                     &r->device->chip);
    } else {
        screen_say(s, 0, SCREEN_PLAIN, "time", "Not taken: %s.",
                   r->interrupted           ? "it was interrupted"
                   : !r->options->time      ? "--no-time"
                   : r->device->is_emulator ? "the emulator measures none, and predicts none here"
                                            : r->no_time);
    }
}

/* The share of a launch in which no CTA runs: before its first, or after its last. 0: not known. */
static double idle_pct(const struct report *r) {
    const struct counter *elapsed = counters_find(&r->counters, "cycles_elapsed"),
                         *active = counters_find(&r->counters, "cycles_active");
    const int n_sms = r->device->chip.n_sms;
    if (!elapsed || !active || r->plan.n_launches != 1 || !(elapsed->value > 0)) return 0;
    const unsigned *g = r->plan.launch[0].grid;
    const double busy = fmin((double)g[0] * g[1] * g[2], n_sms);
    return fmax(0, 100 * (1 - active->value * n_sms / busy / elapsed->value));
}

static void say_limits(struct screen *s, const struct report *r) {
    const double idle = idle_pct(r);
    const struct advice *first = r->n_advice ? r->advice : NULL, *next = NULL;
    const bool starts = idle > (first ? first->gain_pct : 3);
    if (starts)
        screen_say(s, 0, SCREEN_PLAIN, "limit",
                   "The launch: for %.0f %% of its cycles a busy SM has no CTA yet, or none any "
                   "more. A longer problem makes this share small.",
                   idle);
    if (first && !starts)
        screen_say(s, 0, SCREEN_PLAIN, "limit", "%s: %s (up to %.0f %% of the time).",
                   first->resource, first->text, first->gain_pct);
    for (int i = 0; i < r->n_advice && !next; i++)
        if (strstr(r->advice[i].text, "stage")) next = &r->advice[i];
    if (next && (starts || next != first))
        screen_say(s, 1, SCREEN_PLAIN, "next", "%s: %s (up to %.0f %% of the time).",
                   next->resource, next->text, next->gain_pct);
    if (!next && (first || starts))
        screen_say(s, 1, SCREEN_PLAIN, "next",
                   "make stage-%d whatif%s takes one limit after the other away.",
                   stage_number(stage.name), r->device->is_emulator ? "" : " DEVICE=emu");
    if (!first && !starts && (r->timed || r->counters.n))
        screen_say(s, 1, SCREEN_PLAIN, "limit",
                   "Nothing stands out in these counters: make stage-%d source names the lines.",
                   stage_number(stage.name));
}

/* "2.4 times as many as" of what is beside it. */
static void say_previous(const struct beside *own, bool cycles, const char *problem, char *out,
                         size_t bytes) {
    struct beside before;
    char count[32];
    *out = 0;
    if (!*stage.previous || !beside_find(stage.previous, problem, "", &before)) return;
    const double its = cycles ? before.cycles : before.us, mine = cycles ? own->cycles : own->us;
    if (!(its > 0)) return;
    if (cycles)
        screen_count(its, count);
    else
        snprintf(count, sizeof count, "%.4g us", its);
    snprintf(out, bytes, "; stage %d: %s (%.2f times as %s)", stage_number(stage.previous), count,
             its / mine, cycles ? "many" : "long");
}

/* Like is beside like: one launch's cycles beside one launch's, back to back beside back to back. */
static void say_beside(struct screen *s, const struct report *r, const char *problem) {
    const struct counter *cycles = counters_find(&r->counters, "cycles_elapsed");
    const bool predicted = cycles && *cycles->validated;
    struct beside own;
    char before[160], count[32], off[48] = "";
    if (strcmp(r->device->chip.name, "h200") || r->options->cold || r->options->rest_ms >= 0 ||
        (!predicted && !r->timed) || !beside_find(stage.name, problem, r->kernel_hash, &own))
        return;
    say_previous(&own, predicted, problem, before, sizeof before);
    const char *other = own.is_same ? "" : ", of another kernel than this";
    if (predicted && own.cycles > 0) {
        const double pct = 100 * (cycles->value / own.cycles - 1);
        if (own.is_same)
            snprintf(off, sizeof off, " (%.1f %% %s predicted)", fabs(pct),
                     pct < 0 ? "fewer were" : "more were");
        screen_say(s, 3, SCREEN_PLAIN, "beside", "One launch on a recorded H200%s: %s cycles%s%s.",
                   other, screen_count(own.cycles, count), off, before);
    } else if (r->timed && own.us > 0) {
        screen_say(s, 3, SCREEN_PLAIN, "beside", "A recorded H200, back to back%s: %.4g us%s.",
                   other, own.us, before);
    }
}

static void say_gates(struct screen *s, const struct report *r) {
    const struct gate_facts facts = report_facts(r);
    char failed[256] = "", beyond[512] = "", why[160];
    int n_passed = 0;
    for (int i = 0; i < GATE_COUNT; i++) {
        const struct gate *g = &r->gate[i];
        const size_t at = strlen(failed), end = strlen(beyond);
        n_passed += g->verdict == GATE_PASS;
        if (g->verdict != GATE_FAIL) continue;
        if (gate_out_of_reach(&facts, g, why))
            snprintf(beyond + end, sizeof beyond - end, "%s %s (%s)",
                     end ? "," : " Cannot pass at this problem:", g->name, why);
        else
            snprintf(failed + at, sizeof failed - at, "%s %s (%.3g, wanted %s)", at ? "," : "",
                     g->name, g->value, g->limit);
    }
    const char *end = *beyond ? "." : "";
    if (*failed)
        screen_say(s, 2, SCREEN_WARN, "gates",
                   "Of speed, not of the answer. FAILED:%s. %d passed.%s%s", failed, n_passed,
                   beyond, end);
    else if (n_passed || *beyond)
        screen_say(s, 2, SCREEN_PLAIN, "gates", "%d passed.%s%s", n_passed, beyond, end);
}

void report_screen(const struct report *r, FILE *f) {
    struct screen s;
    char problem[128];
    const int n = stage_number(stage.name);
    const bool wrong = r->checked && !r->check.passed;
    screen_open(&s, f);
    attention_describe(&r->problem, problem, sizeof problem);
    say_title(&s, r, problem);
    screen_gap(&s);
    say_verdict(&s, r);
    say_time(&s, r);
    if (*r->no_counters) screen_say(&s, 0, SCREEN_WARN, "counters", "None: %s.", r->no_counters);
    screen_gap(&s);
    summary_meters(&s, &r->counters, &r->device->chip);
    summary_stalls(&s, &r->counters);
    screen_gap(&s);
    if (!wrong) {
        say_limits(&s, r);
        say_beside(&s, r, problem);
        say_gates(&s, r);
    }
    summary_missing(&s, &r->counters, "--all");
    if (r->interrupted)
        screen_say(&s, 0, SCREEN_WARN, "run", "INTERRUPTED: this is what there is.");
    screen_say(&s, 5, SCREEN_PLAIN, "more",
               "make stage-%d source: its lines. ARGS=--all: every value and where it comes from.",
               n);
    screen_print(&s, f);
}
