/* What the first launches of a process find in L2 of data that the host has copied, how a warp's end waits for answers, and
 * reads by columns: one launch each. Nsight Compute counts them on a GPU, build/run predicts them (as of patterns.cu).
 *
 *   runtime/attnlab-nvcc -O3 -std=c++17 -o fresh chips/bench/launches/fresh.cu
 *   ncu --csv --page raw --cache-control none --clock-control none --metrics sm__cycles_elapsed.max ./fresh exit > exit.csv
 *
 * The program prints a line for each launch, in order: its number and what it is.
 *
 *   copy KIB MIB   two arrays of KIB KiB are copied from the host behind a memset of MIB MiB of other memory (0: none), and
 *                  added: first, twice again, behind a second copy; then the same with new arrays
 *   exit           a warp that ends behind a load, an atomic, a store or a copy of which nothing uses the result
 *   first KIND     one kind of these, the first launches of a process
 *   columns        lanes read a column: by size, by what a row has beyond it, and by the shape of a block
 *   waves          CTAs of n threads that load and store, which end one warp after the other, or all at once */
#include "../check.cuh"
#include "numbered.cuh"

#include <cstdint>
#include <cstring>
#include <vector>

__global__ void add(const float *x, const float *y, float *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}
static void pair(size_t kib, const char *how) {
    static std::vector<char> host(256 << 20, 1);
    const size_t bytes = kib << 10;
    const int n = (int)(bytes / 4);
    float *x, *y, *z;
    check(cudaMalloc(&x, bytes)), check(cudaMalloc(&y, bytes)), check(cudaMalloc(&z, bytes));
    for (int k = 0; k < 4; k++) {
        if (k % 3 == 0) {
            check(cudaMemcpy(x, host.data(), bytes, cudaMemcpyHostToDevice));
            check(cudaMemcpy(y, host.data(), bytes, cudaMemcpyHostToDevice));
        }
        is("copy %zu KiB %s %s", kib, how, k == 0 ? "copied" : k == 3 ? "copied again" : "again");
        add<<<(n + 255) / 256, 256>>>(x, y, z, n);
        check(cudaDeviceSynchronize());
    }
}
enum {
    NOTHING,
    STORE,
    STORE_FENCE,
    RED,
    ATOM_UNUSED,
    CAS_UNUSED,
    LOAD_UNUSED,
    LOAD_USED,
    ATOM_STORE,
    COPY_ASYNC,
    KINDS
};
static const char *const kind_name[] = {"nothing",      "store",        "store, fence",
                                        "red",          "exch, unused", "cas, unused",
                                        "load, unused", "load, used",   "exch, unused, and store",
                                        "cp.async"};
template <int KIND> __global__ void ends(int *p) {
    __shared__ int s[32];
    int *at = p + threadIdx.x;
    if (KIND == STORE || KIND == STORE_FENCE)
        asm volatile("st.global.u32 [%0], 1;" ::"l"(at) : "memory");
    if (KIND == STORE_FENCE) asm volatile("membar.gl;" ::: "memory");
    if (KIND == RED) asm volatile("red.global.add.u32 [%0], 1;" ::"l"(at) : "memory");
    if (KIND == ATOM_UNUSED || KIND == ATOM_STORE) {
        int old;
        asm volatile("atom.global.exch.b32 %0, [%1], 1;" : "=r"(old) : "l"(at) : "memory");
    }
    if (KIND == ATOM_STORE) asm volatile("st.volatile.global.u32 [%0], 2;" ::"l"(at) : "memory");
    if (KIND == CAS_UNUSED) {
        int old;
        asm volatile("atom.global.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "l"(at) : "memory");
    }
    if (KIND == LOAD_UNUSED || KIND == LOAD_USED) {
        int v;
        asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
        if (KIND == LOAD_USED && v == 12345) p[64] = v;
    }
    if (KIND == COPY_ASYNC)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                         (unsigned)__cvta_generic_to_shared(s + threadIdx.x)),
                     "l"(at)
                     : "memory");
}
template <int KIND> static void end_one(int *p, int only) {
    if (only >= 0 && only != KIND) return;
    for (int lanes : {1, 32})
        for (int k = 0; k < 3; k++)
            is("ends %s, %d lanes, %d", kind_name[KIND], lanes, k), ends<KIND><<<1, lanes>>>(p);
}
static void ends_all(int only) {
    int *p;
    check(cudaMalloc(&p, 4096));
    end_one<NOTHING>(p, only), end_one<STORE>(p, only), end_one<STORE_FENCE>(p, only),
        end_one<RED>(p, only);
    end_one<ATOM_UNUSED>(p, only), end_one<CAS_UNUSED>(p, only), end_one<LOAD_UNUSED>(p, only),
        end_one<LOAD_USED>(p, only);
    end_one<ATOM_STORE>(p, only), end_one<COPY_ASYNC>(p, only);
}
template <bool LOADS, bool STORES>
__global__ void columns(const float *x, float *y, int width, int pitch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    float v = LOADS ? x[(size_t)i * pitch + j] : i;
    if (STORES || v == 12345) y[(size_t)j * width + i] = v * 2;
}
static void columns_all() {
    float *x, *y;
    check(cudaMalloc(&x, 256 << 20)), check(cudaMalloc(&y, 256 << 20));
    check(cudaMemset(x, 0, 256 << 20)), check(cudaMemset(y, 0, 256 << 20));
    for (int n : {1024, 2048, 4096})
        for (int pad : {0, 32})
            for (dim3 t : {dim3(16, 16), dim3(32, 8), dim3(8, 32)})
                for (int k = 0; k < 2; k++) {
                    const dim3 g(n / t.x, n / t.y);
                    is("columns %d + %d, %u x %u, loads, %d", n, pad, t.x, t.y, k),
                        columns<true, false><<<g, t>>>(x, y, n, n + pad);
                    is("columns %d + %d, %u x %u, stores, %d", n, pad, t.x, t.y, k),
                        columns<false, true><<<g, t>>>(x, y, n, n + pad);
                    is("columns %d + %d, %u x %u, both, %d", n, pad, t.x, t.y, k),
                        columns<true, true><<<g, t>>>(x, y, n, n + pad);
                }
}
/* stays `cycles` after its load, if that is not 0: then all warps end together */
template <bool STORES> __global__ void wave(const float *x, float *y, int cycles) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (cycles) {
        __syncthreads();
        for (long long t = clock64(); clock64() - t < cycles;)
            ;
    }
    if (STORES || v == 12345) y[i] = v + 1;
}
static void waves() {
    float *x, *y;
    check(cudaMalloc(&x, 8 << 20)), check(cudaMalloc(&y, 8 << 20));
    check(cudaMemset(x, 0, 8 << 20)), check(cudaMemset(y, 0, 8 << 20));
    for (int threads : {128, 256, 512, 1024})
        for (int cycles : {0, 1000})
            for (int k = 0; k < 2; k++) {
                is("wave %d threads, %d, loads, %d", threads, cycles, k),
                    wave<false><<<(2 << 20) / threads, threads>>>(x, y, cycles);
                is("wave %d threads, %d, both, %d", threads, cycles, k),
                    wave<true><<<(2 << 20) / threads, threads>>>(x, y, cycles);
            }
}
int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    const int a = argc > 2 ? atoi(argv[2]) : 0, b = argc > 3 ? atoi(argv[3]) : 0;
    if (!strcmp(what, "copy")) {
        char how[32];
        void *other;
        snprintf(how, sizeof how, "behind %d MiB", b);
        if (b)
            check(cudaMalloc(&other, (size_t)b << 20)),
                check(cudaMemset(other, 0, (size_t)b << 20));
        pair(a, how), pair(a, "fresh once more");
    }
    if (!strcmp(what, "exit")) ends_all(-1);
    if (!strcmp(what, "first")) ends_all(a);
    if (!strcmp(what, "columns")) columns_all();
    if (!strcmp(what, "waves")) waves();
    check(cudaDeviceSynchronize());
}
