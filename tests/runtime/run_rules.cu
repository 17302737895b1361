// What CUDA's guide says of calls that are easily taken to succeed: tests/runtime/test_streams.sh wants 0 wrong.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <string>

static int wrong;
#define IS(x, wanted)                                                                              \
    do {                                                                                           \
        const long long got_ = (long long)(x);                                                     \
        wrong += got_ != (long long)(wanted);                                                      \
        if (got_ != (long long)(wanted))                                                           \
            printf("line %d: %s is %lld, not %lld\n", __LINE__, #x, got_, (long long)(wanted));    \
        cudaGetLastError();                                                                        \
    } while (0)

__global__ void add(int *p, int v) { p[threadIdx.x] += v; }
__global__ void gather(int *p) {
    atomicAdd(p, 1);
    cooperative_groups::this_grid().sync();
}

static void streams() {
    cudaStream_t a, b;
    cudaEvent_t untimed, timed;
    unsigned long long first, second;
    float ms;
    cudaStreamCreate(&a), cudaStreamCreate(&b);
    IS(cudaStreamGetId(a, &first), cudaSuccess);
    IS(cudaStreamGetId(b, &second), cudaSuccess);
    IS(first != second, true);
    cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaEventCreate(&timed);
    cudaEventRecord(untimed), cudaEventRecord(timed);
    IS(cudaEventElapsedTime(&ms, untimed, timed), cudaErrorInvalidResourceHandle);
    IS(cudaStreamGetFlags(a, NULL), cudaErrorInvalidValue);
    IS(cudaStreamGetPriority(a, NULL), cudaErrorInvalidValue);
    IS(cudaStreamIsCapturing(a, NULL), cudaErrorInvalidValue);
}

static void cooperative(int *p) {
    int per_sm, sms, back;
    void *args[] = {&p};
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, gather, 256, 0);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaMemset(p, 0, 4);
    IS(cudaLaunchCooperativeKernel((void *)gather, per_sm * sms + 1, 256, args),
       cudaErrorCooperativeLaunchTooLarge);
    IS(cudaLaunchCooperativeKernel((void *)gather, 4, 256, args), cudaSuccess);
    cudaMemcpy(&back, p, 4, cudaMemcpyDeviceToHost);
    IS(back, 4 * 256);
}

/* 80,000 bytes that no one has to ask for (an H100, CUDA 13.0: a program of foreign freeze 7). */
__global__ void wide(int *p) {
    __shared__ int all[20000];
    for (int i = threadIdx.x; i < 20000; i += blockDim.x) all[i] = i;
    __syncthreads();
    p[threadIdx.x] = all[19999 - 37 * threadIdx.x];
}
static void shared(int *p) {
    int back[2];
    cudaFuncAttributes a;
    wide<<<1, 32>>>(p);
    IS(cudaDeviceSynchronize(), cudaSuccess);
    cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost);
    IS(back[0], 19999);
    IS(back[1], 19962);
    IS(cudaFuncGetAttributes(&a, wide), cudaSuccess);
    IS(a.sharedSizeBytes, 80000);
}

static void graphs(int *p) {
    cudaGraph_t g;
    cudaGraphNode_t root, left, right, list[4], to[4];
    cudaStreamCaptureStatus status;
    cudaStream_t a;
    size_t n;
    int one = 1;
    void *args[] = {&p, &one};
    cudaKernelNodeParams k = {};
    k.func = (void *)add, k.gridDim = 1, k.blockDim = 32, k.kernelParams = args;
    cudaGraphCreate(&g, 0);
    cudaGraphAddKernelNode(&root, g, NULL, 0, &k);
    cudaGraphAddKernelNode(&left, g, &root, 1, &k), cudaGraphAddKernelNode(&right, g, &root, 1, &k);
    IS(cudaGraphGetRootNodes(g, NULL, &n), cudaSuccess);
    IS(n, 1);
    IS(cudaGraphNodeGetDependencies(right, list, NULL, &(n = 4)), cudaSuccess);
    IS(n == 1 && list[0] == root && list[1] == NULL, true);
    IS(cudaGraphNodeGetDependentNodes(root, list, NULL, &(n = 4)), cudaSuccess);
    IS(n == 2 && list[0] == left && list[1] == right, true);
    IS(cudaGraphGetEdges(g, list, to, NULL, &(n = 4)), cudaSuccess);
    IS(n == 2 && list[1] == root && to[1] == right, true);
    // a graph is no node of itself, and only a graph updates another
    cudaGraphExec_t exec;
    IS(cudaGraphAddChildGraphNode(&root, g, NULL, 0, g), cudaErrorInvalidValue);
    IS(cudaGraphGetNodes(g, NULL, &n), cudaSuccess);
    IS(n, 3);
    IS(cudaGraphInstantiate(&exec, g, 0), cudaSuccess);
    IS(cudaGraphLaunch(exec, 0), cudaSuccess);
    IS(cudaGraphExecUpdate(exec, NULL, NULL), cudaErrorInvalidValue);
    IS(cudaGraphExecUpdate(NULL, g, NULL), cudaErrorInvalidValue);
    // the host waits for the device in the middle of a capture
    cudaStreamCreate(&a);
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    add<<<1, 32, 0, a>>>(p, 1);
    IS(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
    IS(cudaStreamIsCapturing(a, &status), cudaSuccess);
    IS(status, cudaStreamCaptureStatusInvalidated);
    IS(cudaStreamEndCapture(a, &g), cudaErrorStreamCaptureInvalidated);
    IS(g == NULL, true);
    IS(cudaDeviceSynchronize(), cudaSuccess);
    cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed);
    IS(cudaDeviceSynchronize(), cudaSuccess);
    IS(cudaStreamEndCapture(a, &g), cudaSuccess);
}

static void memory(int *p) {
    int *pinned, *own = (int *)malloc(4096), *managed;
    void *rows = p;
    size_t pitch;
    cudaMallocHost(&pinned, 64), cudaMallocManaged(&managed, 64);
    IS(cudaFree(pinned), cudaErrorInvalidValue);
    IS(cudaFreeAsync(pinned, 0), cudaErrorInvalidValue);
    IS(cudaFreeHost(p), cudaErrorInvalidValue);
    IS(cudaMemset(p, 0, 4), cudaSuccess); // it is still there
    IS(cudaFreeHost(pinned), cudaSuccess);
    IS(cudaFree(managed), cudaSuccess);
    IS(cudaHostRegister(own, 4096, 0), cudaSuccess);
    IS(cudaFree(own), cudaErrorInvalidValue);
    IS(cudaHostUnregister(own), cudaSuccess);
    IS(cuMemsetD32((CUdeviceptr)p, 1, (size_t)1 << 62), CUDA_ERROR_INVALID_VALUE);
    IS(cudaMallocPitch(&rows, &pitch, (size_t)1 << 20, (size_t)1 << 44), cudaErrorMemoryAllocation);
    cudaPitchedPtr box;
    IS(cudaMalloc3D(&box, make_cudaExtent((size_t)1 << 20, (size_t)1 << 22, (size_t)1 << 22)),
       cudaErrorMemoryAllocation);
}

static void modules(const std::string &folder) {
    CUmodule m;
    CUfunction f;
    CUlaunchConfig c = {};
    IS(cuModuleLoad(&m, (folder + "/cut.fatbin").c_str()) != CUDA_SUCCESS, true);
    IS(cuModuleLoad(&m, (folder + "/half.fatbin").c_str()) != CUDA_SUCCESS, true);
    IS(cuModuleLoad(&m, (folder + "/whole.fatbin").c_str()), CUDA_SUCCESS);
    IS(cuModuleGetFunction(&f, m, "_Z3addPii"), CUDA_SUCCESS);
    c.gridDimX = c.gridDimY = c.gridDimZ = c.blockDimX = c.blockDimY = c.blockDimZ = 1;
    IS(cuLaunchKernelEx(&c, f, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

int main(int, char **argv) {
    int *p;
    cudaMalloc(&p, 128), cudaMemset(p, 0, 128);
    streams();
    cooperative(p);
    shared(p);
    graphs(p);
    memory(p);
    modules(argv[1]);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
