/* What kernels other than attention ask of the chip: a program of its own.
 *
 *   nvcc -O2 -std=c++17 -arch=sm_90a -I. -Ibuild/include -o foreign chips/bench/foreign.cu && ./foreign > foreign.tsv
 *
 * Lines as of build/calibrate: bench, variant, what, median, unit, least, most, n; tab separated.
 *
 *   machine    the GPU's name, SMs, bytes of L2, peak bytes a ns of its DRAM by bus and clock
 *   dispatch   cycles of the chip for each CTA of a large grid: threads, registers, shared bytes, cycles that each stays
 *   lines      one warp's load goes to so many lines: cycles of the SM for each load; w warps, L1 hits or L2 hits
 *   written    ns of a launch by footprint, MiB: read, write, copy (half each), rmw (in place), norm (read thrice, write once)
 *   flushed    ns of the first launch behind a memset of 256 MiB, and of the second
 *   cold       cycles that one CTA takes at its kernel's first launch, and at the second: straight code of so many KiB
 *   chain      cycles from one instruction to the next that needs its result
 *   rate       cycles of the SM for each instruction of a warp, 16 warps
 *   atom       the same of atomics: shared and global memory; to one address, to one a lane, to one a warp
 *   few        the same of atomics of all SMs on n words of global memory, which lie `apart` words apart: lane l takes
 *              word l % n, or a random one of them */
#include "check.cuh"
#include "timed.cuh"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

static int sms;
static double mhz;
static char *data, *more;
static uint64_t *out;
static uint64_t seen[1 << 16];
enum { BYTES = 256 << 20 };

static void line(const char *bench, const char *variant, const char *what, std::vector<double> x,
                 const char *unit) {
    std::sort(x.begin(), x.end());
    printf("%s\t%s\t%s\t%.6g\t%s\t%.6g\t%.6g\t%zu\n", bench, variant, what, x[x.size() / 2], unit,
           x[0], x.back(), x.size());
    fflush(stdout);
}

/* ns of a launch, by events around it: medians of differences of large and small ones lose what launching costs. */
static double event_ns(const std::function<void()> &launch) {
    cudaEvent_t from, to;
    float ms;
    check(cudaEventCreate(&from));
    check(cudaEventCreate(&to));
    check(cudaEventRecord(from));
    launch();
    check(cudaEventRecord(to));
    check(cudaEventSynchronize(to));
    check(cudaEventElapsedTime(&ms, from, to));
    check(cudaEventDestroy(from));
    check(cudaEventDestroy(to));
    return 1e6 * ms;
}

/* ---- dispatch */

template <int REGISTERS> __global__ void __launch_bounds__(1024, 1) stay_few(int n, uint64_t *out) {
    uint64_t t = cycles();
    while (n && cycles() - t < n)
        ;
    if (n < 0) out[0] = t;
}

/* Holds its registers by needing all of them at once. */
template <int REGISTERS> __global__ void stay_many(int n, uint64_t *out) {
    uint64_t t = cycles();
    while (n && cycles() - t < n)
        ;
    if (n >= 0) return;
    uint32_t x[REGISTERS];
#pragma unroll
    for (int i = 0; i < REGISTERS; i++) x[i] = (uint32_t)out[i];
    for (int k = 0; k > n; k--)
#pragma unroll
        for (int i = 0; i < REGISTERS; i++) x[i] = x[i] * x[(i + 1) % REGISTERS] + k;
#pragma unroll
    for (int i = 0; i < REGISTERS; i++) out[i] = x[i];
}

__global__ void touch(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + 1;
}

static void dispatch_one(const char *name, void (*kernel)(int, uint64_t *), int threads, int shared,
                         int stay) {
    std::vector<double> each;
    char variant[64];
    cudaFuncAttributes a;
    check(cudaFuncGetAttributes(&a, kernel));
    if (shared)
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    int few = 20000, many = stay > 1000 ? 60000 : 220000;
    for (int i = 0; i < 7; i++) {
        double t[2];
        for (int k = 0; k < 2; k++)
            t[k] = event_ns([&] { kernel<<<k ? many : few, threads, shared>>>(stay, out); });
        if (i) each.push_back((t[1] - t[0]) / (many - few) * mhz / 1e3);
    }
    check(cudaGetLastError());
    snprintf(variant, sizeof variant, "%s %d threads, %d registers, %d bytes, stay %d", name,
             threads, a.numRegs, shared, stay);
    line("dispatch", variant, "cta", each, "cycles");
}

static void dispatch() {
    static const int sizes[] = {32, 64, 96, 128, 192, 256, 384, 512, 1024};
    for (int t : sizes) dispatch_one("few", stay_few<0>, t, 0, 0);
    for (int t : {32, 128, 512}) dispatch_one("many", stay_many<100>, t, 0, 0);
    for (int t : {32, 128, 256}) dispatch_one("many", stay_many<200>, t, 0, 0);
    for (int s : {1024, 8192, 32768, 65536, 131072}) dispatch_one("few", stay_few<0>, 128, s, 0);
    for (int stay : {100, 300, 1000, 3000, 10000})
        for (int t : {32, 128, 256}) dispatch_one("few", stay_few<0>, t, 0, stay);
    for (int t : {32, 64, 128, 256, 512}) {
        std::vector<double> each;
        char variant[64];
        int few = 20000, many = std::min(220000, BYTES / 4 / t);
        for (int i = 0; i < 7; i++) {
            double a = event_ns([&] { touch<<<few, t>>>((float *)data, (float *)more); });
            double b = event_ns([&] { touch<<<many, t>>>((float *)data, (float *)more); });
            if (i) each.push_back((b - a) / (many - few) * mhz / 1e3);
        }
        snprintf(variant, sizeof variant, "touch %d threads", t);
        line("dispatch", variant, "cta", each, "cycles");
    }
}

/* ---- lines of one load */

enum { LOADS = 256, AHEAD = 4 };
/* Lane l reads word `lane_stride` l of its warp's place; `step` bytes on at each load, within `bytes`. */
template <bool PAST_L1>
__global__ void loads(const char *data, uint32_t lane_stride, uint32_t lines, uint32_t step,
                      uint32_t bytes, int chained, uint64_t *out) {
    uint32_t lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, sum = 0;
    uint32_t at =
        (warp * 32 * lane_stride + lane * lines / 32 * lane_stride + lane % (32 / lines) * 4) %
        bytes;
    uint64_t t[2];
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        t[0] = cycles();
        uint32_t from = at;
        for (int i = 0; i < LOADS; i += AHEAD) {
            uint32_t x[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                uint32_t here = (from + k * step) % bytes;
                if (chained && k) here += x[k - 1] >> 31;
                if (PAST_L1)
                    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x[k]) : "l"(data + here));
                else
                    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(x[k]) : "l"(data + here));
            }
#pragma unroll
            for (int k = 0; k < AHEAD; k++) sum += x[k];
            from = (from + AHEAD * step) % bytes + (chained ? x[AHEAD - 1] >> 31 : 0);
        }
        __syncthreads();
        t[1] = cycles();
    }
    if (sum == 12345) out[0] = 0;
    if (threadIdx.x == 0) out[blockIdx.x] = t[1] - t[0];
}

static void lines_one(const char *name, bool past, int ctas, int warps, uint32_t stride, int n,
                      uint32_t step, uint32_t bytes, int chained) {
    std::vector<double> each;
    char variant[96];
    for (int i = 0; i < 4; i++) {
        if (past)
            loads<true><<<ctas, 32 * warps>>>(data, stride, n, step, bytes, chained, out);
        else
            loads<false><<<ctas, 32 * warps>>>(data, stride, n, step, bytes, chained, out);
        check(cudaMemcpy(seen, out, ctas * 8, cudaMemcpyDeviceToHost));
        for (int c = 0; i && c < ctas; c++) each.push_back((double)seen[c] / LOADS / warps);
    }
    snprintf(variant, sizeof variant, "%s, %d lines %u apart, %d warps, %d SMs%s", name, n, stride,
             warps, ctas, chained ? ", chained" : "");
    line("lines-of-load", variant, "load", each, "cycles");
}

static void lines_of_load() {
    for (int n : {1, 2, 4, 8, 16, 32})
        for (int w :
             {1, 2, 4, 8, 16, 32}) { /* each warp its own 4 KiB, 32 warps 128 KiB: L1 holds them */
            lines_one("L1", false, 1, w, 128, n, 0, 1 << 20, 0);
            lines_one("L1", false, 1, w, 128, n, 0, 1 << 20, 1);
        }
    for (uint32_t stride :
         {128u, 512u, 3072u, 4096u}) /* a thread a row of so many bytes, word after word */
        for (int w : {1, 2, 4, 8, 16, 32})
            for (int ctas : {1, 132}) {
                lines_one("row", false, ctas, w, stride, 32, 4, 160 << 20, 0);
                lines_one("row", false, ctas, w, stride, 32, 4, 160 << 20, 1);
            }
    for (int n : {1, 4, 8, 16, 32})
        for (int w : {1, 4, 16, 32})
            for (int ctas : {1, 132})
                lines_one("L2", true, ctas, w, 128, n, 32 * 128 * 32, 20 << 20, 0);
}

/* ---- written */

enum { THREADS = 256 };
struct span {
    uint64_t begin_ns, end_ns;
};
enum mode { READ, WRITE, COPY, RMW, NORM };
static const char *const mode_name[] = {"read", "write", "copy", "rmw", "norm"};

__global__ void __launch_bounds__(THREADS)
    pass_over(int mode, const float4 *in, float4 *to, long n, span *spans) {
    uint64_t begin = nanoseconds();
    float sum = 0;
    long step = (long)gridDim.x * THREADS, at = (long)blockIdx.x * THREADS + threadIdx.x;
    if (mode == NORM) { /* rows of 768 floats, a warp each */
        int lane = threadIdx.x % 32;
        for (long row = at / 32; row < n / 192; row += step / 32) {
            float mean = 0, square = 0;
            for (int i = lane; i < 192; i += 32) {
                float4 x = in[row * 192 + i];
                mean += x.x + x.y + x.z + x.w;
            }
            for (int m = 16; m; m /= 2) mean += __shfl_xor_sync(~0u, mean, m);
            for (int i = lane; i < 192; i += 32) {
                float4 x = in[row * 192 + i];
                square += (x.x - mean) * (x.x - mean) + x.y + x.z + x.w;
            }
            for (int m = 16; m; m /= 2) square += __shfl_xor_sync(~0u, square, m);
            for (int i = lane; i < 192; i += 32) {
                float4 x = in[row * 192 + i];
                to[row * 192 + i] = make_float4(x.x - mean, x.y * square, x.z, x.w);
            }
        }
    } else {
        for (long i = at; i < n; i += step) {
            float4 x = mode == WRITE ? make_float4(1, 2, 3, 4) : in[i];
            if (mode == READ)
                sum += x.x + x.y + x.z + x.w;
            else
                to[i] = make_float4(x.x + 1, x.y, x.z, x.w);
        }
    }
    if (sum == 12345) spans[0].begin_ns = 0;
    __syncthreads();
    if (threadIdx.x == 0) spans[blockIdx.x] = {begin, nanoseconds()};
}

static double pass_ns(int mode, double mib, int ctas) {
    static std::vector<span> s(1 << 16);
    long n = (long)(mib * (1 << 20)) / 16;
    bool two = mode == COPY || mode == NORM;
    if (two) n /= 2;
    float4 *from = (float4 *)data, *to = two ? from + n : from;
    pass_over<<<ctas, THREADS>>>(mode, from, to, n, (span *)out);
    check(cudaMemcpy(s.data(), out, ctas * sizeof s[0], cudaMemcpyDeviceToHost));
    uint64_t begin = UINT64_MAX, end = 0;
    for (int i = 0; i < ctas; i++)
        begin = std::min(begin, s[i].begin_ns), end = std::max(end, s[i].end_ns);
    return (double)(end - begin);
}

static void written() {
    char variant[64];
    for (int mode = READ; mode <= NORM; mode++)
        for (double mib : {2.,  4.,  8.,  12., 16., 20., 24., 28., 32.,  36., 40.,
                           44., 48., 52., 56., 60., 64., 72., 80., 100., 160.}) {
            std::vector<double> warm, first, second;
            for (int i = 0; i < 12; i++) {
                double ns = pass_ns(mode, mib, 4 * sms);
                if (i > 3) warm.push_back(ns);
            }
            snprintf(variant, sizeof variant, "%s %g MiB", mode_name[mode], mib);
            line("written", variant, "launch", warm, "ns");
            for (int i = 0; i < 5; i++) {
                check(cudaMemset(more, i, BYTES));
                first.push_back(pass_ns(mode, mib, 4 * sms));
                second.push_back(pass_ns(mode, mib, 4 * sms));
            }
            line("flushed", variant, "first", first, "ns");
            line("flushed", variant, "second", second, "ns");
        }
}

/* ---- cold code */

template <int KIB, int COPY_OF> __global__ void straight(uint64_t *out, uint32_t x) {
    uint64_t t = cycles();
    uint32_t y = threadIdx.x;
#pragma unroll
    for (int i = 0; i < KIB * 64; i++)
        y = (y ^ x) + 77 * i; /* one instruction of 16 bytes each, about */
    uint64_t end = cycles();
    if (y == 12345) out[1] = y;
    if (threadIdx.x == 0) out[blockIdx.x] = end - t;
}
template <int KIB, int COPY_OF>
static void cold_one(std::vector<double> *first, std::vector<double> *second, int ctas) {
    for (int k = 0; k < 3; k++) {
        straight<KIB, COPY_OF><<<ctas, 128>>>(out, k);
        check(cudaMemcpy(seen, out, ctas * 8, cudaMemcpyDeviceToHost));
        double most = 0;
        for (int c = 0; c < ctas; c++) most = std::max(most, (double)seen[c]);
        if (k != 1) (k ? second : first)->push_back(most);
    }
}
template <int KIB> static void cold_size() {
    char variant[32];
    std::vector<double> first, second;
    cold_one<KIB, 0>(&first, &second, 1);
    cold_one<KIB, 1>(&first, &second, 1);
    snprintf(variant, sizeof variant, "%d KiB, 1 SM", KIB);
    line("cold", variant, "first", first, "cycles");
    line("cold", variant, "second", second, "cycles");
    first.clear(), second.clear();
    cold_one<KIB, 2>(&first, &second, sms);
    cold_one<KIB, 3>(&first, &second, sms);
    snprintf(variant, sizeof variant, "%d KiB, all SMs", KIB);
    line("cold", variant, "first", first, "cycles");
    line("cold", variant, "second", second, "cycles");
}

/* ---- instructions attention does not use */

enum { N = 128 };
#define OPS(X)                                                                                     \
    X(dadd, double, x = x + y)                                                                     \
    X(dmul, double, x = x * y)                                                                     \
    X(dfma, double, x = x * y + y)                                                                 \
    X(dsetp, double, x = x > y ? x : y)                                                            \
    X(f2f_up_down, double, x = (double)(float)x)                                                   \
    X(i2d_d2i, int, x = (int)((double)x + 0.0) + y)                                                \
    X(redux_add, int, x = __reduce_add_sync(~0u, x))                                               \
    X(redux_max, int, x = __reduce_max_sync(~0u, x))                                               \
    X(match_any, unsigned, x = __match_any_sync(~0u, x) + y)                                       \
    X(popc, int, x = __popc(x) + y)                                                                \
    X(i2f_f2i, int, x = (int)((float)x) + y)                                                       \
    X(i2f_s64, long long, x = (long long)(float)x + y)                                             \
    X(idiv, int, x = y / (x | 1))                                                                  \
    X(fdiv, float, x = y / x)                                                                      \
    X(sqrt, float, x = sqrtf(x))                                                                   \
    X(expf, float, x = expf(x))                                                                    \
    X(tanhf, float, x = tanhf(x))                                                                  \
    X(ddiv, double, x = y / x)                                                                     \
    X(warpsync, int, __syncwarp(); x += y)                                                         \
    X(imul64, long long, x = x * y)
#define KERNEL(NAME, TYPE, STEP)                                                                   \
    __global__ void op_##NAME(uint64_t *out, int seed) {                                           \
        TYPE x = (TYPE)(threadIdx.x + seed), y = (TYPE)(seed + 3);                                 \
        (void)y;                                                                                   \
        __syncthreads();                                                                           \
        uint64_t t = cycles();                                                                     \
        _Pragma("unroll 16") for (int i = 0; i < N; i++) { STEP; }                                 \
        __syncthreads();                                                                           \
        uint64_t end = cycles();                                                                   \
        if (x == (TYPE)12345) out[1] = 1;                                                          \
        if (threadIdx.x == 0) out[0] = end - t;                                                    \
    }
OPS(KERNEL)

static void op(const char *name, void (*kernel)(uint64_t *, int)) {
    for (int warps : {1, 4, 16, 32}) {
        std::vector<double> x;
        for (int i = 0; i < 6; i++) {
            kernel<<<1, 32 * warps>>>(out, 5);
            check(cudaMemcpy(seen, out, 8, cudaMemcpyDeviceToHost));
            if (i) x.push_back((double)seen[0] / N / (warps == 1 ? 1 : warps));
        }
        char variant[64];
        snprintf(variant, sizeof variant, "%s, %d warps", name, warps);
        line(warps == 1 ? "chain" : "rate", variant, "step", x, "cycles");
    }
}

enum where { ONE, LANE, WARP };
static const char *const where_name[] = {"one address", "a word a lane", "a word a warp"};
template <bool SHARED, bool RETURNS, typename T>
__global__ void atoms(uint64_t *out, T *to, int where) {
    __shared__ T mine[1024];
    T *p = SHARED ? mine : to + (where == ONE ? 0 : blockIdx.x * 1024), sum = 0;
    mine[threadIdx.x] = 0;
    p += where == ONE ? 0 : where == LANE ? threadIdx.x : threadIdx.x / 32 * 8;
    __syncthreads();
    uint64_t t = cycles();
    for (int i = 0; i < N; i++) {
        T old = atomicAdd(p, (T)1);
        if (RETURNS) sum += old, p += old == (T)-1;
    }
    __threadfence();
    __syncthreads();
    uint64_t end = cycles();
    if (RETURNS && sum == (T)12345) out[1] = 1;
    if (threadIdx.x == 0) out[blockIdx.x] = end - t;
}
template <bool SHARED, bool RETURNS, typename T> static void atom(const char *name) {
    for (int where = ONE; where <= WARP; where++)
        for (int warps : {1, 4, 16})
            for (int ctas : {1, 132}) {
                std::vector<double> x;
                char variant[96];
                if (SHARED && ctas > 1) continue;
                for (int i = 0; i < 4; i++) {
                    atoms<SHARED, RETURNS, T><<<ctas, 32 * warps>>>(out, (T *)data, where);
                    check(cudaMemcpy(seen, out, 8 * ctas, cudaMemcpyDeviceToHost));
                    for (int c = 0; i && c < ctas; c++) x.push_back((double)seen[c] / N / warps);
                }
                snprintf(variant, sizeof variant, "%s, %s, %d warps, %d SMs", name,
                         where_name[where], warps, ctas);
                line("atom", variant, "atomic", x, "cycles");
            }
}

template <typename T> __global__ void few(uint64_t *out, T *to, int n, int apart, bool random) {
    uint32_t state = blockIdx.x * 1024 + threadIdx.x + 1;
    uint64_t t = cycles();
    for (int i = 0; i < N; i++) {
        state = state * 1664525 + 1013904223;
        atomicAdd(&to[(random ? (state >> 16) % n : threadIdx.x % 32 % n) * apart], (T)1);
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = cycles() - t;
}
template <typename T> static void few_words(const char *name) {
    const int warps = 8;
    for (int random = 0; random < 2; random++)
        for (int n : {1, 2, 4, 7, 8, 16, 32, 64, 256})
            for (int apart : {1, 8, 32}) {
                std::vector<double> x;
                char variant[96];
                if (!random && n > 32) continue;
                for (int i = 0; i < 4; i++) {
                    few<T><<<sms, 32 * warps>>>(out, (T *)data, n, apart, random);
                    check(cudaMemcpy(seen, out, 8 * sms, cudaMemcpyDeviceToHost));
                    uint64_t longest = *std::max_element(seen, seen + sms);
                    if (i) x.push_back((double)longest / N / warps / sms);
                }
                snprintf(variant, sizeof variant, "%s, %s%d words %d apart", name,
                         random ? "random, " : "", n, apart);
                line("few", variant, "warp", x, "cycles");
            }
}

__global__ void clocks(uint64_t *out) {
    uint64_t c = cycles(), n = nanoseconds(), now;
    while ((now = nanoseconds()) - n < 200000)
        ;
    out[0] = cycles() - c, out[1] = now - n;
}

int main(int argc, char **argv) {
    cudaDeviceProp p;
    int khz, bits;
    auto on = [&](const char *bench) { return argc < 2 || !strcmp(argv[1], bench); };
    check(cudaGetDeviceProperties(&p, 0));
    check(cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, 0));
    check(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    sms = p.multiProcessorCount;
    check(cudaMalloc(&data, BYTES));
    check(cudaMalloc(&more, BYTES));
    check(cudaMalloc(&out, sizeof seen));
    check(cudaMemset(data, 0, BYTES));
    check(cudaMemset(more, 0, BYTES));
    clocks<<<1, 1>>>(out);
    check(cudaMemcpy(seen, out, 16, cudaMemcpyDeviceToHost));
    mhz = 1e3 * seen[0] / seen[1];
    line("machine", p.name, "sms", {(double)sms}, "");
    line("machine", p.name, "L2", {(double)p.l2CacheSize}, "bytes");
    line("machine", p.name, "dram", {2e-6 * khz * bits / 8}, "bytes/ns");
    line("machine", p.name, "sm_mhz", {mhz}, "MHz");
    if (on("cold")) cold_size<4>(), cold_size<16>(), cold_size<64>();
    if (on("dispatch")) dispatch();
    if (on("lines")) lines_of_load();
    if (on("written")) written();
#define RUN(NAME, TYPE, STEP) op(#NAME, op_##NAME);
    if (on("ops")) {
        OPS(RUN)
    }
    if (on("atoms")) {
        atom<true, false, int>("shared int"), atom<true, true, int>("shared int, returned"),
            atom<true, false, float>("shared float");
        atom<false, false, int>("global int"), atom<false, true, int>("global int, returned"),
            atom<false, false, float>("global float");
    }
    if (on("few")) few_words<int>("int"), few_words<float>("float");
    return 0;
}
