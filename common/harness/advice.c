#include "advice.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HMMA_FLOP = 16 * 8 * 16 * 2 }; /* m16n8k16 */
static const double least_gain_pct = 3;

struct adviser {
    const struct gate_facts *facts;
    double ctas, sms; /* of the largest launch; SMs that have one of them */
    double cycles;
    struct advice *out;
    int n;
};

/* NaN: not collected. */
static double value(const struct adviser *a, const char *name) {
    for (int i = 0; i < a->facts->counters->n; i++) {
        const struct counter *c = &a->facts->counters->counter[i];
        if (!strcmp(c->name, name) && !*c->reason) return c->value;
    }
    return NAN;
}

__attribute__((format(printf, 4, 5))) static void advise(struct adviser *a, const char *resource,
                                                         double cycles, const char *format, ...) {
    double gain_pct = fmin(100 * cycles / a->cycles, 99);
    if (!(gain_pct >= least_gain_pct) || a->n == ADVICE_MAX) return;
    struct advice *o = &a->out[a->n++];
    *o = (struct advice){.resource = resource, .gain_pct = gain_pct};
    va_list args;
    va_start(args, format);
    vsnprintf(o->text, sizeof o->text, format, args);
    va_end(args);
}

/* Products that tensor cores could do, on the FMA pipe: of a head's two, Q*K^T comes first. */
static void about_products(struct adviser *a) {
    const struct chip *c = a->facts->chip;
    const double hmma = value(a, "hmma_instructions"), hgmma = value(a, "hgmma_instructions");
    const double flops = attention_flops(a->facts->problem);
    if (!(hmma >= 0) || hgmma > 0 || !c->mma_flop_per_clk) return;
    const double scalar = fmax(flops - hmma * HMMA_FLOP, 0);
    const double now = scalar / (2.0 * c->fp32_fma_per_clk * a->sms);
    const double then = scalar / (c->mma_flop_per_clk * a->sms);
    if (scalar < 0.1 * flops) return;
    advise(a, "fp32 pipe", now - then,
           "%.0f %% of the products are FMAs; tensor cores do %.0f times as many a cycle. %s",
           100 * scalar / flops, c->mma_flop_per_clk / (2.0 * c->fp32_fma_per_clk),
           hmma > 0 ? "Next is P*V, as in stage 3: make stage-3 diff"
                    : "Begin with Q*K^T, as in stage 2: make stage-2 diff");
}

/* Wavefronts beyond the ideal: one a cycle leaves an SM's shared memory. */
static void about_conflicts(struct adviser *a) {
    const double excess = value(a, "bank_conflicts"), share = value(a, "bank_conflict_pct");
    if (!(share >= 1)) return;
    advise(a, "shared memory", excess / a->sms,
           "%.0f %% of its wavefronts are bank conflicts. make stage-%d source says which lines, "
           "make stage-%d banks LINE=n why; a swizzle ends them, as in stage 4: make stage-4 diff",
           share, stage_number(a->facts->stage->name), stage_number(a->facts->stage->name));
}

/* What the accumulators of the two products cost on their way through shared memory. */
static void about_shared_traffic(struct adviser *a) {
    enum { ENOUGH = 4 }; /* wavefronts an HMMA, where only operands come from shared memory */
    const double hmma = value(a, "hmma_instructions"), ideal = value(a, "shared_wavefronts_ideal");
    const bool all = hmma * HMMA_FLOP > 0.9 * attention_flops(a->facts->problem);
    if (!all || !(ideal > ENOUGH * hmma)) return; /* scalar products have reads of their own */
    advise(a, "shared memory", (ideal - ENOUGH * hmma) / a->sms,
           "each HMMA comes with %.1f wavefronts, conflicts aside: S and P travel through shared "
           "memory. Keep them in registers, as in stage 4: make stage-4 diff",
           ideal / hmma);
}

/* mma.sync's own limit, on chips where WGMMA has a higher one. */
static void about_mma_sync(struct adviser *a) {
    const struct chip *c = a->facts->chip;
    const double hmma = value(a, "hmma_instructions");
    if (!(hmma > 0) || c->mma_flop_per_clk >= c->tensor_flop_per_clk) return;
    const double flops = hmma * HMMA_FLOP / a->sms;
    advise(a, "tensor pipe", flops / c->mma_flop_per_clk - flops / c->tensor_flop_per_clk,
           "mma.sync reaches %.0f %% of this chip's tensor rate at most, and its warps wait for "
           "operands. WGMMA reads them from shared memory itself: stages 5 and 6",
           100.0 * c->mma_flop_per_clk / c->tensor_flop_per_clk);
}

static void about_grid(struct adviser *a) {
    const int n_sms = a->facts->chip->n_sms;
    if (a->ctas >= n_sms) return;
    advise(a, "SMs", a->cycles * (1 - a->ctas / n_sms),
           "%.0f CTA%s %.0f of %d SMs without work: smaller tiles, or keys split over CTAs",
           a->ctas, a->ctas == 1 ? " leaves" : "s leave", n_sms - a->ctas, n_sms);
}

static int by_gain(const void *a, const void *b) {
    double x = ((const struct advice *)a)->gain_pct, y = ((const struct advice *)b)->gain_pct;
    return (x < y) - (x > y);
}

int advice_give(const struct gate_facts *f, double cycles, struct advice out[ADVICE_MAX]) {
    struct adviser a = {.facts = f, .cycles = cycles, .out = out};
    for (int i = 0; i < f->plan->n_launches; i++) {
        const unsigned *g = f->plan->launch[i].grid;
        a.ctas = fmax(a.ctas, (double)g[0] * g[1] * g[2]);
    }
    a.sms = fmin(a.ctas, f->chip->n_sms);
    if (!(cycles > 0) || !(a.sms > 0)) return 0;
    about_grid(&a);
    about_products(&a);
    about_conflicts(&a);
    about_shared_traffic(&a);
    about_mma_sync(&a);
    qsort(out, (size_t)a.n, sizeof *out, by_gain);
    return a.n;
}
