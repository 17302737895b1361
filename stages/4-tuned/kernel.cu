/* Stage 4: both products on mma.sync, with S and P kept in registers and K and V fetched ahead.
 *
 * A CTA computes BQ rows of O for one head. It walks over K and V in tiles of BKV keys and never
 * holds more of S than one tile: what softmax needs of earlier tiles is a maximum and a sum a row.
 *
 *                      DIM                        BKV                       DIM
 *              +---------------+            +---------------+       +---------------+
 *   warp 0, 32 |               |            |               |       |               |
 *   warp 1, 32 |       Q       |  x  K^T =  |   S, then P   |  x V  |       O       |
 *   warp 2, 32 |               |            |               |       |               |
 *   warp 3, 32 |               |            |               |       |               |
 *              +---------------+            +---------------+       +---------------+
 *
 * A warp owns M16 (1 or 2) blocks of 16 rows of all three; K and V fragments serve both blocks. The
 * tensor cores fix which lane holds what. C and D of mma m16n8k16, fp32, T = lane, i = array index:
 *
 *     col     0 1   2 3   4 5   6 7
 *   row  0    T0    T1    T2    T3        i = 0,1       row = lane / 4 + i / 2 * 8
 *   row  1    T4    T5    T6    T7                      col = lane % 4 * 2 + i % 2
 *   row  8    T0    T1    T2    T3        i = 2,3
 * A row lives in 4 neighbouring lanes, so a row maximum is 2 shuffles: xor 1 and 2.
 *
 * A of the same instruction, fp16 pairs, is two such blocks side by side:
 *
 *     col     0 1   2 3   4 5   6 7  |  8 9   ...
 *   row  0    T0    T1    T2    T3   |  T0        i = 0  |  i = 2
 *   row  8    T0    T1    T2    T3   |  T0        i = 1  |  i = 3
 * So two neighbouring 16x8 blocks of S, rounded to fp16, are the A operand of P V: nothing moves.
 *
 * Shared memory: rows of DIM fp16, cut into 16-byte chunks; chunk c of row r lies at place c ^ (r % 8)
 * of its 128 bytes (with DIM 32 and 96 at c ^ (r / 2 % 4) of its 64), so that 8 rows of one column of
 * chunks, which is what ldmatrix reads at once, lie in 8 different groups of 4 banks:
 *
 *   DIM 64    place 0  1  2  3  4  5  6  7        DIM 32    place 0  1  2  3 | 4  5  6  7
 *   row 0           0  1  2  3  4  5  6  7        row 0, 1        0  1  2  3 | 0  1  2  3
 *   row 1           1  0  3  2  5  4  7  6        row 2, 3        1  0  3  2 | 1  0  3  2
 *   row 2           2  3  0  1  6  7  4  5        row 4, 5        2  3  0  1 | 2  3  0  1
 *
 * Memory plan, bytes: q_smem [BQ][DIM], k_smem and v_smem [STAGES][BKV][DIM]; see tile.h. */
#include "attention_args.h"
#include "ptx.cuh"
#include "tile.h"

constexpr struct tile TILE = tile_of(DIM);
constexpr int BQ = TILE.bq, BKV = TILE.bkv, WARPS = TILE.warps, STAGES = TILE.stages;
constexpr bool Q_IN_REGISTERS = TILE.q_in_registers;
constexpr int THREADS = 32 * WARPS;
constexpr float LN_2 = 0.69314718f;
constexpr int M16 = BQ / WARPS / 16;            // 16-row blocks of a warp
constexpr int ROW_BYTES = 2 * DIM;              // of a shared row
constexpr int KV_BYTES = BKV * ROW_BYTES;       // of a shared tile of K or V
constexpr int SWIZZLE = DIM % 64 == 0 ? 8 : 4;  // chunks that change places among themselves
constexpr int ROWS_AT_ONCE = THREADS / SWIZZLE; // rows that the CTA copies with one instruction
static_assert(BQ % (16 * WARPS) == 0, "a warp owns whole 16-row blocks");
static_assert(BQ % ROWS_AT_ONCE == 0 && BKV % ROWS_AT_ONCE == 0, "no copy is left over for some");
static_assert(BKV % 16 == 0 && DIM % 32 == 0, "S and O are cut into 16x16 blocks");

// Byte offset of a chunk in a tile.
static __device__ __forceinline__ int swizzled(int row, int chunk) {
    return row * ROW_BYTES + (chunk ^ (SWIZZLE == 8 ? row % 8 : row / 2 % 4)) * 16;
}

// The address `chunk` chunks after `base`, which is the address of chunk 0 or 1; `chunk` is even.
static __device__ __forceinline__ uint32_t right(uint32_t base, int chunk) {
    return (base ^ chunk % SWIZZLE * 16) + chunk / SWIZZLE * SWIZZLE * 16;
}

// Starts to copy n_rows rows into smem; what is missing of [ROWS][DIM] becomes zero. gmem is the first
// chunk that this thread copies: of row tid / SWIZZLE, chunk tid % SWIZZLE.
template <int ROWS>
static __device__ void load_tile(unsigned char *smem, const half *gmem, int64_t row_stride,
                                 int n_rows) {
    const int row0 = threadIdx.x / SWIZZLE;
    smem += swizzled(row0, threadIdx.x % SWIZZLE);
#pragma unroll
    for (int row = 0; row < ROWS; row += ROWS_AT_ONCE) {
#pragma unroll
        for (int c = 0; c < DIM / 8; c += SWIZZLE) // these steps keep a chunk's place: row % 8 is the same
            cp_async_16(smem + row * ROW_BYTES + c * 16, gmem + c * 8, row0 + row < n_rows ? 16 : 0);
        gmem += ROWS_AT_ONCE * row_stride;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, TILE.ctas)
    attention(const __grid_constant__ struct attention_args args,
              const __grid_constant__ struct split_args split) {
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, group = lane / 4;
    const int n_heads = args.batch * args.heads;
    const int n_q_tiles = (args.seqlen_q + BQ - 1) / BQ;
    // Without a mask, the tiles of one head run together and share its K and V in L2. With one, all
    // heads' last tiles, which see most keys, run first, and the short ones fill the gaps at the end.
    const int bh = args.causal ? blockIdx.x % n_heads : blockIdx.x / n_q_tiles;
    const int q_tile = args.causal ? n_q_tiles - 1 - blockIdx.x / n_heads : blockIdx.x % n_q_tiles;
    const int q0 = q_tile * BQ;
    const int row0 = warp * 16 * M16 + group; // + 16 * m + 8 * r: this thread's rows
    const int b = bh / args.heads, h = bh % args.heads;
    const int kv_h = h / (args.heads / args.kv_heads);
    // This head's matrices, q (seqlen_q, head_dim), k and v (seqlen_k, head_dim): the chunk that this
    // thread copies first.
    const int copy_row = tid / SWIZZLE, copy_d = tid % SWIZZLE * 8;
    const half *q = args.q + b * args.q_stride.batch + h * args.q_stride.head +
                    (q0 + copy_row) * args.q_stride.row + copy_d;
    const half *k = args.k + b * args.k_stride.batch + kv_h * args.k_stride.head +
                    copy_row * args.k_stride.row + copy_d;
    const half *v = args.v + b * args.v_stride.batch + kv_h * args.v_stride.head +
                    copy_row * args.v_stride.row + copy_d;

    extern __shared__ __align__(1024) unsigned char smem[];
    unsigned char *q_smem = smem, *k_smem = q_smem + BQ * ROW_BYTES;
    unsigned char *v_smem = k_smem + STAGES * KV_BYTES;
    // Where this lane points ldmatrix: lane i names row i % 8 of the i / 8-th of four 8x8 matrices.
    //     Q and V  0 2      K  0 1     (V is read transposed, and K is K^T's transpose)
    //              1 3         2 3
    const uint32_t q_lane = smem_address(q_smem) + swizzled(warp * 16 * M16 + lane % 16, lane / 16);
    const uint32_t k_lane = smem_address(k_smem) + swizzled(lane / 16 * 8 + lane % 8, lane / 8 % 2);
    const uint32_t v_lane = smem_address(v_smem) + swizzled(lane % 16, lane / 16);

    float o_frag[M16][DIM / 8][4] = {};        // O, not yet divided by the row sums
    float m_frag[M16][2], l_frag[M16][2] = {}; // row maxima of S; sums of this thread's columns of P
    uint32_t q_frag[M16][Q_IN_REGISTERS ? DIM / 16 : 1][4];
    for (int m = 0; m < M16; m++) m_frag[m][0] = m_frag[m][1] = -INFINITY;

    // ---- load Q
    load_tile<BQ>(q_smem, q, args.q_stride.row, args.seqlen_q - q0);

    // ---- for each KV tile that the last row of this CTA can see, of this CTA's share; right to left
    int kv_end = args.seqlen_k;
    if (args.causal) kv_end = max(0, min(kv_end, q0 + BQ + args.diagonal));
    const int n_tiles = (kv_end + BKV - 1) / BKV;
    const int share = (n_tiles + split.n_splits - 1) / split.n_splits;
    const int tile0 = min(n_tiles, (int)blockIdx.y * share), tile1 = min(n_tiles, tile0 + share);
    k += (int64_t)(tile1 - 1) * BKV * args.k_stride.row;
    v += (int64_t)(tile1 - 1) * BKV * args.v_stride.row;
    for (int i = 1 - STAGES; i < tile1 - tile0; i++) {
        const int kv0 = (tile1 - 1 - i) * BKV; // i < 0: nothing to compute yet, the ring is filled

        // ---- load K, V: tile i has come, tile i + STAGES - 1 is sent for
        cp_async_wait<STAGES - 2>(); // this thread's copies of tile i (and Q) have landed
        __syncthreads(); // so have all others'; and all warps have read tile i - 1, whose slot is next
        if (i + STAGES - 1 < tile1 - tile0) {
            const int slot = (i + STAGES - 1) % STAGES * KV_BYTES;
            const int n_rows = args.seqlen_k - kv0 + (STAGES - 1) * BKV;
            load_tile<BKV>(k_smem + slot, k, args.k_stride.row, n_rows);
            load_tile<BKV>(v_smem + slot, v, args.v_stride.row, n_rows);
            k -= BKV * args.k_stride.row;
            v -= BKV * args.v_stride.row;
        }
        cp_async_commit(); // one group a tile, even if it is empty, keeps the count of the wait right
        if (i < 0) continue;
        const int slot = i % STAGES * KV_BYTES;

        // ---- S = Q K^T
        float s_frag[M16][BKV / 8][4] = {};
#pragma unroll
        for (int d = 0; d < DIM / 16; d++) {
            const int dq = Q_IN_REGISTERS ? d : 0;
#pragma unroll
            for (int m = 0; m < M16; m++)
                if (!Q_IN_REGISTERS || i == 0)
                    ldmatrix_x4(q_frag[m][dq], right(q_lane, 2 * d) + m * 16 * ROW_BYTES);
#pragma unroll
            for (int n = 0; n < BKV / 16; n++) {
                uint32_t k_frag[4]; // 16 keys, 16 elements of d
                ldmatrix_x4(k_frag, right(k_lane + slot, 2 * d) + n * 16 * ROW_BYTES);
#pragma unroll
                for (int m = 0; m < M16; m++) {
                    mma_m16n8k16(s_frag[m][2 * n], q_frag[m][dq], k_frag[0], k_frag[1]);
                    mma_m16n8k16(s_frag[m][2 * n + 1], q_frag[m][dq], k_frag[2], k_frag[3]);
                }
            }
        }

        // ---- mask, if this tile reaches past what the warp's first row may see
        int n_visible = args.seqlen_k - kv0; // columns of this tile that exist
        if (args.causal) n_visible = min(n_visible, q0 + row0 - group + args.diagonal + 1 - kv0);
        if (n_visible < BKV) {
#pragma unroll
            for (int m = 0; m < M16; m++)
#pragma unroll
                for (int r = 0; r < 2; r++) {
                    const int row = q0 + row0 + 16 * m + 8 * r;
                    n_visible = args.seqlen_k - kv0;
                    if (args.causal) n_visible = min(n_visible, row + args.diagonal + 1 - kv0);
#pragma unroll
                    for (int n = 0; n < BKV / 8; n++)
#pragma unroll
                        for (int c = 0; c < 2; c++)
                            if (n * 8 + lane % 4 * 2 + c >= n_visible)
                                s_frag[m][n][2 * r + c] = -INFINITY;
                }
        }

        // ---- softmax: P = 2^(S - max); what earlier tiles gave was for a lower max, so it shrinks
        uint32_t p_frag[M16][BKV / 16][4];
#pragma unroll
        for (int m = 0; m < M16; m++)
#pragma unroll
            for (int r = 0; r < 2; r++) {
                float m_new = m_frag[m][r];
#pragma unroll
                for (int n = 0; n < BKV / 8; n++)
                    m_new = fmaxf(m_new, fmaxf(s_frag[m][n][2 * r], s_frag[m][n][2 * r + 1]));
                m_new = fmaxf(m_new, __shfl_xor_sync(~0u, m_new, 1));
                m_new = fmaxf(m_new, __shfl_xor_sync(~0u, m_new, 2));
                // no key seen yet: 2^(-inf - 0) = 0
                const float base = m_new == -INFINITY ? 0 : m_new * args.scale_log2;
                const float alpha = ex2(m_frag[m][r] * args.scale_log2 - base);
                m_frag[m][r] = m_new;
                l_frag[m][r] *= alpha;
#pragma unroll
                for (int n = 0; n < BKV / 8; n++) { // scale and subtraction are one FFMA
                    const float p0 = ex2(s_frag[m][n][2 * r] * args.scale_log2 - base);
                    const float p1 = ex2(s_frag[m][n][2 * r + 1] * args.scale_log2 - base);
                    l_frag[m][r] += p0 + p1;
                    p_frag[m][n / 2][n % 2 * 2 + r] = cvt_f16x2(p0, p1);
                }
#pragma unroll
                for (int n = 0; n < DIM / 8; n++)
                    o_frag[m][n][2 * r] *= alpha, o_frag[m][n][2 * r + 1] *= alpha;
            }

        // ---- O += P V
#pragma unroll
        for (int j = 0; j < BKV / 16; j++)
#pragma unroll
            for (int n = 0; n < DIM / 16; n++) {
                uint32_t v_frag[4]; // 16 keys, 16 elements of d
                ldmatrix_x4_trans(v_frag, right(v_lane + slot, 2 * n) + j * 16 * ROW_BYTES);
#pragma unroll
                for (int m = 0; m < M16; m++) {
                    mma_m16n8k16(o_frag[m][2 * n], p_frag[m][j], v_frag[0], v_frag[1]);
                    mma_m16n8k16(o_frag[m][2 * n + 1], p_frag[m][j], v_frag[2], v_frag[3]);
                }
            }
    }

    // ---- epilogue: O = O / l, LSE = log(l) + max; a row that saw no key gives 0 and -inf
    cp_async_wait<0>(); // without a tile to wait for, this thread's copies of Q may still be under way
    __syncthreads();    // nor are others'; from here on q_smem belongs to O
    const int64_t lse_row = (int64_t)blockIdx.y * n_heads * args.seqlen_q + (int64_t)bh * args.seqlen_q;
#pragma unroll
    for (int m = 0; m < M16; m++)
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int row = row0 + 16 * m + 8 * r;
            float l = l_frag[m][r];
            l += __shfl_xor_sync(~0u, l, 1); // the only time that the four parts of a row's sum meet
            l += __shfl_xor_sync(~0u, l, 2);
            const float l_inv = l > 0 ? __fdividef(1, l) : 0;
            const float lse = m_frag[m][r] * args.scale_log2 + lg2(l);
            const bool exists = q0 + row < args.seqlen_q;
            if (exists && lane % 4 == 0) {
                if (split.n_splits > 1) split.lse[lse_row + q0 + row] = lse;
                else args.lse[lse_row + q0 + row] = lse * LN_2;
            }
#pragma unroll
            for (int n = 0; n < DIM / 8; n++) {
                const float o0 = o_frag[m][n][2 * r] * l_inv, o1 = o_frag[m][n][2 * r + 1] * l_inv;
                if (split.n_splits == 1)
                    *(uint32_t *)(q_smem + swizzled(row, n) + lane % 4 * 4) = cvt_f16x2(o0, o1);
                else if (exists)
                    *(float2 *)&split.o[(lse_row + q0 + row) * DIM + n * 8 + lane % 4 * 2] =
                        make_float2(o0, o1);
            }
        }
    if (split.n_splits > 1) return;
    // O took the place of this warp's own rows of q_smem; from there it leaves 16 bytes a lane.
    __syncwarp(); // all lanes have written their part of the warp's rows; any lane may read them
    half *o = args.o + b * args.o_stride.batch + h * args.o_stride.head;
    for (int i = lane; i < 16 * M16 * DIM / 8; i += 32) {
        const int row = warp * 16 * M16 + i / (DIM / 8), chunk = i % (DIM / 8);
        if (q0 + row < args.seqlen_q)
            *(uint4 *)(o + (q0 + row) * args.o_stride.row + chunk * 8) =
                *(const uint4 *)(q_smem + swizzled(row, chunk));
    }
}

// Weighs the parts of O together: O = sum over s of 2^(lse_s - lse) O_s. A warp takes a row.
extern "C" __global__ void __launch_bounds__(COMBINE_THREADS)
    combine(const __grid_constant__ struct attention_args args,
            const __grid_constant__ struct split_args split) {
    const int lane = threadIdx.x % 32;
    const int64_t n_rows = (int64_t)args.batch * args.heads * args.seqlen_q;
    const int64_t row = (int64_t)blockIdx.x * (COMBINE_THREADS / 32) + threadIdx.x / 32;
    if (row >= n_rows) return;
    float m = -INFINITY, l = 0, o_frag[DIM / 32] = {};
    for (int s = 0; s < split.n_splits; s++) m = fmaxf(m, split.lse[s * n_rows + row]);
    const float base = m == -INFINITY ? 0 : m; // no split saw a key: 2^(-inf - 0) = 0
    for (int s = 0; s < split.n_splits; s++) {
        const float weight = ex2(split.lse[s * n_rows + row] - base);
        l += weight;
        for (int i = 0; i < DIM / 32; i++)
            o_frag[i] += weight * split.o[(s * n_rows + row) * DIM + i * 32 + lane];
    }
    const float l_inv = l > 0 ? __fdividef(1, l) : 0;
    const int64_t b = row / args.seqlen_q / args.heads, h = row / args.seqlen_q % args.heads;
    half *o = args.o + b * args.o_stride.batch + h * args.o_stride.head +
              row % args.seqlen_q * args.o_stride.row;
    for (int i = 0; i < DIM / 32; i++) o[i * 32 + lane] = __float2half(o_frag[i] * l_inv);
    if (lane == 0) args.lse[row] = (m + lg2(l)) * LN_2;
}
