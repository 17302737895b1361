#include "predict.h"

#include "common/base/reason.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct timing_front timing_sass = {.next = sass_next,
                                         .waits = sass_waits,
                                         .step = sass_step,
                                         .deliver = sass_deliver,
                                         .warp = sass_cta_warp,
                                         .fault = sass_fault,
                                         .wavefronts = sass_wavefronts,
                                         .sectors = sass_sectors,
                                         .tma_rows = sass_tma_rows};

enum { MAX_CLUSTER = 16 };

enum { MAX_RANGES = 64 };

/* What a launch reads of global memory, as whole allocations. What does not fit L2 is read from
 * DRAM once, by whichever SM comes first: of all requests, the share `cold`. */
struct footprint {
    int n;
    uint64_t begin[MAX_RANGES], bytes[MAX_RANGES];
    double cold;
};

/* Room for one cluster on its SMs. */
struct seat {
    int left; /* CTAs that have not ended */
    struct sass_cta *cta[MAX_CLUSTER];
};

/* One simulation: some of the places for clusters, each of cluster_size SMs. Clusters (and tiles
 * from a counter) go to whoever is free first, as on the chip; with fewer places than the chip has
 * busy, only every `stride`-th is there. */
struct run {
    const struct timing_chip *chip;
    struct sass_grid *grid;
    struct machine machine;
    struct footprint *footprint;
    int n_places, resident; /* simulated; clusters that one holds */
    double stride;          /* busy places of the chip for each simulated one */
    uint64_t next, tiles;   /* clusters begun; tiles given out by a counter */
    uint64_t n_clusters, ended;
    struct seat *seat; /* n_places x resident */
    double deadline;   /* give up then: host seconds; 0: never */
    const struct timing_options *options;
};

static double min_of(double a, double b) { return a < b ? a : b; }

int timing_ctas_per_sm(const struct timing_chip *c, const struct sass_kernel *k, uint32_t threads,
                       uint32_t dynamic_shared) {
    int warps = (int)(threads + 31) / 32, per_warp = (k->n_registers * 32 + 255) / 256 * 256;
    int warps_by_registers = per_warp ? (int)c->sm_registers / SM_SMSPS / per_warp * SM_SMSPS : 64;
    double shared = k->static_shared + dynamic_shared + c->cta_shared_reserved;
    double n = min_of(c->sm_ctas, (int)c->sm_warps / warps);
    n = min_of(n, warps_by_registers / warps);
    n = min_of(n, (int)(c->sm_shared_bytes / shared));
    return (int)n;
}

/* ---- Places for clusters ------------------------------------------------------------------------ */

static uint64_t strided(const struct run *r, uint64_t n) {
    return r->stride == 1 ? n : (uint64_t)(((double)n + 0.5) * r->stride);
}

static void begin_cluster(struct run *r, int place, struct seat *seat, uint64_t at) {
    struct machine *m = &r->machine;
    uint64_t cluster = strided(r, r->next);
    uint32_t size = r->grid->cluster_size;
    if (cluster >= r->n_clusters) return;
    r->next++;
    const char *why = size > 1 ? sass_cluster_begin(r->grid, cluster, seat->cta)
                               : sass_cta_begin(r->grid, cluster, &seat->cta[0]);
    if (why) {
        m->why = why;
        return;
    }
    seat->left = (int)size;
    for (int i = 0; i < seat->left; i++)
        machine_place(m, place * (int)size + i, seat->cta[i], sass_cta_warps(seat->cta[i]), at);
}

static void cta_ended(void *user, struct machine *m, struct sm_cta *cta) {
    struct run *r = user;
    uint32_t size = r->grid->cluster_size;
    int place = (int)((cta->sm - m->sm) / size);
    for (int s = 0; s < r->resident; s++) {
        struct seat *seat = &r->seat[place * r->resident + s];
        for (uint32_t i = 0; seat->left && i < size; i++) {
            if (seat->cta[i] != cta->cta) continue;
            if (--seat->left) return;
            for (uint32_t k = 0; k < size; k++) sass_cta_end(seat->cta[k]);
            r->ended++;
            begin_cluster(r, place, seat, m->now + (uint64_t)r->chip->cta_launch);
            return;
        }
    }
}

/* A counter from which persistent CTAs take their tiles. */
static bool tile_counter(void *user, struct sass_warp *w, const struct sass_inst *i, int lane,
                         uint64_t address, uint32_t *value) {
    struct run *r = user;
    (void)w, (void)i, (void)lane;
    uint32_t *counter = emu_memory_at(r->grid->memory, address, 4);
    uint64_t chip_places = (uint64_t)r->chip->sms / r->grid->cluster_size;
    if (!counter || *value != 1 || r->n_clusters != chip_places) return false;
    *value = *counter + (uint32_t)strided(r, r->tiles++);
    return true;
}

/* The allocation around an address, by asking what lies in one. */
static uint64_t grow(struct emu_memory *m, uint64_t at, bool down) {
    uint64_t good = 0;
    for (uint64_t step = 1ull << 36; step; step >>= 1) {
        uint64_t n = good + step, from = down ? at - n : at;
        if ((!down || n <= at) && emu_memory_at(m, from, down ? n + 1 : n)) good = n;
    }
    return good;
}

static bool from_dram(void *user, uint64_t sector) {
    struct run *r = user;
    struct footprint *f = r->footprint;
    uint64_t at = sector * 32;
    if (f->cold > 0) { /* by 4 KiB, spread evenly */
        uint64_t hash = (at >> 12) * 0x9e3779b97f4a7c15ull + r->machine.now / 1024;
        return (double)(hash >> 40) < f->cold * (1 << 24);
    }
    for (int i = f->n - 1; i >= 0; i--)
        if (at - f->begin[i] < f->bytes[i]) return false;
    if (f->n == MAX_RANGES || !emu_memory_at(r->grid->memory, at, 1)) return false;
    f->begin[f->n] = at - grow(r->grid->memory, at, true);
    f->bytes[f->n] = at - f->begin[f->n] + grow(r->grid->memory, at, false);
    f->n++;
    return false;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Spans of the CTA that began first. */
static void told(void *user, const struct sm_warp *w, int reason, uint64_t from, uint64_t to) {
    const struct run *r = user;
    const struct timing_options *o = r->options;
    if (w->cta == &r->machine.sm[0].cta[0] && !w->cta->began)
        o->span(o->user, w->index, w->inst->pc, reason, from, to);
}

static bool late(void *user) {
    const struct run *r = user;
    const struct timing_options *o = r->options;
    if (!r->deadline && o->progress)
        o->progress(o->user, (double)r->ended * r->stride / (double)r->n_clusters);
    return r->deadline > 0 && r->ended && seconds() > r->deadline;
}

static const char *simulate(struct run *r, double busy) {
    struct machine *m = &r->machine;
    int n_sms = r->n_places * (int)r->grid->cluster_size;
    const char *why = machine_open(m, r->chip, &timing_sass, r->grid->kernel, n_sms);
    if (why) return why;
    m->l2_rate = min_of(r->chip->l2_sm_bytes_per_clk, r->chip->l2_bytes_per_clk / busy);
    m->dram_rate = min_of(m->l2_rate, r->chip->dram_bytes_per_ns * 1e3 / r->options->mhz / busy);
    m->ended = cta_ended;
    m->is_dram = from_dram;
    m->stop = late;
    if (!r->deadline && r->options->span) m->span = told;
    m->user = r;
    for (int i = 0; i < n_sms; i++) {
        double used = r->chip->l1_total_bytes -
                      r->resident * (r->grid->kernel->static_shared + r->grid->shared_bytes +
                                     r->chip->cta_shared_reserved);
        m->sm[i].n_ways = used > 0 ? (int)(used / SM_L1_SETS / SM_LINE_BYTES) : 0;
        if (m->sm[i].n_ways > SM_L1_WAYS) m->sm[i].n_ways = SM_L1_WAYS;
    }
    r->grid->deferred = SASS_DEFER_ALL;
    r->grid->user = r;
    r->grid->atomic = tile_counter;
    for (int slot = 0; slot < r->resident; slot++)
        for (int p = 0; p < r->n_places; p++)
            begin_cluster(r, p, &r->seat[p * r->resident + slot], 0);
    machine_run(m);
    return m->why;
}

/* ---- The launch -------------------------------------------------------------------------------- */

/* Sums over the simulated SMs. */
struct sums {
    double active, elapsed, issued, tensor, warp_cycles, wavefronts, sectors, l2_sectors;
    double reason[TIMING_REASONS];
    double done; /* the share of the launch that was simulated until the deadline */
};

struct prediction {
    const struct timing_chip *chip;
    struct sass_grid *grid;
    const struct timing_options *options;
    int resident;
    uint64_t busy, n; /* places in use on the chip; clusters */
    struct footprint footprint;
};

static void sum(const struct machine *m, struct sums *out) {
    *out = (struct sums){.elapsed = (double)m->now,
                         .wavefronts = (double)m->counts.wavefronts,
                         .sectors = (double)m->counts.sectors,
                         .l2_sectors = (double)m->counts.l2_sectors};
    for (int k = 0; k < TIMING_REASONS; k++) out->reason[k] = (double)m->counts.reason[k];
    for (int i = 0; i < m->n_sms; i++) {
        const struct sm *s = &m->sm[i];
        out->active += (double)s->active;
        out->tensor += (double)s->gmma_cycles;
        out->warp_cycles += (double)s->warp_cycles;
        for (int k = 0; k < SM_SMSPS; k++) {
            out->issued += (double)s->smsp[k].issued;
            out->tensor += (double)s->smsp[k].tensor_cycles / SM_SMSPS;
        }
    }
}

static const char *at_places(struct prediction *p, int n_places, double deadline,
                             struct timing_prediction *result, struct sums *out) {
    struct run *r = calloc(1, sizeof *r);
    struct seat *seat = calloc((size_t)(n_places * p->resident), sizeof *seat);
    const char *why = r && seat ? NULL : "no memory for the clock";
    if (!why) {
        *r = (struct run){.chip = p->chip,
                          .grid = p->grid,
                          .footprint = &p->footprint,
                          .n_places = n_places,
                          .resident = p->resident,
                          .stride = (double)p->busy / n_places,
                          .n_clusters = p->n,
                          .seat = seat,
                          .deadline = deadline,
                          .options = p->options};
        why = simulate(r, (double)(p->busy * p->grid->cluster_size));
        sum(&r->machine, out);
        for (int i = 0; result && r->machine.counts.by_inst && i < p->grid->kernel->n_inst; i++)
            for (int k = 0; k < TIMING_REASONS; k++)
                result->by_inst[i][k] = r->stride * (double)r->machine.counts.by_inst[i][k];
        out->done = r->machine.stopped ? (double)r->ended * r->stride / (double)p->n : 1;
        for (int s = 0; s < n_places * p->resident; s++)
            for (int i = 0; i < MAX_CLUSTER; i++)
                if (seat[s].left && seat[s].cta[i]) sass_cta_end(seat[s].cta[i]);
        machine_close(&r->machine);
    }
    free(seat);
    free(r);
    return why;
}

/* The share of requests that DRAM must answer. */
static double cold_share(const struct prediction *p, const struct sums *one) {
    double bytes = 0, requests = 32 * one->l2_sectors * (double)p->busy / one->done;
    for (int i = 0; i < p->footprint.n; i++) bytes += (double)p->footprint.bytes[i];
    return bytes <= p->chip->l2_bytes ? 0 : min_of(1, bytes / requests);
}

/* One place tells what the others cost and how much of what they read is cold. */
static const char *run_launch(struct prediction *p, int *n_places, struct timing_prediction *result,
                              struct sums *out) {
    enum { PROBE_SECONDS = 2, SMALL_SECONDS = 3, BUDGET_SECONDS = 16 };
    double began = seconds();
    double budget = p->options->budget_s > 0 ? p->options->budget_s : BUDGET_SECONDS;
    const char *why = at_places(p, 1, began + PROBE_SECONDS, NULL, out);
    double one = (seconds() - began) / out->done;
    if (why) return why;
    p->footprint.cold = cold_share(p, out);
    double n = one * (double)p->busy <= SMALL_SECONDS ? (double)p->busy : budget / one;
    *n_places = n < 2 ? 2 : n > 8 && n < (double)p->busy ? 8 : (int)n;
    if ((uint64_t)*n_places > p->busy) *n_places = (int)p->busy;
    return at_places(p, *n_places, 0, result, out);
}

void timing_prediction_close(struct timing_prediction *p) {
    free(p->by_inst);
    p->by_inst = NULL;
}

const char *timing_predict(const struct timing_chip *c, struct sass_grid *g,
                           const struct timing_options *o, struct timing_prediction *out) {
    uint32_t threads = g->block[0] * g->block[1] * g->block[2];
    struct prediction p = {.chip = c,
                           .grid = g,
                           .options = o,
                           .resident = timing_ctas_per_sm(c, g->kernel, threads, g->shared_bytes),
                           .n = g->n_ctas / g->cluster_size};
    struct sums total = {0};
    int n_places = 0;
    double began = seconds();
    if (!p.resident) return reason("not one CTA of '%s' fits an SM", g->kernel->name);
    p.busy = (uint64_t)c->sms / g->cluster_size;
    if (p.busy > p.n) p.busy = p.n;
    *out = (struct timing_prediction){0};
    out->by_inst = calloc((size_t)g->kernel->n_inst, sizeof *out->by_inst);
    const char *why = out->by_inst ? run_launch(&p, &n_places, out, &total) : "no memory";
    if (why) {
        timing_prediction_close(out);
        return why;
    }
    double weight = (double)p.busy / n_places;
    *out =
        (struct timing_prediction){.by_inst = out->by_inst,
                                   .elapsed = total.elapsed + c->launch_overhead,
                                   .active = weight * total.active / c->sms,
                                   .issue_active_pct = 100 * total.issued / SM_SMSPS / total.active,
                                   .tensor_active_pct = 100 * total.tensor / total.active,
                                   .warps = total.warp_cycles / total.active,
                                   .instructions = weight * total.issued,
                                   .wavefronts = weight * total.wavefronts,
                                   .sectors = weight * total.sectors,
                                   .l2_sectors = weight * total.l2_sectors,
                                   .ctas_per_sm = p.resident,
                                   .host_seconds = seconds() - began};
    out->occupancy_pct = 100 * out->warps / c->sm_warps;
    for (int k = 0; k < TIMING_REASONS; k++) out->stall[k] = total.reason[k] / total.issued;
    return NULL;
}
