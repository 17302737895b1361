"""Kernels for the exams' tests, made from solutions: of(exam, "WRONG"|"CHEATS"|"OTHERS") -> {what: text}"""
import pathlib

import lab_folder

ROOT = pathlib.Path(__file__).resolve().parents[2]


def changed(name, *edits):
    """The solution with texts replaced, each of which is there exactly once."""
    whole = (ROOT / lab_folder.read(name).files[0]).read_text()
    for old, new in edits:
        if whole.count(old) != 1:
            raise LookupError(f"{name} has {whole.count(old)} times {old!r}")
        whole = whole.replace(old, new)
    return whole


SCALAR = """
static __device__ float scalar(const struct gemm_args &args, int row, int col) {
    float sum = 0;
    for (int d = 0; d < args.k; d++)
        sum += __half2float(args.a[(int64_t)row * args.lda + d]) * __half2float(args.b[(int64_t)col * args.ldb + d]);
    return sum;
}
"""
GEMM_1 = "extern \"C\" __global__ void __launch_bounds__(THREADS)"
STORE_1 = "args.c[(int64_t)row * args.ldc + col] = c_frag[i][j][e % 4];"
WMMA = """#include "common/cuda/ptx.cuh"
#include "notebooks/course/exams/gemm_args.h"

#include <mma.h>

using namespace nvcuda;
constexpr int LD = 40; // 32 columns and 16 bytes: rows that follow each other begin in other banks

extern "C" __constant__ int launch[4] = {32, 32, 128, 0};

// One warp has 16 x 16 of C; it goes through shared memory to where it belongs.
extern "C" __global__ void gemm(const __grid_constant__ struct gemm_args args) {
    __shared__ __align__(128) half a[32][LD], b[32][LD];
    __shared__ __align__(128) float c[32][LD];
    const int tid = threadIdx.x, warp = tid / 32, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c_frag;
    wmma::fill_fragment(c_frag, 0);
    for (int k0 = 0; k0 < args.k; k0 += 32) {
        const int r = tid / 4, d = k0 + tid % 4 * 8;
        const uint4 zero = {0, 0, 0, 0};
        *(uint4 *)&a[r][tid % 4 * 8] = row0 + r < args.m && d < args.k ? *(const uint4 *)(args.a + (int64_t)(row0 + r) * args.lda + d) : zero;
        *(uint4 *)&b[r][tid % 4 * 8] = col0 + r < args.n && d < args.k ? *(const uint4 *)(args.b + (int64_t)(col0 + r) * args.ldb + d) : zero;
        __syncthreads();
        for (int d = 0; d < 32; d += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a_frag;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b_frag;
            wmma::load_matrix_sync(a_frag, &a[warp / 2 * 16][d], LD);
            wmma::load_matrix_sync(b_frag, &b[warp % 2 * 16][d], LD);
            wmma::mma_sync(c_frag, a_frag, b_frag, c_frag);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(&c[warp / 2 * 16][warp % 2 * 16], c_frag, LD, wmma::mem_row_major);
    __syncthreads();
    for (int i = tid; i < 32 * 32; i += 128)
        if (row0 + i / 32 < args.m && col0 + i % 32 < args.n) args.c[(int64_t)(row0 + i / 32) * args.ldc + col0 + i % 32] = c[i / 32][i % 32];
}
"""


def one(*edits):
    return changed("exam-1", *edits)


def wrong_1():
    return {
        "C transposed": one((STORE_1, STORE_1.replace("row * args.ldc + col", "col * args.ldc + row"))),
        "no barrier": one(("        __syncthreads(); ", "        // ")),
        "no bound on rows of C": one(("if (row < args.m && col < args.n)", "if (col < args.n)")),
        "no bound on columns of C": one(("if (row < args.m && col < args.n)", "if (row < args.m)")),
        "columns up to the next row": one(("if (row < args.m && col < args.n)", "if (row < args.m && col < args.ldc)")),
        "no bound on rows of a tile": one(("row < n_rows && col < k;", "col < k;")),
        "no bound on columns of a tile": one(("row < n_rows && col < k;", "row < n_rows;")),
        "the last tile is left out": one(("(args.k + BK - 1) / BK", "args.k / BK")),
        "the wait leaves one more group": one(("cp_async_wait<STAGES - 2>();", "cp_async_wait<STAGES - 1>();")),
        "the next tile goes where this one is": one(("load(t + STAGES - 1);", "load(t + STAGES);")),
        "rows of B by A's distance": one(("args.ldb", "args.lda")),
        "rows of C by n": one(("row * args.ldc + col", "row * args.n + col")),
        "B by A's lanes": one(("warp_col + j * 16 + lane / 16 * 8 + lane % 8,", "warp_col + j * 16 + lane % 16,")),
        "one half of each fragment twice": one(("j % 2 * 2 + 1", "j % 2 * 2")),
        "a fragment too few": one(("kk < BK / 16;", "kk < BK / 16 - 1;")),
        "rows of a lane by the wrong bit": one(("e % 4 / 2 * 8", "e % 2 * 8")),
        "columns of a lane without their neighbour": one(("lane % 4 * 2 + e % 2", "lane % 4 * 2")),
        "all warps have the same rows": one(("warp_row = warp / 2 * WM", "warp_row = 0 * WM")),
        "grid upside down": one(("row0 = blockIdx.y * BM, col0 = blockIdx.x * BN", "row0 = blockIdx.x * BM, col0 = blockIdx.y * BN")),
        "nothing is swizzled": one(("(chunk ^ row % 8) * 16", "chunk * 16")),
        "threads are too few": one(("{BM, BN, THREADS, STAGES", "{BM, BN, THREADS / 2, STAGES")),
        "memory is too small": one(("STAGES *STAGE_BYTES};", "2 * STAGE_BYTES};")),
        "a launch that no GPU has": one(("{BM, BN, THREADS, STAGES", "{BM, BN, 100, STAGES")),
    }


def cheats_1():
    scalar = [(GEMM_1, SCALAR + GEMM_1)]
    return {
        "scalar, no tensor cores": """#include "common/cuda/ptx.cuh"
#include "notebooks/course/exams/gemm_args.h"
extern "C" __constant__ int launch[4] = {8, 32, 256, 0};
""" + SCALAR + """extern "C" __global__ void gemm(const __grid_constant__ struct gemm_args args) {
    const int row = blockIdx.y * 8 + threadIdx.x / 32, col = blockIdx.x * 32 + threadIdx.x % 32;
    if (row < args.m && col < args.n) args.c[(int64_t)row * args.ldc + col] = scalar(args, row, col);
}
""",
        "products for show": one(*scalar, (STORE_1, STORE_1.replace("c_frag[i][j][e % 4]", "scalar(args, row, col) + 0 * c_frag[i][j][e % 4]"))),
        "products for show, minus themselves": one(*scalar, (STORE_1, STORE_1.replace(
            "c_frag[i][j][e % 4]", "scalar(args, row, col) + (c_frag[i][j][e % 4] - c_frag[i][j][e % 4])"))),
        "products chosen only if they are right": one(*scalar, (STORE_1, "{ const float s = scalar(args, row, col), t = c_frag[i][j][e % 4]; " + STORE_1.replace(
            "c_frag[i][j][e % 4]", "fabsf(s - t) < 1e-3f ? t : s") + " }")),
        "a cache in global memory": one((GEMM_1, "__device__ float kept[1024];\n" + GEMM_1),
                                        (STORE_1, "{ kept[threadIdx.x] = c_frag[i][j][e % 4]; " + STORE_1.replace("c_frag[i][j][e % 4]", "kept[threadIdx.x]") + " }")),
        "our kernel, included by its place": '#include "notebooks/course/exams/1/solution/gemm.cu"\n',
        "the answer is there already": one((STORE_1, "{ if (args.c[(int64_t)row * args.ldc + col] != args.c[(int64_t)row * args.ldc + col]) " + STORE_1
                                            + " else if (threadIdx.x == 77) __nanosleep(1); }")),
        "large problems only by halves": one(("    float c_frag[", "    if (args.m >= 1024 && blockIdx.x % 2) return;\n    float c_frag[")),
        "A is written to": one((STORE_1, STORE_1 + " if (row + col == 0) ((half *)args.a)[0] = args.a[0] + args.a[0];")),
    }


def others_1():
    tiles = ("BM = 128, BN = 128, BK = 64, STAGES = 3, THREADS = 128, WM = 64, WN = 64", "BM = 64, BN = 64, BK = 64, STAGES = 4, THREADS = 128, WM = 32, WN = 32")
    return {"smaller tiles": one(tiles), "WMMA, no copies in the background": WMMA, "C^T = B A^T": transposed_1()}


def transposed_1():
    """Rows of B are the first operand, and C is stored the other way round."""
    return one(("load_tile<BM>(stage, args.a, args.lda, row0, args.m, t * BK, args.k);", "load_tile<BM>(stage, args.b, args.ldb, col0, args.n, t * BK, args.k);"),
               ("load_tile<BN>(stage + A_BYTES, args.b, args.ldb, col0, args.n, t * BK,", "load_tile<BN>(stage + A_BYTES, args.a, args.lda, row0, args.m, t * BK,"),
               ("const int row = row0 + warp_row +", "const int col = col0 + warp_row +"), ("const int col = col0 + warp_col +", "const int row = row0 + warp_col +"))


STORE_2 = "c[(int64_t)row * ldc + col] = d[e / 4][e % 4];"
GEMM_2 = "extern \"C\" __global__ void __launch_bounds__(THREADS)"
# The products of a thread's elements, from the tiles that TMA has brought: half x of row r lies in chunk x / 8 ^ r % 8.
SUMS = """        for (int e = 0; e < BN / 8 * 4; e++) {
            const int r = warp * 16 + lane / 4 + e % 4 / 2 * 8, q = e / 4 * 8 + lane % 4 * 2 + e % 2;
            const unsigned char *a = dynamic + (ring - smem_address(dynamic)) + s * STAGE_BYTES, *b = a + A_BYTES;
            for (int x = 0; x < BK; x++)
                sums[e / 4][e % 4] += __half2float(*(const half *)(a + r * 128 + (x / 8 ^ r % 8) * 16 + x % 8 * 2)) *
                                      __half2float(*(const half *)(b + q * 128 + (x / 8 ^ q % 8) * 16 + x % 8 * 2));
        }
"""
SIMPLE_2 = """#include "common/cuda/ptx_sm90.cuh"

// One warpgroup, one stage, 64 x 64 of C.
extern "C" __constant__ int launch[4] = {64, 64, 128, 0};

extern "C" __global__ void gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, float *c, int m, int n, int k,
                                int ldc) {
    __shared__ __align__(1024) unsigned char a[64 * 128], b[64 * 128];
    __shared__ uint64_t full;
    const int tid = threadIdx.x, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    const uint32_t bar = smem_address(&full);
    float d[8][4];
    if (tid == 0) {
        mbarrier_init(bar, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    const struct gmma_desc at = {.start = 0, .leading_bytes = 16, .stride_bytes = 1024, .base_offset = 0, .swizzle = GMMA_SWIZZLE_128};
    const uint64_t a_desc = gmma_desc_advance(gmma_desc_encode(at), smem_address(a)), b_desc = gmma_desc_advance(gmma_desc_encode(at), smem_address(b));
    for (int k0 = 0, parity = 0; k0 < k; k0 += 64, parity ^= 1) {
        if (tid == 0) {
            mbarrier_arrive_expect_tx(bar, 2 * 64 * 128);
            tma_load_4d(smem_address(a), &a_map, bar, k0, row0, 0, 0);
            tma_load_4d(smem_address(b), &b_map, bar, k0, col0, 0, 0);
        }
        while (!mbarrier_try_wait_parity(bar, parity)) {
        }
        registers_fence(d);
        wgmma_fence();
        for (int i = 0; i < 4; i++) wgmma_m64k16_ss<64>(d, gmma_desc_advance(a_desc, 32 * i), gmma_desc_advance(b_desc, 32 * i), k0 + i > 0);
        wgmma_commit_group();
        wgmma_wait_group<0>();
        registers_fence(d);
        __syncthreads();
    }
    for (int e = 0; e < 32; e++) {
        const int row = row0 + tid / 32 * 16 + tid % 32 / 4 + e % 4 / 2 * 8, col = col0 + e / 4 * 8 + tid % 4 * 2 + e % 2;
        if (row < m && col < n) c[(int64_t)row * ldc + col] = d[e / 4][e % 4];
    }
}
"""


def two(*edits):
    return changed("exam-2", *edits)


def wrong_2():
    bounds = "if (row < m && col < n)"
    return {
        "C transposed": two((STORE_2, STORE_2.replace("row * ldc + col", "col * ldc + row"))),
        "no bound on rows of C": two((bounds, "if (col < n)")),
        "no bound on columns of C": two((bounds, "if (row < m)")),
        "columns up to the next row": two((bounds, "if (row < m && col < ldc)")),
        "rows of C by n": two((STORE_2, STORE_2.replace("ldc", "n"))),
        "the last tile is left out": two(("(k + BK - 1) / BK", "k / BK")),
        "nobody waits for the first barrier": two(("    __syncthreads(); // all see", "    // all see")),
        "full ends with A": two(("mbarrier_arrive_expect_tx(barrier, STAGE_BYTES)", "mbarrier_arrive_expect_tx(barrier, A_BYTES)")),
        "the producer waits for the other parity": two(("(t / STAGES + 1) % 2", "t / STAGES % 2")),
        "consumers wait by tiles, not by turns": two(("wait(&full[s], t / STAGES % 2);", "wait(&full[s], t % 2);")),
        "no stage is given back": two(("if (t > 0 && lane == 0)", "if (t > 9999 && lane == 0)")),
        "this tile is given back": two(("empty[(t - 1) % STAGES]", "empty[t % STAGES]")),
        "one warp gives back for all": two(("mbarrier_init(smem_address(&empty[s]), CONSUMERS / 32);", "mbarrier_init(smem_address(&empty[s]), 1);")),
        "the last products are not waited for": two(("wgmma_wait_group<0>();", "wgmma_wait_group<1>();")),
        "no wgmma.fence": two(("        wgmma_fence();\n", "")),
        "nothing is committed": two(("        wgmma_commit_group();\n", "")),
        "a stride of 512": two((".stride_bytes = 1024", ".stride_bytes = 512")),
        "another swizzle": two(("GMMA_SWIZZLE_128", "GMMA_SWIZZLE_64")),
        "16 columns are 16 bytes": two(("gmma_desc_advance(a_desc, s * STAGE_BYTES + 32 * i)", "gmma_desc_advance(a_desc, s * STAGE_BYTES + 16 * i)")),
        "both warpgroups have the same rows": two(("ring + warpgroup * 64 * BK * 2", "ring + 0 * warpgroup")),
        "each tile begins anew": two(("t + i > 0", "i > 0")),
        "row and column of a box": two(("barrier, t * BK, row0, 0, 0", "barrier, row0, t * BK, 0, 0")),
        "rows of a lane by the wrong bit": two(("e % 4 / 2 * 8", "e % 2 * 8")),
        "grid upside down": two(("row0 = blockIdx.y * BM, col0 = blockIdx.x * BN", "row0 = blockIdx.x * BM, col0 = blockIdx.y * BN")),
        "tiles begin anywhere": two(("(smem_address(dynamic) + 1023) / 1024 * 1024", "smem_address(dynamic) + 16")),
        "memory is too small": two(("+ 1024}", "- 1024}")),
        "a box that no map has": two(("launch[4] = {BM, BN,", "launch[4] = {BM, 2 * BN,")),
    }


def cheats_2():
    scalar = [("        registers_fence(d);\n        wgmma_fence();\n", SUMS + "        registers_fence(d);\n        wgmma_fence();\n"),
              ("    float d[BN / 8][4];", "    float sums[BN / 8][4] = {};\n    float d[BN / 8][4];"),
              ('#include "common/cuda/ptx_sm90.cuh"\n', '#include "common/cuda/ptx_sm90.cuh"\n#include <cuda_fp16.h>\n')]
    simple = [("    float d[8][4];", "    float d[8][4] = {};"), ("wgmma_m64k16_ss<64>(d", "if (k < 0) wgmma_m64k16_ss<64>(d")]
    never = SIMPLE_2
    for old, new in simple:
        never = never.replace(old, new)
    return {
        "products for show": two(*scalar, (STORE_2, STORE_2.replace("d[e / 4][e % 4]", "sums[e / 4][e % 4] + 0 * d[e / 4][e % 4]"))),
        "products chosen only if they are right": two(*scalar, (STORE_2, "{ const float s = sums[e / 4][e % 4], x = d[e / 4][e % 4]; " + STORE_2.replace(
            "d[e / 4][e % 4]", "fabsf(s - x) < 1e-3f ? x : s") + " }")),
        "no products at all": never,
        "a cache in global memory": two((GEMM_2, "__device__ float kept[1024];\n" + GEMM_2),
                                        (STORE_2, "{ kept[threadIdx.x] = d[e / 4][e % 4]; " + STORE_2.replace("d[e / 4][e % 4]", "kept[threadIdx.x]") + " }")),
        "our kernel, included by its place": '#include "notebooks/course/exams/2/solution/gemm.cu"\n',
        "large problems only by halves": two(("    float d[BN / 8][4];", "    if (m >= 1024 && blockIdx.x % 2) return;\n    float d[BN / 8][4];")),
        "a clock": two((STORE_2, STORE_2 + " if (clock64() == 7) return;")),
        "another kernel": two((GEMM_2, 'extern "C" __global__ void other(float *c) { c[0] = 1; }\n' + GEMM_2)),
        "the answer is there already": two((STORE_2, "{ if (c[(int64_t)row * ldc + col] != c[(int64_t)row * ldc + col]) " + STORE_2 + " else __nanosleep(1); }")),
    }


def others_2():
    narrow = SIMPLE_2.replace("{64, 64, 128, 0}", "{64, 32, 128, 0}").replace("b[64 * 128]", "b[32 * 128]").replace("blockIdx.x * 64", "blockIdx.x * 32")
    narrow = narrow.replace("2 * 64 * 128", "96 * 128").replace("d[8][4]", "d[4][4]").replace("ss<64>", "ss<32>").replace("e < 32", "e < 16")
    return {"one warpgroup, one stage": SIMPLE_2, "the same, 32 columns": narrow,
            "fewer columns, more stages": two(("BN = 256, BK = 64, STAGES = 4", "BN = 128, BK = 64, STAGES = 6"))}


OF = {("exam-1", "WRONG"): wrong_1, ("exam-1", "CHEATS"): cheats_1, ("exam-1", "OTHERS"): others_1,
      ("exam-2", "WRONG"): wrong_2, ("exam-2", "CHEATS"): cheats_2, ("exam-2", "OTHERS"): others_2}


def of(name, kind):
    return OF[name, kind]()
