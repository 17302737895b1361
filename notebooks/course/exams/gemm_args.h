/* What the kernel of exam 1 is given: C (m, n) = A (m, k) B (n, k)^T. */
#pragma once

#ifdef __CUDACC__
#include <cuda_fp16.h>
#else
#include "common/cuda/half.h"
#endif

struct gemm_args {
    const half *a;     /* (m, k), rows lda elements apart */
    const half *b;     /* (n, k), rows ldb elements apart */
    float *c;          /* (m, n), rows ldc elements apart */
    int m, n, k;       /* at least 1; k is a multiple of 8 */
    int lda, ldb, ldc; /* multiples of 8; a, b and c are multiples of 16 bytes */
};

/* launch[4], which the kernel's file defines. */
enum { GEMM_ROWS, GEMM_COLUMNS, GEMM_THREADS, GEMM_SHARED };
