"""The clock's predictions beside what a GPU measured, case by case (make validate).

    python3 chips/validation/validate.py PREDICTIONS.jsonl MEASURED.jsonl [--cases]

Signed errors of elapsed cycles in per cent, prediction less measurement, by stage and by family of cases.txt; the
noise is how far the turns of one case lie apart; tensor is the mean distance of tensor_active_pct in points, stall
how often the largest reason is the same. The last line is the sum."""

import argparse
import collections
import gzip
import json
import os
import statistics
import sys

STALLS = {"stall_barrier": "barrier", "stall_long_scoreboard": "long_scoreboard", "stall_wait": "wait",
          "stall_short_scoreboard": "short_scoreboard", "stall_math_pipe": "math_pipe",
          "stall_mio": "mio_throttle", "stall_gmma": "gmma", "stall_not_selected": "not_selected",
          "stall_no_instruction": "no_instruction", "stall_branch": "branch", "stall_lg": "lg_throttle",
          "stall_membar": "membar", "stall_sleeping": "sleeping", "stall_dispatch": "dispatch"}


def read_cases(path):
    with open(path) as f:
        lines = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    return [(stage, family, options) for stage, family, options in lines]


def read_measured(path, cases):
    """For each case the counters of its records, one dict a turn, in order."""
    by_command = collections.defaultdict(list)
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as f:
        for line in f:
            record = json.loads(line)
            counters = {c["name"]: c["value"] for c in record["counters"] if "value" in c}
            words = record["command"].split()
            if "cycles_active" not in counters or "cycles_elapsed" not in counters:
                continue
            by_command[words[0].rsplit("-", 1)[1], " ".join(words)].append(counters)
    out = []
    for stage, _, options in cases:
        turns = [c for (s, command), all_turns in by_command.items()
                 if s == stage and command.endswith(" " + options) for c in all_turns]
        out.append(turns)
    return out


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else float("nan")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("predictions")
    parser.add_argument("measured")
    parser.add_argument("--cases", action="store_true", help="a line for each case")
    o = parser.parse_args()
    cases = read_cases(os.path.join(here, "cases.txt"))
    measured = read_measured(o.measured, cases)
    predicted = {}
    with open(o.predictions) as f:
        for line in f:
            p = json.loads(line)
            predicted[p["case"]] = p
    rows, missing = [], []
    for number, ((stage, family, options), turns) in enumerate(zip(cases, measured), 1):
        p = predicted.get(number, {"none": "not predicted"})
        if "none" in p or not turns:
            missing.append((stage, family, options, p.get("none", "not measured")))
            continue
        elapsed = [t["cycles_elapsed"] for t in turns]
        truth = statistics.median(elapsed)
        active = statistics.median(t["cycles_active"] for t in turns)
        real = {STALLS[k]: mean(t[k] for t in turns) for k in STALLS if all(k in t for t in turns)}
        rows.append({
            "stage": stage, "family": family, "options": options, "truth": truth,
            "error": 100 * (p["elapsed"] / truth - 1), "active": 100 * (p["active"] / active - 1),
            "noise": 100 * (max(elapsed) - min(elapsed)) / truth,
            "tensor": p["tensor_active_pct"] - statistics.median(t["tensor_active_pct"] for t in turns),
            "stall": max(real, key=real.get) == max(real, key=lambda k: p.get(k, 0)),
        })

    def line(name, some):
        errors = [r["error"] for r in some]
        print(f"{name:28s} {len(some):4d} {mean(map(abs, errors)):7.1f} {mean(errors):+7.1f} "
              f"{max(errors, key=abs):+7.1f} {mean(abs(r['active']) for r in some):7.1f} "
              f"{statistics.median(r['noise'] for r in some):6.1f} "
              f"{mean(abs(r['tensor']) for r in some):6.1f} {100 * mean(r['stall'] for r in some):6.0f}")

    if o.cases:
        print(f"{'case':78s} {'measured':>10s} {'error %':>8s} {'active %':>9s} {'noise %':>8s}")
        for r in rows:
            print(f"{'stage-' + r['stage'] + ' ' + r['options']:78s} {r['truth']:10.0f} {r['error']:+8.1f} "
                  f"{r['active']:+9.1f} {r['noise']:8.1f}")
        print()
    print(f"{'':28s} {'n':>4s} {'|err| %':>7s} {'bias':>7s} {'worst':>7s} {'active':>7s} {'noise':>6s} "
          f"{'tensor':>6s} {'stall%':>6s}")
    for key in ("stage", "family"):
        names = sorted({r[key].split(" ")[0] if key == "family" else r[key] for r in rows})
        for name in names:
            line(("stage-" if key == "stage" else "") + name,
                 [r for r in rows if (r[key].split(" ")[0] if key == "family" else r[key]) == name])
        print()
    for stage, family, options, why in missing:
        print(f"left out: stage-{stage} {options}: {why}")
    if not rows:
        sys.exit("validate: no case is both predicted and measured")
    errors = [abs(r["error"]) for r in rows]
    print(f"validation: {len(rows)} cases, mean {mean(errors):.1f} %, worst {max(errors):.1f} %")


main()
