// Step 2b: leading dimensions. One warp computes one 16 x 16 tile of S from a block of Q and a block of K.
#include <mma.h>

using namespace nvcuda;

constexpr int LD = 40;   // elements from one row of q or k to the next
constexpr int S_LD = 24; // elements from one row of s to the next

extern "C" __global__ void scores(const half *q, const half *k, float *s, int q_row, int k_row,
                                  int d0) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> q_frag;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> s_frag;
    // BEGIN SOLUTION: declare k_frag, load both blocks, multiply, store
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> k_frag;
    wmma::load_matrix_sync(q_frag, q + q_row * LD + d0, LD);
    wmma::load_matrix_sync(k_frag, k + k_row * LD + d0, LD);
    wmma::fill_fragment(s_frag, 0);
    wmma::mma_sync(s_frag, q_frag, k_frag, s_frag);
    wmma::store_matrix_sync(s, s_frag, S_LD, wmma::mem_row_major);
    // END SOLUTION
}

// ANSWER = None  (to the question: a number)
