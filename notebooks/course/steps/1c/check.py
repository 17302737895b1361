"""Pictures of small masks, as in the text, row by row."""
CASES = [
    ("a square mask, top-left", 3, 3, False, "x.. xx. xxx", "query i sees the keys 0 to i, itself included"),
    ("a square mask, bottom-right", 3, 3, True, "x.. xx. xxx", "a square mask is the same in both alignments"),
    ("2 queries, 4 keys, top-left", 2, 4, False, "x... xx..", "top-left does not look at the lengths"),
    ("2 queries, 4 keys, bottom-right", 2, 4, True, "xxx. xxxx", "the last query sees the last key: move i by seqlen_k - seqlen_q"),
    ("4 queries, 2 keys, bottom-right", 4, 2, True, ".. .. x. xx", "with more queries than keys the first ones see nothing: the difference is negative, and must stay so"),
]


def picture(hole, sq, sk, br):
    return " ".join("".join("x" if hole.seen(i, j, sq, sk, br) else "." for j in range(sk)) for i in range(sq))


def check(hole):
    for name, sq, sk, br, wanted, hint in CASES:
        got = picture(hole, sq, sk, br)
        if got != wanted:
            rows = "".join(f"\n    q{i}  {mine:9} {right}" for i, (mine, right) in enumerate(zip(got.split(), wanted.split())))
            yield f"{name} gave the mask on the left, not that on the right; x is seen{rows}", hint


def key(hole):
    return [picture(hole, sq, sk, br) for sq in (1, 5) for sk in (1, 3, 7) for br in (False, True)]
