/* A CUDA program that is linked with the driver of cuda.c. It launches
 *
 *   scale     twice on 4 blocks of 64 threads, the second time with $NUMBER for its last argument, once on 8
 *             (cuLaunchKernel)
 *   reduce    once, in the new way (cuLaunchKernelEx), in clusters of 2, with 1 KiB of shared memory
 *   a graph   once
 *   scale     of another module, with $REGISTERS, if that is set
 *
 * then prints "done" and exits with its argument, or 0. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

static void check(CUresult result, const char *call) {
    if (!result) return;
    fprintf(stderr, "gpu_program: %s: %d\n", call, result);
    exit(9);
}
#define CHECK(call) check(call, #call)

static CUmodule load(const char *image) {
    CUmodule module;
    CHECK(cuModuleLoadData(&module, image));
    return module;
}

static CUfunction find(CUmodule module, const char *symbol) {
    CUfunction f;
    CHECK(cuModuleGetFunction(&f, module, symbol));
    return f;
}

static void launch(CUfunction f, unsigned blocks, int number) {
    void *array = NULL, *arguments[] = {&array, &number};
    CHECK(cuLaunchKernel(f, blocks, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
}

static void launch_in_clusters(CUfunction f) {
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
    CHECK(cuLaunchKernelEx(&config, f, NULL, NULL));
}

static void launch_graph(void) {
    CUgraph graph;
    CUgraphExec exec;
    CHECK(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuStreamEndCapture(NULL, &graph));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, NULL));
}

int main(int argc, char **argv) {
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CUmodule module = load("fake");
    CUfunction scale = find(module, "_Z5scalePfi");
    launch(scale, 4, 1);
    launch(scale, 4, getenv("NUMBER") ? atoi(getenv("NUMBER")) : 1);
    launch(scale, 8, 1);
    launch_in_clusters(find(module, "_Z6reducePf"));
    launch_graph();
    if (getenv("REGISTERS")) {
        char image[32];
        snprintf(image, sizeof image, "fake:%s", getenv("REGISTERS"));
        launch(find(load(image), "_Z5scalePfi"), 4, 1);
    }
    puts("done");
    return argc > 1 ? atoi(argv[1]) : 0;
}
