/* Which shared array an access should keep to: that whose name its address is made from, if the
 * registers say so whatever way the kernel takes. A register has
 *
 *   nothing    not assigned by what has been read so far
 *   plain      a value made from no array's name
 *   an array   its address and plain values, added
 *   mixed      anything else: of two arrays, or by a way that is not followed */
#include "parser.h"

#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>

static const struct emu_array plain, mixed;

struct origins {
    const struct emu_array **of; /* by row / 128 */
    bool changed;
};

static const struct emu_array *join(const struct emu_array *a, const struct emu_array *b) {
    return !a || a == b ? b : !b ? a : &mixed;
}

static void assign(struct origins *o, uint32_t row, const struct emu_array *value) {
    const struct emu_array **at = &o->of[row / 128], *new = join(*at, value);
    if (row < EMU_FIRST_ROW || new == *at) return;
    *at = new;
    o->changed = true;
}

static const struct emu_array *origin(const struct origins *o, const struct emu_operand *op) {
    if (op->array) return op->array;
    if (op->kind == EMU_OP_GROUP) {
        for (int r = 0; r < op->n; r++)
            if (o->of[op->rows[r] / 128] != &plain && op->rows[r] >= EMU_FIRST_ROW)
                return o->of[op->rows[r] / 128] ? &mixed : NULL;
        return &plain;
    }
    if (op->has_imm || op->row < EMU_FIRST_ROW || op->kind != EMU_OP_ROW) return &plain;
    return o->of[op->row / 128];
}

/* a + b; NULL: not known yet */
static const struct emu_array *sum(const struct emu_array *a, const struct emu_array *b) {
    if (!a || !b) return NULL;
    return a == &plain ? b : b == &plain ? a : &mixed;
}

static bool is(const struct emu_inst *i, const char *head) {
    size_t n = strlen(head);
    return !strncmp(i->opcode, head, n) && (i->opcode[n] == '.' || !i->opcode[n]);
}

/* What the instruction makes, of registers that are each one row. */
static const struct emu_array *made(const struct origins *o, const struct emu_inst *i) {
    const struct emu_array *a[4] = {&plain, &plain, &plain, &plain};
    for (int k = 0; k < i->n_ops && k < 4; k++) a[k] = origin(o, &i->op[k]);
    if (is(i, "mov") || is(i, "cvta") || is(i, "cvt")) return a[1];
    if (is(i, "add") || is(i, "or")) return sum(a[1], a[2]);
    if (is(i, "sub")) return a[2] == &plain ? a[1] : a[2] ? &mixed : NULL;
    if (is(i, "mad")) return a[1] == &plain && a[2] == &plain ? a[3] : a[1] && a[2] ? &mixed : NULL;
    if (is(i, "selp")) return a[1] && a[2] ? join(a[1], a[2]) : NULL;
    for (int k = 1; k < 4; k++)
        if (a[k] != &plain) return a[k] ? &mixed : NULL;
    return &plain;
}

static bool loads(const struct emu_inst *i) { return is(i, "ld") || is(i, "atom"); }

static void follow(struct origins *o, const struct emu_inst *i) {
    for (int k = 0; k < i->n_ops; k++) {
        const struct emu_operand *d = &i->op[k];
        if (!d->written) continue;
        if (d->kind == EMU_OP_GROUP)
            for (int r = 0; r < d->n; r++) assign(o, d->rows[r], &plain);
        else if (d->kind == EMU_OP_ROW)
            assign(o, d->row, k == 0 && !loads(i) && d->n < 2 ? made(o, i) : &plain);
    }
}

void emu_find_arrays(struct emu_kernel *k, void *(*alloc)(void *user, size_t bytes), void *user) {
    struct origins o = {.of = heap_zeroed(k->row_bytes / 128 + 1, sizeof *o.of), .changed = true};
    for (int pass = 0; o.changed && pass < 16; pass++) {
        o.changed = false;
        for (int pc = 0; pc < k->n_inst; pc++) follow(&o, &k->inst[pc]);
    }
    k->array = o.changed ? NULL : alloc(user, (size_t)k->n_inst * sizeof *k->array);
    for (int pc = 0; pc < k->n_inst && !o.changed; pc++) {
        const struct emu_inst *i = &k->inst[pc];
        for (int a = i->n_ops - 1; a >= 0; a--) {
            const struct emu_operand *op = &i->op[a];
            if (op->kind != EMU_OP_ADDRESS) continue;
            const struct emu_array *base = op->row >= EMU_FIRST_ROW ? o.of[op->row / 128]
                                           : op->array              ? op->array
                                                                    : NULL;
            k->array[pc] = base == &plain || base == &mixed ? NULL : base;
        }
    }
    free(o.of);
}
