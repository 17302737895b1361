/* One task = up to ROWS query rows of one (batch, head). For each, in this order:
 *
 *   scores   s[r][j] = scale * q[r] . k[j]     K converted to double KEYS rows at a time
 *   softmax  p[r][j] = exp(s[r][j] - max) / sum
 *   output   o[r]    = sum over j of p[r][j] v[j]
 *
 * and once more for the baseline, rounding to the problem's 16-bit type after every step. */
#include "reference.h"
#include "input.h"
#include "common/base/heap.h"
#include "common/base/reason.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 32, KEYS = 32 };

/* The scratch memory of one thread. */
struct scratch {
    double *q, *kv, *s; /* (ROWS, D), (KEYS, D), (ROWS, Sk) */
    float *q_half, *kv_half, *p,
        *o_half;  /* for the baseline, rounded values in fp32; o_half (ROWS, D) */
    float *o_abs; /* (ROWS, D): as o_half, of |v| */
};

/* One task: rows [first, first + n) of r->row, which share a batch-head. */
struct task {
    const struct attention *a;
    const struct reference *r;
    int64_t first;
    int n;
    const half *q, *k, *v; /* of this batch-head */
};

static bool scratch_open(struct scratch *s, const struct attention *a) {
    size_t d = a->head_dim, keys = a->seqlen_k > 0 ? a->seqlen_k : 1;
    *s = (struct scratch){malloc(ROWS * d * sizeof(double)),    malloc(KEYS * d * sizeof(double)),
                          malloc(ROWS * keys * sizeof(double)), malloc(ROWS * d * sizeof(float)),
                          malloc(KEYS * d * sizeof(float)),     malloc(ROWS * keys * sizeof(float)),
                          malloc(ROWS * d * sizeof(float)),     malloc(ROWS * d * sizeof(float))};
    return s->q && s->kv && s->s && s->q_half && s->kv_half && s->p && s->o_half && s->o_abs;
}

static void scratch_close(struct scratch *s) {
    free(s->q);
    free(s->kv);
    free(s->s);
    free(s->q_half);
    free(s->kv_half);
    free(s->p);
    free(s->o_half);
    free(s->o_abs);
}

static int visible_keys(const struct attention *a, int64_t row) {
    int64_t n = row % a->seqlen_q + attention_diagonal(a) + 1;
    return n < 0 ? 0 : n > a->seqlen_k ? a->seqlen_k : (int)n;
}

static float rounded(enum dtype t, float x) { return dtype_to_float(t, dtype_from_float(t, x)); }

static double dot(const double *x, const double *y, int n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static float dot_float(const float *x, const float *y, int n) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static double norm(const double *x, int n) { return sqrt(dot(x, x, n)); }

/* Rows [j0, j0 + n) of K or V, as double and as float. */
static void load_keys(const half *from, int64_t row_stride, int j0, int n,
                      const struct attention *a, struct scratch *s) {
    const int head_dim = a->head_dim;
    for (int j = 0; j < n; j++)
        for (int d = 0; d < head_dim; d++) {
            float x = dtype_to_float(a->dtype, from[(j0 + j) * row_stride + d]);
            s->kv[j * head_dim + d] = x;
            s->kv_half[j * head_dim + d] = x;
        }
}

static void scores(const struct task *t, struct scratch *s) {
    const struct attention *a = t->a;
    const int dim = a->head_dim;
    for (int r = 0; r < t->n; r++) {
        const half *q = t->q + t->r->row[t->first + r] % a->seqlen_q * a->q_stride.row;
        for (int d = 0; d < dim; d++) {
            float x = dtype_to_float(a->dtype, q[d]);
            s->q[r * dim + d] = x;
            s->q_half[r * dim + d] = rounded(a->dtype, x * a->scale);
        }
    }
    int widest = visible_keys(a, t->r->row[t->first + t->n - 1]); /* rows ascend */
    double longest[ROWS] = {0};                                   /* visible key */
    for (int j0 = 0; j0 < widest; j0 += KEYS) {
        int n = widest - j0 < KEYS ? widest - j0 : KEYS;
        load_keys(t->k, a->k_stride.row, j0, n, a, s);
        for (int j = 0; j < n; j++) {
            double length = norm(s->kv + j * dim, dim);
            for (int r = 0; r < t->n; r++)
                if (j0 + j < visible_keys(a, t->r->row[t->first + r]) && length > longest[r])
                    longest[r] = length;
        }
        for (int r = 0; r < t->n; r++)
            for (int j = 0; j < n; j++) {
                size_t at = (size_t)r * a->seqlen_k + j0 + j;
                s->s[at] = a->scale * dot(s->q + r * dim, s->kv + j * dim, dim);
                s->p[at] =
                    rounded(a->dtype, dot_float(s->q_half + r * dim, s->kv_half + j * dim, dim));
            }
    }
    for (int r = 0; r < t->n; r++)
        t->r->score_error[t->first + r] =
            reference_score_error(a, norm(s->q + r * dim, dim), longest[r]);
}

/* Turns n scores into probabilities; returns log(sum(exp(s))), -inf for none. A NaN stays one. */
static double softmax(double *s, int n) {
    if (n == 0) return -INFINITY;
    double max = -INFINITY, sum = 0;
    for (int j = 0; j < n; j++) max = s[j] > max || isnan(s[j]) ? s[j] : max;
    for (int j = 0; j < n; j++) sum += s[j] = exp(s[j] - max);
    for (int j = 0; j < n; j++) s[j] /= sum;
    return max + log(sum);
}

static void softmax_rounded(enum dtype t, float *s, int n) {
    float max = -INFINITY, sum = 0;
    for (int j = 0; j < n; j++) max = s[j] > max || isnan(s[j]) ? s[j] : max;
    for (int j = 0; j < n; j++) sum += s[j] = expf(s[j] - max);
    for (int j = 0; j < n; j++) s[j] = rounded(t, s[j] / sum);
}

/* One key's part of one output row, in both precisions. */
static void add_value(double *o, double p, const double *v, float *o_half, float *o_abs,
                      float p_half, const float *v_half, int n) {
#pragma omp simd
    for (int d = 0; d < n; d++) o[d] += p * v[d];
#pragma omp simd
    for (int d = 0; d < n; d++) {
        o_half[d] += p_half * v_half[d];
        o_abs[d] += p_half * fabsf(v_half[d]);
    }
}

static void output(const struct task *t, struct scratch *s) {
    const struct attention *a = t->a;
    const int dim = a->head_dim;
    double *o = t->r->o + t->first * dim;
    int widest = visible_keys(a, t->r->row[t->first + t->n - 1]);
    for (int i = 0; i < t->n * dim; i++) o[i] = s->o_half[i] = s->o_abs[i] = 0;
    for (int j0 = 0; j0 < widest; j0 += KEYS) {
        int n = widest - j0 < KEYS ? widest - j0 : KEYS;
        load_keys(t->v, a->v_stride.row, j0, n, a, s);
        for (int r = 0; r < t->n; r++) {
            int visible = visible_keys(a, t->r->row[t->first + r]) - j0;
            for (int j = 0; j < n && j < visible; j++) {
                size_t at = (size_t)r * a->seqlen_k + j0 + j;
                add_value(o + r * dim, s->s[at], s->kv + j * dim, s->o_half + r * dim,
                          s->o_abs + r * dim, s->p[at], s->kv_half + j * dim, dim);
            }
        }
    }
    for (int i = 0; i < t->n * dim; i++)
        t->r->baseline[t->first * dim + i] = dtype_from_float(a->dtype, s->o_half[i]);
    for (int r = 0; r < t->n; r++) {
        struct rounding x = {0};
        for (int i = r * dim; i < (r + 1) * dim; i++) {
            double error = dtype_unit_roundoff(a->dtype) * (s->o_abs[i] + fabs(o[i]));
            x.largest = fmax(x.largest, error);
            x.squares += error * error;
        }
        t->r->rounding[t->first + r] = x;
    }
}

/* Where scores can be off by E, p[j] can be off by min(1, p[j] (exp(2 E) - 1)), and since they sum to
 * 1 as before, o by sum of that times v[j] - o. It matters where keys compete that are nearer to
 * each other than fp32 can tell: honest kernels then differ. Below E = 1/16 the pass rule's own
 * limits hold, for the errors of many keys cancel. */
static void slack_of_row(const struct task *t, int r, struct scratch *s) {
    const struct attention *a = t->a;
    const int dim = a->head_dim, visible = visible_keys(a, t->r->row[t->first + r]);
    const double grow = 2 * t->r->score_error[t->first + r], lse = t->r->lse[t->first + r];
    const double *o = t->r->o + (t->first + r) * dim;
    double share[KEYS], sum = 0;
    for (int j0 = 0; j0 < visible; j0 += KEYS) {
        int n = visible - j0 < KEYS ? visible - j0 : KEYS;
        load_keys(t->k, a->k_stride.row, j0, n, a, s);
        for (int j = 0; j < n; j++) {
            double log_p = a->scale * dot(s->q + r * dim, s->kv + j * dim, dim) - lse;
            share[j] = grow < 1 ? exp(log_p) * expm1(grow) : exp(fmin(0, log_p + grow));
        }
        load_keys(t->v, a->v_stride.row, j0, n, a, s);
        for (int j = 0; j < n; j++) {
            double squares = 0;
            for (int d = 0; d < dim; d++)
                squares += (s->kv[j * dim + d] - o[d]) * (s->kv[j * dim + d] - o[d]);
            if (share[j] > 0) sum += share[j] * sqrt(squares);
        }
    }
    t->r->o_slack[t->first + r] = sum;
}

static void run_task(const struct task *t, struct scratch *s) {
    scores(t, s);
    for (int r = 0; r < t->n; r++) {
        int visible = visible_keys(t->a, t->r->row[t->first + r]);
        t->r->lse[t->first + r] = softmax(s->s + (size_t)r * t->a->seqlen_k, visible);
        softmax_rounded(t->a->dtype, s->p + (size_t)r * t->a->seqlen_k, visible);
    }
    output(t, s);
    for (int r = 0; r < t->n; r++) {
        t->r->o_slack[t->first + r] = 0;
        if (t->r->score_error[t->first + r] > 1.0 / 16) slack_of_row(t, r, s);
    }
}

/* The rows of batch-head bh that are compared: n of seqlen_q, ascending. */
static void choose_rows(const struct attention *a, int64_t bh, int64_t n, uint64_t seed,
                        int64_t *row) {
    for (int64_t s = 0; s < n; s++) {
        int64_t from = s * a->seqlen_q / n, to = (s + 1) * a->seqlen_q / n;
        row[s] = from + input_random(seed, 0x726f77, bh * n + s) % (to - from);
        if (bh % 2 && s == n - 1) row[s] = to - 1; /* where ragged tiles end */
        row[s] += bh * a->seqlen_q;
    }
}

static bool tensor_is_finite(enum dtype dtype, const half *x, int batch, int heads, int seqlen,
                             int head_dim, const struct tensor_stride *s) {
    int64_t n_rows = (int64_t)batch * heads * seqlen;
    bool finite = true;
#pragma omp parallel for schedule(static) reduction(&& : finite)
    for (int64_t row = 0; row < n_rows; row++) {
        const half *x_row = x + row / seqlen / heads * s->batch + row / seqlen % heads * s->head +
                            row % seqlen * s->row;
        bool row_finite = true;
        for (int d = 0; d < head_dim; d++) row_finite &= dtype_is_finite(dtype, x_row[d]);
        finite = finite && row_finite;
    }
    return finite;
}

/* NULL: all of V is finite. */
static int *find_bad_v(const struct attention *a, const half *v) {
    size_t n = (size_t)a->batch * a->kv_heads * a->head_dim;
    int *last = heap_take(n * sizeof *last);
    bool any = false;
    for (size_t i = 0; i < n; i++) last[i] = -1;
#pragma omp parallel for schedule(static) reduction(|| : any)
    for (int bh = 0; bh < a->batch * a->kv_heads; bh++)
        for (int j = 0; j < a->seqlen_k; j++)
            for (int d = 0; d < a->head_dim; d++)
                if (!dtype_is_finite(
                        a->dtype,
                        v[bh / a->kv_heads * a->v_stride.batch +
                          bh % a->kv_heads * a->v_stride.head + j * a->v_stride.row + d])) {
                    last[(size_t)bh * a->head_dim + d] = j;
                    any = true;
                }
    if (any) return last;
    free(last);
    return NULL;
}

static struct task make_task(const struct attention *a, const struct reference *r, int64_t first,
                             int n, const half *q, const half *k, const half *v) {
    int64_t bh = r->row[first] / a->seqlen_q, b = bh / a->heads, h = bh % a->heads;
    int64_t kv_head = h / (a->heads / a->kv_heads);
    return (struct task){.a = a,
                         .r = r,
                         .first = first,
                         .n = n,
                         .q = q + b * a->q_stride.batch + h * a->q_stride.head,
                         .k = k + b * a->k_stride.batch + kv_head * a->k_stride.head,
                         .v = v + b * a->v_stride.batch + kv_head * a->v_stride.head};
}

static bool run_tasks(const struct attention *a, const struct reference *r, int64_t rows_per_head,
                      const half *q, const half *k, const half *v) {
    int64_t tasks_per_head = (rows_per_head + ROWS - 1) / ROWS;
    int64_t n_tasks = (int64_t)a->batch * a->heads * tasks_per_head;
    bool enough_memory = true;
#pragma omp parallel reduction(&& : enough_memory)
    {
        struct scratch s;
        enough_memory = scratch_open(&s, a);
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < n_tasks; i++) {
            int64_t skip = i % tasks_per_head * ROWS;
            int n = rows_per_head - skip < ROWS ? (int)(rows_per_head - skip) : ROWS;
            struct task t = make_task(a, r, i / tasks_per_head * rows_per_head + skip, n, q, k, v);
            if (enough_memory) run_task(&t, &s);
        }
        scratch_close(&s);
    }
    return enough_memory;
}

const char *reference_open(const struct attention *a, const half *q, const half *k, const half *v,
                           double work, uint64_t seed, struct reference *out) {
    *out = (struct reference){.head_dim = a->head_dim, .inputs_finite = true};
    int64_t heads = (int64_t)a->batch * a->heads, rows_per_head = a->seqlen_q;
    if (heads == 0 || a->seqlen_q == 0) return NULL;
    if (work > 0) {
        double rows = work / ((double)a->seqlen_k * a->head_dim + 1);
        rows = fmax(1, fmax(rows, REFERENCE_MIN_ROWS) / heads);
        if (rows < rows_per_head) rows_per_head = (int64_t)rows;
    }
    out->sampled = rows_per_head < a->seqlen_q;
    out->n_rows = heads * rows_per_head;
    out->row = malloc(out->n_rows * sizeof *out->row);
    out->o = malloc(out->n_rows * a->head_dim * sizeof *out->o);
    out->lse = malloc(out->n_rows * sizeof *out->lse);
    out->baseline = malloc(out->n_rows * a->head_dim * sizeof *out->baseline);
    out->rounding = malloc(out->n_rows * sizeof *out->rounding);
    out->score_error = malloc(out->n_rows * sizeof *out->score_error);
    out->o_slack = malloc(out->n_rows * sizeof *out->o_slack);
    bool enough_memory = out->row && out->o && out->lse && out->baseline && out->rounding &&
                         out->score_error && out->o_slack;
    if (enough_memory) {
        for (int64_t bh = 0; bh < heads; bh++)
            choose_rows(a, bh, rows_per_head, seed, out->row + bh * rows_per_head);
        enough_memory = run_tasks(a, out, rows_per_head, q, k, v);
    }
    if (!enough_memory) {
        reference_close(out);
        return reason("no memory for the CPU reference of %lld rows; use --no-check",
                      (long long)(heads * rows_per_head));
    }
    out->inputs_finite =
        tensor_is_finite(a->dtype, q, a->batch, a->heads, a->seqlen_q, a->head_dim, &a->q_stride) &&
        tensor_is_finite(a->dtype, k, a->batch, a->kv_heads, a->seqlen_k, a->head_dim,
                         &a->k_stride) &&
        tensor_is_finite(a->dtype, v, a->batch, a->kv_heads, a->seqlen_k, a->head_dim,
                         &a->v_stride);
    if (!out->inputs_finite) out->last_bad_v = find_bad_v(a, v);
    return NULL;
}

void reference_close(struct reference *r) {
    free(r->row);
    free(r->o);
    free(r->lse);
    free(r->baseline);
    free(r->rounding);
    free(r->score_error);
    free(r->o_slack);
    free(r->last_bad_v);
    *r = (struct reference){0};
}
