/* Polling: a warp that looks at the same memory again and again, as a spinning wait does, sleeps
 * until it changes.
 *
 * A look is a strong load, an atomic that changed nothing, or a test of an mbarrier. It sleeps if
 * it finds what it found before, nothing was stored in between, and
 *
 *   every register of the warp is what it was then:   nothing but that memory can end the loop, or
 *   it has looked so often (a spin with a counter or a timer, or a loop that works: it is woken
 *   when no other warp can run, and is then more patient).
 *
 * When a warp wakes is up to the machine, so sleeping never changes what a program may do. */
#pragma once

#include "emulator/core/reach.h"

#include <stdio.h>

/* Shall these lanes sleep before they look at `bytes` at addr[] (the operand's values)? Then the
 * handler returns EMU_WAIT; it asks again when it is resumed. */
bool emu_poll_sleeps(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                     const uint64_t addr[32]);
/* They looked: at these places, and found `seen`. NULL: what is there now. What the program goes on
 * with may be newer than that and never older, or the change that it waits for is slept through. */
void emu_poll_looked(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                     const uint64_t addr[32], const struct emu_place at[32],
                     const uint64_t seen[32], unsigned bytes);

/* For launch/: how many groups of a cluster sleep, and how many of them might go on without a
 * change of memory. */
struct emu_sleepers {
    uint32_t n, n_doubtful;
};
struct emu_sleepers emu_poll_sleepers(const struct emu_cluster *c);
/* The word of global memory that the group polls, if it does: where it is, what it holds, who wrote it last. */
void emu_poll_print(const struct emu_warp *w, const struct emu_group *g, FILE *out);
/* Wakes the doubtful ones; those that have been patient for long only if `all`. How many woke. */
uint32_t emu_poll_wake(struct emu_cluster *c, bool all);
