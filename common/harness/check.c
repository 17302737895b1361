#include "check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LSE_LIMIT 1e-3 /* for fp16 */

/* How much coarser a type is than fp16. */
static double coarser(enum dtype t) {
    return dtype_unit_roundoff(t) / dtype_unit_roundoff(DTYPE_FP16);
}

/* ---- Poison and hashes ----------------------------------------------------------------------- */

void check_poison(half *p, size_t n) {
    enum { LARGE = 1 << 20 }; /* its pages are first touched here: by all threads */
#pragma omp parallel for schedule(static) if (n > LARGE)
    for (size_t i = 0; i < n; i++) p[i] = CHECK_POISON_HALF;
}

void check_poison_float(float *p, size_t n) {
    const uint32_t word = CHECK_POISON_WORD;
    for (size_t i = 0; i < n; i++) memcpy(p + i, &word, sizeof word);
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Four lanes of multiply and rotate over 32-byte blocks, then the rest, then the length. */
uint64_t check_hash(const void *data, size_t bytes) {
    const unsigned char *p = data;
    const uint64_t prime = 0x9e3779b97f4a7c15u;
    uint64_t lane[4] = {1, 2, 3, 4}, word, hash = bytes;
    size_t at = 0;
    for (; at + 32 <= bytes; at += 32)
        for (int i = 0; i < 4; i++) {
            memcpy(&word, p + at + 8 * i, 8);
            lane[i] = (lane[i] ^ word) * prime;
            lane[i] ^= lane[i] >> 29;
        }
    for (; at < bytes; at++) lane[at % 4] = (lane[at % 4] ^ (p[at] + 1u)) * prime;
    for (int i = 0; i < 4; i++) {
        hash = (hash ^ lane[i]) * prime;
        hash ^= hash >> 32;
    }
    return hash;
}

/* ---- The whole output: points 1, 5 and 6 ----------------------------------------------------- */

static const half *row_of(const struct attention *a, const half *o, int64_t row) {
    int64_t bh = row / a->seqlen_q;
    return o + CHECK_GUARD + bh / a->heads * a->o_stride.batch + bh % a->heads * a->o_stride.head +
           row % a->seqlen_q * a->o_stride.row;
}

/* Of the row's KV head, for each element the last key whose V is not finite there; NULL: none. */
static const int *last_bad_v(const struct check_evidence *e, int64_t row) {
    const struct attention *a = e->problem;
    int64_t bh = row / a->seqlen_q, b = bh / a->heads, h = bh % a->heads;
    int64_t kv = b * a->kv_heads + h / (a->heads / a->kv_heads);
    return e->reference->last_bad_v ? e->reference->last_bad_v + kv * a->head_dim : NULL;
}

static bool row_is_masked(const struct attention *a, int64_t row) {
    return a->seqlen_k == 0 || row % a->seqlen_q + attention_diagonal(a) < 0;
}

/* Every row of O and LSE, whether in the reference or not: what is unwritten, not finite, not
 * masked. */
static void scan_rows(const struct check_evidence *e, const struct check_run *run,
                      struct check_result *r) {
    const struct attention *a = e->problem;
    const float *lse = run->lse + CHECK_GUARD;
    int64_t n_rows = attention_lse_elements(a), unwritten = 0, non_finite = 0, masked_wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : unwritten, non_finite, masked_wrong)
    for (int64_t row = 0; row < n_rows; row++) {
        const half *o = row_of(a, run->o, row);
        const int *bad = last_bad_v(e, row);
        int poisoned = 0, infinite = 0, non_zero = 0;
        for (int d = 0; d < a->head_dim; d++) {
            bool hidden =
                bad && bad[d] >= 0 && isnan(dtype_to_float(a->dtype, o[d])); /* 0 * infinity */
            poisoned += o[d] == CHECK_POISON_HALF;
            infinite += !dtype_is_finite(a->dtype, o[d]);
            non_zero += (o[d] & 0x7fff) != 0 && !hidden;
        }
        bool lse_poisoned = bits_of(lse[row]) == CHECK_POISON_WORD;
        unwritten += poisoned + lse_poisoned;
        if (row_is_masked(a, row))
            masked_wrong += non_zero + !(lse[row] == -INFINITY);
        else if (e->reference->inputs_finite)
            non_finite += infinite - poisoned + (!isfinite(lse[row]) && !lse_poisoned);
    }
    r->unwritten = unwritten;
    r->non_finite = non_finite;
    r->masked_wrong = masked_wrong;
}

/* Guard bands and gaps: every element that is not poison, except those of rows. */
static void scan_guards(const struct attention *a, const struct check_run *run,
                        struct check_result *r) {
    int64_t n_o = 2 * CHECK_GUARD + attention_o_elements(a);
    int64_t n_lse = attention_lse_elements(a), n_rows = n_lse, touched = 0, own = 0, broken = 0;
#pragma omp parallel for schedule(static) reduction(+ : touched)
    for (int64_t i = 0; i < n_o; i++) touched += run->o[i] != CHECK_POISON_HALF;
#pragma omp parallel for schedule(static) reduction(+ : own)
    for (int64_t row = 0; row < n_rows; row++) {
        const half *o = row_of(a, run->o, row);
        for (int d = 0; d < a->head_dim; d++) own += o[d] != CHECK_POISON_HALF;
    }
    for (int i = 0; i < CHECK_GUARD; i++) {
        broken += bits_of(run->lse[i]) != CHECK_POISON_WORD;
        broken += bits_of(run->lse[CHECK_GUARD + n_lse + i]) != CHECK_POISON_WORD;
    }
    r->guard_broken = touched - own + broken;
}

/* ---- Against the reference: points 1 to 5 ---------------------------------------------------- */

/* Sums over the rows of the reference. */
struct errors {
    double row_error, max_error, baseline_error, rounding_error; /* maxima */
    double explained, explained_squares; /* by rounding, in an element, in a row: maxima */
    double squares, baseline_squares, reference_squares; /* sums */
    double n_elements;
    double lse_error;
    int64_t worst_row, rows, lse_wrong;
};

/* What the same value loses when 0.3 is added and taken away in the 16-bit type: about one step at 0.3. */
static double rounding_error(enum dtype t, double x) {
    float rounded = dtype_to_float(t, dtype_from_double(t, x));
    float sum = dtype_to_float(t, dtype_from_float(t, rounded + 0.3f));
    float back = dtype_to_float(t, dtype_from_float(t, sum - 0.3f));
    return fabs((double)back - rounded);
}

/* A row below the normal range of its type is measured against that range, because below it the steps of
 * the type have a fixed size. */
static double row_error(enum dtype t, double squares, double reference_squares, int n) {
    double norm = fmax(sqrt(reference_squares), dtype_min_normal(t) * sqrt(n));
    return isfinite(squares) ? sqrt(squares) / norm : INFINITY;
}

static bool row_is_finite(const double *x, int n) {
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static void compare_lse(enum dtype t, double lse, double reference, double score_error,
                        struct errors *x) {
    double error = lse == reference ? 0 : fabs(lse - reference);
    double limit = fmax(LSE_LIMIT * coarser(t), fmax(score_error, 8 * 0x1p-24 * fabs(reference)));
    if (!(error <= limit)) x->lse_wrong++;
    if (!(error <= x->lse_error)) x->lse_error = isnan(error) ? INFINITY : error;
}

/* Row i of the reference. */
static void compare_row(const struct check_evidence *e, const struct check_run *run, int64_t i,
                        struct errors *x) {
    const struct reference *r = e->reference;
    const enum dtype t = e->problem->dtype;
    const int n = r->head_dim;
    const double *ref = r->o + i * n;
    const half *o = row_of(e->problem, run->o, r->row[i]), *baseline = r->baseline + i * n;
    const int *last_bad = last_bad_v(e, r->row[i]);
    const int64_t visible =
        r->row[i] % e->problem->seqlen_q + attention_diagonal(e->problem) + 1; /* keys */
    double squares = 0, baseline_squares = 0, reference_squares = 0;
    double max = 0, baseline_max = 0, rounding = 0;
    for (int d = 0; d < n; d++) {
        double error = dtype_to_float(t, o[d]) - ref[d];
        if (last_bad && last_bad[d] >= visible && isnan(error)) continue; /* 0 * infinity, hidden */
        double baseline_error = dtype_to_float(t, baseline[d]) - ref[d];
        squares += error * error;
        baseline_squares += baseline_error * baseline_error;
        reference_squares += ref[d] * ref[d];
        max = fmax(max, fabs(error));
        baseline_max = fmax(baseline_max, fabs(baseline_error));
        rounding = fmax(rounding, rounding_error(t, ref[d]));
    }
    if (isnan(squares)) max = INFINITY; /* fmax drops a NaN */
    double beyond = fmax(0, sqrt(squares) - r->o_slack[i]);
    double error = row_error(t, isnan(squares) ? squares : beyond * beyond, reference_squares, n);
    if (x->rows == 0 || error > x->row_error) {
        x->row_error = error;
        x->worst_row = r->row[i];
    }
    x->rows++;
    if (r->o_slack[i] > 0) return; /* what follows has no room for it */
    x->n_elements += n;
    x->squares += squares;
    x->reference_squares += reference_squares;
    if (isfinite(baseline_squares)) { /* steps of fp16 can overflow where fp32 does not */
        x->max_error = fmax(x->max_error, max);
        x->baseline_error = fmax(x->baseline_error, baseline_max);
        x->rounding_error = fmax(x->rounding_error, rounding);
        x->explained = fmax(x->explained, r->rounding[i].largest);
        x->explained_squares = fmax(x->explained_squares, r->rounding[i].squares);
    }
    x->baseline_squares += baseline_squares;
}

static void compare(const struct check_evidence *e, const struct check_run *run,
                    struct check_result *r) {
    const struct reference *ref = e->reference;
    const struct attention *a = e->problem;
    struct errors x = {0};
    for (int64_t i = 0; i < ref->n_rows; i++) {
        if (!row_is_finite(ref->o + i * ref->head_dim, ref->head_dim)) continue;
        compare_row(e, run, i, &x);
        compare_lse(a->dtype, run->lse[CHECK_GUARD + ref->row[i]], ref->lse[i], ref->score_error[i],
                    &x);
    }
    r->rows_checked = x.rows;
    r->row_error = x.row_error;
    r->worst_row = x.worst_row;
    r->max_error = x.max_error;
    r->max_error_limit = fmax(2 * x.baseline_error + 2 * x.rounding_error, x.explained);
    r->lse_error = x.lse_error;
    r->lse_wrong = x.lse_wrong;
    if (x.n_elements == 0) return;
    r->rmse = sqrt(x.squares / x.n_elements);
    r->baseline_rmse = sqrt(x.baseline_squares / x.n_elements);
    r->rmse_limit = sqrt((x.baseline_squares + x.explained_squares) / x.n_elements);
    r->reference_rms = sqrt(x.reference_squares / x.n_elements);
}

/* ---- The verdict ----------------------------------------------------------------------------- */

static void compare_runs(const struct check_evidence *e, struct check_result *r) {
    const struct check_run *x = &e->run[0], *y = &e->run[1];
    int64_t n_o = 2 * CHECK_GUARD + attention_o_elements(e->problem);
    int64_t n_lse = 2 * CHECK_GUARD + attention_lse_elements(e->problem), unequal = 0;
#pragma omp parallel for schedule(static) reduction(+ : unequal)
    for (int64_t i = 0; i < n_o; i++) unequal += x->o[i] != y->o[i];
    for (int64_t i = 0; i < n_lse; i++) unequal += bits_of(x->lse[i]) != bits_of(y->lse[i]);
    r->unequal = unequal;
}

static bool fails(struct check_result *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fails(struct check_result *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(r->why, sizeof r->why, format, args);
    va_end(args);
    return true;
}

/* Says of the first broken point what is wrong; true if there is one. The plainest faults come
 * first: an unwritten element also breaks the row rule. */
static bool broken_point(const struct check_evidence *e, struct check_result *r) {
    const struct attention *a = e->problem;
    long long row = r->worst_row;
    if (e->reference->n_rows == 0 && attention_lse_elements(a) > 0)
        return fails(r, "nothing was compared: the reference has no rows");
    if (r->unwritten)
        return fails(r, "%lld output elements were never written", (long long)r->unwritten);
    if (r->guard_broken)
        return fails(r, "%lld element%s outside the output %s written", (long long)r->guard_broken,
                     r->guard_broken == 1 ? "" : "s", r->guard_broken == 1 ? "was" : "were");
    if (r->inputs_changed)
        return fails(r, "%d of Q, K, V changed during the run", r->inputs_changed);
    if (r->non_finite)
        return fails(r, "%lld output elements are NaN or infinite", (long long)r->non_finite);
    if (r->masked_wrong)
        return fails(r, "%lld values of fully masked rows are not O = 0, LSE = -inf",
                     (long long)r->masked_wrong);
    if (r->rows_checked == 0 && attention_lse_elements(a) > 0)
        return fails(r,
                     "nothing was compared: the reference has no finite row (NaN in the inputs?)");
    if (!(r->row_error <= r->row_error_limit))
        return fails(r, "row %lld of head %lld, batch %lld has relative error %.3g, limit %.3g",
                     row % a->seqlen_q, row / a->seqlen_q % a->heads, row / a->seqlen_q / a->heads,
                     r->row_error, r->row_error_limit);
    if (!(r->max_error <= r->max_error_limit))
        return fails(r, "max error %.3g, limit %.3g, what %s steps and rounding explain",
                     r->max_error, r->max_error_limit, dtype_name(a->dtype));
    if (r->rmse_counts && !(r->rmse <= r->rmse_limit))
        return fails(r, "RMSE %.3g on outlier input, limit %.3g, what %s steps explain", r->rmse,
                     r->rmse_limit, dtype_name(a->dtype));
    if (r->lse_wrong)
        return fails(r, "LSE of %lld rows is off by up to %.3g, limit %.3g",
                     (long long)r->lse_wrong, r->lse_error, r->lse_error_limit);
    if (r->unequal)
        return fails(r, "two runs of one problem differ in %lld elements", (long long)r->unequal);
    return false;
}

void check_attention(const struct check_evidence *e, struct check_result *out) {
    const double times = coarser(e->problem->dtype);
    *out = (struct check_result){.row_error_limit = e->row_error_limit * times,
                                 .lse_error_limit = LSE_LIMIT * times};
    if (attention_lse_elements(e->problem) > 0) scan_rows(e, &e->run[0], out);
    scan_guards(e->problem, &e->run[0], out);
    for (int i = 0; i < 3; i++) out->inputs_changed += e->inputs_before[i] != e->inputs_after[i];
    compare(e, &e->run[0], out);
    compare_runs(e, out);
    out->rmse_counts = e->outlier_input && isfinite(out->baseline_rmse);
    out->passed = !broken_point(e, out);
}
