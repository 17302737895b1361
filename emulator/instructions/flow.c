/* Control: branches, exit, barriers, traps. */
#include "flow.h"

#include "cluster.h"
#include "handlers.h"
#include "lanes.h"
#include "tensor/wgmma.h"

#include "emulator/checks/vector_clock.h"
#include "emulator/checks/global.h"
#include "emulator/checks/overlap.h"
#include "emulator/core/failed_check.h"

#include <stdio.h>
#include <string.h>

/* ---- Branches -------------------------------------------------------------------------------- */

static void add_group(struct emu_warp *w, uint32_t pc, uint32_t mask) {
    w->group[w->n_groups++] = (struct emu_group){.pc = pc, .mask = mask};
}

enum emu_step emu_branch(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                         uint32_t target) {
    uint32_t rest = w->now->mask & ~mask;
    if (rest) {
        w->count[i->pc].splits++;
        w->now->mask = mask;
        add_group(w, i->pc + 1, rest);
    }
    w->now->pc = target;
    return EMU_FLOW;
}

void emu_part(struct emu_warp *w, const struct emu_inst *i, uint32_t lanes, uint32_t target) {
    w->now->mask &= ~lanes;
    add_group(w, target, lanes);
    w->count[i->pc].splits++;
}

enum emu_step emu_bra(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    return emu_branch(w, i, mask, (uint32_t)i->op[0].imm);
}

/* brx.idx r, list: op[1..] are the targets */
enum emu_step emu_brx(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const uint32_t *index = ROW(uint32_t, 0);
    uint32_t left = mask, first = index[__builtin_ctz(mask)];
    for (uint32_t n = 0; n + 1 < i->n_ops; n++) {
        uint32_t here = 0;
        EMU_EACH_LANE(l, left) here |= (uint32_t)(index[l] == n) << l;
        if (!here || n == first) continue;
        left &= ~here;
        emu_part(w, i, here, (uint32_t)i->op[1 + n].imm);
    }
    if (first >= i->n_ops - 1u) {
        emu_report(EMU_BAD_OPERAND, w, i, NULL, "index %u of %u branch targets", first,
                   i->n_ops - 1u);
        return EMU_STOP;
    }
    return emu_branch(w, i, left, (uint32_t)i->op[1 + first].imm);
}

enum emu_step emu_trap(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const struct emu_launch_state *launch = w->block->launch;
    emu_report(EMU_TRAP, w, i, NULL, "%s by lane %d%s", i->opcode, __builtin_ctz(mask),
               launch->kernel->syncs_grid && !launch->workspace
                   ? "; grid.sync() needs a cooperative launch (cudaLaunchCooperativeKernel)"
                   : "");
    return EMU_STOP;
}

/* nanosleep: others first */
enum emu_step emu_yield(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    (void)i, (void)mask;
    return w->resumed ? EMU_NEXT : EMU_WAIT;
}

enum { TOKEN_MET = 0x7fff0003 }; /* others have met this group at another __syncwarp() */

/* ---- Warp convergence ------------------------------------------------------------------------ */

bool emu_converged(struct emu_warp *w, uint32_t mask, uint32_t members) {
    if (!(members & w->live & ~mask)) return true;
    w->token = EMU_TOKEN_CONVERGE;
    return false;
}

void emu_aligned(const struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    if (mask == w->live) return;
    emu_report(EMU_DIVERGENT, w, i, NULL,
               "%s runs with lanes %08x of %08x: all lanes of a warp must run it together",
               i->opcode, mask, w->live);
}

uint32_t emu_team(const struct emu_warp *w, const struct emu_operand *members, uint32_t mask) {
    const uint32_t *named = emu_row32(w, members->row);
    uint32_t team = 0;
    if (members->has_imm) return mask;
    EMU_EACH_LANE(l, mask) team |= (uint32_t)(named[l] == named[__builtin_ctz(mask)]) << l;
    return team;
}

bool emu_team_outside(const struct emu_warp *w, const struct emu_inst *i, uint32_t team,
                      uint32_t members) {
    if (!(team & ~members)) return false;
    emu_report(EMU_BAD_OPERAND, w, i, NULL, "lanes %08x are not among the members %08x",
               team & ~members, members);
    return true;
}

/* The lanes of group g, if it waits at another __syncwarp() for the same members and for no others. */
static uint32_t waits_elsewhere(const struct emu_warp *w, const struct emu_group *g, uint32_t pc,
                                uint32_t members) {
    const struct emu_inst *i = &w->block->kernel->inst[g->pc];
    bool waits = g != w->now && g->waiting && g->token == EMU_TOKEN_CONVERGE && g->pc != pc &&
                 i->run == emu_warp_sync && ROW(uint32_t, 0)[__builtin_ctz(g->mask)] == members &&
                 emu_team(w, &i->op[0], g->mask) == g->mask;
    return waits ? g->mask : 0;
}

/* Lanes of one mask may meet at several instructions: the last to come lets the others go. */
enum emu_step emu_warp_sync(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t here[EMU_LANES], team;
    if (w->resumed && w->token == TOKEN_MET) return EMU_NEXT;
    for (uint32_t left = mask; left; left &= ~team) {
        uint32_t first = (uint32_t)__builtin_ctz(left), members = ROW(uint32_t, 0)[first];
        here[first] = team = emu_team(w, &i->op[0], left);
        if (emu_team_outside(w, i, team, members)) return EMU_STOP;
        for (int g = 0; g < w->n_groups; g++)
            here[first] |= waits_elsewhere(w, &w->group[g], i->pc, members);
        if (!emu_converged(w, here[first], members)) return EMU_WAIT;
    }
    for (uint32_t left = mask; left; left &= ~team) {
        uint32_t first = (uint32_t)__builtin_ctz(left);
        team = emu_team(w, &i->op[0], left);
        for (int g = 0; here[first] != team && g < w->n_groups; g++)
            if (waits_elsewhere(w, &w->group[g], i->pc, ROW(uint32_t, 0)[first]))
                w->group[g].token = TOKEN_MET, w->group[g].retry = true;
        emu_lanes_synchronised(w, here[first]);
    }
    w->count[i->pc].splits++;
    emu_overlap_sync(w);
    return EMU_NEXT;
}

/* ---- Barriers -----------------------------------------------------------------------------------
 * A barrier counts threads. `expected` is what the first to arrive said, or all living threads
 * of the block (kept as 0, because threads may exit while others wait). */

static bool complete(struct emu_block *b, struct emu_barrier *bar) {
    if (!bar->first) return false;
    uint32_t expected = bar->expected ? bar->expected : b->n_live;
    if (bar->arrived < expected) return false;
    if (bar->arrived > expected && bar->expected)
        emu_report(EMU_BARRIER_MISMATCH, &b->warp[0], bar->first, NULL,
                   "%u threads arrived at a barrier for %u", bar->arrived, expected);
    emu_vector_clock_pass(b, &bar->done, &bar->clock);
    bar->votes_done = bar->votes;
    bar->all_done = bar->all;
    bar->arrived = bar->expected = 0;
    bar->first = NULL;
    bar->generation++;
    return true;
}

/* Threads have exited: barriers that waited only for them open. */
static void open_barriers(struct emu_block *b) {
    for (int n = 0; n < EMU_BARRIERS; n++)
        if (b->barrier[n].first && b->n_live && !b->barrier[n].expected)
            complete(b, &b->barrier[n]);
}

enum emu_step emu_exit(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    w->live &= ~mask;
    w->block->n_live -= (uint32_t)__builtin_popcount(mask);
    emu_cluster_exit(w, mask);
    w->now->mask &= ~mask;
    w->now->pc = i->pc + 1;
    if (!w->now->mask) *w->now = w->group[--w->n_groups];
    open_barriers(w->block);
    if (!w->live) emu_setmaxnreg_end(w);
    return EMU_FLOW;
}

/* 0: it has ended */
static int line_of_warp(const struct emu_warp *w) {
    return w->n_groups ? emu_line_of(&w->block->kernel->origin[w->group[0].pc]) : -1;
}

void emu_warps_print(const struct emu_block *b, uint32_t warps, FILE *out) {
    const char *comma = "";
    for (int n = 0; n < b->n_warps; n++) {
        int last = n, line = line_of_warp(&b->warp[n]);
        if (!(warps >> n & 1)) continue;
        while (last + 1 < b->n_warps && warps >> (last + 1) & 1 &&
               line_of_warp(&b->warp[last + 1]) == line)
            last++;
        fprintf(out, last > n ? "%swarps %d to %d" : "%swarp %d", comma, n, last);
        if (line < 0)
            fputs(last > n ? ", which have ended" : ", which has ended", out);
        else
            fprintf(out, " at line %d", line);
        comma = ", ";
        n = last;
    }
}

void emu_barrier_print(const struct emu_block *b, FILE *out) {
    for (int n = 0; n < EMU_BARRIERS; n++) {
        const struct emu_barrier *bar = &b->barrier[n];
        if (!bar->first) continue;
        fprintf(out, "  barrier %d: %u of %u threads have arrived, not: ", n, bar->arrived,
                bar->expected ? bar->expected : b->n_live);
        const uint32_t others = ~bar->came & (uint32_t)((2ull << (b->n_warps - 1)) - 1);
        emu_warps_print(b, others, out);
        fputs(others ? "\n" : "other lanes of the same warps\n", out);
    }
}

/* Do other lanes of the warp still poll or wait for an mbarrier, or wait here for those that did? Then all come
 * together first, as ptxas lets diverged lanes meet before a barrier. */
static bool others_come(const struct emu_warp *w, const struct emu_inst *i) {
    for (int g = 0; g < w->n_groups; g++) {
        const struct emu_group *x = &w->group[g];
        if (x == w->now || !x->waiting) continue;
        if (x->token == EMU_TOKEN_POLL || (x->token == EMU_TOKEN_CONVERGE && x->pc == i->pc) ||
            !strncmp(w->block->kernel->inst[x->pc].opcode, "mbarrier.", 9))
            return true;
    }
    return false;
}

/* aux: 1 aligned, 2 arrive only, 4 reduction (8 and, 16 or; else popc); operands after a possible
 * destination: barrier[, threads] */
static enum emu_step barrier(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    struct emu_block *b = w->block;
    int first = i->aux[1], lane = __builtin_ctz(mask);
    uint32_t id = emu_row32(w, i->op[first].row)[lane];
    uint32_t expected = i->n_ops > first + 1 && i->op[first + 1].kind == EMU_OP_ROW
                            ? emu_row32(w, i->op[first + 1].row)[lane]
                            : 0;
    if (id >= EMU_BARRIERS) {
        emu_report(EMU_BAD_OPERAND, w, i, NULL, "barrier %u: there are 16", id);
        return EMU_STOP;
    }
    struct emu_barrier *bar = &b->barrier[id];
    if (w->resumed && w->token != EMU_TOKEN_CONVERGE) {
        if ((uint32_t)w->token == bar->generation) return EMU_WAIT;
    } else {
        if (i->aux[0] & 1 && mask != w->live && others_come(w, i)) {
            w->token = EMU_TOKEN_CONVERGE;
            return EMU_WAIT;
        }
        w->effects++;
        if (i->aux[0] & 1) emu_aligned(w, i, mask);
        if (expected % EMU_LANES)
            emu_report(EMU_BARRIER_MISMATCH, w, i, NULL, "%u threads: must be a multiple of 32",
                       expected);
        if (bar->first && bar->expected != expected)
            emu_report(EMU_BARRIER_MISMATCH, w, i, bar->first,
                       "barrier %u: %u threads here, %u there", id, expected ? expected : b->n_live,
                       bar->expected ? bar->expected : b->n_live);
        if (!bar->first)
            bar->first = i, bar->expected = expected, bar->votes = 0, bar->all = true,
            bar->came = 0;
        bar->came |= 1u << w->index;
        uint32_t here = (uint32_t)__builtin_popcount(mask);
        /* a partly exited warp still counts as a whole one where threads are counted */
        bar->arrived += expected && mask == w->live ? EMU_LANES : here;
        w->count[i->pc].splits++;
        if (i->aux[0] & 4) {
            uint32_t p = read_pred(w, &i->op[i->n_ops - 1]) & mask;
            bar->votes += (uint32_t)__builtin_popcount(p);
            bar->all = bar->all && p == mask;
        }
        emu_release(w, mask, &bar->clock);
        w->token = bar->generation;
        if (i->aux[0] & 2) {
            complete(b, bar);
            return EMU_NEXT;
        }
        if (!complete(b, bar)) return EMU_WAIT;
    }
    emu_acquire(w, mask, &bar->done);
    if (i->aux[0] & 4) {
        if (i->op[0].kind == EMU_OP_PRED)
            write_pred(w, i->row[0], mask,
                       (i->aux[0] & 8 ? bar->all_done : bar->votes_done > 0) ? EMU_FULL : 0);
        else
            EMU_EACH_LANE(l, mask) emu_row32(w, i->row[0])[l] = bar->votes_done;
    }
    return EMU_NEXT;
}

emu_handler *emu_select_bar(struct emu_inst *i, const char **why) {
    (void)why;
    bool is_bar = !strncmp(i->opcode, "bar.", 4);
    bool reduction = emu_has(i, "red");
    i->aux[0] = (is_bar || emu_has(i, "aligned") ? 1 : 0) | (emu_has(i, "arrive") ? 2 : 0) |
                (reduction ? 4 : 0) | (emu_has(i, "and") ? 8 : 0);
    i->aux[1] = reduction ? 1 : 0;
    return barrier;
}

/* fence, membar: of what scope */
enum emu_step emu_fence(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    emu_fence_scope(w, mask, !emu_has(i, "cta"));
    if (emu_has(i, "gpu") || emu_has(i, "sys") || emu_has(i, "gl"))
        emu_global_fence(w, emu_has(i, "sc") || !strncmp(i->opcode, "membar", 6));
    return EMU_NEXT;
}

/* ---- The launch ahead ------------------------------------------------------------------------ */

/* griddepcontrol.wait: checks/overlap.h */
enum emu_step emu_grid_wait(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    (void)i;
    w->early &= ~mask;
    w->clock.waited = true;
    return EMU_NEXT;
}
