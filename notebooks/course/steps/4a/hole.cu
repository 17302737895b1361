// Step 4a: which address a lane gives to ldmatrix. One warp loads a tile of Q and a tile of K, 16 x 16 halves each.
#include "common/cuda/ptx.cuh"

extern "C" __global__ void fragments(const uint4 *q, const uint4 *k, uint32_t *q_regs,
                                     uint32_t *k_regs) {
    __shared__ uint4 q_smem[16][2], k_smem[16][2]; // rows of two chunks of 16 bytes
    const int lane = threadIdx.x;
    q_smem[lane / 2][lane % 2] = q[lane];
    k_smem[lane / 2][lane % 2] = k[lane];
    __syncwarp(); // all lanes have written

    int q_row = 0, q_chunk = 0, k_row = 0, k_chunk = 0;
    // BEGIN SOLUTION: row and chunk whose address this lane gives, of Q and of K
    q_row = lane / 8 % 2 * 8 + lane % 8; // matrices 1 and 3 are the lower ones
    q_chunk = lane / 16;                 // matrices 2 and 3 are the right ones
    k_row = lane / 16 * 8 + lane % 8;    // matrices 2 and 3 are the lower ones
    k_chunk = lane / 8 % 2;              // matrices 1 and 3 are the right ones
    // END SOLUTION

    uint32_t q_frag[4], k_frag[4];
    ldmatrix_x4(q_frag, smem_address(&q_smem[q_row][q_chunk]));
    ldmatrix_x4(k_frag, smem_address(&k_smem[k_row][k_chunk]));
    for (int j = 0; j < 4; j++) q_regs[lane * 4 + j] = q_frag[j], k_regs[lane * 4 + j] = k_frag[j];
}

// ANSWER = None  (to the question: a number)
