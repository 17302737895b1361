/* A libcuda.so.1 without a GPU, so that the whole harness runs, right and wrong, on any
 * machine. Device memory is host memory, and a launch computes attention in double from its
 * struct attention_args. A kernel with a name of C++ does nothing, but for doubled(const float *x, float *y, int n).
 * What CUDA_INJECTION64_PATH names is loaded, and the CUPTI of cupti.c is told of each launch.
 *
 *   FAKE_CUDA_FAIL=cuMemAlloc:3:2    the 3rd call of cuMemAlloc returns 2 (without it: 999)
 *   FAKE_CUDA_DEVICES=0              no GPU
 *   FAKE_CUDA_CURRENT=1              that of the context (0)
 *   FAKE_CUDA_CC=86                  its compute capability (90)
 *   FAKE_CUDA_LAUNCH_US=100          what a launch takes in a graph (10)
 *   FAKE_CUDA_REGISTERS=250          what a kernel takes (100); of a module whose image is "fake:32" it is 32
 *   FAKE_CUDA_BUG=NAME               a kernel that is wrong: see plant() */
#include "common/cuda/attention_args.h"
#include "common/cuda/half.h"
#include "common/cuda/stamps.h"

#include <cuda.h>
#include <cupti_driver_cbid.h>

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int n_captured = -1; /* launches since capture began; -1: not capturing */
static int n_replayed;      /* launches of the graph that ran last */
static int n_runs;

static int setting(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

/* The result that FAKE_CUDA_FAIL wants from this call of `name`. */
static CUresult planned(const char *name, int nth) {
    char function[64];
    int call = 1, result = CUDA_ERROR_UNKNOWN;
    const char *text = getenv("FAKE_CUDA_FAIL");
    if (!text || sscanf(text, "%63[^:]:%d:%d", function, &call, &result) < 1) return CUDA_SUCCESS;
    return !strcmp(function, name) && nth == call ? (CUresult)result : CUDA_SUCCESS;
}

#define MAY_FAIL(name)                                                                             \
    do {                                                                                           \
        static int calls;                                                                          \
        CUresult result_ = planned(name, ++calls);                                                 \
        if (result_) return result_;                                                               \
    } while (0)

/* A function that does nothing but succeed, or fail as planned. */
#define IDLE(name, ...)                                                                            \
    CUresult name(__VA_ARGS__) {                                                                   \
        MAY_FAIL(#name);                                                                           \
        return CUDA_SUCCESS;                                                                       \
    }
#define UNUSED __attribute__((unused))

/* ---- What counts the launches ---------------------------------------------------------------- */

static bool is_injected;

static void inject(void) {
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path && !is_injected ? dlopen(path, RTLD_NOW) : NULL,
         *f = library ? dlsym(library, "InitializeInjection") : NULL;
    int (*begin)(void);
    memcpy(&begin, &f, sizeof f);
    if (!f) return;
    is_injected = true;
    begin();
}

/* A function of cupti.c, if somebody listens there. */
static void *cupti(const char *name) {
    void *library = is_injected ? dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD) : NULL;
    return library ? dlsym(library, name) : NULL;
}

static void tell_context(void) {
    void (*tell)(void), *f = cupti("fake_cupti_context");
    memcpy(&tell, &f, sizeof f);
    if (tell) tell();
}

/* That a call begins (`result` NULL), or has ended. */
static void tell_call(int id, const char *symbol, const void *parameters, const CUresult *result) {
    void (*tell)(int, const char *, const void *, const CUresult *), *f = cupti("fake_cupti_call");
    memcpy(&tell, &f, sizeof f);
    if (tell) tell(id, symbol, parameters, result);
}

/* ---- Device and context --------------------------------------------------------------------- */

CUresult cuInit(unsigned flags UNUSED) {
    MAY_FAIL("cuInit");
    inject();
    return setting("FAKE_CUDA_DEVICES", 1) ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult cuGetErrorName(CUresult error, const char **out) {
    *out = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_FAKE";
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error UNUSED, const char **out) {
    *out = "as the test wanted";
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *n) {
    MAY_FAIL("cuDeviceGetCount");
    *n = setting("FAKE_CUDA_DEVICES", 1);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int i) {
    MAY_FAIL("cuDeviceGet");
    *device = i;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int bytes, CUdevice device UNUSED) {
    MAY_FAIL("cuDeviceGetName");
    snprintf(name, (size_t)bytes, "fake GPU");
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device UNUSED) {
    static const int known[][2] = {
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 << 10},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 227 << 10},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 1 << 20},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 2619000},
    };
    MAY_FAIL("cuDeviceGetAttribute");
    int cc = setting("FAKE_CUDA_CC", 90);
    *value = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i][0] == (int)attribute) *value = known[i][1];
    if (attribute == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)
        *value = setting("FAKE_CUDA_BUS_BITS", 5120);
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) *value = cc / 10;
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) *value = cc % 10;
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device UNUSED) {
    MAY_FAIL("cuDeviceTotalMem");
    *bytes = (size_t)1 << 30;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *text, int bytes, CUdevice device UNUSED) {
    MAY_FAIL("cuDeviceGetPCIBusId");
    snprintf(text, (size_t)bytes, "0000:00:00.0");
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device UNUSED) {
    MAY_FAIL("cuDevicePrimaryCtxRetain");
    *context = (CUcontext)1;
    tell_context();
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    *device = setting("FAKE_CUDA_CURRENT", 0);
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags UNUSED) {
    MAY_FAIL("cuStreamCreate");
    *stream = (CUstream)1;
    return CUDA_SUCCESS;
}

/* Another for each CUDA_VISIBLE_DEVICES, a number or a UUID: all bytes of a UUID are that number. */
CUresult cuDeviceGetUuid(CUuuid *id, CUdevice device UNUSED) {
    MAY_FAIL("cuDeviceGetUuid");
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    const bool by_uuid = visible && (!strncmp(visible, "GPU-", 4) || !strncmp(visible, "MIG-", 4));
    char byte[3] = "";
    if (by_uuid) memcpy(byte, visible + 4, 2);
    memset(id, by_uuid ? (int)strtol(byte, NULL, 16) : setting("CUDA_VISIBLE_DEVICES", 0),
           sizeof *id);
    return CUDA_SUCCESS;
}

IDLE(cuDevicePrimaryCtxRelease, CUdevice device UNUSED)
IDLE(cuCtxSetCurrent, CUcontext context UNUSED)
IDLE(cuStreamDestroy, CUstream stream UNUSED)
IDLE(cuStreamSynchronize, CUstream stream UNUSED)

/* ---- Memory --------------------------------------------------------------------------------- */

CUresult cuMemAlloc(CUdeviceptr *p, size_t bytes) {
    MAY_FAIL("cuMemAlloc");
    *p = (CUdeviceptr)aligned_alloc(256, (bytes + 255) / 256 * 256);
    return *p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree(CUdeviceptr p) {
    free((void *)p);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream UNUSED) {
    MAY_FAIL("cuMemcpyHtoDAsync");
    memcpy((void *)to, from, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream UNUSED) {
    return cuMemAlloc(out, bytes);
}
CUresult cuMemFreeAsync(CUdeviceptr p, CUstream stream UNUSED) { return cuMemFree(p); }
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream UNUSED) {
    MAY_FAIL("cuMemcpyDtoHAsync");
    memcpy(to, (void *)from, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemsetD32Async(CUdeviceptr p, unsigned word, size_t n, CUstream stream UNUSED) {
    MAY_FAIL("cuMemsetD32Async");
    for (size_t i = 0; i < n; i++) ((unsigned *)p)[i] = word;
    return CUDA_SUCCESS;
}

/* ---- Modules and launches ------------------------------------------------------------------- */

/* Handles are numbers: a module's has its registers (0: as ever) in the last three digits, a function's its name in
 * the last two. */
CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    static intptr_t n_loaded;
    MAY_FAIL("cuModuleLoadData");
    int registers = strncmp(image, "fake:", 5) ? 0 : atoi((const char *)image + 5);
    *module = (CUmodule)(++n_loaded * 1000 + registers);
    return CUDA_SUCCESS;
}

static char names[100][128];
static const char *name_of(CUfunction f) { return names[(intptr_t)f % 100]; }

CUresult cuModuleGetFunction(CUfunction *f, CUmodule module, const char *name) {
    intptr_t n = 0;
    MAY_FAIL("cuModuleGetFunction");
    while (n < 100 && *names[n] && strcmp(names[n], name)) n++;
    if (n == 100) return CUDA_ERROR_NOT_FOUND;
    snprintf(names[n], sizeof *names, "%s", name);
    *f = (CUfunction)((intptr_t)module * 100 + n);
    return CUDA_SUCCESS;
}

/* What an instrumented image's first block leaves: a consumer's first warp, and a producer. */
static uint64_t stamps[STAMP_WARPS][STAMP_ROOM];

CUresult cuModuleGetGlobal(CUdeviceptr *p, size_t *bytes, CUmodule module UNUSED,
                           const char *name UNUSED) {
    MAY_FAIL("cuModuleGetGlobal");
    *p = (CUdeviceptr)stamps;
    *bytes = sizeof stamps;
    return CUDA_SUCCESS;
}

static void leave_stamps(void) {
    static const uint32_t consumer[][2] = {{STAMP_BEGIN, 1000},    {STAMP_FULL, 1010},
                                           {STAMP_GOES_ON, 1110},  {STAMP_ISSUE, 1120},
                                           {STAMP_PRODUCTS, 1140}, {STAMP_GOES_ON, 1240},
                                           {STAMP_TURN, 1440},     {STAMP_GOES_ON, 1480}},
                          producer[][2] = {{STAMP_BEGIN, 1005},
                                           {STAMP_LOAD, 1010},
                                           {STAMP_GOES_ON, 1020},
                                           {STAMP_FULL, 1030},
                                           {STAMP_GOES_ON, 1500}};
    for (int i = 0; i < 8; i++) stamps[0][i] = (uint64_t)consumer[i][0] << 32 | consumer[i][1];
    for (int i = 0; i < 5; i++) stamps[4][i] = (uint64_t)producer[i][0] << 32 | producer[i][1];
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction f) {
    MAY_FAIL("cuFuncGetAttribute");
    int registers = (int)((intptr_t)f / 100 % 1000);
    if (!registers) registers = setting("FAKE_CUDA_REGISTERS", 100);
    *value = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS ? registers : 0;
    return CUDA_SUCCESS;
}

/* Of tests/fake/gpu_program.c's: a pointer and a number. */
CUresult cuFuncGetParamInfo(CUfunction f UNUSED, size_t i, size_t *offset, size_t *bytes) {
    MAY_FAIL("cuFuncGetParamInfo");
    if (i > 1) return CUDA_ERROR_INVALID_VALUE;
    *offset = 8 * i;
    *bytes = i ? 4 : 8;
    return CUDA_SUCCESS;
}

IDLE(cuModuleUnload, CUmodule module UNUSED)
IDLE(cuFuncSetAttribute, CUfunction f UNUSED, CUfunction_attribute attribute UNUSED,
     int value UNUSED)
IDLE(cuTensorMapEncodeTiled, CUtensorMap *map UNUSED, CUtensorMapDataType type UNUSED,
     cuuint32_t rank UNUSED, void *base UNUSED, const cuuint64_t *extent UNUSED,
     const cuuint64_t *stride UNUSED, const cuuint32_t *box UNUSED,
     const cuuint32_t *element_stride UNUSED, CUtensorMapInterleave interleave UNUSED,
     CUtensorMapSwizzle swizzle UNUSED, CUtensorMapL2promotion promotion UNUSED,
     CUtensorMapFloatOOBfill fill UNUSED)

static const half *row_of(const half *base, const struct tensor_stride *s, int b, int h, int i) {
    return base + b * s->batch + h * s->head + i * s->row;
}

/* One row of O and its LSE; `p` has room for the visible keys. */
static void attend(const struct attention_args *a, int b, int h, int i, double *p) {
    int kv = h / (a->heads / a->kv_heads);
    int64_t n_keys = a->causal ? (int64_t)i + a->diagonal + 1 : a->seqlen_k;
    n_keys = n_keys < 0 ? 0 : n_keys > a->seqlen_k ? a->seqlen_k : n_keys;
    const half *q = row_of(a->q, &a->q_stride, b, h, i);
    half *o = (half *)row_of(a->o, &a->o_stride, b, h, i);
    double max = -INFINITY, sum = 0;
    for (int j = 0; j < n_keys; j++) {
        const half *k = row_of(a->k, &a->k_stride, b, kv, j);
        p[j] = 0;
        for (int d = 0; d < a->head_dim; d++)
            p[j] += (double)half_to_float(q[d]) * half_to_float(k[d]);
        max = fmax(max, p[j] *= a->scale_log2);
    }
    for (int j = 0; j < n_keys; j++) sum += p[j] = exp2(p[j] - max);
    for (int d = 0; d < a->head_dim; d++) {
        double x = 0;
        for (int j = 0; j < n_keys; j++)
            x += p[j] * half_to_float(row_of(a->v, &a->v_stride, b, kv, j)[d]);
        o[d] = half_from_double(n_keys ? x / sum : 0);
    }
    a->lse[((int64_t)b * a->heads + h) * a->seqlen_q + i] =
        n_keys ? (float)((max + log2(sum)) * 0.6931471805599453) : -INFINITY;
}

/* Makes one thing wrong after a right run. */
static void plant(const char *bug, const struct attention_args *a) {
    half *first = a->o;
    half *last = (half *)row_of(a->o, &a->o_stride, a->batch - 1, a->heads - 1, a->seqlen_q - 1) +
                 a->head_dim - 1;
    if (!strcmp(bug, "nan")) *last = 0x7e00;
    if (!strcmp(bug, "last")) *last = half_from_float(half_to_float(*last) + 0.5f);
    if (!strcmp(bug, "zeros")) memset(first, 0, (size_t)((char *)(last + 1) - (char *)first));
    if (!strcmp(bug, "after")) last[1] = 0;
    if (!strcmp(bug, "before")) first[-1] = 0;
    if (!strcmp(bug, "input")) *(half *)a->k ^= 1;
    if (!strcmp(bug, "unequal") && n_runs % 2 == 0) *last ^= 1;
    if (!strcmp(bug, "lse")) a->lse[0] += 0.01f;
}

/* One SM, at 1234 MHz. */
static CUresult note_clock(uint64_t *note) {
    static uint64_t us = 1000;
    us += 1000;
    note[0] = 1234 * us;
    note[1] = 1000 * us;
    return CUDA_SUCCESS;
}

static CUresult doubled(const float *x, float *y, int n) {
    for (int i = 0; i < n; i++) y[i] = 2 * x[i];
    return CUDA_SUCCESS;
}

/* Kernels are attention, but for the one that notes the clock (common/device/cuda_sm_clock.c), and those of C++. */
static CUresult run(CUfunction f, void **params) {
    const char *name = name_of(f);
    if (!strcmp(name, "note")) return note_clock(*(uint64_t **)params[0]);
    if (n_captured >= 0) {
        n_captured++;
        return CUDA_SUCCESS;
    }
    if (!strcmp(name, "_Z7doubledPKfPfi"))
        return doubled(*(float **)params[0], *(float **)params[1], *(int *)params[2]);
    if (!strncmp(name, "_Z", 2)) return CUDA_SUCCESS;
    const struct attention_args *a = params[0];
    const char *bug = getenv("FAKE_CUDA_BUG");
    n_runs++;
    leave_stamps();
    if (bug && !strcmp(bug, "unwritten")) return CUDA_SUCCESS;
    double *p = malloc(sizeof *p * (size_t)(a->seqlen_k + 1));
    if (!p)
        p = malloc(sizeof *p *
                   (size_t)(a->seqlen_k + 1)); /* tests/fake/fault.c means the program */
    if (!p) return CUDA_ERROR_OUT_OF_MEMORY;
    for (int b = 0; b < a->batch; b++)
        for (int h = 0; h < a->heads; h++)
            for (int i = 0; i < a->seqlen_q; i++) attend(a, b, h, i, p);
    free(p);
    if (bug) plant(bug, a);
    return CUDA_SUCCESS;
}

static CUresult launch_ex(CUfunction f, void **params) {
    MAY_FAIL("cuLaunchKernelEx");
    return run(f, params);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra) {
    const struct {
        const CUlaunchConfig *config;
        CUfunction f;
        void **params, **extra;
    } p = {config, f, params, extra};
    tell_call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, name_of(f), &p, NULL);
    CUresult result = launch_ex(f, params);
    tell_call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, name_of(f), &p, &result);
    return result;
}

static CUresult launch(CUfunction f, void **params) {
    MAY_FAIL("cuLaunchKernel");
    return run(f, params);
}

CUresult cuLaunchKernel(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **params, void **extra) {
    const struct {
        CUfunction f;
        unsigned grid[3], block[3], shared_bytes;
        CUstream stream;
        void **params, **extra;
    } p = {
        f,    {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, params,
        extra};
    tell_call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, name_of(f), &p, NULL);
    CUresult result = launch(f, params);
    tell_call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, name_of(f), &p, &result);
    return result;
}

/* ---- Graphs and events ---------------------------------------------------------------------- */

CUresult cuStreamBeginCapture(CUstream stream UNUSED, CUstreamCaptureMode mode UNUSED) {
    MAY_FAIL("cuStreamBeginCapture");
    n_captured = 0;
    return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream UNUSED, CUgraph *graph) {
    *graph = (CUgraph)(intptr_t)(n_captured + 1);
    n_captured = -1;
    MAY_FAIL("cuStreamEndCapture");
    return CUDA_SUCCESS;
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags UNUSED) {
    MAY_FAIL("cuGraphInstantiate");
    *exec = (CUgraphExec)graph;
    return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream UNUSED) {
    MAY_FAIL("cuGraphLaunch");
    tell_call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, NULL, NULL, NULL);
    n_replayed = (int)(intptr_t)exec - 1;
    usleep((useconds_t)(n_replayed * setting("FAKE_CUDA_LAUNCH_US", 10)));
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned flags UNUSED) {
    MAY_FAIL("cuEventCreate");
    *event = (CUevent)1;
    return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *ms, CUevent begin UNUSED, CUevent end UNUSED) {
    MAY_FAIL("cuEventElapsedTime");
    *ms = 1e-3f * (float)(n_replayed * setting("FAKE_CUDA_LAUNCH_US", 10));
    return CUDA_SUCCESS;
}

IDLE(cuGraphUpload, CUgraphExec exec UNUSED, CUstream stream UNUSED)
IDLE(cuGraphExecDestroy, CUgraphExec exec UNUSED)
IDLE(cuGraphDestroy, CUgraph graph UNUSED)
IDLE(cuEventDestroy, CUevent event UNUSED)
IDLE(cuEventRecordWithFlags, CUevent event UNUSED, CUstream stream UNUSED, unsigned flags UNUSED)
