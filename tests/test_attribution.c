/* Source attribution: counts are added by line, sorted, and printed beside the text. */
#include "test.h"

#include "profiler/attribution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/attnlab-source-XXXXXX";
static char kernel[128], header[128];

static const char *add(struct source *s, const char *file, int line, double executed,
                       double wavefronts, double ideal) {
    struct source_line l = {.line = line,
                            .executed = executed,
                            .threads = 16 * executed,
                            .wavefronts = wavefronts,
                            .wavefronts_ideal = ideal};
    snprintf(l.file, sizeof l.file, "%s", file);
    return source_add(s, &l);
}

static char *print(const struct source *s) {
    static char *text; /* open_memstream keeps their addresses until fclose */
    static size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    assert_null(attribution_print(s, "kernel.cu", f));
    fclose(f);
    return text;
}

static void counts_of_one_line_are_added(void **state) {
    (void)state;
    struct source s = {0};
    assert_null(add(&s, kernel, 2, 10, 4, 2));
    assert_null(add(&s, kernel, 1, 1, 0, 0));
    assert_null(add(&s, kernel, 2, 5, 4, 2));
    assert_null(add(&s, "", 0, 7, 0, 0));
    assert_null(add(&s, kernel, 0, 7, 0, 0));
    source_sort(&s);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.line[0].line, 1);
    assert_true(s.line[1].executed == 15 && s.line[1].wavefronts == 8);
    assert_true(s.line[1].wavefronts_ideal == 4);
    assert_true(s.unattributed == 14);
    source_free(&s);
}

static void the_kernel_is_printed_whole_and_first(void **state) {
    (void)state;
    struct source s = {0};
    assert_null(add(&s, header, 2, 3, 0, 0));
    assert_null(add(&s, kernel, 2, 131072, 400, 100));
    assert_null(add(&s, "", 0, 9, 0, 0));
    source_sort(&s);
    char *text = print(&s);
    const char *first = strstr(text, "first kernel line"),
               *second = strstr(text, "second kernel line");
    const char *used = strstr(text, "used header line");
    assert_non_null(first);
    assert_non_null(second);
    assert_non_null(strstr(text, "third kernel line"));
    assert_non_null(used);
    assert_true(first < second && second < used);
    assert_null(strstr(text, "unused header line"));
    assert_non_null(strstr(text, " 131.1k  16.0      400  +75%"));
    assert_non_null(strstr(text, "9 warp instructions belong to no source line"));
    free(text);
    source_free(&s);
}

static void lines_without_their_source_are_still_printed(void **state) {
    (void)state;
    struct source s = {0};
    assert_null(add(&s, "/nonexistent/kernel.cu", 12, 5, 0, 0));
    assert_null(add(&s, header, 999, 6, 0, 0));
    source_sort(&s);
    char *text = print(&s);
    assert_non_null(strstr(text, "|  12  (the source is not here)"));
    assert_non_null(strstr(text, "| 999  (the source is not here)"));
    free(text);
    source_free(&s);
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
    if (!mkdtemp(folder)) return 1;
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
        cmocka_unit_test(the_kernel_is_printed_whole_and_first),
        cmocka_unit_test(lines_without_their_source_are_still_printed),
    };
    return cmocka_run_group_tests_name("attribution", tests, open_folder, remove_folder);
}
