#include "kernel_hash.h"

#include "common/base/path.h"
#include "common/base/heap.h"
#include "common/base/reason.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool begins(const char *line, const char *with) {
    return !strncmp(line, with, strlen(with));
}

/* Comments, and what -lineinfo adds: .file, .loc and their labels. */
static bool says_nothing(const char *line) {
    return !*line || begins(line, "//") || begins(line, ".file") || begins(line, ".loc") ||
           begins(line, "$L__tmp") || begins(line, "$L__func");
}

static const char *digest(const char *path, char out[KERNEL_HASH_BYTES]) {
    uint64_t h = 0xcbf29ce484222325;
    const uint64_t prime = 0x100000001b3;
    const char *why = NULL;
    char *line = NULL;
    size_t bytes = 0;
    FILE *f = path_open(path);
    if (!f) return reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
    while (errno = 0, getline(&line, &bytes, f) > 0) {
        const char *text = line + strspn(line, " \t\r\n");
        if (begins(text, ".section")) break; /* of debugging: the rest of the file */
        if (says_nothing(text)) continue;
        for (; *text; text++) h = (h ^ (unsigned char)*text) * prime;
    }
    if (errno == ENOMEM) heap_exhausted();
    if (ferror(f)) why = reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
    free(line);
    fclose(f);
    snprintf(out, KERNEL_HASH_BYTES, "%016" PRIx64, h);
    return why;
}

const char *kernel_hash(const char *folder, const char *image, char out[KERNEL_HASH_BYTES]) {
    char pattern[2 * PATH_MAX];
    const char *why = NULL;
    glob_t found;
    *out = 0;
    snprintf(pattern, sizeof pattern, "%s/%s.compute_*.ptx", folder, image);
    switch (glob(pattern, GLOB_ERR, NULL, &found)) {
    case 0:
        why = digest(found.gl_pathv[found.gl_pathc - 1], out); /* the newest */
        break;
    case GLOB_NOSPACE:
        heap_exhausted();
    case GLOB_NOMATCH:
        break;
    default:
        why = reason_as(STATUS_FILE, "%s cannot be read: %s", folder, strerror(errno));
    }
    globfree(&found);
    return why;
}
