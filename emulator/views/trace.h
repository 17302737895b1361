/* What --trace, --watch and --banks print. False: nothing is asked for. */
#pragma once

#include "emulator/core/state.h"

struct emu_trace {
    const struct emu_options *options;
    struct emu_events events;
    int n_traced;
    int n_mapped; /* accesses whose banks were printed */
    uint32_t mapped[64];
};
bool emu_trace_open(struct emu_trace *t, const struct emu_options *o);
