/* Streams and events. Everything runs when it is issued, in order; so streams and events always are where they were
 * asked to be. What a GPU might run at the same time is found by clocks (runtime/session/order.h): two operations
 * that nothing orders, and the host's use of managed and pinned memory (guard.c). */
#include "cudart.h"
#include "guard.h"

#include "common/base/heap.h"
#include "emulator/core/footprint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static cudaError_t nothing(void) {
    WITH_SESSION(s);
    (void)s;
    return cudart_leave(cudaSuccess);
}

/* ---- What is ordered ------------------------------------------------------------------------- */

static struct order
    *order;            /* NULL: the program has only one stream, and no memory that it shares */
static int per_thread; /* the timeline of all threads' default streams; 0: not used */

static struct order *start(struct session *s) {
    if (order || s->settings.puts_off || s->settings.emulator.no_checks) return order;
    order = heap_zeroed(1, sizeof *order);
    order_open(order);
    return order;
}

static int new_stream(struct session *s, bool blocking) {
    if (!start(s)) return 0;
    emu_memory_trace(s->memory);
    return order_add_stream(order, blocking);
}

void stream_host_shares(struct session *s, bool with_kernels) {
    if (start(s) && with_kernels) emu_memory_trace(s->memory);
}

static int timeline_of(struct session *s, cudaStream_t stream) {
    if (stream == cudaStreamPerThread) {
        if (!per_thread) per_thread = new_stream(s, true);
        return per_thread ? per_thread : ORDER_LEGACY;
    }
    return (uintptr_t)stream <= 2 || !stream->order ? ORDER_LEGACY : stream->order;
}

static _Thread_local cudaStream_t issued_to; /* that calls are made for; depth 0: for none */
static _Thread_local int depth;

void stream_enter(cudaStream_t stream) {
    if (!depth++) issued_to = stream;
}
cudaError_t stream_leave(cudaError_t e) {
    depth--;
    return e;
}

static bool then_waits; /* the host, for the operation under way */

void stream_operation(struct session *s, const char *what, bool waits) {
    if (!order || order->gave_up) return;
    if (!order->now.stream) {
        order_begin(order, depth ? timeline_of(s, issued_to) : ORDER_LEGACY, what);
        then_waits = false;
    }
    then_waits |= waits && !depth;
}

void stream_waits_for_operation(void) { then_waits = true; }

void stream_uses(enum order_use use, const void *p, size_t bytes) {
    const uint64_t at = (uint64_t)(uintptr_t)p;
    if (order) order_use(order, use, at, at + bytes);
}

void stream_launched(struct session *s, const char *kernel) {
    char what[96];
    const struct emu_footprint *f;
    if (!order || order->gave_up) return;
    snprintf(what, sizeof what, "kernel %s", kernel);
    stream_operation(s, what, false);
    for (int n = 0; (f = emu_memory_next_trace(s->memory, &n));)
        for (int use = 0; use < ORDER_USES; use++)
            for (uint64_t at = 0, from, to;
                 emu_footprint_next(f, (enum emu_trace_kind)use, &at, &from, &to);)
                order_use(order, (enum order_use)use, from, to);
}

static const char *name_of(int stream, char out[64]) {
    if (stream == ORDER_LEGACY) return "the default stream";
    if (stream == per_thread) return "the thread's default stream";
    snprintf(out, 64, "stream %d", stream - ORDER_LEGACY);
    return out;
}

/* Was it said of these two before? */
static bool said_before(const struct order_operation *a, const struct order_operation *b) {
    static uint64_t said[64];
    static size_t n;
    uint64_t key = repeat_key(repeat_key(1, a->what, strlen(a->what)), b->what, strlen(b->what));
    for (size_t i = 0; i < n; i++)
        if (said[i] == key) return true;
    if (n == sizeof said / sizeof *said) return true;
    said[n++] = key;
    return false;
}

static void place(const struct session *s, uint64_t at, char out[96]) {
    const struct emu_allocation *a = emu_memory_below(s->memory, at); /* freed ones, too */
    if (a && at < a->end)
        snprintf(out, 96, "byte %llu of an allocation of %llu", (unsigned long long)(at - a->base),
                 (unsigned long long)(a->end - a->base));
    else
        snprintf(out, 96, "%#llx", (unsigned long long)at);
}

void stream_end_operation(void) {
    const struct order_operation *with;
    struct order_operation now;
    uint64_t at, end;
    bool writes, with_writes;
    char mine[64], theirs[64], where[96], host[256];
    struct session *s = order ? session_lock() : NULL;
    if (!s) return;
    if (order->now.stream) {
        now = order->now;
        if (order_end(order, &with, &at, &end, &writes, &with_writes) && !said_before(&now, with)) {
            place(s, at, where);
            s->n_reports++;
            guard_host_place(true, host, sizeof host);
            session_say("race between streams: %s in %s %s %s, which %s in %s %s: no event and no "
                        "synchronisation orders the two%s",
                        now.what, name_of(now.stream, mine), writes ? "writes" : "reads", where,
                        with->what, name_of(with->stream, theirs), with_writes ? "writes" : "reads",
                        host);
        }
        if (then_waits) order_host_waits(order, now.stream);
    }
    guard_set(s, order);
    session_unlock();
}

void stream_host_waits_for_all(void) {
    if (order) order_host_waits_for_all(order);
}

void stream_name(int stream, char out[64]) {
    const char *name = name_of(stream, out);
    if (name != out) snprintf(out, 64, "%s", name);
}

static cudaError_t host_waits(cudaStream_t stream) {
    WITH_SESSION(s);
    if (order) order_host_waits(order, timeline_of(s, stream));
    return cudart_leave(cudaSuccess);
}

/* ---- Streams --------------------------------------------------------------------------------- */

static struct CUstream_st default_stream;

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority) {
    static unsigned long long n_streams = 2; /* 0 to 2: the default ones */
    WITH_SESSION(s);
    if (!out) return cudart_leave(cudaErrorInvalidValue);
    *out = malloc(sizeof **out);
    if (*out)
        **out = (struct CUstream_st){.flags = flags,
                                     .priority = priority,
                                     .id = ++n_streams,
                                     .order = new_stream(s, !(flags & cudaStreamNonBlocking))};
    return cudart_leave(*out ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaStreamCreate(cudaStream_t *out) { return cudaStreamCreateWithPriority(out, 0, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags) {
    return cudaStreamCreateWithPriority(out, flags, 0);
}
static struct CUstream_st *stream_of(cudaStream_t stream) { /* 1 and 2 are legacy and per-thread */
    return (uintptr_t)stream <= 2 ? &default_stream : stream;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (stream_of(stream) != stream) return nothing();
    if (order && stream->order) order_drop_stream(order, stream->order);
    free(stream);
    return nothing();
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return host_waits(stream); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return host_waits(stream); }
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *out) {
    if (!out) return cudaErrorInvalidValue;
    *out = stream_of(stream)->flags;
    return nothing();
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *out) {
    if (!out) return cudaErrorInvalidValue;
    *out = (uintptr_t)stream <= 2 ? (uintptr_t)stream : stream->id;
    return nothing();
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *out) {
    if (!out) return cudaErrorInvalidValue;
    *out = stream_of(stream)->priority;
    return nothing();
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return nothing();
}
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID a,
                                   const cudaLaunchAttributeValue *value) {
    (void)stream, (void)a, (void)value;
    return nothing();
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *p, size_t bytes, unsigned flags) {
    (void)stream, (void)p, (void)bytes, (void)flags;
    return nothing();
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data,
                                  unsigned flags) {
    (void)flags;
    cudaError_t e = host_waits(stream); /* what it tells the host comes after the stream */
    callback(stream, e, data);
    return e;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    if (graph_capturing(stream)) return graph_add_host(graph_capturing(stream), function, data);
    cudaError_t e = host_waits(stream);
    if (!e) function(data);
    return e;
}

/* ---- Events: their times are the emulator's -------------------------------------------------- */

struct CUevent_st {
    bool recorded;
    bool untimed; /* cudaEventDisableTiming */
    struct timespec at;
    struct order_clock *seen; /* by its stream; NULL: not kept */
    struct capture *capture;  /* of the stream that recorded it; a stream that waits for it joins */
};

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags) {
    WITH_SESSION(s);
    (void)s;
    if (!out) return cudart_leave(cudaErrorInvalidValue);
    *out = calloc(1, sizeof **out);
    if (*out) (*out)->untimed = flags & cudaEventDisableTiming;
    return cudart_leave(*out ? cudaSuccess : cudaErrorMemoryAllocation);
}
EXPORT cudaError_t cudaEventCreate(cudaEvent_t *out) { return cudaEventCreateWithFlags(out, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (!event) return cudaErrorInvalidResourceHandle;
    free(event->seen);
    free(event);
    return nothing();
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (!event) return cudaErrorInvalidResourceHandle;
    event->capture = graph_capturing(stream) ? stream->capture : NULL;
    if (event->capture) return cudaSuccess;
    WITH_SESSION(s);
    event->recorded = true;
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    if (order && !event->seen) event->seen = heap_zeroed(1, sizeof *event->seen);
    if (order) order_record(order, timeline_of(s, stream), event->seen);
    return cudart_leave(cudaSuccess);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    (void)flags;
    if (event && event->capture && stream_of(stream) == stream && !graph_capturing(stream))
        stream->capture = event->capture;
    if (graph_capturing(stream)) return nothing();
    WITH_SESSION(s);
    if (order && event && event->seen) order_wait(order, timeline_of(s, stream), event->seen);
    return cudart_leave(cudaSuccess);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    (void)flags;
    return cudaEventRecord(event, stream);
}
static cudaError_t host_waits_for(cudaEvent_t event) {
    if (!event) return cudaErrorInvalidResourceHandle;
    WITH_SESSION(s);
    (void)s;
    if (order && event->seen) order_wait(order, ORDER_HOST, event->seen);
    return cudart_leave(cudaSuccess);
}
cudaError_t cudaEventQuery(cudaEvent_t event) { return host_waits_for(event); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return host_waits_for(event); }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end) {
    WITH_SESSION(s);
    if (!ms || !begin || !end || !begin->recorded || !end->recorded || begin->untimed ||
        end->untimed)
        return cudart_leave(cudaErrorInvalidResourceHandle);
    s->timed = true;
    *ms = (float)(1e3 * (double)(end->at.tv_sec - begin->at.tv_sec) +
                  1e-6 * (double)(end->at.tv_nsec - begin->at.tv_nsec));
    return cudart_leave(cudaSuccess);
}
