/* Shared by the benchmarks that are programs of their own: stops at an error of CUDA. */
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>

static void check(cudaError_t e) {
    if (!e) return;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, cudaGetErrorString(e));
    exit(4);
}
