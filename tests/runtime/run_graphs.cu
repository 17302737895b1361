// CUDA graphs, built by hand and captured from streams. Exits with the number of wrong values.
#include <cstdio>
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

int main() {
    int *d;
    FINE(cudaMalloc(&d, 256));
    by_hand(d);
    captured(d);
    return bad;
}
