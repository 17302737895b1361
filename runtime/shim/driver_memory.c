/* The driver's arrays, textures and virtual memory, in terms of the runtime's. */
#include "cudart.h"

#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

#include <stdlib.h>
#include <string.h>

#define CODE(e) ((CUresult)(e))
#define AT(p)   ((void *)(uintptr_t)(p))

/* ---- Arrays and textures: a CUarray is a cudaArray_t ------------------------------------------- */

static bool channel_format(CUarray_format f, unsigned channels, struct cudaChannelFormatDesc *out) {
    static const struct {
        CUarray_format format;
        int bits;
        enum cudaChannelFormatKind kind;
    } known[] = {{CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
                 {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
                 {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
                 {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
                 {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
                 {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
                 {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
                 {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        int bits = known[k].bits;
        if (known[k].format != f) continue;
        *out =
            (struct cudaChannelFormatDesc){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                                           channels > 3 ? bits : 0, known[k].kind};
        return true;
    }
    return false;
}

CUresult cuArray3DCreate(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *d) {
    struct cudaChannelFormatDesc format;
    if (!d || !channel_format(d->Format, d->NumChannels, &format)) return CUDA_ERROR_INVALID_VALUE;
    struct cudaExtent extent = {d->Width, d->Height, d->Depth};
    return CODE(cudaMalloc3DArray((cudaArray_t *)(void *)out, &format, extent, d->Flags));
}
CUresult cuArrayCreate(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *d) {
    if (!d) return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR same = {
        .Width = d->Width, .Height = d->Height, .Format = d->Format, .NumChannels = d->NumChannels};
    return cuArray3DCreate(out, &same);
}
CUresult cuArrayDestroy(CUarray a) { return CODE(cudaFreeArray((cudaArray_t)(void *)a)); }

/* One side of a 2D copy: where its first byte lies. */
static void *side(CUmemorytype type, const void *host, CUdeviceptr device, CUarray array, size_t x,
                  size_t y, size_t *pitch) {
    struct cudaPitchedPtr p = {AT(device), *pitch, 0, 0};
    if (type == CU_MEMORYTYPE_HOST) p.ptr = (void *)(uintptr_t)host;
    if (type == CU_MEMORYTYPE_ARRAY) array_memory((cudaArray_t)(void *)array, &p);
    *pitch = p.pitch;
    return (char *)p.ptr + y * p.pitch + x;
}
/* At once, or as a node of g. */
static cudaError_t copy_2d(cudaGraph_t g, const CUDA_MEMCPY2D *c) {
    if (!c) return cudaErrorInvalidValue;
    size_t from_pitch = c->srcPitch ? c->srcPitch : c->WidthInBytes,
           to_pitch = c->dstPitch ? c->dstPitch : c->WidthInBytes;
    const void *from = side(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcXInBytes,
                            c->srcY, &from_pitch);
    void *to = side(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes,
                    c->dstY, &to_pitch);
    return g ? graph_add_copy(g, to, to_pitch, from, from_pitch, c->WidthInBytes, c->Height,
                              cudaMemcpyDefault)
             : cudaMemcpy2D(to, to_pitch, from, from_pitch, c->WidthInBytes, c->Height,
                            cudaMemcpyDefault);
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D *c) { return CODE(copy_2d(NULL, c)); }
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *c) { return cuMemcpy2D(c); }
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *c, CUstream stream) {
    stream_enter(stream);
    return CODE(stream_leave(copy_2d(graph_capturing(stream), c)));
}

static bool read_resource(const CUDA_RESOURCE_DESC *r, struct cudaResourceDesc *out) {
    memset(out, 0, sizeof *out);
    if (r->resType == CU_RESOURCE_TYPE_ARRAY) {
        out->resType = cudaResourceTypeArray;
        out->res.array.array = (cudaArray_t)(void *)r->res.array.hArray;
        return true;
    }
    if (r->resType == CU_RESOURCE_TYPE_LINEAR) {
        out->resType = cudaResourceTypeLinear;
        out->res.linear.devPtr = AT(r->res.linear.devPtr);
        out->res.linear.sizeInBytes = r->res.linear.sizeInBytes;
        return channel_format(r->res.linear.format, r->res.linear.numChannels,
                              &out->res.linear.desc);
    }
    if (r->resType != CU_RESOURCE_TYPE_PITCH2D) return false;
    out->resType = cudaResourceTypePitch2D;
    out->res.pitch2D.devPtr = AT(r->res.pitch2D.devPtr);
    out->res.pitch2D.width = r->res.pitch2D.width;
    out->res.pitch2D.height = r->res.pitch2D.height;
    out->res.pitch2D.pitchInBytes = r->res.pitch2D.pitchInBytes;
    return channel_format(r->res.pitch2D.format, r->res.pitch2D.numChannels,
                          &out->res.pitch2D.desc);
}

CUresult cuTexObjectCreate(CUtexObject *out, const CUDA_RESOURCE_DESC *r,
                           const CUDA_TEXTURE_DESC *d, const CUDA_RESOURCE_VIEW_DESC *view) {
    struct cudaResourceDesc resource;
    if (!r || !d || !read_resource(r, &resource)) return CUDA_ERROR_INVALID_VALUE;
    if (view || d->flags & CU_TRSF_SRGB)
        return CODE(cudart_unsupported("cuTexObjectCreate in sRGB or with a view"));
    struct cudaTextureDesc texture = {
        .filterMode = (enum cudaTextureFilterMode)d->filterMode,
        .readMode = d->flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType
                                                       : cudaReadModeNormalizedFloat,
        .normalizedCoords = (d->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0};
    for (int n = 0; n < 3; n++)
        texture.addressMode[n] = (enum cudaTextureAddressMode)d->addressMode[n];
    memcpy(texture.borderColor, d->borderColor, sizeof texture.borderColor);
    return CODE(cudaCreateTextureObject(out, &resource, &texture, NULL));
}
CUresult cuTexObjectDestroy(CUtexObject t) { return CODE(cudaDestroyTextureObject(t)); }
CUresult cuSurfObjectCreate(CUsurfObject *out, const CUDA_RESOURCE_DESC *r) {
    struct cudaResourceDesc resource;
    if (!r || !read_resource(r, &resource)) return CUDA_ERROR_INVALID_VALUE;
    return CODE(cudaCreateSurfaceObject(out, &resource));
}
CUresult cuSurfObjectDestroy(CUsurfObject t) { return CODE(cudaDestroySurfaceObject(t)); }

/* ---- Virtual memory: what is reserved is there at once, and mapping changes nothing ------------- */

enum { GRANULARITY = 2 << 20 };
struct physical { /* what cuMemCreate gives a handle to */
    CUmemAllocationProp prop;
    size_t bytes;
};

CUresult cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *p,
                                       CUmemAllocationGranularity_flags f) {
    (void)f;
    if (!out || !p) return CUDA_ERROR_INVALID_VALUE;
    *out = GRANULARITY;
    return CUDA_SUCCESS;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t bytes, const CUmemAllocationProp *p,
                     unsigned long long flags) {
    if (!out || !p || !bytes || bytes % GRANULARITY || flags) return CUDA_ERROR_INVALID_VALUE;
    if (p->requestedHandleTypes) return CODE(cudart_unsupported("cuMemCreate to be shared"));
    struct physical *made = malloc(sizeof *made);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    *made = (struct physical){*p, bytes};
    *out = (CUmemGenericAllocationHandle)(uintptr_t)made;
    return CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle h) {
    free(AT(h));
    return CUDA_SUCCESS;
}
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *out,
                                                CUmemGenericAllocationHandle h) {
    if (!out || !h) return CUDA_ERROR_INVALID_VALUE;
    *out = ((const struct physical *)AT(h))->prop;
    return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr *out, size_t bytes, size_t alignment, CUdeviceptr wanted,
                             unsigned long long flags) {
    (void)alignment, (void)wanted;
    if (bytes % GRANULARITY || flags) return CUDA_ERROR_INVALID_VALUE;
    return cuMemAlloc(out, bytes);
}
CUresult cuMemAddressFree(CUdeviceptr p, size_t bytes) {
    (void)bytes;
    return cuMemFree(p);
}
static CUresult check_range(CUdeviceptr p, size_t bytes) {
    cudaError_t e;
    struct session *s = cudart_enter(&e);
    if (!s) return CODE(e);
    return CODE(
        cudart_leave(emu_memory_at(s->memory, p, bytes) ? cudaSuccess : cudaErrorInvalidValue));
}
CUresult cuMemMap(CUdeviceptr p, size_t bytes, size_t offset, CUmemGenericAllocationHandle h,
                  unsigned long long flags) {
    const struct physical *from = AT(h);
    if (!from || offset || flags || bytes > from->bytes) return CUDA_ERROR_INVALID_VALUE;
    return check_range(p, bytes);
}
CUresult cuMemSetAccess(CUdeviceptr p, size_t bytes, const CUmemAccessDesc *access, size_t n) {
    if (!access || !n) return CUDA_ERROR_INVALID_VALUE;
    return check_range(p, bytes);
}
CUresult cuMemUnmap(CUdeviceptr p, size_t bytes) { return check_range(p, bytes); }
