"""Against finite differences: each v and each score is moved a little both ways, and the loss do . o is computed again."""
from math import exp, log

STEP = 1e-5
CASES = [
    ("a row of p = 1/4 and 3/4, v = 3 and 8", [log(0.25), log(0.75)], [[3.0], [8.0]], [1.0]),
    ("the row of the text", [log(0.25), log(0.75)], [[4.0], [8.0]], [1.0]),
    ("two equal keys", [1.0, 1.0], [[1.0, 2.0], [1.0, 2.0]], [3.0, -1.0]),
    ("three keys", [0.5, -1.0, 2.0], [[1.0, 0.0], [0.5, -2.0], [3.0, 1.0]], [0.7, -0.4]),
    ("a key that is almost masked", [0.0, -40.0, 1.0], [[1.0, 2.0], [5.0, 5.0], [-1.0, 0.5]], [1.0, 2.0]),
]


def forward(s, v):
    top = max(s)
    e = [exp(x - top) for x in s]
    p = [x / sum(e) for x in e]
    return p, [sum(pj * vj[c] for pj, vj in zip(p, v)) for c in range(len(v[0]))]


def loss(s, v, do):
    return sum(x * y for x, y in zip(do, forward(s, v)[1]))


def moved(values, at, by):
    return [x + by * (i == at) for i, x in enumerate(values)]


def differences(s, v, do):
    """(dv, ds), measured."""
    ds = [(loss(moved(s, j, STEP), v, do) - loss(moved(s, j, -STEP), v, do)) / (2 * STEP) for j in range(len(s))]
    dv = [[(loss(s, v[:j] + [moved(v[j], c, STEP)] + v[j + 1:], do) - loss(s, v[:j] + [moved(v[j], c, -STEP)] + v[j + 1:], do)) / (2 * STEP)
           for c in range(len(v[0]))] for j in range(len(v))]
    return dv, ds


def check(hole):
    for name, s, v, do in CASES:
        p, o = forward(s, v)
        dv, ds = differences(s, v, do)
        got = hole.backward(p, v, o, do)
        if not isinstance(got, tuple) or len(got) != 2 or len(got[0]) != len(v) or len(got[1]) != len(s):
            yield f"{name} gave {got}", "return dv, a list of as many lists as there are keys, and ds, a list of as many numbers"
        for j, (mine, measured) in enumerate(zip(got[0], dv)):
            if any(abs(a - b) > 1e-6 for a, b in zip(mine, measured)) or len(mine) != len(measured):
                yield f"{name}: dv_{j} is {[round(x, 4) for x in mine]}; moving v_{j} a little gives {[round(x, 4) for x in measured]}", "o contains p_j v_j: by how much does the loss grow if an element of v_j does?"
        for j, (mine, measured) in enumerate(zip(got[1], ds)):
            if not abs(mine - measured) <= 1e-6:
                yield f"{name}: ds_{j} is {mine:.4f}; moving s_{j} a little gives {measured:.4f}", why(mine, p, v, do, j)


def why(mine, p, v, do, j):
    dp = [sum(x * y for x, y in zip(do, vk)) for vk in v]
    if abs(mine - p[j] * dp[j]) < 1e-9:
        return "if s_j grows, all other p shrink: the part of the sum with k other than j is missing"
    if abs(mine + p[j] * (dp[j] - sum(x * y for x, y in zip(p, dp)))) < 1e-9:
        return "the size is right, and the sign is not: of dp_j and D, which is subtracted from which?"
    if abs(mine - dp[j] * p[j] * (1 - p[j])) < 1e-9:
        return "only the case k = j of the Jacobian is there: sum over all k, and D comes out"
    return "the sum over k is dp_j p_j (from the 1 of the case k = j), less p_j times the sum of all p_k dp_k"


def key(hole):
    dv, ds = hole.backward([0.2, 0.3, 0.5], [[1, 2], [3, 4], [5, 7]], [3.6, 5.1], [2, -1])
    return [round(float(x), 9) for x in [*dv[0], *dv[2], *ds]]
