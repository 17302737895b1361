#include "repeat.h"

#include "common/base/heap.h"
#include "emulator/core/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 48, MOST_DEAD = 64 };

struct repeat_known {
    uint64_t key; /* 0: no entry */
    int times, n;
    bool overwrites, never;       /* never: it is not put off */
    struct repeat_effect *effect; /* n */
};

struct repeat_op {
    uint64_t key;            /* 0: an allocation is freed */
    struct repeat_span free; /* then this */
    void (*run)(void *what);
    void *what;
};

uint64_t repeat_key(uint64_t key, const void *bytes, size_t n) {
    const unsigned char *at = bytes;
    for (uint64_t word; n; at += sizeof word) {
        size_t some = n < sizeof word ? n : sizeof word;
        word = 0;
        memcpy(&word, at, some);
        key = (key ^ word) * 0x9e3779b97f4a7c15u; /* odd: no word is lost */
        key ^= key >> 29;
        n -= some;
        if (some < sizeof word) break;
    }
    return key;
}

static bool meet(struct repeat_span a, struct repeat_span b) {
    return a.from < b.to && b.from < a.to;
}

/* ---- What was done --------------------------------------------------------------------------- */

static struct repeat_known *place(struct repeat_known *table, size_t room, uint64_t key) {
    size_t at = key % room;
    while (table[at].key && table[at].key != key) at = (at + 1) % room;
    return &table[at];
}

static const struct repeat_known *find(const struct repeat *r, uint64_t key) {
    const struct repeat_known *k = r->room ? place(r->known, r->room, key) : NULL;
    return k && k->key ? k : NULL;
}

static struct repeat_known *enter(struct repeat *r, uint64_t key) {
    if (2 * r->n_known >= r->room) {
        size_t room = r->room ? 4 * r->room : 1024;
        struct repeat_known *table = heap_zeroed(room, sizeof *table);
        for (size_t i = 0; i < r->room; i++)
            if (r->known[i].key) *place(table, room, r->known[i].key) = r->known[i];
        free(r->known);
        r->known = table;
        r->room = room;
    }
    struct repeat_known *k = place(r->known, r->room, key);
    r->n_known += !k->key;
    k->key = key;
    return k;
}

bool repeat_done_before(const struct repeat *r, uint64_t key, int most) {
    const struct repeat_known *k = find(r, key);
    return k ? !k->never && k->times >= most : most == 0;
}

bool repeat_is_known(const struct repeat *r, uint64_t key) { return find(r, key) != NULL; }

void repeat_expect(struct repeat *r, uint64_t key, const struct repeat_effect *e, int n,
                   bool overwrites) {
    struct repeat_known *k = enter(r, key);
    free(k->effect);
    k->effect = heap_zeroed((size_t)n + 1, sizeof *k->effect);
    memcpy(k->effect, e, (size_t)n * sizeof *e);
    k->n = n;
    k->overwrites = overwrites;
    k->never = false;
}

void repeat_note(struct repeat *r, uint64_t key, const struct repeat_effect *e, int n,
                 bool overwrites) {
    repeat_expect(r, key, e, n, overwrites);
    enter(r, key)->times++;
    r->last = key;
}

void repeat_never(struct repeat *r, uint64_t key) {
    struct repeat_known *k = enter(r, key);
    k->times = 0;
    k->never = true;
    r->last = 0;
}

/* ---- What was put off ------------------------------------------------------------------------ */

static void append(struct repeat *r, struct repeat_op op) {
    if (r->n == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 256;
        r->op = heap_grown(r->op, r->capacity * sizeof *r->op);
    }
    r->op[r->n++] = op;
}

void repeat_put_off(struct repeat *r, uint64_t key, void (*run)(void *what), void *what) {
    append(r, (struct repeat_op){.key = key, .run = run, .what = what});
}

void repeat_put_off_free(struct repeat *r, struct repeat_span all, void (*run)(void *what),
                         void *what) {
    append(r, (struct repeat_op){.free = all, .run = run, .what = what});
}

bool repeat_writes(const struct repeat *r, struct repeat_span s) {
    for (size_t i = 0; i < r->n; i++) {
        const struct repeat_known *k = r->op[i].key ? find(r, r->op[i].key) : NULL;
        if (meet(r->op[i].free, s) || (r->op[i].key && !k)) return true;
        for (int e = 0; k && e < k->n; e++)
            if (meet(k->effect[e].written, s)) return true;
    }
    return false;
}

bool repeat_reads(const struct repeat *r, struct repeat_span s) {
    for (size_t i = 0; i < r->n; i++) {
        const struct repeat_known *k = r->op[i].key ? find(r, r->op[i].key) : NULL;
        if (r->op[i].key && !k) return true;
        for (int e = 0; k && e < k->n; e++)
            if (meet(k->effect[e].read, s)) return true;
    }
    return false;
}

/* ---- What matters ---------------------------------------------------------------------------- */

struct dead { /* memory that is overwritten before it is read */
    struct repeat_span span[MOST_DEAD];
    int n;
};

static void bury(struct dead *d, struct repeat_span s) {
    if (s.from < s.to && d->n < MOST_DEAD) d->span[d->n++] = s;
}

static void revive(struct dead *d, struct repeat_span s) {
    for (int i = d->n; i-- > 0;)
        if (meet(d->span[i], s)) d->span[i] = d->span[--d->n];
}

static bool is_dead(const struct dead *d, struct repeat_span s) {
    for (int i = 0; i < d->n; i++)
        if (s.from >= d->span[i].from && s.to <= d->span[i].to) return true;
    return s.from >= s.to;
}

/* From the last to the first: drops those whose writes are never read. */
static void drop_dead(struct repeat *r, struct repeat_span overwritten) {
    struct dead dead = {.n = 0};
    bury(&dead, overwritten);
    for (size_t i = r->n; i-- > 0;) {
        struct repeat_op *op = &r->op[i];
        bury(&dead, op->free);
        if (!op->key) continue;
        const struct repeat_known *k = find(r, op->key);
        bool matters = false;
        if (!k) { /* it may read anything */
            dead.n = 0;
            continue;
        }
        for (int e = 0; e < k->n; e++) matters |= !is_dead(&dead, k->effect[e].written);
        if (!matters) {
            free(op->what);
            op->run = NULL;
            continue;
        }
        for (int e = 0; e < k->n && k->overwrites; e++) bury(&dead, k->effect[e].written);
        for (int e = 0; e < k->n; e++) revive(&dead, k->effect[e].read);
    }
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        if (r->op[i].run) r->op[n++] = r->op[i];
    r->n = n;
}

/* ---- Sequences ------------------------------------------------------------------------------- */

/* From op[at] on: how long is the sequence that covers most when it is repeated? 0: none is. *all: ops that it covers. */
static size_t sequence(const struct repeat *r, size_t at, size_t *all) {
    size_t best = 0;
    *all = 0;
    for (size_t p = 1; p <= LONGEST && at + 2 * p <= r->n; p++) {
        size_t n = p;
        while (at + n < r->n && r->op[at + n].key && r->op[at + n].key == r->op[at + n - p].key)
            n++;
        n -= n % p;
        if (n >= 2 * p && n > *all) best = p, *all = n;
    }
    return best;
}

struct copy { /* of memory that a sequence writes */
    struct repeat_span span;
    void *bytes;
};

static const void *host_place(const struct repeat *r, uint64_t address) {
    const struct emu_allocation *a = r->memory ? emu_memory_find(r->memory, address) : NULL;
    return a ? emu_memory_place(a, address) : (const void *)(uintptr_t)address;
}

static int take_copies(const struct repeat *r, size_t at, size_t length, struct copy out[]) {
    int n = 0;
    for (size_t i = at; i < at + length; i++) {
        const struct repeat_known *k = find(r, r->op[i].key);
        for (int e = 0; e < k->n; e++) {
            struct repeat_span s = k->effect[e].written;
            bool there = s.from >= s.to;
            for (int c = 0; c < n && !there; c++)
                there = out[c].span.from == s.from && out[c].span.to == s.to;
            if (there) continue;
            out[n] = (struct copy){s, malloc(s.to - s.from)};
            if (!out[n].bytes) heap_exhausted();
            memcpy(out[n++].bytes, host_place(r, s.from), s.to - s.from);
        }
    }
    return n;
}

/* Is all as it was? */
static bool drop_copies(const struct repeat *r, struct copy c[], int n) {
    bool same = true;
    for (int i = 0; i < n; i++) {
        const struct repeat_span s = c[i].span;
        same = same && !memcmp(c[i].bytes, host_place(r, s.from), s.to - s.from);
        free(c[i].bytes);
    }
    return same;
}

/* Does it always write the same, because it does not read what it writes? */
static bool is_plain(const struct repeat_known *k) {
    for (int a = 0; a < k->n; a++)
        for (int b = 0; b < k->n; b++)
            if (meet(k->effect[a].written, k->effect[b].read)) return false;
    return true;
}

static bool all_known(const struct repeat *r, size_t at, size_t length) {
    for (size_t i = at; i < at + length; i++)
        if (!find(r, r->op[i].key)) return false;
    return true;
}

static void run(struct repeat *r, struct repeat_op *op) {
    op->run(op->what);
    r->last = op->key;
}

/* Op[at..at + all) are a sequence of `length`, over and over. Returns how many are dealt with. */
static size_t run_sequences(struct repeat *r, size_t at, size_t length, size_t all) {
    if (length == 1 && r->last == r->op[at].key && is_plain(find(r, r->last))) return all;
    struct copy *copy = heap_zeroed(length * REPEAT_EFFECTS, sizeof *copy);
    bool settled = false;
    for (size_t done = 0; done < all && !settled; done += length) {
        int n = take_copies(r, at + done, length, copy);
        for (size_t i = 0; i < length; i++) run(r, &r->op[at + done + i]);
        settled = drop_copies(r, copy, n);
    }
    free(copy);
    return all;
}

/* Takes the first n away. */
static void drop_first(struct repeat *r, size_t n) {
    for (size_t i = 0; i < n; i++) free(r->op[i].what);
    r->n -= n;
    if (r->n) memmove(r->op, r->op + n, r->n * sizeof *r->op);
}

void repeat_settle(struct repeat *r, struct repeat_span overwritten) {
    drop_dead(r, overwritten);
    for (size_t at = 0, all; at < r->n;) {
        size_t length = r->op[at].key ? sequence(r, at, &all) : 0;
        if (!length && r->op[at].key && r->op[at].key == r->last && is_plain(find(r, r->last)))
            length = all = 1;
        if (length && all_known(r, at, length)) {
            at += run_sequences(r, at, length, all);
        } else {
            bool was_known = !r->op[at].key || find(r, r->op[at].key);
            run(r, &r->op[at++]);
            if (was_known) continue;
            drop_first(r, at); /* what comes now may not matter, as far as is known now */
            drop_dead(r, overwritten);
            at = 0;
        }
    }
    drop_first(r, r->n);
}
