#include "taint_bytes.h"

#include <string.h>

uint8_t taint_kept(uint32_t missing, unsigned bytes) {
    const uint32_t all = (1u << bytes) - 1;
    if (bytes > 8 || (missing & all) == all) return 0;
    const uint32_t odd = missing >> 1 & 0x55, even = missing & 0x55; /* of each half */
    return odd == even ? 0 : (uint8_t)missing;
}

uint32_t taint_lanes(struct emu_warp *w, uint32_t row, unsigned bytes, bool whole) {
    const uint32_t tainted = *taint_of(w, row), all = bytes < 8 ? (1u << bytes) - 1 : 255;
    uint32_t lanes = 0;
    EMU_EACH_LANE(l, tainted) {
        const uint32_t known = taint_bytes(w, row)[l], of = (known ? known : 255) & all;
        lanes |= (uint32_t)(whole ? !known || of == all : of != 0) << l;
    }
    return lanes;
}

/* Bits for bytes: all of each that is tainted, and back. */
static uint64_t spread(struct emu_warp *w, uint32_t row, int lane) {
    uint64_t bits = 0;
    if (!(*taint_of(w, row) >> lane & 1)) return 0;
    const uint32_t known = taint_bytes(w, row)[lane];
    for (int b = 0; b < 8; b++) bits |= known >> b & 1 ? (uint64_t)0xff << 8 * b : 0;
    return known ? bits : UINT64_MAX;
}
static uint32_t gathered(uint64_t bits) {
    uint32_t bytes = 0;
    for (int b = 0; b < 8; b++) bytes |= (uint32_t)((bits >> 8 * b & 0xff) != 0) << b;
    return bytes;
}

/* The operands whose bits are moved: of mov, cvt between integers, shl, shr, bfe the first; of prmt, bfi, selp, and, or, xor
 * two. 0: it is another instruction. */
static int moved_operands(const struct emu_inst *i) {
    static const struct {
        const char *name;
        int n;
    } kinds[] = {{"mov.", 1},  {"cvt.u", 1}, {"cvt.s", 1}, {"shl.", 1},  {"shr.", 1}, {"bfe.", 1},
                 {"prmt.", 2}, {"bfi.", 2},  {"selp.", 2}, {"and.b", 2}, {"or.b", 2}, {"xor.b", 2}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strncmp(i->opcode, kinds[k].name, strlen(kinds[k].name))) continue;
        if (i->class == EMU_CONVERT && emu_has(i, "sat")) return 0; /* it computes */
        return kinds[k].n;
    }
    return 0;
}

enum { MOST_OPERANDS = 5, MOST_ROWS = 4 };
static int rows_of(const struct emu_operand *op) {
    return op->kind == EMU_OP_GROUP ? op->n : op->kind == EMU_OP_ROW;
}
static uint32_t row_of(const struct emu_operand *op, int k) {
    return op->kind == EMU_OP_GROUP ? op->rows[k] : op->row;
}

/* Lanes with taint in some row of the operand; known: those of them that are known by byte. */
static uint32_t tainted(struct emu_warp *w, const struct emu_operand *op, uint32_t *known) {
    uint32_t lanes = 0;
    for (int k = 0; k < rows_of(op); k++) {
        const uint32_t of = *taint_of(w, row_of(op, k));
        lanes |= of;
        EMU_EACH_LANE(l, of) *known |= (uint32_t)(taint_bytes(w, row_of(op, k))[l] != 0) << l;
    }
    return op->kind == EMU_OP_PRED ? *taint_of(w, op->row) : lanes;
}

/* The instruction is run on the taint itself: all bits of each tainted byte are 1, others 0, and the bits that become 1 are
 * tainted. */
bool taint_moved(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    static _Thread_local unsigned char saved[MOST_OPERANDS][MOST_ROWS][8 * EMU_LANES];
    const int n = moved_operands(i);
    uint32_t known = 0, lanes[MOST_OPERANDS] = {0}, whole = 0;
    if (!n || i->n_ops > MOST_OPERANDS || *taint_of(w, i->guard) & mask) return false;
    for (int o = 1; o < i->n_ops; o++) {
        uint32_t by_byte = 0;
        lanes[o] = tainted(w, &i->op[o], &by_byte) & mask;
        if (o > n ? lanes[o] != 0 : rows_of(&i->op[o]) > MOST_ROWS) return false;
        known |= by_byte & mask;
        whole |= lanes[o] & ~by_byte;
    }
    const bool is_and = !strncmp(i->opcode, "and.", 4), is_xor = !strncmp(i->opcode, "xor.", 4);
    if (!known || rows_of(&i->op[0]) > MOST_ROWS || ((is_and || is_xor) && lanes[1] && lanes[2]))
        return false;
    for (int o = 0; o <= n; o++)
        for (int k = 0; k < rows_of(&i->op[o]); k++)
            memcpy(saved[o][k], w->rows + row_of(&i->op[o], k),
                   EMU_LANES * (i->op[o].wide ? 8 : 4));
    for (int o = 1; o <= n; o++)
        for (int k = 0; k < rows_of(&i->op[o]) && !(is_and && !lanes[o]); k++)
            for (int l = 0; l < EMU_LANES; l++) {
                const uint64_t bits = spread(w, row_of(&i->op[o], k), l);
                if (i->op[o].wide)
                    emu_row64(w, row_of(&i->op[o], k))[l] = bits;
                else
                    emu_row32(w, row_of(&i->op[o], k))[l] = (uint32_t)bits;
            }
    i->run(w, i, mask);
    for (int k = 0; k < rows_of(&i->op[0]); k++) {
        const uint32_t row = row_of(&i->op[0], k);
        EMU_EACH_LANE(l, mask) {
            const uint32_t bytes =
                gathered(i->op[0].wide ? emu_row64(w, row)[l] : emu_row32(w, row)[l]);
            *taint_of(w, row) = (*taint_of(w, row) & ~(1u << l)) | (uint32_t)(bytes != 0) << l;
            taint_bytes(w, row)[l] = whole >> l & 1 ? 0 : (uint8_t)bytes;
        }
    }
    for (int o = n; o >= 0; o--)
        for (int k = 0; k < rows_of(&i->op[o]); k++)
            memcpy(w->rows + row_of(&i->op[o], k), saved[o][k],
                   EMU_LANES * (i->op[o].wide ? 8 : 4));
    return true;
}

uint32_t taint_shuffled(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t values[EMU_LANES], t = 0;
    uint32_t *d = emu_row32(w, i->row[0]), *a = emu_row32(w, i->row[2]);
    uint8_t bytes[EMU_LANES] = {0};
    memcpy(values, a, sizeof values);
    for (int l = 0; l < EMU_LANES; l++) a[l] = (uint32_t)spread(w, i->row[2], l);
    i->run(w, i, mask);
    for (int l = 0; l < EMU_LANES; l++) {
        t |= (uint32_t)(d[l] != 0) << l;
        bytes[l] = d[l] == UINT32_MAX ? 0 : (uint8_t)gathered(d[l]);
    }
    memcpy(a, values, sizeof values);
    EMU_EACH_LANE(l, mask) taint_bytes(w, i->row[0])[l] = bytes[l];
    return t;
}
