/* wgmma: products that run on behind their instruction, and setmaxnreg. */
#include "wgmma.h"

#include "emulator/instructions/flow.h"
#include "emulator/instructions/handlers.h"

#include "emulator/checks/vector_clock.h"
#include "emulator/core/failed_check.h"

#include <string.h>

/* ---- Completion ----------------------------------------------------------------------------- */

static void complete(struct emu_warp *w, const struct emu_product *p) {
    struct emu_wgmma *g = emu_wgmma_state(w);
    if (!p->ran) emu_wgmma_run(w, p);
    if (p->unwritten) emu_wgmma_taint(w, p);
    for (int r = 0; r < p->inst->op[0].n; r++) {
        uint32_t row = p->inst->op[0].rows[r];
        if (--g->in_flight[row / 128] == 0) memcpy(w->rows + row, g->truth + row, 128);
    }
    if (p->inst->aux[WGMMA_FLAGS] & WGMMA_RS)
        for (int r = 0; r < 4; r++) g->operand[p->inst->op[1].rows[r] / 128]--;
    unsigned agent = emu_agent(w->block, EMU_AGENT_WGMMA, w->index);
    emu_agent_done(&w->clock, agent, p->stamp);
}

/* Products of all but the last `keep` groups. */
static void wait(struct emu_warp *w, uint32_t keep) {
    struct emu_wgmma *g = emu_wgmma_state(w);
    uint32_t n = 0;
    while (n < g->n_products && (int64_t)g->product[n].group < (int64_t)g->n_groups - keep)
        complete(w, &g->product[n++]);
    memmove(g->product, g->product + n, (g->n_products - n) * sizeof *g->product);
    g->n_products -= n;
}

/* How many products, from the first on, are in all but the last `keep` groups. */
static uint64_t covered(const struct emu_wgmma *g, uint32_t keep) {
    if (g->n_groups <= keep || keep >= WGMMA_RECENT) return 0;
    return g->end[(g->n_groups - keep - 1) % WGMMA_RECENT];
}

/* The n-th other warp of w's warpgroup; NULL: there is none. */
static struct emu_warp *other_warp(const struct emu_warp *w, int n) {
    const uint32_t at =
        w->index / WGMMA_WARPS * WGMMA_WARPS + (w->index + (uint32_t)n) % WGMMA_WARPS;
    return at < (uint32_t)w->block->n_warps ? &w->block->warp[at] : NULL;
}

static bool all_issued(const struct emu_warp *w, uint64_t products) {
    for (int n = 1; n < WGMMA_WARPS; n++) {
        struct emu_warp *other = other_warp(w, n); /* one that has ended issues no more */
        if (other && other->n_groups && emu_wgmma_state(other)->n_issued < products) return false;
    }
    return true;
}

/* The first `products` of the warpgroup are complete, as w knows now. */
static void complete_others(struct emu_warp *w, uint64_t products) {
    for (int n = 1; products && n < WGMMA_WARPS; n++) {
        struct emu_warp *other = other_warp(w, n);
        struct emu_wgmma *g = other ? emu_wgmma_state(other) : NULL;
        if (!g || g->n_issued < products) continue;
        for (uint32_t p = 0; p < g->n_products && g->product[p].number < products; p++) {
            if (!g->product[p].ran) emu_wgmma_run(other, &g->product[p]);
            g->product[p].ran = true;
        }
        const struct emu_product *last = &g->recent[(products - 1) % WGMMA_RECENT];
        if (last->number == products - 1)
            emu_agent_done(&w->clock, emu_agent(w->block, EMU_AGENT_WGMMA, other->index),
                           last->stamp);
    }
}

/* ---- Handlers ------------------------------------------------------------------------------- */

enum emu_step emu_wgmma_fence(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    struct emu_wgmma *g = emu_wgmma_state(w);
    emu_aligned(w, i, mask);
    if (!g) return EMU_NEXT; /* the kernel has no wgmma: neither have the two below to do */
    g->fenced = true;
    g->fence = i;
    memset(g->dirty, 0, g->n_rows);
    return EMU_NEXT;
}

static void end_group(struct emu_wgmma *g) {
    if (g) g->end[g->n_groups++ % WGMMA_RECENT] = g->n_issued;
}

enum emu_step emu_wgmma_commit(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    emu_aligned(w, i, mask);
    end_group(emu_wgmma_state(w));
    return EMU_NEXT;
}

enum emu_step emu_wgmma_wait(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    emu_aligned(w, i, mask);
    if (!emu_wgmma_state(w)) return EMU_NEXT;
    const uint32_t keep = (uint32_t)i->op[0].imm;
    const uint64_t products = covered(emu_wgmma_state(w), keep);
    if (!all_issued(w, products)) return EMU_WAIT;
    wait(w, keep);
    complete_others(w, products);
    return EMU_NEXT;
}

void emu_wgmma_wait_print(const struct emu_warp *w, const struct emu_inst *i, FILE *out) {
    if (i->run == emu_wgmma_wait)
        fprintf(out, " for the other warps of its warpgroup to issue the same products");
    if (i->run == emu_setmaxnreg)
        fprintf(out, " for %u more registers a thread, %u for the warp; %u are free in the block",
                (uint32_t)i->op[0].imm - w->n_registers,
                ((uint32_t)i->op[0].imm - w->n_registers) * EMU_LANES, w->block->free_registers);
}

/* Does a stand before b in the source? Lines of two functions say nothing: where one was inlined, its call counts. */
static bool stands_before(const struct emu_origin *a, const struct emu_origin *b) {
    for (int k = 1; k <= a->n_frames && k <= b->n_frames; k++) {
        const struct emu_frame *x = &a->frame[a->n_frames - k], *y = &b->frame[b->n_frames - k];
        if (x->file_index != y->file_index) return false;
        if (x->line != y->line) return x->line < y->line;
    }
    return false;
}

/* In the source a fence stands between the write and the product, so nvcc moved the write. */
static bool moved(const struct emu_warp *w, const struct emu_inst *write,
                  const struct emu_inst *fence, const struct emu_inst *product) {
    const struct emu_origin *of = w->block->kernel->origin;
    return write && fence && fence->pc < write->pc && write->pc < product->pc &&
           stands_before(&of[write->pc], &of[fence->pc]) &&
           !stands_before(&of[product->pc], &of[fence->pc]);
}

static void check_fence(struct emu_warp *w, const struct emu_inst *i,
                        const struct emu_operand *group, const char *what) {
    struct emu_wgmma *g = emu_wgmma_state(w);
    for (int r = 0; r < group->n; r++)
        if (g->dirty[group->rows[r] / 128]) {
            const struct emu_inst *write = g->writer[group->rows[r] / 128];
            if (moved(w, write, g->fence, i))
                emu_report(EMU_NOTE, w, i, write,
                           "%s register %d was written after the last wgmma.fence (line %d): nvcc "
                           "moved the write behind the fence, so ptxas may wait before each "
                           "product; let the first product overwrite (scale-d 0) instead of "
                           "zeroing",
                           what, r, emu_line_of(&w->block->kernel->origin[g->fence->pc]));
            else
                emu_report(EMU_BAD_WGMMA, w, i, write,
                           "%s register %d was written after the last wgmma.fence: a wgmma.fence "
                           "is missing",
                           what, r);
            return;
        }
}

/* All four warps must issue the same products with the same descriptors. */
static void check_warpgroup(struct emu_warp *w, const struct emu_product *p) {
    struct emu_wgmma *g = emu_wgmma_state(w);
    const struct emu_async *a = emu_async(w->block);
    uint32_t first = w->index / WGMMA_WARPS * WGMMA_WARPS;
    g->recent[g->n_issued % WGMMA_RECENT] = *p;
    for (uint32_t n = first; n < first + WGMMA_WARPS && n < (uint32_t)w->block->n_warps; n++) {
        const struct emu_wgmma *other = a->warp[n].wgmma;
        if (n == w->index || other->n_issued <= g->n_issued ||
            other->n_issued > g->n_issued + WGMMA_RECENT)
            continue;
        const struct emu_product *same = &other->recent[g->n_issued % WGMMA_RECENT];
        bool rs = p->inst->aux[WGMMA_FLAGS] & WGMMA_RS;
        if (same->inst == p->inst && same->b == p->b && (rs || same->a == p->a)) continue;
        emu_report(EMU_BAD_WGMMA, w, p->inst, same->inst,
                   "warps %u and %u of a warpgroup issue different products", n, w->index);
        return;
    }
}

static void count(struct emu_warp *w, const struct emu_product *p) {
    const struct emu_inst *i = p->inst;
    if (w->index % WGMMA_WARPS) return; /* one read of the operands for the four warps */
    uint32_t bytes =
        (uint32_t)i->aux[WGMMA_N] * 32 + (i->aux[WGMMA_FLAGS] & WGMMA_RS ? 0 : 64 * 32);
    struct emu_count *c = w->count + i->pc;
    c->wavefronts += bytes / 128;
    c->wavefronts_ideal += bytes / 128;
    c->bytes += bytes;
    emu_wgmma_pieces(w, p);
}

static bool uniform(struct emu_warp *w, const struct emu_inst *i, const struct emu_operand *op,
                    uint64_t *out) {
    const uint64_t *row = emu_row64(w, op->row);
    *out = row[0];
    for (int l = 1; l < EMU_LANES; l++)
        if (row[l] != row[0]) {
            emu_report(EMU_BAD_WGMMA, w, i, NULL, "the descriptor differs between lanes 0 and %d",
                       l);
            return false;
        }
    return true;
}

static void take_rows(struct emu_warp *w, const struct emu_inst *i) {
    struct emu_wgmma *g = emu_wgmma_state(w);
    for (int r = 0; r < i->op[0].n; r++) {
        uint32_t row = i->op[0].rows[r];
        if (g->in_flight[row / 128]++ == 0) {
            memcpy(g->truth + row, w->rows + row, 128);
            memset(w->rows + row, 0xff, 128);
        }
        g->owner[row / 128] = i;
    }
    if (!(i->aux[WGMMA_FLAGS] & WGMMA_RS)) return;
    for (int r = 0; r < 4; r++) {
        g->operand[i->op[1].rows[r] / 128]++;
        g->owner[i->op[1].rows[r] / 128] = i;
    }
}

enum emu_step emu_wgmma_mma_async(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    struct emu_wgmma *g = emu_wgmma_state(w);
    struct emu_product p = {.inst = i, .group = g->n_groups, .number = g->n_issued};
    bool rs = i->aux[WGMMA_FLAGS] & WGMMA_RS;
    const struct emu_operand *scale_d = &i->op[3];
    emu_aligned(w, i, mask);
    if (!rs && !uniform(w, i, &i->op[1], &p.a)) return EMU_STOP;
    if (!uniform(w, i, &i->op[2], &p.b)) return EMU_STOP;
    if (scale_d->kind == EMU_OP_IMM)
        p.add = scale_d->imm != 0;
    else
        p.add = (*emu_mask(w, scale_d->row) & 1) != scale_d->negated;
    if (!g->fenced)
        emu_report(EMU_BAD_WGMMA, w, i, NULL, "there was no wgmma.fence before this first product");
    check_fence(w, i, &i->op[0], "accumulator");
    if (rs) check_fence(w, i, &i->op[1], "A");
    if (g->n_products == WGMMA_IN_FLIGHT) {
        emu_report(EMU_BAD_WGMMA, w, i, NULL, "%d products in flight: wgmma.wait_group is missing",
                   WGMMA_IN_FLIGHT);
        return EMU_STOP;
    }
    p.stamp = emu_agent_issue(w->block, emu_agent(w->block, EMU_AGENT_WGMMA, w->index));
    if (!emu_wgmma_check(w, &p)) return EMU_STOP;
    check_warpgroup(w, &p);
    take_rows(w, i);
    g->product[g->n_products++] = p;
    g->n_issued++;
    count(w, &p);
    if (w->block->launch->options->async_early) {
        end_group(g);
        wait(w, 0);
    }
    return EMU_NEXT;
}

emu_handler *emu_select_wgmma(struct emu_inst *i, const char **why) {
    static const enum tensor_type types[] = {
        [EMU_F16] = TENSOR_F16,   [EMU_BF16] = TENSOR_BF16, [EMU_TF32] = TENSOR_TF32,
        [EMU_E4M3] = TENSOR_E4M3, [EMU_E5M2] = TENSOR_E5M2, [EMU_S8] = TENSOR_S8,
        [EMU_U8] = TENSOR_U8};
    int n, k;
    const char *shape = strstr(i->opcode, ".m64n");
    *why = "this shape and these types do not go together";
    if (!shape || sscanf(shape, ".m64n%dk%d", &n, &k) != 2 || i->n_types != 3) return NULL;
    if (n < 8 || n > 256 || n % 8 || i->type[1] != i->type[2]) return NULL;
    i->aux[WGMMA_N] = n;
    i->aux[WGMMA_K] = k;
    i->aux[WGMMA_TYPE] = types[i->type[1]];
    bool is_16bit = k == 16, is_int = i->type[0] == EMU_S32;
    if (k != (i->type[1] == EMU_TF32                            ? 8
              : i->type[1] == EMU_F16 || i->type[1] == EMU_BF16 ? 16
                                                                : 32))
        return NULL;
    bool rs = i->op[1].n == 4, f16 = i->type[0] == EMU_F16;
    int n_imm = is_int ? 0 : is_16bit ? (rs ? 3 : 4) : 2;
    *why = "the number of registers or immediates does not fit the shape";
    if (i->op[0].n != (f16 ? n / 4 : n / 2) || (i->op[1].n != 1 && !rs) || i->n_ops != 4 + n_imm)
        return NULL;
    i->aux[WGMMA_FLAGS] = (f16 ? WGMMA_F16_SUM : 0) | (rs ? WGMMA_RS : 0);
    if (n_imm && i->op[4].imm * i->op[5].imm < 0) i->aux[WGMMA_FLAGS] |= WGMMA_NEGATE;
    if (n_imm == 4 && i->op[6].imm) i->aux[WGMMA_FLAGS] |= WGMMA_TRANS_A;
    if (n_imm > 2 && i->op[4 + n_imm - 1].imm) i->aux[WGMMA_FLAGS] |= WGMMA_TRANS_B;
    i->flops = 2 * 16 * (uint32_t)(n * k); /* of one warp */
    return emu_wgmma_mma_async;
}

/* ---- setmaxnreg ----------------------------------------------------------------------------- */

/* The pool is what the block was launched with; .dec gives back, .inc waits until there is
 * enough. */
enum emu_step emu_setmaxnreg(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t want = (uint32_t)i->op[0].imm, have = w->n_registers;
    bool inc = strstr(i->opcode, ".inc") != NULL;
    emu_aligned(w, i, mask);
    if (want < 24 || want > 256 || want % 8)
        emu_report(EMU_BAD_OPERAND, w, i, NULL,
                   "%u registers: setmaxnreg takes 24 to 256 in steps of 8", want);
    else if (inc ? want < have : want > have)
        emu_report(EMU_BAD_OPERAND, w, i, NULL,
                   "setmaxnreg.%s to %u registers, but the warp has %u", inc ? "inc" : "dec", want,
                   have);
    else if (inc && (want - have) * EMU_LANES > w->block->free_registers)
        return EMU_WAIT;
    else {
        w->block->free_registers += (have - want) * EMU_LANES;
        w->n_registers = want;
    }
    w->n_setmaxnreg++;
    w->setmaxnreg = i;
    return EMU_NEXT;
}

void emu_setmaxnreg_end(const struct emu_warp *w) {
    const struct emu_block *b = w->block;
    const uint32_t first = w->index / WGMMA_WARPS * WGMMA_WARPS;
    for (uint32_t n = first; n < first + WGMMA_WARPS && n < (uint32_t)b->n_warps; n++) {
        const struct emu_warp *other = &b->warp[n];
        if (other->live ||
            (other->n_setmaxnreg == w->n_setmaxnreg && other->n_registers == w->n_registers))
            continue;
        const struct emu_warp *more = other->n_setmaxnreg > w->n_setmaxnreg ? other : w;
        emu_report(EMU_BAD_OPERAND, more, more->setmaxnreg, NULL,
                   "setmaxnreg is for a whole warpgroup, but of warps %u to %u, warp %u ran it %u "
                   "times and has %u registers, warp %u ran it %u times and has %u",
                   first, first + WGMMA_WARPS - 1, w->index, w->n_setmaxnreg, w->n_registers,
                   other->index, other->n_setmaxnreg, other->n_registers);
        return;
    }
}
