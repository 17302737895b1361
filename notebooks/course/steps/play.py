"""Plays the threads of a kernel for a step's check. One runs at a time, until it waits or ends; of those that can go on, the
first in the given order does. So an order is a schedule, and every run of it repeats."""
import threading


class Seen(Exception):
    """What is wrong, and a hint; a thread raises it."""

    def __init__(self, what, hint):
        super().__init__(what)
        self.what, self.hint = what, hint


class Over(BaseException):
    """Ends a thread that still waits when the play is over."""


class Play:
    """bodies: functions without arguments, one a thread. In them, until(condition, what) lets others run until condition() holds."""

    def __init__(self, bodies, order):
        self.order, self.error, self.over = order, None, False
        self.waits = [None] * len(bodies)  # (condition, what) of a thread that waits
        self.ended = [False] * len(bodies)
        self.turns = [threading.Semaphore(0) for _ in bodies]
        self.back = threading.Semaphore(0)
        self.threads = [threading.Thread(target=self.body, args=pair, daemon=True) for pair in enumerate(bodies)]
        self.running = None

    def body(self, index, run):
        self.turns[index].acquire()
        try:
            if not self.over:
                run()
        except Over:
            pass
        except Exception as error:
            self.error = error
        self.ended[index] = True
        self.back.release()

    def until(self, condition, what):
        me = self.running
        while not condition():
            self.waits[me] = condition, what
            self.back.release()
            self.turns[me].acquire()
            if self.over:
                raise Over
            self.waits[me] = None

    def can_go_on(self, index):
        return not self.ended[index] and (self.waits[index] is None or self.waits[index][0]())

    def run(self):
        """None when all have ended, a Seen, or a deadlock: what each thread waits for, {thread: what}. Raises what a thread raised."""
        for thread in self.threads:
            thread.start()
        try:
            while True:
                self.running = next((i for i in self.order if self.can_go_on(i)), None)
                if self.running is None:
                    waiting = {i: wait[1] for i, wait in enumerate(self.waits) if wait and not self.ended[i]}
                    return waiting or None
                self.turns[self.running].release()
                self.back.acquire()
                if isinstance(self.error, Seen):
                    return self.error
                if self.error:
                    raise self.error
        finally:
            self.over = True
            for turn in self.turns:
                turn.release()
            for thread in self.threads:
                thread.join(1)


class Meeting:
    """A barrier of n threads."""

    def __init__(self, play, n, what):
        self.play, self.n, self.what, self.arrived = play, n, what, 0

    def sync(self):
        self.arrived += 1
        mine = -(-self.arrived // self.n) * self.n
        self.play.until(lambda: self.arrived >= mine, self.what)
