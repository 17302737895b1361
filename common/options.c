#include "options.h"

#include "input.h"
#include "reason.h"

#include <getopt.h>
#include <limits.h>
#include <string.h>

enum option_code {
    O_BATCH = 256,
    O_HEADS,
    O_KV_HEADS,
    O_SEQLEN,
    O_SEQLEN_Q,
    O_SEQLEN_K,
    O_HEAD_DIM,
    O_CAUSAL,
    O_SCALE,
    O_INPUT,
    O_SEED,
    O_Q,
    O_K,
    O_V,
    O_OUT,
    O_LSE,
    O_DEVICE,
    O_CHIP,
    O_JOBS,
    O_SCHEDULE,
    O_EARLY,
    O_NO_RACES,
    O_MMA_EXACT,
    O_TRACE,
    O_BANKS,
    O_WITHOUT,
    O_WATCH,
    O_COUNTERS,
    O_LIST_COUNTERS,
    O_SOURCE,
    O_TIMELINE,
    O_NO_CHECK,
    O_NO_TIME,
    O_L2,
    O_MIN_TIME,
    O_MAX_SAMPLES,
    O_SWEEP_RANDOM,
    O_REPEAT_CHECK,
    O_IMAGE,
    O_FALLBACK,
    O_CSV,
    O_JSON,
    O_QUIET,
    O_HELP,
    O_VERSION
};

/* One line of --help for each option: value NULL for a switch, "=X" for an optional value. */
static const struct {
    const char *name, *value;
    enum option_code code;
    const char *help;
} table[] = {
    {"batch", "N", O_BATCH, "batch (1)"},
    {"heads", "N", O_HEADS, "query heads (8)"},
    {"kv-heads", "N", O_KV_HEADS, "K and V heads, a divisor of heads (as many)"},
    {"seqlen", "N", O_SEQLEN, "queries and keys (512)"},
    {"seqlen-q", "N", O_SEQLEN_Q, "queries"},
    {"seqlen-k", "N", O_SEQLEN_K, "keys"},
    {"head-dim", "N", O_HEAD_DIM, "elements of a row (64)"},
    {"causal", "=A", O_CAUSAL, "mask keys after the query; A: bottom-right (default) or top-left"},
    {"scale", "X", O_SCALE, "multiplies Q K^T (1/sqrt(head_dim))"},
    {"input", "NAME", O_INPUT,
     "made inputs: normal (default) outlier normal3 uniform ascending\n"
     "descending negative constant ramp identity index"},
    {"seed", "N", O_SEED, "of the made inputs (1)"},
    {"q", "FILE", O_Q, "Q from a .npy file: fp16, C order, (batch, heads, seqlen_q, head_dim)"},
    {"k", "FILE", O_K, "K, (batch, kv_heads, seqlen_k, head_dim)"},
    {"v", "FILE", O_V, "V, as K"},
    {"out", "FILE", O_OUT, "write O to a .npy file, fp16"},
    {"lse", "FILE", O_LSE, "write LSE to a .npy file, fp32"},
    {"device", "D", O_DEVICE, "auto (default: a GPU, else the emulator), cuda or emu"},
    {"chip", "NAME", O_CHIP, "what the emulator stands for: h200 (default) l4 rtx4090 a100"},
    {"jobs", "N", O_JOBS, "emulator: host threads (one for each core); 1 is deterministic"},
    {"schedule", "HOW", O_SCHEDULE,
     "emulator: round-robin (default), random (by --seed) or adversarial"},
    {"early", NULL, O_EARLY, "emulator: asynchronous copies and products complete when issued"},
    {"no-races", NULL, O_NO_RACES, "emulator: look for no races and no uninitialised values"},
    {"mma-exact", NULL, O_MMA_EXACT, "emulator: tensor cores round once, as no hardware does"},
    {"trace", "LINE", O_TRACE, "emulator: print one warp's values at this line of kernel.cu"},
    {"banks", "LINE", O_BANKS, "emulator: print which banks shared accesses at this line want"},
    {"without", "LINE", O_WITHOUT,
     "emulator: leave out the barriers, waits and fences of this line; list shows them"},
    {"watch", "ADDRESS", O_WATCH, "emulator: print every access to ADDRESS; shared:N is an offset"},
    {"counters", "G,G", O_COUNTERS, "counter groups (" COUNTERS_DEFAULT "), or none"},
    {"list-counters", NULL, O_LIST_COUNTERS, "print the groups and their questions"},
    {"source", NULL, O_SOURCE,
     "print the kernel with counts beside its lines, and do nothing else"},
    {"timeline", "FILE", O_TIMELINE,
     "sample what the GPU does every 2 us, write it as a table, and do\nnothing else"},
    {"no-check", NULL, O_NO_CHECK, "do not compare with the reference"},
    {"no-time", NULL, O_NO_TIME, "do not take time"},
    {"l2", "HOW", O_L2, "warm (default) or cold: L2 flushed before each sample"},
    {"min-time", "S", O_MIN_TIME, "sample for at least S seconds (0.25) ..."},
    {"max-samples", "N", O_MAX_SAMPLES, "... or N samples (200)"},
    {"sweep-random", "N", O_SWEEP_RANDOM,
     "check N random problems, drawn from --seed, and do nothing else"},
    {"repeat-check", "N", O_REPEAT_CHECK,
     "check that N runs are bitwise equal, and do nothing else"},
    {"image", "NAME", O_IMAGE, "launch this line of the stage's file images, not the planned one"},
    {"fallback", NULL, O_FALLBACK, "run the stage before if this one cannot run or a gate fails"},
    {"csv", NULL, O_CSV, "print values separated by commas"},
    {"json", "FILE", O_JSON, "append the record to FILE, one line"},
    {"quiet", NULL, O_QUIET, "print nothing but errors"},
    {"help", NULL, O_HELP, "this page"},
    {"version", NULL, O_VERSION, "the revision this was built from"},
};
enum { N_OPTIONS = sizeof table / sizeof *table };

void options_help(FILE *f, const char *program) {
    fprintf(f, "usage: %s [options]\nChecks the answer, then times it, then counts it.\n\n",
            program);
    for (int i = 0; i < N_OPTIONS; i++) {
        char left[40];
        const char *value = table[i].value ? table[i].value : "";
        snprintf(left, sizeof left, "--%s%s%s%s%s", table[i].name,
                 *value == '=' ? "["
                 : *value      ? " "
                               : "",
                 value, *value == '=' ? "]" : "", "");
        const char *line = table[i].help;
        for (int first = 1; line; first = 0) {
            int bytes = (int)strcspn(line, "\n");
            fprintf(f, "  %-20s %.*s\n", first ? left : "", bytes, line);
            line = line[bytes] ? line + bytes + 1 : NULL;
        }
    }
    fprintf(f, "\nexit: 0 right, 1 wrong answer, 2 usage, 3 unsupported problem or chip, 4 device "
               "failure,\n"
               "5 file failure, 6 no counters, 77 nothing here can run it, 130/143 interrupted\n");
}

/* ---- The line ------------------------------------------------------------------------------- */

/* What the line said that only makes sense beside something else. */
struct seen {
    bool shape, made, seqlen, seqlen_q, seqlen_k, kv_heads;
};

static const char *read_problem(int code, const char *value, struct attention *a,
                                struct seen *seen) {
    double scale;
    const char *why;
    seen->shape |= code >= O_BATCH && code <= O_HEAD_DIM;
    switch (code) {
    case O_BATCH:
        return option_int("batch", value, 0, INT_MAX, &a->batch);
    case O_HEADS:
        return option_int("heads", value, 0, INT_MAX, &a->heads);
    case O_KV_HEADS:
        seen->kv_heads = true;
        return option_int("kv-heads", value, 0, INT_MAX, &a->kv_heads);
    case O_SEQLEN:
        seen->seqlen = true;
        if ((why = option_int("seqlen", value, 0, INT_MAX, &a->seqlen_q))) return why;
        a->seqlen_k = a->seqlen_q;
        return NULL;
    case O_SEQLEN_Q:
        seen->seqlen_q = true;
        return option_int("seqlen-q", value, 0, INT_MAX, &a->seqlen_q);
    case O_SEQLEN_K:
        seen->seqlen_k = true;
        return option_int("seqlen-k", value, 0, INT_MAX, &a->seqlen_k);
    case O_HEAD_DIM:
        return option_int("head-dim", value, 1, INT_MAX, &a->head_dim);
    case O_CAUSAL:
        return option_causal(value, &a->mask);
    default:
        if ((why = option_real("scale", value, 1e-30, 1e30, &scale))) return why;
        a->scale = (float)scale;
        return NULL;
    }
}

static const char *read_one(int code, const char *value, struct options *o, struct seen *seen) {
    if (code <= O_SCALE) return read_problem(code, value, &o->problem, seen);
    seen->made |= code == O_INPUT || code == O_SEED;
    switch (code) {
    case O_INPUT:
        return option_input(value, &o->input);
    case O_SEED:
        return option_seed(value, &o->seed);
    case O_Q:
        o->q_path = value;
        return NULL;
    case O_K:
        o->k_path = value;
        return NULL;
    case O_V:
        o->v_path = value;
        return NULL;
    case O_OUT:
        o->out_path = value;
        return NULL;
    case O_LSE:
        o->lse_path = value;
        return NULL;
    case O_DEVICE:
        return option_device(value, &o->device);
    case O_CHIP:
        return option_chip(value, &o->chip);
    case O_JOBS:
        return option_int("jobs", value, 1, 1024, &o->emulator.n_threads);
    case O_SCHEDULE:
        return option_schedule(value, &o->emulator.schedule);
    case O_EARLY:
        o->emulator.async_early = true;
        return NULL;
    case O_NO_RACES:
        o->emulator.no_checks = true;
        return NULL;
    case O_MMA_EXACT:
        o->emulator.mma_exact = true;
        return NULL;
    case O_TRACE:
        return option_int("trace", value, 1, 1000000, &o->emulator.trace_line);
    case O_BANKS:
        return option_int("banks", value, 1, 1000000, &o->emulator.banks_line);
    case O_WITHOUT:
        o->emulator.without = value;
        return NULL;
    case O_WATCH:
        return option_watch(value, &o->emulator);
    case O_COUNTERS:
        o->counters = value;
        o->counters_asked = strcmp(value, "none") != 0;
        return NULL;
    case O_SOURCE:
        o->source = true;
        return NULL;
    case O_TIMELINE:
        o->timeline_path = value;
        return NULL;
    case O_LIST_COUNTERS:
        o->list_counters = true;
        return NULL;
    case O_NO_CHECK:
        o->check = false;
        return NULL;
    case O_NO_TIME:
        o->time = false;
        return NULL;
    case O_L2:
        return option_l2(value, &o->cold);
    case O_MIN_TIME:
        return option_real("min-time", value, 0, 3600, &o->min_time_s);
    case O_MAX_SAMPLES:
        return option_int("max-samples", value, 1, 1000000, &o->max_samples);
    case O_SWEEP_RANDOM:
        return option_int("sweep-random", value, 1, 10000000, &o->sweep_random);
    case O_REPEAT_CHECK:
        return option_int("repeat-check", value, 2, 1000000, &o->repeat_check);
    case O_IMAGE:
        return option_image(value, &o->image);
    case O_FALLBACK:
        o->fallback = true;
        return NULL;
    case O_CSV:
        o->csv = true;
        return NULL;
    case O_JSON:
        o->json_path = value;
        return NULL;
    case O_QUIET:
        o->quiet = true;
        return NULL;
    case O_HELP:
        o->help = true;
        return NULL;
    default:
        o->version = true;
        return NULL;
    }
}

/* Rules between options, after all of them were read. */
static const char *options_complete(struct options *o, const struct seen *seen) {
    struct attention *a = &o->problem;
    o->emulator.seed = o->seed;
    bool files = o->q_path || o->k_path || o->v_path;
    if (files && !(o->q_path && o->k_path && o->v_path))
        return reason_as(STATUS_USAGE, "--q, --k and --v go together: give all three files");
    if (files && seen->shape)
        return reason_as(STATUS_USAGE,
                         "the shapes of the files are the problem: leave out --batch, "
                         "--heads, --seqlen and --head-dim");
    if (files && (seen->made || o->sweep_random))
        return reason_as(STATUS_USAGE,
                         "--q, --k and --v are the inputs: leave out --input, --seed and "
                         "--sweep-random");
    if (seen->seqlen && (seen->seqlen_q || seen->seqlen_k))
        return reason_as(STATUS_USAGE, "--seqlen sets queries and keys: give it, or --seqlen-q and "
                                       "--seqlen-k");
    if (o->sweep_random && o->repeat_check)
        return reason_as(STATUS_USAGE, "choose one of --sweep-random and --repeat-check");
    if (files) return NULL;
    if (!seen->kv_heads) a->kv_heads = a->heads;
    const char *why = attention_complete(a);
    return why ? reason_as(STATUS_UNSUPPORTED, "%s", why) : NULL;
}

const char *options_read(int argc, char **argv, struct options *out) {
    struct option longs[N_OPTIONS + 1] = {0};
    struct seen seen = {0};
    int code;
    *out = (struct options){.problem = attention_default(),
                            .input = "normal",
                            .seed = 1,
                            .counters = COUNTERS_DEFAULT,
                            .check = true,
                            .time = true,
                            .min_time_s = 0.25,
                            .max_samples = 200};
    for (int i = 0; i < N_OPTIONS; i++)
        longs[i] = (struct option){table[i].name,
                                   !table[i].value          ? no_argument
                                   : *table[i].value == '=' ? optional_argument
                                                            : required_argument,
                                   NULL, table[i].code};
    optind = 0; /* start over: tests read several lines */
    while ((code = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
        const char *word = argv[optind > 0 ? optind - 1 : 0];
        if (code == ':') return reason_as(STATUS_USAGE, "%.64s needs a value (see --help)", word);
        if (code == '?') return reason_as(STATUS_USAGE, "no option %.64s (see --help)", word);
        const char *why = read_one(code, optarg, out, &seen);
        if (why) return why;
    }
    if (optind < argc)
        return reason_as(STATUS_USAGE, "'%.64s' is no option (see --help)", argv[optind]);
    if (out->help || out->version || out->list_counters) return NULL;
    return options_complete(out, &seen);
}
