/* cuBLAS beside products: vectors (level 1), sums of matrices, triangular systems, and versions. Vectors are as BLAS has
 * them: element n lies incx elements behind the one before it, and with a negative step the first one lies last. */
#include "blas.h"

#include <library_types.h>
#include <math.h>
#include <string.h>

struct vector { /* of n elements, `step` apart */
    char *at;   /* element 0 */
    int64_t n, step;
    bool wide; /* double, else float */
};

static struct vector vector(const void *at, int n, int step, bool wide) {
    int64_t size = wide ? 8 : 4, first = step < 0 ? (int64_t)(1 - n) * step : 0;
    return (struct vector){(char *)(uintptr_t)at + first * size, n, step, wide};
}

static double get(struct vector v, int64_t i) {
    const char *at = v.at + i * v.step * (v.wide ? 8 : 4);
    double d;
    float f;
    memcpy(&d, at, v.wide ? 8 : 4);
    memcpy(&f, at, 4);
    return v.wide ? d : (double)f;
}

static void put(struct vector v, int64_t i, double x) {
    char *at = v.at + i * v.step * (v.wide ? 8 : 4);
    float f = (float)x;
    memcpy(at, v.wide ? (void *)&x : (void *)&f, v.wide ? 8 : 4);
}

/* ---- What a call uses ------------------------------------------------------------------------ */

static struct session *enter(const char *what) {
    cudaError_t e;
    struct session *s = cudart_enter(&e);
    if (!s) return NULL;
    if (graph_any_capture()) {
        cudart_unsupported("a call of cuBLAS in a graph");
        cudart_leave(cudaSuccess);
        return NULL;
    }
    stream_operation(s, what, false);
    return s;
}

/* All of its bytes, from the first element to the last, which is found at v->at then; false: they are no device memory. */
static bool use(struct session *s, struct vector *v, bool writes) {
    const int64_t size = v->wide ? 8 : 4, span = (v->n - 1) * v->step * size;
    char *low = span < 0 ? v->at + span : v->at;
    size_t bytes = (size_t)((span < 0 ? -span : span) + size);
    if (v->n < 1) return true;
    if (!emu_memory_at(s->memory, (uint64_t)(uintptr_t)low, bytes)) return false;
    session_before_read(s, low, bytes);
    if (writes) session_before_write(s, low, bytes);
    for (int64_t i = 0; i < v->n; i++) {
        char *at = v->at + i * v->step * size;
        stream_uses(writes ? ORDER_WRITE : ORDER_READ, at, (size_t)size);
        if (writes) emu_memory_written(s->memory, (uint64_t)(uintptr_t)at, (uint64_t)size);
    }
    v->at = session_place(s, v->at);
    return true;
}

/* A number for the program, in its own memory, for which it waits, or in the device's. */
static void answer(struct session *s, void *out, const void *value, size_t bytes) {
    const uint64_t at = (uint64_t)(uintptr_t)out;
    if (emu_memory_at(s->memory, at, bytes)) {
        stream_uses(ORDER_WRITE, out, bytes);
        emu_memory_written(s->memory, at, bytes);
    } else {
        stream_waits_for_operation();
    }
    memcpy(session_place(s, out), value, bytes);
}

static int leave(bool fine) {
    cudart_leave(cudaSuccess);
    return fine ? FINE : FAILED;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

enum vector_change { AXPY, SCAL, COPY, SWAP };

static int change(enum vector_change what, double alpha, struct vector x, struct vector y) {
    static const char *const names[] = {"axpy of cuBLAS", "scal of cuBLAS", "copy of cuBLAS",
                                        "swap of cuBLAS"};
    struct session *s = enter(names[what]);
    if (!s) return NOT_SUPPORTED;
    bool fine = use(s, &x, what == SCAL || what == SWAP) && (what == SCAL || use(s, &y, true));
    for (int64_t i = 0; fine && i < x.n; i++) {
        double a = get(x, i), b = what == SCAL ? 0 : get(y, i);
        if (what == SCAL) put(x, i, alpha * a);
        if (what == AXPY) put(y, i, alpha * a + b);
        if (what == COPY || what == SWAP) put(y, i, a);
        if (what == SWAP) put(x, i, b);
    }
    return leave(fine);
}

enum measure { DOT, NRM2, ASUM, AMAX, AMIN };

static int measure(enum measure what, struct vector x, struct vector y, void *out) {
    static const char *const names[] = {"dot of cuBLAS", "nrm2 of cuBLAS", "asum of cuBLAS",
                                        "amax of cuBLAS", "amin of cuBLAS"};
    struct session *s = out ? enter(names[what]) : NULL;
    if (!s) return out ? NOT_SUPPORTED : INVALID;
    bool fine = use(s, &x, false) && (what != DOT || use(s, &y, false)), index = what >= AMAX;
    double sum = 0, best = 0;
    int at = 0; /* from 1 on; 0: of nothing */
    for (int64_t i = 0; fine && i < x.n; i++) {
        double a = get(x, i), size = fabs(a);
        sum += what == DOT ? a * get(y, i) : what == NRM2 ? a * a : size;
        if (!at || (what == AMAX ? size > best : size < best)) best = size, at = (int)i + 1;
    }
    if (what == NRM2) sum = sqrt(sum);
    float narrow = (float)sum;
    if (fine && index) answer(s, out, &at, sizeof at);
    if (fine && !index) answer(s, out, x.wide ? (void *)&sum : &narrow, x.wide ? 8 : 4);
    return leave(fine);
}

#define VECTORS(t, type, wide)                                                                     \
    EXPORT int cublas##t##axpy_v2(struct blas_handle *h, int n, const type *alpha, const type *x,  \
                                  int incx, type *y, int incy) {                                   \
        return IN_STREAM(h, change(AXPY, blas_scalar(alpha, wide ? R_64F : R_32F),                 \
                                   vector(x, n, incx, wide), vector(y, n, incy, wide)));           \
    }                                                                                              \
    EXPORT int cublas##t##scal_v2(struct blas_handle *h, int n, const type *alpha, type *x,        \
                                  int incx) {                                                      \
        struct vector all = vector(x, n, incx < 0 ? 0 : incx, wide);                               \
        if (incx <= 0) return FINE; /* as in BLAS */                                               \
        return IN_STREAM(h, change(SCAL, blas_scalar(alpha, wide ? R_64F : R_32F), all, all));     \
    }                                                                                              \
    EXPORT int cublas##t##copy_v2(struct blas_handle *h, int n, const type *x, int incx, type *y,  \
                                  int incy) {                                                      \
        return IN_STREAM(h, change(COPY, 0, vector(x, n, incx, wide), vector(y, n, incy, wide)));  \
    }                                                                                              \
    EXPORT int cublas##t##swap_v2(struct blas_handle *h, int n, type *x, int incx, type *y,        \
                                  int incy) {                                                      \
        return IN_STREAM(h, change(SWAP, 0, vector(x, n, incx, wide), vector(y, n, incy, wide)));  \
    }                                                                                              \
    EXPORT int cublas##t##dot_v2(struct blas_handle *h, int n, const type *x, int incx,            \
                                 const type *y, int incy, type *out) {                             \
        return IN_STREAM(h,                                                                        \
                         measure(DOT, vector(x, n, incx, wide), vector(y, n, incy, wide), out));   \
    }
VECTORS(S, float, false)
VECTORS(D, double, true)

#define MEASURE(name, type, out_type, wide, what)                                                  \
    EXPORT int cublas##name##_v2(struct blas_handle *h, int n, const type *x, int incx,            \
                                 out_type *out) {                                                  \
        struct vector all = vector(x, incx > 0 ? n : 0, incx > 0 ? incx : 1, wide);                \
        return IN_STREAM(h, measure(what, all, all, out));                                         \
    }
MEASURE(Snrm2, float, float, false, NRM2)
MEASURE(Dnrm2, double, double, true, NRM2)
MEASURE(Sasum, float, float, false, ASUM)
MEASURE(Dasum, double, double, true, ASUM)
MEASURE(Isamax, float, int, false, AMAX)
MEASURE(Idamax, double, int, true, AMAX)
MEASURE(Isamin, float, int, false, AMIN)
MEASURE(Idamin, double, int, true, AMIN)

/* ---- Matrices -------------------------------------------------------------------------------- */

static bool use_columns(struct session *s, const void *at, int rows, int columns, int ld, bool wide,
                        bool writes) {
    bool fine = true;
    for (int c = 0; c < columns && fine; c++) {
        struct vector v =
            vector((const char *)at + (int64_t)c * ld * (wide ? 8 : 4), rows, 1, wide);
        fine = use(s, &v, writes);
    }
    return fine;
}

/* One side of a sum: op(at), as a matrix of the result's shape. */
static struct vector column(const void *at, int op, int ld, int c, int rows, bool wide) {
    int64_t size = wide ? 8 : 4, begin = op == OP_N ? (int64_t)c * ld : c;
    return (struct vector){(char *)(uintptr_t)at + begin * size, rows, op == OP_N ? 1 : ld, wide};
}

/* c = alpha op(a) + beta op(b), (m, n); c may be a or b, if that is not transposed. */
static int geam(int op_a, int op_b, int m, int n, double alpha, const void *a, int lda, double beta,
                const void *b, int ldb, void *c, int ldc, bool wide) {
    bool in_a = alpha != 0, in_b = beta != 0;
    if (m < 0 || n < 0 || ldc < m || (in_a && lda < (op_a == OP_N ? m : n)) ||
        (in_b && ldb < (op_b == OP_N ? m : n)) || (c == a && in_a && op_a != OP_N) ||
        (c == b && in_b && op_b != OP_N))
        return INVALID;
    struct session *s = enter("geam of cuBLAS");
    if (!s) return NOT_SUPPORTED;
    bool fine = (!in_a ||
                 use_columns(s, a, op_a == OP_N ? m : n, op_a == OP_N ? n : m, lda, wide, false)) &&
                (!in_b ||
                 use_columns(s, b, op_b == OP_N ? m : n, op_b == OP_N ? n : m, ldb, wide, false)) &&
                use_columns(s, c, m, n, ldc, wide, true);
    a = session_place(s, a), b = session_place(s, b), c = session_place(s, c);
    for (int col = 0; col < n && fine; col++) {
        struct vector x = column(a, op_a, lda, col, m, wide),
                      y = column(b, op_b, ldb, col, m, wide),
                      z = column(c, OP_N, ldc, col, m, wide);
        for (int64_t r = 0; r < m; r++)
            put(z, r, (in_a ? alpha * get(x, r) : 0) + (in_b ? beta * get(y, r) : 0));
    }
    return leave(fine);
}

typedef void trsm_function(const char *side, const char *fill, const char *op, const char *diagonal,
                           const int *m, const int *n, const void *alpha, const void *a,
                           const int *lda, void *b, const int *ldb);

/* Solves op(a) x = alpha b, or x op(a) = alpha b; x takes the place of b, (m, n). */
static int trsm(const int how[4], int m, int n, double alpha, const void *a, int lda, void *b,
                int ldb, bool wide) {
    static const char letters[4][4] = {"LR", "LU", "NTC", "NU"}; /* side, fill, op, diagonal */
    const int order = how[0] ? n : m;
    trsm_function *solve = NULL;
    if ((how[0] | how[1] | how[3]) & ~1 || (unsigned)how[2] > OP_C || m < 0 || n < 0 ||
        lda < order || ldb < m)
        return INVALID;
    if (!m || !n) return FINE;
    struct session *s = enter("trsm of cuBLAS");
    if (!s) return NOT_SUPPORTED;
    bool there = blas_open(s->settings.emulator.n_threads);
    void *found = there ? blas_symbol(wide ? "dtrsm_" : "strsm_") : NULL;
    memcpy(&solve, &found, sizeof solve);
    bool fine = found && use_columns(s, a, order, order, lda, wide, false) &&
                use_columns(s, b, m, n, ldb, wide, true);
    const float narrow = (float)alpha;
    session_busy(true);
    if (fine)
        solve(&letters[0][how[0]], &letters[1][how[1]], &letters[2][how[2]], &letters[3][how[3]],
              &m, &n, wide ? (const void *)&alpha : &narrow, session_place(s, a), &lda,
              session_place(s, b), &ldb);
    session_busy(false);
    return leave(fine);
}

#define MATRICES(t, type, wide)                                                                    \
    EXPORT int cublas##t##geam(struct blas_handle *h, int op_a, int op_b, int m, int n,            \
                               const type *alpha, const type *a, int lda, const type *beta,        \
                               const type *b, int ldb, type *c, int ldc) {                         \
        return IN_STREAM(h,                                                                        \
                         geam(op_a, op_b, m, n, blas_scalar(alpha, wide ? R_64F : R_32F), a, lda,  \
                              blas_scalar(beta, wide ? R_64F : R_32F), b, ldb, c, ldc, wide));     \
    }                                                                                              \
    EXPORT int cublas##t##trsm_v2(struct blas_handle *h, int side, int fill, int op, int diagonal, \
                                  int m, int n, const type *alpha, const type *a, int lda,         \
                                  type *b, int ldb) {                                              \
        const int how[4] = {side, fill, op, diagonal};                                             \
        return IN_STREAM(                                                                          \
            h, trsm(how, m, n, blas_scalar(alpha, wide ? R_64F : R_32F), a, lda, b, ldb, wide));   \
    }
MATRICES(S, float, false)
MATRICES(D, double, true)

/* ---- Versions: cublasGetVersion_v2 says 13.0.0 ------------------------------------------------ */

EXPORT int cublasGetProperty(libraryPropertyType what, int *out) {
    if (!out || (unsigned)what > PATCH_LEVEL) return INVALID;
    *out = what == MAJOR_VERSION ? 13 : 0;
    return FINE;
}
EXPORT size_t cublasGetCudartVersion(void) { return CUDART_VERSION; }
