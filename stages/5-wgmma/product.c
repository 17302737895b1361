/* One product: multiplied, judged, measured, counted; printed and recorded. */
#include "product.h"
#include "common/base/path.h"
#include "common/base/heap.h"
#include "common/base/reason.h"
#include "common/harness/check.h"
#include "common/harness/record.h"
#include "common/harness/run.h"
#include "common/harness/stage.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* CSV has a column more, why there is no value; its values are numbers. */
static void row(struct product *r, const char *name, const char *value, const char *unit,
                const char *source, const char *note) {
    table_row(&r->table, (const char *const[]){name, value, unit, source, note, ""});
}

static void row_number(struct product *r, const char *name, double value, const char *format,
                       const char *unit, const char *source, const char *note) {
    char text[32];
    snprintf(text, sizeof text, r->options->csv ? "%.15g" : format, value);
    row(r, name, text, unit, source, note);
}

static void row_missing(struct product *r, const char *name, const char *why) {
    char text[300] = "";
    if (!r->options->csv) snprintf(text, sizeof text, "n/a (%s)", why);
    table_row(&r->table, (const char *const[]){name, text, "", "", "", why});
}

/* C = A B^T, once. What the emulator's checker says of a planted mistake is a result. */
static const char *multiply(struct product *r) {
    const struct experiment *e = r->experiment;
    struct placed p = {0};
    struct device_image *image = NULL;
    char name[48];
    const char *why = placed_make(r->device, e, &r->matrices, 0, &p);
    if (!why)
        why = device_load(r->device, stage_image_folder(stage.name), experiment_image(e, name),
                          &image);
    if (!why) {
        struct device_launch launch = {
            .grid = {1, 1, 1}, .block = {128, 1, 1}, .shared_bytes = r->matrices.args.tile_bytes};
        snprintf(launch.kernel, sizeof launch.kernel, "multiply_%s_%c_%c",
                 e->a_in_registers ? "regs" : "smem", e->a_m_major ? 'm' : 'k',
                 e->b_n_major ? 'n' : 'k');
        device_launch_arg(&launch, &p.args, sizeof p.args);
        why = device_launch(r->device, image, &launch);
        if (!why) why = device_sync(r->device);
        if (why && device_info(r->device)->is_emulator && e->mistake) {
            r->objection = why;
            why = NULL;
        }
    }
    if (!why) why = device_copy_out(r->device, r->c, p.c, sizeof(float) * WGMMA_M * e->n);
    device_unload(r->device, image);
    placed_free(r->device, &p);
    return why;
}

static void report_check(struct product *r) {
    const struct verdict *v = &r->verdict;
    const bool right = v->n_wrong == 0 && !r->objection, csv = r->options->csv;
    row(r, "check",
        csv     ? right ? "1" : "0"
        : right ? "PASS"
                : "FAIL",
        csv ? "passed" : "", "model",
        "error <= 17 * 2^(e_max - 25) + 2^(e - 23) for every element");
    row_number(r, "wrong", v->n_wrong, "%.0f", "elements", "model", "further off than that bound");
    row_number(r, "max_error", v->max_error, "%.3g", "", "model", "against double; wanted < 1e-2");
    row_number(r, "mean_error", v->mean_error, "%.3g", "", "model", "wanted < 1e-3");
    row_number(r, "of_bound", v->worst_of_bound, "%.3f", "", "model", "worst error over its bound");
    char hash[24];
    uint64_t bits = check_hash(r->c, sizeof(float) * v->n_elements);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)bits);
    if (csv)
        row(r, "hash", "", "", "model", hash);
    else
        row(r, "hash", hash, "", "model", "of C, bit for bit: the emulator's is an H200's");
    json_t *check = json_pack("{sb,si,si,ss}", "passed", right, "wrong", v->n_wrong, "elements",
                              v->n_elements, "hash", hash);
    if (isfinite(v->max_error)) {
        json_object_set_new(check, "max_error", json_real(v->max_error));
        json_object_set_new(check, "mean_error", json_real(v->mean_error));
    }
    record_set(r->record, "check", check);
}

static void report_time(struct product *r) {
    const struct experiment *e = r->experiment;
    const struct chip *chip = &device_info(r->device)->chip;
    const struct measurement isolated = {1, 0, 1, 1}, steady = {4, 1, 1, 1},
                             all_sms = {4, 1, 1, chip->n_sms};
    struct cycles alone, apart;
    double tflops, flop = 2.0 * WGMMA_M * WGMMA_K * e->n;
    const char *why = measure_cycles(r->device, e, &isolated, &alone);
    if (!why) why = measure_cycles(r->device, e, &steady, &apart);
    if (!why) why = measure_chip(r->device, e, &all_sms, &tflops);
    if (why) {
        snprintf(r->no_time, sizeof r->no_time, "%s", why);
        row_missing(r, "cycles", why);
        record_set(r->record, "cycles", json_pack("{ss}", "na", why));
        return;
    }
    double peak_pct = 100 * flop / apart.median / chip->tensor_flop_per_clk;
    r->alone = alone;
    r->apart = apart;
    r->tflops = tflops;
    char note[96];
    snprintf(note, sizeof note, "issue, commit, wait; n %d, IQR %.2f", alone.n, alone.iqr);
    row_number(r, "isolated", alone.median, "%.1f", "cycles", "clock64", note);
    snprintf(note, sizeof note, "4 a group, 1 group ahead; n %d, IQR %.2f", apart.n, apart.iqr);
    row_number(r, "steady", apart.median, "%.2f", "cycles", "clock64", note);
    row_number(r, "model", model_cycles(e), "%.2f", "cycles", "model",
               e->a_in_registers ? "N/2" : "max(N/2, 16 + N/4)");
    snprintf(note, sizeof note, "of one SM's %d FLOP a clock", chip->tensor_flop_per_clk);
    row_number(r, "peak", peak_pct, "%.1f", "%", "clock64", note);
    snprintf(note, sizeof note, "%d SMs, one warpgroup each", chip->n_sms);
    row_number(r, "chip", tflops, "%.1f", "TFLOPS", "event", note);
    record_set(r->record, "cycles",
               json_pack("{sf,sf,sf,sf}", "isolated", alone.median, "steady", apart.median, "model",
                         model_cycles(e), "peak_pct", peak_pct));
    record_set(r->record, "tflops", json_real(tflops));
}

static const char *report_counters(struct product *r) {
    struct counters *counters = &r->counters;
    const char *why = measure_counters(r->device, r->experiment, r->options->counters, counters);
    for (int i = 0; i < counters->n && !why; i++) {
        const struct counter *c = &counters->counter[i];
        const bool predicted = !r->options->csv && *c->validated;
        if (*c->reason)
            row_missing(r, c->name, c->reason);
        else
            row_number(r, c->name, c->value, "%.6g", c->unit,
                       predicted ? "predicted" : counter_source_name(c->source), c->metric);
    }
    if (!why) record_set(r->record, "counters", record_counters(counters));
    if (!why) return NULL;
    enum status status =
        reason_status(why, STATUS_COUNTERS); /* another: it is no matter of counters */
    row_missing(r, "counters", why);
    record_set(r->record, "no_counters", json_string(why));
    if (status != STATUS_COUNTERS || r->options->counters_asked)
        return reason_as(status, "%s", why);
    return NULL;
}

/* What ptxas put in because the source lacks it: (C7517) a wait, (C7519) a fence. */
static void print_ptxas(const struct experiment *e) {
    char path[PATH_MAX + 80], image[48], line[512];
    snprintf(path, sizeof path, "%s/%s.sm_90a.ptxas", stage_image_folder(stage.name),
             experiment_image(e, image));
    FILE *f = strchr(image, '-') ? path_open(path) : NULL;
    while (f && fgets(line, sizeof line, f))
        if (strstr(line, "(C75")) printf("ptxas: %s", strchr(line, '('));
    if (f) fclose(f);
}

/* Did anything notice the mistake? */
static bool is_caught(const struct product *r) { return r->verdict.n_wrong || r->objection; }

/* Says which mistake was made and what noticed it. */
static void print_mistake(const struct product *r) {
    const struct experiment *e = r->experiment;
    printf("mistake: %s: %s\n", e->mistake, mistake_text(e->mistake));
    print_ptxas(e);
    if (r->objection) printf("emulator: %s\n", r->objection);
    if (r->verdict.n_wrong) picture(stdout, e, r->is_wrong);
    printf("%s: %s: %d of %d elements wrong%s\n", is_caught(r) ? "caught" : "not caught here",
           e->mistake, r->verdict.n_wrong, r->verdict.n_elements,
           r->objection ? ", and the emulator's checker objects" : "");
}

static const char *product_run(struct product *r) {
    const struct experiment *e = r->experiment;
    const struct options *o = r->options;
    const char *why = matrices_make(e, &r->matrices);
    r->c = heap_take(sizeof(float) * WGMMA_M * e->n);
    r->is_wrong = heap_take(sizeof(bool) * WGMMA_M * e->n);
    if (why || (why = multiply(r))) return why;
    judge(e, &r->matrices, r->c, r->is_wrong, &r->verdict);
    report_check(r);
    if (r->verdict.n_wrong || e->mistake) return NULL;
    if (o->time) report_time(r);
    if (strcmp(o->counters, "none")) return report_counters(r);
    /* ncu looks at the launch that would be counted: there is one of K-major operands only */
    bool for_others = !device_info(r->device)->is_emulator && !e->a_m_major && !e->b_n_major;
    struct counters none = {0};
    return for_others ? measure_counters(r->device, e, "none", &none) : NULL;
}

static void product_print(const struct product *r) {
    const struct options *o = r->options;
    char text[96];
    if (o->quiet) return;
    if (o->csv) {
        table_print_csv(&r->table, stdout);
        return;
    }
    if (!o->all && !r->experiment->mistake) {
        product_screen(r);
        return;
    }
    printf("stage %s on %s: %s\n", stage.name, device_info(r->device)->name,
           experiment_text(r->experiment, text));
    table_print(&r->table, stdout);
    if (r->experiment->mistake) print_mistake(r);
}

static void product_free(struct product *r) {
    table_close(&r->table);
    counters_free(&r->counters);
    json_decref(r->record);
    free(r->c);
    free(r->is_wrong);
    matrices_free(&r->matrices);
}

enum status product(const struct experiment *e, const struct options *o, struct device *d, int argc,
                    char **argv) {
    struct product r = {
        .experiment = e, .options = o, .device = d, .record = record_new(argc, argv)};
    int clock = device_clock_mhz(d);
    table_open(&r.table, o->csv ? 6 : 5,
               (const char *const[]){"name", "value", "unit", "source", "note", "na"});
    json_object_set_new(r.record, "stage", json_string(stage.name));
    json_object_set_new(r.record, "problem", experiment_json(e));
    const char *why = product_run(&r);
    json_object_set_new(r.record, "device",
                        record_device(device_info(d), clock, device_clock_mhz(d)));
    if (r.table.n_rows > 1) { /* a result, even if the counters could not be had */
        product_print(&r);
        const char *unwritten = o->json_path ? record_append(o->json_path, r.record) : NULL;
        if (!why) why = unwritten;
    }
    if (!why && r.verdict.n_wrong && !e->mistake)
        why = reason_as(STATUS_WRONG, "wrong answer: %d of %d elements", r.verdict.n_wrong,
                        r.verdict.n_elements);
    enum status status = is_caught(&r) ? STATUS_WRONG : STATUS_RIGHT;
    if (why) status = run_failed(why, STATUS_DEVICE);
    product_free(&r);
    return status;
}
