/* Fragments: which lane of a warp holds which element of the matrices of tensor instructions.
 *
 * lane = 4 * g + q. A register holds p = 32 / (element bits) neighbours: 1 tf32, 2 fp16, 4 int8 or
 * fp8. Drawn for fp16 (p = 2), `0.1` = register 0, upper half; each box is one lane of the first
 * row group:
 *
 *   A, 16 x k (row major)                    B, k x 8 (columns are lanes' g)
 *          k  0 1   2 3   4 5   6 7 | 8 ..         n    0     1    ..   7
 *   row  0    q0    q1    q2    q3  | q0       k  0   g0q0  g1q0       g7q0     register 0, half 0
 *        .    register 0            | reg 2       1   g0q0  g1q0       g7q0     register 0, half 1
 *        7                          |             2   g0q1  g1q1       g7q1
 *        8    register 1            | reg 3       ..
 *       ..                          |             8   g0q0  ..                  register 1
 *
 *   C and D, 16 x 8, 32-bit:  row g: registers 0 and 1 hold columns 2q, 2q + 1;
 *                             row g + 8: registers 2 and 3
 *                    16-bit:  register 0 is row g, register 1 row g + 8; halves are the columns
 *
 * wgmma gives warp w of a warpgroup rows 16w .. 16w+15 of A and D in the same pattern, D wider:
 * register group j (4 registers of 32 bits, 2 of 16) holds columns 8j .. 8j+7. */
#pragma once

#include <stdint.h>

struct fragment_at {
    int row, col; /* of A: row, k; of B: k, n; of C and D: row, n */
};

/* Element `sub` (0 .. per_reg-1, lowest bits first) of register `reg`. */
static inline struct fragment_at fragment_a(int lane, int reg, int sub, int per_reg) {
    return (struct fragment_at){lane / 4 + 8 * (reg & 1),
                                lane % 4 * per_reg + sub + 4 * per_reg * (reg >> 1)};
}

static inline struct fragment_at fragment_b(int lane, int reg, int sub, int per_reg) {
    return (struct fragment_at){lane % 4 * per_reg + sub + 4 * per_reg * reg, lane / 4};
}

/* i counts elements: the register for 32-bit sums, 2 * register + half for 16-bit ones. Also
 * wgmma's D (rows within the warp's 16) and, with i = 0 and 1, the sums of m8n8. */
static inline struct fragment_at fragment_d(int lane, int i) {
    return (struct fragment_at){lane / 4 + 8 * (i >> 1 & 1), 8 * (i >> 2) + lane % 4 * 2 + (i & 1)};
}

/* ldmatrix and stmatrix: register r holds two 16-bit elements of 8x8 matrix r, whose row j lane 8r
 * + j points at. Element h of lane: row lane / 4, columns 2 * (lane % 4) + h; transposed: row and
 * column swap. movmatrix is the transposition alone. */
static inline struct fragment_at fragment_matrix(int lane, int h, int transposed) {
    int row = lane / 4, col = lane % 4 * 2 + h;
    return transposed ? (struct fragment_at){col, row} : (struct fragment_at){row, col};
}
