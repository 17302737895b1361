"""Step 6f: a budget of registers."""

REGISTERS = 65536  # of an SM


def consumer_registers(consumers, producer, ctas):
    """The most registers for a consumer's thread: `consumers` warpgroups and one of producers, whose threads keep `producer`;
    `ctas` CTAs are on an SM at once."""
    ### BEGIN SOLUTION: what a thread has at launch; what the consumers' threads share after the producer's dec
    launch = REGISTERS // ctas // (128 * (consumers + 1)) // 8 * 8
    shared = launch * (consumers + 1) - producer
    return min(256, shared // consumers // 8 * 8)
    ### END SOLUTION


def needed(bkv, head_dim):
    """Registers of S, P and O in a consumer's thread."""
    ### BEGIN SOLUTION: two halves share a register
    return (64 * bkv + 64 * bkv // 2 + 64 * head_dim) // 128
    ### END SOLUTION


ANSWER = None  # to the question: a number
