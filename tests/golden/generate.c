/* Makes the golden files on a GPU:
 *     generate [--full BYTES] [--only PREFIX] [--from FORM] DIR
 *                                                   runs every form, writes DIR/FAMILY.golden
 *     generate --waves FIRST LAST                   launches wavefront probes, to be run under ncu
 *     generate --list-waves                         their names, one a line
 * A form that faults or hangs costs only itself: the program starts over behind it. README.md has
 * the format of the files. */
#include "forms.h"
#include "waves.h"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *step; /* what was being done when CUDA said no */
#define DO(call) (step = #call, (call) == cudaSuccess)

static void encode_map(const struct golden_map *m, void *base, CUtensorMap *out, int *rc) {
    static PFN_cuTensorMapEncodeTiled_v12000 encode;
    enum cudaDriverEntryPointQueryResult found;
    if (!encode)
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, 0,
                                         &found);
    static PFN_cuTensorMapEncodeIm2col_v12000 encode_im2col;
    if (!encode_im2col)
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", (void **)&encode_im2col, 12000,
                                         0, &found);
    static const CUtensorMapDataType types[2][9] = {
        {[1] = CU_TENSOR_MAP_DATA_TYPE_UINT8,
         [2] = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
         [4] = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
         [8] = CU_TENSOR_MAP_DATA_TYPE_FLOAT64},
        {[4] = CU_TENSOR_MAP_DATA_TYPE_UINT32, [8] = CU_TENSOR_MAP_DATA_TYPE_UINT64}};
    CUtensorMapDataType type = types[m->is_integer][m->element_bytes];
    CUtensorMapSwizzle swizzle = m->swizzle_bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                 : m->swizzle_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                 : m->swizzle_bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                          : CU_TENSOR_MAP_SWIZZLE_NONE;
    cuuint64_t extent[5], stride[5];
    cuuint32_t box[5], step1[5] = {1, 1, 1, 1, 1};
    for (int i = 0; i < 5; i++) extent[i] = m->extent[i], box[i] = m->box[i];
    for (int i = 1; i < 5; i++) stride[i - 1] = m->stride[i];
    if (m->im2col) {
        *rc = (int)encode_im2col(out, type, (cuuint32_t)m->rank, base, extent, stride, m->lower,
                                 m->upper, box[0], box[1], step1, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                 swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        return;
    }
    *rc = (int)encode(out, type, (cuuint32_t)m->rank, base, extent, stride, box, step1,
                      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static int finish(void) { /* waits at most 2 seconds */
    struct timespec ms = {0, 1000000};
    for (int i = 0; i < 2000; i++) {
        cudaError_t e = cudaStreamQuery(0);
        if (e != cudaErrorNotReady) return e == cudaSuccess;
        nanosleep(&ms, NULL);
    }
    step = "hang";
    return 0;
}

static cudaError_t launch(const struct golden_form *f, cudaKernel_t kernel, void **args) {
    cudaLaunchAttribute cluster = {.id = cudaLaunchAttributeClusterDimension,
                                   .val.clusterDim = {(unsigned)f->cluster, 1, 1}};
    cudaLaunchConfig_t config = {.gridDim = {(unsigned)f->n_cases, 1, 1},
                                 .blockDim = {(unsigned)f->threads, 1, 1},
                                 .attrs = &cluster,
                                 .numAttrs = f->cluster > 0};
    if (f->cluster > 8)
        cudaFuncSetAttribute((void *)kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    return cudaLaunchKernelExC(&config, (void *)kernel, args);
}

/* Runs a form and leaves its output in `host`. 0 is failure; see `step`. */
static int run(const struct golden_form *f, const char *ptx, unsigned char *host) {
    size_t in_bytes = f->common_bytes + f->in_bytes * (size_t)f->n_cases;
    size_t out_bytes = f->out_bytes * (size_t)f->n_cases;
    unsigned char *operands = calloc(1, in_bytes);
    void *in, *out;
    CUtensorMap map;
    cudaLibrary_t library;
    cudaKernel_t kernel;
    int map_rc = 0;
    golden_common(f, operands);
    for (int c = 0; c < f->n_cases; c++)
        golden_operands(f, c, operands + f->common_bytes + (size_t)c * f->in_bytes);
    int ok = DO(cudaMalloc(&in, in_bytes + 256)) && DO(cudaMalloc(&out, out_bytes + 256)) &&
             DO(cudaMemcpy(in, operands, in_bytes, cudaMemcpyHostToDevice)) &&
             DO(cudaMemset(out, GOLDEN_POISON, out_bytes)) &&
             DO(cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0)) &&
             DO(cudaLibraryGetKernel(&kernel, library, "golden"));
    if (ok && f->map.rank) encode_map(&f->map, f->map.is_store ? out : in, &map, &map_rc);
    if (map_rc) step = "cuTensorMapEncodeTiled";
    void *args[] = {&in, &out, &map};
    ok = ok && !map_rc && DO(launch(f, kernel, args)) && finish() &&
         DO(cudaMemcpy(host, out, out_bytes, cudaMemcpyDeviceToHost)) &&
         DO(cudaLibraryUnload(library)) && DO(cudaFree(in)) && DO(cudaFree(out));
    free(operands);
    return ok;
}

static void write_form(const char *dir, const struct golden_form *f, const unsigned char *out,
                       size_t full) {
    char path[512];
    snprintf(path, sizeof path, "%s/%.*s.golden", dir, (int)strcspn(f->name, "_"), f->name);
    FILE *o = fopen(path, "a");
    if (!o) {
        perror(path);
        exit(1);
    }
    for (int c = 0; c < f->n_cases; c++, out += f->out_bytes) {
        fprintf(o, "%s %d %016llx", f->name, c, (unsigned long long)golden_hash(out, f->out_bytes));
        if (f->ulps || (size_t)(c + 1) * f->out_bytes <= full) {
            fprintf(o, " ");
            for (size_t i = 0; i < f->out_bytes; i++) fprintf(o, "%02x", out[i]);
        }
        fprintf(o, "\n");
    }
    fclose(o);
}

static int waves(int first, int last) {
    char ptx[8192];
    void *in, *out;
    cudaMalloc(&in, 256 + 65536);
    cudaMalloc(&out, 256);
    cudaMemset(in, 0, 256 + 65536);
    for (int i = first; i <= last && golden_wave(i); i++) {
        const struct golden_wave *w = golden_wave(i);
        cudaLibrary_t library;
        cudaKernel_t kernel;
        void *args[] = {&in, &out};
        golden_wave_ptx(w, ptx, sizeof ptx);
        cudaMemcpy(in, w->offset, sizeof w->offset, cudaMemcpyHostToDevice);
        int ok =
            DO(cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0)) &&
            DO(cudaLibraryGetKernel(&kernel, library, "golden")) &&
            DO(cudaLaunchKernel((void *)kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, args, 0, 0)) &&
            DO(cudaDeviceSynchronize());
        fprintf(stderr, "wave %d %s%s\n", i, w->name, ok ? "" : " FAILED");
        if (!ok) return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    size_t full = 1024;
    const char *only = "";
    int from = 0, at = 1;
    if (argc == 4 && !strcmp(argv[1], "--waves")) return waves(atoi(argv[2]), atoi(argv[3]));
    if (argc == 2 && !strcmp(argv[1], "--list-waves")) {
        for (int i = 0; golden_wave(i); i++) puts(golden_wave(i)->name);
        return 0;
    }
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2)
        if (!strcmp(argv[at], "--full"))
            full = (size_t)atol(argv[at + 1]);
        else if (!strcmp(argv[at], "--only"))
            only = argv[at + 1];
        else if (!strcmp(argv[at], "--from"))
            from = atoi(argv[at + 1]);
    if (at + 1 != argc)
        return fprintf(stderr, "usage: generate [--full BYTES] [--only PREFIX] DIR\n"), 2;
    char *ptx = malloc(GOLDEN_PTX);
    for (int i = from; golden_form(i); i++) {
        const struct golden_form *f = golden_form(i);
        if (strncmp(f->name, only, strlen(only))) continue;
        unsigned char *out = malloc(f->out_bytes * (size_t)f->n_cases);
        golden_ptx(f, ptx);
        if (run(f, ptx, out))
            write_form(argv[at], f, out, full);
        else {
            cudaError_t e = cudaGetLastError();
            printf("FAILED %s: %s: %s\n", f->name, step, cudaGetErrorString(e));
            fflush(stdout);
            char next[16], bytes[32];
            snprintf(next, sizeof next, "%d", i + 1);
            snprintf(bytes, sizeof bytes, "%zu", full);
            execl("/proc/self/exe", argv[0], "--full", bytes, "--only", only, "--from", next,
                  argv[at], (char *)NULL);
        }
        free(out);
    }
    printf("%d forms\n", golden_n_forms());
    free(ptx);
    return 0;
}
