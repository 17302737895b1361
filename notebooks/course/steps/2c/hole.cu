// Step 2c: the product by tiles. One warp computes 16 rows of S = Q K^T: q is [16][LD], k is [KEYS][LD], s is [16][S_LD].
#include <mma.h>

using namespace nvcuda;

constexpr int D = 64, KEYS = 48;
constexpr int LD = D + 8;      // elements from one row of q or k to the next
constexpr int S_LD = KEYS + 4; // elements from one row of s to the next

extern "C" __global__ void scores(const half *q, const half *k, float *s) {
    // BEGIN SOLUTION: Q's fragments; for each square of 16 keys the sum over d, and its store
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> q_frag[D / 16];
    for (int d = 0; d < D / 16; d++) wmma::load_matrix_sync(q_frag[d], q + d * 16, LD);
    for (int n = 0; n < KEYS / 16; n++) {
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> s_acc;
        wmma::fill_fragment(s_acc, 0);
        for (int d = 0; d < D / 16; d++) {
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> k_frag;
            wmma::load_matrix_sync(k_frag, k + n * 16 * LD + d * 16, LD);
            wmma::mma_sync(s_acc, q_frag[d], k_frag, s_acc);
        }
        wmma::store_matrix_sync(s + n * 16, s_acc, S_LD, wmma::mem_row_major);
    }
    // END SOLUTION
}

// ANSWER = None  (to the question: a number)
