// C = A * B in fp32, row-major, N x N: one thread an element, first from global memory, then through
// tiles in shared memory.
//
//   runtime/attnlab-nvcc -O3 -o build/examples/sgemm examples/sgemm.cu && build/run build/examples/sgemm
#include "check.h"

#include <vector>

constexpr int TILE = 16;

// A, B, C: (n, n)
__global__ void sgemm_naive(const float *a, const float *b, float *c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || col >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

__global__ void sgemm_tiled(const float *a, const float *b, float *c, int n) {
    __shared__ float a_smem[TILE][TILE], b_smem[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
    float sum = 0;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        a_smem[y][x] = row < n && k0 + x < n ? a[row * n + k0 + x] : 0;
        b_smem[y][x] = k0 + y < n && col < n ? b[(k0 + y) * n + col] : 0;
        __syncthreads(); // both tiles are complete
        for (int k = 0; k < TILE; k++) sum += a_smem[y][k] * b_smem[k][x];
        __syncthreads(); // all have read them; the next ones may overwrite
    }
    if (row < n && col < n) c[row * n + col] = sum;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 200, status = 0;
    size_t count = (size_t)n * n, bytes = count * sizeof(float);
    std::vector<float> a(count), b(count), c(count);
    std::vector<double> wanted(count);
    for (size_t i = 0; i < count; i++) a[i] = pseudo_random(2 * i), b[i] = pseudo_random(2 * i + 1);
    for (int row = 0; row < n; row++)
        for (int k = 0; k < n; k++)
            for (int col = 0; col < n; col++)
                wanted[row * n + col] += (double)a[row * n + k] * b[k * n + col];

    float *a_dev, *b_dev, *c_dev;
    CHECK(cudaMalloc(&a_dev, bytes));
    CHECK(cudaMalloc(&b_dev, bytes));
    CHECK(cudaMalloc(&c_dev, bytes));
    CHECK(cudaMemcpy(a_dev, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b_dev, b.data(), bytes, cudaMemcpyHostToDevice));
    dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    for (int which = 0; which < 2; which++) {
        CHECK(cudaMemset(c_dev, 0xff, bytes));
        if (which)
            sgemm_tiled<<<grid, block>>>(a_dev, b_dev, c_dev, n);
        else
            sgemm_naive<<<grid, block>>>(a_dev, b_dev, c_dev, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(c.data(), c_dev, bytes, cudaMemcpyDeviceToHost));
        status |=
            compare(which ? "sgemm_tiled" : "sgemm_naive", c.data(), wanted.data(), count, 1e-5);
    }
    CHECK(cudaFree(a_dev));
    CHECK(cudaFree(b_dev));
    CHECK(cudaFree(c_dev));
    return status;
}
