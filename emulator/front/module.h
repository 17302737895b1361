/* PTX files: opened, their kernels found by name. */
#pragma once

#include "emulator/core/memory.h"

/* A PTX file, parsed and lowered. `name` is for messages. NULL, or what was not understood and
 * where: the strings live in a reason (reason.h). */
struct emu_module;
const char *emu_module_open(struct emu_memory *m, const char *text, size_t bytes, const char *name,
                            struct emu_module **out);
void emu_module_close(struct emu_module *m);

struct emu_kernel;
const struct emu_kernel *emu_module_kernel(const struct emu_module *m, const char *name);
/* The name of the i-th, or NULL past the last. */
const char *emu_module_kernel_name(const struct emu_module *m, int i);

/* The name of the i-th .global or .const variable, or NULL past the last; of a special register (enum emu_special). */
const char *emu_module_variable_name(const struct emu_module *m, int i);
const char *emu_special_name(int row);

/* The .global or .const variable of that name. */
bool emu_module_variable(const struct emu_module *m, const char *name, uint64_t *address,
                         uint64_t *bytes);
