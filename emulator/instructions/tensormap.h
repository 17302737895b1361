/* Tensor maps (the 128 opaque bytes of a CUtensorMap; the emulator has its own layout of them) and
 * the boxes that TMA copies through them.
 *
 *   global tensor, rank 2          box at (x, y)
 *     extent[0] elements           +-----------+
 *   +--------------------+         |  in       |0 0     loads fill with zeros what lies
 *   |        +-----------+---+     |  the      |0 0     outside, on any side;
 *   |        |           |   |     |  tensor   |0 0     stores leave it out
 *   +--------+-----------+---+     +-----------+
 *            +---------------+      0 0 0 0 0 0 0 0
 *
 * An im2col map takes box[1] pixels instead of a box: from (w, h, n) on through the bounding box
 * [lower, extent - 1 + upper] of every image, innermost dimension first, and of each pixel, moved by
 * the instruction's offset, box[0] channels.
 *
 * In shared memory: rows of box[0] elements one after the other, then swizzled: address bits
 * [4, 4+B) ^= [7, 7+B), B = 1, 2, 3 for 32, 64, 128 bytes, on absolute shared addresses. */
#pragma once

#include "emulator/core/instruction.h"

#include <stdbool.h>
#include <stdint.h>

struct tensormap {
    uint64_t base; /* global address; 16-byte aligned */
    int rank;      /* 1..5 */
    int element_bytes;
    uint64_t extent[5]; /* elements; up to 2^32 */
    uint64_t stride[5]; /* bytes; [0] is not used */
    uint32_t box[5];
    int swizzle_bytes;  /* 0, 32, 64, 128 */
    enum emu_type type; /* of an element: what reductions go by; EMU_NONE: not said */
    bool im2col;
    int32_t lower[3], upper[3]; /* im2col: dimensions 1 to rank - 2 */
    int32_t offset[3];          /* the same, of one copy: an instruction says it */
};

/* Writes 128 bytes. NULL, or the rule that the map breaks. */
const char *tensormap_encode(const struct tensormap *m, void *map_128_bytes);
/* False: these bytes are no map by the rules of tensormap_encode(). They may lie in memory that a
 * kernel can write, so that every use decodes them anew, and takes the tensor's address for no more
 * than what the kernel says. */
bool tensormap_decode(const void *map_128_bytes, struct tensormap *out);

/* Fields that a kernel may replace, one at a time, in the 128 bytes that will hold a map. Only a use says whether they are
 * one. `dimension` is that of box, extents and strides; the stride of dimension 1 is number 0, as in PTX. */
enum tensormap_field {
    TENSORMAP_ADDRESS,
    TENSORMAP_RANK, /* less 1 */
    TENSORMAP_BOX,
    TENSORMAP_EXTENT,
    TENSORMAP_STRIDE,  /* bytes */
    TENSORMAP_ELEMENT, /* PTX's number of a type */
    TENSORMAP_SWIZZLE, /* 0 to 3: none, 32, 64, 128 bytes */
    TENSORMAP_STEP,    /* from element to element: 1 */
    TENSORMAP_LAYOUT,  /* 0: not interleaved */
    TENSORMAP_FILL,    /* 0: zeros */
};
/* NULL, or why the emulator has no maps with this value. */
const char *tensormap_replace(void *map_128_bytes, enum tensormap_field field, int dimension,
                              uint64_t value);

uint64_t tensormap_box_bytes(const struct tensormap *m); /* what an mbarrier is told */
/* From row to row in shared memory: a swizzle spreads narrower rows over its width. */
uint32_t tensormap_pitch(const struct tensormap *m);
uint64_t
tensormap_shared_bytes(const struct tensormap *m); /* rows * pitch: no block has over 2^18 */
uint64_t
tensormap_rows(const struct tensormap *m); /* rows of box[0] elements in a box: up to 2^32 */

/* Row r of the box at `coordinate`: bytes [skip, skip + bytes) of it lie in the tensor, at
 * `global`. */
struct tensormap_row {
    uint64_t global;
    uint32_t skip, bytes;
};
struct tensormap_row tensormap_row(const struct tensormap *m, const int32_t coordinate[5], int r);

/* Where byte `offset` of row r lies, if the box starts at shared address `start`. 16-byte chunks
 * stay together. */
uint32_t tensormap_shared(const struct tensormap *m, uint32_t start, int r, uint32_t offset);
