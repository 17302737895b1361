// Thirty mistakes of thirty kinds, a function each: `bugs NAME` runs one. planted.py says which of them the emulator names.
//
//     //= NAME | KIND | what is wrong         KIND: a regular expression for how the report begins
//     ...                // @NAME             a line that the report must name; one of several is enough
#include "tests/corpus/corpus.cuh"

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

enum { N = 1024 };

static float *zeros(int n = N) {
    float *p;
    cudaMalloc(&p, n * sizeof *p);
    cudaMemset(p, 0, n * sizeof *p);
    cudaDeviceSynchronize();
    return p;
}
static unsigned *words(int n = N) { return (unsigned *)zeros(n); }

// ---- Threads of a block

//= missing_barrier | race | A tree of sums in shared memory has no barrier between its steps.
__global__ void missing_barrier(const float *x, float *sum) {
    __shared__ float part[256];
    part[tid()] = x[tid()];
    __syncthreads();
    for (int n = 128; n > 0; n /= 2)
        if (tid() < n) part[tid()] += part[tid() + n]; // @missing_barrier
    if (tid() == 0) *sum = part[0];                    // @missing_barrier
}

//= second_barrier | race | The next tile is loaded while other warps still read this one.
__global__ void second_barrier(const float *x, float *y) {
    __shared__ float tile[128];
    float sum = 0;
    for (int t = 0; t < 4; t++) {
        tile[tid()] = x[128 * t + tid()]; // @second_barrier
        __syncthreads();
        for (int i = 0; i < 128; i++) sum += tile[i]; // @second_barrier
    }
    y[tid()] = sum;
}

//= barrier_in_if | divergent .aligned | Only 48 of 64 threads come to __syncthreads().
__global__ void barrier_in_if(float *x) {
    __shared__ float part[64];
    part[tid()] = tid();
    if (tid() < 48) {
        __syncthreads(); // @barrier_in_if
        x[tid()] = part[tid() + 16];
    }
}

//= histogram | race | Lanes of a warp add to bins without an atomic.
__global__ void histogram(const unsigned *x, unsigned *bins) {
    __shared__ unsigned bin[16];
    if (tid() < 16) bin[tid()] = 0;
    __syncthreads();
    bin[(x[tid()] + tid()) % 16]++; // @histogram
    __syncthreads();
    if (tid() < 16) bins[tid()] = bin[tid()];
}

//= volatile_sums | race | The last sums of a reduction rely on a warp in lockstep: volatile, and no __syncwarp().
__global__ void volatile_sums(const float *x, float *sum) {
    __shared__ float part[64];
    part[tid()] = x[tid()] + x[tid() + 32];
    volatile float *v = part;
    if (tid() < 32) v[tid()] += v[tid() + 16]; // @volatile_sums
    v[tid()] += v[tid() + 8];                  // @volatile_sums
    v[tid()] += v[tid() + 4];                  // @volatile_sums
    if (tid() == 0) *sum = v[0];
}

//= shuffle_absent | shuffle from an absent lane | The mask names 32 lanes, and 16 of them are not there.
__global__ void shuffle_absent(float *x) {
    float v = x[tid()];
    if (tid() < 16) {
        for (int n = 8; n > 0; n /= 2) v += __shfl_down_sync(~0u, v, n); // @shuffle_absent
        x[tid()] = v;
    }
}

// ---- Memory

//= uninitialised_shared | uninitialised shared | A histogram in shared memory is not set to zero.
__global__ void uninitialised_shared(const unsigned *x, unsigned *bins) {
    __shared__ unsigned bin[16];
    atomicAdd(&bin[x[tid()] % 16], 1); // @uninitialised_shared
    __syncthreads();
    if (tid() < 16) bins[tid()] = bin[tid()]; // @uninitialised_shared
}

//= uninitialised_global | uninitialised global | A sum is added to memory that cudaMalloc gave and nothing has written.
__global__ void uninitialised_global(const float *x, float *y) {
    y[tid()] += x[tid()]; // @uninitialised_global
}

//= past_the_end | global access out of bounds | A stencil reads one element behind the last.
__global__ void past_the_end(const float *x, float *y, int n) {
    const int i = gtid();
    if (i < n) y[i] = x[i] + x[i + 1]; // @past_the_end
}

//= static_overrun | shared access outside its array | A halo of two columns is written to an array that has room for one.
__global__ void static_overrun(const float *x, float *y) {
    __shared__ float tile[65];
    __shared__ float other[64];
    other[tid()] = 1;
    tile[tid()] = x[tid()];
    if (tid() < 2) tile[64 + tid()] = x[64 + tid()]; // @static_overrun
    __syncthreads();
    y[tid()] = tile[tid() + 1] + other[tid()];
}

//= dynamic_too_small | shared access out of bounds | The launch gives half of the shared memory that the kernel uses.
__global__ void dynamic_too_small(const float *x, float *y) {
    extern __shared__ float tile[];
    tile[tid()] = x[tid()]; // @dynamic_too_small
    __syncthreads();
    y[tid()] = tile[127 - tid()];
}

//= misaligned | misaligned access | float4 is read at an address that is a multiple of 4.
__global__ void misaligned(const float *x, float *y) {
    const float4 v = *(const float4 *)(x + 1 + 4 * tid()); // @misaligned
    y[tid()] = v.x + v.y + v.z + v.w;
}

//= index_overflow | global access out of bounds | A row's offset does not fit 32 bits and becomes negative.
__global__ void index_overflow(float *x, int pitch) {
    const int row = 70000 + tid();
    x[row * pitch % 1024] = 1; // @index_overflow
}

// ---- Blocks

//= ld_nc | stale read | The kernel reads by __ldg what it has written.
__global__ void ld_nc(float *x) {
    x[tid()] = 2;
    __syncthreads();
    x[64 + tid()] = __ldg(&x[63 - tid()]); // @ld_nc
}

//= neighbour_block | race | A block reads the cells of its neighbour, which writes them in the same launch.
__global__ void neighbour_block(float *x) {
    const float left = x[(gtid() + 255) % 256]; // @neighbour_block
    __syncthreads();
    x[gtid()] = left + 1; // @neighbour_block
}

//= reader_fence | race | The writer has a fence before its flag; the reader has none behind it.
__global__ void reader_fence(unsigned *data, volatile unsigned *flag, unsigned *out) {
    if (blockIdx.x == 0) {
        *data = 42; // @reader_fence
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        *out = *data; // @reader_fence
    }
}

//= writer_fence | race | The reader has a fence behind the flag; the writer has none before it.
__global__ void writer_fence(unsigned *data, volatile unsigned *flag, unsigned *out) {
    if (blockIdx.x == 0) {
        *data = 42; // @writer_fence
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        __threadfence();
        *out = *data; // @writer_fence
    }
}

// ---- Asynchronous copies and products

//= wait_one_short | race|operand in flight | cp.async.wait_group 1 where the last tile needs 0.
__global__ void wait_one_short(const unsigned *in, unsigned *out) {
    __shared__ alignas(16) unsigned tile[2][128];
    for (int t = 0; t < 2; t++)
        copy_16(&tile[t][4 * tid()], &in[128 * t + 4 * tid()]), copy_commit(); // @wait_one_short
    for (int t = 0; t < 2; t++) {
        copy_wait<1>();
        __syncthreads();
        out[32 * t + tid()] = tile[t][4 * tid() + 1]; // @wait_one_short
    }
}

//= copy_source | race | A word is overwritten while cp.async may still read it.
__global__ void copy_source(unsigned *x, unsigned *out) {
    __shared__ alignas(16) unsigned tile[256];
    copy_16(&tile[4 * tid()], &x[4 * tid()]); // @copy_source
    copy_commit();
    __syncthreads();
    x[255 - tid()] = 7; // @copy_source
    copy_wait<0>();
    __syncthreads();
    out[tid()] = tile[tid()];
}

//= store_read_back | race|operand in flight | What a bulk store writes is read without waiting for it.
__global__ void store_read_back(unsigned *x, unsigned *out) {
    __shared__ alignas(16) unsigned tile[64];
    tile[tid()] = tid();
    fence_async();
    __syncthreads();
    if (tid() == 0) {
        bulk_store(x, tile, sizeof tile); // @store_read_back
        bulk_commit();
        out[0] = x[5]; // @store_read_back
        bulk_wait<0>();
    }
}

//= bulk_source | race | Another warp writes the global memory that a bulk load reads.
__global__ void bulk_source(unsigned *x, unsigned *out) {
    __shared__ alignas(128) unsigned tile[64];
    __shared__ uint64_t full;
    make_barriers(&full, 1, 1);
    if (tid() == 0) {
        arrive_expect(smem_address(&full), 256);
        bulk_load(tile, x, 256, smem_address(&full)); // @bulk_source
    }
    if (tid() >= 32) x[tid()] = 9; // @bulk_source
    wait(smem_address(&full), 0);
    out[tid()] = tile[tid()];
}

//= half_the_bytes | mbarrier misuse|race | Two loads, and the bytes of one are announced.
__global__ void half_the_bytes(const unsigned *x, unsigned *out) {
    __shared__ alignas(128) unsigned tile[2][64];
    __shared__ uint64_t full;
    make_barriers(&full, 1, 1);
    if (tid() == 0) {
        arrive_expect(smem_address(&full), 256);              // @half_the_bytes
        bulk_load(tile[0], x, 256, smem_address(&full));      // @half_the_bytes
        bulk_load(tile[1], x + 64, 256, smem_address(&full)); // @half_the_bytes
    }
    wait(smem_address(&full), 0);                 // @half_the_bytes
    out[tid()] = tile[0][tid()] + tile[1][tid()]; // @half_the_bytes
}

//= proxy_fence | missing fence | A bulk store reads what threads wrote, without fence.proxy.async.
__global__ void proxy_fence(unsigned *x) {
    __shared__ alignas(16) unsigned tile[64];
    tile[tid()] = tid(); // @proxy_fence
    __syncthreads();
    if (tid() == 0) {
        bulk_store(x, tile, sizeof tile); // @proxy_fence
        bulk_commit();
        bulk_wait<0>();
    }
}

//= product_in_flight | operand in flight | Accumulators are stored before the product has been waited for.
__global__ void product_in_flight(float *out) {
    __shared__ alignas(128) unsigned a[512], b[64];
    float d[1][4] = {};
    for (int i = tid(); i < 512; i += 128) a[i] = 0x3c003c00;
    if (tid() < 64) b[tid()] = 0x3c003c00;
    fence_async_shared();
    __syncthreads();
    registers_fence<1>(d);
    wgmma_fence();
    const uint64_t desc_a = gmma_desc_encode({smem_address(a), 128, 256, 0, GMMA_SWIZZLE_NONE});
    const uint64_t desc_b = gmma_desc_encode({smem_address(b), 128, 256, 0, GMMA_SWIZZLE_NONE});
    wgmma_m64k16_ss<8>(d, desc_a, desc_b, 1); // @product_in_flight
    wgmma_commit_group();
    for (int i = 0; i < 4; i++) out[128 * i + tid()] = d[0][i]; // @product_in_flight
    wgmma_wait_group<0>();
}

//= left_cluster | access outside a block's life | A block ends while the other of its cluster still reads its shared memory.
__global__ void __cluster_dims__(2) left_cluster(unsigned *out) {
    __shared__ unsigned tile[32];
    tile[tid()] = tid();
    cluster_sync();
    if (rank() == 1) out[tid()] = ld_shared(at_rank(&tile[tid()], 0)); // @left_cluster
}

// ---- The host

__global__ void add(float *x, int n) {
    for (int i = tid(); i < n; i += blockDim.x) x[i] += 1; // @stale_kernel
}

//= double_free | stale pointer: the host frees | cudaFree twice.
static void double_free() {
    float *x = zeros();
    cudaFree(x);
    cudaFree(x); // @double_free
}

//= stale_host | stale pointer: the host copies | The host copies from memory that it has freed.
static void stale_host() {
    float *x = zeros(), y[4];
    cudaFree(x);
    cudaMemcpy(y, x, sizeof y, cudaMemcpyDeviceToHost); // @stale_host
    printf("%g\n", y[0]);
}

//= stale_kernel | .* access out of bounds | A kernel is given memory that was freed.
static void stale_kernel() {
    float *x = zeros();
    cudaFree(x);
    add<<<1, 64>>>(x, N);
}

//= host_too_early | race with the host | The host reads managed memory while the kernel runs.
static void host_too_early() {
    float *x;
    cudaMallocManaged(&x, N * sizeof *x);
    for (int i = 0; i < N; i++) x[i] = 0;
    add<<<1, 64>>>(x, N);
    printf("%g\n", x[5]); // @host_too_early
}

//= two_streams | race between streams | A kernel in a second stream uses what one in the first writes, without an event.
static void two_streams() {
    float *x = zeros();
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    add<<<1, 64, 0, a>>>(x, N);
    add<<<1, 64, 0, b>>>(x, N); // @two_streams
}

// ---- Which is run

#define RUN(name, ...)                                                                             \
    if (!strcmp(which, #name)) __VA_ARGS__

int main(int n, char **arg) {
    const char *which = n > 1 ? arg[1] : "";
    float *f = zeros(), *g = zeros(), *fresh;
    unsigned *u = words(), *v = words(), *w = words();
    cudaMalloc(&fresh, N * sizeof *fresh);
    RUN(missing_barrier, missing_barrier<<<1, 256>>>(f, g));
    RUN(second_barrier, second_barrier<<<1, 128>>>(f, g));
    RUN(barrier_in_if, barrier_in_if<<<1, 64>>>(f));
    RUN(histogram, histogram<<<1, 32>>>(u, v));
    RUN(volatile_sums, volatile_sums<<<1, 32>>>(f, g));
    RUN(shuffle_absent, shuffle_absent<<<1, 32>>>(f));
    RUN(uninitialised_shared, uninitialised_shared<<<1, 64>>>(u, v));
    RUN(uninitialised_global, uninitialised_global<<<1, 64>>>(f, fresh));
    RUN(past_the_end, past_the_end<<<4, 256>>>(f, g, N));
    RUN(static_overrun, static_overrun<<<1, 64>>>(f, g));
    RUN(dynamic_too_small, dynamic_too_small<<<1, 128, 64 * sizeof(float)>>>(f, g));
    RUN(misaligned, misaligned<<<1, 32>>>(f, g));
    RUN(index_overflow, index_overflow<<<1, 32>>>(f, 40001));
    RUN(ld_nc, ld_nc<<<1, 64>>>(f));
    RUN(neighbour_block, neighbour_block<<<2, 128>>>(f));
    RUN(reader_fence, reader_fence<<<2, 1>>>(u, v, w));
    RUN(writer_fence, writer_fence<<<2, 1>>>(u, v, w));
    RUN(wait_one_short, wait_one_short<<<1, 32>>>(u, v));
    RUN(copy_source, copy_source<<<1, 64>>>(u, v));
    RUN(store_read_back, store_read_back<<<1, 64>>>(u, v));
    RUN(bulk_source, bulk_source<<<1, 64>>>(u, v));
    RUN(half_the_bytes, half_the_bytes<<<1, 64>>>(u, v));
    RUN(proxy_fence, proxy_fence<<<1, 64>>>(u));
    RUN(product_in_flight, product_in_flight<<<1, 128>>>(f));
    RUN(left_cluster, left_cluster<<<2, 32>>>(u));
    RUN(double_free, double_free());
    RUN(stale_host, stale_host());
    RUN(stale_kernel, stale_kernel());
    RUN(host_too_early, host_too_early());
    RUN(two_streams, two_streams());
    return cudaDeviceSynchronize() != cudaSuccess;
}
