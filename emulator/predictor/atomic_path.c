/* Atomics on global memory: on the way out of an SM, in L2, and at its slices, where SMs meet. */
#include "sm.h"

#include <math.h>

/* Those of the lanes `of` that are in the first one's unit of so many bytes. */
static uint32_t beside(const uint64_t at[SASS_LANES], uint64_t bytes, uint32_t of) {
    const uint64_t first = at[__builtin_ctz(of)] / bytes;
    uint32_t lanes = 0;
    for (uint32_t l = of; l; l &= l - 1)
        lanes |= (uint32_t)(at[__builtin_ctz(l)] / bytes == first) << __builtin_ctz(l);
    return lanes;
}

/* The most lanes that want the same word: they go one after the other. */
static uint32_t most_alike(const struct sass_effect *e, uint32_t of) {
    uint32_t most = 0;
    for (uint32_t left = of, alike; left; left &= ~alike) {
        alike = beside(e->global, 1, left);
        if ((uint32_t)__builtin_popcount(alike) > most) most = (uint32_t)__builtin_popcount(alike);
    }
    return most;
}

/* How long the lanes of one line take their slice of L2: those of a sector go in passes, each word once a pass. Where
 * every pass takes a whole sector it is shorter. */
static double line_passes(const struct predictor_chip *c, const struct sass_effect *e,
                          uint32_t line) {
    uint32_t passes = 0;
    for (uint32_t left = line, sector; left; left &= ~sector) {
        sector = beside(e->global, 32, left);
        passes += most_alike(e, sector);
    }
    const bool whole = (uint32_t)__builtin_popcount(line) * e->inst->bytes >= 32 * passes;
    return passes * (whole ? c->atomic_pass_full : c->atomic_pass);
}

/* The same of all lanes of a slice. Sums of floats at one word are a chain: a line waits for its longest, and of several
 * lines only one waits, because passes of the others fill that time (microbenchmark few). */
static double slice_serves(const struct predictor_chip *c, const struct sass_effect *e,
                           uint32_t lanes, bool is_float) {
    double serves = 0, waits = 0;
    for (uint32_t left = lanes, line; left; left &= ~line) {
        line = beside(e->global, SM_LINE_BYTES, left);
        const double passes = line_passes(c, e, line),
                     chain = is_float ? most_alike(e, line) * c->atomic_word_float : 0;
        serves += passes;
        waits = fmax(waits, chain - passes);
    }
    return serves + waits;
}

/* The slices of L2 in turns of some bytes: a number for each queue. */
static uint64_t queue_of(const struct predictor_chip *c, uint64_t address) {
    const uint64_t turn = (uint64_t)fmax(1, c->atomic_turn_bytes),
                   of = (uint64_t)fmax(1, c->atomic_turn_slices),
                   bytes = (uint64_t)fmax(1, c->atomic_slices_bytes);
    return address / bytes * of + address / turn % of;
}

bool machine_shares(const struct machine *m, struct machine_queue *queue, const struct sm *s) {
    return queue->is_shared |= queue->sm != (int)(s - m->sm);
}

double machine_served(struct machine_queue *queue, double at, double serves, double others) {
    queue->free = fmax(queue->free, at) + serves * others;
    return queue->free - serves * (others - 1);
}

/* When the queue has served lanes for `serves` cycles more. If several SMs want it, those that are not simulated do, too. */
static double queue_free(struct machine *m, const struct sm *s, uint64_t number, double at,
                         double serves) {
    struct machine_queue *queue = &m->queue[number % MACHINE_QUEUES];
    if (queue->number != number)
        *queue = (struct machine_queue){.number = number, .sm = (int)(s - m->sm)};
    return machine_served(queue, at, serves, machine_shares(m, queue, s) ? 1 / m->part : 1);
}

/* When the slices have served all lanes. */
static double slices_free(struct machine *m, const struct sm *s, const struct sass_effect *e,
                          double at, bool is_float) {
    uint64_t queue[SASS_LANES];
    double last = at;
    for (uint32_t l = e->active; l; l &= l - 1)
        queue[__builtin_ctz(l)] = queue_of(m->chip, e->global[__builtin_ctz(l)]);
    for (uint32_t left = e->active, lanes; left; left &= ~lanes) {
        lanes = beside(queue, 1, left);
        const double serves = slice_serves(m->chip, e, lanes, is_float);
        last = fmax(last, queue_free(m, s, queue[__builtin_ctz(lanes)], at, serves));
    }
    return last;
}

struct sm_access sm_atomic(struct machine *m, struct sm *s, struct smsp *p, struct sm_warp *w,
                           const struct sass_effect *e) {
    const struct predictor_chip *c = m->chip;
    const uint64_t start = (uint64_t)c->mio_start, left = sm_mio(m, s, p, w),
                   d = sm_walk(m, s, left);
    const uint32_t lanes = (uint32_t)__builtin_popcount(e->active),
                   alike = most_alike(e, e->active);
    const bool is_float = w->op->is_float;
    const double again = is_float ? c->atomic_alike_float : c->atomic_alike;
    const double own = c->atomic_interval + again * (alike - 1);
    uint64_t sector[64];
    const uint32_t n = m->front->sectors(e, sector);
    m->counts.sectors += n;
    m->counts.l2_sectors += n;
    for (uint32_t i = 0; m->dram_part && i < n; i++) m->dram_part(m->user, sector[i], true);
    s->atomic_free = fmax(s->atomic_free, (double)d) + own;
    /* L2 serves lanes of one word one after the other, too */
    const double work = fmax(lanes, alike * c->l2_atomics_per_clk / c->l2_atomics_alike_per_clk);
    m->atomic_free = fmax(m->atomic_free, (double)d) + work / c->l2_atomics_per_clk / m->part;
    const double slices = slices_free(m, s, e, (double)d, is_float);
    const double taken = fmax(fmax(s->atomic_free, m->atomic_free), slices);
    p->lg[p->n_lg++ % SM_RING] = (uint64_t)fmax(s->atomic_free, taken - c->l2_writes_ahead);
    /* one without an answer keeps its warp as long as a store does (microbenchmark fresh, exit) */
    const double latency =
        w->op->kind == PREDICTOR_GLOBAL_STORE ? c->l2_latency : c->atomic_latency;
    const uint64_t done = (uint64_t)(taken - own + latency) - start;
    return (struct sm_access){done, left + w->op->war - start};
}
