/* The part of cuBLASLt that fuses a product with its bias and activation: descriptors, layouts, one algorithm. */
#include "blas.h"

#include <stdlib.h>
#include <string.h>

/* ---- Descriptors ----------------------------------------------------------------------------- */

/* The numbers are those of cuBLASLt's header; an attribute lies at its own place, and is as large as there. */
enum {
    LAYOUT_TYPE,
    LAYOUT_ORDER,
    LAYOUT_ROWS,
    LAYOUT_COLUMNS,
    LAYOUT_LD,
    LAYOUT_BATCH,
    LAYOUT_STRIDE,
    N_LAYOUT
};
enum {
    DESC_COMPUTE,
    DESC_SCALE,
    DESC_POINTERS,
    DESC_OP_A,
    DESC_OP_B,
    DESC_OP_C,
    DESC_FILL,
    DESC_EPILOGUE,
    DESC_BIAS,
    DESC_BIAS_TYPE = 26,
    N_DESC
};
enum { EPILOGUE_DEFAULT = 1, EPILOGUE_RELU = 2, EPILOGUE_BIAS = 4, EPILOGUE_GELU = 32 };
static const unsigned char layout_bytes[N_LAYOUT] = {4, 4, 8, 8, 8, 4, 8},
                           desc_bytes[N_DESC] = {4, 4, 4, 4, 4, 4, 4, 4, 8, [DESC_BIAS_TYPE] = 4};

struct layout {
    int64_t value[N_LAYOUT];
};
struct desc {
    int64_t value[N_DESC];
};

static int set(int64_t *value, const unsigned char *sizes, int n, int attribute, const void *from,
               size_t bytes, const char *what) {
    if (!value || !from) return INVALID;
    if (attribute < 0 || attribute >= n || !sizes[attribute]) {
        session_say("attribute %d of %s is not supported", attribute, what);
        return NOT_SUPPORTED;
    }
    if (bytes != sizes[attribute]) return INVALID;
    value[attribute] = 0;
    memcpy(&value[attribute], from, bytes);
    return FINE;
}

static int get(const int64_t *value, const unsigned char *sizes, int n, int attribute, void *to,
               size_t bytes, size_t *written) {
    if (!value || attribute < 0 || attribute >= n || !sizes[attribute]) return INVALID;
    if (written) *written = sizes[attribute];
    if (!bytes && written) return FINE;
    if (!to || bytes != sizes[attribute]) return INVALID;
    memcpy(to, &value[attribute], bytes);
    return FINE;
}

EXPORT int cublasLtMatrixLayoutCreate(struct layout **out, int type, uint64_t rows,
                                      uint64_t columns, int64_t ld) {
    struct layout *l = out ? calloc(1, sizeof *l) : NULL;
    if (!l) return out ? ALLOC_FAILED : INVALID;
    *l = (struct layout){{type, 0, (int64_t)rows, (int64_t)columns, ld, 1, 0}};
    *out = l;
    return FINE;
}
EXPORT int cublasLtMatrixLayoutDestroy(struct layout *l) {
    free(l);
    return FINE;
}
EXPORT int cublasLtMatrixLayoutSetAttribute(struct layout *l, int attribute, const void *from,
                                            size_t bytes) {
    return set(l ? l->value : NULL, layout_bytes, N_LAYOUT, attribute, from, bytes,
               "cublasLtMatrixLayout");
}
EXPORT int cublasLtMatrixLayoutGetAttribute(struct layout *l, int attribute, void *to, size_t bytes,
                                            size_t *written) {
    return get(l ? l->value : NULL, layout_bytes, N_LAYOUT, attribute, to, bytes, written);
}

EXPORT int cublasLtMatmulDescCreate(struct desc **out, int compute, int scale) {
    struct desc *d = out ? calloc(1, sizeof *d) : NULL;
    if (!d) return out ? ALLOC_FAILED : INVALID;
    d->value[DESC_COMPUTE] = compute;
    d->value[DESC_SCALE] = scale;
    d->value[DESC_EPILOGUE] = EPILOGUE_DEFAULT;
    d->value[DESC_FILL] = 2;       /* full */
    d->value[DESC_BIAS_TYPE] = -1; /* the output's */
    *out = d;
    return FINE;
}
EXPORT int cublasLtMatmulDescDestroy(struct desc *d) {
    free(d);
    return FINE;
}
EXPORT int cublasLtMatmulDescSetAttribute(struct desc *d, int attribute, const void *from,
                                          size_t bytes) {
    return set(d ? d->value : NULL, desc_bytes, N_DESC, attribute, from, bytes,
               "cublasLtMatmulDesc");
}
EXPORT int cublasLtMatmulDescGetAttribute(struct desc *d, int attribute, void *to, size_t bytes,
                                          size_t *written) {
    return get(d ? d->value : NULL, desc_bytes, N_DESC, attribute, to, bytes, written);
}

/* ---- The algorithm --------------------------------------------------------------------------- */

/* There is one, which has no preferences. */
EXPORT int cublasLtMatmulPreferenceCreate(void **out) {
    if (!out) return INVALID;
    *out = calloc(1, 8);
    return *out ? FINE : ALLOC_FAILED;
}
EXPORT int cublasLtMatmulPreferenceDestroy(void *p) {
    free(p);
    return FINE;
}
EXPORT int cublasLtMatmulPreferenceSetAttribute(void *p, int attribute, const void *from,
                                                size_t bytes) {
    (void)attribute, (void)bytes;
    return p && from ? FINE : INVALID;
}

struct heuristic_result {
    uint64_t algorithm[8];
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
};
EXPORT int cublasLtMatmulAlgoGetHeuristic(void *handle, const struct desc *d,
                                          const struct layout *a, const struct layout *b,
                                          const struct layout *c, const struct layout *out,
                                          void *preference, int wanted,
                                          struct heuristic_result *results, int *found) {
    (void)handle, (void)preference;
    if (!d || !a || !b || !c || !out || wanted < 1 || !results || !found) return INVALID;
    memset(results, 0, sizeof *results);
    results->waves = 1;
    *found = 1;
    return FINE;
}

static struct matrix matrix_of(const struct layout *l, const void *at) {
    return (struct matrix){(void *)(uintptr_t)at, (int)l->value[LAYOUT_TYPE], 0, 0,
                           l->value[LAYOUT_LD],   l->value[LAYOUT_STRIDE]};
}

/* What there is: column-major, alpha and beta of the host, bias, ReLU and GELU. */
static bool supported(const struct desc *d, const struct layout *const layout[4]) {
    const int64_t *v = d->value,
                  known = EPILOGUE_DEFAULT | EPILOGUE_RELU | EPILOGUE_BIAS | EPILOGUE_GELU;
    if (v[DESC_EPILOGUE] & ~known)
        session_say("epilogue %d of cublasLtMatmul is not supported", (int)v[DESC_EPILOGUE]);
    bool fine =
        !(v[DESC_EPILOGUE] & ~known) && !v[DESC_POINTERS] && !v[DESC_OP_C] && v[DESC_FILL] == 2;
    for (int n = 0; n < 4; n++) fine &= !layout[n]->value[LAYOUT_ORDER];
    if (!fine)
        session_say("cublasLtMatmul has column-major operands, scalars of the host, bias, ReLU and "
                    "GELU only");
    return fine;
}

EXPORT int cublasLtMatmul(void *handle, const struct desc *d, const void *alpha, const void *a,
                          const struct layout *a_is, const void *b, const struct layout *b_is,
                          const void *beta, const void *c, const struct layout *c_is, void *out,
                          const struct layout *out_is, const void *algorithm, void *workspace,
                          size_t workspace_bytes, void *stream) {
    (void)handle, (void)algorithm, (void)workspace, (void)workspace_bytes;
    if (!d || !a_is || !b_is || !c_is || !out_is || !alpha || !beta) return INVALID;
    if (!supported(d, (const struct layout *[]){a_is, b_is, c_is, out_is})) return NOT_SUPPORTED;
    const int64_t *v = d->value, epilogue = v[DESC_EPILOGUE];
    struct blas_product p;
    memset(&p, 0, sizeof p);
    p.op_a = (int)v[DESC_OP_A], p.op_b = (int)v[DESC_OP_B];
    p.m = (int)out_is->value[LAYOUT_ROWS], p.n = (int)out_is->value[LAYOUT_COLUMNS];
    p.k = (int)a_is->value[p.op_a == OP_N ? LAYOUT_COLUMNS : LAYOUT_ROWS];
    if (a_is->value[p.op_a == OP_N ? LAYOUT_ROWS : LAYOUT_COLUMNS] != p.m ||
        b_is->value[p.op_b == OP_N ? LAYOUT_ROWS : LAYOUT_COLUMNS] != p.k ||
        b_is->value[p.op_b == OP_N ? LAYOUT_COLUMNS : LAYOUT_ROWS] != p.n)
        return INVALID;
    p.alpha = blas_scalar(alpha, (int)v[DESC_SCALE]),
    p.beta = blas_scalar(beta, (int)v[DESC_SCALE]);
    p.a = matrix_of(a_is, a), p.b = matrix_of(b_is, b);
    p.c = matrix_of(c_is, c), p.d = matrix_of(out_is, out);
    p.batch = (int)out_is->value[LAYOUT_BATCH];
    p.activation = epilogue & EPILOGUE_RELU   ? ACTIVATION_RELU
                   : epilogue & EPILOGUE_GELU ? ACTIVATION_GELU
                                              : ACTIVATION_NONE;
    if (epilogue & EPILOGUE_BIAS) {
        p.bias.at = (void *)(uintptr_t)v[DESC_BIAS];
        p.bias.type = v[DESC_BIAS_TYPE] < 0 ? p.d.type : (int)v[DESC_BIAS_TYPE];
        p.bias.ld = p.m;
    }
    stream_enter(stream);
    return (int)stream_leave((cudaError_t)blas_multiply(p));
}
