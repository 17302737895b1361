/* Products of fp64 matrices: mma.sync of four shapes, and wmma m8n8k4. Each element of D is a chain
 * of fused multiply-adds, k ascending, that starts from C (tests/golden: as an H200).
 *
 * Fragments are those of mma_fragment.h with one element in each (64-bit) register. */
#include "emulator/instructions/access.h"
#include "emulator/instructions/async.h"
#include "emulator/instructions/flow.h"
#include "emulator/instructions/handlers.h"
#include "mma.h"
#include "mma_fragment.h"
#include "emulator/instructions/arithmetic/mufu.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

enum { MAX_K = 16 };

static double *reals(const struct emu_warp *w, uint32_t row) {
    return (double *)(void *)emu_row64(w, row);
}

/* fma, and of NaNs the one that an H200 keeps: B's, then C's, then A's, made quiet. */
static double fma_f64(double a, double b, double c) {
    double kept = isnan(b) ? b : isnan(c) ? c : isnan(a) ? a : invalid_f64(fma(a, b, c), a, b, c);
    uint64_t bits;
    if (!isnan(kept)) return kept;
    memcpy(&bits, &kept, 8);
    bits |= 1ull << 51;
    memcpy(&kept, &bits, 8);
    return kept;
}

static int rounding(const char *opcode) {
    return strstr(opcode, ".rz")   ? FE_TOWARDZERO
           : strstr(opcode, ".rm") ? FE_DOWNWARD
           : strstr(opcode, ".rp") ? FE_UPWARD
                                   : FE_TONEAREST;
}

static enum emu_step mma_f64(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    double a[16][MAX_K], b[MAX_K][8], d[16][8];
    const struct emu_operand *op = i->op;
    emu_aligned(w, i, mask);
    for (int lane = 0; lane < EMU_LANES; lane++) {
        for (int r = 0; r < op[1].n; r++) {
            struct fragment_at at = fragment_a(lane, r, 0, 1);
            a[at.row][at.col] = reals(w, op[1].rows[r])[lane];
        }
        for (int r = 0; r < op[2].n; r++) {
            struct fragment_at at = fragment_b(lane, r, 0, 1);
            b[at.row][at.col] = reals(w, op[2].rows[r])[lane];
        }
        for (int r = 0; r < op[3].n; r++) {
            struct fragment_at at = fragment_d(lane, r);
            d[at.row][at.col] = reals(w, op[3].rows[r])[lane];
        }
    }
    int before = fegetround();
    fesetround(i->aux[MMA_FLAGS]);
    for (int row = 0; row < mma_shape_m(i); row++)
        for (int col = 0; col < 8; col++)
            for (int k = 0; k < mma_shape_k(i); k++)
                d[row][col] = fma_f64(a[row][k], b[k][col], d[row][col]);
    fesetround(before);
    for (int lane = 0; lane < EMU_LANES; lane++)
        for (int r = 0; r < op[0].n; r++) {
            struct fragment_at at = fragment_d(lane, r);
            reals(w, op[0].rows[r])[lane] = d[at.row][at.col];
        }
    return EMU_NEXT;
}

/* Are the first n groups of registers of 64 bits? */
static bool all_wide(const struct emu_inst *i, int n, const char **why) {
    *why = "fp64 matrices need registers of 64 bits";
    for (int o = 0; o < n; o++)
        if (i->op[o].kind == EMU_OP_GROUP && !i->op[o].wide) return false;
    return true;
}

emu_handler *emu_select_mma_f64(struct emu_inst *i, const char **why) {
    *why = "the number of registers does not fit the shape";
    if (!emu_mma_set_shape(i)) return NULL;
    int m = mma_shape_m(i), k = mma_shape_k(i);
    if (i->op[0].n != m / 4 || i->op[1].n != m * k / 32 || i->op[2].n != k / 4 ||
        i->op[3].n != m / 4)
        return NULL;
    i->aux[MMA_FLAGS] = rounding(i->opcode);
    return all_wide(i, 4, why) ? mma_f64 : NULL;
}

/* wmma.load and wmma.store of m8n8k4: one access for each register. */
static enum emu_step move_f64(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    bool store = i->aux[MMA_FLAGS] & WMMA_STORE, col_major = i->aux[MMA_FLAGS] & WMMA_COL_MAJOR;
    const struct emu_operand *group = &i->op[store ? 1 : 0], *address = &i->op[store ? 0 : 1];
    uint64_t base[EMU_LANES], global[EMU_LANES];
    emu_aligned(w, i, mask);
    emu_addresses(w, address, base);
    int first = __builtin_ctz(mask), matrix = i->aux[MMA_MATRIX];
    uint32_t stride = i->n_ops > 2
                          ? emu_row32(w, i->op[2].row)[first]
                          : (matrix == MATRIX_C || (matrix == MATRIX_A) == col_major ? 8 : 4);
    bool in_shared = i->space == EMU_SHARED || (i->space == EMU_GENERIC &&
                                                base[first] - EMU_SHARED_WINDOW < EMU_WINDOW_BYTES);
    for (int r = 0; r < group->n; r++) {
        uint32_t shared[EMU_LANES], ok;
        for (int lane = 0; lane < EMU_LANES; lane++) {
            struct fragment_at at = matrix == MATRIX_A   ? fragment_a(lane, r, 0, 1)
                                    : matrix == MATRIX_B ? fragment_b(lane, r, 0, 1)
                                                         : fragment_d(lane, r);
            uint64_t row = (uint64_t)at.row, col = (uint64_t)at.col;
            global[lane] = base[first] + 8 * (col_major ? col * stride + row : row * stride + col);
            shared[lane] = emu_shared_offset(global[lane]);
        }
        ok = emu_fragment_access(w, i, r, group->n, in_shared, global, 8);
        EMU_EACH_LANE(l, ok) {
            struct emu_place at =
                emu_fragment_place(w, i, in_shared, in_shared ? shared[l] : global[l], 8);
            if (!at.byte) continue;
            uint64_t *value = &emu_row64(w, group->rows[r])[l];
            memcpy(store ? (void *)at.byte : value, store ? value : (void *)at.byte, 8);
        }
    }
    return EMU_NEXT;
}

emu_handler *emu_select_wmma_f64_move(struct emu_inst *i, const char **why) {
    bool store = !strncmp(i->opcode, "wmma.store", 10);
    *why = "the number of registers does not fit the shape";
    i->aux[MMA_MATRIX] = store ? MATRIX_C : i->opcode[10] - 'a';
    i->aux[MMA_FLAGS] = (strstr(i->opcode, ".col") ? WMMA_COL_MAJOR : 0) | (store ? WMMA_STORE : 0);
    i->class = i->space == EMU_GLOBAL ? (store ? EMU_ST_GLOBAL : EMU_LD_GLOBAL)
                                      : (store ? EMU_ST_SHARED : EMU_LD_SHARED);
    i->units = (uint8_t)i->op[store ? 1 : 0].n;
    if (i->units != (i->aux[MMA_MATRIX] == MATRIX_C ? 2 : 1)) return NULL;
    return all_wide(i, 2, why) ? move_f64 : NULL;
}
