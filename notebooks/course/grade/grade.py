#!/usr/bin/env python3
"""Grades one submission of one lab.

    grade.py --lab 2 --submission my.cu --seed SECRET [--device emu|auto] [--out FOLDER]

Prints a table; OUT gets grade.json, grade.xml (JUnit) and feedback.txt. The same seed, revision and device give
the same grade. Exit status: 0 full points, 1 points were lost, 2 usage, 5 a folder that cannot be written, 77 nothing here can grade it."""
import argparse
import collections
import concurrent.futures
import contextlib
import fcntl
import hashlib
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import children  # noqa: E402: of this folder
import compile  # noqa: E402
import evidence  # noqa: E402
import lab_folder  # noqa: E402
import place  # noqa: E402
import plain  # noqa: E402
import sandbox  # noqa: E402

ROOT = HERE.parents[2]
ANSWERS, CHECKS, COUNTS, TIME = 40, 20, 30, 10   # points of a lab
NO_TIME = 10                                     # times our time: no points for time from here on
LONGEST = 8                                      # times our instructions a launch may run
RUN_SECONDS, RUN_MEGABYTES = 120, 4096
UNMASKED = 0                                     # enum mask
LEFT = ("report.json", "out0.bin", "out1.bin", "out2.bin")   # what a run leaves


def build():
    return ROOT / os.environ.get("BUILD", "build")


class Lost:
    """Points that a part has lost, and what the student can do about it; in which cases."""

    def __init__(self, part, points, why, file=None, line=None, case=None):
        self.part, self.points, self.line = part, points, line
        self.why, self.file = plain.line(why), file and plain.line(file)  # a compiler says what stands in the source
        self.cases = [case] if case else []

    def like(self, other):
        """The same trouble, in another case: numbers, addresses and blocks may differ."""
        def bare(text):
            return re.sub(r"0x[0-9a-f]+|\d[\d.e+]*|(?<=in kernel )\w+", "#", text)
        return (self.part, self.file, self.line, bare(self.why)) == (other.part, other.file, other.line, bare(other.why))

    def text(self):
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        where = ""
        if self.cases:
            more = collections.Counter(case["kind"] for case in self.cases[1:])
            where = "; and " * bool(more) + ", ".join(f"{n} more of {kind}" if n > 1 else kind for kind, n in more.items())
            where = f" [{describe(self.cases[0])}{where}]"
        return f"-{self.points:.4g} {self.part}: {place}{self.why}{where}"


def seed_of(secret, lab):
    """The number that cases are drawn from: nobody finds the secret from it."""
    digest = hashlib.sha256(f"attnlab lab {lab} {secret}".encode()).digest()
    return int.from_bytes(digest[:7], "big")


def trial(lab, *words, **more):
    program = build() / lab.trial
    if not program.exists():
        raise sandbox.Refused(f"{program.name} is not built: make {program.relative_to(ROOT)}")
    return subprocess.run([program, *map(str, words)], capture_output=True, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1"}, **more)  # as many run beside it as there are cores


def draw(lab, seed, folder, only=None):
    """The cases; only: those of these numbers."""
    done = trial(lab, "draw", seed, *lab.drawn)
    if done.returncode:
        raise sandbox.Refused(done.stderr.strip())
    cases = json.loads(done.stdout)
    cases = cases if only is None else [cases[n] for n in only]
    (folder / "cases.json").write_text(json.dumps(cases))
    return cases


def describe(case):
    if "lda" in case:
        return f"{case['kind']}: M {case['m']}, N {case['n']}, K {case['k']}, rows {case['lda']}, {case['ldb']} and {case['ldc']} apart, {case['input']} inputs"
    if "n" in case:
        a, b = "regs" if case["a_in_registers"] else "km"[case["a_m_major"]], "kn"[case["b_n_major"]]
        return f"N {case['n']}, K {16 * case['k_steps']}, A {a}, B {b}, swizzle {case['swizzle']}, {case['input']} inputs"
    mask = ["", " causal", " causal, top-left"][case["mask"]]
    heads = f"{case['heads']}" if case["heads"] == case["kv_heads"] else f"{case['heads']}/{case['kv_heads']}"
    rows = f"S{case['seqlen_q']}" if case["seqlen_q"] == case["seqlen_k"] else f"Sq{case['seqlen_q']} Sk{case['seqlen_k']}"
    scale = f", scale {case['scale']:g}" if case.get("scale") else ""
    return f"{case['kind']}: B{case['batch']} H{heads} {rows} D{case['head_dim']}{mask}{scale}, {case['input']} inputs"


class Trial:
    """Runs of one set of images on the cases, in a sandbox. home: a folder, all that a run sees."""

    def __init__(self, lab, cases, home, device):
        self.lab, self.cases, self.home, self.device = lab, cases, home, device
        self.images.mkdir(parents=True)
        shutil.copy(build() / lab.trial, home)
        shutil.copytree(ROOT / "profiler/groups", home / "profiler/groups")
        for numbers in ("chips", "records/validation"):  # a chip's parameters, and how well they predict
            (home / numbers).mkdir(parents=True)
            for path in (ROOT / numbers).glob("*.txt"):
                if not path.name.startswith("cases-"):
                    shutil.copy(path, home / numbers)
        (home / "cases.json").write_text(json.dumps(cases))

    @property
    def images(self):
        return self.home / self.lab.built

    def take_ours(self):
        """The images of our own kernel."""
        for image in self.lab.images:
            for path in (build() / self.lab.built).glob(f"{image}.*"):
                if path.suffix in (".ptx", ".cubin"):
                    shutil.copy(path, self.images)

    def on(self, device):
        """The same, on another device."""
        other = object.__new__(Trial)
        other.__dict__ = {**self.__dict__, "device": device}
        return other

    def run(self, index, folder, most_instructions=0, clock=False, products=True):
        """(report or None, what it said, seconds). folder: gets the outputs. clock: how long would it take? products: do
        those of tensor cores make the answer?"""
        folder.mkdir(parents=True, exist_ok=True)
        words = ["--device", self.device, "--timeout", f"{sandbox.WAIT * RUN_SECONDS}", *["--products"] * products]
        if most_instructions:
            words += ["--max-instructions", f"{most_instructions:.0f}"]
        gpu = self.device == "cuda"
        see, before = {self.home: "/trial"}, []
        if clock:
            words += ["--predict"]
            tools = nvdisasm().parent
            see[tools], before = tools, ["/usr/bin/env", f"PATH={tools}:/usr/bin:/bin"]
        done = sandbox.run([*before, f"/trial/{self.lab.trial}", "run", *words, "/trial/cases.json", index, "/out"],
                           see, {folder / name: f"/out/{name}" for name in LEFT}, RUN_SECONDS, 0 if gpu else RUN_MEGABYTES,
                           "/trial", gpu, "predict" if clock else "trial")
        report = folder / "report.json"
        if done.status or done.killed or not report.exists():
            why = done.killed or done.crashed or ("" if done.err.strip() else "it left no report")
            return None, f"{done.err}\n{why}".strip(), done.seconds
        report = json.loads(report.read_text())
        if "counts" in report:
            report["tensor_flop"] = report["counts"]["tensor_flop"]
            for name in self.lab.uncounted:
                report["counts"].pop(name, None)
            # the PTX says it, as for the check
            ptx = self.images / f"{self.cases[index]['image']}.{self.lab.architecture}.ptx"
            report["counts"]["groups_in_flight"] = lab_folder.groups_in_flight(ptx.read_text())
        return report, done.err, done.seconds


def nvdisasm():
    """What the predictor reads machine code with: of .venv, which `make setup` fills, or of the toolkit."""
    found = sorted(ROOT.glob(".venv/lib/python3*/site-packages/nvidia/cu13/bin/nvdisasm"))
    return (found[0] if found else compile.toolkit() / "bin/nvdisasm").resolve()


def judge(lab, folder, index):
    """(right, why). Sees the bytes that a run left, and makes inputs and reference anew."""
    done = trial(lab, "judge", folder / "cases.json", index, folder / f"case-{index}")
    if done.returncode:
        return False, done.stderr.strip().split(": ", 1)[-1]
    said = json.loads(done.stdout)
    return said["passed"], said["why"]


# ---- What the emulator says, for students ----------------------------------------------------------------------

class Places:
    """File names of the clean tree, back to the student's."""

    def __init__(self, lab, submission):
        submission = pathlib.Path(submission)
        self.name = {}
        for file in lab.files:
            own = submission.name if not submission.is_dir() else file.name
            self.name[str(file)] = own
            self.name[file.name] = own

    def own(self, file):
        if file is None:
            return None
        file = re.sub(r"^(/tree/|\./)", "", str(file))
        return self.name.get(file, file)

    def first(self, text):
        """(first report without its frame lines, file, line)."""
        said, file, line = "", None, None
        for row in text.splitlines():
            frame = re.match(r"\s+(\S+?):(\d+)[ ,]", row)
            if frame and said and file is None and self.own(frame[1]) in self.name.values():
                file, line = self.own(frame[1]), int(frame[2])
            elif not said and row.strip() and not row.startswith("schedule "):
                said = re.sub(r"^trial-\w+: ", "", row)
                for tree, own in self.name.items():
                    said = said.replace(f"/tree/{tree}", own)
        return said, file, line


# ---- Points ----------------------------------------------------------------------------------------------------

def counts_of(lab, case, report, ours):
    """Broken conditions of one case, and how many were tried."""
    problem = {"B": case["batch"], "H": case["heads"], "SQ": case["seqlen_q"], "SK": case["seqlen_k"],
               "D": case["head_dim"]} if "batch" in case else {name: case[name.lower()] for name in "MNK" if name.lower() in case}
    tried = [c for c in lab.conditions
             if c.counter in report["counts"] and (case.get("mask", UNMASKED) == UNMASKED or "ours" in c.expression)]
    return lab_folder.judge(tried, report["counts"], ours["counts"], problem), tried


class Grade:
    def __init__(self, lab, submission, seed_id, device):
        self.lab, self.submission, self.seed_id, self.device = lab, submission, seed_id, device
        self.points = {"answers": ANSWERS, "checks": CHECKS, "counts": COUNTS, "time": TIME}
        self.lost, self.notes, self.cases, self.void, self.kind = [], [], [], None, ""
        self.time = None   # of a kernel whose answers are all right
        self.tried = []    # (case, report, our report) of right answers
        self.endless = []  # cases in which it ran too long

    def lose(self, part, points, why, file=None, line=None, case=None):
        new = Lost(part, points, why, file, line, case)
        for lost in self.lost:
            if lost.like(new):
                lost.points += points
                lost.cases += new.cases
                return
        self.lost.append(new)

    def leave_out(self, part, why):
        self.points[part] = 0
        self.notes.append(plain.line(f"{part}: not graded: {why}"))

    def nothing(self, why, file=None, line=None, case=None, kind=""):
        """No points at all, whatever else was right. kind: of forbidden means, if it is one."""
        if not self.void:
            self.void, self.kind = Lost("all", 100, why, file, line, case), kind

    @property
    def score(self):
        whole = sum(self.points.values())
        if self.void:
            return 0.0
        return round(100 * max(0, whole - sum(lost.points for lost in self.lost)) / whole, 1)

    def as_json(self):
        losses = [self.void] if self.void else self.lost
        return {"lab": self.lab.number, "submission": pathlib.Path(self.submission).name, "seed_id": self.seed_id,
                "device": self.device, "sandbox": sandbox.mode(), "score": self.score, "of": 100,
                "parts": self.points, "forbidden": self.kind, "time": self.time, "cases": self.cases, "notes": self.notes,
                "lost": [{"part": l.part, "points": round(l.points, 3), "why": l.why, "file": l.file, "line": l.line,
                          "cases": [describe(case) for case in l.cases]} for l in losses]}

    def table(self):
        rows = [f"{self.lab.name}, {self.lab.title}: {self.score:g} of 100 points ({self.device}, {sandbox.mode()})"]
        for part, points in self.points.items():
            if points:
                left = 0 if self.void else round(max(0, points - sum(l.points for l in self.lost if l.part == part)), 6)
                rows.append(f"  {part:<8} {left:5.4g} of {points}")
        rows += ["  " + l.text() for l in ([self.void] if self.void else self.lost)]
        rows += ["  " + note for note in self.notes]
        return "\n".join(rows)

    def junit(self):
        suite = xml.Element("testsuite", name=self.lab.goal, tests=str(len(self.points)))
        failures = 0
        for part, points in self.points.items():
            case = xml.SubElement(suite, "testcase", classname=self.lab.goal, name=part)
            losses = [self.void] if self.void else [l for l in self.lost if l.part == part]
            if not points:
                xml.SubElement(case, "skipped")
            elif losses:
                failures += 1
                xml.SubElement(case, "failure", message=losses[0].why).text = "\n".join(l.text() for l in losses)
        suite.set("failures", str(failures))
        return xml.tostring(suite, encoding="unicode") + "\n"


def grade_case(grade, places, case, ours, report, said, right, why_wrong, share):
    """What one case loses. share: of the points of each part."""
    own = {"case": describe(case), "right": False, "broken": []}
    grade.cases.append(own)
    sentence, file, line = places.first(said)
    grade.endless += [case] * ("endless in kernel" in said)
    if report is None:
        grade.lose("answers", ANSWERS * share, sentence or "the run ended without a word", file, line, case)
        grade.lose("checks", CHECKS * share, "nothing to check without an answer", case=case)
        grade.lose("counts", COUNTS * share, "nothing to count without an answer", case=case)
        return
    if report.get("reports"):
        grade.lose("checks", CHECKS * share, sentence, file, line, case)
    if report.get("reports") and "out of bounds" in said:
        right, why_wrong = False, "it reads or writes what is none of its tensors"
    elif report.get("reports") and "cannot be written" in said:
        grade.nothing("it writes to constant memory", file, line, case, "inputs or constants written")
    elif report["inputs_changed"]:
        right, why_wrong = False, f"it writes to {', '.join(report['inputs_changed']).upper()}"
        grade.nothing(why_wrong, case=case, kind="inputs or constants written")
    elif "counts" not in report:
        right, why_wrong = False, "it does not end"
    elif evidence.lacks(report, ours):
        right, why_wrong = False, f"{evidence.lacks(report, ours)} is 0: no product of tensor cores is in it"
    if report.get("reads_output"):
        grade.nothing("a launch that finds an answer in O does something else: the kernel may not look at O or LSE",
                      case=case, kind="an earlier answer read")
    if not right:
        grade.lose("answers", ANSWERS * share, f"wrong answer: {why_wrong}", case=case)
        if not report.get("reports"):
            grade.lose("checks", CHECKS * share, "nothing to check beside a wrong answer", case=case)
        grade.lose("counts", COUNTS * share, "nothing counts beside a wrong answer", case=case)
        return
    own["right"] = True
    if report.get("reports"):  # what follows is still looked at, but costs no points twice
        grade.lose("counts", COUNTS * share, "nothing counts beside a report of the emulator", case=case)
        share = 0
    elif report["differs_when"]:
        grade.lose("checks", CHECKS * share, "other bits when warps run in another order "
                   f"({', '.join(report['differs_when'])}): look for a missing barrier", case=case)
    grade_counts(grade, places, case, ours, report, share, own)


def grade_counts(grade, places, case, ours, report, share, own):
    counts, wanted = report["counts"], ours["counts"]
    grade.tried.append((case, report, ours))
    broken, tried = counts_of(grade.lab, case, report, ours)
    for condition, value, bound in broken:
        # two kinds of evidence: they are counted, and O depends on them
        if condition.counter in evidence.PROOF and not bound and evidence.moved(report):
            without = "mma.sync" if wanted.get("hgmma_instructions") else "tensor cores"
            grade.nothing(f"{condition.counter} is {value:g}: the lab is to compute without {without}", case=case,
                          kind=f"{without} where the lab is to do without")
    if not share:
        return
    points = COUNTS * share / (len(tried) + 1)
    for condition, value, bound in broken:
        own["broken"].append(condition.counter)
        grade.lose("counts", points, f"{condition.counter} is {value:g}, wanted {condition.relation} {bound:g}", case=case)
    work = counts["instructions"] / wanted["instructions"]
    if work > grade.lab.most_work:
        own["broken"].append("instructions")
        grade.lose("counts", points, f"{work:.2f} times the instructions of ours, at most {grade.lab.most_work:g} times", case=case)


def grade_products(grade, share):
    """Do the products of tensor cores make the answer? Two kinds of signs that they do not void the submission; one
    alone costs the counts of a case, since it may be a chance."""
    signs = evidence.weigh(grade.tried, grade.endless)
    if len(grade.endless) > len(grade.cases) / 2:
        grade.nothing(f"most launches take over {LONGEST} times the instructions of ours: tensor cores cannot be what computes the answer",
                      case=grade.endless[0], kind="products for show")
    if len(signs) > 1:
        grade.nothing(f"something else than the tensor cores computes the answer: {'; and '.join(s.why for s in signs)}",
                      case=signs[0].case, kind="products for show")
    elif signs and signs[0].kind not in evidence.WEAK and not signs[0].reported:  # else these points are lost already
        grade.lose("counts", COUNTS * share, signs[0].why, case=signs[0].case)


def grade_time(grade, lab, folder, own, ours, index):
    """Ours and theirs by turns on the same GPU."""
    best = {}
    for who, t in (("ours", ours), ("own", own), ("ours", ours), ("own", own)):
        report, said, _ = t.run(index, folder / (f"case-{index}" if who == "own" else "time"))
        if report is None or "time" not in report:
            grade.lose("time", TIME, f"no time: {last_word(said)}")
            return
        best[who] = min(best.get(who, 1e30), report["time"]["us"])
    right, why = judge(lab, folder, index)
    if not right:
        grade.nothing(f"right when it is checked, wrong when it is timed: {why}", kind="another answer while timed")
        return
    grade_ratio(grade, best["own"], best["ours"], "measured")


def grade_ratio(grade, own_us, our_us, how):
    ratio = own_us / our_us
    lab = grade.lab
    grade.notes.append(f"time: {own_us:.2f} us, {lab.ours} {our_us:.2f} us; {how}")
    grade.time = {"us": own_us, "our_us": our_us, "how": how.split()[0]}
    if ratio > lab.full_time:
        over = min(1, math.log(ratio / lab.full_time) / math.log(NO_TIME / lab.full_time))
        grade.lose("time", TIME * (lab.least_lost + (1 - lab.least_lost) * over),
                   f"{ratio:.2f} times {lab.our} time ({own_us:.2f} us, {lab.ours} {our_us:.2f})")


def grade_predicted(grade, places, lab, cases, folder, own, ours):
    """By the predictor. If it predicts ours it must predict theirs: else one odd instruction would excuse a slow kernel."""
    found = [index for index, case in enumerate(cases) if case["kind"] == "clocked"]
    if not found:
        grade.leave_out("time", "one product is too short to be timed")
        return
    index, reference = found[0], ours.get("clocked", {})
    if "time" not in reference:
        grade.leave_out("time", f"the predictor has no time of our own kernel: {reference.get('why', 'no cubin')}")
        return
    try:
        compile.assemble(own.images, cases[index]["image"], lab.architecture, "sm_90a")
    except compile.Rejected as why:
        grade.lose("time", TIME, f"no machine code, no time: {why}")
        return
    report, said, _ = own.run(index, folder / f"case-{index}", clock=True)
    if report is None or "time" not in report:
        file, line, why = lab_folder.untimed(last_word(said), lab.goal)
        grade.lose("time", TIME, why, places.own(file), line)
        return
    whole = "extrapolated" not in report["time"]["validated"]
    right, why = judge(lab, folder, index) if whole else (True, "")
    if not right:
        grade.nothing(f"under the predictor the answer is wrong: {why}", case=cases[index], kind="another answer while timed")
        return
    grade_ratio(grade, report["time"]["us"], reference["time"]["us"], f"predicted for {report['time']['validated']}")


def grade_large(grade, lab, cases, folder, own):
    """A problem as large as the timed ones, launched once: of these the predictor runs parts only."""
    for index in (index for index, case in enumerate(cases) if case["kind"] == "large"):
        report, said, _ = own.run(index, folder / f"case-{index}", products=False)
        right, why = judge(lab, folder, index) if report else (False, last_word(said))
        if not right:
            grade.nothing(f"right on small problems, wrong on a large one: {why}", case=cases[index], kind="another answer while timed")


def last_word(said):
    lines = said.strip().splitlines()
    return re.sub(r"^trial-\w+: ", "", lines[-1]) if lines else "no word"


def emulated_of(cases):
    return [index for index, case in enumerate(cases) if case["kind"] not in ("timed", "clocked", "large")]


def clocked_ours(cases, t, folder):
    for index, case in enumerate(cases):
        if case["kind"] == "clocked":
            report, said, _ = t.run(index, folder / f"case-{index}", clock=True)
            return report or {"why": last_word(said)}
    return {}


def ours_for(lab, cases, seed_id, jobs):
    """Reports of our kernel on the cases; kept in build/grade, so that a course computes them once."""
    stamp = hashlib.sha256(pathlib.Path(__file__).read_bytes())
    rival = lab.rival
    for image in rival.images:
        stamp.update((build() / rival.built / f"{image}.{rival.architecture}.ptx").read_bytes())
    stamp.update((build() / rival.trial).read_bytes())
    stamp.update((ROOT / "chips/h200.txt").read_bytes())
    kept = build() / "grade" / f"{lab.goal}-{seed_id}-{stamp.hexdigest()[:12]}.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        if not kept.exists():  # one computes it, others wait
            lock = stack.enter_context(kept.with_suffix(".lock").open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        if kept.exists():
            return json.loads(kept.read_text())
        folder = stack.enter_context(tempfile.TemporaryDirectory(dir=kept.parent))
        folder = pathlib.Path(folder)
        t = Trial(rival, cases, folder / "home", "emu")
        t.take_ours()
        emulated = emulated_of(cases)
        reports = {"clocked": clocked_ours(cases, t, folder)}
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            runs = pool.map(lambda index: t.run(index, folder / f"case-{index}"), emulated)
            for index, (report, said, _) in zip(emulated, runs):
                if report is None or report.get("reports"):
                    raise sandbox.Refused(f"our own kernel fails on {describe(cases[index])}: {said.strip()}")
                reports[str(index)] = report
        (folder / "reports.json").write_text(json.dumps(reports))
        os.replace(folder / "reports.json", kept)
    return reports


def grade(lab, submission, secret, device="emu", jobs=None, timed=True, only=None, made=None):
    """For tests: only: these cases of the seed's alone. made: a folder with its images, compiled once for many seeds."""
    jobs = jobs or os.cpu_count()
    seed = seed_of(secret, lab.number)
    seed_id = hashlib.sha256(f"{seed}".encode()).hexdigest()[:8]
    result = Grade(lab, submission, seed_id, "emulator (h200)" if device == "emu" else "GPU")
    sandbox.mode()
    places = Places(lab, submission)
    with tempfile.TemporaryDirectory(prefix="grade-") as folder:
        folder = pathlib.Path(folder)
        cases = draw(lab, seed, folder, only)
        ours = ours_for(lab, cases, seed_id if only is None else f"{seed_id}-{'-'.join(map(str, only))}", jobs)
        own = Trial(lab, cases, folder / "home", "emu")
        try:
            files = compile.take(submission, lab)
            if made:
                shutil.copytree(made, own.images, dirs_exist_ok=True)
            else:
                compile.images(lab, files, own.images, "sm_90a" if device == "cuda" else None)
        except compile.Rejected as why:
            result.nothing(str(why), places.own(why.file), why.line, kind=why.kind)
            return result
        emulated = emulated_of(cases)

        def one(index):
            report, said, _ = own.run(index, folder / f"case-{index}",
                                      LONGEST * ours[str(index)]["counts"]["instructions"] + 1e5)
            right, why = judge(lab, folder, index) if report else (False, "")
            return report, said, right, why

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for index, (report, said, right, why) in zip(emulated, pool.map(one, emulated)):
                grade_case(result, places, cases[index], ours[str(index)], report, said, right, why, 1 / len(emulated))
        grade_products(result, 1 / len(emulated))
        if not result.void and all(case["right"] for case in result.cases):
            grade_large(result, lab, cases, folder, own)
        if result.void or not all(case["right"] for case in result.cases):
            result.lose("time", TIME, "no time without a right answer everywhere")
        elif not timed:
            result.leave_out("time", "not asked for")
        elif device == "cuda":
            grade_on_gpu(result, lab, cases, folder, own.on("cuda"))
        else:
            grade_predicted(result, places, lab, cases, folder, own, ours)
    return result


@contextlib.contextmanager
def gpu(alone):
    """The GPU; alone on it, as far as graders go: its time is graded."""
    with (build() / "grade.lock").open("w") as lock:  # not the one of build/alone, which `make gpu-test` holds
        fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield


def grade_on_gpu(result, lab, cases, folder, own):
    ours = Trial(lab.rival, cases, folder / "ours", "cuda")
    ours.take_ours()
    for index, case in enumerate(cases):
        if case["kind"] in ("clocked", "large"):
            continue
        if case["kind"] == "timed":
            with gpu(alone=True):
                grade_time(result, lab, folder, own, ours, index)
            continue
        with gpu(alone=False):
            report, said, _ = own.run(index, folder / f"case-{index}")
        right, why = judge(lab, folder, index) if report else (False, said.strip())
        if not right:
            result.nothing(f"right on the emulator, wrong on this GPU: {why}", case=case)
    if not any(case["kind"] == "timed" for case in cases):
        result.leave_out("time", "one product is too short to be timed")


def gpu_here(lab):
    """Is there a GPU that a trial would run on? Whatever images are there."""
    return trial(lab, "gpu").returncode == 0


def write(result, out):
    """grade.json, grade.xml and feedback.txt; a reader finds each of them whole."""
    out.mkdir(parents=True, exist_ok=True)
    for name, text in (("grade.json", json.dumps(result.as_json(), indent=1) + "\n"), ("grade.xml", result.junit()),
                       ("feedback.txt", result.table() + "\n")):
        (out / f"{name}.new").write_text(text)
        (out / f"{name}.new").replace(out / name)


def main():
    parser = argparse.ArgumentParser(description="grades one submission of one lab")
    parser.add_argument("--lab", type=lab_folder.known, required=True, metavar="N|exam-N")
    parser.add_argument("--submission", required=True, metavar="FILE-OR-FOLDER")
    parser.add_argument("--seed", required=True, metavar="SECRET")
    parser.add_argument("--device", choices=["emu", "auto", "cuda"], default="emu")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--out", metavar="FOLDER", help="grade.json, grade.xml and feedback.txt go there")
    given = parser.parse_args()
    children.end_with_us()
    try:
        try:
            lab = lab_folder.read(given.lab)
        except LookupError as why:
            parser.exit(2, f"grade: {why.args[0]}\n")
        if not pathlib.Path(given.submission).exists():
            parser.exit(2, f"grade: there is no {given.submission}\n")
        if given.out and (why := place.unwritable(pathlib.Path(given.out))):
            parser.exit(5, f"grade: cannot write to {given.out}: {why}; make it writable, or name another folder\n")
        device = given.device
        if device == "auto":
            device = "cuda" if gpu_here(lab) else "emu"
        mask = os.umask(0o022)  # root's sandbox has another user, who reads what is made here
        result = grade(lab, given.submission, given.seed, device, given.jobs)
        os.umask(mask)
    except sandbox.Refused as why:
        parser.exit(77, f"grade: {plain.line(why)}\n")
    except OSError as why:  # a traceback would end with 1, which says that points were lost
        parser.exit(5, f"grade: {plain.line(why.filename or 'a file')}: {why.strerror}; make it writable, and have some room on the disk\n")
    if given.out:
        write(result, pathlib.Path(given.out))  # before anything is printed
    print(result.table())
    sys.exit(0 if result.score == 100 else 1)


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "common/base"))
    import main_program
    main_program.run(main)
