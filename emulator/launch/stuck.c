/* Describes clusters that do not end by themselves: where each warp stands, what it waits for, and the
 * loops that it runs in. */
#include "limits.h"

#include "common/base/heap.h"
#include "emulator/core/failed_check.h"
#include "emulator/instructions/async.h"
#include "emulator/instructions/cluster.h"
#include "emulator/instructions/flow.h"
#include "emulator/instructions/poll.h"
#include "emulator/instructions/tensor/wgmma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The branch that closes the innermost loop around pc; -1 if there is none. */
static int loop_around(const struct emu_kernel *k, uint32_t pc, uint32_t *first) {
    int found = -1;
    for (int n = (int)pc; n < k->n_inst; n++) {
        const struct emu_inst *i = &k->inst[n];
        for (int o = 0; o < i->n_ops; o++) {
            if (i->class != EMU_BRANCH || i->op[o].kind != EMU_OP_LABEL || i->op[o].imm > pc)
                continue;
            if (found >= 0 && (uint32_t)n - (uint32_t)i->op[o].imm >= (uint32_t)found - *first)
                continue;
            found = n;
            *first = (uint32_t)i->op[o].imm;
        }
    }
    return found;
}

static bool polls(const struct emu_inst *i) {
    return i->class == EMU_LD_GLOBAL || i->class == EMU_ATOMIC || i->class == EMU_LD_SHARED ||
           i->class == EMU_LD_CLUSTER || i->class == EMU_MBARRIER;
}

/* "the loop of lines 12 to 14, which reads ld.volatile.global.u32 at line 12" */
static void print_loop(const struct emu_kernel *k, uint32_t first, uint32_t last, FILE *out) {
    int from = 0, to = 0;
    const struct emu_inst *read = NULL;
    bool several = false;
    for (uint32_t pc = first; pc <= last; pc++) {
        int line = emu_line_of(&k->origin[pc]);
        if (line && (!from || line < from)) from = line;
        if (line > to) to = line;
        if (!polls(&k->inst[pc])) continue;
        several |= read != NULL;
        read = &k->inst[pc];
    }
    if (!from)
        fprintf(out, "the loop of PTX lines %d to %d", k->origin[first].ptx_line,
                k->origin[last].ptx_line);
    else if (from == to)
        fprintf(out, "the loop of line %d", from);
    else
        fprintf(out, "the loop of lines %d to %d", from, to);
    if (read && !several)
        fprintf(out, ", which polls by %s at line %d", read->opcode,
                emu_line_of(&k->origin[read->pc]));
}

struct stuck_place { /* where a group stands */
    uint32_t pc, first;
    int last; /* of the loop it runs in; -1: it waits, or runs in none */
    bool waiting;
};

static struct stuck_place place_of(const struct emu_kernel *k, const struct emu_group *g) {
    bool polls = g->waiting && g->token == EMU_TOKEN_POLL;
    struct stuck_place p = {.pc = g->pc, .last = -1, .waiting = g->waiting && !polls};
    if (!p.waiting) p.last = loop_around(k, g->pc, &p.first);
    return p;
}

static bool same_place(struct stuck_place a, struct stuck_place b) {
    if (a.waiting != b.waiting) return false;
    return a.last >= 0 || b.last >= 0 ? a.last == b.last && a.first == b.first : a.pc == b.pc;
}

/* Warps with one group at the same place share a line: "warps 4 to 7". Returns the first warp. */
static struct emu_warp *print_warps(const struct emu_block *b, FILE *out) {
    const struct emu_kernel *k = b->kernel;
    struct emu_warp *any = NULL;
    for (int n = 0; n < b->n_warps; n++) {
        struct emu_warp *w = &b->warp[n];
        int last = n;
        if (w->n_groups && !any) any = w;
        for (int g = 0; g < w->n_groups; g++) {
            struct stuck_place p = place_of(k, &w->group[g]);
            while (w->n_groups == 1 && last + 1 < b->n_warps && b->warp[last + 1].n_groups == 1 &&
                   b->warp[last + 1].group[0].mask == w->group[0].mask &&
                   same_place(p, place_of(k, &b->warp[last + 1].group[0])))
                last++;
            if (last > n)
                fprintf(out, "\n  warps %d to %d, lanes %08x ", n, last, w->group[g].mask);
            else
                fprintf(out, "\n  warp %d, lanes %08x ", n, w->group[g].mask);
            if (p.last >= 0) {
                fputs(last > n ? "run in " : "runs in ", out);
                print_loop(k, p.first, (uint32_t)p.last, out);
                emu_poll_print(w, &w->group[g], out);
            } else {
                fprintf(out, "%s at line %d: %s", p.waiting ? "wait" : "stand",
                        emu_line_of(&k->origin[p.pc]), k->inst[p.pc].opcode);
                emu_mbarrier_wait_print(w, &k->inst[p.pc], w->group[g].mask, out);
                if (p.waiting) emu_wgmma_wait_print(w, &k->inst[p.pc], out);
            }
        }
        n = last;
    }
    return any;
}

/* The state of the cluster; returns its first warp that has not ended. */
static struct emu_warp *print_cluster(struct emu_cluster *c, FILE *out) {
    struct emu_warp *any = NULL;
    for (uint32_t r = 0; r < c->n; r++) {
        struct emu_block *b = c->block[r];
        if (c->n > 1) fprintf(out, "\n rank %u%s", r, b->n_live ? ":" : " has ended");
        struct emu_warp *first = print_warps(b, out);
        if (!any) any = first;
        fputc('\n', out);
        emu_barrier_print(b, out);
        emu_async_print(b, out);
    }
    emu_cluster_print(c, out);
    return any;
}

/* Lanes wait in a shuffle, a vote or __syncwarp() for others of their warp, which wait elsewhere:
 * that says more than a deadlock. (Lanes at a barrier wait for those that poll: that is one.) */
static bool report_missing_lanes(struct emu_cluster *c) {
    bool any = false;
    for (uint32_t r = 0; r < c->n; r++)
        for (int n = 0; n < c->block[r]->n_warps; n++) {
            const struct emu_warp *w = &c->block[r]->warp[n];
            for (int g = 0; g < w->n_groups && w->n_groups > 1; g++) {
                const struct emu_group *x = &w->group[g], *y = &w->group[g ? 0 : 1];
                const struct emu_kernel *k = c->block[r]->kernel;
                if (!x->waiting || x->token != EMU_TOKEN_CONVERGE) continue;
                if (k->inst[x->pc].class == EMU_BARRIER && emu_has(&k->inst[x->pc], "sync") &&
                    strncmp(k->inst[x->pc].opcode, "bar.warp", 8))
                    continue;
                emu_report(EMU_DEADLOCK, w, &k->inst[x->pc], &k->inst[y->pc],
                           "lanes %08x wait for lanes that never come: their mask names some of "
                           "%08x, which are at",
                           x->mask, w->live & ~x->mask);
                any = true;
                break;
            }
        }
    return any;
}

void emu_report_deadlock(struct emu_cluster *c) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) heap_exhausted();
    const struct emu_warp *stuck = print_cluster(c, out);
    const struct emu_limits *l = c->block[0]->launch->limits;
    uint64_t begun = atomic_load(l->next_cluster);
    if (emu_poll_sleepers(c).n && begun < l->n_clusters)
        fprintf(out, "  %llu of %llu %s have not begun: the chip holds no more at once\n",
                (unsigned long long)(l->n_clusters - begun), (unsigned long long)l->n_clusters,
                c->n == 1 ? "blocks" : "clusters");
    if (ferror(out) | fclose(out) || !text) heap_exhausted();
    if (stuck && report_missing_lanes(c)) stuck = NULL;
    if (stuck)
        emu_report(EMU_DEADLOCK, stuck, &stuck->block->kernel->inst[stuck->group[0].pc], NULL,
                   "no warp can go on%s", text);
    free(text);
    c->stopped = true;
}

/* A report names a loop that runs rather than a warp that waits for it. */
static const struct emu_warp *looping(struct emu_cluster *c, uint32_t *pc) {
    for (uint32_t r = 0; r < c->n; r++)
        for (int n = 0; n < c->block[r]->n_warps; n++) {
            struct emu_warp *w = &c->block[r]->warp[n];
            for (int g = 0; g < w->n_groups; g++) {
                struct stuck_place p = place_of(c->block[r]->kernel, &w->group[g]);
                *pc = p.last >= 0 ? (uint32_t)p.last : p.pc;
                if (p.last >= 0) return w;
            }
        }
    return NULL;
}

void emu_report_endless(struct emu_cluster *c, struct emu_limits *l) {
    char *text = NULL;
    size_t bytes = 0;
    uint32_t pc = 0;
    if (atomic_load(&l->end) == EMU_INTERRUPTED || atomic_exchange(&l->said, true)) return;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) heap_exhausted();
    if (atomic_load(&l->end) == EMU_TIME_OVER)
        fprintf(out, "not at its end after %g s (--timeout)", l->options->timeout_s);
    else
        fprintf(out, "not at its end after %llu warp instructions (--max-instructions)",
                (unsigned long long)l->options->max_instructions);
    const struct emu_warp *any = print_cluster(c, out), *runs = looping(c, &pc);
    if (!runs && any) runs = any, pc = any->group[0].pc;
    if (ferror(out) | fclose(out) || !text) heap_exhausted();
    if (runs) emu_report(EMU_ENDLESS, runs, &runs->block->kernel->inst[pc], NULL, "%s", text);
    free(text);
}
