"""bounds.py RECORDS: beside the cycles that a GPU counted, what each resource needs for the counted work.

A line for each record that has counters: the largest bound, its resource, and its share of the cycles. Cycles are
active ones of an SM, from instructions and issue_active_pct; counts are the hardware's. Where a record has the group
BOUND, bound_pct of it is judged the same. Exit 1 if a bound lies above
the cycles by more than two counters of different passes differ, if most lie below half of them, if the rate of
mma.sync does not explain how long the tensor pipe was active, or if the pipe's activity and the products' rate over
peak differ by more than 2 points and nothing names the rest."""
import json
import re
import statistics
import sys

SMS, TOLERANCE = 132, 1.02


def rates():
    """FLOP a clock and SM of mma.sync and WGMMA: the h200 of common/base/chip.c, the one place for them."""
    with open("common/base/chip.c", encoding="utf-8") as f:
        h200 = f.read().split('"h200"')[1].split(".name")[0]
    return [float(re.search(rf"\.{field} = (\d+)", h200)[1]) for field in ("mma_flop_per_clk", "tensor_flop_per_clk")]


def bounds(record, counted, mma, wgmma):
    """{resource: cycles of an SM}; DRAM's share of the time is its share of the cycles."""
    n = counted.get
    cycles = n("instructions") / 4 / SMS / (n("issue_active_pct") / 100)
    tensor = n("hmma_instructions") * 4096 / mma
    if n("hgmma_instructions"):  # how wide they are is not in the record: the problem's FLOPs, all by WGMMA
        tensor += record["problem"]["flops"] / wgmma
    per_sm = {"tensor": tensor, "mufu": 32 / 16 * n("mufu_instructions"), "fma": n("fma_instructions") / 4,
              "alu": n("alu_instructions") / 2, "shared": n("shared_wavefronts"), "issue": n("instructions") / 4}
    found = {name: value / SMS for name, value in per_sm.items()}
    found["dram"] = cycles * n("dram_bytes") / 4.8e12 / (record["samples"]["median_us"] * 1e-6)
    return cycles, found


def rest_of(problem, rest, cycles):
    """What is between how long the tensor pipe was active and the problem's products at the peak rate, in points."""
    if abs(rest) <= 2:
        return ""
    if problem.get("mask", "none") != "none" or problem["seqlen_q"] < 64:
        return "tiles past the mask or the end"  # WGMMA multiplies whole tiles, the problem's FLOPs are less
    if cycles < 20000:
        return "short: each counter is of another run"
    if problem["head_dim"] == 64:
        return "products of 64 columns: under peak"  # stage 5 times them: make stage-5 sweep
    return "NOT EXPLAINED"


def main():
    mma, wgmma = rates()
    n = near = above = unexplained = 0
    active = []  # what mma.sync's rate says of the tensor pipe, over what was counted
    print(f"{'stage':20}{'problem':32}{'cycles':>10}{'bound':>10}  resource  share"
          f"{'pipe, %':>9}{'products':>10}{'rest':>7}")
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as f:
            for line in f:
                r = json.loads(line)
                counted = {c["name"]: c.get("value") for c in r.get("counters", [])}
                if "flops" not in r.get("problem", {}) or not counted.get("instructions"):
                    continue
                cycles, found = bounds(r, counted, mma, wgmma)
                name = max(found, key=found.get)
                share = found[name] / cycles
                if counted["hmma_instructions"] and not counted["hgmma_instructions"]:
                    active.append(100 * found["tensor"] / cycles / counted["tensor_active_pct"])
                n, near, above = n + 1, near + (share >= 0.5), above + (share > TOLERANCE)
                products = 100 * found["tensor"] / cycles
                rest = counted["tensor_active_pct"] - products
                what = rest_of(r["problem"], rest, cycles)
                unexplained += what == "NOT EXPLAINED"
                if counted.get("bound_pct"):  # by profiler/groups/BOUND.txt, of cycles from the first to the last
                    n, near, above = n + 1, near + (counted["bound_pct"] >= 50), above + (counted["bound_pct"] > 100 * TOLERANCE)
                print(f"{r['stage']:20}{r['problem']['text']:32}{cycles:10.0f}{found[name]:10.0f}  {name:8}{share:7.2f}"
                      f"{counted['tensor_active_pct']:9.1f}{products:10.1f}{rest:+7.1f}  {what}".rstrip())
    print(f"{n} records: {near} within a factor of 2, {above} bounds above what was measured, "
          f"mma.sync's rate says {statistics.median(active):.3f} times the tensor pipe's activity")
    sys.exit(above > 0 or unexplained > 0 or abs(statistics.median(active) - 1) > 0.01 or 2 * near <= n)


if __name__ == "__main__":
    main()
