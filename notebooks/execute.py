"""Executes a notebook in its folder and fails with the first cell that fails: execute.py FILE.ipynb [OUT.ipynb]"""
import pathlib
import sys

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

path = pathlib.Path(sys.argv[1])
notebook = nbformat.read(path, as_version=4)
try:
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
except CellExecutionError as error:
    print(f"{path.name}: {error}", file=sys.stderr)
    sys.exit(1)
if len(sys.argv) > 2:
    nbformat.write(notebook, sys.argv[2])
print(f"{path.name}: {sum(c.cell_type == 'code' for c in notebook.cells)} cells ran")
