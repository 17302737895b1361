#include "settings.h"

#include "common/base/heap.h"
#include "common/base/reason.h"
#include "common/harness/option_value.h"

#include <getopt.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_CODE = 256 };

/* "8", "8x4" or "8x4x2"; what is not said is 1. */
static const char *read_extent(const char *option, const char *text, unsigned out[3]) {
    const char *at = text;
    out[0] = out[1] = out[2] = 1;
    for (int d = 0; d < 3; d++) {
        char *end;
        unsigned long n = strtoul(at, &end, 10);
        if (end == at || *at == '-' || n < 1 || n > 0x7fffffff) break;
        out[d] = (unsigned)n;
        if (!*end) return NULL;
        if (*end != 'x') break;
        at = end + 1;
    }
    return reason_as(STATUS_USAGE, "--%s takes X, XxY or XxYxZ, not '%.64s'", option, text);
}

static const char *add_word(const char *option, const char *value, const char **list, int *n) {
    if (*n == SETTINGS_MAX_ARGS)
        return reason_as(STATUS_USAGE, "more than %d times --%s", SETTINGS_MAX_ARGS, option);
    list[(*n)++] = value;
    return NULL;
}

/* clang-format off */
enum name {
    DEVICE, CHIP, COUNTERS, LIST_COUNTERS, KERNEL_NAME, LAUNCH_SKIP, LAUNCH_COUNT, SOURCE, LAUNCHES, JSON, CSV, QUIET, JOBS, SCHEDULE, SEED, EARLY, NO_RACES, COUNT_PTX,
    MMA_EXACT, TRACE, BANKS, WITHOUT, TRUST, WATCH, WATCH_PAGE, MAX_INSTRUCTIONS, TIMEOUT, PROGRESS, REPEATS, SAMPLE_BLOCKS, CHECK_BLOCKS,
    SM_CLOCK, CACHE, PREDICT_BUDGET, PREDICT_ONLY, NO_PREDICT, KERNEL, GRID, BLOCK,
    CLUSTER, SHARED, ARG, EXPECT, TOLERANCE, HELP, VERSION, N_NAMES
};
static const struct {
    const char *name, *value, *help;
} table[N_NAMES] = {
    [DEVICE] = {"device", "D", "auto (default: a GPU, else the emulator), cuda or emu"},
    [CHIP] = {"chip", "NAME", "what the emulator stands for: h200 (default) h100 l4 rtx4090 a100"},
    [COUNTERS] = {"counters", "G,G", "print counter groups of each kernel"},
    [LIST_COUNTERS] = {"list-counters", NULL, "print the groups and their questions"},
    [KERNEL_NAME] = {"kernel-name", "REGEX", "print kernels whose name matches only; all run"},
    [LAUNCH_SKIP] = {"launch-skip", "N", "do not count the first N launches (of kernels whose name matches); all run"},
    [LAUNCH_COUNT] = {"launch-count", "N", "count N launches, then none; all run"},
    [SOURCE] = {"source", NULL, "print counts beside the source lines"},
    [LAUNCHES] = {"launches", NULL, "print a row for each launch"},
    [JSON] = {"json", "FILE", "append the record to FILE, one line"},
    [CSV] = {"csv", NULL, "print one table of values separated by commas; the rest goes to stderr"},
    [QUIET] = {"quiet", NULL, "print nothing but failed checks"},
    [JOBS] = {"jobs", "N", "host threads (one for each core); 1 is deterministic"},
    [SCHEDULE] = {"schedule", "HOW", "round-robin (default), random (by --seed) or adversarial"},
    [SEED] = {"seed", "N", "of --schedule random, and of made arguments (1)"},
    [EARLY] = {"early", NULL, "asynchronous copies and products complete when issued"},
    [NO_RACES] = {"no-races", NULL, "look for no races and no uninitialised values"},
    [COUNT_PTX] = {"count-ptx", NULL, "count PTX only, not what ptxas made of it: takes less time"},
    [MMA_EXACT] = {"mma-exact", NULL, "tensor cores round once, as no hardware does"},
    [TRACE] = {"trace", "LINE", "print one warp's values at this line"},
    [BANKS] = {"banks", "LINE", "print which banks shared accesses at this line want"},
    [WITHOUT] = {"without", "LINE", "leave out the barriers, waits and fences of this line; list shows them"},
    [TRUST] = {"trust", "FILE", "count, but do not report, races in these headers: lines of WHERE WITHIN, parts of paths\n"
                                "(default: in-place unique and select of CUB and Thrust, the end of a cuda::pipeline, collectives of tiles of\n"
                                "several warps; an empty FILE: nothing)"},
    [WATCH] = {"watch", "ADDRESS", "print every access to ADDRESS; shared:N is one in shared memory"},
    [WATCH_PAGE] = {"watch-page", "FILE", "write what a block does, cycle by cycle, as a page for a browser: of the first launch, with\n--kernel-name of the first that matches"},
    [MAX_INSTRUCTIONS] = {"max-instructions", "N", "end a launch after N warp instructions, and say what it does"},
    [TIMEOUT] = {"timeout", "S", "the same after S seconds"},
    [PROGRESS] = {"progress", NULL, "say how far a launch over 2 s is, even to no terminal"},
    [REPEATS] = {"repeats", "N", "equal launches after the N-th run only if somebody looks at what they change: for programs that time; 0: all launches"},
    [SAMPLE_BLOCKS] = {"sample-blocks", "N", "of each launch run N blocks only, to look for failed checks: results are incomplete"},
    [CHECK_BLOCKS] = {"check-blocks", "N", "look for races and uninitialised values in N blocks of each launch; all are run and counted"},
    [SM_CLOCK] = {"sm-clock", "MHZ", "SM clock of predicted times (the chip's boost clock)"},
    [CACHE] = {"cache", "HOW", "what L2 holds when a predicted launch begins: as-run (default: warm, but nothing of its data behind\na memset as large as L2), warm (what the same launch has left there) or cold"},
    [PREDICT_BUDGET] = {"predict-budget", "S", "most work of predictions, in seconds of a core: of a program (20), of one kernel's launch (60)"},
    [PREDICT_ONLY] = {"predict-only", "N", "predict the first N launches, with --predict-budget for each, and end the program; a launch of more\ninstructions than --max-instructions (200 million) does not run"},
    [NO_PREDICT] = {"no-predict", NULL, "predict no cycles"},
    [KERNEL] = {"kernel", "NAME", "run this kernel of FILE.cu or FILE.ptx, without host code:"},
    [GRID] = {"grid", "XxYxZ", "its blocks (1)"},
    [BLOCK] = {"block", "XxYxZ", "its threads in a block (1)"},
    [CLUSTER] = {"cluster", "XxYxZ", "its blocks in a cluster"},
    [SHARED] = {"shared", "BYTES", "its dynamic shared memory (0)"},
    [ARG] = {"arg", "A", "its next argument: i32=256  f32=0.5  f32[256x256]=normal|uniform|zero|ramp|FILE.npy\n"
                         "f32[256x256]=out:FILE.npy (out: without a file); f16 bf16 f32 f64 i8 u8 ... u64;\n"
                         "of whole numbers uniform is -100 to 100 (unsigned: 0 to 100), normal is rounded (unsigned: without its sign)"},
    [EXPECT] = {"expect", "FILE", "what the next out: array must hold (.npy of the same shape)"},
    [TOLERANCE] = {"tolerance", "X", "of --expect, relative to its largest value (1e-5 f32, 1e-2 f16)"},
    [HELP] = {"help", NULL, "this page"},
    [VERSION] = {"version", NULL, "the revision this was built from"},
};
/* clang-format on */

void settings_help(FILE *f, const char *program) {
    fprintf(f,
            "usage: %s [options] PROGRAM [arguments]\n"
            "       %s [options] --kernel NAME --grid G --block B --arg A ... FILE.cu\n"
            "Runs a CUDA program (from runtime/attnlab-nvcc), or one kernel without a program, on "
            "a GPU or\non the emulator, and counts every launch. The emulator reports what would "
            "go wrong. Instructions\nare those of machine code (SASS); where the emulator cannot "
            "execute it, those of PTX, marked so.\n\n",
            program, program);
    for (int i = 0; i < N_NAMES; i++) {
        char left[40];
        snprintf(left, sizeof left, "--%s %s", table[i].name, table[i].value ? table[i].value : "");
        const char *line = table[i].help;
        for (int first = 1; line; first = 0) {
            int bytes = (int)strcspn(line, "\n");
            fprintf(f, "  %-20s %.*s\n", first ? left : "", bytes, line);
            line = line[bytes] ? line + bytes + 1 : NULL;
        }
    }
    fprintf(f,
            "\nexit: the program's own; else 0 right, 1 a failed check or a wrong answer, 2 usage, "
            "3 a program or\nkernel that cannot run here, 4 device failure, 5 file failure, 6 no "
            "counters, 77 nothing here can\nrun it, 130/143 interrupted\n");
}

static const char *read_cache(const char *value, enum settings_cache *out) {
    static const char *const names[] = {
        [SETTINGS_AS_RUN] = "as-run", [SETTINGS_WARM] = "warm", [SETTINGS_COLD] = "cold"};
    for (int i = 0; i < 3; i++) {
        *out = (enum settings_cache)i;
        if (!strcmp(value, names[i])) return NULL;
    }
    return reason_as(STATUS_USAGE, "--cache takes as-run, warm or cold, not '%.64s'", value);
}

static const char *read_one(enum name n, const char *value, struct settings *s) {
    struct emu_options *e = &s->emulator;
    const char *why = NULL;
    regex_t regex;
    double x = 0;
    int i = 0;
    switch (n) {
    case DEVICE:
        return option_device(value, &s->device);
    case CHIP:
        return option_chip(value, &s->chip);
    case JOBS:
        return option_int("jobs", value, 1, 1024, &e->n_threads);
    case SCHEDULE:
        return option_schedule(value, &e->schedule);
    case SEED:
        return option_seed(value, &e->seed);
    case TRACE:
        return option_int("trace", value, 1, 1000000, &e->trace_line);
    case BANKS:
        return option_int("banks", value, 1, 1000000, &e->banks_line);
    case WATCH:
        return option_watch(value, e);
    case MAX_INSTRUCTIONS:
        why = option_real("max-instructions", value, 1, 1e18, &x);
        e->max_instructions = (uint64_t)x;
        return why;
    case TIMEOUT:
        return option_real("timeout", value, 0.001, 1e6, &e->timeout_s);
    case REPEATS:
        s->puts_off = e->alike_once = true;
        return option_int("repeats", value, 0, 1000000, &s->repeats);
    case SAMPLE_BLOCKS:
        why = option_int("sample-blocks", value, 1, 1000000, &i);
        e->sample_blocks = (uint64_t)i;
        return why;
    case CHECK_BLOCKS:
        why = option_int("check-blocks", value, 1, 1000000, &i);
        e->check_blocks = (uint64_t)i;
        return why;
    case SM_CLOCK:
        return option_real("sm-clock", value, 1, 10000, &e->clock_mhz);
    case CACHE:
        return read_cache(value, &s->cache);
    case PREDICT_BUDGET:
        return option_real("predict-budget", value, 1e-6, 1e6, &s->predict_budget_s);
    case PREDICT_ONLY:
        e->no_checks = true;
        return option_int("predict-only", value, 1, 1000000000, &s->predict_only);
    case GRID:
        return read_extent("grid", value, s->grid);
    case BLOCK:
        return read_extent("block", value, s->block);
    case CLUSTER:
        return read_extent("cluster", value, s->cluster);
    case SHARED:
        why = option_int("shared", value, 0, 1 << 24, &i);
        s->shared_bytes = (unsigned)i;
        return why;
    case TOLERANCE:
        return option_real("tolerance", value, 0, 1e30, &s->tolerance);
    case ARG:
        return add_word("arg", value, s->arg, &s->n_args);
    case EXPECT:
        return add_word("expect", value, s->expected, &s->n_expected);
    case COUNTERS:
        s->counters = value;
        break;
    case LIST_COUNTERS:
        s->list_counters = true;
        break;
    case KERNEL_NAME:
        s->kernel_name = value;
        if (regcomp(&regex, value, REG_EXTENDED | REG_NOSUB))
            return reason_as(STATUS_USAGE, "--kernel-name takes a regular expression, not '%.64s'",
                             value);
        regfree(&regex);
        break;
    case LAUNCH_SKIP:
        return option_int("launch-skip", value, 0, 1000000000, &s->launch_skip);
    case LAUNCH_COUNT:
        return option_int("launch-count", value, 1, 1000000000, &s->launch_count);
    case WATCH_PAGE:
        s->watch_page = value;
        break;
    case JSON:
        s->json_path = value;
        break;
    case WITHOUT:
        e->without = value;
        break;
    case TRUST:
        return emu_trust_read(value, &e->trust, &e->n_trust);
    case KERNEL:
        s->kernel = value;
        break;
    case SOURCE:
        s->source = true;
        break;
    case LAUNCHES:
        s->every_launch = true;
        break;
    case CSV:
        s->csv = true;
        break;
    case QUIET:
        s->quiet = true;
        break;
    case EARLY:
        e->async_early = true;
        break;
    case NO_RACES:
        e->no_checks = true;
        break;
    case COUNT_PTX:
        e->count_ptx = true;
        break;
    case MMA_EXACT:
        e->mma_exact = true;
        break;
    case NO_PREDICT:
        s->no_predict = true;
        break;
    case PROGRESS:
        e->progress = true;
        break;
    case HELP:
        s->help = true;
        break;
    case VERSION:
        s->version = true;
        break;
    case N_NAMES:
        break;
    }
    return why;
}

/* getopt has state of its own, which the program may be using: options are read by hand. */
static const char *find(const char *word, enum name *n, const char **value) {
    size_t length = strcspn(word, "=");
    for (int i = 0; i < N_NAMES; i++) {
        if (strlen(table[i].name) != length || strncmp(table[i].name, word, length)) continue;
        *n = (enum name)i;
        *value = word[length] ? word + length + 1 : NULL;
        if (*value && !table[i].value)
            return reason_as(STATUS_USAGE, "--%s takes no value", table[i].name);
        return NULL;
    }
    return reason_as(STATUS_USAGE, "no option --%.64s; build/run --help lists all", word);
}

bool settings_means(const struct settings *s, const char *shown) {
    regex_t regex;
    if (!s->kernel_name || regcomp(&regex, s->kernel_name, REG_EXTENDED | REG_NOSUB)) return true;
    const bool yes = !regexec(&regex, shown, 0, NULL, 0);
    regfree(&regex);
    return yes;
}

const char *settings_read(int argc, char **argv, struct settings *s) {
    const char *why = NULL;
    int at = 1;
    *s = (struct settings){.grid = {1, 1, 1}, .block = {1, 1, 1}, .tolerance = -1};
    s->emulator.seed = 1;
    while (at < argc && !strncmp(argv[at], "--", 2) && !why) {
        enum name n = N_NAMES;
        const char *value;
        if (!argv[at][2]) { /* "--": the rest is the program's */
            at++;
            break;
        }
        why = find(argv[at++] + 2, &n, &value);
        if (why) break;
        if (table[n].value && !value) {
            if (at == argc)
                return reason_as(STATUS_USAGE,
                                 "--%s needs a value; build/run --help lists all options",
                                 table[n].name);
            value = argv[at++];
        }
        why = read_one(n, value, s);
    }
    s->n_words = at - 1;
    if (s->predict_only && !s->emulator.max_instructions)
        s->emulator.max_instructions = SETTINGS_PREDICT_ONLY_RUN;
    if (s->emulator.schedule) s->emulator.draw = s->emulator.seed;
    if (!why && !s->kernel && (s->n_args || s->n_expected))
        why = reason_as(STATUS_USAGE, "--arg and --expect belong to a kernel: say --kernel NAME");
    const bool chooses = s->launch_skip || s->launch_count;
    if (!why && chooses && s->puts_off)
        why = reason_as(STATUS_USAGE, "--repeats leaves out launches that --launch-skip and "
                                      "--launch-count number: give one of them");
    if (!why && chooses && s->kernel)
        why = reason_as(STATUS_USAGE, "--kernel makes one launch: --launch-skip and --launch-count "
                                      "choose among those of a program");
    return why;
}

const char *settings_to_environment(const struct settings *s, char **argv) {
    size_t bytes = 1;
    for (int i = 1; i <= s->n_words; i++) bytes += strlen(argv[i]) + 1;
    char *text = calloc(1, bytes), *to = text;
    if (!text) return "no memory for the options";
    for (int i = 1; i <= s->n_words; i++) {
        to = stpcpy(to, argv[i]);
        *to++ = '\n';
    }
    heap_setenv("ATTNLAB_RUN", text);
    free(text);
    return NULL;
}

const char *settings_from_environment(struct settings *out) {
    static char *words[256];
    int n = 1;
    const char *given = getenv("ATTNLAB_RUN");
    char *text = strdup(given ? given : "");
    if (!text) return "no memory for the options";
    for (char *save, *word = strtok_r(text, "\n", &save); word && n < 256;
         word = strtok_r(NULL, "\n", &save))
        words[n++] = word; /* settings point into it: it stays */
    return settings_read(n, words, out);
}

void settings_keep_stdout(void) {
    char number[16];
    const int kept = dup(STDOUT_FILENO);
    if (kept < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return; /* then they share stdout */
    snprintf(number, sizeof number, "%d", kept);
    heap_setenv("ATTNLAB_CSV", number);
}

FILE *settings_csv(void) {
    const char *kept = getenv("ATTNLAB_CSV");
    FILE *f = kept ? fdopen(atoi(kept), "w") : NULL;
    return f ? f : stdout;
}
