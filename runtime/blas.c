/* The part of cuBLAS with which programs start, or check themselves: handles, setters, and matrix
 * products, through the machine's own BLAS (Debian's OpenBLAS), column-major as there. Products of fp16
 * and bf16 are summed in fp32 and rounded once.
 *
 * Not every toolkit has the header of cuBLAS: its types are plain integers and pointers, said again
 * here. */
#include "cudart.h"

#include "common/cuda/half.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum blas_status { FINE = 0, ALLOC_FAILED = 3, INVALID = 7, FAILED = 13, NOT_SUPPORTED = 15 };
enum { OP_N, OP_T, OP_C };
enum { R_32F = 0, R_64F = 1, R_16F = 2, R_16BF = 14 };

struct handle {
    void *stream;
    int math_mode, pointer_mode, atomics_mode;
};

/* ---- Handles --------------------------------------------------------------------------------- */

EXPORT int cublasCreate_v2(struct handle **out) {
    if (!out) return INVALID;
    *out = calloc(1, sizeof **out);
    return *out ? FINE : ALLOC_FAILED;
}
EXPORT int cublasDestroy_v2(struct handle *h) {
    free(h);
    return FINE;
}
EXPORT int cublasLtCreate(struct handle **out) { return cublasCreate_v2(out); }
EXPORT int cublasLtDestroy(struct handle *h) { return cublasDestroy_v2(h); }

#define FIELD(name, type, field)                                                                   \
    EXPORT int cublasSet##name(struct handle *h, type value) {                                     \
        h->field = value;                                                                          \
        return FINE;                                                                               \
    }                                                                                              \
    EXPORT int cublasGet##name(struct handle *h, type *value) {                                    \
        *value = h->field;                                                                         \
        return FINE;                                                                               \
    }
FIELD(Stream_v2, void *, stream)
FIELD(MathMode, int, math_mode)
FIELD(PointerMode_v2, int, pointer_mode)
FIELD(AtomicsMode, int, atomics_mode)

EXPORT int cublasSetWorkspace_v2(struct handle *h, void *workspace, size_t bytes) {
    (void)h, (void)workspace, (void)bytes;
    return FINE;
}
EXPORT int cublasGetVersion_v2(struct handle *h, int *out) {
    (void)h;
    *out = 130000;
    return FINE;
}
EXPORT const char *cublasGetStatusString(int status) {
    switch (status) {
    case FINE:
        return "success";
    case INVALID:
        return "an unsupported value or parameter was passed to the function";
    case NOT_SUPPORTED:
        return "the functionality requested is not supported";
    default:
        return "the function failed";
    }
}
EXPORT const char *cublasGetStatusName(int status) {
    return status == FINE            ? "CUBLAS_STATUS_SUCCESS"
           : status == INVALID       ? "CUBLAS_STATUS_INVALID_VALUE"
           : status == NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED"
           : status == ALLOC_FAILED  ? "CUBLAS_STATUS_ALLOC_FAILED"
                                     : "CUBLAS_STATUS_EXECUTION_FAILED";
}

/* ---- Matrices -------------------------------------------------------------------------------- */

struct matrix { /* (rows, columns), column-major */
    void *at;
    int type, rows, columns;
    int64_t ld, stride; /* elements; of the next one of a batch */
};

static size_t size_of(int type) { return type == R_64F ? 8 : type == R_32F ? 4 : 2; }

static double element(const struct matrix *m, const char *base, int64_t i) {
    double d;
    float f;
    uint16_t bits;
    (void)m;
    switch (m->type) {
    case R_64F:
        memcpy(&d, base + 8 * i, 8);
        return d;
    case R_32F:
        memcpy(&f, base + 4 * i, 4);
        return f;
    case R_16F:
        memcpy(&bits, base + 2 * i, 2);
        return (double)half_to_float(bits);
    default:
        memcpy(&bits, base + 2 * i, 2);
        uint32_t wide = (uint32_t)bits << 16;
        memcpy(&f, &wide, 4);
        return f;
    }
}

static void set_element(const struct matrix *m, char *base, int64_t i, double d) {
    float f = (float)d;
    uint16_t bits;
    uint32_t wide;
    switch (m->type) {
    case R_64F:
        memcpy(base + 8 * i, &d, 8);
        return;
    case R_32F:
        memcpy(base + 4 * i, &f, 4);
        return;
    case R_16F:
        bits = half_from_float(f);
        break;
    default:
        memcpy(&wide, &f, 4);
        if (f == f) wide += 0x7fff + (wide >> 16 & 1); /* to nearest, ties to even */
        bits = (uint16_t)(wide >> 16);
    }
    memcpy(base + 2 * i, &bits, 2);
}

/* The n-th matrix of a batch; NULL if a part of it is no device memory. */
static char *matrix_at(const struct session *s, const struct matrix *m, int n) {
    char *at = (char *)m->at + (int64_t)n * m->stride * (int64_t)size_of(m->type);
    uint64_t last = (uint64_t)(m->columns - 1) * (uint64_t)m->ld + (uint64_t)m->rows;
    return emu_memory_at(s->memory, (uint64_t)(uintptr_t)at, last * size_of(m->type));
}

/* ---- The product ----------------------------------------------------------------------------- */

typedef void sgemm_function(const char *, const char *, const int *, const int *, const int *,
                            const float *, const float *, const int *, const float *, const int *,
                            const float *, float *, const int *);
typedef void dgemm_function(const char *, const char *, const int *, const int *, const int *,
                            const double *, const double *, const int *, const double *,
                            const int *, const double *, double *, const int *);
static sgemm_function *sgemm;
static dgemm_function *dgemm;

static bool open_blas(void) {
    static const char *const names[] = {"libopenblas.so.0", "libblas.so.3"};
    void *library = NULL;
    for (int i = 0; i < 2 && !library && !sgemm; i++) library = dlopen(names[i], RTLD_NOW);
    if (library) {
        void *s = dlsym(library, "sgemm_"), *d = dlsym(library, "dgemm_");
        memcpy(&sgemm, &s, sizeof s);
        memcpy(&dgemm, &d, sizeof d);
    }
    if (!sgemm || !dgemm)
        session_say("cuBLAS needs a BLAS of this machine: install libopenblas0 (make setup)");
    return sgemm && dgemm;
}

/* A copy in float or double, packed. */
static void *packed(const struct matrix *m, const char *from, bool wide) {
    size_t n = (size_t)m->rows * (size_t)m->columns;
    void *to = malloc((n ? n : 1) * (wide ? 8 : 4));
    for (int c = 0; to && c < m->columns; c++)
        for (int r = 0; r < m->rows; r++) {
            double x = element(m, from, c * m->ld + r);
            size_t i = (size_t)c * (size_t)m->rows + (size_t)r;
            if (wide)
                ((double *)to)[i] = x;
            else
                ((float *)to)[i] = (float)x;
        }
    return to;
}

struct product {
    int op_a, op_b, m, n, k;
    double alpha, beta;
    struct matrix a, b, c;
    int batch;
};

static int multiply(const struct session *s, const struct product *p, int which) {
    const char *a = matrix_at(s, &p->a, which), *b = matrix_at(s, &p->b, which);
    char *c = matrix_at(s, &p->c, which);
    bool wide = p->c.type == R_64F;
    if (!a || !b || !c) return FAILED;
    void *a_copy = packed(&p->a, a, wide), *b_copy = packed(&p->b, b, wide);
    void *sum = malloc((size_t)p->m * (size_t)p->n * (wide ? 8 : 4));
    bool fine = a_copy && b_copy && sum;
    const char op_a = p->op_a == OP_N ? 'N' : 'T', op_b = p->op_b == OP_N ? 'N' : 'T';
    if (fine && wide)
        dgemm(&op_a, &op_b, &p->m, &p->n, &p->k, &(double){1}, a_copy, &p->a.rows, b_copy,
              &p->b.rows, &(double){0}, sum, &p->m);
    else if (fine)
        sgemm(&op_a, &op_b, &p->m, &p->n, &p->k, &(float){1}, a_copy, &p->a.rows, b_copy,
              &p->b.rows, &(float){0}, sum, &p->m);
    for (int col = 0; fine && col < p->n; col++)
        for (int row = 0; row < p->m; row++) {
            int64_t i = col * p->c.ld + row, packed_i = (int64_t)col * p->m + row;
            double x = p->alpha * (wide ? ((double *)sum)[packed_i] : ((float *)sum)[packed_i]);
            if (p->beta != 0) x += p->beta * element(&p->c, c, i);
            set_element(&p->c, c, i, x);
        }
    free(a_copy);
    free(b_copy);
    free(sum);
    return fine ? FINE : ALLOC_FAILED;
}

static bool known_type(int t) { return t == R_32F || t == R_64F || t == R_16F || t == R_16BF; }

static int gemm(struct product p) {
    cudaError_t e;
    if (p.m < 0 || p.n < 0 || p.k < 0 || p.batch < 0 || (unsigned)p.op_a > OP_C ||
        (unsigned)p.op_b > OP_C)
        return INVALID;
    if (!known_type(p.a.type) || !known_type(p.b.type) || !known_type(p.c.type)) {
        cudart_unsupported("a cuBLAS product of other types than fp16, bf16, fp32 and fp64");
        return NOT_SUPPORTED;
    }
    p.a.rows = p.op_a == OP_N ? p.m : p.k, p.a.columns = p.op_a == OP_N ? p.k : p.m;
    p.b.rows = p.op_b == OP_N ? p.k : p.n, p.b.columns = p.op_b == OP_N ? p.n : p.k;
    p.c.rows = p.m, p.c.columns = p.n;
    if (p.a.ld < p.a.rows || p.b.ld < p.b.rows || p.c.ld < p.c.rows) return INVALID;
    if (!p.m || !p.n || !p.batch) return FINE;
    struct session *s = cudart_enter(&e);
    if (!s) return FAILED;
    int status = open_blas() ? FINE : NOT_SUPPORTED;
    for (int n = 0; n < p.batch && !status; n++) status = multiply(s, &p, n);
    cudart_leave(cudaSuccess);
    return status;
}

/* alpha and beta, of the type that is computed in */
static double scalar(const void *at, int type) {
    struct matrix m = {.type = type};
    return element(&m, at, 0);
}
/* CUBLAS_COMPUTE_16F: 64, 65; 32F: 68, 69, 74, 75, 77; 64F: 70, 71 */
static int scalar_type(int compute) {
    return compute == 64 || compute == 65 ? R_16F : compute == 70 || compute == 71 ? R_64F : R_32F;
}

#define PRODUCT(atype, btype, ctype, stype, stride_a, stride_b, stride_c, n)                       \
    gemm((struct product){op_a,                                                                    \
                          op_b,                                                                    \
                          m,                                                                       \
                          n_,                                                                      \
                          k,                                                                       \
                          scalar(alpha, stype),                                                    \
                          scalar(beta, stype),                                                     \
                          {(void *)(uintptr_t)a, atype, 0, 0, lda, stride_a},                      \
                          {(void *)(uintptr_t)b, btype, 0, 0, ldb, stride_b},                      \
                          {c, ctype, 0, 0, ldc, stride_c},                                         \
                          n})

#define GEMM(name, type)                                                                           \
    EXPORT int cublas##name(struct handle *h, int op_a, int op_b, int m, int n_, int k,            \
                            const void *alpha, const void *a, int lda, const void *b, int ldb,     \
                            const void *beta, void *c, int ldc) {                                  \
        (void)h;                                                                                   \
        return PRODUCT(type, type, type, type, 0, 0, 0, 1);                                        \
    }
GEMM(Sgemm_v2, R_32F)
GEMM(Dgemm_v2, R_64F)
GEMM(Hgemm, R_16F)

#define GEMM_BATCHED(name, type)                                                                   \
    EXPORT int cublas##name(struct handle *h, int op_a, int op_b, int m, int n_, int k,            \
                            const void *alpha, const void *a, int lda, long long stride_a,         \
                            const void *b, int ldb, long long stride_b, const void *beta, void *c, \
                            int ldc, long long stride_c, int batch) {                              \
        (void)h;                                                                                   \
        return PRODUCT(type, type, type, type, stride_a, stride_b, stride_c, batch);               \
    }
GEMM_BATCHED(SgemmStridedBatched, R_32F)
GEMM_BATCHED(DgemmStridedBatched, R_64F)
GEMM_BATCHED(HgemmStridedBatched, R_16F)

EXPORT int cublasGemmEx(struct handle *h, int op_a, int op_b, int m, int n_, int k,
                        const void *alpha, const void *a, int a_type, int lda, const void *b,
                        int b_type, int ldb, const void *beta, void *c, int c_type, int ldc,
                        int compute, int algorithm) {
    (void)h, (void)algorithm;
    int type = scalar_type(compute);
    return PRODUCT(a_type, b_type, c_type, type, 0, 0, 0, 1);
}
EXPORT int cublasSgemmEx(struct handle *h, int op_a, int op_b, int m, int n_, int k,
                         const void *alpha, const void *a, int a_type, int lda, const void *b,
                         int b_type, int ldb, const void *beta, void *c, int c_type, int ldc) {
    (void)h;
    return PRODUCT(a_type, b_type, c_type, R_32F, 0, 0, 0, 1);
}
EXPORT int cublasGemmStridedBatchedEx(struct handle *h, int op_a, int op_b, int m, int n_, int k,
                                      const void *alpha, const void *a, int a_type, int lda,
                                      long long stride_a, const void *b, int b_type, int ldb,
                                      long long stride_b, const void *beta, void *c, int c_type,
                                      int ldc, long long stride_c, int batch, int compute,
                                      int algorithm) {
    (void)h, (void)algorithm;
    int type = scalar_type(compute);
    return PRODUCT(a_type, b_type, c_type, type, stride_a, stride_b, stride_c, batch);
}
