/* A GPC's SMs share a clock, and no other GPC does (chips/bench/clocks.cu): while one of them multiplies on
 * the tensor pipe it is `tensor_clock` of the boost clock, and so is it for `tensor_clock_back` behind the
 * last product. sm__cycles_elapsed.max counts the cycles of the fastest, who may have nothing to do.
 *
 * The SMs that are simulated count in slow cycles: tensor cores are what makes a launch slow. */
#pragma once

#include "predictor_chip.h"

#include <stdbool.h>
#include <stdint.h>

/* What the rest of the chip takes, in cycles of SMs whose clock has fallen: it has clocks of its own. */
void gpc_slow_chip(struct predictor_chip *c);

/* The GPC of the i-th of n SMs that get a CTA: `gpc_first` of one GPC come first, the others are dealt to all
 * alike, by the SMs that are left in each, those in a row to one (chips/bench/placement.cu). */
int gpc_of(const struct predictor_chip *c, uint64_t i, uint64_t n);

struct gpc_time {
    double elapsed; /* cycles of the fastest GPC */
    double boost;   /* the same time in cycles of the boost clock */
};
/* A launch whose i-th SM of n ends at end[i], in its own cycles since the launch began. mhz: the boost clock. */
struct gpc_time gpc_elapsed(const struct predictor_chip *c, const double *end, uint64_t n,
                            bool slow, double mhz);
