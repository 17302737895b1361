/* Step 7: copies of the next tile start between the products, where shared memory is idle, and at
 * DIM 128 a fragment of Q serves 32 keys.
 *
 *                      DIM                        BKV                       DIM
 *              +---------------+            +---------------+       +---------------+
 *   warp 0, 32 |               |            |               |       |               |
 *   warp 1, 32 |       Q       |  x  K^T =  |   S, then P   |  x V  |       O       |
 *   warp 2, 32 |               |            |               |       |               |
 *   warp 3, 32 |               |            |               |       |               |
 *              +---------------+            +---------------+       +---------------+
 *
 * A warp owns M16 = 2 blocks of 16 rows of all three; each fragment of K and V that it reads serves
 * both. mma.sync m16n8k16 fixes what a lane holds. C and D, fp32:
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
 * Shared memory (bytes: tile.h, places in a row: swizzle.cuh):
 *   q_smem [BQ][DIM] fp16, in the end O     k_smem [STAGES][BKV][DIM] fp16     v_smem, the same
 *
 *   copy     Q K0 V0 | K1 V1 -> 1 | K2 V2 -> 0 | K3 V3 -> 1
 *   compute          |   tile 0   |   tile 1   |   tile 2          | = wait and barrier
 *
 * Softmax needs a number near the row's maximum only to keep 2^x in range: any reference that is
 * not far below will do. So a tile is first computed quickly, against the old references, without
 * a maximum. Only if a sum shows that P has grown beyond what fp16 holds well, or if part of the
 * tile is hidden, is it computed again with a maximum. */
#include "common/cuda/attention_args.h"
#include "common/cuda/ptx.cuh"
#include "stages/4-tuned/steps.h"

constexpr struct tile TILE = step_tile(7, DIM);
constexpr int BQ = TILE.bq, BKV = TILE.bkv, WARPS = TILE.warps, STAGES = TILE.stages;
constexpr bool Q_IN_REGISTERS = TILE.q_in_registers;
constexpr int THREADS = 32 * WARPS;
constexpr int M16 = BQ / WARPS / 16;      // 16-row blocks of a warp
constexpr int ROW_BYTES = 2 * DIM;        // of a shared row
constexpr int KV_BYTES = BKV * ROW_BYTES; // of a shared tile of K or V
constexpr int Q_FRAGS = Q_IN_REGISTERS ? DIM / 16 : 1;
constexpr int AT_ONCE = Q_IN_REGISTERS || BKV % 32 ? 1 : 2; // 16-key blocks for a Q fragment
constexpr float HIGH = 1024;         // a lane's sum of P that asks for new references; fp16: 65504
constexpr float NO_KEY_YET = -1e30f; // a reference below all scores
static_assert(BQ % (16 * WARPS) == 0, "a warp owns whole 16-row blocks");
static_assert(BKV % 16 == 0 && DIM % 32 == 0, "S and O are cut into 16x16 blocks");
static_assert(STAGES >= 2, "a tile is computed while the next one is copied");

#include "stages/4-tuned/swizzle.cuh"

// Starts to copy tile t, if there is one: its n_rows keys at k and v, which go on to tile t + 1.
static __device__ __forceinline__ void load_kv(unsigned char *k_smem, unsigned char *v_smem,
                                               const half *&k, const half *&v,
                                               const struct attention_args &args, int t,
                                               int n_tiles, int n_rows) {
    if (t < n_tiles) {
        load_tile<BKV>(k_smem + t % STAGES * KV_BYTES, k, args.k_stride.row, n_rows);
        load_tile<BKV>(v_smem + t % STAGES * KV_BYTES, v, args.v_stride.row, n_rows);
        k -= BKV * args.k_stride.row;
        v -= BKV * args.v_stride.row;
    }
    cp_async_commit(); // an empty group, too, keeps the count of the wait right
}

// S for AT_ONCE times 16 keys from the n-th on: 2 * M16 * AT_ONCE independent sums.
static __device__ __forceinline__ void multiply_q_k(float (*s_frag)[M16][2][4],
                                                    uint32_t (&q_frag)[M16][Q_FRAGS][4],
                                                    uint32_t q_lane, uint32_t k_lane, int n) {
#pragma unroll
    for (int e = 0; e < AT_ONCE * M16 * 8; e++)
        s_frag[e / 8 / M16][e / 8 % M16][e / 4 % 2][e % 4] = 0;
#pragma unroll
    for (int d = 0; d < DIM / 16; d++) {
        if (!Q_IN_REGISTERS)
#pragma unroll
            for (int m = 0; m < M16; m++)
                ldmatrix_x4(q_frag[m][0], right(q_lane, 2 * d) + m * 16 * ROW_BYTES);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            uint32_t k_frag[4]; // 16 keys, 16 elements of d
            ldmatrix_x4(k_frag, right(k_lane, 2 * d) + (n + i) * 16 * ROW_BYTES);
#pragma unroll
            for (int m = 0; m < M16; m++) {
                const uint32_t(&q)[4] = q_frag[m][Q_IN_REGISTERS ? d : 0];
                mma_m16n8k16(s_frag[i][m][0], q, k_frag[0], k_frag[1]);
                mma_m16n8k16(s_frag[i][m][1], q, k_frag[2], k_frag[3]);
            }
        }
    }
}

// S, scaled; -inf where key kv0 + col does not exist or lies right of row row0 + row's diagonal.
static __device__ __forceinline__ void mask(float (&s_frag)[BKV / 16][M16][2][4],
                                            const struct attention_args &args, int row0, int kv0) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 4 * M16; i++) {
        const int m = i / 4, row = row0 + 16 * m + i % 4 / 2 * 8;
        int n_visible = args.seqlen_k - kv0; // columns of this tile that the row may see
        if (args.causal) n_visible = min(n_visible, row + args.diagonal + 1 - kv0);
#pragma unroll
        for (int n = 0; n < BKV / 8; n++) {
            float &s = s_frag[n / 2][m][n % 2][i % 4];
            s *= args.scale_log2;
            if (n * 8 + lane % 4 * 2 + i % 2 >= n_visible) s = -INFINITY;
        }
    }
}

// P = 2^(scale_log2 * S - ref) for the n-th 16 keys, one FFMA and one MUFU each; l += P.
static __device__ __forceinline__ void
exponentials(uint32_t (&p_frag)[M16][BKV / 16][4], int n, const float (&s_frag)[M16][2][4],
             float scale_log2, const float (&ref_frag)[M16][2], float (&l_frag)[M16][2]) {
#pragma unroll
    for (int m = 0; m < M16; m++)
#pragma unroll
        for (int c = 0; c < 2; c++)
#pragma unroll
            for (int r = 0; r < 2; r++) {
                const float p0 = ex2(s_frag[m][c][2 * r] * scale_log2 - ref_frag[m][r]);
                const float p1 = ex2(s_frag[m][c][2 * r + 1] * scale_log2 - ref_frag[m][r]);
                l_frag[m][r] += p0 + p1;
                p_frag[m][n][2 * c + r] = cvt_f16x2(p0, p1);
            }
}

// The references become the maxima; what earlier tiles gave was for lower ones, so it shrinks.
static __device__ __forceinline__ void
raise_references(float (&ref_frag)[M16][2], float (&l_frag)[M16][2],
                 float (&o_frag)[M16][DIM / 8][4], const float (&s_frag)[BKV / 16][M16][2][4]) {
#pragma unroll
    for (int i = 0; i < 2 * M16; i++) {
        const int m = i / 2, r = i % 2;
        float ref = ref_frag[m][r];
#pragma unroll
        for (int n = 0; n < BKV / 8; n++)
            ref = fmaxf(ref,
                        fmaxf(s_frag[n / 2][m][n % 2][2 * r], s_frag[n / 2][m][n % 2][2 * r + 1]));
        ref = fmaxf(ref, __shfl_xor_sync(~0u, ref, 1));
        ref = fmaxf(ref, __shfl_xor_sync(~0u, ref, 2));
        const float alpha = ex2(ref_frag[m][r] - ref);
        ref_frag[m][r] = ref;
        l_frag[m][r] *= alpha;
#pragma unroll
        for (int n = 0; n < DIM / 8; n++)
            o_frag[m][n][2 * r] *= alpha, o_frag[m][n][2 * r + 1] *= alpha;
    }
}

#include "stages/4-tuned/references.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, TILE.ctas)
    attention(const __grid_constant__ struct attention_args args) {
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, group = lane / 4;
    const int n_heads = args.batch * args.heads, n_q_tiles = (args.seqlen_q + BQ - 1) / BQ;
    // Without a mask, the tiles of one head run together and share its K and V in L2. With one,
    // all heads' last tiles, which see most keys, run first; short ones fill the gaps at the end.
    const int bh = args.causal ? blockIdx.x % n_heads : blockIdx.x / n_q_tiles;
    const int q_tile = args.causal ? n_q_tiles - 1 - blockIdx.x / n_heads : blockIdx.x % n_q_tiles;
    const int q0 = q_tile * BQ;
    const int row0 = q0 + warp * 16 * M16 + group; // + 16 * m + 8 * r: this thread's rows of Q
    const int b = bh / args.heads, h = bh % args.heads;
    const int kv_h = h / (args.heads / args.kv_heads);
    // This head's matrices, q (seqlen_q, head_dim), k and v (seqlen_k, head_dim): the chunk that
    // this thread copies first.
    const int copy_row = tid / SWIZZLE, copy_d = tid % SWIZZLE * 8;
    const half *q = args.q + b * args.q_stride.batch + h * args.q_stride.head +
                    (q0 + copy_row) * args.q_stride.row + copy_d;
    const half *k = args.k + b * args.k_stride.batch + kv_h * args.k_stride.head +
                    copy_row * args.k_stride.row + copy_d;
    const half *v = args.v + b * args.v_stride.batch + kv_h * args.v_stride.head +
                    copy_row * args.v_stride.row + copy_d;
    // The keys that the last row of this CTA can see, in tiles. They are walked from right to left,
    // so that masked tiles come first.
    int kv_end = args.seqlen_k;
    if (args.causal) kv_end = max(0, min(kv_end, q0 + BQ + args.diagonal));
    const int n_tiles = (kv_end + BKV - 1) / BKV;
    const int kv_last = (n_tiles - 1) * BKV; // first key of the rightmost tile
    k += kv_last * args.k_stride.row;
    v += kv_last * args.v_stride.row;

    extern __shared__ __align__(1024) unsigned char smem[];
    unsigned char *q_smem = smem;
    unsigned char *k_smem = q_smem + BQ * ROW_BYTES;
    unsigned char *v_smem = k_smem + STAGES * KV_BYTES;
    // Where this lane points ldmatrix: lane i names row i % 8 of the i / 8-th of four 8x8 matrices.
    //     Q and V  0 2      K  0 1     (V is read transposed)
    //              1 3         2 3
    uint32_t q_lane = smem_address(q_smem) + swizzled(warp * 16 * M16 + lane % 16, lane / 16);
    const uint32_t k_lane = smem_address(k_smem) + swizzled(lane / 16 * 8 + lane % 8, lane / 8 % 2);
    const uint32_t v_lane = smem_address(v_smem) + swizzled(lane % 16, lane / 16);

    uint32_t q_frag[M16][Q_FRAGS][4];
    float o_frag[M16][DIM / 8][4] = {}; // O, not yet divided by the row sums
    float ref_frag[M16][2];             // row references
    float l_frag[M16][2] = {};          // sums of this thread's columns of P
#pragma unroll
    for (int m = 0; m < M16; m++) ref_frag[m][0] = ref_frag[m][1] = NO_KEY_YET;

    // ---- load Q, and start with the first K, V
    load_tile<BQ>(q_smem, q, args.q_stride.row, args.seqlen_q - q0);
#pragma unroll
    for (int t = 0; t < STAGES - 1; t++)
        load_kv(k_smem, v_smem, k, v, args, t, n_tiles, args.seqlen_k - kv_last + t * BKV);
    cp_async_wait<0>(); // this thread's part of Q has landed
    __syncthreads();    // all threads' parts have; ldmatrix reads rows that others copied
    if (Q_IN_REGISTERS)
#pragma unroll
        for (int m = 0; m < M16; m++)
#pragma unroll
            for (int d = 0; d < Q_FRAGS; d++)
                ldmatrix_x4(q_frag[m][d], right(q_lane, 2 * d) + m * 16 * ROW_BYTES);

    // ---- for each KV tile
    bool no_ref = true; // with which to be quick: none yet, or one too far out (references.cuh)
    for (int t = 0; t < n_tiles; t++) {
        const int kv0 = kv_last - t * BKV;

        // ---- load K, V
        const int slot = t % STAGES * KV_BYTES;
        // What derives from q_lane is computed anew: registers are scarce.
        asm("" : "+r"(q_lane));
        cp_async_wait<STAGES - 2>(); // this thread's part of tile t has landed
        __syncthreads();             // all threads' parts have; all warps have read tile t - 1,
                                     // whose buffers are filled next

        // ---- S = Q K^T and softmax, quickly: P = 2^(S - ref), l += P
        int n_visible = args.seqlen_k - kv0; // columns that the warp's first row may see
        if (args.causal) n_visible = min(n_visible, row0 - group + args.diagonal + 1 - kv0);
        uint32_t p_frag[M16][BKV / 16][4];
        bool careful = no_ref || n_visible < BKV;
        if (!careful) {
            float s_frag[2][AT_ONCE][M16][2][4], l_tile[M16][2] = {};
#pragma unroll
            for (int n = 0; n <= BKV / 16; n += AT_ONCE) {
                const int i = n / AT_ONCE % 2;
                if (n < BKV / 16) multiply_q_k(s_frag[i], q_frag, q_lane, k_lane + slot, n);
                if (n > 0)
#pragma unroll
                    for (int j = 0; j < AT_ONCE; j++)
                        exponentials(p_frag, n - AT_ONCE + j, s_frag[1 - i][j], args.scale_log2,
                                     ref_frag, l_tile);
            }
            float l_all = 0;
#pragma unroll
            for (int i = 0; i < 2 * M16; i++) l_all += l_tile[i / 2][i % 2];
            careful = __any_sync(~0u, !(l_all <= HIGH)); // !(<=): NaN is high, too
            if (!careful)
#pragma unroll
                for (int i = 0; i < 2 * M16; i++) l_frag[i / 2][i % 2] += l_tile[i / 2][i % 2];
        }
        if (careful) {

            // ---- S = Q K^T
            float s_frag[BKV / 16][M16][2][4];
#pragma unroll
            for (int n = 0; n < BKV / 16; n += AT_ONCE)
                multiply_q_k(&s_frag[n], q_frag, q_lane, k_lane + slot, n);

            // ---- mask
            mask(s_frag, args, row0, kv0);

            // ---- softmax, with a maximum
            raise_references(ref_frag, l_frag, o_frag, s_frag);
#pragma unroll
            for (int n = 0; n < BKV / 16; n++)
                exponentials(p_frag, n, s_frag[n], 1, ref_frag, l_frag);
            no_ref = far_out(ref_frag);
        }

        // ---- load K, V of a later tile
        load_kv(k_smem, v_smem, k, v, args, t + STAGES - 1, n_tiles, BKV);

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

    // ---- epilogue: O = O / l, LSE = log(l) + ref; a row that saw no key gives 0 and -inf
#pragma unroll
    for (int i = 0; i < 2 * M16; i++) {
        float &l = l_frag[i / 2][i % 2];
        l += __shfl_xor_sync(~0u, l, 1); // only here do the four parts
        l += __shfl_xor_sync(~0u, l, 2); // of a row's sum meet
    }
    half *o = args.o + b * args.o_stride.batch + h * args.o_stride.head;
    __syncwarp(); // all lanes have read this warp's rows of Q; O may take their place
#pragma unroll
    for (int m = 0; m < M16; m++)
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int row = warp * 16 * M16 + group + 16 * m + 8 * r;
            const float l = l_frag[m][r], l_inv = l > 0 ? __fdividef(1, l) : 0;
            if (q0 + row < args.seqlen_q && lane % 4 == 0)
                args.lse[(int64_t)bh * args.seqlen_q + q0 + row] = (ref_frag[m][r] + lg2(l)) * LN_2;
#pragma unroll
            for (int n = 0; n < DIM / 8; n++)
                *(uint32_t *)(q_smem + swizzled(row, n) + lane % 4 * 4) =
                    cvt_f16x2(o_frag[m][n][2 * r] * l_inv, o_frag[m][n][2 * r + 1] * l_inv);
        }
    __syncwarp(); // 32 lanes wrote this warp's rows; each may now read all of them
    for (int i = lane; i < 16 * M16 * DIM / 8; i += 32) { // 16 bytes a lane, whole rows
        const int row = warp * 16 * M16 + i / (DIM / 8), chunk = i % (DIM / 8);
        if (q0 + row < args.seqlen_q)
            *(uint4 *)(o + (q0 + row) * args.o_stride.row + chunk * 8) =
                *(const uint4 *)(q_smem + swizzled(row, chunk));
    }
}
