/* Counter groups: text files, one question each, configuration and manual in one. The format:
 *
 *     # a comment: a line that begins with #
 *     SHARED: Does shared memory serve each request in as few cycles as its bytes need?
 *
 *     bank_conflict_pct [%] conflicts as a share of the cycles of shared memory
 *         GPU: 100 * bank_conflicts / shared_wavefronts
 *         emulator: n/a (why there is none)
 *
 *     How to read:
 *         Free text to the end of the file.
 *
 * A line that begins at the margin starts a value: its name, [its unit], its meaning. The indented
 * lines below say where it comes from: PLACES, a colon, and a formula (expression.h) or n/a
 * (reason). A place is a chip as CUPTI names it (GH100), a family with x for any digit (AD10x),
 * GPU for any chip, or emulator; the first line that fits is taken. What a name in a formula
 * means:
 *
 *     sm__cycles_active.avg     with __ and a dot: a metric of CUPTI's range profiler
 *     smsp__sass_inst_executed  with __ and no dot: a SASS metric, summed over all instructions;
 *                               with @KIND at its end, over those of one kind: ld st ldsm stsm
 *                               ldgsts gmma atom
 *     launch.registers          the launch and its theoretical occupancy: registers shared_bytes
 *                               blocks_per_sm occupancy_pct warps threads
 *     launch.sms                of the chip; launch.busy_sms: those of them that have a block
 *     emu.NAME                  a count of the emulator
 *     clock.NAME                what its clock predicts (common/device/predictor.h)
 *     sass.NAME                 what it counts when it executes SASS (common/device/emu_sass.h)
 *     bank_conflicts            a value defined further up in this file
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

enum { GROUP_MAX_VALUES = 32, GROUP_MAX_ORIGINS = 8 };

struct group_origin {
    char places[64];   /* "GH100 AD10x" */
    char formula[128]; /* "": n/a */
    char reason[128];  /* why it is n/a */
    int line;          /* in the file */
};

struct group_value {
    char name[48], unit[16], meaning[128];
    int n_origins, line;
    struct group_origin origin[GROUP_MAX_ORIGINS];
};

struct group {
    char name[16], question[160];
    char file[256]; /* where it came from, for messages */
    int n;
    struct group_value value[GROUP_MAX_VALUES];
    char manual[4096]; /* the text after "How to read:" */
};

/* Parses text[bytes] (it need not end in a 0). The reason begins with FILE:LINE. */
const char *group_parse(const char *text, size_t bytes, const char *file, struct group *out);

/* Where `value` comes from at `place` ("GH100", "emulator"); NULL if the file does not say. */
const struct group_origin *group_origin(const struct group_value *value, const char *place);
