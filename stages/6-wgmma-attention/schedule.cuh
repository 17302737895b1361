/* Tiles of O in the order in which they are handed out. Included by kernel.cu after its
 * constants. */
#pragma once

struct tile {
    int b, h, kv_h, q0; // its first row is row q0 of head h of batch b
    int n_blocks;       // KV tiles that its last row can see, at least one for each key group
};

// Tiles of one head follow each other, so that SMs share its K and V in L2. Causal ones come
// longest first, to leave short ones for filling gaps at the end, by sections of heads whose K and
// V fit in L2. Where BQ does not divide the rows, one tile of a head has warpgroups without any.
// Causal tiles are laid from the last row up, so that it is the shortest, and may begin before row 0
// (TMA loads zeros there, but must not store). Others come last: there some warpgroups just pass.
static __device__ __forceinline__ struct tile tile_at(const struct attention_args &args,
                                                      const struct schedule &s, uint32_t index) {
    uint32_t bh, q;
    if (CAUSAL) {
        uint32_t section = divided(index, s.section_tiles);
        uint32_t first = section * s.heads_per_section;
        uint32_t n_heads = min(s.heads_per_section, args.batch * args.heads - first);
        index -= section * s.section_tiles.d;
        q = n_heads == s.heads_per_section ? divided(index, s.section_heads) : index / n_heads;
        bh = first + index - q * n_heads;
    } else {
        bool full = index < s.n_full;
        bh = full ? divided(index, s.full_per_head) : index - s.n_full;
        q = full ? index - bh * s.full_per_head.d : args.seqlen_q / BQ;
    }
    struct tile t;
    t.b = divided(bh, s.heads);
    t.h = bh - t.b * args.heads;
    t.kv_h = divided(t.h, s.group);
    t.q0 = CAUSAL ? (args.seqlen_q + 63) / 64 * 64 - (int)(q + 1) * BQ : q * BQ;
    int kv_end = args.seqlen_k;
    if (CAUSAL) kv_end = min(kv_end, t.q0 + BQ + args.diagonal);
    constexpr int together = KEY_GROUPS * BKV;
    t.n_blocks = max(1, (kv_end + together - 1) / together) * KEY_GROUPS;
    return t;
}

// How many of the tile's KV tiles, from the right, no row of this warpgroup can see.
static __device__ __forceinline__ int n_hidden(const struct attention_args &args,
                                               const struct tile &t, int row_group) {
    if (!CAUSAL || KEY_GROUPS > 1) return 0;
    int kv_end = min(args.seqlen_k, t.q0 + 64 * (row_group + 1) + args.diagonal);
    return t.n_blocks - max(1, (kv_end + BKV - 1) / BKV);
}

// Has this warpgroup rows to compute? In a causal tile it computes rows before the first, too.
static __device__ __forceinline__ bool has_rows(const struct attention_args &args,
                                                const struct tile &t, int row_group) {
    return CAUSAL || ROW_GROUPS == 1 || t.q0 + 64 * row_group < args.seqlen_q;
}

// What comes after tile `round` of this CTA: n_tiles or more is nothing.
static __device__ __forceinline__ int next_index(uint32_t round) {
    wait(&next_full[round & 1], round >> 1 & 1); // next_smem is written
    const int index = __shfl_sync(~0u, next_smem[round & 1], 0);
    if (threadIdx.x % 32 == 0) arrive(&next_empty[round & 1]);
    return index;
}
