"""What the emulator reported, in a student's words: mbarriers by name, places by line.

    reports.named(said, ptx)        "the mbarrier at shared 0x430" becomes "k_full[0]"
    reports.read(said)              [Report], the first first
    reports.deadlock(said)          [sentence]: who waits where for what, and what has come there"""
import dataclasses
import re

MBARRIER = re.compile(r"(?:the )?(?<!init )mbarrier (?:at shared )?0x([0-9a-f]+)")
ALIGNMENT, BASE = 8, 0x400  # of mbarriers; where shared memory begins on an H200


@dataclasses.dataclass
class Report:
    kind: str    # "race", "deadlock" ...
    text: str    # what follows "block (0,0,0), warp 0: "
    sides: list  # [(file, line, [lines of the calls], opcode)]


def symbols(ptx):
    """[(name, offset, bytes)] of static shared arrays, in the order in which they lie."""
    found, at = [], 0
    for align, name, size in re.findall(r"^\s*\.shared \.align (\d+) \.b8 (\w+)\[(\d+)\];", ptx, re.M):
        at = -(-at // int(align)) * int(align)
        found.append((re.sub(r"^_ZL\d+", "", name), at, int(size)))
        at += int(size)
    return found


def named(said, ptx):
    """Names mbarriers, and says where shared memory began if a schedule drew it."""
    arrays = symbols(ptx)
    if not any("full" in name or "empty" in name for name, _, _ in arrays):
        return said
    addresses = [int(a, 16) for a in MBARRIER.findall(said)]
    base = BASE
    for report in re.split(r"(?m)^(?=stage-)", said):  # a deadlock lists all that are initialised
        listed = [int(a, 16) for a in re.findall(r"^  mbarrier at shared 0x([0-9a-f]+)", report, re.M)]
        if len(listed) >= sum(size // ALIGNMENT for _, _, size in arrays):
            base = min(listed)
    if any(not base <= a < base + sum(size for _, _, size in arrays) + 64 for a in addresses):
        return said

    def name(match):
        at = int(match[1], 16) - base
        return next((f"{name}[{(at - start) // ALIGNMENT}]" for name, start, size in arrays if start <= at < start + size), match[0])
    return MBARRIER.sub(name, said)


def side(line):
    """(file, line, calls, opcode) of `FILE:LINE, called from line N (toolkit)  OPCODE`."""
    where, _, opcode = line.strip().rpartition("  ")
    where = re.sub(r" \([^)]*\)", "", where)
    match = re.match(r"(.*?):(\d+)(.*)", where)
    return (match[1], int(match[2]), [int(n) for n in re.findall(r"(?:line |:)(\d+)", match[3])], opcode) if match else None


def telling(said):
    """A race between warps comes first where the report before it tells less: of two lanes of a warp, of which a barrier that lacks
    is reported, too; or of a value that nothing wrote and that is noticed only where it reaches a store or a branch."""
    blocks = re.split(r"(?m)^(?=stage-\d+: )", said)
    first = next((n for n, block in enumerate(blocks) if block.startswith("stage-")), None)
    if first is None or not re.search(r"which another lane of the warp|a value that nothing wrote, .* reaches", blocks[first].partition("\n")[0]):
        return said
    others = [n for wanted in (r"warp \d+ reads shared", r"warp \d+ writes shared") for n, block in enumerate(blocks)
              if re.search(rf": race in .*: {wanted} .*which warp", block.partition("\n")[0])]
    return "".join([*blocks[:first], blocks[others[0]], *(block for n, block in enumerate(blocks) if n >= first and n != others[0])]) if others else said


def read(said):
    found = []
    for line in said.splitlines():
        match = re.match(r"stage-\d+: ([\w .-]+?) in kernel \S+, block \S+, warp \d+: (.*)", line)
        if match:
            found.append(Report(match[1], match[2], []))
        elif found and line.startswith("    ") and not line.startswith("    initialised") and side(line):
            found[-1].sides.append(side(line))
    return found


def deadlock(said):
    """The waits of the first deadlock, and the barriers that are waited for."""
    text = re.split(r"(?m)^stage-", said.partition("no warp can go on")[2])[0]
    lines = text.splitlines()
    waits, state = [], []
    for n, line in enumerate(lines):
        wait = re.match(r"  (warps? [\d to]+), lanes \S+ (?:waits?|runs?|stands?)(.*)", line)
        if wait:
            waits.append((wait[1].strip(), wait[2]))
        elif re.match(r"  barrier \d+: ", line):
            state.append((re.match(r"  (barrier \d+)", line)[1], line.strip(), ""))
        elif re.match(r"  (\S+\[\d+\]): phase", line):
            more = lines[n + 1].strip() if n + 1 < len(lines) else ""
            state.append((re.match(r"  (\S+)", line)[1].rstrip(":"), line.strip(), more))
    return waits, state
