/* Tables: columns line up, CSV survives hostile cells. */
#include "tests/test.h"

#include "common/base/table.h"
#include "tests/fake/faulty.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *text;

/* The table as text, until the next call. */
static const char *printed(const struct table *t, int (*print)(const struct table *, FILE *)) {
    size_t bytes;
    free(text);
    FILE *f = open_memstream(&text, &bytes);
    assert_int_equal(print(t, f), 0);
    fclose(f);
    return text;
}

static void columns_line_up(void **state) {
    (void)state;
    struct table t;
    table_open(&t, 3, (const char *[]){"name", "value", "note"});
    table_row(&t, (const char *[]){"a", "12", "x"});
    table_row(&t, (const char *[]){"longer name", "3", NULL});
    assert_string_equal(printed(&t, table_print), "name         value  note\n"
                                                  "a            12     x\n"
                                                  "longer name  3\n");
    table_close(&t);
}

static void a_last_cell_overhangs(void **state) {
    (void)state;
    struct table t;
    table_open(&t, 3, (const char *[]){"a", "b", "c"});
    table_row(&t, (const char *[]){"1", "n/a (a long reason)", ""});
    table_row(&t, (const char *[]){"1", "2", "3"});
    assert_string_equal(printed(&t, table_print), "a  b  c\n1  n/a (a long reason)\n1  2  3\n");
    table_close(&t);
}

static void control_characters_are_not_printed(void **state) {
    (void)state;
    struct table t;
    table_open(&t, 1, (const char *[]){"a\033[31mb\nc"});
    assert_string_equal(printed(&t, table_print), "a?[31mb?c\n");
    table_close(&t);
}

static void csv_of_one(const char *cell, const char *expected) {
    struct table t;
    table_open(&t, 2, (const char *[]){cell, "2"});
    char line[256];
    snprintf(line, sizeof line, "%s,2\n", expected);
    assert_string_equal(printed(&t, table_print_csv), line);
    table_close(&t);
}

static void csv_is_guarded(void **state) {
    (void)state;
    csv_of_one("plain", "plain");
    csv_of_one("", "");
    csv_of_one("a,b", "\"a,b\"");
    csv_of_one("a\"b", "\"a\"\"b\"");
    csv_of_one("a\nb", "\"a\nb\"");
    csv_of_one("=1+2", "'=1+2");
    csv_of_one("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0");
    csv_of_one("+x", "'+x");
    csv_of_one("@SUM(1,2)", "\"'@SUM(1,2)\"");
    csv_of_one("-lm", "'-lm");
    csv_of_one("\t=1", "'\t=1");
    csv_of_one("-1.5", "-1.5");
    csv_of_one("+3e-4", "+3e-4");
    csv_of_one("--", "'--");
    csv_of_one("+1abc", "'+1abc");
}

static void csv_has_its_rows(void **state) {
    (void)state;
    struct table t;
    table_open(&t, 2, (const char *[]){"a", "b"});
    table_row(&t, (const char *[]){"1", "2"});
    table_row(&t, (const char *[]){"3", NULL});
    assert_string_equal(printed(&t, table_print_csv), "a,b\n1,2\n3,\n");
    table_close(&t);
}

static void no_line_ends_in_blanks(void **state) {
    (void)state;
    struct table t;
    table_open(&t, 3, (const char *[]){"", "b", ""});
    table_row(&t, (const char *[]){"", "2", "3"});
    assert_string_equal(printed(&t, table_print), "  b\n  2  3\n"); /* of no width */
    table_row(&t, (const char *[]){"one", "", ""});
    table_row(&t, (const char *[]){"", "", ""});
    assert_string_equal(printed(&t, table_print), "  b\n  2  3\none\n\n");
    table_close(&t);
}

static void a_closed_table_keeps_nothing(void **state) {
    (void)state;
    unsigned long in_use = 0;
    for (int round = 0; round < 20; round++) {
        struct table t;
        table_open(&t, 2, (const char *[]){"a cell of some length, so that it has memory", "b"});
        for (int i = 0; i < 5; i++)
            table_row(&t, (const char *[]){"c", "another one, quite as long"});
        table_close(&t);
        assert_null(t.cell);
        if (round == 19) assert_int_equal(memory_in_use(), in_use);
        in_use = memory_in_use();
    }
}

static void a_full_disk_is_noticed(void **state) {
    (void)state;
    struct stat device;
    FILE *full =
        stat("/dev/full", &device) || !S_ISCHR(device.st_mode) ? NULL : fopen("/dev/full", "w");
    if (!full) SKIP("no /dev/full here");
    setvbuf(full, NULL, _IONBF, 0);
    struct table t;
    table_open(&t, 1, (const char *[]){"a"});
    assert_int_equal(table_print(&t, full), -1);
    assert_int_equal(table_print_csv(&t, full), -1);
    fclose(full);
    table_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_line_up),
        cmocka_unit_test(a_last_cell_overhangs),
        cmocka_unit_test(control_characters_are_not_printed),
        cmocka_unit_test(csv_is_guarded),
        cmocka_unit_test(csv_has_its_rows),
        cmocka_unit_test(no_line_ends_in_blanks),
        cmocka_unit_test(a_closed_table_keeps_nothing),
        cmocka_unit_test(a_full_disk_is_noticed),
    };
    int failed = cmocka_run_group_tests_name("table", tests, NULL, NULL);
    free(text);
    return failed;
}
