/* Parts of O, each from its own keys, weighed together: O = sum over p of 2^(lse_p - lse) O_p. The
 * parts of a CTA's groups meet in shared memory, those of several CTAs in a second kernel.
 *
 * Needs BQ, GROUPS, KV_BYTES, M16, NO_KEY_YET, THREADS, quotient, rest from kernel.cu; split_args
 * from tile.h. */
#pragma once

// A group's K and V buffers; its part of O goes there.
constexpr int PART_BYTES = 2 * STAGES * KV_BYTES;
static_assert(GROUPS == 1 || BQ * DIM * 4 <= PART_BYTES, "a group's part fits its own buffers");

// Element of a part, [BQ][DIM] fp32: 4 rows x 8 columns, a half-warp's stores, lie in 32 banks.
static __device__ __forceinline__ int part_index(int row, int d) {
    return row * DIM + (d ^ row % 4 * 8);
}

// parts: [GROUPS] x part, PART_BYTES apart; then ref_smem and l_smem, both [GROUPS][BQ] fp32.
static __device__ __forceinline__ void
combine_groups(unsigned char *parts, int kv_group, const float (&o_frag)[M16][DIM / 8][4],
               const float (&ref_frag)[M16][2], const float (&l_frag)[M16][2],
               const struct attention_args &args, const struct split_args &split, int bh, int q0) {
    const int tid = threadIdx.x % THREADS, lane = tid % 32;
    float *part = (float *)(parts + kv_group * PART_BYTES);
    float *ref_smem = (float *)(parts + GROUPS * PART_BYTES), *l_smem = ref_smem + GROUPS * BQ;
    bar_sync(1 + kv_group,
             THREADS); // the group's warps have read its last K and V; O may overwrite them
#pragma unroll
    for (int m = 0; m < M16; m++)
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int row = (tid / 32 * M16 + m) * 16 + 8 * r + lane / 4;
            if (lane % 4 == 0) {
                ref_smem[kv_group * BQ + row] = ref_frag[m][r];
                l_smem[kv_group * BQ + row] = l_frag[m][r];
            }
#pragma unroll
            for (int n = 0; n < DIM / 8; n++)
                st_shared_v2(&part[part_index(row, n * 8) + lane % 4 * 2], o_frag[m][n][2 * r],
                             o_frag[m][n][2 * r + 1]);
        }
    const int b = quotient(bh, args.heads, split.heads), h = rest(bh, args.heads, split.heads);
    __syncthreads(); // all groups' parts are written; any thread may read them
    for (int i = threadIdx.x; i < BQ * DIM / 4; i += THREADS * GROUPS) { // 4 elements of a row
        const int row = i / (DIM / 4), d = i % (DIM / 4) * 4;
        if (q0 + row >= args.seqlen_q) continue;
        float ref = NO_KEY_YET, l = 0, sum[4] = {};
#pragma unroll
        for (int g = 0; g < GROUPS; g++) ref = fmaxf(ref, ref_smem[g * BQ + row]);
#pragma unroll
        for (int g = 0; g < GROUPS; g++) {
            const float weight = ex2(ref_smem[g * BQ + row] - ref);
            part = (float *)(parts + g * PART_BYTES);
            const float4 four = *(const float4 *)&part[part_index(row, d)];
            l += weight * l_smem[g * BQ + row];
            sum[0] += weight * four.x, sum[1] += weight * four.y;
            sum[2] += weight * four.z, sum[3] += weight * four.w;
        }
        const float l_inv = l > 0 ? __fdividef(1, l) : 0, lse = ref + lg2(l);
#pragma unroll
        for (int e = 0; e < 4; e++) sum[e] *= l_inv;
        int64_t to = (int64_t)bh * args.seqlen_q + q0 + row; // row of O and LSE
        if (split.n_splits > 1) {
            to += (int64_t)blockIdx.y * args.batch * args.heads * args.seqlen_q;
            if (d == 0) split.lse[to] = lse;
            *(float4 *)&split.o[to * DIM + d] = make_float4(sum[0], sum[1], sum[2], sum[3]);
        } else {
            half *o = args.o + b * args.o_stride.batch + h * args.o_stride.head +
                      (q0 + row) * args.o_stride.row;
            if (d == 0) args.lse[to] = lse * LN_2;
            *(uint2 *)&o[d] = make_uint2(cvt_f16x2(sum[0], sum[1]), cvt_f16x2(sum[2], sum[3]));
        }
    }
}

static __device__ __forceinline__ half cvt_f16(float x) {
#ifdef BF16
    return __ushort_as_half((unsigned short)cvt_f16x2(x, 0));
#else
    return __float2half(x);
#endif
}

// Over CTAs: a warp takes a row.
extern "C" __global__ void __launch_bounds__(COMBINE_THREADS)
    combine(const __grid_constant__ struct attention_args args,
            const __grid_constant__ struct split_args split) {
    const int lane = threadIdx.x % 32;
    const int64_t n_rows = (int64_t)args.batch * args.heads * args.seqlen_q;
    const int64_t row = (int64_t)blockIdx.x * (COMBINE_THREADS / 32) + threadIdx.x / 32;
    if (row >= n_rows) return;
    float max = -INFINITY, l = 0, sum[DIM / 32] = {};
    for (int s = 0; s < split.n_splits; s++) max = fmaxf(max, split.lse[s * n_rows + row]);
    const float base = max == -INFINITY ? 0 : max; // no split saw a key: 2^(-inf - 0) = 0
    for (int s = 0; s < split.n_splits; s++) {
        const float weight = ex2(split.lse[s * n_rows + row] - base);
        l += weight;
        for (int i = 0; i < DIM / 32; i++)
            sum[i] += weight * split.o[(s * n_rows + row) * DIM + i * 32 + lane];
    }
    const float l_inv = l > 0 ? __fdividef(1, l) : 0;
    const int64_t b = row / args.seqlen_q / args.heads, h = row / args.seqlen_q % args.heads;
    half *o = args.o + b * args.o_stride.batch + h * args.o_stride.head +
              row % args.seqlen_q * args.o_stride.row;
    for (int i = 0; i < DIM / 32; i++) o[i * 32 + lane] = cvt_f16(sum[i] * l_inv);
    if (lane == 0) args.lse[row] = (max + lg2(l)) * LN_2;
}
