/* A grid: its blocks run on host threads, each with one block structure that it uses again and again. */
#include "internal.h"

#include "reason.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct work {
    struct emu_launch_state launch;
    _Atomic uint64_t next_block;
    uint64_t n_blocks;
    atomic_bool stop;
    struct emu_kernel_counts *counts;
    pthread_mutex_t lock; /* of counts, and of what follows */
    const char *failed;   /* static text */
};

static size_t round64(size_t n) { return (n + 63) & ~(size_t)63; }

static void *zeroed(size_t bytes) {
    void *at = aligned_alloc(64, round64(bytes ? bytes : 1));
    return at ? memset(at, 0, round64(bytes ? bytes : 1)) : NULL;
}

/* ---- Block structures ---------------------------------------------------------------------------------------- */

static void block_free(struct emu_block *b) {
    if (!b) return;
    emu_async_free(b);
    for (int n = 0; b->warp && n < b->n_warps; n++) {
        free(b->warp[n].rows);
        free(b->warp[n].local);
        free(b->warp[n].taint);
    }
    if (b->shadow) emu_shadow_close(b->shadow);
    free(b->warp);
    free(b->shared);
    free(b);
}

static struct emu_block *block_open(const struct emu_launch_state *launch, struct emu_count *count,
                                    struct emu_pattern **pattern) {
    const struct emu_kernel *k = launch->kernel;
    struct emu_block *b = zeroed(sizeof *b);
    if (!b) return NULL;
    b->launch = launch;
    b->kernel = k;
    b->n_threads = launch->block[0] * launch->block[1] * launch->block[2];
    b->n_warps = (int)(b->n_threads + EMU_LANES - 1) / EMU_LANES;
    b->shared_bytes = launch->shared_bytes;
    b->shared = zeroed(b->shared_bytes + 64u);
    b->warp = zeroed((size_t)b->n_warps * sizeof *b->warp);
    bool ok = b->shared && b->warp;
    if (ok && !launch->options->no_checks) ok = (b->shadow = emu_shadow_open(b->shared_bytes));
    for (int n = 0; ok && n < b->n_warps; n++) {
        struct emu_warp *w = &b->warp[n];
        w->block = b;
        w->index = (uint32_t)n;
        w->count = count;
        w->pattern = pattern;
        w->rows = zeroed(k->row_bytes);
        w->local = zeroed((size_t)k->local_bytes * EMU_LANES + 64);
        ok = w->rows && w->local;
    }
    if (ok) return b;
    block_free(b);
    return NULL;
}

static void set_row(struct emu_warp *w, enum emu_special row, uint32_t value) {
    uint32_t *r = emu_row32(w, EMU_SPECIAL + 128 * (uint32_t)row);
    for (int l = 0; l < EMU_LANES; l++) r[l] = value;
}

static void warp_begin(struct emu_warp *w) {
    const struct emu_block *b = w->block;
    const struct emu_launch_state *s = b->launch;
    if (!w->begun) memcpy(w->rows, b->kernel->row_init, b->kernel->row_bytes);
    w->begun = true;
    for (unsigned d = 0; d < 3; d++) {
        set_row(w, EMU_NTID_X + d, s->block[d]);
        set_row(w, EMU_NCTAID_X + d, s->grid[d]);
        set_row(w, EMU_CTAID_X + d, b->id[d]);
    }
    set_row(w, EMU_WARPID, w->index);
    set_row(w, EMU_NWARPID, (uint32_t)b->n_warps);
    set_row(w, EMU_NSMID, (uint32_t)s->chip->n_sms);
    set_row(w, EMU_SMID, (uint32_t)(b->linear % (uint64_t)s->chip->n_sms));
    set_row(w, EMU_DYNAMIC_SMEM, s->shared_bytes - b->kernel->static_shared);
    set_row(w, EMU_TOTAL_SMEM, s->shared_bytes);
    w->live = 0;
    for (uint32_t l = 0; l < EMU_LANES; l++) {
        uint32_t t = w->index * EMU_LANES + l;
        if (t >= b->n_threads) break;
        w->live |= 1u << l;
        emu_row32(w, EMU_SPECIAL + 128 * EMU_TID_X)[l] = t % s->block[0];
        emu_row32(w, EMU_SPECIAL + 128 * EMU_TID_Y)[l] = t / s->block[0] % s->block[1];
        emu_row32(w, EMU_SPECIAL + 128 * EMU_TID_Z)[l] = t / s->block[0] / s->block[1];
    }
    w->resumed = w->progressed = false;
    w->spins = 0;
    w->tainted = false;
    if (w->taint) memset(w->taint, 0, b->kernel->row_bytes / 4 * sizeof *w->taint);
    memset(w->pending_taint, 0, sizeof w->pending_taint);
    w->n_groups = 1;
    w->group[0] = (struct emu_group){.mask = w->live};
    w->now = w->group;
    memset(&w->clock, 0, sizeof w->clock);
    w->early = b->shadow && s->overlaps ? EMU_FULL : 0;
}

/* Registers that a block may hand around by setmaxnreg: what launch bounds give each thread. */
static uint32_t registers_per_thread(const struct emu_launch_state *s, uint32_t n_threads) {
    uint32_t n = (uint32_t)s->chip->registers_per_sm / (n_threads ? n_threads : 1) / 8 * 8;
    if (s->kernel->max_registers && (uint32_t)s->kernel->max_registers < n)
        n = (uint32_t)s->kernel->max_registers;
    return n > 255 ? 255 : n;
}

static void block_begin(struct emu_block *b, uint64_t linear) {
    const struct emu_launch_state *s = b->launch;
    b->linear = linear;
    b->id[0] = (uint32_t)(linear % s->grid[0]);
    b->id[1] = (uint32_t)(linear / s->grid[0] % s->grid[1]);
    b->id[2] = (uint32_t)(linear / s->grid[0] / s->grid[1]);
    b->n_live = b->n_threads;
    b->stopped = false;
    b->ticks = 0;
    b->free_registers = 0;
    memset(b->barrier, 0, sizeof b->barrier);
    memset(b->shared, 0xff, b->shared_bytes); /* NaN in every type: nobody may rely on zeros */
    for (int n = 0; n < b->n_warps; n++) {
        warp_begin(&b->warp[n]);
        b->warp[n].n_registers = registers_per_thread(s, b->n_threads);
    }
    if (b->shadow) emu_shadow_reset(b);
    emu_async_begin(b);
}

/* ---- Host threads ---------------------------------------------------------------------------------------------- */

static void add_counts(struct emu_count *sum, struct emu_count *part, int n) {
    for (int i = 0; i < n; i++) {
        sum[i].executed += part[i].executed;
        sum[i].lanes_off += part[i].lanes_off;
        sum[i].wavefronts += part[i].wavefronts;
        sum[i].wavefronts_ideal += part[i].wavefronts_ideal;
        sum[i].sectors += part[i].sectors;
        sum[i].sectors_ideal += part[i].sectors_ideal;
        sum[i].bytes += part[i].bytes;
        sum[i].splits += part[i].splits;
    }
}

static void *worker(void *argument) {
    struct work *work = argument;
    int n_inst = work->launch.kernel->n_inst;
    struct emu_count *count = zeroed((size_t)n_inst * sizeof *count);
    struct emu_pattern **pattern = calloc((size_t)n_inst, sizeof *pattern);
    struct emu_block *b = count && pattern ? block_open(&work->launch, count, pattern) : NULL;
    while (b && !atomic_load_explicit(&work->stop, memory_order_relaxed)) {
        uint64_t linear = atomic_fetch_add(&work->next_block, 1);
        if (linear >= work->n_blocks) break;
        uint64_t random = work->launch.options->seed * 0x9e3779b97f4a7c15u + linear;
        block_begin(b, linear);
        emu_run_block(b, &random);
        emu_async_end(b);
        if (b->stopped) atomic_store(&work->stop, true);
    }
    pthread_mutex_lock(&work->lock);
    if (!b)
        work->failed = "no memory for a block";
    else
        add_counts(work->counts->count, count, n_inst);
    pthread_mutex_unlock(&work->lock);
    block_free(b);
    for (int pc = 0; pattern && pc < n_inst; pc++) free(pattern[pc]);
    free(pattern);
    free(count);
    return NULL;
}

static void run_all(struct work *work) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int n = work->launch.options->n_threads > 0 ? work->launch.options->n_threads
                                                : (int)(cores > 0 ? cores : 1);
    if (work->launch.events) n = 1;
    if ((uint64_t)n > work->n_blocks) n = (int)work->n_blocks;
    if (n > 256) n = 256;
    pthread_t thread[256];
    int started = 0;
    while (started < n - 1 && pthread_create(&thread[started], NULL, worker, work) == 0) started++;
    worker(work);
    for (int t = 0; t < started; t++) pthread_join(thread[t], NULL);
}

/* ---- Launches -------------------------------------------------------------------------------------------------- */

static const char *check_launch(const struct emu_kernel *k, const struct emu_grid *g,
                                const struct chip *chip) {
    uint64_t threads = (uint64_t)g->block[0] * g->block[1] * g->block[2];
    uint64_t cluster = (uint64_t)(g->cluster[0] ? g->cluster[0] : 1) *
                       (g->cluster[1] ? g->cluster[1] : 1) * (g->cluster[2] ? g->cluster[2] : 1);
    if (!g->grid[0] || !g->grid[1] || !g->grid[2]) return reason("%s: the grid is empty", k->name);
    if (g->grid[0] > 0x7fffffff || g->grid[1] > 65535 || g->grid[2] > 65535)
        return reason("%s: grid %u x %u x %u is beyond 2^31-1 x 65535 x 65535", k->name, g->grid[0],
                      g->grid[1], g->grid[2]);
    if (threads == 0 || threads > 1024 || g->block[2] > 64)
        return reason("%s: %llu threads in a block; 1 to 1024 are possible", k->name,
                      (unsigned long long)threads);
    if (k->max_threads && threads > (uint64_t)k->max_threads)
        return reason("%s: %llu threads in a block, but __launch_bounds__ says %d", k->name,
                      (unsigned long long)threads, k->max_threads);
    if (cluster > 1) return reason("%s: the emulator has clusters of one block only", k->name);
    uint64_t shared = (uint64_t)k->static_shared + g->shared_bytes;
    if (shared > (uint64_t)chip->shared_per_block)
        return reason("%s: %llu bytes of shared memory; a block on %s has %d", k->name,
                      (unsigned long long)shared, chip->name, chip->shared_per_block);
    if (g->n_args != k->n_params)
        return reason("%s: %d arguments, the kernel takes %d", k->name, g->n_args, k->n_params);
    for (int a = 0; a < g->n_args; a++)
        if (g->arg_bytes[a] != k->param_size[a])
            return reason("%s: argument %d has %zu bytes, the kernel takes %u", k->name, a,
                          g->arg_bytes[a], k->param_size[a]);
    return NULL;
}

static struct emu_kernel_counts *counts_of(struct emu_result *r, const struct emu_kernel *k) {
    struct emu_kernel_counts **at = &r->kernels;
    while (*at && (*at)->kernel != k) at = &(*at)->next;
    if (*at) return *at;
    struct emu_kernel_counts *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->kernel = k;
    c->count = zeroed((size_t)k->n_inst * sizeof *c->count);
    if (!c->count) {
        free(c);
        return NULL;
    }
    return *at = c;
}

const char *emu_launch(struct emu_memory *m, const struct emu_kernel *k, const struct emu_grid *g,
                       const struct chip *chip, const struct emu_options *o, struct emu_result *r) {
    const char *why = check_launch(k, g, chip);
    if (why) return why;
    struct emu_kernel altered = *k; /* what runs */
    if (o->without && (why = emu_without(k, o->without, &altered))) return why;
    uint64_t param = 0;
    why = emu_memory_alloc(m, k->param_bytes ? k->param_bytes : 1, &param);
    if (why) goto done;
    struct work work = {.launch = {.kernel = &altered,
                                   .options = o,
                                   .memory = m,
                                   .chip = chip,
                                   .overlaps = g->overlaps_previous,
                                   .reports = &r->reports},
                        .n_blocks = (uint64_t)g->grid[0] * g->grid[1] * g->grid[2]};
    for (int d = 0; d < 3; d++) {
        work.launch.grid[d] = g->grid[d];
        work.launch.block[d] = g->block[d];
    }
    work.launch.shared_bytes = k->dynamic_offset > k->static_shared && g->shared_bytes
                                   ? k->dynamic_offset + g->shared_bytes
                                   : k->static_shared + g->shared_bytes;
    emu_memory_next_launch(m, g->overlaps_previous);
    work.launch.param = emu_memory_at(m, param, 1);
    for (int a = 0; a < g->n_args; a++)
        memcpy(work.launch.param + k->param_offset[a], g->arg[a], g->arg_bytes[a]);
    struct emu_trace trace;
    if (emu_trace_open(&trace, o)) work.launch.events = &trace.events;
    work.counts = counts_of(r, k);
    pthread_mutex_init(&work.lock, NULL);
    if (work.counts)
        run_all(&work);
    else
        work.failed = "no memory for counters";
    pthread_mutex_destroy(&work.lock);
    emu_memory_free(m, param);
    if (work.failed) {
        why = reason("%s: %s", k->name, work.failed);
        goto done;
    }
    work.counts->launches++;
    work.counts->blocks += work.n_blocks;
    work.counts->threads = (uint64_t)g->block[0] * g->block[1] * g->block[2];
    if (o->without && !strcmp(o->without, "list")) emu_without_list(k, work.counts->count);
done:
    if (altered.inst != k->inst) free(altered.inst);
    return why;
}

/* ---- Results --------------------------------------------------------------------------------------------------- */

const char *emu_result_open(struct emu_result **out) {
    *out = calloc(1, sizeof **out);
    if (!*out) return reason("no memory for the emulator's result");
    pthread_mutex_init(&(*out)->reports.lock, NULL);
    return NULL;
}

void emu_result_clear(struct emu_result *r) {
    emu_reports_clear(&r->reports);
    for (struct emu_kernel_counts *c = r->kernels, *next; c; c = next) {
        next = c->next;
        free(c->count);
        free(c);
    }
    r->kernels = NULL;
}

void emu_result_close(struct emu_result *r) {
    if (!r) return;
    emu_result_clear(r);
    pthread_mutex_destroy(&r->reports.lock);
    free(r);
}

int emu_kernel_static_shared(const struct emu_kernel *k) { return (int)k->static_shared; }
int emu_kernel_local_bytes(const struct emu_kernel *k) { return (int)k->local_bytes; }
int emu_kernel_max_threads(const struct emu_kernel *k) { return k->max_threads; }
