/* Stage 6, rung 1: WGMMA, and nothing of what keeps it busy.
 * Starts from 4-tuned/steps/1-registers.cu.
 *
 *                      DIM                        BKV                       DIM
 *              +---------------+            +---------------+       +---------------+
 *  warpgroup 0 |       Q       |  x  K^T =  |   S, then P   |  x V  |       O       |  64 rows
 *              +---------------+            +---------------+       +---------------+
 *
 * A warpgroup's four warps issue one instruction for all of its 64 rows, and both operands, or all
 * but P, come from shared memory: no fragments to load. One warpgroup does everything, one after
 * the other: its threads copy K and V through registers, wait for each other, have the tensor
 * cores compute, wait for them, do softmax, have them compute again:
 *
 *   threads  [copy K0 V0]    [softmax]     [copy K1 V1]    [softmax]     ...
 *   tensor               [S0]         [PV0]            [S1]         [PV1]
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
 * eight 16-byte chunks are exchanged by chunk ^= row % 8 (gmma_desc.h). Bytes, DIM 64 | 128:
 *   q_smem [PAGES][BQ][64]      8192 | 16384
 *   k_smem [PAGES][BKV][64]    16384 | 32768
 *   v_smem [PAGES][BKV][64]    16384 | 32768    with 1024 to align: 41984 | 82944 */
#include "common/cuda/attention_args.h"
#include "common/cuda/ptx.cuh"
#include "common/cuda/ptx_sm90.cuh"
#include "tile.h"

constexpr struct tile TILE = step_tile_of(DIM, 1);
constexpr int BQ = TILE.bq, BKV = TILE.bkv, THREADS = TILE.threads;
constexpr int PAGES = DIM / 64;
constexpr uint32_t Q_PAGE = BQ * 128, KV_PAGE = BKV * 128; // bytes

// Copies n_rows rows into smem; what is missing of [rows][DIM] becomes zero.
template <int rows>
static __device__ void load_tile(unsigned char *smem, const half *gmem, int64_t row_stride,
                                 int n_rows) {
#pragma unroll
    for (int i = threadIdx.x; i < rows * DIM / 8; i += THREADS) { // 16 bytes a thread
        const int row = i / (DIM / 8), chunk = i % (DIM / 8);
        uint4 eight = {0, 0, 0, 0};
        if (row < n_rows) eight = *(const uint4 *)(gmem + row * row_stride + chunk * 8);
        *(uint4 *)(smem + chunk / 8 * rows * 128 + row * 128 + (chunk % 8 ^ row % 8) * 16) = eight;
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
    attention(const __grid_constant__ struct attention_args args) {
    const int tid = threadIdx.x, row0 = tid / 32 * 16 + tid % 32 / 4; // + 8 * r
    const int n_q_tiles = (args.seqlen_q + BQ - 1) / BQ;
    const int bh = blockIdx.x / n_q_tiles, q0 = blockIdx.x % n_q_tiles * BQ;
    const int b = bh / args.heads, h = bh % args.heads;
    const int kv_h = h / (args.heads / args.kv_heads);
    // This head's matrices: q (seqlen_q, head_dim); k, v (seqlen_k, head_dim)
    const half *q = args.q + b * args.q_stride.batch + h * args.q_stride.head;
    const half *k = args.k + b * args.k_stride.batch + kv_h * args.k_stride.head;
    const half *v = args.v + b * args.v_stride.batch + kv_h * args.v_stride.head;
    int kv_end = args.seqlen_k; // the last row of this CTA sees no key from here on
    if (args.causal) kv_end = min(kv_end, q0 + BQ + args.diagonal);

    extern __shared__ unsigned char smem[];
    const uint32_t smem0 = smem_address(smem);
    unsigned char *q_smem = smem + (-smem0 & 1023); // where the swizzle begins anew
    unsigned char *k_smem = q_smem + PAGES * Q_PAGE, *v_smem = k_smem + PAGES * KV_PAGE;
    const uint64_t q_desc = gmma_desc_encode({smem_address(q_smem), 0, 1024, 0, GMMA_SWIZZLE_128});
    const uint64_t k_desc = gmma_desc_encode({smem_address(k_smem), 0, 1024, 0, GMMA_SWIZZLE_128});
    const uint64_t v_desc =
        gmma_desc_encode({smem_address(v_smem), KV_PAGE, 1024, 0, GMMA_SWIZZLE_128});

    float s_frag[BKV / 8][4];
    uint32_t p_frag[BKV / 16][4];
    float o_frag[DIM / 8][4] = {};            // O, not yet divided by the row sums
    float m_frag[2] = {-INFINITY, -INFINITY}; // row maxima of scaled scores
    float l_frag[2] = {};                     // sums of this thread's columns of P

    // ---- load Q
    load_tile<BQ>(q_smem, q + q0 * args.q_stride.row, args.q_stride.row, args.seqlen_q - q0);

    // ---- for each KV tile
    for (int kv0 = 0; kv0 < kv_end; kv0 += BKV) {

        // ---- load K, V
        __syncthreads(); // every warp's products have read the last tile; it may be overwritten
        load_tile<BKV>(k_smem, k + kv0 * args.k_stride.row, args.k_stride.row, args.seqlen_k - kv0);
        load_tile<BKV>(v_smem, v + kv0 * args.v_stride.row, args.v_stride.row, args.seqlen_k - kv0);
        fence_proxy_async(); // WGMMA is to see what this thread wrote
        __syncthreads();     // all threads have written; a warp's product reads all of the tile

        // ---- S = Q K^T
        registers_fence(s_frag);
        wgmma_fence();
        issue_qk(s_frag, q_desc, k_desc);
        wgmma_wait_group<0>(); // S is there
        registers_fence(s_frag);

        // ---- mask
        mask(s_frag, args, q0 + row0, kv0);

        // ---- softmax: P = 2^(S - max); what earlier tiles gave was for a lower max, so it shrinks
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float m_new = m_frag[r];
#pragma unroll
            for (int n = 0; n < BKV / 8; n++)
                m_new = fmaxf(m_new, fmaxf(s_frag[n][2 * r], s_frag[n][2 * r + 1]));
            m_new = fmaxf(m_new, __shfl_xor_sync(~0u, m_new, 1));
            m_new = fmaxf(m_new, __shfl_xor_sync(~0u, m_new, 2));
            const float base = m_new == -INFINITY ? 0 : m_new; // no key seen yet: 2^(-inf - 0) = 0
            const float alpha = ex2(m_frag[r] - base);
            m_frag[r] = m_new;
            l_frag[r] *= alpha;
#pragma unroll
            for (int n = 0; n < DIM / 8; n++)
                o_frag[n][2 * r] *= alpha, o_frag[n][2 * r + 1] *= alpha;
#pragma unroll
            for (int n = 0; n < BKV / 8; n++) {
                const float p0 = ex2(s_frag[n][2 * r] - base);
                const float p1 = ex2(s_frag[n][2 * r + 1] - base);
                l_frag[r] += p0 + p1;
                p_frag[n / 2][n % 2 * 2 + r] = cvt_f16x2(p0, p1);
            }
        }

        // ---- O += P V
        registers_fence(o_frag);
        wgmma_fence(); // o_frag and p_frag have just been written
        issue_pv(o_frag, p_frag, v_desc);
        wgmma_wait_group<0>(); // O is there
        registers_fence(o_frag);
    }

    store(args, o_frag, m_frag, l_frag, q0, h, b);
}
