#include "path.h"

#include "reason.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *path_writable(const char *path) {
    char folder[PATH_MAX];
    struct stat s;
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
