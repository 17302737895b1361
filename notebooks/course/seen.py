"""What a check saw, in a sentence, and what to look at where no cause is known: every hint begins with the first.

    seen = seen.Evidence(folder, kernel, runs, broken, counts, ours)
    seen.sentence()       "barrier 1: 224 of 256 threads have arrived ..."
    seen.look()           what to look at: lines, and questions; it names no cause
    seen.pictures()       lines: expected beside got, for a wrong answer

Lines are those that the emulator names, those that compute or read what warp 0 of the first CTA is followed to, and those
of the student's parts that name what the wrong problems have and the right ones do not."""
import collections
import re

import numpy as np

import follow
import picture
import problems
import reports
import worked

PARTS = re.compile(r"// (?:YOUR CODE HERE|BEGIN SOLUTION lab-\d+): ")
ENDS = re.compile(r"// (?:END OF YOUR CODE|END SOLUTION)")
OPCODES = {"hmma": ("mma.", "wmma.mma"), "hgmma": ("wgmma.mma",), "ldmatrix": ("ldmatrix", "wmma.load"), "shared_load": ("ld.shared", "wmma.load", "ldmatrix"),
           "shared_store": ("st.shared", "wmma.store"), "barrier": ("bar", "barrier"), "global_load": ("ld.global",), "fma": ("fma", "mul.f", "add.f", "sub.f"),
           "mufu": ("ex2", "rcp", "lg2"), "cp_async": ("cp.async",), "tma": ("cp.async.bulk",), "shared_wavefronts": ("ld.shared", "st.shared", "ldmatrix", "wmma"),
           "bank_conflicts_ldgsts": ("cp.async.cg", "cp.async.ca"), "bank_conflicts_ldmatrix": ("ldmatrix", "wmma.load"), "bank_conflict": ("ld.shared", "st.shared", "ldmatrix", "wmma"), "groups": ("wgmma.commit", "wgmma.wait")}
# (of these problems one is wrong, beside them these others may be, what it says, what lines to look for)
CLASSES = [({"strides"}, {"more-rows"}, "It is wrong only where a tensor has gaps between its rows", r"stride"),
           ({"causal", "hidden-rows", "diagonal"}, {"more-rows"}, "Without a mask all is right", r"causal|diagonal|n_visible|mask\("),
           ({"short"}, set(), "It is wrong only where the last tile has fewer keys than the others", r"seqlen_k|n_visible|n_rows"),
           ({"rising"}, {"far"}, "It is wrong only where the maximum rises from tile to tile", r"alpha|m_new|m_frag|base"),
           ({"heads"}, {"strides", "more-rows"}, "It is wrong only where there are several heads", r"\bheads\b|\bkv_h\b|\bbatch\b|stride\.head"),
           ({"narrow"}, set(), "It is wrong only where rows are shorter than DIM", r"head_dim|\bDIM\b")]
# Where O is right: what the program says, and what to look at.
BESIDE_O = [(r"LSE of \d+ rows? is off", "O is right and LSE is not. LSE of a row is the natural logarithm of the sum of e^(scale * s) over its keys: to which base"
             " are its maximum and its sum here, and which lane stores which row"),
            (r"outside the output", "Rows from seqlen_q on do not exist: which condition keeps each store to O and to LSE away from them")]
CONFLICTS = "For each line: which lanes are served together, and which of them name the same bank in different rows?"
SECTORS = " cp.async moves sectors of 32 bytes: do the two chunks of a sector stay side by side in shared memory?"
MASK = r"n_visible|diagonal|INFINITY"  # lines that say which keys a row may see
SEVERAL_TILES = {"tiles", "two-tiles"}


def code(line):
    return line.split("//")[0].strip()


class Evidence:
    def __init__(self, folder, kernel, runs, broken, counts, ours):
        self.folder, self.kernel, self.runs = folder, kernel, runs
        self.broken, self.counts, self.ours = broken, counts, ours
        self.failed = next((run for run in runs.values() if run.failed), None)
        self.wrong = next((run for run in runs.values() if run.wrong and run.o is not None), None)
        self.reports = reports.read(self.failed.said) if self.failed else []
        self.error = self._error()
        self.texts = {kernel.file(path).name: kernel.file(path).read_text(errors="replace").splitlines() for path in folder.files}
        self.main = kernel.file(folder.files[0]).name
        self.values = self.steps = self.shared_reads = None

    def _error(self):
        error = picture.Error(self.folder, self.wrong) if self.wrong else None
        return error if error and error.wrong.any() else None

    # ---- lines

    def parts(self):
        """[(file, line number, text)] of what the student wrote."""
        found = []
        for name, lines in self.texts.items():
            inside = everywhere = self.folder.blank
            for n, line in enumerate(lines, 1):
                if PARTS.search(line):
                    inside = True
                elif ENDS.search(line):
                    inside = everywhere
                elif inside and code(line):
                    found.append((name, n, line))
        return found

    def line(self, name, n):
        return f"line {n}" if name == self.main else f"line {n} of {name}"

    def naming(self, regex, most=4, everywhere=False):
        """The lines of the student's parts that have this; or all lines of the kernel's file."""
        lines = [(self.main, n, text) for n, text in enumerate(self.texts[self.main], 1)] if everywhere else self.parts()
        return [self.line(name, n) for name, n, text in lines if re.search(regex, code(text))][:most]

    def place(self, side):
        """A report's side: its line, and that of the call in the student's part."""
        file, n, calls, opcode = side
        own = {m for name, m, _ in self.parts() if name == self.main}
        shown = [m for m in calls if m in own] or calls[:1] * (n not in own)
        name = file.rsplit("/", 1)[-1]
        return f"{self.line(name, n)}{''.join(f', called from line {m}' for m in shown[:2])} ({opcode.split('.sync')[0].split('.shared::')[0]})"

    # ---- following warp 0

    def follow(self):
        """Runs the wrong problem once more, if it is attention, and looks for S, P and so on in warp 0 of the first CTA."""
        if self.values is not None or not self.folder.followed:
            return
        run = self.wrong or next((run for run in self.runs.values() if run.problem.shape), None)
        shape = run.problem.shape
        options = ["--image", self.folder.images[0], *problems.make_inputs(shape, self.kernel.out / run.problem.name)]
        self.values, whole = follow.values(self.kernel, options)
        inputs = [x[0] for x in run.inputs]
        if whole:  # else nothing is known of what comes later
            self.steps = follow.found(self.values, inputs, shape.causal, self.folder.tile, self.folder.number == 6)
            self.shared_reads = follow.reads(self.values, inputs)

    # ---- sentences

    def sentence(self):
        if self.failed is None:
            return "; ".join(self._count(*one) for one in self.broken[:3]) if self.broken else ""
        where = f"{self.failed.problem.name}, {self.failed.how}"
        if self.failed.how == "cuda":
            return f"Right on the emulator, not on this GPU ({where})"
        if self.reports:
            return self._reported(self.reports[0], where)
        if self.error:
            ratio = self.error.ratio()
            return f"In {self.wrong.problem.name}, {self.error.what()}{f'; {ratio}' if ratio else ''}"
        return f"{where}: {(self.failed.said.split(': ', 1)[-1].splitlines() or ['it did not end'])[0]}"

    def _count(self, condition, value, bound):
        return f"{condition.counter} is {value:.10g}" + ("" if condition.relation == ">=" else f", {value / bound:.2f} times what it should be" if bound else " where there should be none")

    def _reported(self, report, where):
        if report.kind == "deadlock" and "no warp can go on" in report.text:
            return f"A deadlock in {where}: {self._stuck()}"
        text = re.sub(r": (nothing|no __syncwarp\(\)|neither __syncthreads\(\) nor __syncwarp\(\)) orders the two", "", report.text)
        text = re.sub(r"lanes? [0-9a-f]+: ", "", text)
        sides = [self.place(side) for side in report.sides]
        return f"{report.kind.capitalize()} in {where}: {text}" + (f": {'; '.join(dict.fromkeys(sides))}" if sides else "")

    def _stuck(self):
        waits, state = reports.deadlock(self.failed.said)
        said = []
        for who, what in waits[:2]:
            line = re.search(r"line (\d+)", what)
            name = re.search(r"\w+\[\d+\]", what)
            phase = re.search(r"phase (\d+)", what)
            said.append(f"{who} wait{'s' * (not who.startswith('warps'))} at line {line[1] if line else '?'}" + (f" for the end of phase {phase[1]} of {name[0]}" if name and phase else ""))
        wanted = " ".join(what for _, what in waits) + " bar.sync"
        for name, text, more in state:
            if name in wanted or name.startswith("barrier") and not any("[" in what for _, what in waits):
                said.append(text.replace(", tx-count 0", "") + (f" ({more.partition('; ')[2]})" if "; " in more else ""))
        return "; ".join(said[:4])

    # ---- what to look at

    def look(self):
        if self.failed is None:
            return self._look_counts()
        if self.failed.how == "cuda":
            return ("Shared memory and registers begin there with whatever lay there: is all that is read written before, by this launch?"
                    " Does a wait name the right barrier and parity?")
        if self.reports:
            return getattr(self, "_look_" + self.reports[0].kind.split()[0].replace("-", "_"), self._look_other)(self.reports[0])
        if self.error:
            return self._look_wrong()
        beside = next((what for regex, what in BESIDE_O if re.search(regex, self.failed.said)), "")
        if beside:
            lines = self.naming(r"\blse\b", everywhere=True)
            return f"{beside}? Lines with LSE: {', '.join(lines)}" if lines else f"{beside}?"
        return self._right_ones() or "The simplest problem is wrong, too: begin there"

    def _right_ones(self):
        right = [name for name, one in self.runs.items() if not one.failed]
        return f"Right: {', '.join(right)}. What does {self.failed.problem.name} have that these do not?" if right else ""

    def _look_counts(self):
        self.follow()
        named = []
        for condition, _, _ in self.broken[:2]:
            opcodes = next((of for name, of in OPCODES.items() if condition.counter.startswith(name)), ())
            some = collections.Counter({line: sum(op.startswith(opcodes) for op, _ in results) for line, results in (self.values or {}).items()})
            named += [f"line {line} ({n})" for line, n in some.most_common(5) if n]
        named = list(dict.fromkeys(named))
        if not named:
            return "The answer is right. Which of your lines makes more of them than it must?"
        asked = "Which of these must be there?"
        if all(condition.counter.startswith(("bank_conflict", "shared_wavefronts")) for condition, _, _ in self.broken):
            asked = CONFLICTS + SECTORS * any(condition.counter.endswith("ldgsts") for condition, _, _ in self.broken)
        return f"The answer is right. Where warp 0 executes such instructions, and how often: {', '.join(named)}. {asked}"

    def _look_race(self, report):
        fewer = self._fewer_barriers()
        if "another lane of the warp" in report.text:
            return ("First: are these the addresses you meant, of this lane? If so, lanes do not run in step: what makes the one wait for the other?")
        if "mbarrier" in report.text or "TMA" in report.text or "[" in report.text:
            return ("First: is this the stage you meant on both lines? If so, look at the wait just before each of the two: which barrier, and which"
                    " parity, says that the other is done?")
        if fewer:
            return f"{fewer}: which barrier has to stand between these two lines?"
        return ("First: is this the address you meant, on each of the two lines? If both are, a barrier of all warps must come between them"
                " (__syncwarp() orders the lanes of one warp only)")

    def _fewer_barriers(self):
        mine, ours = self.counts.get("barrier_instructions"), self.ours.get("barrier_instructions")
        return f"It executes {mine:.0f} barrier instructions where {ours:.0f} are enough" if mine and ours and mine < ours else ""

    def _look_deadlock(self, report):
        waits, state = reports.deadlock(self.failed.said)
        names = list(dict.fromkeys(re.findall(r"(\w+)\[\d+\]", " ".join(what for _, what in waits))))
        lines = [line for name in names for line in self._mentions(name)]
        lines = lines or self.naming(r"turn\(|bar_(sync|arrive)|__syncthreads")
        said = f"Lines with {' and '.join(names) or 'barriers'}: {', '.join(lines)}. " if lines else ""
        return (f"{said}Compare three numbers: how many arrivals end a phase, how many come, and by which lines; and which phase (parity)"
                " the waiting line asks for")

    def _mentions(self, name):
        """Lines of the student's parts with a barrier: by its name, or as r.full and r.empty of a ring."""
        kind = name.rpartition("_")[2]
        return list(dict.fromkeys(self.naming(rf"\b{name}\b") + self.naming(rf"\.{kind}\b|wait_{kind}|release\(" if kind == "empty" else rf"\.{kind}\b|wait_{kind}")))

    def _look_other(self, report):
        return "Look at the lines above: what address, count or order do they have, and which did you mean?"

    def _look_uninitialised(self, report):
        return "The second line reads what nothing has written: is this the address you meant, and does what fills it write all of it?"

    def _look_operand(self, report):
        return ("The first line needs the product that the second one issues. wgmma_wait_group<N> leaves the N newest groups under way: is this product"
                " among them? Look at the order of the groups and at N")

    def _look_wrong(self):
        self.follow()
        what = self._class()
        if what and "One tile" not in what:  # so S, P and O are right elsewhere
            return what
        said = [said for said in (what, self._by_warp(), self._never(), self._reads(), self._parts_at()) if said]
        return ". ".join(said) or self._right_ones()

    def _class(self):
        wrong = {name for name, run in self.runs.items() if run.failed}
        for names, others, what, regex in CLASSES:
            if wrong & names and wrong <= names | others:
                lines = self.naming(regex) or self.naming(regex, everywhere=True)
                return what + (f": look at {', '.join(lines)}" if lines else "")
        if "one-tile" not in wrong and wrong & SEVERAL_TILES:
            lines = self.naming(r"\bkv0\b|\bstage\b|\bnext\b|\bslot\b|alpha|m_frag|\bn\b \*|advance", 5)
            return "One tile is right, several are not" + (f": look at what differs from tile to tile, {', '.join(lines)}" if lines else "")
        return ""

    def _by_warp(self):
        rows = self.error.rows[:, :self.error.cta]
        if rows[:, :16].any() or rows.shape[1] <= 16:
            return ""
        lines = self.naming(r"\bwarp\b|row0|\btid\b")
        return "Warp 0 is right and others are not: which rows are a warp's" + (f" ({', '.join(lines)})" if lines else "")

    def _reads(self):
        """What warp 0 leaves out of K, V, or of its rows of Q in shared memory."""
        said = []
        for name, lines in (self.shared_reads or {}).items():
            whole = sum(lines.values()) > 0
            whole = whole[:16] if name == "Q" else whole
            if whole.all() or self.error.run.problem.shape.causal:
                continue
            rows, columns = whole.any(axis=1), whole.any(axis=0)
            what = f"rows {picture.spans(rows.nonzero()[0])}" if not rows.all() else f"columns {', '.join(f'{16 * c} to {16 * c + 15}' for c in columns.nonzero()[0])}"
            said.append(f"Of {name} warp 0 reads only {what} from shared memory ({', '.join(f'line {n}' for n in list(lines)[:3])})")
        return ". ".join(said)

    def _never(self):
        """Products and loads of fragments of the student's part that warp 0 never executes."""
        executed = set(self.values or ())
        lines = [n for file, n, text in self.parts() if file == self.main and re.search(r"(mma|ldmatrix|load_matrix)\w*\(", code(text)) and n not in executed]
        return f"Warp 0 never executes {', '.join(f'line {n}' for n in lines[:4])}" if lines and executed and self.folder.number != 6 else ""

    def _parts_at(self):
        """Up to where what warp 0 computes is right, and the lines that come next."""
        if not self.steps or not any(step.lines for step in self.steps):
            return ""
        steps = [step for step in self.steps if step.right or step.name != "S = Q K^T" or self.folder.number != 6]
        last = -1
        while last + 1 < len(steps) and steps[last + 1].right:
            last += 1
        to_p = [step for step in steps[:last + 1] if step.name != "the row sum"]  # lanes add their sums at the end
        after = self._line_after(to_p)
        next_name = steps[last + 1].name if last + 1 < len(steps) else "O"
        lines = self._next(after, next_name) or self.naming(BY_TMA.get(next_name, "$^"))
        right = f"What warp 0 computes is right up to {to_p[-1].name} (line {after})" if to_p else ""
        what = "not right"
        if last + 1 < len(steps) and steps[last + 1].hidden:
            what, lines = "not 0 for keys that a row may not see", self.naming(MASK) or self.naming("seqlen_k")
        wrong = f"{next_name} is {what}" + (f": look at {', '.join(lines)}" if lines else "")
        if next_name == "O" and to_p and np.isnan(self.error.got).any():
            wrong += ". 0 times NaN is NaN: what do the rows of V hold in shared memory whose keys do not exist, and what does O begin with?"
        return f"{right}; {wrong}" if right else wrong

    @staticmethod
    def _line_after(steps):
        at = 0
        for step in steps:
            at = next((line for line in step.lines if line >= at), at)
        return at

    def _next(self, after, name):
        """Lines of the student's parts that execute after a line, the first four; for S and O those that read and multiply."""
        executed = sorted(self.values)
        own = [n for file, n, _ in self.parts() if file == self.main and n in executed and n >= after]
        if name in ("S = Q K^T", "O"):
            opcodes = READS_AND_PRODUCTS
            own = [n for n in own if any(op.startswith(opcodes) for op, _ in self.values[n])] or own
        return [f"line {n}" for n in own[:4]]

    # ---- pictures

    def pictures(self):
        if not self.error:
            return []
        self.follow()
        return self.error.draw() + [""] + worked.lines(self.error, self.steps)


# Where warp 0 has no line of the student's: what another warp loads for it (lab 6).
BY_TMA = {"S times scale_log2": r"\b[qk]_map\b|issue_qk", "O": r"\bv_map\b|issue_pv"}
READS_AND_PRODUCTS = ("ldmatrix", "wmma.", "mma.", "wgmma", "fma", "mul", "cvt")
