/* What the kernels of the corpus share.
 *
 * A family is a template; its number V says which lines it has. Each RIGHT or RACY line makes one kernel of it and
 * says which rule it keeps or breaks. Above a family stands its launch:
 *
 *     //= threads 64 [blocks 2] [cluster 2] [after NAME]      after: overlaps a launch of that kernel
 *
 * and behind a line that a report must name, the numbers of the kernels that it is for: `// @1,3`. `kind` is a
 * regular expression for the report's first words. A kernel whose `kind` is a deadlock never ends on a GPU. */
#pragma once

#include "common/cuda/ptx_sm90.cuh"

#define FAMILY template <int V> static __device__ __forceinline__ void
#define PARAMS                                                                                     \
    const unsigned *in, unsigned *out, const CUtensorMap *in_map, const CUtensorMap *out_map
#define KERNEL(name, family)                                                                       \
    extern "C" __global__ void name(const unsigned *in, unsigned *out,                             \
                                    const __grid_constant__ CUtensorMap in_map,                    \
                                    const __grid_constant__ CUtensorMap out_map) {                 \
        family(in, out, &in_map, &out_map);                                                        \
    }
#define RIGHT(name, family, rule)      KERNEL(name, family)
#define RACY(name, family, kind, rule) KERNEL(name, family)

#define FN        static __device__ __forceinline__
#define ASM(text) asm volatile(text ::: "memory")

/* in: 16384 words, word i holds i. out: as many, zeros. Both are also tensors of 64 x 512 halves (in_map, out_map),
 * in boxes of 64 x 8: 1024 bytes. */
constexpr int BOX_BYTES = 1024, BOX_ROWS = 8;

FN unsigned tid() { return threadIdx.x; }
FN unsigned warp() { return threadIdx.x / 32; }
FN unsigned lane() { return threadIdx.x % 32; }
FN unsigned gtid() { return blockIdx.x * blockDim.x + threadIdx.x; }

/* ---- loads and stores, by address spaces */

#define LOAD(name, op)                                                                             \
    FN unsigned name(const unsigned *p) {                                                          \
        unsigned x;                                                                                \
        asm volatile(op " %0, [%1];" : "=r"(x) : "l"(p) : "memory");                               \
        return x;                                                                                  \
    }
#define STORE(name, op)                                                                            \
    FN void name(unsigned *p, unsigned x) {                                                        \
        asm volatile(op " [%0], %1;" ::"l"(p), "r"(x) : "memory");                                 \
    }
LOAD(ld_weak, "ld.u32")
LOAD(ld_nc, "ld.global.nc.u32")
LOAD(ld_volatile, "ld.volatile.u32")
LOAD(ld_relaxed_cta, "ld.relaxed.cta.u32")
LOAD(ld_relaxed_cluster, "ld.relaxed.cluster.u32")
LOAD(ld_relaxed_gpu, "ld.relaxed.gpu.u32")
LOAD(ld_relaxed_sys, "ld.relaxed.sys.u32")
LOAD(ld_acquire_cta, "ld.acquire.cta.u32")
LOAD(ld_acquire_cluster, "ld.acquire.cluster.u32")
LOAD(ld_acquire_gpu, "ld.acquire.gpu.u32")
LOAD(ld_acquire_sys, "ld.acquire.sys.u32")
STORE(st_weak, "st.u32")
STORE(st_volatile, "st.volatile.u32")
STORE(st_relaxed_cta, "st.relaxed.cta.u32")
STORE(st_relaxed_cluster, "st.relaxed.cluster.u32")
STORE(st_relaxed_gpu, "st.relaxed.gpu.u32")
STORE(st_relaxed_sys, "st.relaxed.sys.u32")
STORE(st_release_cta, "st.release.cta.u32")
STORE(st_release_cluster, "st.release.cluster.u32")
STORE(st_release_gpu, "st.release.gpu.u32")
STORE(st_release_sys, "st.release.sys.u32")

#define ATOMIC(name, op)                                                                           \
    FN unsigned name(unsigned *p, unsigned x) {                                                    \
        unsigned old;                                                                              \
        asm volatile(op " %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(x) : "memory");                 \
        return old;                                                                                \
    }
ATOMIC(add_relaxed_cta, "atom.relaxed.cta.add.u32")
ATOMIC(add_relaxed_cluster, "atom.relaxed.cluster.add.u32")
ATOMIC(add_relaxed_gpu, "atom.relaxed.gpu.add.u32")
ATOMIC(add_relaxed_sys, "atom.relaxed.sys.add.u32")
ATOMIC(add_release_gpu, "atom.release.gpu.add.u32")
ATOMIC(add_acquire_gpu, "atom.acquire.gpu.add.u32")
ATOMIC(add_acq_rel_cta, "atom.acq_rel.cta.add.u32")
ATOMIC(add_acq_rel_cluster, "atom.acq_rel.cluster.add.u32")
ATOMIC(add_acq_rel_gpu, "atom.acq_rel.gpu.add.u32")
ATOMIC(exch_relaxed_gpu, "atom.relaxed.gpu.exch.b32")
ATOMIC(exch_release_gpu, "atom.release.gpu.exch.b32")
ATOMIC(exch_release_cta, "atom.release.cta.exch.b32")

FN void fence_cta() { ASM("fence.acq_rel.cta;"); }
FN void fence_cluster() { ASM("fence.acq_rel.cluster;"); }
FN void fence_gpu() { ASM("fence.acq_rel.gpu;"); }
FN void fence_sys() { ASM("fence.acq_rel.sys;"); }
FN void fence_sc_gpu() { ASM("fence.sc.gpu;"); }

/* Polls until the flag is `wanted`, or a million times: a plain load may never see it. */
#define POLL(load, p, wanted)                                                                      \
    for (int tries_ = 0; load(p) != (wanted) && tries_ < 1000000; tries_++) {                      \
    }

/* ---- shared memory by 32-bit addresses, other blocks' too */

FN unsigned ld_shared(uint32_t at) {
    unsigned x;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(x) : "r"(at) : "memory");
    return x;
}
FN void st_shared(uint32_t at, unsigned x) {
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(at), "r"(x) : "memory");
}
FN uint32_t at_rank(const void *smem, uint32_t rank) { return mapa(smem_address(smem), rank); }
FN unsigned rank() {
    unsigned r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}
FN void cluster_sync() {
    ASM("barrier.cluster.arrive.release.aligned;");
    ASM("barrier.cluster.wait.acquire.aligned;");
}

/* ---- mbarriers */

#define AT_SHARED(name, op)                                                                        \
    FN void name(uint32_t at) { asm volatile(op ::"r"(at) : "memory"); }
AT_SHARED(arrive, "mbarrier.arrive.shared::cta.b64 _, [%0];")
AT_SHARED(arrive_relaxed, "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];")
AT_SHARED(arrive_drop, "mbarrier.arrive_drop.shared::cta.b64 _, [%0];")
AT_SHARED(inval, "mbarrier.inval.shared::cta.b64 [%0];")
AT_SHARED(copy_arrive, "cp.async.mbarrier.arrive.shared::cta.b64 [%0];")
AT_SHARED(copy_arrive_noinc, "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];")
AT_SHARED(remote_arrive, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];")
AT_SHARED(remote_arrive_cta, "mbarrier.arrive.shared::cluster.b64 _, [%0];")
AT_SHARED(remote_arrive_relaxed, "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];")
FN void expect_tx(uint32_t barrier, unsigned bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier),
                 "r"(bytes)
                 : "memory");
}
FN void arrive_expect(uint32_t barrier, unsigned bytes) {
    mbarrier_arrive_expect_tx(barrier, bytes);
}

#define WAIT(name, op)                                                                             \
    FN void name(uint32_t barrier, uint32_t parity) {                                              \
        uint32_t done;                                                                             \
        do                                                                                         \
            asm volatile("{ .reg .pred p; mbarrier." op ".shared::cta.b64 p, [%1], %2;\n"          \
                         "  selp.u32 %0, 1, 0, p; }"                                               \
                         : "=r"(done)                                                              \
                         : "r"(barrier), "r"(parity)                                               \
                         : "memory");                                                              \
        while (!done);                                                                             \
    }
WAIT(wait, "try_wait.parity")
WAIT(wait_test, "test_wait.parity")
WAIT(wait_relaxed, "try_wait.parity.relaxed.cta")
WAIT(wait_relaxed_cluster, "try_wait.parity.relaxed.cluster")
WAIT(wait_cluster, "try_wait.parity.acquire.cluster")

/* Thread 0 makes n mbarriers; the block may use them at once. */
FN void make_barriers(uint64_t *barrier, int n, int arrivals) {
    if (tid() == 0) {
        for (int i = 0; i < n; i++) mbarrier_init(smem_address(&barrier[i]), arrivals);
        fence_mbarrier_init();
    }
    __syncthreads();
}

/* ---- copies: cp.async of 4 and 16 bytes, bulk copies, boxes of tensors */

FN void copy_4(void *smem, const void *gmem) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(smem_address(smem)), "l"(gmem)
                 : "memory");
}
FN void copy_16(void *smem, const void *gmem) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_address(smem)), "l"(gmem)
                 : "memory");
}
FN void copy_zero_16(void *smem, const void *gmem) { cp_async_16(smem, gmem, 0); }
FN void copy_commit() { cp_async_commit(); }
template <int N> FN void copy_wait() { cp_async_wait<N>(); }
FN void copy_wait_all() { ASM("cp.async.wait_all;"); }

FN void bulk_load(void *smem, const void *gmem, unsigned bytes, uint32_t barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(smem_address(smem)),
        "l"(gmem), "r"(bytes), "r"(barrier)
        : "memory");
}
FN void bulk_store(void *gmem, const void *smem, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(gmem),
                 "r"(smem_address(smem)), "r"(bytes)
                 : "memory");
}
FN void bulk_add(void *gmem, const void *smem, unsigned bytes) {
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(gmem),
        "r"(smem_address(smem)), "r"(bytes)
        : "memory");
}
FN void bulk_commit() { bulk_commit_group(); }
template <int N> FN void bulk_wait() { bulk_wait_group<N>(); }
template <int N> FN void bulk_wait_read() { bulk_wait_group_read<N>(); }
FN void box_load(void *smem, const CUtensorMap *map, int row, uint32_t barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4}], [%2];" ::"r"(smem_address(smem)),
                 "l"(map), "r"(barrier), "r"(0), "r"(row)
                 : "memory");
}
FN void box_store(const CUtensorMap *map, int row, const void *smem) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
        "r"(smem_address(smem)), "r"(0), "r"(row)
        : "memory");
}
FN void box_add(const CUtensorMap *map, int row, const void *smem) {
    asm volatile(
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%2, %3}], [%1];" ::
            "l"(map),
        "r"(smem_address(smem)), "r"(0), "r"(row)
        : "memory");
}
FN void fence_async() { ASM("fence.proxy.async;"); }
FN void fence_async_shared() { ASM("fence.proxy.async.shared::cta;"); }
FN void fence_async_global() { ASM("fence.proxy.async.global;"); }
