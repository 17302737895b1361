"""Plays warpgroups by the clock: products of 4 units and softmax of 5, and draws who multiplied when."""
PRODUCTS, SOFTMAX, TURNS = 4, 5, 3


class Barrier:
    def __init__(self):
        self.arrived, self.waiting = 0, []


class Play:
    """The programs of n warpgroups; what they did as (warpgroup, from)."""

    def __init__(self, hole, n):
        self.hole, self.n, self.turns, self.said = hole, n, [], None
        self.barriers = {}
        self.ready = []                       # (when, warpgroup, its program)
        for w in range(n):
            self.ready.append((0, w, self.program(w)))

    def arrive(self, barrier, now):
        """bar.arrive and bar.sync; those that wait go on when the second 128 threads are there."""
        b = self.barriers.setdefault(barrier, Barrier())
        b.arrived += 128
        if b.arrived == 256:
            self.ready += [(now, w, program) for w, program in b.waiting]
            b.arrived, b.waiting = 0, []
            return True
        return False

    def program(self, w):
        if self.hole.begins(w, self.n):
            yield "arrive", self.hole.pass_at(w, self.n)
        for _ in range(TURNS):
            yield "sync", self.hole.wait_at(w, self.n)
            yield "products", PRODUCTS
            yield "arrive", self.hole.pass_at(w, self.n)
            yield "softmax", SOFTMAX

    def run(self):
        while self.ready:
            self.ready.sort(key=lambda r: r[:2])
            now, w, program = self.ready.pop(0)
            what, n = next(program, (None, 0))
            if what == "products":
                self.turns.append((w, now))
            if what in ("products", "softmax"):
                self.ready.append((now + n, w, program))
            if what == "arrive":
                self.arrive(n, now)
                self.ready.append((now, w, program))
            if what == "sync":
                b = self.barriers.setdefault(n, Barrier())
                b.waiting.append((w, program))
                self.arrive(n, now)
        return {w: number for number, b in self.barriers.items() for w, _ in b.waiting}

    def picture(self):
        end = max([at for _, at in self.turns], default=0) + PRODUCTS
        lines = []
        for w in range(self.n):
            line = ["."] * end
            for other, at in self.turns:
                if other == w:
                    line[at:at + PRODUCTS] = "[##]"
            lines.append(f"\n    warpgroup {w}   {''.join(line)}")
        return "".join(lines)


def check(hole):
    for n in (2, 3):
        ids = [hole.wait_at(w, n) for w in range(n)]
        if ids != list(range(1, n + 1)):
            yield f"with {n} warpgroups, they wait at the barriers {ids}", "barriers 1 to n belong to the warpgroups 0 to n - 1, and 0 is __syncthreads"
        to = [hole.pass_at(w, n) for w in range(n)]
        if any(barrier not in ids for barrier in to):
            yield f"with {n} warpgroups, they arrive at the barriers {to}", "each arrives at the barrier of the next warpgroup, and after the last one comes warpgroup 0"
        if to == ids:
            yield f"with {n} warpgroups, they wait at the barriers {ids} and arrive at {to}: each passes the turn on to itself", "at whose barrier must a warpgroup arrive, so that the next one may multiply?"
        play = Play(hole, n)
        waiting = play.run()
        order = [w for w, _ in sorted(play.turns, key=lambda t: t[1])]
        for (w, at), (v, then) in zip(sorted(play.turns, key=lambda t: t[1]), sorted(play.turns, key=lambda t: t[1])[1:]):
            if then < at + PRODUCTS:
                yield f"with {n} warpgroups, {w} and {v} multiplied at the same time:{play.picture()}", "one turn goes round: how many warpgroups arrive before their first one?"
        if order and order[0] != 0:
            yield f"with {n} warpgroups, the first turn was warpgroup {order[0]}'s:{play.picture()}", "whoever arrives at barrier 1 gives the turn to warpgroup 0"
        if len(order) < n * TURNS:
            where = "; ".join(f"warpgroup {w} waits at barrier {b}" for w, b in sorted(waiting.items()))
            yield (f"with {n} warpgroups, after {len(order)} turns nobody went on: {where}{play.picture() if order else ''}",
                   "at whose barrier does a warpgroup arrive, and after the last one?" if order else "nobody has passed a turn on to warpgroup 0: who arrives at barrier 1 before the loops begin?")


def key(hole):
    return [(hole.wait_at(w, n), hole.pass_at(w, n), bool(hole.begins(w, n))) for n in (2, 3, 4) for w in range(n)]
