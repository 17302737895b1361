/* Stage 6: TMA loads, WGMMA computes, and the two overlap; tiles are handed out as CTAs get free.
 *
 *                      DIM                        BKV                       DIM
 *              +---------------+            +---------------+       +---------------+
 *  warpgroup 0 |               |            |               |       |               |
 *  warpgroup 1 |       Q       |  x  K^T =  |   S, then P   |  x V  |       O       |  64 rows each
 *  warpgroup 2 |               |            |               |       |               |
 *              +---------------+            +---------------+       +---------------+
 *
 * One thread of one more warpgroup, the producer, asks TMA for Q, K and V; the consumers compute.
 * The tensor cores take one warpgroup's products after the other's, in turns, so that the others
 * have time for softmax (-). A turn is S = Q K^T of the next KV tile and O += P V of this one:
 *
 *   producer     K0 Q  K1 V0 K2 V1 K3 V2 ...      as stages of the rings get free
 *   warpgroup 0  [S0]--[S1 PV0]------[S2 PV1]------[S3 PV2]-----
 *   warpgroup 1     [S0]--   [S1 PV0]------[S2 PV1]------[S3 PV2]
 *   warpgroup 2        [S0]--      [S1 PV0]------[S2 PV1]------[S3
 *   tensor       SSS      [  0  ][  1  ][  2  ][  0  ][  1  ][  2  ]
 *
 * The last turn of a tile of O takes the first S of the next: the pipeline does not drain.
 *
 * Split shapes, for small problems: a cluster of CTAs has 64 rows, each of its warpgroups some of
 * the keys. They need no turns; at the end they add up what they have found (combine.cuh). A launch
 * does all that comes before griddepcontrol_wait while the one before it still runs.
 *
 * A warpgroup's accumulators, S and O; T = thread, i = index into s_frag[j][i] or o_frag[j][i]:
 *     col     0 1   2 3   4 5   6 7  |  8 9
 *   row  0    T0    T1    T2    T3   |  T0           j = 0, i = 0,1  |  j = 1, i = 0,1
 *   row  1    T4    T5    T6    T7   |  T4
 *   row  8    T0    T1    T2    T3   |  T0           j = 0, i = 2,3  |  j = 1, i = 2,3
 *     row = 16 warp + lane / 4 + 8 (i / 2)     col = 8 j + 2 (lane % 4) + i % 2
 * A row lives in 4 neighbouring lanes, so a row maximum is 2 shuffles: xor 1 and 2. As an operand P
 * has the same layout, pairs rounded to fp16: p_frag[j / 2][2 (j % 2) + i / 2]. It never leaves
 * registers.
 *
 * Shared memory: pages of 64 elements, [rows][64] fp16, a row being one span of 128 bytes whose
 * eight 16-byte chunks TMA has exchanged by chunk ^= row % 8 (gmma_desc.h). Bytes, long shapes of
 * head_dim 64 | 128 | 256:
 *   q_smem    [ROW_GROUPS][PAGES][64][64]        24576 | 49152 | 65536
 *   k_smem    [RING][PAGES][BKV][64]             32768 | 40960 | 65536
 *   v_smem    [RING][PAGES][BKV][64]             32768 | 40960 | 65536
 *   o_smem    as q_smem                          24576 | 49152 |     0 (it is q_smem)
 *   ones_smem [BKV][64], its first 8 columns 1   16384 |     0 |     0
 *                                                                         with 1024 to align:
 *                                               132096 |181248 |197632 */
#include "common/cuda/attention_args.h"
#include "ex2_fma.cuh"
#include "common/cuda/ptx.cuh"
#include "common/cuda/ptx_sm90.cuh"
#include "tile.h"

constexpr int WARPGROUPS = WARPGROUPS_OF(DIM, SHAPE), THREADS = THREADS_OF(DIM, SHAPE);
constexpr bool SPLIT = SHAPE == SHAPE_SPLIT;          // a cluster, not a CTA, has a tile of O
constexpr int KEY_GROUPS = KEY_GROUPS_OF(DIM, SHAPE); // warpgroups that share rows
constexpr int ROW_GROUPS = WARPGROUPS / KEY_GROUPS;   // warpgroups that share keys
constexpr int BQ = BQ_OF(DIM, SHAPE), BKV = BKV_OF(DIM, SHAPE);
constexpr int RING = KEY_GROUPS * STAGES; // stages of K, and of V
constexpr int PAGES = DIM / 64;
constexpr bool ONES = ONES_OF(DIM, SHAPE), O_IN_Q = O_IN_Q_OF(DIM, SHAPE);
constexpr bool TURNS = TAKE_TURNS && !SPLIT;               // split: few turns, of no use
constexpr bool PERSISTENT = !SPLIT;                        // split: a cluster has one tile of O
constexpr int O_BLOCKS = DIM / 8 + ONES;                   // the last one holds row sums of P
constexpr uint32_t Q_PAGE = 64 * 128, KV_PAGE = BKV * 128; // bytes
constexpr uint32_t Q_BYTES = PAGES * Q_PAGE,
                   KV_BYTES = PAGES * KV_PAGE; // one warpgroup's Q; one stage

#include "pipeline.cuh" // barriers and rings
#include "schedule.cuh" // which tile is next

// Registers: a launch gives every thread 65536 / THREADS; the producer hands most of its own over.
// A split shape's producer is one warp and keeps them.
constexpr int PRODUCER_REGISTERS = WARPGROUPS == 2 ? 40 : 32;
constexpr int CONSUMER_REGISTERS = WARPGROUPS == 2 ? 232 : 160;
static_assert(SPLIT || PRODUCER_REGISTERS + WARPGROUPS * CONSUMER_REGISTERS <=
                           65536 / THREADS / 8 * 8 * (WARPGROUPS + 1),
              "setmaxnreg.inc would wait for registers that the CTA does not have");
static_assert((ROW_GROUPS - 1) * 64 <= STAGES * BKV,
              "a warpgroup that skips more tiles than a ring has stages would wait for itself");

constexpr float FAR = 1 << 22; // a base beyond it is rounded by more than 1/4

// Named barriers; 0 is __syncthreads.
enum { BAR_TURN = 1, BAR_STORE = BAR_TURN + WARPGROUPS };

static __device__ __forceinline__ uint32_t pack(float low, float high) {
    half2 two = __floats2half2_rn(low, high);
    return *(uint32_t *)&two;
}

#include "combine.cuh" // split: what the warpgroups of a cluster have found becomes O
#include "pass.cuh"    // a warpgroup without rows
#include "store.cuh"   // not split: O by TMA

// ---- load Q, K, V: one thread
template <bool IS_Q = false>
static __device__ __forceinline__ void load(const CUtensorMap *map, uint32_t smem, uint64_t *full,
                                            uint64_t *empty, uint32_t parity, uint32_t page_bytes,
                                            int row, int h, int b) {
    wait(empty, parity); // the products that read what was there are done
    mbarrier_arrive_expect_tx(shared_address(full), PAGES * page_bytes);
    for (int p = 0; p < PAGES; p++) {
        const uint32_t page = smem + p * page_bytes;
        if (IS_Q) tma_load_5d(page, map, shared_address(full), p * 64, 0, row, h, b);
        if (!IS_Q) tma_load_4d(page, map, shared_address(full), p * 64, row, h, b);
    }
}

static __device__ __forceinline__ void produce(const struct attention_args &args,
                                               const struct schedule &schedule,
                                               const CUtensorMap *q_map, const CUtensorMap *k_map,
                                               const CUtensorMap *v_map, uint32_t q_smem,
                                               uint32_t k_smem, uint32_t v_smem, struct tile t) {
    struct ring k = {0, 1}, v = {0, 1};
    const bool more = schedule.n_tiles > gridDim.x; // tiles than CTAs
    for (uint32_t round = 0;; round++) {
#define LOAD_K(n)                                                                                  \
    load(k_map, k_smem + k.stage * KV_BYTES, &k_full[k.stage], &k_empty[k.stage], k.parity,        \
         KV_PAGE, t.kv0 + (n)*BKV, t.kv_h, t.b);                                                   \
    advance(k, 1);
#define LOAD_V(n)                                                                                  \
    load(v_map, v_smem + v.stage * KV_BYTES, &v_full[v.stage], &v_empty[v.stage], v.parity,        \
         KV_PAGE, t.kv0 + (n)*BKV, t.kv_h, t.b);                                                   \
    advance(v, 1);

        LOAD_K(t.n_blocks - 1)
#pragma unroll 1 // or the producer's few registers spill
        for (int g = 0; g < ROW_GROUPS; g++)
            load<true>(q_map, q_smem + g * Q_BYTES, &q_full[g], &q_empty[g], ~round & 1, Q_PAGE,
                       (t.q0 + 64 * g) >> schedule.pack, t.h, t.b);
        // The next tile: they differ in length, so who is done first takes the first that is left.
        // The answer is awaited after the loads, not here.
        uint32_t n_taken = more ? atomicAdd(schedule.counter, 1) : 0;
        for (int n = t.n_blocks - 1; n > 0; n--) { // in the order of their use
            LOAD_K(n - 1)
            LOAD_V(n)
        }
        LOAD_V(0)

        if (!PERSISTENT) break;

        // As many tiles are asked for as there are: who asks last puts the counter back.
        if (more && n_taken == schedule.n_tiles - 1) atomicExch(schedule.counter, 0);
        const uint32_t index = more ? gridDim.x + n_taken : schedule.n_tiles;
        wait(&next_empty[round & 1], ~round >> 1 & 1); // all consumers know the tile that was here
        next_smem[round & 1] = index;
        arrive(&next_full[round & 1]);
        if (index >= schedule.n_tiles) break;
        t = tile_at(args, schedule, index);
    }
    for (int i = 0; SPLIT && i < RING; i++) { // until every S has read its stage, and Q
        wait(&k_empty[k.stage], k.parity);
        advance(k, 1);
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
issue_pv(float (&o_frag)[O_BLOCKS][4], const uint32_t (&p_frag)[BKV / 16][4], uint64_t v_desc) {
#pragma unroll
    for (int j = 0; j < BKV / 16; j++)
        wgmma_m64k16_rs<8 * O_BLOCKS>(o_frag, p_frag[j], gmma_desc_advance(v_desc, j * 16 * 128),
                                      1);
    wgmma_commit_group();
}

// ---- mask: row r of this thread sees the keys of KV tile n that come before n_visible[r]
static __device__ __forceinline__ void mask(float (&s_frag)[BKV / 8][4],
                                            const struct attention_args &args,
                                            const struct schedule &schedule, const struct tile &t,
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
// maximum so far. P = 2^(S scale - base), and its row sums (this thread's columns only) where no
// tensor core adds them.
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
            float odd = fmaf(s_frag[j][2 * r + 1], scale_log2, -base[r]);
            odd = EXP_FMA && j % (EXP_FMA / 2 + !EXP_FMA) == 0 ? ex2_fma(odd) : ex2(odd);
            if (!ONES) l_even[r] += even, l_odd[r] += odd;
            p_frag[j / 2][j % 2 * 2 + r] = pack(even, odd);
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

// m_frag rises to the maximum of S scale; what was summed for the old one shrinks by alpha. A base
// may be so far out that, rounded, it misses S scale, which the multiply-add does not round, by
// more than P has room for. Then S is multiplied by the scale here, and rounded like the base; the
// scale left for this tile is 1, and for the next ones NaN: each of them exceeds, and comes here.
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
    const bool far = __any_sync(~0u, fmaxf(fabsf(base[0]), fabsf(base[1])) > FAR);
    if (far)
#pragma unroll
        for (int i = 0; i < BKV / 2; i++) s_frag[i / 4][i % 4] *= scale_log2;
    scale = far ? NAN : scale_log2;
    return far ? 1 : scale_log2;
}

static __device__ __forceinline__ void rescale(float (&o_frag)[O_BLOCKS][4], float (&l_frag)[2],
                                               const float (&alpha)[2]) {
#pragma unroll
    for (int n = 0; n < O_BLOCKS; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) o_frag[n][i] *= alpha[i / 2];
    for (int r = 0; r < 2; r++) l_frag[r] *= alpha[r];
}

// ---- compute: one warpgroup
static __device__ __forceinline__ void consume(const struct attention_args &args,
                                               const struct schedule &schedule,
                                               const CUtensorMap *o_map, uint32_t q_smem,
                                               uint32_t k_smem, uint32_t v_smem, uint32_t o_smem,
                                               uint32_t ones_smem, struct tile t, int warpgroup) {
    const int lane = threadIdx.x % 32;
    const int row_group = KEY_GROUPS > 1 ? 0 : warpgroup,
              key_group = KEY_GROUPS > 1 ? warpgroup : 0;
    const int turn = BAR_TURN + warpgroup, next_turn = BAR_TURN + (warpgroup + 1) % WARPGROUPS;
    // A page of V is followed, KV_PAGE further, by the next; or by the ones, at another distance
    // from each stage.
    const uint64_t q_desc =
        gmma_desc_encode({q_smem + row_group * Q_BYTES, 0, 1024, 0, GMMA_SWIZZLE_128});
    const uint64_t k_desc = gmma_desc_encode({k_smem, 0, 1024, 0, GMMA_SWIZZLE_128});
    const uint64_t v_desc =
        gmma_desc_encode({v_smem, ONES ? ones_smem - v_smem : KV_PAGE, 1024, 0, GMMA_SWIZZLE_128});
    const uint64_t v_desc_step = KV_BYTES / 16 - (ONES ? (uint64_t)(KV_BYTES / 16) << 16 : 0);

    struct ring k = {(uint32_t)key_group, 0}, v = k;
    uint32_t round = 0; // tiles of O
    float s_frag[BKV / 8][4], o_frag[O_BLOCKS][4];
    uint32_t p_frag[BKV / 16][4];
    if (TURNS && warpgroup == WARPGROUPS - 1) bar_arrive(next_turn, 256); // the first turn is 0's

// k_smem has been read, and for the last tile q_smem: TMA may overwrite.
#define RELEASE_K()                                                                                \
    if (lane == 0) arrive(&k_empty[k.stage]);                                                      \
    if (lane == 0 && !O_IN_Q && n < KEY_GROUPS) arrive(&q_empty[row_group]);                       \
    advance(k, KEY_GROUPS);
#define RELEASE_V()                                                                                \
    if (lane == 0) arrive(&v_empty[v.stage]);                                                      \
    advance(v, KEY_GROUPS);
// KV tiles that this warpgroup cannot see pass by; it takes its turns all the same.
#define SKIP_HIDDEN_K()                                                                            \
    for (int i = 0; i < hidden; i++) {                                                             \
        wait(&k_full[k.stage],                                                                     \
             k.parity); /* not before: the arrival would count for the old phase */                \
        if (lane == 0) arrive(&k_empty[k.stage]);                                                  \
        advance(k, KEY_GROUPS);                                                                    \
        if (TURNS) bar_sync(turn, 256), bar_arrive(next_turn, 256);                                \
    }
// The first S of a tile, alone.
#define FIRST_QK()                                                                                 \
    SKIP_HIDDEN_K()                                                                                \
    wait(&q_full[row_group], round & 1);                                                           \
    wait(&k_full[k.stage], k.parity); /* q_smem and k_smem are written by TMA */                   \
    registers_fence(s_frag);                                                                       \
    wgmma_fence();                                                                                 \
    issue_qk(s_frag, q_desc, gmma_desc_advance(k_desc, k.stage *KV_BYTES));                        \
    wgmma_wait_group<0>();                                                                         \
    registers_fence(s_frag);

    int hidden = n_hidden(args, schedule, t, row_group);
    bool more = true, rows = has_rows(args, schedule, t, row_group);
    if (rows) {
        FIRST_QK()
    }

    while (rows) { // ---- for each tile of O; S of its first KV tile is in s_frag
        float m_frag[2] = {-INFINITY, -INFINITY}, l_frag[2], base[2], alpha[2];
#pragma unroll
        for (int i = 0; i < 4 * O_BLOCKS; i++) o_frag[i / 4][i % 4] = 0;

        int n = t.n_blocks - 1 - hidden - key_group;
        RELEASE_K()

        // ---- mask, softmax of the first KV tile, from the right, where the diagonal is
        mask(s_frag, args, schedule, t, n, row_group);
        float scale; // what S still has to be multiplied by, in the next tiles
        const float first = raise(m_frag, base, alpha, s_frag, args.scale_log2, scale);
        exponentials(p_frag, s_frag, base, l_frag, first);
        for (int i = 0; i < hidden; i++) {
            wait(&v_full[v.stage], v.parity);
            RELEASE_V()
        }

        // ---- for each further KV tile
        for (n -= KEY_GROUPS; n >= 0; n -= KEY_GROUPS) {
            // ---- S = Q K^T of this KV tile, O += P V of the one before
            wait(&k_full[k.stage], k.parity); // k_smem is written by TMA
            wait(&v_full[v.stage], v.parity); // v_smem is written by TMA
            if (TURNS)
                bar_sync(turn, 256); // no hazard: the tensor cores are left by the one before
            registers_fence(s_frag);
            registers_fence(o_frag);
            wgmma_fence(); // o_frag and p_frag have just been written
            issue_qk(s_frag, q_desc, gmma_desc_advance(k_desc, k.stage * KV_BYTES));
            issue_pv(o_frag, p_frag, v_desc + v.stage * v_desc_step);
            if (TURNS) bar_arrive(next_turn, 256);
            wgmma_wait_group<1>(); // S is there, k_smem has been read
            registers_fence(s_frag);
            RELEASE_K()

            // ---- mask
            mask(s_frag, args, schedule, t, n, row_group);
            wgmma_wait_group<0>(); // O is there; p_frag and v_smem have been read
            registers_fence(o_frag);
            RELEASE_V()

            // ---- softmax; where no key was visible so far, a base of -inf makes P inf: it exceeds
            float l_new[2];
            exponentials(p_frag, s_frag, m_frag, l_new, scale);
            if (exceeds(p_frag)) {
                const float now = raise(m_frag, base, alpha, s_frag, args.scale_log2, scale);
                rescale(o_frag, l_frag, alpha);
                exponentials(p_frag, s_frag, base, l_new, now);
            }
            for (int r = 0; r < 2; r++) l_frag[r] += l_new[r];
        }

        // ---- O += P V of the last KV tile, S = Q K^T of the next tile's first
        const struct tile done = t;
        more = rows = false;
        if (PERSISTENT) {
            const int index = next_index(round++);
            more = index < schedule.n_tiles;
            if (more) {
                t = tile_at(args, schedule, index);
                hidden = n_hidden(args, schedule, t, row_group);
                rows = has_rows(args, schedule, t, row_group);
            }
        }
        if (rows && !O_IN_Q) {
            SKIP_HIDDEN_K()
            wait(&q_full[row_group], round & 1);
            wait(&k_full[k.stage], k.parity);
        }
        // All are waited for, but that q_smem and k_smem have been read is the producer's to say.
        // Not earlier: compute-sanitizer lets nobody go on from here before all have come.
        if (SPLIT) cluster_arrive_relaxed();
        wait(&v_full[v.stage], v.parity);
        if (TURNS) bar_sync(turn, 256);
        registers_fence(o_frag);
        if (rows && !O_IN_Q) {
            registers_fence(s_frag);
            wgmma_fence();
            issue_qk(s_frag, q_desc, gmma_desc_advance(k_desc, k.stage * KV_BYTES));
            issue_pv(o_frag, p_frag, v_desc + v.stage * v_desc_step);
            if (TURNS) bar_arrive(next_turn, 256);
            wgmma_wait_group<0>();
            registers_fence(s_frag);
        } else {
            wgmma_fence();
            issue_pv(o_frag, p_frag, v_desc + v.stage * v_desc_step);
            if (TURNS) bar_arrive(next_turn, 256);
            wgmma_wait_group<0>();
        }
        registers_fence(o_frag);
        RELEASE_V()

        // ---- epilogue: O = O / l, LSE = log(l) + max; a row that saw no key gives 0 and -inf
        for (int r = 0; r < 2; r++) {
            if (ONES) l_frag[r] = o_frag[O_BLOCKS - 1][2 * r];
            for (int lanes = 1; lanes < 4 && !ONES; lanes *= 2)
                l_frag[r] += __shfl_xor_sync(~0u, l_frag[r], lanes);
        }
        if (SPLIT) combine(args, schedule, t, o_frag, m_frag, l_frag, q_smem, warpgroup);
        if (!SPLIT) store(args, schedule, done, o_frag, m_frag, l_frag, o_map, o_smem, row_group);
        if (O_IN_Q && PERSISTENT) {
            __syncwarp(); // warp 0 arrives when its lane 0 has seen O leave
            if (lane == 0) arrive(&q_empty[row_group]);
        }
        if (!rows) break;
        if (O_IN_Q) {
            FIRST_QK()
        }
    }
    if (!CAUSAL && more) pass(args, schedule, t, k, v, round, row_group);
    if (threadIdx.x % 128 == 0)
        bulk_wait_group_read<0>(); // the CTA keeps o_smem until TMA has read it
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    attention(const __grid_constant__ struct attention_args args,
              const __grid_constant__ struct schedule schedule,
              const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
              const __grid_constant__ CUtensorMap v_map,
              const __grid_constant__ CUtensorMap o_map) {
    extern __shared__ unsigned char smem[];
    const uint32_t smem0 = shared_address(smem);
    const uint32_t q_smem =
        (smem0 + 1023) & ~1023u; // 8 rows of 128 bytes: where the swizzle starts anew
    const uint32_t k_smem = q_smem + ROW_GROUPS * Q_BYTES;
    const uint32_t v_smem = k_smem + RING * KV_BYTES;
    const uint32_t o_smem = O_IN_Q ? q_smem : v_smem + RING * KV_BYTES;
    const uint32_t ones_smem = v_smem + RING * KV_BYTES + (O_IN_Q ? 0 : ROW_GROUPS * Q_BYTES);
    const int tid = threadIdx.x,
              warpgroup = __shfl_sync(~0u, tid / 128, 0); // known to be one per warp

    griddepcontrol_launch_dependents(); // as soon as SMs have room
    if (tid == 0) init_barriers();
    if (tid == WARPGROUPS * 128) {
        prefetch_tensormap(&q_map);
        prefetch_tensormap(&k_map);
        prefetch_tensormap(&v_map);
    }
    const struct tile first = tile_at(args, schedule, blockIdx.x >> schedule.split);
    if (ONES && warpgroup < WARPGROUPS) {
        const uint4 ones = {0x3C003C00, 0x3C003C00, 0x3C003C00, 0x3C003C00};
        for (int row = tid; row < BKV; row += 128 * WARPGROUPS) // chunk 0 of each row
            *(uint4 *)(smem + (ones_smem - smem0) + row * 128 + row % 8 * 16) = ones;
        fence_proxy_async(); // WGMMA is to see what this thread wrote
    }
    __syncthreads();       // the barriers are initialised, ones_smem is written
    griddepcontrol_wait(); // the launch before has ended: it may have written Q, K, V and reads O

    if (warpgroup == WARPGROUPS) {
        if (!SPLIT) setmaxnreg_dec<PRODUCER_REGISTERS>();
        if (tid == WARPGROUPS * 128)
            produce(args, schedule, &q_map, &k_map, &v_map, q_smem, k_smem, v_smem, first);
        if (SPLIT) {
            __syncwarp();     // lane 0 has seen the last S of every warpgroup:
            cluster_arrive(); // nobody reads this CTA's q_smem and k_smem any more
        }
    } else {
        if (!SPLIT) setmaxnreg_inc<CONSUMER_REGISTERS>();
        consume(args, schedule, &o_map, q_smem, k_smem, v_smem, o_smem, ones_smem, first,
                warpgroup);
    }
}
