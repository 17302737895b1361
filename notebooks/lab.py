"""What the labs share: running a stage, or reading the record of a run on a real GPU; checking answers.

    from lab import attnlab
    record = attnlab.run("1-scalar")            # runs it here, or replays plots/recorded/h200.jsonl
    counts = attnlab.count("3-wmma-pv", "--chip", "rtx4090")         # the emulator's counts, taken now
"""
import json
import os
import pathlib
import subprocess
import tempfile

ROOT = next(p for p in [pathlib.Path.cwd(), *pathlib.Path.cwd().parents] if (p / "stages").is_dir())
RECORDED = ROOT / "plots" / "recorded"


class Lab:
    """Records come from plots/recorded/ unless LAB_DEVICE is set to auto, cuda or emu: then stages run."""

    def __init__(self):
        self.device = os.environ.get("LAB_DEVICE", "")
        if self.device not in ("", "auto", "cuda", "emu"):
            raise ValueError(f"LAB_DEVICE is auto, cuda or emu, or not set: {self.device!r} is none of them")
        self.right = self.asked = 0

    def run(self, stage, problem="B1 H8 S512 D64", options=()):
        """One record (a dict, see common/harness/record.h) of this stage on this problem."""
        if not self.device:
            return self.recorded(stage, problem)
        return self._record(stage, "--device", self.device, *options)

    def count(self, stage, *options):
        """What the emulator counts in one run of this stage, taken now: {name: value}, see profiler/groups."""
        record = self._record(stage, "--device", "emu", "--no-check", "--no-time",
                              "--counters", "TENSOR,SHARED,MIX,BOUND,OCCUPANCY", *options)
        return {counter["name"]: counter["value"] for counter in record["counters"] if "value" in counter}

    def without(self, stage, line, *options):
        """What the emulator's checker says when the barrier, wait or fence of this source line is left out."""
        return self._program(stage, "--device", "emu", "--jobs", 1, "--no-time", "--without", line, *options).stderr

    def line(self, stage, text, file="kernel.cu"):
        """The number of the only line of a stage's source file that has this text."""
        lines = (ROOT / "stages" / stage / file).read_text().splitlines()
        numbers = [n for n, line in enumerate(lines, 1) if text in line]
        if len(numbers) != 1:
            raise LookupError(f"{len(numbers)} lines of {stage}/{file} have the text {text!r}")
        return numbers[0]

    def _program(self, stage, *options):
        program = ROOT / "build" / f"stage-{stage.split('-')[0]}"
        if not program.exists():
            raise RuntimeError(f"{program.name} is not built: run `make {program.name}` in {ROOT}")
        return subprocess.run([program, "--quiet", *map(str, options)], cwd=ROOT, capture_output=True, text=True,
                              timeout=1800)  # a kernel without one of its barriers may never end

    def _record(self, stage, *options):
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as out:
            done = self._program(stage, "--json", out.name, *options)
            if done.returncode:
                raise RuntimeError(f"stage {stage} ended with status {done.returncode}: {done.stderr.strip()}")
            return json.loads(out.read())

    def records(self, name):
        """All records of plots/recorded/NAME.jsonl."""
        return [json.loads(line) for line in (RECORDED / f"{name}.jsonl").read_text().splitlines()]

    def table(self, name):
        """The rows of plots/recorded/NAME.tsv, lists of numbers; its head says what the columns are."""
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

    def check(self, question, answer, low, high, hint):
        """Says whether a numeric answer lies in [low, high]; an unanswered question (None) is open."""
        self.asked += 1
        if answer is None:
            print(f"{question}: open")
            return False
        right = low <= answer <= high
        self.right += right
        value = f"{answer:.0f}" if answer % 1 == 0 else f"{answer:.4g}"  # counts are told to the last one
        print(f"{question}: right ({value})" if right else f"{question}: not yet ({value}). {hint}")
        return right

    def draw(self, plot="tensor", recorded="h200"):
        """The path of a comparison plot (PNG), drawn from the records."""
        return self.make(f"compare/{plot}.png", "compare", f"RECORDED={recorded}")

    def make(self, picture, *words):
        """The path of a picture in results/ that `make WORDS` draws."""
        done = subprocess.run(["make", "-s", *words], cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"make {' '.join(words)}: {done.stderr.strip()}")
        return ROOT / "results" / picture

    def bounds(self, chips):
        """The path of a picture of what each resource would take alone; chips: {name: {stage: counts}}."""
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
        subprocess.run(["gnuplot", "-e", f"table = 'results/bounds.txt'; out = 'results/bounds'; n_chips = {len(chips)}",
                        "plots/bounds.gp"], cwd=ROOT, check=True, capture_output=True)
        return out / "bounds.png"


attnlab = Lab()
