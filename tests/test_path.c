/* Whole files read. */
#include "test.h"

#include "common/base/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/attnlab-path-XXXXXX";

/* Writes n bytes, reads them back. */
static void round_trip(size_t n) {
    char *wrote = malloc(n + 1), *got;
    size_t bytes = 1;
    for (size_t i = 0; i < n; i++) wrote[i] = (char)(i * 7);
    FILE *f = fopen(path, "wb");
    assert_int_equal(fwrite(wrote, 1, n, f), n);
    fclose(f);
    assert_non_null(got = path_read(path, &bytes));
    assert_int_equal(bytes, n);
    assert_memory_equal(got, wrote, n);
    assert_int_equal(got[n], 0);
    free(got);
    free(wrote);
}

static void whole_files_are_read(void **state) {
    static const size_t sizes[] = {0, 1, 65534, 65535, 65536, 131071, 1000000};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) round_trip(sizes[i]);
}

static void a_file_needs_a_name(void **state) {
    (void)state;
    assert_reason(path_writable(""), "empty name");
    assert_reason(path_writable("/tmp"), "it is a folder");
    assert_reason(path_writable("/nonexistent/file"), "No such file");
    assert_fine(path_writable("/tmp/attnlab-no-such-file"));
    assert_fine(path_writable("no-such-file"));
}

static void what_cannot_be_read_says_why(void **state) {
    (void)state;
    size_t bytes;
    assert_null(path_read("/nonexistent/file", &bytes));
    assert_int_equal(errno, ENOENT);
    assert_null(path_read("/tmp", &bytes));
    assert_int_equal(errno, EISDIR);
}

static int make_file(void **state) {
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_files_are_read),
        cmocka_unit_test(a_file_needs_a_name),
        cmocka_unit_test(what_cannot_be_read_says_why),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
