/* Kernels with some of their synchronisation left out. */
#pragma once

#include "emulator/core/state.h"

/* A copy of the kernel in which some synchronisation does nothing, *n instructions; free
 * out->inst if it differs. */
const char *emu_without(const struct emu_kernel *k, const char *what, struct emu_kernel *out,
                        int *n);
void emu_without_list(const struct emu_kernel *k, const struct emu_count *count);
