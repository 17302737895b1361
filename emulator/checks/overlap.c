/* Launches that overlap (device.h, overlaps_previous). Here each runs to its end before the next
 * starts, which hides mistakes. So every access of an overlapping launch is reported that comes before its
 * griddepcontrol.wait and meets an allocation that a launch ahead wrote, or writes to one that it
 * read.
 *
 *   w->early           lanes that have not waited yet; 0 in an ordinary launch
 *   clock.waited       what barriers carry: lanes that synchronise with one that waited have waited, too
 *   allocation.ahead   what launches that may still run did there (EMU_READ, EMU_WRITE); of their writes, also from
 *                      where to where
 *
 * Launches count as back to back, as in a stream, whatever the host does in between. */
#include "overlap.h"

#include "emulator/core/failed_check.h"
#include "emulator/core/footprint.h"

void emu_overlap_sync(struct emu_warp *w) {
    if (w->clock.waited) w->early = 0;
}

enum { MOST_BYTES = 32 }; /* of one lane's access, but for copies of TMA */

/* Reports an access before griddepcontrol.wait if a launch ahead meets it. */
static void too_early(struct emu_warp *w, const struct emu_inst *i, uint32_t lane,
                      const struct emu_allocation *a, uint64_t addr, enum emu_access what) {
    unsigned ahead = what & EMU_WRITE ? a->ahead : a->ahead & EMU_WRITE;
    bool apart = addr >= a->ahead_to || addr + MOST_BYTES <= a->ahead_from;
    if (apart && i->class != EMU_TMA) ahead &= ~(unsigned)EMU_WRITE;
    if (!ahead) return;
    emu_report(EMU_TOO_EARLY, w, i, NULL,
               "lane %u %s 0x%llx, where an earlier launch %s and may not have ended: "
               "griddepcontrol.wait must come between",
               lane, what & EMU_WRITE ? "writes" : "reads", (unsigned long long)addr,
               ahead & EMU_WRITE ? "writes" : "reads");
}

void emu_global_touch(struct emu_warp *w, const struct emu_inst *i, uint32_t lane, uint64_t addr,
                      enum emu_access what) {
    struct emu_allocation *a = emu_memory_find(w->block->launch->memory, addr);
    if (!a) return; /* reported when the copy runs */
    emu_memory_touch(a, what, a->base, a->end);
    if (w->early >> lane & 1) too_early(w, i, lane, a, addr, what);
}

void emu_global_trace(struct emu_warp *w, enum emu_access what, uint64_t addr, uint64_t bytes) {
    const struct emu_allocation *a = emu_memory_find(w->block->launch->memory, addr);
    if (a && a->footprint && bytes <= a->end - addr)
        emu_footprint_mark(a->footprint, what, addr, addr + bytes);
}
