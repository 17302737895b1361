#include "tests/test.h"

#include "common/base/plain.h"

#include <string.h>

static void named(const char *symbol, const char *wanted) {
    int length;
    const char *name = plain_name(symbol, &length);
    assert_int_equal(length, (int)strlen(wanted));
    assert_memory_equal(name, wanted, strlen(wanted));
}

static void names_are_those_of_the_source(void **state) {
    (void)state;
    named("_Z5sgemmPKfS0_Pfi", "sgemm");
    named("_Z12softmax_rowsPf", "softmax_rows");
}

static void other_symbols_stay(void **state) {
    (void)state;
    named("attention", "attention");
    named("_Z4copyILi32EEvPf", "_Z4copyILi32EEvPf"); /* which copy it was would be lost */
    named("_ZN3abc1fEv", "_ZN3abc1fEv");
    named("_Z99shortv", "_Z99shortv");
    named("_Z5sgemm", "_Z5sgemm"); /* no parameters: of no function */
    named("_Z", "_Z");
    named("", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_the_source),
        cmocka_unit_test(other_symbols_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
