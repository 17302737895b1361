// Softmax of each row in fp32: a warp a row, three passes; and in one pass, which keeps a running
// maximum (the online softmax of attention).
#include "check.h"

#include <cfloat>
#include <vector>

constexpr int WARPS = 4;

static __device__ float warpreduce_max(float x) {
    for (int offset = 16; offset > 0; offset /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, offset));
    return x;
}
static __device__ float warpreduce_sum(float x) {
    for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(0xffffffffu, x, offset);
    return x;
}

// x, y: (rows, n)
__global__ void softmax_three_passes(const float *x, float *y, int rows, int n) {
    int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float max = -FLT_MAX, sum = 0;
    for (int i = lane; i < n; i += 32) max = fmaxf(max, x[row * n + i]);
    max = warpreduce_max(max);
    for (int i = lane; i < n; i += 32) sum += expf(x[row * n + i] - max);
    sum = warpreduce_sum(sum);
    for (int i = lane; i < n; i += 32) y[row * n + i] = expf(x[row * n + i] - max) / sum;
}

__global__ void softmax_online(const float *x, float *y, int rows, int n) {
    int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float max = -FLT_MAX, sum = 0; // of what the lane has seen
    for (int i = lane; i < n; i += 32) {
        float value = x[row * n + i], before = max;
        max = fmaxf(max, value);
        sum = sum * expf(before - max) + expf(value - max);
    }
    float row_max = warpreduce_max(max);
    sum = warpreduce_sum(sum * expf(max - row_max));
    for (int i = lane; i < n; i += 32) y[row * n + i] = expf(x[row * n + i] - row_max) / sum;
}

int main() {
    const int rows = 101, n = 333;
    const size_t count = (size_t)rows * n, bytes = count * sizeof(float);
    int status = 0;
    std::vector<float> x(count), y(count);
    std::vector<double> wanted(count);
    for (size_t i = 0; i < count; i++) x[i] = 20 * pseudo_random(i);
    for (int row = 0; row < rows; row++) {
        double max = -DBL_MAX, sum = 0;
        for (int i = 0; i < n; i++) max = fmax(max, x[row * n + i]);
        for (int i = 0; i < n; i++) sum += exp(x[row * n + i] - max);
        for (int i = 0; i < n; i++) wanted[row * n + i] = exp(x[row * n + i] - max) / sum;
    }
    float *x_dev, *y_dev;
    CHECK(cudaMalloc(&x_dev, bytes));
    CHECK(cudaMalloc(&y_dev, bytes));
    CHECK(cudaMemcpy(x_dev, x.data(), bytes, cudaMemcpyHostToDevice));
    int grid = (rows + WARPS - 1) / WARPS;
    for (int online = 0; online < 2; online++) {
        CHECK(cudaMemset(y_dev, 0xff, bytes));
        if (online)
            softmax_online<<<grid, 32 * WARPS>>>(x_dev, y_dev, rows, n);
        else
            softmax_three_passes<<<grid, 32 * WARPS>>>(x_dev, y_dev, rows, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(y.data(), y_dev, bytes, cudaMemcpyDeviceToHost));
        status |= compare(online ? "online" : "three passes", y.data(), wanted.data(), count, 1e-5);
    }
    CHECK(cudaFree(x_dev));
    CHECK(cudaFree(y_dev));
    return status;
}
