/* Stage 5: one WGMMA under the microscope.
 *
 *   multiply   C (64, N) = A (64, K) B (N, K)^T, K = 16 * k_steps: one wgmma.mma_async per 16 of k
 *   measure    the same instruction over and over: cycles from first issue to last completion
 *
 *                K                 N                     128 threads = 4 warps = 1 warpgroup;
 *           +---------+     +-------------+              each warp's accumulators hold 16 rows of C
 *   warp 0  |         |     |             | 16
 *   warp 1  |    A    |  x  |     B^T     | 16
 *   warp 2  |         |     |             | 16
 *   warp 3  |         |     |             | 16
 *           +---------+     +-------------+
 *
 * The accumulator, T = thread, i = index into its N / 2 registers:
 *     col     0 1   2 3   4 5   6 7  |  8 9
 *   row  0    T0    T1    T2    T3   |  T0           i = 0,1  |  i = 4,5
 *   row  1    T4    T5    T6    T7   |  T4
 *   row  8    T0    T1    T2    T3   |  T0           i = 2,3  |  i = 6,7
 *   row 16    T32   T33 ...
 *
 * The A fragment, when A comes from registers: r = index of a register, two halves each:
 *     k       0 1   2 3   4 5   6 7  |  8 9
 *   row  0    T0    T1    T2    T3   |  T0           r = 0    |  r = 2
 *   row  8    T0    T1    T2    T3   |  T0           r = 1    |  r = 3
 *
 * Shared memory: A's tile, then B's at the next multiple of 1024 bytes, byte for byte as the host
 * laid them out (matrices.c): the kernel knows no layout, only descriptors. */
#include "common/cuda/ptx.cuh"
#include "common/cuda/ptx_sm90.cuh"
#include "wgmma_args.h"
#include "wgmma_fragment.h"

constexpr int N = TILE_N;      // columns of C: -DTILE_N=8, 16 ... 256
constexpr int WARPGROUP = 128; // threads that issue one wgmma together

#define BREAK_FENCE 1 // --break missing-fence
#define BREAK_WAIT  2 // --break missing-wait
#ifndef BREAK
#define BREAK 0
#endif

// One instruction, six forms: A from shared memory K-major or M-major, or from registers; B K-major
// or N-major.
template <bool A_IN_REGISTERS, int A_MAJOR, int B_MAJOR>
static __device__ __forceinline__ void wgmma(float (&d)[N / 8][4], const uint32_t (&a)[4],
                                             uint64_t a_desc, uint64_t b_desc, int use_d) {
    if constexpr (A_IN_REGISTERS)
        wgmma_m64k16_rs<N, B_MAJOR>(d, a, b_desc, use_d);
    else
        wgmma_m64k16_ss<N, A_MAJOR, B_MAJOR>(d, a_desc, b_desc, use_d);
}

// Copies the tiles to shared memory, which lies at a multiple of 1024 bytes as swizzles want it.
static __device__ uint32_t load_tiles(const struct wgmma_args &args) {
    extern __shared__ __align__(1024) unsigned char smem[];
    for (uint32_t at = threadIdx.x * 16; at < args.tile_bytes; at += blockDim.x * 16)
        *(uint4 *)(smem + at) = *(const uint4 *)(args.tiles + at);
    // BEGIN SOLUTION lab-5: wgmma, of whichever warp, must see what every thread has written
    if (!args.no_proxy_fence)
        fence_proxy_async(); // wgmma reads through the async proxy: it must see these writes
    __syncthreads();         // all threads have written their share; any warp may issue the wgmma
    // END SOLUTION
    return smem_address(smem);
}

// A (64, 16) at k step s, from plain row order into the fragment drawn above.
static __device__ __forceinline__ void load_a_fragment(uint32_t (&a)[4],
                                                       const struct wgmma_args &args, int s) {
    int tid = threadIdx.x % WARPGROUP;
    for (int r = 0; r < 4; r++) {
        int row = wgmma_a_row(tid, r), k = 16 * s + wgmma_a_k(tid, r);
        a[r] = *(const uint32_t *)(args.a + row * 16 * args.k_steps + k);
    }
}

static __device__ void store_c(const struct wgmma_args &args, const float (&d)[N / 8][4]) {
    int tid = threadIdx.x;
    for (int i = 0; i < N / 2; i++) {
        int row =
            args.wrong_row_slot ? tid / 32 * 16 + tid % 32 / 4 + i % 2 * 8 : wgmma_row(tid, i);
        args.c[row * N + wgmma_col(tid, i)] = d[i / 4][i % 4];
    }
}

template <bool A_IN_REGISTERS, int A_MAJOR, int B_MAJOR>
static __device__ void multiply(const struct wgmma_args &args) {
    float d[N / 8][4];
    uint32_t smem = load_tiles(args), a[4] = {};
    for (int s = 0; s < args.k_steps; s++) {
        if (A_IN_REGISTERS) load_a_fragment(a, args, s);
        // BEGIN SOLUTION lab-5: d += A B^T for k step s: fence, descriptors, wgmma, commit, wait
        if (BREAK != BREAK_FENCE)
            wgmma_fence(); // registers that this thread wrote are ready for the wgmma
        wgmma<A_IN_REGISTERS, A_MAJOR, B_MAJOR>(
            d, a, gmma_desc_advance(args.a_desc, smem + args.a_start[s]),
            gmma_desc_advance(args.b_desc, smem + args.b_start[s]), s > 0);
        wgmma_commit_group();
        if (BREAK != BREAK_WAIT)
            wgmma_wait_group<0>(); // a may be refilled, and d be read, after this only
        // END SOLUTION
    }
    store_c(args, d);
}

#define MULTIPLY(form, A_IN_REGISTERS, A_MAJOR, B_MAJOR)                                           \
    extern "C" __global__ void __launch_bounds__(WARPGROUP)                                        \
        multiply_##form(const __grid_constant__ struct wgmma_args args) {                          \
        multiply<A_IN_REGISTERS, A_MAJOR, B_MAJOR>(args);                                          \
    }
MULTIPLY(smem_k_k, false, K_MAJOR, K_MAJOR)
#if BREAK == 0 // a mistake is shown with the first form
MULTIPLY(smem_k_n, false, K_MAJOR, MN_MAJOR)
MULTIPLY(smem_m_k, false, MN_MAJOR, K_MAJOR)
MULTIPLY(smem_m_n, false, MN_MAJOR, MN_MAJOR)
MULTIPLY(regs_k_k, true, K_MAJOR, K_MAJOR)
MULTIPLY(regs_k_n, true, K_MAJOR, MN_MAJOR)

// GROUP wgmma are issued and committed together, and then at most DEPTH groups may still be under
// way. A warpgroup times itself from its first issue until its last result is there.
template <int GROUP, int DEPTH, bool A_IN_REGISTERS>
static __device__ void measure(const struct wgmma_args &args) {
    float d[N / 8][4] = {};
    uint32_t smem = load_tiles(args), a[4] = {};
    uint64_t a_desc = gmma_desc_advance(args.a_desc, smem + args.a_start[0]);
    uint64_t b_desc = gmma_desc_advance(args.b_desc, smem + args.b_start[0]);
    if (A_IN_REGISTERS) load_a_fragment(a, args, 0);
    __syncthreads(); // all warpgroups start together

    constexpr int UNROLL = N == 64 ? 8 : (8 + GROUP - 1) / GROUP; // large N makes large code
    registers_fence(d); // the compiler may not zero d later than here
    long long begin = clock64();
    wgmma_fence();    // d and a were written by ordinary instructions
#pragma unroll UNROLL // a branch between issues would be timed too
    for (int round = 0; round < args.rounds; round++) {
#pragma unroll
        for (int i = 0; i < GROUP; i++)
            wgmma<A_IN_REGISTERS, K_MAJOR, K_MAJOR>(d, a, a_desc, b_desc, 1);
        wgmma_commit_group();
        wgmma_wait_group<DEPTH>(); // what this stage is about: how far ahead may the issue run?
    }
    wgmma_wait_group<0>(); // d is about to be read
    registers_fence(d);
    long long cycles = clock64() - begin;

    if (threadIdx.x % WARPGROUP == 0)
        args.cycles[blockIdx.x * (blockDim.x / WARPGROUP) + threadIdx.x / WARPGROUP] = cycles;
    if (args.c && blockIdx.x == 0 && threadIdx.x < WARPGROUP) store_c(args, d);
}

#define MEASURE(GROUP, DEPTH)                                                                      \
    extern "C" __global__ void __launch_bounds__(2 * WARPGROUP)                                    \
        measure_smem_##GROUP##_##DEPTH(const __grid_constant__ struct wgmma_args args) {           \
        measure<GROUP, DEPTH, false>(args);                                                        \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(2 * WARPGROUP)                                    \
        measure_regs_##GROUP##_##DEPTH(const __grid_constant__ struct wgmma_args args) {           \
        measure<GROUP, DEPTH, true>(args);                                                         \
    }
MEASURE(1, 0)
MEASURE(4, 1)
#if TILE_N == 64 // in flight against depth, for the instruction of the mission
MEASURE(1, 1)
MEASURE(1, 3)
MEASURE(2, 0)
MEASURE(2, 1)
MEASURE(4, 0)
MEASURE(8, 0)
MEASURE(8, 1)
#endif
#endif
