"""What the labs share: running a stage, or reading the record of a run on a real GPU; checking answers.

    from lab import attnlab
    record = attnlab.run("1-scalar")            # runs it here, or replays plots/recorded/h200.jsonl
"""
import json
import os
import pathlib
import subprocess

ROOT = next(p for p in [pathlib.Path.cwd(), *pathlib.Path.cwd().parents] if (p / "stages").is_dir())
RECORDED = ROOT / "plots" / "recorded"


class Lab:
    """Records come from plots/recorded/ unless LAB_DEVICE is set to auto, cuda or emu: then stages run."""

    def __init__(self):
        self.device = os.environ.get("LAB_DEVICE", "")
        self.right = self.asked = 0

    def run(self, stage, problem="B1 H8 S512 D64", options=()):
        """One record (a dict, see common/record.h) of this stage on this problem."""
        if not self.device:
            return self.recorded(stage, problem)
        out = ROOT / "results" / "lab.jsonl"
        out.parent.mkdir(exist_ok=True)
        out.unlink(missing_ok=True)
        number = stage.split("-")[0]
        command = [ROOT / "build" / f"stage-{number}", "--device", self.device, "--quiet", "--json", out, *options]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"stage {number} ended with status {done.returncode}: {done.stderr.strip()}")
        return json.loads(out.read_text().splitlines()[-1])

    def recorded(self, stage, problem="B1 H8 S512 D64", board="h200"):
        """The newest committed record of this stage on this problem."""
        found = None
        for line in (RECORDED / f"{board}.jsonl").read_text().splitlines():
            record = json.loads(line)
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
        if low <= answer <= high:
            self.right += 1
            print(f"{question}: right ({answer:.4g})")
            return True
        print(f"{question}: not yet ({answer:.4g}). {hint}")
        return False

    def draw(self, plot="tensor", recorded="h200"):
        """The path of a comparison plot (PNG), drawn from the records."""
        subprocess.run(["make", "-s", "compare", f"RECORDED={recorded}"], cwd=ROOT, check=True,
                       capture_output=True)
        return ROOT / "results" / "compare" / f"{plot}.png"


attnlab = Lab()
