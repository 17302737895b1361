#include "tests/test.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char made[64][OWN_BYTES];
static int n_made;
static pid_t maker; /* not its children, which have the list too */

static int forget(const char *path, const struct stat *s, int kind, struct FTW *at) {
    (void)s, (void)kind, (void)at;
    return remove(path);
}

static void forget_all(void) {
    if (getpid() != maker) return;
    while (n_made) nftw(made[--n_made], forget, 16, FTW_DEPTH | FTW_PHYS);
}

static void name_in(char out[OWN_BYTES], const char *name) {
    const char *folder = getenv("TMPDIR");
    if (snprintf(out, OWN_BYTES, "%s/%s-XXXXXX", folder ? folder : "/tmp", name) >= OWN_BYTES)
        fail_msg("TMPDIR has too long a name: %s", folder);
}

static void remember(const char *path) {
    if (n_made == sizeof made / sizeof *made) fail_msg("a test with %d files of its own", n_made);
    if (!n_made && !maker) atexit(forget_all);
    maker = getpid();
    strcpy(made[n_made++], path);
}

char *own_folder(char out[OWN_BYTES], const char *name) {
    name_in(out, name);
    if (!mkdtemp(out)) return NULL;
    remember(out);
    return out;
}

int own_file(char out[OWN_BYTES], const char *name) {
    name_in(out, name);
    int fd = mkstemp(out);
    if (fd >= 0) remember(out);
    return fd;
}

/* TEST_SKIP=PATTERN in the environment leaves out the tests whose names match, where a machine is slow. */
__attribute__((constructor)) static void leave_out(void) {
    cmocka_set_skip_filter(getenv("TEST_SKIP"));
}
