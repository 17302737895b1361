/* What programs by others showed (freezes 5 and 6): how long DRAM and L2 take for one SM and for all that ask for the same, blocks
 * that load and sum, products without shared memory, threads with four words each, and what a flushed L2 sends to DRAM. One
 * launch each; "flushed": behind a memset of 256 MiB. Nsight Compute counts them on a GPU, build/run predicts them (as of patterns.cu).
 *
 *   runtime/attnlab-nvcc -O3 -std=c++17 -o others chips/bench/launches/others.cu
 *   ncu --csv --page raw --cache-control none --clock-control none --metrics sm__cycles_elapsed.max,sm__cycles_active.avg ./others > others.csv
 *
 * The program prints a line for each launch, in order: its number and what it is. */
#include "../check.cuh"
#include "numbered.cuh"

/* One thread of each block: each address waits for the load before. Blocks begin `own` bytes apart. */
__global__ void chain(const int *x, int *out, int n, long long stride, long long own = 0) {
    const int *p = (const int *)((const char *)x + own * blockIdx.x);
    int s = 0;
    for (int i = 0; i < n; i++) {
        s = __ldcg(p);
        p = (const int *)((const char *)p + stride + s);
    }
    if (s == 12345) *out = s;
}
__global__ void rows(const float *x, float *out, int cols) { // a load at a time
    float v = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) v += x[blockIdx.x * cols + c];
    if (v == 12345) out[blockIdx.x] = v;
}
template <int how> __global__ void block(const float *x, float *out) {
    __shared__ float m[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float v = x[i];
    if (how == 1) __syncthreads();
    if (how >= 2 && how <= 3)
        for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
    if (how == 3) {
        if (t % 32 == 0) m[t / 32] = v;
        __syncthreads();
        if (t < 32) {
            v = t < 8 ? m[t] : 0;
            for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
        }
        if (t == 0) out[blockIdx.x] = v;
        return;
    }
    if (how == 4) {
        m[t] = v;
        __syncthreads();
        for (int s = 128; s > 0; s >>= 1) {
            if (t < s) m[t] += m[t + s];
            __syncthreads();
        }
        if (t == 0) out[blockIdx.x] = m[0];
        return;
    }
    if (how == 5) { // the first step of the tree
        m[t] = v;
        __syncthreads();
        if (t < 128) m[t] += m[t + 128];
        __syncthreads();
        if (t == 0) out[blockIdx.x] = m[0];
        return;
    }
    if (v == 12345) out[blockIdx.x] = v;
}
__global__ void product(const float *a, const float *b, float *c, int n) {
    int r = blockIdx.y * blockDim.y + threadIdx.y, k0 = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[r * n + k] * b[k * n + k0];
    c[r * n + k0] = s;
}
__global__ void product_b(const float *b, float *c, int n) {
    int r = blockIdx.y * blockDim.y + threadIdx.y, k0 = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; k++) s += b[k * n + k0];
    c[r * n + k0] = s;
}
__global__ void lockstep(const float *a, const float *b, float *c, int rows, int cols,
                         int n) { // each waits for its loads before it stores
    int i = blockDim.y * blockIdx.y + threadIdx.y, j = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= rows || j >= cols) return;
    c[cols * i + j] = 0;
    for (int k = 0; k < n; k++) c[cols * i + j] += a[(long long)n * i + k] * b[cols * k + j];
}
__global__ void grid_stride(const float *x, float *out, int n) {
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += x[i];
    if (v == 12345) out[blockIdx.x] = v;
}
__global__ void four_apart(const float *a, const float *b, float *c, int n, int what) {
    int stride = blockDim.x * gridDim.x * 4;
    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4; i < n; i += stride) {
        if (what == 0)
            c[i] = a[i] + b[i], c[i + 1] = a[i + 1] + b[i + 1], c[i + 2] = a[i + 2] + b[i + 2],
            c[i + 3] = a[i + 3] + b[i + 3];
        if (what == 1) c[i] = 1, c[i + 1] = 2, c[i + 2] = 3, c[i + 3] = 4;
        if (what == 2 && a[i] + a[i + 1] + a[i + 2] + a[i + 3] == 12345) c[i] = 1;
    }
}
__global__ void pages(const char *x, int *out, int n, int turns,
                      long long apart) { // one thread, a line of each page in turn, again and again
    int s = 0;
    for (int t = 0; t < turns; t++)
        for (int i = 0; i < n; i++)
            s = __ldcg((const int *)(x + apart * i + 128 * (i % 1000) + (s == 0x7ffffff1)));
    if (s == 12345) *out = s;
}
int main() {
    const size_t mib = 1 << 20;
    char *x, *y, *z, *flush, *large;
    for (char **p : {&x, &y, &z, &flush})
        check(cudaMalloc(p, 256 * mib)), check(cudaMemset(*p, 0, 256 * mib));
    check(cudaMalloc(&large, 4096 * mib));
    float *fx = (float *)x, *fy = (float *)y, *fz = (float *)z;
    int *ix = (int *)x, *out = (int *)z;
    auto cold = [&] { check(cudaMemset(flush, 1, 256 * mib)); };
    is("chain, first of the process"), chain<<<1, 1>>>(ix, out, 10, 32);
    for (long long stride :
         {32ll, 64ll, 128ll, 256ll, 512ll, 1024ll, 4096ll, 16384ll, 65536ll, 131072ll})
        cold(), is("chain flushed, %lld apart", stride), chain<<<1, 1>>>(ix, out, 1500, stride);
    for (long long stride : {32ll, 128ll, 4096ll})
        for (int k = 0; k < 2; k++)
            is("chain again, %lld apart, %d", stride, k), chain<<<1, 1>>>(ix, out, 1500, stride);
    cold(), is("chain flushed, 132 SMs, each its own"),
        chain<<<132, 1>>>(ix, out, 1500, 128, 1 << 20);
    cold(), is("chain flushed, 132 SMs, the same"), chain<<<132, 1>>>(ix, out, 1500, 128);
    is("chain again, 132 SMs, the same"), chain<<<132, 1>>>(ix, out, 1500, 128);
    is("chain again, 8 SMs, the same"), chain<<<8, 1>>>(ix, out, 1500, 128);
    cold(), is("rows flushed, 1024 blocks"), rows<<<1024, 256>>>(fx, fz, 4096);
    is("rows again, 1024 blocks"), rows<<<1024, 256>>>(fx, fz, 4096);
    cold(), is("rows flushed, 256 blocks"), rows<<<256, 256>>>(fx, fz, 4096);
    for (int again = 0; again < 2; again++) {
        const int n = again ? 8192 : 65536;
        const char *how = again ? "again" : "flushed";
        if (again) is("block 0, first"), block<0><<<n, 256>>>(fx, fz);
        const auto empty = [&] {
            if (!again) cold();
        };
        empty(), is("block 0 %s: a load", how), block<0><<<n, 256>>>(fx, fz);
        empty(), is("block 1 %s: and a barrier", how), block<1><<<n, 256>>>(fx, fz);
        empty(), is("block 2 %s: and five shuffles", how), block<2><<<n, 256>>>(fx, fz);
        empty(), is("block 3 %s: a sum by shuffles", how), block<3><<<n, 256>>>(fx, fz);
        empty(), is("block 4 %s: a sum by a tree", how), block<4><<<n, 256>>>(fx, fz);
        empty(), is("block 5 %s: its first step", how), block<5><<<n, 256>>>(fx, fz);
    }
    for (int k = 0; k < 2; k++)
        is("product 256, %d", k), product<<<dim3(16, 16), dim3(16, 16)>>>(fx, fy, fz, 256);
    is("product, b only, 256 blocks"), product_b<<<dim3(16, 16), dim3(16, 16)>>>(fy, fz, 256);
    is("product, b only, 16 blocks"), product_b<<<dim3(16, 1), dim3(16, 16)>>>(fy, fz, 256);
    is("product, b only, a block"), product_b<<<dim3(1, 1), dim3(16, 16)>>>(fy, fz, 256);
    is("product, b only, a warp"), product_b<<<dim3(1, 1), dim3(16, 2)>>>(fy, fz, 256);
    is("product 512"), product<<<dim3(32, 32), dim3(16, 16)>>>(fx, fy, fz, 512);
    cold(), is("lockstep flushed, 81 blocks"),
        lockstep<<<dim3(9, 9), dim3(8, 8)>>>(fx, fy, fz, 66, 66, 4096);
    is("lockstep again, 81 blocks"), lockstep<<<dim3(9, 9), dim3(8, 8)>>>(fx, fy, fz, 66, 66, 4096);
    cold(), is("lockstep flushed, a block"),
        lockstep<<<dim3(1, 1), dim3(8, 8)>>>(fx, fy, fz, 66, 66, 4096);
    cold(), is("grid stride flushed, 256 blocks"), grid_stride<<<256, 256>>>(fx, fz, 16 << 20);
    cold(), is("grid stride flushed, 1056 blocks"), grid_stride<<<1056, 256>>>(fx, fz, 16 << 20);
    cold(), is("grid stride flushed, 64 blocks"), grid_stride<<<64, 256>>>(fx, fz, 4 << 20);
    for (int n : {10000000, 1000000})
        for (int what = 0; what < 3; what++) {
            if (n == 10000000) cold();
            is("four apart, %d, %s", n,
               what == 0   ? "both"
               : what == 1 ? "stores"
                           : "loads"),
                four_apart<<<256, 256>>>(fx, fy, fz, n, what);
        }
    for (int n : {16, 64, 128, 256, 512, 1024, 2047})
        is("pages of 2 MiB, %d, three times", n), pages<<<1, 1>>>(large, out, n, 3, 2 << 20);
    for (int n : {512, 2048, 8192})
        is("pages of 64 KiB, %d, three times", n), pages<<<1, 1>>>(large, out, n, 3, 64 << 10);
    check(cudaDeviceSynchronize());
}
