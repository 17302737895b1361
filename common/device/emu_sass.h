/* Counts of the machine code: all CTAs of the launches are executed from the SASS of the image's cubin, on as many
 * host threads as PTX. These are the hardware's counts; emu_counters.h has the counts of PTX, the input of
 * ptxas. */
#pragma once

#include "counter.h"
#include "device.h"

#include "emulator/front/module.h"

/* Where a variable of the module `user` is: of its PTX, whose variables its machine code shares. */
bool emu_sass_variable(void *user, const char *name, uint64_t *address, uint64_t *bytes);
/* Appends what sass_counted() names, of all launches together. `dir`/`name`.sm_90a.cubin is read; memory is
 * changed as by the launches. NULL, or what is missing (a cubin, nvdisasm, an instruction, a Hopper chip:
 * STATUS_UNSUPPORTED), or what failed. */
const char *emu_sass_counters(struct device *d, const char *dir, const char *name,
                              struct emu_module *variables, const struct device_launch *launches,
                              int n, struct counters *out);
/* Appends what sass_counted() names. */
struct sass_counts;
void emu_sass_values(const struct sass_counts *counts, struct counters *out);
