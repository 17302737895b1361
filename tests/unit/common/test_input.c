/* The made inputs: the same bits everywhere, and each what it promises. */
#include "tests/test.h"

#include "common/harness/check.h"
#include "common/cuda/half.h"
#include "common/harness/input.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static struct attention small(void) {
    struct attention a = {
        .batch = 2, .heads = 4, .kv_heads = 2, .seqlen_q = 37, .seqlen_k = 70, .head_dim = 64};
    attention_complete(&a);
    return a;
}

struct tensors {
    half *q, *k, *v;
    size_t n_q, n_k;
};

static struct tensors made(const char *name, uint64_t seed, const struct attention *a) {
    struct tensors t = {.n_q = attention_q_elements(a), .n_k = attention_k_elements(a)};
    t.q = malloc(t.n_q * sizeof(half));
    t.k = malloc(t.n_k * sizeof(half));
    t.v = malloc(attention_v_elements(a) * sizeof(half));
    assert_true(t.q && t.k && t.v);
    assert_fine(input_fill(name, seed, a, t.q, t.k, t.v));
    return t;
}

static void drop(struct tensors *t) {
    free(t->q);
    free(t->k);
    free(t->v);
}

static uint64_t hash(const struct tensors *t) {
    return check_hash(t->q, 2 * t->n_q) ^ 3 * check_hash(t->k, 2 * t->n_k) ^
           7 * check_hash(t->v, 2 * t->n_k);
}

/* Computed once on an x86-64 machine; any other compiler, libm or thread count must reproduce
 * them. */
static const struct {
    const char *name;
    uint64_t hash;
} golden[] = {
    {"normal", 0xd7915dcbf02b644c},    {"outlier", 0xbcb9c20c7a23bcf1},
    {"normal3", 0xde11888eef378c3e},   {"uniform", 0xf8862d3e7ef13d0c},
    {"ascending", 0x5672abc9bcaec6ba}, {"descending", 0x9c40c337a25a4b46},
    {"negative", 0x105ee2b2e981bee9},  {"constant", 0xd3409a9cfe581925},
    {"ramp", 0x2c41fde3ab26d80d},      {"identity", 0xe62ce05d8050d068},
    {"index", 0x37f4d5a66d5f3a7e},
};

static void every_input_has_its_known_bits(void **state) {
    (void)state;
    struct attention a = small();
    int n = 0;
    for (; input_name(n); n++) {
        assert_string_equal(input_name(n), golden[n].name);
        struct tensors t = made(golden[n].name, 1, &a);
        if (hash(&t) != golden[n].hash)
            print_message("# {\"%s\", 0x%016llx},\n", golden[n].name, (unsigned long long)hash(&t));
        assert_true(hash(&t) == golden[n].hash);
        drop(&t);
    }
    assert_int_equal(n, sizeof golden / sizeof golden[0]);
    assert_int_equal(n, 11);
}

static void threads_and_strides_change_nothing(void **state) {
    (void)state;
    struct attention a = small(), b = a;
    b.q_stride =
        (struct tensor_stride){37 * 4 * 72 + 8, 72, 4 * 72}; /* heads interleaved, rows padded */
    int threads = omp_get_max_threads();
    for (int i = 0; input_name(i); i++) {
        struct tensors x = made(input_name(i), 5, &a);
        omp_set_num_threads(1);
        struct tensors y = made(input_name(i), 5, &a);
        struct tensors z = made(input_name(i), 5, &b);
        omp_set_num_threads(threads);
        assert_true(hash(&x) == hash(&y));
        for (int s = 0; s < 2 * 4 * 37; s++) {
            const half *padded =
                z.q + s / 37 / 4 * b.q_stride.batch + s / 37 % 4 * 72 + s % 37 * 4 * 72;
            assert_memory_equal(padded, x.q + s * 64, 64 * sizeof(half));
        }
        drop(&x);
        drop(&y);
        drop(&z);
    }
}

static void names_are_known(void **state) {
    (void)state;
    for (int i = 0; i < 11; i++) assert_true(input_is_name(input_name(i)));
    assert_false(input_is_name("Normal"));
    assert_null(input_name(-1));
    assert_null(input_name(1 << 20));
}

/* Keys rise from -2.5 to 2.5, give or take a quarter of N(0,1): the only one, the last of two. */
static void few_keys_rise_too(void **state) {
    (void)state;
    struct attention a = {.batch = 1, .heads = 1, .kv_heads = 1, .seqlen_q = 1, .head_dim = 256};
    for (a.seqlen_k = 1; a.seqlen_k <= 2; a.seqlen_k++) {
        attention_complete(&a);
        struct tensors t = made("ascending", 1, &a);
        for (int j = 0; j < a.seqlen_k; j++) {
            double sum = 0;
            for (int d = 0; d < 256; d++) sum += half_to_float(t.k[j * 256 + d]);
            assert_true(fabs(sum / 256 - (j == a.seqlen_k - 1 ? 2.5 : -2.5)) < 0.1);
        }
        drop(&t);
    }
}

static void seeds_and_tensors_differ(void **state) {
    (void)state;
    struct attention a = small();
    struct tensors x = made("normal", 1, &a), y = made("normal", 2, &a);
    assert_true(hash(&x) != hash(&y));
    assert_memory_not_equal(x.k, x.v, x.n_k * sizeof(half));
    assert_memory_not_equal(x.q, x.k, 64 * sizeof(half));
    drop(&x);
    drop(&y);
}

/* Mean, variance and fourth moment of a tensor. */
static void moments(const half *x, size_t n, double *mean, double *variance, double *kurtosis) {
    double sum = 0, squares = 0, fourth = 0;
    for (size_t i = 0; i < n; i++) sum += half_to_float(x[i]);
    *mean = sum / n;
    for (size_t i = 0; i < n; i++) {
        double d = half_to_float(x[i]) - *mean;
        squares += d * d;
        fourth += d * d * d * d;
    }
    *variance = squares / n;
    *kurtosis = fourth / n / (*variance * *variance);
}

static void distributions_are_what_they_are_called(void **state) {
    (void)state;
    struct attention a = attention_default();
    attention_complete(&a);
    double mean, variance, kurtosis;
    struct tensors t = made("normal", 3, &a);
    moments(t.v, t.n_k, &mean, &variance, &kurtosis);
    assert_true(fabs(mean) < 0.01 && fabs(variance - 1) < 0.01 && fabs(kurtosis - 2.97) < 0.05);
    size_t beyond_2 = 0;
    for (size_t i = 0; i < t.n_k; i++) beyond_2 += fabs(half_to_float(t.v[i])) > 2;
    assert_true(fabs((double)beyond_2 / t.n_k - 0.0455) < 0.002);
    drop(&t);

    t = made("outlier", 3, &a);
    moments(t.k, t.n_k, &mean, &variance, &kurtosis);
    assert_true(fabs(variance - 1.1) < 0.05 && kurtosis > 10);
    drop(&t);

    t = made("normal3", 3, &a);
    moments(t.q, t.n_q, &mean, &variance, &kurtosis);
    assert_true(fabs(variance - 9) < 0.1);
    drop(&t);

    t = made("uniform", 3, &a);
    moments(t.v, t.n_k, &mean, &variance, &kurtosis);
    assert_true(fabs(mean - 0.5) < 0.003 && fabs(variance - 1 / 12.0) < 0.002);
    drop(&t);
}

static double score(const struct attention *a, const struct tensors *t, int i, int j) {
    double sum = 0;
    for (int d = 0; d < a->head_dim; d++)
        sum += (double)half_to_float(t->q[i * a->head_dim + d]) *
               half_to_float(t->k[j * a->head_dim + d]);
    return sum * a->scale;
}

static void scores_have_the_promised_shape(void **state) {
    (void)state;
    struct attention a = attention_default();
    attention_complete(&a);
    struct tensors up = made("ascending", 1, &a), down = made("descending", 1, &a);
    struct tensors negative = made("negative", 1, &a), one_hot = made("identity", 1, &a);
    for (int i = 0; i < 512; i += 73) {
        for (int j = 64; j < 512; j++) { /* a tile further on, always larger */
            assert_true(score(&a, &up, i, j) > score(&a, &up, i, j - 64));
            assert_true(score(&a, &down, i, j) < score(&a, &down, i, j - 64));
        }
        for (int j = 0; j < 512; j++) {
            assert_true(score(&a, &negative, i, j) < -4);
            assert_true(score(&a, &one_hot, i, j) == (i % 64 == j % 64 ? 32 : 0));
        }
    }
    drop(&up);
    drop(&down);
    drop(&negative);
    drop(&one_hot);
}

static void values_say_where_they_are_from(void **state) {
    (void)state;
    struct attention a = attention_default();
    attention_complete(&a);
    struct tensors t = made("index", 1, &a), ramp = made("ramp", 1, &a),
                   constant = made("constant", 1, &a);
    for (int j = 0; j < 512; j++)
        for (int d = 0; d < 64; d++) {
            assert_true(half_to_float(t.v[j * 64 + d]) == (j + 3 * d) % 61);
            assert_true(half_to_float(ramp.v[j * 64 + d]) == (d + 1) / 256.0f);
            assert_true(half_to_float(constant.k[j * 64 + d]) == 256);
        }
    drop(&t);
    drop(&ramp);
    drop(&constant);
}

static void unknown_names_are_refused(void **state) {
    (void)state;
    struct attention a = small();
    half x = 0;
    assert_reason(input_fill("gaussian", 1, &a, &x, &x, &x), "no input called 'gaussian'");
    assert_true(input_is_name("ramp") && !input_is_name("Ramp") && !input_is_name(""));
    assert_null(input_name(-1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_input_has_its_known_bits),
        cmocka_unit_test(threads_and_strides_change_nothing),
        cmocka_unit_test(names_are_known),
        cmocka_unit_test(few_keys_rise_too),
        cmocka_unit_test(seeds_and_tensors_differ),
        cmocka_unit_test(distributions_are_what_they_are_called),
        cmocka_unit_test(scores_have_the_promised_shape),
        cmocka_unit_test(values_say_where_they_are_from),
        cmocka_unit_test(unknown_names_are_refused),
    };
    return cmocka_run_group_tests_name("input", tests, NULL, NULL);
}
