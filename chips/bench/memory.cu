/* Latencies and rates beyond the SM's own pipes: L1, L2, DRAM, atomics, TMA. */
#include "timed.cuh"

/* Fills `data` with a ring of pointers: a nodes, b bytes apart, each pointing c nodes on. */
BENCH make_ring(ARGUMENTS) {
    for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < a; i += (long)gridDim.x * blockDim.x)
        *(char **)(data + i * b) = data + (i + c) % a * b;
}

/* Reads a bytes of data, once: into L2. */
BENCH touch(ARGUMENTS) {
    uint32_t sum = 0;
    for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < a / 4; i += gridDim.x * blockDim.x)
        sum += __ldcg((const uint32_t *)data + i);
    if (sum == 12345) out[0] = sum;
}

#define CHASE(NAME, LOAD)                                                                          \
    BENCH NAME(ARGUMENTS) {                                                                        \
        const char *p = data;                                                                      \
        uint64_t t = 0;                                                                            \
        for (int pass = 0; pass < 2; pass++) {                                                     \
            int n = pass == 0 ? b : a;                                                             \
            t = cycles();                                                                          \
            _Pragma("unroll 1") for (int i = 0; i < n; i += 8)                                     \
                _Pragma("unroll") for (int k = 0; k < 8;                                           \
                                       k++) asm volatile(LOAD " %0, [%0];" : "+l"(p)::"memory");   \
            asm volatile("" ::"l"(p));                                                             \
            if (p == nullptr) out[1] = 1;                                                          \
            t = cycles() - t;                                                                      \
        }                                                                                          \
        out[0] = t;                                                                                \
    }
/* a loads, each for the address of the next, after b to warm up. out: [0] cycles. */
CHASE(chase_ca, "ld.global.ca.u64")
CHASE(chase_cg, "ld.global.cg.u64")
CHASE(chase_cv, "ld.volatile.global.u64")

/* CTA d only: a lines of data, b bytes apart, each loaded past L1 and waited for; after c warm
 * rounds. out + 2048: cycles of each. */
BENCH lines(ARGUMENTS) {
    if (blockIdx.x != d) return;
    for (int pass = 0; pass <= c; pass++)
#pragma unroll 1
        for (int i = 0; i < a; i++) {
            uint64_t t = cycles();
            uint32_t x;
            asm volatile("ld.global.cg.u32 %0, [%1];"
                         : "=r"(x)
                         : "l"(data + (long)i * b)
                         : "memory");
            asm volatile("" ::"r"(x) : "memory");
            if (x == 0x12345) out[1] = x;
            t = cycles() - t;
            out[2048 + i] = t;
        }
    out[0] = sm_number();
}

/* Every CTA reads (mode 0), writes (1) or copies (2) bytes: a KiB each round, b rounds, its own
 * piece or, where c is 1, pieces one after another through all CTAs (DRAM order). Pieces repeat
 * after d MiB. out: [0] cycles, [1] start, [2] end in ns, [3] SM. */
template <int MODE> static __device__ __forceinline__ void stream(ARGUMENTS) {
    long piece = (long)a << 10, wrap = (long)d << 20;
    uint4 sum = {0, 0, 0, 0};
    for (int pass = 0; pass < 1; pass++) {
        __syncthreads();
        uint64_t ns = nanoseconds(), t = cycles();
        for (int r = 0; r < b; r++) {
            long at = c ? ((long)r * gridDim.x + blockIdx.x) * piece % wrap : blockIdx.x * piece;
            for (long i = threadIdx.x * 16; i < piece; i += blockDim.x * 64) {
                uint4 x[4];
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    const char *p = data + at + i + k * blockDim.x * 16;
                    if (MODE != 1)
                        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                                     : "=r"(x[k].x), "=r"(x[k].y), "=r"(x[k].z), "=r"(x[k].w)
                                     : "l"(p));
                }
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    char *p = data + at + i + k * blockDim.x * 16 + (MODE == 2 ? wrap : 0);
                    if (MODE == 0) sum.x ^= x[k].x ^ x[k].y ^ x[k].z ^ x[k].w;
                    if (MODE == 1)
                        asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(p), "r"(r));
                    if (MODE == 2)
                        asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p),
                                     "r"(x[k].x), "r"(x[k].y), "r"(x[k].z), "r"(x[k].w));
                }
            }
        }
        if (sum.x == 0x12345) out[5] = 1;
        __syncthreads();
        t = cycles() - t;
        if (threadIdx.x == 0) {
            out[16 * blockIdx.x] = t;
            out[16 * blockIdx.x + 1] = ns;
            out[16 * blockIdx.x + 2] = nanoseconds();
            out[16 * blockIdx.x + 3] = sm_number();
        }
    }
}
BENCH __launch_bounds__(1024) stream_read(ARGUMENTS) { stream<0>(out, data, a, b, c, d); }
BENCH __launch_bounds__(1024) stream_write(ARGUMENTS) { stream<1>(out, data, a, b, c, d); }
BENCH __launch_bounds__(1024) stream_copy(ARGUMENTS) { stream<2>(out, data, a, b, c, d); }

/* a atomic additions by each thread: to one address of all (b 0), b bytes apart by thread, with
 * (c 1) or without the old value. out: [0] cycles. */
BENCH atomics(ARGUMENTS) {
    char *p = data + (long)(blockIdx.x * blockDim.x + threadIdx.x) * b;
    uint64_t t = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        t = cycles();
#pragma unroll 1
        for (int i = 0; i < a; i++) {
            uint32_t x = 0;
            if (c)
                asm volatile("atom.global.add.u32 %0, [%1], 0;" : "=r"(x) : "l"(p) : "memory");
            else
                asm volatile("red.global.add.u32 [%0], 0;" ::"l"(p) : "memory");
            asm volatile("" ::"r"(x) : "memory");
            if (c && x == 0x12345) out[5] = 1;
        }
        __syncthreads();
        t = cycles() - t;
    }
    if (threadIdx.x == 0) out[16 * blockIdx.x] = t;
}

/* a times: b copies of 16 bytes a thread to shared memory past L1, waited for. out: [0] cycles. */
BENCH copy_async(ARGUMENTS) {
    extern __shared__ __align__(1024) char smem[];
    uint64_t t = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        t = cycles();
#pragma unroll 1
        for (int i = 0; i < a; i++) {
            for (int k = 0; k < b; k++)
                cp_async_16(smem + (k * blockDim.x + threadIdx.x) * 16,
                            data + (k * blockDim.x + threadIdx.x) * 16, 16);
            cp_async_commit();
            cp_async_wait<0>();
        }
        t = cycles() - t;
    }
    if (threadIdx.x == 0) out[16 * blockIdx.x] = t;
}

/* ---- TMA: boxes of 64 halves (128 bytes, swizzled) x a rows of a matrix of 64 columns */

PTX void load_2d(uint32_t smem, const CUtensorMap *map, uint32_t barrier, int col, int row) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4}], [%2];" ::"r"(smem),
                 "l"(map), "r"(barrier), "r"(col), "r"(row)
                 : "memory");
}

PTX void store_2d(const CUtensorMap *map, uint32_t smem, int col, int row) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
        "r"(smem), "r"(col), "r"(row)
        : "memory");
}

/* b loads in a row into a ring of c slots, each waited for before its slot is used again. CTA x
 * begins at box x d; boxes wrap at n_boxes. out: [0] cycles, [1] of the first load alone, [2] to
 * issue c loads, [3] ns at the start, [4] at the end. */
BENCH tma_load(uint64_t *out, const __grid_constant__ CUtensorMap map, int a, int b, int c, int d,
               int n_boxes) {
    extern __shared__ __align__(1024) char smem[];
    uint32_t bytes = a * 128, barrier = smem_address(smem), slot = barrier + 1024;
    if (threadIdx.x) return;
    for (int i = 0; i < c; i++) mbarrier_init(barrier + 8 * i, 1);
    fence_mbarrier_init();
    fence_proxy_async();
    prefetch_tensormap(&map);
    int box = blockIdx.x * d % n_boxes, phase = 0;
    uint64_t t0 = cycles();
    mbarrier_arrive_expect_tx(barrier, bytes);
    load_2d(slot, &map, barrier, 0, box * a);
    wait_for(barrier, 0);
    uint64_t cold = cycles() - t0;
    for (int i = 1; i < c; i++) { // all barriers to the same phase
        mbarrier_arrive_expect_tx(barrier + 8 * i, 0);
        wait_for(barrier + 8 * i, 0);
    }
    phase = 1;
    uint64_t ns = nanoseconds();
    t0 = cycles();
    for (int i = 0; i < c; i++) {
        box = (blockIdx.x * d + i) % n_boxes;
        mbarrier_arrive_expect_tx(barrier + 8 * i, bytes);
        load_2d(slot + i * bytes, &map, barrier + 8 * i, 0, box * a);
    }
    uint64_t issued = cycles() - t0;
    for (int i = c, s = 0; i < b + c; i++) {
        wait_for(barrier + 8 * s, phase);
        if (i < b) {
            box = (blockIdx.x * d + i) % n_boxes;
            mbarrier_arrive_expect_tx(barrier + 8 * s, bytes);
            load_2d(slot + s * bytes, &map, barrier + 8 * s, 0, box * a);
        }
        if (++s == c) s = 0, phase ^= 1;
    }
    out[16 * blockIdx.x] = cycles() - t0;
    out[16 * blockIdx.x + 1] = cold;
    out[16 * blockIdx.x + 2] = issued;
    out[16 * blockIdx.x + 3] = ns;
    out[16 * blockIdx.x + 4] = nanoseconds();
}

/* b loads at once, of c boxes in turn, all to one place and one barrier, issued by all warps: nothing
 * but the engine's own rate. Nine times, so that up to 9 b boxes are in L2 at the last, which counts.
 * out: [0] cycles until all are there, [1] until warp 0 has issued its share, [3] ns at the start,
 * [4] at the end. */
BENCH tma_burst(uint64_t *out, const __grid_constant__ CUtensorMap map, int a, int b, int c, int d,
                int n_boxes) {
    extern __shared__ __align__(1024) char smem[];
    uint32_t barrier = smem_address(smem), slot = barrier + 1024;
    int warp = threadIdx.x / 32, n_warps = blockDim.x / 32;
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        fence_mbarrier_init();
        fence_proxy_async();
        prefetch_tensormap(&map);
    }
    int first = blockIdx.x * d % n_boxes * a, row = first + warp * a, rows = c * a,
        step = n_warps * a;
    uint64_t ns = 0, t = 0, issued = 0;
#pragma unroll 1
    for (int pass = 0; pass < 9; pass++) {
        if (threadIdx.x == 0) mbarrier_arrive_expect_tx(barrier, b * a * 128);
        __syncthreads();
        if (threadIdx.x % 32) continue;
        ns = nanoseconds();
        t = cycles();
#pragma unroll 1
        for (int i = warp; i < b; i += n_warps, row += step) {
            if (row >= first + rows) row -= rows;
            load_2d(slot, &map, barrier, 0, row);
        }
        issued = cycles() - t;
        wait_for(barrier, pass & 1);
        t = cycles() - t;
    }
    if (threadIdx.x) return;
    out[16 * blockIdx.x] = t;
    out[16 * blockIdx.x + 1] = issued;
    out[16 * blockIdx.x + 3] = ns;
    out[16 * blockIdx.x + 4] = nanoseconds();
}

/* b stores of a box, c of them a group; out: [0] until all are written, [1] until the last group's
 * source may be reused. */
BENCH tma_store(uint64_t *out, const __grid_constant__ CUtensorMap map, int a, int b, int c, int d,
                int n_boxes) {
    extern __shared__ __align__(1024) char smem[];
    uint32_t slot = smem_address(smem) + 1024;
    if (threadIdx.x) return;
    uint64_t t0 = 0, read = 0, done = 0, ns = 0;
    for (int pass = 0; pass < 2; pass++) {
        ns = nanoseconds();
        t0 = cycles();
        for (int i = 0; i < b; i += c) {
            for (int k = 0; k < c; k++)
                store_2d(&map, slot, 0, (blockIdx.x * d + i + k) % n_boxes * a);
            bulk_commit_group();
            bulk_wait_group_read<0>();
        }
        read = cycles();
        bulk_wait_group<0>();
        done = cycles();
    }
    out[16 * blockIdx.x] = done - t0;
    out[16 * blockIdx.x + 1] = read - t0;
    out[16 * blockIdx.x + 3] = ns;
    out[16 * blockIdx.x + 4] = nanoseconds();
}

/* The copy engine without a tensor: a bytes from data, b times, each waited for. out: [0] cycles */
BENCH bulk_load(ARGUMENTS) {
    extern __shared__ __align__(1024) char smem[];
    uint32_t barrier = smem_address(smem), slot = barrier + 1024;
    if (threadIdx.x) return;
    mbarrier_init(barrier, 1);
    fence_mbarrier_init();
    uint64_t t = 0;
    for (int i = 0; i < 2 * b; i++) {
        if (i == b) t = cycles();
        mbarrier_arrive_expect_tx(barrier, a);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1], %2, [%3];" ::"r"(slot),
                     "l"(data), "r"(a), "r"(barrier)
                     : "memory");
        wait_for(barrier, i & 1);
    }
    out[16 * blockIdx.x] = cycles() - t;
}

/* What the first of each kind costs in a launch, and the second: out, in cycles: [0] mbarrier.init
 * and its fences, [3] ns, [4] ns, [5] and [6] TMA by one map, [7] a load from L2, [8] its
 * neighbour line, [9] one 2 MiB farther, [10], [11] a store and membar.gl, [12], [13] an atomic.
 * a: rows of a box; b: the map is prefetched, c cycles before. */
BENCH first(uint64_t *out, const __grid_constant__ CUtensorMap map, int a, int b, int c, int d,
            int n_boxes) {
    extern __shared__ __align__(1024) char smem[];
    uint32_t barrier = smem_address(smem), slot = barrier + 1024;
    uint64_t ns = nanoseconds(), t[12];
    if (threadIdx.x) return;
    if (b) {
        prefetch_tensormap(&map);
        uint64_t from = cycles();
        while (cycles() - from < c)
            ;
    }
    volatile uint32_t *line = (volatile uint32_t *)(out + (1 << 20) + 1024 * blockIdx.x);
    volatile uint32_t *sink = (volatile uint32_t *)(smem + 512);
    int n = 0;
    t[n++] = cycles();
    mbarrier_init(barrier, 1);
    fence_mbarrier_init();
    fence_proxy_async();
    t[n++] = cycles();
    for (int k = 0; k < 2; k++) {
        mbarrier_arrive_expect_tx(barrier, a * 128);
        load_2d(slot, &map, barrier, 0, (blockIdx.x * d + k) % n_boxes * a);
        wait_for(barrier, k);
        t[n++] = cycles();
    }
    static const int far[3] = {0, 32, 1 << 19};
    uint32_t x;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        x = line[far[k]];
        *sink = x; // not before it is there
        t[n++] = cycles();
    }
    for (int k = 0; k < 2; k++) {
        line[64 + 32 * k] = 1;
        asm volatile("membar.gl;" ::: "memory");
        t[n++] = cycles();
    }
    for (int k = 0; k < 2; k++) {
        x = atomicAdd((uint32_t *)line + 128 + 32 * k, 1);
        *sink = x; // not before it is there
        t[n++] = cycles();
    }
    out += 16 * blockIdx.x;
    out[0] = t[1] - t[0];
    for (int k = 0; k < 9; k++) out[5 + k] = t[k + 2] - t[k + 1];
    out[3] = ns;
    out[4] = nanoseconds();
}
