#include "sm.h"

#include <string.h>

static struct sm_group *group_of(const struct sm_warp *w) { return &w->cta->group[w->index / 4]; }

/* The share of the data path that an HGMMA takes while it runs: the lines of A in shared memory and the
 * N / 4 lines of B, but at least the share that loads of other warps always find taken. */
static double data_share(const struct predictor_chip *c, const struct sm_product *p,
                         double interval) {
    double lines = (p->a_in_registers ? 0 : c->hgmma_lines_a) + p->n / 4;
    double share = lines / interval;
    return share < c->hgmma_data_share ? c->hgmma_data_share : share > 1 ? 1 : share;
}

static void start(struct machine *m, struct sm *s, const struct sm_product *p) {
    const struct predictor_chip *c = m->chip;
    struct sm_group *g = p->group;
    double n = p->n, least = p->a_in_registers ? c->hgmma_min_rs : c->hgmma_overhead_ss;
    double interval = p->a_in_registers ? n / 2 : least + n / 4;
    if (p->a_in_registers && interval < least) interval = least;
    if (interval < n / 2) interval = n / 2;
    if (m->fast & PREDICTOR_FAST_TENSOR) interval = 0;
    double begins = p->a_in_registers ? c->hgmma_start_rs : c->hgmma_start_ss;
    uint64_t at = later(g->last[p->k % SM_RING] + (uint64_t)begins, s->gmma_free);
    if (at > s->gmma_free) s->gmma_began = at;
    bool data = !(m->fast & PREDICTOR_FAST_SHARED);
    double share = data_share(c, p, interval);
    for (double k = 0; data && k < interval * share; k++) /* operands from shared memory */
        sm_slot(&s->data, at + (uint64_t)(k / share));
    s->gmma_free = at + (uint64_t)interval;
    s->gmma_cycles += (uint64_t)(interval < n / 2 ? interval : n / 2); /* as hardware counts */
    m->multiplies = true;
    s->gmma_n = n;
    s->gmma_owner = p->ends_group ? NULL : g;
    if (m->busy) m->busy(m->user, s, 0, PREDICTOR_UNIT_GMMA, at, s->gmma_free);
    g->start[p->k % SM_RING] = at;
    g->started = p->k + 1;
    double tail = p->a_in_registers ? c->hgmma_tail_rs : c->hgmma_tail_ss;
    if (p->ends_group) g->group_finish[g->groups++ % SM_RING] = s->gmma_free + (uint64_t)tail;
}

/* The tensor cores go on with the group that they have begun, if its next product has been issued; else they
 * take the product that was issued first (microbenchmarks hgmma, hgmma-steady of two and three warpgroups). */
void sm_gmma_go_on(struct machine *m, struct sm *s) {
    while (s->n_gmma_next && s->gmma_free <= m->now) {
        int i = 0;
        while (i < s->n_gmma_next && s->gmma_next[i].group != s->gmma_owner) i++;
        if (i == s->n_gmma_next) i = 0;
        start(m, s, &s->gmma_next[i]);
        s->n_gmma_next--;
        memmove(s->gmma_next + i, s->gmma_next + i + 1,
                (size_t)(s->n_gmma_next - i) * sizeof *s->gmma_next);
    }
    if (s->n_gmma_next) machine_event(m, s->gmma_free, MACHINE_TENSOR, 0, NULL, s);
}

void sm_gmma_issue(struct machine *m, struct sm *s, struct sm_warp *w,
                   const struct sass_effect *e) {
    struct sm_group *g = group_of(w);
    uint32_t k = g->issued[w->index % 4]++;
    g->last[k % SM_RING] = m->now;
    w->groups += e->gmma.ends_group;
    for (int i = 0; i < 4; i++)
        if (g->issued[i] <= k) return;
    s->gmma_next[s->n_gmma_next++] =
        (struct sm_product){g, k, (uint16_t)e->gmma.n, e->gmma.a_in_registers, e->gmma.ends_group};
    if (s->n_gmma_next == 1) sm_gmma_go_on(m, s);
}

/* When the state of products that wait for the tensor cores may change. */
static uint64_t next_turn(const struct machine *m, const struct sm *s) {
    return later(m->now + 1, s->n_gmma_next ? s->gmma_free : 0);
}

/* From when the queue takes one more HGMMA of this warp, or when to ask again. Only the first warp of a
 * warpgroup waits in the queue: the others issue and go on (microbenchmark hgmma). */
uint64_t sm_gmma_room(const struct machine *m, const struct sm_warp *w) {
    const struct sm_group *g = group_of(w);
    bool is_first = w->index % 4 == 0;
    uint32_t k = g->issued[w->index % 4];
    uint32_t depth = is_first ? (uint32_t)m->chip->hgmma_queue_ss : SM_RING - 1;
    if (k < depth) return 0;
    if (k - depth >= g->started) return next_turn(m, w->cta->sm);
    return g->start[(k - depth) % SM_RING];
}

/* When at most `left` of the groups that the warp has issued are unfinished, or when to ask again. */
uint64_t sm_gmma_done(const struct machine *m, const struct sm_warp *w, int left) {
    const struct sm_group *g = group_of(w);
    if (w->groups <= (uint32_t)left) return 0;
    uint32_t last = w->groups - (uint32_t)left - 1;
    return last < g->groups ? g->group_finish[last % SM_RING] : next_turn(m, w->cta->sm);
}
