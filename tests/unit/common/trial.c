#include "tests/test.h"

#include "common/cuda/half.h"
#include "common/harness/input.h"
#include "trial.h"

#include <stdlib.h>
#include <string.h>

static half *guarded(size_t n) {
    half *p = malloc((n + 2 * CHECK_GUARD) * sizeof *p);
    assert_non_null(p);
    check_poison(p, n + 2 * CHECK_GUARD);
    return p;
}

static void hash_inputs(const struct trial *t, uint64_t hash[3]) {
    hash[0] = check_hash(t->q, 2 * (t->n_q + 2 * CHECK_GUARD));
    hash[1] = check_hash(t->k, 2 * (t->n_k + 2 * CHECK_GUARD));
    hash[2] = check_hash(t->v, 2 * (t->n_v + 2 * CHECK_GUARD));
}

void trial_open(struct trial *t, const struct attention *a, const char *input) {
    *t = (struct trial){.a = *a, .input = input};
    assert_fine(attention_complete(&t->a));
    t->n_q = attention_q_elements(&t->a);
    t->n_k = attention_k_elements(&t->a);
    t->n_v = attention_v_elements(&t->a);
    t->q = guarded(t->n_q);
    t->k = guarded(t->n_k);
    t->v = guarded(t->n_v);
    half *q = t->q + CHECK_GUARD, *k = t->k + CHECK_GUARD, *v = t->v + CHECK_GUARD;
    assert_fine(input_fill(input, 1, &t->a, q, k, v));
    assert_fine(reference_open(&t->a, q, k, v, REFERENCE_WORK, 1, &t->reference));
    hash_inputs(t, t->hash);
    for (int run = 0; run < 2; run++) {
        t->o[run] = guarded(attention_o_elements(&t->a));
        t->lse[run] = malloc((attention_lse_elements(&t->a) + 2 * CHECK_GUARD) * sizeof(float));
        assert_non_null(t->lse[run]);
    }
    trial_poison(t);
}

void trial_again(struct trial *t) {
    reference_close(&t->reference);
    assert_fine(reference_open(&t->a, t->q + CHECK_GUARD, t->k + CHECK_GUARD, t->v + CHECK_GUARD,
                               REFERENCE_WORK, 1, &t->reference));
    hash_inputs(t, t->hash);
    trial_poison(t);
}

void trial_close(struct trial *t) {
    reference_close(&t->reference);
    free(t->q);
    free(t->k);
    free(t->v);
    for (int run = 0; run < 2; run++) {
        free(t->o[run]);
        free(t->lse[run]);
    }
}

void trial_poison(struct trial *t) {
    for (int run = 0; run < 2; run++) {
        check_poison(t->o[run], attention_o_elements(&t->a) + 2 * CHECK_GUARD);
        check_poison_float(t->lse[run], attention_lse_elements(&t->a) + 2 * CHECK_GUARD);
    }
}

void trial_answer(struct trial *t) {
    const struct attention *a = &t->a;
    for (int run = 0; run < 2; run++)
        for (int64_t r = 0; r < t->reference.n_rows; r++) {
            int64_t row = t->reference.row[r], bh = row / a->seqlen_q;
            half *o = trial_o(t, run) + bh / a->heads * a->o_stride.batch +
                      bh % a->heads * a->o_stride.head + row % a->seqlen_q * a->o_stride.row;
            for (int d = 0; d < a->head_dim; d++)
                o[d] = dtype_from_double(a->dtype, t->reference.o[r * a->head_dim + d]);
            trial_lse(t, run)[row] = (float)t->reference.lse[r];
        }
}

struct check_result trial_judge(struct trial *t) {
    struct check_evidence e = {.problem = &t->a,
                               .reference = &t->reference,
                               .run = {{t->o[0], t->lse[0]}, {t->o[1], t->lse[1]}},
                               .row_error_limit = 1e-3,
                               .outlier_input = !strcmp(t->input, "outlier")};
    memcpy(e.inputs_before, t->hash, sizeof t->hash);
    hash_inputs(t, e.inputs_after);
    struct check_result result;
    check_attention(&e, &result);
    return result;
}
