#!/usr/bin/env python3
"""Times PyTorch's attention back ends and the chosen stages on the same tensors, in one run.

    make stage-6 peers                      (runs this with results/peers.jsonl)
    python3 profiler/peers.py --stages "4 6" --json results/peers.jsonl [--rows 0,5-9] [--rest 0]

Each row of ROWS is one problem. Q, K and V are drawn once (N(0,1), fp16), written as .npy and given to
everybody. Everybody is timed the same way, between two events, median over the samples, warm L2:

    loaded   launches back to back in one CUDA graph that lasts at least 1 ms, 0.2 s of load before: what
             the board does for long, at the clock that its power limit leaves
    burst    (--rest MS) no load before, one launch in one graph, MS ms without any before each: 20 samples
             are over before the power limit lowers the clock

The stages check their answer before they time it; the peers are compared with the first stage's output,
or with each other.

Needs PyTorch with CUDA. Exit status: 0 done; 1 a wrong answer; 2 a wrong option; 77 no PyTorch or no GPU.
"""
import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# batch, heads, sequence length, head_dim: each without a mask and causal.
SHAPES = [(1, 8, 512, 64), (4, 16, 1024, 64), (4, 32, 4096, 64), (1, 32, 16384, 64),
          (4, 16, 1024, 128), (4, 16, 4096, 128), (1, 16, 16384, 128), (2, 16, 2048, 256)]
ROWS = [(*shape, causal) for shape in SHAPES for causal in (False, True)]

try:
    import numpy
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch sees no GPU")
except (ImportError, RuntimeError) as error:
    print(f"peers: {error}: peers need PyTorch with CUDA (pip install torch) and a GPU", file=sys.stderr)
    sys.exit(77)

PEERS = {
    "FlashAttention-2": (SDPBackend.FLASH_ATTENTION, lambda: f"torch {torch.__version__}"),
    "cuDNN": (SDPBackend.CUDNN_ATTENTION, lambda: f"{torch.backends.cudnn.version()}, torch {torch.__version__}"),
}


def flops(batch, heads, seqlen, head_dim, causal):
    return 4.0 * batch * heads * seqlen * seqlen * head_dim / (2 if causal else 1)


def clock_mhz():
    try:
        out = subprocess.run(["nvidia-smi", "--query-gpu=clocks.sm,driver_version", "--format=csv,noheader,nounits"],
                             capture_output=True, text=True, timeout=20).stdout.split(",")
        return int(out[0]), out[1].strip()
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired):
        return 0, ""


def time_us(call, min_graph_us, n_samples, rest_ms):
    """Median, IQR and minimum of one call's time, and how many calls one graph holds. rest_ms: None, loaded."""
    stream = torch.cuda.Stream()
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
        start.record()
        for _ in range(5):
            call()
        stop.record()
        stop.synchronize()
        n_calls = 1
        if rest_ms is None:
            n_calls = max(1, int(min_graph_us / max(start.elapsed_time(stop) * 1000 / 5, 1)) + 1)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(n_calls):
                call()
        # ms of replays before the first sample, as long as the stages take (timing.c)
        warm_until = 200.0 if rest_ms is None else 0.1
        while warm_until > 0:
            start.record()
            graph.replay()
            stop.record()
            stop.synchronize()
            warm_until -= max(start.elapsed_time(stop), 0.05)
        samples = []
        for _ in range(n_samples):
            if rest_ms is not None:
                time.sleep(rest_ms / 1000)
            start.record()
            graph.replay()
            stop.record()
            stop.synchronize()
            samples.append(start.elapsed_time(stop) * 1000 / n_calls)
    median, q1, q3 = numpy.percentile(samples, [50, 25, 75])
    return float(median), float(q3 - q1), float(min(samples)), n_calls


def kernel_name(call):
    """The kernel that took longest in one call, as the profiler names it."""
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CUDA]) as trace:
        call()
        torch.cuda.synchronize()
    events = [e for e in trace.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    return max(events, key=lambda e: e.device_time).name if events else "n/a (the profiler saw no kernel)"


def time_peer(name, q, k, v, causal, args, problem, rest_ms):
    backend, version = PEERS[name]

    def call():
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    out = call()
    before, driver = clock_mhz()
    median, iqr, least, n_calls = time_us(call, args.min_graph_us, args.samples, rest_ms)
    after, _ = clock_mhz()
    record = {
        "schema": "attnlab-1.0",
        "time": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "peer": {"name": name, "version": version()},
        "problem": problem,
        "device": {"kind": "cuda", "name": torch.cuda.get_device_name(), "driver": driver,
                   "toolkit": torch.version.cuda, "clock_mhz_before": before, "clock_mhz_after": after},
        "samples": {"n": args.samples, "median_us": median, "iqr_us": iqr, "min_us": least, "l2": "warm",
                    "launches_per_sample": n_calls, "tflops": problem["flops"] / median * 1e-6, "source": "event"},
        "interrupted": False,
    }
    if rest_ms is None:
        record["peer"]["kernel"] = kernel_name(call)
    else:
        record["samples"]["rest_ms"] = rest_ms
    return out, record


def run_stage(number, files, causal, args, rest_ms):
    """The stage's record, or None and the reason printed."""
    out = os.path.join(files, "stage.jsonl")
    if os.path.exists(out):
        os.unlink(out)
    command = [os.path.relpath(os.path.join(ROOT, "build", f"stage-{number}")), "--device", "cuda", "--quiet", "--json", out,
               "--out", os.path.join(files, "o.npy"), "--max-samples", str(args.samples)]
    for name in "qkv":
        command += [f"--{name}", os.path.join(files, f"{name}.npy")]
    if causal:
        command += ["--causal"]
    if rest_ms is not None:
        command += ["--rest", str(rest_ms), "--counters", "none"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode in (2, 3, 77):
        print(f"  stage {number}: {done.stderr.strip()}")
        return None
    if done.returncode:
        print(f"peers: stage {number} failed with status {done.returncode}: {done.stderr.strip()}", file=sys.stderr)
        sys.exit(1)
    with open(out) as f:
        return json.loads(f.readlines()[-1])


def chosen_rows(text):
    rows = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not (first.isdigit() and (last or first).isdigit() and int(first) <= int(last or first) < len(ROWS)):
            raise argparse.ArgumentTypeError(f"rows are 0 to {len(ROWS) - 1}, as in 0,4-7; not '{part}'")
        rows += range(int(first), int(last or first) + 1)
    return rows


def show(problem, way, records):
    """One line: medians of the peers, then of the stages, and how they compare."""
    medians = [r["samples"]["median_us"] if r and "samples" in r else None for r in records]
    cells = [f"{m:9.1f} ({problem['flops'] / m * 1e-6:5.0f})" if m else f"{'-':>17}" for m in medians]
    ours = [m for m in medians[len(PEERS):] if m]
    ratio = f"{min(medians[:len(PEERS)]) / min(ours):6.3f}x" if ours else ""
    print(f"{problem['text']:>25} {way:>6}", " ".join(f"{c:>17}" for c in cells), ratio, flush=True)


def append(path, records):
    if not path:
        return
    with open(path, "a") as f:
        for record in records:
            if record:
                f.write(json.dumps(record) + "\n")
        f.flush()
        os.fsync(f.fileno())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--stages", default="", help="stage numbers, e.g. \"4 6\"")
    parser.add_argument("--rows", type=chosen_rows, default=f"0-{len(ROWS) - 1}", help="which of the 16 rows, e.g. 0,4-7")
    parser.add_argument("--json", default="", help="append the records to this file")
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--min-graph-us", type=float, default=1000.0)
    parser.add_argument("--rest", type=int, metavar="MS", help="burst times too: MS ms without load before each sample")
    args = parser.parse_args()
    stages = args.stages.replace(",", " ").split()
    names = list(PEERS) + [f"stage {s}" for s in stages]
    print(f"{'problem':>25} {'way':>6} " + " ".join(f"{n:>17}" for n in names) + "   us; best peer / best stage")
    wrong = 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as files:
        for index in args.rows:
            batch, heads, seqlen, head_dim, causal = ROWS[index]
            torch.manual_seed(index)
            q, k, v = (torch.randn(batch, heads, seqlen, head_dim, device="cuda", dtype=torch.float16) for _ in "qkv")
            for name, tensor in zip("qkv", (q, k, v)):
                numpy.save(os.path.join(files, f"{name}.npy"), tensor.cpu().numpy())
            problem = {"batch": batch, "heads": heads, "kv_heads": heads, "seqlen_q": seqlen, "seqlen_k": seqlen,
                       "head_dim": head_dim, "mask": "bottom-right" if causal else "none", "scale": head_dim ** -0.5,
                       "input": "torch.randn", "seed": index, "flops": flops(batch, heads, seqlen, head_dim, causal),
                       "text": f"B{batch} H{heads} S{seqlen} D{head_dim}" + (" causal" if causal else "")}
            outputs = []
            for rest_ms in [None] if args.rest is None else [args.rest, None]:  # bursts while the board is cool
                records = []
                for name in PEERS:
                    out, record = time_peer(name, q, k, v, causal, args, problem, rest_ms)
                    records.append(record)
                    outputs.append((name, out))
                for number in stages:
                    record = run_stage(number, files, causal, args, rest_ms)
                    records.append(record)
                    if record:
                        o = torch.from_numpy(numpy.load(os.path.join(files, "o.npy"))).cuda()
                        outputs.append((f"stage {number}", o))
                show(problem, "loaded" if rest_ms is None else "burst", records)
                append(args.json, records)
            first_name, first = outputs[-1]
            for name, out in outputs[:-1]:
                error = ((out.float() - first.float()).norm() / first.float().norm()).item()
                if not error < 2e-3:
                    print(f"peers: {name} and {first_name} differ by {error:.2g} (relative L2)", file=sys.stderr)
                    wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
