/* One unit of the chip at a time, as busy as it can be: what `make ceilings` times. Each kernel is
 *
 *     run_NAME(float *out, const uint4 *data, int steps, int rounds)
 *
 * with as many CTAs as all SMs hold at once, unless it says otherwise. Operands are random numbers:
 * zeros would need less power, and the board would keep a higher clock. `out` is never written: it is there
 * so that no result is left out. */
#include "common/cuda/ptx.cuh"
#include "common/cuda/ptx_sm90.cuh"

#define CEILING(THREADS) extern "C" __global__ void __launch_bounds__(THREADS)
#define ARGUMENTS        float *out, const uint4 *data, int steps, int rounds

// Numbers from -2 to 2 with random digits, as bits.
static __device__ uint32_t random_bits(uint32_t i) {
    i = i * 747796405u + 2891336453u + threadIdx.x * 0x9e3779b9u;
    i = ((i >> ((i >> 28) + 4)) ^ i) * 277803737u;
    return i >> 22 ^ i;
}
static __device__ float random_float(uint32_t i) {
    return (float)(int)random_bits(i) * (1.0f / (1u << 30));
}
static __device__ uint32_t random_half2(uint32_t i) {
    return cvt_f16x2(random_float(2 * i), random_float(2 * i + 1));
}

// 64 FMAs of a thread a round: 8 chains hide their latency.
CEILING(512) run_fma(ARGUMENTS) {
    float x[8], factor = 1 - 1e-3f * random_float(8) * random_float(8);
    for (int i = 0; i < 8; i++) x[i] = random_float(i);
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < 64; i++)
            asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[i % 8]) : "f"(factor), "f"(1e-3f));
    float sum = 0;
    for (int i = 0; i < 8; i++) sum += x[i];
    if (sum == 12345) out[0] = sum;
}

// 64 exponentials of a thread a round.
CEILING(512) run_exp2(ARGUMENTS) {
    float x[8];
    for (int i = 0; i < 8; i++) x[i] = random_float(i);
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < 64; i++) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[i % 8]));
    float sum = 0;
    for (int i = 0; i < 8; i++) sum += x[i];
    if (sum == 12345) out[0] = sum;
}

// 16 products m16n8k16 of a warp a round, into 8 accumulators.
CEILING(256) run_mma_sync(ARGUMENTS) {
    float d[8][4] = {};
    uint32_t a[2][4], b[8][2];
    for (int i = 0; i < 8; i++) a[i / 4][i % 4] = random_half2(i);
    for (int i = 0; i < 16; i++) b[i / 2][i % 2] = random_half2(8 + i);
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < 16; i++) mma_m16n8k16(d[i % 8], a[i / 8], b[i % 8][0], b[i % 8][1]);
    float sum = 0;
    for (int i = 0; i < 32; i++) sum += d[i / 4][i % 4];
    if (sum == 12345) out[0] = sum;
}

#if __CUDA_ARCH_FEAT_SM90_ALL
// 32 products m64n256k16 of a warpgroup a round, A (64, 64) and B (256, 64) K-major with 128-byte swizzle in
// shared memory. The bits of a descriptor: stages/5-wgmma. Two warpgroups, one CTA an SM.
CEILING(256) run_wgmma(ARGUMENTS) {
    extern __shared__ __align__(1024) uint32_t smem[];
    constexpr int A_BYTES = 64 * 128, B_BYTES = 256 * 128;
    for (uint32_t i = threadIdx.x; i < (2 * A_BYTES + B_BYTES) / 4; i += 256)
        smem[i] = random_half2(i);
    fence_proxy_async(); // wgmma reads through the async proxy: it must see these writes
    __syncthreads();     // all threads have written their share
    const uint64_t form = 64ull << 32 | 1ull << 62; // rows 8 apart: 1024 bytes; swizzle of 128
    const uint64_t a = form | (smem_address(smem) + threadIdx.x / 128 * A_BYTES) >> 4;
    const uint64_t b = form | (smem_address(smem) + 2 * A_BYTES) >> 4;
    float d[32][4] = {};
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        wgmma_fence(); // d was touched by other instructions, or may have been
#pragma unroll
        for (int k = 0; k < 32; k++) wgmma_m64k16_ss<256>(d, a + 2 * (k % 4), b + 2 * (k % 4), 1);
        wgmma_commit_group();
        wgmma_wait_group<0>(); // meanwhile the other warpgroup's fill the tensor pipe
        registers_fence(d);
    }
    float sum = 0;
    for (int i = 0; i < 128; i++) sum += d[i / 4][i % 4];
    if (sum == 12345) out[0] = sum;
}
#endif

// 16 loads of 16 bytes of a thread a round, neighbours side by side: no bank conflict.
CEILING(512) run_shared(ARGUMENTS) {
    __shared__ uint4 smem[1024];
    for (int i = 0; i < 2; i++)
        smem[threadIdx.x + 512 * i] =
            make_uint4(random_bits(i), random_bits(i + 2), random_bits(i + 4), random_bits(i + 6));
    __syncthreads(); // all threads have written what their warp reads
    uint32_t at = smem_address(smem + threadIdx.x), sum = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < 16; i++) {
            uint4 x;
            asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                         : "r"(at + i % 2 * 8192));
            sum ^= x.x ^ x.y ^ x.z ^ x.w;
        }
    if (sum == 12345) out[0] = sum;
}

static __device__ __forceinline__ uint4 load(const uint4 *from) {
    uint4 x;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" // past L1
                 : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                 : "l"(from));
    return x;
}

// All threads together read `data`, 64 bytes of each thread a step, `rounds` times: what fits there from L2.
CEILING(512) run_read(ARGUMENTS) {
    const long stride = (long)gridDim.x * 512;
    uint32_t sum = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
        for (long s = 0; s < steps; s++) {
            const uint4 *from = data + s * 4 * stride + blockIdx.x * 512 + threadIdx.x;
            uint4 x[4];
#pragma unroll
            for (int k = 0; k < 4; k++) x[k] = load(from + k * stride);
#pragma unroll
            for (int k = 0; k < 4; k++) sum ^= x[k].x ^ x[k].y ^ x[k].z ^ x[k].w;
        }
    if (sum == 12345) out[0] = sum;
}

// The first steps of `data` to as many behind them.
CEILING(512) run_copy(ARGUMENTS) {
    const long stride = (long)gridDim.x * 512;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
        for (long s = 0; s < steps; s++) {
            uint4 *from = (uint4 *)data + s * 4 * stride + blockIdx.x * 512 + threadIdx.x, x[4];
#pragma unroll
            for (int k = 0; k < 4; k++) x[k] = load(from + k * stride);
#pragma unroll
            for (int k = 0; k < 4; k++) from[(4 * steps + k) * stride] = x[k];
        }
}

// Nothing: what it costs to launch.
CEILING(128) run_empty(ARGUMENTS) {}
