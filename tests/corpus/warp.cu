/* Lanes of one warp. */
#include "corpus.cuh"

/* Lanes exchange words through shared memory. */
//= threads 32
FAMILY exchange(PARAMS) {
    __shared__ unsigned word[32];
    unsigned other = 0;
    if (V == 2)
        st_volatile(&word[lane()], lane()); // @2
    else if (V != 3)
        word[lane()] = lane(); // @1,4,6,7,10,13
    if (V == 0) __syncwarp();
    if (V == 3) other = __shfl_xor_sync(~0u, lane(), 1);
    if (V == 4) __syncwarp(lane() < 16 ? 0xffffu : 0xffff0000u);
    if (V == 5) __syncwarp(lane() < 16 ? 0xffffu : 0xffff0000u);
    if (V == 6) other = __shfl_xor_sync(~0u, lane(), 1);
    if (V == 7) other = __ballot_sync(~0u, lane() & 1);
    if (V == 8) __syncthreads();
    if (V == 9) bar_sync(1, 32);
    if (V == 10) fence_cta();
    if (V == 11) fence_cta(), __syncwarp();
    if (V == 13) other = __reduce_add_sync(~0u, lane());
    if (V == 2)
        other = ld_volatile(&word[lane() ^ 1]); // @2
    else if (V != 3)
        other += word[V == 4 ? lane() ^ 16 : V == 5 ? lane() ^ 3 : lane() ^ 1]; // @1,4,6,7,10,13
    out[lane()] = other;
}
RIGHT(lanes_syncwarp, exchange<0>, "__syncwarp() orders the lanes' accesses.")
RIGHT(lanes_shuffle, exchange<3>, "A shuffle passes registers and needs no memory order.")
RIGHT(lanes_half_mask, exchange<5>,
      "Each half synchronises by itself, and lanes read within their half.")
RIGHT(lanes_block_barrier, exchange<8>, "A block's barrier is one of the warp, too.")
RIGHT(lanes_named, exchange<9>, "A named barrier for the one warp.")
RIGHT(lanes_fence_sync, exchange<11>, "A fence besides does no harm.")
RACY(lanes_nothing, exchange<1>, "race", "Nothing orders the lanes of a warp since Volta.")
RACY(lanes_volatile, exchange<2>, "race", "volatile orders no lanes.")
RACY(lanes_wrong_half, exchange<4>, "race",
     "The halves synchronise apart, and the reader is in the other half.")
RACY(lanes_after_shuffle, exchange<6>, "race", "shfl.sync orders no memory.")
RACY(lanes_after_ballot, exchange<7>, "race", "vote.sync orders no memory.")
RACY(lanes_after_redux, exchange<13>, "race", "redux.sync orders no memory.")
RACY(lanes_fence_only, exchange<10>, "race",
     "A fence without a flag or a barrier orders nothing between threads.")

/* A sum over a tree in shared memory. */
//= threads 32
FAMILY tree(PARAMS) {
    __shared__ unsigned word[32];
    word[lane()] = in[lane()]; // @5
    if (V != 5) __syncwarp();
    for (int n = 16; n; n /= 2) {
        if (V == 0 || V == 4) {
            unsigned x = word[lane() ^ n]; // @4
            if (V != 4) __syncwarp();
            word[lane()] += x; // @4
            __syncwarp();
        } else if (V == 2) {
            if (lane() < n)
                st_volatile(&word[lane()],
                            ld_volatile(&word[lane()]) + ld_volatile(&word[lane() + n])); // @2
        } else if (V == 6) {
            if (lane() < n) {
                word[lane()] += word[lane() + n];
                __syncwarp((1u << n) - 1);
            }
        } else if (V == 7) {
            word[lane()] += __shfl_xor_sync(~0u, word[lane()], n);
        } else {
            if (lane() < n) word[lane()] += word[lane() + n]; // @1,5
            if (V != 1) __syncwarp();
        }
    }
    if (lane() == 0) out[0] = word[0];
}
RIGHT(tree_two_syncs, tree<0>, "All lanes read, synchronise, add and synchronise.")
RIGHT(tree_half, tree<3>,
      "Only the lower half writes, and it reads what the upper half no longer writes.")
RIGHT(tree_masked, tree<6>,
      "The lanes that are left synchronise among themselves; they read what they have written.")
RIGHT(tree_shuffled, tree<7>, "Each lane touches its own word, and shuffles carry the rest.")
RACY(tree_no_sync, tree<1>, "race", "A level reads what lanes of the level before wrote.")
RACY(tree_volatile, tree<2>, "race", "Sums in lock step: volatile orders no lanes.")
RACY(tree_one_sync, tree<4>, "race", "A lane adds to a word that its partner may not have read.")
RACY(tree_start, tree<5>, "race", "The first level reads before the writes are ordered.")

/* Two sides of a branch. */
//= threads 32
FAMILY branch(PARAMS) {
    __shared__ unsigned word[16];
    if (lane() < 16) {
        word[lane()] = lane(); // @1,3,5
        if (V == 2) __syncwarp();
        if (V == 3) __syncwarp(0xffff);
        if (V == 4) __syncwarp();
    } else {
        if (V == 2) __syncwarp();
        if (V == 3) __syncwarp(0xffff0000);
        if (V == 1 || V == 2 || V == 3) out[lane()] = word[lane() - 16]; // @1,3
        if (V == 4) __syncwarp();
        if (V == 4) word[lane() - 16] = 1;
        if (V == 5) word[lane() - 16] = 1; // @5
    }
    if (V == 0 || V == 4 || V == 5) {
        __syncwarp();
        if (lane() >= 16) out[lane()] = word[lane() - 16];
    }
}
RIGHT(branch_after, branch<0>, "__syncwarp() behind the branch, then the read.")
RIGHT(branch_inside, branch<2>,
      "Lanes may meet at different __syncwarp() instructions with one mask.")
RIGHT(branch_writes, branch<4>, "Writes of both sides, with __syncwarp() in between.")
RACY(branch_none, branch<1>, "race", "The two sides of a branch run in any order.")
RACY(branch_masks, branch<3>, "race", "The masks are disjoint: neither side waits for the other.")
RACY(branch_both_write, branch<5>, "race", "Both sides write the same words.")

/* Parts of a warp synchronise apart: halves in a branch, teams of eight that run together. */
//= threads 64
FAMILY parts(PARAMS) {
    __shared__ unsigned word[64], first[8];
    __shared__ uint64_t full;
    const unsigned team = 0xffu << lane() / 8 * 8, mine = tid() / 8;
    const bool half = lane() < 16;
    if (V == 9 || V == 10) make_barriers(&full, 1, 2);
    if (V == 0 && !half) word[tid()] = 1, __syncwarp(0xffff0000u), out[tid()] = word[tid() ^ 1];
    if (half && (V == 0 || V == 1 || V == 2)) {
        word[tid()] = tid(); // @2
        __syncwarp(0xffff);
        out[tid()] = word[tid() ^ 15];
        if (V == 1) __syncwarp(0xffff);
        if (V == 1 || V == 2) word[tid()] = 0; // @2
    }
    if (V == 3 && half) __syncwarp(0xff); // @3
    if (V == 4 || V == 5) {
        if (lane() % 8 == 0) first[mine] = tid(); // @5
        __syncwarp(team);
        out[tid()] = first[V == 4 ? mine : mine ^ 1]; // @5
        __syncwarp(team);
        if (lane() % 8 == 7) first[mine] = 0;
    }
    if (V == 6 && mine % 2) {
        for (int n = 0; n < 3; n++) {
            word[tid()] = n;
            __syncwarp(team);
            out[tid()] = word[tid() ^ 7];
            __syncwarp(team);
        }
    }
    if (V == 7 || V == 8) {
        out[tid()] = 1; // @8
        __syncwarp(team);
        out[tid() + 64] = out[tid() ^ (V == 7 ? 7 : 8)]; // @8
    }
    if ((V == 9 || V == 10) && half) {
        word[lane() + 32 * warp()] = tid(); // @10
        if (V == 9) __syncwarp(0xffff);
        if (lane() == 0) arrive(smem_address(&full));
    }
    if (V == 9 || V == 10) {
        wait(smem_address(&full), 0);
        if (half) out[tid()] = word[tid() ^ 32]; // @10
    }
}
RIGHT(parts_halves, parts<0>, "Lanes exchange words within the half that has synchronised.")
RIGHT(parts_again, parts<1>, "The half synchronises before its words are overwritten.")
RIGHT(parts_leader, parts<4>, "A team reads what its first lane wrote, and the last clears it.")
RIGHT(parts_some, parts<6>, "Only some teams run the loop, and each waits for itself.")
RIGHT(parts_global, parts<7>, "A team exchanges words of global memory.")
RIGHT(parts_arrive, parts<9>, "The half has synchronised when its first lane arrives for it.")
RACY(parts_overwritten, parts<2>, "race", "A lane overwrites what another may not have read yet.")
RACY(parts_not_named, parts<3>, "bad operand",
     "Lanes run a __syncwarp() whose mask does not name them.")
RACY(parts_other_leader, parts<5>, "race", "Another team's leader has not synchronised with it.")
RACY(parts_global_other, parts<8>, "race", "Two teams exchange words and synchronise apart.")
RACY(parts_arrive_early, parts<10>, "race",
     "One lane arrives, and nothing orders the others' words.")

/* Two warps, one exchange. */
//= threads 64
FAMILY warps(PARAMS) {
    __shared__ unsigned word[64];
    word[tid()] = tid(); // @1,2,4,5
    if (V == 0) __syncthreads();
    if (V == 1) __syncwarp();
    if (V == 3) __syncwarp();
    if (V == 4) fence_cta(), __syncwarp();
    if (V == 5) fence_gpu();
    out[tid()] = word[V == 3 ? tid() ^ 7 : 63 - tid()]; // @1,2,4,5
}
RIGHT(warps_barrier, warps<0>, "__syncthreads() between warps.")
RIGHT(warps_own, warps<3>, "Only words of the own warp are read.")
RACY(warps_syncwarp, warps<1>, "race", "__syncwarp() orders nothing of another warp.")
RACY(warps_nothing, warps<2>, "race", "Nothing orders two warps.")
RACY(warps_fence, warps<4>, "race",
     "A fence and __syncwarp() do not make warps wait for each other.")
RACY(warps_fence_gpu, warps<5>, "race", "A fence of whatever scope does not wait.")

/* Counting in shared memory. */
//= threads 64
FAMILY count(PARAMS) {
    __shared__ unsigned n, m;
    if (tid() == 0) n = 0, m = 0; // @3
    if (V != 3) __syncthreads();
    if (V == 1)
        n = n + 1; // @1
    else if (V == 6)
        add_relaxed_cta(&n, 1), add_relaxed_cta(&m, 1);
    else if (V == 7)
        atomicMax(&n, tid());
    else if (V == 8)
        atomicCAS(&n, tid(), tid() + 1);
    else
        atomicAdd(&n, 1);                      // @2,3,4
    if (V == 4 && tid() == 63) st_weak(&n, 5); // @4
    if (V != 2) __syncthreads();
    if (V == 5)
        atomicAdd(&n, 1);
    else
        out[tid()] = ld_weak(&n); // @2
}
RIGHT(count_atomic, count<0>,
      "Atomics do not race with each other, and the barrier comes before the plain read.")
RIGHT(count_atomic_again, count<5>, "Atomics in both phases.")
RIGHT(count_two, count<6>, "Two counters, relaxed atomics of .cta scope within one block.")
RIGHT(count_max, count<7>, "atomicMax is atomic, too.")
RIGHT(count_cas, count<8>, "So is atomicCAS.")
RACY(count_plain, count<1>, "race", "A read and a write that are not atomic.")
RACY(count_read_early, count<2>, "race", "A plain read races with other threads' atomics.")
RACY(count_unset, count<3>, "race|uninit", "Another warp may add before the counter is set.")
RACY(count_plain_store, count<4>, "race", "A plain store races with other threads' atomics.")

/* Matrices: ldmatrix reads rows that other lanes wrote. */
//= threads 64
FAMILY matrix(PARAMS) {
    __shared__ alignas(16) unsigned tile[2][128];
    unsigned r[4], *mine = tile[warp()], *theirs = tile[V == 3 || V == 4 ? 1 - warp() : warp()];
    for (int i = 0; i < 4; i++)
        if (V != 5 && V != 6) mine[32 * i + lane()] = lane(); // @1,3
    if (V == 5 || V == 6)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(
                         smem_address(mine + 4 * lane())),
                     "r"(lane())
                     : "memory"); // @6
    if (V == 0 || V == 3 || V == 5) __syncwarp();
    if (V == 4 || V == 2) __syncthreads();
    if (V == 6)
        r[0] = r[1] = r[2] = r[3] = ld_weak(theirs + 4 * (31 - lane())); // @6
    else
        ldmatrix_x4(r, smem_address(theirs + 4 * lane())); // @1,3,7
    if (V == 2 || V == 7) {
        if (V == 2) __syncthreads();
        mine[lane()] = 1; // @7
    }
    out[tid()] = r[0] + r[1] + r[2] + r[3];
}
RIGHT(matrix_syncwarp, matrix<0>, "__syncwarp() between stores and ldmatrix of one warp.")
RIGHT(matrix_reuse, matrix<2>, "A barrier before the matrix is overwritten.")
RIGHT(matrix_other_warp, matrix<4>, "A block's barrier before another warp's matrix is read.")
RIGHT(matrix_stored, matrix<5>, "stmatrix, __syncwarp(), ldmatrix.")
RACY(matrix_no_sync, matrix<1>, "race",
     "ldmatrix is executed by the warp together and orders no memory.")
RACY(matrix_other_early, matrix<3>, "race", "The matrix of another warp needs a block's barrier.")
RACY(matrix_stored_no_sync, matrix<6>, "race",
     "A lane reads what stmatrix wrote, with no __syncwarp() in between.")
RACY(matrix_overwritten, matrix<7>, "race",
     "A lane overwrites what ldmatrix of other lanes may still read.")

/* Bytes and halves of one word. */
FN void st_byte(uint32_t at, unsigned x) {
    asm volatile("st.shared.u8 [%0], %1;" ::"r"(at), "r"(x) : "memory");
}
FN void st_half(uint32_t at, unsigned x) {
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(at), "h"((unsigned short)x) : "memory");
}
FN unsigned ld_byte(uint32_t at) {
    unsigned x;
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(x) : "r"(at) : "memory");
    return x;
}
//= threads 64
FAMILY narrow(PARAMS) {
    __shared__ alignas(16) unsigned char byte[256];
    const uint32_t b = smem_address(byte);
    const unsigned t = (tid() % 32) * 2 + warp();      // neighbours are in different warps
    if (V == 0 || V == 3 || V == 5) st_byte(b + t, t); // @3,5
    if (V == 1 || V == 2) st_half(b + 2 * t, t);       // @1
    if (V == 4) st_byte(b + 4 * tid(), t), st_byte(b + 4 * tid() + 3, t);
    if (V == 0 || V == 2) __syncthreads();
    if (V == 1) out[tid()] = ld_byte(b + (2 * t + 4) % 128);                   // @1
    if (V == 0 || V == 2 || V == 3) out[tid()] = ld_shared(b + tid() / 4 * 4); // @3
    if (V == 5 && tid() == 40) st_shared(b + 4, 7);                            // @5
}
RIGHT(narrow_bytes, narrow<0>, "Threads that write neighbouring bytes of a word do not conflict.")
RIGHT(narrow_halves, narrow<2>, "Nor do halves.")
RIGHT(narrow_own_word, narrow<4>, "Two bytes of a word by one thread.")
RACY(narrow_word_read, narrow<3>, "race|uninit",
     "A word is read while other threads write its bytes.")
RACY(narrow_half_byte, narrow<1>, "race|uninit",
     "A byte is read of a half that another thread writes.")
RACY(narrow_word_write, narrow<5>, "race", "A word is written over bytes of other threads.")

/* Several lanes read a word and write it, all by the same instructions. */
//= threads 32
FAMILY bins(PARAMS) {
    __shared__ unsigned bin[16];
    __shared__ unsigned short half[32];
    if (lane() < 16) bin[lane()] = 0; // @1
    half[lane()] = 0;
    __syncwarp();
    unsigned *mine = &bin[lane() % 16];
    if (V == 0) atomicAdd(mine, 1);
    if (V == 1) *mine += 1; // @1
    if (V == 2) {
        const unsigned before = ld_weak(mine);
        __syncwarp();
        st_weak(mine, before + 1);
    }
    if (V == 3) half[lane()] += 1;
    if (V == 4) st_weak(mine, ld_weak(mine));
    __syncwarp();
    out[tid()] = *mine + half[lane()];
}
RIGHT(bins_atomic, bins<0>, "Atomics of two lanes at one word.")
RIGHT(bins_read_first, bins<2>,
      "All lanes have read when the first writes, and they write the same.")
RIGHT(bins_halves, bins<3>, "Lanes read and write their own halves of a word.")
RIGHT(bins_unchanged, bins<4>, "What lanes write is what the word holds already.")
RACY(bins_lost, bins<1>, "race", "One lane writes while another may not have read yet.")
