#include "faulty.h"

#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    char call[16];
    int n, error;
} next;
static size_t at_most;

void fail_call(const char *call, int n, int error) {
    snprintf(next.call, sizeof next.call, "%s", call);
    next.n = n;
    next.error = error;
}

void write_at_most(unsigned long bytes) { at_most = bytes; }

int open_files(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    if (!d) return -1;
    while (readdir(d)) n++;
    closedir(d);
    return n;
}

unsigned long memory_in_use(void) {
    const struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd; /* small ones and mapped ones */
}

static bool fails(const char *call) {
    if (!next.n || strcmp(next.call, call) || --next.n) return false;
    errno = next.error;
    return true;
}

ssize_t write(int fd, const void *data, size_t bytes) {
    if (fails("write")) return -1;
    return syscall(SYS_write, fd, data, at_most && bytes > at_most ? at_most : bytes);
}

int close(int fd) {
    bool failed = fails("close");
    int error = errno, status = (int)syscall(SYS_close, fd);
    if (failed) errno = error;
    return failed ? -1 : status;
}

int fsync(int fd) { return fails("fsync") ? -1 : (int)syscall(SYS_fsync, fd); }
int flock(int fd, int how) { return fails("flock") ? -1 : (int)syscall(SYS_flock, fd, how); }
int fchmod(int fd, mode_t mode) {
    return fails("fchmod") ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}
int fstat(int fd, struct stat *out) {
    return fails("fstat") ? -1
                          : (int)syscall(SYS_newfstatat, fd, "", out, 0x1000); /* AT_EMPTY_PATH */
}
int ftruncate(int fd, off_t bytes) {
    return fails("ftruncate") ? -1 : (int)syscall(SYS_ftruncate, fd, bytes);
}

extern size_t _IO_fread(void *to, size_t bytes, size_t n, FILE *f); /* glibc's own */
size_t fread(void *to, size_t bytes, size_t n, FILE *f) {
    return fails("fread") ? 0 : _IO_fread(to, bytes, n, f);
}

extern FILE *_IO_fdopen(int fd, const char *mode);
FILE *fdopen(int fd, const char *mode) { return fails("fdopen") ? NULL : _IO_fdopen(fd, mode); }
