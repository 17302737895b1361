#!/usr/bin/env python3
"""One page to hand in: records and pictures as a single HTML file that needs no network.

    report.py --records FILE --problem TEXT --pictures DIR --out FILE [--versus FILE] [--hot FILE] [--timelines PICTURE=TITLE...]

`make report` calls it after `make compare` has drawn. Every stage's newest record on the problem gives
a row of the table; each value keeps its source and metric, each missing one its reason. --versus sets
the times beside those of another file of records, --hot the first lines of records that --source wrote.
Exit status: 0; 2 usage; 5 files."""
import argparse
import base64
import glob
import json
import os
import sys

import jinja2

COLUMNS = (  # of the table: title, and a counter's name or a field of the samples
    ("time, us", "median_us"),
    ("TFLOPS", "tflops"),
    ("tensor pipe, %", "tensor_active_pct"),
    ("bank conflicts, %", "bank_conflict_pct"),
    ("occupancy, %", "occupancy_achieved_pct"),
    ("DRAM bytes", "dram_bytes"),
    ("instructions", "instructions"),
)
PICTURES = {
    "tensor": "Tensor-core utilisation", "time": "Time", "tflops": "Speed", "conflicts": "Bank conflicts",
    "occupancy": "Occupancy", "stalls": "What warps wait for", "roofline": "Roofline",
}


def fail(text, status=5):
    print(f"report: {text}", file=sys.stderr)
    sys.exit(status)


def figure(x):
    """Whole numbers, and what has no room for decimals, in groups of three; others to four digits."""
    return f"{x:,.0f}" if x == int(x) or abs(x) >= 1e4 else f"{x:.4g}"


def newest(path, problem):
    """{stage: its newest record on the problem}; records of an unknown schema are refused."""
    found = {}
    try:
        with open(path, encoding="utf-8") as f:
            for line in f:
                try:
                    r = json.loads(line)
                except ValueError:  # a kill cuts the last line
                    continue
                if not r.get("schema", "").startswith("attnlab-1."):
                    fail(f"{path} holds no records of this program")
                if "stage" in r and r.get("problem", {}).get("text") == problem:
                    if r["stage"] not in found or r["time"] >= found[r["stage"]]["time"]:
                        found[r["stage"]] = r
    except OSError as e:
        fail(f"{path}: {e.strerror}")
    return dict(sorted(found.items()))


def predicted_us(record):
    """The predicted time, as its counter; None without one."""
    return next((c for c in record["counters"] if c["name"] == "duration_us" and c.get("source") == "model"), None)


def cell(record, name):
    samples = record.get("samples", {})
    if name in ("median_us", "tflops"):
        if name in samples:
            return {"text": figure(samples[name])}
        us = predicted_us(record)
        if us:
            us = us["value"]
            return {"text": f"{figure(us if name == 'median_us' else record['problem']['flops'] / us * 1e-6)}*"}
        return {"text": "", "reason": samples.get("na", "not timed")}
    for c in record["counters"]:
        if c["name"] == name:
            return {"text": figure(c["value"]) + "*" * ("validated" in c)} if "value" in c else {"text": "", "reason": c["na"]}
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


def picture(path, title):
    with open(path, "rb") as f:
        return {"title": title, "data": base64.b64encode(f.read()).decode()}


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


def hot_lines(path, problem, n=5):
    """For each stage the lines that take most of what limits its kernel, and what warps wait for there."""
    tables = []
    for stage, r in newest(path, problem).items():
        hot = r["hot"]
        limit = "the predicted time" if "predictor" in hot else "the samples" if hot["limit"] == "time" else hot["limit"]
        rows = []
        for line in sorted(hot["lines"], key=lambda l: -l["share"])[:n]:
            waits = {k[6:]: v for k, v in line["counts"].items()
                     if k.startswith("stall.") and k not in ("stall.selected", "stall.not_selected")}
            rows.append([f"{os.path.basename(line['file'])}:{line['line']}", f"{100 * line['share']:.1f} %",
                         max(waits, key=waits.get).replace("_", " ") if waits else "", line.get("text", "")])
        tables.append({"stage": stage, "heading": ("line", f"share of {limit}", "mostly waits for", "source"), "rows": rows,
                       "pedigree": pedigree(r) + (f"; {hot['predictor']}" if "predictor" in hot else "") +
                                   (f"; stall samples: {hot['samples']}" if "samples" in hot else "")})
    return tables


def main():
    p = argparse.ArgumentParser()
    for name in ("records", "problem", "pictures", "out"):
        p.add_argument(f"--{name}", required=True)
    p.add_argument("--versus")
    p.add_argument("--hot")
    p.add_argument("--timelines", nargs="*", default=[])
    o = p.parse_args()

    records = newest(o.records, o.problem)
    if not records:
        fail(f"{o.records} has no record on {o.problem}")
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
        problem=o.problem, stages=stages, columns=[{"title": t} for t, _ in COLUMNS],
        devices=sorted({r["device"]["name"] for r in records.values()}),
        predicted=sorted({c["validated"] for r in records.values() for c in r["counters"] if "validated" in c}),
        missing=[f"{title}: {reason} ({', '.join(names)})" for (title, reason), names in missing.items()],
        versus=versus(records, o.versus, o.problem) if o.versus else None,
        pictures=[picture(f"{o.pictures}/{n}.svg", t) for n, t in PICTURES.items()
                  if os.path.exists(f"{o.pictures}/{n}.svg")],
        timelines=[picture(*t.split("=", 1)) for t in o.timelines],
        hot=hot_lines(o.hot, o.problem) if o.hot else [],
        revision=next(reversed(records.values())).get("revision", "?"), sources=o.records)
    try:
        with open(f"{o.out}.new", "w", encoding="utf-8") as f:
            f.write(text)
        os.replace(f"{o.out}.new", o.out)
    except OSError as e:
        fail(f"{o.out}: {e.strerror}")
    print(f"{o.out} ({len(text.encode()) / 1e6:.2f} MB)")


if __name__ == "__main__":
    main()
