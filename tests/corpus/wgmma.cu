/* WGMMA: products that a warpgroup starts, their registers and their matrices in shared memory. */
#include "corpus.cuh"

/* 64 x 16 and 8 x 16 halves in core matrices of 8 rows of 16 bytes, k fastest. */
FN uint64_t matrix(const void *smem) {
    return gmma_desc_encode({smem_address(smem), 128, 256, 0, GMMA_SWIZZLE_NONE});
}
FN void product(float (&d)[1][4], const void *a, const void *b) {
    wgmma_m64k16_ss<8>(d, matrix(a), matrix(b), 1);
}
FN void keep(unsigned *out, const float (&d)[1][4]) {
    for (int i = 0; i < 4; i++) out[128 * i + tid() % 128] = __float_as_uint(d[0][i]);
}
constexpr int A_WORDS = 512, B_WORDS = 64;

/* One product of matrices that the block writes. */
//= threads 128
FAMILY single(PARAMS) {
    __shared__ alignas(128) unsigned a[A_WORDS], b[B_WORDS];
    float d[1][4] = {};
    for (int i = tid(); i < A_WORDS; i += 128) a[i] = 0x3c003c00;                 // @1,5,6
    if (tid() < B_WORDS && (V < 14 || tid() / 4 % 8 != 7)) b[tid()] = 0x3c003c00; // @1,5,6
    if (V != 1 && V != 6 && V != 9) fence_async_shared();
    if (V == 6) fence_async_global();
    if (V != 5) __syncthreads();
    if (V == 9) fence_async_shared();
    if (V == 10) d[0][0] = in[tid()];
    registers_fence<1>(d);
    if (V != 2) wgmma_fence();
    product(d, a, b); // @1,2,3,4,5,6,7,8,12,14
    if (V == 12) wgmma_wait_group<0>();
    if (V != 4) wgmma_commit_group();
    if (V == 3) keep(out, d); // @3
    if (V == 7)
        a[4 * tid()] = 0, wgmma_wait_group<0>(); // @7
    else if (V == 8)
        wgmma_wait_group<1>();
    else if (V != 12)
        wgmma_wait_group<0>();
    if (V == 11 && warp() == 3) b[2 * lane()] = b[2 * lane() + 1] = 1;
    if (V == 13) {
        __syncthreads();
        b[tid() % 64] = 1;
    }
    if (V != 3 && (V != 15 || lane() % 4 != 3)) keep(out, d); // @4,8,12
    if (V == 12) wgmma_wait_group<0>();
}
RIGHT(wgmma_single, single<0>, "Fence of the writers, barrier, wgmma.fence, product, commit, wait.")
RIGHT(wgmma_fence_behind, single<9>,
      "A proxy fence behind the barrier, by the threads that issue the product, is on the path as "
      "well.")
RIGHT(wgmma_accumulators, single<10>, "Accumulators are written before wgmma.fence.")
RIGHT(wgmma_reuse, single<13>, "All warps have waited before the matrix is overwritten.")
RACY(wgmma_no_proxy_fence, single<1>, "missing fence",
     "Writes of the generic proxy reach the product only through fence.proxy.async.")
RACY(wgmma_no_fence, single<2>, "wgmma|operand",
     "Registers that were written need wgmma.fence before the product.")
RACY(wgmma_no_wait, single<3>, "operand|wgmma",
     "Accumulators are read while the product is under way.")
RACY(wgmma_no_commit, single<4>, "operand|wgmma",
     "The product is in no group, so the wait is for nothing.")
RACY(wgmma_no_barrier, single<5>, "race|missing fence",
     "Matrices that other threads write are not ordered before the product.")
RACY(wgmma_proxy_global, single<6>, "missing fence",
     "The fence is for global memory, and the matrices are in shared memory.")
RACY(wgmma_overwritten, single<7>, "race|in flight",
     "A matrix is overwritten while the product may read it.")
RACY(wgmma_wait_one, single<8>, "operand|wgmma", "wait_group 1 lets the only group be under way.")
RIGHT(wgmma_reuse_alone, single<11>,
      "A product is one operation of the warpgroup: when a warp has waited, all of it has read.")
RACY(wgmma_unwritten, single<14>, "uninitialised",
     "Nothing has written the last column of B, and its sums are stored.")
RIGHT(wgmma_unwritten_unused, single<15>,
      "Nothing has written the last column of B, and the threads that hold its sums store none.")
RACY(wgmma_wait_before_commit, single<12>, "operand|wgmma", "The wait comes before the commit.")

/* Two products, in one group or two. */
//= threads 128
FAMILY pair(PARAMS) {
    __shared__ alignas(128) unsigned a[A_WORDS], b[2][B_WORDS];
    float d[1][4] = {}, e[1][4] = {};
    for (int i = tid(); i < A_WORDS; i += 128) a[i] = 0x3c003c00;
    b[0][tid()] = 0x3c003c00;
    fence_async_shared();
    __syncthreads();
    registers_fence<1>(d), registers_fence<1>(e);
    wgmma_fence();
    product(d, a, b[0]); // @5,6
    if (V != 2 && V != 6) wgmma_commit_group();
    if (V == 5) d[0][1] += 1; // @5
    if (V == 4) {
        wgmma_wait_group<0>();
        d[0][1] += 1;
        registers_fence<1>(d);
        wgmma_fence();
    }
    if (V == 7) {
        wgmma_wait_group<0>();
        d[0][1] += 1;
    }
    if (V == 3 || V == 4 || V == 5 || V == 7)
        product(d, a, b[1]); // @5,7
    else
        product(e, a, b[1]); // @1,8
    wgmma_commit_group();
    if (V == 0 || V == 1 || V == 8)
        wgmma_wait_group<1>();
    else if (V == 6)
        wgmma_wait_group<1>();
    else
        wgmma_wait_group<0>();
    if (V == 8) b[1][tid() % 64] = 1; // @8
    if (V != 1) keep(out, d);         // @6
    if (V == 0 || V == 8) wgmma_wait_group<0>();
    keep(out + 512, e); // @1
    wgmma_wait_group<0>();
}
RIGHT(pair_older, pair<0>,
      "wait_group 1 of two groups completes the older one, whose accumulators are read.")
RIGHT(pair_one_group, pair<2>, "Both products are in one group, and the wait is for it.")
RIGHT(pair_chained, pair<3>, "Products with the same accumulators need no fence in between.")
RIGHT(pair_changed, pair<4>,
      "Accumulators change after a wait, and wgmma.fence comes before the next product.")
RACY(pair_newer, pair<1>, "operand|wgmma", "wait_group 1 leaves the newer group under way.")
RACY(pair_changed_early, pair<5>, "operand|wgmma",
     "Accumulators change while a product is under way.")
RACY(pair_group_too_new, pair<6>, "operand|wgmma",
     "Both products are in the newest group, which wait_group 1 leaves under way.")
RACY(pair_changed_no_fence, pair<7>, "operand|wgmma",
     "Accumulators change after the wait, and no wgmma.fence follows.")
RACY(pair_matrix_early, pair<8>, "race|in flight",
     "The second product's matrix is overwritten when only the first is complete.")

/* A in registers. */
//= threads 128
FAMILY from_registers(PARAMS) {
    __shared__ alignas(128) unsigned b[B_WORDS];
    float d[1][4] = {};
    unsigned a[4] = {in[tid()], in[tid() + 1], in[tid() + 2], in[tid() + 3]};
    if (tid() < B_WORDS) b[tid()] = 0x3c003c00;
    fence_async_shared();
    __syncthreads();
    registers_fence<1>(d);
    if (V != 3) wgmma_fence();
    if (V == 4) asm volatile("mov.b32 %0, 7;" : "+r"(a[2])::"memory"); // @4
    wgmma_m64k16_rs<8>(d, a, matrix(b), 1);                            // @1,3,4
    wgmma_commit_group();
    if (V == 1) asm volatile("mov.b32 %0, 7;" : "+r"(a[1])::"memory"); // @1
    wgmma_wait_group<0>();
    if (V == 2) asm volatile("mov.b32 %0, 7;" : "+r"(a[1])::"memory");
    if (V == 5) {
        asm volatile("mov.b32 %0, 7;" : "+r"(a[1])::"memory");
        wgmma_fence();
        wgmma_m64k16_rs<8>(d, a, matrix(b), 1);
        wgmma_commit_group();
        wgmma_wait_group<0>();
    }
    keep(out, d);
    out[1000 + tid()] = a[1];
}
RIGHT(registers_wait, from_registers<0>, "A in registers, fenced, and left alone until the wait.")
RIGHT(registers_after, from_registers<2>, "A's registers change after the wait.")
RIGHT(registers_again, from_registers<5>,
      "They change after the wait and are fenced before the next product.")
RACY(registers_early, from_registers<1>, "operand|wgmma",
     "A's registers change while the product may read them.")
RACY(registers_behind_fence, from_registers<4>, "wgmma|operand",
     "A register is written behind wgmma.fence.")
RACY(registers_no_fence, from_registers<3>, "wgmma|operand",
     "A's registers were written, and no wgmma.fence follows.")

/* Matrices that copies bring. */
//= threads 128
FAMILY fed(PARAMS) {
    __shared__ alignas(128) unsigned a[A_WORDS], b[B_WORDS];
    __shared__ uint64_t full;
    const uint32_t f = smem_address(&full);
    float d[1][4] = {};
    make_barriers(&full, 1, 1);
    if (V <= 3) {
        copy_16(&a[4 * tid()], in + 4 * tid());                       // @1,2,3
        if (tid() < 16) copy_16(&b[4 * tid()], in + 512 + 4 * tid()); // @1,2,3
        if (V != 2) copy_wait_all();
        if (V != 1) fence_async_shared();
        if (V != 3) __syncthreads();
    } else {
        if (tid() == 0) {
            arrive_expect(f, V == 6 ? 2048 : 2304); // @6
            bulk_load(a, in, 2048, f);              // @5,6,7
            bulk_load(b, in + 512, 256, f);         // @5,6,7
        }
        if (V == 7) {
            if (warp() == 0) wait(f, 0);
        } else if (V == 8) {
            if (warp() == 0) wait(f, 0);
            __syncthreads();
        } else if (V != 5)
            wait(f, 0); // @6
    }
    registers_fence<1>(d);
    wgmma_fence();
    product(d, a, b); // @1,2,3,5,6,7
    wgmma_commit_group();
    wgmma_wait_group<0>();
    keep(out, d);
}
RIGHT(fed_copy, fed<0>, "cp.async writes in the generic proxy: wait, fence.proxy.async, barrier.")
RIGHT(fed_bulk, fed<4>, "What TMA writes needs no proxy fence before a product; every warp waits.")
RIGHT(fed_bulk_one_waits, fed<8>, "One warp waits, and the barrier passes it on.")
RACY(fed_copy_no_fence, fed<1>, "missing fence",
     "cp.async writes in the generic proxy, and the product reads in the async proxy.")
RACY(fed_copy_no_wait, fed<2>, "race|in flight|missing fence", "The copies are not waited for.")
RACY(fed_copy_no_barrier, fed<3>, "race|missing fence",
     "Copies of other threads are not ordered before the product.")
RACY(fed_bulk_no_wait, fed<5>, "race|in flight", "Nothing waits for the load.")
RACY(fed_bulk_part, fed<6>, "race|in flight|mbarrier|deadlock",
     "The bytes of the second load are not announced.")
RACY(fed_bulk_warp_waits, fed<7>, "race|in flight", "One warp waits, and all four read.")

/* A producer warp and a warpgroup that multiplies. */
//= threads 160
FAMILY pipeline(PARAMS) {
    constexpr int SLOTS = 2, TILES = 5, BYTES = 2304;
    __shared__ alignas(128) unsigned tile[SLOTS][A_WORDS + B_WORDS];
    __shared__ uint64_t full[SLOTS], empty[SLOTS];
    float d[1][4] = {};
    make_barriers(full, SLOTS, 1);
    make_barriers(empty, SLOTS, V == 6 || V == 8 ? 1 : 4);
    unsigned sum = 0;
    if (warp() == 4) {
        if (lane() == 0)
            for (int t = 0; t < TILES; t++) {
                if (t >= SLOTS && V != 1)
                    wait(smem_address(&empty[t % SLOTS]), (t / SLOTS - 1) & 1);
                arrive_expect(smem_address(&full[t % SLOTS]), BYTES); // @1
                bulk_load(tile[t % SLOTS], in + 576 * t, BYTES,
                          smem_address(&full[t % SLOTS])); // @1,2,3,4,5,8
            }
        return;
    }
    for (int t = 0; t < TILES; t++) {
        const int s = t % SLOTS;
        if (V != 3 || t < 3) wait(smem_address(&full[s]), t / SLOTS & 1); // @1
        if (V == 5 && lane() == 0) arrive(smem_address(&empty[s]));
        registers_fence<1>(d);
        wgmma_fence();
        product(d, tile[s], tile[s] + A_WORDS); // @1,2,3,4,5
        wgmma_commit_group();
        if (V == 7 || V == 4) {
            wgmma_wait_group<1>();
            if (V == 4 && lane() == 0) arrive(smem_address(&empty[s]));
            if (V == 7 && t > 0 && lane() == 0) arrive(smem_address(&empty[(t - 1) % SLOTS]));
        } else {
            if (V != 2) wgmma_wait_group<0>();
            if (V == 8) sum += tile[s][tid()]; // @8
            if (V != 5 && lane() == 0 && ((V != 6 && V != 8) || warp() == 0))
                arrive(smem_address(&empty[s]));
        }
    }
    wgmma_wait_group<0>();
    keep(out, d);
    if (V == 8) out[512 + tid()] = sum;
}
RIGHT(pipe_wait, pipeline<0>, "Each warp frees the slot when its part of the product is complete.")
RIGHT(pipe_delayed, pipeline<7>,
      "One product stays under way: wait_group 1, and the slot before is freed.")
RACY(pipe_no_empty_wait, pipeline<1>, "race|in flight|mbarrier|deadlock",
     "The producer refills slots that products read.")
RACY(pipe_free_early, pipeline<2>, "race|in flight",
     "The slot is freed while the product is under way.")
RACY(pipe_no_full, pipeline<3>, "race|in flight", "The last tiles are not waited for.")
RACY(pipe_delayed_wrong, pipeline<4>, "race|in flight",
     "wait_group 1 leaves this slot's product under way, and the slot is freed.")
RACY(pipe_free_first, pipeline<5>, "race|in flight",
     "The slot is freed before the product is even started.")
RIGHT(
    pipe_one_frees, pipeline<6>,
    "A product is one operation of the warpgroup: one warp has waited for it, and frees the slot.")
RACY(pipe_one_frees_reads, pipeline<8>, "race|in flight",
     "One warp's wait covers the products of all four, but not their ordinary loads.")

/* A pipeline of a cluster: block 0 loads tiles for both blocks, and of each warpgroup one thread frees a slot, by an
 * arrival of default scope at block 0's mbarrier. */
//= threads 160 blocks 2 cluster 2
FAMILY cluster_pipeline(PARAMS) {
    constexpr int SLOTS = 2, TILES = 5, BYTES = 2304;
    __shared__ alignas(128) unsigned tile[SLOTS][A_WORDS + B_WORDS];
    __shared__ uint64_t full[SLOTS], empty[SLOTS];
    float d[1][4] = {};
    unsigned sum = 0;
    make_barriers(full, SLOTS, 1);
    make_barriers(empty, SLOTS, V == 4 ? 1 : 2);
    cluster_sync();
    if (warp() == 4) {
        for (int t = 0; t < TILES && lane() == 0; t++) {
            const uint32_t f = smem_address(&full[t % SLOTS]);
            if (t >= SLOTS && rank() == 0)
                wait(smem_address(&empty[t % SLOTS]), (t / SLOTS - 1) & 1);
            arrive_expect(f, BYTES);
            if (rank() == 1) {
                wait(f, t / SLOTS & 1); // one announcement a phase
                continue;
            }
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                         ".multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(
                             smem_address(tile[t % SLOTS])),
                         "l"(in + 576 * t), "r"(BYTES), "r"(f), "h"((unsigned short)3)
                         : "memory"); // @1,2,3,4
        }
    } else {
        for (int t = 0; t < TILES; t++) {
            const int s = t % SLOTS;
            const uint32_t freed = at_rank(&empty[s], 0);
            wait(smem_address(&full[s]), t / SLOTS & 1);
            registers_fence<1>(d);
            wgmma_fence();
            product(d, tile[s], tile[s] + A_WORDS); // @1,4
            wgmma_commit_group();
            if (V == 1 && tid() == 32) remote_arrive_cta(freed);
            wgmma_wait_group<0>();
            if (V == 2) sum += tile[s][lane()];           // @2
            if (V == 3 && tid() == 32) sum += tile[s][0]; // @3
            if (V != 1 && tid() == 32 && (V != 4 || rank() == 1)) remote_arrive_cta(freed);
        }
        keep(out + 1024 * rank(), d);
        if (V == 2 || V == 3) out[1024 * rank() + 512 + tid()] = sum;
    }
    __syncwarp();
    cluster_sync();
}
RIGHT(cluster_pipe, cluster_pipeline<0>,
      "A thread that has waited for the warpgroup's product frees the slot in the other block: "
      "what it read is read, "
      "whatever the scope of the arrival.")
RACY(cluster_pipe_early, cluster_pipeline<1>, "race|in flight",
     "The slot is freed before the product is waited for.")
RACY(cluster_pipe_loads, cluster_pipeline<2>, "race|in flight",
     "Other warps' ordinary loads are not covered by one thread's arrival.")
RACY(cluster_pipe_own_load, cluster_pipeline<3>, "race|in flight",
     "An ordinary load is released to another block only by an arrival of cluster scope.")
RACY(cluster_pipe_one_block, cluster_pipeline<4>, "race|in flight|deadlock",
     "One block frees the slot for both.")

/* Two warpgroups and one matrix B. */
//= threads 256
FAMILY shared_b(PARAMS) {
    __shared__ alignas(128) unsigned a[2][A_WORDS], b[B_WORDS];
    const unsigned group = tid() / 128;
    float d[1][4] = {};
    for (int i = tid() % 128; i < A_WORDS; i += 128) a[group][i] = 0x3c003c00;
    if (tid() < B_WORDS) b[tid()] = 0x3c003c00; // @1,5
    fence_async_shared();
    if (V == 1)
        bar_sync(1 + group, 128);
    else if (V == 2)
        bar_sync(1, 256);
    else if (V == 5)
        __syncwarp();
    else
        __syncthreads();
    registers_fence<1>(d);
    wgmma_fence();
    product(d, a[group], b); // @1,3,5
    wgmma_commit_group();
    wgmma_wait_group<0>();
    if (V == 3 || V == 4) {
        if (V == 3)
            bar_sync(1 + group, 128);
        else
            __syncthreads();
        if (tid() < B_WORDS) b[tid()] = 1; // @3
    }
    if (V == 6) {
        bar_sync(1 + group, 128);
        a[group][tid() % 128] = __float_as_uint(d[0][0]);
    }
    keep(out + 512 * group, d);
}
RIGHT(two_groups, shared_b<0>, "A barrier of the whole block before both products.")
RIGHT(two_groups_named, shared_b<2>, "A named barrier with all 256 threads.")
RIGHT(two_groups_reuse, shared_b<4>, "B is overwritten behind a barrier of both groups.")
RIGHT(two_groups_own_a, shared_b<6>,
      "A is the group's own: its own barrier is enough to write the result there.")
RACY(two_groups_apart, shared_b<1>, "race|missing fence",
     "B comes from the first group, and each group waits for itself.")
RACY(two_groups_reuse_apart, shared_b<3>, "race|in flight",
     "The first group overwrites B while the second one may read it.")
RACY(two_groups_warp, shared_b<5>, "race|missing fence",
     "__syncwarp() orders nothing of other warps.")
