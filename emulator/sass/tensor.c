/* Tensor cores and TMA: operands from registers and shared memory, arithmetic and maps from the
 * PTX side (mma.c, wgmma_product.c, tensormap.c), which sees a warp of its own with our rows. */
#include "exec.h"

#include "common/base/heap.h"
#include "common/base/chip.h"
#include "emulator/instructions/tensor/mma.h"
#include "emulator/instructions/tensormap.h"
#include "emulator/instructions/tensor/wgmma.h"

#include <stdlib.h>
#include <string.h>

/* ---- HMMA ------------------------------------------------------------------------------------ */

static struct emu_warp *guest(struct sass_warp *w) {
    static _Thread_local struct emu_warp *warp;
    if (!warp) warp = heap_zeroed(1, sizeof *warp);
    warp->rows = w->rows;
    warp->block = w->cta->block;
    warp->index = (uint32_t)w->index;
    return warp;
}

static void rows_of(uint32_t row, int n, uint32_t *rows) {
    for (int r = 0; r < n; r++) rows[r] = row == SASS_ROW_ZERO ? row : row + (uint32_t)r * SASS_ROW;
}

/* HMMA.16816.F32 d, a, b, c; mode: of bf16 */
enum sass_go sass_hmma(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t a[16 * 16], b[16 * 8], d[16 * 8], ra[4], rb[2], rc[4], rd[4];
    if (mask != EMU_FULL) return sass_stop(w, x, "not all lanes of the warp are here");
    struct emu_warp *g = guest(w);
    const enum tensor_type type = x->mode ? TENSOR_BF16 : TENSOR_F16;
    struct tensor_product p = {.rule = tensor_rule(w->cta->grid->cc, type, false, false),
                               .a_type = type,
                               .b_type = type,
                               .m = 16,
                               .n = 8,
                               .k = 16};
    rows_of(x->s[0].row, 4, ra);
    rows_of(x->s[1].row, 2, rb);
    rows_of(x->s[2].row, 4, rc);
    rows_of(x->d, 4, rd);
    if (w->cta->grid->rough) {
        sass_rough_hmma(w, type, ra, rb, rc, rd);
        return SASS_GO_NEXT;
    }
    emu_mma_gather_a(g, ra, 4, 16, 16, a);
    emu_mma_gather_b(g, rb, 2, 16, 8, b);
    emu_mma_gather_d(g, rc, 4, false, 8, d);
    tensor_mma(&p, a, b, d, d);
    emu_mma_scatter_d(g, rd, 4, false, 8, d);
    return SASS_GO_NEXT;
}

/* ---- HGMMA ----------------------------------------------------------------------------------- */

/* The warp's 16 rows of the product, at once. pin[0]: add to d (UPT), else d = a b. */
enum sass_go sass_hgmma(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const struct sass_gmma *g = x->more;
    if (mask != EMU_FULL) return sass_stop(w, x, "not all lanes of the warp are here");
    struct emu_wgmma state = {.truth = w->rows};
    uint64_t desc[2];
    for (int n = 0; n < 2; n++)
        desc[n] = sass_row(w, g->desc + (uint32_t)(2 * n) * SASS_ROW)[0] |
                  (uint64_t)sass_row(w, g->desc + (uint32_t)(2 * n + 1) * SASS_ROW)[0] << 32;
    struct emu_product p = {
        .inst = &g->inst, .a = desc[0], .b = desc[1], .add = sass_pred_value(w, x->pin[0]) & 1};
    if (!w->cta->grid->rough || !sass_rough_hgmma(w, g, p.a, p.b, p.add)) {
        struct emu_warp *guest_warp = guest(w);
        emu_async(guest_warp->block)->warp[w->index].wgmma = &state;
        emu_wgmma_run(guest_warp, &p);
        emu_async(guest_warp->block)->warp[w->index].wgmma = NULL;
    }
    if (w->effect) {
        w->effect->gmma.n = (uint16_t)g->inst.aux[WGMMA_N];
        w->effect->gmma.k = (uint16_t)g->inst.aux[WGMMA_K];
        w->effect->gmma.a_in_registers = g->inst.aux[WGMMA_FLAGS] & WGMMA_RS;
        w->effect->gmma.a_mn_major = g->inst.aux[WGMMA_FLAGS] & WGMMA_TRANS_A;
        w->effect->gmma.b_mn_major = g->inst.aux[WGMMA_FLAGS] & WGMMA_TRANS_B;
        w->effect->gmma.ends_group = g->ends_group;
        w->effect->gmma.a = p.a;
        w->effect->gmma.b = p.b;
    }
    return SASS_GO_NEXT;
}

/* ---- TMA ------------------------------------------------------------------------------------- */

static const void *map_bytes(struct sass_warp *w, uint64_t address) {
    const struct sass_grid *g = w->cta->grid;
    uint64_t in_bank = address - (uint64_t)(uintptr_t)g->bank;
    if (address % 64) return NULL;
    if (in_bank < g->bank_bytes && g->bank_bytes - in_bank >= 128) return g->bank + in_bank;
    return sass_global(w, address, 128, EMU_READ);
}

/* s[0]: row of [shared, (mbarrier,) coordinates...], s[1]: row of the map's address; mode: rank */
static bool read_operands(struct sass_warp *w, const struct sass_exec *x, bool load,
                          struct tensormap *map, int32_t coordinate[5], uint32_t *shared) {
    const uint32_t *u = sass_row(w, x->s[0].row), *m = sass_row(w, x->s[1].row);
    uint64_t address = m[0] | (uint64_t)m[SASS_LANES] << 32;
    const void *bytes = map_bytes(w, address);
    memset(coordinate, 0, 5 * sizeof *coordinate);
    if (!bytes || !tensormap_decode(bytes, map) || map->rank != x->mode) {
        sass_stop(w, x, "no tensor map of %d dimensions at %#llx", x->mode,
                  (unsigned long long)address);
        return false;
    }
    for (int c = 0; c < x->mode; c++) coordinate[c] = (int32_t)u[(c + 1 + load) * SASS_LANES];
    *shared = u[0] & 0xffffff;
    uint64_t size = tensormap_shared_bytes(map);
    if (*shared % 128 || *shared + size > w->cta->shared_bytes) {
        sass_stop(w, x, "a box of %llu bytes at shared address %#x", (unsigned long long)size,
                  *shared);
        return false;
    }
    if (w->effect) {
        w->effect->tma.bytes = (uint32_t)tensormap_box_bytes(map);
        w->effect->tma.shared = *shared;
        w->effect->tma.rank = map->rank;
        w->effect->tma.map = bytes;
        memcpy(w->effect->tma.coordinate, coordinate, 5 * sizeof *coordinate);
    }
    return true;
}

static bool copy_row(struct sass_warp *w, const struct sass_exec *x, const struct tensormap *map,
                     const int32_t coordinate[5], uint32_t shared, int r, bool load) {
    uint32_t row_bytes = map->box[0] * (uint32_t)map->element_bytes;
    struct tensormap_row row = tensormap_row(map, coordinate, r);
    uint32_t cut = (row.skip + row.bytes) % 16;
    if (!load && row.bytes && cut) row.bytes += 16 - cut; /* an H200 stores whole 16 bytes */
    unsigned char line[2048] = {0}, *global = NULL;
    if (row.bytes &&
        !(global = sass_global(w, row.global, row.bytes, load ? EMU_READ : EMU_WRITE))) {
        sass_stop(w, x, "%u bytes at %#llx: not inside one allocation", row.bytes,
                  (unsigned long long)row.global);
        return false;
    }
    if (load && row.bytes) memcpy(line + row.skip, global, row.bytes);
    for (uint32_t at = 0; at < row_bytes; at += 16) {
        unsigned char *place = sass_shared(w->cta, tensormap_shared(map, shared, r, at), 16);
        memcpy(load ? place : line + at, load ? line + at : place, 16);
    }
    if (load || !row.bytes) return true;
    if (!sass_may_write(w, x, global, row.bytes)) return false;
    memcpy(global, line + row.skip, row.bytes);
    return true;
}

enum sass_go sass_tma_load(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    struct tensormap map;
    int32_t coordinate[5];
    uint32_t shared;
    (void)mask;
    if (!read_operands(w, x, true, &map, coordinate, &shared)) return SASS_GO_FAULT;
    for (int r = 0; r < (int)tensormap_rows(&map); r++)
        if (!copy_row(w, x, &map, coordinate, shared, r, true)) return SASS_GO_FAULT;
    uint32_t barrier = sass_row(w, x->s[0].row)[SASS_LANES];
    const struct sass_cluster *cluster = w->cta->cluster;
    if (barrier >> 24 >= cluster->n ||
        (barrier & 0xffffff) + 8 > cluster->cta[barrier >> 24]->shared_bytes)
        return sass_stop(w, x, "no mbarrier at shared address %#x", barrier);
    sass_event(w, SASS_EVENT_COMPLETE,
               (struct sass_event){.is_tma = true,
                                   .cta = cluster->cta[barrier >> 24],
                                   .address = barrier & 0xffffff,
                                   .bytes = (uint32_t)tensormap_box_bytes(&map)});
    return SASS_GO_NEXT;
}

enum sass_go sass_tma_store(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    struct tensormap map;
    int32_t coordinate[5];
    uint32_t shared;
    (void)mask;
    if (!read_operands(w, x, false, &map, coordinate, &shared)) return SASS_GO_FAULT;
    for (int r = 0; r < (int)tensormap_rows(&map); r++)
        if (!copy_row(w, x, &map, coordinate, shared, r, false)) return SASS_GO_FAULT;
    return SASS_GO_NEXT;
}

enum sass_go sass_tma_prefetch(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const uint32_t *u = sass_row(w, x->s[0].row);
    struct tensormap map;
    (void)mask;
    const void *bytes = map_bytes(w, u[0] | (uint64_t)u[SASS_LANES] << 32);
    if (!bytes || !tensormap_decode(bytes, &map)) return sass_stop(w, x, "no tensor map there");
    return SASS_GO_NEXT;
}
