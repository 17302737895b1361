"""Throughputs and more from results of chips/bench programs, a GPU's beside the clock's:

    python3 emulator/bench/pipes_table.py build/model.tsv results/calibrate.tsv [BENCH...]

Programs whose variant ends in a size come as a short and a long one: the difference in span over
that in instructions is what one instruction takes."""

import sys
from collections import defaultdict


def read(path):
    out = defaultdict(dict)
    for line in open(path, errors="replace"):
        f = line.rstrip("\n").split("\t")
        if len(f) >= 4:
            out[(f[0], f[1].replace(" ", "_"))][f[2]] = f[3]
    return out


def rates(rows):
    pairs = defaultdict(list)
    for (bench, variant), what in rows.items():
        head, _, size = variant.rpartition("/")
        if "span" in what and size.isdigit():
            pairs[(bench, head)].append((float(what["instructions"]), float(what["span"])))
    out = {}
    for key, points in pairs.items():
        points.sort()
        (n0, t0), (n1, t1) = points[0], points[-1]
        if n1 > n0:
            out[key] = (t1 - t0) / (n1 - n0)
    return out


def main():
    model = read(sys.argv[1])
    gpu = read(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2] != "-" else {}
    wanted = sys.argv[3:]
    a, b = rates(model), rates(gpu)
    for key in a:
        if wanted and key[0] not in wanted:
            continue
        measured = b.get(key)
        off = f"{measured:9.2f} {100 * (a[key] / measured - 1):+7.1f} %" if measured else ""
        print(f"{key[0]:14} {key[1]:32} {a[key]:9.2f} {off}")


main()
