"""Rows, and what comes out of them if another number is rounded than P."""
from math import inf

ROUNDED = ["P", "nothing", "the scores", "the sum", "P before it is summed", "the products", "P, of a maximum that starts at 0"]
CASES = [("scores above 1000", [1000.2, 1000.9, 999.4], [1, 2, 4], [1.9707679714, 1.9707364477, 2.0493264429, 1.971875, 1.9707552527, 1.9707679714, 1.9707679714]),
         ("4096 equal scores", [0.25] * 4096, [1] * 4096, [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]),
         ("values that are no powers of two", [0.3, 1.1, -0.7], [3, 5, 11],
          [5.0573706335, 5.0576822708, 5.0571045333, 5.0585299456, 5.0577650083, 5.057521839, 5.0573706335]),
         ("scores below -8", [-8.3, -9.1, -10.7], [3, 5, 11],
          [4.0542754532, 4.0547740697, 4.0510249242, 4.0542961319, 4.0546175188, 4.0545132453, 4.053353343]),
         ("scores from -30 to 20", [-30.0, 20.0, 11.5], [1, 2, 4],
          [2.0004069415, 2.000406854, 2.0004069415, 2.000813961, 2.0004068977, 2.0004069415, 2.0004069415])]
HINTS = {"nothing": "nothing was rounded: half() of each p, where it meets v",
         "the scores": "the scores were rounded: half() of p, not of s, whose error would go through exp",
         "the sum": "the sum was kept in half, and each addition was rounded: only P is half",
         "P before it is summed": "the sum is that of rounded p: take p before rounding",
         "the products": "p * v was rounded: half() of p alone, before it meets v; a tensor core keeps the product whole",
         "P, of a maximum that starts at 0": "the maximum starts at 0, so of scores that are all negative it is not the largest: start it at -inf"}


def check(hole):
    for name, scores, values, outputs in CASES:
        try:
            got = hole.row(list(scores), list(values))
        except OverflowError:
            got = inf
        if not isinstance(got, float):
            yield f"{name} gave {got!r}", "end with return: one number"
        if not abs(got) < inf:
            yield f"{name} gave {got}, not {outputs[0]:.7f}", "exp of a large score is larger than any half: subtract the maximum first"
        if abs(got - outputs[0]) > 1e-8:
            where = next((where for where, other in zip(ROUNDED, outputs) if abs(got - other) < 1e-8), None)
            yield (f"{name} gave {got:.7f}, not {outputs[0]:.7f} (without rounding {outputs[1]:.7f})",
                   HINTS.get(where, "p is exp(s - m); its products with v are summed and divided by the sum of p; is half() around p alone?"))


def key(hole):
    return [round(hole.row([x * k / 7 for x in range(9)], [x * x % 5 for x in range(9)]), 9) for k in range(1, 9)]
