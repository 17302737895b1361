/* A launch: constant bank 0, CTAs and clusters with their warps. */
#include "exec.h"

#include "common/base/heap.h"
#include "common/base/chip.h"
#include "common/base/reason.h"
#include "emulator/instructions/async.h"

#include <stdlib.h>
#include <string.h>

/* Constant bank 0 as ptxas for sm_90 expects it; what lies below the parameters is the driver's,
 * found by what kernels do with it:
 *
 *   0x000  blockDim x, y, z          0x00c  gridDim x, y, z
 *   0x028  top of the stack (R1)     0x140  1: launched with clusters
 *   0x198  address of the parameters (64 bits), which TMA reads its maps from
 *   0x208  descriptor of global memory, of no use here
 *
 * In code for sm_89 parameters begin at 0x160, the descriptor is at 0x118, and 0x018 holds where the shared window
 * of generic addresses begins. */
enum {
    BANK_BLOCK = 0x0,
    BANK_GRID = 0xc,
    BANK_SHARED_WINDOW = 0x18,
    BANK_STACK = 0x28,
    BANK_CLUSTER = 0x140,
    BANK_PARAMS = 0x198
};
/* HGMMA's descriptors have 18 bits: behind the block's memory lies more that it may read. */
enum { SHARED_WINDOW = 0x40000 + 16 };

/* What the functions of the PTX side need besides rows. */
struct guest {
    struct chip chip;
    struct emu_options options;
    struct emu_launch_state launch;
};

static void *zeroed(size_t bytes) {
    void *p = aligned_alloc(128, (bytes + 127) & ~(size_t)127);
    if (!p) heap_exhausted();
    memset(p, 0, (bytes + 127) & ~(size_t)127);
    return p;
}

static void fill(void *at, uint64_t word, size_t bytes) {
    for (size_t n = 0; n < bytes; n += sizeof word) memcpy((char *)at + n, &word, sizeof word);
}

static void put(struct sass_grid *g, uint32_t at, uint64_t value, size_t bytes) {
    memcpy(g->bank + at, &value, bytes);
}

static const char *fill_bank(struct sass_grid *g, const struct emu_grid *l) {
    const struct sass_kernel *k = g->kernel;
    const struct sass_code *code = sass_code(k);
    if (k->param_base + k->param_bytes > SASS_BANK_BYTES)
        return reason("kernel %s: too many bytes of parameters", k->name);
    if (l->n_args != code->n_params)
        return reason("kernel %s has %d parameters, not %d", k->name, code->n_params, l->n_args);
    for (int d = 0; d < 3; d++) {
        put(g, BANK_BLOCK + 4 * (uint32_t)d, g->block[d], 4);
        put(g, BANK_GRID + 4 * (uint32_t)d, g->grid[d], 4);
    }
    put(g, BANK_STACK, k->local_bytes, 4);
    if (k->sm == 90) {
        put(g, BANK_CLUSTER, l->cluster[0] ? 1 : 0, 4);
        put(g, BANK_PARAMS, (uint64_t)(uintptr_t)(g->bank + k->param_base), 8);
    } else {
        put(g, BANK_SHARED_WINDOW, (uint64_t)SASS_SWINHI << 32, 8);
    }
    for (int a = 0; a < l->n_args; a++) {
        if (l->arg_bytes[a] != code->param_size[a])
            return reason("kernel %s, parameter %d has %u bytes, not %zu", k->name, a,
                          code->param_size[a], l->arg_bytes[a]);
        if (code->param_offset[a] + code->param_size[a] > SASS_BANK_BYTES - k->param_base)
            return reason("kernel %s: parameter %d leaves its bank", k->name, a);
        memcpy(g->bank + k->param_base + code->param_offset[a], l->arg[a], l->arg_bytes[a]);
    }
    return NULL;
}

const char *sass_grid_open(struct emu_memory *m, const struct sass_kernel *k,
                           const struct emu_grid *l, struct sass_grid **out) {
    struct sass_grid *g = heap_zeroed(1, sizeof *g);
    struct guest *guest = heap_zeroed(1, sizeof *guest);
    const char *why = NULL;
    *out = NULL;
    g->bank = zeroed(SASS_BANK_BYTES);
    g->own = guest;
    g->kernel = k;
    g->memory = m;
    g->shared_bytes = l->shared_bytes;
    g->bank_bytes = SASS_BANK_BYTES;
    g->cc = k->sm;
    g->unwritten = UINT64_MAX;
    g->n_ctas = g->cluster_size = 1;
    for (int d = 0; d < 3; d++) {
        g->grid[d] = l->grid[d];
        g->block[d] = l->block[d];
        g->cluster[d] = l->cluster[d] ? l->cluster[d] : 1;
        g->n_ctas *= g->grid[d];
        g->cluster_size *= g->cluster[d];
        if (!g->grid[d] || !g->block[d] || g->grid[d] % g->cluster[d])
            why = "an empty launch, or one that clusters do not divide";
    }
    if (!why && g->cluster_size > EMU_MAX_CLUSTER) why = "a cluster of more than 16 blocks";
    if (!why && g->cluster_size > 1 && k->sm != 90) why = "a cluster, which needs code of sm_90a";
    if (!why && g->block[0] * g->block[1] * g->block[2] > 1024)
        why = "a block of over 1024 threads";
    const uint64_t most_shared = (k->sm == 90 ? 227 : 99) * 1024;
    if (!why && (uint64_t)k->static_shared + l->shared_bytes > most_shared)
        why = k->sm == 90 ? "a block with more than 227 KiB of shared memory"
                          : "a block with more than 99 KiB of shared memory";
    if (!why) why = fill_bank(g, l);
    if (why) {
        sass_grid_close(g);
        return reason("%s", why);
    }
    guest->chip = *chip_find(k->sm == 90 ? "h200" : "l4");
    guest->launch.chip = &guest->chip;
    guest->launch.options = &guest->options;
    *out = g;
    return NULL;
}

void sass_grid_close(struct sass_grid *g) {
    if (!g) return;
    free(g->own);
    free(g->bank);
    free((void *)(uintptr_t)g->variables.at);
    free((void *)(uintptr_t)g->addresses.at);
    free(g);
}

/* ---- CTAs ------------------------------------------------------------------------------------ */

static void unwritten_registers(struct sass_warp *w, uint64_t unwritten) {
    fill(w->rows, unwritten, SASS_ROW_ZERO);
    fill(w->rows + SASS_ROW_UR, unwritten, SASS_ROW_CONST - SASS_ROW_UR);
    for (int p = 0; p < SASS_PT; p++) {
        w->pred[p] = (uint32_t)(unwritten >> p) * 0x9e3779b9u;
        w->pred[SASS_P_UNIFORM + p] = unwritten >> p & 1 ? EMU_FULL : 0;
    }
}

/* Of SASS_FROM_BANK(); zero outside of the bank, which constants_fit() has refused. */
static uint32_t constant_at(const struct sass_grid *g, uint32_t from) {
    const struct sass_bank bank = sass_bank_of(g, from >> 24 & 0x7f);
    const uint32_t offset = from & 0xffffff;
    uint32_t value = 0;
    if (offset + 4 <= bank.bytes) memcpy(&value, bank.at + offset, 4);
    return value;
}

static const char *constants_fit(const struct sass_grid *g) {
    const struct sass_code *code = sass_code(g->kernel);
    for (int n = 0; n < code->n_constants; n++) {
        const uint32_t from = code->from[n], bank = from >> 24 & 0x7f, offset = from & 0xffffff;
        if (from && offset + 4 > sass_bank_of(g, (int)bank).bytes)
            return reason("c[%#x][%#x] lies outside of the bank", bank, offset);
    }
    return NULL;
}

static void begin_warp(struct sass_cta *c, int index) {
    const struct sass_grid *g = c->grid;
    const struct sass_code *code = sass_code(g->kernel);
    struct sass_warp *w = &c->warp[index];
    uint32_t threads = g->block[0] * g->block[1] * g->block[2], first = (uint32_t)index * 32;
    w->cta = c;
    w->index = index;
    w->rows = c->rows + (size_t)index * code->row_bytes;
    w->live = threads - first >= 32 ? EMU_FULL : (1u << (threads - first)) - 1;
    w->absent = ~w->live;
    w->active = w->live;
    unwritten_registers(w, g->unwritten);
    w->pred[SASS_P_TRUE] = w->pred[SASS_P_UNIFORM + SASS_PT] = EMU_FULL;
    w->n_registers = (uint32_t)(g->kernel->n_registers + 7) / 8 * 8;
    for (int n = 0; n < code->n_constants; n++) {
        uint32_t *row = sass_row(w, SASS_ROW_CONST + (uint32_t)n * SASS_ROW);
        const uint32_t value = code->from[n] ? constant_at(g, code->from[n]) : code->constant[n];
        for (int l = 0; l < SASS_LANES; l++) row[l] = value;
    }
}

static const char *begin(struct sass_grid *g, uint64_t linear, struct sass_cluster *cluster,
                         uint32_t rank, struct sass_cta **out) {
    const struct guest *guest = g->own;
    const char *why = constants_fit(g);
    if (why) return why;
    struct sass_cta *c = heap_zeroed(1, sizeof *c);
    *out = cluster->cta[rank] = c;
    c->grid = g;
    c->cluster = cluster;
    c->rank = rank;
    c->linear = linear;
    c->id[0] = (uint32_t)(linear % g->grid[0]);
    c->id[1] = (uint32_t)(linear / g->grid[0] % g->grid[1]);
    c->id[2] = (uint32_t)(linear / g->grid[0] / g->grid[1]);
    c->n_warps = c->n_live = (int)((g->block[0] * g->block[1] * g->block[2] + 31) / 32);
    c->shared_bytes = sass_reserved_shared(g->kernel) + g->kernel->static_shared + g->shared_bytes;
    c->warp = zeroed((size_t)c->n_warps * sizeof *c->warp);
    c->rows = zeroed((size_t)c->n_warps * sass_code(g->kernel)->row_bytes);
    c->local = zeroed((size_t)c->n_warps * SASS_LANES * g->kernel->local_bytes + 1);
    c->block = zeroed(sizeof *c->block);
    c->block->shared_memory = aligned_alloc(1024, (SHARED_WINDOW + 1023) & ~1023);
    c->block->async = zeroed(sizeof(struct emu_async));
    if (!c->block->shared_memory) heap_exhausted();
    fill(c->block->shared_memory, g->unwritten, SHARED_WINDOW);
    c->block->launch = &guest->launch;
    c->block->shared_bytes = SHARED_WINDOW;
    for (int w = 0; w < c->n_warps; w++) begin_warp(c, w);
    cluster->n_live += (uint32_t)c->n_warps;
    return NULL;
}

static void release(struct sass_cta *c) {
    if (c->block) free(c->block->async);
    if (c->block) free(c->block->shared_memory);
    free(c->block);
    free(c->warp);
    free(c->rows);
    free(c->local);
    free(c);
}

/* The blocks of a cluster are neighbours in all dimensions; rank counts x fastest. */
static uint64_t member(const struct sass_grid *g, uint64_t cluster, uint32_t rank) {
    uint64_t at[3], n[3];
    for (int d = 0; d < 3; d++) n[d] = g->grid[d] / g->cluster[d];
    at[0] = cluster % n[0] * g->cluster[0] + rank % g->cluster[0];
    at[1] = cluster / n[0] % n[1] * g->cluster[1] + rank / g->cluster[0] % g->cluster[1];
    at[2] = cluster / n[0] / n[1] * g->cluster[2] + rank / g->cluster[0] / g->cluster[1];
    return at[0] + g->grid[0] * (at[1] + g->grid[1] * at[2]);
}

const char *sass_cluster_begin(struct sass_grid *g, uint64_t index, struct sass_cta **out) {
    struct sass_cluster *cluster = heap_zeroed(1, sizeof *cluster);
    cluster->n = g->cluster_size;
    const char *why = NULL;
    for (uint32_t r = 0; r < cluster->n && !why; r++)
        why = begin(g, member(g, index, r), cluster, r, &out[r]);
    if (!why) return NULL;
    for (uint32_t r = 0; r < cluster->n; r++)
        if (cluster->cta[r]) release(cluster->cta[r]);
    free(cluster);
    return why;
}

const char *sass_cta_begin(struct sass_grid *g, uint64_t linear, struct sass_cta **out) {
    if (g->cluster_size != 1) return "a block of a cluster does not begin alone";
    return sass_cluster_begin(g, linear, out);
}

void sass_cta_end(struct sass_cta *c) {
    struct sass_cluster *cluster = c->cluster;
    if (++cluster->n_ended < cluster->n) return;
    for (uint32_t r = 0; r < cluster->n; r++) release(cluster->cta[r]);
    free(cluster);
}

int sass_cta_warps(const struct sass_cta *c) { return c->n_warps; }
struct sass_warp *sass_cta_warp(struct sass_cta *c, int index) {
    return &c->warp[index];
}
bool sass_cta_done(const struct sass_cta *c) { return c->n_live == 0; }
int sass_warp_index(const struct sass_warp *w) { return w->index; }
const char *sass_fault(const struct sass_warp *w) { return w->fault; }
