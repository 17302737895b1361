"""Step 6d: a producer warp."""


def arrivals(consumer_warps):
    """(full, empty): the arrivals that end a phase."""
    ### BEGIN SOLUTION: who arrives at full, and who at empty?
    return 1, consumer_warps
    ### END SOLUTION


def kernel(t, tiles):
    """Each thread of the CTA runs this, for the tiles 0 to tiles - 1."""
    ### BEGIN SOLUTION: the producer, and the consumers
    if t.warp == 0:
        if t.lane == 0:
            for n in range(tiles):
                t.wait_empty(n)
                t.load(n)
    else:
        for n in range(tiles):
            t.wait_full(n)
            t.multiply(n)
            if t.lane == 0:
                t.release(n)
    ### END SOLUTION


ANSWER = None  # to the question: a number
