"""Tiles of small integers, in WGMMA's layout without a swizzle; what is not ordered, the emulator reports."""
import re

from cuda import BEHIND_THE_BARRIER, f16, hint_of, integers, out, parts, transposed

VALUES = integers(4096, 5)
TWICE = "how many barriers does a tile need? One before the product, and one before the next stores"
HINTS = [
    (r"missing fence.proxy.async", "the stores took the generic proxy, and WGMMA reads by the async one: which fence lies between?"),
    (r"wgmma misuse", "d was set to zero by ordinary instructions: which fence makes registers ready for WGMMA?"),
    (r"race", "a store of the next tile overtook a product. A warp puts its product into a group, waits for the group, and then waits for the other warps: is all of this there, in this order?"),
    (r"operand in flight", "a WGMMA runs on after it was issued: put it into a group, then wait until no group is under way"),
]


def wanted(values):
    """The sum of both products, [64][64]. Row r and column k of a tile: k / 8 * 512 + r * 8 + k % 8, of 1024 halves."""
    rows = [[[values[1024 * tile + k // 8 * 512 + r * 8 + k % 8] for k in range(16)] for r in range(64)] for tile in range(4)]
    return [sum(x * y for n in (0, 2) for x, y in zip(rows[n][i], rows[n + 1][j])) for i in range(64) for j in range(64)]


def matrix(sums):
    """d, [64][64], of what each thread has of it (step 5c)."""
    d = [0] * 4096
    for n, x in enumerate(sums):
        tid, i = divmod(n, 32)
        d[(tid // 32 * 16 + tid % 32 // 4 + i // 2 % 2 * 8) * 64 + i // 4 * 8 + tid % 4 * 2 + i % 2] = x
    return d


def check(hole):
    ran = hole.run("multiply", f16(4096, VALUES), out("f32", 128, 32), threads=128)
    barriers = int(ran.counters["barrier_instructions"])
    if ran.reports and ran.reports[0].startswith("race") and barriers < 12:
        yield ran.reports[0], f"each product reads all of B, and all threads store it: {TWICE}"
    if ran.reports:
        yield ran.reports[0], next((hint for pattern, hint in HINTS if re.match(pattern, ran.reports[0])), hint_of(ran.reports[0]))
    got, right = matrix(ran.outs[0]), wanted(VALUES)
    seen = parts("d", got, right, 64)
    if seen:
        yield seen.splitlines()[0], ("this is B A: the first operand of a product is the one whose rows are multiplied" if not parts("d", got, transposed(right, 64), 64) else
                                     "only the second product is there: the last argument says whether a product is added to d" if not parts("d", got, wanted([0] * 2048 + VALUES[2048:]), 64) else
                                     "each tile is multiplied once, and added to d")
    if not hole.fenced("wgmma.mma_async"):
        yield BEHIND_THE_BARRIER
    if barriers < 12:
        yield f"the four warps came to {barriers} barriers for two tiles", f"a warp that has waited knows of its own product, and all warps store the next tile: {TWICE}"
    if barriers > 16:
        yield f"the four warps came to {barriers} barriers for two tiles; 16 are enough", TWICE


def key(hole):
    return [hole.run("multiply", f16(4096, integers(4096, seed)), out("f32", 128, 32), threads=128).outs for seed in (6, 7)]
