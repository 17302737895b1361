/* Gates: each can pass, fail and be n/a, and says why. */
#include "test.h"

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

static double formula(const struct attention *a, const struct chip *chip) {
    (void)a, (void)chip;
    return 4096;
}

static int set_up(void **state) {
    (void)state;
    counters.n = 0;
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
    *c = (struct counter){.value = value, .source = SOURCE_CUPTI};
    snprintf(c->name, sizeof c->name, "%s", name);
    snprintf(c->reason, sizeof c->reason, "%s", reason);
}

static const struct gate *verdict(const char *name) {
    gates_evaluate(
        &(struct gate_facts){&tested, &problem, chip_find("h200"), &plan, kernel, &counters}, gate);
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
    };
    return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
