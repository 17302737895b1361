"""Against attention over all keys at once."""
from math import exp, inf, log

CASES = [
    ("one part", [([1, 3], [10, 20])], "a part alone is the whole; what is subtracted before exp is added again to the logarithm"),
    ("two parts of the same keys", [([1, 3], [10, 20]), ([1, 3], [10, 20])], "o stays what it was; of twice as many keys lse is larger by log 2"),
    ("two parts", [([1, 3], [10, 20]), ([2], [40])], "the weight of a part is exp(lse), and the sum of the weights divides"),
    ("scores of 1000 and more", [([1000, 1001], [1, 2]), ([1002], [3])], "subtract the largest lse before any exp, and add it to the logarithm at the end"),
    ("scores of -1000 and less", [([-1000], [1]), ([-1002, -1001], [3, 4])], "subtract the largest lse before any exp: exp(-1000) is 0, and 0 / 0 is no number"),
    ("a masked part", [([-inf, -inf], [5, 6]), ([1, 2], [3, 4])], "its lse is -inf and its weight 0"),
    ("masked parts only", [([-inf], [5]), ([-inf, -inf], [6, 7])], "-inf - -inf is NaN: if the largest lse is -inf, o is 0 and lse -inf"),
]


def whole(scores, values):
    """([o, 2 o], lse)"""
    top = max(scores)
    if top == -inf:
        return [0.0, 0.0], -inf
    p = [exp(s - top) for s in scores]
    o = sum(x * v for x, v in zip(p, values)) / sum(p)
    return [o, 2 * o], top + log(sum(p))


def near(a, b):
    return a == b or isinstance(a, (int, float)) and abs(a - b) <= 1e-9 * max(1, abs(b))


def text(o, lse):
    return f"o = [{', '.join(f'{x:.6g}' if isinstance(x, (int, float)) else str(x) for x in o)}], lse = {lse:.6g}"


def check(hole):
    for name, parts, hint in CASES:
        wanted = whole([s for part in parts for s in part[0]], [v for part in parts for v in part[1]])
        try:
            got = hole.combine([whole(*part) for part in parts])
        except (OverflowError, ZeroDivisionError, ValueError) as error:
            yield f"{name} gave {type(error).__name__} ({error}), not {text(*wanted)}", hint
            continue
        if not isinstance(got, tuple) or len(got) != 2 or not isinstance(got[0], list):
            yield f"{name} gave {got}", "return a list and a number: o, lse"
        if len(got[0]) != 2 or not all(map(near, [*got[0], got[1]], [*wanted[0], wanted[1]])):
            yield f"{name} gave {text(*got)}, not {text(*wanted)}", hint


def key(hole):
    o, lse = hole.combine([([1.5, -2.0, 4.0], 3.25), ([0.5, 7.0, -1.0], 2.0), ([9.0, 9.0, 9.0], -float("inf"))])
    return [round(float(x), 9) for x in [*o, lse]]
