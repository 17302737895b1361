#!/usr/bin/env python3
"""Grades a prediction sheet: the answers.json that a lab's notebook stores. No code of a student's is run, or read.

    sheet.py N answers.json [--json FILE]

What is right comes from our own notebook notebooks/course/N/lab-N.py, run once with its answers; from where it compares with what
was counted, and from notebooks/course/N/sealed elsewhere. Kept in build/grade/key-N-*.json. Exit status as grade.py's."""
import argparse
import contextlib
import hashlib
import io
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import answers  # noqa: E402: of notebooks/course/
import intake  # noqa: E402: of this folder
import plain  # noqa: E402
from lab_folder import ROOT  # noqa: E402

BYTES = 64 << 10
CHARACTERS = 100    # of an answer that is text: a number with its unit
LARGEST = 1e300     # of an answer: what it is multiplied by stays finite


class Rejected(Exception):
    """Why a sheet cannot be graded: one sentence."""


def _cells(number):
    """The code cells of our notebook."""
    text = (ROOT / f"notebooks/course/{number}/lab-{number}.py").read_text()
    return [cell.partition("\n")[2] for cell in text.split("\n# %%")[1:] if not cell.startswith(" [markdown]")]


def _make_key(number):
    """{question: what was counted, or None: it is sealed}. Our own notebook is run; pictures are not drawn. Not in a
    thread: what it changes is the process's."""
    import course
    found = {}

    class Lab(course.Lab):
        def compare(self, name, expected=None):
            found[name] = None if expected is None else float(expected)
            self.points[name] = 1
            return 1

        def check(self, *options):
            return True

        see = check

        def _store(self, name, value):
            pass

        def make(self, picture, *words):
            return ROOT / "records/runs/tensor.png"

        draw = bounds = lambda self, *a, **k: ROOT / "records/runs/tensor.png"

    import types
    course_here = types.ModuleType("course")
    course_here.__dict__.update({**course.__dict__, "Lab": Lab})
    before, sys.modules["course"] = sys.modules["course"], course_here
    display = types.ModuleType("IPython.display")
    display.Image = display.display = display.Markdown = display.HTML = lambda *a, **k: None
    kept = {name: sys.modules.get(name) for name in ("IPython", "IPython.display")}
    sys.modules["IPython"], sys.modules["IPython.display"] = types.ModuleType("IPython"), display
    names = {}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            for cell in _cells(number):
                exec(compile(cell, f"lab-{number}", "exec"), names)
    finally:
        sys.modules["course"] = before
        for name, module in kept.items():
            sys.modules.pop(name) if module is None else sys.modules.__setitem__(name, module)
    return found


def key(number):
    build = ROOT / os.environ.get("BUILD", "build") / "grade"
    stamp = hashlib.sha256()
    for path in sorted([*(ROOT / f"notebooks/course/{number}").glob("*.py"), *HERE.parent.glob("*.py"),
                        *(ROOT / os.environ.get("BUILD", "build")).glob("stage-?")]):
        stamp.update(path.read_bytes())
    kept = build / f"key-{number}-{stamp.hexdigest()[:12]}.json"
    if not kept.exists():
        build.mkdir(parents=True, exist_ok=True)
        new = kept.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(_make_key(number)))
        new.replace(kept)
    return json.loads(kept.read_text())


def read(path):
    """{question: number or text} of a file that anybody may have written."""
    path = pathlib.Path(path)
    data, why = intake.read(path, most=BYTES)
    if why:
        raise Rejected(f"{path.name}: {why}")
    try:
        given = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Rejected(f"{path.name} is no JSON: {plain.line(str(error).splitlines()[0])}")
    if not isinstance(given, dict):
        raise Rejected(f"{path.name} is no object of answers: {{\"question\": number}}")
    return given


def number_of(answer, unit):
    """As answers.number_of. An answer that is far too long or too large ends here: it would take hours, or overflow."""
    if isinstance(answer, str) and len(answer) > CHARACTERS:
        return None, f"it has {len(answer)} characters; wanted is one number, in {unit}"
    if isinstance(answer, int) and abs(answer) >= LARGEST:
        return None, f"it is an integer of {answer.bit_length()} bits; wanted is one number, in {unit}"
    return answers.number_of(answer, unit)


def judge(number, given):
    """[(question, points of 1, why)] in the order of notebooks/course/N/questions."""
    right = key(number)
    rows = []
    for name, (unit, tolerance, hint) in answers.questions(number).items():
        value, why = number_of(given.get(name), unit)
        if why or value is None:
            rows.append((name, 0, plain.line(why or "no answer")))
        elif name not in right:
            rows.append((name, 0, "nothing in our notebook compares it"))
        elif not abs(value) < LARGEST or not answers.is_right(number, name, value, tolerance, right[name]):
            rows.append((name, 0, f"{value:.6g} {unit} is not right: {hint}"))
        else:
            rows.append((name, 1, ""))
    return rows


def table(number, rows, path):
    points = sum(row[1] for row in rows)
    lines = [f"lab {number}, predictions: {points} of {len(rows)} points"]
    lines += [f"  -1 {path}: {name}: {why}" for name, point, why in rows if not point]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="grades a prediction sheet")
    parser.add_argument("lab", type=int)
    parser.add_argument("sheet")
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args()
    if not (ROOT / f"notebooks/course/{given.lab}/questions").exists():
        parser.exit(2, f"grade: lab {given.lab} has no questions\n")
    if not pathlib.Path(given.sheet).exists():
        parser.exit(2, f"grade: there is no {given.sheet}\n")
    try:
        rows = judge(given.lab, read(given.sheet))
    except Rejected as why:
        rows = [(name, 0, str(why)) for name in answers.questions(given.lab)]
    if given.json:
        said = {"lab": given.lab, "score": sum(row[1] for row in rows), "of": len(rows),
                "lost": [{"question": name, "why": why} for name, point, why in rows if not point]}
        try:
            pathlib.Path(given.json).write_text(json.dumps(said, indent=1) + "\n")
        except OSError as why:  # a traceback would end with 1, which says that points were lost
            parser.exit(5, f"grade: {plain.line(given.json)}: {why.strerror}\n")
    print(table(given.lab, rows, pathlib.Path(given.sheet).name))
    sys.exit(0 if all(row[1] for row in rows) else 1)


if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "common/base"))
    import main_program
    main_program.run(main)
