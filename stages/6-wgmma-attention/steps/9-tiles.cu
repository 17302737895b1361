/* Stage 6, rung 9: a warpgroup skips what it cannot see, and causal tiles lie accordingly.
 *
 *                      DIM                        BKV                       DIM
 *              +---------------+            +---------------+       +---------------+
 *  warpgroup 0 |               |            |               |       |               |
 *  warpgroup 1 |       Q       |  x  K^T =  |   S, then P   |  x V  |       O       |  64 rows each
 *  warpgroup 2 |               |            |               |       |               |
 *              +---------------+            +---------------+       +---------------+
 *
 * One thread of one more warpgroup, the producer, asks TMA for Q, K and V; the consumers compute.
 * Warpgroups take turns: one uses the tensor cores while the others do softmax, drawn as (-). A
 * turn [..] is S = Q K^T of the next KV tile and O += P V of this one; S is masked while P V runs.
 * In the line `tensor`, [  n  ] is a turn of warpgroup n, and SSS are the first products.
 *
 *   producer     K0 Q  K1 V0 K2 V1 K3 V2 ...      as slots of the rings become free
 *   warpgroup 0  [S0]--[S1 PV0]------[S2 PV1]------[S3 PV2]-----
 *   warpgroup 1     [S0]--   [S1 PV0]------[S2 PV1]------[S3 PV2]
 *   warpgroup 2        [S0]--      [S1 PV0]------[S2 PV1]------[S3
 *   tensor       SSS      [  0  ][  1  ][  2  ][  0  ][  1  ][  2  ]
 *
 * A tile's last turn also issues the first S of the next tile, so the pipeline does not drain.
 *
 * Warpgroups pass by KV tiles that only others can see (hidden.cuh). Causal tiles lie from the last
 * row of a head upwards, so that an incomplete one has the fewest keys; the longest come first, of
 * heads whose K and V fit in L2 together (schedule.cuh). Without a mask all keys are visible.
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
 * P = 2^(S scale - base), l = its row sum. P / l is the same for any base while P fits fp16, so the
 * base is the first KV tile's maximum. If a P exceeds 2^8, seldom, it rises to the maximum so far.
 * P is tested packed as fp16 pairs: a thread takes 16 maxima for 128 keys, not 64, no shuffles.
 *
 * Shared memory: pages of 64 elements, [rows][64] fp16, a row being one span of 128 bytes whose
 * eight 16-byte chunks TMA has exchanged by chunk ^= row % 8 (gmma_desc.h). Bytes, DIM 64 | 128:
 *   q_smem [WARPGROUPS][PAGES][64][64]   24576 |  49152
 *   k_smem [RING][PAGES][BKV][64]        32768 |  40960
 *   v_smem [RING][PAGES][BKV][64]        32768 |  40960    with 1024 to align: 91136 | 132096 */
#include "common/cuda/attention_args.h"
#include "common/cuda/ptx.cuh"
#include "common/cuda/ptx_sm90.cuh"
#include "tile.h"

constexpr struct tile TILE = step_tile_of(DIM, 9);
constexpr int BQ = TILE.bq, BKV = TILE.bkv, THREADS = TILE.threads;
constexpr int WARPGROUPS = TILE.warpgroups;            // that compute
constexpr int KEY_GROUPS = 1, ROW_GROUPS = WARPGROUPS; // all have all keys, and other rows
constexpr int RING = STAGES;                           // stages of K, and of V
constexpr int PAGES = DIM / 64;
constexpr bool SPLIT = false, PERSISTENT = true;           // what kernel.cu has as well
constexpr uint32_t Q_PAGE = 64 * 128, KV_PAGE = BKV * 128; // bytes
constexpr uint32_t Q_BYTES = PAGES * Q_PAGE;               // one warpgroup's Q
constexpr uint32_t KV_BYTES = PAGES * KV_PAGE;             // one stage

// Registers: a launch gives every thread 65536 / THREADS; the producer hands most of its own over.
constexpr int PRODUCER_REGISTERS = 32, CONSUMER_REGISTERS = 160;
static_assert(PRODUCER_REGISTERS + WARPGROUPS * CONSUMER_REGISTERS <=
                  65536 / THREADS / 8 * 8 * (WARPGROUPS + 1),
              "setmaxnreg.inc would wait for registers that the CTA does not have");
static_assert((ROW_GROUPS - 1) * 64 <= STAGES * BKV,
              "a warpgroup that skips more tiles than a ring has stages would wait for itself");

// Named barriers; 0 is __syncthreads.
enum { BAR_TURN = 1 };

// Consumer `warpgroup` may issue products; then the next one may. This barrier guards no data; it
// orders the warpgroups so that softmax of one overlaps products of another.
static __device__ __forceinline__ void take_turn(int warpgroup) {
    bar_sync(BAR_TURN + warpgroup, 256);
}
static __device__ __forceinline__ void pass_turn(int warpgroup) {
    bar_arrive(BAR_TURN + (warpgroup + 1) % WARPGROUPS, 256);
}

#include "stages/6-wgmma-attention/pipeline.cuh" // rings of stages between producer and consumers
#include "stages/6-wgmma-attention/schedule.cuh" // which tile of O comes next
#include "stages/6-wgmma-attention/hidden.cuh"   // what a warpgroup cannot see, or has no rows in
#include "stages/6-wgmma-attention/far.cuh"      // scores of which fp32 keeps no fraction

// ---- load Q, K, V: one thread
static __device__ __forceinline__ void load(const CUtensorMap *map, uint32_t smem, uint64_t *full,
                                            uint32_t page_bytes, int row, int h, int b) {
    mbarrier_arrive_expect_tx(smem_address(full), PAGES * page_bytes);
    for (int p = 0; p < PAGES; p++)
        tma_load_4d(smem + p * page_bytes, map, smem_address(full), p * 64, row, h, b);
}

// KV tile n of the tile of O, into the next stage.
static __device__ __forceinline__ void load_kv(const CUtensorMap *map, struct ring &r,
                                               const struct o_tile &t, int n) {
    wait(&r.empty[r.stage], r.parity); // the products that read what was there are done
    load(map, r.smem + r.stage * KV_BYTES, &r.full[r.stage], KV_PAGE, t.kv0 + n * BKV, t.kv_h, t.b);
    advance(r, 1);
}

static __device__ __forceinline__ void produce(const struct attention_args &args,
                                               const struct schedule &schedule,
                                               const CUtensorMap *q_map, const CUtensorMap *k_map,
                                               const CUtensorMap *v_map, uint32_t q_smem,
                                               uint32_t k_smem, uint32_t v_smem, struct o_tile t) {
    struct ring k = {k_smem, k_full, k_empty, 0, 1}, v = {v_smem, v_full, v_empty, 0, 1};
    const bool more = schedule.n_tiles > gridDim.x; // tiles than CTAs
    for (uint32_t round = 0;; round++) {
        load_kv(k_map, k, t, t.n_blocks - 1);
#pragma unroll 1 // or the producer's few registers spill
        for (int g = 0; g < WARPGROUPS; g++) {
            wait(&q_empty[g], ~round & 1); // the products that read the last tile's Q are done
            load(q_map, q_smem + g * Q_BYTES, &q_full[g], Q_PAGE, t.q0 + 64 * g, t.h, t.b);
        }
        // Tiles differ in length, so the CTA that is done first takes the next one that is left. It
        // asks late, or all CTAs would ask at once, and waits for the answer after the loads.
        uint32_t n_taken = 0;
        for (int n = t.n_blocks - 1; n >= 0; n--) { // in the order of their use
            if (more && n == min(2, t.n_blocks - 1)) n_taken = atomicAdd(schedule.counter, 1);
            if (n > 0) load_kv(k_map, k, t, n - 1);
            load_kv(v_map, v, t, n);
        }

        // As many tiles are asked for as there are: the last request resets the counter.
        if (more && n_taken == schedule.n_tiles - 1) atomicExch(schedule.counter, 0);
        const uint32_t index = more ? gridDim.x + n_taken : schedule.n_tiles;
        tell_next(round, index);
        if (index >= schedule.n_tiles) break;
        t = tile_at(args, schedule, index);
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

// ---- mask: row r of this thread sees the keys of KV tile n that come before n_visible[r]
static __device__ __forceinline__ void mask(float (&s_frag)[BKV / 8][4],
                                            const struct attention_args &args,
                                            const struct schedule &schedule, const struct o_tile &t,
                                            int n, int row_group) {
    const int to_all = keys_visible(args, schedule, t, 64 * row_group);
    if ((n + 1) * BKV <= to_all) return;
    uint32_t thread = threadIdx.x;
    asm volatile("" : "+r"(thread)); // rows are computed here, not kept over the loop
    const int row = thread % 128 / 32 * 16 + thread % 32 / 4 + 64 * row_group;
    const int col0 = thread % 4 * 2;
    const int n_visible[2] = {keys_visible(args, schedule, t, row) - n * BKV,
                              keys_visible(args, schedule, t, row + 8) - n * BKV};
#pragma unroll
    for (int j = 0; j < BKV / 8; j++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (col0 + 8 * j + i % 2 >= n_visible[i / 2]) s_frag[j][i] = -INFINITY;
}

// ---- softmax. Any base gives the same P / l as long as P fits fp16, so the maximum of the first
// tile serves as base until an element of P exceeds 2^8: then, seldom, the base rises to the
// maximum so far. P = 2^(S scale - base), and its row sums, this thread's columns only.
static __device__ __forceinline__ void exponentials(uint32_t (&p_frag)[BKV / 16][4],
                                                    const float (&s_frag)[BKV / 8][4],
                                                    const float (&base)[2], float (&l_new)[2],
                                                    float scale_log2) {
    float l_even[2] = {}, l_odd[2] = {}; // two chains of additions, half as long
#pragma unroll
    for (int j = 0; j < BKV / 8; j++)
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float even = ex2(fmaf(s_frag[j][2 * r], scale_log2, -base[r]));
            float odd = ex2(fmaf(s_frag[j][2 * r + 1], scale_log2, -base[r]));
            l_even[r] += even, l_odd[r] += odd;
            p_frag[j / 2][j % 2 * 2 + r] = cvt_f16x2(even, odd);
        }
    for (int r = 0; r < 2; r++) l_new[r] = l_even[r] + l_odd[r];
}

// Does this warp hold a P above 2^8, or a NaN? Halves that are not negative compare like integers.
static __device__ __forceinline__ bool exceeds(const uint32_t (&p_frag)[BKV / 16][4]) {
    const uint32_t limit = 0x5C005C00; // 2^8 twice
    uint32_t m_even = limit, m_odd = limit;
#pragma unroll
    for (int j = 0; j < BKV / 16; j++) {
        m_even = __vimax3_u16x2(m_even, p_frag[j][0], p_frag[j][1]);
        m_odd = __vimax3_u16x2(m_odd, p_frag[j][2], p_frag[j][3]);
    }
    return __any_sync(~0u, __vmaxu2(m_even, m_odd) != limit);
}

// m_frag rises to the maximum of S scale_log2, which becomes the base; what was summed for the old
// one is to shrink by alpha. Returns what this tile's S has to be multiplied by, `scale` is that of
// the next tiles: scale_log2, but for scores far out.
static __device__ __forceinline__ float raise(float (&m_frag)[2], float (&base)[2],
                                              float (&alpha)[2], float (&s_frag)[BKV / 8][4],
                                              float scale_log2, float &scale) {
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float m_even = -INFINITY, m_odd = -INFINITY;
#pragma unroll
        for (int j = 0; j < BKV / 8; j++) {
            m_even = fmaxf(m_even, s_frag[j][2 * r]);
            m_odd = fmaxf(m_odd, s_frag[j][2 * r + 1]);
        }
        float m_new = fmaxf(m_even, m_odd);
        for (int lanes = 1; lanes < 4; lanes *= 2)
            m_new = fmaxf(m_new, __shfl_xor_sync(~0u, m_new, lanes));
        m_new = fmaxf(m_frag[r], m_new * scale_log2);
        base[r] = m_new == -INFINITY ? 0 : m_new; // nothing visible yet: 2^(-inf - 0) = 0
        alpha[r] = ex2(m_frag[r] - base[r]);
        m_frag[r] = m_new;
    }
    return scale_far_out(s_frag, base, scale_log2, scale);
}

static __device__ __forceinline__ void rescale(float (&o_frag)[DIM / 8][4], float (&l_frag)[2],
                                               const float (&alpha)[2]) {
#pragma unroll
    for (int n = 0; n < DIM / 8; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) o_frag[n][i] *= alpha[i / 2];
    for (int r = 0; r < 2; r++) l_frag[r] *= alpha[r];
}

// ---- epilogue: O = O / l, LSE = log(l) + max; a row that saw no key gives 0 and -inf
static __device__ __forceinline__ void store(const struct attention_args &args,
                                             const float (&o_frag)[DIM / 8][4],
                                             const float (&m_frag)[2], float (&l_frag)[2], int q0,
                                             int h, int b) {
    int thread = threadIdx.x;
    asm volatile("" : "+r"(thread)); // addresses are computed here, not kept over the loop
    const int lane = thread % 32, row0 = thread % 128 / 32 * 16 + lane / 4;
    const int col0 = lane % 4 * 2;
    half *o = args.o + b * args.o_stride.batch + h * args.o_stride.head;
    float *lse = args.lse + ((int64_t)b * args.heads + h) * args.seqlen_q;
    for (int r = 0; r < 2; r++) {
        for (int lanes = 1; lanes < 4; lanes *= 2)
            l_frag[r] += __shfl_xor_sync(~0u, l_frag[r], lanes);
        float l_inv = l_frag[r] > 0 ? 1 / l_frag[r] : 0;
        int row = q0 + row0 + 8 * r;
        if (row < 0 || row >= args.seqlen_q) continue; // causal tiles may begin before row 0
        if (col0 == 0) lse[row] = (m_frag[r] + lg2(l_frag[r])) * LN_2;
#pragma unroll
        for (int n = 0; n < DIM / 8; n++)
            *(uint32_t *)&o[row * args.o_stride.row + n * 8 + col0] =
                cvt_f16x2(o_frag[n][2 * r] * l_inv, o_frag[n][2 * r + 1] * l_inv);
    }
}

// A consumer warpgroup: its operands, and where it is in the rings and among the tiles of O.
struct consumer {
    int warpgroup;
    uint64_t q_desc, k_desc, v_desc; // stage 0
    struct ring k, v;
    uint32_t round; // tiles of O before this one
    struct work w;  // the tile of O
};

// The first S of a tile of O, alone.
static __device__ __forceinline__ void first_qk(struct consumer &c, float (&s_frag)[BKV / 8][4]) {
    pass_hidden_k(c.k, c.w.hidden, c.warpgroup);
    wait(&q_full[c.warpgroup], c.round & 1); // q_smem is written by TMA
    wait_full(c.k);                          // k_smem is written by TMA
    registers_fence(s_frag);
    wgmma_fence();
    issue_qk(s_frag, c.q_desc, gmma_desc_advance(c.k_desc, c.k.stage * KV_BYTES));
    wgmma_wait_group<0>(); // S is there
    registers_fence(s_frag);
}

// The last P V of a tile of O and, with it, the first S of the next one, which c is then at.
static __device__ __forceinline__ void last_pv(struct consumer &c, float (&s_frag)[BKV / 8][4],
                                               const uint32_t (&p_frag)[BKV / 16][4],
                                               float (&o_frag)[DIM / 8][4]) {
    if (c.w.some) {
        pass_hidden_k(c.k, c.w.hidden, c.warpgroup);
        wait(&q_full[c.warpgroup], c.round & 1); // q_smem is written by TMA
        wait_full(c.k);                          // k_smem is written by TMA
    }
    wait_full(c.v); // v_smem is written by TMA
    take_turn(c.warpgroup);
    registers_fence(o_frag);
    if (c.w.some) {
        registers_fence(s_frag);
        wgmma_fence(); // o_frag and p_frag have just been written, s_frag read
        issue_qk(s_frag, c.q_desc, gmma_desc_advance(c.k_desc, c.k.stage * KV_BYTES));
        issue_pv(o_frag, p_frag, gmma_desc_advance(c.v_desc, c.v.stage * KV_BYTES));
        pass_turn(c.warpgroup);
        wgmma_wait_group<0>(); // S and O are there
        registers_fence(s_frag);
    } else {
        wgmma_fence(); // o_frag and p_frag have just been written
        issue_pv(o_frag, p_frag, gmma_desc_advance(c.v_desc, c.v.stage * KV_BYTES));
        pass_turn(c.warpgroup);
        wgmma_wait_group<0>(); // O is there
    }
    registers_fence(o_frag);
    release(c.v);
}

// ---- compute a tile of O: one warpgroup; S of its first KV tile is in s_frag
static __device__ __forceinline__ void compute_tile(struct consumer &c, float (&s_frag)[BKV / 8][4],
                                                    const struct attention_args &args,
                                                    const struct schedule &schedule) {
    const int warpgroup = c.warpgroup;
    const struct o_tile t = c.w.t;
    struct ring &k = c.k, &v = c.v;
    uint32_t p_frag[BKV / 16][4];
    float o_frag[DIM / 8][4] = {};                       // O, not yet divided by the row sums
    float m_frag[2] = {-INFINITY, -INFINITY}, l_frag[2]; // row maxima, S scaled; row sums
    float base[2], alpha[2], l_new[2], scale;

    // ---- mask, softmax of the first KV tile, from the right, where the diagonal is
    int n = t.n_blocks - 1 - c.w.hidden;
    release(k);
    if (n == 0) release_q(warpgroup); // that was the last KV tile
    mask(s_frag, args, schedule, t, n, warpgroup);
    const float first = raise(m_frag, base, alpha, s_frag, args.scale_log2, scale);
    exponentials(p_frag, s_frag, base, l_frag, first);
    pass_hidden_v(v, c.w.hidden);

    // ---- for each further KV tile
    for (n--; n >= 0; n--) {
        // ---- S = Q K^T of this KV tile, O += P V of the one before
        wait_full(k); // k_smem is written by TMA
        wait_full(v); // v_smem is written by TMA
        take_turn(warpgroup);
        registers_fence(s_frag);
        registers_fence(o_frag);
        wgmma_fence(); // o_frag and p_frag have just been written
        issue_qk(s_frag, c.q_desc, gmma_desc_advance(c.k_desc, k.stage * KV_BYTES));
        issue_pv(o_frag, p_frag, gmma_desc_advance(c.v_desc, v.stage * KV_BYTES));
        pass_turn(warpgroup);
        wgmma_wait_group<1>(); // S is there, k_smem has been read
        registers_fence(s_frag);
        release(k);
        if (n == 0) release_q(warpgroup); // that was the last KV tile

        // ---- mask
        mask(s_frag, args, schedule, t, n, warpgroup);
        wgmma_wait_group<0>(); // O is there; p_frag and v_smem have been read
        registers_fence(o_frag);
        release(v);

        // ---- softmax; where no key was visible so far, a base of -inf makes P inf: it exceeds
        exponentials(p_frag, s_frag, m_frag, l_new, scale);
        if (exceeds(p_frag)) {
            const float now = raise(m_frag, base, alpha, s_frag, args.scale_log2, scale);
            rescale(o_frag, l_frag, alpha);
            exponentials(p_frag, s_frag, base, l_new, now);
        }
        for (int r = 0; r < 2; r++) l_frag[r] += l_new[r];
    }

    // ---- O += P V of the last KV tile, S = Q K^T of the next tile's first
    next_work(c.w, args, schedule, c.round++, warpgroup);
    last_pv(c, s_frag, p_frag, o_frag);

    store(args, o_frag, m_frag, l_frag, t.q0 + 64 * warpgroup, t.h, t.b);
}

static __device__ __forceinline__ void consume(const struct attention_args &args,
                                               const struct schedule &schedule, uint32_t q_smem,
                                               uint32_t k_smem, uint32_t v_smem,
                                               struct o_tile first, int warpgroup) {
    struct consumer c;
    c.warpgroup = warpgroup;
    c.q_desc = gmma_desc_encode({q_smem + warpgroup * Q_BYTES, 0, 1024, 0, GMMA_SWIZZLE_128});
    c.k_desc = gmma_desc_encode({k_smem, 0, 1024, 0, GMMA_SWIZZLE_128});
    c.v_desc = gmma_desc_encode({v_smem, KV_PAGE, 1024, 0, GMMA_SWIZZLE_128});
    c.k = {k_smem, k_full, k_empty, 0, 0};
    c.v = {v_smem, v_full, v_empty, 0, 0};
    c.round = 0;
    c.w = work_of(args, schedule, first, warpgroup);
    float s_frag[BKV / 8][4];

    if (warpgroup == WARPGROUPS - 1) pass_turn(warpgroup); // the first turn is 0's
    if (c.w.some) first_qk(c, s_frag);
    while (c.w.some) compute_tile(c, s_frag, args, schedule);
    if (!CAUSAL && c.w.more) pass(args, schedule, c.w.t, c.k, c.v, c.round, warpgroup);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    attention(const __grid_constant__ struct attention_args args,
              const __grid_constant__ struct schedule schedule,
              const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
              const __grid_constant__ CUtensorMap v_map) {
    extern __shared__ unsigned char smem[];
    const uint32_t q_smem = (smem_address(smem) + 1023) & ~1023u; // where the swizzle begins anew
    const uint32_t k_smem = q_smem + WARPGROUPS * Q_BYTES, v_smem = k_smem + RING * KV_BYTES;
    const int tid = threadIdx.x,
              warpgroup = __shfl_sync(~0u, tid / 128, 0); // known to be one per warp

    if (tid == 0) {
        init_rings();
        init_next();
        fence_mbarrier_init(); // TMA is to see the barriers
    }
    __syncthreads(); // the barriers are initialised
    const struct o_tile first = tile_at(args, schedule, blockIdx.x);

    if (warpgroup == WARPGROUPS) {
        setmaxnreg_dec<PRODUCER_REGISTERS>();
        if (tid == WARPGROUPS * 128)
            produce(args, schedule, &q_map, &k_map, &v_map, q_smem, k_smem, v_smem, first);
    } else {
        setmaxnreg_inc<CONSUMER_REGISTERS>();
        consume(args, schedule, q_smem, k_smem, v_smem, first, warpgroup);
    }
}
