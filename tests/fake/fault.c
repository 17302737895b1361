/* Preloaded (LD_PRELOAD=build/tests/fault.so), it fails one call of a program into the C library.
 *
 *   FAULT=malloc:7         the 7th malloc fails, once
 *   FAULT=malloc:7-        and every later one
 *   FAULT_COUNT=FILE       nothing has to fail: how often each function was called stands in FILE,
 *                          a line "NAME N" for each, to the last call of the last destructor
 *
 * A failed call does nothing but set errno; close and fclose do their work, as the kernel does. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* name, errno */
#define CALLS(X)                                                                                   \
    X(malloc, ENOMEM)                                                                              \
    X(calloc, ENOMEM)                                                                              \
    X(realloc, ENOMEM)                                                                             \
    X(aligned_alloc, ENOMEM)                                                                       \
    X(memalign, ENOMEM)                                                                            \
    X(mmap, ENOMEM)                                                                                \
    X(mprotect, ENOMEM)                                                                            \
    X(open_memstream, ENOMEM)                                                                      \
    X(pthread_create, EAGAIN)                                                                      \
    X(fopen, EMFILE)                                                                               \
    X(fdopen, EMFILE)                                                                              \
    X(open, EMFILE)                                                                                \
    X(mkstemp, EMFILE)                                                                             \
    X(scandir, EMFILE)                                                                             \
    X(read, EIO)                                                                                   \
    X(pread, EIO)                                                                                  \
    X(fread, EIO)                                                                                  \
    X(fgets, EIO)                                                                                  \
    X(__getdelim, EIO)                                                                             \
    X(write, ENOSPC)                                                                               \
    X(fflush, ENOSPC)                                                                              \
    X(fsync, EIO)                                                                                  \
    X(ftruncate, EIO)                                                                              \
    X(fchmod, EPERM)                                                                               \
    X(rename, EIO)                                                                                 \
    X(flock, ENOLCK)                                                                               \
    X(stat, EACCES)                                                                                \
    X(fstat, EIO)                                                                                  \
    X(access, EACCES)                                                                              \
    X(readlink, EACCES)                                                                            \
    X(getcwd, ENOENT)                                                                              \
    X(close, EIO)                                                                                  \
    X(fclose, ENOSPC)

#define NAME(name, error)  CALL_##name,
#define TEXT(name, error)  #name,
#define ERROR(name, error) error,
enum call { CALLS(NAME) N_CALLS };
static const char *const names[] = {CALLS(TEXT)};
static const int errors[] = {CALLS(ERROR)};

static atomic_long count[N_CALLS];
static long first, last; /* calls of `chosen` that fail */
static enum call chosen = N_CALLS;
static bool counting; /* from the constructor on */
enum { LINE_BYTES = 64 };
static char *lines; /* of FAULT_COUNT's file, mapped; NULL: nobody asks */

static void write_line(enum call c, long n) {
    char line[LINE_BYTES + 1];
    snprintf(line, sizeof line, "%-30s %32ld\n", names[c], n);
    memcpy(lines + c * LINE_BYTES, line, LINE_BYTES);
}

static bool fails(enum call c) {
    if (!counting) return false;
    long n = atomic_fetch_add(&count[c], 1) + 1;
    if (lines) write_line(c, n);
    if (c != chosen || n < first || n > last) return false;
    errno = errors[c];
    return true;
}

__attribute__((constructor)) static void begin(void) {
    static const char *const others[] = {"sh", "dash", "bash", "ptxas", "nvdisasm"};
    for (size_t n = 0; n < sizeof others / sizeof *others; n++) /* what a program starts */
        if (!strcmp(program_invocation_short_name, others[n])) return;
    const char *fault = getenv("FAULT"), *colon = fault ? strchr(fault, ':') : NULL;
    for (int c = 0; colon && c < N_CALLS; c++)
        if (!strncmp(names[c], fault, (size_t)(colon - fault)) && !names[c][colon - fault])
            chosen = (enum call)c;
    if (colon) {
        first = last = atol(colon + 1);
        if (strchr(colon, '-')) last = 1L << 62;
    }
    const char *path = getenv("FAULT_COUNT");
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (fd >= 0 && !ftruncate(fd, N_CALLS * LINE_BYTES)) {
        lines = mmap(NULL, N_CALLS * LINE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        for (int c = 0; c < N_CALLS; c++) write_line((enum call)c, 0);
    }
    if (fd >= 0) close(fd);
    counting = true;
}

/* glibc's own, for whoever replaces malloc */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *at, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

void *malloc(size_t bytes) { return fails(CALL_malloc) ? NULL : __libc_malloc(bytes); }
void *calloc(size_t n, size_t bytes) { return fails(CALL_calloc) ? NULL : __libc_calloc(n, bytes); }
void *realloc(void *at, size_t bytes) {
    return fails(CALL_realloc) ? NULL : __libc_realloc(at, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
    return fails(CALL_aligned_alloc) ? NULL : __libc_memalign(alignment, bytes);
}
void *memalign(size_t alignment, size_t bytes) {
    return fails(CALL_memalign) ? NULL : __libc_memalign(alignment, bytes);
}

/* WRAP(what it returns, its name, what it returns when it fails, (parameters), (arguments)) */
#define WRAP(type, name, failed, parameters, arguments)                                            \
    type name parameters {                                                                         \
        static type(*real) parameters;                                                             \
        if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name);                                      \
        if (fails(CALL_##name)) return failed;                                                     \
        return real arguments;                                                                     \
    }

WRAP(void *, mmap, MAP_FAILED, (void *a, size_t n, int p, int f, int fd, off_t o),
     (a, n, p, f, fd, o))
WRAP(int, mprotect, -1, (void *a, size_t n, int p), (a, n, p))
WRAP(FILE *, open_memstream, NULL, (char **at, size_t *n), (at, n))
WRAP(int, pthread_create, EAGAIN,
     (pthread_t * t, const pthread_attr_t *a, void *(*f)(void *), void *x), (t, a, f, x))
WRAP(FILE *, fopen, NULL, (const char *path, const char *mode), (path, mode))
WRAP(FILE *, fdopen, NULL, (int fd, const char *mode), (fd, mode))
WRAP(int, mkstemp, -1, (char *path), (path))
WRAP(int, scandir, -1,
     (const char *dir, struct dirent ***list, int (*keep)(const struct dirent *),
      int (*order)(const struct dirent **, const struct dirent **)),
     (dir, list, keep, order))
WRAP(ssize_t, read, -1, (int fd, void *at, size_t n), (fd, at, n))
WRAP(ssize_t, pread, -1, (int fd, void *at, size_t n, off_t o), (fd, at, n, o))
WRAP(ssize_t, write, -1, (int fd, const void *at, size_t n), (fd, at, n))
WRAP(int, fflush, EOF, (FILE * f), (f))
WRAP(int, fsync, -1, (int fd), (fd))
WRAP(int, ftruncate, -1, (int fd, off_t n), (fd, n))
WRAP(int, fchmod, -1, (int fd, mode_t mode), (fd, mode))
WRAP(int, rename, -1, (const char *from, const char *to), (from, to))
WRAP(int, flock, -1, (int fd, int how), (fd, how))
WRAP(int, stat, -1, (const char *path, struct stat *s), (path, s))
WRAP(int, fstat, -1, (int fd, struct stat *s), (fd, s))
WRAP(int, access, -1, (const char *path, int how), (path, how))
WRAP(ssize_t, readlink, -1, (const char *path, char *to, size_t n), (path, to, n))
WRAP(char *, getcwd, NULL, (char *at, size_t n), (at, n))

/* A stream that failed says so to ferror(): the flag is set by a read from a closed descriptor. */
static void break_stream(FILE *f) { f->_flags |= 0x20; /* _IO_ERR_SEEN */ }

size_t fread(void *at, size_t size, size_t n, FILE *f) {
    static size_t (*real)(void *, size_t, size_t, FILE *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "fread");
    if (!fails(CALL_fread)) return real(at, size, n, f);
    break_stream(f);
    return 0;
}
char *fgets(char *at, int n, FILE *f) {
    static char *(*real)(char *, int, FILE *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "fgets");
    if (!fails(CALL_fgets)) return real(at, n, f);
    break_stream(f);
    return NULL;
}
ssize_t __getdelim(char **at, size_t *n, int end_of_line, FILE *f) {
    static ssize_t (*real)(char **, size_t *, int, FILE *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "__getdelim");
    if (!fails(CALL___getdelim)) return real(at, n, end_of_line, f);
    break_stream(f);
    return -1;
}
int open(const char *path, int flags, ...) {
    static int (*real)(const char *, int, ...);
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "open");
    return fails(CALL_open) ? -1 : real(path, flags, mode);
}
int close(int fd) {
    static int (*real)(int);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "close");
    bool failed = fails(CALL_close);
    int status = real(fd);
    if (failed) errno = EIO;
    return failed ? -1 : status;
}
int fclose(FILE *f) {
    static int (*real)(FILE *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "fclose");
    bool failed = fails(CALL_fclose);
    int status = real(f);
    if (failed) errno = ENOSPC;
    return failed ? EOF : status;
}
