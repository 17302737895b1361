/* The 64-bit matrix descriptor of wgmma, and the address that it gives to each element.
 *
 *   63 62 | 61 .. 52 | 51 50 49    | 48 46 | 45 .. 32 | 31 30 | 29 .. 16 | 15 14 | 13 .. 0
 *   mode  |    0     | base offset |   0   | SBO >> 4 |   0   | LBO >> 4 |   0   | start >> 4
 *
 *   mode 0: none, 1: 128-byte, 2: 64-byte, 3: 32-byte swizzle. Addresses have 18 bits.
 *
 * With W bytes in a row of the pattern (16, 128, 64, 32), element (m, k) lies at start plus
 *
 *   K-major, rows along k:             (m % 8) * W + (m / 8) * SBO + k bytes
 *     no swizzle: each 16-byte chunk of k is LBO further than the one before
 *   MN-major, rows along m (or n):     (m % (W/2)) * 2 + (m / (W/2)) * LBO
 *     (16-bit types only)              + (k % 8) * W + (k / 8) * SBO
 *     no swizzle: LBO and SBO change places
 *
 * and then, in the address, bits [4, 4+B) ^= bits [7, 7+B), B = 3, 2, 1 for 128, 64, 32 bytes:
 *
 *   128 bytes, K-major, 16-byte chunks as they lie:      row 0   0 1 2 3 4 5 6 7
 *                                                        row 1   1 0 3 2 5 4 7 6
 *                                                        row 2   2 3 0 1 6 7 4 5  ...
 *
 * Nothing is validated here: a wrong descriptor gives the addresses that hardware would read. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct smem_desc {
    uint32_t start, leading, stride; /* bytes */
    uint32_t base;                   /* base offset, 0..7 */
    int mode;                        /* as above */
    int row_bytes;                   /* W */
};

struct smem_desc smem_desc_decode(uint64_t bits);

/* Address of element (mn, k), mn = row of A or column of B. */
uint32_t smem_desc_address(const struct smem_desc *d, bool mn_major, int element_bytes, int mn,
                           int k);

/* NULL, or what no kernel can mean by these bits: reserved bits set, a pattern that does not start
 * where its base offset says. */
const char *smem_desc_check(uint64_t bits);
