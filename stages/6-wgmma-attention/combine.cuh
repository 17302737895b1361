/* Split shapes: the warpgroups of a cluster, KEY_GROUPS in each of its
 * CTAs, have found O, bases and row sums of the same 64 rows, each for its
 * share of the keys: its part. Included by kernel.cu after its constants.
 *
 * Columns are dealt out: every part sends block n of 8 columns to part n / BLOCKS, which adds up
 * what it gets, divides and stores. Head_dim 64, a cluster of 2 CTAs, so 4 parts:
 *
 *      columns           0 - 15   16 - 31   32 - 47   48 - 63
 *      part 0, CTA 0      to 0      to 1      to 2      to 3
 *      part 1, CTA 0      to 0      to 1      to 2      to 3
 *      part 2, CTA 1      to 0      to 1      to 2      to 3
 *      part 3, CTA 1      to 0      to 1      to 2      to 3
 *
 *   o_smem  [receiving warpgroup][from part][block][128 threads] 16 bytes, as they lie in o_frag
 *   ml_smem [from part][64 rows] base and row sum, for all warpgroups of the CTA
 *
 * In o_frag's order a warp stores 512 bytes in a row, and the thread that adds them up is the one
 * with the same number. The order of the additions is that of the parts: results repeat bit by bit.
 *
 *
 * Needs KEY_GROUPS, KV_BYTES, O_BLOCKS, Q_BYTES, RING, SPLIT from kernel.cu; o_tile, row_at from
 * schedule.cuh; schedule from tile.h. */
#pragma once

template <int CTAS> // of a cluster
static __device__ __forceinline__ void
exchange(const struct attention_args &args, const struct schedule &schedule, const struct o_tile &t,
         const float (&o_frag)[O_BLOCKS][4], const float (&m_frag)[2], const float (&l_frag)[2],
         uint32_t o_smem, int warpgroup) {
    constexpr int PARTS = CTAS * KEY_GROUPS;
    constexpr int BLOCKS = DIM / 8 < PARTS ? 1 : DIM / 8 / PARTS; // that a part ends with
    constexpr uint32_t O_PART = BLOCKS * 128 * 16, O_BYTES = KEY_GROUPS * PARTS * O_PART;
    static_assert(!SPLIT || O_BYTES + PARTS * 64 * 8 <= Q_BYTES + RING * KV_BYTES,
                  "o_smem and ml_smem lie over q_smem and k_smem");
    const int thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
    const int part = blockIdx.x % CTAS * KEY_GROUPS + warpgroup;
    const int row0 = 16 * warp + lane / 4; // + 8 r
    const int n_rows = (args.seqlen_q << schedule.pack) - t.q0;
    const bool some = 16 * warp < n_rows; // of this warp's rows exist
    // The 4 lanes of two rows have the same bases and sums: each sends one of the four.
    const int mine = lane % 4 / 2; // of rows row0 and row0 + 8
    const float m_mine = mine ? m_frag[1] : m_frag[0], l_mine = mine ? l_frag[1] : l_frag[0];

    cluster_wait(); // all CTAs have read q_smem and k_smem: they may be written
#pragma unroll
    for (int to = 0; to < CTAS && some; to++) {
        const uint32_t there = mapa(o_smem, to);
        st_cluster(there + O_BYTES + (part * 64 + row0 + 8 * mine) * 8 + lane % 2 * 4,
                   lane % 2 ? l_mine : m_mine);
#pragma unroll
        for (int i = 0; i < KEY_GROUPS * BLOCKS; i++) {
            const int n = to * KEY_GROUPS * BLOCKS + i;
            if (n < DIM / 8)
                st_cluster_v4(there + (i / BLOCKS * PARTS + part) * O_PART +
                                  (i % BLOCKS * 128 + thread) * 16,
                              o_frag[n]);
        }
    }
    cluster_arrive();
    half *o_row[2];
    float *lse[2];
    bool exists[2];
    for (int r = 0; r < 2; r++) {
        const struct row row = row_at(args, schedule, t, row0 + 8 * r);
        exists[r] = row.exists;
        o_row[r] = args.o + t.b * args.o_stride.batch + row.h * args.o_stride.head +
                   row.q * args.o_stride.row + part * BLOCKS * 8 + lane % 4 * 2;
        lse[r] = args.lse + ((int64_t)t.b * args.heads + row.h) * args.seqlen_q + row.q;
    }
    cluster_wait(); // o_smem and ml_smem are written
    if (!some || part * BLOCKS >= DIM / 8) return;

    float alpha[PARTS][2], m[2], l[2], l_inv[2];
    for (int r = 0; r < 2; r++) {
        float2 m_l[PARTS];
        m[r] = -INFINITY, l[r] = 0;
        for (int p = 0; p < PARTS; p++) {
            m_l[p] = ld_shared_v2(o_smem + O_BYTES + (p * 64 + row0 + 8 * r) * 8);
            m[r] = fmaxf(m[r], m_l[p].x);
        }
        const float base = m[r] == -INFINITY ? 0 : m[r];
        for (int p = 0; p < PARTS; p++) {
            alpha[p][r] = ex2(m_l[p].x - base); // 0 where p saw no key
            l[r] += m_l[p].y * alpha[p][r];
        }
        l_inv[r] = m[r] == -INFINITY ? 0 : __fdividef(1, l[r]);
    }
#pragma unroll
    for (int b = 0; b < BLOCKS; b++) {
        float o[4] = {};
        for (int p = 0; p < PARTS; p++) {
            const float4 o_part =
                ld_shared_v4(o_smem + (warpgroup * PARTS + p) * O_PART + (b * 128 + thread) * 16);
            const float four[4] = {o_part.x, o_part.y, o_part.z, o_part.w};
            for (int i = 0; i < 4; i++) // 0 times a V that is not finite is not 0
                o[i] += alpha[p][i / 2] == 0 ? 0 : four[i] * alpha[p][i / 2];
        }
        for (int r = 0; r < 2; r++)
            if (exists[r])
                *(uint32_t *)(o_row[r] + 8 * b) =
                    cvt_f16x2(o[2 * r] * l_inv[r], o[2 * r + 1] * l_inv[r]);
    }
    if (part == 0 && lane % 4 == 0)
        for (int r = 0; r < 2; r++)
            if (exists[r]) *lse[r] = m[r] == -INFINITY ? -INFINITY : (m[r] + lg2(l[r])) * LN_2;
}

static __device__ __forceinline__ void
combine(const struct attention_args &args, const struct schedule &schedule, const struct o_tile &t,
        const float (&o_frag)[O_BLOCKS][4], const float (&m_frag)[2], const float (&l_frag)[2],
        uint32_t o_smem, int warpgroup) {
    switch (schedule.split) {
    case 0:
        exchange<1>(args, schedule, t, o_frag, m_frag, l_frag, o_smem, warpgroup);
        break;
    case 1:
        exchange<2>(args, schedule, t, o_frag, m_frag, l_frag, o_smem, warpgroup);
        break;
    case 2:
        exchange<4>(args, schedule, t, o_frag, m_frag, l_frag, o_smem, warpgroup);
        break;
    case 3:
        exchange<MAX_SPLIT>(args, schedule, t, o_frag, m_frag, l_frag, o_smem, warpgroup);
    }
}
