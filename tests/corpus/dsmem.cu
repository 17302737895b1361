/* Shared memory of another block: stores, asynchronous stores, copies, and the mbarriers that count them. */
#include "corpus.cuh"

FN void st_async(uint32_t there, unsigned x, uint32_t barrier) {
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
            there),
        "r"(x), "r"(barrier)
        : "memory");
}
FN void red_async(uint32_t there, unsigned x, uint32_t barrier) {
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
                 "[%0], %1, [%2];" ::"r"(there),
                 "r"(x), "r"(barrier)
                 : "memory");
}
FN void peer_copy(uint32_t there, const void *smem, unsigned bytes, uint32_t barrier) {
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], "
                 "[%1], %2, [%3];" ::"r"(there),
                 "r"(smem_address(smem)), "r"(bytes), "r"(barrier)
                 : "memory");
}
FN void bulk_multicast(void *smem, const void *gmem, unsigned bytes, uint32_t barrier,
                       unsigned ranks) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%0], [%1], %2, [%3], %4;" ::"r"(smem_address(smem)),
        "l"(gmem), "r"(bytes), "r"(barrier), "h"((unsigned short)ranks)
        : "memory");
}
FN void cluster_barriers(uint64_t *barrier, int n, int arrivals) {
    make_barriers(barrier, n, arrivals);
    cluster_sync();
}

/* Block 0 writes into block 1 and arrives there. */
//= threads 32 blocks 2 cluster 2
FAMILY give(PARAMS) {
    __shared__ unsigned word[32];
    __shared__ uint64_t barrier;
    const uint32_t b = smem_address(&barrier), far = at_rank(&barrier, 1),
                   there = at_rank(&word[lane()], 1);
    cluster_barriers(&barrier, 1, V == 9 ? 1 : 32);
    if (rank() == 0) {
        if (V == 5) remote_arrive(far);
        st_shared(there, lane()); // @1,2,3,5,6,10,11
        if (V == 4) fence_cluster();
        if (V == 11) fence_cta();
        if (V == 1)
            remote_arrive_cta(far);
        else if (V == 3 || V == 4 || V == 11)
            remote_arrive_relaxed(far);
        else if (V == 9) {
            __syncwarp();
            if (lane() == 0) remote_arrive(far);
        } else if (V != 5)
            remote_arrive(far);
        if (V == 10) st_shared(there, 7); // @10
    } else {
        if (V == 2)
            wait(b, 0);
        else if (V == 7)
            wait_relaxed_cluster(b, 0), fence_cluster();
        else if (V == 8) {
            if (lane() == 0) wait_cluster(b, 0);
            __syncwarp();
        } else if (V == 6)
            wait_relaxed_cluster(b, 0);
        else
            wait_cluster(b, 0);
        out[lane()] = word[31 - lane()]; // @1,2,3,5,6,10,11
    }
    cluster_sync();
}
RIGHT(give_release, give<0>,
      "An arrival that releases and a wait that acquires, both of cluster scope.")
RIGHT(give_fenced, give<4>, "A fence of cluster scope before a relaxed arrival.")
RIGHT(give_wait_fenced, give<7>, "A relaxed wait with a fence of cluster scope behind it.")
RIGHT(give_one_waits, give<8>, "One lane waits, and __syncwarp() passes it on.")
RIGHT(give_one_arrives, give<9>, "One lane arrives after __syncwarp().")
RACY(give_cta_arrive, give<1>, "race",
     "The default scope of an arrival is .cta, and the reader is in another block.")
RACY(give_cta_wait, give<2>, "race",
     "The default scope of a wait is .cta, and the writer is in another block.")
RACY(give_relaxed, give<3>, "race", "A relaxed arrival releases nothing.")
RACY(give_arrive_first, give<5>, "race", "The write comes behind the arrival.")
RACY(give_wait_relaxed, give<6>, "race", "A relaxed wait acquires nothing.")
RACY(give_write_behind, give<10>, "race", "A second write comes behind the arrival.")
RACY(give_cta_fence, give<11>, "race", "A fence of .cta scope makes no release for another block.")

/* st.async: stores that the receiver's mbarrier counts. */
//= threads 32 blocks 2 cluster 2
FAMILY post(PARAMS) {
    __shared__ unsigned word[2][32];
    __shared__ uint64_t full, empty, other;
    const uint32_t f = smem_address(&full), e = smem_address(&empty);
    constexpr int ROUNDS = V == 3 || V == 4 || V == 5 ? 3 : 1;
    make_barriers(&full, 1, 1);
    make_barriers(&other, 1, 1);
    make_barriers(&empty, 1, 32);
    cluster_sync();
    if (rank() == 1 && lane() == 0) {
        arrive_expect(f, V == 2 ? 64 : 128);
        if (V == 6) arrive_expect(smem_address(&other), 0);
    }
    for (int t = 0; t < ROUNDS; t++) {
        const int s = V == 5 ? t % 2 : 0;
        if (rank() == 0) {
            if (V == 4 && t > 0) wait_cluster(e, (t - 1) & 1);
            if (V == 5 && t > 0) wait_cluster(e, (t - 1) & 1);
            st_async(at_rank(&word[s][lane()], 1), lane() + t, at_rank(&full, 1)); // @1,2,3,6,7
        } else {
            if (V == 6)
                wait(smem_address(&other), 0);
            else if (V != 1)
                wait(f, t & 1);                          // @2
            if (V == 7) word[s][lane()] = 3;             // @7
            out[32 * t + lane()] = word[s][31 - lane()]; // @1,2,3,6,7
            if (t + 1 < ROUNDS && lane() == 0) arrive_expect(f, 128);
            __syncwarp();
            if (V == 4 || V == 5) remote_arrive(at_rank(&empty, 0));
        }
    }
    if (V == 8 && rank() == 0) out[100 + lane()] = word[1][0] = 1;
    cluster_sync();
}
RIGHT(post_wait, post<0>, "The receiver announces the bytes and waits for its own mbarrier.")
RIGHT(post_rounds, post<4>,
      "The sender waits until the receiver has read and announced the next bytes.")
RIGHT(post_two_buffers, post<5>, "The same with two buffers.")
RIGHT(post_own_work, post<8>, "The sender uses shared memory of its own.")
RACY(post_no_wait, post<1>, "race|in flight", "The receiver does not wait.")
RACY(post_half, post<2>, "race|in flight|mbarrier|deadlock", "Half of the bytes are announced.")
RACY(post_no_empty, post<3>, "race|in flight|mbarrier",
     "The sender does not wait until its words were read.")
RACY(post_other_barrier, post<6>, "race|in flight", "The receiver waits for another mbarrier.")
RACY(post_overwritten, post<7>, "race", "A lane overwrites a word that another lane reads.")

/* Reductions in another block's memory. */
//= threads 32 blocks 2 cluster 2
FAMILY collect(PARAMS) {
    __shared__ unsigned n[2];
    __shared__ uint64_t full;
    const uint32_t f = smem_address(&full);
    if (tid() == 0) n[0] = n[1] = 0; // @3
    make_barriers(&full, 1, 1);
    if (V != 3) cluster_sync();
    if (rank() == 1 && lane() == 0) arrive_expect(f, 128);
    if (rank() == 0)
        red_async(at_rank(&n[0], 1), 1, at_rank(&full, 1)); // @1,2,3
    else {
        if (V == 2) n[0] = 5; // @2
        if (V != 1) wait(f, 0);
        if (V == 4) {
            if (lane() == 0) n[1] = 4;
            __syncwarp();
            out[100] = n[1];
        }
        out[lane()] = n[0]; // @1
    }
    cluster_sync();
}
RIGHT(collect_wait, collect<0>, "red.async is counted by the mbarrier that the reader waits for.")
RIGHT(collect_beside, collect<4>, "Words beside the sum are the block's own.")
RACY(collect_no_wait, collect<1>, "race|in flight", "The sum is read without a wait.")
RACY(collect_plain, collect<2>, "race|in flight",
     "A plain store to the sum while reductions are under way.")
RACY(collect_no_start, collect<3>, "access outside|race|mbarrier",
     "The receiver may not have started.")

/* A bulk copy from one block's shared memory to another's. */
//= threads 32 blocks 2 cluster 2
FAMILY parcel(PARAMS) {
    __shared__ alignas(128) unsigned from[128], to[128];
    __shared__ uint64_t full;
    const uint32_t f = smem_address(&full);
    for (int i = lane(); i < 128; i += 32) from[i] = i; // @1,2
    if (V != 1) fence_async();
    make_barriers(&full, 1, 1);
    cluster_sync();
    if (rank() == 1 && lane() == 0) arrive_expect(f, 512);
    if (rank() == 0) {
        if (lane() == 0) peer_copy(at_rank(to, 1), from, 512, at_rank(&full, 1)); // @1,3,4,6
        if (V == 4) from[lane()] = 9;                                             // @4
    } else {
        if (V == 6) to[lane()] = 1; // @6
        if (V != 3) wait(f, 0);
        out[lane()] = to[127 - lane()]; // @3
    }
    cluster_sync();
    if (V == 5) from[lane()] = 9, out[500 + gtid()] = from[lane()];
    if (V == 2 || V == 7) {
        if (V == 7) cluster_sync();
        if (V == 7) out[200 + gtid()] = to[lane()] * rank();
    }
}
RIGHT(parcel_wait, parcel<0>,
      "The source is fenced for the async proxy, and the receiver waits for the bytes.")
RIGHT(parcel_reuse, parcel<5>,
      "The receiver has waited before the cluster's barrier, so the source may change behind it.")
RACY(parcel_no_fence, parcel<1>, "missing fence",
     "The source was written in the generic proxy and not fenced.")
RACY(parcel_no_wait, parcel<3>, "race|in flight", "The receiver does not wait.")
RACY(parcel_source_early, parcel<4>, "race|in flight",
     "The source changes while the copy may read it.")
RACY(parcel_target_written, parcel<6>, "race|in flight",
     "The receiver writes where the copy is to land.")

/* One load that lands in both blocks. */
//= threads 32 blocks 2 cluster 2
FAMILY multicast(PARAMS) {
    __shared__ alignas(128) unsigned tile[128];
    __shared__ uint64_t full, empty;
    const uint32_t f = smem_address(&full), e = smem_address(&empty);
    constexpr int ROUNDS = V == 3 || V == 4 || V == 5 ? 3 : 1;
    make_barriers(&full, 1, 1);
    make_barriers(&empty, 1, V == 5 ? 1 : 2);
    if (V != 2) cluster_sync();
    for (int t = 0; t < ROUNDS; t++) {
        if (lane() == 0) arrive_expect(f, 512);
        if (V != 7) __syncwarp();
        if (rank() == 0 && lane() == 0) {
            if (V == 4 && t > 0) wait_cluster(e, (t - 1) & 1);
            if (V == 5 && t > 0) wait_cluster(e, (t - 1) & 1);
            bulk_multicast(tile, in + 128 * t, 512, f, 3); // @1,2,3,5,6
        }
        if (V != 1 || rank() == 0) wait(f, t & 1); // @3,5
        if (V == 6 && rank() == 1) tile[3] = 1;    // @6
        out[gtid() + 64 * t] = tile[lane()];       // @1,3,5,6
        __syncwarp();
        if (V == 4 && lane() == 0) remote_arrive(at_rank(&empty, 0));
        if (V == 5 && lane() == 0 && rank() == 0) arrive(e);
    }
    cluster_sync();
}
RIGHT(multicast_wait, multicast<0>,
      "Each block announces its bytes and waits for its own mbarrier.")
RIGHT(multicast_rounds, multicast<4>,
      "Both blocks say that they have read before the next load lands in both.")
RACY(multicast_no_wait, multicast<1>, "race|in flight", "The second block reads without a wait.")
RACY(multicast_no_start, multicast<2>, "access outside|race|mbarrier",
     "The second block may not have started, nor initialised its mbarrier.")
RACY(multicast_no_empty, multicast<3>, "race|in flight|mbarrier|deadlock",
     "The next load may land while the second block still reads.")
RACY(multicast_one_empty, multicast<5>, "race|in flight|mbarrier|deadlock",
     "Only the first block says that it has read.")

/* A block pulls from another one that goes on. */
//= threads 32 blocks 2 cluster 2
FAMILY pull(PARAMS) {
    __shared__ unsigned word[32];
    __shared__ uint64_t done;
    cluster_barriers(&done, 1, 32);
    for (int t = 0; t < 3; t++) {
        if (V == 3 && rank() == 0 && t > 0) wait_cluster(smem_address(&done), (t - 1) & 1);
        if (rank() == 0) word[lane()] = t; // @1,2,4
        if (V != 2) cluster_sync();
        if (V == 4 && rank() == 1) remote_arrive(at_rank(&done, 0));
        if (rank() == 1) out[32 * t + lane()] = ld_shared(at_rank(&word[31 - lane()], 0)); // @1,2,4
        if (V == 3 && rank() == 1) remote_arrive(at_rank(&done, 0));
        if (V == 4 && rank() == 0) wait_cluster(smem_address(&done), t & 1);
        if (V == 0) cluster_sync();
    }
    cluster_sync();
}
RIGHT(pull_two_barriers, pull<0>, "A barrier before and behind each read.")
RIGHT(pull_arrive, pull<3>, "The reader arrives at the owner's mbarrier when it has read.")
RACY(pull_one_barrier, pull<1>, "race",
     "The owner overwrites the word while the other block may still read it.")
RACY(pull_no_barrier, pull<2>, "race", "Nothing orders the owner's writes before the reads.")
RACY(pull_arrive_early, pull<4>, "race", "The reader arrives before it reads.")
