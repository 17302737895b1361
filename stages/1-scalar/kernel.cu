/* Stage 1: attention with online softmax, one multiply at a time.
 *
 * A CTA computes BQ rows of O for one head. It walks over K and V in tiles of BKV keys and never
 * holds more of S than one tile: what softmax needs of earlier tiles is a maximum and a sum a row.
 *
 *                      DIM                        BKV                       DIM
 *              +---------------+            +---------------+       +---------------+
 *   warp 0, 16 |               |            |               |       |               |
 *   warp 1, 16 |       Q       |  x  K^T =  |   S, then P   |  x V  |       O       |
 *   warp 2, 16 |               |            |               |       |               |
 *   warp 3, 16 |               |            |               |       |               |
 *              +---------------+            +---------------+       +---------------+
 *
 * A warp owns 16 rows of all three. Inside its stripe, a thread owns 4 rows and every 8th column:
 *
 *     col     0   1   2  ...  7  |  8  ...     T = lane, i = row index, j = column index
 *   row  0   T0  T1  T2  ... T7  | T0          i = 0, j = 0  |  i = 0, j = 1
 *   row  1   T8  T9  T10 ... T15 | T8
 *   row  2   T16 ...         T23 | T16
 *   row  3   T24 ...         T31 | T24
 *   row  4   T0  ...         T7  | T0          i = 1, j = 0
 *     row = lane / 8 + 4 * i     col = lane % 8 + 8 * j
 * A row lives in 8 neighbouring lanes, so a row maximum is 3 shuffles: xor 1, 2 and 4.
 *
 * Shared memory, bytes (DIM 64 | 128 | 256):
 *   q_smem [BQ ][DIM + PAD] fp16    9216 | 17408 | 33792
 *   k_smem [BKV][DIM + PAD] fp16    9216 | 17408 | 16896
 *   v_smem [BKV][DIM + PAD] fp16    9216 | 17408 | 16896
 *   s_smem [BQ ][BKV + PAD] fp32   18432 | 18432 | 10240    in all 46080 | 70656 | 77824 */
#include "common/cuda/attention_args.h"
#include "common/cuda/ptx.cuh"
#include "tile.h"

constexpr struct tile TILE = tile_of(DIM);
constexpr int BQ = TILE.bq, BKV = TILE.bkv, WARPS = TILE.warps, PAD = TILE.pad;
constexpr int THREADS = 32 * WARPS;
constexpr int LD = DIM + PAD;   // elements from one row of q_smem, k_smem, v_smem to the next
constexpr int S_LD = BKV + PAD; // the same of s_smem
static_assert(BQ == 16 * WARPS, "the thread layout above is drawn for 16 rows a warp");
static_assert(DIM % 64 == 0, "an image's DIM is a whole number of 64-element pages");

// Copies n_rows rows of head_dim elements into smem; what is missing of [rows][DIM] becomes zero.
static __device__ void load_tile(half (*smem)[LD], int rows, const half *gmem, int64_t row_stride,
                                 int n_rows, int head_dim) {
    for (int i = threadIdx.x; i < rows * DIM / 8; i += THREADS) { // 16 bytes a thread
        int row = i / (DIM / 8), d = i % (DIM / 8) * 8;
        uint4 eight = make_uint4(0, 0, 0, 0);
        if (row < n_rows && d < head_dim) eight = *(const uint4 *)(gmem + row * row_stride + d);
        *(uint4 *)&smem[row][d] = eight;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    attention(const __grid_constant__ struct attention_args args) {
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    const int row0 = warp * 16 + lane / 8, col0 = lane % 8; // + 4 * i, + 8 * j
    const int q0 = blockIdx.y * BQ;
    const int b = blockIdx.x / args.heads, h = blockIdx.x % args.heads;
    const int kv_h = h / (args.heads / args.kv_heads);
    // This head's matrices: q, o (seqlen_q, head_dim); k, v (seqlen_k, head_dim); lse (seqlen_q)
    const half *q = args.q + b * args.q_stride.batch + h * args.q_stride.head;
    const half *k = args.k + b * args.k_stride.batch + kv_h * args.k_stride.head;
    const half *v = args.v + b * args.v_stride.batch + kv_h * args.v_stride.head;
    half *o = args.o + b * args.o_stride.batch + h * args.o_stride.head;
    float *lse = args.lse + (int64_t)blockIdx.x * args.seqlen_q;
    int kv_end = args.seqlen_k; // the last row of this CTA sees no key from here on
    if (args.causal) kv_end = min(kv_end, q0 + BQ + args.diagonal);

    extern __shared__ __align__(32) unsigned char smem[];
    half(*q_smem)[LD] = (half(*)[LD])smem;
    half(*k_smem)[LD] = q_smem + BQ;
    half(*v_smem)[LD] = k_smem + BKV;
    float(*s_smem)[S_LD] = (float(*)[S_LD])(v_smem + BKV);

    float o_frag[4][DIM / 8] = {}; // O, not yet divided by the row sums
    float m_frag[4], l_frag[4];    // row maxima of scaled scores; row sums of this thread's columns
    for (int i = 0; i < 4; i++) m_frag[i] = -INFINITY, l_frag[i] = 0;

    // ---- load Q
    load_tile(q_smem, BQ, q + q0 * args.q_stride.row, args.q_stride.row, args.seqlen_q - q0,
              args.head_dim);

    // ---- for each KV tile
    for (int kv0 = 0; kv0 < kv_end; kv0 += BKV) {

        // ---- load K, V
        // BEGIN SOLUTION lab-1: copy this tile of K and V, between two barriers
        __syncthreads(); // all warps have read the last k_smem and v_smem; they may be overwritten
        load_tile(k_smem, BKV, k + kv0 * args.k_stride.row, args.k_stride.row, args.seqlen_k - kv0,
                  args.head_dim);
        load_tile(v_smem, BKV, v + kv0 * args.v_stride.row, args.v_stride.row, args.seqlen_k - kv0,
                  args.head_dim);
        __syncthreads(); // q_smem, k_smem and v_smem are written; any warp may read them
        // END SOLUTION

        // ---- S = Q K^T
        float s_frag[4][BKV / 8] = {};
#pragma unroll 8
        for (int d = 0; d < DIM; d++) {
            float q_d[4], k_d[BKV / 8];
            for (int i = 0; i < 4; i++) q_d[i] = __half2float(q_smem[row0 + 4 * i][d]);
            for (int j = 0; j < BKV / 8; j++) k_d[j] = __half2float(k_smem[col0 + 8 * j][d]);
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < BKV / 8; j++) s_frag[i][j] += q_d[i] * k_d[j];
        }

        // ---- mask: key kv0 + col must exist and must not lie right of row q0 + row's diagonal
        // BEGIN SOLUTION lab-1: scale S by scale_log2; -INFINITY where the row may not see the key
        for (int i = 0; i < 4; i++) {
            int row = q0 + row0 + 4 * i;
            int n_visible = args.seqlen_k - kv0; // columns of this tile that the row may see
            if (args.causal) n_visible = min(n_visible, row + args.diagonal + 1 - kv0);
            for (int j = 0; j < BKV / 8; j++) {
                s_frag[i][j] *= args.scale_log2;
                if (col0 + 8 * j >= n_visible) s_frag[i][j] = -INFINITY;
            }
        }
        // END SOLUTION

        // ---- softmax: P = 2^(S - max); what earlier tiles gave was for a lower max, so it shrinks
        // BEGIN SOLUTION lab-1: P = 2^(S - max) into s_smem; shrink what is left of earlier tiles
        for (int i = 0; i < 4; i++) {
            float m_new = m_frag[i];
            for (int j = 0; j < BKV / 8; j++) m_new = fmaxf(m_new, s_frag[i][j]);
            for (int lanes = 1; lanes < 8; lanes *= 2)
                m_new = fmaxf(m_new, __shfl_xor_sync(~0u, m_new, lanes));
            float base = m_new == -INFINITY ? 0 : m_new; // no key seen yet: 2^(-inf - 0) = 0
            float alpha = ex2(m_frag[i] - base);
            m_frag[i] = m_new;
            l_frag[i] *= alpha;
            for (int j = 0; j < BKV / 8; j++) {
                float p = ex2(s_frag[i][j] - base);
                l_frag[i] += p;
                s_smem[row0 + 4 * i][col0 + 8 * j] = p;
            }
            for (int n = 0; n < DIM / 8; n++) o_frag[i][n] *= alpha;
        }
        __syncwarp(); // 32 lanes wrote this warp's stripe of s_smem; each may now read all of it

        // END SOLUTION

        // ---- O += P V
#pragma unroll 8
        for (int j = 0; j < BKV; j++) {
            float p_j[4], v_j[DIM / 8];
            for (int i = 0; i < 4; i++) p_j[i] = s_smem[row0 + 4 * i][j];
            for (int n = 0; n < DIM / 8; n++) v_j[n] = __half2float(v_smem[j][col0 + 8 * n]);
            for (int i = 0; i < 4; i++)
                for (int n = 0; n < DIM / 8; n++) o_frag[i][n] += p_j[i] * v_j[n];
        }
        // The barrier at the top of the next tile also keeps s_smem until all lanes have read it.
    }

    // ---- epilogue: O = O / l, LSE = log(l) + max; a row that saw no key gives 0 and -inf
    float l_inv[4];
    for (int i = 0; i < 4; i++) {
        for (int lanes = 1; lanes < 8; lanes *= 2)
            l_frag[i] += __shfl_xor_sync(~0u, l_frag[i], lanes);
        l_inv[i] = l_frag[i] > 0 ? 1 / l_frag[i] : 0;
        int row = q0 + row0 + 4 * i;
        if (col0 == 0 && row < args.seqlen_q) lse[row] = (m_frag[i] + lg2(l_frag[i])) * LN_2;
    }
    for (int i = 0; i < 4; i++) {
        int row = q0 + row0 + 4 * i;
        if (row >= args.seqlen_q) continue;
        for (int n = 0; n < DIM / 8; n++)
            if (col0 + 8 * n < args.head_dim)
                o[row * args.o_stride.row + col0 + 8 * n] = __float2half(o_frag[i][n] * l_inv[i]);
    }
}
