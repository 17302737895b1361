/* What a run found out as a record (record.h). */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    if (a->dtype != DTYPE_FP16) record_set(problem, "dtype", json_string(dtype_name(a->dtype)));
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
                     record_real(attention_flops(&r->problem) / t->median_us * 1e-6), "source",
                     "event", "us", us, "clock_mhz", clock, "cycles", cycles, "no_clock", no_clock);
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

static json_t *record_tuned(const struct tuned *t) {
    json_t *all = json_array();
    for (int i = 0; i < t->n; i++)
        record_add(all, json_pack("{s:i, s:s, s:o, s:o, s:b}", "choice", i, "image",
                                  t->way[i].image, "expected_us", record_real(t->way[i].us), "us",
                                  record_real(t->us[i]), "taken", i == t->fastest));
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
    if (r->tuned.n) record_set(record, "tuned", record_tuned(&r->tuned));
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
