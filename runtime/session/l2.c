#include "l2.h"

#include "common/base/heap.h"

#include <math.h>
#include <stdbool.h>

/* A touch or copy of a small part of an allocation changes nothing of the rest, if L2 can have the rest. */
static bool is_small(const struct l2_allocation *a, double bytes) {
    const double share = 0.25, most = 32 << 20;
    return a && a->bytes < most && bytes < share * a->bytes;
}

static struct l2_allocation *find(const struct l2 *l, uint64_t begin) {
    for (int i = 0; i < l->n; i++)
        if (l->at[i].begin == begin) return &l->at[i];
    return NULL;
}

void l2_turn(struct l2 *l) { l->turn++; }

static struct l2_allocation *found(struct l2 *l, uint64_t begin) {
    struct l2_allocation *a = find(l, begin);
    if (a) return a;
    l->at = heap_grown(l->at, (size_t)(l->n + 1) * sizeof *l->at);
    l->at[l->n] = (struct l2_allocation){.begin = begin, .group = INFINITY};
    return &l->at[l->n++];
}

void l2_copy(struct l2 *l, uint64_t begin, double bytes) {
    struct l2_allocation *a = found(l, begin);
    l->copied += bytes;
    a->copied += bytes;
}

double l2_filled(const struct l2 *l) {
    double bytes = 0;
    for (int i = 0; i < l->n; i++) bytes += fmax(l->at[i].bytes, l->at[i].copied);
    return bytes;
}

double l2_copied(const struct l2 *l, uint64_t begin) {
    const struct l2_allocation *a = find(l, begin);
    return a && isinf(a->group) ? l->copied : 0;
}

void l2_touch(struct l2 *l, uint64_t begin, double bytes, double group) {
    if (is_small(find(l, begin), bytes)) return;
    struct l2_allocation *a = found(l, begin);
    a->bytes = bytes, a->group = group, a->turn = l->turn;
}

double l2_distance(const struct l2 *l, uint64_t begin) {
    const struct l2_allocation *a = find(l, begin);
    if (!a) return INFINITY;
    double bytes = a->group / 2;
    for (int i = 0; i < l->n; i++)
        if (l->at[i].turn > a->turn) bytes += l->at[i].bytes;
    return bytes;
}
