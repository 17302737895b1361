/* Records: a line is whole or absent, a cut one is
 * left out and counted, other schemas are refused. */
#include "tests/test.h"

#include "common/base/reason.h"
#include "common/harness/record.h"
#include "tests/fake/faulty.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[OWN_BYTES], path[OWN_BYTES + 32];

static int open_folder(void **state) {
    (void)state;
    if (!own_folder(folder, "record")) return -1;
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
    assert_true(third == 0.333333333);
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
    r = sample(0); /* the next one is as ever */
    list = json_array();
    record_add(list, json_string("fine"));
    record_set(r, "list", list);
    assert_fine(record_append(path, r));
    json_decref(r);
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

/* Each call that makes a row safe is made, its failure is told, and the rows before it stay. */
static void a_disk_that_fails_is_told(void **state) {
    (void)state;
    const struct {
        const char *call;
        int n, error;
        const char *said;
    } faults[] = {{"flock", 1, ENOLCK, "No locks"},
                  {"fstat", 1, EIO, "Input/output error"},
                  {"write", 1, ENOSPC, "nothing was added"},
                  {"fsync", 1, EIO, "nothing was added"},
                  {"fsync", 1, EINVAL, NULL},
                  {"fsync", 1, EROFS, NULL},
                  {"write", 1, EINTR, NULL}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        write_text("");
        assert_fine(append(0));
        off_t before = size();
        int files = open_files();
        fail_call(faults[i].call, faults[i].n, faults[i].error);
        const char *why = append(1);
        assert_int_equal(open_files(), files);
        if (faults[i].said) {
            assert_reason(why, faults[i].said);
            assert_int_equal(reason_status(why, STATUS_RIGHT), STATUS_FILE);
            assert_int_equal(size(), before);
            expect(1, 0);
        } else {
            assert_fine(why);
            expect(2, 0);
        }
    }
    write_at_most(7);
    const char *why = append(2);
    write_at_most(0);
    assert_fine(why);
    expect(3, 0);
    /* half of it is written, and cannot be taken back */
    off_t before = size();
    write_at_most(7);
    fail_call("write", 3, ENOSPC);
    why = append(3);
    assert_reason(why, "nothing was added");
    assert_int_equal(size(), before);
    fail_call("ftruncate", 1, EIO);
    struct rlimit old, tight;
    getrlimit(RLIMIT_FSIZE, &old);
    tight = old;
    tight.rlim_cur = (rlim_t)before + 10;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &tight);
    why = append(3);
    setrlimit(RLIMIT_FSIZE, &old);
    write_at_most(0);
    assert_reason(why, "its last line is cut");
    expect(3, 1);
}

/* A cut line of one character is one. */
static void a_line_is_put_on_a_line_of_its_own(void **state) {
    (void)state;
    write_text("x");
    assert_fine(append(0));
    expect(1, 1);
    off_t before = size();
    assert_fine(append(1));
    char text[4096] = "";
    FILE *f = fopen(path, "r");
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    assert_int_equal(n, size());
    assert_int_equal(text[before - 1], '\n');
    assert_int_equal(text[before], '{'); /* no empty line */
    write_text("{\"schema\": \"attnlab-1.0\", \"i\": 0}\nx");
    assert_fine(append(1));
    expect(2, 1);
    write_text("{\"cut");
    expect(0, 1); /* a kill may cut the first */
}

/* A pipe has a reader or is refused at once; a row that does not fit into it waits for him. */
static void pipes_have_readers(void **state) {
    (void)state;
    json_t *r = sample(0);
    char *long_text = calloc(1, 300001);
    memset(long_text, 'x', 300000);
    record_set(r, "text", json_string(long_text));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_reason(record_append(path, r), "No such device");
    alarm(20); /* who waits for ever is wrong */
    pid_t child = fork();
    if (!child) {
        alarm(20);
        static char all[400000];
        size_t n = 0;
        FILE *f = fopen(path, "r");
        usleep(50000);
        n = fread(all, 1, sizeof all, f);
        _exit(n < 300000 || all[n - 1] != '\n' || all[0] != '{');
    }
    int keep = dup(0), status;
    close(0); /* the pipe may be file 0 */
    const char *why;
    do why = record_append(path, r);
    while (why && strstr(why, "No such device")); /* until the reader is there */
    dup2(keep, 0);
    close(keep);
    assert_fine(why);
    assert_int_equal(waitpid(child, &status, 0), child);
    alarm(0);
    assert_int_equal(status, 0);
    json_decref(r);
    free(long_text);
}

static void a_new_file_has_its_modes(void **state) {
    (void)state;
    struct stat there;
    int keep = dup(0);
    mode_t before = umask(026);
    close(0);
    const char *why = append(0);
    dup2(keep, 0);
    close(keep);
    umask(before);
    assert_fine(why);
    assert_int_equal(stat(path, &there), 0);
    assert_int_equal(there.st_mode & 0777, 0640);
}

static void a_newer_minor_schema_is_said_once(void **state) {
    (void)state;
    char said[1024] = "", known[100];
    FILE *f = fdopen(memfd_create("said", 0), "w+");
    int keep = dup(STDERR_FILENO);
    write_text(
        "{\"schema\": \"attnlab-1.98\", \"i\": 0}\n{\"schema\": \"attnlab-1.99\", \"i\": 1}\n");
    dup2(fileno(f), STDERR_FILENO);
    json_t *all;
    int n_cut;
    const char *why = record_read(path, &all, &n_cut);
    json_decref(all);
    snprintf(known, sizeof known, "{\"schema\": \"%s\", \"i\": 0}\n", RECORD_SCHEMA);
    write_text(known);
    if (!why && !(why = record_read(path, &all, &n_cut))) json_decref(all);
    dup2(keep, STDERR_FILENO);
    close(keep);
    rewind(f);
    size_t n = fread(said, 1, sizeof said - 1, f);
    fclose(f);
    assert_fine(why);
    assert_non_null(strstr(said, ":1: schema attnlab-1.98 is newer than " RECORD_SCHEMA));
    assert_ptr_equal(strchr(said, '\n'), said + n - 1);
}

static void what_is_wrong_has_its_line(void **state) {
    (void)state;
    json_t *all = (json_t *)1;
    int n_cut;
    write_text("\n{\"schema\": \"attnlab-1.0\"}\n{\"schema\": \"attnlab-9.0\"}\n");
    assert_reason(record_read(path, &all, &n_cut), "run.jsonl:3: schema attnlab-9.0");
    assert_null(all);
    assert_reason(record_read(folder, &all, &n_cut), "Is a directory");
    assert_reason(record_append(path, NULL), "cannot be written as JSON");
}

/* Neither descriptors nor memory. */
static void nothing_is_kept(void **state) {
    (void)state;
    unsigned long in_use = 0;
    for (int round = 0; round < 60; round++) {
        json_t *all;
        int n_cut, files = open_files();
        write_text("");
        for (int i = 0; i < 3; i++) assert_fine(append(i));
        json_t *r = sample(0);
        assert_non_null(record_append(folder, r));
        json_decref(r);
        assert_fine(record_read(path, &all, &n_cut));
        json_decref(all);
        write_text("[1, 2]\n{\"schema\": \"attnlab-9.0\"}\n");
        assert_non_null(record_read(path, &all, &n_cut));
        assert_int_equal(open_files(), files);
        if (round == 10) in_use = memory_in_use();
    }
    assert_true(memory_in_use() < in_use + 50 * 100); /* the heap's own order differs a little */
}

static const char *text_of(const json_t *r, const char *key) {
    return json_string_value(json_object_get(r, key));
}

static void a_long_command_is_cut(void **state) {
    (void)state;
    static char long_word[801];
    memset(long_word, 'y', sizeof long_word - 1);
    json_t *r = record_new(3, (char *[]){"stage-1", long_word, long_word});
    const char *command = text_of(r, "command");
    assert_int_equal(strlen(command), 1023);
    assert_memory_equal(command, "stage-1 y", 9);
    json_decref(r);
}

static void devices_are_described(void **state) {
    (void)state;
    struct device_info info = {
        .chip = *chip_find("h200"), .name = "H200", .driver = "580.1", .toolkit = "13.0"};
    json_t *d = record_device(&info, 1980, 1755);
    assert_string_equal(text_of(d, "kind"), "cuda");
    assert_string_equal(text_of(d, "name"), "H200");
    assert_string_equal(text_of(d, "driver"), "580.1");
    assert_int_equal(json_integer_value(json_object_get(d, "clock_mhz_before")), 1980);
    assert_int_equal(json_integer_value(json_object_get(d, "clock_mhz_after")), 1755);
    assert_null(json_object_get(d, "uuid"));
    json_decref(d);
    strcpy(info.uuid, "GPU-1");
    static const char *const visible[] = {NULL, "", "0"};
    for (int i = 0; i < 3; i++) {
        if (visible[i])
            setenv("CUDA_VISIBLE_DEVICES", visible[i], 1);
        else
            unsetenv("CUDA_VISIBLE_DEVICES");
        d = record_device(&info, 0, 0);
        assert_string_equal(text_of(d, "uuid"), "GPU-1");
        assert_int_equal(json_object_get(d, "visible") != NULL, i == 2);
        json_decref(d);
    }
    unsetenv("CUDA_VISIBLE_DEVICES");
    info = (struct device_info){.chip = *chip_find("l4"), .is_emulator = true};
    d = record_device(&info, 0, 0);
    assert_string_equal(text_of(d, "kind"), "emulator");
    assert_null(json_object_get(d, "driver"));
    assert_null(json_object_get(d, "clock_mhz_before"));
    assert_null(json_object_get(d, "clock_mhz_after"));
    json_decref(d);
}

static void counters_have_values_or_reasons(void **state) {
    (void)state;
    struct counter two[2] = {{.group = "X",
                              .name = "a",
                              .unit = "%",
                              .metric = "m",
                              .value = 1.5,
                              .source = SOURCE_MODEL,
                              .validated = "h200: well"},
                             {.group = "X", .name = "b", .reason = "not today"}};
    json_t *all = record_counters(&(struct counters){.n = 2, .counter = two});
    assert_int_equal(json_array_size(all), 2);
    json_t *a = json_array_get(all, 0), *b = json_array_get(all, 1);
    assert_string_equal(text_of(a, "group"), "X");
    assert_string_equal(text_of(a, "name"), "a");
    assert_true(json_real_value(json_object_get(a, "value")) == 1.5);
    assert_string_equal(text_of(a, "unit"), "%");
    assert_string_equal(text_of(a, "source"), "model");
    assert_string_equal(text_of(a, "metric"), "m");
    assert_string_equal(text_of(a, "validated"), "h200: well");
    assert_null(json_object_get(a, "na"));
    assert_string_equal(text_of(b, "na"), "not today");
    assert_null(json_object_get(b, "value"));
    assert_null(json_object_get(a, "note"));
    json_decref(all);
    *two[0].validated = 0;
    strcpy(two[0].note, "no better one");
    all = record_counters(&(struct counters){.n = 1, .counter = two});
    assert_null(json_object_get(json_array_get(all, 0), "validated"));
    assert_string_equal(text_of(json_array_get(all, 0), "note"), "no better one");
    json_decref(all);
}

/* A writer killed at a random moment, over and over: no file is ever corrupt. */
static void kill_9_loses_at_most_the_row_being_written(void **state) {
    (void)state;
    int finished = 0;
    for (int round = 0; round < (finished ? 100 : 1000); round++) { /* longer on a busy machine */
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
        IN_FOLDER(a_disk_that_fails_is_told),
        IN_FOLDER(a_line_is_put_on_a_line_of_its_own),
        IN_FOLDER(pipes_have_readers),
        IN_FOLDER(a_new_file_has_its_modes),
        IN_FOLDER(a_newer_minor_schema_is_said_once),
        IN_FOLDER(what_is_wrong_has_its_line),
        IN_FOLDER(nothing_is_kept),
        IN_FOLDER(a_long_command_is_cut),
        IN_FOLDER(devices_are_described),
        IN_FOLDER(counters_have_values_or_reasons),
        IN_FOLDER(kill_9_loses_at_most_the_row_being_written),
        IN_FOLDER(writers_side_by_side_do_not_mix),
    };
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
