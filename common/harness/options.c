#include "options.h"

#include "option_row.h"
#include "option_value.h"

#include "input.h"
#include "common/base/reason.h"
#include "timing.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

/* What the line said that only makes sense, or no sense, beside something else. */
enum options_seen {
    SHAPE = 1,
    MADE = 2,
    SEQLEN = 4,
    SEQLEN_EACH = 8,
    KV_HEADS = 16,
    EMULATED = 32,
    WAY = 64
};

static const char *read_seqlen(const char *value, void *into) {
    struct options *o = into;
    const char *why = option_int("seqlen", value, 0, INT_MAX, &o->problem.seqlen_q);
    o->problem.seqlen_k = o->problem.seqlen_q;
    return why;
}

static const char *read_scale(const char *value, void *into) {
    struct options *o = into;
    double scale = 0;
    const char *why = option_real("scale", value, 1e-30, 1e30, &scale);
    o->problem.scale = (float)scale;
    return why;
}

static const char *read_counters(const char *value, void *into) {
    struct options *o = into;
    o->counters = value;
    o->counters_asked = strcmp(value, "none") != 0;
    return NULL;
}

static const char *read_min_time(const char *value, void *into) {
    return option_real("min-time", value, 0, 3600, &((struct options *)into)->min_time_s);
}

static const char *read_timeout(const char *value, void *into) {
    return option_real("timeout", value, 0.001, 1e6, &((struct options *)into)->emulator.timeout_s);
}

static const char *read_sm_clock(const char *value, void *into) {
    return option_real("sm-clock", value, 1, 10000, &((struct options *)into)->emulator.clock_mhz);
}

static const char *read_trace(const char *value, void *into) {
    int *line = &((struct options *)into)->emulator.trace_line;
    if (strcmp(value, "all")) return option_int("trace", value, 1, 1000000, line);
    *line = EMU_EVERY_LINE;
    return NULL;
}

static const char *read_max_instructions(const char *value, void *into) {
    struct options *o = into;
    double n = 0;
    const char *why = option_real("max-instructions", value, 1, 1e18, &n);
    o->emulator.max_instructions = (uint64_t)n;
    return why;
}

/* A reader for each option whose value option_value.c reads into one field. */
#define READER(name, field)                                                                        \
    static const char *read_##name(const char *value, void *into) {                                \
        return option_##name(value, &((struct options *)into)->field);                             \
    }
READER(causal, problem.mask)
READER(dtype, problem.dtype)
READER(input, input)
READER(seed, seed)
READER(device, device)
READER(chip, chip)
READER(schedule, emulator.schedule)
READER(watch, emulator)
READER(l2, cold)
READER(image, image)

#define INT(field, low, high) OPTION_INT(struct options, field, low, high)
#define TEXT(field)           OPTION_TEXT(struct options, field)
#define SWITCH(field, to)     OPTION_SWITCH(struct options, field, to)

/* clang-format off */
/* A stage that has a problem of its own has other options in their place. */
static const struct option_row attention_rows[] = {
    {"batch", "N", "batch (1)", INT(problem.batch, 0, INT_MAX), .seen = SHAPE},
    {"heads", "N", "query heads (8)", INT(problem.heads, 0, INT_MAX), .seen = SHAPE},
    {"kv-heads", "N", "K and V heads, a divisor of heads (as many)",
     INT(problem.kv_heads, 0, INT_MAX), .seen = SHAPE | KV_HEADS},
    {"seqlen", "N", "queries and keys (512)", .read = read_seqlen, .seen = SHAPE | SEQLEN},
    {"seqlen-q", "N", "queries", INT(problem.seqlen_q, 0, INT_MAX), .seen = SHAPE | SEQLEN_EACH},
    {"seqlen-k", "N", "keys", INT(problem.seqlen_k, 0, INT_MAX), .seen = SHAPE | SEQLEN_EACH},
    {"head-dim", "N", "elements of a row (64)", INT(problem.head_dim, 1, INT_MAX), .seen = SHAPE},
    {"causal", "=A", "mask keys after the query; A: bottom-right (default) or top-left",
     .read = read_causal},
    {"scale", "X", "multiplies Q K^T (1/sqrt(head_dim))", .read = read_scale},
    {"dtype", "T", "of Q, K, V and O: fp16 (default) or bf16 (stages 4 and 6)", .read = read_dtype},
    {"input", "NAME",
     "made inputs: normal (default) outlier normal3 uniform ascending\n"
     "descending negative constant ramp identity index",
     .read = read_input, .seen = MADE},
    {"q", "FILE", "Q from a .npy file: fp16 (bf16: its bits as <u2), C order, (batch, heads,\nseqlen_q, head_dim)",
     TEXT(q_path)},
    {"k", "FILE", "K, (batch, kv_heads, seqlen_k, head_dim)", TEXT(k_path)},
    {"v", "FILE", "V, as K", TEXT(v_path)},
    {"out", "FILE", "write O to a .npy file, of the type of Q", TEXT(out_path)},
    {"lse", "FILE", "write LSE to a .npy file, fp32", TEXT(lse_path)},
    {"source", NULL, "print the kernel with counts beside its lines, and do nothing else",
     SWITCH(source, true)},
    {"ptx", NULL, "with --source: below each line its PTX, with counts (emulator)", SWITCH(ptx, true)},
    {"sass", NULL, "with --source: below each line its SASS, with cycles (GPU: counts)", SWITCH(sass, true)},
    {"whatif", NULL,
     "emulator: predict again with one limit after the other taken away,\nsay who waits for whom, and do nothing else",
     SWITCH(whatif, true), .seen = EMULATED},
    {"timeline", "FILE",
     "sample what the GPU does every 2 us, write it as a table, and do\nnothing else",
     TEXT(timeline_path)},
    {"watch-page", "FILE",
     "emulator: write what a block does, cycle by cycle, as a page for a browser,\nand do nothing else",
     TEXT(watch_page), .seen = EMULATED},
    {"no-check", NULL, "do not compare with the reference", SWITCH(check, false)},
    {"l2", "HOW", "warm (default) or cold: L2 flushed before each sample", .read = read_l2},
    {"rest", "MS",
     "burst times: no load before, one launch a sample, MS ms rest\nbefore each; --max-samples of them",
     INT(rest_ms, 0, 10000)},
    {"min-time", "S", "sample for at least S seconds (0.25) ...", .read = read_min_time},
    {"max-samples", "N", "... or N samples (200)", INT(max_samples, 1, 1000000)},
    {"strides", "N", "draw by N how Q, K, V and O lie in memory, each otherwise (default: without\ngaps)",
     INT(strides, 1, INT_MAX)},
    {"sweep-random", "N", "check N random problems, drawn from --seed, and do nothing else",
     INT(sweep_random, 1, 10000000)},
    {"repeat-check", "N", "check that N runs are bitwise equal, and do nothing else",
     INT(repeat_check, 2, 1000000)},
    {"turns", NULL, "time once for each line on stdin, print us and MHz, and do nothing else",
     SWITCH(turns, true)},
    {"image", "NAME", "launch this line of the stage's file images, not the planned one",
     .read = read_image, .seen = WAY},
    {"explain", NULL, "print what the stage considers for this problem and what it expects of\neach, and do nothing else",
     SWITCH(explain, true)},
    {"choice", "N", "take the N-th of them, not the best, which is 0", INT(choice, 0, 1000), .seen = WAY},
    {"tune", "N", "GPU: time the first N of them, and take the fastest", INT(tune, 1, TUNE_MAX)},
    {"strict", NULL, "exit with 1 if a gate fails or a counter is missing", SWITCH(strict, true)},
    {"fallback", NULL, "run the stage before if this one cannot run or a gate fails",
     SWITCH(fallback, true)},
    {0},
};

static const struct option_row rows_of_every_stage[] = {
    {"seed", "N", "of the made inputs (1)", .read = read_seed, .seen = MADE},
    {"device", "D", "auto (default: a GPU, else the emulator), cuda or emu", .read = read_device},
    {"chip", "NAME", "what the emulator stands for: h200 (default) h100 l4 rtx4090 a100",
     .read = read_chip},
    {"sm-clock", "MHZ", "emulator: SM clock of predicted times (the chip's boost clock)",
     .read = read_sm_clock, .seen = EMULATED},
    {"jobs", "N", "emulator: host threads (one for each core); 1 is deterministic",
     INT(emulator.n_threads, 1, 1024)},
    {"schedule", "HOW", "emulator: round-robin (default), random or adversarial; those two draw by\n--seed where shared memory begins (else 0x400, as on an H200), and what\nunwritten registers and memory hold",
     .read = read_schedule, .seen = EMULATED},
    {"early", NULL, "emulator: asynchronous copies and products complete when issued",
     SWITCH(emulator.async_early, true), .seen = EMULATED},
    {"no-races", NULL, "emulator: look for no races and no uninitialised values",
     SWITCH(emulator.no_checks, true), .seen = EMULATED},
    {"count-ptx", NULL, "emulator: count PTX, not what ptxas made of it: takes less time",
     SWITCH(emulator.count_ptx, true), .seen = EMULATED},
    {"mma-exact", NULL, "emulator: tensor cores round once, as no hardware does",
     SWITCH(emulator.mma_exact, true), .seen = EMULATED},
    {"trace", "LINE", "emulator: print one warp's values at this line of kernel.cu; all: at every line",
     .read = read_trace, .seen = EMULATED},
    {"banks", "LINE", "emulator: print which banks shared accesses at this line want",
     INT(emulator.banks_line, 1, 1000000), .seen = EMULATED},
    {"without", "LINE",
     "emulator: leave out the barriers, waits and fences of this line; list shows them",
     TEXT(emulator.without), .seen = EMULATED},
    {"watch", "ADDRESS", "emulator: print every access to ADDRESS; shared:N is one in shared memory",
     .read = read_watch, .seen = EMULATED},
    {"max-instructions", "N", "emulator: end a launch after N warp instructions, and say what it does",
     .read = read_max_instructions, .seen = EMULATED},
    {"timeout", "S", "emulator: the same after S seconds", .read = read_timeout, .seen = EMULATED},
    {"progress", NULL, "emulator: say how far a launch over 2 s is, even to no terminal",
     SWITCH(emulator.progress, true), .seen = EMULATED},
    {"counters", "G,G",
     "counter groups (" COUNTERS_GPU ";\nemulator: also CYCLES), or none", .read = read_counters},
    {"list-counters", NULL, "print the groups and their questions", SWITCH(list_counters, true)},
    {"no-time", NULL, "do not take time", SWITCH(time, false)},
    {"all", NULL, "print every value in a table, each with where it comes from", SWITCH(all, true)},
    {"csv", NULL, "print values separated by commas", SWITCH(csv, true)},
    {"json", "FILE", "append the record to FILE, one line", TEXT(json_path)},
    {"quiet", NULL, "print nothing but errors", SWITCH(quiet, true)},
    {"help", NULL, "this page", SWITCH(help, true)},
    {"version", NULL, "the revision this was built from", SWITCH(version, true)},
    {0},
};
/* clang-format on */

void options_help(FILE *f, const char *program, const struct option_table *own) {
    fprintf(f, "usage: %s [options]\nChecks the answer, then times it, then counts it.\n\n",
            program);
    option_rows_help(f, own ? own->rows : attention_rows);
    option_rows_help(f, rows_of_every_stage);
    fprintf(f, "\nexit: 0 right, 1 wrong answer, 2 usage, 3 unsupported problem or chip, 4 device "
               "failure,\n"
               "5 file failure, 6 no counters, 77 nothing here can run it, 130/143 interrupted\n");
}

/* ---- The line ------------------------------------------------------------------------------- */

/* Do two paths mean one file, whether it is there yet or not? */
static bool is_same(const char *a, const char *b) {
    const char *name[2] = {a, b}, *slash;
    struct stat folder[2], file[2];
    char path[PATH_MAX];
    if (!strcmp(a, b)) return true;
    if (!stat(a, &file[0]) && !stat(b, &file[1]))
        return file[0].st_dev == file[1].st_dev && file[0].st_ino == file[1].st_ino;
    for (int i = 0; i < 2; i++) {
        slash = strrchr(name[i], '/');
        snprintf(path, sizeof path, "%.*s", slash ? (int)(slash - name[i] + 1) : 1,
                 slash ? name[i] : ".");
        if (stat(path, &folder[i])) return false; /* it cannot be written either */
        if (slash) name[i] = slash + 1;
    }
    return folder[0].st_dev == folder[1].st_dev && folder[0].st_ino == folder[1].st_ino &&
           !strcmp(name[0], name[1]);
}

/* The file that two outputs would go to, or NULL; a device or a pipe in /dev takes any number. */
static const char *same_file(const struct options *o) {
    const char *path[] = {o->json_path, o->out_path, o->lse_path, o->timeline_path, o->watch_page};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++)
            if (path[i] && path[j] && strncmp(path[i], "/dev/", 5) && is_same(path[i], path[j]))
                return path[i];
    return NULL;
}

/* Rules between options, after all of them were read. */
static const char *options_complete(struct options *o, unsigned seen) {
    struct attention *a = &o->problem;
    o->emulator.seed = o->seed;
    if (o->emulator.schedule) o->emulator.draw = o->seed;
    o->emulator_asked = seen & EMULATED;
    bool files = o->q_path || o->k_path || o->v_path;
    if (files && !(o->q_path && o->k_path && o->v_path))
        return reason_as(STATUS_USAGE, "--q, --k and --v go together: give all three files");
    if (files && (seen & SHAPE))
        return reason_as(STATUS_USAGE,
                         "the shapes of the files are the problem: leave out --batch, "
                         "--heads, --seqlen and --head-dim");
    if (files && ((seen & MADE) || o->sweep_random))
        return reason_as(STATUS_USAGE,
                         "--q, --k and --v are the inputs: leave out --input, --seed and "
                         "--sweep-random");
    if ((seen & SEQLEN) && (seen & SEQLEN_EACH))
        return reason_as(STATUS_USAGE, "--seqlen sets queries and keys: give it, or --seqlen-q and "
                                       "--seqlen-k");
    if (o->strides && (files || o->out_path || o->sweep_random))
        return reason_as(STATUS_USAGE,
                         "--strides is for made inputs of one problem: leave out --q, "
                         "--k, --v, --out and --sweep-random");
    if (o->sweep_random && o->repeat_check)
        return reason_as(STATUS_USAGE, "choose one of --sweep-random and --repeat-check");
    if ((o->ptx || o->sass) && !o->source)
        return reason_as(STATUS_USAGE, "--ptx and --sass stand below source lines: add --source");
    if (o->tune && ((seen & WAY) || o->sweep_random || o->explain))
        return reason_as(STATUS_USAGE,
                         "--tune chooses the way of one problem that is run: leave out --choice, "
                         "--image, --explain and --sweep-random");
    const char *same = same_file(o);
    if (same)
        return reason_as(STATUS_USAGE, "two outputs go to %s: give each a file of its own", same);
    if (files) return NULL;
    if (!(seen & KV_HEADS)) a->kv_heads = a->heads;
    if (o->strides) attention_draw_strides(a, (uint64_t)o->strides);
    const char *why = attention_complete(a);
    return why ? reason_as(STATUS_UNSUPPORTED, "%s", why) : NULL;
}

const char *options_read(int argc, char **argv, const struct option_table *own,
                         struct options *out) {
    unsigned seen = 0;
    *out = (struct options){.problem = attention_default(),
                            .input = "normal",
                            .seed = 1,
                            .counters = COUNTERS_DEFAULT,
                            .check = true,
                            .time = true,
                            .rest_ms = PREDICTOR_LOADED,
                            .min_time_s = 0.25,
                            .max_samples = 200};
    const struct option_table tables[] = {own ? *own : (struct option_table){attention_rows, out},
                                          {rows_of_every_stage, out}};
    const char *why = option_tables_read(tables, 2, argc, argv, &seen);
    if (why || out->help || out->version || out->list_counters) return why;
    return options_complete(out, seen);
}
