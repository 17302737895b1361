/* A cluster of blocks and its place in the grid: registers, special registers, shared memory,
 * barriers. */
#include "blocks.h"

#include "draw.h"

#include "emulator/checks/vector_clock.h"
#include "emulator/checks/race.h"
#include "emulator/checks/taint.h"
#include "emulator/instructions/async.h"
#include "emulator/instructions/function.h"
#include "common/base/heap.h"
#include "common/cuda/vector.h"

#include <stdlib.h>
#include <string.h>

/* ---- Life ------------------------------------------------------------------------------------ */

static void block_free(struct emu_block *b) {
    if (!b) return;
    emu_async_free(b);
    for (int n = 0; b->warp && n < b->n_warps; n++) {
        free(b->warp[n].rows);
        free(b->warp[n].local_memory);
        free(b->warp[n].local_written);
        emu_stack_free(&b->warp[n]);
        free(b->warp[n].taint);
        free(b->warp[n].looks);
        free(b->warp[n].lanes_met);
    }
    if (b->shadow) emu_shadow_close(b->shadow);
    free(b->visit);
    free(b->warp);
    free(b->shared_memory);
    free(b);
}

static struct emu_block *block_open(struct emu_cluster *c, const struct emu_launch_state *launch,
                                    struct emu_count *count, struct emu_pattern **pattern) {
    const struct emu_kernel *k = launch->kernel;
    struct emu_block *b = heap_line(sizeof *b);
    b->launch = launch;
    b->kernel = k;
    b->cluster = c;
    b->n_threads = launch->block[0] * launch->block[1] * launch->block[2];
    b->n_warps = (int)(b->n_threads + EMU_LANES - 1) / EMU_LANES;
    b->shared_base = launch->shared_base;
    b->shared_bytes = launch->shared_base + launch->shared_bytes;
    b->shared_memory = heap_line(b->shared_bytes + 64u);
    b->warp = heap_line((size_t)b->n_warps * sizeof *b->warp);
    if (c->agents) b->shadow = emu_shadow_open(b->shared_bytes);
    if (c->agents && c->n > 1) b->visit = heap_zeroed(EMU_MAX_AGENTS, sizeof *b->visit);
    for (int n = 0; n < b->n_warps; n++) {
        struct emu_warp *w = &b->warp[n];
        w->block = b;
        w->index = (uint32_t)n;
        w->count = count;
        w->pattern = pattern;
        w->rows = heap_line(k->row_bytes);
        w->local_memory = heap_line((size_t)k->local_bytes * EMU_LANES + 64);
        emu_draw_fill(launch->unwritten, (unsigned char *)w->local_memory,
                      (size_t)k->local_bytes * EMU_LANES);
        if (b->shadow && emu_local_arrays(k))
            w->local_written =
                heap_zeroed(emu_local_words(k) * EMU_LANES, sizeof *w->local_written);
    }
    return b;
}

void emu_cluster_free(struct emu_cluster *c) {
    if (!c) return;
    for (uint32_t r = 0; r < c->n; r++) block_free(c->block[r]);
    free(c->agents);
    free(c->known);
    free(c);
}

struct emu_cluster *emu_cluster_open(const struct emu_launch_state *launch, struct emu_count *count,
                                     struct emu_pattern **pattern, bool checks) {
    struct emu_cluster *c = heap_line(sizeof *c);
    c->n = launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
    if (checks) c->agents = emu_agents_open();
    for (uint32_t r = 0; r < c->n; r++) {
        c->block[r] = block_open(c, launch, count, pattern);
        c->block[r]->rank = r;
        for (int n = 0; n < c->block[r]->n_warps; n++)
            c->block[r]->warp[n].agent = r * (uint32_t)c->block[r]->n_warps + (uint32_t)n;
    }
    return c;
}

/* ---- A place in the grid --------------------------------------------------------------------- */

static void set_row(struct emu_warp *w, enum emu_special row, uint32_t value) {
    uint32_t *r = emu_row32(w, EMU_SPECIAL + 128 * (uint32_t)row);
    for (int l = 0; l < EMU_LANES; l++) r[l] = value;
}

/* What stays the same from block to block. */
static void constant_rows(struct emu_warp *w) {
    const struct emu_block *b = w->block;
    const struct emu_launch_state *s = b->launch;
    memcpy(w->rows, b->kernel->row_init, b->kernel->row_bytes);
    for (unsigned d = 0; d < 3; d++) {
        set_row(w, EMU_NTID_X + d, s->block[d]);
        set_row(w, EMU_NCTAID_X + d, s->grid[d]);
        set_row(w, EMU_NCLUSTERID_X + d, s->grid[d] / s->cluster[d]);
        set_row(w, EMU_CLUSTER_NCTAID_X + d, s->cluster[d]);
    }
    set_row(w, EMU_CLUSTER_CTAID_X, b->rank % s->cluster[0]);
    set_row(w, EMU_CLUSTER_CTAID_Y, b->rank / s->cluster[0] % s->cluster[1]);
    set_row(w, EMU_CLUSTER_CTAID_Z, b->rank / s->cluster[0] / s->cluster[1]);
    set_row(w, EMU_CLUSTER_CTARANK, b->rank);
    set_row(w, EMU_CLUSTER_NCTARANK, b->cluster->n);
    set_row(w, EMU_EXPLICIT_CLUSTER, s->explicit_cluster ? EMU_FULL : 0);
    set_row(w, EMU_ENVREG_1, (uint32_t)(s->workspace >> 32)); /* the upper half */
    set_row(w, EMU_ENVREG_2, (uint32_t)s->workspace);
    set_row(w, EMU_WARPID, w->index);
    set_row(w, EMU_NWARPID, (uint32_t)b->n_warps);
    set_row(w, EMU_NSMID, (uint32_t)s->chip->n_sms);
    set_row(w, EMU_DYNAMIC_SMEM, s->shared_bytes - b->kernel->static_shared);
    set_row(w, EMU_TOTAL_SMEM, s->shared_bytes);
    set_row(w, EMU_SHARED_BEGIN, s->shared_base);
    for (uint32_t l = 0; l < EMU_LANES; l++) {
        uint32_t t = w->index * EMU_LANES + l;
        emu_row32(w, EMU_SPECIAL + 128 * EMU_TID_X)[l] = t % s->block[0];
        emu_row32(w, EMU_SPECIAL + 128 * EMU_TID_Y)[l] = t / s->block[0] % s->block[1];
        emu_row32(w, EMU_SPECIAL + 128 * EMU_TID_Z)[l] = t / s->block[0] / s->block[1];
    }
}

/* No register that is read before it is written keeps anything of the block before, nor does local
 * memory. */
static void unwritten_rows(struct emu_warp *w) {
    const struct emu_kernel *k = w->block->kernel;
    for (uint32_t n = 0; n < k->n_anew; n++) {
        const struct emu_drawn_row *d = &k->anew[n];
        const uint32_t bytes = !d->bytes ? 0 : d->bytes == 8 ? 256 : 128;
        if (!bytes) memcpy(w->rows + d->row, k->row_init + d->row, 4);
        for (uint32_t at = d->row; at < d->row + bytes; at += 32)
            store8(w->rows + at, load8(k->row_init + at));
    }
    emu_draw_fill(w->block->launch->unwritten, (unsigned char *)w->local_memory,
                  (size_t)k->local_bytes * EMU_LANES);
    if (w->local_written)
        memset(w->local_written, 0, emu_local_words(k) * EMU_LANES * sizeof *w->local_written);
}

static void warp_begin(struct emu_warp *w) {
    const struct emu_block *b = w->block;
    const struct emu_launch_state *s = b->launch;
    if (w->begun)
        unwritten_rows(w);
    else
        constant_rows(w);
    w->begun = true;
    for (unsigned d = 0; d < 3; d++) {
        set_row(w, EMU_CTAID_X + d, b->id[d]);
        set_row(w, EMU_CLUSTERID_X + d, b->id[d] / s->cluster[d]);
    }
    set_row(w, EMU_SMID, (uint32_t)(b->linear % (uint64_t)s->chip->n_sms));
    uint32_t left = b->n_threads - w->index * EMU_LANES;
    w->live = left < EMU_LANES ? (1u << left) - 1 : EMU_FULL;
    w->absent = ~w->live;
    w->resumed = w->progressed = false;
    w->spins = 0;
    w->published = 0;
    free(w->looks);
    w->looks = NULL;
    w->tainted = false;
    if (w->taint) memset(w->taint, 0, b->kernel->row_bytes / 4 * sizeof *w->taint);
    memset(w->pending_taint, 0, sizeof w->pending_taint);
    emu_stack_begin(w);
    w->n_groups = 1;
    w->group[0] = (struct emu_group){.mask = w->live};
    w->now = w->group;
    w->arrived = w->unwaited = w->cluster_generation = 0;
    w->early = b->shadow && s->overlaps ? EMU_FULL : 0;
}

/* Registers that a block may hand around by setmaxnreg: what launch bounds give each thread. */
static uint32_t registers_per_thread(const struct emu_launch_state *s, uint32_t n_threads) {
    uint32_t n_blocks = s->kernel->min_blocks > 1 ? (uint32_t)s->kernel->min_blocks : 1;
    uint32_t all = n_blocks * (n_threads ? n_threads : 1);
    uint32_t n = (uint32_t)s->chip->registers_per_sm / all / 8 * 8;
    if (s->kernel->max_registers && (uint32_t)s->kernel->max_registers < n)
        n = (uint32_t)s->kernel->max_registers;
    return n > 255 ? 255 : n;
}

static void
barrier_begin(struct emu_barrier *bar) { /* clocks keep what is old: checks/vector_clock.c */
    bar->arrived = bar->expected = bar->generation = 0;
    bar->first = NULL;
    bar->clock.waited = bar->done.waited = false;
    bar->clock.met = bar->done.met = 0;
    bar->clock.published = bar->done.published = 0;
}

static void block_begin(struct emu_block *b, const uint32_t cluster[3]) {
    const struct emu_launch_state *s = b->launch;
    uint32_t at = b->rank;
    for (int d = 0; d < 3; d++) {
        b->id[d] = cluster[d] * s->cluster[d] + at % s->cluster[d];
        at /= s->cluster[d];
    }
    b->linear = ((uint64_t)b->id[2] * s->grid[1] + b->id[1]) * s->grid[0] + b->id[0];
    b->n_live = b->n_threads;
    b->ticks = 0;
    b->free_registers = 0;
    b->took_unwritten = false;
    for (int n = 0; n < EMU_BARRIERS; n++) barrier_begin(&b->barrier[n]);
    emu_draw_fill(s->unwritten, (unsigned char *)b->shared_memory + s->shared_base,
                  s->shared_bytes);
    for (int n = 0; n < b->n_warps; n++) {
        warp_begin(&b->warp[n]);
        b->warp[n].n_registers = registers_per_thread(s, b->n_threads);
        b->warp[n].n_setmaxnreg = 0;
        b->warp[n].setmaxnreg = NULL;
    }
    if (b->shadow) emu_shadow_begin(b->shadow);
    emu_async_begin(b);
}

void emu_cluster_begin(struct emu_cluster *c, uint64_t linear) {
    const struct emu_launch_state *s = c->block[0]->launch;
    uint32_t id[3];
    c->linear = linear;
    c->epoch = 0;
    free(c->known);
    c->known = NULL;
    for (int d = 0; d < 3; d++) {
        id[d] = (uint32_t)(linear % (s->grid[d] / s->cluster[d]));
        linear /= s->grid[d] / s->cluster[d];
    }
    c->n_live = c->n * c->block[0]->n_threads;
    c->stopped = false;
    c->arrived = c->generation = 0;
    for (uint32_t r = 0; r < c->n; r++) block_begin(c->block[r], id);
    if (!c->agents) return;
    for (uint32_t r = 0; r < c->n && emu_agents_spent(c); r++) emu_async_forget(c->block[r]);
    emu_agents_begin(c);
}
