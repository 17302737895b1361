/* Stage 6, rung 2: TMA copies.
 *
 *                      DIM                        BKV                       DIM
 *              +---------------+            +---------------+       +---------------+
 *  warpgroup 0 |       Q       |  x  K^T =  |   S, then P   |  x V  |       O       |  64 rows
 *              +---------------+            +---------------+       +---------------+
 *
 * A warpgroup's four warps issue one instruction for all of its 64 rows, and both operands, or all
 * but P, come from shared memory: no fragments to load. One thread asks TMA for boxes of Q, K and
 * V; the unit computes addresses, writes the swizzled layout and zeros behind the last row, and
 * counts the bytes at an mbarrier, where all threads wait:
 *
 *   TMA      [copy K0 V0]               [copy K1 V1]               ...
 *   threads              [softmax]                  [softmax]
 *   tensor           [S0]         [PV0]         [S1]         [PV1]
 *
 * What fills the gaps is another CTA of the SM, by chance.
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
 *   q_smem [PAGES][BQ][64]      8192 | 16384
 *   k_smem [PAGES][BKV][64]    16384 | 32768
 *   v_smem [PAGES][BKV][64]    16384 | 32768    with 1024 to align: 41984 | 82944 */
#include "common/cuda/attention_args.h"
#include "common/cuda/ptx.cuh"
#include "common/cuda/ptx_sm90.cuh"
#include "tile.h"

constexpr struct tile TILE = step_tile_of(DIM, 2);
constexpr int BQ = TILE.bq, BKV = TILE.bkv, THREADS = TILE.threads;
constexpr int PAGES = DIM / 64;
constexpr uint32_t Q_PAGE = BQ * 128, KV_PAGE = BKV * 128; // bytes

// mbarriers: TMA has written.
static __shared__ uint64_t q_full, k_full, v_full;

static __device__ __forceinline__ void wait(const uint64_t *barrier, uint32_t parity) {
    while (!mbarrier_try_wait_parity(smem_address(barrier), parity)) {
    }
}

// ---- load Q, K, V: one thread
static __device__ __forceinline__ void load(const CUtensorMap *map, uint32_t smem, uint64_t *full,
                                            uint32_t page_bytes, int row, int h, int b) {
    mbarrier_arrive_expect_tx(smem_address(full), PAGES * page_bytes);
    for (int p = 0; p < PAGES; p++)
        tma_load_4d(smem + p * page_bytes, map, smem_address(full), p * 64, row, h, b);
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

extern "C" __global__ void __launch_bounds__(THREADS)
    attention(const __grid_constant__ struct attention_args args,
              const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
              const __grid_constant__ CUtensorMap v_map) {
    const int tid = threadIdx.x, row0 = tid / 32 * 16 + tid % 32 / 4; // + 8 * r
    const int n_q_tiles = (args.seqlen_q + BQ - 1) / BQ;
    const int bh = blockIdx.x / n_q_tiles, q0 = blockIdx.x % n_q_tiles * BQ;
    const int b = bh / args.heads, h = bh % args.heads;
    const int kv_h = h / (args.heads / args.kv_heads);
    int kv_end = args.seqlen_k; // the last row of this CTA sees no key from here on
    if (args.causal) kv_end = min(kv_end, q0 + BQ + args.diagonal);

    extern __shared__ unsigned char smem[];
    const uint32_t q_smem = (smem_address(smem) + 1023) & ~1023u; // where the swizzle begins anew
    const uint32_t k_smem = q_smem + PAGES * Q_PAGE, v_smem = k_smem + PAGES * KV_PAGE;
    const uint64_t q_desc = gmma_desc_encode({q_smem, 0, 1024, 0, GMMA_SWIZZLE_128});
    const uint64_t k_desc = gmma_desc_encode({k_smem, 0, 1024, 0, GMMA_SWIZZLE_128});
    const uint64_t v_desc = gmma_desc_encode({v_smem, KV_PAGE, 1024, 0, GMMA_SWIZZLE_128});

    float s_frag[BKV / 8][4], alpha[2];
    uint32_t p_frag[BKV / 16][4];
    float o_frag[DIM / 8][4] = {};            // O, not yet divided by the row sums
    float m_frag[2] = {-INFINITY, -INFINITY}; // row maxima of scaled scores
    float l_frag[2] = {};                     // sums of this thread's columns of P

    // ---- load Q
    if (tid == 0) {
        mbarrier_init(smem_address(&q_full), 1);
        mbarrier_init(smem_address(&k_full), 1);
        mbarrier_init(smem_address(&v_full), 1);
        fence_mbarrier_init(); // TMA is to see the barriers
        load(&q_map, q_smem, &q_full, Q_PAGE, q0, h, b);
    }
    uint32_t parity = 0; // of the phase in which K and V of this tile arrive
    __syncthreads();     // the barriers are initialised
    wait(&q_full, 0);    // q_smem is written by TMA

    // ---- for each KV tile
    for (int kv0 = 0; kv0 < kv_end; kv0 += BKV) {

        // ---- load K, V
        __syncthreads(); // every warp's products have read the last tile; it may be overwritten
        if (tid == 0) {
            load(&k_map, k_smem, &k_full, KV_PAGE, kv0, kv_h, b);
            load(&v_map, v_smem, &v_full, KV_PAGE, kv0, kv_h, b);
        }

        // ---- S = Q K^T
        wait(&k_full, parity); // k_smem is written by TMA
        registers_fence(s_frag);
        wgmma_fence();
        issue_qk(s_frag, q_desc, k_desc);
        wgmma_wait_group<0>(); // S is there
        registers_fence(s_frag);

        // ---- mask
        mask(s_frag, args, q0 + row0, kv0);

        // ---- softmax: P = 2^(S - max); what earlier tiles gave was for a lower max, so it shrinks
        softmax(p_frag, s_frag, m_frag, l_frag, alpha);
        rescale(o_frag, alpha);

        // ---- O += P V
        wait(&v_full, parity); // v_smem is written by TMA
        parity ^= 1;
        registers_fence(o_frag);
        wgmma_fence(); // o_frag and p_frag have just been written
        issue_pv(o_frag, p_frag, v_desc);
        wgmma_wait_group<0>(); // O is there
        registers_fence(o_frag);
    }

    store(args, o_frag, m_frag, l_frag, q0, h, b);
}
