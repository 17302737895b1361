/* What one memory instruction's addresses looked like relative to its first lane, and what that
 * cost. The same pattern comes again and again, so counting it is one comparison. */
#pragma once

#include "state.h"

enum emu_pattern_kind {
    EMU_PATTERN_NONE,
    EMU_PATTERN_BROADCAST,  /* all lanes the same */
    EMU_PATTERN_CONTIGUOUS, /* lane after lane */
    EMU_PATTERN_PERIOD8,    /* lanes l and l + 8 the same, as for columns of a tile */
    EMU_PATTERN_PERIOD16,   /* l and l + 16: of a block that is 16 wide */
    EMU_PATTERN_RUNS8,      /* eight lanes each the same, as for rows of a tile */
    EMU_PATTERN_OTHER
};

enum { EMU_MANY_LANES = 63 };

struct emu_pattern {
    uint32_t mask; /* 0: none yet */
    uint32_t key;  /* the first address modulo the granule (4 for banks, 32 for sectors) */
    uint8_t kind, bytes;
    uint32_t wavefronts, wavefronts_ideal; /* or sectors */
    int64_t min, max;                      /* of the differences */
    struct emu_allocation *near; /* global: the one that was accessed last; an instruction most
                                    often keeps to one, neighbours to others */
    uint32_t delta_bits;         /* all differences, or-ed: for alignment */
    _Alignas(32) int32_t delta[EMU_LANES]; /* address - first active lane's; inactive lanes 0 */
    uint16_t n_cells;                      /* 4-byte cells touched, relative to the first lane's */
    int32_t cell[128];
    uint8_t cell_bytes[128]; /* which bytes of the cell: bit mask */
    const struct emu_warp
        *fetched_by; /* who filled `fetched`, for the lanes of mask; NULL: stale */
    _Alignas(
        32) uint32_t fetched[4][EMU_LANES]; /* words at the address and behind it: front/ahead.c */
    uint8_t cell_lane[128];                 /* the lane that touches it, or EMU_MANY_LANES */
};

const struct emu_pattern *emu_shared_pattern(struct emu_warp *w, const struct emu_inst *i,
                                             uint32_t mask, const uint32_t addr[32],
                                             unsigned bytes);
/* Its wavefronts are sectors. far: lanes are more than 2 GiB apart, and there are no
 * differences. */
struct emu_pattern *emu_global_pattern(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                                       const uint64_t addr[32], unsigned bytes, bool *far);
/* Wavefronts of one shared access, and how few there could be. load: not LDSM. served[l][k], if not
 * NULL: the wavefront that serves lane l's k-th word. */
uint32_t emu_wavefronts(uint32_t mask, const uint32_t addr[32], unsigned bytes, bool load,
                        bool atomic, uint32_t *ideal, uint8_t (*served)[4]);
/* Distinct 32-byte sectors of a request, and how many there would be if its bytes lay side by
 * side. */
uint32_t emu_sectors(uint32_t mask, const uint64_t addr[32]);
uint32_t emu_sectors_ideal(uint32_t mask, unsigned bytes);
