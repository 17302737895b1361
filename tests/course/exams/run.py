"""The exams' solutions, wrong kernels, cheats and other hands: run.py [all] [exam-N]; lines RESULT<tab>WHAT<tab>HOW, as labs.py's

For each exam: the signature has no points, and the check says that nothing is written; the solution passes the check and has full
points for several seeds; each wrong kernel is refused by the check and loses points; hints fit; cheats have none; kernels by another hand
have all points but those for time. Last: seconds of a check."""
import concurrent.futures
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "notebooks/course/grade"), str(ROOT / "notebooks/course"), str(ROOT / "tests/course/exams")]
import kernels  # noqa: E402
import grade  # noqa: E402
import lab_folder  # noqa: E402

EVERYTHING = "all" in sys.argv
SEED = "a"   # our own kernel is tried once on each seed
SECONDS = []


def source(name):
    return (lab_folder.read(name).files[0]).read_text()


def file_of(name):
    return lab_folder.read(name).files[0].name


def check_of(name):
    """A GEMM has a check of its own; attention is checked as a lab is."""
    return ["notebooks/course/check.py", name, "--device", "emu"] if lab_folder.read(name).tile else ["notebooks/course/exams/exam.py", "check", name]


def checked(name, text):
    """(status, what was said) of the student's check."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / file_of(name)).write_text(text)
        began = time.monotonic()
        done = subprocess.run([sys.executable, *check_of(name), "--source", folder], capture_output=True, text=True, cwd=ROOT)
        SECONDS.append(time.monotonic() - began)
        return done.returncode, done.stdout + done.stderr


def graded(name, text, seed, timed=False):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / file_of(name)).write_text(text)
        return grade.grade(lab_folder.read(name), folder, seed, "emu", jobs=1, timed=timed)


def signature(name):
    text = (lab_folder.read(name).path / file_of(name)).read_text()
    status, said = checked(name, text)
    result = graded(name, text, SEED)
    return status == 1 and re.search("nothing is written yet|still to be written", said) and result.score == 0, f"{said}{result.table()}"


def solution(name):
    status, said = checked(name, source(name))
    return status == 0 and "is right" in said, said


def full(name, seed, timed):
    result = graded(name, source(name), seed, timed)
    return result.score == 100 and bool(result.points["time"]) == timed, result.table()


def wrong(name, text):
    """Refused by the check, with a hint, and by the grader."""
    status, said = checked(name, text)
    result = graded(name, text, SEED)
    return status == 1 and "hint: " in said and result.score < 100, f"{said}{result.table()}"


def hinted(name, text, words):
    """Refused by the check, which says these words."""
    status, said = checked(name, text)
    return status == 1 and words in said, said


def seen_wrong(name, text):
    """No time is compared for a kernel whose answer is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "gemm.cu").write_text(text)
        done = subprocess.run([sys.executable, "notebooks/course/exams/exam.py", "see", name, "--source", folder], capture_output=True, text=True, cwd=ROOT)
    return done.returncode == 1 and "counts for nothing" in done.stdout and "times as long" not in done.stdout, done.stdout + done.stderr


def cheat(name, text):
    result = graded(name, text, SEED, timed=True)
    return result.score == 0, result.table()


def by_another_hand(name, text):
    status, said = checked(name, text)
    result = graded(name, text, SEED)
    return status == 0 and result.score == 100, f"{said}{result.table()}"


def jobs(name):
    """(what, function, arguments)"""
    yield "the signature", signature, ()
    yield "the solution passes the check", solution, ()
    for n, seed in enumerate("abcde" if EVERYTHING else "ab"):
        yield f"the solution, seed {seed}", full, (seed, n == 0 or name == "exam-3")  # the time is what exam 3 is about
    for kind, function in (("WRONG", wrong), ("CHEATS", cheat), ("OTHERS", by_another_hand)):
        given = list(kernels.of(name, kind).items())
        for what, text in given if EVERYTHING else given[:3]:
            yield f"{kind.lower()}: {what}", function, (text,)
    for what, (text, words) in kernels.of(name, "HINTED").items():
        yield f"hint: {what}", hinted, (text, words)
    if name == "exam-1":
        yield "see: a wrong kernel", seen_wrong, (kernels.of(name, "WRONG")["a fragment too few"],)


def tried(job):
    name, what, function, arguments = job
    try:
        passed, how = function(name, *arguments)
    except Exception as error:  # noqa: BLE001: a test
        passed, how = False, f"{type(error).__name__}: {error}"
    return f"{'ok' if passed else 'not'}\t{name}, {what}\t{' / '.join(how.splitlines())}"


wanted = [word for word in sys.argv[1:] if word.startswith("exam-")] or lab_folder.exams()
with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("J") or os.cpu_count())) as pool:
    for line in pool.map(tried, [(name, *job) for name in wanted for job in jobs(name)]):
        print(line, flush=True)
print(f"#|\ta check: median {statistics.median(SECONDS):.1f} s, longest {max(SECONDS):.1f} s, of {len(SECONDS)}, two at a time")
