#!/usr/bin/env python3
"""A stage beside its peers, from records of `make peers`, as the two Markdown tables of its README.

    make stage-6 peers-table                       (RECORDED=h200; RECORDED= takes results/peers.jsonl)
    python3 plots/peers_table.py RECORDS STAGE [TIMES]

RECORDS: JSON lines of peers.py. TIMES: a table "problem us" of one more peer, timed elsewhere in bursts; its
first line names it. A time is the newest in the file; what is not there is "-".
"""
import json
import os
import signal
import sys


def times_of(path):
    """Name and {problem: us} of a peer that was timed elsewhere."""
    if not path:
        return "", {}
    with open(path) as f:
        lines = f.read().splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return lines[0].lstrip("# ").split(",")[0], {row[0].replace("-", " "): float(row[1]) for row in rows}


def records_of(path):
    """The records of make peers: a line that a kill cut is left out, and what is no such record is refused."""
    if not os.path.isfile(path):
        fail(f"there is no {path}; RECORDED=h200 is one, and make peers writes results/peers.jsonl")
    records = []
    with open(path, errors="replace") as f:
        for n, text in enumerate(f, 1):
            try:
                r = json.loads(text)
            except ValueError:
                print(f"peers-table: {path}:{n}: cut, and left out", file=sys.stderr)
                continue
            if not isinstance(r, dict) or "text" not in r.get("problem", {}) or not ("peer" in r or "stage" in r):
                fail(f"{path}:{n}: no record of make peers")
            records.append(r)
    return records


def fail(why):
    print(f"peers-table: {why}", file=sys.stderr)
    sys.exit(5)


def number(x):
    return "-" if x is None else f"{x:.1f}" if x < 100 else f"{x:.0f}"


def least(*values):
    known = [v for v in values if v is not None]
    return min(known) if known else None


def ratio(theirs, ours):
    return "-" if theirs is None or ours is None else f"{theirs / ours:.2f}"


def line(cells):
    print("| " + " | ".join(cells) + " |")


def head(cells):
    line(cells)
    line(["---"] * len(cells))


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: peers_table.py RECORDS STAGE [TIMES]")
    path, number_of_stage = sys.argv[1:3]
    elsewhere, times = times_of(sys.argv[3] if len(sys.argv) > 3 else None)
    record = {}  # of (problem, who, burst)
    problems = []
    for r in records_of(path):
        who = r["peer"]["name"] if "peer" in r else r["stage"].split("-")[0]
        if "samples" in r and r["problem"]["text"] not in problems:
            problems.append(r["problem"]["text"])
        record[r["problem"]["text"], who, "rest_ms" in r.get("samples", {})] = r

    def us(problem, who, burst):
        r = record.get((problem, who, burst))
        return r["samples"]["median_us"] if r and "samples" in r else None

    def ours(problem, burst):
        t = us(problem, number_of_stage, burst)
        return f"{number(t)} ({record[problem, number_of_stage, burst]['samples']['tflops']:.0f})" if t else "-"

    stage = f"stage {number_of_stage} (TFLOPS)"
    head(["loaded", "FA2", "cuDNN", stage, "best peer / stage", "tensor pipe active, %", "SM clock after, MHz"])
    for p in problems:
        fa2, cudnn, mine = (us(p, who, False) for who in ("FlashAttention-2", "cuDNN", number_of_stage))
        r = record.get((p, number_of_stage, False), {})
        active = [c["value"] for c in r.get("counters", []) if c["name"] == "tensor_active_pct" and "value" in c]
        line([p, number(fa2), number(cudnn), ours(p, False), ratio(least(fa2, cudnn), mine),
              f"{active[0]:.1f}" if active else "-", str(r.get("device", {}).get("clock_mhz_after", "-"))])
    print()
    head(["burst", "FA2", "cuDNN"] + ([elsewhere] if elsewhere else []) + [stage, "best peer / stage"])
    for p in problems:
        fa2, cudnn, mine = (us(p, who, True) for who in ("FlashAttention-2", "cuDNN", number_of_stage))
        other = times.get(p)
        line([p, number(fa2), number(cudnn)] + ([number(other)] if elsewhere else []) +
             [ours(p, True), ratio(least(fa2, cudnn, other), mine)])


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader that has seen enough
    try:
        main()
        sys.stdout.flush()
    except OSError as e:
        sys.stdout = None  # or Python writes the rest once more
        fail(e)
