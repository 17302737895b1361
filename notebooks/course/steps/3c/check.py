"""From one tile to seven: how many tiles it takes to go wrong tells what is wrong."""
import re

from cuda import f32, hint_of, integers, out, parts


def wanted(values, n):
    return [float(sum(values[256 * t + 4 * (63 - i // 4) + i % 4] for t in range(n))) for i in range(256)]


HINTS = ["one tile alone goes wrong: which groups may still be under way when it is read, and how does a thread know of the others' parts?",
         "two tiles go wrong, though no tile is left to copy: does a turn close a group, too, when it copies nothing?",
         "with three tiles and more a copy goes where a thread may still read: which buffer is free in turn t, and is the barrier passed before the copy begins?"]


def first(hole):
    """The hint when one tile alone goes wrong, by the calls of the loop in their order."""
    loop = re.findall(r"cp\.async\.wait_group\s+\d+|cp\.async\.wait_all|bar(?:rier)?\.\S*sync", hole.ptx.read_text())
    waits = [int(call.split()[1]) if " " in call or "\t" in call else 0 for call in loop if call.startswith("cp")]
    if not waits:
        return "this thread's part of the tile has perhaps not landed: which call waits for it?"
    if len(waits) == len(loop):
        return "this thread's part has landed; what says that the parts of the other threads have?"
    if max(waits) > 1:
        return f"cp_async_wait<{max(waits)}> lets {max(waits)} groups be under way. When turn 0 begins, two are closed: which of them may be under way?"
    if not loop[0].startswith("cp"):
        return "the barrier is passed before the wait: whose copies have landed when a thread arrives there?"
    return HINTS[0]


def check(hole):
    for n in range(1, 8):
        values = integers(256 * n, n)
        ran = hole.run("sums", f32(n, 64, 4, values), out("f32", 64, 4), n, threads=64)
        if ran.reports:
            ordered = ran.reports[0].startswith(("race", "uninitialised"))
            yield f"n_tiles {n}: {ran.reports[0]}", (first(hole) if n == 1 else HINTS[min(n, 3) - 1]) if ordered else hint_of(ran.reports[0])
        seen = parts("out", ran.outs[0], wanted(values, n), 4)
        if seen:
            yield f"n_tiles {n}: {seen}", "some tile was added twice or never: which tile begins to be copied in turn t, and into which buffer?"
    waits = [int(w) for w in re.findall(r"cp\.async\.wait_group\s+(\d+)", hole.ptx.read_text())]
    if not waits or min(waits) == 0:
        yield ("the sums are right, but a turn waits for all groups",
               "cp_async_wait<0> also waits for tile t + 1, which nobody needs yet: how many groups may be under way in turn t?")


def key(hole):
    return [hole.run("sums", f32(n, 64, 4, integers(256 * n, 99)), out("f32", 64, 4), n, threads=64).outs for n in (1, 3, 5)]
