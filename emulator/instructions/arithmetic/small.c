/* fp16 and bf16 arithmetic, alone and in pairs. Sums and products of two halves round rightly by
 * way of fp32, because 24 >= 2 * 11 + 2 bits; fma goes through double, which holds it exactly
 * wherever the last bit matters. bf16 likewise. */
#include "emulator/instructions/handlers.h"
#include "emulator/instructions/lanes.h"

#include "common/cuda/half.h"

#include <math.h>
#include <string.h>

static float bf16_to_float(uint32_t b) { return bits_float(b << 16); }
static uint32_t bf16_from_float(float f) {
    uint32_t u = float_bits(f);
    if (f != f) return 0x7fff;
    return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}
/* Double to fp32 by round-to-odd: a second rounding then gives what one would have given. */
static float round_odd(double x) {
    float f = (float)x;
    uint32_t u = float_bits(f);
    if ((double)f == x || x != x || (u & 1)) return f;
    bool too_large = fabs((double)f) > fabs(x);
    return bits_float(too_large ? u - 1 : u + 1);
}

/* The number of the two, if one is none. */
static float larger(float a, float b) { return a != a ? b : b != b || a > b ? a : b; }
static float smaller(float a, float b) { return a != a ? b : b != b || a < b ? a : b; }

enum operation { ADD, SUB, MUL, FMA, MAX, MIN, ABS, NEG, EX2, TANH };

static uint32_t one(enum operation op, bool is_bf16, const uint32_t x[3], bool nan, bool relu) {
    float f[3];
    for (int k = 0; k < 3; k++) f[k] = is_bf16 ? bf16_to_float(x[k]) : half_to_float((half)x[k]);
    float r = 0;
    switch (op) {
    case ADD:
        r = f[0] + f[1];
        break;
    case SUB:
        r = f[0] - f[1];
        break;
    case MUL:
        r = f[0] * f[1];
        break;
    case FMA:
        r = round_odd(fma((double)f[0], (double)f[1], (double)f[2]));
        break;
    case MAX:
        r = f[0] == f[1] ? bits_float(float_bits(f[0]) & float_bits(f[1])) : larger(f[0], f[1]);
        break;
    case MIN:
        r = f[0] == f[1] ? bits_float(float_bits(f[0]) | float_bits(f[1])) : smaller(f[0], f[1]);
        break;
    case ABS:
        return f[0] != f[0] ? 0x7fff : x[0] & 0x7fff;
    case NEG:
        return f[0] != f[0] ? 0x7fff : x[0] ^ 0x8000;
    case EX2:
        r = (float)exp2((double)f[0]);
        break;
    case TANH:
        r = (float)tanh((double)f[0]);
        break;
    }
    if (nan && (f[0] != f[0] || f[1] != f[1])) r = bits_float(0x7fffffff);
    if (relu) r = r > 0 || r != r ? r : 0;
    if (r != r) return 0x7fff;
    return is_bf16 ? bf16_from_float(r) : half_from_float(r);
}

/* aux: operation, bf16?, pair?, sources, and the sum of 1 NaN-propagating, 2 lower bound 0, 4 also
 * upper bound 1, 8 flushing */
static enum emu_step small(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    enum operation op = (enum operation)i->aux[0];
    bool is_bf16 = i->aux[1], pair = i->aux[2], nan = i->aux[4] & 1, relu = i->aux[4] & 2,
         sat = i->aux[4] & 4, ftz = i->aux[4] & 8;
    uint32_t *d = ROW(uint32_t, 0);
    EMU_EACH_LANE(l, mask) {
        uint32_t result = 0;
        for (int h = 0; h <= (int)pair; h++) {
            uint32_t x[3] = {0};
            for (int k = 0; k < i->aux[3]; k++) {
                x[k] = ROW(uint32_t, 1 + k)[l] >> 16 * h & 0xffff;
                if (ftz) x[k] = flush_small(x[k], is_bf16);
            }
            uint32_t r = one(op, is_bf16, x, nan, relu || sat);
            if (ftz) r = flush_small(r, is_bf16);
            if (sat && r == 0x7fff) r = 0;
            if (sat && (r & 0x7fff) > 0x3c00) r = 0x3c00; /* fp16's 1 */
            result |= r << 16 * h;
        }
        d[l] = result;
    }
    return EMU_NEXT;
}

emu_handler *emu_select_small(struct emu_inst *i, const char **why) {
    static const struct {
        const char *head;
        enum operation op;
        int sources;
    } table[] = {{"add", ADD, 2}, {"sub", SUB, 2},  {"mul", MUL, 2}, {"fma", FMA, 3},
                 {"max", MAX, 2}, {"min", MIN, 2},  {"abs", ABS, 1}, {"neg", NEG, 1},
                 {"ex2", EX2, 1}, {"tanh", TANH, 1}};
    (void)why;
    enum emu_type t = i->type[0];
    i->aux[1] = t == EMU_BF16 || t == EMU_BF16X2;
    i->aux[2] = t == EMU_F16X2 || t == EMU_BF16X2;
    i->aux[4] = emu_has(i, "NaN") | emu_has(i, "relu") << 1 | emu_has(i, "sat") << 2 |
                emu_has(i, "ftz") << 3;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        size_t n = strlen(table[k].head);
        if (strncmp(i->opcode, table[k].head, n) || i->opcode[n] != '.') continue;
        i->aux[0] = (int32_t)table[k].op;
        i->aux[3] = table[k].sources;
        return small;
    }
    return NULL;
}
