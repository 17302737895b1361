/* .npy files: what NumPy writes is read, anything else is refused for the right reason. */
#include "tests/test.h"

#include "common/base/npy.h"
#include "common/base/reason.h"
#include "tests/fake/faulty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[OWN_BYTES];

static const char *path(const char *name) {
    static char out[OWN_BYTES + 32];
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
    refused(file(1, HEADER("<f2", "False", "(1, 2, 3, 8)"), 95),
            "is cut short: its shape asks for 96 bytes of data, it has 95");
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
    refused(file(1,
                 "{'shape': (1, 1, 1, 8), 'descr': '<f2', 'fortran_order': False, 'shape': (1, 1, "
                 "1, 8)}",
                 16),
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

    refused(file(1, HEADER("<f23456", "False", "(1, 2, 3, 8)"), 96), "holds '<f23456'");
    refused(file(1, HEADER("<f234567", "False", "(1, 2, 3, 8)"), 96), "damaged"); /* no such type */
    refused(file(1, HEADER("", "False", "(1, 2, 3, 8)"), 96), "holds ''");
    refused(file(1, "{'descr': <f2<, 'fortran_order': False, 'shape': (1, 2, 3, 8)}", 96),
            "damaged");
    refused(file(1, "{'descr': '<f2", 96), "damaged");
    refused(file(1, HEADER("<f2", "False", "(1, 1, 1, 1, 1, 1, 1, 8)"), 16), "8 dimensions, not 4");
    refused(file(1, HEADER("<f2", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 65793)"), 16), "damaged");
    refused(file(1, HEADER("<f2", "False", "(1, 2, 3, :)"), 0), "damaged");
}

/* A header of this many bytes: blanks before the newline. */
static const char *long_header(size_t bytes) {
    static char header[70000];
    int n = snprintf(header, sizeof header, HEADER("<f2", "False", "(1, 2, 9, 8)"));
    memset(header + n - 1, ' ', bytes - (size_t)n);
    header[bytes - 1] = '\n';
    header[bytes] = 0;
    return file(2, header, 288);
}

static void a_header_has_64_kib_at_most(void **state) {
    (void)state;
    int64_t shape[4];
    half *data;
    assert_fine(npy_read_half(long_header(65536), shape, &data));
    assert_int_equal(shape[2], 9);
    free(data);
    refused(long_header(65537), "a header of 65537 bytes");
}

/* What calls it asks the type of: npy_read(). */
static void arrays_of_any_number_are_read(void **state) {
    (void)state;
    const struct {
        const char *descr;
        size_t bytes; /* of an element; 0: refused */
    } types[] = {{"|b1", 1}, {"|u1", 1}, {"|i1", 1}, {"<i2", 2}, {"<f2", 2},  {"<u4", 4},
                 {"<f4", 4}, {"<i8", 8}, {"<f8", 8}, {"<f0", 0}, {"<f3", 0},  {"<i5", 0},
                 {"<f7", 0}, {"<i9", 0}, {">f4", 0}, {"<c8", 0}, {"<U4", 0},  {"=f4", 0},
                 {"", 0},    {"<", 0},   {"<f", 0},  {"4", 0},   {"<f16", 0}, {"|O8", 0}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char header[200];
        struct npy x = {0};
        snprintf(header, sizeof header, HEADER("%s", "False", "(3, 5)"), types[i].descr);
        const char *why = npy_read(file(1, header, 15 * types[i].bytes), &x);
        if (!types[i].bytes) {
            assert_reason(why, "not little-endian numbers");
            continue;
        }
        assert_fine(why);
        assert_string_equal(x.descr, types[i].descr);
        assert_int_equal(x.rank, 2);
        assert_true(x.shape[0] == 3 && x.shape[1] == 5);
        assert_int_equal(x.bytes, 15 * types[i].bytes);
        free(x.data);
    }
    struct npy x;
    assert_reason(npy_read(file(1, HEADER("<f4", "True", "(3, 5)"), 60), &x), "Fortran order");
    assert_reason(npy_read(path("absent.npy"), &x), "No such file");
    assert_fine(npy_read(file(1, HEADER("<i4", "False", "()"), 4), &x)); /* one number */
    assert_int_equal(x.rank, 0);
    free(x.data);
    /* empty, whatever the other dimensions are */
    assert_fine(npy_read(
        file(1, HEADER("<f8", "False", "(2147483647, 2147483647, 2147483647, 0)"), 0), &x));
    assert_int_equal(x.bytes, 0);
    free(x.data);
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
    assert_int_equal(n, 128 + sizeof x);
    assert_memory_equal(got, "\x93NUMPY", 6);
    assert_memory_equal(got + n - sizeof x, x, sizeof x);
    assert_int_equal(stat(path("out.npy"), &there), 0);
    assert_true(S_ISFIFO(there.st_mode));
    close(fd);
}

static int n_files(void) {
    char command[OWN_BYTES + 32];
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
    char name[OWN_BYTES + 32];
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

/* A dictionary, blanks to a multiple of 64 bytes, a newline. */
static void the_header_is_aligned(void **state) {
    (void)state;
    char got[1024], expected[1024];
    int64_t shape[10] = {0, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    for (int round = 0; round < 19 * 10; round++) { /* ever longer: shapes of nothing */
        int rank = 1 + round / 19, n = 0;
        if (round % 19 == 0 && rank > 1) shape[rank - 1] = 1;
        if (rank > 1) shape[rank - 1] = shape[rank - 1] * (round % 19 ? 10 : 1);
        assert_fine(npy_write(path("h.npy"), "<f4", rank, shape, "", 4));
        n = snprintf(expected, sizeof expected,
                     "{'descr': '<f4', 'fortran_order': False, 'shape': (");
        for (int i = 0; i < rank; i++)
            n += snprintf(expected + n, sizeof expected - (size_t)n, "%s%lld,", i ? " " : "",
                          (long long)shape[i]);
        n += snprintf(expected + n, sizeof expected - (size_t)n, "), }");
        FILE *f = fopen(path("h.npy"), "rb");
        int bytes = (int)fread(got, 1, sizeof got, f);
        fclose(f);
        assert_true(bytes % 64 == 0 && bytes >= 10 + n + 1 && bytes < 10 + n + 1 + 64);
        assert_memory_equal(got, "\x93NUMPY\x01\x00", 8);
        assert_int_equal((unsigned char)got[8] + 256 * (unsigned char)got[9], bytes - 10);
        assert_memory_equal(got + 10, expected, n);
        for (int i = 10 + n; i < bytes - 1; i++) assert_int_equal(got[i], ' ');
        assert_int_equal(got[bytes - 1], '\n');
    }
}

static void a_file_has_the_modes_of_a_new_file(void **state) {
    (void)state;
    half x[8] = {0};
    struct stat there;
    mode_t before = umask(026);
    assert_fine(npy_write_half(path("mode.npy"), 4, (int64_t[]){1, 1, 1, 8}, x));
    assert_int_equal(stat(path("mode.npy"), &there), 0);
    assert_int_equal(there.st_mode & 0777, 0640);
    assert_int_equal(umask(before), 026); /* as it was */
}

/* Each call that makes a file safe is made, and its failure is told; what was there before stays. */
static void a_disk_that_fails_is_told(void **state) {
    (void)state;
    const struct {
        const char *call;
        int n, error;
        const char *said;
    } faults[] = {{"write", 1, ENOSPC, "No space left"},
                  {"write", 2, ENOSPC, "No space left"},
                  {"fchmod", 1, EPERM, "not permitted"},
                  {"fsync", 1, EIO, "Input/output"},
                  {"close", 1, EDQUOT, "quota"},
                  {"write", 1, EINTR, NULL},
                  {"write", 2, EINTR, NULL}};
    half x[8] = {1, 2, 3}, y[8] = {4, 5, 6}, *got;
    int64_t shape[4] = {1, 1, 1, 8};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        assert_fine(npy_write_half(path("safe.npy"), 4, shape, x));
        int files = n_files(), fds = open_files();
        fail_call(faults[i].call, faults[i].n, faults[i].error);
        const char *why = npy_write_half(path("safe.npy"), 4, shape, y);
        if (faults[i].said)
            assert_reason(why, faults[i].said);
        else
            assert_fine(why);
        assert_int_equal(n_files(), files);
        assert_int_equal(open_files(), fds);
        assert_fine(npy_read_half(path("safe.npy"), shape, &got));
        assert_memory_equal(got, why ? x : y, sizeof x);
        free(got);
    }
    /* the folder's: the file is there, but may not be after a crash */
    fail_call("fsync", 2, EIO);
    assert_reason(npy_write_half(path("safe.npy"), 4, shape, y),
                  "safe.npy is written, but a power cut may lose it: its folder is not synced: "
                  "Input/output");
    fail_call("fsync", 2, EINVAL); /* a file system that cannot sync folders */
    assert_fine(npy_write_half(path("safe.npy"), 4, shape, y));
}

static void a_disk_that_takes_little_is_written_whole(void **state) {
    (void)state;
    half x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, *got;
    int64_t shape[4] = {1, 1, 1, 8};
    write_at_most(7);
    assert_fine(npy_write_half(path("little.npy"), 4, shape, x));
    write_at_most(0);
    assert_fine(npy_read_half(path("little.npy"), shape, &got));
    assert_memory_equal(got, x, sizeof x);
    free(got);
}

static void a_pipe_that_fails_is_told(void **state) {
    (void)state;
    half x[8] = {0};
    int64_t shape[4] = {1, 1, 1, 8};
    assert_int_equal(mkfifo(path("broken.npy"), 0600), 0);
    int fd = open(path("broken.npy"), O_RDWR | O_NONBLOCK);
    fail_call("write", 1, EPIPE);
    assert_reason(npy_write_half(path("broken.npy"), 4, shape, x), "Broken pipe");
    fail_call("write", 2, ENOSPC);
    assert_reason(npy_write_half(path("broken.npy"), 4, shape, x), "No space left");
    fail_call("close", 1, EIO);
    assert_reason(npy_write_half(path("broken.npy"), 4, shape, x), "Input/output");
    close(fd);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int old = open(".", O_RDONLY);
    assert_int_equal(chdir(folder), 0); /* names of sockets are short */
    strcpy(name.sun_path, "socket");
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    assert_reason(npy_write_half("socket", 4, shape, x), "No such device");
    close(fd);
    assert_int_equal(fchdir(old), 0);
    close(old);
}

/* A folder that may not be read cannot be synced. */
static void a_blind_folder_is_told(void **state) {
    (void)state;
    half x[8] = {0};
    assert_int_equal(chmod(folder, 0711), 0);
    assert_int_equal(mkdir(path("blind"), 0300) || chmod(path("blind"), 0333), 0);
    pid_t child = fork();
    if (!child) {
        if (chdir(folder) || (!geteuid() && setuid(65534))) _exit(2);
        const char *why = npy_write_half("blind/x.npy", 4, (int64_t[]){1, 1, 1, 8}, x);
        _exit(!why || !strstr(why, "is not synced: Permission denied"));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(chmod(path("blind"), 0700), 0);
    assert_int_equal(access(path("blind/x.npy"), F_OK), 0); /* it is there, but may not last */
}

/* A name's room is that of a path, with what makes a name of its own of it. */
static void a_long_path_is_refused(void **state) {
    (void)state;
    half x[8] = {0};
    char name[4200];
    for (int bytes = 4088; bytes <= 4089; bytes++) {
        memset(name, 'x', sizeof name);
        name[bytes] = 0;
        assert_reason(npy_write_half(name, 4, (int64_t[]){1, 1, 1, 8}, x),
                      bytes == 4088 ? "cannot write xx" : "whose path has 4089 bytes");
    }
}

/* The first file that is opened may be number 0. */
static void stdin_may_be_closed(void **state) {
    (void)state;
    half x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, *got = NULL;
    int64_t shape[4] = {1, 1, 1, 8};
    int keep = dup(0);
    assert_int_equal(mkfifo(path("zero.npy"), 0600), 0);
    int fd = open(path("zero.npy"), O_RDWR | O_NONBLOCK);
    close(0);
    const char *wrote = npy_write_half(path("0.npy"), 4, shape, x),
               *piped = npy_write_half(path("zero.npy"), 4, shape, x),
               *read = npy_read_half(path("0.npy"), shape, &got);
    fail_call("fdopen", 1, ENOMEM);
    half *none;
    const char *refused = npy_read_half(path("0.npy"), shape, &none);
    int next = dup(keep); /* whoever opened it closed it */
    dup2(keep, 0);
    close(keep);
    close(fd);
    assert_int_equal(next, 0);
    assert_fine(wrote);
    assert_fine(piped);
    assert_fine(read);
    assert_reason(refused, "Cannot allocate");
    assert_memory_equal(got, x, sizeof x);
    free(got);
}

static void what_cannot_be_read_says_why(void **state) {
    (void)state;
    const char *name = file(1, HEADER("<f2", "False", "(1, 2, 3, 8)"), 96);
    fail_call("fstat", 1, EIO);
    refused(name, "cannot examine");
    fail_call("fread", 4, 0); /* magic, length, header, data */
    refused(name, "it shrank meanwhile");
    if (SANITIZED) SKIP("the sanitizer ends the program where memory ends");
    const char *header = HEADER("<f2", "False", "(1, 32768, 8388608, 2)");
    name = file(1, header, 0);
    assert_int_equal(truncate(name, 10 + (off_t)strlen(header) + (1LL << 40)), 0); /* of nothing */
    int64_t shape[4];
    half *data;
    const char *why = npy_read_half(name, shape, &data);
    assert_reason(why, "no memory for the 1099511627776 bytes");
    assert_int_equal(reason_status(why, STATUS_RIGHT), STATUS_DEVICE);
}

/* Neither descriptors nor memory, whether it was read or not. */
static void nothing_is_kept(void **state) {
    (void)state;
    unsigned long in_use = 0;
    for (int round = 0; round < 4; round++) {
        int64_t shape[4];
        half *data, x[48] = {0};
        int fds = open_files();
        assert_fine(npy_write_half(path("kept.npy"), 4, (int64_t[]){1, 2, 3, 8}, x));
        assert_fine(npy_read_half(path("kept.npy"), shape, &data));
        free(data);
        for (int i = 0; i < 10; i++)
            refused(file(1, HEADER("<f4", "False", "(1, 1, 1, 4)"), 16), "holds");
        refused(file(1, HEADER("<f2", "False", "(1, 1, 1, 40000)"), 8), "is cut short");
        fail_call("fread", 4, 0);
        refused(file(1, HEADER("<f2", "False", "(1, 1, 1, 40)"), 80), "it shrank");
        assert_int_equal(open_files(), fds);
        if (round == 3) assert_int_equal(memory_in_use(), in_use);
        in_use = memory_in_use();
    }
}

static int open_folder(void **state) {
    (void)state;
    return own_folder(folder, "npy") ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[OWN_BYTES + 32];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* The bits of bf16: NumPy has no name for it. */
static void bits_of_bf16(void **state) {
    (void)state;
    static const char *const named[] = {"<u2", "<V2", "|V2"};
    int64_t shape[4];
    half *data;
    for (int i = 0; i < 3; i++) {
        char header[128];
        snprintf(header, sizeof header, HEADER("%s", "False", "(1, 2, 3, 8)"), named[i]);
        assert_fine(npy_read_bf16(file(1, header, 96), shape, &data));
        assert_true(shape[1] == 2 && shape[3] == 8);
        free(data);
    }
    assert_reason(npy_read_bf16(file(1, HEADER("<f2", "False", "(1, 2, 3, 8)"), 96), shape, &data),
                  "not the bits of bf16");
    assert_reason(npy_read_bf16(file(1, HEADER("<u2", "False", "(6, 8)"), 96), shape, &data),
                  "not 4: (batch");
    const half x[8] = {1, 2, 0xffff};
    assert_fine(npy_write_bf16(path("bits.npy"), 4, (int64_t[]){1, 1, 1, 8}, x));
    assert_fine(npy_read_bf16(path("bits.npy"), shape, &data));
    assert_memory_equal(data, x, sizeof x);
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_of_bf16),
        cmocka_unit_test(blanks_are_no_matter),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(all_versions_and_spellings_are_read),
        cmocka_unit_test(other_arrays_are_refused),
        cmocka_unit_test(sizes_that_do_not_fit_are_refused),
        cmocka_unit_test(damaged_headers_are_refused),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(a_pipe_is_written_to_and_stays),
        cmocka_unit_test(a_failed_write_leaves_nothing),
        cmocka_unit_test(a_header_has_64_kib_at_most),
        cmocka_unit_test(arrays_of_any_number_are_read),
        cmocka_unit_test(the_header_is_aligned),
        cmocka_unit_test(a_file_has_the_modes_of_a_new_file),
        cmocka_unit_test(a_disk_that_fails_is_told),
        cmocka_unit_test(a_disk_that_takes_little_is_written_whole),
        cmocka_unit_test(a_pipe_that_fails_is_told),
        cmocka_unit_test(a_blind_folder_is_told),
        cmocka_unit_test(a_long_path_is_refused),
        cmocka_unit_test(stdin_may_be_closed),
        cmocka_unit_test(what_cannot_be_read_says_why),
        cmocka_unit_test(nothing_is_kept),
    };
    return cmocka_run_group_tests_name("npy", tests, open_folder, remove_folder);
}
