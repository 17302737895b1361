/* Which thread of a warpgroup (tid 0..127) holds which element of m64nNk16: the maps drawn in
 * kernel.cu. Source: PTX ISA, "Register fragments for wgmma.mma_async.m64nNk16". */
#pragma once

#ifdef __CUDACC__
#define HD __host__ __device__
#else
#define HD
#endif

/* Accumulator register i (0 .. N/2 - 1) of a thread. A row lives in 4 neighbouring lanes. */
static inline HD int wgmma_row(int tid, int i) {
    int row = 0;
    // BEGIN SOLUTION lab-5: the row of accumulator register i, from the picture in kernel.cu
    row = tid / 32 * 16 + tid % 32 / 4 + i / 2 % 2 * 8;
    // END SOLUTION
    return row;
}
static inline HD int wgmma_col(int tid, int i) {
    int col = 0;
    // BEGIN SOLUTION lab-5: its column
    col = i / 4 * 8 + tid % 4 * 2 + i % 2;
    // END SOLUTION
    return col;
}

/* A register r (0..3) of a thread holds k and k + 1 of a row, k in its low half. */
static inline HD int wgmma_a_row(int tid, int r) {
    return tid / 32 * 16 + tid % 32 / 4 + r % 2 * 8;
}
static inline HD int wgmma_a_k(int tid, int r) { return tid % 4 * 2 + r / 2 * 8; }
