/* Exam 1, solved: C = A B^T in fp32, A (m, k) and B (n, k) in fp16. A block computes 128 x 128 of C, a warp 64 x 64 of that.
 *
 *                     BN = 128                      k is walked in tiles of 64, which cp.async copies into a ring:
 *              +--------+--------+
 *   BM = 128   | warp 0 | warp 1 |                  copy     0 1 | 2 | 3 | 4
 *              +--------+--------+                  products     | 0 | 1 | 2       | = wait and barrier
 *              | warp 2 | warp 3 |
 *              +--------+--------+
 *
 * Shared memory: STAGES times A (BM, BK), then B (BN, BK), fp16, rows of 128 bytes in 8 chunks of 16. Chunk c of row r lies
 * at place c ^ r % 8, so the 8 rows that ldmatrix reads at once lie in 8 different groups of 4 banks. */
#include "common/cuda/ptx.cuh"
#include "notebooks/course/exams/gemm_args.h"

constexpr int BM = 128, BN = 128, BK = 64, STAGES = 3, THREADS = 128, WM = 64, WN = 64;
constexpr int A_BYTES = BM * BK * 2, STAGE_BYTES = A_BYTES + BN * BK * 2;

extern "C" __constant__ int launch[4] = {BM, BN, THREADS, STAGES *STAGE_BYTES};

static __device__ int swizzled(int row, int chunk) { return row * 2 * BK + (chunk ^ row % 8) * 16; }

// Starts to copy x[row0 ...][k0 ...] of x (n_rows, k). What lies outside of x becomes zero, which adds nothing to C.
template <int ROWS>
static __device__ void load_tile(unsigned char *smem, const half *x, int ld, int row0, int n_rows,
                                 int k0, int k) {
#pragma unroll
    for (int i = threadIdx.x; i < ROWS * BK / 8; i += THREADS) {
        const int row = row0 + i / 8, col = k0 + i % 8 * 8;
        const bool is_there =
            row < n_rows && col < k; // k is a multiple of 8: all of the 16 bytes, or none
        cp_async_16(smem + swizzled(i / 8, i % 8), is_there ? x + (int64_t)row * ld + col : x,
                    is_there ? 16 : 0);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    gemm(const __grid_constant__ struct gemm_args args) {
    extern __shared__ __align__(128) unsigned char smem[];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN; // of this block in C
    const int warp_row = warp / 2 * WM, warp_col = warp % 2 * WN;
    const int n_tiles = (args.k + BK - 1) / BK;
    float c_frag[WM / 16][WN / 8][4] = {};

    auto load = [&](int t) {
        unsigned char *stage = smem + t % STAGES * STAGE_BYTES;
        if (t < n_tiles) {
            load_tile<BM>(stage, args.a, args.lda, row0, args.m, t * BK, args.k);
            load_tile<BN>(stage + A_BYTES, args.b, args.ldb, col0, args.n, t * BK, args.k);
        }
        cp_async_commit(); // an empty group, too, keeps the count of the wait right
    };
    for (int t = 0; t < STAGES - 1; t++) load(t);

    for (int t = 0; t < n_tiles; t++) {
        cp_async_wait<STAGES - 2>(); // this thread's part of tile t has landed
        __syncthreads(); // all threads' parts have; all have read tile t - 1, where the next one goes
        load(t + STAGES - 1);
        // Lane i names row i % 8 of the i / 8-th of four 8x8 matrices:  A  0 2   B  0 1   (A: rows, k; B: columns of C, k)
        //                                                                  1 3      2 3
        const uint32_t a_smem = smem_address(smem + t % STAGES * STAGE_BYTES),
                       b_smem = a_smem + A_BYTES;
#pragma unroll
        for (int kk = 0; kk < BK / 16; kk++) {
            uint32_t a_frag[WM / 16][4], b_frag[WN / 16][4];
#pragma unroll
            for (int i = 0; i < WM / 16; i++)
                ldmatrix_x4(a_frag[i],
                            a_smem + swizzled(warp_row + i * 16 + lane % 16, 2 * kk + lane / 16));
#pragma unroll
            for (int j = 0; j < WN / 16; j++)
                ldmatrix_x4(b_frag[j],
                            b_smem + swizzled(warp_col + j * 16 + lane / 16 * 8 + lane % 8,
                                              2 * kk + lane / 8 % 2));
#pragma unroll
            for (int i = 0; i < WM / 16; i++)
#pragma unroll
                for (int j = 0; j < WN / 8; j++)
                    mma_m16n8k16(c_frag[i][j], a_frag[i], b_frag[j / 2][j % 2 * 2],
                                 b_frag[j / 2][j % 2 * 2 + 1]);
        }
    }

    // A lane holds rows lane / 4 and + 8, columns lane % 4 * 2 and + 1 of each block of 16 x 8.
#pragma unroll
    for (int e = 0; e < WM / 16 * WN / 8 * 4; e++) {
        const int i = e / 4 / (WN / 8), j = e / 4 % (WN / 8);
        const int row = row0 + warp_row + i * 16 + lane / 4 + e % 4 / 2 * 8;
        const int col = col0 + warp_col + j * 8 + lane % 4 * 2 + e % 2;
        if (row < args.m && col < args.n)
            args.c[(int64_t)row * args.ldc + col] = c_frag[i][j][e % 4];
    }
}
