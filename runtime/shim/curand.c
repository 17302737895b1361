/* cuRAND's host calls. The toolkit's own library makes the numbers, by its generators of the host, whose sequences are
 * those of the device; they are written where the program wants them. Not every toolkit has its header: types are plain
 * integers and pointers, said again here. */
#include "cudart.h"

#include "common/base/reason.h"
#include "common/base/toolkit.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FINE = 0,
    NOT_INITIALIZED = 101,
    ALLOCATION_FAILED = 102,
    OUT_OF_RANGE = 104,
    LAUNCH_FAILURE = 201,
    INITIALIZATION_FAILED = 203
};

struct generator {
    void *real;   /* the library's */
    bool on_host; /* the program's own: it writes to host memory */
    void *stream;
};

/* ---- The library ----------------------------------------------------------------------------- */

static const char *find_library(char out[PATH_MAX]) {
    static const char *const folders[] = {"lib", "lib64", "targets/x86_64-linux/lib",
                                          "targets/sbsa-linux/lib"};
    char ptxas[PATH_MAX];
    const char *why = toolkit_find("ptxas", ptxas, sizeof ptxas);
    if (why) return why;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const int n = (int)(strlen(ptxas) - strlen("/bin/ptxas"));
        snprintf(out, PATH_MAX, "%.*s/%s/libcurand.so.10", n > 0 ? n : 0, ptxas, folders[i]);
        if (!access(out, R_OK)) return NULL;
    }
    return reason("the CUDA toolkit of %s has no libcurand.so.10: install it", ptxas);
}

/* A function of it; NULL: said, there is none. */
static void *function(const char *name) {
    static void *library;
    static bool tried;
    char path[PATH_MAX];
    if (!tried) {
        const char *why = find_library(path);
        if (!why && !(library = dlopen(path, RTLD_NOW | RTLD_LOCAL))) why = dlerror();
        if (why) session_say("cuRAND: %s", why);
        if (why) session_lacks_call();
        tried = true;
    }
    return library ? dlsym(library, name) : NULL;
}

/* `int (*f)(parameters)`, or the call fails. */
#define REAL(f, name, ...)                                                                         \
    int (*f)(__VA_ARGS__);                                                                         \
    void *found_ = function(name);                                                                 \
    if (!found_) return INITIALIZATION_FAILED;                                                     \
    memcpy(&(f), &found_, sizeof found_)

/* ---- Generators ------------------------------------------------------------------------------ */

static int create(struct generator **out, int type, bool on_host) {
    REAL(real, "curandCreateGeneratorHost", void **, int);
    if (!out) return NOT_INITIALIZED;
    struct generator *g = calloc(1, sizeof *g);
    if (!g) return ALLOCATION_FAILED;
    const int status = real(&g->real, type);
    g->on_host = on_host;
    if (status) free(g);
    if (!status) *out = g;
    return status;
}

EXPORT int curandCreateGenerator(struct generator **out, int type) {
    return create(out, type, false);
}
EXPORT int curandCreateGeneratorHost(struct generator **out, int type) {
    return create(out, type, true);
}
EXPORT int curandDestroyGenerator(struct generator *g) {
    REAL(real, "curandDestroyGenerator", void *);
    if (!g) return NOT_INITIALIZED;
    const int status = real(g->real);
    free(g);
    return status;
}
EXPORT int curandSetStream(struct generator *g, void *stream) {
    if (!g) return NOT_INITIALIZED;
    g->stream = stream;
    return FINE;
}

#define SETTER(name, type)                                                                         \
    EXPORT int name(struct generator *g, type value) {                                             \
        REAL(real, #name, void *, type);                                                           \
        return g ? real(g->real, value) : NOT_INITIALIZED;                                         \
    }
SETTER(curandSetPseudoRandomGeneratorSeed, unsigned long long)
SETTER(curandSetGeneratorOffset, unsigned long long)
SETTER(curandSetGeneratorOrdering, int)
SETTER(curandSetQuasiRandomGeneratorDimensions, unsigned)

EXPORT int curandGenerateSeeds(struct generator *g) {
    REAL(real, "curandGenerateSeeds", void *);
    return g ? real(g->real) : NOT_INITIALIZED;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* The program's [out, out + bytes) is about to be written: where it lies. NULL: that is no device memory, or no time for it. */
static void *begin(const struct generator *g, const char *what, void *out, size_t bytes) {
    cudaError_t e;
    struct session *s = cudart_enter(&e);
    if (!s) return NULL;
    const bool captured = graph_any_capture();
    if (captured) cudart_unsupported("a call of cuRAND in a graph");
    if (captured || !emu_memory_at(s->memory, (uint64_t)(uintptr_t)out, bytes)) {
        cudart_leave(cudaSuccess);
        return NULL;
    }
    stream_enter(g->stream);
    stream_operation(s, what, false);
    session_before_write(s, out, bytes);
    stream_uses(ORDER_WRITE, out, bytes);
    emu_memory_written(s->memory, (uint64_t)(uintptr_t)out, bytes);
    session_busy(true);
    return session_place(s, out);
}

static int end(int status) {
    session_busy(false);
    stream_leave(cudaSuccess);
    cudart_leave(cudaSuccess);
    return status;
}

#define GENERATE(name, type, parameters, ...)                                                      \
    EXPORT int name(struct generator *g, type *out, size_t n UNPACK parameters) {                  \
        REAL(real, #name, void *, type *, size_t UNPACK parameters);                               \
        if (!g) return NOT_INITIALIZED;                                                            \
        if (!n) return FINE;                                                                       \
        if (n > SIZE_MAX / sizeof *out) return OUT_OF_RANGE;                                       \
        if (g->on_host) return real(g->real, out, n __VA_ARGS__);                                  \
        out = begin(g, #name, out, n * sizeof *out);                                               \
        if (!out) return LAUNCH_FAILURE;                                                           \
        return end(real(g->real, out, n __VA_ARGS__));                                             \
    }
#define UNPACK(...) __VA_ARGS__
GENERATE(curandGenerate, unsigned, ())
GENERATE(curandGenerateLongLong, unsigned long long, ())
GENERATE(curandGenerateUniform, float, ())
GENERATE(curandGenerateUniformDouble, double, ())
GENERATE(curandGenerateNormal, float, (, float mean, float deviation), , mean, deviation)
GENERATE(curandGenerateNormalDouble, double, (, double mean, double deviation), , mean, deviation)
GENERATE(curandGenerateLogNormal, float, (, float mean, float deviation), , mean, deviation)
GENERATE(curandGenerateLogNormalDouble, double, (, double mean, double deviation), , mean,
         deviation)
GENERATE(curandGeneratePoisson, unsigned, (, double lambda), , lambda)

/* ---- The rest -------------------------------------------------------------------------------- */

#define FORWARD(name, ta, a, tb, b)                                                                \
    EXPORT int name(ta a, tb b) {                                                                  \
        REAL(real, #name, ta, tb);                                                                 \
        return real(a, b);                                                                         \
    }
FORWARD(curandGetProperty, int, which, int *, out)
FORWARD(curandGetDirectionVectors32, void **, out, int, set)
FORWARD(curandGetDirectionVectors64, void **, out, int, set)

EXPORT int curandGetVersion(int *out) {
    REAL(real, "curandGetVersion", int *);
    return real(out);
}
EXPORT int curandGetScrambleConstants32(void **out) {
    REAL(real, "curandGetScrambleConstants32", void **);
    return real(out);
}
EXPORT int curandGetScrambleConstants64(void **out) {
    REAL(real, "curandGetScrambleConstants64", void **);
    return real(out);
}

/* They live in device memory, in a form of the library's own. */
EXPORT int curandCreatePoissonDistribution(double lambda, void **out) {
    (void)lambda, (void)out;
    cudart_unsupported("curandCreatePoissonDistribution");
    return INITIALIZATION_FAILED;
}
EXPORT int curandDestroyDistribution(void *distribution) {
    (void)distribution;
    cudart_unsupported("curandDestroyDistribution");
    return INITIALIZATION_FAILED;
}
