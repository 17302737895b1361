/* Which part of a launch's data is still in L2 when the next launch reads it again: a program of its own.
 *
 *   nvcc -O2 -std=c++17 -arch=sm_90a -I. -Ibuild/include -o footprint chips/bench/footprint.cu && ./footprint > footprint.tsv
 *
 * A line a footprint: how CTAs share it, MiB, times each byte is read in a launch, ns of a launch (median of
 * 9 behind 4 that warm up), bytes a ns, then of 2048 lines looked at behind them the per cent that were in
 * L2, of all and of each eighth of the footprint.
 *
 *   own      CTA i reads piece i of 132, always the same
 *   still    blocks of 16 KiB, one CTA after another, always the same ones
 *   turns    the same; at each launch other ones
 *   pairs    as still, each block read by two CTAs, neighbours
 *   four     by four */
#include "check.cuh"
#include "timed.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

enum { BLOCK = 16 << 10, PROBES = 2048, LAUNCHES = 13, WARM = 4, THREADS = 256 };
struct record {
    uint64_t begin_ns, end_ns;
};

/* A block a turn, four loads of 16 bytes a thread; `sharing` CTAs read the same ones. */
__global__ void __launch_bounds__(THREADS, 1)
    read_all(const char *data, long n_blocks, int shift, int sharing, bool own, record *records) {
    uint64_t begin = nanoseconds();
    long n = gridDim.x / sharing, cta = (blockIdx.x + shift) % gridDim.x / sharing;
    long each = (n_blocks + n - 1) / n, from = own ? cta * each : cta, step = own ? 1 : n;
    long to = own && from + each < n_blocks ? from + each : n_blocks;
    uint32_t sum = 0;
    for (long b = from; b < to; b += step) {
        uint4 x[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(x[k].x), "=r"(x[k].y), "=r"(x[k].z), "=r"(x[k].w)
                         : "l"(data + b * BLOCK + (k * THREADS + threadIdx.x) * 16l));
        for (int k = 0; k < 4; k++) sum += x[k].x ^ x[k].y ^ x[k].z ^ x[k].w;
    }
    if (sum == 12345) records[0].begin_ns = 0;
    __syncthreads();
    if (threadIdx.x == 0) records[blockIdx.x] = {begin, nanoseconds()};
}

/* Cycles of one load each, of lines spread over the footprint, in no order. */
__global__ void probe(const char *data, long n_lines, uint32_t *took) {
    for (long i = 0; i < PROBES; i++) {
        long at = (long)(((i * 1031) % PROBES * 2 + 1) * n_lines / (2 * PROBES));
        uint64_t t = cycles();
        uint32_t x;
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(data + at * 128) : "memory");
        asm volatile("" ::"r"(x) : "memory");
        if (x == 12345) took[0] = x;
        took[(i * 1031) % PROBES] = (uint32_t)(cycles() - t);
    }
}

static char *data;
static record *records;
static uint32_t *took;

static void measure(const char *name, int sms, double mib, int sharing, bool own, bool turns) {
    long n_blocks = (long)(mib * (1 << 20)) / BLOCK, n_lines = n_blocks * (BLOCK / 128);
    std::vector<record> r(sms);
    std::vector<uint32_t> t(PROBES);
    std::vector<double> ns;
    enum { NEAR = 450 }; /* cycles: L2 answers within 390, DRAM after 550 */
    int hits[8] = {0}, all = 0;
    for (int i = 0; i < LAUNCHES; i++) {
        read_all<<<sms, THREADS>>>(data, n_blocks, turns ? 37 * i : 0, sharing, own, records);
        check(cudaMemcpy(r.data(), records, sms * sizeof r[0], cudaMemcpyDeviceToHost));
        uint64_t begin = UINT64_MAX, end = 0;
        for (const record &x : r)
            begin = std::min(begin, x.begin_ns), end = std::max(end, x.end_ns);
        if (i >= WARM) ns.push_back((double)(end - begin));
    }
    probe<<<1, 1>>>(data, n_lines, took);
    check(cudaMemcpy(t.data(), took, PROBES * sizeof t[0], cudaMemcpyDeviceToHost));
    for (int i = 0; i < PROBES; i++)
        if (t[i] < NEAR) all++, hits[i * 8 / PROBES]++;
    std::sort(ns.begin(), ns.end());
    printf("%s\t%g\t%d\t%.0f\t%.0f\t%.1f", name, mib, sharing, ns[ns.size() / 2],
           (double)n_blocks * BLOCK * sharing / ns[ns.size() / 2], 100.0 * all / PROBES);
    for (int h : hits) printf("\t%.1f", 800.0 * h / PROBES);
    printf("\n");
    fflush(stdout);
}

int main() {
    int sms;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    check(cudaMalloc(&data, 256l << 20));
    check(cudaMemset(data, 1, 256l << 20));
    check(cudaMalloc(&records, sms * sizeof *records));
    check(cudaMalloc(&took, PROBES * sizeof *took));
    static const double sizes[] = {8,  12, 16, 20, 24, 26, 28, 30, 32, 34, 36, 38,  40,
                                   42, 44, 46, 48, 50, 52, 54, 56, 60, 64, 80, 100, 160};
    for (double mib : sizes) measure("own", sms, mib, 1, true, false);
    for (double mib : sizes) measure("turns", sms, mib, 1, false, true);
    for (double mib : sizes) measure("still", sms, mib, 1, false, false);
    for (double mib : sizes) measure("pairs", sms, mib, 2, false, false);
    for (double mib : sizes) measure("four", sms, mib, 4, false, false);
    return 0;
}
