"""What a check says of kernels of labs 1, 2 and 4: it refuses what the grader refuses, and its hints ask about what was seen. TAP."""
import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("tests/course/grade", "notebooks/course/grade", "notebooks/course")]
import build  # noqa: E402
import check  # noqa: E402
import cheats  # noqa: E402
import compile  # noqa: E402
import lab_folder  # noqa: E402
import screen  # noqa: E402
import variants  # noqa: E402

n = failed = 0
lab = lab_folder.read(2)


def ok(what, good, why=""):
    global n, failed
    n, failed = n + 1, failed + (not good)
    print(f"{'ok' if good else 'not ok'} {n} - {what}", *(f"# {line}" for line in str(why).splitlines() if not good), sep="\n", flush=True)


# ---- The text of a PTX file has what the emulator finds in it
for number in lab_folder.numbers():
    one = lab_folder.read(number)
    ptx = ROOT / "build" / one.built / f"{one.images[0]}.{one.architecture}.ptx"
    text, parsed = screen.facts(ptx.read_text()), compile.facts(one, ptx)
    clocks = {k for k, names in parsed["specials"].items() if any(name.strip("%").split(".")[0] not in screen.SPECIAL for name in names)}
    ok(f"lab {number}: kernels, variables, calls, clocks", all(set(text[k]) == set(parsed[k]) for k in ("kernels", "variables", "calls", "products"))
       and {k for k, names in text["specials"].items() if names} == clocks, (text, parsed))
    own = {path for path in compile.headers(one) if not str(path).startswith("build/")}
    ok(f"lab {number}: the headers of the grader", own <= set(screen.headers(one)), own - set(screen.headers(one)))


# ---- Accepted by both, or refused by both
def edited(*pairs):
    return {"kernel.cu": cheats.changed(cheats.QK, *pairs)}


START, INCLUDED = variants.AT_THE_START, variants.INCLUDED
tried = {name: edited(*pairs) for name, pairs in variants.HANDS.items()} | {
    "malloc": edited((START, "    if (args.seqlen_q == 12345) *(volatile char *)malloc(64) = 1;\n" + START)),
    "a clock": edited((START, "    if (clock64() == 7) return;\n" + START)),
    "a variable": edited((INCLUDED, INCLUDED + "__device__ int last;\n"), (START, "    if (tid == 0) last = q0;\n" + START)),
    "a table in global memory": edited((START, "    static const int order[4] = {0, 16, 32, 48};\n    if (order[warp] * args.heads == 12345 + tid) return;\n" + START)),
    "bf16": edited((START, '    unsigned z[4] = {};\n    float c[4] = {};\n    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%4,%4,%4},{%4,%4},{%0,%1,%2,%3};"'
                           ' : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(z[0]));\n    if (c[0] > 1) return;\n' + START)),
    "the kernel renamed": {"kernel.cu": "#define attention attention_2\n" + (ROOT / cheats.QK).read_text()},
    "a header of one's own": edited((INCLUDED, INCLUDED + '#include "X.h"\n')) | {"X.h": "\n"},
    "another lab's header": edited((INCLUDED, INCLUDED + '#include "common/cuda/gmma_desc.h"\n'))}
for name, files in tried.items():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "out").mkdir()
        for file, text in files.items():
            (folder / file).write_text(text)
        refused = []
        try:
            compile.images(lab, compile.take(folder, lab), folder / "out")
        except compile.Rejected as why:
            refused.append(str(why))
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            tried_by_check = check.Check(lab, build.Kernel(lab, folder, folder / "kernel"), "emu")
            good = tried_by_check.compiles() and tried_by_check.allowed()
        ok(f"{name}: {'refused' if refused else 'accepted'} by grader and check", good == (not refused) and bool(refused) == (name not in variants.HANDS),
           f"{refused}\n{said.getvalue()}")


# ---- A student's folder may have any name
def read_from(folder, pipeline):
    folder.mkdir()
    for path in six.files:
        (folder / path.name).write_text((pipeline if path.suffix == ".cuh" else "") + (ROOT / path).read_text())
    kernel = build.Kernel(six, folder, build.scratch(6, folder))
    kernel.compile()
    kernel.includes_allowed()


six = lab_folder.read(6)
with tempfile.TemporaryDirectory() as folder:
    try:
        said = read_from(pathlib.Path(folder) / "K's lab", "") or "nothing"
    except (build.Refused, screen.Rejected) as why:
        said = str(why)
    ok("a folder with a quote and a space in its name: accepted", said == "nothing", said)
    try:
        said = read_from(pathlib.Path(folder) / "K's other lab", "#error hers\n") or "nothing"
    except build.Refused as why:
        said = str(why)
    ok("and the headers in it are read", "hers" in said, said)


# ---- Hints
def hint(number, path, *pairs):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / path.rpartition("/")[2]).write_text(cheats.changed(path, *pairs))
        done = subprocess.run([sys.executable, ROOT / "notebooks/course/check.py", str(number), "--source", folder, "--device", "emu"],
                              capture_output=True, text=True)
    return done.stdout.partition("hint: ")[2] or done.stdout + done.stderr


SCALAR, SWIZZLE = "stages/1-scalar/kernel.cu", "stages/4-tuned/steps/3-swizzle.cu"
for what, words, number, path, *pairs in (
        ("LSE to the base of 2", "O is right and LSE is not", 1, SCALAR, ("lg2(l_frag[i])) * LN_2", "lg2(l_frag[i]))")),
        ("a row too many of LSE", "which condition keeps each store", 1, SCALAR, ("if (col0 == 0 && row < args.seqlen_q)", "if (col0 == 0 && row <= args.seqlen_q)")),
        ("a row too many of V", "0 times NaN is NaN", 1, SCALAR, ("if (row < n_rows && d < head_dim)", "if (row <= n_rows && d < head_dim)")),
        ("another head's K", "there are several heads: look at line", 1, SCALAR, ("h / (args.heads / args.kv_heads)", "h % args.kv_heads")),
        ("rows turned instead of exchanged", "side by side in shared memory?", 4, SWIZZLE, ("place = chunk ^ row % 8;", "place = (chunk + row) % 8;"),
         ("address = (base ^ chunk % 8 * 16) + chunk / 8 * 128;", "address = (base & ~127u) | ((base + chunk * 16) & 127);"))):
    said = hint(number, path, *pairs)
    ok(f"hint: {what}", words in said, said)
print(f"1..{n}")
sys.exit(failed > 0)
