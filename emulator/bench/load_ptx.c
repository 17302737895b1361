/* load-ptx FILE...: which PTX files the emulator takes, without running anything. A line for each
 * file: its kernels, how many of them are refused, and below it why. Exit status 3 if one is. */
#include "emulator/emulator.h"

#include "common/base/reason.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

/* Refused kernels of one file; -1: the file as a whole. */
static int load(struct emu_memory *memory, const char *path) {
    char *text = NULL;
    size_t room = 0;
    struct emu_module *m = NULL;
    FILE *f = fopen(path, "r");
    ssize_t bytes = f ? getdelim(&text, &room, 0, f) : -1; /* text holds no zeros */
    if (f) fclose(f);
    const char *why = bytes < 0 ? "it cannot be read" : NULL;
    if (!why) why = emu_module_open(memory, text, (size_t)bytes, path, &m);
    if (why) {
        printf("%s: refused\n    %s\n", path, why);
        free(text);
        return -1;
    }
    int n = 0, refused = 0;
    for (; emu_module_kernel_name(m, n); n++)
        refused += emu_kernel_refused(emu_module_kernel(m, emu_module_kernel_name(m, n))) != NULL;
    printf("%s: %d kernels, %d refused\n", path, n, refused);
    for (int k = 0; k < n; k++) {
        why = emu_kernel_refused(emu_module_kernel(m, emu_module_kernel_name(m, k)));
        if (why) printf("    %s\n", why);
    }
    emu_module_close(m);
    free(text);
    return refused;
}

int main(int argc, char **argv) {
    struct emu_memory *memory;
    const char *why = emu_memory_open(&memory);
    if (why || argc < 2) {
        fprintf(stderr, "load-ptx: %s\n", why ? why : "usage: load-ptx FILE.ptx...");
        return why ? STATUS_DEVICE : STATUS_USAGE;
    }
    int whole = 0;
    for (int a = 1; a < argc; a++) whole += load(memory, argv[a]) == 0;
    printf("%d of %d files load\n", whole, argc - 1);
    emu_memory_close(memory);
    return whole == argc - 1 ? STATUS_RIGHT : STATUS_UNSUPPORTED;
}
