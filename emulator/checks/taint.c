/* Uninitialised memory: reading it is no error yet (tiles are padded, and what is beyond
 * the end is masked out later). The registers that took such bytes are tainted, lane by lane;
 * the taint follows arithmetic and stores to shared memory, and is reported when it reaches another store, a
 * branch or an address.
 * A product of floats taints what depends on its tainted operands, element by element; products of integers and bits end a
 * taint. Warps without taint pay nothing. */
#include "taint.h"

#include "taint_bytes.h"

#include "emulator/core/failed_check.h"
#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>

static void make_room(struct emu_warp *w) {
    if (!w->taint) w->taint = heap_zeroed(w->block->kernel->row_bytes / 4 + 1, sizeof *w->taint);
}

enum { FROM_SHARED, FROM_GLOBAL, FROM_LOCAL, FROM_ABSENT }; /* what taints: taint_from */
static const struct {
    enum emu_report_kind kind;
    const char *memory;
} sources[] = {[FROM_SHARED] = {EMU_UNINITIALISED, "shared"},
               [FROM_GLOBAL] = {EMU_UNINITIALISED_GLOBAL, "global"},
               [FROM_LOCAL] = {EMU_UNINITIALISED_LOCAL, "local"}};

/* i's destination will take pending_taint. */
static void taint(struct emu_warp *w, const struct emu_inst *i, uint8_t from) {
    w->taint_pc = i->pc;
    w->taint_from = from;
    w->tainted = true;
    w->limit = 0; /* leave the fast loop */
}

/* Of the bytes [at, at + n), n at most 16, those that nothing wrote: a bit each. */
static uint32_t missing(const uint8_t *initialised, uint32_t at, uint32_t n) {
    uint32_t bits = 0;
    for (uint32_t k = 0; k < n; k++)
        bits |= (~(uint32_t)initialised[(at + k) / 4] >> (at + k) % 4 & 1) << k;
    return bits;
}

/* The tainted bytes of pending_taint, by element and lane: taint_bytes.h. */
static _Thread_local uint8_t pending_bytes[8][EMU_LANES];

/* ldmatrix and stmatrix: lane 8r + j points at row j of matrix r, 16 bytes. Of register r lane l has the word l % 4 of row
 * l / 4; transposed, halves l / 4 of the rows 2 (l % 4) and the next one (mma_fragment.h). */
struct matrix_half {
    uint32_t lane, at; /* the lane that points at its row; where in the row, bytes */
};
static struct matrix_half matrix_half(const struct emu_inst *i, int r, int l, int half) {
    const bool transposed = strstr(i->opcode, ".trans") != NULL;
    const uint32_t row = (uint32_t)(transposed ? l % 4 * 2 + half : l / 4),
                   column = (uint32_t)(transposed ? l / 4 : l % 4 * 2 + half);
    return (struct matrix_half){8 * (uint32_t)r + row, 2 * column};
}

static void matrices_loaded(struct emu_warp *w, const struct emu_inst *i,
                            const struct emu_pattern *p, uint32_t first,
                            const uint8_t *initialised) {
    for (int r = 0; r < i->op[0].n; r++)
        for (int l = 0; l < EMU_LANES; l++)
            for (int half = 0; half < 2; half++) {
                const struct matrix_half h = matrix_half(i, r, l, half);
                if (missing(initialised, first + (uint32_t)p->delta[h.lane] + h.at, 2))
                    w->pending_taint[r] |= 1u << l, pending_bytes[r][l] = 0;
            }
}

/* The halves that tainted registers have written count as not written. */
static void matrices_stored(struct emu_warp *w, const struct emu_inst *i,
                            const struct emu_pattern *p, uint32_t first, uint8_t *initialised) {
    for (int r = 0; r < i->op[1].n; r++) {
        EMU_EACH_LANE(l, w->pending_taint[r]) {
            for (int half = 0; half < 2; half++) {
                const struct matrix_half h = matrix_half(i, r, (int)l, half);
                const uint32_t at = first + (uint32_t)p->delta[h.lane] + h.at;
                initialised[at / 4] &= (uint8_t) ~(3u << at % 4);
            }
        }
        w->pending_taint[r] = 0;
    }
}

void emu_uninitialised(struct emu_warp *w, const struct emu_inst *i, const struct emu_pattern *p,
                       uint32_t first, const uint8_t *initialised) {
    bool is_load = i->class == EMU_LD_SHARED || i->class == EMU_LD_CLUSTER ||
                   i->class == EMU_LD_GLOBAL; /* a generic ld */
    if (!strncmp(i->opcode, "ldmatrix", 8)) {
        make_room(w);
        matrices_loaded(w, i, p, first, initialised);
        taint(w, i, FROM_SHARED);
        return;
    }
    if (!is_load || i->op[0].kind != EMU_OP_GROUP) return;
    make_room(w);
    unsigned bytes = p->bytes / i->vec;
    EMU_EACH_LANE(l, p->mask) {
        for (int k = 0; k < i->vec; k++) {
            const uint32_t at = first + (uint32_t)p->delta[l] + (uint32_t)k * bytes;
            const uint32_t bits = missing(initialised, at, bytes);
            pending_bytes[k][l] = taint_kept(bits, bytes);
            if (bits) w->pending_taint[k] |= 1u << l;
        }
    }
    taint(w, i, FROM_SHARED);
}

static void taint_elements(struct emu_warp *w, const struct emu_inst *i,
                           const uint16_t missing_bytes[8][EMU_LANES], unsigned bytes,
                           uint8_t from) {
    make_room(w);
    for (int k = 0; k < i->vec; k++)
        for (int l = 0; l < EMU_LANES; l++) {
            const uint16_t lacks = missing_bytes[k][l];
            pending_bytes[k][l] = from != FROM_LOCAL          ? taint_kept(lacks, bytes)
                                  : lacks == (1 << bytes) - 1 ? 0
                                                              : (uint8_t)lacks;
            w->pending_taint[k] |= (uint32_t)(lacks != 0) << l;
        }
    taint(w, i, from);
}

void emu_uninitialised_global(struct emu_warp *w, const struct emu_inst *i,
                              const uint16_t missing_bytes[8][EMU_LANES], unsigned bytes) {
    bool is_load =
        i->class == EMU_LD_GLOBAL || i->class == EMU_LD_SHARED; /* wmma.load of a generic address */
    if (is_load && i->op[0].kind == EMU_OP_GROUP)
        taint_elements(w, i, missing_bytes, bytes, FROM_GLOBAL);
}

void emu_local_check(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                     const uint64_t addr[EMU_LANES], unsigned bytes, enum emu_access what) {
    const uint32_t arrays = emu_local_arrays(w->block->kernel), one = bytes / i->vec;
    const bool loads = !strncmp(i->opcode, "ld.", 3) && strncmp(i->opcode, "ld.param", 8) &&
                       i->op[0].kind == EMU_OP_GROUP;
    uint16_t lacks[8][EMU_LANES] = {{0}}, any = 0;
    EMU_EACH_LANE(l, mask) {
        if (addr[l] + bytes > arrays) continue;
        uint16_t *written = &w->local_written[emu_local_words(w->block->kernel) * l + addr[l] / 16];
        const uint32_t bits = ((1u << bytes) - 1) << addr[l] % 16, lacking = bits & ~*written;
        if (what & EMU_WRITE) *written |= (uint16_t)bits;
        for (unsigned k = 0; k < i->vec; k++) {
            if (what & EMU_WRITE && w->tainted && w->pending_taint[k] >> l & 1) {
                const uint32_t known = pending_bytes[k][l] ? pending_bytes[k][l] : 0xff;
                *written &= (uint16_t) ~((known & ((1u << one) - 1)) << (addr[l] % 16 + k * one));
            } else if (!(what & EMU_WRITE)) {
                lacks[k][l] = (uint16_t)(lacking >> (addr[l] % 16 + k * one) & ((1u << one) - 1));
                any |= lacks[k][l];
            }
        }
    }
    if (what & EMU_WRITE && w->tainted)
        for (unsigned k = 0; k < i->vec; k++) w->pending_taint[k] &= ~mask;
    if (any && loads) taint_elements(w, i, lacks, one, FROM_LOCAL);
}

/* Whole values of these lanes are tainted as well. */
static void add(struct emu_warp *w, uint32_t row, uint32_t lanes) {
    *taint_of(w, row) |= lanes;
    EMU_EACH_LANE(l, lanes) taint_bytes(w, row)[l] = 0;
}

void emu_taint_absent(struct emu_warp *w, const struct emu_inst *i, uint32_t lanes) {
    make_room(w);
    add(w, i->row[0], lanes);
    taint(w, i, FROM_ABSENT);
}

void emu_taint_results(struct emu_warp *w, const struct emu_inst *i, const uint32_t lanes[]) {
    make_room(w);
    for (int k = 0; k < i->op[0].n; k++) add(w, i->op[0].rows[k], lanes[k]);
    taint(w, i, FROM_SHARED);
}

/* The lanes in which predicate `op` decides "op and x" (or "op or x") whatever x is. */
static uint32_t decided(const struct emu_warp *w, const struct emu_operand *op, bool is_and) {
    bool by_true = op->negated == is_and;
    return ~w->taint[op->row / 4] & (by_true ? *emu_mask(w, op->row) : ~*emu_mask(w, op->row));
}

/* Does it join two truths: "and.pred", "setp.lt.and.u32"? */
static bool joins(const struct emu_inst *i, const char *how) { /* "and." or "or." */
    const char *at = strstr(i->opcode, how);
    return at && (at == i->opcode || at[-1] == '.') &&
           (i->class == EMU_COMPARE || i->class == EMU_LOGIC);
}

/* The lanes of which the instruction's result depends on tainted ones, but for its guard. */
static uint32_t gathered(struct emu_warp *w, const struct emu_inst *i) {
    if (!strncmp(i->opcode, "selp", 4)) {
        uint32_t p = *emu_mask(w, i->row[3]) ^ (i->op[3].negated ? EMU_FULL : 0);
        return (p & *taint_of(w, i->row[1])) | (~p & *taint_of(w, i->row[2])) |
               *taint_of(w, i->row[3]);
    }
    const bool is_and = joins(i, "and."), is_or = joins(i, "or.");
    uint32_t t = 0;
    for (int o = 0; o < i->n_ops; o++) {
        const struct emu_operand *op = &i->op[o];
        if (op->written || op->kind == EMU_OP_IMM || op->kind == EMU_OP_LABEL) continue;
        if (op->kind == EMU_OP_GROUP) {
            for (int k = 0; k < op->n; k++) t |= *taint_of(w, op->rows[k]);
        } else if (op->kind == EMU_OP_PRED && o == i->n_ops - 1 && (is_and || is_or)) {
            uint32_t by_first = i->class == EMU_LOGIC ? decided(w, &i->op[o - 1], is_and) : 0;
            t = (t & ~decided(w, op, is_and)) | (*taint_of(w, op->row) & ~by_first);
        } else {
            t |= *taint_of(w, op->row);
        }
    }
    return t;
}

/* A product of floats is run on the taint itself: tainted operands are NaN, others 0, and what becomes NaN depends on
 * them. taint[k] is that of register k of the result. */
static void multiplied(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                       uint32_t taint[], int most) {
    enum { OPERANDS = 4, REGISTERS = 16 };
    static _Thread_local uint64_t saved[OPERANDS][REGISTERS][EMU_LANES];
    memset(taint, 0, (size_t)most * sizeof *taint);
    bool any = false, integers = false;
    for (int t = 0; t < i->n_types; t++) integers |= i->type[t] == EMU_S32;
    for (int o = 0; o < OPERANDS; o++) {
        if (i->op[o].kind != EMU_OP_GROUP || i->op[o].n > REGISTERS) return;
        for (int k = 0; o && k < i->op[o].n; k++) any |= *taint_of(w, i->op[o].rows[k]) != 0;
    }
    if (!any || integers || mask != EMU_FULL || i->op[0].n > most) return;
    for (int o = 0; o < OPERANDS; o++) {
        const struct emu_operand *op = &i->op[o];
        const size_t bytes = EMU_LANES * (op->wide ? 8 : 4);
        for (int k = 0; k < op->n; k++) memcpy(saved[o][k], w->rows + op->rows[k], bytes);
    }
    for (int o = 1; o < OPERANDS; o++)
        for (int k = 0; k < i->op[o].n; k++)
            for (int l = 0; l < EMU_LANES; l++) {
                const bool tainted = *taint_of(w, i->op[o].rows[k]) >> l & 1;
                if (i->op[o].wide)
                    emu_row64(w, i->op[o].rows[k])[l] = tainted ? UINT64_MAX : 0;
                else
                    emu_row32(w, i->op[o].rows[k])[l] = tainted ? UINT32_MAX : 0;
            }
    i->run(w, i, mask);
    for (int k = 0; k < i->op[0].n; k++)
        for (int l = 0; l < EMU_LANES; l++) { /* zeros stay zeros */
            const uint64_t d = i->op[0].wide ? emu_row64(w, i->op[0].rows[k])[l]
                                             : emu_row32(w, i->op[0].rows[k])[l];
            taint[k] |= (uint32_t)(d != 0) << l;
        }
    for (int o = 0; o < OPERANDS; o++) {
        const struct emu_operand *op = &i->op[o];
        const size_t bytes = EMU_LANES * (op->wide ? 8 : 4);
        for (int k = 0; k < op->n; k++) memcpy(w->rows + op->rows[k], saved[o][k], bytes);
    }
}

/* A wgmma adds to its sums unless scale-d is 0. Rows of A in registers are those of the sums (mma_fragment.h); what it reads
 * from shared memory taints them when it is complete (wgmma.c). */
static void multiplies(struct emu_warp *w, const struct emu_inst *i) {
    const struct emu_operand *d = &i->op[0], *a = &i->op[1], *scale = &i->op[3];
    const bool adds = scale->kind == EMU_OP_IMM ? scale->imm != 0
                                                : (*emu_mask(w, scale->row) & 1) != scale->negated;
    uint32_t row[2] = {0, 0}; /* lanes that hold tainted rows: the upper 8, the lower 8 */
    for (int r = 0; a->n == 4 && r < a->n; r++)
        EMU_EACH_LANE(l, *taint_of(w, a->rows[r])) row[r & 1] |= 15u << l / 4 * 4;
    for (int k = 0; k < d->n; k++) {
        const uint32_t before = adds ? *taint_of(w, d->rows[k]) : 0;
        *taint_of(w, d->rows[k]) = 0;
        add(w, d->rows[k], before | row[(i->type[0] == EMU_F16 ? k : k / 2) & 1]);
    }
}

static bool is_store(const struct emu_inst *i) {
    return i->class == EMU_ST_GLOBAL || i->class == EMU_ST_SHARED || i->class == EMU_ST_LOCAL ||
           i->class == EMU_ST_CLUSTER || i->class == EMU_ATOMIC;
}
static bool is_load(const struct emu_inst *i) {
    return i->class == EMU_LD_GLOBAL || i->class == EMU_LD_SHARED || i->class == EMU_LD_LOCAL ||
           i->class == EMU_LD_CLUSTER;
}
static bool mixes_lanes(const struct emu_inst *i) {
    return i->class == EMU_LDSM || i->class == EMU_VOTE;
}

static void say(struct emu_warp *w, const struct emu_inst *i, uint32_t lanes, const char *what) {
    const struct emu_inst *from = &w->block->kernel->inst[w->taint_pc];
    if (w->taint_from == FROM_ABSENT)
        emu_report(EMU_BAD_SHUFFLE, w, i, from,
                   "lanes %08x: a value that a shuffle took from lanes that did not run it reaches "
                   "%s",
                   lanes, what);
    else
        emu_report(sources[w->taint_from].kind, w, i, from,
                   "lanes %08x: a value that nothing wrote, read from %s memory%s, reaches %s",
                   lanes, sources[w->taint_from].memory,
                   w->taint_from == FROM_SHARED && w->block->took_unwritten
                       ? " (it may be a copy of global memory that nothing wrote)"
                       : "",
                   what);
    memset(w->taint, 0, w->block->kernel->row_bytes / 4 * sizeof *w->taint);
    w->tainted = false;
}

/* Of each element, by a store that is no fragment's. */
static unsigned stored_bytes(const struct emu_inst *i) {
    return strncmp(i->opcode, "st.", 3) ? 8 : (unsigned)i->aux[0];
}

/* The lanes whose values, all bytes of them, or whose address are tainted. Of a value that is known by byte, a part that
 * nothing wrote may be padding; so may elements of a vector from local memory, where structs lie. */
static uint32_t stored(struct emu_warp *w, const struct emu_inst *i) {
    uint32_t t = *taint_of(w, i->row[0]);
    if (strncmp(i->opcode, "st.", 3) || i->op[1].kind != EMU_OP_GROUP) return gathered(w, i);
    const bool together = w->taint_from == FROM_LOCAL;
    uint32_t values = together ? EMU_FULL : 0;
    for (int k = 0; k < i->vec; k++) {
        const uint32_t whole = taint_lanes(w, i->op[1].rows[k], stored_bytes(i), true);
        values = together ? values & whole : values | whole;
    }
    return t | values;
}

/* The store's own accesses will take what is pending: its bytes count as unwritten, so a later load is tainted. */
static void keep(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    for (int k = 0; k < i->vec; k++) {
        const uint32_t row = i->op[1].rows[k];
        w->pending_taint[k] = taint_lanes(w, row, stored_bytes(i), false) & mask;
        memcpy(pending_bytes[k], taint_bytes(w, row), EMU_LANES);
    }
}

/* A store of tainted values only, to shared or local memory. */
static bool keeps_taint(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                        uint32_t guard) {
    const bool local =
        i->class == EMU_ST_LOCAL && w->local_written && !w->block->kernel->n_functions;
    if (!local && (i->class != EMU_ST_SHARED || i->space != EMU_SHARED)) return false;
    /* the address, and the stride of wmma.store: without one that is EMU_TRUE, which nothing taints */
    const uint32_t where = *taint_of(w, i->row[0]) | *taint_of(w, i->row[2]);
    if (guard || (where & mask)) return false;
    keep(w, i, mask);
    return true;
}

void emu_taint_stored(struct emu_warp *w, const struct emu_inst *i, int r) {
    memset(pending_bytes, 0, sizeof pending_bytes);
    for (int k = 0; k < i->vec; k++) w->pending_taint[k] = *taint_of(w, i->op[1].rows[r + k]);
}

void emu_taint_loaded(struct emu_warp *w, const struct emu_inst *i, int r, int distinct) {
    for (int k = 0; k < i->vec; k++) {
        for (int copy = r + k; copy < i->op[0].n; copy += distinct)
            add(w, i->op[0].rows[copy], w->pending_taint[k]);
        w->pending_taint[k] = 0;
    }
}

void emu_taint_store(struct emu_warp *w, const struct emu_inst *i, const struct emu_pattern *p,
                     uint32_t first, uint8_t *initialised) {
    unsigned bytes = p->bytes / i->vec;
    if (w->taint_from == FROM_GLOBAL) w->block->took_unwritten = true;
    if (i->class == EMU_STSM) {
        matrices_stored(w, i, p, first, initialised);
        return;
    }
    for (int k = 0; k < i->vec; k++) {
        EMU_EACH_LANE(l, w->pending_taint[k] & p->mask) {
            const uint32_t at = first + (uint32_t)p->delta[l] + (uint32_t)k * bytes,
                           known = pending_bytes[k][l];
            for (uint32_t b = 0; b < bytes; b++)
                if (!known || known >> b & 1)
                    initialised[(at + b) / 4] &= (uint8_t) ~(1u << (at + b) % 4);
        }
        w->pending_taint[k] = 0;
    }
}

void emu_taint_store_global(struct emu_warp *w, const struct emu_inst *i, struct emu_allocation *a,
                            uint32_t mask, const uint64_t addr[EMU_LANES], unsigned bytes) {
    const unsigned one = bytes / i->vec;
    for (unsigned k = 0; k < i->vec; k++) {
        EMU_EACH_LANE(l, w->pending_taint[k] & mask) {
            const uint64_t at = addr[l] + k * one;
            for (unsigned b = 0; a->written && b < one; b++)
                if (pending_bytes[k][l] >> b & 1)
                    __atomic_fetch_and(a->written + ((at + b) / 4 - a->base / 4),
                                       (uint8_t) ~(1u << (at + b) % 4), __ATOMIC_RELAXED);
        }
        w->pending_taint[k] = 0;
    }
}

/* Before an instruction of a tainted warp: `mask` are the lanes that run it, `group` those that
 * came to it. */
void emu_taint_step(struct emu_warp *w, const struct emu_inst *i, uint32_t mask, uint32_t group) {
    const uint32_t guard = *taint_of(w, i->guard) & group; /* whether it runs at all */
    if (i->class == EMU_BRANCH && guard) {
        say(w, i, guard, "a branch");
        return;
    }
    if (i->class == EMU_HMMA) {
        uint32_t of[16];
        multiplied(w, i, mask, of, 16);
        for (int k = 0; k < i->op[0].n && k < 16; k++) {
            *taint_of(w, i->op[0].rows[k]) = 0;
            add(w, i->op[0].rows[k], of[k] | guard);
        }
        return;
    }
    if (i->class == EMU_HGMMA) {
        if (i->op[0].kind == EMU_OP_GROUP) multiplies(w, i);
        return;
    }
    if (i->class == EMU_STSM) {
        for (int r = 0; r < i->op[1].n; r++)
            w->pending_taint[r] = *taint_of(w, i->op[1].rows[r]) & mask;
        return;
    }
    if (taint_moved(w, i, mask)) return;
    const bool shuffle = i->class == EMU_SHUFFLE;
    uint32_t t = (shuffle ? taint_shuffled(w, i, mask) : gathered(w, i)) & mask;
    if ((t | guard) && is_store(i)) {
        memset(w->pending_taint, 0, sizeof w->pending_taint);
        if (keeps_taint(w, i, mask, guard)) return;
        t = stored(w, i) & mask;
        if (t | guard)
            say(w, i, t | guard, "a store");
        else if (i->class == EMU_ST_GLOBAL)
            keep(w, i, mask);
        return;
    }
    if ((t | (guard & mask)) && is_load(i)) {
        say(w, i, t | (guard & mask), "an address");
        return;
    }
    t = mixes_lanes(i) ? 0 : t | guard;
    for (int o = 0; o < i->n_ops; o++) {
        const struct emu_operand *op = &i->op[o];
        if (!op->written) continue;
        for (int k = 0; k < (op->kind == EMU_OP_GROUP ? op->n : 1); k++) {
            const uint32_t row = op->kind == EMU_OP_GROUP ? op->rows[k] : op->row;
            *taint_of(w, row) = (*taint_of(w, row) & ~mask) | t;
            if (op->kind == EMU_OP_PRED || shuffle) continue;
            EMU_EACH_LANE(l, mask) taint_bytes(w, row)[l] = 0;
        }
    }
}

/* After a load: its destination takes the taint that the access found. */
void emu_taint_load(struct emu_warp *w, const struct emu_inst *i) {
    const int n = !strncmp(i->opcode, "ldmatrix", 8) ? i->op[0].n : i->vec;
    for (int k = 0; k < n && i->op[0].kind == EMU_OP_GROUP; k++) {
        const uint32_t row = i->op[0].rows[k];
        *taint_of(w, row) |= w->pending_taint[k];
        EMU_EACH_LANE(l, w->pending_taint[k]) taint_bytes(w, row)[l] = pending_bytes[k][l];
        w->pending_taint[k] = 0;
    }
}
