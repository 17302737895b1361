"""Kernels for the exams' tests, made from solutions: of(exam, "WRONG"|"CHEATS"|"OTHERS") -> {what: text}"""
import pathlib
import re

import lab_folder

ROOT = pathlib.Path(__file__).resolve().parents[3]


def kernel(file):
    return (ROOT / "tests/course/exams" / file).read_text()


def changed(name, *edits):
    """The solution with texts replaced, each of which is there exactly once."""
    whole = (ROOT / lab_folder.read(name).files[0]).read_text()
    for old, new in edits:
        if whole.count(old) != 1:
            raise LookupError(f"{name} has {whole.count(old)} times {old!r}")
        whole = whole.replace(old, new)
    return whole


SCALAR = kernel("scalar.cu")
HEAD_1 = '#include "common/cuda/ptx.cuh"\n#include "notebooks/course/exams/gemm_args.h"\n'
GEMM_1 = "extern \"C\" __global__ void __launch_bounds__(THREADS)"
WMMA = kernel("wmma.cu")


STORE_1 = re.search(r"args\.c\[.*?;", changed("exam-1"), re.S)[0]
AT_1 = STORE_1.partition(" = ")[0]


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
        "scalar, no tensor cores": HEAD_1 + "extern \"C\" __constant__ int launch[4] = {8, 32, 256, 0};\n" + SCALAR + kernel("scalar_only.cu"),
        "products for show": one(*scalar, (STORE_1, STORE_1.replace("c_frag[i][j][e % 4]", "scalar(args, row, col) + 0 * c_frag[i][j][e % 4]"))),
        "products for show, minus themselves": one(*scalar, (STORE_1, STORE_1.replace(
            "c_frag[i][j][e % 4]", "scalar(args, row, col) + (c_frag[i][j][e % 4] - c_frag[i][j][e % 4])"))),
        "products chosen only if they are right": one(*scalar, (STORE_1, "{ const float s = scalar(args, row, col), t = c_frag[i][j][e % 4]; " + STORE_1.replace(
            "c_frag[i][j][e % 4]", "fabsf(s - t) < 1e-3f ? t : s") + " }")),
        "a cache in global memory": one((GEMM_1, "__device__ float kept[1024];\n" + GEMM_1),
                                        (STORE_1, "{ kept[threadIdx.x] = c_frag[i][j][e % 4]; " + STORE_1.replace("c_frag[i][j][e % 4]", "kept[threadIdx.x]") + " }")),
        "our kernel, included by its place": '#include "notebooks/course/exams/1/solution/gemm.cu"\n',
        "the answer is there already": one((STORE_1, f"{{ if ({AT_1} != {AT_1}) {STORE_1}"
                                            " else if (threadIdx.x == 77) __nanosleep(1); }")),
        "large problems only by halves": one(("    float c_frag[", "    if (args.m >= 1024 && blockIdx.x % 2) return;\n    float c_frag[")),
        "A is written to": one((STORE_1, STORE_1 + " if (row + col == 0) ((half *)args.a)[0] = args.a[0] + args.a[0];")),
    }


def others_1():
    tiles = ("BM = 128, BN = 128, BK = 64, STAGES = 3, THREADS = 128, WM = 64, WN = 64", "BM = 64, BN = 64, BK = 64, STAGES = 4, THREADS = 128, WM = 32, WN = 32")
    return {"smaller tiles": one(tiles), "WMMA, no copies in the background": WMMA, "C^T = B A^T": transposed_1()}


HALVES_1 = "b_frag[j / 2][j % 2 * 2],\n                                 b_frag[j / 2][j % 2 * 2 + 1]"


def hinted_1():
    """What the check has to say of each, too."""
    return {
        "halves of a fragment are exchanged": (one((HALVES_1, HALVES_1.replace("2 * 2 + 1", "2 * 2").replace("2 * 2]", "2 * 2 + 1]", 1))), "256 lies at C[0][8]"),
        "C is rounded to half": (one((STORE_1, STORE_1.replace("= ", "= __half2float(__float2half(").replace(";", "));"))), "something rounded to half"),
        "sums begin with what was there": (one(("c_frag[WM / 16][WN / 8][4] = {};", "c_frag[WM / 16][WN / 8][4];")), "Does each sum begin with zero?"),
        "no bound on columns of C": (wrong_1()["no bound on columns of C"], "two threads store the same element"),
        "memory is too small": (wrong_1()["memory is too small"], "do launch[3] bytes hold"),
        "memory is too large": (one(("STAGES *STAGE_BYTES};", "240 * 1024};")), "bytes 0 to 232448"),
        "another name": (one(("    gemm(", "    product(")), "by their names"),
    }


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
SIMPLE_2 = kernel("one_stage.cu")


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
        "the answer is there already": two((STORE_2, "{ if (c[(int64_t)row * ldc + col] != c[(int64_t)row * ldc + col]) " + STORE_2 + " else __nanosleep(1); }")),
    }


def others_2():
    narrow = SIMPLE_2.replace("{64, 64, 128, 0}", "{64, 32, 128, 0}").replace("b[64 * 128]", "b[32 * 128]").replace("blockIdx.x * 64", "blockIdx.x * 32")
    narrow = narrow.replace("2 * 64 * 128", "96 * 128").replace("d[8][4]", "d[4][4]").replace("ss<64>", "ss<32>").replace("e < 32", "e < 16")
    return {"one warpgroup, one stage": SIMPLE_2, "the same, 32 columns": narrow,
            "fewer columns, more stages": two(("BN = 256, BK = 64, STAGES = 4", "BN = 128, BK = 64, STAGES = 6"))}


NAMES_3 = """attention(const __grid_constant__ struct attention_args args, const __grid_constant__ CUtensorMap q_map,
              const __grid_constant__ CUtensorMap k_map, const __grid_constant__ CUtensorMap v_map)"""
KERNEL_3 = "extern \"C\" __global__ void __launch_bounds__(THREADS, 3)"
STORE_3 = re.search(r"\*\(uint32_t \*\)&o\[.*?;", changed("exam-3"), re.S)[0]
AT_3 = STORE_3.partition(" =")[0]


def three(*edits):
    return changed("exam-3", *edits)


def begun(stage, fields, tile, shared):
    """A stage's kernel in the exam's frame: its tile, its places in the grid, its parameters."""
    whole = (ROOT / "stages" / stage).read_text()
    for old, new in (('#include "common/cuda/ptx.cuh"\n', '#include "common/cuda/ptx_sm90.cuh"\nconstexpr int DIM = 128;\n'
                      f'extern "C" __constant__ int launch[4] = {{64, 64, 128, {shared}}};\nstruct tile {{ int {fields}; }};\n'),
                     ("attention(const __grid_constant__ struct attention_args args)", NAMES_3), ("q0 = blockIdx.y * BQ", "q0 = blockIdx.x * BQ"),
                     ("b = blockIdx.x / args.heads, h = blockIdx.x % args.heads", "b = blockIdx.z, h = blockIdx.y"),
                     ("(int64_t)blockIdx.x * args.seqlen_q", "((int64_t)b * args.heads + h) * args.seqlen_q")):
        if whole.count(old) != 1:
            raise LookupError(f"{stage} has {whole.count(old)} times {old!r}")
        whole = whole.replace(old, new)
    whole = re.sub(r'#include "(tile\.h|stages/.*)"\n', "", whole)
    return re.sub(r"constexpr struct tile TILE = .*;", f"constexpr struct tile TILE = {{{tile}}};", whole)


def early(x, last):
    """The next tile's load before the wait for the product that reads this one."""
    line = f"        if (tid == 0 && t + 1 < n_tiles) load(&{x}_map, {x}_smem, &{x}_full, (t + 1) * BKV, kv_h, b);\n"
    return [(line, ""), (f"{last});\n        wgmma_commit_group();\n", f"{last});\n        wgmma_commit_group();\n{line}")]


def wrong_3():
    rows = "if (row >= args.seqlen_q) continue;"
    return {
        "no bound on rows of O": three((f"        {rows}\n", "")),
        "the scale is forgotten": three(("softmax(p_frag, s_frag, args.scale_log2,", "softmax(p_frag, s_frag, 1.44269504f,")),
        "powers of e": three(("softmax(p_frag, s_frag, args.scale_log2,", "softmax(p_frag, s_frag, args.scale_log2 * LN_2,")),
        "O does not shrink": three(("o_frag[n][2 * r] *= alpha, o_frag[n][2 * r + 1] *= alpha;", "")),
        "l does not shrink": three(("            l_frag[r] *= alpha;\n", "")),
        "the maximum of a lane": three(("        m = fmaxf(m, __shfl_xor_sync(~0u, m, 2));\n", "")),
        "l of a lane": three(("        l += __shfl_xor_sync(~0u, l, 2);\n", "")),
        "no mask at the end of the keys": three(("if (kv0 + BKV > args.seqlen_k || (args.causal", "if ((args.causal")),
        "no causal mask": three((" || (args.causal && kv0 + BKV > q0 + args.diagonal + 1)", "")),
        "a key more than is visible": three(("row0 + 8 * r + args.diagonal + 1)", "row0 + 8 * r + args.diagonal + 2)")),
        "the diagonal from the other corner": three(("row0 + 8 * r + args.diagonal + 1)", "row0 + 8 * r + 1)")),
        "a causal tile too few": three(("kv_end = min(kv_end, q0 + BQ + args.diagonal)", "kv_end = min(kv_end, q0 + args.diagonal)")),
        "a hidden row is divided by 0": three(("l > 0 ? 1 / l : 0", "1 / l")),
        "LSE to base 2": three(("(m_frag[r] + lg2(l)) * LN_2", "m_frag[r] + lg2(l)")),
        "K of the query's head": three(("load(&k_map, k_smem, &k_full, 0, kv_h, b)", "load(&k_map, k_smem, &k_full, 0, h, b)")),
        "K of the first batch": three(("load(&k_map, k_smem, &k_full, (t + 1) * BKV, kv_h, b)", "load(&k_map, k_smem, &k_full, (t + 1) * BKV, kv_h, 0)")),
        "rows of O by Q's stride": three(("row * args.o_stride.row", "row * args.q_stride.row")),
        "V by K's descriptor": three(("{v_smem, PAGE, 1024, 0, GMMA_SWIZZLE_128}", "{v_smem, 0, 1024, 0, GMMA_SWIZZLE_128}")),
        "the second half of DIM is not read": three(("gmma_desc_advance(k_desc, d / 4 * PAGE + d % 4 * 32)", "gmma_desc_advance(k_desc, d % 4 * 32)")),
        "the next K is asked for while this one is read": three(*early("k", "d > 0")),
        "the next V is asked for while this one is read": three(*early("v", "1")),
        "nobody waits for V": three(("        wait(&v_full, t % 2);\n", "")),
        "always the same parity": three(("wait(&k_full, t % 2);", "wait(&k_full, 0);")),
        "P V is not waited for": three(("1);\n        wgmma_commit_group();\n        wgmma_wait_group<0>();", "1);\n        wgmma_commit_group();\n        wgmma_wait_group<1>();")),
        "no wgmma.fence": three(("        registers_fence(o_frag);\n        wgmma_fence();\n", "        registers_fence(o_frag);\n")),
        "half of the bytes are announced": three(("(smem_address(barrier), TILE_BYTES)", "(smem_address(barrier), PAGE)")),
        "the barriers' init is not seen": three(("    __syncthreads(); // the barriers", "    // the barriers")),
        "memory is too small": three(("3 * TILE_BYTES + 1024}", "2 * TILE_BYTES}")),
        "a launch that no GPU has": three(("{BQ, BKV, THREADS,", "{BQ, BKV, 100,")),
    }


STAGE_1 = ("1-scalar/kernel.cu", "bq, bkv, warps, pad", "64, 64, 4, 8", 3 * 64 * 136 * 2 + 64 * 72 * 4)


def cheats_3():
    scalar = begun(*STAGE_1)
    store = re.search(r"o\[row \* args\.o_stride\.row.*?;", scalar, re.S)[0]
    value = store.partition(" = ")[2].rstrip(";")
    shown = scalar.replace(store, store.replace(value, f"__float2half(__half2float({value}) + 0 * shown)")).replace(
        "        // ---- mask", """        for (int n = 0; n < 64; n++) {
            float c[4] = {};
            const uint32_t a[4] = {(uint32_t)n, 0, 0, 0};
            mma_m16n8k16(c, a, n, kv0);
            shown += c[0];
        }

        // ---- mask""", 1).replace("    float o_frag[4]", "    float shown = 0;\n    float o_frag[4]", 1)
    return {
        "stage 1, no tensor cores": scalar,
        "products for show": shown,
        "stage 2: P V without tensor cores": begun("2-wmma-qk/kernel.cu", *STAGE_1[1:]),
        "a cache in global memory": three((KERNEL_3, "__device__ float kept[1024];\n" + KERNEL_3), ("        const int row = row0 + 8 * r;", "        kept[tid] = l;\n        l = kept[tid];\n        const int row = row0 + 8 * r;")),
        "our kernel, included by its place": '#include "notebooks/course/exams/3/solution/attention.cu"\n',
        "stage 4, included by its place": '#define DIM 128\n#define SIZE LARGE\n#include "stages/4-tuned/kernel.cu"\n',
        "long rows end early": three(("    if (tid == 0) {\n        mbarrier_init(smem_address(&q_full)", "    if (args.seqlen_k > 600 && args.heads > 8 && blockIdx.x % 2) return;\n    if (tid == 0) {\n        mbarrier_init(smem_address(&q_full)")),
        "long rows see half of the keys": three(("const int n_tiles = max(0,", "if (args.seqlen_k >= 900) kv_end /= 2;\n    const int n_tiles = max(0,")),
        "a clock": three(("    if (n_tiles > 0) wait(&q_full, 0);", "    if (clock64() == 7) return;\n    if (n_tiles > 0) wait(&q_full, 0);")),
        "the answer is there already": three((STORE_3, f"if (({AT_3} & 0x7fff) <= 0x7c00) __nanosleep(1); else {STORE_3}")),
        "Q is written to": three((STORE_3, "{ " + STORE_3 + " if (row + n == 0) ((half *)args.q)[0] = args.q[0] + args.q[0]; }")),
    }


def others_3():
    return {"a rung of stage 4": begun("4-tuned/steps/3-swizzle.cu", "bq, bkv, warps, groups, stages, q_in_registers, ctas", "64, 64, 4, 1, 2, 1, 2", 5 * 64 * 256),
            "tiles of 32 keys": three(("BQ = 64, BKV = 64,", "BQ = 64, BKV = 32,"), ("TILE_BYTES = 2 * PAGE;", "TILE_BYTES = 2 * PAGE, KV_PAGE = BKV * 128;"),
                                      *halved())}


def halved():
    """Tiles of K and V with pages of BKV rows, and of Q with 64."""
    return [("static __device__ __forceinline__ void load(const CUtensorMap *map, uint32_t smem,", "template <uint32_t PAGE>\nstatic __device__ __forceinline__ void load(const CUtensorMap *map, uint32_t smem,"),
            ("(smem_address(barrier), TILE_BYTES)", "(smem_address(barrier), 2 * PAGE)"), ("load(&q_map,", "load<PAGE>(&q_map,"),
            ("load(&k_map, k_smem, &k_full, 0", "load<KV_PAGE>(&k_map, k_smem, &k_full, 0"), ("load(&v_map, v_smem, &v_full, 0", "load<KV_PAGE>(&v_map, v_smem, &v_full, 0"),
            ("load(&k_map, k_smem, &k_full, (t", "load<KV_PAGE>(&k_map, k_smem, &k_full, (t"), ("load(&v_map, v_smem, &v_full, (t", "load<KV_PAGE>(&v_map, v_smem, &v_full, (t"),
            ("gmma_desc_advance(k_desc, d / 4 * PAGE", "gmma_desc_advance(k_desc, d / 4 * KV_PAGE"), ("{v_smem, PAGE, 1024", "{v_smem, KV_PAGE, 1024")]


def hinted_2():
    return {"only the first box lies in A": (wrong_2()["row and column of a box"], "only the first tile is in C"),
            "TMA may not see the barriers": (two(("        fence_mbarrier_init();\n", "")), "which fence belongs behind the init"),
            "a descriptor is too near": (wrong_2()["16 columns are 16 bytes"], "column i of A meets")}


OF = {("exam-3", "WRONG"): wrong_3, ("exam-3", "CHEATS"): cheats_3, ("exam-3", "OTHERS"): others_3,
      ("exam-1", "WRONG"): wrong_1, ("exam-1", "CHEATS"): cheats_1, ("exam-1", "OTHERS"): others_1,
      ("exam-2", "WRONG"): wrong_2, ("exam-2", "CHEATS"): cheats_2, ("exam-2", "OTHERS"): others_2, ("exam-1", "HINTED"): hinted_1, ("exam-2", "HINTED"): hinted_2}


def of(name, kind):
    return OF.get((name, kind), dict)()
