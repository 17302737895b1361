#!/usr/bin/env python3
"""How good are a stage's choices? Every way that it considers for random problems, timed on a GPU; and, with or without
one, how often the way that its model takes is within 3 % of the best one timed.

    make stage-6 choices                   time 300 problems, into results/choices-6.jsonl, then look
    make stage-6 choices RECORDED=h200     look at records/runs/h200-choices-6.jsonl with the model as it is now
    ... ARGS="--tried 3"                   as if the three best expected were timed, and the fastest were taken (--tune 3)

A damaged line of the records is named and left out; with --strict the exit status is then 5.
"""
import argparse
import csv
import ctypes
import json
import math
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "common/harness"))
import records as files  # noqa: E402

WITHIN = 1.03
FAR = 3  # times the best expected: such ways are not timed


def problems(n, seed):
    """Batch, heads, kv_heads, queries, keys, head_dim, causal: sizes spread over their logarithms."""
    r = random.Random(seed)

    def spread(low, high):
        return int(round(math.exp(r.uniform(math.log(low), math.log(high)))))
    while n:
        d, kv_heads, group = r.choice((64, 128, 128, 256)), r.choice((1, 2, 4, 8, 8, 16)), r.choice((1, 1, 2, 4, 8))
        batch, queries = spread(1, 128), spread(1, 8192)
        keys = queries if r.random() < .6 else spread(16, 16384)
        causal, heads = r.randrange(2), kv_heads * group
        if causal and keys < queries:
            keys = queries
        if 4.0 * batch * heads * queries * keys * d > 1e12 or (heads * queries + kv_heads * keys) * batch * d * 4 > 2e9:
            continue
        n -= 1
        yield batch, heads, kv_heads, queries, keys, d, causal


def ways(stage, us, p):
    """What the stage considers for a problem, the best expected first: in words, and us."""
    numbers, found = (ctypes.c_int * 8)(*p, 0), []
    for i in range(64):
        text = stage.lib.library_choice(numbers, i, ctypes.byref(us))
        if not text or (found and us.value > FAR * found[0][1]):
            break
        found.append((text.decode(), us.value))
    return found


def measure(args):
    """Appends a line for each problem: its ways, in words, and the us of each. They take turns, the second time in the
    opposite order: the board slows down as it gets warm."""
    sys.path.insert(0, HERE)
    import peers
    torch = peers.torch
    first = peers.Stage(args.stage)
    first.lib.library_choice.restype = ctypes.c_char_p
    timer, us = peers.Timer(None), ctypes.c_double()
    rows = [(r.batch, r.heads, r.kv_heads, r.sq, r.sk, r.dim, int(r.causal)) for r in peers.rows_of(args.rows)] if args.rows else \
        problems(args.n, args.seed)
    with open(args.json, "a") as f:
        for p in peers.share_of(rows, args.share_out):
            b, h, kv, sq, sk, d, causal = p
            problem = peers.Problem(f"{b} {h}/{kv} {sq}x{sk} {d}{' causal' if causal else ''}")
            q, k, v = problem.tensors(args.seed)
            found, ready, calls = ways(first, us, p), [], []  # calls own O
            for i in range(len(found)):
                stage = peers.Stage(args.stage)
                calls.append(stage.make(problem, q, k, v, choice=i))
                ready.append((stage, *timer.prepare(calls[-1], 300)[1:3], []))
            for order in ready, ready[::-1]:
                for stage, many, n, medians in order:
                    samples, _ = timer.loaded(many, n, 7, args.warm)
                    medians.append(float(peers.numpy.median(samples)))
            f.write(json.dumps({"schema": "attnlab-1.0", "stage": args.stage, "revision": first.version, "problem": p,
                                "device": torch.cuda.get_device_name(), "choices": [
                                    {"what": what, "model_us": round(expected, 2), "us": round(min(way[3]), 3)}
                                    for (what, expected), way in zip(found, ready)]}) + "\n")
            f.flush()
            for way in ready:
                way[0].close()
            del q, k, v, ready, calls
            torch.cuda.empty_cache()


def chip_of(device):
    """The NAME of chips/NAME.txt for a device such as "NVIDIA H100 80GB HBM3": the model's times depend on the board."""
    for name in os.listdir(os.path.join(ROOT, "chips")):
        chip = name.removesuffix(".txt")
        if chip != name and re.search(rf"\b{re.escape(chip)}\b", device, re.I):
            return chip
    raise ValueError(f"chips/ has no file for {device}: make calibrate CHIP=NAME writes one on that GPU")


def expected(program, p, device):
    """The ways of a problem now on such a device, the best expected first: in words, and us."""
    b, h, kv, sq, sk, d, causal = p
    command = [program, "--explain", "--csv", "--device", "emu", "--chip", chip_of(device), "--batch", b, "--heads", h,
               "--kv-heads", kv, "--seqlen-q", sq, "--seqlen-k", sk, "--head-dim", d] + (["--causal"] if causal else [])
    done = subprocess.run([str(x) for x in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"choices: {done.stderr.strip()}")
    return [(f"{way['image']}: {way['what']}", float(way["expected us"])) for way in csv.DictReader(done.stdout.splitlines())]


def whole(r):
    if len(r["problem"]) != 7 or not all(c["us"] > 0 and c["what"] for c in r["choices"]):
        raise ValueError("no problem of seven numbers with the times of its choices")
    chip_of(r["device"])


def look(args):
    """Prints what share of the problems got a choice within WITHIN of the best, and the worst; False: less than --share."""
    rows, lost = [], 0
    try:
        records = list(files.read(args.json, "choices", whole))
    except OSError as e:
        print(f"choices: {args.json}: {e.strerror}; make choices writes one where there is a GPU", file=sys.stderr)
        sys.exit(5)
    if not records:
        print(f"choices: {args.json}: none of its lines is a record of make choices", file=sys.stderr)
        sys.exit(5)
    program = os.path.join(ROOT, "build", f"stage-{args.stage}")
    for r in records:
        us = {c["what"]: c["us"] for c in r["choices"]}
        if not us:
            continue
        tried = [(what, expect) for what, expect in expected(program, r["problem"], r["device"])[:args.tried] if what in us]
        if not tried:
            lost += 1
            continue
        (what, expect), best = min(tried, key=lambda way: us[way[0]]), min(us, key=us.get)
        rows.append((us[what] / us[best], r["problem"], what, us[what], expect, best, us[best]))
    if not rows:
        print(f"choices: {args.json}: of no problem the time of a choice is known that the model takes now", file=sys.stderr)
        sys.exit(5)
    rows.sort(reverse=True)
    good = sum(row[0] <= WITHIN for row in rows)
    share = 100 * good / max(1, len(rows))
    taken = "the choice" if args.tried == 1 else f"the fastest of the first {args.tried} choices"
    print(f"{len(rows)} problems: {taken} is within {100 * WITHIN - 100:.0f} % of the best on {good} ({share:.1f} %)"
          + (f"; {lost} choices were not timed" if lost else ""))
    errors = sorted(abs(row[4] / row[3] - 1) for row in rows)
    print(f"expected and measured times differ by {100 * errors[len(errors) // 2]:.0f} % in the median")
    for ratio, p, what, us, expect, best, best_us in rows[:args.worst]:
        print(f"  {ratio:.2f}  {p}\n        {us:.1f} us (expected {expect:.1f})  {what}\n        {best_us:.1f} us  {best}")
    return share >= args.share


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--stage", default="6")
    parser.add_argument("--json", default="results/choices-6.jsonl")
    parser.add_argument("--measure", action="store_true", help="on a GPU: append to --json first")
    parser.add_argument("--rows", help="measure the problems of these files (peers.py), not random ones")
    parser.add_argument("--share-out", default="0/1", metavar="I/N", help="measure every N-th problem, from the I-th on")
    parser.add_argument("--warm", type=float, default=2, metavar="MS", help="load before each turn")
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=0, help="exit with 1 if it is less, in %%")
    parser.add_argument("--tried", type=int, default=1, metavar="N", help="as --tune N of the stage: the fastest of so many is taken")
    parser.add_argument("--worst", type=int, default=5, help="print so many of the worst choices")
    parser.add_argument("--strict", action="store_true", help="exit with 5 if a line of the records is damaged")
    args = parser.parse_args()
    if args.measure:
        measure(args)
    return files.status(args.strict) if look(args) else 1


if __name__ == "__main__":
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common/base"))
    import main_program
    main_program.run(main)
