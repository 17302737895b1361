/* Records: a line is whole or absent, a cut one is
 * left out and counted, other schemas are refused. */
#include "test.h"

#include "common/base/reason.h"
#include "common/harness/record.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[OWN_BYTES], path[OWN_BYTES + 32];

static int open_folder(void **state) {
    (void)state;
    if (!mkdtemp(own_template(folder, "record-XXXXXX"))) return -1;
    snprintf(path, sizeof path, "%s/run.jsonl", folder);
    return 0;
}

static int close_folder(void **state) {
    (void)state;
    char command[OWN_BYTES + 32];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static json_t *sample(int i) {
    json_t *r = record_new(3, (char *[]){"stage-1", "--seed", "1"});
    json_object_set_new(r, "i", json_integer(i));
    return r;
}

static const char *append(int i) {
    json_t *r = sample(i);
    const char *why = record_append(path, r);
    json_decref(r);
    return why;
}

static void write_text(const char *text) {
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
}

static off_t size(void) {
    struct stat s;
    return stat(path, &s) ? -1 : s.st_size;
}

/* Reads; the records must be numbered 0 ... n - 1 by "i". */
static void expect(int n, int cut) {
    json_t *all;
    int n_cut;
    assert_fine(record_read(path, &all, &n_cut));
    assert_int_equal(json_array_size(all), n);
    assert_int_equal(n_cut, cut);
    for (int i = 0; i < n; i++)
        assert_int_equal(json_integer_value(json_object_get(json_array_get(all, i), "i")), i);
    json_decref(all);
}

/* Nine digits of a number, and null for what JSON has no number for: never a 0. */
static void numbers_keep_nine_digits(void **state) {
    (void)state;
    json_t *r = sample(0), *all;
    int n_cut;
    record_set(r, "third", record_real(1.0 / 3));
    record_set(r, "nan", record_real(0.0 / 0.0));
    record_set(r, "infinity", record_real(1.0 / 0.0));
    assert_fine(record_append(path, r));
    json_decref(r);
    assert_fine(record_read(path, &all, &n_cut));
    r = json_array_get(all, 0);
    double third = json_real_value(json_object_get(r, "third"));
    assert_true(third > 0.3333333329 && third < 0.3333333336);
    assert_true(json_is_null(json_object_get(r, "nan")));
    assert_true(json_is_null(json_object_get(r, "infinity")));
    json_decref(all);
}

/* A field that cannot be made is no field left out. */
static void a_field_that_is_no_json_is_refused(void **state) {
    (void)state;
    json_t *r = sample(0);
    record_set(r, "name", json_string("\xff\xfe"));
    assert_reason(record_append(path, r), "\"name\" of this record cannot be written");
    json_decref(r);
    assert_int_equal(size(), -1);
    r = sample(0);
    json_t *list = json_array();
    record_add(list, json_string("\xff"));
    record_set(r, "list", list);
    assert_reason(record_append(path, r), "cannot be written as JSON");
    json_decref(r);
    assert_fine(append(0)); /* the next one is as ever */
    expect(1, 0);
}

static void what_is_appended_is_read(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) assert_fine(append(i));
    expect(3, 0);
    json_t *all;
    int n_cut;
    assert_fine(record_read(path, &all, &n_cut));
    json_t *first = json_array_get(all, 0);
    assert_string_equal(json_string_value(json_object_get(first, "schema")), RECORD_SCHEMA);
    assert_string_equal(json_string_value(json_object_get(first, "command")), "stage-1 --seed 1");
    assert_int_equal(strlen(json_string_value(json_object_get(first, "time"))), 20);
    json_decref(all);
}

static void a_file_cut_anywhere_loses_one_row(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) assert_fine(append(i));
    off_t one = size() / 2, two = size();
    assert_int_equal(truncate(path, two - 1), 0);
    expect(2, 0); /* only the newline is gone: the row is whole */
    for (off_t cut = two - 2; cut > one; cut -= 7) {
        assert_int_equal(truncate(path, cut), 0);
        expect(1, 1);
    }
}

static void appending_after_a_cut_keeps_both_sides(void **state) {
    (void)state;
    assert_fine(append(0));
    off_t whole = size();
    assert_fine(append(99));
    assert_int_equal(truncate(path, whole + 20), 0);
    assert_fine(append(1));
    expect(2, 1);
}

static void schemas_are_checked(void **state) {
    (void)state;
    json_t *all;
    int n_cut;
    write_text("{\"schema\": \"attnlab-2.0\"}\n");
    assert_reason(record_read(path, &all, &n_cut), "attnlab-2.0");
    write_text("{\"schema\": \"other\"}\n");
    assert_reason(record_read(path, &all, &n_cut), "schema");
    write_text("{}\n");
    assert_reason(record_read(path, &all, &n_cut), "schema");
    write_text("{\"schema\": \"attnlab-1.9\", \"i\": 0}\n");
    expect(1, 0);
    write_text("");
    expect(0, 0);
    assert_int_equal(reason_status(record_read("/nonexistent/x", &all, &n_cut), STATUS_RIGHT),
                     STATUS_FILE);
}

static void what_is_no_json_is_no_record(void **state) {
    (void)state;
    json_t *all;
    int n_cut;
    write_text("# A page\n\nof text\n");
    assert_reason(record_read(path, &all, &n_cut), "none of its lines is a record");
    write_text("[1, 2]\nnot json\n\xff\xfe\n\n{\"schema\": \"attnlab-1.0\", \"i\": 0}\n");
    expect(1, 3);
}

static void unwritable_places_are_refused(void **state) {
    (void)state;
    json_t *r = sample(0);
    char deep[OWN_BYTES + 32];
    snprintf(deep, sizeof deep, "%s/no/such/run.jsonl", folder);
    const char *why = record_append(deep, r);
    assert_reason(why, deep);
    assert_int_equal(reason_status(why, STATUS_RIGHT), STATUS_FILE);
    assert_reason(record_append(folder, r), "Is a directory");
    json_decref(r);
}

/* A limit on the file's size stands for a full disk. */
static void a_full_disk_leaves_the_old_rows(void **state) {
    (void)state;
    assert_fine(append(0));
    off_t before = size();
    struct rlimit old, tight = {(rlim_t)before + 10, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_IGN);
    tight.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_FSIZE, &tight);
    const char *why = append(1);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_reason(why, "nothing was added");
    assert_int_equal(size(), before);
    expect(1, 0);
}

/* A writer killed at a random moment, over and over: no file is ever corrupt. */
static void kill_9_loses_at_most_the_row_being_written(void **state) {
    (void)state;
    int finished = 0;
    for (int round = 0; round < 100; round++) {
        pid_t child = fork();
        if (!child) {
            for (int i = 0; i < 1000; i++) append(i);
            _exit(0);
        }
        usleep(500 + (useconds_t)round * 60);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        json_t *all;
        int n_cut;
        if (size() < 0) continue;
        assert_fine(record_read(path, &all, &n_cut));
        assert_in_range(n_cut, 0, round + 1);
        finished += (int)json_array_size(all) > 0;
        json_decref(all);
    }
    assert_true(finished > 0);
}

static void writers_side_by_side_do_not_mix(void **state) {
    (void)state;
    enum { WRITERS = 4, ROWS = 20 };
    for (int w = 0; w < WRITERS; w++)
        if (!fork()) {
            for (int i = 0; i < ROWS; i++) append(i);
            _exit(0);
        }
    for (int w = 0; w < WRITERS; w++) wait(NULL);
    json_t *all;
    int n_cut;
    assert_fine(record_read(path, &all, &n_cut));
    assert_int_equal(json_array_size(all), WRITERS * ROWS);
    assert_int_equal(n_cut, 0);
    json_decref(all);
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, open_folder, close_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(numbers_keep_nine_digits),
        IN_FOLDER(a_field_that_is_no_json_is_refused),
        IN_FOLDER(what_is_appended_is_read),
        IN_FOLDER(a_file_cut_anywhere_loses_one_row),
        IN_FOLDER(appending_after_a_cut_keeps_both_sides),
        IN_FOLDER(schemas_are_checked),
        IN_FOLDER(what_is_no_json_is_no_record),
        IN_FOLDER(unwritable_places_are_refused),
        IN_FOLDER(a_full_disk_leaves_the_old_rows),
        IN_FOLDER(kill_9_loses_at_most_the_row_being_written),
        IN_FOLDER(writers_side_by_side_do_not_mix),
    };
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
