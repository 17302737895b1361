/* Fuzzes the reader of record files. */
#include "reason.h"
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes) {
    char path[64];
    json_t *all;
    int n_cut;
    int file = memfd_create("record", 0);
    if (file < 0 || write(file, data, bytes) != (ssize_t)bytes) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const char *why = record_read(path, &all, &n_cut);
    if (!why != !!all) abort(); /* an array or a reason, never both */
    json_decref(all);
    close(file);
    return 0;
}
