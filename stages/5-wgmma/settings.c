#include "settings.h"

#include "profiler/counters.h"
#include "common/harness/input.h"
#include "common/harness/option_value.h"
#include "common/base/path.h"
#include "common/base/reason.h"

#include <getopt.h>
#include <limits.h>
#include <string.h>

void settings_help(FILE *f) {
    fputs(
        "stage-5: one WGMMA, C (64, N) = A (64, K) B (N, K)^T, checked and measured\n"
        "  --n N                  columns of C: 8, 16 ... 256 (64)\n"
        "  --k-steps S            K = 16 S: 1 ... 16 (1)\n"
        "  --swizzle W            none, 32, 64, 128: bytes (128)\n"
        "  --major-a k|m          which way A lies in shared memory (k)\n"
        "  --major-b k|n          which way B lies there (k)\n"
        "  --a smem|regs          where A comes from (smem)\n"
        "  --input NAME           normal, zeros, ... as in the other stages (normal)\n"
        "  --seed N               of the input (1)\n"
        "  --break WHAT           make a mistake and show what it does; exit 1 if it is caught:\n",
        f);
    for (int i = 0; mistake_name(i); i++)
        fprintf(f, "      %-21s%s\n", mistake_name(i), mistake_text(mistake_name(i)));
    fputs(
        "  --explain              print the map of shared memory and the descriptors, and stop\n"
        "  --sweep                measure everything; with --json F into a file of records\n"
        "  --device auto|cuda|emu  --chip NAME  --jobs N  --counters GROUP[,GROUP]|none  "
        "--no-time\n"
        "  --csv  --json F  --quiet  --help\n"
        "exit status: 0 right; 1 wrong, or the mistake was caught; 2 usage; 3 not a Hopper chip;\n"
        "4 device; 5 file; 6 no counters; 77 nothing here can run it; 130, 143 interrupted\n",
        f);
}

enum {
    N = 256,
    K_STEPS,
    SWIZZLE,
    MAJOR_A,
    MAJOR_B,
    A,
    INPUT,
    SEED,
    BREAK,
    EXPLAIN,
    SWEEP,
    DEVICE,
    CHIP,
    JOBS,
    COUNTERS,
    NO_TIME,
    CSV,
    JSON,
    QUIET,
    HELP
};

static const struct option options[] = {{"n", 1, 0, N},
                                        {"k-steps", 1, 0, K_STEPS},
                                        {"swizzle", 1, 0, SWIZZLE},
                                        {"major-a", 1, 0, MAJOR_A},
                                        {"major-b", 1, 0, MAJOR_B},
                                        {"a", 1, 0, A},
                                        {"input", 1, 0, INPUT},
                                        {"seed", 1, 0, SEED},
                                        {"break", 1, 0, BREAK},
                                        {"explain", 0, 0, EXPLAIN},
                                        {"sweep", 0, 0, SWEEP},
                                        {"device", 1, 0, DEVICE},
                                        {"chip", 1, 0, CHIP},
                                        {"jobs", 1, 0, JOBS},
                                        {"counters", 1, 0, COUNTERS},
                                        {"no-time", 0, 0, NO_TIME},
                                        {"csv", 0, 0, CSV},
                                        {"json", 1, 0, JSON},
                                        {"quiet", 0, 0, QUIET},
                                        {"help", 0, 0, HELP},
                                        {0}};

/* *out = which of the words, separated by '|', the value is. */
static const char *choose(const char *option, const char *value, const char *words, int *out) {
    size_t n = strlen(value);
    *out = 0;
    for (const char *w = words;; w += strcspn(w, "|") + 1, ++*out) {
        if (strcspn(w, "|") == n && !strncmp(w, value, n)) return NULL;
        if (!strchr(w, '|'))
            return reason_as(STATUS_USAGE, "%s takes %s, not '%s'", option, words, value);
    }
}

static const char *input_known(const char *name) {
    if (input_is_name(name) || !strcmp(name, "zeros")) return NULL;
    return reason_as(STATUS_USAGE, "--input takes zeros or what the other stages take, not '%.64s'",
                     name);
}

static const char *read_one(int option, const char *value, struct settings *s) {
    struct experiment *e = &s->e;
    int c = 0;
    const char *why = NULL;
    switch (option) {
    case N:
        return option_int("n", value, 8, 256, &e->n);
    case K_STEPS:
        return option_int("k-steps", value, 1, MAX_K_STEPS, &e->k_steps);
    case SWIZZLE:
        why = choose("--swizzle", value, "none|32|64|128", &c);
        e->swizzle = c ? 16 << c : 0;
        return why;
    case MAJOR_A:
        why = choose("--major-a", value, "k|m", &c), e->a_m_major = c;
        return why;
    case MAJOR_B:
        why = choose("--major-b", value, "k|n", &c), e->b_n_major = c;
        return why;
    case A:
        why = choose("--a", value, "smem|regs", &c), e->a_in_registers = c;
        return why;
    case INPUT:
        e->input = value;
        return input_known(value);
    case SEED:
        why = option_int("seed", value, 0, INT_MAX, &c), e->seed = c;
        return why;
    case BREAK:
        e->mistake = value;
        return mistake_text(value)
                   ? NULL
                   : reason_as(STATUS_USAGE, "--break: no mistake '%s'; --help lists them", value);
    case EXPLAIN:
        s->explain = true;
        return NULL;
    case SWEEP:
        s->sweep = true;
        return NULL;
    case DEVICE:
        return option_device(value, &s->device);
    case CHIP:
        s->chip = value;
        return NULL;
    case JOBS:
        return option_int("jobs", value, 1, 1024, &s->jobs);
    case COUNTERS:
        s->counters = strcmp(value, "none") ? value : NULL;
        return s->counters ? counters_check(value) : NULL;
    case NO_TIME:
        s->no_time = true;
        return NULL;
    case CSV:
        s->csv = true;
        return NULL;
    case JSON:
        s->json_path = value;
        return path_writable(value);
    case QUIET:
        s->quiet = true;
        return NULL;
    case HELP:
        s->help = true;
        return NULL;
    }
    return NULL;
}

/* Rules between options. */
static const char *combine(const struct experiment *e) {
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

const char *settings_read(int argc, char **argv, struct settings *out) {
    *out = (struct settings){
        .e = {.n = 64, .k_steps = 1, .swizzle = 128, .input = "normal", .seed = 1}};
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option < N)
            return reason_as(STATUS_USAGE, "'%s' is no option or lacks its value; see --help",
                             argv[optind - 1]);
        const char *why = read_one(option, optarg, out);
        if (why) return why;
    }
    if (optind < argc)
        return reason_as(STATUS_USAGE, "'%s' is not an option; see --help", argv[optind]);
    return combine(&out->e);
}
