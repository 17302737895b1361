/* A CUDA program and its driver, without a GPU: loads what CUDA_INJECTION64_PATH names, makes a context, and launches
 *
 *   scale     twice on 4 blocks of 64 threads, the second time with $NUMBER for its last argument, once on 8
 *             (cuLaunchKernel)
 *   reduce    once, in the new way (cuLaunchKernelEx), in clusters of 2, with 1 KiB of shared memory
 *   a graph   once
 *
 * then prints "done" and exits with its argument, or 0. */
#include <cuda.h>
#include <cupti_driver_cbid.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*call)(int id, const char *symbol, const void *parameters);

static void *found(void *library, const char *name) {
    void *f = library ? dlsym(library, name) : NULL;
    if (!f) {
        fprintf(stderr, "gpu_program: %s: %s\n", name, dlerror());
        exit(9);
    }
    return f;
}

static void launch(const char *symbol, unsigned blocks, int number) {
    void *array = NULL, *arguments[] = {&array, &number};
    struct {
        CUfunction f;
        unsigned grid[3], block[3], shared_bytes;
        CUstream stream;
        void **arguments, **extra;
    } p = {(CUfunction)&call, {blocks, 1, 1}, {64, 1, 1}, 0, NULL, arguments, NULL};
    call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, symbol, &p);
}

int main(int argc, char **argv) {
    const char *injected = getenv("CUDA_INJECTION64_PATH");
    if (injected) {
        int (*begin)(void);
        void (*context)(void), *f = found(dlopen(injected, RTLD_NOW), "InitializeInjection");
        memcpy(&begin, &f, sizeof f);
        begin();
        void *cupti = dlopen("libcupti.so.13", RTLD_NOW);
        f = found(cupti, "fake_cupti_call");
        memcpy(&call, &f, sizeof f);
        f = found(cupti, "fake_cupti_context");
        memcpy(&context, &f, sizeof f);
        context();
        launch("_Z5scalePfi", 4, 1);
        launch("_Z5scalePfi", 4, getenv("NUMBER") ? atoi(getenv("NUMBER")) : 1);
        launch("_Z5scalePfi", 8, 1);
        CUlaunchAttribute clusters = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                      .value.clusterDim = {2, 1, 1}};
        CUlaunchConfig config = {.attrs = &clusters,
                                 .numAttrs = 1,
                                 .gridDimX = 2,
                                 .gridDimY = 3,
                                 .gridDimZ = 1,
                                 .blockDimX = 32,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .sharedMemBytes = 1024};
        struct {
            const CUlaunchConfig *config;
            CUfunction f;
            void **arguments, **extra;
        } p = {&config, (CUfunction)&call, NULL, NULL};
        call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, "_Z6reducePf", &p);
        call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, NULL, NULL);
    }
    puts("done");
    return argc > 1 ? atoi(argv[1]) : 0;
}
