// C = A * B^T on Hopper's tensor cores: fp16 tiles by TMA into a ring of two, WGMMA m64n64k16 on them,
// fp32 sums in registers. One warpgroup a block; M, N and K are multiples of 64.
//
//   stage 0, 1:  A (64, 64) fp16, 8 KB, rows of 128 bytes, 128-byte swizzle | B (64, 64), the same
#include "check.h"

#include <cuda.h>
#include <cuda_fp16.h>

#include <vector>

constexpr int TILE = 64, STAGES = 2, TILE_BYTES = TILE * TILE * 2;

static __device__ unsigned smem_address(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ void mbarrier_init(unsigned bar) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar) : "memory");
}
static __device__ void mbarrier_expect(unsigned bar, unsigned n_bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(n_bytes)
                 : "memory");
}
static __device__ void mbarrier_wait(unsigned bar, unsigned parity) {
    unsigned done;
    do {
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(bar), "r"(parity)
                     : "memory");
    } while (!done);
}
static __device__ void tma_load(unsigned smem, const CUtensorMap *map, unsigned bar, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4}], [%2];" ::"r"(smem),
                 "l"(map), "r"(bar), "r"(x), "r"(y)
                 : "memory");
}

/* K-major, 128-byte swizzle: 8 rows of 128 bytes to the next 8 */
static __device__ unsigned long long descriptor(unsigned smem) {
    return (unsigned long long)(smem >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

// d[8 columns][2 rows x 2 columns] += A (64, 16) * B (64, 16)^T
static __device__ void wgmma_m64n64k16(float (&d)[8][4], unsigned long long a,
                                       unsigned long long b) {
#define R4(i) "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3])
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, 1, 1, 1, 0, 0;"
                 : R4(0), R4(1), R4(2), R4(3), R4(4), R4(5), R4(6), R4(7)
                 : "l"(a), "l"(b));
#undef R4
}

// c: (m, n) fp32; the maps are of A (m, k) and B (n, k)
__global__ void __launch_bounds__(128)
    gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
         float *c, int n, int k) {
    __shared__ alignas(1024) unsigned char a_smem[STAGES][TILE_BYTES], b_smem[STAGES][TILE_BYTES];
    __shared__ alignas(8) unsigned long long full[STAGES];
    int tid = threadIdx.x, row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE, n_tiles = k / TILE;
    float d[8][4] = {};
    auto load = [&](int t) {
        unsigned bar = smem_address(&full[t % STAGES]);
        mbarrier_expect(bar, 2 * TILE_BYTES);
        tma_load(smem_address(a_smem[t % STAGES]), &a_map, bar, t * TILE, row0);
        tma_load(smem_address(b_smem[t % STAGES]), &b_map, bar, t * TILE, col0);
    };
    if (tid == 0) {
        for (int s = 0; s < STAGES; s++) mbarrier_init(smem_address(&full[s]));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); // TMA sees them
        for (int t = 0; t < STAGES && t < n_tiles; t++) load(t);
    }
    __syncthreads(); // the mbarriers are there
    for (int t = 0; t < n_tiles; t++) {
        int s = t % STAGES;
        mbarrier_wait(smem_address(&full[s]), t / STAGES & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int i = 0; i < TILE / 16; i++)
            wgmma_m64n64k16(d, descriptor(smem_address(a_smem[s]) + 32 * i),
                            descriptor(smem_address(b_smem[s]) + 32 * i));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads(); // every warp's products have read stage s; TMA may overwrite it
        if (tid == 0 && t + STAGES < n_tiles) load(t + STAGES);
    }
    /* lane of warp w holds rows 16 w + lane / 4 and + 8, columns 2 (lane % 4) and + 1 of each 8 */
    for (int i = 0; i < TILE / 8; i++)
        for (int half = 0; half < 2; half++) {
            int row = row0 + tid / 32 * 16 + tid % 32 / 4 + 8 * half,
                col = col0 + 8 * i + 2 * (tid % 4);
            c[(size_t)row * n + col] = d[i][2 * half];
            c[(size_t)row * n + col + 1] = d[i][2 * half + 1];
        }
}

typedef CUresult encode_function(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                                 const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                                 const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

// (rows, columns) fp16, boxes of (64, 64)
static CUtensorMap encode(encode_function *function, void *p, int rows, int columns) {
    CUtensorMap map;
    cuuint64_t extent[] = {(cuuint64_t)columns, (cuuint64_t)rows}, stride[] = {2ull * columns};
    cuuint32_t box[] = {TILE, TILE}, ones[] = {1, 1};
    CUresult e = function(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, extent, stride, box, ones,
                          CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                          CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (e != CUDA_SUCCESS) {
        fprintf(stderr, "cuTensorMapEncodeTiled: %d\n", (int)e);
        exit(4);
    }
    return map;
}

int main() {
    const int m = 128, n = 192, k = 320;
    std::vector<half> a(m * k), b(n * k);
    std::vector<float> c(m * n);
    std::vector<double> wanted(m * n);
    for (int i = 0; i < m * k; i++) a[i] = __float2half(pseudo_random(i));
    for (int i = 0; i < n * k; i++) b[i] = __float2half(pseudo_random(i + 1000000));
    for (int row = 0; row < m; row++)
        for (int col = 0; col < n; col++)
            for (int i = 0; i < k; i++)
                wanted[row * n + col] +=
                    (double)__half2float(a[row * k + i]) * __half2float(b[col * k + i]);

    half *a_dev, *b_dev;
    float *c_dev;
    void *function;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                           cudaEnableDefault, &found));
    CHECK(cudaMalloc(&a_dev, a.size() * 2));
    CHECK(cudaMalloc(&b_dev, b.size() * 2));
    CHECK(cudaMalloc(&c_dev, c.size() * 4));
    CHECK(cudaMemcpy(a_dev, a.data(), a.size() * 2, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b_dev, b.data(), b.size() * 2, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(c_dev, 0xff, c.size() * 4));
    gemm<<<dim3(n / TILE, m / TILE), 128>>>(encode((encode_function *)function, a_dev, m, k),
                                            encode((encode_function *)function, b_dev, n, k), c_dev,
                                            n, k);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), c_dev, c.size() * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(a_dev));
    CHECK(cudaFree(b_dev));
    CHECK(cudaFree(c_dev));
    return compare("gemm", c.data(), wanted.data(), c.size(), 1e-4);
}
