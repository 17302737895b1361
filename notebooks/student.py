"""Writes a lab's notebook for students: the answers taken out, no outputs, the same bytes on every machine.

    student.py LAB.py LAB.ipynb

What lies between ### BEGIN SOLUTION and ### END SOLUTION is removed (nbgrader's marks: `nbgrader
generate_assignment` does the same to the full notebook)."""
import re
import sys

import jupytext
import nbformat

notebook = jupytext.read(sys.argv[1])
for i, cell in enumerate(notebook.cells):
    cell["id"] = f"cell-{i}"
    cell["source"] = re.sub(r"\n?### BEGIN SOLUTION\n.*?### END SOLUTION", "", cell["source"], flags=re.S)
    if cell.cell_type == "code":
        cell["outputs"], cell["execution_count"] = [], None
notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                     "language_info": {"name": "python"}}
nbformat.write(notebook, sys.argv[2])
