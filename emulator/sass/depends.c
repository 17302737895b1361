/* Does the course of a kernel depend on what it loads? Values are followed from loads of global memory through registers
 * to branches, to guards of memory accesses, and to addresses. Shared and local memory are one cell each.
 *
 * What compilers add for unusual operands is no reason: a branch to the slow path of a division or of a square root, or
 * to the reduction of a large argument of a sine. Such a branch is marked, and only its usual side is followed.
 *
 * A register may be unknown in some lanes only: what was written under a guard is known under that guard, as long as its
 * predicate stays the same.
 *     @!P1 MOV R8, RZ            R8 is known where P1 is false
 *     @!P1 LDG R9, [R8]          so this address is known */
#include "sass.h"

#include "common/base/heap.h"
#include "exec.h"

#include <stdlib.h>
#include <string.h>

enum {
    N_PREDICATES = 7,
    N_VALUES = SASS_RZ + N_PREDICATES, /* registers, then predicates */
    ANYWHERE = 0,                      /* known, whatever the lane */
    NOWHERE = 1, /* else 2 + 2 * predicate + is it negated: known under this guard */
};

/* What is known in front of an instruction. */
struct course {
    bool is_reached;
    uint8_t known[N_VALUES]; /* ANYWHERE, NOWHERE or a guard */
    uint64_t u;              /* uniform registers that come from memory, one bit each */
    uint8_t up;
    uint8_t large; /* predicates that say: the argument is too large for the usual way */
};

static uint8_t guard_of(const struct sass_inst *i) {
    if (i->guard == SASS_PT || i->guard_uniform) return NOWHERE;
    return (uint8_t)(2 + 2 * i->guard + i->guard_not);
}

static bool is_known(const struct course *c, int value, uint8_t guard) {
    return c->known[value] == ANYWHERE || (c->known[value] == guard && guard != NOWHERE);
}

static bool span_is_known(const struct course *c, const struct sass_span *s, uint8_t guard) {
    for (int i = s->first; i < s->first + s->n && i < SASS_RZ; i++)
        if (!is_known(c, i, guard)) return false;
    return true;
}

static bool uniform_is_known(const struct course *c, const struct sass_span *s) {
    for (int i = s->first; i < s->first + s->n && i < SASS_URZ; i++)
        if (c->u >> i & 1) return false;
    return true;
}

static bool is_always(const struct sass_inst *i) { return i->guard == SASS_PT && !i->guard_not; }

static bool loads_global(const struct sass_inst *i) {
    return i->memory == SASS_LDG || i->memory == SASS_ATOMG || i->memory == SASS_DSMEM;
}

/* Its predicates and its first n_sources registers: of a memory access the first is the address. */
static bool reads_unknown(const struct course *c, const struct sass_inst *i, int n_sources) {
    const uint8_t guard = guard_of(i);
    bool known = !(c->up & i->up_read);
    for (int p = 0; p < N_PREDICATES; p++)
        if (i->p_read >> p & 1) known &= is_known(c, SASS_RZ + p, guard);
    for (int s = 0; s < n_sources; s++) known &= span_is_known(c, &i->src[s], guard);
    for (int s = 0; s < 3; s++) known &= uniform_is_known(c, &i->usrc[s]);
    return !known;
}

static bool is_decided_by(const struct course *c, const struct sass_inst *i) {
    const bool memory = i->memory != SASS_NO_MEMORY && i->memory != SASS_HGMMA_OPERANDS;
    if (i->pipe == SASS_PIPE_BRANCH) return reads_unknown(c, i, SASS_SOURCES);
    return memory && reads_unknown(c, i, 1);
}

/* ---- Paths for unusual operands ---------------------------------------------------------------- */

/* Is this the way to a function that the compiler added, without another branch before? */
static bool leads_to_slow_path(const struct sass_kernel *k, uint32_t from) {
    for (uint32_t n = from; n < (uint32_t)k->n_inst; n++) {
        const uint8_t op = k->inst[n].op;
        if (op == SASS_OP_CALL) return strstr(k->text[n], "__internal_");
        if (k->inst[n].pipe == SASS_PIPE_BRANCH && op != SASS_OP_BSSY) return false;
    }
    return false;
}

/* Which side of a branch is only for unusual operands: enum sass_unusual. */
static uint8_t unusual_side(const struct sass_kernel *k, const struct course *c, uint32_t n) {
    const struct sass_inst *i = &k->inst[n];
    if (i->op == SASS_OP_CALL)
        return strstr(k->text[n], "__internal_") ? SASS_UNUSUAL_TAKEN : SASS_USUAL;
    if (i->op != SASS_OP_BRA || !i->target || i->guard_uniform || !strstr(k->text[n], "BRA "))
        return SASS_USUAL; /* .DIV, .U.ANY: of all lanes */
    if (i->guard != SASS_PT && c->large >> i->guard & 1)
        return i->guard_not ? SASS_UNUSUAL_NEXT : SASS_UNUSUAL_TAKEN;
    const bool taken = leads_to_slow_path(k, i->target / 16), next = leads_to_slow_path(k, n + 1);
    return taken == next ? SASS_USUAL : taken ? SASS_UNUSUAL_TAKEN : SASS_UNUSUAL_NEXT;
}

/* sinf, cosf and tanf reduce arguments from 105615 on by a loop over the bits of 2 / pi. */
static bool compares_with_largest(const struct sass_kernel *k, uint32_t n) {
    return k->inst[n].op == SASS_OP_FSETP && strstr(k->text[n], ".GE.") &&
           strstr(k->text[n], ",105615,");
}

/* ---- Steps ------------------------------------------------------------------------------------- */

static void set(struct course *c, int value, bool is, const struct sass_inst *i) {
    const uint8_t guard = guard_of(i);
    if (!is)
        c->known[value] = NOWHERE;
    else if (is_always(i))
        c->known[value] = ANYWHERE;
    else if (c->known[value] != ANYWHERE)
        c->known[value] = guard;
}

/* What was known under the old value of the predicate is not any more. */
static void forget_guard(struct course *c, int predicate) {
    for (int v = 0; v < N_VALUES; v++)
        if (c->known[v] >= 2 && (c->known[v] - 2) / 2 == predicate) c->known[v] = NOWHERE;
}

static void step(const struct sass_kernel *k, struct course *c, uint32_t n, bool *shared,
                 bool *local) {
    const struct sass_inst *i = &k->inst[n];
    bool is = !reads_unknown(c, i, SASS_SOURCES) && !loads_global(i);
    if (i->memory == SASS_STS || i->memory == SASS_ATOMS || i->memory == SASS_STSM) *shared |= !is;
    if (i->memory == SASS_LDGSTS || i->memory == SASS_TMA_LOAD) *shared = true;
    if (i->memory == SASS_STL) *local |= !is;
    if (i->memory == SASS_LDS || i->memory == SASS_LDSM || i->memory == SASS_ATOMS) is &= !*shared;
    if (i->memory == SASS_LDL) is &= !*local;
    for (int r = i->dst.first; r < i->dst.first + i->dst.n && r < SASS_RZ; r++) set(c, r, is, i);
    for (int r = i->udst.first; r < i->udst.first + i->udst.n && r < SASS_URZ; r++) {
        if (!is) c->u |= 1ull << r;
        if (is && is_always(i)) c->u &= ~(1ull << r);
    }
    if (!is) c->up |= i->up_written;
    if (is && is_always(i)) c->up &= (uint8_t)~i->up_written;
    for (int p = 0; p < N_PREDICATES; p++) {
        if (!(i->p_written >> p & 1)) continue;
        forget_guard(c, p);
        set(c, SASS_RZ + p, is && i->guard != p, i); /* its guard is gone */
        c->large &= (uint8_t) ~(1u << p);
    }
    if (compares_with_largest(k, n) && is_always(i)) c->large |= i->p_written;
}

static uint8_t joined(uint8_t a, uint8_t b) {
    if (a == ANYWHERE) return b;
    return b == ANYWHERE || a == b ? a : NOWHERE;
}

/* Both ways lead here. Is less known now than before? */
static bool join(struct course *to, const struct course *from) {
    bool less = false;
    if (!to->is_reached) {
        *to = *from;
        return true;
    }
    for (int v = 0; v < N_VALUES; v++) {
        const uint8_t known = joined(to->known[v], from->known[v]);
        less |= known != to->known[v];
        to->known[v] = known;
    }
    less |= (from->u & ~to->u) || (from->up & ~to->up) || (to->large & ~from->large);
    to->u |= from->u;
    to->up |= from->up;
    to->large &= from->large;
    return less;
}

/* A call of the driver's code, which has no target, comes back. */
static bool goes_elsewhere(const struct sass_inst *i) {
    return i->op == SASS_OP_BRA || i->op == SASS_OP_CALL;
}

/* Where a RET goes: behind each call. */
static bool join_returns(const struct sass_kernel *k, struct course *in, const struct course *out) {
    bool changed = false;
    for (int n = 0; n < k->n_inst; n++)
        if (in[n].is_reached && k->inst[n].op == SASS_OP_CALL) changed |= join(&in[n + 1], out);
    return changed;
}

/* Where a computed branch goes: anywhere. */
static bool join_all(const struct sass_kernel *k, struct course *in, const struct course *out) {
    bool changed = false;
    for (int n = 0; n < k->n_inst; n++) changed |= join(&in[n], out);
    return changed;
}

bool sass_depends_on_data(const struct sass_kernel *k) {
    const struct sass_code *code = sass_code(k);
    struct course *in = heap_zeroed((size_t)k->n_inst + 1, sizeof *in);
    bool depends = false, shared = false, local = false, changed = true;
    in[0].is_reached = true;
    while (changed && !depends) {
        changed = false;
        for (int n = 0; n < k->n_inst && !depends; n++) {
            const struct sass_inst *i = &k->inst[n];
            const bool shared_before = shared, local_before = local;
            if (!in[n].is_reached) continue;
            struct course out = in[n];
            uint8_t unusual = SASS_USUAL;
            if (is_decided_by(&out, i)) {
                unusual = unusual_side(k, &out, (uint32_t)n);
                code->exec[n].inst->unusual = unusual;
                code->exec[n].always |= unusual == SASS_UNUSUAL_NEXT; /* sass_bra() decides */
                depends = unusual == SASS_USUAL;
            }
            step(k, &out, (uint32_t)n, &shared, &local);
            changed |= shared != shared_before || local != local_before;
            const bool returns = i->op == SASS_OP_RET, computed = i->op == SASS_OP_BRX,
                       leaves = is_always(i) && (returns || computed || i->op == SASS_OP_EXIT ||
                                                 (goes_elsewhere(i) && i->target));
            if (!leaves && unusual != SASS_UNUSUAL_NEXT) changed |= join(&in[n + 1], &out);
            if (i->target && i->op != SASS_OP_BSSY && unusual != SASS_UNUSUAL_TAKEN)
                changed |= join(&in[i->target / 16], &out); /* BSSY names the place, but stays */
            if (returns) changed |= join_returns(k, in, &out);
            if (computed) changed |= join_all(k, in, &out);
        }
    }
    free(in);
    return depends;
}
