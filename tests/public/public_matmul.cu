// public_matmul KERNEL [m n k]: calls one kernel of fastcu's matmul, whose own main runs all of them at 8192, under
// build/run, and compares every element with double. Compiled with -I of its folder by tests/public/public_code.sh.
#define STRING(x)          #x
#define SOURCE(name, kind) STRING(name.kind)
#define main               main_at_8192
#include SOURCE(matmul, cu)
#undef main

static std::vector<bf16> normal(size_t n) {
    std::vector<bf16> t(n);
    randomize_matrix(t.data(), (int)n);
    return t;
}

template <typename T> static T *on_device(const std::vector<T> &t) {
    T *p;
    cudaCheck(cudaMalloc(&p, t.size() * sizeof *p));
    cudaCheck(cudaMemcpy(p, t.data(), t.size() * sizeof *p, cudaMemcpyHostToDevice));
    return p;
}

int main(int argc, char **argv) {
    int kernel = argc > 1 ? atoi(argv[1]) : 0, m = argc > 2 ? atoi(argv[2]) : 2048;
    int n = argc > 3 ? atoi(argv[3]) : 2048, k = argc > 4 ? atoi(argv[4]) : 256;
    if (kernel < 1 || kernel > 12) return 2;
    std::vector<bf16> a = normal((size_t)m * k), b = normal((size_t)n * k); // (m, k), (n, k)
    std::vector<bf16> c((size_t)m * n);                                     // (n, m)
    std::vector<int> times(8192 * 128, -1);
    bf16 *device_c = on_device(c);
    run_kernel(kernel, m, n, k, on_device(a), on_device(b), device_c, on_device(times));
    cudaCheck(cudaDeviceSynchronize());
    cudaCheck(cudaMemcpy(c.data(), device_c, c.size() * sizeof(bf16), cudaMemcpyDeviceToHost));
    if (kernel == 1) { // takes its matrices otherwise, and fastcu does not compare it either
        printf("kernel 1 (%d, %d, %d): not compared\n", m, n, k);
        return 0;
    }
    std::vector<float> left(a.begin(), a.end()), right(b.begin(), b.end());
    double worst = 0;
#pragma omp parallel for reduction(max : worst)
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0, room = 1e-3;
            for (int d = 0; d < k; d++)
                sum += (double)left[(size_t)i * k + d] * right[(size_t)j * k + d];
            room += fabs(sum) / 256; // one bf16 is rounded to 8 bits
            double e = fabs((double)(float)c[(size_t)j * m + i] - sum) / room;
            if (!(e <= worst)) worst = e;
        }
    printf("kernel %d (%d, %d, %d): worst error %.2f roundings: %s\n", kernel, m, n, k, worst,
           worst <= 1.05 ? "right" : "wrong");
    return !(worst <= 1.05);
}
