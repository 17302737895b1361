/* Memory. Pinned, managed and registered memory have one address on both sides. What cudaMalloc gives is hidden: the
 * program cannot use its address, and copies find it elsewhere (session_place). */
#include "cudart.h"
#include "guard.h"

#include "runtime/session/predictions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What belongs to whom -------------------------------------------------------------------- */

struct piece {
    uint64_t base, bytes;
    enum memory_kind kind;
};
static struct piece *pieces;
static int n_pieces, capacity;

static struct piece *piece_of(const void *p) {
    uint64_t at = (uint64_t)(uintptr_t)p;
    for (int n = n_pieces; n-- > 0;)
        if (at - pieces[n].base < pieces[n].bytes) return &pieces[n];
    return NULL;
}

static bool add_piece(uint64_t base, uint64_t bytes, enum memory_kind kind) {
    if (n_pieces == capacity) {
        int more = capacity ? 2 * capacity : 64;
        struct piece *grown = realloc(pieces, (size_t)more * sizeof *grown);
        if (!grown) return false;
        pieces = grown;
        capacity = more;
    }
    pieces[n_pieces++] = (struct piece){base, bytes ? bytes : 1, kind};
    return true;
}

cudaError_t memory_alloc(struct session *s, void **p, size_t bytes, enum memory_kind kind) {
    uint64_t at;
    if (!p) return cudaErrorInvalidValue;
    *p = NULL;
    if (!bytes && kind == MEMORY_DEVICE) return cudaSuccess;
    if (!bytes && kind == MEMORY_MANAGED) return cudaErrorInvalidValue;
    if (bytes > s->info.memory_bytes || emu_memory_alloc(s->memory, bytes, &at))
        return cudaErrorMemoryAllocation;
    const bool is_hidden = kind == MEMORY_DEVICE || kind == MEMORY_GRAPH;
    const char *why = is_hidden ? NULL : emu_memory_share(s->memory, at);
    if (why) session_say("%s", why);
    if (why || !add_piece(at, bytes, kind)) return cudaErrorMemoryAllocation;
    if (is_hidden)
        emu_memory_watch(s->memory, at); /* the host cannot write it */
    else
        stream_host_shares(s, kind == MEMORY_MANAGED);
    *p = (void *)(uintptr_t)at;
    return cudaSuccess;
}

/* Registered memory is the host's heap, whose pages cannot be kept from it. A kernel with strong accesses may talk with
 * the host through pinned memory. */
bool memory_is_guarded(const struct session *s, uint64_t p, bool talks) {
    const struct piece *piece = piece_of((const void *)(uintptr_t)p);
    if (!emu_memory_is_shared(s->memory, p)) return false;
    return !piece || piece->kind == MEMORY_MANAGED || (piece->kind == MEMORY_PINNED && !talks);
}

uint64_t memory_of_graphs(void) {
    uint64_t bytes = 0;
    for (int n = 0; n < n_pieces; n++)
        if (pieces[n].kind == MEMORY_GRAPH) bytes += pieces[n].bytes;
    return bytes;
}

struct freed {
    struct session *s;
    uint64_t base;
};
static void run_free(void *what) {
    const struct freed *f = what;
    emu_memory_free(f->s->memory, f->base);
}

/* After what was put off, if anything was. */
static void free_later(struct session *s, const struct piece *p) {
    struct freed f = {s, p->base}, *kept = s->repeat.n ? malloc(sizeof *kept) : NULL;
    if (!kept) {
        run_free(&f);
        return;
    }
    *kept = f;
    repeat_put_off_free(&s->repeat, (struct repeat_span){p->base, p->base + p->bytes}, run_free,
                        kept);
}

/* Is p in memory that was freed? That is a failed check: the program may not look at its error. */
static bool check_freed(struct session *s, const void *p, const char *how) {
    const uint64_t at = (uint64_t)(uintptr_t)p;
    const struct emu_allocation *a = s->memory ? emu_memory_below(s->memory, at) : NULL;
    char where[256];
    if (!a || !a->freed || at >= a->end) return false;
    s->n_reports++;
    guard_host_place(true, where, sizeof where);
    session_say("stale pointer: the host %s %p, which lies in an allocation of %llu bytes that was "
                "freed%s",
                how, p, (unsigned long long)(a->end - a->base), where);
    return true;
}

/* The call fails, which is said: the program may not look at its error. */
static cudaError_t refuse_because(const char *what, const void *p, const char *why) {
    enum { MOST = 10 };
    static int said;
    char where[256];
    if (said++ >= MOST) return cudaErrorInvalidValue;
    guard_host_place(true, where, sizeof where);
    session_say("%s %p failed: %s; only the error that the call returned tells the program%s", what,
                p, why, where);
    return cudaErrorInvalidValue;
}
static cudaError_t refuse(struct session *s, const char *what, const void *p) {
    const struct emu_allocation *a =
        s->memory ? emu_memory_below(s->memory, (uint64_t)(uintptr_t)p) : NULL;
    char left[96] = "no device memory is there";
    const uint64_t at = (uint64_t)(uintptr_t)p;
    if (a && (at < a->end || emu_memory_is_hidden(s->memory, at)))
        snprintf(left, sizeof left, "it is %llu bytes behind the %s of an allocation of %llu",
                 (unsigned long long)(at - (at < a->end ? a->base : a->end)),
                 at < a->end ? "begin" : "end", (unsigned long long)(a->end - a->base));
    return refuse_because(what, p, left);
}

/* NULL: this call frees such memory. */
static const char *wrong_free(enum memory_kind kind, enum memory_free how) {
    if (kind == MEMORY_REGISTERED)
        return "it is registered memory, which cudaHostUnregister gives up";
    if (kind == MEMORY_PINNED && how != FREE_HOST)
        return "it is pinned memory of the host, which cudaFreeHost frees";
    if (kind != MEMORY_PINNED && how == FREE_HOST)
        return "it is no memory of cudaMallocHost; cudaFree frees it";
    return NULL;
}

cudaError_t memory_free(struct session *s, void *p, enum memory_free how) {
    struct piece *piece = piece_of(p);
    if (!p) return cudaSuccess;
    if (!piece && check_freed(s, p, "frees")) return cudaErrorInvalidValue;
    if (!piece || piece->base != (uint64_t)(uintptr_t)p) return refuse(s, "the free of", p);
    const char *wrong = wrong_free(piece->kind, how);
    if (wrong) return refuse_because("the free of", p, wrong);
    if (piece->kind == MEMORY_GRAPH) return cudaSuccess;
    if (how != FREE_IN_STREAM) stream_host_waits_for_all();
    free_later(s, piece);
    *piece = pieces[--n_pieces];
    return cudaSuccess;
}

static bool on_device(const struct session *s, const void *p, size_t bytes) {
    return emu_memory_at(s->memory, (uint64_t)(uintptr_t)p, bytes) != NULL;
}
/* It begins among device memory, so all of it must be allocated. */
static bool leaves_device(const struct session *s, const void *p, size_t bytes) {
    return (on_device(s, p, 1) || emu_memory_is_hidden(s->memory, (uint64_t)(uintptr_t)p)) &&
           !on_device(s, p, bytes);
}

static cudaError_t check_copy(struct session *s, const void *to, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind) {
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if ((unsigned)kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (!to || !from) return cudaErrorInvalidValue;
    const bool bad_to = (to_device && !on_device(s, to, bytes)) || leaves_device(s, to, bytes);
    if (!bad_to && !(from_device && !on_device(s, from, bytes)) && !leaves_device(s, from, bytes))
        return cudaSuccess;
    if (check_freed(s, bad_to ? to : from, bad_to ? "copies to" : "copies from"))
        return cudaErrorInvalidValue;
    char what[64];
    snprintf(what, sizeof what, "a copy of %zu bytes %s", bytes, bad_to ? "to" : "from");
    return refuse(s, what, bad_to ? to : from);
}

/* ---- --repeats: copies and memsets may be put off ---------------------------------------------- */

/* Of memory that the host does not see. */
struct change {
    struct session *s;
    const char *operation; /* "copy" or "set" */
    void *to;
    const void *from; /* of a copy */
    size_t bytes;
    long value; /* of a set */
};

static void run_change(void *what) {
    const struct change *c = what;
    if (*c->operation == 's') {
        emu_memory_fill(c->s->memory, (uint64_t)(uintptr_t)c->to, (int)c->value, c->bytes);
        return;
    }
    memmove(session_place(c->s, c->to), session_place(c->s, c->from), c->bytes);
    emu_memory_written(c->s->memory, (uint64_t)(uintptr_t)c->to, c->bytes);
}

static void change(struct change c) {
    struct session *s = c.s;
    uint64_t key = repeat_key(0, &c, sizeof c), to = (uint64_t)(uintptr_t)c.to,
             from = (uint64_t)(uintptr_t)c.from;
    struct change *kept = session_puts_off(s, key) ? malloc(sizeof *kept) : NULL;
    struct repeat_effect e = {.read = {from, c.from ? from + c.bytes : from},
                              .written = {to, to + c.bytes}};
    if (kept) {
        *kept = c;
        repeat_expect(&s->repeat, key, &e, 1, true);
        repeat_put_off(&s->repeat, key, run_change, kept);
        return;
    }
    if (c.from) session_before_read(s, c.from, c.bytes);
    session_before_write(s, c.to, c.bytes);
    run_change(&c);
    if (s->settings.puts_off) repeat_note(&s->repeat, key, &e, 1, true);
}

static bool is_hidden(const struct session *s, const void *p) {
    return on_device(s, p, 1) && !emu_memory_is_shared(s->memory, (uint64_t)(uintptr_t)p);
}

/* Memory of the host that is not pinned is read before the call returns, and written, too. */
static void copy_operation(struct session *s, void *to, const void *from, size_t bytes) {
    bool inside = is_hidden(s, to) && is_hidden(s, from);
    stream_operation(s, "a copy", !inside);
    if (on_device(s, from, 1)) stream_uses(ORDER_READ, from, bytes);
    if (on_device(s, to, 1)) stream_uses(ORDER_WRITE, to, bytes);
    if (!on_device(s, to, 1)) stream_waits_for_operation();
}

static uint64_t allocation_of(const struct session *s, const void *p) {
    const struct emu_allocation *a = emu_memory_below(s->memory, (uint64_t)(uintptr_t)p);
    return a ? a->base : 0;
}

/* For predictions: a small copy goes through L2. A large one goes to DRAM, unless L2 has the lines, and takes along what
 * memsets have written (microbenchmarks patterns, first: 64 KiB and more; habits, vectors: 1 MiB and more). */
static void came_from_host(struct session *s, const void *to, size_t bytes) {
    enum { SMALL = 512 << 10 };
    if (bytes <= SMALL) {
        l2_turn(&s->l2);
        l2_touch(&s->l2, allocation_of(s, to), (double)bytes, (double)bytes);
        return;
    }
    s->set_bytes = 0;
    l2_copy(&s->l2, allocation_of(s, to), (double)bytes);
}

cudaError_t memory_copy(struct session *s, void *to, const void *from, size_t bytes,
                        enum cudaMemcpyKind kind) {
    if (!bytes) return cudaSuccess;
    cudaError_t e = check_copy(s, to, from, bytes, kind);
    if (e) return e;
    copy_operation(s, to, from, bytes);
    stale_copy(&s->stale, s->memory, (uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, bytes);
    if (is_hidden(s, to) && is_hidden(s, from)) {
        change((struct change){s, "copy", to, from, bytes, 0});
        return cudaSuccess;
    }
    session_before_read(s, from, bytes);
    struct repeat_span all = {(uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)to + bytes};
    void *there = session_place(s, to);
    const void *here = session_place(s, from);
    bool same =
        s->settings.puts_off && !repeat_writes(&s->repeat, all) && !memcmp(there, here, bytes);
    if (!same && on_device(s, to, 1)) session_before_write(s, to, bytes);
    if (on_device(s, to, 1)) came_from_host(s, to, bytes);
    if (on_device(s, to, 1)) predictions_changed(s, allocation_of(s, to), there, here, bytes);
    memmove(there, here, bytes);
    emu_memory_written(s->memory, (uint64_t)(uintptr_t)to, bytes);
    return launch_late_fault(s);
}

cudaError_t memory_set(struct session *s, void *to, int value, size_t bytes) {
    if (!bytes) return cudaSuccess;
    if (!on_device(s, to, bytes)) {
        char what[64];
        snprintf(what, sizeof what, "a memset of %zu bytes at", bytes);
        return check_freed(s, to, "sets") ? cudaErrorInvalidValue : refuse(s, what, to);
    }
    s->set_bytes += bytes;
    stale_copy(&s->stale, s->memory, (uint64_t)(uintptr_t)to, 0, bytes);
    l2_turn(&s->l2);
    l2_touch(&s->l2, allocation_of(s, to), (double)bytes, (double)bytes);
    stream_operation(s, "a memset", !is_hidden(s, to));
    stream_uses(ORDER_WRITE, to, bytes);
    uint64_t at = (uint64_t)(uintptr_t)to;
    if (emu_memory_is_filled(s->memory, at, value, bytes) &&
        !repeat_writes(&s->repeat, (struct repeat_span){at, at + bytes}))
        return cudaSuccess;
    predictions_changed(s, allocation_of(s, to), NULL, NULL, bytes);
    struct change c = {s, "set", to, NULL, bytes, value};
    if (is_hidden(s, to))
        change(c);
    else
        run_change(&c);
    return cudaSuccess;
}

cudaError_t memory_set_words(struct session *s, void *to, uint32_t value, size_t word_bytes,
                             size_t n) {
    if (n >= SIZE_MAX / word_bytes) return cudaErrorInvalidValue;
    unsigned char *words = malloc(n * word_bytes + 1);
    if (!words) return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < n; i++) memcpy(words + i * word_bytes, &value, word_bytes);
    cudaError_t e = memory_copy(s, to, words, n * word_bytes, cudaMemcpyHostToDevice);
    free(words);
    return e;
}

static cudaError_t copy_2d(struct session *s, void *to, size_t to_pitch, const void *from,
                           size_t from_pitch, size_t width, size_t height,
                           enum cudaMemcpyKind kind) {
    cudaError_t e = cudaSuccess;
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    for (size_t y = 0; y < height && !e; y++)
        e = memory_copy(s, (char *)to + y * to_pitch, (const char *)from + y * from_pitch, width,
                        kind);
    return e;
}

/* ---- Allocation ------------------------------------------------------------------------------ */

/* What the stream does then has all bytes to itself. */
static void in_turn(struct session *s, const char *what, const void *p, size_t bytes,
                    cudaStream_t stream) {
    stream_enter(stream);
    stream_operation(s, what, false);
    stream_uses(ORDER_WRITE, p, bytes);
    stream_leave(cudaSuccess);
}

#define ALLOCATE(kind)                                                                             \
    WITH_SESSION(s);                                                                               \
    return cudart_leave(memory_alloc(s, p, bytes, kind))
cudaError_t cudaMalloc(void **p, size_t bytes) { ALLOCATE(MEMORY_DEVICE); }
cudaError_t cudaMallocHost(void **p, size_t bytes) { ALLOCATE(MEMORY_PINNED); }
cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags) {
    WITH_SESSION(s);
    cudaError_t e = memory_alloc(s, p, bytes, MEMORY_PINNED);
    if (!e && flags & cudaHostAllocMapped) stream_host_shares(s, true);
    return cudart_leave(e);
}
cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned flags) {
    (void)flags;
    ALLOCATE(MEMORY_MANAGED);
}
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream) {
    cudaGraph_t g = graph_capturing(stream);
    if (g) return graph_add_memory(g, p, bytes);
    WITH_SESSION(s);
    cudaError_t e = memory_alloc(s, p, bytes, MEMORY_DEVICE);
    if (!e) in_turn(s, "cudaMallocAsync", *p, bytes, stream);
    return cudart_leave(e);
}
cudaError_t cudaMallocFromPoolAsync(void **p, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
    (void)pool;
    return cudaMallocAsync(p, bytes, stream);
}

/* Rows of whole 512 bytes. */
static cudaError_t alloc_rows(struct session *s, void **p, size_t *pitch, size_t width,
                              size_t height, size_t depth) {
    size_t bytes;
    if (__builtin_add_overflow(width, 511, pitch)) return cudaErrorMemoryAllocation;
    *pitch = *pitch / 512 * 512;
    if (__builtin_mul_overflow(*pitch, height, &bytes) ||
        __builtin_mul_overflow(bytes, depth, &bytes))
        return cudaErrorMemoryAllocation;
    return memory_alloc(s, p, bytes, MEMORY_DEVICE);
}

cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height) {
    WITH_SESSION(s);
    if (!pitch) return cudart_leave(cudaErrorInvalidValue);
    return cudart_leave(alloc_rows(s, p, pitch, width, height, 1));
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *p, struct cudaExtent extent) {
    WITH_SESSION(s);
    if (!p) return cudart_leave(cudaErrorInvalidValue);
    p->xsize = extent.width;
    p->ysize = extent.height;
    return cudart_leave(
        alloc_rows(s, &p->ptr, &p->pitch, extent.width, extent.height, extent.depth));
}

#define RELEASE(how)                                                                               \
    WITH_SESSION(s);                                                                               \
    return cudart_leave(memory_free(s, p, how))
cudaError_t cudaFree(void *p) { RELEASE(FREE_DEVICE); }
cudaError_t cudaFreeHost(void *p) { RELEASE(FREE_HOST); }
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream) {
    if (graph_capturing(stream)) return cudaSuccess; /* it may be launched again */
    WITH_SESSION(s);
    const struct piece *piece = piece_of(p);
    if (piece) in_turn(s, "cudaFreeAsync", p, piece->bytes, stream);
    return cudart_leave(memory_free(s, p, FREE_IN_STREAM));
}

cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags) {
    WITH_SESSION(s);
    (void)flags;
    if (!p || !bytes) return cudart_leave(cudaErrorInvalidValue);
    if (piece_of(p)) return cudart_leave(cudaErrorHostMemoryAlreadyRegistered);
    uint64_t at = (uint64_t)(uintptr_t)p;
    if (emu_memory_adopt(s->memory, at, bytes) || !add_piece(at, bytes, MEMORY_REGISTERED))
        return cudart_leave(cudaErrorMemoryAllocation);
    emu_memory_share(s->memory, at);
    return cudart_leave(cudaSuccess);
}

cudaError_t cudaHostUnregister(void *p) {
    WITH_SESSION(s);
    struct piece *piece = piece_of(p);
    if (!piece || piece->kind != MEMORY_REGISTERED)
        return cudart_leave(cudaErrorHostMemoryNotRegistered);
    emu_memory_disown(s->memory, piece->base);
    *piece = pieces[--n_pieces];
    return cudart_leave(cudaSuccess);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
    WITH_SESSION(s);
    (void)flags;
    if (!device || !on_device(s, host, 1)) return cudart_leave(cudaErrorInvalidValue);
    *device = host;
    return cudart_leave(cudaSuccess);
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *p) {
    WITH_SESSION(s);
    (void)s;
    if (!flags || !piece_of(p)) return cudart_leave(cudaErrorInvalidValue);
    *flags = cudaHostAllocMapped;
    return cudart_leave(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p) {
    WITH_SESSION(s);
    const struct piece *piece = piece_of(p);
    if (!a) return cudart_leave(cudaErrorInvalidValue);
    memset(a, 0, sizeof *a);
    enum memory_kind kind = piece                ? piece->kind
                            : on_device(s, p, 1) ? MEMORY_DEVICE /* a variable of a module */
                                                 : MEMORY_NONE;
    static const enum cudaMemoryType types[] = {cudaMemoryTypeUnregistered, cudaMemoryTypeDevice,
                                                cudaMemoryTypeHost,         cudaMemoryTypeManaged,
                                                cudaMemoryTypeHost,         cudaMemoryTypeDevice};
    a->type = types[kind];
    a->device = kind == MEMORY_NONE ? -2 : 0;
    a->devicePointer = kind == MEMORY_NONE ? NULL : (void *)(uintptr_t)p;
    bool hidden = kind == MEMORY_DEVICE || kind == MEMORY_GRAPH || kind == MEMORY_NONE;
    a->hostPointer = hidden ? NULL : (void *)(uintptr_t)p;
    return cudart_leave(cudaSuccess);
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *total) {
    WITH_SESSION(s);
    uint64_t used = 0;
    for (int n = 0; n < n_pieces; n++) used += pieces[n].bytes;
    if (total) *total = s->info.memory_bytes;
    if (left) *left = used < s->info.memory_bytes ? s->info.memory_bytes - used : 0;
    return cudart_leave(cudaSuccess);
}

/* ---- Copies ---------------------------------------------------------------------------------- */

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    WITH_SESSION(s);
    return cudart_leave(memory_copy(s, to, from, bytes, kind));
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    cudaGraph_t g = graph_capturing(stream);
    if (g) return graph_add_copy(g, to, bytes, from, bytes, bytes, 1, kind);
    stream_enter(stream);
    return stream_leave(cudaMemcpy(to, from, bytes, kind));
}
cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                           size_t bytes) {
    if (to_device || from_device) return cudaErrorInvalidDevice;
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream) {
    if (to_device || from_device) return cudaErrorInvalidDevice;
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind) {
    WITH_SESSION(s);
    return cudart_leave(copy_2d(s, to, to_pitch, from, from_pitch, width, height, kind));
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream) {
    cudaGraph_t g = graph_capturing(stream);
    if (g) return graph_add_copy(g, to, to_pitch, from, from_pitch, width, height, kind);
    stream_enter(stream);
    return stream_leave(cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind));
}

/* One side of a 3D copy. An array counts x in elements. */
static struct cudaPitchedPtr side_3d(cudaArray_const_t a, struct cudaPitchedPtr p,
                                     struct cudaPos at, size_t *element_bytes) {
    size_t scale = 1;
    if (a) *element_bytes = scale = array_memory(a, &p);
    p.ptr = (char *)p.ptr + (at.z * p.ysize + at.y) * p.pitch + at.x * scale;
    return p;
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) {
    WITH_SESSION(s);
    if (!p) return cudart_leave(cudaErrorInvalidValue);
    cudaError_t e = cudaSuccess;
    size_t scale = 1; /* width counts elements as soon as there is an array */
    struct cudaPitchedPtr to = side_3d(p->dstArray, p->dstPtr, p->dstPos, &scale),
                          from = side_3d(p->srcArray, p->srcPtr, p->srcPos, &scale);
    for (size_t z = 0; z < p->extent.depth && !e; z++)
        e = copy_2d(s, (char *)to.ptr + z * to.ysize * to.pitch, to.pitch,
                    (const char *)from.ptr + z * from.ysize * from.pitch, from.pitch,
                    p->extent.width * scale, p->extent.height, p->kind);
    return cudart_leave(e);
}
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream) {
    cudaGraph_t g = graph_capturing(stream);
    if (g) return p ? graph_add_copy_3d(g, p) : cudaErrorInvalidValue;
    stream_enter(stream);
    return stream_leave(cudaMemcpy3D(p));
}

cudaError_t cudaMemset(void *p, int value, size_t bytes) {
    WITH_SESSION(s);
    return cudart_leave(memory_set(s, p, value, bytes));
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream) {
    cudaGraph_t g = graph_capturing(stream);
    if (g) return graph_add_set(g, p, bytes, value, bytes, 1);
    stream_enter(stream);
    return stream_leave(cudaMemset(p, value, bytes));
}
cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height) {
    WITH_SESSION(s);
    cudaError_t e = width > pitch && height > 1 ? cudaErrorInvalidValue : cudaSuccess;
    for (size_t y = 0; y < height && !e; y++)
        e = memory_set(s, (char *)p + y * pitch, value, width);
    return cudart_leave(e);
}
cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    cudaGraph_t g = graph_capturing(stream);
    if (g) return graph_add_set(g, p, pitch, value, width, height);
    stream_enter(stream);
    return stream_leave(cudaMemset2D(p, pitch, value, width, height));
}
cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent extent) {
    WITH_SESSION(s);
    cudaError_t e = cudaSuccess;
    for (size_t row = 0; row < extent.depth * p.ysize && !e; row++)
        if (row % p.ysize < extent.height)
            e = memory_set(s, (char *)p.ptr + row * p.pitch, value, extent.width);
    return cudart_leave(e);
}
cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int value, struct cudaExtent extent,
                              cudaStream_t stream) {
    cudaGraph_t g = graph_capturing(stream);
    cudaError_t e = cudaSuccess;
    for (size_t z = 0; g && z < extent.depth && !e; z++)
        e = graph_add_set(g, (char *)p.ptr + z * p.ysize * p.pitch, p.pitch, value, extent.width,
                          extent.height);
    if (g) return e;
    stream_enter(stream);
    return stream_leave(cudaMemset3D(p, value, extent));
}

/* ---- Hints, which change nothing here -------------------------------------------------------- */

cudaError_t cudaMemPrefetchAsync(const void *p, size_t bytes, struct cudaMemLocation where,
                                 unsigned flags, cudaStream_t stream) {
    WITH_SESSION(s);
    (void)where, (void)flags, (void)stream;
    return cudart_leave(on_device(s, p, bytes) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemAdvise(const void *p, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation where) {
    WITH_SESSION(s);
    (void)advice, (void)where;
    return cudart_leave(on_device(s, p, bytes) ? cudaSuccess : cudaErrorInvalidValue);
}

/* One pool, which is all of memory. */
static char pool;
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int device) {
    WITH_SESSION(s);
    (void)s;
    if (out) *out = (cudaMemPool_t)(void *)&pool;
    return cudart_leave(!out     ? cudaErrorInvalidValue
                        : device ? cudaErrorInvalidDevice
                                 : cudaSuccess);
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *out, int device) {
    return cudaDeviceGetDefaultMemPool(out, device);
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t given) {
    (void)given;
    return device ? cudaErrorInvalidDevice : cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t given, enum cudaMemPoolAttr a, void *value) {
    (void)given, (void)a, (void)value;
    return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t given, enum cudaMemPoolAttr a, void *value) {
    (void)given, (void)a;
    if (!value) return cudaErrorInvalidValue;
    memset(value, 0, a <= cudaMemPoolReuseAllowInternalDependencies ? 4 : 8);
    return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t given, size_t bytes) {
    (void)given, (void)bytes;
    return cudaSuccess;
}
