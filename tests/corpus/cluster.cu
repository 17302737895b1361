/* Blocks of a cluster and the barrier between them. */
#include "corpus.cuh"

FN void arrive_release() { ASM("barrier.cluster.arrive.release.aligned;"); }
FN void arrive_nothing() { ASM("barrier.cluster.arrive.relaxed.aligned;"); }
FN void wait_acquire() { ASM("barrier.cluster.wait.acquire.aligned;"); }

/* Each block writes its own shared memory, the other one reads it. */
//= threads 64 blocks 2 cluster 2
FAMILY peek(PARAMS) {
    __shared__ unsigned word[64];
    if (V == 5) arrive_release();
    if (V != 8) word[tid()] = gtid(); // @1,3,5,9,11,12
    if (V == 0 || V == 2 || V == 8) cluster_sync();
    if (V == 3) arrive_nothing(), wait_acquire();
    if (V == 4) fence_cluster(), arrive_nothing(), wait_acquire();
    if (V == 5) wait_acquire();
    if (V == 6 || V == 7 || V == 9 || V == 10) arrive_release();
    if (V == 6) out[1000 + gtid()] = gtid();
    if (V == 7) word[tid()] = 1;                                                 // @7
    if (V == 9) out[gtid()] = ld_shared(at_rank(&word[63 - tid()], rank() ^ 1)); // @9
    if (V == 10) out[gtid()] = word[tid()];
    if (V == 6 || V == 7 || V == 9 || V == 10) wait_acquire();
    if (V == 11) __syncthreads();
    if (V == 12) fence_cta(), arrive_nothing(), wait_acquire();
    if (V == 13) fence_gpu(), arrive_nothing(), wait_acquire();
    if (V == 8) st_shared(at_rank(&word[63 - tid()], rank() ^ 1), 5), cluster_sync();
    if (V == 8)
        out[gtid()] = word[tid()];
    else if (V != 9)
        out[gtid()] = ld_shared(at_rank(&word[63 - tid()], rank() ^ 1)); // @1,2,3,5,7,11,12
    if (V != 2) cluster_sync();
}
RIGHT(peek_sync, peek<0>,
      "The cluster's barrier releases and acquires, and a second one keeps the blocks alive.")
RIGHT(peek_relaxed_fenced, peek<4>, "A fence of cluster scope makes a relaxed arrival a release.")
RIGHT(peek_gpu_fenced, peek<13>, "A fence of gpu scope includes the cluster.")
RIGHT(peek_split, peek<6>, "Between arrival and wait a block may do what concerns no other.")
RIGHT(peek_own_between, peek<10>,
      "Reading the own words between arrival and wait conflicts with nobody's writes.")
RIGHT(poke_sync, peek<8>, "A write to the other block's memory between two barriers.")
RACY(peek_nothing, peek<1>, "race|access outside", "Nothing orders the other block's writes.")
RACY(peek_exit, peek<2>, "access outside",
     "A block may end while the other reads its shared memory.")
RACY(peek_relaxed, peek<3>, "race", "A relaxed arrival releases nothing.")
RACY(peek_arrive_first, peek<5>, "race", "The write comes behind the arrival.")
RACY(peek_write_between, peek<7>, "race",
     "A write between arrival and wait is not released by the arrival.")
RACY(peek_read_between, peek<9>, "race|access outside",
     "A read between arrival and wait comes before the acquire.")
RACY(peek_block_barrier, peek<11>, "race|access outside",
     "A block's barrier does not wait for the other block.")
RACY(peek_cta_fence, peek<12>, "race",
     "A fence of .cta scope does not make a relaxed arrival a release for another block.")

/* Writes into the next block, round after round. */
//= threads 32 blocks 4 cluster 4
FAMILY shift(PARAMS) {
    __shared__ unsigned word[2][32];
    const uint32_t there[2] = {at_rank(&word[0][lane()], (rank() + 1) % 4),
                               at_rank(&word[1][lane()], (rank() + 1) % 4)};
    unsigned x = gtid();
    if (V != 1) cluster_sync();
    for (int t = 0; t < 4; t++) {
        const int s = V == 3 || V == 4 ? t % 2 : 0;
        st_shared(there[s], x); // @1,2,4,5
        if (V != 4 && V != 6) cluster_sync();
        if (V == 6) fence_cluster(), arrive_nothing(), wait_acquire();
        x = word[s][31 - lane()]; // @2,4,5
        if (V == 0 || V == 1 || V == 6) cluster_sync();
        if (V == 5) __syncthreads();
    }
    out[gtid()] = x;
    cluster_sync();
}
RIGHT(shift_two_barriers, shift<0>, "One barrier before the reads and one before the next writes.")
RIGHT(shift_two_buffers, shift<3>, "Two buffers and one barrier a round.")
RIGHT(shift_relaxed_fenced, shift<6>, "A fence and a relaxed arrival in place of a release.")
RACY(shift_no_start, shift<1>, "access outside|race",
     "The next block may not have started when its memory is written.")
RACY(shift_no_second, shift<2>, "race",
     "The next round's writes may come before this round's reads.")
RACY(shift_no_barrier, shift<4>, "race", "Two buffers without a barrier.")
RACY(shift_block_barrier, shift<5>, "race",
     "A block's barrier does not keep the neighbour from writing.")

/* All blocks count in the first one's memory. */
AT_SHARED(count_cta, "red.relaxed.cta.shared::cluster.add.u32 [%0], 1;")
AT_SHARED(count_cluster, "red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;")
AT_SHARED(count_gpu, "red.relaxed.gpu.shared::cluster.add.u32 [%0], 1;")
//= threads 32 blocks 4 cluster 4
FAMILY tally(PARAMS) {
    __shared__ unsigned n;
    if (tid() == 0) n = 0; // @4
    if (V != 4) cluster_sync();
    const uint32_t there = at_rank(&n, 0);
    if (V == 1) {
        if (tid() == 0) st_shared(there, ld_shared(there) + 1); // @1
    } else if (V == 3)
        count_cta(there); // @3
    else if (V == 5)
        count_gpu(there);
    else
        count_cluster(there); // @2,4
    if (V != 2) cluster_sync();
    if (rank() == 0 && V != 6) out[tid()] = n; // @2
    if (V == 6) out[gtid()] = ld_shared(there);
    cluster_sync();
}
RIGHT(tally_cluster, tally<0>,
      "Atomics of cluster scope from all blocks, and the barrier before the plain read.")
RIGHT(tally_gpu, tally<5>, "gpu scope includes the cluster.")
RIGHT(tally_all_read, tally<6>,
      "Every block reads the sum behind the barrier, and the last barrier keeps its owner alive.")
RACY(tally_plain, tally<1>, "race", "A read and a write of four blocks that are not atomic.")
RACY(tally_read_early, tally<2>, "race", "A plain read races with other blocks' atomics.")
RACY(tally_cta, tally<3>, "race", "Atomics of .cta scope are not atomic to other blocks' threads.")
RACY(tally_no_start, tally<4>, "race|access outside|uninit",
     "Blocks may add before the counter is set or its owner has started.")

/* An mbarrier that another block arrives at. */
//= threads 32 blocks 2 cluster 2
FAMILY remote(PARAMS) {
    __shared__ uint64_t barrier;
    const uint32_t b = smem_address(&barrier);
    if (tid() == 0) {
        mbarrier_init(b, 32);
        if (V != 3 && V != 2) fence_mbarrier_init();
    }
    if (V == 4) __syncwarp();
    if (V == 0 || V == 3 || V == 5) arrive_nothing(), wait_acquire();
    if (V == 2 || V == 6) cluster_sync();
    if (rank() == 0)
        remote_arrive(at_rank(&barrier, 1)); // @1,3,4
    else if (V == 5)
        wait_relaxed_cluster(b, 0);
    else
        wait_cluster(b, 0);
    if (V == 6 || V == 0) cluster_sync();
}
RIGHT(remote_init_fence, remote<0>,
      "fence.mbarrier_init and a relaxed cluster barrier publish mbarriers to the cluster.")
RIGHT(remote_release, remote<2>, "A cluster barrier that releases publishes them, too.")
RIGHT(remote_relaxed_wait, remote<5>, "A relaxed wait that passes on no data.")
RIGHT(remote_last_barrier, remote<6>, "A barrier at the end does no harm.")
RACY(remote_no_fence, remote<3>, "race",
     "A relaxed cluster barrier without fence.mbarrier_init publishes nothing.")
RACY(remote_no_start, remote<4>, "access outside|race|mbarrier",
     "The other block may not have initialised its mbarrier, nor have started.")

/* Global memory between the blocks of a cluster. */
//= threads 32 blocks 4 cluster 2
FAMILY by_global(PARAMS) {
    const unsigned other = (blockIdx.x ^ (V == 4 ? 2 : 1)) * 32 + 31 - lane();
    out[gtid()] = gtid(); // @1,3,4,5
    if (V == 0 || V == 4) cluster_sync();
    if (V == 2) fence_cluster(), arrive_nothing(), wait_acquire();
    if (V == 3) arrive_nothing(), wait_acquire();
    if (V == 5) arrive_release();
    if (V == 6) fence_gpu(), cluster_sync();
    out[1000 + gtid()] = ld_weak(out + other); // @1,3,4,5
    if (V == 5) wait_acquire();
}
RIGHT(global_sync, by_global<0>, "The cluster's barrier orders global memory, too.")
RIGHT(global_relaxed_fenced, by_global<2>, "A fence of cluster scope and a relaxed arrival.")
RIGHT(global_fenced, by_global<6>, "A wider fence does no harm.")
RACY(global_nothing, by_global<1>, "race", "Nothing orders two blocks.")
RACY(global_relaxed, by_global<3>, "race", "A relaxed arrival releases nothing.")
RACY(global_other_cluster, by_global<4>, "race",
     "The barrier orders the blocks of one cluster, and the reader is in another.")
RACY(global_before_wait, by_global<5>, "race", "The read comes before the wait.")

/* Who leaves when. */
//= threads 64 blocks 2 cluster 2
FAMILY goodbye(PARAMS) {
    __shared__ unsigned word[64];
    word[tid()] = gtid(); // @5
    cluster_sync();
    if (V == 1 || rank() == 1 || V == 5)
        out[gtid()] = ld_shared(at_rank(&word[tid()], rank() ^ 1)); // @1,2,4,5
    if (V == 0) cluster_sync();
    if (V == 2 && rank() == 1) __syncthreads();
    if (V == 3) arrive_release();
    if (V == 3) out[2000 + gtid()] = word[tid()];
    if (V == 3) wait_acquire();
    if (V == 4) __threadfence();
    if (V == 5) {
        word[tid()] = 0; // @5
        cluster_sync();
    }
}
RIGHT(goodbye_sync, goodbye<0>, "The block that is read waits until the reader has arrived.")
RIGHT(goodbye_split, goodbye<3>, "Arrival after the read and a wait at the end.")
RACY(goodbye_both, goodbye<1>, "access outside", "Each may end while the other one reads.")
RACY(goodbye_block_barrier, goodbye<2>, "access outside",
     "A block's barrier keeps no other block alive.")
RACY(goodbye_fence, goodbye<4>, "access outside", "A fence keeps no block alive.")
RACY(goodbye_overwritten, goodbye<5>, "race",
     "The owner overwrites the word while the other block may read it.")
