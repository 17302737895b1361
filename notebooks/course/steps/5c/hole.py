"""Step 5c: the accumulators of WGMMA."""


def row(tid, i):
    """0 .. 63"""
    ### BEGIN SOLUTION: the warp's 16 rows, the lane's of these, and eight more for half of the elements
    return tid // 32 * 16 + tid % 32 // 4 + i // 2 % 2 * 8
    ### END SOLUTION


def column(tid, i):
    """0 .. N - 1"""
    ### BEGIN SOLUTION: eight columns for each four elements, the lane's pair of these, and the element of the pair
    return i // 4 * 8 + tid % 4 * 2 + i % 2
    ### END SOLUTION


ANSWER = None  # to the question: a number
