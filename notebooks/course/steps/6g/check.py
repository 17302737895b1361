"""O of two tiles, the second of 36 rows; the emulator says whether a copy and a store meet, and what lies behind the end must stay."""
import re

from cuda import BEHIND_THE_BARRIER, f32, hint_of, integers, out, parts

ROWS, DIM = 100, 64
L = [1, 2, 4, 8]
HINTS = [
    (r"missing fence.proxy.async", "the stores took the generic proxy, and TMA reads by the async one: which fence does each thread need before the barrier?"),
    (r"race.*which warp \d+ (wrote|is storing|stores)", "which barrier says that all threads have written?"),
    (r"race.*which the TMA store of warp \d+ wrote", "two copies meet in o: one thread asks for each tile, and the tile goes to o + q0 * DIM"),
    (r"race.*TMA store", "TMA may still read the tile before: who can wait for it, and how do the other threads learn of it?"),
    (r"global access out of bounds", "the last tile has fewer rows: how many bytes are left?"),
    (r"operand in flight", "the last line waits for groups: is each copy in one?"),
    (r"race", "two barriers a tile: one says that the place is free, one that the tile is written"),
]


def wanted(rows, sums):
    return [sums[r * DIM + c] / L[r % 4] for r in range(rows) for c in range(DIM)]


def ran(hole, rows, seed):
    sums = integers(rows * DIM, seed)
    return sums, hole.run("epilogue", f32(rows * DIM, sums), f32(rows, [L[r % 4] for r in range(rows)]), out("f16", rows, DIM), rows, threads=128)


def check(hole):
    for rows in (64, ROWS):
        sums, said = ran(hole, rows, rows)
        if said.reports:
            yield f"{rows} rows: {said.reports[0]}", next((hint for pattern, hint in HINTS if re.match(pattern, said.reports[0], re.S)), hint_of(said.reports[0]))
        seen = parts("o", said.outs[0], wanted(rows, sums), DIM)
        if seen:
            yield f"{rows} rows: {seen}", "tile n begins at row q0 of o; a store copies ROW_BYTES for each row that is left, at most ROWS of them"
    if not hole.fenced("cp.async.bulk.global"):
        yield BEHIND_THE_BARRIER


def key(hole):
    return [ran(hole, rows, seed)[1].outs for rows, seed in ((64, 3), (130, 5))]
