/* Calls the predictor (emulator/predictor): what launches would take on the chip that the emulator stands
 * for, from the SASS of a cubin and the chip's measured numbers.
 *
 *   emu_clock_open - emu_clock_launch or emu_clock_counters - emu_clock_close     a stage's launches
 *   emu_clock_open_kernel - emu_clock_grid ... emu_clock_values - emu_clock_close      any kernel's
 *
 * Values of emu_clock_values(): cycles_elapsed, cycles_active, duration_us, mhz,
 * issue_active_pct, tensor_active_pct, tensor_elapsed_pct, occupancy_pct, warps,
 * stall.NAME (timing_reason_name). Of several launches, as a GPU's counters: the longest
 * cycles_elapsed, the sum of times, shares weighted by the cycles that they are of.
 * emu_clock_counters() also has bound.issue, which is issue_bound, and bound.cycles, the sum of all
 * elapsed, if the emulator counts the same launches. */
#pragma once

#include "counter.h"
#include "device.h"
#include "emulator/predictor/predict.h"

struct emu_clock {
    struct device *device;     /* an emulator; NULL after emu_clock_open_kernel() */
    struct emu_memory *memory; /* changed as by the launches, unless keeps_memory */
    struct timing_chip chip;
    char validated[160]; /* timing_chip_validated(), and whether this kernel was among those */
    double mhz;
    struct sass_module *module;
    /* The caller's: */
    bool keeps_memory;
    double limit_s; /* of a prediction: then there is none; 0: no limit */
    /* Knows the module's variables by their symbols; NULL: it has none. */
    bool (*find)(void *user, const char *name, uint64_t *address, uint64_t *bytes);
    void *find_user;
};

/* The image `dir`/`name`.sm_90a.cubin. NULL, or what is missing: a cubin, nvdisasm, the chip's numbers;
 * emu_clock_close() in any case. */
const char *emu_clock_open(struct emu_clock *c, struct device *d, const char *dir,
                           const char *name);
/* One kernel of a cubin, of which no case of the validation was; what nvdisasm says is kept in `cache`
 * (NULL: it is not). */
const char *emu_clock_open_kernel(struct emu_clock *c, const struct chip *chip,
                                  struct emu_memory *m, const char *cubin_path, const char *cache,
                                  const char *kernel);
void emu_clock_close(struct emu_clock *c);

/* One launch; says how far it is after 2 s, on a terminal or with --progress; a signal ends it with
 * what is known. Of `o` what it does not set itself (mhz, progress, stop) is the caller's; NULL:
 * nothing. timing_prediction_close() */
const char *emu_clock_launch(struct emu_clock *c, const struct device_launch *l,
                             const struct timing_options *o, struct timing_prediction *out);
const char *emu_clock_grid(struct emu_clock *c, const char *kernel, const struct emu_grid *launch,
                           const struct timing_options *o, struct timing_prediction *out);

/* Adds the SASS of the launches with the cycles that warps spend at each, and its lines. */
struct source;
const char *emu_clock_source(struct emu_clock *c, const struct device_launch *launches, int n,
                             struct source *out);
/* The same of predictions already made, where n_sms have a share: begin - add ... - source_lines() */
void emu_clock_source_begin(const struct emu_clock *c, struct source *out);
void emu_clock_source_add(const struct emu_clock *c, const char *kernel,
                          const struct timing_prediction *p, int n_sms, struct source *out);

const char *emu_clock_counters(struct emu_clock *c, const struct device_launch *launches, int n,
                               struct counters *out);
/* The values of n predictions, the i-th of as many launches as times[i] says (NULL: one each). */
void emu_clock_values(const struct emu_clock *c, const struct timing_prediction *const *p,
                      const int *times, int n, struct counters *out);
