/* Whole files read, and foreign text made plain. */
#include "tests/test.h"

#include "common/base/path.h"
#include "common/base/plain.h"
#include "common/base/reason.h"
#include "tests/fake/faulty.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[OWN_BYTES];

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
    unsigned long in_use = 0;
    for (int round = 0; round < 4; round++) { /* and keeps nothing */
        int files = open_files();
        assert_null(path_read("/tmp", &bytes));
        free(path_read(path, &bytes));
        assert_int_equal(open_files(), files);
        if (round == 3) assert_int_equal(memory_in_use(), in_use);
        in_use = memory_in_use();
    }
}

/* What a kernel may name as its source: a device that never ends, a pipe that nobody writes, a folder, a huge file. */
static void only_ordinary_files_are_sources(void **state) {
    (void)state;
    size_t bytes = 0;
    char fifo[OWN_BYTES + 8];
    const char *const others[] = {"/dev/zero", "/tmp", fifo, path};
    snprintf(fifo, sizeof fifo, "%s-pipe", path);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(truncate(path, PATH_MOST_SOURCE), 0);
    char *text = path_read_source(path, &bytes);
    assert_true(text && bytes == PATH_MOST_SOURCE);
    free(text);
    assert_int_equal(truncate(path, PATH_MOST_SOURCE + 1), 0);
    const int files = open_files();
    for (size_t n = 0; n < sizeof others / sizeof *others; n++) {
        errno = 0;
        assert_null(path_read_source(others[n], &bytes));
        assert_int_equal(errno, ENOENT);
    }
    assert_null(path_read_source("/nonexistent/file", &bytes));
    assert_int_equal(errno, ENOENT);
    assert_int_equal(open_files(), files);
    unlink(fifo);
}

/* Root may write any file: who is nobody here may not. */
static void a_file_of_others_says_so(void **state) {
    (void)state;
    pid_t child = fork();
    if (!child) {
        if (!geteuid() && setuid(65534)) _exit(2);
        const char *why = path_writable("/etc/passwd");
        _exit(!why || !strstr(why, "cannot write /etc/passwd: Permission denied"));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* What was printed has arrived, or the reason why not. */
static void stdout_may_fail(void **state) {
    (void)state;
    errno = EIO; /* of earlier */
    assert_fine(path_stdout());
    fflush(stdout);
    int keep = dup(1);
    close(1);
    printf("lost");
    const char *first = path_stdout();
    errno = EIO;
    const char *again = path_stdout(); /* nothing is left to write, but some of it is lost */
    dup2(keep, 1);
    close(keep);
    __fpurge(stdout);
    clearerr(stdout);
    assert_reason(first, "stdout: Bad file descriptor");
    assert_reason(again, "stdout: not all was written");
    assert_int_equal(reason_status(again, STATUS_RIGHT), STATUS_FILE);
    assert_fine(path_stdout());
}

static void text_is_made_plain(void **state) {
    static const char *const texts[][2] = {
        {"", ""},
        {"a.cu\n\tb", "a.cu\n\tb"},
        {"x\x1b[2J\x07\r\x7f", "x?[2J???"},
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"x\xff\xfe.cu", "x??.cu"},
        {"\xc2\x9b"
         "1A",
         "??1A"},                          /* CSI in one character */
        {"\xc0\xaf\xe0\x80\xaf", "?????"}, /* longer than need be */
        {"\xed\xa0\x80", "???"},           /* half a pair */
        {"\xf4\x90\x80\x80", "????"},      /* behind the last */
        {"\xe2\x82", "??"},                /* cut off */
    };
    (void)state;
    for (size_t n = 0; n < sizeof texts / sizeof *texts; n++) {
        char text[32];
        snprintf(text, sizeof text, "%s", texts[n][0]);
        plain_text(text);
        assert_string_equal(text, texts[n][1]);
    }
}

/* Whatever the bytes are, JSON holds what is left. */
static void json_holds_what_is_plain(void **state) {
    (void)state;
    for (unsigned a = 1; a < 256; a++)
        for (unsigned b = 1; b < 256; b++)
            for (unsigned c = 0x70; c < 0xd0; c += 0xf) {
                char text[] = {(char)a, (char)b, (char)c, (char)0x80, 'x', 0};
                plain_text(text);
                json_t *held = json_string(text);
                assert_non_null(held);
                assert_int_equal(strlen(text), 5);
                json_decref(held);
            }
}

static int make_file(void **state) {
    (void)state;
    int fd = own_file(path, "path");
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
        cmocka_unit_test(only_ordinary_files_are_sources),
        cmocka_unit_test(a_file_of_others_says_so),
        cmocka_unit_test(stdout_may_fail),
        cmocka_unit_test(text_is_made_plain),
        cmocka_unit_test(json_holds_what_is_plain),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
