/* Time on a GPU: launches captured into a graph.
 *
 *   warm   event | replay: launch launch launch ... | event
 *   cold   flush the L2 | replay: event launch event |
 *
 * A warm replay is long enough that its own start-up (some us) is lost in it, or a burst, which
 * includes it; peers are timed so too. A cold one is a single launch: only nodes of the graph can
 * keep that start-up out, but each of them adds to it (1.5 us). */
#include "cuda_graph.h"

#include "cuda_sm_clock.h"
#include "cuda_device.h"
#include "common/base/reason.h"
#include "common/base/heap.h"

#include <stdlib.h>

struct cuda_graph {
    struct device_graph graph;
    CUgraphExec exec;
    CUevent begin, end;             /* around a replay */
    CUevent inner_begin, inner_end; /* cold: nodes of the graph; else NULL */
};

static const char *cuda_capture(struct cuda_device *c, struct device_image *image,
                                const struct device_launch *launches, int n, int repeats,
                                struct cuda_graph *g) {
    if (g->inner_begin)
        TRY(c, EventRecordWithFlags, g->inner_begin, c->stream, CU_EVENT_RECORD_EXTERNAL);
    for (int r = 0; r < repeats; r++)
        for (int i = 0; i < n; i++) {
            const char *why = cuda_launch(&c->device, image, &launches[i]);
            if (why) return why;
        }
    if (g->inner_end)
        TRY(c, EventRecordWithFlags, g->inner_end, c->stream, CU_EVENT_RECORD_EXTERNAL);
    return NULL;
}

void cuda_graph_close(struct device_graph *graph) {
    struct cuda_graph *g = (struct cuda_graph *)graph;
    const struct cuda_driver *cu = cuda_of(graph->device)->cu;
    if (g->exec) cu->GraphExecDestroy(g->exec);
    const CUevent event[] = {g->begin, g->end, g->inner_begin, g->inner_end};
    for (int i = 0; i < 4; i++)
        if (event[i]) cu->EventDestroy(event[i]);
    free(g);
}

static const char *cuda_graph_build(struct cuda_device *c, struct device_image *image,
                                    const struct device_launch *launches, int n, int repeats,
                                    bool cold, struct cuda_graph *g) {
    CUgraph recorded = NULL;
    CUevent *event[] = {&g->begin, &g->end, &g->inner_begin, &g->inner_end};
    for (int i = 0; i < (cold ? 4 : 2); i++) TRY(c, EventCreate, event[i], CU_EVENT_DEFAULT);
    TRY(c, StreamBeginCapture, c->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    const char *why = cuda_capture(c, image, launches, n, repeats, g);
    CUresult ended = c->cu->StreamEndCapture(c->stream, &recorded);
    if (!why) why = cuda_driver_reason(c->cu, ended, "cuStreamEndCapture");
    if (!why)
        why = cuda_driver_reason(c->cu, c->cu->GraphInstantiate(&g->exec, recorded, 0),
                                 "cuGraphInstantiate");
    if (recorded) c->cu->GraphDestroy(recorded);
    if (why) return why;
    TRY(c, GraphUpload, g->exec, c->stream);
    return cuda_sync(&c->device);
}

const char *cuda_graph_open(struct device *d, struct device_image *image,
                            const struct device_launch *launches, int n, int repeats, bool cold,
                            struct device_graph **out) {
    struct cuda_graph *g = heap_zeroed(1, sizeof *g);
    g->graph.device = d;
    const char *why = cuda_graph_build(cuda_of(d), image, launches, n, repeats, cold, g);
    if (why) {
        cuda_graph_close(&g->graph);
        return why;
    }
    *out = &g->graph;
    return NULL;
}

static const char *cuda_flush_l2(struct cuda_device *c) {
    if (!c->flush) {
        c->flush_bytes = 2 * (size_t)c->device.info.chip.l2_bytes;
        TRY(c, MemAlloc, &c->flush, c->flush_bytes);
    }
    TRY(c, MemsetD32Async, c->flush, 0, c->flush_bytes / 4, c->stream);
    return NULL;
}

const char *cuda_graph_time(struct device_graph *graph, bool flush_l2, double *us_total) {
    struct cuda_device *c = cuda_of(graph->device);
    struct cuda_graph *g = (struct cuda_graph *)graph;
    float ms;
    if (flush_l2) {
        const char *why = cuda_flush_l2(c);
        if (why) return why;
    }
    cuda_sm_clock_mark(c, CUDA_SM_CLOCK_BEGIN,
                       c->stream); /* cuda_sm_clock_between() says if it failed */
    TRY(c, EventRecordWithFlags, g->begin, c->stream, CU_EVENT_RECORD_DEFAULT);
    TRY(c, GraphLaunch, g->exec, c->stream);
    TRY(c, EventRecordWithFlags, g->end, c->stream, CU_EVENT_RECORD_DEFAULT);
    cuda_sm_clock_mark(c, CUDA_SM_CLOCK_END, c->stream);
    TRY(c, StreamSynchronize, c->stream);
    TRY(c, EventElapsedTime, &ms, flush_l2 ? g->inner_begin : g->begin,
        flush_l2 ? g->inner_end : g->end);
    *us_total = 1e3 * ms;
    return NULL;
}

const char *cuda_graph_sm_clock_mhz(struct device_graph *graph, double *mhz) {
    return cuda_sm_clock_between(cuda_of(graph->device), mhz);
}

int cuda_sm_clock_mhz(struct device *d) { return cuda_nvml_sm_clock_mhz(cuda_of(d)->nvml); }

double cuda_power_watts(struct device *d) { return cuda_nvml_watts(cuda_of(d)->nvml); }
