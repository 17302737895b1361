/* Branches: lanes that part and meet; barriers. */
#pragma once

#include "emulator/core/state.h"

#include <stdio.h>

/* True if all living lanes of `members` are here. Else the group parks (return EMU_WAIT), and
 * launch/exec.c joins it with the others that arrive at the same instruction. */
bool emu_converged(struct emu_warp *w, uint32_t mask, uint32_t members);

/* The lanes in mask that name the same members as the first of them. */
uint32_t emu_team(const struct emu_warp *w, const struct emu_operand *members, uint32_t mask);
/* Reports it if lanes of a team are not among the members that they name. */
bool emu_team_outside(const struct emu_warp *w, const struct emu_inst *i, uint32_t team,
                      uint32_t members);

/* The lanes in mask go to `target`, those of the group that are left to the next instruction. */
enum emu_step emu_branch(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                         uint32_t target);
/* Lanes of the running group leave it for `target`; others of it must be left. */
void emu_part(struct emu_warp *w, const struct emu_inst *i, uint32_t lanes, uint32_t target);

/* Reports it if a .sync.aligned instruction runs without all live lanes of the warp. */
void emu_aligned(const struct emu_warp *w, const struct emu_inst *i, uint32_t mask);
/* Warps of b, a mask, and where they stand: "warps 0 to 3 at line 12, warp 4, which has ended". */
void emu_warps_print(const struct emu_block *b, uint32_t warps, FILE *out);
/* The block's barriers that threads wait at: for deadlocks. */
void emu_barrier_print(const struct emu_block *b, FILE *out);
