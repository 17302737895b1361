"""Step 5d: how many WGMMAs in flight. latency: cycles from issue to result; busy: cycles for which one occupies the tensor cores."""
from math import ceil


def least(latency, busy):
    """The least number of WGMMAs in flight that keeps the tensor cores busy."""
    ### BEGIN SOLUTION: while one is on its way, the others must fill its latency
    return ceil(latency / busy)
    ### END SOLUTION


def cycles(latency, busy, group, depth):
    """Cycles a WGMMA, in a long loop that issues groups of `group` and waits until at most `depth` groups are under way."""
    ### BEGIN SOLUTION: what the wait allows, but never less than the tensor cores need
    whole_group = latency + (group - 1) * busy
    return max(busy, whole_group / ((depth + 1) * group))
    ### END SOLUTION


ANSWER = None  # to the question: a number
