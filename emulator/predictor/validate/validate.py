"""Predictions beside what a GPU measured, case by case (make validate).

    python3 emulator/predictor/validate/validate.py PREDICTIONS.jsonl h200-N.jsonl.gz [--late FILE] [--now FILE] [--cases] [--out FILE] [--strict]

Signed errors of elapsed cycles in per cent, prediction less measurement, by stage and by family of cases-N.txt; the
noise is how far the turns of one case lie apart; tensor is the mean distance of tensor_active_pct in points, occup that of
achieved occupancy in per cent, stall how often the largest reason is the same. The last line is the sum; above it stands what 8 in 10
cases did not exceed, for each kind of value. --out writes both, the sum first.

--late: predictions by the frozen revision too, but made after others had seen what was measured: a table apart, and a
second sum with them. --now: by a later model, which knows all these measurements: development, and no validation.

A damaged line of a file is named and left out; with --strict the exit status is then 5. 1: there is nothing to sum up."""

import argparse
import collections
import math
import os
import re
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../common/harness"))
import records  # noqa: E402

STALLS = {"stall_barrier": "barrier", "stall_long_scoreboard": "long_scoreboard", "stall_wait": "wait",
          "stall_short_scoreboard": "short_scoreboard", "stall_math_pipe": "math_pipe",
          "stall_mio": "mio_throttle", "stall_gmma": "gmma", "stall_not_selected": "not_selected",
          "stall_no_instruction": "no_instruction", "stall_branch": "branch", "stall_lg": "lg_throttle",
          "stall_membar": "membar", "stall_sleeping": "sleeping", "stall_dispatch": "dispatch",
          "stall_drain": "drain"}


def read_cases(path):
    with open(path) as f:
        lines = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    return [(stage, family, options) for stage, family, options in lines]


def objects(path, whole):
    try:
        yield from records.read(path, "validate", whole)
    except OSError as e:
        sys.exit(f"validate: {path}: {e.strerror}")


def read_measured(path, cases):
    """For each case the counters of its records, one dict a turn, in order."""
    def whole(r):
        name = r["command"].split()[0]
        if not name.startswith("own:") and "-" not in name:
            raise ValueError(f"command {name:.40} is of no stage")
        for c in r["counters"]:
            if c["name"] and not math.isfinite(c.get("value", 0)):
                raise ValueError(f"counter {c['name']} is no number")

    by_command = collections.defaultdict(list)
    for record in objects(path, whole):
        counters = {c["name"]: c["value"] for c in record["counters"] if "value" in c}
        words = record["command"].split()
        if "cycles_active" not in counters or "cycles_elapsed" not in counters:
            continue
        tile = re.search(r"/sweep/([^/]+)/stage-4$", words[0])
        stage = f"4:{tile[1]}" if tile else words[0] if words[0].startswith("own:") else words[0].rsplit("-", 1)[1]
        by_command[stage, " ".join(words)].append(counters)
    out = []
    for stage, _, options in cases:
        turns = [c for (s, command), all_turns in by_command.items()
                 if s == stage and command.endswith(" " + options) for c in all_turns]
        out.append(turns)
    return out


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else float("nan")


def median(values):
    values = list(values)
    return statistics.median(values) if values else float("nan")


def decisions(rows):
    """(right, all): pairs of variants of one problem that differ by more than 3 % on the GPU."""
    problems = collections.defaultdict(list)
    for r in rows:
        words = r["options"].split()
        if "--image" in words:
            at = words.index("--image")
            del words[at:at + 2]
        problems[" ".join(words)].append(r)
    right = pairs = 0
    for some in problems.values():
        for i, a in enumerate(some):
            for b in some[:i]:
                if max(a["truth"], b["truth"]) <= 1.03 * min(a["truth"], b["truth"]):
                    continue
                pairs += 1
                right += (a["truth"] < b["truth"]) == (a["predicted"] < b["predicted"])
    return right, pairs


def read_predicted(path):
    def whole(p):
        if not isinstance(p["case"], int) or "none" not in p and not math.isfinite(p["elapsed"] + p["active"]):
            raise ValueError("a case that is none")

    return {p["case"]: p for p in objects(path, whole)}


def compared(cases, measured, predicted):
    """(a row for each case that is both, what the others lack)"""
    rows, missing = [], []
    for number, ((stage, family, options), turns) in enumerate(zip(cases, measured), 1):
        p = predicted.get(number, {"none": "not predicted"})
        if "none" in p or not turns:
            missing.append((stage, family, options, p.get("none", "not measured"), number))
            continue
        elapsed = [t["cycles_elapsed"] for t in turns]
        truth = statistics.median(elapsed)
        active = statistics.median(t["cycles_active"] for t in turns)
        real = {STALLS[k]: mean(t[k] for t in turns) for k in STALLS if all(k in t for t in turns)}
        rows.append({
            "number": number, "stage": stage, "family": family, "options": options, "truth": truth,
            "predicted": p["elapsed"],
            "error": 100 * (p["elapsed"] / truth - 1), "active": 100 * (p["active"] / active - 1),
            "noise": 100 * (max(elapsed) - min(elapsed)) / truth if len(elapsed) > 1 else None,
            "tensor": p["tensor_active_pct"] - statistics.median(t["tensor_active_pct"] for t in turns)
                      if "tensor_active_pct" in p else None,
            "occupancy": 100 * (p["warps"] / statistics.median(t["warps_achieved"] for t in turns) - 1)
                         if "warps" in p and all("warps_achieved" in t for t in turns) else None,
            "stall": max(real, key=real.get) == max(real, key=lambda k: p.get(k, 0)) if "selected" in p else None,
        })
    return rows, missing


def summed(rows):
    errors = [abs(r["error"]) for r in rows]
    return f"{len(rows)} cases, mean {mean(errors):.1f} %, worst {max(errors):.1f} %"


def within(values):
    """(how many, what 8 in 10 of them do not exceed): both as distances from 0."""
    sizes = sorted(abs(v) for v in values if v is not None)
    return len(sizes), sizes[math.ceil(0.8 * len(sizes)) - 1] if sizes else float("nan")


def by_kind(rows):
    """How good each kind of value was: the lines below the sum, one a kind, for programs to print beside it."""
    for name, key, unit in (("cycles", "error", "%"), ("tensor pipe", "tensor", "points"), ("occupancy", "occupancy", "%")):
        n, most = within(r[key] for r in rows)
        if n:
            yield f"{name}: 8 in 10 of {n} validated cases were within {most:.1f} {unit}"
    judged = [r["stall"] for r in rows if r["stall"] is not None]
    if judged:
        yield f"stalls: the largest one was right in {sum(judged)} of {len(judged)} validated cases"


def group(row, key):
    if key == "family":
        return row["family"].split(" ")[0]
    return "own" if row["stage"].startswith("own:") else "stage-" + row["stage"][0]


def print_cases(rows):
    print(f"{'case':78s} {'measured':>10s} {'error %':>8s} {'active %':>9s} {'noise %':>8s}")
    for r in rows:
        print(f"{'stage-' + r['stage'] + ' ' + r['options']:78s} {r['truth']:10.0f} {r['error']:+8.1f} "
              f"{r['active']:+9.1f} " + (f"{r['noise']:8.1f}" if r["noise"] is not None else f"{'once':>8s}"))
    print()


def print_now(rows, frozen):
    """Each case by the frozen model and by a later one; rows of one case that both have."""
    before = {r["number"]: r for r in frozen}
    both = [r for r in rows if r["number"] in before]
    print("development: a later model on cases that it was changed after, which is no validation; a freeze of it is "
          "still to be measured")
    print(f"{'case':78s} {'measured':>10s} {'frozen %':>9s} {'now %':>8s} {'active %':>9s} {'now %':>8s}")
    for r in both:
        old = before[r["number"]]
        print(f"{'stage-' + r['stage'] + ' ' + r['options']:78s} {r['truth']:10.0f} {old['error']:+9.1f} "
              f"{r['error']:+8.1f} {old['active']:+9.1f} {r['active']:+8.1f}")
    print(f"development: frozen {summed([before[r['number']] for r in both])}; now {summed(both)}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("predictions")
    parser.add_argument("measured")
    parser.add_argument("--late", help="predictions by the frozen revision, made later")
    parser.add_argument("--now", help="predictions by a later model")
    parser.add_argument("--cases", action="store_true", help="a line for each case")
    parser.add_argument("--out", help="write the sum to this file: what programs say beside a prediction")
    parser.add_argument("--strict", action="store_true", help="a damaged line gives exit status 5")
    o = parser.parse_args()
    freeze = re.search(r"-(\d+)\.jsonl", o.measured)
    cases = read_cases(os.path.join(os.path.dirname(o.measured), f"cases-{freeze[1] if freeze else 1}.txt"))
    measured = read_measured(o.measured, cases)
    predicted = read_predicted(o.predictions)
    rows, missing = compared(cases, measured, predicted)

    def line(name, some):
        errors = [r["error"] for r in some]
        print(f"{name:28s} {len(some):4d} {mean(map(abs, errors)):7.1f} {mean(errors):+7.1f} "
              f"{max(errors, key=abs):+7.1f} {mean(abs(r['active']) for r in some):7.1f} "
              f"{median(r['noise'] for r in some if r['noise'] is not None):6.1f} "
              f"{mean(abs(r['tensor']) for r in some if r['tensor'] is not None):6.1f} "
              f"{mean(abs(r['occupancy']) for r in some if r['occupancy'] is not None):6.1f} "
              f"{100 * mean(r['stall'] for r in some if r['stall'] is not None):6.0f}")

    if o.cases:
        print_cases(rows)
    print(f"{'':28s} {'n':>4s} {'|err| %':>7s} {'bias':>7s} {'worst':>7s} {'active':>7s} {'noise':>6s} "
          f"{'tensor':>6s} {'occup%':>6s} {'stall%':>6s}")
    for key in ("stage", "family"):
        for name in sorted({group(r, key) for r in rows}):
            line(name, [r for r in rows if group(r, key) == name])
        print()
    late, missing_late = compared(cases, measured, read_predicted(o.late)) if o.late else ([], [])
    known = {r["number"] for r in late}
    others = {number: why for *_, why, number in missing_late if why != "not predicted"}
    for stage, family, options, why, number in missing:
        if number not in known:
            print(f"left out: stage-{stage} {options}: {others.get(number, why)}")
    if not rows:
        sys.exit("validate: no case is both predicted and measured")
    right, pairs = decisions(rows)
    if pairs:
        print(f"decisions: of {pairs} pairs of one problem's variants that differ by more than 3 %, "
              f"{right} are in the right order ({100 * right / pairs:.1f} %)")
    total = summed(rows)
    if late:
        print("\npredicted by the frozen revision after others had seen the measurements: not in the freeze's own mean")
        print_cases(late)
        right, pairs = decisions(rows + late)
        print(f"in time: {total}")
        print(f"late: {summed(late)}; decisions with them: {right} of {pairs} pairs")
        total = f"{summed(rows + late)}, {len(late)} of them late"
    if o.now:
        print()
        print_now(compared(cases, measured, read_predicted(o.now))[0], rows + late)
    for text in by_kind(rows + late):
        print(text)
    print(f"validation: {total}")
    if o.out:
        with open(o.out, "w") as f:
            f.write("\n".join([total, *by_kind(rows + late)]) + "\n")
    sys.exit(records.status(o.strict))


if __name__ == "__main__":
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../common/base"))
    import main_program
    main_program.run(main)
