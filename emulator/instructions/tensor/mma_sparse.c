/* mma.sp.sync: A holds only the elements that are not zero, half of them, and metadata says which.
 *
 *   of 4 neighbours in k, 2 are kept; 4 bits of metadata are their places, lower place first:
 *       a0  0   0   a3     ->  a0 a3,  0b1100
 *   tf32: of 2 neighbours 1 is kept: 0b0100 the first, 0b1110 the second
 *   4-bit integers: of 4 pairs of neighbours, 2 are kept
 *
 * A thread's word of metadata holds 4 such groups of row g (lower half) and of row g + 8. Where a
 * row has 4 groups, one thread of each four brings them, 8: two, 16: all; the selector says which.
 *
 * Every element of D is the same dot product as mma.sync's, of the kept elements alone. */
#include "emulator/instructions/flow.h"
#include "emulator/instructions/handlers.h"
#include "mma.h"
#include "mma_fragment.h"

#include <string.h>

enum { MMA_SELECTOR = 4, MAX_K = 128 };

static int shape_k(const struct emu_inst *i) { return i->aux[MMA_SHAPE] >> 16; }

/* The place in k of kept element n of a row: groups of `of` elements hold half as many; elements
 * stay together in `together`s. */
static int place(const uint32_t *groups, int n, bool tf32, bool pairs) {
    if (tf32) return n * 2 + ((groups[n] & 3) >= 2);
    int unit = pairs ? n / 2 : n, in_unit = pairs ? n % 2 : 0;
    int at = unit / 2 * 4 + (int)(groups[unit / 2] >> unit % 2 * 2 & 3);
    return pairs ? at * 2 + in_unit : at;
}

static void gather(struct emu_warp *w, const struct emu_inst *i, int bits, uint32_t *a,
                   uint32_t *b) {
    int per = 32 / bits, kept = shape_k(i) / 2;
    uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
    for (int lane = 0; lane < EMU_LANES; lane++)
        for (int s = 0; s < per; s++) {
            for (int r = 0; r < i->op[1].n; r++) {
                struct fragment_at at = fragment_a(lane, r, s, per);
                a[at.row * kept + at.col] = emu_row32(w, i->op[1].rows[r])[lane] >> s * bits & mask;
            }
            for (int r = 0; r < i->op[2].n; r++) {
                struct fragment_at at = fragment_b(lane, r, s, per);
                b[at.row * 8 + at.col] = emu_row32(w, i->op[2].rows[r])[lane] >> s * bits & mask;
            }
        }
}

static int32_t narrow(uint32_t x, bool is_signed) {
    return is_signed && x & 8 ? (int32_t)x - 16 : (int32_t)x;
}

/* The sum of the kept elements of one row, `picked` from B. */
static uint32_t dot(const struct tensor_product *p, const struct emu_inst *i, int bits,
                    const uint32_t *a, const uint32_t *picked, uint32_t c) {
    if (bits != 4) return tensor_dot(p, a, picked, 1, c);
    const char *types = strstr(i->opcode, ".s32.") + 5;
    int64_t sum = (int32_t)c;
    for (int k = 0; k < p->k; k++)
        sum += narrow(a[k], types[0] == 's') * narrow(picked[k], types[3] == 's');
    if (p->saturate) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)sum;
}

static enum emu_step mma_sparse(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t a[16 * MAX_K / 2], b[MAX_K * 8], d[16 * 8], groups[16][16];
    bool tf32 = mma_type_a(i) == TENSOR_TF32, four = i->aux[MMA_FLAGS] & MMA_FOUR_BITS;
    int bits = four ? 4 : mma_element_bits(mma_type_a(i)), kept = shape_k(i) / 2;
    int n_groups = tf32 ? kept : four ? kept / 4 : kept / 2, threads = n_groups / 4;
    const struct emu_operand *op = i->op;
    struct tensor_product p = emu_mma_product(w, i, 16, 8);
    p.k = kept;
    emu_aligned(w, i, mask);
    gather(w, i, bits, a, b);
    for (int g = 0; g < 8; g++)
        for (int t = 0; t < threads; t++) {
            uint32_t word = emu_row32(w, op[4].row)[4 * g + threads * i->aux[MMA_SELECTOR] + t];
            for (int n = 0; n < 8; n++) {
                int row = g + 8 * (bits <= 8 ? t & 1 : n >> 2);
                int group = bits <= 8 ? 8 * (t >> 1) + n : 4 * t + (n & 3);
                groups[row][group] = word >> 4 * n & 15;
            }
        }
    emu_mma_gather_d(w, op[3].rows, op[3].n, p.f16_sum, 8, d);
    for (int row = 0; row < 16; row++)
        for (int col = 0; col < 8; col++) {
            uint32_t picked[MAX_K / 2];
            for (int n = 0; n < kept; n++)
                picked[n] = b[place(groups[row], n, tf32, four) * 8 + col];
            d[row * 8 + col] = dot(&p, i, bits, a + row * kept, picked, d[row * 8 + col]);
        }
    emu_mma_scatter_d(w, op[0].rows, op[0].n, p.f16_sum, 8, d);
    return EMU_NEXT;
}

emu_handler *emu_select_mma_sparse(struct emu_inst *i, const char **why) {
    *why = "this shape and these types do not go together";
    bool four = strstr(i->opcode, ".s4") || strstr(i->opcode, ".u4");
    if (!emu_mma_set_shape(i)) return NULL;
    if (!emu_mma_set_type(i, four ? EMU_S8 : i->type[1], four ? EMU_S8 : i->type[2])) return NULL;
    bool f16 = i->type[0] == EMU_F16, tf32 = mma_type_a(i) == TENSOR_TF32;
    int bits = four ? 4 : mma_element_bits(mma_type_a(i)), kept = shape_k(i) / 2;
    int n_groups = tf32 ? kept : four ? kept / 4 : kept / 2;
    if (n_groups < 4 || n_groups > 16) return NULL;
    *why = "the number of registers does not fit the shape";
    int n_d = f16 ? 2 : 4;
    if (i->op[0].n != n_d || i->op[3].n != n_d || i->op[1].n != kept * bits / 64 ||
        i->op[2].n != kept * bits / 64)
        return NULL;
    *why = "the selector names threads that there are not";
    if (i->op[5].imm < 0 || i->op[5].imm >= 16 / n_groups) return NULL;
    i->aux[MMA_SELECTOR] = (int32_t)i->op[5].imm;
    i->aux[MMA_FLAGS] = (f16 ? MMA_F16_SUM : 0) | (four ? MMA_FOUR_BITS : 0) |
                        (strstr(i->opcode, ".satfinite") ? MMA_SATURATE : 0);
    i->flops /= 2;
    return mma_sparse;
}
