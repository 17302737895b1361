/* Predicts a launch: a probe of one place, a simulation of some places, extrapolation.
 *
 *   place   an SM, or the SMs of one cluster
 *   seat    room for one cluster on a place
 *   part    what one host thread simulates: some of the places, with their share of the clusters */
#include "predict.h"

#include "gpc.h"
#include "tail.h"

#include "common/base/heap.h"
#include "common/base/reason.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct predictor_front predictor_sass = {.next = sass_next,
                                               .waits = sass_waits,
                                               .step = sass_step,
                                               .deliver = sass_deliver,
                                               .warp = sass_cta_warp,
                                               .fault = sass_fault,
                                               .wavefronts = sass_wavefronts,
                                               .l1_wavefronts = sass_l1_wavefronts,
                                               .sectors = sass_sectors,
                                               .tma_rows = sass_tma_rows};

enum { MAX_CLUSTER = 16 };
/* So many instructions without time are as much work as one that is simulated. */
enum { SKIPPED = 8 };

enum { SECTOR_BYTES = 32, LINE_SECTORS = 4, PAIR_SECTORS = 2, BITS = 8 * sizeof(uint64_t) };
enum { MAX_RANGES = PREDICTION_RANGES, PAGE_BITS = 12 };
/* A place visits a chunk of memory until it has touched so many sectors of others; visits that lie so many chunks apart, or
 * more, are counted together. */
enum { CHUNK_BITS = 21, VISIT_SECTORS = 1024, AGES = 256 };

struct predictor_chunk {
    uint32_t touched; /* footprint.clock when it was touched last; 0: never */
    uint32_t left;    /* footprint.visits then */
    uint32_t age;     /* visits of chunks between its last two visits; 0: it had none before */
};

/* What a launch reads and writes of global memory: allocations, and which of their pages one place
 * touches. Data that L2 has not kept from the launch before is read from DRAM once, by the first SM that
 * needs it: the share `cold` of an allocation's requests. The share `lost` of written data goes to DRAM. */
struct predictor_range {
    uint64_t begin, bytes;
    uint64_t n_touched; /* pages */
    uint8_t *touched;   /* a byte for each page */
    uint64_t *by;       /* for each page a bit for each CTA that touched it, by its number % 64 */
    uint64_t n_by;      /* such bits */
    uint64_t *sectors;  /* that one place touched: a bit each */
    uint64_t n_sectors; /* such bits */
    uint64_t *written;  /* and those that it stored */
    uint64_t n_written;
    uint64_t n_lines;    /* lines of L2 with such bits */
    uint64_t n_pairs;    /* pairs of sectors: what DRAM gives at once */
    double fetched;      /* what DRAM's time for a sector is multiplied by */
    uint64_t n_fresh;    /* sectors that were read before anything was stored to them */
    double requests;     /* sectors that were read, */
    double new_requests; /* and those of them that the SM had not asked for shortly before */
    double stored, stored_first; /* sectors that were stored; of these, those not touched before */
    struct predictor_chunk *chunk;
    uint64_t n_chunks, n_visits;
    double after[AGES]; /* reads by the age of their chunk */
    double lost;        /* share that L2 does not have when the launch begins */
    double cold;        /* share of new requests that DRAM answers, */
    double late;        /* and that wait for DRAM, whichever SM asked first */
};
struct footprint {
    int n;
    struct predictor_range range[MAX_RANGES];
    double lost;   /* share of what a launch touches that the next one would not find */
    bool is_asked; /* of DRAM: of some range L2 lacks a part */
    double
        dirty; /* share of all bytes that are written: before L2 replaces them, they go to DRAM */
    double shared;          /* how often a byte is read, by all SMs */
    uint32_t n_ctas;        /* that the probe placed and that touched something */
    double asked;           /* sectors of L2 that one place reads in a launch */
    uint32_t clock, visits; /* sectors touched by the probe; visits of chunks */
    double entering;        /* the share of stored sectors that L2 does not have yet */
};

/* Room for one cluster on its SMs. */
struct seat {
    int left; /* CTAs that have not ended */
    uint64_t cluster, began;
    double work; /* cycles of work, as on a full place */
    struct sass_cta *cta[MAX_CLUSTER];
};

/* One simulation of some places for clusters, each of cluster_size SMs. Clusters (and tiles from a
 * counter) go to the place that is free first, as on the chip. With fewer places than are busy on the chip,
 * only every `stride`-th cluster is simulated. Two parts, one for each host thread, have half of the places and
 * every second cluster each. SMs do not depend on each other, so in one wave this changes nothing. */
struct predictor_run {
    const struct predictor_chip *chip;
    struct sass_grid grid; /* a copy, because each part answers its atomics itself */
    struct machine machine;
    struct footprint *footprint;
    int n_places, resident; /* simulated; clusters that one of them holds, */
    int fit;                /* and that a place of the chip has room for */
    int part, n_parts;
    double stride;        /* busy places of the chip for each simulated one, of all parts */
    uint64_t next, tiles; /* clusters begun; tiles given out by a counter */
    double dispatched;    /* when the chip may begin another cluster */
    uint64_t n_clusters, ended;
    double durations;        /* of the clusters that ended, cycles */
    double issued;           /* and their instructions */
    double least, most;      /* of one CTA */
    double each;             /* instructions of a cluster, as the probe found them; 0: unknown */
    double *each_inst;       /* how often a cluster executes each of the kernel's instructions */
    double skipped;          /* work that finding them took */
    struct seat *seat;       /* n_places x resident */
    uint64_t *looked;        /* n_places: up to when the seats' work is known */
    uint64_t *asked;         /* for each SM n_asked sectors, each + 1, that it asked for last */
    uint64_t n_asked;        /* its share of what L2 holds */
    const double *speed;     /* of each of k clusters on a place; of a full one: 1 */
    double *cycles;          /* the work of each cluster; 0: it was not simulated */
    double *end;             /* of each place of the chip's: when its last cluster ended */
    double limit;            /* of work (work_of), as soon as a cluster has ended */
    double last;             /* the same, whether or not one has ended; 0: none */
    uint64_t first;          /* cluster */
    bool slow;               /* tensor cores are used (gpc.h) */
    bool is_probe, is_speed; /* is_speed: of a few clusters, to see how fast they run together */
    const struct predictor_options *options;
    char why[256]; /* "": all is well */
};

enum { MAX_PARTS = 2 };

static double min_of(double a, double b) { return a < b ? a : b; }

int predictor_ctas_per_sm(const struct predictor_chip *c, const struct sass_kernel *k,
                          uint32_t threads, uint32_t dynamic_shared) {
    int warps = (int)(threads + 31) / 32, unit = c->register_unit < 1 ? 1 : (int)c->register_unit;
    int per_warp = (k->n_registers * 32 + unit - 1) / unit * unit;
    int warps_by_registers = per_warp ? (int)c->sm_registers / SM_SMSPS / per_warp * SM_SMSPS : 64;
    double shared = k->static_shared + dynamic_shared + c->cta_shared_reserved;
    double n = min_of(c->sm_ctas, (int)c->sm_warps / warps);
    n = min_of(n, warps_by_registers / warps);
    n = min_of(n, (int)(c->sm_shared_bytes / shared));
    return (int)n;
}

/* ---- Places for clusters ------------------------------------------------------------------------ */

/* The clusters that stand for others do not lie evenly: a grid's blocks may do one thing and another in turn. */
static uint64_t strided(const struct predictor_run *r, uint64_t n) {
    n = n * (uint64_t)r->n_parts + (uint64_t)r->part;
    if (r->is_speed) return r->first + n;
    const double golden_ratio = 0.6180339887498949, turn = 0.5 + (double)n * golden_ratio;
    return r->stride == 1 ? n : (uint64_t)(((double)n + turn - floor(turn)) * r->stride);
}

/* Adds the work that a place's clusters have done since the last call. */
static void look_at_work(struct predictor_run *r, int place) {
    struct seat *seat = &r->seat[place * r->resident];
    uint64_t now = r->machine.now;
    int n = 0;
    for (int s = 0; s < r->resident; s++) n += seat[s].left > 0;
    for (int s = 0; s < r->resident; s++) {
        uint64_t from = seat[s].began > r->looked[place] ? seat[s].began : r->looked[place];
        if (seat[s].left && now > from) seat[s].work += (double)(now - from) * r->speed[n];
    }
    r->looked[place] = now;
}

/* The seats of an idle chip are taken faster than this (cta_round). Of all clusters that begin, this part has one in
 * stride * n_parts. */
static uint64_t dispatch(struct predictor_run *r, uint64_t at) {
    double each = r->chip->cta_interval * r->grid.cluster_size;
    return r->is_speed ? at : tail_begin(&r->dispatched, at, each * r->stride * r->n_parts);
}

static void begin_cluster(struct predictor_run *r, int place, struct seat *seat, uint64_t at) {
    struct machine *m = &r->machine;
    uint64_t cluster = strided(r, r->next);
    uint32_t size = r->grid.cluster_size;
    if (cluster >= r->n_clusters) return;
    r->next++;
    const char *why = size > 1 ? sass_cluster_begin(&r->grid, cluster, seat->cta)
                               : sass_cta_begin(&r->grid, cluster, &seat->cta[0]);
    if (why) {
        m->why = why;
        return;
    }
    seat->left = (int)size;
    seat->cluster = cluster;
    seat->began = at;
    seat->work = 0;
    for (int i = 0; i < seat->left; i++)
        machine_place(m, place * (int)size + i, seat->cta[i], sass_cta_warps(seat->cta[i]), at);
}

static void cta_ended(void *user, struct machine *m, struct sm_cta *cta) {
    struct predictor_run *r = user;
    uint32_t size = r->grid.cluster_size;
    int place = (int)((cta->sm - m->sm) / size);
    for (int s = 0; s < r->resident; s++) {
        struct seat *seat = &r->seat[place * r->resident + s];
        for (uint32_t i = 0; seat->left && i < size; i++) {
            if (seat->cta[i] != cta->cta) continue;
            r->issued += (double)cta->issued;
            r->least = r->least > 0 ? min_of(r->least, (double)cta->issued) : (double)cta->issued;
            if ((double)cta->issued > r->most) r->most = (double)cta->issued;
            if (seat->left == 1) look_at_work(r, place);
            if (--seat->left) return;
            for (uint32_t k = 0; k < size; k++) sass_cta_end(seat->cta[k]);
            r->ended++;
            double cycles = (double)(m->now - seat->began);
            r->durations += cycles;
            if (!r->is_speed) r->cycles[seat->cluster] = seat->work;
            if (!r->is_speed) r->end[place * r->n_parts + r->part] = (double)m->now;
            begin_cluster(r, place, seat, dispatch(r, m->now + (uint64_t)r->chip->cta_launch));
            return;
        }
    }
}

/* The launch looks persistent: it has as many CTAs as there is room for, or one for each place. */
static bool fills_chip(const struct predictor_chip *c, const struct sass_grid *g, int resident,
                       uint64_t n) {
    uint64_t places = (uint64_t)c->sms / g->cluster_size;
    return n == places || n == places * (uint64_t)resident;
}

/* Answers an atomic on a counter from which persistent CTAs take their tiles. */
static bool tile_counter(void *user, struct sass_warp *w, const struct sass_inst *i, int lane,
                         uint64_t address, uint32_t *value) {
    struct predictor_run *r = user;
    (void)w, (void)i, (void)lane;
    uint32_t *counter = emu_memory_at(r->grid.memory, address, 4);
    if (!counter || *value != 1 || !fills_chip(r->chip, &r->grid, r->fit, r->n_clusters))
        return false;
    *value = *counter + (uint32_t)strided(r, r->tiles++);
    return true;
}

/* Finds the allocation around an address by testing which addresses are allocated. */
static uint64_t grow(struct emu_memory *m, uint64_t at, bool down) {
    uint64_t good = 0;
    for (uint64_t step = 1ull << 36; step; step >>= 1) {
        uint64_t n = good + step, from = down ? at - n : at;
        if ((!down || n <= at) && emu_memory_at(m, from, down ? n + 1 : n)) good = n;
    }
    return good;
}

static struct predictor_range *range_of(struct footprint *f, uint64_t at) {
    int i = f->n - 1;
    while (i >= 0 && at - f->range[i].begin >= f->range[i].bytes) i--;
    return i < 0 ? NULL : &f->range[i];
}

/* The bits of the n sectors that lie together, of which this is one, in their word. */
static uint64_t neighbours(uint64_t sector, uint64_t n) {
    return ((1ull << n) - 1) << sector % BITS / n * n;
}

/* Sets a bit; was it not set before? */
static bool set_first(uint64_t *bits, uint64_t n) {
    const uint64_t bit = neighbours(n, 1);
    const bool is_first = !(bits[n / BITS] & bit);
    bits[n / BITS] |= bit;
    return is_first;
}

/* The age of the chunk that is touched now. */
static uint32_t visit(struct footprint *f, struct predictor_range *r, uint64_t at) {
    struct predictor_chunk *c = &r->chunk[(at - r->begin) >> CHUNK_BITS];
    f->clock++;
    if (!c->touched || f->clock - c->touched > VISIT_SECTORS) {
        c->age = c->touched ? f->visits - c->left : 0;
        r->n_chunks += !c->touched;
        r->n_visits++;
        f->visits++;
    }
    c->touched = f->clock;
    c->left = f->visits;
    return c->age < AGES ? c->age : AGES - 1;
}

/* Has the SM asked for this sector shortly before? Then L2 has it. Afterwards it has. */
static bool asked_again(struct predictor_run *r, uint64_t sector) {
    uint64_t *last = &r->asked[(uint64_t)r->machine.asking_sm * r->n_asked + sector % r->n_asked];
    const bool again = *last == sector + 1;
    *last = sector + 1;
    return again;
}

static void touch(struct footprint *f, struct emu_memory *m, uint64_t at, bool is_written,
                  bool again, uint32_t cta) {
    struct predictor_range *r = range_of(f, at);
    if (!r) {
        if (f->n == MAX_RANGES || !emu_memory_at(m, at, 1)) return;
        r = &f->range[f->n++];
        r->begin = at - grow(m, at, true);
        r->bytes = at - r->begin + grow(m, at, false);
        r->touched = heap_zeroed((r->bytes >> PAGE_BITS) + 1, 1);
        r->by = heap_zeroed((r->bytes >> PAGE_BITS) + 1, sizeof *r->by);
        r->sectors = heap_zeroed(r->bytes / SECTOR_BYTES / BITS + 1, sizeof *r->sectors);
        r->written = heap_zeroed(r->bytes / SECTOR_BYTES / BITS + 1, sizeof *r->written);
        r->chunk = heap_zeroed((r->bytes >> CHUNK_BITS) + 1, sizeof *r->chunk);
    }
    const uint64_t number = (at - r->begin) >> PAGE_BITS, bit = 1ull << cta % BITS;
    uint8_t *page = &r->touched[number];
    r->n_by += !(r->by[number] & bit);
    r->by[number] |= bit;
    if (cta + 1 > f->n_ctas) f->n_ctas = cta + 1;
    r->n_touched += !*page;
    const uint64_t sector = (at - r->begin) / SECTOR_BYTES;
    const uint64_t seen = r->sectors[sector / BITS];
    r->n_lines += !(seen & neighbours(sector, LINE_SECTORS));
    r->n_pairs += !(seen & neighbours(sector, PAIR_SECTORS));
    const bool is_fresh = set_first(r->sectors, sector);
    r->n_sectors += is_fresh;
    const uint32_t age = visit(f, r, at);
    if (is_written) {
        r->n_written += set_first(r->written, sector);
        r->stored++;
        r->stored_first += is_fresh;
    } else {
        r->requests++;
        r->new_requests += !again;
        r->n_fresh += is_fresh;
        r->after[age]++;
    }
    *page = 1;
}

/* L2 loses first what was read first: the share of DRAM at this point of a launch, from the share of all of it
 * (microbenchmark footprint). */
static double share_by_now(const struct predictor_run *r, double share) {
    const struct predictor_chip *c = r->chip;
    const double exponent[] = {c->l2_order_1, c->l2_order_2, c->l2_order_3, c->l2_order_4,
                               c->l2_order_5, c->l2_order_6, c->l2_order_7, c->l2_order_8};
    const int parts = sizeof exponent / sizeof *exponent;
    double all = r->footprint->asked * r->n_places;
    int at = all > 0 ? (int)(parts * (double)r->machine.counts.l2_sectors / all) : 0;
    return pow(share, exponent[at < parts ? at : parts - 1]);
}

/* The share of a sector that comes from DRAM; 0: L2 has it. */
static double from_dram(void *user, uint64_t sector, bool is_written) {
    struct predictor_run *r = user;
    struct footprint *f = r->footprint;
    uint64_t at = sector * 32;
    const bool again = asked_again(r, sector);
    if (r->is_probe) touch(f, r->grid.memory, at, is_written, again, r->machine.asking);
    if (r->is_probe || again) return 0;
    const struct predictor_range *in = range_of(f, at);
    if (!in || in->late <= 0) return 0;
    /* by 4 KiB, spread evenly */
    uint64_t hash = ((at - in->begin) >> 12) * 0x9e3779b97f4a7c15ull + r->machine.now / 1024;
    return (double)(hash >> 40) < share_by_now(r, in->late) * (1 << 24)
               ? in->fetched * in->cold / in->late
               : 0;
}

/* From the first place's begin to the last's: at least cta_spread, and as long as the chip takes for the clusters of the
 * first round, because it fills one SM after the other (microbenchmark habits, begin). */
static double spread_of(const struct predictor_chip *c, double places, double resident, double n,
                        double size) {
    const double seats = min_of(resident, ceil(n / places));
    return fmax(c->cta_spread, places * seats * size * c->cta_interval);
}

/* From the launch's begin to the last place's. */
static double begin_spread(const struct predictor_run *r) {
    const double places = r->stride * r->n_places * r->n_parts;
    return spread_of(r->chip, places, r->fit, (double)r->n_clusters, r->grid.cluster_size);
}

/* The CTA that began first. */
static bool is_first(const struct predictor_run *r, const struct sm_cta *cta) {
    return cta == &r->machine.sm[0].cta[0] && !cta->number;
}

static void told(void *user, const struct sm_warp *w, int reason, uint64_t from, uint64_t to) {
    const struct predictor_run *r = user;
    const struct predictor_options *o = r->options;
    if (is_first(r, w->cta)) o->span(o->user, w->index, w->inst->pc, reason, from, to);
}

static void woke(void *user, const struct sm_warp *w, const struct sm_warp *by) {
    const struct predictor_run *r = user;
    const struct predictor_options *o = r->options;
    if (!is_first(r, w->cta)) return;
    o->woke(o->user, w->index,
            !by                 ? -1
            : by->cta == w->cta ? by->index
                                : -2,
            w->inst->pc, r->machine.now > w->since ? r->machine.now - w->since : 0);
}

static void executed(void *user, const struct sm_warp *w, const struct sass_effect *e) {
    const struct predictor_run *r = user;
    const struct predictor_options *o = r->options;
    if (is_first(r, w->cta)) o->executed(o->user, w->index, e, r->machine.now);
}

static void delivered(void *user, const struct sass_event *e) {
    const struct predictor_run *r = user;
    const struct predictor_options *o = r->options;
    const struct sm_cta *first = &r->machine.sm[0].cta[0];
    if (e->cta == first->cta && is_first(r, first)) o->delivered(o->user, e, r->machine.now);
}

/* All of the first SM: pipes are shared. */
static void pipe_busy(void *user, const struct sm *s, int smsp, int unit, uint64_t from,
                      uint64_t to) {
    const struct predictor_run *r = user;
    if (s == r->machine.sm) r->options->busy(r->options->user, smsp, unit, from, to);
}

/* What a simulation has cost so far, in instructions. A tensor product counts as many, because it takes the
 * host longer. It is a count, not a time, so that a busy host predicts the same. */
static double work_of(const struct machine *m) {
    enum { HMMA_CYCLE = 5, HGMMA_CYCLE = 10 };
    double work = (double)m->counts.issued;
    for (int i = 0; i < m->n_sms; i++) {
        work += HGMMA_CYCLE * (double)m->sm[i].gmma_cycles;
        for (int k = 0; k < SM_SMSPS; k++)
            work += HMMA_CYCLE * (double)m->sm[i].smsp[k].tensor_cycles;
    }
    return work;
}

/* Clusters under way, counted as whole ones: their instructions over those that the probe found for one. */
static double begun_of(const struct predictor_run *r) {
    const struct machine *m = &r->machine;
    double each = r->each / r->grid.cluster_size, begun = 0;
    for (int i = 0; r->each > 0 && i < m->n_sms; i++)
        for (uint32_t c = m->sm[i].ctas; c; c &= c - 1)
            begun += min_of(0.99, (double)m->sm[i].cta[__builtin_ctz(c)].issued / each);
    return begun / r->grid.cluster_size;
}

/* Warp cycles of the instruction so far, and how often it was executed. */
static double time_of(const struct predictor_run *r, int inst, double *n) {
    const uint64_t *reason = r->machine.counts.by_inst[inst];
    double time = 0;
    for (int k = 0; k < PREDICTOR_REASONS; k++) time += (double)reason[k];
    *n = (double)reason[PREDICTOR_SELECTED];
    return time;
}

/* The share of their time that clusters under way have behind them, where none has ended. What is left to execute takes
 * as long as the same instruction took so far. Of one that was hardly met, others of its pipe tell: one loop may
 * load as often as the next one with a third of the instructions. */
static double behind(const struct predictor_run *r, double clusters) {
    enum { PIPES = SASS_PIPE_NONE + 1, FEW = 32 };
    const struct sass_kernel *kernel = r->machine.kernel;
    double time[PIPES] = {0}, count[PIPES] = {0}, spent = 0, left = 0, n;
    for (int i = 0; i < kernel->n_inst; i++) {
        double t = time_of(r, i, &n);
        time[kernel->inst[i].pipe] += t;
        count[kernel->inst[i].pipe] += n;
        spent += t;
    }
    const double mean = spent / (double)r->machine.counts.issued;
    for (int i = 0; i < kernel->n_inst; i++) {
        int pipe = kernel->inst[i].pipe;
        double alike = count[pipe] > 0 ? time[pipe] / count[pipe] : mean, t = time_of(r, i, &n);
        double rest = clusters * r->each_inst[i] - n;
        if (rest > 0) left += rest * (t + FEW * alike) / (n + FEW);
    }
    return spent > 0 ? spent / (spent + left) : 0;
}

static double clusters_begun(const struct predictor_run *r) {
    int n = 0;
    for (int i = 0; i < r->machine.n_sms; i++) n += __builtin_popcount(r->machine.sm[i].ctas);
    return (double)n / r->grid.cluster_size;
}

/* The clusters of the whole part, of which some may not have begun. */
static double clusters_of(const struct predictor_run *r) {
    return (double)r->n_clusters / r->stride / r->n_parts;
}

/* The share of the part's instructions that has been simulated, where no cluster has ended; 0: unknown. */
static double executed_of(const struct predictor_run *r) {
    return min_of(1, begun_of(r) / clusters_of(r));
}

/* The share of the part's clusters that has been simulated: those that ended, and of each other its time
 * so far over the mean duration. 0: unknown. */
static double done_of(const struct predictor_run *r) {
    double ended = (double)r->ended, mean = r->durations / ended;
    double all = clusters_of(r), begun = clusters_begun(r);
    if (!r->ended) return r->each > 0 ? min_of(1, begun * behind(r, begun) / all) : 0;
    for (int s = 0; s < r->n_places * r->resident; s++)
        if (r->seat[s].left) {
            double age = (double)r->machine.now - (double)r->seat[s].began;
            ended += age < 0 ? 0 : min_of(0.95, age / mean);
        }
    return ended < all ? ended / all : 1;
}

static bool enough(void *user) {
    const struct predictor_run *r = user;
    const struct predictor_options *o = r->options;
    if (r->is_speed) return (o->stop && o->stop(o->user)) || work_of(&r->machine) > r->limit;
    if (!r->is_probe && !r->part && o->progress)
        o->progress(o->progress_user, r->ended ? done_of(r) : executed_of(r));
    if (o->stop && o->stop(o->user)) return true;
    double work = work_of(&r->machine);
    return (r->ended && work > r->limit) || (r->last > 0 && work > r->last);
}

static void begin_all(struct predictor_run *r) {
    uint64_t seats = (uint64_t)(r->n_places * r->resident), n = 0;
    while (n < seats && strided(r, n) < r->n_clusters) n++;
    const double spread = begin_spread(r);
    for (uint64_t k = 0; k < n; k++) {
        int place = (int)tail_place(r->chip, k, n, (uint64_t)r->n_places, r->resident);
        struct seat *seat = &r->seat[place * r->resident];
        int before = 0;
        for (; seat->left; seat++) before++;
        uint64_t i = (uint64_t)(place * r->n_parts + r->part);
        begin_cluster(r, place, seat,
                      tail_first(r->chip, spread, i, (uint64_t)(r->n_places * r->n_parts), before));
    }
    if (!r->is_speed) r->dispatched = spread;
}

/* L2 is faster when several SMs read the same data: from its rate where each SM reads its own, up to `all` where
 * all read the same, by the same amount with each doubling (microbenchmark footprint: 4.6 and 4.7 kB a cycle where
 * two and four share). */
static double l2_rate(const struct predictor_run *r, double all) {
    const struct predictor_chip *c = r->chip;
    double doublings = r->footprint->shared > 1 ? log2(r->footprint->shared) / log2(c->sms) : 0;
    return c->l2_bytes_per_clk + (all - c->l2_bytes_per_clk) * min_of(1, doublings);
}

static const char *simulate(struct predictor_run *r, double busy) {
    struct machine *m = &r->machine;
    struct sass_grid *g = &r->grid;
    int n_sms = r->n_places * (int)g->cluster_size;
    machine_open(m, r->chip, &predictor_sass, g->kernel, n_sms);
    const struct predictor_chip *c = r->chip;
    m->cluster_size = (int)g->cluster_size;
    m->l2_rate = l2_rate(r, c->l2_shared_bytes_per_clk) / busy * n_sms;
    m->tma_rate = l2_rate(r, c->l2_tma_shared_bytes_per_clk) / busy * n_sms;
    m->write_rate = c->l2_write_bytes_per_clk / busy * n_sms;
    m->write_back = r->footprint->dirty * c->dram_bytes_per_ns / c->dram_write_bytes_per_ns;
    m->written_lost = r->footprint->lost * r->footprint->entering;
    m->dram_rate = min_of(m->l2_rate, c->dram_bytes_per_ns * 1e3 / r->options->mhz / busy * n_sms);
    m->part = n_sms / busy;
    m->mhz = r->options->mhz;
    m->is_whole =
        r->stride == 1 && r->n_clusters <= (uint64_t)(r->n_places * r->n_parts * r->resident);
    m->start = r->slow ? c->tensor_clock : 1;
    m->ended = cta_ended;
    /* the probe finds out what is read */
    m->dram_part = r->is_probe || r->footprint->is_asked ? from_dram : NULL;
    m->stop = enough;
    bool is_told = r->is_probe == r->options->tells_probe && !r->is_speed && !r->part;
    if (is_told && r->options->span) m->span = told;
    if (is_told && r->options->woke) m->woke = woke;
    if (is_told && r->options->busy) m->busy = pipe_busy;
    if (is_told && r->options->executed) m->executed = executed;
    if (is_told && r->options->delivered) m->delivered = delivered;
    m->fast = r->options->fast;
    m->is_first = r->options->is_first;
    m->prints_first = r->options->prints_first;
    m->user = r;
    r->n_asked = (uint64_t)(c->l2_bytes / c->sms / SECTOR_BYTES);
    if (m->dram_part) r->asked = heap_zeroed((uint64_t)n_sms * r->n_asked, sizeof *r->asked);
    for (int i = 0; i < n_sms; i++) {
        double used =
            r->chip->l1_total_bytes - r->resident * (g->kernel->static_shared + g->shared_bytes +
                                                     r->chip->cta_shared_reserved);
        m->sm[i].n_ways = used > 0 ? (int)(used / SM_L1_SETS / SM_LINE_BYTES) : 0;
        if (m->sm[i].n_ways > SM_L1_WAYS) m->sm[i].n_ways = SM_L1_WAYS;
    }
    g->deferred = SASS_DEFER_ALL;
    g->rough = true;
    g->user = r;
    g->atomic = tile_counter;
    begin_all(r);
    machine_run(m);
    return m->why;
}

/* ---- The launch -------------------------------------------------------------------------------- */

/* Sums over the simulated SMs, for the whole of their clusters. */
struct predictor_sums {
    bool prints;
    double active, elapsed, issued, tensor, warp_cycles, wavefronts, sectors, l2_sectors;
    double reason[PREDICTOR_REASONS];
    double work;        /* work_of() */
    double tiles;       /* that were given out by a counter */
    double done;        /* the share that was simulated: the rest is taken to be like it */
    double least, most; /* instructions of a CTA that ended */
};

struct prediction_job {
    const struct predictor_chip *chip;
    struct sass_grid *grid;
    const struct predictor_options *options;
    int resident;
    uint64_t busy, n; /* places in use on the chip; clusters */
    double *cycles;   /* the work of the clusters that were simulated */
    double *end;      /* of each place */
    bool slow;        /* tensor cores are used (gpc.h) */
    double speed[SM_CTAS + 1];
    double work;       /* that simulations took so far */
    double each;       /* instructions of a cluster; 0: unknown */
    double *each_inst; /* of them, each of the kernel's instructions */
    struct footprint footprint;
    struct prediction_range range[PREDICTION_RANGES];
};

/* What is left of the limit of work; 0: there is none. */
static double left_of(const struct prediction_job *p) {
    if (p->options->limit <= 0) return 0;
    return p->work < p->options->limit ? p->options->limit - p->work : 1;
}

static double within(const struct prediction_job *p, double limit) {
    double left = left_of(p);
    return left > 0 ? min_of(left, limit) : limit;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add(const struct predictor_run *r, struct prediction *result,
                struct predictor_sums *out) {
    const struct machine *m = &r->machine;
    double done = m->stopped ? done_of(r) : 1, elapsed = (double)m->now / done;
    double executed = r->ended || !m->stopped ? done : executed_of(r);
    out->done = min_of(out->done, done);
    if (elapsed > out->elapsed) out->elapsed = elapsed;
    out->work += work_of(m) / done;
    out->tiles += (double)r->tiles;
    if (r->ended) {
        out->least = out->least > 0 ? min_of(out->least, r->least) : r->least;
        if (r->most > out->most) out->most = r->most;
    }
    out->prints |= m->printed > 0;
    out->issued += (double)m->counts.issued / executed;
    out->wavefronts += (double)m->counts.wavefronts / done;
    out->sectors += (double)m->counts.sectors / done;
    out->l2_sectors += (double)m->counts.l2_sectors / done;
    for (int k = 0; k < PREDICTOR_REASONS; k++)
        out->reason[k] += (double)m->counts.reason[k] / done;
    for (int i = 0; i < m->n_sms; i++) {
        const struct sm *s = &m->sm[i];
        uint64_t active = s->active + (s->n_warps ? m->now - s->active_since : 0);
        out->active += (double)active / done;
        out->tensor += (double)s->gmma_cycles / done;
        uint64_t warp_cycles = s->warp_cycles;
        for (uint32_t c = s->ctas; c; c &= c - 1) {
            const struct sm_cta *cta = &s->cta[__builtin_ctz(c)];
            if (cta->began < m->now) warp_cycles += (uint64_t)cta->left * (m->now - cta->began);
        }
        out->warp_cycles += (double)warp_cycles / done;
        for (int k = 0; k < SM_SMSPS; k++)
            out->tensor += (double)s->smsp[k].tensor_cycles / SM_SMSPS / done;
    }
    for (int i = 0; result && i < m->kernel->n_inst; i++)
        for (int k = 0; k < PREDICTOR_REASONS; k++)
            result->by_inst[i][k] += r->stride * (double)m->counts.by_inst[i][k] / done;
}

/* One part simulates all CTAs if they communicate by atomics, other than for tile numbers, or if a last round
 * goes to some places only (tail_place). */
static int parts_of(const struct prediction_job *p, int n_places) {
    const struct sass_kernel *k = p->grid->kernel;
    uint64_t seats = p->busy * (uint64_t)p->resident;
    if ((uint64_t)n_places == p->busy && p->n < seats && p->n % p->busy) return 1;
    bool one_wave = p->n <= seats;
    bool persistent = fills_chip(p->chip, p->grid, p->resident, p->n);
    for (int i = 0; i < k->n_inst; i++)
        if (k->inst[i].memory == SASS_REDG || (k->inst[i].memory == SASS_ATOMG && !persistent))
            return 1;
    return n_places > 1 && (one_wave || n_places % 2 == 0) ? 2 : 1;
}

static struct predictor_run *open_part(struct prediction_job *p, int n_places, int part,
                                       int n_parts, double limit, bool is_probe) {
    int n = (n_places + n_parts - 1 - part) / n_parts;
    struct predictor_run *r = heap_zeroed(1, sizeof *r);
    *r = (struct predictor_run){.chip = p->chip,
                                .grid = *p->grid,
                                .footprint = &p->footprint,
                                .n_places = n,
                                .resident = p->resident,
                                .fit = p->resident,
                                .part = part,
                                .n_parts = n_parts,
                                .stride = (double)p->busy / n_places,
                                .n_clusters = p->n,
                                .seat = heap_zeroed((size_t)(n * p->resident), sizeof *r->seat),
                                .looked = heap_zeroed((size_t)n, sizeof *r->looked),
                                .speed = p->speed,
                                .cycles = p->cycles,
                                .end = p->end,
                                .limit = within(p, limit) / n_parts,
                                .last = left_of(p) / n_parts / (is_probe ? 2 : 1),
                                .each = p->each,
                                .each_inst = p->each_inst,
                                .is_probe = is_probe,
                                .slow = p->slow,
                                .options = p->options};
    return r;
}

static void close_part(struct prediction_job *p, struct predictor_run *r) {
    p->work += work_of(&r->machine) + r->skipped;
    for (int s = 0; s < r->n_places * r->resident; s++)
        for (int i = 0; i < MAX_CLUSTER; i++)
            if (r->seat[s].left && r->seat[s].cta[i]) sass_cta_end(r->seat[s].cta[i]);
    machine_close(&r->machine);
    free(r->seat);
    free(r->looked);
    free(r->asked);
    free(r);
}

/* ---- The chip's tail (tail.h) ------------------------------------------------------------------ */

/* Instructions a cycle of one cluster, the last k of the launch alone on a place; 0: a fault. */
static double speed_beside(struct prediction_job *p, int k, double limit) {
    struct predictor_run *r = open_part(p, 1, 0, 1, limit, false);
    double speed = 0;
    r->resident = k;
    r->stride = 1;
    r->first = p->n - (uint64_t)k;
    r->is_speed = true;
    if (!simulate(r, (double)(p->busy * p->grid->cluster_size)) && r->machine.now)
        speed = (double)r->machine.counts.issued / k / (double)r->machine.now;
    close_part(p, r);
    return speed;
}

/* Simulated for 1, 2, 4 ... clusters and for as many as a place ever has, interpolated between them. They may take half of
 * what is left of the limit of work. */
static void find_speeds(struct prediction_job *p) {
    const uint64_t each = (p->n + p->busy - 1) / p->busy;
    const int full = each < (uint64_t)p->resident ? (int)each : p->resident;
    const double most = 2e6, left = left_of(p);
    const double limit = left > 0 ? min_of(most, left / 2 / (2 + log2(full))) : most;
    double whole = speed_beside(p, full, limit);
    if (whole <= 0) return;
    for (int k = 1, last = 1; k < full; last = k, k *= 2) {
        double speed = speed_beside(p, k, limit) / whole;
        p->speed[k] = speed > 1 ? speed : 1;
        for (int i = last + 1; i < k; i++)
            p->speed[i] = p->speed[last] + (p->speed[k] - p->speed[last]) * (i - last) / (k - last);
        for (int i = k + 1; i < full; i++)
            p->speed[i] = p->speed[k] + (1 - p->speed[k]) * (i - k) / (full - k);
    }
}

/* A few hundred cycles decide whether an SM gets two of the last clusters: the mean of three assumptions. */
static double any_spread(const struct prediction_job *p, struct tail *all, double end) {
    const double assumed[] = {p->chip->cta_spread_least, p->chip->cta_spread_most};
    for (int i = 0; i < 2; i++) {
        all->together = p->chip->cta_spread * assumed[i];
        end += tail_end(all, NULL);
    }
    return end / 3;
}

/* Two clusters of an SM end together, and SMs of equal work a few per cent apart. So either some SMs get two of the last
 * clusters and others none, or each of these SMs gets one, and two boards do it differently: the mean of both, for SMs that
 * end one, two and three deviations apart. */
static double packed_or_not(const struct prediction_job *p, struct tail *all, double end) {
    double packed = 0, spread = 0;
    for (int deviations = 1; deviations <= 3; deviations++) {
        all->together = deviations * p->chip->cta_ends_apart * end;
        all->packs = true;
        packed += tail_end(all, NULL) / 3;
        all->packs = false;
        spread += tail_end(all, NULL) / 3;
    }
    return (packed + spread) / 2;
}

/* When the last cluster of all places ends, and of each, from the work of those that were simulated. */
static double end_of_all(struct prediction_job *p) {
    struct tail all = {.chip = p->chip,
                       .cycles = p->cycles,
                       .n = p->n,
                       .places = p->busy,
                       .resident = p->resident,
                       .launch = p->chip->cta_launch,
                       .elder = p->slow ? p->chip->cta_elder : 0,
                       .together = p->chip->cta_spread};
    memcpy(all.speed, p->speed, sizeof all.speed);
    tail_fill(p->cycles, p->n);
    if (p->resident == 2) tail_pair(p->chip, p->cycles, p->n, p->busy);
    double end = tail_end(&all, p->end);
    double mean = p->resident == 2 ? packed_or_not(p, &all, end) : any_spread(p, &all, end);
    /* the chip begins CTAs one after the other */
    double begun = (double)p->n * p->grid->cluster_size * p->chip->cta_interval;
    if (begun > mean) mean = begun;
    for (uint64_t i = 0; i < p->busy; i++) p->end[i] *= mean / end;
    return mean;
}

/* When three CTAs share an SM, the oldest is farther ahead on the chip than in the simulation, so hardly any SM gets
 * two of the last CTAs. Then tail.c decides when the launch ends, even if all of it was simulated (microbenchmark
 * placement). */
static bool is_crowded(const struct prediction_job *p) {
    return p->resident > 2 && p->n > p->busy * (uint64_t)p->resident;
}

/* Instructions of a cluster, and how many of each: the mean of those that ended. If none did: what one has issued, and the
 * rest, which is executed without time. With a counter of tiles, this one then takes the tiles of all others, too. */
static double find_each(struct predictor_run *r) {
    struct machine *m = &r->machine;
    const double issued = (double)m->counts.issued;
    double share = r->ended ? r->issued / issued / (double)r->ended : 0, rest = 1, each = 0;
    if (!r->ended) {
        if (r->last <= 0 || work_of(m) <= r->last) return 0; /* no budget, or interrupted */
        share = 1 / clusters_begun(r);
        r->grid.deferred = 0;
        double left = machine_skip(m, SKIPPED * r->last, r->each_inst);
        r->skipped = left < 0 ? r->last : left / SKIPPED;
        if (left < 0) return 0;
        if (r->tiles) rest = share;
    }
    for (int i = 0; i < m->kernel->n_inst; i++) {
        double simulated = (double)m->counts.by_inst[i][PREDICTOR_SELECTED];
        r->each_inst[i] = rest * r->each_inst[i] + share * simulated;
        each += r->each_inst[i];
    }
    return each;
}

static const char *none_ended(const struct predictor_run *r) {
    if (r->last <= 0 || work_of(&r->machine) <= r->last)
        return "interrupted before a block had ended";
    return reason("no block had ended after %.3g million simulated instructions",
                  work_of(&r->machine) / 1e6);
}

static bool is_one_wave(const struct prediction_job *p) {
    return p->n <= p->busy * (uint64_t)p->resident;
}

/* How much later the launch ends because its SMs begin one after the other: in one wave the last to begin ends last; later
 * waves even it out. */
static double later_begin(const struct prediction_job *p) {
    const double least = p->chip->cta_spread,
                 spread = spread_of(p->chip, (double)p->busy, p->resident, (double)p->n,
                                    p->grid->cluster_size);
    return is_one_wave(p) ? spread : least + (spread - least) / 2;
}

/* One wave of CTAs that have the same to do: places that were not simulated end when the others do. */
static bool is_even_wave(const struct prediction_job *p, const struct predictor_sums *out) {
    return is_one_wave(p) && out->tiles <= 0 && out->least > 0 &&
           out->most - out->least < p->chip->cta_alike * out->least;
}

static const char *at_places(struct prediction_job *p, int n_places, double limit, bool is_probe,
                             struct prediction *result, struct predictor_sums *out) {
    struct predictor_run *r[MAX_PARTS];
    int n = parts_of(p, n_places);
    const char *why = NULL;
    *out = (struct predictor_sums){.done = 1};
    memset(p->cycles, 0, p->n * sizeof *p->cycles);
    memset(p->end, 0, p->busy * sizeof *p->end);
    for (int i = 0; i < n; i++) r[i] = open_part(p, n_places, i, n, limit, is_probe);
#pragma omp parallel for schedule(static, 1) num_threads(n > 1 ? n : 1)
    for (int i = 0; i < n; i++) {
        const char *failed = simulate(r[i], (double)(p->busy * p->grid->cluster_size));
        if (is_probe && !failed) p->each = r[i]->each = find_each(r[i]);
        if (!failed) failed = r[i]->machine.why;
        if (!failed && r[i]->machine.stopped && !r[i]->ended && done_of(r[i]) <= 0)
            failed = none_ended(r[i]);
        if (failed) snprintf(r[i]->why, sizeof r[i]->why, "%s", failed);
    }
    for (int i = 0; i < n && !why; i++) {
        if (*r[i]->why) why = reason("%s", r[i]->why);
        if (!why) add(r[i], result, out);
    }
    for (int i = 0; i < n; i++) close_part(p, r[i]);
    if (why || is_probe) return why;
    bool some = (uint64_t)n_places < p->busy || is_crowded(p);
    if (out->done == 1 && some) {
        const double simulated = out->elapsed, all = later_begin(p) + end_of_all(p);
        out->elapsed = is_even_wave(p, out) ? min_of(all, simulated) : all;
    }
    if (out->done < 1) /* the order of the ends is not known */
        for (uint64_t i = 0; i < p->busy; i++) p->end[i] = out->elapsed;
    else
        for (uint64_t i = 0; some && i < p->busy; i++)
            p->end[i] = min_of(p->end[i] + later_begin(p), out->elapsed);
    return why;
}

double predictor_lost(const struct predictor_chip *c, double bytes, double written, bool same_sm) {
    double once = same_sm ? 1 : written / bytes, share = bytes / c->l2_bytes;
    double kept = c->l2_kept + (c->l2_kept_still - c->l2_kept) * once,
           all = c->l2_lost + (c->l2_lost_still - c->l2_lost) * once;
    if (share <= kept) return 0;
    return share >= all ? 1 : (share - kept) / (all - kept);
}

double predictor_copied(const struct predictor_chip *c, double bytes, double filled) {
    const double doublings = log2(bytes / (2 << 20)), room = predictor_lost(c, filled, 0, false);
    return fmax(0, min_of(room, c->l2_copied + c->l2_copied_doubling * doublings));
}

double predictor_kept(double sectors, double lines) {
    const double a_line = sectors / lines;
    return SECTOR_BYTES * sectors * (a_line < 2 ? 1 + 3 * (2 - a_line) : 1);
}

/* Lines of which a place has read one half, and the half of the next line that is beside it: others read the rest, because rows
 * of a matrix need not begin where lines do (foreign freeze 6, sums of matrices of doubles, 7000 wide). */
static double joined_of(const struct predictor_range *r) {
    const uint64_t low = 0x1111111111111111ull, high = low << PAIR_SECTORS,
                   last = BITS - PAIR_SECTORS;
    const uint64_t words = r->bytes / SECTOR_BYTES / BITS + 1;
    double n = 0;
    uint64_t before = 0;
    for (uint64_t i = 0; i < words; i++) {
        const uint64_t w = r->sectors[i], pair = (w | w >> 1) & (low | high);
        uint64_t after = 0;
        if (!pair) {
            before = 0;
            continue;
        }
        if (i + 1 < words) after = (r->sectors[i + 1] | r->sectors[i + 1] >> 1) & 1;
        const uint64_t left = pair << PAIR_SECTORS | before,
                       right = pair >> PAIR_SECTORS | after << last;
        n += __builtin_popcountll(pair & low & ~right & left);
        n += __builtin_popcountll(pair & high & ~left & right);
        before = pair >> last & 1;
    }
    return n;
}

double predictor_fetched(const struct predictor_chip *c, double sectors, double pairs,
                         double lines) {
    const double alone = fmax(0, 2 - pairs / lines); /* 1: a pair for each line */
    return 2 * pairs / sectors * (1 + alone * (1 / c->dram_sparse - 1));
}

/* Pages that n draws of `each` touch of so many: alike by chance. */
static double drawn(double pages, double each, double n) {
    return pages * (1 - pow(1 - min_of(1, each / pages), n));
}

/* Pages that all places touch, if CTAs of one place, n of them, touched `pages` in `touches`: CTAs that touch pages of
 * their own have all of them apart, and a table that all read is one. Between the two, as if pages were drawn. */
static double pages_of_all(double pages, double touches, double n, double places) {
    const double each = touches / n;
    double low = pages, high = pages * places;
    if (n < 2 || touches < 1.05 * pages) return high;
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        if (drawn(middle, each, n) < pages)
            low = middle;
        else
            high = middle;
    }
    return drawn(high, each, n * places);
}

/* The share of a range's reads that come when L2 has lost what the places read there before: they go through memory
 * together, and have read more chunks since than it keeps (microbenchmark footprint). */
static double read_too_late(const struct prediction_job *p, const struct predictor_range *r,
                            double chunk_bytes, double written, bool same_sm) {
    double lost = 0;
    for (int age = 1; age < AGES; age++) {
        const double since = age * chunk_bytes;
        if (r->after[age] > 0)
            lost += r->after[age] * predictor_lost(p->chip, since, written * since, same_sm);
    }
    return lost > 0 ? lost / r->requests : 0;
}

/* Which of an allocation's reads wait for DRAM. What the launch itself stores first is in L2 when it is read. `all`: how
 * much more often all places read than the probe; `done`: the share of the launch that the probe has seen. */
static void find_cold(const struct prediction_job *p, struct predictor_range *r, double bytes,
                      double all, double done, double too_late) {
    const double resident = (double)(p->busy * (uint64_t)p->resident),
                 read = bytes * (double)r->n_fresh / (double)r->n_sectors;
    const double pairs = (double)r->n_pairs, lines = (double)r->n_lines;
    r->fetched =
        predictor_fetched(p->chip, (double)r->n_sectors, pairs,
                          lines * pairs / (pairs + (pairs < 2 * lines ? joined_of(r) : 0)));
    r->cold = r->late = 0;
    if (read <= 0) return;
    const double times = fmax(1, SECTOR_BYTES * r->requests * all / read),
                 visits = (double)r->n_visits / (double)r->n_chunks / done,
                 a_visit = fmax(1, times / visits);
    const double each = r->new_requests > 0 ? r->requests / r->new_requests : 1;
    r->cold = min_of(1, each * (r->lost / times + too_late / a_visit));
    r->late = min_of(1, each * (r->lost * min_of(1, resident / times) +
                                too_late * min_of(1, resident / a_visit)));
}

/* The share of requests that DRAM must answer, and how often the same data is read. Either all places touch the
 * same pages, or each has as many pages of its own. */
static void share(struct prediction_job *p, const struct predictor_sums *one) {
    struct footprint *f = &p->footprint;
    const struct predictor_options *o = p->options;
    double each[MAX_RANGES], bytes = 0, touched = 0, lost = 0, all = (double)p->busy / one->done;
    double chunks = 0, stored = 0, entering = 0, fetched = 0, leaving = 0;
    for (int i = 0; i < f->n; i++) {
        const struct predictor_range *r = &f->range[i];
        double pages = (double)r->n_touched * all;
        if (o->distance)
            pages = pages_of_all((double)r->n_touched, (double)r->n_by,
                                 f->n_ctas < 64 ? f->n_ctas : 64, all);
        each[i] = min_of((double)r->bytes, pages * (1 << PAGE_BITS));
        if (o->distance)
            each[i] =
                min_of(each[i], predictor_kept((double)r->n_sectors, (double)r->n_lines) * all);
        bytes += each[i];
        chunks += (double)r->n_chunks;
        /* what a launch has read is in L2 when it stores there */
        stored += r->stored;
        entering += r->requests > 0 ? r->stored_first : r->stored;
        touched += pages * (1 << PAGE_BITS);
    }
    const double chunk_bytes = min_of(1 << CHUNK_BITS, bytes / chunks);
    f->entering = stored > 0 ? entering / stored : 1;
    f->dirty = 0;
    for (int i = 0; i < f->n; i++) {
        const struct predictor_range *r = &f->range[i];
        f->dirty += each[i] / bytes * (double)r->n_written / (double)r->n_sectors;
    }
    f->asked = one->l2_sectors / one->done;
    /* repeated reads by one place are not sharing */
    f->shared = bytes > 0 ? min_of(32 * one->l2_sectors * (double)p->busy, touched) / bytes : 0;
    /* in a grid of one wave each CTA gets the same SM again; lines that many SMs read are kept twice all the same */
    bool alone = f->shared < 2;
    bool same = p->n <= p->busy * (uint64_t)p->resident && one->tiles <= 0 &&
                (alone || fills_chip(p->chip, p->grid, p->resident, p->n));
    const double written = alone ? f->dirty : 0;
    f->lost = bytes > 0 ? predictor_lost(p->chip, bytes, written * bytes, same) : 0;
    for (int i = 0; i < f->n; i++) {
        struct predictor_range *r = &f->range[i];
        double since = o->distance ? o->distance(o->user, r->begin) + bytes / 2 : bytes;
        bool none = isinf(since) || (!o->distance && o->cache != PREDICTOR_WARM);
        const double copied = none && o->copied ? o->copied(o->user, r->begin) : 0;
        r->lost = copied > 0 ? predictor_copied(p->chip, copied, o->filled)
                  : none     ? 1
                             : predictor_lost(p->chip, since, written * since, same);
        lost += r->lost * each[i] / bytes;
        p->range[i] =
            (struct prediction_range){r->begin, each[i], r->n_written > 0, r->n_fresh > 0};
    }
    /* what comes to an L2 that is not full replaces nothing */
    if (lost > f->lost) f->dirty *= f->lost / lost;
    if (o->cache == PREDICTOR_FLUSHED) {
        double most = p->chip->l2_flushed_most / bytes;
        f->dirty = fmax(f->dirty, min_of(p->chip->l2_flushed_dirty, most));
        leaving = p->chip->l2_flushed_most / SECTOR_BYTES / all;
    }
    for (int i = 0; i < f->n; i++) {
        struct predictor_range *r = &f->range[i];
        find_cold(p, r, each[i], all, one->done, read_too_late(p, r, chunk_bytes, written, alone));
        f->is_asked |= r->late > 0;
        fetched += r->new_requests * r->cold;
        leaving += (double)r->n_written;
    }
    /* what is fetched again and again does not find more written lines to replace than there are */
    if (fetched > 0) f->dirty = min_of(f->dirty, leaving / fetched);
}

/* One place, the probe, shows how much work the others are and which share of their reads is cold. All limits
 * are in work; one host thread does about 5e6 a second. Where a place has only a few tiles, which may differ in
 * length, a few places cannot stand for all. */
static const char *run_launch(struct prediction_job *p, int *n_places, struct prediction *result,
                              struct predictor_sums *out) {
    /* a short budget is for the places that follow, too */
    const double long_probe = 10e6, quarter = left_of(p) / 4;
    const double probe = within(p, quarter > 0 ? min_of(quarter, long_probe) : long_probe);
    const double few_a_place = 4, most = 250e6;
    const char *why = at_places(p, 1, p->options->is_full ? 1e300 : probe, true, NULL, out);
    if (why) return why;
    share(p, out);
    const double small = within(p, 16e6), whole = within(p, 120e6);
    const double budget = within(p, p->options->budget > 0 ? p->options->budget : 80e6);
    bool few_tiles = out->tiles > 0 && out->tiles <= few_a_place;
    bool all = p->options->is_full || out->work * (double)p->busy <= (few_tiles ? whole : small);
    double n = all ? (double)p->busy : min_of(budget / out->work, (double)p->busy);
    *n_places = n < 2 ? 2 : n > 8 && n < (double)p->busy ? 8 : (int)n;
    int few = p->options->places;
    if (few && *n_places > few) *n_places = few;
    if ((uint64_t)*n_places > p->busy) *n_places = (int)p->busy;
    bool some = (uint64_t)*n_places < p->busy || is_crowded(p);
    if (some && p->n > p->busy && p->resident > 1 && parts_of(p, 2) > 1) find_speeds(p);
    double limit = p->options->is_full ? 1e300 : few ? most / 5 : most;
    return at_places(p, *n_places, limit, false, result, out);
}

void prediction_close(struct prediction *p) {
    free(p->by_inst);
    p->by_inst = NULL;
}

static bool uses_tensor_cores(const struct sass_kernel *k) {
    for (int i = 0; i < k->n_inst; i++)
        if (k->inst[i].pipe == SASS_PIPE_TENSOR || k->inst[i].pipe == SASS_PIPE_GMMA) return true;
    return false;
}

/* Elapsed cycles by the clock rates of all GPCs, from the ends of all places. */
static struct gpc_time elapsed_of(const struct prediction_job *p) {
    uint32_t size = p->grid->cluster_size;
    uint64_t n = p->busy * size;
    double *end = heap_zeroed(n, sizeof *end);
    for (uint64_t i = 0; i < n; i++) end[i] = p->end[i / size];
    struct gpc_time time = gpc_elapsed(p->chip, end, n, p->slow, p->options->mhz);
    free(end);
    return time;
}

const char *predict_launch(const struct predictor_chip *boost, struct sass_grid *g,
                           const struct predictor_options *o, struct prediction *out) {
    uint32_t threads = g->block[0] * g->block[1] * g->block[2];
    struct predictor_chip chip = *boost;
    const struct predictor_chip *c = &chip;
    struct prediction_job p = {.chip = c,
                               .grid = g,
                               .options = o,
                               .slow = uses_tensor_cores(g->kernel),
                               .resident =
                                   predictor_ctas_per_sm(c, g->kernel, threads, g->shared_bytes),
                               .n = g->n_ctas / g->cluster_size};
    struct predictor_sums total = {0};
    int n_places = 0;
    double began = seconds();
    if (p.slow) gpc_slow_chip(&chip);
    if (c->is_ada && !sass_is_ada(g->kernel))
        return reason("code of sm_90a, and the chip is of Ada: compile '%s' for sm_89",
                      g->kernel->name);
    if (!c->is_ada && sass_is_ada(g->kernel))
        return reason("code of sm_89, and the chip is of Hopper: compile '%s' for sm_90a",
                      g->kernel->name);
    if (!p.resident) return reason("not one CTA of '%s' fits an SM", g->kernel->name);
    p.busy = (uint64_t)c->sms / g->cluster_size;
    if (p.busy > p.n) p.busy = p.n;
    *out = (struct prediction){0};
    out->by_inst = heap_zeroed((size_t)g->kernel->n_inst, sizeof *out->by_inst);
    p.each_inst = heap_zeroed((size_t)g->kernel->n_inst, sizeof *p.each_inst);
    p.cycles = heap_zeroed(p.n, sizeof *p.cycles);
    p.end = heap_zeroed(p.busy, sizeof *p.end);
    for (int i = 0; i <= SM_CTAS; i++) p.speed[i] = 1;
    const char *why = run_launch(&p, &n_places, out, &total);
    struct gpc_time time = {0};
    if (!why) time = elapsed_of(&p);
    free(p.each_inst);
    free(p.cycles);
    free(p.end);
    for (int i = 0; i < p.footprint.n; i++) {
        free(p.footprint.range[i].touched);
        free(p.footprint.range[i].by);
        free(p.footprint.range[i].sectors);
        free(p.footprint.range[i].written);
        free(p.footprint.range[i].chunk);
    }
    if (why) {
        prediction_close(out);
        *out = (struct prediction){.work = p.work};
        return why;
    }
    double weight = (double)p.busy / n_places, outside = c->launch_overhead - c->cta_spread;
    *out = (struct prediction){.by_inst = out->by_inst,
                               .elapsed = time.elapsed + outside,
                               .boost = time.boost + outside,
                               .active = weight * total.active / c->sms,
                               .issue_active_pct = 100 * total.issued / SM_SMSPS / total.active,
                               .tensor_active_pct = 100 * total.tensor / total.active,
                               .warps = total.warp_cycles / total.active,
                               .instructions = weight * total.issued,
                               .prints = total.prints,
                               .wavefronts = weight * total.wavefronts,
                               .sectors = weight * total.sectors,
                               .l2_sectors = weight * total.l2_sectors,
                               .ctas_per_sm = p.resident,
                               .done = total.done,
                               .simulated = total.done * n_places / (double)p.busy,
                               .host_seconds = seconds() - began,
                               .work = p.work,
                               .n_ranges = p.footprint.n};
    memcpy(out->range, p.range, sizeof out->range);
    out->occupancy_pct = 100 * out->warps / c->sm_warps;
    for (int k = 0; k < PREDICTOR_REASONS; k++) out->stall[k] = total.reason[k] / total.issued;
    return NULL;
}
