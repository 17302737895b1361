#include "gate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *gate_verdict_name(enum gate_verdict v) {
    return v == GATE_PASS ? "PASS" : v == GATE_FAIL ? "FAIL" : "n/a";
}

static const struct counter *find(const struct counters *all, const char *name) {
    for (int i = 0; i < all->n; i++)
        if (!strcmp(all->counter[i].name, name)) return &all->counter[i];
    return NULL;
}

__attribute__((format(printf, 3, 4))) static void say(char *out, size_t bytes, const char *format,
                                                      ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(out, bytes, format, args);
    va_end(args);
}

#define WHY(g, ...)   say((g)->why, sizeof(g)->why, __VA_ARGS__)
#define LIMIT(g, ...) say((g)->limit, sizeof(g)->limit, __VA_ARGS__)

/* The counter's value into the gate; false, and n/a with the reason, if there is none. */
static bool take(struct gate *g, const struct counters *all, const char *name) {
    const struct counter *c = find(all, name);
    if (!c || *c->reason) {
        WHY(g, "no %s: %s", name, c ? c->reason : "its counter group was not collected");
        return false;
    }
    g->value = c->value;
    g->has_value = true;
    g->source = c->source;
    WHY(g, "%s", name);
    return true;
}

static bool launches(const struct gate_facts *f, struct gate *g) {
    if (!f->plan->n_launches) WHY(g, "nothing to launch");
    return f->plan->n_launches > 0;
}

static void judge(struct gate *g, bool good) { g->verdict = good ? GATE_PASS : GATE_FAIL; }

static void gate_tensor(const struct gate_facts *f, struct gate *g) {
    LIMIT(g, ">= 40 %%");
    if (!f->stage->tensor_family) {
        WHY(g, "this stage issues no tensor instructions");
        return;
    }
    if (take(g, f->counters, "tensor_active_pct")) judge(g, g->value >= 40);
}

static void gate_conflicts(const struct gate_facts *f, struct gate *g) {
    LIMIT(g, "< 5 %%");
    if (take(g, f->counters, "bank_conflict_pct")) judge(g, g->value < 5);
}

static void gate_occupancy(const struct gate_facts *f, struct gate *g) {
    LIMIT(g, ">= 25 %%");
    const struct counter *achieved = find(f->counters, "occupancy_achieved_pct");
    bool measured = achieved && !*achieved->reason;
    if (!take(g, f->counters, measured ? "occupancy_achieved_pct" : "occupancy_theoretical_pct"))
        return;
    bool good = g->value >= 25;
    if (!good && f->stage->tensor_family && !strcmp(f->stage->tensor_family, "HGMMA"))
        WHY(g, "WGMMA is asynchronous: a few warps keep the tensor pipe full");
    else
        judge(g, good);
}

static void gate_registers(const struct gate_facts *f, struct gate *g) {
    LIMIT(g, "<= %d", f->stage->max_registers);
    if (f->plan->is_other_kernel) {
        WHY(g, "the limit is not about this image");
        return;
    }
    for (int i = 0; i < f->plan->n_launches; i++)
        g->value = fmax(g->value, f->kernel[i].n_registers);
    if (!launches(f, g)) return;
    if (g->value <= 0) {
        WHY(g, "PTX has no registers of its own; the cubin's are in build/images/*.ptxas");
        return;
    }
    g->has_value = true;
    g->source = SOURCE_PTXAS;
    WHY(g, "registers of a thread");
    judge(g, g->value <= f->stage->max_registers);
}

static void gate_spills(const struct gate_facts *f, struct gate *g) {
    LIMIT(g, "0");
    bool known = true;
    for (int i = 0; i < f->plan->n_launches; i++) {
        known &= f->kernel[i].n_registers > 0;
        g->value += f->kernel[i].local_bytes;
    }
    if (!launches(f, g)) return;
    if (!known) {
        WHY(g, "PTX does not spill; the cubin's spills are in build/images/*.ptxas");
        return;
    }
    g->has_value = true;
    g->source = SOURCE_PTXAS;
    WHY(g, "bytes of local memory of a thread");
    judge(g, g->value == 0);
}

static void gate_shared(const struct gate_facts *f, struct gate *g) {
    LIMIT(g, "<= %d", f->chip->shared_per_block);
    if (!launches(f, g)) return;
    for (int i = 0; i < f->plan->n_launches; i++)
        g->value =
            fmax(g->value, f->plan->launch[i].shared_bytes + (double)f->kernel[i].static_shared);
    g->has_value = true;
    g->source = SOURCE_PTXAS;
    WHY(g, "bytes of shared memory of a block");
    judge(g, g->value <= f->chip->shared_per_block);
}

static void gate_instructions(const struct gate_facts *f, struct gate *g) {
    double wanted = 0;
    LIMIT(g, "= formula");
    if (!launches(f, g)) return;
    if (f->plan->is_other_kernel) {
        WHY(g, "the formula is not about this image");
        return;
    }
    if (f->stage->tensor_instructions)
        wanted = f->stage->tensor_instructions(f->problem, f->chip);
    else if (f->stage->tensor_family) {
        WHY(g, "this stage states no formula");
        return;
    }
    const double most = wanted * (1 + f->stage->tensor_redone);
    if (most > wanted)
        LIMIT(g, "%.0f to %.0f", wanted, most);
    else
        LIMIT(g, "= %.0f", wanted);
    if (take(g, f->counters, "tensor_instructions"))
        judge(g, g->value >= wanted && g->value <= most);
}

/* FLOPs of the problem over the bytes that must move at least once, against what the chip can
 * do of the one while it moves one of the other. */
static void gate_dram(const struct gate_facts *f, struct gate *g) {
    const struct attention *a = f->problem;
    const struct chip *c = f->chip;
    LIMIT(g, ">= 60 %%");
    double bytes =
        4.0 * attention_lse_elements(a) + 2.0 * (attention_q_elements(a) + attention_k_elements(a) +
                                                 attention_v_elements(a) + attention_o_elements(a));
    double flop_per_clk = !f->stage->tensor_family                    ? 2.0 * c->fp32_fma_per_clk
                          : !strcmp(f->stage->tensor_family, "HGMMA") ? c->tensor_flop_per_clk
                                                                      : c->mma_flop_per_clk;
    double ridge = flop_per_clk * c->n_sms * c->clock_mhz * 1e6 / (c->dram_gb_per_s * 1e9);
    double intensity = attention_flops(a) / fmax(bytes, 1);
    const struct counter *dram = find(f->counters, "dram_pct");
    if ((g->has_value = dram && !*dram->reason)) {
        g->value = dram->value;
        g->source = dram->source;
    }
    if (intensity >= ridge)
        WHY(g, "compute-bound: %.0f FLOP a byte, and this chip's ridge is %.0f", intensity, ridge);
    else if (bytes <= c->l2_bytes)
        WHY(g, "its %.1f MB fit the %d MB L2 cache: DRAM is not what bounds it", bytes * 1e-6,
            c->l2_bytes >> 20);
    else if (take(g, f->counters, "dram_pct"))
        judge(g, g->value >= 60);
}

void gates_evaluate(const struct gate_facts *f, struct gate out[GATE_COUNT]) {
    static const struct {
        const char *name;
        void (*evaluate)(const struct gate_facts *, struct gate *);
    } gates[GATE_COUNT] = {
        {"tensor", gate_tensor},
        {"conflicts", gate_conflicts},
        {"occupancy", gate_occupancy},
        {"registers", gate_registers},
        {"spills", gate_spills},
        {"shared", gate_shared},
        {"instructions", gate_instructions},
        {"dram", gate_dram},
    };
    for (int i = 0; i < GATE_COUNT; i++) {
        out[i] = (struct gate){.name = gates[i].name, .verdict = GATE_NA};
        gates[i].evaluate(f, &out[i]);
    }
}

const char *gate_out_of_reach(const struct gate_facts *f, const struct gate *g, char out[160]) {
    const struct device_launch *l = device_main_launch(f->plan->launch, f->plan->n_launches);
    const struct counter *places = find(f->counters, "blocks_per_sm");
    const int n_sms = f->chip->n_sms, warps = f->chip->max_warps_per_sm;
    if (g->verdict != GATE_FAIL || !f->plan->n_launches) return NULL;
    const double ctas = (double)l->grid[0] * l->grid[1] * l->grid[2];
    if (!strcmp(g->name, "occupancy")) { /* as many warps as the fullest SM has */
        const double most =
            ceil(ctas / n_sms) * ceil(l->block[0] * l->block[1] * l->block[2] / 32.0);
        if (100 * most / warps >= 25) return NULL;
        snprintf(out, 160, "%.0f CTAs on %d SMs: at most %.0f of %d warps", ctas, n_sms, most,
                 warps);
        return out;
    }
    if (strcmp(g->name, "tensor") || !places || *places->reason) return NULL;
    if (ctas >= n_sms * places->value) return NULL;
    snprintf(out, 160, "%.0f CTAs for the %.0f places of %d SMs", ctas, n_sms * places->value,
             n_sms);
    return out;
}
