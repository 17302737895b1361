/* What CUDA 13 dropped, for programs that still use it: attnlab-nvcc --compat includes this before each source.
 *
 *   cudaThreadSynchronize and its like          the names of CUDA 1 to 12 for cudaDevice...
 *   fields of cudaDeviceProp                    clockRate, deviceOverlap, computeMode, ...: asked for as attributes
 *   cudaMemPrefetchAsync, cudaMemAdvise         with a device's number, not a cudaMemLocation */
#pragma once

#include <cuda_runtime_api.h>

static inline cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }
static inline cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache c) {
    return cudaDeviceSetCacheConfig(c);
}
static inline cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *c) {
    return cudaDeviceGetCacheConfig(c);
}
static inline cudaError_t cudaThreadSetLimit(enum cudaLimit l, size_t value) {
    return cudaDeviceSetLimit(l, value);
}
static inline cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit l) {
    return cudaDeviceGetLimit(value, l);
}

#ifdef __cplusplus
struct compat_device_prop : cudaDeviceProp {
    int clockRate;       // kHz
    int memoryClockRate; // kHz
    int deviceOverlap, computeMode, kernelExecTimeoutEnabled, maxTexture1DLinear,
        singleToDoublePrecisionPerfRatio;
    int cooperativeMultiDeviceLaunch;
};

static inline cudaError_t compat_device_properties(compat_device_prop *p, int device) {
    cudaError_t error = cudaGetDeviceProperties(p, device);
    const struct {
        int *field;
        cudaDeviceAttr attribute;
    } all[] = {{&p->clockRate, cudaDevAttrClockRate},
               {&p->memoryClockRate, cudaDevAttrMemoryClockRate},
               {&p->deviceOverlap, cudaDevAttrGpuOverlap},
               {&p->computeMode, cudaDevAttrComputeMode},
               {&p->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout},
               {&p->maxTexture1DLinear, cudaDevAttrMaxTexture1DLinearWidth},
               {&p->singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio}};
    p->cooperativeMultiDeviceLaunch = 0; // its launches are gone, too
    for (const auto &each : all)
        if (!error) error = cudaDeviceGetAttribute(each.field, each.attribute, device);
    return error;
}

static inline cudaMemLocation compat_location(int device) {
    cudaMemLocation at = {};
    at.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    at.id = device == cudaCpuDeviceId ? 0 : device;
    return at;
}
static inline cudaError_t cudaMemPrefetchAsync(const void *p, size_t bytes, int device,
                                               cudaStream_t stream = 0) {
    return cudaMemPrefetchAsync(p, bytes, compat_location(device), 0, stream);
}
static inline cudaError_t cudaMemAdvise(const void *p, size_t bytes, cudaMemoryAdvise advice,
                                        int device) {
    return cudaMemAdvise(p, bytes, advice, compat_location(device));
}

#define cudaDeviceProp          compat_device_prop
#define cudaGetDeviceProperties compat_device_properties
#endif
