"""How far from its prediction a measurement lay, by family of kernels (make validate):

    python3 emulator/predictor/validate/intervals.py records/validation [--chip h200] [--freezes N] [--out FILE]

A family is what a kernel is bound by, as its own prediction says: `tensor` where the tensor pipe works in 40 % of the active
cycles or more, `issue` where the schedulers issue in 60 % or more, else `latency`. An interval holds 80 or 95 % of the
measured cycles of a family's frozen cases, as shares of the predicted ones: from the last N freezes (5). It is checked on each
of these freezes with the intervals of the others, if there are any. Two kernels whose intervals of their quotient hold 1 are too close to call.
--out appends the lines that programs read."""

import argparse
import glob
import math
import os
import sys
import re

from validate import compared, read_cases, read_measured, read_predicted

FAMILIES = ("tensor", "issue", "latency")
KINDS = ("error", "active", "tensor", "occupancy", "stall")


def family(p):
    return ("tensor" if p.get("tensor_active_pct", 0) >= 40 else "issue" if p.get("issue_active_pct", 0) >= 60 else "latency")


def quotients(folder, chip, n):
    """(family, problem, measured / predicted) of each case of a chip's freeze n."""
    cases = read_cases(f"{folder}/cases-{n}.txt")
    predicted = read_predicted(f"{folder}/predictions-{'' if chip == 'h200' else chip + '-'}{n}.jsonl")
    rows, _ = compared(cases, read_measured(f"{folder}/{chip}-{n}.jsonl.gz", cases), predicted)
    out = []
    for r in rows:
        problem = re.sub(r" ?--image \S+", "", r["options"])
        out.append({"family": family(predicted[r["number"]]), "problem": (n, problem), "predicted": r["predicted"],
                    "measured": r["truth"], **{k: r[k] for k in KINDS}})
    return out


def quantile(values, share):
    """So that the next of n + 1 values alike lies below it with this chance; at the ends the outermost value."""
    values = sorted(values)
    at = share * (len(values) + 1) - 1
    low = min(max(math.floor(at), 0), len(values) - 1)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * min(max(at - low, 0), 1)


def interval(rows, inside):
    x = [r["measured"] / r["predicted"] for r in rows]
    return quantile(x, (1 - inside) / 2), quantile(x, (1 + inside) / 2)


def of_family(rows, name):
    """A family of few cases has the interval of all."""
    some = [r for r in rows if r["family"] == name]
    return some if len(some) >= 20 else rows


def covered(by_freeze, inside):
    """(cases inside the intervals of the other freezes, all)"""
    hits = n = 0
    for freeze, rows in by_freeze.items():
        others = [r for f, some in by_freeze.items() if f != freeze for r in some]
        bounds = {f: interval(of_family(others, f), inside) for f in FAMILIES}
        for r in rows:
            low, high = bounds[r["family"]]
            hits += low <= r["measured"] / r["predicted"] <= high
            n += 1
    return hits, n


def pairs(rows):
    by_problem = {}
    for r in rows:
        by_problem.setdefault(r["problem"], []).append(r)
    for some in by_problem.values():
        for i, a in enumerate(some):
            for b in some[:i]:
                yield a, b


def pair_errors(rows):
    """How far the quotient of two predictions of one problem was from the measured one, as logarithms."""
    return [abs(math.log(a["measured"] / b["measured"] * b["predicted"] / a["predicted"])) for a, b in pairs(rows)]


def calls(by_freeze):
    """(right, decided, too close): pairs of one problem that differ by more than 3 % on the GPU. A pair is decided if the
    quotient of its predictions is farther from 1 than four in five errors of such quotients in the other freezes."""
    right = decided = close = 0
    for freeze, rows in by_freeze.items():
        others = [r for f, some in by_freeze.items() if f != freeze for r in some]
        least = quantile(pair_errors(others), 0.8)
        for a, b in pairs(rows):
            if max(a["measured"], b["measured"]) <= 1.03 * min(a["measured"], b["measured"]):
                continue
            if abs(math.log(a["predicted"] / b["predicted"])) < least:
                close += 1
                continue
            decided += 1
            right += (a["predicted"] < b["predicted"]) == (a["measured"] < b["measured"])
    return right, decided, close


def print_families(rows):
    """A line a family: each kind of value over all freezes that are given."""
    print(f"{'family':10s} {'cases':>6s} {'cycles %':>9s} {'median':>7s} {'9 in 10':>8s} {'worst':>7s} {'active %':>9s} "
          f"{'tensor':>7s} {'occup %':>8s} {'stall right':>12s}")
    for name in (*FAMILIES, "all"):
        some = [r for r in rows if name in ("all", r["family"])]
        size = {k: [abs(r[k]) for r in some if r[k] is not None] for k in KINDS}
        if some:
            mean = {k: sum(v) / len(v) if v else float("nan") for k, v in size.items()}
            print(f"{name:10s} {len(some):6d} {mean['error']:9.1f} {quantile(size['error'], 0.5):7.1f} {quantile(size['error'], 0.9):8.1f} "
                  f"{max(size['error']):7.1f} {mean['active']:9.1f} {mean['tensor']:7.1f} {mean['occupancy']:8.1f} {100 * mean['stall']:11.0f}%")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--chip", default="h200")
    parser.add_argument("--freezes", type=int, default=5)
    parser.add_argument("--out")
    o = parser.parse_args()
    numbers = sorted(int(re.search(r"-(\d+)\.", os.path.basename(f))[1]) for f in glob.glob(f"{o.folder}/{o.chip}-*.jsonl.gz"))
    by_freeze = {n: quotients(o.folder, o.chip, n) for n in numbers[-o.freezes:]}
    rows = [r for some in by_freeze.values() for r in some]
    lines = []
    for name in (*FAMILIES, "all"):
        some = rows if name == "all" else of_family(rows, name)
        (a, b), (c, d) = interval(some, 0.8), interval(some, 0.95)
        lines.append(f"interval {name}: 80 % {a:.3f} to {b:.3f}, 95 % {c:.3f} to {d:.3f} of the prediction, {len(some)} cases")
    errors = pair_errors(rows)
    if errors:
        lines.append(f"pairs: 8 in 10 of {len(errors)} quotients of two predictions of a problem were within "
                     f"{100 * math.expm1(quantile(errors, 0.8)):.1f} %")
    print(f"\nintervals on an {o.chip}, freezes {numbers[-len(by_freeze)]} to {numbers[-1]}")
    print("\n".join(lines))
    print_families(rows)
    for inside in (0.8, 0.95) if len(by_freeze) > 1 else ():
        hits, n = covered(by_freeze, inside)
        print(f"inside the {100 * inside:.0f} % interval of the other freezes: {hits} of {n} cases ({100 * hits / n:.1f} %)")
    right, decided, close = calls(by_freeze) if len(by_freeze) > 1 else (0, 0, 0)
    if decided:
        print(f"pairs that differ by more than 3 %: {right} of {decided} decided are right, {close} too close to call")
    if o.out:
        with open(o.out, "a") as f:
            f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../common/base"))
    import main_program
    main_program.run(main)
