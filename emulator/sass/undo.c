#include "undo.h"

#include "common/base/heap.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 128, MOST_CELLS = SASS_UNDO_BYTES / BYTES };

struct undo_cell {
    uint64_t number; /* address / BYTES */
    uint64_t kept[BYTES / 64];
    unsigned char before[BYTES];
};

struct sass_undo {
    pthread_mutex_t lock;
    struct undo_cell *cell;
    uint32_t n, capacity;
    uint32_t *slot,
        n_slots;   /* 1 + index of a cell, by a hash of its number; 0: free; a power of 2 */
    uint32_t last; /* the value in the slot that was found last */
};

struct sass_undo *sass_undo_open(void) {
    struct sass_undo *u = heap_zeroed(1, sizeof *u);
    pthread_mutex_init(&u->lock, NULL);
    u->n_slots = 1024;
    u->slot = heap_zeroed(u->n_slots, sizeof *u->slot);
    return u;
}

static uint32_t *find(struct sass_undo *u, uint64_t number) {
    uint32_t at = (uint32_t)(number * 0x9e3779b97f4a7c15u >> 32);
    for (;; at++) {
        uint32_t *s = &u->slot[at & (u->n_slots - 1)];
        if (!*s || u->cell[*s - 1].number == number) return s;
    }
}

static void more_slots(struct sass_undo *u) {
    free(u->slot);
    u->n_slots *= 2;
    u->slot = heap_zeroed(u->n_slots, sizeof *u->slot);
    for (uint32_t n = 0; n < u->n; n++) *find(u, u->cell[n].number) = n + 1;
}

static struct undo_cell *cell_of(struct sass_undo *u, uint64_t number) {
    if (u->last && u->cell[u->last - 1].number == number) return &u->cell[u->last - 1];
    uint32_t *s = find(u, number);
    if (!*s) {
        if (u->n == MOST_CELLS) return NULL;
        if (u->n == u->capacity) {
            u->capacity = u->capacity ? 2 * u->capacity : 256;
            u->cell = heap_grown(u->cell, u->capacity * sizeof *u->cell);
        }
        u->cell[u->n++] = (struct undo_cell){.number = number};
        *s = u->n;
        if (2 * u->n > u->n_slots) {
            more_slots(u);
            s = find(u, number);
        }
    }
    u->last = *s;
    return &u->cell[*s - 1];
}

bool sass_undo_keep(struct sass_undo *u, const void *at, size_t bytes) {
    const unsigned char *from = at;
    struct undo_cell *c = NULL;
    pthread_mutex_lock(&u->lock);
    for (size_t i = 0; i < bytes; i++) {
        uint64_t address = (uint64_t)(uintptr_t)(from + i), bit = 1ull << address % 64;
        if ((!c || address % BYTES == 0) && !(c = cell_of(u, address / BYTES))) break;
        uint64_t *kept = &c->kept[address % BYTES / 64];
        if (!(*kept & bit)) c->before[address % BYTES] = from[i];
        *kept |= bit;
    }
    pthread_mutex_unlock(&u->lock);
    return c || !bytes;
}

void sass_undo_close(struct sass_undo *u) {
    if (!u) return;
    for (uint32_t n = 0; n < u->n; n++) {
        const struct undo_cell *c = &u->cell[n];
        unsigned char *to = (unsigned char *)(uintptr_t)(c->number * BYTES);
        for (int i = 0; i < BYTES; i++)
            if (c->kept[i / 64] >> i % 64 & 1) to[i] = c->before[i];
    }
    pthread_mutex_destroy(&u->lock);
    free(u->cell);
    free(u->slot);
    free(u);
}
