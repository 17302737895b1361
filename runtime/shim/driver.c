/* The driver's functions that programs use beside the runtime: modules, launches, memory, tensor
 * maps. Their codes have the runtime's numbers. */
#include "cudart.h"

#include "common/base/path.h"
#include "emulator/instructions/tensormap.h"

#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE(e) ((CUresult)(e))
#define AT(p)   ((void *)(uintptr_t)(p))

/* cuMemAlloc is called cuMemAlloc_v2, or _v3: the newest is the one that is here. */
void *driver_function(const char *name) {
    static const char *const versions[] = {"_v4", "_v3", "_v2", ""};
    char versioned[128];
    Dl_info mine, found;
    if (strncmp(name, "cu", 2) || !dladdr(driver_function, &mine)) return NULL;
    void *self = dlopen(mine.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    for (int i = 0; self && i < 4; i++) {
        snprintf(versioned, sizeof versioned, "%s%s", name, versions[i]);
        if (driver_lacks(versioned)) continue;
        void *p = dlsym(self, versioned);
        if (p && dladdr(p, &found) && found.dli_fbase == mine.dli_fbase) return p;
    }
    return NULL;
}

static CUresult nothing(void) { return CODE(cudaDeviceSynchronize()); }

/* ---- Device and context ---------------------------------------------------------------------- */

static char context;

CUresult cuInit(unsigned flags) {
    (void)flags;
    return nothing();
}
CUresult cuDriverGetVersion(int *out) { return CODE(cudaDriverGetVersion(out)); }
CUresult cuDeviceGetCount(int *out) { return CODE(cudaGetDeviceCount(out)); }
CUresult cuDeviceGet(CUdevice *out, int n) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = 0;
    return n ? CUDA_ERROR_INVALID_DEVICE : nothing();
}
CUresult cuDeviceGetName(char *out, int bytes, CUdevice device) {
    struct cudaDeviceProp p;
    cudaError_t e = cudaGetDeviceProperties(&p, device);
    if (!e) snprintf(out, (size_t)bytes, "%s", p.name);
    return CODE(e);
}
CUresult cuDeviceTotalMem(size_t *out, CUdevice device) {
    (void)device;
    return CODE(cudaMemGetInfo(NULL, out));
}
CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    cudaError_t e = cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, device);
    return CODE(e ? e : cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, device));
}
CUresult cuDeviceCanAccessPeer(int *out, CUdevice a, CUdevice b) {
    return CODE(cudaDeviceCanAccessPeer(out, a, b));
}
CUresult cuDeviceGetAttribute(int *out, CUdevice_attribute a, CUdevice device) {
    return CODE(cudaDeviceGetAttribute(out, (enum cudaDeviceAttr)a, device));
}
#undef cuCtxCreate
EXPORT CUresult cuCtxCreate(CUcontext *out, unsigned flags, CUdevice device);
EXPORT CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice device) {
    (void)flags, (void)device;
    if (out) *out = (CUcontext)(void *)&context;
    return nothing();
}
CUresult cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *params, unsigned flags,
                        CUdevice device) {
    (void)params;
    return cuCtxCreate_v2(out, flags, device);
}
CUresult cuCtxDestroy(CUcontext c) {
    (void)c;
    return nothing();
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device) {
    return cuCtxCreate_v2(out, 0, device);
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    (void)device;
    return nothing();
}
CUresult cuCtxGetCurrent(CUcontext *out) { return cuCtxCreate_v2(out, 0, 0); }
CUresult cuCtxPopCurrent(CUcontext *out) { return cuCtxCreate_v2(out, 0, 0); }
CUresult cuCtxSetCurrent(CUcontext c) {
    (void)c;
    return nothing();
}
CUresult cuCtxPushCurrent(CUcontext c) {
    (void)c;
    return nothing();
}
CUresult cuCtxGetDevice(CUdevice *out) {
    *out = 0;
    return nothing();
}
EXPORT CUresult cuCtxSynchronize(void) { return nothing(); }

CUresult cuGetErrorName(CUresult e, const char **out) {
    *out = cudaGetErrorName((cudaError_t)e);
    return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult e, const char **out) {
    *out = cudaGetErrorString((cudaError_t)e);
    return CUDA_SUCCESS;
}
CUresult cuGetProcAddress(const char *name, void **out, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *found) {
    return CODE(cudaGetDriverEntryPointByVersion(name, out, (unsigned)version, flags,
                                                 (enum cudaDriverEntryPointQueryResult *)found));
}

CUresult cuGetExportTable(const void **out,
                          const CUuuid *id) { /* NVRTC calls it, and works without it */
    (void)id;
    *out = NULL;
    return CUDA_ERROR_NOT_FOUND;
}

/* ---- Modules and launches -------------------------------------------------------------------- */

static CUresult load(CUmodule *out, const void *image, size_t most) {
    cudaError_t e;
    struct session *s = cudart_enter(&e);
    if (!s) return CODE(e);
    return CODE(cudart_leave(binary_open(s, image, most, (struct binary **)(void *)out)));
}
CUresult cuModuleLoadData(CUmodule *out, const void *image) { return load(out, image, SIZE_MAX); }
CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n, CUjit_option *options,
                            void **values) {
    (void)n, (void)options, (void)values;
    return cuModuleLoadData(out, image);
}
CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image) {
    return cuModuleLoadData(out, image);
}
CUresult cuModuleLoad(CUmodule *out, const char *path) {
    size_t bytes;
    char *text = path_read(path, &bytes);
    if (!text) return CUDA_ERROR_FILE_NOT_FOUND;
    CUresult e = load(out, text, bytes);
    if (e) free(text); /* a module that is open points into it */
    return e;
}
/* Linking: the one PTX that was given is the result. */
struct CUlinkState_st {
    char *text;
};
CUresult cuLinkCreate(unsigned n, CUjit_option *options, void **values, CUlinkState *out) {
    (void)n, (void)options, (void)values;
    *out = calloc(1, sizeof **out);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuLinkAddData(CUlinkState l, CUjitInputType type, void *data, size_t bytes,
                       const char *name, unsigned n, CUjit_option *options, void **values) {
    (void)name, (void)n, (void)options, (void)values;
    if (type != CU_JIT_INPUT_PTX || l->text)
        return CODE(cudart_unsupported("cuLinkAddData of anything but one PTX"));
    l->text = strndup(data, bytes);
    return l->text ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuLinkComplete(CUlinkState l, void **cubin, size_t *bytes) {
    if (!l->text) return CUDA_ERROR_INVALID_VALUE;
    *cubin = l->text;
    *bytes = strlen(l->text) + 1;
    return CUDA_SUCCESS;
}
CUresult cuLinkDestroy(CUlinkState l) {
    free(l->text);
    free(l);
    return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule m) { /* its kernels stay, for the report */
    (void)m;
    return nothing();
}
CUresult cuModuleGetFunction(CUfunction *out, CUmodule m, const char *name) {
    cudaError_t e;
    struct session *s = cudart_enter(&e);
    if (!s) return CODE(e);
    return CODE(cudart_leave(
        function_find(s, (struct binary *)(void *)m, name, (struct function **)(void *)out)));
}
CUresult cuModuleGetGlobal(CUdeviceptr *out, size_t *bytes, CUmodule m, const char *name) {
    cudaError_t e;
    uint64_t p = 0, size = 0;
    struct session *s = cudart_enter(&e);
    if (!s) return CODE(e);
    e = cudart_leave(variable_address(s, (struct binary *)(void *)m, name, &p, &size));
    if (!e && out) *out = p;
    if (!e && bytes) *bytes = size;
    return CODE(e == cudaErrorInvalidSymbol ? cudaErrorSymbolNotFound : e);
}

CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int value) {
    return CODE(cudaFuncSetAttribute(f, (enum cudaFuncAttribute)a, value));
}
CUresult cuFuncGetAttribute(int *out, CUfunction_attribute a, CUfunction f) {
    struct cudaFuncAttributes all;
    cudaError_t e = out ? cudaFuncGetAttributes(&all, f) : cudaErrorInvalidValue;
    if (e) return CODE(e);
    switch (a) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *out = all.maxThreadsPerBlock;
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *out = (int)all.sharedSizeBytes;
        break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *out = (int)all.localSizeBytes;
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *out = all.numRegs;
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *out = all.ptxVersion;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *out = all.maxDynamicSharedSizeBytes;
        break;
    default:
        *out = 0;
    }
    return CUDA_SUCCESS;
}
CUresult cuFuncSetCacheConfig(CUfunction f, CUfunc_cache c) {
    (void)f, (void)c;
    return nothing();
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction f, int threads,
                                                     size_t shared) {
    return CODE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(out, f, threads, shared));
}
/* The largest block among those that fill an SM best. */
CUresult cuOccupancyMaxPotentialBlockSize(int *min_grid, int *block, CUfunction f,
                                          CUoccupancyB2DSize shared_of, size_t shared, int limit) {
    int most, best = 0, n_sms, blocks;
    if (!min_grid || !block) return CUDA_ERROR_INVALID_VALUE;
    CUresult e = cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f);
    if (!e) e = cuDeviceGetAttribute(&n_sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
    if (!e && limit && limit < most) most = limit;
    for (int threads = most / 32 * 32; threads > 0 && !e; threads -= 32) {
        e = cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, threads,
                                                        shared_of ? shared_of(threads) : shared);
        if (e || blocks * threads <= best) continue;
        best = blocks * threads;
        *block = threads;
        *min_grid = blocks * n_sms;
    }
    return e;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream, void **args,
                        void **extra) {
    if (extra) return CODE(cudart_unsupported("cuLaunchKernel with a buffer of arguments"));
    cudaLaunchConfig_t c = {.gridDim = {gx, gy, gz},
                            .blockDim = {bx, by, bz},
                            .dynamicSmemBytes = shared,
                            .stream = stream};
    return CODE(cudaLaunchKernelExC(&c, f, args));
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **args, void **extra) {
    if (extra) return CODE(cudart_unsupported("cuLaunchKernelEx with a buffer of arguments"));
    if (!c) return CUDA_ERROR_INVALID_VALUE;
    cudaLaunchConfig_t same = {.gridDim = {c->gridDimX, c->gridDimY, c->gridDimZ},
                               .blockDim = {c->blockDimX, c->blockDimY, c->blockDimZ},
                               .dynamicSmemBytes = c->sharedMemBytes,
                               .stream = c->hStream,
                               .attrs = (cudaLaunchAttribute *)(void *)c->attrs,
                               .numAttrs = c->numAttrs};
    return CODE(cudaLaunchKernelExC(&same, f, args));
}
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                   void **args) {
    return CODE(cudaLaunchCooperativeKernel(f, (dim3){gx, gy, gz}, (dim3){bx, by, bz}, args, shared,
                                            stream));
}

/* ---- Memory ---------------------------------------------------------------------------------- */

CUresult cuMemAlloc(CUdeviceptr *out, size_t bytes) {
    void *p = NULL;
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    cudaError_t e = out ? cudaMalloc(&p, bytes) : cudaErrorInvalidValue;
    if (!e) *out = (CUdeviceptr)(uintptr_t)p;
    return CODE(e);
}
CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags) {
    void *p = NULL;
    cudaError_t e = out ? cudaMallocManaged(&p, bytes, flags) : cudaErrorInvalidValue;
    if (!e) *out = (CUdeviceptr)(uintptr_t)p;
    return CODE(e);
}
CUresult cuMemFree(CUdeviceptr p) { return CODE(cudaFree(AT(p))); }
CUresult cuMemAllocHost(void **out, size_t bytes) { return CODE(cudaMallocHost(out, bytes)); }
CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
    return CODE(cudaHostAlloc(out, bytes, flags));
}
CUresult cuMemFreeHost(void *p) { return CODE(cudaFreeHost(p)); }
CUresult cuMemGetInfo(size_t *left, size_t *total) { return CODE(cudaMemGetInfo(left, total)); }
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
    return CODE(cudaMemcpy(AT(to), from, bytes, cudaMemcpyHostToDevice));
}
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
    return CODE(cudaMemcpy(to, AT(from), bytes, cudaMemcpyDeviceToHost));
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return CODE(cudaMemcpy(AT(to), AT(from), bytes, cudaMemcpyDeviceToDevice));
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    return CODE(cudaMemcpyAsync(AT(to), from, bytes, cudaMemcpyHostToDevice, stream));
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return CODE(cudaMemcpyAsync(to, AT(from), bytes, cudaMemcpyDeviceToHost, stream));
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return CODE(cudaMemcpyAsync(AT(to), AT(from), bytes, cudaMemcpyDeviceToDevice, stream));
}
CUresult cuMemsetD8(CUdeviceptr p, unsigned char value, size_t n) {
    return CODE(cudaMemset(AT(p), value, n));
}
CUresult cuMemsetD32(CUdeviceptr p, unsigned value, size_t n) {
    cudaError_t e;
    struct session *s = cudart_enter(&e);
    return CODE(s ? cudart_leave(memory_set_words(s, AT(p), value, 4, n)) : e);
}
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char value, size_t n, CUstream stream) {
    return CODE(cudaMemsetAsync(AT(p), value, n, stream));
}
CUresult cuMemsetD32Async(CUdeviceptr p, unsigned value, size_t n, CUstream stream) {
    if (graph_capturing(stream)) return CODE(cudart_unsupported("cuMemsetD32Async in a graph"));
    stream_enter(stream);
    return CODE(stream_leave((cudaError_t)cuMemsetD32(p, value, n)));
}

/* ---- Streams and events ---------------------------------------------------------------------- */

CUresult cuStreamCreate(CUstream *out, unsigned flags) {
    return CODE(cudaStreamCreateWithFlags(out, flags));
}
CUresult cuStreamDestroy(CUstream stream) { return CODE(cudaStreamDestroy(stream)); }
CUresult cuStreamSynchronize(CUstream stream) { return CODE(cudaStreamSynchronize(stream)); }
CUresult cuEventCreate(CUevent *out, unsigned flags) {
    return CODE(cudaEventCreateWithFlags(out, flags));
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
    return CODE(cudaEventRecord(event, stream));
}
CUresult cuEventSynchronize(CUevent event) { return CODE(cudaEventSynchronize(event)); }
CUresult cuEventDestroy(CUevent event) { return CODE(cudaEventDestroy(event)); }
CUresult cuEventElapsedTime(float *ms, CUevent begin, CUevent end) {
    return CODE(cudaEventElapsedTime(ms, begin, end));
}

/* ---- Tensor maps ----------------------------------------------------------------------------- */

static enum emu_type element_type(CUtensorMapDataType t) {
    static const enum emu_type types[] = {
        [CU_TENSOR_MAP_DATA_TYPE_UINT8] = EMU_U8,
        [CU_TENSOR_MAP_DATA_TYPE_UINT16] = EMU_U16,
        [CU_TENSOR_MAP_DATA_TYPE_UINT32] = EMU_U32,
        [CU_TENSOR_MAP_DATA_TYPE_INT32] = EMU_S32,
        [CU_TENSOR_MAP_DATA_TYPE_UINT64] = EMU_U64,
        [CU_TENSOR_MAP_DATA_TYPE_INT64] = EMU_S64,
        [CU_TENSOR_MAP_DATA_TYPE_FLOAT16] = EMU_F16,
        [CU_TENSOR_MAP_DATA_TYPE_FLOAT32] = EMU_F32,
        [CU_TENSOR_MAP_DATA_TYPE_FLOAT64] = EMU_F64,
        [CU_TENSOR_MAP_DATA_TYPE_BFLOAT16] = EMU_BF16,
        [CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ] = EMU_F32,
        [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32] = EMU_F32,
        [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ] = EMU_F32,
    };
    return (size_t)t < sizeof types / sizeof *types ? types[t] : EMU_NONE;
}

static CUresult encode(const char *call, struct tensormap *m, CUtensorMapDataType type,
                       const cuuint32_t *element_stride, CUtensorMapInterleave interleave,
                       CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill fill, CUtensorMap *out) {
    static const int swizzles[] = {0, 32, 64, 128};
    bool plain = element_type(type) != EMU_NONE && interleave == CU_TENSOR_MAP_INTERLEAVE_NONE &&
                 (unsigned)swizzle < 4 && fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    for (int d = 0; d < m->rank; d++) plain &= element_stride[d] == 1;
    if (!plain)
        return CODE(cudart_unsupported("tensor maps with packed types, interleaving, NaN fill, "
                                       "128B-atom swizzles or element strides"));
    m->type = element_type(type);
    m->element_bytes = (int)emu_type_bytes(m->type);
    m->swizzle_bytes = swizzles[swizzle];
    const char *why = tensormap_encode(m, out);
    if (!why) return CUDA_SUCCESS;
    session_say("%s: %s", call, why);
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank,
                                void *base, const cuuint64_t *extent, const cuuint64_t *stride,
                                const cuuint32_t *box, const cuuint32_t *element_stride,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    (void)promotion; /* how much L2 fetches at a time: no result depends on it */
    if (!out || !extent || !box || !element_stride || rank < 1 || rank > 5 || (rank > 1 && !stride))
        return CUDA_ERROR_INVALID_VALUE;
    struct tensormap m = {.base = (uint64_t)(uintptr_t)base, .rank = (int)rank};
    for (unsigned d = 0; d < rank; d++) {
        m.extent[d] = extent[d];
        m.stride[d] = d ? stride[d - 1] : 0;
        m.box[d] = box[d];
    }
    return encode("cuTensorMapEncodeTiled", &m, type, element_stride, interleave, swizzle, fill,
                  out);
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank,
                                 void *base, const cuuint64_t *extent, const cuuint64_t *stride,
                                 const int *lower, const int *upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t *element_stride,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    (void)promotion;
    if (!out || !extent || !lower || !upper || !element_stride || rank < 3 || rank > 5 || !stride)
        return CUDA_ERROR_INVALID_VALUE;
    struct tensormap m = {.base = (uint64_t)(uintptr_t)base,
                          .rank = (int)rank,
                          .im2col = true,
                          .box = {channels, pixels}};
    for (unsigned d = 0; d < rank; d++) {
        m.extent[d] = extent[d];
        m.stride[d] = d ? stride[d - 1] : 0;
        if (d >= 2) m.lower[d - 2] = lower[d - 2], m.upper[d - 2] = upper[d - 2];
    }
    return encode("cuTensorMapEncodeIm2col", &m, type, element_stride, interleave, swizzle, fill,
                  out);
}
