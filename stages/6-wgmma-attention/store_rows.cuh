/* O from registers to memory, for tiles whose O has no shared memory and is not to wait for Q's: then
 * the next tile's Q can be loaded, and its first S computed, before this tile's O has left.
 * Included by kernel.cu after schedule.cuh.
 *
 * The four lanes of a row have 4 bytes each of a block of 8 columns. They trade four blocks, so that
 * each lane gets one of them whole, 16 bytes, and the four store 64 bytes of a row:
 *
 *     blocks     0    1    2    3              0      1      2      3
 *     lane 0     a0   b0   c0   d0             a0-3
 *     lane 1     a1   b1   c1   d1      ->            b0-3
 *     lane 2     a2   b2   c2   d2                           c0-3
 *     lane 3     a3   b3   c3   d3                                  d0-3
 *
 * Needs O_BLOCKS from kernel.cu; o_tile, row_at from schedule.cuh; schedule from tile.h. */
#pragma once

// Lanes that differ in bit `bit` trade x of the upper one for y of the lower one.
static __device__ __forceinline__ void trade(uint32_t &x, uint32_t &y, int lane, int bit) {
    const bool upper = lane & bit;
    const uint32_t got = __shfl_xor_sync(~0u, upper ? x : y, bit);
    if (upper) x = got;
    if (!upper) y = got;
}

// Four blocks of a row, this lane's 4 bytes of each, to the 32 elements at `row`; NULL: no such row.
static __device__ __forceinline__ void store_row(half *row, uint32_t a, uint32_t b, uint32_t c,
                                                 uint32_t d) {
    const int lane = threadIdx.x % 4;
    trade(a, b, lane, 1);
    trade(c, d, lane, 1);
    trade(a, c, lane, 2);
    trade(b, d, lane, 2);
    if (row) *(uint4 *)(row + 8 * lane) = make_uint4(a, b, c, d);
}

// Where row r of this thread begins in O, and its LSE; NULL if there is no such row.
static __device__ __forceinline__ half *row_of(const struct attention_args &args,
                                               const struct schedule &schedule,
                                               const struct o_tile &t, int row, float *&lse) {
    const struct row at = row_at(args, schedule, t, row);
    lse = at.exists ? args.lse + ((int64_t)t.b * args.heads + at.h) * args.seqlen_q + at.q : NULL;
    return at.exists ? args.o + t.b * args.o_stride.batch + at.h * args.o_stride.head +
                           at.q * args.o_stride.row
                     : NULL;
}

static __device__ __forceinline__ void
store_rows(const struct attention_args &args, const struct schedule &schedule,
           const struct o_tile &t, float (&o_frag)[O_BLOCKS][4], const float (&m_frag)[2],
           const float (&l_frag)[2], int row_group) {
    uint32_t thread = threadIdx.x % 128;
    asm volatile("" : "+r"(thread)); // addresses are computed here, not kept over the loop
    const int row0 = 16 * (thread / 32) + thread % 32 / 4 + 64 * row_group;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const bool none = m_frag[r] == -INFINITY; // 0 times a V that is not finite is not 0
        const float l_inv = none ? 0 : 1 / l_frag[r];
        float *lse;
        half *o = row_of(args, schedule, t, row0 + 8 * r, lse);
        if (lse && thread % 4 == 0) *lse = none ? -INFINITY : (m_frag[r] + lg2(l_frag[r])) * LN_2;
#pragma unroll
        for (int n = 0; n < DIM / 8; n += 4) {
            uint32_t pair[4];
            for (int i = 0; i < 4; i++)
                pair[i] = none ? 0
                               : cvt_f16x2(o_frag[n + i][2 * r] * l_inv,
                                           o_frag[n + i][2 * r + 1] * l_inv);
            store_row(o ? o + 8 * n : o, pair[0], pair[1], pair[2], pair[3]);
        }
    }
}
