/* cp.async.bulk: copies that the TMA unit makes, counted by an mbarrier or by groups. */
#include "corpus.cuh"

/* One thread brings 1024 bytes, the block reads them. */
//= threads 64
FAMILY load(PARAMS) {
    __shared__ alignas(128) unsigned tile[256];
    __shared__ uint64_t barrier;
    const uint32_t b = smem_address(&barrier);
    if (V == 7) {
        if (tid() == 0) mbarrier_init(b, 1), fence_mbarrier_init(); // @7
    } else
        make_barriers(&barrier, 1, 1);
    if (tid() == 0) {
        if (V == 10) expect_tx(b, 1024);
        if (V == 11) arrive(b), expect_tx(b, 1024); // @11
        if (V == 10) arrive(b);
        if (V < 10 || V > 11) arrive_expect(b, V == 2 ? 512 : V == 3 ? 2048 : 1024); // @2
        bulk_load(tile, in, 1024, b); // @1,2,4,6,8,11
    }
    if (V == 8) {
        if (warp() == 0) wait(b, 0);
    } else if (V == 5 || V == 6) {
        if (tid() == 0) wait(b, 0);
    } else if (V == 9) {
        if (lane() == 0) wait(b, 0);
        __syncwarp();
    } else if (V != 1)
        wait(b, V == 4); // @2,7
    if (V == 5) __syncthreads();
    out[tid()] = tile[(4 * tid() + 128) % 256]; // @1,2,4,6,8,11
}
RIGHT(bulk_wait, load<0>, "Every reader waits for the phase that counts the bytes.")
RIGHT(bulk_one_waits, load<5>, "One thread waits, and the barrier passes on what it has observed.")
RIGHT(bulk_lane_waits, load<9>,
      "One lane of each warp waits, and __syncwarp() passes it on to the others.")
RIGHT(bulk_expect_apart, load<10>, "expect_tx comes before the arrival that could end the phase.")
RACY(bulk_no_wait, load<1>, "race|in flight", "Nothing waits for the copy.")
RACY(bulk_expect_half, load<2>, "race|in flight|mbarrier|deadlock",
     "Half of the bytes are announced, so the phase may end when half have landed.")
RACY(bulk_expect_double, load<3>, "deadlock",
     "Twice the bytes are announced, so the phase never ends.")
RACY(bulk_parity, load<4>, "race|in flight",
     "A fresh mbarrier counts the phase of parity 1 as over: the wait returns at once.")
RACY(bulk_one_waits_alone, load<6>, "race|in flight", "One thread waits and tells no other.")
RACY(bulk_no_init_sync, load<7>, "race|mbarrier|uninit",
     "Other threads may wait on the mbarrier before it is initialised.")
RACY(bulk_warp_waits, load<8>, "race|in flight",
     "Only the first warp waits, the other one reads, too.")
RACY(bulk_arrive_before_expect, load<11>, "race|in flight|mbarrier",
     "The only arrival comes before expect_tx: the phase is over before it counts bytes.")

/* A producer's warp fills slots that another warp empties. */
//= threads 96
FAMILY pipeline(PARAMS) {
    constexpr int SLOTS = V == 10   ? 4
                          : V == 11 ? 1
                                    : 2,
                  TILES = 6, WARPS = V == 8 || V == 9 ? 2 : 1;
    __shared__ alignas(128) unsigned tile[SLOTS][256];
    __shared__ uint64_t full[SLOTS], empty[SLOTS];
    make_barriers(full, SLOTS, 1);
    make_barriers(empty, SLOTS, V == 12 ? 32 : V == 8 ? 2 : 1);
    if (warp() == 0 && lane() == 0)
        for (int t = 0; t < TILES; t++) {
            const uint32_t f = smem_address(&full[t % SLOTS]);
            const int turn = t / SLOTS;
            if (V != 1 && turn > 0)
                wait(smem_address(&empty[t % SLOTS]), V == 3 ? turn & 1 : (turn - 1) & 1);
            arrive_expect(f, 1024);                            // @1,3,9
            bulk_load(tile[t % SLOTS], in + 256 * t, 1024, f); // @1,2,3,4,6,7,9
        }
    else if (warp() >= 1 && warp() <= WARPS) {
        unsigned sum = 0;
        for (int t = 0; t < TILES; t++) {
            const uint32_t e = smem_address(&empty[t % SLOTS]);
            if (V == 2 && lane() == 0) arrive(e);
            wait(smem_address(&full[t % SLOTS]), V == 4 ? 0 : t / SLOTS & 1);
            if (V == 7 && lane() == 0) arrive(e);
            sum += tile[t % SLOTS][(8 * lane() + warp()) % 256]; // @1,2,3,4,6,7,9
            if (V != 6 && V != 12) __syncwarp();
            if (V != 2 && V != 7 && (lane() == 0 || V == 12) && (V != 9 || warp() == 1)) arrive(e);
        }
        out[tid()] = sum;
    }
}
RIGHT(pipe_two, pipeline<0>,
      "The producer waits for the empty mbarrier before it refills a slot, in every turn for the "
      "next phase.")
RIGHT(pipe_two_consumers, pipeline<8>, "Two warps read, and the empty mbarrier counts both.")
RIGHT(pipe_four, pipeline<10>,
      "Four slots: the first turn needs no wait, since nobody has read them.")
RIGHT(pipe_one, pipeline<11>, "One slot: copies and reads alternate.")
RIGHT(pipe_all_lanes, pipeline<12>,
      "Every lane arrives for itself, so that no __syncwarp() is needed.")
RACY(pipe_no_empty, pipeline<1>, "race|in flight|mbarrier|deadlock",
     "The producer refills a slot that is still read.")
RACY(pipe_release_early, pipeline<2>, "race|in flight",
     "The consumer frees the slot before it has waited for it and read it.")
RACY(pipe_empty_parity, pipeline<3>, "race|in flight|mbarrier|deadlock",
     "The producer waits for the phase before the one it needs, which is over.")
RACY(pipe_full_parity, pipeline<4>, "race|in flight|mbarrier|deadlock",
     "The consumer waits for parity 0 in every turn: in the second turn that is a phase long past.")
RACY(pipe_no_syncwarp, pipeline<6>, "race|in flight",
     "Lane 0 arrives for lanes that may not have read yet.")
RACY(pipe_release_before_read, pipeline<7>, "race|in flight",
     "The slot is freed between wait and read.")
RACY(pipe_one_of_two, pipeline<9>, "race|in flight|mbarrier|deadlock",
     "One warp speaks for two: the other may still read.")

/* The block writes a tile, one thread stores it. */
//= threads 64
FAMILY store(PARAMS) {
    __shared__ alignas(128) unsigned tile[2][256];
    for (int i = tid(); i < 512; i += 64) tile[0][i] = i + 1; // @1,3,14
    if (V != 1 && V != 14) fence_async_shared();
    if (V == 14) fence_async_global();
    if (V != 3) __syncthreads();
    if (tid() == 0) {
        bulk_store(out, tile[0], 1024); // @1,3,4,8,9,11,14,15
        if (V != 8) bulk_commit();
        if (V == 12 || V == 13) {
            bulk_store(out + 256, tile[1], 1024); // @13
            bulk_commit();
            bulk_wait_read<1>();
        }
        if (V == 6 || V == 17) bulk_wait_read<0>(), in = out; // @6
        if (V == 7) bulk_wait<0>(), in = out;
        if (V == 15) bulk_wait_read<1>();
        if (V != 4 && V != 9 && (V < 12 || V == 14)) bulk_wait_read<0>();
        if (V == 16) bulk_wait<0>();
    }
    if (V == 9 && tid() == 1) bulk_wait_read<0>();
    if (V == 10 || V == 11 || V == 16) {
        if (V == 10 || V == 16) __syncthreads();
        tile[0][255 - tid()] = 7; // @11
    } else if (tid() == (V == 9))
        tile[V == 13][5] = 7; // @4,8,9,13,15
    if (V == 6 || V == 7) {
        if (tid() == 0) out[1000] = ld_weak(in + 17); // @6
    } else if (V == 17 && tid() == 0)
        out[1000] = ld_weak(in + 300);
    if (tid() == 0) bulk_wait<0>();
}
RIGHT(store_own, store<0>,
      "Writers fence their writes for the async proxy, then the barrier; the source changes after "
      "wait_group.read.")
RIGHT(store_others_after, store<10>,
      "The storing thread waits for the reads, and the barrier passes that on to all.")
RIGHT(store_oldest, store<12>, "wait_group.read 1 of two groups frees the source of the older.")
RIGHT(store_read_back, store<7>,
      "wait_group without .read makes the stored words visible to the thread.")
RIGHT(store_full_wait, store<16>, "A whole wait is also a wait for the reads.")
RIGHT(store_read_elsewhere, store<17>, "It reads global words that the store does not write.")
RACY(store_no_fence, store<1>, "missing fence",
     "Writes of the generic proxy are not seen by the async proxy without fence.proxy.async.")
RACY(store_no_barrier, store<3>, "race|missing fence",
     "Other threads' writes are not ordered before the store.")
RACY(store_no_wait, store<4>, "race|in flight",
     "The source is overwritten while the store may read it.")
RACY(store_read_back_early, store<6>, "race|in flight",
     "wait_group.read says that the source was read, not that global memory is written.")
RACY(store_no_commit, store<8>, "race|in flight",
     "The store is in no group, so the wait is for nothing.")
RACY(store_other_waits, store<9>, "race|in flight",
     "Groups belong to the thread that commits them: another thread's wait is for nothing.")
RACY(store_others_at_once, store<11>, "race|in flight",
     "The storing thread has waited, but the others were not told.")
RACY(store_newest, store<13>, "race|in flight",
     "wait_group.read 1 leaves the newest store under way.")
RACY(store_fence_global, store<14>, "missing fence",
     "fence.proxy.async.global orders accesses to global memory, and the tile is in shared memory.")
RACY(store_wait_one_open, store<15>, "race|in flight",
     "wait_group.read 1 lets the only group be under way.")

/* Reductions in global memory. */
//= threads 64 blocks 2
FAMILY reduce(PARAMS) {
    __shared__ alignas(128) unsigned tile[256];
    for (int i = tid(); i < 256; i += 64) tile[i] = i + 1;
    if (V != 5) fence_async_shared();
    __syncthreads();
    unsigned *to = out + (V == 1 || V == 2 || V == 4 || V == 6 ? 256 * blockIdx.x : 0);
    if (tid() == 0) {
        if (V == 3)
            bulk_store(out, tile, 1024); // @3
        else
            bulk_add(to, tile, 1024); // @1,4,5
        bulk_commit();
        if (V == 6) bulk_wait<0>();
        if (V == 6 || V == 4) bulk_store(out + 256 * blockIdx.x, tile, 1024), bulk_commit(); // @4
        if (V == 7) bulk_add(out, tile, 1024), bulk_commit();
        if (V == 1) out[256 * blockIdx.x + 3] = 9; // @1
        bulk_wait<0>();
        if (V == 2) out[256 * blockIdx.x + 3] = 9;
        if (V == 8) out[3] = 9; // @8
        if (V == 9) add_relaxed_gpu(out + 3, 9);
    }
}
RIGHT(reduce_two_blocks, reduce<0>,
      "Bulk reductions are relaxed atomic operations of gpu scope: two blocks may add to the same "
      "words.")
RIGHT(reduce_then_write, reduce<2>,
      "The thread writes after its own reduction is complete, and no other block adds there.")
RIGHT(reduce_then_store, reduce<6>, "A bulk store to the same words after the wait.")
RIGHT(reduce_twice, reduce<7>,
      "Two reductions need no order between them: each element's addition is atomic.")
RIGHT(reduce_and_atomic, reduce<9>, "An atomic of gpu scope and a bulk reduction are both atomic.")
RACY(reduce_write_early, reduce<1>, "race|in flight",
     "A plain write to a word that a reduction under way adds to.")
RACY(store_two_blocks, reduce<3>, "race",
     "Two blocks store to the same words, and nothing orders them.")
RACY(reduce_store_early, reduce<4>, "race|in flight",
     "A reduction and a store of one thread to the same words are not ordered without a wait.")
RACY(reduce_no_fence, reduce<5>, "missing fence",
     "The source was written in the generic proxy and not fenced.")
RACY(reduce_write_other, reduce<8>, "race",
     "A plain write to a word that the other block's reduction may still add to.")

/* A load overwrites what was in shared memory. */
//= threads 64
FAMILY refill(PARAMS) {
    __shared__ alignas(128) unsigned tile[256];
    __shared__ uint64_t barrier;
    const uint32_t b = smem_address(&barrier);
    make_barriers(&barrier, 1, 1);
    for (int i = tid(); i < 256; i += 64) tile[i] = i; // @3,4
    if (V != 3) fence_async_shared();
    if (V != 4) __syncthreads();
    if (V == 0 || V == 1) out[tid()] = tile[255 - tid()]; // @1
    if (V == 0) __syncthreads();
    if (tid() == 0) {
        arrive_expect(b, 1024);
        bulk_load(tile, in, 1024, b); // @1,3,4,5
    }
    if (V == 5 && tid() == 40) tile[40] = 1; // @5
    wait(b, 0);
    if (V == 6) tile[tid()] = 1;
    out[64 + tid()] = tile[tid()];
}
RIGHT(refill_after_reads, refill<0>, "The barrier orders all reads before the load.")
RIGHT(refill_after_writes, refill<2>,
      "Fenced writes before the barrier are ordered before the load.")
RIGHT(refill_then_write, refill<6>, "The wait orders the load before a write of the same word.")
RACY(refill_while_read, refill<1>, "race|in flight",
     "Other threads may still read what the load overwrites.")
RACY(refill_unfenced, refill<3>, "race|missing fence",
     "Writes of the generic proxy and the load's are of two proxies: their order needs "
     "fence.proxy.async.")
RACY(refill_no_barrier, refill<4>, "race|missing fence",
     "Other threads' writes are not ordered before the load.")
RACY(refill_write_under_way, refill<5>, "race|in flight",
     "A word is written while the load is under way.")

/* The source of a load is written by the same kernel. */
//= threads 64
FAMILY load_written(PARAMS) {
    __shared__ alignas(128) unsigned tile[256];
    __shared__ uint64_t barrier;
    const uint32_t b = smem_address(&barrier);
    make_barriers(&barrier, 1, 1);
    if (V <= 4)
        for (int i = tid(); i < 256; i += 64) out[i] = i; // @1,2,4
    if (V != 1 && V != 4) fence_async();
    if (V == 4) fence_async_shared();
    if (V != 2) __syncthreads();
    if (tid() == 0) {
        arrive_expect(b, 1024);
        bulk_load(tile, out, 1024, b); // @1,2,4,5,7
    }
    if (V == 5 && tid() == 0) out[9] = 1;  // @5
    if (V == 7 && tid() == 33) out[9] = 1; // @7
    wait(b, 0);
    if (V == 6) out[9] = 1;
    if (V == 3) out[300 + tid()] = 1;
    out[1024 + tid()] = tile[tid()];
}
RIGHT(source_fenced, load_written<0>,
      "Writes to global memory are fenced for the async proxy before the barrier.")
RIGHT(source_behind, load_written<3>, "Words behind the source are written after the wait.")
RIGHT(source_after_wait, load_written<6>,
      "The source changes after the load was observed to be complete.")
RACY(source_unfenced, load_written<1>, "race|missing fence",
     "Ordinary writes to global memory reach the async proxy only through fence.proxy.async.")
RACY(source_no_barrier, load_written<2>, "race|missing fence",
     "Other threads' writes are not ordered before the load.")
RACY(source_wrong_space, load_written<4>, "race|missing fence",
     "The fence is for shared memory, the source is in global memory.")
RACY(source_changed_early, load_written<5>, "race|in flight",
     "The thread changes the source while the load may read it.")
RACY(source_changed_by_other, load_written<7>, "race|in flight",
     "Another thread changes the source while the load may read it.")
