/* Where the rows of a tile lie in shared memory.
 *
 * Shared rows hold DIM fp16 without padding, in 16-byte chunks. Chunk c of row r lies at place
 * c ^ (r % 8) of its 128 bytes (DIM 32 and 96: c ^ (r / 2 % 4) of its 64), so that the 8 rows of a
 * chunk column, which ldmatrix reads at once, lie in 8 different groups of 4 banks:
 *
 *   DIM 64   place  0  1  2  3  4  5  6  7        DIM 32   place  0  1  2  3 | 4  5  6  7
 *   row 0           0  1  2  3  4  5  6  7        rows 0, 1       0  1  2  3 | 0  1  2  3
 *   row 1           1  0  3  2  5  4  7  6        rows 2, 3       1  0  3  2 | 1  0  3  2
 *   row 2           2  3  0  1  6  7  4  5        rows 4, 5       2  3  0  1 | 2  3  0  1
 *
 * Needs ROW_BYTES, THREADS from kernel.cu. */
#pragma once

constexpr int SWIZZLE = DIM % 64 == 0 ? 8 : 4;  // chunks that change places among themselves
constexpr int ROWS_AT_ONCE = THREADS / SWIZZLE; // rows that a group copies with one instruction
static_assert(ROWS_AT_ONCE % 8 == 0, "all chunks that a thread copies have one place in a row");

// Byte offset of a chunk in a tile.
static __device__ __forceinline__ int swizzled(int row, int chunk) {
    return row * ROW_BYTES + (chunk ^ (SWIZZLE == 8 ? row % 8 : row / 2 % 4)) * 16;
}

// The address `chunk` chunks after `base`, which is the address of chunk 0 or 1; `chunk` is even.
static __device__ __forceinline__ uint32_t right(uint32_t base, int chunk) {
    return (base ^ chunk % SWIZZLE * 16) + chunk / SWIZZLE * SWIZZLE * 16;
}

// Starts to copy n_rows rows into smem; what is missing of [ROWS][DIM] becomes zero. gmem is the
// first chunk that this thread copies: of row tid / SWIZZLE, chunk tid % SWIZZLE.
template <int ROWS>
static __device__ __forceinline__ void load_tile(unsigned char *smem, const half *gmem,
                                                 int64_t row_stride, int n_rows) {
    const int tid = threadIdx.x % THREADS, row0 = tid / SWIZZLE;
    smem += swizzled(row0, tid % SWIZZLE);
#pragma unroll
    for (int row = 0; row < ROWS; row += ROWS_AT_ONCE) {
#pragma unroll
        for (int c = 0; c < DIM / 8; c += SWIZZLE)
            if (ROWS % ROWS_AT_ONCE == 0 || row0 + row < ROWS)
                cp_async_16(smem + row * ROW_BYTES + c * 16, gmem + c * 8,
                            row0 + row < n_rows ? 16 : 0);
        gmem += ROWS_AT_ONCE * row_stride;
    }
}
