"""Q and K of small integers. Which squares are wrong, and what stands there instead, gives the hint."""
from cuda import f16, hint_of, integers, out, parts

ROWS, KEYS, D, LD, S_LD = range(16), range(64), 64, 72, 72
NAN = float("nan")
Q, K = ([x if n % LD < D else NAN for n, x in enumerate(integers(rows * LD, rows))] for rows in (16, 64))


def scores(terms):
    """What row i and key j give, of [(d of Q, key, d of K)] from terms(i, j)."""
    return [sum(Q[LD * i + dq] * K[LD * key + dk] for dq, key, dk in terms(i, j)) for i in ROWS for j in KEYS]


def whole(j):
    return [(d, j, d) for d in range(D)]


WANTED = scores(lambda i, j: whole(j))
INSTEAD = [(scores(lambda i, j: [t for key in range(j % 16, j + 1, 16) for t in whole(key)]),
            "each square also has what the squares before it had: where does the accumulator become 0?"),
           (scores(lambda i, j: whole(j)[48:]), "only the last term of each sum is there: the accumulator becomes 0 once a square, not once a term"),
           (scores(lambda i, j: whole(j)[:16]), "only the first of the four terms is there: a square is a sum over all of head_dim"),
           (scores(lambda i, j: whole(j % 16)), "all squares are those of the first 16 keys: how many elements lie between the first key of a square and that of the next?"),
           (scores(lambda i, j: [(d, j, d % 16) for d in range(D)]), "each block of Q meets the first block of K: K's blocks go with d, too"),
           (scores(lambda i, j: [(d % 16, j, d) for d in range(D)]), "each block of K meets the first block of Q: which fragment of Q belongs to term d?"),
           (scores(lambda i, j: [(16 * b + e, j // 16 * 16 + e, 16 * b + j % 16) for b in range(4) for e in range(16)]),
            "each block of K is not transposed: which layout reads K's rows as columns?")]


def check(hole):
    ran = hole.run("scores", f16(16, LD, Q), f16(64, LD, K), out("f32", 16, S_LD))
    if ran.reports:
        yield ran.reports[0], hint_of(ran.reports[0])
    got = [x for i in ROWS for x in ran.outs[0][S_LD * i:S_LD * i + 64]]
    seen = parts("S", got, WANTED, 64)
    if seen:
        first = all(got[64 * i + j] == WANTED[64 * i + j] for i in ROWS for j in range(16))
        if not parts("S", [x for i in ROWS for x in got[64 * i:64 * i + 16]], [x for i in ROWS for x in WANTED[64 * i + 48:64 * i + 64]], 16):
            yield seen, "the first square holds what belongs to the last one: where does the store of each square begin?"
        yield seen, next((hint for other, hint in INSTEAD if not parts("S", got, other, 64)),
                         "the first square is right and others are not: what of the three addresses depends on the square?" if first else
                         "look at the first square alone: four terms, each with its own block of Q and of K, and an accumulator that begins at 0")


def key(hole):
    q = [2 - x for x in Q]
    return [hole.run("scores", f16(16, LD, q), f16(64, LD, K), out("f32", 16, S_LD)).outs[0][S_LD * i:S_LD * i + 64] for i in ROWS]
