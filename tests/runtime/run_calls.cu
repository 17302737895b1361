// Functions that are not inlined, and grid.sync(), under build/run: tests/runtime/test_run.sh. "refused" launches a
// kernel that the emulator cannot run.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>

#define REAL_CALL __host__ __device__ __noinline__

// ---- Recursion: alone, in turns, with arguments and results in memory, through pointers to locals
REAL_CALL int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
REAL_CALL int even(int n);
REAL_CALL int odd(int n) { return n == 0 ? 0 : even(n - 1); }
REAL_CALL int even(int n) { return n == 0 ? 1 : odd(n - 1); }
struct eight {
    int x[8];
};
REAL_CALL eight twice(eight b) {
    for (int i = 0; i < 8; i++) b.x[i] *= 2;
    return b;
}
REAL_CALL void up_the_stack(int *p, int n) {
    int here[4] = {n, n + 1, n + 2, n + 3};
    p[0] = 1;
    if (n == 0) return;
    up_the_stack(here, n - 1);
    p[0] = here[0] + here[n & 3];
}

// ---- Calls by address
typedef int (*operation)(int, int);
REAL_CALL int add(int a, int b) { return a + b; }
REAL_CALL int multiply(int a, int b) { return a * b; }
__device__ operation operations[2] = {add, multiply};
struct shape {
    __device__ virtual int size(int) = 0;
};
struct line : shape {
    __device__ int size(int x) override { return x + 100; }
};
struct square : shape {
    __device__ int size(int x) override { return x * 100; }
};

enum { CASES = 7 };

__global__ void calls(int *r) { // one warp, r (CASES, 32)
    int t = threadIdx.x, v[4] = {0, 0, 0, 0};
    r[t] = fib(t % 12);
    r[32 + t] = even(t);
    eight b;
    for (int i = 0; i < 8; i++) b.x[i] = t + i;
    b = twice(b);
    r[64 + t] = b.x[3] + b.x[7];
    up_the_stack(v, t % 5);
    r[96 + t] = v[0];
    r[128 + t] = operations[t & 1](t, 7);
    line a;
    square c;
    shape *s = t % 3 ? (shape *)&a : (shape *)&c;
    r[160 + t] = s->size(t);
    if (t & 1)
        r[192 + t] = fib(t % 7) + add(t, 1); // the two sides call the same function in turns
    else
        r[192 + t] = multiply(fib(t % 9), 2);
}

__global__ void mirror(int *r, int n) { // across all blocks, which must wait for each other
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    r[i] = i;
    grid.sync();
    int v = r[n - 1 - i];
    grid.sync();
    r[i] = v;
}

__global__ void overflows(int *r) { up_the_stack(r, 1000000); }
__global__ void textured(cudaTextureObject_t t, float *r) {
    *r = tex2Dgather<float4>(t, 0.5f, 0.5f).x;
}

int main(int argc, char **argv) {
    int *r, bad = 0, n = 1024;
    if (cudaMallocManaged(&r, n * sizeof(int))) return 4;
    if (argc > 1) {
        if (!strcmp(argv[1], "refused"))
            textured<<<1, 1>>>(0, (float *)r);
        else if (!strcmp(argv[1], "ordinary"))
            mirror<<<2, 32>>>(r, 64);
        else
            overflows<<<1, 1>>>(r);
        printf("launch: %s\n", cudaGetErrorName(cudaGetLastError()));
        printf("synchronize: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        return 0;
    }
    calls<<<1, 32>>>(r);
    if (cudaDeviceSynchronize()) return 4;
    for (int t = 0; t < 32; t++) {
        int v[4] = {0};
        up_the_stack(v, t % 5);
        int expected[CASES] = {fib(t % 12),
                               !(t & 1),
                               4 * t + 20,
                               v[0],
                               t & 1 ? t * 7 : t + 7,
                               t % 3 ? t + 100 : t * 100,
                               t & 1 ? fib(t % 7) + t + 1 : fib(t % 9) * 2};
        for (int c = 0; c < CASES; c++)
            if (r[32 * c + t] != expected[c])
                bad++, printf("case %d, thread %d: %d, not %d\n", c, t, r[32 * c + t], expected[c]);
    }
    void *args[] = {&r, &n};
    if (cudaLaunchCooperativeKernel((void *)mirror, dim3(8), dim3(128), args, 0, 0)) return 4;
    if (cudaDeviceSynchronize()) return 4;
    for (int i = 0; i < n; i++)
        if (r[i] != n - 1 - i) bad++, printf("place %d: %d\n", i, r[i]);
    return bad != 0;
}
