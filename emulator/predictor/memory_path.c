#include "sm.h"

#include <math.h>

static uint64_t hmma_reads_until(const struct predictor_chip *c, uint64_t issued) {
    return issued + (uint64_t)c->hmma_first_read + (uint64_t)c->hmma_port;
}

/* ---- The MIO queue ----------------------------------------------------------------------------- */

/* When the queue has room for one more. */
uint64_t sm_mio_room(const struct machine *m, const struct smsp *p) {
    uint32_t depth = (uint32_t)m->chip->mio_queue;
    return p->n_mio < depth ? 0 : p->mio[(p->n_mio - depth) % SM_RING].leaves;
}

uint64_t sm_lg_room(const struct machine *m, const struct smsp *p) {
    uint32_t depth = (uint32_t)m->chip->lg_queue;
    return p->n_lg < depth ? 0 : p->lg[(p->n_lg - depth) % SM_RING];
}

/* The first free cycle from `at` on; taken then. */
uint64_t sm_slot(struct sm_slots *s, uint64_t at) {
    while (s->taken[at % SM_SLOTS_AHEAD] == at) at++;
    s->taken[at % SM_SLOTS_AHEAD] = at;
    return at;
}

/* Enters the instruction that a warp issues now; returns when it leaves the queue. Instructions leave in order, after the
 * registers of the one before have been read, and not while too many are still on the data path. An SM takes one of them at a
 * time, but S2R and LDC have ways of their own (foreign freeze 5, convolutionGlobal: 12 LDC, 2 S2R and 19 loads and stores of each
 * warp take 30 cycles of the SM; microbenchmarks fresh, waves, and others, block 3). */
uint64_t sm_mio(struct machine *m, struct sm *s, struct smsp *p, const struct sm_warp *w) {
    const struct predictor_chip *c = m->chip;
    const struct predictor_op *o = w->op;
    struct sm_queued *entry = &p->mio[p->n_mio % SM_RING];
    uint32_t behind = (uint32_t)c->mio_inflight;
    uint64_t d = later(m->now + (uint64_t)c->mio_start, p->mio_free);
    if (p->n_lsu >= behind) d = later(d, p->lsu[(p->n_lsu - behind) % SM_RING]);
    p->n_mio++;
    *entry = (struct sm_queued){
        d, o->interval, w->slot, {w->inst->write_barrier, w->inst->read_barrier}};
    if (m->fast & PREDICTOR_FAST_SHARED) return d;
    struct sm_slots *path = o->is_ldc ? &s->ldc : o->is_s2r ? &s->s2r : &s->mio;
    int n = (int)(o->is_s2r || o->is_ldc ? c->s2r_sm_interval : c->mio_sm_interval);
    d = sm_slot(path, d);
    for (int i = 1; i < n; i++) sm_slot(path, d + 1);
    p->mio_free = d + o->interval;
    return entry->leaves = d;
}

/* From when an HMMA finds the register ports free: it goes before the instructions that wait in the MIO
 * queue, but after a register read that has begun (microbenchmark hmmamix). */
uint64_t sm_mio_lets_hmma(const struct machine *m, const struct smsp *p) {
    const uint64_t reads = (uint64_t)m->chip->hmma_first_read, at = m->now + reads;
    uint64_t each = (uint64_t)m->chip->mio_read_interval;
    for (uint32_t k = each ? p->n_mio : 0; k && p->n_mio - k < SM_RING; k--) {
        const struct sm_queued *q = &p->mio[(k - 1) % SM_RING];
        if (q->leaves >= at) continue;
        uint64_t into = (at - q->leaves) % each;
        return q->leaves + q->interval > at && into ? at + each - into - reads : 0;
    }
    return 0;
}

/* An HMMA takes the ports: instructions that wait in the MIO queue leave that much later. */
void sm_mio_hmma(struct machine *m, struct smsp *p) {
    const uint64_t at = m->now + (uint64_t)m->chip->hmma_first_read;
    uint64_t free = hmma_reads_until(m->chip, m->now);
    uint32_t k = p->n_mio;
    while (k && p->n_mio - k < SM_RING &&
           p->mio[(k - 1) % SM_RING].leaves + p->mio[(k - 1) % SM_RING].interval > at)
        k--;
    for (; k < p->n_mio; k++) {
        struct sm_queued *q = &p->mio[k % SM_RING];
        if (q->leaves < at) { /* registers still to be read */
            q->interval = (uint8_t)(q->leaves + q->interval - at);
            q->leaves = at;
        }
        if (q->leaves >= free) break;
        uint64_t late = free - q->leaves;
        q->leaves = free;
        struct sm_warp *w = &p->warp[q->slot];
        for (int i = 0; i < 2; i++)
            if (q->barrier[i] < SM_COUNTERS) w->late[q->barrier[i]] += (uint16_t)late;
        free += q->interval;
    }
    p->mio_free = later(p->mio_free, free);
}

/* MUFU has a queue of its own before the pipe. Returns when the result is there. */
uint64_t sm_xu(struct machine *m, struct smsp *p, const struct predictor_op *o) {
    const struct predictor_chip *c = m->chip;
    uint64_t d = later(m->now + (uint64_t)c->xu_start, p->xu_free);
    p->xu_free = d + o->interval;
    p->xu[p->n_xu++ % SM_RING] = p->xu_free;
    return d + o->latency - (uint64_t)c->xu_start;
}

uint64_t sm_xu_room(const struct machine *m, const struct smsp *p) {
    uint32_t depth = (uint32_t)m->chip->xu_queue;
    return p->n_xu < depth ? 0 : p->xu[(p->n_xu - depth) % SM_RING];
}

/* ---- Shared memory ----------------------------------------------------------------------------- */

/* The warp's n wavefronts pass the data path after leaving the queue at d. Returns when the last one
 * passes. */
static uint64_t data_path(struct machine *m, struct sm *s, struct smsp *p, struct sm_warp *w,
                          uint64_t d, uint32_t n) {
    uint64_t at = later(d + 1, w->data), last = d + 1, spacing = (uint64_t)m->chip->data_spacing;
    if (m->fast & PREDICTOR_FAST_SHARED) n = 0;
    for (uint32_t i = 0; i < n; i++) {
        last = sm_slot(&s->data, at);
        at = last + spacing;
    }
    if (n) w->data = at;
    p->lsu[p->n_lsu++ % SM_RING] = last;
    return last;
}

struct sm_access sm_shared(struct machine *m, struct sm *s, struct smsp *p, struct sm_warp *w,
                           const struct sass_effect *e) {
    const struct predictor_op *o = w->op;
    uint64_t start = (uint64_t)m->chip->mio_start, d = sm_mio(m, s, p, w);
    bool shuffle = o->kind == PREDICTOR_SHUFFLE;
    uint32_t ideal, n = shuffle ? 1 : m->front->wavefronts(e, &ideal);
    /* of lanes that want one word a single one stores, in one pass (microbenchmark foreign, atom shared float) */
    uint64_t last = data_path(m, s, p, w, d, o->is_cas ? 1 : n);
    m->counts.wavefronts += shuffle ? 0 : n;
    return (struct sm_access){last - 1 + o->latency - start, d + o->war - start};
}

/* ---- Global memory ----------------------------------------------------------------------------- */

/* Where L1 may have the line. */
static struct sm_line *l1_set(struct sm *s, uint64_t tag) {
    return s->line[(tag ^ tag >> 7) % SM_L1_SETS];
}

/* A store takes the sector out of L1 (microbenchmark classes, few: what is read first comes from L2). */
static void l1_drop(struct sm *s, uint64_t sector) {
    uint64_t tag = sector / 4;
    struct sm_line *set = l1_set(s, tag);
    for (int i = 0; i < s->n_ways; i++)
        if (set[i].tag == tag) set[i].sectors &= ~(1u << sector % 4);
}

/* The sector's line in L1, and whether it was there or on its way. Afterwards it is. */
static struct sm_line *l1_line(struct machine *m, struct sm *s, uint64_t sector, bool *hit) {
    uint64_t tag = sector / 4, bit = 1u << sector % 4, oldest = UINT64_MAX;
    struct sm_line *set = l1_set(s, tag), *victim = set;
    for (int i = 0; i < s->n_ways; i++) {
        if (set[i].sectors && set[i].tag == tag) {
            *hit = set[i].sectors & bit;
            set[i].sectors |= (uint32_t)bit;
            set[i].used = m->now;
            return &set[i];
        }
        if (set[i].used < oldest) {
            oldest = set[i].used;
            victim = &set[i];
        }
    }
    *hit = false;
    if (!s->n_ways) return NULL;
    *victim = (struct sm_line){.tag = tag, .used = m->now, .sectors = (uint32_t)bit};
    return victim;
}

double sm_spread(uint64_t n) {
    n = (n + 1) * 0x9e3779b97f4a7c15ull;
    n = (n ^ n >> 29) * 0xbf58476d1ce4e5b9ull;
    return 2 * (double)(n >> 40) / (1 << 24) - 1;
}

/* SMs and lines of L2 have different distances: how many cycles more than the mean. Which lines are far
 * is unknown, so distances are random, but the same in each run. */
static double line_far(const struct machine *m, struct sm *s) {
    return m->chip->l2_line_spread * sm_spread(s->n_lines++ * SM_WARPS + (uint64_t)(s - m->sm));
}

static uint64_t l2_latency(const struct machine *m, const struct sm *s) {
    uint64_t hash = (uint64_t)(s - m->sm + 1) * 0x9e3779b97f4a7c15ull >> 40;
    double share = (double)hash / (1 << 24);
    return (uint64_t)(m->chip->l2_latency + (2 * share - 1) * m->chip->l2_spread);
}

/* When `bytes` more have passed a resource of all SMs, of which the simulated ones have `rate`: after earlier
 * requests, then at the rate of all SMs. Rates are for slowed GPCs: before the first product clocks are faster. */
static uint64_t shared_by_all(const struct machine *m, double *free, uint64_t at, double bytes,
                              double rate) {
    double begun = fmax(*free, (double)at);
    if (!m->multiplies) rate *= m->start;
    *free = begun + bytes / rate;
    return (uint64_t)(begun + m->part * bytes / rate + 0.5);
}

/* How much later DRAM answers because it serves other requests: the waiting time of an M/M/1 queue, by how busy
 * DRAM was recently, up to 1020 cycles when it is nearly always busy (microbenchmark tma DRAM, 132 CTAs,
 * 128 rows, 2). Whole boxes come earlier or later at random, by as much as one box waits for another: where SMs
 * read from DRAM, the distance of their ends grows as the root of the number of boxes, 110 to 190 cycles each
 * (microbenchmark ends). */
static uint64_t dram_queue(struct machine *m, const struct sm *s, uint64_t at, double fetched) {
    const struct predictor_chip *c = m->chip;
    const double cycles = fetched / m->dram_rate;
    if (at > m->dram_seen) {
        m->dram_load *= exp(((double)m->dram_seen - (double)at) / c->dram_recent);
        m->dram_seen = at;
    }
    m->dram_load += cycles;
    double busy = fmin(c->dram_busy_most, m->dram_load / c->dram_recent);
    double waits = c->dram_queue * busy / (1 - busy);
    if (fetched < c->dram_box_bytes) return (uint64_t)waits;
    double chance = (1 + sm_spread(s->dram_free * SM_WARPS + (uint64_t)(s - m->sm))) / 2;
    return (uint64_t)fmax(0, waits + c->dram_queue * (fmin(c->dram_box_most, -log(chance)) - 1));
}

/* The slices of L2 are not equally busy: a load of many lines waits for the busiest slice. */
static uint64_t uneven(const struct machine *m, uint64_t waits) {
    return (uint64_t)fmin(m->chip->l2_uneven_most, m->chip->l2_uneven * (double)waits);
}

/* SMs that want more than L2 or DRAM gives do not get equal shares: how late this one is, from -1 to 1. Of four SMs two are
 * late and two early; an SM that stands for others is on time. */
static double lateness(const struct machine *m, const struct sm *s) {
    uint64_t i = (uint64_t)(s - m->sm), k = i & ~2ull;
    double late = (sm_spread(2 * k) + sm_spread(2 * k + 1)) / 2;
    if (!m->is_whole) return 0;
    return i & 2 ? -late : late;
}

/* How long boxes take from DRAM on this SM, if they take so many cycles on average. Decoding shows it: the SMs of a launch of one
 * wave end 1.8 to 3 % apart, the same ones late in each launch (record ends-h200). */
static double on_this_sm(const struct machine *m, const struct sm *s, double cycles,
                         double fetched) {
    if (fetched < m->chip->dram_box_bytes) return cycles;
    return cycles * (1 + m->chip->dram_uneven * lateness(m, s));
}

/* In a process's first launch an SM's first load or atomic finds out where memory lies; the others wait for it
 * (microbenchmark habits, tiny and vectors). Stores keep no warp waiting. */
uint64_t sm_walk(const struct machine *m, struct sm *s, uint64_t at) {
    if (!m->is_first) return at;
    if (!s->walked) s->walked = at + (uint64_t)m->chip->l2_first_walk;
    return later(at, s->walked);
}

/* `sectors` come from L2, `dram` of them from DRAM first. Returns when the last is there. One SM takes no
 * more than its own rate, all of them no more than L2's. is_new: the SM asks for a pair of sectors that it has
 * never had; the next sector of a pair is near (microbenchmark habits, new-chain 32 and 128). */
static uint64_t from_l2(struct machine *m, struct sm *s, uint64_t at, double rate, uint32_t sectors,
                        double dram, bool is_new) {
    if (!sectors) return at;
    at = sm_walk(m, s, at);
    double bytes = 32.0 * sectors;
    s->l2_free = later(at, s->l2_free) + (uint64_t)(bytes / m->chip->l2_sm_bytes_per_clk + 0.5);
    uint64_t all = shared_by_all(m, &m->l2_free, at, bytes, rate), passed = later(s->l2_free, all);
    uint64_t done = passed + l2_latency(m, s) + uneven(m, all - at);
    if (m->is_first && is_new) done += (uint64_t)m->chip->l2_first;
    if (dram > 0) {
        double fetched = 32 * dram, room = fetched * (1 + m->write_back);
        s->dram_free =
            later(at, s->dram_free) + (uint64_t)(fetched / m->chip->dram_sm_bytes_per_clk + 0.5);
        passed = later(s->dram_free, shared_by_all(m, &m->dram_free, at, room, m->dram_rate));
        passed += dram_queue(m, s, at, room);
        double takes = (double)(passed - at) + m->chip->dram_latency;
        done = later(done, at + (uint64_t)on_this_sm(m, s, takes, room));
    }
    m->counts.l2_sectors += sectors;
    return done;
}

/* How much later or earlier than the mean an SM's stores are taken. It grows with the time that all have been writing
 * (microbenchmark stores). */
static double writes_late(const struct machine *m, const struct sm *s) {
    const struct predictor_chip *c = m->chip;
    double since = m->write_free - (double)m->writes_since;
    return lateness(m, s) * fmin(c->l2_writes_uneven * since, c->l2_writes_uneven_most);
}

/* A store that leaves sectors partly written: each of its lines costs as much as sm_write_line_bytes at least, on the
 * data path, on the way out of the SM and in L2 (microbenchmarks stores, scattered). */
static bool writes_parts(const struct sass_effect *e, uint32_t sectors) {
    return (uint32_t)__builtin_popcount(e->active) * e->inst->bytes < 32 * sectors;
}

/* `sectors` go to L2; lines that they replace there go to DRAM. Returns when the last is taken. On the way out of the
 * SM and in L2 a part of a line costs as much as more of it: `parts` bytes at least. L2 buffers some stores. */
static uint64_t to_l2(struct machine *m, struct sm *s, uint64_t at, uint32_t sectors,
                      double parts) {
    if (!sectors) return at;
    double bytes = 32.0 * sectors, way = fmax(bytes, parts);
    s->write_free =
        later(at, s->write_free) + (uint64_t)(way / m->chip->l2_sm_write_bytes_per_clk + 0.5);
    if (m->write_free <= (double)at) m->writes_since = at;
    double all = (double)shared_by_all(m, &m->write_free, at, way, m->write_rate);
    double taken = fmax((double)s->write_free, all + writes_late(m, s) - m->chip->l2_writes_ahead);
    double room = bytes * m->written_lost * m->write_back;
    /* the store may pass far later than now, and reads of other warps go before it */
    if (room > 0) shared_by_all(m, &m->dram_free, m->now, room, m->dram_rate);
    m->counts.l2_sectors += sectors;
    return (uint64_t)taken + l2_latency(m, s);
}

/* When a store's registers are read: after the way out of the SM, and L2, have taken nearly all earlier stores. */
static uint64_t store_room(const struct machine *m, const struct sm *s) {
    double sm = (double)s->write_free - m->chip->sm_writes_ahead,
           l2 = m->write_free - m->chip->l2_writes_ahead, room = fmax(sm, l2);
    return room > 0 ? (uint64_t)room : 0;
}

/* When a load or store has had its turn at a line. Where all SMs store to a line, L2 serves one access at a time, and the longest
 * wait is that of a load behind a store or of a store behind a load (microbenchmark classes, few). */
static double line_taken(struct machine *m, const struct sm *s, uint64_t number, uint32_t lines,
                         bool store, uint64_t at) {
    const struct predictor_chip *c = m->chip;
    struct machine_line *line = &m->hot[number % MACHINE_QUEUES];
    if (line->queue.number != number) {
        if (store)
            *line = (struct machine_line){.queue = {.number = number, .sm = (int)(s - m->sm)},
                                          .was_store = true};
        return (double)at;
    }
    const double turn = store != line->was_store               ? c->hot_turn
                        : store && lines >= c->hot_store_lines ? c->hot_store
                                                               : 0;
    const bool shares = machine_shares(m, &line->queue, s);
    line->stores += store;
    line->was_store = store;
    if (!shares || line->stores < c->hot_stores) return (double)at;
    return machine_served(&line->queue, (double)at, turn, 1 / m->part);
}

/* The same of all lines of an access, of which one line or a few are no trouble. */
static double lines_taken(struct machine *m, const struct sm *s, const uint64_t *sector, uint32_t n,
                          uint32_t lines, bool store, uint64_t at) {
    double last = (double)at;
    for (uint32_t i = 0; lines >= m->chip->hot_lines && i < n; i++)
        if (!i || sector[i] / 4 != sector[i - 1] / 4)
            last = fmax(last, line_taken(m, s, sector[i] / 4, lines, store, at));
    return last;
}

/* Stores to another SM's shared memory pass slowly, and hold up the queue. */
static struct sm_access to_cluster(struct machine *m, struct sm *s, struct smsp *p, uint64_t d,
                                   uint64_t read, uint32_t sectors) {
    s->dsm_free = later(d, s->dsm_free) + (uint64_t)(32 * sectors / m->chip->dsmem_bytes_per_clk);
    p->lg[p->n_lg++ % SM_RING] = s->dsm_free;
    return (struct sm_access){s->dsm_free + (uint64_t)m->chip->dsmem_latency, read};
}

/* How long cp.async takes the data path when it leaves the queue: a part of a cycle for each line. */
static uint32_t copy_path(const struct machine *m, struct sm *s, uint32_t lines) {
    s->copy_debt += m->chip->ldgsts_line * lines;
    uint32_t whole = (uint32_t)s->copy_debt;
    s->copy_debt -= whole;
    return whole;
}

/* How often a load passes the data path of L1: by the banks of lines that are there, or as often as it looks up its lines,
 * several at once, and once more each line that is not there (microbenchmarks habits, locals and hits; foreign, lines; classes, row). */
static uint32_t hit_passes(const struct machine *m, const struct sass_effect *e, uint32_t lines,
                           uint32_t missed) {
    uint32_t banks = m->front->l1_wavefronts(e), at_once = (uint32_t)m->chip->l1_lines;
    uint32_t tags = missed ? missed + lines / at_once : (lines + at_once - 1) / at_once;
    return banks > tags ? banks : tags;
}

struct sm_access sm_global(struct machine *m, struct sm *s, struct smsp *p, struct sm_warp *w,
                           const struct sass_effect *e) {
    const struct predictor_op *o = w->op;
    uint64_t sector[64], start = (uint64_t)m->chip->mio_start, d = sm_mio(m, s, p, w), there = 0;
    uint32_t n = m->front->sectors(e, sector), misses = 0, lines = 0, missed = 0, ideal;
    uint64_t last_missed = UINT64_MAX;
    double dram = 0;
    struct sm_line *filled[64];
    bool is_new = false, cached = o->is_local || (o->kind == PREDICTOR_GLOBAL_LOAD && !o->past_l1),
         store = o->kind == PREDICTOR_GLOBAL_STORE, copy = o->kind == PREDICTOR_LDGSTS;
    double far = -m->chip->l2_line_spread;
    if (e->memory == SASS_DSMEM) return to_cluster(m, s, p, d, d + o->war - start, n);
    for (uint32_t i = 0; i < n; i++) {
        bool hit = false;
        struct sm_line *line = cached ? l1_line(m, s, sector[i], &hit) : NULL;
        if (store && !cached) l1_drop(s, sector[i]);
        lines += !i || sector[i] / 4 != sector[i - 1] / 4;
        if (hit && !store) {
            there = later(there, line->there);
            continue;
        }
        missed += sector[i] / 4 != last_missed;
        last_missed = sector[i] / 4;
        /* L1 keeps what is stored to local memory, and passes it on to L2 (microbenchmark habits, locals) */
        filled[misses++] = store ? NULL : line;
        is_new |= !line || !(line->sectors & 1u << (sector[i] % 4 ^ 1));
        double this = line_far(m, s);
        if (this > far) far = this;
        if (m->dram_part) dram += m->dram_part(m->user, sector[i], store);
    }
    m->counts.sectors += n;
    uint32_t written = copy ? m->front->wavefronts(e, &ideal) : 0;
    m->counts.wavefronts += written;
    double parts = store && writes_parts(e, n) ? m->chip->sm_write_line_bytes * lines : 0;
    double way_out = o->is_local ? 0 : parts / m->chip->l2_sm_write_bytes_per_clk;
    uint32_t passes = (uint32_t)fmax(lines, way_out);
    if (cached && !store) passes = hit_passes(m, e, lines, missed);
    uint64_t last = data_path(m, s, p, w, d, copy ? copy_path(m, s, lines) : passes);
    if (store) last = later(last, store_room(m, s));
    uint64_t read = (store ? later(d, last - 1) : d) + o->war - start;
    p->lg[p->n_lg++ % SM_RING] = last;
    uint64_t done = later(last - 1 + o->latency - start, there);
    if (misses) {
        uint64_t begun = last - 1 - start;
        if (copy) s->l2_free = later(begun, s->l2_free) + (uint64_t)m->chip->ldgsts_interval;
        double beyond = lines - m->chip->ldgsts_lines;
        if (copy && beyond > 0) far += m->chip->ldgsts_line_latency * beyond;
        uint64_t at = store ? to_l2(m, s, begun, misses, parts)
                            : from_l2(m, s, begun, m->l2_rate, misses, dram, is_new);
        if (!copy && !o->is_local) {
            uint64_t taken = (uint64_t)lines_taken(m, s, sector, n, lines, store, begun);
            if (store) s->write_free = later(s->write_free, taken);
            if (taken > begun) at = later(at, taken + l2_latency(m, s));
        }
        double come = (double)at + far;
        done = later(done, come > 0 ? (uint64_t)come : 0);
        for (uint32_t i = 0; cached && i < misses; i++)
            if (filled[i]) filled[i]->there = later(filled[i]->there, done);
    }
    return (struct sm_access){done, read};
}

/* ---- TMA --------------------------------------------------------------------------------------- */

struct tma_count {
    struct machine *m;
    bool is_written;
    uint32_t sectors;
    double dram;
};

static void count_row(void *user, uint64_t global, uint32_t bytes) {
    struct tma_count *c = user;
    for (uint64_t s = global / 32; bytes && s <= (global + bytes - 1) / 32; s++) {
        c->sectors++;
        if (c->m->dram_part) c->dram += c->m->dram_part(c->m->user, s, c->is_written);
    }
}

/* Has the SM's TMA read this map before? Afterwards it counts as read. */
static bool knows_map(struct sm *s, const void *map) {
    enum { MAPS = sizeof s->map / sizeof *s->map };
    for (int i = 0; i < MAPS; i++) {
        if (s->map[i] == map) return true;
        if (s->map[i]) continue;
        s->map[i] = map;
        return false;
    }
    return true;
}

/* Each SM has one TMA engine: copies begin in turn, and their data comes at L2's rate. */
uint64_t sm_tma(struct machine *m, struct sm *s, const struct sass_effect *e, uint64_t at) {
    struct tma_count c = {.m = m, .is_written = e->memory == SASS_TMA_STORE};
    m->front->tma_rows(e, &c, count_row);
    uint64_t start = later(at, s->tma_free);
    s->tma_free = start + (uint64_t)m->chip->tma_interval;
    m->counts.sectors += c.sectors;
    uint64_t latency = (uint64_t)m->chip->tma_latency;
    if (!knows_map(s, e->tma.map)) latency += (uint64_t)m->chip->tma_map_first;
    if (e->memory == SASS_TMA_STORE) return to_l2(m, s, start + latency, c.sectors, 0);
    return from_l2(m, s, start + latency, m->tma_rate, c.sectors, c.dram, true);
}
