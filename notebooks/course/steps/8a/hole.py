"""Step 8a: the backward of one row."""


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def backward(p, v, o, do):
    """(dv, ds) of a row. p: [keys]; v and dv: [keys][head_dim]; o and do: [head_dim]; ds: [keys]"""
    ### BEGIN SOLUTION: dv of each key; D of the row; dp and ds of each key
    dv = [[pj * x for x in do] for pj in p]
    row_d = dot(do, o)
    ds = [pj * (dot(do, vj) - row_d) for pj, vj in zip(p, v)]
    return dv, ds
    ### END SOLUTION


ANSWER = None  # to the question: a number
