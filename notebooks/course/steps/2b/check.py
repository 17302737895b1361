"""Q and K of small integers, their padding NaN. What else the wrong address or layout would have read gives the hint."""
from cuda import f16, hint_of, integers, out, parts

N, LD, S_LD, ROWS = range(16), 40, 24, 32
NAN = float("nan")


def padded(values):
    return [values[n] if n % LD < 32 else NAN for n in range(ROWS * LD)]


Q, K = padded(integers(ROWS * LD, 1)), padded(integers(ROWS * LD, 2))


def block(m, p, down, right):
    """16 x 16 elements from p on; how far to the next row and to the next column."""
    return [[m[min(p + i * down + j * right, len(m) - 1)] for j in N] for i in N]


def scores(q, k):
    return [sum(q[i][x] * k[j][x] for x in N) for i in N for j in N]


def seen_in(s):
    return [x for i in N for x in s[S_LD * i:S_LD * i + 16]]


def check(hole):
    for q_row, k_row, d0 in [(0, 0, 0), (16, 0, 16), (0, 16, 16)]:
        q, k = q_row * LD + d0, k_row * LD + d0
        wanted = scores(block(Q, q, LD, 1), block(K, k, LD, 1))
        instead = [(scores(block(Q, q, LD, 1), block(K, k, 1, LD)), "this is Q K, not Q K^T: which layout makes K's rows the columns of k_frag?"),
                   (scores(block(Q, q, 16, 1), block(K, k, LD, 1)), "Q's rows lie LD elements apart, not 16: a block keeps the leading dimension of its matrix"),
                   (scores(block(Q, q, LD, 1), block(K, k, 16, 1)), "K's rows lie LD elements apart, not 16: a block keeps the leading dimension of its matrix"),
                   (scores(block(Q, 0, LD, 1), block(K, k, LD, 1)), "this is made of the first block of Q: its begin is q_row rows further, each LD elements, and d0 columns"),
                   (scores(block(Q, q, LD, 1), block(K, 0, LD, 1)), "this is made of the first block of K: its begin is k_row rows further, each LD elements, and d0 columns"),
                   (scores(block(Q, q_row * 32 + d0, LD, 1), block(K, k_row * 32 + d0, LD, 1)), "a row further is LD elements further, also at the begin of a block"),
                   (scores(block(Q, q, 32, 1), block(K, k, 32, 1)), "rows lie LD elements apart, not 32: padding counts")]
        ran = hole.run("scores", f16(ROWS, LD, Q), f16(ROWS, LD, K), out("f32", 16, S_LD), q_row, k_row, d0)
        if ran.reports:
            yield ran.reports[0], hint_of(ran.reports[0])
        got = seen_in(ran.outs[0])
        seen = parts(f"for q_row {q_row}, k_row {k_row}, d0 {d0}: S", got, wanted, 16)
        if seen and not parts("S", ran.outs[0][:256], wanted, 16):
            yield seen, "s is stored with rows 16 apart: its rows lie S_LD elements apart"
        if seen:
            nan = any(x != x for x in got)
            yield seen, next((hint for other, hint in instead if not parts("S", got, other, 16)),
                             "nan is what the padding holds, or an accumulator that had no first value" if nan else
                             "where does each block begin, how far apart are its rows, and which of K's directions becomes a column?")


def key(hole):
    return [seen_in(hole.run("scores", f16(ROWS, LD, Q), f16(ROWS, LD, K), out("f32", 16, S_LD), *at).outs[0])
            for at in [(16, 16, 0), (16, 0, 16)]]
