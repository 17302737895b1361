// What the clock's predictions must leave as it is: kernels that go on from what memory holds, by stores and
// by atomics; one that the predictor does not know (sums of 16-bit pairs); variables and constants. The program checks itself.
#include <cstdio>

__device__ int total;
__constant__ int step;

// x: (n), each one more
__device__ int pairs(int a, int b) {
    int sum;
    asm("add.u16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
}
__global__ void add(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += step;
    if (n < 0) *x = pairs(*x, n); // what it does not know is not asked for here
    if (i < n && i % 32 == 0) atomicAdd(&total, 1);
}
__global__ void halve(double *x) {
    x[threadIdx.x] = pairs((int)x[threadIdx.x], (int)x[threadIdx.x]) / 4.0;
}
// ends when somebody else stores there
__global__ void wait(volatile int *x) {
    while (!x[threadIdx.x]) {
    }
}

// ends when the last block has begun: some SMs alone, as the clock simulates them, never do
__device__ int begun;
__global__ void together() {
    if (blockIdx.x == gridDim.x - 1)
        atomicExch(&begun, 1);
    else
        while (!atomicAdd(&begun, 0)) {
        }
}

// The clock as programs read it: 32 bits of it, and all 64.
__global__ void timed(long long *took) {
    const unsigned begun = clock();
    const long long whole = clock64();
    took[threadIdx.x] = (clock64() - whole) * 1000 + (clock() - begun);
}

int main(int argc, char **) {
    const int n = 1000, one = 1, launches = argc > 1 ? 40 : 3;
    int *x, all, wrong = 0;
    double *y;
    if (argc == 3) together<<<200, 32>>>();
    cudaMallocManaged(&x, n * sizeof *x);
    cudaMallocManaged(&y, 32 * sizeof *y);
    cudaMemcpyToSymbol(step, &one, sizeof one);
    for (int i = 0; i < n; i++) x[i] = 0;
    for (int i = 0; i < 32; i++) y[i] = 3;
    for (int l = 0; l < launches; l++)
        if (l == 2)
            add<<<4, 256>>>(x, n);
        else
            add<<<8, 128>>>(x, n);
    halve<<<1, 32>>>(y);
    wait<<<1, 32>>>(x);
    if (argc == 4) timed<<<1, 32>>>((long long *)y);
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&all, total, sizeof all);
    for (int i = 0; i < n; i++) wrong += x[i] != launches;
    for (int i = 0; i < 32 && argc < 4; i++) wrong += y[i] != 1.5;
    printf("%d wrong, %d counted\n", wrong, all);
    return wrong || all != 32 * launches;
}
