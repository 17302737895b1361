// B = A^T in fp32: through a tile whose columns lie in one bank (32 wavefronts a load), and through one
// that is a column wider (1 wavefront).
#include "check.h"

#include <vector>

constexpr int TILE = 32, ROWS = 8;

// a: (height, width), b: (width, height); PAD: floats after each row of the tile
template <int PAD> __global__ void transpose(const float *a, float *b, int width, int height) {
    __shared__ float tile[TILE][TILE + PAD];
    int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE;
    for (int y = threadIdx.y; y < TILE; y += ROWS)
        if (x0 + threadIdx.x < width && y0 + y < height)
            tile[y][threadIdx.x] = a[(size_t)(y0 + y) * width + x0 + threadIdx.x];
    __syncthreads(); // the tile is complete
    for (int y = threadIdx.y; y < TILE; y += ROWS)
        if (y0 + threadIdx.x < height && x0 + y < width)
            b[(size_t)(x0 + y) * height + y0 + threadIdx.x] = tile[threadIdx.x][y];
}

int main() {
    const int width = 300, height = 170;
    const size_t count = (size_t)width * height, bytes = count * sizeof(float);
    int status = 0;
    std::vector<float> a(count), b(count);
    std::vector<double> wanted(count);
    for (size_t i = 0; i < count; i++) a[i] = (float)i;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) wanted[(size_t)x * height + y] = a[(size_t)y * width + x];

    float *a_dev, *b_dev;
    CHECK(cudaMalloc(&a_dev, bytes));
    CHECK(cudaMalloc(&b_dev, bytes));
    CHECK(cudaMemcpy(a_dev, a.data(), bytes, cudaMemcpyHostToDevice));
    dim3 block(TILE, ROWS), grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
    for (int pad = 0; pad < 2; pad++) {
        CHECK(cudaMemset(b_dev, 0, bytes));
        if (pad)
            transpose<1><<<grid, block>>>(a_dev, b_dev, width, height);
        else
            transpose<0><<<grid, block>>>(a_dev, b_dev, width, height);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(b.data(), b_dev, bytes, cudaMemcpyDeviceToHost));
        status |= compare(pad ? "padded" : "conflicts", b.data(), wanted.data(), count, 0);
    }
    CHECK(cudaFree(a_dev));
    CHECK(cudaFree(b_dev));
    return status;
}
