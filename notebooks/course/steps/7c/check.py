"""Plays the CTAs of a cluster, in several orders; a put into a CTA that still needs its K is seen, and so is a get of what nobody sent."""
from play import Meeting, Play, Seen

EQUALLY = "every CTA must come to every cluster_sync, equally often: is one of them in an if, or in a loop that is not equally long for all?"


class Cta:
    def __init__(self, rank, cluster):
        self.rank, self.cluster, self.ctas = rank, cluster, cluster.n
        self.needs_k, self.memory, self.result = True, {}, None

    def cluster_sync(self):
        self.needs_k = False  # it has come from its last product
        self.cluster.meetings += 1
        self.cluster.barrier.sync()

    def put(self, rank, place, value):
        if rank not in range(self.ctas):
            raise Seen(f"CTA {self.rank} wrote to CTA {rank}; there are {self.ctas}", "ranks are 0 to t.ctas - 1")
        other = self.cluster.all[rank]
        if other.needs_k and other is not self:
            raise Seen(f"CTA {self.rank} wrote into the shared memory of CTA {rank}, which still multiplied out of it",
                       "what tells a CTA that all of them have done their last product?")
        if place in other.memory:
            raise Seen(f"CTA {self.rank} wrote place {place} of CTA {rank}, where something from CTA {other.memory[place][1]} lay", "each sender needs places of its own")
        other.memory[place] = value, self.rank

    def get(self, place):
        if place not in self.memory:
            raise Seen(f"CTA {self.rank} read place {place}, which nobody had written yet", "what tells a CTA that all have sent? And is it a place that someone writes?")
        return self.memory[place][0]


class Cluster:
    def __init__(self, n, columns):
        self.n, self.meetings = n, 0
        self.all = [Cta(rank, self) for rank in range(n)]
        self.parts = [[100 * rank + 10 * c + 1 for c in range(columns)] for rank in range(n)]


class Alone:
    """A CTA that waits for nobody: how often would it come to a barrier?"""

    def __init__(self, rank, ctas):
        self.rank, self.ctas, self.came = rank, ctas, 0

    def cluster_sync(self):
        self.came += 1

    def put(self, rank, place, value):
        pass

    def get(self, place):
        return 0


def unequal(hole, n, columns):
    """Which CTAs come to how many barriers, if that is not the same for all; else ""."""
    ctas = [Alone(rank, n) for rank in range(n)]
    for cta in ctas:
        hole.exchange(cta, [0] * columns)
    if len({cta.came for cta in ctas}) == 1:
        return ""
    return ", ".join(f"CTA {cta.rank} comes to cluster_sync {({1: 'once', 2: 'twice'}).get(cta.came, f'{cta.came} times')}" for cta in ctas)


def play(hole, n, columns, order):
    cluster = Cluster(n, columns)

    def run(cta):
        cta.result = hole.exchange(cta, list(cluster.parts[cta.rank]))

    cluster.play = Play([lambda cta=cta: run(cta) for cta in cluster.all], order)
    cluster.barrier = Meeting(cluster.play, n, "cluster_sync")
    return cluster.play.run(), cluster


def check(hole):
    for n, columns in ((2, 2), (4, 8), (1, 4)):
        differ = unequal(hole, n, columns)
        if differ:
            yield f"{n} CTAs, {columns} columns: {differ}", EQUALLY
        for order in (range(n), range(n - 1, -1, -1)):
            seen, cluster = play(hole, n, columns, order)
            name = f"{n} CTAs, {columns} columns"
            if isinstance(seen, Seen):
                yield f"{name}: {seen.what}", seen.hint
            elif seen:
                yield f"{name}: CTA {min(seen)} waits in cluster_sync for ever", EQUALLY
            for cta in cluster.all:
                own = range(cta.rank * columns // n, (cta.rank + 1) * columns // n)
                wanted = [sum(part[c] for part in cluster.parts) for c in own]
                if cta.result != wanted:
                    yield (f"{name}: CTA {cta.rank} returned {cta.result}, not {wanted}, the sums of columns {own[0]} to {own[-1]}",
                           "from each CTA's part it gets the columns that are its own, len(o) // t.ctas of them, the sender's own CTA included")
        if cluster.meetings > 2 * n:
            yield f"{name}: all met {cluster.meetings // n} times, and 2 are enough", "once before anybody writes, once before anybody reads"


def key(hole):
    return [(str(seen), [list(map(int, cta.result)) for cta in cluster.all]) for seen, cluster in (play(hole, n, 12, range(n)) for n in (2, 3, 4))]
