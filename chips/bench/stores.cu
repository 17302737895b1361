/* How many stores an SM takes before its warps wait: a program of its own.
 *
 *   nvcc -O2 -std=c++17 -arch=sm_90a -I. -Ibuild/include -o stores chips/bench/stores.cu && ./stores > stores.tsv
 *
 * Each warp stores one register again and again, 4 or 16 bytes a lane, and changes it behind each store: it waits until
 * the store has read it. A line a case: bytes a lane, rows that a warp's store goes to, CTAs, warps of each; then behind
 * 1, 2, 3, 4, 6, 8, ... stores of a warp: n:cycles since the first, median of all warps of the last launch (warm L2).
 *
 * Lines before those, `tile`: bytes a row, CTAs, warps of each, and behind each of four tiles n:cycles, median and most.
 * Each warp stores 16 rows, 4 bytes a lane, from registers of their own, as attention does at the end of a tile. */
#include "check.cuh"
#include "timed.cuh"

#include <algorithm>
#include <cstdint>
#include <vector>

enum { STORES = 64, SHARED = 100 << 10, LAUNCHES = 4 };

template <int BYTES> __global__ void store(char *data, int rows, uint32_t *out) {
    __shared__ uint32_t stamp[32][STORES];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, per_row = 32 / rows;
    const size_t own = (size_t)(blockIdx.x * (blockDim.x / 32) + warp) * STORES * 512;
    char *to = data + own + (lane / per_row) * STORES * 512 / rows + lane % per_row * BYTES;
    uint32_t x = threadIdx.x;
    __syncthreads();
    const uint32_t begin = (uint32_t)cycles();
#pragma unroll 1
    for (int i = 0; i < STORES; i++) {
        if (BYTES == 16)
            asm volatile("st.global.v4.u32 [%1], {%0, %0, %0, %0};" ::"r"(x), "l"(to) : "memory");
        else
            asm volatile("st.global.u32 [%1], %0;" ::"r"(x), "l"(to) : "memory");
        asm volatile("add.u32 %0, %0, 1;" : "+r"(x));
        to += BYTES * per_row;
        if (lane == 0) stamp[warp][i] = (uint32_t)cycles() - begin;
    }
    if (x == 12345) out[0] = x;
    __syncthreads();
    for (int i = lane; i < STORES; i += 32)
        out[(blockIdx.x * (blockDim.x / 32) + warp) * STORES + i] = stamp[warp][i];
}

/* A warp's 16 rows, 8 rows a store, from registers that are changed behind the last store; `turns` times, rows further on. */
template <int STORES_A_ROW> __global__ void tile(char *data, int turns, uint32_t *out) {
    constexpr int ROW = STORES_A_ROW * 16;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, n_warps = blockDim.x / 32;
    uint32_t x[2][STORES_A_ROW];
    for (int i = 0; i < 2 * STORES_A_ROW; i++)
        x[i / STORES_A_ROW][i % STORES_A_ROW] = threadIdx.x + i;
    char *to = data + (size_t)(blockIdx.x * n_warps + warp) * turns * 16 * ROW + lane / 4 * ROW +
               lane % 4 * 4;
    __syncthreads();
    const uint32_t begin = (uint32_t)cycles();
#pragma unroll 1
    for (int t = 0; t < turns; t++, to += 16 * ROW) {
#pragma unroll
        for (int i = 0; i < 2 * STORES_A_ROW; i++)
            asm volatile("st.global.u32 [%1], %0;" ::"r"(x[i / STORES_A_ROW][i % STORES_A_ROW]),
                         "l"(to + i / STORES_A_ROW * 8 * ROW + i % STORES_A_ROW * 16)
                         : "memory");
#pragma unroll
        for (int i = 0; i < 2 * STORES_A_ROW; i++)
            asm volatile("add.u32 %0, %0, 1;" : "+r"(x[i / STORES_A_ROW][i % STORES_A_ROW]));
        if (lane == 0 && t < STORES)
            out[(blockIdx.x * n_warps + warp) * STORES + t] = (uint32_t)cycles() - begin;
    }
    uint32_t sum = 0;
    for (int i = 0; i < 2 * STORES_A_ROW; i++) sum += x[i / STORES_A_ROW][i % STORES_A_ROW];
    if (sum == 12345) out[0] = sum;
}

static char *data;
static uint32_t *out;

static void measure_tile(int stores_a_row, int ctas, int warps) {
    enum { TURNS = 4 };
    auto kernel = stores_a_row == 16 ? tile<16> : stores_a_row == 8 ? tile<8> : tile<32>;
    const int n = ctas * warps;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    for (int i = 0; i < LAUNCHES; i++) {
        kernel<<<ctas, warps * 32, SHARED>>>(data, TURNS, out);
        check(cudaDeviceSynchronize());
    }
    std::vector<uint32_t> r(n * STORES);
    check(cudaMemcpy(r.data(), out, r.size() * 4, cudaMemcpyDeviceToHost));
    printf("tile\t%d\t%d\t%d", stores_a_row * 16, ctas, warps);
    for (int i = 0; i < TURNS; i++) {
        std::vector<uint32_t> v;
        for (int w = 0; w < n; w++) v.push_back(r[w * STORES + i]);
        std::sort(v.begin(), v.end());
        printf("\t%d:%u %u", (i + 1) * stores_a_row * 2, v[v.size() / 2], v.back());
    }
    printf("\n");
    fflush(stdout);
}

static void measure(int bytes, int rows, int ctas, int warps) {
    auto kernel = bytes == 16 ? store<16> : store<4>;
    const int n = ctas * warps;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    for (int i = 0; i < LAUNCHES; i++) {
        kernel<<<ctas, warps * 32, SHARED>>>(data, rows, out);
        check(cudaDeviceSynchronize());
    }
    std::vector<uint32_t> r(n * STORES);
    check(cudaMemcpy(r.data(), out, r.size() * 4, cudaMemcpyDeviceToHost));
    printf("%d\t%d\t%d\t%d", bytes, rows, ctas, warps);
    for (int i : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) {
        std::vector<uint32_t> v;
        for (int w = 0; w < n; w++) v.push_back(r[w * STORES + i - 1]);
        std::sort(v.begin(), v.end());
        printf("\t%d:%u", i, v[v.size() / 2]);
    }
    printf("\n");
    fflush(stdout);
}

int main() {
    const size_t most = 264ull * 16 * STORES * 512;
    check(cudaMalloc(&data, most));
    check(cudaMemset(data, 1, most));
    check(cudaMalloc(&out, 264 * 16 * STORES * sizeof *out));
    for (int stores_a_row : {8, 16, 32})
        for (int ctas : {1, 132})
            for (int warps : {1, 4, 8, 12}) measure_tile(stores_a_row, ctas, warps);
    for (int ctas : {1, 132, 264})
        for (int warps : {1, 4, 8, 16})
            for (int rows : {1, 8})
                for (int bytes : {16, 4}) measure(bytes, rows, ctas, warps);
    return 0;
}
