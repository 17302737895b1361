#include "gpu_launch.h"

#include "common/base/heap.h"

#include "repeat.h"

#include <cupti_driver_cbid.h>
#include <dlfcn.h>
#include <string.h>

/* The driver's own functions; the program has loaded it. */
static void *driver(const char *name) {
    static void *library;
    if (!library && !(library = dlopen("libcuda.so.1", RTLD_NOW))) heap_dlerror();
    void *f = library ? dlsym(library, name) : NULL;
    if (library && !f) heap_dlerror();
    return f;
}

int gpu_launch_device(void) {
    CUresult (*ask)(CUdevice *);
    CUdevice device = 0;
    void *f = driver("cuCtxGetDevice");
    memcpy(&ask, &f, sizeof f);
    return ask && !ask(&device) ? device : -1;
}

/* The parameters of cuLaunchKernel and of cuLaunchCooperativeKernel begin so. */
struct plain_parameters {
    CUfunction function;
    unsigned grid[3], block[3], shared_bytes;
    CUstream stream;
    void **argument;
};
struct ex_parameters {
    const CUlaunchConfig *config;
    CUfunction function;
    void **argument;
};

struct gpu_launch gpu_launch_of(CUpti_CallbackId id, const void *parameters) {
    struct gpu_launch s = {0};
    if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx ||
        id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz) {
        const struct ex_parameters *p = parameters;
        const CUlaunchConfig *c = p->config;
        s = (struct gpu_launch){.function = p->function,
                                .stream = c->hStream,
                                .grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
                                .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
                                .shared_bytes = c->sharedMemBytes,
                                .argument = p->argument};
        for (unsigned i = 0; i < c->numAttrs; i++)
            if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
                memcpy(s.cluster, &c->attrs[i].value.clusterDim, sizeof s.cluster);
        return s;
    }
    const struct plain_parameters *p = parameters;
    s.function = p->function;
    s.stream = p->stream;
    s.shared_bytes = p->shared_bytes;
    s.argument = p->argument;
    memcpy(s.grid, p->grid, sizeof s.grid);
    memcpy(s.block, p->block, sizeof s.block);
    return s;
}

bool gpu_launch_is_captured(CUstream stream) {
    CUresult (*ask)(CUstream, CUstreamCaptureStatus *);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    void *f = driver("cuStreamIsCapturing");
    memcpy(&ask, &f, sizeof f);
    return ask && !ask(stream, &status) && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* A program's functions may be handles of kernels of a library: then what that is as a function, else NULL. */
static CUfunction as_function(CUfunction function) {
    CUresult (*convert)(CUfunction *, CUkernel);
    CUfunction other = NULL;
    void *f = driver("cuKernelGetFunction");
    memcpy(&convert, &f, sizeof f);
    return convert && !convert(&other, (CUkernel)function) ? other : NULL;
}

int gpu_launch_attribute(CUfunction_attribute which, CUfunction function) {
    CUresult (*ask)(int *, CUfunction_attribute, CUfunction);
    void *f = driver("cuFuncGetAttribute");
    memcpy(&ask, &f, sizeof f);
    int value = -1;
    CUfunction other;
    if (ask && !ask(&value, which, function)) return value;
    if (ask && (other = as_function(function)) && !ask(&value, which, other)) return value;
    return -1;
}

/* The bytes of argument i; 0: there is none, or it is not known. */
static size_t argument_bytes(CUfunction function, size_t i) {
    CUresult (*ask)(CUfunction, size_t, size_t *, size_t *);
    void *f = driver("cuFuncGetParamInfo");
    memcpy(&ask, &f, sizeof f);
    size_t offset, bytes = 0;
    return ask && !ask(function, i, &offset, &bytes) ? bytes : 0;
}

uint64_t gpu_launch_key(const struct gpu_launch *s) {
    CUfunction function = s->function;
    if (!argument_bytes(function, 0)) function = as_function(function);
    if (!s->argument || !function || !argument_bytes(function, 0)) return 0;
    uint64_t key = repeat_key(1, s->grid, sizeof s->grid);
    key = repeat_key(key, s->block, sizeof s->block);
    key = repeat_key(key, s->cluster, sizeof s->cluster);
    key = repeat_key(key, &s->shared_bytes, sizeof s->shared_bytes);
    size_t bytes;
    for (size_t i = 0; (bytes = argument_bytes(function, i)); i++)
        key = repeat_key(key, s->argument[i], bytes);
    return key;
}
