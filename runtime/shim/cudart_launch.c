/* Fat binaries, the functions and variables that programs register from them, and launches. */
#include "cudart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRAPPER_MAGIC = 0x466243b1 };
struct wrapper { /* what nvcc hands to __cudaRegisterFatBinary */
    int magic, version;
    const void *fatbin;
    void *more;
};

static struct binary *binaries;

static void no_memory(void) {
    session_say("no memory for what the program registers");
    exit(4);
}

static void *obtain(size_t bytes) {
    void *p = calloc(1, bytes);
    if (!p) no_memory();
    return p;
}

/* ---- Registration: before main, so nothing is opened yet ------------------------------------- */

EXPORT void **__cudaRegisterFatBinary(void *given) {
    const struct wrapper *w = given;
    struct binary *b = obtain(sizeof *b);
    if (w->magic == WRAPPER_MAGIC) b->fatbin = w->fatbin;
    b->most = SIZE_MAX;
    b->next = binaries;
    return (void **)(binaries = b);
}
EXPORT void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
EXPORT void __cudaUnregisterFatBinary(void **handle) { (void)handle; }

EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                   int thread_limit, void *tid, void *bid, void *block, void *grid,
                                   int *warp_size) {
    (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid;
    (void)warp_size;
    struct binary *b = (struct binary *)handle;
    struct function *f = obtain(sizeof *f);
    *f = (struct function){.next = b->functions, .host = host, .name = name, .binary = b};
    b->functions = f;
}

static void add_variable(void **handle, const void *host, const char *name, void **managed) {
    struct binary *b = (struct binary *)handle;
    struct variable *v = obtain(sizeof *v);
    *v = (struct variable){.next = b->variables, .host = host, .name = name, .managed = managed};
    b->variables = v;
}
EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                              size_t bytes, int constant, int global) {
    (void)device, (void)ext, (void)bytes, (void)constant, (void)global;
    add_variable(handle, host, name, NULL);
}
EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                                     int ext, size_t bytes, int constant, int global) {
    (void)device, (void)ext, (void)bytes, (void)constant, (void)global;
    add_variable(handle, host, name, host);
}
EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes) {
    (void)handle, (void)name, (void)host, (void)bytes;
}
EXPORT void __cudaRegisterUnifiedTable(void **handle, void *table) { (void)handle, (void)table; }

EXPORT char __cudaInitModule(void **handle) {
    cudaError_t e;
    struct session *s = cudart_enter(&e);
    if (!s) return 0;
    cudart_leave(binary_load(s, (struct binary *)handle));
    return 1;
}

/* ---- Loading --------------------------------------------------------------------------------- */

/* Its first value lies where the host cannot use it. */
static cudaError_t share_variable(struct session *s, uint64_t p, uint64_t bytes) {
    void *value = malloc(bytes);
    if (!value) return cudaErrorMemoryAllocation;
    memcpy(value, emu_memory_at(s->memory, p, bytes), bytes);
    const char *why = emu_memory_share(s->memory, p);
    if (why) session_say("%s", why);
    memcpy(emu_memory_at(s->memory, p, bytes), value, bytes);
    free(value);
    stream_host_shares(s, true);
    return why ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t binary_load(struct session *s, struct binary *b) {
    if (!b->image) {
        struct fatbin_ptx ptx = {0};
        if (b->text)
            ptx.text = b->text, ptx.bytes = strlen(b->text);
        else if (b->fatbin)
            fatbin_find(b->fatbin, b->most, &s->info.chip, &ptx);
        b->image = session_add_image(s, &ptx);
        if (!b->image) return cudaErrorMemoryAllocation;
    }
    if (session_load(s, b->image))
        return b->image->ptx.text ? cudaErrorInvalidPtx : cudaErrorNoKernelImageForDevice;
    for (struct variable *v = b->variables; v; v = v->next) {
        uint64_t p, bytes;
        if (v->managed && !*v->managed && !variable_address(s, b, v->name, &p, &bytes)) {
            cudaError_t e = share_variable(s, p, bytes);
            if (e) return e;
            *v->managed = (void *)(uintptr_t)p;
        }
    }
    return cudaSuccess;
}

cudaError_t binary_open(struct session *s, const void *image, size_t most, struct binary **out) {
    struct binary *b = obtain(sizeof *b);
    const struct wrapper *w = image;
    b->most = most;
    if (most == SIZE_MAX && w->magic == WRAPPER_MAGIC)
        b->fatbin = w->fatbin;
    else if (fatbin_bytes(image, most))
        b->fatbin = image;
    else if (memcmp(image, "\177ELF", 4))
        b->text = strdup(image);
    cudaError_t e = binary_load(s, b);
    *out = e ? NULL : b;
    return e;
}

cudaError_t function_find(struct session *s, struct binary *b, const char *name,
                          struct function **out) {
    cudaError_t e = b ? binary_load(s, b) : cudaErrorInvalidResourceHandle;
    if (e) return e;
    for (struct function *f = b->functions; f; f = f->next)
        if (!strcmp(f->name, name)) {
            *out = f;
            return cudaSuccess;
        }
    struct kernel *k = session_kernel(s, b->image, name);
    if (!k) return cudaErrorSymbolNotFound;
    struct function *f = obtain(sizeof *f);
    *f = (struct function){.next = b->functions, .name = k->name, .binary = b, .kernel = k};
    *out = b->functions = f;
    return cudaSuccess;
}

static struct function *registered(const void *p) {
    for (struct binary *b = binaries; b; b = b->next)
        for (struct function *f = b->functions; f; f = f->next)
            if (f->host == p || f == p) return f;
    return NULL;
}

cudaError_t function_of(struct session *s, const void *p, struct kernel **out) {
    struct function *f = registered(p);
    if (!f) f = (struct function *)(uintptr_t)p; /* a handle of a module */
    if (!p) return cudaErrorInvalidDeviceFunction;
    if (!f->kernel) {
        cudaError_t e = binary_load(s, f->binary);
        if (e) return e;
        f->kernel = session_kernel(s, f->binary->image, f->name);
        if (!f->kernel) {
            session_say("no kernel %s in the program's PTX", f->name);
            return cudaErrorInvalidDeviceFunction;
        }
    }
    *out = f->kernel;
    return cudaSuccess;
}

cudaError_t variable_address(struct session *s, struct binary *b, const char *name, uint64_t *p,
                             uint64_t *bytes) {
    (void)s;
    if (!b) return cudaErrorInvalidResourceHandle;
    return emu_module_variable(b->image->module, name, p, bytes) ? cudaSuccess
                                                                 : cudaErrorInvalidSymbol;
}

static cudaError_t symbol(struct session *s, const void *host, uint64_t *p, uint64_t *bytes) {
    for (struct binary *b = binaries; b; b = b->next)
        for (struct variable *v = b->variables; v; v = v->next) {
            if (v->host != host && !(v->managed && *v->managed == host)) continue;
            cudaError_t e = binary_load(s, b);
            return e ? e : variable_address(s, b, v->name, p, bytes);
        }
    return cudaErrorInvalidSymbol;
}

/* ---- Variables ------------------------------------------------------------------------------- */

cudaError_t cudaGetSymbolAddress(void **out, const void *host) {
    WITH_SESSION(s);
    uint64_t p = 0, bytes;
    cudaError_t e = out ? symbol(s, host, &p, &bytes) : cudaErrorInvalidValue;
    if (!e) *out = (void *)(uintptr_t)p;
    return cudart_leave(e);
}

cudaError_t cudaGetSymbolSize(size_t *out, const void *host) {
    WITH_SESSION(s);
    uint64_t p, bytes = 0;
    cudaError_t e = out ? symbol(s, host, &p, &bytes) : cudaErrorInvalidValue;
    if (!e) *out = bytes;
    return cudart_leave(e);
}

static cudaError_t symbol_range(struct session *s, const void *host, size_t bytes, size_t offset,
                                char **at) {
    uint64_t p = 0, size = 0;
    cudaError_t e = symbol(s, host, &p, &size);
    if (!e && (offset > size || bytes > size - offset)) {
        session_say("a copy of %zu bytes, from byte %zu on, of a variable of %llu failed; only the "
                    "error that the call returned tells the program",
                    bytes, offset, (unsigned long long)size);
        e = cudaErrorInvalidValue;
    }
    *at = (char *)(uintptr_t)p + offset;
    return e;
}

cudaError_t cudaMemcpyToSymbol(const void *host, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind) {
    WITH_SESSION(s);
    char *at;
    cudaError_t e = symbol_range(s, host, bytes, offset, &at);
    return cudart_leave(e ? e : memory_copy(s, at, from, bytes, kind));
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *host, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind) {
    WITH_SESSION(s);
    char *at;
    cudaError_t e = symbol_range(s, host, bytes, offset, &at);
    return cudart_leave(e ? e : memory_copy(s, to, at, bytes, kind));
}
/* The node of a copy with a variable, whose address does not change. */
static cudaError_t capture_symbol(cudaGraph_t g, const void *host, void *other, bool to_symbol,
                                  size_t bytes, size_t offset, enum cudaMemcpyKind kind) {
    WITH_SESSION(s);
    char *at;
    cudaError_t e = cudart_leave(symbol_range(s, host, bytes, offset, &at));
    return e           ? e
           : to_symbol ? graph_add_copy(g, at, bytes, other, bytes, bytes, 1, kind)
                       : graph_add_copy(g, other, bytes, at, bytes, bytes, 1, kind);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *host, const void *from, size_t bytes, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream) {
    cudaGraph_t g = graph_capturing(stream);
    if (g) return capture_symbol(g, host, (void *)(uintptr_t)from, true, bytes, offset, kind);
    stream_enter(stream);
    return stream_leave(cudaMemcpyToSymbol(host, from, bytes, offset, kind));
}
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *host, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    cudaGraph_t g = graph_capturing(stream);
    if (g) return capture_symbol(g, host, to, false, bytes, offset, kind);
    stream_enter(stream);
    return stream_leave(cudaMemcpyFromSymbol(to, host, bytes, offset, kind));
}

/* ---- Launches -------------------------------------------------------------------------------- */

static _Thread_local struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} configured[16];
static _Thread_local int n_configured;

EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                            struct CUstream_st *stream) {
    if (n_configured == 16) return cudaErrorMissingConfiguration;
    configured[n_configured++] = (struct configuration){grid, block, shared, stream};
    return cudaSuccess;
}
EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                              void *stream) {
    if (!n_configured) return cudaErrorMissingConfiguration;
    const struct configuration *c = &configured[--n_configured];
    *grid = c->grid;
    *block = c->block;
    *shared = c->shared;
    *(cudaStream_t *)stream = c->stream;
    return cudaSuccess;
}

static cudaError_t code_of(enum fault f) {
    static const cudaError_t codes[] = {[FAULT_NONE] = cudaSuccess,
                                        [FAULT_CONFIG] = cudaErrorInvalidConfiguration,
                                        [FAULT_VALUE] = cudaErrorInvalidValue,
                                        [FAULT_ADDRESS] = cudaErrorIllegalAddress,
                                        [FAULT_ALIGNMENT] = cudaErrorMisalignedAddress,
                                        [FAULT_LAUNCH] = cudaErrorLaunchFailure,
                                        [FAULT_ASSERT] = cudaErrorAssert,
                                        [FAULT_TIMEOUT] = cudaErrorLaunchTimeout,
                                        [FAULT_MEMORY] = cudaErrorLaunchOutOfResources,
                                        [FAULT_REFUSED] = cudaErrorNotSupported};
    return codes[f];
}

cudaError_t launch_late_fault(struct session *s) {
    if (s->late_fault) cudart_fault(code_of(s->late_fault));
    return code_of(s->late_fault);
}

/* A fault while the kernel ran is found by the next call that waits for it, as on a GPU; a launch
 * that could not begin fails at once. */
cudaError_t function_launch(struct session *s, const void *p, const struct emu_grid *grid,
                            void *const *args) {
    struct kernel *k;
    cudaError_t e = function_of(s, p, &k);
    if (e) return e;
    enum fault f = session_launch(s, k, grid, args);
    if (!f) stream_launched(s, k->shown);
    if (f != FAULT_ADDRESS && f != FAULT_ALIGNMENT && f != FAULT_LAUNCH && f != FAULT_ASSERT &&
        f != FAULT_TIMEOUT)
        return code_of(f);
    cudart_fault(code_of(f));
    return cudaSuccess;
}

static cudaError_t launch(const void *p, dim3 grid, dim3 block, void **args, size_t shared,
                          cudaStream_t stream, bool cooperative) {
    WITH_SESSION(s);
    if (graph_capturing(stream)) {
        cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeCooperative,
                                         .val.cooperative = 1};
        cudaLaunchConfig_t c = {.gridDim = grid,
                                .blockDim = block,
                                .dynamicSmemBytes = shared,
                                .attrs = &attribute,
                                .numAttrs = cooperative};
        return cudart_leave(graph_add_launch(graph_capturing(stream), p, &c, args));
    }
    struct emu_grid g = {.grid = {grid.x, grid.y, grid.z},
                         .block = {block.x, block.y, block.z},
                         .shared_bytes = (unsigned)shared,
                         .ordinary = !cooperative};
    stream_enter(stream);
    cudaError_t e = shared > 1u << 30 ? cudaErrorInvalidValue : function_launch(s, p, &g, args);
    return stream_leave(cudart_leave(e));
}
cudaError_t cudaLaunchKernel(const void *p, dim3 grid, dim3 block, void **args, size_t shared,
                             cudaStream_t stream) {
    return launch(p, grid, block, args, shared, stream, false);
}
EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t k, dim3 grid, dim3 block, void **args,
                                      size_t shared, cudaStream_t stream) {
    return launch(k, grid, block, args, shared, stream, false);
}
/* All blocks of a cooperative launch run at once, or it does not begin. */
static cudaError_t check_cooperative(const void *p, dim3 grid, dim3 block, size_t shared) {
    const uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    int per_sm = 0;
    cudaError_t e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &per_sm, p, (int)(block.x * block.y * block.z), shared);
    if (e) return cudaSuccess; /* the launch itself says why */
    WITH_SESSION(s);
    struct kernel *k;
    if (blocks <= (uint64_t)per_sm * (uint64_t)s->info.chip.n_sms) return cudart_leave(cudaSuccess);
    if (!function_of(s, p, &k)) {
        const struct emu_grid all = {.grid = {grid.x, grid.y, grid.z},
                                     .block = {block.x, block.y, block.z},
                                     .shared_bytes = (unsigned)shared};
        char why[96];
        snprintf(why, sizeof why, "a cooperative launch; at most %llu blocks run at once",
                 (unsigned long long)per_sm * (unsigned)s->info.chip.n_sms);
        session_launch_failed(s, k, &all, why);
    }
    return cudart_leave(cudaErrorCooperativeLaunchTooLarge);
}

cudaError_t cudaLaunchCooperativeKernel(const void *p, dim3 grid, dim3 block, void **args,
                                        size_t shared, cudaStream_t stream) {
    cudaError_t e = check_cooperative(p, grid, block, shared);
    if (e) return e;
    return launch(p, grid, block, args, shared, stream, true);
}

static void read_attributes(const cudaLaunchConfig_t *c, struct emu_grid *g) {
    for (unsigned n = 0; n < c->numAttrs; n++) {
        const cudaLaunchAttribute *a = &c->attrs[n];
        if (a->id == cudaLaunchAttributeClusterDimension) {
            g->cluster[0] = a->val.clusterDim.x;
            g->cluster[1] = a->val.clusterDim.y;
            g->cluster[2] = a->val.clusterDim.z;
        } else if (a->id == cudaLaunchAttributeProgrammaticStreamSerialization) {
            g->overlaps_previous = a->val.programmaticStreamSerializationAllowed;
        } else if (a->id == cudaLaunchAttributeCooperative) {
            g->ordinary = !a->val.cooperative;
        }
    }
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *p, void **args) {
    WITH_SESSION(s);
    if (!c || c->dynamicSmemBytes > 1u << 30) return cudart_leave(cudaErrorInvalidValue);
    if (graph_capturing(c->stream))
        return cudart_leave(graph_add_launch(graph_capturing(c->stream), p, c, args));
    struct emu_grid g = {.grid = {c->gridDim.x, c->gridDim.y, c->gridDim.z},
                         .block = {c->blockDim.x, c->blockDim.y, c->blockDim.z},
                         .shared_bytes = (unsigned)c->dynamicSmemBytes,
                         .ordinary = true};
    read_attributes(c, &g);
    cudaError_t e = g.ordinary ? cudaSuccess
                               : check_cooperative(p, c->gridDim, c->blockDim, c->dynamicSmemBytes);
    if (e) return cudart_leave(e);
    stream_enter(c->stream);
    return stream_leave(cudart_leave(function_launch(s, p, &g, args)));
}

/* ---- Functions ------------------------------------------------------------------------------- */

EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host) {
    struct function *f = registered(host);
    if (!f) return cudaErrorInvalidDeviceFunction;
    *out = (cudaKernel_t)(void *)f;
    return cudaSuccess;
}
cudaError_t cudaGetKernel(cudaKernel_t *out, const void *host) {
    return __cudaGetKernel(out, host);
}
cudaError_t cudaGetFuncBySymbol(cudaFunction_t *out, const void *host) {
    struct function *f = registered(host);
    if (!f) return cudaErrorInvalidDeviceFunction;
    *out = (cudaFunction_t)(void *)f;
    return cudaSuccess;
}
cudaError_t cudaFuncGetName(const char **out, const void *host) {
    struct function *f = registered(host);
    if (!f || !out) return f ? cudaErrorInvalidValue : cudaErrorInvalidDeviceFunction;
    *out = f->name;
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *p) {
    WITH_SESSION(s);
    struct kernel *k;
    cudaError_t e = a ? function_of(s, p, &k) : cudaErrorInvalidValue;
    if (e) return cudart_leave(e);
    int statics = emu_kernel_static_shared(k->code), most = emu_kernel_max_threads(k->code);
    *a = (struct cudaFuncAttributes){
        .sharedSizeBytes = (size_t)statics,
        .localSizeBytes = (size_t)emu_kernel_local_bytes(k->code),
        .maxThreadsPerBlock = most ? most : 1024,
        .numRegs = k->n_registers > 0 ? k->n_registers : 0,
        .ptxVersion = s->info.chip.cc,
        .binaryVersion = s->info.chip.cc,
        .maxDynamicSharedSizeBytes = session_dynamic_shared(k),
        .preferredShmemCarveout = -1,
    };
    return cudart_leave(cudaSuccess);
}

cudaError_t cudaFuncSetAttribute(const void *p, enum cudaFuncAttribute a, int value) {
    WITH_SESSION(s);
    struct kernel *k;
    cudaError_t e = function_of(s, p, &k);
    if (e) return cudart_leave(e);
    if (a == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        if (value < 0 || value > s->info.chip.shared_per_block - emu_kernel_static_shared(k->code))
            return cudart_leave(cudaErrorInvalidValue);
        k->max_dynamic_shared = value;
    }
    if (a == cudaFuncAttributeNonPortableClusterSizeAllowed) k->non_portable_cluster = value;
    return cudart_leave(cudaSuccess);
}
cudaError_t cudaFuncSetCacheConfig(const void *p, enum cudaFuncCache c) {
    (void)p, (void)c;
    return cudaSuccess;
}
cudaError_t cudaFuncSetSharedMemConfig(const void *p, enum cudaSharedMemConfig c) {
    (void)p, (void)c;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, const void *p,
                                                                   int threads, size_t shared,
                                                                   unsigned flags) {
    WITH_SESSION(s);
    struct kernel *k;
    struct occupancy o;
    (void)flags;
    cudaError_t e = out ? function_of(s, p, &k) : cudaErrorInvalidValue;
    if (e) return cudart_leave(e);
    if (threads < 1 || shared > 1u << 30 || session_occupancy(s, k, threads, (int)shared, &o))
        return cudart_leave(cudaErrorInvalidValue);
    *out = threads > 1024 ? 0 : o.blocks_per_sm;
    return cudart_leave(cudaSuccess);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *out, const void *p, int threads,
                                                          size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, p, threads, shared, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *out, const void *p, int blocks,
                                                      int threads) {
    WITH_SESSION(s);
    struct kernel *k;
    (void)threads;
    cudaError_t e = out && blocks > 0 ? function_of(s, p, &k) : cudaErrorInvalidValue;
    if (e) return cudart_leave(e);
    int most = s->info.chip.shared_per_sm / blocks - 1024; /* 1 KB of each is the system's */
    if (most > s->info.chip.shared_per_block) most = s->info.chip.shared_per_block;
    most -= emu_kernel_static_shared(k->code);
    *out = most > 0 ? (size_t)most : 0;
    return cudart_leave(cudaSuccess);
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *out, const void *p,
                                                 const cudaLaunchConfig_t *c) {
    WITH_SESSION(s);
    struct kernel *k;
    (void)c;
    cudaError_t e = out ? function_of(s, p, &k) : cudaErrorInvalidValue;
    if (!e) *out = s->info.chip.cc < 90 ? 1 : k->non_portable_cluster ? 16 : 8;
    return cudart_leave(e);
}

cudaError_t cudaOccupancyMaxActiveClusters(int *out, const void *p, const cudaLaunchConfig_t *c) {
    WITH_SESSION(s);
    struct kernel *k;
    struct occupancy o;
    struct emu_grid g = {.cluster = {1, 1, 1}};
    cudaError_t e = out && c ? function_of(s, p, &k) : cudaErrorInvalidValue;
    if (e) return cudart_leave(e);
    read_attributes(c, &g);
    unsigned blocks = g.cluster[0] * g.cluster[1] * g.cluster[2];
    int threads = (int)(c->blockDim.x * c->blockDim.y * c->blockDim.z);
    if (!blocks || session_occupancy(s, k, threads, (int)c->dynamicSmemBytes, &o))
        return cudart_leave(cudaErrorInvalidValue);
    *out = o.blocks_per_sm * s->info.chip.n_sms / (int)blocks;
    return cudart_leave(cudaSuccess);
}
