/* Divergence: which lanes of a warp are where. One group runs; others wait at a BSYNC or WARPSYNC for
 * missing lanes, or wait to run.
 *
 *   BSSY B0, L      the lanes here will meet again at B0's BSYNC
 *   @P0 BRA M       some lanes branch: two groups
 *   ...             the one that falls through runs first, until it waits
 *   BSYNC B0        until all of BSSY's lanes that still live are here */
#include "exec.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

enum sass_go sass_stop(struct sass_warp *w, const struct sass_exec *x, const char *format, ...) {
    va_list list;
    char why[160];
    va_start(list, format);
    vsnprintf(why, sizeof why, format, list);
    va_end(list);
    snprintf(w->fault, sizeof w->fault, "block %llu, warp %d, %#x %s: %s",
             (unsigned long long)w->cta->linear, w->index, x->inst->pc, sass_op_name(x->inst->op),
             why);
    return SASS_GO_FAULT;
}

enum sass_go sass_unknown(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    (void)mask;
    snprintf(w->fault, sizeof w->fault, "%s", (const char *)x->more);
    return SASS_GO_FAULT;
}

/* The lanes that a waiting group waits for. */
static uint32_t awaited(const struct sass_warp *w, const struct sass_group *g) {
    return g->blocked == SASS_AT_BSYNC ? w->converge[g->need][__builtin_ctz(g->mask)] : g->need;
}

/* Both wait at one place for the same lanes. Those that left a loop in different turns wait at one place for others. */
static bool waits_with(const struct sass_warp *w, const struct sass_group *g,
                       const struct sass_group *other) {
    return other->blocked == g->blocked && other->pc == g->pc && awaited(w, other) == awaited(w, g);
}

/* Groups that wait for each other merge when all their lanes are there, and run on behind the place. */
static void meet(struct sass_warp *w) {
    for (int a = 0; a < w->n_others; a++) {
        const struct sass_group g = w->other[a];
        uint32_t here = 0;
        if (!g.blocked) continue;
        for (int b = 0; b < w->n_others; b++)
            if (waits_with(w, &g, &w->other[b])) here |= w->other[b].mask;
        if (awaited(w, &g) & w->live & ~here) continue;
        int n = 0;
        for (int b = 0; b < w->n_others; b++)
            if (!waits_with(w, &g, &w->other[b])) w->other[n++] = w->other[b];
        w->other[n++] = (struct sass_group){.pc = g.pc + 1, .mask = here};
        w->n_others = n;
        a = -1;
    }
}

/* The running group has ended: switch to the next one that can run, lowest address first. False: none can. */
static bool next_group(struct sass_warp *w) {
    int best = -1;
    meet(w);
    for (int g = 0; g < w->n_others; g++)
        if (!w->other[g].blocked && (best < 0 || w->other[g].pc < w->other[best].pc)) best = g;
    if (best < 0) return false;
    w->pc = w->other[best].pc;
    w->active = w->other[best].mask;
    w->other[best] = w->other[--w->n_others];
    return true;
}

bool sass_rotate(struct sass_warp *w) {
    int g;
    for (g = 0; g < w->n_others && w->other[g].blocked; g++) {
    }
    if (g == w->n_others) return false;
    struct sass_group next = w->other[g];
    for (; g + 1 < w->n_others; g++) w->other[g] = w->other[g + 1]; /* in turn */
    w->other[w->n_others - 1] = (struct sass_group){.pc = w->pc, .mask = w->active};
    w->pc = next.pc;
    w->active = next.mask;
    return true;
}

enum sass_go sass_block(struct sass_warp *w, const struct sass_exec *x, uint8_t kind,
                        uint32_t need) {
    w->other[w->n_others++] =
        (struct sass_group){.pc = w->pc, .mask = w->active, .blocked = kind, .need = need};
    w->active = 0;
    if (next_group(w)) return SASS_GO_FLOW;
    return sass_stop(w, x, "the lanes of the warp wait for each other");
}

void sass_split(struct sass_warp *w, uint32_t lanes, uint32_t pc) {
    w->active &= ~lanes;
    w->other[w->n_others++] = (struct sass_group){.pc = pc, .mask = lanes};
}

static void taken(struct sass_warp *w, uint32_t mask, uint32_t all) {
    if (!w->effect) return;
    w->effect->taken = true;
    w->effect->diverged = mask != all;
}

/* Lanes branch if the guard holds, and the predicate if there is one. */
enum sass_go sass_bra(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    mask &= sass_pred_value(w, x->pin[0]);
    if (x->inst->unusual && w->cta->grid->unknown_data)
        mask = x->inst->unusual == SASS_UNUSUAL_NEXT ? w->active : 0;
    if (!mask) return SASS_GO_NEXT;
    taken(w, mask, w->active);
    if (mask != w->active) {
        sass_split(w, mask, x->target);
        w->pc++;
    } else {
        w->pc = x->target;
    }
    return SASS_GO_FLOW;
}

/* All lanes branch if the predicate holds in one. */
enum sass_go sass_bra_any(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    if (!mask) return SASS_GO_NEXT;
    taken(w, w->active, w->active);
    w->pc = x->target;
    return SASS_GO_FLOW;
}

/* Branch if the lanes named by the uniform register are not all here; mode: if they are (BRA.CONV). */
enum sass_go sass_bra_div(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const uint32_t named = sass_row(w, x->s[0].row)[0] ^ x->s[0].flip;
    const bool all = !(named & w->live & ~w->active);
    if (mask != w->active) return sass_stop(w, x, "a guard that is not uniform");
    if (all != (bool)x->mode) return SASS_GO_NEXT;
    taken(w, w->active, w->active);
    w->pc = x->target;
    return SASS_GO_FLOW;
}

/* Each lane goes to its own address. */
static enum sass_go scatter(struct sass_warp *w, const struct sass_exec *x, uint32_t mask,
                            const uint32_t *to, uint32_t base) {
    uint32_t n = (uint32_t)w->cta->grid->kernel->n_inst, left = mask, behind = w->active & ~mask;
    taken(w, mask, w->active);
    if (behind) w->other[w->n_others++] = (struct sass_group){.pc = w->pc + 1, .mask = behind};
    w->active = 0;
    while (left) {
        uint32_t address = to[__builtin_ctz(left)] + base, here = 0;
        if (address % 16 || address / 16 >= n)
            return sass_stop(w, x, "a branch to %#x, outside of the kernel", address);
        EMU_EACH_LANE(l, left) here |= (uint32_t)(to[l] + base == address) << l;
        w->other[w->n_others++] = (struct sass_group){.pc = address / 16, .mask = here};
        left &= ~here;
    }
    return next_group(w) ? SASS_GO_FLOW : sass_stop(w, x, "no lanes left");
}

enum sass_go sass_brx(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    return scatter(w, x, mask, sass_row(w, x->s[0].row), x->imm);
}
enum sass_go sass_ret(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    return scatter(w, x, mask, sass_row(w, x->s[0].row), x->imm);
}
enum sass_go sass_call(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    return sass_bra(w, x, mask);
}

enum sass_go sass_lepc(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t *d = sass_row(w, x->d);
    const uint32_t at = sass_row(w, x->s[0].row)[0];
    EMU_EACH_LANE(l, mask) d[l] = at, d[l + SASS_LANES] = 0;
    return SASS_GO_NEXT;
}

/* How many values a format has, and how many characters. */
static int conversions(struct sass_warp *w, uint64_t format, int *characters) {
    const unsigned char *at;
    bool inside = false; /* of %-8.3f */
    int n = 0;
    *characters = 0;
    for (; (at = sass_global(w, format, 1, EMU_READ)) && *at; format++) {
        ++*characters;
        if (*at == '%') {
            inside = !inside;
        } else if (inside && *at == '*') {
            n++;
        } else if (inside && isalpha(*at) && !strchr("hlLjzt", *at)) {
            n++;
            inside = false;
        }
    }
    return n;
}

/* vprintf(R4, R6) prints nothing here: the PTX side has printed, or will. */
enum sass_go sass_call_driver(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    enum { FORMAT = 4 * SASS_ROW, RESULT = 4 * SASS_ROW };
    const uint32_t *to = sass_row(w, x->s[0].row), lane = (uint32_t)__builtin_ctz(mask);
    const uint32_t *format = sass_row(w, FORMAT);
    if ((to[lane] | (uint64_t)to[lane + SASS_LANES] << 32) != SASS_VPRINTF)
        return sass_stop(w, x, "a call of the driver's code (assert, malloc): that is not known");
    int characters;
    const int n =
        conversions(w, format[lane] | (uint64_t)format[lane + SASS_LANES] << 32, &characters);
    if (w->effect) w->effect->prints = (uint16_t)(1 + (characters < 10000 ? characters : 10000));
    EMU_EACH_LANE(l, mask) sass_row(w, RESULT)[l] = (uint32_t)n;
    return SASS_GO_NEXT;
}

enum sass_go sass_bssy(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    EMU_EACH_LANE(l, mask) w->converge[x->mode][l] = mask;
    return SASS_GO_NEXT;
}

/* BREAK: the lanes will not come to that BSYNC. */
enum sass_go sass_break(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    for (int l = 0; l < SASS_LANES; l++) w->converge[x->mode][l] &= ~mask;
    return SASS_GO_NEXT;
}

enum sass_go sass_bsync(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    if (mask != w->active) return sass_stop(w, x, "a guard that is not uniform");
    if (!(w->converge[x->mode][__builtin_ctz(mask)] & w->live & ~w->active)) return SASS_GO_NEXT;
    return sass_block(w, x, SASS_AT_BSYNC, x->mode);
}

/* .ALL; with a register (.COLLECTIVE) the lanes it names, until ENDCOLLECTIVE. */
enum sass_go sass_warpsync(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t named = x->mode ? sass_row(w, x->s[0].row)[__builtin_ctz(mask)] : EMU_FULL;
    if (mask != w->active) return sass_stop(w, x, "a guard that is not uniform");
    if (!(named & w->live & ~w->active)) return SASS_GO_NEXT;
    return sass_block(w, x, SASS_AT_WARPSYNC, named);
}

enum sass_go sass_yield(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    (void)x, (void)mask;
    w->pc++;
    sass_rotate(w);
    return SASS_GO_FLOW;
}

enum sass_go sass_exit(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    mask &= sass_pred_value(w, x->pin[0]);
    if (!mask) return SASS_GO_NEXT;
    w->live &= ~mask;
    w->active &= ~mask;
    w->pc++;
    if (!w->live) {
        sass_warp_exits(w);
        return SASS_GO_FLOW;
    }
    if (w->active) {
        meet(w);
        return SASS_GO_FLOW;
    }
    return next_group(w) ? SASS_GO_FLOW : sass_stop(w, x, "the lanes left wait for lanes gone");
}

enum sass_go sass_nop(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    (void)w, (void)x, (void)mask;
    return SASS_GO_NEXT;
}
