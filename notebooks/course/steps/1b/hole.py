"""Step 1b: online softmax, one row."""
from math import exp, inf


def tile(m, l, o, scores, values):
    """(m, l, o) after some more scores of the row and their values. At first m is -inf, l and o are 0."""
    ### BEGIN SOLUTION: the new maximum, what the old sums are scaled by, the new sums
    m_new = max(m, max(scores))
    if m_new == -inf:
        return m, l, o
    alpha = exp(m - m_new)
    p = [exp(s - m_new) for s in scores]
    l = l * alpha + sum(p)
    o = o * alpha + sum(x * v for x, v in zip(p, values))
    return m_new, l, o
    ### END SOLUTION


def attention(tiles):
    """The row's output, of [(scores, values)]; 0 if every score is -inf."""
    m, l, o = -inf, 0.0, 0.0
    for scores, values in tiles:
        m, l, o = tile(m, l, o, scores, values)
    return o / l if l else 0.0


ANSWER = None  # to the question: a number
