/* A lock on one GPU that all users of a machine share, so that no two of them measure on it at once. It is flock() on
 * an empty file, named after the GPU's UUID, that anyone may read: it ends with the process that holds it, whatever
 * ends that, and a file left behind locks nothing. */
#pragma once

/* Waits for the lock `name` ("GPU-1a2b...", a file's name) and returns NULL; it is held until this process and those
 * that it starts have ended. While it waits, one line on stderr says who holds it.
 *
 * The file lies in $ATTNLAB_LOCKS, or else in /tmp. What another user may have planted there (a link, a pipe, a folder,
 * a file that cannot be read) is not used: then $XDG_RUNTIME_DIR has the lock, which only programs of this user see,
 * and one line says so. The reason where neither can be had. */
const char *device_lock(const char *name);
