/* Arithmetic on the 4 bytes or 2 halves of a word: vadd4, vabsdiff4 and their like. Elements are
 * extended by their own type, and the results cut off, or with .sat clamped, to the result's. */
#include "emulator/instructions/handlers.h"
#include "emulator/instructions/lanes.h"

#include <string.h>

enum { OPERATION, BITS, SIGNS, FLAGS }; /* aux; signs of d, a, b; flags: 1 saturate, 2 add */
enum { ADD, SUB, AVERAGE, DIFFERENCE, MINIMUM, MAXIMUM };

static int32_t element(uint32_t word, int n, int bits, bool is_signed) {
    uint32_t x = word >> n * bits & ((1u << bits) - 1);
    return is_signed && x >> (bits - 1) ? (int32_t)x - (1 << bits) : (int32_t)x;
}

static int32_t combine(int operation, int32_t a, int32_t b) {
    switch (operation) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case AVERAGE: /* rounds away from zero */
        return (a + b + (a + b >= 0)) >> 1;
    case DIFFERENCE:
        return a > b ? a - b : b - a;
    case MINIMUM:
        return a < b ? a : b;
    default:
        return a > b ? a : b;
    }
}

static enum emu_step video(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    int bits = i->aux[BITS], signs = i->aux[SIGNS], n = 32 / bits;
    int32_t low = signs & 1 ? -(1 << (bits - 1)) : 0, high = low + (1 << bits) - 1;
    EMU_EACH_LANE(l, mask) {
        uint32_t a = ROW(uint32_t, 1)[l], b = ROW(uint32_t, 2)[l], merged = 0;
        uint32_t sum = ROW(uint32_t, 3)[l];
        for (int e = 0; e < n; e++) {
            int32_t x = combine(i->aux[OPERATION], element(a, e, bits, signs & 2),
                                element(b, e, bits, signs & 4));
            if (i->aux[FLAGS] & 1) x = x < low ? low : x > high ? high : x;
            merged |= ((uint32_t)x & ((1u << bits) - 1)) << e * bits;
            sum += (uint32_t)x;
        }
        ROW(uint32_t, 0)[l] = i->aux[FLAGS] & 2 ? sum : merged;
    }
    return EMU_NEXT;
}

emu_handler *emu_select_video(struct emu_inst *i, const char **why) {
    static const char *const names[] = {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"};
    (void)why;
    for (int k = 0; k < 6; k++)
        if (!strncmp(i->opcode, names[k], strlen(names[k]))) i->aux[OPERATION] = k;
    i->aux[BITS] = strcspn(i->opcode, "4") < strcspn(i->opcode, ".") ? 8 : 16;
    for (int t = 0; t < 3; t++) i->aux[SIGNS] |= (i->type[t] == EMU_S32) << t;
    i->aux[FLAGS] = (emu_has(i, "sat") ? 1 : 0) | (emu_has(i, "add") ? 2 : 0);
    return video;
}
