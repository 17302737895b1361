/* ldmatrix, stmatrix, movmatrix: 8x8 matrices of 16-bit elements, one row of 16 bytes for each
 * lane that gives an address. Layout: fragment_matrix. */
#include "emulator/instructions/access.h"
#include "emulator/instructions/flow.h"
#include "emulator/instructions/handlers.h"
#include "mma_fragment.h"

#include <string.h>

enum { AUX_N, AUX_TRANS };

/* The shared addresses of the first 8n lanes, checked; 0 if they cannot all be used. */
static uint32_t row_addresses(struct emu_warp *w, const struct emu_inst *i,
                              const struct emu_operand *op, uint32_t addr[EMU_LANES],
                              enum emu_access what) {
    uint64_t wide[EMU_LANES];
    uint32_t lanes = i->aux[AUX_N] == 4 ? EMU_FULL : (1u << 8 * i->aux[AUX_N]) - 1;
    emu_addresses(w, op, wide);
    emu_shared_offsets(wide, addr);
    return emu_shared_access(w, i, lanes, addr, 16, what) == lanes ? lanes : 0;
}

/* One row of a matrix, whose address was checked. */
static inline void move_row(struct emu_room room, uint32_t addr, void *row, enum emu_access what) {
    struct emu_place at = emu_reach(room, addr, 16, what);
    if (!at.byte) return;
    memcpy(what == EMU_READ ? row : at.byte, what == EMU_READ ? at.byte : row, 16);
}

static enum emu_step ldmatrix(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t addr[EMU_LANES];
    emu_aligned(w, i, mask);
    if (!row_addresses(w, i, &i->op[1], addr, EMU_READ)) return EMU_NEXT;
    const struct emu_room room = emu_room_shared(w->block);
    for (int r = 0; r < i->aux[AUX_N]; r++) {
        uint32_t *d = emu_row32(w, i->op[0].rows[r]), matrix[8][4];
        for (int row = 0; row < 8; row++) move_row(room, addr[8 * r + row], matrix[row], EMU_READ);
        if (!i->aux[AUX_TRANS]) {
            memcpy(d, matrix, sizeof matrix); /* lane 4 * row + word */
            continue;
        }
        const uint16_t(*half)[8] = (const void *)matrix;
        for (int lane = 0; lane < EMU_LANES; lane++) {
            struct fragment_at low = fragment_matrix(lane, 0, 1),
                               high = fragment_matrix(lane, 1, 1);
            d[lane] = half[low.row][low.col] | (uint32_t)half[high.row][high.col] << 16;
        }
    }
    return EMU_NEXT;
}

static enum emu_step stmatrix(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    uint32_t addr[EMU_LANES];
    emu_aligned(w, i, mask);
    if (!row_addresses(w, i, &i->op[0], addr, EMU_WRITE)) return EMU_NEXT;
    const struct emu_room room = emu_room_shared(w->block);
    for (int r = 0; r < i->aux[AUX_N]; r++) {
        const uint32_t *s = emu_row32(w, i->op[1].rows[r]);
        uint16_t matrix[8][8];
        for (int lane = 0; lane < EMU_LANES; lane++)
            for (int h = 0; h < 2; h++) {
                struct fragment_at at = fragment_matrix(lane, h, i->aux[AUX_TRANS]);
                matrix[at.row][at.col] = (uint16_t)(s[lane] >> 16 * h);
            }
        for (int row = 0; row < 8; row++) move_row(room, addr[8 * r + row], matrix[row], EMU_WRITE);
    }
    return EMU_NEXT;
}

static emu_handler *select_rows(struct emu_inst *i, const struct emu_operand *group,
                                emu_handler *run, const char **why) {
    i->aux[AUX_N] = strstr(i->opcode, ".x4") ? 4 : strstr(i->opcode, ".x2") ? 2 : 1;
    i->aux[AUX_TRANS] = strstr(i->opcode, ".trans") != NULL;
    *why = "the number of registers does not fit .x1, .x2 or .x4";
    return group->n == i->aux[AUX_N] ? run : NULL;
}
emu_handler *emu_select_ldmatrix(struct emu_inst *i, const char **why) {
    return select_rows(i, &i->op[0], ldmatrix, why);
}
emu_handler *emu_select_stmatrix(struct emu_inst *i, const char **why) {
    return select_rows(i, &i->op[1], stmatrix, why);
}

enum emu_step emu_movmatrix(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const uint32_t *s = emu_row32(w, i->row[1]);
    uint16_t matrix[8][8];
    emu_aligned(w, i, mask);
    for (int lane = 0; lane < EMU_LANES; lane++)
        for (int h = 0; h < 2; h++) {
            struct fragment_at at = fragment_matrix(lane, h, 0);
            matrix[at.row][at.col] = (uint16_t)(s[lane] >> 16 * h);
        }
    uint32_t *d = emu_row32(w, i->row[0]);
    for (int lane = 0; lane < EMU_LANES; lane++) {
        struct fragment_at low = fragment_matrix(lane, 0, 1), high = fragment_matrix(lane, 1, 1);
        d[lane] = matrix[low.row][low.col] | (uint32_t)matrix[high.row][high.col] << 16;
    }
    return EMU_NEXT;
}
