/* Late completion: operations that run on after their instruction, until something waits for
 * them. */
#include "async.h"

#include "access.h"
#include "flow.h"
#include "emulator/instructions/tensor/wgmma.h"

#include "emulator/checks/vector_clock.h"
#include "emulator/core/failed_check.h"
#include "common/base/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POISON = 0xff };

struct emu_warp_async *emu_warp_async(struct emu_warp *w) {
    return &emu_async(w->block)->warp[w->index];
}

/* ---- Moving the data ------------------------------------------------------------------------ */

static bool global_missing(const struct emu_pending *p, uint64_t addr, uint32_t bytes) {
    emu_report(EMU_BAD_GLOBAL, p->warp, p->inst, NULL,
               "%s of %u bytes at %#llx: not inside one allocation",
               p->kind == EMU_PENDING_LOAD ? "read" : "write", bytes, (unsigned long long)addr);
    return true;
}

/* Bytes of a store, or of a reduction. */
static void put(const struct emu_pending *p, uint64_t global, unsigned char *to,
                const unsigned char *from, uint32_t bytes) {
    if (p->reduced)
        emu_reduce(p->inst, p->reduced, to, from, bytes);
    else
        memcpy(to, from, bytes);
    emu_memory_written(p->warp->block->launch->memory, global, bytes);
}

/* NULL: not reported. */
static unsigned char *global_of(const struct emu_pending *p, uint64_t addr, uint32_t bytes) {
    enum emu_access what = p->kind == EMU_PENDING_LOAD ? EMU_READ : EMU_WRITE;
    return emu_global(p->warp, addr, bytes, what, NULL).byte;
}

/* [addr, addr + bytes) of block b's shared memory; NULL: reported. */
static unsigned char *shared_of(const struct emu_block *b, const struct emu_pending *p,
                                uint32_t addr, uint32_t bytes, enum emu_access what) {
    struct emu_place at = emu_reach(emu_room_shared(b), addr, bytes, what);
    if (!at.byte)
        emu_report(EMU_BAD_SHARED, p->warp, p->inst, NULL,
                   "%u bytes at shared address 0x%x, but the block has 0x%x", bytes, addr,
                   b->shared_bytes);
    return at.byte;
}
static unsigned char *shared_side(const struct emu_block *b, const struct emu_pending *p,
                                  enum emu_access what) {
    return shared_of(b, p, p->shared, p->is_tensor ? p->shared_bytes : p->bytes, what);
}

/* The box's row r between shared memory (or `image`, laid out like it) and the tensor. */
static void tensor_row(const struct emu_pending *p, unsigned char *image, int r, bool to_shared) {
    uint32_t row_bytes = p->map.box[0] * (uint32_t)p->map.element_bytes;
    struct tensormap_row row = tensormap_row(&p->map, p->coordinate, r);
    uint32_t cut = (row.skip + row.bytes) % 16;
    if (!to_shared && row.bytes && cut) row.bytes += 16 - cut; /* an H200 stores whole 16 bytes */
    unsigned char line[2048] = {0};
    unsigned char *global = row.bytes ? global_of(p, row.global, row.bytes) : NULL;
    if (row.bytes && !global && global_missing(p, row.global, row.bytes)) return;
    if (to_shared && row.bytes) memcpy(line + row.skip, global, row.bytes);
    for (uint32_t at = 0; at < row_bytes; at += 16) {
        uint32_t place = tensormap_shared(&p->map, p->shared, r, at) - p->shared;
        if (to_shared)
            memcpy(image + place, line + at, 16);
        else
            memcpy(line + at, image + place, 16);
    }
    if (!to_shared && row.bytes) put(p, row.global, global, line + row.skip, row.bytes);
}

static bool writes_shared(const struct emu_pending *p) {
    return p->kind == EMU_PENDING_LOAD || p->kind == EMU_PENDING_PEER;
}

static void poison(struct emu_block *b, const struct emu_pending *p) {
    uint32_t row_bytes = p->is_tensor ? p->map.box[0] * (uint32_t)p->map.element_bytes : 0;
    unsigned char *to = shared_side(b, p, EMU_WRITE);
    if (!to) return;
    if (!p->is_tensor || p->shared_bytes == p->bytes) {
        memset(to, POISON, p->bytes);
        return;
    }
    for (int r = 0; r < (int)tensormap_rows(&p->map); r++)
        for (uint32_t at = 0; at < row_bytes; at += 16)
            memset(to + (tensormap_shared(&p->map, p->shared, r, at) - p->shared), POISON, 16);
}

static void run_load(struct emu_block *b, const struct emu_pending *p) {
    unsigned char *to = shared_side(b, p, EMU_WRITE);
    if (to && p->is_tensor) {
        for (int r = 0; r < (int)tensormap_rows(&p->map); r++) tensor_row(p, to, r, true);
    } else if (to) {
        unsigned char *from = global_of(p, p->global, p->bytes);
        if (from)
            memcpy(to, from, p->bytes);
        else
            global_missing(p, p->global, p->bytes);
    }
    emu_agent_done(&p->mbarrier->clock, p->agent, p->stamp);
    p->mbarrier->in_flight--;
    emu_mbarrier_tx(p->warp, p->inst, p->mbarrier, -(int64_t)p->bytes);
}

static void read_store(struct emu_block *b, struct emu_pending *p) {
    p->data = heap_take(p->shared_bytes);
    unsigned char *from = shared_side(b, p, EMU_READ);
    if (from) memcpy(p->data, from, p->shared_bytes);
    p->kind = EMU_PENDING_STORE_WRITE;
}

static void write_store(struct emu_pending *p) {
    if (p->is_tensor) {
        for (int r = 0; r < (int)tensormap_rows(&p->map); r++) tensor_row(p, p->data, r, false);
    } else {
        unsigned char *to = global_of(p, p->global, p->bytes);
        if (to)
            put(p, p->global, to, p->data, p->bytes);
        else
            global_missing(p, p->global, p->bytes);
    }
    free(p->data);
    p->data = NULL;
}

static void run_peer(const struct emu_pending *p) {
    struct emu_block *b = p->mbarrier->block;
    unsigned char *to = shared_side(b, p, EMU_ATOM);
    const void *from = p->value;
    if (p->source) from = shared_of(p->source, p, p->source_at, p->bytes, EMU_READ);
    if (!to || !from) {
        /* reported; the bytes count as come, so that nothing waits for them */
    } else if (p->reduced) {
        emu_reduce(p->inst, p->reduced, to, from, p->bytes);
    } else if (p->inst->class == EMU_ATOMIC) {
        uint64_t old = 0;
        memcpy(&old, to, p->bytes);
        old = emu_combine(p->inst, old, p->value[0], 0);
        memcpy(to, &old, p->bytes);
    } else {
        memcpy(to, from, p->bytes);
    }
    emu_agent_done(&p->mbarrier->clock, p->agent, p->stamp); /* as TMA: for waits at any scope */
    p->mbarrier->in_flight--;
    emu_mbarrier_tx(p->warp, p->inst, p->mbarrier, -(int64_t)p->bytes);
}

/* ---- cp.async ------------------------------------------------------------------------------- */

static void *grow(void *array, uint32_t n, uint32_t *capacity, size_t size) {
    if (n < *capacity) return array;
    *capacity = *capacity ? 2 * *capacity : 32;
    return heap_grown(array, *capacity * size);
}

/* Lanes of copy c, which are taken off it. */
static void run_copy(struct emu_warp *w, struct emu_copy *c, uint32_t lanes) {
    const struct emu_room shared = emu_room_shared(w->block);
    const uint32_t bytes = c->bytes;
    if (!c->landed) EMU_EACH_LANE(l, lanes & c->mask) {
            struct emu_place to = emu_reach(shared, c->shared[l], bytes, EMU_WRITE);
            uint32_t n = c->source_bytes[l]; /* both sides were checked when it was issued */
            struct emu_place from = {NULL};
            if (n) from = emu_global(w, c->global[l], n, EMU_READ, &c->near);
            if (from.byte) memcpy(to.byte, from.byte, n);
            if (n < bytes) memset(to.byte + n, 0, bytes - n);
        }
    c->mask &= ~lanes;
}

/* Removes the copies that have no lanes left. */
static void tidy_copies(struct emu_warp_async *a) {
    uint32_t kept = 0;
    for (uint32_t n = 0; n < a->n_copies; n++)
        if (a->copy[n].mask) {
            if (kept != n) a->copy[kept] = a->copy[n];
            kept++;
        }
    a->n_copies = kept;
}

void emu_copy_add(struct emu_warp *w, const struct emu_copy *c) {
    struct emu_warp_async *a = emu_warp_async(w);
    w->effects++;
    a->copy = grow(a->copy, a->n_copies, &a->copy_capacity, sizeof *a->copy);
    struct emu_copy *new = &a->copy[a->n_copies++];
    *new = *c;
    new->order = emu_async(w->block)->issued++;
    memcpy(new->group, a->copy_groups, sizeof new->group);
    const struct emu_room shared = emu_room_shared(w->block);
    EMU_EACH_LANE(l, c->mask)
    memset(emu_reach(shared, c->shared[l], c->bytes, EMU_WRITE).byte, POISON, c->bytes);
    if (!w->block->launch->options->async_early) return;
    struct emu_copy now = *new;
    run_copy(w, &now, EMU_FULL);
    new->landed = true; /* its wait still orders it before what reads it */
}

void emu_copy_wait(struct emu_warp *w, uint32_t mask, uint32_t keep, bool all) {
    struct emu_warp_async *a = emu_warp_async(w);
    unsigned agent = emu_agent(w->block, EMU_AGENT_CP_ASYNC, w->index);
    for (uint32_t n = 0; n < a->n_copies; n++) {
        struct emu_copy *c = &a->copy[n];
        uint32_t lanes = all ? mask & c->mask : 0;
        if (!all) EMU_EACH_LANE(l, mask & c->mask)
        if ((int64_t)c->group[l] < (int64_t)a->copy_groups[l] - keep) lanes |= 1u << l;
        if (!lanes) continue;
        run_copy(w, c, lanes);
        emu_agent_done(&w->clock, agent, c->stamp);
    }
    tidy_copies(a);
}

/* ---- The queue of everything else ----------------------------------------------------------- */

/* Most leave at the front, so that side is moved if it is the shorter one. */
static void drop(struct emu_async *a, uint32_t n) {
    struct emu_pending *p = a->pending;
    uint32_t behind = --a->n_pending - n;
    if (n < behind) {
        memmove(p + 1, p, n * sizeof *p);
        a->pending++;
    } else {
        memmove(p + n, p + n + 1, behind * sizeof *p);
    }
}

/* Room for one more at the end: where many have gone in front, the others move there. */
static void make_room(struct emu_async *a) {
    size_t gone = a->n_pending ? (size_t)(a->pending - a->room) : 0;
    if (gone && gone >= a->n_pending / 2 && gone + a->n_pending == a->capacity) {
        memmove(a->room, a->pending, a->n_pending * sizeof *a->room);
        gone = 0;
    }
    a->room = grow(a->room, (uint32_t)gone + a->n_pending, &a->capacity, sizeof *a->room);
    a->pending = a->room + gone;
}

/* The lane's copies before the arrival have come, and so it arrives. */
static void run_arrive(struct emu_pending *p) {
    struct emu_warp_async *a = emu_warp_async(p->warp);
    unsigned agent = emu_agent(p->warp->block, EMU_AGENT_CP_ASYNC, p->warp->index);
    for (uint32_t n = 0; n < a->n_copies; n++) {
        if (a->copy[n].order >= p->order) continue;
        run_copy(p->warp, &a->copy[n], 1u << p->lane);
        emu_agent_done(&p->mbarrier->clock, agent, a->copy[n].stamp);
    }
    tidy_copies(a);
    p->mbarrier->in_flight--;
    emu_mbarrier_arrive(p->warp, p->inst, p->mbarrier, 1);
}

/* Completes entry n. */
static void complete(struct emu_block *b, uint32_t n) {
    struct emu_async *a = emu_async(b);
    struct emu_pending p = a->pending[n];
    drop(a, n);
    switch (p.kind) {
    case EMU_PENDING_LOAD:
        run_load(b, &p);
        break;
    case EMU_PENDING_STORE:
        read_store(b, &p); /* fall through */
    case EMU_PENDING_STORE_WRITE:
        write_store(&p);
        break;
    case EMU_PENDING_ARRIVE:
        run_arrive(&p);
        break;
    case EMU_PENDING_PEER:
        run_peer(&p);
        break;
    }
}

void emu_pending_add(struct emu_block *b, const struct emu_pending *p) {
    struct emu_async *a = emu_async(b);
    make_room(a);
    p->warp->effects++;
    a->pending[a->n_pending] = *p;
    a->pending[a->n_pending++].order = a->issued++;
    if (p->mbarrier) p->mbarrier->in_flight++;
    if (writes_shared(p) && p->inst->class != EMU_ATOMIC && !p->reduced) poison(b, p);
    if (b->launch->options->async_early) complete(b, a->n_pending - 1);
}

void emu_store_wait(struct emu_warp *w, uint32_t mask, uint32_t keep, bool read_only) {
    struct emu_async *a = emu_async(w->block);
    for (uint32_t n = 0; n < a->n_pending;) {
        struct emu_pending *p = &a->pending[n];
        bool is_store =
            p->kind == EMU_PENDING_STORE || (p->kind == EMU_PENDING_STORE_WRITE && !read_only);
        bool mine = is_store && p->warp == w && mask >> p->lane & 1;
        if (!mine || (int64_t)p->group >= (int64_t)a->warp[w->index].store_groups[p->lane] - keep) {
            n++;
            continue;
        }
        emu_agent_done(&w->clock, p->agent, p->stamp);
        if (read_only) {
            read_store(w->block, p), n++;
            continue;
        }
        emu_agent_done(&w->clock, p->global_agent, p->global_stamp);
        emu_store_written(w, p);
        complete(w->block, n);
    }
}

/* ---- A block's life ------------------------------------------------------------------------- */

void emu_async_begin(struct emu_block *b) {
    struct emu_async *a = emu_async(b);
    if (!a) a = b->async = heap_zeroed(1, sizeof *a);
    a->n_pending = 0;
    a->n_mbarriers = 0;
    for (int n = 0; n < b->n_warps; n++) {
        memset(a->warp[n].copy_groups, 0, sizeof a->warp[n].copy_groups);
        memset(a->warp[n].store_groups, 0, sizeof a->warp[n].store_groups);
        a->warp[n].n_copies = 0;
        b->warp[n].passed.inst = NULL;
        emu_wgmma_begin(&b->warp[n]);
    }
}

bool emu_async_flush(struct emu_block *b) {
    struct emu_async *a = emu_async(b);
    bool newest_first = b->launch->options->schedule == EMU_ADVERSARIAL, any = false;
    uint32_t phases = b->cluster->phases, skipped = 0;
    while (skipped < a->n_pending && b->cluster->phases == phases) {
        uint32_t n = newest_first ? a->n_pending - 1 - skipped : skipped;
        if (writes_shared(&a->pending[n]) || a->pending[n].kind == EMU_PENDING_ARRIVE)
            complete(b, n), any = true;
        else
            skipped++;
    }
    return any;
}

void emu_async_end(struct emu_block *b) {
    struct emu_async *a = emu_async(b);
    for (int n = 0; n < b->n_warps; n++) emu_wgmma_end(&b->warp[n]);
    while (a->n_pending) {
        struct emu_pending *p = &a->pending[a->n_pending - 1];
        if (!b->cluster->stopped && p->kind == EMU_PENDING_STORE)
            emu_report(EMU_IN_FLIGHT, p->warp, p->inst, NULL,
                       "the block ends while this copy may still read its shared memory: "
                       "cp.async.bulk.wait_group.read is missing");
        if (!b->cluster->stopped && writes_shared(p))
            emu_report(EMU_IN_FLIGHT, p->warp, p->inst, NULL,
                       "the block ends while this copy still writes its shared memory: nobody "
                       "waited for it");
        complete(b, a->n_pending - 1);
    }
}

void emu_async_forget(struct emu_block *b) {
    struct emu_async *a = emu_async(b);
    for (uint32_t n = 0; a && n < a->n_made; n++) free(a->mbarrier[n]);
    if (a) a->n_made = a->n_mbarriers = 0;
}

void emu_async_free(struct emu_block *b) {
    struct emu_async *a = emu_async(b);
    if (!a) return;
    for (int n = 0; n < EMU_MAX_WARPS; n++) {
        emu_wgmma_free(&a->warp[n]);
        free(a->warp[n].copy);
    }
    emu_async_forget(b);
    free(a->mbarrier);
    free(a->room);
    free(a);
    b->async = NULL;
}

/* Who has come to m, and who came before and has not yet: with the line at which the first of them did. Of a cluster, by the
 * rank of their blocks. */
static void print_arrivals(const struct emu_block *b, const struct emu_mbarrier *m, FILE *out) {
    static const char *const which[] = {"arrived in this phase",
                                        "arrived in earlier phases, not in this one"};
    const struct emu_origin *of = b->kernel->origin;
    const struct emu_cluster *c = b->cluster;
    bool any = false;
    fprintf(out, "    initialised at line %d", m->init ? emu_line_of(&of[m->init->pc]) : 0);
    for (int k = 0; k < 2; k++)
        for (uint32_t r = 0; r < c->n; r++) {
            uint32_t warps = k ? m->ever[r] & ~m->came[r] : m->came[r];
            if (!warps) continue;
            const bool own = r == b->rank;
            const struct emu_inst *by = own ? m->arrival[__builtin_ctz(warps)] : m->far_arrival[r];
            any = true;
            fprintf(out, "; %s: ", which[k]);
            if (!own) fprintf(out, "of rank %u ", r);
            emu_warps_print(c->block[r], warps, out);
            fprintf(out, " (by line %d)", emu_line_of(&of[by->pc]));
        }
    if (!any) fprintf(out, "; no warp of the %s has ever arrived", c->n > 1 ? "cluster" : "block");
    const char *before = "; never, of rank ";
    for (uint32_t r = 0; r < c->n && any; r++) {
        if (m->ever[r]) continue;
        fprintf(out, "%s%u", before, r);
        before = ", ";
    }
    fputc('\n', out);
}

void emu_async_print(struct emu_block *b, FILE *out) {
    static const char *const kinds[] = {"cp.async.mbarrier.arrive", "TMA load", "TMA store",
                                        "TMA store", "copy between blocks"};
    struct emu_async *a = emu_async(b);
    for (uint32_t n = 0; n < a->n_mbarriers; n++) {
        uint64_t word = 0;
        struct emu_place at =
            emu_reach(emu_room_shared(b), a->mbarrier[n]->addr, sizeof word, EMU_READ);
        if (at.byte) memcpy(&word, at.byte, sizeof word);
        int32_t tx = (int32_t)((uint32_t)(word >> 40 & 0x1fffff) << 11) >> 11;
        const struct emu_mbarrier *m = a->mbarrier[n];
        fprintf(out, "  mbarrier at shared 0x%x: phase %u, %u of %u arrivals missing, tx-count %d",
                m->addr, (unsigned)(word >> 61 & 1), (unsigned)(word & 0xfffff),
                (unsigned)(word >> 20 & 0xfffff), tx);
        if (tx > 0) fprintf(out, " (%d bytes were announced and never came)", tx);
        if (tx < 0) fprintf(out, " (%d bytes came and were never announced)", -tx);
        fputc('\n', out);
        print_arrivals(b, m, out);
    }
    for (int n = 0; n < b->n_warps; n++)
        if (a->warp[n].n_copies)
            fprintf(out, "  in flight: %u cp.async of warp %d\n", a->warp[n].n_copies, n);
    for (uint32_t n = 0; n < a->n_pending; n++)
        fprintf(out, "  in flight: %s of warp %u, lane %u, %u bytes\n", kinds[a->pending[n].kind],
                a->pending[n].warp->index, a->pending[n].lane, a->pending[n].bytes);
}
