"""Wrong kernels by rule: every single token of what students write, in every way that RULES has.

    one_token.py [NUMBER] [LAB...]    NUMBER of them (60), drawn by SEED from all, as many of each lab; 0: all
    $DEVICE: emu (default) or cuda, which judges each on a GPU too; $J at a time; $SECONDS_LEFT: begin none after so many; SHOW=1: each of them
    $TABLE: a file that gets a row for each: its name, what became of it

A mutant is the solution of a lab with one token of a student's part changed: a number, an operator, an operand or an
index for another of its kind, a stride, a phase, a count. It is compiled as a submission is, and runs on secret cases as a
submission does, until one of them is wrong or reported. What is right in all of them is given to the stage's own check on
the problems of tests/mutants/mutants_kernels.py, and on the cases of further seeds: the reference calls it wrong, or it is
the same kernel written otherwise. On a GPU the same cases run there, whatever the emulator said.

Prints TAP: no mutant passes that the reference or the GPU calls wrong; and a table:

    same      the same PTX without lines, or it does not compile: no kernel of its own
    refused   the grader's cases find it wrong, or the emulator reports it
    equal     right in every case and problem: the grader gives it its points, as it should
    PASSES    wrongly"""
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "notebooks/course/grade"), str(ROOT / "notebooks/course"), str(ROOT / "tests/mutants")]
import compile  # noqa: E402
import grade  # noqa: E402
import lab_folder  # noqa: E402
import mutants_kernels  # noqa: E402
import sandbox  # noqa: E402
import strip  # noqa: E402

SEED = 20261124                  # which mutants are drawn
SECRETS = ("one word", "another word")   # cases: of the grader; and further ones, for what passes
WITH_STRIDES = ["--seqlen-q 70 --seqlen-k 130 --heads 4 --kv-heads 2 --batch 2 --strides 3", "--seqlen-q 70 --seqlen-k 711 --heads 2 --causal --strides 4"]
LONGEST = 3                      # times our instructions a launch may run
grade.RUN_SECONDS = 20
GPU = (os.environ.get("DEVICE") or "emu") != "emu"
TOKEN = re.compile(r"//[^\n]*|\"(?:\\.|[^\"])*\"|[A-Za-z_]\w*|\d+(?:\.\d+)?\w*|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&|^]=|->|::|[^\s\w]|\s+")
OTHERS = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||",
          "||": "&&", "<<": ">>", ">>": "<<", "^": "|", "&": "|", "|": "&", "+=": "=", "-=": "+=", "*=": "=", "!": "",
          "true": "false", "false": "true", "row_major": "col_major", "col_major": "row_major", "mem_row_major": "mem_col_major",
          "fmaxf": "fminf", "fminf": "fmaxf", "max": "min", "min": "max", "full": "empty", "empty": "full"}
KINDS = [r"(?:int|int64_t|uint32_t|unsigned|bool) (\w+)", r"(?:float|half) \*?\(?\*?(\w+)", r"constexpr int (\w+)", r"struct \w+ &?(\w+)",
         r"args\.(seqlen_q|seqlen_k|diagonal|heads|kv_heads|head_dim|causal)\b", r"args\.(\w+_stride)\b", r"args\.(\w+_desc|\w+_start)\b",
         r"\b(k_full|k_empty|v_full|v_empty)\b", r"_stride\.(\w+)", r"threadIdx\.(x|y)"]


@dataclasses.dataclass
class Mutant:
    lab: object
    file: pathlib.Path
    line: int
    was: str
    new: str
    text: str  # of the file

    @property
    def name(self):
        return f"lab {self.lab.number}, {self.file.name}:{self.line}: {self.was} -> {self.new or 'nothing'}"


def of_lab(lab):
    """All of them, in the order of the text."""
    found = []
    for file in lab.files:
        text = (ROOT / file).read_text()
        code = re.sub(r"//[^\n]*", "", text)
        kinds = [sorted(set(re.findall(kind, code))) for kind in KINDS]
        kinds[0] = sorted(set(kinds[0]) | set(re.findall(r", (\w+) = [^;(]*[;,]", code)) - set(kinds[1]))
        starts = [0]
        for line in text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        for first, last, of, sentence in strip.solutions(text):
            if of != lab.number or not sentence:  # no sentence: a comment that gives the answer away
                continue
            at = starts[first]  # behind the mark
            for piece in TOKEN.findall(text[at:starts[last - 1]]):
                line = text.count("\n", 0, at) + 1
                # what is named shortly before, and is used in the same way: most of the rest would not compile
                near = text[starts[max(0, line - 10)]:starts[line]]
                alike = [r"(?<!\w)(?<![.>])", r"(?<=\.)"][text[at - 1] == "."] + r"(\w+)\b" + ["(?!\\[)", "(?=\\[)"][text[at + len(piece)] == "["]
                for new in others(piece, kinds, set(re.findall(alike, near))):
                    found.append(Mutant(lab, file, line, piece, new, text[:at] + new + text[at + len(piece):]))
                at += len(piece)
    return found


def others(piece, kinds, near):
    if re.fullmatch(r"\d+", piece):
        n = int(piece)
        return [str(n + 1)] + [str(n - 1)] * (n > 0) + [str(2 * n)] * (n > 1)
    if piece in OTHERS:
        return [OTHERS[piece]]
    if not re.match(r"[A-Za-z_]", piece):
        return []
    return sorted({other for kind in kinds if piece in kind for other in kind if other != piece and other in near})


def bare(ptx):
    """PTX without its places in the source."""
    return re.sub(r"^\s*(?:\.loc|\.file|//)[^\n]*\n|//[^\n]*", "", ptx, flags=re.M).partition(".section")[0]


class Judge:
    """Of one lab: its cases, our PTX, our counts."""

    def __init__(self, lab):
        self.lab = dataclasses.replace(lab, images=["n40"]) if lab.number == 5 else lab
        self.number = lab.stage.split("-")[0]
        self.cases = {}
        for secret in SECRETS:
            with tempfile.TemporaryDirectory() as folder:
                cases = grade.draw(self.lab, grade.seed_of(secret, lab.number), pathlib.Path(folder))
            self.cases[secret] = [cases[n] for n in grade.emulated_of(cases)]
        with tempfile.TemporaryDirectory() as folder:
            compile.images(self.lab, {file: (ROOT / file).read_text() for file in lab.files}, pathlib.Path(folder))
            self.ptx = {path.name: bare(path.read_text()) for path in pathlib.Path(folder).glob("*.ptx")}

    def ours(self, secret):
        """Our counts, taken when they are first asked for: few mutants see further cases."""
        return grade.ours_for(self.lab, self.cases[secret], f"mutants-{SECRETS.index(secret)}", jobs())

    def trial(self, secret, folder, device="emu"):
        folder.mkdir()
        return grade.Trial(self.lab, self.cases[secret], folder / "home", device)

    def judged(self, secret, images, folder, device="emu"):
        """What is wrong in the first case that is not right; None: nothing."""
        t = self.trial(secret, folder, device)
        for path in images:
            shutil.copy(path, t.images)
        (folder / "cases.json").write_text(json.dumps(self.cases[secret]))
        ours = self.ours(secret)
        for index in grade.emulated_of(self.cases[secret]):
            most = LONGEST * ours[str(index)]["counts"]["instructions"] + 1e5
            report, said, _ = t.run(index, folder / f"case-{index}", most, products=False)
            kind = self.cases[secret][index]["kind"]
            if report is None:
                return f"{kind}: {grade.last_word(said)}"
            if report.get("reports"):
                return f"{kind}: {said.strip().splitlines()[0] if said.strip() else 'reported'}"
            right, why = grade.judge(self.lab, folder, index)
            if not right:
                return f"{kind}: {why}"
            if report["inputs_changed"] or report.get("differs_when") or report.get("reads_output"):
                return f"{kind}: inputs, order or outputs"
        return None

    def oracle(self, images, folder):
        """The stage's own check on many problems, and further cases: None, or what it found."""
        mutants_kernels.build = str(grade.build())
        at = folder / "stage"
        there = at / "images" / f"stage-{self.number}"
        there.mkdir(parents=True)
        (at / f"stage-{self.number}").hardlink_to(grade.build() / f"stage-{self.number}")
        for path in (grade.build() / f"images/stage-{self.number}").iterdir():
            if path.suffix in (".ptx", ".ptxas"):
                (there / path.name).symlink_to(path)
        for path in images:
            if path.suffix == ".ptx":
                (there / path.name).unlink(missing_ok=True)
                shutil.copy(path, there)
        image = self.lab.images[0]
        options = mutants_kernels.problems_of(self.lab.stage, image)
        if self.lab.number != 5:
            options = [f"{'--image ' + image + ' ' if self.lab.number in (4, 6) else ''}{o}" for o in WITH_STRIDES] + options
        for one in options:
            for how in ("", " --schedule random --seed 5"):
                if how and "--strides" not in one and self.lab.number != 5:
                    continue
                if mutants_kernels.run(str(at / f"stage-{self.number}"), one + how) and mutants_kernels.passes(self.lab.stage, one):
                    return f"{one}{how}"
        return self.judged(SECRETS[1], images, folder / "further")


def jobs():
    return int(os.environ.get("J") or os.cpu_count())


def attempt(judge, mutant, until):
    """(same, refused, equal, PASSES or later; why; on the GPU: None not tried, '' right, or why not)"""
    if time.time() > until:
        return "later", "", None
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "made").mkdir()
        files = {file: mutant.text if file == mutant.file else (ROOT / file).read_text() for file in judge.lab.files}
        try:
            compile.images(judge.lab, files, folder / "made", "sm_90a" if GPU else None)
        except compile.Rejected as why:
            return "same", f"it does not compile: {why}", None
        images = list((folder / "made").iterdir())
        if all(bare(path.read_text()) == judge.ptx[path.name] for path in images if path.suffix == ".ptx"):
            return "same", "", None
        why = judge.judged(SECRETS[0], images, folder / "cases")
        there = None
        if GPU:
            there = judge.judged(SECRETS[0], images, folder / "there", "cuda") or ""
        if why:
            return "refused", why, there
        wrong = judge.oracle(images, folder)
        if wrong or there:
            return "PASSES", wrong or f"on the GPU: {there}", there
        return "equal", "", there


def chosen(labs, number):
    """`number` of all, as many of each lab, where it has so many."""
    every = {lab.number: of_lab(lab) for lab in labs}
    dice, some = random.Random(SEED), []
    for mutants in every.values():
        dice.shuffle(mutants)
    while any(every.values()) and (not number or len(some) < number):
        some += [mutants.pop() for mutants in every.values() if mutants]
    return some[:number] if number else some


def main():
    words = [int(word) for word in sys.argv[1:] if word.isdigit()]
    number = words[0] if words else 60
    labs = [lab_folder.read(n) for n in words[1:] or lab_folder.numbers()]
    total = {lab.number: len(of_lab(lab)) for lab in labs}
    judges = {lab.number: Judge(lab) for lab in labs}
    until = time.time() + float(os.environ.get("SECONDS_LEFT") or 1e9)
    some = chosen(labs, number)
    table = {lab.number: {} for lab in labs}
    rows, n, failed = [], 0, 0
    with concurrent.futures.ProcessPoolExecutor(jobs()) as pool:
        for mutant, (what, why, there) in zip(some, pool.map(attempt, [judges[one.lab.number] for one in some], some, [until] * len(some))):
            counts = table[mutant.lab.number]
            if what != "later":
                rows.append(f"{mutant.name}\t{what}")
            counts[what] = counts.get(what, 0) + 1
            if there is not None:
                counts["GPU"] = counts.get("GPU", 0) + 1
                counts["GPU right, refused"] = counts.get("GPU right, refused", 0) + (what == "refused" and not there)
            if os.environ.get("SHOW") or what == "PASSES" or what == "refused" and there == "":
                print(f"# {what}: {mutant.name}: {why}{'' if there is None else '; GPU: ' + (there or 'right')}", flush=True)
    for lab in labs:
        passing = table[lab.number].get("PASSES", 0)
        n, failed = n + 1, failed + bool(passing)
        print(f"{'not ok' if passing else 'ok'} {n} - lab {lab.number}: no wrong kernel passes")
    print(f"1..{n}")
    if os.environ.get("TABLE"):
        pathlib.Path(os.environ["TABLE"]).write_text("\n".join(["mutant\tverdict", *sorted(rows)]) + "\n")
    columns = ["same", "refused", "equal", "PASSES", "later"] + ["GPU", "GPU right, refused"] * GPU
    print("#| lab    all  tried" + "".join(f"{column:>{max(8, len(column) + 2)}}" for column in columns))
    for lab in labs:
        counts = table[lab.number]
        tried = sum(counts.get(column, 0) for column in columns[:4])
        print(f"#| {lab.number:<3}{total[lab.number]:>7}{tried:>7}" + "".join(f"{counts.get(column, 0):>{max(8, len(column) + 2)}}" for column in columns))
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
