/* Races in shared memory, by happens-before: a block's shadow keeps the last accesses to each 4-byte cell. */
#pragma once

#include "emulator/core/pattern.h"
#include "emulator/core/state.h"

struct emu_shadow *emu_shadow_open(uint32_t shared_bytes);
void emu_shadow_begin(struct emu_shadow *s);  /* a block starts: nothing is initialised */
void emu_shadow_forget(struct emu_shadow *s); /* stamps begin anew */
void emu_shadow_close(struct emu_shadow *s);
/* w touches block b's memory. */
void emu_shadow_access(struct emu_warp *w, struct emu_block *b, const struct emu_inst *i,
                       const struct emu_pattern *p, uint32_t first, enum emu_access what);
/* The last write to these bytes of b does not race with strong accesses behind it. */
void emu_shadow_strong(struct emu_block *b, uint32_t addr, uint32_t bytes);
/* An mbarrier of b at addr begins or ends its life, in which only mbarrier instructions may write to it. */
void emu_shadow_mbarrier(struct emu_block *b, uint32_t addr, bool lives);

/* Nothing has written that byte. */
void emu_shadow_unwrite(struct emu_shadow *s, uint32_t addr);
/* Has nothing written some of these bytes? */
bool emu_shadow_lacks(const struct emu_shadow *s, uint32_t addr, uint32_t bytes);

/* An operation that runs on behind its instruction. */
struct emu_issue {
    unsigned agent;
    uint32_t stamp;
    uint32_t lanes; /* that issue it; EMU_FULL: the warp as a whole */
    enum emu_access what;
    bool async_proxy; /* TMA and wgmma: must not read what generic writes left unfenced */
};
/* The same check for what `op`, which w issues now, does to block b's memory until it is complete:
 * bounds, and races against all that w, and its lanes, have not seen. False: out of bounds. */
bool emu_shared_async(struct emu_warp *w, struct emu_block *b, const struct emu_inst *i,
                      const struct emu_issue *op, uint32_t addr, uint32_t bytes);
