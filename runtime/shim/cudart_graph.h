/* Graphs inside: their nodes, and what cudart_graph.c lends those that run them and those that capture. */
#pragma once

#include "cudart.h"

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

/* The node keeps the arguments' values. */
cudaError_t graph_set_kernel(cudaGraphNode_t n, const struct cudaKernelNodeParams *p);
/* Everything of `from` but its place in a graph. */
cudaError_t graph_copy_node(cudaGraphNode_t n, const struct CUgraphNode_st *from);
/* A copy of bytes in a row, as a node has it. */
struct cudaMemcpy3DParms graph_copy_of_bytes(void *to, const void *from, size_t bytes,
                                             enum cudaMemcpyKind kind);
