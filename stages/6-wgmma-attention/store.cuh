/* The end of a tile of O, but for split shapes: O and LSE leave. Included by kernel.cu after its
 * constants.
 *
 * Needs O_BLOCKS, PAGES, Q_BYTES, Q_PAGE from kernel.cu; o_tile, row_at from schedule.cuh;
 * schedule from tile.h. */
#pragma once

static __device__ __forceinline__ void
store(const struct attention_args &args, const struct schedule &schedule, const struct o_tile &t,
      float (&o_frag)[O_BLOCKS][4], const float (&m_frag)[2], const float (&l_frag)[2],
      const CUtensorMap *o_map, uint32_t o_smem, int row_group) {
    uint32_t thread = threadIdx.x % 128;
    asm volatile("" : "+r"(thread)); // addresses are computed here, not kept over the loop
    const int warp = thread / 32, lane = thread % 32;
    const bool elected = thread == 0;
    float l_inv[2];
    for (int r = 0; r < 2; r++) {
        const struct row row =
            row_at(args, schedule, t, 16 * warp + lane / 4 + 8 * r + 64 * row_group);
        const bool none = m_frag[r] == -INFINITY;
        l_inv[r] = none ? 0 : 1 / l_frag[r];
        if (lane % 4 == 0 && row.exists)
            args.lse[((int64_t)t.b * args.heads + row.h) * args.seqlen_q + row.q] =
                none ? -INFINITY : (m_frag[r] + lg2(l_frag[r])) * LN_2;
        if (none) // 0 times a V that is not finite is not 0
            for (int i = 0; i < 2 * O_BLOCKS; i++) o_frag[i / 2][2 * r + i % 2] = 0;
    }
    const uint32_t smem = o_smem + row_group * Q_BYTES;
    if (elected) bulk_wait_group_read<0>();
    bar_sync(BAR_STORE + row_group, 128); // TMA has read the last O, every warp its Q
#pragma unroll
    for (int i = 0; i < DIM / 8; i += 2) {
        uint32_t chunk = i + lane / 16, row = 16 * warp + lane % 16;
        stmatrix_x4(smem + chunk / 8 * Q_PAGE + row * 128 + (chunk % 8 ^ row % 8) * 16,
                    cvt_f16x2(o_frag[i][0] * l_inv[0], o_frag[i][1] * l_inv[0]),
                    cvt_f16x2(o_frag[i][2] * l_inv[1], o_frag[i][3] * l_inv[1]),
                    cvt_f16x2(o_frag[i + 1][0] * l_inv[0], o_frag[i + 1][1] * l_inv[0]),
                    cvt_f16x2(o_frag[i + 1][2] * l_inv[1], o_frag[i + 1][3] * l_inv[1]));
    }
    fence_proxy_async();                  // TMA is to see what this thread wrote
    bar_sync(BAR_STORE + row_group, 128); // o_smem is written by all warps
    if (elected) {
        const struct row first = row_at(args, schedule, t, 64 * row_group);
        for (int p = 0; p < PAGES && first.q >= 0; p++)
            tma_store_5d(o_map, smem + p * Q_PAGE, p * 64, 0, first.q, t.h, t.b);
        bulk_commit_group();
    }
}
