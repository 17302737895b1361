/* Attention in double on the CPU: what every stage is compared with. Beside it the baseline, the
 * same attention done in 16-bit steps (Q scaled, scores, probabilities and output each rounded to
 * the problem's type, sums in fp32, as an unfused half-precision program does it): it says how much error
 * that type itself brings.
 *
 * A large problem is sampled: rows drawn at random from every batch-head, one in each of n equal
 * parts of the sequence, and in every second batch-head its last row. */
#pragma once

#include "attention.h"

#include <stdbool.h>

/* How far off a row of O can be where P and O are rounded to the 16-bit type, once each.
 * O = sum of p[j] v[j] / sum of p[j]. Rounding changes a factor by no more than the type's unit roundoff u, so
 * an element of O is off by at most u (sum of p[j] |v[j]| + |o|), p being probabilities. A kernel comes near
 * it in a row that one key decides, where the baseline, whose P is then exactly 1, makes no error at all. */
struct rounding {
    double largest, squares; /* an element's; the sum of all of the row's, squared */
};

struct reference {
    int64_t n_rows; /* how many output rows are here */
    int head_dim;
    int64_t *row;              /* (n_rows): which, as (b * heads + h) * seqlen_q + i, ascending */
    double *o;                 /* (n_rows, head_dim) */
    double *lse;               /* (n_rows); -inf for a fully masked row */
    half *baseline;            /* (n_rows, head_dim) */
    struct rounding *rounding; /* (n_rows) */
    double *score_error; /* (n_rows): how far off an honest fp32 kernel's scores can be, below */
    double *o_slack;     /* (n_rows): how far ||o|| can be off because of that; 0 below 1/16 */
    int *last_bad_v;     /* (batch, kv_heads, head_dim): the last key whose V is not finite there;
                          * -1 for none; NULL: all of V is finite */
    bool sampled;        /* not every row of the problem is here */
    bool inputs_finite;  /* no NaN or infinity in q, k, v, and no score beyond fp32 */
};

enum { REFERENCE_ALL_ROWS = 0, REFERENCE_MIN_ROWS = 256 };

/* How far off a score can be in fp32, however it is added up: DIM products, each sum rounded or cut
 * to 24 bits, at most scale * ||q|| * ||k|| large (Cauchy and Schwarz), and 8 steps for the scale,
 * the change of base and the maximum. */
static inline double reference_score_error(const struct attention *a, double q_norm,
                                           double k_norm) {
    return (a->head_dim + 8) * 0x1p-24 * a->scale * q_norm * k_norm;
}

/* `work` limits n_rows * seqlen_k * head_dim, but REFERENCE_MIN_ROWS and one row of each batch-head
 * are taken in any case; REFERENCE_ALL_ROWS: no limit. `seed` draws the rows. NULL, or the
 * reason. */
const char *reference_open(const struct attention *a, const half *q, const half *k, const half *v,
                           double work, uint64_t seed, struct reference *out);
void reference_close(struct reference *r);

/* The limit that the harness uses: every row of the mission shape, a few hundred of the largest. */
#define REFERENCE_WORK 0x1p28
