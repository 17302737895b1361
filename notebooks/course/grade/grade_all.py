#!/usr/bin/env python3
"""Grades a folder of submissions: grade_all.py SUBMISSIONS --seed SECRET [--device emu|auto] [--jobs N] [--out FOLDER]

    SUBMISSIONS/deadlines              optional: lines `lab-2 2026-12-01T23:59`, `late-days 3`, `late-percent 20`,
                                       `extension alice 2`
    SUBMISSIONS/alice/lab-2/           the lab's files, answers.json; `submitted`, one line with the time (or the
                                       files' own)

OUT (results/grades) gets grades.csv, a row for each student and lab; alice.txt, her feedback; and alice/lab-2/
with grade.json and grade.xml. Run again after a stop: what was graded with the same files, seed and grader is kept.
To grade anew: remove OUT/alice/lab-2."""
import argparse
import concurrent.futures
import csv
import datetime
import hashlib
import json
import math
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))
import lab_folder  # noqa: E402
import children  # noqa: E402: of this folder

COLUMNS = ["student", "lab", "kernel", "predictions", "of", "days_late", "late_days_left", "factor", "seed_id", "why"]


class Calendar:
    """Deadlines and late days. Days late beyond a student's free ones cost late-percent of the lab each."""

    def __init__(self, path):
        self.due, self.days, self.percent, self.extension, self.left = {}, 0, 20, {}, {}
        for n, line in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
            words = line.split("#")[0].split()
            try:
                if not words:
                    continue
                if words[0].startswith("lab-") and len(words) == 2:
                    self.due[int(words[0][4:])] = self.time(words[1])
                elif words[0] == "late-days":
                    self.days = int(words[1])
                elif words[0] == "late-percent":
                    self.percent = float(words[1])
                elif words[0] == "extension":
                    self.extension[words[1]] = int(words[2])
                else:
                    raise ValueError
            except (ValueError, IndexError):
                raise SystemExit(f"grade-all: {path}:{n}: {line.strip()}: lab-N TIME, late-days N, late-percent N, or "
                                 "extension STUDENT DAYS")

    @staticmethod
    def time(text):
        """Without a zone: this machine's."""
        return datetime.datetime.fromisoformat(text.strip()).astimezone()

    def judge(self, student, lab, submitted):
        """(days late, free ones left, factor). Labs of a student come in order."""
        left = self.left.setdefault(student, self.days + self.extension.get(student, 0))
        if lab not in self.due or submitted <= self.due[lab]:
            return 0, left, 1.0
        days = math.ceil((submitted - self.due[lab]).total_seconds() / 86400)
        free = min(left, days)
        self.left[student] = left - free
        return days, left - free, max(0.0, 1 - self.percent / 100 * (days - free))


def submitted_at(folder):
    said = folder / "submitted"
    if said.exists():
        return Calendar.time(said.read_text().splitlines()[0])
    times = [path.stat().st_mtime for path in folder.iterdir() if path.is_file()]
    return datetime.datetime.fromtimestamp(max(times, default=0)).astimezone()


def stamp(folder, lab, seed, device):
    """What a grade depends on."""
    digest = hashlib.sha256(f"{seed} {device}".encode())
    for path in sorted([*folder.iterdir(), *HERE.glob("*.py"), *(ROOT / f"notebooks/course/{lab}").glob("*")]):
        if path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 20:
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def grade_one(student, lab, folder, out, seed, device):
    """{} of one lab of one student, kept in OUT/student/lab-N/kept.json."""
    kept = out / "kept.json"
    now = stamp(folder, lab, seed, device)
    if kept.exists():
        before = json.loads(kept.read_text())
        if before["stamp"] == now:
            return before
    out.mkdir(parents=True, exist_ok=True)
    result = {"stamp": now, "kernel": None, "predictions": None, "of": None, "seed_id": "", "why": "", "text": ""}
    if (ROOT / f"notebooks/course/{lab}/lab").exists():
        files = [file.name for file in lab_folder.read(lab).files]
        if any((folder / name).exists() for name in files):
            (out / "grade.json").unlink(missing_ok=True)  # of another submission
            words = [sys.executable, HERE / "grade.py", "--lab", str(lab), "--submission", folder, "--seed", seed,
                     "--device", device, "--jobs", "1", "--out", out]
            with children.started(words, subprocess.Popen.terminate, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
                said, complaint = run.communicate()
            if run.returncode not in (0, 1) or not (out / "grade.json").exists():
                raise SystemExit(f"grade-all: {student}, lab {lab}: status {run.returncode}: {(complaint or said).strip()}")
            graded = json.loads((out / "grade.json").read_text())
            result.update(kernel=graded["score"], seed_id=graded["seed_id"], text=said,
                          why=graded["lost"][0]["why"] if graded["lost"] else "")
        else:
            result.update(kernel=0.0, why=f"{' and '.join(files)}: not submitted", text=f"lab {lab}: no kernel submitted\n")
    if (ROOT / f"notebooks/course/{lab}/questions").exists():
        import sheet  # where there are sheets only
        try:
            rows = sheet.judge(lab, sheet.read(folder / "answers.json")) if (folder / "answers.json").exists() else []
            text = sheet.table(lab, rows, "answers.json") if rows else f"lab {lab}, predictions: no answers.json submitted"
        except sheet.Rejected as why:
            rows, text = [], f"lab {lab}, predictions: {why}"
        result.update(predictions=sum(row[1] for row in rows), of=len(sheet.answers.questions(lab)),
                      text=result["text"] + text + "\n")
    new = kept.with_suffix(".new")
    new.write_text(json.dumps(result))
    new.replace(kept)
    return result


def main():
    parser = argparse.ArgumentParser(description="grades a folder of submissions")
    parser.add_argument("submissions", type=pathlib.Path)
    parser.add_argument("--seed", required=True, metavar="SECRET")
    parser.add_argument("--device", choices=["emu", "auto", "cuda"], default="emu")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results/grades"))
    given = parser.parse_args()
    if not given.submissions.is_dir():
        parser.exit(2, f"grade-all: {given.submissions} is no folder\n")
    children.end_with_us()
    calendar = Calendar(given.submissions / "deadlines")
    work = []
    for folder in sorted(given.submissions.glob("*/lab-*")):
        number = folder.name[4:]
        if folder.is_dir() and number.isdigit() and (ROOT / f"notebooks/course/{number}").is_dir():
            work.append((folder.parent.name, int(number), folder))
        else:
            print(f"grade-all: {folder} is no lab: STUDENT/lab-N/", file=sys.stderr)
    if not work:
        parser.exit(2, f"grade-all: {given.submissions} has no STUDENT/lab-N/\n")
    for lab in sorted({lab for _, lab, folder in work if (folder / "answers.json").exists()}):
        import sheet
        sheet.key(lab)  # kept, for all students
    jobs = 1 if given.device != "emu" else given.jobs  # a GPU's times want it alone
    rows, texts = [], {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = [pool.submit(grade_one, student, lab, folder, given.out / student / f"lab-{lab}", given.seed, given.device)
                for student, lab, folder in work]
        for n, (student, lab, folder), run in zip(range(1, len(work) + 1), work, runs):
            result = run.result()
            days, left, factor = calendar.judge(student, lab, submitted_at(folder))
            rows.append([student, lab, result["kernel"], result["predictions"], result["of"], days, left, factor,
                         result["seed_id"], result["why"]])
            late = f"{days} days late, {left} free ones left: times {factor:g}\n" if days else ""
            texts.setdefault(student, []).append(result["text"] + late)
            print(f"{n} of {len(work)}: {student}, lab {lab}: {result['kernel']} points", flush=True)
    given.out.mkdir(parents=True, exist_ok=True)
    with open(given.out / "grades.csv.new", "w", newline="") as f:  # whoever reads it finds it whole
        csv.writer(f).writerows([COLUMNS, *rows])
    (given.out / "grades.csv.new").replace(given.out / "grades.csv")
    for student, parts in texts.items():
        (given.out / f"{student}.txt").write_text("\n".join(parts))


if __name__ == "__main__":
    main()
