/* The blocks of a launch: made, begun, run. */
#pragma once

#include "emulator/core/pattern.h"
#include "emulator/core/state.h"

/* A cluster of a host thread, and its next place in the grid. checks: look for races and uninitialised values. */
struct emu_cluster *emu_cluster_open(const struct emu_launch_state *launch, struct emu_count *count,
                                     struct emu_pattern **pattern, bool checks);
void emu_cluster_begin(struct emu_cluster *c, uint64_t linear);
void emu_cluster_free(struct emu_cluster *c);

/* exec.c: runs its warps until they end, or none can go on and some sleep until the memory changes
 * that they poll, or its turn of so many instructions is over. */
enum emu_ran { EMU_ENDED, EMU_RAN, EMU_PAUSES, EMU_SLEEPS /* nothing moved at all */ };
enum emu_ran emu_run_cluster(struct emu_cluster *c, uint64_t turn, uint64_t *random);
