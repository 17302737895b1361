/* wgmma: products that run on behind their instruction. Each warp computes its 16 of the 64 rows.
 *
 * Between issue and wait_group the accumulators belong to the tensor core. Their values move to a second
 * row file (`truth`), and the registers hold NaNs; at completion, in order, each product reads its operands
 * from shared memory as it is then and adds to the truth, which goes back to the registers when no product
 * of theirs is left in flight. Instructions that touch wgmma registers are watched (emu_wgmma_prepare). */
#include "async.h"

#include "fragment.h"
#include "smem_desc.h"
#include "tensorcore.h"

#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

enum { AUX_N, AUX_K, AUX_TYPE, AUX_FLAGS };
enum { F16_SUM = 1, FROM_REGISTERS = 2, TRANS_A = 4, TRANS_B = 8, NEGATE = 16 };
enum { MAX_IN_FLIGHT = 256, WARPGROUP = 4 };

struct product {
    const struct emu_inst *inst;
    uint64_t a, b; /* descriptors */
    bool add;      /* scale-d */
    uint32_t group, stamp;
};

struct emu_wgmma {
    unsigned char *truth;          /* as large as the warp's row file */
    uint8_t *in_flight;            /* products that will write the row, by row / 128 */
    uint8_t *operand;              /* products that will read it as A */
    uint8_t *dirty;                /* written since the last wgmma.fence */
    const struct emu_inst **owner; /* the last product to use the row */
    uint32_t n_rows;
    bool fenced; /* there was a wgmma.fence at all */
    uint32_t n_groups, n_products;
    uint64_t n_issued;
    struct product product[MAX_IN_FLIGHT];
};

static struct emu_wgmma *state(struct emu_warp *w) { return emu_warp_async(w)->wgmma; }

static enum tensor_type type_of(const struct emu_inst *i) {
    return (enum tensor_type)i->aux[AUX_TYPE];
}
static int element_bytes(const struct emu_inst *i) { return 32 / i->aux[AUX_K]; }

/* ---- Operands in shared memory -------------------------------------------------------------------------- */

/* The 16-byte pieces of an operand: piece j of line `line`. K-major: lines are rows (m or n), pieces follow k;
 * MN-major: lines are k, pieces follow m or n. */
static uint32_t piece(const struct emu_inst *i, const struct smem_desc *d, bool mn_major, int line,
                      int j) {
    int e = element_bytes(i), per = 16 / e;
    return mn_major ? smem_desc_address(d, true, e, j * per, line)
                    : smem_desc_address(d, false, e, line, j * per);
}

static void widen_piece(const unsigned char *from, int element, uint32_t out[16]) {
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)from);
    if (element == 2) {
        _mm256_storeu_si256((__m256i *)(void *)out, _mm256_cvtepu16_epi32(x));
    } else if (element == 1) {
        _mm256_storeu_si256((__m256i *)(void *)out, _mm256_cvtepu8_epi32(x));
        _mm256_storeu_si256((__m256i *)(void *)(out + 8),
                            _mm256_cvtepu8_epi32(_mm_srli_si128(x, 8)));
    } else {
        memcpy(out, from, 16);
    }
}

/* 16 rows of A from `first`, as a[16][k]. */
static void load_a(struct emu_warp *w, const struct product *p, int first, uint32_t *a) {
    const struct emu_inst *i = p->inst;
    struct smem_desc d = smem_desc_decode(p->a);
    bool mn_major = i->aux[AUX_FLAGS] & TRANS_A;
    int e = element_bytes(i), per = 16 / e, k = i->aux[AUX_K];
    uint32_t wide[16];
    for (int line = 0; line < (mn_major ? k : 16); line++)
        for (int j = 0; j < (mn_major ? 16 : k) / per; j++) {
            int at = mn_major ? line : first + line, first_piece = mn_major ? first / per : 0;
            widen_piece(w->block->shared + piece(i, &d, mn_major, at, first_piece + j), e, wide);
            for (int s = 0; s < per; s++)
                if (mn_major)
                    a[(j * per + s) * k + line] = wide[s];
                else
                    a[line * k + j * per + s] = wide[s];
        }
}

/* B as b[k][n]. */
static void load_b(struct emu_warp *w, const struct product *p, uint32_t *b) {
    const struct emu_inst *i = p->inst;
    struct smem_desc d = smem_desc_decode(p->b);
    bool mn_major = i->aux[AUX_FLAGS] & TRANS_B;
    int e = element_bytes(i), per = 16 / e, k = i->aux[AUX_K], n = i->aux[AUX_N];
    uint32_t wide[16];
    for (int line = 0; line < (mn_major ? k : n); line++)
        for (int j = 0; j < (mn_major ? n : k) / per; j++) {
            widen_piece(w->block->shared + piece(i, &d, mn_major, line, j), e, wide);
            if (mn_major)
                memcpy(b + line * n + j * per, wide, (size_t)per * 4);
            else
                for (int s = 0; s < per; s++) b[(j * per + s) * n + line] = wide[s];
        }
}

/* Bounds and races of one operand: `lines` lines from `first`, `pieces` pieces from `first_piece`. Pieces that
 * follow each other are checked together. */
static bool check_operand(struct emu_warp *w, const struct emu_inst *i, uint64_t bits,
                          bool mn_major, unsigned agent, uint32_t stamp, const int lines[2],
                          const int pieces[2]) {
    struct smem_desc d = smem_desc_decode(bits);
    uint32_t from = 0, to = 0, size = w->block->shared_bytes;
    const char *why = smem_desc_check(bits);
    if (why) emu_report(EMU_BAD_WGMMA, w, i, NULL, "%s", why);
    bool race_check = w->block->shadow != NULL;
    for (int line = lines[0]; line < lines[1]; line++)
        for (int j = pieces[0]; j < pieces[1]; j++) {
            uint32_t at = piece(i, &d, mn_major, line, j);
            if (at + 16 > size) {
                emu_report(
                    EMU_BAD_SHARED, w, i, NULL,
                    "descriptor %016llx leads to shared address 0x%x, but the block has 0x%x",
                    (unsigned long long)bits, at, size);
                return false;
            }
            if (!race_check) continue;
            bool after = at == to, before = at + 16 == from;
            if (from != to && (after || before)) {
                if (after)
                    to += 16;
                else
                    from = at;
                continue;
            }
            if (from != to) emu_shared_async(w, i, agent, stamp, from, to - from, EMU_READ, true);
            from = at;
            to = at + 16;
        }
    if (from != to) emu_shared_async(w, i, agent, stamp, from, to - from, EMU_READ, true);
    return true;
}

/* ---- Products ---------------------------------------------------------------------------------------------- */

static void gather_registers_a(const struct emu_warp *w, const struct emu_inst *i, uint32_t *a) {
    int e = element_bytes(i), per = 4 / e, k = i->aux[AUX_K];
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
    bool f16 = i->aux[AUX_FLAGS] & F16_SUM;
    int n = i->aux[AUX_N];
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

static void run_product(struct emu_warp *w, const struct product *p) {
    static _Thread_local uint32_t a[16 * TENSOR_MAX_K], b[TENSOR_MAX_K * TENSOR_MAX_N],
        d[16 * TENSOR_MAX_N];
    const struct emu_inst *i = p->inst;
    const struct emu_launch_state *l = w->block->launch;
    struct emu_wgmma *g = state(w);
    int flags = i->aux[AUX_FLAGS], k = i->aux[AUX_K], n = i->aux[AUX_N];
    struct tensor_product t = {.a_type = type_of(i),
                               .b_type = type_of(i),
                               .f16_sum = flags & F16_SUM,
                               .m = 16,
                               .n = n,
                               .k = k};
    t.rule = tensor_rule(l->chip->cc, t.a_type, true, l->options->mma_exact);
    if (flags & FROM_REGISTERS)
        gather_registers_a(w, i, a);
    else
        load_a(w, p, (int)(w->index % WARPGROUP) * 16, a);
    load_b(w, p, b);
    if (flags & NEGATE)
        for (int e = 0; e < 16 * k; e++) a[e] ^= 1u << (8 * element_bytes(i) - 1);
    if (p->add)
        move_sums(i, g->truth, d, false);
    else
        memset(d, 0, sizeof d);
    tensor_mma(&t, a, b, d, d);
    move_sums(i, g->truth, d, true);
}

static void complete(struct emu_warp *w, const struct product *p) {
    struct emu_wgmma *g = state(w);
    run_product(w, p);
    for (int r = 0; r < p->inst->op[0].n; r++) {
        uint32_t row = p->inst->op[0].rows[r];
        if (--g->in_flight[row / 128] == 0) memcpy(w->rows + row, g->truth + row, 128);
    }
    if (p->inst->aux[AUX_FLAGS] & FROM_REGISTERS)
        for (int r = 0; r < 4; r++) g->operand[p->inst->op[1].rows[r] / 128]--;
    unsigned agent = emu_agent(w->block, EMU_AGENT_WGMMA, w->index);
    emu_agent_done(&w->clock, agent, p->stamp);
}

/* Products of all but the last `keep` groups. */
static void wait(struct emu_warp *w, uint32_t keep) {
    struct emu_wgmma *g = state(w);
    uint32_t n = 0;
    while (n < g->n_products && (int64_t)g->product[n].group < (int64_t)g->n_groups - keep)
        complete(w, &g->product[n++]);
    memmove(g->product, g->product + n, (g->n_products - n) * sizeof *g->product);
    g->n_products -= n;
}

/* ---- Handlers ------------------------------------------------------------------------------------------------ */

enum emu_step emu_wgmma_fence(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    struct emu_wgmma *g = state(w);
    emu_aligned(w, i, mask);
    g->fenced = true;
    memset(g->dirty, 0, g->n_rows);
    return EMU_NEXT;
}

enum emu_step emu_wgmma_commit(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    emu_aligned(w, i, mask);
    state(w)->n_groups++;
    return EMU_NEXT;
}

enum emu_step emu_wgmma_wait(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    emu_aligned(w, i, mask);
    wait(w, (uint32_t)i->op[0].imm);
    return EMU_NEXT;
}

static void check_fence(struct emu_warp *w, const struct emu_inst *i,
                        const struct emu_operand *group, const char *what) {
    struct emu_wgmma *g = state(w);
    for (int r = 0; r < group->n; r++)
        if (g->dirty[group->rows[r] / 128]) {
            emu_report(
                EMU_BAD_WGMMA, w, i, NULL,
                "%s register %d was written after the last wgmma.fence: a wgmma.fence is missing",
                what, r);
            return;
        }
}

/* All four warps must issue the same products with the same descriptors. */
static void check_warpgroup(struct emu_warp *w, const struct product *p) {
    for (uint32_t n = w->index / WARPGROUP * WARPGROUP; n < w->index; n++) {
        const struct emu_wgmma *other = emu_async(w->block)->warp[n].wgmma;
        uint64_t behind = other->n_issued - state(w)->n_issued;
        if (!other->n_issued || behind == 0 || behind > other->n_products) continue;
        const struct product *same = &other->product[other->n_products - behind];
        if (same->inst == p->inst && same->b == p->b &&
            (same->a == p->a || p->inst->aux[AUX_FLAGS] & FROM_REGISTERS))
            continue;
        emu_report(EMU_BAD_WGMMA, w, p->inst, same->inst,
                   "warps %u and %u of a warpgroup issue different products", n, w->index);
        return;
    }
}

static void count(struct emu_warp *w, const struct emu_inst *i) {
    if (w->index % WARPGROUP) return; /* one read of the operands for the four warps */
    uint32_t bytes =
        (uint32_t)i->aux[AUX_N] * 32 + (i->aux[AUX_FLAGS] & FROM_REGISTERS ? 0 : 64 * 32);
    struct emu_count *c = w->count + i->pc;
    c->wavefronts += bytes / 128;
    c->wavefronts_ideal += bytes / 128;
    c->bytes += bytes;
}

static bool uniform(struct emu_warp *w, const struct emu_inst *i, const struct emu_operand *op,
                    uint64_t *out) {
    const uint64_t *row = emu_row64(w, op->row);
    *out = row[0];
    for (int l = 1; l < EMU_LANES; l++)
        if (row[l] != row[0]) {
            emu_report(EMU_BAD_WGMMA, w, i, NULL, "the descriptor differs between lanes 0 and %d",
                       l);
            return false;
        }
    return true;
}

static bool check_operands(struct emu_warp *w, const struct product *p) {
    const struct emu_inst *i = p->inst;
    int per = 16 / element_bytes(i), k = i->aux[AUX_K], n = i->aux[AUX_N],
        row = (int)(w->index % WARPGROUP) * 16;
    unsigned agent = emu_agent(w->block, EMU_AGENT_WGMMA, w->index);
    bool trans_a = i->aux[AUX_FLAGS] & TRANS_A, trans_b = i->aux[AUX_FLAGS] & TRANS_B;
    int b_lines[2] = {0, trans_b ? k : n}, b_pieces[2] = {0, (trans_b ? n : k) / per};
    int a_lines[2] = {trans_a ? 0 : row, trans_a ? k : row + 16};
    int a_pieces[2] = {trans_a ? row / per : 0, trans_a ? (row + 16) / per : k / per};
    bool ok = check_operand(w, i, p->b, trans_b, agent, p->stamp, b_lines, b_pieces);
    if (i->aux[AUX_FLAGS] & FROM_REGISTERS) return ok;
    return check_operand(w, i, p->a, trans_a, agent, p->stamp, a_lines, a_pieces) && ok;
}

static void take_rows(struct emu_warp *w, const struct emu_inst *i) {
    struct emu_wgmma *g = state(w);
    for (int r = 0; r < i->op[0].n; r++) {
        uint32_t row = i->op[0].rows[r];
        if (g->in_flight[row / 128]++ == 0) {
            memcpy(g->truth + row, w->rows + row, 128);
            memset(w->rows + row, 0xff, 128);
        }
        g->owner[row / 128] = i;
    }
    if (!(i->aux[AUX_FLAGS] & FROM_REGISTERS)) return;
    for (int r = 0; r < 4; r++) {
        g->operand[i->op[1].rows[r] / 128]++;
        g->owner[i->op[1].rows[r] / 128] = i;
    }
}

static enum emu_step mma_async(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    struct emu_wgmma *g = state(w);
    struct product p = {.inst = i, .group = g->n_groups};
    bool rs = i->aux[AUX_FLAGS] & FROM_REGISTERS;
    const struct emu_operand *scale_d = &i->op[3];
    emu_aligned(w, i, mask);
    if (!rs && !uniform(w, i, &i->op[1], &p.a)) return EMU_STOP;
    if (!uniform(w, i, &i->op[2], &p.b)) return EMU_STOP;
    if (scale_d->kind == EMU_OP_IMM)
        p.add = scale_d->imm != 0;
    else
        p.add = (*emu_mask(w, scale_d->row) & 1) != scale_d->negated;
    if (!g->fenced)
        emu_report(EMU_BAD_WGMMA, w, i, NULL, "there was no wgmma.fence before this first product");
    check_fence(w, i, &i->op[0], "accumulator");
    if (rs) check_fence(w, i, &i->op[1], "A");
    if (g->n_products == MAX_IN_FLIGHT) {
        emu_report(EMU_BAD_WGMMA, w, i, NULL, "%d products in flight: wgmma.wait_group is missing",
                   MAX_IN_FLIGHT);
        return EMU_STOP;
    }
    p.stamp = emu_agent_issue(w->block, emu_agent(w->block, EMU_AGENT_WGMMA, w->index));
    if (!check_operands(w, &p)) return EMU_STOP;
    check_warpgroup(w, &p);
    take_rows(w, i);
    g->product[g->n_products++] = p;
    g->n_issued++;
    count(w, i);
    if (w->block->launch->options->async_early) {
        g->n_groups++;
        wait(w, 0);
    }
    return EMU_NEXT;
}

emu_handler *emu_select_wgmma(struct emu_inst *i, const char **why) {
    static const enum tensor_type types[] = {
        [EMU_F16] = TENSOR_F16,   [EMU_BF16] = TENSOR_BF16, [EMU_TF32] = TENSOR_TF32,
        [EMU_E4M3] = TENSOR_E4M3, [EMU_E5M2] = TENSOR_E5M2, [EMU_S8] = TENSOR_S8,
        [EMU_U8] = TENSOR_U8};
    int n, k;
    const char *shape = strstr(i->opcode, ".m64n");
    *why = "this shape and these types do not go together";
    if (!shape || sscanf(shape, ".m64n%dk%d", &n, &k) != 2 || i->n_types != 3) return NULL;
    if (n < 8 || n > 256 || n % 8 || i->type[1] != i->type[2]) return NULL;
    i->aux[AUX_N] = n;
    i->aux[AUX_K] = k;
    i->aux[AUX_TYPE] = types[i->type[1]];
    bool is_16bit = k == 16, is_int = i->type[0] == EMU_S32;
    if (k != (i->type[1] == EMU_TF32                            ? 8
              : i->type[1] == EMU_F16 || i->type[1] == EMU_BF16 ? 16
                                                                : 32))
        return NULL;
    bool rs = i->op[1].n == 4, f16 = i->type[0] == EMU_F16;
    int n_imm = is_int ? 0 : is_16bit ? (rs ? 3 : 4) : 2;
    *why = "the number of registers or immediates does not fit the shape";
    if (i->op[0].n != (f16 ? n / 4 : n / 2) || (i->op[1].n != 1 && !rs) || i->n_ops != 4 + n_imm)
        return NULL;
    i->aux[AUX_FLAGS] = (f16 ? F16_SUM : 0) | (rs ? FROM_REGISTERS : 0);
    if (n_imm && i->op[4].imm * i->op[5].imm < 0) i->aux[AUX_FLAGS] |= NEGATE;
    if (n_imm == 4 && i->op[6].imm) i->aux[AUX_FLAGS] |= TRANS_A;
    if (n_imm > 2 && i->op[4 + n_imm - 1].imm) i->aux[AUX_FLAGS] |= TRANS_B;
    i->flops = 2 * 16 * (uint32_t)(n * k); /* of one warp */
    return mma_async;
}

/* ---- Watched registers ----------------------------------------------------------------------------------------- */

static void touch(struct emu_warp *w, const struct emu_inst *i, uint32_t row, bool write) {
    struct emu_wgmma *g = state(w);
    uint32_t n = row / 128;
    if (g->in_flight[n])
        emu_report(EMU_IN_FLIGHT, w, i, g->owner[n],
                   "%s an accumulator before wgmma.wait_group has waited for its product",
                   write ? "writes" : "reads");
    else if (write && g->operand[n])
        emu_report(EMU_IN_FLIGHT, w, i, g->owner[n],
                   "overwrites an A register before wgmma.wait_group has waited for the product "
                   "that reads it");
    if (write) g->dirty[n] = 1;
}

static enum emu_step watched(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const struct emu_watch *watch = &w->block->kernel->watch[i->pc];
    for (int n = 0; n < watch->n; n++) touch(w, i, watch->row[n], watch->writes >> n & 1);
    return watch->run(w, i, mask);
}

/* Which operands of an instruction are wgmma registers, and whether it writes them. */
static void find_watched(const struct emu_inst *i, const uint8_t *is_wgmma,
                         struct emu_watch *watch) {
    const char *at = i->form->operands;
    watch->n = 0;
    watch->writes = 0;
    for (int o = 0; o < i->n_ops && *at; o++) {
        if (*at == '?') at++;
        const struct emu_operand *op = &i->op[o];
        bool write = *at == 'd' || *at == 'D';
        for (int r = 0;
             r < (op->kind == EMU_OP_GROUP ? op->n
                                           : op->kind == EMU_OP_ROW || op->kind == EMU_OP_ADDRESS);
             r++) {
            uint32_t row = op->kind == EMU_OP_GROUP ? op->rows[r] : op->row;
            if (!is_wgmma[row / 128] || watch->n == EMU_WATCHED) continue;
            watch->writes |= (uint8_t)((unsigned)write << watch->n);
            watch->row[watch->n++] = row;
        }
        if (at[1] && at[2] == '|') o++; /* d|p: two operands of one token */
        while (*at && *at != ' ') at++;
        while (*at == ' ') at++;
    }
}

bool emu_wgmma_prepare(struct emu_kernel *k, void *(*alloc)(void *user, size_t bytes), void *user) {
    uint8_t *is_wgmma = NULL;
    for (int n = 0; n < k->n_inst; n++) {
        const struct emu_inst *i = &k->inst[n];
        if (i->run != mma_async) continue;
        if (!is_wgmma && !(is_wgmma = calloc(k->row_bytes / 128 + 1, 1))) return false;
        for (int r = 0; r < i->op[0].n; r++) is_wgmma[i->op[0].rows[r] / 128] = 1;
        for (int r = 0; r < 4 && i->op[1].n == 4; r++) is_wgmma[i->op[1].rows[r] / 128] = 1;
    }
    if (!is_wgmma) return true;
    k->watch = alloc(user, (size_t)k->n_inst * sizeof *k->watch);
    for (int n = 0; k->watch && n < k->n_inst; n++) {
        struct emu_inst *i = &k->inst[n];
        if (i->run == mma_async) continue;
        find_watched(i, is_wgmma, &k->watch[n]);
        if (!k->watch[n].n) continue;
        k->watch[n].run = i->run;
        i->run = watched;
    }
    free(is_wgmma);
    return k->watch != NULL;
}

/* ---- setmaxnreg --------------------------------------------------------------------------------------------------- */

/* The pool is what the block was launched with; .dec gives back, .inc waits until there is enough. */
enum emu_step emu_setmaxnreg(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t want = (uint32_t)i->op[0].imm, have = w->n_registers;
    bool inc = strstr(i->opcode, ".inc") != NULL;
    emu_aligned(w, i, mask);
    if (want < 24 || want > 256 || want % 8)
        emu_report(EMU_BAD_OPERAND, w, i, NULL,
                   "%u registers: setmaxnreg takes 24 to 256 in steps of 8", want);
    else if (inc ? want < have : want > have)
        emu_report(EMU_BAD_OPERAND, w, i, NULL,
                   "setmaxnreg.%s to %u registers, but the warp has %u", inc ? "inc" : "dec", want,
                   have);
    else if (inc && (want - have) * EMU_LANES > w->block->free_registers)
        return EMU_WAIT;
    else {
        w->block->free_registers += (have - want) * EMU_LANES;
        w->n_registers = want;
    }
    return EMU_NEXT;
}

/* ---- Life of the state ----------------------------------------------------------------------------------------------- */

void emu_wgmma_begin(struct emu_warp *w) {
    struct emu_warp_async *a = emu_warp_async(w);
    const struct emu_kernel *k = w->block->kernel;
    if (!k->watch) return; /* a kernel without wgmma */
    uint32_t n_rows = k->row_bytes / 128 + 1;
    if (a->wgmma && a->wgmma->n_rows < n_rows) emu_wgmma_free(a);
    if (!a->wgmma) {
        struct emu_wgmma *g = a->wgmma = calloc(1, sizeof *g);
        if (!g) abort();
        g->n_rows = n_rows;
        g->truth = aligned_alloc(64, (size_t)n_rows * 128);
        g->in_flight = calloc(n_rows, 1);
        g->operand = calloc(n_rows, 1);
        g->dirty = calloc(n_rows, 1);
        g->owner = calloc(n_rows, sizeof *g->owner);
        if (!g->truth || !g->in_flight || !g->operand || !g->dirty || !g->owner) abort();
    }
    struct emu_wgmma *g = a->wgmma;
    memset(g->in_flight, 0, n_rows);
    memset(g->operand, 0, n_rows);
    memset(g->dirty, 0, n_rows);
    g->fenced = false;
    g->n_groups = g->n_products = 0;
    g->n_issued = 0;
}

void emu_wgmma_end(struct emu_warp *w) {
    struct emu_wgmma *g = emu_warp_async(w)->wgmma;
    if (!g || !g->n_products) return;
    if (!w->block->stopped)
        emu_report(EMU_IN_FLIGHT, w, g->product[0].inst, NULL,
                   "the warp ends before wgmma.wait_group has waited for this");
    g->n_products = 0;
}

void emu_wgmma_free(struct emu_warp_async *a) {
    struct emu_wgmma *g = a->wgmma;
    if (!g) return;
    free(g->truth);
    free(g->in_flight);
    free(g->operand);
    free(g->dirty);
    free(g->owner);
    free(g);
    a->wgmma = NULL;
}
