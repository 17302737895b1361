"""The emulator lets a copy land as late as it may, and says what nothing orders."""
from cuda import f32, hint_of, out, parts

IN = [float(n) for n in range(256)]
WANTED = [IN[4 * (63 - n // 4) + n % 4] for n in range(256)]


def hint(ran):
    copies, barriers = ran.counters["cp_async_instructions"], ran.counters["barrier_instructions"]
    if not copies:
        return "no cp.async was executed: where does tile get its values?"
    if not barriers:
        return "a thread reads what another one copied: which call makes it wait until the others have come this far?"
    return "a thread that arrives at the barrier says that its copy has landed: has it waited for that before, with cp_async_wait<0>?"


def check(hole):
    ran = hole.run("reversed", f32(64, 4, IN), out("f32", 64, 4), threads=64)
    if ran.reports:
        yield ran.reports[0], hint(ran) if ran.reports[0].startswith(("race", "uninitialised")) else hint_of(ran.reports[0])
    seen = parts("out", ran.outs[0], WANTED, 4)
    if seen:
        yield seen, "thread tid copies 16 bytes, one float4: from in[tid] to tile[tid]"
    if not ran.counters["cp_async_instructions"]:
        yield "the answer is right, but no cp.async was executed", "use cp_async_16: the step is about a copy that no thread waits for"


def key(hole):
    ran = hole.run("reversed", f32(64, 4, [x * 3 + 1 for x in IN]), out("f32", 64, 4), threads=64)
    return [ran.outs, ran.reports, ran.counters["cp_async_instructions"]]
