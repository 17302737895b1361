"""Rows, columns and keys one after the other, with matrices in which only the one that is asked for can go wrong; then any numbers."""
import re

from cuda import f16, hint_of, integers, out, parts

N16, N8 = range(16), range(8)


def times(q, k):
    return [sum(q[16 * i + d] * k[16 * j + d] for d in N16) for i in N16 for j in N8]


ONES = [1] * 256
CASES = [("with Q[i][d] = i and K = 1: S", [i for i in N16 for _ in N16], ONES[:128],
          "each row of S must be 16 times its number: the row of a[i] and that of c[i]. Which two of a[0] to a[3] are the lower rows, and which two of c[0] to c[3]?"),
         ("with Q = 1 and K[j][d] = j: S", ONES, [j for j in N8 for _ in N16],
          "each column of S must be 16 times its number: the key of b[i], which four lanes share, and the column of c[i]"),
         ("with Q[i][d] = d and K = 1 for d = 0 to 7: S", [d for _ in N16 for d in N16], [int(d < 8) for _ in N8 for d in N16],
          "a[0] and a[1] are d 0 to 7, a[2] and a[3] the rest; b[0] is d 0 to 7, b[1] the rest"),
         ("with Q[i][d] = d and K[j][j] = 1 alone: S", [d for _ in N16 for d in N16], [int(d == j) for j in N8 for d in N16],
          "S[i][j] must be j: do a[i] and b[i] of one lane have the same d?"),
         ("with any numbers S", integers(256, 3), integers(128, 4), "one of ten registers is not what the picture says: compare them one by one")]
REPORTS = [("global access out of bounds.*\\(k: ", "k has 8 rows, the keys, and 16 columns: b[0] and b[1] are of one key. In which direction do they differ?"),
           ("misaligned access", "pair loads two neighbours at once, so its column must be even: is it lane % 4 * 2, and does row come before col?")]


def check(hole):
    for name, q, k, hint in CASES:
        ran = hole.run("scores", f16(16, 16, q), f16(8, 16, k), out("f32", 16, 8))
        if ran.reports:
            yield ran.reports[0], next((hint for pattern, hint in REPORTS if re.match(pattern, ran.reports[0], re.S)), hint_of(ran.reports[0]))
        seen = parts(name, ran.outs[0], times(q, k), 8)
        if seen:
            yield seen, "nothing was multiplied, or nothing stored: the product is mma_m16n8k16(c, a, b[0], b[1])" if not any(ran.outs[0]) else hint


def key(hole):
    return hole.run("scores", f16(16, 16, integers(256, 5)), f16(8, 16, integers(128, 6)), out("f32", 16, 8)).outs
