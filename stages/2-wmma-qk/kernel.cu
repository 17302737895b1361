/* Stage 2: S = Q K^T moves to the tensor cores (WMMA, 16x16x16); P V stays scalar.
 *
 *                      DIM                        BKV                       DIM
 *              +---------------+            +---------------+       +---------------+
 *   warp 0, 16 |               |            |               |       |               |
 *   warp 1, 16 |       Q       |  x  K^T =  |   S, then P   |  x V  |       O       |
 *   warp 2, 16 |               |            |               |       |               |
 *   warp 3, 16 |               |            |               |       |               |
 *              +---------------+            +---------------+       +---------------+
 *
 * A warp computes its 16 rows of S as BKV / 16 squares, 16 x 16, each a sum of DIM / 16 products:
 *
 *     q_frag[d]: 16 rows x 16 of DIM, loaded once      k_frag: 16 of DIM x 16 keys
 *
 * The second operand is K^T, and K^T in columns is K in rows: k_smem read as col_major needs no
 * transpose. Which lane holds which element of a fragment is WMMA's secret, so S goes to s_smem;
 * from there on all is as in stage 1: a thread owns 4 rows and every 8th column of the stripe.
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
 * Shared memory, bytes (DIM 64 | 128):
 *   q_smem [BQ ][DIM + PAD] fp16    9216 | 17408
 *   k_smem [BKV][DIM + PAD] fp16    9216 | 17408
 *   v_smem [BKV][DIM + PAD] fp16    9216 | 17408
 *   s_smem [BQ ][BKV + PAD] fp32   18432 | 18432    in all 46080 | 70656
 *
 * PAD = 8: a row of k_smem is 144 bytes, 36 banks, so 8 rows of 16 bytes, which is what WMMA reads
 * at once, start in banks 0, 4, 8 ... 28. Without it all 8 start in bank 0 and take 8 turns. */
#include "common/cuda/attention_args.h"
#include "common/cuda/ptx.cuh"
#include "tile.h"

#include <mma.h>

using namespace nvcuda;

constexpr struct tile TILE = tile_of(DIM);
constexpr int BQ = TILE.bq, BKV = TILE.bkv, WARPS = TILE.warps, PAD = TILE.pad;
constexpr int THREADS = 32 * WARPS;
constexpr int LD = DIM + PAD;   // elements from one row of q_smem, k_smem, v_smem to the next
constexpr int S_LD = BKV + PAD; // the same of s_smem
static_assert(BQ == 16 * WARPS, "a warp owns one row of 16 x 16 squares");
static_assert(DIM % 16 == 0 && BKV % 16 == 0, "S and its sum over DIM are cut into squares");

// Copies n_rows rows into smem; what is missing of [rows][DIM] becomes zero.
static __device__ void load_tile(half (*smem)[LD], int rows, const half *gmem, int64_t row_stride,
                                 int n_rows) {
    for (int i = threadIdx.x; i < rows * DIM / 8; i += THREADS) { // 16 bytes a thread
        int row = i / (DIM / 8), d = i % (DIM / 8) * 8;
        uint4 eight = make_uint4(0, 0, 0, 0);
        if (row < n_rows) eight = *(const uint4 *)(gmem + row * row_stride + d);
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
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> q_frag[DIM / 16];
    load_tile(q_smem, BQ, q + q0 * args.q_stride.row, args.q_stride.row, args.seqlen_q - q0);
    // BEGIN SOLUTION lab-2: when q_smem is written, load the rows of this warp into its fragments
    __syncthreads(); // all threads have written q_smem; warps read rows that others wrote
    for (int d = 0; d < DIM / 16; d++)
        wmma::load_matrix_sync(q_frag[d], &q_smem[warp * 16][d * 16], LD);
    // END SOLUTION

    // ---- for each KV tile
    for (int kv0 = 0; kv0 < kv_end; kv0 += BKV) {

        // ---- load K, V
        __syncthreads(); // all warps have read the last k_smem and v_smem; they may be overwritten
        load_tile(k_smem, BKV, k + kv0 * args.k_stride.row, args.k_stride.row, args.seqlen_k - kv0);
        load_tile(v_smem, BKV, v + kv0 * args.v_stride.row, args.v_stride.row, args.seqlen_k - kv0);
        __syncthreads(); // k_smem and v_smem are written; any warp may read them

        // ---- S = Q K^T
        // BEGIN SOLUTION lab-2: this warp's 16 rows of S, in squares, into its stripe of s_smem
        for (int n = 0; n < BKV / 16; n++) {
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> s_acc;
            wmma::fill_fragment(s_acc, 0);
            for (int d = 0; d < DIM / 16; d++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> k_frag;
                wmma::load_matrix_sync(k_frag, &k_smem[n * 16][d * 16], LD);
                wmma::mma_sync(s_acc, q_frag[d], k_frag, s_acc);
            }
            wmma::store_matrix_sync(&s_smem[warp * 16][n * 16], s_acc, S_LD, wmma::mem_row_major);
        }
        __syncwarp(); // 32 lanes wrote this warp's stripe of s_smem; each may now read all of it
        // END SOLUTION
        float s_frag[4][BKV / 8];
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < BKV / 8; j++) s_frag[i][j] = s_smem[row0 + 4 * i][col0 + 8 * j];

        // ---- mask: key kv0 + col must exist and must not lie right of row q0 + row's diagonal
        for (int i = 0; i < 4; i++) {
            int row = q0 + row0 + 4 * i;
            int n_visible = args.seqlen_k - kv0; // columns of this tile that the row may see
            if (args.causal) n_visible = min(n_visible, row + args.diagonal + 1 - kv0);
            for (int j = 0; j < BKV / 8; j++) {
                s_frag[i][j] *= args.scale_log2;
                if (col0 + 8 * j >= n_visible) s_frag[i][j] = -INFINITY;
            }
        }

        // ---- softmax: P = 2^(S - max); what earlier tiles gave was for a lower max, so it shrinks
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
                s_smem[row0 + 4 * i][col0 + 8 * j] = p; // where this thread read S
            }
            for (int n = 0; n < DIM / 8; n++) o_frag[i][n] *= alpha;
        }
        __syncwarp(); // 32 lanes wrote this warp's stripe of s_smem; each may now read all of it

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
            o[row * args.o_stride.row + col0 + 8 * n] = __float2half(o_frag[i][n] * l_inv[i]);
    }
}
