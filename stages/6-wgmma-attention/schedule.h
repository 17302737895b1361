/* The order in which tiles of O are handed out: tile_at() of schedule.cuh follows it on the GPU. */
#pragma once

#include "tile.h"

/* Causal: tile number `index` of the order belongs to the head that is returned (of n_heads, those of
 * all batches; packed heads count as one), and is the *q-th of its tiles, the first being the
 * longest. Sections of heads follow each other; the last one has all heads that are left. */
DIVISOR_FN uint32_t causal_tile(struct schedule s, uint32_t n_heads, uint32_t index, uint32_t *q) {
    uint32_t section = divided(index, s.section_tiles);
    if (section > s.last_section) section = s.last_section;
    uint32_t first = section * s.section_heads.d, heads = s.section_heads.d;
    if (section == s.last_section) heads = n_heads - first;
    index -= section * s.section_tiles.d;
    *q = heads == s.section_heads.d ? divided(index, s.section_heads) : index / heads;
    return first + index - *q * heads;
}

#ifndef __CUDACC__
#include "cut.h"

/* The schedule of a way, but for its addresses. */
struct schedule schedule_of(const struct attention *a, const struct chip *chip,
                            const struct cut *cut);
#endif
