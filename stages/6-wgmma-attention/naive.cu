/* Where stage 6 began: WGMMA, and nothing of what keeps it busy. --image d128-naive runs this file.
 *
 *                      DIM                        BKV                       DIM
 *              +---------------+            +---------------+       +---------------+
 *  warpgroup 0 |       Q       |  x  K^T =  |   S, then P   |  x V  |       O       |  64 rows
 *              +---------------+            +---------------+       +---------------+
 *
 * One warpgroup does everything, one after the other: its threads copy
 * K and V through registers, wait for each other, have the tensor
 * cores compute, wait for them, do softmax, have them compute again:
 *
 *   threads  [copy K0 V0]    [softmax]     [copy K1 V1]    [softmax]     ...
 *   tensor               [S0]         [PV0]            [S1]         [PV1]
 *
 * What fills the gaps is another CTA of the SM, by chance. kernel.cu does it
 * on purpose, with the same layouts: accumulators and operands are drawn in
 * its head. Shared memory (DIM 64 | 128), pages of 64 elements, [rows][64]
 * fp16, whose 16-byte chunks are exchanged by chunk ^= row % 8 (gmma_desc.h):
 *   q_smem [PAGES][BQ][64]      8192 | 16384
 *   k_smem [PAGES][BKV][64]    16384 | 32768
 *   v_smem [PAGES][BKV][64]    16384 | 32768    with 1024 to align: 41984 | 82944 */
#include "common/cuda/attention_args.h"
#include "naive.h"
#include "common/cuda/ptx.cuh"
#include "common/cuda/ptx_sm90.cuh"

constexpr int BQ = NAIVE_BQ, BKV = NAIVE_BKV, THREADS = NAIVE_THREADS, PAGES = DIM / 64;
constexpr uint32_t Q_PAGE = BQ * 128, KV_PAGE = BKV * 128; // bytes

// Copies n_rows rows into smem; what is missing of [ROWS][DIM] becomes zero.
template <int ROWS>
static __device__ void load_tile(unsigned char *smem, const half *gmem, int64_t row_stride,
                                 int n_rows) {
    for (int i = threadIdx.x; i < ROWS * DIM / 8; i += THREADS) { // 16 bytes a thread
        const int row = i / (DIM / 8), chunk = i % (DIM / 8);
        uint4 eight = {0, 0, 0, 0};
        if (row < n_rows) eight = *(const uint4 *)(gmem + row * row_stride + chunk * 8);
        *(uint4 *)(smem + chunk / 8 * ROWS * 128 + row * 128 + (chunk % 8 ^ row % 8) * 16) = eight;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    attention(const __grid_constant__ struct attention_args args) {
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    const int row0 = 16 * warp + lane / 4, col0 = lane % 4 * 2; // + 8 r, + 8 j
    const int n_q_tiles = (args.seqlen_q + BQ - 1) / BQ;
    const int bh = blockIdx.x / n_q_tiles, q0 = blockIdx.x % n_q_tiles * BQ;
    const int b = bh / args.heads, h = bh % args.heads;
    const int kv_h = h / (args.heads / args.kv_heads);
    // This head's matrices: q, o (seqlen_q, head_dim); k, v (seqlen_k, head_dim); lse (seqlen_q)
    const half *q = args.q + b * args.q_stride.batch + h * args.q_stride.head;
    const half *k = args.k + b * args.k_stride.batch + kv_h * args.k_stride.head;
    const half *v = args.v + b * args.v_stride.batch + kv_h * args.v_stride.head;
    half *o = args.o + b * args.o_stride.batch + h * args.o_stride.head;
    float *lse = args.lse + (int64_t)bh * args.seqlen_q;
    int kv_end = args.seqlen_k; // the last row of this CTA sees no key from here on
    if (args.causal) kv_end = min(kv_end, q0 + BQ + args.diagonal);

    extern __shared__ unsigned char smem[];
    const uint32_t smem0 = shared_address(smem);
    unsigned char *q_smem =
        smem + (((smem0 + 1023) & ~1023u) - smem0); // where the swizzle begins anew
    unsigned char *k_smem = q_smem + PAGES * Q_PAGE, *v_smem = k_smem + PAGES * KV_PAGE;
    const uint64_t q_desc =
        gmma_desc_encode({shared_address(q_smem), 0, 1024, 0, GMMA_SWIZZLE_128});
    const uint64_t k_desc =
        gmma_desc_encode({shared_address(k_smem), 0, 1024, 0, GMMA_SWIZZLE_128});
    const uint64_t v_desc =
        gmma_desc_encode({shared_address(v_smem), KV_PAGE, 1024, 0, GMMA_SWIZZLE_128});

    float s_frag[BKV / 8][4], o_frag[DIM / 8][4] = {}; // O is not yet divided by l
    uint32_t p_frag[BKV / 16][4];
    float m_frag[2] = {-INFINITY, -INFINITY}; // row maxima of scaled scores
    float l_frag[2] = {0, 0};                 // row sums of this thread's columns

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
#pragma unroll
        for (int d = 0; d < DIM / 16; d++)
            wgmma_m64k16_ss<BKV>(s_frag, gmma_desc_advance(q_desc, d / 4 * Q_PAGE + d % 4 * 32),
                                 gmma_desc_advance(k_desc, d / 4 * KV_PAGE + d % 4 * 32), d > 0);
        wgmma_commit_group();
        wgmma_wait_group<0>(); // S is there
        registers_fence(s_frag);

#pragma unroll
        for (int r = 0; r < 2; r++) {
            // ---- mask: row r sees the keys of this tile that come before n_visible
            int n_visible = args.seqlen_k - kv0;
            if (args.causal)
                n_visible = min(n_visible, q0 + row0 + 8 * r + args.diagonal + 1 - kv0);
#pragma unroll
            for (int i = 0; i < BKV / 4; i++) {
                float &s = s_frag[i / 2][2 * r + i % 2];
                s *= args.scale_log2;
                if (col0 + 8 * (i / 2) + i % 2 >= n_visible) s = -INFINITY;
            }

            // ---- softmax
            float m_new = m_frag[r];
#pragma unroll
            for (int j = 0; j < BKV / 8; j++)
                m_new = fmaxf(m_new, fmaxf(s_frag[j][2 * r], s_frag[j][2 * r + 1]));
            m_new = fmaxf(m_new, __shfl_xor_sync(~0u, m_new, 1)); // a row lives in 4 lanes
            m_new = fmaxf(m_new, __shfl_xor_sync(~0u, m_new, 2));
            const float base = m_new == -INFINITY ? 0 : m_new; // no key yet: 2^(-inf - 0) = 0
            const float alpha = ex2(m_frag[r] - base);
            m_frag[r] = m_new;
            l_frag[r] *= alpha;
#pragma unroll
            for (int j = 0; j < BKV / 8; j++) {
                const float even = ex2(s_frag[j][2 * r] - base);
                const float odd = ex2(s_frag[j][2 * r + 1] - base);
                l_frag[r] += even + odd;
                p_frag[j / 2][j % 2 * 2 + r] = cvt_f16x2(even, odd);
            }
#pragma unroll
            for (int n = 0; n < DIM / 8; n++)
                o_frag[n][2 * r] *= alpha, o_frag[n][2 * r + 1] *= alpha;
        }

        // ---- O += P V
        registers_fence(o_frag);
        wgmma_fence();
#pragma unroll
        for (int j = 0; j < BKV / 16; j++)
            wgmma_m64k16_rs<DIM>(o_frag, p_frag[j], gmma_desc_advance(v_desc, j * 16 * 128), 1);
        wgmma_commit_group();
        wgmma_wait_group<0>(); // O is there
        registers_fence(o_frag);
    }

    // ---- epilogue: O = O / l, LSE = log(l) + max; a row that saw no key gives 0 and -inf
    for (int r = 0; r < 2; r++) {
        const float ln_2 = 0.69314718f;
        const int row = q0 + row0 + 8 * r;
        l_frag[r] += __shfl_xor_sync(~0u, l_frag[r], 1);
        l_frag[r] += __shfl_xor_sync(~0u, l_frag[r], 2);
        if (row >= args.seqlen_q) continue;
        const float l_inv = l_frag[r] > 0 ? 1 / l_frag[r] : 0;
#pragma unroll
        for (int n = 0; n < DIM / 8; n++)
            *(uint32_t *)(o + row * args.o_stride.row + 8 * n + col0) =
                cvt_f16x2(o_frag[n][2 * r] * l_inv, o_frag[n][2 * r + 1] * l_inv);
        if (lane % 4 == 0) lse[row] = (m_frag[r] + lg2(l_frag[r])) * ln_2;
    }
}
