#include "path.h"

#include "reason.h"
#include "heap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *path_writable(const char *path) {
    char folder[PATH_MAX];
    struct stat s;
    if (!*path) return reason_as(STATUS_FILE, "a file to write has an empty name; give it one");
    if (!stat(path, &s)) {
        if (S_ISDIR(s.st_mode))
            return reason_as(STATUS_FILE, "cannot write %s: it is a folder; name a file", path);
        if (access(path, W_OK))
            return reason_as(STATUS_FILE, "cannot write %s: %s", path, strerror(errno));
        return NULL;
    }
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1,
             slash ? path : ".");
    if (access(folder, W_OK | X_OK))
        return reason_as(STATUS_FILE, "cannot write %s: %s; make the folder, or choose another",
                         path, strerror(errno));
    return NULL;
}

FILE *path_open(const char *path) {
    FILE *f = fopen(path, "re");
    if (!f && errno == ENOMEM) heap_exhausted();
    return f;
}

/* Closes f. */
static char *read_all(FILE *f, size_t *bytes) {
    char *text = NULL;
    size_t n = 0, room = 1 << 16;
    for (;; room *= 2) {
        text = heap_grown(text, room);
        n += fread(text + n, 1, room - n - 1, f);
        if (n + 1 < room) break;
    }
    int error = errno;
    if (ferror(f)) {
        free(text);
        text = NULL;
    } else {
        text[n] = 0;
        *bytes = n;
    }
    fclose(f);
    errno = error;
    return text;
}

char *path_read(const char *path, size_t *bytes) {
    FILE *f = path_open(path);
    return f ? read_all(f, bytes) : NULL;
}

FILE *path_open_source(const char *path) {
    struct stat s;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY |
                                  O_CLOEXEC); /* a pipe without a writer must not block */
    if (fd < 0) return NULL;
    if (!fstat(fd, &s)) {
        if (S_ISREG(s.st_mode) && s.st_size <= PATH_MOST_SOURCE) return fdopen(fd, "r");
        errno = ENOENT;
    }
    const int error = errno;
    close(fd);
    errno = error;
    return NULL;
}

char *path_read_source(const char *path, size_t *bytes) {
    FILE *f = path_open_source(path);
    return f ? read_all(f, bytes) : NULL;
}

const char *path_stdout(void) {
    errno = 0;
    if (!(fflush(stdout) | ferror(stdout))) return NULL;
    return reason_as(STATUS_FILE, "stdout: %s", errno ? strerror(errno) : "not all was written");
}
