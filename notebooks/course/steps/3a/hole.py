"""Step 3a: P in half."""
from math import exp, inf
from struct import pack, unpack


def half(x):
    """The nearest number that a half can hold."""
    try:
        return unpack("e", pack("e", x))[0]
    except OverflowError:
        return inf


def row(scores, values):
    """Softmax of the scores, times the values: a number."""
    ### BEGIN SOLUTION: the maximum, P, their products in which P is half, the sum
    m = max(scores)
    p = [exp(s - m) for s in scores]
    o = sum(half(x) * v for x, v in zip(p, values))
    return o / sum(p)
    ### END SOLUTION


ANSWER = None  # to the question: a number
