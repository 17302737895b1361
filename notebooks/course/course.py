"""What the labs' notebooks share: predictions, the check, counts, records of real GPUs, pictures.

    from course import Lab
    attnlab = Lab(1)                            # lab 1: in my-labs/1, or in notebooks/course/1
    attnlab.predict("flops", flops)             # stored, before anything runs
    attnlab.compare("flops")                    # 1 or 0, and a hint
    attnlab.check()                             # make lab-1 check
    counts = attnlab.count("3-wmma-pv", "--chip", "rtx4090")        # the emulator's counts, taken now
"""
import base64
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import answers
import reports
from lab_folder import COURSE, ROOT  # COURSE: execute.py reads it here

RECORDED = ROOT / "records" / "runs"


class Points(int):
    """Of one answer. nbgrader reads its text, which is the number; JupyterLab shows the sentence."""

    def _repr_html_(self):
        return "This answer counts: 1 point of 1." if self else "No point yet: see the line above."


class Lab:
    """Records come from records/runs/ unless LAB_DEVICE is set to auto, cuda or emu: then stages run."""

    def __init__(self, number):
        self.number, self.questions = number, answers.questions(number)
        self.sheet = pathlib.Path(os.environ.get("LAB_SHEET") or ROOT / "my-labs" / str(number) / "answers.json")
        self.given = {}
        self.device = os.environ.get("LAB_DEVICE", "")
        if self.device not in ("", "auto", "cuda", "emu"):
            raise ValueError(f"LAB_DEVICE is auto, cuda or emu, or not set: {self.device!r} is none of them")
        self.points = {}
        # what an archive for students leaves out was run where the archive was made (notebooks/course/execute.py --shown)
        shown = COURSE / str(number) / "shown.json"
        self.shown = json.loads(shown.read_text()) if shown.exists() else {}

    def run(self, stage, problem="B1 H8 S512 D64", options=()):
        """One record (a dict, see common/harness/record.h) of this stage on this problem."""
        if not self.device:
            return self.recorded(stage, problem)
        return self._record(stage, "--device", self.device, *options)

    def count(self, stage, *options):
        """What the emulator counts in one run of this stage, taken now: {name: value}, see profiler/groups."""
        def counted():
            record = self._record(stage, "--device", "emu", "--no-check", "--no-time",
                                  "--counters", "TENSOR,SHARED,MIX,BOUND,OCCUPANCY", *options)
            return {"of": f"{record['problem']['text']}, counted by the emulator, revision {record['revision']}",
                    "counts": {counter["name"]: counter["value"] for counter in record["counters"] if "value" in counter}}
        found = self._shown(counted, "count", stage, *options)
        self._counted = found["of"]
        return found["counts"]

    def without(self, stage, line, *options):
        """What the emulator's checker says when the barrier, wait or fence of this source line is left out."""
        def said():
            report = reports.telling(self._program(stage, "--device", "emu", "--jobs", 1, "--no-time", "--without", line, *options).stderr)
            report = re.sub(r" \((/[^()]*)\)", "", report)  # where inside an inlined function of the toolkit's
            return re.sub(r"(?m)(^ +|from )/\S*?/(?=(stages|common)/)", r"\1", report)  # wherever it was compiled
        return self._shown(said, "without", stage, line, *options)

    def line(self, stage, text, file="kernel.cu"):
        """The number of the only line of a stage's source file that has this text."""
        def found():
            lines = (ROOT / "stages" / stage / file).read_text().splitlines()
            numbers = [n for n, line in enumerate(lines, 1) if text in line]
            if len(numbers) != 1:
                raise LookupError(f"{len(numbers)} lines of {stage}/{file} have the text {text!r}")
            return numbers[0]
        return self._shown(found, "line", stage, file, text)

    def _shown(self, run, *what):
        """What run() gives, or gave where this archive was made. what: says which run it is."""
        key = " ".join(map(str, what))
        if key in self.shown:
            return self.shown[key]
        if not os.environ.get("LAB_KEPT"):
            return run()
        kept = pathlib.Path(os.environ["LAB_KEPT"]) / hashlib.sha256(key.encode()).hexdigest()  # shared by notebooks that ask for the same
        if not kept.exists():
            new = kept.with_suffix(f".{os.getpid()}")
            new.write_text(json.dumps(run()))
            new.replace(kept)
        return json.loads(kept.read_text())

    def _build(self, stage, image, head_dim, chip):
        """The stage's program. It, and the images that the emulator needs for it, are built where they are missing or
        old: PTX, and the chip's cubin, which says how many registers it takes."""
        build = pathlib.Path("build") / f"stage-{stage.split('-')[0]}"
        lines = [line.split("#")[0].split() for line in (ROOT / "stages" / stage / "images").read_text().splitlines()]
        archs = next(words[1:] for words in lines if words[:1] == ["arch"])
        needed = [f"{next(arch for arch in archs if arch.startswith('compute_'))}.ptx"]
        needed += [f"{arch}.cubin" for arch in archs if arch == ("sm_90a" if chip == "h200" else "sm_89")]
        names = [image] if image else [words[0] for words in lines if words and re.fullmatch(f"d{head_dim}(-.*)?", words[0])
                                       and not any(word.endswith(".cu") for word in words)]
        wanted = [build, *(build.parent / "images" / build.name / f"{name}.{end}" for name in names for end in needed)]
        missing = [str(path) for path in wanted if not (ROOT / path).exists()]
        if missing:
            print(f"once: make {' '.join(missing)}", flush=True)
        if missing or self._older(ROOT / build, stage):
            self._make(*map(str, wanted))
        return ROOT / build

    @staticmethod
    def _older(program, stage):
        """Whether a source is newer than the program: of an update, say."""
        built = program.stat().st_mtime
        return any(path.stat().st_mtime > built for folder in ("common", "emulator", "profiler", f"stages/{stage}")
                   for path in (ROOT / folder).rglob("*") if path.suffix in (".c", ".h", ".cu", ".cuh", ".def", ".txt"))

    def _make(self, *words):
        done = subprocess.run(["make", "-s", *words], cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"make {' '.join(words)}: {done.stderr.strip()}")

    def _program(self, stage, *options):
        given = dict(zip(map(str, options), map(str, options[1:])))
        program = self._build(stage, given.get("--image"), given.get("--head-dim", "64"), given.get("--chip", "h200"))
        return subprocess.run([program, "--quiet", *map(str, options)], cwd=ROOT, capture_output=True, text=True,
                              timeout=1800)  # a kernel without one of its barriers may never end

    def _record(self, stage, *options):
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as out:
            done = self._program(stage, "--json", out.name, *options)
            if done.returncode:
                raise RuntimeError(f"stage {stage} ended with status {done.returncode}: {done.stderr.strip()}")
            return json.loads(out.read())

    def records(self, name):
        """All records of records/runs/NAME.jsonl."""
        return [json.loads(line) for line in (RECORDED / f"{name}.jsonl").read_text().splitlines()]

    def table(self, name):
        """The rows of records/runs/NAME.tsv, lists of numbers; its head says what the columns are."""
        lines = (RECORDED / f"{name}.tsv").read_text().splitlines()
        return [[float(word) for word in line.split()] for line in lines if line[0].isdigit()]

    def recorded(self, stage, problem="B1 H8 S512 D64", board="h200"):
        """The newest committed record of this stage on this problem."""
        found = None
        for record in self.records(board):
            if record.get("stage") == stage and record["problem"].get("text") == problem:
                if found is None or record["time"] >= found["time"]:
                    found = record
        if found is None:
            raise LookupError(f"{board}.jsonl has no record of {stage} on {problem}")
        print(f"recorded: {stage} on {found['device']['name']}, {found['time'][:10]}, revision {found['revision']}")
        return found

    def counter(self, record, name):
        """The value of a counter of a record; LookupError with the reason if there is none."""
        for counter in record["counters"]:
            if counter["name"] == name:
                if "value" in counter:
                    return counter["value"]
                raise LookupError(f"{name}: {counter['na']}")
        raise LookupError(f"{name} was not collected")

    def text(self, record, name):
        """A counter of a record for people: its value, or n/a and why."""
        try:
            value = self.counter(record, name)
            return f"{value:.0f}" if value == int(value) else f"{value:.6g}"
        except LookupError as reason:
            return f"n/a ({reason})"

    def suspects(self):
        """The counters of four stages, without their names, in an order that says nothing."""
        found = [r for r in self.records("h200") if r["problem"].get("text") == "B4 H16 S1024 D64"]
        last = {r["stage"]: r for r in sorted(found, key=lambda r: r["time"])}
        stages = sorted((s for s in last if s[0] in "2346"), key=lambda s: answers.seal(5, s, 2, 1))
        return [{"counters": last[s]["counters"]} for s in stages]

    def predict(self, name, answer):
        """Stores an answer: a number, '0.44', '440 ns', or a function without arguments that gives one."""
        unit, _, _ = self.questions[name]
        value, why = answers.number_of(answer, unit)
        self.given[name] = value
        if why:
            print(f"{name}: {why}")
        elif value is None:
            print(f"{name}: open (in {unit})")
        else:
            self._store(name, value)
            print(f"{name}: {value:.6g} {unit}, stored")

    def explain(self, name, text):
        """Stores an explanation, which a person reads."""
        if text and text.strip():
            self._store(name, text.strip())
            print(f"{name}: {len(text.split())} words, stored")
        else:
            print(f"{name}: open")

    def _store(self, name, value):
        self.sheet.parent.mkdir(parents=True, exist_ok=True)
        stored = answers.read_sheet(self.sheet) | {name: value}
        temporary = self.sheet.with_suffix(".new")
        temporary.write_text(json.dumps(stored, indent=1) + "\n")
        temporary.replace(self.sheet)

    def compare(self, name, expected=None):
        """1 if the stored answer is right, else 0, and why. expected: what was counted; None: what is sealed."""
        unit, tolerance, hint = self.questions[name]
        value = self.given.get(name)
        right = 0
        if value is None:
            print(f"{name}: open")
        elif answers.is_right(self.number, name, value, tolerance, expected):
            right = 1
            print(f"{name}: right ({value:.6g} {unit}{'' if expected is None else f'; it is {expected:.6g}'})")
        else:
            factor = answers.in_another_unit(self.number, name, value, tolerance, expected)
            why = f"{answers.off(factor, unit)} " if factor else ""
            print(f"{name}: not yet ({value:.6g} {unit}). {why}{hint}")
        self.points[name] = Points(right)
        return self.points[name]

    def check(self, *options):
        """What `make lab-N check` says of my-labs/N; True if all is right."""
        source = os.environ.get("LAB_SOURCE") or ROOT / "my-labs" / str(self.number)
        command = [sys.executable, "-u", "notebooks/course/check.py", str(self.number), "--source", source, *map(str, options)]
        return self._told(command) == 0

    def see(self):
        """What `make lab-N see` says: how long my-labs/N would take on an H200, beside ours."""
        source = pathlib.Path(os.environ.get("LAB_SOURCE") or ROOT / "my-labs" / str(self.number))
        if not any(source.glob("*.cu")):
            print(f"there is no kernel in {self._short(source)} yet")
            return
        self._told(["make", "-s", f"lab-{self.number}", "see"], {"ARGS": f"--source {source}"})

    @staticmethod
    def _told(command, environment=None):
        """Shows line by line what a command says, as it says it; its status."""
        run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env={**os.environ, **(environment or {})})
        for line in run.stdout:
            if not line.startswith("make: ***"):
                print(line, end="", flush=True)
        return run.wait()

    def score(self):
        right = sum(self.points.values())
        print(f"{right} of {len(self.questions)} predictions right; they are in {self._short(self.sheet)}")

    @staticmethod
    def _short(path):
        return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path

    def draw(self, plot="tensor", recorded="h200"):
        """The path of a comparison plot (PNG), drawn from the records."""
        return self.make(f"compare-{recorded}/{plot}.png", "compare", f"RECORDED={recorded}")

    def make(self, picture, *words):
        """The path of a picture in results/ that `make WORDS` draws."""
        path = ROOT / "results" / picture

        def drawn():
            self._make(*words)
            return base64.b64encode(path.read_bytes()).decode()
        data = base64.b64decode(self._shown(drawn, "make", picture, *words))
        if not path.exists() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return path

    def bounds(self, chips):
        """The path of a picture of what each resource would take alone; chips: {name: {stage: counts}}, all of one problem."""
        resources = {"tensor cores": "bound_tensor", "issue": "bound_issue", "shared memory": "bound_shared",
                     "fp32": "bound_fma", "exponentials": "bound_mufu"}
        table, out = "", ROOT / "results"
        out.mkdir(exist_ok=True)
        for chip, stages in chips.items():
            table += chip + "".join(f' "{name}"' for name in resources) + "\n"
            for stage, counts in stages.items():
                table += stage.split("-")[0] + "".join(f" {counts[bound]}" for bound in resources.values()) + "\n"
            table += "\n\n"
        (out / "bounds.txt").write_text(table)
        subprocess.run(["gnuplot", "-e", f"table = 'results/bounds.txt'; out = 'results/bounds'; n_chips = {len(chips)}; foot = '{self._counted}'",
                        "plots/bounds.gp"], cwd=ROOT, check=True, capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
        return out / "bounds.png"

