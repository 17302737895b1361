"""Step 1d: what one access of a warp costs; addresses: 32 byte addresses, of 4 aligned bytes each."""


def sectors(addresses):
    """Sectors of 32 bytes of global memory."""
    return len({a // 32 for a in addresses})


def wavefronts(addresses):
    """Wavefronts of shared memory: the largest number of different words that are wanted of one bank."""
    ### BEGIN SOLUTION: words by bank, each word once
    words = {}
    for a in addresses:
        words.setdefault(a // 4 % 32, set()).add(a // 4)
    return max(len(w) for w in words.values())
    ### END SOLUTION


ANSWER = None  # to the question: a number
