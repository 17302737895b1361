/* wgmma's operands in shared memory and its sums. Addresses: smem_desc.h; arithmetic:
 * tensorcore.h. */
#include "mma.h"
#include "mma_fragment.h"
#include "smem_desc.h"
#include "wgmma.h"

#include "emulator/checks/vector_clock.h"
#include "emulator/checks/race.h"
#include "emulator/checks/taint.h"
#include "emulator/core/failed_check.h"
#include "emulator/core/reach.h"

#include "common/base/heap.h"
#include "common/cuda/vector.h"

#include <string.h>

/* ---- Operands in shared memory -------------------------------------------------------------- */

/* The 16-byte pieces of an operand: piece j of line `line`. K-major: lines are rows (m or n),
 * pieces follow k; MN-major: lines are k, pieces follow m or n. */
static uint32_t piece(const struct emu_inst *i, const struct smem_desc *d, bool mn_major, int line,
                      int j) {
    int e = emu_wgmma_element_bytes(i), per = 16 / e;
    return mn_major ? smem_desc_address(d, true, e, j * per, line)
                    : smem_desc_address(d, false, e, line, j * per);
}

static void widen_piece(struct emu_room room, uint32_t at, int element, uint32_t out[16]) {
    const unsigned char *from = emu_reach(room, at, 16, EMU_READ).byte;
    if (!from) return; /* emu_wgmma_check() has reported it */
    if (element == 2) {
        store8(out, load8_halves(from));
    } else if (element == 1) {
        store8(out, widen8_bytes(from));
        store8(out + 8, widen8_bytes(from + 8));
    } else {
        memcpy(out, from, 16);
    }
}

/* 16 rows of A from `first`, as a[16][k]. */
static void load_a(struct emu_warp *w, const struct emu_product *p, int first, uint32_t *a) {
    const struct emu_inst *i = p->inst;
    struct smem_desc d = smem_desc_decode(p->a);
    const struct emu_room room = emu_room_shared(w->block);
    bool mn_major = i->aux[WGMMA_FLAGS] & WGMMA_TRANS_A;
    int e = emu_wgmma_element_bytes(i), per = 16 / e, k = i->aux[WGMMA_K];
    uint32_t wide[16];
    for (int line = 0; line < (mn_major ? k : 16); line++)
        for (int j = 0; j < (mn_major ? 16 : k) / per; j++) {
            int at = mn_major ? line : first + line, first_piece = mn_major ? first / per : 0;
            widen_piece(room, piece(i, &d, mn_major, at, first_piece + j), e, wide);
            for (int s = 0; s < per; s++)
                if (mn_major)
                    a[(j * per + s) * k + line] = wide[s];
                else
                    a[line * k + j * per + s] = wide[s];
        }
}

/* B as b[k][n]. */
static void load_b(struct emu_warp *w, const struct emu_product *p, uint32_t *b) {
    const struct emu_inst *i = p->inst;
    struct smem_desc d = smem_desc_decode(p->b);
    const struct emu_room room = emu_room_shared(w->block);
    bool mn_major = i->aux[WGMMA_FLAGS] & WGMMA_TRANS_B;
    int e = emu_wgmma_element_bytes(i), per = 16 / e, k = i->aux[WGMMA_K], n = i->aux[WGMMA_N];
    uint32_t wide[16];
    for (int line = 0; line < (mn_major ? k : n); line++)
        for (int j = 0; j < (mn_major ? n : k) / per; j++) {
            widen_piece(room, piece(i, &d, mn_major, line, j), e, wide);
            if (mn_major)
                memcpy(b + line * n + j * per, wide, (size_t)per * 4);
            else
                for (int s = 0; s < per; s++) b[(j * per + s) * n + line] = wide[s];
        }
}

/* A piece of line `line` is unwritten: which rows of A, or columns of B, it is of. */
static void note_unwritten(const struct emu_inst *i, bool mn_major, int line, int j,
                           uint64_t unwritten[4]) {
    const int per = 16 / emu_wgmma_element_bytes(i);
    for (int s = 0; s < (mn_major ? per : 1); s++) {
        const int at = mn_major ? j * per + s : line;
        unwritten[at / 64] |= 1ull << at % 64;
    }
}

/* Bounds and races of one operand: `lines` lines from `first`, `pieces` pieces from `first_piece`.
 * Pieces that follow each other are checked together. */
static bool check_operand(struct emu_warp *w, const struct emu_inst *i, uint64_t bits,
                          bool mn_major, const struct emu_issue *op, const int lines[2],
                          const int pieces[2], uint64_t unwritten[4]) {
    struct smem_desc d = smem_desc_decode(bits);
    const struct emu_block *b = w->block;
    uint32_t from = 0, to = 0;
    const char *why = smem_desc_check(bits);
    if (why) emu_report(EMU_BAD_WGMMA, w, i, NULL, "%s", why);
    bool race_check = w->block->shadow != NULL;
    for (int line = lines[0]; line < lines[1]; line++)
        for (int j = pieces[0]; j < pieces[1]; j++) {
            uint32_t at = piece(i, &d, mn_major, line, j);
            if (!emu_shared_holds(b, at, 16)) {
                emu_report(EMU_BAD_SHARED, w, i, NULL,
                           "descriptor %016llx leads to shared address 0x%x, but the block has "
                           "0x%x to 0x%x",
                           (unsigned long long)bits, at, b->shared_base, b->shared_bytes);
                return false;
            }
            if (!race_check) continue;
            if (__builtin_expect(emu_shadow_lacks(b->shadow, at, 16), 0))
                note_unwritten(i, mn_major, line, j, unwritten);
            bool after = at == to, before = at + 16 == from;
            if (from != to && (after || before)) {
                if (after)
                    to += 16;
                else
                    from = at;
                continue;
            }
            if (from != to) emu_shared_async(w, w->block, i, op, from, to - from);
            from = at;
            to = at + 16;
        }
    if (from != to) emu_shared_async(w, w->block, i, op, from, to - from);
    return true;
}

bool emu_wgmma_check(struct emu_warp *w, struct emu_product *p) {
    const struct emu_inst *i = p->inst;
    int per = 16 / emu_wgmma_element_bytes(i), k = i->aux[WGMMA_K], n = i->aux[WGMMA_N],
        row = (int)(w->index % WGMMA_WARPS) * 16;
    struct emu_issue op = {emu_agent(w->block, EMU_AGENT_WGMMA, w->index), p->stamp, EMU_FULL,
                           EMU_READ, true};
    bool trans_a = i->aux[WGMMA_FLAGS] & WGMMA_TRANS_A,
         trans_b = i->aux[WGMMA_FLAGS] & WGMMA_TRANS_B;
    int b_lines[2] = {0, trans_b ? k : n}, b_pieces[2] = {0, (trans_b ? n : k) / per};
    int a_lines[2] = {trans_a ? 0 : row, trans_a ? k : row + 16};
    int a_pieces[2] = {trans_a ? row / per : 0, trans_a ? (row + 16) / per : k / per};
    uint64_t a_rows[4] = {0};
    bool ok = check_operand(w, i, p->b, trans_b, &op, b_lines, b_pieces, p->b_unwritten);
    if (!(i->aux[WGMMA_FLAGS] & WGMMA_RS))
        ok = check_operand(w, i, p->a, trans_a, &op, a_lines, a_pieces, a_rows) && ok;
    p->a_unwritten = a_rows[0] >> row & 0xffff;
    p->unwritten = p->a_unwritten || p->b_unwritten[0] || p->b_unwritten[1] || p->b_unwritten[2] ||
                   p->b_unwritten[3];
    return ok;
}

void emu_wgmma_taint(struct emu_warp *w, const struct emu_product *p) {
    const bool f16 = p->inst->aux[WGMMA_FLAGS] & WGMMA_F16_SUM;
    uint32_t lanes[128] = {0};
    for (int r = 0; r < p->inst->op[0].n; r++)
        for (int lane = 0; lane < EMU_LANES; lane++)
            for (int half = 0; half <= f16; half++) {
                const struct fragment_at at = fragment_d(lane, f16 ? 2 * r + half : r);
                if (p->a_unwritten >> at.row & 1 || p->b_unwritten[at.col / 64] >> at.col % 64 & 1)
                    lanes[r] |= 1u << lane;
            }
    emu_taint_results(w, p->inst, lanes);
}

/* A wavefront reads a core matrix: 16 bytes of each of 8 lines, 128 bytes. */
static void operand_pieces(struct emu_warp *w, const struct emu_inst *i, const char *of,
                           uint64_t bits, bool mn_major, int n_lines, int n_pieces) {
    const struct emu_events *e = w->block->launch->events;
    struct smem_desc d = smem_desc_decode(bits);
    uint32_t wavefront = 0;
    for (int first = 0; first < n_lines; first += 8)
        for (int j = 0; j < n_pieces; j++, wavefront++)
            for (int line = first; line < first + 8; line++)
                e->piece(e->user, w, i, of, (uint32_t)line, piece(i, &d, mn_major, line, j),
                         wavefront);
}

void emu_wgmma_pieces(struct emu_warp *w, const struct emu_product *p) {
    const struct emu_inst *i = p->inst;
    const struct emu_events *e = w->block->launch->events;
    const int per = 16 / emu_wgmma_element_bytes(i), k = i->aux[WGMMA_K], n = i->aux[WGMMA_N];
    const bool trans_a = i->aux[WGMMA_FLAGS] & WGMMA_TRANS_A,
               trans_b = i->aux[WGMMA_FLAGS] & WGMMA_TRANS_B;
    if (!e || !e->piece) return;
    if (!(i->aux[WGMMA_FLAGS] & WGMMA_RS))
        operand_pieces(w, i, "A", p->a, trans_a, trans_a ? k : 64, (trans_a ? 64 : k) / per);
    operand_pieces(w, i, "B", p->b, trans_b, trans_b ? k : n, (trans_b ? n : k) / per);
}

/* ---- Products ------------------------------------------------------------------------------- */

static void gather_registers_a(const struct emu_warp *w, const struct emu_inst *i, uint32_t *a) {
    int e = emu_wgmma_element_bytes(i), per = 4 / e, k = i->aux[WGMMA_K];
    uint32_t mask = e == 4 ? ~0u : (1u << 8 * e) - 1;
    for (int r = 0; r < 4; r++)
        for (int lane = 0; lane < EMU_LANES; lane++)
            for (int s = 0; s < per; s++) {
                struct fragment_at at = fragment_a(lane, r, s, per);
                a[at.row * k + at.col] = emu_row32(w, i->op[1].rows[r])[lane] >> 8 * e * s & mask;
            }
}

/* Accumulators between registers (in `rows`, a row file) and d[16][n]. */
static void move_sums(const struct emu_inst *i, unsigned char *rows, uint32_t *d, bool to_rows) {
    bool f16 = i->aux[WGMMA_FLAGS] & WGMMA_F16_SUM;
    int n = i->aux[WGMMA_N];
    for (int r = 0; r < i->op[0].n; r++) {
        uint32_t *reg = (uint32_t *)(void *)(rows + i->op[0].rows[r]);
        for (int lane = 0; lane < EMU_LANES; lane++) {
            struct fragment_at at = fragment_d(lane, f16 ? 2 * r : r);
            uint32_t *x = d + at.row * n + at.col;
            if (to_rows)
                reg[lane] = f16 ? x[0] | x[1] << 16 : x[0];
            else
                x[0] = f16 ? reg[lane] & 0xffff : reg[lane];
            if (!to_rows && f16) x[1] = reg[lane] >> 16;
        }
    }
}

void emu_wgmma_run(struct emu_warp *w, const struct emu_product *p) {
    static _Thread_local struct {
        uint32_t a[16 * TENSOR_MAX_K], b[TENSOR_MAX_K * TENSOR_MAX_N], d[16 * TENSOR_MAX_N];
    } own;
    uint32_t *a = heap_of_thread(own.a), *b = heap_of_thread(own.b), *d = heap_of_thread(own.d);
    const struct emu_inst *i = p->inst;
    const struct emu_launch_state *l = w->block->launch;
    struct emu_wgmma *g = emu_wgmma_state(w);
    int flags = i->aux[WGMMA_FLAGS], k = i->aux[WGMMA_K], n = i->aux[WGMMA_N];
    struct tensor_product t = {.a_type = (enum tensor_type)i->aux[WGMMA_TYPE],
                               .b_type = (enum tensor_type)i->aux[WGMMA_TYPE],
                               .f16_sum = flags & WGMMA_F16_SUM,
                               .m = 16,
                               .n = n,
                               .k = k};
    t.rule = tensor_rule(l->chip->cc, t.a_type, true, l->options->mma_exact);
    if (flags & WGMMA_RS)
        gather_registers_a(w, i, a);
    else
        load_a(w, p, (int)(w->index % WGMMA_WARPS) * 16, a);
    load_b(w, p, b);
    emu_spoil_operands(w, &t, a, b);
    if (flags & WGMMA_NEGATE)
        for (int e = 0; e < 16 * k; e++) a[e] ^= 1u << (8 * emu_wgmma_element_bytes(i) - 1);
    if (p->add)
        move_sums(i, g->truth, d, false);
    else
        memset(d, 0, sizeof own.d);
    tensor_mma(&t, a, b, d, d);
    move_sums(i, g->truth, d, true);
}
