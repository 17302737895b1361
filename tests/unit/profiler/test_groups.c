/* Counter groups: the parser's rules, and every group of profiler/groups against every chip that
 * CUPTI's host side knows (no GPU is needed for that). */
#include "tests/test.h"

#include "profiler/cupti_list.h"
#include "profiler/expression.h"
#include "profiler/groups_folder.h"
#include "common/base/reason.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct group *group;

static const char *parse(const char *text) {
    return group_parse(text, strlen(text), "X.txt", group);
}

static const char good[] = "# comment\n"
                           "\n"
                           "X: What is asked?\n"
                           "\n"
                           "first [%] the first\n"
                           "    GH100 AD10x: a__b.sum + 2 * c__d\n"
                           "    GPU: n/a (not there)\n"
                           "    emulator: emu.x\n"
                           "second [bytes] the second\n"
                           "    GPU emulator: 100 * first / launch.registers\n"
                           "\n"
                           "How to read:\n"
                           "    Like this.\n";

static void a_good_file_is_read(void **state) {
    (void)state;
    assert_fine(parse(good));
    assert_string_equal(group->name, "X");
    assert_string_equal(group->question, "What is asked?");
    assert_int_equal(group->n, 2);
    assert_string_equal(group->value[0].unit, "%");
    assert_string_equal(group->value[0].meaning, "the first");
    assert_int_equal(group->value[0].n_origins, 3);
    assert_int_equal(group->value[0].origin[1].line, 7);
    assert_string_equal(group->value[0].origin[1].reason, "not there");
    assert_string_equal(group->value[1].origin[0].formula, "100 * first / launch.registers");
    assert_string_equal(group->manual, "    Like this.");
}

static void places_choose_the_first_line_that_fits(void **state) {
    (void)state;
    assert_fine(parse(good));
    const struct group_value *v = &group->value[0];
    assert_ptr_equal(group_origin(v, "GH100"), &v->origin[0]);
    assert_ptr_equal(group_origin(v, "AD103"), &v->origin[0]);
    assert_ptr_equal(group_origin(v, "AD1O3"), &v->origin[1]);
    assert_ptr_equal(group_origin(v, "GB202"), &v->origin[1]);
    assert_ptr_equal(group_origin(v, "emulator"), &v->origin[2]);
    assert_fine(parse("X: ?\na [%] b\n    GH100: 1\nHow to read:\n    x\n"));
    assert_null(group_origin(&group->value[0], "AD102"));
    assert_null(group_origin(&group->value[0], "emulator"));
}

/* Each line of a wrong file, and where it is wrong. */
static void wrong_files_are_refused_with_their_line(void **state) {
    (void)state;
    const struct {
        const char *text, *say;
    } cases[] = {
        {"", "X.txt:0: the file is empty"},
        {"# only this\n", "the file is empty"},
        {"no title\n", "X.txt:1: the first line must be"},
        {"lower: ?\n", "X.txt:1: a group's name has only capitals"},
        {"ABCDEFGHIJKLMNOPQ: ?\n", "X.txt:1: the group's name is longer than 15"},
        {"X:\n", "X.txt:1: the question is missing"},
        {"X: ?\n", "X has no values"},
        {"X: ?\n    GPU: 1\n", "X.txt:2: an indented line needs a value"},
        {"X: ?\nname unit meaning\n", "X.txt:2: expected `name [unit] meaning`"},
        {"X: ?\nName [%] m\n", "X.txt:2: \"Name\" is no value's name"},
        {"X: ?\na [] m\n", "X.txt:2: the unit is missing"},
        {"X: ?\na [%]\n", "X.txt:2: the meaning is missing"},
        {"X: ?\na [%] m\n    GPU: 1\na [%] m\n", "X.txt:4: a is defined already, in line 2"},
        {"X: ?\na [%] m\n    GPU 1\n", "X.txt:3: expected `PLACES: formula`"},
        {"X: ?\na [%] m\n    Hopper: 1\n", "X.txt:3: \"Hopper\" is no place"},
        {"X: ?\na [%] m\n    GPU: 1 +\n", "X.txt:3: expected a number, a name or ("},
        {"X: ?\na [%] m\n    GPU: (1\n", "X.txt:3: expected )"},
        {"X: ?\na [%] m\n    GPU: 1 2\n", "X.txt:3: expected an operator"},
        {"X: ?\na [%] m\n    GPU:\n", "X.txt:3: the formula is missing"},
        {"X: ?\na [%] m\n    GPU: n/a\n", "X.txt:3: write `n/a (reason)`"},
        {"X: ?\na [%] m\n    GPU: n/a ()\n", "X.txt:3: write `n/a (reason)`"},
        {"X: ?\na [%] m\n    GPU: b\n", "X.txt:3: b is neither a metric nor a value defined above"},
        {"X: ?\na [%] m\n    GPU: a\n", "X.txt:3: a is neither"},
        {"X: ?\na [%] m\n    GPU: launch.wraps\n", "X.txt:3: there is no launch.wraps"},
        {"X: ?\na [%] m\nb [%] m\n    GPU: 1\nHow to read:\n x\n", "X.txt:2: a comes from nowhere"},
        {"X: ?\na [%] m\n    GPU: 1\n", "does not say how to read it"},
        {"X: ?\na [%] m\n    GPU: 1\nHow to read:\n  \n", "nothing below"},
        {"X: ?\na [%] m\n\tGPU: 1\n", "X.txt:3: character 9 is not plain ASCII"},
        {"X: ?\n[%] m\n", "X.txt:2: the value's name is missing"},
        {"X: ?\n1a [%] m\n", "X.txt:2: \"1a\" is no value's name"},
        {"X: ?\naB [%] m\n", "X.txt:2: \"aB\" is no value's name"},
        {"ABCDEFGHIJKLMNOP: ?\n", "X.txt:1: the group's name is longer than 15"},
        {"X: ?\na [%] m\n    GPU: 1", "does not say how to read it"},
        {"X: ?\na [%] m\n    ABC: 1\n", "X.txt:3: \"ABC\" is no place"},
        {"X: ?\na [%] m\n    GPUX: 1\n", "X.txt:3: \"GPUX\" is no place"},
        {"X: ?\na [%] m\n    ABCDEFGH: 1\n", "X.txt:3: \"ABCDEFGH\" is no place"},
        {"X: ?\na [%] m\n    emulators: 1\n", "X.txt:3: \"emulators\" is no place"},
        {"X: ?\na [%] m\n    aD10x: 1\n", "X.txt:3: \"aD10x\" is no place"},
        {"X: ?\na [%] m\n    1034: 1\n", "X.txt:3: \"1034\" is no place"},
        {"X: ?\na [%] m\n    GHz00: 1\n", "X.txt:3: \"GHz00\" is no place"},
        {"X: ?\na [%] m\n    GH10z: 1\n", "X.txt:3: \"GH10z\" is no place"},
        {"X: ?\na [%] m\n    GPU: 1\xc3\xa4\n", "X.txt:3: character 195 is not plain ASCII"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_reason(parse(cases[i].text), cases[i].say);
}

static void long_input_is_refused(void **state) {
    (void)state;
    char text[2048];
    snprintf(text, sizeof text, "X: %0600d\n", 0);
    assert_reason(parse(text), "X.txt:1: the line is longer");
    snprintf(text, sizeof text, "X: ?\na [%%] m\n    GPU: %0200d\n", 1);
    assert_reason(parse(text), "X.txt:3: the formula is longer than 127");
    memset(text, '(', sizeof text);
    memcpy(text, "X: ?\na [%] m\n    GPU: ", 22);
    strcpy(text + 100, "\n");
    assert_reason(parse(text), "levels deep");
    int n = sprintf(text, "X: ?\n");
    for (int i = 0; i <= GROUP_MAX_VALUES; i++)
        n += sprintf(text + n, "v%d [%%] m\n    GPU: 1\n", i);
    assert_reason(parse(text), "more than 32 values");
}

/* A file whose line or manual has n characters. */
static const char *of_length(bool manual, int n) {
    static char text[8192];
    if (manual)
        snprintf(text, sizeof text, "X: ?\na [%%] m\n    GPU: 1\nHow to read:\n%0*d\n", n, 1);
    else
        snprintf(text, sizeof text, "X: ?\n#%0*d\na [%%] m\n    GPU: 1\nHow to read:\nx\n", n - 1,
                 1);
    return parse(text);
}

static void what_is_just_allowed_is_read(void **state) {
    (void)state;
    assert_fine(of_length(false, 511));
    assert_reason(of_length(false, 512), "X.txt:2: the line is longer than 511 characters");
    assert_fine(of_length(true, 4095));
    assert_int_equal(strlen(group->manual), 4095);
    assert_reason(of_length(true, 4096), "X.txt:4: the text below is longer than 4095 characters");
    assert_fine(parse("ABCDEFGHIJKLMNO:~?\n   \na [%]m\n    GPU  emulator:1\nb [%] m  \n"
                      "    GA10  emulator AD10x   GH100: n/a (x)\nHow to read:  \nx\n"));
    assert_string_equal(group->file, "X.txt");
    assert_string_equal(group->name, "ABCDEFGHIJKLMNO");
    assert_string_equal(group->question, "~?");
    assert_string_equal(group->value[0].meaning, "m");
    assert_string_equal(group->value[1].meaning, "m");
    assert_string_equal(group->value[0].origin[0].formula, "1");
    const struct group_value *v = &group->value[1];
    assert_string_equal(v->origin[0].reason, "x");
    assert_ptr_equal(group_origin(v, "GH100"), &v->origin[0]);
    assert_ptr_equal(group_origin(v, "AD104"), &v->origin[0]);
    assert_ptr_equal(group_origin(v, "emulator"), &v->origin[0]);
    assert_null(group_origin(v, "GH1000"));
    assert_null(group_origin(v, "XH100"));
    assert_null(group_origin(v, "GH10"));
    char text[512] = "X: ?\na [%] m\n";
    for (int i = 0; i < GROUP_MAX_ORIGINS; i++) strcat(text, "    GPU: 1\n");
    char more[600];
    snprintf(more, sizeof more, "%sHow to read:\nx\n", text);
    assert_fine(parse(more));
    snprintf(more, sizeof more, "%s    GPU: 1\nHow to read:\nx\n", text);
    assert_reason(parse(more), "X.txt:11: more than 8 lines for a");
}

/* A parser that reads past the end would find the poison. */
static void every_prefix_of_a_good_file_is_safe(void **state) {
    (void)state;
    for (size_t n = 0; n < sizeof good; n++) {
        char *text = malloc(n + 1);
        memcpy(text, good, n);
        text[n] = '@';
        (void)group_parse(text, n, "X.txt", group);
        free(text);
    }
    assert_fine(parse(good));
}

static const char *value_of(void *arg, const char *name, double *value) {
    (void)arg;
    if (!strcmp(name, "zero"))
        *value = 0;
    else if (!strcmp(name, "two"))
        *value = 2;
    else if (!strcmp(name, "torn"))
        return reason_as(STATUS_FILE, "a file is torn");
    else
        return reason("no %s", name);
    return NULL;
}

static double calculate(const char *text) {
    double v;
    assert_fine(expression_evaluate(text, value_of, NULL, &v));
    return v;
}

static void formulas_are_calculated(void **state) {
    (void)state;
    double v;
    assert_true(calculate("1 + 2 * 3") == 7);
    assert_true(calculate("(1 + two) * 3") == 9);
    assert_true(calculate("10 - 4 - 3") == 3);
    assert_true(calculate("16 / 4 / two") == 2);
    assert_true(calculate("-two * -3") == 6);
    assert_true(calculate("-two") == -2);
    assert_true(calculate("3 - -two") == 5);
    assert_true(calculate("-(1 + two) * 2") == -6);
    assert_true(calculate("1.5e1") == 15);
    assert_reason(expression_evaluate("1 / zero", value_of, NULL, &v),
                  "zero is 0: nothing to divide by");
    assert_reason(expression_evaluate("1 + three", value_of, NULL, &v), "no three");
    assert_true(calculate("max(1, two)") == 2);
    assert_true(calculate("1 + max( 2*3 , (two - 1), -7 ) * two") == 13);
    assert_true(calculate("first(three, max(two, three), 4, 5)") == 4);
    assert_true(calculate("max(first(1 / zero, two), first(two - 1))") == 2);
    assert_true(calculate("first((three + (1)), two) + 1") == 3);
    assert_reason(expression_evaluate("max(two, three)", value_of, NULL, &v), "no three");
    assert_reason(expression_evaluate("first(four, 1 / zero)", value_of, NULL, &v),
                  "zero is 0: nothing to divide by");
    assert_reason(expression_evaluate("first(torn, two)", value_of, NULL, &v), "a file is torn");
    assert_reason(expression_check("min(1, 2)"), "min() is neither max() nor first()");
    assert_reason(expression_check("max(1 2)"), "expected , or ) at \"2)\"");
    assert_reason(expression_check("max(1,)"), "expected a number");
    assert_reason(expression_check("first(1"), "expected , or )");
    struct expression_choice from;
    expression_chosen("first(two, 1 / zero)", value_of, NULL, &from);
    assert_string_equal(from.text, "two");
    assert_null(from.lacks);
    expression_chosen("first(three, two + max(1, 2))", value_of, NULL, &from);
    assert_string_equal(from.text, "two + max(1, 2)");
    assert_reason(from.lacks, "no three");
    expression_chosen("first(first(three, two), 1)", value_of, NULL, &from);
    assert_string_equal(from.text, "first(three, two)");
    assert_null(from.lacks);
    static const char *const whole[] = {"two", "first(three, two) + 1", "first(three, four)",
                                        "max(first(three, two), 1)", "first(torn, two)"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        expression_chosen(whole[i], value_of, NULL, &from);
        assert_string_equal(from.text, whole[i]);
        assert_null(from.lacks);
    }
    assert_true(expression_is_name("sm__a.sum"));
    assert_false(expression_is_name("two + 1"));
    assert_false(expression_is_name("2"));
}

static const char *append(void *arg, const char *name) {
    strcat(strcat(arg, name), " ");
    return strcmp(name, "last") ? NULL : "enough";
}

static void formulas_have_limits(void **state) {
    (void)state;
    char deep[256], text[512], names[512] = "";
    double v;
    for (int levels = 32; levels <= 33; levels++) { /* brackets, and minuses as well */
        memset(deep, '(', (size_t)levels);
        snprintf(deep + levels, sizeof deep - (size_t)levels, "1%.*s", levels,
                 "))))))))))))))))))))))))))))))))))");
        if (levels == 32)
            assert_true(calculate(deep) == 1);
        else
            assert_string_equal(expression_check(deep), "more than 32 levels deep");
    }
    strcpy(text, "(1)"); /* side by side is not deep */
    for (int i = 0; i < 40; i++) strcat(text, " + (1)");
    assert_true(calculate(text) == 41);
    memset(text, 'a', 128);
    text[127] = 0;
    assert_fine(expression_check(text));
    assert_fine(expression_names(text, append, names));
    assert_int_equal(strlen(names), 128);
    strcpy(text + 127, "a");
    assert_string_equal(expression_check(text), "a name of 128 characters is too long");
    assert_string_equal(expression_evaluate("1 /  zero", value_of, NULL, &v),
                        "zero is 0: nothing to divide by");
    *names = 0;
    assert_fine(expression_names("2 * a.sum+_b@x - (3e5 / 1.5c)", append, names));
    assert_string_equal(names, "a.sum _b@x c ");
    *names = 0;
    assert_fine(expression_names("max(a, first(b, c)) / max", append, names));
    assert_string_equal(names, "a b c max ");
    *names = 0;
    assert_string_equal(expression_names("first + last + never", append, names), "enough");
    assert_string_equal(names, "first last ");
}

static void unknown_groups_are_refused_with_the_known_ones(void **state) {
    (void)state;
    assert_reason(group_read("NOSUCH", group), "TENSOR (");
    assert_reason(group_read("../TENSOR", group), "there is no counter group");
    assert_reason(group_read("", group), "there is no counter group");
    assert_int_equal(reason_status(group_read("tensor", group), STATUS_DEVICE), STATUS_USAGE);
}

/* ---- Against CUPTI */

struct names {
    const char *name[128];
    int n;
};

static const char *gather(void *arg, const char *name) {
    struct names *all = arg;
    if (!strstr(name, "__")) return NULL;
    for (int i = 0; i < all->n; i++)
        if (!strcmp(all->name[i], name)) return NULL;
    all->name[all->n++] = strdup(name);
    return NULL;
}

enum { MAX_PASSES = 8 };

/* Every value has a line for the chip, every metric in it exists there, and few passes collect
 * them all. */
static void resolve(const char *name, const char *chip) {
    struct names all = {.n = 0};
    int n_passes;
    assert_fine(group_read(name, group));
    for (int i = 0; i < group->n; i++) {
        const struct group_origin *o = group_origin(&group->value[i], chip);
        if (!o) fail_msg("%s: %s has no line for %s", group->file, group->value[i].name, chip);
        assert_fine(expression_names(o->formula, gather, &all));
        assert_non_null(group_origin(&group->value[i], "emulator"));
    }
    const char *why = cupti_list_passes(chip, all.name, all.n, &n_passes);
    if (why) fail_msg("%s on %s: %s", name, chip, why);
    print_message("# %-9s %s: %2d values, %2d metrics, %d passes\n", name, chip, group->n, all.n,
                  n_passes);
    assert_in_range(n_passes, 0, MAX_PASSES);
    for (int i = 0; i < all.n; i++) free((void *)all.name[i]);
}

static void every_group_resolves_on_every_chip(void **state) {
    (void)state;
    static const char *const chips[] = {"GH100", "AD102", "AD103", "AD104", "GA100", "GA102"};
    char names[256];
    const char *why = SANITIZED ? "libnvperf_host does not load under ASan" : cupti_list_open();
    if (why) SKIP("%s", why);
    groups_list(",", names, sizeof names);
    assert_true(strlen(names) > 0);
    for (char *save, *name = strtok_r(names, ",", &save); name; name = strtok_r(NULL, ",", &save))
        for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) resolve(name, chips[i]);
}

static void unknown_chips_and_metrics_are_errors(void **state) {
    (void)state;
    const char *fine[] = {"sm__cycles_active.avg"},
               *range[] = {"sm__cycles_active.avg", "sm__nosuch.sum"},
               *sass[] = {"smsp__sass_nosuch"};
    int n_passes;
    const char *why = SANITIZED ? "libnvperf_host does not load under ASan" : cupti_list_open();
    if (why) SKIP("%s", why);
    assert_fine(cupti_list_passes("GH100", fine, 1, &n_passes));
    assert_int_equal(n_passes, 1);
    assert_reason(cupti_list_passes("GH999", fine, 1, &n_passes), "GH999");
    assert_reason(cupti_list_passes("", fine, 1, &n_passes), "");
    assert_reason(cupti_list_passes("GH100", range, 2, &n_passes),
                  "GH100 has no metric sm__nosuch.sum");
    assert_reason(cupti_list_passes("GH100", sass, 1, &n_passes), "smsp__sass_nosuch");
}

static int make_group(void **state) {
    (void)state;
    group = malloc(sizeof *group);
    return !group;
}

static int free_group(void **state) {
    (void)state;
    free(group);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_file_is_read),
        cmocka_unit_test(places_choose_the_first_line_that_fits),
        cmocka_unit_test(wrong_files_are_refused_with_their_line),
        cmocka_unit_test(long_input_is_refused),
        cmocka_unit_test(what_is_just_allowed_is_read),
        cmocka_unit_test(every_prefix_of_a_good_file_is_safe),
        cmocka_unit_test(formulas_are_calculated),
        cmocka_unit_test(formulas_have_limits),
        cmocka_unit_test(unknown_groups_are_refused_with_the_known_ones),
        cmocka_unit_test(every_group_resolves_on_every_chip),
        cmocka_unit_test(unknown_chips_and_metrics_are_errors),
    };
    return cmocka_run_group_tests_name("groups", tests, make_group, free_group);
}
