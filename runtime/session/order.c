#include "order.h"

#include "common/base/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPERATIONS = 4096, MOST_RUNS = 1 << 20 };

void order_open(struct order *o) {
    memset(o, 0, sizeof *o);
    o->n = ORDER_LEGACY + 1;
    o->used[ORDER_HOST] = o->used[ORDER_LEGACY] = true;
}

/* ---- Clocks ---------------------------------------------------------------------------------- */

static void join(struct order_clock *to, const struct order_clock *from) {
    for (int s = 0; s < ORDER_STREAMS; s++)
        if (to->at[s] < from->at[s]) to->at[s] = from->at[s];
}

int order_add_stream(struct order *o, bool blocking) {
    int s = ORDER_LEGACY + 1;
    while (s < o->n && o->used[s]) s++;
    if (s == ORDER_STREAMS) {
        o->gave_up = true;
        return 0;
    }
    if (s == o->n) o->n++;
    o->used[s] = true; /* one that takes the place of another comes after it */
    o->blocking[s] = blocking;
    return s;
}

void order_drop_stream(struct order *o, int stream) { o->used[stream] = false; }

/* The stream has seen all that comes before what it gets now. */
static struct order_clock *issue(struct order *o, int stream) {
    struct order_clock *c = &o->clock[stream];
    join(c, &o->clock[ORDER_HOST]);
    if (o->blocking[stream]) join(c, &o->clock[ORDER_LEGACY]);
    for (int s = ORDER_LEGACY + 1; s < o->n && stream == ORDER_LEGACY; s++)
        if (o->blocking[s]) join(c, &o->clock[s]);
    return c;
}

void order_record(struct order *o, int stream, struct order_clock *out) {
    *out = *issue(o, stream);
}

static void drop(struct order_operation *op) {
    for (int u = 0; u < ORDER_USES; u++) free(op->of[u].run);
    memset(op, 0, sizeof *op);
}

/* What the host has waited for comes before all that follows. */
static void forget(struct order *o) {
    size_t n = 0;
    for (size_t i = 0; i < o->n_ops; i++)
        if (o->op[i].stamp <= o->clock[ORDER_HOST].at[o->op[i].stream])
            drop(&o->op[i]);
        else
            o->op[n++] = o->op[i];
    o->n_ops = n;
}

void order_wait(struct order *o, int stream_or_host, const struct order_clock *c) {
    join(stream_or_host == ORDER_HOST ? &o->clock[ORDER_HOST] : issue(o, stream_or_host), c);
    if (stream_or_host == ORDER_HOST) forget(o);
}

void order_host_waits(struct order *o, int stream) {
    struct order_clock c;
    order_record(o, stream, &c);
    order_wait(o, ORDER_HOST, &c);
}

void order_host_waits_for_all(struct order *o) {
    for (int s = ORDER_LEGACY; s < o->n; s++) join(&o->clock[ORDER_HOST], &o->clock[s]);
    forget(o);
}

/* ---- Operations ------------------------------------------------------------------------------ */

void order_begin(struct order *o, int stream, const char *what) {
    drop(&o->now);
    o->now.stream = stream;
    o->now.stamp = ++issue(o, stream)->at[stream];
    snprintf(o->now.what, sizeof o->now.what, "%s", what);
}

void order_use(struct order *o, enum order_use use, uint64_t from, uint64_t to) {
    struct order_runs *r = &o->now.of[use];
    if (from >= to || !o->now.stream || r->n == MOST_RUNS) return;
    if (r->n && r->run[r->n - 1].to == from) {
        r->run[r->n - 1].to = to;
        return;
    }
    if (r->n == r->room) {
        r->room = r->room ? 2 * r->room : 4;
        r->run = heap_grown(r->run, r->room * sizeof *r->run);
    }
    r->run[r->n++] = (struct order_run){from, to};
}

static int by_address(const void *a, const void *b) {
    uint64_t x = ((const struct order_run *)a)->from, y = ((const struct order_run *)b)->from;
    return (x > y) - (x < y);
}

static void tidy(struct order_runs *r) {
    size_t n = 0;
    if (r->n) qsort(r->run, r->n, sizeof *r->run, by_address);
    for (size_t i = 0; i < r->n; i++) {
        struct order_run *last = n ? &r->run[n - 1] : NULL;
        if (last && r->run[i].from <= last->to)
            last->to = last->to > r->run[i].to ? last->to : r->run[i].to;
        else
            r->run[n++] = r->run[i];
    }
    r->n = n;
}

static bool meet(const struct order_runs *a, const struct order_runs *b, uint64_t *at,
                 uint64_t *end) {
    for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
        const struct order_run *x = &a->run[i], *y = &b->run[k];
        *at = x->from > y->from ? x->from : y->from;
        *end = x->to < y->to ? x->to : y->to;
        if (*at < *end) return true;
        if (x->to < y->to)
            i++;
        else
            k++;
    }
    return false;
}

static bool writes_bytes(int use) { return use == ORDER_WRITE || use == ORDER_STRONG_WRITE; }
static bool is_strong(int use) { return use >= ORDER_STRONG_READ; }

static bool race(const struct order_operation *a, const struct order_operation *b, uint64_t *at,
                 uint64_t *end, bool *a_writes, bool *b_writes) {
    for (int u = 0; u < ORDER_USES; u++)
        for (int v = 0; v < ORDER_USES; v++) {
            *a_writes = writes_bytes(u), *b_writes = writes_bytes(v);
            if ((!*a_writes && !*b_writes) || (is_strong(u) && is_strong(v))) continue;
            if (meet(&a->of[u], &b->of[v], at, end)) return true;
        }
    return false;
}

static bool same_runs(const struct order_operation *a, const struct order_operation *b) {
    bool same = a->stream == b->stream;
    for (int u = 0; u < ORDER_USES && same; u++)
        same =
            a->of[u].n == b->of[u].n &&
            (!a->of[u].n || !memcmp(a->of[u].run, b->of[u].run, a->of[u].n * sizeof *a->of[u].run));
    return same;
}

/* Keeps what has ended: of equal ones in a stream the last, since who has seen it has seen them all. */
static void keep(struct order *o) {
    size_t n = 0;
    for (size_t i = 0; i < o->n_ops; i++)
        if (same_runs(&o->op[i], &o->now) || o->n_ops - i >= MOST_OPERATIONS)
            drop(&o->op[i]);
        else
            o->op[n++] = o->op[i];
    o->n_ops = n;
    if (o->n_ops == o->room) {
        o->room = o->room ? 2 * o->room : 16;
        o->op = heap_grown(o->op, o->room * sizeof *o->op);
    }
    o->op[o->n_ops++] = o->now;
    memset(&o->now, 0, sizeof o->now);
}

bool order_end(struct order *o, const struct order_operation **with, uint64_t *at, uint64_t *end,
               bool *writes, bool *with_writes) {
    static struct order_operation other;
    bool found = false;
    for (int u = 0; u < ORDER_USES; u++) tidy(&o->now.of[u]);
    for (size_t i = 0; i < o->n_ops && !found && !o->gave_up; i++) {
        const struct order_operation *op = &o->op[i];
        if (op->stamp <= o->clock[o->now.stream].at[op->stream]) continue;
        found = race(&o->now, op, at, end, writes, with_writes);
        if (found) other = *op; /* its name and stream; its runs may be dropped */
    }
    *with = &other;
    keep(o);
    return found;
}
