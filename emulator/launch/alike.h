/* Blocks that must compute the same: if a kernel never reads %ctaid.y, blocks that differ only in y do. One of
 * them may then run for all. */
#pragma once

#include "launch.h"

/* How many of the grid's blocks, from the first on, stand for all. All blocks must run if each reads its place, if
 * time or other blocks may make a difference, or if options.alike_once is off. */
uint64_t emu_unlike_blocks(const struct emu_kernel *k, const struct emu_grid *g,
                           const struct emu_options *o);
/* Did the last launch read no memory that it wrote? Then the other blocks would have done the same. */
bool emu_memory_kept_apart(const struct emu_memory *m);
