"""Q and K of small integers. Which squares are wrong, and what stands there instead, gives the hint."""
from cuda import f16, hint_of, integers, out, parts, transposed

N_KEYS, D, LD, S_LD = 48, 64, 72, 52
ROWS, KEYS = range(16), range(N_KEYS)
NAN = float("nan")
Q, K = ([x if n % LD < D else NAN for n, x in enumerate(integers(rows * LD, rows))] for rows in (16, N_KEYS))


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


def squares(hole, q):
    ran = hole.run("scores", f16(16, LD, q), f16(N_KEYS, LD, K), out("f32", 16, S_LD))
    return ran, [x for i in ROWS for x in ran.outs[0][S_LD * i:S_LD * i + N_KEYS]]


def column(s, n):
    """The square of keys 16 n to 16 n + 15, of N_KEYS."""
    return [x for i in ROWS for x in s[N_KEYS * i + 16 * n:N_KEYS * i + 16 * n + 16]]


def check(hole):
    ran, got = squares(hole, Q)
    if ran.reports:
        yield ran.reports[0], hint_of(ran.reports[0])
    seen = parts("S", got, WANTED, N_KEYS)
    if seen:
        first = not parts("S", column(got, 0), column(WANTED, 0), 16)
        if not parts("S", column(got, 0), column(WANTED, 2), 16):
            yield seen, "the first square holds what belongs to the last one: where does the store of each square begin?"
        if all(not parts("S", column(got, n), transposed(column(WANTED, n), 16), 16) for n in range(3)):
            yield seen, "each square is right, but its rows and columns are exchanged: with which layout is it stored?"
        yield seen, next((hint for other, hint in INSTEAD if not parts("S", got, other, N_KEYS)),
                         "the first square is right and others are not: what of the three addresses depends on the square?" if first else
                         "look at the first square alone: four terms, each with its own block of Q and of K, and an accumulator that begins at 0")


def key(hole):
    return squares(hole, [2 - x for x in Q])[1]
