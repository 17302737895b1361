/* A warpgroup without rows in its CTA's tile, or in any later one:
 * such tiles come last. Included by kernel.cu after its constants. */
#pragma once

// The rings go on only when every warpgroup lets go
// of a stage, and turns when every one takes its own.
static __device__ __forceinline__ void pass(const struct attention_args &args,
                                            const struct schedule &schedule, struct tile t,
                                            struct ring k, struct ring v, uint32_t round,
                                            int row_group) {
    const int turn = BAR_TURN + row_group, next_turn = BAR_TURN + (row_group + 1) % WARPGROUPS;
    const bool elected = threadIdx.x % 32 == 0;
    for (;;) {
        wait(&q_full[row_group], round & 1); // the CTA must not end before its copies
        for (int n = 0; n < t.n_blocks; n++) {
            wait(&k_full[k.stage], k.parity); // or the arrival would count for the phase before
            if (elected) arrive(&k_empty[k.stage]);
            advance(k, 1);
            wait(&v_full[v.stage], v.parity);
            if (elected) arrive(&v_empty[v.stage]);
            advance(v, 1);
            if (TURNS) bar_sync(turn, 256), bar_arrive(next_turn, 256);
        }
        if (elected) arrive(&q_empty[row_group]);
        const int index = next_index(round++);
        if (index >= schedule.n_tiles) break;
        t = tile_at(args, schedule, index);
    }
}
