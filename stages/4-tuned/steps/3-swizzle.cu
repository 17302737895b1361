/* Step 3: no padding; the 16-byte chunks of a row change places, for ldmatrix and cp.async alike.
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
 * Shared memory (bytes: tile.h):
 *   q_smem [BQ][DIM] fp16, in the end O     k_smem [STAGES][BKV][DIM] fp16     v_smem, the same
 *
 * BEGIN SOLUTION lab-4
 * Chunk c of row r, 16 bytes, lies at place c ^ (r % 8) of its 128 bytes. So the 8 rows of a chunk
 * column, which ldmatrix reads at once, lie in 8 different groups of 4 banks; and a row begins with
 * a sector of 32 bytes, which is what cp.async moves, so that none is split.
 *
 *   place   0  1  2  3  4  5  6  7
 *   row 0   0  1  2  3  4  5  6  7
 *   row 1   1  0  3  2  5  4  7  6
 *   row 2   2  3  0  1  6  7  4  5
 *
 * END SOLUTION
 *   copy     Q K0 V0 | K1 V1 -> 1 | K2 V2 -> 0 | K3 V3 -> 1
 *   compute          |   tile 0   |   tile 1   |   tile 2          | = wait and barrier */
#include "common/cuda/attention_args.h"
#include "common/cuda/ptx.cuh"
#include "stages/4-tuned/steps.h"

constexpr struct tile TILE = step_tile(3, DIM);
constexpr int BQ = TILE.bq, BKV = TILE.bkv, WARPS = TILE.warps, STAGES = TILE.stages;
constexpr int THREADS = 32 * WARPS;
constexpr int ROW_BYTES = 2 * DIM;        // of a shared row
constexpr int KV_BYTES = BKV * ROW_BYTES; // of a shared tile of K or V
static_assert(BQ == 16 * WARPS, "a warp owns 16 rows");
static_assert(DIM % 64 == 0 && BKV % 16 == 0, "S and its sum over DIM are cut into 16x16 blocks");

// Byte offset of a chunk in a tile.
static __device__ __forceinline__ int swizzled(int row, int chunk) {
    int place = chunk;
    // BEGIN SOLUTION lab-4: the place of this chunk, such that the 8 rows of a column never collide
    place = chunk ^ row % 8;
    // END SOLUTION
    return row * ROW_BYTES + place * 16;
}

// The address `chunk` chunks after `base`, which is the address of chunk 0 or 1; `chunk` is even.
static __device__ __forceinline__ uint32_t right(uint32_t base, int chunk) {
    uint32_t address = base;
    // BEGIN SOLUTION lab-4: without the row: it is in base already
    address = (base ^ chunk % 8 * 16) + chunk / 8 * 128;
    // END SOLUTION
    return address;
}

// Starts to copy n_rows rows into smem; what is missing of [rows][DIM] becomes zero.
static __device__ void load_tile(unsigned char *smem, int rows, const half *gmem,
                                 int64_t row_stride, int n_rows) {
#pragma unroll 2 // unrolled whole, its addresses would spill
    for (int i = threadIdx.x; i < rows * DIM / 8; i += THREADS) { // 16 bytes a thread
        int row = i / (DIM / 8), chunk = i % (DIM / 8);
        cp_async_16(smem + swizzled(row, chunk), gmem + row * row_stride + chunk * 8,
                    row < n_rows ? 16 : 0);
    }
}

// S for the n-th 16 keys.
static __device__ __forceinline__ void
multiply_q_k(float (&s_frag)[2][4], const uint32_t (&q_frag)[DIM / 16][4], uint32_t k_lane, int n) {
#pragma unroll
    for (int e = 0; e < 8; e++) s_frag[e / 4][e % 4] = 0;
#pragma unroll
    for (int d = 0; d < DIM / 16; d++) {
        uint32_t k_frag[4]; // 16 keys, 16 elements of d
        ldmatrix_x4(k_frag, right(k_lane, 2 * d) + n * 16 * ROW_BYTES);
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
    const int row0 = warp * 16 + group; // + 8 * r: this thread's rows
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

    extern __shared__ __align__(1024) unsigned char smem[];
    unsigned char *q_smem = smem;
    unsigned char *k_smem = q_smem + BQ * ROW_BYTES;
    unsigned char *v_smem = k_smem + STAGES * KV_BYTES;
    // Where this lane points ldmatrix: lane i names row i % 8 of the i / 8-th of four 8x8 matrices.
    //     Q and V  0 2      K  0 1     (V is read transposed)
    //              1 3         2 3
    const uint32_t q_lane = smem_address(q_smem) + swizzled(warp * 16 + lane % 16, lane / 16);
    const uint32_t k_lane = smem_address(k_smem) + swizzled(lane / 16 * 8 + lane % 8, lane / 8 % 2);
    const uint32_t v_lane = smem_address(v_smem) + swizzled(lane % 16, lane / 16);

    float o_frag[DIM / 8][4] = {};            // O, not yet divided by the row sums
    float m_frag[2] = {-INFINITY, -INFINITY}; // row maxima of scaled scores
    float l_frag[2] = {};                     // sums of this thread's columns of P

    // ---- load Q, and start with the first K, V
    load_tile(q_smem, BQ, q + q0 * args.q_stride.row, args.q_stride.row, args.seqlen_q - q0);
    cp_async_commit();
    if (kv_end > 0) {
        load_tile(k_smem, BKV, k, args.k_stride.row, args.seqlen_k);
        load_tile(v_smem, BKV, v, args.v_stride.row, args.seqlen_k);
    }
    cp_async_commit();
    cp_async_wait<1>(); // this thread's part of Q has landed
    __syncthreads();    // all threads' parts have; warps read rows that others copied
    uint32_t q_frag[DIM / 16][4];
#pragma unroll
    for (int d = 0; d < DIM / 16; d++) ldmatrix_x4(q_frag[d], right(q_lane, 2 * d));

    // ---- for each KV tile
    for (int kv0 = 0; kv0 < kv_end; kv0 += BKV) {

        // ---- load K, V
        const int stage = kv0 / BKV % STAGES, slot = stage * KV_BYTES, next = kv0 + BKV;
        cp_async_wait<0>(); // this thread's part of the tile has landed
        __syncthreads();    // all threads' parts have; all warps have read the other buffers
        if (next < kv_end) {
            load_tile(k_smem + (stage ^ 1) * KV_BYTES, BKV, k + next * args.k_stride.row,
                      args.k_stride.row, args.seqlen_k - next);
            load_tile(v_smem + (stage ^ 1) * KV_BYTES, BKV, v + next * args.v_stride.row,
                      args.v_stride.row, args.seqlen_k - next);
            cp_async_commit();
        }

        // ---- S = Q K^T
        float s_frag[BKV / 16][2][4];
#pragma unroll
        for (int n = 0; n < BKV / 16; n++) multiply_q_k(s_frag[n], q_frag, k_lane + slot, n);

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
                // BEGIN SOLUTION lab-4: this pair's place in P as an A operand: see the pictures
                p_frag[n / 2][n % 2 * 2 + r] = cvt_f16x2(p0, p1);
                // END SOLUTION
            }
        }

        // ---- O += P V
        // BEGIN SOLUTION lab-4: for 16 keys and 16 columns each: one ldmatrix of V, two products
#pragma unroll
        for (int j = 0; j < BKV / 16; j++)
#pragma unroll
            for (int n = 0; n < DIM / 16; n++) {
                uint32_t v_frag[4]; // 16 keys, 16 elements of d
                ldmatrix_x4_trans(v_frag, right(v_lane + slot, 2 * n) + j * 16 * ROW_BYTES);
                mma_m16n8k16(o_frag[2 * n], p_frag[j], v_frag[0], v_frag[1]);
                mma_m16n8k16(o_frag[2 * n + 1], p_frag[j], v_frag[2], v_frag[3]);
            }
        // END SOLUTION
    }

    // ---- epilogue: O = O / l, LSE = log(l) + max; a row that saw no key gives 0 and -inf
#pragma unroll
    for (int r = 0; r < 2; r++) {
        l_frag[r] += __shfl_xor_sync(~0u, l_frag[r], 1); // only here do the four parts
        l_frag[r] += __shfl_xor_sync(~0u, l_frag[r], 2); // of a row's sum meet
    }
    __syncwarp(); // all lanes have read this warp's rows of Q; O may take their place
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int row = row0 + 8 * r;
        const float l = l_frag[r], l_inv = l > 0 ? __fdividef(1, l) : 0;
        if (q0 + row < args.seqlen_q && lane % 4 == 0) lse[q0 + row] = (m_frag[r] + lg2(l)) * LN_2;
#pragma unroll
        for (int n = 0; n < DIM / 8; n++)
            *(uint32_t *)(q_smem + swizzled(row, n) + lane % 4 * 4) =
                cvt_f16x2(o_frag[n][2 * r] * l_inv, o_frag[n][2 * r + 1] * l_inv);
    }
    __syncwarp(); // 32 lanes wrote this warp's rows; each may now read all of them
    for (int i = lane; i < 16 * DIM / 8; i += 32) { // 16 bytes a lane, whole rows
        const int row = warp * 16 + i / (DIM / 8), chunk = i % (DIM / 8);
        if (q0 + row < args.seqlen_q)
            *(uint4 *)(o + (q0 + row) * args.o_stride.row + chunk * 8) =
                *(const uint4 *)(q_smem + swizzled(row, chunk));
    }
}
