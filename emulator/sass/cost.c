/* What a memory instruction costs: wavefronts and sectors, by the same rules as on the PTX side (pattern.c,
 * copy.c). An H200's counters agree with them. */
#include "exec.h"

#include "emulator/core/pattern.h"
#include "emulator/instructions/access.h"
#include "emulator/instructions/tensormap.h"

#include <string.h>

uint32_t sass_l1_wavefronts(const struct sass_effect *e) {
    uint32_t low[SASS_LANES], least;
    for (int l = 0; l < SASS_LANES; l++) low[l] = (uint32_t)e->global[l];
    return emu_wavefronts(e->active, low, e->inst->bytes, true, false, &least, NULL);
}

uint32_t sass_wavefronts(const struct sass_effect *e, uint32_t *ideal) {
    uint32_t n = 0, least = 0, extra;
    switch (e->memory) {
    case SASS_LDS:
        n = emu_wavefronts(e->active, e->shared, e->inst->bytes, true, false, &least, NULL);
        break;
    case SASS_STS:
    case SASS_LDSM:
    case SASS_STSM:
        n = emu_wavefronts(e->active, e->shared, e->inst->bytes, false, false, &least, NULL);
        break;
    case SASS_ATOMS: /* one lane after the other where they hit a bank */
        n = emu_wavefronts(e->active, e->shared, e->inst->bytes, false, true, &least, NULL);
        break;
    case SASS_LDGSTS:
        if (e->inst->bytes < 16) {
            n = emu_wavefronts(e->active, e->shared, e->inst->bytes, false, false, &least, NULL);
            break;
        }
        n = emu_copy16_wavefronts(e->active, e->reads, e->shared, e->global, &least, &extra, NULL);
        break;
    case SASS_HGMMA_OPERANDS:                    /* 128 bytes each (wgmma.c) */
        if (sass_warp_index(e->warp) % 4) break; /* one read of the operands for the four warps */
        n = least = (e->gmma.n + (e->gmma.a_in_registers ? 0u : 64u)) * e->gmma.k * 2 / 128;
        break;
    default:
        break;
    }
    if (ideal) *ideal = least;
    return n;
}

/* The lanes that touch sectors: of global memory, or of another block's shared memory. */
static uint32_t sector_lanes(const struct sass_effect *e) {
    switch (e->memory) {
    case SASS_LDG:
    case SASS_STG:
    case SASS_LDL:
    case SASS_STL:
    case SASS_ATOMG:
    case SASS_REDG:
    case SASS_DSMEM:
        return e->active;
    case SASS_LDGSTS:
        return e->active & e->reads;
    default:
        return 0;
    }
}

uint32_t sass_sectors_ideal(const struct sass_effect *e) {
    const uint32_t lanes = sector_lanes(e);
    return lanes ? emu_sectors_ideal(lanes, e->inst->bytes) : 0;
}

uint32_t sass_sectors(const struct sass_effect *e, uint64_t sector[64]) {
    uint32_t n = 0;
    /* of local memory the words lie apart; else an access is naturally aligned and lies in one sector */
    const bool local = e->memory == SASS_LDL || e->memory == SASS_STL;
    const uint32_t words = local && e->inst->bytes > 4 ? e->inst->bytes / 4 : 1;
    for (uint32_t k = 0; k < words; k++) EMU_EACH_LANE(l, sector_lanes(e)) {
            uint64_t at = (e->global[l] + SASS_ROW * k) / 32;
            uint32_t s = 0;
            while (s < n && sector[s] != at) s++;
            if (s == n && n < 64) sector[n++] = at;
        }
    if (e->memory == SASS_LDGSTS && e->inst->bytes == 16) { /* some are fetched twice */
        uint32_t ideal, extra = 0;
        emu_copy16_wavefronts(e->active, e->reads, e->shared, e->global, &ideal, &extra, NULL);
        for (uint32_t x = 0; x < extra && n < 64; x++) sector[n] = sector[x], n++;
    }
    return n;
}

void sass_tma_rows(const struct sass_effect *e, void *user,
                   void (*each)(void *user, uint64_t global, uint32_t bytes)) {
    struct tensormap map;
    if ((e->memory != SASS_TMA_LOAD && e->memory != SASS_TMA_STORE) ||
        !tensormap_decode(e->tma.map, &map) || tensormap_box_bytes(&map) != e->tma.bytes)
        return; /* a store may have changed the map by now */
    for (int r = 0; r < (int)tensormap_rows(&map); r++) {
        struct tensormap_row row = tensormap_row(&map, e->tma.coordinate, r);
        if (row.bytes) each(user, row.global, row.bytes);
    }
}
