/* Tensor maps that a kernel makes: tensormap.replace in shared or global memory, and the copy with a fence that hands one
 * from shared to global memory, where TMA reads it. */
#include "access.h"
#include "async.h"
#include "handlers.h"

#include "emulator/core/failed_check.h"

#include <string.h>

enum { MAP_BYTES = 128, CHUNK = 16 };

/* All of a lane's map, with the checks of a store to its beginning. */
static struct emu_place locate_map(struct emu_warp *w, const struct emu_inst *i, uint32_t lane,
                                   uint64_t address) {
    const bool shared = i->space == EMU_SHARED ||
                        (i->space == EMU_GENERIC && address - EMU_SHARED_WINDOW < EMU_WINDOW_BYTES);
    struct emu_place at[EMU_LANES], first[EMU_LANES];
    if (!emu_locate(w, i, 1u << lane, &i->op[0], CHUNK, EMU_WRITE, first))
        return (struct emu_place){NULL};
    if (shared)
        at[lane] =
            emu_reach(emu_room_shared(w->block), emu_shared_offset(address), MAP_BYTES, EMU_WRITE);
    else
        at[lane] = emu_global(w, address, MAP_BYTES, EMU_WRITE, NULL);
    if (at[lane].byte && address % 64 == 0) return at[lane];
    emu_report(EMU_BAD_TENSOR_MAP, w, i, NULL,
               "%#llx cannot hold a tensor map (128 bytes, 64-byte aligned)",
               (unsigned long long)address);
    return (struct emu_place){NULL};
}

/* tensormap.replace.tile.FIELD [map], {number,} value. aux: field, is there a number */
static enum emu_step replace(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const struct emu_operand *value = &i->op[i->aux[1] ? 2 : 1];
    const int dimension = i->aux[1] ? (int)i->op[1].imm : 0;
    uint64_t address[EMU_LANES];
    emu_addresses(w, &i->op[0], address);
    EMU_EACH_LANE(l, mask) {
        struct emu_place at = locate_map(w, i, l, address[l]);
        if (!at.byte) return EMU_STOP;
        uint64_t x = value->kind == EMU_OP_IMM ? (uint64_t)value->imm
                     : value->wide             ? emu_row64(w, value->row)[l]
                                               : emu_row32(w, value->row)[l];
        const char *why = tensormap_replace(at.byte, (enum tensormap_field)i->aux[0], dimension, x);
        if (!why) continue;
        emu_report(EMU_BAD_TENSOR_MAP, w, i, NULL, "%s", why);
        return EMU_STOP;
    }
    return EMU_NEXT;
}

emu_handler *emu_select_tensormap_replace(struct emu_inst *i, const char **why) {
    static const char *const names[] = {
        "global_address", "rank",         "box_dim",        "global_dim",        "global_stride",
        "elemtype",       "swizzle_mode", "element_stride", "interleave_layout", "fill_mode"};
    for (int k = 0; k < 10; k++)
        if (emu_has(i, names[k])) i->aux[0] = k;
    i->aux[1] = i->n_ops == 3;
    *why = "a tensor map has no such dimension";
    int most = i->aux[0] == TENSORMAP_STRIDE ? 4 : 5;
    return i->aux[1] && (i->op[1].imm < 0 || i->op[1].imm >= most) ? NULL : replace;
}

/* tensormap.cp_fenceproxy [global], [shared], 128: one copy for the warp, of 16 bytes by each of eight lanes */
enum emu_step emu_tensormap_copy(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint64_t from[EMU_LANES], to[EMU_LANES];
    uint32_t offset[EMU_LANES];
    struct emu_place at[EMU_LANES];
    const uint32_t lanes = (1u << MAP_BYTES / CHUNK) - 1;
    const int first = __builtin_ctz(mask);
    emu_addresses(w, &i->op[1], from);
    emu_addresses(w, &i->op[0], to);
    if (i->op[2].imm != MAP_BYTES || from[first] % MAP_BYTES || to[first] % MAP_BYTES) {
        emu_report(EMU_BAD_TENSOR_MAP, w, i, NULL,
                   "a copy of a tensor map takes 128 bytes, 128-byte aligned");
        return EMU_STOP;
    }
    for (int l = 0; l < EMU_LANES; l++) {
        offset[l] = emu_shared_offset(from[first]) + CHUNK * (uint32_t)l;
        to[l] = to[first] + CHUNK * (uint64_t)l;
    }
    if (emu_shared_access(w, i, lanes, offset, CHUNK, EMU_READ) != lanes) return EMU_STOP;
    if (emu_global_access(w, i, lanes, to, CHUNK, EMU_WRITE) != lanes) return EMU_STOP;
    emu_global_places(w, i, lanes, to, CHUNK, EMU_WRITE, at);
    EMU_EACH_LANE(l, lanes)
    memcpy(at[l].byte, emu_reach(emu_room_shared(w->block), offset[l], CHUNK, EMU_READ).byte,
           CHUNK);
    return EMU_NEXT;
}
