/* Steps of a warp: one instruction, many, or a whole launch. */
#include "exec.h"

#include "common/base/heap.h"
#include "common/base/reason.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline const struct sass_exec *at_pc(const struct sass_warp *w) {
    return &sass_code(w->cta->grid->kernel)->exec[w->pc];
}

/* Executes the instruction at pc; sets the next place. */
static inline enum sass_go execute(struct sass_warp *w, const struct sass_exec *x) {
    uint32_t mask = w->active & (w->pred[x->guard] ^ x->guard_flip);
    if (w->effect) {
        w->effect->active = mask;
        w->effect->group = w->active;
    }
    if (!mask && !x->always) {
        w->pc++;
        return SASS_GO_NEXT;
    }
    enum sass_go go = x->run(w, x, x->uniform ? EMU_FULL : mask);
    if (go == SASS_GO_NEXT) w->pc++;
    return go;
}

const struct sass_inst *sass_next(const struct sass_warp *w) {
    return w->live ? &w->cta->grid->kernel->inst[w->pc] : NULL;
}

enum sass_wait_kind sass_waits(const struct sass_warp *w) {
    const struct sass_exec *x = at_pc(w);
    struct sass_warp *own = (struct sass_warp *)w;
    uint32_t mask = w->active & (w->pred[x->guard] ^ x->guard_flip);
    if (!w->live) return SASS_WAIT_NONE;
    if (w->at_bar) return sass_bar_done(w) ? SASS_WAIT_NONE : SASS_WAIT_BAR;
    for (int g = 0; g < w->n_others; g++)
        if (!w->other[g].blocked) return SASS_WAIT_NONE; /* others may run: the step finds out */
    if (!mask) return SASS_WAIT_NONE;
    if (x->run == sass_cluster_wait)
        return sass_cluster_done(w) ? SASS_WAIT_NONE : SASS_WAIT_CLUSTER;
    if (x->run == sass_setmaxreg_alloc) {
        uint32_t more = x->imm > w->n_registers ? (x->imm - w->n_registers) * 32 : 0;
        return more > w->cta->free_registers ? SASS_WAIT_REGISTERS : SASS_WAIT_NONE;
    }
    if (x->run == sass_syncs_wait && x->mode) {
        struct sass_effect *before = own->effect;
        uint32_t pred = x->pd == SASS_P_SINK ? 0 : w->pred[x->pd];
        own->effect = NULL;
        enum sass_go go = x->run(own, x, mask);
        own->effect = before;
        own->pred[x->pd] = pred;
        return go == SASS_GO_WAIT ? SASS_WAIT_MBARRIER : SASS_WAIT_NONE;
    }
    return SASS_WAIT_NONE;
}

static enum sass_status waits(struct sass_effect *e, enum sass_wait_kind kind,
                              const struct sass_inst *inst) {
    if (e) {
        e->wait = (uint8_t)kind;
        e->inst = inst;
    }
    return SASS_WAIT;
}

enum sass_status sass_step(struct sass_warp *w, struct sass_effect *e) {
    const struct sass_exec *x;
    enum sass_go go;
    w->effect = e;
    if (!w->live) return SASS_EXITED;
    if (e) {
        e->warp = w;
        e->n_events = 0;
        e->constants = e->prints = 0;
        e->sleeps = 0;
        e->wait = SASS_WAIT_NONE;
        e->taken = e->diverged = e->waits = e->deferred = false;
    }
    if (w->at_bar) {
        if (!sass_bar_done(w)) return waits(e, SASS_WAIT_BAR, w->bar_inst);
        w->at_bar = 0;
    }
    for (int tries = 0;; tries++) { /* other groups of lanes may run while this one waits */
        x = at_pc(w);
        if (e) {
            e->inst = x->inst;
            e->memory = x->inst->memory;
        }
        go = execute(w, x);
        if (go != SASS_GO_WAIT) break;
        if (tries == w->n_others || !sass_rotate(w)) return waits(e, w->waits_for, x->inst);
    }
    if (go == SASS_GO_FAULT) return SASS_FAULT;
    w->cta->ticks++;
    if (e) e->next_pc = w->pc * 16;
    return SASS_ISSUED;
}

/* ---- Without the predictor ------------------------------------------------------------------- */

static void account(struct sass_counts *c, const struct sass_effect *e) {
    struct sass_access *a = &c->access[e->memory];
    uint32_t ideal;
    uint64_t sector[64];
    if (!e->active) return;
    a->n++;
    a->wavefronts += sass_wavefronts(e, &ideal);
    a->wavefronts_ideal += ideal;
    a->sectors += sass_sectors(e, sector);
    a->sectors_ideal += sass_sectors_ideal(e);
}

/* A warp's most instructions in a turn, and in a loop that may only look at memory. */
enum { SLICE = 1 << 16, LOOP = 1 << 10 };

/* Steps until the warp waits, exits or fails, or for a slice. *progress: it did something. */
static enum sass_status run_on(struct sass_warp *w, uint64_t *count, struct sass_counts *counts,
                               struct sass_effect *e, uint32_t slice, bool *progress) {
    const struct sass_exec *exec = sass_code(w->cta->grid->kernel)->exec;
    const uint64_t before = w->cta->ticks;
    enum sass_status status = SASS_ISSUED;
    w->effect = NULL;
    for (uint32_t left = slice; status == SASS_ISSUED && left; left--) {
        const struct sass_exec *x = &exec[w->pc];
        const uint32_t pc = w->pc, lanes = w->active;
        if (!w->live || w->at_bar || w->n_others || (counts && x->inst->memory)) {
            status = sass_step(w, counts ? e : NULL);
            if (status == SASS_ISSUED && counts) {
                count[e->inst->pc / 16]++;
                counts->threads += (uint32_t)__builtin_popcount(e->group);
                if (e->memory) account(counts, e);
            }
            w->effect = NULL;
            continue;
        }
        enum sass_go go = execute(w, x);
        if (go == SASS_GO_WAIT) {
            status = SASS_WAIT;
        } else if (go == SASS_GO_FAULT) {
            status = SASS_FAULT;
        } else {
            w->cta->ticks++;
            if (!counts) continue;
            count[pc]++;
            counts->threads += (uint32_t)__builtin_popcount(lanes);
        }
    }
    *progress |= w->cta->ticks != before;
    return status;
}

/* Is the warp in a loop that leaves it as it was? Then it looks at memory until others write there. */
static bool is_polling(struct sass_warp *w, uint64_t *count, struct sass_counts *counts,
                       struct sass_effect *e) {
    const size_t bytes = sass_code(w->cta->grid->kernel)->row_bytes;
    const struct sass_warp was = *w;
    unsigned char *rows = heap_take(bytes);
    bool progress = false, same = false;
    memcpy(rows, w->rows, bytes);
    for (int i = 0; i < LOOP && !same; i++) {
        if (run_on(w, count, counts, e, 1, &progress) != SASS_ISSUED || !w->live || w->n_others)
            break;
        same = w->pc == was.pc && w->active == was.active && !memcmp(rows, w->rows, bytes) &&
               !memcmp(was.pred, w->pred, sizeof w->pred);
    }
    free(rows);
    return same;
}

/* Each warp of the cluster until it waits, or for a slice. *left: some have not exited. */
static const char *turn(struct sass_grid *g, struct sass_cta **cta, uint64_t *count,
                        struct sass_counts *counts, struct sass_effect *e, bool *left) {
    const struct sass_warp *stuck = NULL;
    bool progress = false;
    for (uint32_t r = 0; r < g->cluster_size; r++)
        for (int n = 0; n < cta[r]->n_warps; n++) {
            struct sass_warp *w = &cta[r]->warp[n];
            if (!w->live) continue;
            const enum sass_status status = run_on(w, count, counts, e, SLICE, &progress);
            if (status == SASS_FAULT) return reason("kernel %s: %s", g->kernel->name, w->fault);
            if (status == SASS_ISSUED && w->live && is_polling(w, count, counts, e))
                return reason(
                    "kernel %s: a warp looks at memory at %#x again and again until another "
                    "one writes there, and how often depends on time",
                    g->kernel->name, 16 * w->pc);
            if (w->live) stuck = w;
        }
    *left = stuck;
    if (!stuck || progress) return NULL;
    return reason("kernel %s, block %llu: no warp can go on; warp %d is at %#x %s", g->kernel->name,
                  (unsigned long long)stuck->cta->linear, stuck->index, 16 * stuck->pc,
                  g->kernel->text[stuck->pc]);
}

/* Clusters run one after the other. If they draw tiles from a common counter, as many as an H200 has SMs take
 * turns, so that one does not take all tiles. Several host threads run clusters only if the kernel has no
 * atomics, because here an atomic is not atomic between host threads. */
enum { SMS = 132, MOST_THREADS = 64 };
static bool has(const struct sass_kernel *k, enum sass_op op) {
    for (int i = 0; i < k->n_inst; i++)
        if (k->inst[i].op == op) return true;
    return false;
}

/* Of `count` instructions each. */
static uint64_t work_of(const struct sass_kernel *k, const uint64_t *count) {
    enum { FLOP = 1024 }; /* of a register of a warp's product: 32 sums of 16 products */
    uint64_t work = 0;
    for (int i = 0; i < k->n_inst; i++) {
        const struct sass_inst *x = &k->inst[i];
        const bool multiplies = x->pipe == SASS_PIPE_TENSOR || x->pipe == SASS_PIPE_GMMA;
        work += count[i] * (multiplies ? 1 + x->dst.n * FLOP / SASS_FLOP_WORK : 1);
    }
    return work;
}

/* A host thread's. */
struct part {
    struct sass_grid *grid;
    _Atomic uint64_t *next; /* cluster to be begun */
    _Atomic uint64_t *work; /* of all parts */
    uint64_t places;
    bool is_counted;
    uint64_t *count;           /* by instruction */
    struct sass_counts counts; /* of memory */
    char why[512];             /* not "": it stopped */
};

static void run_part(struct part *p, bool counted) {
    struct sass_grid *g = p->grid;
    struct sass_cta *cta[SMS][EMU_MAX_CLUSTER];
    const uint64_t n = g->n_ctas / g->cluster_size;
    const char *why = NULL;
    struct sass_effect *e = heap_zeroed(1, sizeof *e);
    uint64_t running = 0;
    for (bool more = true; !why && (more || running);) {
        if (g->stop && g->stop()) why = "it was interrupted";
        while (more && running < p->places && !why) {
            const uint64_t next = atomic_fetch_add(p->next, 1);
            if (!(more = next < n)) break;
            if (!(why = sass_cluster_begin(g, next, cta[running]))) running++;
        }
        for (uint64_t c = 0; c < running && !why; c++) {
            bool left = false;
            if ((why = turn(g, cta[c], p->count, counted ? &p->counts : NULL, e, &left)) || left)
                continue;
            for (uint32_t r = 0; r < g->cluster_size; r++) sass_cta_end(cta[c][r]);
            memcpy(cta[c], cta[--running], sizeof cta[c]);
            c--;
        }
        const uint64_t work = counted ? work_of(g->kernel, p->count) : 0;
        const uint64_t all =
            atomic_fetch_add(p->work, work - p->counts.work) + work - p->counts.work;
        p->counts.work = work;
        if (g->most_work && all > g->most_work && !why)
            why = reason("so large a launch takes long (most are %g instructions)",
                         (double)g->most_work);
    }
    for (uint64_t c = 0; c < running; c++)
        for (uint32_t r = 0; r < g->cluster_size; r++) sass_cta_end(cta[c][r]);
    if (why) snprintf(p->why, sizeof p->why, "%s", why);
    if (why) atomic_store(p->next, n); /* the others end, too */
    free(e);
}

static void add_part(struct sass_counts *to, const struct part *p) {
    const struct sass_kernel *k = p->grid->kernel;
    to->threads += p->counts.threads;
    to->work += p->counts.work;
    for (int i = 0; i < k->n_inst; i++) {
        to->instructions += p->count[i];
        to->op[k->inst[i].op] += p->count[i];
    }
    for (int m = 0; m < SASS_MEMORIES; m++) {
        const struct sass_access *from = &p->counts.access[m];
        to->access[m].n += from->n;
        to->access[m].wavefronts += from->wavefronts;
        to->access[m].wavefronts_ideal += from->wavefronts_ideal;
        to->access[m].sectors += from->sectors;
        to->access[m].sectors_ideal += from->sectors_ideal;
    }
}

static void *run_thread(void *part) {
    struct part *p = part;
    run_part(p, p->is_counted);
    return NULL;
}

const char *sass_run(struct sass_grid *g, struct sass_counts *counts) {
    const bool draws = has(g->kernel, SASS_OP_ATOMG) || has(g->kernel, SASS_OP_ATOM);
    int n = g->n_threads < MOST_THREADS ? g->n_threads : MOST_THREADS, started = 1;
    if (n < 1 || draws || has(g->kernel, SASS_OP_REDG) || has(g->kernel, SASS_OP_RED)) n = 1;
    struct part *part = heap_zeroed((size_t)n, sizeof *part);
    pthread_t thread[MOST_THREADS];
    _Atomic uint64_t next = 0, work = 0;
    const char *why = NULL;
    for (int i = 0; i < n; i++) {
        part[i] = (struct part){.grid = g,
                                .next = &next,
                                .work = &work,
                                .places = draws ? SMS / g->cluster_size : 1,
                                .is_counted = counts != NULL};
        part[i].count = heap_zeroed((size_t)g->kernel->n_inst, sizeof *part[i].count);
    }
    /* where there is no thread to be had, the others run its clusters */
    while (started < n && !pthread_create(&thread[started], NULL, run_thread, &part[started]))
        started++;
    run_thread(&part[0]);
    for (int i = 1; i < started; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < n; i++) {
        if (*part[i].why && !why) why = reason("%s", part[i].why);
        if (counts) add_part(counts, &part[i]);
        free(part[i].count);
    }
    free(part);
    return why;
}
