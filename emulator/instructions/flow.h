/* Lanes that meet, and barriers. */
#pragma once

#include "emulator/core/state.h"

#include <stdio.h>

/* True if all living lanes of `members` are here. Else the group parks (return EMU_WAIT), and
 * launch/exec.c joins it with the others that arrive at the same instruction. */
bool emu_converged(struct emu_warp *w, uint32_t mask, uint32_t members);
enum { EMU_TOKEN_CONVERGE = 0x7fff0001 };

/* Reports it if a .sync.aligned instruction runs without all live lanes of the warp. */
void emu_aligned(const struct emu_warp *w, const struct emu_inst *i, uint32_t mask);
/* The block's barriers that threads wait at: for deadlocks. */
void emu_barrier_print(const struct emu_block *b, FILE *out);
