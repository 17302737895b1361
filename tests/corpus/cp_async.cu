/* cp.async: copies of 4 to 16 bytes that a thread starts and waits for itself. */
#include "corpus.cuh"

/* Each thread brings 16 bytes; the block reads those of another warp. */
//= threads 64
FAMILY own_copy(PARAMS) {
    __shared__ alignas(16) unsigned tile[256];
    const unsigned at = V == 7 || V == 8 ? 4 * tid() : (4 * tid() + 128) % 256;
    copy_16(&tile[4 * tid()], in + 4 * tid()); // @1,2,3,5,7,9
    if (V == 0 || V == 2 || V == 8) copy_wait_all();
    if (V == 4) copy_commit();
    if (V == 4 || V == 5) copy_wait<0>();
    if (V == 9) copy_commit(), copy_wait<1>();
    if (V != 2 && V != 7 && V != 8) __syncthreads();
    out[tid()] = tile[at]; // @1,2,3,5,7,9
    if (V == 3) copy_wait_all();
}
RIGHT(copy_wait_all, own_copy<0>,
      "wait_all completes the thread's copies, and the block's barrier orders them before reads of "
      "other threads.")
RIGHT(copy_wait_group, own_copy<4>,
      "wait_group 0 waits for the committed group, then the barrier orders it.")
RIGHT(copy_own_bytes, own_copy<8>,
      "A thread that reads only what it copied needs its own wait and no barrier.")
RACY(copy_no_wait, own_copy<1>, "race|in flight",
     "A barrier does not wait for cp.async: only cp.async.wait or an mbarrier completes a copy.")
RACY(copy_no_barrier, own_copy<2>, "race|in flight",
     "A wait makes a copy visible to the thread that started it, and to no other thread.")
RACY(copy_wait_late, own_copy<3>, "race|in flight", "The wait comes after the read that needs it.")
RACY(copy_no_commit, own_copy<5>, "race|in flight",
     "wait_group waits for committed groups; this copy is in none.")
RACY(copy_own_no_wait, own_copy<7>, "race|in flight",
     "Even the thread that started a copy sees it only after a wait.")
RACY(copy_wait_one_open, own_copy<9>, "race|in flight",
     "wait_group 1 lets the newest group, the only one, be under way.")

/* Several groups: which of them does a wait complete? */
//= threads 64
FAMILY groups(PARAMS) {
    __shared__ alignas(16) unsigned tile[4][256];
    for (int g = 0; g < 3; g++) {
        copy_16(&tile[g][4 * tid()], in + 256 * g + 4 * tid()); // @1,3,5
        copy_commit();
    }
    if (V == 5 || V == 4) copy_16(&tile[3][4 * tid()], in + 4 * tid()); // @5
    if (V == 4) copy_commit();
    if (V <= 1) copy_wait<2>();
    if (V == 2 || V == 3) copy_wait<1>();
    if (V >= 4) copy_wait<0>();
    __syncthreads();
    const unsigned *from = tile[V == 0 ? 0 : V <= 2 ? 1 : V == 3 ? 2 : 3];
    out[tid()] = from[(4 * tid() + 128) % 256]; // @1,3,5
}
RIGHT(group_oldest, groups<0>, "wait_group 2 of three groups completes the oldest.")
RIGHT(group_middle, groups<2>, "wait_group 1 of three groups completes the two oldest.")
RIGHT(group_again, groups<4>,
      "The second copy to a tile is in a group of its own, and wait_group 0 waits for all; nothing "
      "else wrote there.")
RACY(group_second, groups<1>, "race|in flight", "wait_group 2 leaves the second group under way.")
RACY(group_newest, groups<3>, "race|in flight", "wait_group 1 leaves the newest group under way.")
RACY(group_open, groups<5>, "race|in flight", "The copy after the last commit is in no group.")

/* A ring of slots in a loop. */
//= threads 64
FAMILY ring(PARAMS) {
    constexpr int SLOTS = V == 0 || V == 1 ? 2 : V == 4 || V == 5 ? 4 : 3, TILES = 8;
    constexpr int AHEAD = V == 4 ? 2 : SLOTS - 1;
    __shared__ alignas(16) unsigned tile[SLOTS][256];
    unsigned sum = 0;
    for (int t = 0; t < AHEAD; t++) {
        copy_16(&tile[t][4 * tid()], in + 256 * t + 4 * tid());
        copy_commit();
    }
    for (int t = 0; t < TILES; t++) {
        const int next = t + AHEAD;
        if (V == 1 || V == 3 || V == 4 || V == 5) {
            if (next < TILES)
                copy_16(&tile[next % SLOTS][4 * tid()], in + 256 * next + 4 * tid()); // @1,3,5
            copy_commit();
        }
        if (V == 0 || V == 6 || V == 7 || V == 8) copy_wait<AHEAD - 1>();
        if (V == 1 || V == 3 || V == 4 || V == 5) copy_wait<AHEAD>();
        if (V == 2) copy_wait<AHEAD>();
        __syncthreads();
        if (V == 0 || V == 6 || V == 2 || V == 8) {
            if (next < TILES)
                copy_16(&tile[next % SLOTS][4 * tid()], in + 256 * next + 4 * tid()); // @2,8
            if (V != 8 || next < TILES) copy_commit();
        }
        sum += tile[t % SLOTS][(4 * tid() + 128) % 256]; // @1,2,3,5,8
        if (V == 7) {
            if (next < TILES) copy_16(&tile[next % SLOTS][4 * tid()], in + 256 * next + 4 * tid());
            copy_commit();
        }
    }
    out[tid()] = sum;
}
RIGHT(ring_two, ring<0>,
      "The next copy is issued behind the barrier that all readers of its slot have passed.")
RIGHT(ring_three, ring<6>,
      "Three slots, copies two ahead: the slot was read before the last barrier.")
RIGHT(
    ring_four_slack, ring<4>,
    "Issued before the barrier, but its slot was read two tiles ago, before the previous barrier.")
RIGHT(ring_after_read, ring<7>,
      "Issued behind the reads: the slot that it fills was read before this iteration's barrier.")
RACY(ring_two_early, ring<1>, "race",
     "Copies go to the slot that other warps may still read: no barrier lies in between.")
RACY(ring_lax_wait, ring<2>, "race|in flight",
     "The wait leaves as many groups open as are ahead, so this tile's may be one.")
RACY(ring_three_early, ring<3>, "race",
     "Issued before the barrier, into the slot of the tile before, which a slower warp reads.")
RACY(ring_four_early, ring<5>, "race",
     "Four slots with copies three ahead, issued before the barrier: the same slot as the tile "
     "before.")
RACY(ring_tail, ring<8>, "race|in flight",
     "At the end no empty group is committed, so the same wait completes one group fewer.")

/* The source of a copy changes. */
//= threads 64
FAMILY source(PARAMS) {
    __shared__ alignas(16) unsigned tile[256];
    unsigned *from = const_cast<unsigned *>(in);
    const unsigned other = (tid() + 32) % 64;
    if (V == 5 || V == 6) from[4 * other] = 7; // @6
    if (V == 5) __syncthreads();
    copy_16(&tile[4 * tid()], from + 4 * tid()); // @1,3,6
    if (V == 0 || V == 2) copy_wait_all();
    if (V == 2 || V == 3) __syncthreads();
    if (V == 0 || V == 1) from[4 * tid()] = 7; // @1
    if (V == 2 || V == 3) from[4 * other] = 7; // @3
    copy_wait_all();
    out[tid()] = tile[4 * tid() + 1];
}
RIGHT(source_own, source<0>, "The thread changes the source after its copy is complete.")
RIGHT(source_other, source<2>,
      "Wait and barrier order the copy's read before another thread's write.")
RIGHT(source_written, source<5>,
      "What another thread wrote to global memory is ordered before the copy by the barrier.")
RACY(
    source_own_early, source<1>, "race",
    "A copy reads its source until it is waited for, also against later writes of the same thread.")
RACY(source_other_early, source<3>, "race", "The barrier orders the copy's start, not its read.")
RACY(source_unordered, source<6>, "race",
     "Another warp writes the source, and nothing orders it before the copy.")

/* An mbarrier says when copies are complete. */
//= threads 64
FAMILY by_mbarrier(PARAMS) {
    __shared__ alignas(16) unsigned tile[256];
    __shared__ uint64_t barrier;
    const uint32_t b = smem_address(&barrier);
    make_barriers(&barrier, 1, V == 4 ? 32 : 64);
    if (V == 5) copy_arrive_noinc(b);
    copy_16(&tile[4 * tid()], in + 4 * tid()); // @1,3,4,5,7
    if (V == 0 || V == 1 || V == 4 || V == 6) copy_arrive_noinc(b);
    if (V == 2) copy_arrive(b), arrive(b);
    if (V == 7) arrive(b), copy_arrive(b);
    if (V == 3) arrive(b);
    if (V == 6) copy_zero_16(&tile[4 * tid()], in); // @6
    if (V != 1) wait(b, 0);
    out[tid()] = tile[(4 * tid() + 128) % 256]; // @1,3,4,5,6
}
RIGHT(mbar_noinc, by_mbarrier<0>,
      "noinc arrives for the thread when its copies are complete; the wait acquires them.")
RIGHT(mbar_inc, by_mbarrier<2>,
      "Without noinc the arrival adds one to the pending count, and the thread's own arrival still "
      "counts.")
RACY(mbar_no_wait, by_mbarrier<1>, "race|in flight",
     "The block's barrier is of its beginning; nothing waits for the mbarrier.")
RACY(mbar_plain_arrive, by_mbarrier<3>, "race|in flight",
     "mbarrier.arrive releases what the thread did, and its copies are not complete.")
RACY(mbar_half_count, by_mbarrier<4>, "race|in flight|mbarrier",
     "The count is half of the arrivals: the phase ends when one warp's copies are complete.")
RACY(mbar_arrive_first, by_mbarrier<5>, "race|in flight",
     "cp.async.mbarrier.arrive waits for copies that were started before it.")
RACY(mbar_copy_behind, by_mbarrier<6>, "race|in flight",
     "A second copy to the tile is issued behind the arrival, which does not wait for it.")

/* Copies and ordinary writes to one place. */
//= threads 64
FAMILY overwrite(PARAMS) {
    __shared__ alignas(16) unsigned tile[256];
    if (V == 0) tile[4 * tid()] = 1;
    if (V == 6)
        copy_zero_16(&tile[4 * tid()], in);
    else
        copy_16(&tile[4 * tid()], in + 4 * tid()); // @1,3,5
    if (V == 2) copy_wait_all();
    if (V == 1 || V == 2) tile[4 * tid()] = 1;       // @1
    if (V == 3) copy_16(&tile[4 * tid()], in + 512); // @3
    if (V == 4) copy_wait_all(), copy_16(&tile[4 * tid()], in + 512);
    if (V == 5) tile[4 * tid() + 3] = 5;           // @5
    if (V == 7) tile[(4 * tid() + 128) % 256] = 5; // @7
    copy_wait_all();
    out[tid()] = tile[4 * tid()] + tile[4 * tid() + 3];
}
RIGHT(overwrite_before, overwrite<0>,
      "A thread's write before its copy starts is ordered by program order.")
RIGHT(overwrite_after_wait, overwrite<2>, "A write after the wait.")
RIGHT(overwrite_copy_again, overwrite<4>, "The second copy starts after the first was waited for.")
RIGHT(overwrite_zero_fill, overwrite<6>,
      "A copy of no bytes writes zeros and is waited for like any other.")
RACY(overwrite_early, overwrite<1>, "race|in flight",
     "Two writes of one thread race if one of them is a copy that was not waited for.")
RACY(overwrite_two_copies, overwrite<3>, "race|in flight",
     "Two copies of one thread are not ordered with each other.")
RACY(overwrite_last_word, overwrite<5>, "race|in flight",
     "The write touches the last of the copy's four words.")

/* What a copy overwrites was read before. */
//= threads 64
FAMILY reuse(PARAMS) {
    __shared__ alignas(16) unsigned tile[256];
    const unsigned same_warp = 4 * (warp() * 32 + (lane() + 1) % 32),
                   other_warp = (4 * tid() + 128) % 256;
    tile[4 * tid()] = tid();
    __syncthreads();
    out[tid()] = tile[V <= 1 ? other_warp : same_warp]; // @1,3
    if (V == 0) __syncthreads();
    if (V == 2) __syncwarp();
    copy_16(&tile[4 * tid()], in + 4 * tid()); // @1,3
    copy_wait_all();
}
RIGHT(reuse_barrier, reuse<0>,
      "The barrier orders reads of other warps before the copy that overwrites them.")
RIGHT(reuse_syncwarp, reuse<2>, "Only lanes of the same warp read, so __syncwarp() orders them.")
RACY(reuse_no_barrier, reuse<1>, "race", "Another warp may read while the copy overwrites.")
RACY(reuse_no_syncwarp, reuse<3>, "race",
     "Lanes of a warp are not ordered unless they synchronise.")
