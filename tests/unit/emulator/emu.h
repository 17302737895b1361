/* For tests of the emulator: PTX in a string, run on arrays. */
#pragma once

#include "emulator/emulator.h"

struct emu_test {
    struct emu_memory *memory;
    struct emu_result *result;
    struct emu_module *module; /* of the last run: what was counted names its kernels */
    struct emu_options options;
};

void emu_test_open(struct emu_test *t);
void emu_test_close(struct emu_test *t);

/* Runs `kernel` of the text with one 64-bit argument for each buffer: bytes[n] of data[n] are
 * copied to device memory, and back after the launch. Returns what module or launch refused, or
 * NULL; failed checks are in t->result, which is cleared first. */
const char *emu_test_run(struct emu_test *t, const char *text, const char *kernel, unsigned blocks,
                         unsigned threads, unsigned shared_bytes, int n, void *const *data,
                         const size_t *bytes);

/* A kernel `test(.param .u64 p0 ...)` around a body; registers %r<100> %f<100> %rd<100> %h<100>
 * %p<100> %d<20> are declared, %rd0 ... hold the arguments and %r0 is the thread's index in its
 * block. */
const char *emu_test_kernel(int n_args, const char *declarations, const char *body);

/* The first report that contains `text`, or NULL. */
const char *emu_test_report(const struct emu_test *t, const char *text);
