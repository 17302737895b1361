"""The emulator lets a copy land as late as it may, and says what nothing orders."""
import re

from cuda import f32, hint_of, out, parts

IN = [float(n) for n in range(256)]
WANTED = [IN[4 * (63 - n // 4) + n % 4] for n in range(256)]


def calls(ptx):
    """["copy", "commit", "wait 0", "barrier"] in the order of the file; the kernel has no loop."""
    found = re.findall(r"^\s*(?:cp\.async\.(cg|ca|commit_group|wait_group|wait_all)\S*(?:\s+(\d+);)?|(bar)(?:rier)?[.]\S*sync)", ptx, re.M)
    return ["barrier" if bar else {"cg": "copy", "ca": "copy", "commit_group": "commit", "wait_all": "wait 0"}.get(what, f"wait {n}") for what, n, bar in found]


def hint(ran, said):
    copies, barriers = ran.counters["cp_async_instructions"], ran.counters["barrier_instructions"]
    if not copies:
        return "no cp.async was executed: where does tile get its values?"
    if not barriers:
        return "a thread reads what another one copied: which call makes it wait until the others have come this far?"
    waits = [call for call in said if call.startswith("wait ")]
    if waits and waits[-1] != "wait 0":
        return f"cp_async_wait<{waits[-1][5:]}> lets that many groups be under way, and this thread has only one: which n waits for it?"
    if waits and not "copy commit wait" in " ".join(call for call in said if call != "barrier"):
        return "a wait counts groups that are closed: is this copy closed into one, with cp_async_commit, before the wait?"
    return "a thread that arrives at the barrier says that its copy has landed: has it waited for that before, with cp_async_wait<0>?"


def check(hole):
    ran = hole.run("reversed", f32(64, 4, IN), out("f32", 64, 4), threads=64)
    if ran.reports:
        yield ran.reports[0], hint(ran, calls(hole.ptx.read_text())) if ran.reports[0].startswith(("race", "uninitialised")) else hint_of(ran.reports[0])
    seen = parts("out", ran.outs[0], WANTED, 4)
    if seen:
        yield seen, "thread tid copies 16 bytes, one float4: from in[tid] to tile[tid]"
    if not ran.counters["cp_async_instructions"]:
        yield "the answer is right, but no cp.async was executed", "use cp_async_16: the step is about a copy that no thread waits for"


def key(hole):
    ran = hole.run("reversed", f32(64, 4, [x * 3 + 1 for x in IN]), out("f32", 64, 4), threads=64)
    return [ran.outs, ran.reports, ran.counters["cp_async_instructions"]]
