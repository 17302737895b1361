#include "heap.h"

#include "reason.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Any thread can come here, others go on meanwhile: nothing is torn down, and nothing allocated. Who comes
 * second waits for the end that the first one makes. */
static _Noreturn void leave(const char *why) {
    static atomic_flag left = ATOMIC_FLAG_INIT;
    char line[256];
    while (atomic_flag_test_and_set(&left)) pause();
    int n = snprintf(line, sizeof line, "%s: %s\n", program_invocation_short_name, why);
    fflush(stdout); /* rows that are finished */
    n = (int)write(STDERR_FILENO, line, (size_t)(n < (int)sizeof line ? n : (int)sizeof line - 1));
    (void)n; /* nobody is left to be told */
    /* not _exit(): of a user's program that leaves a report first (runtime/shim/ends.c) */
    for (;;) syscall(SYS_exit_group, STATUS_DEVICE);
}

void heap_exhausted(void) {
    leave("no memory is left; end other programs, or make the problem smaller");
}

const char *heap_dlerror(void) {
    const char *why = dlerror();
    bool memory = !why || strstr(why, "out of memory") || strstr(why, "cannot allocate") ||
                  strstr(why, "cannot create");
    if (memory) heap_exhausted();
    return why;
}

/* libgomp ends a program that it finds no memory or no thread for with status 1, a wrong answer's.
 * The linker leads its calls here (Makefile: --wrap). */
_Noreturn void __wrap_gomp_fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void __wrap_gomp_fatal(const char *format, ...) {
    char why[128], line[200];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    snprintf(line, sizeof line, "OpenMP: %s; OMP_NUM_THREADS=1 asks for less", why);
    leave(line);
}

static void *taken(void *at) {
    if (!at) heap_exhausted();
    return at;
}

/* a size of 0 may be answered by NULL */
void *heap_take(size_t bytes) { return taken(malloc(bytes ? bytes : 1)); }
void *heap_zeroed(size_t n, size_t bytes) { return taken(calloc(n ? n : 1, bytes ? bytes : 1)); }
void *heap_grown(void *at, size_t bytes) { return taken(realloc(at, bytes ? bytes : 1)); }

void *heap_line(size_t bytes) {
    size_t whole = ((bytes ? bytes : 1) + 63) & ~(size_t)63;
    return memset(taken(aligned_alloc(64, whole)), 0, whole);
}

char *heap_text(const char *text) {
    size_t bytes = strlen(text) + 1;
    return memcpy(heap_take(bytes), text, bytes);
}

void heap_setenv(const char *name, const char *value) {
    if (setenv(name, value, 1)) heap_exhausted();
}
