// What programs do to build/run, one case for each word: tests/runtime/test_run.sh says what must come of it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include <cuda.h>

__global__ void store(int *p, int i, int value) { p[i] = value; }
__global__ void add(int *p, int value) { *p += value; }
__global__ void next(int *to, const int *from) { *to = *from + 1; }
__global__ void add_bulk(int *p) { // 4 at a time
    __shared__ __align__(16) int ones[4];
    for (int i = 0; i < 4; i++) ones[i] = 1;
    asm volatile("fence.proxy.async;\n\t"
                 "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 16;\n\t"
                 "cp.async.bulk.commit_group;\n\t"
                 "cp.async.bulk.wait_group 0;" ::"l"(p),
                 "r"((unsigned)__cvta_generic_to_shared(ones))
                 : "memory");
}
__global__ void says() { printf("said\n"); }
__shared__ int of_the_file[10000]; // of all kernels, and no memory of those that leave it alone
__global__ void uses_it(int *p) {
    of_the_file[threadIdx.x] = *p;
    __syncthreads();
    p[threadIdx.x] = of_the_file[31 - threadIdx.x];
}
__global__ void has_its_own(int *p) {
    __shared__ int own[10000];
    own[threadIdx.x] = *p;
    __syncthreads();
    p[threadIdx.x] = own[31 - threadIdx.x];
}
__global__ void mark(int *p) { p[blockIdx.x] = 1; }
// Blocks of a column are alike, but for the second kernel's, each of which adds to what was there.
__global__ void alike(int *to, const int *from) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 3) to[i] = from[i] + gridDim.y;
}
__global__ void alike_but_adds(int *p) { p[threadIdx.x] += 1; }
__global__ void alike_but_counts(int *p) { atomicAdd(p, 1); }
__global__ void misaligned(char *p) { *(int *)(p + 2) = 1; }
__global__ void asserts(int *p) {
    if (*p == 0) __trap();
}
__global__ void spin(volatile int *p) {
    for (unsigned n = 1; *p == 0; n++) /* counts, so nobody can prove that it never ends */
        if (n == 0) p[1] = 1;
}
__global__ void races(int *p) {
    __shared__ int x;
    x = threadIdx.x;
    __syncthreads();
    p[threadIdx.x] = x;
}
__global__ void races_on(int *p) {
    __shared__ int x;
    x = threadIdx.x;
    __syncthreads();
    p[threadIdx.x] = x;
    for (unsigned n = 1; *(volatile int *)p < 64; n++)
        if (n == 0) p[1] = 1;
}
__global__ void __launch_bounds__(64) shared_user(int *p) {
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    p[threadIdx.x] = s[threadIdx.x];
}
__global__ void many(int a, float b, double c, char d, short e, int *p, long f, unsigned char g) {
    *p = a + (int)b + (int)c + d + e + (int)f + g;
}
struct pair {
    int x;
    double y;
};
template <typename T> __global__ void take(pair q, T *p) { *p = (T)(q.x + q.y); }

__global__ void rank_of(int *p) {
    unsigned rank, n;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
    p[blockIdx.x] = 10 * n + rank;
}
__constant__ int factor = 2;
__device__ int n_calls;
__global__ void doubled(int *p) {
    p[threadIdx.x] *= factor;
    if (threadIdx.x == 0) n_calls++;
}
__global__ void handed_on(int *flag) { // the first block waits for the last
    if (blockIdx.x == 0)
        while (atomicAdd(flag, 0) == 0) {
        }
    else if (blockIdx.x == gridDim.x - 1)
        atomicExch(flag, 1);
}
__global__ void prints(int x) { printf("%d\n", x); }
extern "C" __global__ void by_name(int *p, int value) { *p = value; }

static int expect(const char *what, cudaError_t e) {
    printf("%s: %s\n", what, cudaGetErrorName(e));
    return 0;
}

int main(int argc, char **argv) {
    const char *which = argc > 1 ? argv[1] : "";
    int *p, back[64] = {0};
    if (cudaMalloc(&p, 64 * sizeof(int)) != cudaSuccess) return 4;
    cudaMemset(p, 0, 64 * sizeof(int));
    if (!strcmp(which, "right")) {
        many<<<1, 1>>>(1, 2, 3, 4, 5, p, 6, 7);
        take<<<1, 1>>>(pair{3, 4.5}, p + 1);
        store<<<1, 1>>>(p, 2, 42);
        cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost);
        if (back[0] != 28 || back[1] != 7 || back[2] != 42) return 1;
    } else if (!strcmp(
                   which,
                   "sass")) { // launches whose machine code is executed first leave no trace of it
        int calls = 0;
        store<<<1, 1>>>(p, 3, 7);
        for (int i = 0; i < 3; i++) doubled<<<1, 32>>>(p);
        handed_on<<<8, 1>>>(p + 40);
        prints<<<1, 1>>>(1);
        cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost);
        cudaMemcpyFromSymbol(&calls, n_calls, sizeof calls);
        printf("sass: %s\n", back[3] == 56 && back[40] == 1 && calls == 3 ? "right" : "wrong");
    } else if (!strcmp(which, "bounds")) {
        store<<<1, 1>>>(p, 64, 1);
        expect("launch", cudaGetLastError());
        expect("synchronize", cudaDeviceSynchronize());
        expect("malloc", cudaMalloc(&p, 4));
    } else if (!strcmp(which, "misaligned")) {
        misaligned<<<1, 1>>>((char *)p);
        expect("synchronize", cudaDeviceSynchronize());
    } else if (!strcmp(which, "trap")) {
        asserts<<<1, 1>>>(p);
        expect("synchronize", cudaDeviceSynchronize());
    } else if (!strcmp(which, "spin")) {
        spin<<<1, 32>>>(p);
        expect("synchronize", cudaDeviceSynchronize());
    } else if (!strcmp(which, "races_on")) {
        races_on<<<1, 64>>>(p);
        expect("synchronize", cudaDeviceSynchronize());
    } else if (!strcmp(which, "race")) {
        races<<<1, 64>>>(p);
        return expect("synchronize", cudaDeviceSynchronize());
    } else if (!strcmp(which, "config")) {
        store<<<1, 1025>>>(p, 0, 1);
        expect("1025 threads", cudaGetLastError());
        store<<<0, 1>>>(p, 0, 1);
        expect("no blocks", cudaGetLastError());
        shared_user<<<1, 64, 60000>>>(p);
        expect("60000 bytes", cudaGetLastError());
        expect("attribute", cudaFuncSetAttribute(
                                shared_user, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
        shared_user<<<1, 64, 60000>>>(p);
        expect("60000 bytes, asked for", cudaGetLastError());
        shared_user<<<1, 128>>>(p);
        expect("beyond launch bounds", cudaGetLastError());
        expect("copy", cudaMemcpy(back, p, 65 * sizeof(int), cudaMemcpyDeviceToHost));
        expect("free", cudaFree(p + 1));
        expect("symbol", cudaMemcpyToSymbol(factor, back, 8));
        void *args[] = {&p};
        expect("cooperative",
               cudaLaunchCooperativeKernel((void *)shared_user, 100000, 64, args, 0, 0));
        cudaGetLastError();
        expect("rows", cudaMemcpy2D(back, 64, p, 128, 64, 3, cudaMemcpyDefault));
        cudaChannelFormatDesc word = cudaCreateChannelDesc<int>();
        cudaArray_t array;
        expect("array", cudaMallocArray(&array, &word, 1ull << 62, 4));
        CUfunction no_function;
        expect("no module", (cudaError_t)cuModuleGetFunction(&no_function, NULL, "store"));
        expect("device 1", cudaSetDevice(1));
        expect("after all that", cudaDeviceSynchronize());
    } else if (!strcmp(which, "freed")) {
        int *q;
        cudaMalloc(&q, 64);
        cudaFree(q);
        expect("copy", cudaMemcpy(back, q + 1, 4, cudaMemcpyDeviceToHost));
        expect("copy", cudaMemcpy(back, q, 4, cudaMemcpyDefault));
        expect("free", cudaFree(q));
    } else if (!strcmp(which, "unsupported")) {
        cudaGraph_t graph = NULL;
        for (int i = 0; i < 3; i++) expect("graph", cudaGraphDebugDotPrint(graph, "graph", 0));
    } else if (!strcmp(which, "repeats")) {
        for (int i = 0; i < 10; i++) store<<<1, 1>>>(p, 0, 1);
        for (int i = 0; i < 10; i++) store<<<1, 1>>>(p, 0, i);
    } else if (!strcmp(which, "blocks")) {
        mark<<<8, 32>>>(p);
        cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost);
        for (int i = 0; i < 8; i++) printf("%d%c", back[i], i < 7 ? ' ' : '\n');
    } else if (!strcmp(which, "alike")) {
        int *to;
        cudaMalloc(&to, sizeof back);
        cudaMemset(p, 0, sizeof back);
        cudaMemset(to, 0, sizeof back);
        alike<<<dim3(2, 7), 32>>>(to, p);
        alike_but_adds<<<dim3(1, 3, 5), 32>>>(p);
        alike_but_counts<<<dim3(2, 9), 32>>>(p + 32);
        cudaMemcpy(back, to, sizeof back, cudaMemcpyDeviceToHost);
        for (int i = 0; i < 64; i++)
            if (back[i] != (i % 3 ? 7 : 0)) return 1;
        cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost);
        return back[0] != 15 || back[31] != 15 || back[32] != 18 * 32;
    } else if (!strcmp(which, "of_the_file")) {
        uses_it<<<1, 32>>>(p);
        expect("of the file", cudaGetLastError());
        has_its_own<<<1, 32>>>(p);
        expect("its own", cudaGetLastError());
    } else if (!strcmp(which, "sequences")) {
        int *q = p + 32;
        for (int i = 0; i < 10; i++) { // what it leaves behind is the same if some of it is not run
            cudaMemset(p, 0, 4);
            add<<<1, 1>>>(p, 1);
            add<<<1, 1>>>(p, 2);
            cudaMemcpy(q, p, 4, cudaMemcpyDeviceToDevice);
        }
        for (int i = 0; i < 10; i++) { // what it begins with is not
            cudaMemcpy(p + 1, &i, 4, cudaMemcpyHostToDevice);
            add<<<1, 1>>>(p + 1, 1);
            cudaMemcpy(back, p + 1, 4, cudaMemcpyDeviceToHost);
            if (back[0] != i + 1) return 1;
        }
        for (int i = 0; i < 3; i++) { // a memset that finds nothing to do, and one that does
            cudaMemset(p + 2, 7, 4);
            if (i == 1) store<<<1, 1>>>(p, 2, 9);
            cudaMemset(p + 2, 7, 4);
        }
        cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost);
        if (back[0] != 3 || back[32] != 3 || back[2] != 0x07070707) return 1;
    } else if (!strcmp(which,
                       "goes_on")) { // what --repeats must not leave out, as somebody looks at it
        for (int i = 0; i < 20; i++) add<<<1, 1>>>(p, 1); // each goes on from the last
        for (int i = 0; i < 20; i++) add_bulk<<<1, 1>>>(p + 12);
        for (int i = 0; i < 10; i++) { // so do pairs
            next<<<1, 1>>>(p + 9, p + 8);
            next<<<1, 1>>>(p + 8, p + 9);
        }
        for (int i = 0; i < 20; i++) { // a sequence that changes in its midst
            store<<<1, 1>>>(p, 1, 1);
            next<<<1, 1>>>(p + (i < 10 ? 2 : 3), p + 1);
            store<<<1, 1>>>(p, 1, 5);
        }
        for (int i = 0; i < 4; i++) { // other input, twice the same
            int input = i / 2;
            cudaMemcpy(p + 4, &input, sizeof input, cudaMemcpyHostToDevice);
            next<<<1, 1>>>(p + 5, p + 4);
            cudaMemcpy(back, p + 5, sizeof *back, cudaMemcpyDeviceToHost);
            if (back[0] != input + 1) return 1;
        }
        for (int i = 0; i < 3; i++) { // what is cleared was copied before
            add<<<1, 1>>>(p + 6, 1);
            cudaMemcpy(p + 7, p + 6, sizeof *p, cudaMemcpyDeviceToDevice);
            cudaMemset(p + 6, 0, sizeof *p);
        }
        for (int i = 0; i < 3; i++)
            next<<<1, 1>>>(p + 11, p + 10); // input that is written over when it was used
        int seven = 7;
        cudaMemcpy(p + 10, &seven, sizeof seven, cudaMemcpyHostToDevice);
        for (int i = 0; i < 3; i++) says<<<1, 1>>>();
        int *seen;
        cudaMallocManaged(&seen, sizeof *seen);
        *seen = 0;
        for (int i = 0; i < 10; i++) add<<<1, 1>>>(seen, 1);
        cudaDeviceSynchronize();
        cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost);
        if (*seen != 10 || back[0] != 20 || back[8] != 20 || back[12] != 20) return 1;
        if (back[7] != 1 || back[11] != 1 || back[10] != 7) return 1;
        if (back[1] != 5 || back[2] != 2 || back[3] != 2) return 1;
    } else if (!strcmp(which, "nobody_looks")) { // so that --repeats 1 runs each launch once
        int *q = p + 32;
        add<<<1, 1>>>(p, 1);
        cudaMemcpy(q, p, 4, cudaMemcpyDeviceToDevice);
        for (int i = 0; i < 20; i++) add<<<1, 1>>>(p, 1);
        cudaMemcpy(p, q, 4, cudaMemcpyDeviceToDevice); // over all of that
        cudaMemcpy(back, p, 4, cudaMemcpyDeviceToHost);
        for (int i = 0; i < 20; i++) add<<<1, 1>>>(p, 1);
        cudaMemset(p, 0, 4);
        cudaMemcpy(back + 1, p, 4, cudaMemcpyDeviceToHost);
        for (int i = 0; i < 20; i++) next<<<1, 1>>>(p + 1, p);
        cudaMemcpy(back + 2, p + 1, 4, cudaMemcpyDeviceToHost);
        for (int i = 0; i < 20; i++) add<<<1, 1>>>(p, 1);
        cudaFree(p);
        cudaMalloc(&p, 4);
        store<<<1, 1>>>(p, 0, 1);
        return back[0] != 1 || back[1] != 0 || back[2] != 1;
    } else if (!strcmp(which, "cluster")) {
        cudaLaunchAttribute a[1];
        cudaLaunchConfig_t c = {};
        a[0].id = cudaLaunchAttributeClusterDimension;
        a[0].val.clusterDim = {4, 1, 1};
        c.gridDim = 8, c.blockDim = 32, c.attrs = a, c.numAttrs = 1;
        expect("launch", cudaLaunchKernelEx(&c, rank_of, p));
        cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost);
        for (int i = 0; i < 8; i++)
            if (back[i] != 40 + i % 4) return 1;
        c.gridDim = 6;
        expect("6 blocks in clusters of 4", cudaLaunchKernelEx(&c, rank_of, p));
    } else if (!strcmp(which, "driver")) {
        CUmodule module;
        CUfunction function;
        CUdeviceptr q = (CUdeviceptr)p;
        int value = 77;
        void *args[] = {&q, &value};
        if (cuInit(0) || cuModuleLoad(&module, argv[2])) return 1;
        printf("%d\n", (int)cuModuleGetFunction(&function, module, "nosuch"));
        if (cuModuleGetFunction(&function, module, "by_name")) return 1;
        if (cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, args, 0) || cuCtxSynchronize())
            return 1;
        if (cuMemcpyDtoH(back, q, 4) || back[0] != 77) return 1;
    } else if (!strcmp(which, "status")) {
        store<<<1, 1>>>(p, 0, 1);
        return 17;
    } else if (!strcmp(which, "exit")) {
        races<<<1, 64>>>(p);
        exit(0);
    } else if (!strcmp(which, "asleep")) {
        store<<<1, 1>>>(p, 0, 1);
        printf("ready\n");
        fflush(stdout);
        sleep(60);
    }
    return 0;
}
