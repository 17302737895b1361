/* wmma: products and moves of whole matrices.
 *
 * A wmma product is two mma.sync, and its fragments are theirs, one behind the other:
 *     m16n16   A: one mma's;              B: 2 blocks of 8 columns;  D: 2 blocks
 *     m32n8    A: 2 blocks of 16 rows;    B: one mma's;              D: 2 blocks
 *     m8n32    the transposed product: B in A's place with 2 blocks of 16 columns, A in B's
 * Fragments with more registers than that hold copies. */
#include "emulator/instructions/access.h"
#include "emulator/instructions/async.h"
#include "emulator/instructions/flow.h"
#include "emulator/instructions/handlers.h"
#include "emulator/instructions/lanes.h"
#include "mma.h"
#include "mma_fragment.h"

#include "common/cuda/half.h"
#include "emulator/checks/taint.h"

#include <string.h>

/* Registers of a fragment that hold something of their own. */
static int wmma_distinct(const struct emu_inst *i, int matrix, int n_registers) {
    int n_a = mma_shape_k(i) * 16 * mma_element_bits(mma_type_a(i)) / 1024;
    if (matrix == MATRIX_C) return n_registers;
    if ((matrix == MATRIX_A) != (mma_shape_n(i) == 32)) return mma_shape_n(i) == 16 ? n_a : 2 * n_a;
    return mma_shape_n(i) == 16 ? n_a : n_a / 2;
}

/* The element of the wmma matrix in register r, sub-element s of a lane. */
static struct fragment_at wmma_at(const struct emu_inst *i, int matrix, int lane, int r, int s) {
    bool wide = mma_shape_n(i) == 32; /* the transposed product */
    int bits = mma_element_bits(mma_type_a(i)), per = 32 / bits;
    int n_a = mma_shape_k(i) * 16 * bits / 1024, n_b = n_a / 2;
    struct fragment_at at;
    if (matrix == MATRIX_C) {
        int e = i->aux[MMA_FLAGS] & MMA_F16_SUM ? 2 * r + s : r;
        if (mma_shape_n(i) == 16) return fragment_d(lane, e);
        at = fragment_d(lane, e & 3);
        at.row += e >> 2 << 4;
        return wide ? (struct fragment_at){at.col, at.row} : at;
    }
    if ((matrix == MATRIX_A) != wide) { /* the place of mma's A, 16 rows a block */
        r %= wmma_distinct(i, matrix, 0);
        at = fragment_a(lane, r % n_a, s, per);
        at.row += r / n_a * 16;
    } else {
        r %= wmma_distinct(i, matrix, 0);
        at = fragment_b(lane, r % n_b, s, per);
        at.col += r / n_b * 8;
    }
    return wide ? (struct fragment_at){at.col, at.row} : at;
}

static enum emu_step wmma_mma(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t a[32 * 16], b[16 * 16], d[32 * 16];
    int bits = mma_element_bits(mma_type_a(i)), k = mma_shape_k(i), n_a = k * 16 * bits / 1024,
        n_b = n_a / 2;
    bool wide = mma_shape_n(i) == 32, two_rows = mma_shape_n(i) != 16;
    const struct emu_operand *left = &i->op[wide ? 2 : 1], *right = &i->op[wide ? 1 : 2],
                             *c = &i->op[3];
    struct tensor_product p = emu_mma_product(w, i, two_rows ? 32 : 16, two_rows ? 8 : 16);
    int n_d = i->op[0].n / 2, n_c = c->n / 2;
    bool other = i->aux[MMA_FLAGS] & WMMA_OTHER_SUM, f16_c = p.f16_sum != other;
    p.f32_c = other && p.f16_sum;
    if (p.a_type == TENSOR_TF32 && p.rule.fraction_bits)
        p.rule.terms = 4; /* m16n8k4 twice, on an H200 */
    emu_aligned(w, i, mask);
    emu_mma_gather_a(w, left->rows, n_a, bits, k, a);
    emu_mma_gather_b(w, right->rows, n_b, bits, p.n, b);
    if (two_rows)
        emu_mma_gather_a(w, left->rows + n_a, n_a, bits, k, a + 16 * k);
    else
        emu_mma_gather_b(w, right->rows + n_b, n_b, bits, p.n, b + 8);
    int second = two_rows ? 16 * p.n : 8;
    emu_mma_gather_d(w, c->rows, n_c, f16_c, p.n, d);
    emu_mma_gather_d(w, c->rows + n_c, n_c, f16_c, p.n, d + second);
    if (f16_c && !p.f16_sum)
        for (int e = 0; e < p.m * p.n; e++) d[e] = float_bits(half_to_float((half)d[e]));
    emu_spoil_operands(w, &p, a, b);
    tensor_mma(&p, a, b, d, d);
    emu_mma_scatter_d(w, i->op[0].rows, n_d, p.f16_sum, p.n, d);
    emu_mma_scatter_d(w, i->op[0].rows + n_d, n_d, p.f16_sum, p.n, d + second);
    return EMU_NEXT;
}

static bool wmma_shape_known(const struct emu_inst *i) {
    int m = mma_shape_m(i), n = mma_shape_n(i), k = mma_shape_k(i),
        bits = mma_element_bits(mma_type_a(i));
    bool shape = (m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32);
    return shape && k == (bits == 32 ? 8 : 16) && (bits == 16 || n == 16 || bits == 8);
}

/* Has the group as many registers as the matrix's fragment? */
static bool has_fragment(const struct emu_inst *i, int op, int matrix, const char **why) {
    bool f16 = i->aux[MMA_FLAGS] & MMA_F16_SUM, other = i->aux[MMA_FLAGS] & WMMA_OTHER_SUM;
    int n = matrix == MATRIX_C            ? f16 != (other && op == 3) ? 4 : 8
            : mma_type_a(i) == TENSOR_F16 ? 8
                                          : wmma_distinct(i, matrix, 0);
    if (i->op[op].n != n) *why = "a fragment has another number of registers";
    return i->op[op].n == n;
}

emu_handler *emu_select_wmma_mma(struct emu_inst *i, const char **why) {
    *why = "this shape and these types do not go together";
    bool named = i->n_types == 4; /* .f32.bf16.bf16.f32; two types: f16 operands */
    if (!emu_mma_set_shape(i) ||
        !emu_mma_set_type(i, named ? i->type[1] : EMU_F16, named ? i->type[2] : EMU_F16))
        return NULL;
    if (!wmma_shape_known(i) || (!named && i->n_types != 2)) return NULL;
    bool other = i->type[0] != i->type[i->n_types - 1];
    i->aux[MMA_FLAGS] = (other ? WMMA_OTHER_SUM : 0) | (i->type[0] == EMU_F16 ? MMA_F16_SUM : 0) |
                        (strstr(i->opcode, ".satfinite") ? MMA_SATURATE : 0);
    if (!has_fragment(i, 0, MATRIX_C, why) || !has_fragment(i, 1, MATRIX_A, why) ||
        !has_fragment(i, 2, MATRIX_B, why) || !has_fragment(i, 3, MATRIX_C, why))
        return NULL;
    i->units = mma_type_a(i) == TENSOR_TF32 ? 4 : 2;
    return wmma_mma;
}

/* Where one element lies, in bytes from the matrix's start. */
static uint64_t memory_offset(const struct emu_inst *i, struct fragment_at at, uint64_t stride,
                              uint32_t bytes) {
    uint64_t row = (uint64_t)at.row, col = (uint64_t)at.col;
    return (i->aux[MMA_FLAGS] & WMMA_COL_MAJOR ? col * stride + row : row * stride + col) * bytes;
}

static uint32_t element_bytes(const struct emu_inst *i) {
    if (i->aux[MMA_MATRIX] == MATRIX_C) return i->aux[MMA_FLAGS] & MMA_F16_SUM ? 2 : 4;
    return (uint32_t)mma_element_bits(mma_type_a(i)) / 8;
}

/* Fragments are regular: lane l's element (r, s) lies as far from lane 0's as its element (0, 0)
 * does. */
static uint64_t element_offset(const struct emu_inst *i, int r, int s, uint32_t stride) {
    return memory_offset(i, wmma_at(i, i->aux[MMA_MATRIX], 0, r, s), stride, element_bytes(i));
}

static void lane_offsets(const struct emu_inst *i, uint32_t stride, uint64_t out[EMU_LANES]) {
    uint32_t bytes = element_bytes(i);
    for (int lane = 0; lane < EMU_LANES; lane++)
        out[lane] = memory_offset(i, wmma_at(i, i->aux[MMA_MATRIX], lane, 0, 0), stride, bytes);
}

/* The accesses as hardware makes them. From shared memory, 16-bit A and B come through ldmatrix:
 * eight rows of 16 bytes at a time. Everything else is one access for each register or pair of
 * neighbours. */
static uint32_t access_ldmatrix(struct emu_warp *w, const struct emu_inst *i, uint32_t base,
                                uint32_t stride) {
    bool col = i->aux[MMA_FLAGS] & WMMA_COL_MAJOR, is_a = i->aux[MMA_MATRIX] == MATRIX_A;
    int rows = is_a ? mma_shape_m(i) : mma_shape_k(i),
        cols = is_a ? mma_shape_k(i) : mma_shape_n(i);
    int lines = col ? cols : rows, across = (col ? rows : cols) / 8, n = lines / 8 * across;
    const bool far =
        (base + ((uint64_t)lines * stride + 32) * 2) >> 32; /* past all shared memory */
    for (int first = 0; first < n; first += 4) {
        uint32_t addr[EMU_LANES] = {0}, lanes = 0;
        for (int lane = 0; lane < EMU_LANES && first + lane / 8 < n; lane++) {
            int block = first + lane / 8;
            uint32_t line = (uint32_t)(block / across * 8 + lane % 8);
            addr[lane] =
                far ? UINT32_MAX - 15 : base + (line * stride + (uint32_t)(block % across) * 8) * 2;
            lanes |= 1u << lane;
        }
        if (emu_shared_access(w, i, lanes, addr, 16, EMU_READ) != lanes) return 0;
    }
    return EMU_FULL;
}

/* How registers go to memory one access after the other: whole neighbours where they lie side by
 * side. */
struct direct {
    int step_r, step_s; /* registers and sub-elements of one access */
    uint32_t bytes;
    int n; /* accesses */
};

static struct direct direct(const struct emu_inst *i, int n_registers) {
    int matrix = i->aux[MMA_MATRIX], far = 4096;
    uint32_t bytes = element_bytes(i);
    bool sums = matrix == MATRIX_C && bytes == 4; /* neighbours are in two registers, else in one */
    int per = (int)(4 / bytes);
    bool joined = element_offset(i, sums, !sums && per > 1, (uint32_t)far) -
                      element_offset(i, 0, 0, (uint32_t)far) ==
                  bytes;
    struct direct d = {sums && joined ? 2 : 1, joined ? per : 1, bytes, 0};
    if (joined) d.bytes = sums ? 8 : 4;
    d.n = wmma_distinct(i, matrix, n_registers) / d.step_r * (per / d.step_s);
    return d;
}

uint32_t emu_fragment_access(struct emu_warp *w, const struct emu_inst *i, int r, int distinct,
                             bool in_shared, const uint64_t addr[EMU_LANES], unsigned bytes) {
    const bool store = i->aux[MMA_FLAGS] & WMMA_STORE;
    const enum emu_access what = store ? EMU_WRITE : EMU_READ;
    uint32_t shared[EMU_LANES], ok;
    emu_shared_offsets(addr, shared);
    if (w->tainted && store && in_shared) emu_taint_stored(w, i, r);
    ok = in_shared ? emu_shared_access(w, i, EMU_FULL, shared, bytes, what)
                   : emu_global_access(w, i, EMU_FULL, addr, bytes, what);
    if (w->tainted && !store) emu_taint_loaded(w, i, r, distinct);
    return ok;
}

struct emu_place emu_fragment_place(const struct emu_warp *w, const struct emu_inst *i,
                                    bool in_shared, uint64_t addr, uint64_t bytes) {
    const enum emu_access what = i->aux[MMA_FLAGS] & WMMA_STORE ? EMU_WRITE : EMU_READ;
    return in_shared ? emu_reach(emu_room_shared(w->block), addr, bytes, what)
                     : emu_global(w, addr, bytes, what, NULL);
}

static uint32_t access_direct(struct emu_warp *w, const struct emu_inst *i, uint64_t base,
                              uint32_t stride, bool in_shared) {
    const struct emu_operand *group = &i->op[i->aux[MMA_FLAGS] & WMMA_STORE ? 1 : 0];
    const int n = wmma_distinct(i, i->aux[MMA_MATRIX], group->n);
    uint32_t bytes = element_bytes(i), ok = EMU_FULL;
    struct direct d = direct(i, group->n);
    uint64_t lanes[EMU_LANES];
    lane_offsets(i, stride, lanes);
    for (int r = 0; r < n; r += d.step_r)
        for (int s = 0; s < (int)(4 / bytes); s += d.step_s) {
            uint64_t addr[EMU_LANES];
            for (int lane = 0; lane < EMU_LANES; lane++)
                addr[lane] = base + element_offset(i, r, s, stride) + lanes[lane];
            ok &= emu_fragment_access(w, i, r, n, in_shared, addr, d.bytes);
        }
    return ok;
}

static bool by_ldmatrix(const struct emu_inst *i) {
    return i->aux[MMA_MATRIX] != MATRIX_C && mma_element_bits(mma_type_a(i)) == 16;
}

static inline void move_element(unsigned char *word, unsigned char *at, uint32_t bytes,
                                bool store) {
    const unsigned char *from = store ? word : at;
    unsigned char *to = store ? at : word;
    if (bytes == 4)
        memcpy(to, from, 4);
    else if (bytes == 2)
        memcpy(to, from, 2);
    else
        *to = *from;
}

/* One element of every lane, at base + offset[lane]: `words` is that of lane 0 in its register. Lane
 * 0's offset is 0, and `most` is the largest one: all lie in one place, or, in global memory, each in
 * an allocation of its own. */
static void move_elements(struct emu_warp *w, const struct emu_inst *i, unsigned char *words,
                          bool in_shared, uint64_t base, const uint64_t offset[EMU_LANES],
                          uint64_t most, uint32_t bytes) {
    bool store = i->aux[MMA_FLAGS] & WMMA_STORE;
    struct emu_place all = emu_fragment_place(w, i, in_shared, base, most + bytes);
    for (int lane = 0; all.byte && lane < EMU_LANES; lane++)
        move_element(words + 4 * lane, all.byte + offset[lane], bytes, store);
    for (int lane = 0; !all.byte && lane < EMU_LANES; lane++) {
        struct emu_place at = emu_fragment_place(w, i, in_shared, base + offset[lane], bytes);
        if (at.byte) move_element(words + 4 * lane, at.byte, bytes, store);
    }
}

/* If none is given, rows follow each other without gaps. */
static uint32_t whole_stride(const struct emu_inst *i) {
    bool col = i->aux[MMA_FLAGS] & WMMA_COL_MAJOR;
    int matrix = i->aux[MMA_MATRIX], rows = matrix == MATRIX_B ? mma_shape_k(i) : mma_shape_m(i);
    return (uint32_t)(col ? rows : matrix == MATRIX_A ? mma_shape_k(i) : mma_shape_n(i));
}

/* wmma.load {registers}, [matrix], stride; wmma.store [matrix], {registers}, stride */
static enum emu_step wmma_move(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    bool store = i->aux[MMA_FLAGS] & WMMA_STORE;
    const struct emu_operand *group = &i->op[store ? 1 : 0], *address = &i->op[store ? 0 : 1];
    uint64_t addresses[EMU_LANES];
    uint32_t bytes = element_bytes(i);
    uint64_t lanes[EMU_LANES], most = 0;
    emu_aligned(w, i, mask);
    emu_addresses(w, address, addresses);
    uint32_t stride =
        i->n_ops > 2 ? emu_row32(w, i->op[2].row)[__builtin_ctz(mask)] : whole_stride(i);
    uint64_t base = addresses[__builtin_ctz(mask)], window = base - EMU_SHARED_WINDOW;
    bool shared = i->space == EMU_SHARED || (i->space == EMU_GENERIC && window < EMU_WINDOW_BYTES);
    if (shared) base = emu_shared_offset(base);
    uint32_t ok = shared && by_ldmatrix(i) ? access_ldmatrix(w, i, (uint32_t)base, stride)
                                           : access_direct(w, i, base, stride, shared);
    if (ok != EMU_FULL) return EMU_NEXT;
    lane_offsets(i, stride, lanes);
    for (int l = 0; l < EMU_LANES; l++) most = lanes[l] > most ? lanes[l] : most;
    for (int r = 0; r < group->n; r++)
        for (uint32_t s = 0; s < 4 / bytes; s++)
            move_elements(w, i, (unsigned char *)emu_row32(w, group->rows[r]) + s * bytes, shared,
                          base + element_offset(i, r, (int)s, stride), lanes, most, bytes);
    return EMU_NEXT;
}

/* wmma.load.(a|b|c).sync.aligned.layout.shape{.space}.type, wmma.store.d... */
emu_handler *emu_select_wmma_move(struct emu_inst *i, const char **why) {
    bool store = !strncmp(i->opcode, "wmma.store", 10);
    char which = store ? 'c' : i->opcode[10];
    enum emu_type t = i->n_types ? i->type[0] : EMU_NONE;
    *why = "this shape and type do not go together";
    i->aux[MMA_MATRIX] = which - 'a';
    if (!emu_mma_set_shape(i)) return NULL;
    if (which == 'c') {
        bool ok = t == EMU_F16 || t == EMU_F32 || t == EMU_S32;
        if (!ok || !emu_mma_set_type(i, mma_shape_k(i) == 8 ? EMU_TF32 : EMU_F16, EMU_F16))
            return NULL;
    } else if (!emu_mma_set_type(i, t, t) || !wmma_shape_known(i)) {
        return NULL;
    }
    i->flops = 0;
    i->aux[MMA_FLAGS] = (strstr(i->opcode, ".col") ? WMMA_COL_MAJOR : 0) |
                        (store ? WMMA_STORE : 0) | (which == 'c' && t == EMU_F16 ? MMA_F16_SUM : 0);
    if (!has_fragment(i, store ? 1 : 0, i->aux[MMA_MATRIX], why)) return NULL;
    bool shared = i->space != EMU_GLOBAL; /* generic addresses are counted as shared ones */
    int n = i->op[store ? 1 : 0].n, lines = which == 'a' ? mma_shape_m(i) : mma_shape_n(i);
    i->class = shared && by_ldmatrix(i) ? EMU_LDSM
               : shared                 ? (store ? EMU_ST_SHARED : EMU_LD_SHARED)
                                        : (store ? EMU_ST_GLOBAL : EMU_LD_GLOBAL);
    i->units = (uint8_t)(i->class == EMU_LDSM ? (lines == 32 ? 2 : 1) : direct(i, n).n);
    i->vec = (uint8_t)direct(i, n).step_r; /* registers of one access */
    return wmma_move;
}
