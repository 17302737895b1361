#include "gpc.h"

#include <math.h>

enum { MAX_GPCS = 32 };

void gpc_slow_chip(struct predictor_chip *c) {
    double *const latency[] = {&c->l2_latency, &c->l2_spread,         &c->l2_line_spread,
                               &c->membar_gpu, &c->icache_l2_latency, &c->atomic_latency};
    double *const rate[] = {
        &c->l2_sm_bytes_per_clk,     &c->l2_bytes_per_clk,        &c->l2_sm_write_bytes_per_clk,
        &c->l2_write_bytes_per_clk,  &c->l2_shared_bytes_per_clk, &c->l2_tma_shared_bytes_per_clk,
        &c->dram_sm_bytes_per_clk,   &c->dram_bytes_per_ns, /* converted at the boost clock later */
        &c->dram_write_bytes_per_ns, &c->tma_bytes_per_clk};
    double l2 = 1 - c->l2_own_share * (1 - c->tensor_clock),
           behind = c->dram_latency - c->l2_latency;
    c->dram_latency = c->l2_latency * l2 + behind * c->tensor_clock;
    c->dram_queue *= c->tensor_clock;
    for (unsigned i = 0; i < sizeof latency / sizeof *latency; i++) *latency[i] *= l2;
    for (unsigned i = 0; i < sizeof rate / sizeof *rate; i++) *rate[i] /= c->tensor_clock;
}

static int gpcs(const struct predictor_chip *c) {
    return c->gpcs < 1 ? 1 : c->gpcs > MAX_GPCS ? MAX_GPCS : (int)c->gpcs;
}

int gpc_of(const struct predictor_chip *c, uint64_t i, uint64_t n) {
    double first = c->gpc_first, each = c->sms / gpcs(c), left = c->sms - first;
    if ((double)i < first || (double)n <= first || left <= 0) return 0;
    double at = ((double)i - first + 0.5) / ((double)n - first) * left; /* among the SMs left */
    int g = (int)((at - (each - first)) / each + 1);
    return at < each - first ? 0 : g < gpcs(c) ? g : gpcs(c) - 1;
}

double gpc_rank(const struct predictor_chip *c, uint64_t i, uint64_t n) {
    uint64_t before = 0, all = 0;
    for (uint64_t k = 0; k < n; k++)
        if (gpc_of(c, k, n) == gpc_of(c, i, n)) before += k < i, all++;
    return (2 * (double)before + 1) / (2 * (double)all);
}

struct gpc_time gpc_elapsed(const struct predictor_chip *c, const double *end, uint64_t n,
                            bool slow, double mhz) {
    double last[MAX_GPCS] = {0}, clock[MAX_GPCS], time = 0, elapsed = 0;
    double share = slow ? c->tensor_clock : 1, back = c->tensor_clock_back * mhz / 1e3;
    int n_gpcs = gpcs(c);
    for (uint64_t i = 0; i < n; i++) {
        int g = gpc_of(c, i, n);
        last[g] = fmax(last[g], end[i]);
    }
    for (int g = 0; g < n_gpcs; g++) {
        double apart = slow && n_gpcs > 1 ? c->gpc_clock_spread * (g / (n_gpcs - 1.0) - 0.5) : 0;
        clock[g] = share * (1 + apart);
        const double own = last[g] / clock[g];
        time = own > time ? own
                          : time; /* at fmax here GCC 12 stops with an internal error on aarch64 */
    }
    for (int g = 0; g < n_gpcs; g++) {
        double rest = time - last[g] / clock[g], still = last[g] > 0 ? fmin(rest, back) : 0;
        elapsed = fmax(elapsed, last[g] + still * clock[g] + rest - still);
    }
    return (struct gpc_time){elapsed, time};
}
