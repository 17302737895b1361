/* Launches that overlap: accesses before griddepcontrol.wait (programmatic dependent launch). */
#pragma once

#include "emulator/core/state.h"

/* w has acquired its vector clock's contents. */
void emu_overlap_sync(struct emu_warp *w);

/* A copy that lane `lane` issues will read or write global memory there: is it too early? */
void emu_global_touch(struct emu_warp *w, const struct emu_inst *i, uint32_t lane, uint64_t addr,
                      enum emu_access what);
/* Those bytes, exactly, for launches that may run beside others. */
void emu_global_trace(struct emu_warp *w, enum emu_access what, uint64_t addr, uint64_t bytes);
