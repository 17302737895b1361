/* Uninitialised memory: registers that hold bytes which were never written are tainted. */
#pragma once

#include "emulator/core/pattern.h"
#include "emulator/core/state.h"

/* Lanes have read bytes that nothing wrote: their registers are tainted until a store, branch or
 * address makes it matter. */
void emu_uninitialised(struct emu_warp *w, const struct emu_inst *i, const struct emu_pattern *p,
                       uint32_t first, const uint8_t *initialised);
/* The same of a load from global memory: bits for the bytes that nothing wrote, by element and lane, of so many each. */
void emu_uninitialised_global(struct emu_warp *w, const struct emu_inst *i,
                              const uint16_t missing_bytes[8][EMU_LANES], unsigned bytes);
/* Lanes access local memory at addr[], bytes each, which are aligned: what they read there and have not written taints.
 * Only the kernel's own arrays are followed, not the frames of functions. */
void emu_local_check(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                     const uint64_t addr[EMU_LANES], unsigned bytes, enum emu_access what);
/* How many bytes of a lane's local memory those arrays take. */
static inline uint32_t emu_local_arrays(const struct emu_kernel *k) {
    return k->n_functions ? k->stack_at : k->local_bytes;
}
/* So many words of emu_warp.local_written belong to a lane. */
static inline uint32_t emu_local_words(const struct emu_kernel *k) {
    return (emu_local_arrays(k) + 15) / 16;
}
/* A shuffle took its result in these lanes from lanes that do not run it. */
void emu_taint_absent(struct emu_warp *w, const struct emu_inst *i, uint32_t lanes);
/* A tainted warp has written shared memory: what it wrote of tainted values counts as not written. */
void emu_taint_store(struct emu_warp *w, const struct emu_inst *i, const struct emu_pattern *p,
                     uint32_t first, uint8_t *initialised);
/* The same of global memory: what is known to be tainted by byte. */
void emu_taint_store_global(struct emu_warp *w, const struct emu_inst *i, struct emu_allocation *a,
                            uint32_t mask, const uint64_t addr[EMU_LANES], unsigned bytes);
/* wmma moves a fragment by many accesses: before the one that stores its registers from r on, and after
 * the one that loaded them; register r + distinct is a copy of r. */
void emu_taint_stored(struct emu_warp *w, const struct emu_inst *i, int r);
void emu_taint_loaded(struct emu_warp *w, const struct emu_inst *i, int r, int distinct);
/* The registers of i's first operand have become results of what nothing wrote: the lanes, by register. */
void emu_taint_results(struct emu_warp *w, const struct emu_inst *i, const uint32_t lanes[]);
void emu_taint_step(struct emu_warp *w, const struct emu_inst *i, uint32_t mask, uint32_t group);
void emu_taint_load(struct emu_warp *w, const struct emu_inst *i);
