// Thirty kernels that never end, each for its own reason: `deadlocks NAME` runs one. planted.py says which of them the
// emulator explains.
//
//     //= NAME | what is wrong
//     //- PATTERN             what the report must say: the role, its barrier and phase, who has not arrived, where they are
//     ...                     // @NAME.mark      the line that {mark} stands for
#include "tests/corpus/corpus.cuh"

#include <cstring>
#include <cuda_runtime.h>

constexpr unsigned BYTES = 256; // of a tile
using Tile = unsigned[BYTES / 4];

// ---- Barriers of a block

//= swapped | Two warps wait at two barriers, each for the other's arrival.
//- warp 0, .* wait at line {one}: bar
//- warp 1, .* wait at line {two}: bar
//- barrier 1: 32 of 64 threads have arrived, not: warp 1
//- barrier 2: 32 of 64 threads have arrived, not: warp 0
__global__ void swapped(unsigned *out) {
    if (warp() == 0) {
        bar_sync(1, 64); // @swapped.one
        bar_sync(2, 64);
    } else {
        bar_sync(2, 64); // @swapped.two
        bar_sync(1, 64);
    }
    out[tid()] = 1;
}

//= count_high | Two warps come to a barrier that expects three.
//- warps 0 to 1, .* wait at line {line}: bar
//- barrier 1: 64 of 96 threads have arrived, not: warp 2, which has ended
__global__ void count_high(unsigned *out) {
    if (warp() < 2) bar_sync(1, 96); // @count_high.line
    out[tid()] = 1;
}

//= wrong_number | The producer arrives at barrier 2, the consumer waits at barrier 1.
//- warp 1, .* wait at line {consumer}: bar
//- barrier 1: 32 of 64 threads have arrived, not: warp 0, which has ended
//- barrier 2: 32 of 64 threads have arrived, not: warp 1
__global__ void wrong_number(unsigned *out) {
    if (warp() == 0)
        bar_arrive(2, 64);
    else
        bar_sync(1, 64); // @wrong_number.consumer
    out[tid()] = 1;
}

//= producer_left | The producer leaves the loop one turn early.
//- warp 1, .* wait at line {consumer}: bar
//- barrier 1: 32 of 64 threads have arrived, not: warp 0, which has ended
__global__ void producer_left(unsigned *out, int turns) {
    if (warp() == 0) {
        for (int t = 0; t < turns - 1; t++) bar_arrive(1, 64), bar_sync(2, 64);
    } else {
        for (int t = 0; t < turns; t++) {
            bar_sync(1, 64); // @producer_left.consumer
            bar_arrive(2, 64);
        }
    }
}

//= two_sides | Half of the block is at __syncthreads(), the other half waits at a barrier for all.
//- warps 0 to 1, .* wait at line {all}: bar
//- warps 2 to 3, .* wait at line {named}: bar
//- barrier 0: 64 of 128 threads have arrived, not: warps 2 to 3
//- barrier 1: 64 of 128 threads have arrived, not: warps 0 to 1
__global__ void two_sides(unsigned *out) {
    if (tid() < 64)
        __syncthreads(); // @two_sides.all
    else
        bar_sync(1, 128); // @two_sides.named
    out[tid()] = 1;
}

//= barrier_in_loop | The warps go round a loop with a barrier in it, not equally often, and meet at another behind it.
//- warp 0, .* wait at line {behind}: bar
//- warps 1 to 3, .* wait at line {inside}: bar
//- barrier 1: 96 of 128 threads have arrived, not: warp 0
//- barrier 2: 32 of 128 threads have arrived, not: warps 1 to 3
__global__ void barrier_in_loop(unsigned *out) {
    for (unsigned t = 0; t < 2 + (warp() > 0); t++) bar_sync(1, 128); // @barrier_in_loop.inside
    bar_sync(2, 128);                                                 // @barrier_in_loop.behind
    out[tid()] = 1;
}

//= crossed | Consumers are at __syncthreads() before they free the slot for which the producer waits.
//- warp 0, .* at line {producer}.* phase 0 of the mbarrier at shared 0x[0-9a-f]+
//- warps 1 to 2, .* wait at line {consumer}: bar
//- barrier 0: 64 of 96 threads have arrived, not: warp 0
//- mbarrier at shared 0x[0-9a-f]+: phase 0, 2 of 2 arrivals missing
__global__ void crossed(unsigned *out) {
    __shared__ uint64_t empty;
    make_barriers(&empty, 1, 2);
    if (warp() == 0) {
        wait(smem_address(&empty), 0); // @crossed.producer
        __syncthreads();
    } else {
        __syncthreads(); // @crossed.consumer
        if (lane() == 0) arrive(smem_address(&empty));
    }
    out[tid()] = 1;
}

// ---- Arrivals and phases of mbarriers

//= one_more | The mbarrier is made for 33 arrivals, and 32 lanes arrive.
//- warp 1, .* at line {wait}.* end of phase 0 of the mbarrier
//- mbarrier at shared 0x[0-9a-f]+: phase 0, 1 of 33 arrivals missing
//- arrived in this phase: warp 0, which has ended \(by line {arrive}
__global__ void one_more(unsigned *out) {
    __shared__ uint64_t full;
    make_barriers(&full, 1, 33);
    if (warp() == 0)
        arrive(smem_address(&full)); // @one_more.arrive
    else
        wait(smem_address(&full), 0); // @one_more.wait
    out[tid()] = 1;
}

//= one_a_warp | The mbarrier is made for all threads, and one lane of each warp arrives.
//- warps 0 to 3, .* at line {wait}.* end of phase 0 of the mbarrier
//- mbarrier at shared 0x[0-9a-f]+: phase 0, 124 of 128 arrivals missing
//- arrived in this phase: warps 0 to 3 at line {wait} \(by line {arrive}
__global__ void one_a_warp(unsigned *out) {
    __shared__ uint64_t full;
    make_barriers(&full, 1, 128);
    if (lane() == 0) arrive(smem_address(&full)); // @one_a_warp.arrive
    wait(smem_address(&full), 0);                 // @one_a_warp.wait
    out[tid()] = 1;
}

/* A ring of two slots: the producer writes, the consumer reads and frees. */
struct Ring {
    Tile tile[2];
    uint64_t full[2], empty[2];
};
#define RING                                                                                       \
    __shared__ alignas(128) Ring r;                                                                \
    make_barriers(r.full, 2, 1);                                                                   \
    make_barriers(r.empty, 2, 1)
FN uint32_t at(uint64_t &barrier) { return smem_address(&barrier); }
FN void load(Ring &r, const unsigned *in, int s) {
    arrive_expect(at(r.full[s]), BYTES);
    bulk_load(r.tile[s], in, BYTES, at(r.full[s]));
}

//= first_parity | The producer's first wait for an empty slot asks for parity 0: no consumer has freed one yet.
//- warp 0, .* at line {producer}.* end of phase 0 of the mbarrier
//- warp 1, .* at line {consumer}.* end of phase 0 of the mbarrier
//- mbarrier at shared 0x[0-9a-f]+: phase 0, 1 of 1 arrivals missing
__global__ void first_parity(const unsigned *in, unsigned *out) {
    RING;
    if (tid() == 0) {
        for (int t = 0; t < 4; t++) {
            wait(at(r.empty[t % 2]), t / 2 & 1); // @first_parity.producer
            load(r, in, t % 2);
        }
    } else if (warp() == 1) {
        for (int t = 0; t < 4; t++) {
            wait(at(r.full[t % 2]), t / 2 & 1); // @first_parity.consumer
            out[32 * t + lane()] = r.tile[t % 2][lane()];
            __syncwarp();
            if (lane() == 0) arrive(at(r.empty[t % 2]));
        }
    }
}

//= never_flips | The producer waits for parity 1 in every turn.
//- warp 0, .* at line {producer}.* end of phase 1 of the mbarrier
//- warp 1, .* at line {consumer}.* end of phase 1 of the mbarrier
//- mbarrier at shared 0x[0-9a-f]+: phase 1, 1 of 1 arrivals missing
//- warp 0 at line {producer} \(by line
//- warp 1 at line {consumer} \(by line {free}
__global__ void never_flips(const unsigned *in, unsigned *out) {
    RING;
    for (int t = 0; t < 4; t++) {
        if (tid() == 0) {
            wait(at(r.empty[0]), 1); // @never_flips.producer
            load(r, in, 0);
        } else if (warp() == 1) {
            wait(at(r.full[0]), t & 1); // @never_flips.consumer
            out[32 * t + lane()] = r.tile[0][lane()];
            __syncwarp();
            if (lane() == 0) arrive(at(r.empty[0])); // @never_flips.free
        }
        __syncthreads();
    }
}

//= flips_each_turn | The producer's parity changes with every tile, not with every round of the ring.
//- warp 0, .* at line {producer}.* end of phase 0 of the mbarrier at shared 0x618
//- warp 1, .* at line {consumer}.* end of phase 0 of the mbarrier at shared 0x608
//- mbarrier at shared 0x618.*: phase 0, 1 of 1 arrivals missing
__global__ void flips_each_turn(const unsigned *in, unsigned *out) {
    RING;
    if (tid() == 0) {
        for (int t = 0; t < 4; t++) {
            wait(at(r.empty[t % 2]), (t & 1) ^ 1); // @flips_each_turn.producer
            load(r, in, t % 2);
        }
    } else if (warp() == 1) {
        for (int t = 0; t < 4; t++) {
            wait(at(r.full[t % 2]), t / 2 & 1); // @flips_each_turn.consumer
            out[32 * t + lane()] = r.tile[t % 2][lane()];
            __syncwarp();
            if (lane() == 0) arrive(at(r.empty[t % 2]));
        }
    }
}

//= skips_arrival | A consumer with nothing to do goes on without freeing the slot.
//- warp 0, .* at line {producer}.* end of phase 0 of the mbarrier
//- mbarrier at shared 0x[0-9a-f]+: phase 0, 1 of 2 arrivals missing
//- arrived in this phase: warp 1 at line {consumer} \(by line {arrive}
//- warps 1 to 2, .* at line {consumer}.* end of phase 1
__global__ void skips_arrival(const unsigned *in, unsigned *out, int rows) {
    __shared__ alignas(128) Tile tile;
    __shared__ uint64_t full, empty;
    make_barriers(&full, 1, 1);
    make_barriers(&empty, 1, 2);
    if (tid() == 0) {
        for (int t = 0; t < 2; t++) {
            wait(at(empty), (t & 1) ^ 1); // @skips_arrival.producer
            arrive_expect(at(full), BYTES);
            bulk_load(tile, in, BYTES, at(full));
        }
    } else if (warp() > 0) {
        for (int t = 0; t < 2; t++) {
            wait(at(full), t & 1); // @skips_arrival.consumer
            if (32 * warp() > rows) continue;
            out[tid()] += tile[lane()];
            __syncwarp();
            if (lane() == 0) arrive(at(empty)); // @skips_arrival.arrive
        }
    }
}

//= never_frees | The consumer never frees a slot, and the ring is full.
//- warp 0, .* at line {producer}.* end of phase 0 of the mbarrier
//- warp 1, .* at line {consumer}.* end of phase 1 of the mbarrier
//- mbarrier at shared 0x[0-9a-f]+: phase 0, 1 of 1 arrivals missing
__global__ void never_frees(const unsigned *in, unsigned *out) {
    RING;
    if (tid() == 0) {
        for (int t = 0; t < 4; t++) {
            wait(at(r.empty[t % 2]), (t / 2 & 1) ^ 1); // @never_frees.producer
            load(r, in, t % 2);
        }
    } else if (warp() == 1) {
        for (int t = 0; t < 4; t++) {
            wait(at(r.full[t % 2]), t / 2 & 1); // @never_frees.consumer
            out[32 * t + lane()] = r.tile[t % 2][lane()];
        }
    }
}

//= worker_left | One of three workers has no third tile and leaves; the others' phase still expects it.
//- warps 0 to 1, .* at line {wait}.* end of phase 0 of the mbarrier
//- mbarrier at shared 0x[0-9a-f]+: phase 0, 1 of 3 arrivals missing
//- earlier phases, not in this one: warp 2, which has ended \(by line {arrive}
__global__ void worker_left(unsigned *out) {
    __shared__ uint64_t round;
    make_barriers(&round, 1, 3);
    for (unsigned t = 0; t < 3; t++) {
        if (warp() + 3 * t > 7) return;
        out[32 * (warp() + 3 * t) + lane()] = t;
        __syncwarp();
        if (lane() == 0) arrive(at(round)); // @worker_left.arrive
        wait(at(round), t & 1);             // @worker_left.wait
    }
}

//= next_slot | The consumer frees the slot behind the one that it has read.
//- warp 0, .* at line {producer}.* end of phase [01] of the mbarrier
//- mbarrier at shared 0x[0-9a-f]+: phase 0, 1 of 1 arrivals missing
//- mbarrier at shared 0x610: phase 0, .*\n.*no warp of the block has ever arrived
//- mbarrier at shared 0x618: phase 1, .*\n.*warp 1 at line [0-9]+ \(by line {arrive}
__global__ void next_slot(const unsigned *in, unsigned *out) {
    RING;
    if (tid() == 0) {
        for (int t = 0; t < 4; t++) {
            wait(at(r.empty[t % 2]), (t / 2 & 1) ^ 1); // @next_slot.producer
            load(r, in, t % 2);
            if (t == 1) wait(at(r.full[1]), 0);
        }
    } else if (warp() == 1) {
        for (int t = 0; t < 4; t++) {
            wait(at(r.full[t % 2]), t / 2 & 1);
            out[32 * t + lane()] = r.tile[t % 2][lane()];
            __syncwarp();
            if (lane() == 0 && t != 1) arrive(at(r.empty[(t + 1) % 2])); // @next_slot.arrive
        }
    }
}

// ---- Bytes

//= twice_the_bytes | The bytes of two tiles are announced, and one is loaded.
//- warps 0 to 1, .* at line {wait}.* end of phase 0 of the mbarrier
//- mbarrier at shared 0x[0-9a-f]+: phase 0, 0 of 1 arrivals missing, tx-count 256 \(256 bytes were announced
//- arrived in this phase: warp 0 at line {wait} \(by line {expect}
__global__ void twice_the_bytes(const unsigned *in, unsigned *out) {
    __shared__ alignas(128) Tile tile;
    __shared__ uint64_t full;
    make_barriers(&full, 1, 1);
    if (tid() == 0) {
        arrive_expect(at(full), 2 * BYTES); // @twice_the_bytes.expect
        bulk_load(tile, in, BYTES, at(full));
    }
    __syncwarp();
    wait(at(full), 0); // @twice_the_bytes.wait
    out[tid()] = tile[tid()];
}

//= no_load | The bytes are announced, and the load is left out for the last tile.
//- warps 0 to 1, .* at line {wait}.* end of phase 1 of the mbarrier
//- mbarrier at shared 0x[0-9a-f]+: phase 1, 0 of 1 arrivals missing, tx-count 256 \(256 bytes were announced
//- arrived in this phase: warp 0 at line {wait} \(by line {expect}
__global__ void no_load(const unsigned *in, unsigned *out, int tiles) {
    __shared__ alignas(128) Tile tile;
    __shared__ uint64_t full;
    make_barriers(&full, 1, 1);
    for (int t = 0; t < 2; t++) {
        if (tid() == 0) {
            arrive_expect(at(full), BYTES); // @no_load.expect
            if (t < tiles) bulk_load(tile, in, BYTES, at(full));
        }
        __syncwarp();
        wait(at(full), t & 1); // @no_load.wait
        out[tid()] = tile[tid()];
        __syncthreads();
    }
}

//= other_barrier | The load completes at the mbarrier of the other slot.
//- warps 0 to 1, .* at line {wait}.* end of phase 0 of the mbarrier
//- tx-count 256 \(256 bytes were announced
//- tx-count -256 \(256 bytes came and were never announced
//- arrived in this phase: warp 0 at line {wait} \(by line {expect}
__global__ void other_barrier(const unsigned *in, unsigned *out) {
    RING;
    if (tid() == 0) {
        arrive_expect(at(r.full[0]), BYTES); // @other_barrier.expect
        bulk_load(r.tile[0], in, BYTES, at(r.full[1]));
    }
    __syncwarp();
    wait(at(r.full[0]), 0); // @other_barrier.wait
    out[tid()] = r.tile[0][tid()];
}

//= all_announce | All 32 lanes announce the tile that one of them loads.
//- warps? 0.* at line {wait}.* end of phase 0 of the mbarrier
//- mbarrier at shared 0x[0-9a-f]+: phase 0, 0 of 32 arrivals missing, tx-count 7936 \(7936 bytes were announced
//- arrived in this phase: warp 0 at line {wait} \(by line {expect}
__global__ void all_announce(const unsigned *in, unsigned *out) {
    __shared__ alignas(128) Tile tile;
    __shared__ uint64_t full;
    make_barriers(&full, 1, 32);
    if (warp() == 0) {
        arrive_expect(at(full), BYTES); // @all_announce.expect
        if (lane() == 0) bulk_load(tile, in, BYTES, at(full));
    }
    __syncwarp();
    wait(at(full), 0); // @all_announce.wait
    out[tid()] = tile[tid()];
}

// ---- Clusters

//= no_mapa | Both blocks arrive at their own mbarrier, which expects the other's arrival, too.
//- rank 0:\n *warp 0, .* at line {wait}.* end of phase 0 of the mbarrier
//- never, of rank 1\n\n rank 1:
//- mbarrier at shared 0x[0-9a-f]+: phase 0, 1 of 2 arrivals missing
//- warp 0 at line {wait} \(by line {arrive}\); never, of rank 0
__global__ void __cluster_dims__(2) no_mapa(unsigned *out) {
    __shared__ uint64_t ready;
    make_barriers(&ready, 1, 2);
    cluster_sync();
    if (tid() == 0) arrive(at(ready)); // @no_mapa.arrive
    wait_cluster(at(ready), 0);        // @no_mapa.wait
    out[gtid()] = 1;
    cluster_sync();
}

//= multicast_mask | The mask of a multicast load names block 0, and block 1 waits for its bytes.
//- rank 1:\n *warp 0, .* at line {wait}.* end of phase 0 of the mbarrier
//- tx-count 256 \(256 bytes were announced
//- rank 0:\n *warp 0, .* at line {end}
//- barrier.cluster: 32 of 64 threads have arrived, not: of rank 1 warp 0
__global__ void __cluster_dims__(2) multicast_mask(const unsigned *in, unsigned *out) {
    __shared__ alignas(128) Tile tile;
    __shared__ uint64_t full;
    make_barriers(&full, 1, 1);
    cluster_sync();
    if (tid() == 0) arrive_expect(at(full), BYTES);
    if (tid() == 0 && rank() == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
                     "cluster [%0], [%1], %2, "
                     "[%3], %4;" ::"r"(smem_address(tile)),
                     "l"(in), "r"(BYTES), "r"(at(full)), "h"((unsigned short)1)
                     : "memory");
    __syncwarp();
    wait(at(full), 0); // @multicast_mask.wait
    out[gtid()] = tile[tid()];
    cluster_sync(); // @multicast_mask.end
}

//= leader_left | The leader of a cluster has no tile and returns before it arrives at its peer's mbarrier.
//- rank 0 has ended
//- rank 1:\n *warp 0, .* at line {wait}.* end of phase 0 of the mbarrier
//- mbarrier at shared 0x[0-9a-f]+: phase 0, 1 of 1 arrivals missing
__global__ void __cluster_dims__(2) leader_left(unsigned *out, int tiles) {
    __shared__ uint64_t ready;
    make_barriers(&ready, 1, 1);
    cluster_sync();
    if (rank() == 0) {
        if (tiles == 0) return;
        if (tid() == 0) remote_arrive(at_rank(&ready, 1));
    } else {
        wait_cluster(at(ready), 0); // @leader_left.wait
        out[tid()] = 1;
    }
}

//= cluster_in_branch | One block waits at the cluster's barrier, the other at an mbarrier that the first arrives at later.
//- rank 0:\n *warp 0, .* at line {cluster}: barrier.cluster.wait
//- rank 1:\n *warp 0, .* at line {wait}.* end of phase 0 of the mbarrier
//- barrier.cluster: 32 of 64 threads have arrived, not: of rank 1 warp 0
__global__ void __cluster_dims__(2) cluster_in_branch(unsigned *out) {
    __shared__ uint64_t ready;
    make_barriers(&ready, 1, 1);
    cluster_sync();
    if (rank() == 0) {
        cluster_sync(); // @cluster_in_branch.cluster
        if (tid() == 0) remote_arrive(at_rank(&ready, 1));
    } else {
        wait_cluster(at(ready), 0); // @cluster_in_branch.wait
        cluster_sync();
    }
    out[gtid()] = 1;
}

// ---- Flags, locks, counters

//= flag_never | A block polls a flag that no block raises.
//- warp 0, .* runs in the loop of line {poll}, .* byte 0 of an allocation of 256, holds 0; this launch has not written it
__global__ void flag_never(volatile unsigned *flag, unsigned *out) {
    if (blockIdx.x == 1) {
        while (flag[0] == 0) { // @flag_never.poll
        }
    } else {
        flag[1] = 1;
    }
    out[gtid()] = 1;
}

//= lock_kept | A block leaves without giving its lock back, and the next one tries for ever.
//- warp 0, .* runs in the loop of line {poll}, .* holds 1
__global__ void lock_kept(unsigned *lock, unsigned *x, unsigned most) {
    while (atomicCAS(lock, 0, 1) != 0) { // @lock_kept.poll
    }
    __threadfence();
    if (*x >= most) return;
    *x += 1;
    __threadfence();
    atomicExch(lock, 0);
}

//= counts_blocks | A barrier of the grid counts blocks and waits for threads.
//- warp 0, lanes fffffffe wait at line {sync}: bar
//- warp 0, .* runs in the loop of line {poll}, .* holds 2; block [01] wrote it last, at line {add}
__global__ void counts_blocks(volatile unsigned *count, unsigned *out) {
    if (tid() == 0) {
        __threadfence();
        atomicAdd((unsigned *)count, 1);          // @counts_blocks.add
        while (*count < gridDim.x * blockDim.x) { // @counts_blocks.poll
        }
        __threadfence();
    }
    __syncthreads(); // @counts_blocks.sync
    out[gtid()] = 1;
}

//= grid_too_large | A barrier of the grid waits for blocks that find no room on the chip.
//- runs in the loop of line {poll}, .* holds 132; block [0-9]+ wrote it last, at line {add}
//- 1 of [0-9]+ blocks have not begun
__global__ void grid_too_large(volatile unsigned *count, unsigned *out) {
    extern __shared__ unsigned much[];
    atomicAdd((unsigned *)count, 1); // @grid_too_large.add
    while (*count < gridDim.x) {     // @grid_too_large.poll
    }
    out[gtid()] = 1;
}

// ---- Lanes of a warp

//= syncwarp_half | Half of a warp is at __syncwarp() for all, the other half at __syncthreads().
//- lanes 0000ffff wait for lanes that never come
//- deadlocks.cu:{warp}\b.*\n *tests/planted/deadlocks.cu:{block}\b
__global__ void syncwarp_half(unsigned *out) {
    if (lane() < 16)
        __syncwarp(); // @syncwarp_half.warp
    else
        ASM("barrier.sync 0;"); // @syncwarp_half.block
    out[tid()] = 1;
}

//= no_dec | Two warpgroups ask for more registers, and none has given up any.
//- warps 4 to 11, .* wait at line {ask}: setmaxnreg.* for 72 more registers a thread, 2304 for the warp; 0 are free
//- barrier 0: 128 of 384 threads have arrived, not: warps 4 to 11 at line {ask}
__global__ void __launch_bounds__(384, 1) no_dec(unsigned *out) {
    if (warp() >= 4) asm volatile("setmaxnreg.inc.sync.aligned.u32 240;"); // @no_dec.ask
    __syncthreads();
    out[tid()] = 1;
}

// ---- Which is run

#define RUN(name, blocks, threads, ...)                                                            \
    if (!strcmp(which, #name)) name<<<blocks, threads>>>(__VA_ARGS__)

int main(int n, char **arg) {
    const char *which = n > 1 ? arg[1] : "";
    unsigned *in, *out, *flag;
    cudaMalloc(&in, 1 << 16), cudaMalloc(&out, 1 << 20), cudaMalloc(&flag, 256);
    cudaMemset(in, 0, 1 << 16), cudaMemset(out, 0, 1 << 20), cudaMemset(flag, 0, 256);
    RUN(swapped, 1, 64, out);
    RUN(count_high, 1, 96, out);
    RUN(wrong_number, 1, 64, out);
    RUN(producer_left, 1, 64, out, 3);
    RUN(two_sides, 1, 128, out);
    RUN(barrier_in_loop, 1, 128, out);
    RUN(crossed, 1, 96, out);
    RUN(one_more, 1, 64, out);
    RUN(one_a_warp, 1, 128, out);
    RUN(first_parity, 1, 64, in, out);
    RUN(never_flips, 1, 64, in, out);
    RUN(flips_each_turn, 1, 64, in, out);
    RUN(skips_arrival, 1, 96, in, out, 32);
    RUN(never_frees, 1, 64, in, out);
    RUN(worker_left, 1, 96, out);
    RUN(next_slot, 1, 64, in, out);
    RUN(twice_the_bytes, 1, 64, in, out);
    RUN(no_load, 1, 64, in, out, 1);
    RUN(other_barrier, 1, 64, in, out);
    RUN(all_announce, 1, 64, in, out);
    RUN(no_mapa, 2, 32, out);
    RUN(multicast_mask, 2, 32, in, out);
    RUN(leader_left, 2, 32, out, 0);
    RUN(cluster_in_branch, 2, 32, out);
    RUN(flag_never, 2, 1, flag, out);
    RUN(lock_kept, 2, 1, flag, flag + 1, 0);
    RUN(counts_blocks, 2, 64, flag, out);
    RUN(syncwarp_half, 1, 32, out);
    RUN(no_dec, 1, 384, out);
    if (!strcmp(which, "grid_too_large")) {
        enum { MOST = 227 << 10 }; // so that an SM holds one block
        cudaDeviceProp chip;
        cudaGetDeviceProperties(&chip, 0);
        cudaFuncSetAttribute(grid_too_large, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST);
        grid_too_large<<<chip.multiProcessorCount + 1, 1, MOST>>>(flag, out);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
