# nbgrader for the prediction sheets: notebooks/INSTRUCTOR.md says how. A copy or a link of this file lies in the course
# folder; $ATTNLAB is the workbench.
#
# A student's notebook finds course.py by PYTHONPATH, and stores its answers beside itself if LAB_SHEET is answers.json.
#
# A notebook that grades itself can be patched by what it runs: type(attnlab).compare = ... gave full points. So
# nothing of a student's is run here. Each `points` cell gets what notebooks/course/grade/sheet.py says of answers.json, which
# is submitted beside the notebook.
import os
import pathlib
import sys

from nbformat.v4 import new_output
from nbgrader.preprocessors import (AssignLatePenalties, CheckCellMetadata, ClearOutput, ComputeChecksums, DeduplicateIds,
                                    LimitOutput, LockCells, NbGraderPreprocessor, SaveAutoGrades, SaveCells)

ROOT = pathlib.Path(os.environ.get("ATTNLAB") or pathlib.Path(__file__).resolve().parents[3])
sys.path[:0] = [str(ROOT / "notebooks/course/grade"), str(ROOT / "notebooks/course")]
import sheet  # noqa: E402


class GradeSheet(NbGraderPreprocessor):
    """The outputs of `points` cells: a number of points, or the reason why there are none."""

    def preprocess(self, nb, resources):
        number = int(resources["nbgrader"]["assignment"].removeprefix("lab-"))
        folder = pathlib.Path(resources["metadata"]["path"])
        try:
            given = sheet.read(folder / "answers.json") if (folder / "answers.json").exists() else {}
            rows = {name: (points, why) for name, points, why in sheet.judge(number, given)}
        except sheet.Rejected as why:
            rows = {name: (0, str(why)) for name in sheet.answers.questions(number)}
        for cell in nb.cells:
            meta = cell.metadata.get("nbgrader", {})
            if cell.cell_type == "code":
                cell.outputs = []
            if meta.get("grade") and not meta.get("solution"):
                right, why = rows.get(meta["grade_id"], (0, "no such question"))
                points = right * meta["points"]
                cell.outputs = [new_output("stream", name="stdout", text=f"{meta['grade_id']}: {why or 'right'}\n"),
                                new_output("execute_result", data={"text/plain": str(points)}, execution_count=None)]
        return nb, resources


c = get_config()  # noqa: F821: nbgrader's
c.CourseDirectory.course_id = "attnlab"
# Where `nbgrader release_assignment` puts assignments, and students their work: in this folder, unless NBGRADER_EXCHANGE names
# one that all can reach.
c.Exchange.root = os.environ.get("NBGRADER_EXCHANGE") or os.path.abspath("exchange")
# our notebooks have no solutions in them: nothing is cleared
c.GenerateAssignment.preprocessors = [LockCells, ClearOutput, CheckCellMetadata, ComputeChecksums, SaveCells, CheckCellMetadata]
c.Autograde.autograde_preprocessors = [GradeSheet, LimitOutput, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata]
