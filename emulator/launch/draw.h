/* What no kernel may rely on, drawn for each launch: where the shared memory of its blocks begins, and
 * what registers and memory hold that nobody has written. */
#pragma once

#include "launch.h"

#include "emulator/core/state.h"

/* Fills in shared_base and unwritten; returns what the rows of a warp begin with, to be freed.
 * emu_draw_fill and emu_draw_unwritten: launch.h. */
unsigned char *emu_draw(struct emu_launch_state *l);
