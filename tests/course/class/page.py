"""page.py: the instructor's page of a class that is made up here, read back. A line for each thing that is wrong."""
import collections
import html.parser
import sys

sys.path[:0] = ["notebooks/course/grade", "notebooks/course"]
import class_page  # noqa: E402
import diary  # noqa: E402

EVIL = "<script>alert(1)</script>"


def row(student, lab, kernel, lost=(), **more):
    return {"student": student, "lab": lab, "kernel": kernel, "predictions": 3, "of": 6, "days_late": 1, "late_days_left": 0,
            "factor": 1.0, "seed_id": "x", "why": "", "lost": list(lost), **more}


def lost(part, why, points=10, forbidden=""):
    return {"part": part, "points": points, "why": why, "file": "kernel.cu", "line": 7, "forbidden": forbidden}


def a_class():
    rows = [row(f"s{i}", 1, points) for i, points in enumerate((100, 100, 80, 59.9, 0))]
    rows += [row(f"s{i}", 2, 40, [lost("answers", f"wrong answer: {i} rows are off"), lost("time", "slow", 2), lost("counts", "nothing counts beside a wrong answer", 27)]) for i in range(3)]
    rows += [row(EVIL, 2, 0, [lost("all", EVIL, 100, "clocks and places read")]), row("s9", 0, None)]
    rows += [row("s4", "exam-1", 70), row("s5", "exam-2", None, why="not graded: it is a link", of=None, predictions=None)]
    rows += [row("s\udcff", 1, None, of=None), row("s8", "lab2\udcff", None, why="lab2 is no lab", of=None, predictions=None)]
    return rows, {"s0": ["lab 1: 100 points", EVIL]}, diaries(), [("s3", "steps", f"checks.jsonl: {EVIL}")]


def written(*lines):
    """Lines of a diary: minutes since noon, what, result and what was seen."""
    text = [f'{{"when": "2026-12-01T12:{m:02}:00+00:00", "what": "{what}", "result": "{result}", "seen": "{seen}", "hint": "look"}}'
            for m, what, result, seen in lines]
    return diary.work(diary.read("\n".join(text).encode()))


def diaries():
    wrong = [(m, "step-5c", "not yet", f"row {m} is off") for m in (3, 5, 9, 14)]
    return {"s1": written((0, "step-5c", "begun", ""), *wrong, (20, "lab-1", "begun", ""), (50, "lab-1", "right", ""), (59, "lab-1", "not yet", "later")),
            "only steps": written((0, "step-5c", "begun", ""), (7, "step-5c", "not yet", "row 1 is off"), (8, "step-5c", "asked", "part 1"), (11, "step-5c", "right", "")),
            EVIL: written((1, "step-1a", "not yet", EVIL))}


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.links, self.names, self.bars, self.text, self.loads = collections.Counter(), [], set(), [], [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags[tag] += 1
        self.names.add(attrs.get("id"))
        self.links += [attrs["href"]] if "href" in attrs else []
        self.loads += [attrs["src"]] if "src" in attrs else []
        if "aria-label" in attrs:
            self.bars.append(attrs["aria-label"])

    def handle_data(self, data):
        self.text.append(data.strip())


def complaints(text):
    reader = Reader()
    reader.feed(text)
    said = " ".join(reader.text)
    if reader.tags["script"] != 1:
        yield "a student's text became a script"
    if reader.loads or any(not link.startswith("#") for link in reader.links):
        yield "the page loads something"
    if missing := [link for link in reader.links if link[1:] not in reader.names]:
        yield f"links that lead nowhere: {missing}"
    wanted = ["0 full points, 0 60 or more, 1 fewer, 0 no points, 10 not graded", "2 full points, 1 60 or more, 1 fewer, 1 no points, 6 not graded",
              "0 full points, 0 60 or more, 3 fewer, 1 no points, 7 not graded", "0 full points, 1 60 or more, 0 fewer, 0 no points, 10 not graded"]
    if reader.bars != wanted:
        yield f"bars: {reader.bars}"
    for sentence in ("Lab 2 is where most are stuck: 4 of 4 have fewer than 60 points.", "wrong answer: 0 rows are off", "s0, s1, s2",
                     "By the diaries most are stuck at step 5c: 1 of 2 have checked it 4 times or more and have not passed.", "5c 2 1 1 3 12 1 2 of 2: row 3 is off look",
                     "s1 5c 4 14 row 14 is off look", "1 clocks and places read", "4 / 14", "1 / 30", f"s3, steps: checks.jsonl: {EVIL}", "only steps",
                     "lab2 is no lab", "exam 1", "s5 exam-2 not graded: it is a link", f"kernel.cu:7: {EVIL}", f"lab 1: 100 points {EVIL}"):
        if sentence not in " ".join(said.split()):
            yield f"does not say: {sentence}"
    if "nothing counts" in said:
        yield "what follows from a wrong answer counts as a reason"
    if "wrong answer: 1 rows" in said:
        yield "reasons that differ in a number are two"


text = class_page.page(*a_class())
if "No lab has grades." not in class_page.page([], {}, diaries(), []):
    print("without a grade it does not say so")
    sys.exit(1)
text.encode()  # can be written
if len(sys.argv) > 1:
    open(sys.argv[1], "w").write(text)
bad = list(complaints(text))
print(*bad, sep="\n", end="\n" if bad else "")
sys.exit(bool(bad))
