"""Scores by lane; a row is what four neighbouring lanes hold for one r. Small integers, so that what was missed shows."""
from cuda import f32, hint_of, integers, out

LANES = range(32)


def own(values, lane, r):
    """The four values of row r that a lane holds."""
    return [values[8 * lane + 4 * n + 2 * r + i] for n in range(2) for i in range(2)]


def row(values, lane, r):
    return [x for other in range(lane // 4 * 4, lane // 4 * 4 + 4) for x in own(values, other, r)]


def near(a, b):
    return abs(a - b) <= 1e-5 * max(1, abs(b))


def check(hole):
    for base in (0, 3000, -3000):
        s = [float(x + base) for x in integers(256, 7 + abs(base))]
        ran = hole.run("softmax", f32(32, 8, s), out("f32", 32, 8), out("f32", 32, 2), out("f32", 32, 2))
        if ran.reports:
            yield ran.reports[0], hint_of(ran.reports[0])
        p, m, l = ran.outs
        for lane in LANES:
            for r in range(2):
                mine, whole, got = own(s, lane, r), row(s, lane, r), m[2 * lane + r]
                if got != max(whole):
                    pair = [x for other in (lane, lane ^ 1) for x in own(s, other, r)]
                    yield (f"m of lane {lane}, r = {r} is {got:g}, not {max(whole):g}",
                           "all scores of this row are negative, and a maximum that starts at 0 is larger than they are: start it at -INFINITY"
                           if got == 0 and max(whole) < 0 else
                           "this is the largest score of both rows of the lanes: row r has indices 2 * r and 2 * r + 1 of each block"
                           if got == max(whole + row(s, lane, 1 - r)) else
                           "this is the largest of the lane's own four scores: the other three lanes of the row have more" if got == max(mine) else
                           "this is the largest of two lanes: the row has four, so there is one more shuffle" if got == max(pair) else
                           "first the lane's own four scores, of two blocks; then the maximum with lane xor 1; then with lane xor 2")
        for lane in LANES:
            for r in range(2):
                powers = [2 ** (x - max(row(s, lane, r))) for x in own(s, lane, r)]
                for n, (got, wanted) in enumerate(zip(own(p, lane, r), powers)):
                    if not near(got, wanted):
                        yield (f"p_frag[{n // 2}][{2 * r + n % 2}] of lane {lane} is {got:g}, not {wanted:g}",
                               "p is 2^(s - m), with the m of the whole row, at the index of its s")
                whole, got = sum(2 ** (x - max(row(s, lane, r))) for x in row(s, lane, r)), l[2 * lane + r]
                if not near(got, whole):
                    yield (f"l of lane {lane}, r = {r} is {got:g}, not {whole:g}",
                           "this is the sum of the lane's own four powers: the other three lanes of the row have more" if near(got, sum(powers)) else
                           "l is the sum of all 16 powers of the row: own ones first, then two shuffles as for the maximum, but with +")


def key(hole):
    s = [float(x) for x in integers(256, 11)]
    ran = hole.run("softmax", f32(32, 8, s), out("f32", 32, 8), out("f32", 32, 2), out("f32", 32, 2))
    return [[round(x, 4) for x in values] for values in ran.outs]
