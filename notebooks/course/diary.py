"""A student's own diary of checks: FOLDER/checks.jsonl, a line of JSON for each, the newest last.

    note("my-labs/2", "lab-2", "not yet", seen="S64 is wrong", hint="...")     appends a line
    read(data)                                                                 [Entry] of such a file's bytes
    work(entries)                                                              {"lab-2": Work}, of all diaries of a student

It shows an instructor where a class is stuck. A student can change or remove it, so no point and no late day depends on it, and
whatever stands in it is read without trust."""
import dataclasses
import datetime
import json
import pathlib
import re
import sys

NAME = "checks.jsonl"
BYTES = 1 << 20                      # of a diary that is read: some thousand checks
LONGEST = 300                        # characters of a text
PAUSE_S = 30 * 60                    # without a check for longer than this, nobody was at work
STUCK = 4                            # checks without passing
RESULTS = ("begun", "asked", "not yet", "right")  # asked: for a hint


@dataclasses.dataclass
class Entry:
    when: float      # seconds since 1970
    what: str        # step-2a, lab-2
    result: str      # of RESULTS
    seen: str = ""   # what was wrong, or which hint was asked for
    hint: str = ""


@dataclasses.dataclass
class Work:
    """On a step or a lab, until it passed for the first time."""
    checks: int = 0
    asked: int = 0   # hints
    minutes: float = 0
    passed: bool = False
    seen: list = dataclasses.field(default_factory=list)  # (seen, hint) of each check that did not pass

    @property
    def stuck(self):
        return not self.passed and self.checks >= STUCK


def note(folder, what, result, seen="", hint=""):
    """A diary that cannot be written keeps no one from working."""
    now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    line = {"when": now, "what": what, "result": result, "seen": seen[:LONGEST], "hint": hint[:LONGEST]}
    try:
        with (pathlib.Path(folder) / NAME).open("a", encoding="utf-8") as f:
            f.write(json.dumps({key: value for key, value in line.items() if value}) + "\n")
    except OSError as why:
        print(f"note: this check is not in {NAME}: {why.strerror}", file=sys.stderr)


def entry(line):
    """Raises ValueError for what is none."""
    given = json.loads(line)
    if not isinstance(given, dict):
        raise ValueError("no object")
    text = {key: given.get(key, "") for key in ("when", "what", "result", "seen", "hint")}
    if not all(isinstance(value, str) for value in text.values()):
        raise ValueError("no text")
    if not re.fullmatch(r"(step-[0-9][a-z]|lab-[0-9]|exam-[0-9])", text["what"]) or text["result"] not in RESULTS:
        raise ValueError("neither a step nor a lab")
    when = datetime.datetime.fromisoformat(text["when"]).astimezone().timestamp()
    return Entry(when, text["what"], text["result"], text["seen"][:LONGEST], text["hint"][:LONGEST])


def read(data):
    """Lines that are no entries are left out."""
    found = []
    for line in data.decode(errors="replace").splitlines():
        try:
            found.append(entry(line))
        except (ValueError, OverflowError, RecursionError):
            pass
    return found


def work(entries):
    """{what: Work}. The time before a check, up to PAUSE_S since the entry before it, was spent on what is checked."""
    found, before = {}, None
    for one in sorted(entries, key=lambda one: one.when):
        mine = found.setdefault(one.what, Work())
        gap = one.when - before if before is not None else 0
        before = one.when
        if mine.passed or one.result == "begun":
            continue
        mine.minutes += gap / 60 if gap <= PAUSE_S else 0
        if one.result == "asked":
            mine.asked += 1
            continue
        mine.checks += 1
        mine.passed = one.result == "right"
        if not mine.passed:
            mine.seen.append((one.seen, one.hint))
    return found
