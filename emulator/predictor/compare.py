"""Predicted cycles beside recorded ones, for the records that hold STALL counters.

    python3 emulator/predictor/compare.py [--stage N] [--shape TEXT] [--stalls] [RECORD.jsonl]

Recorded active cycles are instructions / (528 issue_active), elapsed ones active times
tensor_active / tensor_elapsed: good to 1 %, below 20 k cycles to 10 %. A damaged line of the records is named and left
out; with --strict the exit status is then 5."""

import argparse
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common/harness"))
import records  # noqa: E402

STALLS = {"barrier": "barrier", "long_scoreboard": "long_scoreboard", "wait": "wait",
          "short_scoreboard": "short_scoreboard", "math_pipe": "math_pipe", "mio": "mio_throttle",
          "gmma": "gmma", "not_selected": "not_selected", "no_instruction": "no_instruction"}


def recorded(record):
    c = {x["name"]: x.get("value") for x in record["counters"]}
    if not c.get("issue_active_pct"):
        return None
    c["active"] = c["instructions"] / 528 / (c["issue_active_pct"] / 100)
    c["elapsed"] = (c["active"] * c["tensor_active_pct"] / c["tensor_elapsed_pct"]
                    if c["tensor_elapsed_pct"] else None)
    return c


def arguments(p):
    out = []
    for name in ("batch", "heads", "kv_heads", "seqlen_q", "seqlen_k", "head_dim"):
        out += ["--" + name.replace("_", "-"), str(p[name])]
    return out + ([] if p["mask"] == "none" else ["--causal=" + p["mask"]])


def predicted(stage, problem, build):
    try:
        done = subprocess.run([f"{build}/predict-{stage}", *arguments(problem)], capture_output=True, text=True)
    except OSError as e:
        return None, f"{e.filename}: {e.strerror}; make {e.filename}"
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or not lines:
        return None, done.stderr.strip()
    first = lines[0]
    for more in lines[1:]:
        for k in ("elapsed", "active", "instructions", "host_seconds"):
            first[k] += more[k]
    return first, None


def read(path):
    def whole(r):
        if int(r["stage"][:1]) != 5 and r.get("counters"):
            arguments(r["problem"]), r["problem"]["text"], recorded(r)

    try:
        yield from records.read(path, "compare", whole)
    except OSError as e:
        print(f"compare: {path}: {e.strerror}; RECORD.jsonl is a file of records, as records/runs/h200.jsonl", file=sys.stderr)
        sys.exit(5)


def percent(a, b):
    return f"{100 * (a / b - 1):+6.1f}" if b else "   n/a"


def main():
    args = argparse.ArgumentParser()
    args.add_argument("records", nargs="?", default="records/runs/h200.jsonl")
    args.add_argument("--stage")
    args.add_argument("--shape", action="append")
    args.add_argument("--stalls", action="store_true")
    args.add_argument("--build", default="build")
    args.add_argument("--strict", action="store_true", help="exit with 5 if a line of the records is damaged")
    args = args.parse_args()
    errors = []
    print(f"{'stage and shape':28} {'active':>9} {'recorded':>9} {'%':>6} {'elapsed':>9} "
          f"{'recorded':>9} {'%':>6}  instr%  tens  rec. {'s':>5}")
    for r in read(args.records):
        stage, p = r["stage"][0], r["problem"]
        if stage == "5" or not r.get("counters"):
            continue
        if (args.stage and stage not in args.stage) or (args.shape and p["text"] not in args.shape):
            continue
        c = recorded(r)
        if not c:
            continue
        t, why = predicted(stage, p, args.build)
        name = f"{stage} {p['text']}"
        if not t:
            print(f"{name:28} {why}")
            continue
        errors.append(100 * (t["active"] / c["active"] - 1))
        print(f"{name:28} {t['active']:9.0f} {c['active']:9.0f} {percent(t['active'], c['active'])}"
              f" {t['elapsed']:9.0f} {c['elapsed'] or 0:9.0f} {percent(t['elapsed'], c['elapsed'])}"
              f"  {percent(t['instructions'], c['instructions'])} {t['tensor_active_pct']:5.1f}"
              f" {c['tensor_active_pct']:5.1f} {t['host_seconds']:5.1f}", flush=True)
        if args.stalls:
            print("    " + "  ".join(
                f"{k[:9]} {t[m]:.2f}/{c.get('stall_' + k) or 0:.2f}" for k, m in STALLS.items()) +
                f"  branch {t['branch']:.2f} disp {t['dispatch']:.2f} lg {t['lg_throttle']:.2f}"
                f" membar {t['membar']:.2f}  warps {t['warps']:.2f}/{c['warps_achieved']:.2f}"
                f"  wavefronts {percent(t['wavefronts'], c['shared_wavefronts'])}"
                f"  sectors {percent(t['sectors'], c['global_sectors'])}"
                f"  L2 {percent(t['l2_sectors'], c['l2_read_sectors'])}")
    if errors:
        print(f"mean |error| of active {sum(map(abs, errors)) / len(errors):.1f} %, "
              f"worst {max(map(abs, errors)):.1f} %, n {len(errors)}")
    return records.status(args.strict)


sys.exit(main())
