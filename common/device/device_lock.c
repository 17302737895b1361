#include "device_lock.h"

#include "common/base/reason.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { TRIES = 100 }; /* of a file that is removed each time between two calls */

/* The file, made if it is not there: -1 with *why. Reading is enough for flock(), so it belongs to one user and serves
 * all. O_NONBLOCK: a pipe does not hold this process up. */
static int lock_open(const char *path, const char **why) {
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
    struct stat is;
    int fd = -1;
    for (int i = 0; i < TRIES && fd < 0; i++) {
        fd = open(path, flags);
        if (fd >= 0 || errno != ENOENT) break;
        fd = open(path, flags | O_CREAT | O_EXCL, 0444);
        if (fd >= 0) fchmod(fd, 0444); /* whatever the umask */
        if (fd < 0 && errno != EEXIST) break;
    }
    if (fd < 0) {
        *why = reason("%s: %s", path, errno == ELOOP ? "is a link" : strerror(errno));
        return -1;
    }
    if (fstat(fd, &is) || !S_ISREG(is.st_mode) || is.st_nlink > 1) {
        *why = reason("%s: is %s", path,
                      S_ISREG(is.st_mode) ? "linked under another name" : "no file");
        close(fd);
        return -1;
    }
    return fd;
}

/* "process 12 of ann", from /proc/locks: "3: FLOCK ADVISORY WRITE 12 08:01:345 0 EOF". */
static const char *lock_holder(int fd) {
    char line[256];
    long pid = 0;
    struct stat is, owner;
    FILE *f = fopen("/proc/locks", "re");
    if (f && !fstat(fd, &is))
        while (fgets(line, sizeof line, f)) {
            unsigned major, minor;
            unsigned long inode;
            long holder;
            if (sscanf(line, "%*s FLOCK %*s %*s %ld %x:%x:%lu", &holder, &major, &minor, &inode) ==
                    4 &&
                inode == is.st_ino && major == major(is.st_dev) && minor == minor(is.st_dev))
                pid = holder;
        }
    if (f) fclose(f);
    if (pid <= 0) return "a process that is not visible here";
    snprintf(line, sizeof line, "/proc/%ld", pid);
    struct passwd *user = stat(line, &owner) ? NULL : getpwuid(owner.st_uid);
    return user ? reason("process %ld of %s", pid, user->pw_name) : reason("process %ld", pid);
}

/* A file of which one process waits for the lock may be removed meanwhile: then the lock is that of its successor. */
static bool lock_is_there(const char *path, int fd) {
    struct stat named, held;
    return !lstat(path, &named) && !fstat(fd, &held) && named.st_ino == held.st_ino &&
           named.st_dev == held.st_dev;
}

static const char *lock_in(const char *folder, const char *name) {
    char path[PATH_MAX];
    const char *why = NULL;
    bool said = false;
    if (snprintf(path, sizeof path, "%s/attnlab-%s.lock", folder, name) >= (int)sizeof path)
        return reason("%s: its path is too long", folder);
    for (int i = 0; i < TRIES; i++) {
        const int fd = lock_open(path, &why);
        if (fd < 0) return why;
        int taken = flock(fd, LOCK_EX | LOCK_NB);
        if (taken && errno == EWOULDBLOCK) {
            if (!said)
                fprintf(stderr, "%s: waits for %s, which %s uses\n", program_invocation_short_name,
                        name, lock_holder(fd));
            said = true;
            do taken = flock(fd, LOCK_EX);
            while (taken && errno == EINTR);
        }
        if (!taken && lock_is_there(path, fd)) return NULL; /* fd stays open: it is the lock */
        why = taken ? reason("%s: %s", path, strerror(errno)) : NULL;
        close(fd);
        if (why) return why;
    }
    return reason("%s: it is removed again and again", path);
}

const char *device_lock(const char *name) {
    const char *common = getenv("ATTNLAB_LOCKS"), *own = getenv("XDG_RUNTIME_DIR");
    const char *why = lock_in(common && *common ? common : "/tmp", name);
    if (!why) return NULL;
    if (!own || !*own || lock_in(own, name))
        return reason_as(
            STATUS_FILE,
            "no lock on %s: %s; have that removed, or set ATTNLAB_LOCKS to a folder in which "
            "all users may write",
            name, why);
    fprintf(stderr, "%s: %s; other users do not see the lock in %s: have that removed\n",
            program_invocation_short_name, why, own);
    return NULL;
}
