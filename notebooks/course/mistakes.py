"""Typical mistakes: reads notebooks/course/N/mistakes, and says which of them a failed check looks like.

    a name at the margin
        edit: a sed -E script that makes the solution so wrong (several: one after the other)
        symptom: TERM; TERM; ...      all of them hold; several symptom lines: one of them does
        hint: what the student is told

A mistake is known by what the check saw, never by its text. A term is one of

    like NAME           O and LSE are, in every problem that is wrong, what notebooks/course/model.py gives for NAME
    race REGEX          a race's two sides, "PHASE: OPCODE | PHASE: OPCODE", the one noticed first; a phase is
                        the kernel's heading `// ---- PHASE` above the line
    says REGEX          anything the emulator reported, or the program said
    wrong NAME  right NAME      a problem has an answer that is, or is not, wrong; reports do not count
    clean NAME  unclean NAME    a problem without, or with, any complaint, of the emulator's too
    early NAME          a problem that failed is right if asynchronous operations complete when issued, races or not
    counter NAME        a condition on this counter is broken
    fewer NAME          the kernel counts less of this than ours
    conflicts N         ldmatrix has N conflicts for each instruction
    map WHAT            lab 5: wgmma_row, wgmma_col differ from the picture: row, col, or warp (notebooks/course/fragment.py)
    not TERM            the term does not hold"""
import dataclasses
import re
import subprocess

import model
from lab_folder import ROOT


@dataclasses.dataclass
class Mistake:
    name: str
    edits: list
    symptoms: list  # of lists of terms
    hint: str = ""


def read(folder):
    mistakes = []
    for line in (folder.path / "mistakes").read_text().splitlines():
        word, _, rest = line.strip().partition(": ")
        if not line or line.startswith("#"):
            continue
        if not line.startswith(" "):
            mistakes.append(Mistake(line, [], []))
        elif word == "edit":
            mistakes[-1].edits.append(rest)
        elif word == "symptom":
            mistakes[-1].symptoms.append([term.strip() for term in rest.split(";")])
        else:
            mistakes[-1].hint += " " * bool(mistakes[-1].hint) + line.strip().removeprefix("hint: ")
    return mistakes


def make(folder, mistake, into):
    """Writes the solution with this mistake into a folder, as a student would have it."""
    changed = False
    into.mkdir(parents=True, exist_ok=True)
    for path in folder.files:
        text = made = (ROOT / path).read_text()
        for edit in mistake.edits:
            made = subprocess.run(["sed", "-E", edit], input=made, capture_output=True, text=True, check=True).stdout
        (into / path.name).write_text(made)
        changed |= made != text
    if not changed:
        raise ValueError(f"lab {folder.number}: {mistake.name}: the edit changes nothing; it has gone stale")


@dataclasses.dataclass
class Seen:
    """What a check saw. runs, early: {problem: Run}; broken: [(condition, value, bound)]."""
    runs: dict
    early: dict  # of what failed: the same, asynchronous operations completing at once, races not looked for
    broken: list
    counts: dict
    map: set
    tile: tuple  # rows, keys
    ours: dict = dataclasses.field(default_factory=dict)  # what our kernel counts

    def holds(self, term):
        word, _, what = term.partition(" ")
        return getattr(self, f"_{word}")(what)

    def _not(self, term):
        return not self.holds(term)

    def _says(self, regex):
        return any(re.search(regex, run.all_said) for run in self.runs.values())

    def _race(self, regex):
        return any(re.search(regex, race) for run in self.runs.values() for race in run.races)

    def _wrong(self, name):
        return name in self.runs and self.runs[name].wrong

    def _right(self, name):
        return name in self.runs and not self.runs[name].wrong

    def _clean(self, name):
        return name in self.runs and not self.runs[name].failed

    def _unclean(self, name):
        return name in self.runs and self.runs[name].failed

    def _early(self, name):
        return name in self.early and not self.early[name].failed

    def _counter(self, name):
        return any(condition.counter == name for condition, _, _ in self.broken)

    def _fewer(self, name):
        return bool(self.counts and self.ours) and self.counts[name] < self.ours[name]

    def _conflicts(self, number):
        return bool(self.counts) and \
            self.counts["bank_conflicts_ldmatrix"] == int(number) * self.counts["ldmatrix_instructions"]

    def _map(self, what):
        return what in self.map

    def _like(self, name):
        wrong = [run for run in self.runs.values() if run.wrong and run.o is not None and self._off(run, "") > 0.02]
        return bool(wrong) and all(self._off(run, name) < min(0.05, 0.3 * self._off(run, "")) for run in wrong)

    def _off(self, run, name):
        """How far O is from the model with this mistake; where it has no mistake, from the right one."""
        if name not in run.off:
            o, _ = model.attention(*run.inputs, run.problem.shape.causal, name, *self.tile)
            run.off[name] = model.far(run.o, o)
        return run.off[name]


def recognise(mistakes, seen):
    """The first mistake whose symptoms hold, or None."""
    for mistake in mistakes:
        if any(all(seen.holds(term) for term in terms) for terms in mistake.symptoms):
            return mistake
    return None
