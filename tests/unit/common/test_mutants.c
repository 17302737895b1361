/* The mutation gate on the CPU model: the honest kernel passes on every input and shape; every
 * mutant that computes something else is rejected on at least one; of those with too few bits, 9 of
 * 10.
 * Thorough: it takes minutes, and make test leaves it out. */
#include "tests/test.h"

#include "flash_model.h"
#include "common/harness/input.h"
#include "trial.h"

/* Ragged tails, tiles of one row, GQA, both alignments, masked rows, gaps in O, many tiles. */
static const struct attention shapes[] = {
    {.batch = 2, .heads = 4, .kv_heads = 2, .seqlen_q = 130, .seqlen_k = 130, .head_dim = 64},
    {.batch = 1,
     .heads = 4,
     .kv_heads = 2,
     .seqlen_q = 100,
     .seqlen_k = 203,
     .head_dim = 64,
     .mask = MASK_CAUSAL_BOTTOM_RIGHT},
    {.batch = 1,
     .heads = 2,
     .kv_heads = 1,
     .seqlen_q = 203,
     .seqlen_k = 100,
     .head_dim = 64,
     .mask = MASK_CAUSAL_BOTTOM_RIGHT},
    {.batch = 1,
     .heads = 2,
     .kv_heads = 2,
     .seqlen_q = 100,
     .seqlen_k = 203,
     .head_dim = 128,
     .mask = MASK_CAUSAL_TOP_LEFT},
    {.batch = 2,
     .heads = 2,
     .kv_heads = 2,
     .seqlen_q = 65,
     .seqlen_k = 65,
     .head_dim = 32,
     .o_stride = {66 * 2 * 40, 40, 2 * 40}},
    {.batch = 1, .heads = 1, .kv_heads = 1, .seqlen_q = 3, .seqlen_k = 1000, .head_dim = 128},
    {.batch = 1, .heads = 1, .kv_heads = 1, .seqlen_q = 64, .seqlen_k = 4096, .head_dim = 64},
    {.batch = 1, .heads = 1, .kv_heads = 1, .seqlen_q = 1, .seqlen_k = 1, .head_dim = 64},
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

static struct trial trials[16 * N_SHAPES];
static int n_trials;

static struct check_result judge(struct trial *t, enum mutant m) {
    half *k = t->k + CHECK_GUARD, first = k[0];
    trial_poison(t);
    for (int run = 0; run < 2; run++)
        flash_model(&t->a, t->q + CHECK_GUARD, k, t->v + CHECK_GUARD, trial_o(t, run),
                    trial_lse(t, run), m, run);
    struct check_result result = trial_judge(t);
    k[0] = first;
    return result;
}

static void the_honest_kernel_passes(void **state) {
    (void)state;
    double worst = 0;
    for (int i = 0; i < n_trials; i++) {
        char text[64];
        struct check_result r = judge(&trials[i], MUTANT_HONEST);
        if (!r.passed)
            fail_msg("%s, %s: %s", trials[i].input,
                     attention_describe(&trials[i].a, text, sizeof text), r.why);
        worst = r.row_error > worst ? r.row_error : worst;
    }
    print_message("# %d problems, worst row %.3g\n", n_trials, worst);
    assert_true(worst < 7e-4);
}

/* The first trial that rejects it, or NULL. */
static struct trial *killer(enum mutant m, struct check_result *r) {
    for (int i = 0; i < n_trials; i++) {
        *r = judge(&trials[i], m);
        if (!r->passed) return &trials[i];
    }
    return NULL;
}

/* Returns how many of the mutants [first, end) survive, and says who killed the others. */
static int survivors(int first, int end) {
    int n = 0;
    for (int m = first; m < end; m++) {
        struct check_result r;
        char text[64];
        struct trial *t = killer(m, &r);
        if (t)
            print_message("# killed: %s (%s, %s: %s)\n", mutant_text(m), t->input,
                          attention_describe(&t->a, text, sizeof text), r.why);
        else
            print_message("# SURVIVES: %s\n", mutant_text(m));
        n += !t;
    }
    return n;
}

static void every_semantic_mutant_is_killed(void **state) {
    (void)state;
    assert_int_equal(survivors(FIRST_SEMANTIC_MUTANT, FIRST_PRECISION_MUTANT), 0);
}

static void nine_of_ten_precision_mutants_are_killed(void **state) {
    (void)state;
    int n = N_MUTANTS - FIRST_PRECISION_MUTANT;
    assert_true(survivors(FIRST_PRECISION_MUTANT, N_MUTANTS) * 10 <= n);
}

static int open_trials(void **state) {
    (void)state;
    for (int shape = 0; shape < N_SHAPES; shape++)
        for (int i = 0; input_name(i); i++)
            trial_open(&trials[n_trials++], &shapes[shape], input_name(i));
    return 0;
}

static int close_trials(void **state) {
    (void)state;
    while (n_trials) trial_close(&trials[--n_trials]);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_honest_kernel_passes),
        cmocka_unit_test(every_semantic_mutant_is_killed),
        cmocka_unit_test(nine_of_ten_precision_mutants_are_killed),
    };
    return cmocka_run_group_tests_name("mutants", tests, open_trials, close_trials);
}
