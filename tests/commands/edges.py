#!/usr/bin/env python3
"""edges.py BUILD DEVICE STAGES [quick|large|past]: the edges of fp16 and of shapes, against the pass rule.

Every head of a problem holds another extreme, so that one run tries them all:

  an infinity or a NaN in one row of Q, K or V     a row that sees it is judged where the reference is finite;
                                                   all others as if it were not there, but for its own column
                                                   of V where the mask hides it (common/harness/check.h)
  subnormals, zeros of both signs, 65504 of both   as the reference: fp32 holds their products
  a scale of 1e-9 to 1e9                           as the reference, within fp32's error of a score
  a scale of 0 or below                            refused, status 2
  0 or 1 queries or keys, causal either way        O = 0 and LSE = -inf where nothing is visible
  64 query heads on a KV head, 2^19 batch-heads    as any other
  past 2^31 elements (large: a GPU, 20 GB a run)   as any other: 64-bit offsets

Not promised: a row of O that cancels as a whole, to below a thousandth of V. P is fp16, its error stays.

STAGES are numbers, "1 4 6". Prints TAP, a line for each run; a stage that refuses a shape (status 3) is skipped.
quick: what `make test` has time for on the emulator. past: those past 2^31 elements alone."""
import concurrent.futures, os, subprocess, sys, tempfile
import numpy as np

build, device, stages = sys.argv[1], sys.argv[2], sys.argv[3].split()
size = sys.argv[4] if len(sys.argv) > 4 else "all"
folder = tempfile.mkdtemp(prefix="edges")
runs = []  # name, command, status, seconds at most


def run(stage, options, name=None, expected=0, limit=300):
    runs.append((f"stage-{stage} {name or options}", [f"{build}/stage-{stage}", "--device", device, "--no-time", "--counters", "none", "--quiet", *options.split()], expected, limit))


def attempt(job):
    name, command, expected, limit = job
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit, env=env)
    except subprocess.TimeoutExpired:
        return False, name, f"none within {limit} s"
    said = (done.stdout + done.stderr).strip()
    if done.returncode == 3 and "does not know" not in said: return True, name + " # SKIP " + said[-100:], ""
    return done.returncode == expected, name, f"status {done.returncode}: {said[-300:]}"


def tensors(heads, kv_heads, sq, sk, dim, seed):
    dice = np.random.default_rng(seed)
    draw = lambda h, s: dice.standard_normal((1, h, s, dim)).astype(np.float16)
    return draw(heads, sq), draw(kv_heads, sk), draw(kv_heads, sk)


def files(q, k, v):
    made = tempfile.mkdtemp(dir=folder)
    for name, x in zip("qkv", (q, k, v)): np.save(f"{made}/{name}.npy", x)
    return " ".join(f"--{name} {made}/{name}.npy" for name in "qkv")


def not_finite(sq, sk, dim):
    """One bad value a head: which, in which tensor, in which row; the first two heads are whole."""
    values, rows = (np.inf, -np.inf, np.nan), (0, 63, 64, -1)
    heads = 2 + len(values) * 3 * len(rows)
    q, k, v = tensors(heads, heads, sq, sk, dim, 1)
    h = 2
    for value in values:
        for x in (q, k, v):
            for row in rows:
                x[0, h, min(row, x.shape[2] - 1), (7 * h) % dim] = value
                h += 1
    return files(q, k, v)


def edges(sq, sk, dim):
    """Finite extremes, one a head."""
    q, k, v = tensors(8, 8, sq, sk, dim, 2)
    top, tiny = np.float16(65504), np.float16(6e-8)
    v[0, 0] = np.copysign(top, v[0, 0])                      # O near the largest half
    v[0, 1] = np.copysign(tiny, v[0, 1])                     # O subnormal
    q[0, 2] = np.copysign(tiny, q[0, 2])                     # scores of nothing
    k[0, 2] = np.copysign(tiny, k[0, 2])
    q[0, 3], v[0, 3] = 0, -np.zeros_like(v[0, 3])            # a mean of negative zeros
    q[0, 4], k[0, 4] = np.float16(20) * np.ones_like(q[0, 4]), np.float16(-20) * np.ones_like(k[0, 4])
    v[0, 5, ::2] = -np.zeros_like(v[0, 5, ::2])              # half of the keys say nothing
    k[0, 6] *= np.float16(0.001)                             # all keys alike
    q[0, 7] = np.abs(q[0, 7]) * np.float16(8)                # one key wins
    k[0, 7, -1] = np.float16(8)
    return files(q, k, v)


def largest(sq, sk, dim):
    """65504 of both signs."""
    q, k, v = tensors(2, 2, sq, sk, dim, 3)
    top = np.float16(65504)
    return files(np.copysign(top, q), np.copysign(top, k), v)


masks = ["", " --causal", " --causal=top-left"]
quick = size == "quick"
for dim in [64] if quick else [64, 128]:
    for sq, sk in [(70, 130)] if quick else [(70, 130), (130, 70), (129, 129)]:
        for what in not_finite, edges, largest:
            given, title = what(sq, sk, dim), what.__doc__.split(":")[0].rstrip(".")
            for stage in stages:
                for mask in masks: run(stage, given + mask, f"D{dim} Sq{sq} Sk{sk}{mask}: {title}")
for stage in stages:
    for scale in ["1e9"] if quick else ["1e-9", "30", "1e4", "1e7", "1e9"]:
        for mask in masks[1:2] if quick else masks: run(stage, f"--seqlen-q 70 --seqlen-k 130 --heads 2 --scale {scale}{mask}")
    for scale in "0", "-0.125", "-1e9", "nan": run(stage, f"--seqlen 8 --scale {scale}", expected=2)
    for sq, sk in [(0, 5), (5, 0), (1, 1), (1, 65), (65, 1)] + ([] if quick else [(0, 0), (1, 2), (2, 1), (1, 4097), (300, 1), (64, 65), (65, 64)]):
        for mask in masks[1:2] if quick else masks: run(stage, f"--heads 3 --seqlen-q {sq} --seqlen-k {sk}{mask}")
    for heads, kv_heads in [(64, 1)] if quick else [(64, 1), (64, 2), (63, 7), (64, 64)]:
        for mask in masks[1:2] if quick else masks: run(stage, f"--heads {heads} --kv-heads {kv_heads} --seqlen-q 5 --seqlen-k 70{mask}")
    if device == "cuda":
        run(stage, "--batch 16384 --heads 32 --seqlen 1")
        run(stage, "--batch 65536 --heads 8 --kv-heads 1 --seqlen-q 3 --seqlen-k 2 --causal")
if size in ("large", "past"):
    if size == "past": runs.clear()
    for stage in stages:  # Q and O, then K and V, have 2^31 elements and some more
        run(stage, "--batch 2 --heads 64 --kv-heads 1 --seqlen-q 131080 --seqlen-k 16 --head-dim 128", limit=1800)
        run(stage, "--heads 64 --seqlen-q 16 --seqlen-k 524289 --head-dim 64", limit=1800)

jobs = int(os.environ.get("J") or (1 if size in ("large", "past") else os.cpu_count()))
env = dict(os.environ, OMP_NUM_THREADS=str(max(1, os.cpu_count() // jobs)))  # of the reference
failed = 0
print(f"1..{len(runs)}")
with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
    for n, (passed, name, why) in enumerate(pool.map(attempt, runs), 1):
        failed += not passed
        print(f"{'ok' if passed else 'not ok'} {n} - {name}", flush=True)
        if not passed: print("# " + why)
subprocess.run(["rm", "-rf", folder])
sys.exit(failed > 0)
