/* What the programs of their own share: they stop at an error of CUDA. */
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>

static void check(cudaError_t e) {
    if (!e) return;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, cudaGetErrorString(e));
    exit(4);
}
