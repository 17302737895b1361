/* The pass rule at the edges of fp16 and fp32: where its limits come from, an honest kernel passes at
 * all of them, and what is wrong there is still rejected. */
#include "tests/test.h"

#include "common/cuda/half.h"
#include "flash_model.h"
#include "trial.h"

#include <math.h>
#include <string.h>

static const struct attention small = {
    .batch = 1, .heads = 2, .kv_heads = 1, .seqlen_q = 70, .seqlen_k = 90, .head_dim = 64};
static struct trial t;

static void start(const struct attention *a, const char *input) { trial_open(&t, a, input); }

static int stop(void **state) {
    (void)state;
    trial_close(&t);
    return 0;
}

static void answer(enum mutant m) {
    trial_poison(&t);
    for (int run = 0; run < 2; run++)
        flash_model(&t.a, t.q + CHECK_GUARD, t.k + CHECK_GUARD, t.v + CHECK_GUARD, trial_o(&t, run),
                    trial_lse(&t, run), m, run);
}

static void accepted(void) {
    struct check_result r = trial_judge(&t);
    if (!r.passed) fail_msg("scale %g: %s", t.a.scale, r.why);
}

static void rejected(const char *why) {
    struct check_result r = trial_judge(&t);
    if (r.passed || !strstr(r.why, why)) fail_msg("expected '%s', got '%s'", why, r.why);
}

static void set_lse(int64_t row, double value) {
    for (int run = 0; run < 2; run++) trial_lse(&t, run)[row] = (float)value;
}

static void set_o(size_t element, half value) {
    for (int run = 0; run < 2; run++) trial_o(&t, run)[element] = value;
}

static void an_lse_is_within_a_thousandth(void **state) {
    (void)state;
    start(&small, "normal");
    trial_answer(&t);
    double lse = t.reference.lse[7];
    set_lse(7, lse + 0.9e-3);
    accepted();
    set_lse(7, lse - 1.1e-3);
    rejected("LSE of 1 rows is off");
    set_lse(7, lse + 1.1e-3);
    rejected("LSE of 1 rows is off");
}

/* Beyond 1000 fp32 itself has not a thousandth: 8 half steps, 2^-24 each. */
static void a_large_lse_is_within_eight_steps(void **state) {
    (void)state;
    struct attention a = small;
    start(&a, "normal");
    t.reference.lse[3] = 0x1p20; /* the score error of these inputs is below a thousandth */
    assert_true(t.reference.score_error[3] < 1e-3);
    trial_answer(&t);
    set_lse(3, 0x1p20 + 0.5);
    accepted();
    set_lse(3, 0x1p20 + 0.625);
    rejected("LSE of 1 rows is off");
    set_lse(3, 0x1p20 - 0.625);
    rejected("LSE of 1 rows is off");
}

/* Below fp16's normal range its steps no longer shrink: rows are measured against that range. */
static void tiny_rows_are_measured_in_steps(void **state) {
    (void)state;
    start(&small, "constant");
    half *v = t.v + CHECK_GUARD;
    for (size_t i = 0; i < t.n_v; i++) v[i] = 4; /* 2.4e-7 */
    trial_again(&t);
    trial_answer(&t);
    accepted();
    for (int d = 0; d < 64; d++) set_o(5 * 64 + (size_t)d, 5);
    accepted(); /* 6e-8 of 6.1e-5 */
    for (int d = 0; d < 64; d++) set_o(5 * 64 + (size_t)d, 6);
    rejected("relative error");
}

/* |score error| <= (DIM + 8) 2^-24 scale ||q|| ||k||, written out for one row. */
static void the_error_of_a_score_is_its_bound(void **state) {
    (void)state;
    struct attention a = small;
    a.mask = MASK_CAUSAL_TOP_LEFT;
    start(&a, "normal");
    const half *q = t.q + CHECK_GUARD, *k = t.k + CHECK_GUARD;
    for (int row = 0; row < 70; row += 23) {
        double q2 = 0, longest = 0;
        for (int d = 0; d < 64; d++) q2 += pow(half_to_float(q[row * 64 + d]), 2);
        for (int j = 0; j <= row; j++) {
            double k2 = 0;
            for (int d = 0; d < 64; d++) k2 += pow(half_to_float(k[j * 64 + d]), 2);
            longest = fmax(longest, sqrt(k2));
        }
        double bound = 72 * 0x1p-24 * 0.125 * sqrt(q2) * longest;
        assert_true(fabs(t.reference.score_error[row] - bound) < 1e-12);
        assert_true(t.reference.o_slack[row] == 0);
    }
}

static void honest_kernels_pass_at_every_scale(void **state) {
    (void)state;
    for (int dim = 64; dim <= 128; dim *= 2)
        for (double scale = 1e-6; scale < 2e9; scale *= 1000)
            for (int mask = 0; mask < 2; mask++) {
                struct attention a = small;
                a.head_dim = dim;
                a.scale = (float)scale;
                a.mask = mask ? MASK_CAUSAL_BOTTOM_RIGHT : MASK_NONE;
                start(&a, "normal");
                answer(MUTANT_HONEST);
                accepted();
                answer(MUTANT_SKIP_FIRST_TILE);
                assert_false(trial_judge(&t).passed);
                answer(MUTANT_COLUMNS_SWAPPED);
                assert_false(trial_judge(&t).passed);
                trial_close(&t);
            }
    start(&small, "normal");
}

/* Scores that are equal in exact arithmetic and differ in fp32 by thousands. */
static void the_largest_values_of_either_sign(void **state) {
    (void)state;
    for (int dim = 64; dim <= 128; dim *= 2) {
        struct attention a = small;
        a.head_dim = dim;
        start(&a, "normal");
        for (size_t i = 0; i < t.n_q; i++)
            t.q[CHECK_GUARD + i] = (half)(0x7bff | (t.q[CHECK_GUARD + i] & 0x8000));
        for (size_t i = 0; i < t.n_k; i++)
            t.k[CHECK_GUARD + i] = (half)(0x7bff | (t.k[CHECK_GUARD + i] & 0x8000));
        trial_again(&t);
        answer(MUTANT_HONEST);
        accepted();
        answer(MUTANT_COLUMNS_SWAPPED);
        assert_false(trial_judge(&t).passed);
        trial_close(&t);
    }
    start(&small, "normal");
}

/* 0 * infinity is NaN in its own column, in rows that do not see it; nothing else may be. */
static void a_hidden_infinity_costs_its_column(void **state) {
    (void)state;
    enum { BAD_KEY = 60, BAD_COLUMN = 5, SEES = 50, HEAD = 70 };
    const half bad[] = {0x7c00, 0xfc00, 0x7e00};
    struct attention a = small;
    a.mask = MASK_CAUSAL_TOP_LEFT;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        start(&a, "normal");
        t.v[CHECK_GUARD + BAD_KEY * 64 + BAD_COLUMN] = bad[i];
        trial_again(&t);
        trial_answer(&t);
        accepted();
        set_o(SEES * 64 + BAD_COLUMN, 0x7e00); /* before the key */
        set_o((HEAD + SEES) * 64 + BAD_COLUMN, 0x7e00);
        accepted();
        set_o(SEES * 64 + BAD_COLUMN, 0x3c00); /* a number is judged */
        rejected("relative error");
        trial_answer(&t);
        set_o(SEES * 64 + BAD_COLUMN + 1, 0x7e00); /* another column */
        rejected("relative error inf");
        trial_close(&t);
    }
    start(&a, "normal");
    trial_answer(&t);
    set_o(SEES * 64 + BAD_COLUMN, 0x7e00); /* and nothing was hidden */
    rejected("NaN");
}

/* It costs the heads that its KV head serves, up to the row before its key, and no others. */
static void a_hidden_infinity_costs_its_heads(void **state) {
    (void)state;
    enum { BAD_KEY = 60, BAD_COLUMN = 5, ROWS = 70 };
    struct attention a = {.batch = 2,
                          .heads = 4,
                          .kv_heads = 2,
                          .seqlen_q = ROWS,
                          .seqlen_k = ROWS,
                          .head_dim = 64,
                          .mask = MASK_CAUSAL_TOP_LEFT};
    start(&a, "normal");
    t.v[CHECK_GUARD + ((size_t)(1 * 2 + 1) * ROWS + BAD_KEY) * 64 + BAD_COLUMN] = 0x7c00;
    trial_again(&t);
    for (int bh = 0; bh < 8; bh++)
        for (int row = 0; row < BAD_KEY; row += BAD_KEY - 1) {
            trial_answer(&t);
            set_o(((size_t)bh * ROWS + (size_t)row) * 64 + BAD_COLUMN, 0x7e00);
            if (bh >= 6)
                accepted();
            else
                rejected("relative error inf");
        }
}

/* A row that sees nothing is 0, but for that column; its LSE is -inf all the same. */
static void a_hidden_infinity_in_a_masked_row(void **state) {
    (void)state;
    enum { BAD_KEY = 3, BAD_COLUMN = 5, MASKED = 19 };
    struct attention a = small;
    a.seqlen_q = 40, a.seqlen_k = 20,
    a.mask = MASK_CAUSAL_BOTTOM_RIGHT; /* rows 0 to 19 see nothing */
    start(&a, "normal");
    t.v[CHECK_GUARD + BAD_KEY * 64 + BAD_COLUMN] = 0x7c00;
    trial_again(&t);
    trial_answer(&t);
    accepted();
    set_o(MASKED * 64 + BAD_COLUMN, 0x7e00);
    accepted();
    set_o(MASKED * 64 + BAD_COLUMN, 0x7c00); /* an infinity is a number */
    rejected("fully masked rows");
    trial_answer(&t);
    set_o(MASKED * 64 + BAD_COLUMN + 1, 0x7e00);
    rejected("fully masked rows");
    trial_answer(&t);
    set_lse(MASKED, NAN);
    rejected("fully masked rows");
}

/* A row that rounding settles: off by as much as that can be, in points 2 to 4, and no more. */
static void competing_keys_have_their_slack(void **state) {
    (void)state;
    start(&small, "normal");
    trial_answer(&t);
    t.reference.o_slack[9] = 1;
    set_o(9 * 64, half_from_double(t.reference.o[9 * 64] + 0.99));
    accepted();
    set_o(9 * 64, half_from_double(t.reference.o[9 * 64] + 1.05));
    rejected("row 9 of head 0");
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_lse_is_within_a_thousandth),      TEST(a_large_lse_is_within_eight_steps),
        TEST(tiny_rows_are_measured_in_steps),    TEST(the_error_of_a_score_is_its_bound),
        TEST(honest_kernels_pass_at_every_scale), TEST(the_largest_values_of_either_sign),
        TEST(a_hidden_infinity_costs_its_column), TEST(a_hidden_infinity_costs_its_heads),
        TEST(a_hidden_infinity_in_a_masked_row),  TEST(competing_keys_have_their_slack),
    };
    return cmocka_run_group_tests_name("extremes", tests, NULL, NULL);
}
