/* A kernel that carries instructions encoded by chips/bench/sass.py: the runner writes them over this kernel's
 * code. The code here only has to be long enough, with enough registers, 16 barriers and shared memory, and with
 * the parameters that the new code reads. */
#include <stdint.h>

extern "C" __global__ void __launch_bounds__(BENCH_THREADS, 1)
    bench(uint32_t *out, const uint32_t *in, int barrier, int n_threads) {
    extern __shared__ float smem[];
    constexpr int LIVE = BENCH_LIVE; /* 116: 128 registers in all; 236: some 250 */
    float x[LIVE];
#pragma unroll
    for (int i = 0; i < LIVE; i++)
        asm volatile("ld.volatile.shared.f32 %0, [%1];"
                     : "=f"(x[i])
                     : "r"((uint32_t)__cvta_generic_to_shared(smem + i + threadIdx.x)));
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(n_threads) : "memory");
#pragma unroll
    for (int k = 0; k < BENCH_LENGTH; k++)
#pragma unroll
        for (int i = 0; i < LIVE; i++)
            asm volatile("fma.rn.f32 %0, %0, %1, %0;" : "+f"(x[i]) : "f"(x[(i + LIVE / 2) % LIVE]));
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(n_threads) : "memory");
    float sum = 0;
#pragma unroll
    for (int i = 0; i < LIVE; i++) sum += x[i];
    out[threadIdx.x] = __float_as_uint(sum) + in[threadIdx.x];
}
