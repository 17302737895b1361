/* Launches: when and where CTAs start and end, the first read of constants, the first run of code, and launches
 * that overlap. */
#include "timed.cuh"

BENCH empty(ARGUMENTS) {}

/* Each CTA stays a cycles (b more for every odd CTA). out: [0] SM, [1] clock at the start, [2] at
 * the end, [3] ns at the start, [4] at the end. */
BENCH stay(ARGUMENTS) {
    uint64_t ns = nanoseconds(), t = cycles();
    int n = a + (blockIdx.x & 1 ? b : 0);
    while (cycles() - t < n)
        ;
    if (threadIdx.x == 0) {
        out[16 * blockIdx.x] = sm_number();
        out[16 * blockIdx.x + 1] = t;
        out[16 * blockIdx.x + 2] = cycles();
        out[16 * blockIdx.x + 3] = ns;
        out[16 * blockIdx.x + 4] = nanoseconds();
    }
}

/* The same, after the launch ahead said that this one may start (c 1: it also says so itself). */
BENCH stay_overlapping(ARGUMENTS) {
    uint64_t ns = nanoseconds(), t = cycles();
    if (c) griddepcontrol_launch_dependents();
    while (cycles() - t < a)
        ;
    uint64_t waited = nanoseconds();
    griddepcontrol_wait();
    uint64_t released = nanoseconds();
    if (threadIdx.x == 0) {
        out[16 * blockIdx.x] = sm_number();
        out[16 * blockIdx.x + 1] = t;
        out[16 * blockIdx.x + 2] = cycles();
        out[16 * blockIdx.x + 3] = ns;
        out[16 * blockIdx.x + 4] = nanoseconds();
        out[16 * blockIdx.x + 5] = waited;
        out[16 * blockIdx.x + 6] = released;
    }
}

/* Cycles of the first, then of the second read of kernel parameters, 64 bytes on each time; and of
 * the address-indexed kind. out + 16: first, out + 80: second. */
struct many {
    int word[960];
};
BENCH constants(uint64_t *out, const __grid_constant__ struct many p, int a) {
    for (int pass = 0; pass < 2; pass++) {
#pragma unroll 1
        for (int i = 0; i < 60; i++) {
            uint64_t t = cycles();
            int x = p.word[i * 16 + a];
            asm volatile("" ::"r"(x) : "memory");
            if (x == 0x12345) out[1] = x;
            t = cycles() - t;
            out[16 + 64 * pass + i] = t;
        }
    }
}

/* Spins for a cycles of its SM's clock: cycles over nanoseconds is that clock. */
BENCH clock_rate(ARGUMENTS) {
    uint64_t ns = nanoseconds(), t = cycles();
    float x = threadIdx.x;
    while (cycles() - t < a)
#pragma unroll
        for (int i = 0; i < 64; i++) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
    uint64_t cy = cycles() - t;
    ns = nanoseconds() - ns;
    if (x == 1.5f) out[5] = 1;
    if (threadIdx.x == 0) out[16 * blockIdx.x] = cy, out[16 * blockIdx.x + 1] = ns;
}

/* stay, then b 16-byte stores a thread. */
BENCH stay_storing(ARGUMENTS) {
    uint64_t t = cycles();
    while (cycles() - t < a)
        ;
    uint4 *at = (uint4 *)data + (size_t)blockIdx.x * blockDim.x * b + threadIdx.x;
    for (int i = 0; i < b; i++) at[i * blockDim.x] = make_uint4(a, b, c, d);
    if (threadIdx.x == 0) out[16 * blockIdx.x] = cycles() - t;
}

/* Straight code of about KIB kibibytes, `a` times: cycles of the first time in out[0], of the last
 * in out[1]. */
#define CODE(KIB)                                                                                  \
    BENCH code_##KIB(ARGUMENTS) {                                                                  \
        float x[4] = {1, 2, 3, (float)threadIdx.x};                                                \
        uint64_t first = 0, last = 0;                                                              \
        _Pragma("unroll 1") for (int i = 0; i < a; i++) {                                          \
            uint64_t t = cycles();                                                                 \
            _Pragma("unroll") for (int k = 0; k < 64 * KIB; k++) asm volatile(                     \
                "fma.rn.f32 %0, %0, %0, %0;" : "+f"(x[k % 4]));                                    \
            last = cycles() - t;                                                                   \
            if (!i) first = last;                                                                  \
        }                                                                                          \
        if (x[0] + x[1] + x[2] + x[3] == 1.5f) out[5] = 1;                                         \
        if (threadIdx.x == 0) out[16 * blockIdx.x] = first, out[16 * blockIdx.x + 1] = last;       \
    }
CODE(1)
CODE(8)
CODE(24)
CODE(48)
CODE(96)
