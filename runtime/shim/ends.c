/* A program that ends by _exit(), or becomes another one, leaves its report and its record, too: these come before the
 * C library's own. Children that a fork made leave none (session_end_early). */
#include "cudart.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Noreturn void end(int status) {
    status = session_end_early(status);
    for (;;) syscall(SYS_exit_group, status);
}
EXPORT _Noreturn void _exit(int status) { end(status); }
EXPORT _Noreturn void _Exit(int status);
EXPORT _Noreturn void _Exit(int status) { end(status); }

typedef int exec_function(const char *path, char *const argv[], char *const envp[]);

static exec_function *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    exec_function *f;
    memcpy(&f, &found, sizeof f);
    return f;
}

/* What cannot be started leaves the program as it is. */
static void report_before(const char *path) {
    if (!strchr(path, '/') || !access(path, X_OK)) session_end_early(0);
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[]) {
    report_before(path);
    return next("execve")(path, argv, envp);
}
EXPORT int execv(const char *path, char *const argv[]) { return execve(path, argv, environ); }
EXPORT int execvpe(const char *path, char *const argv[], char *const envp[]) {
    report_before(path);
    return next("execvpe")(path, argv, envp);
}
EXPORT int execvp(const char *path, char *const argv[]) { return execvpe(path, argv, environ); }
