"""Cells of the drawing; then each of 64 x 64 elements has one owner."""
CELLS = [
    ("T0, i = 0", 0, 0, 0, 0, "the first cell of the drawing"),
    ("T0, i = 1", 0, 1, 0, 1, "i = 0, 1 are neighbouring columns of one row"),
    ("T0, i = 2", 0, 2, 8, 0, "i = 2, 3 are eight rows below, in the same columns as 0, 1: a block of eight columns has four elements of a lane"),
    ("T0, i = 4", 0, 4, 0, 8, "i = 4, 5 are back in the first row, eight columns on"),
    ("T1, i = 0", 1, 0, 0, 2, "four neighbouring lanes share a row, two columns each"),
    ("T4, i = 0", 4, 0, 1, 0, "four lanes share a row: lane 4 begins the next one"),
    ("T32, i = 0", 32, 0, 16, 0, "each of four warps has 16 rows"),
    ("T127, i = 31", 127, 31, 63, 63, "the last element of the last thread"),
    ("T127, i = 127", 127, 127, 63, 255, "the last element of the last thread, for N = 256: columns go on beyond 63"),
]


def check(hole):
    for name, tid, i, row, column, hint in CELLS:
        got = hole.row(tid, i), hole.column(tid, i)
        if got != (row, column):
            yield f"{name} gave row {got[0]}, column {got[1]}, not row {row}, column {column}", hint
    owned = {(hole.row(t, i), hole.column(t, i)) for t in range(128) for i in range(32)}
    if len(owned) != 64 * 64:
        yield f"{64 * 64 - len(owned)} of 4096 elements have no owner", "two threads have the same element somewhere: compare more cells with the drawing"


def key(hole):
    return [(hole.row(t, i), hole.column(t, i)) for t in range(0, 128, 7) for i in range(0, 128, 5)]
