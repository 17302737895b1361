/* How far apart the SMs of a launch of one wave end: TMA loads with work between them. A program of its own.
 *
 *   nvcc -O3 -std=c++17 -arch=sm_90a -I. -Ibuild/include -o ends chips/bench/ends.cu && ./ends > ends.tsv
 *
 * Each CTA, one an SM, takes `tiles` tiles of `rows` times 128 bytes, two of them on their way ahead of it, and behind
 * each `work` turns of a loop (of 23 cycles) and `products` times eight WGMMA of 64 x 128 x 16. `sharing` neighbours read the same; all together `mib` of data, from
 * L2 (16), or DRAM (512; each launch other data). `shift`: how many tiles farther on all of them read.
 * A line a case: its numbers, ns from when the first CTA began until CTAs ended: mean, and in percent of it the standard
 * deviation of SMs (means of the launches), of launches, the last SM's distance from the mean; cycles of a CTA, their
 * deviation in percent; then SM,ns of each.
 */
#include "check.cuh"
#include "timed.cuh"

#include <cuda.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

enum { SMS = 132, DEPTH = 2, BYTES = 200 << 10, MIB = 512, LAUNCHES = 14, WARM = 4 };

struct one {
    int ctas, rows, tiles, work, products, sharing, mib, shift;
};

struct took {
    uint64_t began, ended, cycles;
    uint32_t sm;
};

static __device__ __forceinline__ void multiply(float (&d)[16][4], uint64_t a, uint64_t b, int n) {
    wgmma_fence();
    for (int i = 0; i < n; i++)
#pragma unroll
        for (int k = 0; k < 8; k++) wgmma_m64k16_ss<128>(d, a + 2 * (k % 4), b + 2 * (k % 4), 1);
    wgmma_commit_group();
    wgmma_wait_group<0>();
}

__global__ void __launch_bounds__(128)
    walk(const __grid_constant__ CUtensorMap map, const __grid_constant__ struct one o, took *out) {
    extern __shared__ __align__(1024) char smem[];
    const uint32_t barrier = smem_address(smem), to = barrier + 1024, bytes = o.rows * 128;
    const int group = blockIdx.x / o.sharing, groups = (o.ctas + o.sharing - 1) / o.sharing;
    const int all = (int)(((int64_t)o.mib << 20) / bytes), each = all / groups;
    float x = 1, d[16][4] = {};
    uint64_t began = nanoseconds(), from = cycles();
    if (threadIdx.x == 0) {
        for (int i = 0; i < DEPTH; i++) mbarrier_init(barrier + 8 * i, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    auto ask = [&](int i) {
        if (threadIdx.x) return;
        int tile = (group * each + i % each + o.shift) % all;
        mbarrier_arrive_expect_tx(barrier + 8 * (i % DEPTH), bytes);
        for (int r = 0; r < o.rows; r += 128)
            asm volatile(
                "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                " [%0], [%1, {%3, %4}], [%2];" ::"r"(to + i % DEPTH * bytes + r * 128),
                "l"(&map), "r"(barrier + 8 * (i % DEPTH)), "r"(0), "r"(tile * o.rows + r)
                : "memory");
    };
    for (int i = 0; i < DEPTH && i < o.tiles; i++) ask(i);
    for (int i = 0; i < o.tiles; i++) {
        wait_for(barrier + 8 * (i % DEPTH), i / DEPTH % 2);
        for (int k = o.work; k > 0; k--) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
        uint64_t tile = 64ull << 32 | 1ull << 62 | (to + i % DEPTH * bytes) >> 4; // swizzle of 128
        if (o.products) multiply(d, tile, tile, o.products);
        __syncthreads();
        if (i + DEPTH < o.tiles) ask(i + DEPTH);
    }
    if (d[0][0] + x == 1.5f) out[0].sm = 0;
    if (threadIdx.x == 0) out[blockIdx.x] = {began, nanoseconds(), cycles() - from, sm_number()};
}

__global__ void fill(uint16_t *data, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) data[i] = (uint16_t)((i * 2654435761u >> 8 & 0x83ff) | 0x2c00);
}

typedef CUresult encode_function(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                                 const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                                 const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static encode_function *encode;
static char *data;
static took *out;

static CUtensorMap map_of(int rows) {
    CUtensorMap map;
    const cuuint64_t extent[] = {64, ((cuuint64_t)MIB << 20) / 128}, stride[] = {128};
    const cuuint32_t box[] = {64, (cuuint32_t)std::min(rows, 128)}, ones[] = {1, 1};
    if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, data, extent, stride, box, ones,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
        check(cudaErrorInvalidValue);
    return map;
}

static double deviation(const std::vector<double> &v) {
    double sum = 0, square = 0, n = (double)v.size();
    for (double x : v) sum += x, square += x * x;
    return sqrt(std::max(0.0, square / n - sum / n * sum / n));
}

static void measure(const struct one &o) {
    CUtensorMap map = map_of(o.rows);
    std::vector<std::vector<double>> of(SMS);
    double mean = 0, last = 0, clock = 0, clock_deviation = 0;
    for (int turn = 0; turn < LAUNCHES; turn++) {
        struct one now = o;
        if (o.mib == MIB) now.shift += turn * o.tiles;
        walk<<<o.ctas, 128, BYTES>>>(map, now, out);
        check(cudaDeviceSynchronize());
        if (turn < WARM) continue;
        std::vector<took> t(o.ctas);
        check(cudaMemcpy(t.data(), out, t.size() * sizeof t[0], cudaMemcpyDeviceToHost));
        uint64_t first = t[0].began, end = 0;
        double sum = 0;
        for (const took &c : t) first = std::min(first, c.began), end = std::max(end, c.ended);
        for (const took &c : t) {
            sum += (double)(c.ended - first) / o.ctas;
            of[c.sm].push_back((double)(c.ended - first));
        }
        std::vector<double> clocks;
        for (const took &c : t) clocks.push_back((double)c.cycles);
        for (double c : clocks) clock += c / o.ctas / (LAUNCHES - WARM);
        clock_deviation += deviation(clocks) / (LAUNCHES - WARM);
        mean += sum / (LAUNCHES - WARM);
        last += ((double)(end - first) - sum) / (LAUNCHES - WARM);
    }
    std::vector<double> means;
    double noise = 0;
    for (const auto &v : of) {
        if (v.empty()) continue;
        double sum = 0;
        for (double x : v) sum += x / (double)v.size();
        means.push_back(sum);
        noise += deviation(v) / o.ctas;
    }
    printf("ctas %d rows %d tiles %d work %d products %d sharing %d mib %d shift %d", o.ctas,
           o.rows, o.tiles, o.work, o.products, o.sharing, o.mib, o.shift);
    printf("\t%.0f\t%.2f\t%.2f\t%.2f\t%.0f\t%.2f", mean, 100 * deviation(means) / mean,
           100 * noise / mean, 100 * last / mean, clock, 100 * clock_deviation / clock);
    for (int i = 0, k = 0; i < SMS; i++)
        if (!of[i].empty()) printf("\t%d,%.0f", i, means[k++]);
    printf("\n");
    fflush(stdout);
}

int main() {
    cudaDriverEntryPointQueryResult found;
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000,
                                           cudaEnableDefault, &found));
    check(cudaMalloc(&data, (size_t)MIB << 20));
    fill<<<(unsigned)(((size_t)MIB << 19) / 1024), 1024>>>((uint16_t *)data, (size_t)MIB << 19);
    check(cudaMalloc(&out, SMS * sizeof *out));
    check(cudaFuncSetAttribute(walk, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES));
    const int between[][2] = {{0, 0}, {25, 0}, {100, 0}, {0, 1}, {0, 2}, {0, 4}};
    for (int ctas : {132, 120, 104})
        for (int mib : {16, 512})
            for (int rows : {128, 256, 512})
                for (int tiles : {4, 16, 64})
                    for (auto w : between)
                        for (int sharing : {1, 12})
                            for (int shift : {0, 1001})
                                if (!shift || (ctas != 104 && w[1] == 2))
                                    measure({ctas, rows, tiles, w[0], w[1], sharing, mib, shift});
    return 0;
}
