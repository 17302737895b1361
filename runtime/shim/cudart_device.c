/* The device and its errors. */
#include "cudart.h"
#include "guard.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Calls and errors ------------------------------------------------------------------------ */

static _Thread_local cudaError_t last;
static cudaError_t fault; /* of a launch: nothing works after it */
static bool fault_seen;   /* by the first call that waits */

struct session *cudart_enter(cudaError_t *error) {
    struct session *s = fault ? NULL : session_lock();
    *error = cudaSuccess;
    if (!s) last = *error = fault ? fault : cudaErrorInitializationError;
    if (fault) fault_seen = true;
    if (s) guard_catch_faults(), guard_lift();
    return s;
}

cudaError_t cudart_leave(cudaError_t e) {
    stream_end_operation();
    session_unlock();
    if (e) last = e;
    return e;
}

void cudart_fault(cudaError_t e) { fault = e; }

cudaError_t cudart_unsupported(const char *call) {
    session_say("%s is not supported on the emulator: it fails with cudaErrorNotSupported", call);
    session_lacks_call();
    return last = cudaErrorNotSupported;
}

cudaError_t cudaGetLastError(void) {
    cudaError_t e = fault_seen ? fault : last;
    last = cudaSuccess;
    return e;
}
cudaError_t cudaPeekAtLastError(void) { return fault_seen ? fault : last; }

static const struct {
    cudaError_t code;
    const char *name, *text;
} errors[] = {
#define ERROR(code, text) {code, #code, text},
#include "errors.def"
};
static int error_index(cudaError_t e) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == e) return (int)i;
    return -1;
}
const char *cudaGetErrorName(cudaError_t e) {
    int i = error_index(e);
    return i < 0 ? "unrecognized error code" : errors[i].name;
}
const char *cudaGetErrorString(cudaError_t e) {
    int i = error_index(e);
    return i < 0 ? "unrecognized error code" : errors[i].text;
}

/* ---- The device ------------------------------------------------------------------------------ */

int device_attribute(const struct session *s, int attribute) {
    const struct chip *c = &s->info.chip;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
        return 1024;
    case cudaDevAttrMaxBlockDimZ:
        return 64;
    case cudaDevAttrMaxGridDimX:
    case cudaDevAttrMaxPitch:
        return 0x7fffffff;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
        return 65535;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        return 48 << 10;
    case cudaDevAttrTotalConstantMemory:
        return 64 << 10;
    case cudaDevAttrWarpSize:
        return 32;
    case cudaDevAttrMaxRegistersPerBlock:
        return 65536;
    case cudaDevAttrClockRate:
        return c->clock_mhz * 1000;
    case cudaDevAttrMultiProcessorCount:
        return c->n_sms;
    case cudaDevAttrL2CacheSize:
        return c->l2_bytes;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        return c->max_warps_per_sm * 32;
    case cudaDevAttrComputeCapabilityMajor:
        return c->cc / 10;
    case cudaDevAttrComputeCapabilityMinor:
        return c->cc % 10;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        return c->shared_per_sm;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
        return c->registers_per_sm;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        return c->shared_per_block;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
        return c->max_blocks_per_sm;
    case cudaDevAttrReservedSharedMemoryPerBlock:
        return 1024;
    case cudaDevAttrMaxPersistingL2CacheSize:
        return c->l2_bytes / 4 * 3;
    case cudaDevAttrMaxAccessPolicyWindowSize:
        return 128 << 20;
    case 102: /* CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED */
    case 107: /* CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED: may be asked for */
        return 1;
    case cudaDevAttrClusterLaunch:
        return c->cc >= 90;
    case cudaDevAttrTextureAlignment:
        return 512;
    case cudaDevAttrTexturePitchAlignment:
        return 32;
    case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
        return 1;
    default:
        return 0; /* not there: textures, peers, interoperation */
    }
}

cudaError_t cudaDeviceGetAttribute(int *out, enum cudaDeviceAttr a, int device) {
    WITH_SESSION(s);
    if (!out || a < 1 || a >= cudaDevAttrMax) return cudart_leave(cudaErrorInvalidValue);
    if (device) return cudart_leave(cudaErrorInvalidDevice);
    *out = device_attribute(s, (int)a);
    return cudart_leave(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) {
    WITH_SESSION(s);
    const struct chip *c = &s->info.chip;
    if (!p) return cudart_leave(cudaErrorInvalidValue);
    if (device) return cudart_leave(cudaErrorInvalidDevice);
    *p = (struct cudaDeviceProp){
        .totalGlobalMem = s->info.memory_bytes,
        .sharedMemPerBlock = 48 << 10,
        .regsPerBlock = 65536,
        .warpSize = 32,
        .memPitch = 0x7fffffff,
        .maxThreadsPerBlock = 1024,
        .maxThreadsDim = {1024, 1024, 64},
        .maxGridSize = {0x7fffffff, 65535, 65535},
        .totalConstMem = 64 << 10,
        .major = c->cc / 10,
        .minor = c->cc % 10,
        .textureAlignment = 512,
        .texturePitchAlignment = 32,
        .multiProcessorCount = c->n_sms,
        .canMapHostMemory = 1,
        .concurrentKernels = 1,
        .asyncEngineCount = 1,
        .unifiedAddressing = 1,
        .l2CacheSize = c->l2_bytes,
        .maxThreadsPerMultiProcessor = c->max_warps_per_sm * 32,
        .streamPrioritiesSupported = 1,
        .globalL1CacheSupported = 1,
        .localL1CacheSupported = 1,
        .sharedMemPerMultiprocessor = (size_t)c->shared_per_sm,
        .regsPerMultiprocessor = c->registers_per_sm,
        .managedMemory = 1,
        .concurrentManagedAccess = 1,
        .computePreemptionSupported = 1,
        .canUseHostPointerForRegisteredMem = 1,
        .cooperativeLaunch = 1,
        .sharedMemPerBlockOptin = (size_t)c->shared_per_block,
        .maxBlocksPerMultiProcessor = c->max_blocks_per_sm,
        .reservedSharedMemPerBlock = 1024,
        .hostRegisterSupported = 1,
        .memoryPoolsSupported = 1,
        .persistingL2CacheMaxSize = c->l2_bytes / 4 * 3,
        .accessPolicyMaxWindowSize = 128 << 20,
        .clusterLaunch = c->cc >= 90,
    };
    snprintf(p->name, sizeof p->name, "%s (emulated)", c->board);
    return cudart_leave(cudaSuccess);
}

/* Calls that only have to be made: VALUE is what they say. */
#define ANSWER(name, type, value)                                                                  \
    cudaError_t name(type *out) {                                                                  \
        WITH_SESSION(s);                                                                           \
        (void)s;                                                                                   \
        if (!out) return cudart_leave(cudaErrorInvalidValue);                                      \
        *out = value;                                                                              \
        return cudart_leave(cudaSuccess);                                                          \
    }
ANSWER(cudaGetDeviceCount, int, 1)
ANSWER(cudaGetDevice, int, 0)
ANSWER(cudaGetDeviceFlags, unsigned, cudaDeviceScheduleAuto)
ANSWER(cudaDriverGetVersion, int, CUDART_VERSION)
ANSWER(cudaRuntimeGetVersion, int, CUDART_VERSION)
ANSWER(cudaDeviceGetCacheConfig, enum cudaFuncCache, cudaFuncCachePreferNone)
ANSWER(cudaDeviceGetSharedMemConfig, enum cudaSharedMemConfig, cudaSharedMemBankSizeFourByte)

static cudaError_t nothing(void) {
    WITH_SESSION(s);
    (void)s;
    return cudart_leave(cudaSuccess);
}
static cudaError_t only_device(int device) {
    WITH_SESSION(s);
    (void)s;
    return cudart_leave(device ? cudaErrorInvalidDevice : cudaSuccess);
}
cudaError_t cudaSetDevice(int device) { return only_device(device); }
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    (void)device_flags, (void)flags;
    return only_device(device);
}
cudaError_t cudaSetValidDevices(int *devices, int n) {
    (void)devices, (void)n;
    return nothing();
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
    (void)flags;
    return nothing();
}
cudaError_t cudaDeviceSynchronize(void) {
    WITH_SESSION(s);
    (void)s;
    if (graph_forbids_waiting()) return cudart_leave(cudaErrorStreamCaptureUnsupported);
    stream_host_waits_for_all();
    return cudart_leave(cudaSuccess);
}
cudaError_t cudaDeviceReset(void) { return cudaDeviceSynchronize(); }
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache c) {
    (void)c;
    return nothing();
}
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig c) {
    (void)c;
    return nothing();
}
cudaError_t cudaCtxResetPersistingL2Cache(void) { return nothing(); }
EXPORT cudaError_t cudaProfilerStart(void); /* of a header of its own */
EXPORT cudaError_t cudaProfilerStart(void) { return nothing(); }
EXPORT cudaError_t cudaProfilerStop(void);
EXPORT cudaError_t cudaProfilerStop(void) { return nothing(); }

cudaError_t cudaChooseDevice(int *out, const struct cudaDeviceProp *wanted) {
    (void)wanted;
    return cudaGetDevice(out);
}
cudaError_t cudaDeviceGetPCIBusId(char *out, int bytes, int device) {
    cudaError_t e = only_device(device);
    if (!e) snprintf(out, (size_t)bytes, "0000:00:00.0");
    return e;
}
cudaError_t cudaDeviceGetByPCIBusId(int *out, const char *id) {
    (void)id;
    return cudaGetDevice(out);
}
cudaError_t cudaDeviceCanAccessPeer(int *out, int a, int b) {
    (void)a, (void)b;
    if (out) *out = 0;
    return nothing();
}
cudaError_t cudaDeviceEnablePeerAccess(int device, unsigned flags) {
    (void)flags;
    return device ? cudaErrorInvalidDevice : cudaErrorPeerAccessUnsupported;
}

static size_t limits[16] = {[cudaLimitStackSize] = 1024,
                            [cudaLimitPrintfFifoSize] = 1 << 20,
                            [cudaLimitMallocHeapSize] = 8 << 20};
cudaError_t cudaDeviceGetLimit(size_t *out, enum cudaLimit l) {
    if ((unsigned)l >= 16 || !out) return cudaErrorInvalidValue;
    *out = limits[l];
    return nothing();
}
cudaError_t cudaDeviceSetLimit(enum cudaLimit l, size_t value) {
    WITH_SESSION(s);
    if ((unsigned)l >= 16) return cudart_leave(cudaErrorInvalidValue);
    limits[l] = value;
    if (l == cudaLimitMallocHeapSize) emu_heap_limit(s->memory, value);
    return cudart_leave(cudaSuccess);
}

/* ---- The driver's functions by name ---------------------------------------------------------- */

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found) {
    WITH_SESSION(s);
    (void)s, (void)version, (void)flags;
    if (!name || !out) return cudart_leave(cudaErrorInvalidValue);
    *out = driver_function(name);
    if (found) *found = *out ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    static bool is_runtime; /* that of a library asks for all names, first for the empty one */
    is_runtime |= !*name;
    if (!*out && !is_runtime) session_say("the driver's %s is not supported on the emulator", name);
    return cudart_leave(*out ? cudaSuccess : cudaErrorSymbolNotFound);
}
#undef cudaGetDriverEntryPoint
EXPORT cudaError_t cudaGetDriverEntryPoint(const char *name, void **out, unsigned long long flags,
                                           enum cudaDriverEntryPointQueryResult *found) {
    return cudaGetDriverEntryPointByVersion(name, out, CUDART_VERSION, flags, found);
}
