/* Device memory: one large reservation of host addresses, handed out once and never again, so
 * that a stale or overlong pointer always points at something that no allocation owns. */
#include "memory.h"

#include "common/base/reason.h"
#include "common/base/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };
#define RESERVED ((size_t)1 << 38)

struct emu_memory {
    unsigned char *reserved;
    size_t used;
    struct emu_allocation *allocation; /* by address; what is handed out only grows */
    int n, capacity;
    bool overlapped; /* the last launch */
};

const char *emu_memory_open(struct emu_memory **out) {
    struct emu_memory *m = heap_zeroed(1, sizeof *m);
    *out = NULL;
    m->reserved =
        mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m->reserved == MAP_FAILED) {
        int error = errno;
        free(m);
        return reason("the emulator cannot reserve addresses: %s; raise `ulimit -v`",
                      strerror(error));
    }
    m->used = PAGE;
    *out = m;
    return NULL;
}

void emu_memory_close(struct emu_memory *m) {
    if (!m) return;
    munmap(m->reserved, RESERVED);
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
static void insert(struct emu_memory *m, uint64_t base, uint64_t end) {
    int at = m->n++;
    for (; at > 0 && m->allocation[at - 1].base > base; at--)
        m->allocation[at] = m->allocation[at - 1];
    m->allocation[at] = (struct emu_allocation){.base = base, .end = end};
}

const char *emu_memory_adopt(struct emu_memory *m, uint64_t p, size_t bytes) {
    const char *why = make_room(m);
    if (!why) insert(m, p, p + bytes);
    return why;
}

void emu_memory_disown(struct emu_memory *m, uint64_t p) {
    struct emu_allocation *a = emu_memory_find(m, p);
    if (!a || a->base != p) return;
    memmove(a, a + 1, (size_t)(m->allocation + m->n - a - 1) * sizeof *a);
    m->n--;
}

const char *emu_memory_alloc(struct emu_memory *m, size_t bytes, uint64_t *out) {
    *out = 0;
    if (bytes == 0) bytes = 1;
    if (bytes > RESERVED || bytes + 2 * PAGE > RESERVED - m->used)
        return reason("the emulator has no %zu bytes of memory", bytes);
    size_t size = (bytes + PAGE - 1) / PAGE * PAGE;
    const char *why = make_room(m);
    if (why) return why;
    unsigned char *at = m->reserved + m->used;
    if (mprotect(at, size, PROT_READ | PROT_WRITE))
        return reason("the emulator cannot allocate %zu bytes: %s", bytes, strerror(errno));
    uint64_t base = (uint64_t)(uintptr_t)at;
    insert(m, base, base + bytes);
    m->used += size + PAGE; /* an untouchable page in between */
    *out = base;
    return NULL;
}

struct emu_allocation *emu_memory_find(const struct emu_memory *m, uint64_t p) {
    int low = 0, high = m->n; /* the last allocation whose base is <= p lies in [low, high) */
    while (low < high) {
        int middle = (low + high) / 2;
        if (m->allocation[middle].base <= p)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return NULL;
    struct emu_allocation *a = &m->allocation[low - 1];
    return p < a->end && !a->freed ? a : NULL;
}

void emu_memory_free(struct emu_memory *m, uint64_t p) {
    struct emu_allocation *a = emu_memory_find(m, p);
    if (!a || a->base != p) return;
    size_t size = (a->end - a->base + PAGE - 1) / PAGE * PAGE;
    void *at = (void *)(uintptr_t)p;
    madvise(at, size, MADV_DONTNEED);
    mprotect(at, size, PROT_NONE);
    a->freed = true;
}

/* What may still run when this launch starts: the one before it, and what that one may have
 * overlapped. */
void emu_memory_next_launch(struct emu_memory *m, bool overlaps) {
    for (int n = 0; n < m->n; n++) {
        struct emu_allocation *a = &m->allocation[n];
        a->ahead = (uint8_t)(a->touched | (m->overlapped ? a->ahead : 0));
        a->touched = 0;
    }
    m->overlapped = overlaps;
}

void *emu_memory_at(const struct emu_memory *m, uint64_t p, uint64_t bytes) {
    const struct emu_allocation *a = emu_memory_find(m, p);
    return a && bytes <= a->end - p ? (void *)(uintptr_t)p : NULL;
}
