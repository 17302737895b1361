// cuBLAS beside products (tests/runtime/test_blas.sh): each result against loops of its own. With an argument: a product
// that takes long, or an end that is none of main's.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <unistd.h>
#include <vector>

__global__ void nothing(int *p) { *p = 1; }
__global__ void ones(float *p) { p[threadIdx.x] = 1; }

template <class T> struct device {
    T *p;
    size_t n;
    device(const std::vector<T> &host) : n(host.size()) {
        cudaMalloc(&p, n * sizeof(T));
        cudaMemcpy(p, host.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    }
    std::vector<T> get() const {
        std::vector<T> out(n);
        cudaMemcpy(out.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
        return out;
    }
};
static int n_wrong;
static void equal(const char *what, double got, double want) {
    if (fabs(got - want) <= 1e-5 * (1 + fabs(want))) return;
    printf("%s: %.9g, not %.9g\n", what, got, want);
    n_wrong++;
}
static void fine(const char *what, int status) {
    if (status) printf("%s: status %d\n", what, status), n_wrong++;
}

static void vectors(cublasHandle_t h) {
    std::vector<float> x(12), y(12);
    for (int i = 0; i < 12; i++) x[i] = (i % 5 - 2) * 1.5f, y[i] = i - 4;
    device<float> dx(x), dy(y);
    float two = 2, out, *on_device;
    int at;
    fine("axpy", cublasSaxpy(h, 4, &two, dx.p, 3, dy.p, -2)); // y[6 - 2 k] += 2 x[3 k]
    for (int k = 0; k < 4; k++) y[6 - 2 * k] += 2 * x[3 * k];
    for (int i = 0; i < 12; i++) equal("axpy", dy.get()[i], y[i]);
    double dot = 0, sum = 0, squares = 0;
    for (int i = 0; i < 12; i++) dot += x[i] * y[i], sum += fabs(x[i]), squares += x[i] * x[i];
    fine("dot", cublasSdot(h, 12, dx.p, 1, dy.p, 1, &out)), equal("dot", out, dot);
    fine("asum", cublasSasum(h, 12, dx.p, 1, &out)), equal("asum", out, sum);
    fine("nrm2", cublasSnrm2(h, 12, dx.p, 1, &out)), equal("nrm2", out, sqrt(squares));
    fine("amax", cublasIsamax(h, 6, dx.p, 2, &at)), equal("amax", at, 1); // |-3|, 0, 3: the first
    fine("amin", cublasIsamin(h, 6, dx.p, 2, &at)), equal("amin", at, 2);
    fine("amax of nothing", cublasIsamax(h, 0, dx.p, 1, &at)), equal("amax of nothing", at, 0);
    cudaMalloc(&on_device, 4), cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
    fine("dot there", cublasSdot(h, 12, dx.p, 1, dy.p, 1, on_device));
    cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
    cudaMemcpy(&out, on_device, 4, cudaMemcpyDeviceToHost), equal("dot there", out, dot);
    fine("scal", cublasSscal(h, 6, &two, dx.p, 2));
    for (int i = 0; i < 12; i += 2) x[i] *= 2;
    fine("swap", cublasSswap(h, 5, dx.p, 1, dy.p, 2));
    for (int i = 0; i < 5; i++) std::swap(x[i], y[2 * i]);
    fine("copy", cublasScopy(h, 3, dx.p + 9, 1, dx.p, 1));
    for (int i = 0; i < 3; i++) x[i] = x[9 + i];
    for (int i = 0; i < 12; i++) equal("x", dx.get()[i], x[i]), equal("y", dy.get()[i], y[i]);
    float *host = x.data();
    if (!cublasSscal(h, 3, &two, host, 1)) printf("memory of the host was scaled\n"), n_wrong++;
}

static void matrices(cublasHandle_t h) { // doubles, column-major, ld 5
    const int m = 4, n = 3, ld = 5;
    std::vector<double> a(ld * 5), b(ld * 5), c(ld * 5, -9), l(ld * 5);
    for (int i = 0; i < ld * 5; i++)
        a[i] = i % 7 - 3, b[i] = i % 4 + 0.5, l[i] = i % 3 + 1 + 4 * (i % 6 == 0);
    device<double> da(a), db(b), dc(c), dl(l);
    double two = 2, three = 3, half = 0.5;
    fine("geam", cublasDgeam(h, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &two, da.p, ld, &three, db.p, ld,
                             dc.p, ld));
    for (int col = 0; col < 5; col++)
        for (int r = 0; r < ld; r++) {
            bool inside = r < m && col < n;
            equal("geam", dc.get()[col * ld + r],
                  inside ? 2 * a[r * ld + col] + 3 * b[col * ld + r] : -9);
        }
    if (cublasDgeam(h, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &two, dc.p, ld, &three, db.p, ld, dc.p,
                    ld) != CUBLAS_STATUS_INVALID_VALUE)
        printf("geam in place, transposed\n"), n_wrong++;
    // L X = B / 2, then X U' = ...: multiplied back
    fine("trsm", cublasDtrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                             CUBLAS_DIAG_NON_UNIT, m, n, &half, dl.p, ld, db.p, ld));
    std::vector<double> x = db.get();
    for (int col = 0; col < n; col++)
        for (int r = 0; r < m; r++) {
            double sum = 0;
            for (int k = 0; k <= r; k++) sum += l[k * ld + r] * x[col * ld + k];
            equal("trsm", sum, b[col * ld + r] / 2);
        }
    device<double> again(b);
    fine("trsm", cublasDtrsm(h, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T,
                             CUBLAS_DIAG_UNIT, m, n, &half, dl.p, ld, again.p, ld));
    x = again.get();
    for (int col = 0; col < n; col++)
        for (int r = 0; r < m; r++) { // (X U')(r, col) = sum of X(r, k) U(col, k), k >= col
            double sum = x[col * ld + r];
            for (int k = col + 1; k < n; k++) sum += x[k * ld + r] * l[k * ld + col];
            equal("trsm right", sum, b[col * ld + r] / 2);
        }
}

// alpha and beta in device memory.
static void scalars(cublasHandle_t h) {
    const int n = 4;
    std::vector<float> x = {1, 2, 3, 4}, y = {5, 6, 7, 8},
                       unit = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    device<float> dx(x), dy(y), eye(unit), sum(unit), two({2}), three({3});
    cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
    fine("axpy", cublasSaxpy(h, n, two.p, dx.p, 1, dy.p, 1));
    fine("scal", cublasSscal(h, n, three.p, dx.p, 1));
    fine("gemv", cublasSgemv(h, CUBLAS_OP_N, n, n, two.p, eye.p, n, dx.p, 1, three.p, dy.p, 1));
    fine("geam", cublasSgeam(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, two.p, eye.p, n, three.p, eye.p, n,
                             sum.p, n));
    fine("gemm", cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, two.p, eye.p, n, sum.p, n,
                             three.p, sum.p, n));
    fine("trsm", cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                             CUBLAS_DIAG_NON_UNIT, n, n, three.p, eye.p, n, sum.p, n));
    cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
    for (int i = 0; i < n; i++) {
        equal("x", dx.get()[i], 3 * x[i]);
        equal("y", dy.get()[i], 2 * 3 * x[i] + 3 * (2 * x[i] + y[i]));
    }
    for (int i = 0; i < n * n; i++) equal("sum", sum.get()[i], 3 * (2 * 5 + 3 * 5) * unit[i]);
}

// Copies that are captured are made when the graph is launched.
static void captured_copies() {
    const float from[4] = {1, 2, 3, 4};
    float back[4] = {};
    device<float> vector(std::vector<float>(4)), matrix(std::vector<float>(6));
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t exec;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    fine("begin", cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    fine("set vector", cublasSetVectorAsync(2, 4, from, 2, vector.p, 3, s));    // 1 . . 3
    fine("set matrix", cublasSetMatrixAsync(2, 2, 4, from, 2, matrix.p, 3, s)); // 1 2 . 3 4 .
    fine("get vector", cublasGetVectorAsync(2, 4, vector.p, 3, back, 1, s));    // 1 3
    fine("get matrix", cublasGetMatrixAsync(1, 2, 4, matrix.p + 1, 3, back + 2, 1, s)); // 2 4
    fine("end", cudaStreamEndCapture(s, &g));
    for (int i = 0; i < 4; i++) equal("before", vector.get()[i] + back[i], 0);
    for (int i = 0; i < 6; i++) equal("before", matrix.get()[i], 0);
    fine("instantiate", cudaGraphInstantiate(&exec, g, 0));
    fine("launch", cudaGraphLaunch(exec, s)), cudaStreamSynchronize(s);
    const float v[4] = {1, 0, 0, 3}, m[6] = {1, 2, 0, 3, 4, 0}, b[4] = {1, 3, 2, 4};
    for (int i = 0; i < 4; i++)
        equal("vector", vector.get()[i], v[i]), equal("back", back[i], b[i]);
    for (int i = 0; i < 6; i++) equal("matrix", matrix.get()[i], m[i]);
}

// A product of cuBLASLt is in the order of its stream.
static void light_product() {
    enum { N = 16 };
    const std::vector<float> host(N * N, 1);
    const float one = 1, zero = 0;
    device<float> a(host), b(host), c(host);
    cudaStream_t s;
    cublasLtHandle_t h;
    cublasLtMatmulDesc_t d;
    cublasLtMatrixLayout_t square;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaDeviceSynchronize();
    fine("create", cublasLtCreate(&h));
    fine("product", cublasLtMatmulDescCreate(&d, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    fine("layout", cublasLtMatrixLayoutCreate(&square, CUDA_R_32F, N, N, N));
    ones<<<1, N * N, 0, s>>>(a.p);
    fine("matmul", cublasLtMatmul(h, d, &one, a.p, square, b.p, square, &zero, c.p, square, c.p,
                                  square, NULL, NULL, 0, s));
    ones<<<1, N * N, 0, s>>>(a.p);
    cudaStreamSynchronize(s);
    for (float x : c.get()) equal("matmul", x, N);
}

static void long_product(cublasHandle_t h) {
    const int n = 12000;
    double one = 1, *p;
    cudaMalloc(&p, sizeof(double) * n * n), cudaMemset(p, 0, sizeof(double) * n * n);
    printf("begins\n"), fflush(stdout);
    cublasDgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, p, n, p, n, &one, p, n);
    cudaDeviceSynchronize();
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    cublasHandle_t h;
    int *p, major = 0;
    cublasCreate(&h);
    cudaMalloc(&p, 4), nothing<<<1, 1>>>(p), cudaDeviceSynchronize();
    if (!strcmp(what, "long")) long_product(h);
    if (!strcmp(what, "_exit")) _exit(7);
    if (!strcmp(what, "_Exit")) _Exit(7);
    if (!strcmp(what, "execv")) execv("/bin/true", argv);
    if (!strcmp(what, "fork") && !fork()) _exit(0);
    vectors(h), matrices(h), scalars(h), captured_copies(), light_product();
    fine("version", cublasGetProperty(MAJOR_VERSION, &major)), equal("version", major, 13);
    equal("version", cublasGetCudartVersion() / 1000, 13);
    printf("%d wrong\n", n_wrong);
    return n_wrong > 0;
}
