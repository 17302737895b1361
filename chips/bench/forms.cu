/* Never launched: makes ptxas write the instructions that chips/bench/sass.py encodes and no other
 * kernel here has, for pipes.py --forms to compare with. */
#include <cuda_fp16.h>
#include <stdint.h>

extern "C" __global__ void forms(uint32_t *out, const uint32_t *in, const __half2 *halves) {
    extern __shared__ uint32_t smem[];
    const uint32_t t = threadIdx.x, at = (uint32_t)__cvta_generic_to_shared(smem) + 16 * t;
    const float *reals = (const float *)in;
    uint32_t a, b, c, sm, clock32;
    float d[4] = {};

    out[0] = __popc(in[t]);
    out[1] = __byte_perm(in[t], in[t + 1], in[t + 2]);
    out[2] = __funnelshift_l(in[t + 3], in[t + 4], in[t + 5]);
    ((__half2 *)out)[3] = __hadd2(halves[t], halves[t + 1]);
    ((__half2 *)out)[4] = __hfma2(halves[t + 2], halves[t + 3], halves[t + 4]);
    ((float *)out)[5] = (float)(int)in[t + 6];
    ((int *)out)[6] = (int)reals[t + 7];
    out[7] = atomicAdd(&smem[t], in[t + 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(b), "=r"(c)
                 : "r"(at));
    out[8] = a + b + c;
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(at), "r"(in[9]));
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%clock;" : "=r"(clock32));
    out[10 + sm] = clock32;
    ((uint2 *)out)[17] = ((const uint2 *)in)[t];
    ((uint4 *)out)[18] = ((const uint4 *)in)[t];
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(in[60]), "r"(in[61]), "r"(in[62]));
    out[90] = __float_as_uint(d[0] + d[1] + d[2] + d[3]);
    if (__any_sync(~0u, (int)in[t + 80] < 0)) out[100] = 1;
}
