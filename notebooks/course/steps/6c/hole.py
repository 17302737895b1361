"""Step 6c: a ring of stages."""


def stage(n, stages):
    return n % stages


def full_parity(n, stages):
    """The consumer waits for tile n."""
    ### BEGIN SOLUTION: how often the ring has turned, its last bit
    return n // stages % 2
    ### END SOLUTION


def empty_parity(n, stages):
    """The producer waits until the stage of tile n is free."""
    ### BEGIN SOLUTION: the phase before the consumer's
    return (n // stages + 1) % 2
    ### END SOLUTION


ANSWER = None  # to the question: 0 or 1
