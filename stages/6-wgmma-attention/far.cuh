/* Scores so far out that fp32 keeps no fraction of them. Included by kernel.cu.
 *
 * Needs nothing from other files. */
#pragma once

constexpr float FAR = 1 << 22; // a base beyond it may be rounded by 1/4

// P = 2^(S scale_log2 - base), one multiply-add, which does not round S scale_log2. A large base is
// itself rounded, and the difference could be more than P has room for. Then S is multiplied here,
// and rounded like the base. Returns the factor that this tile's S still needs; `scale` becomes
// that of the next tiles, or NaN: then each of them exceeds, gets its own base, and comes here.
static __device__ __forceinline__ float
scale_far_out(float (&s_frag)[BKV / 8][4], const float (&base)[2], float scale_log2, float &scale) {
    const bool far = __any_sync(~0u, fmaxf(fabsf(base[0]), fabsf(base[1])) > FAR);
    if (far)
#pragma unroll
        for (int i = 0; i < BKV / 2; i++) s_frag[i / 4][i % 4] *= scale_log2;
    scale = far ? NAN : scale_log2;
    return far ? 1 : scale_log2;
}
