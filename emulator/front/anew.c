/* Which registers each block must find as the launch has drawn them, though the block before has
 * left something there: all but those that every way through the kernel writes before it reads them.
 *
 *   mov.f32 a, 1;   add.f32 b, a, c;   st.global.f32 [p], b;
 *   whoever reads a or b has written it before; c and p are to be drawn
 *
 * A lane writes for itself alone. So a register of which others read, by a shuffle or a product, is
 * drawn: perhaps those that it belongs to do not come by. */
#include "parser.h"
#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 1 << 22, MOST_PASSES = 64 }; /* more than that: all are drawn */

struct search {
    const struct emu_kernel *k;
    uint32_t *number;  /* by row / 4: of the register, from 1; 0: it is none */
    uint32_t words;    /* of a set of registers */
    uint64_t *here;    /* those that are written on every way to here */
    uint64_t **before; /* the same, by pc, where branches lead; else NULL */
    bool *anew;        /* by number: some way reads it first */
    bool changed;
};

static bool is(const struct emu_inst *i, const char *head) {
    return !strncmp(i->opcode, head, strlen(head));
}

/* Each lane makes its own result, of its own registers, whatever these are. */
static bool by_lane(const struct emu_inst *i) {
    return emu_is_arithmetic(i->class) && !strstr(i->opcode, ".sync") && !is(i, "mapa") &&
           !is(i, "getctarank");
}

/* A wgmma without all lanes is reported. */
static bool reads_own(const struct emu_inst *i) {
    return by_lane(i) || is(i, "ld.") || is(i, "st.") || is(i, "brx") || i->class == EMU_HGMMA;
}

/* The sums that mma.sync adds to become sums of the same lane. Those of m8n8k4 may lie elsewhere in fp16 and in fp32. */
static bool is_sum(const struct emu_inst *i, const struct emu_operand *op) {
    return is(i, "mma.sync") && op == &i->op[3] && !strstr(i->opcode, "m8n8k4");
}

/* Has each lane that goes on its result? A load that failed leaves what was drawn. */
static bool writes(const struct emu_inst *i) {
    return i->guard == EMU_TRUE && (by_lane(i) || is(i, "ld.") || i->class == EMU_SHUFFLE ||
                                    i->class == EMU_HMMA || i->class == EMU_HGMMA);
}

static void read_row(struct search *s, uint32_t row, bool own) {
    const uint32_t n = s->number[row / 4];
    if (!own || !(s->here[n / 64] >> n % 64 & 1)) s->anew[n] = true;
}

static void write_row(struct search *s, uint32_t row) {
    const uint32_t n = s->number[row / 4];
    s->here[n / 64] |= (uint64_t)1 << n % 64;
}

/* A wgmma reads the sums that it writes. */
static void read_operand(struct search *s, const struct emu_inst *i, const struct emu_operand *op) {
    const bool own = reads_own(i) || is_sum(i, op);
    if (op->written && i->class != EMU_HGMMA) return;
    if (op->kind != EMU_OP_GROUP) read_row(s, op->row, own);
    for (int r = 0; op->kind == EMU_OP_GROUP && r < op->n; r++) read_row(s, op->rows[r], own);
}

static void write_operand(struct search *s, const struct emu_operand *op) {
    if (!op->written) return;
    if (op->kind != EMU_OP_GROUP) write_row(s, op->row);
    for (int r = 0; op->kind == EMU_OP_GROUP && r < op->n; r++) write_row(s, op->rows[r]);
}

/* One more way leads to pc. */
static void meet(struct search *s, int64_t pc) {
    for (uint32_t n = 0; n < s->words; n++) {
        const uint64_t both = s->before[pc][n] & s->here[n];
        s->changed |= both != s->before[pc][n];
        s->before[pc][n] = both;
    }
}

static void follow(struct search *s) {
    memset(s->here, 0, s->words * sizeof *s->here);
    for (int pc = 0; pc < s->k->n_inst; pc++) {
        const struct emu_inst *i = &s->k->inst[pc];
        if (s->before[pc]) {
            meet(s, pc);
            memcpy(s->here, s->before[pc], s->words * sizeof *s->here);
        }
        read_row(s, i->guard, true);
        for (int o = 0; o < i->n_ops; o++) read_operand(s, i, &i->op[o]);
        for (int o = 0; o < i->n_ops && writes(i); o++) write_operand(s, &i->op[o]);
        for (int o = 0; o < i->n_ops; o++)
            if (i->op[o].kind == EMU_OP_LABEL) meet(s, i->op[o].imm);
        if (i->class == EMU_BRANCH && i->guard == EMU_TRUE && !is(i, "call"))
            memset(s->here, 0xff, s->words * sizeof *s->here); /* no way leads on */
    }
}

/* At first every way may have written all. Are the sets few enough? */
static bool sets(struct search *s) {
    const size_t bytes = s->words * sizeof *s->here;
    size_t left = MOST_WORDS;
    for (int pc = 0; pc < s->k->n_inst; pc++)
        for (int o = 0; o < s->k->inst[pc].n_ops; o++) {
            const struct emu_operand *op = &s->k->inst[pc].op[o];
            if (op->kind != EMU_OP_LABEL || s->before[op->imm]) continue;
            if (left < s->words) return false;
            left -= s->words;
            s->before[op->imm] = heap_take(bytes);
            memset(s->before[op->imm], 0xff, bytes);
        }
    return true;
}

void emu_find_anew(struct emu_kernel *k, void *(*alloc)(void *user, size_t bytes), void *user) {
    struct search s = {.k = k,
                       .number = heap_zeroed(k->row_bytes / 4, sizeof *s.number),
                       .words = k->n_drawn / 64 + 1,
                       .before = heap_zeroed((size_t)k->n_inst + 1, sizeof *s.before),
                       .anew = heap_zeroed((size_t)k->n_drawn + 1, 1),
                       .changed = true};
    s.here = heap_take(s.words * sizeof *s.here);
    for (uint32_t n = 0; n < k->n_drawn; n++) s.number[k->drawn[n].row / 4] = n + 1;
    const bool followed = !k->n_functions && sets(&s);
    for (int pass = 0; followed && s.changed && pass < MOST_PASSES; pass++) {
        s.changed = false;
        follow(&s);
    }
    k->anew = alloc(user, ((size_t)k->n_drawn + 1) * sizeof *k->anew);
    for (uint32_t n = 0; n < k->n_drawn; n++)
        if (!k->drawn[n].is_address && (s.anew[n + 1] || s.changed))
            k->anew[k->n_anew++] = k->drawn[n];
    for (int pc = 0; pc <= k->n_inst; pc++) free(s.before[pc]);
    free(s.number);
    free(s.before);
    free(s.anew);
    free(s.here);
}
