// public_attention VERSION [heads seqlen_q seqlen_k]: calls an attention of learn-cuda (07_attention) under build/run, whose own
// host code needs PyTorch, and compares every row with double. Compiled with its sources by tests/public/public_code.sh.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_bf16.h>

typedef void attention(const nv_bfloat16 *q, const nv_bfloat16 *k, const nv_bfloat16 *v,
                       nv_bfloat16 *o, int heads, int seqlen_q, int seqlen_k, int dim);
attention attention_v1, attention_v2, attention_v3, attention_v4, attention_v5;

enum { DIM = 128 };
typedef std::vector<nv_bfloat16> tensor; // (heads, rows, DIM)

static tensor normal(size_t n) {
    tensor t(n);
    for (auto &x : t) {
        double sum = 0.5; // as there: no mean of zero
        for (int i = 0; i < 12; i++) sum += rand() / (double)RAND_MAX - 0.5;
        x = __double2bfloat16(sum);
    }
    return t;
}

static nv_bfloat16 *on_device(const tensor &t) {
    nv_bfloat16 *p;
    cudaMalloc(&p, t.size() * sizeof *p);
    cudaMemcpy(p, t.data(), t.size() * sizeof *p, cudaMemcpyHostToDevice);
    return p;
}

// The error of a row, relative to its length.
static double error_of(const nv_bfloat16 *q, const nv_bfloat16 *k, const nv_bfloat16 *v,
                       const nv_bfloat16 *o, int n) {
    std::vector<double> p(n);
    double out[DIM] = {0}, sum = 0, error = 0, length = 0;
    for (int j = 0; j < n; j++) {
        double s = 0;
        for (int d = 0; d < DIM; d++) s += (double)(float)q[d] * (double)(float)k[j * DIM + d];
        sum += p[j] = exp(s / sqrt((double)DIM)); // of sums near 60 at most: no overflow
        for (int d = 0; d < DIM; d++) out[d] += p[j] * (double)(float)v[j * DIM + d];
    }
    for (int d = 0; d < DIM; d++) {
        double want = out[d] / sum, e = (double)(float)o[d] - want;
        error += e * e, length += want * want;
    }
    return sqrt(error / length);
}

int main(int argc, char **argv) {
    attention *const all[] = {attention_v1, attention_v2, attention_v3, attention_v4, attention_v5};
    int version = argc > 1 ? atoi(argv[1]) : 0, heads = argc > 2 ? atoi(argv[2]) : 2;
    int seqlen_q = argc > 3 ? atoi(argv[3]) : 256, seqlen_k = argc > 4 ? atoi(argv[4]) : 512;
    if (version < 1 || version > 5) return 2;
    tensor q = normal((size_t)heads * seqlen_q * DIM), k = normal((size_t)heads * seqlen_k * DIM),
           v = normal((size_t)heads * seqlen_k * DIM), o(q.size());
    nv_bfloat16 *device_o = on_device(o);
    all[version - 1](on_device(q), on_device(k), on_device(v), device_o, heads, seqlen_q, seqlen_k,
                     DIM);
    if (cudaMemcpy(o.data(), device_o, o.size() * sizeof o[0], cudaMemcpyDeviceToHost)) return 4;
    double worst = 0;
    for (int row = 0; row < heads * seqlen_q; row++) {
        size_t kv = (size_t)(row / seqlen_q) * seqlen_k * DIM;
        double e = error_of(&q[(size_t)row * DIM], &k[kv], &v[kv], &o[(size_t)row * DIM], seqlen_k);
        if (!(e <= worst)) worst = e; // NaN, too
    }
    printf("v%d (%d, %d, %d): worst row error %.2e: %s\n", version, heads, seqlen_q, seqlen_k,
           worst, worst < 1e-2 ? "right" : "WRONG");
    return !(worst < 1e-2);
}
