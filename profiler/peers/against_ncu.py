#!/usr/bin/env python3
"""Compares this project's counters with Nsight Compute's on the same kernel.

    profiler/peers/against_ncu.py build/stage-1 [--seqlen 512 ...]

Runs the stage by itself, with all counter groups, and then under ncu without counters (two CUPTI clients exclude
each other), where the launches of the check are looked at: the second one, so that caches are warm in both. If a
stage launches several kernels, counts are added up, and what is no count is left out. Prints a markdown table,
and exits 1 if a count differs by more than 1 %, or fewer than 20 values are within 1 %. How long either took stands below.

Cycles and what is measured in them (percentages of time, stalls, arbitration) vary from run to run of either
tool, and so does what a kernel executes while it spins on a barrier: such rows are marked "varies" and have a
limit of 20 %. ncu prints two decimals: a difference within its rounding is none. Two are shown and not judged: DRAM,
as what ncu's own replay reads and writes is in its number, and how long the kernel took and at what clock, which differ
from launch to launch.
"""
import csv
import io
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

GROUPS = ",".join(sorted(f[:-4] for f in os.listdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "groups"))))

# What a formula's SASS metrics and launch facts are called in ncu.
ALIASES = {
    "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared": "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum",
    "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal": "memory_l1_wavefronts_shared_ideal",
    "smsp__sass_sectors_mem_global": "memory_l2_theoretical_sectors_global",
    "smsp__sass_sectors_mem_global_ideal": "memory_l2_theoretical_sectors_global_ideal",
    "launch.registers": "launch__registers_per_thread",
    "launch.occupancy_pct": "sm__maximum_warps_per_active_cycle_pct",
}
ALIASES |= {f"smsp__sass_inst_executed_op_{op}": f"sm__sass_inst_executed_op_{op}.sum"
            for op in ("shared_ld", "shared_st", "ldsm", "ldgsts", "global_ld", "global_st")}
VARIES = re.compile(r"pct_of_peak|per_cycle|ratio|lts__|data_bank_conflicts")
NOT_JUDGED = re.compile(r"dram__|gpu__time|sm__cycles_(elapsed|active)[.]|cycles_taken")
ROUNDING = 0.0051


def counters_of(stage):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.jsonl")
        subprocess.run(stage + ["--no-time", "--quiet", "--counters", GROUPS, "--json", path], check=True)
        with open(path) as f:
            return json.loads(f.readline())


def names_in(formula):
    return re.findall(r"[A-Za-z_][A-Za-z0-9_.@]*", formula)


def ncu_values(stage, metrics, n_launches):
    """Of the second of the check's two runs."""
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
               "--cache-control", "none", "--nvtx", "--nvtx-include", "attnlab@verify/",
               "--launch-skip", str(n_launches), "--launch-count", str(n_launches),
               "--metrics", ",".join(sorted(metrics))]
    done = subprocess.run(command + stage + ["--no-time", "--counters", "none", "--quiet"],
                          capture_output=True, text=True)
    rows = list(csv.reader(io.StringIO("\n".join(l for l in done.stdout.splitlines() if l.startswith('"')))))
    launches = rows[2:][-n_launches:]  # below names and units
    if len(rows) - 2 not in (n_launches, 2 * n_launches):  # a version that does not skip in ranges shows both runs
        sys.exit(f"ncu looked at {len(rows) - 2} launches, not at {n_launches}:\n{done.stdout}{done.stderr}")
    values = {}
    for column, name in enumerate(rows[0]):
        is_count = name.endswith(".sum") or name.startswith("memory_")
        if len(launches) > 1 and not is_count:
            continue
        try:
            values[name] = sum(float(l[column].replace(",", "")) for l in launches)
        except ValueError:
            pass
    return values


def main():
    stage = sys.argv[1:]
    if not stage or stage[0].startswith("-"):
        sys.exit(__doc__)
    if not shutil.which("ncu"):
        sys.exit("against_ncu: no ncu (Nsight Compute) on PATH; it comes with the CUDA toolkit, in bin/")
    runs, ours_s = [], []
    for _ in range(3):
        begin = time.monotonic()
        runs.append(counters_of(stage))
        ours_s.append(time.monotonic() - begin)
    record = runs[0]
    again = [{c["name"]: c.get("value") for c in run["counters"]} for run in runs[1:]]
    ours = {c["name"]: c for c in record["counters"]}
    wanted = {ALIASES.get(n, n) for c in ours.values() for n in names_in(c.get("metric", ""))
              if "@" not in n}
    begin = time.monotonic()
    theirs = ncu_values(stage, {n for n in wanted if "__" in n or n.startswith("memory_")}, len(record.get("kernels", [None])))
    ncu_s = time.monotonic() - begin

    rows, worst = [], 0
    by_name = {}  # values as ncu has them, for formulas that use them
    for name, c in ours.items():
        if "value" not in c:
            continue
        formula = c["metric"]
        known = {n: theirs.get(ALIASES.get(n, n), by_name.get(n)) for n in names_in(formula)}
        if None in known.values():
            continue
        expression = re.sub(r"[A-Za-z_][A-Za-z0-9_.@]*", lambda m: repr(known[m[0]]), formula)
        try:
            by_name[name] = eval(expression, {"__builtins__": {}})
        except ZeroDivisionError:
            continue
        a, b = c["value"], by_name[name]
        difference = 0.0 if abs(a - b) <= ROUNDING else 100 * abs(a - b) / max(abs(a), abs(b))
        varies = VARIES.search(formula) or any(r.get(name) != a for r in again)
        note = "not judged" if NOT_JUDGED.search(formula) else "varies" if varies else ""
        limit = {"not judged": 100, "varies": 20, "": 1}[note]
        rows.append((name, a, b, difference, note, difference <= limit))

    device, problem = record["device"], record["problem"].get("text", "")
    print(f"{' '.join(stage)}: {problem}, {device['name']}, driver {device['driver']}\n")
    print("| counter | here | ncu | difference | |\n| --- | ---: | ---: | ---: | --- |")
    for name, a, b, difference, note, fine in rows:
        print(f"| {name} | {a:.10g} | {b:.10g} | {difference:.2f} % | {note}{'' if fine else ' DIFFERS'} |")
    bad = [r[0] for r in rows if not r[5]]
    judged = sum(r[4] != "not judged" for r in rows)
    near = sum(r[3] <= 1 for r in rows if r[4] != "not judged")
    print(f"\n{judged} counters compared, {near} within 1 %, {len(bad)} differ" + (f": {', '.join(bad)}" if bad else ""))
    print(f"the program with all groups {statistics.median(ours_s):.2f} s (median of 3), under ncu for the same metrics {ncu_s:.2f} s: both with the check")
    sys.exit(1 if bad or near < 20 else 0)


if __name__ == "__main__":
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common/base"))
    import main_program
    main_program.run(main)
