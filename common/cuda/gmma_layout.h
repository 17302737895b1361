/* Where WGMMA wants the elements of a matrix X (rows, k) in shared memory: rows are M or N, the
 * product runs along k. Sixteen ways for A and B together, one formula each; hopper's canonical
 * layouts (PTX ISA 9.7.15.5.1). W is the swizzle in bytes, h = W / 2 the halves that fit into it.
 *
 *   K-major, W > 0   slabs of h elements of k:   [k / h][row][k % h]     rows of W bytes, swizzled
 *   K-major, W = 0   columns of core matrices:   [k / 8][row][k % 8]     core = 8 rows of 16 bytes
 *   MN-major, W > 0  slabs of h rows:            [row / h][k][row % h]   rows of W bytes, swizzled
 *   MN-major, W = 0  columns of core matrices:   [row / 8][k][row % 8]
 *
 * Swizzled: the 16-byte chunk number within 128 bytes is XORed with
 * the number of the 128-byte line, as far as W reaches (gmma_swizzled
 * in gmma_desc.h). Tiles start at multiples of 1024 bytes. */
#pragma once

#include "gmma_desc.h"

#include <stdbool.h>
#include <stddef.h>

struct gmma_layout {
    int rows, k;   /* elements; rows a multiple of 8, k of 16 */
    bool mn_major; /* false: k is contiguous */
    int swizzle;   /* bytes: 0, 32, 64, 128 */
};

/* Bytes of the tile, slabs that are not full included. */
size_t gmma_layout_bytes(const struct gmma_layout *l);

/* Byte offset of element (row, k) from the start of the tile. */
uint32_t gmma_layout_offset(const struct gmma_layout *l, int row, int k);

/* The descriptor of the tile at address 0, and how many bytes further k step s (16 of k) starts. */
struct gmma_desc gmma_layout_desc(const struct gmma_layout *l);
uint32_t gmma_layout_step(const struct gmma_layout *l, int s);
