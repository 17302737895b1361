/* Shared loads that ptxas joins: neighbouring scalar loads of one base register become one wider
 * LDS where the alignment is provable. PTX runs them one by one; only the counts follow SASS.
 *
 *   ld.shared.u16 [r+0]  ld.shared.u16 [r+2]  ld.shared.u16 [r+4]  ld.shared.u16 [r+6]  ->  LDS.64
 *
 * At most four loads and 16 bytes go together, inside one block of straight code with no store,
 * barrier or other write to shared memory in between. The rule was read off what nvdisasm shows
 * of this project's kernels. */
#include "parser.h"
#include "common/base/heap.h"

#include <stdlib.h>
#include <string.h>

enum { ENOUGH = 4 /* zero bits: 16 bytes */, MAX_CANDIDATES = 512 };

/* ---- Alignment: how many low bits of a register are surely zero, over all its definitions ---- */

static int low_zeros(uint64_t value) {
    int n = value ? __builtin_ctzll(value) : ENOUGH;
    return n < ENOUGH ? n : ENOUGH;
}

static int zeros_of(const uint8_t *zeros, const struct emu_operand *op) {
    return op->has_imm              ? low_zeros((uint64_t)op->imm)
           : op->kind == EMU_OP_ROW ? zeros[op->row / 128]
                                    : 0;
}

static int least(int a, int b) { return a < b ? a : b; }
static bool is(const struct emu_inst *i, const char *head) {
    return !strncmp(i->opcode, head, strlen(head));
}

static int result_zeros(const uint8_t *zeros, const struct emu_inst *i) {
    int a = i->n_ops > 1 ? zeros_of(zeros, &i->op[1]) : 0,
        b = i->n_ops > 2 ? zeros_of(zeros, &i->op[2]) : 0;
    int c = i->n_ops > 3 ? zeros_of(zeros, &i->op[3]) : 0;
    if (is(i, "mov.") && i->op[0].kind == EMU_OP_ROW && i->op[1].kind == EMU_OP_ROW) return a;
    if (is(i, "cvt.u32.u64") || is(i, "cvt.u64.u32") || is(i, "cvt.s64.s32") || is(i, "cvta."))
        return a;
    if (is(i, "and.b")) return a > b ? a : b;
    if (is(i, "shl.b")) return i->op[2].has_imm ? least(ENOUGH, a + (int)(i->op[2].imm & 63)) : a;
    if (is(i, "mul.lo") || is(i, "mul.wide")) return least(ENOUGH, a + b);
    if (is(i, "mad.lo") || is(i, "mad.wide")) return least(least(ENOUGH, a + b), c);
    if (is(i, "add.") || is(i, "sub.") || is(i, "or.b") || is(i, "xor.b") || is(i, "selp."))
        return least(a, b);
    return 0;
}

/* Starts from "aligned to 16" and takes back what some definition contradicts. */
static void find_alignment(const struct emu_kernel *k, uint8_t *zeros) {
    memset(zeros, ENOUGH, k->row_bytes / 128 + 1);
    memset(zeros, 0, EMU_FIRST_ROW / 128);
    zeros[EMU_ZERO / 128] = zeros[EMU_SPECIAL / 128 + EMU_SHARED_BEGIN] = ENOUGH;
    for (bool changed = true; changed;) {
        changed = false;
        for (int pc = 0; pc < k->n_inst; pc++) {
            const struct emu_inst *i = &k->inst[pc];
            for (int o = 0; o < i->n_ops; o++) {
                const struct emu_operand *op = &i->op[o];
                if (!op->written || op->kind == EMU_OP_PRED) continue;
                int n = op->kind == EMU_OP_ROW && o == 0 ? result_zeros(zeros, i) : 0;
                for (int r = 0; r < (op->kind == EMU_OP_GROUP ? op->n : 1); r++) {
                    uint32_t row = op->kind == EMU_OP_GROUP ? op->rows[r] : op->row;
                    if (zeros[row / 128] <= n) continue;
                    zeros[row / 128] = (uint8_t)n;
                    changed = true;
                }
            }
        }
    }
}

/* ---- Joining --------------------------------------------------------------------------------- */

struct candidates {
    struct emu_inst *load[MAX_CANDIDATES];
    int n;
};

static int by_place(const void *a, const void *b) {
    const struct emu_inst *x = *(struct emu_inst *const *)a, *y = *(struct emu_inst *const *)b;
    if (x->row[1] != y->row[1]) return x->row[1] < y->row[1] ? -1 : 1;
    if (x->guard != y->guard) return x->guard < y->guard ? -1 : 1;
    if (x->guard_xor != y->guard_xor) return x->guard_xor < y->guard_xor ? -1 : 1;
    int bytes_x = x->aux[0] * x->vec, bytes_y = y->aux[0] * y->vec;
    if (bytes_x != bytes_y) return bytes_x - bytes_y;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool same_but_offset(const struct emu_inst *x, const struct emu_inst *y) {
    return x->row[1] == y->row[1] && x->guard == y->guard && x->guard_xor == y->guard_xor &&
           x->aux[0] == y->aux[0] && x->vec == y->vec;
}

/* Are load[0..n-1] neighbours that one aligned access can hold? */
static bool can_join(struct emu_inst *const *load, int n, const uint8_t *zeros) {
    int bytes = load[0]->aux[0] * load[0]->vec;
    if (n * bytes > 16 || n * load[0]->vec > 4) return false;
    int aligned =
        least(zeros[load[0]->row[1] / 128], low_zeros((uint64_t)(int64_t)load[0]->offset));
    if (1 << aligned < n * bytes) return false;
    for (int k = 1; k < n; k++)
        if (!same_but_offset(load[0], load[k]) || load[k]->offset != load[0]->offset + k * bytes)
            return false;
    return true;
}

static void join(struct candidates *c, const uint8_t *zeros) {
    qsort(c->load, (size_t)c->n, sizeof *c->load, by_place);
    for (int first = 0, n; first < c->n; first += n) {
        for (n = 4; n > 1; n /= 2)
            if (first + n <= c->n && can_join(c->load + first, n, zeros)) break;
        if (n == 1) continue;
        c->load[first]->joined_bytes = (uint8_t)(n * c->load[first]->aux[0] * c->load[first]->vec);
        for (int k = 1; k < n; k++) c->load[first + k]->units = 0;
    }
    c->n = 0;
}

static bool ends_joining(const struct emu_inst *i) {
    switch (i->class) {
    case EMU_ST_SHARED:
    case EMU_ST_GLOBAL:
    case EMU_ST_LOCAL:
    case EMU_ATOMIC:
    case EMU_STSM:
    case EMU_LDGSTS:
    case EMU_TMA:
    case EMU_BARRIER:
    case EMU_MBARRIER:
    case EMU_FENCE:
    case EMU_BRANCH:
        return true;
    default:
        return false;
    }
}

static void forget(struct candidates *c, uint32_t row, const uint8_t *zeros) {
    for (int n = 0; n < c->n; n++)
        if (c->load[n]->row[1] == row) {
            join(c, zeros);
            return;
        }
}

void emu_join_loads(struct emu_kernel *k) {
    uint8_t *zeros = heap_take(k->row_bytes / 128 + 1);
    bool *target = heap_zeroed((size_t)k->n_inst + 1, 1);
    struct candidates *c = heap_zeroed(1, sizeof *c);
    find_alignment(k, zeros);
    for (int pc = 0; pc < k->n_inst; pc++)
        for (int o = 0; o < k->inst[pc].n_ops; o++)
            if (k->inst[pc].op[o].kind == EMU_OP_LABEL) target[k->inst[pc].op[o].imm] = true;
    for (int pc = 0; pc < k->n_inst; pc++) {
        struct emu_inst *i = &k->inst[pc];
        bool is_load =
            i->class == EMU_LD_SHARED && i->space == EMU_SHARED && is(i, "ld.") && !i->aux[2];
        if (target[pc] || ends_joining(i) || c->n == MAX_CANDIDATES) join(c, zeros);
        if (is_load && i->op[1].kind == EMU_OP_ADDRESS) c->load[c->n++] = i;
        for (int o = 0; o < i->n_ops; o++) {
            const struct emu_operand *op = &i->op[o];
            for (int r = 0; op->written && r < (op->kind == EMU_OP_GROUP ? op->n : 1); r++)
                forget(c, op->kind == EMU_OP_GROUP ? op->rows[r] : op->row, zeros);
        }
    }
    join(c, zeros);
    free(zeros);
    free(target);
    free(c);
}
