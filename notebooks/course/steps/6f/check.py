"""Plays a launch, the producer's dec and the consumers' incs, with a pool of registers for each thread of a warpgroup."""
CASES = [(1, 40, 1), (2, 40, 1), (3, 32, 1), (3, 24, 1), (2, 24, 1), (2, 32, 2), (2, 24, 2)]
TILES = [(128, 64, 128), (80, 128, 124), (64, 256, 176)]


def launched(consumers, ctas):
    """Registers of a thread at launch: as many as fit, in eights."""
    n = 8
    while (n + 8) * 128 * (consumers + 1) * ctas <= 65536:
        n += 8
    return n


def played(consumers, producer, ctas, asked):
    """None if all consumers get `asked`; else what the pool has when one waits."""
    has = launched(consumers, ctas)
    pool = has - producer
    for n in range(consumers):
        if asked - has > pool:
            return n, pool, asked - has
        pool -= asked - has
    return None


def check(hole):
    for consumers, producer, ctas in CASES:
        got = hole.consumer_registers(consumers, producer, ctas)
        name = f"{consumers} consumers, a producer that keeps {producer}, {ctas} CTA{'s' * (ctas > 1)} an SM"
        if isinstance(got, float):
            yield f"{name}: {got}, which is no int", "a number of registers is an int: divide with //"
            continue
        if not isinstance(got, int) or got % 8 or not 24 <= got <= 256:
            yield f"{name}: {got}", "setmaxnreg takes a multiple of 8 from 24 to 256: round down, and never ask for more than 256"
            continue
        has = launched(consumers, ctas)
        stuck = played(consumers, producer, ctas, got)
        if stuck:
            yield (f"{name}: a thread has {has} at launch, and inc {got} of consumer {stuck[0]} waits for ever: it wants {stuck[2]} more, and {stuck[1]} are free",
                   f"in all there are {consumers + 1} * {has} for a thread of each warpgroup; what the producer keeps is not for the others")
        if got < 256 and not played(consumers, producer, ctas, got + 8):
            yield (f"{name}: {got}, but {got + 8} for each would be there as well",
                   f"a thread has {has} at launch, also the consumers' own: add up all of them, take off what the producer keeps, and share the rest")
    for bkv, head_dim, wanted in TILES:
        got = hole.needed(bkv, head_dim)
        if got != wanted:
            s, p, o = bkv // 2, bkv // 4, head_dim // 2
            yield f"{bkv} keys and head_dim {head_dim} gave {got}, not {wanted}", f"count each apart: one of them takes {min(s, p, o)}, and a register of 32 bits holds two numbers of fp16"


def key(hole):
    return [hole.consumer_registers(c, p, n) for c in (2, 3) for p in (24, 32, 40, 56) for n in (1, 2)] + [int(hole.needed(b, d)) for b in (32, 96) for d in (64, 128)]
