/* cp.async.bulk.tensor: boxes of 64 x 8 halves. */
#include "corpus.cuh"

/* Two boxes and the mbarriers that count them. */
//= threads 64
FAMILY boxes(PARAMS) {
    __shared__ alignas(128) unsigned tile[2][256];
    __shared__ uint64_t barrier[2];
    const uint32_t b = smem_address(&barrier[0]), c = smem_address(&barrier[1]);
    constexpr bool TWO = V == 2 || V == 3 || V == 4;
    make_barriers(barrier, 2, V == 8 ? 2 : 1);
    if (tid() == 0) {
        arrive_expect(b, TWO || V == 1      ? BOX_BYTES
                         : V == 5 || V == 6 ? 2 * BOX_BYTES
                         : V == 8           ? BOX_BYTES
                                            : 2 * BOX_BYTES); // @1
        if (TWO) arrive_expect(c, BOX_BYTES);
        box_load(tile[0], in_map, 0, b);                                     // @1,7
        box_load(tile[1], in_map, V == 5 || V == 6 ? 508 : 64, TWO ? c : b); // @1,3,7
    }
    if (V == 8 && tid() == 32) arrive_expect(b, BOX_BYTES);
    if (V != 7) wait(b, 0); // @1
    if (V == 2) wait(c, 0);
    out[tid()] = tile[V == 2 || V == 3 || V == 1 || V == 5][255 - tid()] + tile[0][tid()]; // @1,3,7
    if (V == 4) wait(c, 0), out[64 + tid()] = tile[1][tid()];
}
RIGHT(boxes_one_barrier, boxes<0>, "One mbarrier counts the bytes of both boxes.")
RIGHT(boxes_two_barriers, boxes<2>, "Each box has an mbarrier, and both are awaited.")
RIGHT(boxes_in_turn, boxes<4>, "The second is awaited when it is needed.")
RIGHT(boxes_outside, boxes<5>,
      "A box that lies partly outside the tensor arrives whole, with zeros.")
RIGHT(boxes_two_announce, boxes<8>,
      "Two threads announce the bytes of one box each, and both arrivals are counted.")
RACY(boxes_half, boxes<1>, "race|in flight|mbarrier|deadlock",
     "The bytes of the second box are not announced.")
RACY(boxes_other, boxes<3>, "race|in flight",
     "The second box is read, and the wait was for the first.")
RACY(boxes_no_wait, boxes<7>, "race|in flight", "Nothing waits.")

/* A box outside the tensor with too few bytes announced. */
//= threads 64
FAMILY edge(PARAMS) {
    __shared__ alignas(128) unsigned tile[256];
    __shared__ uint64_t barrier;
    const uint32_t b = smem_address(&barrier);
    make_barriers(&barrier, 1, 1);
    if (tid() == 0) {
        arrive_expect(b, V == 1 ? BOX_BYTES / 2 : BOX_BYTES); // @1
        box_load(tile, in_map, 508, b);                       // @1
    }
    wait(b, 0);               // @1
    out[tid()] = tile[tid()]; // @1
}
RIGHT(edge_whole, edge<0>, "Bytes outside the tensor count, too.")
RACY(edge_inside_only, edge<1>, "race|in flight|mbarrier|deadlock",
     "Only the bytes inside the tensor are announced.")

/* A box is loaded, changed in place, and stored. */
//= threads 64
FAMILY change(PARAMS) {
    __shared__ alignas(128) unsigned tile[256];
    __shared__ uint64_t barrier;
    const uint32_t b = smem_address(&barrier);
    make_barriers(&barrier, 1, 1);
    if (tid() == 0) {
        arrive_expect(b, BOX_BYTES);
        box_load(tile, in_map, 0, b); // @2
    }
    if (V != 2) wait(b, 0);
    if (V == 3) fence_async_shared();
    for (int i = tid(); i < 256; i += 64) tile[i] += 1; // @1,2,3,4,6
    if (V != 1 && V != 3 && V != 8) fence_async_shared();
    if (V != 4) __syncthreads();
    if (V == 8) fence_async_shared();
    if (tid() == 0) {
        box_store(out_map, 0, tile); // @1,3,4,5,6
        bulk_commit();
        if (V == 7 || V == 0 || V == 8) bulk_wait_read<0>();
    }
    if (V == 7) __syncthreads(), tile[tid()] = 0;
    if (V == 6) tile[tid()] = 0;           // @6
    if (V == 5 && tid() == 0) tile[9] = 0; // @5
    if (V == 2) wait(b, 0);
    if (tid() == 0) bulk_wait<0>();
}
RIGHT(change_fenced, change<0>, "Wait, change, fence, barrier, store.")
RIGHT(change_reuse, change<7>, "The source is reused behind wait_group.read and a barrier.")
RIGHT(change_fence_behind, change<8>,
      "The storing thread fences behind the barrier: the fence is on the path.")
RACY(change_no_fence, change<1>, "missing fence",
     "Ordinary writes are not fenced for the async proxy.")
RACY(change_early, change<2>, "race|in flight", "The tile is changed before the load is complete.")
RACY(change_fence_first, change<3>, "missing fence", "The fence comes before the writes.")
RACY(change_no_barrier, change<4>, "race|missing fence",
     "Other threads' writes are not ordered before the store.")
RACY(change_reuse_own, change<5>, "race|in flight",
     "The storing thread overwrites the source without a wait.")
RACY(change_reuse_early, change<6>, "race|in flight",
     "All threads overwrite the source without a wait.")

/* What one store writes, another operation of the same thread reads or writes. */
//= threads 64
FAMILY again(PARAMS) {
    __shared__ alignas(128) unsigned tile[256], back[256];
    __shared__ uint64_t barrier;
    const uint32_t b = smem_address(&barrier);
    make_barriers(&barrier, 1, 1);
    for (int i = tid(); i < 256; i += 64) tile[i] = i;
    fence_async_shared();
    __syncthreads();
    if (tid() == 0) {
        if (V == 4 || V == 5 || V == 6)
            box_add(out_map, 0, tile); // @5
        else
            box_store(out_map, 0, tile); // @1,2,3
        bulk_commit();
        if (V == 0 || V == 4) bulk_wait<0>();
        if (V == 1) bulk_wait_read<0>();
        if (V <= 2) {
            arrive_expect(b, BOX_BYTES);
            box_load(back, out_map, 0, b); // @1,2
        }
        if (V == 3) box_store(out_map, 4, tile), bulk_commit(); // @3
        if (V == 7) box_store(out_map, 8, tile), bulk_commit();
        if (V == 6) box_add(out_map, 0, tile), bulk_commit();
        if (V == 4 || V == 5) out[600] = ld_weak(out + 7); // @5
        bulk_wait<0>();
    }
    if (V <= 2) {
        wait(b, 0);
        out[2000 + tid()] = back[tid()];
    }
}
RIGHT(again_load, again<0>, "A whole wait makes the stored box visible before it is loaded again.")
RIGHT(again_read, again<4>, "A whole wait before the sum is read.")
RIGHT(again_two_sums, again<6>, "Two reductions to one box need no order.")
RIGHT(again_next_box, again<7>, "Two stores to different boxes need no order.")
RACY(again_load_early, again<1>, "race|in flight",
     "wait_group.read does not say that the box was written.")
RACY(again_load_at_once, again<2>, "race|in flight", "No wait between store and load of one box.")
RACY(again_two_stores, again<3>, "race|in flight",
     "Two stores that overlap are not ordered without a wait.")
RACY(again_read_early, again<5>, "race|in flight",
     "The sum is read while the reduction is under way.")

/* Boxes go through two buffers and back out. */
//= threads 64
FAMILY stream(PARAMS) {
    __shared__ alignas(128) unsigned tile[2][256];
    constexpr int TILES = 4;
    for (int t = 0; t < TILES; t++) {
        const int s = t % 2;
        if (tid() == 0 && V != 2) {
            if (V == 3)
                bulk_wait_read<2>();
            else if (V == 4)
                bulk_wait_read<0>();
            else
                bulk_wait_read<1>();
        }
        if (V != 1) __syncthreads();
        for (int i = tid(); i < 256; i += 64) tile[s][i] = i + t; // @1,2,3,5
        fence_async_shared();
        if (V != 5) __syncthreads();
        if (tid() == 0) {
            box_store(out_map, 8 * t, tile[s]); // @1,2,3,5
            bulk_commit();
        }
    }
    if (tid() == 0) bulk_wait<0>();
}
RIGHT(stream_two, stream<0>, "wait_group.read 1 frees the buffer of the store before the last.")
RIGHT(stream_one, stream<4>, "wait_group.read 0 frees both.")
RACY(stream_no_first, stream<1>, "race|in flight",
     "The other threads are not told that the buffer is free.")
RACY(stream_no_wait, stream<2>, "race|in flight", "Nothing waits until a buffer was read.")
RACY(stream_lax, stream<3>, "race|in flight",
     "wait_group.read 2 leaves the store of the same buffer under way.")
RACY(stream_no_second, stream<5>, "race|missing fence",
     "The store starts before the other threads have written.")

/* Several warps store boxes of their own. */
//= threads 128
FAMILY own_box(PARAMS) {
    __shared__ alignas(128) unsigned tile[4][256];
    unsigned *mine = tile[warp()];
    for (int i = lane(); i < 256; i += 32) mine[i] = i; // @1,2,3
    if (V != 2) fence_async_shared();
    if (V == 0 || V == 2 || V == 4) __syncwarp();
    if (V == 3) __syncwarp();
    if (lane() == 0) {
        box_store(out_map, V == 5 || V == 4 ? 8 * warp() : 16 * warp(),
                  tile[V == 3 ? (warp() + 1) % 4 : warp()]); // @1,2,3
        bulk_commit();
        bulk_wait_read<0>();
    }
    if (V == 4) __syncwarp(), mine[lane()] = 0;
    if (lane() == 0) bulk_wait<0>();
}
RIGHT(own_box_warp, own_box<0>,
      "__syncwarp() is enough where only lanes of the warp have written the box.")
RIGHT(own_box_reuse, own_box<4>, "The lane that stored waits, and __syncwarp() tells the others.")
RACY(own_box_no_sync, own_box<1>, "race|missing fence",
     "The other lanes' writes are not ordered before the store.")
RACY(own_box_no_fence, own_box<2>, "missing fence", "The lanes' writes are not fenced.")
RACY(own_box_other, own_box<3>, "race|missing fence", "A warp stores the box of its neighbour.")
