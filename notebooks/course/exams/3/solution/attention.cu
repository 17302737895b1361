// Exam 3: one warpgroup computes 64 rows. Three such blocks share an SM: while one computes softmax, another multiplies.
// There is one place for a tile of K and one for a tile of V, and TMA fills each as soon as it has been read:
//
//   block         S0 = Q K0 | softmax, O += P V0 | S1 = Q K1 | softmax, O += P V1 | ...
//   TMA   Q K0 V0           | K1 ...             | V1 ...    | K2 ...             | V2 ...
#include "common/cuda/attention_args.h"
#include "common/cuda/ptx_sm90.cuh"

constexpr int DIM = 128, BQ = 64, BKV = 64, THREADS = 128;
constexpr uint32_t PAGE = 64 * 128, TILE_BYTES = 2 * PAGE; // 64 rows of 64 elements; of all 128
constexpr float FAR = -1e30f;                              // below any score, and a number

extern "C" __constant__ int launch[4] = {BQ, BKV, THREADS, 3 * TILE_BYTES + 1024};

static __device__ __forceinline__ void wait(const uint64_t *barrier, uint32_t parity) {
    while (!mbarrier_try_wait_parity(smem_address(barrier), parity)) {
    }
}

static __device__ __forceinline__ void load(const CUtensorMap *map, uint32_t smem,
                                            const uint64_t *barrier, int row, int h, int b) {
    mbarrier_arrive_expect_tx(smem_address(barrier), TILE_BYTES);
    tma_load_4d(smem, map, smem_address(barrier), 0, row, h, b);
    tma_load_4d(smem + PAGE, map, smem_address(barrier), 64, row, h, b);
}

// S is -inf where key kv0 + column does not exist or lies right of the row's diagonal.
static __device__ __forceinline__ void mask(float (&s_frag)[BKV / 8][4],
                                            const struct attention_args &args, int row0, int kv0) {
    const int col0 = kv0 + threadIdx.x % 4 * 2;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int end = args.seqlen_k;
        if (args.causal) end = min(end, row0 + 8 * r + args.diagonal + 1);
#pragma unroll
        for (int e = 0; e < BKV / 4; e++)
            if (col0 + e / 2 * 8 + e % 2 >= end) s_frag[e / 2][2 * r + e % 2] = -INFINITY;
    }
}

// P = 2^(scale S - max), l += P; what was summed before shrinks with its maximum.
static __device__ __forceinline__ void softmax(uint32_t (&p_frag)[BKV / 16][4],
                                               const float (&s_frag)[BKV / 8][4], float scale,
                                               float (&m_frag)[2], float (&l_frag)[2],
                                               float (&o_frag)[DIM / 8][4]) {
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float m = -INFINITY;
#pragma unroll
        for (int n = 0; n < BKV / 8; n++)
            m = fmaxf(m, fmaxf(s_frag[n][2 * r], s_frag[n][2 * r + 1]));
        m = fmaxf(m, __shfl_xor_sync(~0u, m, 1));
        m = fmaxf(m, __shfl_xor_sync(~0u, m, 2));
        m = fmaxf(m_frag[r], m * scale);
        if (__any_sync(~0u, m > m_frag[r])) {
            const float alpha = ex2(m_frag[r] - m);
            l_frag[r] *= alpha;
#pragma unroll
            for (int n = 0; n < DIM / 8; n++)
                o_frag[n][2 * r] *= alpha, o_frag[n][2 * r + 1] *= alpha;
            m_frag[r] = m;
        }
#pragma unroll
        for (int n = 0; n < BKV / 8; n++) {
            const float p0 = ex2(s_frag[n][2 * r] * scale - m),
                        p1 = ex2(s_frag[n][2 * r + 1] * scale - m);
            l_frag[r] += p0 + p1;
            p_frag[n / 2][n % 2 * 2 + r] = cvt_f16x2(p0, p1);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 3)
    attention(const __grid_constant__ struct attention_args args,
              const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
              const __grid_constant__ CUtensorMap v_map) {
    extern __shared__ unsigned char dynamic[];
    __shared__ uint64_t q_full, k_full, v_full;
    const uint32_t q_smem =
        (smem_address(dynamic) + 1023) / 1024 * 1024; // where the swizzle begins anew
    const uint32_t k_smem = q_smem + TILE_BYTES, v_smem = k_smem + TILE_BYTES;
    const int tid = threadIdx.x, lane = tid % 32;
    const int h = blockIdx.y, b = blockIdx.z, kv_h = h / (args.heads / args.kv_heads);
    const int q0 = (gridDim.x - 1 - blockIdx.x) * BQ; // rows that see most keys run first
    const int row0 = q0 + tid / 32 * 16 + lane / 4;   // + 8 r: this thread's rows
    int kv_end = args.seqlen_k;
    if (args.causal) kv_end = min(kv_end, q0 + BQ + args.diagonal);
    const int n_tiles = max(0, (kv_end + BKV - 1) / BKV);

    if (tid == 0) {
        mbarrier_init(smem_address(&q_full), 1);
        mbarrier_init(smem_address(&k_full), 1);
        mbarrier_init(smem_address(&v_full), 1);
        fence_mbarrier_init(); // TMA is to see the barriers
        if (n_tiles > 0) {
            load(&q_map, q_smem, &q_full, q0, h, b);
            load(&k_map, k_smem, &k_full, 0, kv_h, b);
            load(&v_map, v_smem, &v_full, 0, kv_h, b);
        }
    }
    __syncthreads(); // the barriers are initialised

    const uint64_t q_desc = gmma_desc_encode({q_smem, 0, 1024, 0, GMMA_SWIZZLE_128});
    const uint64_t k_desc = gmma_desc_encode({k_smem, 0, 1024, 0, GMMA_SWIZZLE_128});
    const uint64_t v_desc = gmma_desc_encode({v_smem, PAGE, 1024, 0, GMMA_SWIZZLE_128});
    float s_frag[BKV / 8][4], o_frag[DIM / 8][4] = {};
    float m_frag[2] = {FAR, FAR}, l_frag[2] = {};
    uint32_t p_frag[BKV / 16][4];
    if (n_tiles > 0) wait(&q_full, 0);
    for (int t = 0; t < n_tiles; t++) {
        // ---- S = Q K^T
        wait(&k_full, t % 2);
        registers_fence(s_frag);
        wgmma_fence();
#pragma unroll
        for (int d = 0; d < DIM / 16; d++)
            wgmma_m64k16_ss<BKV>(s_frag, gmma_desc_advance(q_desc, d / 4 * PAGE + d % 4 * 32),
                                 gmma_desc_advance(k_desc, d / 4 * PAGE + d % 4 * 32), d > 0);
        wgmma_commit_group();
        wgmma_wait_group<0>();
        registers_fence(s_frag);
        __syncthreads(); // all warps' products have read k_smem: the next tile may come
        if (tid == 0 && t + 1 < n_tiles) load(&k_map, k_smem, &k_full, (t + 1) * BKV, kv_h, b);

        // ---- softmax
        const int kv0 = t * BKV;
        if (kv0 + BKV > args.seqlen_k || (args.causal && kv0 + BKV > q0 + args.diagonal + 1))
            mask(s_frag, args, row0, kv0);
        softmax(p_frag, s_frag, args.scale_log2, m_frag, l_frag, o_frag);

        // ---- O += P V
        wait(&v_full, t % 2);
        registers_fence(o_frag);
        wgmma_fence();
#pragma unroll
        for (int j = 0; j < BKV / 16; j++)
            wgmma_m64k16_rs<DIM>(o_frag, p_frag[j], gmma_desc_advance(v_desc, j * 16 * 128), 1);
        wgmma_commit_group();
        wgmma_wait_group<0>();
        registers_fence(o_frag);
        __syncthreads(); // all warps' products have read v_smem: the next tile may come
        if (tid == 0 && t + 1 < n_tiles) load(&v_map, v_smem, &v_full, (t + 1) * BKV, kv_h, b);
    }

    // ---- O = O / l, LSE = log(l) + max; a row that saw no key gives 0 and -inf
    half *o = args.o + b * args.o_stride.batch + h * args.o_stride.head;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float l = l_frag[r];
        l += __shfl_xor_sync(~0u, l, 1);
        l += __shfl_xor_sync(~0u, l, 2);
        const int row = row0 + 8 * r;
        const float l_inv = l > 0 ? 1 / l : 0;
        if (row >= args.seqlen_q) continue;
        if (lane % 4 == 0)
            args.lse[((int64_t)b * args.heads + h) * args.seqlen_q + row] =
                (m_frag[r] + lg2(l)) * LN_2;
#pragma unroll
        for (int n = 0; n < DIM / 8; n++)
            *(uint32_t *)&o[row * args.o_stride.row + n * 8 + lane % 4 * 2] =
                cvt_f16x2(o_frag[n][2 * r] * l_inv, o_frag[n][2 * r + 1] * l_inv);
    }
}
