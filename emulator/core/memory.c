/* Device memory: one large reservation of host addresses, handed out once and never again, so
 * that a stale pointer always points at something that no allocation owns. At least 1 GiB of it
 * lies behind each allocation, less when the reservation comes to its end, so that overlong
 * indices miss, too. */
#include "memory.h"

#include "footprint.h"
#include "texture.h"

#include "common/base/reason.h"
#include "common/base/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };
#ifdef __SANITIZE_THREAD__
#define RESERVED ((size_t)1 << 38) /* it shadows what is reserved */
#else
#define RESERVED ((size_t)1 << 45)
#endif
#define SMALLEST ((size_t)1 << 36) /* half, a quarter, ... are tried down to this */
#define GAP      ((size_t)1 << 30)

struct emu_memory {
    unsigned char *reserved;
    size_t bytes, used; /* of the addresses that may be handed out */
    size_t shift; /* from an address to its place on the host; 0: the host may use addresses, too */
    uint64_t param, workspace;         /* 0: not yet asked for */
    struct emu_allocation *allocation; /* by address; what is handed out only grows */
    int n, capacity;
    bool overlapped; /* the last launch */
    bool traces;     /* allocations keep footprints */
    struct emu_textures *textures;
    uint32_t launch; /* 1 to 4095, and again */
    struct {
        size_t limit, live; /* bytes */
        uint64_t at, end;   /* of the piece that is being handed out */
    } heap;
};

const char *emu_memory_open(struct emu_memory **out) {
    struct emu_memory *m = heap_zeroed(1, sizeof *m);
    *out = NULL;
    for (m->bytes = RESERVED; m->bytes >= SMALLEST; m->bytes /= 2) {
        m->reserved =
            mmap(NULL, m->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (m->reserved != MAP_FAILED) break;
    }
    if (m->reserved == MAP_FAILED) {
        int error = errno;
        free(m);
        return reason("the emulator cannot reserve addresses: %s; raise `ulimit -v`",
                      strerror(error));
    }
    m->used = PAGE;
    m->heap.limit = (size_t)8 << 20;
    m->textures = emu_textures_open();
    *out = m;
    return NULL;
}

void emu_memory_hide(struct emu_memory *m) { m->shift = m->bytes /= 2; }

bool emu_memory_is_hidden(const struct emu_memory *m, uint64_t p) {
    return m->shift && p - (uint64_t)(uintptr_t)m->reserved < m->bytes;
}

uint64_t emu_memory_address(const struct emu_memory *m, const void *place) {
    const uint64_t p = (uint64_t)(uintptr_t)place;
    return emu_memory_is_hidden(m, p - m->shift) ? p - m->shift : p;
}

static void drop_cells(struct emu_allocation *a) {
    if (a->cells) munmap(a->cells, a->cells_bytes);
    a->cells = NULL;
}

static void drop_footprint(struct emu_allocation *a) {
    emu_footprint_close(a->footprint);
    a->footprint = NULL;
}

static void unwatch(struct emu_allocation *a) {
    if (a->written) munmap(a->written, emu_memory_cells(a));
    a->written = NULL;
}

void emu_memory_watch(struct emu_memory *m, uint64_t p) {
    struct emu_allocation *a = emu_memory_find(m, p);
    if (!a || a->written) return;
    void *at = mmap(NULL, emu_memory_cells(a), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at != MAP_FAILED) a->written = at;
}

void emu_memory_written(const struct emu_memory *m, uint64_t p, uint64_t bytes) {
    struct emu_allocation *a = emu_memory_find(m, p);
    if (!a || !a->written || !bytes) return;
    __atomic_store_n(&a->filled.bytes, 0, __ATOMIC_RELAXED);
    uint64_t end = bytes < a->end - p ? p + bytes : a->end;
    for (uint64_t at = p; at < end;) {
        uint8_t *cell = a->written + (at / 4 - a->base / 4);
        uint64_t whole = at % 4 ? 0 : (end - at) / 4;
        if (whole)
            memset(cell, 15, whole), at += 4 * whole;
        else
            *cell |= (uint8_t)(1u << at % 4), at++;
    }
}

/* Only for memory that the host cannot write directly. */
bool emu_memory_is_filled(const struct emu_memory *m, uint64_t p, int value, uint64_t bytes) {
    const struct emu_allocation *a = emu_memory_find(m, p);
    return a && a->written && a->filled.p == p && a->filled.bytes == bytes &&
           a->filled.value == value && !(a->touched & EMU_WRITE);
}

void emu_memory_fill(struct emu_memory *m, uint64_t p, int value, uint64_t bytes) {
    struct emu_allocation *a = emu_memory_find(m, p);
    if (!a || !bytes || bytes > a->end - p) return;
    memset(emu_memory_place(a, p), value, bytes);
    emu_memory_written(m, p, bytes);
    a->filled.p = p, a->filled.bytes = bytes, a->filled.value = value;
}

void emu_memory_close(struct emu_memory *m) {
    if (!m) return;
    munmap(m->reserved, m->bytes + m->shift);
    for (int n = 0; n < m->n; n++) {
        drop_cells(&m->allocation[n]);
        drop_footprint(&m->allocation[n]);
        unwatch(&m->allocation[n]);
    }
    emu_textures_close(m->textures);
    free(m->allocation);
    free(m);
}

static const char *make_room(struct emu_memory *m) {
    if (m->n == m->capacity) {
        int capacity = m->capacity ? 2 * m->capacity : 64;
        m->allocation = heap_grown(m->allocation, (size_t)capacity * sizeof *m->allocation);
        m->capacity = capacity;
    }
    return NULL;
}

/* In the order of addresses. */
static void insert(struct emu_memory *m, uint64_t base, uint64_t end, size_t shift) {
    int at = m->n++;
    for (; at > 0 && m->allocation[at - 1].base > base; at--)
        m->allocation[at] = m->allocation[at - 1];
    m->allocation[at] = (struct emu_allocation){.base = base,
                                                .end = end,
                                                .host = (unsigned char *)(uintptr_t)(base + shift),
                                                .wrote_from = UINT64_MAX};
}

const char *emu_memory_adopt(struct emu_memory *m, uint64_t p, size_t bytes) {
    const char *why = make_room(m);
    if (!why) insert(m, p, p + bytes, 0);
    return why;
}

uint32_t emu_memory_launch(const struct emu_memory *m) { return m->launch; }

void emu_memory_disown(struct emu_memory *m, uint64_t p) {
    struct emu_allocation *a = emu_memory_find(m, p);
    if (!a || a->base != p) return;
    drop_cells(a);
    drop_footprint(a);
    unwatch(a);
    memmove(a, a + 1, (size_t)(m->allocation + m->n - a - 1) * sizeof *a);
    m->n--;
}

/* What stays untouchable behind an allocation when `left` bytes are left. */
static size_t gap(size_t left) {
    size_t share = left >> 14 & ~(size_t)(PAGE - 1);
    return share > GAP ? GAP : share > PAGE ? share : PAGE;
}

const char *emu_memory_alloc(struct emu_memory *m, size_t bytes, uint64_t *out) {
    *out = 0;
    if (bytes == 0) bytes = 1;
    if (bytes > m->bytes || bytes + 2 * PAGE > m->bytes - m->used)
        return reason("the emulator has no %zu bytes of memory", bytes);
    size_t size = (bytes + PAGE - 1) / PAGE * PAGE;
    const char *why = make_room(m);
    if (why) return why;
    unsigned char *at = m->reserved + m->used;
    if (mprotect(at + m->shift, size, PROT_READ | PROT_WRITE))
        return reason_as(STATUS_DEVICE, "the emulator cannot allocate %zu bytes: %s", bytes,
                         strerror(errno));
    uint64_t base = (uint64_t)(uintptr_t)at;
    insert(m, base, base + bytes, m->shift);
    m->used += size;
    m->used += gap(m->bytes - m->used);
    *out = base;
    return NULL;
}

/* ---- What kernels allocate -------------------------------------------------------------------------- */

/* Rows of the table are not moved while a launch may hold pointers to them. Pieces of the reservation are handed out without
 * untouchable pages between, which are dear where allocations are many and small: checks find what is out of bounds. */
enum { HEAP_ROWS = 1 << 18, HEAP_UNIT = 256 };
#define HEAP_PIECE ((size_t)1 << 32)

void emu_heap_limit(struct emu_memory *m, size_t bytes) { m->heap.limit = bytes; }

void emu_heap_begin(struct emu_memory *m) {
    while (m->capacity - m->n < HEAP_ROWS) {
        m->capacity = m->capacity ? 2 * m->capacity : HEAP_ROWS;
        m->allocation = heap_grown(m->allocation, (size_t)m->capacity * sizeof *m->allocation);
    }
}

static bool heap_piece(struct emu_memory *m) {
    const size_t bytes =
        HEAP_PIECE < (m->bytes - m->used) / 4 ? HEAP_PIECE : (m->bytes - m->used) / 4 / PAGE * PAGE;
    unsigned char *at = m->reserved + m->used;
    if (!bytes || mprotect(at + m->shift, bytes, PROT_READ | PROT_WRITE)) return false;
    m->heap.at = (uint64_t)(uintptr_t)at;
    m->heap.end = m->heap.at + bytes;
    m->used += bytes;
    m->used += gap(m->bytes - m->used);
    return true;
}

uint64_t emu_heap_alloc(struct emu_memory *m, uint64_t bytes) {
    const uint64_t size =
        (bytes + 2 * HEAP_UNIT - 1) / HEAP_UNIT * HEAP_UNIT; /* some of it lies between */
    if (!bytes || bytes > m->heap.limit || m->heap.live > m->heap.limit - bytes ||
        m->n == m->capacity)
        return 0;
    if (m->heap.end - m->heap.at < size && (!heap_piece(m) || m->heap.end - m->heap.at < size))
        return 0;
    const uint64_t p = m->heap.at;
    insert(m, p, p + bytes, m->shift);
    m->heap.at += size;
    m->heap.live += bytes;
    emu_memory_find(m, p)->heap_bytes = bytes;
    emu_memory_watch(m, p);
    return p;
}

const char *emu_heap_free(struct emu_memory *m, uint64_t p) {
    const struct emu_allocation *below = emu_memory_below(m, p);
    if (!below || below->base != p) return "which malloc() did not give";
    struct emu_allocation *a = &m->allocation[below - m->allocation];
    if (!a->heap_bytes) return "which the host allocated";
    if (a->freed) return "which is free already";
    const uint64_t first = (a->base + PAGE - 1) / PAGE * PAGE, last = a->end / PAGE * PAGE;
    drop_cells(a);
    drop_footprint(a);
    unwatch(a);
    if (last > first) madvise(emu_memory_place(a, first), last - first, MADV_DONTNEED);
    m->heap.live -= a->heap_bytes;
    a->end = a->base; /* pointers to this row find nothing there */
    a->freed = true;
    return NULL;
}

const char *emu_memory_params(struct emu_memory *m, size_t bytes, uint64_t *out) {
    const char *why = m->param ? NULL : emu_memory_alloc(m, EMU_PARAM_BYTES, &m->param);
    if (why) return why;
    struct emu_allocation *a = m->allocation; /* of whatever size it was in the last launch */
    while (a->base != m->param) a++;
    a->end = m->param + (bytes ? bytes : 1);
    a->read_only = true;
    *out = m->param;
    return NULL;
}

const char *emu_memory_workspace(struct emu_memory *m, uint64_t *out) {
    const uint32_t size = 64;
    const char *why = m->workspace ? NULL : emu_memory_alloc(m, size, &m->workspace);
    if (why) return why;
    void *at = (void *)(uintptr_t)(m->workspace + m->shift);
    memset(at, 0, size);
    memcpy(at, &size, sizeof size);
    *out = m->workspace;
    return NULL;
}

const struct emu_allocation *emu_memory_below(const struct emu_memory *m, uint64_t p) {
    int low = 0, high = m->n; /* the last allocation whose base is <= p lies in [low, high) */
    while (low < high) {
        int middle = (low + high) / 2;
        if (m->allocation[middle].base <= p)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &m->allocation[low - 1] : NULL;
}

struct emu_allocation *emu_memory_find(const struct emu_memory *m, uint64_t p) {
    const struct emu_allocation *a = emu_memory_below(m, p);
    return a && p < a->end && !a->freed ? &m->allocation[a - m->allocation] : NULL;
}

struct emu_textures *emu_memory_textures(const struct emu_memory *m) {
    return m->textures;
}

void emu_memory_free(struct emu_memory *m, uint64_t p) {
    struct emu_allocation *a = emu_memory_find(m, p);
    if (!a || a->base != p || a->heap_bytes) return;
    size_t size = (a->end - a->base + PAGE - 1) / PAGE * PAGE;
    void *at = emu_memory_place(a, p);
    drop_cells(a);
    drop_footprint(a);
    unwatch(a);
    madvise(at, size, MADV_DONTNEED);
    mprotect(at, size, PROT_NONE);
    a->freed = true;
}

/* What may still run when this launch starts: the one before it, and what that one may have
 * overlapped. */
void emu_memory_next_launch(struct emu_memory *m, bool overlaps) {
    if (++m->launch == 4096) {
        for (int n = 0; n < m->n; n++) drop_cells(&m->allocation[n]);
        m->launch = 1;
    }
    for (int n = 0; n < m->n; n++) {
        struct emu_allocation *a = &m->allocation[n];
        a->ahead = (uint8_t)(a->touched | (m->overlapped ? a->ahead : 0));
        if (!m->overlapped) a->ahead_from = UINT64_MAX, a->ahead_to = 0;
        if (a->wrote_from < a->ahead_from) a->ahead_from = a->wrote_from;
        if (a->wrote_to > a->ahead_to) a->ahead_to = a->wrote_to;
        if (a->touched & EMU_WRITE) a->filled.bytes = 0;
        a->touched = 0;
        a->wrote_from = UINT64_MAX, a->wrote_to = 0;
        if (a->footprint)
            emu_footprint_clear(a->footprint);
        else if (m->traces && !a->freed && a->base != m->param)
            a->footprint = emu_footprint_open(a->base, a->end);
    }
    m->overlapped = overlaps;
}

void emu_memory_widen(struct emu_allocation *a, uint64_t from, uint64_t to) {
    uint64_t low = __atomic_load_n(&a->wrote_from, __ATOMIC_RELAXED);
    uint64_t high = __atomic_load_n(&a->wrote_to, __ATOMIC_RELAXED);
    while (from < low && !__atomic_compare_exchange_n(&a->wrote_from, &low, from, true,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
    while (to > high && !__atomic_compare_exchange_n(&a->wrote_to, &high, to, true,
                                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

const char *emu_memory_share(struct emu_memory *m, uint64_t p) {
    struct emu_allocation *a = emu_memory_find(m, p);
    if (!a) return NULL;
    unsigned char *own = (unsigned char *)(uintptr_t)a->base;
    const size_t size = (a->end - a->base + PAGE - 1) / PAGE * PAGE;
    if (a->host != own && mprotect(own, size, PROT_READ | PROT_WRITE))
        return reason_as(
            STATUS_DEVICE,
            "the emulator cannot share %zu bytes with the host: %s; has the process as "
            "many mappings as `sysctl vm.max_map_count` allows?",
            (size_t)(a->end - a->base), strerror(errno));
    if (a->host != own) mprotect(a->host, size, PROT_NONE); /* to find mistakes: it may fail */
    a->host = own;
    a->host_sees = true;
    return NULL;
}

bool emu_memory_is_shared(const struct emu_memory *m, uint64_t p) {
    const struct emu_allocation *a = emu_memory_find(m, p);
    return a && a->host_sees;
}

bool emu_memory_any_shared(const struct emu_memory *m) {
    for (int n = 0; n < m->n; n++)
        if (m->allocation[n].host_sees && !m->allocation[n].freed) return true;
    return false;
}

bool emu_memory_next_effect(const struct emu_memory *m, int *n, struct emu_effect *out) {
    for (; *n < m->n; ++*n) {
        const struct emu_allocation *a = &m->allocation[*n];
        if (!a->touched || a->read_only || a->base == m->workspace) continue;
        bool wrote = a->touched & EMU_WRITE;
        *out = (struct emu_effect){a->base, a->end, wrote ? a->wrote_from : 0,
                                   wrote ? a->wrote_to : 0, a->touched & EMU_READ};
        ++*n;
        return true;
    }
    return false;
}

void emu_memory_trace(struct emu_memory *m) { m->traces = true; }

const struct emu_footprint *emu_memory_next_trace(const struct emu_memory *m, int *n) {
    while (*n < m->n) {
        const struct emu_allocation *a = &m->allocation[(*n)++];
        if (a->touched && a->footprint && a->base != m->workspace) return a->footprint;
    }
    return NULL;
}

void *emu_memory_at(const struct emu_memory *m, uint64_t p, uint64_t bytes) {
    const struct emu_allocation *a = emu_memory_find(m, p);
    return a && !a->heap_bytes && bytes <= a->end - p ? emu_memory_place(a, p) : NULL;
}
