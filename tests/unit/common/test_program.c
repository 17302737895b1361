/* The program's own folder, with /proc and without. */
#include "tests/test.h"

#include "common/base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool proc_is_missing;

/* Takes the place of the C library's. */
ssize_t readlink(const char *path, char *out, size_t out_bytes) {
    if (!proc_is_missing) return syscall(SYS_readlinkat, AT_FDCWD, path, out, out_bytes);
    errno = ENOENT;
    return -1;
}

static void its_folder_holds_it(void **state) {
    (void)state;
    char path[4200];
    snprintf(path, sizeof path, "%s/test_program", program_folder());
    assert_int_equal(*path, '/');
    assert_int_equal(access(path, X_OK), 0);
}

static void the_nearest_above_is_found(void **state) {
    (void)state;
    char path[4200], wanted[4200];
    assert_true(program_find("test_program", path, sizeof path));
    snprintf(wanted, sizeof wanted, "%s/test_program", program_folder());
    assert_string_equal(path, wanted);
    assert_true(program_find("tests/test_program", path, sizeof path));
    snprintf(wanted, sizeof wanted, "%.*s/tests/test_program",
             (int)(strlen(program_folder()) - strlen("/tests")), program_folder());
    assert_string_equal(path, wanted);
    assert_true(program_find("proc", path, sizeof path)); /* to the root */
}

static void what_is_nowhere_is_not_found(void **state) {
    (void)state;
    char path[4200];
    assert_false(program_find("no/such/file", path, sizeof path));
    assert_false(program_find("test_program", path, 8)); /* no room for it */
}

static void without_proc_it_is_where_it_was_started(void **state) {
    (void)state;
    char path[4200], started[4200];
    snprintf(started, sizeof started, "%s", (const char *)getauxval(AT_EXECFN));
    proc_is_missing = true;
    assert_string_equal(program_folder(), dirname(started)); /* build/tests, at the root */
    assert_true(program_find("profiler/groups", path, sizeof path));
    assert_int_equal(access(path, R_OK), 0);
    assert_false(program_find("no/such/file", path, sizeof path));
    proc_is_missing = false;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_folder_holds_it),
        cmocka_unit_test(the_nearest_above_is_found),
        cmocka_unit_test(what_is_nowhere_is_not_found),
        cmocka_unit_test(without_proc_it_is_where_it_was_started),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
