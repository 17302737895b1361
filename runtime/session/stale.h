/* Memory whose contents are unknown, because a launch that may have written them was too long to run here. It is noted by
 * allocations: those that the prediction of such a launch writes, or all that its arguments point to; and the same of later
 * launches that have such an argument. A copy or a memset of the whole allocation makes it known again. */
#pragma once

#include "emulator/emulator.h"

#include <stdbool.h>
#include <stdint.h>

struct stale {
    int n;
    uint64_t *base; /* allocations */
    int *launch;    /* that did not run */
};

/* The launch that did not run and that one of the arguments depends on; -1: there is none. */
int stale_of(const struct stale *s, const struct emu_memory *m, const struct emu_grid *g);
/* The same of the allocation around an address. */
int stale_at(const struct stale *s, const struct emu_memory *m, uint64_t at);
/* What the arguments point to is unknown from now on, because of this launch. */
void stale_launch(struct stale *s, const struct emu_memory *m, const struct emu_grid *g,
                  int launch);
/* The same of the allocation around an address. */
void stale_add(struct stale *s, const struct emu_memory *m, uint64_t at, int launch);
/* These bytes were written, from memory that is known (`from` 0) or from an allocation. */
void stale_copy(struct stale *s, const struct emu_memory *m, uint64_t to, uint64_t from,
                uint64_t bytes);
