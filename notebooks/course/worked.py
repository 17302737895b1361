"""One element of O, worked out: its row of Q, the first scores, P, the sum, and where the kernel parts from them.

    worked.lines(error, steps)      steps: what follow.found gave, None if nothing was followed"""
import numpy as np

FIRST = 4   # so many numbers of a row


def row(numbers):
    return " ".join(f"{x:8.4f}" for x in numbers[:FIRST]) + " ..." * (len(numbers) > FIRST) if len(numbers) else "    none"


def lines(error, steps):
    head, r, c = error.first()
    shape, tile = error.run.problem.shape, error.folder.tile[1]
    q, k, v = error.run.inputs
    kv = head // (len(q) // len(k))
    seen = len(k[kv]) if not shape.causal else max(0, min(len(k[kv]), r + len(k[kv]) - len(q[head]) + 1))
    s = q[head, r] @ k[kv, :seen].T
    scaled = s * np.log2(np.e) / np.sqrt(q.shape[2])
    maximum = scaled.max(initial=-np.inf)
    p = np.exp2(scaled - maximum)
    here = {step.name: step for step in steps or []} if head == 0 and r < 16 and len(k[kv]) <= tile else {}
    said = [f"Row {r}, column {c} of head {head}, worked out in double precision; it sees {seen} keys:",
            f"  Q                {row(q[head, r])}"]
    for name, numbers in (("S = Q K^T", s), ("S times scale_log2", scaled), ("the row maximum", [maximum]), ("P", p), ("the row sum", [p.sum()])):
        said.append(f"  {name:18} {row(numbers):40}{told(here.get(name)) if len(numbers) else ''}".rstrip())
    said.append(f"  O                  {error.expected[head, r, c]:8.4f}, but the kernel has {error.got[head, r, c]:.4f}")
    return said + ["  LSE                    -inf"] * (not seen)


def told(step):
    if step is None:
        return ""
    if step.right:
        return " right" + (f": line {step.lines[0]}" if step.lines else "")
    if step.hidden:
        return f" line {step.lines[0]}, also for keys that the row may not see"
    return f" {step.share:.0%} of warp 0's are found" if step.share else " not found"
