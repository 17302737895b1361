/* The part of cuBLAS with which programs start, or check themselves: handles, setters, copies, and products of
 * matrices and vectors (blas_vector.c has the rest), through the machine's own BLAS (Debian's OpenBLAS), column-major as there. Products of
 * fp16 and bf16 are summed in fp32 and rounded once. */
#include "blas.h"

#include "common/cuda/dtype.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Handles --------------------------------------------------------------------------------- */

EXPORT int cublasCreate_v2(struct blas_handle **out) {
    if (!out) return INVALID;
    *out = calloc(1, sizeof **out);
    return *out ? FINE : ALLOC_FAILED;
}
EXPORT int cublasDestroy_v2(struct blas_handle *h) {
    free(h);
    return FINE;
}
EXPORT int cublasLtCreate(struct blas_handle **out) { return cublasCreate_v2(out); }
EXPORT int cublasLtDestroy(struct blas_handle *h) { return cublasDestroy_v2(h); }

#define FIELD(name, type, field)                                                                   \
    EXPORT int cublasSet##name(struct blas_handle *h, type value) {                                \
        h->field = value;                                                                          \
        return FINE;                                                                               \
    }                                                                                              \
    EXPORT int cublasGet##name(struct blas_handle *h, type *value) {                               \
        *value = h->field;                                                                         \
        return FINE;                                                                               \
    }
FIELD(Stream_v2, void *, stream)
FIELD(MathMode, int, math_mode)
FIELD(PointerMode_v2, int, pointer_mode)
FIELD(AtomicsMode, int, atomics_mode)

EXPORT int cublasSetWorkspace_v2(struct blas_handle *h, void *workspace, size_t bytes) {
    (void)h, (void)workspace, (void)bytes;
    return FINE;
}
EXPORT int cublasGetVersion_v2(struct blas_handle *h, int *out) {
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

static size_t size_of(int type) { return type == R_64F ? 8 : type == R_32F ? 4 : 2; }

static double element(int type, const char *base, int64_t i) {
    double d;
    float f;
    uint16_t bits;
    switch (type) {
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

static void set_element(int type, char *base, int64_t i, double d) {
    float f = (float)d;
    uint16_t bits;
    switch (type) {
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
        bits = dtype_from_float(DTYPE_BF16, f);
    }
    memcpy(base + 2 * i, &bits, 2);
}

/* Of the n-th matrix of a batch. */
static uint64_t address_of(const struct matrix *m, int n) {
    return (uint64_t)(uintptr_t)m->at + (uint64_t)(n * m->stride * (int64_t)size_of(m->type));
}

/* Where it lies; NULL if a part of it is no device memory. */
static char *matrix_at(const struct session *s, const struct matrix *m, int n) {
    if (m->columns < 1 || m->rows < 1) return m->at; /* nothing of it is read: k is 0 */
    uint64_t last = (uint64_t)(m->columns - 1) * (uint64_t)m->ld + (uint64_t)m->rows;
    return emu_memory_at(s->memory, address_of(m, n), last * size_of(m->type));
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
static void *blas;

/* As many threads as --jobs says. */
static void bind_threads(void *library, int n) {
    void (*set)(int) = NULL;
    void *found = dlsym(library, "openblas_set_num_threads");
    memcpy(&set, &found, sizeof set);
    if (set && n > 0) set(n);
}

void *blas_symbol(const char *name) { return blas ? dlsym(blas, name) : NULL; }

bool blas_open(int n_threads) {
    static const char *const names[] = {"libopenblas.so.0", "libblas.so.3"};
    void *library = NULL;
    for (int i = 0; i < 2 && !library && !sgemm; i++) library = dlopen(names[i], RTLD_NOW);
    if (library) {
        void *s = dlsym(library, "sgemm_"), *d = dlsym(library, "dgemm_");
        memcpy(&sgemm, &s, sizeof s);
        memcpy(&dgemm, &d, sizeof d);
        bind_threads(blas = library, n_threads);
    }
    if (!sgemm || !dgemm)
        session_say("cuBLAS needs a BLAS of this machine: install libopenblas0 (make setup)");
    return sgemm && dgemm;
}

/* What BLAS can read: the matrix itself, or a copy in float or double. *ld is its leading dimension. */
static const void *operand(const struct matrix *m, const char *from, bool wide, int *ld,
                           void **copy) {
    size_t n = (size_t)m->rows * (size_t)m->columns;
    *ld = (int)m->ld;
    if (m->type == (wide ? R_64F : R_32F)) return from;
    *ld = m->rows;
    void *to = *copy = malloc((n ? n : 1) * (wide ? 8 : 4));
#pragma omp parallel for if (to)
    for (int c = 0; c < m->columns; c++)
        for (int r = 0; to && r < m->rows; r++) {
            double x = element(m->type, from, c * m->ld + r);
            size_t i = (size_t)c * (size_t)m->rows + (size_t)r;
            if (wide)
                ((double *)to)[i] = x;
            else
                ((float *)to)[i] = (float)x;
        }
    return to;
}

/* As cuBLASLt documents it: by tanh. */
static double activate(enum blas_activation a, double x) {
    if (a == ACTIVATION_RELU) return x < 0 ? 0 : x;
    if (a == ACTIVATION_GELU)
        return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    return x;
}

static int multiply(const struct session *s, const struct blas_product *p, int which) {
    const char *a = matrix_at(s, &p->a, which), *b = matrix_at(s, &p->b, which);
    const char *c = p->beta != 0 ? matrix_at(s, &p->c, which) : NULL;
    char *d = matrix_at(s, &p->d, which);
    const char *bias = p->bias.at ? matrix_at(s, &p->bias, 0) : NULL;
    bool wide = p->d.type == R_64F;
    if (!a || !b || !d || (p->beta != 0 && !c) || (p->bias.at && !bias)) return FAILED;
    int lda, ldb;
    void *a_copy = NULL, *b_copy = NULL,
         *sum = malloc((size_t)p->m * (size_t)p->n * (wide ? 8 : 4));
    const void *left = operand(&p->a, a, wide, &lda, &a_copy),
               *right = operand(&p->b, b, wide, &ldb, &b_copy);
    bool fine = left && right && sum;
    const char op_a = p->op_a == OP_N ? 'N' : 'T', op_b = p->op_b == OP_N ? 'N' : 'T';
    session_busy(true);
    if (fine && wide)
        dgemm(&op_a, &op_b, &p->m, &p->n, &p->k, &(double){1}, left, &lda, right, &ldb,
              &(double){0}, sum, &p->m);
    else if (fine)
        sgemm(&op_a, &op_b, &p->m, &p->n, &p->k, &(float){1}, left, &lda, right, &ldb, &(float){0},
              sum, &p->m);
    session_busy(false);
#pragma omp parallel for if (fine)
    for (int col = 0; col < p->n; col++)
        for (int row = 0; fine && row < p->m; row++) {
            int64_t packed = (int64_t)col * p->m + row;
            double x = p->alpha * (wide ? ((double *)sum)[packed] : ((float *)sum)[packed]);
            if (c) x += p->beta * element(p->c.type, c, col * p->c.ld + row);
            if (bias) x += element(p->bias.type, bias, row);
            set_element(p->d.type, d, col * p->d.ld + row, activate(p->activation, x));
        }
    uint64_t at = address_of(&p->d, which), row_bytes = (uint64_t)p->m * size_of(p->d.type);
    for (int col = 0; fine && col < p->n; col++, at += (uint64_t)p->d.ld * size_of(p->d.type))
        emu_memory_written(s->memory, at, row_bytes);
    free(a_copy);
    free(b_copy);
    free(sum);
    return fine ? FINE : ALLOC_FAILED;
}

struct late_product {
    const struct session *s;
    struct blas_product p;
};
static void run_late(void *what) {
    const struct late_product *l = what;
    for (int n = 0; n < l->p.batch; n++) multiply(l->s, &l->p, n);
}

/* The allocation of a matrix; false: the host sees it, too, or there is no matrix. */
static bool hidden_span(const struct session *s, const void *at, struct repeat_span *out) {
    const struct emu_allocation *a = emu_memory_find(s->memory, (uint64_t)(uintptr_t)at);
    *out = a ? (struct repeat_span){a->base, a->end} : (struct repeat_span){0, 0};
    return a && !a->host_sees;
}

/* Do all matrices lie in device memory? */
static bool are_there(const struct session *s, const struct blas_product *p) {
    bool there = !p->bias.at || matrix_at(s, &p->bias, 0);
    for (int n = 0; n < p->batch && there; n++)
        there = matrix_at(s, &p->a, n) && matrix_at(s, &p->b, n) && matrix_at(s, &p->d, n) &&
                (p->beta == 0 || matrix_at(s, &p->c, n));
    return there;
}

/* Columns, each a run of bytes. */
static void use_matrix(const struct blas_product *p, const struct matrix *m, enum order_use use) {
    for (int n = 0; n < (m == &p->bias ? 1 : p->batch) && m->at; n++)
        for (int c = 0; c < m->columns; c++)
            stream_uses(use,
                        (char *)m->at +
                            ((int64_t)n * m->stride + c * m->ld) * (int64_t)size_of(m->type),
                        (size_t)m->rows * size_of(m->type));
}

/* At once, or, with --repeats, later. */
static int multiply_all(struct session *s, const struct blas_product *p) {
    uint64_t key = repeat_key(1, p, sizeof *p);
    struct repeat_effect e[5] = {{{0, 0}, {0, 0}}};
    const void *const reads[] = {p->a.at, p->b.at, p->beta != 0 ? p->c.at : NULL, p->bias.at};
    bool hidden = are_there(s, p) && hidden_span(s, p->d.at, &e[4].written);
    for (int i = 0; i < 4; i++) hidden &= !reads[i] || hidden_span(s, reads[i], &e[i].read);
    struct late_product *late = hidden && session_puts_off(s, key) ? malloc(sizeof *late) : NULL;
    if (late) {
        *late = (struct late_product){s, *p};
        repeat_expect(&s->repeat, key, e, 5, false);
        repeat_put_off(&s->repeat, key, run_late, late);
        return FINE;
    }
    int status = FINE;
    if (s->settings.puts_off) repeat_settle(&s->repeat, (struct repeat_span){0, 0});
    stream_operation(s, "a product of cuBLAS", false);
    use_matrix(p, &p->a, ORDER_READ);
    use_matrix(p, &p->b, ORDER_READ);
    if (p->beta != 0) use_matrix(p, &p->c, ORDER_READ);
    use_matrix(p, &p->bias, ORDER_READ);
    use_matrix(p, &p->d, ORDER_WRITE);
    for (int n = 0; n < p->batch && !status; n++) status = multiply(s, p, n);
    if (!s->settings.puts_off) return status;
    if (hidden && !status)
        repeat_note(&s->repeat, key, e, 5, false);
    else
        repeat_never(&s->repeat, key);
    return status;
}

bool blas_known_type(int t) { return t == R_32F || t == R_64F || t == R_16F || t == R_16BF; }

int blas_multiply(struct blas_product p) {
    cudaError_t e;
    if (p.m < 0 || p.n < 0 || p.k < 0 || p.batch < 0 || (unsigned)p.op_a > OP_C ||
        (unsigned)p.op_b > OP_C)
        return INVALID;
    if (!blas_known_type(p.a.type) || !blas_known_type(p.b.type) || !blas_known_type(p.c.type) ||
        !blas_known_type(p.d.type)) {
        cudart_unsupported("a cuBLAS product of other types than fp16, bf16, fp32 and fp64");
        return NOT_SUPPORTED;
    }
    p.a.rows = p.op_a == OP_N ? p.m : p.k, p.a.columns = p.op_a == OP_N ? p.k : p.m;
    p.b.rows = p.op_b == OP_N ? p.k : p.n, p.b.columns = p.op_b == OP_N ? p.n : p.k;
    p.c.rows = p.d.rows = p.m, p.c.columns = p.d.columns = p.n;
    p.bias.rows = p.m, p.bias.columns = 1;
    if (p.a.ld < p.a.rows || p.b.ld < p.b.rows || p.d.ld < p.d.rows ||
        (p.beta != 0 && p.c.ld < p.c.rows))
        return INVALID;
    if (!p.m || !p.n || !p.batch) return FINE;
    struct session *s = cudart_enter(&e);
    if (!s) return FAILED;
    if (graph_any_capture()) cudart_unsupported("a product of cuBLAS in a graph");
    int status =
        blas_open(s->settings.emulator.n_threads) && !graph_any_capture() ? FINE : NOT_SUPPORTED;
    bool wanted = !s->settings.emulator.sample_blocks; /* else the operands are incomplete */
    if (!status && wanted) status = multiply_all(s, &p);
    cudart_leave(cudaSuccess);
    return status;
}

/* alpha and beta lie where cublasSetPointerMode says: of the device's memory the host has no address. */
double blas_scalar(const void *at, int type) {
    const struct session *s = session_lock();
    const double x = element(type, s ? session_place(s, at) : at, 0);
    if (s) session_unlock();
    return x;
}
/* CUBLAS_COMPUTE_16F: 64, 65; 32F: 68, 69, 74, 75, 77; 64F: 70, 71 */
int blas_scalar_type(int compute) {
    return compute == 64 || compute == 65 ? R_16F : compute == 70 || compute == 71 ? R_64F : R_32F;
}

/* A product that is known by its value: padding is zero, for session_repeats. */
static int product(int op_a, int op_b, int m, int n, int k, double alpha, struct matrix a,
                   struct matrix b, double beta, struct matrix c, int batch) {
    struct blas_product p;
    memset(&p, 0, sizeof p);
    p.op_a = op_a, p.op_b = op_b;
    p.m = m, p.n = n, p.k = k;
    p.alpha = alpha, p.beta = beta;
    p.a = a, p.b = b, p.c = p.d = c;
    p.batch = batch;
    return blas_multiply(p);
}
#define MATRIX(name, type, stride)                                                                 \
    (struct matrix) { (void *)(uintptr_t)name, type, 0, 0, ld##name, stride }
#define PRODUCT(atype, btype, ctype, stype, stride_a, stride_b, stride_c, batch)                   \
    product(op_a, op_b, m, n_, k, blas_scalar(alpha, stype), MATRIX(a, atype, stride_a),           \
            MATRIX(b, btype, stride_b), blas_scalar(beta, stype), MATRIX(c, ctype, stride_c),      \
            batch)

#define GEMM(name, type)                                                                           \
    EXPORT int cublas##name(struct blas_handle *h, int op_a, int op_b, int m, int n_, int k,       \
                            const void *alpha, const void *a, int lda, const void *b, int ldb,     \
                            const void *beta, void *c, int ldc) {                                  \
        return IN_STREAM(h, PRODUCT(type, type, type, type, 0, 0, 0, 1));                          \
    }
GEMM(Sgemm_v2, R_32F)
GEMM(Dgemm_v2, R_64F)
GEMM(Hgemm, R_16F)

#define GEMM_BATCHED(name, type)                                                                   \
    EXPORT int cublas##name(struct blas_handle *h, int op_a, int op_b, int m, int n_, int k,       \
                            const void *alpha, const void *a, int lda, long long stride_a,         \
                            const void *b, int ldb, long long stride_b, const void *beta, void *c, \
                            int ldc, long long stride_c, int batch) {                              \
        return IN_STREAM(h, PRODUCT(type, type, type, type, stride_a, stride_b, stride_c, batch)); \
    }
GEMM_BATCHED(SgemmStridedBatched, R_32F)
GEMM_BATCHED(DgemmStridedBatched, R_64F)
GEMM_BATCHED(HgemmStridedBatched, R_16F)

EXPORT int cublasGemmEx(struct blas_handle *h, int op_a, int op_b, int m, int n_, int k,
                        const void *alpha, const void *a, int a_type, int lda, const void *b,
                        int b_type, int ldb, const void *beta, void *c, int c_type, int ldc,
                        int compute, int algorithm) {
    (void)algorithm;
    int type = blas_scalar_type(compute);
    return IN_STREAM(h, PRODUCT(a_type, b_type, c_type, type, 0, 0, 0, 1));
}
EXPORT int cublasSgemmEx(struct blas_handle *h, int op_a, int op_b, int m, int n_, int k,
                         const void *alpha, const void *a, int a_type, int lda, const void *b,
                         int b_type, int ldb, const void *beta, void *c, int c_type, int ldc) {
    return IN_STREAM(h, PRODUCT(a_type, b_type, c_type, R_32F, 0, 0, 0, 1));
}
EXPORT int cublasGemmStridedBatchedEx(struct blas_handle *h, int op_a, int op_b, int m, int n_,
                                      int k, const void *alpha, const void *a, int a_type, int lda,
                                      long long stride_a, const void *b, int b_type, int ldb,
                                      long long stride_b, const void *beta, void *c, int c_type,
                                      int ldc, long long stride_c, int batch, int compute,
                                      int algorithm) {
    (void)algorithm;
    int type = blas_scalar_type(compute);
    return IN_STREAM(h, PRODUCT(a_type, b_type, c_type, type, stride_a, stride_b, stride_c, batch));
}

/* ---- Vectors --------------------------------------------------------------------------------- */

/* y = alpha op(a) x + beta y: a product with one column; with a step backwards, from the end. */
static int gemv(int op, int m, int n, const void *alpha, const void *a, int lda, const void *x,
                int incx, const void *beta, void *y, int incy, int type) {
    int rows = op == OP_N ? m : n, k = op == OP_N ? n : m;
    if (!incx || !incy) return INVALID;
    if (incx < 0 || incy < 0) {
        cudart_unsupported("cublas gemv of vectors with negative steps");
        return NOT_SUPPORTED;
    }
    /* x is the row of a (incx, k) matrix, y that of a (incy, rows) one: both transposed, (y)T = (x)T op(a)T */
    return product(OP_N, op == OP_N ? OP_T : OP_N, 1, rows, k, blas_scalar(alpha, type),
                   (struct matrix){(void *)(uintptr_t)x, type, 0, 0, incx, 0},
                   (struct matrix){(void *)(uintptr_t)a, type, 0, 0, lda, 0},
                   blas_scalar(beta, type), (struct matrix){y, type, 0, 0, incy, 0}, 1);
}
#define GEMV(name, type)                                                                           \
    EXPORT int cublas##name(struct blas_handle *h, int op, int m, int n, const void *alpha,        \
                            const void *a, int lda, const void *x, int incx, const void *beta,     \
                            void *y, int incy) {                                                   \
        return IN_STREAM(h, gemv(op, m, n, alpha, a, lda, x, incx, beta, y, incy, type));          \
    }
GEMV(Sgemv_v2, R_32F)
GEMV(Dgemv_v2, R_64F)

/* Copies: of n elements with steps, and of (rows, columns) matrices; at once, or as a node of g. */
static int copy(cudaGraph_t g, size_t columns, size_t bytes, const char *from, size_t from_step,
                char *to, size_t to_step, enum cudaMemcpyKind kind) {
    enum { MAPPING_ERROR = 11 };
    cudaError_t e;
    if (g)
        return graph_add_copy(g, to, to_step, from, from_step, bytes, columns, kind) ? MAPPING_ERROR
                                                                                     : FINE;
    struct session *s = cudart_enter(&e);
    if (!s) return FAILED;
    for (size_t c = 0; c < columns && !e; c++)
        e = memory_copy(s, to + c * to_step, from + c * from_step, bytes, kind);
    return cudart_leave(e) ? MAPPING_ERROR : FINE;
}
static int copy_vector(cudaGraph_t g, int n, int bytes, const void *x, int incx, void *y, int incy,
                       enum cudaMemcpyKind kind) {
    if (n < 0 || bytes < 1 || incx < 1 || incy < 1) return INVALID;
    size_t size = (size_t)bytes, all = size * (size_t)n;
    if (incx == 1 && incy == 1) return copy(g, 1, all, x, all, y, all, kind);
    return copy(g, (size_t)n, size, x, size * (size_t)incx, y, size * (size_t)incy, kind);
}
static int copy_matrix(cudaGraph_t g, int rows, int columns, int bytes, const void *a, int lda,
                       void *b, int ldb, enum cudaMemcpyKind kind) {
    if (rows < 0 || columns < 0 || bytes < 1 || lda < rows || ldb < rows) return INVALID;
    size_t size = (size_t)bytes;
    return copy(g, (size_t)columns, size * (size_t)rows, a, size * (size_t)lda, b,
                size * (size_t)ldb, kind);
}
#define COPIES(name, kind)                                                                         \
    EXPORT int cublas##name##Vector(int n, int bytes, const void *x, int incx, void *y,            \
                                    int incy) {                                                    \
        return copy_vector(NULL, n, bytes, x, incx, y, incy, kind);                                \
    }                                                                                              \
    EXPORT int cublas##name##Matrix(int rows, int columns, int bytes, const void *a, int lda,      \
                                    void *b, int ldb) {                                            \
        return copy_matrix(NULL, rows, columns, bytes, a, lda, b, ldb, kind);                      \
    }                                                                                              \
    EXPORT int cublas##name##VectorAsync(int n, int bytes, const void *x, int incx, void *y,       \
                                         int incy, void *stream) {                                 \
        cudaGraph_t g = graph_capturing(stream);                                                   \
        stream_enter(stream);                                                                      \
        return (int)stream_leave((cudaError_t)copy_vector(g, n, bytes, x, incx, y, incy, kind));   \
    }                                                                                              \
    EXPORT int cublas##name##MatrixAsync(int rows, int columns, int bytes, const void *a, int lda, \
                                         void *b, int ldb, void *stream) {                         \
        cudaGraph_t g = graph_capturing(stream);                                                   \
        stream_enter(stream);                                                                      \
        return (int)stream_leave(                                                                  \
            (cudaError_t)copy_matrix(g, rows, columns, bytes, a, lda, b, ldb, kind));              \
    }
COPIES(Set, cudaMemcpyHostToDevice)
COPIES(Get, cudaMemcpyDeviceToHost)
