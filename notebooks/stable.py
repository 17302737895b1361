"""Makes a generated notebook the same on every machine: numbered cell ids, no outputs, one kernel."""
import sys

import nbformat

for path in sys.argv[1:]:
    notebook = nbformat.read(path, as_version=4)
    for i, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{i}"
        if cell.cell_type == "code":
            cell["outputs"], cell["execution_count"] = [], None
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                         "language_info": {"name": "python"}}
    nbformat.write(notebook, path)
