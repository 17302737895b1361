#include "flash_model.h"
#include "common/cuda/half.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { BQ = 64, BKV = 64, MAX_DIM = 256 };

#define MUTANT_TEXT(name, text) text,
static const char *const texts[] = {MUTANTS(MUTANT_TEXT)};
const char *mutant_text(enum mutant m) { return texts[m]; }

/* One tile of queries on its way through the keys. */
struct tile {
    float q[BQ][MAX_DIM], k[BKV][MAX_DIM], v[BKV][MAX_DIM];
    float s[BQ][BKV];
    float o[BQ][MAX_DIM], m[BQ], l[BQ], alpha[BQ];
};

static float round_half(float x) { return half_to_float(half_from_float(x)); }

/* Rounds to this many explicit bits of mantissa, to nearest even. */
static float round_bits(float x, int bits) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    int drop = 23 - bits;
    u += (1u << (drop - 1)) - 1 + (u >> drop & 1);
    u &= ~((1u << drop) - 1);
    memcpy(&x, &u, sizeof u);
    return x;
}

static void load(const half *from, int64_t row_stride, int first, int n_rows, int dim,
                 float (*to)[MAX_DIM]) {
    for (int r = 0; r < 64; r++)
        for (int d = 0; d < dim; d++)
            to[r][d] = first + r < n_rows ? half_to_float(from[(first + r) * row_stride + d]) : 0;
}

static void load_k(const struct attention *a, const half *k, int kv0, enum mutant m,
                   struct tile *t) {
    int from = m == MUTANT_STALE_K && kv0 > 0 ? kv0 - BKV : kv0;
    load(k, a->k_stride.row, from, a->seqlen_k, a->head_dim, t->k);
    for (int r = 0; r < BKV && m == MUTANT_BFLOAT_K; r++)
        for (int d = 0; d < a->head_dim; d++) t->k[r][d] = round_bits(t->k[r][d], 7);
}

static void load_v(const struct attention *a, const half *v, int kv0, enum mutant m,
                   struct tile *t) {
    int from = m == MUTANT_STALE_V && kv0 > 0 ? kv0 - BKV : kv0;
    load(v, a->v_stride.row, from, a->seqlen_k, a->head_dim, t->v);
    if (m == MUTANT_TAIL_GARBAGE)
        for (int r = 0; r < BKV; r++)
            for (int d = 0; d < a->head_dim && kv0 + r >= a->seqlen_k; d++) t->v[r][d] = NAN;
    if (m != MUTANT_V_TRANSPOSED) return;
    for (int r = 0; r < BKV; r++)
        for (int d = 0; d < a->head_dim; d++)
            if (r % 8 < d % 8) {
                float *x = &t->v[r][d], *y = &t->v[r - r % 8 + d % 8][d - d % 8 + r % 8], swap = *x;
                *x = *y;
                *y = swap;
            }
}

static bool is_visible(const struct attention *a, int i, int j, enum mutant m) {
    int end = m == MUTANT_TAIL_ONE_SHORT && a->seqlen_k > 1 ? a->seqlen_k - 1 : a->seqlen_k;
    if (j >= end && m != MUTANT_TAIL_UNMASKED) return false;
    if (a->mask == MASK_NONE || m == MUTANT_CAUSAL_IGNORED) return true;
    int64_t diagonal = attention_diagonal(a);
    if (m == MUTANT_CAUSAL_PLUS_ONE) diagonal++;
    if (m == MUTANT_CAUSAL_MINUS_ONE) diagonal--;
    if (m == MUTANT_CAUSAL_ALIGNMENT) diagonal = a->seqlen_k - a->seqlen_q - diagonal;
    return j <= i + diagonal;
}

/* Scores of the tile in base 2, -inf where masked. */
static void scores(const struct attention *a, int q0, int kv0, enum mutant m, struct tile *t) {
    float scale_log2 = a->scale * 1.44269504f * (m == MUTANT_SCALE_2_PERCENT ? 1.02f : 1);
    int dim = a->head_dim - (m == MUTANT_K_COLUMN_LOST);
    for (int r = 0; r < BQ; r++)
        for (int j = 0; j < BKV; j++) {
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int d = 0; d < dim; d++) sum += t->q[r][d] * t->k[j][d];
            if (m == MUTANT_HALF_SCORES) sum = round_half(sum);
            t->s[r][j] = is_visible(a, q0 + r, kv0 + j, m) ? sum * scale_log2 : -INFINITY;
        }
}

static float power_of_2(float x, enum mutant m) {
    if (m == MUTANT_HALF_EXP) x = round_half(x);
    float y = exp2f(x);
    return m == MUTANT_COARSE_EXP && y > 0 ? y * (1 + 0.003f * sinf(40 * x)) : y;
}

/* Online softmax: s becomes p, m and l move on, alpha is what o must be multiplied by. */
static void softmax(struct tile *t, enum mutant m) {
    for (int r = 0; r < BQ; r++) {
        float max = t->m[r], sum = 0;
        for (int j = 0; j < BKV; j++) max = fmaxf(max, t->s[r][j]);
        if (m == MUTANT_HALF_MAX_STATE) max = round_half(max);
        float base = max == -INFINITY ? 0 : max;
        if (m == MUTANT_NO_MAX) base = 0;
        float before = m == MUTANT_NO_MAX && t->m[r] != -INFINITY ? 0 : t->m[r];
        t->alpha[r] = exp2f(before - base);
        for (int j = 0; j < BKV; j++) sum += t->s[r][j] = power_of_2(t->s[r][j] - base, m);
        t->l[r] = (m == MUTANT_SUM_NOT_RESCALED ? t->l[r] : t->l[r] * t->alpha[r]) + sum;
        if (m == MUTANT_HALF_SUM_L) t->l[r] = round_half(t->l[r]);
        t->m[r] = max;
    }
}

static void rescale(const struct attention *a, struct tile *t, bool last, enum mutant m) {
    if (m == MUTANT_NO_RESCALE || (m == MUTANT_NO_RESCALE_LAST && last)) return;
    for (int r = 0; r < BQ; r++)
        for (int d = 0; d < a->head_dim; d++) t->o[r][d] *= t->alpha[r];
}

static void add_values(const struct attention *a, struct tile *t, enum mutant m) {
    for (int r = 0; r < BQ; r++)
        for (int j = 0; j < BKV; j++) {
            float p = round_half(t->s[r][j]);
            if (m == MUTANT_BFLOAT_P) p = round_bits(t->s[r][j], 7);
            if (m == MUTANT_FP8_P) p = round_bits(t->s[r][j], 3);
            for (int d = 0; d < a->head_dim; d++) t->o[r][d] += p * t->v[j][d];
            if (m == MUTANT_HALF_SUM_O && j % 16 == 15) /* one tensor instruction sums 16 keys */
                for (int d = 0; d < a->head_dim; d++) t->o[r][d] = round_half(t->o[r][d]);
        }
}

/* Where row i of O begins. */
static half *o_row(const struct attention *a, half *o, int b, int h, int i, enum mutant m) {
    if (m == MUTANT_STRIDE_IGNORED)
        return o + (((int64_t)b * a->heads + h) * a->seqlen_q + i) * a->head_dim;
    return o + b * a->o_stride.batch + h * a->o_stride.head + i * a->o_stride.row;
}

static void store(const struct attention *a, struct tile *t, half *o, float *lse, int b, int h,
                  int q0, enum mutant m) {
    int64_t last = (int64_t)a->batch * a->heads * a->seqlen_q - 1;
    for (int r = 0; r < BQ && q0 + r < a->seqlen_q + (m == MUTANT_ROW_PAST_END); r++) {
        int i = q0 + r, from = r;
        int64_t row = ((int64_t)b * a->heads + h) * a->seqlen_q + i;
        if (m == MUTANT_ROWS_SWAPPED && q0 + 10 < a->seqlen_q && (r == 2 || r == 10)) from = 12 - r;
        half *to = o_row(a, o, b, h, i, m);
        bool masked = t->l[from] == 0;
        float inverse = masked && m != MUTANT_MASKED_NAN ? 0 : 1 / t->l[from];
        if (m == MUTANT_NOT_NORMALISED && q0 + BQ >= a->seqlen_q) inverse = 1;
        for (int d = 0; d < a->head_dim && !(m == MUTANT_LAST_ROW_LOST && row == last); d++) {
            float x = t->o[from][d] * inverse;
            to[m == MUTANT_COLUMNS_SWAPPED && d < 2 ? 1 - d : d] =
                half_from_float(m == MUTANT_BFLOAT_O ? round_bits(x, 7) : x);
        }
        if (i == a->seqlen_q || (m == MUTANT_LAST_LSE_LOST && row == last)) continue;
        float base = m == MUTANT_LSE_WITHOUT_MAX || m == MUTANT_NO_MAX ? 0 : t->m[from];
        lse[row] = (base + log2f(t->l[from])) * (m == MUTANT_LSE_BASE_2 ? 1 : 0.693147181f);
        if (masked) lse[row] = m == MUTANT_MASKED_LSE ? 0 : -INFINITY;
    }
}

static void run_tile(const struct attention *a, const half *q, const half *k, const half *v, int q0,
                     enum mutant m, struct tile *t) {
    load(q, a->q_stride.row, q0, a->seqlen_q, a->head_dim, t->q);
    for (int r = 0; r < BQ; r++) {
        t->m[r] = -INFINITY;
        t->l[r] = 0;
        for (int d = 0; d < a->head_dim; d++) t->o[r][d] = 0;
    }
    int n_tiles = (a->seqlen_k + BKV - 1) / BKV;
    for (int tile = m == MUTANT_TILE_TWICE ? -1 : 0; tile < n_tiles; tile++) {
        int kv0 = tile < 0 ? 0 : tile * BKV;
        if (n_tiles > 1 && m == MUTANT_SKIP_FIRST_TILE && tile == 0) continue;
        if (n_tiles > 1 && m == MUTANT_SKIP_LAST_TILE && tile == n_tiles - 1) continue;
        load_k(a, k, kv0, m, t);
        load_v(a, v, kv0, m, t);
        scores(a, q0, kv0, m, t);
        softmax(t, m);
        rescale(a, t, tile == n_tiles - 1, m);
        add_values(a, t, m);
    }
}

void flash_model(const struct attention *a, const half *q, half *k, const half *v, half *o,
                 float *lse, enum mutant m, int run) {
    int q_tiles = (a->seqlen_q + BQ - 1) / BQ, n_blocks = a->batch * a->heads * q_tiles;
    int group = a->heads / a->kv_heads;
#pragma omp parallel for schedule(dynamic)
    for (int block = 0; block < n_blocks; block++) {
        struct tile *t = malloc(sizeof *t);
        if (!t) abort();
        int q0 = block % q_tiles * BQ, h = block / q_tiles % a->heads,
            b = block / q_tiles / a->heads;
        int kv_head = m == MUTANT_GQA_MODULO ? h % a->kv_heads : h / group;
        const half *k_head =
            k + (m == MUTANT_BATCH_ZERO ? 0 : b) * a->k_stride.batch + kv_head * a->k_stride.head;
        run_tile(a, q + b * a->q_stride.batch + h * a->q_stride.head, k_head,
                 v + b * a->v_stride.batch + kv_head * a->v_stride.head, q0, m, t);
        store(a, t, o, lse, b, h, q0, m);
        free(t);
    }
    if (m == MUTANT_INPUT_CHANGED) k[0] ^= 1;
    if (m == MUTANT_NOT_REPEATABLE) o[0] ^= run;
}
