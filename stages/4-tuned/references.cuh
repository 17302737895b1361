/* References that are no good for quick tiles. The quick way computes scale * S - ref in one FFMA,
 * the careful way rounds scale * S first, as it did for the maximum that became ref. The exponents
 * of the two differ by that rounding, half a unit in the last place of ref: 2^-15 below 1024, which
 * P in fp16 does not see; far beyond, P would be wrong.
 *
 * Needs M16 from kernel.cu. */
#pragma once

constexpr float FAR = 1024;

// Whether a reference of this warp is: NO_KEY_YET, too.
static __device__ __forceinline__ bool far_out(const float (&ref_frag)[M16][2]) {
    float farthest = 0;
#pragma unroll
    for (int i = 0; i < 2 * M16; i++) farthest = fmaxf(farthest, fabsf(ref_frag[i / 2][i % 2]));
    return __any_sync(~0u, farthest > FAR);
}
