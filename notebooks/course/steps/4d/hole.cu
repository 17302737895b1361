// Step 4d: softmax in registers. One warp has 16 rows of 16 scores, as mma.sync leaves them; lane by lane in memory.
#include "common/cuda/ptx.cuh"

extern "C" __global__ void softmax(const float *s, float *p, float *m, float *l) {
    const int lane = threadIdx.x;
    // [block n of 8 columns][two columns of row r = 0, then two of row r = 1]
    float s_frag[2][4], p_frag[2][4] = {};
    float m_frag[2] = {}, l_frag[2] = {}; // of the two rows
    for (int n = 0; n < 2; n++)
        for (int i = 0; i < 4; i++) s_frag[n][i] = s[lane * 8 + n * 4 + i];
    // BEGIN SOLUTION: for both rows m_frag, p_frag and l_frag
    for (int r = 0; r < 2; r++) {
        float top = -INFINITY, sum = 0;
        for (int n = 0; n < 2; n++) top = fmaxf(top, fmaxf(s_frag[n][2 * r], s_frag[n][2 * r + 1]));
        top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
        top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
        for (int n = 0; n < 2; n++)
            for (int i = 2 * r; i < 2 * r + 2; i++) sum += p_frag[n][i] = ex2(s_frag[n][i] - top);
        sum += __shfl_xor_sync(~0u, sum, 1);
        sum += __shfl_xor_sync(~0u, sum, 2);
        m_frag[r] = top, l_frag[r] = sum;
    }
    // END SOLUTION
    for (int n = 0; n < 2; n++)
        for (int i = 0; i < 4; i++) p[lane * 8 + n * 4 + i] = p_frag[n][i];
    for (int r = 0; r < 2; r++) m[lane * 2 + r] = m_frag[r], l[lane * 2 + r] = l_frag[r];
}

// ANSWER = None  (to the question: a number)
