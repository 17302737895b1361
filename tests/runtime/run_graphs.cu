// CUDA graphs, built by hand and captured from streams. Exits with the number of wrong values.
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

static int bad, called;
static void expect(const char *what, int got, int want) {
    if (got == want) return;
    printf("%s: %d, not %d\n", what, got, want);
    bad++;
}
#define FINE(call) expect(#call, call, cudaSuccess)

__global__ void add(int *p, int by) { p[threadIdx.x] += by; }
__global__ void sum(int *to, const int *a, const int *b) {
    to[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}
static void count(void *n) { ++*(int *)n; }

static cudaGraphNode_t add_node(cudaGraph_t g, cudaGraphNode_t before, cudaKernelNodeParams *p) {
    cudaGraphNode_t n;
    FINE(cudaGraphAddKernelNode(&n, g, &before, 1, p));
    return n;
}

static void by_hand(int *d) {
    cudaGraph_t graph, twin;
    cudaGraphExec_t exec, second;
    cudaGraphNode_t set, plus, copy, host, last;
    int h[32] = {}, by = 5;
    void *args[] = {&d, &by};
    cudaMemsetParams m = {};
    m.dst = d, m.elementSize = 4, m.value = 100, m.width = 32, m.height = 1;
    cudaKernelNodeParams k = {};
    k.func = (void *)add, k.gridDim = 1, k.blockDim = 32, k.kernelParams = args;
    cudaHostNodeParams f = {count, &called};

    FINE(cudaGraphCreate(&graph, 0));
    FINE(cudaGraphAddMemcpyNode1D(&copy, graph, NULL, 0, h, d, 128, cudaMemcpyDeviceToHost));
    FINE(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &m));
    plus = add_node(graph, set, &k);
    FINE(cudaGraphAddDependencies(graph, &plus, &copy, NULL,
                                  1)); // the copy was first, and comes last
    FINE(cudaGraphAddHostNode(&host, graph, &copy, 1, &f));
    FINE(cudaGraphInstantiate(&exec, graph, 0));
    by = 6; // the node has its own copy of it
    FINE(cudaGraphLaunch(exec, 0));
    expect("set, add", h[31], 105);
    FINE(cudaGraphExecKernelNodeSetParams(exec, plus, &k));
    FINE(cudaGraphLaunch(exec, 0));
    expect("another argument", h[0], 106);

    FINE(cudaGraphClone(&twin, graph));
    FINE(cudaGraphInstantiate(&second, twin, 0));
    FINE(cudaGraphDestroy(graph));
    FINE(cudaGraphLaunch(second, 0));
    expect("the clone", h[0], 105);
    expect("host nodes", called, 3);
    FINE(cudaGraphAddMemsetNode(&last, twin, NULL, 0, &m));
    expect("another graph", cudaGraphExecUpdate(exec, twin, NULL), cudaErrorGraphExecUpdateFailure);
    FINE(cudaGraphExecDestroy(exec));
    FINE(cudaGraphExecDestroy(second));
}

static void captured(int *d) {
    cudaStream_t a, b;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int h[32] = {}, *memory;
    cudaStreamCaptureStatus status;
    FINE(cudaStreamCreate(&a)), FINE(cudaStreamCreate(&b));
    FINE(cudaEventCreate(&fork)), FINE(cudaEventCreate(&join));
    FINE(cudaMemset(d, 0, 256));
    FINE(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    FINE(cudaMallocAsync(&memory, 128, a));
    add<<<1, 32, 0, a>>>(d, 1);
    FINE(cudaEventRecord(fork, a));
    FINE(cudaStreamWaitEvent(b, fork, 0));
    add<<<1, 32, 0, b>>>(d + 32, 10);
    FINE(cudaStreamIsCapturing(b, &status));
    expect("it joined", status, cudaStreamCaptureStatusActive);
    FINE(cudaEventRecord(join, b));
    FINE(cudaStreamWaitEvent(a, join, 0));
    sum<<<1, 32, 0, a>>>(memory, d, d + 32);
    FINE(cudaMemcpyAsync(h, memory, 128, cudaMemcpyDeviceToHost, a));
    FINE(cudaFreeAsync(memory, a));
    FINE(cudaStreamEndCapture(a, &graph));
    expect("nothing ran yet", h[5], 0);
    FINE(cudaGraphInstantiate(&exec, graph, 0));
    FINE(cudaGraphLaunch(exec, a));
    FINE(cudaStreamSynchronize(a));
    expect("once", h[5], 11);
    FINE(cudaGraphLaunch(exec, a));
    expect("twice", h[5], 22);
    add<<<1, 32, 0, b>>>(d, 7); // outside of the capture
    FINE(cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost));
    expect("after it", h[5], 9);
}

__device__ int variable[4];

// What a call does is 1, and done when the graph is launched: not before.
template <class Call, class Result> static void later(const char *what, Call call, Result result) {
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    FINE(cudaStreamCreate(&s));
    FINE(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    expect(what, (int)call(s), 0);
    expect(what, cudaStreamEndCapture(s, &graph), cudaSuccess);
    expect(what, result(), 0);
    FINE(cudaGraphInstantiate(&exec, graph, 0));
    FINE(cudaGraphLaunch(exec, s));
    FINE(cudaStreamSynchronize(s));
    expect(what, result(), 1);
}

static void each_call(int *d) {
    enum { ROW = 64 };
    const int one[ROW] = {1};
    int h = 0, *source;
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    const CUdeviceptr to = (CUdeviceptr)d;
    FINE(cudaMalloc(&source, sizeof one));
    FINE(cudaMemcpy(source, one, sizeof one, cudaMemcpyHostToDevice));
    FINE(cudaMallocArray(&array, &format, ROW, 2));
    const auto of_device = [&] {
        int v = -1;
        FINE(cudaMemcpy(&v, d, 4, cudaMemcpyDeviceToHost));
        FINE(cudaMemset(d, 0, 4));
        return v;
    };
    const auto of_host = [&] {
        int v = h;
        h = 0;
        return v;
    };
    const auto of_variable = [&] {
        int v = -1;
        FINE(cudaMemcpyFromSymbol(&v, variable, 4, 8));
        return v;
    };
    FINE(cudaMemset(d, 0, 4));
    later(
        "cudaMemcpyToSymbolAsync",
        [&](cudaStream_t s) {
            return cudaMemcpyToSymbolAsync(variable, one, 4, 8, cudaMemcpyHostToDevice, s);
        },
        of_variable);
    later(
        "cudaMemcpyFromSymbolAsync",
        [&](cudaStream_t s) {
            return cudaMemcpyFromSymbolAsync(&h, variable, 4, 8, cudaMemcpyDeviceToHost, s);
        },
        of_host);
    later(
        "cuMemcpyHtoDAsync", [&](cudaStream_t s) { return cuMemcpyHtoDAsync(to, one, 4, s); },
        of_device);
    later(
        "cuMemcpyDtoHAsync",
        [&](cudaStream_t s) { return cuMemcpyDtoHAsync(&h, (CUdeviceptr)source, 4, s); }, of_host);
    later(
        "cuMemcpyDtoDAsync",
        [&](cudaStream_t s) { return cuMemcpyDtoDAsync(to, (CUdeviceptr)source, 4, s); },
        of_device);
    later(
        "cuMemsetD8Async", [&](cudaStream_t s) { return cuMemsetD8Async(to, 1, 1, s); }, of_device);
    later(
        "cudaMemcpyPeerAsync",
        [&](cudaStream_t s) { return cudaMemcpyPeerAsync(d, 0, source, 0, 4, s); }, of_device);
    later(
        "cudaMemcpy2DToArrayAsync",
        [&](cudaStream_t s) {
            return cudaMemcpy2DToArrayAsync(array, 8, 1, one, 4, 4, 1, cudaMemcpyHostToDevice, s);
        },
        [&] {
            int v = -1;
            FINE(cudaMemcpy2DFromArray(&v, 4, array, 8, 1, 4, 1, cudaMemcpyDeviceToHost));
            return v;
        });
    later(
        "cudaMemcpy2DFromArrayAsync",
        [&](cudaStream_t s) {
            return cudaMemcpy2DFromArrayAsync(d, 4, array, 8, 1, 4, 1, cudaMemcpyDeviceToDevice, s);
        },
        of_device);
    CUDA_MEMCPY2D rows = {};
    rows.srcMemoryType = CU_MEMORYTYPE_HOST, rows.srcHost = one, rows.srcPitch = 16;
    rows.dstMemoryType = CU_MEMORYTYPE_DEVICE, rows.dstDevice = to, rows.dstPitch = 16;
    rows.WidthInBytes = 4, rows.Height = 2;
    later(
        "cuMemcpy2DAsync", [&](cudaStream_t s) { return cuMemcpy2DAsync(&rows, s); }, of_device);

    // two layers of two rows of two bytes, in a box of eight bytes a row and three rows a layer
    char box[48];
    FINE(cudaMemset(d, 0, sizeof box));
    later(
        "cudaMemset3DAsync",
        [&](cudaStream_t s) {
            return cudaMemset3DAsync(make_cudaPitchedPtr(d, 8, 8, 3), 9, make_cudaExtent(2, 2, 2),
                                     s);
        },
        [&] {
            int n_set = 0, n_wrong = 0;
            FINE(cudaMemcpy(box, d, sizeof box, cudaMemcpyDeviceToHost));
            for (int at = 0; at < 48; at++) {
                const bool inside = at % 8 < 2 && at / 8 % 3 < 2;
                n_set += box[at] == 9;
                n_wrong += box[at] && !(inside && box[at] == 9);
            }
            expect("bytes beside the box", n_wrong, 0);
            return n_set == 8 ? 1 : n_set;
        });
}

int main() {
    int *d;
    FINE(cudaMalloc(&d, 256));
    by_hand(d);
    captured(d);
    each_call(d);
    return bad;
}
