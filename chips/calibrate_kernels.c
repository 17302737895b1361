/* The tasks that are kernels of chips/bench/{memory,sync,launch}.cu: what is launched with which
 * numbers, and what is written of the outcome. */
#include "calibrate.h"

#include <stdlib.h>
#include <string.h>

enum how {
    SLOTS,    /* out[16 cta + k] for k < n_out */
    RING,     /* a ring of pointers first: c nodes of d bytes, neighbours half of it apart */
    RING_FAR, /* the same, and L2 holds other lines when a launch begins */
    LINES,    /* out[2048 ..]: a latencies */
    STREAMS,  /* cycles, ns at both ends */
    TMA,      /* a tensor map stands where the data pointer is */
    TMA_FAR,  /* the same over more memory than L2 holds */
    CTAS,     /* SM, clocks, ns of each CTA: all of it */
    PAIR,     /* two launches one behind the other */
    PAIR_PDL, /* the second may start before the first has ended */
    CONSTANT,
};

struct calibrate_kernel {
    const char *bench, *variant;
    enum image_name image;
    const char *function;
    enum how how;
    int grid, block, cluster, smem, a, b, c, d, n_out, reps;
};

static const struct calibrate_kernel kernels[] = {
#define K(...) {__VA_ARGS__},
#include "calibrate_kernels.def"
#undef K
};

int kernels_count(void) { return sizeof kernels / sizeof *kernels; }
const char *kernels_bench(int i) { return kernels[i].bench; }
const char *kernels_variant(int i) { return kernels[i].variant; }

static const char *function_of(struct calibrate_bench *b, const struct calibrate_kernel *k,
                               const char *name, CUfunction *f) {
    const char *why = CALL(b, ModuleGetFunction, f, b->module[k->image], name);
    if (why) return why;
    if (k->cluster > 8)
        why = CALL(b, FuncSetAttribute, *f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    if (why || !k->smem) return why;
    return CALL(b, FuncSetAttribute, *f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, k->smem);
}

static const char *launch(struct calibrate_bench *b, const struct calibrate_kernel *k, CUfunction f,
                          void **args, bool overlaps) {
    CUlaunchAttribute attribute[2];
    CUlaunchConfig c = {.gridDimX = k->grid,
                        .gridDimY = 1,
                        .gridDimZ = 1,
                        .blockDimX = k->block,
                        .blockDimY = 1,
                        .blockDimZ = 1,
                        .sharedMemBytes = k->smem,
                        .attrs = attribute};
    if (k->cluster) {
        attribute[c.numAttrs].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attribute[c.numAttrs].value.clusterDim.x = k->cluster;
        attribute[c.numAttrs].value.clusterDim.y = 1;
        attribute[c.numAttrs++].value.clusterDim.z = 1;
    }
    if (overlaps) {
        attribute[c.numAttrs].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attribute[c.numAttrs++].value.programmaticStreamSerializationAllowed = 1;
    }
    return CALL(b, LaunchKernelEx, &c, f, args, NULL);
}

static const char *fetch(struct calibrate_bench *b, uint64_t *host, size_t bytes) {
    const char *why = CALL(b, MemcpyDtoHAsync, host, b->results, bytes, NULL);
    return why ? why : CALL(b, StreamSynchronize, NULL);
}

/* Runs make_ring on the data, or touch on 1 GiB that no other kernel reads, after which L2 holds
 * nothing else. */
static const char *helper(struct calibrate_bench *b, const char *name, int a, int bb, int c) {
    CUfunction f;
    const char *why = CALL(b, ModuleGetFunction, &f, b->module[MEMORY], name);
    if (why) return why;
    int d = 0;
    CUdeviceptr at = b->data + (strcmp(name, "touch") ? 0 : DATA_BYTES - ((size_t)1 << 30));
    void *args[] = {&b->results, &at, &a, &bb, &c, &d};
    CUlaunchConfig config = {.gridDimX = 264,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 256,
                             .blockDimY = 1,
                             .blockDimZ = 1};
    return CALL(b, LaunchKernelEx, &config, f, args, NULL);
}

static const char *tensor_map(struct calibrate_bench *b, const struct calibrate_kernel *k,
                              int n_boxes, CUtensorMap *map) {
    cuuint64_t dims[] = {64, (cuuint64_t)n_boxes * k->a}, strides[] = {128};
    cuuint32_t box[] = {64, k->a}, steps[] = {1, 1};
    return CALL(b, TensorMapEncodeTiled, map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)b->data,
                dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static uint64_t *host; /* RESULT_BYTES */

static void tell_slots(struct calibrate_bench *b, const struct calibrate_kernel *k, double *x,
                       int rep_count) {
    /* x[slot][rep][cta] */
    for (int s = 0; s < k->n_out; s++) {
        char what[32];
        snprintf(what, sizeof what, "out%d", s);
        line(b, k->bench, k->variant, what, x + (size_t)s * rep_count * k->grid,
             rep_count * k->grid, "cycles");
    }
}

/* Medians of slots, over CTAs and launches; times that streams need. */
static const char *run_slots(struct calibrate_bench *b, const struct calibrate_kernel *k) {
    CUfunction f;
    const char *why = function_of(b, k, k->function, &f);
    if (why) return why;
    bool tma = k->how == TMA || k->how == TMA_FAR;
    int a = k->a, bb = k->b, c = k->c, d = k->d;
    long far = ((long)4 << 30) / (128L * (tma ? a : 1)),
         near = ((long)16 << 20) / (128L * (tma ? a : 1));
    int n_boxes = k->how == TMA_FAR ? far : near;
    CUtensorMap map;
    void *plain[] = {&b->results, &b->data, &a, &bb, &c, &d};
    void *with_map[] = {&b->results, &map, &a, &bb, &c, &d, &n_boxes};
    if (tma && (why = tensor_map(b, k, n_boxes, &map))) return why;
    int ring_step = 0;
    if (k->how == RING || k->how == RING_FAR) {
        /* c nodes of d bytes; the step is prime to c where c is a power of two, and far */
        ring_step = k->c > 64 ? (k->c / 2 + 17) | 1 : 1;
        if ((why = helper(b, "make_ring", k->c, k->d, ring_step))) return why;
    }
    int n = k->n_out ? k->n_out : 1;
    double *x = malloc((size_t)n * k->reps * k->grid * sizeof *x);
    double *ns = malloc(k->reps * sizeof *ns);
    if (!x || !ns) return "no memory";
    for (int rep = -1; rep < k->reps && !why; rep++) {
        if (k->how == TMA_FAR || k->how == RING_FAR) /* removes what the last launch left in L2 */
            why = helper(b, "touch", 1 << 30, 0, 0);
        if (!why) why = launch(b, k, f, tma ? with_map : plain, false);
        if (!why) why = fetch(b, host, (size_t)k->grid * 128);
        if (why || rep < 0) continue;
        uint64_t first = ~0ull, last = 0;
        int from = tma ? 3 : 1;
        for (int i = 0; i < k->grid; i++) {
            for (int s = 0; s < n; s++)
                x[((size_t)s * k->reps + rep) * k->grid + i] = host[16 * i + s];
            if (host[16 * i + from] < first) first = host[16 * i + from];
            if (host[16 * i + from + 1] > last) last = host[16 * i + from + 1];
        }
        ns[rep] = last - first;
    }
    if (!why) {
        tell_slots(b, k, x, k->reps);
        if (k->how == STREAMS || tma) {
            double bytes = k->how == STREAMS ? (double)k->grid * k->a * 1024 * k->b
                                             : (double)k->grid * k->a * 128 * (k->b + 0);
            fprintf(b->out, "%s\t%s\tbytes\t%.0f\tbytes\t\t\t1\n", k->bench, k->variant, bytes);
            line(b, k->bench, k->variant, "all", ns, k->reps, "ns");
        }
    }
    free(x);
    free(ns);
    return why;
}

/* Latencies of single lines: the sorted list, thinned. */
static const char *run_lines(struct calibrate_bench *b, const struct calibrate_kernel *k) {
    CUfunction f;
    const char *why = function_of(b, k, k->function, &f);
    int a = k->a, bb = k->b, c = k->c, d = k->d;
    void *args[] = {&b->results, &b->data, &a, &bb, &c, &d};
    if (!why && c == 0) why = helper(b, "touch", 1 << 30, 0, 0); /* L2 holds other lines then */
    if (!why) why = launch(b, k, f, args, false);
    if (!why) why = fetch(b, host, (2048 + (size_t)a) * 8);
    if (why) return why;
    fprintf(b->out, "%s\t%s\tsm\t%lu\t1\t\t\t1\n", k->bench, k->variant, host[0]);
    fprintf(b->out, "%s\t%s\tfirst 64\t", k->bench, k->variant);
    for (int i = 0; i < 64; i++) fprintf(b->out, "%s%lu", i ? " " : "", host[2048 + i]);
    fprintf(b->out, "\tcycles\t\t\t1\n");
    double *x = malloc(a * sizeof *x);
    if (!x) return "no memory";
    for (int i = 0; i < a; i++) x[i] = host[2048 + i];
    line(b, k->bench, k->variant, "latency", x, a, "cycles");
    fprintf(b->out, "%s\t%s\tpercentiles 1 2 5 10 .. 90 95 98 99\t", k->bench, k->variant);
    static const int at[] = {1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99};
    for (int i = 0; i < 15; i++) fprintf(b->out, "%s%g", i ? " " : "", x[(long)a * at[i] / 100]);
    fprintf(b->out, "\tcycles\t\t\t%d\n", a);
    free(x);
    return NULL;
}

/* SM,start ns,start clock,end clock of each CTA: ns since the first start of all, clocks since the
 * first on that SM. */
static void tell_ctas(struct calibrate_bench *b, const struct calibrate_kernel *k, const char *what,
                      uint64_t base_ns) {
    uint64_t first[1024];
    memset(first, 0xff, sizeof first);
    for (int i = 0; i < k->grid; i++) {
        uint64_t *r = host + 16 * i;
        if (r[1] < first[r[0] & 1023]) first[r[0] & 1023] = r[1];
    }
    fprintf(b->out, "%s\t%s\t%s\t", k->bench, k->variant, what);
    for (int i = 0; i < k->grid; i++) {
        uint64_t *r = host + 16 * i, at = first[r[0] & 1023];
        fprintf(b->out, "%s%lu,%lu,%lu,%lu", i ? " " : "", r[0], r[3] - base_ns, r[1] - at,
                r[2] - at);
        if (k->how == PAIR_PDL || k->how == PAIR) fprintf(b->out, ",%lu", r[4] - base_ns);
        if (!strcmp(k->function, "stay_overlapping"))
            fprintf(b->out, ",%lu,%lu", r[5] - base_ns, r[6] - base_ns);
    }
    fprintf(b->out, "\tSM,ns,cycles,cycles\t\t\t1\n");
}

static uint64_t first_ns(int n) {
    uint64_t first = ~0ull;
    for (int i = 0; i < n; i++)
        if (host[16 * i + 3] < first) first = host[16 * i + 3];
    return first;
}

static const char *run_ctas(struct calibrate_bench *b, const struct calibrate_kernel *k) {
    CUfunction f;
    const char *why = function_of(b, k, k->function, &f);
    int a = k->a, bb = k->b, c = k->c, d = k->d;
    CUdeviceptr behind = b->results + ((size_t)4 << 20);
    void *args[] = {&b->results, &b->data, &a, &bb, &c, &d};
    void *second[] = {&behind, &b->data, &a, &bb, &c, &d};
    bool pair = k->how != CTAS;
    for (int rep = 0; rep < k->reps && !why; rep++) {
        why = launch(b, k, f, args, false);
        if (!why && pair) why = launch(b, k, f, second, k->how == PAIR_PDL);
        if (!why) why = fetch(b, host, (size_t)k->grid * 128);
        if (why || rep + 2 < k->reps) continue; /* the last two are told */
        uint64_t base = first_ns(k->grid);
        tell_ctas(b, k, rep + 1 == k->reps ? "ctas" : "ctas before", base);
        if (!pair) continue;
        why = CALL(b, MemcpyDtoHAsync, host, behind, (size_t)k->grid * 128, NULL);
        if (!why) why = CALL(b, StreamSynchronize, NULL);
        if (!why) tell_ctas(b, k, rep + 1 == k->reps ? "second" : "second before", base);
    }
    return why;
}

static const char *run_constants(struct calibrate_bench *b, const struct calibrate_kernel *k) {
    CUfunction f;
    const char *why = function_of(b, k, k->function, &f);
    static int words[960];
    int zero = 0;
    void *args[] = {&b->results, words, &zero};
    for (int rep = 0; rep < 3 && !why; rep++) {
        why = launch(b, k, f, args, false);
        if (!why) why = fetch(b, host, 160 * 8);
        for (int pass = 0; pass < 2 && !why; pass++) {
            fprintf(b->out, "%s\t%s\tlaunch %d pass %d\t", k->bench, k->variant, rep, pass);
            for (int i = 0; i < 60; i++)
                fprintf(b->out, "%s%lu", i ? " " : "", host[16 + 64 * pass + i]);
            fprintf(b->out, "\tcycles\t\t\t1\n");
        }
    }
    return why;
}

const char *kernels_run(struct calibrate_bench *b, int i) {
    const struct calibrate_kernel *k = &kernels[i];
    if (!host && !(host = malloc(RESULT_BYTES))) return "no memory";
    switch (k->how) {
    case LINES:
        return run_lines(b, k);
    case CTAS:
    case PAIR:
    case PAIR_PDL:
        return run_ctas(b, k);
    case CONSTANT:
        return run_constants(b, k);
    default:
        return run_slots(b, k);
    }
}
