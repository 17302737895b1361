/* The agents of a cluster and their vector clocks.
 *
 * seen[a] says up to which stamp of agent a the owner of a vector clock has synchronised with it.
 * seen[self] is the stamp of its present accesses, and grows with each release. Stamps grow from
 * cluster to cluster, so old vector clocks and shadows need not be cleared: their stamps are smaller.
 * Only the vector clocks of warps start again. */
#include "vector_clock.h"

#include "overlap.h"
#include "race.h"
#include "common/base/heap.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A shadow's cell has 24 bits for a stamp (race.c). Between clusters stamps start again before they run out. Within
 * one cluster the last stamp stays, and accesses after the next synchronisation count as seen. */
enum { STAMP_LAST = (1 << 24) - 1, STAMP_LIMIT = STAMP_LAST + 1 - (1 << 20) };

struct agent {
    enum emu_agent_kind kind;
    uint32_t rank, key, stamp;
    uint32_t fence[2]; /* of a warp: its stamp at its last fence; at its last of the cluster */
};

struct emu_agents {
    uint32_t n, n_warps; /* warps first, block after block */
    uint32_t most;       /* the largest n so far */
    uint32_t base;       /* stamps of earlier clusters are not above it */
    struct agent agent[EMU_MAX_AGENTS];
    bool flagged;                  /* some flag of shared memory was written so that it releases */
    struct emu_vector_clock flags; /* what they release */
    uint32_t global_fenced
        [EMU_MAX_AGENTS]; /* stamps that a fence.proxy.async of global memory has passed */
    struct emu_vector_clock relaxed[2]; /* what relaxed waits have met: of any warp; by scope */
};

/* ---- Life ------------------------------------------------------------------------------------ */

struct emu_agents *emu_agents_open(void) {
    return heap_zeroed(1, sizeof(struct emu_agents));
}

/* No stamp is left: all vector clocks and shadows of the blocks start again. */
static void forget(struct emu_cluster *c) {
    memset(&c->clock, 0, sizeof c->clock);
    memset(&c->done, 0, sizeof c->done);
    for (uint32_t r = 0; r < c->n; r++) {
        struct emu_block *b = c->block[r];
        memset(b->barrier, 0, sizeof b->barrier);
        memset(&b->end, 0, sizeof b->end);
        for (int n = 0; n < b->n_warps; n++) {
            memset(&b->warp[n].clock, 0, sizeof b->warp[n].clock);
            free(b->warp[n].lanes_met);
            b->warp[n].lanes_met = NULL;
        }
        emu_shadow_forget(b->shadow);
    }
    memset(c->agents, 0, sizeof *c->agents);
}

static uint32_t next_stamp(uint32_t stamp) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (stamp < STAMP_LAST) return stamp + 1;
    if (!atomic_flag_test_and_set(&said))
        fprintf(stderr,
                "%s: a block synchronises over 16 million times; later races may be missed\n",
                program_invocation_short_name);
    return STAMP_LAST;
}

/* A new stamp for w's next accesses: after each release. */
static void tick(struct emu_warp *w) {
    struct emu_agents *s = w->block->cluster->agents;
    uint32_t stamp = w->clock.seen[w->agent] = next_stamp(w->clock.seen[w->agent]);
    if (s) s->agent[w->agent].stamp = stamp;
}

bool emu_agents_spent(const struct emu_cluster *c) {
    struct emu_agents *s = c->agents;
    for (uint32_t a = 0; a < s->n; a++)
        if (s->agent[a].stamp > s->base) s->base = s->agent[a].stamp;
    return s->base > STAMP_LIMIT;
}

void emu_agents_begin(struct emu_cluster *c) {
    struct emu_agents *s = c->agents;
    if (emu_agents_spent(c)) forget(c);
    uint32_t n_warps = c->n * (uint32_t)c->block[0]->n_warps;
    if (s->n > s->most) s->most = s->n;
    if (n_warps > s->most) s->most = n_warps;
    s->n = s->n_warps = n_warps;
    for (int a = 0; a < EMU_MAX_AGENTS; a++) s->agent[a].stamp = s->base;
    s->flagged = false;
    s->flags.published = s->relaxed[0].published = s->relaxed[1].published = 0;
    c->clock.waited = false;
    c->clock.met = 0;
    c->clock.published = 0;
    for (uint32_t a = 0; a < s->n; a++) {
        struct emu_block *b = c->block[a / (uint32_t)c->block[0]->n_warps];
        struct emu_warp *w = &b->warp[a % (uint32_t)b->n_warps];
        s->agent[a].rank = b->rank;
        w->clock.waited = false;
        w->clock.published = 0;
        w->clock.met = 1u << b->rank;
        for (uint32_t k = 0; k < s->most; k++)
            w->clock.seen[k] = w->clock.fenced[k] = w->clock.all[k] = s->base;
        tick(w);
    }
}

/* ---- Clocks ---------------------------------------------------------------------------------- */

static inline uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* Lanes of different arrivals count as if all had come with the last one. This may miss a race, but never reports
 * a false one. */
static void join(uint32_t n, struct emu_vector_clock *into, const struct emu_vector_clock *from) {
    for (uint32_t a = 0; a < n; a++) {
        uint32_t seen = later(into->seen[a], from->seen[a]),
                 all = later(into->all[a], from->all[a]);
        into->lanes[a] = all < seen ? into->lanes[a] | from->lanes[a] : 0;
        into->seen[a] = seen;
        into->all[a] = all;
        into->fenced[a] = later(into->fenced[a], from->fenced[a]);
    }
    into->waited |= from->waited;
    into->published = later(into->published, from->published);
    into->met |= from->met;
    into->meetings = later(into->meetings, from->meetings);
}

/* The lanes in `mask` and all that they have met since the whole warp has. */
static uint32_t lanes_known(const struct emu_warp *w, uint32_t mask) {
    uint32_t known = mask;
    for (uint32_t m = 0; w->lanes_met && m < EMU_LANES; m++) EMU_EACH_LANE(l, mask)
    known |= (uint32_t)(w->lanes_met[l][m] > w->clock.all[w->agent]) << m;
    return known;
}

void emu_release(struct emu_warp *w, uint32_t mask, struct emu_vector_clock *c) {
    const struct emu_agents *s = w->block->cluster->agents;
    if (!s) return;
    uint32_t self = w->agent, synchronised = w->clock.all[self];
    if (mask == w->live) w->clock.all[self] = w->clock.seen[self];
    w->clock.lanes[self] = lanes_known(w, mask);
    join(s->n, c, &w->clock);
    w->clock.all[self] = synchronised;
    tick(w);
}

void emu_acquire(struct emu_warp *w, uint32_t mask, const struct emu_vector_clock *c) {
    const struct emu_agents *s = w->block->cluster->agents;
    if (!s) return;
    uint32_t self = w->agent, own = w->clock.seen[self], synchronised = w->clock.all[self];
    join(s->n, &w->clock, c);
    w->clock.seen[self] = own;
    if (mask != w->live) w->clock.all[self] = synchronised; /* the other lanes do not wait */
    emu_overlap_sync(w);
}

/* Their stamps order what is issued later, by whatever proxy. An ordinary load from another block that only a wait of .cta
 * scope orders behind TMA is missed. */
void emu_release_async(struct emu_warp *w, struct emu_vector_clock *c) {
    const struct emu_agents *s = w->block->cluster->agents;
    for (uint32_t a = s ? s->n_warps : 0; s && a < s->n; a++) {
        const enum emu_agent_kind kind = s->agent[a].kind;
        if (kind == EMU_AGENT_TMA_LOAD || kind == EMU_AGENT_TMA_STORE || kind == EMU_AGENT_WGMMA)
            emu_agent_done(c, a, w->clock.all[a]);
    }
}

void emu_acquire_arrivals(struct emu_warp *w, const struct emu_vector_clock *c) {
    const struct emu_agents *s = w->block->cluster->agents;
    for (uint32_t a = s ? s->n_warps : 0; s && a < s->n; a++)
        if (s->agent[a].kind == EMU_AGENT_ARRIVAL) emu_agent_done(&w->clock, a, c->seen[a]);
}

/* What any warp's relaxed wait has met counts for the fence of each: this may miss a race, but never reports a false
 * one. */
void emu_fence_scope(struct emu_warp *w, uint32_t mask, bool far) {
    struct emu_agents *s = w->block->cluster->agents;
    if (!s) return;
    for (int k = 0; k <= far; k++) {
        s->agent[w->agent].fence[k] = w->clock.seen[w->agent];
        emu_acquire(w, mask, &s->relaxed[k]);
    }
    tick(w);
}

void emu_release_relaxed(struct emu_warp *w, uint32_t mask, struct emu_vector_clock *c, bool far) {
    const struct emu_agents *s = w->block->cluster->agents;
    uint32_t self = w->agent, stamp = s ? s->agent[self].fence[far] : 0;
    if (!s || stamp <= s->base) return; /* no fence yet */
    uint32_t own = w->clock.seen[self], all = w->clock.all[self];
    w->clock.seen[self] = stamp;
    w->clock.all[self] = mask == w->live || all > stamp ? stamp : all;
    w->clock.lanes[self] = lanes_known(w, mask);
    join(s->n, c, &w->clock);
    w->clock.seen[self] = own;
    w->clock.all[self] = all;
}

void emu_acquire_relaxed(struct emu_warp *w, const struct emu_vector_clock *c, bool far) {
    struct emu_agents *s = w->block->cluster->agents;
    if (s) join(s->n, &s->relaxed[far], c);
}

void emu_flag_write(struct emu_warp *w, uint32_t mask, bool releases, bool far) {
    struct emu_agents *s = w->block->cluster->agents;
    if (!s || (!releases && s->agent[w->agent].fence[far] <= s->base)) return;
    s->flagged = true;
    if (releases)
        emu_release(w, mask, &s->flags);
    else
        emu_release_relaxed(w, mask, &s->flags, far);
}

void emu_flag_read(struct emu_warp *w, uint32_t mask, bool acquires, bool far) {
    struct emu_agents *s = w->block->cluster->agents;
    if (!s || !s->flagged) return;
    if (acquires)
        emu_acquire(w, mask, &s->flags);
    else
        emu_acquire_relaxed(w, &s->flags, far);
}

void emu_lanes_synchronised(struct emu_warp *w, uint32_t mask) {
    uint32_t met[EMU_LANES] = {0};
    if (!w->block->cluster->agents) return;
    if (mask == w->live) {
        w->clock.all[w->agent] = w->clock.seen[w->agent];
    } else {
        if (!w->lanes_met) w->lanes_met = heap_zeroed(EMU_LANES, sizeof *w->lanes_met);
        EMU_EACH_LANE(l, mask)
        for (int m = 0; m < EMU_LANES; m++) met[m] = later(met[m], w->lanes_met[l][m]);
        EMU_EACH_LANE(m, mask) met[m] = w->clock.seen[w->agent];
        EMU_EACH_LANE(l, mask) memcpy(w->lanes_met[l], met, sizeof met);
    }
    tick(w);
}

bool emu_lanes_met(const struct emu_warp *w, uint32_t a, uint32_t b, uint32_t stamp) {
    if (!w->lanes_met) return false;
    for (uint32_t l = a < EMU_LANES ? a : 0; l < (a < EMU_LANES ? a + 1 : EMU_LANES); l++)
        for (uint32_t m = b < EMU_LANES ? b : 0; m < (b < EMU_LANES ? b + 1 : EMU_LANES); m++)
            if (l != m && w->lanes_met[l][m] >= stamp) return true;
    return false;
}

void emu_vector_clock_pass(const struct emu_block *b, struct emu_vector_clock *done,
                           struct emu_vector_clock *c) {
    const struct emu_agents *s = b->cluster->agents;
    if (!s) return;
    memcpy(done->seen, c->seen, s->n * sizeof *c->seen);
    memcpy(done->fenced, c->fenced, s->n * sizeof *c->fenced);
    memcpy(done->all, c->all, s->n * sizeof *c->all);
    memcpy(done->lanes, c->lanes, s->n * sizeof *c->lanes);
    done->waited = c->waited;
    done->published = c->published;
    done->met = c->met;
    done->meetings = c->meetings;
    emu_vector_clock_clear(b, c);
}

void emu_vector_clock_clear(const struct emu_block *b, struct emu_vector_clock *c) {
    const struct emu_agents *s = b->cluster->agents;
    if (!s) return;
    memset(c->seen, 0, s->n * sizeof *c->seen);
    memset(c->fenced, 0, s->n * sizeof *c->fenced);
    memset(c->all, 0, s->n * sizeof *c->all);
    memset(c->lanes, 0, s->n * sizeof *c->lanes);
    c->waited = false;
    c->met = 0;
    c->meetings = 0;
    c->published = 0;
}

void emu_proxy_fence(struct emu_warp *w) {
    const struct emu_agents *s = w->block->cluster->agents;
    struct emu_vector_clock *c = &w->clock;
    if (!s) return;
    for (uint32_t a = 0; a < s->n; a++)
        c->fenced[a] = c->fenced[a] > c->seen[a] ? c->fenced[a] : c->seen[a];
    tick(w); /* later writes are not covered */
}

void emu_proxy_fence_global(struct emu_warp *w) {
    struct emu_agents *s = w->block->cluster->agents;
    if (!s) return;
    for (uint32_t a = 0; a < s->n; a++)
        s->global_fenced[a] = later(s->global_fenced[a], w->clock.seen[a]);
    tick(w);
}

bool emu_proxy_fenced_global(const struct emu_block *b, uint32_t a, uint32_t stamp) {
    return stamp <= b->cluster->agents->global_fenced[a];
}

void emu_vector_clock_fence(struct emu_warp *w) { tick(w); }

void emu_vector_clock_meet(struct emu_warp *w) {
    const struct emu_agents *s = w->block->cluster->agents;
    struct emu_vector_clock *c = &w->clock;
    for (uint32_t a = 0; s && a < s->n_warps; a++) {
        if (a == w->agent) continue;
        c->seen[a] = later(c->seen[a], s->agent[a].stamp - 1);
        c->all[a] = later(c->all[a], s->agent[a].stamp - 1);
        if (c->all[a] == c->seen[a]) c->lanes[a] = 0;
    }
}

/* ---- Agents ---------------------------------------------------------------------------------- */

unsigned emu_agent(struct emu_block *b, enum emu_agent_kind kind, uint32_t key) {
    struct emu_agents *s = b->cluster->agents;
    if (!s) return 0;
    for (uint32_t a = s->n_warps; a < s->n; a++)
        if (s->agent[a].kind == kind && s->agent[a].key == key && s->agent[a].rank == b->rank)
            return a;
    if (s->n == EMU_MAX_AGENTS) return EMU_MAX_AGENTS - 1; /* shared by what comes last */
    s->agent[s->n] = (struct agent){.kind = kind, .rank = b->rank, .key = key, .stamp = s->base};
    return s->n++;
}

uint32_t emu_agent_issue(struct emu_block *b, unsigned agent) {
    if (!b->cluster->agents) return 0;
    uint32_t *stamp = &b->cluster->agents->agent[agent].stamp;
    return *stamp = next_stamp(*stamp);
}

void emu_agent_done(struct emu_vector_clock *c, unsigned agent, uint32_t stamp) {
    if (c->seen[agent] < stamp) c->seen[agent] = stamp;
    if (c->fenced[agent] < stamp) c->fenced[agent] = stamp;
    if (c->all[agent] < stamp) c->all[agent] = stamp;
}

uint32_t emu_agents_count(const struct emu_block *b) { return b->cluster->agents->n; }
uint32_t emu_agents_base(const struct emu_block *b) { return b->cluster->agents->base; }
uint32_t emu_agent_rank(const struct emu_block *b, uint32_t a) {
    return b->cluster->agents->agent[a].rank;
}
bool emu_agent_is_warp(const struct emu_block *b, uint32_t a) {
    return a < b->cluster->agents->n_warps;
}

bool emu_agent_is_load_of(const struct emu_block *b, uint32_t a, uint32_t mbarrier) {
    const struct agent *agent = &b->cluster->agents->agent[a];
    return !emu_agent_is_warp(b, a) && agent->kind == EMU_AGENT_TMA_LOAD &&
           agent->key == mbarrier && agent->rank == b->rank;
}

const char *emu_agent_name(const struct emu_block *b, uint32_t a, char *out, size_t n) {
    static const char *const kinds[] = {
        "cp.async of warp",  "the TMA load of mbarrier",          "the TMA store of warp",
        "wgmma of warp",     "a copy between blocks to mbarrier", "the TMA store of warp",
        "an arrival of warp"};
    const struct emu_cluster *c = b->cluster;
    const struct agent *agent = &c->agents->agent[a];
    bool by_mbarrier = agent->kind == EMU_AGENT_TMA_LOAD || agent->kind == EMU_AGENT_PEER_COPY;
    int used;
    if (emu_agent_is_warp(b, a))
        used = snprintf(out, n, "warp %u", a % (uint32_t)b->n_warps);
    else
        used = snprintf(out, n, by_mbarrier ? "%s 0x%x" : "%s %u", kinds[agent->kind], agent->key);
    if (c->n > 1) snprintf(out + used, n - (size_t)used, " of rank %u", agent->rank);
    return out;
}
