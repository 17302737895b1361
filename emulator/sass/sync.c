/* Barriers: named ones, mbarriers, the cluster's; and the registers that warps hand over.
 *
 * An mbarrier is a 64-bit word in shared memory, as ptxas initialises it:
 *
 *   63    | 62 .. 43          | 42 .. 21        | 20 .. 1            | 0
 *   phase | 2^20 - pending    | tx-count        | 2^20 - expected    | 0
 *
 * Phase and the two counts are what `mbarrier.init` (SYNCS.EXCH) and `try_wait` (SYNCS.PHASECHK,
 * whose operand has the parity in bit 31) show of it. The place of the tx-count between them is an
 * assumption; no instruction here depends on it. */
#include "exec.h"

#include <string.h>

/* ---- mbarriers ------------------------------------------------------------------------------- */

static struct sass_mbarrier unpack(uint64_t word) {
    const uint32_t field = (1u << 20) - 1;
    struct sass_mbarrier m = {.expected = ((1u << 20) - (uint32_t)(word >> 1 & field)) & field,
                              .pending = ((1u << 20) - (uint32_t)(word >> 43 & field)) & field,
                              .phase = (uint32_t)(word >> 63)};
    m.tx = (int32_t)((uint32_t)(word >> 21) << 10) >> 10;
    return m;
}

static uint64_t pack(const struct sass_mbarrier *m) {
    const uint64_t field = (1u << 20) - 1;
    return (uint64_t)m->phase << 63 | (((1u << 20) - m->pending) & field) << 43 |
           ((uint64_t)(uint32_t)m->tx & 0x3fffff) << 21 | (((1u << 20) - m->expected) & field) << 1;
}

struct sass_mbarrier sass_mbarrier(const struct sass_cta *c, uint32_t address) {
    uint64_t word;
    memcpy(&word, sass_shared(c, address, 8), 8);
    return unpack(word);
}

static bool phase_done(const struct sass_cta *c, uint32_t address, uint32_t parity) {
    uint64_t word;
    memcpy(&word, sass_shared(c, address, 8), 8);
    return word >> 63 != parity;
}

static void mbarrier_event(const struct sass_event *e) {
    uint64_t word;
    memcpy(&word, sass_shared(e->cta, e->address, 8), 8);
    struct sass_mbarrier m = unpack(word);
    if (e->kind == SASS_EVENT_COMPLETE) {
        m.tx -= (int32_t)e->bytes;
    } else {
        m.tx += (int32_t)e->bytes;
        m.pending -= e->count;
    }
    if (m.pending == 0 && m.tx == 0) {
        m.phase ^= 1;
        m.pending = m.expected;
    }
    word = pack(&m);
    memcpy(sass_shared(e->cta, e->address, 8), &word, 8);
}

/* The CTA and the offset behind a shared address of lane l; false: none there. */
static bool barrier_at(struct sass_warp *w, const struct sass_exec *x, uint32_t l,
                       struct sass_cta **cta, uint32_t *at) {
    uint32_t address = (sass_row(w, x->s[0].row)[l] << x->shift) + sass_row(w, x->uniform_row)[0] +
                       (uint32_t)x->offset;
    const struct sass_cluster *cluster = w->cta->cluster;
    uint32_t rank = address >> 24;
    *at = address & 0xffffff;
    if (rank >= cluster->n || *at % 8 || *at + 8 > cluster->cta[rank]->shared_bytes) {
        sass_stop(w, x, "no mbarrier at shared address %#x", address);
        return false;
    }
    *cta = cluster->cta[rank];
    return true;
}

/* SYNCS.EXCH.64: one word, from a pair of uniform registers */
enum sass_go sass_syncs_init(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    struct sass_cta *cta;
    uint32_t at, *d = sass_row(w, x->d);
    const uint32_t *s = sass_row(w, x->s[1].row);
    (void)mask;
    if (!barrier_at(w, x, 0, &cta, &at)) return SASS_GO_FAULT;
    uint32_t new[2] = {s[0], s[SASS_LANES]}, old[2];
    memcpy(old, sass_shared(cta, at, 8), 8);
    memcpy(sass_shared(cta, at, 8), new, 8);
    for (int l = 0; l < SASS_LANES; l++) d[l] = old[0], d[l + SASS_LANES] = old[1];
    return SASS_GO_NEXT;
}

/* SYNCS.ARRIVE: each lane by itself; lanes that name the same barrier are one event. mode: without
 * bytes to expect (.A1T0) */
enum sass_go sass_syncs_arrive(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const uint32_t *bytes = sass_row(w, x->s[1].row);
    uint32_t left = mask;
    while (left) {
        uint32_t first = (uint32_t)__builtin_ctz(left), at;
        struct sass_event e = {0};
        if (!barrier_at(w, x, first, &e.cta, &e.address)) return SASS_GO_FAULT;
        EMU_EACH_LANE(l, left) {
            struct sass_cta *cta;
            if (!barrier_at(w, x, l, &cta, &at)) return SASS_GO_FAULT;
            if (cta != e.cta || at != e.address) continue;
            e.count++;
            e.bytes += x->mode ? 0 : bytes[l];
            left &= ~(1u << l);
        }
        uint64_t word;
        memcpy(&word, sass_shared(e.cta, e.address, 8), 8);
        if (unpack(word).pending < e.count)
            return sass_stop(w, x, "an arrival too many at the mbarrier at %#x", e.address);
        sass_event(w, SASS_EVENT_ARRIVE, e);
    }
    return SASS_GO_NEXT;
}

/* SYNCS.PHASECHK: has the phase of this parity (bit 31) ended? mode: waits (.TRYWAIT) */
enum sass_go sass_syncs_wait(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const uint32_t *parity = sass_row(w, x->s[1].row);
    uint32_t done = 0;
    struct sass_cta *cta = NULL;
    uint32_t at = 0;
    EMU_EACH_LANE(l, mask) {
        if (!barrier_at(w, x, l, &cta, &at)) return SASS_GO_FAULT;
        done |= (uint32_t)phase_done(cta, at, parity[l] >> 31) << l;
    }
    if (w->effect) {
        w->effect->event[0] = (struct sass_event){.cta = cta, .address = at};
        EMU_EACH_LANE(l, mask) w->effect->shared[l] = at;
    }
    if (done != mask && x->mode) {
        w->waits_for = SASS_WAIT_MBARRIER;
        return SASS_GO_WAIT;
    }
    sass_write_pred(w, x->pd, mask, done);
    return SASS_GO_NEXT;
}

/* ---- Named barriers -------------------------------------------------------------------------- */

static void bar_check(struct sass_cta *c, struct sass_bar *b) {
    uint32_t expected = b->expected ? b->expected : (uint32_t)c->n_live * 32;
    if (!b->arrived || b->arrived < expected) return;
    b->arrived = 0;
    b->expected = 0;
    b->last_yes = b->yes, b->last_lanes = b->lanes;
    b->yes = b->lanes = 0;
    b->generation++;
}

bool sass_bar_done(const struct sass_warp *w) {
    return w->bar_delivered && w->cta->bar[w->at_bar - 1].generation != w->bar_generation;
}

/* s[0]: id, s[1]: threads (row of zeros: all); mode: waits (.SYNC, .RED); mode2: BAR_ANY ..., of pin[0] */
enum sass_go sass_bar(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    if (mask != w->live) return sass_stop(w, x, "not all lanes of the warp are here");
    uint32_t lane = (uint32_t)__builtin_ctz(mask), id = sass_row(w, x->s[0].row)[lane];
    uint32_t expected = sass_row(w, x->s[1].row)[lane];
    if (id >= SASS_BARRIERS) return sass_stop(w, x, "there is no barrier %u", id);
    struct sass_bar *b = &w->cta->bar[id];
    if (b->arrived && b->expected != expected)
        return sass_stop(w, x, "barrier %u awaits %u threads for some and %u for others", id,
                         b->expected, expected);
    const uint32_t yes = x->mode2 ? sass_pred_value(w, x->pin[0]) & mask : 0;
    if (x->mode2) w->last_bar = (uint8_t)id, w->last_red = x->mode2;
    if (x->mode) {
        w->at_bar = (uint8_t)(id + 1);
        w->bar_delivered = false;
        w->bar_inst = x->inst;
    }
    if (w->effect) w->effect->waits = x->mode;
    sass_event(w, SASS_EVENT_BAR,
               (struct sass_event){.id = (uint8_t)id,
                                   .cta = w->cta,
                                   .count = 32,
                                   .expected = expected,
                                   .by = w,
                                   .waits = x->mode,
                                   .yes = (uint8_t)__builtin_popcount(yes),
                                   .lanes = (uint8_t)__builtin_popcount(mask)});
    return SASS_GO_NEXT;
}

/* B2R.RESULT d, p: how many lanes said yes at the last BAR.RED; p: any, or all of them (as mode2 of the BAR says) */
enum sass_go sass_b2r(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const struct sass_bar *b = &w->cta->bar[w->last_bar];
    uint32_t *d = sass_row(w, x->d);
    const bool all = w->last_red == BAR_ALL;
    EMU_EACH_LANE(l, mask) d[l] = b->last_yes;
    sass_write_pred(w, x->pd, mask,
                    (all ? b->last_yes == b->last_lanes : b->last_yes > 0) ? EMU_FULL : 0);
    return SASS_GO_NEXT;
}

/* ---- The cluster's --------------------------------------------------------------------------- */

static void cluster_check(struct sass_cluster *c) {
    if (!c->arrived || c->arrived < c->n_live + c->gone) return;
    c->arrived = c->gone = 0;
    c->generation++;
}

bool sass_cluster_done(const struct sass_warp *w) {
    return w->cluster_delivered && w->cta->cluster->generation != w->cluster_generation;
}

enum sass_go sass_cluster_arrive(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    if (mask != w->live) return sass_stop(w, x, "not all lanes of the warp are here");
    w->cluster_delivered = false;
    sass_event(w, SASS_EVENT_CLUSTER, (struct sass_event){.cta = w->cta, .count = 32, .by = w});
    return SASS_GO_NEXT;
}

enum sass_go sass_cluster_wait(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    (void)x, (void)mask;
    if (sass_cluster_done(w)) return SASS_GO_NEXT;
    w->waits_for = SASS_WAIT_CLUSTER;
    return SASS_GO_WAIT;
}

/* ---- Events ---------------------------------------------------------------------------------- */

void sass_deliver(const struct sass_event *e) {
    struct sass_bar *b;
    struct sass_cluster *cluster;
    switch (e->kind) {
    case SASS_EVENT_BAR:
        b = &e->cta->bar[e->id];
        if (e->waits) {
            e->by->bar_generation = b->generation;
            e->by->bar_delivered = true;
        }
        b->yes += e->yes, b->lanes += e->lanes;
        b->arrived += e->count;
        b->expected = e->expected;
        bar_check(e->cta, b);
        break;
    case SASS_EVENT_CLUSTER:
        cluster = e->cta->cluster;
        e->by->cluster_generation = cluster->generation;
        e->by->cluster_delivered = true;
        cluster->arrived++;
        if (!e->by->live) cluster->gone++;
        cluster_check(cluster);
        break;
    default:
        mbarrier_event(e);
    }
}

void sass_event(struct sass_warp *w, unsigned kind, struct sass_event e) {
    unsigned deferred = w->cta->grid->deferred;
    unsigned class = kind == SASS_EVENT_COMPLETE ? SASS_DEFER_TMA
                     : kind == SASS_EVENT_ARRIVE ? SASS_DEFER_MBARRIER
                                                 : SASS_DEFER_BAR;
    e.kind = (uint8_t)kind;
    if (w->effect) {
        w->effect->event[w->effect->n_events++] = e;
        w->effect->deferred = deferred & class;
        if (deferred & class) return;
    }
    sass_deliver(&e);
}

/* A warp that has exited counts as arrived at every later barrier. */
void sass_warp_exits(struct sass_warp *w) {
    struct sass_cta *c = w->cta;
    c->n_live--;
    for (int b = 0; b < SASS_BARRIERS; b++) bar_check(c, &c->bar[b]);
    struct sass_cluster *cluster = c->cluster;
    cluster->n_live--;
    if (w->cluster_delivered && w->cluster_generation == cluster->generation) cluster->gone++;
    if (cluster->n_live) cluster_check(cluster);
}

/* ---- Registers ------------------------------------------------------------------------------- */

enum sass_go sass_setmaxreg_dealloc(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    (void)mask;
    if (x->imm > w->n_registers) return sass_stop(w, x, "gives back more than it has");
    w->cta->free_registers += (w->n_registers - x->imm) * 32;
    w->n_registers = x->imm;
    return SASS_GO_NEXT;
}

enum sass_go sass_setmaxreg_alloc(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t more = x->imm > w->n_registers ? (x->imm - w->n_registers) * 32 : 0;
    if (more > w->cta->free_registers) {
        w->waits_for = SASS_WAIT_REGISTERS;
        return SASS_GO_WAIT;
    }
    w->cta->free_registers -= more;
    if (more) w->n_registers = x->imm;
    sass_write_pred(w, x->pd, mask, EMU_FULL);
    return SASS_GO_NEXT;
}
