/* Stage 5, host side. It is no attention kernel, so it is its own program: build/stage-5 --help.
 *
 * Check one product against double; measure it; show a
 * mistake (--break); explain a layout (--explain). */
#include "common/harness/check.h"
#include "emulator/emulator.h"
#include "experiment.h"
#include "common/base/interrupt.h"
#include "common/base/path.h"
#include "common/base/program.h"
#include "common/base/reason.h"
#include "common/harness/record.h"
#include "common/harness/stage.h"
#include "settings.h"
#include "common/base/table.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *image_folder(void) {
    static char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/images/stage-%d", program_folder(),
             stage_number(STAGE_FOLDER));
    return folder;
}

/* One experiment on its way through multiply, measure and count. */
struct run {
    const struct settings *settings;
    struct device *device;
    struct operands operands;
    float *c;       /* (64, n) */
    bool *is_wrong; /* (64, n) */
    struct verdict verdict;
    const char *objection; /* of the emulator's checker, or NULL */
    struct table table;
    json_t *record;
};

static void row(struct run *r, const char *name, const char *value, const char *unit,
                const char *source, const char *note) {
    table_row(&r->table, (const char *const[]){name, value, unit, source, note});
}

static void row_number(struct run *r, const char *name, double value, const char *format,
                       const char *unit, const char *source, const char *note) {
    char text[32];
    snprintf(text, sizeof text, format, value);
    row(r, name, text, unit, source, note);
}

static void row_missing(struct run *r, const char *name, const char *why) {
    char text[300];
    snprintf(text, sizeof text, "n/a (%s)", why);
    row(r, name, text, "", "", "");
}

/* C = A B^T, once. What the emulator's checker says
 * of a planted mistake is a result, not a failure. */
static const char *multiply(struct run *r) {
    const struct experiment *e = &r->settings->e;
    struct placed p = {0};
    struct device_image *image = NULL;
    char name[48];
    const char *why = placed_make(r->device, e, &r->operands, 0, &p);
    if (!why) why = device_load(r->device, image_folder(), experiment_image(e, name), &image);
    if (!why) {
        struct device_launch launch = {
            .grid = {1, 1, 1}, .block = {128, 1, 1}, .shared_bytes = r->operands.args.tile_bytes};
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

static void report_check(struct run *r) {
    const struct verdict *v = &r->verdict;
    bool right = v->n_wrong == 0 && !r->objection;
    row(r, "check", right ? "PASS" : "FAIL", "", "model",
        "error <= 17 * 2^(e_max - 25) + 2^(e - 23) for every element");
    row_number(r, "wrong", v->n_wrong, "%.0f", "elements", "model", "further off than that bound");
    row_number(r, "max_error", v->max_error, "%.3g", "", "model", "against double; wanted < 1e-2");
    row_number(r, "mean_error", v->mean_error, "%.3g", "", "model", "wanted < 1e-3");
    row_number(r, "of_bound", v->worst_of_bound, "%.3f", "", "model", "worst error over its bound");
    char hash[24];
    uint64_t bits = check_hash(r->c, sizeof(float) * v->n_elements);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)bits);
    row(r, "hash", hash, "", "model", "of C, bit for bit: the emulator's is an H200's");
    json_t *check = json_pack("{sb,si,si,ss}", "passed", right, "wrong", v->n_wrong, "elements",
                              v->n_elements, "hash", hash);
    if (isfinite(v->max_error)) {
        json_object_set_new(check, "max_error", json_real(v->max_error));
        json_object_set_new(check, "mean_error", json_real(v->mean_error));
    }
    json_object_set_new(r->record, "check", check);
}

static void report_time(struct run *r) {
    const struct experiment *e = &r->settings->e;
    const struct chip *chip = &device_info(r->device)->chip;
    const struct measurement isolated = {1, 0, 1, 1}, steady = {4, 1, 1, 1},
                             all_sms = {4, 1, 1, chip->n_sms};
    struct cycles alone, apart;
    double tflops, flop = 2.0 * WGMMA_M * WGMMA_K * e->n;
    const char *why = measure_cycles(r->device, e, &isolated, &alone);
    if (!why) why = measure_cycles(r->device, e, &steady, &apart);
    if (!why) why = measure_chip(r->device, e, &all_sms, &tflops);
    if (why) {
        row_missing(r, "cycles", why);
        json_object_set_new(r->record, "cycles", json_pack("{ss}", "na", why));
        return;
    }
    double peak_pct = 100 * flop / apart.median / chip->tensor_flop_per_clk;
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
    json_object_set_new(r->record, "cycles",
                        json_pack("{sf,sf,sf,sf}", "isolated", alone.median, "steady", apart.median,
                                  "model", model_cycles(e), "peak_pct", peak_pct));
    json_object_set_new(r->record, "tflops", json_real(tflops));
}

static const char *report_counters(struct run *r) {
    struct counters counters = {0};
    const char *why =
        measure_counters(r->device, &r->settings->e, r->settings->counters, &counters);
    for (int i = 0; i < counters.n && !why; i++) {
        const struct counter *c = &counters.counter[i];
        if (*c->reason)
            row_missing(r, c->name, c->reason);
        else
            row_number(r, c->name, c->value, "%.6g", c->unit, counter_source_name(c->source),
                       c->metric);
    }
    if (!why) json_object_set_new(r->record, "counters", record_counters(&counters));
    counters_free(&counters);
    return why ? reason_as(STATUS_COUNTERS, "%s", why) : NULL;
}

/* What ptxas put in because the source lacks it: (C7517) a wait, (C7519) a fence. */
static void print_ptxas(const struct experiment *e) {
    char path[PATH_MAX + 80], image[48], line[512];
    snprintf(path, sizeof path, "%s/%s.sm_90a.ptxas", image_folder(), experiment_image(e, image));
    FILE *f = strchr(image, '-') ? fopen(path, "r") : NULL;
    while (f && fgets(line, sizeof line, f))
        if (strstr(line, "(C75")) printf("ptxas: %s", strchr(line, '('));
    if (f) fclose(f);
}

/* Did anything notice the mistake? */
static bool is_caught(const struct run *r) { return r->verdict.n_wrong || r->objection; }

/* Says which mistake was made and what noticed it. */
static void print_mistake(const struct run *r) {
    const struct experiment *e = &r->settings->e;
    printf("mistake: %s: %s\n", e->mistake, mistake_text(e->mistake));
    print_ptxas(e);
    if (r->objection) printf("emulator: %s\n", r->objection);
    if (r->verdict.n_wrong) picture(stdout, e, r->is_wrong);
    printf("%s: %s: %d of %d elements wrong%s\n", is_caught(r) ? "caught" : "not caught here",
           e->mistake, r->verdict.n_wrong, r->verdict.n_elements,
           r->objection ? ", and the emulator's checker objects" : "");
}

static const char *run_open(struct run *r) {
    const struct settings *s = r->settings;
    device_emulator_options(&(struct emu_options){.n_threads = s->jobs});
    const char *why = device_open(s->device, s->chip, &r->device);
    if (why) return why;
    if (device_info(r->device)->chip.cc != 90)
        return reason_as(STATUS_UNSUPPORTED,
                         "stage 5 needs a Hopper chip (compute capability 9.0): %s has none; "
                         "--device emu --chip h200 emulates one",
                         device_info(r->device)->name);
    return NULL;
}

static const char *run_product(struct run *r) {
    const struct experiment *e = &r->settings->e;
    const char *why = operands_make(e, &r->operands);
    r->c = malloc(sizeof(float) * WGMMA_M * e->n);
    r->is_wrong = malloc(sizeof(bool) * WGMMA_M * e->n);
    if (!why && !(r->c && r->is_wrong)) why = reason("out of memory");
    if (why || (why = multiply(r))) return why;
    judge(e, &r->operands, r->c, r->is_wrong, &r->verdict);
    report_check(r);
    if (r->verdict.n_wrong || e->mistake) return NULL;
    if (!r->settings->no_time) report_time(r);
    if (r->settings->counters && (why = report_counters(r))) return why;
    return NULL;
}

static void run_close(struct run *r) {
    table_close(&r->table);
    json_decref(r->record);
    free(r->c);
    free(r->is_wrong);
    operands_free(&r->operands);
    device_close(r->device);
}

static const char *run_finish(struct run *r) {
    const struct settings *s = r->settings;
    if (s->csv && !s->quiet)
        table_print_csv(&r->table, stdout);
    else if (!s->quiet)
        table_print(&r->table, stdout);
    return s->json_path ? record_append(s->json_path, r->record) : NULL;
}

int main(int argc, char **argv) {
    struct settings s;
    struct run r = {.settings = &s};
    char text[96];
    interrupt_catch();
    const char *why = settings_read(argc, argv, &s);
    int status = STATUS_RIGHT;
    if (!why && !s.explain && !s.help) why = run_open(&r);
    if (!why && s.help) {
        settings_help(stdout);
    } else if (!why && s.explain) {
        why = operands_make(&s.e, &r.operands);
        if (!why) explain(stdout, &s.e, &r.operands);
    } else if (!why && s.sweep) {
        why = sweep(r.device, s.json_path, argc, argv);
    } else if (!why) {
        table_open(&r.table, 5, (const char *const[]){"name", "value", "unit", "source", "note"});
        r.record = record_new(argc, argv);
        json_object_set_new(r.record, "stage", json_string("5-wgmma"));
        json_object_set_new(r.record, "problem", experiment_json(&s.e));
        int clock = device_clock_mhz(r.device);
        if (!s.quiet && !s.csv)
            printf("stage 5-wgmma on %s: %s\n", device_info(r.device)->name,
                   experiment_text(&s.e, text));
        why = run_product(&r);
        json_object_set_new(
            r.record, "device",
            record_device(device_info(r.device), clock, device_clock_mhz(r.device)));
        const char *unfinished = run_finish(&r);
        if (!why) why = unfinished;
        if (!why && s.e.mistake && !s.quiet && !s.csv) print_mistake(&r);
        status = is_caught(&r) ? STATUS_WRONG : STATUS_RIGHT;
    }
    run_close(&r);
    if (!why) why = path_stdout();
    if (why) fprintf(stderr, "stage-5: %s\n", why);
    if (interrupt_signal()) return 128 + interrupt_signal();
    return why ? (int)reason_status(why, STATUS_DEVICE) : status;
}
