/* Shared memory of other blocks of the cluster, and barrier.cluster. */
#pragma once

#include "emulator/core/reach.h"

#include <stdio.h>

/* The block behind a shared address of any form, and the offset in it; NULL (reported): none. */
struct emu_block *emu_peer(struct emu_warp *w, const struct emu_inst *i, uint64_t address,
                           uint32_t *offset);
/* May w use b's memory now, as `agent` at `stamp`? Notes it for the check at b's end. */
bool emu_visit(struct emu_warp *w, const struct emu_inst *i, struct emu_block *b, unsigned agent,
               uint32_t stamp);
/* As emu_shared_access() for addresses of any block; `at`: where the lanes' bytes are. */
uint32_t emu_cluster_access(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                            const uint64_t addr[32], unsigned bytes, enum emu_access what,
                            struct emu_place at[32]);

/* Lanes of w exit. */
void emu_cluster_exit(struct emu_warp *w, uint32_t mask);
/* What barrier.cluster waits for: for deadlocks. */
void emu_cluster_print(const struct emu_cluster *c, FILE *out);
