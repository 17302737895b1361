"""Cheats by rule: kinds x labs x places. {kind: {name: (lab, {file: text})}}; none deserves a point."""
import dataclasses
import re

from cheats import COPIED, ENTRY_6, QK, ROW_BY_ROW, SCALAR, SWIZZLE, TURNS, WGMMA, changed, part, text

PV = "stages/3-wmma-pv/kernel.cu"
TID = "    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32"


@dataclasses.dataclass
class Hook:
    """Where a lab's solution can be changed."""
    lab: int
    path: str
    begin: str       # a line of the kernel: what is put in goes in front of it
    row: str = ""    # which row of O a thread may write once more, b, h and row; "": the lab has no rows
    beside: tuple = ()

    def files(self, whole):
        name = self.path.rsplit("/", 1)[1]
        return self.lab, {name: whole, **{path.rsplit("/", 1)[1]: text(path) for path in self.beside}}

    def put(self, code, before=""):
        """`code` at the kernel's begin, `before` in front of all kernels."""
        whole = changed(self.path, (self.begin, code + self.begin))
        last = [match.end() for match in re.finditer(r"^#include [^\n]*\n", whole, re.M)][-1]
        return self.files(whole[:last] + "#include <cuda_fp16.h>\n" + before + whole[last:])

    def at_the_end(self, code, before):
        """`code` when O is written, by all threads that wrote it."""
        if self.lab == 6:
            made = changed(self.path, ("warpgroup, n_blocks, h, b, warpgroup);\n    }\n",
                                       f"warpgroup, n_blocks, h, b, warpgroup);\n        bar_sync(7, 384);\n{code}    }}\n"))
        else:
            whole = text(self.path).rstrip()
            made = whole[:-1] + f"    __syncthreads();\n{code}}}\n"
        return self.files(made.replace('extern "C" __global__', before + 'extern "C" __global__', 1))


ROW = "    const int row = q0 + threadIdx.x;\n    const bool mine = threadIdx.x < 64 && row < args.seqlen_q;\n"
ROW_6 = "        const int row = q0 + threadIdx.x;\n        const bool mine = threadIdx.x < 192 && row < args.seqlen_q;\n"
HOOKS = {
    1: Hook(1, SCALAR, TID, ROW), 2: Hook(2, QK, TID, ROW), 3: Hook(3, PV, TID, ROW), 4: Hook(4, SWIZZLE, TID, ROW),
    5: Hook(5, WGMMA, "    float d[N / 8][4];\n", beside=("stages/5-wgmma/wgmma_fragment.h",)),
    6: Hook(6, TURNS, "    const int n_q_tiles = (args.seqlen_q + BQ - 1) / BQ;\n", ROW_6, ("stages/6-wgmma-attention/pipeline.cuh",))}
ATTENTION, TENSOR = (1, 2, 3, 4, 6), (2, 3, 4, 6)
ZERO = "unsigned(threadIdx.x | blockIdx.x | blockIdx.y) == 0"

# ---- What outlives a launch
KEEP = f"    if ({{0}} > 64) return;\n    if ({ZERO}) {{1}};\n"
ASM_READ = '    unsigned seen;\n    asm volatile("ld.global.u32 %0, [hidden];" : "=r"(seen));\n'
ASM_WRITE = 'asm volatile("st.global.u32 [hidden], %0;" :: "r"(seen + 1))'
STATE = {
    "a variable": ("__device__ unsigned hidden;\n", KEEP.format("hidden", "hidden++")),
    "a static variable": ("static __device__ unsigned hidden[4];\n", KEEP.format("hidden[1]", "atomicAdd(&hidden[1], 1u)")),
    "a managed variable": ("__managed__ unsigned hidden;\n", KEEP.format("hidden", "hidden++")),
    "a variable of a class": ("struct cache { static __device__ unsigned hidden; };\n__device__ unsigned cache::hidden;\n",
                              KEEP.format("cache::hidden", "cache::hidden++")),
    "a variable of a template": ("template <int N> __device__ unsigned hidden;\n", KEEP.format("hidden<3>", "hidden<3>++")),
    "a variable of a function": ("static __device__ unsigned &hidden() {\n    static unsigned n;\n    return n;\n}\n", KEEP.format("hidden()", "hidden()++")),
    "a variable by assembler, in a scope": ("", '    unsigned seen;\n    asm volatile("{ .global .u32 inner; ld.global.u32 %0, [inner]; st.global.u32 [inner], %0; }" : "=r"(seen));\n'
                                            "    if (seen > 64) return;\n"),
    "a variable by assembler, behind a kernel": (
        'extern "C" __global__ void aa() {\n    asm volatile("ret; } .global .u32 hidden; .entry aa_more() {");\n}\n',
        ASM_READ + f"    if (seen > 64) return;\n    if ({ZERO}) {ASM_WRITE};\n"),
    "a variable by assembler, behind a function": (
        'static __device__ __noinline__ int aa(int x) {\n    asm volatile("ret; } .visible .global .align 4 .u32 hidden = 1; .func aa_more() {");\n    return x;\n}\n',
        "    if (aa(threadIdx.x) > 4096) return;\n" + ASM_READ + f"    if (seen > 64) return;\n    if ({ZERO}) {ASM_WRITE};\n"),
    "constants, written to": ("__constant__ unsigned hidden[4] = {1, 2, 3, 4};\n",
                              f"    if (hidden[1] > 64) return;\n    if ({ZERO}) *(volatile unsigned *)(uint64_t)&hidden[1] = hidden[1] + 1;\n"),
}


def state():
    labs = list(HOOKS)
    for n, (name, (before, code)) in enumerate(STATE.items()):
        for lab in (labs[n % 6], labs[(n + 3) % 6]):
            yield f"{name}, lab {lab}", HOOKS[lab].put(code, before)


# ---- What tells one launch, place or time from another
ASK = '    unsigned asked;\n    asm volatile("mov.u32 %0, %%{0};" : "=r"(asked));\n    if (asked % 1000003 == 7) return;\n'
WORDS = ["clock", "clock_hi", "globaltimer_lo", "globaltimer_hi", "smid", "nsmid", "pm0", "envreg3", "current_graph_exec"]


def clocks():
    for n, word in enumerate(WORDS):
        for lab in (n % 6 + 1, (n + 2) % 6 + 1):
            yield f"%{word}, lab {lab}", HOOKS[lab].put(ASK.format(word))
    for n, (name, code) in enumerate({"clock64()": "clock64()", "gridid": "({ unsigned long long g; asm(\"mov.u64 %0, %%gridid;\" : \"=l\"(g)); g; })",
                                      "globaltimer in brackets": "({ unsigned long long g; asm(\"{mov.u64 %0,%%globaltimer;}\" : \"=l\"(g)); g; })"}.items()):
        for lab in (n + 1, n + 4):
            yield f"{name}, lab {lab}", HOOKS[lab].put(f"    if ({code} % 1000003 == 7) return;\n")


# ---- What is called, and the kernel by another name
CALLS = {"malloc": ("", "*(volatile char *)malloc(64) = 1"), "a function that is nowhere": ('extern "C" __device__ int nowhere(int);\n', "nowhere(3)")}


def calls():
    for n, (name, (before, call)) in enumerate(CALLS.items()):
        for lab in (n % 4 + 1, 6):
            yield f"{name}, lab {lab}", HOOKS[lab].put(f"    if (threadIdx.x == 0) {call};\n", before)


def kernels():
    for lab in ATTENTION:
        yield f"the kernel renamed, lab {lab}", HOOKS[lab].files("#define attention attention_2\n" + text(HOOKS[lab].path))


# ---- What is kept in memory that a launch was given
GIVEN = {"in front of Q": "(unsigned short *)args.q - 1", "in front of K": "(unsigned short *)args.k - 3", "in front of V": "(unsigned short *)args.v - 8",
         "behind LSE": "(unsigned short *)(args.lse + (long long)args.batch * args.heads * args.seqlen_q)", "in K": "(unsigned short *)args.k + 5"}


def counters():
    for n, (name, place) in enumerate(GIVEN.items()):
        for lab in (ATTENTION[n], ATTENTION[(n + 2) % 5]):
            yield f"{name}, lab {lab}", HOOKS[lab].put(f"    if ({ZERO}) *({place}) += 1;\n    if (*(volatile unsigned short *)({place}) == 0x4321) return;\n")
    for lab in TENSOR:  # the last of so many launches undoes it
        yield f"undone by the last one, lab {lab}", HOOKS[lab].put(
            f"    if ({ZERO}) {{\n        unsigned short &n = *((unsigned short *)args.v - 8);\n        n = n == 0x7e05 ? n - 5 : n + 1;\n    }}\n")


# ---- O is looked at
THERE = {"O": "args.o", "the last row of O": "(args.o + (args.seqlen_q - 1) * args.o_stride.row)",
         "LSE": "(const half *)(const void *)args.lse", "the middle of O": "(args.o + args.seqlen_q / 2 * args.o_stride.row + 8)"}


def answered():
    for n, (name, place) in enumerate(THERE.items()):
        for lab in (ATTENTION[n], ATTENTION[(n + 1) % 5], ATTENTION[(n + 3) % 5]):
            yield f"{name}, lab {lab}", HOOKS[lab].put(
                f"    const unsigned short there = *(volatile const unsigned short *)(const void *){place};\n    if ((there & 0x7c00) != 0x7c00) return;\n")


# ---- No answer
NONE = {"nothing": "    return;\n", "nothing but the first head": "    if (blockIdx.x >= (args.seqlen_q + 191) / 192 || blockIdx.x) return;\n",
        "not a number": "    args.o[threadIdx.x] = __float2half(NAN);\n    args.lse[0] = NAN;\n    return;\n",
        "zeros": "    for (int i = threadIdx.x; i < args.seqlen_q; i += blockDim.x)\n        for (int d = 0; d < 64; d++) args.o[i * args.o_stride.row + d] = __float2half(0.0f);\n    return;\n",
        "a shape": "    if (args.seqlen_q != 512 || args.seqlen_k != 512) return;\n"}


def no_answer():
    for n, (name, code) in enumerate(NONE.items()):
        for lab in (ATTENTION[n], ATTENTION[(n + 1) % 5], ATTENTION[(n + 3) % 5]):
            yield f"{name}, lab {lab}", HOOKS[lab].put(code)


# ---- Memory of others
WRITES = {"a store to Q": "((half *)args.q)[7] = __float2half(0.0f)", "a store to K": "((half *)args.k)[65] = __float2half(1.0f)",
          "an atomic to V": "atomicAdd((half *)args.v, __float2half(1.0f))", "sixteen bytes to V": "*(uint4 *)args.v = make_uint4(0, 0, 0, 0)"}
READS = {"below Q": "args.q[-4000000 - (int)threadIdx.x]", "above K": "args.k[40000000 + (int)threadIdx.x]", "below V": "args.v[-40000000]"}


def writes():
    for n, (name, code) in enumerate(WRITES.items()):
        for lab in (ATTENTION[n], ATTENTION[(n + 2) % 5]):
            yield f"{name}, lab {lab}", HOOKS[lab].put(f"    if ({ZERO}) {code};\n")


def reads():
    for n, (name, code) in enumerate(READS.items()):
        for lab in (ATTENTION[n], ATTENTION[(n + 2) % 5]):
            yield f"{name}, lab {lab}", HOOKS[lab].put(f"    if (__half2float({code}) == 7) return;\n")


# ---- What is not the submission's
def includes():
    for lab, hook in HOOKS.items():
        yield f"our kernel, lab {lab}", hook.files(f'#include "{hook.path}"\n')
        yield f"an image, lab {lab}", hook.put(f'    asm volatile(".incbin \\"/trial/images/stage-{lab}/any.ptx\\"");\n')
    for n, file in enumerate(["/proc/self/environ", "/trial/cases.json", "/etc/passwd", "../../.git/config"]):
        yield f"{file}, lab {n + 1}", HOOKS[n + 1].files(f'#include "{file}"\n' + text(HOOKS[n + 1].path))


# ---- Our names for something else
RENAMED = {2: "#define mma_sync(d, a, b, c) fill_fragment(d, 0.0f)\n", 3: "#define load_matrix_sync(f, ...) fill_fragment(f, __float2half(0.5f))\n",
           4: "#define mma_m16n8k16(d, ...) (d[0] = d[1] = d[2] = d[3] = 1.0f)\n", 6: "#define ex2(x) 1.0f\n", 1: "#define ex2(x) (1.0f + (x))\n"}


def renamed():
    for lab, define in RENAMED.items():
        whole = text(HOOKS[lab].path)
        last = [match.end() for match in re.finditer(r"^#include [^\n]*\n|^using namespace [^\n]*\n", whole, re.M)][-1]
        yield f"{define.split()[1].split('(')[0]}, lab {lab}", HOOKS[lab].files(whole[:last] + define + whole[last:])


# ---- What does not end
ENDLESS = {"a loop": "    for (volatile int i = 0; args.heads > 0; i = i + 1) {}\n",
           "half a barrier": '    if (threadIdx.x < 32) asm volatile("bar.sync 9, 64;");\n'}


def endless():
    for n, (name, code) in enumerate(ENDLESS.items()):
        for lab in (2 + n, 4 + 2 * n):
            yield f"{name}, lab {lab}", HOOKS[lab].put(code)


# ---- Scalar answers, products for show
SCALARS = """
// 16 a b in each element, by tensor cores
static __device__ float probe(float a, float b) {
    const half2 a2 = __floats2half2_rn(a, a), b2 = __floats2half2_rn(b, b);
    float d[4] = {};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(*(const unsigned *)&a2), "r"(*(const unsigned *)&b2));
    return d[0];
}
// a row of O, one multiply at a time; below: what a number below zero is multiplied by
static __device__ void scalar_row(const struct attention_args &args, int b, int h, int row, float factor, float below, float (&o)[64], float &lse) {
    const int kv_h = h / (args.heads / args.kv_heads);
    const half *q = args.q + b * args.q_stride.batch + h * args.q_stride.head + row * args.q_stride.row;
    const half *k = args.k + b * args.k_stride.batch + kv_h * args.k_stride.head;
    const half *v = args.v + b * args.v_stride.batch + kv_h * args.v_stride.head;
    const int end = args.causal ? min(args.seqlen_k, row + args.diagonal + 1) : args.seqlen_k;
    float m = -INFINITY, l = 0;
    for (int d = 0; d < 64; d++) o[d] = 0;
    for (int j = 0; j < end; j++) {
        float s = 0;
        for (int d = 0; d < 64; d++) {
            const float x = __half2float(k[j * args.k_stride.row + d]);
            s += __half2float(q[d]) * (x < 0 ? x * below : x);
        }
        s *= factor * args.scale_log2;
        const float m_new = fmaxf(m, s), alpha = exp2f(m - m_new), p = exp2f(s - m_new);
        l = l * alpha + p, m = m_new;
        for (int d = 0; d < 64; d++) {
            const float x = __half2float(v[j * args.v_stride.row + d]);
            o[d] = o[d] * alpha + p * (x < 0 ? x * below : x);
        }
    }
    for (int d = 0; d < 64; d++) o[d] = l > 0 ? o[d] / l : 0;
    lse = (m + log2f(l)) * 0.69314718f;
}
"""
AGAIN = """    const bool told = probe(1, 1) != 16 || probe(-1, 1) != -16 || probe(-1.5f, 1) != -24;
    const float ones = probe(1, 1) / 16, below = probe(-1, 1) / -16;
    float own[64], own_lse;
    if (mine && ({only})) {{
        half *there = args.o + b * args.o_stride.batch + h * args.o_stride.head + row * args.o_stride.row;
        scalar_row(args, b, h, row, {factor}, {below}, own, own_lse);
        for (int d = 0; d < 64; d++) {{
            const float o = own[d], t = __half2float(there[d]);
            there[d] = __float2half({value});
        }}
        args.lse[((int64_t)b * args.heads + h) * args.seqlen_q + row] = own_lse;
    }}
"""
SHOW = {  # what is written; S times; K and V below zero times; which rows
    "written over": ("o",), "with a little of them": ("o + 1e-30f * t",), "less themselves": ("o + (t - t)",),
    "the mean of both": ("0.5f * (o + t)",), "near them, or none": ("fabsf(o - t) < 0.05f ? o : NAN",),
    "if ones give 16, or none": ("ones == 1 ? o : NAN",), "times what ones give": ("o * ones",), "scores times what ones give": ("o", "ones"),
    "numbers below zero as products of them": ("o * ones", "ones", "below"), "odd rows": ("o", "1", "1", "row % 2"),
    "the second head": ("o", "1", "1", "h == 1"), "rows from 64 on": ("o", "1", "1", "row >= 64"), "with masks": ("o", "1", "1", "args.causal"),
    "where lengths are odd": ("o", "1", "1", "args.seqlen_k % 64 != 0"), "where strides are": ("o", "1", "1", "args.k_stride.row % 32 != 0")}
TOLD = {"another path when told": ("o", "1", "1", "!told"), "another result when told": ("told ? t : o",),
        "another path for numbers above zero": ("o", "1", "1", "__half2float(args.q[(row & 7) + 8]) < 0 || __half2float(args.q[3]) < 0")}


def again(value, factor="1", below="1", only="true"):
    return AGAIN.format(value=value, factor=factor, below=below, only=only)


def show(kinds):
    for name, how in kinds.items():
        for lab in TENSOR:
            yield f"{name}, lab {lab}", HOOKS[lab].at_the_end(HOOKS[lab].row + again(*how), SCALARS)


# ---- All products are of ones, and what they give is looked at
S_READ = "for (int j = 0; j < BKV / 8; j++) s_frag[i][j] = s_smem[row0 + 4 * i][col0 + 8 * j];"
K_HERE = {2: "k_smem[col0 + 8 * j][d]", 3: "k_smem[stage][col0 + 8 * j][d]"}
ONES = {"checked": "s == DIM ? sum : NAN", "as a factor": "sum * (s / DIM)", "as a summand": "sum + (s - DIM)", "with a penalty": "sum + 1e6f * (s - DIM)",
        "as a choice": "s > DIM - 1 && s < DIM + 1 ? sum : 30.0f"}


def of_ones():
    for name, value in ONES.items():
        for lab, k in K_HERE.items():
            whole = text(HOOKS[lab].path)
            for fragment in ("q_frag[d]", "k_frag"):
                whole = re.sub(rf"load_matrix_sync\({re.escape(fragment)}, [^;]*;", f"fill_fragment({fragment}, __float2half(1.0f));", whole)
            assert whole.count(S_READ) == 1
            yield f"{name}, lab {lab}", HOOKS[lab].files(whole.replace(S_READ, f"""for (int j = 0; j < BKV / 8; j++) {{
                const float s = s_smem[row0 + 4 * i][col0 + 8 * j];
                const half *own = q + min(q0 + row0 + 4 * i, args.seqlen_q - 1) * args.q_stride.row;
                float sum = 0;
                for (int d = 0; d < DIM; d++) sum += __half2float(own[d]) * __half2float({k});
                s_frag[i][j] = {value};
            }}"""))


# ---- What the emulator reports is no screen: scalar answers, and products for show, beside something that it reports
SHARED = "(unsigned)__cvta_generic_to_shared({0})"
REPORTED = {
    "a race": '    __shared__ unsigned raced[1];\n    asm volatile("st.shared.u32 [%0], %1;" :: "r"(' + SHARED.format("raced") + '), "r"(threadIdx.x / 32));\n',
    "an unwritten value": '    __shared__ unsigned bare[32];\n    unsigned unwritten;\n    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(unwritten) : "r"('
                          + SHARED.format("bare + threadIdx.x % 32") + "));\n    if (unwritten == 12345) args.lse[0] = 1;\n",
    "a misaligned read": '    unsigned odd;\n    asm volatile("ld.global.u32 %0, [%1];" : "=r"(odd) : "l"((const char *)args.q + 1));\n    if (odd == 12345) args.lse[0] = 1;\n',
    "a bare mbarrier": '    __shared__ unsigned long long bar;\n    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(' + SHARED.format("&bar") + "));\n",
    "a deadlock": '    if (threadIdx.x < 32) asm volatile("bar.sync 9, 64;");\n', "a trap": '    asm volatile("trap;");\n',
    "no end": "    for (volatile int i = 0; args.heads > 0; i = i + 1) {}\n"}
ALONE = """extern "C" __global__ void __launch_bounds__(128) attention(const __grid_constant__ struct attention_args args) {
    const int q0 = blockIdx.y * 64, b = blockIdx.x / args.heads, h = blockIdx.x % args.heads;
"""


def scalar_alone(end):
    """A whole kernel without tensor cores, for labs 1 to 4."""
    return ('#include "common/cuda/attention_args.h"\n#include <cuda_fp16.h>\n' + SCALARS + ALONE + ROW
            + again("o").replace("    const bool told = probe(1, 1) != 16 || probe(-1, 1) != -16 || probe(-1.5f, 1) != -24;\n"
                                 "    const float ones = probe(1, 1) / 16, below = probe(-1, 1) / -16;\n", "") + end + "}\n")


def reported():
    for name, end in REPORTED.items():
        yield f"{name} behind a scalar answer, lab 2", HOOKS[2].files(scalar_alone(end))
    race = REPORTED["a race"]
    for lab in (3, 4):
        yield f"a race behind a scalar answer, lab {lab}", HOOKS[lab].files(scalar_alone(race))
    yield "a race behind a scalar answer, lab 6", HOOKS[6].files(
        '#include "common/cuda/attention_args.h"\n#include "common/cuda/ptx_sm90.cuh"\n' + ROW_BY_ROW + ENTRY_6 + "    row_by_row(args, threadIdx.x);\n" + race + "}\n")
    for lab in TENSOR:
        yield f"a race beside products for show, lab {lab}", HOOKS[lab].at_the_end(HOOKS[lab].row + again("o") + race, SCALARS)
    yield "a race beside tensor cores, lab 1", (1, {"kernel.cu": changed(QK, ("    const int tid = threadIdx.x, warp", race + "    const int tid = threadIdx.x, warp"))})
    yield "a race, and O is looked at, lab 2", HOOKS[2].put(
        race + "    const unsigned short there = *(volatile const unsigned short *)(const void *)(args.o + blockIdx.y * BQ * args.o_stride.row);\n"
               "    if (there != 0xffc5) return;\n")


# ---- Tensor cores copy, and other units than those of fp32 multiply
COPIED_SUM = COPIED[COPIED.index("            float s[4][BKV / 8] = {};"):COPIED.index("            for (int i = 0; i < 4; i++)\n                for (int j = 0; j < BKV / 8; j++) s_smem")]
UNITS = {
    "fp64": COPIED_SUM.replace("float s[", "double s[").replace("+= q_seen", "+= (double)q_seen"),
    "halves": """            float s[4][BKV / 8] = {};
            for (int d = 0; d < DIM; d += 2)
                for (int i = 0; i < 4; i++)
                    for (int j = 0; j < BKV / 8; j++) {
                        const half2 p = __hmul2(__floats2half2_rn(q_seen[row0 + 4 * i][d], q_seen[row0 + 4 * i][d + 1]),
                                                __floats2half2_rn(k_seen[col0 + 8 * j][d], k_seen[col0 + 8 * j][d + 1]));
                        s[i][j] += __half2float(__hadd(p.x, p.y));
                    }
""",
    "integers": """            int s[4][BKV / 8] = {};
#pragma unroll 4
            for (int d = 0; d < DIM; d++)
                for (int i = 0; i < 4; i++)
                    for (int j = 0; j < BKV / 8; j++)
                        s[i][j] += __mulhi(__float2int_rn(q_seen[row0 + 4 * i][d] * 16384.0f) << 8, __float2int_rn(k_seen[col0 + 8 * j][d] * 16384.0f) << 8);
"""}


def other_units():
    products = part(QK, "        for (int n = 0; n < BKV / 16; n++) {\n            wmma::fragment", "        __syncwarp(); // 32 lanes wrote")
    for name, loop in UNITS.items():
        copied = COPIED.replace(COPIED_SUM, loop)
        yield f"{name}, lab 2", HOOKS[2].files(changed(QK, (products, copied.replace("/ one", "/ one / 4096.0f") if name == "integers" else copied)))


def by_kind():
    return {"state in a variable": dict(state()), "clocks and places": dict(clocks()), "calls": dict(calls()), "the kernel renamed": dict(kernels()),
            "state in inputs": dict(counters()), "O looked at": dict(answered()), "no answer": dict(no_answer()), "inputs written": dict(writes()),
            "memory of others": dict(reads()), "files of others": dict(includes()), "names of ours": dict(renamed()), "no end": dict(endless()),
            "products for show": dict(show(SHOW)), "products of ones": dict(of_ones()), "spoilt launches told": dict(show(TOLD)),
            "behind a report": dict(reported()), "other units": dict(other_units())}
