#include "report.h"

#include "common/base/revision.h"

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
    row(p, "check", "lse_error", c->lse_error, "", "check", "<= 0.001");
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

/* The predicted time: predicted cycles at a given sm_clock. False if there is none. */
static bool rows_predicted(const struct report *r, struct printer *p) {
    const struct counter *us = NULL, *mhz = NULL;
    for (int i = 0; i < r->counters.n && r->device->is_emulator; i++) {
        const struct counter *c = &r->counters.counter[i];
        if (!strcmp(c->name, "duration_us") && !*c->reason) us = c;
        if (!strcmp(c->name, "mean_clock_mhz") && !*c->reason) mhz = c;
    }
    if (!us || !mhz) return false;
    row(p, "time", "predicted", us->value, "us", "model", "%.0f cycles at %g MHz; %s",
        us->value * mhz->value, mhz->value, us->validated);
    row(p, "time", "rate", attention_flops(&r->problem) / us->value * 1e-6, "TFLOPS", "model",
        "%.4g FLOP / predicted", attention_flops(&r->problem));
    return true;
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
        if (*c->reason) {
            const bool again = !p->csv && !strcmp(c->reason, said);
            row_na(p, c->group, c->name, again ? "as above" : c->reason);
            said = c->reason;
        } else {
            const bool notes = *c->note && (p->csv || strcmp(c->note, noted));
            row(p, c->group, c->name, c->value, c->unit, counter_source_name(c->source),
                "%s%s%s%s%s", c->metric, *c->validated ? "; " : "", c->validated, notes ? "; " : "",
                notes ? c->note : "");
            if (*c->note) noted = c->note;
        }
    }
}

static void rows_gates(const struct report *r, struct printer *p) {
    char text[32], note[512];
    for (int i = 0; i < GATE_COUNT; i++) {
        const struct gate *g = &r->gate[i];
        if (g->verdict == GATE_NA)
            row_na(p, "gate", g->name, g->why);
        else {
            snprintf(note, sizeof note, "%s %s, wanted %s", g->why, number(g->value, text),
                     g->limit);
            row_verdict(p, "gate", g->name, g->verdict == GATE_PASS, counter_source_name(g->source),
                        note);
        }
    }
}

static void rows_advice(const struct report *r, struct printer *p) {
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

void report_print(const struct report *r) {
    char problem[128];
    attention_describe(&r->problem, problem, sizeof problem);
    struct printer p = {.prefix = {stage.name, problem, r->device->name}, .csv = r->options->csv};
    table_open(&p.table, p.csv ? N_CSV : N_COLUMNS, p.csv ? headings : headings + N_PREFIX);
    rows_check(r, &p);
    rows_kernel(r, &p);
    rows_time(r, &p);
    rows_counters(r, &p);
    rows_gates(r, &p);
    rows_advice(r, &p);
    if (r->interrupted) row(&p, "run", "interrupted", 1, "", "", "%s", "");
    if (!p.csv) print_title(r, problem);
    if (p.csv)
        table_print_csv(&p.table, stdout);
    else
        table_print(&p.table, stdout), putchar('\n');
    table_close(&p.table);
}

/* ---- The record ----------------------------------------------------------------------------- */

static json_t *record_problem(const struct report *r) {
    static const char *const masks[] = {"none", "bottom-right", "top-left"};
    const struct attention *a = &r->problem;
    const struct options *o = r->options;
    char text[128];
    attention_describe(a, text, sizeof text);
    json_t *problem = json_pack(
        "{s:i, s:i, s:i, s:i, s:i, s:i, s:s, s:o, s:s, s:o, s:s}", "batch", a->batch, "heads",
        a->heads, "kv_heads", a->kv_heads, "seqlen_q", a->seqlen_q, "seqlen_k", a->seqlen_k,
        "head_dim", a->head_dim, "mask", masks[a->mask], "scale", record_real(a->scale), "input",
        o->q_path ? "file" : o->input, "flops", record_real(attention_flops(a)), "text", text);
    if (!o->q_path) record_set(problem, "seed", json_integer((json_int_t)o->seed));
    return problem;
}

static json_t *record_check(const struct check_result *c) {
    json_t *check = json_pack(
        "{s:b, s:o, s:o, s:o, s:o, s:o, s:I, s:I}", "passed", c->passed, "row_error",
        record_real(c->row_error), "row_error_limit", record_real(c->row_error_limit), "max_error",
        record_real(c->max_error), "max_error_limit", record_real(c->max_error_limit), "lse_error",
        record_real(c->lse_error), "non_finite", (json_int_t)c->non_finite, "rows_checked",
        (json_int_t)c->rows_checked);
    if (!c->passed) record_set(check, "why", json_string(c->why));
    return check;
}

static json_t *record_samples(const struct report *r) {
    const struct timing *t = &r->timing;
    json_t *rest = t->rest_ms >= 0 ? json_integer(t->rest_ms) : NULL;
    json_t *us = json_array();
    for (int i = 0; i < t->n_kept; i++)
        record_add(us, record_real(round(t->kept_us[i] * 1e4) / 1e4));
    json_t *clock = t->clock_mhz > 0 ? record_real(t->clock_mhz) : NULL;
    json_t *cycles = clock ? record_real(floor(t->median_us * t->clock_mhz)) : NULL;
    json_t *no_clock = clock ? NULL : json_string(t->no_clock);
    return json_pack("{s:i, s:o, s:o, s:o, s:s, s:o*, s:i, s:o, s:s, s:o, s:o*, s:o*, s:o*}", "n",
                     t->n, "median_us", record_real(t->median_us), "iqr_us", record_real(t->iqr_us),
                     "min_us", record_real(t->min_us), "l2", t->cold ? "cold" : "warm", "rest_ms",
                     rest, "launches_per_sample", t->launches_per_sample, "tflops",
                     record_real(tflops(r)), "source", "event", "us", us, "clock_mhz", clock,
                     "cycles", cycles, "no_clock", no_clock);
}

static json_t *record_kernels(const struct report *r) {
    json_t *all = json_array();
    for (int i = 0; i < r->plan.n_launches; i++) {
        const struct device_launch *l = &r->plan.launch[i];
        const struct device_kernel_info *k = &r->kernel[i];
        json_t *one = json_pack(
            "{s:s, s:s, s:i, s:[iii], s:[iii]}", "name", l->kernel, "image", r->plan.image,
            "shared_bytes", (int)l->shared_bytes + k->static_shared, "grid", l->grid[0], l->grid[1],
            l->grid[2], "block", l->block[0], l->block[1], l->block[2]);
        if (*r->kernel_hash) record_set(one, "hash", json_string(r->kernel_hash));
        if (k->n_registers >= 0) {
            record_set(one, "registers", json_integer(k->n_registers));
            record_set(one, "local_bytes", json_integer(k->local_bytes));
        }
        record_add(all, one);
    }
    return all;
}

static json_t *record_gates(const struct gate *gate) {
    json_t *all = json_array();
    for (int i = 0; i < GATE_COUNT && gate[i].name; i++) {
        json_t *one = json_pack("{s:s, s:s, s:s, s:s}", "name", gate[i].name, "verdict",
                                gate_verdict_name(gate[i].verdict), "limit", gate[i].limit, "why",
                                gate[i].why);
        if (gate[i].has_value) {
            record_set(one, "value", record_real(gate[i].value));
            record_set(one, "source", json_string(counter_source_name(gate[i].source)));
        }
        record_add(all, one);
    }
    return all;
}

static json_t *record_advice(const struct report *r) {
    json_t *all = json_array();
    for (int i = 0; i < r->n_advice; i++)
        record_add(all, json_pack("{s:s, s:o, s:s}", "resource", r->advice[i].resource, "gain_pct",
                                  record_real(r->advice[i].gain_pct), "text", r->advice[i].text));
    return all;
}

json_t *report_record(const struct report *r, int argc, char **argv) {
    json_t *record = record_new(argc, argv);
    record_set(record, "stage", json_string(stage.name));
    record_set(record, "problem", record_problem(r));
    record_set(record, "device",
               record_device(r->device, r->timing.clock_mhz_before, r->timing.clock_mhz_after));
    if (r->checked) record_set(record, "check", record_check(&r->check));
    record_set(record, "kernels", record_kernels(r));
    if (r->timed)
        record_set(record, "samples", record_samples(r));
    else if (*r->no_time)
        record_set(record, "samples", json_pack("{s:s}", "na", r->no_time));
    record_set(record, "counters", record_counters(&r->counters));
    if (*r->no_counters) record_set(record, "no_counters", json_string(r->no_counters));
    record_set(record, "gates", record_gates(r->gate));
    record_set(record, "advice", record_advice(r));
    record_set(record, "interrupted", json_boolean(r->interrupted));
    return record;
}
