#include "internal.h"
#include <stdlib.h>
struct emu_shadow *emu_shadow_open(uint32_t shared_bytes) {
    (void)shared_bytes;
    return calloc(1, 64);
}
void emu_shadow_reset(struct emu_block *b) { (void)b; }
void emu_shadow_close(struct emu_shadow *s) { free(s); }
void emu_shadow_access(struct emu_warp *w, const struct emu_inst *i, const struct emu_pattern *p,
                       uint32_t first, enum emu_access what) {
    (void)w, (void)i, (void)p, (void)first, (void)what;
}
void emu_tick(struct emu_warp *w) { (void)w; }
void emu_release(struct emu_warp *w, struct emu_clock *c) { (void)w, (void)c; }
void emu_acquire(struct emu_warp *w, const struct emu_clock *c) { (void)w, (void)c; }
