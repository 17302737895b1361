/* TMA loads by one SM, some or all: how late they come. A program of its own.
 *
 *   nvcc -O3 -std=c++17 -arch=sm_90a -I. -Ibuild/include -o loads chips/bench/loads.cu && ./loads > loads.tsv
 *
 * A load is `pages` boxes of `rows` times 128 bytes, next to each other in rows of pages * 128 bytes; `sharing` CTAs,
 * neighbours, read the same. A line a case: its name and numbers, then cycles: least, median, most, and mean of all CTAs.
 *
 *   start     n loads at once when the launch begins, warm: until each is there
 *   steady    again and again with pauses of about that many turns of a loop (of 23 cycles): until A is there, until B,
 *             which was asked for right behind it; B of 0 pages: no second load
 */
#include "check.cuh"
#include "timed.cuh"

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <vector>

enum {
    SMS = 132,
    MOST_BYTES = 220 << 10,
    LOADS = 4,
    MIB = 64,
    TURNS = 64,
    WARM = 24,
    LAUNCHES = 10
};

struct loads {
    int ctas, pages, rows, n, sharing, mib, pause;
};

static __device__ __forceinline__ void load(const CUtensorMap *map, uint32_t smem, uint32_t barrier,
                                            int pages, int rows, int row) {
    mbarrier_arrive_expect_tx(barrier, pages * rows * 128);
    for (int p = 0; p < pages; p++)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%3, %4}], [%2];" ::"r"(smem + p * rows * 128),
                     "l"(map), "r"(barrier), "r"(p * 64), "r"(row)
                     : "memory");
}

static __device__ void init(uint32_t barrier) {
    for (int i = 0; i < LOADS; i++) mbarrier_init(barrier + 8 * i, 1);
    fence_mbarrier_init();
}

/* out: [i] cycles from the first load's issue until the i-th is there */
__global__ void __launch_bounds__(32) start(const __grid_constant__ CUtensorMap map,
                                            const __grid_constant__ struct loads l, uint32_t *out) {
    extern __shared__ __align__(1024) char smem[];
    const uint32_t barrier = smem_address(smem), to = barrier + 1024,
                   bytes = l.pages * l.rows * 128;
    if (threadIdx.x) return;
    init(barrier);
    uint64_t began = cycles();
    for (int i = 0; i < l.n; i++)
        load(&map, to + i * bytes, barrier + 8 * i, l.pages, l.rows,
             (blockIdx.x / l.sharing * l.n + i) * l.rows);
    for (int i = 0; i < l.n; i++) {
        wait_for(barrier + 8 * i, 0);
        out[blockIdx.x * TURNS * 2 + i] = (uint32_t)(cycles() - began);
    }
}

/* out: [turn][0] until A is there, [1] until B */
__global__ void __launch_bounds__(32)
    steady(const __grid_constant__ CUtensorMap map, const __grid_constant__ struct loads l,
           uint32_t *out) {
    extern __shared__ __align__(1024) char smem[];
    const uint32_t barrier = smem_address(smem), to = barrier + 1024,
                   bytes = l.pages * l.rows * 128;
    const int groups = (gridDim.x + l.sharing - 1) / l.sharing,
              tiles = max(1, (l.mib << 20) / (int)bytes / groups / l.n),
              group = blockIdx.x / l.sharing;
    float x = 1;
    if (threadIdx.x) return;
    init(barrier);
    for (uint32_t i = 0; i < TURNS; i++) {
        uint64_t began = cycles();
        for (int k = 0; k < l.n; k++)
            load(&map, to + k * bytes, barrier + 8 * k, l.pages, l.rows,
                 ((group * tiles + i % tiles) * l.n + k) * l.rows);
        for (int k = 0; k < l.n; k++) {
            wait_for(barrier + 8 * k, i % 2);
            out[(blockIdx.x * TURNS + i) * 2 + k] = (uint32_t)(cycles() - began);
        }
        int pause = l.pause + (blockIdx.x * 2654435761u + i * 2246822519u) % (l.pause / 2 + 1);
        for (int k = pause; k > 0; k--) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
    }
    if (x == 1.5f) *out = 0;
}

typedef CUresult encode_function(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                                 const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                                 const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static encode_function *encode;
static char *data;
static uint32_t *out;

static CUtensorMap map_of(const struct loads &l) {
    CUtensorMap map;
    const cuuint64_t columns = l.pages * 64, extent[] = {columns, (MIB << 20) / columns / 2},
                     stride[] = {columns * 2};
    const cuuint32_t box[] = {64, (cuuint32_t)l.rows}, ones[] = {1, 1};
    if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, data, extent, stride, box, ones,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
        check(cudaErrorInvalidValue);
    return map;
}

static void say(const std::vector<uint32_t> &r, const struct loads &l, int i, int from, int turns) {
    std::vector<uint32_t> v;
    double sum = 0;
    for (int b = 0; b < l.ctas; b++)
        for (int t = from; t < turns; t++) v.push_back(r[(b * TURNS + t) * 2 + i]);
    std::sort(v.begin(), v.end());
    for (uint32_t x : v) sum += x;
    printf("\t%u %u %u %.0f", v[0], v[v.size() / 2], v.back(), sum / (double)v.size());
}

static void measure(const char *name, decltype(start) *kernel, const struct loads &l) {
    const int each = (l.ctas + SMS - 1) / SMS, bytes = MOST_BYTES / each - 1024 * each;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    CUtensorMap map = map_of(l);
    for (int i = 0; i < LAUNCHES; i++) {
        kernel<<<l.ctas, 32, bytes>>>(map, l, out);
        check(cudaDeviceSynchronize());
    }
    std::vector<uint32_t> r(l.ctas * TURNS * 2);
    check(cudaMemcpy(r.data(), out, r.size() * 4, cudaMemcpyDeviceToHost));
    printf("%s\tctas %d pages %d rows %d loads %d sharing %d mib %d pause %d", name, l.ctas,
           l.pages, l.rows, l.n, l.sharing, l.mib, l.pause);
    for (int i = 0; i < l.n; i++) kernel == start ? say(r, l, i, 0, 1) : say(r, l, i, WARM, TURNS);
    printf("\n");
    fflush(stdout);
}

int main() {
    cudaDriverEntryPointQueryResult found;
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000,
                                           cudaEnableDefault, &found));
    check(cudaMalloc(&data, MIB << 20));
    check(cudaMemset(data, 0, MIB << 20));
    check(cudaMalloc(&out, 2 * SMS * TURNS * 2 * sizeof *out));
    for (int ctas : {1, 8, 32, 66, 132})
        for (int sharing : {1, 8}) {
            if (sharing > ctas) continue;
            for (int n : {1, 2, 4}) {
                measure("start", start, {ctas, 1, 128, n, sharing, 0, 0});
                measure("start", start, {ctas, 2, 128, n > 2 ? 3 : n, sharing, 0, 0});
                measure("start", start, {ctas, 4, 64, n > 2 ? 3 : n, sharing, 0, 0});
            }
        }
    for (int ctas : {1, 132, 264})
        for (int sharing : {1, 8}) {
            if (sharing > ctas) continue;
            for (int pause : {10, 20, 40, 80, 160, 400}) {
                measure("steady", steady, {ctas, 1, 128, 1, sharing, 8, pause});
                measure("steady", steady, {ctas, 2, 128, 1, sharing, 8, pause});
                measure("steady", steady, {ctas, 1, 128, 2, sharing, 8, pause});
                if (ctas <= SMS) measure("steady", steady, {ctas, 2, 128, 2, sharing, 8, pause});
                if (ctas <= SMS) measure("steady", steady, {ctas, 4, 64, 2, sharing, 8, pause});
            }
        }
    return 0;
}
