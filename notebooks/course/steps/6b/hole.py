"""Step 6b: one mbarrier."""

BYTES = 8192  # of a tile


def read_tiles(t):
    """Each thread of a CTA runs this."""
    ### BEGIN SOLUTION: make the mbarrier ready, once
    if t.tid == 0:
        t.mbarrier_init(1)
        t.fence_mbarrier_init()
    t.syncthreads()
    ### END SOLUTION
    for n in range(3):
        ### BEGIN SOLUTION: request tile n, once; wait for it, all threads
        if t.tid == 0:
            t.mbarrier_arrive_expect_tx(BYTES)
            t.tma_load(n)
        while not t.mbarrier_try_wait_parity(n % 2):
            pass
        ### END SOLUTION
        t.read(n)
        t.syncthreads()  # all have read tile n; the next one may overwrite it


ANSWER = None  # to the question: a number
