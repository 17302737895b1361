"""Lists of tiles whose end can be seen on a drawing."""
CASES = [
    ("ten equal tiles on four SMs", [100] * 10, 4, 0, False, "three waves: the third is not full, but lasts as long as the others"),
    ("three tiles on four SMs", [100] * 3, 4, 0, False, "one wave, and an SM without work"),
    ("a long tile among short ones", [100, 30, 30, 30], 2, 0, False, "an SM that is free takes the next tile; it does not wait for the others"),
    ("a long tile at the end", [30, 30, 30, 30, 100], 2, 0, False, "the end is that of the last SM to be done"),
    ("ten tiles with a set-up of 10", [100] * 10, 4, 10, False, "without persistence each tile is a CTA, which pays the set-up"),
    ("ten tiles with a set-up of 10, persistent", [100] * 10, 4, 10, True, "a persistent CTA pays the set-up once, before its first tile"),
    ("five uneven tiles with a set-up of 10, persistent", [50, 10, 10, 10, 10], 2, 10, True, "the set-up delays only an SM's first tile"),
]


def drawn(lengths, sms, setup, persistent):
    """What each SM does, as lists of (tile, begin, end)."""
    now, lists, work = 0, [[] for _ in range(sms)], list(enumerate(lengths))
    while work:
        for tiles in lists:
            if work and (not tiles or tiles[-1][2] <= now):
                n, length = work.pop(0)
                begin = now + (0 if persistent and tiles else setup)
                tiles.append((n, begin, begin + length))
        now += 1
    return lists


def check(hole):
    for name, lengths, sms, setup, persistent, hint in CASES:
        got, lists = hole.finish(list(lengths), sms, setup, persistent), drawn(lengths, sms, setup, persistent)
        wanted = max(tiles[-1][2] for tiles in lists if tiles)
        if got != wanted:
            rows = "".join(f"\n    SM {n}   " + "  ".join(f"tile {tile}: {begin} to {end}" for tile, begin, end in tiles) for n, tiles in enumerate(lists))
            yield f"{name} ended at {got}, not {wanted}:{rows}", hint


def key(hole):
    return [float(hole.finish([(7 * n) % 50 + 1 for n in range(count)], sms, 13, p)) for count in (5, 40) for sms in (3, 8) for p in (False, True)]
