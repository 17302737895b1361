/* Row sums of P by the tensor cores, at head_dim 64: V gets 8 more columns, all 1, so that O gets 8
 * more, all row sums. ones_smem [BKV][64] is a page whose first 8 columns are 1; no more are read.
 * Included by kernel.cu.
 *
 * Needs KV_BYTES, ONES, O_BLOCKS, WARPGROUPS from kernel.cu. */
#pragma once

// A page of V is followed, KV_PAGE further, by the next one; or by the ones, whose distance is
// another from each stage.
static __device__ __forceinline__ uint64_t v_desc_of(uint32_t v_smem, uint32_t ones_smem) {
    return gmma_desc_encode(
        {v_smem, ONES ? ones_smem - v_smem : KV_PAGE, 1024, 0, GMMA_SWIZZLE_128});
}

// What the descriptor of the next stage has more: its start, in 16-byte units from bit 0, rises,
// and the distance to the ones, from bit 16, falls.
constexpr uint64_t V_DESC_STEP = KV_BYTES / 16 - (ONES ? (uint64_t)(KV_BYTES / 16) << 16 : 0);

static __device__ __forceinline__ void write_ones(unsigned char *ones, int tid) {
    const uint32_t two = F16_ONE << 16 | F16_ONE;
    const uint4 eight = {two, two, two, two};
    for (int row = tid; row < BKV; row += 128 * WARPGROUPS) // chunk 0 of each row
        *(uint4 *)(ones + row * 128 + row % 8 * 16) = eight;
    fence_proxy_async(); // WGMMA is to see what this thread wrote
}

// The whole rows' sums, from this thread's part of them, or from O's last columns.
static __device__ __forceinline__ void row_sums(float (&l_frag)[2],
                                                const float (&o_frag)[O_BLOCKS][4]) {
    for (int r = 0; r < 2; r++) {
        if (ONES) l_frag[r] = o_frag[O_BLOCKS - 1][2 * r];
        for (int lanes = 1; lanes < 4 && !ONES; lanes *= 2)
            l_frag[r] += __shfl_xor_sync(~0u, l_frag[r], lanes);
    }
}
