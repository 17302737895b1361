/* The emulator's counts, for the profiler and for printing beside source lines.
 *
 * Names of emu_counters_of(): one per class of instruction ("fp32", "ld_shared", "hmma", ...),
 * counted in SASS terms (wmma.mma m16n16k16 is two HMMA), and for classes that touch memory
 * NAME.wavefronts, NAME.wavefronts_ideal, NAME.sectors, NAME.sectors_ideal and NAME.bytes; sums:
 * instructions, threads, shared_wavefronts, shared_wavefronts_ideal, branch_splits,
 * barrier_arrivals, tensor_flop; and bound.RESOURCE: the least cycles that an SM of the chip needs for its
 * share, if nothing else held it up, bound.unit the largest but for bound.issue, which is of PTX. Counts have
 * SOURCE_EMULATOR where PTX says them exactly and SOURCE_MODEL where a rule was applied. */
#pragma once

#include "counter.h"
#include "emulator/core/instruction.h"
#include "emulator/emulator.h"

const char *emu_counters_of(const struct emu_result *r, const struct chip *chip,
                            struct counters *out);

/* The same by instruction and source line (source.h), n_sms of the chip's SMs having a share. */
struct source;
void emu_source_of(const struct emu_result *r, const struct chip *chip, int n_sms,
                   struct source *out);
