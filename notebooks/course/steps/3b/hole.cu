// Step 3b: cp.async. 64 threads write `in`, 64 times 16 bytes, to `out` in reverse order, by way of shared memory.
#include "common/cuda/ptx.cuh"

constexpr int THREADS = 64;

extern "C" __global__ void reversed(const float4 *in, float4 *out) {
    __shared__ float4 tile[THREADS];
    const int tid = threadIdx.x;
    // BEGIN SOLUTION: copy in[tid] to tile[tid] with cp.async, and wait until all of tile may be read
    cp_async_16(&tile[tid], &in[tid], 16);
    cp_async_commit();
    cp_async_wait<0>(); // this thread's copy has landed
    __syncthreads();    // all threads' copies have
    // END SOLUTION
    out[tid] = tile[THREADS - 1 - tid];
}

// ANSWER = None  (to the question: a number)
