/* Step 2: ldmatrix.x4 loads four 8x8 blocks at once, and transposes those of V on the way.
 *
 *                      DIM                        BKV                       DIM
 *              +---------------+            +---------------+       +---------------+
 *   warp 0, 16 |               |            |               |       |               |
 *   warp 1, 16 |       Q       |  x  K^T =  |   S, then P   |  x V  |       O       |
 *   warp 2, 16 |               |            |               |       |               |
 *   warp 3, 16 |               |            |               |       |               |
 *              +---------------+            +---------------+       +---------------+
 *
 * A warp owns 16 rows of all three. mma.sync m16n8k16 fixes what a lane holds. C and D, fp32:
 *
 *     col     0 1   2 3   4 5   6 7         T = lane, i = array index
 *   row  0    T0    T1    T2    T3          i = 0,1       row = lane / 4 + i / 2 * 8
 *   row  1    T4    T5    T6    T7                        col = lane % 4 * 2 + i % 2
 *   row  8    T0    T1    T2    T3          i = 2,3
 * A row lives in 4 neighbouring lanes, so a row maximum is 2 shuffles: xor 1 and 2.
 *
 * A, 16 x 16 fp16, i = index of a pair, is two such blocks side by side:
 *
 *     col     0 1   2 3   4 5   6 7  |  8 9  ...
 *   row  0    T0    T1    T2    T3   |  T0         i = 0  |  i = 2
 *   row  8    T0    T1    T2    T3   |  T0         i = 1  |  i = 3
 * So two neighbouring blocks of S, rounded to fp16, are the A operand of P V: nothing moves.
 *
 * B, 16 x 8 fp16, is half of A transposed. ldmatrix gives every lane its pair of each 8x8 block, if
 * lane i points to row i % 8 of block i / 8, 16 bytes; .trans, its pair of the block's transpose.
 *
 *   blocks   Q and V  0 2      K  0 1     K^T and V are B: K, its rows being K^T's columns, comes
 *                     1 3         2 3     as it is, V is transposed
 *
 * Shared memory, bytes (DIM 64 | 128):
 *   k_smem [STAGES][BKV][DIM + PAD] fp16   18432 | 34816
 *   v_smem [STAGES][BKV][DIM + PAD] fp16   18432 | 34816
 *   q_smem [BQ][DIM + PAD]          fp16    9216 | 17408    in all 46080 | 87040
 *
 * Padding keeps loads free of bank conflicts, but not cp.async: every second row begins in the
 * middle of a sector (step 3).
 *
 * K and V have two buffers each: tile t + 1 is copied by cp.async while tile t is computed.
 *
 *   copy     K0 V0 | K1 V1 -> 1 | K2 V2 -> 0 | K3 V3 -> 1
 *   compute        |   tile 0   |   tile 1   |   tile 2          | = wait and barrier */
#include "common/cuda/attention_args.h"
#include "common/cuda/ptx.cuh"
#include "stages/4-tuned/steps.h"

constexpr struct tile TILE = step_tile(2, DIM);
constexpr int BQ = TILE.bq, BKV = TILE.bkv, WARPS = TILE.warps, STAGES = TILE.stages;
constexpr int THREADS = 32 * WARPS;
constexpr int LD = DIM + STEP_PAD; // elements from one row of q_smem, k_smem, v_smem to the next
static_assert(BQ == 16 * WARPS, "a warp owns 16 rows");
static_assert(DIM % 16 == 0 && BKV % 16 == 0, "S and its sum over DIM are cut into 16x16 blocks");

// Starts to copy n_rows rows into smem; what is missing of [rows][DIM] becomes zero.
static __device__ void load_tile(half (*smem)[LD], int rows, const half *gmem, int64_t row_stride,
                                 int n_rows) {
#pragma unroll 2 // unrolled whole, its addresses would spill
    for (int i = threadIdx.x; i < rows * DIM / 8; i += THREADS) { // 16 bytes a thread
        int row = i / (DIM / 8), d = i % (DIM / 8) * 8;
        cp_async_16(&smem[row][d], gmem + row * row_stride + d, row < n_rows ? 16 : 0);
    }
}

// S for the n-th 16 keys.
static __device__ __forceinline__ void multiply_q_k(float (&s_frag)[2][4],
                                                    const uint32_t (&q_frag)[DIM / 16][4],
                                                    const half (*k_smem)[LD], int n) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int e = 0; e < 8; e++) s_frag[e / 4][e % 4] = 0;
#pragma unroll
    for (int d = 0; d < DIM / 16; d++) {
        uint32_t k_frag[4]; // 16 keys, 16 elements of d
        ldmatrix_x4(
            k_frag,
            smem_address(&k_smem[n * 16 + lane / 16 * 8 + lane % 8][d * 16 + lane / 8 % 2 * 8]));
        mma_m16n8k16(s_frag[0], q_frag[d], k_frag[0], k_frag[1]);
        mma_m16n8k16(s_frag[1], q_frag[d], k_frag[2], k_frag[3]);
    }
}

// S, scaled; -inf where key kv0 + col does not exist or lies right of row row0 + row's diagonal.
static __device__ __forceinline__ void mask(float (&s_frag)[BKV / 16][2][4],
                                            const struct attention_args &args, int row0, int kv0) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int row = row0 + i / 2 * 8;
        int n_visible = args.seqlen_k - kv0; // columns of this tile that the row may see
        if (args.causal) n_visible = min(n_visible, row + args.diagonal + 1 - kv0);
#pragma unroll
        for (int n = 0; n < BKV / 8; n++) {
            float &s = s_frag[n / 2][n % 2][i];
            s *= args.scale_log2;
            if (n * 8 + lane % 4 * 2 + i % 2 >= n_visible) s = -INFINITY;
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, TILE.ctas)
    attention(const __grid_constant__ struct attention_args args) {
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, group = lane / 4;
    const int row0 = warp * 16 + group, col0 = lane % 4 * 2; // + 8 * r, + 8 * n
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

    extern __shared__ __align__(16) unsigned char smem[];
    half(*k_smem)[BKV][LD] = (half(*)[BKV][LD])smem;
    half(*v_smem)[BKV][LD] = k_smem + STAGES;
    half(*q_smem)[LD] = (half(*)[LD])(v_smem + STAGES);

    float o_frag[DIM / 8][4] = {};            // O, not yet divided by the row sums
    float m_frag[2] = {-INFINITY, -INFINITY}; // row maxima of scaled scores
    float l_frag[2] = {};                     // sums of this thread's columns of P

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
    uint32_t q_frag[DIM / 16][4];
#pragma unroll
    for (int d = 0; d < DIM / 16; d++)
        ldmatrix_x4(q_frag[d],
                    smem_address(&q_smem[warp * 16 + lane % 16][d * 16 + lane / 16 * 8]));

    // ---- for each KV tile
    for (int kv0 = 0; kv0 < kv_end; kv0 += BKV) {

        // ---- load K, V
        const int stage = kv0 / BKV % STAGES, next = kv0 + BKV;
        cp_async_wait<0>(); // this thread's part of the tile has landed
        __syncthreads();    // all threads' parts have; all warps have read the other buffers
        if (next < kv_end) {
            load_tile(k_smem[stage ^ 1], BKV, k + next * args.k_stride.row, args.k_stride.row,
                      args.seqlen_k - next);
            load_tile(v_smem[stage ^ 1], BKV, v + next * args.v_stride.row, args.v_stride.row,
                      args.seqlen_k - next);
            cp_async_commit();
        }

        // ---- S = Q K^T
        float s_frag[BKV / 16][2][4];
#pragma unroll
        for (int n = 0; n < BKV / 16; n++) multiply_q_k(s_frag[n], q_frag, k_smem[stage], n);

        // ---- mask
        mask(s_frag, args, q0 + row0, kv0);

        // ---- softmax: P = 2^(S - max); what earlier tiles gave was for a lower max, so it shrinks
        uint32_t p_frag[BKV / 16][4];
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float m_new = m_frag[r];
#pragma unroll
            for (int n = 0; n < BKV / 8; n++)
                m_new = fmaxf(m_new,
                              fmaxf(s_frag[n / 2][n % 2][2 * r], s_frag[n / 2][n % 2][2 * r + 1]));
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
                const float p0 = ex2(s_frag[n / 2][n % 2][2 * r] - base);
                const float p1 = ex2(s_frag[n / 2][n % 2][2 * r + 1] - base);
                l_frag[r] += p0 + p1;
                p_frag[n / 2][n % 2 * 2 + r] = cvt_f16x2(p0, p1);
            }
        }

        // ---- O += P V
#pragma unroll
        for (int j = 0; j < BKV / 16; j++)
#pragma unroll
            for (int n = 0; n < DIM / 16; n++) {
                uint32_t v_frag[4]; // 16 keys, 16 elements of d
                ldmatrix_x4_trans(
                    v_frag,
                    smem_address(&v_smem[stage][j * 16 + lane % 16][n * 16 + lane / 16 * 8]));
                mma_m16n8k16(o_frag[2 * n], p_frag[j], v_frag[0], v_frag[1]);
                mma_m16n8k16(o_frag[2 * n + 1], p_frag[j], v_frag[2], v_frag[3]);
            }
    }

    // ---- epilogue: O = O / l, LSE = log(l) + max; a row that saw no key gives 0 and -inf
#pragma unroll
    for (int r = 0; r < 2; r++) {
        l_frag[r] += __shfl_xor_sync(~0u, l_frag[r], 1); // only here do the four parts
        l_frag[r] += __shfl_xor_sync(~0u, l_frag[r], 2); // of a row's sum meet
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
