#include "kernel_gpu.h"

#include "common/base/heap.h"
#include "common/base/reason.h"
#include "common/device/cuda_driver.h"

#include <stdlib.h>

/* Its symbol, to be freed, and whether it takes these arguments: its PTX says so here as on the emulator. */
static const char *check(const struct chip *chip, const char *image, size_t bytes, const char *name,
                         const struct raw_arg *arg, int n, char **out) {
    struct fatbin_ptx ptx;
    struct emu_memory *memory = NULL;
    struct emu_module *module = NULL;
    const char *symbol;
    if (!fatbin_find(image, bytes, chip, &ptx))
        ptx = (struct fatbin_ptx){.text = image, .bytes = bytes};
    const char *why = emu_memory_open(&memory);
    if (!why) why = emu_module_open(memory, ptx.text, ptx.bytes, "the program's PTX", &module);
    if (why) why = reason_as(STATUS_UNSUPPORTED, "%s", why);
    if (!why) why = raw_find(module, name, &symbol);
    if (!why) {
        *out = heap_text(symbol);
        char *shown = session_shown_name(symbol);
        why = raw_check(emu_module_kernel(module, symbol), shown, arg, n);
        free(shown);
    }
    if (module) emu_module_close(module);
    if (memory) emu_memory_close(memory);
    return why;
}

static const char *refusal_of(const struct cuda_driver *cu, CUresult r, const char *call,
                              const char *name) {
    switch (r) {
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
        return raw_fault(FAULT_VALUE, name, "");
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
        return raw_fault(FAULT_MEMORY, name, "");
    default:
        return cuda_driver_reason(cu, r, call);
    }
}

/* What a host program would ask for before the launch, if it is needed. */
static const char *allow(const struct cuda_driver *cu, CUfunction f, const struct emu_grid *g,
                         const char *name) {
    int static_shared = 0;
    CUresult r = cu->FuncGetAttribute(&static_shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f);
    if (!r && g->shared_bytes + (unsigned)static_shared > 48 << 10)
        r = cu->FuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 (int)g->shared_bytes);
    if (!r && g->cluster[0] * g->cluster[1] * g->cluster[2] > 8)
        r = cu->FuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    return refusal_of(cu, r, "cuFuncSetAttribute", name);
}

static const char *launch(const struct cuda_driver *cu, CUfunction f, const struct emu_grid *g,
                          void **args, const char *name) {
    const unsigned *cluster = g->cluster;
    CUlaunchAttribute clusters = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                  .value.clusterDim = {cluster[0], cluster[1], cluster[2]}};
    const CUlaunchConfig config = {.gridDimX = g->grid[0],
                                   .gridDimY = g->grid[1],
                                   .gridDimZ = g->grid[2],
                                   .blockDimX = g->block[0],
                                   .blockDimY = g->block[1],
                                   .blockDimZ = g->block[2],
                                   .sharedMemBytes = g->shared_bytes,
                                   .attrs = &clusters,
                                   .numAttrs = cluster[0] * cluster[1] * cluster[2] > 0};
    const char *why = allow(cu, f, g, name);
    if (why) return why;
    return refusal_of(cu, cu->LaunchKernelEx(&config, f, args, NULL), "cuLaunchKernelEx", name);
}

/* The symbol, loaded and launched; NULL: it has run to its end. */
static const char *run(const char *image, const char *symbol, const char *name,
                       const struct emu_grid *config, void **args) {
    const struct cuda_driver *cu;
    CUmodule module;
    CUfunction f;
    const char *why = cuda_driver_open(&cu);
    if (!why) why = cuda_driver_reason(cu, cu->ModuleLoadData(&module, image), "cuModuleLoadData");
    if (why) return why;
    why = cuda_driver_reason(cu, cu->ModuleGetFunction(&f, module, symbol), "cuModuleGetFunction");
    if (!why) why = launch(cu, f, config, args, name);
    if (!why) why = cuda_driver_reason(cu, cu->StreamSynchronize(NULL), "cuStreamSynchronize");
    cu->ModuleUnload(module);
    return why;
}

const char *kernel_gpu_launch(struct device *d, const char *image, size_t bytes, const char *name,
                              const struct emu_grid *config, const struct raw_arg *arg, int n) {
    device_ptr array[EMU_MAX_ARGS] = {0};
    void *args[EMU_MAX_ARGS];
    char *symbol = NULL;
    const char *why = n > EMU_MAX_ARGS ? "too many arguments" : NULL;
    if (!why) why = check(&device_info(d)->chip, image, bytes, name, arg, n, &symbol);
    for (int a = 0; a < n && !why; a++) {
        args[a] = arg[a].is_array ? (void *)&array[a] : arg[a].at;
        if (!arg[a].is_array) continue;
        why = device_alloc(d, arg[a].bytes, &array[a]);
        if (!why && arg[a].bytes) why = device_copy_in(d, array[a], arg[a].at, arg[a].bytes);
    }
    if (!why) why = run(image, symbol, name, config, args);
    for (int a = 0; a < n && a < EMU_MAX_ARGS; a++) {
        if (!array[a]) continue;
        if (!why && arg[a].bytes) why = device_copy_out(d, arg[a].at, array[a], arg[a].bytes);
        device_free(d, array[a]);
    }
    free(symbol);
    return why;
}
