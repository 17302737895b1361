"""From the results of microbenchmarks to chips/NAME.txt, the numbers of the timing model:

    python3 chips/chip.py NAME [FILES]            prints the file, by FILES or by records/chips/NAME-*
    python3 chips/chip.py NAME --write [FILES]    writes it, unless a check fails
    python3 chips/chip.py NAME --check [FILES]    what was held back, against predictions; exit 1 if a check fails
    python3 chips/chip.py NAME --more [FILES]     numbers that no model reads

FILES are what `make calibrate CHIP=NAME` wrote. chips/NAME.txt says which names there are, or chips/h200.txt for a chip that has
no file yet. A number that MEASURED computes is computed again if its benches have run (B) or counters were read (N): behind its
source stands the interval that the spread of its measurements gives, in brackets. All others stay as they are: data sheets,
what ptxas encodes (C), recorded runs of the stages (P), measurements of others (M), judgement (J), and what was fitted to
benches by hand (B without brackets). In the file of another chip than the H200 a measured number that stays is marked "of an H200"."""

import csv
import gzip
import math
import os
import re
import statistics
import sys
from collections import defaultdict

CHIPS = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(os.path.dirname(CHIPS), "records", "chips")
BRANCH = 5  # cycles that a taken branch costs beyond its stall count: needed to read loops


class Missing(Exception):
    """A bench has not run."""


class Results:
    """Files of lines bench, variant, what, value, unit, least, most, n. A later file wins. `asked` collects what a function
    has read; `instead` holds other values for some of it."""

    def __init__(self, paths):
        self.rows = {}
        self.spread = {}
        self.all = defaultdict(list)
        self.asked, self.instead = set(), {}
        self.devices = set()
        for path in paths:
            with (gzip.open if path.endswith(".gz") else open)(path, "rt", errors="replace") as f:
                for line in f:
                    field = line.rstrip("\n").split("\t")
                    before = self.rows.get(tuple(field[:3])) if field[0] == "machine" else None
                    known = before and math.isclose(float(before), float(field[3]), rel_tol=1e-5)  # foreign rounds
                    if len(field) > 3 and field[2] not in ("failed", "skipped") and not known:
                        self.rows[field[0], field[1], field[2]] = field[3]
                        self.spread[field[0], field[1], field[2]] = field[5:7]
                        if field[0] == "machine":
                            self.devices.add(field[1])
                        self.all[field[0], field[1], field[2]].append(field[3])

    def text(self, bench, variant, what):
        try:
            value = self.rows[bench, variant, what]
            self.asked.add((bench, variant, what))
            return self.instead.get((bench, variant, what), value)
        except KeyError:
            raise Missing(f"{bench} {variant} {what}") from None

    def __call__(self, bench, variant, what="out0"):
        return float(self.text(bench, variant, what))

    def list(self, bench, variant, what):
        return [float(x) for x in self.text(bench, variant, what).split()]

    def slope(self, bench, variant, warps=None):
        """Cycles an instruction: a long body less a short one. warps: only theirs, not all."""
        points = []
        for b, v, what in self.rows:
            if b == bench and what == "span" and v.rpartition("/")[0] == variant:
                cycles = self(b, v, "span")
                if warps is not None:
                    each = dict(x.split(":") for x in self.text(b, v, "each").split())
                    cycles = max(float(each[f"0.{w}"]) for w in warps)
                points.append((self(b, v, "instructions"), cycles))
        if len(points) < 2:
            raise Missing(f"{bench} {variant}")
        (n0, t0), (n1, t1) = min(points), max(points)
        return (t1 - t0) / (n1 - n0)

    def ctas(self, bench, variant, what="ctas"):
        """(SM, ns at the start, clock at the start, at the end, ...) of each CTA."""
        return [tuple(int(x) for x in cta.split(","))
                for cta in self.text(bench, variant, what).split()]


class Counters:
    """Of the launches of `calibrate --only counted`, as a table or as ncu --csv writes them."""

    NCU = {"Grid Size": "grid", "Block Size": "block", "sm__cycles_elapsed.avg": "elapsed",
           "sm__cycles_active.avg": "active", "Kernel Name": "kernel"}

    def __init__(self, path):
        self.launches = []
        self.devices = set()
        self.asked, self.instead = 0, {}  # as of Results, by the number of the question; quartiles
        if not path:
            return
        names = None
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", errors="replace") as f:
            for row in csv.reader(f, delimiter="," if ".csv" in path else "\t"):
                if not names:  # before the head, ncu writes what the program says
                    head = [self.NCU.get(x, x) for x in row]
                    names = head if "grid" in head else None
                    continue
                row = [x[1:].split(",")[0] if x[:1] == "(" else x.replace(",", "") for x in row]
                launch = dict(zip(names, row))
                if not launch.get("grid", "").isdigit():  # ncu's second line holds units
                    continue
                if "device__attribute_display_name" in launch:
                    self.devices.add(launch["device__attribute_display_name"])
                if launch["kernel"] == "stay":
                    self.launches.append(launch)

    def warm(self, grid, block, what, below):
        """The median of the launches of that size in which SMs were active for less cycles than `below`: a chip's launch
        overhead is not known before."""
        found = [r for r in self.launches if (int(r["grid"]), int(r["block"])) == (grid, block) and
                 float(r["active"]) < below]
        if not found:
            raise Missing(f"counted {grid} x {block}")
        elapsed, active = ([float(r[k]) for r in found] for k in ("elapsed", "active"))
        x = active if what == "active" else [e - a for e, a in zip(elapsed, active)]
        self.asked += 1
        middle = statistics.median(x)
        alike = [y for y in x if abs(y - middle) < 0.5 * abs(middle)]  # the same stay
        end = self.instead.get(self.asked)
        return middle if end is None or len(alike) < 2 else statistics.quantiles(alike, n=4, method="inclusive")[end]

    def inactive(self, grid, block, at_least):
        """Elapsed less active cycles, a mean over the SMs, of the launch of that size in which SMs were active for
        at_least that many cycles, the shortest such."""
        found = [(float(r["elapsed"]), float(r["elapsed"]) - float(r["active"]))
                 for r in self.launches if (int(r["grid"]), int(r["block"])) == (grid, block) and
                 float(r["active"]) >= at_least]
        if not found:
            raise Missing(f"counted {grid} x {block}")
        return min(found)[1]


# ---- what the parts of a bench's loop cost that are not what it measures: read off its SASS

LINES_OVERHEAD = 46    # `lines`: from the first clock to the load, from its data to the second
TRY_LOOP = 4 * 5 + 6 + 13 + 5 + BRANCH  # mbarrier_self's second loop, less four times the wait
CLUSTER_LOOP = 62 - 16  # cluster_barriers: a round less what passes between arrival and release
ATOMIC_LOOP = 63
BULK_LOOP = 62


def machine(r, what):
    found = [float(v) for k, v in r.rows.items() if k[0] == "machine" and k[2] == what]
    if not found:
        raise Missing(what)
    return found[-1]


def gap(r, variant):
    """From a CTA's last clock to the first of the one that takes its place, cycles."""
    by_sm = defaultdict(list)
    for cta in r.ctas("launch", variant):
        by_sm[cta[0]].append(cta[2:4])
    gaps = []
    for spans in by_sm.values():
        ends = sorted(end for _, end in spans)
        starts = sorted(start for start, _ in spans)
        resident = sum(start < ends[0] for start in starts)
        gaps += [start - end for start, end in zip(starts[resident:], ends)]
    if not gaps:
        raise Missing(variant)
    return statistics.median(gaps)


def mhz(r, load="132x256"):
    return 1e3 * r("clock", load, "out0") / r("clock", load, "out1")


def stream(r, variant):
    """Bytes a nanosecond of all SMs."""
    return r("stream", variant, "bytes") / r("stream", variant, "all")


def flushed(r):
    """Bytes that go to DRAM for each that comes from there, where a memset has filled L2."""
    read, write = stream(r, "read DRAM, 264 CTAs"), 1 / (1 / stream(r, "copy DRAM, 264 CTAs") - 1 / stream(r, "read DRAM, 264 CTAs"))
    each = (r("flushed", "read 32 MiB", "first") - r("flushed", "read 20 MiB", "first")) / (12 << 20)
    return (each * read - 1) * write / read


def per_clk(r, variant):
    return stream(r, variant) * 1e3 / mhz(r)


def one_sm(r):
    """A TMA's rate: what 16 KiB more cost a load that is waited for."""
    try:
        few, many = "L2, 8 warps, 128 rows, 32", "L2, 8 warps, 128 rows, 63"
        return 31 * 16384 / (r("tmaburst", many) - r("tmaburst", few))
    except Missing:
        few, many = r("tma", "L2, 1 CTA, 128 rows, 1"), r("tma", "L2, 1 CTA, 256 rows, 1")
        return 64 * 16384 / (many - few)


def lines(r, variant):
    """Mean of the latencies, from their percentiles."""
    at = (0, 1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99, 100)
    x = r.list("lines", variant, "percentiles 1 2 5 10 .. 90 95 98 99")
    x = [x[0], *x, x[-1]]
    return sum((b - a) / 100 * (x[k] + x[k + 1]) / 2
               for k, (a, b) in enumerate(zip(at, at[1:]))) - LINES_OVERHEAD


def l2_latency(r):
    """The chase runs on one SM, that of CTA 0. SMs of one board are nearer or farther by up to 10 %, so to its latency is
    added how much farther single lines are from seven SMs, on average, than from that one."""
    seven = [lines(r, f"L2, CTA {k}") for k in (0, 1, 2, 33, 66, 100, 131)]
    return r("chase", "cg 65536 x 128") / 65536 + statistics.mean(seven) - seven[0]


def halves(r, variant):
    """The nearer and the farther lines, split at the mean: (share, mean) each, from percentiles."""
    at = (1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99)
    x = r.list("lines", variant, "percentiles 1 2 5 10 .. 90 95 98 99")
    middle = (x[0] + x[-1]) / 2
    steps = [(b - a, (x[k] + x[k + 1]) / 2) for k, (a, b) in enumerate(zip(at, at[1:]))]
    out = []
    for side in (True, False):
        part = [(w, v) for w, v in steps if (v < middle) == side]
        weight = sum(w for w, _ in part)
        out.append((weight / 98, sum(w * v for w, v in part) / weight - LINES_OVERHEAD))
    return out


def dram(r):
    try:
        return r("chase", "DRAM 524288 x 4096") / 8192
    except Missing:
        return lines(r, "DRAM 64 KiB apart, CTA 66")


def fence(r, slot):
    """Of eight in a row, less the loop with nothing in it."""
    variant = "8 x 64, 1 warp"
    return (r("fences", variant, f"out{slot}") - r("fences", variant, "out3")) / 512


def bar(r, variant="SYNC/2"):
    """From the last BAR's issue to the next access to memory: a clock 2 cycles before the BAR, and
    one 2 cycles behind the access."""
    s = r.list("barlast", variant, "stamps 0.0")
    return s[3] - 2 - (s[0] + 2)


def wake(r):
    """An arrival 5 cycles behind a clock; a clock 5 cycles behind the wait."""
    return r("wakeups", "2000 on", "latency") - 10


def one(r, kind, n):
    """One product of an idle tensor core, from its issue until it has been waited for."""
    s = r.list("hgmma", f"{kind}{n}/wg0", "stamps 0.0")
    return s[2] - s[1]


def start(r, kind):
    """From issue to the tensor core: of eight products the last enters the queue when the second
    starts, an interval of 64 behind the first; 6 cycles are their own."""
    s = r.list("hgmma", f"{kind}128/wg0", "stamps 0.0")
    return s[19] - s[18] - 64 - 6


def queue(r, kind):
    """Products that a warp may have issued beside none finished: stamps show when the issue of k in
    a row takes longer than their stalls."""
    counts = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16)
    s = r.list("hgmma", f"{kind}128/wg0", "stamps 0.0")
    return max(c for k, c in enumerate(counts) if s[3 * k + 1] - s[3 * k] <= 2 * c + 8)


def burst(r, name, where="1w"):
    """From a burst's k = 0, 1, 2 ... instructions: what the clock before and behind them says."""
    s = r.list("depth", f"{name}/{where}", "stamps 0.0")
    return [b - a for a, b in zip(s[::2], s[1::2])]


def mio_queue(r):
    """STS128 leave the queue every 10 cycles. The k-th is the first to wait: it entered when the
    second left, so the k - 2 between them stood in the queue."""
    cycles = burst(r, "STS128")
    return next(k for k in range(1, len(cycles)) if cycles[k] > cycles[k - 1] + 1) - 2


def counted_gap(r, n):
    """660 CTAs, one a SM: four times an SM is empty while another CTA comes."""
    return (n.inactive(660, 128, 50000) - n.inactive(132, 128, 10000)) / 4


def later_cta(n):
    """Active cycles of a CTA behind the first of its SM, stay 2000."""
    return (n.warm(660, 128, "active", 20000) - n.warm(132, 128, "active", 6000)) / 4


def stays(r):
    """What `stay` takes beyond its cycles, from its first clock to its last."""
    return statistics.median(c[3] - c[2] for c in r.ctas("launch", "132 CTAs 128 threads")) - 4000


def jump(r, size):
    """Cycles from line to line of straight code of a size, once it has run."""
    return r.list("icjump", f"{size}/1w", "passes")[-1] / r("icjump", f"{size}/1w", "instructions")


# name: digits, a function of results and counters, the benches
MEASURED = {
    "sms": (0, lambda r, n: machine(r, "sms"), "driver"),
    "launch_overhead": (
        0, lambda r, n: n.warm(132, 128, "inactive", 6000),
        "N elapsed less active, 132 CTAs of 128 that stay 2000, warm"),
    "cta_start": (
        0, lambda r, n: later_cta(n) - stays(r) - 2000,
        "N active of CTAs behind an SM's first, stay 2000, less first clock to last"),
    "constant_first": (
        0, lambda r, n: n.warm(132, 128, "active", 6000) - later_cta(n),
        "N active of an SM's first CTA less those behind it, stay 2000"),
    "bar_arv": (
        0, lambda r, n: r.slope("pingpong", "2/0-1") / 2 - bar(r),
        "B pingpong 2/0-1 less arrival and release"),
    "icache_l1_latency": (
        0, lambda r, n: jump(r, "16K") - jump(r, "4K"), "B icjump 16K/1w less 4K/1w"),
    "icache_l15_latency": (
        0, lambda r, n: jump(r, "64K") - jump(r, "16K"), "B icjump 64K/1w less 16K/1w"),
    "icache_l15_interval": (
        1, lambda r, n: r.list("icache", "64K/fmul/1w", "passes")[-1] / 512,
        "B icache 64K/fmul/1w"),
    "icache_l2_latency": (
        0, lambda r, n: jump(r, "256K") - jump(r, "16K"), "B icjump 256K/1w less 16K/1w"),
    "tma_map_first": (
        0, lambda r, n: r("first", "1 CTA", "out5") - r("first", "1 CTA", "out6"),
        "B first 1 CTA: the first copy less the second"),
    "cta_launch": (0, counted_gap, "N the same, 660 CTAs one a SM"),
    "cta_interval": (
        2, lambda r, n: r("dispatch", "few 128 threads, 10 registers, 0 bytes, stay 0", "cta"),
        "B foreign dispatch, 128 threads, stay 0: 220,000 CTAs less 20,000"),
    "branch_penalty": (
        0, lambda r, n: r.slope("branch", "forward/1w") - 5,
        "B branch forward/1w less stall 5"),
    "branch_untaken": (
        0, lambda r, n: r.slope("branch", "not-taken/1w") - 5,
        "B branch not-taken/1w less stall 5"),
    "bsync_penalty": (
        0, lambda r, n: r.slope("branch", "bssy/1w") - 6,
        "B branch bssy/1w less stalls 6"),
    "fma_interval": (
        0, lambda r, n: 2 * r.slope("issue", "FMUL/1w"), "B issue FMUL/1w, two halves"),
    "fma_heavy_interval": (0, lambda r, n: r.slope("issue", "HADD2F/1w"), "B issue HADD2F/1w"),
    "fma_wide_interval": (0, lambda r, n: r.slope("issue", "IMADW/1w"), "B issue IMADW/1w"),
    "alu_interval": (0, lambda r, n: r.slope("issue", "ISETP/1w"), "B issue ISETP/1w"),
    "uniform_interval": (0, lambda r, n: r.slope("issue", "UIADD3/1w"), "B issue UIADD3/1w"),
    "hmma_interval": (0, lambda r, n: r.slope("issue", "HMMA/1w"), "B issue HMMA/1w"),
    "hmma_port": (
        0, lambda r, n: r.slope("hmmamix", "1HMMA+4SHFL/1w") - 4 * r.slope("issue", "SHFL/1w"),
        "B hmmamix 1HMMA+4SHFL/1w less 4 SHFL/1w"),
    "hmma_k8_interval": (0, lambda r, n: r.slope("issue", "HMMA8/1w"), "B issue HMMA8/1w"),
    "xu_interval": (0, lambda r, n: r.slope("issue", "EX2/1w"), "B issue EX2/1w"),
    "xu_latency": (0, lambda r, n: r.slope("latency", "EX2"), "B latency EX2"),
    "xu_start": (
        0, lambda r, n: burst(r, "EX2")[3] - 5 - 8,
        "B depth EX2/1w: the third enters 13 cycles behind the first, the second's start"),
    "mio_queue": (0, lambda r, n: mio_queue(r), "B depth STS128/1w: the 11th waits"),
    "mio_read_interval": (
        0, lambda r, n: r.slope("issue", "STS/1w") / 2,
        "B issue STS/1w: two registers"),
    "s2r_sm_interval": (0, lambda r, n: r.slope("issue", "TID/4s") / 4, "B issue TID/4s"),
    "data_spacing": (
        0, lambda r, n: r.slope("latency", "LDS/x2") - r.slope("latency", "LDS/x1"),
        "B latency LDS/x2 less LDS/x1"),
    "mio_sm_interval": (0, lambda r, n: r.slope("issue", "LDS/4s") / 4, "B issue LDS/4s"),
    "lds_latency": (0, lambda r, n: r.slope("latency", "LDS/x1"), "B latency LDS/x1"),
    "lds64_latency": (
        0, lambda r, n: r.slope("latency", "LDS64/x1") - 2,
        "B latency LDS64/x1 less a wavefront's spacing"),
    "lds128_latency": (
        0, lambda r, n: r.slope("latency", "LDS128/x1") - 6,
        "B latency LDS128/x1 less three"),
    "ldsm_latency": (0, lambda r, n: r.slope("latency", "LDSM1/x1"), "B latency LDSM1/x1"),
    "lds_war": (0, lambda r, n: r.slope("war", "LDS"), "B war LDS"),
    "sts_war": (0, lambda r, n: r.slope("war", "STS"), "B war STS"),
    "sts64_war": (0, lambda r, n: r.slope("war", "STS64"), "B war STS64"),
    "sts128_war": (0, lambda r, n: r.slope("war", "STS128"), "B war STS128"),
    "shfl_latency": (0, lambda r, n: r.slope("latency", "SHFL"), "B latency SHFL"),
    "shfl_war": (0, lambda r, n: r.slope("war", "SHFL"), "B war SHFL"),
    "s2r_latency": (0, lambda r, n: r.slope("latency", "TID"), "B latency TID"),
    "ldc_latency": (0, lambda r, n: r.slope("latency", "LDC"), "B latency LDC"),
    "ldc_interval": (0, lambda r, n: r.slope("issue", "LDC/1w"), "B issue LDC/1w"),
    "l1_latency": (0, lambda r, n: r.slope("latency", "LDG/row"), "B latency LDG/row"),
    "l1_war": (0, lambda r, n: r.slope("war", "LDG"), "B war LDG"),
    "stg_war": (0, lambda r, n: r.slope("war", "STG"), "B war STG"),
    "stg64_war": (0, lambda r, n: r.slope("war", "STG64"), "B war STG64"),
    "stg128_war": (0, lambda r, n: r.slope("war", "STG128"), "B war STG128"),
    "ldgsts_war": (0, lambda r, n: r.slope("war", "LDGSTS"), "B war LDGSTS"),
    "l2_latency": (
        0, lambda r, n: l2_latency(r),
        "B chase cg, 8 MiB, one SM; plus lines L2, seven SMs less that one"),
    "l2_bytes": (0, lambda r, n: machine(r, "L2"), "driver"),
    "l2_flushed_dirty": (
        2, lambda r, n: flushed(r), "B foreign flushed, read 32 MiB less 20, as of DRAM's rates"),
    "l2_sm_bytes_per_clk": (
        1, lambda r, n: max(one_sm(r), per_clk(r, "read L2, 1 SM")),
        "B the better of stream read L2, 1 SM, and a TMA's rate"),
    "l2_bytes_per_clk": (
        0, lambda r, n: per_clk(r, "read L2 24 MiB, 132 SMs"),
        "B stream read L2 24 MiB, 132 SMs"),
    "l2_shared_bytes_per_clk": (
        0, lambda r, n: per_clk(r, "read L2 shared 8 MiB, 132 SMs"),
        "B stream read L2 shared 8 MiB, 132 SMs"),
    "l2_tma_shared_bytes_per_clk": (
        0, lambda r, n: r("tma", "L2, 132 CTAs, same boxes, 4", "bytes") * 1e3 / mhz(r) /
        r("tma", "L2, 132 CTAs, same boxes, 4", "all"),
        "B tma L2, 132 CTAs, same boxes, 4"),
    "l2_sm_write_bytes_per_clk": (
        0, lambda r, n: 8192 / (r("tmastore", "L2, 1 CTA, 128 rows, 1 of 1") -
                                r("tmastore", "L2, 1 CTA, 64 rows, 1 of 1")),
        "B tmastore L2, 1 CTA, 128 rows less 64"),
    "l2_write_bytes_per_clk": (
        0, lambda r, n: per_clk(r, "write L2, 132 SMs"), "B stream write L2, 132 SMs"),
    "dram_sm_bytes_per_clk": (
        0, lambda r, n: r("tma", "DRAM, 1 CTA, 64 rows, 8", "bytes") * 1e3 / mhz(r) /
        r("tma", "DRAM, 1 CTA, 64 rows, 8", "all"), "B tma DRAM, 1 CTA, 64 rows, 8"),
    "dram_write_bytes_per_ns": (
        0, lambda r, n: 1 / (1 / stream(r, "copy DRAM, 264 CTAs") -
                             1 / stream(r, "read DRAM, 264 CTAs")),
        "B stream copy DRAM, 264 CTAs, less what it reads"),
    "dram_latency": (0, lambda r, n: dram(r), "B chase DRAM, or lines DRAM"),
    "dram_bytes_per_ns": (
        0, lambda r, n: stream(r, "read DRAM, 264 CTAs"),
        "B stream read DRAM, 264 CTAs"),
    "membar_cta": (0, lambda r, n: fence(r, 1), "B fences"),
    "membar_gpu": (0, lambda r, n: fence(r, 2), "B fences"),
    "atomic_latency": (
        0, lambda r, n: r("atomics", "atom, 1 thread") / 256 - ATOMIC_LOOP,
        "B atomics, atom, 1 thread, less its loop"),
    "bar_release": (0, lambda r, n: bar(r) - 3, "B barlast SYNC/2 less the arrival"),
    "mbarrier_wake": (
        0, lambda r, n: r("wakemany", "1 warps, 600 on", "latency") - 16,
        "B wakemany less the arrival"),
    "mbarrier_wake_lane": (0, lambda r, n: wake(r) - 16, "B wakeups less the arrival"),
    "mbarrier_try": (
        0, lambda r, n: (r("mbarrier", "self 256", "out1") / 64 - TRY_LOOP) / 4,
        "B mbarrier self, less its loop"),
    "cluster_release": (
        0, lambda r, n: r("cluster", "barriers 64, 2 CTAs of 32", "out1") / 64 - CLUSTER_LOOP,
        "B cluster barriers, relaxed, less the loop"),
    "dsmem_bytes_per_clk": (
        1, lambda r, n: 64 * 8 * 256 * 16 / r("cluster", "memory 64, 2 CTAs of 256", "out2"),
        "B cluster memory, stores of two CTAs of 256"),
    "hgmma_tail_ss": (
        0, lambda r, n: one(r, "ss", 128) - 64 - start(r, "ss"),
        "B hgmma ss128/wg0: one until done, less start and interval"),
    "hgmma_tail_rs": (
        0, lambda r, n: one(r, "rs", 128) - 64 - start(r, "rs"), "B hgmma rs128/wg0, the same"),
    "hgmma_start_ss": (
        0, lambda r, n: start(r, "ss"), "B hgmma ss128/wg0: eight issued, less interval and 6"),
    "hgmma_start_rs": (0, lambda r, n: start(r, "rs"), "B hgmma rs128/wg0, the same"),
    "hgmma_queue_ss": (0, lambda r, n: queue(r, "ss"), "B hgmma ss128/wg0"),
    "hgmma_queue_rs": (0, lambda r, n: queue(r, "rs"), "B hgmma rs128/wg0"),
    "tma_interval": (
        0, lambda r, n: (r("tmaburst", "L2, 8 warps, 1 rows, 128") -
                         r("tmaburst", "L2, 8 warps, 1 rows, 64")) / 64,
        "B tmaburst, boxes of 128 bytes"),
    "tma_bytes_per_clk": (1, lambda r, n: one_sm(r), "B tmaburst, or tma, 256 rows less 128"),
}

# Numbers that no model has a use for yet: name, unit, digits, function, benches.
MORE = [
    ("sm_mhz", "MHz", 0, lambda r, n: mhz(r), "B clock 132x256: cycles a ns of FFMA on all SMs"),
    ("cta_to_cta_clocks", "cycles", 0, lambda r, n: gap(r, "660 CTAs 128 threads, 1 a SM"),
     "B launch: from a CTA's last clock to the first of the one in its place"),
    ("l2_near_latency", "cycles", 0, lambda r, n: halves(r, "L2, CTA 0")[0][1],
     "B lines L2, CTA 0: the nearer part"),
    ("l2_near_share", "share", 2, lambda r, n: halves(r, "L2, CTA 0")[0][0], "B the same"),
    ("l2_far_latency", "cycles", 0, lambda r, n: halves(r, "L2, CTA 0")[1][1],
     "B the same: the farther part"),
    ("dram_near_latency", "cycles", 0, lambda r, n: halves(r, "DRAM, CTA 0")[0][1],
     "B lines DRAM, CTA 0: below the middle of 1 and 99 %"),
    ("l2_16_sms_bytes_per_clk", "bytes", 0, lambda r, n: per_clk(r, "read L2, 16 SMs"),
     "B stream read L2, 16 SMs"),
    ("l2_66_sms_bytes_per_clk", "bytes", 0, lambda r, n: per_clk(r, "read L2, 66 SMs"),
     "B stream read L2, 66 SMs"),
    ("dram_copy_bytes_per_ns", "bytes", 0, lambda r, n: 2 * stream(r, "copy DRAM, 264 CTAs"),
     "B stream copy DRAM, 264 CTAs: reads and writes"),
    ("mbarrier_interval", "cycles", 2,
     lambda r, n: r("mbarrier", "arrivals 256, 16 warps") / 4096,
     "B mbarrier arrivals of 16 warps"),
    ("mbarrier_turn", "cycles", 0, lambda r, n: r("turns", "mbarrier 256, warps 0 4") / 512,
     "B turns: one hand-over, loop and all"),
    ("named_barrier_turn", "cycles", 0, lambda r, n: r("turns", "named 256, warps 0 4") / 512,
     "B turns: the same"),
    ("fence_proxy_async", "cycles", 0, lambda r, n: fence(r, 0), "B fences"),
    ("membar_gpu_after_store", "cycles", 0, lambda r, n: fence(r, 5), "B fences"),
    ("cluster_release_fence", "cycles", 0,
     lambda r, n: (r("cluster", "barriers 64, 2 CTAs of 32", "out0") -
                   r("cluster", "barriers 64, 2 CTAs of 32", "out1")) / 64,
     "B cluster barriers: release and acquire beyond relaxed"),
    ("remote_arrive_turn", "cycles", 0, lambda r, n: r("cluster", "turns 64") / 128,
     "B cluster turns: one hand-over, fence and loop and all"),
    ("registers_down", "cycles", 0, lambda r, n: r("registers", "down, up", "out0"),
     "B registers: setmaxnreg.dec"),
    ("registers_up", "cycles", 0, lambda r, n: r("registers", "down, up", "out1"),
     "B registers: setmaxnreg.inc"),
    ("tma_store_16k", "cycles", 0, lambda r, n: r("tmastore", "L2, 1 CTA, 128 rows, 1 of 1"),
     "B tmastore: one store until written"),
    ("kernel_gap_ns", "ns", 0, lambda r, n: kernel_gap(r, "launch2", "132 CTAs of 20000"),
     "B launch2: from the last CTA's end to the first of the next launch"),
    ("kernel_gap_pdl_ns", "ns", 0, lambda r, n: kernel_gap(r, "overlap", "132 CTAs, 1 fits"),
     "B overlap: the same, allowed to start early, no room"),
    ("kernel_gap_waited_ns", "ns", 0, lambda r, n: kernel_gap(r, "overlap", "132 CTAs, no word"),
     "B overlap: the same, without launch_dependents"),
]


def jumps(r, where):
    """Cycles from line to line of straight code's size, once it has run: size:cycles."""
    out = []
    for bench, variant, what in r.rows:
        if bench == "icjump" and what == "passes" and variant.endswith(where):
            last = r.list(bench, variant, what)[-1]
            out.append(f"{variant.split('/')[0]}:{last / r(bench, variant, 'instructions'):.1f}")
    return out


def pauses(r, variant):
    """A product that is waited for, behind so many NOPs of 15 cycles: NOPs:cycles."""
    counts = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
    s = r.list("hgmma-pause", variant, "stamps 0.0")
    return [f"{k}:{b - a:.0f}" for k, a, b in zip(counts, s[::2], s[1::2])]


def kernel_gap(r, bench, variant):
    first, second = r.ctas(bench, variant), r.ctas(bench, variant, "second")
    return min(c[1] for c in second) - max(c[4] for c in first)


def read(path):
    """Lines of a chip's file: (name, number as it stands, unit, source), or a string."""
    out = []
    with open(path) as f:
        for line in f:
            line = line.rstrip("\n")
            part = line.split(" ", 3)
            out.append(tuple(part + [""])[:4] if line[:1].isalpha() else line)
    return out


def interval(r, n, function):
    """What the value may be by the least and the most of each measurement that it comes from (of a counter by the quartiles
    of its launches), each alone, added as squares."""
    r.asked, n.asked = set(), 0
    value = function(r, n)
    others = [({key: end}, {}) for key in sorted(r.asked) for end in r.spread.get(key, [])[:2] if end and " " not in end]
    others += [({}, {k: end}) for k in range(1, n.asked + 1) for end in (0, 2)]
    below = above = 0.0
    for r.instead, n.instead in others:
        n.asked = 0
        try:
            off = function(r, n) - value
        except (ZeroDivisionError, ValueError):
            off = 0.0
        below += min(0, off) ** 2
        above += max(0, off) ** 2
    r.instead, n.instead = {}, {}
    return value, value - math.sqrt(below), value + math.sqrt(above)


def without_interval(source):
    return re.sub(r" \[\S+ to \S+\]$", "", source)


def computed(name, old, r, n):
    """The file's lines, and of each that is measured its number as it was computed."""
    out, values = [], {}
    for line in old:
        if isinstance(line, str):
            out.append(line)
            continue
        source = without_interval(line[3])
        if name != "h200" and not source.startswith("of an H200: ") and source[:2] in ("B ", "N ") or source == "driver" and name != "h200":
            source = "of an H200: " + source
        number = line[1]
        if line[0] in MEASURED:
            digits, function, benches = MEASURED[line[0]]
            try:
                value, least, most = interval(r, n, function)
                values[line[0]] = value
                number, source = f"{value:.{digits}f}", benches
                if benches != "driver":
                    source += f" [{least:.{digits + 1}f} to {most:.{digits + 1}f}]"
            except Missing:
                pass
        out.append((line[0], number, line[2], source))
    return out, values


def wrong(name, new, values, r, n):
    """Reasons why the file must not be written: text, of what is not plausible on any Hopper board."""
    base = {x[0]: float(x[1]) for x in read(os.path.join(CHIPS, "h200.txt")) if not isinstance(x, str)}
    out = []
    devices = r.devices | n.devices
    if len(devices) > 1:
        out.append("the files are of several boards: " + ", ".join(sorted(devices)))
    for what, value in values.items():
        of_h200 = base[what]
        if not math.isfinite(value) or value < 0:
            out.append(f"{what} is {value:g}: below 0")
        elif of_h200 and not of_h200 / 3 <= value <= 3 * of_h200 and abs(value - of_h200) > 100:
            out.append(f"{what} is {value:g}, an H200's is {of_h200:g}: measure again, or look at {MEASURED[what][2]}")
    peaks = [float(v) for k, v in r.rows.items() if k[0] == "machine" and k[2] == "dram"]
    for what in ("dram_bytes_per_ns", "dram_write_bytes_per_ns"):
        if peaks and values.get(what, 0) > peaks[-1]:
            out.append(f"{what} is {values[what]:g}, more than the {peaks[-1]:g} of this board's memory clock and bus")
    if not values:
        out.append("nothing was measured: the files hold no bench that makes a number")
    return out


# ---- held-back measurements: none of them made a parameter

def held_back(p, r, n):
    return [
        # what, predicted, measured: as functions, so that a missing bench costs one line
        ("launch of 384 threads: inactive cycles", lambda: p["launch_overhead"],
         lambda: n.warm(132, 384, "inactive", 6000), 5),
        ("a loop of NOP, IADD3, ISETP, BRA", lambda: 1 + 5 + 13 + 5 + p["branch_penalty"],
         lambda: r.slope("backedge", "0/13"), 1),
        ("the same around 16 FFMA of 2 cycles", lambda: 28 + 16 * 2,
         lambda: r.slope("backedge", "16/13"), 1),
        ("FFMA with three sources in a bank, all four sub-cores full", lambda: 4 * 3,
         lambda: r.slope("ports", "FFMA/024/r0/4w"), 2),
        ("FFMA, FMUL in turn: three reads of a bank in two", lambda: 1.5,
         lambda: r.slope("pair", "FFMA+FMUL/1w"), 1),
        ("4 HMMA, 1 LDSM.x4, one warp: 25 cycles in five", lambda: (4 * p["hmma_interval"] + 1) / 5,
         lambda: r.slope("mix", "4HMMA+1LDSM4/1w"), 2),
        ("EX2, 16 warps", lambda: 4 * p["xu_interval"], lambda: r.slope("issue", "EX2/16"), 1),
        ("LDS with 8 ways: 7 wavefronts more", lambda: p["lds_latency"] + 7 * p["data_spacing"],
         lambda: r.slope("latency", "LDS/x8"), 1),
        ("LDS with 32 ways", lambda: p["lds_latency"] + 31 * p["data_spacing"],
         lambda: r.slope("latency", "LDS/x32"), 1),
        ("LDSM.x4: 3 wavefronts more", lambda: p["ldsm_latency"] + 3 * p["data_spacing"],
         lambda: r.slope("latency", "LDSM4/x1"), 1),
        ("LDSM.x4 with 8 ways: 31 more", lambda: p["ldsm_latency"] + 31 * p["data_spacing"],
         lambda: r.slope("latency", "LDSM4/x8"), 1),
        ("LDS.128 with 4 ways: 15 more", lambda: p["lds128_latency"] + 15 * p["data_spacing"],
         lambda: r.slope("latency", "LDS128/x4"), 1),
        ("LDS.128, 16 warps: 4 wavefronts each", lambda: 16 * 4,
         lambda: r.slope("issue", "LDS128/16"), 1),
        ("STS.128, one warp: five registers", lambda: 5 * p["mio_read_interval"],
         lambda: r.slope("issue", "STS128/1w"), 1),
        ("SHFL.IDX, one warp: two registers", lambda: 2 * p["mio_read_interval"],
         lambda: r.slope("issue", "SHFLI/1w"), 1),
        ("one HGMMA N 64", lambda: p["hgmma_start_ss"] + 32 + p["hgmma_tail_ss"],
         lambda: one(r, "ss", 64), 1),
        ("one HGMMA N 256", lambda: p["hgmma_start_ss"] + 128 + p["hgmma_tail_ss"],
         lambda: one(r, "ss", 256), 1),
        ("one HGMMA N 64, A in registers",
         lambda: p["hgmma_start_rs"] + 32 + p["hgmma_tail_rs"], lambda: one(r, "rs", 64), 1),
        ("HGMMA N 96, three warpgroups", lambda: 3 * 48.0,
         lambda: r.slope("hgmma-steady", "rs96/wg012/4"), 1),
        ("arrive and wait of one thread: 31 cycles of loop", lambda: p["mbarrier_try"] + 31,
         lambda: r("mbarrier", "self 256", "out0") / 256, 5),
        # a mean over SMs beside one SM
        ("L2, 1 MiB chase", lambda: p["l2_latency"], lambda: r("chase", "cg 8192 x 128") / 8192, 10),
        ("L2 mean over single lines 4 KiB apart, another SM", lambda: p["l2_latency"],
         lambda: lines(r, "L2 4 KiB apart, CTA 0"), 5),
        ("DRAM, lines 4 KiB apart", lambda: p["dram_latency"],
         lambda: lines(r, "DRAM 4 KiB apart, CTA 0"), 5),
        ("DRAM rate, 132 CTAs", lambda: p["dram_bytes_per_ns"],
         lambda: stream(r, "read DRAM, 132 SMs"), 2),
        ("DRAM rate by TMA", lambda: p["dram_bytes_per_ns"],
         lambda: r("tma", "DRAM, 132 CTAs, 128 rows, 8", "bytes") /
         r("tma", "DRAM, 132 CTAs, 128 rows, 8", "all"), 5),
        ("L2 rate, own 64 KiB of each SM", lambda: p["l2_bytes_per_clk"],
         lambda: per_clk(r, "read L2, 132 SMs"), 5),
        ("L2 rate by TMA, 132 CTAs", lambda: p["l2_bytes_per_clk"],
         lambda: r("tma", "L2, 132 CTAs, 128 rows, 8", "bytes") * 1e3 / mhz(r) /
         r("tma", "L2, 132 CTAs, 128 rows, 8", "all"), 10),
        ("bulk copies: 48 KiB more", lambda: 49152 / p["tma_bytes_per_clk"],
         lambda: (r("bulk", "64 KiB") - r("bulk", "16 KiB")) / 64, 5),
        # its data is as near as that of the chase: on the SM of CTA 0
        ("bulk copy of 16 KiB", lambda: BULK_LOOP + r("chase", "cg 65536 x 128") / 65536 + p["tma_latency"] +
         16384 / p["tma_bytes_per_clk"], lambda: r("bulk", "16 KiB") / 64, 10),
        ("stores to a neighbour, all SMs", lambda: p["dsmem_bytes_per_clk"],
         lambda: 64 * 8 * 256 * 16 / r("cluster", "memory 64, 132 CTAs of 256", "out2"), 20),
    ]


def check(p, r, n):
    """Prints each; the number of those whose error is larger than what is written beside them."""
    print(f"{'':68} predicted measured  error  bound")
    beyond = 0
    for what, predicted, measured, bound in held_back(p, r, n):
        try:
            a, b = predicted(), measured()
        except Missing as why:
            print(f"{what:68} not measured: {why}")
            continue
        error = 100 * (a / b - 1)
        bad = abs(error) > bound
        beyond += bad
        print(f"{what:68} {a:9.2f} {b:8.2f} {error:+6.1f} {bound:5} %{'  beyond' if bad else ''}")
    repeats = []
    for key, x in r.all.items():
        if len(x) > 1 and key[2] in ("span", "out0"):
            x = [float(y) for y in x]
            repeats += [max(x) / min(x) - 1] if min(x) > 0 else []
    if repeats:
        repeats.sort()
        print(f"repeats of {len(repeats)} measurements: half within "
              f"{100 * repeats[len(repeats) // 2]:.2f} %, 95 of 100 within "
              f"{100 * repeats[len(repeats) * 95 // 100]:.2f} %")
    return beyond


def more(r, n):
    for name, unit, digits, function, benches in MORE:
        try:
            print(f"{name} {function(r, n):.{digits}f} {unit} {benches}")
        except Missing as why:
            print(f"# {name}: not measured: {why}")
    for where in ("1w", "4s"):
        if jumps(r, where):
            print(f"# icjump {where}, cycles a jump by size:", *jumps(r, where))
    for variant in sorted({v for b, v, _ in r.rows if b == "hgmma-pause"}):
        print(f"# hgmma-pause {variant}, cycles by NOPs:", *pauses(r, variant))


def files_of(name):
    """(FILES of a chip's records, by name.)"""
    known = [x for x in sorted(os.listdir(RECORDED)) if x.startswith(name + "-")]
    return [os.path.join(RECORDED, x) for x in known]


def main():
    flags = {a for a in sys.argv[1:] if a.startswith("--")}
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    if not args or flags - {"--write", "--check", "--more"} or not re.fullmatch(r"[a-z0-9][a-z0-9-]*", args[0]):
        sys.exit("usage: python3 chips/chip.py NAME [--write | --check | --more] [FILES]; NAME in small letters, as of --chip")
    name, files = args[0], args[1:] or files_of(args[0])
    for path in files:
        if not os.path.isfile(path):
            sys.exit(f"chip.py: there is no {path}: make calibrate CHIP={name} measures a board")
    if not files:
        sys.exit(f"chip.py: records/chips has nothing of {name}: make calibrate CHIP={name} measures a board")
    counters = [a for a in files if "counted" in os.path.basename(a)]
    r = Results([a for a in files if a not in counters])
    n = Counters(counters[-1] if counters else None)
    if "--more" in flags:
        more(r, n)
        return
    path = os.path.join(CHIPS, name + ".txt")
    old = read(path if os.path.exists(path) else os.path.join(CHIPS, "h200.txt"))
    device = sorted(r.devices | n.devices)
    if name != "h200" and isinstance(old[0], str) and device:
        old[0] = f"# {device[0]}: numbers of the predictor. name value unit source [least to most]"
    new, values = computed(name, old, r, n)
    bad = wrong(name, new, values, r, n)
    if "--check" in flags or "--write" in flags:
        bad += ["a held-back measurement is beyond its bound"] * (check({x[0]: float(x[1]) for x in new if not isinstance(x, str)}, r, n) > 0)
    text = "".join((line if isinstance(line, str) else " ".join(line)) + "\n" for line in new)
    if bad:
        sys.exit("".join(f"chip.py: {why}\n" for why in bad) + f"chip.py: chips/{name}.txt is not written")
    if "--write" in flags:
        with open(path + ".new", "w") as f:
            f.write(text)
        os.replace(path + ".new", path)
        print(f"{path}: {len(values)} numbers measured here, {sum(not isinstance(x, str) for x in new) - len(values)} others")
    elif "--check" not in flags:
        sys.stdout.write(text)


if __name__ == "__main__":
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common/base"))
    import main_program
    main_program.run(main)
