/* Included before a kernel (-include), this makes an instrumented image of it: its waits and its WGMMAs
 * leave stamps of the SM's clock in `stamps` (stamps.h), by the first lane of each warp of the first block.
 * The kernel's text stays as it is: the instructions' functions get other names here. A stamp is
 * some ten instructions, so such an image is slower; the timeline says by how much. */
#pragma once

#include "ptx_sm90.cuh"
#include "stamps.h"

extern "C" __device__ uint64_t stamps[STAMP_WARPS * STAMP_ROOM];
__device__ uint64_t stamps[STAMP_WARPS * STAMP_ROOM];
static __shared__ uint32_t n_stamps[STAMP_WARPS];

static __device__ __forceinline__ void stamp(enum stamp kind) {
    const uint32_t warp = threadIdx.x / 32;
    if (blockIdx.x + blockIdx.y + blockIdx.z || threadIdx.x % 32 || warp >= STAMP_WARPS) return;
    const uint32_t n = kind == STAMP_BEGIN ? 0 : n_stamps[warp];
    uint32_t clock;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(clock)::"memory");
    if (n < STAMP_ROOM) stamps[warp * STAMP_ROOM + n] = (uint64_t)kind << 32 | clock;
    n_stamps[warp] = n + 1;
}

static __device__ __forceinline__ void stamped_griddepcontrol_wait() {
    griddepcontrol_wait();
    stamp(STAMP_BEGIN);
}
static __device__ __forceinline__ bool stamped_try_wait(uint32_t barrier, uint32_t parity) {
    stamp(STAMP_FULL);
    while (!mbarrier_try_wait_parity(barrier, parity)) {
    }
    stamp(STAMP_GOES_ON);
    return true;
}
static __device__ __forceinline__ void stamped_bar_sync(int id, int n_threads) {
    stamp(STAMP_TURN);
    bar_sync(id, n_threads);
    stamp(STAMP_GOES_ON);
}
static __device__ __forceinline__ void stamped_wgmma_fence() {
    stamp(STAMP_ISSUE);
    wgmma_fence();
}
template <int N> static __device__ __forceinline__ void stamped_wgmma_wait_group() {
    stamp(STAMP_PRODUCTS);
    wgmma_wait_group<N>();
    stamp(STAMP_GOES_ON);
}
static __device__ __forceinline__ void stamped_expect(uint32_t barrier, uint32_t n_bytes) {
    stamp(STAMP_LOAD);
    mbarrier_arrive_expect_tx(barrier, n_bytes);
    stamp(STAMP_GOES_ON);
}
#define griddepcontrol_wait       stamped_griddepcontrol_wait
#define mbarrier_try_wait_parity  stamped_try_wait
#define bar_sync                  stamped_bar_sync
#define wgmma_fence               stamped_wgmma_fence
#define wgmma_wait_group          stamped_wgmma_wait_group
#define mbarrier_arrive_expect_tx stamped_expect
