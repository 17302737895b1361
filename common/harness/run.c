#include "run.h"

#include "bench.h"
#include "common/base/interrupt.h"
#include "common/base/npy.h"
#include "profiler/nvtx.h"
#include "report.h"
#include "watch/warps.h"
#include "whatif.h"
#include "common/base/revision.h"
#include "emulator/predictor/predictor_chip.h"
#include "profiler/attribution.h"
#include "profiler/timeline.h"
#include "watch/stage_page.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum status run_failed(const char *why, enum status otherwise) {
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
    return reason_status(why, otherwise);
}

const char *run_device(const struct options *o, struct device **out) {
    const char *why = device_open(o->device, o->chip, out);
    if (!why && device_info(*out)->n_others > 0)
        fprintf(stderr,
                "%s: %d other process%s on this GPU, so times may be longer; wait, or choose "
                "another GPU by "
                "CUDA_VISIBLE_DEVICES\n",
                program_invocation_short_name, device_info(*out)->n_others,
                device_info(*out)->n_others > 1 ? "es" : "");
    if (why || !o->emulator_asked || device_info(*out)->is_emulator) return why;
    device_close(*out);
    *out = NULL;
    return reason_as(STATUS_USAGE,
                     "--schedule, --early, --no-races, --count-ptx, --mma-exact, --trace, --banks, "
                     "--without, --watch, --sm-clock, --whatif, --timeout, --progress and "
                     "--max-instructions are "
                     "the emulator's: "
                     "add --device emu");
}

enum status run_record(const struct options *o, json_t *record) {
    const char *why = o->json_path ? record_append(o->json_path, record) : NULL;
    json_decref(record);
    return why ? run_failed(why, STATUS_FILE) : STATUS_RIGHT;
}

/* One problem on its way through check, time and count. */
struct run {
    const struct options *options;
    bool counts; /* counters will be collected, if the options ask for them */
    struct device *device;
    struct inputs inputs;
    struct bench bench;
    struct report report;
    half *o; /* one run's outputs, guard bands included */
    float *lse;
};

static void run_named(const struct run *r) {
    char problem[128], title[256];
    attention_describe(&r->bench.problem, problem, sizeof problem);
    snprintf(title, sizeof title, "%s: %s", stage.name, problem);
    nvtx_run_begin(title, attention_flops(&r->bench.problem));
}

static void *prepare(void *device) {
    counters_prepare(device);
    return NULL;
}

/* Inputs are the host's work: where counters come and no time is taken, CUPTI starts beside it. */
static const char *run_inputs(struct run *r, struct attention *a) {
    const struct options *o = r->options;
    const bool counts = r->counts && !r->report.device->is_emulator && strcmp(o->counters, "none");
    pthread_t thread;
    const bool beside = counts && !o->time && !pthread_create(&thread, NULL, prepare, r->device);
    const char *why = o->q_path ? inputs_read(o->q_path, o->k_path, o->v_path, a, &r->inputs)
                                : inputs_make(a, o->input, o->seed, &r->inputs);
    if (beside) pthread_join(thread, NULL);
    return why;
}

static const char *run_open(struct run *r) {
    const struct options *o = r->options;
    struct attention a = o->problem;
    const char *why = run_device(o, &r->device);
    if (why) return why;
    r->report.device = device_info(r->device);
    /* before the inputs are made: they may be large */
    if (!o->q_path && (why = stage_supports(&a, &r->report.device->chip)))
        return reason_as(STATUS_UNSUPPORTED, "%s", why);
    why = run_inputs(r, &a);
    if (why || (why = bench_open(r->device, &a, &r->inputs, o->image, o->choice, &r->bench)))
        return why;
    if (o->tune && (why = tune(&r->bench, o, &r->report.tuned))) return why;
    r->report.problem = a;
    r->report.plan = r->bench.plan;
    why = kernel_hash(stage_image_folder(stage.name), r->bench.plan.image, r->report.kernel_hash);
    for (int i = 0; i < r->bench.plan.n_launches && !why; i++)
        why = device_kernel_info(r->device, r->bench.image, r->bench.plan.launch[i].kernel,
                                 &r->report.kernel[i]);
    r->o = malloc(r->bench.o_bytes);
    r->lse = malloc(r->bench.lse_bytes);
    if (!why && !(r->o && r->lse))
        why = reason_as(STATUS_DEVICE, "not enough memory for the outputs");
    if (!why) run_named(r);
    return why;
}

static void run_close(struct run *r) {
    nvtx_run_end();
    free(r->o);
    free(r->lse);
    counters_free(&r->report.counters);
    if (r->device) bench_close(&r->bench);
    inputs_free(&r->inputs);
    device_close(r->device);
}

static const char *run_check(struct run *r) {
    const struct options *o = r->options;
    if (!o->check) return o->out_path || o->lse_path ? bench_run(&r->bench, r->o, r->lse) : NULL;
    nvtx_begin(NVTX_VERIFY);
    const char *why = bench_check(&r->bench, &r->inputs, !o->q_path && !strcmp(o->input, "outlier"),
                                  REFERENCE_WORK, o->seed, r->o, r->lse, &r->report.check);
    nvtx_end();
    r->report.checked = !why;
    return why;
}

static const char *run_write(struct run *r) {
    const struct attention *a = &r->bench.problem;
    const int64_t shape[4] = {a->batch, a->heads, a->seqlen_q, a->head_dim};
    const struct options *o = r->options;
    const char *why = NULL;
    const half *out = r->o + CHECK_GUARD;
    if (o->out_path)
        why =
            (a->dtype == DTYPE_BF16 ? npy_write_bf16 : npy_write_half)(o->out_path, 4, shape, out);
    if (o->lse_path && !why) why = npy_write_float(o->lse_path, 3, shape, r->lse + CHECK_GUARD);
    return why ? reason_as(STATUS_FILE, "%s", why) : NULL;
}

/* A time that the chip's peak does not allow: whatever ran, it was not this problem. */
static const char *check_time(const struct run *r) {
    const struct chip *c = &r->report.device->chip;
    double flop_per_clk = stage.tensor_family ? c->tensor_flop_per_clk : 2.0 * c->fp32_fma_per_clk;
    double least_us =
        attention_flops(&r->report.problem) / (flop_per_clk * c->n_sms * c->clock_mhz);
    if (r->report.timing.median_us >= least_us) return NULL;
    return reason_as(STATUS_WRONG,
                     "%.3g us is less than the %.3g us that %s needs at its peak: the "
                     "launches did not do the work",
                     r->report.timing.median_us, least_us, r->report.device->name);
}

/* No time is a fact to report on the emulator, and a failure on a GPU. */
static const char *run_time(struct run *r) {
    const struct options *o = r->options;
    struct report *report = &r->report;
    const struct stage_plan *plan = &r->bench.plan;
    const char *why = NULL;
    if (!o->time) return NULL;
    if (report->device->is_emulator)
        snprintf(report->no_time, sizeof report->no_time,
                 "the emulator measures no time: duration_us of CYCLES predicts it");
    else if (!plan->n_launches)
        snprintf(report->no_time, sizeof report->no_time, "nothing to launch");
    else
        why = timing_measure(r->device, r->bench.image, plan->launch, plan->n_launches, o->cold,
                             o->rest_ms, o->min_time_s, o->max_samples, &report->timing);
    report->timed = !why && !*report->no_time;
    return report->timed ? check_time(r) : why;
}

/* Returns the reason when the groups were asked for by name and cannot be had, or when something
 * failed that had nothing to do with counters. */
static const char *run_count(struct run *r) {
    const struct options *o = r->options;
    struct report *report = &r->report;
    const struct stage_plan *plan = &r->bench.plan;
    struct predictor_chip measured;
    bool predicted = report->device->is_emulator && !o->counters_asked;
    if (predicted) { /* a chip file that is there and cannot be read is said with each counter */
        const char *unknown = predictor_chip_find(report->device->chip.name, &measured);
        predicted = !unknown || reason_status(unknown, STATUS_UNSUPPORTED) != STATUS_UNSUPPORTED;
    }
    const char *why = NULL, *groups = o->counters;
    if (!strcmp(o->counters, "none")) return NULL;
    if (predicted) groups = COUNTERS_PREDICTED;
    if (!report->device->is_emulator && !o->counters_asked) groups = COUNTERS_GPU;
    if (!plan->n_launches)
        why = "nothing to launch";
    else
        why = counters_collect(r->device, r->bench.image, plan->launch, plan->n_launches, groups,
                               &report->counters);
    if (why) snprintf(report->no_counters, sizeof report->no_counters, "%s", why);
    if (!why) return NULL;
    enum status status = reason_status(why, STATUS_COUNTERS);
    return status != STATUS_COUNTERS || o->counters_asked ? reason_as(status, "%s", why) : NULL;
}

/* SM cycles of one run: predicted, or from the time and its mean clock; 0: not known. */
static double run_cycles(const struct report *r) {
    for (int i = 0; i < r->counters.n; i++) {
        const struct counter *c = &r->counters.counter[i];
        if (!strcmp(c->name, "cycles_elapsed") && !*c->reason) return c->value;
    }
    return r->timed ? r->timing.median_us * r->timing.clock_mhz : 0;
}

static bool run_gates(struct run *r) {
    bool failed = false;
    struct report *report = &r->report;
    const struct gate_facts facts = {&stage,        &report->problem, &report->device->chip,
                                     &report->plan, report->kernel,   &report->counters};
    gates_evaluate(&facts, report->gate);
    for (int i = 0; i < GATE_COUNT; i++) failed |= report->gate[i].verdict == GATE_FAIL;
    report->n_advice = advice_give(&facts, run_cycles(report), report->advice);
    return failed;
}

static enum status run_report(struct run *r, int argc, char **argv) {
    const struct options *o = r->options;
    enum status stored =
        o->json_path ? run_record(o, report_record(&r->report, argc, argv)) : STATUS_RIGHT;
    if (!o->quiet) report_print(&r->report); /* the row is safe by now */
    return stored;
}

/* What --strict objects to. */
static const char *run_strict(const struct run *r) {
    for (int i = 0; i < GATE_COUNT; i++) {
        const struct gate *g = &r->report.gate[i];
        if (g->verdict == GATE_FAIL)
            return reason_as(STATUS_WRONG, "the gate %s failed: %s %g, wanted %s", g->name, g->why,
                             g->value, g->limit);
    }
    if (*r->report.no_counters)
        return reason_as(STATUS_WRONG, "no counters: %s", r->report.no_counters);
    for (int i = 0; i < r->report.counters.n; i++) {
        const struct counter *c = &r->report.counters.counter[i];
        if (*c->reason && *c->metric) /* there is a formula for it here */
            return reason_as(STATUS_WRONG, "no %s: %s", c->name, c->reason);
    }
    return NULL;
}

enum status run_one(const struct options *o, int argc, char **argv, bool *gates_failed) {
    struct run r = {.options = o, .report.options = o, .counts = true};
    enum status status = STATUS_RIGHT, reported;
    const char *why = run_open(&r);
    if (!why) {
        why = run_check(&r);
        if (!why) why = run_write(&r);
        if (interrupt_signal()) why = NULL; /* what there is, is reported */
    }
    if (why) goto done;
    if (r.report.checked && !r.report.check.passed) {
        status = run_failed(reason_as(STATUS_WRONG, "wrong answer: %s", r.report.check.why),
                            STATUS_WRONG);
    } else {
        if (!interrupt_signal() && (why = run_time(&r))) goto done;
        if (!interrupt_signal())
            why = run_count(&r); /* without counters the row is worth keeping */
        if (interrupt_signal()) why = NULL;
    }
    *gates_failed = run_gates(&r);
    r.report.interrupted = interrupt_signal() != 0;
    reported = run_report(&r, argc, argv);
    if (!status) status = reported;
    if (!status && !why && o->strict) why = run_strict(&r);
done:
    if (why) status = run_failed(why, STATUS_DEVICE);
    run_close(&r);
    return status;
}

enum status run_repeats(const struct options *o, int argc, char **argv) {
    struct run r = {.options = o, .report.options = o};
    uint64_t first[2] = {0}, hash[2];
    int n = 0, n_equal = 0;
    enum status status = STATUS_RIGHT;
    const char *why = run_open(&r);
    for (; n < o->repeat_check && !why && !interrupt_signal(); n++) {
        if ((why = bench_run(&r.bench, r.o, r.lse))) break;
        hash[0] = check_hash(r.o, r.bench.o_bytes);
        hash[1] = check_hash(r.lse, r.bench.lse_bytes);
        if (!n) memcpy(first, hash, sizeof first);
        n_equal += !memcmp(first, hash, sizeof first);
    }
    if (!why) {
        if (!o->quiet) printf("repeats: %d runs, %d equal to the first bit by bit\n", n, n_equal);
        json_t *record = report_record(&r.report, argc, argv);
        record_set(record, "repeats", json_pack("{s:i, s:i}", "runs", n, "equal", n_equal));
        status = run_record(o, record);
        if (n_equal < n)
            why = reason_as(STATUS_WRONG, "%d of %d runs differ from the first", n - n_equal, n);
    }
    run_close(&r);
    return why ? run_failed(why, STATUS_DEVICE) : status;
}

/* The same problem in other memory: where tensors lie costs or gains up to a percent, which would
 * else be one program's for all its turns. */
static const char *move_tensors(struct run *r, device_ptr *pad) {
    enum { MOST = 256, STEP = 1 << 18 };
    const struct attention a = r->bench.problem;
    const struct options *o = r->options;
    bench_close(&r->bench);
    if (*pad) device_free(r->device, *pad);
    *pad = 0;
    const char *why = device_alloc(r->device, (size_t)(1 + lrand48() % MOST) * STEP, pad);
    const int choice = r->report.tuned.n ? r->report.tuned.fastest : o->choice;
    return why ? why : bench_open(r->device, &a, &r->inputs, o->image, choice, &r->bench);
}

enum status run_turns(const struct options *o) {
    struct run r = {.options = o, .report.options = o};
    char line[64];
    device_ptr pad = 0;
    const char *why = run_open(&r);
    if (!why && !r.bench.plan.n_launches) why = "nothing to launch";
    srand48(getpid());
    while (!why && !interrupt_signal() && fgets(line, sizeof line, stdin)) {
        why = move_tensors(&r, &pad);
        if (!why) why = run_time(&r);
        if (!why && !r.report.timed) why = reason_as(STATUS_NOTHING, "%s", r.report.no_time);
        if (why) break;
        printf("%.17g %.17g\n", r.report.timing.median_us, r.report.timing.clock_mhz);
        if (fflush(stdout)) break; /* main says so */
    }
    if (pad) device_free(r.device, pad);
    run_close(&r);
    return why ? run_failed(why, STATUS_DEVICE) : STATUS_RIGHT;
}

enum status run_explain(const struct options *o) {
    enum { MAX = 64 };
    static struct stage_choice choice[MAX];
    struct device *d = NULL;
    char title[256], us[16], fill[16], number[16];
    const struct attention *a = &o->problem;
    const char *why = stage.choices ? run_device(o, &d)
                                    : reason_as(STATUS_USAGE,
                                                "stage %s has one way only: nothing "
                                                "to explain",
                                                stage.name);
    if (!why && (why = stage_supports(a, &device_info(d)->chip)))
        why = reason_as(STATUS_UNSUPPORTED, "%s", why);
    if (!why && !attention_o_elements(a)) why = "nothing to launch";
    if (!why) {
        const int n = stage.choices(a, &device_info(d)->chip, choice, MAX);
        if (!o->csv)
            printf("stage %s: %s, on %s\n", stage.name, attention_describe(a, title, sizeof title),
                   device_info(d)->name);
        const char *const heading[] = {"choice", "expected us", "busy, %", "image", "what"};
        struct table t;
        table_open(&t, 5, heading);
        for (int i = 0; i < n; i++) {
            snprintf(number, sizeof number, "%d", i);
            snprintf(us, sizeof us, "%.1f", choice[i].us);
            snprintf(fill, sizeof fill, "%.0f", 100 * choice[i].fill);
            table_row(&t, (const char *[]){number, us, fill, choice[i].image, choice[i].text});
        }
        if (o->csv)
            table_print_csv(&t, stdout);
        else
            table_print(&t, stdout);
        table_close(&t);
        if (!o->csv) printf("choice 0 is taken; expected: source model, fitted to an H200\n");
    }
    device_close(d);
    return why ? run_failed(why, STATUS_DEVICE) : STATUS_RIGHT;
}

/* Instructions that were asked for and are not there. */
static const char *missing_instructions(const struct options *o, const struct source *s) {
    bool there[2] = {false, false};
    for (int i = 0; i < s->n_insts; i++) there[s->inst[i].isa] = true;
    if (o->ptx && !there[SOURCE_PTX])
        return reason_as(STATUS_COUNTERS, "no PTX: a GPU counts SASS; for PTX add --device emu");
    if (o->sass && !there[SOURCE_SASS])
        return reason_as(STATUS_COUNTERS, "no SASS: %s",
                         *s->about ? s->about : "nothing counts it");
    return NULL;
}

enum status run_source(const struct options *o, int argc, char **argv) {
    struct run r = {.options = o, .report.options = o};
    struct source source = {0};
    char title[256];
    const char *why = run_open(&r);
    const struct stage_plan *plan = &r.bench.plan;
    const unsigned instructions = (o->ptx ? ATTRIBUTION_PTX : 0) | (o->sass ? ATTRIBUTION_SASS : 0);
    enum status stored = STATUS_RIGHT;
    if (!why && !plan->n_launches) why = "nothing to launch";
    if (!why)
        why = attribution_collect(r.device, r.bench.image, plan->launch, plan->n_launches, &source);
    if (!why) why = missing_instructions(o, &source);
    if (!why && o->json_path) {
        json_t *record = report_record(&r.report, argc, argv);
        record_set(record, "hot", attribution_json(&source, instructions));
        stored = run_record(o, record);
    }
    if (!why && o->csv) attribution_csv(&source, instructions, stdout);
    if (!why && !o->csv && !o->quiet) {
        attention_describe(&r.bench.problem, title, sizeof title);
        printf("stage %s: %s, on %s, image %s\n", stage.name, title, device_info(r.device)->name,
               plan->image);
        why = attribution_print(&source, instructions, stdout);
    }
    source_free(&source);
    run_close(&r);
    return why ? run_failed(why, STATUS_COUNTERS) : stored;
}

enum status run_whatif(const struct options *o) {
    struct run r = {.options = o, .report.options = o};
    char problem[128];
    const char *why = run_open(&r);
    const struct stage_plan *plan = &r.bench.plan;
    if (!why && !plan->n_launches) why = "nothing to launch";
    if (!why) {
        attention_describe(&r.bench.problem, problem, sizeof problem);
        printf("stage %s: %s, on %s, image %s, revision %s\n", stage.name, problem,
               device_info(r.device)->name, plan->image, revision());
        why = whatif_print(r.device, stage_image_folder(stage.name), plan->image, plan->launch,
                           plan->n_launches, stdout);
    }
    run_close(&r);
    return why ? run_failed(why, STATUS_COUNTERS) : STATUS_RIGHT;
}

/* us of the launches with this image, and the clock meanwhile. */
static const char *time_image(struct run *r, struct device_image *image, double *us, double *mhz) {
    const struct stage_plan *plan = &r->bench.plan;
    const char *no_clock;
    const char *why =
        device_time(r->device, image, plan->launch, plan->n_launches, us, mhz, &no_clock);
    return why ? why : no_clock;
}

/* On a GPU: what one block's warps do, into PATH-warps, if there is an instrumented image of the one
 * that ran. */
static const char *run_stamps(struct run *r, const char *title) {
    const struct stage_plan *plan = &r->bench.plan;
    struct device_image *image = NULL;
    double plain_us = 0, us = 0, mhz = 0;
    char name[80], path[PATH_MAX], text[768];
    const char *given = r->options->timeline_path, *dot = strrchr(given, '.');
    const int stem = dot && !strchr(dot, '/') ? (int)(dot - given) : (int)strlen(given);
    snprintf(name, sizeof name, "%s-stamps", plan->image);
    snprintf(path, sizeof path, "%.*s-warps%s", stem, given, given + stem);
    const char *why = device_load(r->device, stage_image_folder(stage.name), name, &image);
    if (why) return reason_status(why, STATUS_DEVICE) == STATUS_UNSUPPORTED ? NULL : why;
    why = time_image(r, r->bench.image, &plain_us, &mhz);
    if (!why) why = time_image(r, image, &us, &mhz);
    if (!why && !(mhz > 0)) why = "nothing counts its clock";
    if (!why) {
        snprintf(text, sizeof text,
                 "%s, first block, stamped at %.0f MHz: a run takes %.1f us with stamps, %.1f "
                 "without",
                 title, mhz, us, plain_us);
        why = warps_stamped(r->device, image, plan->launch, plan->n_launches, mhz, text, path);
    }
    device_unload(r->device, image);
    return why;
}

enum status run_timeline(const struct options *o) {
    enum { RUNS = 64 };
    const double interval_us = 2;
    struct run r = {.options = o, .report.options = o};
    struct timeline t = {0};
    char problem[128], title[512], date[16];
    time_t now = time(NULL);
    const char *why = run_open(&r);
    const struct stage_plan *plan = &r.bench.plan;
    if (!why && !plan->n_launches) why = "nothing to launch";
    bool emulated = !why && device_info(r.device)->is_emulator;
    if (emulated) {
        attention_describe(&r.bench.problem, problem, sizeof problem);
        snprintf(title, sizeof title, "stage %s: %s, image %s, on %s, revision %s", stage.name,
                 problem, plan->image, device_info(r.device)->name, revision());
        why = warps_write(r.device, stage_image_folder(stage.name), plan->image, plan->launch,
                          plan->n_launches, title, o->timeline_path);
    }
    if (!why && !emulated) {
        attention_describe(&r.bench.problem, problem, sizeof problem);
        strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
        snprintf(title, sizeof title,
                 "stage %s: %s, image %s, on %s, driver %s, SM clock %d MHz, revision %s, %s",
                 stage.name, problem, plan->image, device_info(r.device)->name,
                 device_info(r.device)->driver, device_clock_mhz(r.device), revision(), date);
        why = run_stamps(&r, title); /* before CUPTI is started; needs no permission */
    }
    if (!why && !emulated)
        why = timeline_collect(r.device, r.bench.image, plan->launch, plan->n_launches, RUNS,
                               interval_us, &t);
    if (!why && !emulated) why = timeline_write(&t, title, o->timeline_path);
    timeline_free(&t);
    run_close(&r);
    return why ? run_failed(why, STATUS_COUNTERS) : STATUS_RIGHT;
}

/* The page is written of a wrong answer, too: then it shows where O is wrong; and of a block that does not
 * end. */
enum status run_watch(const struct options *o) {
    struct run r = {.options = o, .report.options = o};
    char problem[128], title[512], failed[512] = "";
    enum status status = STATUS_RIGHT;
    const char *why = run_open(&r);
    const struct stage_plan *plan = &r.bench.plan;
    if (!why && !device_info(r.device)->is_emulator)
        why = reason_as(STATUS_USAGE, "--watch-page asks the predictor: add --device emu");
    if (!why && !plan->n_launches) why = "nothing to launch";
    if (why) goto done;
    if ((why = run_check(&r))) {
        status = reason_status(why, STATUS_DEVICE);
        snprintf(failed, sizeof failed, "%s", why);
    }
    const bool wrong = r.report.checked && !r.report.check.passed;
    attention_describe(&r.bench.problem, problem, sizeof problem);
    snprintf(title, sizeof title, "stage %s: %s, image %s, on %s", stage.name, problem, plan->image,
             device_info(r.device)->name);
    why =
        watch_stage(&r.bench, &r.inputs, r.o, wrong ? &r.report.check : NULL, title, o->watch_page);
    if (!why && !o->quiet) printf("%s: open it in a browser\n", o->watch_page);
    if (!why && *failed) why = reason_as(status, "%s", failed);
    if (!why && wrong) why = reason_as(STATUS_WRONG, "wrong answer: %s", r.report.check.why);
done:
    run_close(&r);
    return why ? run_failed(why, STATUS_COUNTERS) : STATUS_RIGHT;
}
