/* Which keys a group of warps computes. Small tiles have GROUPS groups of WARPS warps in a CTA: all
 * have the CTA's queries, each its own K and V buffers and its own share of the keys. If there are
 * few queries even so, split.n_splits CTAs (blockIdx.y) have the same queries, and all their groups
 * share the keys. At 7 tiles, 2 splits and 2 groups:
 *
 *   tile          0   1   2   3   4   5   6
 *   blockIdx.y    0   0   0   0   1   1   1
 *   kv_group      0   0   1   1   0   0   1
 *   share         [tile0, tile0 + n_tiles), n_turns = 2 for all
 *
 * What the shares give is weighed together in combine.cuh.
 *
 * Needs GROUPS, THREADS, quotient from kernel.cu; split_args from tile.h. */
#pragma once

struct share {
    int tile0, n_tiles;
    int n_turns; // n_tiles of the longest share: all groups pass equally many barriers
};

// The group of this thread. All lanes of a warp have the same, as the shuffle tells the compiler: it
// keeps kv_group, and what derives from it, in uniform registers.
static __device__ __forceinline__ int group_of_warps() {
    return GROUPS == 1 ? 0 : __shfl_sync(~0u, threadIdx.x / THREADS, 0);
}

static __device__ __forceinline__ struct share share_of(const int &n_tiles_all, int kv_group,
                                                        const struct split_args &split) {
    const int n_shares = split.n_splits * GROUPS;
    const int most = quotient(n_tiles_all + n_shares - 1, n_shares, split.shares);
    const int tile0 = min(n_tiles_all, (int)(blockIdx.y * GROUPS + kv_group) * most);
    const int n_tiles = min(n_tiles_all - tile0, most);
    return {tile0, n_tiles, GROUPS == 1 ? n_tiles : most};
}
