"""Honest variants of the solutions: the same kernel by another hand. They must lose nothing.

    make(lab, seed)     what was done, {file: text}: renamed, reordered, reformatted, cut into other functions and tiles;
                        loops walked otherwise, barriers in other words, other rows for each warp, places found by a
                        function, parts in a function of their own, conversions and exponentials spelled out"""
import pathlib
import random
import re

import strip

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"])*\"|[A-Za-z_]\w*|\s+|.", re.S)
DECLARED = re.compile(r"\b(?:int|float|half|uint32_t|bool|char)\s+\*?(?:\(\*)?([a-z]\w{2,})\b")
WORDS = "amber birch cedar dune ember fern grove heath iris juniper kelp larch moss nettle oak pine quince reed sage thyme".split()


# Texts of lab 2's kernel, and what stands there instead.
INCLUDED, AT_THE_START, NEW_MAXIMUM = "#include <mma.h>\n", "    // ---- load Q\n", "            float base = m_new"
HANDS = {
    "printf and assert": [(INCLUDED, INCLUDED + "#include <cassert>\n#include <cstdio>\n"),
                          (AT_THE_START, '    if (tid == 0 && q0 == 64) printf("q0 %d\\n", q0), std::printf("here\\n");\n' + AT_THE_START),
                          (NEW_MAXIMUM, "            assert(m_new >= m_frag[i]);\n" + NEW_MAXIMUM)],
    "a kernel that nobody launches": [(INCLUDED, INCLUDED + "__global__ void try_it(float *x) { x[threadIdx.x] = 1; }\n")],
    "a table in constant memory": [(INCLUDED, INCLUDED + "__constant__ int LANES[3] = {1, 2, 4};\n"),
                                   ("            for (int lanes = 1; lanes < 8; lanes *= 2)\n                m_new = fmaxf(m_new, __shfl_xor_sync(~0u, m_new, lanes));\n",
                                    "            for (int t = 0; t < 3; t++) m_new = fmaxf(m_new, __shfl_xor_sync(~0u, m_new, LANES[t]));\n")],
    "cooperative groups": [(INCLUDED, INCLUDED + "#include <cooperative_groups.h>\n"),
                           ("m_new = fmaxf(m_new, __shfl_xor_sync(~0u, m_new, lanes));", "m_new = fmaxf(m_new, cooperative_groups::tiled_partition<8>("
                            "cooperative_groups::this_thread_block()).shfl_xor(m_new, lanes));")],
    # this header declares variables in global memory
    "a header of cuda::std": [(INCLUDED, INCLUDED + "#include <cuda/std/utility>\n"), ("            m_frag[i] = m_new;\n", "            cuda::std::swap(m_frag[i], m_new);\n")],
}


def pieces(text):
    return TOKEN.findall(text)


def is_comment(piece):
    return piece.startswith(("//", "/*"))


def foreign(lab):
    """Words of headers that the kernel includes: not the student's to rename."""
    words = set()
    for pattern in ("common/cuda/*.cuh", "common/cuda/*.h", f"stages/{lab.stage}/*.h", f"stages/{lab.stage}/*.cuh"):
        for path in ROOT.glob(pattern):
            if path.relative_to(ROOT) not in lab.files:
                words |= set(re.findall(r"\w+", path.read_text()))
    return words


def rename(files, lab, dice):
    """Names that the files declare and nobody else knows, each to one new name in all files."""
    whole = "\n".join(files.values())
    fields = set(re.findall(r"(?:\.|->)\s*(\w+)", whole)) | set(re.findall(r"\bstruct \w+ \{.*?\};", whole, re.S))
    declared = {name for text in files.values() for name in DECLARED.findall("".join(p for p in pieces(text) if not is_comment(p)))}
    names = sorted(declared - fields - foreign(lab) - {"attention", "main"})
    for struct in re.findall(r"\bstruct \w+ \{(.*?)\};", whole, re.S):
        names = [name for name in names if not re.search(rf"\b{name}\b", struct)]
    new = {name: f"{dice.choice(WORDS)}_{n}" for n, name in enumerate(names) if dice.random() < 0.7}

    def one(text):
        out, include = [], False
        for piece in pieces(text):
            include = (include or piece == "#") and "\n" not in piece
            out.append(piece if include and piece.startswith('"') else new.get(piece, piece))
        return "".join(out)

    return {file: one(text) for file, text in files.items()}


def without_comments(files, lab, dice):
    return {file: re.sub(r"[ \t]+\n", "\n", "".join("" if is_comment(p) else p for p in pieces(text)))
            for file, text in files.items()}


def with_comments(files, lab, dice):
    def one(text):
        lines = text.split("\n")
        for n in range(len(lines)):
            if lines[n].endswith(";") and dice.random() < 0.3:
                lines[n] += f" // {dice.choice(WORDS)}: __syncthreads(); mma_sync asm(\".incbin\")"
        return "\n".join(lines)
    return {file: one(text) for file, text in files.items()}


def reformatted(files, lab, dice):
    indent = dice.choice(["\t", "  ", " ", "   "])

    def one(text):
        lines = []
        for line in text.split("\n"):
            bare = line.lstrip(" ")
            depth = (len(line) - len(bare)) // 4
            lines.append(indent * depth + bare if bare else "")
            if bare.endswith(";") and dice.random() < 0.1:
                lines.append("")
        return "\n".join(lines)
    return {file: one(text) for file, text in files.items()}


PLAIN = re.compile(r"^(\s*)(?:const )?(?:half \*|int |float )(\w+) = ([^;,]*);(?:\s*//.*)?$")
COPY = re.compile(r"^(\s*)load_tile\([^;]*\);$")


def reordered(files, lab, dice):
    """Neighbouring lines that do not depend on each other change places."""
    def one(text):
        lines = text.split("\n")
        n = 0
        while n + 1 < len(lines):
            a, b = PLAIN.match(lines[n]), PLAIN.match(lines[n + 1])
            copies = COPY.match(lines[n]) and COPY.match(lines[n + 1])
            free = a and b and a[1] == b[1] and not re.search(rf"\b{a[2]}\b", b[3])
            if (free or copies) and dice.random() < 0.7:
                lines[n], lines[n + 1] = lines[n + 1], lines[n]
                n += 1
            n += 1
        return "\n".join(lines)
    return {file: one(text) for file, text in files.items()}


def with_helpers(files, lab, dice):
    """ex2 through a function of one's own, of its own name in each file."""
    def one(file, text):
        if not re.search(r"\bex2\(", text) or "ptx.cuh" not in text:
            return text
        name = f"power_{dice.choice(WORDS)}"
        head, mark, rest = text.partition('#include "common/cuda/ptx.cuh"\n')
        includes = re.match(r"(?:#[^\n]*\n|\s*\n|using [^\n]*\n)*", rest)[0]
        return (head + mark + includes + f"static __device__ __forceinline__ float {name}(float x) {{ return ex2(x); }}\n"
                + re.sub(r"\bex2\(", f"{name}(", rest[len(includes):]))
    return {file: one(file, text) for file, text in files.items()}


PV_4 = "for (int j = 0; j < BKV / 16; j++)\n#pragma unroll\n            for (int n = 0; n < DIM / 16; n++) {"
QK_2 = """            wmma::fragment<wmma::accumulator, 16, 16, 16, float> s_acc;
            wmma::fill_fragment(s_acc, 0);
            for (int d = 0; d < DIM / 16; d++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> k_frag;
                wmma::load_matrix_sync(k_frag, &k_smem[n * 16][d * 16], LD);
                wmma::mma_sync(s_acc, q_frag[d], k_frag, s_acc);
            }
            wmma::store_matrix_sync(&s_smem[warp * 16][n * 16], s_acc, S_LD, wmma::mem_row_major);
"""
PAIR_2 = """            wmma::fragment<wmma::accumulator, 16, 16, 16, float> s_acc[2];
            for (int i = 0; i < 2; i++) wmma::fill_fragment(s_acc[i], 0);
            for (int d = 0; d < DIM / 16; d++)
                for (int i = 0; i < 2; i++) {
                    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> k_frag;
                    wmma::load_matrix_sync(k_frag, &k_smem[(n + i) * 16][d * 16], LD);
                    wmma::mma_sync(s_acc[i], q_frag[d], k_frag, s_acc[i]);
                }
            for (int i = 0; i < 2; i++)
                wmma::store_matrix_sync(&s_smem[warp * 16][(n + i) * 16], s_acc[i], S_LD, wmma::mem_row_major);
"""
ROWS_2 = "        for (int n = 0; n < BKV / 16; n++) {\n" + QK_2
COLUMNS_3 = "for (int n = 0; n < DIM / 16; n++) {\n                wmma::fragment<wmma::matrix_b"
TILES = {  # lab: (text, what may stand in its place)
    1: [("#pragma unroll 8\n", ["#pragma unroll 4\n", "#pragma unroll 16\n"])],
    2: [(ROWS_2, ["#pragma unroll 2\n" + ROWS_2, ROWS_2.replace("int n = 0; n < BKV / 16; n++", "int n = BKV / 16 - 1; n >= 0; n--"),
                  ROWS_2.replace("n++", "n += 2").replace(QK_2, PAIR_2)])],
    3: [(COLUMNS_3, [COLUMNS_3.replace("int n = 0; n < DIM / 16; n++", "int n = DIM / 16 - 1; n >= 0; n--"), "#pragma unroll\n" + COLUMNS_3]),
        ("for (int e = 0; e < o_frag[n].num_elements; e++)", ["for (int e = o_frag[n].num_elements - 1; e >= 0; e--)"])],
    4: [(PV_4, ["for (int n = 0; n < DIM / 16; n++)\n#pragma unroll\n            for (int j = 0; j < BKV / 16; j++) {",
                PV_4.replace("int j = 0; j < BKV / 16; j++", "int j = BKV / 16 - 1; j >= 0; j--")])],
    5: [("for (int i = 0; i < N / 2; i++) {", ["for (int i = N / 2 - 1; i >= 0; i--) {", "#pragma unroll 4\n    for (int i = 0; i < N / 2; i++) {"])],
    6: [("for (int i = 0; i < 4; i++) o_frag[n][i] *= alpha[i / 2];", ["for (int i = 3; i >= 0; i--) o_frag[n][i] *= alpha[i / 2];"])],
}


def other_tiles(files, lab, dice):
    """Squares, rows and columns walked in another order, several at a time, or unrolled otherwise."""
    files = dict(files)
    for old, new in TILES[lab.number]:
        places = [file for file, text in files.items() if old in text]
        if not places:
            raise LookupError(f"lab {lab.number}'s solution has no {old!r}")
        chosen = dice.choice(new)
        for file in places:
            files[file] = files[file].replace(old, chosen)
    return files


def in_holes(change):
    """A way that changes the students' parts alone: change(lines of code, dice) gives them anew."""
    def way(files, lab, dice):
        out = {}
        for file, text in files.items():
            lines = text.split("\n")
            for first, last, of, sentence in reversed(strip.solutions(text)):
                if of == lab.number and sentence:
                    lines[first:last - 1] = change("\n".join(lines[first:last - 1]), dice).split("\n")
            out[file] = "\n".join(lines)
        return out
    way.__name__ = change.__name__
    return way


LOOP = re.compile(r"for \(int (\w+) = 0; \1 < ([^;]+); \1\+\+\)")


@in_holes
def loops_walked(code, dice):
    """Each loop over rows, columns or squares from the last to the first, or in other words."""
    def other(loop):
        i, end = loop[1], loop[2]
        return dice.choice([loop[0], f"for (int {i} = {end} - 1; {i} >= 0; {i}--)", f"for (int {i} = {end}; {i}-- > 0;)",
                            f"for (int {i} = 0; {i} != {end}; ++{i})", f"for (int {i} = 0; {i} <= {end} - 1; {i} += 1)",
                            f"for (unsigned u_{i} = 0; u_{i} < unsigned({end}); u_{i}++)\n            for (int {i} = int(u_{i}), once_{i} = 1; once_{i}; once_{i} = 0)"])
    code = LOOP.sub(other, code)
    if dice.random() < 0.5:  # a butterfly from far to near
        code = code.replace("for (int lanes = 1; lanes < 8; lanes *= 2)", "for (int lanes = 4; lanes > 0; lanes /= 2)")
    return code


@in_holes
def barriers_written(code, dice):
    """The same barriers in PTX, or by another name."""
    code = re.sub(r"__syncthreads\(\);", lambda _: dice.choice(["__syncthreads();", 'asm volatile("bar.sync 0;" ::: "memory");',
                                                               'asm volatile("barrier.sync.aligned 0;" ::: "memory");']), code)
    return re.sub(r"__syncwarp\(\);", lambda _: dice.choice(["__syncwarp();", "__syncwarp(0xffffffffu);",
                                                            'asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");']), code)


@in_holes
def wrapped(code, dice):
    """A part in a scope, a function of its own, or a statement that is left once."""
    head, tail = dice.choice([("[&]() {", "}();"), ("{", "}"), ("do {", "} while (false);"), ("if (true) {", "}"), ("switch (0) { default: {", "} }")])
    return f"{head}\n{code}\n{tail}" if "#pragma unroll PV" not in code else code


@in_holes
def spelled_out(code, dice):
    """Maxima, products and choices in other words."""
    code = re.sub(r"if \((col0 [^;]*?)\) (s_frag\[i\]\[j\]) = -INFINITY;",
                  lambda m: dice.choice([m[0], f"{m[2]} = {m[1]} ? -INFINITY : {m[2]};", f"if (!({m[1]})) continue;\n{m[2]} = -INFINITY;"]), code)
    code = re.sub(r"m_new = fmaxf\(m_new, (s_frag\[i\]\[j\])\);",
                  lambda m: dice.choice([m[0], f"m_new = fmaxf({m[1]}, m_new);", f"m_new = m_new > {m[1]} ? m_new : {m[1]};"]), code)
    code = re.sub(r"(?<![.\w])(\w+(?:\[\w+\])*) \*= ([^;]+);", lambda m: dice.choice([m[0], f"{m[1]} = {m[1]} * ({m[2]});", f"{m[1]} = __fmul_rn({m[1]}, {m[2]});"])
                  if "frag[n].x" not in m[0] and "lanes" not in m[0] else m[0], code)
    code = re.sub(r"m_new == -INFINITY \? 0 : m_new", lambda m: dice.choice([m[0], "m_new > -INFINITY ? m_new : 0", "isinf(m_new) ? 0.0f : m_new"]), code)
    if "cvt_f16x2(p0, p1)" in code and dice.random() < 0.6:
        code = code.replace("cvt_f16x2(p0, p1)", dice.choice(["pair_of(__floats2half2_rn(p0, p1))", "pair_of(__halves2half2(__float2half_rn(p0), __float2half_rn(p1)))"]))
    return code


IDIOMS = [  # (what a solution says, the same in other words)
    # lab 1
    ("for (int i = 0; i < 4; i++) {\n            int row = q0 + row0 + 4 * i;", ["for (int i = 0; i < 4; i++) {\n            const int row = row0 + q0 + (i << 2);",
                                                                           "for (int i = 0, row = q0 + row0; i < 4; i++, row += 4) {"]),
    ("if (args.causal) n_visible = min(n_visible, row + args.diagonal + 1 - kv0);", [
        "n_visible = args.causal && n_visible > row + args.diagonal + 1 - kv0 ? row + args.diagonal + 1 - kv0 : n_visible;",
        "if (args.causal) {\nconst int last = row + args.diagonal - kv0;\nif (last < n_visible) n_visible = last + 1;\n}"]),
    ("float p = ex2(s_frag[i][j] - base);\n                l_frag[i] += p;\n                s_smem[row0 + 4 * i][col0 + 8 * j] = p;",
     ["const float p = s_smem[row0 + 4 * i][col0 + 8 * j] = ex2(s_frag[i][j] - base);\nl_frag[i] = p + l_frag[i];",
      "s_frag[i][j] = ex2(-base + s_frag[i][j]);\ns_smem[4 * i + row0][8 * j + col0] = s_frag[i][j];\nl_frag[i] += s_frag[i][j];"]),
    # labs 1 to 3: rows as pointers that go on
    ("k + kv0 * args.k_stride.row", ["&k[kv0 * args.k_stride.row]", "k + (int64_t)args.k_stride.row * kv0"]),
    ("v + next * args.v_stride.row", ["&v[next * args.v_stride.row]", "v + (int64_t)args.v_stride.row * next"]),
    ("if (next < kv_end) {", ["if (const bool more = next < kv_end; more) {", "if (!(next >= kv_end)) {", "if (kv_end - next > 0) {"]),
    ("wmma::fill_fragment(s_acc, 0);", ["wmma::fill_fragment(s_acc, 0.0f);", "for (int e = 0; e < s_acc.num_elements; e++) s_acc.x[e] = 0;"]),
    ("wmma::load_matrix_sync(k_frag, &k_smem[n * 16][d * 16], LD);", ["wmma::load_matrix_sync(k_frag, k_smem[16 * n] + 16 * d, LD);",
                                                                   "wmma::load_matrix_sync(k_frag, &k_smem[0][0] + 16 * (n * LD + d), LD);"]),
    ("o_frag[n].x[e] *= alpha_frag.x[e]", ["o_frag[n].x[e] = alpha_frag.x[e] * o_frag[n].x[e]", "o_frag[n].x[e] = __fmul_rn(o_frag[n].x[e], alpha_frag.x[e])"]),
    # lab 4
    ("place = chunk ^ row % 8;", ["place ^= row % 8;", "place = chunk ^ (row & 7);", "place = (chunk | row % 8) - (chunk & row % 8);", "place = row % 8 ^ place;",
                                 "place = (chunk & ~7) | ((chunk ^ row) & 7);"]),
    ("address = (base ^ chunk % 8 * 16) + chunk / 8 * 128;", ["address = base ^ ((chunk & 7) << 4);\naddress += (chunk >> 3) << 7;", "address ^= chunk % 8 * 16;\naddress += chunk / 8 * 128;",
                                                            "address = (16 * (chunk % 8) ^ base) + 128 * (chunk / 8);"]),
    ("p_frag[n / 2][n % 2 * 2 + r] =", ["p_frag[n >> 1][(n & 1) << 1 | r] =", "(&p_frag[0][0])[2 * n + r] =", "*(p_frag[n / 2] + 2 * (n % 2) + r) ="]),
    ("ldmatrix_x4_trans(v_frag, right(v_lane + slot, 2 * n) + j * 16 * ROW_BYTES);", [
        "const uint32_t from = right(v_lane + slot, 2 * n) + 16 * ROW_BYTES * j;\nldmatrix_x4_trans(v_frag, from);",
        "ldmatrix_x4_trans(v_frag, right(v_lane + slot + ROW_BYTES * (16 * j), n + n));"]),
    ("mma_m16n8k16(o_frag[2 * n], p_frag[j], v_frag[0], v_frag[1]);\n                mma_m16n8k16(o_frag[2 * n + 1], p_frag[j], v_frag[2], v_frag[3]);", [
        "mma_m16n8k16(o_frag[2 * n + 1], p_frag[j], v_frag[2], v_frag[3]);\nmma_m16n8k16(o_frag[2 * n], p_frag[j], v_frag[0], v_frag[1]);",
        "#pragma unroll\nfor (int half_n = 0; half_n < 2; half_n++) mma_m16n8k16(o_frag[2 * n + half_n], p_frag[j], v_frag[2 * half_n], v_frag[2 * half_n + 1]);"]),
    # lab 5
    ("d, a, gmma_desc_advance(args.a_desc, smem + args.a_start[s]),", ["d, a, gmma_desc_advance(gmma_desc_advance(args.a_desc, smem), args.a_start[s]),",
                                                                    "d, a, gmma_desc_advance(args.a_desc, args.a_start[s] + smem),"]),
    ("gmma_desc_advance(args.b_desc, smem + args.b_start[s]), s > 0);", ["gmma_desc_advance(args.b_desc, args.b_start[s] + smem), s != 0);",
                                                                      "gmma_desc_advance(gmma_desc_advance(args.b_desc, smem), args.b_start[s]), s ? 1 : 0);"]),
    ("row = tid / 32 * 16 + tid % 32 / 4 + i / 2 % 2 * 8;", ["row = 16 * (tid / 32) + (tid % 32) / 4 + 8 * ((i / 2) % 2);", "row = (tid >> 5 << 4) + (tid % 32 >> 2) + ((i & 2) << 2);",
                                                           "row += tid / 32 * 16;\nrow += tid / 4 % 8;\nif (i % 4 >= 2) row += 8;"]),
    ("col = i / 4 * 8 + tid % 4 * 2 + i % 2;", ["col = (i >> 2 << 3) + ((tid & 3) << 1) + (i & 1);", "col = 2 * (i / 4 * 4 + tid % 4) + i % 2;", "col = i % 2;\ncol += tid % 4 * 2;\ncol += 8 * (i / 4);"]),
    # lab 6
    ("wait(&r.empty[r.stage], r.parity);", ["wait(r.empty + r.stage, r.parity);", "while (!mbarrier_try_wait_parity(smem_address(&r.empty[r.stage]), r.parity)) {\n}"]),
    ("advance(r, 1);", ["if (++r.stage == RING) r.stage = 0, r.parity ^= 1;", "r.parity ^= r.stage + 1 == RING;\nr.stage = (r.stage + 1) % RING;"]),
    ("for (int n = n_blocks - 1; n >= 0; n--) {", ["for (int n = n_blocks; n-- > 0;) {", "for (int left = n_blocks; left > 0; left--) {\nconst int n = left - 1;"]),
    ("if (threadIdx.x % 32 == 0) arrive(&r.empty[r.stage]);", ["if ((threadIdx.x & 31) == 31) arrive(&r.empty[r.stage]);", "if (threadIdx.x % 32 == 7) arrive(r.empty + r.stage);",
                                                              "if (!(threadIdx.x % 32)) mbarrier_arrive(smem_address(&r.empty[r.stage]));"]),
    ("wait_full(k); // k_smem is written by TMA\n        wait_full(v);", ["wait_full(v); // v_smem, too\n        wait_full(k);", "wait(&k.full[k.stage], k.parity);\nwait(&v.full[v.stage], v.parity);"]),
    ("gmma_desc_advance(k_desc, k.stage * KV_BYTES)", ["gmma_desc_advance(k_desc, KV_BYTES * k.stage)", "k_desc + (k.stage * KV_BYTES >> 4)"]),
    ("wgmma_wait_group<0>(); // O is there; p_frag and v_smem have been read\n        registers_fence(o_frag);", ["wgmma_wait_group<0>();\nregisters_fence(s_frag);\nregisters_fence(o_frag);"]),
]


@in_holes
def in_other_words(code, dice):
    """Whole statements of the solutions in other words."""
    for old, new in IDIOMS:
        if old in code:
            code = code.replace(old, dice.choice([old, *new]))
    return code


@in_holes
def unrolled(code, dice):
    """Loops unrolled by the compiler, all or some."""
    lines = code.split("\n")
    for n in reversed(range(len(lines))):
        bare = n == 0 or not lines[n - 1].lstrip().startswith(("#pragma", "for"))
        if re.match(r"\s*for \(int \w+ = 0; [^;]* / (?:8|16); \w+\+\+\)", lines[n]) and bare and dice.random() < 0.5:
            lines.insert(n, dice.choice(["#pragma unroll", "#pragma unroll 2", "#pragma unroll 4"]) if "_frag[" not in "".join(lines[n:n + 2]) else "#pragma unroll")
    return "\n".join(lines)


@in_holes
def in_pairs(code, dice):
    """Two squares of S at a time, of lab 2: another tile for each warp's product."""
    return code.replace(ROWS_2, ROWS_2.replace("n++", "n += 2").replace(QK_2, PAIR_2)) if dice.random() < 0.5 else code


VIEW = """template <class T, int N> static __device__ __forceinline__ T &at(T (*rows)[N], int row, int column) {
    return rows[row][column];
}
template <class T> struct layout_of;
template <class T, int N> struct layout_of<T (*)[N]> {
    T (*rows)[N];
    __device__ __forceinline__ T &operator()(int row, int column) const { return rows[row][column]; }
};
static __device__ __forceinline__ unsigned pair_of(half2 x) { return *reinterpret_cast<unsigned *>(&x); }
"""
PLACE = re.compile(r"\b(q_smem|k_smem|v_smem|s_smem|p_smem)((?:\[[^][]+\])?)\[([^][]+)\]\[([^][]+)\]")


@in_holes
def places_by_function(code, dice):
    """Rows and columns of shared memory through a function, as with CuTe's tensors and layouts."""
    def other(place):
        array, ring, row, column = place.groups()
        if not ring and array in ("k_smem", "v_smem") and "stage" in code:
            return place[0]
        return dice.choice([f"at({array}{ring}, {row}, {column})", f"layout_of<decltype(&{array}{ring}[0])>{{{array}{ring}}}({row}, {column})",
                            f"(*({array}{ring} + ({row})))[{column}]", f"{array}{ring}[{row}][{column}]"])
    return PLACE.sub(other, code)


def with_functions(files, lab, dice):
    """What the two above call stands behind the includes."""
    out = {}
    for file, text in files.items():
        if file.suffix == ".cu" and re.search(r"\bat\(|\blayout_of<|\bpair_of\(", text):
            where = [m.end() for m in re.finditer(r"^#include [^\n]*\n|^using namespace [^\n]*\n", text, re.M)][-1]
            text = text[:where] + "#include <cuda_fp16.h>\n" + VIEW + text[where:]
        out[file] = text
    return out


def other_warps(files, lab, dice):
    """Each warp takes the rows of another one."""
    if lab.number > 3:
        return files
    new = dice.choice(["3 - tid / 32", "(tid / 32) ^ 1", "(tid / 32 + 1) % 4", "tid / 32"])
    return {file: text.replace("warp = tid / 32,", f"warp = {new},") for file, text in files.items()}


WAYS = [rename, without_comments, with_comments, reformatted, reordered, with_helpers, other_tiles]
OTHER = [in_pairs, in_other_words, unrolled, loops_walked, barriers_written, wrapped, spelled_out, places_by_function, other_warps]


def make(lab, seed):
    """(what was done, files)."""
    dice = random.Random(1000 * lab.number + seed)
    files = {file: (ROOT / file).read_text() for file in lab.files}
    ways = [way for way in WAYS if dice.random() < 0.5] or [rename]
    if without_comments in ways and with_comments in ways:
        ways.remove(with_comments)
    for way in [way for way in (other_tiles, reordered, with_helpers, rename, without_comments, with_comments, reformatted)
                if way in ways]:
        files = way(files, lab, dice)
    return ", ".join(way.__name__ for way in ways), {file.name: text for file, text in files.items()}


def by_another_hand(lab, seed):
    """(what was done, files): other loops, barriers, layouts and words, and then what make() does."""
    dice = random.Random(77000 * lab.number + seed)
    files = {file: (ROOT / file).read_text() for file in lab.files}
    ways = [way for way in OTHER if dice.random() < 0.6] or [loops_walked]
    for way in [*ways, with_functions]:
        files = way(files, lab, dice)
    later = [way for way in (rename, without_comments, reformatted) if dice.random() < 0.3]
    for way in later:
        files = way(files, lab, dice)
    ways += later
    return ", ".join(way.__name__ for way in ways), {file.name: text for file, text in files.items()}
