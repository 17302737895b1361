#include "wheel.h"

#include "common/base/heap.h"

#include <stdlib.h>

static uint32_t take_slot(struct wheel *w) {
    if (!w->free) {
        uint32_t n = w->n_pool ? 2 * w->n_pool : 1024;
        struct wheel_event *p = heap_grown(w->pool, n * sizeof *p);
        w->pool = p;
        for (uint32_t i = w->n_pool; i < n; i++) p[i].next = i + 1 < n ? i + 2 : 0;
        w->free = w->n_pool + 1;
        w->n_pool = n;
    }
    uint32_t e = w->free;
    w->free = w->pool[e - 1].next;
    return e;
}

void wheel_add(struct wheel *w, const struct wheel_event *e) {
    uint32_t i = take_slot(w), s = (uint32_t)(e->at % WHEEL_SLOTS);
    w->pool[i - 1] = *e;
    w->pool[i - 1].next = 0;
    if (w->head[s])
        w->pool[w->tail[s] - 1].next = i;
    else
        w->head[s] = i;
    w->tail[s] = i;
    w->used[s / 64] |= 1ull << s % 64;
    w->n++;
}

bool wheel_take(struct wheel *w, uint64_t t, struct wheel_event *out) {
    uint32_t s = (uint32_t)(t % WHEEL_SLOTS), before = 0;
    for (uint32_t i = w->head[s]; i; before = i, i = w->pool[i - 1].next) {
        struct wheel_event *e = &w->pool[i - 1];
        if (e->at > t) continue;
        *out = *e;
        if (before)
            w->pool[before - 1].next = e->next;
        else
            w->head[s] = e->next;
        if (w->tail[s] == i) w->tail[s] = before;
        if (!w->head[s]) w->used[s / 64] &= ~(1ull << s % 64);
        e->next = w->free;
        w->free = i;
        w->n--;
        return true;
    }
    return false;
}

uint64_t wheel_next(const struct wheel *w, uint64_t t) {
    if (!w->n) return UINT64_MAX;
    for (uint64_t d = 0; d < WHEEL_SLOTS;) {
        uint32_t s = (uint32_t)((t + d) % WHEEL_SLOTS);
        uint64_t bits = w->used[s / 64] >> s % 64;
        if (bits) return t + d + (uint64_t)__builtin_ctzll(bits);
        d += 64 - s % 64;
    }
    return t + WHEEL_SLOTS;
}

void wheel_close(struct wheel *w) { free(w->pool); }
