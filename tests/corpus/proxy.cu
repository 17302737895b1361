/* The two proxies across blocks: what TMA writes or reads in global memory, and flags. */
#include "corpus.cuh"

/* Block 0 stores a tile with TMA and raises a flag, block 1 reads the tile. */
//= threads 32 blocks 2
FAMILY stored(PARAMS) {
    __shared__ alignas(128) unsigned tile[256];
    unsigned *flag = out + 4096;
    if (blockIdx.x == 0) {
        for (int i = lane(); i < 256; i += 32) tile[i] = i;
        fence_async_shared();
        __syncwarp();
        if (lane() == 0) {
            bulk_store(out, tile, 1024); // @1,2,3
            bulk_commit();
            if (V == 2)
                bulk_wait_read<0>();
            else if (V != 1)
                bulk_wait<0>();
            if (V == 0 || V == 5) fence_async();
            if (V == 5)
                __threadfence(), st_relaxed_gpu(flag, 1);
            else if (V == 3)
                st_relaxed_gpu(flag, 1);
            else
                st_release_gpu(flag, 1);
            bulk_wait<0>();
        }
    } else {
        POLL(ld_acquire_gpu, flag, 1)
        out[5000 + lane()] = ld_weak(out + 255 - lane()); // @1,2,3
    }
}
RIGHT(stored_flag, stored<0>,
      "The store is complete, a proxy fence follows, and the flag releases it.")
RIGHT(stored_no_proxy_fence, stored<4>,
      "The completion that a thread waits for is visible in the generic proxy, so a release is "
      "enough.")
RIGHT(stored_fence, stored<5>, "The same with a fence and a relaxed flag.")
RACY(stored_no_wait, stored<1>, "race|in flight",
     "The flag is raised while the store is under way.")
RACY(stored_wait_read, stored<2>, "race|in flight",
     "wait_group.read does not say that the tile was written.")
RACY(stored_relaxed, stored<3>, "race", "The flag's store releases nothing.")

/* Block 0 writes a tile and raises a flag, block 1 loads it with TMA. */
//= threads 32 blocks 2
FAMILY loaded(PARAMS) {
    __shared__ alignas(128) unsigned tile[256];
    __shared__ uint64_t barrier;
    const uint32_t b = smem_address(&barrier);
    unsigned *flag = out + 4096;
    make_barriers(&barrier, 1, 1);
    if (blockIdx.x == 0) {
        for (int i = lane(); i < 256; i += 32) out[i] = i; // @1,2,3
        if (V == 4) fence_async_global();
        __syncwarp();
        if (lane() == 0) {
            if (V == 2)
                st_relaxed_gpu(flag, 1);
            else
                st_release_gpu(flag, 1);
        }
    } else if (lane() == 0) {
        if (V != 3) POLL(ld_acquire_gpu, flag, 1)
        if (V != 1) fence_async_global();
        arrive_expect(b, 1024);
        bulk_load(tile, out, 1024, b); // @1,2,3
        wait(b, 0);
        out[5000] = tile[7];
    }
}
RIGHT(loaded_fenced, loaded<0>, "Acquire, then a proxy fence, then the load.")
RIGHT(loaded_both, loaded<4>, "Proxy fences on both sides.")
RACY(loaded_no_fence, loaded<1>, "missing fence|race",
     "No proxy fence lies between the ordinary writes and the load.")
RACY(loaded_relaxed, loaded<2>, "race|missing fence", "The flag's store releases nothing.")
RACY(loaded_no_flag, loaded<3>, "race|missing fence", "Nothing orders the two blocks.")

/* Who fences, and where: the tile is written by one warp and stored by another. */
//= threads 64
FAMILY fences(PARAMS) {
    __shared__ alignas(128) unsigned tile[256];
    __shared__ uint64_t ready;
    const uint32_t r = smem_address(&ready);
    make_barriers(&ready, 1, 32);
    if (warp() == 0) {
        if (V == 3) fence_async_shared();
        for (int i = lane(); i < 256; i += 32) tile[i] = i; // @1,2,3,4,5
        if (V == 0) fence_async_shared();
        if (V == 6) fence_async();
        if (V == 4) fence_cta();
        if (V == 5) fence_async_shared();
        if (V == 5)
            arrive_relaxed(r);
        else
            arrive(r);
        if (V == 2) fence_async_shared();
    } else if (lane() == 0) {
        wait(r, 0);
        if (V == 7) fence_async_shared();
        bulk_store(out, tile, 1024); // @1,2,3,4,5
        bulk_commit();
        bulk_wait<0>();
    }
}
RIGHT(fences_writer, fences<0>, "The writer fences between its writes and its arrival.")
RIGHT(fences_all_spaces, fences<6>, "A fence for all spaces includes shared memory.")
RIGHT(fences_issuer, fences<7>, "The issuer fences between its wait and the store.")
RACY(fences_none, fences<1>, "missing fence", "No proxy fence at all.")
RACY(fences_behind_arrival, fences<2>, "missing fence",
     "The writer's fence comes behind its arrival.")
RACY(fences_before_writes, fences<3>, "missing fence", "The fence comes before the writes.")
RACY(fences_wrong_kind, fences<4>, "missing fence", "A memory fence is no proxy fence.")
RACY(fences_relaxed_arrival, fences<5>, "race|missing fence",
     "A proxy fence does not make a relaxed arrival a release.")

/* A shared word is an operand of TMA and of ordinary code in turns. */
//= threads 32
FAMILY turns(PARAMS) {
    __shared__ alignas(128) unsigned tile[256];
    __shared__ uint64_t barrier;
    const uint32_t b = smem_address(&barrier);
    make_barriers(&barrier, 1, 1);
    for (int t = 0; t < 3; t++) {
        if (lane() == 0) {
            arrive_expect(b, 1024);
            bulk_load(tile, in + 256 * t, 1024, b); // @1,2
        }
        if (V != 1) wait(b, t & 1);
        for (int i = lane(); i < 256; i += 32) tile[i] += t; // @1,2,3
        if (V != 3) fence_async_shared();
        if (V != 2) __syncwarp();
        if (lane() == 0) {
            bulk_store(out + 256 * t, tile, 1024); // @2,3,4
            bulk_commit();
            if (V == 4)
                bulk_wait_read<1>();
            else
                bulk_wait_read<0>();
        }
        if (V == 1) wait(b, t & 1);
        __syncwarp();
        if (V == 4 && t == 0) tile[lane()] = 7; // @4
    }
    if (lane() == 0) bulk_wait<0>();
}
RIGHT(turns_all, turns<0>, "Load, wait, change, fence, store, wait until it is read, and so on.")
RACY(turns_no_load_wait, turns<1>, "race|in flight",
     "The words are changed before the load is complete.")
RACY(turns_no_sync, turns<2>, "race|missing fence",
     "The other lanes' changes are not ordered before the store.")
RACY(turns_no_fence, turns<3>, "missing fence", "The changes are not fenced.")
RACY(turns_store_open, turns<4>, "race|in flight",
     "The words are changed while the store may read them.")
