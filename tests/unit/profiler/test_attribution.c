/* Source attribution: counts are added by place and line, each once, and printed beside the text. */
#include "tests/test.h"

#include "profiler/attribution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[OWN_BYTES];
static char kernel[OWN_BYTES + 32], header[OWN_BYTES + 32];

/* At `line` of `file`, inlined at line `around` of the kernel; 0: nowhere. */
static void add(struct source *s, const char *file, int line, int around, double executed,
                double wavefronts, double ideal) {
    struct source_counts c = {.executed = executed,
                              .threads = 16 * executed,
                              .wavefronts = wavefronts,
                              .wavefronts_ideal = ideal};
    c.busy[SOURCE_SHARED] = wavefronts;
    struct source_frame frame[2] = {{file, line}, {kernel, around}};
    source_add(s, SOURCE_PTX, 7, "ld.shared.u32 %r1, [%r2]", frame, around ? 2 : 1, &c);
}

static char *print(struct source *s, unsigned instructions) {
    static char *text; /* open_memstream keeps their addresses until fclose */
    static size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    source_lines(s);
    assert_null(attribution_print(s, instructions, f));
    fclose(f);
    return text;
}

static void counts_of_one_line_are_added(void **state) {
    (void)state;
    struct source s = {0};
    add(&s, kernel, 2, 0, 10, 4, 2);
    add(&s, kernel, 1, 0, 1, 0, 0);
    add(&s, kernel, 2, 0, 5, 4, 2);
    add(&s, "", 0, 0, 7, 0, 0);
    add(&s, kernel, 0, 0, 7, 0, 0);
    source_lines(&s);
    assert_int_equal(s.n_lines, 2);
    assert_int_equal(s.line[0].at.line, 1);
    assert_true(s.line[1].own.executed == 15 && s.line[1].own.wavefronts == 8);
    assert_true(s.line[1].own.wavefronts_ideal == 4);
    assert_true(s.no_line.executed == 14 && s.total.executed == 30);
    source_free(&s);
}

/* What is inlined from elsewhere belongs to the line that it is inlined at, and once. */
static void inlined_code_counts_once(void **state) {
    (void)state;
    struct source s = {0};
    add(&s, "/elsewhere/ptx.cuh", 2, 1, 10, 0, 0);
    add(&s, "/elsewhere/ptx.cuh", 2, 2, 20, 0, 0);
    add(&s, header, 2, 2, 40, 0, 0); /* of the kernel's folder: a line of its own */
    add(&s, kernel, 2, 0, 80, 0, 0);
    source_lines(&s);
    assert_int_equal(s.n_places, 5);
    assert_int_equal(s.n_lines, 3);
    double sum = 0;
    for (int i = 0; i < s.n_lines; i++) {
        const struct source_line *l = &s.line[i];
        bool own = !strcmp(l->at.file, kernel);
        assert_true(l->own.executed == (!own ? 40 : l->at.line == 1 ? 10 : 100));
        sum += l->own.executed;
    }
    assert_true(sum == s.total.executed);
    source_free(&s);
}

static void one_file_by_two_paths(void **state) {
    (void)state;
    struct source s = {0};
    char longer[2 * OWN_BYTES];
    snprintf(longer, sizeof longer, "/root/./%s", kernel + 1);
    add(&s, kernel + 1, 2, 0, 1, 0, 0);
    add(&s, longer, 2, 0, 1, 0, 0);
    source_lines(&s);
    assert_int_equal(s.n_lines, 1);
    source_free(&s);
}

static void the_kernel_is_printed_whole_and_first(void **state) {
    (void)state;
    struct source s = {0};
    add(&s, header, 2, 1, 3, 0, 0);
    add(&s, kernel, 2, 0, 131072, 400, 100);
    add(&s, "", 0, 0, 9, 0, 0);
    char *text = print(&s, ATTRIBUTION_PTX);
    const char *listing = strstr(text, "|line");
    assert_non_null(listing);
    assert_non_null(strstr(text, "hot lines: most shared first"));
    assert_non_null(strstr(text, " 100.0 kernel.cu:2  second kernel line"));
    const char *first = strstr(listing, "first kernel line"),
               *second = strstr(listing, "second kernel line");
    const char *used = strstr(listing, "used header line");
    assert_non_null(first);
    assert_non_null(second);
    assert_non_null(strstr(listing, "third kernel line"));
    assert_non_null(used);
    assert_true(first < second && second < used);
    assert_null(strstr(text, "unused header line"));
    assert_non_null(strstr(text, " 131.1k  16.0      400 +300%"));
    assert_non_null(strstr(text, "7  ld.shared.u32 %r1, [%r2]"));
    assert_non_null(strstr(text, "9 warp instructions belong to no source line"));
    free(text);
    source_free(&s);
}

static void lines_without_their_source_are_still_printed(void **state) {
    (void)state;
    struct source s = {0};
    add(&s, "/nonexistent/kernel.cu", 12, 0, 5, 0, 0);
    add(&s, header, 999, 0, 6, 0, 0);
    char *text = print(&s, 0);
    assert_non_null(strstr(text, "|  12  (the source is not here)"));
    assert_non_null(strstr(text, "| 999  (the source is not here)"));
    free(text);
    source_free(&s);
}

static void a_tiny_kernel_has_its_limit_and_zeros(void **state) {
    (void)state;
    struct source s = {0};
    struct source_counts c = {.executed = 1, .sectors = 8};
    struct source_frame frame = {kernel, 2};
    c.busy[SOURCE_GLOBAL] = 0.3;
    source_add(&s, SOURCE_PTX, 7, "ld.global.u32 %r1, [%rd2]", &frame, 1, &c);
    char *text = print(&s, 0);
    assert_non_null(strstr(text, "in all 1 warp instructions, 0 wavefronts, 8 sectors,"));
    assert_non_null(strstr(text, "keeps each resource busy: global 0.3: global limits\n"));
    free(text);
    source_free(&s);
}

static void no_resource_is_busy(void **state) {
    (void)state;
    struct source s = {.elapsed = 1407};
    add(&s, kernel, 2, 0, 1, 0, 0);
    char *text = print(&s, 0);
    assert_non_null(
        strstr(text, "\ncycles elapsed: 1407 predicted: no resource is busy half of the time, "));
    free(text);
    source_free(&s);
}

static void the_longest_reason_is_a_word_of_its_own(void **state) {
    (void)state;
    const char *const reason[SOURCE_REASONS] = {"wait", "short_scoreboard"};
    struct source s = {.reason = reason, .n_reasons = 2, .elapsed = 100};
    struct source_counts c = {.executed = 1, .cycles = {1, 2}};
    struct source_frame frame = {kernel, 2};
    source_add(&s, SOURCE_PTX, 7, "ld.shared.u32 %r1, [%r2]", &frame, 1, &c);
    char *text = print(&s, 0);
    assert_non_null(strstr(text, "100.0 short_scoreboard kernel.cu:2 "));
    free(text);
    source_free(&s);
}

/* A unit that is nearly as busy as the schedulers is what they issue for. */
static void what_limits(void **state) {
    (void)state;
    struct source s = {.elapsed = 150};
    s.total.busy[SOURCE_FMA] = 91, s.total.busy[SOURCE_ISSUE] = 100;
    assert_int_equal(attribution_limit(&s), SOURCE_FMA);
    s.total.busy[SOURCE_FMA] = 89;
    assert_int_equal(attribution_limit(&s), SOURCE_ISSUE);
    s.elapsed = 201;
    assert_int_equal(attribution_limit(&s), ATTRIBUTION_TIME);
    s.elapsed = 0; /* nobody knows */
    assert_int_equal(attribution_limit(&s), SOURCE_ISSUE);
}

static void write_file(char *path, size_t path_bytes, const char *name, const char *text) {
    snprintf(path, path_bytes, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static int open_folder(void **state) {
    (void)state;
    if (!own_folder(folder, "source")) return 1;
    write_file(kernel, sizeof kernel, "kernel.cu",
               "first kernel line\nsecond kernel line\n\nthird kernel line");
    write_file(header, sizeof header, "ptx.cuh", "unused header line\nused header line\n");
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    return unlink(kernel) || unlink(header) || rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_of_one_line_are_added),
        cmocka_unit_test(inlined_code_counts_once),
        cmocka_unit_test(one_file_by_two_paths),
        cmocka_unit_test(no_resource_is_busy),
        cmocka_unit_test(the_longest_reason_is_a_word_of_its_own),
        cmocka_unit_test(what_limits),
        cmocka_unit_test(a_tiny_kernel_has_its_limit_and_zeros),
        cmocka_unit_test(the_kernel_is_printed_whole_and_first),
        cmocka_unit_test(lines_without_their_source_are_still_printed),
    };
    return cmocka_run_group_tests_name("attribution", tests, open_folder, remove_folder);
}
