/* Atomics on global and shared memory. What one leaves behind, the PTX side says (emu_combine). */
#include "exec.h"

#include "emulator/core/memory.h"
#include "emulator/instructions/access.h"

#include <string.h>

static uint64_t operand(const struct sass_warp *w, uint32_t row, uint32_t l, unsigned bytes) {
    const uint32_t *s = sass_row(w, row);
    return s[l] | (bytes == 8 ? (uint64_t)s[l + SASS_LANES] << 32 : 0);
}

static void result(struct sass_warp *w, const struct sass_exec *x, uint32_t l, uint64_t value) {
    uint32_t *d = sass_row(w, x->d);
    d[l] = (uint32_t)value;
    if (x->bytes == 8) d[l + SASS_LANES] = (uint32_t)(value >> 32);
}

/* The operation of one lane on what lies at `at`; returns what was there, or whether it stored. */
static uint64_t apply(struct sass_warp *w, const struct sass_exec *x, uint32_t l,
                      unsigned char *at) {
    const struct sass_atomic *a = x->more;
    uint64_t old = 0, b = operand(w, x->s[1].row, l, x->bytes),
             c = operand(w, x->s[2].row, l, x->bytes);
    memcpy(&old, at, x->bytes);
    const uint64_t new = emu_combine(&a->inst, old, b, c);
    memcpy(at, &new, x->bytes);
    return a->spins ? old == b : old;
}

/* The tile counter of persistent CTAs is the predictor's to answer. */
static bool answered(struct sass_warp *w, const struct sass_exec *x, uint32_t l, uint64_t addr,
                     uint32_t *value) {
    const struct sass_grid *g = w->cta->grid;
    const struct sass_atomic *a = x->more;
    bool counts = x->bytes == 4 && a->inst.aux[0] == EMU_ATOMIC_ADD && a->inst.type[0] != EMU_F32 &&
                  a->inst.type[0] != EMU_F16X2;
    *value = sass_row(w, x->s[1].row)[l];
    return counts && g->atomic && g->atomic(g->user, w, x->inst, (int)l, addr, value);
}

/* ATOMG, REDG; by generic address ATOM and RED, whose predicate says that it was global memory's. */
enum sass_go sass_atomg(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint64_t addr[SASS_LANES];
    uint32_t done = 0;
    sass_global_addresses(w, x, 0, x->offset, addr);
    EMU_EACH_LANE(l, mask) {
        uint32_t value;
        if (x->mode && addr[l] >> 32 == SASS_SWINHI) continue; /* the code behind it does it */
        unsigned char *at = addr[l] % x->bytes ? NULL : sass_global(w, addr[l], x->bytes, EMU_ATOM);
        if (!at) return sass_bad_global(w, x, l, addr[l]);
        done |= 1u << l;
        if (answered(w, x, l, addr[l], &value)) {
            result(w, x, l, value);
            continue;
        }
        if (!sass_may_write(w, x, at, x->bytes)) return SASS_GO_FAULT;
        result(w, x, l, apply(w, x, l, at));
    }
    sass_write_pred(w, x->pd, mask, done);
    return SASS_GO_NEXT;
}

enum sass_go sass_atoms(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t addr[SASS_LANES];
    if (!sass_shared_addresses(w, x, mask, x->bytes, addr)) return SASS_GO_FAULT;
    EMU_EACH_LANE(l, mask)
    result(w, x, l, apply(w, x, l, sass_shared(w->cta, addr[l], x->bytes)));
    return SASS_GO_NEXT;
}

/* ---- Across lanes ---------------------------------------------------------------------------- */

static uint32_t join(uint32_t a, uint32_t b, int how, bool is_signed) {
    bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
    switch (how) {
    case REDUX_AND:
        return a & b;
    case REDUX_OR:
        return a | b;
    case REDUX_XOR:
        return a ^ b;
    case REDUX_SUM:
        return a + b;
    case REDUX_MIN:
        return less ? a : b;
    default:
        return less ? b : a;
    }
}

/* mode: how; mode2: of signed numbers. The lanes that are here; into a uniform register. */
enum sass_go sass_redux(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const uint32_t *s = sass_row(w, x->s[0].row), first = (uint32_t)__builtin_ctz(mask);
    uint32_t r = s[first], *u = sass_row(w, x->d);
    EMU_EACH_LANE(l, mask & ~(1u << first)) r = join(r, s[l], x->mode, x->mode2);
    for (int l = 0; l < SASS_LANES; l++) u[l] = r;
    return SASS_GO_NEXT;
}

/* Each lane gets the lanes that have its value; mode: all or none. mode2: of 64 bits. */
enum sass_go sass_match(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const unsigned bytes = x->mode2 ? 8 : 4;
    uint32_t *d = sass_row(w, x->d), alike[SASS_LANES] = {0}, all = 0;
    EMU_EACH_LANE(l, mask)
    EMU_EACH_LANE(k, mask)
    alike[l] |= (uint32_t)(operand(w, x->s[0].row, k, bytes) == operand(w, x->s[0].row, l, bytes))
                << k;
    EMU_EACH_LANE(l, mask) {
        all |= (uint32_t)(alike[l] == mask) << l;
        d[l] = x->mode && alike[l] != mask ? 0 : alike[l];
    }
    sass_write_pred(w, x->pd, mask, all);
    return SASS_GO_NEXT;
}
