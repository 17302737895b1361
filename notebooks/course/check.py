#!/usr/bin/env python3
"""Checks a student's kernel: check.py N [--source FOLDER] [--device auto|cuda|emu] [--json FILE]

Builds her files beside our host code and says, in this order: what is still to be written; whether it
compiles; whether answers are right and nothing races under three schedules (with a GPU, also there); whether
it counts what it should (notebooks/course/N/conditions). For the first thing that fails: where, and a hint that fits.
Exit 0: all is right; 1: not yet; 2: usage; 4: something is missing here."""
import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys

import build
import diary
import fragment
import lab_folder
import mistakes
import problems
import reports
import screen
import seen
from lab_folder import ROOT

SCHEDULES = ["round-robin", "random", "adversarial"]
HOW = {"early": ["--early"], "early, no races": ["--early", "--no-races"]}
SECONDS = 20  # an emulated launch takes a tenth of one; one that takes this long hangs
SIMPLE = 3    # problems: if so many are wrong, and none right, further ones would say no more
MOST_INSTRUCTIONS = 50_000_000  # of all warps of a launch; the longest one of ours has 2,300,000


@dataclasses.dataclass
class Run:
    """One problem, under one schedule or on the GPU."""
    problem: problems.Problem
    how: str
    said: str       # all complaints
    all_said: str = ""  # of every schedule
    status: int = 0
    races: list = dataclasses.field(default_factory=list)  # "PHASE: OPCODE | PHASE: OPCODE"
    o: object = None
    inputs: tuple = ()
    off: dict = dataclasses.field(default_factory=dict)  # {mistake of the model: how far O is from it}

    @property
    def failed(self):
        return self.status != 0

    @property
    def endless(self):
        return self.status == 124 or "not at its end after" in self.said

    @property
    def wrong(self):
        return "wrong answer" in self.said

    @property
    def merely_wrong(self):
        """Wrong, and no report says why."""
        return self.wrong and not reports.read(self.said)


class Phases:
    """The heading `// ---- PHASE` above a line of a student's files."""

    def __init__(self, kernel):
        self.lines = {build.shown(kernel.file(path)): kernel.file(path).read_text(errors="replace").splitlines()
                      for path in kernel.folder.files}

    def of(self, side):
        """side: `FILE:LINE[, called from [FILE:]line N]...  OPCODE`, as the emulator says it."""
        opcode = side.rsplit("  ", 1)[-1]
        side = re.sub(r" \([^)]*\)", "", side)  # where inside an inlined function of the toolkit's
        file = side.strip().split(":")[0]
        line = int((re.findall(r"line (\d+)", side) or re.findall(r":(\d+)", side))[-1])
        for text in reversed(self.lines.get(file, [])[:line]):
            heading = re.search(r"// ---- (.*)", text)
            if heading:
                return f"{heading[1]}: {opcode}"
        return f"{pathlib.Path(file).name}: {opcode}"

    def races(self, said):
        found, lines = [], said.splitlines()
        for i, line in enumerate(lines):
            if ": race in kernel" in line and i + 2 < len(lines):
                found.append(f"{self.of(lines[i + 1])} | {self.of(lines[i + 2])}")
        return found


def empty_holes(kernel):
    """[(file, line, sentence)] where nothing but comments stands between the marks."""
    found = []
    for path in kernel.folder.files:
        begin = None
        for n, line in enumerate(kernel.file(path).read_text(errors="replace").splitlines(), 1):
            match = re.search(r"// YOUR CODE HERE: (.*)", line)
            if match:
                begin = (build.shown(kernel.file(path)), n, match[1])
            elif begin and "// END OF YOUR CODE" in line:
                found.append(begin)
                begin = None
            elif begin and line.split("//")[0].strip():
                begin = None
    return found


def run(kernel, problem, how, phases):
    limit = SECONDS if how == "cuda" else 3 * SECONDS
    image = [] if kernel.folder.stage == "5-wgmma" else ["--image", kernel.folder.images[0]]
    options = ["--no-time", "--counters", "none", "--quiet", *image]
    options += ["--device", "cuda"] if how == "cuda" else \
        ["--device", "emu", "--jobs", 1, "--timeout", SECONDS, "--max-instructions", MOST_INSTRUCTIONS, *HOW.get(how, ["--schedule", how])]
    folder = kernel.out / problem.name
    if problem.shape is None:
        done = kernel.run(*options, *problem.options, limit=limit)
        o, inputs = None, ()
    else:
        files = problems.make_inputs(problem.shape, folder)
        (folder / "o.npy").unlink(missing_ok=True)
        done = kernel.run(*options, *files, "--out", folder / "o.npy", limit=limit)
        o = problems.load(folder, "o") if (folder / "o.npy").exists() else None
        inputs = tuple(problems.load(folder, name) for name in "qkv")
    expected = (0, 1, 4, 124, *[3] * kernel.folder.blank)  # 3: of a blank page, the launch that the file asks for cannot be
    if done.returncode not in expected and done.returncode > 0:
        raise build.Refused(done.stderr.strip())
    said = reports.telling(reports.named(done.stderr.replace(f"{ROOT}/", ""), ptx_of(kernel.program, kernel.folder).read_text()))
    return Run(problem, how, said, said, done.returncode, phases.races(said), o, inputs)


def ptx_of(program, folder):
    return next((program.parent / "images" / program.name).glob(f"{folder.images[0]}.compute_*.ptx"))


def counts(program, folder, options):
    """Of PTX, which has what a kernel asks for; ptxas may make more or less of it here than there."""
    out = build.BUILD / "labs" / f"counts-{os.getpid()}.json"
    out.parent.mkdir(exist_ok=True)
    out.unlink(missing_ok=True)
    done = subprocess.run([program, "--device", "emu", "--timeout", str(SECONDS), "--no-check", "--no-time", "--no-races",
                           "--count-ptx", "--quiet", "--image", folder.images[0], "--counters", "TENSOR,MIX,SHARED",
                           "--json", out, *options], cwd=ROOT, capture_output=True, text=True)
    if not out.exists() or done.returncode == 4:
        raise build.Refused(f"nothing was counted: {done.stderr.strip()}")
    text = out.read_text()
    out.unlink()
    counters = json.loads(text)["counters"]
    return {"groups_in_flight": lab_folder.groups_in_flight(ptx_of(program, folder).read_text())} | \
        {c["name"]: c["value"] for c in counters if "value" in c}


class Check:
    """What a check does, step by step; each returns False when the rest has no point."""

    def __init__(self, folder, kernel, device):
        self.folder, self.kernel, self.device, self.gpu = folder, kernel, device, build.gpu_wanted(device)
        self.runs, self.early, self.broken, self.counts, self.ours, self.lines = {}, {}, [], {}, {}, []
        self.told = self.cause = None  # the hint, and the name of the mistake that it is about
        self.seen = ""                 # the first thing that was wrong

    @property
    def rival(self):
        """The program and the folder of what counts are compared with."""
        return build.BUILD / self.folder.rival.program, self.folder.rival

    def say(self, ok, what):
        self.lines.append((ok, what))
        self.seen = self.seen or ("" if ok else what)
        print(f"{'ok  ' if ok else 'NOT '} {what}")
        return ok

    def written(self):
        holes = empty_holes(self.kernel)
        for file, line, sentence in holes:
            self.say(False, f"{file}:{line}: still to be written: {sentence}")
        if holes:
            print(f"\nBegin with the first: {holes[0][0]}, line {holes[0][1]}."
                  f" `make {self.folder.goal} hint` helps, in three steps.")
        return not holes

    def compiles(self):
        build.waiting("compiling")
        try:
            self.kernel.compile(["sm_"] if self.gpu else [])
        except build.Refused as why:
            if "does not compile" not in str(why):
                raise
            return self.say(False, str(why))
        return self.say(True, "it compiles")

    def allowed(self):
        """Nothing in it that the grader refuses. The grader compares with the lab's kernel, in an exam with the empty page's."""
        theirs = ptx_of(self.kernel.program, self.folder)
        ours = build.BUILD / self.folder.built / theirs.name
        try:
            screen.refuse(*(screen.facts(ptx.read_text()) for ptx in (theirs, ours)))
            self.kernel.includes_allowed()
        except screen.Rejected as why:
            return self.say(False, f"the grader refuses it: {why}")
        return True

    def answers(self):
        phases, schedules = Phases(self.kernel), SCHEDULES + ["early"] * self.folder.early
        silent = False  # no schedule had a report about a wrong problem: about further wrong ones, others are not asked
        for problem in problems.read(self.folder):
            runs = []
            for how in schedules:
                runs.append(run(self.kernel, problem, how, phases))
                if runs[-1].endless or silent and runs[-1].merely_wrong:
                    break
            silent = silent or all(one.merely_wrong for one in runs)
            if self.gpu and not any(one.failed for one in runs):  # what is known to be wrong may hang there
                self.on_gpu(problem, phases, runs)
            failed = [one for one in runs if one.failed]
            first = self.runs[problem.name] = (failed or runs)[0]
            if failed:  # another schedule may notice the same from the other side
                first.races = [race for one in failed for race in one.races]
                first.all_said = "".join(one.said for one in failed)
                if self.folder.asynchronous and not any(one.endless for one in runs):
                    self.early[problem.name] = run(self.kernel, problem, "early, no races", phases)
            said = f", {first.how}: {' '.join(first.said.split(': ', 1)[-1].splitlines()[:1])}" if failed else ""
            if any(one.endless for one in runs):  # each further one would take as long
                self.say(False, f"{problem.name:12} {' '.join(problem.options)}{said}; further problems are not tried")
                return False
            self.say(not failed, f"{problem.name:12} {' '.join(problem.options)}{said}")
            if len(self.runs) == SIMPLE and all(one.failed for one in self.runs.values()):
                return self.say(False, "not one of these is right; further problems are not tried")
        return not any(one.failed for one in self.runs.values())

    def on_gpu(self, problem, phases, runs):
        try:
            runs.append(run(self.kernel, problem, "cuda", phases))
        except build.NoGpu as why:
            if self.device != "auto":
                raise
            self.gpu = False
            print(f"note {why}: tried on the emulator only")

    def counted(self):
        if not self.folder.conditions:
            return True
        problem = problems.names(problems.shape_of(self.folder.problem))
        mine = self.counts = counts(self.kernel.program, self.folder, self.folder.problem)
        ours = self.ours = counts(*self.rival, self.folder.problem)
        self.broken = lab_folder.judge(self.folder.conditions, mine, ours, problem)
        broken = {id(condition): bound for condition, _, bound in self.broken}
        for condition in self.folder.conditions:
            ok = id(condition) not in broken
            # a bound that a student could copy instead of finding it is not told
            off = "" if ok else self._off(condition, mine, ours, problem)
            self.say(ok, f"{condition.counter:26} {mine[condition.counter]:.10g}{off}")
        return not self.broken

    @staticmethod
    def _off(condition, mine, ours, problem):
        bound, value = condition.bound(ours, problem), mine[condition.counter]
        if condition.relation == ">=":
            return ": too few"
        return f": {value / bound:.2f} times what it should be" if bound else ": there should be none"

    def barriers(self):
        """How many barriers mine and ours execute, where a race is reported: does one lack?"""
        raced, ends = any("race" in run.said for run in self.runs.values()), not any(run.endless for run in self.runs.values())
        if raced and ends and not self.counts and self.folder.conditions:
            try:
                self.counts, self.ours = (counts(*one, self.folder.problem) for one in ((self.kernel.program, self.folder), self.rival))
            except build.Refused:
                pass  # it does not end: nothing is known

    def hint(self):
        """What to say about the first failure: lines of (report, pictures), hint."""
        maps, first = fragment.differences(self.kernel.file(self.folder.files[1])) if self.folder.number == 5 else (set(), "")
        self.barriers()
        evidence = seen.Evidence(self.folder, self.kernel, self.runs, self.broken, self.counts, self.ours)
        if first:
            lines = evidence.naming("col" if "wgmma_col" in first else "row")
            first += f" ({', '.join(lines)})" if lines else ""
        known = mistakes.recognise(mistakes.read(self.folder), mistakes.Seen(self.runs, self.early, self.broken, self.counts, maps, self.folder.tile, self.ours))
        report = evidence.failed.said.splitlines()[:4] if evidence.failed else []
        pictures = evidence.pictures()
        self.cause = known.name if known else None
        self.told = f"{evidence.sentence()}{f'; {first}' if first else ''}. {known.hint if known else evidence.look()}"
        return report + [""] * bool(pictures) + pictures, self.told


def main():
    parser = argparse.ArgumentParser(description="checks a student's kernel")
    parser.add_argument("lab", type=lab_folder.known, metavar="N|exam-N")
    parser.add_argument("--source", metavar="FOLDER", help="where the files are (default: my-labs/N)")
    parser.add_argument("--device", choices=["auto", "cuda", "emu"], default="auto")
    parser.add_argument("--json", metavar="FILE", help="what was found, for programs")
    given = parser.parse_args()
    try:
        folder = lab_folder.read(given.lab)
        source = pathlib.Path(given.source or ROOT / "my-labs" / str(given.lab))
        kernel = build.Kernel(folder, source, build.scratch(given.lab, source))
        kernel.present()
        check = Check(folder, kernel, given.device)
        right = check.written() and check.compiles() and check.allowed()
        if right and not (check.answers() and check.counted()):
            shown, hint = check.hint()
            print("\n" + "\n".join([*shown, ""] if shown else []) + f"{'' if not shown else chr(10)}hint: {hint}")
            right = False
        diary.note(source, folder.goal, "right" if right else "not yet", check.cause or check.seen, check.told or "")
        if given.json:
            pathlib.Path(given.json).write_text(json.dumps({"lab": given.lab, "right": right, "lines": check.lines, "hint": check.told, "cause": check.cause}))
        if right:
            print(f"\n{folder.name.capitalize()} is right: answers{', on this GPU too' * check.gpu}, no race under {len(SCHEDULES) + folder.early} schedules, counts."
                  f" How long it would take: make {folder.goal} see")
    except (LookupError, OSError) as why:
        sys.exit(complain(why, 2))
    except build.Refused as why:
        sys.exit(complain(why, 4))
    sys.exit(not right)


def complain(why, status):
    print(f"check: {why}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "common/base"))
    import main_program
    main_program.run(main)
