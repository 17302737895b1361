/* One problem with one input and its reference, ready to be answered and judged again and again. */
#pragma once

#include "common/harness/check.h"

struct trial {
    struct attention a;
    const char *input;
    half *q, *k, *v;      /* CHECK_GUARD of poison before and after each */
    size_t n_q, n_k, n_v; /* elements, without guard bands */
    struct reference reference;
    half *o[2]; /* as in struct check_run */
    float *lse[2];
    uint64_t hash[3];
};

/* Fails the running test if anything is not to be had. */
void trial_open(struct trial *t, const struct attention *a, const char *input);
void trial_close(struct trial *t);

/* After the inputs were changed: their reference. */
void trial_again(struct trial *t);

/* Poisons both outputs; the tensors without their guard bands, for who fills them. */
void trial_poison(struct trial *t);
static inline half *trial_o(struct trial *t, int run) { return t->o[run] + CHECK_GUARD; }
static inline float *trial_lse(struct trial *t, int run) { return t->lse[run] + CHECK_GUARD; }

/* Writes the reference, rounded, into both runs. */
void trial_answer(struct trial *t);

/* Judges what lies in the outputs, with the limit of the tensor-core stages. */
struct check_result trial_judge(struct trial *t);
