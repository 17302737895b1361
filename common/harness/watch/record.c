/* What the predictor tells, as JSON. */
#include "record.h"

#include "common/base/heap.h"
#include "emulator/instructions/tensor/smem_desc.h"
#include "emulator/instructions/tensormap.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- Text ------------------------------------------------------------------------------------- */

void watch_put(struct watch_text *t, const char *format, ...) {
    va_list args;
    if (t->room - t->n < 64) t->at = heap_grown(t->at, t->room = 2 * t->room + 4096);
    va_start(args, format);
    int n = vsnprintf(t->at + t->n, t->room - t->n, format, args);
    va_end(args);
    if (t->n + (size_t)n >= t->room) {
        t->at = heap_grown(t->at, t->room = 2 * t->room + (size_t)n);
        va_start(args, format);
        vsnprintf(t->at + t->n, t->room - t->n, format, args);
        va_end(args);
    }
    t->n += (size_t)n;
}

static uint64_t hash_of(const char *text, size_t bytes) {
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    return hash ? hash : 1;
}

static struct watch_entry *place_of(struct watch_set *s, uint64_t hash) {
    uint64_t i = hash % (uint64_t)s->room;
    while (s->entry[i].hash && s->entry[i].hash != hash) i = (i + 1) % (uint64_t)s->room;
    return &s->entry[i];
}

static void more_room(struct watch_set *s) {
    struct watch_set old = *s;
    s->room = 2 * old.room + 1024;
    s->entry = heap_zeroed((size_t)s->room, sizeof *s->entry);
    for (int i = 0; i < old.room; i++)
        if (old.entry[i].hash) *place_of(s, old.entry[i].hash) = old.entry[i];
    free(old.entry);
}

int watch_number(struct watch_set *s, const char *text, size_t bytes) {
    const uint64_t hash = hash_of(text, bytes);
    if (2 * s->n >= s->room) more_room(s);
    struct watch_entry *e = place_of(s, hash);
    if (!e->hash) {
        *e = (struct watch_entry){hash, s->n};
        watch_put(&s->all, "%s%.*s", s->n++ ? "," : "", (int)bytes, text);
    }
    return e->number;
}

static void ends(struct watch *w) {
    size_t n = w->operations.n + w->barriers.n + w->pipe.n + w->footprints.all.n;
    for (int i = 0; i < SASS_MAX_WARPS; i++) n += w->warp[i].issues.n;
    w->full = n > w->limit;
}

/* ---- What an instruction touches -------------------------------------------------------------- */

static int finish(struct watch *w, struct watch_text *t) {
    const int number = watch_number(&w->footprints, t->at, t->n);
    free(t->at);
    return number;
}

/* Lanes' accesses: [bytes of a lane, lane, address, lane, address ...], each from the one before. */
static int lanes(struct watch *w, const uint64_t address[32], uint32_t mask, unsigned bytes) {
    struct watch_text t = {0};
    uint64_t before = 0;
    watch_put(&t, "[%u", bytes);
    for (int l = 0; l < 32; l++)
        if (mask >> l & 1) {
            watch_put(&t, ",%d,%lld", l, (long long)(address[l] - before));
            before = address[l];
        }
    watch_put(&t, "]");
    return finish(w, &t);
}

static int shared_lanes(struct watch *w, const struct sass_effect *e) {
    uint64_t address[32];
    for (int l = 0; l < 32; l++) address[l] = e->shared[l];
    const bool rows = e->inst->memory == SASS_LDSM || e->inst->memory == SASS_STSM;
    const uint32_t mask =
        rows && e->inst->bytes < 16 ? e->active & ((1u << 2 * e->inst->bytes) - 1) : e->active;
    return lanes(w, address, mask, rows ? 16 : e->inst->bytes);
}

static int tensor_of(const struct watch *w, uint64_t address) {
    for (int i = 0; i < w->n_tensors; i++)
        if (address - w->tensor[i].begin < w->tensor[i].bytes) return i;
    return -1;
}

/* [number of a tensor, offset of the first lane in it, footprint of what each lane adds] */
static void global_lanes(struct watch *w, const struct sass_effect *e) {
    uint64_t address[32], first = 0;
    for (int l = 31; l >= 0; l--)
        if (e->active >> l & 1) first = e->global[l];
    for (int l = 0; l < 32; l++) address[l] = e->global[l] - first;
    const int tensor = tensor_of(w, first);
    const uint64_t begin = tensor < 0 ? 0 : w->tensor[tensor].begin;
    const int print = lanes(w, address, e->active, e->inst->bytes);
    watch_put(&w->operations, ",[%d,%llu,%d]", tensor, (unsigned long long)(first - begin), print);
}

static int by_value(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Pieces of 16 bytes: [0, begin, bytes, begin, bytes ...] of stretches without a gap. */
static int stretches(struct watch *w, uint32_t *piece, int n) {
    struct watch_text t = {0};
    watch_put(&t, "[0");
    qsort(piece, (size_t)n, sizeof *piece, by_value);
    for (int i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && piece[j] <= piece[j - 1] + 16; j++) {
        }
        watch_put(&t, ",%u,%u", piece[i], piece[j - 1] + 16 - piece[i]);
    }
    watch_put(&t, "]");
    return finish(w, &t);
}

/* One operand of a product: `lines` rows of A or columns of B, k elements of each. */
static int operand(struct watch *w, uint64_t bits, bool mn_major, int lines, int k) {
    static _Thread_local uint32_t piece[2 * 256 + 64];
    const struct smem_desc d = smem_desc_decode(bits);
    const int element = 32 / k, per = 16 / element;
    int n = 0;
    for (int mn = 0; mn < lines; mn += mn_major ? per : 1)
        for (int i = 0; i < k; i += mn_major ? 1 : per)
            piece[n++] = smem_desc_address(&d, mn_major, element, mn, i);
    return stretches(w, piece, n);
}

/* ,n,k,[start, LBO, SBO, mode] of A or null,[...] of B,footprint of A or -1,footprint of B */
static void product(struct watch *w, const struct sass_effect *e) {
    const bool in_registers = e->gmma.a_in_registers;
    watch_put(&w->operations, ",%d,%d", e->gmma.n, e->gmma.k);
    for (int i = 0; i < 2; i++) {
        const struct smem_desc d = smem_desc_decode(i ? e->gmma.b : e->gmma.a);
        if (!i && in_registers)
            watch_put(&w->operations, ",null");
        else
            watch_put(&w->operations, ",[%u,%u,%u,%d]", d.start, d.leading, d.stride, d.mode);
    }
    int a = in_registers ? -1 : operand(w, e->gmma.a, e->gmma.a_mn_major, 64, e->gmma.k);
    int b = operand(w, e->gmma.b, e->gmma.b_mn_major, e->gmma.n, e->gmma.k);
    watch_put(&w->operations, ",%d,%d", a, b);
}

/* ,shared address,bytes,[tensor, element bytes, swizzle, box[0], row pitch],[coordinates] */
static void box(struct watch *w, const struct sass_effect *e) {
    struct tensormap m;
    watch_put(&w->operations, ",%u,%u", e->tma.shared, e->tma.bytes);
    if (!e->tma.map || !tensormap_decode(e->tma.map, &m)) {
        watch_put(&w->operations, ",null,[]");
        return;
    }
    watch_put(&w->operations, ",[%d,%d,%d,%u,%u],[", tensor_of(w, m.base), m.element_bytes,
              m.swizzle_bytes, m.box[0], tensormap_pitch(&m));
    for (int i = 0; i < e->tma.rank; i++)
        watch_put(&w->operations, "%s%d", i ? "," : "", e->tma.coordinate[i]);
    watch_put(&w->operations, "]");
}

/* ---- Hooks -------------------------------------------------------------------------------------- */

/* [warp, number of its issue, kind, what it touches ...] */
static void operation(struct watch *w, int warp, int issue, const struct sass_effect *e) {
    const uint8_t kind = e->inst->memory;
    uint32_t ideal;
    watch_put(&w->operations, "%s[%d,%d,%d", w->operations.n ? ",\n" : "", warp, issue, kind);
    if (kind == SASS_HGMMA_OPERANDS) {
        product(w, e);
    } else if (kind == SASS_TMA_LOAD || kind == SASS_TMA_STORE) {
        box(w, e);
    } else if (kind == SASS_LDG || kind == SASS_STG) {
        global_lanes(w, e);
    } else if (kind >= SASS_LDS && kind <= SASS_LDGSTS) {
        const int print = shared_lanes(w, e);
        const uint32_t n = sass_wavefronts(e, &ideal);
        watch_put(&w->operations, ",%d,%u,%u", print, n, ideal);
        if (kind == SASS_LDGSTS) global_lanes(w, e);
    }
    watch_put(&w->operations, "]");
}

/* The reason for most of the cycles since the last issue; -1: it did not wait. */
static int reason_of(const struct watch_warp *x) {
    int most = -1;
    for (int i = 0; i < PREDICTOR_REASONS; i++)
        if (x->waited[i] > (most < 0 ? 0 : x->waited[most])) most = i;
    return most;
}

static void executed(void *user, int warp, const struct sass_effect *e, uint64_t at) {
    struct watch *w = user;
    struct watch_warp *x = &w->warp[warp];
    const int64_t inst = e->inst->pc / 16;
    if (at > w->whole) w->whole = at;
    if (w->full) return;
    watch_put(&x->issues, "%s%llu,%lld,%d", x->n_issues ? "," : "",
              (unsigned long long)(at - x->at), (long long)(inst - x->inst), reason_of(x));
    x->at = at;
    x->inst = inst;
    memset(x->waited, 0, sizeof x->waited);
    x->loads |= e->inst->memory == SASS_TMA_LOAD && e->active;
    x->multiplies |= e->inst->pipe == SASS_PIPE_GMMA || e->inst->pipe == SASS_PIPE_TENSOR;
    w->end = at + 1;
    if (e->active && e->inst->memory != SASS_NO_MEMORY && e->inst->memory != SASS_LDC)
        operation(w, warp, x->n_issues, e);
    if (strstr(w->kernel->text[inst], "TRYWAIT") && e->active)
        watch_put(&w->operations, "%s[%d,%d,%d,%u]", w->operations.n ? ",\n" : "", warp,
                  x->n_issues, WATCH_WAITED, e->shared[__builtin_ctz(e->active)]);
    if (++x->n_issues % 256 == 0) ends(w);
}

static void span(void *user, int warp, uint32_t pc, int reason, uint64_t from, uint64_t to) {
    struct watch *w = user;
    (void)pc;
    if (reason != PREDICTOR_SELECTED) w->warp[warp].waited[reason] += to - from;
}

/* [cycle, 0, mbarrier, arrivals, bytes, is it a copy's, expected, pending, phase, bytes to come]
 * [cycle, 1, named barrier, threads, awaited] and [cycle, 2, threads] of the cluster's */
static void delivered(void *user, const struct sass_event *e, uint64_t at) {
    struct watch *w = user;
    if (w->full) return;
    watch_put(&w->barriers, "%s[%llu,", w->barriers.n ? ",\n" : "", (unsigned long long)at);
    if (e->kind == SASS_EVENT_BAR)
        watch_put(&w->barriers, "1,%u,%u,%u]", e->id, e->count, e->expected);
    else if (e->kind == SASS_EVENT_CLUSTER)
        watch_put(&w->barriers, "2,%u]", e->count);
    else {
        const struct sass_mbarrier m = sass_mbarrier(e->cta, e->address);
        watch_put(&w->barriers, "0,%u,%u,%u,%d,%u,%u,%u,%d]", e->address, e->count, e->bytes,
                  e->kind == SASS_EVENT_COMPLETE, m.expected, m.pending, m.phase, m.tx);
    }
}

static void pipe_stretch(struct watch *w, int unit) {
    if (w->busy_to[unit])
        watch_put(&w->pipe, "%s[%d,%llu,%llu]", w->pipe.n ? "," : "", unit,
                  (unsigned long long)w->busy_from[unit], (unsigned long long)w->busy_to[unit]);
}

/* Stretches that touch are one. */
static void busy(void *user, int smsp, int unit, uint64_t from, uint64_t to) {
    struct watch *w = user;
    const int n = unit == PREDICTOR_UNIT_GMMA     ? 0
                  : unit == PREDICTOR_UNIT_TENSOR ? 1 + smsp
                                                  : 5 + smsp;
    if (w->full) return;
    if (from > w->busy_to[n] + 1) {
        pipe_stretch(w, n);
        w->busy_from[n] = from;
    }
    if (to > w->busy_to[n]) w->busy_to[n] = to;
}

void watch_pipe_end(struct watch *w) {
    for (int i = 0; i < WATCH_UNITS; i++) pipe_stretch(w, i);
    memset(w->busy_to, 0, sizeof w->busy_to);
}

struct predictor_options watch_options(struct watch *w) {
    return (struct predictor_options){.places = 1,
                                      .span = span,
                                      .busy = busy,
                                      .executed = executed,
                                      .delivered = delivered,
                                      .user = w};
}
