/* On which SMs CTAs run, and how CTAs share an SM: a program of its own.
 *
 *   nvcc -O2 -std=c++17 -arch=sm_90a -I. -Ibuild/include -o placement chips/bench/placement.cu && ./placement > placement.tsv
 *
 * A line a launch: name, grid, shared bytes, kind, amount, mask; then of each CTA, in the order of their
 * numbers: SM, ns of its begin and end since the first began, cycles. */
#include "check.cuh"
#include "timed.cuh"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct record {
    uint32_t sm;
    uint64_t cycles, begin_ns, end_ns;
};

enum kind { STAY, FMA, HMMA, SOFTMAX, LOADS };
static const char *const kind_name[] = {"stay", "fma", "hmma", "softmax", "loads"};

static __device__ __forceinline__ void multiply(float (&d)[8][4], int n) {
#pragma unroll
    for (int i = 0; i < 32; i++)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(d[i % 8][0]), "+f"(d[i % 8][1]), "+f"(d[i % 8][2]), "+f"(d[i % 8][3])
                     : "r"(1), "r"(2), "r"(3), "r"(n), "r"(4), "r"(5));
}

/* amount: cycles (STAY) or turns, slope more for each row of the grid above, or below, the first. */
__global__ void work(record *records, float *sink, int kind, int amount, int slope, bool falls) {
    extern __shared__ uint4 smem[]; /* of LOADS, 4096 bytes */
    uint64_t begin_ns = nanoseconds(), begin = cycles();
    int64_t turns = amount + (int64_t)slope * (falls ? gridDim.y - 1 - blockIdx.y : blockIdx.y);
    float x[8], d[8][4] = {};
    for (int i = 0; i < 8; i++) x[i] = threadIdx.x + i;
    if (kind == STAY)
        while ((int64_t)(cycles() - begin) < turns)
            ;
    for (int64_t k = 0; kind != STAY && k < turns; k++) {
        if (kind == HMMA || kind == SOFTMAX) multiply(d, threadIdx.x);
        if (kind == LOADS)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                uint4 v = smem[(threadIdx.x + 32 * i + k) & 255];
                x[i] += __uint_as_float(v.x), x[i + 4] += __uint_as_float(v.z);
            }
        if (kind != HMMA)
#pragma unroll
            for (int i = 0; i < 64; i++) x[i % 8] = fmaf(x[i % 8], 1.0001f, d[i % 8][i / 8 % 4]);
        if (kind == SOFTMAX)
#pragma unroll
            for (int i = 0; i < 32; i++)
                asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[i % 8]));
        if (kind == SOFTMAX || kind == LOADS) __syncthreads();
    }
    float sum = 0;
    for (int i = 0; i < 8; i++) sum += x[i] + d[i][1];
    if (sum == 1.2345f) *sink = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        records[blockIdx.x + gridDim.x * blockIdx.y] = {sm_number(), cycles() - begin, begin_ns,
                                                        nanoseconds()};
}

/* `fit` CTAs an SM at once, by their shared memory. */
static void launch(int fit, dim3 grid, int kind, int amount, int slope, bool falls) {
    static record *records;
    static float *sink;
    enum { MOST = 8192, TURNS = 3 };
    int shared = fit == 1 ? 200 << 10 : (220 << 10) / fit;
    std::vector<record> all(grid.x * grid.y);
    if (!records) check(cudaMalloc(&records, MOST * sizeof *records));
    if (!sink) check(cudaMalloc(&sink, sizeof *sink));
    check(cudaFuncSetAttribute(work, cudaFuncAttributeMaxDynamicSharedMemorySize, 220 << 10));
    for (int turn = 0; turn < TURNS; turn++) { /* the first warms up */
        work<<<grid, 128, shared>>>(records, sink, kind, amount, slope, falls);
        check(cudaDeviceSynchronize());
    }
    check(cudaMemcpy(all.data(), records, all.size() * sizeof all[0], cudaMemcpyDeviceToHost));
    uint64_t first = UINT64_MAX;
    for (const record &r : all) first = std::min(first, r.begin_ns);
    printf("%s, %d fit\t%ux%u\t%d\t%s\t%d\t%d%s", kind_name[kind], fit, grid.x, grid.y, shared,
           kind_name[kind], amount, slope, falls ? " falling" : "");
    for (const record &r : all)
        printf("\t%u,%llu,%llu,%llu", r.sm, (unsigned long long)(r.begin_ns - first),
               (unsigned long long)(r.end_ns - first), (unsigned long long)r.cycles);
    printf("\n");
}

int main() {
    int sms;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    for (int fit = 1; fit <= 4; fit++) {
        for (int more : {0, 4, 56, 132}) {
            launch(fit, sms * fit + more, STAY, 20000, 0, false);
            for (int kind : {FMA, HMMA, SOFTMAX, LOADS})
                launch(fit, sms * fit + more, kind, 500, 0, false);
        }
        for (int n : {4, 8, 16, 24, 35, 54, 66, 80, 100, 120, 160, 220, 250, 300})
            launch(fit, n, STAY, 20000, 0, false);
        for (bool falls : {false, true}) launch(fit, dim3(22, 10), STAY, 4000, 4000, falls);
    }
    return 0;
}
