/* Global memory: atomics, volatile, fences, and how far they reach. */
#include "corpus.cuh"

/* Block 0 writes a word and raises a flag, block 1 waits for the flag and reads the word. */
//= threads 32 blocks 2
FAMILY message(PARAMS) {
    unsigned *flag = out + 64, *word = out;
    if (lane()) return;
    if (blockIdx.x == 0) {
        if (V == 9) st_release_gpu(flag, 1);
        *(unsigned *)word = 5; // @1,2,4,6,7,9,10,13,14
        if (V == 3 || V == 12 || V == 10 || V == 16) fence_gpu();
        if (V == 4) fence_cta();
        if (V == 5) __threadfence();
        if (V == 8) fence_sys();
        if (V == 15) fence_sc_gpu();
        if (V == 0 || V == 2 || V == 13)
            st_release_gpu(flag, 1);
        else if (V == 5 || V == 6)
            st_volatile(flag, 1); // @6
        else if (V == 7)
            st_release_cta(flag, 1); // @7
        else if (V == 8)
            st_relaxed_sys(flag, 1);
        else if (V == 11)
            add_acq_rel_gpu(flag, 1);
        else if (V == 12)
            add_relaxed_gpu(flag, 1);
        else if (V == 14)
            add_relaxed_gpu(flag, 1); // @14
        else if (V == 16)
            exch_relaxed_gpu(flag, 1);
        else if (V == 17)
            st_release_sys(flag, 1);
        else if (V != 9)
            st_relaxed_gpu(flag, 1); // @1,4
    } else {
        if (V == 10) fence_gpu();
        if (V == 5 || V == 6)
            POLL(ld_volatile, flag, 1)
        else if (V == 0 || V == 1 || V == 4 || V == 9 || V == 11 || V == 14 || V == 16)
            POLL(ld_acquire_gpu, flag, 1)
        else if (V == 7)
            POLL(ld_acquire_cta, flag, 1) // @7
        else if (V == 8)
            POLL(ld_relaxed_sys, flag, 1)
        else if (V == 17)
            POLL(ld_acquire_sys, flag, 1)
        else if (V == 13)
            POLL(ld_weak, flag, 1) // @13
        else
            POLL(ld_relaxed_gpu, flag, 1) // @2,10
        if (V == 3 || V == 12) fence_gpu();
        if (V == 5) __threadfence();
        if (V == 8) fence_sys();
        if (V == 15) fence_sc_gpu();
        out[100] = *(unsigned *)word; // @1,2,4,6,7,9,10,13,14
    }
}
RIGHT(flag_release, message<0>, "A release and an acquire of gpu scope on the flag order the word.")
RIGHT(flag_fences, message<3>, "Fences of gpu scope around relaxed accesses of the flag.")
RIGHT(flag_volatile_fenced, message<5>,
      "__threadfence() on both sides; a volatile access is a relaxed one.")
RIGHT(flag_sys, message<8>, "sys scope includes gpu scope.")
RIGHT(flag_atomic, message<11>, "An acq_rel atomic releases as a store does.")
RIGHT(flag_atomic_fenced, message<12>, "A fence before a relaxed atomic.")
RIGHT(flag_sc, message<15>, "fence.sc is stronger than acq_rel.")
RIGHT(flag_exch, message<16>, "A fenced exchange and an acquire.")
RIGHT(flag_release_sys, message<17>, "Release and acquire of sys scope.")
RACY(flag_relaxed, message<1>, "race", "A relaxed store of the flag releases nothing.")
RACY(flag_relaxed_load, message<2>, "race", "A relaxed load of the flag acquires nothing.")
RACY(flag_cta_fence, message<4>, "race",
     "The fence is of .cta scope, and the reader is in another block.")
RACY(flag_volatile, message<6>, "race", "volatile orders no other words.")
RACY(flag_cta, message<7>, "race",
     "Release and acquire of .cta scope in two blocks do not synchronise.")
RACY(flag_first, message<9>, "race", "The word is written behind the flag.")
RACY(flag_early_fence, message<10>, "race",
     "The reader's fence comes before the load that sees the flag.")
RACY(flag_weak, message<13>, "race", "A weak load of the flag races with its store.")
RACY(flag_relaxed_atomic, message<14>, "race", "A relaxed atomic releases nothing.")

/* The same between whole blocks. */
//= threads 64 blocks 2
FAMILY blocks(PARAMS) {
    unsigned *flag = out + 128;
    if (blockIdx.x == 0) {
        out[tid()] = tid(); // @1,3,4,8
        if (V == 2 || V == 7) __threadfence();
        if (V == 8) fence_gpu();
        if (V != 1) __syncthreads();
        if (tid() == 0) {
            if (V == 2 || V == 5) __threadfence();
            if (V == 4 || V == 7 || V == 8)
                st_relaxed_gpu(flag, 1);
            else if (V == 2 || V == 5)
                st_volatile(flag, 1);
            else
                st_release_gpu(flag, 1);
        }
    } else {
        if (V == 6) {
            POLL(ld_acquire_gpu, flag, 1)
        } else if (tid() == 0) {
            if (V == 7) {
                POLL(ld_relaxed_gpu, flag, 1)
                __threadfence();
            } else if (V == 2 || V == 5) {
                POLL(ld_volatile, flag, 1)
                __threadfence();
            } else
                POLL(ld_acquire_gpu, flag, 1)
        }
        if (V != 3 && V != 6) __syncthreads();
        out[1000 + tid()] = ld_weak(out + 63 - tid()); // @1,3,4,8
    }
}
RIGHT(blocks_release, blocks<0>,
      "Barrier, release, acquire, barrier: a chain that reaches all threads.")
RIGHT(blocks_fence_all, blocks<2>, "Every writer fences, then the barrier and the flag.")
RIGHT(blocks_fence_one, blocks<5>,
      "One thread's fence covers what it has seen through the barrier.")
RIGHT(blocks_all_poll, blocks<6>, "Every reader polls and acquires for itself.")
RIGHT(blocks_fences_first, blocks<7>,
      "fence.sc of every writer, the barrier, and the flag; fence.sc of the reader.")
RACY(blocks_acq_rel_first, blocks<8>, "race",
     "The writers' fences order nothing for the flag of another thread, unless they are fence.sc.")
RACY(blocks_no_barrier, blocks<1>, "race",
     "The flag is raised by a thread that has not waited for the other writers.")
RACY(blocks_one_polls, blocks<3>, "race",
     "One thread has seen the flag, and the others were not told.")
RACY(blocks_relaxed, blocks<4>, "race", "The flag's store releases nothing.")

/* The last block to finish adds up what all have written. */
//= threads 32 blocks 4
FAMILY last(PARAMS) {
    __shared__ unsigned ticket;
    unsigned *sum = out + 4096, *counter = out + 64;
    out[blockIdx.x * 32 + lane()] = lane(); // @1,2,3,6,7
    if (V == 0 || V == 4 || V == 6) __threadfence();
    if (V == 2) fence_cta();
    if (V != 3) __syncthreads();
    counter = out + 8192;
    if (lane() == 0) {
        if (V == 4)
            ticket = atomicInc(counter, 3);
        else if (V == 5)
            ticket = add_acq_rel_gpu(counter, 1);
        else if (V == 3)
            ticket = add_acq_rel_gpu(counter, 1);
        else if (V == 7)
            ticket = add_release_gpu(counter, 1);
        else
            ticket = atomicAdd(counter, 1);
    }
    __syncthreads();
    if (ticket != 3) return;
    if (V == 0 || V == 4) __threadfence();
    unsigned x = 0;
    for (int i = 0; i < 4; i++) x += ld_weak(out + 32 * i + 31 - lane()); // @1,2,3,6,7
    sum[lane()] = x;
}
RIGHT(last_fences, last<0>,
      "Fence, counter, fence: what the other blocks wrote before theirs is visible.")
RIGHT(last_inc, last<4>, "The same with atomicInc.")
RIGHT(last_acq_rel, last<5>, "An acq_rel atomic of one thread behind the block's barrier.")
RACY(last_no_fence, last<1>, "race", "A relaxed counter orders nothing else.")
RACY(last_cta_fence, last<2>, "race", "A fence of .cta scope does not reach other blocks.")
RACY(last_no_barrier, last<3>, "race",
     "The counter is raised before the block's other lanes are known to have written.")
RACY(last_no_acquire, last<6>, "race|note", "The reader has no fence behind its atomic.")
RACY(last_release_only, last<7>, "race|note", "The atomic releases and does not acquire.")

/* A lock. */
//= threads 32 blocks 3
FAMILY lock(PARAMS) {
    unsigned *taken = out + 64, *word = out;
    if (lane()) return;
    for (int tries = 0; tries < 1000000; tries++) {
        unsigned old;
        if (V == 0 || V == 2 || V == 5)
            asm volatile("atom.acquire.gpu.cas.b32 %0, [%1], 0, 1;"
                         : "=r"(old)
                         : "l"(taken)
                         : "memory");
        else if (V == 4)
            asm volatile("atom.acquire.cta.cas.b32 %0, [%1], 0, 1;"
                         : "=r"(old)
                         : "l"(taken)
                         : "memory"); // @4
        else
            old = atomicCAS(taken, 0, 1);
        if (!old) break;
    }
    if (V == 3 || V == 6) __threadfence();
    *word = *word + 1; // @1,2,4,5,7
    if (V == 3 || V == 6 || V == 7) __threadfence();
    if (V == 0)
        exch_release_gpu(taken, 0);
    else if (V == 4)
        exch_release_cta(taken, 0);
    else if (V == 3)
        atomicExch(taken, 0);
    else if (V == 6)
        st_volatile(taken, 0);
    else if (V == 5)
        st_weak(taken, 0); // @5
    else if (V == 7)
        st_relaxed_gpu(taken, 0);
    else
        atomicExch(taken, 0);
}
RIGHT(lock_acquire, lock<0>, "Acquire to lock, release to unlock.")
RIGHT(lock_fences, lock<3>, "Relaxed atomics with fences inside the lock on both sides.")
RIGHT(lock_volatile, lock<6>, "Unlocked by a fenced volatile store.")
RACY(lock_bare, lock<1>, "race", "Relaxed atomics keep others out and order nothing.")
RACY(lock_no_release, lock<2>, "race", "The unlocking exchange releases nothing.")
RACY(lock_cta, lock<4>, "race", "Acquire and release of .cta scope between blocks.")
RACY(lock_weak_unlock, lock<5>, "race", "A weak store races with the other blocks' atomics.")
RACY(lock_no_acquire, lock<7>, "race", "The lock is taken without an acquire.")

/* A barrier of the whole grid. */
//= threads 64 blocks 3
FAMILY grid(PARAMS) {
    unsigned *counter = out + 8192;
    out[gtid()] = gtid(); // @1,2,3,6,7
    if (V != 2) __syncthreads();
    if (tid() == 0) {
        if (V == 0 || V == 3) __threadfence();
        if (V == 4 || V == 2 || V == 7)
            add_release_gpu(counter, 1);
        else if (V == 5)
            add_acq_rel_gpu(counter, 1);
        else if (V == 6)
            add_relaxed_cta(counter, 1); // @6
        else
            atomicAdd(counter, 1);
        if (V == 4 || V == 2 || V == 3 || V == 5)
            POLL(ld_acquire_gpu, counter, 3)
        else
            POLL(ld_relaxed_gpu, counter, 3)
        if (V == 0) __threadfence();
    }
    if (V != 3) __syncthreads();
    out[1000 + gtid()] = ld_weak(out + (gtid() + 64) % 192); // @1,2,3,6,7
}
RIGHT(grid_fences, grid<0>, "Barrier, fence, counter, fence, barrier.")
RIGHT(grid_release, grid<4>, "The counter releases, the poll acquires.")
RIGHT(grid_acq_rel, grid<5>, "An acq_rel counter.")
RACY(grid_relaxed, grid<1>, "race", "A relaxed counter orders nothing.")
RACY(grid_no_barrier, grid<2>, "race", "The block's other threads may not have written yet.")
RACY(grid_no_second, grid<3>, "race",
     "The block's other threads do not wait for the one that polls.")
RACY(grid_cta, grid<6>, "race", "Atomics of .cta scope from several blocks.")
RACY(grid_relaxed_poll, grid<7>, "race", "The poll acquires nothing.")

/* Counters that several blocks or threads share. */
//= threads 32 blocks 2
FAMILY counter(PARAMS) {
    if (V == 0) add_relaxed_gpu(out, 1);
    if (V == 1) add_relaxed_cta(out, 1); // @1
    if (V == 2) out[0] = out[0] + 1;     // @2
    if (V == 3) add_relaxed_sys(out, 1);
    if (V == 4) add_relaxed_cta(out + blockIdx.x, 1);
    if (V == 5) {
        if (blockIdx.x)
            st_weak(out, 1); // @5
        else
            add_relaxed_gpu(out, 1); // @5
    }
    if (V == 6) {
        if (blockIdx.x)
            st_relaxed_gpu(out, 1);
        else
            add_relaxed_gpu(out, 1);
    }
    if (V == 7) {
        if (blockIdx.x)
            out[1 + lane()] = ld_weak(out); // @7
        else
            add_relaxed_gpu(out, 1); // @7
    }
    if (V == 8) out[1 + gtid()] = ld_relaxed_gpu(out), add_relaxed_gpu(out, 1);
    if (V == 9) {
        if (blockIdx.x)
            add_relaxed_cta(out, 1); // @9
        else
            add_relaxed_gpu(out, 1); // @9
    }
    if (V == 10) reinterpret_cast<unsigned char *>(out)[gtid()] = 1;
    if (V == 11) {
        if (blockIdx.x)
            reinterpret_cast<unsigned char *>(out)[lane()] = 7; // @11
        else
            out[lane() / 4] = 1; // @11
    }
    if (V == 12) add_relaxed_cluster(out, 1); // @12
}
RIGHT(count_gpu, counter<0>, "Relaxed atomics of gpu scope.")
RIGHT(count_sys, counter<3>, "Relaxed atomics of sys scope.")
RIGHT(count_own_cta, counter<4>, "Atomics of .cta scope on a counter of the block's own.")
RIGHT(count_strong_store, counter<6>,
      "A relaxed store of gpu scope and atomics: strong accesses do not race.")
RIGHT(count_strong_load, counter<8>, "A relaxed load beside atomics.")
RIGHT(count_bytes, counter<10>, "Neighbouring bytes of several blocks.")
RACY(count_cta_two_blocks, counter<1>, "race",
     "Atomics of .cta scope from two blocks are not atomic to each other.")
RACY(count_not_atomic, counter<2>, "race", "A read and a write that are not atomic.")
RACY(count_weak_store, counter<5>, "race", "A weak store beside another block's atomics.")
RACY(count_weak_load, counter<7>, "race", "A weak load beside another block's atomics.")
RACY(count_mixed_scope, counter<9>, "race",
     "One of the two scopes does not include the other block.")
RACY(count_word_byte, counter<11>, "race", "A word and a byte of it from two blocks.")
RACY(count_cluster_scope, counter<12>, "race",
     "Scope .cluster of blocks that are in no common cluster.")

/* A chain of blocks: each waits for the one before. */
//= threads 32 blocks 4
FAMILY lookback(PARAMS) {
    unsigned *state = out + 64;
    if (lane()) return;
    unsigned sum = 0;
    if (V == 0) {
        unsigned long long *both = reinterpret_cast<unsigned long long *>(out + 1024), x = 0;
        if (blockIdx.x) do
                asm volatile("ld.relaxed.gpu.u64 %0, [%1];"
                             : "=l"(x)
                             : "l"(both + blockIdx.x - 1)
                             : "memory");
            while (!(x >> 32));
        asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(both + blockIdx.x),
                     "l"(1ull << 32 | (unsigned)(x + blockIdx.x))
                     : "memory");
        return;
    }
    if (blockIdx.x) {
        if (V == 3 || V == 1)
            POLL(ld_relaxed_gpu, state + blockIdx.x - 1, 1)
        else if (V == 5)
            POLL(ld_volatile, state + blockIdx.x - 1, 1)
        else
            POLL(ld_acquire_gpu, state + blockIdx.x - 1, 1)
        if (V == 5) __threadfence();
        sum = ld_weak(out + blockIdx.x - 1); // @1,2,3
    }
    out[blockIdx.x] = sum + blockIdx.x; // @1,2,3
    if (V == 1 || V == 2)
        st_relaxed_gpu(state + blockIdx.x, 1);
    else if (V == 5)
        __threadfence(), st_volatile(state + blockIdx.x, 1);
    else
        st_release_gpu(state + blockIdx.x, 1);
}
RIGHT(chain_packed, lookback<0>,
      "Value and flag are one word of 64 bits, so nothing else needs an order.")
RIGHT(chain_release, lookback<4>, "The flag releases the value, the poll acquires it.")
RIGHT(chain_fences, lookback<5>, "volatile flags with fences.")
RACY(chain_apart, lookback<1>, "race",
     "Value and flag are two words with nothing that orders them.")
RACY(chain_no_release, lookback<2>, "race", "The flag's store releases nothing.")
RACY(chain_no_acquire, lookback<3>, "race", "The poll acquires nothing.")

/* Global memory within a block. */
//= threads 64 blocks 2
FAMILY inside(PARAMS) {
    unsigned *mine = out + 64 * blockIdx.x;
    mine[tid()] = tid(); // @1,2,5,6,7
    if (V == 0 || V == 6) __syncthreads();
    if (V == 2 || V == 3) __syncwarp();
    if (V == 4) __threadfence(), __syncthreads();
    if (V == 5) __threadfence_block();
    if (V == 6)
        out[1000 + gtid()] = ld_weak(out + (gtid() + 64) % 128); // @6
    else if (V == 7)
        out[1000 + gtid()] = ld_nc(mine + tid()); // @7
    else
        out[1000 + gtid()] = ld_weak(V == 3 ? mine + (tid() ^ 1) : mine + 63 - tid()); // @1,2,5
}
RIGHT(inside_barrier, inside<0>, "The block's barrier orders global memory within the block.")
RIGHT(inside_warp, inside<3>, "__syncwarp() orders global memory within the warp.")
RIGHT(inside_fence_barrier, inside<4>, "A fence besides does no harm.")
RACY(inside_nothing, inside<1>, "race", "Nothing orders two warps.")
RACY(inside_syncwarp, inside<2>, "race", "__syncwarp() orders nothing of another warp.")
RACY(inside_fence, inside<5>, "race", "A fence does not wait.")
RACY(inside_two_blocks, inside<6>, "race", "The block's barrier orders nothing of another block.")
RACY(inside_nc, inside<7>, "stale", "ld.global.nc may read what was there before this launch.")

/* A flag between two warps of a block, in shared memory. */
//= threads 64
FAMILY shared_flag(PARAMS) {
    __shared__ unsigned flag, word;
    if (tid() == 0) flag = 0;
    __syncthreads();
    if (tid() == 0) {
        st_weak(&word, 5); // @1,2
        if (V == 3) fence_cta();
        if (V == 0 || V == 2 || V == 4)
            st_release_cta(&flag, 1);
        else if (V == 3)
            st_relaxed_cta(&flag, 1);
        else
            st_volatile(&flag, 1);
    } else if (tid() == 32) {
        if (V == 0 || V == 4)
            POLL(ld_acquire_cta, &flag, 1)
        else if (V == 3 || V == 2)
            POLL(ld_relaxed_cta, &flag, 1)
        else
            POLL(ld_volatile, &flag, 1)
        if (V == 3) fence_cta();
        out[0] = ld_weak(&word); // @1,2
    }
}
RIGHT(shared_flag_release, shared_flag<0>,
      "Release and acquire of .cta scope on a flag in shared memory.")
RIGHT(shared_flag_fences, shared_flag<3>,
      "Fences of .cta scope around relaxed accesses of the flag.")
RACY(shared_flag_volatile, shared_flag<1>, "race", "volatile orders no other words.")
RACY(shared_flag_no_acquire, shared_flag<2>, "race", "The poll acquires nothing.")
