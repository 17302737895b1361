"""Step 1a: a floor by arithmetic and bytes."""


def floor_us(b, h, s, d, flops, bytes_per_s):
    """The least time of attention in us; flops: of the chip in a second."""
    ### BEGIN SOLUTION: the larger of the two times, in us
    arithmetic_s = 4 * b * h * s * s * d / flops
    bytes_s = 4 * b * h * s * d * 2 / bytes_per_s
    return max(arithmetic_s, bytes_s) * 1e6
    ### END SOLUTION


def ridge(flops, bytes_per_s):
    """FLOP for each byte at which both times are equal."""
    return flops / bytes_per_s


ANSWER = None  # to the question: "arithmetic" or "bytes"
