"""Energy of a launch: peers and stages, each 1.7 s of launches without a pause (make stage-6 energy).

    python3 profiler/peers/energy.py --stages "6" --rows sixteen --json results/energy.jsonl

Under load a board runs as fast as its power limit lets it, so that its time is its energy: what a launch takes is W times
us. The power is NVML's energy counter over time, from 0.4 s on. Records: row, name, image, us, watts, joule, pj_per_flop,
counts (of the counter; a contender with fewer than five is left out). Exit status: 0; 77 no GPU, or none that counts
its energy."""
import argparse
import ctypes
import os
import sys
import threading
import time

import peers
import torch

SECONDS, WARM, GRAPH_US = 1.3, 0.4, 20000


class Board:
    """The GPU that PyTorch uses, which need not be NVML's first: its address says which it is."""

    def __init__(self):
        device, address, self.handle = ctypes.c_int(), ctypes.create_string_buffer(32), ctypes.c_void_p()
        try:
            cuda, self.nvml = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libnvidia-ml.so.1")
            if cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), 0) or cuda.cuDeviceGetPCIBusId(address, 32, device):
                raise RuntimeError("CUDA does not say where its GPU is")
            if self.nvml.nvmlInit_v2() or self.nvml.nvmlDeviceGetHandleByPciBusId_v2(address, ctypes.byref(self.handle)):
                raise RuntimeError(f"NVML does not know the GPU at {address.value.decode()}")
            self.millijoules()
        except (OSError, RuntimeError) as e:
            print(f"energy: {e}: it needs NVML and a GPU that counts its energy", file=sys.stderr)
            sys.exit(77)

    def millijoules(self):
        """Since the driver was loaded; it changes every 0.1 s."""
        count = ctypes.c_ulonglong()
        status = self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.handle, ctypes.byref(count))
        if status:
            raise RuntimeError(f"NVML gives no energy (status {status})")
        return count.value


class Watch(threading.Thread):
    """Counts of energy, (time, mJ) each time that it has changed: beside the host, which some graphs keep waiting."""

    def __init__(self, board):
        super().__init__(daemon=True)
        self.board, self.counts, self.over, self.why = board, [], threading.Event(), None
        self.last = board.millijoules()

    def run(self):
        try:
            while not self.over.wait(0.001):
                now = self.board.millijoules()
                if now != self.last:
                    self.counts.append((time.time(), now))
                    self.last = now
        except RuntimeError as e:
            self.why = e

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *raised):
        self.over.set()
        self.join()
        if self.why:
            raise self.why


def measure(call, board):
    """us of a launch, W, and how many counts those come from; W 0: too few."""
    timer = peers.Timer(None)
    _, graph, n, _ = timer.prepare(call, GRAPH_US)
    with torch.cuda.stream(timer.stream):
        timer.replay(graph)
        replays = max(1, int((SECONDS + WARM) * 1e6 / timer.replay(graph)))
        with Watch(board) as watch:
            began = time.time()
            timer.start.record()
            for _ in range(replays):
                graph.replay()
            timer.stop.record()
            timer.stop.synchronize()
        us = timer.start.elapsed_time(timer.stop) * 1000 / (replays * n)
    counts = [count for count in watch.counts if count[0] > began + WARM]
    if len(counts) < 5:
        return us, 0, len(counts)
    return us, (counts[-1][1] - counts[0][1]) / 1000 / (counts[-1][0] - counts[0][0]), len(counts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--stages", default="6", help="stage numbers, e.g. \"4 6\"")
    parser.add_argument("--rows", type=peers.rows_of, default="sixteen", help="sixteen, gqa, wide or a file; several: wide,gqa")
    parser.add_argument("--json", default="", help="append the records to this file")
    args = parser.parse_args()
    board, who = Board(), peers.contenders(args.stages.replace(",", " ").split())
    for p in args.rows:
        q, k, v = p.tensors(1)
        for w in who:
            try:
                us, watts, counts = measure(w.make(p, q, k, v), board)
            except Exception as e:  # a peer's failure is a fact to report
                print(f"{p.text:28s} {w.name:18s} {type(e).__name__}: {str(e)[:80]}", flush=True)
                continue
            if not watts:
                print(f"{p.text:28s} {w.name:18s} {us:9.1f} us   n/a ({counts} counts of energy, which are too few)", flush=True)
                continue
            record = {"row": p.text, "name": w.name, "image": getattr(w, "image", None), "us": us, "watts": watts,
                      "joule": us * watts / 1e6, "pj_per_flop": us * watts * 1e6 / p.flops, "counts": counts}
            print(f"{p.text:28s} {w.name:18s} {us:9.1f} us {watts:6.1f} W {1000 * record['joule']:9.2f} mJ "
                  f"{record['pj_per_flop']:6.3f} pJ/FLOP", flush=True)
            peers.append(args.json, [record])


if __name__ == "__main__":
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../common/base"))
    import main_program
    main_program.run(main)
