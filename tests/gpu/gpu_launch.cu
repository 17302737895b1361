/* Kernels that show what a launch asked for: gpu_launch.c. */
#include "common/cuda/ptx_sm90.cuh"

#define KERNEL extern "C" __global__ void __launch_bounds__(128)

/* Works for `clocks` on its own, then takes its word of `data` from value - 1 to value: any launch
 * that comes too early or too late spoils the word for good. */
KERNEL step(uint32_t *data, uint32_t value, long long clocks) {
    griddepcontrol_launch_dependents();
    const long long start = clock64();
    while (clock64() - start < clocks) {
    }
    griddepcontrol_wait(); // data belongs to the launches ahead until now
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = data[i] == value - 1 ? value : ~0u;
}

/* data[i] = what this thread of the next block of the cluster
 * put into its shared memory: 1000 block + thread. */
KERNEL rotate(uint32_t *data) {
    __shared__ uint32_t mine[128];
    uint32_t rank, n, there;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
    mine[threadIdx.x] = 1000 * blockIdx.x + threadIdx.x;
    // all have written
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(there)
                 : "r"(smem_address(&mine[threadIdx.x])), "r"((rank + 1) % n));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(there) : "r"(there) : "memory");
    data[blockIdx.x * blockDim.x + threadIdx.x] = there;
    // all have read: blocks may end
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
