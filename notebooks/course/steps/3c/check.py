"""From one tile to seven: how many tiles it takes to go wrong tells what is wrong."""
import re

from cuda import f32, hint_of, integers, out, parts


def wanted(values, n):
    return [float(sum(values[256 * t + 4 * (63 - i // 4) + i % 4] for t in range(n))) for i in range(256)]


HINTS = ["one tile alone goes wrong: the wait must last until at most one group is under way, and a barrier follows it",
         "two tiles go wrong, though no tile is left to copy: does a turn close a group, too, when it copies nothing?",
         "with three tiles and more a copy goes where a thread may still read: which buffer is free in turn t, and is the barrier passed before the copy begins?"]


def check(hole):
    for n in range(1, 8):
        values = integers(256 * n, n)
        ran = hole.run("sums", f32(n, 64, 4, values), out("f32", 64, 4), n, threads=64)
        if ran.reports:
            ordered = ran.reports[0].startswith(("race", "uninitialised"))
            yield f"n_tiles {n}: {ran.reports[0]}", HINTS[min(n, 3) - 1] if ordered else hint_of(ran.reports[0])
        seen = parts("out", ran.outs[0], wanted(values, n), 4)
        if seen:
            yield f"n_tiles {n}: {seen}", "some tile was added twice or never: which tile begins to be copied in turn t, and into which buffer?"
    waits = [int(w) for w in re.findall(r"cp\.async\.wait_group\s+(\d+)", hole.ptx.read_text())]
    if not waits or min(waits) == 0:
        yield ("the sums are right, but a turn waits for all groups",
               "cp_async_wait<0> also waits for tile t + 1, which nobody needs yet: how many groups may be under way in turn t?")


def key(hole):
    return [hole.run("sums", f32(n, 64, 4, integers(256 * n, 99)), out("f32", 64, 4), n, threads=64).outs for n in (1, 3, 5)]
