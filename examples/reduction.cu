// The sum of an array in fp32: shuffles inside a warp, shared memory between warps, one atomic a block.
// Everything that is CUDA's and no kernel is tried on the way: streams, events, symbols, managed and
// pinned memory, occupancy.
#include "check.h"

constexpr int THREADS = 256;

__constant__ float scale;      // each element is multiplied by it
__device__ unsigned n_blocks;  // blocks that have added their part
__managed__ float last_sum[1]; // of the last launch

// x: (n), sum: (1), zero before
__global__ void reduce(const float *x, float *sum, int n) {
    __shared__ float part[THREADS / 32];
    float mine = 0;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        mine += scale * x[i];
    for (int offset = 16; offset > 0; offset /= 2)
        mine += __shfl_down_sync(0xffffffffu, mine, offset);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = mine;
    __syncthreads(); // every warp's part is there
    if (threadIdx.x >= 32) return;
    mine = threadIdx.x < THREADS / 32 ? part[threadIdx.x] : 0;
    for (int offset = THREADS / 64; offset > 0; offset /= 2)
        mine += __shfl_down_sync(0xffffffffu, mine, offset);
    if (threadIdx.x) return;
    atomicAdd(sum, mine);
    atomicAdd(&last_sum[0], mine);
    atomicAdd(&n_blocks, 1u);
}

int main() {
    const int n = 100003;
    const float factor = 0.5f;
    float *x, *x_dev, *sum_dev, sum, ms;
    double wanted = 0;
    unsigned blocks = 0;
    int per_sm = 0, status = 0;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cudaDeviceProp device;

    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, reduce, THREADS, 0));
    int grid = per_sm * device.multiProcessorCount < 64 ? per_sm * device.multiProcessorCount : 64;
    CHECK(cudaMallocHost(&x, n * sizeof(float)));
    for (int i = 0; i < n; i++) wanted += factor * (double)(x[i] = 1 + pseudo_random(i));
    CHECK(cudaMalloc(&x_dev, n * sizeof(float)));
    CHECK(cudaMalloc(&sum_dev, sizeof(float)));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaMemcpyToSymbol(scale, &factor, sizeof factor));
    CHECK(cudaMemcpyAsync(x_dev, x, n * sizeof(float), cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemsetAsync(sum_dev, 0, sizeof(float), stream));
    last_sum[0] = 0;
    CHECK(cudaEventRecord(begin, stream));
    reduce<<<grid, THREADS, 0, stream>>>(x_dev, sum_dev, n);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    CHECK(cudaMemcpy(&sum, sum_dev, sizeof sum, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&blocks, n_blocks, sizeof blocks));
    status |= compare("reduce", &sum, &wanted, 1, 1e-5);
    status |= compare("managed", last_sum, &wanted, 1, 1e-5);
    if (blocks != (unsigned)grid) {
        printf("FAIL: %u of %d blocks were counted\n", blocks, grid);
        status = 1;
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(x_dev));
    CHECK(cudaFree(sum_dev));
    CHECK(cudaFreeHost(x));
    return status;
}
