/* Some tiles of O have their keys cut in parts, which are handed out like tiles: where the last round
 * of tiles, or the longest causal ones, would leave most SMs without work. A part leaves its O, not
 * divided, its bases and row sums in a slot; a second kernel, add_parts, makes them one. Included by
 * kernel.cu after store_rows.cuh.
 *
 *   part_o  [slot][row group][DIM / 8 blocks][128 threads] 16 bytes, as they lie in o_frag
 *   part_ml [slot][row group][64 rows] base and row sum
 *
 * The parts of a tile are added in the order of their keys: results repeat bit by bit.
 *
 * Needs O_BLOCKS, ROW_GROUPS from kernel.cu; o_tile, tile_at from schedule.cuh; row_of, store_row
 * from store_rows.cuh; CUT_TILES, schedule from tile.h. */
#pragma once

static __device__ __forceinline__ float4 *part_o_at(const struct schedule &s, int slot,
                                                    int row_group) {
    return (float4 *)s.part_o + (int64_t)(slot * ROW_GROUPS + row_group) * (DIM / 8) * 128;
}
static __device__ __forceinline__ float2 *part_ml_at(const struct schedule &s, int slot,
                                                     int row_group) {
    return (float2 *)s.part_ml + (slot * ROW_GROUPS + row_group) * 64;
}

static __device__ __forceinline__ void store_part(const struct schedule &schedule,
                                                  const struct o_tile &t,
                                                  const float (&o_frag)[O_BLOCKS][4],
                                                  const float (&m_frag)[2],
                                                  const float (&l_frag)[2], int row_group) {
    uint32_t thread = threadIdx.x % 128;
    asm volatile("" : "+r"(thread)); // addresses are computed here, not kept over the loop
    float4 *o = part_o_at(schedule, t.slot, row_group) + thread;
#pragma unroll
    for (int n = 0; n < DIM / 8; n++)
        o[n * 128] = make_float4(o_frag[n][0], o_frag[n][1], o_frag[n][2], o_frag[n][3]);
    float2 *ml = part_ml_at(schedule, t.slot, row_group) + thread / 32 * 16 + thread % 32 / 4;
    if (thread % 4 == 0)
        for (int r = 0; r < 2; r++) ml[8 * r] = make_float2(m_frag[r], l_frag[r]);
}

#if CUT_TILES
// A block for 64 rows of a tile that was cut and for 32 columns.
extern "C" __global__ void __launch_bounds__(128)
    add_parts(const __grid_constant__ struct attention_args args,
              const __grid_constant__ struct schedule schedule) {
    const int thread = threadIdx.x, row0 = thread / 32 * 16 + thread % 32 / 4;
    const int cut = blockIdx.x / ROW_GROUPS, row_group = blockIdx.x % ROW_GROUPS;
    const int parts = schedule.parts.d, slot0 = cut * parts, block0 = blockIdx.y * 4;
    const uint32_t first = CAUSAL ? 0 : schedule.n_tiles - schedule.n_cut * parts;
    const struct o_tile t = tile_at(args, schedule, first + slot0);
    float *lse[2];
    half *o_row[2];
    for (int r = 0; r < 2; r++)
        o_row[r] = row_of(args, schedule, t, row0 + 8 * r + 64 * row_group, lse[r]);
    griddepcontrol_launch_dependents();
    griddepcontrol_wait(); // the parts are there; the launch before that has read O
    if (!__any_sync(~0u, o_row[0] || o_row[1])) return; // and no CTA has written this slot

    float m[2] = {-INFINITY, -INFINITY}, l[2] = {}, o[4][4] = {};
    for (int p = 0; p < parts; p++)
        for (int r = 0; r < 2; r++)
            m[r] = fmaxf(m[r], part_ml_at(schedule, slot0 + p, row_group)[row0 + 8 * r].x);
    for (int p = 0; p < parts; p++) {
        float alpha[2];
        for (int r = 0; r < 2; r++) {
            const float2 ml = part_ml_at(schedule, slot0 + p, row_group)[row0 + 8 * r];
            alpha[r] = ml.x == -INFINITY ? 0 : ex2(ml.x - m[r]); // 0: the part saw no key
            l[r] += alpha[r] == 0 ? 0 : ml.y * alpha[r];
        }
        const float4 *part = part_o_at(schedule, slot0 + p, row_group) + block0 * 128 + thread;
#pragma unroll
        for (int n = 0; n < 4; n++) {
            const float4 v = part[n * 128];
            const float four[4] = {v.x, v.y, v.z, v.w};
            for (int i = 0; i < 4; i++) // 0 times a V that is not finite is not 0
                o[n][i] += alpha[i / 2] == 0 ? 0 : four[i] * alpha[i / 2];
        }
    }
    for (int r = 0; r < 2; r++) {
        const float l_inv = m[r] == -INFINITY ? 0 : 1 / l[r];
        uint32_t pair[4];
        for (int n = 0; n < 4; n++)
            pair[n] = cvt_f16x2(o[n][2 * r] * l_inv, o[n][2 * r + 1] * l_inv);
        store_row(o_row[r] ? o_row[r] + 8 * block0 : NULL, pair[0], pair[1], pair[2], pair[3]);
        if (lse[r] && block0 == 0 && thread % 4 == 0)
            *lse[r] = m[r] == -INFINITY ? -INFINITY : (m[r] + lg2(l[r])) * LN_2;
    }
}
#endif
