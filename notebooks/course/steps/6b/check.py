"""Plays 32 threads and TMA, which brings half a tile at a time, in several orders."""
from play import Meeting, Play, Seen

THREADS, TMA = 32, 32
ORDERS = {"thread 0 and TMA first": [TMA, *range(THREADS)], "thread 0 first, TMA last": [*range(THREADS), TMA],
          "thread 31 first, TMA last": [*reversed(range(THREADS)), TMA]}


class Cta:
    def __init__(self, tile_bytes):
        self.tile_bytes = tile_bytes
        self.count = None                          # arrivals of a phase; None: not initialised
        self.for_tma = False                       # fence_mbarrier_init
        self.missing, self.bytes, self.phase = 0, 0, 0
        self.requests, self.landed, self.log = [], {}, []  # tiles to bring; bytes of each tile that have come
        self.running = THREADS

    def state(self):
        return f"phase {self.phase} waits for {self.missing} of {self.count} arrivals and {self.bytes} bytes"

    def ends(self):
        if self.missing == 0 and self.bytes == 0:
            self.phase, self.missing = self.phase + 1, self.count

    def tma(self):
        while True:
            self.play.until(lambda: self.requests or not self.running, "a request")
            if not self.requests:
                return
            n = self.requests.pop(0)
            for _ in range(2):
                self.play.until(lambda: True, "")
                self.landed[n] = self.landed.get(n, 0) + self.tile_bytes // 2
                self.bytes -= self.tile_bytes // 2
                self.ends()


class Thread:
    def __init__(self, cta, tid):
        self.cta, self.tid, self.said_no = cta, tid, None

    def mbarrier_init(self, count):
        cta = self.cta
        if cta.count is not None:
            raise Seen(f"thread {self.tid} initialised the mbarrier, which thread {cta.log[0]} had done already", "one thread is enough: if t.tid == 0")
        cta.count = cta.missing = count
        cta.log.append(self.tid)

    def fence_mbarrier_init(self):
        self.cta.for_tma = self.cta.count is not None

    def ready(self):
        if self.cta.count is None:
            raise Seen(f"thread {self.tid} used the mbarrier before it was initialised", "what makes the other threads wait until thread 0 has done it?")

    def syncthreads(self):
        self.cta.barrier.sync()

    def mbarrier_arrive_expect_tx(self, n_bytes):
        self.ready()
        cta = self.cta
        if cta.missing == 0:
            raise Seen(f"thread {self.tid} arrived although {cta.state()}", "mbarrier_init says how many arrive in a phase, and who calls this arrives")
        cta.log.append(n_bytes)
        cta.missing, cta.bytes = cta.missing - 1, cta.bytes + n_bytes
        cta.ends()

    def mbarrier_arrive(self):
        self.ready()
        cta = self.cta
        if cta.missing == 0:
            raise Seen(f"thread {self.tid} arrived although {cta.state()}", "mbarrier_init says how many arrive in a phase")
        cta.missing -= 1
        cta.ends()

    def tma_load(self, n):
        self.ready()
        cta = self.cta
        if not cta.for_tma:
            raise Seen("TMA was given an mbarrier whose initialisation it need not see", "fence_mbarrier_init() of the thread that initialised it comes before the first request")
        if n in cta.requests or n in cta.landed:
            raise Seen(f"thread {self.tid} asked for tile {n}, which was asked for already", "one thread asks for a tile: if t.tid == 0")
        cta.requests.append(n)

    def mbarrier_try_wait_parity(self, parity):
        self.ready()
        cta = self.cta
        ended = lambda: cta.phase % 2 != parity  # noqa: E731
        if not ended() and self.said_no != (cta.phase, parity):
            self.said_no = cta.phase, parity  # no at the first time of asking
            return False
        cta.play.until(ended, f"parity {parity}")
        if self.tid == 5:
            cta.log.append((parity,))
        return True

    def read(self, n):
        cta = self.cta
        come = cta.landed.get(n, 0)
        if come < cta.tile_bytes:
            raise Seen(f"thread {self.tid} read tile {n} when {come} of its {cta.tile_bytes} bytes had come", HINTS[bool(come), n > 0])


HINTS = {(False, False): "did the wait return because the phase had ended? try_wait may say no, and a fresh mbarrier lets parity 1 pass",
         (False, True): "tile n is phase n of the mbarrier: with which parity does this phase end?",
         (True, False): "the phase ended too early: were all bytes of the tile announced?",
         (True, True): "the phase ended too early: were all bytes of the tile announced?"}


def play(hole, order):
    """(None, a Seen or what each thread waits for; the CTA)"""
    cta = Cta(hole.BYTES)
    threads = [Thread(cta, tid) for tid in range(THREADS)]

    def run(thread):
        hole.read_tiles(thread)
        cta.running -= 1

    cta.play = Play([*[lambda thread=thread: run(thread) for thread in threads], cta.tma], order)
    cta.barrier = Meeting(cta.play, THREADS, "syncthreads")
    return cta.play.run(), cta


def check(hole):
    for name, order in ORDERS.items():
        seen, cta = play(hole, order)
        if isinstance(seen, Seen):
            yield f"{seen.what} ({name})", seen.hint
        elif seen:
            who = min(seen)
            yield (f"thread {who} waits for {seen[who]} for ever: {cta.state() if cta.count else 'the mbarrier was never initialised'} ({name})",
                   deadlock(seen[who], cta))


def deadlock(what, cta):
    if what == "syncthreads":
        return "every thread must come to every syncthreads: is one inside an if?"
    if cta.missing:
        return "who arrives in a phase, and how often? mbarrier_init says how many arrivals end it"
    if cta.bytes:
        return "the bytes announced are not the bytes that come: a tile has BYTES, and an announcement is made once a tile"
    return "this phase will not end: no request follows. With which parity does the phase of this tile end?"


def key(hole):
    return [(str(seen), cta.log, cta.phase) for seen, cta in (play(hole, order) for order in ORDERS.values())]
