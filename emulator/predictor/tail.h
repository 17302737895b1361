/* When the last CTA of a launch ends, where only some SMs were simulated. The work of each simulated cluster is
 * known; a cluster that was not simulated gets the work of its neighbour. Then all clusters are given out to all
 * places of the chip. A place is one SM, or the SMs of a cluster; where few clusters share it, they run faster. */
#pragma once

#include "sm.h"

struct tail {
    const struct predictor_chip *chip;
    const double *cycles; /* n: the work of each cluster on a full place */
    uint64_t n, places;
    int resident;    /* clusters that a place holds */
    double launch;   /* cycles from a cluster's end to the next one's begin */
    double elder;    /* of three or more clusters on a place the oldest runs faster by this share */
    double together; /* clusters that end within so many cycles may end in any order */
    bool
        packs; /* of those the same place gets all that it has room for; else one place after the other */
    double speed[SM_CTAS + 1]; /* speed of each of k clusters on a place; 1 on a full place */
};

/* Each place gets one cluster before any gets a second; then the place that is free first gets the next.
 * Returns when the last cluster ends, in cycles. ends (of each place) may be NULL. */
double tail_end(const struct tail *t, double *ends);

/* The place of the k-th of n clusters, k below places x resident. Places get clusters in turn. In a last round
 * that does not reach all places, the first eight clusters go to the first eight places, the others are spread
 * over all GPCs: of 160 CTAs the 133rd shares an SM with the first, the 140th with the eighth, then two each with
 * the 9th, 11th, 25th, 27th, ..., the last 14 three each (microbenchmark placement). */
uint64_t tail_place(const struct predictor_chip *c, uint64_t k, uint64_t n, uint64_t places,
                    int resident);

/* When a seat of an idle chip is taken: on the i-th of n places, which has got `before` clusters already; all places begin
 * within `spread` cycles. In each GPC SMs begin one after the other, the CTAs of one SM at nearly the same time
 * (microbenchmark placement). So where work is given to whichever SM is free, all GPCs get their share of it, and none is
 * idle while others end. */
uint64_t tail_first(const struct predictor_chip *c, double spread, uint64_t i, uint64_t n,
                    int before);

/* When a cluster begins for which there is room at `at`, and *next: from when on the chip may begin another. The chip begins
 * them one after the other, `each` cycles apart, whichever SM has room (microbenchmark foreign, dispatch). */
uint64_t tail_begin(double *next, uint64_t at, double each);

/* cycles[i] == 0 is unknown; it gets the value of its neighbour. */
void tail_fill(double *cycles, uint64_t n);

/* Two clusters of one place with equal work end together on the chip, so both get the mean of their work
 * (microbenchmark placement). */
void tail_pair(const struct predictor_chip *c, double *cycles, uint64_t n, uint64_t places);
