#!/usr/bin/env python3
"""Stages beside their peers: FlashAttention-2 and cuDNN of PyTorch, FlashAttention-3 and -4 and FlashInfer where they
import; same tensors, same stream, same timer, one process.

    make stage-4 stage-6 peers ARGS="--rows wide"          records in results/peers.jsonl, one a row, way and contender
    make stage-6 peers-table                               the tables

A stage is build/stage-N.so (common/harness/library.h), its launches captured into a CUDA graph like a peer's. Two ways:
loaded, a graph of back-to-back launches among others like it; burst (--rest MS), one launch, the board having rested.
Contenders take turns, twice each, the second time in the opposite order, and in bursts a third time, from the middle of the
order on: what disturbs one moment cannot meet all turns of a contender. The best of the medians counts. A loaded turn is
one queue of launches, the first --warm MS of which do not count: the GPU never waits for the host, or it would cool down.
"""
import argparse
import ctypes
import datetime
import functools
import gc
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ROWS = os.path.join(HERE, "rows")

try:
    import numpy
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch sees no GPU")
except (ImportError, RuntimeError) as error:
    print(f"peers: {error}: peers need PyTorch with CUDA (pip install torch) and a GPU", file=sys.stderr)
    sys.exit(77)


class NotForThis(Exception):
    """A contender does not take this problem, and why."""


# ---- Problems ----------------------------------------------------------------------------------------

class Problem:
    """A line of a file of rows: batch, heads/kv_heads, queries x keys, head_dim, causal."""

    def __init__(self, line):
        m = re.fullmatch(r"(\d+) (\d+)(?:/(\d+))? (\d+)(?:x(\d+))? (\d+)( causal)?", " ".join(line.split()))
        if not m:
            raise ValueError("a row is batch heads/kv_heads queries x keys head_dim [causal]: 2 64/8 512x2048 128 causal")
        self.rows = ""
        self.batch, self.heads, kv, self.sq, sk, self.dim = (int(x) if x else 0 for x in m.groups()[:6])
        self.kv_heads, self.sk, self.causal = kv or self.heads, sk or self.sq, bool(m.group(7))
        if min(self.batch, self.heads, self.sq, self.sk, self.dim) < 1 or self.heads % self.kv_heads:
            raise ValueError("numbers are 1 or more, and kv_heads divides heads")

    @property
    def text(self):
        heads = f"{self.heads}" if self.heads == self.kv_heads else f"{self.heads}/{self.kv_heads}"
        length = f"S{self.sq}" if self.sq == self.sk else f"Sq{self.sq} Sk{self.sk}"
        return f"B{self.batch} H{heads} {length} D{self.dim}" + (" causal" if self.causal else "")

    @property
    def flops(self):
        """Square and causal: half; else what is visible (common/harness/attention.h)."""
        pairs = self.sq * self.sk
        if self.causal and self.sq == self.sk:
            pairs /= 2
        elif self.causal:
            pairs = sum(max(0, min(self.sk, i + 1 + self.sk - self.sq)) for i in range(self.sq))
        return 4.0 * self.batch * self.heads * pairs * self.dim

    @property
    def bytes(self):
        """Read and written at least."""
        return 4.0 * self.batch * self.dim * (self.heads * self.sq + self.kv_heads * self.sk)

    def record(self):
        return {"batch": self.batch, "heads": self.heads, "kv_heads": self.kv_heads, "seqlen_q": self.sq,
                "seqlen_k": self.sk, "head_dim": self.dim, "mask": "bottom-right" if self.causal else "none",
                "scale": self.dim ** -0.5, "input": "torch.randn", "flops": self.flops, "text": self.text}

    def tensors(self, seed):
        torch.manual_seed(seed)
        q = torch.randn(self.batch, self.heads, self.sq, self.dim, device="cuda", dtype=torch.float16)
        k, v = (torch.randn(self.batch, self.kv_heads, self.sk, self.dim, device="cuda", dtype=torch.float16) for _ in "kv")
        return q, k, v


def read_rows(name):
    path = name if os.path.exists(name) else os.path.join(ROWS, f"{name}.txt")
    try:
        with open(path) as f:
            lines = [line.split("#")[0].strip() for line in f]
    except OSError as e:
        known = ", ".join(sorted(x[:-4] for x in os.listdir(ROWS) if x.endswith(".txt")))
        raise argparse.ArgumentTypeError(f"{path}: {e.strerror}; --rows takes a file, or one of {known}")
    rows = []
    for n, line in enumerate(lines, 1):
        try:
            if line:
                rows.append(Problem(line))
                rows[-1].rows = os.path.basename(path).removesuffix(".txt")
        except ValueError as e:
            raise argparse.ArgumentTypeError(f"{path}:{n}: {e}")
    if not rows:
        raise argparse.ArgumentTypeError(f"{path}: no rows")
    return rows


def rows_of(text):
    return [row for name in text.split(",") for row in read_rows(name)]


def share_of(rows, text):
    """Every N-th row from the I-th on, of "I/N": a process for each GPU has a share."""
    first, n = map(int, text.split("/"))
    return list(rows)[first::n]


# ---- Contenders: make(problem, q, k, v) gives a call that computes O, (batch, heads, queries, head_dim) ----

class FlashAttention2:
    name = "FlashAttention-2"

    def __init__(self):
        self.version = f"torch {torch.__version__}"

    def make(self, p, q, k, v):
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        forward = torch.ops.aten._flash_attention_forward
        return lambda: forward(q, k, v, None, None, p.sq, p.sk, 0.0, p.causal, False)[0].transpose(1, 2)


class CuDNN:
    name = "cuDNN"

    def __init__(self):
        self.version = f"{torch.backends.cudnn.version()}, torch {torch.__version__}"

    def make(self, p, q, k, v):
        if p.causal and p.sq != p.sk:
            raise NotForThis("PyTorch's cuDNN attention aligns a causal mask top-left")

        def call():
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=p.causal,
                                                                        enable_gqa=p.heads != p.kv_heads)
        return call


def version_of(*packages):
    from importlib.metadata import PackageNotFoundError, version
    for package in packages:
        try:
            return f"{package} {version(package)}"
        except PackageNotFoundError:
            pass
    return "version not stated"


FEW = 64  # queries: so few leave SMs idle, and FlashAttention-3 and -4 are told to split keys as they think best


class FlashAttention3:
    name = "FlashAttention-3"

    def __init__(self):
        import flash_attn_interface
        self.module = flash_attn_interface
        self.version = os.environ.get("FLASH_ATTENTION_3_VERSION") or version_of("flash_attn_3", "flash-attn-3")

    def make(self, p, q, k, v):
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        n_splits = 0 if p.sq <= FEW else 1

        def call():
            out = self.module.flash_attn_func(q, k, v, causal=p.causal, num_splits=n_splits)
            return (out[0] if isinstance(out, tuple) else out).transpose(1, 2)
        return call


class FlashAttention4:
    name = "FlashAttention-4"

    def __init__(self):
        from flash_attn.cute import flash_attn_func
        self.function = flash_attn_func
        self.version = f"{version_of('flash-attn-4')}, {version_of('nvidia-cutlass-dsl')}"

    def make(self, p, q, k, v):
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        n_splits = 0 if p.sq <= FEW else 1

        def call():
            out = self.function(q, k, v, causal=p.causal, num_splits=n_splits)
            return (out[0] if isinstance(out, tuple) else out).transpose(1, 2)
        return call


class FlashInfer:
    """For decoding: its paged kernel, a page being 16 keys of a sequence where they lie."""
    name, page = "FlashInfer", 16

    def __init__(self):
        import flashinfer
        self.wrapper, self.version = flashinfer.BatchDecodeWithPagedKVCacheWrapper, version_of("flashinfer-python")

    def make(self, p, q, k, v):
        if p.sq != 1 or p.sk % self.page:
            raise NotForThis(f"here for one query and keys in pages of {self.page}")
        n, page = p.sk // self.page, self.page  # pages of a sequence; those of a head are p.sk rows from the next head's

        def paged(x):
            return x.as_strided((((p.batch - 1) * p.kv_heads + 1) * n, p.kv_heads, page, p.dim), (page * p.dim, p.sk * p.dim, p.dim, 1))
        sequence = torch.arange(p.batch + 1, device="cuda", dtype=torch.int32)
        pages = sequence[:-1, None] * p.kv_heads * n + torch.arange(n, device="cuda", dtype=torch.int32)
        run = self.wrapper(torch.empty(512 << 20, dtype=torch.uint8, device="cuda"), "HND", use_tensor_cores=True,
                           backend="fa2")  # the one that shares a sequence's keys out over SMs
        run.plan(sequence * n, pages.flatten().contiguous(), torch.full_like(sequence[:-1], page), p.heads, p.kv_heads, p.dim,
                 page, q_data_type=torch.float16, kv_data_type=torch.float16)
        q1, cache = q[:, :, 0], (paged(k), paged(v))
        return lambda: run.run(q1, cache).unsqueeze(2)


class Stage:
    """build/stage-N.so"""

    def __init__(self, number):
        self.number, self.name = number, f"stage {number}"
        self.images = os.path.join(ROOT, "build", "images", f"stage-{number}")
        lib = self.lib = ctypes.CDLL(os.path.join(ROOT, "build", f"stage-{number}.so"))
        for function in ("open", "launch", "image", "mark", "revision"):
            getattr(lib, f"library_{function}").restype = ctypes.c_char_p
        lib.library_clock_mhz.restype = ctypes.c_double
        lib.library_launch.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        lib.library_mark.argtypes = [ctypes.c_int, ctypes.c_void_p]
        for function in ("close", "image"):
            getattr(lib, f"library_{function}").argtypes = [ctypes.c_void_p]
        self.version = lib.library_revision().decode()
        self.run = None

    def make(self, p, q, k, v, choice=0):
        o = torch.full_like(q, float("nan"))
        lse = torch.empty(p.batch, p.heads, p.sq, device="cuda")
        numbers = (ctypes.c_int * 8)(p.batch, p.heads, p.kv_heads, p.sq, p.sk, p.dim, p.causal, choice)
        tensors = (ctypes.c_uint64 * 5)(*(t.data_ptr() for t in (q, k, v, o, lse)))
        run = ctypes.c_void_p()
        self.close()
        why = self.lib.library_open(self.images.encode(), numbers, tensors, ctypes.byref(run))
        if why:
            raise NotForThis(why.decode())
        self.run = (run, lse)
        self.image = self.lib.library_image(run).decode()

        def call():
            why = self.lib.library_launch(run, torch.cuda.current_stream().cuda_stream)
            if why:
                raise RuntimeError(why.decode())
            return o
        return call

    def close(self):
        if self.run:
            torch.cuda.synchronize()
            self.lib.library_close(self.run[0])
        self.run = None


def contenders(stages):
    found = []
    for peer in (FlashAttention2, CuDNN, FlashAttention3, FlashAttention4, FlashInfer):
        try:
            found.append(peer())
        except Exception as e:  # whatever a foreign package does when it does not suit this machine
            print(f"peers: no {peer.name}: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}", file=sys.stderr)
    return found + [Stage(n) for n in stages]


# ---- Time --------------------------------------------------------------------------------------------

class Timer:
    """Times calls by CUDA events, and counts the SMs' clock meanwhile where a stage's library is there to do it."""

    def __init__(self, clock):
        self.stream, self.clock = torch.cuda.Stream(), clock
        self.start, self.stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def mark(self, which):
        if self.clock:
            self.clock.library_mark(which, self.stream.cuda_stream)

    def replay(self, graph):
        """us of one replay."""
        self.start.record()
        graph.replay()
        self.stop.record()
        self.stop.synchronize()
        return self.start.elapsed_time(self.stop) * 1000

    def capture(self, call, n_calls):
        graph = torch.cuda.CUDAGraph(keep_graph=True)
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            for _ in range(n_calls):
                call()
        finally:
            graph.capture_end()
        return graph

    def prepare(self, call, min_graph_us):
        """Graphs of one call, and of as many as last min_graph_us, how many those are, and what they launch."""
        with torch.cuda.stream(self.stream):
            for _ in range(2):
                call()
            self.stream.synchronize()
            one = self.capture(call, 1)
            self.replay(one)
            n_calls = int(min(1000, max(1, min_graph_us / max(self.replay(one) - 6, 2)))) + 1
            return one, self.capture(call, n_calls), n_calls, kernel_names(one)

    def bursts(self, graph, n_samples, rest_ms):
        """us of each sample, and the mean clock in MHz: one replay at a time, the board having rested."""
        samples, clocks, spent = [], [], 0
        with torch.cuda.stream(self.stream):
            self.replay(graph)
            while len(samples) < n_samples and (len(samples) < 5 or spent < 150e3):
                time.sleep(rest_ms / 1000)
                self.mark(0)
                samples.append(self.replay(graph))
                self.mark(1)
                spent += samples[-1]
                if self.clock:
                    self.stream.synchronize()
                    clocks.append(self.clock.library_clock_mhz())
        return samples, float(numpy.mean(clocks)) if clocks and all(clocks) else 0

    def loaded(self, graph, n_calls, n_samples, warm_ms):
        """us of a call in each sample, and the mean clock in MHz: all replays queued at once, the first ones to get warm."""
        with torch.cuda.stream(self.stream):
            us = self.replay(graph)
            n = max(5, min(n_samples, int(150e3 / us) + 1))
            ends = [torch.cuda.Event(enable_timing=True) for _ in range(n + 1)]
            for _ in range(int(warm_ms * 1000 / us) + 1):
                graph.replay()
            self.mark(0)
            ends[0].record()
            for end in ends[1:]:
                graph.replay()
                end.record()
            self.mark(1)
            self.stream.synchronize()
        samples = [a.elapsed_time(b) * 1000 / n_calls for a, b in zip(ends, ends[1:])]
        return samples, self.clock.library_clock_mhz() if self.clock else 0


def kernel_names(graph):
    """The kernels that a captured graph launches: what really runs, as the driver names it."""
    cuda = ctypes.CDLL("libcuda.so.1")
    handle, n = ctypes.c_void_p(graph.raw_cuda_graph()), ctypes.c_size_t()
    cuda.cuGraphGetNodes(handle, None, ctypes.byref(n))
    nodes = (ctypes.c_void_p * n.value)()
    cuda.cuGraphGetNodes(handle, nodes, ctypes.byref(n))
    names = []
    for node in nodes:
        params, name, kind = (ctypes.c_uint64 * 32)(), ctypes.c_char_p(), ctypes.c_int()
        cuda.cuGraphNodeGetType(ctypes.c_void_p(node), ctypes.byref(kind))
        if kind.value or cuda.cuGraphKernelNodeGetParams_v2(ctypes.c_void_p(node), params):
            continue  # no kernel
        function, kernel = ctypes.c_void_p(params[0]), ctypes.c_void_p(params[7])  # CUDA_KERNEL_NODE_PARAMS: func, kern
        if (params[0] and not cuda.cuFuncGetName(ctypes.byref(name), function)) or \
           (params[7] and not cuda.cuKernelGetName(ctypes.byref(name), kernel)):
            names.append(demangled(name.value.decode()))
    return " + ".join(names) or "n/a (the graph names no kernel)"


@functools.lru_cache(None)
def demangled(name):
    try:
        return subprocess.run(["c++filt", name], capture_output=True, text=True, timeout=5).stdout.strip()[:160]
    except (OSError, subprocess.TimeoutExpired):
        return name[:160]


def board():
    try:
        return subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True,
                              text=True, timeout=20).stdout.split()[0]
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return ""


def record_of(who, p, driver, turns, n_calls, rest_ms, kernel, image):
    """`turns`: the samples and the clock of each; the one with the lesser median counts."""
    samples, clock = min(turns, key=lambda turn: numpy.median(turn[0]))
    median, q1, q3 = (float(x) for x in numpy.percentile(samples, [50, 25, 75]))
    record = {
        "schema": "attnlab-1.0",
        "time": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "rows": p.rows,
        "problem": p.record(),
        "device": {"kind": "cuda", "name": torch.cuda.get_device_name(), "driver": driver, "toolkit": torch.version.cuda},
        "samples": {"n": len(samples), "median_us": median, "iqr_us": q3 - q1, "min_us": float(min(samples)), "l2": "warm",
                    "launches_per_sample": n_calls, "tflops": p.flops / median * 1e-6, "source": "event",
                    "turns_us": [float(numpy.median(turn[0])) for turn in turns]},
        "interrupted": False,
    }
    if clock:
        record["samples"] |= {"clock_mhz": clock, "cycles": float(int(median * clock))}
    if rest_ms is not None:
        record["samples"]["rest_ms"] = rest_ms
    if isinstance(who, Stage):
        record |= {"stage": os.path.basename(next(d for d in os.scandir(os.path.join(ROOT, "stages"))
                                                  if d.name.startswith(f"{who.number}-")).path)
                   if os.path.isdir(os.path.join(ROOT, "stages")) else f"{who.number}", "revision": who.version}
        record["kernels"] = [{"name": kernel, "image": image}]
    else:
        record["peer"] = {"name": who.name, "version": who.version, "kernel": kernel}
    return record


def append(path, records):
    if not path:
        return
    with open(path, "a") as f:
        for record in records:
            f.write(json.dumps(record) + "\n")
        f.flush()
        os.fsync(f.fileno())


# ---- One row -----------------------------------------------------------------------------------------

def reference(q, k, v, p, rows):
    """Attention in double of some rows of some heads: (n, head_dim)."""
    out = []
    for b, h, i in rows:
        kv = h // (p.heads // p.kv_heads)
        s = (k[b, kv].double() @ q[b, h, i].double()) * p.dim ** -0.5
        if p.causal:
            s[max(0, i + 1 + p.sk - p.sq):] = float("-inf")
        out.append(torch.softmax(s, 0) @ v[b, kv].double())
    return torch.stack(out)


def worst_row(out, wanted, rows):
    got = torch.stack([out[b, h, i] for b, h, i in rows]).double()
    return ((got - wanted).norm(dim=1) / wanted.norm(dim=1)).max().item()


def run_row(index, p, who, timer, args, driver):
    """Lines and records of one row; the names of those that answered wrongly."""
    q, k, v = p.tensors(index)
    random = numpy.random.RandomState(index)
    rows = [(random.randint(p.batch), random.randint(p.heads), random.randint(p.sq)) for _ in range(24)]
    rows = [r for r in rows if not p.causal or r[2] + p.sk - p.sq >= 0]
    wanted = reference(q, k, v, p, rows)
    ready, wrong, calls = [], [], []  # calls own what their graphs read and write: O, plans, workspaces
    for w in who:
        try:
            call = w.make(p, q, k, v)
            calls.append(call)
            error = worst_row(call(), wanted, rows)
            if not error < 2e-3:
                wrong.append(f"{w.name} (worst row {error:.2g})")
                continue
            ready.append((w, *timer.prepare(call, args.min_graph_us)))
        except NotForThis as e:
            if args.verbose or isinstance(w, Stage):  # a stage takes every row, unless its build lacks something
                print(f"  {w.name}: {e}", flush=True)
        except Exception as e:  # a peer's failure is a fact to report
            print(f"  {w.name}: {type(e).__name__}: {str(e).splitlines()[0][:150] if str(e) else ''}", flush=True)
            torch.cuda.synchronize()
    # Bursts while the board is cool.
    for rest_ms in [None] if args.rest is None else [args.rest, None]:
        turns = [[] for _ in ready]
        in_order, middle = list(zip(ready, turns)), len(ready) // 2
        for order in [in_order, in_order[::-1]] + ([] if rest_ms is None else [in_order[middle:] + in_order[:middle]]):
            for (w, one, many, n, kernel), mine in order:
                if rest_ms is None:
                    mine.append(timer.loaded(many, n, args.samples, args.warm))
                else:
                    mine.append(timer.bursts(one, args.samples, rest_ms))
        records = [record_of(w, p, driver, mine, n if rest_ms is None else 1, rest_ms, kernel, getattr(w, "image", ""))
                   for (w, one, many, n, kernel), mine in zip(ready, turns)]
        append(args.json, records)
        show(p, "loaded" if rest_ms is None else "burst", who, [r[0] for r in ready], records)
    for w in who:
        if isinstance(w, Stage):
            w.close()
    return wrong


def show(p, way, who, ready, records):
    """One line: medians of the peers, then of the stages, and how they compare."""
    median = {w: r["samples"]["median_us"] for w, r in zip(ready, records)}
    cells = [f"{median[w]:9.1f} ({p.flops / median[w] * 1e-6:3.0f})" if w in median else "-" for w in who]
    peers = [median[w] for w in ready if not isinstance(w, Stage)]
    ours = [median[w] for w in ready if isinstance(w, Stage)]
    ratio = f"{min(peers) / min(ours):6.3f}x" if peers and ours else ""
    print(f"{p.text:>34} {way:>6}", " ".join(f"{c:>16}" for c in cells), ratio, flush=True)


def copy_rate():
    """TB/s of a copy in device memory, read and written: what DRAM gives on this board, in this run."""
    a = torch.empty(1 << 31, dtype=torch.uint8, device="cuda")
    b = torch.empty_like(a)
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times = []
    for _ in range(8):
        start.record()
        b.copy_(a)
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    return 2 * a.numel() / float(numpy.median(times)) * 1e-9


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--stages", default="", help="stage numbers, e.g. \"4 6\"")
    parser.add_argument("--rows", type=rows_of, default="sixteen", help="sixteen, gqa, wide or a file; several: wide,gqa")
    parser.add_argument("--json", default="", help="append the records to this file")
    parser.add_argument("--share-out", default="0/1", metavar="I/N", help="only every N-th row, from the I-th on: one process a GPU")
    parser.add_argument("--samples", type=int, default=15, help="of each turn, at most")
    parser.add_argument("--min-graph-us", type=float, default=1000.0)
    parser.add_argument("--warm", type=float, default=300.0, metavar="MS", help="load before each loaded turn, until power has settled")
    parser.add_argument("--rest", type=int, metavar="MS", help="burst times too: MS ms without load before each sample")
    parser.add_argument("--verbose", action="store_true", help="say who does not take a row, and why")
    args = parser.parse_args()
    who = contenders(args.stages.replace(",", " ").split())
    clock = next((w.lib for w in who if isinstance(w, Stage)), None)
    if clock and clock.library_mark(0, None):
        clock = None
    timer, driver, wrong = Timer(clock), board(), 0
    torch.cuda.synchronize()
    append(args.json, [{"schema": "attnlab-1.0", "copy_tb_per_s": copy_rate(), "device": torch.cuda.get_device_name()}])
    for w in who:
        print(f"{w.name}: {w.version}")
    print(f"{'problem':>34} {'way':>6} " + " ".join(f"{w.name:>16}" for w in who) + "   us (TFLOPS); best peer / best stage")
    for index, p in enumerate(share_of(args.rows, args.share_out)):
        for name in run_row(index, p, who, timer, args, driver):
            print(f"peers: {p.text}: {name} is wrong", file=sys.stderr)
            wrong = 1
        gc.collect()
        torch.cuda.empty_cache()
    return wrong


if __name__ == "__main__":
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common/base"))
    import main_program
    main_program.run(main)
