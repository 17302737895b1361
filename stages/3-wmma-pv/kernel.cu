/* Stage 3: O += P V moves to the tensor cores too; K and V arrive while a tile is computed.
 *
 *                      DIM                        BKV                       DIM
 *              +---------------+            +---------------+       +---------------+
 *   warp 0, 16 |               |            |               |       |               |
 *   warp 1, 16 |       Q       |  x  K^T =  |   S, then P   |  x V  |       O       |
 *   warp 2, 16 |               |            |               |       |               |
 *   warp 3, 16 |               |            |               |       |               |
 *              +---------------+            +---------------+       +---------------+
 *
 * A warp computes its 16 rows of S as BKV / 16 squares, 16 x 16, each a sum of DIM / 16 products,
 * and its 16 rows of O as DIM / 16 squares, each a sum of BKV / 16 products a tile:
 *
 *     q_frag[d]: 16 rows x 16 of DIM, loaded once      k_frag: 16 of DIM x 16 keys
 *     p_frag:    16 rows x 16 keys                     v_frag: 16 keys x 16 of DIM
 *     o_frag[n]: 16 rows x 16 of DIM, fp32, stays in registers over all tiles
 *
 * Which lane holds which element of a fragment is WMMA's secret, so S goes through s_smem to
 * threads that know their rows, and P, rounded to fp16, goes back through p_smem;
 * in between all is as in stage 1: a thread owns 4 rows and every 8th column of the stripe.
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
 * O need not make that trip to be rescaled. Two fragments of one type have one layout, whatever it
 * is: the 16 x 16 matrix whose row r is all alpha[r], loaded as an accumulator, multiplies O
 * element by element. Read in columns with stride 0, alpha_smem is that matrix.
 *
 * Shared memory, bytes (DIM 64 | 128):
 *   k_smem [STAGES][BKV][DIM + PAD] fp16   18432 | 34816
 *   v_smem [STAGES][BKV][DIM + PAD] fp16   18432 | 34816
 *   s_smem [BQ][BKV + PAD]          fp32   18432 | 18432    each of its lives ends at a barrier:
 *     q_smem [BQ][DIM + PAD]        fp16    9216 | 17408      until Q is in fragments
 *     p_smem [16][BKV + PAD]        fp16    2304 |  2304      in a warp's own stripe, S being read
 *   alpha_smem [BQ]                 fp32     256 |   256    in all 55552 | 88320
 * At DIM 64 that is 4 CTAs on an SM of 228 KB (1 KB of it reserved for each CTA).
 *
 * K and V have two buffers each: tile t + 1 is copied by cp.async while tile t is computed.
 *
 *   copy     K0 V0 | K1 V1 -> 1 | K2 V2 -> 0 | K3 V3 -> 1
 *   compute        |   tile 0   |   tile 1   |   tile 2          | = wait and barrier */
#include "common/cuda/attention_args.h"
#include "common/cuda/ptx.cuh"
#include "tile.h"

#include <mma.h>

using namespace nvcuda;

constexpr struct tile TILE = tile_of(DIM);
constexpr int BQ = TILE.bq, BKV = TILE.bkv, WARPS = TILE.warps, STAGES = TILE.stages,
              PAD = TILE.pad;
constexpr int THREADS = 32 * WARPS;
constexpr int LD = DIM + PAD;   // elements from one row of q_smem, k_smem, v_smem to the next
constexpr int S_LD = BKV + PAD; // the same of s_smem
// At DIM 64 a thread may have 128 registers, for 4 CTAs an SM: all turns unrolled would spill.
constexpr int LOAD_UNROLL = DIM == 64 ? 1 : 4, PV_UNROLL = DIM == 64 ? 2 : 4;
static_assert(BQ == 16 * WARPS, "a warp owns one row of 16 x 16 squares");
static_assert(DIM % 16 == 0 && BKV % 16 == 0, "S and its sum over DIM are cut into squares");

// Starts to copy n_rows rows into smem; what is missing of [rows][DIM] becomes zero.
static __device__ void load_tile(half (*smem)[LD], int rows, const half *gmem, int64_t row_stride,
                                 int n_rows) {
#pragma unroll LOAD_UNROLL
    for (int i = threadIdx.x; i < rows * DIM / 8; i += THREADS) { // 16 bytes a thread
        int row = i / (DIM / 8), d = i % (DIM / 8) * 8;
        cp_async_16(&smem[row][d], gmem + row * row_stride + d, row < n_rows ? 16 : 0);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, TILE.ctas)
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
    half(*k_smem)[BKV][LD] = (half(*)[BKV][LD])smem;
    half(*v_smem)[BKV][LD] = k_smem + STAGES;
    float(*s_smem)[S_LD] = (float(*)[S_LD])(v_smem + STAGES);
    half(*q_smem)[LD] = (half(*)[LD])s_smem;
    half(*p_smem)[S_LD] = (half(*)[S_LD])s_smem[warp * 16];
    float *alpha_smem = (float *)(s_smem + BQ);

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> o_frag[DIM / 16]; // not yet divided by l
    for (int n = 0; n < DIM / 16; n++) wmma::fill_fragment(o_frag[n], 0);
    float m_frag[4], l_frag[4]; // row maxima of scaled scores; row sums of this thread's columns
    for (int i = 0; i < 4; i++) m_frag[i] = -INFINITY, l_frag[i] = 0;

    // ---- load Q, and start with the first K, V
    load_tile(q_smem, BQ, q + q0 * args.q_stride.row, args.q_stride.row, args.seqlen_q - q0);
    cp_async_commit();
    if (kv_end > 0) {
        load_tile(k_smem[0], BKV, k, args.k_stride.row, args.seqlen_k);
        load_tile(v_smem[0], BKV, v, args.v_stride.row, args.seqlen_k);
    }
    cp_async_commit();
    cp_async_wait<1>(); // this thread's part of Q has landed
    __syncthreads();    // all threads' parts have; warps read rows that others copied
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> q_frag[DIM / 16];
    for (int d = 0; d < DIM / 16; d++)
        wmma::load_matrix_sync(q_frag[d], &q_smem[warp * 16][d * 16], LD);
    __syncthreads(); // all warps have read q_smem; it may be overwritten as s_smem

    // ---- for each KV tile
    for (int kv0 = 0; kv0 < kv_end; kv0 += BKV) {

        // ---- load K, V
        const int stage = kv0 / BKV % STAGES, next = kv0 + BKV;
        // BEGIN SOLUTION lab-3: wait for this tile; start to copy the next where nobody reads
        cp_async_wait<0>(); // this thread's part of the tile has landed
        __syncthreads();    // all threads' parts have; all warps have read the other buffers
        if (next < kv_end) {
            load_tile(k_smem[stage ^ 1], BKV, k + next * args.k_stride.row, args.k_stride.row,
                      args.seqlen_k - next);
            load_tile(v_smem[stage ^ 1], BKV, v + next * args.v_stride.row, args.v_stride.row,
                      args.seqlen_k - next);
            cp_async_commit();
        }
        // END SOLUTION

        // ---- S = Q K^T
        for (int n = 0; n < BKV / 16; n++) {
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> s_acc;
            wmma::fill_fragment(s_acc, 0);
            for (int d = 0; d < DIM / 16; d++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> k_frag;
                wmma::load_matrix_sync(k_frag, &k_smem[stage][n * 16][d * 16], LD);
                wmma::mma_sync(s_acc, q_frag[d], k_frag, s_acc);
            }
            wmma::store_matrix_sync(&s_smem[warp * 16][n * 16], s_acc, S_LD, wmma::mem_row_major);
        }
        __syncwarp(); // 32 lanes wrote this warp's stripe of s_smem; each may now read all of it
        float s_frag[4][BKV / 8];
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < BKV / 8; j++) s_frag[i][j] = s_smem[row0 + 4 * i][col0 + 8 * j];
        __syncwarp(); // all lanes have read the stripe; it may be overwritten as p_smem

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
                p_smem[lane / 8 + 4 * i][col0 + 8 * j] = __float2half(p);
            }
            if (col0 == 0) alpha_smem[row0 + 4 * i] = alpha;
        }
        // BEGIN SOLUTION lab-3: shrink O by alpha, then add P V, P from p_smem, V from v_smem
        __syncwarp(); // 32 lanes wrote p_smem and alpha_smem; each may now read all of its warp's

        // ---- O += P V
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> alpha_frag;
        wmma::load_matrix_sync(alpha_frag, &alpha_smem[warp * 16], 0, wmma::mem_col_major);
        for (int n = 0; n < DIM / 16; n++)
            for (int e = 0; e < o_frag[n].num_elements; e++) o_frag[n].x[e] *= alpha_frag.x[e];
#pragma unroll PV_UNROLL
        for (int j = 0; j < BKV / 16; j++) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> p_frag;
            wmma::load_matrix_sync(p_frag, &p_smem[0][j * 16], S_LD);
            for (int n = 0; n < DIM / 16; n++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> v_frag;
                wmma::load_matrix_sync(v_frag, &v_smem[stage][j * 16][n * 16], LD);
                wmma::mma_sync(o_frag[n], p_frag, v_frag, o_frag[n]);
            }
        }
        // END SOLUTION
        // The barrier at the top of the next tile also keeps p_smem until all lanes have read it.
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
    for (int d0 = 0; d0 < DIM; d0 += BKV) { // as many columns as s_smem has
        __syncwarp(); // all lanes have read what this stripe held: P, or the last columns of O
        for (int n = 0; n < BKV / 16; n++)
            wmma::store_matrix_sync(&s_smem[warp * 16][n * 16], o_frag[d0 / 16 + n], S_LD,
                                    wmma::mem_row_major);
        __syncwarp(); // 32 lanes wrote this warp's stripe of s_smem; each may now read all of it
        for (int i = 0; i < 4; i++) {
            int row = q0 + row0 + 4 * i;
            if (row >= args.seqlen_q) continue;
            for (int n = 0; n < BKV / 8; n++)
                o[row * args.o_stride.row + d0 + col0 + 8 * n] =
                    __float2half(s_smem[row0 + 4 * i][col0 + 8 * n] * l_inv[i]);
        }
    }
}
