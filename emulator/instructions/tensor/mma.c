/* mma.sync: from registers to matrices, through tensorcore.c, and back. Layouts: mma_fragment.h. */
#include "mma.h"

#include "emulator/instructions/flow.h"
#include "emulator/instructions/handlers.h"
#include "mma_fragment.h"

#include "common/cuda/vector.h"

#include <string.h>

/* ---- The opcode ---- */

bool emu_mma_set_type(struct emu_inst *i, enum emu_type a, enum emu_type b) {
    enum emu_type from[2] = {a, b};
    i->aux[MMA_TYPES] = 0;
    for (int o = 0; o < 2; o++) {
        int t;
        switch (from[o]) {
        case EMU_F16:
            t = TENSOR_F16;
            break;
        case EMU_BF16:
            t = TENSOR_BF16;
            break;
        case EMU_TF32:
            t = TENSOR_TF32;
            break;
        case EMU_E4M3:
            t = TENSOR_E4M3;
            break;
        case EMU_E5M2:
            t = TENSOR_E5M2;
            break;
        case EMU_S8:
            t = TENSOR_S8;
            break;
        case EMU_U8:
            t = TENSOR_U8;
            break;
        default:
            return false;
        }
        i->aux[MMA_TYPES] |= t << 4 * o;
    }
    return true;
}

bool emu_mma_set_shape(struct emu_inst *i) {
    const char *at = strstr(i->opcode, ".m");
    int m, n, k;
    while (at && (at[2] < '0' || at[2] > '9')) at = strstr(at + 1, ".m"); /* not .mma */
    if (!at || sscanf(at, ".m%dn%dk%d", &m, &n, &k) != 3) return false;
    i->aux[MMA_SHAPE] = m | n << 8 | k << 16;
    i->flops = 2 * (uint32_t)(m * n * k);
    return true;
}

struct tensor_product emu_mma_product(const struct emu_warp *w, const struct emu_inst *i, int m,
                                      int n) {
    const struct emu_launch_state *l = w->block->launch;
    struct tensor_product p = {
        .a_type = mma_type_a(i), .b_type = mma_type_b(i), .m = m, .n = n, .k = mma_shape_k(i)};
    p.f16_sum = i->aux[MMA_FLAGS] & MMA_F16_SUM;
    p.saturate = i->aux[MMA_FLAGS] & MMA_SATURATE;
    p.rule = tensor_rule(l->chip->cc, p.a_type, false, l->options->mma_exact);
    return p;
}

void emu_spoil_operands(const struct emu_warp *w, const struct tensor_product *p, uint32_t *a,
                        uint32_t *b) {
    const struct emu_spoil *s = &w->block->launch->options->spoil;
    const int mantissa = p->a_type == TENSOR_F16    ? 10
                         : p->a_type == TENSOR_BF16 ? 7
                                                    : 23,
              bits = p->a_type == TENSOR_TF32 ? 32 : 16;
    if (!s->how || p->a_type > TENSOR_TF32) return;
    for (int e = 0; e < p->m * p->k; e++) a[e] = emu_spoil_element(s, a[e], true, mantissa, bits);
    for (int e = 0; e < p->k * p->n; e++) b[e] = emu_spoil_element(s, b[e], false, mantissa, bits);
}

/* ---- Registers to matrices and back ---- */

/* A row group of A is 4 lanes' words one after the other: with 16-bit elements, 8 neighbours in
 * k. */
void emu_mma_gather_a(const struct emu_warp *w, const uint32_t *rows, int n_rows, int bits, int k,
                      uint32_t *a) {
    for (int r = 0; r < n_rows; r++) {
        const uint32_t *reg = emu_row32(w, rows[r]);
        int per = 32 / bits, first = 4 * per * (r >> 1);
        for (int g = 0; g < 8; g++) {
            const uint32_t *four = reg + 4 * g;
            uint32_t *to = a + (g + 8 * (r & 1)) * k + first;
            if (bits == 32)
                memcpy(to, four, 16);
            else if (bits == 16)
                store8(to, load8_halves(four));
            else
                for (int half = 0; half < 2; half++)
                    store8(to + 8 * half, widen8_bytes(four + 2 * half));
        }
    }
}

/* B: b[k][n], 8 columns from `b` on, n apart. */
void emu_mma_gather_b(const struct emu_warp *w, const uint32_t *rows, int n_rows, int bits, int n,
                      uint32_t *b) {
    uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
    int per = 32 / bits;
    for (int r = 0; r < n_rows; r++) {
        const uint32_t *reg = emu_row32(w, rows[r]);
        for (int lane = 0; lane < EMU_LANES; lane++)
            for (int s = 0; s < per; s++) {
                struct fragment_at at = fragment_b(lane, r, s, per);
                b[at.row * n + at.col] = reg[lane] >> s * bits & mask;
            }
    }
}

void emu_mma_gather_d(const struct emu_warp *w, const uint32_t *rows, int n_rows, bool f16, int n,
                      uint32_t *d) {
    for (int r = 0; r < n_rows; r++) {
        const uint32_t *reg = emu_row32(w, rows[r]);
        for (int lane = 0; lane < EMU_LANES; lane++) {
            struct fragment_at at = fragment_d(lane, f16 ? 2 * r : r);
            d[at.row * n + at.col] = f16 ? reg[lane] & 0xffff : reg[lane];
            if (f16) d[at.row * n + at.col + 1] = reg[lane] >> 16;
        }
    }
}

void emu_mma_scatter_d(const struct emu_warp *w, const uint32_t *rows, int n_rows, bool f16, int n,
                       const uint32_t *d) {
    for (int r = 0; r < n_rows; r++) {
        uint32_t *reg = emu_row32(w, rows[r]);
        for (int lane = 0; lane < EMU_LANES; lane++) {
            struct fragment_at at = fragment_d(lane, f16 ? 2 * r : r);
            const uint32_t *from = d + at.row * n + at.col;
            reg[lane] = f16 ? from[0] | from[1] << 16 : from[0];
        }
    }
}

/* ---- mma.sync ---- */

static enum emu_step mma(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t a[16 * 32], b[32 * 8], d[16 * 8];
    int bits = mma_element_bits(mma_type_a(i));
    const struct emu_operand *op = i->op;
    struct tensor_product p = emu_mma_product(w, i, mma_shape_m(i), 8);
    emu_aligned(w, i, mask);
    emu_mma_gather_a(w, op[1].rows, op[1].n, bits, p.k, a);
    emu_mma_gather_b(w, op[2].rows, op[2].n, bits, 8, b);
    emu_mma_gather_d(w, op[3].rows, op[3].n, p.f16_sum, 8, d);
    emu_spoil_operands(w, &p, a, b);
    tensor_mma(&p, a, b, d, d);
    emu_mma_scatter_d(w, op[0].rows, op[0].n, p.f16_sum, 8, d);
    return EMU_NEXT;
}

emu_handler *emu_select_mma(struct emu_inst *i, const char **why) {
    *why = "this shape and these types do not go together";
    if (i->n_types != 4 || !emu_mma_set_type(i, i->type[1], i->type[2]) || !emu_mma_set_shape(i))
        return NULL;
    bool f16 = i->type[0] == EMU_F16;
    int bits = mma_element_bits(mma_type_a(i)), k = mma_shape_k(i), m = mma_shape_m(i);
    if (bits != mma_element_bits(mma_type_b(i)) || i->type[0] != i->type[3]) return NULL;
    int n_a = m * k * bits / 1024, n_b = 8 * k * bits / 1024, n_d = m * 8 * (f16 ? 16 : 32) / 1024;
    if (i->op[0].n != n_d || i->op[1].n != n_a || i->op[2].n != n_b || i->op[3].n != n_d) {
        *why = "the number of registers does not fit the shape";
        return NULL;
    }
    i->aux[MMA_FLAGS] =
        (f16 ? MMA_F16_SUM : 0) | (strstr(i->opcode, ".satfinite") ? MMA_SATURATE : 0);
    return mma;
}
