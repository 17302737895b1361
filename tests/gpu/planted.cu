/* One planted bug for each tool of compute-sanitizer: a tool that finds none here proves nothing
 * elsewhere. Usage: planted memcheck|racecheck|synccheck|initcheck. */
#include <cstdio>
#include <cstring>

// Reads one element past the end.
static __global__ void out_of_bounds(int *x, int n) { x[threadIdx.x] = x[threadIdx.x + n]; }

// Reads what another warp writes, with no barrier between.
static __global__ void race(int *x) {
    __shared__ int smem[64];
    smem[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = smem[63 - threadIdx.x];
}

// Half of a warp does not come to a barrier of the block.
static __global__ void divergent_barrier(int *x) {
    if (threadIdx.x < 48) __syncthreads();
    x[threadIdx.x] = 1;
}

// Reads memory that nobody wrote.
static __global__ void uninitialized(const int *x, int *y) { y[threadIdx.x] = x[threadIdx.x] + 1; }

int main(int argc, char **argv) {
    const char *tool = argc > 1 ? argv[1] : "";
    int *x, *y;
    if (cudaMalloc(&x, 64 * sizeof *x) || cudaMalloc(&y, 64 * sizeof *y)) return 4;
    cudaMemset(y, 0, 64 * sizeof *y);
    if (!strcmp(tool, "memcheck"))
        out_of_bounds<<<1, 64>>>(y, 1 << 20);
    else if (!strcmp(tool, "racecheck"))
        race<<<1, 64>>>(y);
    else if (!strcmp(tool, "synccheck"))
        divergent_barrier<<<1, 64>>>(y);
    else if (!strcmp(tool, "initcheck"))
        uninitialized<<<1, 64>>>(x, y);
    else
        return 2;
    cudaDeviceSynchronize();
    return 0;
}
