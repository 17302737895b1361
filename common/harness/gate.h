/* Gates: what a kernel must reach to count as well made. They are statements about counters and
 * compiler figures, so a gate whose value cannot be had, or that asks the wrong question of
 * this kernel, is n/a.
 *
 *   tensor        tensor_active_pct >= 40 %
 *   conflicts     bank_conflict_pct < 5 % of shared wavefronts
 *   occupancy     occupancy >= 25 %; n/a for WGMMA, where few warps keep the tensor pipe full
 *   registers     a thread's, at most what the stage states
 *   spills        local memory of a thread: 0 bytes
 *   shared        a block's, at most what the chip gives one
 *   instructions  tensor instructions executed = the stage's formula
 *   dram          dram_pct >= 60 % of a kernel that DRAM bounds; n/a for others, and why */
#pragma once

#include "profiler/counters.h"
#include "stage.h"

enum gate_verdict { GATE_PASS, GATE_FAIL, GATE_NA };
enum { GATE_COUNT = 8 };

struct gate {
    const char *name;
    enum gate_verdict verdict;
    bool has_value;
    double value;
    enum counter_source source;
    char limit[32];
    char why[208]; /* for n/a: the reason; else what the value is */
};

/* What gates are judged by. */
struct gate_facts {
    const struct stage *stage;
    const struct attention *problem;
    const struct chip *chip;
    const struct stage_plan *plan;
    const struct device_kernel_info *kernel; /* (plan->n_launches) */
    const struct counters *counters;
};

/* All gates, in the order above. */
void gates_evaluate(const struct gate_facts *f, struct gate out[GATE_COUNT]);
const char *gate_verdict_name(enum gate_verdict v); /* "PASS", "FAIL", "n/a" */
/* A gate that fails because this problem is too small for it, whatever the kernel: why, in `out`. NULL:
 * it is not so. */
const char *gate_out_of_reach(const struct gate_facts *f, const struct gate *g, char out[160]);
