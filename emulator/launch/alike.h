/* Blocks that cannot tell themselves from others: of a kernel that never reads %ctaid.y, those above each other
 * compute the same. */
#pragma once

#include "launch.h"

/* So many of the grid's blocks, the first ones, stand for all; all of them if each knows its place, if time or other
 * blocks may make a difference, or if not so much is asked for (options.alike_once). */
uint64_t emu_unlike_blocks(const struct emu_kernel *k, const struct emu_grid *g,
                           const struct emu_options *o);
/* Did the last launch read no memory that it wrote? Then what those blocks did is what the others would do. */
bool emu_memory_kept_apart(const struct emu_memory *m);
