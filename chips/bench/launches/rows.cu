/* Rows of a matrix that a thread loads and stores, word by word, and long rows of a warp that come from DRAM. What is asked: what
 * a store costs the loads around it, by warps and SMs, and what DRAM gives to many rows at once.
 * One launch each; nothing is flushed. No GPU has counted them yet.
 *
 *   runtime/attnlab-nvcc -O3 -std=c++17 -o rows chips/bench/launches/rows.cu
 *   ncu --csv --page raw --cache-control none --clock-control none --metrics \
 *     sm__cycles_elapsed.max,sm__cycles_active.avg,dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors.sum,\
 *     l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum,l1tex__data_pipe_lsu_wavefronts.sum ./rows > rows.csv
 *
 * The program prints a line for each launch, in order: its number and what it is. */
#include "../check.cuh"
#include "numbered.cuh"

enum { LOAD, STORE, COPY, ADD, IN_PLACE };
static const char *const names[] = {"a load", "a store", "a load and a store",
                                    "two loads and a store", "a load and a store of the word"};

/* Each thread goes through its rows of m words. x and y may be the same for all that the compiler knows, so a load
 * waits for the store before it to be issued. */
template <int how> __global__ void rows(float *x, float *y, float *z, int m) {
    const size_t row = (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * m;
    float *a = x + row, *b = y + row, *c = z + row, s = 0;
    for (int k = 0; k < m; k++) {
        if (how == LOAD) s += a[k];
        if (how == STORE) c[k] = 1;
        if (how == COPY) c[k] = a[k];
        if (how == ADD) c[k] = a[k] + b[k];
        if (how == IN_PLACE) c[k] += 1;
    }
    if (how == LOAD) c[0] = s;
}

/* Each warp goes through its rows of m words, 32 at a time. */
template <int how> __global__ void long_rows(float *x, float *z, int n, int m) {
    const int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < n; i += warps) {
        float *a = x + (size_t)i * m, *c = z + (size_t)i * m, s = 0;
        for (int k = lane; k < m; k += 32) {
            if (how == LOAD) s += a[k];
            if (how == COPY) c[k] = a[k];
            if (how == IN_PLACE) c[k] += 1;
        }
        if (how == LOAD) c[lane] = s;
    }
}

template <int how> static void all(float *x, float *y, float *z) {
    struct {
        int blocks, threads;
    } const grids[] = {{1, 32},   {1, 64},   {1, 128},  {1, 256},  {1, 1024}, {8, 1024},
                       {16, 512}, {32, 256}, {64, 128}, {128, 64}, {256, 32}};
    for (int m : {768, 769}) {
        for (auto g : grids)
            is("%s, %d words, %d blocks of %d", names[how], m, g.blocks, g.threads),
                rows<how><<<g.blocks, g.threads>>>(x, y, z, m);
    }
}

template <int how> static void all_long(float *x, float *z) {
    for (int m : {50257, 50240, 768})
        for (int blocks : {1056, 4224})
            is("long, %s, rows of %d words, %d blocks of 32", names[how], m, blocks),
                long_rows<how><<<blocks, 32>>>(x, z, 8192, m);
}

int main() {
    const size_t words = (size_t)8192 * 50257;
    float *x, *y, *z;
    for (float **p : {&x, &y, &z}) {
        check(cudaMalloc(p, 4 * words));
        check(cudaMemset(*p, 0, 4 * words));
    }
    all<LOAD>(x, y, z), all<STORE>(x, y, z), all<COPY>(x, y, z), all<ADD>(x, y, z),
        all<IN_PLACE>(x, y, z);
    all_long<LOAD>(x, z), all_long<COPY>(x, z), all_long<IN_PLACE>(x, z);
    check(cudaDeviceSynchronize());
}
