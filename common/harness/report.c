#include "report.h"

#include "common/base/revision.h"
#include "emulator/predictor/predictor_chip.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* CSV: stage, problem and device before, and why there is no value behind; its values are numbers. */
static const char *const headings[] = {"stage", "problem", "device", "group", "name",
                                       "value", "unit",    "source", "note",  "na"};
enum { N_COLUMNS = 6, N_PREFIX = 3, N_CSV = N_PREFIX + N_COLUMNS + 1 };

/* Where rows go: the table, and what CSV rows begin with. */
struct printer {
    struct table table;
    const char *prefix[N_PREFIX];
    bool csv;
};

/* Of the median. */
static double tflops(const struct report *r) {
    return attention_flops(&r->problem) / r->timing.median_us * 1e-6;
}

static void add_row(struct printer *p, const char *const cells[N_CSV]) {
    table_row(&p->table, p->csv ? cells : cells + N_PREFIX);
}

/* "12", "3.142", "2.1e-04": whole numbers whole, others to four digits. */
static const char *number(double x, char out[32]) {
    if (x == floor(x) && fabs(x) < 1e15)
        snprintf(out, 32, "%.0f", x);
    else
        snprintf(out, 32, fabs(x) < 1e-2 ? "%.1e" : "%.4g", x);
    return out;
}

__attribute__((format(printf, 7, 8))) static void row(struct printer *p, const char *group,
                                                      const char *name, double value,
                                                      const char *unit, const char *source,
                                                      const char *format, ...) {
    char note[512], text[32];
    va_list args;
    va_start(args, format);
    vsnprintf(note, sizeof note, format, args);
    va_end(args);
    if (p->csv)
        snprintf(text, sizeof text, "%.15g", value);
    else
        number(value, text);
    add_row(p, (const char *[N_CSV]){p->prefix[0], p->prefix[1], p->prefix[2], group, name, text,
                                     unit, source, note, ""});
}

static void row_verdict(struct printer *p, const char *group, const char *name, bool passed,
                        const char *source, const char *note) {
    const char *text = p->csv ? passed ? "1" : "0" : passed ? "PASS" : "FAIL";
    add_row(p, (const char *[N_CSV]){p->prefix[0], p->prefix[1], p->prefix[2], group, name, text,
                                     p->csv ? "passed" : "", source, note, ""});
}

static void row_na(struct printer *p, const char *group, const char *name, const char *why) {
    char text[REPORT_WHY_BYTES + 8] = "";
    if (!p->csv) snprintf(text, sizeof text, "n/a (%s)", why);
    add_row(p, (const char *[N_CSV]){p->prefix[0], p->prefix[1], p->prefix[2], group, name, text,
                                     "", "", "", why});
}

static void rows_check(const struct report *r, struct printer *p) {
    const struct check_result *c = &r->check;
    char text[80];
    if (!r->checked) {
        row_na(p, "check", "verdict", r->interrupted ? "interrupted" : "--no-check");
        return;
    }
    snprintf(text, sizeof text, "%lld rows against double, all 8 points",
             (long long)c->rows_checked);
    row_verdict(p, "check", "verdict", c->passed, "check", c->passed ? text : c->why);
    row(p, "check", "row_error", c->row_error, "", "check", "<= %g, row %lld", c->row_error_limit,
        (long long)c->worst_row);
    row(p, "check", "max_error", c->max_error, "", "check", "<= %.2g", c->max_error_limit);
    row(p, "check", "lse_error", c->lse_error, "", "check", "<= %g", c->lse_error_limit);
    row(p, "check", "non_finite", (double)c->non_finite, "", "check", "%s", "");
}

static void rows_kernel(const struct report *r, struct printer *p) {
    for (int i = 0; i < r->plan.n_launches; i++) {
        const struct device_launch *l = &r->plan.launch[i];
        const struct device_kernel_info *k = &r->kernel[i];
        if (k->n_registers < 0) {
            row_na(p, "kernel", l->kernel, "registers: PTX has none of its own");
            continue;
        }
        row(p, "kernel", l->kernel, k->n_registers, "registers", "ptxas",
            "%s, grid %ux%ux%u, block %u, %u bytes shared, %d local", r->plan.image, l->grid[0],
            l->grid[1], l->grid[2], l->block[0] * l->block[1] * l->block[2],
            l->shared_bytes + (unsigned)k->static_shared, k->local_bytes);
    }
}

/* In a table what is predicted says so: its head says how good that is, once. */
static const char *source_of(const struct printer *p, const struct counter *c) {
    return !p->csv && *c->validated ? "predicted" : counter_source_name(c->source);
}

/* Between groups of a table stands an empty line. */
static void row_gap(struct printer *p) {
    if (!p->csv) add_row(p, (const char *[N_CSV]){NULL});
}

/* The predicted time: predicted cycles at a given sm_clock. False if there is none. */
static bool rows_predicted(const struct report *r, struct printer *p) {
    const struct counter *us = NULL, *mhz = NULL;
    for (int i = 0; i < r->counters.n && r->device->is_emulator; i++) {
        const struct counter *c = &r->counters.counter[i];
        if (!strcmp(c->name, "duration_us") && !*c->reason) us = c;
        if (!strcmp(c->name, "mean_clock_mhz") && !*c->reason) mhz = c;
    }
    if (!us || !mhz) return false;
    row(p, "time", "predicted", us->value, "us", source_of(p, us), "%.0f cycles at %g MHz%s%s",
        us->value * mhz->value, mhz->value, p->csv ? "; " : ", one launch alone",
        p->csv ? us->validated : "");
    row(p, "time", "rate", attention_flops(&r->problem) / us->value * 1e-6, "TFLOPS", "model",
        "%.4g FLOP / predicted", attention_flops(&r->problem));
    return true;
}

static void rows_tuned(const struct report *r, struct printer *p) {
    for (int i = 0; i < r->tuned.n; i++)
        row(p, "tune", r->tuned.way[i].image, r->tuned.us[i], "us", "event",
            "choice %d, expected %.4g%s", i, r->tuned.way[i].us,
            i == r->tuned.fastest ? ": taken" : "");
    if (r->tuned.n) row_gap(p);
}

static void rows_time(const struct report *r, struct printer *p) {
    const struct timing *t = &r->timing;
    if (r->timed) {
        row(p, "time", "median", t->median_us, "us", "event",
            "n %d, IQR %.3g, min %.4g; %d run%s a sample, %s L2%s", t->n, t->iqr_us, t->min_us,
            t->launches_per_sample, t->launches_per_sample == 1 ? "" : "s",
            t->cold ? "cold" : "warm", t->rest_ms >= 0 ? ", burst" : "");
        row(p, "time", "rate", tflops(r), "TFLOPS", "model", "%.4g FLOP / median",
            attention_flops(&r->problem));
        if (t->clock_mhz > 0) {
            row(p, "time", "cycles", floor(t->median_us * t->clock_mhz), "", "model",
                "of an SM: median * clock");
            row(p, "time", "clock", floor(t->clock_mhz), "MHz", "clock64",
                "mean of the samples, of all SMs");
        } else {
            row_na(p, "time", "clock", t->no_clock);
        }
        if (t->clock_mhz_before)
            row(p, "time", "board_clock", t->clock_mhz_before, "MHz", "nvml",
                "before; %d after: not the clock of the samples", t->clock_mhz_after);
        else
            row_na(p, "time", "board_clock", "no NVML");
    } else if (!rows_predicted(r, p) && *r->no_time) {
        row_na(p, "time", "median", r->no_time);
    }
}

static void rows_counters(const struct report *r, struct printer *p) {
    if (*r->no_counters) row_na(p, "counters", r->options->counters, r->no_counters);
    const char *said = ""; /* one refusal can take many values: its sentence is printed once */
    const char *noted = "";
    for (int i = 0; i < r->counters.n; i++) {
        const struct counter *c = &r->counters.counter[i];
        const bool quality = p->csv && *c->validated;
        if (!i || strcmp(c->group, c[-1].group)) row_gap(p);
        if (*c->reason) {
            const bool again = !p->csv && !strcmp(c->reason, said);
            row_na(p, c->group, c->name, again ? "as above" : c->reason);
            said = c->reason;
        } else {
            const bool notes = *c->note && (p->csv || strcmp(c->note, noted));
            const bool alone = !p->csv && r->timed && !strcmp(c->name, "duration_us");
            row(p, c->group, c->name, c->value, c->unit, source_of(p, c), "%s%s%s%s%s%s",
                alone ? "one launch alone, not back to back as the median: " : "", c->metric,
                quality ? "; " : "", quality ? c->validated : "", notes ? "; " : "",
                notes ? c->note : "");
            if (*c->note) noted = c->note;
        }
    }
}

static void rows_gates(const struct report *r, struct printer *p) {
    char text[32], note[512], why[160], beyond[REPORT_WHY_BYTES];
    const struct gate_facts facts = report_facts(r);
    row_gap(p);
    for (int i = 0; i < GATE_COUNT; i++) {
        const struct gate *g = &r->gate[i];
        if (g->verdict == GATE_NA) {
            row_na(p, "gate", g->name, g->why);
        } else if (!p->csv && gate_out_of_reach(&facts, g, why)) {
            snprintf(beyond, sizeof beyond, "cannot pass at this problem: %s; here %s", why,
                     number(g->value, text));
            row_na(p, "gate", g->name, beyond);
        } else {
            snprintf(note, sizeof note, "%s %s, wanted %s", g->why, number(g->value, text),
                     g->limit);
            row_verdict(p, "gate", g->name, g->verdict == GATE_PASS, counter_source_name(g->source),
                        note);
        }
    }
}

static void rows_advice(const struct report *r, struct printer *p) {
    if (r->n_advice) row_gap(p);
    for (int i = 0; i < r->n_advice; i++) {
        const struct advice *a = &r->advice[i];
        row(p, "advice", a->resource, p->csv ? a->gain_pct : round(a->gain_pct), "% of time",
            "model", "%s", a->text);
    }
}

/* "stage 1-scalar: B1 H8 S512 D64, normal inputs, seed 1, on NVIDIA H200 (GH100, driver ...)" */
static void print_title(const struct report *r, const char *problem) {
    const struct device_info *d = r->device;
    const struct options *o = r->options;
    printf("stage %s: %s, ", stage.name, problem);
    if (o->q_path)
        printf("inputs from files");
    else
        printf("%s inputs, seed %llu", o->input, (unsigned long long)o->seed);
    printf(", on %s (%s", d->name, d->chip.family);
    if (*d->driver) printf(", driver %s", d->driver);
    printf(", CUDA %s), revision %s\n", d->toolkit, revision());
}

static double value_of(const struct report *r, const char *name) {
    const struct counter *c = counters_find(&r->counters, name);
    return c && !*c->reason ? c->value : NAN;
}

/* Where the cycles of a GPU would lie. */
static void print_interval(const struct report *r) {
    const double cycles = value_of(r, "cycles_elapsed");
    struct predictor_interval i;
    if (isnan(cycles) ||
        !predictor_chip_interval(r->device->chip.name, value_of(r, "tensor_active_pct"),
                                 value_of(r, "issue_active_pct"), &i))
        return;
    printf("  interval of cycles_elapsed: 80 %% %.0f to %.0f, 95 %% %.0f to %.0f, by %d validated "
           "cases (%s)\n",
           cycles * i.low80, cycles * i.high80, cycles * i.low95, cycles * i.high95, i.n_cases,
           strcmp(i.family, "all") ? i.family : "of every kind");
}

/* How good predictions were, once, and for each kind of value: those are validated apart. */
static void print_quality(const struct report *r) {
    static const char *const kinds[] = {"cycles", "tensor pipe", "occupancy", "stalls"};
    char text[128];
    int i = 0;
    while (i < r->counters.n && !*r->counters.counter[i].validated) i++;
    if (i == r->counters.n) return;
    printf("predicted values: %s\n", r->counters.counter[i].validated);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (predictor_chip_kind(r->device->chip.name, kinds[k], text, sizeof text))
            printf("  %s: %s\n", kinds[k], text);
    print_interval(r);
}

void report_print(const struct report *r) {
    char problem[128];
    if (!r->options->csv && !r->options->all) {
        report_screen(r, stdout);
        return;
    }
    attention_describe(&r->problem, problem, sizeof problem);
    struct printer p = {.prefix = {stage.name, problem, r->device->name}, .csv = r->options->csv};
    table_open(&p.table, p.csv ? N_CSV : N_COLUMNS, p.csv ? headings : headings + N_PREFIX);
    rows_check(r, &p);
    row_gap(&p);
    rows_kernel(r, &p);
    row_gap(&p);
    rows_tuned(r, &p);
    rows_time(r, &p);
    rows_counters(r, &p);
    rows_gates(r, &p);
    rows_advice(r, &p);
    if (r->interrupted) row(&p, "run", "interrupted", 1, "", "", "%s", "");
    if (!p.csv) {
        print_title(r, problem);
        print_quality(r);
        putchar('\n');
    }
    if (p.csv)
        table_print_csv(&p.table, stdout);
    else
        table_print(&p.table, stdout), putchar('\n');
    table_close(&p.table);
}
