/* Atomics on global memory: on the way out of an SM, in L2, and at one word that many SMs want. */
#include "sm.h"

#include <math.h>

/* The most lanes that want the same word: they go one after the other. */
static uint32_t most_alike(const struct sass_effect *e) {
    uint32_t most = 0;
    for (uint32_t left = e->active; left;) {
        const uint64_t address = e->global[__builtin_ctz(left)];
        uint32_t alike = 0;
        for (uint32_t l = left; l; l &= l - 1)
            alike |= (uint32_t)(e->global[__builtin_ctz(l)] == address) << __builtin_ctz(l);
        left &= ~alike;
        if ((uint32_t)__builtin_popcount(alike) > most) most = (uint32_t)__builtin_popcount(alike);
    }
    return most;
}

/* When the word has served lanes for `serves` cycles more. If several SMs want it, those that are not simulated do, too. */
static double word_free(struct machine *m, const struct sm *s, uint64_t address, double at,
                        double serves) {
    struct machine_word *word = &m->word[address / 4 % MACHINE_WORDS];
    const int sm = (int)(s - m->sm);
    if (word->address != address) *word = (struct machine_word){.address = address, .sm = sm};
    word->is_shared |= word->sm != sm;
    const double others = word->is_shared ? 1 / m->part : 1;
    word->free = fmax(word->free, at) + serves * others;
    return word->free - serves * (others - 1);
}

struct sm_access sm_atomic(struct machine *m, struct sm *s, struct smsp *p, struct sm_warp *w,
                           const struct sass_effect *e) {
    const struct predictor_chip *c = m->chip;
    const uint64_t start = (uint64_t)c->mio_start, d = sm_mio(m, s, p, w);
    const uint32_t lanes = (uint32_t)__builtin_popcount(e->active), alike = most_alike(e);
    const uint32_t first = (uint32_t)__builtin_ctz(e->active);
    const bool is_float = w->op->is_float;
    const double again = is_float ? c->atomic_alike_float : c->atomic_alike;
    const double serves = alike * (is_float ? c->atomic_word_float : c->atomic_word);
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
    const double word = word_free(m, s, e->global[first], (double)d, serves);
    const double taken = fmax(fmax(s->atomic_free, m->atomic_free), word);
    p->lg[p->n_lg++ % SM_RING] = (uint64_t)fmax(s->atomic_free, taken - c->l2_writes_ahead);
    const uint64_t done = (uint64_t)(taken - own + c->atomic_latency) - start;
    return (struct sm_access){done, d + w->op->war - start};
}
