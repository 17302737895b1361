#!/usr/bin/env python3
"""A stage beside its peers, from records of `make peers`, as the Markdown tables of its README: for each set of rows one
of loaded times and one of bursts.

    make stage-6 peers-table                       (RECORDED=h200; RECORDED= takes results/peers.jsonl)
    python3 plots/peers_table.py RECORDS [STAGE ...]

RECORDS: JSON lines of peers.py. A time is the newest in the file; what is not there is "-". Without a STAGE: those that
have a record.
"""
import json
import os
import signal
import sys

SHORT = {"FlashAttention-2": "FA2", "FlashAttention-3": "FA3", "FlashAttention-4": "FA4"}


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
            if not isinstance(r, dict) or "copy_tb_per_s" not in r and (
                    "text" not in r.get("problem", {}) or not ("peer" in r or "stage" in r)):
                fail(f"{path}:{n}: no record of make peers")
            records.append(r)
    return records


def fail(why):
    print(f"peers-table: {why}", file=sys.stderr)
    sys.exit(5)


def number(x):
    return "-" if x is None else f"{x:.1f}" if x < 100 else f"{x:.0f}"


def line(cells):
    print("| " + " | ".join(cells) + " |")


def rate(record):
    """TFLOPS, or TB/s where each query reads its keys once: that is what limits it there."""
    p, s = record["problem"], record["samples"]
    if p.get("seqlen_q", 99) * p.get("heads", 1) // p.get("kv_heads", 1) <= 64 and p.get("seqlen_k", 0) > 256:
        moved = 4.0 * p["batch"] * p["head_dim"] * (p["heads"] * p["seqlen_q"] + p["kv_heads"] * p["seqlen_k"])
        return f"{moved / s['median_us'] * 1e-6:.2f} TB/s"
    return f"{s['tflops']:.0f}"


def table(way, records, problems, peers, stage):
    """`records` by problem and who, of one way and one set of rows."""
    line([way] + [SHORT.get(p, p) for p in peers] +
         [f"stage {stage} (TFLOPS)", "best peer / stage"] + (["image", "clock, MHz"] if way == "loaded" else []))
    line(["---"] * (len(peers) + 3 + 2 * (way == "loaded")))
    for p in problems:
        us = {who: records[p, who]["samples"]["median_us"] for who in (*peers, stage) if (p, who) in records}
        best, mine = min((us[w] for w in peers if w in us), default=None), records.get((p, stage))
        cells = [p] + [number(us.get(w)) for w in peers]
        cells += [f"{number(us[stage])} ({rate(mine)})" if mine else "-", f"{best / us[stage]:.2f}" if best and mine else "-"]
        if way == "loaded":
            clock = mine and mine["samples"].get("clock_mhz")
            image = mine and (mine.get("kernels") or [{}])[0].get("image")
            cells += [image or "-", f"{clock:.0f}" if clock else "-"]
        line(cells)
    print()


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: peers_table.py RECORDS [STAGE ...]")
    path, *stages = sys.argv[1:]
    records = records_of(path)
    recorded = sorted({r["stage"].split("-")[0] for r in records if "stage" in r and "samples" in r})
    for stage in stages:
        if stage not in recorded:
            fail(f"{path} has no stage {stage}, but {', '.join(recorded) or 'none'}")
    for stage in stages or recorded:
        tables(records, stage)


def tables(records, stage):
    record, problems, peers = {}, {}, []
    for r in records:
        if "samples" not in r:
            continue
        who = r["peer"]["name"] if "peer" in r else r["stage"].split("-")[0]
        key, text = (r.get("rows", ""), "burst" if "rest_ms" in r["samples"] else "loaded"), r["problem"]["text"]
        if text not in problems.setdefault(key, []):
            problems[key].append(text)
        if "peer" in r and who not in peers:
            peers.append(who)
        record.setdefault(key, {})[text, who] = r
    for rows in dict.fromkeys(key[0] for key in problems):
        if rows:
            print(f"Rows: {rows}\n")
        for way in ("loaded", "burst"):
            if (rows, way) in problems:
                there = [w for w in peers if any(k[1] == w for k in record[rows, way])]
                table(way, record[rows, way], problems[rows, way], there, stage)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader that has seen enough
    try:
        main()
        sys.stdout.flush()
    except OSError as e:
        sys.stdout = None  # or Python writes the rest once more
        fail(e)
