/* Tiles of O in the order in which they are handed out. Included by kernel.cu after its
 * constants.
 *
 * Needs BQ, KEY_GROUPS, SPLIT, WARPGROUPS from kernel.cu; arrive, wait from pipeline.cuh;
 * CUT_TILES, schedule from tile.h. */
#pragma once

#include "schedule.h"

// A tile of O: what a CTA computes at a time.
struct o_tile {
    int b, h, kv_h, q0; // its first row is row q0 of head h of batch b; packed heads count as one
    int kv0, n_blocks;  // KV tiles that its last row can see, at least one for each key group, the
                        // first from key kv0; split: this CTA's share of them
    int slot;           // where this part of a tile leaves what it finds; -1: a whole tile
};

// A row of a tile: where it lies in Q, O and LSE, if it exists. Packed heads take turns; TMA loads
// zeros for a row that does not exist, and stores nothing of it.
struct row {
    int q, h;
    bool exists;
};
static __device__ __forceinline__ struct row row_at(const struct attention_args &args,
                                                    const struct schedule &s,
                                                    const struct o_tile &t, int row) {
    const int packed = t.q0 + row, q = packed >> s.pack, h = packed & ((1 << s.pack) - 1);
    return {q, t.h * s.n_packed + h, (uint32_t)q < args.seqlen_q && h < s.n_packed};
}

// How many keys, from kv0 on, a row of the tile sees; split: or a CTA further on.
static __device__ __forceinline__ int keys_visible(const struct attention_args &args,
                                                   const struct schedule &s, const struct o_tile &t,
                                                   int row) {
    int kv_end = args.seqlen_k;
    if (CAUSAL) kv_end = min(kv_end, row_at(args, s, t, row).q + args.diagonal + 1);
    return kv_end - t.kv0;
}

// Causal, the first tiles are cut in parts, which are the longest, else the last ones, which some
// SMs would have to themselves. A part is handed out like a tile; `slot` numbers all parts.
static __device__ __forceinline__ int tile_of_item(const struct schedule &s, int item, int &slot) {
    const int n_slots = s.n_cut * (int)s.parts.d, first = CAUSAL ? 0 : s.n_tiles - n_slots;
    if (item < first) return item;
    if (item - first >= n_slots) return item - n_slots + s.n_cut;
    slot = item - first;
    return first + (int)divided(slot, s.parts);
}

// Tiles of one head follow each other, so that SMs share its K and V in L2. Causal ones come
// longest first, to leave short ones for filling gaps at the end, by sections of heads (schedule.c),
// the last of which has all heads that are left. Where BQ does not divide the rows, one tile of a
// head may have warpgroups without any. Causal tiles are laid from the last row up, so that it is
// the shortest, and may begin before row 0 (TMA loads zeros there, but must not store). Other tiles
// with such warpgroups come last, when L2 may have lost their keys: there these just pass.
static __device__ __forceinline__ struct o_tile tile_at(const struct attention_args &args,
                                                        const struct schedule &s, uint32_t index) {
    uint32_t bh, q;
    struct o_tile t;
    t.slot = -1;
    if (CUT_TILES) index = tile_of_item(s, index, t.slot);
    if (CAUSAL) {
        bh = causal_tile(s, args.batch * s.heads.d, index, &q);
    } else {
        bool full = index < s.n_full;
        bh = full ? divided(index, s.full_per_head) : index - s.n_full;
        q = full ? index - bh * s.full_per_head.d : (args.seqlen_q << s.pack) / BQ;
    }
    t.b = divided(bh, s.heads);
    t.h = bh - t.b * s.heads.d;
    t.kv_h = divided(t.h, s.group);
    t.q0 = CAUSAL ? ((args.seqlen_q << s.pack) + 63) / 64 * 64 - (int)(q + 1) * BQ : q * BQ;
    t.kv0 = 0;
    t.n_blocks = max(1, (keys_visible(args, s, t, BQ - 1) + BKV - 1) / BKV);
    if (CUT_TILES && t.slot >= 0) { // the first parts have equal shares, the last one what is left
        const int part = t.slot - (int)(divided(t.slot, s.parts) * s.parts.d);
        const int share = divided(t.n_blocks + s.parts.d - 1, s.parts);
        t.kv0 = part * share * BKV;
        t.n_blocks = max(1, min(share, t.n_blocks - part * share));
    }
    if (SPLIT) { // equal shares for all key groups; the last ones may lie behind the end
        const int n_ctas = 1 << s.split, n_groups = KEY_GROUPS * n_ctas;
        t.n_blocks = ((t.n_blocks + n_groups - 1) / KEY_GROUPS >> s.split) * KEY_GROUPS;
        t.kv0 = (blockIdx.x & (n_ctas - 1)) * t.n_blocks * BKV;
    }
    return t;
}

// How the producer tells the consumers which tile comes next: two deep.
static __shared__ uint64_t next_full[2], next_empty[2]; // mbarriers
static __shared__ int next_smem[2];

static __device__ void init_next() {
    for (int s = 0; s < 2; s++) {
        mbarrier_init(smem_address(&next_full[s]), 1);
        mbarrier_init(smem_address(&next_empty[s]), 4 * WARPGROUPS);
    }
}

// The producer: after tile `round` of this CTA comes tile `index`.
static __device__ __forceinline__ void tell_next(uint32_t round, int index) {
    wait(&next_empty[round & 1], ~round >> 1 & 1); // all consumers know the tile that was here
    next_smem[round & 1] = index;
    arrive(&next_full[round & 1]);
}

// A consumer: what comes after tile `round` of this CTA: n_tiles or more is nothing.
static __device__ __forceinline__ int next_index(uint32_t round) {
    wait(&next_full[round & 1], round >> 1 & 1); // next_smem is written
    int index = 0;
    if (threadIdx.x % 32 == 0) {
        index = next_smem[round & 1]; // this lane also arrives: a shuffle orders no other's read
        arrive(&next_empty[round & 1]);
    }
    return __shfl_sync(~0u, index, 0);
}
