/* Sums of more than 64 bits: CC.CF, a carry for each lane, which .cc writes and addc, subc and madc
 * read. */
#include "emulator/instructions/handlers.h"
#include "emulator/instructions/lanes.h"

#include <string.h>

enum { SUBTRACTS = 1, MULTIPLIES = 2, HIGH = 4, TAKES = 8, LEAVES = 16 };

/* The half of the product that is wanted; bits beyond the width are the caller's to drop. */
static uint64_t product(uint64_t a, uint64_t b, bool wide, bool is_signed, bool high) {
    if (!high) return a * b;
    if (wide)
        return is_signed ? (uint64_t)((__int128)(int64_t)a * (int64_t)b >> 64)
                         : (uint64_t)((unsigned __int128)a * b >> 64);
    return is_signed ? (uint64_t)((int64_t)(int32_t)(uint32_t)a * (int32_t)(uint32_t)b >> 32)
                     : a * b >> 32;
}

/* aux: what of the above. d = a + b, a - b or a * b + c, and CC.CF of it */
static enum emu_step run_carry(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const int32_t how = i->aux[0];
    const bool wide = emu_type_bytes(i->type[0]) == 8;
    const bool is_signed = i->type[0] == EMU_S32 || i->type[0] == EMU_S64;
    const uint64_t ones = wide ? UINT64_MAX : UINT32_MAX;
    const int n = how & MULTIPLIES ? 3 : 2;
    EMU_EACH_LANE(l, mask) {
        uint64_t s[3] = {0};
        for (int k = 0; k < n; k++) s[k] = wide ? ROW(uint64_t, k + 1)[l] : ROW(uint32_t, k + 1)[l];
        if (how & MULTIPLIES) {
            s[0] = product(s[0], s[1], wide, is_signed, how & HIGH) & ones;
            s[1] = s[2];
        }
        unsigned carry = how & TAKES ? w->carry >> l & 1 : 0;
        unsigned __int128 sum = how & SUBTRACTS ? (unsigned __int128)s[0] - s[1] - carry
                                                : (unsigned __int128)s[0] + s[1] + carry;
        if (wide)
            ROW(uint64_t, 0)[l] = (uint64_t)sum;
        else
            ROW(uint32_t, 0)[l] = (uint32_t)sum;
        if (how & LEAVES)
            w->carry = (w->carry & ~(1u << l)) | (uint32_t)(sum >> (wide ? 64 : 32) & 1) << l;
    }
    return EMU_NEXT;
}

emu_handler *emu_select_carry(struct emu_inst *i, const char **why) {
    (void)why;
    char fourth = i->opcode[3]; /* "addc", "madc" */
    i->aux[0] = (!strncmp(i->opcode, "sub", 3) ? SUBTRACTS : 0) |
                (!strncmp(i->opcode, "mad", 3) ? MULTIPLIES : 0) | (emu_has(i, "hi") ? HIGH : 0) |
                (fourth == 'c' ? TAKES : 0) | (emu_has(i, "cc") ? LEAVES : 0);
    return run_carry;
}
