/* The 64-bit word by which WGMMA finds a matrix in shared memory.
 *
 *   bits    field         value
 *    0-13   start         address >> 4             16-byte units of 18-bit shared addresses
 *   16-29   leading       byte offset >> 4         see below
 *   32-45   stride        byte offset >> 4         see below
 *   49-51   base offset   (address >> 7) & 7       0 if the pattern starts at a multiple of itself
 *   62-63   swizzle       0 none, 1 128-byte, 2 64-byte, 3 32-byte
 *
 * A matrix is made of core matrices, 8 rows of 16 bytes. With a
 * swizzle of W bytes, W / 16 of them lie side by side in 8 rows of W
 * bytes, and that block of 8 W bytes is the unit the offsets count in.
 *
 *   K-major  (Q and K: rows are queries or keys, the product runs along the row)
 *     stride   from 8 rows to the next 8 rows; 8 W where rows are packed
 *     leading  not read with a swizzle; without: from 8 elements of k to the next 8
 *   MN-major (V: rows are keys, along which the product runs; transposed by the instruction)
 *     stride   from 8 keys to the next 8 keys; without a swizzle: to the next 8 columns
 *     leading  from W bytes of columns to the next W bytes; without a swizzle: to the next 8 keys
 *
 * Exchanged offsets do not fault; they give plausible wrong numbers. */
#pragma once

#include <stdint.h>

#ifdef __CUDACC__
#define GMMA_FN static __host__ __device__ __forceinline__
#else
#define GMMA_FN static inline
#endif

enum gmma_swizzle { GMMA_SWIZZLE_NONE, GMMA_SWIZZLE_128, GMMA_SWIZZLE_64, GMMA_SWIZZLE_32 };

struct gmma_desc {
    uint32_t start;         /* bytes, 0 .. 2^18 - 16 */
    uint32_t leading_bytes; /* bytes, 0 .. 2^18 - 16 */
    uint32_t stride_bytes;  /* bytes, 0 .. 2^18 - 16 */
    uint32_t base_offset;   /* 0..7 */
    uint32_t swizzle;       /* enum gmma_swizzle */
};

GMMA_FN uint64_t gmma_desc_encode(struct gmma_desc d) {
    return (uint64_t)(d.start >> 4 & 0x3FFF) | (uint64_t)(d.leading_bytes >> 4 & 0x3FFF) << 16 |
           (uint64_t)(d.stride_bytes >> 4 & 0x3FFF) << 32 | (uint64_t)(d.base_offset & 7) << 49 |
           (uint64_t)(d.swizzle & 3) << 62;
}

GMMA_FN struct gmma_desc gmma_desc_decode(uint64_t word) {
    struct gmma_desc d;
    d.start = (uint32_t)(word & 0x3FFF) << 4;
    d.leading_bytes = (uint32_t)(word >> 16 & 0x3FFF) << 4;
    d.stride_bytes = (uint32_t)(word >> 32 & 0x3FFF) << 4;
    d.base_offset = (uint32_t)(word >> 49 & 7);
    d.swizzle = (uint32_t)(word >> 62 & 3);
    return d;
}

/* The same matrix, n_bytes further: moves only the start. */
GMMA_FN uint64_t gmma_desc_advance(uint64_t word, uint32_t n_bytes) {
    return word + (n_bytes >> 4);
}

/* Where byte `at` of a tile lies when rows of `span_bytes` (32, 64, 128; 0 none) are swizzled: the
 * 16-byte chunk number is XORed with bits of the row
 * number. The tile starts at a multiple of 8 spans.
 *
 *   span 128   at[6:4] ^= at[9:7]
 *   span  64   at[5:4] ^= at[8:7]
 *   span  32   at[4]   ^= at[7]      */
GMMA_FN uint32_t gmma_swizzled(uint32_t at, uint32_t span_bytes) {
    return span_bytes == 0 ? at : at ^ ((at >> 7) & (span_bytes / 16 - 1)) << 4;
}
