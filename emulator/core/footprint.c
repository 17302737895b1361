/* A bit for each byte and each kind, and a flag for each page of 4 KB, so that what a launch leaves alone costs
 * nothing: the kernel of the host gives pages of the map when they are first marked.
 *
 *   map    EMU_TRACE_KINDS x n_words, 64 bytes of memory in a word     page   the kinds in a page, as bits */
#include "footprint.h"

#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { WORD = 64, PAGE_WORDS = 64 };

struct emu_footprint {
    uint64_t base, end; /* base: of the first word */
    size_t n_words;     /* whole pages */
    uint64_t *map;
    uint8_t *page;
};

static size_t map_bytes(const struct emu_footprint *f) {
    return EMU_TRACE_KINDS * f->n_words * sizeof *f->map;
}

struct emu_footprint *emu_footprint_open(uint64_t base, uint64_t end) {
    struct emu_footprint *f = heap_zeroed(1, sizeof *f);
    f->base = base / WORD * WORD;
    f->end = end;
    size_t pages = (size_t)((end - f->base) / (WORD * PAGE_WORDS)) + 1;
    f->n_words = pages * PAGE_WORDS;
    f->page = heap_zeroed(pages, 1);
    f->map = mmap(NULL, map_bytes(f), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (f->map != MAP_FAILED) return f;
    free(f->page);
    free(f);
    return NULL;
}

void emu_footprint_close(struct emu_footprint *f) {
    if (!f) return;
    munmap(f->map, map_bytes(f));
    free(f->page);
    free(f);
}

void emu_footprint_clear(struct emu_footprint *f) {
    for (size_t p = 0; p < f->n_words / PAGE_WORDS; p++) {
        for (unsigned k = 0; k < EMU_TRACE_KINDS; k++)
            if (f->page[p] >> k & 1)
                memset(f->map + k * f->n_words + p * PAGE_WORDS, 0, PAGE_WORDS * sizeof *f->map);
        f->page[p] = 0;
    }
}

static void mark_kind(struct emu_footprint *f, unsigned kind, uint64_t from, uint64_t to) {
    for (uint64_t at = from, next; at < to; at = next) {
        size_t word = (size_t)((at - f->base) / WORD);
        next = f->base + (word + 1) * WORD;
        if (next > to) next = to;
        uint64_t bits = (next - at == WORD ? 0 : (uint64_t)1 << (next - at)) - 1;
        bits <<= (at - f->base) % WORD;
        uint64_t *here = f->map + kind * f->n_words + word;
        uint8_t *page = f->page + word / PAGE_WORDS;
        if ((__atomic_load_n(here, __ATOMIC_RELAXED) & bits) == bits) continue;
        __atomic_fetch_or(here, bits, __ATOMIC_RELAXED);
        if (!(__atomic_load_n(page, __ATOMIC_RELAXED) >> kind & 1))
            __atomic_fetch_or(page, (uint8_t)(1u << kind), __ATOMIC_RELAXED);
    }
}

void emu_footprint_mark(struct emu_footprint *f, enum emu_access what, uint64_t from, uint64_t to) {
    bool strong = what & EMU_STRONG || what == EMU_ATOM;
    if (what & EMU_READ) mark_kind(f, strong ? EMU_TRACE_STRONG_READ : EMU_TRACE_READ, from, to);
    if (what & EMU_WRITE) mark_kind(f, strong ? EMU_TRACE_STRONG_WRITE : EMU_TRACE_WRITE, from, to);
}

/* The first byte at or behind `at` whose bit is `wanted`. */
static uint64_t seek(const struct emu_footprint *f, unsigned kind, uint64_t at, bool wanted) {
    while (at < f->end) {
        size_t word = (size_t)((at - f->base) / WORD), page = word / PAGE_WORDS;
        bool none = !(f->page[page] >> kind & 1);
        if (none && !wanted) return at;
        if (none) {
            at = f->base + (page + 1) * PAGE_WORDS * WORD;
            continue;
        }
        uint64_t bits = f->map[kind * f->n_words + word];
        bits = (wanted ? bits : ~bits) >> (at - f->base) % WORD;
        if (bits) return at + (uint64_t)__builtin_ctzll(bits);
        at = f->base + (word + 1) * WORD;
    }
    return f->end;
}

bool emu_footprint_next(const struct emu_footprint *f, enum emu_trace_kind kind, uint64_t *at,
                        uint64_t *from, uint64_t *to) {
    *from = seek(f, kind, *at < f->base ? f->base : *at, true);
    if (*from >= f->end) return false;
    *to = *at = seek(f, kind, *from, false);
    if (*to > f->end) *to = f->end;
    return true;
}
