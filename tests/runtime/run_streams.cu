// Programs of several streams, and of a host that goes on: tests/runtime/test_streams.sh runs each by its name. Those of
// `right` must be silent; each other one has one mistake, which its name says.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

enum { N = 1 << 14 };
#define EACH for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)

__global__ void fill(float *x, int n) { EACH x[i] = i; }
__global__ void twice(const float *x, float *y, int n) { EACH y[i] = 2 * x[i]; }
__global__ void columns(float *x, int pitch, int begin,
                        int width) { // (N / pitch, pitch): some columns
    for (int r = threadIdx.x; r < N / pitch; r += blockDim.x)
        for (int c = begin; c < begin + width; c++) x[r * pitch + c] = r + c;
}
__global__ void odd_or_even(float *x, int first, int n) { EACH if (i % 2 == first) x[i] = i; }
__global__ void count(int *total) { atomicAdd(total, 1); }
__global__ void flag(volatile int *x) { *x = 1; }
__managed__ int variable[4];
__constant__ int factor;
__global__ void scale(int *x) { x[threadIdx.x] *= factor; }
__global__ void set_variable() { variable[0] = 7; }

static float *device(int n = N) {
    float *p;
    cudaMalloc(&p, n * sizeof *p);
    cudaMemset(p, 0, n * sizeof *p);
    cudaDeviceSynchronize();
    return p;
}
static float *pinned() {
    float *p;
    cudaMallocHost(&p, N * sizeof *p);
    memset(p, 0, N * sizeof *p);
    return p;
}
static float *managed() {
    float *p;
    cudaMallocManaged(&p, N * sizeof *p);
    memset(p, 0, N * sizeof *p);
    return p;
}
static cudaStream_t stream(bool blocking = false) {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, blocking ? cudaStreamDefault : cudaStreamNonBlocking);
    return s;
}
static cudaEvent_t recorded(cudaStream_t s) {
    cudaEvent_t e;
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    cudaEventRecord(e, s);
    return e;
}

// ---- Right ones

static void right() {
    cudaStream_t a = stream(), b = stream(), c = stream(true);
    float *x = device(), *y = device(), *h = pinned(), *m = managed();
    fill<<<4, 128, 0, a>>>(x, N);
    cudaStreamWaitEvent(b, recorded(a), 0);
    twice<<<4, 128, 0, b>>>(x, y, N); // after a's, by an event
    cudaMemcpyAsync(h, y, N * 4, cudaMemcpyDeviceToHost, b);
    cudaStreamSynchronize(b);
    h[3] += 1;                    // after b's copy
    fill<<<4, 128, 0, a>>>(y, N); // the host has waited for b
    cudaStreamSynchronize(a);
    fill<<<4, 128, 0, c>>>(x, N); // blocking: after the default stream's, and before its
    twice<<<4, 128>>>(x, y, N);
    fill<<<4, 128, 0, c>>>(x, N);
    cudaMemcpy(h, y, N * 4,
               cudaMemcpyDeviceToHost); // the host waits for it, and it for all blocking ones
    twice<<<4, 128, 0, a>>>(x, y, N);   // c's last fill was before that copy
    cudaDeviceSynchronize();
    for (int i = 0; i < 4; i++) { // chunks, each in its own stream
        cudaStream_t s = i % 2 ? a : b;
        float *part = x + i * N / 4;
        cudaMemcpyAsync(part, h + i * N / 4, N, cudaMemcpyHostToDevice, s);
        twice<<<2, 128, 0, s>>>(part, y + i * N / 4, N / 4);
        cudaMemcpyAsync(h + i * N / 4, y + i * N / 4, N, cudaMemcpyDeviceToHost, s);
    }
    cudaStreamSynchronize(a), cudaStreamSynchronize(b);
    columns<<<1, 64, 0, a>>>(
        x, 64, 0, 32); // columns, and every second element: apart, though their spans meet
    columns<<<1, 64, 0, b>>>(x, 64, 32, 32);
    odd_or_even<<<2, 128, 0, a>>>(y, 0, N);
    odd_or_even<<<2, 128, 0, b>>>(y, 1, N);
    cudaDeviceSynchronize();
    count<<<2, 32, 0, a>>>((int *)x); // atomics of two kernels
    count<<<2, 32, 0, b>>>((int *)x);
    twice<<<2, 32, 0, a>>>(y, x + N / 2, 64); // both read y
    twice<<<2, 32, 0, b>>>(y, x + N / 2 + 64, 64);
    cudaEventSynchronize(recorded(a));
    fill<<<1, 32, 0, b>>>(x + N / 2, 64);
    cudaDeviceSynchronize();
    fill<<<1, 32>>>(m, 100);
    m[N / 2] = 1; // managed memory that the kernel does not use
    cudaDeviceSynchronize();
    m[0] = 5;
    twice<<<1, 32>>>(m, y, 100);
    float read = m[0]; // both read
    cudaDeviceSynchronize();
    set_variable<<<1, 1>>>();
    cudaDeviceSynchronize();
    flag<<<1, 1>>>((int *)h); // the host may poll pinned memory
    printf("%g %d %d\n", read, variable[0], *(volatile int *)h);
    cudaLaunchHostFunc(
        a, [](void *p) { *(float *)p = 1; }, m);
    fill<<<1, 32, 0, a>>>(m, 10);
    cudaFree(m);
    cudaMallocAsync(&m, N * 4, a); // a stream's own memory
    fill<<<1, 32, 0, a>>>(m, N);
    cudaStreamWaitEvent(b, recorded(a), 0);
    twice<<<1, 32, 0, b>>>(m, y, N);
    cudaFreeAsync(m, b);
    cudaDeviceSynchronize();
    fill<<<1, 32, 0, a>>>(x, N);
    cudaMemcpyPeerAsync(y, 0, x, 0, N * 4, a); // in a's order
    twice<<<1, 32, 0, a>>>(y, x, N);
    cudaStreamSynchronize(a);
    cudaFree(x), cudaFree(y), cudaFreeHost(h);
}

// ---- Wrong ones

static void no_event() {
    float *x = device(), *y = device();
    fill<<<4, 128, 0, stream()>>>(x, N);
    twice<<<4, 128, 0, stream()>>>(x, y, N);
}
static void event_too_early() {
    float *x = device(), *y = device();
    cudaStream_t a = stream(), b = stream();
    cudaEvent_t e = recorded(a);
    fill<<<4, 128, 0, a>>>(x, N);
    cudaStreamWaitEvent(b, e, 0);
    twice<<<4, 128, 0, b>>>(x, y, N);
}
static void wrong_stream_waits() {
    float *x = device(), *y = device();
    cudaStream_t a = stream(), b = stream();
    fill<<<4, 128, 0, a>>>(x, N);
    cudaStreamSynchronize(b);
    twice<<<4, 128, 0, b>>>(x, y, N);
}
static void memset_and_nonblocking() { // cudaMemset is asynchronous, and in another stream
    float *x;
    cudaStream_t a = stream();
    cudaMalloc(&x, N * 4);
    cudaMemset(x, 0, N * 4);
    fill<<<4, 128, 0, a>>>(x, N);
}
static void copy_and_kernel() {
    float *x = device(), *y = device(), *h = pinned();
    cudaStream_t a = stream(), b = stream();
    cudaMemcpyAsync(x, h, N * 4, cudaMemcpyHostToDevice, a);
    twice<<<1, 128, 0, b>>>(x, y, 64);
}
static void one_element() { // chunks that overlap by one element
    float *x = device();
    fill<<<4, 128, 0, stream()>>>(x, N / 2 + 1);
    fill<<<4, 128, 0, stream()>>>(x + N / 2, N / 2);
}
static void write_after_read() {
    float *x = device(), *y = device();
    twice<<<4, 128, 0, stream()>>>(x, y, N);
    fill<<<4, 128, 0, stream()>>>(x, N);
}
static void kernel_then_host() {
    float *m = managed();
    fill<<<4, 128>>>(m, N);
    printf("%g\n", m[100]);
}
static void host_writes() {
    float *m = managed(), *y = device();
    twice<<<4, 128>>>(m, y, N);
    m[200] = 1;
    cudaDeviceSynchronize();
}
static void host_after_other() {
    float *m = managed();
    cudaStream_t a = stream(), b = stream();
    fill<<<4, 128, 0, a>>>(m, N);
    cudaStreamSynchronize(b);
    m[300] = 1;
}
static void pinned_too_early() {
    float *x = device(), *h = pinned();
    cudaMemcpyAsync(h, x, N * 4, cudaMemcpyDeviceToHost, stream());
    printf("%g\n", h[400]);
}
static void pinned_rewritten() {
    float *x = device(), *h = pinned();
    cudaMemcpyAsync(x, h, N * 4, cudaMemcpyHostToDevice, stream());
    h[500] = 1;
}
static void constant_set() { // a constant is set while a kernel of another stream may read it
    int *x = (int *)device(), two = 2;
    scale<<<1, 32, 0, stream()>>>(x);
    cudaMemcpyToSymbolAsync(factor, &two, sizeof two, 0, cudaMemcpyHostToDevice, stream());
}
static void
mapped_too_early() { // a kernel writes pinned memory, and says nothing that the host could poll
    float *h;
    cudaHostAlloc(&h, N * 4, cudaHostAllocMapped);
    fill<<<4, 128>>>(h, N);
    printf("%g\n", h[600]);
}
static void freed_elsewhere() { // the free is in a stream that does not wait for the kernel
    float *x;
    cudaStream_t a = stream(), b = stream();
    cudaMallocAsync(&x, N * 4, a);
    fill<<<4, 128, 0, a>>>(x, N);
    cudaFreeAsync(x, b);
}
static void
allocated_elsewhere() { // the allocation is in a stream for which the copy does not wait
    float *x, *h = pinned();
    cudaStream_t a = stream(), b = stream();
    cudaMallocAsync(&x, N * 4, a);
    cudaMemcpyAsync(x, h, N * 4, cudaMemcpyHostToDevice, b);
}
static void variable_too_early() {
    set_variable<<<1, 1>>>();
    printf("%d\n", variable[0]);
}
static void graph_and_stream() {
    float *x = device(), *y = device();
    cudaStream_t a = stream(), b = stream();
    cudaGraph_t g;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    fill<<<4, 128, 0, a>>>(x, N);
    cudaStreamEndCapture(a, &g);
    cudaGraphInstantiate(&exec, g, 0);
    cudaGraphLaunch(exec, a);
    twice<<<4, 128, 0, b>>>(x, y, N);
}

#define PROGRAM(name)                                                                              \
    { #name, name }
static const struct {
    const char *name;
    void (*run)();
} programs[] = {PROGRAM(right),
                PROGRAM(no_event),
                PROGRAM(event_too_early),
                PROGRAM(wrong_stream_waits),
                PROGRAM(copy_and_kernel),
                PROGRAM(one_element),
                PROGRAM(write_after_read),
                PROGRAM(memset_and_nonblocking),
                PROGRAM(kernel_then_host),
                PROGRAM(host_writes),
                PROGRAM(host_after_other),
                PROGRAM(pinned_too_early),
                PROGRAM(pinned_rewritten),
                PROGRAM(constant_set),
                PROGRAM(mapped_too_early),
                PROGRAM(freed_elsewhere),
                PROGRAM(allocated_elsewhere),
                PROGRAM(variable_too_early),
                PROGRAM(graph_and_stream)};

int main(int argc, char **argv) {
    for (auto &p : programs)
        if (argc > 1 && !strcmp(argv[1], p.name)) {
            p.run();
            return cudaDeviceSynchronize();
        }
    return 9;
}
