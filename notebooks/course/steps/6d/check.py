"""Plays a producer warp, two consumer warps and a ring of two stages, in several orders. TMA brings a tile at once."""
import collections

from play import Play, Seen

CONSUMERS, LANES, STAGES, TILES = 2, 32, 2, 5
WARPS = CONSUMERS + 1
ORDERS = {"warp 0 first": range(WARPS * LANES), "warp 2 first": [*range(2 * LANES, 3 * LANES), *range(2 * LANES)],
          "warp 1 first": [*range(LANES, 3 * LANES), *range(LANES)]}


class Mbarrier:
    def __init__(self, name, count):
        self.name, self.count, self.missing, self.phases = name, count, count, 0

    def arrive(self, who, n):
        if self.missing == 0:
            raise Seen(f"{who} arrived at {self.name} for tile {n} once more than its {self.count} arrivals", "arrivals() and the calls do not agree: how many arrive in a phase?")
        self.missing -= 1
        if self.missing == 0:
            self.phases, self.missing = self.phases + 1, self.count


class Cta:
    def __init__(self, full, empty):
        self.full = [Mbarrier(f"full[{s}]", full) for s in range(STAGES)]
        self.empty = [Mbarrier(f"empty[{s}]", empty) for s in range(STAGES)]
        self.holds = [None] * STAGES
        self.lanes = {}      # (warp, tile): lanes that have come to multiply
        self.read = set()    # (warp, tile)
        self.released = collections.Counter()  # (warp, tile)
        self.loads, self.releases = [], 0


class Thread:
    def __init__(self, cta, warp, lane):
        self.cta, self.warp, self.lane = cta, warp, lane
        self.who = f"lane {lane} of warp {warp}"

    def wait_empty(self, n):
        barrier = self.cta.empty[n % STAGES]
        self.cta.play.until(lambda: barrier.phases >= n // STAGES, f"in wait_empty({n})")

    def wait_full(self, n):
        barrier = self.cta.full[n % STAGES]
        self.cta.play.until(lambda: barrier.phases > n // STAGES, f"in wait_full({n})")

    def load(self, n):
        cta, s = self.cta, n % STAGES
        if n in cta.loads:
            raise Seen(f"{self.who} asked for tile {n}, which was asked for already", "one thread of the CTA asks for a tile: which warp, which lane?")
        for warp in range(1, WARPS):
            if cta.holds[s] is not None and (warp, cta.holds[s]) not in cta.read:
                often = max(cta.released.values(), default=0)
                raise Seen(f"tile {n} overwrote tile {cta.holds[s]}, which warp {warp} had not multiplied yet",
                           f"a warp has released a tile {often} times; how many arrivals did arrivals() promise for it?" if often > 1 else "before a load, the stage must be empty; and empty means that every consumer warp has read it")
        cta.loads.append(n)
        cta.holds[s] = n
        cta.full[s].arrive(self.who, n)

    def multiply(self, n):
        cta = self.cta
        if self.warp == 0:
            raise Seen(f"{self.who} multiplied", "warp 0 is the producer; what tells a thread's code which role it has?")
        if cta.holds[n % STAGES] != n:
            held = cta.holds[n % STAGES]
            raise Seen(f"{self.who} multiplied tile {n} when its stage held {'nothing' if held is None else f'tile {held}'}", "a consumer waits until its tile is there")
        here = cta.lanes.setdefault((self.warp, n), set())
        here.add(self.lane)
        cta.play.until(lambda: len(here) == LANES, f"in multiply({n}), for all lanes of the warp")
        cta.read.add((self.warp, n))

    def release(self, n):
        if (self.warp, n) not in self.cta.read:
            raise Seen(f"{self.who} released the stage of tile {n} before its warp had multiplied it", "a release says that this warp has read the tile")
        self.cta.releases += 1
        self.cta.released[self.warp, n] += 1
        self.cta.empty[n % STAGES].arrive(self.who, n)


def play(hole, order):
    cta = Cta(*hole.arrivals(CONSUMERS))
    threads = [Thread(cta, warp, lane) for warp in range(WARPS) for lane in range(LANES)]
    cta.play = Play([lambda thread=thread: hole.kernel(thread, TILES) for thread in threads], order)
    return cta.play.run(), cta, threads


def check(hole):
    pair = hole.arrivals(CONSUMERS)
    if not isinstance(pair, tuple) or len(pair) != 2 or not all(isinstance(x, int) and x > 0 for x in pair):
        yield f"arrivals({CONSUMERS}) gave {pair}", "return two numbers: those of full, those of empty"
    for name, order in ORDERS.items():
        seen, cta, threads = play(hole, order)
        if isinstance(seen, Seen):
            yield f"{seen.what} ({name})", seen.hint
        elif seen:
            yield "a deadlock: " + "; ".join(groups(seen, threads)) + f" ({name})", deadlock(cta, seen)
        missing = [n for n in range(TILES) if (1, n) not in cta.read]
        if missing:
            yield f"nothing was done for tile {missing[0]}", "producer and consumers go through all tiles, from 0 to tiles - 1"
        if cta.releases > CONSUMERS * TILES:
            yield f"{cta.releases // TILES} threads released each tile", "one lane of a warp can speak for it: fewer arrivals do"


def groups(seen, threads):
    """Warps and what their threads wait for."""
    for warp in range(WARPS):
        mine = {seen[i] for i in seen if threads[i].warp == warp}
        if mine:
            yield f"warp {warp} waits {' and '.join(sorted(mine))}"


def deadlock(cta, seen):
    if any("multiply" in what for what in seen.values()):
        return "all 32 lanes of a consumer warp come to multiply; only afterwards can one lane speak for the warp"
    for barrier in [*cta.full, *cta.empty]:
        if barrier.missing < barrier.count:
            return f"{barrier.name} has had {barrier.count - barrier.missing} of {barrier.count} arrivals in its phase: who arrives there, and how often?"
    if not cta.loads:
        return "nothing was loaded: which thread is the producer?"
    if not cta.releases:
        return "nothing was released: who says that a stage has been read?"
    return "do producer and consumers go through the same tiles?"


def key(hole):
    return [tuple(hole.arrivals(3)), [(str(seen), cta.loads, cta.releases, sorted(cta.read)) for seen, cta, _ in (play(hole, order) for order in ORDERS.values())]]
