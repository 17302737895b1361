/* What a kernel's counters say, as parts of one screen (screen.h). A stage's whole screen is
 * report_screen() (report.h); build/run's is of the same parts. */
#pragma once

#include "screen.h"
#include "common/base/chip.h"
#include "profiler/counters.h"

/* "26,982 cycles, 14.9 us at a mean clock of 1810 MHz", and how good such predictions were, once. False: the
 * counters have no prediction. */
bool summary_predicted(struct screen *s, const struct counters *c, const struct chip *chip);
/* `flop` in `cycles`, `us`: its rate, and the share of what the tensor cores reach at the same clock. */
void summary_rate(struct screen *s, double flop, double cycles, double us, const struct chip *chip);
/* Tensor pipe, bank conflicts, occupancy; those that there are. */
void summary_meters(struct screen *s, const struct counters *c, const struct chip *chip);
/* The three things that warps do longest. */
void summary_stalls(struct screen *s, const struct counters *c);
/* How good predictions of this kind ("tensor pipe") were, where one of the values is predicted. */
void summary_kind(struct screen *s, const struct counters *c, const struct chip *chip,
                  const char *kind);
/* What could not be had: one line; `all` is the option that says which and why. */
void summary_missing(struct screen *s, const struct counters *c, const char *all);
