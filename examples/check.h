/* What the examples share: stop at an error of CUDA, compare with an answer in double. */
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e_ = (call);                                                                   \
        if (e_ != cudaSuccess) {                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_)); \
            exit(4);                                                                               \
        }                                                                                          \
    } while (0)

/* -1 ... 1, the same on every machine */
static float pseudo_random(unsigned i) {
    i = (i ^ 61) ^ i >> 16;
    i *= 9;
    i = (i ^ i >> 4) * 0x27d4eb2du;
    i ^= i >> 15;
    return (float)(int)i * 4.656612873e-10f;
}

/* Is |x - y| <= tolerance * (the largest |y|) everywhere? Prints the worst; returns main's status. */
static int compare(const char *what, const float *x, const double *y, size_t n, double tolerance) {
    double worst = 0, largest = 0;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        double error = fabs(x[i] - y[i]);
        if (!(error <= worst)) worst = error, at = i;
        if (fabs(y[i]) > largest) largest = fabs(y[i]);
    }
    bool right = worst <= tolerance * largest;
    printf("%s: %s, worst error %.3g at %zu: %g, wanted %g\n", what, right ? "PASS" : "FAIL", worst,
           at, (double)x[at], y[at]);
    return right ? 0 : 1;
}
