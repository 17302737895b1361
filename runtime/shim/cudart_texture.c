/* Arrays, textures and surfaces. An array is rows of texels in device memory that no kernel gets the
 * address of; an object lives in the session's table of them (core/texture.h). */
#include "cudart.h"

#include "emulator/core/texture.h"

#include <stdlib.h>
#include <string.h>

struct cudaArray {
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent; /* as it was asked for: zeros where there is no such dimension */
    unsigned flags;
    size_t element_bytes, pitch, rows; /* of a slice */
    void *data;
};

/* ---- Formats --------------------------------------------------------------------------------- */

EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                          enum cudaChannelFormatKind kind) {
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

static int channels_of(const struct cudaChannelFormatDesc *f) {
    int bits[4] = {f->x, f->y, f->z, f->w}, n = 0;
    while (n < 4 && bits[n]) n++;
    for (int c = 1; c < n; c++)
        if (bits[c] != bits[0]) return 0;
    bool known = f->f == cudaChannelFormatKindSigned || f->f == cudaChannelFormatKindUnsigned ||
                 f->f == cudaChannelFormatKindFloat;
    return known && (bits[0] == 8 || bits[0] == 16 || bits[0] == 32) && n != 3 ? n : 0;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static size_t at_least_one(size_t n) { return n ? n : 1; }

cudaError_t cudaMalloc3DArray(cudaArray_t *out, const struct cudaChannelFormatDesc *format,
                              struct cudaExtent extent, unsigned flags) {
    WITH_SESSION(s);
    int n = format ? channels_of(format) : 0;
    const size_t most = 1 << 17; /* of a GPU's limits the largest: no product overflows */
    if (!out || !n || !extent.width || extent.width > most || extent.height > most ||
        extent.depth > most)
        return cudart_leave(cudaErrorInvalidValue);
    struct cudaArray *a = calloc(1, sizeof *a);
    if (!a) return cudart_leave(cudaErrorMemoryAllocation);
    *a = (struct cudaArray){.format = *format, .extent = extent, .flags = flags};
    a->element_bytes = (size_t)n * (size_t)format->x / 8;
    a->pitch = extent.width * a->element_bytes;
    a->rows = at_least_one(extent.height);
    cudaError_t e =
        memory_alloc(s, &a->data, a->pitch * a->rows * at_least_one(extent.depth), MEMORY_DEVICE);
    if (e) free(a);
    *out = e ? NULL : a;
    return cudart_leave(e);
}
cudaError_t cudaMallocArray(cudaArray_t *out, const struct cudaChannelFormatDesc *format,
                            size_t width, size_t height, unsigned flags) {
    return cudaMalloc3DArray(out, format, (struct cudaExtent){width, height, 0}, flags);
}
cudaError_t cudaFreeArray(cudaArray_t a) {
    WITH_SESSION(s);
    if (!a) return cudart_leave(cudaSuccess);
    cudaError_t e = memory_free(s, a->data, FREE_DEVICE);
    free(a);
    return cudart_leave(e);
}
cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cudaExtent *extent,
                             unsigned *flags, cudaArray_t a) {
    if (!a) return cudaErrorInvalidResourceHandle;
    if (format) *format = a->format;
    if (extent) *extent = a->extent;
    if (flags) *flags = a->flags;
    return cudaSuccess;
}
cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *format, cudaArray_const_t a) {
    if (!a || !format) return cudaErrorInvalidValue;
    *format = a->format;
    return cudaSuccess;
}

size_t array_memory(cudaArray_const_t a, struct cudaPitchedPtr *out) {
    *out = (struct cudaPitchedPtr){a->data, a->pitch, a->pitch, a->rows};
    return a->element_bytes;
}

/* ---- Copies: x in bytes, y in rows ------------------------------------------------------------ */

static cudaError_t copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                             size_t width, size_t height, enum cudaMemcpyKind kind) {
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
static char *row_of(cudaArray_const_t a, size_t x, size_t y) {
    return (char *)a->data + y * a->pitch + x;
}
static bool has_rows(cudaArray_const_t a, size_t x, size_t y, size_t width, size_t height) {
    return a && x <= a->pitch && width <= a->pitch - x && y <= a->rows && height <= a->rows - y;
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t a, size_t x, size_t y, const void *from, size_t pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind) {
    if (!has_rows(a, x, y, width, height)) return cudaErrorInvalidValue;
    return copy_rows(row_of(a, x, y), a->pitch, from, pitch, width, height, kind);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t a, size_t x, size_t y, const void *from,
                                     size_t pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream) {
    cudaGraph_t g = graph_capturing(stream);
    if (!has_rows(a, x, y, width, height)) return cudaErrorInvalidValue;
    if (g) return graph_add_copy(g, row_of(a, x, y), a->pitch, from, pitch, width, height, kind);
    stream_enter(stream);
    return stream_leave(cudaMemcpy2DToArray(a, x, y, from, pitch, width, height, kind));
}
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t a, size_t x, size_t y,
                                  size_t width, size_t height, enum cudaMemcpyKind kind) {
    if (!has_rows(a, x, y, width, height)) return cudaErrorInvalidValue;
    return copy_rows(to, pitch, row_of(a, x, y), a->pitch, width, height, kind);
}
cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t a, size_t x,
                                       size_t y, size_t width, size_t height,
                                       enum cudaMemcpyKind kind, cudaStream_t stream) {
    cudaGraph_t g = graph_capturing(stream);
    if (!has_rows(a, x, y, width, height)) return cudaErrorInvalidValue;
    if (g) return graph_add_copy(g, to, pitch, row_of(a, x, y), a->pitch, width, height, kind);
    stream_enter(stream);
    return stream_leave(cudaMemcpy2DFromArray(to, pitch, a, x, y, width, height, kind));
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                     cudaArray_const_t from, size_t x, size_t y, size_t width,
                                     size_t height, enum cudaMemcpyKind kind) {
    if (!has_rows(from, x, y, width, height)) return cudaErrorInvalidValue;
    return cudaMemcpy2DToArray(to, to_x, to_y, row_of(from, x, y), from->pitch, width, height,
                               kind);
}
/* A run of bytes through the rows; `at` becomes where it lies in the array. */
static cudaError_t find_run(cudaArray_const_t a, size_t x, size_t y, size_t bytes, char **at) {
    if (!a || y * a->pitch + x + bytes > a->pitch * a->rows) return cudaErrorInvalidValue;
    *at = row_of(a, x, y);
    return cudaSuccess;
}
cudaError_t cudaMemcpyToArray(cudaArray_t a, size_t x, size_t y, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind) {
    char *at;
    cudaError_t e = find_run(a, x, y, bytes, &at);
    return e ? e : cudaMemcpy(at, from, bytes, kind);
}
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t a, size_t x, size_t y, size_t bytes,
                                enum cudaMemcpyKind kind) {
    char *at;
    cudaError_t e = find_run(a, x, y, bytes, &at);
    return e ? e : cudaMemcpy(to, at, bytes, kind);
}

/* ---- Objects --------------------------------------------------------------------------------- */

/* What an object reads: an array, or memory in rows. */
static cudaError_t read_resource(const struct cudaResourceDesc *r, struct emu_texture *t) {
    struct cudaChannelFormatDesc format;
    struct cudaPitchedPtr p = {0};
    if (r->resType == cudaResourceTypeArray) {
        const struct cudaArray *a = r->res.array.array;
        if (!a) return cudaErrorInvalidValue;
        format = a->format;
        array_memory(a, &p);
        t->extent[0] = (uint32_t)a->extent.width;
        t->extent[1] = (uint32_t)a->rows;
        t->extent[2] = (uint32_t)at_least_one(a->extent.depth);
    } else if (r->resType == cudaResourceTypePitch2D) {
        format = r->res.pitch2D.desc;
        p = (struct cudaPitchedPtr){r->res.pitch2D.devPtr, r->res.pitch2D.pitchInBytes, 0,
                                    r->res.pitch2D.height};
        t->extent[0] = (uint32_t)r->res.pitch2D.width;
        t->extent[1] = (uint32_t)r->res.pitch2D.height;
        t->extent[2] = 1;
    } else if (r->resType == cudaResourceTypeLinear) {
        format = r->res.linear.desc;
        p = (struct cudaPitchedPtr){r->res.linear.devPtr, r->res.linear.sizeInBytes, 0, 1};
        t->extent[1] = t->extent[2] = 1;
        t->is_buffer = true;
    } else {
        return cudaErrorNotSupported;
    }
    t->channels = (uint8_t)channels_of(&format);
    if (!t->channels || !p.ptr) return cudaErrorInvalidValue;
    t->channel_bytes = (uint8_t)(format.x / 8);
    if (t->is_buffer) t->extent[0] = (uint32_t)(p.pitch / t->channels / t->channel_bytes);
    t->texel = format.f == cudaChannelFormatKindFloat    ? EMU_TEXEL_FLOAT
               : format.f == cudaChannelFormatKindSigned ? EMU_TEXEL_SIGNED
                                                         : EMU_TEXEL_UNSIGNED;
    t->data = (uint64_t)(uintptr_t)p.ptr;
    t->pitch = p.pitch;
    t->slice = p.pitch * p.ysize;
    t->bytes = t->slice * t->extent[2];
    if (r->resType == cudaResourceTypePitch2D) /* the last row may be shorter than the pitch */
        t->bytes = t->slice - p.pitch + (uint64_t)t->extent[0] * t->channels * t->channel_bytes;
    return cudaSuccess;
}

static cudaError_t create(struct session *s, unsigned long long *out, const struct emu_texture *t) {
    uint64_t handle;
    if (emu_texture_make(s->memory, t, &handle)) return cudaErrorInvalidValue;
    *out = handle;
    return cudaSuccess;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *out, const struct cudaResourceDesc *r,
                                    const struct cudaTextureDesc *d,
                                    const struct cudaResourceViewDesc *view) {
    WITH_SESSION(s);
    if (!out || !r || !d) return cudart_leave(cudaErrorInvalidValue);
    if (r->resType == cudaResourceTypeMipmappedArray || d->sRGB ||
        (view && view->format != cudaResViewFormatNone))
        return cudart_leave(
            cudart_unsupported("a texture of a mipmap, in sRGB or through another format"));
    struct emu_texture t = {0};
    cudaError_t e = read_resource(r, &t);
    if (e) return cudart_leave(e);
    static const uint8_t edges[] = {[cudaAddressModeWrap] = EMU_EDGE_WRAP,
                                    [cudaAddressModeClamp] = EMU_EDGE_CLAMP,
                                    [cudaAddressModeMirror] = EMU_EDGE_MIRROR,
                                    [cudaAddressModeBorder] = EMU_EDGE_BORDER};
    bool is_3d = r->resType == cudaResourceTypeArray &&
                 !(r->res.array.array->flags & (cudaArrayLayered | cudaArrayCubemap));
    for (int n = 0; n < 3; n++) {
        if ((unsigned)d->addressMode[n] > 3) return cudart_leave(cudaErrorInvalidValue);
        t.edge[n] = edges[d->addressMode[n]];
        if (n == 2 && !is_3d) t.edge[n] = EMU_EDGE_CLAMP; /* layers and faces */
    }
    t.linear = d->filterMode == cudaFilterModeLinear;
    t.normalized = d->normalizedCoords;
    t.as_fraction = d->readMode == cudaReadModeNormalizedFloat && t.channel_bytes < 4 &&
                    t.texel != EMU_TEXEL_FLOAT;
    memcpy(t.border, d->borderColor, sizeof t.border);
    if (t.linear && t.texel != EMU_TEXEL_FLOAT && !t.as_fraction) e = cudaErrorInvalidValue;
    return cudart_leave(e ? e : create(s, out, &t));
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *out, const struct cudaResourceDesc *r) {
    WITH_SESSION(s);
    struct emu_texture t = {.is_surface = true};
    bool fine = out && r && r->resType == cudaResourceTypeArray;
    cudaError_t e = fine ? read_resource(r, &t) : cudaErrorInvalidValue;
    return cudart_leave(e ? e : create(s, out, &t));
}

static cudaError_t destroy(unsigned long long object, bool is_surface) {
    WITH_SESSION(s);
    const struct emu_texture *t = emu_texture_find(s->memory, object);
    if (!t || t->is_surface != is_surface)
        return cudart_leave(object ? cudaErrorInvalidValue : cudaSuccess);
    emu_texture_drop(s->memory, object);
    return cudart_leave(cudaSuccess);
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t t) { return destroy(t, false); }
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t t) { return destroy(t, true); }
