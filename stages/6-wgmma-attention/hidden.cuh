/* What a warpgroup skips: KV tiles that only other warpgroups of the CTA can see, and tiles of O in
 * which it has no rows. The rings advance only when every warpgroup has released a stage, and turns
 * only when each has taken its own, so for these it still releases and takes turns. Included by
 * kernel.cu after schedule.cuh.
 *
 * Needs PERSISTENT, ROW_GROUPS, SPLIT, pass_turn, take_turn from kernel.cu; q_parity, q_slot,
 * release, release_q, ring, wait, wait_full from pipeline.cuh; keys_visible, next_index, o_tile,
 * tile_at from schedule.cuh; CUT_TILES, schedule from tile.h. */
#pragma once

// What a warpgroup has to do: a tile of O, and its part in it.
struct work {
    struct o_tile t;
    int hidden; // KV tiles, from the right, that no row of this warpgroup can see
    bool some;  // it has rows in it; if not, it has none in the tiles that come later either
    bool more;  // there is such a tile of O
};

static __device__ __forceinline__ struct work work_of(const struct attention_args &args,
                                                      const struct schedule &s, struct o_tile t,
                                                      int row_group) {
    struct work w = {t, 0, true, true};
    if (CAUSAL && !SPLIT)
        w.hidden =
            t.n_blocks - max(1, (keys_visible(args, s, t, 64 * row_group + 63) + BKV - 1) / BKV);
    if (CUT_TILES && w.hidden < 0) w.hidden = 0; // it sees all of this part, and more
    // In a causal tile a warpgroup computes rows before the first, too.
    if (!CAUSAL && ROW_GROUPS > 1) w.some = t.q0 + 64 * row_group < args.seqlen_q << s.pack;
    return w;
}

// The tile of O after tile `round` of this CTA, if there is one.
static __device__ __forceinline__ void next_work(struct work &w, const struct attention_args &args,
                                                 const struct schedule &s, uint32_t round,
                                                 int row_group) {
    w.some = w.more = false;
    if (!PERSISTENT) return;
    const int index = next_index(round);
    if (index < s.n_tiles) w = work_of(args, s, tile_at(args, s, index), row_group);
}

static __device__ __forceinline__ void pass_hidden_k(struct ring &k, int hidden, int warpgroup) {
    for (int i = 0; i < hidden; i++) {
        wait_full(k); // not before: the arrival would count for the old phase
        release(k);
        take_turn(warpgroup);
        pass_turn(warpgroup);
    }
}

static __device__ __forceinline__ void pass_hidden_v(struct ring &v, int hidden) {
    for (int i = 0; i < hidden; i++) {
        wait_full(v);
        release(v);
    }
}

// Tiles of O without rows of this warpgroup, to the end.
static __device__ __forceinline__ void pass(const struct attention_args &args,
                                            const struct schedule &schedule, struct o_tile t,
                                            struct ring k, struct ring v, uint32_t round,
                                            int row_group) {
    for (;;) {
        wait(&q_full[q_slot(round, row_group)],
             q_parity(round)); // the CTA must not end before its copies
        for (int n = 0; n < t.n_blocks; n++) {
            wait_full(k); // or the arrival would count for the phase before
            release(k);
            wait_full(v);
            release(v);
            take_turn(row_group);
            pass_turn(row_group);
        }
        release_q(q_slot(round, row_group));
        const int index = next_index(round++);
        if (index >= schedule.n_tiles) break;
        t = tile_at(args, schedule, index);
    }
}
