/* What kernels of courses do most: a row of a matrix for each thread, tiles of 16 x 16 and 32 x 32 in shared memory, sums by trees,
 * stores of all threads to a few words. One launch each; "flushed": behind a memset of 256 MiB, "again": as the launch before.
 * Nsight Compute counts them on a GPU, build/run predicts them (as of patterns.cu).
 *
 *   runtime/attnlab-nvcc -O3 -std=c++17 -o classes chips/bench/launches/classes.cu
 *   ncu --csv --page raw --cache-control none --clock-control none --metrics \
 *     sm__cycles_elapsed.max,sm__cycles_active.avg,dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors.sum ./classes > classes.csv
 *
 * The program prints a line for each launch, in order: its number and what it is. */
#include "../check.cuh"
#include "numbered.cuh"

#include <vector>

/* A thread adds up a row of m words. */
__global__ void row(const float *x, float *out, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < m; k++) s += x[(size_t)i * m + k];
    out[i] = s;
}
/* The same, and each word times one of a vector. */
__global__ void row_vector(const float *x, const float *v, float *out, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    if (i >= n) return;
    for (int k = 0; k < m; k++) s += x[(size_t)i * m + k] * v[k];
    out[i] = s;
}
/* A thread stores a row. */
__global__ void row_store(float *y, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < m; k++) y[(size_t)i * m + k] = 1;
}

/* Tiles of the product of two matrices. `how`: 0 all of it, 1 without global loads, 2 and without barriers, 3 only the column's
 * words, 4 only the row's. */
template <int T, int how>
__global__ void __launch_bounds__(T *T) tile(const float *a, const float *b, float *c, int n) {
    __shared__ float as[T][T], bs[T][T];
    int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * T + y, j = blockIdx.x * T + x;
    float s = 0;
    as[y][x] = a[i * n + x];
    bs[y][x] = b[y * n + j];
    __syncthreads();
    for (int t = 0; t < n / T; t++) {
        if (how == 0) {
            as[y][x] = a[i * n + t * T + x];
            bs[y][x] = b[(t * T + y) * n + j];
        }
        if (how == 1) as[y][x] = s, bs[y][x] = s;
        if (how <= 1)
            __syncthreads();
        else
            asm volatile("" ::: "memory");
        for (int k = 0; k < T; k++)
            s += how == 3 ? bs[k][x] : how == 4 ? as[y][k] : as[y][k] * bs[k][x];
        if (how <= 1) __syncthreads();
    }
    c[i * n + j] = s;
}

template <int T> static void tiles(const float *a, const float *b, float *c) {
    const int n = 1024;
    const dim3 block(T, T), grid(n / T, n / T);
    is("tile %d, all", T), tile<T, 0><<<grid, block>>>(a, b, c, n);
    is("tile %d, no global loads", T), tile<T, 1><<<grid, block>>>(a, b, c, n);
    is("tile %d, no barriers", T), tile<T, 2><<<grid, block>>>(a, b, c, n);
    is("tile %d, columns", T), tile<T, 3><<<grid, block>>>(a, b, c, n);
    is("tile %d, rows", T), tile<T, 4><<<grid, block>>>(a, b, c, n);
    if (T == 16) is("tile %d, no barriers, a block", T), tile<T, 2><<<1, block>>>(a, b, c, n);
    is("tile %d, rows, a block", T), tile<T, 4><<<1, block>>>(a, b, c, n);
}

/* n barriers. `how`: 0 nothing between them, 1 each thread stores a word, 2 half of them load, add and store, as a step of a tree. */
template <int how> __global__ void steps(float *out, int n) {
    __shared__ float m[1024];
    int t = threadIdx.x, half = blockDim.x / 2;
    m[t] = t;
    for (int i = 0; i < n; i++) {
        if (how == 1) m[t] = i;
        if (how == 2 && t < half) m[t] += m[t + half];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = m[t];
}
/* A whole tree: sums of blockDim.x words, of data from L2. */
__global__ void tree(const float *x, float *out) {
    __shared__ float m[1024];
    int t = threadIdx.x;
    m[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) m[t] += m[t + s];
        __syncthreads();
    }
    if (!t) out[blockIdx.x] = m[0];
}
/* The same with a modulus, which leaves a few lanes of each warp to add. */
__global__ void tree_apart(const float *x, float *out) {
    __shared__ float m[1024];
    int t = threadIdx.x;
    m[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0) m[t] += m[t + s];
        __syncthreads();
    }
    if (!t) out[blockIdx.x] = m[0];
}

/* Each thread stores n words, all of them to `words` words; with `far` each lane to a word by chance, without it a warp's side by side.
 * `reads`: adds one to the word, without an atomic. */
__global__ void few(int *y, unsigned words, int n, int far, int reads) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; k++) {
        unsigned at = (far ? (i * 2654435761u + k * 40503u) >> 7 : i + k * 32) % words;
        y[at] = reads ? y[at] + 1 : (int)i;
    }
}

/* Each thread adds one to its word n times, by a load and a store. `apart`: the store goes to another sector of the line, or to
 * another line. */
__global__ void again(int *y, int n, int apart) {
    volatile int *at = y + blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; k++) at[apart] = at[0] + 1;
}

int main() {
    const size_t mib = 1 << 20;
    char *p[4];
    for (char *&one : p) check(cudaMalloc(&one, 256 * mib)), check(cudaMemset(one, 0, 256 * mib));
    float *x = (float *)p[0], *y = (float *)p[1], *z = (float *)p[2];
    auto cold = [&] { check(cudaMemset(p[3], 1, 256 * mib)); };
    std::vector<float> host(273 * 16380, 1);

    for (int m : {401, 402, 404, 408, 400, 416})
        for (int threads : {32, 256, 1024})
            for (int k = 0; k < 2; k++)
                if (k || threads == 256)
                    is("row, a block of %d, %d words, %s", threads, m, k ? "again" : "first"),
                        row<<<1, threads>>>(x, z, m);
    for (int threads : {256, 512, 1024})
        is("row, 10 blocks of %d, 4096 words", threads), row<<<10, threads>>>(x, z, 4096);
    for (int m : {250, 256})
        for (int k = 0; k < 2; k++) {
            if (!k) cold();
            is("row, 264 blocks of 256, %d words, %s", m, k ? "again" : "flushed"),
                row<<<264, 256>>>(x, z, m);
        }
    for (int k = 0; k < 4; k++) {
        if (k == 0) check(cudaMemcpy(x, host.data(), 273 * 16380 * 4, cudaMemcpyHostToDevice));
        if (k == 2) cold();
        is("row times a vector, 273 of 16380 words, %s", k == 0   ? "copied"
                                                         : k == 2 ? "flushed"
                                                                  : "again"),
            row_vector<<<2, 256>>>(x, y, z, 273, 16380);
    }
    for (int m : {250, 256})
        is("row_store, 264 blocks of 256, %d words", m), row_store<<<264, 256>>>(x, m);
    is("row_store, a block of 256, 401 words"), row_store<<<1, 256>>>(x, 401);

    tiles<16>(x, y, z);
    tiles<32>(x, y, z);

    for (int threads : {32, 128, 256, 1024})
        for (int blocks : {1, 132 * 2048 / threads}) {
            if (blocks > 132 * 32) blocks = 132 * 32;
            is("steps 0, %d blocks of %d: barriers", blocks, threads),
                steps<0><<<blocks, threads>>>(z, 1000);
            is("steps 1, %d blocks of %d: a store", blocks, threads),
                steps<1><<<blocks, threads>>>(z, 1000);
            is("steps 2, %d blocks of %d: half of them add", blocks, threads),
                steps<2><<<blocks, threads>>>(z, 1000);
        }
    for (int threads : {128, 256, 512, 1024}) {
        is("tree, 4224 blocks of %d", threads), tree<<<4224, threads>>>(x, z);
        is("tree, 4224 blocks of %d, again", threads), tree<<<4224, threads>>>(x, z);
        is("tree_apart, 4224 blocks of %d", threads), tree_apart<<<4224, threads>>>(x, z);
    }

    for (unsigned words : {32u, 256u, 1024u, 8192u, 65536u, 1u << 20}) {
        is("few, %u words, side by side", words), few<<<1056, 256>>>((int *)x, words, 16, 0, 0);
        is("few, %u words, by chance", words), few<<<1056, 256>>>((int *)x, words, 16, 1, 0);
        is("few, %u words, by chance, read first", words),
            few<<<1056, 256>>>((int *)x, words, 16, 1, 1);
    }
    is("few, 256 words, by chance, an SM"), few<<<1, 256>>>((int *)x, 256, 16, 1, 0);
    is("few, 256 words, by chance, 16 SMs"), few<<<16, 256>>>((int *)x, 256, 16, 1, 0);
    is("few, 256 words, by chance, read first, 16 SMs"), few<<<16, 256>>>((int *)x, 256, 16, 1, 1);
    for (int apart : {0, 8, 32})
        for (int threads : {1, 32, 256})
            is("again, %d threads, %d words apart", threads, apart),
                again<<<1, threads>>>((int *)x, 1000, apart);
    is("again, 132 blocks of 256"), again<<<132, 256>>>((int *)x, 1000, 0);
    is("few, 256 words, by chance, read first, an SM"), few<<<1, 256>>>((int *)x, 256, 16, 1, 1);
    is("few, 1 word"), few<<<1056, 256>>>((int *)x, 1, 16, 0, 0);
    is("few, 1 word, read first"), few<<<1056, 256>>>((int *)x, 1, 16, 0, 1);
    is("few, 32 words, side by side, read first"), few<<<1056, 256>>>((int *)x, 32, 16, 0, 1);
    is("few, 256 words, side by side, read first"), few<<<1056, 256>>>((int *)x, 256, 16, 0, 1);
    check(cudaDeviceSynchronize());
}
