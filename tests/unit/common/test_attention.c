/* The problem: rules, defaults, counts and addresses. */
#include "tests/test.h"

#include "common/harness/attention.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static struct attention problem(int batch, int heads, int kv_heads, int sq, int sk, int dim,
                                enum mask mask) {
    return (struct attention){.batch = batch,
                              .heads = heads,
                              .kv_heads = kv_heads,
                              .seqlen_q = sq,
                              .seqlen_k = sk,
                              .head_dim = dim,
                              .mask = mask};
}

static void defaults_are_the_mission_shape(void **state) {
    (void)state;
    struct attention a = attention_default();
    char text[64];
    assert_fine(attention_complete(&a));
    assert_string_equal(attention_describe(&a, text, sizeof text), "B1 H8 S512 D64");
    assert_true(a.scale == 0.125f);
    assert_int_equal(a.k_stride.head, 512 * 64);
    assert_int_equal(attention_q_elements(&a), 8 * 512 * 64);
    assert_int_equal(attention_lse_elements(&a), 8 * 512);
}

static void broken_rules_are_named(void **state) {
    (void)state;
    struct attention a = problem(1, 8, 8, 512, 512, 100, MASK_NONE);
    assert_reason(attention_complete(&a), "head_dim 100 is not a multiple of 8");
    a = problem(1, 6, 4, 512, 512, 64, MASK_NONE);
    assert_reason(attention_complete(&a), "6 heads cannot share 4 KV heads");
    a = problem(-1, 8, 8, 512, 512, 64, MASK_NONE);
    assert_reason(attention_complete(&a), "0 or more");
    a = problem(1, 0, 1, 512, 512, 64, MASK_NONE);
    assert_reason(attention_complete(&a), "1 or more");
    a = problem(65536, 65536, 1, 1, 1, 64, MASK_NONE);
    assert_reason(attention_complete(&a), "batch * heads is 4294967296; a grid holds 2^31 - 1");
    a = problem(1, 8, 8, 1 << 30, 1 << 30, 256, MASK_NONE);
    assert_reason(attention_complete(&a), "at most 2^40");
    a = problem(0, INT32_MAX, 1, 1 << 30, 1 << 30, 1 << 30,
                MASK_NONE); /* empty: strides overflow */
    assert_reason(attention_complete(&a), "at most 2^40");
    a = problem(1, 1, 1, 1, (1 << 30) + 1, 8, MASK_NONE);
    assert_reason(attention_complete(&a), "up to 2^30");
    a = attention_default();
    a.scale = NAN;
    assert_reason(attention_complete(&a), "scale");
    a.scale = -1;
    assert_reason(attention_complete(&a), "positive");
    a = attention_default();
    a.q_stride = (struct tensor_stride){8 * 512 * 66, 512 * 66, 66};
    assert_reason(attention_complete(&a), "multiple of 8");
    a = attention_default();
    a.o_stride = (struct tensor_stride){8 * 512 * 64, 512 * 64, 56};
    assert_reason(attention_complete(&a), "overlap");
    a = attention_default();
    a.k_stride = (struct tensor_stride){8, 8, -64};
    assert_reason(attention_complete(&a), "negative");
}

/* (batch, seqlen, head, head_dim) in memory: heads interleaved, legal for O too. */
static void heads_may_interleave(void **state) {
    (void)state;
    struct attention a = problem(2, 4, 2, 10, 20, 16, MASK_NONE);
    a.q_stride = a.o_stride = (struct tensor_stride){10 * 4 * 16, 16, 4 * 16};
    a.k_stride = a.v_stride = (struct tensor_stride){20 * 2 * 16, 16, 2 * 16};
    assert_fine(attention_complete(&a));
    assert_int_equal(attention_o_elements(&a), 2 * 10 * 4 * 16);
    assert_int_equal(attention_v_elements(&a), 2 * 20 * 2 * 16);
}

static void empty_tensors_have_no_elements(void **state) {
    (void)state;
    struct attention a = problem(0, 8, 8, 512, 512, 64, MASK_NONE);
    assert_fine(attention_complete(&a));
    assert_int_equal(attention_q_elements(&a) + attention_o_elements(&a), 0);
    a = problem(1, 8, 8, 512, 0, 64, MASK_CAUSAL_BOTTOM_RIGHT);
    assert_fine(attention_complete(&a));
    assert_int_equal(attention_k_elements(&a), 0);
    assert_int_equal(attention_o_elements(&a), 8 * 512 * 64);
    assert_true(attention_flops(&a) == 0 && attention_visible_pairs(&a) == 0);
}

static void visible_pairs_are_those_counted_one_by_one(void **state) {
    (void)state;
    for (int mask = MASK_NONE; mask <= MASK_CAUSAL_TOP_LEFT; mask++)
        for (int sq = 0; sq < 12; sq++)
            for (int sk = 0; sk < 12; sk++) {
                struct attention a = problem(1, 1, 1, sq, sk, 8, mask);
                int n = 0;
                for (int i = 0; i < sq; i++)
                    for (int j = 0; j < sk; j++)
                        n += mask == MASK_NONE ||
                             j <= i + (mask == MASK_CAUSAL_TOP_LEFT ? 0 : sk - sq);
                if (attention_visible_pairs(&a) != n)
                    fail_msg("mask %d Sq%d Sk%d: %g, counted %d", mask, sq, sk,
                             attention_visible_pairs(&a), n);
                for (int i = 0; i < sq; i++) /* and the diagonal says the same */
                    for (int j = 0; j < sk; j++) n -= j <= i + attention_diagonal(&a);
                assert_int_equal(n, 0);
            }
}

static void flops_follow_the_convention(void **state) {
    (void)state;
    struct attention a = attention_default();
    assert_true(attention_flops(&a) == 4.0 * 8 * 512 * 512 * 64);
    a.mask = MASK_CAUSAL_TOP_LEFT;
    assert_true(attention_flops(&a) == 2.0 * 8 * 512 * 512 * 64);
    a = problem(2, 32, 8, 1, 4096, 128, MASK_CAUSAL_BOTTOM_RIGHT);
    assert_true(attention_flops(&a) == 4.0 * 2 * 32 * 4096 * 128);
    a = problem(1, 1, 1, 3, 2, 64, MASK_CAUSAL_BOTTOM_RIGHT); /* rows see 0, 1 and 2 keys */
    assert_true(attention_flops(&a) == 4.0 * 3 * 64);
    a = problem(64, 128, 128, 131072, 131072, 256, MASK_NONE); /* beyond 2^63 */
    assert_true(attention_flops(&a) == 4.0 * 64 * 128 * 131072.0 * 131072.0 * 256);
}

static void descriptions(void **state) {
    (void)state;
    char text[64];
    struct attention a = problem(2, 32, 8, 1, 4096, 128, MASK_CAUSAL_BOTTOM_RIGHT);
    assert_string_equal(attention_describe(&a, text, sizeof text),
                        "B2 H32/8 Sq1 Sk4096 D128 causal");
    a = problem(1, 8, 8, 64, 64, 64, MASK_CAUSAL_TOP_LEFT);
    assert_string_equal(attention_describe(&a, text, sizeof text), "B1 H8 S64 D64 causal top-left");
}

/* Each limit from both sides. */
static void limits_are_where_they_are_said_to_be(void **state) {
    (void)state;
    struct attention a = problem(1, INT32_MAX, 1, 1, 1, 8, MASK_NONE);
    assert_fine(attention_complete(&a));
    a = problem(1, 1, 1, 1, 1, 8, MASK_NONE); /* one of everything: 8 elements each */
    assert_fine(attention_complete(&a));
    assert_int_equal(attention_q_elements(&a), 8);
    assert_int_equal(attention_v_elements(&a), 8);
    a = problem(1, 1, 1, 0, 1, 8, MASK_NONE);
    assert_fine(attention_complete(&a));
    assert_int_equal(attention_o_elements(&a), 0);
    for (int batch = 0; batch < 2; batch++) { /* 2^30 heads of 2^10: as large as may be */
        a = problem(batch, 1 << 30, 1 << 30, 0, 0, 1 << 10, MASK_NONE);
        assert_fine(attention_complete(&a));
    }
    a = problem(1, 256, 256, 1, 1 << 30, 8, MASK_NONE);
    assert_reason(attention_complete(&a), "at most 2^40");
    for (int more = 0; more <= 8; more += 8) { /* 2 * batch + 2 * head + 2 * row + 16 = 2^40 */
        a = problem(2, 2, 2, 2, 2, 16, MASK_NONE);
        a.q_stride = (struct tensor_stride){(1ll << 39) - 32, 16, 8 + more};
        const char *why = attention_complete(&a);
        if (more)
            assert_reason(why, "Q spans 1.1e+12 elements; a tensor may span 2^40");
        else
            assert_fine(why);
    }
}

static void strides_are_checked_of_each_tensor(void **state) {
    (void)state;
    struct attention a;
    const char *names = "QKVO";
    for (int t = 0; t < 4; t++) {
        a = attention_default();
        struct tensor_stride *all[] = {&a.q_stride, &a.k_stride, &a.v_stride, &a.o_stride};
        *all[t] = (struct tensor_stride){8 * 512 * 68, 512 * 68, 68};
        char say[] = "Q has a stride that is not a multiple of 8";
        *say = names[t];
        assert_reason(attention_complete(&a), say);
        a = attention_default();
        *all[t] = (struct tensor_stride){8 * 512 * 64, 512 * 64, 0}; /* one row for all */
        if (t < 3)
            assert_fine(attention_complete(&a));
        else
            assert_reason(attention_complete(&a), "overlap");
    }
    a = problem(1, 2, 2, 3, 5, 8, MASK_NONE);
    a.k_stride = (struct tensor_stride){80, 40, 8};
    assert_fine(attention_complete(&a));
    assert_int_equal(a.v_stride.head, 5 * 8);
    assert_int_equal(a.v_stride.row, 8);
    a = problem(0, 2, 2, 3, 5, 8, MASK_NONE); /* nothing, however it strides */
    a.q_stride = (struct tensor_stride){800, 80, 8};
    assert_fine(attention_complete(&a));
    assert_int_equal(attention_q_elements(&a), 0);
}

/* Small tensors of any stride: rows of O that share an element are refused; nested strides are not. */
static void rows_that_overlap_are_found(void **state) {
    (void)state;
    static const int strides[] = {8, 16, 24, 32, 48, 96};
    for (int n = 0; n < 6 * 6 * 6 * 27; n++) {
        const int k[] = {n % 6, n / 6 % 6, n / 36 % 6},
                  extent[] = {1 + n / 216 % 3, 1 + n / 648 % 3, 1 + n / 1944};
        unsigned char used[1024] = {0};
        bool shared = false, nested = true;
        for (int row = 0; row < extent[0]; row++)
            for (int head = 0; head < extent[1]; head++)
                for (int batch = 0; batch < extent[2]; batch++)
                    shared |=
                        used[row * strides[k[0]] + head * strides[k[1]] + batch * strides[k[2]]]++ >
                        0;
        int span = 8;
        for (int s = 0; s < 6; s++) /* from the smallest stride up */
            for (int i = 0; i < 3; i++)
                if (k[i] == s && extent[i] > 1) {
                    nested &= strides[s] >= span;
                    span += (extent[i] - 1) * strides[s];
                }
        struct attention a = problem(extent[2], extent[1], 1, extent[0], 4, 8, MASK_NONE);
        a.o_stride = (struct tensor_stride){strides[k[2]], strides[k[1]], strides[k[0]]};
        const char *why = attention_complete(&a);
        assert_true(!shared || !nested);
        if (nested)
            assert_fine(why);
        else
            assert_reason(why, "overlap");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_mission_shape),
        cmocka_unit_test(broken_rules_are_named),
        cmocka_unit_test(heads_may_interleave),
        cmocka_unit_test(empty_tensors_have_no_elements),
        cmocka_unit_test(visible_pairs_are_those_counted_one_by_one),
        cmocka_unit_test(flops_follow_the_convention),
        cmocka_unit_test(descriptions),
        cmocka_unit_test(limits_are_where_they_are_said_to_be),
        cmocka_unit_test(strides_are_checked_of_each_tensor),
        cmocka_unit_test(rows_that_overlap_are_found),
    };
    return cmocka_run_group_tests_name("attention", tests, NULL, NULL);
}
