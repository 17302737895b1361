// cuRAND's host calls under build/run: sequences, distributions, streams, and what fails. tests/runtime/test_random.sh says
// what must come of it.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <curand.h>

static const char *kind = "";
static int wrong;
static void expect(const char *what, double x, double low, double high) {
    const bool fine = x >= low && x <= high;
    wrong += !fine;
    if (!fine) printf("%s %s: %g, not %g to %g\n", kind, what, x, low, high);
}
static void is(const char *what, int status, int wanted) { expect(what, status, wanted, wanted); }

template <typename T> static std::vector<T> back(const T *device, size_t n) {
    std::vector<T> x(n);
    cudaMemcpy(x.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost);
    return x;
}
template <typename T>
static void moments(const char *what, const std::vector<T> &x, double mean, double deviation) {
    double sum = 0, squares = 0;
    for (T v : x) sum += (double)v;
    const double m = sum / x.size();
    for (T v : x) squares += ((double)v - m) * ((double)v - m);
    char text[64];
    const double error = deviation / sqrt((double)x.size());
    snprintf(text, sizeof text, "%s, mean", what);
    expect(text, m, mean - 5 * error, mean + 5 * error);
    snprintf(text, sizeof text, "%s, deviation", what);
    expect(text, sqrt(squares / x.size()), 0.95 * deviation, 1.05 * deviation);
}

constexpr size_t N = 20000;

static void distributions(curandRngType_t type, const char *name) {
    curandGenerator_t g;
    float *f;
    double *d;
    unsigned *u;
    kind = name;
    cudaMalloc(&f, N * sizeof *f), cudaMalloc(&d, N * sizeof *d), cudaMalloc(&u, N * sizeof *u);
    is("create", curandCreateGenerator(&g, type), CURAND_STATUS_SUCCESS);
    is("seed", curandSetPseudoRandomGeneratorSeed(g, 77), CURAND_STATUS_SUCCESS);
    is("uniform", curandGenerateUniform(g, f, N), CURAND_STATUS_SUCCESS);
    moments("uniform", back(f, N), 0.5, sqrt(1 / 12.0));
    for (float x : back(f, N)) wrong += !(x > 0 && x <= 1);
    is("normal", curandGenerateNormal(g, f, N, 3, 2), CURAND_STATUS_SUCCESS);
    moments("normal", back(f, N), 3, 2);
    is("normal double", curandGenerateNormalDouble(g, d, N, -1, 0.5), CURAND_STATUS_SUCCESS);
    moments("normal double", back(d, N), -1, 0.5);
    is("lognormal", curandGenerateLogNormal(g, f, N, 0, 0.5), CURAND_STATUS_SUCCESS);
    moments("lognormal", back(f, N), exp(0.125), sqrt((exp(0.25) - 1) * exp(0.25)));
    is("poisson", curandGeneratePoisson(g, u, N, 4), CURAND_STATUS_SUCCESS);
    moments("poisson", back(u, N), 4, 2);
    is("bits", curandGenerate(g, u, N), CURAND_STATUS_SUCCESS);
    moments("bits", back(u, N), 2147483648.0, 4294967296.0 / sqrt(12.0));
    curandDestroyGenerator(g);
    cudaFree(f), cudaFree(d), cudaFree(u);
}

/* On a device and on the host the same; again after the same seed; further on by an offset. */
static void sequences() {
    curandGenerator_t g, host;
    float *f, first[8], second[8];
    kind = "sequence";
    cudaMalloc(&f, 8 * sizeof *f);
    curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT);
    curandCreateGeneratorHost(&host, CURAND_RNG_PSEUDO_DEFAULT);
    curandSetPseudoRandomGeneratorSeed(g, 1234), curandSetPseudoRandomGeneratorSeed(host, 1234);
    curandGenerateUniform(g, f, 8), curandGenerateUniform(host, first, 8);
    wrong += memcmp(back(f, 8).data(), first, sizeof first) != 0;
    printf("XORWOW, seed 1234: %.6f %.6f %.6f %.6f\n", first[0], first[1], first[2], first[3]);
    curandGenerateUniform(g, f, 8);
    memcpy(second, back(f, 8).data(), sizeof second);
    expect("goes on", memcmp(first, second, sizeof first) != 0, 1, 1);
    curandSetPseudoRandomGeneratorSeed(g, 1234), curandSetGeneratorOffset(g, 8);
    curandGenerateUniform(g, f, 8);
    expect("offset", memcmp(back(f, 8).data(), second, sizeof second), 0, 0);
    curandDestroyGenerator(g), curandDestroyGenerator(host);
}

__global__ void twice(float *x) { x[threadIdx.x] *= 2; }

int main(int argc, char **argv) {
    const char *which = argc > 1 ? argv[1] : "";
    curandGenerator_t g;
    float *f, host[8] = {0};
    cudaMalloc(&f, 32 * sizeof *f);
    if (!strcmp(which, "host")) { // a generator of the device is given the program's own memory
        curandCreateGenerator(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10);
        printf("host memory: %d, %g\n", curandGenerateUniform(g, host, 8), host[0]);
        return 0;
    }
    if (!strcmp(which, "race")) { // numbers and a kernel in two streams, without an event
        cudaStream_t a, b;
        cudaStreamCreate(&a), cudaStreamCreate(&b);
        curandCreateGenerator(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10);
        curandSetStream(g, a);
        curandGenerateUniform(g, f, 32);
        twice<<<1, 32, 0, b>>>(f);
        return cudaDeviceSynchronize();
    }
    curandCreateGenerator(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10);
    is("nothing to generate", curandGenerateUniform(g, f, 0), CURAND_STATUS_SUCCESS);
    curandCreateGenerator(&g, CURAND_RNG_PSEUDO_XORWOW);
    is("an odd number of normals", curandGenerateNormal(g, f, 7, 0, 1),
       CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    is("a type that is none", curandCreateGenerator(&g, (curandRngType_t)7),
       CURAND_STATUS_TYPE_ERROR);
    is("no generator", curandGenerateUniform(NULL, f, 8), CURAND_STATUS_NOT_INITIALIZED);
    curandCreateGenerator(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10);
    curandGenerateUniform(g, f, 32);
    twice<<<1, 32>>>(f); // they count as written
    if (cudaDeviceSynchronize()) wrong++;
    sequences();
    distributions(CURAND_RNG_PSEUDO_XORWOW, "XORWOW");
    distributions(CURAND_RNG_PSEUDO_PHILOX4_32_10, "Philox");
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
