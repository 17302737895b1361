/* Counter groups: one question each, a text file in profiler/groups/. Values carry name, unit,
 * source together; a value that cannot be had carries its reason instead.
 *
 * The short names that groups define and that plots, gates and labs use:
 *   TENSOR     tensor_active_pct  tensor_instructions  hmma_instructions  hgmma_instructions
 *   SHARED     shared_wavefronts  shared_wavefronts_ideal  bank_conflicts
 *              bank_conflicts_{ld,st,ldgsts,gmma}  bank_conflict_pct (of shared wavefronts)
 *   OCCUPANCY  occupancy_theoretical_pct  occupancy_achieved_pct  blocks_per_sm  registers
 *              shared_bytes
 *   MEMORY     dram_pct  dram_bytes  l2_read_sectors
 *   STALL      stall_{barrier,long_scoreboard,short_scoreboard,math_pipe,wait,...}
 *   BOUND      bound_{tensor,mufu,fma,shared,issue,grid,largest,pct}; tensor_bound_pct in TENSOR
 *   MIX        instructions  fma_pct  mufu_instructions  ... */
#pragma once

#include "common/device/counter.h"
#include "common/device/device.h"

/* Starts what counting on a GPU needs, 0.2 s, for counters_collect() to find it ready: in a thread of its own,
 * while the device is left alone. Never where time will be taken. */
void counters_prepare(struct device *d);
/* Collects the named groups ("TENSOR,SHARED") over one run of the n launches, replayed as often
 * as the hardware needs passes. Never call it while time is taken. Returns a reason only when
 * nothing at all can be collected (permission, no CUPTI, no such group); single values that
 * cannot be had say so themselves. */
const char *counters_collect(struct device *d, struct device_image *image,
                             const struct device_launch *launches, int n, const char *groups,
                             struct counters *out);
/* The named groups from what is known of launches already. Each of the last three may be missing, with a reason. */
struct occupancy;
struct counters_known {
    const struct counters *counted;   /* PTX: emu_counters_of() */
    const struct counters *sass;      /* machine code: emu_sass_values() */
    const char *no_sass;              /* NULL, or why not */
    const struct counters *predicted; /* predictor_values() */
    const char *no_prediction;
    const struct occupancy *occupancy;
    const char *no_occupancy;
};
/* `threads`: of a block. */
const char *counters_emulated(const struct counters_known *k, int threads, const char *groups,
                              struct counters *out);
/* The named groups from metrics of CUPTI's that were measured on a chip ("GH100"), one by one; and which those are. */
typedef const char *counters_metric(void *arg, const char *metric, double *value);
typedef const char *counters_visit(void *arg, const char *metric);
const char *counters_measured(const char *place, counters_metric *metric, void *arg,
                              const struct occupancy *occupancy, const char *no_occupancy,
                              int threads, const char *groups, struct counters *out);
const char *counters_metrics(const char *place, const char *groups, counters_visit *visit,
                             void *arg);
/* NULL if there is a group of each name; needs no device. */
const char *counters_check(const char *groups);
