#!/usr/bin/env python3
"""Who is fastest in an exam: board.py exam-N [--grades FOLDER] [--anonymous WORD] [--out FILE]

Ranks what `make grade-all` has graded by time: predicted, or measured on a GPU. A kernel has a place if its answers are right
everywhere. No code is shown. --anonymous: names are drawn from this word, and FILE's neighbour exam-N-names.csv, which is for
the instructor, says whose they are. Exit status: 2 nothing is graded, or usage."""
import argparse
import csv
import hashlib
import io
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import lab_folder  # noqa: E402
import plain  # noqa: E402: of this folder
from lab_folder import ROOT  # noqa: E402


def graded(exam, grades):
    """{student: grade.json}"""
    return {path.parents[1].name: json.loads(path.read_text()) for path in sorted(grades.glob(f"*/{exam}/grade.json"))}


def name_of(student, word):
    return "kernel " + hashlib.sha256(f"{word} {student}".encode(errors="surrogateescape")).hexdigest()[:6] if word else student


def ranked(found, word=""):
    """[{place, name, us, ratio, score}], the fastest first; equal times, to a tenth of a percent, have one place."""
    rows = [{"name": name_of(student, word), "us": one["time"]["us"], "ratio": one["time"]["us"] / one["time"]["our_us"], "score": one["score"]}
            for student, one in found.items() if one["time"] and one["score"]]
    rows.sort(key=lambda row: (row["us"], row["name"]))
    for n, row in enumerate(rows):
        row["place"] = rows[n - 1]["place"] if n and row["us"] <= 1.001 * rows[n - 1]["us"] else n + 1
    return rows


def how_of(found):
    """How times were taken, and on how many devices' terms: predicted and measured ones are not compared."""
    ways = {one["time"]["how"] for one in found.values() if one["time"]}
    if len(ways) > 1:
        raise LookupError("some times are predicted and some measured: grade all submissions with one DEVICE")
    seeds = {one["seed_id"] for one in found.values()}
    if len(seeds) > 1:
        raise LookupError("the grades are of several seeds, which draw other problems: grade all submissions with one SEED")
    return {"predicted": "predicted for an H200", "measured": "measured on this GPU"}.get(*ways) if ways else "none"


def text(exam, rows, without, how):
    width = max([len("our kernel"), *(len(plain.line(row["name"])) for row in rows)])
    times = f"times {exam.ours}"
    said = [f"{exam.name}, {exam.title}; times: {how}", "", f"{'place':>5}  {'':{width}} {'us':>9} {times:>10} {'points':>7}"]
    said += [f"{row['place']:>5}  {plain.line(row['name']):{width}} {row['us']:9.2f} {row['ratio']:{len(times)}.2f} {row['score']:7.4g}" for row in rows]
    return "\n".join(said + [""] + ([f"Without a place, since answers are wrong somewhere or there is no time: {without}"] if without else []))


def page(exam, rows, without, how):
    import jinja2
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True,
                                     undefined=jinja2.StrictUndefined)
    rows = [{**row, "name": plain.line(row["name"])} for row in rows]
    return environment.get_template("board.html").render(exam=exam, rows=rows, without=without, how=how, slowest=max([row["us"] for row in rows], default=1))


def main():
    parser = argparse.ArgumentParser(description="who is fastest in an exam")
    parser.add_argument("exam", metavar="exam-N")
    parser.add_argument("--grades", type=pathlib.Path, default=ROOT / "results/grades", metavar="FOLDER")
    parser.add_argument("--anonymous", default="", metavar="WORD", help="names are drawn from this word")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="the page (default: results/board/exam-N.html)")
    given = parser.parse_args()
    try:
        exam = lab_folder.read(given.exam)
        found = graded(exam.goal, given.grades)
        if not found:
            raise LookupError(f"nothing is graded of {exam.name}: make grade-all SUBMISSIONS=folder SEED=secret comes first")
        rows, how = ranked(found, given.anonymous), how_of(found)
        without = len(found) - len(rows)
        print(text(exam, rows, without, how))
        out = given.out or ROOT / "results/board" / f"{exam.goal}.html"
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(page(exam, rows, without, how))
        if given.anonymous:
            table = io.StringIO()
            csv.writer(table).writerows([["name", "student"], *([name_of(student, given.anonymous), plain.cell(student)] for student in found)])
            out.with_name(f"{exam.goal}-names.csv").write_text(table.getvalue())
        print(f"{out} shows it.".replace(f"{ROOT}/", ""))
    except (LookupError, OSError) as why:
        parser.exit(2, f"board: {why}\n")
    except ImportError as missing:
        parser.exit(2, f"board: {missing.name} is missing: make setup\n")


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "common/base"))
    import main_program
    main_program.run(main)
