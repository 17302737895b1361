"""The grader against solutions, skeletons, cheats and honest variants: TAP, and a table at the end.

    run.py [all] [LAB]  all: every one; else a sample, the same in every run. LAB: what is tried of this lab
    $DEVICE: emu (default) or cuda; $J at a time"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "notebooks/course/grade"), str(ROOT / "notebooks/course")]
import cheats  # noqa: E402
import compile  # noqa: E402
import grade  # noqa: E402
import lab_folder  # noqa: E402
import mistakes  # noqa: E402
import sandbox  # noqa: E402
import strip  # noqa: E402
import variants  # noqa: E402

EVERYTHING = "all" in sys.argv
ONLY = [int(word) for word in sys.argv[1:] if word.isdigit()]
DEVICE = os.environ.get("DEVICE") or "emu"
GPU = DEVICE != "emu"
SEED = "a secret that no file may show"
table, n, failed = {}, 0, 0


def check(name, passed, why=""):
    global n, failed
    n += 1
    failed += not passed
    print(f"{'ok' if passed else 'not ok'} {n} - {name}", *(f"# {line}" for line in ("" if passed else str(why)).split("\n") if line),
          sep="\n", flush=True)


def graded(lab, files, seed=SEED):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (pathlib.Path(folder) / name).write_text(text)
        return grade.grade(lab, folder, seed, DEVICE, jobs=1)


jobs = []


def judged(kind, name, number, files, passes, seed=SEED):
    """To be tried, when all are known: several at a time."""
    if not ONLY or number in ONLY:
        jobs.append((kind, name, labs[number], files, passes, seed))


def judge_all():
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("J") or os.cpu_count())) as pool:
        results = [pool.submit(graded, job[2], job[3], job[5]) for job in jobs]
        for (kind, name, lab, files, passes, _), result in zip(jobs, results):
            try:
                result = result.result()
            except sandbox.Refused as why:
                table.setdefault((lab.number, kind), []).append(False)
                check(f"{kind}, lab {lab.number}: {name}", False, why)
                continue
            passed = bool(passes(result))
            table.setdefault((lab.number, kind), []).append(passed)
            check(f"{kind}, lab {lab.number}: {name}: {result.score:g} points", passed, result.table())
            if kind == "cheats" and SEED in result.table() + json.dumps(result.as_json()):
                check(f"{name}: the secret stays one", False)


def sandboxed(command, **more):
    return sandbox.run(["/bin/sh", "-c", command], {}, {}, more.pop("seconds", 10), more.pop("megabytes", 512), **more)


def print_table():
    kinds = ["solutions", "skeletons", "cheats", "wrong kernels", "honest variants"]
    print(f"1..{n}")
    print(f"#| {'lab':5}" + "".join(f"{kind:>17}" for kind in ("solutions full", "skeletons not", "cheats score 0", "wrong ones lose", "variants full")))
    for number in labs:
        done = [table.get((number, kind), []) for kind in kinds]
        print(f"#| {number:<5}" + "".join(f"{f'{sum(some)} of {len(some)}' if some else '-':>17}" for some in done))


CLOCK = grade.nvdisasm().exists()
compile.SECONDS = 40 if EVERYTHING else 15
labs = {number: lab_folder.read(number) for number in lab_folder.numbers()}
for number, lab in labs.items():
    if not EVERYTHING and not GPU and number not in (2, 4):
        continue
    files = {file.name: (ROOT / file).read_text() for file in lab.files}
    # full points, for time too where there is any: lab 5 has none
    judged("solutions", "full points", number, files, lambda result: result.score == 100 and (
        result.points["time"] > 0) == (result.lab.number != 5 and CLOCK))
    bare = {name: strip.strip(text, number) for name, text in files.items()}
    if EVERYTHING or GPU or number == 2:
        judged("skeletons", "not done", number, bare, lambda result: result.score < 50 and result.lost or result.void)

SAMPLE = ["useless products, minus themselves", "copies by tensor cores, products by hand", "no products at all", "our kernel, included by its place",
          "our kernel, embedded", "the shape recognised", "a cache in global memory", "the answer is there already",
          "right only on some SMs", "the verdict written", "the environment included", "reads beyond its tensors",
          "mma_sync renamed", "the kernel renamed", "an endless loop", "memory without end", "a compile without end",
          "lab 1, tensor cores in the scalar lab", "lab 1, nothing under the predictor", "lab 6, useless products",
          "lab 6, the answer is there already"]
given = cheats.all()
for name, (number, files) in given.items():
    if EVERYTHING or name in SAMPLE:
        judged("cheats", name, number, files, lambda result: result.score == 0)

# one wrong case of ten costs its 9 points, and all 10 for time
for name, (number, files) in cheats.wrong().items():
    judged("wrong kernels", name, number, files, lambda result: result.score <= 81 and "answers" in [lost.part for lost in result.lost])

# right answers, products that do not overlap: the check's condition is the grader's, too
no_overlap = next(mistake for mistake in mistakes.read(labs[6]) if mistake.name == "No overlap")
if EVERYTHING or 6 in ONLY:
    with tempfile.TemporaryDirectory() as folder:
        mistakes.make(labs[6], no_overlap, pathlib.Path(folder))
        files = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}
    judged("wrong kernels", "products that do not overlap", 6, files, lambda result: 90 < result.score < 100 and "groups_in_flight is 1" in result.table())

# the squares of S from last to first: what is hidden by masks and tails comes first, and speaks against nobody
last_first = {"kernel.cu": cheats.changed(cheats.QK, (variants.ROWS_2, variants.ROWS_2.replace(
    "int n = 0; n < BKV / 16; n++", "int n = BKV / 16 - 1; n >= 0; n--")))}
for seed in ("s7", "s9", "s10"):
    judged("honest variants", f"squares from last to first, {seed}", 2, last_first, lambda result: result.score == 100, seed)

# what students write that our own kernels do not have
for name, pairs in variants.HANDS.items():
    judged("honest variants", name, 2, {"kernel.cu": cheats.changed(cheats.QK, *pairs)}, lambda result: result.score == 100)

most = 60 if EVERYTHING else 6 if GPU else 4
kinds = list(labs) if EVERYTHING or GPU else [2, 5]
different = set()
for seed in range(most):
    number = kinds[seed % len(kinds)]
    how, files = variants.make(labs[number], seed)
    different.add((number, *files.values()))
    judged("honest variants", how, number, files, lambda result: result.score == 100)

check(f"{len(different)} different variants", len(different) >= (50 if EVERYTHING else most - 1))

# ---- Time, predicted
CHAIN = """        int at = 0;
#pragma unroll 1
        for (int w = 0; w < 60; w++) at = *(const unsigned short *)(args.q + at % 8);
        if (at == 65535) return;
"""
TILE = "        float s_frag[4][BKV / 8];\n"
TIMER = """
extern "C" int cuEventElapsedTime(float *ms, void *, void *) { *ms = 1e-6f; return 0; }
extern "C" int cuEventElapsedTime_v2(float *ms, void *, void *) { *ms = 1e-6f; return 0; }
"""
SLOW = cheats.changed(cheats.QK, (TILE, CHAIN + TILE))
if CLOCK:
    judged("time", "a slow kernel loses some of it, and nothing else", 2, {"kernel.cu": SLOW},
           lambda result: [lost.part for lost in result.lost] == ["time"] and 0 < result.lost[0].points < grade.TIME)
    judged("time", "and as much with a timer of its own", 2, {"kernel.cu": SLOW + TIMER},
           lambda result: [lost.part for lost in result.lost] == ["time"] and 0 < result.lost[0].points < grade.TIME)
if CLOCK and not GPU:
    # what the predictor does not know costs the time, and the line is said: of the kernel, not of the toolkit's header
    unknown = cheats.changed(cheats.QK, (TILE, "        if (__vadd2((unsigned)tid, 3u) == ~0u) return;\n" + TILE))
    at = 1 + unknown[:unknown.index("__vadd2")].count("\n")
    judged("time", "an instruction that the predictor does not know costs the time, and no more", 2, {"kernel.cu": unknown},
           lambda result: result.score == 100 - grade.TIME and [(lost.part, lost.file, lost.line) for lost in result.lost] == [
               ("time", "kernel.cu", at)] and "does not know VIADD" in result.lost[0].why)
judge_all()
if ONLY or GPU:
    print_table()
    sys.exit(failed > 0)

# ---- The same for the same seed, another for another; what files say
lab, whole = labs[2], {"kernel.cu": (ROOT / cheats.QK).read_text()}
racy = {"kernel.cu": cheats.changed(cheats.QK, ("        __syncwarp(); // 32 lanes wrote this warp's stripe of s_smem; each may now read all of it\n"
                                                "        // END SOLUTION\n", "        // END SOLUTION\n"))}
once, twice = graded(lab, racy), graded(lab, racy)
check("the same seed gives the same grade", {**once.as_json(), "submission": ""} == {**twice.as_json(), "submission": ""}, f"{once.table()}\n{twice.table()}")
race = [lost for lost in once.lost if lost.part == "checks"]
check("a race costs its points, with file and line", race and race[0].file == "kernel.cu" and race[0].line
      and "race" in race[0].why and 0 < once.score < 80, once.table())
check("another seed draws other cases", {case["case"] for case in graded(lab, racy, "other").cases}.isdisjoint(
    {case["case"] for case in once.cases}))
try:
    import xml.etree.ElementTree as xml
    suite = xml.fromstring(once.junit())
    check("JUnit", suite.get("failures") == "2" and len(suite) == 4, once.junit())
except Exception as error:  # noqa: BLE001: a test
    check("JUnit", False, error)

# ---- The sandbox
if sandbox.mode() == "bubblewrap":
    seen = sandboxed(f"ls {ROOT} /home /root /work /var 2>/dev/null; env; id -u; cat /proc/net/dev | wc -l")
    check("a sandbox shows no files, no environment, no user of this machine",
          seen.out.split() and "SEED" not in seen.out and str(ROOT) not in seen.out and "0" not in seen.out.split(), seen)
    check("threads that wait there leave their core to others", "OMP_WAIT_POLICY=passive" in seen.out.split(), seen)
    check("no network", "lo:" in sandboxed("cat /proc/net/dev").out and "eth0" not in sandboxed("cat /proc/net/dev").out)
    check("no other process", len(sandboxed("ls -d /proc/[0-9]*").out.split()) <= 4)
    check("nothing can be written but the output", sandboxed("echo x > /usr/x || echo x > /usr/bin/x").status != 0)
check("what crashes without a word is said", sandboxed("kill -SEGV $$").crashed == "it ended by SIGSEGV" and
      sandboxed("exit 3").crashed == "it ended with status 3" and not sandboxed("echo no >&2; exit 3").crashed)
check("endless work is ended", sandboxed("while :; do :; done", seconds=4).killed)
try:
    starved = sandboxed("sleep 60", seconds=1)
except sandbox.Refused as why:
    starved = str(why)
check("a machine too busy is no fault of a student's", "too busy" in str(starved), starved)
check("memory is limited", sandboxed("x=x; while :; do x=$x$x; done", megabytes=64, seconds=20).status != 0)


# ---- The command
def says(name, status, text, *words, **environment):
    done = subprocess.run([sys.executable, ROOT / "notebooks/course/grade/grade.py", *words], capture_output=True, text=True,
                          env={**os.environ, **environment})
    check(name, done.returncode == status and text in done.stderr and done.stderr.count("\n") == 1,
          f"status {done.returncode}: {done.stderr}")


with tempfile.TemporaryDirectory() as folder:
    for number in (4, 5):  # and no image
        shutil.copy(grade.build() / f"trial-{number}", folder)
    seen = []
    for libraries in ("", str(grade.build() / "tests/fake")):
        with unittest.mock.patch.dict(os.environ, LD_LIBRARY_PATH=libraries, BUILD=folder):
            seen += [grade.gpu_here(labs[number]) for number in (4, 5)]
    check("a GPU is seen, whatever images are there", seen == [False, False, True, True], seen)
says("no such lab", 2, "there is no lab 9", "--lab", "9", "--submission", "x.cu", "--seed", "s")
says("no such file", 2, "there is no x.cu", "--lab", "2", "--submission", "x.cu", "--seed", "s")
says("a folder that cannot be written", 5, "cannot write to /dev/null/x: Not a directory; make it writable", "--lab", "2", "--submission", str(ROOT / cheats.QK),
     "--seed", "s", "--out", "/dev/null/x")
says("no bubblewrap", 77, "SANDBOX=weak", "--lab", "2", "--submission", str(ROOT / cheats.QK), "--seed", "s",
     PATH=str(pathlib.Path(sys.executable).parent))


# ---- Interrupted: no folder is left, and nobody runs on
def processes(word):
    """Command lines that have the word."""
    lines = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return [line for line in lines if word in line]


def interrupted(name, number, cheat, begun, program, *words):
    """SIGNAL while a cheat is graded, at work once there is a folder `begun`."""
    with tempfile.TemporaryDirectory() as folder:
        course, scratch = pathlib.Path(folder) / "course", pathlib.Path(folder) / "tmp"
        (course / "mallory/lab-2").mkdir(parents=True), scratch.mkdir()
        for file, text in given[cheat][1].items():
            (course / "mallory/lab-2" / file).write_text(text)
        run = subprocess.Popen([sys.executable, ROOT / "notebooks/course/grade" / program, *(str(word).format(course) for word in words)],
                               env={**os.environ, "TMPDIR": str(scratch)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while not (list(scratch.glob(begun)) and processes(str(scratch))) and run.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        busy, since = run.poll() is None, time.monotonic()
        run.send_signal(number)
        status, took = run.wait(60), time.monotonic() - since
        left = [str(path) for path in scratch.iterdir()] + processes(str(scratch))
        check(name, busy and status == 128 + number and took < 5 and not left, f"at work: {busy}, status {status} after {took:.1f} s, left: {left}")


one = ["--lab", 2, "--submission", "{}/mallory/lab-2", "--seed", SEED]
interrupted("killed while it compiles", signal.SIGTERM, "a compile without end", "grade-*/made", "grade.py", *one)
interrupted("Ctrl-C while a kernel runs", signal.SIGINT, "an endless loop", "grade-*/case-0", "grade.py", *one)
interrupted("grade-all, killed", signal.SIGTERM, "a compile without end", "grade-*/made", "grade_all.py", "{}", "--seed", SEED,
            "--out", "{}/grades")

os.environ["SANDBOX"] = "weak"
sandbox.mode.cache_clear()
number, files = given["our kernel, included by its place"]
check("without a sandbox, what was included is seen afterwards", graded(labs[number], files).score == 0)

print_table()
sys.exit(failed > 0)
