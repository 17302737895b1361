"""The microbenchmarks of an SM's issue, pipes, queues, ports, branches, instruction cache and
barriers, as programs for sass.py. Writes them all into one file that chips/calibrate.c runs:

    python3 chips/bench/pipes.py build/chips/pipes.pack
    python3 chips/bench/pipes.py --check NVDISASM FILE    is every encoding what was meant?
    python3 chips/bench/pipes.py --forms CUBIN...         has ptxas written such instructions?

One program has one or more roles; a role is code for some warps of a CTA:

    passes x { meet at a barrier;  start = clock;  loops x body;  wait for all;  end = clock }

and the last pass counts: by then the instruction cache is warm. Each warp leaves 128 words:
(start, end) of up to 8 passes, the SM's number, then the stamps (clock values or results). Bodies
do not depend on values; throughput is the difference between a short body and a long one, so that
loop and clocks cancel. Warp w runs on sub-core w % 4, which the program `place` checks.

    R0 thread   R1 warp   R2:3 results   R4 shared address   R5 lane   R6 start   R8 end
    R10:11 global address   R12, R13 counters   R14 SM   R16:17 where the pass's clocks go
    R20-27 sources   R28-59 results of the body   R64-125 stamps   R126, R127: the hardware's
"""

import functools
import math
import re
import struct
import subprocess
import sys

from sass import *

MAX_STAMPS = 62
WORDS = 128
DRAIN = 0x3F
ONE = 0x3F800000
HIGHEST, HIGHEST_WIDE = 125, 244  # register; template.cu has 128 and 247, two of them out of reach

BODY_ARGS = {
    "LDGSTS": dict(d=4, a=10), "LDG": dict(a=10), "LDG64": dict(a=10), "LDG128": dict(a=10),
    "STG": dict(a=10, b=24), "STG64": dict(a=10, b=24), "STG128": dict(a=10, b=24),
    "STS": dict(a=4, b=24), "STS64": dict(a=4, b=24), "STS128": dict(a=4, b=24),
    "STSM4": dict(a=4, b=24), "STSM1": dict(a=4, b=24),
    "LDS": dict(a=4), "LDS64": dict(a=4), "LDS128": dict(a=4),
    "LDSM1": dict(a=4), "LDSM2": dict(a=4), "LDSM4": dict(a=4), "LDSMT4": dict(a=4),
    "ATOMS": dict(a=4, b=RZ), "SHFL": dict(a=20), "SHFLI": dict(a=20, b=5),
}


def place(name, i=0, **control):
    """The i-th of a body's instructions: sources that never change, results in turn."""
    d = 28 + 4 * (i % 8)
    if name in ("HMMA", "HMMA8"):
        return op(name, d=d, a=20, b=24, c=d, **control)
    if name == "IMADW":
        return op(name, d=d, a=20, b=21, c=22, **control)
    args = {"d": d, "a": 20, "b": 21, "c": 22}
    if name in BODY_ARGS:
        args = {"d": d, **BODY_ARGS[name]}
    return op(name, **args, **control)


def sequence(names, stall=1, stay=1):
    """A body of the named instructions; the last with a late result or late reads is waited for."""
    last_late = max((i for i, n in enumerate(names) if n in VARIABLE), default=-1)
    last_read = max((i for i, n in enumerate(names) if n in READS_LATE), default=-1)
    return [place(n, i, stall=stall, stay=stay, wr=5 if i == last_late else 7,
                  rd=4 if i == last_read else 7) for i, n in enumerate(names)]


def nops(n, wait=0):
    return [op("NOP", stall=15, wait=wait if i == 0 else 0) for i in range(n)]


class Role:
    def __init__(self, warps, body, loops=1, setup=(), after=(), stamps_at=64):
        self.warps, self.body, self.loops = list(warps), body, loops
        self.stamps_at = stamps_at
        self.setup, self.after = list(setup), list(after)


class Program:
    """stride: bytes of shared memory from lane to lane, or (mask, m1, shift, m2): lane's address is
    (lane & mask) m1 + (lane >> shift) m2. align: warps meet by barrier, or by clock (two CTAs).
    expect: what the first stamp must be, where it is not 0."""

    def __init__(self, bench, variant, roles, stamps=0, passes=2, threads=None, ctas=1, smem=49152,
                 stride=4, warp_bytes=0, global_stride=16, align="barrier", instructions=0, reps=5,
                 wide=False, expect=0):
        self.bench, self.variant, self.roles, self.n_stamps = bench, variant, roles, stamps
        self.passes, self.ctas, self.smem, self.stride = passes, ctas, smem, stride
        self.warp_bytes, self.global_stride, self.align = warp_bytes, global_stride, align
        self.threads = threads or 32 * (max(w for r in roles for w in r.warps) + 1)
        self.instructions, self.reps, self.wide, self.expect = instructions, reps, wide, expect
        assert stamps <= MAX_STAMPS and self.threads <= 512, variant

    def code(self):
        return assemble(self.listing())

    def listing(self):
        return self.prologue() + self.dispatch() + [
            i for k, role in enumerate(self.roles) for i in self.role(k, role)]

    def address(self):
        if isinstance(self.stride, tuple):
            mask, m1, shift, m2 = self.stride
            return [and_imm(4, 5, mask, stall=8), imad_imm(4, 4, m1, RZ, stall=8),
                    shr_imm(13, 5, shift, stall=8), imad_imm(4, 13, m2, 4, stall=8)]
        return [imad_imm(4, 5, self.stride, RZ, stall=8)]

    def prologue(self):
        out = [op("TID", d=0, wr=0), ldc(2, 0x210, True, wr=1), ldc(10, 0x218, True, wr=2),
               op("CTAID", d=13, wr=3), op("SMID", d=14, wr=4), op("DESC", stall=15)]
        out += nops(3, wait=DRAIN)
        out += [shr_imm(1, 0, 5, stall=8), and_imm(5, 0, 31, stall=8),
                imad_imm(13, 13, 32, 1, stall=8), imad_wide_imm(2, 13, 4 * WORDS, 2, stall=8),
                imad_wide_imm(10, 0, self.global_stride, 10, stall=8)]
        out += self.address()
        out += [imad_imm(4, 1, self.warp_bytes, 4, stall=8), add_imm(4, 4, 0x400, stall=8)]
        out += [mov_imm(r, ONE, stall=2) for r in range(18, 64)]
        out += [mov_imm(r, 0, stall=2) for r in range(64, 192 if self.wide else 126)]
        out += [op("MOV", d=16, b=2, stall=8), op("MOV", d=17, b=3, stall=8),
                isetp_ne_imm(0, 5, 99, stall=15)]
        return out

    def dispatch(self):
        out = []
        for k, role in enumerate(self.roles):
            for w in role.warps:
                out += [isetp_ne_imm(5, 1, w, stall=15), op("NOP", stall=15),
                        branch(f"role{k}", stall=5).guarded("!P5")]
        return out + [op("EXIT", stall=5)]

    def meet(self, k):
        if self.align == "barrier":
            n = sum(len(r.warps) for r in self.roles)
            return [barrier("SYNC", 15, 32 * n, stall=15), op("NOP", stall=15)]
        out = []
        for half, level in enumerate((0, 0x8000)):
            name = f"meet{k}.{half}"
            out += [label(name), op("CLOCK", d=13, stall=15), and_imm(13, 13, 0x8000, stall=8),
                    isetp_ne_imm(6, 13, level, stall=15), branch(name, stall=5).guarded("P6")]
        return out

    def role(self, k, role):
        out = [label(f"role{k}"), *role.setup, mov_imm(15, self.passes, stall=8), label(f"pass{k}")]
        out += self.meet(k) + nops(2)
        if role.loops > 1:
            out += [mov_imm(12, role.loops, stall=8)]
        out += [op("CLOCK", d=6, stall=8)]
        if role.loops > 1:
            out += [label(f"loop{k}")]
        out += role.body() if callable(role.body) else role.body
        if role.loops > 1:
            out += [add_imm(12, 12, -1, stall=5), isetp_ne_imm(6, 12, 0, stall=13),
                    branch(f"loop{k}", stall=5).guarded("P6")]
        out += [op("NOP", stall=2, wait=DRAIN), op("CLOCK", d=8, stall=15)] + list(role.after)
        out += [op("STG", a=16, b=6, stall=8, rd=0), add_imm(16, 16, 4, stall=8, wait=DRAIN),
                op("STG", a=16, b=8, stall=8, rd=0), add_imm(16, 16, 4, stall=8, wait=DRAIN),
                op("LDGDEPBAR", stall=8, wr=0), op("DEPBAR", stall=15, wait=1)]
        out += [add_imm(15, 15, -1, stall=8), isetp_ne_imm(6, 15, 0, stall=15),
                branch(f"pass{k}", stall=5).guarded("P6")]
        out += [store(64, 14, stall=4)]
        out += [store(68 + 4 * i, role.stamps_at + i, stall=4) for i in range(self.n_stamps)]
        return out + [op("NOP", stall=15, wait=DRAIN), op("EXIT", stall=5)]


PLACES = {  # which warps run
    "1w": [0], "2w": [0, 4], "4w": [0, 4, 8, 12], "4s": [0, 1, 2, 3], "8": range(8),
    "16": range(16),
}
PIPES = ["FFMA", "FMUL", "FADD", "FMNMX", "FSEL", "FSETP", "F2FP", "HADD2", "HADD2F", "HFMA2",
         "IMAD", "IMADW", "IADD3", "LOP3", "SHF", "PRMT", "SEL", "ISETP", "MOV", "I2FP", "EX2",
         "RCP", "LG2", "F2I", "POPC", "HMMA", "HMMA8", "SHFL", "SHFLI", "LDS", "LDS64", "LDS128",
         "STS", "STS64", "STS128", "LDSM1", "LDSM2", "LDSM4", "LDSMT4", "STSM1", "STSM4", "LDG",
         "LDG128", "R2UR", "VOTE", "UIADD3", "UMOV", "NOP", "WARPSYNC", "CLOCK", "CLOCK64",
         "TID", "LDC", "ATOMS", "ZERO64"]
MIXED = ["FFMA", "FMUL", "IMAD", "IADD3", "LOP3", "FMNMX", "ISETP", "HADD2F", "HFMA2", "F2FP",
         "EX2", "HMMA", "SHFL", "LDS", "LDS128", "STS", "LDSM4", "UIADD3"]
WIDE = {"LDS64": 8, "STS64": 8, "LDS128": 16, "STS128": 16, "LDSM1": 16, "LDSM2": 16, "LDSM4": 16,
        "LDSMT4": 16, "STSM1": 16, "STSM4": 16, "LDGSTS": 16}
SHORT, LONG, LOOPS = 32, 96, 16


def stride_of(names):
    return max([WIDE.get(n, 4) for n in names])


def sizes(bench, variant, names_of, places, loops=LOOPS, stall=1, stay=1, **options):
    """The same body SHORT and LONG; cycles an instruction = difference / (loops (LONG - SHORT))."""
    for u in (SHORT, LONG):
        names = names_of(u)
        yield Program(bench, f"{variant}/{u}",
                      [Role(places, sequence(names, stall, stay), loops)],
                      instructions=u * loops, **{"stride": stride_of(names), **options})


def issue():
    for name in PIPES:
        for where, warps in PLACES.items():
            yield from sizes("issue", f"{name}/{where}", lambda u: [name] * u, warps)
    for name in ("FFMA", "IADD3", "HMMA", "EX2", "LDS", "HADD2F"):
        for stall in (2, 3, 4, 5, 6, 8):
            for where in ("1w", "2w"):
                yield from sizes("stall", f"{name}/{stall}/{where}", lambda u: [name] * u,
                                 PLACES[where], stall=stall)
        for where in ("1w", "2w", "4w"):
            yield from sizes("yield", f"{name}/{where}", lambda u: [name] * u, PLACES[where],
                             stay=0)


def pairs():
    for i, a in enumerate(MIXED):
        for b in MIXED[i + 1:]:
            for where in ("1w", "4s", "4w"):
                yield from sizes("pair", f"{a}+{b}/{where}", lambda u: [a, b] * (u // 2),
                                 PLACES[where])
    for a in MIXED:  # one warp of a, beside a warp of b on its sub-core that goes on for longer
        for b in MIXED:
            for u in (SHORT, LONG):
                roles = [Role([0], sequence([a] * u), 8), Role([4], sequence([b] * 96), 160)]
                yield Program("beside", f"{a}|{b}/{u}", roles, instructions=8 * u,
                              stride=stride_of([a, b]), reps=3)
    for mix, names in {  # the mixes that kernels have: ratios
        "3FFMA+1EX2": ["FFMA"] * 3 + ["EX2"], "7FFMA+1EX2": ["FFMA"] * 7 + ["EX2"],
        "4FFMA+1LDS": ["FFMA"] * 4 + ["LDS"], "8FFMA+1LDS128": ["FFMA"] * 8 + ["LDS128"],
        "2FFMA+2IADD3": ["FFMA", "FFMA", "IADD3", "IADD3"],
        "1HMMA+4FFMA": ["HMMA"] + ["FFMA"] * 4, "1HMMA+2IADD3": ["HMMA", "IADD3", "IADD3"],
        "2HMMA+1LDSM4": ["HMMA", "HMMA", "LDSM4"], "4HMMA+1LDSM4": ["HMMA"] * 4 + ["LDSM4"],
        "1HMMA+2FFMA+1EX2": ["HMMA", "FFMA", "FFMA", "EX2"],
    }.items():
        for where in ("1w", "2w", "4w", "4s", "8", "16"):
            yield from sizes("mix", f"{mix}/{where}",
                             lambda u: (names * (u // len(names) + 1))[:u], PLACES[where])


def latency():
    for name in sorted(VARIABLE - {"CTAID", "SMID"}):
        strides = {4: ""}
        if name.startswith(("LDS", "ATOMS")):
            base = WIDE.get(name, 4)
            strides = {base * w: f"/x{w}" for w in (1, 2, 4, 8, 16, 32)}
            strides[0] = "/x0"
        for stride, mark in strides.items():
            for u in (SHORT, LONG):
                body = [place(name, i, stall=2, wr=0, wait=1 if i else 0) for i in range(u)]
                yield Program("latency", f"{name}{mark}/{u}", [Role([0], body)], stride=stride,
                              instructions=u)
    for name, stride in (("LDG", 4), ("LDG64", 8), ("LDG128", 16)):  # lanes side by side
        for u in (SHORT, LONG):
            body = [place(name, i, stall=2, wr=0, wait=1 if i else 0) for i in range(u)]
            yield Program("latency", f"{name}/row/{u}", [Role([0], body)], global_stride=stride,
                          instructions=u)
        for where in ("1w", "4w", "4s", "16"):
            yield from sizes("row", f"{name}/{where}", lambda u: [name] * u, PLACES[where],
                             global_stride=stride)
    for name in sorted(READS_LATE | {"LDS", "LDS128", "LDG", "LDG128", "LDSM4", "SHFL"}):
        for u in (SHORT, LONG):
            body = [place(name, i, stall=2, rd=0, wait=1 if i else 0) for i in range(u)]
            yield Program("war", f"{name}/{u}", [Role([0], body)], stride=16, instructions=u)
    # how long HMMA's pipe is: a chain, with fillers as in compiled code
    for fill in range(0, 6):
        def chain(u):
            return [i for _ in range(u)
                    for i in [op("HMMA", d=28, a=20, b=24, c=28, stall=15)] +
                    [op("NOP", stall=fill * 2 + 1)]]
        for u in (8, 24):
            yield Program("hmmachain", f"{16 + 2 * fill}/{u}", [Role([0], chain(u))],
                          instructions=u)


def wavefronts():
    for name in ("LDS", "LDS64", "LDS128", "STS", "STS64", "STS128", "LDSM1", "LDSM2", "LDSM4",
                 "LDSMT4", "STSM1", "STSM4", "ATOMS"):
        base = WIDE.get(name, 4)
        for ways in (2, 4, 8):
            for where in ("1w", "4s", "16"):
                yield from sizes("ways", f"{name}/x{ways}/{where}", lambda u: [name] * u,
                                 PLACES[where], stride=base * ways)
    patterns = {"one": (0, 0, 0, 0), "row4x16": (3, 16, 5, 0), "row8x16": (7, 16, 5, 0),
                "row2x16": (1, 16, 5, 0), "group8": (0, 0, 2, 16), "group8far": (0, 0, 2, 128),
                "group8x256": (0, 0, 2, 256), "quad16": (3, 16, 2, 64), "row16x8": (15, 8, 5, 0),
                "half16": (15, 4, 4, 128), "pairs8": (0, 0, 1, 8), "row4x128": (3, 128, 5, 0)}
    for name in ("LDS", "LDS64", "LDS128", "STS64", "STS128"):
        for shown, pattern in patterns.items():
            aligned = not (name.endswith("128") and shown == "row16x8")
            if name != "LDS" and shown in ("half16", "pairs8") or not aligned:
                continue
            yield from sizes("pattern", f"{name}/{shown}/4s", lambda u: [name] * u, PLACES["4s"],
                             stride=pattern)


def ports():
    """FFMA and others by the banks of their sources; reuse; beside HMMA and loads."""
    sources = {"012": (20, 21, 22), "024": (20, 22, 24), "048": (20, 24, 40), "135": (21, 23, 25),
               "001": (20, 20, 21), "000": (20, 20, 20), "021": (20, 22, 21), "041": (20, 24, 21),
               "014": (20, 21, 24), "015": (20, 21, 25), "02r": (20, 22, 20)}
    for shown, (a, b, c) in sources.items():
        for name in ("FFMA", "IADD3", "IMAD"):
            for reuse in (0, 1, 3):
                for where in ("1w", "4w"):
                    for u in (SHORT, LONG):
                        body = [op(name, d=28 + i % 32, a=a, b=b, c=c, reuse=reuse)
                                for i in range(u)]
                        yield Program("ports", f"{name}/{shown}/r{reuse}/{where}/{u}",
                                      [Role(PLACES[where], body, LOOPS)], instructions=u * LOOPS)
    # accumulating FFMA (c = d) whose a or b changes: as in matrix loops
    for shown, make in {
        "acc": lambda i, r: op("FFMA", d=28 + i % 32, a=20, b=21, c=28 + i % 32, reuse=r),
        "acc-even": lambda i, r: op("FFMA", d=28 + 2 * (i % 16), a=20, b=22, c=28 + 2 * (i % 16),
                                    reuse=r),
        "acc-a": lambda i, r: op("FFMA", d=28 + i % 32, a=18 + i % 8, b=27, c=28 + i % 32,
                                 reuse=r),
        "acc-ab": lambda i, r: op("FFMA", d=28 + i % 32, a=18 + i % 4, b=24 + i % 3,
                                  c=28 + i % 32, reuse=r),
        "write-even": lambda i, r: op("FFMA", d=28 + 2 * (i % 16), a=20, b=21, c=23, reuse=r),
    }.items():
        for reuse in (0, 1, 2):
            for where in ("1w", "2w", "4w"):
                for u in (SHORT, LONG):
                    yield Program("ports2", f"{shown}/r{reuse}/{where}/{u}",
                                  [Role(PLACES[where], [make(i, reuse) for i in range(u)], LOOPS)],
                                  instructions=u * LOOPS)
    for shown, (a, b, odd) in {"base": (20, 24, 0), "b26": (20, 26, 0), "a18": (18, 24, 0)}.items():
        if a % 4 == 2:
            continue
        for u in (SHORT, LONG):
            body = [op("HMMA", d=28 + 4 * (i % 8), a=a, b=b, c=28 + 4 * (i % 8)) for i in range(u)]
            yield Program("ports3", f"HMMA/{shown}/{u}", [Role([0], body, LOOPS)],
                          instructions=u * LOOPS)
    # FFMA with three sources in a bank beside a warp of loads or HMMA
    for shown, (a, b, c) in {"012": (20, 21, 22), "024": (20, 22, 24)}.items():
        for other in ("HMMA", "LDS128", "LDSM4", "EX2", "STS128", "FFMA", "HADD2F", "IADD3"):
            for u in (SHORT, LONG):
                body = [op("FFMA", d=28 + i % 32, a=a, b=b, c=c) for i in range(u)]
                roles = [Role([0], body, 8), Role([4], sequence([other] * 96), 160)]
                yield Program("ports4", f"FFMA{shown}|{other}/{u}", roles, instructions=8 * u,
                              stride=16, reps=3)


QUEUED = ["EX2", "F2I", "POPC", "LDS", "LDS64", "LDS128", "STS", "STS128", "LDSM1", "LDSM4",
          "STSM4", "SHFL", "ATOMS", "LDG", "LDG128", "STG", "STG128", "LDGSTS", "HMMA", "R2UR",
          "FFMA", "IADD3", "TID", "LDC", "IMADW"]


def depth():
    """When does the k-th of a burst hold its warp up? Stamps 2 k, 2 k + 1: before, after k."""
    for name in QUEUED:
        for where in ("1w", "2w", "4s", "8"):
            yield Program("depth", f"{name}/{where}",
                          [Role(PLACES[where], burst([], name))], stamps=MAX_STAMPS,
                          stride=stride_of([name]))
    for first, n, name in (("LDS", 6, "EX2"), ("EX2", 6, "LDS"), ("LDS", 6, "SHFL"),
                           ("EX2", 6, "SHFL"), ("LDS", 6, "STS"), ("SHFL", 6, "EX2"),
                           ("F2I", 4, "EX2"), ("LDG", 4, "LDS"), ("EX2", 6, "LDSM4"),
                           ("LDSM4", 6, "EX2"), ("EX2", 12, "FFMA"), ("EX2", 12, "IADD3"),
                           ("LDS", 12, "FFMA"), ("HMMA", 6, "FFMA"), ("HMMA", 6, "IADD3"),
                           ("HMMA", 6, "LDS"), ("HMMA", 6, "EX2"), ("LDGSTS", 4, "LDS")):
        for where in ("1w", "4s"):
            yield Program("depth2", f"{first}*{n}+{name}/{where}",
                          [Role(PLACES[where], burst([first] * n, name))], stamps=MAX_STAMPS,
                          stride=stride_of([first, name]))


def burst(before, name):
    out = []
    for k in range(MAX_STAMPS // 2):
        out += nops(8, wait=DRAIN) + [op("NOP", stall=15) for _ in range(12)]
        out += [op("CLOCK", d=64 + 2 * k, stall=4)]
        out += sequence(before + [name] * k) + [op("CLOCK", d=65 + 2 * k, stall=4)]
    return out


def arbitration():
    """Stamps of warps that want to issue at the same time."""
    def stamped(filler, n=MAX_STAMPS, stall=1, stay=1):
        def body():
            out = []
            for k in range(n):
                out += [place(x, i, stall=stall, stay=stay) for i, x in enumerate(filler)]
                out += [op("CLOCK", d=64 + k, stall=stall, stay=stay)]
            return out
        return body

    def waiting(n, ready):
        out = []
        for k in range(n):
            out += [place("LDS", k, stall=2, wr=0), place("FFMA", 1, wait=1)]
            out += [place("FFMA", i) for i in range(ready)] + [op("CLOCK", d=64 + k)]
        return out

    bodies = {
        "ffma7": stamped(["FFMA"] * 7), "ffma3": stamped(["FFMA"] * 3),
        "ffma7-yield": stamped(["FFMA"] * 7, stay=0),
        "ffma7-stall2": stamped(["FFMA"] * 7, stall=2),
        "ffma7-stall2-yield": stamped(["FFMA"] * 7, stall=2, stay=0),
        "ffma7-stall3": stamped(["FFMA"] * 7, stall=3),
        "ffma7-stall4": stamped(["FFMA"] * 7, stall=4),
        "iadd7": stamped(["IADD3"] * 7), "hmma3": stamped(["HMMA"] * 3),
        "ex2-3": stamped(["EX2"] * 3), "lds3": stamped(["LDS"] * 3),
        "ffma6-ex2": stamped(["FFMA"] * 6 + ["EX2"]),
        "hmma-ffma4": stamped(["HMMA"] + ["FFMA"] * 4),
        "lds-wait-ffma12": lambda: waiting(40, 12), "lds-wait-ffma24": lambda: waiting(40, 24),
    }
    for shown, body in bodies.items():
        for where, warps in {"2": [0, 4], "3": [0, 4, 8], "4": [0, 4, 8, 12]}.items():
            yield Program("arbitration", f"{shown}/1cta/{where}", [Role(warps, body)],
                          stamps=MAX_STAMPS)
        for where, warps in {"1": range(4), "2": range(8)}.items():
            yield Program("arbitration", f"{shown}/2cta/{where}", [Role(warps, body)],
                          stamps=MAX_STAMPS, ctas=264, smem=100000, align="clock", reps=9)


def place_check():
    """HMMA of warp 0 beside warp w: they share a pipe only on the same sub-core."""
    for w in range(1, 9):
        yield from sizes("place", f"0+{w}", lambda u: ["HMMA"] * u, [0, w])


def branches():
    for k in (0, 1, 2, 4, 8, 16, 32, 64):
        for stall in (13, 14, 15):
            def loop(n):
                return Role([0], [place("FFMA", i) for i in range(k)] +
                            [op("NOP", stall=stall - 13 + 1)], n)
            for n in (32, 96):
                yield Program("backedge", f"{k}/{stall}/{n}", [loop(n)], instructions=n)
    for where in ("1w", "2w", "4w"):
        for k in (0, 4, 16):
            for n in (32, 96):
                yield Program("backedge", f"{k}/13/{where}/{n}",
                              [Role(PLACES[where], [place("FFMA", i) for i in range(k)] +
                                    [op("NOP")], n)], instructions=n)

    def jumps(kind, u):
        out = []
        for i in range(u):
            if kind == "forward":
                out += [branch(f"j{i}", stall=5)] + [op("NOP")] * 1 + [label(f"j{i}")]
            elif kind == "forward8":
                out += [branch(f"j{i}", stall=5)] + [op("NOP") for _ in range(8)] + [label(f"j{i}")]
            elif kind == "not-taken":
                out += [branch("end", stall=5).guarded("P5")]
            elif kind == "bssy":
                out += [bssy(f"b{i}", stall=1), label(f"b{i}"), op("BSYNC", stall=5)]
            elif kind == "divergent":
                out += [bssy(f"b{i}", stall=1), branch(f"b{i}", stall=5).guarded("P4"),
                        *[place("FFMA", j) for j in range(4)], label(f"b{i}"),
                        op("BSYNC", stall=5)]
            elif kind == "uniform-skip":
                out += [bssy(f"b{i}", stall=1), branch(f"b{i}", stall=5).guarded("!P5"),
                        *[place("FFMA", j) for j in range(4)], label(f"b{i}"),
                        op("BSYNC", stall=5)]
            elif kind == "nop-wait":
                out += [op("NOP")]
            elif kind == "guard-off":
                out += [place("LDS", i).guarded("P5")]
            elif kind == "guard-off-ffma":
                out += [place("FFMA", i).guarded("P5")]
        return out + [label("end")]

    lanes = [add_imm(13, 5, -16, stall=8), isetp_ge_zero(4, 13, stall=15)]
    for kind in ("forward", "forward8", "not-taken", "bssy", "divergent", "uniform-skip",
                 "nop-wait", "guard-off", "guard-off-ffma"):
        for where in ("1w", "2w", "4w"):
            for u in (16, 48):
                yield Program("branch", f"{kind}/{where}/{u}",
                              [Role(PLACES[where], jumps(kind, u), setup=lanes)], instructions=u)


def instruction_cache():
    """Straight code of a size, over and over: passes 0 (cold), 1, 2, 3."""
    kib = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 28, 32, 40, 48, 64, 96, 112, 128, 144, 160, 192, 256)
    for size in kib:
        n = size * 64
        for stall in (1, 2, 4):
            yield Program("icache", f"{size}K/stall{stall}/1w",
                          [Role([0], [place("FFMA", i, stall=stall) for i in range(n)])],
                          instructions=n, passes=4, reps=3)
        for where in ("4s", "16"):
            yield Program("icache", f"{size}K/stall1/{where}",
                          [Role(PLACES[where], [place("FFMA", i) for i in range(n)])],
                          instructions=n, passes=4, reps=3)
        for where in ("1w", "4s"):  # one a cycle
            yield Program("icache", f"{size}K/fmul/{where}",
                          [Role(PLACES[where], [place("FMUL", i) for i in range(n)])],
                          instructions=n, passes=4, reps=3)
        if size <= 128:
            for shown, other in (("other-smsp", 1), ("same-smsp", 4)):
                yield Program("icache2", f"{size}K/{shown}",
                              [Role([0], [place("FFMA", i) for i in range(n)]),
                               Role([other], [place("FMUL", i) for i in range(n)])],
                              instructions=n, passes=4, reps=3)


def jumps():
    """Branches from line to line of 128 bytes, in an order that no prefetcher guesses; all lines of
    a size, four times."""
    for size in (1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96, 112, 128, 144, 160, 192,
                 256):
        n = size * 8
        step = next(k for k in range(n * 5 // 8 | 1, 2 * n, 2) if math.gcd(k, n) == 1)
        order = [k * step % n for k in range(n)]
        after = {a: b for a, b in zip(order, order[1:])}
        for where in ("1w", "4s"):
            body = [branch("b0", stall=5), align()]
            for k in range(n):
                go = branch(f"b{after[k]}" if k in after else "end", stall=5)
                body += [label(f"b{k}"), go, *[op("NOP") for _ in range(7)]]
            yield Program("icjump", f"{size}K/{where}",
                          [Role(PLACES[where], body + [label("end")])], instructions=n, passes=4,
                          reps=3)


def barriers():
    """From one BAR to the next there must be 8 cycles: with 5, 16 warps never meet."""
    for n in (1, 2, 4, 8, 16):
        for u in (16, 48):
            body = [barrier("SYNC", 1, 32 * n, stall=8) for _ in range(u)]
            yield Program("bar", f"SYNC/{n}/{u}", [Role(range(n), body)], instructions=u)
    # Warp 0 comes last. Stamps: before, after, and after another instruction of each pipe.
    for n in (2, 4, 8, 16):
        def after():
            return [op("CLOCK", d=65, stall=2), place("FFMA", 0, stall=2),
                    op("CLOCK", d=66, stall=2), place("LDS", 1, stall=2, wr=0),
                    op("CLOCK", d=67, stall=2), op("NOP", wait=1), op("CLOCK", d=68, stall=2)]
        late = Role([0], nops(40) + [op("CLOCK", d=64, stall=2),
                                     barrier("SYNC", 1, 32 * n, stall=1)] + after())
        early = Role(range(1, n), [op("CLOCK", d=64, stall=2),
                                   barrier("SYNC", 1, 32 * n, stall=1)] + after())
        yield Program("barlast", f"SYNC/{n}", [late, early], stamps=5)
    # Hand-over: one side arrives late and goes on, the other waits.
    for n, givers, takers in ((2, [0], [1]), (2, [0], [4]), (8, range(4), range(4, 8))):
        give = Role(givers, nops(40) + [op("CLOCK", d=64, stall=2),
                                        barrier("ARV", 1, 32 * n, stall=1),
                                        op("CLOCK", d=65, stall=2), op("CLOCK", d=66, stall=2)])
        # a BAR.SYNC is not waited for at once, but by the next access to memory
        take = Role(takers, [op("CLOCK", d=64, stall=2), barrier("SYNC", 1, 32 * n, stall=1),
                             op("CLOCK", d=65, stall=2), place("LDS", 1, stall=2, wr=0),
                             op("CLOCK", d=66, stall=2)])
        yield Program("handover", f"SYNC/{n}/{givers[0]}-{takers[0]}", [give, take], stamps=3)
        for u in (8, 24):
            a = [i for _ in range(u) for i in (barrier("SYNC", 1, 32 * n, stall=8),
                                               barrier("ARV", 2, 32 * n, stall=8))]
            b = [i for _ in range(u) for i in (barrier("ARV", 1, 32 * n, stall=8),
                                               barrier("SYNC", 2, 32 * n, stall=8))]
            yield Program("pingpong", f"{n}/{givers[0]}-{takers[0]}/{u}",
                          [Role(givers, a), Role(takers, b)], instructions=u)


# ---- WGMMA: accumulators from R56 (N 128: to R119, N 256: to R183), stamps from R24

GDESC = [umov_imm(8, 0x40, stall=8), umov_imm(9, 0x40000040, stall=8),
         umov_imm(10, 0x440, stall=8), umov_imm(11, 0x40000040, stall=15)]
WG = {"wg0": range(4), "wg1": range(4, 8), "wg01": range(8), "wg012": range(12)}
SHAPES = [("ss", 64), ("ss", 80), ("ss", 96), ("ss", 128), ("ss", 256), ("rs", 64), ("rs", 80),
          ("rs", 96), ("rs", 128), ("rs", 256)]


def products(kind, n, count, pending=0):
    """A group of `count` multiplications, waited for until `pending` groups are left."""
    a = 20 if kind == "rs" else None
    return [op("WGARRIVE", stall=2)] + [
        hgmma(n, 56, a, last=i == count - 1, stall=2) for i in range(count)] + (
            [] if pending is None else [hgmma_wait(pending, stall=2)])


def steady(kind, n, groups, per_group):
    return [i for g in range(groups) for i in products(kind, n, per_group, 1)] + [
        hgmma_wait(0, stall=2)]


def wgmma():
    counts = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16)
    for kind, n in SHAPES:
        for where, warps in WG.items():
            if where == "wg1" or n == 256 and where == "wg012":
                continue
            body = []  # stamps 3 k..: before, all issued, all done
            for k, count in enumerate(counts):
                body += nops(40) + [op("CLOCK", d=24 + 3 * k, stall=2)]
                body += products(kind, n, count, None) + [op("CLOCK", d=25 + 3 * k, stall=2),
                                                          hgmma_wait(0, stall=2),
                                                          op("CLOCK", d=26 + 3 * k, stall=2)]
            yield Program("hgmma", f"{kind}{n}/{where}",
                          [Role(warps, body, setup=GDESC, stamps_at=24)], stamps=3 * len(counts),
                          wide=n == 256)
            for per_group in (1, 2, 4, 8):
                for groups in (8, 24):
                    yield Program("hgmma-steady", f"{kind}{n}/{where}/{per_group}/{groups}",
                                  [Role(warps, steady(kind, n, groups, per_group), setup=GDESC)],
                                  instructions=groups * per_group, wide=n == 256)
                    if per_group > 2:
                        continue
                    body = [i for g in range(groups) for i in products(kind, n, per_group, 0)]
                    yield Program("hgmma-waited", f"{kind}{n}/{where}/{per_group}/{groups}",
                                  [Role(warps, body, setup=GDESC)], instructions=groups * per_group,
                                  wide=n == 256)
    # After a pause of k NOPs of 15 cycles: is a tensor core that was idle late? The same beside a
    # warpgroup that keeps it busy.
    for kind, n in (("ss", 64), ("rs", 64), ("ss", 128), ("rs", 128)):
        for where in ("alone", "beside"):
            body = []
            for k, pause in enumerate((0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)):
                body += products(kind, n, 1, 0) + nops(pause) + [op("CLOCK", d=24 + 2 * k, stall=2)]
                body += products(kind, n, 1, 0) + [op("CLOCK", d=25 + 2 * k, stall=2)]
            other = [Role(range(4, 8), steady(kind, n, 8, 2), 40, setup=GDESC)]
            yield Program("hgmma-pause", f"{kind}{n}/{where}",
                          [Role(range(4), body, setup=GDESC, stamps_at=24)] +
                          (other if where == "beside" else []), stamps=30)
    for name, make in {"arrive": lambda: [op("WGARRIVE", stall=2)],
                       "wait": lambda: [hgmma_wait(0, stall=2)]}.items():
        for u in (16, 48):
            yield Program("hgmma-empty", f"{name}/{u}",
                          [Role(range(4), [i for _ in range(u) for i in make()], setup=GDESC)],
                          instructions=u)


BESIDE = ["FFMA", "FMUL", "FADD", "FMNMX", "IMAD", "IADD3", "HADD2F", "F2FP", "EX2", "LDS",
          "LDS128", "STS128", "LDSM4", "STSM4", "SHFL", "HMMA", "NOP"]


def beside_wgmma():
    """Warpgroup 0 multiplies; on the other warps of each sub-core, something else. Each as the one
    measured and as the one that goes on for longer."""
    for kind, n in (("ss", 48), ("ss", 64), ("ss", 72), ("ss", 80), ("ss", 96), ("ss", 128),
                    ("rs", 48), ("rs", 64), ("rs", 72), ("rs", 80), ("rs", 96), ("rs", 128),
                    ("ss", 256), ("rs", 256)):
        for name in BESIDE:
            for where, warps in (("4", range(4, 8)), ("8", range(4, 12))):
                if n == 256 and where == "8":
                    continue
                for u in (SHORT, LONG):
                    long_ = Role(range(4), steady(kind, n, 8, 4), 60, setup=GDESC)
                    yield Program("besidewg", f"{name}|{kind}{n}/{where}/{u}",
                                  [Role(warps, sequence([name] * u), 8), long_],
                                  instructions=8 * u, stride=stride_of([name]), wide=n == 256,
                                  reps=3)
                for groups in (8, 24):
                    short = Role(range(4), steady(kind, n, groups, 4), setup=GDESC)
                    yield Program("wgbeside", f"{kind}{n}|{name}/{where}/{groups}",
                                  [short, Role(warps, sequence([name] * 96), 200)],
                                  instructions=4 * groups, stride=stride_of([name]),
                                  wide=n == 256, reps=3)
    for shown, (a, b, c) in {"012": (20, 21, 22), "024": (20, 22, 24), "000": (20, 20, 20)}.items():
        for kind, n in (("ss", 128), ("rs", 128)):
            for u in (SHORT, LONG):
                body = [op("FFMA", d=28 + i % 32, a=a, b=b, c=c) for i in range(u)]
                yield Program("besidewg2", f"FFMA{shown}|{kind}{n}/{u}",
                              [Role(range(4, 8), body, 8),
                               Role(range(4), steady(kind, n, 8, 4), 60, setup=GDESC)],
                              instructions=8 * u, reps=3)


def stall_counts():
    """The least stall with which a dependent chain of 16 still gives the right result, 16 or so:
    stamp 0 is the result, so a wrong schedule shows as a wrong number."""
    integer = [mov_imm(28, 0, stall=8), mov_imm(20, 1, stall=8)]
    real = [mov_imm(28, 0, stall=8), mov_imm(20, ONE, stall=8)]
    for stall in range(1, 8):
        for name, setup, make in (
            ("IADD3", integer, lambda s: op("IADD3", d=28, a=28, b=20, c=RZ, stall=s)),
            ("IMAD", integer, lambda s: op("IMAD", d=28, a=20, b=20, c=28, stall=s)),
            ("FADD", real, lambda s: op("FADD", d=28, a=28, b=20, stall=s)),
            ("FFMA", real, lambda s: op("FFMA", d=28, a=20, b=20, c=28, stall=s)),
        ):
            body = setup + [make(stall) for _ in range(16)] + nops(4) + [
                op("MOV", d=64, b=28, stall=8)]
            yield Program("least", f"{name}/{stall}", [Role([0], body)], stamps=1)
        mixed = integer + [i for _ in range(8) for i in (
            op("IADD3", d=28, a=28, b=20, c=RZ, stall=stall),
            op("IMAD", d=28, a=20, b=20, c=28, stall=8))]
        yield Program("least", f"IADD3-IMAD/{stall}",
                      [Role([0], mixed + nops(4) + [op("MOV", d=64, b=28, stall=8)])], stamps=1)


def operand(name, sources):
    """An instruction of one to three sources, by register."""
    a, b, c = (*sources, *sources[-1:] * 2)[:3]
    return lambda i, wr=7: op(name, d=28 + i % 32, a=a, b=b, c=c, wr=wr)


def hmma_mixes():
    """k HMMA, then m of something else, again and again: who waits for whose registers?"""
    others = {"FADD20.21": operand("FADD", (20, 21)), "FADD20.22": operand("FADD", (20, 22)),
              "FADD20.20": operand("FADD", (20, 20)), "FFMA20.21.22": operand("FFMA", (20, 21, 22)),
              "FFMA20.22.24": operand("FFMA", (20, 22, 24)),
              "FFMA20.20.21": operand("FFMA", (20, 20, 21)),
              "IADD3.20.21.22": operand("IADD3", (20, 21, 22)),
              "IADD3.20.20.21": operand("IADD3", (20, 20, 21)),
              "FMNMX20.21": operand("FMNMX", (20, 21)), "F2FP20.21": operand("F2FP", (20, 21)),
              "MOV20": operand("MOV", (20,)), "EX2": operand("EX2", (20,)),
              "NOP": lambda i, wr=7: op("NOP"), "STS": lambda i, wr=7: place("STS", i, rd=wr)}
    for name in ("LDS", "LDSM4", "SHFL"):
        others[name] = functools.partial(place, name)
    for shown, other in others.items():
        for k, m in ((1, 1), (1, 2), (1, 3), (1, 4), (1, 8), (2, 1), (2, 2), (4, 2), (4, 8)):
            for where in ("1w", "2w"):
                for u in (8, 24):
                    body = [x for g in range(u) for x in
                            [place("HMMA", g * k + i) for i in range(k)] +
                            [other(g * m + i) for i in range(m)]]
                    if shown in VARIABLE | READS_LATE:
                        body[-1] = other(u * m - 1, wr=5)
                    yield Program("hmmamix", f"{k}HMMA+{m}{shown}/{where}/{u}",
                                  [Role(PLACES[where], body, 8)], instructions=u * 8, stride=16)


def mixes_beside_wgmma():
    """What softmax mixes, beside a warpgroup that multiplies."""
    def mixture(names):
        return lambda u: (names * (u // len(names) + 1))[:u]
    for shown, names in {
        "FFMA+EX2": ["FFMA", "EX2"], "FFMA+EX2+FADD": ["FFMA", "EX2", "FADD"],
        "2FFMA+2EX2+2FADD+F2FP": ["FFMA", "FFMA", "EX2", "EX2", "FADD", "FADD", "F2FP"],
        "FMNMX+FFMA": ["FMNMX", "FFMA"], "6FFMA+SHF+FADD": ["FFMA"] * 6 + ["SHF", "FADD"],
        "4FMUL": ["FMUL"] * 4, "FADD+FMNMX": ["FADD", "FMNMX"],
        "8FMNMX+SHFL": ["FMNMX"] * 8 + ["SHFL"], "8FMUL+2LDS": ["FMUL"] * 8 + ["LDS"] * 2,
    }.items():
        for kind, n in (("ss", 64), ("ss", 80), ("ss", 128), ("rs", 64), ("rs", 72), ("rs", 128)):
            for where, warps in (("4", range(4, 8)), ("8", range(4, 12))):
                for u in (42, 84):
                    long_ = Role(range(4), steady(kind, n, 8, 4), 60, setup=GDESC)
                    yield Program("mixwg", f"{shown}|{kind}{n}/{where}/{u}",
                                  [Role(warps, sequence(mixture(names)(u)), 8), long_],
                                  instructions=8 * u, reps=3)
                for groups in (8, 24):
                    short = Role(range(4), steady(kind, n, groups, 4), setup=GDESC)
                    yield Program("wgmix", f"{kind}{n}|{shown}/{where}/{groups}",
                                  [short, Role(warps, sequence(mixture(names)(84)), 200)],
                                  instructions=4 * groups, reps=3)
        for where, warps in (("4", range(4, 8)), ("8", range(4, 12))):
            for u in (42, 84):
                yield Program("mixwg", f"{shown}|nothing/{where}/{u}",
                              [Role(warps, sequence(mixture(names)(u)), 8)], instructions=8 * u,
                              reps=3)


def halves():
    """FMA's two halves: k of FMUL, which either takes, before m of what only one takes, or both."""
    others = {
        "HADD2F": lambda d, **c: op("HADD2F", d=d, b=23, **c),
        "IMAD": lambda d, **c: op("IMAD", d=d, a=20, b=21, c=RZ, **c),
        "IMADW": lambda d, **c: op("IMADW", d=d, a=20, b=21, c=RZ, **c),
        "HFMA2": lambda d, **c: op("HFMA2", d=d, a=20, b=21, c=RZ, **c),
        "HADD2": lambda d, **c: op("HADD2", d=d, a=20, b=21, **c),
        "FFMA3": lambda d, **c: op("FFMA", d=d, a=20, b=22, c=24, **c),
        "MOV": lambda d, **c: op("MOV", d=d, b=21, **c),
    }
    for shown, other in others.items():
        for k, m in ((1, 1), (2, 1), (3, 1), (4, 1), (1, 2), (2, 2), (3, 2), (4, 4), (8, 4)):
            for stall in (1, 2):
                for where in ("1w", "2w", "4w"):
                    def body(u):
                        return [x for g in range(u) for x in
                                [op("FMUL", d=28 + (g * k + i) % 32, a=20, b=21, stall=1)
                                 for i in range(k)] +
                                [other(28 + 4 * (i % 8), stall=stall) for i in range(m)]]
                    for u in (8, 24):
                        yield Program("halves", f"{k}FMUL+{m}{shown}/s{stall}/{where}/{u}",
                                      [Role(PLACES[where], body(u), LOOPS)],
                                      instructions=u * (k + m) * LOOPS)


def bursts():
    """FFMA that read more of a bank than it gives in a cycle, k of them, then instructions that
    read less: how many cycles behind may the ports be, and who waits for it?"""
    def many(i):
        return op("FFMA", d=28 + i % 32, a=20 + 2 * (i % 2), b=24 + 2 * (i % 2), c=21)

    after = {
        "NOP": lambda i: [op("NOP")],
        "FMUL": lambda i: [op("FMUL", d=28 + i % 32, a=21, b=RZ)],
        "FFMA": lambda i: [op("FFMA", d=28 + i % 32, a=20, b=23, c=RZ)],
        "FFMA3": lambda i: [op("FFMA", d=28 + i % 32, a=20, b=23, c=25)],
        "HADD2F": lambda i: [op("HADD2F", d=28 + i % 32, b=23, stall=2)],
        "HADD2F+FFMA": lambda i: [op("HADD2F", d=28 + i % 32, b=23, stall=2),
                                  op("FFMA", d=28 + i % 32, a=20, b=23, c=RZ)][i % 2:][:1],
        "NOP4": lambda i: [op("NOP", stall=4)],
        "LDS+FMUL": lambda i: [place("LDS", i) if i % 4 == 0 else
                               op("FMUL", d=28 + i % 32, a=21, b=RZ)],
        "LDS+FFMA": lambda i: [place("LDS", i) if i % 4 == 0 else
                               op("FFMA", d=28 + i % 32, a=20, b=23, c=25)],
    }
    for shown, other in after.items():
        for k in (1, 2, 3, 4, 5, 6, 8):
            for m in (4, 12):
                def body(u):
                    return [x for g in range(u) for x in
                            [many(i) for i in range(k)] + [y for i in range(m) for y in other(i)]]
                for where in ("1w", "2w"):
                    for u in (4, 12):
                        yield Program("bursts", f"{k}FFMA024+{m}{shown}/{where}/{u}",
                                      [Role(PLACES[where], body(u), LOOPS)],
                                      instructions=u * (k + m) * LOOPS)
    for between in ("nothing", "NOP", "LDS", "HADD2F", "FMUL", "FFMA024"):
        def reused(i):  # a register that the cache has, behind something between
            gap = {"nothing": [], "NOP": [op("NOP")], "LDS": [place("LDS", 0)],
                   "HADD2F": [op("HADD2F", d=60, b=23)], "FMUL": [op("FMUL", d=60, a=23, b=21)],
                   "FFMA024": [op("FFMA", d=60, a=22, b=24, c=26)]}[between]
            return [op("FFMA", d=28 + i % 16, a=20, b=22, c=24, reuse=1)] + gap + [
                op("FFMA", d=44 + i % 16, a=20, b=22, c=24, reuse=0)]
        for u in (8, 24):
            yield Program("bursts", f"reuse+{between}/1w/{u}",
                          [Role([0], [x for i in range(u) for x in reused(i)], LOOPS)],
                          instructions=u * (2 + (between != "nothing")) * LOOPS)
    for first, second in (("IMADW", "IMAD"), ("IMADW", "FMUL"), ("IMADW", "IADD3"), ("IMAD", "IMADW"),
                          ("IMADW", "HADD2F"), ("IMADW", "IMADW")):
        for stall in (1, 2, 4, 5):
            for u in (8, 24):
                body = [x for i in range(u) for x in
                        [place(first, 0, stall=stall), place(second, 4, stall=1),
                         place("MOV", 5, stall=8)]]
                yield Program("bursts", f"{first}+{second}+MOV/s{stall}/1w/{u}",
                              [Role([0], body, LOOPS)], instructions=u * LOOPS)


def crowds_beside_wgmma():
    """Three warps of a sub-core beside one that multiplies, without stall counts and with: what
    several softmaxes take from it and from each other. `crowdwg`: theirs; `wgcrowd`: WGMMA's."""
    for shown, names in {
        "FMUL": ["FMUL"], "FFMA": ["FFMA"], "FMNMX": ["FMNMX"], "FADD+FMNMX": ["FADD", "FMNMX"],
        "FFMA+EX2": ["FFMA", "EX2"], "2FFMA+EX2+FADD": ["FFMA", "FFMA", "EX2", "FADD"],
        "2FFMA+2EX2+2FADD+F2FP": ["FFMA", "FFMA", "EX2", "EX2", "FADD", "FADD", "F2FP"],
    }.items():
        for kind, n in (("ss", 80), ("ss", 128), ("rs", 128)):
            for where, warps, stall in (("8", range(4, 12), 2), ("12", range(4, 16), 1),
                                        ("12", range(4, 16), 2)):
                def body(u):
                    return sequence((names * u)[:u], stall)
                for u in (42, 84):
                    long_ = Role(range(4), steady(kind, n, 8, 4), 90, setup=GDESC)
                    yield Program("crowdwg", f"{shown}|{kind}{n}/s{stall}/{where}/{u}",
                                  [Role(warps, body(u), 8), long_], instructions=8 * u, reps=3)
                for groups in (8, 24):
                    short = Role(range(4), steady(kind, n, groups, 4), setup=GDESC)
                    yield Program("wgcrowd", f"{kind}{n}|{shown}/s{stall}/{where}/{groups}",
                                  [short, Role(warps, body(84), 200)],
                                  instructions=4 * groups, reps=3)


class Bare(Program):
    """Nothing but its instructions: no record."""

    def __init__(self, bench, variant, code, threads=32, **options):
        super().__init__(bench, variant, [], threads=threads, passes=1, reps=1, **options)
        self.bare = code

    def listing(self):
        return self.bare + [op("EXIT", stall=5)]


def probe():
    """From the least to all that the others need, so that what fails first tells why. Those named
    "frame" must pass, or nothing can; "faults" must fault."""
    loads = [op("TID", d=0, wr=0), ldc(2, 0x210, True, wr=1), op("DESC", stall=15)]
    yield Bare("probe", "frame 01 exit", [])
    yield Bare("probe", "frame 02 nop", [op("NOP", stall=s, stay=y)
                                         for s in (1, 2, 4, 5, 8, 11, 13, 15) for y in (0, 1)])
    yield Bare("probe", "frame 03 mov", [mov_imm(20, 1, stall=8), mov_imm(HIGHEST, 1, stall=8)])
    yield Bare("probe", "frame 04 clock", [op("CLOCK", d=6, stall=15), op("CLOCK", d=6, stall=8)])
    yield Bare("probe", "frame 05 loads", loads + nops(1, wait=DRAIN))
    yield Bare("probe", "frame 06 special", [op("SMID", d=14, wr=0), op("CTAID", d=13, wr=1)]
               + nops(1, wait=DRAIN))
    yield Bare("probe", "frame 07 store", loads + nops(1, wait=DRAIN) + [store(0, 0, stall=4)])
    yield Bare("probe", "frame 08 depbar",
               loads + nops(1, wait=DRAIN) + [store(0, 0, stall=4), op("LDGDEPBAR", stall=8, wr=0),
                                              op("DEPBAR", stall=15, wait=1)])
    yield Bare("probe", "frame 09 branch", [branch("there", stall=5), op("NOP"), label("there")])
    yield Bare("probe", "frame 10 loop",
               [mov_imm(12, 4, stall=8), label("loop"), add_imm(12, 12, -1, stall=8),
                isetp_ne_imm(6, 12, 0, stall=15), branch("loop", stall=5).guarded("P6")])
    yield Bare("probe", "frame 11 barrier", [barrier("SYNC", 15, 32, stall=15)] + nops(1))
    yield Bare("probe", "frame 12 prologue", Program("", "", [], threads=32).prologue())
    yield Program("probe", "frame 13 record", [Role([0], nops(4))], passes=1)
    yield Program("probe", "frame 14 two passes", [Role([0], nops(4))])
    yield Program("probe", "frame 15 loop", [Role([0], nops(4), 4)])
    adds = [mov_imm(28, 0, stall=8), mov_imm(20, 1, stall=8)] + [
        op("IADD3", d=28, a=28, b=20, c=RZ, stall=8) for _ in range(16)]
    yield Program("probe", "frame 16 value", [Role([0], adds + [op("MOV", d=64, b=28, stall=8)])],
                  stamps=1, expect=16)
    yield Program("probe", "frame 17 sixteen warps", [Role(range(16), nops(4))])
    yield Program("probe", "frame 18 two roles", [Role([0], nops(4)), Role([4], nops(8))])
    yield Program("probe", "large template",
                  [Role([0], [place("FFMA", i) for i in range(64 * 64)])])
    yield Program("probe", "wide template", [Role([0], [mov_imm(HIGHEST_WIDE, 1, stall=8)])],
                  wide=True)
    yield Program("probe", "CTAs of one SM meet", [Role([0], nops(4))], ctas=264, smem=100000,
                  align="clock")
    for name in PIPES + ["STG", "STG64", "STG128", "LDG64", "LDGSTS"]:
        yield Program("probe", f"op {name}", [Role([0], sequence([name] * 2))], stride=16)
    for name in ("FFMA", "IADD3", "HMMA", "EX2", "LDS", "HADD2F"):
        for stall, stay in ((1, 0), (4, 1), (8, 1), (8, 0)):
            yield Program("probe", f"control {name} {stall} {stay}",
                          [Role([0], sequence([name] * 2, stall, stay))])
    for name in ("LDS", "LDSM4", "LDG", "SHFL", "STS", "STSM4", "STG", "LDGSTS"):
        yield Program("probe", f"read barrier {name}",
                      [Role([0], [place(name, i, stall=2, rd=0, wait=i) for i in range(2)])],
                      stride=16)
    for reuse in (1, 2, 3, 7):
        yield Program("probe", f"reuse {reuse}",
                      [Role([0], [op("FFMA", d=28 + i, a=20, b=21, c=22, reuse=reuse)
                                  for i in range(4)])])
    yield Program("probe", "BAR.ARV", [Role([0], [barrier("ARV", 1, 64, stall=5)]),
                                       Role([1], [barrier("SYNC", 1, 64, stall=5)])])
    yield Program("probe", "BSSY", [Role([0], [bssy("b", stall=1), label("b"),
                                               op("BSYNC", stall=5)])])
    yield Program("probe", "guard", [Role([0], [place("LDS", 0).guarded("P5")])])
    for kind, n in SHAPES:
        yield Program("probe", f"hgmma {kind}{n}",
                      [Role(range(4), products(kind, n, 2), setup=GDESC)], wide=n == 256)
    yield Bare("probe", f"faults: R{HIGHEST + 1}", [mov_imm(HIGHEST + 1, 1, stall=8)])


BENCHES = [probe, place_check, issue, latency, depth, wgmma, beside_wgmma, ports, arbitration,
           branches, barriers, stall_counts, wavefronts, pairs, jumps, instruction_cache, hmma_mixes,
           mixes_beside_wgmma, crowds_beside_wgmma, halves, bursts]


@functools.lru_cache(maxsize=None)
def highest_register(text):
    """That an instruction reads or writes; for sources of another size, a few too many."""
    name = text.split("@", 1)[-1].split(" ")[0 if text[0] != "@" else 1]
    found = [int(n) for n in re.findall(r"\bR(\d+)", text)]
    if name.startswith("HGMMA"):
        n = int(re.search(r"64x(\d+)x", name)[1])
        return max(found[0] + n // 2 - 1, found[1] + 3)
    wide = (4 if re.search(r"HMMA|\.128|(LDSM|STSM)\S*\.4$", name) else
            2 if re.search(r"\.64|WIDE|LDSM\S*\.2$|CS2R$", name) else 1)
    pairs = [int(n) + 1 for n in re.findall(r"\bR(\d+)\.64", text)]
    return max([n + wide - 1 for n in found if n + 1 not in pairs] + pairs, default=0)


def programs():
    for bench in BENCHES:
        yield from bench()


def pack(path):
    n = 0
    with open(path, "wb") as f:
        for p in programs():
            code, texts = p.code()
            for text in texts:
                beyond = highest_register(text) > (HIGHEST_WIDE if p.wide else HIGHEST)
                if beyond and not p.variant.startswith("faults"):
                    raise SystemExit(f"{p.bench} {p.variant}: {text}: no such register")
            f.write(struct.pack("<24s56s10I", p.bench.encode(), p.variant.encode(), len(code),
                                p.threads, p.ctas, p.smem, p.reps, p.n_stamps, p.passes,
                                p.instructions, int(p.wide), p.expect))
            f.write(code)
            n += 1
    print(f"{n} programs")


CONTROL = (1 << 41) - 1  # below: not control bits


def sections(elf):
    """Name and bytes of each."""
    at, = struct.unpack_from("<Q", elf, 0x28)
    n, names = struct.unpack_from("<HH", elf, 0x3C)
    heads = [struct.unpack_from("<IIQQQQ", elf, at + 64 * i) for i in range(n)]
    for head in heads:
        name = heads[names][4] + head[0]
        yield elf[name:elf.index(b"\0", name)].decode(), elf[head[4]:head[4] + head[5]]


def forms(paths):
    """Each instruction of each program against those in cubins: but for operands and control bits,
    is there an equal one? Which opcodes set a barrier, which stalls and yields are there?"""
    words, barriers_of, waits = {}, {}, set()
    for path in paths:
        for name, code in sections(open(path, "rb").read()):
            if not name.startswith(".text."):
                continue
            for low, high in struct.iter_unpack("<QQ", code[:len(code) // 16 * 16]):
                words.setdefault(low & 0xFFF, set()).add((low, high & CONTROL))
                sets = barriers_of.setdefault(low & 0xFFF, set())
                sets.update(k for k, at in (("write", WRITE), ("read", READ))
                            if high >> at & 7 != 7)
                waits.add((high >> STALL & 15, high >> YIELD & 1))
    known, done, new = {}, {}, {}
    for p in programs():
        for i in p.listing():
            if i.label:
                continue
            opcode = i.low & 0xFFF
            key = i.low, i.high, i.fields
            if key in done:
                continue
            done[key] = True
            low_mask, high_mask = FIELDS["guard"]
            for field in i.fields.split():
                low_mask |= FIELDS[field][0]
                high_mask |= FIELDS[field][1]
            masks = opcode, low_mask, high_mask
            if masks not in known:
                known[masks] = {(low & ~low_mask, high & ~high_mask)
                                for low, high in words.get(opcode, ())}
            where = f"{p.bench} {p.variant}: {i.text}"
            if (i.low & ~low_mask, i.high & CONTROL & ~high_mask) not in known[masks]:
                new.setdefault(("form", opcode, i.text.split(" ")[0]), where)
            for kind, at in (("write", WRITE), ("read", READ)):
                if i.high >> at & 7 != 7 and kind not in barriers_of.get(opcode, ()):
                    new.setdefault((f"{kind} barrier", opcode, i.text.split(" ")[0]), where)
            wait = i.high >> STALL & 15, i.high >> YIELD & 1
            if wait not in waits:
                new.setdefault(("stall, yield", *wait), where)
    for what, where in new.items():
        print("never seen:", *what, "in", where)
    print(f"{len(done)} instructions, {len(new)} things never seen in {len(paths)} cubins")
    return bool(new)


def check(nvdisasm, path):
    """Each instruction of each program against its disassembly."""
    wrong = total = 0
    code, want, names = bytearray(), [], []
    seen = set()
    for p in programs():
        bytes_, texts = p.code()
        for k, text in enumerate(texts):
            # A branch's text holds its target: those are compared program by program.
            key = bytes_[16 * k:16 * k + 16]
            if key in seen:
                continue
            seen.add(key)
            at = len(code)
            if text.split(" ")[-1].startswith("0x") and ("BRA" in text or "BSSY" in text):
                head, target = text.rsplit(" ", 1)
                text = f"{head} {int(target, 16) - 16 * k + at:#x}"
            code += key
            want.append(text)
            names.append(f"{p.bench} {p.variant}")
    with open(path, "wb") as f:
        f.write(code)
    out = subprocess.run([nvdisasm, "-b", "SM90a", path], capture_output=True, text=True)
    got = [line.split("*/", 1)[1].strip(" ;\t") for line in out.stdout.splitlines()
           if line.lstrip().startswith("/*")]
    got = [" ".join(g.split()) for g in got]
    for k, text in enumerate(want):
        total += 1
        g = got[k] if k < len(got) else "nothing"
        g = g.replace("`(", "").replace(")", "") if "BRA" in g or "BSSY" in g else g
        if g != text:
            # A target before this file's start or past its end cannot be shown as an address.
            if ("BRA" in text or "BSSY" in text) and g.split(" 0x")[0].split(" -")[0] == \
                    text.rsplit(" ", 1)[0]:
                continue
            wrong += 1
            if wrong < 20:
                print(f"{names[k]}: meant {text}, encoded {g}")
    print(f"{total} instructions, {wrong} wrong")
    return wrong or len(got) < len(want)


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        sys.exit(1 if check(sys.argv[2], sys.argv[3]) else 0)
    if sys.argv[1] == "--forms":
        sys.exit(1 if forms(sys.argv[2:]) else 0)
    pack(sys.argv[1])
