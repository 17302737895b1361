/* Rows of launches: which of them share one, what the last sums up, and what the CSV and the record have of each. */
#include "runtime/session/launch_report.h"
#include "runtime/session/predictions.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Predictions, as predictions.c gives them ------------------------------------------------- */

static const char *not_predicted, *missing;

const char *predictions_named(const struct kernel *k, int number, struct counters *out) {
    (void)k;
    if (not_predicted) return not_predicted;
    *out = (struct counters){2, calloc(2, sizeof *out->counter)};
    out->counter[0] = (struct counter){.name = "cycles_elapsed", .value = 1000 + number};
    out->counter[1] =
        (struct counter){.name = "stall_barrier", .validated = "h200: 3 %", .value = 0.5};
    return NULL;
}
const char *predictions_missing(const struct kernel *k) {
    (void)k;
    return missing;
}
const struct prediction_shape *prediction_shape(const struct kernel *k, int number) {
    static const struct prediction_shape shape[2] = {{.cache = 0}, {.cache = 1}};
    (void)k;
    return &shape[number];
}
const char *prediction_cache(const struct prediction_shape *s) {
    return s->cache ? "cold" : "warm";
}

/* ---- Launches ---------------------------------------------------------------------------------- */

static struct launch launch[16];
static struct kernel kernel;

/* n equal launches of (2, 1, 1) blocks of (32, 1, 1) threads with different values in all sums. */
static struct kernel *launches(int n) {
    memset(launch, 0, sizeof launch);
    kernel = (struct kernel){
        .shown = "k", .name = "_Z1kv", .static_shared = 64, .n_launches = n, .launch = launch};
    for (int i = 0; i < n; i++)
        launch[i] = (struct launch){.grid = {2, 1, 1},
                                    .block = {32, 1, 1},
                                    .cluster = {1, 1, 1},
                                    .shared_bytes = 100,
                                    .sums = {10, 160, 6, 4, 9, 6, 3},
                                    .ptx = {20, 640, 60, 40, 90, 60, 30},
                                    .number = i + 5,
                                    .seconds = 0.25};
    return &kernel;
}

static char *text;
static const char *printed(struct table *t, int (*print)(const struct table *, FILE *)) {
    size_t bytes;
    free(text);
    FILE *f = open_memstream(&text, &bytes);
    assert_int_equal(print(t, f), 0);
    fclose(f);
    table_close(t);
    return text;
}

/* Each row's cells, with commas between them; without the heading. */
static const char *rows(const struct kernel *k, bool every) {
    struct table t;
    size_t bytes;
    free(text);
    FILE *f = open_memstream(&text, &bytes);
    launch_report_open(&t);
    launch_report_add(&t, k, every);
    for (int i = t.n_columns; i < t.n_rows * t.n_columns; i++)
        fprintf(f, "%s%c", t.cell[i], (i + 1) % t.n_columns ? ',' : '\n');
    table_close(&t);
    fclose(f);
    return text;
}

#define ONE "2,32,164,10,16.0,6,+50%,9,+50%,3\n"

static void the_table_has_a_heading(void **state) {
    (void)state;
    struct table t;
    launch_report_open(&t);
    assert_string_equal(printed(&t, table_print_csv),
                        "kernel,launch,grid,block,shared,warp inst,lanes,"
                        "sectors,over ideal,wavefronts,conflicts,tensor\n");
}

static void equal_launches_in_a_row_share_one(void **state) {
    (void)state;
    assert_string_equal(rows(launches(1), false), "k,1," ONE);
    assert_string_equal(rows(launches(2), false),
                        "k,1-2, each," ONE ",all 2,,,,20,16.0,12,+50%,18,+50%,6\n");
    launches(4);
    launch[1].sums.sectors = 4;
    assert_string_equal(rows(&kernel, false),
                        "k,1," ONE ",2,2,32,164,10,16.0,4,,9,+50%,3\n"
                        ",3-4, each," ONE ",all 4,,,,40,16.0,22,+38%,36,+50%,12\n");
}

/* Whatever two launches differ in, they have a row each. */
static void launches_that_differ_do_not_share(void **state) {
    (void)state;
    for (int what = 0; what < 6; what++) {
        launches(2);
        launch[1].number = 9; /* this and the time are no difference */
        launch[1].seconds = 0;
        assert_non_null(strstr(rows(&kernel, false), "1-2, each"));
        if (what == 0) launch[1].grid[2] = 2;
        if (what == 1) launch[1].block[2] = 2;
        if (what == 2) launch[1].cluster[2] = 2;
        if (what == 3) launch[1].shared_bytes = 101;
        if (what == 4) launch[1].sums.tensor = 4;
        if (what == 5) launch[1].of_ptx = true;
        assert_null(strstr(rows(&kernel, false), "each"));
        assert_non_null(strstr(rows(&kernel, false), "\n,2,"));
    }
}

static void one_row_is_for_counts_of_ptx(void **state) {
    (void)state;
    launches(2);
    assert_true(launch_report_is_sass(&kernel));
    launch[0].of_ptx = true;
    assert_false(launch_report_is_sass(&kernel));
    launch[0].of_ptx = false;
    launch[1].of_ptx = true;
    launch[1].sums = launch[1].ptx;
    assert_false(launch_report_is_sass(&kernel));
    /* what was counted differently is not added up: the sum is of the PTX of both */
    assert_string_equal(rows(&kernel, false),
                        "k,1," ONE ",2,2,32,164,20 PTX,32.0,60,+50%,90,+50%,30\n"
                        ",all 2,,,,40 PTX,32.0,120,+50%,180,+50%,60\n");
}

static void what_was_not_counted_is_not_a_number(void **state) {
    (void)state;
    launches(1);
    launch[0].sums = (struct session_sums){0, 0, NAN, NAN, 4, 0, NAN};
    assert_string_equal(rows(&kernel, false), "k,1,2,32,164,0,0.0,n/a,,4,,n/a\n");
    launch[0].sums = (struct session_sums){NAN, NAN, 5, 5, 4, 6, 0};
    assert_string_equal(rows(&kernel, false), "k,1,2,32,164,n/a,n/a,5,,4,,0\n");
    launch[0].sums = (struct session_sums){1, 1, 6, 2, 2, 1, 0};
    assert_string_equal(rows(&kernel, false), "k,1,2,32,164,1,1.0,6,+200%,2,+100%,0\n");
}

static int lines(const char *s) {
    int n = 0;
    for (; *s; s++) n += *s == '\n';
    return n;
}

static void rows_beyond_eight_are_left_out(void **state) {
    (void)state;
    for (int n = 8; n <= 10; n++) {
        launches(n);
        for (int i = 0; i < n; i++) launch[i].sums.tensor = i;
        assert_int_equal(lines(rows(&kernel, true)), n + 1);
        assert_null(strstr(text, "--launches"));
        assert_int_equal(lines(rows(&kernel, false)), 8 + 1);
        assert_int_equal(strstr(text, "(--launches: each)") != NULL, n > 8);
    }
    assert_non_null(strstr(rows(&kernel, false), ",all 10 (--launches: each),,,,100,16.0,60,+50%,"
                                                 "90,+50%,45\n"));
}

static void extents_have_as_many_numbers_as_dimensions(void **state) {
    (void)state;
    char out[32];
    assert_string_equal(launch_report_extent((unsigned[]){7, 1, 1}, out), "7");
    assert_string_equal(launch_report_extent((unsigned[]){7, 2, 1}, out), "7x2");
    assert_string_equal(launch_report_extent((unsigned[]){7, 1, 2}, out), "7x1x2");
}

static void long_names_lose_their_middle(void **state) {
    (void)state;
    char name[] = "0123456789012345678901234567890123456789012345678901234567890", out[128];
    kernel.shown = name;
    assert_string_equal(launch_report_name(&kernel, out),
                        "01234567890123456789012345678...3456789012345678901234567890");
    name[60] = 0;
    assert_string_equal(launch_report_name(&kernel, out), name);
}

/* ---- CSV ----------------------------------------------------------------------------------------- */

static const char *csv(const struct kernel *k) {
    struct table t;
    launch_report_csv_open(&t);
    launch_report_csv(&t, k);
    return printed(&t, table_print_csv);
}

#define ROW(WHICH, NAME, VALUE, UNIT)                                                              \
    "k," WHICH ",2,32,164,launch," NAME "," VALUE "," UNIT ",emulator,\n"
#define COUNTS(WHICH, OF)                                                                          \
    ROW(WHICH, "instructions", "10", OF "warp inst")                                               \
    ROW(WHICH, "threads", "160", OF "thread inst")                                                 \
    ROW(WHICH, "global_sectors", "6", "sectors")                                                   \
    ROW(WHICH, "global_sectors_ideal", "4", "sectors")                                             \
    ROW(WHICH, "shared_wavefronts", "9", "wavefronts")                                             \
    ROW(WHICH, "shared_wavefronts_ideal", "6", "wavefronts")

static void csv_has_a_row_for_each_value(void **state) {
    (void)state;
    launches(3);
    launch[2].of_ptx = true;
    launch[2].sums.tensor = NAN;
    const char *const wanted =
        "kernel,launch,grid,block,shared,group,name,value,unit,source,na\n" COUNTS("1-2", "")
            ROW("1-2", "tensor_instructions", "3", "warp inst")
                COUNTS("3", "PTX ") "k,3,2,32,164,launch,tensor_instructions,,,,not counted\n";
    assert_string_equal(csv(&kernel), wanted);
    kernel.gpu = (struct gpu_kernel *)&kernel; /* which is only asked whether it is there */
    assert_non_null(strstr(csv(&kernel), ",instructions,10,warp inst,cupti,\n"));
}

static void csv_says_why_there_is_no_value(void **state) {
    (void)state;
    struct table t;
    launch_report_csv_open(&t);
    launch_report_csv_value(&t, (const char *const[]){"k", "1", "", "", ""}, "G", "n", 3, "u", "s",
                            "no board");
    assert_non_null(strstr(printed(&t, table_print_csv), "\nk,1,,,,G,n,,,,no board\n"));
}

/* ---- Stalls ---------------------------------------------------------------------------------------- */

static void stalls_begin_with_the_largest(void **state) {
    (void)state;
    struct counter c[40] = {{.name = "cycles_elapsed", .value = 9e9},
                            {.name = "stall_barrier", .value = 9},
                            {.name = "stall_selected", .value = 50},
                            {.name = "stall_wait", .value = 90},
                            {.name = "stall_math", .value = 1}};
    char out[64];
    launch_report_stalls(&(struct counters){5, c}, out, sizeof out);
    assert_string_equal(out, "wait 90.00, barrier 9.00");
    c[4].value = 1.01;
    launch_report_stalls(&(struct counters){5, c}, out, sizeof out);
    assert_string_equal(out, "wait 90.00, barrier 9.00, math 1.01");
    launch_report_stalls(&(struct counters){5, c}, out, 13); /* as much as there is room for */
    assert_string_equal(out, "wait 90.00, ");
    launch_report_stalls(&(struct counters){1, c}, out, sizeof out);
    assert_string_equal(out, "");
    for (int i = 0; i < 40; i++) c[i] = (struct counter){.name = "stall_x", .value = i};
    char most[600];
    launch_report_stalls(&(struct counters){40, c}, most, sizeof most); /* 32 are looked at */
    assert_string_equal(most, "x 31.00, x 30.00, x 29.00");
}

/* ---- The record ------------------------------------------------------------------------------------ */

static const char *record(const struct kernel *k, int n) {
    json_t *r = launch_report_record(k, n);
    assert_non_null(r);
    free(text);
    text = json_dumps(r, JSON_COMPACT);
    json_decref(r);
    return text;
}

#define SHAPE                                                                                      \
    "\"grid\":[2,3,4],\"block\":[32,5,6],\"cluster\":[1,7,8],\"shared_bytes\":100,"                \
    "\"instructions\":10.0,\"threads\":160.0,\"global_sectors\":6.0,"
#define REST                                                                                       \
    "\"shared_wavefronts\":9.0,\"shared_wavefronts_ideal\":6.0,\"tensor_instructions\":3.0,"

static void a_record_has_its_prediction_or_names_it(void **state) {
    (void)state;
    launches(3);
    for (int i = 0; i < 3; i++) {
        memcpy(launch[i].grid, (unsigned[]){2, 3, 4}, 12);
        memcpy(launch[i].block, (unsigned[]){32, 5, 6}, 12);
        memcpy(launch[i].cluster, (unsigned[]){1, 7, 8}, 12);
        launch[i].predicted = i > 0;
    }
    launch[2].of_ptx = true;
    assert_string_equal(record(&kernel, 1),
                        "{\"number\":6," SHAPE "\"global_sectors_ideal\":4.0," REST
                        "\"emulator_s\":0.25,\"counted\":\"sass\",\"ptx_instructions\":20.0,"
                        "\"predicted\":{\"cycles_elapsed\":1001.0,\"stall_barrier\":0.5,"
                        "\"validated\":\"h200: 3 %\",\"source\":\"model\",\"l2\":\"cold\"}}");
    assert_string_equal(record(&kernel, 2),
                        "{\"number\":7," SHAPE "\"global_sectors_ideal\":4.0," REST
                        "\"emulator_s\":0.25,\"counted\":\"ptx\",\"ptx_instructions\":20.0,"
                        "\"predicted_like\":2}");
    launch[0].predicted = 1;
    assert_non_null(strstr(record(&kernel, 2), "\"predicted_like\":1}"));
    kernel.gpu = (struct gpu_kernel *)&kernel;
    launch[0].cycles = 77;
    assert_string_equal(record(&kernel, 0),
                        "{\"number\":5," SHAPE "\"global_sectors_ideal\":null," REST
                        "\"gpu_s\":0.25,\"cycles\":77.0,\"source\":\"cupti\"}");
}

static void a_record_says_why_nothing_is_predicted(void **state) {
    (void)state;
    launches(1);
    not_predicted = "it was not asked for";
    assert_non_null(strstr(record(&kernel, 0), "\"predicted\":{\"na\":\"it was not asked for\"}"));
    missing = "no ptxas";
    assert_non_null(strstr(record(&kernel, 0), "\"predicted\":{\"na\":\"no ptxas\"}"));
    not_predicted = missing = NULL;
}

static int end(void **state) {
    (void)state;
    free(text);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_has_a_heading),
        cmocka_unit_test(equal_launches_in_a_row_share_one),
        cmocka_unit_test(launches_that_differ_do_not_share),
        cmocka_unit_test(one_row_is_for_counts_of_ptx),
        cmocka_unit_test(what_was_not_counted_is_not_a_number),
        cmocka_unit_test(rows_beyond_eight_are_left_out),
        cmocka_unit_test(extents_have_as_many_numbers_as_dimensions),
        cmocka_unit_test(long_names_lose_their_middle),
        cmocka_unit_test(csv_has_a_row_for_each_value),
        cmocka_unit_test(csv_says_why_there_is_no_value),
        cmocka_unit_test(stalls_begin_with_the_largest),
        cmocka_unit_test(a_record_has_its_prediction_or_names_it),
        cmocka_unit_test(a_record_says_why_nothing_is_predicted),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
