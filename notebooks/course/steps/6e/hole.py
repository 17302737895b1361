"""Step 6e: turns. n warpgroups, w is one of them."""


def wait_at(w, n):
    """The barrier at which w waits for its turn."""
    ### BEGIN SOLUTION: its own
    return 1 + w
    ### END SOLUTION


def pass_at(w, n):
    """The barrier at which w arrives after its products."""
    ### BEGIN SOLUTION: that of the next warpgroup, in a circle
    return 1 + (w + 1) % n
    ### END SOLUTION


def begins(w, n):
    """True if w arrives at pass_at(w) before its first turn."""
    ### BEGIN SOLUTION: who passes the turn to warpgroup 0?
    return w == n - 1
    ### END SOLUTION


ANSWER = None  # to the question: a number
