/* Global loads that are fetched together: loads of neighbouring words by one address register. The
 * first fetches 16 bytes for each lane, the others take theirs from what it fetched; each is checked
 * and counted as if it came by itself.
 *
 *   ld.global.f32 a, [r+0]   ...   ld.global.f32 b, [r+4]   ...   ld.global.f32 c, [r+8]
 *   fetches 4 words                word 1 of those                word 2
 *
 * Between them stands nothing but arithmetic and other weak loads, in straight code: whoever runs
 * the second has just run the first, and no order says which of them reads first. */
#include "parser.h"
#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 4, MAX_FETCHERS = 64, FARTHEST = UINT16_MAX };

static bool is_load(const struct emu_inst *i) {
    return !strncmp(i->opcode, "ld.", 3) && !(i->aux[2] & EMU_STRONG);
}

static bool takes_part(const struct emu_inst *i) {
    return is_load(i) && i->class == EMU_LD_GLOBAL && i->space == EMU_GLOBAL && i->aux[0] == 4 &&
           i->vec == 1 && i->guard == EMU_TRUE && !i->guard_xor && !i->op[0].wide &&
           i->op[1].kind == EMU_OP_ADDRESS && i->op[1].wide;
}

static bool goes_on(const struct emu_inst *i) {
    if (emu_is_arithmetic(i->class)) return true;
    switch (i->class) {
    case EMU_LD_GLOBAL:
    case EMU_LD_SHARED:
    case EMU_LD_PARAM:
    case EMU_LD_CONST:
        return is_load(i);
    default:
        return false;
    }
}

struct fetchers {
    struct emu_inst *load[MAX_FETCHERS];
    int n;
};

/* i takes a word of one of them, or fetches for others. */
static void add(struct fetchers *f, struct emu_inst *i) {
    for (int n = 0; n < f->n; n++) {
        struct emu_inst *first = f->load[n];
        int64_t off = (int64_t)i->offset - first->offset;
        if (first->row[1] != i->row[1] || off <= 0 || off >= 4 * WORDS || off % 4 ||
            i->pc - first->pc > FARTHEST)
            continue;
        first->fetches = true;
        i->fetched_back = (uint16_t)(i->pc - first->pc);
        i->fetched_word = (uint8_t)(off / 4);
        return;
    }
    if (f->n < MAX_FETCHERS) f->load[f->n++] = i;
}

static void forget(struct fetchers *f, uint32_t row) {
    int kept = 0;
    for (int n = 0; n < f->n; n++)
        if (f->load[n]->row[1] != row) f->load[kept++] = f->load[n];
    f->n = kept;
}

void emu_fetch_ahead(struct emu_kernel *k) {
    bool *target = heap_zeroed((size_t)k->n_inst + 1, 1);
    struct fetchers f = {.n = 0};
    for (int pc = 0; pc < k->n_inst; pc++)
        for (int o = 0; o < k->inst[pc].n_ops; o++)
            if (k->inst[pc].op[o].kind == EMU_OP_LABEL) target[k->inst[pc].op[o].imm] = true;
    for (int pc = 0; pc < k->n_inst; pc++) {
        struct emu_inst *i = &k->inst[pc];
        if (target[pc] || !goes_on(i)) f.n = 0;
        if (takes_part(i)) add(&f, i);
        for (int o = 0; o < i->n_ops; o++) {
            const struct emu_operand *op = &i->op[o];
            for (int r = 0; op->written && r < (op->kind == EMU_OP_GROUP ? op->n : 1); r++)
                forget(&f, op->kind == EMU_OP_GROUP ? op->rows[r] : op->row);
        }
    }
    free(target);
}
