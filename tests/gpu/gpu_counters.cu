/* Kernels whose counts can be told beforehand: each executes one kind of instruction n times in
 * each warp. All take (out, n, step): out has 4 bytes for each thread; what step is, each says. */
#include <cuda_fp16.h>
#include <stdint.h>

#define KERNEL extern "C" __global__ void __launch_bounds__(256)

__device__ static unsigned tid() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ static unsigned shared_address(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}

/* n HMMA. */
KERNEL mma_loop(float *out, int n, int step) {
    float d[4] = {};
    uint32_t a = threadIdx.x, b = step;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                     "{%4, %4, %4, %4}, {%5, %5}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a), "r"(b));
    out[tid()] = d[0] + d[1] + d[2] + d[3];
}

/* n HGMMA (Hopper only). */
KERNEL wgmma_loop(float *out, int n, int step) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    __shared__ alignas(128) half tile[72 * 16]; // A: 64 x 16, B: 8 x 16, no swizzle
    float d[4] = {};
    for (int i = threadIdx.x; i < 72 * 16; i += blockDim.x) tile[i] = __float2half(0.f);
    __syncthreads();                    // tile is complete
    asm volatile("fence.proxy.async;"); // written by st.shared, read by wgmma
    const uint64_t layout = (128ull >> 4) << 16 | (256ull >> 4) << 32;
    const uint64_t a = layout | shared_address(tile) >> 4,
                   b = layout | shared_address(tile + 64 * 16) >> 4;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        asm volatile("wgmma.fence.sync.aligned;\n"
                     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, "
                     "1, 1, 1, 0, 0;\n"
                     "wgmma.commit_group.sync.aligned;\n"
                     "wgmma.wait_group.sync.aligned 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "l"(a), "l"(b)
                     : "memory");
    out[tid()] = d[0] + d[1] + d[2] + d[3];
#endif
}

/* n LDS of 4 bytes (volatile, or ptxas takes them out of the loop), `step` words between
 * neighbouring threads: `step` wavefronts each, for powers of 2. */
KERNEL lds_loop(float *out, int n, int step) {
    extern __shared__ float words[];
    float sum = 0;
    unsigned at = shared_address(words + threadIdx.x % 32 * step);
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        float value;
        asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(value) : "r"(at) : "memory");
        sum += value;
    }
    out[tid()] = sum;
}

/* n STS of 4 bytes, as lds_loop. */
KERNEL sts_loop(float *out, int n, int step) {
    extern __shared__ float words[];
    unsigned at = shared_address(words + threadIdx.x % 32 * step);
#pragma unroll 1
    for (int i = 0; i < n; i++)
        asm volatile("st.volatile.shared.f32 [%0], %1;" ::"r"(at), "f"(1.f) : "memory");
    out[tid()] = 0;
}

/* n LDSM.x4 with `step` bytes from row to row: 4 wavefronts each at 16 bytes, 32 at 128. */
KERNEL ldsm_loop(float *out, int n, int step) {
    extern __shared__ float words[];
    uint32_t r[4], sum = 0;
    unsigned at = shared_address(words) + threadIdx.x % 32 * step;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(at)
                     : "memory");
        sum += r[0] + r[1] + r[2] + r[3];
    }
    out[tid()] = (float)sum;
}

/* n LDGSTS of 16 bytes, `step` bytes between neighbouring threads. */
KERNEL ldgsts_loop(float *out, int n, int step) {
    extern __shared__ float words[];
    unsigned at = shared_address(words) + threadIdx.x % 32 * step;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n"
                     "cp.async.wait_all;" ::"r"(at),
                     "l"(out + threadIdx.x % 32 * 4)
                     : "memory");
    out[tid()] = 0;
}

/* n MUFU.EX2. */
KERNEL ex2_loop(float *out, int n, int step) {
    float value = threadIdx.x * 1e-3f;
#pragma unroll 1
    for (int i = 0; i < n; i++) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(value));
    out[tid()] = value;
}

/* n FFMA, and constants in fp16, which compilers for
 * Hopper load by HFMA2.MMA: through the tensor pipe. */
KERNEL scalar_loop(float *out, int n, int step) {
    float value = threadIdx.x * 1e-3f, other = 1.5f, third = 2.25f;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(value) : "f"(other), "f"(third));
        if (i == step) other = 0.f, third = 1.f;
    }
    out[tid()] = value;
}
