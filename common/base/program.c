#include "program.h"

#include "reason.h"

#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

/* Frames of some functions take tens of KB. Before main, so that a smaller stack is said instead of met. */
__attribute__((constructor)) static void check_stack(void) {
    enum { SMALLEST_KB = 256 };
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur >= SMALLEST_KB * 1024) return;
    fprintf(stderr, "%s: the stack is limited to %llu KB; set at least `ulimit -s %d`\n",
            program_invocation_short_name, (unsigned long long)stack.rlim_cur / 1024, SMALLEST_KB);
    _exit(STATUS_DEVICE);
}

const char *program_folder(void) {
    static char folder[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (n < 0) /* no /proc: the name that it was started by, from where it was started */
        n = snprintf(folder, sizeof folder, "%s", (const char *)getauxval(AT_EXECFN));
    folder[n < (ssize_t)sizeof folder ? n : (ssize_t)sizeof folder - 1] = 0;
    return dirname(folder);
}

const char *program_home(void) {
    static char library[PATH_MAX], folder[PATH_MAX];
    static const char here;
    Dl_info info;
    struct link_map *map = NULL;
    if (*library) return folder; /* found once: its name may be relative to a folder since left */
    if (!dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !*map->l_name ||
        !realpath(map->l_name, library))
        return program_folder();
    snprintf(folder, sizeof folder, "%s", library);
    dirname(folder);
    return folder;
}

bool program_find(const char *name, char *out, size_t out_bytes) {
    char folder[PATH_MAX], *above = folder;
    snprintf(folder, sizeof folder, "%s", program_home());
    for (bool last = false; !last; above = dirname(above)) {
        last = !strcmp(above, "/") || !strcmp(above, ".");
        if (snprintf(out, out_bytes, "%s/%s", above, name) < (int)out_bytes &&
            (!access(out, F_OK) || (errno != ENOENT && errno != ENOTDIR)))
            return true; /* there, or in the way: whoever opens it says what is wrong */
    }
    return false;
}
