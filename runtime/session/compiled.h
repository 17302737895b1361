/* What ptxas made of a program's kernels (SASS): the program's own cubin, or one that is compiled here. It is executed
 * before the PTX of a launch, to count what hardware would; memory is put back. */
#pragma once

#include "session.h"

#include "common/device/counter.h"
#include "emulator/sass/sass.h"

/* The kernel's module, decoded once and kept. NULL, or why there is none. */
const char *compiled_open(const struct session *s, struct kernel *k, struct sass_module **out);
/* Where a variable of the image `user` is: sass_grid_variables(). */
bool compiled_variable(void *user, const char *name, uint64_t *address, uint64_t *bytes);

/* Executes the launch that comes next. False: it was not counted, and compiled_lacks() says why; its PTX counts. */
bool compiled_count(struct session *s, struct kernel *k, const struct emu_grid *g,
                    struct session_sums *out);
/* Why the first launch that was not counted was not; NULL: all were, or none came. */
const char *compiled_lacks(const struct kernel *k);
/* The launch that was not counted has failed a check: that is the reason which is told. */
void compiled_failed(struct kernel *k);
/* Appends the counts of all launches (sass_counted). NULL, or why they are not of all. */
const char *compiled_values(const struct kernel *k, struct counters *out);
