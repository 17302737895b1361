"""Writes a lab's notebook for students: solutions taken out, no outputs, the same bytes on every machine.

    student.py notebooks/course/N/lab-N.py notebooks/course/N/lab-N.ipynb

A cell's title says what it is: `answer: ID` holds an answer, `points P: ID` judges it (its value is the points:
nbgrader takes that for the grade), `explain: ID` is for a person to grade."""
import sys

import jupytext
import nbformat

import strip

notebook = jupytext.read(sys.argv[1])
for i, cell in enumerate(notebook.cells):
    cell["id"] = f"cell-{i}"
    cell["source"] = strip.strip(cell["source"] + "\n").rstrip("\n")
    kind, _, name = cell.metadata.pop("title", "").partition(": ")
    if cell.cell_type == "code":
        cell["outputs"], cell["execution_count"] = [], None
    if kind:
        points = int(kind.split()[1]) if kind.startswith("points") else 1
        graded, locked = kind != "answer", kind.startswith("points")
        cell.metadata["nbgrader"] = {"grade": graded, "solution": not locked, "locked": locked, "schema_version": 3,
                                     "grade_id": name if locked else f"{name}-{kind}",
                                     **({"points": points} if graded else {})}
notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                     "language_info": {"name": "python"}}
nbformat.write(notebook, sys.argv[2])
