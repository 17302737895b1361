/* What stores to many lines cost an SM: a program of its own.
 *
 *   nvcc -O2 -std=c++17 -arch=sm_90a -o scattered chips/bench/scattered.cu && ./scattered > scattered.tsv
 *
 * Lines as of foreign.cu: bench, variant, what, median, unit, least, most, n; tab separated.
 *
 *   scattered   cycles of the SM for each store (or load and store) of a warp, whose lanes go to so many lines: 1, 2, 4, 8
 *               bytes a lane, by warps and SMs; a lane's next store is beside its last one, or (`apart`) in another sector
 *   update      the same, each lane reads the word, adds, and writes it back: lines stay in L1
 *   local       cycles for each load and store of local memory, chained, and by warps
 *   first       ns of a launch: the first of its kernel in this process, and the next ones */
#include "check.cuh"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

enum { ROW = 4096, STORES = 256 };
static uint64_t *out, seen[1 << 14];
static char *data;

static __device__ __forceinline__ uint64_t cycles() {
    uint64_t t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
    return t;
}

template <typename T, bool READS>
__global__ void scatter(char *data, int lines, int step, uint64_t *out) {
    const int lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    char *to =
        data + (size_t)warp * 32 * ROW + lane * lines / 32 * ROW + lane % (32 / lines) * sizeof(T);
    T x = {};
    uint64_t t = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        t = cycles();
        for (int i = 0; i < STORES; i++) {
            T *at = (T *)(to + i * step % ROW);
            if (READS) x = *(volatile T *)at;
            x += 1;
            *(volatile T *)at = x;
        }
        __syncthreads();
        t = cycles() - t;
    }
    if (threadIdx.x == 0) out[blockIdx.x] = t;
}

static void line(const char *bench, const char *variant, std::vector<double> x, const char *unit) {
    std::sort(x.begin(), x.end());
    printf("%s\t%s\teach\t%.6g\t%s\t%.6g\t%.6g\t%zu\n", bench, variant, x[x.size() / 2], unit, x[0],
           x.back(), x.size());
    fflush(stdout);
}

template <typename T, bool READS> static void one(int lines, int warps, int ctas, int step) {
    std::vector<double> x;
    char variant[96];
    for (int i = 0; i < 4; i++) {
        scatter<T, READS><<<ctas, 32 * warps>>>(data, lines, step, out);
        check(cudaMemcpy(seen, out, 8 * ctas, cudaMemcpyDeviceToHost));
        for (int c = 0; i && c < ctas; c++) x.push_back((double)seen[c] / STORES / warps);
    }
    snprintf(variant, sizeof variant, "%zu bytes, %d lines, %d apart, %d warps, %d SMs", sizeof(T),
             lines, step, warps, ctas);
    line(READS ? "update" : "scattered", variant, x, "cycles");
}

template <typename T> static void all() {
    for (int lines : {1, 4, 8, 16, 32})
        for (int warps : {1, 4, 8})
            for (int ctas : {1, 32, 132})
                for (int step : {(int)sizeof(T), 32}) {
                    one<T, false>(lines, warps, ctas, step);
                    one<T, true>(lines, warps, ctas, step);
                }
}

__global__ void local(int turns, uint64_t *out) {
    int a[64], v = threadIdx.x & 63;
    for (int i = 0; i < 64; i++) a[i] = (i * 7 + turns) & 63;
    __syncthreads();
    const uint64_t t = cycles();
    for (int i = 0; i < turns; i++) {
        v = a[v];
        a[(v + i) & 63] = v ^ 5;
        v &= 63;
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = cycles() - t;
    if (v == 12345) out[1] = v;
}

static void locals() {
    for (int warps : {1, 4, 16}) {
        std::vector<double> x;
        char variant[32];
        for (int i = 0; i < 5; i++) {
            local<<<1, 32 * warps>>>(512, out);
            check(cudaMemcpy(seen, out, 8, cudaMemcpyDeviceToHost));
            if (i) x.push_back((double)seen[0] / 512 / warps);
        }
        snprintf(variant, sizeof variant, "%d warps", warps);
        line("local", variant, x, "cycles");
    }
}

template <int KIND> __global__ void touch(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; k++) x[i] = x[i] * 1.5f + KIND + k;
}
template <int KIND> static void first(int ctas) {
    char variant[64];
    float ms[6];
    cudaEvent_t from, to;
    check(cudaEventCreate(&from)), check(cudaEventCreate(&to));
    for (float &m : ms) {
        check(cudaEventRecord(from));
        touch<KIND><<<ctas, 128>>>((float *)data, 4);
        check(cudaEventRecord(to));
        check(cudaEventSynchronize(to));
        check(cudaEventElapsedTime(&m, from, to));
    }
    for (int i : {0, 1, 5}) {
        snprintf(variant, sizeof variant, "%d CTAs, launch %d", ctas, i);
        line("first", variant, {1e6 * ms[i]}, "ns");
    }
}

int main() {
    check(cudaMalloc(&data, (size_t)132 * 8 * 32 * ROW));
    check(cudaMalloc(&out, sizeof seen));
    check(cudaMemset(data, 0, (size_t)132 * 8 * 32 * ROW));
    first<1>(1), first<2>(132), first<3>(1056);
    locals();
    all<uint8_t>(), all<uint16_t>(), all<uint32_t>(), all<uint64_t>();
    return 0;
}
