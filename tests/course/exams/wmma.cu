#include "common/cuda/ptx.cuh"
#include "notebooks/course/exams/gemm_args.h"

#include <mma.h>

using namespace nvcuda;
constexpr int BK = 64,
              LD = BK + 8; // 16 bytes more: rows that follow each other begin in other banks

extern "C" __constant__ int launch[4] = {32, 32, 128, 0};

static __device__ void copy(half (*smem)[LD], const half *x, int ld, int row0, int n_rows, int k0,
                            int k) {
    for (int i = threadIdx.x; i < 32 * BK / 8; i += 128) {
        const int row = row0 + i / (BK / 8), col = k0 + i % (BK / 8) * 8;
        const uint4 zero = {0, 0, 0, 0};
        *(uint4 *)&smem[i / (BK / 8)][i % (BK / 8) * 8] =
            row < n_rows && col < k ? *(const uint4 *)(x + (int64_t)row * ld + col) : zero;
    }
}

// One warp has 16 x 16 of C; it goes through shared memory to where it belongs.
extern "C" __global__ void gemm(const __grid_constant__ struct gemm_args args) {
    __shared__ __align__(128) half a[32][LD], b[32][LD];
    __shared__ __align__(128) float c[32][40];
    const int warp = threadIdx.x / 32, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c_frag;
    wmma::fill_fragment(c_frag, 0);
    for (int k0 = 0; k0 < args.k; k0 += BK) {
        copy(a, args.a, args.lda, row0, args.m, k0, args.k);
        copy(b, args.b, args.ldb, col0, args.n, k0, args.k);
        __syncthreads();
        for (int d = 0; d < BK; d += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a_frag;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b_frag;
            wmma::load_matrix_sync(a_frag, &a[warp / 2 * 16][d], LD);
            wmma::load_matrix_sync(b_frag, &b[warp % 2 * 16][d], LD);
            wmma::mma_sync(c_frag, a_frag, b_frag, c_frag);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(&c[warp / 2 * 16][warp % 2 * 16], c_frag, 40, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < 32 * 32; i += 128)
        if (row0 + i / 32 < args.m && col0 + i % 32 < args.n)
            args.c[(int64_t)(row0 + i / 32) * args.ldc + col0 + i % 32] = c[i / 32][i % 32];
}
