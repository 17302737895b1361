/* Graphs that are instantiated, and run. Streams run in order here, and so does a graph: a node runs when those
 * it depends on have run, in the order in which they were added. An exec is a copy of a graph; its nodes are
 * found by those that they were made from. */
#include "cudart_graph.h"

#include <stdlib.h>
#include <string.h>

struct CUgraphExec_st {
    cudaGraph_t graph;
};

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
    stream_enter(stream);
    return stream_leave(run_graph(exec->graph));
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
    if (!exec || !g) return cudaErrorInvalidValue;
    bool same = exec->graph->n == g->n;
    for (size_t i = 0; same && i < g->n; i++) {
        cudaGraphNode_t mine = exec->graph->node[i], theirs = g->node[i];
        same = mine->type == theirs->type && mine->n_before == theirs->n_before;
        for (size_t b = 0; same && b < mine->n_before; b++)
            same = mine->before[b]->index == theirs->before[b]->index;
    }
    cudaError_t e = same ? cudaSuccess : cudaErrorGraphExecUpdateFailure;
    for (size_t i = 0; i < g->n && !e; i++) {
        e = graph_copy_node(exec->graph->node[i], g->node[i]);
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
    return n ? graph_set_kernel(n, p) : cudaErrorInvalidValue;
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t n, const struct cudaKernelNodeParams *p) {
    return n && n->type == cudaGraphNodeTypeKernel ? graph_set_kernel(n, p) : cudaErrorInvalidValue;
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
    struct cudaMemcpy3DParms p = graph_copy_of_bytes(to, from, bytes, kind);
    return cudaGraphExecMemcpyNodeSetParams(exec, node, &p);
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *p) {
    cudaGraphNode_t n = node_in(exec, node, cudaGraphNodeTypeMemset);
    if (!n || !p) return cudaErrorInvalidValue;
    n->set = *p;
    return cudaSuccess;
}
