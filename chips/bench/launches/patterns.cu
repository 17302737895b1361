/* Launches as programs make them, one of each: Nsight Compute counts them on a GPU, build/run predicts them.
 *
 *   runtime/attnlab-nvcc -O3 -std=c++17 -o patterns chips/bench/launches/patterns.cu
 *   ncu --csv --page raw --cache-control none --clock-control none --metrics sm__cycles_elapsed.max ./patterns > patterns.csv
 *
 * The program prints a line for each launch, in order: its number and what it is.
 *
 *   first     the first and the next launches of a kernel: read n KiB, after what happened to its data
 *   stream    one element a thread, or a grid that loops: 1, 2, 4 and 16 bytes an element
 *   matrix    rows and columns, by thread and by warp; stencils; products
 *   shared    bank conflicts, trees of a reduction, histograms
 *   math      functions of floats, doubles, integer divisions
 *   gather    words at random places; constants that differ by lane; local arrays
 *   small     one thread, one warp, one block */
#include "../check.cuh"

#include <cstdint>
#include <cstring>
#include <vector>

enum { MIB = 1 << 20, BYTES = 256 * MIB, N = 2048 };
static char *a, *b, *c;
static std::vector<char> host;
static int number;

static void is(const char *what, double x = 0, const char *how = "") {
    printf("%d\t%s %g%s%s\n", number++, what, x, *how ? " " : "", how);
}

template <int ID> __global__ void read_all(const float4 *x, float *out, size_t n) {
    float sum = ID;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        float4 v = x[i];
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 12345) out[0] = sum;
}
__global__ void fill(float4 *x, size_t n) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        x[i] = make_float4(1, 2, 3, 4);
}
template <int ID> static void first(size_t kib) {
    const size_t bytes = kib << 10;
    const int blocks = (int)(bytes / 16 / 256 < 1056 ? bytes / 16 / 256 : 1056);
    auto launch = [&](const char *how) {
        is("first read KiB", (double)kib, how);
        read_all<ID><<<blocks, 256>>>((float4 *)a, (float *)c, bytes / 16);
        check(cudaDeviceSynchronize());
    };
    check(cudaMemset(b, 1, BYTES));
    check(cudaMemcpy(a, host.data(), bytes, cudaMemcpyHostToDevice));
    launch("first, copied from the host");
    launch("again");
    check(cudaMemset(b, 2, BYTES));
    check(cudaMemcpy(a, host.data(), bytes, cudaMemcpyHostToDevice));
    launch("copied from the host");
    check(cudaMemset(b, 3, BYTES));
    check(cudaMemset(a, 0, bytes));
    launch("set");
    check(cudaMemset(b, 4, BYTES));
    is("fill KiB", (double)kib);
    fill<<<blocks, 256>>>((float4 *)a, bytes / 16);
    launch("filled by a kernel");
    check(cudaMemset(b, 5, BYTES));
    launch("flushed");
}

template <typename T> __global__ void add_one(const T *x, T *y, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + (T)1;
}
template <typename T> __global__ void add_loop(const T *x, T *y, size_t n) {
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        y[i] = x[i] + (T)1;
}
__global__ void add_4(const float4 *x, float4 *y, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = make_float4(x[i].x + 1, x[i].y, x[i].z, x[i].w);
}
__global__ void gray(const uint8_t *rgb, uint8_t *out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (uint8_t)(0.3f * rgb[3 * i] + 0.6f * rgb[3 * i + 1] + 0.1f * rgb[3 * i + 2]);
}
template <typename T> static void stream(size_t mib) {
    const size_t n = mib * MIB / sizeof(T);
    for (int threads : {64, 256, 1024}) {
        char how[64];
        snprintf(how, sizeof how, "MiB, %zu bytes, %d threads", sizeof(T), threads);
        for (int turn = 0; turn < 2; turn++) {
            is("stream one", (double)mib, how);
            add_one<T><<<(unsigned)((n + threads - 1) / threads), threads>>>((T *)a, (T *)b, n);
        }
        is("stream loop", (double)mib, how);
        add_loop<T><<<528, threads>>>((T *)a, (T *)b, n);
    }
}

__global__ void column_read(const float *x, float *y) { /* y = x transposed, lanes read a column */
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    y[j * N + i] = x[i * N + j];
}
__global__ void column_write(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    y[i * N + j] = x[j * N + i];
}
__global__ void row_sum(const float *x, float *y) { /* a thread a row */
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < N; k++) s += x[row * N + k];
    y[row] = s;
}
__global__ void column_sum(const float *x, float *y) { /* a thread a column */
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < N; k++) s += x[k * N + column];
    y[column] = s;
}
__global__ void stencil(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && j > 0 && i < N - 1 && j < N - 1)
        y[j * N + i] = 0.2f * (x[j * N + i] + x[j * N + i - 1] + x[j * N + i + 1] +
                               x[(j - 1) * N + i] + x[(j + 1) * N + i]);
}
__global__ void product(const float *x, const float *y, float *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0;
    for (int k = 0; k < n; k++) s += x[j * n + k] * y[k * n + i];
    z[j * n + i] = s;
}
template <int T> __global__ void product_tiled(const float *x, const float *y, float *z, int n) {
    __shared__ float p[T][T], q[T][T];
    int i = blockIdx.x * T + threadIdx.x, j = blockIdx.y * T + threadIdx.y;
    float s = 0;
    for (int t = 0; t < n; t += T) {
        p[threadIdx.y][threadIdx.x] = x[j * n + t + threadIdx.x];
        q[threadIdx.y][threadIdx.x] = y[(t + threadIdx.y) * n + i];
        __syncthreads();
        for (int k = 0; k < T; k++) s += p[threadIdx.y][k] * q[k][threadIdx.x];
        __syncthreads();
    }
    z[j * n + i] = s;
}
static void matrix() {
    const float *x = (float *)a;
    float *y = (float *)b, *z = (float *)c;
    for (dim3 t : {dim3(16, 16), dim3(32, 8), dim3(32, 32)}) {
        const dim3 g(N / t.x, N / t.y);
        char how[32];
        snprintf(how, sizeof how, "x %u", t.y);
        for (int turn = 0; turn < 2; turn++) {
            is("column read", t.x, how), column_read<<<g, t>>>(x, y);
            is("column write", t.x, how), column_write<<<g, t>>>(x, y);
            is("stencil", t.x, how), stencil<<<g, t>>>(x, y);
        }
    }
    for (int t : {32, 128, 512}) {
        is("row sum", t), row_sum<<<N / t, t>>>(x, y);
        is("row sum", t, "again"), row_sum<<<N / t, t>>>(x, y);
        is("column sum", t), column_sum<<<N / t, t>>>(x, y);
        is("column sum", t, "again"), column_sum<<<N / t, t>>>(x, y);
    }
    for (int n : {256, 512, 1024}) {
        is("product 16 x 16", n), product<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(x, y, z, n);
        is("product 32 x 32", n), product<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(x, y, z, n);
        is("product tiled 16", n),
            product_tiled<16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(x, y, z, n);
        is("product tiled 32", n),
            product_tiled<32><<<dim3(n / 32, n / 32), dim3(32, 32)>>>(x, y, z, n);
    }
}

__global__ void tree(const float *x, float *y) { /* neighbours first: divergent */
    __shared__ float s[1024];
    s[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (unsigned k = 1; k < blockDim.x; k *= 2) {
        if (threadIdx.x % (2 * k) == 0) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = s[0];
}
__global__ void halves(const float *x, float *y) {
    __shared__ float s[1024];
    s[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (unsigned k = blockDim.x / 2; k; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(y, s[0]);
}
__global__ void in_global(float *x, float *y) { /* the tree in global memory */
    float *s = x + (size_t)blockIdx.x * blockDim.x;
    for (unsigned k = 1; k < blockDim.x; k *= 2) {
        if (threadIdx.x % (2 * k) == 0) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = s[0];
}
__global__ void histogram_shared(const uint8_t *x, unsigned *bins, size_t n) {
    __shared__ unsigned h[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) h[i] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        atomicAdd(&h[x[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], h[i]);
}
__global__ void histogram_global(const uint8_t *x, unsigned *bins, size_t n) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        atomicAdd(&bins[x[i]], 1);
}
__global__ void conflicts(float *y, int stride) {
    __shared__ float s[4096];
    float sum = 0;
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) s[i] = i;
    __syncthreads();
    for (int k = 0; k < 256; k++) sum += s[(threadIdx.x * stride + k) % 4096];
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
static void shared() {
    for (int t : {128, 512, 1024}) {
        const int g = 4 * MIB / t;
        is("tree", t), tree<<<g, t>>>((float *)a, (float *)c);
        is("tree", t, "again"), tree<<<g, t>>>((float *)a, (float *)c);
        is("halves", t), halves<<<g, t>>>((float *)a, (float *)c);
        is("in global", t), in_global<<<g, t>>>((float *)b, (float *)c);
    }
    for (int uniform = 0; uniform < 2; uniform++) {
        for (size_t i = 0; i < 16 * MIB; i++) host[i] = (char)(uniform ? i * 2654435761u >> 13 : 7);
        check(cudaMemcpy(a, host.data(), 16 * MIB, cudaMemcpyHostToDevice));
        is("histogram shared", uniform, "uniform"),
            histogram_shared<<<528, 256>>>((uint8_t *)a, (unsigned *)c, 16 * MIB);
        is("histogram global", uniform, "uniform"),
            histogram_global<<<528, 256>>>((uint8_t *)a, (unsigned *)c, 2 * MIB);
    }
    for (int s : {1, 2, 8, 32}) is("conflicts", s), conflicts<<<264, 256>>>((float *)c, s);
}

template <typename T> __global__ void sines(const T *x, T *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sin(x[i]) * sin(x[i]) + cos(x[i]) * cos(x[i]);
}
__global__ void logs(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = expf(x[i]) + logf(x[i] + 2) + sqrtf(x[i] + 3) / (x[i] + 5) + powf(x[i] + 1, 1.5f);
}
template <typename T> __global__ void bodies(const T *x, T *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T f = 0;
    for (int k = 0; k < n; k++) {
        T d = x[k] - x[i];
        f += d / sqrt(d * d + (T)0.01);
    }
    y[i] = f;
}
__global__ void divide(const int *x, int *y, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] / by + x[i] % (by + 1);
}
__global__ void collatz(int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int64_t v = i + 1;
    int k = 0;
    for (; v != 1 && k < 500; k++) v = v % 2 ? 3 * v + 1 : v / 2;
    if (i < n) y[i] = k;
}
static void math() {
    const int n = MIB;
    for (int t : {128, 512}) {
        is("sines float", t), sines<float><<<n / t, t>>>((float *)b, (float *)c, n);
        is("sines double", t), sines<double><<<n / t, t>>>((double *)b, (double *)c, n);
        is("logs", t), logs<<<n / t, t>>>((float *)b, (float *)c, n);
        is("bodies float", t), bodies<float><<<8192 / t, t>>>((float *)b, (float *)c, 4096);
        is("bodies double", t), bodies<double><<<8192 / t, t>>>((double *)b, (double *)c, 1024);
        is("divide", t), divide<<<n / t, t>>>((int *)b, (int *)c, n, 7 + t);
        is("collatz", t), collatz<<<n / 8 / t, t>>>((int *)c, n);
    }
}

static __constant__ float table[1024];
__global__ void gather(const float *x, const unsigned *at, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[at[i]];
}
__global__ void scatter(const float *x, const unsigned *at, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[at[i]] = x[i];
}
__global__ void constants(float *y, int step) {
    float s = 0;
    for (int k = 0; k < 64; k++) s += table[(threadIdx.x * step + k) % 1024];
    y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void local_array(float *y, int n) {
    float x[32];
    for (int k = 0; k < 32; k++) x[k] = k;
    for (int k = 0; k < n; k++) x[(k * n + threadIdx.x) % 32] += x[k % 32];
    y[blockIdx.x * blockDim.x + threadIdx.x] = x[n % 32];
}
static void gathers() {
    unsigned *at = (unsigned *)host.data();
    for (unsigned mib : {1u, 16u, 128u}) {
        for (unsigned i = 0; i < MIB; i++) at[i] = (i * 2654435761u >> 3) % (mib * (MIB / 4));
        check(cudaMemcpy(b, at, 4 * MIB, cudaMemcpyHostToDevice));
        for (int turn = 0; turn < 2; turn++) {
            is("gather MiB", mib),
                gather<<<MIB / 256, 256>>>((float *)a, (unsigned *)b, (float *)c, MIB);
            is("scatter MiB", mib),
                scatter<<<MIB / 256, 256>>>((float *)c, (unsigned *)b, (float *)a, MIB);
        }
    }
    for (int s : {0, 1, 8}) is("constants", s), constants<<<528, 256>>>((float *)c, s);
    for (int n : {16, 256}) is("local array", n), local_array<<<528, 256>>>((float *)c, n);
}

__global__ void chain(float *y, int n) {
    float s = threadIdx.x;
    for (int k = 0; k < n; k++) s = s * 1.5f + y[k];
    y[n + blockIdx.x * blockDim.x + threadIdx.x] = s;
}
static void small() {
    for (int n : {16, 1024, 16384})
        for (int t : {1, 32, 256, 1024})
            is("chain", n,
               t == 1     ? "1"
               : t == 32  ? "32"
               : t == 256 ? "256"
                          : "1024"),
                chain<<<1, t>>>((float *)c, n);
    for (int blocks : {1, 2, 16, 98, 196, 1000}) {
        is("small stream, blocks", blocks);
        add_one<float><<<blocks, 256>>>((float *)a, (float *)b, (size_t)blocks * 256);
        is("small stream, blocks", blocks, "again");
        add_one<float><<<blocks, 256>>>((float *)a, (float *)b, (size_t)blocks * 256);
    }
    float *managed;
    check(cudaMallocManaged(&managed, 8 * MIB));
    for (int i = 0; i < 2 * MIB; i++) managed[i] = 1;
    is("managed, first"), add_one<float><<<MIB / 256, 256>>>(managed, managed + MIB, MIB);
    check(cudaDeviceSynchronize());
    is("managed, again"), add_one<float><<<MIB / 256, 256>>>(managed, managed + MIB, MIB);
    check(cudaDeviceSynchronize());
}

int main(int argc, char **argv) {
    auto on = [&](const char *bench) { return argc < 2 || !strcmp(argv[1], bench); };
    host.resize(64 * MIB, 1);
    check(cudaMalloc(&a, BYTES)), check(cudaMalloc(&b, BYTES)), check(cudaMalloc(&c, BYTES));
    check(cudaMemset(a, 0, BYTES)), check(cudaMemset(b, 0, BYTES)), check(cudaMemset(c, 0, BYTES));
    if (on("first")) first<0>(64), first<1>(1024), first<2>(8192), first<3>(32768);
    if (on("stream")) {
        stream<uint8_t>(2), stream<uint16_t>(4), stream<float>(8), stream<double>(16),
            stream<float>(64);
        for (int turn = 0; turn < 2; turn++) {
            is("stream float4", 8), add_4<<<2048, 256>>>((float4 *)a, (float4 *)b, 524288);
            is("gray", 4), gray<<<16384, 256>>>((uint8_t *)a, (uint8_t *)b, 4 * MIB);
        }
    }
    if (on("matrix")) matrix();
    if (on("shared")) shared();
    if (on("math")) math();
    if (on("gather")) gathers();
    if (on("small")) small();
    check(cudaDeviceSynchronize());
    return 0;
}
