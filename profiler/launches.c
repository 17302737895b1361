#include "launches.h"

#include "common/base/reason.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

const char *const launches_weight_metric[LAUNCHES_WEIGHTS] = {
    [LAUNCHES_ACTIVE] = "sm__cycles_active.avg",
    [LAUNCHES_ELAPSED] = "sm__cycles_elapsed.max",
    [LAUNCHES_ISSUES] = "smsp__issue_active.sum",
};

static bool ends_in(const char *text, const char *end) {
    size_t n = strlen(text), k = strlen(end);
    return n >= k && !strcmp(text + n - k, end);
}

static double average(const double *value, const double *weight, int stride, int n) {
    double sum = 0, weights = 0;
    for (int i = 0; i < n; i++) {
        if (!weight[i * stride]) continue; /* no cycle, no say: its share is 0 / 0 */
        sum += value[i * stride] * weight[i * stride];
        weights += weight[i * stride];
    }
    return sum / weights;
}

const char *launches_combine(const char *metric, const double *value, const double *weight,
                             int stride, int n, double *out) {
    static const struct {
        const char *end;
        enum launches_weight weight;
    } shares[] = {
        {".avg.pct_of_peak_sustained_active", LAUNCHES_ACTIVE},
        {".avg.per_cycle_active", LAUNCHES_ACTIVE},
        {".avg.pct_of_peak_sustained_elapsed", LAUNCHES_ELAPSED},
        {"_per_issue_active.ratio", LAUNCHES_ISSUES},
    };
    *out = value[0];
    if (n == 1) return NULL;
    const bool adds_up = ends_in(metric, ".sum") || ends_in(metric, "cycles_active.avg") ||
                         ends_in(metric, "cycles_elapsed.avg") ||
                         ends_in(metric, "inst_executed.avg");
    if (adds_up || ends_in(metric, ".max")) {
        for (int i = 1; i < n; i++)
            *out = adds_up ? *out + value[i * stride] : fmax(*out, value[i * stride]);
        return NULL;
    }
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++)
        if (ends_in(metric, shares[s].end)) {
            *out = average(value, weight + shares[s].weight, stride, n);
            return NULL;
        }
    return reason("%s of %d launches cannot be made one value", metric, n);
}
