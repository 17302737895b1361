"""Step 1c: the causal mask."""


def seen(i, j, seqlen_q, seqlen_k, bottom_right):
    """Does query i see key j?"""
    ### BEGIN SOLUTION: compare j with i, which is moved if the diagonal ends at the bottom right
    return j <= i + (seqlen_k - seqlen_q if bottom_right else 0)
    ### END SOLUTION


def tiles_needed(q0, bq, bkv, seqlen_q, seqlen_k, bottom_right):
    """Tiles of bkv keys, from key 0 on, that some query of the tile sees."""
    last = min(q0 + bq, seqlen_q) - 1
    keys = sum(seen(last, j, seqlen_q, seqlen_k, bottom_right) for j in range(seqlen_k))
    return -(-keys // bkv)


ANSWER = None  # to the question: a number
