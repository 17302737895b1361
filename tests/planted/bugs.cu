// Fifty mistakes of fifty kinds, a function each: `bugs NAME` runs one. planted.py says which of them the emulator names.
//
//     //= NAME | KIND | what is wrong         KIND: a regular expression for how the report begins
//     ...                // @NAME             a line that the report must name; one of several is enough
#include "tests/corpus/corpus.cuh"

#include <cooperative_groups.h>
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

// ---- Twenty more

//= late_phase | race | The parity of a ring of three slots is counted as if it had four: a wait passes at once.
__global__ void late_phase(const unsigned *in, unsigned *out) {
    __shared__ alignas(128) unsigned tile[3][64];
    __shared__ uint64_t full[3], empty[3];
    make_barriers(full, 3, 1);
    make_barriers(empty, 3, 1);
    if (tid() == 0) {
        for (int t = 0; t < 6; t++) {
            wait(smem_address(&empty[t % 3]), (t / 3 & 1) ^ 1);
            arrive_expect(smem_address(&full[t % 3]), 256);
            bulk_load(tile[t % 3], in + 64 * t, 256, smem_address(&full[t % 3])); // @late_phase
        }
    } else if (warp() == 1) {
        for (int t = 0; t < 6; t++) {
            wait(smem_address(&full[t % 3]), t / 4 & 1); // @late_phase
            out[32 * t + lane()] = tile[t % 3][lane()];  // @late_phase
            __syncwarp();
            if (lane() == 0) arrive(smem_address(&empty[t % 3]));
        }
    }
}

//= expects_for_one | race | A multicast fills both blocks, and only the leader announces the bytes.
__global__ void __cluster_dims__(2) expects_for_one(const unsigned *in, unsigned *out) {
    __shared__ alignas(128) unsigned tile[64];
    __shared__ uint64_t full;
    make_barriers(&full, 1, 1);
    cluster_sync();
    if (tid() == 0) {
        if (rank() == 0) expect_tx(smem_address(&full), 256);
        arrive(smem_address(&full));
    }
    if (tid() == 0 && rank() == 0)
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::" // @expects_for_one
            "cluster [%0], [%1], %2, [%3], %4;" ::"r"(smem_address(tile)),
            "l"(in), "r"(256), "r"(smem_address(&full)), "h"((unsigned short)3)
            : "memory");
    __syncwarp();
    wait(smem_address(&full), 0);
    out[gtid()] = tile[tid()]; // @expects_for_one
    cluster_sync();
}

//= last_tile | race | The last turn of a pipeline commits nothing, and does not wait.
__global__ void last_tile(const unsigned *in, unsigned *out) {
    __shared__ alignas(16) unsigned tile[2][128];
    copy_16(&tile[0][4 * tid()], &in[4 * tid()]), copy_commit();
    for (int t = 0; t < 4; t++) {
        if (t + 1 < 4) {
            copy_16(&tile[(t + 1) % 2][4 * tid()], &in[128 * (t + 1) + 4 * tid()]), copy_commit();
            copy_wait<1>();
        }
        __syncthreads();
        out[32 * t + tid()] = tile[t % 2][127 - tid()]; // @last_tile
        __syncthreads();
    }
}

//= part_of_warpgroup | bad operand | One warp gives up registers; setmaxnreg is for its whole warpgroup.
__global__ void __launch_bounds__(128, 1) part_of_warpgroup(unsigned *out) {
    if (warp() == 0) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;"); // @part_of_warpgroup
    __syncthreads();
    out[tid()] = 1;
}

//= operand_overwritten | race | B is overwritten while the product may still read it.
__global__ void operand_overwritten(float *out) {
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
    wgmma_m64k16_ss<8>(d, desc_a, desc_b, 1);
    wgmma_commit_group();
    __syncthreads();
    if (tid() < 64) b[tid()] = 0; // @operand_overwritten
    wgmma_wait_group<0>();
    registers_fence<1>(d);
    for (int i = 0; i < 4; i++) out[128 * i + tid()] = d[0][i];
}

//= rank_too_large | bad operand | The last block of a cluster asks for its right neighbour.
__global__ void __cluster_dims__(2) rank_too_large(unsigned *out) {
    __shared__ unsigned tile[32];
    tile[tid()] = tid();
    cluster_sync();
    out[gtid()] = ld_shared(at_rank(&tile[tid()], rank() + 1)); // @rank_too_large
    cluster_sync();
}

//= adds_after_exit | access outside a block's life | A histogram adds to the other block's bins, which may have ended.
__global__ void __cluster_dims__(2) adds_after_exit(unsigned *out) {
    __shared__ unsigned bins[32];
    bins[tid()] = 0;
    cluster_sync();
    const uint32_t other = at_rank(&bins[tid()], rank() ^ 1);
    asm volatile("red.shared::cluster.add.u32 [%0], 1;" ::"r"(other) // @adds_after_exit
                 : "memory");                                        // @adds_after_exit
    out[gtid()] = rank();
}

//= block_scope | race | Blocks count in one word by atomicAdd_block.
__global__ void block_scope(unsigned *count) { atomicAdd_block(count, 1); } // @block_scope

//= slot_of_store | race | A slot is filled again while a bulk store may still read it.
__global__ void slot_of_store(unsigned *out) {
    __shared__ alignas(128) unsigned tile[64];
    for (int t = 0; t < 2; t++) {
        tile[tid()] = t; // @slot_of_store
        fence_async();
        __syncthreads();
        if (tid() == 0) bulk_store(out + 64 * t, tile, 256), bulk_commit();
        __syncthreads();
    }
    if (tid() == 0) bulk_wait<0>();
}

//= made_again | mbarrier misuse | An mbarrier is initialised again for each tile.
__global__ void made_again(const unsigned *in, unsigned *out) {
    __shared__ alignas(128) unsigned tile[64];
    __shared__ uint64_t full;
    for (int t = 0; t < 2; t++) {
        if (tid() == 0) mbarrier_init(smem_address(&full), 1), fence_mbarrier_init(); // @made_again
        __syncthreads();
        if (tid() == 0)
            arrive_expect(smem_address(&full), 256), bulk_load(tile, in, 256, smem_address(&full));
        wait(smem_address(&full), 0);
        out[tid()] = tile[tid()];
        __syncthreads();
    }
}

//= halo | uninitialised shared | The halo's first column is loaded by all blocks but the first.
__global__ void halo(const float *x, float *y) {
    __shared__ float t[130];
    const int i = gtid();
    t[tid() + 1] = x[i];
    if (tid() == 0 && i > 0) t[0] = x[i - 1];
    if (tid() == 127) t[129] = 0;
    __syncthreads();
    y[i] = t[tid()] + t[tid() + 1] + t[tid() + 2]; // @halo
}

//= printf_value | bad operand | %d stands for a float, which printf gets as a double.
__global__ void printf_value(float *x) {
    if (tid() == 0) printf("%d elements, the first %d\n", 5, x[0]); // @printf_value
}

//= printf_text | bad operand | %s stands for a number.
__global__ void printf_text(long n) {
    if (tid() == 0) printf("name %s\n", n); // @printf_text
}

//= grid_sync | trap | grid.sync() in a launch that is not cooperative.
__global__ void grid_sync(unsigned *x) {
    x[gtid()] = 1;
    cooperative_groups::this_grid().sync(); // @grid_sync
    x[gtid() + 256] = x[255 - gtid()];
}

//= lock | race | A lock is taken and given back without a fence.
__global__ void lock(unsigned *taken, unsigned *sum) {
    if (tid() != 0) return;
    while (atomicCAS(taken, 0, 1) != 0) {
    }
    *sum += 1; // @lock
    atomicExch(taken, 0);
}

//= odd_size | misaligned access | A bulk load of 100 bytes.
__global__ void odd_size(const unsigned *in, unsigned *out) {
    __shared__ alignas(128) unsigned tile[64];
    __shared__ uint64_t full;
    make_barriers(&full, 1, 1);
    if (tid() == 0) {
        arrive_expect(smem_address(&full), 100);
        bulk_load(tile, in, 100, smem_address(&full)); // @odd_size
    }
    wait(smem_address(&full), 0);
    out[tid()] = tile[tid() % 25];
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

static cudaStream_t apart() {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    return s;
}

//= event_early | race between streams | An event is recorded before the kernel for which it shall stand.
static void event_early() {
    float *x = zeros();
    cudaStream_t a = apart(), b = apart();
    cudaEvent_t e;
    cudaEventCreate(&e);
    cudaEventRecord(e, a);
    add<<<1, 64, 0, a>>>(x, N);
    cudaStreamWaitEvent(b, e, 0);
    add<<<1, 64, 0, b>>>(x, N); // @event_early
}

//= freed_elsewhere | race between streams: cudaFreeAsync | Memory is freed in a stream that does not wait for its last use.
static void freed_elsewhere() {
    float *x;
    cudaStream_t a = apart(), b = apart();
    cudaMallocAsync(&x, N * sizeof *x, a);
    cudaMemsetAsync(x, 0, N * sizeof *x, a);
    cudaFreeAsync(x, b); // @freed_elsewhere
}

//= allocated_elsewhere | race between streams | Memory is used in a stream that does not wait for its allocation.
static void allocated_elsewhere() {
    float *x;
    cudaMallocAsync(&x, N * sizeof *x, apart());
    cudaMemsetAsync(x, 0, N * sizeof *x, apart()); // @allocated_elsewhere
}

//= mapped_early | race with the host | The host reads mapped memory before it has waited for the kernel.
static void mapped_early() {
    float *h;
    cudaHostAlloc(&h, N * sizeof *h, cudaHostAllocMapped);
    memset(h, 0, N * sizeof *h);
    add<<<1, 64>>>(h, N);
    printf("%g\n", h[5]); // @mapped_early
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
    RUN(late_phase, late_phase<<<1, 64>>>(u, v));
    RUN(expects_for_one, expects_for_one<<<2, 32>>>(u, v));
    RUN(last_tile, last_tile<<<1, 32>>>(u, v));
    RUN(part_of_warpgroup, part_of_warpgroup<<<1, 128>>>(u));
    RUN(operand_overwritten, operand_overwritten<<<1, 128>>>(f));
    RUN(rank_too_large, rank_too_large<<<2, 32>>>(u));
    RUN(adds_after_exit, adds_after_exit<<<2, 32>>>(u));
    RUN(block_scope, block_scope<<<2, 32>>>(u));
    RUN(slot_of_store, slot_of_store<<<1, 64>>>(u));
    RUN(made_again, made_again<<<1, 64>>>(u, v));
    RUN(halo, halo<<<4, 128>>>(f, g));
    RUN(printf_value, printf_value<<<1, 32>>>(f));
    RUN(printf_text, printf_text<<<1, 32>>>(5));
    RUN(grid_sync, grid_sync<<<2, 128>>>(u));
    RUN(lock, lock<<<4, 32>>>(u, v));
    RUN(odd_size, odd_size<<<1, 64>>>(u, v));
    RUN(event_early, event_early());
    RUN(freed_elsewhere, freed_elsewhere());
    RUN(allocated_elsewhere, allocated_elsewhere());
    RUN(mapped_early, mapped_early());
    return cudaDeviceSynchronize() != cudaSuccess;
}
