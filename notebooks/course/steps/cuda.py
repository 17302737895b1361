"""The hole of a step in CUDA C: check.py of a step with hole.cu gets a Kernel. It runs on the emulator.

    ran = hole.run("product", f16(16, 16, a), f16(16, 16, b), out("f32", 16, 16), 5, threads=32)
    ran.outs[0]            the first out() array, a flat list
    ran.reports            what the emulator found: races, values that nothing wrote, bad addresses; one text each
    ran.counters           {name of a counter in profiler/groups: value}
    parts("C", ran.outs[0], wanted, 16)     where two matrices part, in words and as a map, or None
    hint_of(ran.reports[0])                 a hint for a report

An argument is an int (i32), a float (f32) or an array: array(TYPE, shape, values) with f16(..., values) and f32(..., values) for
short, or out(TYPE, shape). TYPE is f16, f32, i32, u32; values is a flat list, and its shape is only for the reader."""
import ast
import dataclasses
import functools
import hashlib
import json
import math
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from build import BUILD, Refused, nvcc, shown  # noqa: E402
from lab_folder import ROOT  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
NPY = {"f16": ("<f2", "e"), "f32": ("<f4", "f"), "i32": ("<i4", "i"), "u32": ("<u4", "I")}  # NumPy's name, struct's letter
ARCH, EMULATOR_S = "compute_90a", 5
# What a file includes, and our header before it, which stops the kernel where the instruction would let a mistake pass.
CHECKED = {"<mma.h>": "fragments.cuh", "common/cuda/ptx_sm90.cuh": "parity.cuh"}


@dataclasses.dataclass
class Array:
    kind: str
    shape: tuple
    values: list = None  # None: the kernel writes them

    def bytes(self):
        return math.prod(self.shape) * struct.calcsize(NPY[self.kind][1])

    def write(self, path):
        descr, letter = NPY[self.kind]
        head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {self.shape}, }}".ljust(117).encode() + b"\n"
        path.write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head + struct.pack(f"<{len(self.values)}{letter}", *self.values))

    def read(self, path):
        data = path.read_bytes()
        start = 10 + struct.unpack_from("<H", data, 8)[0]
        assert ast.literal_eval(data[10:start].decode())["descr"] == NPY[self.kind][0]
        return list(struct.unpack_from(f"<{math.prod(self.shape)}{NPY[self.kind][1]}", data, start))


def array(kind, *given):
    return Array(kind, given[:-1], given[-1])


def f16(*given):
    return array("f16", *given)


def f32(*given):
    return array("f32", *given)


def out(kind, *shape):
    return Array(kind, shape)


@dataclasses.dataclass
class Ran:
    outs: list
    reports: list
    count: object  # () -> {counter: value}

    @functools.cached_property
    def counters(self):
        return self.count()


class Kernel:
    """A file of CUDA C, compiled. ANSWER: what stands behind `// ANSWER = ` in it; None as long as that is None."""

    def __init__(self, source):
        self.source, text = pathlib.Path(source).resolve(), pathlib.Path(source).read_text(errors="replace")
        found = re.search(r"^// ANSWER = *(.*?) *(?:\(.*)?$", text, re.M)
        self.parameters = {name: re.findall(r"(\w+)\s*(?:,|$)", inside)
                           for name, inside in re.findall(r"__global__\s+void\s+(?:__launch_bounds__\(\d+\)\s+)?(\w+)\s*\(([^)]*)\)", text)}
        bare = next((n for n, line in enumerate(text.splitlines(), 1) if line.startswith("ANSWER")), None)
        if bare:
            raise Refused(f"{shown(self.source)}({bare}): the answer is no longer a comment: put // before ANSWER again")
        self.ANSWER = None if not found or found[1] in ("", "None") else found[1].strip("'\"")
        self.before = [HERE / ours for theirs, ours in CHECKED.items() if theirs in text]
        headers = "".join(path.read_text() for path in [*sorted((ROOT / "common/cuda").glob("*.cuh")), *self.before])
        key = hashlib.sha256(repr((str(self.source), text, headers, nvcc())).encode()).hexdigest()[:16]
        self.ptx = BUILD / "steps" / f"{key}.ptx"
        if not self.ptx.exists():
            self._compile()

    def _compile(self):
        self.ptx.parent.mkdir(parents=True, exist_ok=True)
        new = self.ptx.with_suffix(".new")
        try:
            done = subprocess.run([nvcc(), "-std=c++17", "-lineinfo", "-w", "-ptx", f"-arch={ARCH}", "-I.", f"-I{BUILD / 'include'}",
                                   *(word for path in self.before for word in ("-include", shown(path))), "-o", new, shown(self.source)], cwd=ROOT, capture_output=True, text=True)
        except FileNotFoundError:
            raise Refused("there is no nvcc: `make setup` installs CUDA's compiler") from None
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()[-1:] or ["nvcc said nothing"]
            raise Refused("it does not compile: " + said[0].replace(f"{ROOT}/", ""))
        new.replace(self.ptx)

    def fenced(self, use):
        """Does a proxy fence stand between the stores to shared memory and the barrier behind them, wherever `use` follows? The
        emulator also lets one pass that the user's thread executes behind the barrier, for the stores of others."""
        before = re.split(re.escape(use), self.ptx.read_text())[:-1]
        behind = [text[text.rindex("st.shared"):] for text in before if "st.shared" in text]
        return all("fence.proxy.async" in re.split(r"\bbar(?:rier)?\.(?:cta\.)?sync", text)[0] for text in behind)

    def run(self, name, *arguments, threads=32, blocks=1, shared=0, options=()):
        """options: of build/run, say --schedule random. What it counts, machine code, is made and read where a check looks at
        counters: that takes a second, the run a hundredth."""
        def once(*more):
            return self._once(name, arguments, threads, blocks, shared, [*options, *more])
        outs, reports, _ = once("--count-ptx")
        return Ran(outs, reports, lambda: once()[2])

    def _once(self, name, arguments, threads, blocks, shared, options):
        """What it leaves in the arrays without values, its reports, its counters."""
        with tempfile.TemporaryDirectory() as folder:
            said, outs = [], []
            for n, given in enumerate(arguments):
                path = pathlib.Path(folder) / f"{n}.npy"
                if not isinstance(given, Array):
                    said += ["--arg", f"{'f32' if isinstance(given, float) else 'i32'}={given}"]
                    continue
                if given.values is None:
                    outs.append((given, path))
                else:
                    given.write(path)
                shape = "x".join(map(str, given.shape))
                said += ["--arg", f"{given.kind}[{shape}]={'out:' if given.values is None else ''}{path}"]
            record = pathlib.Path(folder) / "record.jsonl"
            command = [BUILD / "run", "--device", "emu", "--no-predict", "--quiet", "--jobs", "1", "--timeout", EMULATOR_S, "--json", record, *options,
                       "--kernel", name, "--grid", blocks, "--block", threads, "--shared", shared, *said, self.ptx]
            try:
                done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True)
            except FileNotFoundError:
                raise Refused("build/run is not built: `make build/run` builds it") from None
            if done.returncode not in (0, 1) or not record.exists():
                raise Refused((done.stderr.strip().splitlines() or ["build/run said nothing"])[0].removeprefix("run: "))
            ran = json.loads(record.read_text().splitlines()[0])
            counters = {counter["name"]: counter.get("value") for counter in ran["kernels"][0]["counters"]}
            arrays = [(f"{called}: {' x '.join(map(str, given.shape))} {given.kind}", given.bytes())
                      for called, given in zip(self.parameters.get(name, []), arguments) if isinstance(given, Array)]
            return [given.read(path) for given, path in outs], [named(report.replace(f"{ROOT}/", ""), arrays) for report in ran["reports"]], counters


def named(report, arrays):
    """A report with the names of the arrays, [(name and shape, bytes)], that can be the allocation it tells of."""
    def name(match):
        fit = [name for name, n_bytes in arrays if n_bytes == int(match[2])]
        where = "just behind the end" if match[1] == "0" else f"{match[1]} bytes past the end"
        return f"{where} of an allocation of {match[2]} bytes" + (f" ({' or '.join(fit)})" if fit else "")
    return re.sub(r"(\d+) bytes past the end of an allocation of (\d+)", name, report)


def integers(n, seed):
    """n of -4 .. 4 without a pattern, the same everywhere: sums of their products are exact, and a wrong address shows."""
    draw = random.Random(seed)
    return [int(draw.random() * 9) - 4 for _ in range(n)]


ADDRESS = "an address of the line that is named is not what you meant"
HINTS = [("race", "two threads reach one place, and nothing orders them: which wait or barrier belongs between these two lines?"),
         ("uninitialised", "this is read before it is written: has what writes it come, and has this thread waited for it?"),
         ("divergent", "all lanes of a warp make this call together: which condition keeps some of them away?"),
         ("endless", "is there a loop whose condition never becomes false? What changes it from turn to turn?"),
         ("bad operand", "an argument of the call on the named line is not what the instruction takes: compare each with the text, sizes and numbers too"),
         ("trap.*fragments.cuh", "a lane has x[0] to x[7] of a fragment, not all 256 elements: loop over i < num_elements"),
         ("trap.*parity.cuh", "a parity is 0 or 1, the last bit of the phase's number: which phase is tile n, and what is its last bit?"),
         ("misaligned.*wmma", f"{ADDRESS}: a square begins at a multiple of 16 columns. What is added to the pointer, in elements?"),
         ("misaligned", f"{ADDRESS}: an access of several bytes needs an address that is a multiple of them. Which index must be even, or a multiple of more?"),
         (".*out of bounds.*wmma", f"{ADDRESS}: where does the square begin, in elements from the pointer, and how far apart are its rows?"),
         ("", f"{ADDRESS}: which element did this lane mean, and is there one?")]


def hint_of(report):
    """For a report of the emulator that a check knows nothing more about."""
    return next(hint for pattern, hint in HINTS if re.match(pattern, report, re.S))


def near(a, b):
    return a == b or a != a and b != b or abs(a - b) <= 1e-3 * max(1, abs(b))


BEHIND_THE_BARRIER = ("the proxy fence stands behind the barrier", "a thread fences the stores that it has made itself, and then says at a barrier that they can be seen:"
                      " on which side of the barrier does the fence stand?")


def transposed(values, columns):
    return [x for c in range(columns) for x in values[c::columns]]


def parts(name, got, wanted, columns):
    """None if got is wanted (flat lists of numbers), else where they part: the first wrong row of both, and a map of all."""
    wrong = {n for n, pair in enumerate(zip(got, wanted)) if not near(*pair)}
    if not wrong:
        return None
    n = min(wrong)
    row = n // columns * columns
    here = slice(max(row, n - 7), min(row + columns, max(row, n - 7) + 16))
    said = f"{name}[{n // columns}][{n % columns}] is {got[n]:g}, not {wanted[n]:g}; {len(wrong)} of {len(wanted)} elements are wrong\n"
    said += f"    row {n // columns}, from column {here.start - row}\n"
    for what, values in [("got", got), ("wanted", wanted)]:
        said += f"      {what:7}" + "".join(f" {value:5.4g}" for value in values[here]) + "\n"
    if len(wrong) < len(wanted) * 3 // 4:
        said += "    all rows, . right, X wrong\n"
        for first in range(0, len(wanted), columns):
            said += "      " + "".join("X" if n in wrong else "." for n in range(first, first + columns)) + "\n"
    return said.rstrip()
