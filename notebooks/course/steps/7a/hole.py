"""Step 7a: waves and persistence."""


def finish(lengths, sms, setup, persistent):
    """When the last tile is done, in cycles."""
    ### BEGIN SOLUTION: for each tile in order: which SM is free first, and until when is it busy then?
    free_at = [0] * sms
    for n, length in enumerate(lengths):
        sm = free_at.index(min(free_at))
        if n < sms or not persistent:
            free_at[sm] += setup
        free_at[sm] += length
    return max(free_at)
    ### END SOLUTION


def used(lengths, sms, setup, persistent):
    """The share of the SMs' time that is work on tiles."""
    return sum(lengths) / (sms * finish(lengths, sms, setup, persistent))


ANSWER = None  # to the question: a number
