/* The time of a launch: some SMs are simulated, the others taken to do as they do. */
#pragma once

#include "timing_chip.h"
#include "front.h"
#include "sm.h"

struct timing_prediction {
    double elapsed; /* SM cycles from launch to end: sm__cycles_elapsed.max */
    double active;  /* with a warp on the SM, mean over all SMs: sm__cycles_active.avg */
    double issue_active_pct, tensor_active_pct;
    double warps; /* resident, mean over active cycles */
    double occupancy_pct;
    double stall[TIMING_REASONS]; /* warps in that state, by instruction issued */
    double instructions;          /* of the launch */
    double wavefronts, sectors, l2_sectors;
    int ctas_per_sm;
    double host_seconds;
    /* Warp cycles of the launch by instruction (pc / 16) and reason; timing_prediction_close() */
    double (*by_inst)[TIMING_REASONS];
};
void timing_prediction_close(struct timing_prediction *p);

/* What a warp of the first CTA simulated did in cycles [from, to): a timeline. */
typedef void timing_span(void *user, int warp, uint32_t pc, int reason, uint64_t from, uint64_t to);
struct timing_options {
    double mhz;        /* SM clock, for what memory does in ns */
    double budget_s;   /* host seconds to spend, about; 0: 16 */
    timing_span *span; /* may be NULL */
    void *user;
    void (*progress)(void *user, double share); /* now and then; may be NULL */
};

extern const struct timing_front timing_sass; /* sass.h itself */

/* How many CTAs of the launch an SM holds at once. */
int timing_ctas_per_sm(const struct timing_chip *c, const struct sass_kernel *k, uint32_t threads,
                       uint32_t dynamic_shared);

/* Predicts the launch of a grid just opened. It executes some of its CTAs: memory is changed as by
 * them. */
const char *timing_predict(const struct timing_chip *c, struct sass_grid *g,
                           const struct timing_options *o, struct timing_prediction *out);
