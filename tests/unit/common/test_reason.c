/* Reasons live until seven more were made, and some know the exit status that they stand for. */
#include "tests/test.h"

#include "common/base/reason.h"

#include <errno.h>
#include <string.h>

static void a_reason_outlives_seven_more(void **state) {
    (void)state;
    const char *first = reason("first %d", 1);
    for (int i = 0; i < 7; i++) reason("later %d", i);
    assert_string_equal(first, "first 1");
    reason("the eighth takes its place");
    assert_string_equal(first, "the eighth takes its place");
}

static void a_status_travels_with_its_reason(void **state) {
    (void)state;
    const char *plain = reason("plain"), *file = reason_as(STATUS_FILE, "file %s", "x");
    assert_int_equal(reason_status(plain, STATUS_DEVICE), STATUS_DEVICE);
    assert_int_equal(reason_status(file, STATUS_DEVICE), STATUS_FILE);
    assert_int_equal(reason_status("a literal", STATUS_USAGE), STATUS_USAGE);
    for (int i = 0; i < 8; i++) reason("over it");
    assert_int_equal(reason_status(file, STATUS_DEVICE), STATUS_DEVICE);
}

static void every_slot_has_its_status(void **state) {
    (void)state;
    for (int i = 0; i < 16; i++) {
        const char *file = reason_as(STATUS_FILE, "file %d", i);
        assert_int_equal(reason_status(file, STATUS_DEVICE), STATUS_FILE);
        for (int k = 0; k < 6; k++) reason("later"); /* seven in all: another slot each time */
        assert_int_equal(reason_status(file, STATUS_DEVICE), STATUS_FILE);
    }
}

/* A file that could not be opened for want of memory is no fault of the file. */
static void memory_is_the_devices(void **state) {
    (void)state;
    errno = ENOMEM;
    assert_int_equal(reason_status(reason_as(STATUS_FILE, "x"), STATUS_RIGHT), STATUS_DEVICE);
    assert_int_equal(reason_status(reason_as(STATUS_USAGE, "x"), STATUS_RIGHT), STATUS_USAGE);
    errno = ENOENT;
    assert_int_equal(reason_status(reason_as(STATUS_FILE, "x"), STATUS_RIGHT), STATUS_FILE);
}

static void a_long_reason_is_cut(void **state) {
    (void)state;
    char text[4000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    assert_int_equal(strlen(reason("%s", text)), 2047);
}

static void a_reason_is_one_line(void **state) {
    (void)state;
    assert_string_equal(reason("not '%s'", "a\nb\tc\r\033[1m"), "not 'a?b?c??[1m'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reason_outlives_seven_more),
        cmocka_unit_test(a_status_travels_with_its_reason),
        cmocka_unit_test(every_slot_has_its_status),
        cmocka_unit_test(memory_is_the_devices),
        cmocka_unit_test(a_long_reason_is_cut),
        cmocka_unit_test(a_reason_is_one_line),
    };
    return cmocka_run_group_tests_name("reason", tests, NULL, NULL);
}
