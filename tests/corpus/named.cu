/* Barriers of a block, whole and named: bar.sync and bar.arrive with numbers of threads. */
#include "corpus.cuh"

/* Half of the block writes and arrives, the other half waits and reads. */
//= threads 128
FAMILY produce(PARAMS) {
    __shared__ unsigned word[64];
    if (tid() < 64) {
        if (V == 1) bar_arrive(1, 128);
        word[tid()] = tid(); // @1,2,3,6
        if (V == 4)
            bar_sync(1, 128);
        else if (V == 3)
            bar_sync(2, 64);
        else if (V == 8)
            bar_arrive(3, 128);
        else if (V == 5)
            bar_arrive(1, 128), bar_arrive(2, 128);
        else if (V != 1)
            bar_arrive(1, 128);
        if (V == 6) word[tid()] = 5; // @6
    } else {
        if (V == 3)
            bar_sync(1, 64);
        else if (V == 8)
            bar_sync(3, 128);
        else if (V == 7)
            bar_sync(1, 128), bar_sync(4, 64);
        else if (V != 2)
            bar_sync(1, 128);
        if (V == 5) bar_sync(2, 128);
        if (V == 8) word[127 - tid()] = 1;
        out[tid()] = word[127 - tid()]; // @1,2,3,6
        if (V == 2) bar_sync(1, 128);
    }
}
RIGHT(named_arrive, produce<0>,
      "bar.arrive orders what came before it, bar.sync waits for 128 arrivals.")
RIGHT(named_both_sync, produce<4>, "Both sides wait at the same barrier.")
RIGHT(named_two, produce<5>, "Two barriers one after the other, both with all threads.")
RIGHT(named_readers_again, produce<7>, "A second barrier among the readers changes nothing.")
RIGHT(named_reader_writes, produce<8>, "The reader owns the words after the barrier.")
RACY(named_arrive_first, produce<1>, "race", "The writer arrives before it writes.")
RACY(named_read_first, produce<2>, "race", "The reader waits after it has read.")
RACY(named_apart, produce<3>, "race",
     "Writers and readers wait at two barriers, each among themselves.")
RACY(named_write_behind, produce<6>, "race", "The writer writes once more behind its arrival.")

/* A loop with a full and an empty barrier. */
//= threads 128
FAMILY two_way(PARAMS) {
    __shared__ unsigned word[2][64];
    constexpr bool TWO = V == 4 || V == 5 || V == 6;
    for (int t = 0; t < 6; t++) {
        const int s = TWO ? t % 2 : 0;
        if (tid() < 64) {
            if (V != 1 && V != 6 && t >= 1 + TWO && !(V == 5 && s)) bar_sync(3 + s, 128);
            word[s][tid()] = t; // @1,2,3,5,6
            bar_arrive(1 + s, 128);
        } else {
            if (V == 2 && t < 5) bar_arrive(3, 128);
            bar_sync(1 + s, 128); // @1,6
            if (V == 3 && t < 5) bar_arrive(3, 128);
            out[64 * t + tid()] = word[s][127 - tid()]; // @1,2,3,5,6
            if (V != 1 && V != 2 && V != 3 && V != 6 && t < 5 - TWO) bar_arrive(3 + s, 128);
        }
    }
}
RIGHT(loop_full_empty, two_way<0>, "The writer waits until the word of the turn before was read.")
RIGHT(loop_double, two_way<4>, "Two slots with a pair of barriers each.")
RACY(loop_no_empty, two_way<1>, "race|barrier|deadlock",
     "Nothing tells the writer that the word was read.")
RACY(loop_empty_early, two_way<2>, "race",
     "The reader says that it has read before it waits for the word.")
RACY(loop_empty_before_read, two_way<3>, "race", "The reader arrives between wait and read.")
RACY(loop_one_waits, two_way<5>, "race|barrier|deadlock",
     "The writer waits for the first slot only.")
RACY(loop_double_no_empty, two_way<6>, "race|barrier|deadlock",
     "Two slots only put the conflict off by one turn.")

/* Groups of two warps with a barrier each. */
//= threads 128
FAMILY teams(PARAMS) {
    __shared__ unsigned word[128];
    const unsigned team = tid() / 64, mate = team * 64 + (tid() + 32) % 64,
                   stranger = (tid() + 64) % 128;
    word[tid()] = tid(); // @1,3,6
    if (V == 3)
        __syncwarp();
    else if (V == 5)
        bar_sync(1, 128);
    else
        bar_sync(1 + team, 64);
    if (V == 2 || V == 4) __syncthreads();
    out[tid()] = word[V == 1 || V == 2 || V == 5 ? stranger : mate]; // @1,3
    if (V == 4) __syncthreads();
    if (V == 6 || V == 7 || V == 4) {
        if (V == 7) bar_sync(1 + team, 64);
        word[tid()] = 9; // @6
    }
}
RIGHT(team_mates, teams<0>, "Each team has a barrier of its own and reads its own words.")
RIGHT(team_then_all, teams<2>,
      "A barrier of the whole block comes before words of the other team are read.")
RIGHT(team_reuse_all, teams<4>, "A whole barrier before the words are overwritten.")
RIGHT(team_one_barrier, teams<5>, "One named barrier for all 128 threads.")
RIGHT(team_reuse, teams<7>, "The team's own barrier is enough to overwrite its words.")
RACY(team_strangers, teams<1>, "race", "The team's barrier orders nothing of the other team.")
RACY(team_warp_only, teams<3>, "race",
     "__syncwarp() orders lanes of one warp, and the mate is in another.")
RACY(team_reuse_early, teams<6>, "race", "The words are overwritten while the mate may read them.")

/* Barriers that also vote. */
//= threads 64
FAMILY vote(PARAMS) {
    __shared__ unsigned word[64];
    word[tid()] = tid(); // @1,4
    unsigned n = V == 1   ? __ballot_sync(~0u, tid() > 3)
                 : V == 2 ? __syncthreads_and(tid() > 3)
                 : V == 3 ? __syncthreads_count(tid() > 3)
                 : V == 4 ? 0
                          : __syncthreads_or(tid() > 3);
    out[tid()] = word[63 - tid()] + n; // @1,4
    if (V == 4) out[tid()] += __syncthreads_or(tid() > 3);
}
RIGHT(vote_or, vote<0>, "bar.red is a barrier: it orders as bar.sync does.")
RIGHT(vote_and, vote<2>, "bar.red.and is a barrier.")
RIGHT(vote_count, vote<3>, "bar.red.popc is a barrier.")
RACY(vote_ballot, vote<1>, "race", "A vote of a warp orders no memory.")
RACY(vote_late, vote<4>, "race", "The read comes before the barrier that votes.")

/* Who comes to a barrier. */
//= threads 128
FAMILY counts(PARAMS) {
    __shared__ unsigned word[128];
    word[tid()] = tid(); // @6
    if (V == 0) {
        if (warp() < 2) bar_sync(1, 64);
    } else if (V == 1) {
        if (warp() < 2) bar_sync(1, 128); // @1
    } else if (V == 2) {
        if (warp() == 3) return;
        __syncthreads();
    } else if (V == 3) {
        if (tid() % 2)
            ASM("barrier.sync 0;");
        else
            ASM("barrier.sync 0;");
    } else if (V == 4) {
        if (tid() % 2)
            bar_sync(0, 128); // @4
        else
            bar_sync(0, 128); // @4
    } else if (V == 5) {
        if (warp() < 2)
            bar_sync(1, 64); // @5
        else
            bar_sync(1, 128); // @5
    } else if (V == 6)
        bar_sync(1, 64); // @6
    if (V == 6)
        out[tid()] = word[(tid() + 64) % 128]; // @6
    else if (warp() < 2 && V != 1)
        out[tid()] = word[(tid() + 32) % 64];
}
RIGHT(count_half, counts<0>,
      "Two warps come to a barrier for 64 threads, and only they read each other's words.")
RIGHT(count_exited, counts<2>,
      "A warp that has exited counts as arrived at a barrier for all threads.")
RIGHT(count_diverged, counts<3>,
      "barrier.sync without .aligned may be executed by the lanes of a warp apart.")
RACY(count_too_high, counts<1>, "deadlock", "64 threads come to a barrier for 128.")
RACY(count_aligned, counts<4>, "divergent",
     "bar.sync is .aligned: all lanes of a warp must execute the same one.")
RACY(count_differs, counts<5>, "barrier|deadlock",
     "The warps of one barrier give different numbers of threads.")
RACY(count_any_two, counts<6>, "race|barrier",
     "Four warps come to a barrier for two: any two of them may meet.")

/* A tile that is transposed through shared memory in a loop. */
//= threads 64
FAMILY transpose(PARAMS) {
    __shared__ unsigned word[2][64];
    for (int t = 0; t < 4; t++) {
        const int s = V == 3 || V == 4 ? t % 2 : 0;
        word[s][tid()] = in[64 * t + tid()]; // @1,2,4
        if (V != 1 && V != 4) __syncthreads();
        out[64 * t + tid()] = word[s][63 - tid()]; // @1,2,4
        if (V == 0 || V == 1) __syncthreads();
    }
}
RIGHT(transpose_two_barriers, transpose<0>,
      "One barrier before the reads and one before the next writes.")
RIGHT(transpose_two_buffers, transpose<3>, "With two buffers one barrier a turn is enough.")
RACY(transpose_no_first, transpose<1>, "race", "No barrier between the writes and the reads.")
RACY(transpose_no_second, transpose<2>, "race",
     "The next turn's writes may overtake this turn's reads.")
RACY(transpose_buffers_only, transpose<4>, "race", "Two buffers without a barrier.")
