/* Launches that overlap the one before: griddepcontrol. */
#include "corpus.cuh"

/* The launch before: it writes 64 words of out and reads 64 of in, after its dependents were let go. */
extern "C" __global__ void overlap_first(const unsigned *in, unsigned *out,
                                         const __grid_constant__ CUtensorMap in_map,
                                         const __grid_constant__ CUtensorMap out_map) {
    griddepcontrol_launch_dependents();
    out[threadIdx.x] = in[threadIdx.x] + 1;
}

/* The second launch reads what the first has written. */
//= threads 64 after overlap_first
FAMILY reads(PARAMS) {
    __shared__ unsigned word[64];
    unsigned x = 0;
    if (V == 3) word[tid()] = tid();
    if (V == 4) x = in[1000 + tid()];
    if (V == 2) x = ld_weak(out + tid()); // @2
    if (V == 0 || V == 2 || V == 3 || V == 4 || V == 9) griddepcontrol_wait();
    if (V == 5 || V == 6) {
        if (tid() == 0) griddepcontrol_wait();
        if (V == 6) __syncthreads();
    }
    if (V == 7 && warp() == 0) griddepcontrol_wait();
    if (V == 8) {
        if (lane() == 0) griddepcontrol_wait();
        __syncwarp();
    }
    if (V != 2)
        x += ld_weak(out + (V == 5 || V == 6 || V == 7 || V == 8 ? 63 - tid() : tid())); // @1,5,7
    if (V == 3) x += word[tid()];
    if (V == 9) griddepcontrol_launch_dependents();
    out[1000 + tid()] = x;
}
RIGHT(overlap_wait, reads<0>,
      "griddepcontrol.wait returns when the launch before has ended and its writes are visible.")
RIGHT(overlap_prologue, reads<3>, "Before the wait only shared memory is touched.")
RIGHT(overlap_other_input, reads<4>, "Before the wait it reads what the launch before only reads.")
RIGHT(overlap_one_waits, reads<6>, "One thread waits, and the barrier passes it on.")
RIGHT(overlap_lanes_wait, reads<8>, "One lane of each warp waits, and __syncwarp() passes it on.")
RIGHT(overlap_lets_go, reads<9>, "Letting dependents go says nothing of memory.")
RACY(overlap_no_wait, reads<1>, "missing griddepcontrol|race",
     "The launch before may not have written yet.")
RACY(overlap_wait_late, reads<2>, "missing griddepcontrol|race", "The read comes before the wait.")
RACY(overlap_one_waits_alone, reads<5>, "missing griddepcontrol|race",
     "One thread waits and tells no other.")
RACY(overlap_warp_waits, reads<7>, "missing griddepcontrol|race", "Only one of two warps waits.")

/* It writes what the first has read or written. */
//= threads 64 after overlap_first
FAMILY writes(PARAMS) {
    unsigned *source = const_cast<unsigned *>(in);
    if (V == 1) source[tid()] = 9;         // @1
    if (V == 2) out[tid()] = 9;            // @2
    if (V == 3) atomicAdd(out + tid(), 1); // @3
    if (V == 4) out[2000 + tid()] = 1;
    if (V == 5) source[3000 + tid()] = 1;
    griddepcontrol_wait();
    if (V == 0) source[tid()] = 9;
    if (V == 6) out[tid()] = 9;
    if (V == 7) atomicAdd(out + tid(), 1);
    if (V == 4) out[2000 + tid()] += 1;
}
RIGHT(overlap_write_input, writes<0>,
      "The input of the launch before is overwritten behind the wait.")
RIGHT(overlap_write_apart, writes<4>, "Words that the launch before does not touch.")
RIGHT(overlap_write_input_apart, writes<5>, "Words behind its input.")
RIGHT(overlap_write_output, writes<6>, "Its output is overwritten behind the wait.")
RIGHT(overlap_add, writes<7>, "Atomics behind the wait.")
RACY(overlap_input_early, writes<1>, "missing griddepcontrol|race",
     "The launch before may still read it.")
RACY(overlap_output_early, writes<2>, "missing griddepcontrol|race",
     "The launch before may write over it later.")
RACY(overlap_add_early, writes<3>, "missing griddepcontrol|race",
     "An atomic and the plain write of the launch before.")

/* Copies before and behind the wait. */
//= threads 64 after overlap_first
FAMILY copies(PARAMS) {
    __shared__ alignas(128) unsigned tile[256];
    __shared__ uint64_t barrier;
    const uint32_t b = smem_address(&barrier);
    make_barriers(&barrier, 1, 1);
    if (V == 0 || V == 4) griddepcontrol_wait();
    if (V == 5 && tid() == 0) griddepcontrol_wait();
    if (V <= 2 || V == 5) {
        if (tid() == 0) {
            arrive_expect(b, 1024);
            bulk_load(tile, V == 2 ? in : out, 1024, b); // @1
        }
        wait(b, 0);
    } else {
        copy_16(&tile[4 * tid()], (V == 6 ? in + 1024 : out) + 4 * tid()); // @3
        copy_wait_all();
    }
    if (V != 0 && V != 4 && V != 5) griddepcontrol_wait();
    out[1000 + tid()] = tile[4 * tid()];
}
RIGHT(overlap_bulk, copies<0>, "A bulk load behind the wait.")
RIGHT(overlap_bulk_input, copies<2>, "A bulk load of what the launch before only reads.")
RIGHT(overlap_copy, copies<4>, "cp.async behind the wait.")
RIGHT(overlap_bulk_issuer, copies<5>, "The thread that issues the load has waited.")
RIGHT(overlap_copy_input, copies<6>, "cp.async of what the launch before does not write.")
RACY(overlap_bulk_early, copies<1>, "missing griddepcontrol|race",
     "The load may read before the launch before has written.")
RACY(overlap_copy_early, copies<3>, "missing griddepcontrol|race",
     "The copy may read before the launch before has written.")
