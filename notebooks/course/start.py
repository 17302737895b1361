#!/usr/bin/env python3
"""Makes a student's folder my-labs/N, or my-labs/exam-N: start.py N. Files that are there already stay as they are."""
import sys

import diary
import lab_folder
import strip
from lab_folder import COURSE, ROOT


def contents(number):
    """{name: text} of what a student of a lab gets."""
    if number in lab_folder.exams():
        return {name: (lab_folder.read(number).path / name).read_text().replace("](../", "](../../notebooks/course/exams/")
                for name in ("README.md", lab_folder.read(number).files[0].name)}
    folder = COURSE / str(number)
    page, files = lab_folder.notebook(number).read_text(), {}
    if (folder / "lab").exists():
        for path in lab_folder.read(number).files:
            files[path.name] = strip.strip((ROOT / path).read_text(), number)
            page = page.replace(f"](../{path})", f"]({path.name})")  # the student's own file, beside the notebook
    return {f"lab-{number}.ipynb": page.replace("](../", "](../../"), **files}


def main():
    number = lab_folder.known(sys.argv[1])
    into = ROOT / "my-labs" / str(number)
    files = contents(number)
    missing = [name for name in files if not (into / name).exists()]
    if not missing:
        on = f"make {number} check" if number in lab_folder.exams() else f"make lab-{number} notebook"
        print(f"make: my-labs/{number} is there already and stays as it is: go on with {on}; "
              f"to begin anew: rm -r my-labs/{number}", file=sys.stderr)
        return 2
    into.mkdir(parents=True, exist_ok=True)
    for name in missing:
        (into / name).write_text(files[name])
    diary.note(into, lab_folder.goal(number), "begun")
    print(f"my-labs/{number}: {' '.join(missing)}")
    if number in lab_folder.exams():
        print(f"next: read my-labs/{number}/README.md, write the kernel, make {number} check")
        return 0
    rest = f" (predict), write your part, make lab-{number} check" if len(files) > 1 else ""
    print(f"next: make lab-{number} notebook{rest}")
    return 0


if __name__ == "__main__":
    sys.path.append(str(ROOT / "common/base"))
    import main_program
    main_program.run(main)
