#include "toolkit.h"

#include "program.h"
#include "reason.h"

#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool on_path(const char *name, char *out, size_t bytes) {
    const char *all = getenv("PATH");
    while (all && *all) {
        size_t n = strcspn(all, ":");
        snprintf(out, bytes, "%.*s/%s", (int)n, all, name);
        if (!access(out, X_OK)) return true;
        all += n + (all[n] == ':');
    }
    return false;
}

const char *toolkit_find(const char *name, char *out, size_t bytes) {
    char venv[PATH_MAX], pattern[PATH_MAX + 128];
    if (program_find(".venv", venv, sizeof venv)) {
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s/lib/python3*/site-packages/nvidia/cu13/bin/%s", venv,
                 name);
        bool ok = !glob(pattern, 0, NULL, &found) && found.gl_pathc;
        if (ok) snprintf(out, bytes, "%s", found.gl_pathv[0]);
        globfree(&found);
        if (ok) return NULL;
    }
    if (on_path(name, out, bytes)) return NULL;
    snprintf(out, bytes, "/usr/local/cuda/bin/%s", name);
    if (!access(out, X_OK)) return NULL;
    return reason_as(STATUS_UNSUPPORTED,
                     "no %s in .venv, on PATH or in /usr/local/cuda: `make setup`", name);
}
