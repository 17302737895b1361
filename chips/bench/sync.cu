/* Barriers in shared memory, fences, clusters, registers that warps hand over. */
#include "timed.cuh"

/* Each of the CTA's warps arrives a times (lane 0, or all lanes where b is 1); no warp waits. */
BENCH mbarrier_arrivals(ARGUMENTS) {
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) mbarrier_init(smem_address(&barrier), 1 << 19);
    uint64_t t = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        t = cycles();
        if (b || threadIdx.x % 32 == 0)
#pragma unroll 1
            for (int i = 0; i < a; i += 8)
#pragma unroll
                for (int k = 0; k < 8; k++) mbarrier_arrive(smem_address(&barrier));
        __syncthreads();
        t = cycles() - t;
    }
    if (threadIdx.x == 0) out[0] = t;
}

/* a times: arrive at a barrier of one and see its phase end, in the same thread. [1]: try_wait on a
 * phase that has ended, [2]: arrive.expect_tx, each alone. */
BENCH mbarrier_self(ARGUMENTS) {
    __shared__ uint64_t barrier, other;
    uint32_t at = smem_address(&barrier), at2 = smem_address(&other);
    mbarrier_init(at, 1);
    mbarrier_init(at2, 1 << 19);
    uint32_t parity = 0;
    for (int pass = 0; pass < 2; pass++) {
        uint64_t t0 = cycles();
#pragma unroll 1
        for (int i = 0; i < a; i++) {
            mbarrier_arrive(at);
            wait_for(at, parity);
            parity ^= 1;
        }
        uint64_t t1 = cycles();
#pragma unroll 1
        for (int i = 0; i < a; i += 4)
#pragma unroll
            for (int k = 0; k < 4; k++) wait_for(at, parity ^ 1);
        uint64_t t2 = cycles();
#pragma unroll 1
        for (int i = 0; i < a; i += 4)
#pragma unroll
            for (int k = 0; k < 4; k++) mbarrier_arrive_expect_tx(at2, 0);
        uint64_t t3 = cycles();
        out[0] = t1 - t0, out[1] = t2 - t1, out[2] = t3 - t2;
    }
}

/* Warp 0 and warp b of the CTA pass a turn to each other a times, over two mbarriers of one
 * arrival (c 0), by named barriers (c 1). out: [0] cycles. */
BENCH pass_turns(ARGUMENTS) {
    __shared__ uint64_t barrier[2];
    uint32_t mine = smem_address(&barrier[0]), his = smem_address(&barrier[1]);
    if (threadIdx.x == 0) mbarrier_init(mine, 1), mbarrier_init(his, 1);
    int warp = threadIdx.x / 32;
    uint64_t t = 0;
    uint32_t parity = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        t = cycles();
        if (c == 0) {
#pragma unroll 1
            for (int i = 0; i < a; i++, parity ^= 1) {
                if (warp == 0) {
                    if (threadIdx.x == 0) mbarrier_arrive(mine);
                    __syncwarp();
                    wait_for(his, parity);
                } else if (warp == b) {
                    wait_for(mine, parity);
                    if (threadIdx.x % 32 == 0) mbarrier_arrive(his);
                    __syncwarp();
                }
            }
        } else {
#pragma unroll 1
            for (int i = 0; i < a; i++) {
                if (warp == 0)
                    bar_arrive(1, 64), bar_sync(2, 64);
                else if (warp == b)
                    bar_sync(1, 64), bar_arrive(2, 64);
            }
        }
        t = cycles() - t;
    }
    if (threadIdx.x == 0) out[0] = t;
}

/* How long a warp that slept on try_wait needs after the arrival: warp 1 arrives a ns after warp 0
 * began to wait. out: [0] from the arrival to the wake-up. One SM, one clock. */
BENCH wake_up(ARGUMENTS) {
    __shared__ uint64_t barrier;
    __shared__ uint64_t arrived;
    uint32_t at = smem_address(&barrier);
    if (threadIdx.x == 0) mbarrier_init(at, 1);
    uint64_t woke = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        if (threadIdx.x == 32) {
            uint64_t t = cycles();
            while (cycles() - t < a)
                ;
            arrived = cycles();
            mbarrier_arrive(at);
        } else if (threadIdx.x == 0) {
            wait_for(at, pass);
            woke = cycles();
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) out[0] = woke - arrived;
}

/* The same a times, the arrival b + i c cycles after the last one: more than a wake-up takes, or a
 * phase is missed and all hangs. out + 2048: cycles from the arrival to the wake-up of each. */
BENCH wake_ups(ARGUMENTS) {
    __shared__ uint64_t barrier, clock_of[1024];
    uint32_t at = smem_address(&barrier);
    if (threadIdx.x == 0) mbarrier_init(at, 1);
    asm volatile("" : "+r"(at)); // keeps the address ready between clock and arrival
    __syncthreads();
    if (threadIdx.x == 32) {
        uint64_t t = cycles();
        for (int i = 0; i < a; i++) {
            while (cycles() - t < b + i * c)
                ;
            t = cycles();
            mbarrier_arrive(at);
            clock_of[i] = t;
        }
    }
    uint64_t woke[4];
    if (threadIdx.x == 0)
#pragma unroll 1
        for (int i = 0; i < a; i += 4) {
#pragma unroll
            for (int k = 0; k < 4; k++) {
                wait_for(at, k & 1);
                woke[k] = cycles();
            }
            for (int k = 0; k < 4; k++) out[2048 + i + k] = woke[k];
        }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < a; i++) out[2048 + i] -= clock_of[i];
        out[0] = sm_number();
    }
}

/* b warps wait for one arrival, of the warp behind them, c cycles and more after they began; a
 * rounds. out + 2048: cycles from the arrival to each one's wake-up, round by round. */
BENCH wake_many(ARGUMENTS) {
    __shared__ uint64_t barrier, clock_of;
    uint32_t at = smem_address(&barrier);
    int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) mbarrier_init(at, 1), out[0] = sm_number();
    asm volatile("" : "+r"(at));
#pragma unroll 1
    for (int i = 0; i < a; i++) {
        __syncthreads();
        uint64_t t = cycles();
        if (warp == b && threadIdx.x % 32 == 0) {
            while (cycles() - t < c + i * 11 % 400)
                ;
            t = cycles();
            mbarrier_arrive(at);
            clock_of = t;
        } else if (warp < b) {
            wait_for(at, i & 1);
            t = cycles();
        }
        __syncthreads();
        if (warp < b && threadIdx.x % 32 == 0) out[2048 + i * b + warp] = t - clock_of;
    }
}

/* a x 8 fences of each kind: [0] proxy.async, [1] membar.cta, [2] membar.gl, [3] nothing but the
 * loop, [4] with a store to shared memory before each proxy fence, [5] with one to global before each
 * membar.gl, [6] fence.acq_rel.cluster, [7] with a store to shared memory before each membar.cta */
BENCH fences(ARGUMENTS) {
    __shared__ uint32_t word[64];
    volatile uint32_t *near = word, *far = (volatile uint32_t *)data;
    uint64_t t[9];
#define EIGHT(STATEMENT)                                                                           \
    _Pragma("unroll 1") for (int i = 0; i < a; i++) {                                              \
        _Pragma("unroll") for (int k = 0; k < 8; k++) { STATEMENT; }                               \
    }                                                                                              \
    t[n++] = cycles();
    for (int pass = 0, n = 0; pass < 2; pass++, n = 0) {
        t[n++] = cycles();
        EIGHT(fence_proxy_async())
        EIGHT(asm volatile("membar.cta;" ::: "memory"))
        EIGHT(asm volatile("membar.gl;" ::: "memory"))
        EIGHT(asm volatile("" ::: "memory"))
        EIGHT(near[threadIdx.x % 64] = i; fence_proxy_async())
        EIGHT(far[threadIdx.x] = i; asm volatile("membar.gl;" ::: "memory"))
        EIGHT(asm volatile("fence.acq_rel.cluster;" ::: "memory"))
        EIGHT(near[threadIdx.x % 64] = i; asm volatile("membar.cta;" ::: "memory"))
    }
    if (threadIdx.x == 0)
        for (int i = 0; i < 8; i++) out[i] = t[i + 1] - t[i] + (word[i] == 0x12345);
}

/* Registers given up and asked for, a times. out: [0] down, [1] up (of the last). */
BENCH __launch_bounds__(128, 1) registers(ARGUMENTS) {
    uint64_t t0 = 0, t1 = 0, t2 = 0;
#pragma unroll 1
    for (int i = 0; i < a; i++) {
        t0 = cycles();
        setmaxnreg_dec<24>();
        t1 = cycles();
        setmaxnreg_inc<168>();
        t2 = cycles();
    }
    if (threadIdx.x == 0) out[0] = t1 - t0, out[1] = t2 - t1;
}

/* ---- clusters of `c` CTAs (0: alone) */

PTX uint32_t cluster_rank() {
    uint32_t r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}

/* a cluster barriers: [0] release, acquire; [1] relaxed arrive. */
BENCH cluster_barriers(ARGUMENTS) {
    uint64_t t0 = 0, t1 = 0, t2 = 0;
    for (int pass = 0; pass < 2; pass++) {
        cluster_arrive();
        cluster_wait();
        t0 = cycles();
#pragma unroll 1
        for (int i = 0; i < a; i++) {
            cluster_arrive();
            cluster_wait();
        }
        t1 = cycles();
#pragma unroll 1
        for (int i = 0; i < a; i++) {
            cluster_arrive_relaxed();
            cluster_wait();
        }
        t2 = cycles();
    }
    if (threadIdx.x == 0) out[16 * blockIdx.x] = t1 - t0, out[16 * blockIdx.x + 1] = t2 - t1;
}

/* Shared memory of the neighbour (of rank r ^ 1): [0] a dependent loads; [1] a x 8 loads of 16 bytes
 * a thread, [2] stores. */
BENCH cluster_memory(ARGUMENTS) {
    extern __shared__ __align__(1024) char smem[];
    uint32_t mine = smem_address(smem), there = mapa(mine, cluster_rank() ^ 1);
    for (int i = threadIdx.x; i < 4096; i += blockDim.x)
        ((uint32_t *)smem)[i] = there; // read over there it is an address of here
    uint64_t t[4] = {0, 0, 0, 0};
    for (int pass = 0; pass < 2; pass++) {
        cluster_arrive();
        cluster_wait();
        uint32_t p = there;
        t[0] = cycles();
#pragma unroll 1
        for (int i = 0; i < a; i++) {
            uint32_t q;
            asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(q) : "r"(p) : "memory");
            p = there + (q & 15);
            p &= ~15u;
        }
        if (p == 1) out[15] = p;
        t[1] = cycles();
        cluster_arrive();
        cluster_wait();
        t[1] = t[1] - t[0];
        t[0] = cycles();
        float sum = 0;
#pragma unroll 1
        for (int i = 0; i < a; i++)
#pragma unroll
            for (int k = 0; k < 8; k++) {
                float4 x;
                asm volatile("ld.volatile.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                             : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                             : "r"(there + threadIdx.x % 128 * 16 + k * 2048)
                             : "memory");
                sum += x.x + x.y + x.z + x.w;
            }
        if (sum == 1.5f) out[15] = 1;
        __syncthreads();
        t[2] = cycles() - t[0];
        cluster_arrive();
        cluster_wait();
        t[0] = cycles();
        float v[4] = {sum, sum, sum, sum};
#pragma unroll 1
        for (int i = 0; i < a; i++)
#pragma unroll
            for (int k = 0; k < 8; k++)
                st_cluster_v4(there + 16384 + threadIdx.x % 128 * 16 + k * 2048, v);
        cluster_arrive();
        cluster_wait();
        t[3] = cycles() - t[0];
    }
    if (threadIdx.x == 0)
        for (int i = 0; i < 3; i++) out[16 * blockIdx.x + i] = t[i + 1];
    cluster_arrive();
    cluster_wait();
}

/* A turn passed between the threads 0 of two CTAs of a cluster by remote arrivals, a times. */
BENCH cluster_turns(ARGUMENTS) {
    __shared__ uint64_t barrier;
    uint32_t mine = smem_address(&barrier), there = mapa(mine, cluster_rank() ^ 1);
    if (threadIdx.x == 0) mbarrier_init(mine, 1);
    fence_mbarrier_init();
    cluster_arrive();
    cluster_wait();
    uint64_t t = cycles();
    if (threadIdx.x == 0)
#pragma unroll 1
        for (int i = 0; i < a; i++) {
            if (cluster_rank() % 2 == 0) {
                asm volatile(
                    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there)
                    : "memory");
                wait_for(mine, i & 1);
            } else {
                wait_for(mine, i & 1);
                asm volatile(
                    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there)
                    : "memory");
            }
        }
    t = cycles() - t;
    if (threadIdx.x == 0) out[16 * blockIdx.x] = t;
    cluster_arrive();
    cluster_wait();
}
