/* Stage 5 on the host: no attention, but one WGMMA, a problem with options of its own. Checks one
 * product against double; measures it (--sweep: all of them); shows a mistake (--break); explains a
 * layout (--explain). */
#include "experiment.h"
#include "common/harness/input.h"
#include "common/harness/option_value.h"
#include "common/harness/run.h"
#include "common/harness/stage.h"

#include <string.h>

/* ---- What the command line asks for */

static struct asked {
    struct experiment experiment;
    bool explain, sweep; /* instead of running it */
} asked = {{.n = 64, .k_steps = 1, .swizzle = 128, .input = "normal"}, false, false};

/* *out = which of the words, separated by '|', the value is. */
static const char *choose(const char *option, const char *value, const char *words, int *out) {
    size_t n = strlen(value);
    *out = 0;
    for (const char *w = words;; w += strcspn(w, "|") + 1, ++*out) {
        if (strcspn(w, "|") == n && !strncmp(w, value, n)) return NULL;
        if (!strchr(w, '|'))
            return reason_as(STATUS_USAGE, "--%s takes %s, not '%.64s'", option, words, value);
    }
}

static const char *read_swizzle(const char *value, void *into) {
    int choice;
    const char *why = choose("swizzle", value, "none|32|64|128", &choice);
    ((struct asked *)into)->experiment.swizzle = choice ? 16 << choice : 0;
    return why;
}

/* A reader for each option with two words: the second one sets the field. */
#define EITHER(function, name, words, field)                                                       \
    static const char *function(const char *value, void *into) {                                   \
        int choice;                                                                                \
        const char *why = choose(name, value, words, &choice);                                     \
        ((struct asked *)into)->experiment.field = choice;                                         \
        return why;                                                                                \
    }
EITHER(read_major_a, "major-a", "k|m", a_m_major)
EITHER(read_major_b, "major-b", "k|n", b_n_major)
EITHER(read_a, "a", "smem|regs", a_in_registers)

static const char *read_input(const char *value, void *into) {
    ((struct asked *)into)->experiment.input = value;
    return strcmp(value, "zeros") ? option_input(value, &(const char *){NULL}) : NULL;
}

static const char *read_break(const char *value, void *into) {
    ((struct asked *)into)->experiment.mistake = value;
    if (mistake_text(value)) return NULL;
    return reason_as(STATUS_USAGE, "--break: no mistake '%.64s'; --help lists them", value);
}

#define INT(field, low, high) OPTION_INT(struct asked, experiment.field, low, high)
#define HELP(name, text)      "\n" name ": " text
static const struct option_row rows[] = {
    {"n", "N", "columns of C (64, N) = A (64, K) B (N, K)^T: 8, 16 ... 256 (64)", INT(n, 8, 256)},
    {"k-steps", "S", "K = 16 S: 1 ... 16 (1)", INT(k_steps, 1, MAX_K_STEPS)},
    {"swizzle", "W", "none, 32, 64 or 128 (default) bytes", .read = read_swizzle},
    {"major-a", "M", "which way A lies in shared memory: k (default) or m", .read = read_major_a},
    {"major-b", "M", "which way B lies there: k (default) or n", .read = read_major_b},
    {"a", "FROM", "where A comes from: smem (default) or regs", .read = read_a},
    {"input", "NAME",
     "made inputs: zeros, normal (default) outlier normal3 uniform ascending\n"
     "descending negative constant ramp identity index",
     .read = read_input},
    {"break", "WHAT",
     "make a mistake and show what it does; exit 1 if it is caught:" MISTAKES(HELP),
     .read = read_break},
    {"explain", NULL, "print the map of shared memory and the descriptors, and do\nnothing else",
     OPTION_SWITCH(struct asked, explain, true)},
    {"sweep", NULL, "measure everything; with --json, into a file of records",
     OPTION_SWITCH(struct asked, sweep, true)},
    {0},
};
static const struct option_table options = {rows, &asked};

/* Rules between options. */
static const char *check(const struct experiment *e) {
    char image[48];
    if (e->n % 8) return reason_as(STATUS_USAGE, "--n %d: wgmma takes multiples of 8", e->n);
    if (e->a_in_registers && e->a_m_major)
        return reason_as(STATUS_USAGE,
                         "--a regs goes without --major-a m: registers have one layout");
    if (strchr(experiment_image(e, image), '-') &&
        (e->n != 64 || e->a_in_registers || e->a_m_major || e->b_n_major))
        return reason_as(STATUS_USAGE, "--break %s is compiled for --n 64, A and B K-major in smem",
                         e->mistake);
    return NULL;
}

/* ---- What it does */

static const char *explain_layout(const struct experiment *e) {
    struct matrices m;
    const char *why = matrices_make(e, &m);
    if (!why) explain(stdout, e, &m);
    matrices_free(&m);
    return why;
}

static const char *open_hopper(const struct options *o, struct device **out) {
    const char *why = run_device(o, out);
    if (why || device_info(*out)->chip.cc == 90) return why;
    return reason_as(STATUS_UNSUPPORTED,
                     "stage 5 needs a Hopper chip (compute capability 9.0): %s has none; "
                     "--device emu --chip h200 emulates one",
                     device_info(*out)->name);
}

static enum status run(const struct options *o, int argc, char **argv) {
    struct experiment e = asked.experiment;
    struct device *d = NULL;
    enum status status = STATUS_RIGHT;
    e.seed = o->seed;
    const char *why = check(&e);
    if (!why && asked.explain) {
        why = explain_layout(&e);
    } else if (!why && !(why = open_hopper(o, &d))) {
        if (asked.sweep)
            why = measure_sweep(d, o->json_path, argc, argv);
        else
            status = product(&e, o, d, argc, argv);
    }
    device_close(d);
    return why ? run_failed(why, STATUS_DEVICE) : status;
}

const struct stage stage = {
    .name = STAGE_FOLDER,
    .previous = STAGE_PREVIOUS,
    .max_registers = 230, /* N = 256, measured with A in registers */
    .options = &options,
    .run = run,
};
