#!/usr/bin/env python3
"""Grades a folder of submissions: grade_all.py SUBMISSIONS --seed SECRET [--device emu|auto] [--jobs N] [--out FOLDER]
        [--tasks | --only STUDENT/lab-N | --kept]

    SUBMISSIONS/deadlines              optional: lines `lab-2 2026-12-01T23:59` (or exam-1), `late-days 3`, `late-percent 20`,
                                       `extension alice 2`
    SUBMISSIONS/collected              optional: lines `lab-2 2026-12-01T22:10 alice`, by whoever collects; of several
                                       the latest counts. Without a line: when the files came to lie here
    SUBMISSIONS/alice/lab-2/           the lab's files, answers.json; checks.jsonl, if she gives her diary of checks (diary.py)
    SUBMISSIONS/alice/steps/           optional: checks.jsonl of the steps, which are not graded

OUT (results/grades) gets grades.csv, a row for each student and lab; checks.csv, a row for each student and step or lab,
from diaries; index.html, a page of the class for the instructor; alice.txt, her feedback; and alice/lab-2/ with grade.json
and grade.xml. Every folder of SUBMISSIONS has a row, also what cannot be graded (intake.py): its
last column says why, and the exit status is 1; it is 5 if OUT cannot be written. Run again after a stop: what was graded with the same files, seed
and grader is kept. To grade anew: remove OUT/alice/lab-2.

For setup/jobs.py: --tasks lists what has no grade yet, a task for each; --only runs one; --kept grades nothing, and writes
the tables of what there is."""
import argparse
import concurrent.futures
import csv
import datetime
import hashlib
import io
import json
import math
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))
import lab_folder  # noqa: E402
import children  # noqa: E402: of this folder
import diary  # noqa: E402
import intake  # noqa: E402
import place  # noqa: E402
import plain  # noqa: E402

COLUMNS = ["student", "lab", "kernel", "predictions", "of", "days_late", "late_days_left", "factor", "seed_id", "why"]
CHECKS = ["student", "what", "checks", "hints", "minutes", "passed", "stuck", "seen", "hint"]


class NotGraded(Exception):
    """Why one submission has no grade: one sentence. Those of others do not depend on it."""


class NotYet(NotGraded):
    """Its grade would depend on what has this stamp."""


def lines_of(path):
    """[(number, line)] of a file of the course, or none if there is no such file."""
    if not path.is_file() or path.is_symlink():
        return []
    lines = path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return [(n, line) for n, line in enumerate(lines, 1) if line.split("#")[0].strip()]


def time_of(text):
    """Without a zone: this machine's."""
    return datetime.datetime.fromisoformat(text.strip()).astimezone()


class Calendar:
    """Deadlines, late days and times of collection. Days late beyond a student's free ones cost late-percent of the lab each."""

    def __init__(self, folder):
        self.due, self.days, self.percent, self.extension, self.left, self.collected = {}, 0, 20, {}, {}, {}
        self._read(folder / "deadlines", self._deadline, "lab-N or exam-N TIME, late-days N, late-percent N, or extension STUDENT DAYS")
        self._read(folder / "collected", self._collected, "lab-N or exam-N TIME STUDENT")

    @staticmethod
    def _read(path, take, wanted):
        for n, line in lines_of(path):
            try:
                take(line)
            except (ValueError, IndexError, OverflowError):
                raise SystemExit(f"grade-all: {path}:{n}: {plain.line(line.strip())}: wanted is {wanted}")

    def _deadline(self, line):
        words = line.split("#")[0].split()
        if words[0].startswith(("lab-", "exam-")) and len(words) == 2:
            self.due[lab_folder.known(words[0])] = time_of(words[1])
        elif words[0] == "late-days":
            self.days = int(words[1])
        elif words[0] == "late-percent":
            self.percent = float(words[1])
        elif words[0] == "extension":
            self.extension[words[1]] = int(words[2])
        else:
            raise ValueError

    def _collected(self, line):
        lab, time, student = line.strip().split(None, 2)
        if not lab.startswith(("lab-", "exam-")):
            raise ValueError
        key = student, lab_folder.known(lab)
        self.collected[key] = max(time_of(time), self.collected.get(key, time_of(time)))

    def submitted(self, submission, names):
        """Nothing that the student wrote is believed: neither a file with a time nor the times of the files."""
        said = self.collected.get((submission.student, submission.lab))
        return said or datetime.datetime.fromtimestamp(intake.arrived(submission, names)).astimezone()

    def judge(self, student, lab, submitted):
        """(days late, free ones left, factor). Labs of a student come in order."""
        left = self.left.setdefault(student, self.days + self.extension.get(student, 0))
        if lab not in self.due or submitted <= self.due[lab]:
            return 0, left, 1.0
        days = math.ceil((submitted - self.due[lab]).total_seconds() / 86400)
        free = min(left, days)
        self.left[student] = left - free
        return days, left - free, max(0.0, 1 - self.percent / 100 * (days - free))


def names_of(lab):
    """The files that a submission of this lab is made of."""
    return [*kernel_names(lab), "answers.json"]


def kernel_names(lab):
    return [file.name for file in lab_folder.read(lab).files] if lab in [*lab_folder.numbers(), *lab_folder.exams()] else []


def stamp(folder, refused, lab, seed, device):
    """What a grade depends on. folder: a copy of ours."""
    digest = hashlib.sha256(f"{seed} {device} {sorted(refused.items())}".encode())
    of_lab = lab_folder.read(lab).path if kernel_names(lab) else lab_folder.COURSE / str(lab)
    for path in sorted([*folder.iterdir(), *HERE.glob("*.*"), *of_lab.rglob("*")]):
        if path.is_file() and path.stat().st_size < 1 << 20:
            digest.update(f"{path.name} {path.stat().st_size} ".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def nothing(why):
    """As in grade.json: what cost all points."""
    return {"part": "all", "points": 100, "why": why, "file": None, "line": None, "forbidden": ""}


def grade_kernel(result, lab, folder, refused, out, seed, device):
    names = kernel_names(lab)
    for name in names:
        if name in refused:
            result.update(kernel=0.0, why=f"{name}: {refused[name]}", text=f"{lab_folder.goal(lab)}: {name}: {refused[name]}\n")
            result.update(lost=[nothing(result["why"])])
            return
    if not any((folder / name).exists() for name in names):
        result.update(kernel=0.0, why=f"{' and '.join(names)}: not submitted", text=f"{lab_folder.goal(lab)}: no kernel submitted\n")
        result.update(lost=[nothing("no kernel submitted")])
        return
    (out / "grade.json").unlink(missing_ok=True)  # of another submission
    words = [sys.executable, HERE / "grade.py", "--lab", str(lab), "--submission", folder, "--seed", seed,
             "--device", device, "--jobs", "1", "--out", out]
    with children.started(words, subprocess.Popen.terminate, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                          errors="replace", env={**os.environ, "PYTHONIOENCODING": "utf-8:backslashreplace"}) as run:
        said, complaint = run.communicate()
    if run.returncode not in (0, 1) or not (out / "grade.json").exists():
        last = ((complaint or said).strip().splitlines() or ["no word"])[-1]
        raise NotGraded(f"status {run.returncode}: {last}")
    graded = json.loads((out / "grade.json").read_text())
    result.update(kernel=graded["score"], seed_id=graded["seed_id"], text=plain.lines(said),
                  lost=[{**lost, "forbidden": graded["forbidden"]} for lost in graded["lost"]],
                  why=graded["lost"][0]["why"] if graded["lost"] else "")


def grade_sheet(result, lab, folder, refused):
    import sheet  # where there are sheets only
    rows, why = [], refused.get("answers.json", "")
    if why:
        why = f"answers.json: {why}"
    elif not (folder / "answers.json").exists():
        why = "no answers.json submitted"
    else:
        try:
            rows = sheet.judge(lab, sheet.read(folder / "answers.json"))
        except sheet.Rejected as rejected:
            why = str(rejected)
    text = sheet.table(lab, rows, "answers.json") if rows else f"lab {lab}, predictions: {why}"
    lost = [f"{name}: {reason}" for name, point, reason in rows if not point]
    result.update(predictions=sum(row[1] for row in rows), of=len(sheet.answers.questions(lab)),
                  why=result["why"] or why or (lost[0] if lost else ""), text=result["text"] + plain.lines(text) + "\n")


def grade_one(submission, out, seed, device, kept_only=False):
    """{} of one lab of one student, kept in OUT/student/lab-N/kept.json. Raises NotGraded."""
    lab = submission.lab
    with tempfile.TemporaryDirectory(prefix="class-") as scratch:
        folder = pathlib.Path(scratch) / lab_folder.goal(lab)
        folder.mkdir()
        refused = intake.take(submission, names_of(lab), folder)
        kept = out / "kept.json"
        now = stamp(folder, refused, lab, seed, device)
        if kept.exists():
            before = json.loads(kept.read_text())
            if before["stamp"] == now:
                return before
        if kept_only:
            raise NotYet(now)
        out.mkdir(parents=True, exist_ok=True)
        result = {"stamp": now, "kernel": None, "predictions": None, "of": None, "seed_id": "", "why": "", "text": "",
                  "lost": []}
        if kernel_names(lab):
            grade_kernel(result, lab, folder, refused, out, seed, device)
        if (ROOT / f"notebooks/course/{lab}/questions").exists():
            grade_sheet(result, lab, folder, refused)
    new = kept.with_suffix(".new")
    new.write_text(json.dumps(result))
    new.replace(kept)
    return result


def attempt(submission, out, seed, device, kept_only=False):
    """grade_one's result, or the reason why there is none: whatever goes wrong is this submission's affair alone."""
    try:
        return grade_one(submission, out, seed, device, kept_only), ""
    except NotYet:
        return None, "not graded: its job left no grade; the same command again runs it"
    except NotGraded as why:
        return None, f"not graded: {why}"
    except Exception as error:  # noqa: BLE001: a fault of the grader's, or a disk that is full
        return None, f"not graded: {type(error).__name__}: {error}"


def write(path, text):
    """Whoever reads it finds it whole."""
    new = path.with_name(path.name + ".new")
    with open(new, "w", encoding="utf-8", newline="") as f:
        f.write(text)
    new.replace(path)


def checks_of(found):
    """({student: {what: diary.Work}}, [(student, folder, why a diary is not read)]). No grade depends on it."""
    entries, unread = {}, []
    for submission in [*found.work, *found.steps]:
        some, why = intake.diary_of(submission)
        entries.setdefault(submission.student, []).extend(some)
        if why:
            unread.append((submission.student, submission.path.name, f"{diary.NAME}: {why}"))
    return {student: diary.work(some) for student, some in entries.items() if some}, unread


def write_table(path, columns, rows):
    out = io.StringIO()
    csv.writer(out).writerows([columns, *([plain.cell(value) for value in row] for row in rows)])
    write(path, out.getvalue())


def write_page(out, rows, losses, texts, checks, unread):
    """OUT/index.html, where there is jinja2. losses: {(student, lab): as in grade.json}; checks, unread: of checks_of."""
    try:
        import class_page
    except ImportError as missing:
        print(f"grade-all: no page of the class, {missing.name} is missing: make setup", file=sys.stderr)
        return
    named = [{**dict(zip(COLUMNS, row)), "lost": losses.get((row[0], row[1]), [])} for row in rows]
    write(out / "index.html", class_page.page(named, texts, checks, unread))
    print(f"{out}/index.html shows the class.")


def main():
    parser = argparse.ArgumentParser(description="grades a folder of submissions")
    parser.add_argument("submissions", type=pathlib.Path)
    parser.add_argument("--seed", required=True, metavar="SECRET")
    parser.add_argument("--device", choices=["emu", "auto", "cuda"], default="emu")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results/grades"))
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--tasks", action="store_true")
    mode.add_argument("--only", metavar="STUDENT/lab-N")
    mode.add_argument("--kept", action="store_true")
    given = parser.parse_args()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
    if not given.submissions.is_dir():
        parser.exit(2, f"grade-all: {given.submissions} is no folder\n")
    if why := place.unwritable(given.out):
        parser.exit(5, f"grade-all: cannot write to {given.out}: {why}; make it writable, or name another folder with --out\n")
    children.end_with_us()
    calendar = Calendar(given.submissions)
    labs = [int(path.name) for path in (ROOT / "notebooks/course").glob("[0-9]*") if path.is_dir()] + lab_folder.exams()
    found = intake.Intake(given.submissions, labs, given.out)
    if not found.work and not found.refused and not found.steps:
        parser.exit(2, f"grade-all: {given.submissions} has no STUDENT/lab-N/\n")
    for lab in {submission.lab for submission in found.work}:
        if (ROOT / f"notebooks/course/{lab}/questions").exists():
            import sheet
            sheet.key(lab)  # kept, for all students
    if given.tasks:
        print_tasks(found, given)
        return
    if given.only:
        found.work = [each for each in found.work if name_of(each) == given.only]
        for each in found.work:
            result, why = attempt(each, given.out / given.only, given.seed, given.device)
            if not result:
                parser.exit(1, f"grade-all: {plain.line(f'{given.only}: {why}')}\n")
        parser.exit(0 if found.work else 2)
    rows, losses, texts = grade_all(found, calendar, given)
    checks, unread = checks_of(found)
    given.out.mkdir(parents=True, exist_ok=True)
    write_table(given.out / "grades.csv", COLUMNS, rows)
    write_table(given.out / "checks.csv", CHECKS,
                [[student, what, one.checks, one.asked, round(one.minutes, 1), one.passed, one.stuck, *(one.seen[-1] if one.seen else ("", ""))]
                 for student, some in sorted(checks.items()) for what, one in sorted(some.items())])
    for student, parts in texts.items():
        write(given.out / f"{student}.txt", "\n".join(parts))
    write_page(given.out, rows, losses, texts, checks, unread)
    missing = sum(row[-1].startswith("not graded: ") for row in rows)
    if missing:
        parser.exit(1, f"grade-all: {missing} of {len(rows)} rows have no grade: the last column of {given.out}/grades.csv says why\n")


def name_of(submission):
    return f"{submission.student}/{lab_folder.goal(submission.lab)}"


def print_tasks(found, given):
    """A line for setup/jobs.py for each submission that has no grade of these files, this seed and grader."""
    for each in found.work:
        try:
            grade_one(each, given.out / name_of(each), given.seed, given.device, kept_only=True)
        except NotYet as stamp:
            student = hashlib.sha256(each.student.encode(errors="surrogateescape")).hexdigest()[:12]
            words = [sys.executable, str(HERE / "grade_all.py"), str(given.submissions), "--seed", given.seed, "--device", given.device,
                     "--out", str(given.out), "--only", name_of(each)]
            print(f"{student}.{lab_folder.goal(each.lab)}.{stamp}\t{shlex.join(words)}")
        except Exception:  # noqa: BLE001: the table says why
            continue


def grade_all(found, calendar, given):
    """(rows of the CSV, {(student, lab): what cost points}, {student: [text]}). Labs of a student come in order: late days are used up in it."""
    jobs = 1 if given.device != "emu" else given.jobs  # a GPU's times want it alone
    rows, losses, texts = [], {}, {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = [pool.submit(attempt, submission, given.out / name_of(submission), given.seed, given.device, given.kept)
                for submission in found.work]
        for n, submission, run in zip(range(1, len(runs) + 1), found.work, runs):
            student, lab = submission.student, submission.lab
            result, why = run.result()
            if result:
                try:
                    days, left, factor = calendar.judge(student, lab, calendar.submitted(submission, names_of(lab)))
                except OSError as error:
                    result, why = None, f"not graded: it went away: {error.strerror}"
            if not result:
                found.refuse(student, lab_folder.goal(lab), why)
                continue
            rows.append([student, lab, result["kernel"], result["predictions"], result["of"], days, left, factor,
                         result["seed_id"], result["why"]])
            losses[student, lab] = result["lost"]
            late = f"{days} days late, {left} free ones left: times {factor:g}\n" if days else ""
            texts.setdefault(student, []).append(result["text"] + late)
            print(f"{n} of {len(runs)}: {plain.line(student)}, {lab_folder.goal(lab)}: {result['kernel']} points", flush=True)
    for student, what, why in found.refused:
        rows.append([student, what, *[None] * 7, why])
        if not intake.bad_name(student) and student in {submission.student for submission in found.work}:
            texts.setdefault(student, []).append(f"{plain.line(what)}: {plain.line(why)}\n")
    rows.sort(key=lambda row: row[0])
    return rows, losses, texts


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "common/base"))
    import main_program
    try:
        main_program.run(main)
    except OSError as error:
        print(f"grade-all: {error.filename or 'a file of the grades'}: {error.strerror}; run it again, what was graded is kept",
              file=sys.stderr)
        sys.exit(5)
