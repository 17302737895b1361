"""A class that is made by rule is graded, killed in the middle, and graded on: hundred.py STUDENTS [FOLDER]

Each student hands in a kernel of one lab, the answers of lab 0, and diaries of checks. KINDS says what the kernels are:
solutions, the same by another hand, typical mistakes, cheats, skeletons, nothing, and files that a grader should not trust.
FOLDER gets the class and its grades and keeps them. $J at a time (2).

Prints TAP and the time: wall seconds, CPU seconds of everything that was started, and what they mean for two idle cores."""
import collections
import csv
import ctypes
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/course/grade"), str(ROOT / "notebooks/course/grade"), str(ROOT / "notebooks/course/steps"), str(ROOT / "notebooks/course")]
import cheats_by_rule  # noqa: E402: of tests/course/grade
import diary  # noqa: E402
import lab_folder  # noqa: E402
import mistakes  # noqa: E402
import sheet  # noqa: E402
import step  # noqa: E402
import strip  # noqa: E402
import variants  # noqa: E402

SEED, SECRET = 20261201, "a word that students do not know"
NOON = 1796126400.0            # of the first diary, in seconds since 1970
PR_SET_CHILD_SUBREAPER = 36
CORES, HOUR = 2, 3600          # a class is to be graded in
table, failed = [], 0
LABS = lab_folder.numbers()
CHEATS = collections.defaultdict(list)
for _kind, _some in cheats_by_rule.by_kind().items():
    for _number, _files in _some.values() if _kind != "no end" else []:  # how long a limit of time takes is another test's affair (run.py)
        CHEATS[_number].append(_files)


def check(name, passed, why=""):
    global failed
    failed += not passed
    table.append(name)
    print(f"{'ok' if passed else 'not ok'} {len(table)} - {name}", flush=True)
    for line in [] if passed else str(why).splitlines()[-20:]:
        print(f"# {line}", flush=True)


# ---- What students hand in: a function makes the lab's files in a folder and returns what is wanted of the points ----

def ours(lab):
    return {file.name: (ROOT / file).read_text() for file in lab.files}


def put(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text)


def solution(lab, folder, draw):
    put(folder, ours(lab))
    return lambda points: points == 100


def by_another_hand(lab, folder, draw):
    put(folder, variants.by_another_hand(lab, draw.randrange(30))[1])
    return lambda points: points >= 90  # all but time


def mistake(lab, folder, draw):
    mistakes.make(lab, draw.choice(mistakes.read(lab)), folder)
    return lambda points: points < 100


def cheat(lab, folder, draw):
    put(folder, draw.choice(CHEATS[lab.number]))
    return lambda points: points == 0


def skeleton(lab, folder, draw):
    put(folder, {name: strip.strip(text, lab.number) for name, text in ours(lab).items()})
    return lambda points: points < 100


def nothing(lab, folder, draw):
    return lambda points: points == 0


def no_c(lab, folder, draw):
    put(folder, {name: text.replace("{", "{ oops", 1) for name, text in ours(lab).items()})
    return lambda points: points == 0


def hostile(lab, folder, draw):
    name = lab.files[0].name
    draw.choice([lambda: (folder / name).symlink_to("/etc/passwd"), lambda: os.mkfifo(folder / name),
                 lambda: (folder / name).write_bytes(b"\0" * 300000), lambda: (folder / name).write_bytes(bytes(range(256)))])()
    (folder / diary.NAME).write_bytes(draw.choice([b"[" * 100000, b'{"when": 1e999}\n' * 1000, b"\xff\xfe\0", b"/" * (diary.BYTES + 1)]))
    return lambda points: points == 0


KINDS = {solution: 20, by_another_hand: 24, mistake: 32, cheat: 8, skeleton: 5, nothing: 3, no_c: 4, hostile: 4}  # of a hundred


def entries(what, began, checks, passes, seen):
    """Lines of a diary: begun, then a check every few minutes."""
    told = [("begun", "", "")] + [("not yet", *seen)] * (checks - passes) + [("right", "", "")] * passes
    for n, (result, saw, hint) in enumerate(told):
        yield {"when": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(began + 240 * n)), "what": what, "result": result, "seen": saw, "hint": hint}


def diary_of_steps(folder, draw, steps):
    lines = []
    for n, name in enumerate(steps):
        passes = draw.random() < 0.9
        lines += entries(f"step-{name}", NOON + 3000 * n, draw.randint(1, 4) + (not passes) * 2, passes, (f"{draw.randint(1, 9)} elements are wrong", "compare with the drawing"))
    folder.mkdir()
    (folder / diary.NAME).write_text("".join(json.dumps(line) + "\n" for line in lines))


def make(course, students):
    """{(student, lab): (kind, wanted)}"""
    draw, made = random.Random(SEED), {}
    kinds = [kind for kind, many in KINDS.items() for _ in range(many)]
    draw.shuffle(kinds)
    key = {name: value for name, value in sheet.key(0).items() if value is not None}
    steps = step.names()
    for n in range(students):
        student, lab, kind = f"student-{n:03}", lab_folder.read(LABS[n % len(LABS)]), kinds[n % len(kinds)]
        (course / student / "lab-0").mkdir(parents=True)
        (course / student / "lab-0/answers.json").write_text(json.dumps({name: value for name, value in key.items() if draw.random() < 0.8}))
        folder = course / student / f"lab-{lab.number}"
        folder.mkdir()
        made[student, lab.number] = kind.__name__, kind(lab, folder, draw)
        made[student, 0] = "answers", lambda points: points is None
        if kind is not hostile:
            with (folder / diary.NAME).open("w") as f:
                f.writelines(json.dumps(line) + "\n" for line in entries(f"lab-{lab.number}", NOON, draw.randint(1, 12), kind is solution, ("wrong answer: rows are off", "which rows?")))
        diary_of_steps(course / student / "steps", draw, steps[:draw.randrange(len(steps)) + 1])
    return made


# ---- Grading -------------------------------------------------------------------------------------------------------------

def start(course, out):
    own = course.parent / "tmp"  # what it leaves when it is killed
    own.mkdir(exist_ok=True)
    return subprocess.Popen([sys.executable, ROOT / "notebooks/course/grade/grade_all.py", course, "--seed", SECRET, "--device", "emu", "--out", out,
                             "--jobs", os.environ.get("J") or "2"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True, env=os.environ | {"TMPDIR": str(own)})


def adopt():
    """What outlives its parent becomes our child: a sandbox's processes do, and what they used counts only when waited for."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def cpu_s():
    """Of all that has ended."""
    while True:
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(0.05)  # one is about to end
        except ChildProcessError:
            break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def kept(out):
    """{folder: (time and bytes)} of what has a grade."""
    return {path.parent.relative_to(out): (path.stat().st_mtime_ns, path.read_bytes()) for path in out.glob("*/*/kept.json")}


def killed(course, out, half):
    """Grades until so many have a grade, then ends everything at once; what was said."""
    process = start(course, out)
    while process.poll() is None and len(kept(out)) < half:
        time.sleep(0.2)
    running = process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return running


def whole(course, out):
    process = start(course, out)
    said, _ = process.communicate()
    return process.returncode, said


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def report(seconds, students):
    by = "".join(f"  {what}: {wall:.0f} s, {cpu:.0f} CPU-seconds\n" for what, (wall, cpu) in seconds.items())
    wall, cpu = (sum(each) for each in zip(seconds["until it was killed"], seconds["resumed"]))
    print(f"#| {students} students, each a kernel and a sheet, {os.environ.get('J') or 2} at a time on {len(os.sched_getaffinity(0))} cores:")
    print("".join(f"#| {line}\n" for line in by.splitlines()), end="")
    print(f"#| together {wall:.0f} s, {cpu:.0f} CPU-seconds: at least {cpu / CORES:.0f} s on {CORES} idle cores")
    check(f"{CORES} cores need less than an hour", cpu / CORES < HOUR, f"{cpu / CORES:.0f} s")


def main():
    students = int(sys.argv[1])
    adopt()
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else scratch).resolve()
        course, out = place / "class", place / "grades"
        for old in (course, out):
            shutil.rmtree(old, ignore_errors=True)
        course.mkdir(parents=True)
        made, seconds = make(course, students), {}

        def timed(what, act, *given):
            began = time.monotonic(), cpu_s()
            result = act(*given)
            seconds[what] = time.monotonic() - began[0], cpu_s() - began[1]
            return result

        running = timed("until it was killed", killed, course, out, students)  # of twice as many grades
        first = kept(out)
        check("it was killed in the middle", running and students <= len(first) < 2 * students, f"{running} {len(first)}")
        status, said = timed("resumed", whole, course, out)
        check("resumed, it ends", status == 0, said)
        after = kept(out)
        check("what had a grade was not graded again", all(after.get(folder) == grade for folder, grade in first.items()))
        check("nothing is lost", len(after) == len(made), f"{len(after)} of {len(made)}")
        rows = rows_of(out / "grades.csv")
        places = collections.Counter((row["student"], int(row["lab"])) for row in rows)
        check("each has one row", dict(places) == dict.fromkeys(made, 1), {place for place in {*places, *made} if places[place] != (place in made)})
        by_kind = collections.defaultdict(list)
        for row in rows:
            kind, wanted = made[row["student"], int(row["lab"])]
            by_kind[kind].append((wanted(float(row["kernel"]) if row["kernel"] else None), row))
        for kind, some in sorted(by_kind.items()):
            wrong = [f"{row['student']} lab {row['lab']}: {row['kernel']} points: {row['why']}" for right, row in some if not right]
            check(f"{kind}: {len(some)} with the points they should have", not wrong, "\n".join(wrong))
        stuck = sum(row["stuck"] == "True" for row in rows_of(out / "checks.csv"))
        page = (out / "index.html").read_text() if (out / "index.html").exists() else ""
        check("the page shows who is stuck", not page or page.count('<td><a href="#of-') >= stuck > 0, stuck)
        means = collections.Counter(kind for path in out.glob("*/lab-[1-6]/kept.json") for kind in {lost["forbidden"] for lost in json.loads(path.read_text())["lost"]} if kind)
        cheats = len(by_kind["cheat"])
        print(f"#| {cheats} cheats; forbidden means found: " + (", ".join(f"{many} {kind}" for kind, many in sorted(means.items())) or "none"))
        check("forbidden means are named, on the page too", 3 * sum(means.values()) >= cheats and (not page or all(kind in page for kind in means)), means)
        again = timed("a third time", whole, course, out)
        check("a third time, nothing is graded", again[0] == 0 and kept(out) == after and rows_of(out / "grades.csv") == rows, again[1])
        report(seconds, students)
    print(f"1..{len(table)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
