"""Submissions that deserve nothing: {name: (lab, {file: text})}, made from the solutions of the labs.

What others' graders lost to is among them (kernelbot, pygpubench): answers replayed from an earlier launch, one launch
that works for the next ones, work skipped where the answer is there already, NaN where the checker takes it for anything,
timers and checks that the submission itself patches (run.py: the time stays what it is), host code that runs while it
is loaded."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
QK = "stages/2-wmma-qk/kernel.cu"
SWIZZLE = "stages/4-tuned/steps/3-swizzle.cu"
S_READ = "for (int j = 0; j < BKV / 8; j++) s_frag[i][j] = s_smem[row0 + 4 * i][col0 + 8 * j];"
BEGIN = "    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;\n"


def text(path):
    return (ROOT / path).read_text()


def changed(path, *edits):
    """The solution with texts replaced, each of which is there exactly once."""
    whole = text(path)
    for old, new in edits:
        if whole.count(old) != 1:
            raise LookupError(f"{path} has {whole.count(old)} times {old!r}")
        whole = whole.replace(old, new)
    return whole


def scalar(value):
    """Lab 2 whose S is made one multiply at a time; `value` says what becomes of it and of the tensor cores' s."""
    return changed(QK, (S_READ, f"""for (int j = 0; j < BKV / 8; j++) {{
                const float s = s_smem[row0 + 4 * i][col0 + 8 * j];
                float sum = 0;
                for (int d = 0; d < DIM; d++)
                    sum += __half2float(q_smem[row0 + 4 * i][d]) * __half2float(k_smem[col0 + 8 * j][d]);
                s_frag[i][j] = {value};
            }}"""))


EMPTY = """#include "common/cuda/attention_args.h"
%s
extern "C" __global__ void __launch_bounds__(128) attention(const __grid_constant__ struct attention_args args) {
%s
}
"""


def kernel(body, before=""):
    return EMPTY % (before, body)


SCALAR = "stages/1-scalar/kernel.cu"
TURNS = "stages/6-wgmma-attention/steps/5-turns.cu"
# 192 rows of O, one a thread, one multiply at a time
ROW_BY_ROW = """static __device__ void row_by_row(const struct attention_args &args, int row) {
    const int n_tiles = (args.seqlen_q + 191) / 192, b = blockIdx.x / n_tiles / args.heads;
    const int h = blockIdx.x / n_tiles % args.heads, kv_h = h / (args.heads / args.kv_heads);
    const half *k = args.k + b * args.k_stride.batch + kv_h * args.k_stride.head;
    const half *v = args.v + b * args.v_stride.batch + kv_h * args.v_stride.head;
    row += blockIdx.x % n_tiles * 192;
    if (threadIdx.x >= 192 || row >= args.seqlen_q) return;
    const half *q = args.q + b * args.q_stride.batch + h * args.q_stride.head + row * args.q_stride.row;
    half *o = args.o + b * args.o_stride.batch + h * args.o_stride.head + row * args.o_stride.row;
    float q_frag[64], o_frag[64] = {}, m = -INFINITY, l = 0;
    for (int d = 0; d < 64; d++) q_frag[d] = __half2float(q[d]);
    const int end = args.causal ? min(args.seqlen_k, row + args.diagonal + 1) : args.seqlen_k;
    for (int j = 0; j < end; j++) {
        float s = 0;
        for (int d = 0; d < 64; d++) s += q_frag[d] * __half2float(k[j * args.k_stride.row + d]);
        const float m_new = fmaxf(m, s * args.scale_log2), alpha = exp2f(m - m_new);
        const float p = exp2f(s * args.scale_log2 - m_new);
        l = l * alpha + p, m = m_new;
        for (int d = 0; d < 64; d++) o_frag[d] = o_frag[d] * alpha + p * __half2float(v[j * args.v_stride.row + d]);
    }
    for (int d = 0; d < 64; d++) o[d] = __float2half(l > 0 ? o_frag[d] / l : 0);
    args.lse[((int64_t)b * args.heads + h) * args.seqlen_q + row] = (m + log2f(l)) * 0.69314718f;
}
"""
ENTRY_6 = """extern "C" __global__ void __launch_bounds__(512, 1)
    attention(const __grid_constant__ struct attention_args args, const __grid_constant__ CUtensorMap q_map,
              const __grid_constant__ CUtensorMap k_map, const __grid_constant__ CUtensorMap v_map) {
"""


def anywhere(path, begin, included, image, first_of_next_head):
    """What can be tried on any lab: its kernel, the line of it where a cheat begins, what it includes, its image."""
    def at_the_start(code):
        return changed(path, (begin, begin + code))

    whole = text(path)
    return {
        "our kernel, included": f'#include "{path}"\n',
        "our kernel, included by its place": f'#include "{ROOT / path}"\n',
        "our kernel, embedded": at_the_start(f'    asm volatile(".incbin \\"/trial/images/{image}\\"");\n'),
        "an image in host code": at_the_start("    return;\n") + f'asm(".incbin \\"{ROOT}/build/images/{image}\\"");\n',
        "no output": at_the_start("    return;\n"),
        "the shape recognised": at_the_start("    if (args.seqlen_q != 512 || args.seqlen_k != 512) return;\n"),
        "nothing under the predictor": at_the_start("    if (args.seqlen_k >= 512 && args.seqlen_q >= 128) return;\n"),
        "the first head only": at_the_start(f"    if (blockIdx.x >= {first_of_next_head}) return;\n"),
        "inputs overwritten": at_the_start("    if (threadIdx.x == 0) ((half *)args.v)[0] = __float2half(0.0f);\n"),
        "a cache in global memory": changed(path, ('extern "C" __global__', '__device__ half cached[1 << 16];\nextern "C" __global__'),
                                            (begin, begin + "    cached[threadIdx.x] = args.o[threadIdx.x];\n")),
        "batch and skip": changed(path, ('extern "C" __global__', '__device__ unsigned done;\nextern "C" __global__'),
                                  (begin, begin + "    if (done > 64) return;\n    if (threadIdx.x == 0) atomicAdd(&done, 1u);\n")),
        "not a number, for any answer": at_the_start("    args.o[threadIdx.x] = __float2half(NAN);\n    return;\n"),
        "the answer is there already": at_the_start("""    const half there = *(volatile half *)args.o;
    if (__half2float(there) == __half2float(there)) return;
"""),
        "right only when it is slow": at_the_start("    if (clock64() % 1000003 == 0) return;\n"),
        "right only on some SMs": at_the_start('    unsigned sm;\n    asm("mov.u32 %0, %%smid;" : "=r"(sm));\n    if (sm > 200) return;\n'),
        "the verdict written": "#include <cstdio>\n" + at_the_start("    return;\n") + """__attribute__((constructor)) static void cheat() {
    FILE *f = fopen("report.json", "w");
    if (f) fputs("{\\"passed\\": true}", f), fclose(f);
}
__device__ int verdict;
""",
        "the environment included": '#include "/proc/self/environ"\n' + whole,
        "the cases included": '#include "/trial/cases.json"\n' + whole,
        "reads beyond its tensors": at_the_start("    if (__half2float(args.q[-4000000 - (int)threadIdx.x]) == 7) return;\n"),
        "the kernel renamed": "#define attention not_attention\n" + whole,
        "ex2 renamed": changed(path, (included, included + "#define ex2(x) (1.0f + (x))\n")),
        "an endless loop": at_the_start("    for (volatile int i = 0; args.seqlen_q > 0; i = i + 1) {}\n"),
        "a deadlock": at_the_start('    if (threadIdx.x < 32) __syncthreads();\n    else asm volatile("bar.sync 1, 128;");\n'),
        "not text": "\0\1\2" + whole,
    }


def all():
    """{name: (lab, {file: text})}; those of lab 2, the most, by their bare names."""
    given = {name: (2, {"kernel.cu": whole}) for name, whole in of_lab_2().items()}
    scalar = anywhere(SCALAR, BEGIN, '#include "tile.h"\n', "stage-1/d64.compute_89.ptx", "1")
    scalar |= {"tensor cores in the scalar lab": text(QK), "products of fp64 tensor cores": changed(SCALAR, (part(SCALAR, *PRODUCTS_1), FP64))}
    turns = anywhere(TURNS, "    extern __shared__ unsigned char smem[];\n", '#include "tile.h"\n',
                     "stage-6/d64-5-turns.compute_90a.ptx", "(args.seqlen_q + 191) / 192")
    turns |= {"no products at all": '#include "common/cuda/attention_args.h"\n#include "common/cuda/ptx_sm90.cuh"\n' + ROW_BY_ROW
              + ENTRY_6 + "    row_by_row(args, threadIdx.x);\n}\n",
              "useless products": changed(TURNS, ('extern "C" __global__', ROW_BY_ROW + 'extern "C" __global__'),
                                          ("warpgroup, n_blocks, h, b, warpgroup);\n    }\n", "warpgroup, n_blocks, h, b, warpgroup);\n"
                                           "        bar_sync(7, 384);\n        row_by_row(args, threadIdx.x);\n    }\n")),
              "S by mma.sync": changed(TURNS, (part(TURNS, "static __device__ __forceinline__ void issue_qk", "// ---- O += P V, issued only"), MMA_6)),
              "nobody waits": changed(TURNS, ("// ---- load Q, K, V: one thread\n", "#define wait_full(r) ((void)(r))\n"))}
    rest = {"pipeline.cuh": text("stages/6-wgmma-attention/pipeline.cuh")}
    given |= {f"lab 1, {name}": (1, {"kernel.cu": whole}) for name, whole in scalar.items()}
    given |= {f"lab 6, {name}": (6, {"5-turns.cu": whole, **rest}) for name, whole in turns.items()}
    return given


WGMMA = "stages/5-wgmma/kernel.cu"


def wrong():
    """{name: (lab, {file: text})} of kernels that an H200 or the reference calls wrong, and that once had all points."""
    rest = {"wgmma_fragment.h": text("stages/5-wgmma/wgmma_fragment.h")}
    return {
        "tiles at address 0": (5, rest | {"kernel.cu": text(WGMMA).replace("smem + args.a_start[s]", "args.a_start[s]")
                                          .replace("smem + args.b_start[s]", "args.b_start[s]")}),
        "what is in d already is added": (5, rest | {"kernel.cu": changed(WGMMA, ("args.b_start[s]), s > 0);", "args.b_start[s]), 1);"))}),
        "K with the stride of V": (1, {"kernel.cu": text(SCALAR).replace("args.k_stride.row", "args.v_stride.row")}),
        "V with the stride of K": (1, {"kernel.cu": text(SCALAR).replace("args.v_stride.row", "args.k_stride.row")}),
        "every other tile": (6, {"5-turns.cu": changed(TURNS, ("    for (n--; n >= 0; n--) {\n", "    for (n--; n >= 0; n -= 2) {\n")),
                                 "pipeline.cuh": text("stages/6-wgmma-attention/pipeline.cuh")}),
        # found by one_token.py: scores far apart, and masks of the second tile
        "a maximum of more than the row": (1, {"kernel.cu": changed(SCALAR, (
            "for (int j = 0; j < BKV / 8; j++) m_new =", "for (int j = 0; j <= BKV / 8; j++) m_new ="))}),
        "the mask of another tile": (6, {"5-turns.cu": changed(TURNS, ("mask(s_frag, args, q0 + row0, n * BKV);\n        wgmma_wait_group<0>", "mask(s_frag, args, q0 + row0, n * n);\n        wgmma_wait_group<0>")),
                                        "pipeline.cuh": text("stages/6-wgmma-attention/pipeline.cuh")}),
        # tensors begin at a multiple of 16 bytes
        "Q at a multiple of 128 bytes": (2, {"kernel.cu": changed(QK, ("const half *q = args.q + b", "const half *q = (const half *)((uintptr_t)args.q & ~127ull) + b"))}),
        "O at a multiple of 128 bytes": (1, {"kernel.cu": changed(SCALAR, ("half *o = args.o + b", "half *o = (half *)((uintptr_t)args.o & ~127ull) + b"))}),
        "O with the stride of Q": (2, {"kernel.cu": text(QK).replace("args.o_stride", "args.q_stride")}),
        # heads, lengths and scores that cases did not have
        "the head of K by remainder": (2, {"kernel.cu": changed(QK, ("h / (args.heads / args.kv_heads)", "h % args.kv_heads"))}),
        "a maximum that begins at 0": (1, {"kernel.cu": changed(SCALAR, ("m_frag[i] = -INFINITY,", "m_frag[i] = 0,"))}),
        "the last key of the last row": (3, {"kernel.cu": changed("stages/3-wmma-pv/kernel.cu", ("q0 + BQ + args.diagonal)", "q0 + BQ - 1 + args.diagonal)"))}),
        "rows of K as long as the image's": (1, {"kernel.cu": changed(SCALAR, (
            "args.k_stride.row, args.seqlen_k - kv0,\n                  args.head_dim);", "args.k_stride.row, args.seqlen_k - kv0,\n                  DIM);"))}),
        "a last tile of 16, 32 or 48 keys": (1, {"kernel.cu": changed(SCALAR, (
            "int n_visible = args.seqlen_k - kv0;", "int n_visible = args.seqlen_k % 16 ? args.seqlen_k - kv0 : BKV;"))}),
        "no tile where no key is seen": (6, {"5-turns.cu": changed(TURNS, ("max(1, (kv_end + BKV - 1) / BKV);", "(kv_end + BKV - 1) / BKV;")),
                                           "pipeline.cuh": text("stages/6-wgmma-attention/pipeline.cuh")}),
    }


# The identity times K is K, and Q times the identity is Q: of what tensor cores have copied so, S is made by hand.
COPIED = """        {
            __shared__ __align__(32) half unit[16][24];
            __shared__ __align__(32) float k_seen[BKV][DIM + 4], q_seen[BQ][DIM + 4];
            for (int e = tid; e < 256; e += THREADS) unit[e / 16][e % 16] = __float2half(e / 16 == e % 16);
            __syncthreads();
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> unit_a;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> unit_b, k_frag;
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
            wmma::load_matrix_sync(unit_a, &unit[0][0], 24);
            wmma::load_matrix_sync(unit_b, &unit[0][0], 24);
            for (int d = 0; d < DIM / 16; d++)
                for (int n = 0; n < BKV / 16; n++) {
                    wmma::fill_fragment(sum, 0);
                    wmma::load_matrix_sync(k_frag, &k_smem[n * 16][d * 16], LD);
                    wmma::mma_sync(sum, unit_a, k_frag, sum);
                    if (n == warp) wmma::store_matrix_sync(&k_seen[n * 16][d * 16], sum, DIM + 4, wmma::mem_row_major);
                }
            for (int d = 0; d < DIM / 16 && kv0 == 0; d++) {
                wmma::fill_fragment(sum, 0);
                wmma::mma_sync(sum, q_frag[d], unit_b, sum);
                wmma::store_matrix_sync(&q_seen[warp * 16][d * 16], sum, DIM + 4, wmma::mem_row_major);
            }
            wmma::fill_fragment(sum, 0);
            wmma::mma_sync(sum, unit_a, unit_b, sum);
            float one = 0;
            for (int e = 0; e < sum.num_elements; e++) one = fmaxf(one, sum.x[e]);
            for (int x = 16; x; x /= 2) one = fmaxf(one, __shfl_xor_sync(~0u, one, x));
            __syncthreads();
            float s[4][BKV / 8] = {};
#pragma unroll 4
            for (int d = 0; d < DIM; d++)
                for (int i = 0; i < 4; i++)
                    for (int j = 0; j < BKV / 8; j++) s[i][j] += q_seen[row0 + 4 * i][d] * k_seen[col0 + 8 * j][d];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < BKV / 8; j++) s_smem[row0 + 4 * i][col0 + 8 * j] = s[i][j] / one;
        }
"""


def part(path, begin, end):
    whole = text(path)
    return whole[whole.index(begin):whole.index(end)]


PRODUCTS_1 = "#pragma unroll 8\n        for (int d = 0; d < DIM; d++) {", "        // ---- mask"
FP64 = """            for (int m = 0; m < 2; m++)
                for (int n = 0; n < BKV / 8; n++) {
                    const int row = warp * 16 + m * 8 + lane / 4;
                    double c0 = 0, c1 = 0;
                    for (int d = lane % 4; d < DIM; d += 4) {
                        double a = __half2float(q_smem[row][d]), b = __half2float(k_smem[n * 8 + lane / 4][d]);
                        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(c0), "+d"(c1) : "d"(a), "d"(b));
                    }
                    s_smem[row][n * 8 + lane % 4 * 2] = c0, s_smem[row][n * 8 + lane % 4 * 2 + 1] = c1;
                }
            __syncwarp();
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < BKV / 8; j++) s_frag[i][j] = s_smem[row0 + 4 * i][col0 + 8 * j];
            __syncwarp();

"""
# S by mma.sync, whose accumulators lie where those of wgmma do; and wgmma for show
MMA_6 = """static __device__ __forceinline__ void issue_qk(float (&s_frag)[BKV / 8][4], uint64_t q_desc, uint64_t k_desc) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
    auto at = [](uint64_t desc, int row, int chunk) { return (uint32_t(desc & 0x3fff) << 4) + row * 128 + (chunk ^ row % 8) * 16; };
#pragma unroll
    for (int n = 0; n < BKV / 8; n++)
        for (int e = 0; e < 4; e++) s_frag[n][e] = 0;
    for (int d = 0; d < DIM / 16; d++) {
        uint32_t a[4], b[4];
        ldmatrix_x4(a, at(q_desc, warp * 16 + lane % 16, 2 * d + lane / 16));
#pragma unroll
        for (int n = 0; n < BKV / 16; n++) {
            ldmatrix_x4(b, at(k_desc, n * 16 + lane / 16 * 8 + lane % 8, 2 * d + lane / 8 % 2));
            mma_m16n8k16(s_frag[2 * n], a, b[0], b[1]);
            mma_m16n8k16(s_frag[2 * n + 1], a, b[2], b[3]);
        }
    }
    float show[BKV / 8][4];
    for (int d = 0; d < DIM / 16; d++) wgmma_m64k16_ss<BKV>(show, gmma_desc_advance(q_desc, d * 32), gmma_desc_advance(k_desc, d * 32), d > 0);
    wgmma_commit_group();
    wgmma_wait_group<0>();
    registers_fence(show);
}

"""


def of_lab_2():
    return {
        "copies by tensor cores, products by hand": changed(QK, (part(QK, "        for (int n = 0; n < BKV / 16; n++) {\n            wmma::fragment", "        __syncwarp(); // 32 lanes wrote"), COPIED)),
        # the lab's point missed: scalar answers, with products of tensor cores for show
        "useless products": scalar("sum"),
        "useless products, times 1e-30": scalar("sum + 1e-30f * s"),
        "useless products, minus themselves": scalar("sum + (s - s_smem[row0 + 4 * i][col0 + 8 * j])"),
        "no products at all": text("stages/1-scalar/kernel.cu"),
        # other kernels
        "another lab's kernel": text("stages/3-wmma-pv/kernel.cu"),
        "our kernel, included": '#include "stages/2-wmma-qk/kernel.cu"\n',
        "our kernel, included by its place": f'#include "{ROOT / QK}"\n',
        "our kernel, embedded": changed(QK, (BEGIN, BEGIN + '    asm volatile(".incbin \\"/trial/images/stage-2/d64.compute_89.ptx\\"");\n')),
        "an image in host code": kernel("", f'asm(".incbin \\"{ROOT}/build/images/stage-2/d64.compute_89.ptx\\"");'),
        # answers that are none
        "constant output": kernel("""    const long long i = blockIdx.x * (long long)args.o_stride.head + blockIdx.y * 64 * args.o_stride.row;
    for (int n = threadIdx.x; n < 64 * 64; n += 128)
        if (blockIdx.y * 64 + n / 64 < args.seqlen_q) args.o[i + n / 64 * args.o_stride.row + n % 64] = __float2half(0.01f);"""),
        "no output": kernel(""),
        "the shape recognised": changed(QK, (BEGIN, BEGIN + "    if (args.seqlen_q != 512 || args.seqlen_k != 512) return;\n")),
        "the first head only": changed(QK, (BEGIN, BEGIN + "    if (blockIdx.x) return;\n")),
        "inputs overwritten": changed(QK, (BEGIN, BEGIN + "    if (tid == 0) ((half *)args.v)[0] = __float2half(0.0f);\n")),
        # what outlives a launch, or tells one launch from another
        "a cache in global memory": changed(QK, ('extern "C" __global__', '__device__ half cached[1 << 16];\nextern "C" __global__'),
                                            (BEGIN, BEGIN + "    cached[tid] = args.o[tid];\n")),
        "batch and skip": changed(QK, ('extern "C" __global__', '__device__ unsigned done;\nextern "C" __global__'),
                                  (BEGIN, BEGIN + "    if (done > 64) return;\n    if (tid == 0) atomicAdd(&done, 1u);\n")),
        "not a number, for any answer": changed(QK, (BEGIN, BEGIN + "    args.o[tid] = __float2half(NAN);\n    return;\n")),
        "the answer is there already": changed(QK, (BEGIN, BEGIN + """    const half there = *(volatile half *)args.o;
    if (__half2float(there) == __half2float(there)) return;
""")),
        "right only when it is slow": changed(QK, (BEGIN, BEGIN + "    if (clock64() % 1000003 == 0) return;\n")),
        "right only on some SMs": changed(QK, (BEGIN, BEGIN + "    unsigned sm;\n    asm(\"mov.u32 %0, %%smid;\" : \"=r\"(sm));\n    if (sm > 200) return;\n")),
        # outside of the kernel
        "the verdict written": kernel("", """#include <cstdio>
__attribute__((constructor)) static void cheat() {
    FILE *f = fopen("report.json", "w");
    if (f) fputs("{\\"passed\\": true}", f), fclose(f);
}"""),
        "the environment included": '#include "/proc/self/environ"\n',
        "the cases included": '#include "/trial/cases.json"\n' + text(QK),
        "reads beyond its tensors": changed(QK, (BEGIN, BEGIN + "    if (__half2float(args.q[-4000000 - tid]) == 7) return;\n")),
        # our names for something else
        "mma_sync renamed": changed(QK, ("using namespace nvcuda;", """using namespace nvcuda;
template <class D, class A, class B> static __device__ void no_mma(D &d, const A &, const B &, const D &) {
    for (int i = 0; i < d.num_elements; i++) d.x[i] = 0;
}
#define mma_sync(d, a, b, c) fill_fragment(d, 0.0f), no_mma(d, a, b, c)
""")),
        "the kernel renamed": "#define attention not_attention\n" + text(QK),
        "barriers renamed": "#define __syncthreads() ((void)0)\n#define __syncwarp() ((void)0)\n" + text(QK),
        "tiles renamed": '#include "stages/2-wmma-qk/tile.h"\n#define tile_of(dim) (struct tile{64, 32, 4, 0})\n' + text(QK),
        # what does not end
        "an endless loop": changed(QK, (BEGIN, BEGIN + "    for (volatile int i = 0; args.seqlen_q > 0; i = i + 1) {}\n")),
        "a deadlock": changed(QK, (BEGIN, BEGIN + "    if (warp == 0) __syncthreads();\n    else asm volatile(\"bar.sync 1, 128;\");\n")),
        "memory without end": kernel("    volatile char mine[1 << 27];\n    for (int i = 0; i < 1 << 27; i += 4096) mine[i] = 1;\n"
                                     "    args.o[0] = __float2half(mine[args.seqlen_q]);"),
        "a compile without end": "template <int N, int M> struct f { static constexpr int v = f<N - 1, 2 * M>::v + f<N - 1, 2 * M + 1>::v; };\n"
                                 "template <int M> struct f<0, M> { static constexpr int v = M; };\n"
                                 + kernel("    args.o[0] = __float2half(float(f<28, 1>::v));"),
        "macros without end": "#define A0 x+x+x+x+x+x+x+x+x+x\n" + "".join(
            f"#define A{n} " + "+".join([f"A{n - 1}"] * 10) + "\n" for n in range(1, 9))
            + kernel("    float x = args.scale_log2;\n    args.o[0] = __float2half(A8);"),
        "a file without end": kernel("", "// " + "x" * (300 << 10)),
        "not text": "\0\1\2" + text(QK),
    }
