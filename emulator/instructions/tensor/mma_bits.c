/* Products of integers of 4 bits and 1 bit: mma.sync, and wmma m8n8k32 and m8n8k128. 1-bit products
 * are .xor or .and; their sum is a population count. All sums are exact.
 *
 * Fragments are those of mma_fragment.h with 8 or 32 elements in each register. */
#include "emulator/instructions/access.h"
#include "emulator/instructions/async.h"
#include "emulator/instructions/flow.h"
#include "emulator/instructions/handlers.h"
#include "mma.h"
#include "mma_fragment.h"

#include <string.h>

/* aux beside those of mma.h: bits of an element, | 16 signed A, | 32 signed B, | 64 and */
enum { MMA_BITS = 4 };

static int shape_k(const struct emu_inst *i) { return i->aux[MMA_SHAPE] >> 16; }

/* What a 32-bit word of A and one of B add to the sum. */
static int64_t word_product(uint32_t a, uint32_t b, int bits, int flags) {
    if (bits == 1) return __builtin_popcount(flags & 4 ? a & b : a ^ b);
    int64_t sum = 0;
    for (int s = 0; s < 32; s += 4) {
        int x = a >> s & 15, y = b >> s & 15;
        if (flags & 1 && x > 7) x -= 16;
        if (flags & 2 && y > 7) y -= 16;
        sum += x * y;
    }
    return sum;
}

/* Words of A and B meet where they hold the same k: a[row][word], b[column][word]. */
static enum emu_step mma_bits(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t a[16][8], b[8][8];
    const struct emu_operand *op = i->op;
    int bits = i->aux[MMA_BITS] & 15, flags = i->aux[MMA_BITS] >> 4, per = 32 / bits,
        n_words = shape_k(i) / per;
    emu_aligned(w, i, mask);
    for (int lane = 0; lane < EMU_LANES; lane++) {
        for (int r = 0; r < op[1].n; r++) {
            struct fragment_at at = fragment_a(lane, r, 0, per);
            a[at.row][at.col / per] = emu_row32(w, op[1].rows[r])[lane];
        }
        for (int r = 0; r < op[2].n; r++) {
            struct fragment_at at = fragment_b(lane, r, 0, per);
            b[at.col][at.row / per] = emu_row32(w, op[2].rows[r])[lane];
        }
    }
    for (int lane = 0; lane < EMU_LANES; lane++)
        for (int r = 0; r < op[0].n; r++) {
            struct fragment_at at = fragment_d(lane, r);
            int64_t sum = (int32_t)emu_row32(w, op[3].rows[r])[lane];
            for (int n = 0; n < n_words; n++)
                sum += word_product(a[at.row][n], b[at.col][n], bits, flags);
            if (i->aux[MMA_FLAGS] & MMA_SATURATE)
                sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            emu_row32(w, op[0].rows[r])[lane] = (uint32_t)sum;
        }
    return EMU_NEXT;
}

/* .s4.u4, .b1.b1: the two types behind the shape. */
emu_handler *emu_select_mma_bits(struct emu_inst *i, const char **why) {
    *why = "the number of registers does not fit the shape";
    if (!emu_mma_set_shape(i)) return NULL;
    const char *types = strstr(i->opcode, ".s32.") + 5;
    int bits = types[1] - '0', m = mma_shape_m(i), words = shape_k(i) * bits / 32;
    int flags = (types[0] == 's') | (types[3] == 's') << 1 | (strstr(i->opcode, ".and.") ? 4 : 0);
    i->aux[MMA_BITS] = bits | flags << 4;
    i->aux[MMA_FLAGS] = strstr(i->opcode, ".satfinite") ? MMA_SATURATE : 0;
    bool fits = i->op[0].n == m / 4 && i->op[3].n == m / 4 && i->op[1].n == m * words / 32 &&
                i->op[2].n == words / 4;
    return fits ? mma_bits : NULL;
}

/* wmma.load of m8n8k32 and m8n8k128: a lane's word holds neighbours in k, of row lane / 4 of A or
 * of that column of B. Sums are two neighbours in a row. */
static enum emu_step move_bits(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    bool store = i->aux[MMA_FLAGS] & WMMA_STORE, col_major = i->aux[MMA_FLAGS] & WMMA_COL_MAJOR;
    const struct emu_operand *group = &i->op[store ? 1 : 0], *address = &i->op[store ? 0 : 1];
    uint64_t base[EMU_LANES], global[EMU_LANES];
    emu_aligned(w, i, mask);
    emu_addresses(w, address, base);
    int first = __builtin_ctz(mask), bits = i->aux[MMA_BITS];
    bool sums = i->aux[MMA_MATRIX] == MATRIX_C;
    uint32_t stride = i->n_ops > 2 ? emu_row32(w, i->op[2].row)[first]
                      : sums       ? 8
                                   : (uint32_t)shape_k(i);
    bool in_shared = i->space == EMU_SHARED || (i->space == EMU_GENERIC &&
                                                base[first] - EMU_SHARED_WINDOW < EMU_WINDOW_BYTES);
    for (int r = 0; r < group->n; r++) {
        uint32_t shared[EMU_LANES];
        for (uint32_t lane = 0; lane < EMU_LANES; lane++) {
            struct fragment_at at = fragment_d((int)lane, r);
            uint64_t row = (uint64_t)at.row, col = (uint64_t)at.col;
            global[lane] =
                base[first] +
                (!sums       ? lane / 4 * ((uint64_t)stride * (uint32_t)bits / 8) + lane % 4 * 4
                 : col_major ? 4 * (col * stride + row)
                             : 4 * (row * stride + col));
            shared[lane] = emu_shared_offset(global[lane]);
        }
        uint32_t ok = emu_fragment_access(w, i, r, group->n, in_shared, global, 4);
        EMU_EACH_LANE(l, ok) {
            struct emu_place at =
                emu_fragment_place(w, i, in_shared, in_shared ? shared[l] : global[l], 4);
            if (!at.byte) continue;
            uint32_t *value = &emu_row32(w, group->rows[r])[l];
            memcpy(store ? (void *)at.byte : value, store ? value : (void *)at.byte, 4);
        }
    }
    return EMU_NEXT;
}

emu_handler *emu_select_wmma_bits_move(struct emu_inst *i, const char **why) {
    bool store = !strncmp(i->opcode, "wmma.store", 10);
    *why = "the number of registers does not fit the shape";
    if (!emu_mma_set_shape(i)) return NULL;
    i->flops = 0;
    i->aux[MMA_MATRIX] = store ? MATRIX_C : i->opcode[10] - 'a';
    i->aux[MMA_BITS] = shape_k(i) == 128 ? 1 : 4;
    i->aux[MMA_FLAGS] = (strstr(i->opcode, ".col") ? WMMA_COL_MAJOR : 0) | (store ? WMMA_STORE : 0);
    i->class = i->space == EMU_GLOBAL ? (store ? EMU_ST_GLOBAL : EMU_LD_GLOBAL)
                                      : (store ? EMU_ST_SHARED : EMU_LD_SHARED);
    i->units = (uint8_t)i->op[store ? 1 : 0].n;
    return i->units == (i->aux[MMA_MATRIX] == MATRIX_C ? 2 : 1) ? move_bits : NULL;
}
