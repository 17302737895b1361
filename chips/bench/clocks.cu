/* Which SMs share a clock, and when it falls? A program of its own.
 *
 *   nvcc -O2 -std=c++17 -gencode arch=compute_90a,code=sm_90a -I. -Ibuild/include -o clocks chips/bench/clocks.cu && ./clocks > clocks.tsv
 *
 * One CTA runs on every SM, all for the same time by the chip's one timer. Busy CTAs multiply (HMMA, WGMMA) or
 * add (FMA); the others only read the clocks. CTAs take the SMs of one GPC before those of the next, so a range
 * of CTAs is a number of GPCs, and every second CTA, or pair, is a part of each GPC.
 *
 * A line a launch: kind ("until 8": up to that sample; "each 500 ns": so long a rest between products), busy ones
 * ("0-131/1 of 2": of CTAs 0 to 131 the first of each two), ns; then for each CTA
 * SM, 1 if busy, and SAMPLES times ns since the launch's first and cycles since the SM's first. */
#include "check.cuh"
#include "timed.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

enum { SAMPLES = 16, THREADS = 256, SHARED = 180 << 10 };
enum kind { FMA, HMMA, WGMMA };
static const char *const kind_name[] = {"fma", "hmma", "wgmma"};

struct record {
    uint32_t sm, busy;
    uint64_t ns[SAMPLES], cycles[SAMPLES];
};

/* Which CTAs are busy: of from ... to, of each `of` the first `some`. When: up to the sample `until`, with
 * `gap_ns` of rest after each 64 products. */
struct chosen {
    int from, to, of, some, until = SAMPLES, gap_ns = 0;
};

static __device__ __forceinline__ void multiply_hmma(float (&d)[8][4], const uint32_t (&x)[6]) {
#pragma unroll
    for (int i = 0; i < 64; i++)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(d[i % 8][0]), "+f"(d[i % 8][1]), "+f"(d[i % 8][2]), "+f"(d[i % 8][3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]));
}

/* 32 products of a warpgroup, 64 x 128 x 16, A and B in shared memory; the other's fill the pauses. */
static __device__ __forceinline__ void multiply_wgmma(float (&d)[16][4], uint64_t a, uint64_t b) {
    wgmma_fence(); // d was touched by other instructions, or may have been
#pragma unroll
    for (int k = 0; k < 32; k++) wgmma_m64k16_ss<128>(d, a + 2 * (k % 4), b + 2 * (k % 4), 1);
    wgmma_commit_group();
    wgmma_wait_group<0>();
    registers_fence(d);
}

static __device__ __forceinline__ uint32_t random_bits(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352d;
    x = (x ^ x >> 15) * 0x846ca68b;
    return x ^ x >> 16;
}

__global__ void __launch_bounds__(THREADS, 1)
    work(record *records, float *sink, int kind, chosen who, uint64_t length_ns) {
    extern __shared__ __align__(1024) uint32_t smem[];
    __shared__ volatile int n_samples;
    const int cta = (int)blockIdx.x;
    const bool busy = cta >= who.from && cta <= who.to && cta % who.of < who.some;
    record *r = &records[cta];
    // Both halves of a word are fp16 from 1 to 2: what products take of power depends on their bits.
    for (uint32_t i = threadIdx.x; i < 16 << 10; i += THREADS)
        smem[i] = 0x3c003c00 | (random_bits(i) & 0x03ff03ff);
    fence_proxy_async(); // wgmma reads through the async proxy: it must see these writes
    __syncthreads();     // all threads have written their share
    const uint64_t form = 64ull << 32 | 1ull << 62; // rows 8 apart: 1024 bytes; swizzle of 128
    const uint64_t a = form | smem_address(smem) >> 4;
    const uint64_t b = form | (smem_address(smem) + (16 << 10)) >> 4;
    uint32_t x[6];
    for (uint32_t i = 0; i < 6; i++) x[i] = smem[threadIdx.x + 256 * i];
    float d[16][4] = {}, h[8][4] = {}, f[8] = {};
    const uint64_t begin = nanoseconds();
    for (int n = 0; n < SAMPLES;) {
        if (threadIdx.x == 0) {
            const uint64_t now = nanoseconds();
            if (now - begin >= n * length_ns / (SAMPLES - 1))
                r->ns[n] = now, r->cycles[n] = cycles(), n++;
            n_samples = n;
        }
        __syncthreads(); // thread 0 has looked
        n = n_samples;
        __syncthreads(); // all have read it before it looks again
        if (!busy || n > who.until) continue;
        for (uint64_t rest = nanoseconds();
             who.gap_ns && nanoseconds() - rest < (uint64_t)who.gap_ns;)
            ;
        if (kind == WGMMA) multiply_wgmma(d, a, b);
        if (kind == HMMA) multiply_hmma(h, x);
        if (kind == FMA)
#pragma unroll
            for (int i = 0; i < 256; i++)
                f[i % 8] = fmaf(f[i % 8], 0.999f, __uint_as_float(x[i % 6]));
    }
    float sum = 0;
    for (int i = 0; i < 8; i++) sum += f[i] + h[i][1] + d[i][1] + d[8 + i][0];
    if (sum == 1.2345f) *sink = sum;
    if (threadIdx.x == 0) r->sm = sm_number(), r->busy = busy;
}

static void launch(int sms, int kind, chosen who, uint64_t length_ns) {
    static record *records;
    static float *sink;
    std::vector<record> all(sms);
    if (!records) check(cudaMalloc(&records, sms * sizeof *records));
    if (!sink) check(cudaMalloc(&sink, sizeof *sink));
    check(cudaFuncSetAttribute(work, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    for (int turn = 0; turn < 2; turn++) { /* the first warms up */
        work<<<sms, THREADS, SHARED>>>(records, sink, kind, who, length_ns);
        check(cudaDeviceSynchronize());
    }
    check(cudaMemcpy(all.data(), records, all.size() * sizeof all[0], cudaMemcpyDeviceToHost));
    uint64_t first = UINT64_MAX;
    for (const record &r : all) first = std::min(first, r.ns[0]);
    printf("%s", kind_name[kind]);
    if (who.until < SAMPLES) printf(" until %d", who.until);
    if (who.gap_ns) printf(" each %d ns", who.gap_ns);
    printf("\t%d-%d/%d of %d\t%llu", who.from, who.to, who.some, who.of,
           (unsigned long long)length_ns);
    for (const record &r : all) {
        printf("\t%u,%u", r.sm, r.busy);
        for (int n = 0; n < SAMPLES; n++)
            printf(",%llu,%llu", (unsigned long long)(r.ns[n] - first),
                   (unsigned long long)(r.cycles[n] - r.cycles[0]));
    }
    printf("\n");
    fflush(stdout);
}

int main() {
    int sms;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    const int last = sms - 1;
    const chosen none = {0, -1, 1, 1}, sets[] = {{0, last, 1, 1},  /* all */
                                                 {0, last, 2, 1},  /* one of each pair */
                                                 {0, last, 4, 2},  /* every second pair */
                                                 {0, last, 16, 2}, /* a pair of each GPC, nearly */
                                                 {0, last / 2, 1, 1},  /* half of the GPCs */
                                                 {0, 15, 1, 1},        /* one */
                                                 {0, last - 16, 1, 1}, /* all but one */
                                                 {0, 1, 1, 1}};        /* one pair */
    for (uint64_t us : {20, 200, 2000}) {
        launch(sms, FMA, none, us * 1000);
        for (int kind : {FMA, HMMA, WGMMA})
            for (const chosen &who : sets) launch(sms, kind, who, us * 1000);
    }
    for (uint64_t us : {20, 60, 200, 2000}) /* how soon it is fast again */
        for (int kind : {HMMA, WGMMA}) launch(sms, kind, {0, last, 1, 1, 8}, us * 1000);
    for (int gap_ns : {500, 2000, 8000, 32000}) /* how little is enough */
        launch(sms, HMMA, {0, last, 1, 1, SAMPLES, gap_ns}, 200000);
    for (int gap_ns : {500, 2000, 8000}) launch(sms, HMMA, {0, 15, 1, 1, SAMPLES, gap_ns}, 200000);
    for (int n : {4, 8, 16, 24, 35, 54, 66, 80, 100, 120}) launch(n, HMMA, {0, n - 1, 1, 1}, 20000);
    launch(sms, WGMMA, sets[0], 50000000); /* until its power counts */
    launch(sms, HMMA, sets[0], 50000000);
    launch(sms, WGMMA, sets[2], 50000000);
    return 0;
}
