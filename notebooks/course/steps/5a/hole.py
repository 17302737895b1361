"""Step 5a: the descriptor of a tile in shared memory."""

MODES = {0: 0, 128: 1, 64: 2, 32: 3}  # by bytes of the swizzle


def encode(start, lbo, sbo, swizzle):
    """64 bits; start, lbo and sbo are in bytes."""
    ### BEGIN SOLUTION: each field in units of 16 bytes, cut to 14 bits, at its place
    desc = start // 16 & 0x3fff
    desc |= (lbo // 16 & 0x3fff) << 16
    desc |= (sbo // 16 & 0x3fff) << 32
    desc |= MODES[swizzle] << 62
    return desc
    ### END SOLUTION


ANSWER = None  # to the question: a number
