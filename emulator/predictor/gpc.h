/* The clock rate of each GPC, and what follows for the time of a launch. The SMs of a GPC share one clock, and
 * each GPC has its own. While one of its SMs uses the tensor pipe, it runs at `tensor_clock` of the boost clock,
 * and `tensor_clock_back` longer (microbenchmark clocks). sm__cycles_elapsed.max counts cycles of the fastest GPC,
 * which may be idle. Simulated SMs count cycles of the slowed clock. */
#pragma once

#include "predictor_chip.h"

#include <stdbool.h>
#include <stdint.h>

/* L2 and DRAM have clocks of their own: their latencies and rates in cycles of an SM whose clock has fallen. */
void gpc_slow_chip(struct predictor_chip *c);

/* The GPC of the i-th of n SMs that get a CTA: the first `gpc_first` SMs are of one GPC. The others are spread over
 * all GPCs in proportion to their free SMs, neighbours in the same GPC (microbenchmark placement). */
int gpc_of(const struct predictor_chip *c, uint64_t i, uint64_t n);

/* The place of the i-th of n SMs among those of its GPC, 0 to 1. All GPCs begin a launch alike, each one SM after the
 * other (microbenchmark placement; begins of ends-h200.tsv.gz). */
double gpc_rank(const struct predictor_chip *c, uint64_t i, uint64_t n);

struct gpc_time {
    double elapsed; /* cycles of the fastest GPC */
    double boost;   /* the same time in cycles of the boost clock */
};
/* A launch whose i-th SM of n ends at end[i], in its own cycles since the launch began. mhz: the boost clock. */
struct gpc_time gpc_elapsed(const struct predictor_chip *c, const double *end, uint64_t n,
                            bool slow, double mhz);
