/* Which part of a launch's data is still in L2 when the next launch reads it again: a program of its own.
 *
 *   nvcc -O2 -std=c++17 -arch=sm_90a -I. -Ibuild/include -o footprint chips/bench/footprint.cu && ./footprint > footprint.tsv
 *
 * A line a footprint: how CTAs share it, MiB, times each byte is read in a launch, ns of a launch (median of
 * 9 behind 4 that warm up), bytes a ns, then of 2048 lines looked at behind them the per cent that were in
 * L2, of all and of each eighth of the footprint; per cent that the last CTA ends behind the mean of all.
 *
 *   own      CTA i reads piece i of 132, always the same
 *   still    blocks of 16 KiB, one CTA after another, always the same ones
 *   turns    the same; at each launch other ones
 *   pairs    as still, each block read by two CTAs, neighbours
 *   four     by four
 *   copies   as own, by copies of 8 KiB to shared memory (cp.async.bulk), four on their way
 *   back     as copies, from the end to the begin
 *   two      as copies, of two arrays in turn, as K and V
 * A number behind the name: so many CTAs instead of one for each SM. */
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

enum { COPY = 8 << 10, DEPTH = 4 };

/* CTA i copies piece i to shared memory, COPY bytes at a time. `two`: of each half of the data a piece, in turn. */
__global__ void copy_all(const char *data, long n_copies, bool back, bool two, record *records) {
    extern __shared__ __align__(128) char to[];
    __shared__ uint64_t full[DEPTH];
    const uint64_t begin = nanoseconds();
    const long each = (n_copies / 2 + gridDim.x - 1) / gridDim.x * 2, from = blockIdx.x * each,
               n = from + each < n_copies ? each : n_copies - from;
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(to),
                   barrier = (uint32_t)__cvta_generic_to_shared(full);
    for (int i = 0; i < DEPTH; i++) mbarrier_init(barrier + 8 * (uint32_t)i, 1);
    asm volatile("fence.proxy.async;" ::: "memory");
    for (long i = 0; i < n + DEPTH - 1; i++) {
        if (i >= DEPTH - 1) { /* wait for copy i - DEPTH + 1 */
            const long k = i - DEPTH + 1;
            wait_for(barrier + 8 * (uint32_t)(k % DEPTH), (uint32_t)(k / DEPTH % 2));
        }
        if (i >= n) continue;
        const long k = back ? n - 1 - i : i,
                   b = two ? k % 2 * (n_copies / 2) + (from + k) / 2 : from + k;
        const uint32_t stage = (uint32_t)(i % DEPTH);
        mbarrier_arrive_expect_tx(barrier + 8 * stage, COPY);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
                     "[%1], %2, [%3];" ::"r"(at + stage * COPY),
                     "l"(data + b * COPY), "r"(COPY), "r"(barrier + 8 * stage)
                     : "memory");
    }
    records[blockIdx.x] = {begin, nanoseconds()};
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

enum copies { NONE, COPIES, BACK, TWO };

static void measure(const char *name, int sms, double mib, int sharing, bool own, bool turns,
                    enum copies copies = NONE) {
    long n_blocks = (long)(mib * (1 << 20)) / BLOCK, n_lines = n_blocks * (BLOCK / 128);
    std::vector<record> r(sms);
    std::vector<uint32_t> t(PROBES);
    std::vector<double> ns, apart;
    enum { NEAR = 450 }; /* cycles: L2 answers within 390, DRAM after 550 */
    int hits[8] = {0}, all = 0;
    for (int i = 0; i < LAUNCHES; i++) {
        if (copies)
            copy_all<<<sms, 1, 100 << 10>>>(data, n_blocks * (BLOCK / COPY), copies == BACK,
                                            copies == TWO, records);
        else
            read_all<<<sms, THREADS>>>(data, n_blocks, turns ? 37 * i : 0, sharing, own, records);
        check(cudaGetLastError());
        check(cudaMemcpy(r.data(), records, sms * sizeof r[0], cudaMemcpyDeviceToHost));
        uint64_t begin = UINT64_MAX, end = 0;
        for (const record &x : r)
            begin = std::min(begin, x.begin_ns), end = std::max(end, x.end_ns);
        double mean = 0;
        for (const record &x : r) mean += (double)(x.end_ns - begin) / sms;
        if (i < WARM) continue;
        ns.push_back((double)(end - begin));
        apart.push_back(100 * ((double)(end - begin) / mean - 1));
    }
    probe<<<1, 1>>>(data, n_lines, took);
    check(cudaMemcpy(t.data(), took, PROBES * sizeof t[0], cudaMemcpyDeviceToHost));
    for (int i = 0; i < PROBES; i++)
        if (t[i] < NEAR) all++, hits[i * 8 / PROBES]++;
    std::sort(ns.begin(), ns.end());
    std::sort(apart.begin(), apart.end());
    printf("%s\t%g\t%d\t%.0f\t%.0f\t%.1f", name, mib, sharing, ns[ns.size() / 2],
           (double)n_blocks * BLOCK * sharing / ns[ns.size() / 2], 100.0 * all / PROBES);
    for (int h : hits) printf("\t%.1f", 800.0 * h / PROBES);
    printf("\t%.1f\n", apart[apart.size() / 2]);
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
    check(cudaFuncSetAttribute(copy_all, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
    for (double mib : sizes) measure("own 88", 88, mib, 1, true, false);
    for (double mib : sizes) measure("copies", sms, mib, 1, true, false, COPIES);
    for (double mib : sizes) measure("copies 88", 88, mib, 1, true, false, COPIES);
    for (double mib : sizes) measure("back 88", 88, mib, 1, true, false, BACK);
    for (double mib : sizes) measure("two 88", 88, mib, 1, true, false, TWO);
    return 0;
}
