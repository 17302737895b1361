/* Questions about an instruction: types, modifiers, source lines. */
#include "instruction.h"

#include <string.h>

/* ---- Types and modifiers --------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum emu_type type;
    uint8_t bytes;
} types[] = {
    {"b8", EMU_B8, 1},         {"u8", EMU_U8, 1},       {"s8", EMU_S8, 1},
    {"b16", EMU_B16, 2},       {"u16", EMU_U16, 2},     {"s16", EMU_S16, 2},
    {"f16", EMU_F16, 2},       {"bf16", EMU_BF16, 2},   {"b32", EMU_B32, 4},
    {"u32", EMU_U32, 4},       {"s32", EMU_S32, 4},     {"f32", EMU_F32, 4},
    {"tf32", EMU_TF32, 4},     {"f16x2", EMU_F16X2, 4}, {"bf16x2", EMU_BF16X2, 4},
    {"b64", EMU_B64, 8},       {"u64", EMU_U64, 8},     {"s64", EMU_S64, 8},
    {"f64", EMU_F64, 8},       {"b128", EMU_B128, 16},  {"pred", EMU_PRED, 0},
    {"e4m3", EMU_E4M3, 1},     {"e5m2", EMU_E5M2, 1},   {"e4m3x2", EMU_E4M3X2, 2},
    {"e5m2x2", EMU_E5M2X2, 2},
};

enum emu_type emu_type_named(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && !memcmp(types[i].name, name, length))
            return types[i].type;
    return EMU_NONE;
}

unsigned emu_type_bytes(enum emu_type t) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == t) return types[i].bytes;
    return 0;
}

bool emu_has(const struct emu_inst *i, const char *modifier) {
    size_t n = strlen(modifier);
    for (const char *at = i->opcode; (at = strchr(at, '.'));) {
        at++;
        if (!strncmp(at, modifier, n) && (at[n] == '.' || at[n] == 0)) return true;
    }
    return false;
}

/* ---- Source lines ---------------------------------------------------------------------------- */

bool emu_in_kernel(const struct emu_origin *o, int frame) {
    return o->frame[frame].file_index == o->frame[o->n_frames - 1].file_index;
}

int emu_line_of(const struct emu_origin *o) {
    for (int f = 0; f < o->n_frames; f++)
        if (emu_in_kernel(o, f)) return o->frame[f].line;
    return 0;
}

bool emu_on_line(const struct emu_origin *o, int line) {
    for (int f = 0; f < o->n_frames; f++)
        if (emu_in_kernel(o, f) && o->frame[f].line == line) return true;
    return false;
}
