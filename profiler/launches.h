/* One value for several launches, from the values of each. Counts add up; a share of cycles is
 * averaged over those cycles:
 *
 *   ...sum                            the sum
 *   ...cycles_active.avg              the sum: launches follow each other
 *   ...cycles_elapsed.avg             likewise
 *   ...inst_executed.avg              likewise
 *   ...max                            the largest
 *   ...pct_of_peak_sustained_active   weighted by the cycles in which SMs were active
 *   ...per_cycle_active               likewise
 *   ...pct_of_peak_sustained_elapsed  by the elapsed cycles
 *   ..._per_issue_active.ratio        by the issues */
#pragma once

enum launches_weight { LAUNCHES_ACTIVE, LAUNCHES_ELAPSED, LAUNCHES_ISSUES, LAUNCHES_WEIGHTS };
extern const char *const launches_weight_metric[LAUNCHES_WEIGHTS];

/* value[i * stride] is the metric of launch i, weight[i * stride + w] the metric of weight w. The
 * reason: a metric that none of the rules above is for. */
const char *launches_combine(const char *metric, const double *value, const double *weight,
                             int stride, int n, double *out);
