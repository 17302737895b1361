"""Step 7b: attention over parts of the keys, combined."""
from math import exp, inf, log


def combine(parts):
    """(o, lse) of all keys, from [(o, lse)] of their parts; o: a list of numbers."""
    ### BEGIN SOLUTION: the largest lse, the weights, their sum
    top = max(lse for _, lse in parts)
    if top == -inf:
        return [0.0] * len(parts[0][0]), -inf
    weights = [exp(lse - top) for _, lse in parts]
    total = sum(weights)
    o = [sum(w * part[i] for w, (part, _) in zip(weights, parts)) / total for i in range(len(parts[0][0]))]
    return o, top + log(total)
    ### END SOLUTION


ANSWER = None  # to the question: a number
