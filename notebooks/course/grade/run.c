/* run CASES INDEX OUT [options]: launches the kernel on one case, again and again, and writes what it
 * left into OUT: out0 (the first run), out1 (another schedule), and report.json: the counts of the first
 * run, whether the others gave the same bits, and what becomes of the outputs if tensor cores multiply something else.
 * With --predict once, in the predictor: what the launch left, and its predicted time. */
#include "trial.h"

#include "common/base/reason.h"
#include "common/cuda/half.h"
#include "common/device/device_ops.h"
#include "common/harness/check.h"
#include "common/harness/input.h"
#include "profiler/counters.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct trial_run {
    struct subject subject;
    struct device *device;
    uint64_t seed;
    unsigned char *out, *first,
        *spoilt;     /* outputs of the run at hand, of the first, of one with other products */
    json_t *changed; /* names of inputs that a launch has written to */
    bool multiplies; /* on tensor cores */
    bool endless;    /* it reached the limit of instructions */
    const char *folder;
    json_t *report;
};

static struct run_options {
    enum device_kind device;
    const char *chip;
    bool products; /* does the answer come of tensor cores? */
    double timeout_s;
    double max_instructions;
    bool clock;
} asked = {.device = DEVICE_EMU, .timeout_s = 60};

/* spoil: NULL, or without checks. */
static void emulate(const struct trial_run *r, enum emu_schedule schedule, bool early,
                    const struct emu_spoil *spoil) {
    device_emulator_options(&(struct emu_options){
        .n_threads = 1, /* the same reports and the same products in every run */
        .schedule = schedule,
        .seed = r->seed,
        .draw = 4 * r->seed + schedule + 1,
        .async_early = early,
        .no_checks = spoil,
        .timeout_s = asked.timeout_s,
        .max_instructions = (uint64_t)asked.max_instructions,
        .spoil = spoil ? *spoil : (struct emu_spoil){0},
    });
}

/* After each launch: no kernel can undo with the last one what it wrote to inputs before. */
static const char *fetch(struct trial_run *r) {
    const char *why = json_array_size(r->changed) ? NULL : subject_changed(&r->subject, r->changed);
    return why ? why : subject_fetch(&r->subject, r->out);
}

static bool same_as_first(const struct trial_run *r) {
    return !memcmp(r->out, r->first, r->subject.out_bytes);
}

static const char *put(const struct trial_run *r, const char *name) {
    return trial_put(r->folder, name, r->out, r->subject.out_bytes);
}

static const char *launch(struct trial_run *r) {
    const struct subject *s = &r->subject;
    const char *why = NULL;
    for (int i = 0; i < s->n_launches && !why; i++)
        why = device_launch(s->device, s->image, &s->launch[i]);
    return why ? why : device_sync(s->device);
}

/* One launch that is judged and counted at once: no kernel can behave for one and not the other. */
static const char *counted(struct trial_run *r, struct counters *out) {
    const struct subject *s = &r->subject;
    const char *why = s->device->ops->counters(s->device, s->image, s->launch, s->n_launches, out);
    return why ? why : fetch(r);
}

static double counter_value(const struct counters *c, const char *name) {
    for (int i = 0; i < c->n; i++)
        if (!strcmp(c->counter[i].name, name)) return c->counter[i].value;
    return 0;
}

static bool is_endless(const struct counters *c) {
    return asked.max_instructions && counter_value(c, "instructions") >= asked.max_instructions;
}

/* Instructions of any unit that could make a product in each lane; two if of fp16. */
static double by_hand(const struct counters *c) {
    return counter_value(c, "fp32") + counter_value(c, "fp64") + 2 * counter_value(c, "fp16") +
           counter_value(c, "mufu");
}

/* The groups that conditions speak of. */
static const char *put_counts(struct trial_run *r, const struct counters *raw) {
    const struct device_launch *l = r->subject.launch;
    struct counters c = {0};
    const char *why =
        counters_emulated(&(struct counters_known){.counted = raw,
                                                   .no_sass = "conditions are about PTX",
                                                   .no_prediction = "nobody asks",
                                                   .no_occupancy = "nobody asks"},
                          (int)(l->block[0] * l->block[1] * l->block[2]), "TENSOR,SHARED,MIX", &c);
    json_t *all = json_object();
    for (int i = 0; i < c.n && !why; i++)
        if (!*c.counter[i].reason)
            json_object_set_new(all, c.counter[i].name, json_real(c.counter[i].value));
    json_object_set_new(all, "tensor_flop", json_real(counter_value(raw, "tensor_flop")));
    json_object_set_new(all, "hand_instructions", json_real(by_hand(raw)));
    json_object_set_new(r->report, "counts", all);
    counters_free(&c);
    return why;
}

/* Reports of the emulator end no trial: they cost their points, and the answer is judged. */
static const char *note_reports(struct trial_run *r, const char *why) {
    if (!why || reason_status(why, STATUS_DEVICE) != STATUS_WRONG) return why;
    json_object_set_new(r->report, "reports", json_true());
    return fetch(r);
}

/* A launch with reports goes once more, without checks: a report must hide nothing of what a kernel does. */
static const char *launch_unchecked(struct trial_run *r, struct counters *out) {
    static const struct emu_spoil nothing;
    counters_free(out);
    emulate(r, EMU_ROUND_ROBIN, false, &nothing);
    const char *why = subject_poison(&r->subject);
    return why ? why : note_reports(r, counted(r, out));
}

/* The first run, then a second one with the first one's answer in O. If the work differs, the kernel
 * has read its own output. */
static const char *run_first(struct trial_run *r) {
    struct counters c = {0}, again = {0};
    emulate(r, EMU_ROUND_ROBIN, false, NULL);
    const char *why = subject_poison(&r->subject);
    if (!why) why = note_reports(r, counted(r, &c));
    if (!why) why = put(r, "out0");
    if (!why && json_object_get(r->report, "reports") && !(why = put(r, "out1")))
        why = launch_unchecked(r, &c);
    if (why || (r->endless = is_endless(&c))) goto done;
    memcpy(r->first, r->out, r->subject.out_bytes);
    r->multiplies = counter_value(&c, "hmma") + counter_value(&c, "hgmma") > 0;
    if ((why = put_counts(r, &c)) || (why = note_reports(r, counted(r, &again)))) goto done;
    bool same =
        same_as_first(r) && counter_value(&c, "threads") == counter_value(&again, "threads");
    json_object_set_new(r->report, "reads_output", json_boolean(!same));
done:
    counters_free(&c);
    counters_free(&again);
    return why;
}

static const char *run_scheduled(struct trial_run *r) {
    static const struct {
        enum emu_schedule schedule;
        bool early;
        const char *name;
    } how[] = {{EMU_RANDOM, false, "random"},
               {EMU_ADVERSARIAL, false, "adversarial"},
               {EMU_ROUND_ROBIN, true, "early"}};
    json_t *differ = json_array();
    json_object_set_new(r->report, "differs_when", differ);
    for (int s = 0; s < 3; s++) {
        fprintf(stderr, "schedule %s:\n", how[s].name);
        emulate(r, how[s].schedule, how[s].early, NULL);
        const char *why = subject_poison(&r->subject);
        if (!why) why = note_reports(r, launch(r));
        if (!why) why = fetch(r);
        if (!why && s == 0) why = put(r, "out1");
        if (why) return why;
        if (!same_as_first(r)) json_array_append_new(differ, json_string(how[s].name));
    }
    return NULL;
}

/* ---- Do the products of tensor cores make the answer? -------------------------------------------- */

/* Tensor cores multiply something else than they are given. The same answer comes of ordinary ones and other inputs, bit
 * for bit and by the same steps, if all products are made there. */
static const struct {
    const char *name;
    enum emu_spoilt how;
} changes[] = {{"doubled", EMU_SPOIL_DOUBLED},
               {"drawn", EMU_SPOIL_DRAWN},
               {"below zero", EMU_SPOIL_BELOW_ZERO}};
enum { N_CHANGES = sizeof changes / sizeof *changes, APART = 32 };

/* Element e of outputs; the first n_halves are in fp16. Poison is not a number. */
static double element(const unsigned char *out, size_t n_halves, size_t e) {
    half h;
    float f;
    if (e < n_halves) return memcpy(&h, out + 2 * e, 2), (double)half_to_float(h);
    return memcpy(&f, out + 2 * n_halves + 4 * (e - n_halves), 4), (double)f;
}

/* The share of elements begin to end in which two outputs are apart by 1/32 of what they usually are. */
static double share_apart(const unsigned char *a, const unsigned char *b, size_t n_halves,
                          size_t begin, size_t end) {
    double squares = 0;
    size_t n = 0, n_apart = 0;
    for (size_t e = begin; e < end; e++) {
        double x = element(b, n_halves, e);
        if (isfinite(x)) squares += x * x, n++;
    }
    const double most = n ? sqrt(squares / (double)n) / APART : 0;
    for (size_t e = begin; e < end; e++) {
        double x = element(a, n_halves, e), y = element(b, n_halves, e);
        bool both = isfinite(x) && isfinite(y);
        n_apart += both ? fabs(x - y) > most : isfinite(x) || isfinite(y);
    }
    return n ? (double)n_apart / (double)n : n_apart > 0;
}

static double apart(const struct subject *s, const unsigned char *a, const unsigned char *b) {
    const size_t n_halves = s->half_bytes / 2, n = n_halves + (s->out_bytes - s->half_bytes) / 4;
    const double halves = share_apart(a, b, n_halves, 0, n_halves),
                 floats = share_apart(a, b, n_halves, n_halves, n);
    return halves > floats ? halves : floats;
}

/* One launch on other inputs; its instructions, of all threads. */
static const char *run_changed(struct trial_run *r, const struct changed_inputs *c, double *work) {
    struct counters counts = {0};
    static const struct emu_spoil nothing;
    emulate(r, EMU_ROUND_ROBIN, false, c->instead ? &nothing : c->spoil);
    const char *why = subject_inputs(&r->subject, c);
    if (!why) why = subject_poison(&r->subject);
    if (!why) why = counted(r, &counts);
    if (json_object_get(r->report, "reports")) why = note_reports(r, why); /* nothing new */
    *work = counter_value(&counts, "threads");
    counters_free(&counts);
    return why;
}

/* Does the answer `spoilt` come of these inputs? The closer one of what was seen is kept. */
static const char *compare(struct trial_run *r, const struct changed_inputs *c, double work,
                           json_t *seen) {
    double other;
    const char *why = run_changed(r, c, &other);
    if (why) return why;
    const double share = apart(&r->subject, r->spoilt, r->out);
    const json_t *least = json_object_get(seen, "apart");
    if (least && json_number_value(least) <= share) return NULL;
    bool same = !memcmp(r->spoilt, r->out, r->subject.out_bytes);
    json_object_set_new(seen, "apart", json_real(share));
    json_object_set_new(seen, "same", json_boolean(same));
    json_object_set_new(seen, "v", json_boolean(c->v_too));
    json_object_set_new(seen, "work", json_real(other > 0 ? work / other : 0));
    return NULL;
}

/* A launch that fails has no answer: all of it is apart. */
static const char *run_spoilt(struct trial_run *r, int n, json_t *seen) {
    const struct emu_spoil spoil = {.how = changes[n].how,
                                    .seed = input_random(r->seed, 0x5901, 0)};
    struct changed_inputs c = {.spoil = &spoil};
    double work;
    if (run_changed(r, &c, &work)) {
        json_object_set_new(seen, "failed", json_true());
        return NULL;
    }
    memcpy(r->spoilt, r->out, r->subject.out_bytes);
    json_object_set_new(seen, "moved", json_real(apart(&r->subject, r->spoilt, r->first)));
    c.instead = c.v_too = true;
    const char *why = compare(r, &c, work, seen);
    c.v_too = false;
    if (!why && !json_is_true(json_object_get(seen, "same"))) why = compare(r, &c, work, seen);
    return why;
}

static const char *run_products(struct trial_run *r) {
    json_t *all = json_object();
    const char *why = NULL;
    json_object_set_new(r->report, "products", all);
    for (int n = 0; n < N_CHANGES && !why; n++) {
        json_t *seen = json_object();
        json_object_set_new(all, changes[n].name, seen);
        why = run_spoilt(r, n, seen);
    }
    return why ? why : subject_inputs(&r->subject, NULL);
}

/* ---- One case ------------------------------------------------------------------------------------- */

static const char *run_on_emulator(struct trial_run *r) {
    const char *why = run_first(r);
    if (why || r->endless) return why;
    if (!json_object_get(r->report, "reports")) why = run_scheduled(r);
    return !why && asked.products && r->multiplies ? run_products(r) : why;
}

/* A large problem: one launch, without checks and counts. */
static const char *run_once(struct trial_run *r) {
    static const struct emu_spoil nothing;
    emulate(r, EMU_ROUND_ROBIN, false, &nothing);
    const char *why = subject_poison(&r->subject);
    if (!why) why = launch(r);
    if (!why) why = fetch(r);
    if (!why) why = put(r, "out0");
    return why ? why : put(r, "out1");
}

/* The machine code of the same PTX; what it leaves is judged like any answer. */
static const char *run_predicted(struct trial_run *r) {
    const struct subject *s = &r->subject;
    struct counters c = {0};
    emulate(r, EMU_ROUND_ROBIN, false, NULL);
    const char *why = subject_poison(&r->subject);
    if (!why) why = s->device->ops->predict(s->device, s->image, s->launch, s->n_launches, &c);
    if (!why) why = fetch(r);
    if (!why) why = put(r, "out0");
    if (!why) why = put(r, "out1");
    for (int i = 0; i < c.n && !why; i++)
        if (!strcmp(c.counter[i].name, "duration_us"))
            json_object_set_new(r->report, "time",
                                json_pack("{s:f, s:s, s:s}", "us", c.counter[i].value, "source",
                                          "model", "validated", c.counter[i].validated));
    counters_free(&c);
    return why;
}

static const char *run_on_gpu(struct trial_run *r, const json_t *t) {
    static const char *const name[2] = {"out0", "out1"};
    double us, iqr_us;
    const char *why = NULL;
    for (int i = 0; i < 2 && !why; i++) {
        if ((why = subject_poison(&r->subject)) || (why = launch(r)) || (why = fetch(r))) break;
        why = put(r, name[i]);
    }
    if (why || strcmp(trial_text(t, "kind"), "timed")) return why;
    why = subject_time(&r->subject, t, &us, &iqr_us);
    if (!why) why = fetch(r);
    if (!why) why = put(r, "out2");
    if (!why)
        json_object_set_new(
            r->report, "time",
            json_pack("{s:f, s:f, s:s}", "us", us, "iqr_us", iqr_us, "source", "event"));
    return why;
}

static const char *run_open(struct trial_run *r, const json_t *t) {
    r->seed = trial_seed(t);
    emulate(r, EMU_ROUND_ROBIN, false, NULL);
    const char *why = device_open(asked.device, asked.chip, &r->device);
    if (!why) why = subject_open(t, r->device, &r->subject);
    if (why) return why;
    r->out = malloc(r->subject.out_bytes);
    r->first = malloc(r->subject.out_bytes);
    r->spoilt = malloc(r->subject.out_bytes);
    return r->out && r->first && r->spoilt
               ? NULL
               : reason_as(STATUS_DEVICE, "not enough memory for the outputs");
}

static void run_close(struct trial_run *r) {
    subject_close(&r->subject);
    device_close(r->device);
    free(r->out);
    free(r->first);
    free(r->spoilt);
    json_decref(r->report);
    json_decref(r->changed);
}

static const char *read_options(int argc, char **argv) {
    static const struct option rows[] = {{"device", 1, NULL, 'd'},
                                         {"chip", 1, NULL, 'c'},
                                         {"products", 0, NULL, 'p'},
                                         {"timeout", 1, NULL, 't'},
                                         {"max-instructions", 1, NULL, 'm'},
                                         {"predict", 0, NULL, 'k'},
                                         {0}};
    for (int c; (c = getopt_long(argc, argv, "", rows, NULL)) != -1;) switch (c) {
        case 'd':
            asked.device = strcmp(optarg, "cuda") ? DEVICE_EMU : DEVICE_CUDA;
            break;
        case 'c':
            asked.chip = optarg;
            break;
        case 'p':
            asked.products = true;
            break;
        case 't':
            asked.timeout_s = atof(optarg);
            break;
        case 'm':
            asked.max_instructions = atof(optarg);
            break;
        case 'k':
            asked.clock = true;
            break;
        default:
            return reason_as(STATUS_USAGE, "run: unknown option");
        }
    return argc - optind == 3 ? NULL : reason_as(STATUS_USAGE, "run CASES INDEX OUT");
}

const char *trial_run(int argc, char **argv) {
    const char *why = read_options(argc + 1, argv - 1); /* getopt skips the first word */
    if (why) return why;
    char **word = argv - 1 + optind;
    struct trial_run r = {.folder = word[2], .report = json_object(), .changed = json_array()};
    json_t *t = NULL;
    char path[4096];
    if ((why = trial_case(word[0], word[1], &t)) || (why = run_open(&r, t))) goto done;
    why = !device_info(r.device)->is_emulator       ? run_on_gpu(&r, t)
          : asked.clock                             ? run_predicted(&r)
          : !strcmp(trial_text(t, "kind"), "large") ? run_once(&r)
                                                    : run_on_emulator(&r);
    json_object_set(r.report, "inputs_changed", r.changed);
    json_object_set_new(r.report, "device", json_string(device_info(r.device)->name));
    snprintf(path, sizeof path, "%s/report.json", r.folder);
    if (!why && json_dump_file(r.report, path, JSON_INDENT(1)))
        why = reason_as(STATUS_FILE, "%s cannot be written", path);
done:
    json_decref(t);
    run_close(&r);
    return why;
}
