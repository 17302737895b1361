/* Registers that wgmma uses: which other instructions touch them, and when; and the life of a warp's wgmma
 * state. */
#include "wgmma.h"

#include "emulator/core/failed_check.h"
#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>

/* ---- Watched registers ---------------------------------------------------------------------- */

static void touch(struct emu_warp *w, const struct emu_inst *i, uint32_t row, bool write) {
    struct emu_wgmma *g = emu_wgmma_state(w);
    uint32_t n = row / 128;
    if (g->in_flight[n])
        emu_report(EMU_IN_FLIGHT, w, i, g->owner[n],
                   "%s an accumulator before wgmma.wait_group has waited for its product",
                   write ? "writes" : "reads");
    else if (write && g->operand[n])
        emu_report(EMU_IN_FLIGHT, w, i, g->owner[n],
                   "overwrites an A register before wgmma.wait_group has waited for the product "
                   "that reads it");
    if (write) g->dirty[n] = 1, g->writer[n] = i;
}

static enum emu_step watched(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const struct emu_watch *watch = &w->block->kernel->watch[i->pc];
    for (int n = 0; n < watch->n; n++) touch(w, i, watch->row[n], watch->writes >> n & 1);
    return watch->run(w, i, mask);
}

/* Which operands of an instruction are wgmma registers, and whether it writes them. */
static void find_watched(const struct emu_inst *i, const uint8_t *is_wgmma,
                         struct emu_watch *watch) {
    const char *at = i->form->operands;
    watch->n = 0;
    watch->writes = 0;
    for (int o = 0; o < i->n_ops && *at; o++) {
        if (*at == '?') at++;
        const struct emu_operand *op = &i->op[o];
        bool write = *at == 'd' || *at == 'D' || *at == 'M';
        for (int r = 0;
             r < (op->kind == EMU_OP_GROUP ? op->n
                                           : op->kind == EMU_OP_ROW || op->kind == EMU_OP_ADDRESS);
             r++) {
            uint32_t row = op->kind == EMU_OP_GROUP ? op->rows[r] : op->row;
            if (!is_wgmma[row / 128] || watch->n == EMU_WATCHED) continue;
            watch->writes |= (uint8_t)((unsigned)write << watch->n);
            watch->row[watch->n++] = row;
        }
        if (at[1] && at[2] == '|') o++; /* d|p: two operands of one token */
        while (*at && *at != ' ') at++;
        while (*at == ' ') at++;
    }
}

void emu_wgmma_prepare(struct emu_kernel *k, void *(*alloc)(void *user, size_t bytes), void *user) {
    uint8_t *is_wgmma = NULL;
    for (int n = 0; n < k->n_inst; n++) {
        const struct emu_inst *i = &k->inst[n];
        if (i->run != emu_wgmma_mma_async) continue;
        if (!is_wgmma) is_wgmma = heap_zeroed(k->row_bytes / 128 + 1, 1);
        for (int r = 0; r < i->op[0].n; r++) is_wgmma[i->op[0].rows[r] / 128] = 1;
        for (int r = 0; r < 4 && i->op[1].n == 4; r++) is_wgmma[i->op[1].rows[r] / 128] = 1;
    }
    if (!is_wgmma) return;
    k->watch = alloc(user, (size_t)k->n_inst * sizeof *k->watch);
    for (int n = 0; n < k->n_inst; n++) {
        struct emu_inst *i = &k->inst[n];
        if (i->run == emu_wgmma_mma_async) continue;
        find_watched(i, is_wgmma, &k->watch[n]);
        if (!k->watch[n].n) continue;
        k->watch[n].run = i->run;
        i->run = watched;
    }
    free(is_wgmma);
}

/* ---- Life of the state ---------------------------------------------------------------------- */

void emu_wgmma_begin(struct emu_warp *w) {
    struct emu_warp_async *a = emu_warp_async(w);
    const struct emu_kernel *k = w->block->kernel;
    if (!k->watch) return; /* a kernel without wgmma */
    uint32_t n_rows = k->row_bytes / 128 + 1;
    if (a->wgmma && a->wgmma->n_rows < n_rows) emu_wgmma_free(a);
    if (!a->wgmma) {
        struct emu_wgmma *g = a->wgmma = heap_zeroed(1, sizeof *g);
        g->n_rows = n_rows;
        g->truth = heap_line((size_t)n_rows * 128);
        g->in_flight = heap_zeroed(n_rows, 1);
        g->operand = heap_zeroed(n_rows, 1);
        g->dirty = heap_zeroed(n_rows, 1);
        g->writer = heap_zeroed(n_rows, sizeof *g->writer);
        g->owner = heap_zeroed(n_rows, sizeof *g->owner);
    }
    struct emu_wgmma *g = a->wgmma;
    memset(g->in_flight, 0, n_rows);
    memset(g->operand, 0, n_rows);
    memset(g->dirty, 0, n_rows);
    g->fenced = false;
    g->fence = NULL;
    g->n_groups = g->n_products = 0;
    g->n_issued = 0;
}

void emu_wgmma_end(struct emu_warp *w) {
    struct emu_wgmma *g = emu_warp_async(w)->wgmma;
    if (!g || !g->n_products) return;
    if (!w->block->cluster->stopped)
        emu_report(EMU_IN_FLIGHT, w, g->product[0].inst, NULL,
                   "the warp ends before wgmma.wait_group has waited for this");
    g->n_products = 0;
}

void emu_wgmma_free(struct emu_warp_async *a) {
    struct emu_wgmma *g = a->wgmma;
    if (!g) return;
    free(g->truth);
    free(g->in_flight);
    free(g->operand);
    free(g->dirty);
    free(g->writer);
    free(g->owner);
    free(g);
    a->wgmma = NULL;
}
