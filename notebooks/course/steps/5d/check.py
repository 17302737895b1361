"""Plays the loop: the tensor cores take WGMMAs in order, and a result is there `latency` after its WGMMA could have begun."""
CASES = [
    (78.4, 32, 1, 0, "each is waited for before the next: one is in flight, for its whole latency"),
    (78.4, 32, 1, 1, "wait_group 1 lets one group run on: two are under way before the wait, and share one latency"),
    (78.4, 32, 1, 3, "the tensor cores need 32 cycles for each, however many are in flight"),
    (78.4, 32, 4, 0, "the last of a group ends (group - 1) * busy after the first; all of them share that time"),
    (100, 10, 2, 1, "DEPTH counts groups: (DEPTH + 1) * GROUP WGMMAs are under way before the wait"),
    (40, 64, 1, 0, "a latency shorter than the work itself is never the limit"),
]


def played(latency, busy, group, depth, rounds=400):
    """Cycles a WGMMA, in the second half of `rounds`."""
    now, free, ends, times = 0, 0, [], []
    for n in range(rounds):
        for _ in range(group):
            start = max(now, free)
            free = start + busy
        ends.append(start + latency)
        if n >= depth:
            now = max(now, ends[n - depth])
        times.append(now)
    return max((times[-1] - times[rounds // 2 - 1]) / (rounds // 2) / group, busy)


def enough(latency, busy):
    return next(n for n in range(1, 100) if played(latency, busy, 1, n - 1) < 1.001 * busy)


def check(hole):
    for latency, busy in [(78.4, 32), (96, 32), (20, 32), (200, 8)]:
        got, wanted = hole.least(latency, busy), enough(latency, busy)
        if got != wanted:
            yield (f"least({latency}, {busy}) gave {got}; with {wanted} in flight, and no fewer, the tensor cores were always busy",
                   "each one in flight covers `busy` cycles of the latency; what is left over needs one more, so round up")
    for latency, busy, group, depth, hint in CASES:
        got, wanted = hole.cycles(latency, busy, group, depth), played(latency, busy, group, depth)
        if not isinstance(got, (int, float)) or not abs(got - wanted) < 0.01 * wanted:
            yield (f"latency {latency}, busy {busy}, groups of {group}, wait_group {depth} gave {got if got is None else f'{got:.4g}'} cycles a WGMMA; "
                   f"played, it took {wanted:.4g}", hint)


def key(hole):
    return [(int(hole.least(lat, busy)), round(float(hole.cycles(lat, busy, g, d)), 6)) for lat in (50, 78.4) for busy in (16, 32) for g in (1, 2, 4) for d in (0, 1, 2)]
