"""Plays one thread of each of four warps, in several orders, on a memory that shows a store to WGMMA as late as it may."""
import collections

from play import Meeting, Play, Seen

WARPS = 4
ORDERS = [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]]
ENOUGH = {"fence_proxy_async": 2, "bar_sync": 4, "wgmma_fence": 2, "wgmma": 2, "wgmma_commit_group": 2, "wgmma_wait_group": 2}

OTHERS = "wgmma.wait_group waits for the products of its own warp: what makes a warp wait until the others have come that far?"


class Warp:
    def __init__(self, number, warps, calls):
        self.number, self.warps, self.calls, self.barrier = number, warps, calls, None
        self.stored, self.visible = None, False     # the tile of this warp's share; does the async proxy see it?
        self.d_ready = True
        self.issued, self.groups = [], []           # tiles of products not committed; of groups under way

    def under_way(self):
        return self.issued + [tile for group in self.groups for tile in group]

    def zero_d(self):
        self.d_ready = False

    def st_shared(self, tile):
        for other in self.warps:
            if other.under_way():
                raise Seen(f"warp {self.number} stored its share of tile {tile} while the product of warp {other.number} still read tile {other.under_way()[0]}", OTHERS)
        self.stored, self.visible = tile, False

    def fence_proxy_async(self):
        self.calls["fence_proxy_async"] += 1
        self.visible = True

    def bar_sync(self):
        self.calls["bar_sync"] += 1
        self.barrier.sync()

    def wgmma_fence(self):
        self.calls["wgmma_fence"] += 1
        self.d_ready = True

    def wgmma(self, tile):
        self.calls["wgmma"] += 1
        for other in self.warps:
            if other.stored and other.stored > tile:
                raise Seen(f"warp {other.number} stored its share of tile {other.stored} before the product of warp {self.number} had read tile {tile}", OTHERS)
            if other.stored != tile:
                raise Seen(f"the product of warp {self.number} with tile {tile} began before warp {other.number} had stored its share",
                           "each warp reads all of B: what makes a warp wait for the stores of the others?")
            if not other.visible:
                raise Seen(f"the product of warp {self.number} read what warp {other.number} had stored, and did not see it",
                           "the stores took the generic proxy and WGMMA reads by the async one: which fence, by the thread that stored, and before the barrier, helps?")
        if not self.d_ready:
            raise Seen(f"the product of warp {self.number} began before d, which was set to zero, was ready",
                       "ordinary instructions have written d: which fence makes registers ready for WGMMA?")
        self.issued.append(tile)

    def wgmma_commit_group(self):
        self.calls["wgmma_commit_group"] += 1
        self.groups.append(self.issued)
        self.issued = []

    def wgmma_wait_group(self, n):
        self.calls["wgmma_wait_group"] += 1
        self.groups = self.groups[len(self.groups) - n:] if n else []

    def read_d(self):
        if self.under_way():
            raise Seen(f"warp {self.number} read d while its product with tile {self.under_way()[0]} was under way",
                       "a WGMMA runs on after it was issued: put it into a group, then wait until no group is under way")
        if self.calls["wgmma"] < 2:
            raise Seen(f"warp {self.number} read d after {self.calls['wgmma']} products, not 2", "t.wgmma(tile) multiplies one tile")


def play(hole, order):
    """(what play says, calls of a thread)"""
    calls, warps = [collections.Counter() for _ in range(WARPS)], []
    warps += [Warp(number, warps, calls[number]) for number in range(WARPS)]
    stage = Play([lambda warp=warp: hole.multiply(warp) for warp in warps], order)
    barrier = Meeting(stage, WARPS, "bar.sync")
    for warp in warps:
        warp.barrier = barrier
    return stage.run(), calls[0]


def check(hole):
    for order in ORDERS:
        seen, calls = play(hole, order)
        if isinstance(seen, Seen):
            yield f"{seen.what} (the warps went on in the order {' '.join(map(str, order))})", seen.hint
        elif seen:
            yield f"the warps {' '.join(map(str, seen))} wait at bar.sync for ever", "every warp must come to every barrier"
    for name, enough in ENOUGH.items():
        if calls[name] > enough:
            yield f"{name} was called {calls[name]} times for two tiles; {enough} are enough", "which two things does each of these calls order? One of them orders nothing that another has not"


def key(hole):
    return [(str(seen), sorted(calls)) for seen, calls in (play(hole, order) for order in ORDERS)]
