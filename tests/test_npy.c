/* .npy files: what NumPy writes is read, anything else is refused for the right reason. */
#include "test.h"

#include "common/base/npy.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static const char *path(const char *name) {
    static char out[128];
    snprintf(out, sizeof out, "%s/%s", folder, name);
    return out;
}

/* Writes a file of this version, header and data size (zeros). */
static const char *file(int major, const char *header, size_t data_bytes) {
    const char *name = path("made.npy");
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    size_t n = strlen(header);
    fprintf(f, "\x93NUMPY%c%c", major, 0);
    for (int i = 0; i < (major == 1 ? 2 : 4); i++) fputc(n >> 8 * i & 255, f);
    fputs(header, f);
    for (size_t i = 0; i < data_bytes; i++) fputc(0, f);
    assert_int_equal(fclose(f), 0);
    return name;
}

static void refused(const char *name, const char *text) {
    int64_t shape[4];
    half *data = (half *)1;
    assert_reason(npy_read_half(name, shape, &data), text);
    assert_null(data);
}

#define HEADER(descr, order, shape)                                                                \
    "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }\n"

static void blanks_are_no_matter(void **state) {
    (void)state;
    const char *headers[] = {
        "{ 'descr' : '<f2' , 'fortran_order' : False , 'shape' : ( 1 , 2 , 3 , 8 ) , } \n",
        "{'shape':(1,2,3,8),'fortran_order':False,'descr':\"<f2\"}",
        "\t{\n'descr'\t:\n'<f2',\t'fortran_order'\n:\tFalse\t,'shape':\n(\n1,2\t,3,\n8,\t)\n,\n}"
        "\n"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        int64_t shape[4];
        half *data;
        assert_fine(npy_read_half(file(1, headers[i], 96), shape, &data));
        assert_true(shape[0] == 1 && shape[1] == 2 && shape[2] == 3 && shape[3] == 8);
        free(data);
    }
}

static void what_is_written_is_read(void **state) {
    (void)state;
    half x[2 * 3 * 4 * 8];
    for (int i = 0; i < 192; i++) x[i] = (half)(i * 331);
    int64_t shape[4] = {2, 3, 4, 8}, read[4];
    half *data;
    assert_fine(npy_write_half(path("x.npy"), 4, shape, x));
    assert_fine(npy_read_half(path("x.npy"), read, &data));
    assert_memory_equal(shape, read, sizeof shape);
    assert_memory_equal(x, data, sizeof x);
    free(data);
    struct stat status;
    assert_int_equal(stat(path("x.npy"), &status), 0);
    assert_int_equal(status.st_size, 128 + sizeof x); /* data begins at a multiple of 64 */
}

static void all_versions_and_spellings_are_read(void **state) {
    (void)state;
    int64_t shape[4];
    half *data;
    for (int major = 1; major <= 3; major++) {
        assert_fine(
            npy_read_half(file(major, HEADER("<f2", "False", "(1, 2, 3, 8)"), 96), shape, &data));
        free(data);
    }
    assert_fine(npy_read_half(
        file(1, "{\"shape\":(1,2,3,8,),\"fortran_order\":False,\"descr\":\"<f2\"}", 96), shape,
        &data));
    assert_int_equal(shape[3], 8);
    free(data);
    assert_fine(npy_read_half(file(1, HEADER("<f2", "False", "(1, 2, 0, 8)"), 0), shape, &data));
    free(data);
}

static void other_arrays_are_refused(void **state) {
    (void)state;
    refused(file(1, HEADER("<f4", "False", "(1, 2, 3, 8)"), 192), "holds '<f4', not fp16");
    refused(file(1, HEADER(">f2", "False", "(1, 2, 3, 8)"), 96), "big-endian");
    refused(file(1, HEADER("<f2", "True", "(1, 2, 3, 8)"), 96), "Fortran order");
    refused(file(1, HEADER("<f2", "False", "(6, 8)"), 96), "2 dimensions, not 4");
    refused(file(1, HEADER("<f2", "False", "()"), 2), "0 dimensions");
    refused(file(1, HEADER("<f2", "False", "(1, 1, 1, 1, 8)"), 16), "5 dimensions");
}

static void sizes_that_do_not_fit_are_refused(void **state) {
    (void)state;
    refused(file(1, HEADER("<f2", "False", "(1, 2, 3, 8)"), 95), "is cut short");
    refused(file(1, HEADER("<f2", "False", "(1, 2, 3, 8)"), 0), "is cut short");
    refused(file(1, HEADER("<f2", "False", "(1, 2, 3, 8)"), 97), "data past its end");
    refused(file(1, HEADER("<f2", "False", "(4294967296, 2, 3, 1)"), 0),
            "dimension 0 is 2^31 or more");
    refused(file(1, HEADER("<f2", "False", "(1, 2, 3, 4294967296)"), 0),
            "dimension 3 is 2^31 or more");
    refused(file(1, HEADER("<f2", "False", "(2147483647, 2147483647, 2147483647, 8)"), 0),
            "overflows");
    refused(file(1, HEADER("<f2", "False", "(1, 2, 3, 99999999999999999999999)"), 0), "damaged");
    refused(file(1, HEADER("<f2", "False", "(1, 2, 3, -8)"), 96), "damaged");
    refused(file(1, HEADER("<f2", "False", "(2000, 2000, 2000, 64)"), 64), "is cut short");
}

static void damaged_headers_are_refused(void **state) {
    (void)state;
    refused(file(4, HEADER("<f2", "False", "(1, 2, 3, 8)"), 96), "version 4");
    refused(file(0, HEADER("<f2", "False", "(1, 2, 3, 8)"), 96), "version 0");
    refused(file(1, "", 96), "damaged");
    refused(file(1, "{}", 96), "damaged");
    refused(file(1, "{'descr': '<f2', 'shape': (1, 2, 3, 8)}", 96), "damaged");
    refused(file(1, "{'descr': '<f2', 'fortran_order': Maybe, 'shape': (1, 2, 3, 8)}", 96),
            "damaged");
    refused(file(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (1 2, 3, 8)}", 96),
            "damaged");
    refused(file(1, HEADER("<f2", "False", "(1, 2, 3, 8)") "print(1)", 96), "damaged");
    refused(file(1, "{'descr': '<f2', 'descr': '<f2', 'fortran_order': False, 'shape': (1,)}", 96),
            "damaged");
    refused(file(1, "{'descr': [('x', '<f2')], 'fortran_order': False, 'shape': (1,)}", 96),
            "damaged");

    const char *name = path("text.npy");
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    fputs("hello, world, this is text", f);
    fclose(f);
    refused(name, "not a .npy file");
    assert_int_equal(truncate(name, 0), 0);
    refused(name, "not a .npy file");

    name = file(2, HEADER("<f2", "False", "(1, 2, 3, 8)"), 96);
    assert_int_equal(truncate(name, 30), 0);
    refused(name, "cut short in its header");
    assert_int_equal(truncate(name, 9), 0);
    refused(name, "cut short in its header");
    f = fopen(name, "wb");
    assert_non_null(f);
    fputs("\x93NUMPY\x02", f);
    for (int i = 0; i < 5; i++) fputc(i ? 255 : 0, f); /* a header of 4 GB */
    fclose(f);
    refused(name, "header of 4294967295 bytes");
}

static void what_is_no_file_is_refused(void **state) {
    (void)state;
    refused(folder, "is a directory");
    refused(path("absent.npy"), "No such file");
    refused("/dev/zero", "no regular file");
    assert_int_equal(mkfifo(path("pipe.npy"), 0600), 0);
    refused(path("pipe.npy"), "no regular file");
}

static void a_pipe_is_written_to_and_stays(void **state) {
    (void)state;
    half x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    char got[256];
    struct stat there;
    assert_int_equal(mkfifo(path("out.npy"), 0600), 0);
    int fd = open(path("out.npy"), O_RDWR | O_NONBLOCK);
    assert_true(fd >= 0);
    assert_fine(npy_write_half(path("out.npy"), 4, (int64_t[]){1, 1, 1, 8}, x));
    ssize_t n = read(fd, got, sizeof got);
    assert_true(n > (ssize_t)sizeof x);
    assert_memory_equal(got, "\x93NUMPY", 6);
    assert_memory_equal(got + n - sizeof x, x, sizeof x);
    assert_int_equal(stat(path("out.npy"), &there), 0);
    assert_true(S_ISFIFO(there.st_mode));
    close(fd);
}

static int n_files(void) {
    char command[128];
    snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
    FILE *f = popen(command, "r");
    int n = -1;
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &n), 1);
    pclose(f);
    return n;
}

static void a_failed_write_leaves_nothing(void **state) {
    (void)state;
    int64_t shape[4] = {1, 1, 1, 8};
    half x[8] = {0};
    float y[8] = {0};
    char name[128];
    snprintf(name, sizeof name, "%s/out", folder);
    assert_int_equal(mkdir(name, 0777), 0);
    int before = n_files();
    assert_reason(npy_write_half(name, 4, shape, x), "Is a directory");
    assert_reason(npy_write_half("/nonexistent/x.npy", 4, shape, x), "No such file");
    assert_reason(npy_write_half("/proc/x.npy", 4, shape, x), "/proc/x.npy");
    assert_int_equal(n_files(), before);
    assert_fine(npy_write_float(path("lse.npy"), 3, shape, y)); /* and the good one is there */
    assert_int_equal(n_files(), before + 1);
}

static int open_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/test_npy.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blanks_are_no_matter),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(all_versions_and_spellings_are_read),
        cmocka_unit_test(other_arrays_are_refused),
        cmocka_unit_test(sizes_that_do_not_fit_are_refused),
        cmocka_unit_test(damaged_headers_are_refused),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(a_pipe_is_written_to_and_stays),
        cmocka_unit_test(a_failed_write_leaves_nothing),
    };
    return cmocka_run_group_tests_name("npy", tests, open_folder, remove_folder);
}
