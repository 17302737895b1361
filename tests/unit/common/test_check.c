/* The checker is tested first: a right answer passes, and each kind of wrong one is rejected for
 * what it is. */
#include "tests/test.h"

#include "common/cuda/half.h"
#include "trial.h"

#include <math.h>
#include <string.h>

static const struct attention plain = {
    .batch = 1, .heads = 4, .kv_heads = 2, .seqlen_q = 70, .seqlen_k = 90, .head_dim = 64};

static struct trial t;

static int open_plain(void **state) {
    (void)state;
    trial_open(&t, &plain, "normal");
    trial_answer(&t);
    return 0;
}

static int close_trial(void **state) {
    (void)state;
    trial_close(&t);
    return 0;
}

static void rejected(const char *why) {
    struct check_result r = trial_judge(&t);
    assert_false(r.passed);
    if (!strstr(r.why, why)) fail_msg("expected '%s', got '%s'", why, r.why);
}

static void accepted(void) {
    struct check_result r = trial_judge(&t);
    if (!r.passed) fail_msg("%s", r.why);
    assert_string_equal(r.why, "");
}

/* Sets one element of O in both runs. */
static void set(size_t element, half value) {
    for (int run = 0; run < 2; run++) trial_o(&t, run)[element] = value;
}

static void a_right_answer_passes(void **state) {
    (void)state;
    struct check_result r = trial_judge(&t);
    assert_string_equal(r.why, "");
    assert_true(r.passed);
    assert_int_equal(r.rows_checked, 4 * 70);
    assert_true(r.row_error > 0 && r.row_error < 5e-4);
    assert_true(r.max_error > 0 && r.max_error < r.max_error_limit);
    assert_true(r.reference_rms > 0.05);
    assert_int_equal(r.non_finite + r.unwritten + r.guard_broken + r.masked_wrong + r.unequal, 0);
}

static void nan_is_rejected(void **state) {
    (void)state;
    set(1234, 0x7fff);
    rejected("1 output elements are NaN or infinite");
}

static void infinity_is_rejected(void **state) {
    (void)state;
    set(4 * 70 * 64 - 1, 0xfc00);
    rejected("NaN or infinite");
}

static void one_wrong_last_element_is_rejected(void **state) {
    (void)state;
    size_t last = 4 * 70 * 64 - 1;
    set(last, half_from_float(half_to_float(trial_o(&t, 0)[last]) + 0.01f));
    rejected("row 69 of head 3, batch 0 has relative error");
}

static void zeros_are_rejected(void **state) {
    (void)state;
    for (int run = 0; run < 2; run++) memset(trial_o(&t, run), 0, 4 * 70 * 64 * sizeof(half));
    rejected("relative error 1,");
}

static void two_rows_swapped_are_rejected(void **state) {
    (void)state;
    half row[64];
    for (int run = 0; run < 2; run++) {
        half *x = trial_o(&t, run) + 5 * 64, *y = trial_o(&t, run) + 6 * 64;
        memcpy(row, x, sizeof row);
        memcpy(x, y, sizeof row);
        memcpy(y, row, sizeof row);
    }
    rejected("relative error");
}

static void an_empty_comparison_is_rejected(void **state) {
    (void)state;
    struct reference full = t.reference;
    t.reference.n_rows = 0;
    rejected("nothing was compared: the reference has no rows");
    t.reference = full;
}

static void a_reference_of_nan_is_rejected(void **state) {
    (void)state;
    for (int64_t i = 0; i < t.reference.n_rows * 64; i++) t.reference.o[i] = NAN;
    rejected("nothing was compared: the reference has no finite row");
}

static void untouched_output_is_rejected(void **state) {
    (void)state;
    trial_poison(&t);
    rejected("were never written");
}

static void one_unwritten_element_is_rejected(void **state) {
    (void)state;
    set(4 * 70 * 64 - 1, CHECK_POISON_HALF);
    rejected("1 output elements were never written");
}

static void an_unwritten_lse_is_rejected(void **state) {
    (void)state;
    check_poison_float(trial_lse(&t, 0) + 279, 1);
    rejected("1 output elements were never written");
}

static void broken_guard_bands_are_rejected(void **state) {
    (void)state;
    const size_t end = 4 * 70 * 64;
    half *o = t.o[0];
    size_t places[] = {0, CHECK_GUARD - 1, CHECK_GUARD + end, 2 * CHECK_GUARD + end - 1};
    for (int i = 0; i < 4; i++) {
        o[places[i]] = 0;
        rejected("1 element outside the output was written");
        o[places[i]] = CHECK_POISON_HALF;
    }
    t.lse[0][CHECK_GUARD - 1] = 0;
    rejected("1 element outside the output was written");
    check_poison_float(&t.lse[0][CHECK_GUARD - 1], 1);
    t.lse[0][CHECK_GUARD + 280] = 0;
    rejected("1 element outside the output was written");
    check_poison_float(&t.lse[0][CHECK_GUARD + 280], 1);
    accepted();
    t.o[1][0] = 0; /* in the second run only */
    rejected("differ in 1 elements");
}

static void a_changed_input_is_rejected(void **state) {
    (void)state;
    half *inputs[] = {t.q, t.k, t.v};
    for (int i = 0; i < 3; i++) {
        inputs[i][CHECK_GUARD + 77] ^= 1;
        rejected("1 of Q, K, V changed");
        inputs[i][CHECK_GUARD + 77] ^= 1;
    }
    t.v[CHECK_GUARD + t.n_v] ^= 1; /* past its end counts too */
    rejected("1 of Q, K, V changed");
}

static void unequal_runs_are_rejected(void **state) {
    (void)state;
    trial_o(&t, 1)[100] ^= 1;
    rejected("differ in 1 elements");
    trial_o(&t, 1)[100] ^= 1;
    trial_lse(&t, 1)[3] = nextafterf(trial_lse(&t, 1)[3], 100);
    rejected("differ in 1 elements");
}

static void a_wrong_lse_is_rejected(void **state) {
    (void)state;
    for (int run = 0; run < 2; run++) trial_lse(&t, run)[279] += 0.002f;
    rejected("LSE of 1 rows is off");
    for (int run = 0; run < 2; run++) trial_lse(&t, run)[279] = NAN;
    rejected("NaN or infinite");
    for (int run = 0; run < 2; run++) trial_lse(&t, run)[279] = -INFINITY;
    rejected("NaN or infinite");
}

/* Point 3: an error in one element, small beside its row. */
static void a_large_single_error_is_rejected(void **state) {
    (void)state;
    trial_close(&t);
    trial_open(&t, &plain, "uniform");
    trial_answer(&t);
    accepted();
    struct check_result r = trial_judge(&t);
    float wrong = half_to_float(trial_o(&t, 0)[500]) + 2 * (float)r.max_error_limit;
    set(500, half_from_float(wrong));
    rejected("max error");
}

/* Of one key the baseline makes no error, for its P is 1. A kernel whose largest P is another number rounds
 * it: here 1 + 2^-11 + 2^-13, to 1 + 2^-10. */
static void answer_one_key(int seqlen_q) {
    struct attention a = plain;
    a.seqlen_q = seqlen_q, a.heads = a.kv_heads = a.seqlen_k = 1;
    trial_close(&t);
    trial_open(&t, &a, "outlier");
    for (int d = 0; d < a.head_dim; d++) t.v[CHECK_GUARD + d] = half_from_float(13 + d / 128.0f);
    trial_again(&t);
    trial_answer(&t);
    for (size_t i = 0; i < (size_t)(seqlen_q * a.head_dim); i++)
        set(i, half_from_double(t.reference.o[i] * (1 + 0x1p-10) / (1 + 0x1p-11 + 0x1p-13)));
}

/* Points 3 and 4 allow that, not more. */
static void a_rounded_p_is_honest(void **state) {
    (void)state;
    answer_one_key(1);
    accepted();
    struct check_result r = trial_judge(&t);
    assert_true(r.max_error > 0 && r.rmse > r.baseline_rmse);
    assert_true(fabs(r.max_error_limit / (0x1p-11 * 2 * (13 + 63 / 128.0)) - 1) < 1e-6);
    double row = 0;
    for (int d = 0; d < 64; d++) row += pow(0x1p-11 * 2 * (13 + d / 128.0), 2);
    assert_true(fabs(r.rmse_limit / sqrt(row / 64) - 1) < 1e-6);
    set(7, (half)(trial_o(&t, 0)[7] + 1));
    rejected("max error");
    answer_one_key(10);
    rejected("RMSE");
}

/* Point 4 applies to outliers only: an RMSE beyond that of the baseline. */
static void rmse_counts_on_outlier_input(void **state) {
    (void)state;
    trial_close(&t);
    trial_open(&t, &plain, "outlier");
    trial_answer(&t);
    accepted();
    for (int64_t i = 0; i < t.reference.n_rows * 64; i++)
        t.reference.baseline[i] = half_from_double(t.reference.o[i]);
    accepted(); /* as good as the baseline is good enough */
    for (size_t i = 0; i < 64; i++) set(i, trial_o(&t, 0)[i] + 1);
    accepted(); /* one row more or less may be luck */
    trial_answer(&t);
    for (size_t i = 0; i < 280 * 64; i += 2) set(i, trial_o(&t, 0)[i] ^ 1);
    rejected("RMSE");
}

/* Gaps between the rows of O are guarded like its ends. */
static void a_broken_gap_is_rejected(void **state) {
    (void)state;
    struct attention a = plain;
    a.o_stride = (struct tensor_stride){70 * 4 * 72, 72, 4 * 72};
    trial_close(&t);
    trial_open(&t, &a, "normal");
    trial_answer(&t);
    accepted();
    set(64, 0); /* the first element behind the first row */
    rejected("1 element outside the output was written");
}

/* Rows that see no key: O exactly 0, LSE exactly -inf. */
static void masked_rows_must_be_exact(void **state) {
    (void)state;
    struct attention a = plain;
    a.mask = MASK_CAUSAL_BOTTOM_RIGHT;
    a.seqlen_k = 60; /* rows 0 to 9 see nothing */
    trial_close(&t);
    trial_open(&t, &a, "normal");
    trial_answer(&t);
    accepted();
    set(9 * 64 + 5, 1); /* 6e-8 is not 0 */
    rejected("fully masked rows are not");
    set(9 * 64 + 5, 0x8000); /* -0 is */
    accepted();
    for (int run = 0; run < 2; run++) trial_lse(&t, run)[9] = -1e30f;
    rejected("fully masked rows are not");
    for (int run = 0; run < 2; run++) trial_lse(&t, run)[9] = NAN;
    rejected("fully masked rows are not");
}

static void no_keys_at_all_means_all_rows_masked(void **state) {
    (void)state;
    struct attention a = plain;
    a.seqlen_k = 0;
    trial_close(&t);
    trial_open(&t, &a, "normal");
    rejected("never written");
    trial_answer(&t);
    accepted();
}

static void an_empty_problem_must_stay_untouched(void **state) {
    (void)state;
    struct attention a = plain;
    a.batch = 0;
    trial_close(&t);
    trial_open(&t, &a, "normal");
    accepted();
    t.o[0][CHECK_GUARD] = 0;
    rejected("outside the output");
}

/* A sampled reference still covers every batch-head, and the whole output is still scanned. */
static void large_problems_are_sampled(void **state) {
    (void)state;
    struct attention a = {
        .batch = 2, .heads = 6, .kv_heads = 2, .seqlen_q = 3000, .seqlen_k = 2500, .head_dim = 64};
    trial_close(&t);
    trial_open(&t, &a, "normal");
    assert_true(t.reference.sampled);
    assert_in_range(t.reference.n_rows, REFERENCE_MIN_ROWS, 5000);
    bool seen[12] = {0}, last = false;
    for (int64_t i = 0; i < t.reference.n_rows; i++) {
        seen[t.reference.row[i] / 3000] = true;
        last |= t.reference.row[i] % 3000 == 2999;
        assert_true(i == 0 || t.reference.row[i] > t.reference.row[i - 1]);
    }
    for (int bh = 0; bh < 12; bh++) assert_true(seen[bh]);
    assert_true(last);
    for (int run = 0; run < 2; run++) {
        memset(trial_o(&t, run), 0, attention_o_elements(&t.a) * sizeof(half));
        memset(trial_lse(&t, run), 0, attention_lse_elements(&t.a) * sizeof(float));
    }
    trial_answer(&t);
    accepted();
    size_t outside = 0; /* a row that was not drawn */
    for (int64_t i = 0; i < t.reference.n_rows && t.reference.row[i] == (int64_t)outside; i++)
        outside++;
    set(outside * 64, CHECK_POISON_HALF);
    rejected("1 output elements were never written");
    set(outside * 64, 0x7fff);
    rejected("1 output elements are NaN");
}

/* The reference itself, against sums written out for one row. */
static void the_reference_is_the_definition(void **state) {
    (void)state;
    struct attention a = plain;
    a.mask = MASK_CAUSAL_TOP_LEFT;
    a.scale = 0.3f;
    trial_close(&t);
    trial_open(&t, &a, "normal");
    const half *q = t.q + CHECK_GUARD, *k = t.k + CHECK_GUARD, *v = t.v + CHECK_GUARD;
    for (int h = 0; h < 4; h++)
        for (int i = 0; i < 70; i += 23) {
            double sum = 0, o[64] = {0}, o_abs[64] = {0}, most = 0;
            for (int j = 0; j <= i; j++) {
                double s = 0;
                for (int d = 0; d < 64; d++)
                    s += (double)half_to_float(q[(h * 70 + i) * 64 + d]) *
                         half_to_float(k[(h / 2 * 90 + j) * 64 + d]);
                double p = exp(0.3f * s);
                sum += p;
                for (int d = 0; d < 64; d++) {
                    o[d] += p * half_to_float(v[(h / 2 * 90 + j) * 64 + d]);
                    o_abs[d] += p * fabs(half_to_float(v[(h / 2 * 90 + j) * 64 + d]));
                }
            }
            assert_true(fabs(t.reference.lse[h * 70 + i] - log(sum)) < 1e-12);
            for (int d = 0; d < 64; d++) {
                assert_true(fabs(t.reference.o[(h * 70 + i) * 64 + d] - o[d] / sum) < 1e-12);
                assert_true(fabs(half_to_float(t.reference.baseline[(h * 70 + i) * 64 + d]) -
                                 o[d] / sum) < 0.02);
                most = fmax(most, 0x1p-11 * (o_abs[d] + fabs(o[d])) / sum);
            }
            assert_true(fabs(t.reference.rounding[h * 70 + i].largest / most - 1) < 1e-3);
        }
}

/* What is reported beside the verdict, from its definition. */
static void the_figures_are_their_definitions(void **state) {
    (void)state;
    double squares = 0, rounding = 0, largest = 0;
    int64_t n = t.reference.n_rows * 64;
    for (int64_t i = 0; i < n; i++) {
        double x = t.reference.o[i];
        float rounded = half_to_float(half_from_double(x));
        float back =
            half_to_float(half_from_float(half_to_float(half_from_float(rounded + 0.3f)) - 0.3f));
        squares += x * x;
        rounding = fmax(rounding, fabs((double)back - rounded));
        t.reference.baseline[i] = half_from_double(x); /* as good as fp16 allows */
        largest = fmax(largest, fabs(half_to_float(t.reference.baseline[i]) - x));
    }
    struct check_result r = trial_judge(&t);
    assert_true(fabs(r.reference_rms - sqrt(squares / (double)n)) < 1e-12);
    assert_true(fabs(r.max_error_limit - 2 * rounding - 2 * largest) < 1e-12);
    assert_true(r.max_error == largest && r.rmse == r.baseline_rmse && r.rmse > 0);
    for (int run = 0; run < 2; run++) trial_lse(&t, run)[279] += 0.002f;
    r = trial_judge(&t);
    assert_true(fabs(r.lse_error - 0.002) < 1e-5);
    assert_int_equal(r.lse_wrong, 1);
    for (int64_t i = 0; i < n; i++) t.reference.o[i] = NAN;
    r = trial_judge(&t);
    assert_true(r.rmse == 0 && r.reference_rms == 0 && r.rows_checked == 0);
}

/* The last element of each output, guard bands included, is compared between the runs. */
/* Several faults of several kinds: each is counted, once and in its own place. */
static void faults_are_counted(void **state) {
    (void)state;
    half *o[2];
    float *lse[2];
    for (int run = 0; run < 2; run++) {
        o[run] = trial_o(&t, run), lse[run] = trial_lse(&t, run);
        o[run][3 * 64] = o[run][3 * 64 + 1] = 0x7fff;
        o[run][4 * 64 + 5] = 0x7c00;
        lse[run][5] = NAN; /* 4 are not finite */
        o[run][3 * 64 + 2] = o[run][6 * 64] = o[run][8 * 64] = o[run][8 * 64 + 1] =
            CHECK_POISON_HALF;
        check_poison_float(lse[run] + 6, 2); /* 6 were never written */
    }
    for (int i = 0; i < 3; i++) t.o[0][i] = 0;
    for (int i = 0; i < 2; i++) t.lse[0][i] = t.lse[0][CHECK_GUARD + 280 + i] = 0;
    t.q[CHECK_GUARD] ^= 1, t.k[CHECK_GUARD] ^= 1;
    struct check_result r = trial_judge(&t);
    assert_int_equal(r.non_finite, 4);
    assert_int_equal(r.unwritten, 6);
    assert_int_equal(r.guard_broken, 3 + 2 + 2);
    assert_int_equal(r.inputs_changed, 2);
    assert_int_equal(r.unequal, 3 + 4);
    assert_int_equal(r.masked_wrong, 0);
    assert_false(r.rmse_counts);
}

static void faults_of_masked_rows_are_counted(void **state) {
    (void)state;
    struct attention a = plain;
    a.mask = MASK_CAUSAL_BOTTOM_RIGHT;
    a.seqlen_k = 60;
    trial_close(&t);
    trial_open(&t, &a, "normal");
    trial_answer(&t);
    for (int i = 0; i < 3; i++) set(9 * 64 + i, 1);
    for (int run = 0; run < 2; run++) trial_lse(&t, run)[9] = trial_lse(&t, run)[8] = 0;
    struct check_result r = trial_judge(&t);
    assert_int_equal(r.masked_wrong, 3 + 2);
    assert_int_equal(r.non_finite, 0);
}

/* The answer is that of the first run; a row whose reference is not finite is not compared. */
static void what_is_compared(void **state) {
    (void)state;
    half kept = trial_o(&t, 1)[7];
    trial_o(&t, 1)[7] = half_from_float(1);
    rejected("two runs of one problem differ in 1 elements");
    trial_o(&t, 1)[7] = kept;
    t.lse[1][0] = 0; /* the first word of all */
    rejected("differ in 1 elements");
    check_poison_float(&t.lse[1][0], 1);
    t.reference.lse[0] = trial_lse(&t, 0)[0]; /* to the last bit */
    accepted();
    t.reference.o[0] = NAN;
    assert_int_equal(trial_judge(&t).rows_checked, 4 * 70 - 1);
}

static void a_problem_of_one_row_is_checked(void **state) {
    (void)state;
    const struct attention one = {
        .batch = 1, .heads = 1, .kv_heads = 1, .seqlen_q = 1, .seqlen_k = 4, .head_dim = 64};
    trial_close(&t);
    trial_open(&t, &one, "normal");
    rejected("65 output elements were never written");
    trial_answer(&t);
    accepted();
    const double kept = t.reference.o[0];
    t.reference.o[0] = NAN;
    rejected("no finite row");
    t.reference.o[0] = kept;
    struct reference full = t.reference;
    t.reference.n_rows = 0;
    rejected("the reference has no rows");
    t.reference = full;
}

static void runs_are_compared_to_the_end(void **state) {
    (void)state;
    half *o = t.o[1] + 2 * CHECK_GUARD + 4 * 70 * 64 - 1, kept = *o;
    *o = 0;
    rejected("differ in 1 elements");
    *o = kept;
    t.lse[1][2 * CHECK_GUARD + 4 * 70 - 1] = 0;
    rejected("differ in 1 elements");
}

static void hashes_tell_buffers_apart(void **state) {
    (void)state;
    unsigned char x[100] = {0};
    uint64_t hash = check_hash(x, 100);
    assert_true(check_hash(x, 99) != hash && check_hash(x, 0) != hash);
    for (int i = 0; i < 100; i++)
        for (int bit = 0; bit < 8; bit++) {
            x[i] ^= 1 << bit;
            assert_true(check_hash(x, 100) != hash);
            x[i] ^= 1 << bit;
        }
    assert_true(check_hash(x, 100) == hash);
    for (int i = 0; i < 100; i++) x[i] = (unsigned char)(7 * i); /* the same everywhere */
    assert_true(check_hash(x, 100) == 0x406415fd020cc073u);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_plain, close_trial)

/* Of bf16, the answer rounded once passes; the limits are eight times those of fp16. */
static void bf16_has_limits_of_its_own(void **state) {
    (void)state;
    struct attention a = plain;
    a.dtype = DTYPE_BF16;
    trial_open(&t, &a, "normal");
    trial_answer(&t);
    struct check_result r = trial_judge(&t);
    assert_string_equal(r.why, "");
    assert_true(r.row_error > 1e-3 && r.row_error < 4e-3); /* more than fp16 may be off by */
    assert_true(fabs(r.row_error_limit - 8e-3) < 1e-12);
    assert_true(fabs(r.lse_error_limit - 8e-3) < 1e-12);
    for (int run = 0; run < 2; run++) trial_lse(&t, run)[5] += 7e-3f;
    accepted();
    for (int run = 0; run < 2; run++) trial_lse(&t, run)[5] += 2e-3f;
    rejected("LSE of 1 rows");
    trial_answer(&t);
    set(70, (half)(trial_o(&t, 0)[70] ^ 0x40)); /* the highest bit of the mantissa */
    rejected("relative error");
    trial_answer(&t);
    set(70, 0x7f80);
    rejected("NaN or infinite");
    trial_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_right_answer_passes),
        TEST(nan_is_rejected),
        TEST(infinity_is_rejected),
        TEST(one_wrong_last_element_is_rejected),
        TEST(zeros_are_rejected),
        TEST(two_rows_swapped_are_rejected),
        TEST(an_empty_comparison_is_rejected),
        TEST(a_reference_of_nan_is_rejected),
        TEST(untouched_output_is_rejected),
        TEST(one_unwritten_element_is_rejected),
        TEST(an_unwritten_lse_is_rejected),
        TEST(broken_guard_bands_are_rejected),
        TEST(a_changed_input_is_rejected),
        TEST(unequal_runs_are_rejected),
        TEST(a_wrong_lse_is_rejected),
        TEST(a_large_single_error_is_rejected),
        TEST(a_rounded_p_is_honest),
        TEST(rmse_counts_on_outlier_input),
        TEST(a_broken_gap_is_rejected),
        TEST(masked_rows_must_be_exact),
        TEST(no_keys_at_all_means_all_rows_masked),
        TEST(an_empty_problem_must_stay_untouched),
        TEST(large_problems_are_sampled),
        TEST(the_reference_is_the_definition),
        TEST(the_figures_are_their_definitions),
        TEST(runs_are_compared_to_the_end),
        TEST(faults_are_counted),
        TEST(faults_of_masked_rows_are_counted),
        TEST(what_is_compared),
        TEST(a_problem_of_one_row_is_checked),
        cmocka_unit_test(bf16_has_limits_of_its_own),
        cmocka_unit_test(hashes_tell_buffers_apart),
    };
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
