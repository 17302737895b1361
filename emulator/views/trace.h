/* What --trace, --watch and --banks print. False: nothing is asked for. */
#pragma once

#include "emulator/core/state.h"

struct emu_trace {
    const struct emu_options *options;
    struct emu_events events;
    int n_traced;
    int n_mapped; /* instructions whose banks were printed, or are being gathered */
    uint32_t mapped[64];
    /* the map of the instruction that `mapping` executes: of all its accesses */
    const struct emu_warp *mapping; /* NULL: none is */
    const char *part;               /* of what it reads: an operand, a box; NULL: by lanes */
    uint32_t n_rows, room, wavefronts, ideal;
    struct emu_map_row {
        uint32_t lane, word, wavefront; /* lane: or row of the part */
    } * row;
};
bool emu_trace_open(struct emu_trace *t, const struct emu_options *o);
void emu_trace_close(struct emu_trace *t);
