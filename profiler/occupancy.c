#include "occupancy.h"

#include "common/base/reason.h"

#include <cuda_occupancy.h>
#include <stdio.h>
#include <string.h>

/* Shared memory that the system keeps of each block: 1 KB from compute capability 8.0 on. */
static size_t reserved_shared(int cc) { return cc >= 80 ? 1024 : 0; }

static void name_limits(unsigned limits, char *out, size_t out_bytes) {
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {{OCC_LIMIT_REGISTERS, "registers"},
                 {OCC_LIMIT_SHARED_MEMORY, "shared memory"},
                 {OCC_LIMIT_WARPS, "warps"},
                 {OCC_LIMIT_BLOCKS, "blocks"},
                 {OCC_LIMIT_BARRIERS, "barriers"}};
    *out = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (limits & names[i].bit) {
            size_t at = strlen(out);
            snprintf(out + at, out_bytes - at, "%s%s", at ? ", " : "", names[i].name);
        }
}

const char *occupancy_of(const struct chip *chip, int registers, int static_shared,
                         int dynamic_shared, int threads, struct occupancy *out) {
    *out = (struct occupancy){.registers = registers,
                              .shared_bytes = static_shared + dynamic_shared,
                              .warps = (threads + 31) / 32};
    if (registers < 0 || static_shared < 0 || dynamic_shared < 0 || threads < 1)
        return reason("no launch has %d registers, %d + %d bytes of shared memory and %d threads",
                      registers, static_shared, dynamic_shared, threads);
    const cudaOccDeviceProp device = {
        .computeMajor = chip->cc / 10,
        .computeMinor = chip->cc % 10,
        .maxThreadsPerBlock = 1024,
        .maxThreadsPerMultiprocessor = chip->max_warps_per_sm * 32,
        .regsPerBlock = 65536,
        .regsPerMultiprocessor = chip->registers_per_sm,
        .warpSize = 32,
        .sharedMemPerBlock = 48 << 10,
        .sharedMemPerMultiprocessor = (size_t)chip->shared_per_sm,
        .numSms = chip->n_sms,
        .sharedMemPerBlockOptin = (size_t)chip->shared_per_block,
        .reservedSharedMemPerBlock = reserved_shared(chip->cc),
    };
    const cudaOccFuncAttributes kernel = {
        .maxThreadsPerBlock = 1024,
        .numRegs = registers,
        .sharedSizeBytes = (size_t)static_shared,
        .partitionedGCConfig = PARTITIONED_GC_OFF,
        .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
        .maxDynamicSharedSizeBytes = (size_t)dynamic_shared,
        .numBlockBarriers = 1,
    };
    const cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
    cudaOccResult result = {0};
    cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state,
                                                                 threads, (size_t)dynamic_shared);
    if (error == CUDA_OCC_ERROR_UNKNOWN_DEVICE)
        return reason(
            "NVIDIA's occupancy calculator (cuda_occupancy.h) does not know compute capability "
            "%d.%d: build with a newer CUDA toolkit",
            chip->cc / 10, chip->cc % 10);
    if (error != CUDA_OCC_SUCCESS)
        return reason(
            "NVIDIA's occupancy calculator refuses %d registers, %d bytes of shared memory and "
            "%d threads",
            registers, out->shared_bytes, threads);
    out->blocks_per_sm = result.activeBlocksPerMultiprocessor;
    out->warps_per_sm = out->blocks_per_sm * out->warps;
    out->pct = 100.0 * out->warps_per_sm / chip->max_warps_per_sm;
    name_limits(result.limitingFactors, out->limited_by, sizeof out->limited_by);
    return NULL;
}
