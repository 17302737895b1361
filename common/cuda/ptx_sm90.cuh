/* Hopper's own instructions: mbarrier, TMA, WGMMA, and what orders them. One PTX instruction = one
 * tiny function, named after it. Shared memory is named by its 32-bit shared-window address.
 * WGMMA accumulators are in tile units: d[N / 8][4], one block of 8 columns each. */
#pragma once

#include "gmma_desc.h"
#include "ptx.cuh"

#include <cuda.h>

#define PTX static __device__ __forceinline__

/* ---- mbarrier: a phase ends when all arrivals are in and all announced bytes have landed */

PTX void mbarrier_init(uint32_t barrier, int n_arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(n_arrivals)
                 : "memory");
}

/* Makes mbarrier_init visible to TMA and to the other CTAs of the cluster. */
PTX void fence_mbarrier_init() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

PTX void mbarrier_arrive(uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* Arrives, and announces n_bytes that TMA will bring before the phase may end. */
PTX void mbarrier_arrive_expect_tx(uint32_t barrier, uint32_t n_bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                 "r"(n_bytes)
                 : "memory");
}

/* True once the phase of this parity has ended; may suspend the thread before it says no. */
PTX bool mbarrier_try_wait_parity(uint32_t barrier, uint32_t parity) {
    uint32_t done;
    asm volatile("{ .reg .pred p;\n"
                 "  mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "  selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    return done;
}

/* ---- named barriers: n_threads = those that wait (bar_sync, ptx.cuh) + those that only arrive, a
 * multiple of 32 */

PTX void bar_arrive(int id, int n_threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n_threads) : "memory");
}

/* ---- TMA: box at (d, row, head, batch), innermost first, of the tensor that the map describes */

PTX void prefetch_tensormap(const CUtensorMap *map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* Global to shared; what lies outside the tensor arrives as zeros and counts as bytes too. */
PTX void tma_load_4d(uint32_t smem, const CUtensorMap *map, uint32_t barrier, int d, int row,
                     int head, int batch) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(smem),
                 "l"(map), "r"(barrier), "r"(d), "r"(row), "r"(head), "r"(batch)
                 : "memory");
}

PTX void tma_load_5d(uint32_t smem, const CUtensorMap *map, uint32_t barrier, int d, int head,
                     int row, int group, int batch) {
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(smem),
                 "l"(map), "r"(barrier), "r"(d), "r"(head), "r"(row), "r"(group), "r"(batch)
                 : "memory");
}

/* Shared to global; what lies outside the tensor is not written. */
PTX void tma_store_5d(const CUtensorMap *map, uint32_t smem, int d, int head, int row, int group,
                      int batch) {
    asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.bulk_group"
                 " [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
                 "r"(smem), "r"(d), "r"(head), "r"(row), "r"(group), "r"(batch)
                 : "memory");
}

PTX void bulk_commit_group() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/* At most N of this thread's groups still read shared memory. */
template <int N> PTX void bulk_wait_group_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

/* At most N of this thread's groups are still under way. */
template <int N> PTX void bulk_wait_group() {
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}

/* This thread's ordinary writes to shared memory become visible to TMA and WGMMA. */
PTX void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/* ---- registers: a warpgroup gives up or asks for registers; N = 24, 32 ... 256 */

template <int N> PTX void setmaxnreg_dec() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}
template <int N> PTX void setmaxnreg_inc() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

/* Four 8x8 matrices of halves. Register i of lane t holds row t / 4, columns 2 (t % 4) and the next
 * of matrix i; lane t says where row t % 8 of matrix t / 8 goes, 16 bytes. */
PTX void stmatrix_x4(uint32_t smem, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(smem),
                 "r"(r0), "r"(r1), "r"(r2), "r"(r3)
                 : "memory");
}

/* ---- clusters: CTAs that run together and reach each other's shared memory */

/* What this thread did to any shared memory of the cluster happens before cluster_wait returns
 * in any of its threads; a thread that has ended counts as arrived. */
PTX void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
PTX void cluster_arrive_relaxed() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
PTX void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

/* Where CTA `rank` of the cluster has what this CTA has at `smem`. */
PTX uint32_t mapa(uint32_t smem, uint32_t rank) {
    uint32_t there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(smem), "r"(rank));
    return there;
}

PTX void st_cluster(uint32_t there, float x) {
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(there), "f"(x) : "memory");
}

PTX void st_cluster_v4(uint32_t there, const float (&x)[4]) {
    asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(there), "f"(x[0]),
                 "f"(x[1]), "f"(x[2]), "f"(x[3])
                 : "memory");
}

PTX float2 ld_shared_v2(uint32_t smem) {
    float2 x;
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(smem) : "memory");
    return x;
}

PTX float4 ld_shared_v4(uint32_t smem) {
    float4 x;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                 : "r"(smem)
                 : "memory");
    return x;
}

/* ---- launches that overlap (device.h, overlaps_previous) */

/* Returns when the launches ahead have ended and what they wrote can be seen; at once if this
 * launch does not overlap them. */
PTX void griddepcontrol_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

/* The next launch may start when every CTA has said so or ended. It says nothing of memory. */
PTX void griddepcontrol_launch_dependents() {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/* ---- WGMMA */

/* What this warpgroup did to the registers of the next wgmma happens before it. */
PTX void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

PTX void wgmma_commit_group() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/* At most N groups of wgmma are still under way. */
template <int N> PTX void wgmma_wait_group() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

/* Not an instruction: the compiler may not move uses of these registers across this point. */
template <int N> PTX void registers_fence(float (&d)[N][4]) {
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3])::"memory");
}

/* The products themselves, wgmma_m64k16_ss<N> and wgmma_m64k16_rs<N>: build/include/wgmma.cuh, which
 * wgmma.sh writes. */
#include <wgmma.cuh>

#undef PTX
