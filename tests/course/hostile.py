"""A class with hostile submissions in it: TAP, and a table at the end.

    hostile.py [all]     all: 1,000 hostile folders; else each kind once; and the sandbox's limits
    hostile.py each      every kind in a class of its own: which ones does a grader fail on?

KINDS has the rules; the seed below draws names, labs and sizes. The class has honest students too, and is graded
twice: without the hostile folders and with them. The rows and the feedback of the honest ones must be the same
bytes. Each hostile folder must end with a row that has a reason and none of another student's points."""
import csv
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "notebooks/course/grade"), str(ROOT / "notebooks/course")]
import answers  # noqa: E402
import intake  # noqa: E402
import sandbox  # noqa: E402
import sheet  # noqa: E402
import walls  # noqa: E402: of this folder

SEED = 20261124
COUNT = 1000
KERNEL = (ROOT / "stages/2-wmma-qk/kernel.cu").read_bytes()
WRONG = b'{"amdahl": 1}'
FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
KINDS = {}      # {what: (make, how many of 1,000 at most, or None)}
NOT_GRADED = set()  # kinds whose folder is refused as a whole: exit status 1


def kind(what, most=None, refused=False):
    def add(make):
        KINDS[what] = make, most
        if refused:
            NOT_GRADED.add(what)
        return make
    return add


def lab(at, number=0):
    folder = os.path.join(at, b"lab-%d" % number)
    os.makedirs(folder)
    return folder


def put(folder, name, data):
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)


def named(what, name, refused=True):
    """A name instead of the usual one; {} becomes a number, so that there may be several."""
    def make(at, draw):
        at = os.path.join(os.path.dirname(at), name.replace(b"{}", b"%d" % draw.randrange(10 ** 9)))
        put(lab(at), b"answers.json", WRONG)
        return at
    kind(f"name: {what}", refused=refused)(make)


named("not UTF-8", b"ev\xffil{}")
named("a new line", b"evil{}\nlab-0 2020-01-01T00:00 carol")
named("an escape sequence", b"evil{}\x1b[2J\x1b]0;owned\x07")
named("a carriage return", b"evil{}\rbob,0,100")
named("text from right to left", "evil{}\u202egpj".encode())
named("a control character of C1", "evil{}\u009b2J".encode())
named("a backslash", b"evil{}\\xff")
named("of a file that is written", b"grades{}.csv")
named("of another's feedback", b"bob{}.txt")
named("of a file that replaces another", b"grades.csv{}.new")
named("255 bytes", b"e{}" + b"e" * 244)
named("a formula", b'=HYPERLINK("evil{}")', refused=False)
named("a formula with a sign", b"-evil{}+cmd", refused=False)
named("a wide formula", "\uff1dHYPERLINK(evil{})".encode(), refused=False)
named("a formula behind a blank", b" =HYPERLINK(evil{})", refused=False)
named("a command for a spreadsheet", b"@SUM(evil{})", refused=False)
named("hidden", b".evil{}", refused=False)
named("an option", b"--out=evil{}", refused=False)


def misplaced(name):
    name = name.encode()

    @kind(f"folder: {name.decode()}", refused=True)
    def make(at, draw):
        folder = os.path.join(at, name)
        os.makedirs(folder)
        put(folder, b"answers.json", WRONG)


for name in ("lab1", "Lab-0", "lab_0", "lab 0", "LAB-2", "0", "lab-02", "lab-\u00b2", "lab-\u0662", "lab-99", "lab--1",
             "lab-2 (copy)", "lab-10000000000000000000000", "submission", "=cmd|'/c calc'!A1", "lab-2\x1b[31m"):
    misplaced(name)


@kind("folder: not UTF-8", refused=True)
def _(at, draw):
    os.makedirs(os.path.join(at, b"lab-\xff"))


@kind("folder: none", refused=True)
def _(at, draw):
    os.mkdir(at)


@kind("folder: none, its files beside it", refused=True)
def _(at, draw):
    os.mkdir(at)
    put(at, b"kernel.cu", KERNEL)


@kind("folder: a file instead", refused=True)
def _(at, draw):
    os.mkdir(at)
    put(at, b"lab-0", WRONG)


@kind("folder: an archive instead of the student's", refused=True)
def _(at, draw):
    put(os.path.dirname(at), os.path.basename(at) + b".zip", b"PK\x03\x04")
    return at + b".zip"


@kind("folder: 2,000 of them", most=5, refused=True)
def _(at, draw):
    for n in range(2000):
        os.makedirs(os.path.join(at, b"lab %d" % n))


@kind("folder: no rights", refused=os.getuid() != 0)
def _(at, draw):
    folder = lab(at)
    put(folder, b"answers.json", WRONG)
    os.chmod(folder, 0)


@kind("folder: no right to enter", refused=os.getuid() != 0)
def _(at, draw):
    put(lab(at), b"answers.json", WRONG)
    os.chmod(at, 0o444)


def linked(what, target, name=None, number=0, refused=False):
    """name: of the file that is the link; None: the folder is; b'': the student's folder."""
    @kind(f"link: {what}", refused=refused)
    def make(at, draw):
        if name == b"":
            os.symlink(target, at)
        elif name is None:
            os.mkdir(at)
            os.symlink(target, os.path.join(at, b"lab-%d" % number))
        else:
            os.symlink(target, os.path.join(lab(at, number), name))


linked("the lab's folder is another's", b"../bob/lab-0", refused=True)
linked("the student's folder is another's", b"bob", b"", refused=True)
linked("the lab's folder is the system's", b"/etc", refused=True)
linked("the lab's folder leads nowhere", b"nowhere", refused=True)
linked("the lab's folder is itself", b"lab-0", refused=True)
linked("the class, in itself", b"..", b"", refused=True)
linked("another's answers", b"../../bob/lab-0/answers.json", b"answers.json")
linked("a system file as answers", b"/etc/passwd", b"answers.json")
linked("another's kernel", b"../../dave/lab-2/" + b"kernel.cu", b"kernel.cu", 2)
linked("our kernel", os.fsencode(ROOT / "stages/2-wmma-qk/kernel.cu"), b"kernel.cu", 2)
linked("a system file as kernel", b"/etc/passwd", b"kernel.cu", 2)
linked("endless zeros as kernel", b"/dev/zero", b"kernel.cu", 2)
linked("a kernel that leads nowhere", b"nowhere", b"kernel.cu", 2)


def special(what, make_file, files=((0, b"answers.json"), (2, b"kernel.cu"), (2, b"answers.json"))):
    @kind(f"file: {what}")
    def make(at, draw):
        number, name = draw.choice(files)
        make_file(os.path.join(lab(at, number), name))


def sparse(path):
    with open(path, "wb") as f:
        f.truncate(1 << 40)


def unix_socket(path):
    here = os.getcwd()
    os.chdir(os.path.dirname(path))
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(os.path.basename(path))
    os.chdir(here)


def write(data):
    def make(path):
        with open(path, "wb") as f:
            f.write(data)
    return make


special("a FIFO", os.mkfifo)
special("a socket", unix_socket)
special("a folder", os.mkdir)
special("a sparse terabyte", sparse)
special("300 KB", write(b"/" * 300000))
special("empty", write(b""), ((0, b"answers.json"), (2, b"answers.json")))
special("not text", write(bytes(range(256))))
special("a zero byte", write(b"{}\0"))


def told(what, make_file):
    @kind(f"submitted: {what}")
    def make(at, draw):
        folder = lab(at)
        put(folder, b"answers.json", WRONG)
        make_file(os.path.join(folder, b"submitted"))


told("empty", write(b""))
told("a word", write(b"yesterday\n"))
told("not text", write(b"\xff\xfe"))
told("the year 0", write(b"0000-00-00T00:00\n"))
told("the last year", write(b"9999-12-31T23:59-23:59\n"))
told("before the deadline", write(b"2020-01-01T00:00+00:00\n"))
told("a link to a system file", lambda path: os.symlink("/etc/passwd", path))
told("a FIFO", os.mkfifo)
told("a folder", os.mkdir)


def answered(what, data):
    @kind(f"answers: {what}")
    def make(at, draw):
        put(lab(at), b"answers.json", data)


def of_all(value):
    """This answer to every question, as JSON text."""
    return ("{" + ", ".join(f'"{name}": {value}' for name in answers.questions(0)) + "}").encode()


answered("no JSON", b"amdahl = 2")
answered("a list", b"[1, 2]")
answered("10,000 lists in one another", b"[" * 10000)
answered("10,000 objects in one another", b'{"a":' * 10000 + b"1" + b"}" * 10000)
answered("an integer of 400 digits", of_all("1" + "0" * 400))
answered("an integer of 5,000 digits", of_all("1" + "0" * 5000))
answered("the largest number", of_all("1.7976931348623157e308"))
answered("the smallest number", of_all("5e-324"))
answered("no number", of_all("NaN"))
answered("infinite", of_all("-Infinity"))
answered("half a character", of_all(r'"\ud800"'))
answered("an escape sequence", of_all(r'"\u001b[2J\u0007\u0000"'))
answered("60,000 digits", of_all('"' + "1" * 15000 + '/"'))
answered("60,000 signs", of_all('"' + ":" * 15000 + '/"'))
answered("a formula", of_all('"=1+1"'))
answered("true", of_all("true"))
answered("objects", of_all('{"passed": 1}'))
answered("another encoding", '{"amdahl": 1}'.encode("utf-16"))
answered("a page of text", of_all(json.dumps("why not? " * 1000)))
answered("names that are no questions", json.dumps({f"\x1b{n}": 1 for n in range(2000)}).encode())


def noted(what, make_file, folder=b"lab-0"):
    """A diary of checks: no row of the grades depends on it."""
    @kind(f"diary: {what}")
    def make(at, draw):
        put(lab(at), b"answers.json", WRONG)
        os.makedirs(os.path.join(at, folder), exist_ok=True)
        make_file(os.path.join(at, folder, b"checks.jsonl"))


def checked(**more):
    return json.dumps({"when": "2026-12-01T12:00:00+00:00", "what": "step-1a", "result": "not yet", **more}).encode() + b"\n"


noted("not text", write(b"\xff\xfe\0" * 1000))
noted("lists in one another", write(b"[" * 100000))
noted("too long", write(checked() * 20000))
noted("many lines", write(checked() * 5000), b"steps")
noted("the first year", write(checked(when="0001-01-01T00:00:00+14:00") + checked(when="9999-12-31T23:59:59-14:00")))
noted("no times", write(checked(when=1e400) + checked(when=None) + checked(when="\u0663")))
noted("a script", write(checked(seen="</td><script>alert(1)</script>", hint="<img src=x onerror=alert(1)>") * 9), b"steps")
noted("an escape sequence and a formula", write(checked(seen="\x1b[2J\u202e", hint="=1+1") * 9), b"steps")
noted("steps that are not there", write(checked(what="step-99z") + checked(what="lab-2\x1b[2J") + checked(what={"a": 1}) + checked(result="paid")))
noted("objects for texts", write(checked(seen={"a": []}, hint=[1e999])))
noted("a FIFO", os.mkfifo, b"steps")
noted("a link to a system file", lambda path: os.symlink("/etc/passwd", path), b"steps")
noted("a sparse terabyte", sparse)


def compiled(what, text):
    """The few that reach the compiler."""
    @kind(f"kernel: {what}", most=2)
    def make(at, draw):
        put(lab(at, 2), b"kernel.cu", text)


compiled("an error with an escape sequence", b"#error \x1b[2J\x1b]0;owned\x07 \x01\x02 \xef\xbf\xbe\n" + KERNEL)
compiled("a line of another file", b'#line 1 "\x1b[31mred"\n#error stop\n')

SHEETS_ONLY = [what for what in KINDS if not what.startswith("kernel: ")]


def honest(course, with_kernel):
    right = {name: value for name, value in sheet.key(0).items() if value is not None}
    for student, given in (("bob", right), ("carol", {**right, "amdahl": 7}), ("zo\u00eb", {}), ("x y", right)):
        (course / student / "lab-0").mkdir(parents=True)
        (course / student / "lab-0/answers.json").write_text(json.dumps(given))
    (course / "dave/lab-2").mkdir(parents=True)
    (course / "dave/lab-2/answers.json").write_text(json.dumps({"amdahl": 2}))
    if with_kernel:
        (course / "dave/lab-2" / "kernel.cu").write_bytes(KERNEL)
    (course / "deadlines").write_text("lab-0 2026-01-02T00:00+00:00\nlab-2 2026-01-02T00:00+00:00\nlate-days 1\n")
    (course / "collected").write_text("# by the collector\nlab-0 2026-01-01T10:00+00:00 bob\nlab-0 2026-01-03T10:00+00:00 carol\n"
                                      "lab-0 2026-01-01T10:00+00:00 zo\u00eb\nlab-0 2026-01-01T10:00+00:00 x y\n"
                                      "lab-2 2026-01-01T10:00+00:00 dave\n")
    return "bob", "carol", "dave", "x y", "zo\u00eb"


def hostile(course, what, draw):
    """Makes one. The bytes of its name."""
    at = os.fsencode(course / f"evil{draw.randrange(10 ** 12)}")
    return os.path.basename(KINDS[what][0](at, draw) or at)


def shown(name):
    """As the grader shows a name: what cannot be printed is escaped, and no spreadsheet takes it for a formula."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in os.fsdecode(name))
    return "'" + text if text.lstrip().startswith(FORMULA) else text


def graded(course, out, limit, umask=-1):
    return subprocess.run([sys.executable, ROOT / "notebooks/course/grade/grade_all.py", course, "--seed", "s", "--out", out],
                          capture_output=True, timeout=limit, umask=umask)


def rows_of(out):
    path = out / "grades.csv"
    return list(csv.reader(path.open(newline="", encoding="utf-8")))[1:] if path.exists() else []


def lines_of(out, students):
    """The CSV's lines of these, as they stand, and their feedback."""
    lines = (out / "grades.csv").read_bytes().split(b"\r\n") if (out / "grades.csv").exists() else []
    return ([line for line in lines if line.split(b",")[0].decode("utf-8", "replace") in students],
            [(out / f"{student}.txt").read_bytes() if (out / f"{student}.txt").exists() else None for student in students])


def complaints(rows, name, what):
    """What is wrong with the rows of one hostile folder."""
    own = [row for row in rows if row[0] == shown(name)]
    if not own:
        return [f"no row for {shown(name)}"]
    found = []
    for row in own:
        student, number, kernel, predictions, of, days, left, factor, seed_id, why = row
        if kernel not in ("", "0.0") or predictions not in ("", "0"):
            found.append(f"points: {row}")
        if not why:
            found.append(f"no reason: {row}")
        if what.startswith("submitted: ") and (days in ("", "0") or float(factor) == 1):
            found.append(f"on time: {row}")
        if len(str(row)) > 2000:
            found.append(f"{len(str(row))} characters in a row")
        for cell in row:
            if not cell.isprintable() or cell.lstrip().startswith(FORMULA):
                found.append(f"unsafe cell {cell!r}")
    if len(own) > 100:
        found.append(f"{len(own)} rows")
    return found


n = failed = 0


def check(name, passed, why=""):
    global n, failed
    n += 1
    failed += not passed
    print(f"{'ok' if passed else 'not ok'} {n} - {name}", *(f"# {line}" for line in ("" if passed else str(why)).split("\n") if line),
          sep="\n", flush=True)


def is_safe(data):
    """Nothing that a terminal obeys, and text."""
    try:
        return all(c == "\n" or c.isprintable() for c in data.decode())
    except UnicodeDecodeError:
        return False


def each(scratch):
    """Each kind alone, beside honest students without a kernel: [(kind, what went wrong)]."""
    for what in KINDS:
        if what not in SHEETS_ONLY:
            continue
        course, out = scratch / "course", scratch / "grades"
        course.mkdir()
        students = honest(course, with_kernel=False)
        name = hostile(course, what, random.Random(what))
        wrong = []
        try:
            done = graded(course, out, 20)
            if b"Traceback" in done.stderr:
                wrong.append(done.stderr.decode(errors="replace").strip().split("\n")[-1])
            if not is_safe(done.stdout) or not is_safe(done.stderr):
                wrong.append("the terminal gets control characters")
            if len(lines_of(out, students)[0]) != len(students):
                wrong.append("honest rows are missing")
            if (done.returncode == 0) != (what not in NOT_GRADED):
                wrong.append(f"exit status {done.returncode}")
        except subprocess.TimeoutExpired:
            wrong.append("it hangs")
        wrong += complaints(rows_of(out), name, what)
        check(what, not wrong, "; ".join(wrong)[:300])
        clean(scratch)


def clean(scratch):
    """Also what has no rights."""
    subprocess.run(["chmod", "-R", "u+rwX", scratch], stderr=subprocess.DEVNULL)
    for path in scratch.iterdir():
        shutil.rmtree(path)


def whole(scratch, everything):
    draw = random.Random(SEED)
    names = list(KINDS)
    plan = list(names)
    room = {what: most or COUNT for what, (_, most) in KINDS.items()}
    for what in plan:
        room[what] -= 1
    while everything and len(plan) < COUNT:
        what = draw.choice(names)
        if room[what]:
            room[what] -= 1
            plan.append(what)
    course, out = scratch / "course", {}
    course.mkdir()
    built = os.path.exists(os.path.join(os.environ.get("BUILD", "build"), "trial-2"))
    with_kernel = built and bool(shutil.which("bwrap") and (shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc")))
    students = honest(course, with_kernel)
    alone = graded(course, scratch / "alone", 600)
    check("the honest ones alone", alone.returncode == 0 and len(rows_of(scratch / "alone")) == len(students),
          alone.stderr.decode(errors="replace"))
    made = [(hostile(course, what, draw), what) for what in plan]
    (course / "deadlines-are-here").mkdir()  # a name that only looks like a file of the course
    together = graded(course, scratch / "together", 1800 if everything else 600, umask=0o077)  # an instructor's files may be private
    check(f"{len(made)} hostile folders: it ends, and says that some were not graded", together.returncode == 1 and
          b"Traceback" not in together.stdout + together.stderr, together.stderr.decode(errors="replace")[-2000:])
    check("the terminal gets text alone", is_safe(together.stdout) and is_safe(together.stderr))
    before, after = (lines_of(scratch / folder, students) for folder in ("alone", "together"))
    check("the honest rows are the same bytes", before[0] == after[0] and len(before[0]) == len(students), f"{before[0]}\n{after[0]}")
    check("the honest feedback is the same bytes", before[1] == after[1] and None not in before[1], f"{before[1]}\n{after[1]}")
    rows, table = rows_of(scratch / "together"), {}
    for name, what in made:
        group = table.setdefault(what.split(": ")[0], [0, 0, []])
        wrong = complaints(rows, name, what)
        group[0] += 1
        group[1] += not wrong
        group[2] += [f"{what}: {'; '.join(wrong)}"[:300]] if wrong else []
    for group, (of, right, wrong) in table.items():
        check(f"{group}: a row, a reason, nobody else's points", right == of, "\n".join(wrong))
    cells = [cell for row in csv.reader((scratch / "together/checks.csv").open(newline="", encoding="utf-8")) for cell in row]
    check("checks of diaries are text alone, and no formulas", len(cells) > 20 and all(c.isprintable() and c[:1] not in ("=", "+", "-", "@") for c in cells),
          [c for c in cells if not c.isprintable()][:3])
    page = (scratch / "together/index.html").read_text() if (scratch / "together/index.html").exists() else "<script>"
    check("no student's text is a script of the page", page.count("<script") == 1 and "<img" not in page, page.count("<script"))
    import xml.etree.ElementTree as xml
    broken = []
    for path in (scratch / "together").glob("*/*/grade.xml"):
        try:
            xml.parse(path)
        except xml.ParseError as why:
            broken.append(f"{path}: {why}")
    check("every JUnit file can be read", not broken, "\n".join(broken))
    unsafe = [str(path) for path in (scratch / "together").glob("*.txt") if not is_safe(path.read_bytes())]
    check("every feedback is text alone", not unsafe, "\n".join(unsafe))
    again = graded(course, scratch / "together", 600)
    check("once more: the same grades", again.returncode == 1 and rows_of(scratch / "together") == rows)
    print(f"#| {'hostile':12}{'folders':>9}{'right':>9}")
    for group, (of, right, _) in table.items():
        print(f"#| {group:12}{of:>9}{right:>9}")


def another_user(scratch):
    """Of a user whom rights stop, as root is not: a folder that may be listed and not entered stops nobody's grades."""
    course = scratch / "rights"
    for student in (b"alice", b"eve"):
        put(lab(os.path.join(os.fsencode(course), student)), b"answers.json", WRONG)
    for at, rights in ((course / "eve", 0o444), (course, 0o755), (scratch, 0o755)):
        os.chmod(at, rights)
    child = os.fork()
    if not child:
        if os.getuid() == 0:
            os.chown(course / "eve", 65534, 65534)
            os.chroot(scratch)  # the folders above may be closed to others
            course = pathlib.Path("/rights")
            os.setgid(65534)
            os.setuid(65534)
        try:
            found = intake.Intake(course, [0])
            os._exit([each.student for each in found.work] != ["alice"] or [student for student, *_ in found.refused] != ["eve"])
        except OSError:
            os._exit(2)
    check("a folder that may not be entered is refused, the others are found", os.waitpid(child, 0)[1] == 0)


def walled():
    try:
        sandbox.mode()
    except sandbox.Refused as why:
        check(f"the sandbox # SKIP {why}", True)
        return
    walls.try_all(check)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        try:
            if "each" in sys.argv:
                each(pathlib.Path(folder))
            else:
                whole(pathlib.Path(folder), "all" in sys.argv)
                another_user(pathlib.Path(folder))
                walled()
        finally:
            clean(pathlib.Path(folder))
    print(f"1..{n}")
    sys.exit(failed > 0)
