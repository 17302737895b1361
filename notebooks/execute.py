"""Executes a lab with its answers, in its folder: execute.py LAB.py [OUT.ipynb]; exit 1 if a cell fails."""
import pathlib
import sys

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

path = pathlib.Path(sys.argv[1])
notebook = jupytext.read(path)
try:
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
except CellExecutionError as error:
    print(f"{path.name}: {error}", file=sys.stderr)
    sys.exit(1)
if len(sys.argv) > 2:
    nbformat.write(notebook, sys.argv[2])
print(f"{path.name}: {sum(c.cell_type == 'code' for c in notebook.cells)} cells ran")
