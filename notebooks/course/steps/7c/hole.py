"""Step 7c: a cluster shares the keys."""


def exchange(t, o):
    """The sums of this CTA's columns. o: this CTA's part of all columns."""
    ### BEGIN SOLUTION: when may it send, what does it send where, when may it read?
    n = len(o) // t.ctas
    t.cluster_sync()
    for to in range(t.ctas):
        for i in range(n):
            t.put(to, t.rank * n + i, o[to * n + i])
    t.cluster_sync()
    return [sum(t.get(sender * n + i) for sender in range(t.ctas)) for i in range(n)]
    ### END SOLUTION


ANSWER = None  # to the question: a number
