/* For fuzzers (libFuzzer): the bytes as a file that the reader under test can open. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Opens a file in memory; path is where to read it. Close with close(). */
static inline int fuzz_file(const uint8_t *data, size_t bytes, char path[32]) {
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes) abort();
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}
