/* run CASES INDEX OUT [options]: launches the kernel on one case, again and again, and writes what it
 * left into OUT: out0 (the first run), out1 (another schedule), and report.json: the counts of the first
 * run, whether the others gave the same bits, and which products of tensor cores reach the outputs.
 * With --predict once, in the predictor: what the launch left, and its predicted time. */
#include "trial.h"

#include "common/base/reason.h"
#include "common/device/device_ops.h"
#include "common/harness/check.h"
#include "common/harness/input.h"
#include "emulator/core/instruction.h"
#include "profiler/counters.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

struct trial_run {
    struct subject subject;
    struct device *device;
    uint64_t seed;
    unsigned char *out, *first; /* outputs of the run at hand, and of the first */
    const char *folder;
    json_t *report;
};

static struct run_options {
    enum device_kind device;
    const char *chip;
    int n_spoilt; /* products of tensor cores to try */
    double timeout_s;
    double max_instructions;
    bool clock;
} asked = {.device = DEVICE_EMU, .n_spoilt = 0, .timeout_s = 60};

static void emulate(const struct trial_run *r, enum emu_schedule schedule, bool early,
                    struct emu_spoil *spoil) {
    device_emulator_options(&(struct emu_options){
        .n_threads = 1, /* the same reports and the same products in every run */
        .schedule = schedule,
        .seed = r->seed,
        .draw = 4 * r->seed + schedule + 1,
        .async_early = early,
        .no_checks = spoil && spoil->which,
        .timeout_s = asked.timeout_s,
        .max_instructions = (uint64_t)asked.max_instructions,
        .spoil = spoil,
    });
}

static const char *fetch(struct trial_run *r) { return subject_fetch(&r->subject, r->out); }

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

/* The groups that conditions speak of. */
static const char *put_counts(struct trial_run *r, const struct counters *raw) {
    const struct device_launch *l = r->subject.launch;
    struct counters c = {0};
    const char *why =
        counters_emulated(raw, NULL, "nobody asks", NULL, "nobody asks",
                          (int)(l->block[0] * l->block[1] * l->block[2]), "TENSOR,SHARED,MIX", &c);
    json_t *all = json_object();
    for (int i = 0; i < c.n && !why; i++)
        if (!*c.counter[i].reason)
            json_object_set_new(all, c.counter[i].name, json_real(c.counter[i].value));
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

/* The first run, then a second one with the first one's answer in O. If the work differs, the kernel
 * has read its own output. */
static const char *run_first(struct trial_run *r) {
    struct counters c = {0}, again = {0};
    emulate(r, EMU_ROUND_ROBIN, false, NULL);
    const char *why = subject_poison(&r->subject);
    if (!why) why = note_reports(r, counted(r, &c));
    if (!why) why = put(r, "out0");
    if (why) goto done;
    memcpy(r->first, r->out, r->subject.out_bytes);
    if (!c.n) { /* a report: nothing was counted, and it may take as long again */
        why = put(r, "out1");
        goto done;
    }
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

/* ---- Does every product of tensor cores reach an output? ----------------------------------------- */

static json_t *place(const struct emu_origin *at) {
    const struct emu_frame *f = at->n_frames ? &at->frame[at->n_frames - 1] : NULL;
    return f ? json_pack("{s:s, s:i}", "file", f->file, "line", f->line)
             : json_pack("{s:s, s:i}", "file", "PTX", "line", at->ptx_line);
}

/* All products are zero: do the outputs depend on them at all? By 16 bits, poison left out. */
static const char *run_without_products(struct trial_run *r) {
    struct emu_spoil spoil = {.which = EMU_SPOIL_ALL};
    size_t n_same = 0, n_written = 0;
    emulate(r, EMU_ROUND_ROBIN, false, &spoil);
    if (subject_poison(&r->subject) || launch(r)) return NULL; /* it depends on them */
    const char *why = fetch(r);
    for (size_t i = 0; i < r->subject.out_bytes && !why; i += 2) {
        uint16_t before, now;
        memcpy(&before, r->first + i, 2);
        memcpy(&now, r->out + i, 2);
        n_written += before != CHECK_POISON_HALF;
        n_same += before != CHECK_POISON_HALF && before == now;
    }
    json_object_set_new(r->report, "same_without_products",
                        json_real(n_written ? (double)n_same / (double)n_written : 0));
    return why;
}

/* A run whose product `which` is wrong. Whatever else goes wrong then is this one's doing. */
static bool reaches(struct trial_run *r, uint64_t which, struct emu_spoil *spoil) {
    *spoil = (struct emu_spoil){.which = which};
    emulate(r, EMU_ROUND_ROBIN, false, spoil);
    return subject_poison(&r->subject) || launch(r) || fetch(r) || !same_as_first(r);
}

static const char *run_spoilt(struct trial_run *r) {
    struct emu_spoil spoil = {0};
    json_t *lost = json_array();
    int n = 0, n_reached = 0;
    emulate(r, EMU_ROUND_ROBIN, false, &spoil);
    const char *why = subject_poison(&r->subject);
    if (!why) why = launch(r);
    uint64_t n_products = spoil.n;
    for (; n < asked.n_spoilt && !why && n_products; n++) {
        /* one in each of n equal parts of the run */
        uint64_t part = (uint64_t)n * n_products / (uint64_t)asked.n_spoilt,
                 next = (uint64_t)(n + 1) * n_products / (uint64_t)asked.n_spoilt;
        if (next == part) next = part + 1;
        uint64_t which = part + input_random(r->seed, 0x5901, (uint64_t)n) % (next - part) + 1;
        if (reaches(r, which, &spoil))
            n_reached++;
        else if (spoil.at)
            json_array_append_new(lost, place(spoil.at));
    }
    json_object_set_new(r->report, "products",
                        json_pack("{s:I, s:i, s:i, s:o}", "executed", (json_int_t)n_products,
                                  "tried", n, "reached", n_reached, "lost", lost));
    return why;
}

/* ---- One case ------------------------------------------------------------------------------------- */

static const char *run_on_emulator(struct trial_run *r) {
    const char *why = run_first(r);
    if (why || json_object_get(r->report, "reports")) return why;
    if ((why = run_scheduled(r)) || json_object_get(r->report, "reports")) return why;
    why = run_without_products(r);
    return why ? why : run_spoilt(r);
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
    return r->out && r->first ? NULL
                              : reason_as(STATUS_DEVICE, "not enough memory for the outputs");
}

static void run_close(struct trial_run *r) {
    subject_close(&r->subject);
    device_close(r->device);
    free(r->out);
    free(r->first);
    json_decref(r->report);
}

static const char *read_options(int argc, char **argv) {
    static const struct option rows[] = {{"device", 1, NULL, 'd'},
                                         {"chip", 1, NULL, 'c'},
                                         {"spoil", 1, NULL, 's'},
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
        case 's':
            asked.n_spoilt = atoi(optarg);
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
    struct trial_run r = {.folder = word[2], .report = json_object()};
    json_t *t = NULL, *changed = json_array();
    char path[4096];
    if ((why = trial_case(word[0], word[1], &t)) || (why = run_open(&r, t))) goto done;
    why = !device_info(r.device)->is_emulator ? run_on_gpu(&r, t)
          : asked.clock                       ? run_predicted(&r)
                                              : run_on_emulator(&r);
    if (!why) why = subject_changed(&r.subject, changed);
    json_object_set(r.report, "inputs_changed", changed);
    json_object_set_new(r.report, "device", json_string(device_info(r.device)->name));
    snprintf(path, sizeof path, "%s/report.json", r.folder);
    if (!why && json_dump_file(r.report, path, JSON_INDENT(1)))
        why = reason_as(STATUS_FILE, "%s cannot be written", path);
done:
    json_decref(t);
    json_decref(changed);
    run_close(&r);
    return why;
}
