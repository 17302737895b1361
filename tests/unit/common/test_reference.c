/* The reference against its definition: each row's output, LSE, score error and slack; which rows are drawn; what is
 * not finite; memory. */
#include "tests/test.h"

#include "common/base/reason.h"
#include "common/cuda/half.h"
#include "common/harness/input.h"
#include "common/harness/reference.h"
#include "tests/fake/faulty.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct attention a;
static half *q, *k, *v;

static void begin(int batch, int heads, int kv_heads, int seqlen_q, int seqlen_k, int head_dim,
                  enum mask mask) {
    a = (struct attention){.batch = batch,
                           .heads = heads,
                           .kv_heads = kv_heads,
                           .seqlen_q = seqlen_q,
                           .seqlen_k = seqlen_k,
                           .head_dim = head_dim,
                           .mask = mask};
    assert_fine(attention_complete(&a));
    q = calloc(attention_q_elements(&a) + 1, sizeof *q);
    k = calloc(attention_k_elements(&a) + 1, sizeof *k);
    v = calloc(attention_v_elements(&a) + 1, sizeof *v);
    assert_fine(input_fill("normal", 1, &a, q, k, v));
}

static void end(void) { free(q), free(k), free(v); }

static void close_to(double got, double wanted) {
    if (!(fabs(got - wanted) <= 1e-6 * fabs(wanted) + 1e-12))
        fail_msg("%.9g, not %.9g", got, wanted);
}

/* Row r of the reference, done again one step after the other. */
static void is_defined(const struct reference *r, int64_t n) {
    enum { MOST_KEYS = 512, MOST_DIM = 64 };
    static double p[MOST_KEYS], key[MOST_KEYS][MOST_DIM], value[MOST_KEYS][MOST_DIM];
    const int dim = a.head_dim;
    int64_t bh = r->row[n] / a.seqlen_q, i = r->row[n] % a.seqlen_q, b = bh / a.heads,
            h = bh % a.heads, kv = h / (a.heads / a.kv_heads),
            visible = a.mask == MASK_NONE ? a.seqlen_k : i + a.seqlen_k - a.seqlen_q + 1;
    const half *row = q + ((b * a.heads + h) * a.seqlen_q + i) * dim;
    double max = -INFINITY, sum = 0, longest = 0, squares = 0, o[MOST_DIM] = {0}, slack = 0;
    for (int d = 0; d < dim; d++) squares += pow(half_to_float(row[d]), 2);
    for (int64_t j = 0; j < visible; j++) {
        const int64_t at = ((b * a.kv_heads + kv) * a.seqlen_k + j) * dim;
        double length = 0;
        p[j] = 0;
        for (int d = 0; d < dim; d++) {
            key[j][d] = half_to_float(k[at + d]), value[j][d] = half_to_float(v[at + d]);
            p[j] += (double)a.scale * half_to_float(row[d]) * key[j][d];
            length += key[j][d] * key[j][d];
        }
        max = fmax(max, p[j]), longest = fmax(longest, sqrt(length));
    }
    for (int64_t j = 0; j < visible; j++) sum += exp(p[j] - max);
    const double lse = visible > 0 ? max + log(sum) : -INFINITY,
                 error = reference_score_error(&a, sqrt(squares), longest);
    for (int64_t j = 0; j < visible; j++)
        for (int d = 0; d < dim; d++) o[d] += exp(p[j] - lse) * value[j][d];
    for (int64_t j = 0; j < visible; j++) {
        double far = 0, grow = 2 * error, share = exp(p[j] - lse) * expm1(grow);
        if (grow >= 1) share = fmin(1, exp(p[j] - lse + grow));
        for (int d = 0; d < dim; d++) far += pow(value[j][d] - o[d], 2);
        slack += share * sqrt(far);
    }
    close_to(r->score_error[n], error);
    if (visible > 0)
        close_to(r->lse[n], lse);
    else
        assert_true(r->lse[n] == -INFINITY);
    close_to(r->o_slack[n], error > 1.0 / 16 ? slack : 0);
    for (int d = 0; d < dim; d++) {
        assert_true(fabs(r->o[n * dim + d] - o[d]) < 1e-9);
        assert_true(half_is_finite(r->baseline[n * dim + d]) || squares > 1e9);
    }
}

static void rows_are_as_defined(void **state) {
    static const float q_times[] = {1, 100, 400, 1500, 3000, 20000}, k_times[] = {1, 0.001f};
    (void)state;
    for (int mask = 0; mask < 2; mask++)
        for (int m = 0; m < 2; m++) {
            struct reference r;
            int slacks = 0;
            begin(2, 6, 3, 97, 70, 64, mask ? MASK_CAUSAL_BOTTOM_RIGHT : MASK_NONE);
            for (size_t i = 0; i < attention_q_elements(&a); i++) {
                float x = half_to_float(q[i]) * q_times[i / (97 * 64) % 6];
                q[i] = half_from_float(fminf(fmaxf(x, -60000), 60000));
            }
            for (size_t i = 0; i < attention_k_elements(&a); i++)
                k[i] = half_from_float(half_to_float(k[i]) * k_times[m]);
            for (size_t j = 0; j + 1 < attention_k_elements(&a) / 64;
                 j += 2) /* twins compete, whatever the scores */
                memcpy(k + (j + 1) * 64, k + j * 64, 64 * sizeof *k);
            assert_fine(reference_open(&a, q, k, v, REFERENCE_ALL_ROWS, 1, &r));
            assert_int_equal(r.n_rows, 2 * 6 * 97);
            assert_true(!r.sampled && r.inputs_finite && !r.last_bad_v);
            for (int64_t n = 0; n < r.n_rows; n++) {
                assert_int_equal(r.row[n], n);
                is_defined(&r, n);
                slacks += r.o_slack[n] > 0;
            }
            assert_true(m ? slacks == 0 : slacks > 100);
            reference_close(&r);
            end();
        }
}

static void rows_are_drawn(void **state) {
    (void)state;
    struct reference r, other;
    begin(1, 4, 4, 1000, 1, 8, MASK_NONE);
    assert_fine(reference_open(&a, q, k, v, 9 * 4 * 100, 1, &r));
    assert_int_equal(r.n_rows, 400);
    assert_true(r.sampled);
    assert_fine(reference_open(&a, q, k, v, 9 * 4 * 100, 2, &other));
    assert_memory_not_equal(r.row, other.row, 400 * sizeof *r.row);
    for (int64_t n = 0; n < 400; n++) {
        assert_true(r.row[n] >= n * 10 && r.row[n] < n * 10 + 10);
        if (n / 100 % 2 && n % 100 == 99) assert_int_equal(r.row[n], n * 10 + 9);
        is_defined(&r, n);
    }
    reference_close(&r), reference_close(&other);
    assert_fine(reference_open(&a, q, k, v, 1, 1, &r)); /* never fewer than that */
    assert_int_equal(r.n_rows, REFERENCE_MIN_ROWS);
    reference_close(&r);
    end();
    begin(300, 1, 1, 3, 1, 8, MASK_NONE);
    assert_fine(reference_open(&a, q, k, v, 1, 1, &r)); /* nor fewer than one of each head */
    assert_int_equal(r.n_rows, 300);
    reference_close(&r);
    end();
    for (int none = 0; none < 2; none++) {
        begin(none ? 0 : 1, 1, 1, none ? 5 : 0, 5, 8, MASK_NONE);
        assert_fine(reference_open(&a, q, k, v, 1, 1, &r));
        assert_true(!r.n_rows && !r.row && r.inputs_finite);
        end();
    }
}

static void what_is_not_finite_is_found(void **state) {
    (void)state;
    begin(2, 4, 2, 3, 5, 8, MASK_NONE);
    half *const tensor[] = {q, k, v};
    const int64_t n[] = {(int64_t)attention_q_elements(&a), (int64_t)attention_k_elements(&a),
                         (int64_t)attention_v_elements(&a)};
    for (int t = 0; t < 3; t++)
        for (int64_t i = 0; i < n[t]; i++) {
            struct reference r;
            half kept = tensor[t][i];
            tensor[t][i] = half_from_float(i % 2 ? INFINITY : NAN);
            assert_fine(reference_open(&a, q, k, v, REFERENCE_ALL_ROWS, 1, &r));
            assert_false(r.inputs_finite);
            assert_true(!r.last_bad_v == (t < 2));
            for (int64_t c = 0; t == 2 && c < 2 * 2 * 8; c++)
                assert_int_equal(r.last_bad_v[c], c == i / 40 * 8 + i % 8 ? i / 8 % 5 : -1);
            reference_close(&r);
            tensor[t][i] = kept;
        }
    end();
}

static void nothing_is_kept(void **state) {
    (void)state;
    unsigned long in_use = 0;
    omp_set_num_threads(1);
    begin(2, 2, 2, 200, 70, 64, MASK_NONE);
    for (int round = 0; round < 12; round++) {
        struct reference r;
        v[0] = half_from_float(round % 2 ? NAN : 1); /* find_bad_v() keeps a list, or none */
        q[0] = half_from_float(NAN);
        assert_fine(reference_open(&a, q, k, v, REFERENCE_ALL_ROWS, 1, &r));
        reference_close(&r);
        assert_true(!r.row && !r.n_rows);
        if (round > 4) assert_int_equal(memory_in_use(), in_use);
        in_use = memory_in_use();
    }
    end();
    if (SANITIZED) return; /* it wants all addresses for itself */
    pid_t child = fork();
    if (!child) {
        struct reference r;
        a.batch = 2, a.heads = 2, a.seqlen_q = 2000000;
        setrlimit(RLIMIT_AS, &(struct rlimit){1 << 30, 1 << 30});
        const char *why = reference_open(&a, q, k, v, REFERENCE_ALL_ROWS, 1, &r);
        _exit(!why || !strstr(why, "reference of 8000000 rows; use --no-check") || r.row);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_as_defined),
        cmocka_unit_test(rows_are_drawn),
        cmocka_unit_test(what_is_not_finite_is_found),
        cmocka_unit_test(nothing_is_kept),
    };
    return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
