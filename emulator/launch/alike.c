#include "alike.h"

#include "emulator/core/instruction.h"

#include <string.h>

static bool knows(const struct emu_kernel *k, enum emu_special row) {
    return k->specials >> row & 1;
}

/* Atomics, fences and strong accesses: blocks may wait for each other, or count themselves. */
static bool meets_others(const struct emu_kernel *k) {
    static const char *const opcodes[] = {"atom",  "red.",   "cp.reduce",
                                          "fence", "membar", "multimem"},
                             *const modifiers[] = {"volatile", "relaxed", "acquire",
                                                   "release",  "acq_rel", "mmio"};
    for (int n = 0; n < k->n_inst; n++) {
        const struct emu_inst *i = &k->inst[n];
        for (size_t a = 0; a < sizeof opcodes / sizeof *opcodes; a++)
            if (!strncmp(i->opcode, opcodes[a], strlen(opcodes[a]))) return true;
        for (size_t a = 0; a < sizeof modifiers / sizeof *modifiers; a++)
            if (i->space != EMU_SHARED && emu_has(i, modifiers[a])) return true;
    }
    return false;
}

uint64_t emu_unlike_blocks(const struct emu_kernel *k, const struct emu_grid *g,
                           const struct emu_options *o) {
    static const enum emu_special place[] = {EMU_CTAID_X, EMU_CTAID_Y, EMU_CTAID_Z},
                                  other[] = {EMU_SMID,        EMU_GRIDID,      EMU_CLUSTERID_X,
                                             EMU_CLUSTERID_Y, EMU_CLUSTERID_Z, EMU_CLOCK};
    uint64_t all = (uint64_t)g->grid[0] * g->grid[1] * g->grid[2], unlike = 1;
    bool asked = o->alike_once && !o->sample_blocks && !o->trace_line && !o->banks_line &&
                 !o->watch && !o->spoil.how;
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) asked &= !knows(k, other[i]);
    for (int d = 0; d < 3; d++) {
        asked &= g->cluster[d] <= 1 && k->cluster[d] <= 1;
        if (knows(k, place[d])) unlike = 1;
        if (knows(k, place[d]))
            for (int e = 0; e <= d; e++) unlike *= g->grid[e];
    }
    if (!asked || unlike == all || k->prints || k->allocates || k->syncs_grid || meets_others(k))
        return all;
    return unlike;
}

bool emu_memory_kept_apart(const struct emu_memory *m) {
    struct emu_effect e;
    for (int n = 0; emu_memory_next_effect(m, &n, &e);)
        if (e.read && e.wrote_from < e.wrote_to) return false;
    return true;
}
