/* Split shapes: two key groups have found O, maxima and row sums for the same rows. Included by
 * kernel.cu after its constants. */
#pragma once

// Each gives the other half of its columns and is left with the final values of its own half, now
// its first blocks. A CTA has one tile of O, so partial_smem is written once.
static __device__ __forceinline__ void combine(float (&o_frag)[O_BLOCKS][4], float (&m_frag)[2],
                                               float (&l_frag)[2], float *partial_smem,
                                               int key_group) {
    constexpr int HALF = DIM / 16; // blocks of 8 columns
    float *mine = partial_smem + key_group * PARTIAL_FLOATS(DIM) * 128 + threadIdx.x % 128;
    const float *other = partial_smem + !key_group * PARTIAL_FLOATS(DIM) * 128 + threadIdx.x % 128;
    for (int r = 0; r < 2; r++) mine[128 * r] = m_frag[r], mine[128 * (2 + r)] = l_frag[r];
#pragma unroll
    for (int i = 0; i < 4 * HALF; i++) {
        float low = o_frag[i / 4][i % 4], high = o_frag[HALF + i / 4][i % 4];
        mine[128 * (4 + i)] = key_group ? low : high;
        o_frag[i / 4][i % 4] = key_group ? high : low;
    }
    bar_sync(BAR_COMBINE, 128 * KEY_GROUPS); // partial_smem is written
    float alpha[2], beta[2];                 // what is mine and what is the other's shrink by
    for (int r = 0; r < 2; r++) {
        float m_other = other[128 * r], m_new = fmaxf(m_frag[r], m_other);
        float base = m_new == -INFINITY ? 0 : m_new;
        alpha[r] = ex2(m_frag[r] - base);
        beta[r] = ex2(m_other - base);
        m_frag[r] = m_new;
        l_frag[r] = l_frag[r] * alpha[r] + other[128 * (2 + r)] * beta[r];
    }
#pragma unroll
    for (int i = 0; i < 4 * HALF; i++)
        o_frag[i / 4][i % 4] =
            o_frag[i / 4][i % 4] * alpha[i / 2 % 2] + other[128 * (4 + i)] * beta[i / 2 % 2];
}
