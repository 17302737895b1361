#include "stale.h"

#include "common/base/heap.h"
#include "emulator/core/memory.h"

#include <string.h>

static int find(const struct stale *s, uint64_t base) {
    for (int i = 0; i < s->n; i++)
        if (s->base[i] == base) return i;
    return -1;
}

static void add(struct stale *s, uint64_t base, int launch) {
    if (find(s, base) >= 0) return;
    s->base = heap_grown(s->base, (size_t)(s->n + 1) * sizeof *s->base);
    s->launch = heap_grown(s->launch, (size_t)(s->n + 1) * sizeof *s->launch);
    s->base[s->n] = base;
    s->launch[s->n++] = launch;
}

static const struct emu_allocation *allocation_at(const struct emu_memory *m, uint64_t at) {
    const struct emu_allocation *a = emu_memory_below(m, at);
    return a && at < a->end ? a : NULL;
}

/* The allocation that word `w` of all arguments points into; NULL: none. *end: there is no such word. */
static const struct emu_allocation *pointed_to(const struct emu_memory *m, const struct emu_grid *g,
                                               int w, bool *end) {
    uint64_t word;
    for (int a = 0; a < g->n_args; a++) {
        int words = (int)(g->arg_bytes[a] / sizeof word);
        if (w >= words) {
            w -= words;
            continue;
        }
        memcpy(&word, (const char *)g->arg[a] + (size_t)w * sizeof word, sizeof word);
        return allocation_at(m, word);
    }
    *end = true;
    return NULL;
}

/* The launch that did not run and that an allocation, if it is one, depends on; -1: there is none. */
static int launch_of(const struct stale *s, const struct emu_allocation *a) {
    const int i = a ? find(s, a->base) : -1;
    return i < 0 ? -1 : s->launch[i];
}

int stale_at(const struct stale *s, const struct emu_memory *m, uint64_t at) {
    return s->n ? launch_of(s, allocation_at(m, at)) : -1;
}

int stale_of(const struct stale *s, const struct emu_memory *m, const struct emu_grid *g) {
    bool end = false;
    for (int w = 0; s->n && !end; w++) {
        const int launch = launch_of(s, pointed_to(m, g, w, &end));
        if (launch >= 0) return launch;
    }
    return -1;
}

void stale_launch(struct stale *s, const struct emu_memory *m, const struct emu_grid *g,
                  int launch) {
    bool end = false;
    for (int w = 0; !end; w++) {
        const struct emu_allocation *a = pointed_to(m, g, w, &end);
        if (a) add(s, a->base, launch);
    }
}

void stale_add(struct stale *s, const struct emu_memory *m, uint64_t at, int launch) {
    const struct emu_allocation *a = allocation_at(m, at);
    if (a) add(s, a->base, launch);
}

void stale_copy(struct stale *s, const struct emu_memory *m, uint64_t to, uint64_t from,
                uint64_t bytes) {
    const struct emu_allocation *a = s->n ? allocation_at(m, to) : NULL,
                                *b = from ? allocation_at(m, from) : NULL;
    if (!a) return;
    int i = b ? find(s, b->base) : -1;
    if (i >= 0) {
        add(s, a->base, s->launch[i]);
        return;
    }
    i = find(s, a->base);
    if (i < 0 || to != a->base || to + bytes < a->end) return;
    s->n--;
    s->base[i] = s->base[s->n];
    s->launch[i] = s->launch[s->n];
}
