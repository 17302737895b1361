/* Integers, bits, predicates, selections. Carries: a sum is made in 64 bits of operands as they go
 * into the adder, -x as ~x with one added. */
#include "exec.h"

#include "emulator/instructions/arithmetic/bits.h"
#include "emulator/instructions/lanes.h"

#define SOURCE(n)                                                                                  \
    const uint32_t *s##n = sass_row(w, x->s[n].row), f##n = x->s[n].flip, m##n = x->s[n].less
#define V(n)     ((s##n[l] ^ f##n) - m##n)    /* with sign */
#define ADDER(n) ((uint64_t)(s##n[l] ^ f##n)) /* without the 1 of a negation */
#define DEST     uint32_t *d = sass_row(w, x->d)
#define PIN(n)   const uint32_t p##n = sass_pred_value(w, x->pin[n])

enum sass_go sass_iadd3(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    EACH(V(0) + V(1) + V(2));
    return SASS_GO_NEXT;
}

/* Carries in: pin[0], pin[1]; out: pd (at least one), pe (two). */
enum sass_go sass_iadd3_carry(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    PIN(0);
    PIN(1);
    const uint64_t ones = (m0 & 1) + (m1 & 1) + (m2 & 1);
    uint32_t out = 0, two = 0;
    for (int l = 0; l < SASS_LANES; l++) {
        uint64_t sum = ADDER(0) + ADDER(1) + ADDER(2) + ones + (p0 >> l & 1) + (p1 >> l & 1);
        out |= (uint32_t)(sum >> 32 != 0) << l;
        two |= (uint32_t)(sum >> 32 > 1) << l;
        if (mask >> l & 1) d[l] = (uint32_t)sum;
    }
    sass_write_pred(w, x->pd, mask, out);
    sass_write_pred(w, x->pe, mask, two);
    return SASS_GO_NEXT;
}

/* UIADD3.64: pairs; an immediate has no upper half. */
enum sass_go sass_add64(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    for (int l = 0; l < SASS_LANES; l++) {
        uint64_t a = s0[l] | (uint64_t)s0[l + 32] << 32, c = s2[l] | (uint64_t)s2[l + 32] << 32;
        uint64_t b = s1[l] | (x->mode ? 0 : (uint64_t)s1[l + 32] << 32), sum = a + b + c;
        (void)f0, (void)m0, (void)f1, (void)m1, (void)f2, (void)m2;
        if (!(mask >> l & 1)) continue;
        d[l] = (uint32_t)sum;
        d[l + 32] = (uint32_t)(sum >> 32);
    }
    return SASS_GO_NEXT;
}

enum sass_go sass_imad(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    EACH(V(0) * V(1) + V(2));
    return SASS_GO_NEXT;
}

enum sass_go sass_imad_x(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    PIN(0);
    EACH(V(0) * V(1) + V(2) + (p0 >> l & 1));
    return SASS_GO_NEXT;
}

static inline uint64_t product(uint32_t a, uint32_t b, bool is_signed) {
    return is_signed ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : (uint64_t)a * b;
}

/* d = upper half of a * b + c, c and the sum being 64 bits wide; mode: signed */
enum sass_go sass_imad_hi(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    uint32_t carry = 0;
    (void)f2, (void)m2;
    for (int l = 0; l < SASS_LANES; l++) {
        uint64_t c = s2[l] | (uint64_t)s2[l + 32] << 32, p = product(V(0), V(1), x->mode);
        uint64_t sum = p + c;
        carry |= (uint32_t)(sum < p) << l;
        if (mask >> l & 1) d[l] = (uint32_t)(sum >> 32);
    }
    sass_write_pred(w, x->pd, mask, carry);
    return SASS_GO_NEXT;
}

/* d = a * b + c, all but a and b being 64 bits wide, and .X the carry in; the carry out */
enum sass_go sass_imad_wide(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    PIN(0);
    uint32_t carry = 0;
    (void)f2, (void)m2;
    for (int l = 0; l < SASS_LANES; l++) {
        uint64_t c = s2[l] | (uint64_t)s2[l + 32] << 32, p = product(V(0), V(1), x->mode);
        uint64_t in = p0 >> l & 1, sum = p + c + in;
        carry |= (uint32_t)(sum < p || (in && sum == p)) << l;
        if (!(mask >> l & 1)) continue;
        d[l] = (uint32_t)sum;
        d[l + 32] = (uint32_t)(sum >> 32);
    }
    sass_write_pred(w, x->pd, mask, carry);
    return SASS_GO_NEXT;
}

/* (a << imm) + b; the carry out of the addition, in which -a counts as ~a and 1 */
enum sass_go sass_lea(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    DEST;
    uint32_t carry = 0;
    for (int l = 0; l < SASS_LANES; l++) {
        uint64_t sum = (uint64_t)((s0[l] << x->imm) ^ f0) + (m0 & 1) + ADDER(1) + (m1 & 1);
        carry |= (uint32_t)(sum >> 32 != 0) << l;
        if (mask >> l & 1) d[l] = (uint32_t)sum;
    }
    sass_write_pred(w, x->pd, mask, carry);
    return SASS_GO_NEXT;
}

/* Upper half of {c, a} << imm, plus b and a carry; mode: c is the sign of a */
enum sass_go sass_lea_hi(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    PIN(0);
    uint32_t carry = 0;
    for (int l = 0; l < SASS_LANES; l++) {
        uint32_t low = V(0), high = x->mode ? (uint32_t)((int32_t)low >> 31) : V(2);
        uint64_t wide = (low | (uint64_t)high << 32) << x->imm;
        uint64_t sum = (wide >> 32) + ADDER(1) + (m1 & 1) + (p0 >> l & 1);
        carry |= (uint32_t)(sum >> 32 != 0) << l;
        if (mask >> l & 1) d[l] = (uint32_t)sum;
    }
    sass_write_pred(w, x->pd, mask, carry);
    return SASS_GO_NEXT;
}

static inline uint32_t lut(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
    uint32_t r = 0;
    if (table & 1) r |= ~a & ~b & ~c;
    if (table & 2) r |= ~a & ~b & c;
    if (table & 4) r |= ~a & b & ~c;
    if (table & 8) r |= ~a & b & c;
    if (table & 16) r |= a & ~b & ~c;
    if (table & 32) r |= a & ~b & c;
    if (table & 64) r |= a & b & ~c;
    if (table & 128) r |= a & b & c;
    return r;
}

enum sass_go sass_lop3(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    (void)m0, (void)m1, (void)m2;
#define A (s0[l] ^ f0)
#define B (s1[l] ^ f1)
#define C (s2[l] ^ f2)
    if (x->pd != SASS_P_SINK) {
        uint32_t some = 0;
        for (int l = 0; l < SASS_LANES; l++) {
            uint32_t r = lut(A, B, C, x->mode);
            some |= (uint32_t)(r != 0) << l;
            if (mask >> l & 1) d[l] = r;
        }
        sass_write_pred(w, x->pd, mask, some | sass_pred_value(w, x->pin[0]));
        return SASS_GO_NEXT;
    }
    switch (x->mode) { /* the usual ones as one loop each */
    case 0xc0:
        EACH(A & B);
        break;
    case 0xfc:
        EACH(A | B);
        break;
    case 0x3c:
        EACH(A ^ B);
        break;
    case 0xf8:
        EACH(A | (B & C));
        break;
    case 0xe2:
        EACH((A & B) | (C & ~B));
        break;
    case 0x96:
        EACH(A ^ B ^ C);
        break;
    default:
        EACH(lut(A, B, C, x->mode));
    }
#undef A
#undef B
#undef C
    return SASS_GO_NEXT;
}

/* {c, a} shifted by b, its low or high half */
enum sass_go sass_shf(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    (void)f0, (void)f1, (void)f2, (void)m0, (void)m1, (void)m2;
    const uint32_t most = x->mode & SHF_64 ? 63 : 32;
    for (int l = 0; l < SASS_LANES; l++) {
        uint64_t both = s0[l] | (uint64_t)s2[l] << 32;
        const uint32_t by = x->mode & SHF_WRAP ? s1[l] & (x->mode & SHF_64 ? 63 : 31) : s1[l];
        uint32_t n = by > most ? most : by;
        bool out = by > 63 && x->mode & SHF_64; /* nothing is left */
        if (x->mode & SHF_LEFT)
            both = out ? 0 : both << n;
        else if (x->mode & SHF_SIGNED)
            both = (uint64_t)((int64_t)both >> n);
        else
            both = out ? 0 : both >> n;
        if (mask >> l & 1) d[l] = (uint32_t)(x->mode & SHF_HIGH ? both >> 32 : both);
    }
    return SASS_GO_NEXT;
}

/* ---- Comparisons ---- */

static inline uint32_t compare(const uint32_t *a, const uint32_t *b, uint32_t fa, uint32_t ma,
                               uint32_t fb, uint32_t mb, unsigned how, uint32_t top) {
    uint32_t r = 0;
#define LOOP(op)                                                                                   \
    for (int l = 0; l < SASS_LANES; l++)                                                           \
    r |= (uint32_t)((int32_t)(((a[l] ^ fa) - ma) ^ top) op(int32_t)(((b[l] ^ fb) - mb) ^ top)) << l
    switch (how) {
    case CMP_LT:
        LOOP(<);
        break;
    case CMP_EQ:
        LOOP(==);
        break;
    case CMP_LE:
        LOOP(<=);
        break;
    case CMP_GT:
        LOOP(>);
        break;
    case CMP_NE:
        LOOP(!=);
        break;
    default:
        LOOP(>=);
    }
#undef LOOP
    return r;
}

enum sass_go sass_isetp(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    PIN(0);
    PIN(1);
    unsigned how = x->mode & CMP_OF;
    uint32_t top = x->mode & SETP_UNSIGNED ? 0x80000000u : 0, r;
    if (x->mode & SETP_EX) { /* upper halves: the lower ones decide where these are equal */
        uint32_t equal = compare(s0, s1, f0, m0, f1, m1, CMP_EQ, 0);
        unsigned strict = how == CMP_LE ? CMP_LT : how == CMP_GE ? CMP_GT : how;
        r = compare(s0, s1, f0, m0, f1, m1, strict, top);
        r = how == CMP_EQ ? equal & p1 : how == CMP_NE ? r | p1 : r | (equal & p1);
    } else {
        r = compare(s0, s1, f0, m0, f1, m1, how, top);
    }
    sass_write_pred(w, x->pd, mask, sass_combined(x->mode, r, p0));
    sass_write_pred(w, x->pe, mask, sass_combined(x->mode, ~r, p0));
    return SASS_GO_NEXT;
}

enum sass_go sass_plop3(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    PIN(0);
    PIN(1);
    PIN(2);
    uint32_t first = lut(p0, p1, p2, x->mode), second = lut(p0, p1, p2, x->mode2);
    sass_write_pred(w, x->pd, mask, first);
    sass_write_pred(w, x->pe, mask, second);
    return SASS_GO_NEXT;
}

enum sass_go sass_p2r(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    DEST;
    (void)f0, (void)m0;
    for (int l = 0; l < SASS_LANES; l++) {
        uint32_t all = 0;
        for (int p = 0; p < 7; p++) all |= (w->pred[p] >> l & 1) << p;
        all *= 0x01010101; /* in each byte; imm has bits of one */
        if (mask >> l & 1) d[l] = (s0[l] & ~x->imm) | (all & x->imm);
    }
    return SASS_GO_NEXT;
}

/* The predicates that imm names, from the bits of a register. */
enum sass_go sass_r2p(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const uint32_t *s = sass_row(w, x->s[0].row);
    for (uint8_t p = 0; p < SASS_PT; p++) {
        uint32_t set = 0;
        for (int l = 0; l < SASS_LANES; l++) set |= (s[l] >> p & 1) << l;
        if (x->imm >> p & 1) sass_write_pred(w, p, mask, set);
    }
    return SASS_GO_NEXT;
}

/* ---- Moves and selections ---- */

enum sass_go sass_mov(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const uint32_t *s0 = sass_row(w, x->s[0].row);
    DEST;
    EACH(s0[l]);
    return SASS_GO_NEXT;
}

/* FSEL too: a source with a sign is given by keep and flip. */
enum sass_go sass_sel(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    DEST;
    PIN(0);
    EACH(p0 >> l & 1 ? V(0) : V(1));
    return SASS_GO_NEXT;
}

enum sass_go sass_prmt(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    (void)f0, (void)f1, (void)f2, (void)m0, (void)m1, (void)m2;
    EACH(permuted(s0[l], s2[l], s1[l], x->mode));
    return SASS_GO_NEXT;
}

enum sass_go sass_popc(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    DEST;
    (void)m0;
    EACH((uint32_t)__builtin_popcount(s0[l] ^ f0));
    return SASS_GO_NEXT;
}

/* The place of the highest 1, or (mode 1) how far it is from the top; of none, all ones. Mode 2: of a negative number, of
 * the highest 0. */
enum sass_go sass_flo(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    DEST;
    (void)m0;
    for (int l = 0; l < SASS_LANES; l++) {
        uint32_t v = s0[l] ^ f0;
        if (x->mode & 2 && v >> 31) v = ~v;
        const uint32_t above = v ? (uint32_t)__builtin_clz(v) : 0;
        if (mask >> l & 1) d[l] = !v ? EMU_FULL : x->mode & 1 ? above : 31 - above;
    }
    return SASS_GO_NEXT;
}

enum sass_go sass_brev(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    DEST;
    (void)m0, (void)f0;
    for (int l = 0; l < SASS_LANES; l++) {
        uint32_t v = 0;
        for (int b = 0; b < 32; b++) v |= (s0[l] >> b & 1) << (31 - b);
        if (mask >> l & 1) d[l] = v;
    }
    return SASS_GO_NEXT;
}

enum sass_go sass_iabs(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    DEST;
    EACH((int32_t)V(0) < 0 ? 0 - V(0) : V(0));
    return SASS_GO_NEXT;
}

/* pin[0]: minimum, else maximum; mode: VIMNMX_... */
static inline uint32_t least(uint32_t a, uint32_t b, uint32_t top, bool minimum) {
    bool less = (int32_t)(a ^ top) < (int32_t)(b ^ top);
    return less == minimum ? a : b;
}

/* of two or three numbers */
enum sass_go sass_vimnmx(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    PIN(0);
    const uint32_t top = x->mode & VIMNMX_UNSIGNED ? 0x80000000u : 0;
    for (int l = 0; l < SASS_LANES; l++) {
        const bool minimum = p0 >> l & 1;
        uint32_t r = least(V(0), V(1), top, minimum);
        if (x->mode & VIMNMX_THREE) r = least(r, V(2), top, minimum);
        if (x->mode & VIMNMX_RELU && (int32_t)r < 0) r = 0;
        if (mask >> l & 1) d[l] = r;
    }
    return SASS_GO_NEXT;
}

/* max(min)imum of a + b and c; mode2: and not below 0 */
enum sass_go sass_viaddmnmx(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    PIN(0);
    const uint32_t top = x->mode ? 0x80000000u : 0;
    for (int l = 0; l < SASS_LANES; l++) {
        uint32_t r = least(V(0) + V(1), V(2), top, p0 >> l & 1);
        if (x->mode2 && (int32_t)r < 0) r = 0;
        if (mask >> l & 1) d[l] = r;
    }
    return SASS_GO_NEXT;
}

/* of two or three pairs of halves */
enum sass_go sass_vimnmx_x2(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    PIN(0);
    const uint32_t top = x->mode & VIMNMX_UNSIGNED ? 0x80000000u : 0;
    (void)f0, (void)f1, (void)f2, (void)m0, (void)m1, (void)m2;
    for (int l = 0; l < SASS_LANES; l++) {
        const bool minimum = p0 >> l & 1;
        uint32_t both = 0;
        for (int h = 0; h < 32; h += 16) { /* as the upper half of a number */
            const int up = 16 - h;
            uint32_t r = least(s0[l] << up & 0xffff0000, s1[l] << up & 0xffff0000, top, minimum);
            if (x->mode & VIMNMX_THREE) r = least(r, s2[l] << up & 0xffff0000, top, minimum);
            if (x->mode & VIMNMX_RELU && (int32_t)r < 0) r = 0;
            both |= r >> 16 << h;
        }
        if (mask >> l & 1) d[l] = both;
    }
    return SASS_GO_NEXT;
}

/* Products of parts of a and bytes of b, summed up with c. imm: bits of a's parts, 8 or 16. mode: bit n: source n is signed; 4:
 * the upper bytes of b, where two are enough */
enum sass_go sass_idp(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    (void)f0, (void)f1, (void)m0, (void)m1;
    const unsigned bits = x->imm, rest = 32 - bits, first = x->mode & 4 ? 16 : 0;
    for (int l = 0; l < SASS_LANES; l++) {
        uint32_t sum = V(2), a = s0[l], b = s1[l] >> first;
        for (unsigned k = 0; k < 32 / bits; k++, a >>= bits, b >>= 8) {
            const uint32_t p = a << rest, q = b << 24; /* at the top, for their signs */
            sum += (x->mode & 1 ? (uint32_t)((int32_t)p >> rest) : p >> rest) *
                   (x->mode & 2 ? (uint32_t)((int32_t)q >> 24) : q >> 24);
        }
        if (mask >> l & 1) d[l] = sum;
    }
    return SASS_GO_NEXT;
}

/* BMSK; mode 1: widths wrap */
enum sass_go sass_bmsk(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    DEST;
    (void)f0, (void)f1, (void)m0, (void)m1;
    EACH(ones_from(width_of(s0[l], x->mode), width_of(s1[l], x->mode)));
    return SASS_GO_NEXT;
}

/* SGXT; mode 1: widths wrap, 2: unsigned */
enum sass_go sass_sgxt(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    DEST;
    (void)f0, (void)f1, (void)m0, (void)m1;
    EACH(extended(s0[l], width_of(s1[l], x->mode & 1), !(x->mode & 2)));
    return SASS_GO_NEXT;
}

/* I2I and I2IP: into numbers of so many bits (imm), signed with mode 1 */
enum sass_go sass_i2i(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    DEST;
    EACH((uint32_t)narrowed((int32_t)V(0), (int)x->imm, x->mode));
    return SASS_GO_NEXT;
}

enum sass_go sass_i2ip(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    (void)f2, (void)m2;
    EACH(packed((int32_t)V(0), (int32_t)V(1), s2[l], (int)x->imm, x->mode));
    return SASS_GO_NEXT;
}

/* The sum of |a - b| of four bytes (mode: signed ones), and c */
enum sass_go sass_vabsdiff4(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    (void)f0, (void)f1, (void)m0, (void)m1;
    for (int l = 0; l < SASS_LANES; l++) {
        uint32_t sum = V(2);
        for (int b = 0; b < 32; b += 8) {
            const uint32_t p = s0[l] >> b & 255, q = s1[l] >> b & 255;
            const int by = x->mode ? (int8_t)p - (int8_t)q : (int)p - (int)q;
            sum += (uint32_t)(by < 0 ? -by : by);
        }
        if (mask >> l & 1) d[l] = sum;
    }
    return SASS_GO_NEXT;
}

/* |a - b| + c; mode: unsigned */
enum sass_go sass_vabsdiff(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    SOURCE(0);
    SOURCE(1);
    SOURCE(2);
    DEST;
    const uint32_t top = x->mode ? 0x80000000u : 0;
    EACH(((int32_t)(V(0) ^ top) < (int32_t)(V(1) ^ top) ? V(1) - V(0) : V(0) - V(1)) + V(2));
    return SASS_GO_NEXT;
}

/* CS2R d, SRZ */
enum sass_go sass_zero_pair(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    uint32_t *d = sass_row(w, x->d);
    EACH(0);
    d += SASS_LANES;
    EACH(0);
    return SASS_GO_NEXT;
}

/* It changes nothing; the predictor lets the time pass. A warp sleeps a millisecond at most (PTX ISA, nanosleep). */
enum sass_go sass_nanosleep(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    const uint32_t most = 1000000;
    SOURCE(0);
    EMU_EACH_LANE(l, mask) {
        const uint32_t ns = V(0) < most ? V(0) : most;
        if (w->effect && ns > w->effect->sleeps) w->effect->sleeps = ns;
    }
    return SASS_GO_NEXT;
}
