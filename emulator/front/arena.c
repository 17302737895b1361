/* Memory in large blocks, given back all at once. */
#include "arena.h"
#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *before;
    size_t used, size;
    _Alignas(64) unsigned char data[];
};

void *emu_arena_alloc(struct emu_arena *a, size_t bytes) {
    bytes = (bytes + 63) & ~(size_t)63;
    if (!a->last || a->last->used + bytes > a->last->size) {
        size_t size = bytes > 65536 ? bytes : 65536;
        struct arena_block *block = heap_line(sizeof *block + size);
        *block = (struct arena_block){.before = a->last, .size = size};
        a->last = block;
    }
    void *at = a->last->data + a->last->used;
    a->last->used += bytes;
    return memset(at, 0, bytes);
}

void emu_arena_free(struct emu_arena *a) {
    while (a->last) {
        struct arena_block *before = a->last->before;
        free(a->last);
        a->last = before;
    }
}
