"""Step 5b: which fence orders what."""


def multiply(t):
    """All threads of a warpgroup run this: d += A B^T for two tiles of A and B."""
    t.zero_d()                # d lies in registers
    for tile in range(2):
        t.st_shared(tile)     # this thread's share of A and B
        ### BEGIN SOLUTION: what must stand between these stores and the product, and between the product and the next stores
        t.fence_proxy_async()
        t.bar_sync()
        t.wgmma_fence()
        t.wgmma(tile)
        t.wgmma_commit_group()
        t.wgmma_wait_group(0)
        t.bar_sync()
        ### END SOLUTION
    t.read_d()                # by ordinary instructions


ANSWER = None  # to the question: a number
