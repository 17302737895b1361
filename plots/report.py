#!/usr/bin/env python3
"""One page to hand in: records and pictures as a single HTML file that needs no network.

    report.py --records FILE --problem TEXT --pictures DIR --out FILE [--stages NAME...] [--versus FILE] [--hot FILE]
              [--timelines PICTURE=TITLE...] [--strict]
    report.py --program FILE --out FILE

`make report` calls it after `make compare` has drawn. Every stage's newest record on the problem gives
a row of the table; each value keeps its source and metric, each missing one its reason. --versus sets
the times beside those of another file of records, --hot the first lines of records that --source wrote. The sentence
below a picture is its line of DIR/says.txt; DIR/small has the pictures of a second problem. A damaged line of a file is
named and left out.
--program makes the page of the kernels of a program of one's own, from what build/run --json FILE has written.
Exit status: 0; 2 usage; 5 files, with --strict a damaged line too."""
import argparse
import base64
import glob
import os
import sys

import jinja2

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common/harness"))
import records as files  # noqa: E402

COLUMNS = (  # of the table: title, and a counter's name or a field of the samples
    ("back to back, us", "median_us"),
    ("one launch, us", "duration_us"),
    ("TFLOPS", "tflops"),
    ("tensor pipe, %", "tensor_active_pct"),
    ("bank conflicts, %", "bank_conflict_pct"),
    ("occupancy, %", "occupancy_achieved_pct"),
    ("DRAM bytes", "dram_bytes"),
    ("instructions", "instructions"),
)
PICTURES = {
    "tensor": "Tensor-core utilisation", "time": "Time", "tflops": "Speed", "peak": "Share of the peak",
    "conflicts": "Bank conflicts", "occupancy": "Occupancy", "stalls": "What warps wait for", "roofline": "Roofline",
}
SMALL = ("tensor", "time", "stalls")  # of the second problem
SHARES = {  # of a hot line, by what limits its kernel
    "issue": "share of the issue slots", "shared": "share of shared memory's cycles", "tensor": "share of the tensor pipe's cycles",
    "fma": "share of the FP32 pipe's cycles", "mufu": "share of MUFU's cycles", "global": "share of global memory's cycles",
}
WAITS = {  # profiler/groups/STALL.txt
    "wait": "a fixed latency", "long_scoreboard": "global memory or an mbarrier", "short_scoreboard": "shared memory or MUFU",
    "math_pipe": "an execution pipe", "barrier": "a barrier", "mio_throttle": "the queue to shared memory", "lg_throttle": "the queue to global memory",
    "branch": "a branch", "dispatch": "dispatch", "no_instruction": "the instruction cache", "membar": "a memory fence",
    "warpgroup_arrive": "its turn before a WGMMA", "gmma": "its turn before a WGMMA", "sleeping": "sleep", "imc": "the constant cache",
    "drain": "its last stores", "misc": "something else",
}



def fail(text, status=5):
    print(f"report: {text}", file=sys.stderr)
    sys.exit(status)


def figure(x):
    """Whole numbers, and what has no room for decimals, in groups of three; others to four digits."""
    return f"{x:,.0f}" if x == int(x) or abs(x) >= 1e4 else f"{x:.4g}"


def newest(path, problem):
    """{stage: its newest record on the problem}; records of an unknown schema are refused."""
    def whole(r):
        if "stage" in r and r["problem"]["text"] == problem:
            for c in r["counters"]:
                if "value" in c and c["value"] is None:  # common/harness/record.c: of no finite number
                    del c["value"]
                    c.setdefault("na", "no finite value")
            pedigree(r), r["counters"], cell(r, "duration_us")

    found = {}
    try:
        for r in files.read(path, "report", whole):
            if not str(r.get("schema", "")).startswith("attnlab-1."):
                fail(f"{path} holds no records of this program")
            if "stage" in r and r["problem"]["text"] == problem:
                if r["stage"] not in found or r["time"] >= found[r["stage"]]["time"]:
                    found[r["stage"]] = r
    except OSError as e:
        fail(f"{path}: {e.strerror}")
    return dict(sorted(found.items()))


def cell(record, name):
    samples = record.get("samples", {})
    if name in ("median_us", "tflops"):
        if name in samples:
            return {"text": figure(samples[name]), "value": samples[name]}
        us = next((c for c in record["counters"] if c["name"] == "duration_us" and "validated" in c), None)
        if us and name == "tflops" and "flops" in record["problem"]:
            tflops = record["problem"]["flops"] / us["value"] * 1e-6
            return {"text": f"{figure(tflops)}*", "value": tflops}
        return {"text": "", "reason": "its FLOP are not known" if "flops" not in record["problem"] and name == "tflops" else
                samples.get("na", "predicted is one launch alone" if us else "not timed")}
    for c in record["counters"]:
        if c["name"] == name:
            return {"text": figure(c["value"]) + "*" * ("validated" in c), "value": c["value"]} if "value" in c else {"text": "", "reason": c["na"]}
    return {"text": "", "reason": "not collected"}


def pedigree(r):
    d = r["device"]
    parts = [d["name"], f"driver {d['driver']}" if d.get("driver") else "", f"CUDA {d.get('toolkit', '?')}",
             f"revision {r.get('revision', '?')}", r["time"][:10],
             "interrupted: of what had run until then" if r.get("interrupted") else ""]
    if "median_us" in r.get("samples", {}):
        s = r["samples"]
        parts.append(f"n = {s['n']}, IQR {figure(s['iqr_us'])} us, {s['l2']} L2")
        if "clock_mhz_after" in d:
            parts.append(f"{d['clock_mhz_after']} MHz after")
    return ", ".join(p for p in parts if p) + f"; {r.get('command', '')}"


def picture(path, title, sentence=""):
    with open(path, "rb") as f:
        return {"title": title, "says": sentence, "data": base64.b64encode(f.read()).decode()}


def says(folder):
    """{picture: the sentence that it shows} of plots/says.awk."""
    try:
        with open(f"{folder}/says.txt", encoding="utf-8") as f:
            return dict(line.rstrip("\n").split("\t", 1) for line in f if "\t" in line)
    except OSError:
        return {}


def pictures(folder, names):
    said = says(folder)
    return [picture(f"{folder}/{n}.svg", PICTURES[n], said.get(n, "")) for n in names if os.path.exists(f"{folder}/{n}.svg")]


def versus(here, path, problem):
    there = newest(path, problem)
    rows = []
    for stage, r in here.items():
        a = there.get(stage, {}).get("samples", {}).get("median_us")
        b = r.get("samples", {}).get("median_us")
        if a and b:
            rows.append({"stage": stage, "there": figure(a), "here": figure(b), "ratio": f"{b / a:.3f}"})
    if not rows:
        return None
    return {"name": os.path.basename(path), "rows": rows,
            "pedigree": "There: " + pedigree(next(iter(there.values())))}


def kernels_of(path):
    """{kernel: a record like a stage's} of the newest run of a program of one's own (build/run --json)."""
    def whole(r):
        return "stage" in r or ([k["name"] for k in r["kernels"]], r["command"], r["schema"].startswith("attnlab-1."), pedigree(r))

    last = None
    try:
        for r in files.read(path, "report", whole):
            if r["schema"].startswith("attnlab-1.") and "stage" not in r and r["kernels"]:
                last = r
    except OSError as e:
        fail(f"{path}: {e.strerror}")
    if not last:
        fail(f"{path} has no run of a program: build/run --json {path} PROGRAM writes one")
    return {k["name"]: {**last, "stage": k["name"], "problem": {"text": last["command"]}, "counters": k.get("counters", [])}
            for k in last["kernels"]}


def most(counts):
    return max(counts, key=counts.get)


def last_problem(path):
    """The problem of the last record of a file, if the one that was asked for is not in it."""
    text = ""
    for r in files.read(path, "report", lambda r: r.get("problem", {}).get("text")):
        text = r.get("problem", {}).get("text", text)
    return text


def hot_lines(path, problem, n=5):
    """For each stage the lines that take most of what limits its kernel, and what warps wait for there."""
    tables = []
    for stage, r in newest(path, problem).items():
        hot = r.get("hot")
        if not hot:
            fail(f"{path} holds no lines: build/stage-N --source --json FILE writes them")
        share = SHARES.get(hot["limit"], "share of the stall samples" if "samples" in hot else "share of the warps' cycles, predicted")
        rows = []
        for line in sorted(hot["lines"], key=lambda l: -l["share"])[:n]:
            waits = {k[6:]: v for k, v in line["counts"].items()
                     if k.startswith("stall.") and k not in ("stall.selected", "stall.not_selected")}
            rows.append([f"{os.path.basename(line['file'])}:{line['line']}", f"{100 * line['share']:.1f} %",
                         WAITS.get(most(waits), most(waits).replace("_", " ")) if waits else "", line.get("text", "")])
        tables.append({"stage": stage, "heading": ("line", share, "warps wait most for", "source"), "rows": rows,
                       "pedigree": pedigree(r) + (f"; {hot['predictor']}" if "predictor" in hot else "") +
                                   (f"; stall samples: {hot['samples']}" if "samples" in hot else "")})
    return tables


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--out", required=True)
    for name in ("records", "problem", "pictures", "program"):
        p.add_argument(f"--{name}")
    p.add_argument("--stages", nargs="*", default=[])
    p.add_argument("--strict", action="store_true")
    p.add_argument("--versus")
    p.add_argument("--hot")
    p.add_argument("--timelines", nargs="*", default=[])
    o = p.parse_args()
    for t in o.timelines:
        if "=" not in t or not os.path.exists(t.split("=", 1)[0]):
            p.error(f"--timelines takes PICTURE=TITLE of pictures that are there, not '{t}'")

    if not o.program and not (o.records and o.problem and o.pictures):
        p.error("give --records, --problem and --pictures, or --program")
    if o.program:
        records = kernels_of(o.program)
        o.records, o.pictures = o.program, ""
        o.problem = next(iter(records.values()))["command"]
    else:
        records = newest(o.records, o.problem)
    if o.stages:
        records = {name: r for name, r in records.items() if name in o.stages}
    if not records:
        fail(f"{o.records} has no record{' of ' + ' '.join(o.stages) if o.stages else ''} on {o.problem}")
    small = says(f"{o.pictures}/small")
    stages, missing = [], {}
    for name, r in records.items():
        cells = [cell(r, key) for _, key in COLUMNS]
        for (title, _), c in zip(COLUMNS, cells):
            if not c["text"]:
                missing.setdefault((title, c["reason"]), []).append(name)
        stages.append({"name": name, "cells": cells, "counters": r["counters"], "gates": r.get("gates", []),
                       "passed": r.get("check", {}).get("passed"), "pedigree": pedigree(r)})
    page = jinja2.Environment(
        loader=jinja2.FileSystemLoader(os.path.dirname(os.path.abspath(__file__))), autoescape=True,
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    page.filters["figure"] = figure
    text = page.get_template("report.html").render(
        problem=o.problem, title="Kernels of a program" if o.program else "Attention forward, stage by stage",
        what="kernel" if o.program else "stage", stages=stages, columns=[{"title": t} for t, _ in COLUMNS],
        devices=sorted({r["device"]["name"] for r in records.values()}),
        predicted=sorted({c["validated"] for r in records.values() for c in r["counters"] if "validated" in c}),
        missing=[f"{title}: {reason} ({', '.join(names)})" for (title, reason), names in missing.items()],
        versus=versus(records, o.versus, o.problem) if o.versus else None,
        pictures=pictures(o.pictures, PICTURES), small=pictures(f"{o.pictures}/small", SMALL), lesson=small.get("lesson", ""),
        timelines=[picture(*t.split("=", 1)) for t in o.timelines],
        hot=[h for h in hot_lines(o.hot, o.problem) or hot_lines(o.hot, last_problem(o.hot)) if h["stage"] in records] if o.hot else [],
        hot_problem=o.problem if o.hot and newest(o.hot, o.problem) else last_problem(o.hot) if o.hot else "",
        revision=next(reversed(records.values())).get("revision", "?"), sources=o.records)
    try:
        with open(f"{o.out}.new", "w", encoding="utf-8") as f:
            f.write(text)
        os.replace(f"{o.out}.new", o.out)
    except OSError as e:
        fail(f"{o.out}: {e.strerror}")
    print(f"{o.out} ({len(text.encode()) / 1e6:.2f} MB)")
    return files.status(o.strict)


if __name__ == "__main__":
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common/base"))
    import main_program
    main_program.run(main)
