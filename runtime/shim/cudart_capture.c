/* Capture: a stream with one adds nodes to a graph instead of doing things; others join by events. */
#include "cudart_graph.h"

#include <stdlib.h>

struct capture {
    cudaGraph_t graph;
    bool active;
    bool invalid; /* the program did what a capture forbids */
    bool global;  /* it forbids that to everyone, not only to those that take part */
    struct capture *next;
};
static struct capture *captures; /* kept: streams and events may name them */

cudaGraph_t graph_capturing(cudaStream_t stream) {
    struct capture *c = (uintptr_t)stream <= 2 ? NULL : stream->capture;
    return c && c->active ? c->graph : NULL;
}

static int n_captures;
bool graph_any_capture(void) { return n_captures > 0; }

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    if ((uintptr_t)stream <= 2) return cudaErrorStreamCaptureUnsupported;
    if (graph_capturing(stream)) return cudaErrorIllegalState;
    struct capture *c = calloc(1, sizeof *c);
    if (!c) return cudaErrorMemoryAllocation;
    cudaError_t e = cudaGraphCreate(&c->graph, 0);
    c->active = !e;
    c->global = mode == cudaStreamCaptureModeGlobal;
    c->next = captures;
    captures = c;
    stream->capture = c; /* kept: other streams and events may still name it */
    stream->began_capture = true;
    n_captures += !e;
    return e;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out) {
    cudaGraph_t g = graph_capturing(stream);
    if (!g || !out || !stream->began_capture) return cudaErrorIllegalState;
    stream->capture->active = stream->began_capture = false;
    n_captures--;
    if (stream->capture->invalid) cudaGraphDestroy(g);
    *out = stream->capture->invalid ? NULL : g;
    return stream->capture->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
}
bool graph_forbids_waiting(void) {
    bool any = false;
    for (struct capture *c = captures; c; c = c->next)
        if (c->active && c->global) any = c->invalid = true;
    return any;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *out) {
    if (!out) return cudaErrorInvalidValue;
    *out = !graph_capturing(stream)   ? cudaStreamCaptureStatusNone
           : stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                      : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
    static _Thread_local enum cudaStreamCaptureMode now = cudaStreamCaptureModeGlobal;
    enum cudaStreamCaptureMode before = now;
    now = *mode;
    *mode = before;
    return cudaSuccess;
}

/* Everything that a capture adds comes after all that it has. */
static const cudaGraphNode_t *last_of(cudaGraph_t g, size_t *n) {
    *n = g->n > 0;
    return g->n ? &g->node[g->n - 1] : NULL;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *out,
                                     const cudaGraphNode_t **before, const cudaGraphEdgeData **edge,
                                     size_t *n) {
    cudaGraph_t g = graph_capturing(stream);
    size_t count = 0;
    const cudaGraphNode_t *last = g ? last_of(g, &count) : NULL;
    if (status) cudaStreamIsCapturing(stream, status);
    if (id) *id = (uintptr_t)g;
    if (out) *out = g;
    if (before) *before = last;
    if (edge) *edge = NULL;
    if (n) *n = count;
    return cudaSuccess;
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *before,
                                                const cudaGraphEdgeData *edge, size_t n,
                                                unsigned flags) {
    (void)before, (void)edge, (void)n, (void)flags; /* in the order of adding, whatever they say */
    return graph_capturing(stream) ? cudaSuccess : cudaErrorIllegalState;
}

#define LAST(g)                                                                                    \
    cudaGraphNode_t node;                                                                          \
    size_t n;                                                                                      \
    const cudaGraphNode_t *before = last_of(g, &n)

cudaError_t graph_add_launch(cudaGraph_t g, const void *p, const cudaLaunchConfig_t *c,
                             void **args) {
    LAST(g);
    struct cudaKernelNodeParams k = {.func = (void *)(uintptr_t)p,
                                     .gridDim = c->gridDim,
                                     .blockDim = c->blockDim,
                                     .sharedMemBytes = (unsigned)c->dynamicSmemBytes,
                                     .kernelParams = args};
    if (c->numAttrs > 4) return cudart_unsupported("a captured launch with over 4 attributes");
    cudaError_t e = cudaGraphAddKernelNode(&node, g, before, n, &k);
    if (e) return e;
    node->n_attributes = c->numAttrs;
    for (unsigned a = 0; a < c->numAttrs; a++) node->attribute[a] = c->attrs[a];
    return cudaSuccess;
}
cudaError_t graph_add_copy(cudaGraph_t g, void *to, size_t to_pitch, const void *from,
                           size_t from_pitch, size_t width, size_t height,
                           enum cudaMemcpyKind kind) {
    LAST(g);
    struct cudaMemcpy3DParms p = {
        .dstPtr = {to, to_pitch, to_pitch, height},
        .srcPtr = {(void *)(uintptr_t)from, from_pitch, from_pitch, height},
        .extent = {width, height, 1},
        .kind = kind};
    return cudaGraphAddMemcpyNode(&node, g, before, n, &p);
}
cudaError_t graph_add_copy_3d(cudaGraph_t g, const struct cudaMemcpy3DParms *p) {
    LAST(g);
    return cudaGraphAddMemcpyNode(&node, g, before, n, p);
}
cudaError_t graph_add_set(cudaGraph_t g, void *p, size_t pitch, int value, size_t width,
                          size_t height) {
    LAST(g);
    struct cudaMemsetParams set = {.dst = p,
                                   .pitch = pitch,
                                   .value = (unsigned)value & 0xff,
                                   .elementSize = 1,
                                   .width = width,
                                   .height = height};
    return cudaGraphAddMemsetNode(&node, g, before, n, &set);
}
cudaError_t graph_add_host(cudaGraph_t g, cudaHostFn_t function, void *data) {
    LAST(g);
    struct cudaHostNodeParams p = {function, data};
    return cudaGraphAddHostNode(&node, g, before, n, &p);
}
cudaError_t graph_add_memory(cudaGraph_t g, void **p, size_t bytes) {
    LAST(g);
    struct cudaMemAllocNodeParams a = {.bytesize = bytes};
    if (!p) return cudaErrorInvalidValue;
    cudaError_t e = cudaGraphAddMemAllocNode(&node, g, before, n, &a);
    *p = a.dptr;
    return e;
}
