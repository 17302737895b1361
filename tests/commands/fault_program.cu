/* A program whose every call may fail (tests/commands/every_fault.py): it says which in one line, and leaves with 9.
 * No C++ library: what that does without memory is not ours. */
#include <stdio.h>

__global__ void twice(float *x, int n) {
    __shared__ float tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n) x[i] = tile[threadIdx.x] + tile[threadIdx.x ^ 1];
}

static int failed(cudaError_t error, const char *call) {
    if (error) fprintf(stderr, "fault_program: %s: %s\n", call, cudaGetErrorString(error));
    return error != cudaSuccess;
}

int main() {
    enum { N = 128 };
    static float x[N];
    float *d;
    for (int i = 0; i < N; i++) x[i] = (float)i;
    if (failed(cudaMalloc((void **)&d, sizeof x), "malloc") ||
        failed(cudaMemcpy(d, x, sizeof x, cudaMemcpyHostToDevice), "copy in"))
        return 9;
    twice<<<N / 64, 64>>>(d, N);
    if (failed(cudaGetLastError(), "launch") ||
        failed(cudaMemcpy(x, d, sizeof x, cudaMemcpyDeviceToHost), "copy out") ||
        failed(cudaFree(d), "free"))
        return 9;
    for (int i = 0; i < N; i++)
        if (x[i] != (float)(i + (i ^ 1))) return printf("fault_program: x[%d] is %g\n", i, x[i]), 1;
    return 0;
}
