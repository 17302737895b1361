/* Private to the files of cuBLAS and cuBLASLt. Not every toolkit has their headers: types are plain integers and
 * pointers, said again here. */
#pragma once

#include "cudart.h"

enum blas_status { FINE = 0, ALLOC_FAILED = 3, INVALID = 7, FAILED = 13, NOT_SUPPORTED = 15 };
enum { OP_N, OP_T, OP_C };
enum { R_32F = 0, R_64F = 1, R_16F = 2, R_16BF = 14 };

struct matrix { /* (rows, columns), column-major */
    void *at;
    int type, rows, columns;
    int64_t ld, stride; /* elements; of the next one of a batch */
};

enum blas_activation { ACTIVATION_NONE, ACTIVATION_RELU, ACTIVATION_GELU };

/* d = activation(alpha op(a) op(b) + beta c + bias): d (m, n), op(a) (m, k), op(b) (k, n) */
struct blas_product {
    int op_a, op_b, m, n, k;
    double alpha, beta;
    struct matrix a, b, c, d; /* c is of d's shape; rows and columns are set by blas_multiply */
    int batch;
    struct matrix bias; /* at NULL: none; else m elements, one for each row of d */
    enum blas_activation activation;
};
int blas_multiply(struct blas_product p);

struct blas_handle {
    void *stream;
    int math_mode, pointer_mode, atomics_mode;
};
/* A call for a handle: what it does is done in the handle's stream. */
#define IN_STREAM(h, call) (stream_enter((h)->stream), (int)stream_leave((cudaError_t)(call)))

/* The machine's BLAS, on so many threads (0: as it likes). False: said, there is none. */
bool blas_open(int n_threads);
void *blas_symbol(const char *name); /* of it; NULL: not there */

bool blas_known_type(int type);
/* A number of this type. */
double blas_scalar(const void *at, int type);
/* alpha and beta of products in this cublasComputeType_t */
int blas_scalar_type(int compute);
