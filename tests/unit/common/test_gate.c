/* Gates: each can pass, fail and be n/a, and says why. */
#include "tests/test.h"

#include "common/harness/gate.h"

#include <stdio.h>
#include <string.h>

static struct counter counter[8];
static struct counters counters = {.counter = counter};
static struct stage tested;
static struct stage_plan plan;
static struct device_kernel_info kernel[STAGE_MAX_LAUNCHES];
static struct attention problem;
static struct gate gate[GATE_COUNT];
static struct chip own_chip;
static const struct chip *chip;

static double formula(const struct attention *a, const struct chip *chip) {
    (void)a, (void)chip;
    return 4096;
}

static int set_up(void **state) {
    (void)state;
    counters.n = 0;
    chip = chip_find("h200");
    tested = (struct stage){
        .max_registers = 128, .tensor_family = "HMMA", .tensor_instructions = formula};
    plan = (struct stage_plan){.n_launches = 1, .launch[0].shared_bytes = 40000};
    kernel[0] = (struct device_kernel_info){.n_registers = 100};
    problem = attention_default();
    attention_complete(&problem);
    return 0;
}

static void count(const char *name, double value, const char *reason) {
    struct counter *c = &counter[counters.n++];
    *c = (struct counter){.value = value, .source = SOURCE_EMULATOR};
    snprintf(c->name, sizeof c->name, "%s", name);
    snprintf(c->reason, sizeof c->reason, "%s", reason);
}

static const struct gate *verdict(const char *name) {
    gates_evaluate(&(struct gate_facts){&tested, &problem, chip, &plan, kernel, &counters}, gate);
    for (int i = 0; i < GATE_COUNT; i++)
        if (!strcmp(gate[i].name, name)) return &gate[i];
    fail_msg("no gate %s", name);
    return NULL;
}

/* A gate on one counter: passes at `good`, fails at
 * `bad`, n/a without it or with a reason in its place. */
static void on_counter(const char *name, const char *of, double good, double bad) {
    counters.n = 0;
    assert_int_equal(verdict(name)->verdict, GATE_NA);
    assert_non_null(strstr(verdict(name)->why, of));
    count(of, good, "");
    assert_int_equal(verdict(name)->verdict, GATE_PASS);
    counters.n = 0;
    count(of, bad, "");
    assert_int_equal(verdict(name)->verdict, GATE_FAIL);
    assert_true(verdict(name)->has_value);
    counters.n = 0;
    count(of, good, "counters are locked");
    assert_int_equal(verdict(name)->verdict, GATE_NA);
    assert_non_null(strstr(verdict(name)->why, "counters are locked"));
}

static void counter_gates_have_three_verdicts(void **state) {
    (void)state;
    on_counter("tensor", "tensor_active_pct", 40, 39.9);
    on_counter("conflicts", "bank_conflict_pct", 4.9, 5);
    on_counter("instructions", "tensor_instructions", 4096, 4095);
}

static void work_done_again_is_allowed_for(void **state) {
    (void)state;
    on_counter("instructions", "tensor_instructions", 4096, 4097);
    counters.n = 0;
    tested.tensor_redone = 0.5;
    on_counter("instructions", "tensor_instructions", 6144, 6145);
    counters.n = 0;
    on_counter("instructions", "tensor_instructions", 4096, 4095);
    assert_string_equal(verdict("instructions")->limit, "4096 to 6144");
}

static void occupancy_prefers_what_was_measured(void **state) {
    (void)state;
    count("occupancy_theoretical_pct", 30, "");
    assert_int_equal(verdict("occupancy")->verdict, GATE_PASS);
    count("occupancy_achieved_pct", 20, "");
    assert_int_equal(verdict("occupancy")->verdict, GATE_FAIL);
    tested.tensor_family = "HGMMA";
    assert_int_equal(verdict("occupancy")->verdict, GATE_NA);
    assert_non_null(strstr(verdict("occupancy")->why, "asynchronous"));
}

static void a_scalar_stage_has_no_tensor_gate(void **state) {
    (void)state;
    tested.tensor_family = NULL;
    tested.tensor_instructions = NULL;
    count("tensor_active_pct", 0, "");
    count("tensor_instructions", 0, "");
    assert_int_equal(verdict("tensor")->verdict, GATE_NA);
    assert_int_equal(verdict("instructions")->verdict, GATE_PASS); /* none, as it says */
}

static void compiler_figures_are_judged(void **state) {
    (void)state;
    assert_int_equal(verdict("registers")->verdict, GATE_PASS);
    assert_int_equal(verdict("spills")->verdict, GATE_PASS);
    kernel[0].n_registers = 129;
    kernel[0].local_bytes = 8;
    assert_int_equal(verdict("registers")->verdict, GATE_FAIL);
    assert_int_equal(verdict("spills")->verdict, GATE_FAIL);
    kernel[0].n_registers = -1;
    assert_int_equal(verdict("registers")->verdict, GATE_NA);
    assert_int_equal(verdict("spills")->verdict, GATE_NA);
}

static void another_kernel_is_not_judged_by_the_stages_numbers(void **state) {
    (void)state;
    kernel[0].n_registers = 129;
    count("tensor_instructions", 4095, "");
    assert_int_equal(verdict("registers")->verdict, GATE_FAIL);
    assert_int_equal(verdict("instructions")->verdict, GATE_FAIL);
    plan.is_other_kernel = true;
    assert_int_equal(verdict("registers")->verdict, GATE_NA);
    assert_int_equal(verdict("instructions")->verdict, GATE_NA);
    assert_int_equal(verdict("spills")->verdict, GATE_PASS);
}

static void the_worst_launch_counts(void **state) {
    (void)state;
    plan.n_launches = 2;
    kernel[1] = (struct device_kernel_info){.n_registers = 200};
    assert_int_equal(verdict("registers")->verdict, GATE_FAIL);
    assert_float_equal(verdict("registers")->value, 200, 0);
    kernel[1].static_shared = 300000;
    assert_int_equal(verdict("shared")->verdict, GATE_FAIL);
}

static void dram_is_asked_only_where_it_bounds(void **state) {
    (void)state;
    problem.seqlen_q = problem.seqlen_k = 4096;
    problem.q_stride = problem.k_stride = problem.v_stride = problem.o_stride =
        (struct tensor_stride){0};
    attention_complete(&problem);
    count("dram_pct", 3, "");
    assert_int_equal(verdict("dram")->verdict, GATE_NA);
    assert_non_null(strstr(verdict("dram")->why, "compute-bound"));
    /* one query against many keys: 1 FLOP a byte, 268 MB */
    problem = (struct attention){
        .batch = 8, .heads = 8, .kv_heads = 8, .seqlen_q = 1, .seqlen_k = 16384, .head_dim = 64};
    attention_complete(&problem);
    assert_int_equal(verdict("dram")->verdict, GATE_FAIL);
    counters.n = 0;
    count("dram_pct", 61, "");
    assert_int_equal(verdict("dram")->verdict, GATE_PASS);
    problem.seqlen_k = 512; /* 8 MB */
    problem.k_stride = problem.v_stride = (struct tensor_stride){0};
    attention_complete(&problem);
    assert_int_equal(verdict("dram")->verdict, GATE_NA);
    assert_non_null(strstr(verdict("dram")->why, "L2"));
}

/* All of a gate in one line: "VERDICT value source (limit) why", "-" where it has no value. */
static const char *whole(const char *name) {
    static char text[512];
    const struct gate *g = verdict(name);
    char value[32] = "-";
    if (g->has_value)
        snprintf(value, sizeof value, "%g %s", g->value, counter_source_name(g->source));
    snprintf(text, sizeof text, "%s %s (%s) %s", gate_verdict_name(g->verdict), value, g->limit,
             g->why);
    return text;
}
#define assert_gate(name, text) assert_string_equal(whole(name), text)

static void each_says_value_source_limit_and_reason(void **state) {
    (void)state;
    plan.n_launches = 2;
    plan.launch[1].shared_bytes = 30000;
    kernel[1] = (struct device_kernel_info){.n_registers = 90, .static_shared = 20000};
    kernel[0].local_bytes = kernel[1].local_bytes = 8;
    count("tensor_active_pct", 40, "");
    count("bank_conflict_pct", 5, "");
    count("occupancy_theoretical_pct", 25, "");
    count("tensor_instructions", 4096, "");
    assert_gate("tensor", "PASS 40 emulator (>= 40 %) tensor_active_pct");
    assert_gate("conflicts", "FAIL 5 emulator (< 5 %) bank_conflict_pct");
    assert_gate("occupancy", "PASS 25 emulator (>= 25 %) occupancy_theoretical_pct");
    assert_gate("registers", "PASS 100 ptxas (<= 128) registers of a thread");
    assert_gate("spills", "FAIL 16 ptxas (0) bytes of local memory of a thread");
    assert_gate("shared", "PASS 50000 ptxas (<= 232448) bytes of shared memory of a block");
    assert_gate("instructions", "PASS 4096 emulator (= 4096) tensor_instructions");
    kernel[0].n_registers = 128;
    kernel[0].static_shared = 192448;
    assert_gate("registers", "PASS 128 ptxas (<= 128) registers of a thread");
    assert_gate("shared", "PASS 232448 ptxas (<= 232448) bytes of shared memory of a block");
    kernel[0].n_registers = kernel[1].n_registers = 1;
    assert_gate("registers", "PASS 1 ptxas (<= 128) registers of a thread");
    assert_gate("spills", "FAIL 16 ptxas (0) bytes of local memory of a thread");
    kernel[0].n_registers = 0;
    assert_gate("spills",
                "n/a - (0) PTX does not spill; the cubin's spills are in build/images/*.ptxas");
    kernel[1].n_registers = 0;
    assert_gate("registers", "n/a - (<= 128) PTX has no registers of its own; the cubin's are in "
                             "build/images/*.ptxas");
    plan.is_other_kernel = true;
    assert_gate("registers", "n/a - (<= 128) the limit is not about this image");
    assert_gate("instructions", "n/a - (= formula) the formula is not about this image");
    plan.is_other_kernel = false;
    tested.tensor_instructions = NULL;
    assert_gate("instructions", "n/a - (= formula) this stage states no formula");
    tested.tensor_family = NULL;
    assert_gate("tensor", "n/a - (>= 40 %) this stage issues no tensor instructions");
    plan.n_launches = 0;
    assert_gate("registers", "n/a - (<= 128) nothing to launch");
    assert_gate("spills", "n/a - (0) nothing to launch");
    assert_gate("shared", "n/a - (<= 232448) nothing to launch");
    assert_gate("instructions", "n/a - (= formula) nothing to launch");
}

/* 17408 rows and columns of 8: 4 * 17408^2 * 8 FLOP over 68 * 17408 = 1183744 bytes are 8192 a
 * byte. A chip whose ridge for mma.sync is that: 2048 * 20 * 1 GHz over 5 GB/s. */
static void dram_at_the_ridge(void **state) {
    (void)state;
    own_chip = *chip_find("h200");
    own_chip.n_sms = 20;
    own_chip.clock_mhz = 1000;
    own_chip.fp32_fma_per_clk = 128;
    own_chip.mma_flop_per_clk = 2048;
    own_chip.tensor_flop_per_clk = 4096;
    own_chip.dram_gb_per_s = 5;
    own_chip.l2_bytes = 1183744;
    chip = &own_chip;
    problem = (struct attention){
        .batch = 1, .heads = 1, .kv_heads = 1, .seqlen_q = 17408, .seqlen_k = 17408, .head_dim = 8};
    attention_complete(&problem);
    count("dram_pct", 60, "");
    assert_gate("dram",
                "n/a 60 emulator (>= 60 %) compute-bound: 8192 FLOP a byte, and this chip's "
                "ridge is 8192");
    tested.tensor_family = "HGMMA";
    assert_gate("dram",
                "n/a 60 emulator (>= 60 %) its 1.2 MB fit the 1 MB L2 cache: DRAM is not what "
                "bounds it");
    own_chip.l2_bytes--;
    assert_gate("dram", "PASS 60 emulator (>= 60 %) dram_pct");
    own_chip.l2_bytes = 1 << 20;
    tested.tensor_family = NULL;
    assert_gate("dram",
                "n/a 60 emulator (>= 60 %) compute-bound: 8192 FLOP a byte, and this chip's "
                "ridge is 1024");
    counter[0].value = 59;
    tested.tensor_family = "HGMMA";
    assert_gate("dram", "FAIL 59 emulator (>= 60 %) dram_pct");
    counters.n = 0;
    assert_gate("dram", "n/a - (>= 60 %) no dram_pct: its counter group was not collected");
    count("dram_pct", 0, "counters are locked");
    tested.tensor_family = "HMMA";
    assert_gate("dram", "n/a - (>= 60 %) compute-bound: 8192 FLOP a byte, and this chip's ridge is "
                        "8192");
}

#define GATE_TEST(f) cmocka_unit_test_setup(f, set_up)

int main(void) {
    const struct CMUnitTest tests[] = {
        GATE_TEST(counter_gates_have_three_verdicts),
        GATE_TEST(work_done_again_is_allowed_for),
        GATE_TEST(occupancy_prefers_what_was_measured),
        GATE_TEST(a_scalar_stage_has_no_tensor_gate),
        GATE_TEST(compiler_figures_are_judged),
        GATE_TEST(another_kernel_is_not_judged_by_the_stages_numbers),
        GATE_TEST(the_worst_launch_counts),
        GATE_TEST(dram_is_asked_only_where_it_bounds),
        GATE_TEST(each_says_value_source_limit_and_reason),
        GATE_TEST(dram_at_the_ridge),
    };
    return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
