/* When a launch ends, from the work of its clusters. The fewer places there are, the sooner the last is
 * done: so clusters are given out once more, each with as much to do as the one next to it that was
 * simulated, to all places. Where few are left on a place, they run faster. */
#pragma once

#include "sm.h"

struct tail {
    const struct predictor_chip *chip;
    const double *cycles; /* n: each cluster's, beside as many as a place holds */
    uint64_t n, places;
    int resident;              /* clusters that a place holds */
    double launch;             /* cycles from a cluster's end to the next one's begin */
    double together;           /* ends that are no farther apart could be in any order */
    double speed[SM_CTAS + 1]; /* of each of k on a place; of `resident`: 1 */
};

/* All places get a cluster before any gets its second, then whoever is free first: when the last
 * ends, in cycles. ends, of each place, may be NULL. */
double tail_end(const struct tail *t, double *ends);

/* Where the k-th of n clusters begins, k below places x resident: in turn, but of a last round that does
 * not reach all places the first eight go to the first eight places and the others are dealt to all GPCs
 * (chips/bench/placement.cu: of 160 CTAs the 133rd shares an SM with the first, the 140th with the eighth, then
 * two each with the 9th, 11th, 25th, 27th, ..., the last 14 three each). */
uint64_t tail_place(const struct predictor_chip *c, uint64_t k, uint64_t n, uint64_t places,
                    int resident);

/* cycles[i] 0: not known, as long as its neighbour's. */
void tail_fill(double *cycles, uint64_t n);

/* Two clusters of a place with as much to do end together, however the simulation shared it out: on all places
 * each has the mean of both (chips/bench/placement.cu). */
void tail_pair(const struct predictor_chip *c, double *cycles, uint64_t n, uint64_t places);
