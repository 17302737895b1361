/* The emulator's clock: what launches would take on the chip that the emulator stands for, from the
 * SASS of the image's cubin and the chip's measured numbers (emulator/timing).
 *
 *   emu_clock_open - emu_clock_launch or emu_clock_counters - emu_clock_close
 *
 * Values of emu_clock_counters(): cycles_elapsed, cycles_active, duration_us, mhz,
 * issue_active_pct, tensor_active_pct, tensor_elapsed_pct, occupancy_pct, warps,
 * stall.NAME (timing_reason_name). Of several launches, as a GPU's counters: the longest
 * cycles_elapsed, the sum of times, shares weighted by the cycles that they are of. */
#pragma once

#include "counter.h"
#include "device.h"
#include "emulator/timing/predict.h"

struct emu_clock {
    struct device *device; /* an emulator; its memory is changed as by the launches */
    struct timing_chip chip;
    char validated[128]; /* timing_chip_validated() */
    double mhz;
    struct sass_module *module;
};

/* The image `dir`/`name`.sm_90a.cubin. NULL, or what is missing: a cubin, nvdisasm, the chip's numbers;
 * emu_clock_close() in any case. */
const char *emu_clock_open(struct emu_clock *c, struct device *d, const char *dir,
                           const char *name);
void emu_clock_close(struct emu_clock *c);

/* One launch; says how far it is after 2 s, on a terminal or with --progress; a signal ends it with
 * what is known. Of `o` what it does not set itself (mhz, progress, stop) is the caller's; NULL:
 * nothing. timing_prediction_close() */
const char *emu_clock_launch(struct emu_clock *c, const struct device_launch *l,
                             const struct timing_options *o, struct timing_prediction *out);

/* Adds the SASS of the launches with the cycles that warps spend at each, and its lines. */
struct source;
const char *emu_clock_source(struct emu_clock *c, const struct device_launch *launches, int n,
                             struct source *out);

const char *emu_clock_counters(struct emu_clock *c, const struct device_launch *launches, int n,
                               struct counters *out);
