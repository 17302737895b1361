"""Step 8b: the backward of attention, scalar."""
from math import exp


def dot(a, b):
    return sum(s * t for s, t in zip(a, b))


### BEGIN SOLUTION: p(x, i, j), ds(x, i, j), dv(x, j), dk(x, j), dq(x, i); the last three return a row, a list
def p(x, i, j):
    return exp(x.scale * dot(x.q[i], x.k[j]) - x.lse[i])

def ds(x, i, j):
    return p(x, i, j) * (dot(x.do[i], x.v[j]) - x.D[i])

def dv(x, j):
    return [sum(p(x, i, j) * x.do[i][c] for i in range(len(x.q))) for c in range(len(x.v[j]))]

def dk(x, j):
    return [x.scale * sum(ds(x, i, j) * x.q[i][c] for i in range(len(x.q))) for c in range(len(x.k[j]))]

def dq(x, i):
    return [x.scale * sum(ds(x, i, j) * x.k[j][c] for j in range(len(x.k))) for c in range(len(x.q[i]))]
### END SOLUTION


ANSWER = None  # to the question: a number
