/* Global memory: races inside and between blocks, and bytes that were never written.
 *
 * Inside a cluster, the vector clocks of its warps say what is ordered. Between clusters only a release and
 * an acquire order anything: a fence of gpu scope, then a strong write or atomic to some word; and a
 * strong read or atomic of that word elsewhere. Each cluster counts its fences:
 *
 *   epoch      of the cluster: grows with each fence; accesses carry it
 *   published  of a warp: the epoch of its last fence, which its strong writes publish; of a vector clock: that of a
 *              fence.sc that came before
 *   known      of a cluster, by cluster: the epochs that it has acquired; behind them, those that relaxed reads have
 *              met and that its next fence acquires, and those of them that atomics that count have met
 *
 * What one warp releases, or acquires, counts for its whole cluster. This may miss a race, but never
 * reports a false one. */
#pragma once

#include "emulator/core/pattern.h"
#include "emulator/core/reach.h"
#include "emulator/core/state.h"

#include <stdio.h>

struct emu_sync; /* the words of a launch that synchronise clusters */
struct emu_sync *emu_sync_open(uint64_t n_clusters);
void emu_sync_close(struct emu_sync *s);

/* w's lanes touch a's memory at addr[], bytes each: all lie in a. */
void emu_global_check(struct emu_warp *w, const struct emu_inst *i, struct emu_allocation *a,
                      uint32_t mask, const uint64_t addr[32], unsigned bytes, enum emu_access what);
/* The same for what `op`, which one lane of w issues now, does to [address, address + bytes) until it is
 * complete; what was never written is not looked for. */
struct emu_issue;
void emu_global_async(struct emu_warp *w, const struct emu_inst *i, const struct emu_issue *op,
                      uint64_t address, uint64_t bytes);
/* What the agent's operation with this stamp wrote there is complete: w's next release tells other clusters. */
void emu_global_done(struct emu_warp *w, unsigned agent, uint32_t stamp, uint64_t address,
                     uint64_t bytes);
/* [shared, shared + bytes) of block b is a copy of what is at `global`: what nothing wrote there, nothing wrote here. */
void emu_global_copied(struct emu_block *b, uint32_t shared, uint64_t global, uint32_t bytes);
/* Is it known of the allocation there which bytes were written? */
bool emu_global_is_watched(const struct emu_block *b, uint64_t global);
/* A cluster that is not checked writes there, while others are checked. */
void emu_global_written(struct emu_allocation *a, uint32_t mask, const uint64_t addr[32],
                        unsigned bytes);
/* The lanes have read at[] strongly. Called after the read; a release is recorded before its write, so a warp
 * that reads the value also acquires it. */
void emu_global_saw(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                    const struct emu_place at[32]);
/* ", which block 3 wrote last, at line 12": what this launch wrote at `address`, but for `own`, which looks at it. */
void emu_global_print_writer(const struct emu_warp *w, const struct emu_inst *own, uint64_t address,
                             FILE *out);
/* fence and membar of gpu or sys scope; membar is fence.sc */
void emu_global_fence(struct emu_warp *w, bool sc);
