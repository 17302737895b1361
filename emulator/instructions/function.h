/* Calls of functions that were not inlined: every lane has a stack of its own. */
#pragma once

#include "emulator/core/state.h"

/* Where the frame of the function that lane l runs begins in its local memory; 0: in the kernel,
 * whose local variables have fixed places. */
uint32_t emu_stack_frame(const struct emu_warp *w, uint32_t l);
void emu_stack_begin(struct emu_warp *w); /* a block starts */
void emu_stack_free(struct emu_warp *w);
