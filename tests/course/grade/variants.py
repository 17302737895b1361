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
OTHER = [loops_walked, barriers_written, wrapped, spelled_out, places_by_function, other_warps]


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
