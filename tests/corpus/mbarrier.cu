/* mbarriers between ordinary reads and writes: arrivals release, waits acquire. */
#include "corpus.cuh"

/* One warp writes, another reads. */
//= threads 64
FAMILY handoff(PARAMS) {
    __shared__ unsigned word[32];
    __shared__ uint64_t barrier[2];
    const uint32_t b = smem_address(&barrier[0]), other = smem_address(&barrier[1]);
    constexpr bool ONE = V == 5 || V == 6;
    make_barriers(barrier, 2, ONE ? 1 : V == 4 ? 20 : V == 16 ? 64 : V == 17 ? 33 : 32);
    if (warp() == 0) {
        if (V == 2) arrive(b);
        word[lane()] = lane(); // @1,2,3,4,6,7,8,13,15
        if (V == 5) __syncwarp();
        if (V == 9) fence_cta();
        if (V == 18) fence_gpu();
        if (V == 7 || V == 9 || V == 18)
            arrive_relaxed(b);
        else if (V == 16)
            arrive(b);
        else if (V == 19)
            arrive(lane() % 2 ? b : other), arrive(lane() % 2 ? other : b);
        else if (V != 2 && (!ONE || lane() == 0))
            arrive(b);
        if (V == 15) word[lane()] = 5; // @15
    } else {
        if (V == 16) arrive(b);
        if (V == 8 || V == 10)
            wait_relaxed(b, 0);
        else if (V == 11)
            wait_test(b, 0);
        else if (V == 12) {
            if (lane() == 0) wait(b, 0);
            __syncwarp();
        } else if (V == 13) {
            if (lane() == 0) wait(b, 0);
        } else if (V != 1)
            wait(b, V == 3);
        if (V == 10) fence_cta();
        out[lane()] = word[31 - lane()]; // @1,2,3,4,6,7,8,13,15
    }
}
RIGHT(mb_handoff, handoff<0>,
      "Every lane arrives after its write (release), every reader waits (acquire).")
RIGHT(mb_one_arrives, handoff<5>, "__syncwarp() orders the lanes' writes before the one arrival.")
RIGHT(mb_relaxed_fenced, handoff<9>, "A fence before a relaxed arrival makes it a release.")
RIGHT(mb_relaxed_gpu_fence, handoff<18>, "A fence of a wider scope than needed does no harm.")
RIGHT(mb_wait_relaxed_fenced, handoff<10>, "A fence behind a relaxed wait makes it an acquire.")
RIGHT(mb_test_wait, handoff<11>, "test_wait acquires as try_wait does.")
RIGHT(mb_one_waits, handoff<12>, "One lane waits, __syncwarp() passes it on.")
RIGHT(mb_readers_arrive, handoff<16>,
      "Readers that arrive as well and then wait: everybody's phase.")
RIGHT(mb_two_barriers, handoff<19>,
      "Lanes arrive at two mbarriers in either order; each phase has all 32.")
RACY(mb_no_wait, handoff<1>, "race", "The reader does not wait.")
RACY(mb_arrive_first, handoff<2>, "race",
     "An arrival releases what came before it, and the write comes after.")
RACY(mb_parity, handoff<3>, "race", "Parity 1 of a fresh mbarrier counts as over.")
RACY(mb_half, handoff<4>, "race", "The phase ends after half of the arrivals.")
RACY(mb_one_arrives_alone, handoff<6>, "race",
     "Lane 0 arrives for lanes that it has not synchronised with.")
RACY(mb_arrive_relaxed, handoff<7>, "race", "A relaxed arrival releases nothing.")
RACY(mb_wait_relaxed, handoff<8>, "race", "A relaxed wait acquires nothing.")
RACY(mb_one_waits_alone, handoff<13>, "race",
     "One lane waits and the others read without being told.")
RACY(mb_write_again, handoff<15>, "race", "A second write comes behind the arrival.")
RACY(mb_count_high, handoff<17>, "deadlock", "One arrival more is expected than ever comes.")

/* Two warps take turns with one word. */
//= threads 64
FAMILY turns(PARAMS) {
    __shared__ unsigned word[32];
    __shared__ uint64_t ping, pong;
    const uint32_t p = smem_address(&ping), q = smem_address(&pong);
    make_barriers(&ping, 1, 32);
    make_barriers(&pong, 1, 32);
    for (int t = 0; t < 4; t++) {
        if (warp() == 0) {
            if (V != 2 && t > 0) wait(q, (V == 4 ? t : t - 1) & 1); // @1,4
            word[lane()] = t;                                       // @1,2,3,4,5
            arrive(p);
        } else {
            wait(p, V == 1 ? 0 : t & 1); // @1,2,4
            if (V == 3) arrive(q);
            out[32 * t + lane()] = word[31 - lane()]; // @1,2,3,4
            if (V != 3) arrive(q);
            if (V == 5) word[31 - lane()] = 9; // @5
        }
    }
}
RIGHT(turns_both, turns<0>, "Each side waits for the phase in which the other has arrived.")
RACY(turns_parity_stuck, turns<1>, "race|deadlock", "The reader waits for parity 0 in every turn.")
RACY(turns_no_empty, turns<2>, "race|deadlock", "The writer does not wait until the word was read.")
RACY(turns_release_early, turns<3>, "race", "The reader arrives before it reads.")
RACY(turns_parity_ahead, turns<4>, "race|deadlock",
     "The writer waits for the parity of the phase before, which is over.")
RACY(turns_touch_after, turns<5>, "race", "The reader touches the word after its arrival.")

/* A third warp learns through the second what the first has done. */
//= threads 96
FAMILY chain(PARAMS) {
    __shared__ unsigned word[32];
    __shared__ uint64_t first, second;
    const uint32_t a = smem_address(&first), b = smem_address(&second);
    make_barriers(&first, 1, 32);
    make_barriers(&second, 1, 32);
    if (warp() == 0) {
        word[lane()] = lane(); // @1,2,4,5
        if (V == 5)
            arrive_relaxed(a);
        else
            arrive(a);
    } else if (warp() == 1) {
        if (V == 4)
            wait_relaxed(a, 0);
        else if (V != 1)
            wait(a, 0);
        if (V == 6) wait(a, 0);
        arrive(b);
    } else {
        if (V != 2) wait(b, 0);
        if (V == 3) wait(a, 0);
        out[lane()] = word[31 - lane()]; // @1,2,4,5
    }
}
RIGHT(chain_two, chain<0>,
      "Release and acquire are cumulative: the third warp sees what the second has seen.")
RIGHT(chain_both, chain<3>, "Waiting for both does no harm.")
RIGHT(chain_wait_twice, chain<6>, "A second wait for a phase that is over returns at once.")
RACY(chain_broken, chain<1>, "race", "The second warp does not wait, so it has nothing to pass on.")
RACY(chain_no_wait, chain<2>, "race", "The third warp does not wait.")
RACY(chain_relaxed_wait, chain<4>, "race",
     "The second warp waits relaxed: it acquires nothing that it could pass on.")
RACY(chain_relaxed_arrive, chain<5>, "race", "The first warp's arrival releases nothing.")

/* Life of an mbarrier: initialised, used, invalidated, its memory used for something else. */
//= threads 64
FAMILY life(PARAMS) {
    __shared__ uint64_t barrier[1];
    const uint32_t b = smem_address(barrier);
    if (V == 1) {
        if (tid() == 0) mbarrier_init(b, 64); // @1
    } else if (V == 9) {
        if (tid() == 0) mbarrier_init(b, 32);
        __syncwarp();
    } else
        make_barriers(barrier, 1, 64);
    if (V != 9 || warp() == 0) {
        arrive(b);  // @1
        wait(b, 0); // @3,6
    }
    if (V == 0 || V == 2 || V == 4 || V == 5) __syncthreads();
    if (tid() == (V == 9 ? 0 : 40)) {
        if (V == 0 || V == 3 || V == 4) inval(b); // @3
        if (V == 0) *(volatile unsigned *)barrier = 5;
        if (V == 2) *(volatile unsigned *)barrier = 5; // @2
        if (V == 4) mbarrier_init(b, 64);
        if (V == 5 || V == 6) mbarrier_init(b, 64); // @5,6
    }
    if (V == 7) arrive(b), wait(b, 1);
    if (V == 4) {
        __syncthreads();
        arrive(b), wait(b, 0);
    }
    if (V == 8 && tid() == 0) arrive(b), wait(b, 1); // @8
}
RIGHT(life_inval, life<0>, "Invalidated when all have passed, its memory is ordinary again.")
RIGHT(life_again, life<4>, "Invalidated and initialised again, with a barrier on both sides.")
RIGHT(life_two_phases, life<7>, "Two phases, of parities 0 and 1.")
RIGHT(life_one_warp, life<9>, "Within one warp, __syncwarp() orders the initialisation.")
RACY(life_no_sync, life<1>, "race|mbarrier|uninit",
     "Another warp may arrive before the mbarrier is initialised.")
RACY(life_written, life<2>, "mbarrier|race",
     "An mbarrier that is alive may be touched by mbarrier instructions only.")
RACY(life_inval_early, life<3>, "race|mbarrier",
     "Other threads may still wait when the mbarrier is invalidated.")
RACY(life_init_twice, life<5>, "mbarrier|race",
     "An mbarrier that is alive is initialised without mbarrier.inval.")
RACY(life_init_early, life<6>, "race|mbarrier",
     "It is initialised again while other threads may still wait.")
RACY(life_phase_short, life<8>, "deadlock", "The second phase has one arrival of 64.")

/* A warp that leaves a loop of phases early. */
//= threads 96
FAMILY leave(PARAMS) {
    __shared__ unsigned word[3][3][32];
    __shared__ uint64_t barrier;
    const uint32_t b = smem_address(&barrier);
    make_barriers(&barrier, 1, 96);
    for (int t = 0; t < 3; t++) {
        const bool last = warp() == 2 && t == 1;
        if (V == 1 && last) arrive_drop(b);
        word[t][warp()][lane()] = t; // @1,3
        if (last && V != 1 && V != 2) arrive_drop(b);
        if (last && V == 2) arrive(b);
        if (V == 3 && last) word[0][2][lane()] = 7; // @3
        if (last) break;
        arrive(b);
        if (V == 4 && warp() == 2)
            wait_test(b, 0);
        else
            wait(b, t & 1);
        out[96 * t + tid()] = word[t][t < 2 ? 2 : 0][31 - lane()];              // @1
        if (V == 3 && warp() == 0) out[500 + lane()] = word[0][2][31 - lane()]; // @3
    }
}
RIGHT(leave_drop, leave<0>,
      "arrive_drop releases like an arrival, and later phases expect one arrival fewer for each "
      "lane.")
RIGHT(leave_test_wait, leave<4>, "Phases may be awaited in different ways by different warps.")
RACY(leave_drop_first, leave<1>, "race",
     "The write comes behind arrive_drop, which releases what came before it.")
RACY(leave_arrive_only, leave<2>, "deadlock",
     "The warp has arrived and left, and the next phase still expects it.")
RACY(leave_write_behind, leave<3>, "race",
     "The warp writes behind its last arrival what others read.")
