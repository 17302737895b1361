/* device.h on a GPU: the CUDA driver API on the primary context of device 0, with one stream. */
#include "cuda_device.h"
#include "cuda_sm_clock.h"
#include "cuda_graph.h"
#include "common/base/path.h"
#include "common/base/reason.h"
#include "common/base/heap.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct device_image {
    CUmodule module;
    char *cubin; /* the file, cubin_bytes long */
    size_t cubin_bytes;
    char *path;
};

/* ---- Open and close ------------------------------------------------------------------------- */

/* Rates per clock come from the table of chip.c, because no driver states them, and so does DRAM's rate where
 * the board is in it; the rest comes from the driver. */
static const char *cuda_describe(struct cuda_device *c) {
    struct device_info *info = &c->device.info;
    int major, minor, khz, attribute_of[6];
    static const CUdevice_attribute attribute[6] = {
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
    };
    TRY(c, DeviceGetName, info->name, sizeof info->name, c->handle);
    TRY(c, DeviceTotalMem, &info->memory_bytes, c->handle);
    TRY(c, DeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, c->handle);
    TRY(c, DeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, c->handle);
    TRY(c, DeviceGetAttribute, &khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, c->handle);
    for (int i = 0; i < 6; i++)
        TRY(c, DeviceGetAttribute, &attribute_of[i], attribute[i], c->handle);

    int cc = 10 * major + minor;
    const struct chip *like = NULL;
    for (int i = 0; chip_at(i); i++)
        if (chip_at(i)->cc == cc && (!like || !strcmp(chip_at(i)->board, info->name)))
            like = chip_at(i);
    if (!like || (cc != 89 && cc != 90))
        return reason_as(STATUS_UNSUPPORTED,
                         "%s has compute capability %d.%d; the kernels are built for 8.9 (Ada) and "
                         "9.0 (Hopper): use --device emu",
                         info->name, major, minor);
    info->chip = *like;
    info->chip.board = info->name;
    info->chip.n_sms = attribute_of[0];
    info->chip.clock_mhz = khz / 1000;
    info->chip.max_warps_per_sm = attribute_of[1] / 32;
    info->chip.max_blocks_per_sm = attribute_of[2];
    info->chip.shared_per_sm = attribute_of[3];
    info->chip.shared_per_block = attribute_of[4];
    info->chip.l2_bytes = attribute_of[5];
    if (strcmp(like->board, info->name)) { /* no board of the table: two transfers a clock */
        int memory_khz, bus_bits;
        TRY(c, DeviceGetAttribute, &memory_khz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, c->handle);
        TRY(c, DeviceGetAttribute, &bus_bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH,
            c->handle);
        const int gb_per_s = (int)(2e-6 * memory_khz * bus_bits / 8);
        if (gb_per_s > 0) info->chip.dram_gb_per_s = gb_per_s; /* 0: the driver does not say */
    }
    snprintf(info->toolkit, sizeof info->toolkit, "%d.%d", CUDA_VERSION / 1000,
             CUDA_VERSION % 1000 / 10);
    return NULL;
}

/* Which of all GPUs it is, and who else uses it: before this process has a context there. */
static const char *cuda_name(struct cuda_device *c) {
    struct device_info *info = &c->device.info;
    CUuuid id;
    TRY(c, DeviceGetUuid, &id, c->handle); /* of a MIG slice: the slice's */
    info->is_slice = cuda_nvml_is_mig(c->nvml);
    int used = snprintf(info->uuid, sizeof info->uuid, info->is_slice ? "MIG-" : "GPU-");
    for (int i = 0; i < 16; i++)
        used +=
            snprintf(info->uuid + used, sizeof info->uuid - (size_t)used, "%s%02x",
                     i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned char)id.bytes[i]);
    info->n_others = cuda_nvml_others(c->nvml, info->uuid);
    return NULL;
}

/* The device, without a context on it. */
static const char *cuda_find(struct cuda_device *c) {
    char bus[32];
    int n_devices = 0;
    const char *why = cuda_driver_open(&c->cu);
    if (why) return why;
    TRY(c, DeviceGetCount, &n_devices);
    if (!n_devices) return reason_as(STATUS_NOTHING, CUDA_NO_GPU);
    TRY(c, DeviceGet, &c->handle, 0);
    if ((why = cuda_describe(c))) return why;
    TRY(c, DeviceGetPCIBusId, bus, sizeof bus, c->handle);
    c->nvml = cuda_nvml_open(bus);
    cuda_nvml_driver_version(c->nvml, c->device.info.driver, sizeof c->device.info.driver);
    return cuda_name(c);
}

static const char *cuda_start(struct cuda_device *c) {
    const char *why = cuda_find(c);
    if (why) return why;
    TRY(c, DevicePrimaryCtxRetain, &c->context, c->handle);
    TRY(c, CtxSetCurrent, c->context);
    TRY(c, StreamCreate, &c->stream, CU_STREAM_NON_BLOCKING);
    return NULL;
}

static void cuda_close(struct device *d) {
    struct cuda_device *c = cuda_of(d);
    if (c->flush) c->cu->MemFree(c->flush);
    cuda_sm_clock_close(c);
    if (c->stream) c->cu->StreamDestroy(c->stream);
    if (c->context) c->cu->DevicePrimaryCtxRelease(c->handle);
    cuda_nvml_close(c->nvml);
    free(c);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static const char *cuda_alloc(struct device *d, size_t bytes, device_ptr *out) {
    struct cuda_device *c = cuda_of(d);
    CUdeviceptr p = 0;
    CUresult r = c->cu->MemAlloc(&p, bytes ? bytes : 1);
    if (r == CUDA_ERROR_OUT_OF_MEMORY)
        return reason_as(STATUS_DEVICE,
                         "no room for %zu more bytes in the GPU's %zu MiB: choose a "
                         "smaller problem",
                         bytes, d->info.memory_bytes >> 20);
    *out = p;
    return cuda_driver_reason(c->cu, r, "cuMemAlloc");
}

static void cuda_free(struct device *d, device_ptr p) { cuda_of(d)->cu->MemFree(p); }

const char *cuda_sync(struct device *d) {
    struct cuda_device *c = cuda_of(d);
    TRY(c, StreamSynchronize, c->stream);
    return NULL;
}

static const char *cuda_copy_in(struct device *d, device_ptr to, const void *from, size_t bytes) {
    struct cuda_device *c = cuda_of(d);
    TRY(c, MemcpyHtoDAsync, to, from, bytes, c->stream);
    return cuda_sync(d);
}

static const char *cuda_copy_out(struct device *d, void *to, device_ptr from, size_t bytes) {
    struct cuda_device *c = cuda_of(d);
    TRY(c, MemcpyDtoHAsync, to, from, bytes, c->stream);
    return cuda_sync(d);
}

static const char *cuda_fill(struct device *d, device_ptr p, uint32_t word, size_t bytes) {
    struct cuda_device *c = cuda_of(d);
    TRY(c, MemsetD32Async, p, word, bytes / 4, c->stream); /* what follows is on the same stream */
    return NULL;
}

/* ---- Images and launches -------------------------------------------------------------------- */

static const char *cuda_load(struct device *d, const char *dir, const char *name,
                             struct device_image **out) {
    static const char *const hopper[] = {"sm_90a", "sm_90", NULL}, *const ada[] = {"sm_89", NULL};
    struct cuda_device *c = cuda_of(d);
    const char *const *arch = d->info.chip.cc == 90 ? hopper : ada;
    char path[PATH_MAX], *bytes = NULL;
    size_t n_bytes = 0;
    for (int i = 0; arch[i] && !bytes; i++) {
        snprintf(path, sizeof path, "%s/%s.%s.cubin", dir, name, arch[i]);
        bytes = path_read(path, &n_bytes);
        if (!bytes && errno != ENOENT)
            return reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
    }
    if (!bytes)
        return reason_as(STATUS_UNSUPPORTED,
                         "no image %s/%s.%s.cubin for %s: make the stage's images, "
                         "or the stage is not for this chip",
                         dir, name, arch[0], d->info.name);
    struct device_image *image = heap_zeroed(1, sizeof *image);
    CUresult r = c->cu->ModuleLoadData(&image->module, bytes);
    if (r) {
        free(bytes);
        free(image);
        return cuda_driver_reason(c->cu, r, path);
    }
    image->cubin = bytes;
    image->cubin_bytes = n_bytes;
    image->path = heap_text(path);
    *out = image;
    return NULL;
}

static void cuda_unload(struct device *d, struct device_image *image) {
    cuda_of(d)->cu->ModuleUnload(image->module);
    free(image->cubin);
    free(image->path);
    free(image);
}

static const char *cuda_kernel_info(struct device *d, struct device_image *image,
                                    const char *kernel, struct device_kernel_info *out) {
    struct cuda_device *c = cuda_of(d);
    CUfunction f;
    TRY(c, ModuleGetFunction, &f, image->module, kernel);
    TRY(c, FuncGetAttribute, &out->n_registers, CU_FUNC_ATTRIBUTE_NUM_REGS, f);
    TRY(c, FuncGetAttribute, &out->static_shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f);
    TRY(c, FuncGetAttribute, &out->local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f);
    TRY(c, FuncGetAttribute, &out->max_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f);
    return NULL;
}

static const char *cuda_variable(struct device *d, struct device_image *image, const char *name,
                                 device_ptr *out, size_t *bytes) {
    struct cuda_device *c = cuda_of(d);
    CUdeviceptr p;
    TRY(c, ModuleGetGlobal, &p, bytes, image->module, name);
    *out = p;
    return NULL;
}

static const char *cuda_tensor_map(struct device *d, const struct device_tensor_map *m,
                                   void *map_128_bytes) {
    struct cuda_device *c = cuda_of(d);
    const cuuint32_t element_strides[5] = {1, 1, 1, 1, 1};
    CUtensorMapSwizzle swizzle = m->swizzle_bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                 : m->swizzle_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                 : m->swizzle_bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                          : CU_TENSOR_MAP_SWIZZLE_NONE;
    /* A row of a swizzled box is 128 bytes at most: that is what L2 should fetch at a time. With
     * 256, decoding, which DRAM bounds, took 9 % longer on an H200 (stage 6's README). */
    TRY(c, TensorMapEncodeTiled, map_128_bytes, CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        (cuuint32_t)m->rank, (void *)m->base, (const cuuint64_t *)m->extent,
        (const cuuint64_t *)m->stride + 1, m->box, element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
        swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return NULL;
}

/* The driver requires an attribute for features that not every GPU has. */
static const char *cuda_allow(struct cuda_device *c, const struct device_launch *l, CUfunction f) {
    if (l->shared_bytes > 48 * 1024)
        TRY(c, FuncSetAttribute, f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            (int)l->shared_bytes);
    if (l->cluster[0] * l->cluster[1] * l->cluster[2] > 8)
        TRY(c, FuncSetAttribute, f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    return NULL;
}

const char *cuda_launch(struct device *d, struct device_image *image,
                        const struct device_launch *l) {
    struct cuda_device *c = cuda_of(d);
    const unsigned *cluster = l->cluster;
    CUfunction f;
    CUlaunchAttribute attribute[2];
    unsigned n = 0;
    if (cluster[0] * cluster[1] * cluster[2] > 1)
        attribute[n++] =
            (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                .value.clusterDim = {cluster[0], cluster[1], cluster[2]}};
    if (l->overlaps_previous) /* a programmatic edge where the launch becomes a graph's node */
        attribute[n++] =
            (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                .value.programmaticStreamSerializationAllowed = 1};
    CUlaunchConfig config = {.gridDimX = l->grid[0],
                             .gridDimY = l->grid[1],
                             .gridDimZ = l->grid[2],
                             .blockDimX = l->block[0],
                             .blockDimY = l->block[1],
                             .blockDimZ = l->block[2],
                             .sharedMemBytes = l->shared_bytes,
                             .hStream = c->stream,
                             .attrs = attribute,
                             .numAttrs = n};
    void *args[DEVICE_MAX_ARGS];
    for (int i = 0; i < l->n_args; i++) args[i] = (void *)l->arg[i];
    TRY(c, ModuleGetFunction, &f, image->module, l->kernel);
    const char *why = cuda_allow(c, l, f);
    if (why) return why;
    TRY(c, LaunchKernelEx, &config, f, args, NULL);
    return NULL;
}

static const struct device_ops cuda_ops = {
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .copy_in = cuda_copy_in,
    .copy_out = cuda_copy_out,
    .fill = cuda_fill,
    .load = cuda_load,
    .unload = cuda_unload,
    .kernel_info = cuda_kernel_info,
    .variable = cuda_variable,
    .tensor_map = cuda_tensor_map,
    .launch = cuda_launch,
    .sync = cuda_sync,
    .graph_open = cuda_graph_open,
    .graph_time = cuda_graph_time,
    .graph_close = cuda_graph_close,
    .graph_sm_clock_mhz = cuda_graph_sm_clock_mhz,
    .clock_mhz = cuda_sm_clock_mhz,
    .power_watts = cuda_power_watts,
};

void *device_cuda_stream(struct device *d, void *stream) {
    void *before = cuda_of(d)->stream;
    cuda_of(d)->stream = stream;
    return before;
}

const char *device_cuda_scratch(struct device *d, size_t bytes, device_ptr *out) {
    struct cuda_device *c = cuda_of(d);
    CUdeviceptr p = 0;
    TRY(c, CtxSetCurrent, c->context);
    if (bytes) TRY(c, MemAllocAsync, &p, bytes, c->stream);
    *out = p;
    return NULL;
}

const char *device_cuda_scratch_end(struct device *d, device_ptr p) {
    struct cuda_device *c = cuda_of(d);
    if (p) TRY(c, MemFreeAsync, p, c->stream);
    return NULL;
}

const char *device_cuda_mark(struct device *d, int mark, void *stream) {
    return cuda_sm_clock_mark(cuda_of(d), mark, stream);
}
const char *device_cuda_between(struct device *d, double *mhz) {
    return cuda_sm_clock_between(cuda_of(d), mhz);
}

void *device_cuda_context(struct device *d) {
    return d->info.is_emulator ? NULL : cuda_of(d)->context;
}

const void *device_cuda_cubin(const struct device *d, const struct device_image *image,
                              size_t *bytes) {
    *bytes = d->info.is_emulator ? 0 : image->cubin_bytes;
    return d->info.is_emulator ? NULL : image->cubin;
}

const char *device_cuda_open(struct device **out) {
    struct cuda_device *c = heap_zeroed(1, sizeof *c);
    *out = NULL;
    c->device.ops = &cuda_ops;
    const char *why = cuda_start(c);
    if (why) {
        cuda_close(&c->device);
        return why;
    }
    *out = &c->device;
    return NULL;
}

const char *device_cuda_info(struct device_info *out) {
    struct cuda_device c = {.handle = 0};
    const char *why = cuda_find(&c);
    *out = c.device.info;
    cuda_nvml_close(c.nvml);
    return why;
}

const char *device_cuda_path(const struct device_image *image) { return image->path; }
