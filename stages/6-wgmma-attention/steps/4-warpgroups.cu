/* Stage 6, rung 4: three warpgroups share K and V; each does softmax under others' products.
 *
 *                      DIM                        BKV                       DIM
 *              +---------------+            +---------------+       +---------------+
 *  warpgroup 0 |               |            |               |       |               |
 *  warpgroup 1 |       Q       |  x  K^T =  |   S, then P   |  x V  |       O       |  64 rows each
 *  warpgroup 2 |               |            |               |       |               |
 *              +---------------+            +---------------+       +---------------+
 *
 * A tile of K and V is copied once for 192 rows, not for 64. The producer is a warpgroup now, so
 * that setmaxnreg can move most of its registers to the consumers. Nothing says when which of these
 * computes; while one waits for its products, the others may be at softmax (-):
 *
 *   producer     K0 Q V0 K1 V1 K2 V2 ...      as slots of the rings become free
 *   warpgroup 0  [S0]----[PV0][S1]----[PV1]
 *   warpgroup 1      [S0]----[PV0][S1]----[PV1]
 *   warpgroup 2          [S0]----[PV0][S1]----[PV1]
 *
 * A warpgroup's accumulators, S and O; T = thread, i = index into s_frag[j][i] or o_frag[j][i]:
 *     col     0 1   2 3   4 5   6 7  |  8 9
 *   row  0    T0    T1    T2    T3   |  T0           j = 0, i = 0,1  |  j = 1, i = 0,1
 *   row  1    T4    T5    T6    T7   |  T4
 *   row  8    T0    T1    T2    T3   |  T0           j = 0, i = 2,3  |  j = 1, i = 2,3
 *     row = 16 warp + lane / 4 + 8 (i / 2)     col = 8 j + 2 (lane % 4) + i % 2
 * A row lives in 4 neighbouring lanes, so a row maximum is 2 shuffles: xor 1 and 2.
 * As an operand P has the same layout, pairs rounded to fp16: p_frag[j / 2][2 (j % 2) + i / 2].
 *
 * Shared memory: pages of 64 elements, [rows][64] fp16, a row being one span of 128 bytes whose
 * eight 16-byte chunks TMA has exchanged by chunk ^= row % 8 (gmma_desc.h). Bytes, DIM 64 | 128:
 *   q_smem [WARPGROUPS][PAGES][64][64]   24576 |  49152
 *   k_smem [RING][PAGES][BKV][64]        32768 |  40960
 *   v_smem [RING][PAGES][BKV][64]        32768 |  40960    with 1024 to align: 91136 | 132096 */
#include "common/cuda/attention_args.h"
#include "common/cuda/ptx.cuh"
#include "common/cuda/ptx_sm90.cuh"
#include "tile.h"

constexpr struct tile TILE = step_tile_of(DIM, 4);
constexpr int BQ = TILE.bq, BKV = TILE.bkv, THREADS = TILE.threads;
constexpr int WARPGROUPS = TILE.warpgroups; // that compute
constexpr int RING = STAGES;                // stages of K, and of V
constexpr int PAGES = DIM / 64;
constexpr uint32_t Q_PAGE = 64 * 128, KV_PAGE = BKV * 128; // bytes
constexpr uint32_t Q_BYTES = PAGES * Q_PAGE;               // one warpgroup's Q
constexpr uint32_t KV_BYTES = PAGES * KV_PAGE;             // one stage

// Registers: a launch gives every thread 65536 / THREADS; the producer hands most of its own over.
constexpr int PRODUCER_REGISTERS = 32, CONSUMER_REGISTERS = 160;
static_assert(PRODUCER_REGISTERS + WARPGROUPS * CONSUMER_REGISTERS <=
                  65536 / THREADS / 8 * 8 * (WARPGROUPS + 1),
              "setmaxnreg.inc would wait for registers that the CTA does not have");

// mbarriers. full: TMA has written; empty: every warp has read, TMA may overwrite.
static __shared__ uint64_t q_full[WARPGROUPS];
static __shared__ uint64_t k_full[RING], k_empty[RING], v_full[RING], v_empty[RING];

static __device__ __forceinline__ void wait(const uint64_t *barrier, uint32_t parity) {
    while (!mbarrier_try_wait_parity(smem_address(barrier), parity)) {
    }
}

// A ring of K or V, and where in it a thread is. Barriers start in phase 0: a consumer's first wait
// is for parity 0, a producer's for the phase before, parity 1, which counts as over.
struct ring {
    uint32_t smem;          // [RING][KV_BYTES]
    uint64_t *full, *empty; // [RING]
    uint32_t stage, parity;
};
static __device__ __forceinline__ void advance(struct ring &r) {
    if (++r.stage == RING) r.stage = 0, r.parity ^= 1;
}

// Consumers: this stage is written by TMA.
static __device__ __forceinline__ void wait_full(const struct ring &r) {
    wait(&r.full[r.stage], r.parity);
}
// Consumers: this warp's quarter of the products has read this stage, and goes on to the next one.
static __device__ __forceinline__ void release(struct ring &r) {
    if (threadIdx.x % 32 == 0) mbarrier_arrive(smem_address(&r.empty[r.stage]));
    advance(r);
}

// ---- load Q, K, V: one thread
static __device__ __forceinline__ void load(const CUtensorMap *map, uint32_t smem, uint64_t *full,
                                            uint32_t page_bytes, int row, int h, int b) {
    mbarrier_arrive_expect_tx(smem_address(full), PAGES * page_bytes);
    for (int p = 0; p < PAGES; p++)
        tma_load_4d(smem + p * page_bytes, map, smem_address(full), p * 64, row, h, b);
}

// Keys kv0 to kv0 + BKV - 1, into the next stage.
static __device__ __forceinline__ void load_kv(const CUtensorMap *map, struct ring &r, int kv0,
                                               int h, int b) {
    wait(&r.empty[r.stage], r.parity); // the products that read what was there are done
    load(map, r.smem + r.stage * KV_BYTES, &r.full[r.stage], KV_PAGE, kv0, h, b);
    advance(r);
}

static __device__ __forceinline__ void produce(const CUtensorMap *q_map, const CUtensorMap *k_map,
                                               const CUtensorMap *v_map, uint32_t q_smem,
                                               uint32_t k_smem, uint32_t v_smem, int q0, int kv_end,
                                               int h, int kv_h, int b) {
    struct ring k = {k_smem, k_full, k_empty, 0, 1}, v = {v_smem, v_full, v_empty, 0, 1};
    for (int g = 0; g < WARPGROUPS; g++)
        load(q_map, q_smem + g * Q_BYTES, &q_full[g], Q_PAGE, q0 + 64 * g, h, b);
    for (int kv0 = 0; kv0 < kv_end; kv0 += BKV) {
        load_kv(k_map, k, kv0, kv_h, b);
        load_kv(v_map, v, kv0, kv_h, b);
    }
}

// ---- S = Q K^T, issued only
static __device__ __forceinline__ void issue_qk(float (&s_frag)[BKV / 8][4], uint64_t q_desc,
                                                uint64_t k_desc) {
#pragma unroll
    for (int d = 0; d < DIM / 16; d++)
        wgmma_m64k16_ss<BKV>(s_frag, gmma_desc_advance(q_desc, d / 4 * Q_PAGE + d % 4 * 32),
                             gmma_desc_advance(k_desc, d / 4 * KV_PAGE + d % 4 * 32), d > 0);
    wgmma_commit_group();
}

// ---- O += P V, issued only
static __device__ __forceinline__ void
issue_pv(float (&o_frag)[DIM / 8][4], const uint32_t (&p_frag)[BKV / 16][4], uint64_t v_desc) {
#pragma unroll
    for (int j = 0; j < BKV / 16; j++)
        wgmma_m64k16_rs<DIM>(o_frag, p_frag[j], gmma_desc_advance(v_desc, j * 16 * 128), 1);
    wgmma_commit_group();
}

// S, scaled; -inf where key kv0 + col does not exist or lies right of row row0 + row's diagonal.
static __device__ __forceinline__ void mask(float (&s_frag)[BKV / 8][4],
                                            const struct attention_args &args, int row0, int kv0) {
    kv0 += threadIdx.x % 4 * 2; // this thread's first key
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int row = row0 + i / 2 * 8;
        int n_visible = args.seqlen_k - kv0; // from there on, that the row may see
        if (args.causal) n_visible = min(n_visible, row + args.diagonal + 1 - kv0);
#pragma unroll
        for (int n = 0; n < BKV / 8; n++) {
            float &s = s_frag[n][i];
            s *= args.scale_log2;
            if (n * 8 + i % 2 >= n_visible) s = -INFINITY;
        }
    }
}

// P = 2^(S - max), l += P; what was summed for a lower max is to shrink by alpha.
static __device__ __forceinline__ void softmax(uint32_t (&p_frag)[BKV / 16][4],
                                               const float (&s_frag)[BKV / 8][4],
                                               float (&m_frag)[2], float (&l_frag)[2],
                                               float (&alpha)[2]) {
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float m_new = m_frag[r];
#pragma unroll
        for (int n = 0; n < BKV / 8; n++)
            m_new = fmaxf(m_new, fmaxf(s_frag[n][2 * r], s_frag[n][2 * r + 1]));
        m_new = fmaxf(m_new, __shfl_xor_sync(~0u, m_new, 1));
        m_new = fmaxf(m_new, __shfl_xor_sync(~0u, m_new, 2));
        const float base = m_new == -INFINITY ? 0 : m_new; // no key seen yet: 2^(-inf - 0) = 0
        alpha[r] = ex2(m_frag[r] - base);
        m_frag[r] = m_new;
        l_frag[r] *= alpha[r];
#pragma unroll
        for (int n = 0; n < BKV / 8; n++) {
            const float p0 = ex2(s_frag[n][2 * r] - base), p1 = ex2(s_frag[n][2 * r + 1] - base);
            l_frag[r] += p0 + p1;
            p_frag[n / 2][n % 2 * 2 + r] = cvt_f16x2(p0, p1);
        }
    }
}

static __device__ __forceinline__ void rescale(float (&o_frag)[DIM / 8][4],
                                               const float (&alpha)[2]) {
#pragma unroll
    for (int n = 0; n < DIM / 8; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) o_frag[n][i] *= alpha[i / 2];
}

// ---- epilogue: O = O / l, LSE = log(l) + max; a row that saw no key gives 0 and -inf
static __device__ __forceinline__ void store(const struct attention_args &args,
                                             const float (&o_frag)[DIM / 8][4],
                                             const float (&m_frag)[2], float (&l_frag)[2], int q0,
                                             int h, int b) {
    const int lane = threadIdx.x % 32, row0 = threadIdx.x % 128 / 32 * 16 + lane / 4;
    const int col0 = lane % 4 * 2;
    half *o = args.o + b * args.o_stride.batch + h * args.o_stride.head;
    float *lse = args.lse + ((int64_t)b * args.heads + h) * args.seqlen_q;
    for (int r = 0; r < 2; r++) {
        for (int lanes = 1; lanes < 4; lanes *= 2)
            l_frag[r] += __shfl_xor_sync(~0u, l_frag[r], lanes);
        float l_inv = l_frag[r] > 0 ? 1 / l_frag[r] : 0;
        int row = q0 + row0 + 8 * r;
        if (row >= args.seqlen_q) continue;
        if (col0 == 0) lse[row] = (m_frag[r] + lg2(l_frag[r])) * LN_2;
#pragma unroll
        for (int n = 0; n < DIM / 8; n++)
            *(uint32_t *)&o[row * args.o_stride.row + n * 8 + col0] =
                cvt_f16x2(o_frag[n][2 * r] * l_inv, o_frag[n][2 * r + 1] * l_inv);
    }
}

// ---- compute: one warpgroup
static __device__ __forceinline__ void consume(const struct attention_args &args, uint32_t q_smem,
                                               uint32_t k_smem, uint32_t v_smem, int q0, int kv_end,
                                               int h, int b, int warpgroup) {
    const uint64_t q_desc =
        gmma_desc_encode({q_smem + warpgroup * Q_BYTES, 0, 1024, 0, GMMA_SWIZZLE_128});
    const uint64_t k_desc = gmma_desc_encode({k_smem, 0, 1024, 0, GMMA_SWIZZLE_128});
    const uint64_t v_desc = gmma_desc_encode({v_smem, KV_PAGE, 1024, 0, GMMA_SWIZZLE_128});
    struct ring k = {k_smem, k_full, k_empty, 0, 0}, v = {v_smem, v_full, v_empty, 0, 0};

    const int row0 = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4; // + 8 * r
    float s_frag[BKV / 8][4], alpha[2];
    uint32_t p_frag[BKV / 16][4];
    float o_frag[DIM / 8][4] = {};            // O, not yet divided by the row sums
    float m_frag[2] = {-INFINITY, -INFINITY}; // row maxima of scaled scores
    float l_frag[2] = {};                     // sums of this thread's columns of P

    wait(&q_full[warpgroup], 0); // q_smem is written by TMA

    // ---- for each KV tile
    for (int kv0 = 0; kv0 < kv_end; kv0 += BKV) {
        // ---- S = Q K^T
        wait_full(k); // k_smem is written by TMA
        registers_fence(s_frag);
        wgmma_fence();
        issue_qk(s_frag, q_desc, gmma_desc_advance(k_desc, k.stage * KV_BYTES));
        wgmma_wait_group<0>(); // S is there, k_smem has been read
        registers_fence(s_frag);
        release(k);

        // ---- mask
        mask(s_frag, args, q0 + row0, kv0);

        // ---- softmax: P = 2^(S - max); what earlier tiles gave was for a lower max, so it shrinks
        softmax(p_frag, s_frag, m_frag, l_frag, alpha);
        rescale(o_frag, alpha);

        // ---- O += P V
        wait_full(v); // v_smem is written by TMA
        registers_fence(o_frag);
        wgmma_fence(); // o_frag and p_frag have just been written
        issue_pv(o_frag, p_frag, gmma_desc_advance(v_desc, v.stage * KV_BYTES));
        wgmma_wait_group<0>(); // O is there; p_frag and v_smem have been read
        registers_fence(o_frag);
        release(v);
    }

    store(args, o_frag, m_frag, l_frag, q0, h, b);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    attention(const __grid_constant__ struct attention_args args,
              const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
              const __grid_constant__ CUtensorMap v_map) {
    const int n_q_tiles = (args.seqlen_q + BQ - 1) / BQ;
    const int bh = blockIdx.x / n_q_tiles, q0 = blockIdx.x % n_q_tiles * BQ;
    const int b = bh / args.heads, h = bh % args.heads;
    const int kv_h = h / (args.heads / args.kv_heads);
    int kv_end = args.seqlen_k; // the last row of this CTA sees no key from here on
    if (args.causal) kv_end = min(kv_end, q0 + BQ + args.diagonal);

    extern __shared__ unsigned char smem[];
    const uint32_t q_smem = (smem_address(smem) + 1023) & ~1023u; // where the swizzle begins anew
    const uint32_t k_smem = q_smem + WARPGROUPS * Q_BYTES, v_smem = k_smem + RING * KV_BYTES;
    const int tid = threadIdx.x,
              warpgroup = __shfl_sync(~0u, tid / 128, 0); // known to be one per warp

    if (tid == 0) {
        for (int g = 0; g < WARPGROUPS; g++) mbarrier_init(smem_address(&q_full[g]), 1);
        for (int s = 0; s < RING; s++) {
            mbarrier_init(smem_address(&k_full[s]), 1);
            mbarrier_init(smem_address(&v_full[s]), 1);
            mbarrier_init(smem_address(&k_empty[s]), 4 * WARPGROUPS); // warps: each knows
            mbarrier_init(smem_address(&v_empty[s]), 4 * WARPGROUPS); // of its own quarter
        }
        fence_mbarrier_init(); // TMA is to see the barriers
    }
    __syncthreads(); // the barriers are initialised

    if (warpgroup == WARPGROUPS) {
        setmaxnreg_dec<PRODUCER_REGISTERS>();
        if (tid == WARPGROUPS * 128)
            produce(&q_map, &k_map, &v_map, q_smem, k_smem, v_smem, q0, kv_end, h, kv_h, b);
    } else {
        setmaxnreg_inc<CONSUMER_REGISTERS>();
        consume(args, q_smem, k_smem, v_smem, q0 + 64 * warpgroup, kv_end, h, b, warpgroup);
    }
}
