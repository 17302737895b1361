#!/usr/bin/env python3
"""Did my change pay? A stage as it is here against the same stage before the change.

    against.py STAGE BASE [stage options]        (make stage-N against BASE=... does this)

BASE is a revision (built in build/against/), another stage (stage-3), a folder with another build of this project, a
file of records, or the name of a recorded run in records/runs.

On a GPU, base and here run in turns, so that a clock that drifts meets both. The verdict comes from
the ratios here / base of the turns: the 99.5 % confidence interval of their mean (of the logarithms,
Student's t), after 8 turns, and after 16 if 8 leave it unsure.

    faster, slower   the whole interval is on one side of 1, by more than 0.3 %
    same             the whole interval is within 1.5 % of 1
    unsure           neither: too much noise for this difference

A file of records has one run, from another sitting: its samples stand for its turns, and a board's
clock alone differs by a percent or two between sittings, so only 3 % count, and the verdict says so.

On the emulator every count is exact: each one that differs is shown, and more of any cost
(instructions, wavefronts, sectors, bytes, registers) is a regression. If the kernels differ, predicted cycles
are compared, too: they are too close to call where the quotient of two predictions was off by as much in
one of five validated pairs. They change no exit status.

Exit status: 0 no regression; 1 slower, more of a cost on the emulator, or a wrong answer; 2 usage;
5 files, with --strict a damaged line of one too; 77 nothing to compare here."""
import glob
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common/harness"))
import records  # noqa: E402

TURNS = 8, 16  # looks: decide after so many turns, or go on
SURE = 0.003  # a difference counts above this ratio ...
SURE_RECORDED = 0.03  # ... and between two sittings above this one
SAME = 0.015
COUNTERS = "TENSOR,SHARED,OCCUPANCY,MEMORY,MIX"
# Student's t, two-sided, 99.5 %, by degrees of freedom: 7 and 15 of turns; the normal limit.
QUANTILE = {7: 4.029, 15: 3.286}
COSTS = ("warp inst", "wavefronts", "sectors", "bytes", "cycles", "us", "per thread", "per block")


class Refusal(Exception):
    """One line, and the exit status."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def quantile(freedom):
    return QUANTILE.get(freedom, 2.81 * (1 + 3 / freedom))


def verdict(ratios, sure=SURE, same=SAME):
    """('slower', low, high): of the ratios here / base, with the interval of their mean."""
    logs = [math.log(r) for r in ratios]
    mean = statistics.fmean(logs)
    half = quantile(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    low, high = math.exp(mean - half), math.exp(mean + half)
    if low > 1 + sure:
        return "slower", low, high
    if high < 1 - sure:
        return "faster", low, high
    if low > 1 - same and high < 1 + same:
        return "same", low, high
    return "unsure", low, high


def newest(path, stage, problem=None):
    """The newest record of a stage in a file, of the problem text if one is given."""
    def whole(r):
        if str(r.get("stage", "")).split("-")[0] == stage:
            r["problem"]["text"], r["time"].split(), r["device"]["name"], values(r)

    found = None
    try:
        for record in records.read(path, "against", whole):
            if not str(record.get("schema", "")).startswith("attnlab-1."):
                raise Refusal(5, f"{path} holds no records of this program")
            if str(record.get("stage", "")).split("-")[0] != stage:
                continue
            if problem and record["problem"]["text"] != problem:
                continue
            if not found or record["time"] >= found["time"]:
                found = record
    except OSError as e:
        raise Refusal(5, f"{path}: {e.strerror}") from e
    return found


def run(folder, stage, options, counters):
    """The record of one run of a stage of a build of this project."""
    with tempfile.TemporaryDirectory() as scratch:
        path = f"{scratch}/run.jsonl"
        command = [f"{folder}/build/stage-{stage}", "--quiet", "--json", path, "--counters",
                   counters, *options]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode < 0 or done.returncode in (130, 143):
            sys.exit(130)
        record = newest(path, stage) if os.path.exists(path) else None
        if done.returncode == 1 or record and not record.get("check", {}).get("passed", True):
            raise Refusal(1, f"{folder}: stage {stage} gave a wrong answer; {' '.join(command)} shows it")
        if not record:
            last = (done.stderr.strip().splitlines() or ["no record"])[-1]
            raise Refusal(done.returncode or 5, f"{command[0]}: {last}")
        return record


def build_revision(revision, stage):
    """A checkout of the revision with its stage built: its folder."""
    name = subprocess.run(["git", "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"],
                          capture_output=True, text=True).stdout.strip()[:12]
    if not name:
        recorded = " ".join(os.path.basename(p)[:-6] for p in sorted(glob.glob("records/runs/*.jsonl")))
        raise Refusal(2, f"BASE={revision} is no revision, no file of records and no folder with a "
                         f"build; recorded runs are: {recorded}")
    folder = f"build/against/{name}"
    if not os.path.isdir(folder):
        print(f"against: checks {name} out into {folder}", file=sys.stderr)
        done = subprocess.run(["git", "worktree", "add", "--quiet", "--detach", folder, name],
                              capture_output=True, text=True)
        if done.returncode:
            raise Refusal(5, f"{folder}: {done.stderr.strip().splitlines()[-1]}")
    print(f"against: builds stage {stage} there", file=sys.stderr)
    log = f"{folder}/against.log"
    with open(log, "w") as out:
        if subprocess.run(["make", "-C", folder, f"stage-{stage}"], stdout=out, stderr=out).returncode:
            raise Refusal(5, f"{name} does not build: see {log}")
    return folder


def kernel_hash(record):
    return next((k.get("hash") for k in record.get("kernels", [])), None)


def on_emulator(record):
    return record["device"]["kind"] == "emulator"


def values(record):
    """{name: (value, unit)} of all counters that have one."""
    return {c["name"]: (c["value"], c["unit"]) for c in record["counters"] if "value" in c}


def text(x):
    return f"{x:.0f}" if x == int(x) else f"{x:.4g}"


def counter_deltas(base, here, least):
    """Rows of what differs by more than a ratio `least`; names of costs that rose."""
    before, after = values(base), values(here)
    rows, worse = [], []
    for name, (value, unit) in after.items():
        if name not in before or before[name][0] == value:
            continue
        old = before[name][0]
        change = value / old - 1 if old else math.inf
        if abs(change) <= least:
            continue
        rows.append((name, text(old), text(value), unit, f"{100 * change:+.2f} %" if old else "new"))
        if value > old and unit in COSTS:
            worse.append(name)
    return rows, worse


def predicted(folder, stage, options):
    """(cycles that the predictor says, its chip), or why there are none."""
    record = run(folder, stage, [*options, "--no-check", "--no-time"], "CYCLES")
    cycles = next((c for c in record["counters"] if c["name"] == "cycles_elapsed"), {"reason": "no prediction"})
    return (cycles["value"], cycles.get("validated", "").split(":")[0]) if "value" in cycles else (None, cycles.get("reason", "n/a"))


def pair_error(chip):
    """The share by which the quotient of two predictions was off in one of five validated pairs at least; None: unknown."""
    try:
        with open(f"records/validation/{chip}.txt", encoding="utf-8") as f:
            found = re.search(r"^pairs: 8 in 10 of \d+ .* within ([\d.]+) %", f.read(), re.M)
    except OSError:
        return None
    return float(found[1]) / 100 if found else None


def prediction_verdict(before, here, error):
    """The sentence about two predictions."""
    share = here / before
    change = f"predicted: {100 * (share - 1):+.1f} % of the cycles ({text(before)} before, {text(here)} here)"
    if error is None:
        return f"{change}; no validated pairs say how far that can be trusted"
    close = abs(math.log(share)) < math.log(1 + error)
    said = "too close to call" if close else "slower" if share > 1 else "faster"
    return f"{change}: {said}; 8 in 10 validated pairs were within {100 * error:.1f} %"


def print_predictions(base, here, options):
    """Each is a folder and a stage."""
    (before, why), (after, chip) = predicted(*base, options), predicted(*here, options)
    if before is None or after is None:
        print(f"predicted: n/a, {why if before is None else chip}")
        return
    print(prediction_verdict(before, after, pair_error(chip)))


def print_rows(heading, rows):
    widths = [max(len(r[i]) for r in [heading, *rows]) for i in range(len(heading))]
    for row in [heading, *rows]:
        print("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip())


class Timer:
    """A stage of a build, started once, that times whenever it is asked to; of a build that knows no --turns,
    started each time."""

    def __init__(self, folder, stage, options):
        self.folder, self.stage, self.options = folder, stage, options + ["--no-check"]
        self.program = subprocess.Popen([f"{folder}/build/stage-{stage}", *self.options, "--turns"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def us(self):
        if self.program:
            try:
                self.program.stdin.write("\n")
                self.program.stdin.flush()
                answer = self.program.stdout.readline()
            except BrokenPipeError:
                answer = ""
            if answer:
                return float(answer.split()[0])
            said = self.program.communicate()[1].strip().splitlines() or ["ended"]
            if self.program.returncode in (-2, -15, 130, 143):
                sys.exit(130)
            if self.program.returncode != 2:
                raise Refusal(self.program.returncode or 4, f"{self.folder}: {said[-1]}")
            self.program = None
        return run(self.folder, self.stage, self.options, "none")["samples"]["median_us"]

    def close(self):
        if self.program:
            self.program.communicate()


def in_turns(base, here, options):
    """The ratios here / base of turns that take both, until the verdict is clear; each is a folder and a stage."""
    ratios, timer = [], {side: Timer(*side, options) for side in (base, here)}
    for look in TURNS:
        while len(ratios) < look:
            # which one goes first alternates: what the first leaves behind meets both
            order = (base, here) if len(ratios) % 2 == 0 else (here, base)
            took = {side: timer[side].us() for side in order}
            ratios.append(took[here] / took[base])
            print(f"against: turn {len(ratios)} of {look}: base {took[base]:.2f} us, "
                  f"here {took[here]:.2f} us", file=sys.stderr)
        if verdict(ratios)[0] != "unsure":
            break
    for t in timer.values():
        t.close()
    return ratios


def main(arguments):
    if len(arguments) < 2 or not arguments[1]:
        raise Refusal(2, "give BASE=: a revision, a stage, a folder with a build, a file of records or the "
                         "name of a recorded run")
    stage, base, options = arguments[0], arguments[1], arguments[2:]
    recorded = f"records/runs/{base}.jsonl"
    path = recorded if os.path.isfile(recorded) else base if os.path.isfile(base) else None
    folder, base_stage = None, stage
    if re.fullmatch(r"stage-\d+", base):
        folder, base_stage = ".", base[len("stage-"):]
        if not os.path.isfile(f"build/{base}"):
            raise Refusal(2, f"BASE={base} is no stage here: make help lists the stages")
        if base_stage == stage:
            raise Refusal(2, f"BASE={base} is the stage itself: name another stage, or a revision such as BASE=HEAD~1")
    elif not path:
        folder = base if os.path.isfile(f"{base}/build/stage-{stage}") else build_revision(base, stage)

    here = run(".", stage, options, COUNTERS)
    problem = here["problem"]["text"]
    if path:
        before = newest(path, stage, problem)
        if not before:
            raise Refusal(77, f"{path} has no record of stage {stage} on {problem}")
        if before["device"]["name"] != here["device"]["name"]:
            raise Refusal(77, f"{path} was taken on {before['device']['name']}, this is "
                              f"{here['device']['name']}: times and counts of the two are not comparable")
    else:
        before = run(folder, base_stage, options, COUNTERS)

    where = base if base_stage != stage else f"revision {before['revision']}, {before['time'][:10]}"
    print(f"stage {here['stage']}, {problem}, on {here['device']['name']}: here against {where}")
    if kernel_hash(before) and kernel_hash(before) == kernel_hash(here):
        print("the kernel is the same: comments or host code differ, if anything")
    status, rows = 0, []
    if on_emulator(here):
        rows, worse = counter_deltas(before, here, 0)
        if worse:
            print(f"regression: more {', '.join(worse)}")
            status = 1
        else:
            print("no count differs" if not rows else "no cost is higher")
        if not path and kernel_hash(before) != kernel_hash(here):
            print_predictions((folder, base_stage), (".", stage), options)
    else:
        if path:
            if not before["samples"].get("us") or len(before["samples"]["us"]) < 5:
                raise Refusal(77, f"{path}: that record keeps no samples; record it again")
            middle = statistics.median(before["samples"]["us"])
            spread = [s / middle for s in before["samples"]["us"]]
            ratio = here["samples"]["median_us"] / middle
            kind, low, high = verdict([ratio / s for s in spread], SURE_RECORDED, SURE_RECORDED)
            how = f"{len(spread)} recorded samples, another sitting: differences under 3 % do not count"
        else:
            ratios = in_turns((folder, base_stage), (".", stage), options)
            kind, low, high = verdict(ratios)
            how = f"{len(ratios)} turns"
        middle = math.sqrt(low * high)
        print(f"{kind}: {100 * (middle - 1):+.2f} % of the time (99.5 %: {100 * (low - 1):+.2f} to "
              f"{100 * (high - 1):+.2f} %; {how})")
        status = 1 if kind == "slower" else 0
        rows, _ = counter_deltas(before, here, 0.01)
    if rows:
        print_rows(("counter", "base", "here", "unit", "change"), rows)
    return status or records.status("--strict" in options)


if __name__ == "__main__":
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common/base"))
    import main_program
    try:
        main_program.run(main, sys.argv[1:])
    except Refusal as refusal:
        print(f"against: {refusal}", file=sys.stderr)
        sys.exit(refusal.status)
