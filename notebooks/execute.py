"""Executes a lab in its folder: execute.py [--wrong | --open] LAB [OUT.ipynb]; exit 1 if a cell fails.

    LAB.py            with its answers: every cell must run
    --wrong LAB.py    with every answer replaced by a wrong one: every check must refuse it, with its hint
    --open LAB.ipynb  as students get it: the graded cells must fail, all of them, and no other
"""
import pathlib
import sys

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

# Every check sees a wrong answer, and passes if it says so: the same cells hold, the other way round.
WRONG = """
def refused(question, answer, low, high, hint, check=attnlab.check):
    assert len(hint) > 10, f"{question}: no hint"
    return not check(question, 1.5 * answer + 1, low, high, hint)
attnlab.check = refused"""


def is_open(cell):
    """What is wrong with a cell of the students' version that ran, or None."""
    graded = cell.metadata.get("nbgrader", {}).get("grade", False)
    errors = [o.ename for o in cell.get("outputs", []) if o.output_type == "error"]
    said = "".join(o.get("text", "") for o in cell.get("outputs", []))
    if graded and (errors != ["AssertionError"] or ": open" not in said):
        return "is graded and did not say that the answer is open"
    return f"failed without an answer: {errors[0]}" if errors and not graded else None


mode = sys.argv.pop(1) if sys.argv[1].startswith("--") else ""
path = pathlib.Path(sys.argv[1])
notebook = jupytext.read(path)
code = [cell for cell in notebook.cells if cell.cell_type == "code"]
if mode == "--wrong":
    code[0].source += WRONG
try:
    NotebookClient(notebook, timeout=300, kernel_name="python3", allow_errors=mode == "--open",
                   resources={"metadata": {"path": str(path.parent)}}).execute()
except CellExecutionError as error:
    print(f"{path.name}: {error}", file=sys.stderr)
    sys.exit(1)
complaints = [f"{path.name}: this cell {is_open(c)}:\n{c.source}" for c in code if is_open(c)] if mode == "--open" else []
print("\n".join(complaints), end="\n" * bool(complaints), file=sys.stderr)
if len(sys.argv) > 2:
    nbformat.write(notebook, sys.argv[2])
print(f"{path.name}: {len(code)} cells ran")
sys.exit(bool(complaints))
