"""Where a wrong answer parts from the right one: what warp 0 of the first CTA computes, line by line.

    follow.values(kernel, options)                    {line: [(opcode, numbers (registers, 32 lanes))]}, and whether that is all
    follow.found(values, shape, inputs, tile)         [Step], in the order of the computation
    follow.reads(values, inputs)                      {"K": {line: rows, columns}}: what it reads from shared memory

A value is known by itself: if 28 of 32 lanes of a result are numbers that S has, the line computes S. So nothing here
knows how a kernel is written, nor in which register a number lies."""
import dataclasses
import re

import numpy as np

ROWS = 16        # of a warp
SURE = 28        # lanes of 32
ALL = 0.9        # of the elements of a matrix
SECONDS = 10
MAXIMA = ("max", "shfl", "redux")  # what makes a row's maximum of others
READS = ("ld.shared", "ldmatrix", "wmma.load")


@dataclasses.dataclass
class Step:
    name: str
    share: float  # of its elements that some line computes
    lines: list   # where
    hidden: bool = False  # P: keys that a row may not see have one, too

    @property
    def right(self):
        return self.share > ALL and not self.hidden


def parsed(text):
    """{line: [(opcode, float64 (registers, 32))]} of what --trace prints; halves of packed registers as two."""
    found, rows, opcode, at = {}, [], None, 0

    def close():
        if opcode:
            found.setdefault(at, []).append((opcode, np.array([number for row in rows for number in numbers(row)]).reshape(-1, 32)))
    for line in text.splitlines():
        match = re.match(r"line (\d+), block .*?: (?:@\S+ )?(\S+)", line)
        if match:
            close()
            at, opcode, rows = int(match[1]), match[2], []
        elif line.startswith("    lane") and opcode:
            words = line.partition(":")[2].split()
            if line.startswith("    lane  0"):
                rows.append([])
            rows[-1] += words
    close()
    return found


def numbers(row):
    """The numbers that 32 lanes hold in a register: as fp32, or two halves of a packed one."""
    if len(row) != 32:
        return []
    if any(word.startswith("0x") for word in row):
        bits = np.array([int(word, 16) if word != "-" and word.startswith("0x") else 0 for word in row])
        if bits.max() > 0xFFFFFFFF:
            return []
        halves = np.stack([bits & 0xFFFF, bits >> 16]).astype(np.uint16).view(np.float16).astype(np.float64)
        return list(halves[:1] if bits.max() <= 0xFFFF else halves)
    try:
        return [np.array([np.nan if word == "-" else float(word) for word in row])]
    except ValueError:
        return []


def values(kernel, options):
    done = kernel.run("--no-time", "--no-check", "--counters", "MIX", "--quiet", "--no-races", "--device", "emu", "--jobs", 1,
                      "--timeout", SECONDS, *options, "--trace", "all", limit=2 * SECONDS)
    return parsed(done.stdout), "no more is printed" not in done.stdout


def expected(q, k, causal, tile, down):
    """{name: numbers} of the first warp's rows, and what P would be where it must be 0; tile: rows of a CTA, keys; down: tiles
    from the last to the first."""
    (cta, tile), diagonal = tile, len(k) - len(q)
    if causal:  # the CTA ends with the tile of its last row's last key
        k = k[:max(1, -(-max(1, cta + diagonal) // tile)) * tile]
    rows, keys = min(ROWS, len(q)), len(k)
    s = q[:rows] @ k.T
    scaled = s * np.log2(np.e) / np.sqrt(q.shape[1])
    seen = np.arange(keys)[None, :] <= np.arange(rows)[:, None] + diagonal if causal else np.ones(s.shape, bool)
    masked = np.where(seen, scaled, -np.inf)
    maximum = np.full(rows, -np.inf)
    total, ps, maxima, hidden = np.zeros(rows), [], [], []
    with np.errstate(all="ignore"):
        starts = range(0, keys, tile)
        for t in reversed(starts) if down else starts:
            new = np.maximum(maximum, masked[:, t:t + tile].max(axis=1))
            base = np.where(np.isneginf(new), 0, new)
            alpha = np.exp2(maximum - base)
            p = np.exp2(masked[:, t:t + tile] - base[:, None])
            total, maximum = total * alpha + p.sum(axis=1), new
            ps.append(p.ravel())
            maxima.append(new)
            hidden.append(np.exp2(scaled[:, t:t + tile] - base[:, None])[~seen[:, t:t + tile]])
            hidden.append(np.exp2(-base) if t + tile > keys else [])  # rows of K that do not exist are zeros
    return {"S = Q K^T": s.ravel(), "S times scale_log2": scaled.ravel(), "the row maximum": np.concatenate(maxima), "P": np.concatenate(ps),
            "the row sum": total}, np.concatenate(hidden)


def hits(numbers, of):
    """Which elements of the sorted `of` each number is; -1: none."""
    at = np.clip(np.searchsorted(of, numbers), 1, max(1, len(of) - 1))
    near = np.where(np.abs(of[at - 1] - numbers) < np.abs(of[np.minimum(at, len(of) - 1)] - numbers), at - 1, np.minimum(at, len(of) - 1))
    with np.errstate(all="ignore"):
        close = np.abs(of[near] - numbers) <= 2e-4 * np.abs(of[near]) + 1e-6
    return np.where(close, near, -1)


def found(values, inputs, causal, tile, down):
    """What warp 0 computes of the first head, step by step. inputs: q, k, v of it."""
    results = {line: np.concatenate(rows) for line, some in values.items()
               if (rows := [rows for opcode, rows in some if len(rows) and not opcode.startswith(("ld.global", "st."))])}
    steps, hidden = expected(*inputs[:2], causal, tile, down)
    made = [step(name, numbers_of, results) for name, numbers_of in steps.items()]
    for one in made:
        if one.name == "the row maximum":  # the last line that makes it; elsewhere it is moved
            one.lines = [n for n in one.lines if any(opcode.startswith(MAXIMA) for opcode, _ in values[n])][-1:]
        if one.name == "P":
            one.hidden = any(has_hidden(results[n], steps["P"], hidden) for n in one.lines)
    return made


def rounded(numbers):
    """In fp32, or rounded to fp16."""
    return np.unique(np.concatenate([numbers, numbers.astype(np.float16).astype(np.float64)]))


def has_hidden(rows, p, hidden):
    """Whether a line that computes P has numbers that only keys have which a row may not see, as many as half of the rows."""
    rows, hidden = rows[np.isfinite(rows) & (rows > 1e-4)], hidden[np.isfinite(hidden) & (hidden > 1e-4) & (hidden < 6e4)]
    if not len(rows) or not len(hidden):
        return False
    other = rows[hits(rows, rounded(p)) < 0]
    at = hits(other, rounded(hidden))
    return len(np.unique(at[at >= 0])) >= ROWS / 2


def step(name, numbers_of, results):
    of = np.unique(numbers_of[np.isfinite(numbers_of) & (numbers_of != 0)])
    n = len(of)
    if name == "P":
        of = rounded(of)
    seen, lines = np.zeros(len(of), bool), {}
    for line, rows in results.items():
        which = np.where(np.isfinite(rows), hits(np.nan_to_num(rows), of), -1) if n else np.full(np.shape(rows), -1)
        lanes = np.isfinite(rows).sum(axis=1)
        sure = ((which >= 0).sum(axis=1) >= SURE * lanes / 32) & (lanes >= 8)
        if sure.any():
            here = np.unique(which[sure][which[sure] >= 0])
            seen[here] = True
            lines[line] = len(here)
    whole = [line for line, here in lines.items() if here > ALL * n]
    return Step(name, min(1, seen.sum() / n) if n else 1, sorted(whole or lines))


def reads(values, inputs):
    """{tensor: {line: bool (rows, columns / 16)}}: which pieces of 16 elements warp 0 reads from shared memory."""
    found = {}
    for name, tensor in zip("QKV", inputs):
        for line, results in values.items():
            seen = [rows for opcode, rows in results if opcode.startswith(READS) and len(rows)]
            if not seen:
                continue
            have = np.isin(tensor, np.unique(np.concatenate(seen)))
            whole = have.reshape(len(tensor), -1, 16).all(axis=2)
            if whole.any():
                found.setdefault(name, {})[line] = whole
    return found
