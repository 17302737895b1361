// Launches the kernel of an exam on one problem, and compares C with a product in double: this is all of the host's part.
//
//   build/run build/exams/launch exam-1 KERNEL MxNxK [GAP] [normal|places]     (make exam-1 run PROBLEM=MxNxK)
//
// KERNEL: the compiled file, PTX or a fat binary. GAP: rows of A, B and C lie 8 GAP elements further apart than they are long.
// places: row i of A and B is 16 in one column, i % K, so that C shows which rows met. Exit status: 1 if C is wrong.
#include "gemm_args.h"

#include <cuda.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        int e_ = (int)(call);                                                                      \
        if (e_) {                                                                                  \
            fprintf(stderr, "launch: %s: error %d\n", #call, e_);                                  \
            exit(4);                                                                               \
        }                                                                                          \
    } while (0)

static double random_real(uint64_t *state) { // [0, 1), SplitMix64
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

// (rows, k), ld elements apart; behind each row NaN.
static std::vector<half> matrix(int rows, int k, int ld, bool places, uint64_t seed) {
    std::vector<half> x((size_t)(rows - 1) * ld + k, __float2half(NAN));
    for (int row = 0; row < rows; row++)
        for (int i = 0; i < k; i++) {
            double sum = -6;
            for (int u = 0; u < 12 && !places; u++) sum += random_real(&seed);
            x[(size_t)row * ld + i] = __float2half(places ? i == row % k ? 16 : 0 : (float)sum);
        }
    return x;
}

// Boxes of 64 columns and `box` rows; columns run first, so coordinates are (column, row, 0, 0).
static CUtensorMap map_of(half *x, int rows, int k, int ld, int box) {
    CUtensorMap map;
    const cuuint64_t extent[] = {(cuuint64_t)k, (cuuint64_t)rows, 1, 1};
    const cuuint64_t stride[] = {2u * (cuuint64_t)ld, 16, 16};
    const cuuint32_t boxes[] = {64, (cuuint32_t)box, 1, 1}, ones[] = {1, 1, 1, 1};
    void *encode;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000,
                                           cudaEnableDefault, &found));
    CHECK(((decltype(&cuTensorMapEncodeTiled))encode)(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, x, extent, stride, boxes, ones,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    return map;
}

enum { MOST = 8192, MOST_SHARED = 227 * 1024 };

struct gemm { // on the host
    std::vector<half> a, b;
    int m, n, k, lda, ldb;
};

// The sum over columns k0 to k1 of row `i` of A and row `j` of B, and that of its products' absolute values.
static double exact(const struct gemm &g, int i, int j, int k0, int k1, double *size) {
    double sum = 0, all = 0;
    for (int d = k0; d < k1; d++) {
        const double p = (double)__half2float(g.a[(size_t)i * g.lda + d]) *
                         __half2float(g.b[(size_t)j * g.ldb + d]);
        sum += p;
        all += fabs(p);
    }
    *size = all;
    return sum;
}

// What tensor cores may be off by in a sum of k products: 8 products at a time, 17 terms cut at 2^-25.
static double bound(double size, int k) { return (k + 7) / 8 * (17 * 0x1p-25 + 0x1p-23) * size; }

// Does C consist of sums of other elements? That is what a known mistake gives. C^T wants m == n.
static bool like(const struct gemm &g, const float *c, int ldc, bool transposed, int k0, int k1) {
    int n_like = 0, n = 0;
    for (int i = 0; i < g.m; i += 1 + g.m / 32)
        for (int j = 0; j < g.n; j += 1 + g.n / 32, n++) {
            double size;
            const double x =
                transposed ? exact(g, j, i, k0, k1, &size) : exact(g, i, j, k0, k1, &size);
            n_like += fabs(c[(size_t)i * ldc + j] - x) <= bound(size, k1 - k0) + 1e-6;
        }
    return n_like > 0.9 * n;
}

// A character for the elements of 1/32 of the rows and 1/64 of the columns, or for one.
static void draw(const struct gemm &g, const std::vector<char> &state) {
    const int rows = 1 + (g.m - 1) / 32, columns = 1 + (g.n - 1) / 64;
    printf("C, a character for %d x %d elements: . right  x wrong  0 zero  _ not written  * some "
           "of them wrong\n",
           rows, columns);
    for (int i = 0; i < g.m; i += rows) {
        printf("  row %4d  ", i);
        for (int j = 0; j < g.n; j += columns) {
            char said = 0;
            for (int r = i; r < i + rows && r < g.m; r++)
                for (int s = j; s < j + columns && s < g.n; s++) {
                    const char one = state[(size_t)r * g.n + s];
                    said = !said || said == one ? one : '*';
                }
            putchar(said);
        }
        putchar('\n');
    }
}

// Of the problem of places, C is 256 where column i of A meets column i of B. Which columns have met in C?
static void say_places(const struct gemm &g, const float *c, int ldc) {
    for (int i = 0; i < g.m && i < g.k; i++)
        for (int j = 0; j < g.n && j < g.k; j++)
            if (j != i && c[(size_t)i * ldc + j] == 256) {
                printf("like: 256 lies at C[%d][%d], and belongs at C[%d][%d]\n", i, j, i, i);
                return;
            }
}

static int judge(const struct gemm &g, const std::vector<float> &c, int ldc, bool places) {
    std::vector<char> state((size_t)g.m * g.n, '.');
    size_t n_wrong = 0, n_near = 0;
    for (int i = 0; i < g.m; i++)
        for (int j = 0; j < ldc; j++) {
            const float got = c[(size_t)i * ldc + j];
            uint32_t bits;
            memcpy(&bits, &got, 4);
            if (j >= g.n) {
                if (bits == ~0u) continue;
                printf("wrong answer: C[%d][%d] is written, behind column %d, the last\n", i, j,
                       g.n - 1);
                return 1;
            }
            double size, wanted = exact(g, i, j, 0, g.k, &size);
            if (fabs(got - wanted) <= bound(size, g.k)) continue;
            n_near += fabs(got - wanted) <= 0x1p-8 * size; // half has 11 bits
            if (!n_wrong++) printf("wrong answer: C[%d][%d] is %g, not %g", i, j, got, wanted);
            state[(size_t)i * g.n + j] = bits == ~0u ? '_' : got == 0 ? '0' : 'x';
        }
    if (!n_wrong) return 0;
    printf("; %zu of %zu elements are wrong\n", n_wrong, state.size());
    const int last = (g.k - 1) / 64 * 64;
    if (places)
        say_places(g, c.data(), ldc);
    else if (g.m == g.n && like(g, c.data(), ldc, true, 0, g.k))
        printf("like: it is C^T\n");
    else if (last && like(g, c.data(), ldc, false, 0, last))
        printf("like: columns %d to %d of A and B are not in it\n", last, g.k - 1);
    else if (last && like(g, c.data(), ldc, false, last, g.k))
        printf("like: only columns %d to %d of A and B are in it\n", last, g.k - 1);
    else if (last && like(g, c.data(), ldc, false, 0, 64))
        printf("like: only columns 0 to 63 of A and B are in it\n");
    else if (n_wrong > 32 && n_near == n_wrong)
        printf("like: each is near, as a sum in half is\n");
    if (n_wrong < state.size()) draw(g, state);
    return 1;
}

int main(int argc, char **argv) {
    struct gemm g;
    if (argc < 4 || strncmp(argv[1], "exam-", 5)) {
        fprintf(stderr, "launch: usage: launch exam-1|exam-2 KERNEL MxNxK [GAP] [normal|places]\n");
        return 2;
    }
    if (sscanf(argv[3], "%dx%dx%d", &g.m, &g.n, &g.k) != 3 || g.m < 1 || g.n < 1 || g.k < 1 ||
        g.k % 8 || g.m > MOST || g.n > MOST || g.k > MOST) {
        fprintf(stderr,
                "launch: %s is no problem: MxNxK is rows and columns of C, then columns of A and "
                "B, such as 256x256x128; from 1 to %d each, K a multiple of 8\n",
                argv[3], MOST);
        return 2;
    }
    const bool maps = !strcmp(argv[1], "exam-2"),
               places = argc > 4 && !strcmp(argv[argc - 1], "places");
    const int gap = argc > 4 ? 8 * atoi(argv[4]) : 0, ldc = (g.n + 7) / 8 * 8 + gap;
    g.lda = g.k + 2 * gap, g.ldb = g.k + gap;
    g.a = matrix(g.m, g.k, g.lda, places, 1), g.b = matrix(g.n, g.k, g.ldb, places, 2);
    std::vector<float> c((size_t)g.m * ldc);

    half *a, *b;
    float *c_device;
    CHECK(cudaMalloc(&a, g.a.size() * 2));
    CHECK(cudaMalloc(&b, g.b.size() * 2));
    CHECK(cudaMalloc(&c_device, c.size() * 4));
    CHECK(cudaMemcpy(a, g.a.data(), g.a.size() * 2, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, g.b.data(), g.b.size() * 2, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(c_device, 0xff, c.size() * 4)); // NaN: what is not written is wrong

    CUmodule module;
    CUfunction kernel;
    CUdeviceptr at;
    size_t bytes;
    int launch[4];
    CHECK(cuModuleLoad(&module, argv[2]));
    if (cuModuleGetFunction(&kernel, module, "gemm") ||
        cuModuleGetGlobal(&at, &bytes, module, "launch") || bytes != sizeof launch) {
        fprintf(stderr, "launch: the kernel gemm or the constant launch[4] is missing: both are "
                        "extern \"C\", as in the signature\n");
        return 3;
    }
    CHECK(cuMemcpyDtoH(launch, at, sizeof launch));
    const int rows = launch[GEMM_ROWS], columns = launch[GEMM_COLUMNS], most = maps ? 256 : 1024;
    if (rows < 1 || columns < 1 || rows > most || columns > most || launch[GEMM_THREADS] < 32 ||
        launch[GEMM_THREADS] > 1024 || launch[GEMM_THREADS] % 32 || launch[GEMM_SHARED] < 0 ||
        launch[GEMM_SHARED] > MOST_SHARED) {
        fprintf(stderr,
                "launch: launch is {%d, %d, %d, %d}: rows and columns are 1 to %d, threads a "
                "multiple of 32 up to 1024, bytes 0 to %d\n",
                rows, columns, launch[GEMM_THREADS], launch[GEMM_SHARED], most, MOST_SHARED);
        return 3;
    }
    struct gemm_args args = {a, b, c_device, g.m, g.n, g.k, g.lda, g.ldb, ldc};
    void *by_address[] = {&args};
    CUtensorMap a_map, b_map;
    if (maps) a_map = map_of(a, g.m, g.k, g.lda, rows), b_map = map_of(b, g.n, g.k, g.ldb, columns);
    void *by_map[] = {&a_map, &b_map, &c_device, &g.m, &g.n, &g.k, (void *)&ldc};
    CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                             launch[GEMM_SHARED]));
    CHECK(cuLaunchKernel(kernel, (g.n + columns - 1) / columns, (g.m + rows - 1) / rows, 1,
                         launch[GEMM_THREADS], 1, 1, launch[GEMM_SHARED], 0,
                         maps ? by_map : by_address, NULL));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(c.data(), c_device, c.size() * 4, cudaMemcpyDeviceToHost));
    return judge(g, c, ldc, places);
}
