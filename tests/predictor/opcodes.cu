// One kernel for each kind of instruction that programs bring: executed as machine code and as PTX by build/sass-beside.
//   in: (1024), the first half small numbers, the second half any      out: (4096)
#include <cuda_fp16.h>
#include <cstdint>

#define KERNEL(name) extern "C" __global__ void name(const int *in, int *out)
#define T                                                                                          \
    int t = blockIdx.x * 64 + threadIdx.x;                                                         \
    [[maybe_unused]] const int *any = in + 512

__device__ void put64(int *out, int at, long long v) {
    out[2 * at] = (int)v;
    out[2 * at + 1] = (int)(v >> 32);
}
__device__ void putd(int *out, int at, double v) { put64(out, at, __double_as_longlong(v)); }

KERNEL(redux) {
    T;
    int v = in[t];
    unsigned w = any[t];
    out[t] =
        __reduce_add_sync(~0u, v) + 3 * __reduce_min_sync(~0u, v) + 5 * __reduce_max_sync(~0u, v);
    out[128 + t] =
        __reduce_add_sync(~0u, w) + 3 * __reduce_min_sync(~0u, w) + 5 * __reduce_max_sync(~0u, w);
    out[256 + t] = __reduce_and_sync(~0u, w | 0xf0) + 9 * __reduce_or_sync(~0u, w & 0xff) +
                   11 * __reduce_xor_sync(~0u, w);
    if (t % 2) out[384 + t] = __reduce_add_sync(0xaaaaaaaau, v);
}
KERNEL(shared_atomics) {
    T;
    __shared__ int s[128];
    __shared__ unsigned u[128];
    __shared__ float f[128];
    __shared__ unsigned long long d[128];
    int l = threadIdx.x, old = 0;
    s[l] = s[l + 64] = 0, u[l] = u[l + 64] = 5, f[l] = f[l + 64] = 0, d[l] = d[l + 64] = 1;
    __syncthreads();
    atomicAdd(&s[l % 7], in[t]), atomicMin(&s[8 + l % 5], in[t]), atomicMax(&s[16 + l % 5], in[t]);
    atomicAnd(&u[l % 3], any[t]), atomicOr(&u[8 + l % 3], any[t]),
        atomicXor(&u[16 + l % 3], any[t]);
    atomicInc(&u[24 + l % 3], 100), atomicDec(&u[32 + l % 3], 100);
    atomicMin(&u[36 + l % 3], any[t]), atomicMax(&u[40 + l % 3], any[t]);
    atomicAdd(&f[l % 5], (float)(in[t] & 15));
    atomicAdd(&d[l % 5], (unsigned long long)any[t]),
        atomicMax(&d[8 + l % 5], (unsigned long long)any[t] << 7);
    old += atomicExch(&s[64 + l], in[t]);
    old += atomicCAS(&u[64 + l], 5u, 6u + t);
    old += (int)atomicCAS(&d[64 + l], 1ull, (unsigned long long)any[t] << 3);
    __syncthreads();
    for (int i = l; i < 128; i += 64) {
        out[blockIdx.x * 1024 + i] = s[i];
        out[blockIdx.x * 1024 + 128 + i] = u[i];
        out[blockIdx.x * 1024 + 256 + i] = __float_as_int(f[i]);
        put64(out + blockIdx.x * 1024 + 384, i, d[i]);
    }
    out[2048 + t] = old;
}
KERNEL(global_atomics) {
    T;
    unsigned *u = (unsigned *)out;
    unsigned long long *l = (unsigned long long *)(out + 64);
    float *f = (float *)(out + 192);
    double *d = (double *)(out + 256);
    __half2 *h = (__half2 *)(out + 320);
    unsigned long long q = 0;
    if (threadIdx.x < 64 && blockIdx.x == 0) { // what each lane gets depends on the order of blocks
        out[512 + t] = atomicInc(u + t % 3, 17) + atomicDec(u + 4 + t % 3, 17) +
                       atomicAnd(u + 8 + t, t | 0xff);
        q = atomicAdd(l + t % 3, 5ull) + atomicMax(l + 4, (unsigned long long)t) +
            atomicExch(l + 5, 3ull + t);
        q += atomicCAS(l + 6 + t % 8, 0ull, 9ull + t);
        put64(out + 640, t, q);
        out[800 + t] = (int)atomicAdd(f + t % 3, 1.0f);
        putd(out + 900, t, atomicAdd(d + t % 3, 1.5));
        atomicAdd(h + t % 4, __floats2half2_rn(1, 2));
    }
}
KERNEL(reductions) {
    T;
    unsigned *u = (unsigned *)out;
    unsigned long long *l = (unsigned long long *)(out + 64);
    atomicInc(u + t % 3, 1000), atomicAdd(u + 8, 3u), atomicMin(out + 9, t - 5),
        atomicMax(out + 10, in[t]);
    atomicOr(u + 11, 1u << t % 32), atomicXor(u + 12, (unsigned)any[t]), atomicMin(u + 13, 0u);
    atomicAdd(l + t % 3, 5ull), atomicMax(l + 4, (unsigned long long)any[t]),
        atomicMin((long long *)l + 5, (long long)in[t]);
    atomicAdd((float *)out + 128 + t % 3, 1.0f), atomicAdd((double *)(out + 160) + t % 3, 1.5);
    atomicAdd((__half2 *)(out + 192) + t % 4, __floats2half2_rn(1, 2));
    atomicAdd_system(u + 14, 2), atomicAdd_block(u + 15, 2);
}
KERNEL(local_words) {
    T;
    int a[64], v = in[t] & 63;
    for (int i = 0; i < 64; i++) a[i] = in[i] + t;
    for (int i = 0; i < 20 + in[0] % 2; i++) a[v] += i, v = (a[v] ^ v) & 63;
    out[t] = a[v] + a[(v + 7) & 63];
}
KERNEL(local_bytes) {
    T;
    signed char c[64];
    unsigned short s[64];
    long long d[32];
    int v = in[t] & 31;
    for (int i = 0; i < 64; i++)
        c[i] = (signed char)in[i], s[i] = (unsigned short)any[i], d[i & 31] = any[i] * 3ll;
    for (int i = 0; i < 10 + in[0] % 2; i++)
        v = (v + c[v] + s[63 - v] + (int)d[v]) & 31, c[v] -= 3, s[v] += 7, d[v] *= 5;
    out[t] = c[v] + s[v];
    put64(out + 512, t, d[v]);
}
__device__ __noinline__ void swap(int *a, int *b) {
    int c = *a;
    *a = *b;
    *b = c;
}
KERNEL(generic_pointers) {
    T;
    __shared__ int s[64];
    s[threadIdx.x] = in[t];
    __syncthreads();
    int *p = in[t] & 1 ? &s[threadIdx.x] : out + 1024 + t;
    out[1024 + t] = t;
    swap(p, out + t);
    __syncthreads();
    out[256 + t] = s[63 - threadIdx.x];
}
KERNEL(warps_divide) {
    T;
    __shared__ volatile int s[64];
    int l = threadIdx.x % 32, w = threadIdx.x & ~31;
    if (l < 16) {
        s[w + l] = in[t];
        __syncwarp(0xffff);
        out[t] = s[w + 15 - l];
    } else {
        unsigned m = __activemask();
        for (int i = l; i < 40; i += in[1] % 2 + 3) out[256 + t] += i;
        __syncwarp(m);
        out[128 + t] = __shfl_sync(0xffff0000u, in[t], 31 - l % 8);
    }
    __syncwarp();
    out[512 + t] = __match_any_sync(~0u, in[t] & 3);
    int p;
    out[640 + t] = __match_all_sync(~0u, t & 0x40, &p) + p;
    out[768 + t] = __match_any_sync(~0u, (long long)(in[t] & 1) << 40);
}
KERNEL(fp64_arithmetic) {
    T;
    double a = in[t] * 0.37, b = in[t + 128] * 1.0e-3 + 0.1, c = any[t] * 1.0e5;
    double r = (a + b) * c;
    r = fma(r, a, b);
    putd(out, t, r);
    putd(out, 128 + t, r / c);
    putd(out, 256 + t, sqrt(fabs(a)));
    putd(out, 384 + t, 1 / b);
    putd(out, 512 + t, fmin(a, b) + fmax(c, 3.0));
    putd(out, 640 + t, floor(a) + rint(b) * 3 + trunc(c) + ceil(a) * 7);
    out[1536 + t] = (a < b) + 2 * (a <= b) + 4 * (c == c) + 8 * (a != b) + 16 * !(a >= c) +
                    32 * (b > 0.05 || a < 3);
    putd(out, 1024 + t, __dadd_rz(a, b) + __dmul_ru(a, b) + __fma_rd(a, b, c));
    putd(out, 1280 + t, fmin(a / (in[t] - in[t]), (double)in[t]) + fmax(sqrt(a), -2.0));
}
KERNEL(fp64_conversions) {
    T;
    double a = any[t] * 0.37, b = in[t] * 1.0e10;
    out[t] = (int)a;
    out[128 + t] = (int)(unsigned)fabs(a);
    out[256 + t] = __double2int_rn(a) + __double2int_ru(a) * 3 + __double2int_rd(a) * 5;
    put64(out + 512, t, (long long)b);
    put64(out + 768, t, (long long)(unsigned long long)fabs(b));
    out[1024 + t] = __float_as_int((float)a);
    out[1152 + t] = __float_as_int(__double2float_rz(b)) ^ __float_as_int(__double2float_ru(b));
    putd(out, 640 + t,
         (double)in[t] + (double)(unsigned)any[t] + (double)((long long)any[t] << 20) +
             (double)((float)in[t] / 3));
    putd(out, 896 + t, (double)((unsigned long long)any[t] << 31) + (double)(signed char)any[t]);
}
KERNEL(fp64_functions) {
    T;
    double a = in[t] * 0.037;
    putd(out, t, exp(a));
    putd(out, 256 + t, log(fabs(a) + 0.5));
    putd(out, 384 + t, pow(fabs(a), 0.7));
}
KERNEL(predicates) {
    T;
    bool p = (in[t] > in[3]) ^ (in[t + 128] < 3), q = ((in[t] & 1) != 0) ^ p;
    out[t] = p ? in[t] + 1 : in[t] * 3;
    if (q) out[128 + t] = 7;
}
KERNEL(extremes) {
    T;
    int a = any[t], b = any[t + 128], c = any[t + 256];
    unsigned u = a, v = b, w = c;
    out[t] = min(min(a, b), c), out[128 + t] = max(max(u, v), w);
    out[256 + t] = __vimax3_s32(a, b, c) ^ __vimin3_u32(u, v, w) * 3;
    out[384 + t] = __vimax3_s16x2(u, v, w), out[768 + t] = __vimin3_u16x2(u, v, w);
    out[896 + t] = __vmins2(u, v) ^ __vmaxu2(u, w) * 3;
}
KERNEL(small_numbers) {
    T;
    float *f = (float *)out;
    long long l = (long long)any[t] << 12 | any[t + 128];
    f[t] = (unsigned short)any[t], f[128 + t] = (float)l, f[256 + t] = (signed char)any[t],
    f[384 + t] = (short)any[t];
    f[512 + t] = (unsigned char)any[t], f[640 + t] = (float)(unsigned long long)l,
            f[768 + t] = ((uint8_t)(any[t] >> 16));
    f[896 + t] = (float)(any[t] >> 16);
    f[1024 + t] = __int2float_rz(any[t]) + __uint2float_rd(any[t]) + __ll2float_ru(l);
    float g = any[t] * 1.0e-3f;
    out[1152 + t] = (unsigned short)g + (signed char)(int)g;
    put64(out + 1280, t, (long long)(g * 1.0e9f) + (long long)(unsigned long long)fabsf(g));
    out[1536 + t] = __float2int_ru(g) + __float2int_rd(g) * 3 + __float2uint_rn(fabsf(g)) * 5;
}
KERNEL(copies) {
    T;
    __shared__ int4 s[64];
    __shared__ int4 q[64];
    __shared__ int w[64];
    __shared__ int2 v[64];
    int l = threadIdx.x;
    uint32_t a = (uint32_t)__cvta_generic_to_shared(&s[l]),
             b = (uint32_t)__cvta_generic_to_shared(&q[l]);
    uint32_t c = (uint32_t)__cvta_generic_to_shared(&w[l]),
             d = (uint32_t)__cvta_generic_to_shared(&v[l]);
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(a), "l"(in + 4 * l));
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 16;" ::"r"(b),
                 "l"(in + 256 + 4 * l));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(c), "l"(in + t));
    asm volatile("cp.async.ca.shared.global.L2::64B [%0], [%1], 8;" ::"r"(d),
                 "l"(in + 512 + 2 * l));
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_all;" ::: "memory");
    __syncthreads();
    int4 x = s[63 - l], y = q[63 - l];
    out[t] = x.x + x.y * 3 + x.z * 5 + x.w * 7 + y.x * 11 + y.w * 13;
    out[128 + t] = w[63 - l] + v[63 - l].x * 3 + v[l].y;
}
KERNEL(bits) {
    T;
    int v = any[t], w = any[t + 128];
    unsigned long long b = (unsigned long long)v << 32 | (unsigned)w;
    out[t] = __popc(v) + __ffs(v) * 3 + __clz(v) * 5 + __brev(v) + __byte_perm(v, t, 0x5140) +
             __clzll(b) + __popcll(b) * 7;
    out[128 + t] = __dp4a(v, w, 7) + __dp4a((unsigned)v, (unsigned)w, 9u);
    out[256 + t] = __sad(v, w, 3u) + __usad(v, w, 5u) + __funnelshift_l(v, t, 5) + __mulhi(v, w) +
                   __umul24(v, 3);
    out[384 + t] = v / (t + 1) + v % (t + 3) + (unsigned)w / 7;
    put64(out + 512, t,
          b * (w | 1ull) + (b >> (t & 63)) + (b << (t & 31)) + b / (w | 1ull) + b % (v | 3ull));
    put64(out + 768, t,
          min(b, (unsigned long long)w) + max((long long)b, (long long)w) + ((long long)b >> 3));
}
KERNEL(halves) {
    T;
    __half2 *h = (__half2 *)out, a = __floats2half2_rn(in[t], in[t + 1]),
            b = __floats2half2_rn(in[t + 2] * 0.5f, 3);
    __half x = __low2half(a), y = __high2half(a);
    h[t] = __hfma2(a, b, __hmax2(a, b)), h[128 + t] = __hmin2(a, b), h[256 + t] = __hgt2(a, b),
    h[384 + t] = __hle2(a, b);
    out[512 + t] = __hgt(x, y) + 2 * __hbgt2(a, b) + 4 * (x == y) + 8 * (y <= __float2half(1.0f)) +
                   16 * __hisnan(x);
    out[640 + t] =
        __half2int_rn(x) + __half2int_rz(y) * 3 + __half_as_ushort(__int2half_rn(any[t] >> 14)) * 5;
    out[768 + t] = __half_as_ushort(hsqrt(__habs(x))) + __half_as_ushort(hfloor(__low2half(b))) * 3;
}
KERNEL(orders) {
    T;
    volatile int *v = out;
    v[t] = v[t + 128] + 1;
    __threadfence();
    out[256 + t] = __ldg(in + t) + __ldcs(in + t + 1) + __ldcv(in + t + 2) + __ldcg(in + t + 3);
    __stcs(out + 384 + t, 3);
    __threadfence_system();
    __stwt(out + 512 + t, 4);
    __threadfence_block();
    __nanosleep(20);
    out[640 + t] = __syncthreads_count(in[t] > 0) + 3 * __syncthreads_or(in[t] > 98) +
                   7 * __syncthreads_and(in[t] > -101);
    unsigned lt, le, ge, gt, eq;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
    asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
    out[768 + t] = lt + le * 3 + ge * 5 + gt * 7 + eq * 11;
}
/* FSET, ATOMS.POPC.INC */
KERNEL(indicators) {
    T;
    __shared__ int s[64];
    float v = (float)in[t], w = __int_as_float(any[t]);
    s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[any[t] & 31], 1);
    out[t] = __float_as_int(v > 0 ? 1.0f : 0.0f) + __float_as_int(w <= v ? 1.0f : 0.0f);
    out[128 + t] = __float_as_int(w != w ? 1.0f : 0.0f);
    __syncthreads();
    out[256 + t] = s[threadIdx.x];
}
/* Lanes leave loops at different turns, and come to the next BSSY in several groups: each group meets for itself. */
__device__ bool passes(unsigned n, unsigned a) { /* Miller and Rabin's test of an odd n */
    unsigned d = n - 1, s = 0;
    for (; !(d & 1); d >>= 1) s++;
    unsigned long long x = 1, b = a % n;
    for (; d; d >>= 1) {
        if (d & 1) x = x * b % n;
        b = b * b % n;
    }
    if (x == 1 || x == n - 1) return true;
    for (unsigned r = 1; r < s; r++) {
        x = x * x % n;
        if (x == 1) return false;
        if (x == n - 1) return true;
    }
    return false;
}
KERNEL(groups) {
    T;
    unsigned n =
        1000006657u + 2 * t + (in[0] & 0); /* what is known of n here, the compiler does not know */
    out[t] = passes(n, 2) && passes(n, 7) && passes(n, 61);
}
#define TO(k, ptx) asm(ptx ";" : "=r"(out[128 * (k) + t]) : "r"(v), "r"(n), "r"(w))
/* BMSK, SGXT, FLO of signed numbers, and PRMT's modes: widths from -100 to 100, any numbers */
KERNEL(widths) {
    T;
    const unsigned n = in[t], v = any[t], w = any[t + 128];
    TO(0, "bmsk.clamp.b32 %0, %2, %3");
    TO(1, "bmsk.wrap.b32 %0, %3, %2");
    TO(2, "szext.clamp.s32 %0, %1, %2");
    TO(3, "szext.wrap.s32 %0, %1, %2");
    TO(4, "szext.clamp.u32 %0, %1, %2");
    TO(5, "szext.wrap.u32 %0, %1, %2");
    TO(6, "bfe.u32 %0, %1, %2, %3");
    TO(7, "bfe.s32 %0, %1, %3, %2");
    TO(8, "bfi.b32 %0, %1, %3, %2, 7");
    TO(9, "mul24.lo.s32 %0, %1, %3");
    TO(10, "bfind.s32 %0, %1");
    TO(11, "bfind.shiftamt.s32 %0, %2");
    TO(12, "prmt.b32.f4e %0, %1, %3, %2");
    TO(13, "prmt.b32.b4e %0, %1, %3, %2");
    TO(14, "prmt.b32.rc8 %0, %1, %3, %2");
    TO(15, "prmt.b32.ecl %0, %1, %3, %2");
    TO(16, "prmt.b32.ecr %0, %1, %3, %2");
    TO(17, "prmt.b32.rc16 %0, %1, %3, %2");
}
/* IDP.2A, I2I, I2IP, VABSDIFF4; CCTL of a prefetch */
KERNEL(narrowed) {
    T;
    asm volatile("prefetch.global.L2 [%0];" : : "l"(in + t));
    asm volatile("prefetch.global.L1 [%0];" : : "l"(any + t));
    const unsigned n = in[t] * 1000, v = any[t], w = any[t + 128];
    TO(0, "dp2a.lo.s32.s32 %0, %1, %3, %2");
    TO(1, "dp2a.hi.s32.u32 %0, %1, %3, %2");
    TO(2, "dp2a.lo.u32.s32 %0, %1, %3, %2");
    TO(3, "dp2a.hi.u32.u32 %0, %1, %3, %2");
    TO(4, "cvt.pack.sat.s16.s32 %0, %1, %2");
    TO(5, "cvt.pack.sat.u16.s32 %0, %2, %2");
    TO(6, "cvt.pack.sat.u8.s32.b32 %0, %2, %1, %3");
    TO(7, "cvt.pack.sat.s8.s32.b32 %0, %2, %1, %3");
    TO(8, "vabsdiff4.u32.u32.u32.add %0, %1, %3, %2");
    TO(9, "vabsdiff4.s32.s32.s32.add %0, %1, %3, %2");
    TO(10, "cvt.sat.u8.s32 %0, %2");
    TO(11, "cvt.sat.s8.s32 %0, %2");
    TO(12, "cvt.sat.u16.s32 %0, %2");
    TO(13, "cvt.sat.s16.s32 %0, %2");
}
