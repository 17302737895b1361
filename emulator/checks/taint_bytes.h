/* Which bytes of a tainted register are tainted. A bool beside its padding is read and written as one word, of which one byte
 * was written; what is then made of that byte alone is no use of the others.
 *
 * Each row of the row file has words of taint, one for each of its 4 bytes. Word 0 is the mask of tainted lanes; the words
 * 1 to 8, which rows of predicates do not have, hold a byte for each lane: a bit for each tainted byte of its value. 0: all
 * of the lane's value. Only a load of single bytes that were written, beside some that were not, makes it other than 0;
 * halves and words that nothing wrote taint the whole value. */
#pragma once

#include "emulator/core/state.h"

/* The mask of tainted lanes. */
static inline uint32_t *taint_of(struct emu_warp *w, uint32_t row) { return &w->taint[row / 4]; }
/* Of a row that is no predicate's: its tainted bytes, by lane. */
static inline uint8_t *taint_bytes(struct emu_warp *w, uint32_t row) {
    return (uint8_t *)(void *)(taint_of(w, row) + 1);
}

/* What `taint_bytes` keeps of `missing`, bits for the bytes of an element of so many. */
uint8_t taint_kept(uint32_t missing, unsigned bytes);
/* The lanes of which the first `bytes` bytes of the row are tainted; `whole`: those of which all are, or which are not
 * known by byte. */
uint32_t taint_lanes(struct emu_warp *w, uint32_t row, unsigned bytes, bool whole);
/* An instruction that moves bits, of operands that are known by byte: its destination has their taint. False: it is
 * another, or its operands are not known so. */
bool taint_moved(struct emu_warp *w, const struct emu_inst *i, uint32_t mask);
/* The same of a shuffle; returns the lanes that are tainted. */
uint32_t taint_shuffled(struct emu_warp *w, const struct emu_inst *i, uint32_t mask);
