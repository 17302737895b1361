/* Calls the predictor (emulator/predictor): what launches would take on the chip that the emulator stands
 * for, from the SASS of a cubin and the chip's measured numbers.
 *
 *   predictor_open - predictor_launch or predictor_counters - predictor_close     a stage's launches
 *   predictor_open_module - predictor_grid ... predictor_values       any kernel's
 *
 * Values of predictor_values(): cycles_elapsed, cycles_active, duration_us, mhz,
 * issue_active_pct, tensor_active_pct, tensor_elapsed_pct, occupancy_pct, warps,
 * stall.NAME (predictor_reason_name). Of several launches, as a GPU's counters: the longest
 * cycles_elapsed, the sum of times, shares weighted by the cycles that they are of.
 * predictor_counters() also has bound.issue, which is issue_bound, and bound.cycles, the sum of all
 * elapsed, if the emulator counts the same launches. */
#pragma once

#include "counter.h"
#include "device.h"
#include "emulator/predictor/predict.h"

struct predictor {
    struct device *device;     /* an emulator; NULL after predictor_open_module() */
    struct emu_memory *memory; /* changed as by the launches, unless keeps_memory */
    struct predictor_chip chip;
    char validated[160]; /* predictor_chip_validated(), and whether this kernel was among those */
    double mhz;
    struct sass_module *module;
    /* The caller's: */
    bool keeps_memory;
    double limit_s; /* of a prediction, as so much work (PREDICTOR_WORK_A_SECOND); 0: no limit */
    /* Knows the module's variables by their symbols; NULL: it has none. */
    bool (*find)(void *user, const char *name, uint64_t *address, uint64_t *bytes);
    void *find_user;
};

/* The image `dir`/`name`.sm_90a.cubin, for a chip of Ada .sm_89.cubin. NULL, or what is missing: a cubin, nvdisasm, the chip's numbers;
 * predictor_close() in any case. */
const char *predictor_open(struct predictor *c, struct device *d, const char *dir,
                           const char *name);
/* A module that stays the caller's, of which no case of the validation was. */
const char *predictor_open_module(struct predictor *c, const struct chip *chip,
                                  struct emu_memory *m, struct sass_module *module);
void predictor_close(struct predictor *c);

/* One launch; says how far it is after 2 s, on a terminal or with --progress; a signal ends it with
 * what is known. Of `o` what it does not set itself (mhz, progress, stop) is the caller's; NULL:
 * nothing. prediction_close() */
const char *predictor_launch(struct predictor *c, const struct device_launch *l,
                             const struct predictor_options *o, struct prediction *out);
const char *predictor_grid(struct predictor *c, const char *kernel, const struct emu_grid *launch,
                           const struct predictor_options *o, struct prediction *out);

/* Adds the SASS of the launches with the cycles that warps spend at each, and its lines. */
struct source;
const char *predictor_source(struct predictor *c, const struct device_launch *launches, int n,
                             struct source *out);
/* The same of predictions already made, where n_sms have a share: begin - add ... - source_lines() */
void predictor_source_begin(const struct predictor *c, struct source *out);
void predictor_source_add(const struct predictor *c, const char *kernel, const struct prediction *p,
                          int n_sms, struct source *out);

const char *predictor_counters(struct predictor *c, const struct device_launch *launches, int n,
                               struct counters *out);
/* The values of n predictions, the i-th of as many launches as times[i] says (NULL: one each). */
void predictor_values(const struct predictor *c, const struct prediction *const *p,
                      const int *times, int n, struct counters *out);
