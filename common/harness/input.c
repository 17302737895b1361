#include "input.h"
#include "common/base/reason.h"

#include <string.h>

static const char *const names[] = {"normal",    "outlier",    "normal3",  "uniform",
                                    "ascending", "descending", "negative", "constant",
                                    "ramp",      "identity",   "index"};
enum input {
    NORMAL,
    OUTLIER,
    NORMAL3,
    UNIFORM,
    ASCENDING,
    DESCENDING,
    NEGATIVE,
    CONSTANT,
    RAMP,
    IDENTITY,
    INDEX
};
enum { N_NAMES = sizeof names / sizeof names[0] };
enum tensor { TENSOR_Q, TENSOR_K, TENSOR_V };

const char *input_name(int i) { return i >= 0 && i < N_NAMES ? names[i] : NULL; }

static int find(const char *name) {
    for (int i = 0; i < N_NAMES; i++)
        if (!strcmp(name, names[i])) return i;
    return -1;
}

bool input_is_name(const char *name) { return find(name) >= 0; }

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static const uint64_t golden = 0x9e3779b97f4a7c15u;

static uint64_t stream_key(uint64_t seed, uint64_t stream) {
    return mix(seed * golden + stream + 1);
}

static uint64_t draw(uint64_t key, uint64_t index) { return mix(key + (index + 1) * golden); }

uint64_t input_random(uint64_t seed, uint64_t stream, uint64_t index) {
    return draw(stream_key(seed, stream), index);
}

/* N(0,1) without libm: 64 coin tosses, smoothed by two uniform numbers. The variance is 64/4 +
 * 2/12, the excess kurtosis -0.03, the range +-8.2. */
static inline double normal(uint64_t key, uint64_t index) {
    int heads = __builtin_popcountll(draw(key, 2 * index));
    uint64_t dither = draw(key, 2 * index + 1);
    double smooth =
        (double)((int64_t)(dither >> 32) + (int64_t)(dither & 0xffffffff)) * 0x1p-32 - 1;
    return (heads - 32 + smooth) * 0.24870800168690346; /* 1 / sqrt(16 + 1/6) */
}

static double uniform(uint64_t key, uint64_t index) {
    return (double)(draw(key, index) >> 11) * 0x1p-53;
}

/* Element d of row j (of seqlen rows) of tensor t; index counts its elements in C order. Streams t,
 * t + 4 and t + 8 of random numbers belong to tensor t: their keys. */
static double element(enum input input, enum tensor t, const uint64_t key[3], uint64_t index,
                      int64_t j, int seqlen, int d, int head_dim) {
    switch (input) {
    case NORMAL:
        break;
    case OUTLIER: {
        bool outlier = uniform(key[1], index) < 0.001;
        return normal(key[0], index) + (outlier ? 10 * normal(key[2], index) : 0);
    }
    case NORMAL3:
        if (t != TENSOR_V) return 3 * normal(key[0], index);
        break;
    case UNIFORM:
        return uniform(key[0], index);
    case ASCENDING:
    case DESCENDING: {
        if (t == TENSOR_Q) return 1 + normal(key[0], index) / 4;
        if (t == TENSOR_V) break;
        double rise = seqlen > 1 ? 5.0 * j / (seqlen - 1) - 2.5 : 2.5;
        return (input == ASCENDING ? rise : -rise) + normal(key[0], index) / 4;
    }
    case NEGATIVE:
        if (t == TENSOR_V) return 1 + normal(key[0], index) / 4;
        return (uniform(key[0], index) + 0.5) * (t == TENSOR_Q ? 1 : -1);
    case CONSTANT:
        return 256;
    case RAMP:
        if (t == TENSOR_V) return (d + 1) / 256.0;
        break;
    case IDENTITY:
        if (t == TENSOR_V) break;
        if (d != j % head_dim) return 0;
        return 16;
    case INDEX:
        if (t == TENSOR_V) return (j + 3 * d) % 61;
        break;
    }
    return normal(key[0], index);
}

static void fill(enum input input, enum tensor t, uint64_t seed, int batch, int heads, int seqlen,
                 int head_dim, enum dtype dtype, const struct tensor_stride *s, half *out) {
    int64_t n_rows = (int64_t)batch * heads * seqlen;
    const uint64_t key[3] = {stream_key(seed, t), stream_key(seed, t + 4), stream_key(seed, t + 8)};
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < n_rows; row++) {
        int64_t j = row % seqlen, h = row / seqlen % heads, b = row / seqlen / heads;
        half *to = out + b * s->batch + h * s->head + j * s->row;
        for (int d = 0; d < head_dim; d++)
            to[d] = dtype_from_double(
                dtype, element(input, t, key, row * head_dim + d, j, seqlen, d, head_dim));
    }
}

const char *input_fill(const char *name, uint64_t seed, const struct attention *a, half *q, half *k,
                       half *v) {
    int input = find(name);
    if (input < 0)
        return reason("no input called '%s'; there are normal, outlier, normal3, uniform, "
                      "ascending, descending, "
                      "negative, constant, ramp, identity, index",
                      name);
    fill(input, TENSOR_Q, seed, a->batch, a->heads, a->seqlen_q, a->head_dim, a->dtype,
         &a->q_stride, q);
    fill(input, TENSOR_K, seed, a->batch, a->kv_heads, a->seqlen_k, a->head_dim, a->dtype,
         &a->k_stride, k);
    fill(input, TENSOR_V, seed, a->batch, a->kv_heads, a->seqlen_k, a->head_dim, a->dtype,
         &a->v_stride, v);
    return NULL;
}
