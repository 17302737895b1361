/* setp, set, selp, slct and operations on predicates. A predicate is one mask, a bit for each
 * lane. */
#include "emulator/instructions/handlers.h"
#include "emulator/instructions/lanes.h"

#include "common/cuda/half.h"

#include <string.h>

#define COMPARE(name, T, expr)                                                                     \
    static uint32_t name(const void *a_row, const void *b_row) {                                   \
        const T *a = a_row, *b = b_row;                                                            \
        uint32_t m = 0;                                                                            \
        for (int l = 0; l < EMU_LANES; l++) m |= (uint32_t)(expr) << l;                            \
        return m;                                                                                  \
    }
#define COMPARISONS(T, t)                                                                          \
    COMPARE(eq_##t, T, a[l] == b[l])                                                               \
    COMPARE(lt_##t, T, a[l] < b[l])                                                                \
    COMPARE(le_##t, T, a[l] <= b[l])
COMPARISONS(int32_t, s32)
COMPARISONS(uint32_t, u32)
COMPARISONS(int64_t, s64)
COMPARISONS(uint64_t, u64)
COMPARISONS(float, f32)
COMPARISONS(double, f64)
COMPARE(eq_ftz, float, flush(a[l]) == flush(b[l]))
COMPARE(lt_ftz, float, flush(a[l]) < flush(b[l]))
COMPARE(le_ftz, float, flush(a[l]) <= flush(b[l]))
COMPARE(num_f32, float, a[l] == a[l] && b[l] == b[l])
COMPARE(num_f64, double, a[l] == a[l] && b[l] == b[l])
#define H(x) half_to_float((half)(x))
#define B(x) bits_float((x) << 16)
#define F(x) H(flush_small(x, false))
COMPARE(eq_f16, uint32_t, H(a[l]) == H(b[l]))
COMPARE(lt_f16, uint32_t, H(a[l]) < H(b[l]))
COMPARE(le_f16, uint32_t, H(a[l]) <= H(b[l]))
COMPARE(eq_f16_ftz, uint32_t, F(a[l]) == F(b[l]))
COMPARE(lt_f16_ftz, uint32_t, F(a[l]) < F(b[l]))
COMPARE(le_f16_ftz, uint32_t, F(a[l]) <= F(b[l]))
COMPARE(num_f16, uint32_t, H(a[l]) == H(a[l]) && H(b[l]) == H(b[l]))
COMPARE(eq_bf16, uint32_t, B(a[l]) == B(b[l]))
COMPARE(lt_bf16, uint32_t, B(a[l]) < B(b[l]))
COMPARE(le_bf16, uint32_t, B(a[l]) <= B(b[l]))
COMPARE(num_bf16, uint32_t, B(a[l]) == B(a[l]) && B(b[l]) == B(b[l]))
#define S(x) ((int16_t)(x))
COMPARE(lt_s16, uint32_t, S(a[l]) < S(b[l]))
COMPARE(le_s16, uint32_t, S(a[l]) <= S(b[l]))

typedef uint32_t compare_function(const void *a_row, const void *b_row);
enum { EQ, LT, LE, NUM };
static compare_function *const function[][4] = {{eq_s32, lt_s32, le_s32, NULL},
                                                {eq_u32, lt_u32, le_u32, NULL},
                                                {eq_s64, lt_s64, le_s64, NULL},
                                                {eq_u64, lt_u64, le_u64, NULL},
                                                {eq_f32, lt_f32, le_f32, num_f32},
                                                {eq_f64, lt_f64, le_f64, num_f64},
                                                {eq_u32, lt_s16, le_s16, NULL},
                                                {eq_f16, lt_f16, le_f16, num_f16},
                                                {eq_bf16, lt_bf16, le_bf16, num_bf16},
                                                {eq_ftz, lt_ftz, le_ftz, num_f32},
                                                {eq_f16_ftz, lt_f16_ftz, le_f16_ftz, num_f16}};

/* Each comparison as one of the four, perhaps with swapped operands, perhaps negated: a >= b is
 * b <= a, a >=u b (true for NaN) is !(a < b), and a != b of floats is ordered: num && !(a == b). */
static const struct {
    const char *name;
    uint8_t base, swap, negate, ordered;
} comparison[] = {{"eq", EQ, 0, 0, 0},  {"ne", EQ, 0, 1, 1},   {"lt", LT, 0, 0, 0},
                  {"le", LE, 0, 0, 0},  {"gt", LT, 1, 0, 0},   {"ge", LE, 1, 0, 0},
                  {"lo", LT, 0, 0, 0},  {"ls", LE, 0, 0, 0},   {"hi", LT, 1, 0, 0},
                  {"hs", LE, 1, 0, 0},  {"equ", EQ, 0, 0, 2},  {"neu", EQ, 0, 1, 0},
                  {"ltu", LE, 1, 1, 0}, {"leu", LT, 1, 1, 0},  {"gtu", LE, 0, 1, 0},
                  {"geu", LT, 0, 1, 0}, {"num", NUM, 0, 0, 0}, {"nan", NUM, 0, 1, 0}};

/* aux: type, base, negate, ordered, combination (0 none, 1 and, 2 or, 3 xor) */
static inline uint32_t compared(const struct emu_inst *i, const void *a, const void *b) {
    compare_function *const *f = function[i->aux[0]];
    uint32_t m = f[i->aux[1]](a, b) ^ (uint32_t)i->aux[2];
    if (i->aux[3] == 1) m &= f[NUM](a, b);
    if (i->aux[3] == 2) m |= ~f[NUM](a, b);
    return m;
}

static enum emu_step setp(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    write_pred(w, i->row[0], mask, compared(i, ROW(void, 2), ROW(void, 3)));
    return EMU_NEXT;
}

static enum emu_step setp_general(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t m = compared(i, ROW(void, 2), ROW(void, 3)), q = ~m;
    if (i->aux[4]) {
        uint32_t c = read_pred(w, &i->op[4]);
        m = i->aux[4] == 1 ? m & c : i->aux[4] == 2 ? m | c : m ^ c;
        q = i->aux[4] == 1 ? q & c : i->aux[4] == 2 ? q | c : q ^ c;
    }
    write_pred(w, i->row[0], mask, m);
    if (i->row[1] != EMU_SINK) write_pred(w, i->row[1], mask, q);
    return EMU_NEXT;
}

/* What set gives where the comparison holds: 1 of a floating-point type, or all bits. */
static uint32_t one_of(enum emu_type t) {
    switch (t) {
    case EMU_F32:
        return 0x3f800000;
    case EMU_F16:
        return 0x3c00;
    case EMU_BF16:
        return 0x3f80;
    default:
        return emu_type_bytes(t) == 2 ? 0xffff : EMU_FULL;
    }
}

static enum emu_step set_value(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t m = compared(i, ROW(void, 2), ROW(void, 3)), yes = one_of((enum emu_type)i->type[0]);
    if (i->aux[4]) {
        uint32_t c = read_pred(w, &i->op[4]);
        m = i->aux[4] == 1 ? m & c : i->aux[4] == 2 ? m | c : m ^ c;
    }
    uint32_t *d = ROW(uint32_t, 0);
    EACH(m >> l & 1 ? yes : 0);
    return EMU_NEXT;
}

/* Of two pairs of fp16 or bf16, half by half: 1 of that type, or all bits. */
static enum emu_step set_pair(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t yes = i->type[0] == EMU_F16X2 ? 0x3c00 : i->type[0] == EMU_BF16X2 ? 0x3f80 : 0xffff;
    uint32_t *d = ROW(uint32_t, 0), high[2][EMU_LANES];
    const uint32_t *a = ROW(uint32_t, 2), *b = ROW(uint32_t, 3);
    for (int l = 0; l < EMU_LANES; l++) high[0][l] = a[l] >> 16, high[1][l] = b[l] >> 16;
    uint32_t m_low = compared(i, a, b), m_high = compared(i, high[0], high[1]);
    EACH((m_low >> l & 1 ? yes : 0) | (m_high >> l & 1 ? yes << 16 : 0));
    return EMU_NEXT;
}

/* setp p|q of two pairs: p is that of the low halves, q that of the high ones. */
static enum emu_step setp_pair(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t high[2][EMU_LANES];
    const uint32_t *a = ROW(uint32_t, 2), *b = ROW(uint32_t, 3);
    for (int l = 0; l < EMU_LANES; l++) high[0][l] = a[l] >> 16, high[1][l] = b[l] >> 16;
    uint32_t m = compared(i, a, b), q = compared(i, high[0], high[1]);
    if (i->aux[4]) {
        uint32_t c = read_pred(w, &i->op[4]);
        m = i->aux[4] == 1 ? m & c : i->aux[4] == 2 ? m | c : m ^ c;
        q = i->aux[4] == 1 ? q & c : i->aux[4] == 2 ? q | c : q ^ c;
    }
    write_pred(w, i->row[0], mask, m);
    if (i->row[1] != EMU_SINK) write_pred(w, i->row[1], mask, q);
    return EMU_NEXT;
}

static int type_row(enum emu_type t, bool ftz) {
    switch (t) {
    case EMU_S32:
        return 0;
    case EMU_U32:
    case EMU_B32:
    case EMU_B16:
    case EMU_U16:
        return 1;
    case EMU_S64:
        return 2;
    case EMU_U64:
    case EMU_B64:
        return 3;
    case EMU_F32:
        return ftz ? 9 : 4;
    case EMU_F64:
        return 5;
    case EMU_S16:
        return 6;
    case EMU_F16:
    case EMU_F16X2:
        return ftz ? 10 : 7;
    case EMU_BF16:
    case EMU_BF16X2:
        return 8;
    default:
        return -1;
    }
}

emu_handler *emu_select_compare(struct emu_inst *i, const char **why) {
    bool is_set = i->opcode[3] == '.';
    enum emu_type of = (enum emu_type)i->type[i->n_types - 1];
    bool is_pair = of == EMU_F16X2 || of == EMU_BF16X2;
    int type = type_row(of, emu_has(i, "ftz"));
    const char *at = i->opcode + (is_set ? 4 : 5);
    size_t n = strcspn(at, ".");
    size_t c = 0, n_comparisons = sizeof comparison / sizeof *comparison;
    while (c < n_comparisons &&
           (strlen(comparison[c].name) != n || strncmp(comparison[c].name, at, n)))
        c++;
    *why = "this comparison of this type is not supported";
    if (c == n_comparisons || type < 0) return NULL;
    bool is_real = function[type][NUM];
    if (comparison[c].base == NUM && !is_real) return NULL;
    i->aux[0] = type;
    i->aux[1] = comparison[c].base;
    i->aux[2] = comparison[c].negate ? -1 : 0;
    i->aux[3] = is_real ? comparison[c].ordered : 0;
    i->aux[4] = emu_has(i, "and") ? 1 : emu_has(i, "or") ? 2 : emu_has(i, "xor") ? 3 : 0;
    if (comparison[c].swap) {
        uint32_t row = i->row[2];
        i->row[2] = i->row[3];
        i->row[3] = row;
    }
    if (i->aux[4] && i->n_ops < 5) return NULL;
    if (is_set) return is_pair ? set_pair : set_value;
    if (is_pair) return setp_pair;
    return i->aux[4] || i->row[1] != EMU_SINK ? setp_general : setp;
}

/* selp d, a, b, p */
enum emu_step emu_selp32(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t p = read_pred(w, &i->op[3]);
    uint32_t *d = ROW(uint32_t, 0);
    const uint32_t *a = ROW(uint32_t, 1), *b = ROW(uint32_t, 2);
    EACH(p >> l & 1 ? a[l] : b[l]);
    return EMU_NEXT;
}
enum emu_step emu_selp64(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t p = read_pred(w, &i->op[3]);
    uint64_t *d = ROW(uint64_t, 0);
    const uint64_t *a = ROW(uint64_t, 1), *b = ROW(uint64_t, 2);
    EACH(p >> l & 1 ? a[l] : b[l]);
    return EMU_NEXT;
}
/* slct d, a, b, c: a if c >= 0 */
enum emu_step emu_slct(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t *d = ROW(uint32_t, 0);
    const uint32_t *a = ROW(uint32_t, 1), *b = ROW(uint32_t, 2), *c = ROW(uint32_t, 3);
    bool is_real = i->type[i->n_types - 1] == EMU_F32;
    float limit = emu_has(i, "ftz") ? -0x1.fffffcp-127f : 0; /* the least that is flushed */
    EACH((is_real ? bits_float(c[l]) >= limit : (int32_t)c[l] >= 0) ? a[l] : b[l]);
    return EMU_NEXT;
}

/* and.pred, or.pred, xor.pred, not.pred, mov.pred */
enum emu_step emu_logic_pred(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t a = read_pred(w, &i->op[1]), b = i->n_ops > 2 ? read_pred(w, &i->op[2]) : 0;
    uint32_t m = 0;
    switch (i->opcode[0]) {
    case 'a':
        m = a & b;
        break;
    case 'o':
        m = a | b;
        break;
    case 'x':
        m = a ^ b;
        break;
    case 'n':
        m = ~a;
        break;
    default:
        m = a;
    }
    write_pred(w, i->row[0], mask, m);
    return EMU_NEXT;
}
