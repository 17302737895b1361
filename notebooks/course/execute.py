"""Executes a lab's notebook: execute.py [--wrong | --open | --seal | --shown=N] LAB [OUT]; exit 1 if it goes wrong.

    LAB.py            with its answers: every cell runs, every comparison gives its points
    --wrong LAB.py    with every answer replaced by a wrong one: no comparison gives points, each has its hint
    --open LAB.ipynb  as students get it: every cell runs, no comparison gives points, each says `open`
    --seal LAB.py     writes notebooks/course/N/sealed: hashes of the answers that nothing counts
    --shown=3 LAB.ipynb OUT.json    what it counts, draws and reports of stage 3 and later, for an archive without them"""
import collections
import contextlib
import io
import json
import os
import pathlib
import re
import sys
import tempfile

import jupytext
import nbformat
from nbclient import NotebookClient

import answers
import course

WRONG = """
def wrong(name, answer, predict=attnlab.predict):
    value, _ = __import__("answers").number_of(answer, attnlab.questions[name][0])
    predict(name, 1.7 * value + 1)
attnlab.predict = wrong"""


def shown(cells, stage):
    """{what: result} of what these cells ask of this stage and of later ones; of earlier ones nothing runs."""
    kept, picture = {}, course.RECORDED / "tensor.png"
    nothing = {"count": {"of": "", "counts": collections.defaultdict(lambda: 1.0)}, "line": 1, "without": "kernel.cu:1 line 1\n" * 3}

    class Recorder(course.Lab):
        def _shown(self, run, *what):
            key = " ".join(map(str, what))
            if any(int(n) >= stage for n in re.findall(r"\b(?:stage-(?=\d)|(?=\d-[a-z]))(\d)", key)):
                kept[key] = super()._shown(run, *what)
            return kept.get(key, nothing.get(what[0]))

        def make(self, path, *words):
            later = any(word.startswith("stage-") and int(word[6:]) >= stage for word in words)
            return super().make(path, *words) if later else picture

        def elsewhere(self, *_):
            return picture

        check = see = predict = compare = explain = score = bounds = elsewhere
    course.Lab = Recorder
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in cells:
            exec(cell.source, names)
    return kept


def complaint(cell, mode):
    """What is wrong with a cell that ran, or None."""
    outputs = cell.get("outputs", [])
    said = "".join(o.get("text", "") for o in outputs)
    for output in outputs:
        if output.output_type == "error":
            return f"{output.ename}: {output.evalue}"
    if "attnlab.compare(" not in cell.source:
        return None
    points = "".join(o.data.get("text/plain", "") for o in outputs if o.output_type == "execute_result")
    if points != ("1" if mode == "" else "0"):
        return f"it gives {points or 'no'} points, and says {said!r}"
    if mode == "--open" and ": open" not in said or mode == "--wrong" and len(said.partition("). ")[2]) < 12:
        return f"it says {said!r}"
    return None


mode = sys.argv.pop(1) if sys.argv[1].startswith("--") else ""
path = pathlib.Path(sys.argv[1])
number = int(re.search(r"\d", path.name)[0])
notebook = jupytext.read(path)
code = [cell for cell in notebook.cells if cell.cell_type == "code"]
if mode.startswith("--shown="):
    pathlib.Path(sys.argv[2]).write_text(json.dumps(shown(code, int(mode[8:])), indent=1) + "\n")
    sys.exit()
if mode == "--wrong":
    code[0].source += WRONG
with tempfile.TemporaryDirectory() as folder:
    os.environ["LAB_SHEET"] = f"{folder}/answers.json"
    os.environ["LAB_SOURCE"] = f"{folder}/nothing"
    NotebookClient(notebook, timeout=300, kernel_name="python3", allow_errors=True,
                   resources={"metadata": {"path": str(course.ROOT / "notebooks")}}).execute()
    if mode == "--seal":
        sheet = json.loads((pathlib.Path(folder) / "answers.json").read_text())
        (course.COURSE / str(number) / "sealed").write_text("".join(
            f"{name} {answers.seal(number, name, sheet[name], tolerance)}\n"
            for name, (_, tolerance, _) in answers.questions(number).items()))
        print(f"notebooks/course/{number}/sealed: {len(sheet)} answers")
        sys.exit(0)
complaints = [(cell, complaint(cell, mode)) for cell in code]
wrong = [f"{path.name}: {why}: in this cell:\n{cell.source}\n" for cell, why in complaints if why]
print("\n".join(wrong), end="", file=sys.stderr)
if len(sys.argv) > 2:
    nbformat.write(notebook, sys.argv[2])
print(f"{path.name}: {len(code)} cells ran")
sys.exit(bool(wrong))
