/* What the emulator counted, for the profiler and for printing beside source lines.
 *
 * Names of emu_counters_of(): one per class of instruction ("fp32", "ld_shared", "hmma", ...),
 * counted in SASS terms (wmma.mma m16n16k16 is two HMMA), and for classes that touch memory
 * NAME.wavefronts, NAME.wavefronts_ideal, NAME.sectors, NAME.sectors_ideal and NAME.bytes; sums:
 * instructions, threads, shared_wavefronts, shared_wavefronts_ideal, branch_splits,
 * barrier_arrivals; and bound.RESOURCE: the least cycles that an SM of the chip needs for its
 * share, if nothing else held it up. Counts have SOURCE_EMULATOR where PTX says them exactly and
 * SOURCE_MODEL where a rule was applied. */
#pragma once

#include "counter.h"
#include "emulator/core/instruction.h"
#include "emulator/emulator.h"

const char *emu_counters_of(const struct emu_result *r, const struct chip *chip,
                            struct counters *out);

/* The counts of one instruction, and where it stands. */
struct emu_line {
    const char *kernel, *opcode;
    int n_frames, ptx_line;
    const struct emu_frame *frame; /* innermost first */
    bool is_branch; /* splits: executions that divided the lanes; else barrier arrivals */
    double executed, threads;
    double wavefronts, wavefronts_ideal, sectors, sectors_ideal, bytes, splits;
};

/* Calls `visit` for every instruction of every kernel in the result; stops at a reason. */
const char *emu_lines(const struct emu_result *r,
                      const char *(*visit)(void *arg, const struct emu_line *l), void *arg);

/* The counts by source line, sorted. */
struct source;
const char *emu_source_of(const struct emu_result *r, struct source *out);
