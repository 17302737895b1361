// Step 2a: one fragment. One warp computes C = scale * (A B); a, b and c are 16 x 16, rows one after the other.
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void product(const half *a, const half *b, float *c, float scale) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a_frag;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b_frag;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c_frag;
    // BEGIN SOLUTION: load A and B, multiply, scale each element, store
    wmma::load_matrix_sync(a_frag, a, 16);
    wmma::load_matrix_sync(b_frag, b, 16);
    wmma::fill_fragment(c_frag, 0);
    wmma::mma_sync(c_frag, a_frag, b_frag, c_frag);
    for (int i = 0; i < c_frag.num_elements; i++) c_frag.x[i] *= scale;
    wmma::store_matrix_sync(c, c_frag, 16, wmma::mem_row_major);
    // END SOLUTION
}

// ANSWER = None  (to the question: a number)
