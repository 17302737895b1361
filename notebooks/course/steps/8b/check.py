"""Against finite differences in double: each element of Q, K and V is moved a little both ways, and the loss, the sum of dO * O, is computed again."""
import types
from math import exp, log, sin

STEP = 1e-5


def matrix(rows, columns, seed):
    return [[sin(1 + seed + 1.7 * r + 2.9 * c) for c in range(columns)] for r in range(rows)]


def dot(a, b):
    return sum(s * t for s, t in zip(a, b))


def forward(x):
    """(O, LSE, P)"""
    o, lse, p = [], [], []
    for q in x.q:
        e = [exp(x.scale * dot(q, k)) for k in x.k]
        p.append([v / sum(e) for v in e])
        o.append([dot(p[-1], column) for column in zip(*x.v)])
        lse.append(log(sum(e)))
    return o, lse, p


def problem(queries, keys, dim, scale):
    x = types.SimpleNamespace(q=matrix(queries, dim, 0), k=matrix(keys, dim, 5), v=matrix(keys, dim, 11), do=matrix(queries, dim, 17), scale=scale)
    x.o, x.lse, x.P = forward(x)
    x.D = [dot(a, b) for a, b in zip(x.do, x.o)]
    return x


def loss(x):
    return sum(dot(a, b) for a, b in zip(x.do, forward(x)[0]))


def of_row(x, i, j, s):
    """Row i's part of the loss, if S[i][j] is s."""
    e = [exp(s if n == j else x.scale * dot(x.q[i], k)) for n, k in enumerate(x.k)]
    return dot(x.do[i], [dot(e, column) / sum(e) for column in zip(*x.v)])


def measured(x, name, r):
    """Row r of dQ, dK or dV by differences."""
    row, found = getattr(x, name)[r], []
    for c, value in enumerate(row):
        row[c] = value + STEP
        more = loss(x)
        row[c] = value - STEP
        found.append((more - loss(x)) / (2 * STEP))
        row[c] = value
    return found


HINTS = {"dv": "down a column: the sum over all queries i of P[i][j] dO[i], for each element of the row",
         "dk": "down a column: the sum over all queries i of dS[i][j] Q[i], and S has the scale in it",
         "dq": "along a row: the sum over all keys j of dS[i][j] K[j], and S has the scale in it"}


def check(hole):
    for queries, keys, dim, scale in ((1, 1, 1, 1.0), (1, 3, 2, 1.0), (3, 4, 2, 0.5)):
        x = problem(queries, keys, dim, scale)
        name = f"{queries} x {keys}, head_dim {dim}, scale {scale}"
        for i in range(queries):
            for j in range(keys):
                if not abs(hole.p(x, i, j) - x.P[i][j]) < 1e-9:
                    yield f"{name}: P[{i}][{j}] is {hole.p(x, i, j):.6g}, not {x.P[i][j]:.6g}", "exp of scale * q . k, less LSE of the row: then the row's sum is 1"
        for i in range(queries):
            total = sum(hole.ds(x, i, j) for j in range(keys))
            if abs(total) > 1e-9:
                yield f"{name}: row {i} of dS adds up to {total:.6g}, not 0", "compare with step 8a: D[i] is the D of this row"
        for i in range(queries):
            for j in range(keys):
                moved = x.scale * dot(x.q[i], x.k[j])
                slope = (of_row(x, i, j, moved + STEP) - of_row(x, i, j, moved - STEP)) / (2 * STEP)
                if not abs(hole.ds(x, i, j) - slope) < 1e-6:
                    yield (f"{name}: dS[{i}][{j}] is {hole.ds(x, i, j):.6g}; moving S[{i}][{j}] a little gives {slope:.6g}",
                           "S is scale * q . k: the scale belongs to dQ and dK, not to dS")
        for function, rows in (("dv", keys), ("dk", keys), ("dq", queries)):
            for r in range(rows):
                got, wanted = getattr(hole, function)(x, r), measured(x, function[1], r)
                if not isinstance(got, list) or len(got) != dim or any(not abs(a - b) < 1e-6 for a, b in zip(got, wanted)):
                    shown = [round(a, 5) for a in got] if isinstance(got, list) else got
                    yield f"{name}: {function}({r}) is {shown}; differences give {[round(a, 5) for a in wanted]}", HINTS[function]


def key(hole):
    x = problem(2, 3, 2, 0.7)
    return [[round(float(a), 9) for a in row] for row in [hole.dv(x, 1), hole.dk(x, 2), hole.dq(x, 0)]]
