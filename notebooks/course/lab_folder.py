"""What a lab is made of: reads notebooks/course/N; of an exam, notebooks/course/exams/N.

    folder = lab_folder.read(1)         or lab_folder.read("exam-1")
    folder.files        the kernel's files, in the repository; a student's have the same names
    folder.holes()      [(file, first line, last line, sentence)] of the solutions in them
    lab_folder.judge(folder.conditions, counts, ours, problem)       what a count vector breaks
"""
import dataclasses
import pathlib
import re

import strip

COURSE = pathlib.Path(__file__).resolve().parent
ROOT = COURSE.parents[1]
EXAMS = COURSE / "exams"
FULL_TIME = 1.2  # times ours: up to it the grader gives full points for time


@dataclasses.dataclass
class Condition:
    counter: str     # its name in profiler/groups
    relation: str    # <= == >=
    expression: str  # of numbers, ours, B H SQ SK D and ceil(a, b)
    line: int

    def bound(self, ours, problem):
        """What the counter is compared with. ours: {counter: value}; problem: {"B": 1, "H": 2 ...}."""
        names = {"ours": ours.get(self.counter), "ceil": lambda a, b: -(-a // b), **problem}
        return eval(self.expression, {"__builtins__": {}}, names)

    def holds(self, value, bound):
        return {"<=": value <= bound, "==": value == bound, ">=": value >= bound}[self.relation]


@dataclasses.dataclass
class Folder:
    number: int
    title: str
    stage: str          # 1-scalar
    images: list        # names of the stage's file `images`
    files: list         # pathlib.Path, from the repository's root
    tile: tuple         # rows of a CTA, keys of a tile; () if it is not attention
    problem: list       # options of the problem that the conditions are tried on
    conditions: list    # of Condition

    most_work = 1.5     # instructions, of ours: beyond it something else computes the answer
    full_time = FULL_TIME     # of the time of ours: up to it there are full points for time
    least_lost = 0            # of the points for time, beyond it
    our, ours = "our", "ours"  # whose it is that a kernel is compared with, in words
    uncounted = ("tensor_flop",)  # counts that say nothing of this lab

    @property
    def path(self):
        return COURSE / str(self.number)

    @property
    def name(self):
        return f"lab {self.number}"

    @property
    def goal(self):
        """What make calls it, and the folder of a submission."""
        return f"lab-{self.number}"

    @property
    def rival(self):
        """What a kernel is compared with: our own."""
        return self

    def with_problem(self, options):
        """Options of a problem that a kernel runs on: the stage's own, unless others are given."""
        return options

    @property
    def drawn(self):
        """What cases are drawn for."""
        return self.images

    @property
    def followed(self):
        """Whether what warp 0 computes is compared with attention's steps: its tiles are known."""
        return bool(self.tile)

    @property
    def blank(self):
        """Whether all of the file is the student's."""
        return False

    @property
    def early(self):
        """Whether a check also tries copies that complete when they are issued."""
        return self.number == 6

    @property
    def asynchronous(self):
        """Whether its kernel copies or multiplies in the background."""
        return self.number in (3, 4, 5, 6)

    @property
    def program(self):
        """The host's part, build/stage-N."""
        return f"stage-{self.stage.split('-')[0]}"

    @property
    def archs(self):
        return re.search(r"^arch\s+(.*)$", (ROOT / "stages" / self.stage / "images").read_text(), re.M)[1].split()

    @property
    def trial(self):
        """The grader's program, build/trial-N."""
        return f"trial-{self.stage.split('-')[0]}"

    @property
    def built(self):
        """Where our own kernel's images are, in build/ and beside a trial."""
        return f"images/stage-{self.stage.split('-')[0]}"

    @property
    def architecture(self):
        """The newest PTX of the stage: what ours is counted with."""
        archs = set()
        for line in (ROOT / "stages" / self.stage / "images").read_text().splitlines():
            if line.startswith("arch"):
                archs = set(line.split()[1:])
        return "compute_90a" if "compute_90a" in archs else "compute_89"

    def holes(self):
        return [(file, first, last, sentence) for file in self.files
                for first, last, lab, sentence in strip.solutions((ROOT / file).read_text())
                if lab == self.number and sentence]

    def flags(self, image):
        """What nvcc is given for an image, without the file: the stage's file `images` says it."""
        for line in (ROOT / "stages" / self.stage / "images").read_text().splitlines():
            words = line.split("#")[0].split()
            if words and words[0] == image:
                return [word for word in words[1:] if not word.endswith(".cu")]
        raise LookupError(f"stages/{self.stage}/images has no {image}")


@dataclasses.dataclass
class Exam(Folder):
    """Its files are a solution's; students begin with the signature beside it. `stage` is the architecture of its PTX."""
    most_work = 4       # tiles of any size
    after: int = 0      # the lab before it

    @property
    def path(self):
        return EXAMS / self.number.removeprefix("exam-")

    @property
    def name(self):
        return self.number.replace("-", " ")

    @property
    def goal(self):
        return self.number

    @property
    def trial(self):
        return "trial-exams"

    @property
    def built(self):
        return "images/exams"

    @property
    def architecture(self):
        return self.stage

    def flags(self, image):
        return []

    def holes(self):
        """Its page is blank: parts are those that its hints speak of."""
        return [(file, 0, 0, sentence) for file in self.files for sentence in
                re.findall(r"^part \d+: (.*)", (self.path / "hints").read_text(), re.M)]


@dataclasses.dataclass
class Rival(Folder):
    """The stage of a lab, which the kernel of an exam is compared with."""
    uncounted = ("hmma_instructions", "hgmma_instructions")  # either may make the products: they are counted in FLOP


@dataclasses.dataclass
class AttentionExam(Exam):
    """Its host's part, exams/attention.c, is a stage's. It is compared with another stage, in time on a problem of full size.
    Predictions are 4 % off on average: by less than that no kernel is the faster one."""
    full_time, least_lost = 0.95, 0.5
    our, ours = "stage 4's", "stage 4"
    uncounted = Rival.uncounted
    trial, built, program, early, asynchronous = "trial-0", "images/stage-0", "stage-0", True, True
    followed, blank = False, True  # tiles are the student's own
    rival_lab: int = 0
    timed: tuple = ()   # options of the problem that `see` predicts

    @property
    def rival(self):
        lab = read(self.rival_lab)
        return Rival(**{**vars(lab), "images": self.images, "files": []})

    @property
    def drawn(self):
        return ["full", *self.images]

    def with_problem(self, options):
        """Options of a problem; without any, of the one that `see` predicts."""
        return [*options, *["--head-dim", self.images[0][1:]] * ("--head-dim" not in options)] if options else self.timed

    @property
    def archs(self):
        return [self.stage, "sm_90a"]


def lines_of(path):
    """[(number, text)] of a text file, without comments and empty lines."""
    return [(n, line.strip()) for n, line in enumerate(path.read_text().splitlines(), 1)
            if line.strip() and not line.startswith("#")]


def numbers():
    """The labs that have a kernel."""
    return sorted(int(path.parent.name) for path in COURSE.glob("[0-9]*/lab"))


def exams():
    return sorted(f"exam-{path.parent.name}" for path in EXAMS.glob("[0-9]*/exam"))


def known(word):
    """The number of a lab, or the name of an exam, of a word: 2, lab-2, exam-1."""
    return word if str(word).startswith("exam-") else int(str(word).removeprefix("lab-"))


def goal(number):
    """What make calls it, and the folder of a submission: lab-2, exam-1."""
    return number if str(number).startswith("exam-") else f"lab-{number}"


def notebook(number):
    """The student's notebook of a lab: notebooks/NUMBER-NAME.ipynb."""
    return next((ROOT / "notebooks").glob(f"{number}-*.ipynb"))


def read(number):
    is_exam = str(number).startswith("exam-")
    if number not in (exams() if is_exam else numbers()):
        raise LookupError(f"there is no {number}: there are {', '.join(exams())}" if is_exam else
                          f"there is no lab {number} with a kernel: there are {', '.join(map(str, numbers()))}")
    folder = EXAMS / number.removeprefix("exam-") if is_exam else COURSE / str(number)
    said = {}
    for _, line in lines_of(folder / ("exam" if is_exam else "lab")):
        word, rest = line.split(None, 1)
        said.setdefault(word, []).append(rest)
    problem, conditions = [], []
    for n, line in lines_of(folder / "conditions"):
        words = line.split(None, 2)
        if words[0] == "problem":
            problem = line.split()[1:]
        else:
            conditions.append(Condition(*words, n))
    def made(*fields):
        if not is_exam:
            return Folder(*fields)
        after = int(said["after"][0])
        return AttentionExam(*fields, after, int(said["rival"][0]), said["timed"][0].split()) if "rival" in said else Exam(*fields, after)
    return made(number, said["title"][0], said["stage"][0], " ".join(said["image"]).split(),
                  [pathlib.Path(file) for file in said["file"]],
                  tuple(map(int, said.get("tile", [""])[0].split())), problem, conditions)


def groups_in_flight(ptx):
    """The most groups of wgmma that a kernel's text has committed and not yet waited for: 2 where they overlap."""
    most = now = 0
    for kind, n in re.findall(r"wgmma\.(commit_group|wait_group)\S*\s*(\d*)", ptx):
        now = now + 1 if kind == "commit_group" else min(now, int(n))
        most = max(most, now)
    return most


def untimed(said, goal):
    """(file, line, what to do) where no time is predicted. said: `...0x550  OPCODE OPERANDS (FILE:LINE): WHY`, or else."""
    match = re.search(r"0x[0-9a-f]+  (?:@\S+ )?(\S+).* \(([^()]+):(\d+)\): [^:]*$", said)
    if not match:
        return None, None, f"the predictor gives no time for it: {said.removeprefix('the predictor: ')}"
    return match[2], int(match[3]), (
        f"the predictor does not know {match[1]}, which ptxas makes of this line, and predicts no time: write the line"
        f" with other instructions, until `make {goal} see` gives a time")


def judge(conditions, counts, ours, problem):
    """[(condition, value, bound)] of the conditions that do not hold."""
    broken = []
    for condition in conditions:
        value, bound = counts[condition.counter], condition.bound(ours, problem)
        if not condition.holds(value, bound):
            broken.append((condition, value, bound))
    return broken
