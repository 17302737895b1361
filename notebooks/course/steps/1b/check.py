"""Against softmax of the whole row at once."""
from math import exp, inf


def whole(tiles):
    scores, values = [s for t in tiles for s in t[0]], [v for t in tiles for v in t[1]]
    top = max(scores)
    p = [exp(s - top) for s in scores]
    return sum(x * v for x, v in zip(p, values)) / sum(p)


CASES = [
    ("one tile", [([1, 3], [10, 20])], "m starts at -inf: exp(-inf - m) is 0, and the sums are those of the tile alone"),
    ("a second tile with a larger score", [([1, 3], [10, 20]), ([2, 5], [30, 40])],
     "both old sums, l and o, were made with the old maximum: scale both by exp(m_old - m_new)"),
    ("a second tile with smaller scores only", [([5, 3], [10, 20]), ([2, 1], [30, 40])],
     "the maximum stays that of the whole row so far, and exponentials of the tile are taken with it"),
    ("a second tile whose scores are smaller by 2000", [([1000, 999], [10, 20]), ([-1000, -1001], [30, 40])],
     "the maximum never falls: the new one is that of the old one and of the tile"),
    ("scores of 1000 and more", [([1000, 1001], [1, 2]), ([1002, 999], [3, 4])], "every exponential must have the maximum subtracted, or it overflows"),
    ("scores of -1000 and less", [([-1001, -1000], [1, 2]), ([-1002, -999], [3, 4])],
     "the maximum of negative scores is negative, and so it must begin at -inf, not at 0: exp(-1000) is 0"),
    ("a tile of which one score is masked", [([1, -inf], [10, 20]), ([-inf, 3], [30, 40])], "exp(-inf) is 0: a masked score adds nothing, but the others of its tile do"),
    ("a masked tile last", [([0.5, 1], [3, 4]), ([-inf, -inf], [1, 2])], "a masked tile changes nothing: m, l and o stay what they were"),
    ("a masked tile first", [([-inf, -inf], [1, 2]), ([0.5, 1], [3, 4])], "where the maximum is still -inf, -inf - -inf is NaN, in the factor and in exp(s - m): leave m, l and o as they are"),
]


FIRST = 3, exp(-2) + exp(0), exp(-2) * 10 + exp(0) * 20  # m, l and o of the text's tile 1


def check(hole):
    got = hole.tile(-inf, 0.0, 0.0, [1, 3], [10, 20])
    if isinstance(got, (tuple, list)) and len(got) == 3 and any(x != x for x in got):
        yield (f"tile 1 of the text gave {got}, not (3, {FIRST[1]:.6g}, {FIRST[2]:.6g})",
               "NaN comes of inf * 0: at first m is -inf, and the factor for the old sums is exp(m_old - m_new), exp(-inf) = 0")
    if not isinstance(got, (tuple, list)) or len(got) != 3 or any(not abs(a - b) <= 1e-9 * b for a, b in zip(got, FIRST)):
        yield (f"tile 1 of the text gave {got}, not (3, {FIRST[1]:.6g}, {FIRST[2]:.6g})",
               "return m, l and o: l is the sum of exp(s - m) and o the sum of exp(s - m) times the value, with the tile's maximum m")
    for name, tiles, hint in CASES:
        try:
            got = hole.attention(tiles)
        except (OverflowError, ZeroDivisionError) as error:
            got = type(error).__name__
        if not isinstance(got, float) or not abs(got - whole(tiles)) <= 1e-9 * abs(whole(tiles)):
            yield f"{name} gave {got}, not {whole(tiles):.6g}", hint


def key(hole):
    return [round(x, 9) for x in hole.tile(*hole.tile(-float("inf"), 0.0, 0.0, [0.25, 1.5], [1, 2]), [2.5, -1], [3, 5])]
