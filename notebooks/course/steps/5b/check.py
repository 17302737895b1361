"""Tiles of equal numbers, so that each sum is known whatever the layout; what is not ordered, the emulator reports."""
import re

from cuda import f16, hint_of, out

TWICE = "how many barriers does a tile need? One before the product, and one before the next stores"
HINTS = [
    (r"missing fence.proxy.async", "the stores took the generic proxy, and WGMMA reads by the async one: which fence lies between?"),
    (r"wgmma misuse", "d was set to zero by ordinary instructions: which fence makes registers ready for WGMMA?"),
    (r"race", "a store of the next tile overtook a product. A warp puts its product into a group, waits for the group, and then waits for the other warps: is all of this there, in this order?"),
    (r"operand in flight", "a WGMMA runs on after it was issued: put it into a group, then wait until no group is under way"),
]


def tiles(a0, b0, a1, b1):
    return f16(4096, [x for x in (a0, b0, a1, b1) for _ in range(1024)])


def check(hole):
    ran = hole.run("multiply", tiles(1, 2, 3, 0.5), out("f32", 128, 32), threads=128)
    barriers = int(ran.counters["barrier_instructions"])
    if ran.reports and ran.reports[0].startswith("race") and barriers < 12:
        yield ran.reports[0], f"each product reads all of B, and all threads store it: {TWICE}"
    if ran.reports:
        yield ran.reports[0], next((hint for pattern, hint in HINTS if re.match(pattern, ran.reports[0])), hint_of(ran.reports[0]))
    wrong = [x for x in ran.outs[0] if x != 56]
    if wrong:
        yield f"d is {wrong[0]:g} in {len(wrong)} of 4096 elements, not 16 * (1 * 2 + 3 * 0.5) = 56", "each tile is multiplied once, and added to d"
    if barriers > 16:
        yield f"the four warps came to {barriers} barriers for two tiles; 16 are enough", TWICE


def key(hole):
    return [hole.run("multiply", tiles(*four), out("f32", 128, 32), threads=128).outs for four in ((2, 3, 5, 7), (1, -1, 4, 0.25))]
