/* CUDA graphs: nodes and what they are made of. A node is an operation with its own copy of its parameters.
 * cudart_graph_exec.c runs them, cudart_capture.c makes them of what a stream is told.
 *
 * Memory that a graph allocates lives as long as the process: another launch gives it the same address. */
#include "cudart_graph.h"

#include <stdlib.h>
#include <string.h>

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

cudaError_t graph_set_kernel(cudaGraphNode_t n, const struct cudaKernelNodeParams *p) {
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

cudaError_t graph_copy_node(cudaGraphNode_t n, const struct CUgraphNode_st *from) {
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
    return n->type == cudaGraphNodeTypeKernel ? graph_set_kernel(n, &from->kernel) : cudaSuccess;
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
        if (!e) e = graph_copy_node(n, old);
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
/* Lists, as CUDA fills them: as many as there is room for, the rest NULL; without a list, how many there are. */
struct list {
    cudaGraphNode_t *out;
    size_t room, n;
};
static void put(struct list *l, cudaGraphNode_t node) {
    if (l->out && l->n < l->room) l->out[l->n] = node;
    l->n++;
}
static cudaError_t listed(struct list *l, size_t *n) {
    for (size_t i = l->n; l->out && i < l->room; i++) l->out[i] = NULL;
    if (!l->out || l->room > l->n) *n = l->n;
    return cudaSuccess;
}
static bool comes_before(const struct CUgraphNode_st *a, const struct CUgraphNode_st *b) {
    for (size_t i = 0; i < b->n_before; i++)
        if (b->before[i] == a) return true;
    return false;
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t g, cudaGraphNode_t *nodes, size_t *n) {
    if (!g || !n) return cudaErrorInvalidValue;
    struct list l = {nodes, *n, 0};
    for (size_t i = 0; i < g->n; i++)
        if (!g->node[i]->n_before) put(&l, g->node[i]);
    return listed(&l, n);
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                         cudaGraphEdgeData *edge, size_t *n) {
    if (!node || !n) return cudaErrorInvalidValue;
    struct list l = {nodes, *n, 0};
    for (size_t i = 0; i < node->n_before; i++) {
        if (edge && nodes && i < l.room) edge[i] = (cudaGraphEdgeData){0};
        put(&l, node->before[i]);
    }
    return listed(&l, n);
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                           cudaGraphEdgeData *edge, size_t *n) {
    if (!node || !n) return cudaErrorInvalidValue;
    struct list l = {nodes, *n, 0};
    for (size_t i = 0; i < node->graph->n; i++) {
        if (!comes_before(node, node->graph->node[i])) continue;
        if (edge && nodes && l.n < l.room) edge[l.n] = (cudaGraphEdgeData){0};
        put(&l, node->graph->node[i]);
    }
    return listed(&l, n);
}
cudaError_t cudaGraphGetEdges(cudaGraph_t g, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              cudaGraphEdgeData *edge, size_t *n) {
    if (!g || !n || !from != !to) return cudaErrorInvalidValue;
    size_t unused = *n;
    struct list l = {from, *n, 0}, k = {to, *n, 0};
    for (size_t i = 0; i < g->n; i++)
        for (size_t b = 0; b < g->node[i]->n_before; b++) {
            if (edge && from && l.n < l.room) edge[l.n] = (cudaGraphEdgeData){0};
            put(&l, g->node[i]->before[b]);
            put(&k, g->node[i]);
        }
    listed(&k, &unused);
    return listed(&l, n);
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
    e = graph_set_kernel(*out, p);
    if (e) forget(g->node[--g->n]);
    return e;
}
cudaError_t cudaGraphAddMemcpyNode(BEFORE, const struct cudaMemcpy3DParms *p) {
    cudaError_t e = p ? add(out, g, before, n, cudaGraphNodeTypeMemcpy) : cudaErrorInvalidValue;
    if (!e) (*out)->copy = *p;
    return e;
}
struct cudaMemcpy3DParms graph_copy_of_bytes(void *to, const void *from, size_t bytes,
                                             enum cudaMemcpyKind kind) {
    return (struct cudaMemcpy3DParms){.dstPtr = {to, bytes, bytes, 1},
                                      .srcPtr = {(void *)(uintptr_t)from, bytes, bytes, 1},
                                      .extent = {bytes, 1, 1},
                                      .kind = kind};
}
cudaError_t cudaGraphAddMemcpyNode1D(BEFORE, void *to, const void *from, size_t bytes,
                                     enum cudaMemcpyKind kind) {
    struct cudaMemcpy3DParms p = graph_copy_of_bytes(to, from, bytes, kind);
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
    cudaGraph_t own;
    cudaError_t e = child && child != g ? cudaGraphClone(&own, child) : cudaErrorInvalidValue;
    if (e) return e;
    e = add(out, g, before, n, cudaGraphNodeTypeGraph);
    if (e)
        cudaGraphDestroy(own);
    else
        (*out)->child = own;
    return e;
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
