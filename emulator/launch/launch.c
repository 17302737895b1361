/* A grid: its clusters of blocks run on host threads, each with one that it uses again and
 * again. */
#include "launch.h"

#include "alike.h"
#include "draw.h"
#include "threads.h"

#include "emulator/core/failed_check.h"
#include "emulator/views/trace.h"
#include "emulator/views/without.h"
#include "common/base/reason.h"
#include "common/base/heap.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct emu_kernel_counts {
    const struct emu_kernel *kernel;
    struct emu_count *count; /* n_inst */
    struct emu_kernel_counts *next;
};

struct emu_result {
    struct emu_reports reports;
    struct emu_kernel_counts *kernels;
    int n_left_out; /* instructions that --without took from the launches */
};

/* ---- Launches -------------------------------------------------------------------------------- */

/* The cluster that the kernel or the launch asks for, as the driver judges it. */
static const char *check_cluster(const struct emu_kernel *k, const struct emu_grid *g,
                                 const struct chip *chip, uint32_t cluster[3]) {
    uint64_t blocks = 1;
    bool asked = g->cluster[0] > 0;
    const uint32_t *of = asked ? g->cluster : k->cluster;
    for (int d = 0; d < 3; d++) {
        cluster[d] = of[0] ? of[d] : 1;
        if (asked && k->cluster[0] && g->cluster[d] != k->cluster[d])
            return reason("%s: the kernel is compiled for clusters of %u x %u x %u", k->name,
                          k->cluster[0], k->cluster[1], k->cluster[2]);
        if (cluster[d] == 0 || g->grid[d] % cluster[d])
            return reason("%s: a grid of %u x %u x %u blocks does not divide into clusters of "
                          "%u x %u x %u",
                          k->name, g->grid[0], g->grid[1], g->grid[2], of[0], of[1], of[2]);
        blocks *= cluster[d];
    }
    if (blocks > EMU_MAX_CLUSTER)
        return reason("%s: %llu blocks in a cluster; 16 at most", k->name,
                      (unsigned long long)blocks);
    if (blocks > 1 && chip->cc < 90) return reason("%s: %s has no clusters", k->name, chip->name);
    return NULL;
}

static const char *check_launch(const struct emu_kernel *k, const struct emu_grid *g,
                                const struct chip *chip) {
    uint64_t threads = (uint64_t)g->block[0] * g->block[1] * g->block[2];
    if (k->refused) return reason_as(STATUS_UNSUPPORTED, "%s", k->refused);
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
    struct emu_kernel_counts *c = heap_zeroed(1, sizeof *c);
    c->kernel = k;
    c->count = heap_line((size_t)k->n_inst * sizeof *c->count);
    return *at = c;
}

/* The launch as the blocks see it; its parameters lie at `param`. */
static const char *describe(struct emu_launch_state *l, const struct emu_kernel *k,
                            const struct emu_grid *g, uint64_t param) {
    const char *why = check_cluster(k, g, l->chip, l->cluster);
    for (int d = 0; d < 3; d++) {
        l->grid[d] = g->grid[d];
        l->block[d] = g->block[d];
    }
    l->explicit_cluster = g->cluster[0] || k->cluster[0];
    l->overlaps = g->overlaps_previous;
    l->shared_bytes = k->dynamic_offset > k->static_shared && g->shared_bytes
                          ? k->dynamic_offset + g->shared_bytes
                          : k->static_shared + g->shared_bytes;
    l->param = param;
    l->param_memory = emu_memory_at(l->memory, param, k->param_bytes ? k->param_bytes : 1);
    for (int a = 0; a < g->n_args; a++) {
        unsigned char *to = emu_memory_at(l->memory, param + k->param_offset[a], g->arg_bytes[a]);
        if (to) memcpy(to, g->arg[a], g->arg_bytes[a]);
    }
    return why;
}

static void run_all(struct emu_work *work, struct emu_count *count) {
    work->count = count;
    emu_work_run(work);
}

/* Runs the blocks that stand for all n_blocks; then the others, too, if some may have read what some wrote. */
static void run_unlike(struct emu_work *work, uint64_t n_blocks, struct emu_count *count) {
    const struct emu_kernel *k = work->launch.kernel;
    uint64_t unlike = work->n_clusters, times = n_blocks / unlike;
    struct emu_count *part = heap_line((size_t)k->n_inst * sizeof *part);
    run_all(work, part);
    bool ended = !work->stop && work->limits.end == EMU_GOES_ON;
    if (!emu_memory_kept_apart(work->launch.memory) || !ended) {
        emu_count_add(count, part, k->n_inst, 1);
        work->first = unlike;
        work->n_clusters = work->n_sampled = n_blocks - unlike;
        work->next_cluster = 0;
        if (ended) run_all(work, count);
    } else {
        emu_count_add(count, part, k->n_inst, times);
    }
    free(part);
}

const char *emu_launch(struct emu_memory *m, const struct emu_kernel *k, const struct emu_grid *g,
                       const struct chip *chip, const struct emu_options *o, struct emu_result *r) {
    const char *why = check_launch(k, g, chip);
    if (why) return why;
    struct emu_kernel altered = *k; /* what runs */
    int n_left_out = 0;
    if (o->without && (why = emu_without(k, o->without, &altered, &n_left_out))) return why;
    uint64_t param = 0, n_blocks = (uint64_t)g->grid[0] * g->grid[1] * g->grid[2];
    why = emu_memory_params(m, k->param_bytes, &param);
    if (why) goto done;
    struct emu_work work = {
        .launch = {
            .kernel = &altered, .options = o, .memory = m, .chip = chip, .reports = &r->reports}};
    if ((why = describe(&work.launch, k, g, param))) goto done;
    if (k->syncs_grid && !g->ordinary && (why = emu_memory_workspace(m, &work.launch.workspace)))
        goto done;
    const uint32_t *cluster = work.launch.cluster;
    work.n_clusters = n_blocks / cluster[0] / cluster[1] / cluster[2];
    work.n_sampled = work.n_clusters;
    const uint64_t unlike = emu_unlike_blocks(k, g, o);
    if (unlike < n_blocks) work.n_clusters = work.n_sampled = unlike;
    if (o->sample_blocks && o->sample_blocks < n_blocks && !k->syncs_grid)
        work.n_sampled = work.n_clusters * o->sample_blocks / n_blocks;
    if (!work.n_sampled) work.n_sampled = 1;
    work.n_checked = o->no_checks ? 0 : work.n_sampled;
    uint64_t most = o->check_blocks * unlike / n_blocks; /* of those that run */
    if (o->check_blocks && !most) most = 1;
    if (o->check_blocks && work.n_checked > most) work.n_checked = most;
    work.launch.partial = work.n_checked && work.n_checked < work.n_sampled;
    work.limits.options = o;
    work.limits.kernel = k->name;
    work.limits.next_cluster = &work.next_cluster;
    work.limits.n_clusters = work.n_sampled;
    work.launch.limits = &work.limits;
    altered.row_init = emu_draw(&work.launch);
    if (k->allocates) emu_heap_begin(m);
    emu_memory_next_launch(m, g->overlaps_previous);
    struct emu_trace trace;
    if (emu_trace_open(&trace, o)) work.launch.events = &trace.events;
    if (unlike < n_blocks)
        run_unlike(&work, n_blocks, counts_of(r, k)->count);
    else
        run_all(&work, counts_of(r, k)->count);
    emu_trace_close(&trace);
    emu_reports_settle(&r->reports);
    if (work.limits.end == EMU_INTERRUPTED) {
        why = reason("%s: interrupted", k->name);
        goto done;
    }
    r->n_left_out += n_left_out;
    if (o->without && !strcmp(o->without, "list")) emu_without_list(k, work.count);
    if (o->trace_line && !trace.n_traced)
        printf("the first warp of %s executes nothing of line %d\n", k->name, o->trace_line);
done:
    if (altered.inst != k->inst) free(altered.inst);
    if (altered.row_init != k->row_init) free(altered.row_init);
    return why;
}

/* ---- Results --------------------------------------------------------------------------------- */

const char *emu_result_open(struct emu_result **out) {
    *out = heap_zeroed(1, sizeof **out);
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
    r->n_left_out = 0;
}

int emu_result_trusted(const struct emu_result *r) { return r->reports.n_trusted; }
int emu_result_reports(const struct emu_result *r) { return r->reports.n; }
const char *emu_result_report(const struct emu_result *r, int i) {
    return emu_reports_text(&r->reports, i);
}

int emu_result_report_kind(const struct emu_result *r, int i) {
    return (int)emu_reports_kind(&r->reports, i);
}

bool emu_result_next(const struct emu_result *r, struct emu_counted *at) {
    const struct emu_kernel_counts *k = r->kernels;
    int pc = 0;
    if (at->kernel) {
        while (k->kernel != at->kernel) k = k->next;
        pc = (int)at->inst->pc + 1;
    }
    while (k && pc >= k->kernel->n_inst) k = k->next, pc = 0;
    if (!k) return false;
    *at = (struct emu_counted){k->kernel, &k->kernel->inst[pc], &k->kernel->origin[pc],
                               &k->count[pc]};
    return true;
}

bool emu_result_left_nothing_out(const struct emu_result *r) {
    return r->kernels && !r->n_left_out;
}

void emu_result_close(struct emu_result *r) {
    if (!r) return;
    emu_result_clear(r);
    pthread_mutex_destroy(&r->reports.lock);
    free(r);
}

const char *emu_kernel_refused(const struct emu_kernel *k) { return k->refused; }
int emu_kernel_params(const struct emu_kernel *k) { return k->n_params; }
size_t emu_kernel_param_bytes(const struct emu_kernel *k, int i) { return k->param_size[i]; }
char emu_kernel_param_kind(const struct emu_kernel *k, int i) { return k->param_kind[i]; }
bool emu_kernel_acts(const struct emu_kernel *k) { return k->prints || k->allocates; }
int emu_kernel_static_shared(const struct emu_kernel *k) { return (int)k->static_shared; }
int emu_kernel_local_bytes(const struct emu_kernel *k) { return (int)k->local_bytes; }
int emu_kernel_max_threads(const struct emu_kernel *k) { return k->max_threads; }
