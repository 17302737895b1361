/* The end of a program's run: what is said, what the record keeps, and the status that it exits with. Launches are those
 * of two small kernels on the emulator; what other files of runtime/ know of them stands in `world`. */
#include "runtime/session/compiled.h"
#include "runtime/session/gpu.h"
#include "runtime/session/predictions.h"
#include "tests/test.h"
#include "tests/unit/emulator/emu.h"

#include "emulator/core/trust.h"

#include "common/base/interrupt.h"
#include "common/base/reason.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- What others know --------------------------------------------------------------------------- */

enum { KERNELS = 3 };
static struct world {
    const char *lacks_counts, *no_sass[KERNELS], *no_prediction[KERNELS];
    double us[KERNELS];         /* predicted; 0: not */
    int lacking_calls, numbers; /* predictions of each kernel */
    const char *no_gpu_counters;
    bool no_duration;
    int sources; /* that predictions_source() was asked for: a bit for each kernel */
    char said[2048];
} world;
static struct session session;
static struct kernel kernel[KERNELS];
static struct launch launch[KERNELS][2];
static FILE *table_file;

static int index_of(const struct kernel *k) { return (int)(k - kernel); }

void session_say(const char *format, ...) {
    va_list arguments;
    const size_t n = strlen(world.said);
    va_start(arguments, format);
    vsnprintf(world.said + n, sizeof world.said - n, format, arguments);
    va_end(arguments);
    strncat(world.said, "\n", sizeof world.said - strlen(world.said) - 1);
}
const char *session_lacks_counts(void) { return world.lacks_counts; }
int session_lacking_calls(void) { return world.lacking_calls; }
const char *session_kernel_occupancy(const struct session *s, const struct kernel *k, int threads,
                                     int dynamic_shared, struct occupancy *out) {
    (void)s, (void)k;
    *out = (struct occupancy){.blocks_per_sm = 1};
    return threads == 64 && dynamic_shared == 128 ? "64 threads, 128 bytes" : "other launches";
}
bool settings_means(const struct settings *s, const char *shown) {
    return !s->kernel_name || strstr(shown, s->kernel_name);
}
FILE *settings_csv(void) { return table_file; }

const char *compiled_lacks(const struct kernel *k) { return world.no_sass[index_of(k)]; }
const char *compiled_values(const struct kernel *k, struct counters *out) {
    (void)out;
    return world.no_sass[index_of(k)] ? world.no_sass[index_of(k)] : "not in this test";
}
int predictions_count(const struct kernel *k) { return k->n_launches ? world.numbers : 0; }
int predictions_launches(const struct kernel *k, int number) {
    (void)number;
    return world.numbers == 1 ? k->n_launches : 1;
}
const struct prediction_shape *prediction_shape(const struct kernel *k, int number) {
    static const struct prediction_shape shape = {
        .grid = {2, 1, 1}, .block = {64, 1, 1}, .shared_bytes = 128};
    (void)k, (void)number;
    return &shape;
}
const char *prediction_cache(const struct prediction_shape *s) {
    (void)s;
    return "cold";
}
const char *predictions_missing(const struct kernel *k) { return world.no_prediction[index_of(k)]; }
static const char *predicted(const struct kernel *k, struct counters *out) {
    const double us = world.us[index_of(k)];
    const struct counter all[] = {{.name = "cycles_elapsed",
                                   .value = 1000 * us,
                                   .unit = "cycles",
                                   .validated = "h200: 3 cases"},
                                  {.name = "duration_us", .value = us, .unit = "us"},
                                  {.name = "mean_clock_mhz", .value = 1000, .unit = "MHz"},
                                  {.name = "stall_barrier", .value = 0.5, .unit = "warps"},
                                  {.name = "tensor_active_pct", .value = 11},
                                  {.name = "issue_active_pct", .value = 22},
                                  {.name = "occupancy_achieved_pct", .value = 33}};
    const int n = sizeof all / sizeof *all;
    if (us == 0) return "nothing is predicted";
    *out = (struct counters){n, malloc(sizeof all)};
    memcpy(out->counter, all, sizeof all);
    if (world.no_duration) strcpy(out->counter[1].name, "another");
    for (int i = 0; i < n; i++) out->counter[i].source = SOURCE_MODEL;
    return NULL;
}
const char *predictions_values(const struct kernel *k, int number, struct counters *out) {
    assert_int_equal(number, -1);
    const char *why = predicted(k, out);
    if (!why) strcpy(out->counter[3].name, "stall.barrier"); /* as groups name it */
    return why;
}
const char *predictions_named(const struct kernel *k, int number, struct counters *out) {
    (void)number;
    return predicted(k, out);
}
void predictions_source(const struct session *s, const struct kernel *k, struct source *out) {
    (void)s, (void)out;
    world.sources |= 1 << index_of(k);
}
void gpu_how(char *out, size_t bytes) { snprintf(out, bytes, "counted by CUPTI"); }
const char *gpu_counters(const struct session *s, const struct kernel *k, const char *groups,
                         struct counters *out) {
    (void)s, (void)k;
    if (world.no_gpu_counters) return world.no_gpu_counters;
    *out = (struct counters){2, calloc(2, sizeof *out->counter)};
    out->counter[0] = (struct counter){.value = 7, .unit = "inst", .source = SOURCE_CUPTI};
    out->counter[1] = (struct counter){.reason = "a reason"};
    for (int i = 0; i < 2; i++) {
        snprintf(out->counter[i].name, sizeof out->counter[i].name, "value_%d", i);
        snprintf(out->counter[i].group, sizeof out->counter[i].group, "%s", groups);
    }
    return NULL;
}

/* ---- Runs --------------------------------------------------------------------------------------- */

static const struct emu_trust library = {"library.h", "library.h"};
static struct emu_test clean, racy, trusted, bare; /* bare: its barrier of line 7 was left out */
static struct gpu_kernel *const some_gpu = (void *)&world;

/* Two kernels, a and b, of one launch each; c was never launched. */
static void begin(void) {
    memset(&world, 0, sizeof world);
    memset(launch, 0, sizeof launch);
    session = (struct session){
        .memory = clean.memory, .kernels = kernel, .n_launches = 2, .seconds = 0.25};
    session.info.chip = *chip_find("h200");
    snprintf(session.info.name, sizeof session.info.name, "H200 (emulated)");
    for (int k = 0; k < KERNELS; k++) {
        kernel[k] = (struct kernel){.next = k + 1 < KERNELS ? &kernel[k + 1] : NULL,
                                    .name = (char *[]){"_Za", "_Zb", "_Zc"}[k],
                                    .shown = (char *[]){"a", "b", "c"}[k],
                                    .n_registers = k ? -1 : 32,
                                    .result = k == 1 ? racy.result : clean.result,
                                    .total = {.executed = 10 + k},
                                    .n_launches = k < 2,
                                    .launch = launch[k]};
        for (int n = 0; n < 2; n++)
            launch[k][n] = (struct launch){.grid = {2, 1, 1},
                                           .block = {64, 1, 1},
                                           .cluster = {1, 1, 1},
                                           .shared_bytes = 128,
                                           .seconds = 0.5};
    }
}

static char text[1 << 16];
/* What stdout and stderr get, then what was said, then the status: of a program that would exit with `status`. */
static const char *reported(int status) {
    FILE *f = fdopen(memfd_create("out", 0), "w+");
    int out = dup(STDOUT_FILENO), error = dup(STDERR_FILENO);
    size_t n;
    fflush(stdout), fflush(stderr);
    assert_true(f && dup2(fileno(f), STDOUT_FILENO) >= 0 && dup2(fileno(f), STDERR_FILENO) >= 0);
    const int then = session_report(&session, status);
    fflush(stdout), fflush(stderr);
    dup2(out, STDOUT_FILENO), dup2(error, STDERR_FILENO);
    close(out), close(error);
    rewind(f);
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    snprintf(text + n, sizeof text - n, "said:\n%sstatus %d\n", world.said, then);
    return text;
}
#define SAYS(status, line)                                                                         \
    do {                                                                                           \
        if (!strstr(reported(status), line)) fail_msg("no '%s' in\n%s", line, text);               \
    } while (0)
#define SILENT(status, words)                                                                      \
    do {                                                                                           \
        if (strstr(reported(status), words)) fail_msg("'%s' in\n%s", words, text);                 \
    } while (0)

/* ---- The status --------------------------------------------------------------------------------- */

static void status(void **state) {
    (void)state;
    begin();
    session.settings.quiet = true;
    assert_string_equal(reported(0), "said:\nstatus 0\n");
    assert_string_equal(reported(9), "said:\nstatus 9\n");
    session.n_reports = 1;
    assert_string_equal(reported(0), "said:\n1 check of the emulator failed (above)\nstatus 1\n");
    *world.said = 0, session.n_reports = 2;
    assert_string_equal(reported(9), "said:\n2 checks of the emulator failed (above)\nstatus 9\n");
    *world.said = 0, session.n_reports = 0, session.n_refused = 1;
    assert_string_equal(reported(0), "said:\nstatus 3\n");
    assert_string_equal(reported(9), "said:\nstatus 9\n");
    session.n_refused = 0, world.lacking_calls = 1;
    assert_string_equal(reported(0), "said:\nstatus 3\n");
    world.lacking_calls = 0, world.lacks_counts = "no counts";
    assert_string_equal(reported(0), "said:\nstatus 6\n");
    assert_string_equal(reported(9), "said:\nstatus 9\n");
    world.lacks_counts = NULL, session.n_failed = 1;
    assert_string_equal(reported(0), "said:\n1 launch could not begin (above)\nstatus 0\n");
    *world.said = 0, session.n_failed = 2;
    assert_string_equal(reported(0), "said:\n2 launches could not begin (above)\nstatus 0\n");
}

static void no_page(void **state) {
    (void)state;
    begin();
    session.settings.quiet = true, session.settings.watch_page = "page.html";
    assert_string_equal(reported(0),
                        "said:\nno page: no kernel that is meant was launched\nstatus 6\n");
    *world.said = 0, session.unwatched = "a reason";
    assert_string_equal(reported(0), "said:\nno page: a reason\nstatus 6\n");
    *world.said = 0;
    assert_string_equal(reported(2), "said:\nstatus 2\n");
    session.watched = true;
    assert_string_equal(reported(0), "said:\nstatus 0\n");
    session.settings.quiet = false;
    SAYS(0, "page.html: open it in a browser\n");
    session.watched = false;
    SILENT(0, "browser");
}

static void nothing_is_wanted(void **state) {
    (void)state;
    begin();
    session.settings.kernel_name = "x";
    assert_string_equal(reported(0), "run: --kernel-name x matches no kernel; there are:\n"
                                     "    a\n    b\n    c\nsaid:\nstatus 2\n");
    assert_non_null(strstr(reported(9), "status 9"));
    session.n_unchosen = 2;
    assert_non_null(strstr(reported(0), "matches no kernel"));
    session.n_unchosen = 0;
    session.settings.kernel_name = "c"; /* which was never launched */
    assert_non_null(strstr(reported(0), "matches no kernel"));
    session.n_numbered = 5, session.settings.launch_skip = 4;
    assert_string_equal(reported(0),
                        "said:\nno launch is left by --launch-skip 4: there were 5\nstatus 2\n");
    *world.said = 0, session.n_launches = 0, session.n_unchosen = 5;
    assert_string_equal(reported(0),
                        "said:\nno launch is left by --launch-skip 4: there were 5\nstatus 2\n");
    *world.said = 0, session.n_unchosen = 0;
    assert_string_equal(reported(0), "said:\nthe program launched no kernel; nothing was counted "
                                     "or checked\nstatus 0\n");
    *world.said = 0, session.settings.quiet = true;
    assert_string_equal(reported(0), "said:\nstatus 0\n");
    session.settings.quiet = false, session.n_failed = 1;
    assert_null(strstr(reported(0), "launched no kernel")); /* it tried to */
    begin();
    session.settings.kernel_name = "b";
    SAYS(0, "\nkernel  launch  grid");
    SILENT(0, "\na ");
    SAYS(0, "\nb       1");
    session.settings.kernel_name = NULL;
    kernel[0].n_launches = kernel[1].n_launches = 0;
    SILENT(0, "matches"); /* it was no option that left them out */
}

static void left_out(void **state) {
    const char *const nothing = "--without 7: the launches have no barrier, wait or fence there; "
                                "--without list shows them\nstatus 2\n";
    (void)state;
    begin();
    session.settings.quiet = true;
    session.settings.emulator.without = "7";
    kernel[1].result = bare.result; /* it left something out */
    assert_string_equal(reported(0), "said:\nstatus 0\n");
    kernel[1].n_launches = 0; /* but was not launched */
    assert_non_null(strstr(reported(0), nothing));
    begin();
    session.settings.quiet = true;
    session.settings.emulator.without = "list";
    assert_string_equal(reported(0), "said:\nstatus 0\n");
    session.settings.emulator.without = "7";
    kernel[0].gpu = kernel[1].gpu = some_gpu; /* there nothing is left out */
    kernel[0].result = kernel[1].result = NULL;
    assert_non_null(strstr(reported(0), nothing));
    *world.said = 0, session.n_launches = 1;
    assert_non_null(strstr(reported(0), nothing));
    *world.said = 0, session.n_reports = 1;
    assert_null(strstr(reported(0), "--without"));
    *world.said = 0, session.n_reports = 0, session.n_launches = 0;
    assert_string_equal(reported(0), "said:\nstatus 0\n");
}

/* ---- The head ------------------------------------------------------------------------------------ */

static void head(void **state) {
    (void)state;
    begin();
    SAYS(0, "\nrun: H200 (emulated), 2 kernels, 2 launches, 0.25 s in the emulator\nkernel ");
    kernel[1].n_launches = 0, session.n_launches = 1;
    SAYS(0, "\nrun: H200 (emulated), 1 kernel, 1 launch, 0.25 s in the emulator\nkernel ");
    session.n_skipped = 3, session.settings.repeats = 4;
    SAYS(0, "\n3 launches were like earlier ones and were not run (--repeats 4); groups and lines "
            "are of "
            "those that ran\n");
    session.settings.repeats = 0;
    SAYS(
        0,
        "\n3 launches were not run: nobody looked at what they would have changed (--repeats 0)\n");
    session.n_skipped = 0;
    SILENT(0, "--repeats");
    session.n_unchosen = 1;
    SAYS(0, "\n1 launch ran and was not counted (--launch-skip, --launch-count)\n");
    session.n_unchosen = 2;
    SAYS(0, "\n2 launches ran and were not counted (--launch-skip, --launch-count)\n");
    session.n_unchosen = 0;
    SILENT(0, "--launch-skip");
    session.settings.emulator.sample_blocks = 4;
    SAYS(0, "\nof each launch 4 blocks at most ran and were counted (--sample-blocks), and no "
            "product of "
            "cuBLAS: what the program computes is incomplete\n");
    session.settings.emulator.sample_blocks = 0;
    SILENT(0, "--sample-blocks");
    session.settings.emulator.check_blocks = 5;
    SAYS(0, "\nof each launch 5 blocks at most were checked for races inside them and for "
            "uninitialised "
            "values (--check-blocks); all ran and were counted\n");
    session.settings.emulator.check_blocks = 0;
    SILENT(0, "--check-blocks");
    session.timed = true;
    SAYS(0, "\ntimes that the program took with events are the emulator's, not a GPU's\n");
    session.timed = false;
    SILENT(0, "events");
    session.settings.quiet = true;
    SILENT(0, "run:");
}

static void on_a_gpu(void **state) {
    (void)state;
    begin();
    session.memory = NULL, session.n_skipped = 3, session.settings.repeats = 4,
    session.timed = true;
    for (int k = 0; k < KERNELS; k++) kernel[k].gpu = some_gpu, kernel[k].result = NULL;
    SAYS(0, "2 launches, counted by CUPTI\n3 launches were like earlier ones and were not counted "
            "(--repeats "
            "4)\nkernel ");
    SILENT(0, "hottest");
    world.no_prediction[0] = world.no_sass[0] = "not asked there";
    SILENT(0, "not asked there");
    session.settings.source = true;
    SILENT(0, "belong to no source line");
    assert_int_equal(world.sources, 0);
    session.settings.counters = "MIX";
    SAYS(0, "\nkernel  group  name     value  unit  source\n"
            "a       MIX    value_0  7      inst  cupti\n"
            "a       MIX    value_1  n/a (a reason)\n"
            "b       MIX    value_0  7      inst  cupti\n"
            "b       MIX    value_1  n/a (a reason)\nsaid:\nstatus 0\n");
    world.no_gpu_counters = reason_as(STATUS_COUNTERS, "no permission");
    SAYS(0, "said:\nno permission\nstatus 6\n");
    SILENT(0, "value_0");
    SAYS(9, "status 9\n");
    session.settings.counters = NULL;
    SILENT(0, "no permission\nno permission\nno permission\nno permission");
}

/* ---- Predictions, reasons, the screen ------------------------------------------------------------ */

static void reasons(void **state) {
    (void)state;
    begin();
    world.no_sass[0] = world.no_sass[1] = "no machine code", world.no_sass[2] = "never launched";
    launch[0][0].of_ptx = true;
    SAYS(0, "\ncounted on PTX: a, b (some launches): no machine code\n");
    SILENT(0, "never launched");
    launch[1][0].of_ptx = true, launch[1][1].of_ptx = true, kernel[1].n_launches = 2;
    SAYS(0, "\ncounted on PTX: a, b: no machine code\n");
    launch[1][1].of_ptx = false;
    SAYS(0, "\ncounted on PTX: a, b (some launches): no machine code\n");
    world.no_sass[1] = "another reason";
    SAYS(0, "\ncounted on PTX: a: no machine code\ncounted on PTX: b (some launches): another "
            "reason\n");
    world.no_sass[0] = NULL;
    SILENT(0, "PTX: a");
    session.settings.emulator.count_ptx = true;
    SILENT(0, "counted on PTX");
    world.no_prediction[0] = world.no_prediction[1] = "too long", world.us[1] = 2;
    SAYS(0, "\nnot predicted: a, b (some launches): too long\n");
    session.settings.no_predict = true;
    SILENT(0, "not predicted");
    session.settings.no_predict = false, session.settings.csv = true;
    table_file = fopen("/dev/null", "w");
    SAYS(0, "\nnot predicted: a, b (some launches): too long\n"); /* on stderr */
    fclose(table_file);
}

static void predictions(void **state) {
    (void)state;
    begin();
    SILENT(0, "predicted (");
    world.us[0] = 2, world.us[1] = 3, world.numbers = 1, kernel[0].n_launches = 2;
    SAYS(0,
         "\n\npredicted (model) at 1000 MHz; h200: 3 cases\n"
         "kernel  launch        grid  block  cycles  us  tensor %  issue %  occupancy %  largest "
         "stalls (warps per issue)\n"
         "a       1, 1 like it  2     64     2000    2   11        22       33           barrier "
         "0.50\n"
         "b       1             2     64     3000    3   11        22       33           barrier "
         "0.50\n");
    world.no_duration = true;
    SAYS(0, "\nb       1             2     64     3000    0   11 ");
    world.no_duration = false;
    world.numbers = 10, launch[0][0].predicted = 1, launch[0][1].predicted = 0;
    SAYS(0, "\na       2       2     64     2000");
    SAYS(0, "\n        1       2     64     2000");
    SAYS(0, "\n        3       2     64     2000"); /* of no launch that is kept */
    SAYS(0, "\n        2 more grids (--launches: each)\n");
    reported(0);
    assert_null(strstr(strstr(text, "predicted (model") + 1, "predicted (model"));
    session.settings.every_launch = true;
    SILENT(0, "more grids");
    session.settings.kernel_name = "b";
    SILENT(0, "\na ");
}

static void screen(void **state) {
    (void)state;
    begin();
    setenv("COLUMNS", "100", 1);
    SAYS(0, "\n\nThe hottest kernel: b, 1 launch\n"); /* it executed most */
    kernel[1].total.executed = 10;
    SAYS(0, "\nThe hottest kernel: a, 1 launch\n"); /* of equal ones the first */
    kernel[1].total.executed = 11;
    SAYS(0, "CLEAN: the emulator found no race, no bad address and no uninitialised value.\n");
    kernel[1].n_launches = 2, session.n_reports = 1;
    SAYS(0, "\nThe hottest kernel: b, 2 launches\n");
    SAYS(0, "WRONG: 1 check of the emulator failed.\n");
    SILENT(0, "CLEAN");
    session.n_reports = 2;
    SAYS(0, "WRONG: 2 checks of the emulator failed.\n");
    session.n_reports = 0, session.settings.emulator.no_checks = true;
    SILENT(0, "CLEAN");
    world.us[0] = 1; /* a prediction comes first */
    SAYS(0, "\nThe hottest kernel: a, 1 launch\n");
    session.n_reports = 1; /* of another kernel */
    SAYS(0, "WRONG: 1 check of the emulator failed, of b.\n");
    session.n_reports = 0;
    SAYS(0, "Predicted 1 us for one launch alone");
    SAYS(0, "\n\ntensor pipe    ");
    SAYS(0, "\nbank conflicts ");
    SAYS(0, "No access to shared memory.\nwarps          100 % wait at a barrier or for "
            "their WGMMA.\n\nn/a            28 of 46 values; ");
    world.no_duration = true; /* nothing to compare by, then */
    SAYS(0, "\nThe hottest kernel: b, 2 launches\n");
    world.no_duration = false;
    world.us[1] = 2;
    SAYS(0, "\nThe hottest kernel: b, 2 launches\n");
    SAYS(0, "--source: its lines. --counters TENSOR,SHARED,STALL: every value.\n");
    session.is_alone = true;
    SILENT(0, "hottest");
    session.settings.kernel = "a";
    SAYS(0, "hottest");
    session.settings.csv = true;
    table_file = fopen("/dev/null", "w");
    SILENT(0, "hottest");
    fclose(table_file);
}

static void counters(void **state) {
    (void)state;
    begin();
    session.settings.counters = "MIX,OCCUPANCY";
    kernel[0].n_launches = 2, launch[0][0].shared_bytes = 5, launch[1][1].shared_bytes = 5;
    for (int k = 0; k < 2; k++) /* 64 threads */
        memcpy(launch[k][k ? 0 : 1].block, (unsigned[]){2, 4, 8}, sizeof launch[k][0].block);
    SAYS(0, "\na       MIX        instructions               12     PTX warp inst  emulator\n");
    SAYS(0, "\nb       MIX        instructions               8      PTX warp inst  emulator\n");
    SAYS(0, "n/a (64 threads, 128 bytes)"); /* of the kernel's last launch */
    SILENT(0, "other launches");
    session.settings.counters = "NONE";
    SAYS(0, "there is no counter group NONE");
    SILENT(0, "hottest"); /* its reasons would take the place of this one */
    SAYS(0, "status 2\n");
}

static void source(void **state) {
    (void)state;
    begin();
    session.settings.source = true;
    SAYS(0, "\na\nin all 12 warp instructions");
    SAYS(0, "\nb\nin all 8 warp instructions");
    SILENT(0, "\nc\nin all");
    assert_int_equal(world.sources, 3);
    session.n_launches = 0;
    SILENT(0, "in all");
}

static void csv(void **state) {
    char *table = NULL;
    size_t bytes;
    (void)state;
    begin();
    session.settings.csv = true, session.settings.counters = "MIX";
    session.memory = NULL;
    for (int k = 0; k < KERNELS; k++) kernel[k].gpu = some_gpu;
    world.us[0] = 2, world.us[1] = 3, world.numbers = 1, kernel[0].static_shared = 100,
    kernel[0].n_launches = 2;
    launch[0][0].predicted = 5;
    table_file = open_memstream(&table, &bytes);
    assert_non_null(strstr(reported(0), "\nrun: H200")); /* on stderr */
    fclose(table_file);
    assert_non_null(strstr(table, "\na,2,2,64,228,predicted,duration_us,2,us,model,\n"));
    assert_non_null(strstr(table, "\na,all,,,,MIX,value_0,7,inst,cupti,\n"));
    assert_non_null(strstr(table, "\nb,all,,,,MIX,value_0,7,inst,cupti,\n"));
    assert_non_null(strstr(table, "\nb,1,2,64,128,predicted,duration_us,3,us,model,\n"));
    assert_non_null(strstr(table, "\na,1-2,2,64,228,launch,instructions,"));
    assert_null(strstr(table, "\nc,"));
    free(table);
    table_file = fopen("/dev/full", "w");
    assert_non_null(strstr(reported(0), "said:\nstdout: No space left on device\nstatus 5\n"));
    fclose(table_file);
}

/* Races of a library's header that are trusted. */
static void trusted_races(void **state) {
    const char *const all[] = {
        "1 race inside library headers is trusted, not reported (--trust)\n",
        "2 races inside library headers are trusted, not reported (--trust)\n"};
    (void)state;
    for (int n = 0; n < 2; n++) {
        begin();
        session.settings.quiet = true;
        kernel[0].result = trusted.result;
        if (n) kernel[1].result = trusted.result;
        assert_non_null(strstr(reported(0), all[n]));
    }
}

/* ---- The record ---------------------------------------------------------------------------------- */

static json_t *recorded(int status) {
    const char *folder = getenv("TMPDIR");
    char file[512];
    snprintf(file, sizeof file, "%s/reportXXXXXX", folder ? folder : "/tmp");
    int fd = mkstemp(file);
    session.settings.json_path = file, session.settings.quiet = true;
    reported(status);
    json_t *record = json_load_file(file, 0, NULL);
    close(fd), unlink(file);
    assert_non_null(record);
    return record;
}
static json_int_t number(const json_t *o, const char *key) {
    return json_integer_value(json_object_get(o, key));
}
static const char *string(const json_t *o, const char *key) {
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

static void record(void **state) {
    (void)state;
    begin();
    world.no_sass[0] = "no machine code";
    kernel[0].n_launches = 2, launch[0][1].seconds = 0, kernel[0].static_shared = 12;
    kernel[1].unchosen = racy.result, kernel[1].n_registers = 0;
    session.n_reports = 2;
    json_t *r = recorded(0), *kernels = json_object_get(r, "kernels"),
           *a = json_array_get(kernels, 0), *b = json_array_get(kernels, 1),
           *reports = json_object_get(r, "reports");
    assert_int_equal(json_array_size(kernels), 2);
    assert_string_equal(string(a, "name"), "a");
    assert_string_equal(string(a, "symbol"), "_Za");
    assert_string_equal(string(a, "no_sass"), "no machine code");
    assert_null(json_object_get(b, "no_sass"));
    assert_string_equal(string(a, "counted"), "sass");
    assert_int_equal(number(a, "static_shared"), 12);
    assert_int_equal(number(a, "registers"), 32);
    assert_true(json_is_integer(json_object_get(b, "registers")));
    assert_int_equal(json_array_size(json_object_get(a, "launches")), 2);
    assert_int_equal(number(a, "counters_of_launches"), 1);
    assert_null(json_object_get(b, "counters_of_launches"));
    assert_true(json_array_size(json_object_get(a, "counters")) > 10);
    assert_null(json_object_get(a, "no_counters"));
    assert_int_equal(json_array_size(reports), 2 * (size_t)emu_result_reports(racy.result));
    assert_non_null(strstr(json_string_value(json_array_get(reports, 0)), "race in kernel"));
    assert_int_equal(number(r, "launches"), 2);
    assert_int_equal(number(r, "exit"), 1);
    assert_true(json_is_false(json_object_get(r, "interrupted")));
    char command[512];
    snprintf(command, sizeof command, "%s of three words", program_invocation_name);
    assert_string_equal(string(r, "command"), command);
    assert_string_equal(string(json_object_get(r, "device"), "name"), "H200 (emulated)");
    assert_null(json_object_get(json_object_get(r, "device"), "clock_mhz_before"));
    assert_null(json_object_get(r, "no_counters"));
    assert_null(json_object_get(r, "sample_blocks"));
    assert_null(json_object_get(r, "check_blocks"));
    json_decref(r);
    session.settings.emulator.sample_blocks = 3, session.settings.emulator.check_blocks = 4;
    session.uncounted = "a graph";
    kernel[0].n_registers = -1;
    r = recorded(7);
    assert_null(json_object_get(json_array_get(json_object_get(r, "kernels"), 0), "registers"));
    assert_int_equal(number(r, "sample_blocks"), 3);
    assert_int_equal(number(r, "check_blocks"), 4);
    assert_int_equal(number(r, "exit"), 7);
    assert_string_equal(string(r, "no_counters"), "a graph");
    json_decref(r);
    world.lacks_counts = "no permission";
    session.settings.counters = "NONE";
    r = recorded(7);
    assert_string_equal(string(r, "no_counters"), "no permission");
    a = json_array_get(json_object_get(r, "kernels"), 0);
    assert_non_null(strstr(string(a, "no_counters"), "NONE"));
    assert_null(json_object_get(a, "counters"));
    json_decref(r);
    begin();
    kernel[0].gpu = kernel[1].gpu = some_gpu; /* nothing of the emulator's, then */
    session.settings.counters = "MIX", world.no_sass[0] = "no machine code";
    r = recorded(0);
    a = json_array_get(json_object_get(r, "kernels"), 0);
    assert_null(json_object_get(a, "no_sass"));
    assert_int_equal(json_array_size(json_object_get(r, "reports")), 0);
    json_decref(r);
    session.settings.json_path = "/nowhere/record.jsonl";
    SAYS(0, "status 5\n");
    assert_non_null(strstr(world.said, "/nowhere/record.jsonl"));
    SAYS(9, "status 9\n");
}

static void interrupted(void **state) {
    (void)state;
    begin();
    interrupt_note(SIGINT);
    SAYS(0, "0.25 s in the emulator, interrupted\n");
    json_t *r = recorded(0);
    assert_true(json_is_true(json_object_get(r, "interrupted")));
    json_decref(r);
}

static int open_runs(void **state) {
    static uint32_t words[64];
    (void)state;
    emu_test_open(&clean), emu_test_open(&racy), emu_test_open(&bare), emu_test_open(&trusted);
    trusted.options.trust = &library, trusted.options.n_trust = 1;
    bare.options.without = "7";
    const char *why = emu_test_run(
        &clean,
        emu_test_kernel(
            1, "",
            "mul.wide.u32 %rd1, %r0, 4; add.s64 %rd1, %rd1, %rd0; st.global.u32 [%rd1], %r0;"),
        "test", 1, 64, 0, 1, (void *[]){words}, (size_t[]){sizeof words});
    if (!why)
        why = emu_test_run(&racy, emu_test_kernel(1, "", "st.global.u32 [%rd0], %r0;"), "test", 1,
                           64, 0, 1, (void *[]){words}, (size_t[]){sizeof words});
    snprintf(text, sizeof text, ".file 1 \"bare.cu\"\n%s",
             emu_test_kernel(1, "", ".loc 1 7 0\nbar.sync 0;\n.loc 1 8 0\n"));
    if (!why)
        why = emu_test_run(&bare, text, "test", 1, 64, 0, 1, (void *[]){words},
                           (size_t[]){sizeof words});
    snprintf(text, sizeof text, ".file 1 \"library.h\"\n%s",
             emu_test_kernel(1, "", ".loc 1 7 0\nst.global.u32 [%rd0], %r0;"));
    if (!why)
        why = emu_test_run(&trusted, text, "test", 1, 64, 0, 1, (void *[]){words},
                           (size_t[]){sizeof words});
    return why || emu_result_trusted(trusted.result) != 1 ||
           emu_result_left_nothing_out(bare.result) || emu_result_reports(clean.result) ||
           !emu_result_reports(racy.result);
}
static int close_runs(void **state) {
    (void)state;
    emu_test_close(&clean), emu_test_close(&racy), emu_test_close(&bare), emu_test_close(&trusted);
    return 0;
}

int main(int n_words, char **word) {
    if (n_words == 1) execl("/proc/self/exe", word[0], "of", "three", "words", NULL);
    const struct CMUnitTest tests[] = {cmocka_unit_test(status),
                                       cmocka_unit_test(no_page),
                                       cmocka_unit_test(nothing_is_wanted),
                                       cmocka_unit_test(left_out),
                                       cmocka_unit_test(head),
                                       cmocka_unit_test(on_a_gpu),
                                       cmocka_unit_test(reasons),
                                       cmocka_unit_test(predictions),
                                       cmocka_unit_test(screen),
                                       cmocka_unit_test(counters),
                                       cmocka_unit_test(source),
                                       cmocka_unit_test(trusted_races),
                                       cmocka_unit_test(csv),
                                       cmocka_unit_test(record),
                                       cmocka_unit_test(interrupted)};
    return cmocka_run_group_tests(tests, open_runs, close_runs);
}
