/* What launches of small programs take beyond their steady work, one launch of each: Nsight Compute counts them on a GPU,
 * build/run predicts them (as of patterns.cu).
 *
 *   runtime/attnlab-nvcc -O3 -std=c++17 -o habits chips/bench/launches/habits.cu
 *   ncu --csv --page raw --cache-control none --clock-control none --metrics sm__cycles_elapsed.max ./habits > habits.csv
 *
 * The program prints a line for each launch, in order: its number and what it is.
 *
 *   tiny      what a program launches first: one element a thread, thrice, then another kernel
 *   begin     CTAs that stay 0 and 2000 cycles: by their number, and threads
 *   code      straight code of n instructions, of 1 CTA and of one an SM: the first launches of its kernel, and behind a flush
 *   chain     loads of which each needs the one before: of one lane, or 32 of a line; by distance; first, again, flushed
 *   vectors   c = a + b, as programs do: arrays of n KiB copied from the host, then the launch, thrice
 *   indexed   constants by a register's index: in a chain, by warps, by distance; of lanes that differ
 *   strided   y[i] = x[s i]: by s, and bytes that it covers
 *   locals    arrays in local memory: by words, warps, and whether lanes take the same index
 *   hits      loads of lines that L1 has: groups of neighbouring lanes, and the bytes between two groups
 *   new-stay CTAs, new-code CTAs, new-chain BYTES LANES: a process in which nothing else runs */
#include "../check.cuh"

#include <cstdint>
#include <cstring>
#include <vector>

enum { MIB = 1 << 20, BYTES = 256 * MIB };
static char *a, *b, *c;
static std::vector<char> host;
static int number;

static void is(const char *what, double x = 0, double y = 0, const char *how = "") {
    printf("%d\t%s %g %g%s%s\n", number++, what, x, y, *how ? " " : "", how);
}

template <int ID> __global__ void add(const float *x, const float *y, float *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i] + ID;
}
static void tiny() {
    float *x, *y, *z;
    check(cudaMalloc(&x, 4096)), check(cudaMalloc(&y, 4096)), check(cudaMalloc(&z, 4096));
    check(cudaMemcpy(x, host.data(), 4096, cudaMemcpyHostToDevice));
    check(cudaMemcpy(y, host.data(), 4096, cudaMemcpyHostToDevice));
    for (int k = 0; k < 3; k++) is("tiny", k), add<0><<<1, 256>>>(x, y, z, 256);
    for (int k = 0; k < 3; k++) is("tiny, other kernel", k), add<1><<<1, 256>>>(x, y, z, 256);
    for (int k = 0; k < 3; k++) is("tiny, 4 CTAs", k), add<2><<<4, 256>>>(x, y, z, 1000);
}

__global__ void stay(int cycles, long long *out) {
    long long t = clock64();
    while (cycles && clock64() - t < cycles)
        ;
    if (cycles < 0) out[0] = t;
}
static void begin() {
    stay<<<1, 32>>>(0, (long long *)c), number++, printf("%d\tbegin, first 0 0\n", number - 1);
    for (int cycles : {0, 2000})
        for (int threads : {32, 256, 1024})
            for (int ctas : {1, 2, 4, 8, 16, 32, 48, 66, 100, 132, 264, 1056})
                for (int k = 0; k < 2; k++) {
                    char how[48];
                    snprintf(how, sizeof how, "%d threads%s", threads, k ? ", again" : "");
                    is("begin", cycles, ctas, how);
                    stay<<<ctas, threads>>>(cycles, (long long *)c);
                }
}

template <int N, int COPY> __global__ void code(unsigned *out, unsigned x) {
    unsigned y = threadIdx.x;
#pragma unroll
    for (int i = 0; i < N / 2; i++) y = (y ^ x) + 77 * i + COPY; /* two instructions each, about */
    if (y == 12345) out[1] = y;
}
template <int N, int COPY> static void code_one(int ctas, int threads) {
    char how[64];
    for (int k = 0; k < 5; k++) {
        if (k == 3) check(cudaMemset(b, k, BYTES));
        snprintf(how, sizeof how, "%d CTAs of %d%s", ctas, threads,
                 k == 0   ? ", first"
                 : k == 3 ? ", flushed"
                          : ", again");
        is("code", N, ctas, how);
        code<N, COPY><<<ctas, threads>>>((unsigned *)c, 3);
        check(cudaDeviceSynchronize());
    }
}
template <int N> static void code_size() {
    code_one<N, 0>(1, 32), code_one<N, 1>(132, 128), code_one<N, 2>(1056, 128);
}

__global__ void chase(const uint32_t *x, int n, uint32_t *out) { /* x[i]: how many words on */
    const uint32_t *at = x + threadIdx.x;
    for (int k = 0; k < n; k++) {
        uint32_t words;
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(words) : "l"(at) : "memory");
        at += words;
    }
    if (n < 0) out[0] = (uint32_t)(at - x);
}
/* Of a process whose first launch this is: nothing else has run on the GPU. */
static void new_chain(size_t apart, int n, int lanes) {
    uint32_t *words = (uint32_t *)host.data(), *x, *out;
    const size_t bytes = apart * (size_t)(n + 1);
    for (size_t i = 0; i < bytes / 4; i++) words[i] = (uint32_t)apart / 4;
    check(cudaMalloc(&x, bytes)), check(cudaMalloc(&out, 4));
    check(cudaMemcpy(x, words, bytes, cudaMemcpyHostToDevice));
    for (int k = 0; k < 3; k++)
        is("new chain", (double)apart, n, lanes > 1 ? "32 lanes" : "1 lane"),
            chase<<<1, lanes>>>(x, n, out);
}
static void new_stay(int ctas) {
    long long *out;
    check(cudaMalloc(&out, 8));
    for (int k = 0; k < 14; k++) is("new stay", k, ctas), stay<<<ctas, 32>>>(2000, out);
}
static void new_code(int ctas) {
    unsigned *out;
    check(cudaMalloc(&out, 8));
    for (int k = 0; k < 3; k++) is("new code", 1024, ctas), code<1024, 3><<<ctas, 128>>>(out, 3);
    for (int k = 0; k < 3; k++) is("new code", 256, ctas), code<256, 3><<<ctas, 128>>>(out, 3);
}

/* Loads of lines that L1 has: lanes in groups of neighbours, `apart` bytes from group to group. */
__global__ void hit(const char *x, int group, int apart, int n, float *y) {
    const int lane = threadIdx.x % 32;
    const char *at = x + lane / group * apart + lane % group * 4;
    float sum = 0;
    for (int k = 0; k < n; k++) {
        float v[8];
#pragma unroll
        for (int i = 0; i < 8; i++)
            asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(v[i]) : "l"(at + i * 512) : "memory");
#pragma unroll
        for (int i = 0; i < 8; i++) sum += v[i];
    }
    if (sum == 12345) y[0] = sum;
}
static void hits() {
    char how[64];
    for (int warps : {4, 16, 32})
        for (int group : {32, 16, 8, 4, 1})
            for (int apart : {4096, 4096 + group * 4, 4096 + 128, 4096 + 64}) {
                snprintf(how, sizeof how, "%d warps", warps);
                is("hit", group, apart, how);
                hit<<<132, 32 * warps>>>(a, group, apart, 128, (float *)c);
            }
}

/* Loads, stores or both of local memory, word (k + l lane) of an array. */
template <int WORDS, bool LOADS, bool STORES>
__global__ void local_words(int *y, int n, int lane_step) {
    volatile int x[WORDS];
    int sum = 0, at = threadIdx.x * lane_step;
    for (int k = 0; k < WORDS; k++) x[k] = k;
    for (int k = 0; k < n; k++, at++) {
        if (LOADS) sum += x[at % WORDS];
        if (STORES) x[at % WORDS] = k;
    }
    if (sum == 12345) y[0] = x[3];
}
static void locals_each() {
    char how[64];
    for (int ctas : {1, 132})
        for (int warps : {1, 8, 32})
            for (int lane_step : {0, 1}) {
                snprintf(how, sizeof how, "%d warps, %d CTAs", warps, ctas);
                is("local load", 16, lane_step, how);
                local_words<16, true, false><<<ctas, 32 * warps>>>((int *)c, 512, lane_step);
                is("local store", 16, lane_step, how);
                local_words<16, false, true><<<ctas, 32 * warps>>>((int *)c, 512, lane_step);
                is("local both", 16, lane_step, how);
                local_words<16, true, true><<<ctas, 32 * warps>>>((int *)c, 512, lane_step);
            }
}
static void chain() {
    uint32_t *words = (uint32_t *)host.data();
    const int n = 32;
    for (int lanes : {1, 32})
        for (size_t apart : {128, 4096, 65536, 2 * MIB}) {
            for (size_t i = 0; i < apart / 4 * n && i < host.size() / 4; i++)
                words[i] = (uint32_t)apart / 4;
            size_t bytes = apart * n < host.size() ? apart * n : host.size();
            char how[48];
            for (int k = 0; k < 5; k++) {
                if (k == 0 || k == 4) check(cudaMemcpy(a, words, bytes, cudaMemcpyHostToDevice));
                if (k == 3) check(cudaMemset(b, k, BYTES));
                snprintf(how, sizeof how, "%d lanes%s", lanes,
                         k == 0   ? ", copied, first"
                         : k == 4 ? ", copied"
                         : k == 3 ? ", flushed"
                                  : ", again");
                is("chain", (double)apart, n, how);
                chase<<<1, lanes>>>((uint32_t *)a, apart == 2 * MIB ? 30 : n, (uint32_t *)c);
                check(cudaDeviceSynchronize());
            }
        }
    check(cudaMemset(a, 0, BYTES));
}

template <int ID> static void vectors_one(size_t kib) {
    float *x, *y, *z;
    const size_t bytes = kib << 10, n = bytes / 4;
    check(cudaMalloc(&x, bytes)), check(cudaMalloc(&y, bytes)), check(cudaMalloc(&z, bytes));
    check(cudaMemcpy(x, host.data(), bytes, cudaMemcpyHostToDevice));
    check(cudaMemcpy(y, host.data(), bytes, cudaMemcpyHostToDevice));
    for (int k = 0; k < 4; k++) {
        if (k == 3) {
            check(cudaMemcpy(host.data(), z, bytes, cudaMemcpyDeviceToHost));
            check(cudaMemcpy(x, host.data(), bytes, cudaMemcpyHostToDevice));
            check(cudaMemcpy(y, host.data(), bytes, cudaMemcpyHostToDevice));
        }
        is("vectors KiB", (double)kib, k, k == 0 ? "first" : k == 3 ? "copied" : "again");
        add<ID><<<(unsigned)(n / 256), 256>>>(x, y, z, (int)n);
        check(cudaDeviceSynchronize());
    }
    check(cudaFree(x)), check(cudaFree(y)), check(cudaFree(z));
}

static __constant__ int table[16384];
__global__ void indexed_chain(int *y, int n) { /* each index from the table */
    int at = 0;
    for (int k = 0; k < n; k++) at = table[at];
    y[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
__global__ void indexed(int *y, int n, int step, int lane_step, int mask) {
    int s = 0, at = threadIdx.x % 32 * lane_step;
#pragma unroll 4
    for (int k = 0; k < n; k++, at += step) s += table[at & mask];
    y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
static void indexed_all() {
    std::vector<int> t(16384);
    char how[64];
    for (int apart : {1, 16, 64, 256, 512}) { /* words */
        for (int i = 0; i < 16384; i++) t[(size_t)i] = (i + apart) % 16384;
        check(cudaMemcpyToSymbol(table, t.data(), 65536));
        for (int k = 0; k < 2; k++)
            is("indexed chain", apart, 1, k ? "again" : ""),
                indexed_chain<<<1, 32>>>((int *)c, 1024);
    }
    for (int words : {16, 64, 256, 512, 1024, 4096, 16384})
        for (int warps : {1, 8, 32}) {
            snprintf(how, sizeof how, "%d warps, 132 CTAs", warps);
            is("indexed table", words, 1, how);
            indexed<<<132, 32 * warps>>>((int *)c, 2048, 1, 0, words - 1);
            is("indexed table", words, 16, how);
            indexed<<<132, 32 * warps>>>((int *)c, 2048, 16, 0, words - 1);
        }
    for (int lanes : {1, 16, 64})
        for (int warps : {1, 8, 32}) {
            snprintf(how, sizeof how, "%d warps, 132 CTAs", warps);
            is("indexed lanes apart", lanes, 0, how);
            indexed<<<132, 32 * warps>>>((int *)c, 256, 0, lanes, 16383);
        }
}

__global__ void strided_read(const float *x, float *y, int n, int s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[(size_t)i * s];
}
__global__ void strided_write(const float *x, float *y, int n, int s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[(size_t)i * s] = x[i];
}
static void strided() {
    for (int mib : {16, 64, 256})
        for (int s : {1, 2, 4, 8, 16, 32, 64}) {
            const int n = mib * (MIB / 4) / s;
            for (int k = 0; k < 2; k++)
                is("strided read", s, mib, k ? "MiB, again" : "MiB"),
                    strided_read<<<n / 256, 256>>>((float *)a, (float *)b, n, s);
            is("strided write", s, mib, "MiB");
            strided_write<<<n / 256, 256>>>((float *)b, (float *)a, n, s);
        }
}

template <int WORDS> __global__ void local(int *y, int n, int lane_step) {
    int x[WORDS];
    for (int k = 0; k < WORDS; k++) x[k] = k * lane_step;
    int at = threadIdx.x * lane_step;
    for (int k = 0; k < n; k++) {
        x[at % WORDS] += k;
        at = at + 1 + (x[(at + 7) % WORDS] & 1);
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = x[at % WORDS];
}
__global__ void large_sines(const float *x, float *y, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sinf(x[i] + by * i);
}
template <int WORDS> static void local_one() {
    char how[64];
    for (int ctas : {1, 132})
        for (int warps : {1, 4, 16, 32})
            for (int lane_step : {0, 1}) {
                snprintf(how, sizeof how, "%d warps, %d CTAs", warps, ctas);
                is("local words", WORDS, lane_step, how);
                local<WORDS><<<ctas, 32 * warps>>>((int *)c, 256, lane_step);
            }
}
static void locals() {
    local_one<8>(), local_one<64>();
    for (int blocks : {1, 132, 1024, 4096})
        for (double by : {0., 1e3, 1e6})
            for (int k = 0; k < 2; k++)
                is("large sines", blocks, by, k ? "again" : ""),
                    large_sines<<<blocks, 256>>>((float *)a, (float *)b, blocks * 256, (float)by);
}

int main(int argc, char **argv) {
    auto on = [&](const char *bench) { return argc > 1 && !strcmp(argv[1], bench); };
    host.resize(64 * MIB, 1);
    if (on("tiny")) tiny();
    const bool is_new = argc > 1 && !strncmp(argv[1], "new", 3);
    const int x = argc > 2 ? atoi(argv[2]) : 1, y = argc > 3 ? atoi(argv[3]) : 1;
    if (on("new-chain")) new_chain((size_t)x, 32, y);
    if (on("new-stay")) new_stay(x);
    if (on("new-code")) new_code(x);
    if (!on("tiny") && !is_new) {
        check(cudaMalloc(&a, BYTES)), check(cudaMalloc(&b, BYTES)), check(cudaMalloc(&c, BYTES));
        check(cudaMemset(a, 0, BYTES)), check(cudaMemset(b, 0, BYTES)),
            check(cudaMemset(c, 0, BYTES));
    }
    if (on("begin")) begin();
    if (on("code"))
        code_size<16>(), code_size<64>(), code_size<256>(), code_size<1024>(), code_size<4096>();
    if (on("chain")) chain();
    if (on("vectors"))
        vectors_one<10>(4), vectors_one<11>(64), vectors_one<12>(1024), vectors_one<13>(4096),
            vectors_one<14>(16384), vectors_one<15>(65536);
    if (on("indexed")) indexed_all();
    if (on("strided")) strided();
    if (on("locals")) locals(), locals_each();
    if (on("hits")) hits();
    check(cudaDeviceSynchronize());
    return 0;
}
