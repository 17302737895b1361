/* What limits a kernel, by its counters; what taking that limit away could give; and where in this
 * project it was done. Estimates for a reader, not verdicts: gates judge (gate.h).
 *
 * The gain of an advice is the least time that the named work takes where it is done now, less what
 * it would take where it belongs (Amdahl); what goes with it, such as its loads, comes on top. */
#pragma once

#include "gate.h"

enum { ADVICE_MAX = 4 };

struct advice {
    const char *resource; /* "fp32 pipe", "shared memory", "tensor pipe", "SMs" */
    double gain_pct;      /* of the time */
    char text[224];       /* what the counters say, and what to try */
};

/* The advice for a run of `cycles` SM cycles, largest gain first, none below 3 %. Returns how many;
 * 0 as well where cycles is 0 (no time) or the counters needed are missing. */
int advice_give(const struct gate_facts *f, double cycles, struct advice out[ADVICE_MAX]);
