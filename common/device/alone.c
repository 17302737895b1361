/* alone COMMAND...: runs a command while no other such command uses the same GPU, whoever started it.
 *
 *   build/alone build/stage-3 --device cuda
 *
 * The GPU is the one that stages take: the first of CUDA_VISIBLE_DEVICES, a MIG slice for itself. Without a GPU, or
 * with DEVICE=emu, only commands of this checkout wait for one another: they print to one terminal and share the cores.
 * A command that runs under `alone` may start others under `alone`. Where no lock can be had, a line says so, and the
 * command runs.
 * Exit status: the command's; 2 without one, 5 if it cannot be started. */
#include "common/base/program.h"
#include "common/base/reason.h"
#include "device_ops.h"
#include "device_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* The lock of this checkout, the file device.lock beside this program. */
static const char *lock_checkout(void) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/device.lock", program_folder());
    const int fd = open(path, O_RDONLY | O_CREAT | O_NOFOLLOW, 0666);
    if (fd < 0 || flock(fd, LOCK_EX)) return reason("%s: %s", path, strerror(errno));
    return NULL;
}

int main(int argc, char **argv) {
    struct device_info info = {0};
    const char *device = getenv("DEVICE"), *held = getenv("ATTNLAB_ALONE"), *why = NULL;
    if (argc < 2) {
        fprintf(stderr, "alone: no command; usage: alone COMMAND...\n");
        return STATUS_USAGE;
    }
    const bool on_gpu = !(device && !strcmp(device, "emu")) && !device_cuda_info(&info);
    const char *name = on_gpu && *info.uuid ? info.uuid : "checkout";
    if (!held || !strstr(held, name)) {
        char all[512];
        why = on_gpu && *info.uuid ? device_lock(info.uuid) : lock_checkout();
        snprintf(all, sizeof all, "%s %s", held ? held : "", name);
        setenv("ATTNLAB_ALONE", all, 1);
    }
    if (why) fprintf(stderr, "alone: %s; running without a lock, so times may be disturbed\n", why);
    execvp(argv[1], argv + 1);
    fprintf(stderr, "alone: %s: %s\n", argv[1], strerror(errno));
    return STATUS_FILE;
}
