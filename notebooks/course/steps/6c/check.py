"""Plays a producer and a consumer, one of which is faster: tiles must come in order, and none be overwritten before it is read."""


class Mbarrier:
    def __init__(self):
        self.phases = 0  # that have ended

    def passes(self, parity):
        return self.phases % 2 != parity


def play(hole, stages, tiles, eager):
    """None, or what was seen. eager: who goes as far as it can before the other moves."""
    full, empty = [Mbarrier() for _ in range(stages)], [Mbarrier() for _ in range(stages)]
    holds, unread = [None] * stages, [False] * stages
    at = {"producer": 0, "consumer": 0}

    def move(who):
        n = at[who]
        if n == tiles:
            return False
        s = hole.stage(n, stages)
        if who == "producer":
            if not empty[s].passes(hole.empty_parity(n, stages)):
                return False
            if unread[s]:
                return f"tile {n} overwrote tile {holds[s]}, which was not read yet"
            holds[s], unread[s] = n, True
            full[s].phases += 1
        else:
            if not full[s].passes(hole.full_parity(n, stages)):
                return False
            if holds[s] != n or not unread[s]:
                return f"the consumer read stage {s} for tile {n}, which had not come: it held {'nothing' if holds[s] is None else f'tile {holds[s]}'}"
            unread[s] = False
            empty[s].phases += 1
        at[who] += 1
        return True

    order = [eager, "consumer" if eager == "producer" else "producer"]
    while True:
        for who in order:
            moved = move(who)
            if isinstance(moved, str):
                return moved
            if moved:
                break
        else:
            if at["consumer"] == tiles:
                return None
            return f"a deadlock: the producer waits before tile {at['producer']}, the consumer before tile {at['consumer']}"


HINTS = [("a deadlock: the producer waits before tile 0,", "before the first round all stages are free: with which parity does a wait at a fresh mbarrier go on at once?"),
         ("a deadlock", "both wait for a phase that has not ended: after how many tiles does the parity change?"),
         ("the consumer read", "the wait at full went on at once: a fresh mbarrier lets parity 1 pass"),
         ("tile", "the wait at empty went on although the stage was full: the parity changes with each turn of the ring")]


def check(hole):
    for function in (hole.full_parity, hole.empty_parity):
        for n in range(9):
            if function(n, 3) not in (0, 1):
                yield f"{function.__name__}({n}, 3) gave {function(n, 3)}", "a parity is 0 or 1, the last bit of the phase's number: take % 2"
    for stages in (2, 3, 1):
        for eager in ("producer", "consumer"):
            seen = play(hole, stages, 9, eager)
            if seen:
                yield f"{seen} ({stages} stages)", next(hint for begin, hint in HINTS if seen.startswith(begin))


def key(hole):
    return [(hole.full_parity(n, s), hole.empty_parity(n, s)) for s in (1, 2, 3, 4) for n in range(20)]
