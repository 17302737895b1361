#!/usr/bin/env python3
"""What a student asks of an exam on GEMM: exam.py check|see|compile exam-N [--source FOLDER] [--device emu|auto|cuda]

check: is something written, does it compile, are answers right without a race in four orders, do tensor cores multiply? For the
first thing that fails: where, and a hint. see: the time predicted for an H200, beside ours. compile: PTX, to --out.
Kernels run in build/run, launched by launch.cu. Exit 0: right; 1: not yet; 2: usage; 4: something is missing here."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "steps")]
import build  # noqa: E402
import diary  # noqa: E402
import lab_folder  # noqa: E402
import cuda  # noqa: E402: of the steps: a hint for a report
import step  # noqa: E402
from lab_folder import ROOT, lines_of  # noqa: E402

ORDERS = {"round-robin": [], "random": ["--schedule", "random"], "adversarial": ["--schedule", "adversarial"], "early": ["--early"]}
REFUSED = (3, 4)                             # of launch.cu: a launch that cannot be
SECONDS, MOST_INSTRUCTIONS = 20, 5_000_000   # of a launch; the longest one of ours has 70,000
COUNTED = "256x256x128"                      # the problem whose counts are compared
TIMED = "1024x2048x1024"

# What is seen, by a regular expression, and what to ask: the first that fits.
HINTS = [(r"is missing: both", "the check and the grader find these two by their names: keep both lines of the signature"),
         (r"^launch is|^cu\w+\(", "launch[4] has rows and columns of a block, its threads and its bytes of shared memory: README.md says how many"),
         (r"like: 256 lies", "in this problem row i of A and of B is 16 in column i, else 0: so C is 256 on its diagonal, where column i of A meets"
                            " column i of B. The map shows where they met: which lane, copy or descriptor names another row or column than it should?"),
         (r"like: each is near", "C and the sums are fp32: where is something rounded to half?"),
         (r"like: it is C\^T", "each element is right and lies at (column, row): which of the two does a lane's place give?"),
         (r"like: columns .* are not in it", "the last columns of A and B are not multiplied: how many tiles has k, rounded up?"),
         (r"like: only columns 0 to", "only the first tile is in C: which column do the boxes or copies of the next tiles begin at?"),
         (r"like: only columns", "only the last tile is in C: the sums have to go on from tile to tile"),
         (r"behind column", "C ends at column n: which lanes may store?"),
         (r"is nan, not", "NaN is what nothing has written, and what lies behind the rows of A and B: is each element of C stored, and"
                          " each element of a tile that is multiplied either of A or B, or zero? Does each sum begin with zero?"),
         (r"is 0, not", "zero is what an accumulator begins with: which products are left out?"),
         (r"(\d+) of \1 elements are wrong", "no element is right, so look at what all have in common: which columns of A meet which of B, and how many tiles?")]

# For a report of the emulator, by a regular expression at its beginning; cuda.py has those of all kernels.
REPORTS = {"deadlock": "a line waits for a phase that does not end: how many arrivals and bytes end it, how many come, and which parity is asked for?",
           "(race|note).*writes .*global .* which .* wrote": "two threads store the same element of C: is column n of a row the next row's"
                                                             " beginning, and does each element have one thread?",
           "note.*same value": "two threads write one place, here by chance the same value: which of them should?",
           "note.*was initialised": "TMA is told of a barrier that it may not see yet: which fence belongs behind the init? Step 6b",
           "missing fence": "TMA and WGMMA do not see what threads store to shared memory by themselves: which fence, and on which side of the"
                            " barrier? Step 5b",
           "barrier mismatch": "all threads of a barrier name the same one and the same number of threads: which come here, and which elsewhere?",
           "shared access out of bounds": "the address lies outside of the block's shared memory: do launch[3] bytes hold all stages, and is there such a row or stage?",
           "mbarrier": "count for this barrier, in one phase: the arrivals, the bytes that are announced, the bytes that come",
           "operand in flight": "the product that this line needs is under way: was it committed to a group, and has this warp waited for that group?",
           "wgmma": "what has to stand between other uses of these registers and the product, and behind it? Step 5b"}


def file_of(folder, source):
    file = source / folder.files[0].name
    if not file.exists():
        raise LookupError(f"{build.shown(file)} is missing: `make {folder.goal}` makes it")
    return file


def compiled(folder, source, out):
    """Her file to PTX, as the grader compiles it."""
    file = file_of(folder, source)
    out.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([build.nvcc(), "-std=c++17", "-lineinfo", "-w", "-ptx", f"-arch={folder.architecture}", "-I.",
                           f"-I{build.BUILD / 'include'}", "-o", out, build.shown(file)], cwd=ROOT, capture_output=True, text=True)
    said = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()[-1:]
    if done.returncode:
        raise build.Refused("it does not compile:\n  " + "\n  ".join(said[:5]).replace(f"{ROOT}/", ""))
    return out


class Ran:
    """One launch: status, what the launching program and the emulator said, counters."""

    def __init__(self, folder, ptx, words, options):
        with tempfile.TemporaryDirectory() as scratch:
            record = pathlib.Path(scratch) / "record.jsonl"
            command = [build.BUILD / "run", "--quiet", "--device", "emu", "--jobs", "1", "--json", record, *options, build.BUILD / "exams/launch",
                       folder.goal, ptx, *words]
            done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True)
            found = json.loads(record.read_text().splitlines()[0]) if record.exists() else {"reports": [], "kernels": []}
        complaint = (done.stderr.strip().splitlines() or ["build/run said nothing"])[0].removeprefix("launch: ")
        self.status, self.told = done.returncode, complaint if done.returncode in REFUSED else done.stdout
        self.reports = [report.replace(f"{ROOT}/", "") for report in found["reports"]]
        self.counts = {c["name"]: c["value"] for kernel in found["kernels"] for c in kernel["counters"] if "value" in c}
        self.untimed = next((c["na"] for kernel in found["kernels"] for c in kernel["counters"] if c["name"] == "duration_us" and "na" in c), "")
        if self.status not in (0, 1, *REFUSED) and not self.reports:
            raise build.Refused(complaint)

    @property
    def first(self):
        """What is wrong, in a line; "" if nothing is."""
        return (self.reports[0] if self.reports else self.told if self.status else "").split("\n")[0]


def problems():
    """[(name, words for launch.cu)], from the simplest on."""
    return [(line.split()[0], line.split()[1:]) for _, line in lines_of(HERE / "problems")]


def say(ok, what):
    print(f"{'ok  ' if ok else 'NOT '} {what}")
    return ok


def hint_of(ran):
    if ran.reports:
        return next((hint for begin, hint in REPORTS.items() if re.match(begin, ran.reports[0])), None) or cuda.hint_of(ran.reports[0])
    return next((hint for regex, hint in HINTS if re.search(regex, ran.told)),
                "the map shows where C is wrong: is it a lane's rows or columns, a warp's, a block's, or the edges?")


def answers(folder, ptx):
    """Problems one by one, each in all orders; stops at the first that is wrong: (what was seen, hint)."""
    options = ["--no-predict", "--timeout", SECONDS, "--max-instructions", MOST_INSTRUCTIONS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tried = [(name, words, {how: pool.submit(Ran, folder, ptx, words, [*options, *more]) for how, more in ORDERS.items()})
                 for name, words in problems()]
        for name, words, runs in tried:
            runs = {how: run.result() for how, run in runs.items()}
            how, bad = next(((how, ran) for how, ran in runs.items() if ran.first), (None, None))
            if not say(not bad, f"{name:10} {' '.join(words)}{f', {how}: {bad.first}' if bad else ''}"):
                for _, _, later in tried:
                    for run in later.values():
                        run.cancel()
                more = "\n".join([*bad.reports[:1], bad.told.partition("\n")[2]]).strip()
                print(f"\n{more}" if more else "")
                return bad.first, hint_of(bad)
    return None


def counted(folder, ptx):
    ours = Ran(folder, build.BUILD / folder.built / f"{folder.images[0]}.{folder.architecture}.ptx", [COUNTED], ["--no-predict"])
    mine = Ran(folder, ptx, [COUNTED], ["--no-predict"])
    broken = lab_folder.judge(folder.conditions, mine.counts, ours.counts, dict(zip("MNK", map(int, COUNTED.split("x")))))
    for condition in folder.conditions:
        bound = next((bound for one, _, bound in broken if one is condition), None)
        say(bound is None, f"{condition.counter:22} {mine.counts[condition.counter]:.10g}{'' if bound is None else f', wanted {condition.relation} {bound:g}'}")
    return broken and (f"{broken[0][0].counter} is {broken[0][1]:.10g}", f"the answer is right, and this is counted on {COUNTED}: `make {folder.goal} source`"
                       " shows what each line does")


def checked(folder, source, ptx):
    """None if all is right, else (what was seen, hint)."""
    file = file_of(folder, source)
    text = file.read_text(errors="replace")
    if step.is_open(text, "//"):
        line = 1 + text[:text.index("YOUR CODE HERE")].count("\n")
        say(False, f"{build.shown(file)}:{line}: nothing is written yet: C = A B^T")
        return "nothing is written yet", f"{build.shown(source / 'README.md')} says what is asked; `make {folder.goal} hint` how to begin"
    build.waiting("compiling")
    try:
        compiled(folder, source, ptx)
    except build.Refused as why:
        if "does not compile" not in str(why):
            raise
        say(False, str(why))
        return str(why), "the compiler names file and line"
    say(True, "it compiles")
    bad = answers(folder, ptx) or counted(folder, ptx)
    if bad:
        return bad
    print(f"\n{folder.name.capitalize()} is right: answers, no race in {len(ORDERS)} orders, counts. How long it would take: make {folder.goal} see")
    return None


def seen(folder, source, ptx):
    ours = build.BUILD / folder.built / f"{folder.images[0]}.{folder.architecture}.ptx"
    compiled(folder, source, ptx)
    options = ["--no-races", "--counters", "CYCLES,TENSOR"]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda file: Ran(folder, file, [TIMED], options), (ptx, ours)))
    print(f"{TIMED}, predicted for an H200\n\n{'':6} {'us':>8} {'tensor pipe %':>14}")
    for who, ran in zip(("yours", "ours"), runs):
        if "duration_us" not in ran.counts:
            file, line, why = lab_folder.untimed(ran.untimed or ran.first or "there is no predicted time", folder.goal)
            raise build.Refused(f"{f'{file}:{line}' if file else who}: {why}".replace(f"{ROOT}/", ""))
        print(f"{who:6} {ran.counts['duration_us']:8.1f} {ran.counts['tensor_active_pct']:14.1f}")
    if runs[0].status:
        print(f"\nC is wrong, so this time counts for nothing: {runs[0].first}. `make {folder.goal} check` says more")
        return True
    ratio = runs[0].counts["duration_us"] / runs[1].counts["duration_us"]
    print(f"\nyours takes {ratio:.2f} times as long as ours: the grader gives full points for time up to {lab_folder.FULL_TIME:g} times")


def main():
    parser = argparse.ArgumentParser(description="checks an exam's kernel")
    parser.add_argument("verb", choices=["check", "see", "compile"])
    parser.add_argument("exam", metavar="exam-N")
    parser.add_argument("--source", metavar="FOLDER", help="where gemm.cu is (default: my-labs/exam-N)")
    parser.add_argument("--device", choices=["emu", "auto", "cuda"], default="emu", help="only emu: a GPU is for make grade")
    parser.add_argument("--out", metavar="FILE")
    given = parser.parse_args()
    try:
        folder = lab_folder.read(given.exam)
        source = pathlib.Path(given.source or ROOT / "my-labs" / given.exam)
        ptx = pathlib.Path(given.out or build.BUILD / "exams" / f"{given.exam}-{os.getpid()}" / "gemm.ptx").absolute()
        try:
            if given.verb == "compile":
                return not compiled(folder, source, ptx)
            if given.verb == "see":
                return seen(folder, source, ptx)
            bad = checked(folder, source, ptx)
            if bad:
                print(f"\nhint: {bad[1]}")
            diary.note(source, folder.goal, "not yet" if bad else "right", *(bad or ()))
            return bool(bad)
        finally:
            if not given.out:
                ptx.unlink(missing_ok=True)
                if ptx.parent.exists():
                    ptx.parent.rmdir()
    except (LookupError, OSError) as why:
        print(f"{given.verb}: {why}", file=sys.stderr)
        return 2
    except build.Refused as why:
        print(f"{given.verb}: {why}", file=sys.stderr)
        return 1 if "does not compile" in str(why) else 4


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "common/base"))
    import main_program
    main_program.run(main)
