/* CUDA graphs. A node is an operation with its own copy of its parameters; streams run in order here, and
 * so does a graph: a node runs when those it depends on have run, in the order in which they were added.
 *
 *   capture   a stream with one adds nodes instead of doing things; joined by events
 *   exec      a copy of a graph; its nodes are found by those that they were made from
 *
 * Memory that a graph allocates lives as long as the process: another launch gives it the same address. */
#include "cudart.h"

#include <stdlib.h>
#include <string.h>

struct CUgraphNode_st {
    enum cudaGraphNodeType type;
    struct CUgraph_st *graph;
    cudaGraphNode_t origin; /* what it is a copy of */
    cudaGraphNode_t *before;
    size_t n_before, index;
    bool done;
    struct cudaKernelNodeParams kernel; /* arguments: pointers into `args` */
    cudaLaunchAttribute attribute[4];
    unsigned n_attributes;
    unsigned char *args;
    struct cudaMemcpy3DParms copy;
    struct cudaMemsetParams set;
    struct cudaHostNodeParams host;
    cudaEvent_t event;
    cudaGraph_t child; /* its own copy */
};

struct CUgraph_st {
    cudaGraphNode_t *node;
    size_t n, capacity;
};

struct CUgraphExec_st {
    cudaGraph_t graph;
};

struct capture {
    cudaGraph_t graph;
    bool active;
    size_t n_joined; /* streams; only for its id */
};

/* ---- Nodes ----------------------------------------------------------------------------------- */

static void forget(cudaGraphNode_t n) {
    if (n->child) cudaGraphDestroy(n->child);
    free(n->kernel.kernelParams);
    free(n->args);
    free(n->before);
    free(n);
}

static cudaError_t depend(cudaGraphNode_t n, const cudaGraphNode_t *before, size_t count) {
    if (!count) return cudaSuccess;
    if (!before) return cudaErrorInvalidValue;
    cudaGraphNode_t *more = realloc(n->before, (n->n_before + count) * sizeof *more);
    if (!more) return cudaErrorMemoryAllocation;
    memcpy(more + n->n_before, before, count * sizeof *more);
    n->before = more;
    n->n_before += count;
    return cudaSuccess;
}

static cudaError_t add(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *before,
                       size_t count, enum cudaGraphNodeType type) {
    if (!g || !out) return cudaErrorInvalidValue;
    if (g->n == g->capacity) {
        size_t capacity = g->capacity ? 2 * g->capacity : 16;
        cudaGraphNode_t *more = realloc(g->node, capacity * sizeof *more);
        if (!more) return cudaErrorMemoryAllocation;
        g->node = more;
        g->capacity = capacity;
    }
    cudaGraphNode_t n = calloc(1, sizeof *n);
    if (!n) return cudaErrorMemoryAllocation;
    n->type = type;
    n->graph = g;
    n->index = g->n;
    cudaError_t e = depend(n, before, count);
    if (e) {
        forget(n);
        return e;
    }
    *out = g->node[g->n++] = n;
    return cudaSuccess;
}

/* The node keeps the arguments' values. */
static cudaError_t set_kernel(cudaGraphNode_t n, const struct cudaKernelNodeParams *p) {
    WITH_SESSION(s);
    struct kernel *k;
    if (!p || p->extra)
        return cudart_leave(p ? cudart_unsupported("a kernel node with a buffer of arguments")
                              : cudaErrorInvalidValue);
    cudaError_t e = function_of(s, p->func, &k);
    if (e) return cudart_leave(e);
    int count = emu_kernel_params(k->code);
    size_t bytes = 0, at = 0;
    for (int a = 0; a < count; a++) bytes += (emu_kernel_param_bytes(k->code, a) + 15) / 16 * 16;
    unsigned char *args = malloc(bytes + 1);
    void **pointers = malloc(((size_t)count + 1) * sizeof *pointers);
    bool fits = args && pointers && (p->kernelParams || !count);
    for (int a = 0; a < count && fits; a++) {
        size_t size = emu_kernel_param_bytes(k->code, a);
        pointers[a] = args + at;
        memcpy(pointers[a], p->kernelParams[a], size);
        at += (size + 15) / 16 * 16;
    }
    if (!fits) {
        free(args);
        free(pointers);
        return cudart_leave(cudaErrorInvalidValue);
    }
    free(n->args);
    free(n->kernel.kernelParams);
    n->kernel = *p;
    n->kernel.kernelParams = pointers;
    n->args = args;
    return cudart_leave(cudaSuccess);
}

/* Everything of `from` but its place in a graph. */
static cudaError_t copy_node(cudaGraphNode_t n, const struct CUgraphNode_st *from) {
    if (n->type != from->type) return cudaErrorInvalidValue;
    n->copy = from->copy;
    n->set = from->set;
    n->host = from->host;
    n->event = from->event;
    memcpy(n->attribute, from->attribute, sizeof n->attribute);
    n->n_attributes = from->n_attributes;
    if (from->child) {
        if (n->child) cudaGraphDestroy(n->child);
        return cudaGraphClone(&n->child, from->child);
    }
    return n->type == cudaGraphNodeTypeKernel ? set_kernel(n, &from->kernel) : cudaSuccess;
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

cudaError_t cudaGraphCreate(cudaGraph_t *out, unsigned flags) {
    if (!out || flags) return cudaErrorInvalidValue;
    *out = calloc(1, sizeof **out);
    return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaGraphDestroy(cudaGraph_t g) {
    if (!g) return cudaErrorInvalidValue;
    for (size_t i = 0; i < g->n; i++) forget(g->node[i]);
    free(g->node);
    free(g);
    return cudaSuccess;
}
cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t from) {
    cudaGraph_t g;
    cudaError_t e = from ? cudaGraphCreate(&g, 0) : cudaErrorInvalidValue;
    if (e) return e;
    for (size_t i = 0; i < from->n && !e; i++) {
        cudaGraphNode_t n, old = from->node[i];
        e = add(&n, g, NULL, 0, old->type);
        if (!e) e = copy_node(n, old);
        if (!e) n->origin = old;
    }
    for (size_t i = 0; i < g->n && !e; i++) {
        e = depend(g->node[i], from->node[i]->before, from->node[i]->n_before);
        for (size_t b = 0; b < g->node[i]->n_before && !e; b++)
            g->node[i]->before[b] = g->node[g->node[i]->before[b]->index];
    }
    if (e)
        cudaGraphDestroy(g);
    else
        *out = g;
    return e;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t g, cudaGraphNode_t *nodes, size_t *n) {
    if (!g || !n) return cudaErrorInvalidValue;
    size_t room = *n;
    for (size_t i = 0; nodes && i < room; i++) nodes[i] = i < g->n ? g->node[i] : NULL;
    if (!nodes || room > g->n) *n = g->n;
    return cudaSuccess;
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t n, enum cudaGraphNodeType *out) {
    if (!n || !out) return cudaErrorInvalidValue;
    *out = n->type;
    return cudaSuccess;
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t g, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, const cudaGraphEdgeData *edge,
                                     size_t n) {
    (void)edge;
    cudaError_t e = g && (!n || (from && to)) ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; i < n && !e; i++) e = depend(to[i], &from[i], 1);
    return e;
}

#define BEFORE cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *before, size_t n

cudaError_t cudaGraphAddEmptyNode(BEFORE) { return add(out, g, before, n, cudaGraphNodeTypeEmpty); }
cudaError_t cudaGraphAddKernelNode(BEFORE, const struct cudaKernelNodeParams *p) {
    cudaError_t e = add(out, g, before, n, cudaGraphNodeTypeKernel);
    if (e) return e;
    e = set_kernel(*out, p);
    if (e) forget(g->node[--g->n]);
    return e;
}
cudaError_t cudaGraphAddMemcpyNode(BEFORE, const struct cudaMemcpy3DParms *p) {
    cudaError_t e = p ? add(out, g, before, n, cudaGraphNodeTypeMemcpy) : cudaErrorInvalidValue;
    if (!e) (*out)->copy = *p;
    return e;
}
static struct cudaMemcpy3DParms run_of_bytes(void *to, const void *from, size_t bytes,
                                             enum cudaMemcpyKind kind) {
    return (struct cudaMemcpy3DParms){.dstPtr = {to, bytes, bytes, 1},
                                      .srcPtr = {(void *)(uintptr_t)from, bytes, bytes, 1},
                                      .extent = {bytes, 1, 1},
                                      .kind = kind};
}
cudaError_t cudaGraphAddMemcpyNode1D(BEFORE, void *to, const void *from, size_t bytes,
                                     enum cudaMemcpyKind kind) {
    struct cudaMemcpy3DParms p = run_of_bytes(to, from, bytes, kind);
    return cudaGraphAddMemcpyNode(out, g, before, n, &p);
}
cudaError_t cudaGraphAddMemsetNode(BEFORE, const struct cudaMemsetParams *p) {
    cudaError_t e = p ? add(out, g, before, n, cudaGraphNodeTypeMemset) : cudaErrorInvalidValue;
    if (!e) (*out)->set = *p;
    return e;
}
cudaError_t cudaGraphAddHostNode(BEFORE, const struct cudaHostNodeParams *p) {
    cudaError_t e = p ? add(out, g, before, n, cudaGraphNodeTypeHost) : cudaErrorInvalidValue;
    if (!e) (*out)->host = *p;
    return e;
}
cudaError_t cudaGraphAddChildGraphNode(BEFORE, cudaGraph_t child) {
    cudaError_t e = child ? add(out, g, before, n, cudaGraphNodeTypeGraph) : cudaErrorInvalidValue;
    return e ? e : cudaGraphClone(&(*out)->child, child);
}
cudaError_t cudaGraphAddEventRecordNode(BEFORE, cudaEvent_t event) {
    cudaError_t e = add(out, g, before, n, cudaGraphNodeTypeEventRecord);
    if (!e) (*out)->event = event;
    return e;
}
cudaError_t cudaGraphAddEventWaitNode(BEFORE, cudaEvent_t event) {
    (void)event;
    return add(out, g, before, n, cudaGraphNodeTypeWaitEvent);
}
static cudaError_t allocate(void **p, size_t bytes) {
    WITH_SESSION(s);
    return cudart_leave(memory_alloc(s, p, bytes, MEMORY_GRAPH));
}
cudaError_t cudaGraphAddMemAllocNode(BEFORE, struct cudaMemAllocNodeParams *p) {
    cudaError_t e = p ? allocate(&p->dptr, p->bytesize) : cudaErrorInvalidValue;
    return e ? e : add(out, g, before, n, cudaGraphNodeTypeMemAlloc);
}
cudaError_t cudaGraphAddMemFreeNode(BEFORE, void *p) {
    return p ? add(out, g, before, n, cudaGraphNodeTypeMemFree) : cudaErrorInvalidValue;
}

/* ---- Running --------------------------------------------------------------------------------- */

static cudaError_t fill(const struct cudaMemsetParams *p) {
    cudaError_t e = cudaSuccess;
    size_t row = p->width * p->elementSize;
    for (size_t y = 0; y < p->height && !e; y++) {
        char *to = (char *)p->dst + y * p->pitch;
        if (p->elementSize == 1 || p->value == 0) {
            e = cudaMemset(to, (int)p->value, row);
            continue;
        }
        WITH_SESSION(s);
        e = cudart_leave(memory_set_words(s, to, p->value, p->elementSize, p->width));
    }
    return e;
}

static cudaError_t run_graph(cudaGraph_t g);

static cudaError_t run_node(cudaGraphNode_t n) {
    cudaLaunchConfig_t c = {.gridDim = n->kernel.gridDim,
                            .blockDim = n->kernel.blockDim,
                            .dynamicSmemBytes = n->kernel.sharedMemBytes,
                            .attrs = n->attribute,
                            .numAttrs = n->n_attributes};
    switch (n->type) {
    case cudaGraphNodeTypeKernel:
        return cudaLaunchKernelExC(&c, n->kernel.func, n->kernel.kernelParams);
    case cudaGraphNodeTypeMemcpy:
        return cudaMemcpy3D(&n->copy);
    case cudaGraphNodeTypeMemset:
        return fill(&n->set);
    case cudaGraphNodeTypeHost:
        n->host.fn(n->host.userData);
        return cudaSuccess;
    case cudaGraphNodeTypeEventRecord:
        return cudaEventRecord(n->event, NULL);
    case cudaGraphNodeTypeGraph:
        return run_graph(n->child);
    default:
        return cudaSuccess;
    }
}

static bool is_ready(cudaGraphNode_t n) {
    for (size_t b = 0; b < n->n_before; b++)
        if (!n->before[b]->done) return false;
    return true;
}

static cudaError_t run_graph(cudaGraph_t g) {
    size_t left = g->n, ran = 1;
    for (size_t i = 0; i < g->n; i++) g->node[i]->done = false;
    while (left && ran) { /* once, unless dependencies were added later */
        ran = 0;
        for (size_t i = 0; i < g->n; i++) {
            if (g->node[i]->done || !is_ready(g->node[i])) continue;
            cudaError_t e = run_node(g->node[i]);
            if (e) return e;
            g->node[i]->done = true;
            ran++;
        }
        left -= ran;
    }
    return left ? cudaErrorInvalidValue : cudaSuccess; /* a circle */
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long flags) {
    (void)flags;
    if (!out || !g) return cudaErrorInvalidValue;
    cudaGraphExec_t exec = calloc(1, sizeof *exec);
    if (!exec) return cudaErrorMemoryAllocation;
    cudaError_t e = cudaGraphClone(&exec->graph, g);
    if (e) free(exec);
    *out = e ? NULL : exec;
    return e;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t g,
                                          unsigned long long flags) {
    return cudaGraphInstantiate(out, g, flags);
}
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *out, cudaGraph_t g,
                                           cudaGraphInstantiateParams *p) {
    if (!p) return cudaErrorInvalidValue;
    cudaError_t e = cudaGraphInstantiate(out, g, p->flags);
    p->result_out = e ? cudaGraphInstantiateError : cudaGraphInstantiateSuccess;
    return e;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
    (void)stream;
    return exec ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    cudaGraph_t into = graph_capturing(stream);
    cudaGraphNode_t node;
    if (!exec) return cudaErrorInvalidValue;
    if (into) return cudaGraphAddChildGraphNode(&node, into, NULL, 0, exec->graph);
    return run_graph(exec->graph);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    if (!exec) return cudaErrorInvalidValue;
    cudaGraphDestroy(exec->graph);
    free(exec);
    return cudaSuccess;
}

/* ---- Changing what was instantiated ----------------------------------------------------------- */

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t g,
                                cudaGraphExecUpdateResultInfo *info) {
    bool same = exec && g && exec->graph->n == g->n;
    for (size_t i = 0; same && i < g->n; i++) {
        cudaGraphNode_t mine = exec->graph->node[i], theirs = g->node[i];
        same = mine->type == theirs->type && mine->n_before == theirs->n_before;
        for (size_t b = 0; same && b < mine->n_before; b++)
            same = mine->before[b]->index == theirs->before[b]->index;
    }
    cudaError_t e = same ? cudaSuccess : cudaErrorGraphExecUpdateFailure;
    for (size_t i = 0; i < g->n && !e; i++) {
        e = copy_node(exec->graph->node[i], g->node[i]);
        exec->graph->node[i]->origin = g->node[i];
    }
    if (info)
        *info = (cudaGraphExecUpdateResultInfo){
            .result = e ? cudaGraphExecUpdateErrorTopologyChanged : cudaGraphExecUpdateSuccess};
    return e;
}

static cudaGraphNode_t node_in(cudaGraphExec_t exec, cudaGraphNode_t origin,
                               enum cudaGraphNodeType type) {
    for (size_t i = 0; exec && i < exec->graph->n; i++)
        if (exec->graph->node[i]->origin == origin && exec->graph->node[i]->type == type)
            return exec->graph->node[i];
    return NULL;
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *p) {
    cudaGraphNode_t n = node_in(exec, node, cudaGraphNodeTypeKernel);
    return n ? set_kernel(n, p) : cudaErrorInvalidValue;
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t n, const struct cudaKernelNodeParams *p) {
    return n && n->type == cudaGraphNodeTypeKernel ? set_kernel(n, p) : cudaErrorInvalidValue;
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t n, struct cudaKernelNodeParams *out) {
    if (!n || n->type != cudaGraphNodeTypeKernel || !out) return cudaErrorInvalidValue;
    *out = n->kernel;
    return cudaSuccess;
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *p) {
    cudaGraphNode_t n = node_in(exec, node, cudaGraphNodeTypeMemcpy);
    if (!n || !p) return cudaErrorInvalidValue;
    n->copy = *p;
    return cudaSuccess;
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                               const void *from, size_t bytes,
                                               enum cudaMemcpyKind kind) {
    struct cudaMemcpy3DParms p = run_of_bytes(to, from, bytes, kind);
    return cudaGraphExecMemcpyNodeSetParams(exec, node, &p);
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *p) {
    cudaGraphNode_t n = node_in(exec, node, cudaGraphNodeTypeMemset);
    if (!n || !p) return cudaErrorInvalidValue;
    n->set = *p;
    return cudaSuccess;
}

/* ---- Capture --------------------------------------------------------------------------------- */

cudaGraph_t graph_capturing(cudaStream_t stream) {
    struct capture *c = (uintptr_t)stream <= 2 ? NULL : stream->capture;
    return c && c->active ? c->graph : NULL;
}

static int n_captures;
bool graph_any_capture(void) { return n_captures > 0; }

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    (void)mode;
    if ((uintptr_t)stream <= 2) return cudaErrorStreamCaptureUnsupported;
    if (graph_capturing(stream)) return cudaErrorIllegalState;
    struct capture *c = calloc(1, sizeof *c);
    if (!c) return cudaErrorMemoryAllocation;
    cudaError_t e = cudaGraphCreate(&c->graph, 0);
    c->active = !e;
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
    *out = g;
    return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *out) {
    *out = graph_capturing(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
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

/* ---- Memory of graphs -------------------------------------------------------------------------- */

/* All of it is in use, always. */
cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType a,
                                           void *value) {
    WITH_SESSION(s);
    (void)s, (void)a;
    if (device || !value) return cudart_leave(cudaErrorInvalidValue);
    *(uint64_t *)value = memory_of_graphs();
    return cudart_leave(cudaSuccess);
}
cudaError_t cudaDeviceGraphMemTrim(int device) {
    return device ? cudaErrorInvalidDevice : cudaSuccess;
}
